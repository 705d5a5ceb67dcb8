/* auto.c - the projection for those who do not want to choose: series where there are Taylor
 * jets, to rounding; kernel for forces without derivatives; the foot point before kernel when
 * the start is too far for its passes; constraint where there are no springs; difference for
 * first-order systems and black boxes. What was chosen, and why, is said in one line. */
#include <stdio.h>
#include <string.h>

#include "base/vectors.h"
#include "point/projection.h"

/* One way: the method, from the foot point when `foot`. */
typedef struct way {
    const taut_projection_method *method;
    bool foot;
    const char *why;
} way;

static const way ways[] = {
    {&taut_projection_series, false, "exact derivatives are known"},
    {&taut_projection_kernel, false, "needs forces only"},
    {&taut_projection_kernel, true, "from the foot point, the start is far"},
    {&taut_projection_constraint, false, "no projection onto slow motions takes this system"},
    {&taut_projection_difference, false, "needs the flow only"},
};

static void forget_passes(taut_projection *p)
{
    p->pass = NULL;
    p->passes = p->pass_capacity = 0;
}

/* The method, with the state that p has reached for its start: what it keeps is that one, not
 * the start of p. */
static int take_from_here(taut_projection *p, const way *w, const taut_options *options,
                          taut_error *error)
{
    taut_index n = p->sizes.coordinates;
    double *q0 = p->q0, *v0 = p->v0, *q = TAUT_NEW(&p->arena, double, n),
           *v = TAUT_NEW(&p->arena, double, n);
    if (!q || !v)
        return taut_fail_memory(error);
    taut_copy(n, p->q, q);
    taut_copy(n, p->v, v);
    p->q0 = q;
    p->v0 = v;
    int status = w->method->project(p, options, error);
    p->q0 = q0;
    p->v0 = v0;
    return status;
}

static int take(taut_projection *p, const way *w, const taut_options *options, taut_error *error)
{
    taut_projection_restore(p);
    forget_passes(p);
    if (w->foot) {
        TAUT_TRY(taut_projection_constraint.project(p, options, error));
        forget_passes(p);
    }
    p->method = w->method;
    return w->foot ? take_from_here(p, w, options, error) : w->method->project(p, options, error);
}

/* The foot point is for kernel after it has failed; rigid bonds are the answer where no slow
 * point can be tried. */
static bool sensible(const taut_projection *p, const way *w, bool tried)
{
    if (w->foot && (!tried || taut_projection_check(&taut_projection_constraint, p, NULL) != 0))
        return false;
    return w->method != &taut_projection_constraint || !tried;
}

static int project(taut_projection *p, const taut_options *options, taut_error *error)
{
    taut_error reason = {0}, first = {0};
    int status = TAUT_OK;
    bool tried = false, named = false;
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        bool takes =
            sensible(p, &ways[k], tried) && taut_projection_check(ways[k].method, p, &reason) == 0;
        int code = takes ? take(p, &ways[k], options, &reason) : TAUT_ERROR_REFUSED;
        if (code == 0) {
            size_t used = strlen(p->explanation);
            snprintf(p->explanation + used, sizeof p->explanation - used, " (chosen: %s)",
                     ways[k].why);
            return TAUT_OK;
        }
        TAUT_TRY(taut_fail_final(code, &reason, error));
        /* the reason of the first one that was tried; when none was, of the first that is for
         * this kind of system */
        bool kind = ways[k].method->kinds & 1u << p->sizes.kind;
        if (status == 0 || (takes && !tried) || (kind && !named && !tried)) {
            status = code;
            first = reason;
        }
        named |= kind;
        tried |= takes;
        if (p->hopeless) /* filters would take long to say the same */
            break;
    }
    p->method = &taut_projection_auto;
    if (error)
        *error = first;
    return status;
}

const taut_projection_method taut_projection_auto = {
    .name = "auto",
    .summary = "series where derivatives exist, kernel otherwise; constraint without springs, "
               "difference without equations",
    .reference = "the methods it chooses from",
    .kinds = 1u << TAUT_MECHANICAL | 1u << TAUT_FIRST_ORDER | 1u << TAUT_BLACK_BOX,
    .project = project,
};
