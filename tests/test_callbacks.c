/* test_callbacks.c - systems from C functions against the same systems as model files, with
 * every choice of functions given and left to differences; units, steep and noisy functions;
 * calls are counted, so that colouring is seen to work; runs. */
#include <taut/taut.h>

#include "support/run.h"
#include "support/functions.h"
#include "support/table.h"
#include "support/twins.h"

/* What docs/c-api.md states of differences: first and second derivatives to 1e-9 where the
 * functions vary over lengths of the size of the state. */
static const twins_limits stated = {1e-14, 1e-9, 1e-9};

/* ---- choices */

static const char pendulum_text[] =
    "[coordinates]\nx1, y1, x2, y2\n"
    "[mass]\nx2 = 2, y2 = 2\n"
    "[forces]\n"
    "x1 = -0.1*x1' + sin(y2)*%s\n"
    "y1 = -1 - x1'*y1'\n"
    "x2 = x1*y2 - 0.3*x2'\n"
    "y2 = -2 + exp(-x1^2)\n"
    "[bonds]\n"
    "inner = sqrt((x1 - %s)^2 + y1^2) - 1             stiffness 1e4 damping 5\n"
    "outer = (x1-x2)^2 + (y1-y2)^2 + x1*y1*x2 - 1     rigid\n"
    "[start]\nx1 = 1, y1 = 0.5, x2 = 2, y2 = -0.25, x1' = 0.5, y2' = 1\n";

/* Largest deviation of each kind from exact values, for the statement in docs/c-api.md. */
static void test_choices(void)
{
    static const struct {
        const char *name;
        bool sparse, jacobian, gamma, moving, unmarked;
    } rows[] = {
        {"force and bond, dense", false, false, false, false, false},
        {"force and bond, sparse", true, false, false, false, false},
        {"with G", true, true, false, false, false},
        {"with gamma, without G", true, false, true, false, false},
        {"with G and gamma", true, true, true, false, false},
        {"moving, force and bond", false, false, false, true, false},
        {"moving, with G", true, true, false, true, false},
        {"moving, with G and gamma", true, true, true, true, false},
        /* time_dependent is found out */
        {"moving and not marked", false, false, false, true, true},
        {"moving and not marked, with G", true, true, false, true, true},
    };
    check_group("choices");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        user u = {.moving = rows[k].moving};
        taut_callbacks c = pendulum(&u);
        if (rows[k].sparse) {
            c.jacobian_start = pendulum_start;
            c.jacobian_column = pendulum_column;
        }
        c.jacobian = rows[k].jacobian ? pendulum_jacobian : NULL;
        c.gamma = rows[k].gamma ? pendulum_gamma : NULL;
        c.time_dependent = u.moving && !rows[k].unmarked;
        char text[1000];
        snprintf(text, sizeof text, pendulum_text, u.moving ? "cos(t)" : "1",
                 u.moving ? "sin(2*t)/2" : "0");
        taut_system *system = make(&c), *expected = twin_parse(text, NULL);
        if (system && expected) {
            twins_compare(rows[k].name, system, expected, 10, 0.2, stated, -1);
            taut_sizes sizes = {.size = sizeof sizes};
            taut_system_sizes_get(system, &sizes, NULL);
            bool derivatives = rows[k].jacobian && rows[k].gamma;
            check_row(!!(sizes.can & TAUT_CAN_DERIVATIVES) == derivatives, "%s: exact derivatives",
                      rows[k].name);
            unsigned has = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS | TAUT_HAS_RIGID |
                           TAUT_HAS_SPRINGS | TAUT_HAS_DAMPING | TAUT_HAS_VELOCITY_FORCES |
                           TAUT_HAS_FORCES |
                           (u.moving ? TAUT_HAS_TIME | TAUT_HAS_MOVING_BONDS : 0) |
                           (derivatives ? TAUT_CAN_DERIVATIVES : 0);
            check_row(sizes.can == has, "%s: bits %x, expected %x", rows[k].name, sizes.can, has);
            check_equal("entries of G", sizes.jacobian_entries, rows[k].sparse ? 6 : 8);
        }
        taut_system_destroy(expected);
        taut_system_destroy(system);
    }
}

/* The calls that docs/c-api.md promises. */
static void test_calls(void)
{
    check_group("calls");
    for (int moving = 0; moving < 2; moving++) {
        user u = {.moving = moving};
        taut_callbacks c = pendulum(&u);
        taut_system *system = make(&c);
        check_equal("calls of force at creation", u.force_calls, moving ? 48 : 54);
        check_equal("calls of bond at creation", u.bond_calls, moving ? 84 : 48);
        twin a;
        if (!system || !twin_open(&a, system))
            continue;
        const double weight[2] = {1, 2};
        a.values.bond_weight = weight;
        static const struct {
            unsigned wanted;
            int force, bond;
        } rows[] = {
            {TAUT_WANT_FORCE, 1, 0},          {TAUT_WANT_BOND, 0, 1},
            {TAUT_WANT_ENERGY, 0, 1},         {TAUT_WANT_GAMMA, 0, 5},
            {TAUT_WANT_JACOBIAN, 0, 8},       {TAUT_WANT_FORCE_DQ | TAUT_WANT_FORCE_DV, 16, 0},
            {TAUT_WANT_BOND_HESSIAN, 0, 128}, {TAUT_WANT_MASS | TAUT_WANT_MOMENTUM, 0, 0}};
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            u.force_calls = u.bond_calls = 0;
            int status = taut_evaluate(a.context, 0, pendulum_q, pendulum_v, rows[k].wanted,
                                       &a.values, &a.error);
            int bond = rows[k].bond + (moving && rows[k].wanted == TAUT_WANT_JACOBIAN ? 2 : 0);
            check_row(status == 0 && u.force_calls == rows[k].force && u.bond_calls == bond,
                      "wanted %x: %lld of force, %lld of bond, expected %d and %d", rows[k].wanted,
                      (long long)u.force_calls, (long long)u.bond_calls, rows[k].force, bond);
        }
        twin_close(&a);
        taut_system_destroy(system);
    }
}

/* ---- mass matrix */

static const char matrix_text[] = "[coordinates]\na, b, c\n"
                                  "[mass]\na = 2 + cos(b), b = 3 + t\nM[a, b] = 0.3*a*c\n"
                                  "[potential]\na^2*b + c^4\n"
                                  "[bonds]\nsurface = a*b*c - 1   rigid\n"
                                  "[start]\na = 1, b = 0.5, c = 2\n";

static void test_matrix(void)
{
    check_group("mass matrix");
    static const double q[] = {1, 0.5, 2};
    taut_callbacks c = {.size = sizeof c,
                        .coordinates = 3,
                        .bonds = 1,
                        .start_q = q,
                        .force = matrix_force,
                        .bond = matrix_bond,
                        .energy = matrix_energy,
                        .mass_matrix = matrix_mass,
                        .time_dependent = true};
    taut_system *system = make(&c), *expected = twin_parse(matrix_text, NULL);
    if (system && expected) {
        twins_compare("mass matrix", system, expected, 10, 0.2, stated, -1);
        taut_sizes sizes = {.size = sizeof sizes};
        taut_system_sizes_get(system, &sizes, NULL);
        check_equal("kind of mass", sizes.mass, TAUT_MASS_VARYING);
        check_row(sizes.can & TAUT_HAS_VARYING_MASS &&
                      !(sizes.can & (TAUT_HAS_FORCES | TAUT_HAS_VELOCITY_FORCES)),
                  "bits: %x: a potential, no velocities", sizes.can);
    }
    taut_system_destroy(expected);
    taut_system_destroy(system);
}

/* ---- a long chain: colours, large n */

static void test_chain(void)
{
    check_group("chain");
    static chain c;
    user u = {0};
    taut_callbacks call = make_chain(&c, &u);
    static const char text[] =
        "[parameters]\nN = 300\n[particles]\ndimension = 2\nbob[i] for i in 1..N   mass 1\n"
        "[forces]\nbob[i].y = -1 - 0.1*bob[i].x*sin(bob[i].y) for i in 1..N\n"
        "[bonds]\nlink[1] = length(bob[1]) - 1   compliance 1e-6\n"
        "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N   compliance 1e-6\n"
        "[start]\nbob[i] = (i, 0) for i in 1..N\n";
    taut_system *system = make(&call), *expected = twin_parse(text, NULL);
    /* coordinates up to 300 with lengths of 1: the values carry 300 rounding units, the
     * differences accordingly */
    const twins_limits limits = {1e-12, 1e-8, 1e-7};
    if (system && expected)
        twins_compare("600 coordinates", system, expected, 3, 0.3, limits, -1);
    twin a;
    if (system && twin_open(&a, system)) {
        /* 4 colours for G: columns of one row; 6 for the tangent: a particle and its two
         * neighbours */
        u = (user){0};
        taut_evaluate(a.context, 0, c.q, NULL, TAUT_WANT_JACOBIAN, &a.values, &a.error);
        check_equal("evaluations of g for G", u.bond_calls, 8);
        u = (user){0};
        taut_evaluate(a.context, 0, c.q, NULL, TAUT_WANT_FORCE_DQ, &a.values, &a.error);
        check_row(u.force_calls <= 16 && u.force_calls >= 12, "evaluations of f for df/dq: %lld",
                  (long long)u.force_calls);
        check_row(a.tangent.start[2 * LINKS] == 12 * LINKS - 8,
                  "entries of the tangent pattern: %d", a.tangent.start[2 * LINKS]);
        bool sorted = true;
        for (taut_index i = 0; i < 2 * LINKS; i++)
            for (taut_index k = a.tangent.start[i] + 1; k < a.tangent.start[i + 1]; k++)
                sorted = sorted && a.tangent.column[k - 1] < a.tangent.column[k];
        check_row(sorted, "the rows of the tangent pattern are sorted");
        twin_close(&a);
    }
    taut_system_destroy(expected);
    taut_system_destroy(system);
}

/* ---- units */

static void test_units(void)
{
    static const struct {
        double x, y, length, first, second;
    } rows[] = {{0, 0, 1, 1e-10, 1e-9},      {0, 0, 1e-6, 1e-10, 1e-9}, {0, 0, 1e-3, 1e-10, 1e-9},
                {0, 0, 1e4, 1e-10, 1e-9},    {1e3, 0, 1, 1e-8, 1e-7},   {1e6, -1e6, 1, 1e-6, 1e-5},
                {0, 0, 149.6e9, 1e-10, 1e-9}};
    check_group("units");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double centre[3] = {rows[k].x, rows[k].y, rows[k].length};
        double q[2] = {rows[k].x + 0.6 * rows[k].length, rows[k].y + 0.8 * rows[k].length},
               v[2] = {0.8, -0.6}, weight[1] = {1};
        taut_callbacks c = {.size = sizeof c,
                            .coordinates = 2,
                            .bonds = 1,
                            .start_q = q,
                            .force = no_force,
                            .bond = unit_bond,
                            .user = centre};
        taut_system *system = make(&c);
        twin a;
        if (!system || !twin_open(&a, system))
            continue;
        a.values.bond_weight = weight;
        int status = taut_evaluate(a.context, 0, q, v,
                                   TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA | TAUT_WANT_BOND_HESSIAN,
                                   &a.values, &a.error);
        check_row(status == 0, "length %g: %s", rows[k].length, a.error.message);
        const double direction[2] = {0.6, 0.8}, gamma[1] = {1 / rows[k].length},
                     hessian[4] = {0.64 / rows[k].length, -0.48 / rows[k].length,
                                   -0.48 / rows[k].length, 0.36 / rows[k].length};
        double off[3] = {twins_apart(a.values.jacobian, direction, 2, 0),
                         twins_apart(a.values.gamma, gamma, 1, 0),
                         twins_apart(a.values.bond_hessian, hessian, 4, 0)};
        check_row(off[0] <= rows[k].first && off[1] <= rows[k].second && off[2] <= rows[k].second,
                  "length %g at %g: G off by %.2g (%.0g), gamma by %.2g, Hess g by %.2g (%.0g)",
                  rows[k].length, rows[k].x, off[0], rows[k].first, off[1], off[2], rows[k].second);
        twin_close(&a);
        taut_system_destroy(system);
    }
}

/* Functions that curve over lengths or times far below 1, or are computed in single precision:
 * steps are found for them. */
static int steep_force(void *data, double t, const double *q, const double *v, double *f)
{
    const double *length = data;
    (void)t, (void)v;
    f[0] = sin(q[0] / *length);
    f[1] = exp(-q[1] / *length);
    return 0;
}

static int steep_bond(void *data, double t, const double *q, double *g)
{
    const double *length = data;
    g[0] = sin(q[0] / *length + t / *length) + q[1] / *length;
    return 0;
}

static int coarse_force(void *data, double t, const double *q, const double *v, double *f)
{
    (void)data, (void)t, (void)v;
    f[0] = (double)(float)sin(q[0]);
    f[1] = (double)(float)exp(-q[1]);
    return 0;
}

static void test_steep(void)
{
    static const struct {
        const char *name;
        double length, limit;
        bool coarse;
    } rows[] = {{"length 1", 1, 1e-9, false},
                {"length 1e-2", 1e-2, 1e-8, false},
                {"length 1e-4", 1e-4, 1e-6, false},
                {"single precision", 1, 1e-3, true}};
    check_group("steep");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double length = rows[k].length, q[2] = {1.3, 0.7 * length}, weight[1] = {1}, v[2] = {1, 0};
        taut_callbacks c = {.size = sizeof c,
                            .coordinates = 2,
                            .bonds = 1,
                            .start_q = q,
                            .force = rows[k].coarse ? coarse_force : steep_force,
                            .bond = steep_bond,
                            .time_dependent = true,
                            .user = &length};
        taut_system *system = make(&c);
        twin a;
        if (!system || !twin_open(&a, system))
            continue;
        a.values.bond_weight = weight;
        unsigned wanted =
            TAUT_WANT_FORCE_DQ | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA | TAUT_WANT_BOND_HESSIAN;
        int status = taut_evaluate(a.context, 0.5, q, v, wanted, &a.values, &a.error);
        check_row(status == 0, "%s: %s", rows[k].name, a.error.message);
        double phase = (q[0] + 0.5) / length, square = length * length;
        const double dq[4] = {cos(q[0] / length) / length, 0, 0, -exp(-q[1] / length) / length},
                     g[2] = {cos(phase) / length, 1 / length}, dt[1] = {cos(phase) / length},
                     gamma[1] = {-4 * sin(phase) / square},
                     hessian[4] = {-sin(phase) / square, 0, 0, 0};
        double off[5] = {twins_apart(a.values.force_dq, dq, 4, 0),
                         twins_apart(a.values.jacobian, g, 2, 0),
                         twins_apart(a.values.bond_dt, dt, 1, 1 / length),
                         twins_apart(a.values.gamma, gamma, 1, 1 / square),
                         twins_apart(a.values.bond_hessian, hessian, 4, 1 / square)};
        check_row(off[0] <= rows[k].limit, "%s: df/dq off by %.2g", rows[k].name, off[0]);
        double limit = rows[k].coarse ? 1e-9 : rows[k].limit;
        check_row(off[1] <= limit && off[2] <= limit && off[3] <= 10 * limit &&
                      off[4] <= 10 * limit,
                  "%s: G off by %.2g, dg/dt %.2g, gamma %.2g, Hess g %.2g", rows[k].name, off[1],
                  off[2], off[3], off[4]);
        twin_close(&a);
        taut_system_destroy(system);
    }
}

/* ---- runs */

static int spring_force(void *data, double t, const double *q, const double *v, double *f)
{
    (void)data, (void)t, (void)q, (void)v;
    f[0] = 0;
    f[1] = -1;
    return 0;
}

static int spring_energy(void *data, double t, const double *q, double *potential)
{
    (void)data, (void)t;
    *potential = q[1];
    return 0;
}

/* The same trajectory as the model file, full, rigid and slow; the check of derivatives accepts
 * the differences. */
static void test_run(void)
{
    check_group("run");
    static const char model[] =
        "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1   stiffness 1e4\n"
        "[start]\nx = 1\n";
    static const struct {
        const char *options;
        double limit;
    } rows[] = {{"method=verlet step=1e-3 until=2", 1e-9},
                {"motion=rigid method=rattle step=1e-2 until=2", 1e-8},
                {"motion=rigid method=radau5 rtol=1e-9 until=2", 1e-6},
                {"motion=slow method=radau5 rtol=1e-9 until=2", 1e-6}};
    double centre[3] = {0, 0, 1};
    static const double q[] = {1, 0}, compliance[] = {1e-4};
    taut_callbacks c = {.size = sizeof c,
                        .coordinates = 2,
                        .bonds = 1,
                        .compliance = compliance,
                        .start_q = q,
                        .force = spring_force,
                        .bond = unit_bond,
                        .energy = spring_energy,
                        .user = centre};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven model_run = driven_create(model, rows[k].options, NULL), run = {0};
        run.system = make(&c);
        run.code =
            run.system ? taut_options_create(NULL, &run.options, &run.error) : TAUT_ERROR_USAGE;
        driven_options(&run, rows[k].options);
        if (run.code == 0)
            run.code = taut_solver_create(run.system, run.options, NULL, &run.solver, &run.error);
        if (driven_good(rows[k].options, &run) && driven_good(rows[k].options, &model_run)) {
            int one = taut_solver_run(run.solver, NULL, 0, NULL, NULL, &run.error),
                other = taut_solver_run(model_run.solver, NULL, 0, NULL, NULL, &model_run.error);
            check_row(one == 0 && other == 0, "%s: %d %s; %d %s", rows[k].options, one,
                      run.error.message, other, model_run.error.message);
            twins_vector(rows[k].options, "positions", taut_solver_position(run.solver),
                         taut_solver_position(model_run.solver), 2, rows[k].limit);
            twins_vector(rows[k].options, "multipliers", taut_solver_multipliers(run.solver),
                         taut_solver_multipliers(model_run.solver), 1, 1e-4);
            taut_result result = {.size = sizeof result};
            taut_solver_result_get(run.solver, &result, NULL);
            check_below("the energy stays", fabs(result.energy_last - result.energy_first), 1e-3);
        }
        taut_check_report report = {.size = sizeof report};
        int status = run.system ? taut_check(run.system, run.options, &report, &run.error) : -1;
        check_row(status == 0 && report.verdict == 0 && report.derivatives >= 3,
                  "check: %d %s, %d derivatives, %s", status, run.error.message, report.derivatives,
                  report.advice);
        driven_destroy(&model_run);
        driven_destroy(&run);
    }
}

int main(void)
{
    test_choices();
    test_calls();
    test_matrix();
    test_chain();
    test_units();
    test_steep();
    test_run();
    return check_done();
}
