/* compose.c - symmetric compositions of velocity Verlet and of RATTLE: a step of length h is steps
 * of lengths gamma_1 h, ..., gamma_s h of the base method, gamma_i = gamma_(s+1-i), sum gamma_i = 1
 *
 *     order 4   s = 5    [Suzuki 1990]
 *     order 6   s = 9    [Kahan, Li 1997]
 *     order 8   s = 17   [Kahan, Li 1997; Hairer, Lubich, Wanner 2006, V.3.2]
 *
 * The base methods are symmetric and symplectic, and so is the composition; rigid bonds hold to
 * rounding after each of its steps, multipliers are those of the base method at the end. Some
 * gamma_i are negative: a force that is not a gradient is evaluated backwards in time. */
#include "step/methods.h"

typedef struct recipe {
    const taut_method *base;
    int count;
    double weight[TAUT_COMPOSED / 2 + 1]; /* gamma_1 to the middle one */
} recipe;

typedef struct composition {
    void *base;       /* work of the base method */
    taut_state spare; /* a third state: the first one of a step stays */
} composition;

/* Calls a function of the base method, whose own work and row the stepper has meanwhile. */
#define WITH_BASE(s, call)                                                                         \
    do {                                                                                           \
        composition *own_ = (s)->work;                                                             \
        const taut_method *row_ = (s)->method, *base = ((const recipe *)row_->data)->base;         \
        (s)->method = base;                                                                        \
        (s)->work = own_->base;                                                                    \
        call;                                                                                      \
        own_->base = (s)->work;                                                                    \
        (s)->work = own_;                                                                          \
        (s)->method = row_;                                                                        \
    } while (0)

static int create(taut_stepper *s, taut_error *error)
{
    composition *w = s->work = TAUT_NEW(s->arena, composition, 1);
    TAUT_NEED(error, w);
    TAUT_TRY(taut_state_create(s, &w->spare, error));
    int status;
    WITH_BASE(s, status = base->create(s, error));
    return status;
}

static void destroy(taut_stepper *s)
{
    if (s->work)
        WITH_BASE(s, base->destroy(s));
}

static void changed(taut_stepper *s)
{
    WITH_BASE(s, base->changed(s));
}

static int step(taut_stepper *s, double h, taut_error *error)
{
    composition *w = s->work;
    const recipe *r = s->method->data;
    taut_state begin = s->now;
    int64_t steps = s->statistics->steps;
    int status = 0;
    for (int k = 0; k < r->count && status == 0; k++) {
        if (k == 1) { /* the arrays of `begin` are in last, where the next step would write */
            s->last = w->spare;
            w->spare = begin;
        }
        double part = r->weight[k <= r->count / 2 ? k : r->count - 1 - k];
        WITH_BASE(s, status = base->step(s, part * h, error));
    }
    s->statistics->steps = steps + (status == 0);
    if (w->spare.q == begin.q) { /* of the three states one is now, or free after a failure */
        w->spare = s->last;
        s->last = status == 0 ? begin : s->now;
    }
    if (status == 0) {
        s->now.t = begin.t + h;
        return TAUT_OK;
    }
    s->now = begin;
    changed(s);
    return status;
}

static int complete(taut_stepper *s, taut_error *error)
{
    int status;
    WITH_BASE(s, status = base->complete ? base->complete(s, error) : TAUT_OK);
    return status;
}

static int multipliers(taut_stepper *s, double t, const double *q, const double *v, double *lambda,
                       taut_error *error)
{
    int status;
    WITH_BASE(s, status = base->multipliers(s, t, q, v, lambda, error));
    return status;
}

static void archive(taut_stepper *s, taut_archive *to)
{
    WITH_BASE(s, base->archive(s, to));
}

/* ---- coefficients */

#define SUZUKI_5                                                                                   \
    .count = 5, .weight = {0.41449077179437573714, 0.41449077179437573714, -0.65796308717750294857}
#define KAHAN_LI_9                                                                                 \
    .count = 9,                                                                                    \
    .weight = {0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981,            \
               0.08221359629355080023, 0.79854399093482996340}
#define KAHAN_LI_17                                                                                \
    .count = 17,                                                                                   \
    .weight = {0.13020248308889008088, 0.56116298177510838456,  -0.38947496264484728641,           \
               0.15884190655515560090, -0.39590389413323757734, 0.18453964097831570709,            \
               0.25837438768632204729, 0.29501172360931029887,  -0.60550853383003451170}

/* Stability: where the composed step matrix of x'' = -omega^2 x first leaves the unit circle. */
#define STABLE_4 2.72
#define STABLE_6 2.53
#define STABLE_8 3.09

void taut_composition(int order, taut_composition_weights *w)
{
    static const recipe recipes[] = {
        {.count = 1, .weight = {1}}, {SUZUKI_5}, {KAHAN_LI_9}, {KAHAN_LI_17}};
    static const double stable[] = {2, STABLE_4, STABLE_6, STABLE_8};
    const recipe *r = &recipes[order / 2 - 1];
    w->count = r->count;
    w->stability = stable[order / 2 - 1];
    for (int k = 0; k < r->count; k++)
        w->weight[k] = r->weight[k <= r->count / 2 ? k : r->count - 1 - k];
}

#define SHARED                                                                                     \
    .needs = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS, .create = create, .destroy = destroy,          \
    .step = step, .changed = changed, .complete = complete, .multipliers = multipliers,            \
    .archive = archive

#define REFUSED                                                                                    \
    (TAUT_HAS_DAMPING | TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_VARYING_MASS | TAUT_HAS_ALGEBRAIC |    \
     TAUT_HAS_STEPPER)

#define VERLET(p, title, coefficients, source)                                                     \
    const taut_method taut_verlet##p = {.name = "verlet" #p,                                       \
                                        .motions = TAUT_MOTION_FULL,                               \
                                        .order = p,                                                \
                                        .summary = "velocity Verlet composed to order " title,     \
                                        .reference = source,                                       \
                                        .refuses = REFUSED | TAUT_HAS_RIGID,                       \
                                        .stability = STABLE_##p,                                   \
                                        .data =                                                    \
                                            &(const recipe){.base = &taut_verlet, coefficients},   \
                                        SHARED}

/* The coefficients come last, with their commas. */
#define RATTLE_ROW(id, p, title, source, without, of, other, ...)                                  \
    const taut_method id = {.name = "rattle" #p,                                                   \
                            .motions =                                                             \
                                TAUT_MOTION_RIGID | TAUT_MOTION_EFFECTIVE | TAUT_MOTION_FULL,      \
                            .averages = true,                                                      \
                            .in_momenta = other,                                                   \
                            .on_bonds = true,                                                      \
                            .order = p,                                                            \
                            .summary = "RATTLE composed to order " title,                          \
                            .reference = source,                                                   \
                            .refuses = without,                                                    \
                            .stability = STABLE_##p,                                               \
                            .data = &(const recipe){.base = of, __VA_ARGS__},                      \
                            SHARED}

#define RATTLE(p, title, coefficients, source)                                                     \
    static RATTLE_ROW(rattle##p##_momenta, p, title, source,                                       \
                      TAUT_HAS_DAMPING | TAUT_HAS_ALGEBRAIC | TAUT_HAS_STEPPER,                    \
                      &taut_rattle_momenta, NULL, coefficients);                                   \
    RATTLE_ROW(taut_rattle##p, p, title, source, REFUSED, &taut_rattle, &rattle##p##_momenta,      \
               coefficients)

#define FIVE "4, five steps each: symplectic, time-reversible"
#define NINE "6, nine steps each: symplectic, time-reversible"
#define SEVENTEEN "8, seventeen steps each: symplectic, time-reversible"

VERLET(4, FIVE, SUZUKI_5, "Suzuki 1990");
VERLET(6, NINE, KAHAN_LI_9, "Kahan, Li 1997");
VERLET(8, SEVENTEEN, KAHAN_LI_17, "Kahan, Li 1997");
RATTLE(4, FIVE, SUZUKI_5, "Suzuki 1990; Reich 1996");
RATTLE(6, NINE, KAHAN_LI_9, "Kahan, Li 1997; Reich 1996");
RATTLE(8, SEVENTEEN, KAHAN_LI_17, "Kahan, Li 1997; Reich 1996");
