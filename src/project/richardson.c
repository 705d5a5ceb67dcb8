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

#include "base/number.h"
#include "base/options.h"
#include "base/statistics.h"
#include "base/vectors.h"
#include "point/projection.h"
#include "system/system.h"

static int refuse(const taut_projection *p, taut_error *error)
{
    const char *why = NULL;
    bool springs = false;
    const double *compliance = taut_context_compliance(p->context);
    for (taut_index i = 0; p->sizes.kind == TAUT_MECHANICAL && i < p->sizes.bonds; i++)
        springs |= compliance[i] > 0 && !taut_context_soft(p->context, i);
    if (p->method == &taut_projection_constraint)
        why = "projection constraint gives the multipliers of infinite stiffness already; leave it "
              "out";
    else if (p->sizes.can & TAUT_HAS_STIFF_POTENTIAL)
        why = "a stiff potential has no multipliers; write it as bonds with a stiffness";
    else if (!springs)
        why = "there are no springs whose stiffness could be changed; leave it out";
    return why ? taut_fail(error, TAUT_ERROR_REFUSED, "--richardson: %s", why) : TAUT_OK;
}

/* A given --omega is that of the springs as they are. */
static int scaled_options(const taut_projection *p, const taut_options *options, double factor,
                          taut_options **made, taut_error *error)
{
    TAUT_TRY(taut_options_create(&p->arena.allocator, made, error));
    TAUT_TRY(taut_options_merge(*made, options, error));
    if (!taut_options_given(options, "omega"))
        return TAUT_OK;
    char text[TAUT_NUMBER_SIZE];
    taut_number_format(taut_options_real(options, "omega") / sqrt(factor), 17, text);
    return taut_options_set(*made, "omega", text, error);
}

static int new_start(taut_projection *s, const taut_projection *p, taut_error *error)
{
    const taut_index n = p->sizes.coordinates;
    TAUT_TRY(TAUT_RESERVE(&s->arena, n, error, &s->q, &s->v, &s->q0, &s->v0));
    TAUT_TRY(TAUT_RESERVE(&s->arena, p->sizes.bonds, error, &s->lambda));
    taut_copy(n, p->q0, s->q);
    taut_copy(n, p->v0, s->v);
    taut_copy(n, p->q0, s->q0);
    taut_copy(n, p->v0, s->v0);
    return taut_context_create(s->system, &s->arena.allocator, &s->context, error);
}

/* lambda[m] of the same projection with `factor` times the compliances. */
static int repeat(taut_projection *p, const taut_options *options, double factor, double *lambda,
                  taut_error *error)
{
    taut_system *system = NULL;
    taut_options *scaled = NULL;
    taut_projection s = {.method = p->method, .sizes = p->sizes, .t = p->t, .hold = p->hold};
    taut_arena_init(&s.arena, &p->arena.allocator);
    int status = taut_system_softer(p->system, factor, &system, error);
    s.system = system;
    if (status == 0)
        status = scaled_options(p, options, factor, &scaled, error);
    if (status == 0)
        status = new_start(&s, p, error);
    if (status == 0)
        status = s.method->project(&s, scaled, error);
    if (status == 0)
        taut_copy(p->sizes.bonds, s.lambda, lambda);
    if (status == TAUT_ERROR_CONVERGE && error) {
        char reason[sizeof error->message];
        memcpy(reason, error->message, sizeof reason);
        taut_fail(error, status, "--richardson: with %g times the stiffness: %.500s", 1 / factor,
                  reason);
    }
    taut_statistics_add(&p->statistics, &s.statistics);
    taut_options_destroy(scaled);
    taut_context_destroy(s.context);
    taut_arena_clear(&s.arena);
    taut_system_destroy(system);
    return status;
}

int taut_richardson(taut_projection *p, const taut_options *options, int levels, taut_error *error)
{
    taut_index m = p->sizes.bonds;
    TAUT_TRY(refuse(p, error));
    double *stiffer = TAUT_NEW(&p->arena, double, m), *softer = TAUT_NEW(&p->arena, double, m),
           change = 0;
    if (!stiffer || !softer)
        return taut_fail_memory(error);
    TAUT_TRY(repeat(p, options, 0.25, stiffer, error));
    if (levels > 1)
        TAUT_TRY(repeat(p, options, 4, softer, error));
    for (taut_index i = 0; i < m; i++) {
        double one = (4 * stiffer[i] - p->lambda[i]) / 3, before = stiffer[i], best = one;
        if (levels > 1) {
            before = one;
            best = (16 * one - (4 * p->lambda[i] - softer[i]) / 3) / 15;
        }
        change = taut_larger(change, fabs(best - before));
        p->lambda[i] = best;
    }
    size_t used = strlen(p->explanation);
    snprintf(p->explanation + used, sizeof p->explanation - used,
             "; multipliers extrapolated to infinite stiffness from %s, by which they still "
             "changed by %.2g",
             levels > 1 ? "1/4, 1 and 4 times it" : "1 and 4 times it", change);
    return TAUT_OK;
}
