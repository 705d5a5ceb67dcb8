/* guard_watch.c - conditions inside the equations (if, abs, min, floor, ...) in runs with an
 * adaptive step size.
 *
 * Within a step every guard keeps its branch (system/hold.h), so that the method integrates a
 * smooth continuation. Guards of time alone are located before the step, which ends there
 * (guard_time.c); those of the state after it (guard_cross.c). Then the method begins again, on the
 * branches behind the crossing, or on the surface between both (guard_slide.c). */
#include "drive/guard_watch.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "drive/root.h"
#include "wrap/fields.h"

enum { FAILED = 3, CHATTERS = 20 };

double taut_guard_branch_at(const taut_guard_watch *w, const taut_guard *guard, int64_t k, double u,
                            double rate)
{
    double branch = w->branch[k];
    if (isnan(u) || w->slides[k])
        return branch;
    if (guard->kind == TAUT_GUARD_CELL) {
        double cell = floor(u);
        return cell == u && rate < 0 ? cell - 1 : cell;
    }
    double beyond = u - w->at[k];
    bool positive = beyond > 0 || (beyond == 0 && (rate > 0 || (rate == 0 && branch > 0)));
    return positive ? 1 : guard->kind == TAUT_GUARD_SIGN ? -1 : 0;
}

/* ---- creation */

static int64_t count_families(taut_guard_watch *w, const taut_system *system)
{
    taut_guard_family family;
    int32_t count = 0;
    while (taut_guard_family_get(system, count, &family)) {
        w->of_time = w->of_time || !family.guard->of_state;
        w->of_state = w->of_state || family.guard->of_state;
        w->curved = w->curved || (!family.guard->of_state && family.guard->curved);
        count++;
    }
    return count;
}

/* What compares branches: the field of the method, or one made for it; without one every crossing
 * matters. */
static int make_field(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_guard_watch *w = &solver->guards;
    if (s->field || !w->of_state || s->trial)
        return TAUT_OK;
    taut_error reason;
    int status = s->first_order ? taut_field_first_order(s->context, s->arena, s->statistics, 0,
                                                         NULL, &w->made, &reason)
                                : taut_field_index1(s->context, s->arena, s->statistics, 0, 0,
                                                    &w->made, &reason);
    return taut_fail_final(status, &reason, error);
}

/* Branches, field and sliding of the present context. */
static int attach(taut_solver *solver, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    TAUT_TRY(taut_hold_create(solver->context, error));
    if (solver->redundant.independent)
        TAUT_TRY(taut_hold_create(solver->redundant.shared.context, error));
    w->branch = solver->context->hold->branch;
    TAUT_TRY(make_field(solver, error));
    return taut_slide_create(solver, error);
}

/* Branches are to be found before the next step; what slides goes on. */
static void begin_again(taut_solver *solver)
{
    taut_guard_watch *w = &solver->guards;
    taut_slide_set(solver);
    w->settled = w->pending = false;
    w->clear = solver->stepper.now.t;
    w->stop = NAN;
    w->aim = 0;
}

int taut_guard_create(taut_solver *solver, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    taut_arena *arena = &solver->arena;
    if (!solver->control.on || solver->moving->branches == 0)
        return TAUT_OK;
    w->families = (int32_t)count_families(w, solver->moving);
    TAUT_NEED(error, w->family = TAUT_NEW(arena, taut_guard_family, w->families));
    w->contact = TAUT_NEW(arena, double, w->families);
    w->rough = TAUT_NEW(arena, int, w->families);
    TAUT_NEED(error, w->contact, w->rough);
    for (int32_t k = 0; k < w->families; k++) {
        taut_guard_family_get(solver->moving, k, &w->family[k]);
        w->contact[k] = NAN;
    }
    w->count = solver->moving->branches;
    TAUT_TRY(TAUT_RESERVE(arena, w->count, error, &w->next, &w->held, &w->before, &w->slope,
                          &w->after, &w->slope_after, &w->trial, &w->trial_slope));
    TAUT_TRY(TAUT_RESERVE(arena, w->count, error, &w->at, &w->drift));
    w->slides = TAUT_NEW(arena, unsigned char, w->count);
    w->held_slides = TAUT_NEW(arena, unsigned char, w->count);
    w->next_slides = TAUT_NEW(arena, unsigned char, w->count);
    w->touched = TAUT_NEW(arena, unsigned char, w->count);
    TAUT_NEED(error, w->slides, w->held_slides, w->next_slides, w->touched);
    TAUT_TRY(TAUT_RESERVE(arena, solver->stepper.n, error, &w->a, &w->a_old));
    TAUT_TRY(attach(solver, error));
    taut_guard_begin(solver);
    solver->stepper.method->changed(&solver->stepper);
    return TAUT_OK;
}

void taut_guard_release(taut_solver *solver)
{
    taut_guard_watch *w = &solver->guards;
    if (w->made && w->made->destroy)
        w->made->destroy(w->made);
    if (w->sliding) /* the method's own is released with it */
        solver->stepper.field = w->sliding->inner;
    if (w->branch)
        taut_copy(w->count, w->branch, w->held);
    w->made = NULL;
    w->sliding = NULL;
    w->branch = NULL;
}

int taut_guard_again(taut_solver *solver, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    if (w->count == 0)
        return TAUT_OK;
    TAUT_TRY(attach(solver, error));
    taut_copy(w->count, w->held, w->branch);
    for (int32_t k = 0; k < solver->moving->kernels; k++) {
        int32_t f = 0;
        while (f < w->families && w->family[f].kernel != k)
            f++;
        if (f == w->families)
            taut_hold_release(solver->context, k);
    }
    begin_again(solver);
    solver->stepper.method->changed(&solver->stepper);
    return TAUT_OK;
}

/* ---- branches of a state */

static void show_force(taut_guard_watch *w, int64_t k, double *u, double *slope)
{
    w->drift[k] = u[k];
    u[k] = w->branch[k];
    if (slope)
        slope[k] = 0;
}

int taut_guard_values(taut_solver *solver, const taut_state *x, const double *a, bool slide,
                      double *u, double *slope, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    bool known = a && solver->stepper.n > 0 && !isnan(a[0]);
    if (w->sliding && w->sliding->count > 0 && slide)
        TAUT_TRY(taut_guard_rates(solver, x, w->a, error));
    taut_hold_values(solver->context, x->t, x->q, taut_state_v(x), known ? a : NULL, false, u,
                     slope);
    for (int j = 0; w->sliding && j < w->sliding->count; j++)
        show_force(w, w->sliding->guard[j], u, slope);
    for (int64_t j = 0; w->sliding && w->sliding->count > 0 && j < w->pairs; j++)
        if (w->slides[w->pair[j].k])
            show_force(w, w->pair[j].k, u, slope);
    return TAUT_OK;
}

void taut_guard_settle(taut_solver *solver, const taut_state *x, const double *a, double way,
                       bool *tied)
{
    taut_guard_watch *w = &solver->guards;
    bool changed = true;
    taut_hold_vary(solver->context);
    for (int32_t pass = 0; changed && pass <= w->families; pass++) {
        changed = *tied = false;
        taut_guard_values(solver, x, a, false, w->trial, w->trial_slope, NULL);
        for (int32_t f = 0; f < w->families; f++) {
            const taut_guard *guard = w->family[f].guard;
            for (int64_t k = w->family[f].first; k < w->family[f].first + w->family[f].members;
                 k++) {
                double u = w->trial[k],
                       now = taut_guard_branch_at(w, guard, k, u, way * w->trial_slope[k]);
                changed = changed || now != w->branch[k];
                *tied = *tied || u == (guard->kind == TAUT_GUARD_CELL ? floor(u) : 0);
                w->branch[k] = now;
            }
        }
        taut_slide_align(w);
    }
}

int taut_guard_rates(taut_solver *solver, const taut_state *x, double *a, taut_error *error)
{
    const taut_guard_watch *w = &solver->guards;
    taut_field *field = w->made ? w->made : solver->stepper.field;
    if (!field)
        return TAUT_RETRY;
    return field->evaluate(field, x->t, x->q, field->second_order ? x->v : NULL, a, NULL, error);
}

void taut_guard_begin(taut_solver *solver)
{
    taut_guard_watch *w = &solver->guards;
    bool tied;
    if (w->count == 0)
        return;
    memset(w->slides, 0, (size_t)w->count);
    taut_clear(w->count, w->at);
    begin_again(solver);
    taut_guard_settle(solver, &solver->stepper.now, NULL, 0, &tied);
}

/* Before the first step in a direction: where u is 0, its rate decides. */
static int begin_step(taut_solver *solver, double way, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    taut_state *now = &solver->stepper.now;
    bool tied;
    taut_error reason;
    taut_guard_settle(solver, now, NULL, 0, &tied);
    int status = taut_guard_rates(solver, now, w->a, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, error));
    if (tied)
        taut_guard_settle(solver, now, status == 0 ? w->a : NULL, way, &tied);
    if (tied && status == 0)
        TAUT_TRY(taut_slide_begin(solver, way, error));
    taut_guard_values(solver, now, status == 0 ? w->a : NULL, false, w->before, w->slope, NULL);
    solver->stepper.method->changed(&solver->stepper);
    w->settled = true;
    w->way = way;
    return TAUT_OK;
}

int taut_guard_goal(taut_solver *solver, double target, double *size, double *goal,
                    taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    double t = solver->stepper.now.t, way = target < t ? -1 : 1;
    *goal = target;
    if (w->count == 0)
        return TAUT_OK;
    if (!w->settled || way != w->way)
        TAUT_TRY(begin_step(solver, way, error));
    if (w->of_time) {
        double h = fmin(1.01 * *size, fabs(target - t));
        taut_guard_ahead(solver, way * h);
        if (!isnan(w->stop) && way * (w->stop - target) < 0)
            *goal = w->stop;
    }
    if (w->aim > 0)
        *size = w->aim;
    w->aim = 0;
    if (!w->sliding || w->sliding->count == 0)
        taut_hold_fix(solver->context);
    return TAUT_OK;
}

/* ---- after a step */

/* Keeps the branches in use while others are tried; and takes them back. */
void taut_guard_keep(taut_solver *solver)
{
    taut_guard_watch *w = &solver->guards;
    taut_hold_vary(solver->context);
    taut_copy(w->count, w->branch, w->held);
    memcpy(w->held_slides, w->slides, (size_t)w->count);
}

void taut_guard_take_back(taut_solver *solver)
{
    taut_guard_watch *w = &solver->guards;
    taut_copy(w->count, w->held, w->branch);
    memcpy(w->slides, w->held_slides, (size_t)w->count);
    taut_slide_set(solver);
}

void taut_guard_keep_next(taut_guard_watch *w)
{
    taut_copy(w->count, w->branch, w->next);
    memcpy(w->next_slides, w->slides, (size_t)w->count);
}

void taut_guard_accept(taut_solver *solver)
{
    taut_guard_watch *w = &solver->guards;
    if (w->count == 0)
        return;
    double *u = w->before, *slope = w->slope;
    w->passes = 0;
    w->before = w->after;
    w->slope = w->slope_after;
    w->after = u;
    w->slope_after = slope;
    if (solver->stepper.now.t == w->stop) {
        w->aimed = true;
        w->clear = w->stop;
        w->stop = NAN;
    }
}

/* The border of a guard of the state that is reached within a time h; -1: none. */
static int64_t nearest_border(const taut_solver *solver, double h, double way)
{
    const taut_guard_watch *w = &solver->guards;
    int64_t nearest = -1;
    for (int32_t f = 0; f < w->families; f++)
        for (int64_t k = w->family[f].first;
             w->family[f].guard->of_state && w->family[f].guard->kind != TAUT_GUARD_CELL &&
             k < w->family[f].first + w->family[f].members;
             k++) {
            taut_guard_border b = taut_guard_border_of(w, w->family[f].guard, k, 0);
            double u = b.side * (w->before[k] - b.at), closing = -b.side * way * w->slope[k];
            if (closing > 0 && u <= closing * h) {
                nearest = k;
                h = u / closing;
            }
        }
    return nearest;
}

bool taut_guard_pass(taut_solver *solver, double h, double way)
{
    static const double NEAR = 1e-9, FEW = 64;
    taut_guard_watch *w = &solver->guards;
    taut_stepper *s = &solver->stepper;
    if (w->count == 0 || ++w->passes > FAILED)
        return false;
    double left = fabs(w->stop - s->now.t);
    int64_t k = nearest_border(solver, FEW * h, way);
    if (left <= NEAR * fmax(fabs(s->now.t), solver->norm.reach)) {
        s->now.t = w->stop + way * fmax(left, 4 * DBL_EPSILON * fabs(w->stop));
        taut_guard_begin(solver);
    } else if (k >= 0) {
        const taut_guard *guard = taut_guard_of(w, k);
        taut_hold_vary(solver->context);
        w->branch[k] = guard->kind == TAUT_GUARD_SIGN ? -w->branch[k] : 1 - w->branch[k];
        w->at[k] = 2 * w->before[k];
        taut_guard_values(solver, &s->now, NULL, false, w->before, w->slope, NULL);
    } else {
        return false;
    }
    s->method->changed(s);
    return true;
}

/* Both fields point at a border that is no sign(u): the motion would cross it again and again. */
static int find_chatter(taut_solver *solver, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    int64_t k = w->latest;
    if (!w->aimed || k < 0)
        return TAUT_OK;
    int32_t f = taut_guard_family_of(w, k);
    const taut_guard *guard = w->family[f].guard;
    taut_guard_border b = taut_guard_border_of(w, guard, k, 0);
    bool back = guard->kind != TAUT_GUARD_CELL && guard->op != TAUT_OP_SIGN &&
                b.side * w->way * w->slope[k] < 0;
    w->chatters = back ? w->chatters + 1 : 0;
    if (w->chatters < CHATTERS)
        return TAUT_OK;
    const char *place = w->family[f].place;
    double t = solver->stepper.now.t;
    int code =
        taut_fail(error, TAUT_ERROR_STEP,
                  "%s%sthe motion chatters at t = %.9g: on both sides of a condition (%s) it "
                  "points back at it; write the jump with sign(u), on whose surface u = 0 "
                  "the motion can stay, or with tanh(u/vs)",
                  place ? place : "", place ? ": " : "", t, taut_op_table[guard->op].name);
    if (error)
        error->t = t;
    return code;
}

/* Where the force jumps, the slow manifold does: slow motion continues at the slow point of the
 * state on the new branches, as it begins at that of the initial state. Where there is none, the
 * state stays, and the method damps its oscillation. */
static int find_slow_point(taut_solver *solver, taut_error *error)
{
    taut_stepper *s = &solver->stepper;
    taut_error reason = {.t = NAN};
    if (!solver->slow)
        return TAUT_OK;
    taut_copy(s->n, s->now.q, s->error_q); /* scratch between steps */
    taut_copy(s->n, s->now.v, s->error_v);
    int status = solver->slow->apply(solver->slow, s->now.t, s->now.q, s->now.v, &reason);
    if (status != 0) {
        taut_copy(s->n, s->error_q, s->now.q);
        taut_copy(s->n, s->error_v, s->now.v);
    }
    return taut_fail_final(status, &reason, error);
}

int taut_guard_switch(taut_solver *solver, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    taut_stepper *s = &solver->stepper;
    if (!w->pending)
        return TAUT_OK;
    w->pending = false;
    double old = 0, new = 0;
    taut_hold_vary(solver->context);
    TAUT_TRY(taut_ledger_total(solver, &s->now, &old, error));
    taut_copy(w->count, w->next, w->branch);
    memcpy(w->slides, w->next_slides, (size_t)w->count);
    taut_slide_set(solver);
    if (w->aimed)
        TAUT_TRY(find_slow_point(solver, error));
    TAUT_TRY(taut_ledger_total(solver, &s->now, &new, error));
    solver->energy_base += new - old;
    solver->ledger.t = NAN;
    s->method->changed(s);
    taut_guard_values(solver, &s->now, w->a, false, w->before, w->slope, NULL);
    if (w->aimed)
        taut_norm_jump(solver, w->a);
    w->switches++;
    return find_chatter(solver, error);
}
