/* radau.c - Radau IIA methods of 1 to 5 stages (orders 1, 3, 5, 7, 9) for systems held by
 * springs, dampers and rigid bonds.
 *
 *     M(t,q) v' = f - G^T lambda, q' = v, C lambda = g + T gdot
 *     [B (3.2), (8.4); Hairer, Wanner II, IV.5, VII]
 *
 * One code path from soft springs to rigid bonds: c = 0 is the index-3 system. Newton's iteration
 * converges uniformly in the stiffness [B Lemma 8.2]; steps are chosen for the slow motion, and
 * oscillations are damped [B Theorem 3.2]. Orders in q: 2s - 1; in v: s (s > 1), 1; in lambda: s -
 * 1 [B Theorem 4.1]. The end of a step is its last stage, multipliers included. A stiff
 * potential has rows like bonds (radau_potential.c), or enters through its Hessian in K; steps may
 * then be limited by its curvature [B Lemma 8.1]. */
#include "base/rows.h"
#include "base/vectors.h"
#include "step/methods.h"
#include "system/system.h"

#include <string.h>

#include "step/radau.h"

/* Memory of a step: its polynomials, and what is known at its end. */
static int new_past(taut_arena *arena, const taut_radau *w, taut_radau_past *past,
                    taut_error *error)
{
    past->jacobian = TAUT_NEW(arena, double, w->entries);
    past->mass = TAUT_NEW(arena, double, w->varying ? w->mass_entries : 0);
    past->force = TAUT_NEW(arena, double, w->n);
    past->pull = TAUT_NEW(arena, double, w->rows > 0 ? w->n : 0);
    past->a = TAUT_NEW(arena, double, (int64_t)w->s * w->n);
    past->lambda = TAUT_NEW(arena, double, (int64_t)w->s * w->m);
    for (int k = 0; k < 2; k++) {
        past->jump[k] = TAUT_NEW(arena, double, w->jumps ? w->n : 0);
        past->push[k] = TAUT_NEW(arena, double, w->jumps ? w->m : 0);
    }
    TAUT_TRY(taut_arena_check(arena, error));
    return TAUT_RESERVE(arena, w->m, error, &past->drift, &past->tension, &past->gamma, &past->rate,
                        &past->bond);
}

/* Values at a state for multipliers. The frozen Jacobian takes its room where it is not kept. */
static int new_probe(taut_arena *arena, taut_radau *w, taut_error *error)
{
    taut_radau_past *p = &w->probe;
    double **const bond[] = {&p->lambda, &p->drift, &p->tension, &p->gamma, &p->rate, &p->bond};
    enum { BONDS = sizeof bond / sizeof bond[0] };
    const int64_t all = (int64_t)w->entries + w->n + BONDS * (int64_t)w->m;
    const int64_t least = w->frozen.kept ? 0 : w->tangents;
    double *room = TAUT_NEW(arena, double, all > least ? all : least);
    p->mass = TAUT_NEW(arena, double, w->varying ? w->mass_entries : 0);
    p->pull = TAUT_NEW(arena, double, w->rows > 0 ? w->n : 0);
    TAUT_NEED(error, room, p->mass, p->pull);
    if (!w->frozen.kept)
        w->frozen.stiff = room;
    p->jacobian = room;
    p->force = room += w->entries;
    room += w->n;
    for (int k = 0; k < BONDS; k++, room += w->m)
        *bond[k] = room;
    return TAUT_OK;
}

/* Has the error estimate a matrix of its own? Else the first block, which is real, serves it. */
static bool has_filter(const taut_stepper *s)
{
    const taut_radau *w = s->work;
    return s->adaptive && !(w->table.real[0] && !w->stage_wise);
}

/* What Newton's iteration and the error estimate need for equations of either order. */
static int reserve(taut_stepper *s, taut_radau *w, taut_error *error)
{
    taut_arena *arena = s->arena;
    int64_t rows = (int64_t)w->s * w->n, bonds = (int64_t)w->s * w->m;
    TAUT_TRY(TAUT_RESERVE(arena, rows, error, &w->q, &w->v));
    TAUT_NEED(error, w->r = taut_stepper_room(s, rows + bonds)); /* of Newton's iteration alone */
    w->y = w->r + rows;
    TAUT_TRY(TAUT_RESERVE(arena, w->stage_wise ? bonds : w->m, error, &w->d, &w->filter_y));
    TAUT_TRY(TAUT_RESERVE(arena, w->n, error, &w->force, &w->extra, &w->scale, &w->foretold,
                          &w->filter_x, &w->early));
    w->end_q = w->table.ends ? w->q + rows - w->n : TAUT_NEW(arena, double, w->n);
    w->end_v = w->table.ends ? w->v + rows - w->n : TAUT_NEW(arena, double, w->n);
    w->mass = taut_context_masses(s->context)
                  ? s->context->mass
                  : TAUT_NEW(arena, double, (int64_t)(w->varying ? w->s : 1) * w->mass_entries);
    w->frozen.mass = w->varying ? TAUT_NEW(arena, double, w->mass_entries) : w->mass;
    w->pivot = TAUT_NEW(arena, taut_index, w->diagonal ? 0 : w->n);
    for (int k = 0; k < 2; k++)
        TAUT_TRY(new_past(arena, w, &w->past[k], error));
    for (taut_index r = 0; !w->diagonal && r < w->n; r++)
        w->pivot[r] = taut_row_find(&w->tangent, r, r);
    for (taut_index r = 0; s->first_order && r < w->n; r++)
        w->mass[r] = 1;
    /* the filter of the error estimate, triangular A and iterations to study need it later */
    w->frozen.kept = s->first_order || w->table.triangular || w->study || has_filter(s);
    if (w->frozen.kept)
        TAUT_TRY(TAUT_RESERVE(arena, w->tangents, error, &w->frozen.stiff));
    return TAUT_OK;
}

/* What the system is like, from its sizes. */
static int describe(taut_stepper *s, taut_radau *w, taut_error *error)
{
    const taut_system *system = taut_context_system(s->context);
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    w->part = system->part;
    w->varying = sizes.mass == TAUT_MASS_VARYING;
    w->diagonal = sizes.mass == TAUT_MASS_DIAGONAL;
    w->velocity = taut_radau_any(w, sizes.can & TAUT_HAS_VELOCITY_FORCES);
    w->stiff = taut_radau_any(w, sizes.can & TAUT_HAS_STIFF_POTENTIAL);
    w->symmetric = !w->varying && !w->velocity && !taut_radau_any(w, sizes.can & TAUT_HAS_FORCES);
    w->compliance = taut_context_compliance(s->context);
    w->damping = taut_context_damping(s->context);
    for (taut_index i = 0; i < w->m; i++) {
        w->moves |= w->damping[i] > 0;
        w->rods |= w->compliance[i] == 0;
        w->springs |= w->compliance[i] != 0;
    }
    w->moves = taut_radau_any(w, w->moves);
    w->rods = taut_radau_any(w, w->rods);
    if (w->part && (w->stiff || s->motion == TAUT_MOTION_SLOW))
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "method %s over several ranks does not support %s; run without mpiexec",
                         s->method->name, w->stiff ? "a stiff potential" : "motion slow");
    w->jumps = w->rods && s->adaptive && w->table.ends && !w->table.triangular;
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &w->tangent, error));
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
    w->potential.driven = sizes.can & TAUT_HAS_TIME;
    if (w->stiff && !s->trial && w->table.ends && !w->table.begins)
        TAUT_TRY(taut_radau_potential_create(s, error));
    if (w->rows > 0)
        TAUT_TRY(taut_radau_potential_extend(s, error));
    w->tangents = w->tangent.start[w->n];
    w->entries = w->m > 0 ? w->jacobian.start[w->m] : 0;
    if (w->m > 0 && !s->trial)
        TAUT_TRY(taut_products_transposed(&w->jacobian, s->arena, &w->pulls, &w->regular, error));
    w->mass_entries = w->diagonal ? w->n : w->tangents;
    w->shape = (taut_saddle_shape){.n = w->n,
                                   .m = w->m,
                                   .k_start = w->tangent.start,
                                   .k_column = w->tangent.column,
                                   .g_start = w->jacobian.start,
                                   .g_column = w->jacobian.column,
                                   .symmetric = w->symmetric};
    if (w->part) {
        w->shape.column_halo = &w->part->coordinates;
        w->shape.row_halo = &w->part->bonds;
    }
    return TAUT_OK;
}

/* What an adaptive step size needs and this method does not have. */
static int refuse_control(const taut_stepper *s, const taut_radau *w, taut_error *error)
{
    const taut_method *method = s->method;
    const char *why = NULL;
    bool springs = w->stiff, rigid = false, undamped = method->undamped;
    for (taut_index i = 0; i < s->m && !s->first_order; i++) {
        springs |= w->compliance[i] > 0 && !taut_context_soft(s->context, i);
        rigid |= w->compliance[i] == 0;
    }
    if (undamped && springs && s->motion == TAUT_MOTION_SLOW)
        why = "damps no oscillation (|R(inf)| = 1), and slow motion of springs needs that";
    if (w->table.begins && w->stiff && s->motion == TAUT_MOTION_SLOW)
        why = "begins with an explicit stage, and oscillations of a stiff potential are in its "
              "acceleration";
    if (undamped && s->first_order && s->m > 0)
        why = "does not end its steps with a stage, and leaves the constraints";
    if (method->bond_order == 1 && w->table.triangular && s->first_order && s->m > 0)
        why = "has stage order 1, too low for constraints with algebraic variables";
    if (method->bond_order == 1 && springs && rigid && s->motion == TAUT_MOTION_FULL)
        why = "has order 1 in velocities on rigid bonds, too low for springs held by them that "
              "oscillate";
    return !why || !s->adaptive
               ? TAUT_OK
               : taut_fail_option(error, TAUT_ERROR_REFUSED, "method",
                                  "method %s %s; choose radau5, or a fixed step size", method->name,
                                  why);
}

/* What mechanical systems need besides, and a constant mass once. */
static int reserve_mechanics(taut_stepper *s, taut_radau *w, taut_error *error)
{
    taut_arena *arena = s->arena;
    w->g = TAUT_NEW(arena, double, (int64_t)w->s * w->entries);
    w->bond = TAUT_NEW(arena, double, w->m);
    w->bond_dt = TAUT_NEW(arena, double, (int64_t)w->s * w->m);
    w->acceleration_g = TAUT_NEW(arena, double, w->entries);
    w->frozen.drag = TAUT_NEW(arena, double, w->velocity ? w->tangents : 0);
    w->g1 = w->frozen.jacobian = TAUT_NEW(arena, double, w->frozen.kept ? w->entries : 0);
    w->mass_dq = TAUT_NEW(arena, double, w->varying ? w->tangents : 0);
    w->stiff_hessian = TAUT_NEW(arena, double, w->stiff ? w->tangents : 0);
    if (!taut_evaluates_sums(taut_context_system(s->context)))
        TAUT_TRY(TAUT_RESERVE(arena, w->tangents, error, &w->force_dq));
    TAUT_TRY(taut_arena_check(arena, error));
    TAUT_TRY(new_probe(arena, w, error));
    taut_values values = {.mass = w->mass};
    return w->varying || w->mass == s->context->mass
               ? TAUT_OK
               : taut_evaluate_inside(s->context, s->now.t, s->now.q, s->now.v, TAUT_WANT_MASS,
                                      &values, error);
}

/* [M G^T; G -D] for the first guess and for multipliers. */
static int make_acceleration(taut_stepper *s, taut_radau *w, taut_error *error)
{
    taut_saddle_shape shape = w->shape;
    shape.symmetric = true;
    shape.positive = w->diagonal;
    if (w->diagonal)
        shape.k_start = shape.k_column = NULL;
    shape.k_changes = w->varying ? NULL : &w->mass_changes;
    for (taut_index k = 0; w->diagonal && k < w->n; k++)
        shape.positive &= w->mass[k] > 0;
    TAUT_TRY(taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &s->arena->allocator, &w->acceleration,
                                error));
    if (w->rows == 0)
        s->saddle = w->acceleration;
    return TAUT_OK;
}

static int explain_newton(taut_stepper *s, int status, taut_error *error)
{
    const taut_radau *w = s->work;
    return taut_radau_explain(s, status, w->s, w->g, error);
}

static const taut_radau_equations mechanics = {.integrals = 2,
                                               .iterations = 20,
                                               .start = taut_radau_start,
                                               .guess = taut_radau_guess,
                                               .evaluate = taut_radau_evaluate,
                                               .add_bonds = taut_radau_add_bonds,
                                               .factor = taut_radau_factor,
                                               .estimate = taut_radau_estimate,
                                               .explain = explain_newton};

static int create_mechanics(taut_stepper *s, taut_error *error)
{
    taut_radau *w = s->work;
    TAUT_TRY(reserve_mechanics(s, w, error));
    TAUT_TRY(make_acceleration(s, w, error));
    /* radau_whole.c omits a term of damped bonds */
    w->quadratic = s->adaptive && w->stage_wise && !w->moves && !w->stiff && !w->study;
    return s->adaptive ? taut_radau_estimate_create(s, error) : TAUT_OK;
}

static int create(taut_stepper *s, taut_error *error)
{
    taut_radau *w = s->work = TAUT_NEW(s->arena, taut_radau, 1);
    TAUT_NEED(error, w);
    w->equations = s->first_order ? &taut_radau_first : &mechanics;
    const taut_system *system = taut_context_system(s->context);
    const taut_stage_data *data = s->method->data;
    taut_collocation_make(data, &w->table);
    s->error_order = s->m > 0 && s->method->bond_order > 0 ? s->method->bond_order + 1 : 0;
    w->s = w->table.stages;
    w->n = s->n;
    w->m = s->m;
    w->between = taut_collocation_between(&w->table, w->equations->integrals);
    const char *newton = s->options ? taut_options_text(s->options, "newton") : "auto";
    w->oscillations = s->motion == TAUT_MOTION_FULL;
    w->complete = true; /* the initial state has its own multipliers */
    w->stage_wise = strcmp(newton, "stage") == 0 || newton[0] == 'J' ||
                    (strcmp(newton, "tensor") != 0 && (!s->first_order || w->m > 0) &&
                     (int64_t)w->s * ((int64_t)w->n + w->m) <= TAUT_STAGE_WISE_ROWS);
    if (system->part && newton[0] != 'a' && strcmp(newton, "tensor") != 0)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "newton",
                                "over several ranks it is tensor");
    w->stage_wise = w->stage_wise && !system->part;
    w->outer = newton[0] == 'r' ? 1 + (newton[1] - '0') : 0;
    TAUT_TRY(s->first_order ? taut_radau_first_describe(s, error) : describe(s, w, error));
    TAUT_TRY(refuse_control(s, w, error));
    TAUT_TRY(taut_radau_study_create(s, newton, error));
    TAUT_TRY(reserve(s, w, error));
    if (!s->first_order)
        TAUT_TRY(create_mechanics(s, error));
    if (s->trial)
        return TAUT_OK;
    TAUT_TRY(w->stage_wise ? taut_radau_whole_create(s, error)
                           : taut_radau_tensor_create(s, error));
    if (!has_filter(s))
        return TAUT_OK;
    return taut_saddle_create(&w->shape, TAUT_BACKEND_AUTO, &s->arena->allocator, &w->filter,
                              error);
}

static void destroy(taut_stepper *s)
{
    taut_radau *w = s->work;
    if (!w)
        return;
    taut_saddle_destroy(w->whole);
    for (int b = 0; b < TAUT_SPECTRAL_MAX; b++)
        taut_saddle_destroy(w->block[b]);
    taut_saddle_destroy(w->filter);
    taut_saddle_destroy(w->acceleration);
    s->saddle = NULL;
}

/* f at the end by the equations of the last stage, f = M a + G^T lambda: unlike f of the last
 * iterate it has the last correction in it. */
static void take_force(taut_radau *w, taut_radau_past *end, const taut_state *state)
{
    taut_clear(w->n, w->extra);
    taut_radau_defect(w, w->extra, end->jacobian, end->tension, w->varying ? end->mass : w->mass,
                      state->a, end->force);
    const double *rest = w->rows > 0 ? w->potential.rest + (int64_t)(w->s - 1) * w->n : w->extra;
    for (taut_index k = 0; k < w->n; k++)
        end->force[k] = rest[k] - end->force[k];
}

/* What a mechanical system adds to the end of a step. */
static int end_mechanics(taut_stepper *s, double h, taut_state *next, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_past *trial = &w->past[1 - w->top];
    taut_copy(w->n, w->end_v, next->v);
    if (w->table.ends)
        taut_copy(w->m, trial->lambda + (int64_t)(w->s - 1) * w->m, trial->tension);
    if (w->rows > 0)
        taut_radau_potential_end(s, trial);
    if (w->potential.rank > 0)
        TAUT_TRY(taut_radau_potential_check(s, h, next->q, error));
    if (!s->adaptive) /* a fixed step size shows the method itself */
        return TAUT_OK;
    TAUT_TRY(taut_radau_along(s, h, next->q, next->v, error));
    if (w->table.ends)
        take_force(w, trial, next);
    return TAUT_OK;
}

/* The acceleration or rate of an explicit first stage: that of the last stage before it. */
static int take_early(taut_stepper *s, const taut_radau_past *past, taut_error *error)
{
    taut_radau *w = s->work;
    if (past->smooth)
        taut_copy(w->n, s->now.a, w->early);
    else if (s->first_order)
        taut_copy(w->n, past->force, w->early);
    else {
        TAUT_TRY(taut_radau_acceleration(s, w->early, error));
        taut_copy(w->m, w->probe.lambda, w->past[w->top].tension);
    }
    return TAUT_OK;
}

/* Values of the stages at the end of the step, by their polynomial where that is no stage. */
static void end_value(const taut_radau *w, taut_index stride, taut_index size, double *from,
                      double *to)
{
    double weight[TAUT_STAGES_MAX];
    taut_collocation_weights(&w->table, 1, 0, weight);
    if (w->table.ends)
        taut_copy(size, from + (int64_t)(w->s - 1) * stride, to);
    else
        taut_collocation_row(&w->table, weight, 1, size, from, to);
}

static int step(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    taut_radau_past *past = &w->past[w->top], *trial = &w->past[1 - w->top];
    if (!past->ended || (!past->smooth && !past->begun))
        TAUT_TRY(w->equations->start(s, past, error));
    if (w->table.begins)
        TAUT_TRY(take_early(s, past, error));
    if (w->rows > 0)
        TAUT_TRY(taut_radau_potential_begin(s, h, past, error));
    TAUT_TRY(taut_radau_newton(s, h, error));
    if (s->adaptive)
        TAUT_TRY(w->equations->estimate(s, h, error));
    else {
        taut_radau_place(s, h); /* without the rounding of the iteration's sums */
        taut_radau_end(s, h);
    }
    taut_state old = s->now, next = s->last;
    next.t = old.t + h;
    taut_copy(w->n, w->end_q, next.q);
    end_value(w, w->n, w->n, trial->a, next.a);
    end_value(w, w->m, s->m, trial->lambda, taut_state_lambda(&next));
    if (!s->first_order)
        TAUT_TRY(end_mechanics(s, h, &next, error));
    trial->h = h;
    trial->smooth = true;
    trial->ended = w->table.ends;
    trial->begun = s->first_order && w->table.ends; /* whose rate is all that there is */
    w->complete = false;
    s->now = next;
    s->last = old;
    w->top = 1 - w->top;
    s->statistics->steps++;
    return TAUT_OK;
}

/* The motion goes on; f and G at its point are new. */
static void stabilized(taut_stepper *s)
{
    taut_radau *w = s->work;
    w->past[w->top].ended = w->past[w->top].begun = false;
    w->potential.found = false;
}

static void changed(taut_stepper *s)
{
    taut_radau *w = s->work;
    stabilized(s);
    w->past[w->top].smooth = false;
    if (w->jumps)
        taut_radau_no_jump(w, &w->past[w->top]);
}

static void rejected(taut_stepper *s)
{
    taut_radau *w = s->work;
    w->top = 1 - w->top;
    w->complete = false;
    w->potential.found = false;
}

/* With an adaptive step size the best multipliers there are; a fixed one shows those of the
 * method. */
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
 * the end for s > 1; one stage is a line. First order: z(theta) = z0 + h sum_i (int l_i) k_i. */
static int dense(taut_stepper *s, double theta, taut_state *state, taut_error *error)
{
    const taut_radau *w = s->work;
    const taut_radau_past *past = &w->past[w->top];
    double *lambda = taut_state_lambda(state);
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
        if (s->first_order)
            state->q[k] = s->last.q[k] + h * dv;
        else {
            state->v[k] = s->last.v[k] + h * dv;
            state->q[k] = s->last.q[k] + h * (theta * s->last.v[k] + h * dq);
        }
    }
    for (taut_index i = 0; i < s->m; i++) {
        double sum = 0;
        for (int j = 0; j < w->s; j++)
            sum += value[j] * past->lambda[(int64_t)j * w->m + i];
        lambda[i] = sum;
    }
    if (s->first_order)
        return TAUT_OK;
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

/* G of the last stage, which is the end of the step. */
static void stretch(taut_stepper *s, const double *x, double *gx)
{
    const taut_radau *w = s->work;
    const double *g = w->g + (int64_t)(w->s - 1) * w->entries;
    taut_rows_product(&w->jacobian, g, x, gx);
}

/* The stages of the latest step, an explicit one first. */
static bool node(taut_stepper *s, int j, bool place, taut_step_node *node)
{
    (void)place;
    const taut_radau *w = s->work;
    const taut_radau_past *past = &w->past[w->top], *before = &w->past[1 - w->top];
    if (w->table.begins && j-- == 0) {
        *node = (taut_step_node){.t = s->last.t,
                                 .h = past->h,
                                 .q = s->last.q,
                                 .v = s->last.v,
                                 .a = w->early,
                                 .weight = w->table.early[w->s - 1],
                                 .lambda = before->tension,
                                 .jacobian = before->jacobian,
                                 .bond_dt = before->drift};
        return true;
    }
    if (j >= w->s)
        return false;
    *node = (taut_step_node){.t = s->last.t + w->table.c[j] * past->h,
                             .h = past->h,
                             .q = w->q + (int64_t)j * w->n,
                             .v = w->v + (int64_t)j * w->n,
                             .a = past->a + (int64_t)j * w->n,
                             .weight = w->table.b[j],
                             .lambda = past->lambda + (int64_t)j * w->m,
                             .jacobian = w->g + (int64_t)j * w->entries,
                             .bond_dt = w->bond_dt + (int64_t)j * w->m};
    return true;
}

/* Rows differ in their table. The estimated error of v falls with h^e. Gauss methods leave rigid
 * bonds and are put back: their stages are no quadrature of a step. */
#define IMPLICIT(id, table, p, e, text, source, ...)                                               \
    const taut_method taut_##id = {.name = #id,                                                    \
                                   .motions =                                                      \
                                       TAUT_MOTION_RIGID | TAUT_MOTION_SLOW | TAUT_MOTION_FULL,    \
                                   .order = p,                                                     \
                                   .summary = text,                                                \
                                   .reference = source,                                            \
                                   .needs = TAUT_CAN_FORCE,                                        \
                                   .refuses = TAUT_HAS_PAIRS,                                      \
                                   .data = &(table),                                               \
                                   .first_order = true,                                            \
                                   .error_order = (e) + 1,                                         \
                                   .create = create,                                               \
                                   .destroy = destroy,                                             \
                                   .step = step,                                                   \
                                   .changed = changed,                                             \
                                   .stabilized = stabilized,                                       \
                                   .complete = complete,                                           \
                                   .rejected = rejected,                                           \
                                   .stretch = stretch,                                             \
                                   .multipliers = multipliers,                                     \
                                   .archive = taut_radau_archive,                                  \
                                   __VA_ARGS__}

#define RADAU(stages, p, e, text)                                                                  \
    IMPLICIT(radau##p, taut_radau_table[stages - 1], p, e, text,                                   \
             "Lubich 1993, (3.2), (8.4); Hairer, Wanner II, IV.5, IV.8",                           \
             .sharper = 2.0 * stages / (stages + 1), .node = node, .dense = dense,                 \
             .spans_ranks = true, .saved_alone = true)
RADAU(1, 1, 1, "implicit Euler: damps all oscillations");
RADAU(2, 3, 3, "Radau IIA, 2 stages: stiff, damped and rigid bonds in one form");
RADAU(
    3, 5, 4,
    "Radau IIA, 3 stages: stiff, damped and rigid bonds in one form; the stiffness does not limit "
    "the step size");
RADAU(4, 7, 5, "Radau IIA, 4 stages: as radau5, for higher accuracy");
RADAU(5, 9, 6, "Radau IIA, 5 stages: as radau5, for the highest accuracy");

#define GAUSS(p, e, text)                                                                          \
    IMPLICIT(gauss##p, taut_gauss##p##_table, p, e, text, "Hairer, Wanner II, IV.5",               \
             .undamped = true, .dense = dense)
GAUSS(2, 2, "implicit midpoint rule: symmetric, keeps quadratic invariants; damps nothing");
GAUSS(4, 3, "Gauss, 2 stages: symmetric, keeps quadratic invariants; damps nothing");
GAUSS(6, 4, "Gauss, 3 stages: symmetric, keeps quadratic invariants; damps nothing");

#define LOBATTO(p, e, text)                                                                        \
    IMPLICIT(lobatto##p, taut_lobatto##p##_table, p, e, text,                                      \
             "Lubich 1993, section 3; Hairer, Wanner II, IV.5", .bond_order = (e)-1, .node = node)
LOBATTO(2, 2, "Lobatto IIIC, 2 stages: damps oscillations more than radau3");
LOBATTO(4, 3, "Lobatto IIIC, 3 stages: damps oscillations more than radau5");
LOBATTO(6, 4, "Lobatto IIIC, 4 stages: damps oscillations more than radau7");

#define DIAGONAL(id, p, e, bonds, text, source)                                                    \
    IMPLICIT(id, taut_##id##_table, p, e, text, source, .bond_order = bonds, .node = node)
DIAGONAL(sdirk2, 2, 2, 1, "L-stable SDIRK, 2 stages: one real matrix; order 1 on stiff bonds",
         "Alexander 1977");
DIAGONAL(sdirk3, 3, 3, 1, "L-stable SDIRK, 3 stages: one real matrix; order 1 on stiff bonds",
         "Alexander 1977");
DIAGONAL(sdirk4, 4, 4, 1, "L-stable SDIRK, 5 stages: one real matrix; order 1 on stiff bonds",
         "Hairer, Wanner II, (IV.6.16)");
DIAGONAL(trbdf2, 2, 2, 2, "trapezoidal rule and BDF2: one real matrix; order 2 on stiff bonds",
         "Bank and others 1985; Hosea, Shampine 1996");
DIAGONAL(esdirk4, 4, 4, 2, "ESDIRK of stage order 2: one real matrix; order 2 on stiff bonds",
         "Kennedy, Carpenter 2003");
