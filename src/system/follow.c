/* follow.c - see follow.h: 0 = c(t,z,y) is solved for y by Newton's iteration with dc/dy,
 *
 *     y <- y - s (dc/dy)^-1 c,     s = 1, 1/2, 1/4, ... until |c| decreases,
 *
 * c in units of its rows of dc/dy, and ends where the corrections are rounding. */
#include "system/follow.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vectors.h"

enum { MOST_ITERATIONS = 60, MOST_HALVINGS = 20 };

struct taut_follow {
    taut_context *context;
    taut_index n, k; /* state variables, those that follow */
    taut_pattern jacobian;
    taut_values values;         /* bond, jacobian, bond_dt */
    taut_index *row;            /* [k] constraints that contain them */
    taut_index *start, *column; /* dc/dy, sorted */
    taut_index *place;          /* [entries of G] in dc/dy, -1: none */
    double *matrix, *residual, *step, *old;
    taut_saddle *saddle;
};

/* Column of G as a variable that follows; < 0: it does not. */
static taut_index variable(const taut_follow *w, taut_index column)
{
    return column - (w->n - w->k);
}

static taut_index insert(taut_index *to, taut_index count, taut_index value)
{
    taut_index at = count;
    for (taut_index k = 0; k < count; k++)
        if (to[k] == value)
            return count;
    for (; at > 0 && to[at - 1] > value; at--)
        to[at] = to[at - 1];
    to[at] = value;
    return count + 1;
}

/* Rows of G that contain the variables, and the pattern of dc/dy. */
static int find_rows(taut_follow *w, taut_index constraints, taut_error *error)
{
    const taut_pattern *g = &w->jacobian;
    taut_index rows = 0, used = 0;
    for (taut_index i = 0; i < constraints; i++) {
        taut_index count = 0, *here = w->column + used;
        for (taut_index e = g->start[i]; e < g->start[i + 1]; e++)
            if (variable(w, g->column[e]) >= 0)
                count = insert(here, count, variable(w, g->column[e]));
        if (count == 0)
            continue;
        if (rows == w->k)
            return taut_fail(error, TAUT_ERROR_REFUSED,
                             "more constraints contain algebraic variables than there are such "
                             "variables: the index is above 1");
        w->row[rows] = i;
        used += count;
        w->start[++rows] = used;
        for (taut_index e = g->start[i]; e < g->start[i + 1]; e++) {
            taut_index at = 0, y = variable(w, g->column[e]);
            while (at < count && here[at] != y)
                at++;
            w->place[e] = y >= 0 ? w->start[rows - 1] + at : -1;
        }
    }
    if (rows == w->k)
        return TAUT_OK;
    return taut_fail(
        error, TAUT_ERROR_REFUSED,
        "%d algebraic variables occur in %d constraints only: some members of a family "
        "of constraints do not contain them; write those on a line of their own",
        (int)w->k, (int)rows);
}

static int fill(taut_follow *w, taut_arena *arena, taut_error *error)
{
    const taut_sizes *sizes = &w->context->system->sizes;
    int64_t entries = sizes->jacobian_entries;
    TAUT_TRY(taut_system_pattern(w->context->system, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
    w->row = TAUT_NEW(arena, taut_index, w->k);
    w->start = TAUT_NEW(arena, taut_index, w->k + 1);
    w->column = TAUT_NEW(arena, taut_index, entries);
    w->place = TAUT_NEW(arena, taut_index, entries);
    TAUT_TRY(TAUT_RESERVE(arena, sizes->bonds, error, &w->values.bond, &w->values.bond_dt));
    TAUT_TRY(TAUT_RESERVE(arena, entries, error, &w->values.jacobian, &w->matrix));
    TAUT_TRY(TAUT_RESERVE(arena, w->k, error, &w->residual, &w->step, &w->old));
    TAUT_TRY(taut_arena_check(arena, error));
    TAUT_TRY(find_rows(w, sizes->constraints, error));
    taut_saddle_shape shape = {.n = w->k, .k_start = w->start, .k_column = w->column};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &arena->allocator, &w->saddle, error);
}

int taut_follow_create(taut_context *context, taut_arena *arena, taut_follow **follow,
                       taut_error *error)
{
    *follow = NULL;
    if (context->system->sizes.followed == 0)
        return TAUT_OK;
    taut_follow *w = TAUT_NEW(arena, taut_follow, 1);
    TAUT_NEED(error, w);
    w->context = context;
    w->n = context->system->sizes.coordinates;
    w->k = context->system->sizes.followed;
    int status = fill(w, arena, error);
    if (status == 0)
        *follow = w;
    else
        taut_follow_destroy(w);
    return status;
}

void taut_follow_destroy(taut_follow *w)
{
    if (w)
        taut_saddle_destroy(w->saddle);
}

/* dc/dy in matrix, c in residual; *size: the largest |c| over the length of its row. */
static int evaluate(taut_follow *w, double t, const double *z, double *size, taut_error *error)
{
    TAUT_TRY(taut_evaluate_inside(w->context, t, z, NULL, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN,
                                  &w->values, error));
    taut_clear(w->start[w->k], w->matrix);
    *size = 0;
    for (taut_index r = 0; r < w->k; r++) {
        taut_index i = w->row[r];
        double length = 0;
        for (taut_index e = w->jacobian.start[i]; e < w->jacobian.start[i + 1]; e++)
            if (w->place[e] >= 0)
                w->matrix[w->place[e]] += w->values.jacobian[e];
        for (taut_index e = w->start[r]; e < w->start[r + 1]; e++)
            length = fmax(length, fabs(w->matrix[e]));
        w->residual[r] = w->values.bond[i];
        *size = fmax(*size, fabs(w->residual[r]) / (length > 0 ? length : 1));
    }
    return TAUT_OK;
}

/* Names what is to blame: a variable whose column vanishes, a constraint whose row does. */
static int fail_singular(const taut_follow *w, double t, taut_error *error)
{
    const taut_system *system = w->context->system;
    char name[96], text[200] = "they do not determine these variables separately";
    for (taut_index y = 0; y < w->k; y++) {
        bool acts = false;
        for (taut_index e = 0; e < w->start[w->k]; e++)
            acts |= w->column[e] == y && w->matrix[e] != 0;
        if (acts)
            continue;
        taut_system_name(system, TAUT_COORDINATE, w->n - w->k + y, name, sizeof name);
        snprintf(text, sizeof text, "'%s' changes none of them", name);
        break;
    }
    for (taut_index r = 0; r < w->k; r++) {
        bool acts = false;
        for (taut_index e = w->start[r]; e < w->start[r + 1]; e++)
            acts |= w->matrix[e] != 0;
        if (acts)
            continue;
        taut_system_name(system, TAUT_BOND, w->row[r], name, sizeof name);
        snprintf(text, sizeof text, "no algebraic variable changes '%s'", name);
        break;
    }
    return taut_fail(
        error, TAUT_ERROR_SINGULAR,
        "the constraints that contain algebraic variables cannot be solved for them at "
        "t = %.9g: %s (the index is above 1 there). Other initial values may help; a "
        "constraint that holds for the state alone is written without algebraic "
        "variables",
        t, text);
}

/* One damped correction; *size: of c, before and after. *moved: over the size of y. */
static int correct(taut_follow *w, double t, double *z, double *size, double *moved,
                   taut_error *error)
{
    double *y = z + (w->n - w->k), factor = 1, after;
    int status = taut_saddle_factor(w->saddle, w->matrix, NULL, NULL, NULL, error);
    if (status == TAUT_ERROR_SINGULAR)
        return fail_singular(w, t, error);
    TAUT_TRY(status);
    taut_copy(w->k, w->residual, w->step);
    TAUT_TRY(taut_saddle_solve(w->saddle, 1, w->step, NULL, error));
    taut_copy(w->k, y, w->old);
    double scale = taut_largest(w->k, y);
    *moved = taut_largest(w->k, w->step);
    *moved = *moved > 0 ? *moved / fmax(scale, *moved) : 0;
    for (int k = 0; k <= MOST_HALVINGS; k++, factor /= 2) {
        for (taut_index i = 0; i < w->k; i++)
            y[i] = w->old[i] - factor * w->step[i];
        status = evaluate(w, t, z, &after, error);
        bool better = status == 0 && (after < *size || *moved < 1e-10);
        if (status != 0 && status != TAUT_ERROR_EVALUATE)
            return status;
        if (better) {
            *size = after;
            taut_error_clear(error);
            return TAUT_OK;
        }
    }
    *moved = NAN;
    return TAUT_OK;
}

int taut_follow_apply(taut_follow *w, double t, double *z, taut_error *error)
{
    double size, moved = 0;
    TAUT_TRY(evaluate(w, t, z, &size, error));
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(correct(w, t, z, &size, &moved, error));
        if (moved <= 8 * DBL_EPSILON || size == 0)
            return TAUT_OK;
        if (moved <= 1e-10 && k > 3) /* rounding, of equations that are hard to solve */
            return TAUT_OK;
        if (isnan(moved))
            break;
    }
    char name[96];
    taut_index worst = 0;
    for (taut_index r = 1; r < w->k; r++)
        worst = fabs(w->values.bond[w->row[r]]) > fabs(w->values.bond[w->row[worst]]) ? r : worst;
    taut_system_name(w->context->system, TAUT_BOND, w->row[worst], name, sizeof name);
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "no values of the algebraic variables that satisfy the constraints were found "
                     "at t = %.9g ('%s' remains %.3g): give values closer to them in [start]",
                     t, name, w->values.bond[w->row[worst]]);
}

int taut_context_settle(taut_context *context, double t, double *z, taut_error *error)
{
    taut_arena arena;
    taut_follow *follow = NULL;
    taut_arena_init(&arena, &context->arena.allocator);
    int status = taut_follow_create(context, &arena, &follow, error);
    if (status == 0 && follow)
        status = taut_follow_apply(follow, t, z, error);
    taut_follow_destroy(follow);
    taut_arena_clear(&arena);
    return status;
}
