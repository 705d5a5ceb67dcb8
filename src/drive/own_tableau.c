/* own_tableau.c - a run with an explicit Runge-Kutta method that the program gives as numbers.
 *
 *     sum_j a_ij = c_i, sum_i b_i c_i^(k-1) = 1/k for k = 1 .. order, sum_i e_i = 0
 *
 * are checked [Hairer, Norsett, Wanner I, II.1-2]: the first is what step/explicit.c assumes, the
 * others are necessary for the order. The method itself is that of step/explicit.c. */
#include "drive/solver.h"

#include <math.h>
#include <string.h>

#include "base/structs.h"
#include "step/methods.h"
#include "step/tableau.h"

static const double ROUNDING = 1e-10; /* coefficients are often printed with ten digits */

static int wrong(const char *what, int k, double is, double expected, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_USAGE,
                     "taut_solver_create_tableau: %s %d is %.12g, expected %.12g", what, k, is,
                     expected);
}

/* NaN fails too. */
static bool near(double x, double expected)
{
    return fabs(x - expected) <= ROUNDING;
}

static int check_rows(const taut_butcher_tableau *t, taut_error *error)
{
    for (int i = 0; i < t->stages; i++) {
        double sum = 0;
        for (int j = 0; j < t->stages; j++) {
            sum += t->a[i * t->stages + j];
            if (j >= i && t->a[i * t->stages + j] != 0)
                return wrong("the method must be explicit: the last entry of a in row", i,
                             t->a[i * t->stages + j], 0, error);
        }
        if (!near(sum, t->c[i]))
            return wrong("the sum of a in row", i, sum, t->c[i], error);
    }
    return TAUT_OK;
}

static int check(const taut_butcher_tableau *t, taut_error *error)
{
    TAUT_REQUIRE(t->stages >= 1 && t->stages < TAUT_TABLEAU_WIDTH && t->a && t->b && t->c);
    TAUT_REQUIRE(t->order >= 1 && t->embedded_order >= 0 && t->stability >= 0);
    TAUT_REQUIRE((t->e != NULL) == (t->embedded_order > 0));
    TAUT_TRY(check_rows(t, error));
    for (int k = 1; k <= t->order; k++) {
        double sum = 0;
        for (int i = 0; i < t->stages; i++)
            sum += t->b[i] * pow(t->c[i], k - 1);
        if (!near(sum, 1.0 / k))
            return wrong("the sum of b c^(k-1), for the order k =", k, sum, 1.0 / k, error);
    }
    double sum = 0;
    for (int i = 0; t->e && i <= t->stages; i++)
        sum += t->e[i];
    return near(sum, 0) ? TAUT_OK : wrong("the sum of e, of stages", t->stages, sum, 0, error);
}

/* A row of the method table, with its own copy of the numbers. */
static const taut_method *copy(taut_arena *arena, const taut_butcher_tableau *t)
{
    int stages = t->stages, width = stages + 1;
    const char *name = t->name ? t->name : "own";
    taut_method *method = TAUT_NEW(arena, taut_method, 1);
    taut_tableau *table = TAUT_NEW(arena, taut_tableau, 1);
    double *a = TAUT_NEW(arena, double, width *(width + 2));
    char *text = taut_arena_text(arena, name, strlen(name));
    if (!method || !table || !a || !text)
        return NULL;
    double *c = a + width * width, *e = c + width;
    for (int i = 0; i < stages; i++)
        memcpy(a + i * width, t->a + i * stages, (size_t)stages * sizeof *a);
    memcpy(a + stages * width, t->b, (size_t)stages * sizeof *a);
    memcpy(c, t->c, (size_t)stages * sizeof *c);
    c[stages] = 1;
    if (t->e)
        memcpy(e, t->e, (size_t)width * sizeof *e);
    *table =
        (taut_tableau){.stages = stages, .width = width, .a = a, .c = c, .error = t->e ? e : NULL};
    int lower = t->embedded_order < t->order ? t->embedded_order : t->order;
    *method = taut_rk4;
    method->name = text;
    method->order = t->order;
    method->error_order = t->e ? lower + 1 : 0;
    method->stability = t->stability;
    method->summary = "given by the program";
    method->reference = "";
    method->data = table;
    return method;
}

int taut_solver_create_tableau(const taut_system *system, const taut_options *options,
                               const taut_butcher_tableau *tableau, const taut_allocator *allocator,
                               taut_solver **solver, taut_error *error)
{
    taut_butcher_tableau own;
    taut_arena arena;
    taut_error_clear(error);
    if (solver)
        *solver = NULL;
    TAUT_REQUIRE(system && solver);
    TAUT_TRY(taut_struct_read(&own, sizeof own, tableau, "taut_butcher_tableau", error));
    TAUT_TRY(check(&own, error));
    taut_arena_init(&arena, allocator);
    const taut_method *method = copy(&arena, &own);
    int status = method ? taut_solver_create_own(system, options, method, allocator, solver, error)
                        : taut_fail_memory(error);
    if (status == 0)
        (*solver)->given = arena;
    else
        taut_arena_clear(&arena);
    return status;
}
