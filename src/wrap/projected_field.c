/* projected_field.c - the stiff field at slow points: phi(P z) in place of phi(z), z = (q, v), so
 * that an explicit method picks up slow motion only and its steps do not depend on the stiffness.
 *
 *     Z_i = P (z_n + H sum_j a_ij phi(Z_j)),   z_{n+1} = P z_n + H sum_j b_j phi(Z_j)
 *     [Ariel, Sanz-Serna, Tsai 2012, (38), there for the classical Runge-Kutta method]
 *
 * Deviations: stages begin at P z_n too, so that the end of a step is projected once. Where P finds
 * multipliers, v' = M^-1 (f - G^T lambda) uses them in place of C^-1 g: P determines g to rounding
 * u only, which C^-1 would turn into forces wrong by u omega^2. Where it finds none, stiffness is
 * seen in forces alone, and P moves states along the slow manifold too, by O(omega^-2): then z_n
 * stays in place of P z_n, so that this does not add up. */
#include "wrap/projected_field.h"

#include "base/vectors.h"
#include "wrap/fields.h"

typedef struct projected {
    taut_field field;
    taut_field *inner;
    taut_projector *by;
    double *q, *v; /* [n] */
} projected;

static int evaluate(taut_field *field, double t, const double *q, const double *v, double *rate,
                    double *lambda, taut_error *error)
{
    projected *w = field->self;
    taut_copy(field->n, q, w->q);
    taut_copy(field->n, v, w->v);
    TAUT_TRY(w->by->apply(w->by, t, w->q, w->v, error));
    taut_field_give(w->inner, w->by->lambda);
    return w->inner->evaluate(w->inner, t, w->q, w->v, rate, lambda, error);
}

static void stretch(taut_field *field, const double *x, double *gx)
{
    taut_field *inner = ((projected *)field->self)->inner;
    inner->stretch(inner, x, gx);
}

static void archive(taut_field *field, taut_archive *archive)
{
    projected *w = field->self;
    if (w->inner->archive)
        w->inner->archive(w->inner, archive);
    if (w->by->archive)
        w->by->archive(w->by, archive);
}

int taut_field_projected(taut_field *inner, taut_projector *by, taut_arena *arena,
                         taut_field **field, taut_error *error)
{
    projected *w = TAUT_NEW(arena, projected, 1);
    *field = NULL;
    TAUT_NEED(error, w);
    w->inner = inner;
    w->by = by;
    TAUT_TRY(TAUT_RESERVE(arena, inner->n, error, &w->q, &w->v));
    w->field = (taut_field){.name = "projected",
                            .second_order = true,
                            .n = inner->n,
                            .m = inner->m,
                            .evaluate = evaluate,
                            .stretch = inner->stretch ? stretch : NULL,
                            .at_q = w->q,
                            .at_v = w->v,
                            .keeps = !by->lambda,
                            .archive = archive,
                            .statistics = inner->statistics,
                            .self = w};
    *field = &w->field;
    return TAUT_OK;
}
