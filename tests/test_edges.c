/* test_edges.c - where expressions and systems come to an end: powers of zero, planar torsion,
 * roots at zero inside matrices, parameters that would turn a system into another kind of
 * system. Expected values are limits known from calculus. */
#include <taut/taut.h>

#include "support/faulty.h"
#include "support/table.h"
#include "support/twins.h"

/* ---- derivatives */

typedef struct point {
    taut_system *system;
    taut_context *context;
    double g, G[2], gamma, hessian[4]; /* of one bond in x and y */
    int status, matrix_status;
    taut_error error, matrix_error;
} point;

static point look(const char *parameters, const char *bond, double x, double y, double vx,
                  double vy)
{
    char text[400];
    point p = {0};
    snprintf(text, sizeof text,
             "[parameters]\n%s\n[coordinates]\nx, y\n[bonds]\nb = %s + 0*x*y  stiffness 1\n",
             parameters, bond);
    p.system = twin_parse(text, NULL);
    if (!p.system || taut_context_create(p.system, NULL, &p.context, &p.error)) {
        p.status = p.matrix_status = -99;
        return p;
    }
    taut_pattern G, T;
    double q[2] = {x, y}, v[2] = {vx, vy}, entries[2], dt[1], one = 1, matrix[4];
    taut_system_pattern_get(p.system, TAUT_PATTERN_JACOBIAN, &G, NULL);
    taut_system_pattern_get(p.system, TAUT_PATTERN_TANGENT, &T, NULL);
    taut_values values = {.size = sizeof values,
                          .bond = &p.g,
                          .jacobian = entries,
                          .bond_dt = dt,
                          .gamma = &p.gamma,
                          .bond_weight = &one,
                          .bond_hessian = matrix};
    p.status =
        taut_evaluate(p.context, 0, q, v, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA,
                      &values, &p.error);
    for (taut_index k = G.start[0]; k < G.start[1]; k++)
        p.G[G.column[k]] += entries[k];
    p.matrix_status =
        taut_evaluate(p.context, 0, q, v, TAUT_WANT_BOND_HESSIAN, &values, &p.matrix_error);
    for (taut_index i = 0; i < 2; i++)
        for (taut_index k = T.start[i]; k < T.start[i + 1]; k++)
            p.hessian[2 * i + T.column[k]] = matrix[k];
    return p;
}

static void forget(point *p)
{
    taut_context_destroy(p->context);
    taut_system_destroy(p->system);
}

/* At (x, y) = (0, 1/2), along the velocity (1, 0): value, first and second derivative in x. */
static void test_powers(void)
{
    static const struct {
        const char *parameters, *bond;
        double value, first, second;
    } rows[] = {
        {"n = 0", "x^n", 1, 0, 0},
        {"n = 1", "x^n", 0, 1, 0},
        {"n = 2", "x^n", 0, 0, 2},
        {"n = 3", "x^n", 0, 0, 0},
        {"n = 1", "(x^2)^n", 0, 0, 2},
        {"n = 1", "y*x^n", 0, 0.5, 0},
        {"n = 1", "sin(x)^n", 0, 1, 0},
        {"n = 1", "(x + y)^n", 0.5, 1, 0},
        {"n = 0", "(x + y)^(n*x + 2)", 0.25, 1, 2},
    };
    check_group("powers of zero");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        point p = look(rows[k].parameters, rows[k].bond, 0, 0.5, 1, 0);
        check_row(p.status == 0 && p.matrix_status == 0, "%s, %s: %s %s", rows[k].bond,
                  rows[k].parameters, p.error.message, p.matrix_error.message);
        check_near(rows[k].bond, p.g, rows[k].value, 0);
        check_near(rows[k].bond, p.G[0], rows[k].first, 1e-15);
        check_near(rows[k].bond, p.gamma, rows[k].second, 1e-15);
        check_near(rows[k].bond, p.hessian[0], rows[k].second, 1e-15);
        forget(&p);
    }
}

/* An exponent that moves through 0: d/dx (y^x) = y^x log y, and d^2/dx dy = y^(x-1) (1 + x log
 * y), at x = 0. */
static void test_moving_exponent(void)
{
    check_group("an exponent that is 0 for a moment");
    point p = look("n = 1", "y^x", 0, 0.5, 1, 1);
    check_near("value", p.g, 1, 0);
    check_near("by the exponent", p.G[0], log(0.5), 1e-15);
    check_near("by the base", p.G[1], 0, 0);
    check_near("mixed", p.hessian[1], 2, 1e-14);
    check_near("mixed, the other way", p.hessian[2], 2, 1e-14);
    forget(&p);
}

/* d asin(u)/du = 1/sqrt(1 - u^2) = 1/sqrt(d (2 - d)) where u = 1 - d; d is exact in binary, so
 * that nothing is lost before. */
static void test_near_one(void)
{
    check_group("asin and acos near 1");
    for (int k = 10; k <= 50; k += 10) {
        double d = ldexp(1, -k), exact = 1 / sqrt(d * (2 - d));
        point p = look("n = 1", "asin(x)", 1 - d, 0, 1, 0),
              r = look("n = 1", "acos(x)", 1 - d, 0, 1, 0);
        check_near("asin", p.G[0] / exact, 1, 4e-16);
        check_near("acos", r.G[0] / exact, -1, 4e-16);
        forget(&p);
        forget(&r);
    }
}

/* Angles lie in (-pi, pi]: a planar zigzag is trans, whatever the signs of its zeros. */
static void test_planar(void)
{
    static const char *const rows[] = {
        "dihedral((1, 1, x), (1, -1, 0), (1, 1, 0))", "dihedral((1, 1, -x), (1, -1, 0), (1, 1, 0))",
        "dihedral((1, 0, x), (0, 1, 0), (1, 0, 0))", "atan2(-x, y - 1)", "atan2(x, y - 1)"};
    check_group("planar");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int sign = -1; sign < 2; sign += 2) {
            point p = look("n = 1", rows[k], copysign(0, sign), 0.5, 0, 0);
            check_near(rows[k], p.g, 3.14159265358979323846, 0);
            forget(&p);
        }
}

/* ---- what is not a number */

static void test_not_finite(void)
{
    check_group("not finite");
    point p = look("n = 1", "y + x^1.5", 0, 1, 0, 0); /* the second derivative of x^1.5 at 0 */
    check_row(p.status == TAUT_ERROR_EVALUATE || p.gamma != p.gamma, "gamma: %d, %g", p.status,
              p.gamma);
    check_equal("weighted Hessian", p.matrix_status, TAUT_ERROR_EVALUATE);
    check_contains("its row", p.matrix_error.message, "row of x");
    forget(&p);

    static const char text[] =
        "[coordinates]\nx, u\n[mass]\nu = 1 + sqrt(x)\n[forces]\nx = x^1.5 + abs(u')^0.5*0\nu = "
        "sqrt(u')*x\n"
        "[stiff potential]\n(u + 1)^2 + x^1.5  scale 10\n[bonds]\nb = u - sqrt(t)  stiffness 1\n";
    static const struct {
        const char *name;
        unsigned wanted;
        double x, v;
        const char *message;
    } rows[] = {{"mass", TAUT_WANT_MASS, -1, 1, "mass matrix is not finite in the row of u"},
                {"derivative of the mass", TAUT_WANT_MASS_DQ, 0, 1,
                 "derivative of the mass matrix is not finite in the row of u"},
                {"df/dv", TAUT_WANT_FORCE_DV, 1, 0, "by velocities is not finite in the row of u"},
                {"df/dq", TAUT_WANT_FORCE_DQ, -1, 1,
                 "derivative of the forces is not finite in the row of x"},
                {"stiff Hessian", TAUT_WANT_STIFF_HESSIAN, 0, 1,
                 "stiff potential is not finite in the row of x"},
                {"momentum", TAUT_WANT_MOMENTUM, -1, 1, "momentum of u"},
                {"g_t", TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, 1, 1, "time derivative of bond b"}};
    taut_system *system = twin_parse(text, NULL);
    taut_context *context = NULL;
    taut_error error = {0};
    if (!system || taut_context_create(system, NULL, &context, &error)) {
        check_row(false, "context: %s", error.message);
        taut_system_destroy(system);
        return;
    }
    double force[2], bond[1], jacobian[2], dt[1], m1[4], m2[4], m3[4], m4[4], m5[4], momentum[2],
        weight[2] = {1, 1};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double q[2] = {rows[k].x, 1}, v[2] = {0, rows[k].v};
        taut_values values = {.size = sizeof values,
                              .force = force,
                              .bond = bond,
                              .jacobian = jacobian,
                              .bond_dt = dt,
                              .force_dq = m1,
                              .force_dv = m2,
                              .mass = m3,
                              .mass_dq = m4,
                              .stiff_hessian = m5,
                              .momentum = momentum,
                              .mass_weight = weight};
        int status = taut_evaluate(context, 0, q, v, rows[k].wanted, &values, &error);
        check_equal(rows[k].name, status, TAUT_ERROR_EVALUATE);
        check_contains(rows[k].name, error.message, rows[k].message);
        check_near(rows[k].name, error.t, 0, 0);
    }
    taut_context_destroy(context);
    taut_system_destroy(system);
}

/* ---- parameters and kinds */

static void test_refused_values(void)
{
    static const char text[] =
        "[parameters]\nm = 2\nc = 1e-4\nd = 1\nk = 1/d\n[coordinates]\nx, y\n[mass]\nx = m\n"
        "[bonds]\nspring = x - 1  compliance c\nother = y  stiffness k\n";
    static const struct {
        const char *name;
        double value;
        const char *message; /* NULL: accepted */
    } rows[] = {{"m", 3, NULL},
                {"m", -1, "mass of x is -1"},
                {"m", 0, "mass of x is 0"},
                {"c", 1e-3, NULL},
                {"c", 0, "spring would become rigid"},
                {"c", -1, "compliance -1"},
                {"d", 2, NULL},
                {"d", 0, "parameter k has no finite value"}};
    check_group("refused values");
    taut_system *system = twin_parse(text, NULL);
    taut_context *context = NULL;
    taut_error error = {0};
    if (!system || taut_context_create(system, NULL, &context, &error)) {
        check_row(false, "context: %s", error.message);
        taut_system_destroy(system);
        return;
    }
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_index which = taut_system_find(system, TAUT_PARAMETER, rows[k].name);
        double before = taut_context_parameter(context, which),
               mass = taut_context_mass(context)[0];
        memset(&error, 0, sizeof error);
        int status = taut_context_set_parameter(context, which, rows[k].value, &error);
        check_equal(rows[k].name, status, rows[k].message ? TAUT_ERROR_USAGE : 0);
        if (!rows[k].message)
            continue;
        check_contains(rows[k].name, error.message, rows[k].message);
        check_near("the old value stays", taut_context_parameter(context, which), before, 0);
        check_near("and its mass", taut_context_mass(context)[0], mass, 0);
    }
    taut_context_destroy(context);
    taut_system_destroy(system);
}

static unsigned capabilities(const char *text)
{
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system *system = twin_parse(text, NULL);
    if (system)
        taut_system_sizes_get(system, &sizes, NULL);
    taut_system_destroy(system);
    return sizes.can;
}

/* A coordinate without kinetic energy has no mass; M is then not invertible by construction. */
static void test_massless(void)
{
    static const struct {
        const char *text;
        bool invertible;
    } rows[] = {
        {"[coordinates]\nx, y\n[kinetic]\nx'^2/2\n", false},
        {"[coordinates]\nx, y\n[kinetic]\nx'^2/2\ny^2*y'^2\n", true},
        {"[coordinates]\nx, y\n[kinetic]\nx'^2/2 + y*x'\n", false},
        {"[coordinates]\nx[i] for i in 1..3\n[kinetic]\nsum(x[i]'^2 for i in 1..3)\n", true},
        {"[coordinates]\nx[i] for i in 1..3\n[kinetic]\nsum(x[i]'^2 for i in 1..2)\n", false},
        {"[coordinates]\nx, y\n[mass]\ny = 0\n", false}};
    check_group("massless");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        check_equal(rows[k].text, !!(capabilities(rows[k].text) & TAUT_CAN_INVERT_MASS),
                    rows[k].invertible);
}

/* A name is a number or a particle, not both. */
static void test_two_kinds(void)
{
    static const char text[] = "[coordinates]\np[0]\n[particles]\ndimension = 2\np[i] for i in "
                               "1..3\n[start]\np[1] = (1, 2)\n";
    taut_system *system = NULL;
    taut_error error = {0};
    check_group("two kinds");
    check_equal("status", taut_system_parse(text, sizeof text - 1, "test", NULL, &system, &error),
                TAUT_ERROR_MODEL);
    check_contains("message", error.message, "'p' is a number elsewhere (line 2)");
    check_equal("line", error.line, 5);
    taut_system_destroy(system);
}

/* The fuzzer's seeds, made to contain what shipped models do not: each loads, and its
 * derivatives agree with differences. */
static void test_seeds(void)
{
    static const char *const names[] = {"tables",  "dims", "definitions",
                                        "kinetic", "mass", "first_order"};
    check_group("seeds");
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        char path[400];
        taut_load how = {.size = sizeof how, .table_folder = TAUT_SOURCE_DIR "/models"};
        taut_system *system = NULL;
        taut_check_report report = {.size = sizeof report};
        taut_error error = {0};
        snprintf(path, sizeof path, "%s/tests/data/seeds/%s.taut", TAUT_SOURCE_DIR, names[k]);
        int status = taut_system_load(path, &how, &system, &error);
        check_row(status == 0, "%s: line %d, %s", names[k], error.line, error.message);
        if (status == 0)
            status = taut_check(system, NULL, &report, &error);
        check_row(status == 0 && report.derivatives > 3, "%s: %d derivatives, %s", names[k],
                  report.derivatives, error.message);
        for (int d = 0; d < report.derivatives; d++)
            check_below(report.derivative[d].name, report.derivative[d].deviation,
                        report.derivative[d].limit + report.derivative[d].uncertainty);
        taut_system_destroy(system);
    }
}

/* Memory that fails at the k-th call, for every k, while they are read. */
static void test_memory(void)
{
    static const char *const names[] = {"tables",  "dims", "definitions",
                                        "kinetic", "mass", "first_order"};
    check_group("memory");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int64_t wrong = 0, leaks = 0, k = 0;
        for (bool finished = false; !finished && k < 10000;) {
            faulty f = {.fail = ++k};
            taut_allocator allocator = faulty_allocator(&f);
            taut_load how = {.size = sizeof how,
                             .allocator = &allocator,
                             .table_folder = TAUT_SOURCE_DIR "/models"};
            taut_system *system = NULL;
            taut_error error = {0};
            char path[400];
            snprintf(path, sizeof path, "%s/tests/data/seeds/%s.taut", TAUT_SOURCE_DIR, names[i]);
            int status = taut_system_load(path, &how, &system, &error);
            taut_system_destroy(system);
            finished = f.failed == 0;
            wrong += finished ? status != 0 : status != TAUT_ERROR_MEMORY || error.code != status;
            leaks += f.live != 0;
        }
        check_row(k > 20 && wrong == 0 && leaks == 0,
                  "%s: %lld calls, %lld wrong answers, %lld leaks", names[i], (long long)k,
                  (long long)wrong, (long long)leaks);
    }
}

/* A statement of the motion with a kink is reported once, by check; conditions in outputs are no
 * kinks of the motion. */
static void test_kinks(void)
{
    static const struct {
        const char *text, *place; /* NULL: no warning */
    } rows[] = {
        {"[coordinates]\nx\n[potential]\nx^2\nabs(x)\nmin(x, 1)\n", "test:5:1: kinks or jumps"},
        {"[coordinates]\nx\n[forces]\nx = if(x > 0, -x, 0)\n", "test:4:1: kinks or jumps"},
        {"[coordinates]\nx\n[potential]\nx^2\n[outputs]\na = abs(x)\n[events]\ne = floor(x) rising "
         "stop\n",
         NULL},
        {"[parameters]\nn = 2\n[coordinates]\nx\n[potential]\nabs(-3)*x^n\n", NULL}};
    check_group("kinks");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_system *system = NULL;
        taut_error error = {0};
        taut_system_parse(rows[k].text, strlen(rows[k].text), "test", NULL, &system, &error);
        taut_check_report report = {.size = sizeof report};
        if (system)
            taut_check(system, NULL, &report, &error);
        const char *warning = report.kinks;
        if (rows[k].place)
            check_contains(rows[k].text, warning, rows[k].place);
        else
            check_row(system && !warning, "%s: %s", rows[k].text,
                      warning ? warning : error.message);
        check_row(!system || !taut_system_warning(system, 0), "%s: it is for check alone",
                  rows[k].text);
        taut_system_destroy(system);
    }
}

int main(void)
{
    test_powers();
    test_moving_exponent();
    test_near_one();
    test_planar();
    test_not_finite();
    test_refused_values();
    test_massless();
    test_two_kinds();
    test_seeds();
    test_memory();
    test_kinks();
    return check_done();
}
