/* stabilize_bonds.c - see stabilize.h: stabilisation of the rigid bonds of mechanical systems.
 *
 * h = (g, gdot); [M G^T; G 0], or with the unit matrix for M, is factorised. We deviate from (4.7)
 * in the velocities: gdot is linear in v, so they are projected where the position has landed,
 * exactly, instead of with the derivative L of G v.
 *
 * The backward form is solved by z <- z~ - alpha/(1 + alpha) F(z_k) (h(z_k) + H(z_k) (z~ - z_k)),
 * Newton's iteration with F of the latest point.
 *
 * The second pass of `post` is omitted where it would be rounding: after a first correction of at
 * most twice the size of one after which it was (passes converge quadratically). Every 16th step
 * verifies it. */
#include "wrap/stabilize_work.h"

#include <float.h>
#include <math.h>

#include "base/rows.h"
#include "base/loops.h"
#include "linalg/saddle_bonds.h"

/* g, G, dg/dt at a point. */
static int bonds(taut_stabilizer *w, double t, const double *q, const double *v, taut_error *error)
{
    w->projector.statistics->stabilizer_evaluations++;
    return taut_mechanics_bonds(&w->mechanics, t, q, v, 0, error);
}

/* [M G^T; G 0] with G of the latest evaluation, unless an older one serves. */
static int factor(taut_stabilizer *w, double t, taut_error *error)
{
    const taut_mechanics *x = &w->mechanics;
    if (w->relax != TAUT_RELAX_NONE || w->gradient)
        return TAUT_OK;
    if (w->refresh > 1) {
        int64_t epoch = 1 + w->projector.statistics->steps / w->refresh;
        if (w->epoch == epoch)
            return TAUT_OK;
        w->epoch = epoch;
    }
    int status = taut_mechanics_factor(x, w->saddle, t, w->ones ? w->ones : x->mass,
                                       x->rod_jacobian, NULL, error);
    w->epoch = status == 0 ? w->epoch : 0;
    return status;
}

/* By relaxation; the first one after a step begins with the y of the step before. */
static void relax(taut_stabilizer *w, double *guess)
{
    const taut_mechanics *x = &w->mechanics;
    if (w->relax == TAUT_RELAX_DIAGONAL || w->row || w->pass > 0) {
        guess = w->spare;
        taut_clear(x->rods, guess);
    }
    taut_relax_solve(w->relax, &x->rod_rows, x->rods, x->rod_jacobian, w->ones ? NULL : x->mass,
                     w->residual, guess, w->step);
}

/* step = -F residual: -D (G D)^-1 residual with the G that was factorised, or near it. */
static int correction(taut_stabilizer *w, taut_error *error)
{
    const taut_mechanics *x = &w->mechanics;
    if (!w->gradient && w->relax == TAUT_RELAX_NONE) {
        w->projector.statistics->solves++;
        return taut_saddle_oppose(w->saddle, false, w->step, w->residual, error);
    }
    taut_clear(w->n, w->step);
    for (taut_index r = 0; r < x->rods; r++)
        w->residual[r] = -w->residual[r];
    if (w->gradient)
        taut_pattern_add_transposed(&x->rod_rows, x->rod_jacobian, 1, w->residual, w->step);
    else
        relax(w, w->guess[w->rates]);
    return TAUT_OK;
}

/* x <- x + factor step */
static void move(const taut_stabilizer *w, double factor, double *x)
{
    if (factor == 1)
        taut_loop_add(w->pool, w->n, w->step, x);
    else
        taut_loop_add_scaled(w->pool, w->n, factor, w->step, x);
}

static double largest(const taut_stabilizer *w, const double *x)
{
    const taut_part *part = w->mechanics.part;
    return taut_space_largest(part ? part->space : NULL, taut_loop_largest(w->pool, w->n, x));
}

double taut_stabilizer_share(const taut_stabilizer *w)
{
    return w->form == TAUT_FORM_BACKWARD ? w->alpha / (1 + w->alpha) : w->alpha;
}

/* x <- x + the correction of one tape, in w->step; false: the bonds must be evaluated. */
static bool correct_fused(taut_stabilizer *w, taut_fused_work *fused, double t, double *x)
{
    if (!fused || !taut_fused_run(fused, t, w->q, w->v, w->step, NULL, NULL))
        return false;
    move(w, taut_stabilizer_share(w), x);
    w->projector.statistics->factorisations++;
    w->projector.statistics->solves++;
    w->projector.statistics->stabilizer_evaluations++;
    return true;
}

/* residual = gdot, g */
static void take_rates(taut_stabilizer *w, const double *v)
{
    const taut_mechanics *x = &w->mechanics;
    w->rates = 1;
    if (w->refresh > 1 || w->relax != TAUT_RELAX_NONE || w->gradient)
        taut_mechanics_rates(x, v, w->residual); /* the saddle has another G, or none */
    else
        taut_mechanics_rates_at(x, w->saddle, v, w->residual);
}

static void take_positions(taut_stabilizer *w)
{
    w->rates = 0;
    taut_mechanics_pick(&w->mechanics, 1, w->mechanics.values.bond, w->residual);
}

/* v with gdot = 0 where q is now, or on the way there. */
static int project_velocity(taut_stabilizer *w, double t, taut_error *error)
{
    w->pass = 0;
    if (correct_fused(w, w->fused_v, t, w->v))
        return TAUT_OK;
    TAUT_TRY(bonds(w, t, w->q, w->v, error));
    TAUT_TRY(factor(w, t, error));
    take_rates(w, w->v);
    TAUT_TRY(correction(w, error));
    move(w, taut_stabilizer_share(w), w->v);
    return TAUT_OK;
}

static int newton_position(taut_stabilizer *w, double t, taut_error *error)
{
    if (correct_fused(w, w->fused_q, t, w->q))
        return TAUT_OK;
    TAUT_TRY(bonds(w, t, w->q, w->v, error));
    TAUT_TRY(factor(w, t, error));
    take_positions(w);
    TAUT_TRY(correction(w, error));
    move(w, w->alpha, w->q);
    return TAUT_OK;
}

/* Would the pass after this one, whose correction is w->step, be rounding? See the head of the
 * file. Rows inside a step do not learn, so that they do not alter later steps. *first: the size of
 * the first correction. */
static bool is_enough(taut_stabilizer *w, int pass, double *first)
{
    enum { LOOK = 16 };
    if (!w->learns || pass > 1)
        return false;
    double size = largest(w, w->step);
    if (pass == 0) {
        *first = size;
        return size <= 2 * w->enough &&
               (w->row || (w->projector.statistics->steps & (LOOK - 1)) != 0);
    }
    bool rounding = size <= 4 * DBL_EPSILON * largest(w, w->q);
    if (!w->row)
        w->enough = rounding ? fmax(w->enough, *first) : fmin(w->enough, *first / 2);
    return false;
}

/* Passes of exact Newton steps. */
static int newton_positions(taut_stabilizer *w, double t, taut_error *error)
{
    double first = 0;
    for (w->pass = 0; w->pass < w->passes; w->pass++) {
        TAUT_TRY(newton_position(w, t, error));
        if (is_enough(w, w->pass, &first))
            return TAUT_OK;
    }
    return TAUT_OK;
}

bool taut_stabilizer_move_fused(taut_stabilizer *w, double t, double *q, double *v)
{
    const double *from = q;
    double first = 0;
    int done = 0;
    for (bool enough = false; !enough && done < w->passes; from = w->q) {
        if (!taut_fused_run(w->fused_q, t, from, v, w->step, NULL, NULL))
            return false;
        taut_moved(w->n, from, w->alpha, w->step, w->q);
        enough = is_enough(w, done++, &first);
    }
    if (!taut_fused_run(w->fused_v, t, w->q, v, w->step, NULL, NULL))
        return false;
    taut_moved(w->n, v, w->alpha, w->step, v);
    taut_copy(w->n, w->q, q);
    w->projector.statistics->factorisations += done + 1;
    w->projector.statistics->solves += done + 1;
    w->projector.statistics->stabilizer_evaluations += done + 1;
    return true;
}

/* (3.7), from q~: see above. */
static int backward_positions(taut_stabilizer *w, double t, const double *from, taut_error *error)
{
    const taut_mechanics *x = &w->mechanics;
    double before = INFINITY, floor = 4 * DBL_EPSILON * taut_largest(w->n, from);
    for (int k = 0; k < TAUT_STABILIZE_ITERATIONS; k++) {
        TAUT_TRY(bonds(w, t, w->q, w->v, error));
        TAUT_TRY(factor(w, t, error));
        for (taut_index i = 0; i < w->n; i++)
            w->step[i] = from[i] - w->q[i];
        for (taut_index r = 0; r < x->rods; r++)
            w->residual[r] =
                x->values.bond[x->rod[r]] + taut_row_dot(&x->rod_rows, x->rod_jacobian, r, w->step);
        TAUT_TRY(correction(w, error));
        w->projector.statistics->newton_iterations++;
        double change = 0;
        for (taut_index i = 0; i < w->n; i++) {
            double next = from[i] + taut_stabilizer_share(w) * w->step[i];
            change = taut_larger(change, fabs(next - w->q[i]));
            w->q[i] = next;
        }
        if (change <= floor || (change > before / 4 && change < 1e4 * floor))
            return TAUT_OK;
        before = change;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "the backward stabilisation did not converge at t = %.9g: use a smaller step "
                     "size",
                     t);
}

/* (3.10): D stays that of the first point while that converges fast; a far start takes a new one.
 */
static int converge_positions(taut_stabilizer *w, double t, taut_error *error)
{
    double before = INFINITY, size, floor = 4 * DBL_EPSILON * largest(w, w->q);
    bool stale = true;
    for (int k = 0; k < TAUT_STABILIZE_ITERATIONS; k++) {
        TAUT_TRY(bonds(w, t, w->q, w->v, error));
        if (stale)
            TAUT_TRY(factor(w, t, error));
        take_positions(w);
        TAUT_TRY(correction(w, error));
        size = largest(w, w->step);
        w->projector.statistics->newton_iterations++;
        /* at rounding: small, or small and no longer shrinking */
        if (size <= floor || (size > before / 4 && size < 1e4 * floor))
            return TAUT_OK;
        taut_loop_add(w->pool, w->n, w->step, w->q);
        stale = size > before / 4;
        before = size;
        if (!isfinite(size))
            break;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "the projection onto the rigid bonds did not converge at t = %.9g: use a "
                     "smaller step size, or an initial state closer to them",
                     t);
}

/* Invariants, from a state on the bonds whose matrix has been factorised; the velocities are put
 * along the bonds again after each correction. */
static int conserve(taut_stabilizer *w, double t, taut_error *error)
{
    double off, before = INFINITY;
    bool converge = w->form == TAUT_FORM_PROJECT;
    int most = converge ? TAUT_STABILIZE_ITERATIONS : w->passes;
    for (int k = 0; k < most; k++) {
        TAUT_TRY(taut_conserve_step(w->conserve, w->saddle, t, w->q, w->v, &off, error));
        if (off <= 1 || (converge && k > 3 && off > before / 2))
            return TAUT_OK;
        before = off;
        if (converge)
            TAUT_TRY(converge_positions(w, t, error));
        TAUT_TRY(project_velocity(w, t, error));
    }
    return TAUT_OK;
}

/* Direction simple, by itself, turns errors s of g into -L F s of gdot, L = d(gdot)/dq, and a step
 * turns errors r of gdot into h r of g: each step and correction together multiplies errors of
 * velocities by h |L F|. Above 1 the curvature of the bonds dominates [section 4, after (4.8)].
 * |L F s|/|s| for the correction of positions in w->step, whose g has the size `off`, from another
 * evaluation there; at steps 1, 2, 4, ..., 64, 128, 192, ... only. */
static int measure_curvature(taut_stabilizer *w, double t, const double *q0, const double *v0,
                             double off, taut_error *error)
{
    const taut_mechanics *x = &w->mechanics;
    int64_t steps = w->projector.statistics->steps;
    double size = taut_largest(w->n, q0), most = 0;
    if (((steps & (steps - 1)) != 0 && steps % 64 != 0) || steps == 0 || w->row ||
        off <= 1e4 * DBL_EPSILON * (1 + size))
        return TAUT_OK;
    taut_mechanics_rates(x, v0, w->residual);
    for (taut_index i = 0; i < w->n; i++)
        w->step[i] += q0[i];
    TAUT_TRY(bonds(w, t, w->step, v0, error));
    for (taut_index r = 0; r < x->rods; r++) {
        double rate = x->values.bond_dt[x->rod[r]] +
                      taut_row_dot(&x->rod_rows, x->rod_jacobian, r, v0) - w->residual[r];
        most = fmax(most, fabs(rate));
    }
    if (fabs(w->t - w->before) * most > off)
        w->projector.warning =
            "the curvature of the bonds dominates the direction simple of the stabilisation: it "
            "amplifies errors of velocities; use the direction mass or unit, or a smaller step "
            "size";
    return TAUT_OK;
}

int taut_stabilizer_move_both(taut_stabilizer *w, double t, const double *q0, const double *v0,
                              taut_error *error)
{
    TAUT_TRY(bonds(w, t, q0, v0, error));
    TAUT_TRY(factor(w, t, error));
    if (w->velocity) {
        take_rates(w, v0);
        TAUT_TRY(correction(w, error));
        move(w, w->alpha, w->v);
    }
    if (w->position) {
        take_positions(w);
        double off = taut_largest(w->mechanics.rods, w->residual);
        TAUT_TRY(correction(w, error));
        move(w, w->alpha, w->q);
        if (w->velocity && !w->gradient)
            TAUT_TRY(measure_curvature(w, t, q0, v0, off, error));
    }
    return TAUT_OK;
}

int taut_stabilizer_move_bonds(taut_stabilizer *w, double t, const double *q, taut_error *error)
{
    if (w->simple) {
        for (w->pass = 0; w->pass < w->passes; w->pass++)
            TAUT_TRY(taut_stabilizer_move_both(w, t, w->q, w->v, error));
        return TAUT_OK;
    }
    if (w->position)
        TAUT_TRY(w->form == TAUT_FORM_PROJECT    ? converge_positions(w, t, error)
                 : w->form == TAUT_FORM_BACKWARD ? backward_positions(w, t, q, error)
                                                 : newton_positions(w, t, error));
    if (w->velocity)
        TAUT_TRY(project_velocity(w, t, error));
    return w->conserve ? conserve(w, t, error) : TAUT_OK;
}

int taut_stabilizer_fill_bonds(taut_stabilizer *w, taut_context *context, taut_arena *arena,
                               taut_error *error)
{
    taut_mechanics *x = &w->mechanics;
    TAUT_TRY(
        taut_mechanics_create(x, context, arena, w->projector.statistics, TAUT_WANT_BOND, error));
    TAUT_TRY(taut_conserve_create(context, arena, x->rods, &w->conserve, error));
    if (x->rods == 0 && !w->conserve)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "there is nothing to stabilise: the system has no rigid bonds and no "
                         "invariants");
    bool exact = w->refresh <= 1 && w->relax == TAUT_RELAX_NONE;
    w->learns = exact && w->alpha == 1 && w->passes > 1 && !w->gradient;
    bool plain = exact && (w->form == TAUT_FORM_POST || w->form == TAUT_FORM_PROJECT) && !w->unit &&
                 w->position && w->velocity && w->alpha == 1;
    if (w->relax != TAUT_RELAX_NONE && !w->unit && x->mass_start)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "diagonal and sor along mass need diagonal masses: use direction unit");
    if (w->conserve && !plain)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "stabilisation '%s' is for rigid bonds alone; [invariants] need post or "
                         "project of both, along mass, with alpha = 1 and a factorisation each",
                         w->projector.name);
    TAUT_TRY(
        TAUT_RESERVE(arena, x->rods, error, &w->residual, &w->spare, &w->guess[0], &w->guess[1]));
    if (w->unit) {
        TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->ones));
        for (taut_index i = 0; i < w->n; i++)
            w->ones[i] = 1;
    }
    if (exact && !w->unit && !w->conserve) { /* invariants need the matrix that was factorised */
        TAUT_TRY(taut_fused_open(context, TAUT_FUSED_POSITION, 0, x->rods, x->rod, arena,
                                 &w->fused_q, error));
        TAUT_TRY(taut_fused_open(context, TAUT_FUSED_VELOCITY, 0, x->rods, x->rod, arena,
                                 &w->fused_v, error));
        w->whole = w->fused_q && w->fused_v && w->form == TAUT_FORM_POST && !w->simple &&
                   w->position && w->velocity;
    }
    w->borrowed = w->borrowed && exact && !w->unit;
    if (!w->borrowed)
        TAUT_TRY(taut_mechanics_saddle(x, w->unit, true, &arena->allocator, &w->saddle, error));
    /* the others evaluate G without factorising it, or read it by rows */
    if (w->form == TAUT_FORM_POST && exact && !w->simple && !w->gradient && !w->conserve)
        taut_mechanics_columns(x, taut_mechanics_room(x, w->saddle));
    return TAUT_OK;
}
