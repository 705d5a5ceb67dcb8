/* test_callbacks_faults.c - C functions that fail, stop or give NaN at any call; wrong
 * arguments; copies and defaults; memory. */
#include <taut/taut.h>

#include "base/error.h"
#include "support/faulty.h"
#include "support/functions.h"
#include "support/table.h"
#include "support/twins.h"

/* ---- return values */

static void test_returns(void)
{
    check_group("return values");
    static const struct {
        unsigned wanted;
        const char *name, *callback;
    } rows[] = {
        {TAUT_WANT_FORCE, "force", "'force'"},        {TAUT_WANT_BOND, "bond", "'bond'"},
        {TAUT_WANT_JACOBIAN, "G", "'bond'"},          {TAUT_WANT_GAMMA, "gamma", "'bond'"},
        {TAUT_WANT_BOND_HESSIAN, "Hess g", "'bond'"}, {TAUT_WANT_FORCE_DQ, "df/dq", "'force'"},
        {TAUT_WANT_FORCE_DV, "df/dv", "'force'"},     {TAUT_WANT_ENERGY, "energy", "'bond'"}};
    user u = {.moving = true};
    taut_callbacks c = pendulum(&u);
    taut_system *system = make(&c);
    twin a;
    if (!system || !twin_open(&a, system))
        return;
    const double weight[2] = {1, -1};
    a.values.bond_weight = weight;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        twin_close(&a);
        if (!twin_open(&a, system))
            return;
        a.values.bond_weight = weight;
        u.fail_at = u.force_calls = u.bond_calls = 0;
        int status = taut_evaluate(a.context, 0.5, pendulum_q, pendulum_v, rows[k].wanted,
                                   &a.values, &a.error);
        int64_t calls = u.force_calls + u.bond_calls;
        check_row(status == 0 && calls > 0, "%s: %d", rows[k].name, status);
        for (int64_t at = 1; at <= calls; at++)
            for (int way = 0; way < 2; way++) {
                /* a context in which a callback has asked to stop evaluates nothing more */
                twin_close(&a);
                if (!twin_open(&a, system))
                    return;
                a.values.bond_weight = weight;
                u.force_calls = u.bond_calls = 0;
                u.fail_at = at;
                u.fail_with = way ? -3 : 7;
                status = taut_evaluate(a.context, 0.5, pendulum_q, pendulum_v, rows[k].wanted,
                                       &a.values, &a.error);
                check_row(way ? status == TAUT_ERROR_STOPPED && a.error.code == status &&
                                    strstr(a.error.message, rows[k].callback) &&
                                    strstr(a.error.message, "-3") && fabs(a.error.t - 0.5) < 0.01
                              : status == TAUT_RETRY && strstr(a.error.message, "returned 7"),
                          "%s, call %lld of %lld returns %d: %d \"%s\" t = %g", rows[k].name,
                          (long long)at, (long long)calls, u.fail_with, status, a.error.message,
                          a.error.t);
                check_equal("no calls after the failure", u.force_calls + u.bond_calls, at);
                u.fail_at = 0;
                int again = taut_evaluate(a.context, 0.5, pendulum_q, NULL, TAUT_WANT_FORCE,
                                          &a.values, NULL);
                check_row(way ? again == TAUT_ERROR_STOPPED && u.force_calls + u.bond_calls == at
                              : again == 0,
                          "%s after %d: %d", rows[k].name, u.fail_with, again);
            }
    }
    twin_close(&a);
    if (!twin_open(&a, system))
        return;
    u.force_calls = u.bond_calls = 0;
    u.fail_at = 1;
    check_equal("failing without an error to fill",
                taut_evaluate(a.context, 0.5, pendulum_q, NULL, TAUT_WANT_FORCE, &a.values, NULL),
                TAUT_ERROR_STOPPED);
    twin_close(&a);
    taut_system_destroy(system);
}

static void test_nan(void)
{
    check_group("not a number");
    static const char *const coordinates[] = {"x1", "y1", "x2", "wheel[3].angle"},
                             *const bonds[] = {"inner", "outer"};
    user u = {0};
    taut_callbacks c = pendulum(&u);
    c.coordinate_names = coordinates;
    c.bond_names = bonds;
    taut_system *system = make(&c);
    twin a;
    if (!system || !twin_open(&a, system))
        return;
    const double weight[2] = {1, 1};
    a.values.bond_weight = weight;
    static const unsigned force_wants[] = {TAUT_WANT_FORCE, TAUT_WANT_FORCE_DQ, TAUT_WANT_FORCE_DV},
                          bond_wants[] = {TAUT_WANT_BOND, TAUT_WANT_JACOBIAN, TAUT_WANT_GAMMA,
                                          TAUT_WANT_BOND_HESSIAN};
    for (int k = 0; k < 3; k++) {
        u.nan_force = 4;
        int status = taut_evaluate(a.context, 2.25, pendulum_q, pendulum_v, force_wants[k],
                                   &a.values, &a.error);
        check_row(status == TAUT_ERROR_EVALUATE && strstr(a.error.message, "wheel[3].angle") &&
                      a.error.t == 2.25,
                  "force, wanted %x: %d \"%s\"", force_wants[k], status, a.error.message);
    }
    u.nan_force = 0;
    u.nan_bond = 2;
    for (int k = 0; k < 4; k++) {
        int status = taut_evaluate(a.context, 2.25, pendulum_q, pendulum_v, bond_wants[k],
                                   &a.values, &a.error);
        check_row(status == TAUT_ERROR_EVALUATE && strstr(a.error.message, "outer"),
                  "bond, wanted %x: %d \"%s\"", bond_wants[k], status, a.error.message);
    }
    check_equal("a name with brackets is found",
                taut_system_find(system, TAUT_COORDINATE, "wheel[3].angle"), 3);
    check_equal("a bond is found", taut_system_find(system, TAUT_BOND, "outer"), 1);
    check_equal("an unknown name is not",
                taut_system_find(system, TAUT_COORDINATE, "wheel[2].angle"), -1);
    twin_close(&a);
    taut_system_destroy(system);
}

/* Every optional function can give NaN too; where there is an item it has its name. */
static int nan_jacobian(void *data, double t, const double *q, double *entries)
{
    int status = pendulum_jacobian(data, t, q, entries);
    entries[4] = INFINITY; /* of the second bond */
    return status;
}

static int nan_gamma(void *data, double t, const double *q, const double *v, double *gamma)
{
    int status = pendulum_gamma(data, t, q, v, gamma);
    gamma[1] = NAN;
    return status;
}

static int nan_energy(void *data, double t, const double *q, double *potential)
{
    (void)data;
    (void)t;
    (void)q;
    *potential = NAN;
    return 0;
}

static int nan_mass(void *data, double t, const double *q, double *mass)
{
    int status = matrix_mass(data, t, q, mass);
    mass[4] = NAN; /* of the second coordinate */
    return status;
}

static void test_nan_optional(void)
{
    static const char *const bonds[] = {"inner", "outer"};
    static const struct {
        unsigned wanted;
        const char *words;
    } rows[] = {{TAUT_WANT_JACOBIAN, "outer"},
                {TAUT_WANT_GAMMA, "outer"},
                {TAUT_WANT_ENERGY, "energy"},
                {TAUT_WANT_BOND_HESSIAN, "outer"}};
    check_group("not a number, optional functions");
    user u = {0};
    const double weight[2] = {1, 1}, q[3] = {0.1, 0.2, 0.3}, v[3] = {1, 2, 3};
    taut_callbacks c = pendulum(&u);
    c.bond_names = bonds;
    c.jacobian_start = pendulum_start;
    c.jacobian_column = pendulum_column;
    c.jacobian = nan_jacobian;
    c.gamma = nan_gamma;
    c.energy = nan_energy;
    taut_system *system = make(&c);
    twin a;
    if (system && twin_open(&a, system)) {
        a.values.bond_weight = weight;
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            int status = taut_evaluate(a.context, 2.25, pendulum_q, pendulum_v, rows[k].wanted,
                                       &a.values, &a.error);
            check_row(status == TAUT_ERROR_EVALUATE && strstr(a.error.message, rows[k].words) &&
                          a.error.t == 2.25,
                      "wanted %x: %d \"%s\"", rows[k].wanted, status, a.error.message);
        }
        twin_close(&a);
    }
    taut_system_destroy(system);
    taut_callbacks heavy = {.size = sizeof heavy,
                            .coordinates = 3,
                            .bonds = 1,
                            .force = matrix_force,
                            .bond = matrix_bond,
                            .mass_matrix = nan_mass};
    system = make(&heavy);
    if (system && twin_open(&a, system)) {
        int status = taut_evaluate(a.context, 2.25, q, v, TAUT_WANT_MASS, &a.values, &a.error);
        check_row(status == TAUT_ERROR_EVALUATE && strstr(a.error.message, "q[2]") &&
                      a.error.t == 2.25,
                  "mass: %d \"%s\"", status, a.error.message);
        twin_close(&a);
    }
    taut_system_destroy(system);
}

/* ---- arguments */

static void wrong(const char *what, const taut_callbacks *c, int code, const char *words)
{
    faulty f = {0};
    taut_allocator allocator = faulty_allocator(&f);
    taut_error error = {0};
    taut_system *system = NULL;
    int status = taut_system_from_callbacks(c, &allocator, &system, &error);
    check_row(status == code && !system && strstr(error.message, words) && f.live == 0,
              "%s: %d \"%s\" without \"%s\", %lld left", what, status, error.message, words,
              (long long)f.live);
    taut_system_destroy(system);
}

static void test_wrong(void)
{
    check_group("wrong arguments");
    user u = {0};
#define WRONG(what, code, words, ...)                                                              \
    do {                                                                                           \
        taut_callbacks c = pendulum(&u);                                                           \
        __VA_ARGS__;                                                                               \
        wrong(what, &c, code, words);                                                              \
    } while (0)
    static const double minus[] = {1, -1, 1, 1}, infinite[] = {1, INFINITY, 1, 1},
                        damped[] = {0, 1};
    static const taut_index falling[] = {0, 2, 1}, late[] = {1, 2, 3},
                            outside[] = {0, 4, 1, 2, 3, 0}, twice[] = {0, 0, 1, 2, 3, 0};
    static const char *const empty[] = {"a", "", "c", "d"};
    check_equal("nothing at all", taut_system_from_callbacks(NULL, NULL, NULL, NULL),
                TAUT_ERROR_USAGE);
    WRONG("no force", TAUT_ERROR_USAGE, "'force' is required", c.force = NULL);
    WRONG("no bond", TAUT_ERROR_USAGE, "'bond' is required", c.bond = NULL);
    WRONG("no coordinates", TAUT_ERROR_USAGE, "0 coordinates", c.coordinates = 0);
    WRONG("negative number of bonds", TAUT_ERROR_USAGE, "-1 bonds", c.bonds = -1);
    WRONG("negative mass", TAUT_ERROR_USAGE, "mass[1] is -1", c.mass = minus);
    WRONG("infinite compliance", TAUT_ERROR_USAGE, "compliance[1] is inf", c.compliance = infinite);
    WRONG("a damped rod", TAUT_ERROR_USAGE, "damping[1] is 1", c.damping = damped);
    WRONG("infinite start", TAUT_ERROR_USAGE, "start_q[1] is inf", c.start_q = infinite);
    WRONG("an empty name", TAUT_ERROR_USAGE, "name 1 of the coordinates",
          c.coordinate_names = empty);
    WRONG("half a pattern", TAUT_ERROR_USAGE, "both", c.jacobian_start = pendulum_start);
    WRONG("rows that fall", TAUT_ERROR_USAGE, "row 1", c.jacobian_start = falling,
          c.jacobian_column = pendulum_column);
    WRONG("rows that begin late", TAUT_ERROR_USAGE, "begin with 0", c.jacobian_start = late,
          c.jacobian_column = pendulum_column);
    WRONG("a column outside", TAUT_ERROR_USAGE, "not a coordinate",
          c.jacobian_start = pendulum_start, c.jacobian_column = outside);
    WRONG("a column twice", TAUT_ERROR_USAGE, "second time in row 0",
          c.jacobian_start = pendulum_start, c.jacobian_column = twice);
    WRONG("a matrix beyond all bounds", TAUT_ERROR_SIZE, "too large",
          c = (taut_callbacks){.size = sizeof(taut_callbacks),
                               .coordinates = 1000000,
                               .bonds = 1000000,
                               .force = no_force,
                               .bond = unit_bond});
    u = (user){.fail_at = 1, .fail_with = -1};
    WRONG("a force that stops at once", TAUT_ERROR_STOPPED, "asked to stop", (void)0);
#undef WRONG
}

/* The caller's arrays may go away, and defaults are as documented. */
static void test_copies(void)
{
    check_group("copies and defaults");
    user u = {0};
    double mass[4] = {1, 2, 3, 4}, compliance[2] = {0.5, 0.25}, q[4] = {1, 2, 3, 4},
           v[4] = {5, 6, 7, 8};
    char name[4][8] = {"a", "b", "c", "d"}, text[32];
    const char *names[4] = {name[0], name[1], name[2], name[3]};
    taut_index start[3] = {0, 2, 6}, column[6] = {1, 0, 0, 1, 2, 3};
    taut_callbacks c = pendulum(&u);
    c.mass = mass;
    c.compliance = compliance;
    c.damping = NULL;
    c.start_q = q;
    c.start_v = v;
    c.coordinate_names = names;
    c.jacobian_start = start;
    c.jacobian_column = column;
    taut_system *system = make(&c);
    memset(mass, 0, sizeof mass);
    memset(compliance, 0, sizeof compliance);
    memset(q, 0, sizeof q);
    memset(v, 0, sizeof v);
    memset(name, 'z', sizeof name);
    memset(start, 0, sizeof start);
    memset(column, 0, sizeof column);
    memset(&c, 0, sizeof c);
    twin a;
    if (system && twin_open(&a, system)) {
        check_row(taut_context_start(a.context, 0, q, v, NULL) == 0 && q[3] == 4 && v[0] == 5,
                  "start: %g %g", q[3], v[0]);
        check_near("mass", taut_context_mass(a.context)[3], 4, 0);
        check_near("compliance", taut_context_compliance(a.context)[1], 0.25, 0);
        check_near("damping", taut_context_damping(a.context)[1], 0, 0);
        taut_system_name(system, TAUT_COORDINATE, 2, text, sizeof text);
        check_row(strcmp(text, "c") == 0, "name: %s", text);
        check_equal("pattern", a.jacobian.column[a.jacobian.start[1] + 3], 3);
        twin_close(&a);
    }
    taut_system_destroy(system);

    taut_callbacks least = {.size = sizeof least, .coordinates = 2, .force = no_force};
    system = make(&least);
    if (system && twin_open(&a, system)) {
        double x[2] = {9, 9}, y[2] = {9, 9};
        taut_context_start(a.context, 0, x, y, NULL);
        check_row(x[0] == 0 && x[1] == 0 && y[0] == 0 && y[1] == 0, "the start is 0");
        check_near("the mass is 1", taut_context_mass(a.context)[1], 1, 0);
        taut_system_name(system, TAUT_COORDINATE, 1, text, sizeof text);
        check_row(strcmp(text, "q[2]") == 0 &&
                      taut_system_find(system, TAUT_COORDINATE, "q[2]") == 1,
                  "name: %s", text);
        check_row(!(a.sizes.can & (TAUT_HAS_VELOCITY_FORCES | TAUT_CAN_JETS)), "bits %x",
                  a.sizes.can);
        int status = taut_evaluate(a.context, 0, x, y, ~0u >> 19, &a.values, &a.error);
        check_row(status == 0 && a.values.potential == 0 && a.values.kinetic == 0,
                  "everything at once: %d %s", status, a.error.message);
        taut_jet *jet;
        check_equal("no jets", taut_jet_create(a.context, 2, TAUT_WANT_FORCE, &jet, &a.error),
                    TAUT_ERROR_REFUSED);
        twin_close(&a);
    }
    taut_system_destroy(system);
}

/* ---- memory */

static int make_and_use(const taut_callbacks *c, const taut_allocator *allocator, taut_error *error)
{
    taut_system *system = NULL;
    taut_context *context = NULL;
    int status = taut_system_from_callbacks(c, allocator, &system, error);
    if (status == 0)
        status = taut_context_create(system, allocator, &context, error);
    taut_context_destroy(context);
    taut_system_destroy(system);
    return status;
}

static void test_memory(void)
{
    check_group("memory");
    static chain storage;
    user u = {0};
    taut_callbacks all[3] = {pendulum(&u),
                             make_chain(&storage, &u),
                             {.size = sizeof all[0],
                              .coordinates = 3,
                              .bonds = 1,
                              .force = matrix_force,
                              .bond = matrix_bond,
                              .mass_matrix = matrix_mass}};
    for (int which = 0; which < 3; which++) {
        faulty none = {0};
        taut_allocator allocator = faulty_allocator(&none);
        taut_error error = {0};
        int status = make_and_use(&all[which], &allocator, &error);
        check_row(status == 0 && none.live == 0, "system %d: %d %s, %lld left", which, status,
                  error.message, (long long)none.live);
        for (int64_t k = 1; k <= none.calls; k++) {
            faulty f = {.fail = k};
            allocator = faulty_allocator(&f);
            status = make_and_use(&all[which], &allocator, &error);
            check_row(status == TAUT_ERROR_MEMORY && error.code == status && f.live == 0,
                      "system %d, call %lld: %d \"%s\", %lld left", which, (long long)k, status,
                      error.message, (long long)f.live);
        }
    }
    /* nothing is allocated in evaluations */
    faulty counting = {0};
    taut_allocator allocator = faulty_allocator(&counting);
    taut_system *system = NULL;
    twin a;
    if (taut_system_from_callbacks(&all[0], &allocator, &system, NULL) == 0 &&
        twin_open(&a, system)) {
        const double weight[2] = {1, 1};
        a.values.bond_weight = weight;
        int64_t before = counting.calls;
        int status =
            taut_evaluate(a.context, 0, pendulum_q, pendulum_v, ~0u >> 19, &a.values, &a.error);
        check_row(status == 0 && counting.calls == before, "evaluate: %d, %lld allocations", status,
                  (long long)(counting.calls - before));
        twin_close(&a);
    }
    taut_system_destroy(system);
}

int main(void)
{
    test_returns();
    test_nan();
    test_nan_optional();
    test_wrong();
    test_copies();
    test_memory();
    return check_done();
}
