/* fields.c - mechanical fields: the full system and the index-1 form, with Baumgarte's terms if
 * wanted.
 *
 *     [ M    G^T ] [ v'     ]   [ f - springs - scale grad V     ]
 *     [ G   0   ] [ lambda ] = [ -gamma - alpha gdot - beta g   ]   G, g, gamma of the rigid bonds
 *     [Ascher, Qin, Reich 1992, (1.4), (4.3)]
 *
 * gamma = g_qq(v,v) + 2 g_qt v + g_tt. Without rigid bonds only M is inverted. One force
 * evaluation, one factorisation and one solve each. */
#include "wrap/fields.h"

#include "base/rows.h"
#include "linalg/saddle_bonds.h"
#include "step/mechanics.h"
#include "system/fused.h"
#include "system/system.h"

typedef struct mechanical {
    taut_field field;
    taut_mechanics mechanics;
    taut_fused_work *fused; /* all of it as one tape, or NULL */
    taut_saddle *saddle;    /* NULL: diagonal mass without rigid bonds */
    bool factored, counted; /* once for all: constant mass without rigid bonds */
    double alpha, beta;
    double *gdot, *reaction; /* [rigid bonds] */
} mechanical;

static void destroy(taut_field *field)
{
    mechanical *w = field->self;
    taut_saddle_destroy(w->saddle);
    w->saddle = NULL;
}

/* Right-hand side of the rigid bonds' rows, with the other sign. */
static void aim(mechanical *w, const double *v)
{
    const taut_mechanics *x = &w->mechanics;
    if (x->values.gamma != w->reaction)
        taut_mechanics_pick(x, 1, x->values.gamma, w->reaction);
    if (w->alpha == 0 && w->beta == 0)
        return;
    taut_mechanics_rates(x, v, w->gdot);
    for (taut_index r = 0; r < x->rods; r++)
        w->reaction[r] += w->alpha * w->gdot[r] + w->beta * x->values.bond[x->rod[r]];
}

/* As the saddle solver would have it. */
static void count(mechanical *w, int64_t evaluations)
{
    taut_statistics *statistics = w->field.statistics;
    statistics->force_evaluations += evaluations;
    if (!w->saddle || evaluations == 0)
        return;
    bool once = w->mechanics.rods == 0 && !w->mechanics.varying;
    statistics->factorisations += !once ? evaluations : !w->counted;
    statistics->solves += evaluations;
    w->counted = once;
}

static int stages(taut_field *field, const taut_stages *s)
{
    mechanical *w = field->self;
    int end = taut_fused_stages(w->fused, s, w->mechanics.values.jacobian);
    count(w, end > s->first ? end - s->first : 0);
    return end;
}

static int64_t steps(taut_field *field, taut_stages *s, double begin, int64_t first, int64_t last)
{
    mechanical *w = field->self;
    int64_t evaluations, made = taut_fused_steps(w->fused, s, begin, first, last,
                                                 w->mechanics.values.jacobian, &evaluations);
    count(w, evaluations);
    return made;
}

/* Loops that threads share. */
typedef struct fields_loop {
    double *to;
    const double *from;
    const taut_index *row;
} fields_loop;

static double divide(void *context, int64_t begin, int64_t end)
{
    const fields_loop *l = context;
    for (int64_t i = begin; i < end; i++)
        l->to[i] /= l->from[i];
    return 0;
}

static double give_multipliers(void *context, int64_t begin, int64_t end)
{
    const fields_loop *l = context;
    for (int64_t r = begin; r < end; r++)
        l->to[l->row[r]] = l->from[r];
    return 0;
}

static int evaluate(taut_field *field, double t, const double *q, const double *v, double *rate,
                    double *lambda, taut_error *error)
{
    mechanical *w = field->self;
    taut_mechanics *x = &w->mechanics;
    if (w->fused && !x->given &&
        taut_fused_run(w->fused, t, q, v, rate, lambda, x->values.jacobian)) {
        count(w, 1);
        return TAUT_OK;
    }
    TAUT_TRY(taut_mechanics_force(x, t, q, v, rate, lambda, error));
    if (!w->saddle) {
        taut_pool_loop(x->context->pool, x->n, divide, &(fields_loop){rate, x->mass, NULL});
        if (x->part) /* ghosts lack the forces of other ranks */
            taut_halo_refresh(&x->part->coordinates, rate);
        return TAUT_OK;
    }
    aim(w, v);
    if (!w->factored) {
        TAUT_TRY(taut_mechanics_factor(x, w->saddle, t, x->mass, x->rod_jacobian, NULL, error));
        w->factored = w->counted = x->rods == 0 && !x->varying;
    }
    TAUT_TRY(taut_saddle_oppose(w->saddle, true, rate, w->reaction, error));
    field->statistics->solves++;
    if (lambda)
        taut_pool_loop(x->context->pool, x->rods, give_multipliers,
                       &(fields_loop){lambda, w->reaction, x->rod});
    return TAUT_OK;
}

static void stretch(taut_field *field, const double *x, double *gx)
{
    const mechanical *own = field->self;
    const taut_mechanics *w = &own->mechanics;
    if (!w->columns || !taut_saddle_rows(own->saddle, x, gx))
        taut_rows_product(&w->jacobian, w->values.jacobian, x, gx);
}

static int fill(mechanical *w, taut_context *context, taut_arena *arena,
                taut_statistics *statistics, double alpha, double beta, unsigned stiff,
                taut_error *error)
{
    taut_mechanics *x = &w->mechanics;
    bool terms = alpha != 0 || beta != 0;
    unsigned wanted = TAUT_WANT_GAMMA | (terms ? TAUT_WANT_BOND : 0) | stiff;
    TAUT_TRY(taut_mechanics_create(x, context, arena, statistics, wanted, error));
    w->alpha = alpha;
    w->beta = beta;
    TAUT_TRY(TAUT_RESERVE(arena, x->rods, error, &w->gdot, &w->reaction));
    w->field = (taut_field){.name = x->rods == 0 ? "full"
                                    : terms      ? "index-1, Baumgarte"
                                                 : "index-1",
                            .second_order = true,
                            .n = x->n,
                            .m = x->m,
                            .evaluate = evaluate,
                            .stretch = stretch,
                            .destroy = destroy,
                            .statistics = statistics,
                            .self = w};
    if (x->rods == 0 && !x->mass_start)
        TAUT_TRY(taut_mechanics_need_masses(x, "an explicit method", error));
    if (!terms)
        TAUT_TRY(taut_fused_open(context, TAUT_FUSED_ACCELERATION, 0, x->rods, x->rod, arena,
                                 &w->fused, error));
    if (w->fused) {
        w->field.stages = stages;
        w->field.steps = steps;
    }
    if (x->rods == 0 && !x->mass_start)
        return TAUT_OK;
    TAUT_TRY(taut_mechanics_saddle(x, false, true, &arena->allocator, &w->saddle, error));
    w->field.factor = taut_saddle_seconds(w->saddle);
    w->field.saddle = x->rods > 0 ? w->saddle : NULL;
    if (!terms && x->rods > 0 && !x->mixed) { /* gamma goes where it is needed, and so does G */
        x->values.gamma = w->reaction;
        taut_mechanics_columns(x, taut_mechanics_room(x, w->saddle));
    }
    return TAUT_OK;
}

static int check_kind(taut_context *context, taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(context), &sizes);
    if (sizes.kind != TAUT_MECHANICAL)
        return taut_fail(error, TAUT_ERROR_REFUSED, "this field needs a mechanical system");
    return TAUT_OK;
}

static int create(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                  double alpha, double beta, unsigned stiff, taut_field **field, taut_error *error)
{
    *field = NULL;
    TAUT_TRY(check_kind(context, error));
    if (!(alpha >= 0 && beta >= 0))
        return taut_fail(error, TAUT_ERROR_USAGE, "Baumgarte's parameters must not be negative");
    mechanical *w = TAUT_NEW(arena, mechanical, 1);
    TAUT_NEED(error, w);
    int status = fill(w, context, arena, statistics, alpha, beta, stiff, error);
    if (status == 0)
        *field = &w->field;
    else
        taut_saddle_destroy(w->saddle);
    return status;
}

int taut_field_index1(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                      double alpha, double beta, taut_field **field, taut_error *error)
{
    return create(context, arena, statistics, alpha, beta, 0, field, error);
}

int taut_field_stiff_index1(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                            taut_field **field, taut_error *error)
{
    return create(context, arena, statistics, 0, 0, TAUT_STIFF_AS_RODS, field, error);
}

void taut_field_give(taut_field *field, const double *lambda)
{
    ((mechanical *)field->self)->mechanics.given = lambda;
}

int taut_field_full(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                    taut_field **field, taut_error *error)
{
    TAUT_TRY(taut_field_index1(context, arena, statistics, 0, 0, field, error));
    mechanical *w = (*field)->self;
    const taut_mechanics *x = &w->mechanics;
    if (x->rods == 0)
        return TAUT_OK;
    char name[80];
    taut_system_name(taut_context_system(context), TAUT_BOND, x->rod[0], name, sizeof name);
    destroy(*field);
    *field = NULL;
    return taut_fail(error, TAUT_ERROR_REFUSED,
                     "bond '%s' is rigid: it needs the index-1 form, or a stiffness", name);
}
