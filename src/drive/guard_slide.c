/* guard_slide.c - dry friction and other sign(u) whose fields point at u = 0 from both sides: the
 * motion stays on the surface, with a number s in [-1, 1] instead of the sign (wrap/sliding.c), and
 * leaves it when |s| reaches 1. Of several surfaces at once, which are left and on which side is
 * found by trying: a surface whose s is too large is left on that side, and one on which the field
 * points back is stayed on (a small complementarity problem). */
#include "drive/guard_watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/vectors.h"

static bool can_slide(const taut_guard *guard)
{
    return guard->op == TAUT_OP_SIGN && guard->of_state;
}

/* ---- the same function in several places */

typedef struct sample {
    double u[2]; /* at two states */
    int64_t k;
} sample;

static int compare(const void *a, const void *b)
{
    const sample *x = a, *y = b;
    for (int j = 0; j < 2; j++)
        if (fabs(x->u[j]) != fabs(y->u[j]))
            return fabs(x->u[j]) < fabs(y->u[j]) ? -1 : 1;
    return x->k < y->k ? -1 : x->k > y->k;
}

static double relation(const sample *x, const sample *y)
{
    bool same = x->u[0] == y->u[0] && x->u[1] == y->u[1],
         opposite = x->u[0] == -y->u[0] && x->u[1] == -y->u[1];
    return x->u[0] == 0 || x->u[1] == 0 ? 0 : same ? 1 : opposite ? -1 : 0;
}

/* Functions whose values are the same numbers, but for a sign, at two states near the present one:
 * no two others have that. */
static int find_pairs(taut_solver *solver, int64_t count, sample *list, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    const taut_stepper *s = &solver->stepper;
    taut_state *x = &solver->probe;
    taut_index m = s->first_order ? s->m : s->n;
    uint64_t seed = 1;
    int64_t n = 0;
    for (int j = 0; j < 2; j++, n = 0) {
        taut_state_copy(s, &s->now, x);
        for (taut_index i = 0; i < s->n; i++)
            x->q[i] += 0.01 * (1 + fabs(x->q[i])) * taut_random(&seed);
        for (taut_index i = 0; i < m; i++)
            taut_state_v(x)[i] += taut_random(&seed);
        taut_hold_values(solver->context, x->t, x->q, taut_state_v(x), NULL, false, w->trial, NULL);
        for (int32_t f = 0; f < w->families; f++)
            for (int64_t k = w->family[f].first;
                 can_slide(w->family[f].guard) && k < w->family[f].first + w->family[f].members;
                 k++, n++) {
                list[n].u[j] = isnan(w->trial[k]) ? 0 : w->trial[k];
                list[n].k = k;
            }
    }
    qsort(list, (size_t)count, sizeof *list, compare);
    TAUT_NEED(error, w->pair = TAUT_NEW(&solver->arena, taut_guard_pair, count));
    for (int64_t j = 1, first = 0; j < count; j++) {
        double turn = relation(&list[first], &list[j]);
        if (turn == 0) {
            first = j;
            continue;
        }
        w->pair[w->pairs++] = (taut_guard_pair){list[j].k, list[first].k, turn};
        w->follows[list[j].k] = 1;
    }
    return TAUT_OK;
}

void taut_slide_align(taut_guard_watch *w)
{
    for (int64_t j = 0; j < w->pairs; j++) {
        const taut_guard_pair *p = &w->pair[j];
        w->branch[p->k] = p->turn * w->branch[p->leader];
        w->at[p->k] = p->turn * w->at[p->leader];
        w->slides[p->k] = w->slides[p->leader];
        w->touched[p->k] = w->touched[p->leader];
    }
}

/* ---- */

int taut_slide_create(taut_solver *solver, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    taut_stepper *s = &solver->stepper;
    int64_t count = 0;
    for (int32_t f = 0; f < w->families; f++)
        count += can_slide(w->family[f].guard) ? w->family[f].members : 0;
    if (count > 1 && !w->follows) {
        taut_arena scratch;
        taut_arena_init(&scratch, &solver->arena.allocator);
        sample *list = TAUT_NEW(&scratch, sample, count);
        w->follows = TAUT_NEW(&solver->arena, unsigned char, w->count);
        int status =
            list && w->follows ? find_pairs(solver, count, list, error) : taut_fail_memory(error);
        taut_arena_clear(&scratch);
        TAUT_TRY(status);
    }
    if (count == 0 || !s->field || !s->method->uses_field)
        return TAUT_OK;
    TAUT_NEED(error, w->sliding = TAUT_NEW(&solver->arena, taut_sliding, 1));
    TAUT_TRY(taut_sliding_create(w->sliding, s->field, s->context, &solver->arena, error));
    w->sliding->pair = w->pair;
    w->sliding->pairs = w->pairs;
    return TAUT_OK;
}

static bool leads(const taut_guard_watch *w, int64_t k)
{
    return !w->follows || !w->follows[k];
}

void taut_slide_set(taut_solver *solver)
{
    taut_guard_watch *w = &solver->guards;
    taut_sliding *sliding = w->sliding;
    if (!sliding)
        return;
    int count = 0;
    bool same = true;
    for (int32_t f = 0; f < w->families; f++)
        for (int64_t k = w->family[f].first;
             can_slide(w->family[f].guard) && k < w->family[f].first + w->family[f].members; k++)
            if (w->slides[k] && leads(w, k) && count < TAUT_SLIDING_MOST) {
                same = same && count < sliding->count && sliding->guard[count] == k;
                sliding->guard[count++] = k;
            }
    sliding->known = sliding->known && same && count == sliding->count;
    sliding->count = count;
    solver->stepper.field = count > 0 ? &sliding->field : sliding->inner;
}

static int refuse(const taut_solver *solver, int64_t k, const char *what, taut_error *error)
{
    const char *place = solver->guards.family[taut_guard_family_of(&solver->guards, k)].place;
    int code =
        taut_fail(error, TAUT_ERROR_REFUSED,
                  "%s%sthe motion stays where the argument u of a sign is 0 (it sticks) from "
                  "t = %.9g on, %s; tanh(u/vs) with a small velocity vs instead of sign(u) "
                  "may help",
                  place ? place : "", place ? ": " : "", solver->stepper.now.t, what);
    if (error)
        error->t = solver->stepper.now.t;
    return code;
}

/* One round: corrects branches that contradict the field a. *k: the latest; -1: none. */
static void correct(taut_solver *solver, const taut_state *x, double way, const double *a, bool one,
                    int64_t *last)
{
    static const double ROUNDING = 1e-9;
    taut_guard_watch *w = &solver->guards;
    *last = -1;
    taut_hold_values(solver->context, x->t, x->q, taut_state_v(x), a, false, w->trial,
                     w->trial_slope);
    for (int64_t k = 0; k < w->count && !(one && *last >= 0); k++) {
        if (!leads(w, k))
            continue;
        if (w->slides[k] && fabs(w->branch[k]) > 1 + ROUNDING) {
            w->slides[k] = 0;
            w->branch[k] = w->branch[k] > 0 ? 1 : -1;
            w->at[k] = -w->branch[k] * 2 * fabs(w->trial[k]);
            w->touched[k] = 1;
            *last = k;
        } else if (!w->slides[k] && w->touched[k] && w->branch[k] * way * w->trial_slope[k] < 0) {
            w->slides[k] = 1;
            w->branch[k] = 0;
            *last = k;
        }
    }
    taut_slide_align(w);
}

int taut_slide_resolve(taut_solver *solver, const taut_state *x, double way, double *a,
                       taut_error *error)
{
    enum { ROUNDS = 40, TOGETHER = 5 };
    taut_guard_watch *w = &solver->guards;
    int64_t last = -1;
    for (int round = 0; round < ROUNDS; round++) {
        taut_slide_set(solver);
        int status = taut_guard_rates(solver, x, a, error);
        if (status > 0 && w->sliding && w->sliding->count > 0)
            return refuse(
                solver, w->sliding->guard[0],
                "but the forces that keep it there are not determined: several of them act on one "
                "another",
                error);
        TAUT_TRY(status);
        correct(solver, x, way, a, round >= TOGETHER, &last);
        if (last < 0 && w->sliding && w->sliding->count > 0 && !taut_sliding_unique(w->sliding))
            return refuse(solver, w->sliding->guard[0],
                          "but its continuation is not determined: several motions are possible",
                          error);
        if (last < 0)
            return TAUT_OK;
        int64_t count = 0;
        for (int64_t k = 0; k < w->count; k++)
            count += w->slides[k] && leads(w, k);
        if (count > 0 && !w->sliding)
            return refuse(solver, last,
                          solver->motion == TAUT_MOTION_SLOW
                              ? "which this method does not support; in motion full or rigid dop8, "
                                "dopri5 and adams do"
                              : "which this method does not support; dop8, dopri5 and adams do",
                          error);
        if (count > TAUT_SLIDING_MOST)
            return refuse(solver, last, "in more places than are supported at once", error);
    }
    return refuse(solver, last, "or does not: no choice of forces is consistent", error);
}

int taut_slide_begin(taut_solver *solver, double way, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    const taut_state *now = &solver->stepper.now;
    bool some = false;
    memset(w->touched, 0, (size_t)w->count);
    for (int32_t f = 0; f < w->families; f++)
        for (int64_t k = w->family[f].first;
             can_slide(w->family[f].guard) && k < w->family[f].first + w->family[f].members; k++)
            if (w->trial[k] == 0 && !w->slides[k])
                w->touched[k] = some = true;
    return some ? taut_unevaluated(taut_slide_resolve(solver, now, way, w->a, error), now->t, error)
                : TAUT_OK;
}
