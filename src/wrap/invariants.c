/* invariants.c - see invariants.h. F h is found from the saddle system [I D; H 0] (x, .) = (0,
 * h), with D^T on the pattern of H. */
#include "wrap/invariants.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "system/singular.h"
#include "system/system.h"

struct taut_invariants {
    taut_context *context;
    const taut_allocator *allocator; /* for the names of what is singular */
    taut_statistics *statistics;
    taut_index n, rows, constraints, algebraic;
    taut_pattern jacobian;   /* of all rows of g; the leading ones are h */
    taut_values values;      /* bond, jacobian, bond_dt */
    taut_index movable;      /* the first variable that may move: 0, or the algebraic ones only */
    unsigned char *velocity; /* [n]: may move; NULL: all */
    bool marked;             /* velocity is set */
    bool gradient;           /* F = H^T */
    taut_relax relax;        /* instead of a factorisation */
    int refresh;             /* steps that one serves */
    int64_t epoch, seen;     /* which of these it belongs to, from 1; 0: none; the latest step */
    double *guess, *spare;   /* relaxation: y of the step before; no y */
    unsigned char *again;    /* and where they are found out, [n]; */
    taut_pattern tangent;
    taut_values rates; /* force, force_dq */
    double *near, *y;  /* [n]; algebraic variables of the start */
    double *kept; /* [rows]: values of the invariants at the initial state; 0 for constraints */
    double *h, *right, *ones;
    taut_saddle *saddle;
};

void taut_invariants_destroy(taut_invariants *w)
{
    taut_saddle_destroy(w->saddle);
    w->saddle = NULL;
}

/* Row i of df/dz has one entry, 1, in column j, and the rate is z_j itself: then z_j is the
 * velocity of z_i. */
static void mark_velocities(taut_invariants *w, const taut_pattern *tangent,
                            const taut_values *values, const double *z, unsigned char *mark)
{
    memset(mark, 0, (size_t)w->n);
    for (taut_index i = 0; i < w->n; i++) {
        taut_index found = -1, others = 0;
        for (taut_index e = tangent->start[i]; e < tangent->start[i + 1]; e++)
            if (values->force_dq[e] == 1 && found < 0)
                found = tangent->column[e];
            else
                others += values->force_dq[e] != 0;
        if (found >= 0 && found != i && others == 0 && values->force[i] == z[found])
            mark[found] = 1;
    }
}

static int prepare_velocities(taut_invariants *w, taut_arena *arena, taut_error *error)
{
    TAUT_TRY(taut_system_pattern(taut_context_system(w->context), TAUT_PATTERN_TANGENT, &w->tangent,
                                 error));
    w->again = TAUT_NEW(arena, unsigned char, w->n);
    w->velocity = TAUT_NEW(arena, unsigned char, w->n);
    TAUT_TRY(taut_arena_check(arena, error));
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->rates.force, &w->near));
    TAUT_TRY(TAUT_RESERVE(arena, w->tangent.start[w->n], error, &w->rates.force_dq));
    return TAUT_OK;
}

static int find_velocities(taut_invariants *w, double t, const double *z, taut_error *error)
{
    /* here and at a second point: an entry may be 1 by chance */
    unsigned wanted = TAUT_WANT_FORCE | TAUT_WANT_FORCE_DQ;
    TAUT_TRY(taut_evaluate_inside(w->context, t, z, w->y, wanted, &w->rates, error));
    mark_velocities(w, &w->tangent, &w->rates, z, w->velocity);
    for (taut_index i = 0; i < w->n; i++)
        w->near[i] = z[i] + 1e-3 * (fabs(z[i]) + 1e-3) * sin(1.0 + i);
    TAUT_TRY(taut_evaluate_inside(w->context, t + 0.01, w->near, w->y, wanted, &w->rates, error));
    mark_velocities(w, &w->tangent, &w->rates, w->near, w->again);
    taut_index count = 0;
    for (taut_index i = 0; i < w->n; i++)
        count += w->velocity[i] = w->velocity[i] && w->again[i];
    w->marked = true;
    if (count == 0)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "stabilisation by velocities needs variables that are the rate of another "
                         "one (x' = u); use `post`");
    return TAUT_OK;
}

int taut_invariants_begin(taut_invariants *w, double t, const double *z, taut_error *error)
{
    TAUT_TRY(taut_evaluate_inside(w->context, t, z, NULL, TAUT_WANT_BOND, &w->values, error));
    for (taut_index i = w->constraints; i < w->rows; i++)
        w->kept[i] = w->values.bond[i];
    return w->velocity && !w->marked ? find_velocities(w, t, z, error) : TAUT_OK;
}

/* The model's initial state at t = 0, which need not exist: a run may begin later, and then calls
 * taut_invariants_begin. */
static int begin_at_zero(taut_invariants *w, double *z, taut_error *error)
{
    taut_error reason;
    int status = taut_context_start(w->context, 0, z, w->y, &reason);
    if (status == 0)
        status = taut_invariants_begin(w, 0, z, &reason);
    if (taut_start_missing(status)) {
        taut_clear(w->algebraic, w->y);
        return TAUT_OK;
    }
    if (status < 0 && error)
        *error = reason;
    return status;
}

static int fill(taut_invariants *w, taut_invariants_of which, taut_arena *arena, taut_error *error)
{
    const taut_system *system = taut_context_system(w->context);
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    w->n = sizes.coordinates;
    w->constraints = sizes.constraints;
    w->algebraic = sizes.algebraic;
    w->rows = sizes.constraints + sizes.invariants;
    /* constraints that all contain algebraic variables are solved for these */
    w->movable = sizes.followed == w->rows ? w->n - w->rows : 0;
    if (w->rows == 0)
        return taut_fail(
            error, TAUT_ERROR_REFUSED,
            "there is nothing to stabilise: the model has neither [constraints] nor [invariants]");
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
    double *z;
    TAUT_TRY(TAUT_RESERVE(arena, sizes.bonds, error, &w->values.bond, &w->values.bond_dt));
    TAUT_TRY(TAUT_RESERVE(arena, w->rows, error, &w->kept, &w->h, &w->right, &w->guess, &w->spare));
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->ones, &z));
    w->values.jacobian = TAUT_NEW(arena, double, sizes.jacobian_entries);
    w->y = TAUT_NEW(arena, double, w->n > sizes.algebraic ? w->n : sizes.algebraic);
    TAUT_TRY(taut_arena_check(arena, error));
    for (taut_index i = 0; i < w->n; i++)
        w->ones[i] = 1;
    if (which == TAUT_INVARIANTS_VELOCITY)
        TAUT_TRY(prepare_velocities(w, arena, error));
    TAUT_TRY(begin_at_zero(w, z, error));
    taut_saddle_shape shape = {.n = w->n,
                               .m = w->rows,
                               .g_start = w->jacobian.start,
                               .g_column = w->jacobian.column,
                               .symmetric = true,
                               .positive = true};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &arena->allocator, &w->saddle, error);
}

int taut_invariants_create(taut_context *context, taut_invariants_of which, taut_arena *arena,
                           taut_statistics *statistics, taut_invariants **invariants,
                           taut_error *error)
{
    *invariants = NULL;
    taut_invariants *w = TAUT_NEW(arena, taut_invariants, 1);
    TAUT_NEED(error, w);
    w->context = context;
    w->allocator = &arena->allocator;
    w->statistics = statistics;
    w->gradient = which == TAUT_INVARIANTS_GRADIENT;
    int status = fill(w, which, arena, error);
    if (status == 0)
        *invariants = w;
    else
        taut_saddle_destroy(w->saddle);
    return status;
}

void taut_invariants_approximate(taut_invariants *w, taut_relax relax, int refresh)
{
    w->relax = relax;
    w->refresh = refresh;
}

/* The first one after a step begins with the y of the step before. */
static void relax(taut_invariants *w, double *push)
{
    bool later = w->seen == w->statistics->steps;
    taut_clear(w->rows, w->spare);
    taut_relax_solve(w->relax, &w->jacobian, w->rows, w->values.jacobian, NULL, w->right,
                     later || w->relax == TAUT_RELAX_DIAGONAL ? w->spare : w->guess, push);
    w->seen = w->statistics->steps;
}

static int factor(taut_invariants *w, double t, taut_error *error)
{
    int64_t epoch = w->refresh > 1 ? 1 + w->statistics->steps / w->refresh : 0;
    if (w->refresh > 1 && w->epoch == epoch)
        return TAUT_OK;
    w->epoch = 0;
    w->statistics->factorisations++;
    taut_singular parts = {.context = w->context,
                           .allocator = w->allocator,
                           .n = w->n,
                           .m = w->rows,
                           .mass = w->ones,
                           .start = w->jacobian.start,
                           .column = w->jacobian.column,
                           .jacobian = w->values.jacobian};
    int status = taut_saddle_factor(w->saddle, w->ones, w->values.jacobian, NULL, NULL, error);
    w->epoch = status == 0 ? epoch : 0;
    return taut_singular_explain(&parts, status, t,
                                 w->velocity ? "velocities alone cannot keep all invariants"
                                             : "the state cannot be stabilised",
                                 error);
}

/* h, H (of what may move) and h_t at (t, z); right = h. */
static int evaluate(taut_invariants *w, double t, const double *z, taut_error *error)
{
    w->statistics->stabilizer_evaluations++;
    TAUT_TRY(taut_evaluate_inside(w->context, t, z, NULL, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN,
                                  &w->values, error));
    for (taut_index i = 0; i < w->rows; i++)
        w->right[i] = w->h[i] = w->values.bond[i] - w->kept[i];
    /* what may not move has no part in H D either */
    for (taut_index e = 0; w->velocity && e < w->jacobian.start[w->rows]; e++)
        if (!w->velocity[w->jacobian.column[e]])
            w->values.jacobian[e] = 0;
    for (taut_index e = 0; w->movable > 0 && e < w->jacobian.start[w->rows]; e++)
        if (w->jacobian.column[e] < w->movable)
            w->values.jacobian[e] = 0;
    return TAUT_OK;
}

/* push = F right; F = H^T: of h itself */
static int solve(taut_invariants *w, double t, double *push, taut_error *error)
{
    taut_clear(w->n, push);
    if (w->gradient) {
        for (taut_index i = 0; i < w->rows; i++)
            taut_row_add(&w->jacobian, w->values.jacobian, i, w->h[i], push);
        return TAUT_OK;
    }
    if (w->relax != TAUT_RELAX_NONE) {
        relax(w, push);
        return TAUT_OK;
    }
    TAUT_TRY(factor(w, t, error));
    w->statistics->solves++;
    return taut_saddle_solve(w->saddle, 1, push, w->right, error);
}

int taut_invariants_step(taut_invariants *w, double t, const double *z, const double *from,
                         double *push, taut_error *error)
{
    TAUT_TRY(evaluate(w, t, z, error));
    for (taut_index i = 0; from && i < w->rows; i++)
        for (taut_index e = w->jacobian.start[i]; e < w->jacobian.start[i + 1]; e++) {
            taut_index k = w->jacobian.column[e];
            w->right[i] += w->values.jacobian[e] * (from[k] - z[k]);
        }
    return solve(w, t, push, error);
}

int taut_invariants_rate(taut_invariants *w, double t, const double *z, const double *f,
                         double gamma, double *push, taut_error *error)
{
    TAUT_TRY(evaluate(w, t, z, error));
    for (taut_index i = 0; i < w->rows; i++)
        w->right[i] = gamma * w->h[i] + w->values.bond_dt[i] +
                      taut_row_dot(&w->jacobian, w->values.jacobian, i, f);
    return solve(w, t, push, error);
}

void taut_invariants_archive(taut_invariants *w, taut_archive *archive)
{
    taut_archive_reals(archive, w->kept, w->rows);
    taut_archive_reals(archive, w->guess, w->rows);
    taut_archive_count(archive, &w->seen);
    if (w->refresh <= 1)
        return;
    taut_archive_count(archive, &w->epoch);
    taut_saddle_archive(w->saddle, archive);
}

double taut_invariants_size(const taut_invariants *w, const double *z, double *rounding)
{
    double floor = 0;
    for (taut_index i = 0; i < w->rows; i++) {
        double sum = fabs(w->kept[i]) + taut_row_size(&w->jacobian, w->values.jacobian, i, z);
        floor = fmax(floor, sum * DBL_EPSILON);
    }
    *rounding = floor;
    return taut_largest(w->rows, w->h);
}
