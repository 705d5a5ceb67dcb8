/* effective_start.c - where effective motion begins: the consistent state that belongs to one
 * that vibrates.
 *
 *     X = x + M(x)^-1 G(x)^T lambda, g(X) = 0   M(X) V = M(x) v + G(X)^T mu,
 *     G(X) V + g_t(X) = 0   [E (9)]
 *
 * The directions are those of x, so that this is the state that the impulse methods show of the
 * same initial state (15); the foot point, with directions of its own, is another one, apart by the
 * square of the amplitude. Newton's iteration takes [M(x) G(x)^T; G(X) 0]. Where something is
 * held, or the iteration does not end (x is far from the bonds), the foot point is what can be
 * had. */
#include <math.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "linalg/saddle.h"
#include "point/foot_point.h"
#include "point/hold/hold.h"
#include "system/system.h"
#include "vibration/effective.h"

enum { MOST_NEWTON = 40 };

typedef struct consistent {
    taut_projector projector;
    taut_projector *foot;
    taut_context *context;
    taut_index n, m, rows;
    bool directions; /* nothing is held */
    taut_index *row; /* [rows]: rigid bonds */
    taut_index *start, *column;
    double *at_x, *at_X; /* G at both points, on start, column */
    double *mass;        /* M(x) */
    taut_pattern jacobian, tangent;
    taut_values values;
    taut_saddle *saddle;
    double *X, *V, *dx, *y; /* [n], [n], [n], [rows] */
} consistent;

static void take_rows(const consistent *c, double *to)
{
    for (taut_index r = 0; r < c->rows; r++)
        for (taut_index e = c->jacobian.start[c->row[r]]; e < c->jacobian.start[c->row[r] + 1]; e++)
            *to++ = c->values.jacobian[e];
}

static int evaluate(consistent *c, double t, const double *q, taut_error *error)
{
    c->projector.statistics->force_evaluations++;
    return taut_evaluate_inside(c->context, t, q, NULL,
                                TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_MASS, &c->values,
                                error);
}

static int solve(consistent *c, const double *mass, const double *g1, const double *g2,
                 taut_error *error)
{
    c->projector.statistics->factorisations++;
    c->projector.statistics->solves++;
    TAUT_TRY(taut_saddle_factor(c->saddle, mass, g1, g2, NULL, error));
    return taut_saddle_solve(c->saddle, 1, c->dx, c->y, error);
}

/* to = M(x) v */
static void momentum(const consistent *c, const double *v, double *to)
{
    taut_clear(c->n, to);
    taut_mass_add(c->tangent.start ? &c->tangent : NULL, c->n, c->mass, 1, v, to);
}

/* X from x; the values are those of X at the end. */
static int find_position(consistent *c, double t, const double *x, taut_error *error)
{
    double before = INFINITY;
    taut_copy(c->n, x, c->X);
    TAUT_TRY(evaluate(c, t, x, error));
    take_rows(c, c->at_x);
    taut_copy(c->tangent.start ? c->tangent.start[c->n] : c->n, c->values.mass, c->mass);
    for (int k = 0; k < MOST_NEWTON; k++) {
        take_rows(c, c->at_X);
        taut_clear(c->n, c->dx);
        for (taut_index r = 0; r < c->rows; r++)
            c->y[r] = -c->values.bond[c->row[r]];
        TAUT_TRY(solve(c, c->mass, c->at_x, c->at_X, error));
        c->projector.statistics->newton_iterations++;
        taut_add(c->n, c->dx, c->X);
        double size = taut_largest(c->n, c->dx), scale = taut_largest(c->n, c->X);
        TAUT_TRY(evaluate(c, t, c->X, error));
        /* at rounding, or followed by a step that would be */
        if (size <= 1e-13 * scale || (size <= 1e-9 * scale && size <= 1e-4 * before))
            return TAUT_OK;
        before = size;
    }
    return taut_fail(error, TAUT_ERROR_CONVERGE, "the initial state is too far from the bonds");
}

static int find_state(consistent *c, double t, const double *q, const double *v, taut_error *error)
{
    TAUT_TRY(find_position(c, t, q, error));
    take_rows(c, c->at_X);
    momentum(c, v, c->dx);
    for (taut_index r = 0; r < c->rows; r++)
        c->y[r] = -c->values.bond_dt[c->row[r]];
    TAUT_TRY(solve(c, c->values.mass, c->at_X, NULL, error));
    taut_copy(c->n, c->dx, c->V);
    return TAUT_OK;
}

static int apply(taut_projector *projector, double t, double *q, double *v, taut_error *error)
{
    consistent *c = projector->self;
    taut_error reason;
    int status = c->directions ? find_state(c, t, q, v, &reason) : TAUT_ERROR_CONVERGE;
    if (status == TAUT_OK) {
        taut_copy(c->n, c->X, q);
        taut_copy(c->n, c->V, v);
        return TAUT_OK;
    }
    if (c->directions)
        TAUT_TRY(taut_fail_final(status, &reason, error));
    return c->foot->apply(c->foot, t, q, v, error);
}

static void destroy(taut_projector *projector)
{
    consistent *c = projector->self;
    if (c->foot && c->foot->destroy)
        c->foot->destroy(c->foot);
    taut_saddle_destroy(c->saddle);
    c->foot = NULL;
    c->saddle = NULL;
}

static int find_rows(consistent *c, taut_arena *arena, taut_error *error)
{
    const double *compliance = taut_context_compliance(c->context);
    c->row = TAUT_NEW(arena, taut_index, c->m);
    c->start = TAUT_NEW(arena, taut_index, (int64_t)c->m + 1);
    c->column = TAUT_NEW(arena, taut_index, c->jacobian.start[c->m]);
    TAUT_NEED(error, c->row, c->start, c->column);
    taut_index used = 0;
    for (taut_index i = 0; i < c->m; i++) {
        if (compliance[i] > 0)
            continue;
        for (taut_index e = c->jacobian.start[i]; e < c->jacobian.start[i + 1]; e++)
            c->column[used++] = c->jacobian.column[e];
        c->row[c->rows++] = i;
        c->start[c->rows] = used;
    }
    return TAUT_OK;
}

static int build(consistent *c, taut_arena *arena, taut_error *error)
{
    const taut_system *system = taut_context_system(c->context);
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    c->n = sizes.coordinates;
    c->m = sizes.bonds;
    TAUT_TRY(taut_foot_create(&taut_bond_foot, c->context, arena, c->projector.statistics, NULL,
                              &c->foot, error));
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &c->jacobian, error));
    if (sizes.mass != TAUT_MASS_DIAGONAL)
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &c->tangent, error));
    TAUT_TRY(find_rows(c, arena, error));
    int64_t entries = c->tangent.start ? c->tangent.start[c->n] : c->n;
    TAUT_TRY(TAUT_RESERVE(arena, c->n, error, &c->X, &c->V, &c->dx));
    TAUT_TRY(TAUT_RESERVE(arena, c->m, error, &c->y, &c->values.bond, &c->values.bond_dt));
    TAUT_TRY(TAUT_RESERVE(arena, entries, error, &c->mass, &c->values.mass));
    TAUT_TRY(TAUT_RESERVE(arena, sizes.jacobian_entries, error, &c->at_x, &c->at_X,
                          &c->values.jacobian));
    c->directions = !taut_hold_any(taut_system_hold(system), c->n,
                                   TAUT_HOLD_POSITION | TAUT_HOLD_VELOCITY | TAUT_GUESS);
    taut_saddle_shape shape = {.n = c->n,
                               .m = c->rows,
                               .k_start = c->tangent.start,
                               .k_column = c->tangent.column,
                               .g_start = c->start,
                               .g_column = c->column,
                               .positive = true};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &arena->allocator, &c->saddle, error);
}

int taut_effective_projector(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                             taut_projector **projector, taut_error *error)
{
    *projector = NULL;
    consistent *c = TAUT_NEW(arena, consistent, 1);
    TAUT_NEED(error, c);
    c->context = context;
    c->projector = (taut_projector){.name = "consistent",
                                    .apply = apply,
                                    .destroy = destroy,
                                    .statistics = statistics,
                                    .self = c};
    int status = build(c, arena, error);
    if (status != 0) {
        destroy(&c->projector);
        return status;
    }
    *projector = &c->projector;
    return TAUT_OK;
}
