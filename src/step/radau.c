/* radau.c - Radau IIA methods of 1 to 5 stages (orders 1, 3, 5, 7, 9) for systems held by
 * springs, dampers and rods.
 *
 *     M(t,q) v' = f - G^T lambda, q' = v, C lambda = g + T gdot
 *     [B (3.2), (8.4); Hairer, Wanner II, IV.5, VII]
 *
 * One code path from soft springs to rods: c = 0 is the index-3 system. Newton's iteration
 * converges uniformly in the stiffness [B Lemma 8.2]; steps are chosen for the slow motion, and
 * what rings is damped [B Theorem 3.2]. Orders in q: 2s - 1; in v: s (s > 1), 1; in lambda: s -
 * 1 [B Theorem 4.1]. The end of a step is its last stage, multipliers included. A stiff
 * potential enters through its Hessian in K; steps may then be limited by its curvature [B Lemma
 * 8.1]. */
#include "base/vectors.h"
#include "base/rows.h"
#include "step/methods.h"

#include <string.h>

#include "step/radau.h"

static int new_past(taut_stepper *s, const taut_radau *w, bool polynomials, taut_radau_past *past,
                    taut_error *error)
{
    *past = (taut_radau_past){.force = TAUT_NEW(s->arena, double, w->n),
                              .jacobian = TAUT_NEW(s->arena, double, w->entries),
                              .mass = TAUT_NEW(s->arena, double, w->varying ? w->mass_entries : 0),
                              .drift = TAUT_NEW(s->arena, double, w->m),
                              .tension = TAUT_NEW(s->arena, double, w->m),
                              .gamma = TAUT_NEW(s->arena, double, w->m),
                              .rate = TAUT_NEW(s->arena, double, w->m),
                              .bond = TAUT_NEW(s->arena, double, w->m)};
    if (!past->force || !past->jacobian || !past->mass || !past->drift || !past->tension ||
        !past->gamma || !past->rate || !past->bond)
        return taut_fail_memory(error);
    past->a = TAUT_NEW(s->arena, double, polynomials ? (int64_t)w->s * w->n : 0);
    past->lambda = TAUT_NEW(s->arena, double, polynomials ? (int64_t)w->s * w->m : 0);
    return past->a && past->lambda ? TAUT_OK : taut_fail_memory(error);
}

int taut_radau_reserve(taut_stepper *s, size_t count, const taut_radau_part *part,
                       taut_error *error)
{
    for (size_t k = 0; k < count; k++)
        if (!(*part[k].array = TAUT_NEW(s->arena, double, part[k].count)))
            return taut_fail_memory(error);
    return TAUT_OK;
}

static int reserve(taut_stepper *s, taut_radau *w, taut_error *error)
{
    int64_t rows = (int64_t)w->s * w->n, bonds = (int64_t)w->s * w->m;
    for (int k = 0; k < 2; k++)
        TAUT_TRY(new_past(s, w, true, &w->past[k], error));
    TAUT_TRY(new_past(s, w, false, &w->probe, error));
    const taut_radau_part parts[] = {{&w->q, rows},
                                     {&w->v, rows},
                                     {&w->r, rows},
                                     {&w->y, bonds},
                                     {&w->g, (int64_t)w->s * w->entries},
                                     {&w->mass, (int64_t)(w->varying ? w->s : 1) * w->mass_entries},
                                     {&w->force, w->n},
                                     {&w->bond, w->m},
                                     {&w->bond_dt, w->m},
                                     {&w->work, 4 * (int64_t)w->tangents},
                                     {&w->extra, w->n},
                                     {&w->scale, w->n},
                                     {&w->foretold, w->n},
                                     {&w->d, bonds},
                                     {&w->acceleration_g, w->entries},
                                     {&w->frozen.mass, w->mass_entries},
                                     {&w->frozen.stiff, w->tangents},
                                     {&w->frozen.drag, w->velocity ? w->tangents : 0},
                                     {&w->frozen.jacobian, w->entries}};
    TAUT_TRY(taut_radau_reserve(s, sizeof parts / sizeof parts[0], parts, error));
    w->pivot = TAUT_NEW(s->arena, taut_index, w->n);
    return w->pivot ? TAUT_OK : taut_fail_memory(error);
}

/* What the system is like, from its sizes. */
static int describe(taut_stepper *s, taut_radau *w, taut_error *error)
{
    const taut_system *system = taut_context_system(s->context);
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    w->n = s->n;
    w->m = s->m;
    w->varying = sizes.mass == TAUT_MASS_VARYING;
    w->diagonal = sizes.mass == TAUT_MASS_DIAGONAL;
    w->velocity = sizes.can & TAUT_HAS_VELOCITY_FORCES;
    w->stiff = sizes.can & TAUT_HAS_STIFF_POTENTIAL;
    w->symmetric = !w->varying && !(sizes.can & (TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_FORCES));
    w->compliance = taut_context_compliance(s->context);
    w->damping = taut_context_damping(s->context);
    for (taut_index i = 0; i < w->m; i++)
        w->moves |= w->damping[i] > 0;
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &w->tangent, error));
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
    w->tangents = w->tangent.start[w->n];
    w->entries = w->m > 0 ? w->jacobian.start[w->m] : 0;
    w->mass_entries = w->diagonal ? w->n : w->tangents;
    return TAUT_OK;
}

/* A constant mass once; the places of the diagonal. */
static int take_mass(taut_stepper *s, taut_radau *w, taut_error *error)
{
    for (taut_index r = 0; r < w->n; r++)
        w->pivot[r] = taut_row_find(&w->tangent, r, r);
    if (w->varying)
        return TAUT_OK;
    taut_values values = {.mass = w->mass};
    return taut_evaluate_inside(s->context, s->now.t, s->now.q, s->now.v, TAUT_WANT_MASS, &values,
                                error);
}

/* [M G^T; G -D] for the first guess and for multipliers. */
static int make_acceleration(taut_stepper *s, taut_radau *w, taut_error *error)
{
    taut_saddle_shape shape = {.n = w->n,
                               .m = w->m,
                               .k_start = w->diagonal ? NULL : w->tangent.start,
                               .k_column = w->diagonal ? NULL : w->tangent.column,
                               .g_start = w->jacobian.start,
                               .g_column = w->jacobian.column,
                               .symmetric = true,
                               .positive = w->diagonal};
    for (taut_index k = 0; w->diagonal && k < w->n; k++)
        shape.positive &= w->mass[k] > 0;
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &s->arena->allocator, &w->acceleration,
                              error);
}

static int create(taut_stepper *s, int stages, taut_error *error)
{
    if (s->first_order)
        return taut_radau_first_create(s, stages, error);
    taut_radau *w = s->work = TAUT_NEW(s->arena, taut_radau, 1);
    if (!w)
        return taut_fail_memory(error);
    w->s = stages;
    taut_collocation_make(stages, &w->table);
    TAUT_TRY(describe(s, w, error));
    w->between = taut_collocation_between(&w->table, 2);
    const char *newton = s->options ? taut_options_text(s->options, "newton") : "auto";
    w->oscillations = s->motion == TAUT_MOTION_FULL;
    w->complete = true; /* the start has its own multipliers */
    w->stage_wise = strcmp(newton, "stage") == 0 ||
                    (strcmp(newton, "tensor") != 0 &&
                     (int64_t)stages * ((int64_t)w->n + w->m) <= TAUT_STAGE_WISE_ROWS);
    /* radau_whole.c leaves out a term of damped bonds */
    w->quadratic = s->adaptive && w->stage_wise && !w->moves && !w->stiff;
    TAUT_TRY(reserve(s, w, error));
    TAUT_TRY(take_mass(s, w, error));
    TAUT_TRY(make_acceleration(s, w, error));
    TAUT_TRY(w->stage_wise ? taut_radau_whole_create(s, error)
                           : taut_radau_tensor_create(s, error));
    return s->adaptive ? taut_radau_estimate_create(s, error) : TAUT_OK;
}

static int create1(taut_stepper *s, taut_error *error)
{
    return create(s, 1, error);
}

static int create3(taut_stepper *s, taut_error *error)
{
    return create(s, 2, error);
}

static int create5(taut_stepper *s, taut_error *error)
{
    return create(s, 3, error);
}

static int create7(taut_stepper *s, taut_error *error)
{
    return create(s, 4, error);
}

static int create9(taut_stepper *s, taut_error *error)
{
    return create(s, 5, error);
}

static void destroy(taut_stepper *s)
{
    taut_radau *w = s->work;
    if (s->first_order)
        taut_radau_first_destroy(s);
    if (!w || s->first_order)
        return;
    taut_saddle_destroy(w->whole);
    taut_radau_blocks_destroy(&w->blocks);
    taut_saddle_destroy(w->filter);
    taut_saddle_destroy(w->acceleration);
}

/* f at the end by the equations of the last stage, f = M a + G^T lambda: unlike f of the last
 * iterate it has the last correction in it. */
static void take_force(taut_radau *w, taut_radau_past *end, const taut_state *state)
{
    taut_clear(w->n, w->extra);
    taut_radau_defect(w, w->extra, end->jacobian, state->lambda, w->varying ? end->mass : w->mass,
                      state->a, end->force);
    for (taut_index k = 0; k < w->n; k++)
        end->force[k] = -end->force[k];
}

static int step(taut_stepper *s, double h, taut_error *error)
{
    if (s->first_order)
        return taut_radau_first_step(s, h, error);
    taut_radau *w = s->work;
    taut_radau_past *past = &w->past[w->top], *trial = &w->past[1 - w->top];
    if (!past->ended || (!past->smooth && !past->begun))
        TAUT_TRY(taut_radau_start(s, past, error));
    TAUT_TRY(taut_radau_newton(s, h, error));
    if (s->adaptive)
        TAUT_TRY(taut_radau_explain(s, taut_radau_estimate(s, h, error), 1, past->jacobian, error));
    else
        taut_radau_place(s, h); /* without the rounding of the iteration's sums */

    int64_t end = (int64_t)(w->s - 1) * w->n, tension = (int64_t)(w->s - 1) * w->m;
    taut_state old = s->now, next = s->last;
    next.t = old.t + h;
    taut_copy(w->n, w->q + end, next.q);
    taut_copy(w->n, w->v + end, next.v);
    taut_copy(w->n, trial->a + end, next.a);
    taut_copy(w->m, trial->lambda + tension, next.lambda);
    taut_copy(w->m, next.lambda, trial->tension);
    if (s->adaptive) { /* equal steps show the method itself */
        TAUT_TRY(taut_radau_along(s, h, next.q, next.v, error));
        take_force(w, trial, &next);
    }
    trial->h = h;
    trial->smooth = trial->ended = true;
    trial->begun = false;
    w->complete = false;
    s->now = next;
    s->last = old;
    w->top = 1 - w->top;
    s->statistics->steps++;
    return TAUT_OK;
}

static void changed(taut_stepper *s)
{
    if (s->first_order) {
        taut_radau_first_forget(s, true);
        return;
    }
    taut_radau *w = s->work;
    taut_radau_past *past = &w->past[w->top];
    past->smooth = past->ended = past->begun = false;
}

/* The motion goes on; f and G at its point are new. */
static void stabilized(taut_stepper *s)
{
    if (s->first_order) {
        taut_radau_first_forget(s, false);
        return;
    }
    taut_radau *w = s->work;
    w->past[w->top].ended = w->past[w->top].begun = false;
}

static void rejected(taut_stepper *s)
{
    if (s->first_order) {
        taut_radau_first_rejected(s);
        return;
    }
    taut_radau *w = s->work;
    w->top = 1 - w->top;
    w->complete = false;
}

/* Who chooses steps by error control wants the best multipliers there are; equal steps show
 * those of the method. */
static int reactions(taut_stepper *s, taut_state *state, taut_error *error)
{
    if (!s->adaptive)
        return TAUT_OK;
    return taut_radau_reactions(s, state->t, state->q, state->v, state->lambda, error);
}

static int complete(taut_stepper *s, taut_error *error)
{
    taut_radau *w = s->work;
    if (s->first_order || w->complete)
        return TAUT_OK;
    w->complete = true;
    return reactions(s, &s->now, error);
}

/* Accelerations are integrated: q(theta) = q0 + theta h v0 + h^2 sum_i (int int l_i) a_i meets
 * the end for s > 1; one stage is a line. */
static int dense(taut_stepper *s, double theta, taut_state *state, taut_error *error)
{
    if (s->first_order) {
        taut_radau_first_dense(s, theta, state);
        return TAUT_OK;
    }
    const taut_radau *w = s->work;
    const taut_radau_past *past = &w->past[w->top];
    double value[TAUT_STAGES_MAX], once[TAUT_STAGES_MAX], twice[TAUT_STAGES_MAX], h = past->h;
    taut_collocation_weights(&w->table, theta, 0, value);
    taut_collocation_weights(&w->table, theta, 1, once);
    taut_collocation_weights(&w->table, theta, 2, twice);
    if (w->s == 1)
        twice[0] = theta;
    for (taut_index k = 0; k < w->n; k++) {
        double a = 0, dv = 0, dq = 0;
        for (int j = 0; j < w->s; j++) {
            double x = past->a[(int64_t)j * w->n + k];
            a += value[j] * x;
            dv += once[j] * x;
            dq += twice[j] * x;
        }
        state->a[k] = a;
        state->v[k] = s->last.v[k] + h * dv;
        state->q[k] = s->last.q[k] + h * (theta * s->last.v[k] + h * dq);
    }
    for (taut_index i = 0; i < w->m; i++) {
        double sum = 0;
        for (int j = 0; j < w->s; j++)
            sum += value[j] * past->lambda[(int64_t)j * w->m + i];
        state->lambda[i] = sum;
    }
    state->t = s->last.t + theta * h;
    taut_statistics before = *s->statistics; /* output is not counted */
    int status = reactions(s, state, error);
    *s->statistics = before;
    return status;
}

/* Algebraic variables are part of a first-order state: they are what they are. */
static int multipliers(taut_stepper *s, double t, const double *q, const double *v, double *lambda,
                       taut_error *error)
{
    if (!s->first_order)
        return taut_radau_multipliers(s, t, q, v, lambda, error);
    if (lambda != v)
        taut_copy(s->m, v, lambda);
    return TAUT_OK;
}

#define COMMON                                                                                     \
    .motions = TAUT_MOTION_RIGID | TAUT_MOTION_SLOW | TAUT_MOTION_FULL, .needs = TAUT_CAN_FORCE,   \
    .first_order = true, .reference = "Lubich 1993, (3.2), (8.4); Hairer, Wanner II, IV.5, IV.8",  \
    .destroy = destroy, .step = step, .changed = changed, .stabilized = stabilized,                \
    .rejected = rejected, .dense = dense, .complete = complete, .multipliers = multipliers

const taut_method taut_radau1 = {.name = "radau1",
                                 .order = 1,
                                 .error_order = 2,
                                 .create = create1,
                                 .summary = "implicit Euler: damps everything that rings",
                                 COMMON};
const taut_method taut_radau3 = {
    .name = "radau3",
    .order = 3,
    .error_order = 4,
    .create = create3,
    .summary = "Radau IIA, 2 stages: stiff, damped and rigid bonds in one form",
    COMMON};
const taut_method taut_radau5 = {.name = "radau5",
                                 .order = 5,
                                 .error_order = 5,
                                 .create = create5,
                                 .summary = "Radau IIA, 3 stages: stiff, damped and rigid bonds in "
                                            "one form; steps do not see the stiffness",
                                 COMMON};
const taut_method taut_radau7 = {.name = "radau7",
                                 .order = 7,
                                 .error_order = 6,
                                 .create = create7,
                                 .summary = "Radau IIA, 4 stages: as radau5, for higher accuracy",
                                 COMMON};
const taut_method taut_radau9 = {.name = "radau9",
                                 .order = 9,
                                 .error_order = 7,
                                 .create = create9,
                                 .summary =
                                     "Radau IIA, 5 stages: as radau5, for the highest accuracy",
                                 COMMON};
