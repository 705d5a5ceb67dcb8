/* lift.c - lifting: the state that has given observables, by the constraint iteration of order m
 * [D (3.1)-(3.6), difference.c] or with the latest values of everything else.
 *
 * The iteration begins at the state itself, and goes through the orders 0, 1, ..., m. What is kept
 * are the values at that state, other ones each time. */
#include "project/lift.h"

#include <float.h>
#include <math.h>

#include "base/inside.h"
#include "base/vectors.h"
#include "project/difference.h"

struct taut_lift {
    bool last;
    taut_projection_input in;
    taut_projection p;
    taut_difference w;
    double *latest, *z, *start; /* [n] */
};

static int build(taut_lift *l, taut_arena *arena, double t, const double *z, taut_error *error)
{
    taut_difference *w = &l->w;
    taut_index n = l->in.sizes.coordinates;
    TAUT_TRY(TAUT_RESERVE(arena, n, error, &l->latest, &l->z, &l->start));
    taut_copy(n, z, l->latest);
    taut_copy(n, z, l->z);
    l->in.t = t;
    l->p = (taut_projection){.in = &l->in, .q = l->z, .v = l->z};
    w->p = &l->p;
    TAUT_TRY(taut_difference_build(w, arena, error));
    double size = fmax(taut_largest(n, z), DBL_MIN);
    for (taut_index i = 0; i < n; i++)
        w->scale[i] = exp2(round(log2(fmax(fabs(z[i]), 1e-3 * size))));
    w->noise = DBL_EPSILON / 2 * size;
    return TAUT_OK;
}

int taut_lift_create(const taut_lift_settings *how, taut_arena *arena, double t, const double *z,
                     taut_lift **lift, taut_error *error)
{
    taut_lift *l = *lift = TAUT_NEW(arena, taut_lift, 1);
    TAUT_NEED(error, l);
    const taut_system *system = taut_context_system(how->context);
    *l = (taut_lift){.last = how->last,
                     .in = {.system = system, .context = how->context},
                     .w = {.flow = how->flow,
                           .horizon = how->horizon,
                           .order = how->order,
                           .auto_iteration = true,
                           .tolerance = 1e-14}};
    taut_system_sizes(system, &l->in.sizes);
    return build(l, arena, t, z, error);
}

void taut_lift_destroy(taut_lift *l)
{
    if (l)
        taut_kept_functions_destroy(&l->w.held);
}

/* From the latest values, with the observables of z. */
static int take_last(taut_lift *l, double t, double *z, taut_error *error)
{
    const taut_kept_functions *held = &l->w.held;
    for (taut_index i = 0; i < held->n; i++)
        z[i] = held->fixed[i] ? z[i] : l->latest[i];
    return taut_kept_functions_restore(&l->w.held, t, z, error);
}

int taut_lift_apply(taut_lift *l, double t, double *z, taut_error *error)
{
    taut_difference *w = &l->w;
    taut_values now = {.bond = w->held.target};
    l->in.t = t;
    TAUT_TRY(taut_evaluate_inside(l->in.context, t, z, NULL, TAUT_WANT_BOND, &now, error));
    if (l->last)
        return take_last(l, t, z, error);
    for (int order = 0; order <= w->order; order++) {
        taut_projection_stage stage = {.order = order};
        taut_copy(w->held.n, z, l->start);
        w->iteration = taut_iteration_find("anderson");
        TAUT_TRY(taut_difference_iterate(w, &stage, l->start, z, error));
        TAUT_TRY(taut_difference_check_positive(w, z, error));
    }
    return TAUT_OK;
}

void taut_lift_remember(taut_lift *l, const double *z)
{
    taut_copy(l->w.held.n, z, l->latest);
}

void taut_lift_archive(taut_lift *l, taut_archive *archive)
{
    taut_archive_reals(archive, l->latest, l->w.held.n);
}
