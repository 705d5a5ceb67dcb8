/* rig.h - for tests of methods without the driver: a model, a field, a stepper, a stabiliser,
 * fixed step size. */
#ifndef TAUT_TESTS_SUPPORT_RIG_H
#define TAUT_TESTS_SUPPORT_RIG_H

#include <stdlib.h>
#include <taut/taut.h>

#include "base/method.h"
#include "base/projector.h"
#include "support/faulty.h"
#include "support/table.h"
#include "wrap/fields.h"
#include "wrap/stabilize.h"

typedef struct rig_how {
    const char *model;  /* text, or a file of models/ when it has no line break */
    const char *set[4]; /* parameters */
    const char *method;
    const char *field;     /* "full", "rigid" (derived system, index-1), "index-1", "first",
                              "continuous", "index-2"; NULL: the method has its own */
    double alpha, beta;    /* Baumgarte; for the last three, alpha is gamma */
    const char *stabilize; /* NULL: none */
    int passes;
    double share;               /* alpha of it */
    const char *of, *direction; /* likewise */
    int refresh;
    const char *solver;
    bool rigid; /* derived rigid system although the method uses no field */
    double from;
    const taut_allocator *allocator;
} rig_how;

typedef struct rig {
    taut_system *base, *derived;
    const taut_system *system;
    taut_sizes sizes;
    taut_context *context;
    taut_arena arena;
    taut_statistics statistics;
    taut_projector *projector;
    taut_stepper s;
    taut_error error;
    int code;
} rig;

static inline int rig_load(rig *r, const rig_how *how)
{
    taut_load load = {
        .size = sizeof load, .allocator = how->allocator, .set = how->set, .from = how->from};
    while (load.set_count < 4 && how->set[load.set_count])
        load.set_count++;
    if (strchr(how->model, '\n'))
        return taut_system_parse(how->model, strlen(how->model), "model", &load, &r->base,
                                 &r->error);
    char path[400];
    snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, how->model);
    return taut_system_load(path, &load, &r->base, &r->error);
}

static inline bool rig_state(rig *r, taut_state *x)
{
    return taut_state_create(&r->s, x, &r->error) == 0;
}

static inline int rig_field(rig *r, const rig_how *how)
{
    taut_stepper *s = &r->s;
    if (!how->field)
        return 0;
    if (strcmp(how->field, "full") == 0)
        return taut_field_full(r->context, &r->arena, &r->statistics, &s->field, &r->error);
    if (strcmp(how->field, "first") == 0)
        return taut_field_first_order(r->context, &r->arena, &r->statistics, how->alpha,
                                      how->direction, &s->field, &r->error);
    if (strcmp(how->field, "continuous") == 0 || strcmp(how->field, "index-2") == 0)
        return taut_field_continuous(r->context, &r->arena, &r->statistics, how->alpha,
                                     how->direction, how->field[0] == 'i', &s->field, &r->error);
    return taut_field_index1(r->context, &r->arena, &r->statistics, how->alpha, how->beta,
                             &s->field, &r->error);
}

static inline int rig_build(rig *r, const rig_how *how)
{
    taut_stepper *s = &r->s;
    if (!r->base)
        TAUT_TRY(rig_load(r, how));
    r->system = r->base;
    if (how->rigid || (how->field && strcmp(how->field, "rigid") == 0)) {
        TAUT_TRY(taut_system_rigid(r->base, &r->derived, &r->error));
        r->system = r->derived;
    }
    taut_sizes_init(&r->sizes);
    taut_system_sizes_get(r->system, &r->sizes, NULL);
    TAUT_TRY(taut_context_create(r->system, how->allocator, &r->context, &r->error));
    for (int k = 0; taut_method_table[k] && !s->method; k++)
        if (strcmp(taut_method_table[k]->name, how->method) == 0)
            s->method = taut_method_table[k];
    s->context = r->context;
    s->statistics = &r->statistics;
    s->arena = &r->arena;
    s->first_order = r->sizes.kind != TAUT_MECHANICAL;
    s->n = r->sizes.coordinates;
    s->m = s->first_order ? r->sizes.algebraic : r->sizes.bonds;
    s->rtol = s->atol = 1e-6;
    s->adaptive = true; /* with estimates */
    s->error_q = TAUT_NEW(&r->arena, double, s->n);
    s->error_v = TAUT_NEW(&r->arena, double, s->n);
    if (!s->method || !s->error_q || !s->error_v || !rig_state(r, &s->now) ||
        !rig_state(r, &s->last))
        return taut_fail_memory(&r->error);
    s->now.t = how->from;
    TAUT_TRY(taut_context_start(r->context, how->from, s->now.q, taut_state_v(&s->now), &r->error));
    TAUT_TRY(rig_field(r, how));
    TAUT_TRY(s->method->create(s, &r->error));
    if (how->stabilize)
        return taut_stabilizer_create(
            &(taut_stabilization){how->stabilize, how->passes, how->share, how->of, how->direction,
                                  how->refresh, how->solver, NULL, NULL},
            r->context, &r->arena, &r->statistics, &r->projector, &r->error);
    return 0;
}

static inline void rig_create(rig *r, const rig_how *how)
{
    *r = (rig){0};
    taut_arena_init(&r->arena, how->allocator);
    r->code = rig_build(r, how);
}

/* The same for a system of callbacks. */
static inline void rig_from(rig *r, const rig_how *how, const taut_callbacks *callbacks)
{
    *r = (rig){0};
    taut_arena_init(&r->arena, how->allocator);
    r->code = taut_system_from_callbacks(callbacks, how->allocator, &r->base, &r->error);
    if (r->code == 0)
        r->code = rig_build(r, how);
}

static inline void rig_destroy(rig *r)
{
    if (r->s.method && r->s.method->destroy)
        r->s.method->destroy(&r->s);
    if (r->s.field && r->s.field->destroy)
        r->s.field->destroy(r->s.field);
    if (r->projector && r->projector->destroy)
        r->projector->destroy(r->projector);
    taut_context_destroy(r->context);
    taut_system_destroy(r->derived);
    taut_system_destroy(r->base);
    taut_arena_clear(&r->arena);
    *r = (rig){0};
}

static inline int rig_stabilize(rig *r)
{
    taut_stepper *s = &r->s;
    if (!r->projector)
        return 0;
    taut_projector *by = r->projector;
    TAUT_TRY(by->apply_from ? by->apply_from(by, s->last.t, s->last.q, s->last.v, s->now.q,
                                             s->now.v, &r->error)
                            : by->apply(by, s->now.t, s->now.q, s->now.v, &r->error));
    if (s->method->stabilized)
        s->method->stabilized(s);
    else
        s->method->changed(s);
    return 0;
}

/* `steps` steps of fixed size from now to `until`, each stabilised; then lambda and a are
 * completed. */
static inline int rig_run(rig *r, double until, int64_t steps)
{
    taut_stepper *s = &r->s;
    double from = s->now.t, h = (until - from) / (double)steps;
    for (int64_t k = 0; k < steps && r->code == 0; k++) {
        r->code = s->method->step(s, h, &r->error);
        s->now.t = k + 1 < steps ? from + (double)(k + 1) * h : until;
        if (r->code == 0)
            r->code = rig_stabilize(r);
    }
    if (r->code == 0 && s->method->complete)
        r->code = s->method->complete(s, &r->error);
    return r->code;
}

/* max |g|, |gdot| of the rigid bonds at now. */
static inline void rig_drift(rig *r, double *position, double *velocity)
{
    taut_pattern g;
    taut_values values = {.size = sizeof values,
                          .bond = calloc((size_t)r->sizes.bonds + 1, sizeof(double)),
                          .bond_dt = calloc((size_t)r->sizes.bonds + 1, sizeof(double)),
                          .jacobian =
                              calloc((size_t)r->sizes.jacobian_entries + 1, sizeof(double))};
    const double *c = taut_context_compliance(r->context);
    *position = *velocity = NAN;
    if (taut_system_pattern_get(r->system, TAUT_PATTERN_JACOBIAN, &g, &r->error) == 0 &&
        taut_evaluate(r->context, r->s.now.t, r->s.now.q, taut_state_v(&r->s.now),
                      TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &values, &r->error) == 0) {
        *position = *velocity = 0;
        for (taut_index i = 0; i < r->sizes.bonds; i++) {
            if (r->sizes.kind == TAUT_MECHANICAL && c[i] > 0)
                continue;
            double rate = values.bond_dt[i];
            for (taut_index k = g.start[i]; r->s.now.v && k < g.start[i + 1]; k++)
                rate += values.jacobian[k] * r->s.now.v[g.column[k]];
            *position = fmax(*position, fabs(values.bond[i]));
            *velocity = fmax(*velocity, fabs(rate));
        }
    }
    free(values.bond);
    free(values.bond_dt);
    free(values.jacobian);
}

static inline bool rig_good(const char *what, const rig *r)
{
    return check_row(r->code == 0, "%s: %s: %s", what, taut_code_name(r->code), r->error.message);
}

#endif
