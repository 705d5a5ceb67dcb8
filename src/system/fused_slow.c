/* fused_slow.c - levels of slow motion as nodes: the recursion of slow/multiplier_recursion.c.
 *
 *     M x_i + G^T l_i = f_i - sum_{b=1..i} (i over b) (M_b x_{i-b} + G_b^T l_{i-b})
 *     (D^(i+2) g)(x_i) = y_{i+2}
 *
 * with derivatives in time, instead of Taylor coefficients, as indices; x accelerations, l
 * multipliers. y is 0 at level 0 and (1 + T d/dt)^-1 C l of the level before at others. One
 * factorisation serves all. f, gdot, G and M are differentiated along (v, x, x', ..., 1), one
 * sweep for each order; D^(i+2) g is G x_i and a rest, which is the derivative of D^(i+1) g along
 * directions that do not have x_i yet. In these x and its derivatives are inputs that stand for
 * the nodes they are, so that nothing is differentiated through the solution of the equations. */
#include "system/fused_graph.h"

#include <string.h>

typedef struct slow {
    taut_fuser *f;
    int orders;               /* of level 0 */
    int32_t count;            /* of roots: */
    int32_t force, mass, row; /* ... where these begin; gdot of rigid bonds is the first */
    int32_t **root;           /* [orders + 1]: derivatives of all roots */
    int32_t **x, **lambda;    /* [orders + 1][n], [rigid bonds] */
    int32_t **y;              /* [orders + 3][rigid bonds] */
    int32_t *slot, *seed;     /* of the direction; so many: */
    int directions;
} slow;

/* Of level j; as order_of in slow/multiplier_recursion.c. */
static int order_of(const taut_fuser *f, int j)
{
    const bool damped = f->system->sizes.can & TAUT_HAS_DAMPING;
    const int level = f->fused->level;
    return 2 * (level - j) + (f->fused->kind == TAUT_FUSED_MANIFOLD) + (damped ? level : 0);
}

static void direct(slow *s, int32_t slot, int32_t seed)
{
    s->slot[s->directions] = slot;
    s->seed[s->directions++] = seed;
}

/* Inputs that stand for x_i: what changes with x_{i-1}, or with v, changes by them. */
static void stand_for(slow *s, int level, int i)
{
    taut_fuser *f = s->f;
    double value;
    for (taut_index k = 0; k < f->n; k++) {
        const int32_t place = (level * (s->orders + 1) + i) * f->n + k;
        int32_t *x = &s->x[i][k];
        if (!taut_graph_is_constant(f->graph, *x, &value)) {
            f->stands[place] = *x;
            *x = taut_graph_input(f->graph, f->slot + place);
        }
        direct(s, i > 0 ? f->slot + place - f->n : f->n + k, *x);
    }
}

/* total += a b */
static void add(const taut_fuser *f, int32_t *total, int32_t a, int32_t b)
{
    *total = taut_fused_sum(f, *total, taut_fused_product(f, a, b));
}

/* total += factor part */
static void add_times(const taut_fuser *f, int32_t *total, double factor, int32_t part)
{
    add(f, total, taut_graph_constant(f->graph, factor), part);
}

/* What the equations of order i hold apart from its unknowns: force and r. */
static void right_sides(const slow *s, int i, int32_t *force, int32_t *r)
{
    const taut_fuser *f = s->f;
    const taut_index n = f->n, rods = f->rods;
    double binomial = 1;
    taut_graph_derivatives(f->graph, rods, s->root[i], s->directions, s->slot, s->seed, r);
    memcpy(force, s->root[i] + s->force, (size_t)n * sizeof *force);
    for (int b = 1; b <= i; b++) {
        const int32_t *mass = s->root[b] + s->mass, *row = s->root[b] + s->row;
        const int32_t *x = s->x[i - b], *lambda = s->lambda[i - b];
        binomial = binomial * (i - b + 1) / b;
        for (taut_index k = 0; k < n; k++) {
            int32_t part = f->zero;
            for (taut_index j = 0; j < n && s->row > s->mass; j++)
                add(f, &part, mass[k * n + j], x[j]);
            for (taut_index j = 0; j < rods; j++)
                add(f, &part, row[j * n + k], lambda[j]);
            add_times(f, &force[k], -binomial, part);
        }
    }
    for (taut_index j = 0; j < rods; j++)
        r[j] = taut_fused_difference(f, r[j], s->y[i + 2][j]);
}

/* Of q and t. */
static void direct_first(slow *s)
{
    const taut_fuser *f = s->f;
    s->directions = 0;
    direct(s, 2 * f->n, taut_graph_constant(f->graph, 1));
    for (taut_index k = 0; k < f->n; k++)
        direct(s, k, taut_graph_input(f->graph, f->n + k));
}

/* x and lambda up to an order. */
static void make_level(slow *s, int level, int order)
{
    taut_fuser *f = s->f;
    int32_t force[TAUT_FUSED_COORDINATES], r[TAUT_FUSED_RODS];
    direct_first(s);
    for (int i = 0; i <= order; i++) {
        if (i > 0) {
            stand_for(s, level, i - 1);
            taut_graph_derivatives(f->graph, s->count, s->root[i - 1], s->directions, s->slot,
                                   s->seed, s->root[i]);
        }
        if (taut_graph_status(f->graph, NULL))
            return;
        right_sides(s, i, force, r);
        taut_fused_solve(f, force, r, s->lambda[i], s->x[i]);
    }
}

/* y of the level that was made, to its order; the next one is 0. */
static void make_y(slow *s, int order)
{
    const taut_fuser *f = s->f;
    const bool damped = f->system->sizes.can & TAUT_HAS_DAMPING;
    for (taut_index j = 0; j < f->rods; j++) {
        const int32_t tau = damped ? taut_fused_damping(f, f->rod[j]) : f->zero;
        s->y[order + 1][j] = f->zero;
        for (int i = order; i >= 0; i--)
            s->y[i][j] = taut_fused_difference(
                f, taut_fused_product(f, taut_fused_compliance(f, f->rod[j]), s->lambda[i][j]),
                taut_fused_product(f, tau, s->y[i + 1][j]));
    }
}

static int32_t **new_rows(const taut_fuser *f, int rows, int64_t width)
{
    int32_t **row = TAUT_NEW(f->scratch, int32_t *, rows);
    for (int k = 0; row && k < rows; k++) {
        row[k] = TAUT_NEW(f->scratch, int32_t, width);
        for (int64_t i = 0; row[k] && i < width; i++)
            row[k][i] = f->zero;
        row = row[k] ? row : NULL;
    }
    return row;
}

/* The arrays, and all roots themselves, before M is factorised. */
static bool begin(slow *s)
{
    taut_fuser *f = s->f;
    const int64_t n = f->n, places = (f->fused->level + 1) * (s->orders + 1) * n;
    const bool varying = f->system->sizes.can & TAUT_HAS_VARYING_MASS;
    s->force = f->fused->rods;
    s->mass = s->force + f->n;
    s->row = s->mass + (varying ? f->n * f->n : 0);
    s->count = s->row + f->fused->rods * f->n;
    s->root = new_rows(f, s->orders + 1, s->count);
    s->x = new_rows(f, s->orders + 1, n);
    s->lambda = new_rows(f, s->orders + 1, f->fused->rods);
    s->y = new_rows(f, s->orders + 3, f->fused->rods);
    s->slot = TAUT_NEW(f->scratch, int32_t, 2 * n + 1 + places);
    s->seed = TAUT_NEW(f->scratch, int32_t, 2 * n + 1 + places);
    f->stands = TAUT_NEW(f->scratch, int32_t, places);
    if (!s->root || !s->x || !s->lambda || !s->y || !s->slot || !s->seed || !f->stands)
        return false;
    int32_t *root = s->root[0];
    for (taut_index i = 0, j = 0; i < f->m; i++)
        if (f->fused->rigid[i]) {
            root[j] = f->bond[i];
            memcpy(root + s->row + j++ * n, f->row + i * n, (size_t)n * sizeof *root);
        }
    direct_first(s);
    taut_graph_derivatives(f->graph, f->fused->rods, root, s->directions, s->slot, s->seed, root);
    memcpy(root + s->force, f->force, (size_t)n * sizeof *root);
    if (varying)
        memcpy(root + s->mass, f->mass, (size_t)(n * n) * sizeof *root);
    return true;
}

int taut_fused_slow(taut_fuser *f)
{
    slow s = {.f = f, .orders = order_of(f, 0)};
    if (!begin(&s))
        return TAUT_ERROR_MEMORY;
    taut_fused_factor(f);
    for (int j = 0; j <= f->fused->level; j++) {
        make_level(&s, j, order_of(f, j));
        make_y(&s, order_of(f, j));
    }
    for (taut_index j = 0; j < f->rods; j++) {
        f->lambda[f->rod[j]] = s.lambda[0][j];
        if (f->fused->kind == TAUT_FUSED_MANIFOLD) {
            f->x[f->rod[j]] = s.y[0][j];
            f->x[f->m + f->rod[j]] = s.y[1][j];
        }
    }
    if (f->fused->kind == TAUT_FUSED_ACCELERATION)
        memcpy(f->x, s.x[0], (size_t)f->n * sizeof *f->x);
    return 0;
}
