/* redundant.c - which rigid bonds follow from others.
 *
 * A rigid bond is redundant where its row of G depends on the rows of others, at the assembled
 * state, and where g = 0 of the others makes its own g vanish in the neighbourhood too. The second
 * condition separates it from a singular configuration (a linkage in its flat position), and from
 * bonds written as squares, whose gradient vanishes where they hold. It is tested at points on the
 * others, a small way along random directions that they leave free, and along the velocity.
 *
 * The state is assembled by least squares (Levenberg-Marquardt),
 *
 *     x <- x - M^-1 G^T (G M^-1 G^T + e diag)^-1 g,
 *
 * which converges for redundant bonds too. Where it ends with G^T g = 0 and g != 0, bonds
 * contradict each other.
 *
 * The independent subset: rows of G in the metric of M^-1, of unit length, by Cholesky with
 * pivots: the first one, in the order of the model, that is at least half as far from the span of
 * the rows before as the farthest. */
#include "system/redundant.h"

#include <math.h>
#include <stdio.h>

#include "base/random.h"
#include "base/rows.h"
#include "base/text.h"
#include "base/vectors.h"

/* Rows closer than this to the span of others depend on them; of an assembled state. */
static const double DEPENDS = 1e-8;
/* An assembled state violates its bonds by less, relative to the size of the system. */
static const double ASSEMBLED = 1e-9;
/* Way to points nearby, relative to the size; a bond that does not follow from the others is off
 * there by a part of its square. */
static const double NEARBY = 1e-3, OF_SQUARE = 1e-4;
/* Pivots of the subset are compared by their squares. */
static const double ENOUGH = 0.25;

enum { MOST_PIVOTED = 1000, MOST_ITERATIONS = 100, STALLED = 4, DIRECTIONS = 3 };

typedef struct examiner {
    taut_arena arena;
    taut_context *context;
    taut_error *error;
    taut_saddle *saddle;
    taut_pattern jacobian, tangent; /* of all bonds; of M, start NULL: a diagonal */
    taut_pattern rigid;             /* rows of the rigid bonds */
    taut_index n, m;                /* coordinates, rigid bonds */
    taut_index *row;                /* their bonds */
    taut_values values;
    double *entry, *g, *dt;   /* G, g, g_t of the rigid bonds */
    double *weight;           /* [n]: diagonal of M, 1 where it has none */
    double *active;           /* [entries]: G of the kept bonds */
    double *ease, *y, *best;  /* [m], [m], [n] */
    double *x, *step, *start; /* [n] */
    unsigned char *kept, *redundant;
    taut_index *partner, rank;
    bool refused; /* the bonds are no system that can move */
} examiner;

/* ---- evaluation */

static int select_rigid(examiner *e)
{
    const double *c = taut_context_compliance(e->context);
    taut_arena *arena = &e->arena;
    taut_index all = e->jacobian.rows, used = 0;
    int64_t entries = all > 0 ? e->jacobian.start[all] : 0;
    taut_index *start = TAUT_NEW(arena, taut_index, (int64_t)all + 1),
               *column = TAUT_NEW(arena, taut_index, entries);
    e->row = TAUT_NEW(arena, taut_index, all);
    TAUT_NEED(e->error, start, column, e->row);
    for (taut_index i = 0; i < all; i++) {
        if (c[i] > 0)
            continue;
        for (taut_index k = e->jacobian.start[i]; k < e->jacobian.start[i + 1]; k++)
            column[used++] = e->jacobian.column[k];
        e->row[e->m++] = i;
        start[e->m] = used;
    }
    e->rigid = (taut_pattern){e->m, e->n, start, column};
    return TAUT_OK;
}

static int reserve(examiner *e, const taut_sizes *sizes)
{
    taut_arena *a = &e->arena;
    taut_values *v = &e->values;
    int64_t entries = sizes->jacobian_entries;
    TAUT_TRY(TAUT_RESERVE(a, sizes->bonds, e->error, &v->bond, &v->bond_dt, &e->g, &e->dt, &e->ease,
                          &e->y));
    TAUT_TRY(TAUT_RESERVE(a, entries, e->error, &v->jacobian, &e->entry, &e->active));
    TAUT_TRY(TAUT_RESERVE(a, e->tangent.start ? e->tangent.start[e->n] : e->n, e->error, &v->mass));
    TAUT_TRY(TAUT_RESERVE(a, e->n, e->error, &e->weight, &e->best, &e->x, &e->step, &e->start));
    e->kept = TAUT_NEW(a, unsigned char, e->m);
    e->redundant = TAUT_NEW(a, unsigned char, e->m);
    e->partner = TAUT_NEW(a, taut_index, e->m);
    TAUT_NEED(e->error, e->kept, e->redundant, e->partner);
    for (taut_index i = 0; i < e->m; i++)
        e->kept[i] = 1;
    return TAUT_OK;
}

static int evaluate(examiner *e, double t, const double *x)
{
    const taut_values *v = &e->values;
    unsigned wanted = TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_MASS;
    TAUT_TRY(taut_evaluate_inside(e->context, t, x, NULL, wanted, &e->values, e->error));
    double *to = e->entry;
    for (taut_index i = 0; i < e->m; i++) {
        taut_index row = e->row[i];
        e->g[i] = v->bond[row];
        e->dt[i] = v->bond_dt[row];
        for (taut_index k = e->jacobian.start[row]; k < e->jacobian.start[row + 1]; k++)
            *to++ = v->jacobian[k];
    }
    for (taut_index i = 0; i < e->n; i++) {
        taut_index k = e->tangent.start ? taut_row_find(&e->tangent, i, i) : i;
        double mass = k < 0 ? 0 : v->mass[k];
        e->weight[i] = mass > 0 ? mass : 1;
    }
    return TAUT_OK;
}

/* |G_i| */
static double length_of(const examiner *e, taut_index i)
{
    return sqrt(taut_row_square(&e->rigid, e->entry, i, NULL));
}

/* How far the bonds of one kind are off, as a length: g_i/|G_i|; where the gradient vanishes, g_i.
 */
static double distance(const examiner *e, unsigned char kept)
{
    double off = 0;
    for (taut_index i = 0; i < e->m; i++) {
        double length = length_of(e, i);
        if (e->kept[i] == kept)
            off = taut_larger(off, fabs(e->g[i]) / (length > 0 ? length : 1));
    }
    return off;
}

static double size_of(const examiner *e)
{
    double size = taut_largest(e->n, e->x);
    return size > 0 ? size : 1;
}

/* ---- least squares */

/* Kept rows, each eased by `ease` of its own G M^-1 G^T. */
static int factor(examiner *e, double ease)
{
    for (taut_index i = 0; i < e->m; i++) {
        double own = taut_row_square(&e->rigid, e->entry, i, e->weight);
        bool solved = e->kept[i] && own > 0;
        for (taut_index k = e->rigid.start[i]; k < e->rigid.start[i + 1]; k++)
            e->active[k] = solved ? e->entry[k] : 0;
        e->ease[i] = solved ? ease * own : 1;
    }
    return taut_saddle_factor(e->saddle, e->weight, e->active, NULL, e->ease, e->error);
}

/* Root of the sum of the squares of the distances of the kept bonds. */
static double misfit(const examiner *e)
{
    double sum = 0;
    for (taut_index i = 0; i < e->m; i++) {
        double length = length_of(e, i);
        if (e->kept[i])
            sum += pow(e->g[i] / (length > 0 ? length : 1), 2);
    }
    return sqrt(sum);
}

static int take_step(examiner *e, double ease)
{
    TAUT_TRY(factor(e, ease));
    taut_clear(e->n, e->step);
    for (taut_index i = 0; i < e->m; i++)
        e->y[i] = e->kept[i] ? -e->g[i] : 0;
    TAUT_TRY(taut_saddle_solve(e->saddle, 1, e->step, e->y, e->error));
    double most = taut_largest(e->n, e->step), size = size_of(e);
    taut_add_scaled(e->n, most > 0.3 * size ? 0.3 * size / most : 1, e->step, e->x);
    return TAUT_OK;
}

/* Moves x onto the kept bonds, as far as possible; *off: what remains, as a length. */
static int assemble(examiner *e, double t, double *off)
{
    double before = INFINITY, ease = 1e-2;
    int stalled = 0;
    for (int k = 0; k < MOST_ITERATIONS && stalled < STALLED && ease < 1e8; k++) {
        TAUT_TRY(evaluate(e, t, e->x));
        double now = misfit(e), size = size_of(e);
        if (now < before) {
            taut_copy(e->n, e->x, e->best);
            ease = fmin(ease / 4, fmax(1e-8, now / size));
            stalled = now > 0.999 * before || now <= 1e-12 * size ? stalled + 1 : 0;
            before = now;
        } else {
            taut_copy(e->n, e->best, e->x);
            TAUT_TRY(evaluate(e, t, e->x));
            ease *= 16;
            stalled += now <= 1e-11 * size;
        }
        if (before <= 1e-15 * size || !isfinite(now))
            break;
        TAUT_TRY(take_step(e, ease));
    }
    taut_copy(e->n, e->best, e->x);
    TAUT_TRY(evaluate(e, t, e->x));
    *off = distance(e, 1);
    return TAUT_OK;
}

/* The bonds cannot hold together: sum u_i r_i = 0 for their unit gradients u_i and distances r_i.
 */
static bool stationary(examiner *e)
{
    double sum = 0;
    taut_clear(e->n, e->step);
    for (taut_index i = 0; i < e->m; i++) {
        double length = length_of(e, i), r = length > 0 ? e->g[i] / length : 0;
        if (length > 0)
            taut_row_add(&e->rigid, e->entry, i, r / length, e->step);
        sum += r * r;
    }
    return taut_norm(e->n, e->step) <= 0.1 * sqrt(sum); /* lengths of gradients change, too */
}

static int fail_conflict(examiner *e, double t)
{
    taut_index worst = 0, other = -1;
    char name[96], second[96] = "others";
    for (taut_index i = 0; i < e->m; i++)
        worst = fabs(e->g[i]) > 0.999 * fabs(e->g[worst]) ? i : worst;
    for (taut_index i = 0; i < e->m; i++)
        if (i != worst && (other < 0 || fabs(e->g[i]) > fabs(e->g[other])))
            other = i;
    taut_system_name(e->context->system, TAUT_BOND, e->row[worst], name, sizeof name);
    if (other >= 0 && fabs(e->g[other]) > 0.01 * fabs(e->g[worst]))
        taut_system_name(e->context->system, TAUT_BOND, e->row[other], second, sizeof second);
    taut_fail(
        e->error, TAUT_ERROR_CONVERGE,
        "rigid bond '%s' contradicts others such as '%s' at t = %.9g: they cannot hold "
        "together (the best compromise violates it by %.3g); correct one of them, omit it, or "
        "give it a stiffness",
        name, second, t, fabs(e->g[worst]));
    e->error->t = t;
    e->refused = true;
    return TAUT_ERROR_CONVERGE;
}

/* ---- the subset */

static int rank_of(examiner *e, double tolerance)
{
    taut_saddle_shape shape = {
        .n = e->n, .m = e->m, .g_start = e->rigid.start, .g_column = e->rigid.column};
    return taut_rank(&shape, e->entry, tolerance, NULL, &e->rank, e->redundant, e->partner, NULL,
                     &e->arena.allocator, e->error);
}

/* a[i][j] of unit rows in the metric of M^-1. */
static void fill_gram(const examiner *e, double *dense, double *a)
{
    for (taut_index i = 0; i < e->m; i++) {
        double own = sqrt(taut_row_square(&e->rigid, e->entry, i, e->weight));
        for (taut_index k = e->rigid.start[i]; own > 0 && k < e->rigid.start[i + 1]; k++)
            dense[e->rigid.column[k]] += e->entry[k] / (own * e->weight[e->rigid.column[k]]);
        for (taut_index j = 0; j < e->m; j++) {
            double other = sqrt(taut_row_square(&e->rigid, e->entry, j, e->weight));
            a[i * (int64_t)e->m + j] =
                other > 0 ? taut_row_dot(&e->rigid, e->entry, j, dense) / other : 0;
        }
        for (taut_index k = e->rigid.start[i]; k < e->rigid.start[i + 1]; k++)
            dense[e->rigid.column[k]] = 0;
    }
}

/* Takes the rows of the pivots, and what is left of the others. *taken: how many of e->rank. */
static void pivot(examiner *e, double *a, taut_index *taken)
{
    taut_index m = e->m;
    for (*taken = 0; *taken < e->rank; ++*taken) {
        double most = 0;
        taut_index next = 0;
        for (taut_index i = 0; i < m; i++)
            most = fmax(most, e->kept[i] ? 0 : a[i * (int64_t)(m + 1)]);
        if (!(most > 1e-13))
            return;
        while (e->kept[next] || a[next * (int64_t)(m + 1)] < ENOUGH * most)
            next++;
        e->kept[next] = 1;
        const double *line = a + next * (int64_t)m;
        for (taut_index i = 0; i < m; i++) {
            double factor = e->kept[i] ? 0 : line[i] / line[next];
            for (taut_index j = 0; j < m && factor != 0; j++)
                a[i * (int64_t)m + j] -= factor * line[j];
        }
    }
}

/* kept[]: e->rank independent rows; of many bonds, or of nearly dependent ones, those that do not
 * depend on earlier ones. */
static int choose_subset(examiner *e)
{
    taut_index taken = -1;
    for (taut_index i = 0; i < e->m; i++)
        e->kept[i] = 0;
    if (e->m <= MOST_PIVOTED) {
        double *a, *dense;
        TAUT_TRY(TAUT_RESERVE(&e->arena, (int64_t)e->m * e->m, e->error, &a));
        TAUT_TRY(TAUT_RESERVE(&e->arena, e->n, e->error, &dense));
        fill_gram(e, dense, a);
        pivot(e, a, &taken);
    }
    for (taut_index i = 0; i < e->m && taken < e->rank; i++)
        e->kept[i] = !e->redundant[i];
    return TAUT_OK;
}

/* ---- nearby */

static int fail_here_only(examiner *e, double t)
{
    taut_index worst = -1;
    char name[96];
    for (taut_index i = 0; i < e->m; i++)
        if (!e->kept[i] && (worst < 0 || fabs(e->g[i]) > fabs(e->g[worst])))
            worst = i;
    taut_system_name(e->context->system, TAUT_BOND, e->row[worst], name, sizeof name);
    taut_fail(e->error, TAUT_ERROR_SINGULAR,
              "at t = %.9g the initial state is a singular configuration: the gradient of rigid "
              "bond '%s' %s there, but the bond does not follow from the others; begin at another "
              "state, or write the bond in another form (length(u) - L, not a square)",
              t, name,
              e->partner[worst] < 0 && e->redundant[worst] ? "vanishes"
                                                           : "depends on those of others");
    e->error->t = t;
    e->refused = true;
    return TAUT_ERROR_SINGULAR;
}

/* x: a small way from the state, where the kept bonds let it move. *time: it is reached at. */
static int leave(examiner *e, uint64_t *seed, double t, const double *v, double *time)
{
    double size = taut_largest(e->n, e->start), rate = taut_largest(e->n, v);
    size = size > 0 ? size : 1;
    taut_copy(e->n, e->start, e->x);
    TAUT_TRY(evaluate(e, t, e->x));
    for (taut_index i = 0; i < e->m; i++) {
        double length = length_of(e, i);
        rate = taut_larger(rate, length > 0 ? fabs(e->dt[i]) / length : 0);
    }
    TAUT_TRY(factor(e, 1e-10));
    for (taut_index i = 0; i < e->n; i++)
        e->step[i] = e->weight[i] * taut_random(seed);
    taut_clear(e->m, e->y);
    TAUT_TRY(taut_saddle_solve(e->saddle, 1, e->step, e->y, e->error));
    double most = taut_largest(e->n, e->step), dt = rate > 0 ? NEARBY * size / rate : 0;
    *time = t + dt;
    taut_add_scaled(e->n, dt, v, e->x);
    if (most > 1e-6) /* else no direction is free */
        taut_add_scaled(e->n, NEARBY * size / most, e->step, e->x);
    return TAUT_OK;
}

/* Do the bonds that are not kept follow from the kept ones, in the neighbourhood? */
static int try_nearby(examiner *e, double t, const double *v)
{
    uint64_t seed = 1;
    for (int k = 0; k < DIRECTIONS; k++) {
        double time, off, size;
        TAUT_TRY(leave(e, &seed, t, v, &time));
        TAUT_TRY(assemble(e, time, &off));
        size = size_of(e);
        if (off <= ASSEMBLED * size && distance(e, 0) > OF_SQUARE * NEARBY * NEARBY * size)
            return fail_here_only(e, t);
    }
    return TAUT_OK;
}

/* ---- the result */

static void name_dropped(const examiner *e, char *text, size_t size)
{
    int shown = 0, more = 0;
    for (taut_index i = 0; i < e->m; i++) {
        char name[96];
        if (e->kept[i])
            continue;
        taut_system_name(e->context->system, TAUT_BOND, e->row[i], name, sizeof name);
        if (shown < 3)
            taut_append(text, size, "%s%s", shown++ ? ", " : "", name);
        else
            more++;
    }
    if (more > 0)
        taut_append(text, size, " and %d more", more);
}

static int derive(examiner *e, const taut_system *system, taut_redundancy *found)
{
    unsigned char *muted = TAUT_NEW(&e->arena, unsigned char, system->sizes.bonds);
    TAUT_NEED(e->error, muted);
    for (taut_index i = 0; i < e->m; i++)
        muted[e->row[i]] = !e->kept[i];
    found->rank = e->rank;
    name_dropped(e, found->text, sizeof found->text);
    return taut_system_without(system, muted, &found->independent, e->error);
}

static int examine(examiner *e, const taut_system *system, double t, const double *v,
                   taut_redundancy *found)
{
    double off;
    TAUT_TRY(evaluate(e, t, e->x));
    off = distance(e, 1) / size_of(e);
    /* rows that depend on each other where the bonds hold, do so nearly at this distance */
    TAUT_TRY(rank_of(e, fmin(0.3, fmax(DEPENDS, 30 * off))));
    found->rank = e->m;
    if (e->rank == e->m)
        return TAUT_OK;
    taut_saddle_shape shape = {.n = e->n,
                               .m = e->m,
                               .g_start = e->rigid.start,
                               .g_column = e->rigid.column,
                               .symmetric = true,
                               .positive = true};
    TAUT_TRY(
        taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &e->arena.allocator, &e->saddle, e->error));
    TAUT_TRY(assemble(e, t, &off));
    if (!(off <= ASSEMBLED * size_of(e)))
        return stationary(e) ? fail_conflict(e, t) : TAUT_OK;
    TAUT_TRY(rank_of(e, DEPENDS));
    if (e->rank == e->m)
        return TAUT_OK;
    taut_copy(e->n, e->x, e->start);
    TAUT_TRY(choose_subset(e));
    TAUT_TRY(try_nearby(e, t, v));
    return derive(e, system, found);
}

static int prepare(examiner *e, const taut_system *system, const taut_sizes *sizes)
{
    TAUT_TRY(taut_context_create(system, &e->arena.allocator, &e->context, e->error));
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &e->jacobian, e->error));
    if (sizes->mass != TAUT_MASS_DIAGONAL)
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &e->tangent, e->error));
    TAUT_TRY(select_rigid(e));
    return reserve(e, sizes);
}

int taut_redundancy_find(const taut_system *system, double t, const double *q, const double *v,
                         const taut_allocator *allocator, taut_redundancy *found, taut_error *error)
{
    taut_sizes sizes;
    taut_error reason = {.t = NAN};
    taut_system_sizes(system, &sizes);
    *found = (taut_redundancy){0};
    if (sizes.kind != TAUT_MECHANICAL || !(sizes.can & TAUT_HAS_RIGID) || system->part)
        return TAUT_OK; /* over ranks there is no rank-revealing factorisation */
    examiner e = {.n = sizes.coordinates, .error = &reason};
    taut_arena_init(&e.arena, allocator);
    int status = prepare(&e, system, &sizes);
    found->rows = e.m;
    if (status == 0 && e.m > 0) {
        taut_copy(e.n, q, e.x);
        status = examine(&e, system, t, v, found);
    }
    taut_saddle_destroy(e.saddle);
    taut_context_destroy(e.context);
    taut_arena_clear(&e.arena);
    /* what cannot be evaluated, or is too large to be examined, is left to those who need it */
    if (!e.refused)
        return taut_fail_final(status, &reason, error);
    if (error)
        *error = reason;
    return status;
}
