/* auto.c - the default projection: series where there are Taylor jets, exact to rounding; kernel
 * for forces without derivatives; the foot point before kernel when the initial state is too far
 * for its passes; constraint where there are no springs; difference for first-order systems and
 * black boxes. The explanation names the choice and its reason. */
#include <stdio.h>
#include <string.h>

#include "base/vectors.h"
#include "point/projection.h"

/* One way, in the order in which they are tried; the list is the data of the row. */
typedef struct candidate {
    const taut_projection_method *method;
    bool after_failure; /* only when another one was tried; begins at the foot point */
    bool first_only;    /* only when none was tried */
    const char *why;
} candidate;

static const candidate candidates[] = {
    {&taut_projection_series, false, false, "exact derivatives are available"},
    {&taut_projection_kernel, false, false, "needs forces only"},
    {&taut_projection_kernel, true, false,
     "from the foot point, because the initial state is far away"},
    {&taut_projection_constraint, false, true,
     "no projection onto slow motions accepts this system"},
    {&taut_projection_difference, false, false, "needs the flow only"},
    {.method = NULL},
};

static void forget(taut_projection *p)
{
    p->pass = NULL;
    p->passes = p->pass_capacity = 0;
    p->idle = 0;
}

static int try_candidate(taut_projection *p, const candidate *w,
                         const taut_projection_settings *settings, taut_error *error)
{
    taut_projection_restore(p);
    forget(p);
    if (w->after_failure) {
        TAUT_TRY(taut_projection_constraint.project(p, settings, error));
        forget(p);
        p->stiff_force = NULL; /* of the foot point */
    }
    p->method = w->method;
    const taut_projection_input *given = p->in;
    taut_projection_input foot;
    if (w->after_failure)
        TAUT_TRY(taut_projection_begin_at(p, p->q, p->v, &foot, error));
    int status = p->method->project(p, settings, error);
    p->in = given;
    return status;
}

static bool accepts(const taut_projection *p, const candidate *w, bool tried, taut_error *reason)
{
    return (tried ? !w->first_only : !w->after_failure) &&
           (!w->after_failure ||
            taut_projection_check(&taut_projection_constraint, &p->in->sizes, NULL) == 0) &&
           taut_projection_check(w->method, &p->in->sizes, reason) == 0;
}

static int project(taut_projection *p, const taut_projection_settings *settings, taut_error *error)
{
    taut_error reason = {0}, first = {0};
    int status = TAUT_OK;
    bool tried = false, named = false;
    const taut_projection_method *row = p->method;
    for (const candidate *w = row->data; w->method; w++) {
        bool takes = accepts(p, w, tried, &reason);
        int code = takes ? try_candidate(p, w, settings, &reason) : TAUT_ERROR_REFUSED;
        if (code == 0) {
            taut_explain_more(p, " (chosen: %s)", w->why);
            return TAUT_OK;
        }
        TAUT_TRY(taut_fail_final(code, &reason, error));
        /* the reason of the first one that was tried; when none was, of the first that is for
         * this kind of system */
        bool kind = w->method->kinds & 1u << p->in->sizes.kind;
        if (status == 0 || (takes && !tried) || (kind && !named && !tried)) {
            status = code;
            first = reason;
        }
        named |= kind;
        tried |= takes;
        if (p->hopeless) /* filters would fail too, after more work */
            break;
    }
    p->method = row;
    if (error)
        *error = first;
    return status;
}

const taut_projection_method taut_projection_auto = {
    .name = "auto",
    .summary = "series where derivatives exist, kernel otherwise; constraint without springs, "
               "difference without equations",
    .reference = "the methods it chooses from",
    .data = candidates,
    .kinds = 1u << TAUT_MECHANICAL | 1u << TAUT_FIRST_ORDER | 1u << TAUT_BLACK_BOX,
    .project = project,
};
