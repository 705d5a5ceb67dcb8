/* richardson.c - multipliers by extrapolation in the stiffness [A 5.4]. On slow points over one
 * foot point
 *
 *     lambda(c) = lambda_0 + a c + b c^2 + ..., c the compliance, 1/omega^2 for unit masses
 *     [B (2.6)]
 *
 * so that two and three stiffnesses, a factor 4 (2 in omega) apart, give lambda_0, the
 * multipliers of the constrained motion:
 *
 *     T1(c) = (4 lambda(c/4) - lambda(c))/3,           T2 = (16 T1(c) - T1(4c))/15
 *
 * Every spring that is not soft takes part, with the same factor; the projection is repeated
 * with the derived system. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/statistics.h"
#include "base/vectors.h"
#include "project/project.h"
#include "system/system.h"

static int refuse(const taut_projection *p, taut_error *error)
{
    const char *why = NULL;
    bool springs = false;
    const double *compliance = taut_context_compliance(p->in->context);
    for (taut_index i = 0; p->in->sizes.kind == TAUT_MECHANICAL && i < p->in->sizes.bonds; i++)
        springs |= compliance[i] > 0 && !taut_context_soft(p->in->context, i);
    if (p->method->rigid_multipliers)
        why = "projection constraint gives the multipliers of infinite stiffness already; omit it";
    else if (p->in->sizes.can & TAUT_HAS_STIFF_POTENTIAL)
        why = "a stiff potential has no multipliers; write it as bonds with a stiffness";
    else if (!springs)
        why = "there are no springs whose stiffness could be changed; omit it";
    return why ? taut_fail_option(error, TAUT_ERROR_REFUSED, "richardson", "%s", why) : TAUT_OK;
}

/* lambda[m] of the same projection with `factor` times the compliances. */
static int repeat(taut_projection *p, const taut_projection_settings *settings, double factor,
                  double *lambda, taut_error *error)
{
    taut_system *system = NULL;
    taut_context *context = NULL;
    taut_projection *s = NULL;
    taut_projection_settings scaled = *settings;
    scaled.omega /= sqrt(factor); /* a given one is that of the springs as they are */
    int status = taut_system_softer(p->in->system, factor, &system, error);
    if (status == 0)
        status = taut_context_create(system, &p->arena.allocator, &context, error);
    if (status == 0)
        status = taut_projection_create(context, p->in->t, p->in->q, p->in->v, p->in->hold,
                                        &p->arena.allocator, &s, error);
    if (status == 0) {
        s->method = p->method;
        status = s->method->project(s, &scaled, error);
        taut_statistics_add(&p->statistics, &s->statistics);
    }
    if (status == 0)
        taut_copy(p->in->sizes.bonds, s->lambda, lambda);
    if (status == TAUT_ERROR_CONVERGE && error) {
        char reason[sizeof error->message];
        memcpy(reason, error->message, sizeof reason);
        taut_fail_option(error, status, "richardson", "with %g times the stiffness: %.900s",
                         1 / factor, reason);
    }
    taut_projection_destroy(s);
    taut_context_destroy(context);
    taut_system_destroy(system);
    return status;
}

int taut_richardson(taut_projection *p, const taut_projection_settings *settings, taut_error *error)
{
    taut_index m = p->in->sizes.bonds;
    TAUT_TRY(refuse(p, error));
    double *stiffer, *softer, change = 0;
    TAUT_TRY(TAUT_RESERVE(&p->arena, m, error, &stiffer, &softer));
    TAUT_TRY(repeat(p, settings, 0.25, stiffer, error));
    if (settings->richardson > 1)
        TAUT_TRY(repeat(p, settings, 4, softer, error));
    for (taut_index i = 0; i < m; i++) {
        double one = (4 * stiffer[i] - p->lambda[i]) / 3, before = stiffer[i], best = one;
        if (settings->richardson > 1) {
            before = one;
            best = (16 * one - (4 * p->lambda[i] - softer[i]) / 3) / 15;
        }
        change = taut_larger(change, fabs(best - before));
        p->lambda[i] = best;
    }
    taut_explain_more(
        p,
        "; multipliers extrapolated to infinite stiffness from %s, by which they still "
        "changed by %.2g",
        settings->richardson > 1 ? "1/4, 1 and 4 times it" : "1 and 4 times it", change);
    return TAUT_OK;
}
