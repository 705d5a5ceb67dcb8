/* radau_failure.c - failures of Radau IIA in the names of the model: which bond, which
 * coordinate, and what to do. */
#include "step/radau.h"

#include <math.h>
#include <stdio.h>

#include "system/singular.h"

int taut_radau_stuck(const taut_stepper *s, double h, taut_error *error)
{
    const taut_radau *w = s->work;
    taut_index worst = 0;
    double largest = -1;
    char name[96];
    for (int i = 0; i < w->s; i++)
        for (taut_index k = 0; k < s->n; k++) {
            double size = fabs(w->r[(int64_t)i * s->n + k]) / w->scale[k];
            if (!(size <= largest)) { /* NaN is worst */
                largest = isnan(size) ? INFINITY : size;
                worst = k;
            }
        }
    taut_system_name(taut_context_system(s->context), TAUT_COORDINATE, worst, name, sizeof name);
    taut_fail(error, TAUT_ERROR_CONVERGE,
              "Newton's iteration of %s does not converge with a step of %.3g; '%s' changes most",
              s->method->name, fabs(h), name);
    return TAUT_RETRY;
}

int taut_radau_singular(const taut_stepper *s, const char *what, taut_error *error)
{
    taut_fail(error, TAUT_ERROR_SINGULAR, "at t = %.9g method %s cannot go on: %s", s->now.t,
              s->method->name, what);
    if (error)
        error->t = s->now.t;
    return TAUT_ERROR_SINGULAR;
}

int taut_radau_explain(const taut_stepper *s, int status, int count, const double *jacobian,
                       taut_error *error)
{
    const taut_radau *w = s->work;
    if (status != TAUT_ERROR_SINGULAR || !error || w->part)
        return status;
    char text[300] = "";
    taut_singular parts = {.context = s->context,
                           .allocator = &s->arena->allocator,
                           .n = w->n,
                           .m = s->m,
                           .mass = w->mass,
                           .mass_start = w->diagonal ? NULL : w->tangent.start,
                           .start = w->jacobian.start,
                           .column = w->jacobian.column,
                           .compliance = w->compliance};
    for (int i = 0; i < count && !text[0]; i++) {
        parts.jacobian = jacobian + (int64_t)i * w->entries;
        TAUT_TRY(taut_singular_text(&parts, text, sizeof text, error));
    }
    if (!text[0])
        snprintf(text, sizeof text,
                 "the matrix of the step is singular: masses, forces and bonds leave something "
                 "undetermined");
    return taut_radau_singular(s, text, error);
}
