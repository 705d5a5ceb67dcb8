/* later_rates.c - the slow rate of a large system at a few later states, where a pilot run
 * (pilot.c) would cost more than the rest of a diagnosis: steps of RATTLE with the matrices that
 * the rate needs anyway [Andersen 1983; Hairer, Lubich, Wanner 2006, VII.1.4],
 *
 *     q1 = q + h v + h^2/2 M^-1 (f - G^T lambda),   g(q1) = 0,
 *     v1 = (q1 - q)/h + h/2 M^-1 (f1 - G1^T mu),    G1 v1 + g_t = 0,
 *
 * lambda being that of the acceleration and one correction by a simplified Newton step, mu without
 * iteration. h is one radian of the fastest motion at q, 1/rate with the larger of slow and turning
 * rate, or half of it where there are 4 states or more. Forces of soft springs are part of f. A
 * state is off by some percent after that, and so is its rate, of which one vector of Arnoldi's
 * iteration gives a lower estimate.
 *
 * There are 4000/n states, at least one and at most 8. The rate is then 14.1 % of the instructions
 * of `taut check` for an inclined chain of 1000 links (2 states), 14.9 % for 20,000 (1 state). */
#include <math.h>

#include "base/inside.h"
#include "base/rows.h"
#include "base/vectors.h"
#include "drive/slow_rate.h"

enum { BUDGET = 4000, VECTORS = 1 };

typedef struct leap {
    taut_arena arena;
    taut_sizes sizes;
    taut_pattern jacobian, tangent;
    taut_rigid_motion at; /* the present state; its arrays are those below after the first leap */
    taut_values values;
    const double *soft;                          /* D: 1 in rows of soft springs */
    double *q[2], *v, *a, *x, *y, *weight, *all; /* all: G with these rows */
    int side;                                    /* of q */
} leap;

static int reserve(leap *p, taut_error *error)
{
    const taut_sizes *z = &p->sizes;
    const int64_t n = z->coordinates, m = z->bonds;
    TAUT_TRY(TAUT_RESERVE(&p->arena, n, error, &p->q[0], &p->q[1], &p->v, &p->a, &p->x));
    TAUT_TRY(TAUT_RESERVE(&p->arena, m, error, &p->y, &p->weight));
    p->all = p->values.jacobian;
    return p->at.jacobian == p->all ? TAUT_OK
                                    : TAUT_RESERVE(&p->arena, z->jacobian_entries, error, &p->all);
}

static int create(leap *p, taut_error *error)
{
    const taut_system *system = taut_context_system(p->at.context);
    taut_system_sizes(system, &p->sizes);
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &p->jacobian, error));
    if (p->sizes.mass != TAUT_MASS_DIAGONAL)
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &p->tangent, error));
    TAUT_TRY(reserve(p, error));
    taut_copy(p->sizes.coordinates, p->at.acceleration, p->a);
    return TAUT_OK;
}

/* The position after h, held by the bonds with G of where the step began. */
static int move(leap *p, double h, taut_error *error)
{
    const taut_index n = p->sizes.coordinates, m = p->sizes.bonds;
    double *q = p->q[1 - p->side];
    for (taut_index i = 0; i < n; i++)
        q[i] = p->at.q[i] + h * (p->at.v[i] + h / 2 * p->a[i]);
    if (m == 0)
        return TAUT_OK;
    TAUT_TRY(taut_evaluate_inside(p->at.context, p->at.t + h, q, NULL, TAUT_WANT_BOND, &p->values,
                                  error));
    taut_clear(n, p->x);
    for (taut_index i = 0; i < m; i++)
        p->y[i] = p->soft[i] ? 0 : -p->values.bond[i];
    TAUT_TRY(taut_saddle_solve(p->at.saddle, 1, p->x, p->y, error));
    taut_add_scaled(n, 1, p->x, q);
    return TAUT_OK;
}

/* f with the forces of soft springs, G without their rows and with them, at the present state. */
static int evaluate(leap *p, taut_error *error)
{
    const double *c = taut_context_compliance(p->at.context),
                 *tau = taut_context_damping(p->at.context);
    taut_values *x = &p->values;
    const unsigned mass = taut_context_masses(p->at.context) ? 0 : TAUT_WANT_MASS;
    const unsigned wanted =
        TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA | mass;
    TAUT_TRY(taut_evaluate_inside(p->at.context, p->at.t, p->at.q, p->at.v, wanted, x, error));
    if (p->all != x->jacobian)
        taut_copy(p->sizes.jacobian_entries, x->jacobian, p->all);
    for (taut_index i = 0; i < p->sizes.bonds; i++) {
        if (!p->soft[i])
            continue;
        double rate = x->bond_dt[i] + taut_row_dot(&p->jacobian, p->all, i, p->at.v);
        p->weight[i] = (x->bond[i] + tau[i] * rate) / c[i];
        taut_row_add(&p->jacobian, p->all, i, -p->weight[i], x->force);
        taut_row_clear(&p->jacobian, x->jacobian, i);
    }
    return TAUT_OK;
}

/* The velocity after h along the bonds there, from v = (q1 - q)/h + h a/2. */
static int turn(leap *p, double h, taut_error *error)
{
    const taut_index n = p->sizes.coordinates;
    for (taut_index i = 0; i < n; i++) {
        p->x[i] = h / 2 * p->values.force[i];
        p->v[i] -= h / 2 * p->a[i];
    }
    taut_mass_add(p->tangent.start ? &p->tangent : NULL, n, p->values.mass, 1, p->v, p->x);
    for (taut_index i = 0; i < p->sizes.bonds; i++)
        p->y[i] = p->soft[i] ? 0 : -p->values.bond_dt[i];
    TAUT_TRY(
        taut_saddle_factor(p->at.saddle, p->values.mass, p->values.jacobian, NULL, p->soft, error));
    TAUT_TRY(taut_saddle_solve(p->at.saddle, 1, p->x, p->y, error));
    taut_copy(n, p->x, p->v);
    return TAUT_OK;
}

/* Acceleration and multipliers of the rigid motion. */
static int solve(leap *p, double *force, taut_error *error)
{
    const taut_index n = p->sizes.coordinates, m = p->sizes.bonds;
    taut_copy(n, p->values.force, p->a);
    for (taut_index i = 0; i < m; i++)
        p->y[i] = p->soft[i] ? 0 : -p->values.gamma[i];
    TAUT_TRY(taut_saddle_solve(p->at.saddle, 1, p->a, p->y, error));
    *force = 0;
    for (taut_index i = 0; i < m; i++)
        if (!p->soft[i]) {
            p->weight[i] = p->y[i];
            *force = fmax(*force, fabs(p->y[i]));
        }
    return TAUT_OK;
}

static int leap_once(leap *p, double h, taut_later *to, taut_error *error)
{
    taut_rigid_motion *at = &p->at;
    TAUT_TRY(move(p, h, error));
    const double *q = p->q[1 - p->side];
    for (taut_index i = 0; i < p->sizes.coordinates; i++)
        p->v[i] = (q[i] - at->q[i]) / h + h / 2 * p->a[i]; /* gamma is evaluated with it */
    at->t += h;
    at->q = q;
    at->v = p->v;
    p->side = 1 - p->side;
    TAUT_TRY(evaluate(p, error));
    TAUT_TRY(turn(p, h, error));
    TAUT_TRY(solve(p, &to->force, error));
    at->mass = p->values.mass;
    at->jacobian = p->all;
    at->acceleration = p->a;
    at->weight = p->weight;
    to->t = at->t;
    return taut_slow_rate(at, &to->rate, error);
}

int taut_leaps(const taut_rigid_motion *from, const double *soft, taut_values *work, double rate,
               taut_later *later, int *count, taut_error *error)
{
    leap p = {.at = *from, .soft = soft, .values = *work};
    p.at.vectors = VECTORS;
    taut_arena_init(&p.arena, &from->context->arena.allocator);
    int status = create(&p, error), most = BUDGET / p.sizes.coordinates;
    most = most < 1 ? 1 : most > TAUT_LATER ? TAUT_LATER : most;
    const double part = most < 4 ? 1 : 0.5; /* of a radian */
    for (*count = 0; status == 0 && *count < most && rate > 0; (*count)++) {
        status = leap_once(&p, part / rate, &later[*count], error);
        if (status != 0)
            break;
        rate = fmax(rate, later[*count].rate);
    }
    taut_arena_clear(&p.arena);
    return status;
}
