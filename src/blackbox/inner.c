/* inner.c - an open model as a black box: its rates integrated over H with a fixed step size, by
 * any method that supports plain rates.
 *
 *     H = n h, z <- Psi_h o ... o Psi_h (z)
 *     (n times; [D section 4.1] has forward Euler for Psi)
 *
 * Forward Euler as inner method has a slow manifold of its own, O(h) away from that of the rates:
 * it, not H, limits the accuracy of a projection of high order. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/statistics.h"
#include "base/vectors.h"
#include "base/nearmiss.h"
#include "blackbox/flows.h"
#include "step/flow_steps.h"

typedef struct inner_flow {
    taut_steps_flow base;
    taut_field field;
} inner_flow;

static int evaluate(taut_field *field, double t, const double *q, const double *v, double *rate,
                    double *lambda, taut_error *error)
{
    (void)v;
    (void)lambda;
    taut_values values = {.force = rate};
    field->statistics->force_evaluations++;
    return taut_evaluate_inside(field->self, t, q, NULL, TAUT_WANT_FORCE, &values, error);
}

static int advance(taut_flow *flow, double t, double H, double *state, taut_error *error)
{
    taut_steps_flow *f = (taut_steps_flow *)flow;
    taut_stepper *s = &f->stepper;
    double count = taut_steps_count(f, H);
    s->now.t = t;
    taut_copy(s->n, state, s->now.q);
    s->method->changed(s);
    int status = taut_steps_take(f, count, H / count, error);
    if (status == TAUT_ERROR_EVALUATE || status == TAUT_ERROR_CONVERGE)
        return TAUT_RETRY; /* elsewhere it may be possible; the message stays */
    if (status == 0)
        taut_copy(s->n, s->now.q, state);
    return status;
}

/* ---- creation */

static bool takes_rates(const taut_method *method)
{
    return (method->motions & TAUT_MOTION_FULL) && (method->uses_field || method->first_order);
}

static int find_method(const char *name, const taut_method **method, taut_error *error)
{
    enum { MOST = 64 };
    const char *names[MOST];
    int count = 0;
    char list[300] = "";
    for (int k = 0; taut_method_table[k]; k++) {
        const taut_method *row = taut_method_table[k];
        if (!takes_rates(row) || count == MOST)
            continue;
        if (strcmp(row->name, name) == 0) {
            *method = row;
            return TAUT_OK;
        }
        names[count++] = row->name;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", count > 1 ? ", " : "",
                 row->name);
    }
    const char *near = taut_near_miss(name, names, count);
    return taut_fail(
        error, TAUT_ERROR_REFUSED,
        "[stepper] method: '%.40s' does not integrate rates with a fixed step size%s%s; "
        "choose one of %s",
        name, near ? "; did you mean " : "", near ? near : "", list);
}

static int build(taut_stepper *s, taut_error *error)
{
    TAUT_TRY(taut_state_create(s, &s->now, error));
    TAUT_TRY(taut_state_create(s, &s->last, error));
    TAUT_TRY(TAUT_RESERVE(s->arena, s->n, error, &s->error_q, &s->error_v));
    TAUT_TRY(taut_context_start(s->context, 0, s->now.q, s->now.y, error));
    /* differences of high order see what an implicit method leaves unsolved */
    s->rtol = 1e-13;
    s->atol = 1e-13 * fmax(taut_largest(s->n, s->now.q), DBL_MIN);
    return s->method->create(s, error);
}

int taut_flow_inner(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                    const char *method, double step, taut_flow **flow, taut_error *error)
{
    *flow = NULL;
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    const taut_method *row = NULL;
    TAUT_TRY(find_method(method, &row, error));
    inner_flow *f = TAUT_NEW(arena, inner_flow, 1);
    TAUT_NEED(error, f);
    f->field = (taut_field){.name = "rates",
                            .n = sizes.coordinates,
                            .evaluate = evaluate,
                            .statistics = &f->base.cost,
                            .self = context};
    f->base = (taut_steps_flow){.flow = {.name = row->name,
                                         .size = sizes.coordinates,
                                         .advance = advance,
                                         .destroy = taut_steps_destroy,
                                         .statistics = statistics},
                                .stepper = {.method = row,
                                            .context = context,
                                            .field = row->uses_field ? &f->field : NULL,
                                            .statistics = &f->base.cost,
                                            .arena = arena,
                                            .first_order = true,
                                            .n = sizes.coordinates},
                                .step = step};
    return taut_flow_made(&f->base.flow, build(&f->base.stepper, error), flow);
}
