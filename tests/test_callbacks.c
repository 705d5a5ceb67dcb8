/* test_callbacks.c - systems from C functions against the same systems as model files, with every choice of functions given and
 * left to differences; return values, NaN, memory; calls are counted, so that colouring is seen to work. */
#include <taut/taut.h>

#include "drive.h"
#include "faulty.h"
#include "table.h"
#include "twins.h"

/* What docs/c-api.md states of differences: first and second derivatives to 1e-9 where the functions vary over lengths of the size of
 * the state. */
static const twins_limits stated = {1e-14, 1e-9, 1e-9};

/* What the functions see: calls are counted, and can fail or give NaN. */
typedef struct user {
    bool moving; /* the anchor moves */
    int64_t force_calls, bond_calls, jacobian_calls;
    int64_t fail_at; /* the call (force + bond) that returns fail_with; 0: none */
    int fail_with;
    int nan_force, nan_bond; /* entry + 1 that is not a number */
} user;

static int fail_now(const user *u)
{
    return u->fail_at && u->force_calls + u->bond_calls == u->fail_at ? u->fail_with : 0;
}

/* ---------------------------------------------------------------------------------- two pendulums, one below the other */

static const char pendulum_text[] = "[coordinates]\nx1, y1, x2, y2\n"
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

static double anchor(const user *u, double t)
{
    return u->moving ? sin(2 * t) / 2 : 0;
}

static int pendulum_force(void *data, double t, const double *q, const double *v, double *f)
{
    user *u = data;
    u->force_calls++;
    f[0] = -0.1 * v[0] + sin(q[3]) * (u->moving ? cos(t) : 1);
    f[1] = -1 - v[0] * v[1];
    f[2] = q[0] * q[3] - 0.3 * v[2];
    f[3] = -2 + exp(-q[0] * q[0]);
    if (u->nan_force)
        f[u->nan_force - 1] = NAN;
    return fail_now(u);
}

static int pendulum_bond(void *data, double t, const double *q, double *g)
{
    user *u = data;
    u->bond_calls++;
    double x = q[0] - anchor(u, t), dx = q[0] - q[2], dy = q[1] - q[3];
    g[0] = sqrt(x * x + q[1] * q[1]) - 1;
    g[1] = dx * dx + dy * dy + q[0] * q[1] * q[2] - 1;
    if (u->nan_bond)
        g[u->nan_bond - 1] = NAN;
    return fail_now(u);
}

/* On the pattern of pendulum_start, whose columns are not sorted. */
static const taut_index pendulum_start[] = {0, 2, 6}, pendulum_column[] = {1, 0, 0, 1, 2, 3};
static int pendulum_jacobian(void *data, double t, const double *q, double *entries)
{
    user *u = data;
    u->jacobian_calls++;
    double x = q[0] - anchor(u, t), r = sqrt(x * x + q[1] * q[1]), dx = q[0] - q[2], dy = q[1] - q[3];
    entries[0] = q[1] / r;
    entries[1] = x / r;
    entries[2] = 2 * dx + q[1] * q[2];
    entries[3] = 2 * dy + q[0] * q[2];
    entries[4] = -2 * dx + q[0] * q[1];
    entries[5] = -2 * dy;
    return 0;
}

static int pendulum_gamma(void *data, double t, const double *q, const double *v, double *gamma)
{
    const user *u = data;
    /* the anchor moves with velocity cos 2t and acceleration -2 sin 2t */
    double x = q[0] - anchor(u, t), r = sqrt(x * x + q[1] * q[1]);
    double vx = v[0] - (u->moving ? cos(2 * t) : 0), ax = u->moving ? 2 * sin(2 * t) : 0, across = (x * v[1] - q[1] * vx) / r;
    gamma[0] = across * across / r + x / r * ax;
    double du = v[0] - v[2], dw = v[1] - v[3];
    gamma[1] = 2 * (du * du + dw * dw) + 2 * (v[0] * v[1] * q[2] + v[0] * q[1] * v[2] + q[0] * v[1] * v[2]);
    return 0;
}

static const double pendulum_mass[] = {1, 1, 2, 2}, pendulum_compliance[] = {1e-4, 0}, pendulum_damping[] = {5e-4, 0},
                    pendulum_q[] = {1, 0.5, 2, -0.25}, pendulum_v[] = {0.5, 0, 0, 1};

static taut_callbacks pendulum(user *u)
{
    return (taut_callbacks){.coordinates = 4,
                            .bonds = 2,
                            .mass = pendulum_mass,
                            .compliance = pendulum_compliance,
                            .damping = pendulum_damping,
                            .start_q = pendulum_q,
                            .start_v = pendulum_v,
                            .force = pendulum_force,
                            .bond = pendulum_bond,
                            .time_dependent = u->moving,
                            .user = u};
}

static taut_system *make(const taut_callbacks *c)
{
    taut_error error = {0};
    taut_system *system = NULL;
    int status = taut_system_from_callbacks(c, NULL, &system, &error);
    check_row(status == 0, "callbacks: %d %s", status, error.message);
    return system;
}

/* Largest deviation of each kind from exact values, for the statement in docs/c-api.md. */
static void test_choices(void)
{
    static const struct {
        const char *name;
        bool sparse, jacobian, gamma, moving;
    } rows[] = {
        {"force and bond, dense", false, false, false, false},
        {"force and bond, sparse", true, false, false, false},
        {"with G", true, true, false, false},
        {"with gamma, without G", true, false, true, false},
        {"with G and gamma", true, true, true, false},
        {"moving, force and bond", false, false, false, true},
        {"moving, with G", true, true, false, true},
        {"moving, with G and gamma", true, true, true, true},
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
        char text[1000];
        snprintf(text, sizeof text, pendulum_text, u.moving ? "cos(t)" : "1", u.moving ? "sin(2*t)/2" : "0");
        taut_system *system = make(&c), *expected = twin_parse(text, NULL);
        if (system && expected) {
            twins_compare(rows[k].name, system, expected, 10, 0.2, stated, -1);
            taut_sizes sizes;
            taut_system_sizes(system, &sizes);
            bool derivatives = rows[k].jacobian && rows[k].gamma;
            check_row(!!(sizes.can & TAUT_CAN_DERIVATIVES) == derivatives, "%s: exact derivatives", rows[k].name);
            unsigned has = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS | TAUT_HAS_RIGID | TAUT_HAS_SPRINGS | TAUT_HAS_DAMPING |
                           TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_FORCES | (u.moving ? TAUT_HAS_TIME | TAUT_HAS_MOVING_BONDS : 0) |
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
        check_equal("calls of force at creation", u.force_calls, 48);
        check_equal("calls of bond at creation", u.bond_calls, moving ? 84 : 42);
        twin a;
        if (!system || !twin_open(&a, system))
            continue;
        const double weight[2] = {1, 2};
        a.values.bond_weight = weight;
        static const struct {
            unsigned wanted;
            int force, bond;
        } rows[] = {{TAUT_WANT_FORCE, 1, 0},          {TAUT_WANT_BOND, 0, 1},
                    {TAUT_WANT_ENERGY, 0, 1},         {TAUT_WANT_GAMMA, 0, 5},
                    {TAUT_WANT_JACOBIAN, 0, 8},       {TAUT_WANT_FORCE_DQ | TAUT_WANT_FORCE_DV, 16, 0},
                    {TAUT_WANT_BOND_HESSIAN, 0, 128}, {TAUT_WANT_MASS | TAUT_WANT_MOMENTUM, 0, 0}};
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            u.force_calls = u.bond_calls = 0;
            int status = taut_evaluate(a.context, 0, pendulum_q, pendulum_v, rows[k].wanted, &a.values, &a.error);
            int bond = rows[k].bond + (moving && rows[k].wanted == TAUT_WANT_JACOBIAN ? 2 : 0);
            check_row(status == 0 && u.force_calls == rows[k].force && u.bond_calls == bond,
                      "wanted %x: %lld of force, %lld of bond, expected %d and %d", rows[k].wanted, (long long)u.force_calls,
                      (long long)u.bond_calls, rows[k].force, bond);
        }
        twin_close(&a);
        taut_system_destroy(system);
    }
}

/* ------------------------------------------------------------------------------------------------------- mass matrix */

static const char matrix_text[] = "[coordinates]\na, b, c\n"
                                  "[mass]\na = 2 + cos(b), b = 3 + t\nM[a, b] = 0.3*a*c\n"
                                  "[potential]\na^2*b + c^4\n"
                                  "[bonds]\nsurface = a*b*c - 1   rigid\n"
                                  "[start]\na = 1, b = 0.5, c = 2\n";

static int matrix_force(void *data, double t, const double *q, const double *v, double *f)
{
    (void)data, (void)t, (void)v;
    f[0] = -2 * q[0] * q[1];
    f[1] = -q[0] * q[0];
    f[2] = -4 * q[2] * q[2] * q[2];
    return 0;
}

static int matrix_bond(void *data, double t, const double *q, double *g)
{
    (void)data, (void)t;
    g[0] = q[0] * q[1] * q[2] - 1;
    return 0;
}

static int matrix_energy(void *data, double t, const double *q, double *potential)
{
    (void)data, (void)t;
    *potential = q[0] * q[0] * q[1] + q[2] * q[2] * q[2] * q[2];
    return 0;
}

static int matrix_mass(void *data, double t, const double *q, double *mass)
{
    (void)data;
    memset(mass, 0, 9 * sizeof *mass);
    mass[0] = 2 + cos(q[1]);
    mass[4] = 3 + t;
    mass[8] = 1;
    mass[1] = mass[3] = 0.3 * q[0] * q[2];
    return 0;
}

static void test_matrix(void)
{
    check_group("mass matrix");
    static const double q[] = {1, 0.5, 2};
    taut_callbacks c = {.coordinates = 3,
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
        taut_sizes sizes;
        taut_system_sizes(system, &sizes);
        check_equal("kind of mass", sizes.mass, TAUT_MASS_VARYING);
        check_row(sizes.can & TAUT_HAS_VARYING_MASS && !(sizes.can & (TAUT_HAS_FORCES | TAUT_HAS_VELOCITY_FORCES)),
                  "bits: %x: a potential, no velocities", sizes.can);
    }
    taut_system_destroy(expected);
    taut_system_destroy(system);
}

/* ---------------------------------------------------------------------------------------- a long chain: colours, large n */

enum { LINKS = 300 };

static int chain_force(void *data, double t, const double *q, const double *v, double *f)
{
    user *u = data;
    (void)t, (void)v;
    u->force_calls++;
    for (int i = 0; i < LINKS; i++) {
        f[2 * i] = 0;
        f[2 * i + 1] = -1 - 0.1 * q[2 * i] * sin(q[2 * i + 1]);
    }
    return 0;
}

static int chain_bond(void *data, double t, const double *q, double *g)
{
    user *u = data;
    (void)t;
    u->bond_calls++;
    for (int i = 0; i < LINKS; i++) {
        double dx = q[2 * i] - (i ? q[2 * i - 2] : 0), dy = q[2 * i + 1] - (i ? q[2 * i - 1] : 0);
        g[i] = sqrt(dx * dx + dy * dy) - 1;
    }
    return 0;
}

typedef struct chain {
    taut_index start[LINKS + 1], column[4 * LINKS];
    double q[2 * LINKS], compliance[LINKS];
} chain;

static taut_callbacks make_chain(chain *c, user *u)
{
    taut_index used = 0;
    for (int i = 0; i < LINKS; i++) {
        c->start[i] = used;
        for (int k = i ? 2 * i - 2 : 0; k < 2 * i + 2; k++)
            c->column[used++] = k;
        c->q[2 * i] = i + 1;
        c->q[2 * i + 1] = 0;
        c->compliance[i] = 1e-6;
    }
    c->start[LINKS] = used;
    return (taut_callbacks){.coordinates = 2 * LINKS,
                            .bonds = LINKS,
                            .compliance = c->compliance,
                            .start_q = c->q,
                            .jacobian_start = c->start,
                            .jacobian_column = c->column,
                            .force = chain_force,
                            .bond = chain_bond,
                            .user = u};
}

static void test_chain(void)
{
    check_group("chain");
    static chain c;
    user u = {0};
    taut_callbacks call = make_chain(&c, &u);
    static const char text[] = "[parameters]\nN = 300\n[particles]\ndimension = 2\nbob[i] for i in 1..N   mass 1\n"
                               "[forces]\nbob[i].y = -1 - 0.1*bob[i].x*sin(bob[i].y) for i in 1..N\n"
                               "[bonds]\nlink[1] = length(bob[1]) - 1   compliance 1e-6\n"
                               "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N   compliance 1e-6\n"
                               "[start]\nbob[i] = (i, 0) for i in 1..N\n";
    taut_system *system = make(&call), *expected = twin_parse(text, NULL);
    /* coordinates up to 300 with lengths of 1: the values carry 300 rounding units, the differences accordingly */
    const twins_limits limits = {1e-12, 1e-8, 1e-7};
    if (system && expected)
        twins_compare("600 coordinates", system, expected, 3, 0.3, limits, -1);
    twin a;
    if (system && twin_open(&a, system)) {
        /* 4 colours for G: columns of one row; 6 for the tangent: a particle and its two neighbours */
        u = (user){0};
        taut_evaluate(a.context, 0, c.q, NULL, TAUT_WANT_JACOBIAN, &a.values, &a.error);
        check_equal("evaluations of g for G", u.bond_calls, 8);
        u = (user){0};
        taut_evaluate(a.context, 0, c.q, NULL, TAUT_WANT_FORCE_DQ, &a.values, &a.error);
        check_row(u.force_calls <= 16 && u.force_calls >= 12, "evaluations of f for df/dq: %lld", (long long)u.force_calls);
        check_row(a.tangent.start[2 * LINKS] == 12 * LINKS - 8, "entries of the tangent pattern: %d", a.tangent.start[2 * LINKS]);
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

/* ------------------------------------------------------------------------------------------------------------- units */

/* g = |p| - length, with coordinates in other units and far from the origin. */
static int unit_bond(void *data, double t, const double *q, double *g)
{
    const double *centre = data;
    (void)t;
    double x = q[0] - centre[0], y = q[1] - centre[1];
    g[0] = sqrt(x * x + y * y) - centre[2];
    return 0;
}

static int no_force(void *data, double t, const double *q, const double *v, double *f)
{
    (void)data, (void)t, (void)q, (void)v;
    f[0] = f[1] = 0;
    return 0;
}

static void test_units(void)
{
    static const struct {
        double x, y, length, first, second;
    } rows[] = {{0, 0, 1, 1e-10, 1e-9},  {0, 0, 1e-6, 1e-10, 1e-9},  {0, 0, 1e-3, 1e-10, 1e-9},   {0, 0, 1e4, 1e-10, 1e-9},
                {1e3, 0, 1, 1e-8, 1e-7}, {1e6, -1e6, 1, 1e-6, 1e-5}, {0, 0, 149.6e9, 1e-10, 1e-9}};
    check_group("units");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double centre[3] = {rows[k].x, rows[k].y, rows[k].length};
        double q[2] = {rows[k].x + 0.6 * rows[k].length, rows[k].y + 0.8 * rows[k].length}, v[2] = {0.8, -0.6}, weight[1] = {1};
        taut_callbacks c = {.coordinates = 2, .bonds = 1, .start_q = q, .force = no_force, .bond = unit_bond, .user = centre};
        taut_system *system = make(&c);
        twin a;
        if (!system || !twin_open(&a, system))
            continue;
        a.values.bond_weight = weight;
        int status =
            taut_evaluate(a.context, 0, q, v, TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA | TAUT_WANT_BOND_HESSIAN, &a.values, &a.error);
        check_row(status == 0, "length %g: %s", rows[k].length, a.error.message);
        const double direction[2] = {0.6, 0.8}, gamma[1] = {1 / rows[k].length},
                     hessian[4] = {0.64 / rows[k].length, -0.48 / rows[k].length, -0.48 / rows[k].length, 0.36 / rows[k].length};
        double off[3] = {twins_apart(a.values.jacobian, direction, 2, 0), twins_apart(a.values.gamma, gamma, 1, 0),
                         twins_apart(a.values.bond_hessian, hessian, 4, 0)};
        check_row(off[0] <= rows[k].first && off[1] <= rows[k].second && off[2] <= rows[k].second,
                  "length %g at %g: G off by %.2g (%.0g), gamma by %.2g, Hess g by %.2g (%.0g)", rows[k].length, rows[k].x, off[0],
                  rows[k].first, off[1], off[2], rows[k].second);
        twin_close(&a);
        taut_system_destroy(system);
    }
}

/* Functions that curve over lengths or times far below 1, or are computed in single precision: steps are found for them. */
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
        taut_callbacks c = {.coordinates = 2,
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
        unsigned wanted = TAUT_WANT_FORCE_DQ | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA | TAUT_WANT_BOND_HESSIAN;
        int status = taut_evaluate(a.context, 0.5, q, v, wanted, &a.values, &a.error);
        check_row(status == 0, "%s: %s", rows[k].name, a.error.message);
        double phase = (q[0] + 0.5) / length, square = length * length;
        const double dq[4] = {cos(q[0] / length) / length, 0, 0, -exp(-q[1] / length) / length},
                     g[2] = {cos(phase) / length, 1 / length}, dt[1] = {cos(phase) / length}, gamma[1] = {-4 * sin(phase) / square},
                     hessian[4] = {-sin(phase) / square, 0, 0, 0};
        double off[5] = {twins_apart(a.values.force_dq, dq, 4, 0), twins_apart(a.values.jacobian, g, 2, 0),
                         twins_apart(a.values.bond_dt, dt, 1, 1 / length), twins_apart(a.values.gamma, gamma, 1, 1 / square),
                         twins_apart(a.values.bond_hessian, hessian, 4, 1 / square)};
        check_row(off[0] <= rows[k].limit, "%s: df/dq off by %.2g", rows[k].name, off[0]);
        double limit = rows[k].coarse ? 1e-9 : rows[k].limit;
        check_row(off[1] <= limit && off[2] <= limit && off[3] <= 10 * limit && off[4] <= 10 * limit,
                  "%s: G off by %.2g, dg/dt %.2g, gamma %.2g, Hess g %.2g", rows[k].name, off[1], off[2], off[3], off[4]);
        twin_close(&a);
        taut_system_destroy(system);
    }
}

/* ------------------------------------------------------------------------------------------------------ return values */

static void test_returns(void)
{
    check_group("return values");
    static const struct {
        unsigned wanted;
        const char *name, *callback;
    } rows[] = {{TAUT_WANT_FORCE, "force", "'force'"},        {TAUT_WANT_BOND, "bond", "'bond'"},
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
        u.fail_at = u.force_calls = u.bond_calls = 0;
        int status = taut_evaluate(a.context, 0.5, pendulum_q, pendulum_v, rows[k].wanted, &a.values, &a.error);
        int64_t calls = u.force_calls + u.bond_calls;
        check_row(status == 0 && calls > 0, "%s: %d", rows[k].name, status);
        for (int64_t at = 1; at <= calls; at++)
            for (int way = 0; way < 2; way++) {
                u.force_calls = u.bond_calls = 0;
                u.fail_at = at;
                u.fail_with = way ? -3 : 7;
                status = taut_evaluate(a.context, 0.5, pendulum_q, pendulum_v, rows[k].wanted, &a.values, &a.error);
                check_row(way ? status == TAUT_ERROR_EVALUATE && a.error.code == status &&
                                    strstr(a.error.message, rows[k].callback) && strstr(a.error.message, "-3") &&
                                    fabs(a.error.t - 0.5) < 0.01
                              : status == 7,
                          "%s, call %lld of %lld returns %d: %d \"%s\" t = %g", rows[k].name, (long long)at, (long long)calls,
                          u.fail_with, status, a.error.message, a.error.t);
                check_equal("no calls after the failure", u.force_calls + u.bond_calls, at);
            }
    }
    u.fail_at = 0;
    check_row(taut_evaluate(a.context, 0.5, pendulum_q, NULL, TAUT_WANT_FORCE, &a.values, NULL) == 0,
              "good again, without an error");
    u.force_calls = u.bond_calls = 0;
    u.fail_at = 1;
    check_equal("failing without an error to fill",
                taut_evaluate(a.context, 0.5, pendulum_q, NULL, TAUT_WANT_FORCE, &a.values, NULL), TAUT_ERROR_EVALUATE);
    twin_close(&a);
    taut_system_destroy(system);
}

static void test_nan(void)
{
    check_group("not a number");
    static const char *const coordinates[] = {"x1", "y1", "x2", "wheel[3].angle"}, *const bonds[] = {"inner", "outer"};
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
                          bond_wants[] = {TAUT_WANT_BOND, TAUT_WANT_JACOBIAN, TAUT_WANT_GAMMA, TAUT_WANT_BOND_HESSIAN};
    for (int k = 0; k < 3; k++) {
        u.nan_force = 4;
        int status = taut_evaluate(a.context, 2.25, pendulum_q, pendulum_v, force_wants[k], &a.values, &a.error);
        check_row(status == TAUT_ERROR_EVALUATE && strstr(a.error.message, "wheel[3].angle") && a.error.t == 2.25,
                  "force, wanted %x: %d \"%s\"", force_wants[k], status, a.error.message);
    }
    u.nan_force = 0;
    u.nan_bond = 2;
    for (int k = 0; k < 4; k++) {
        int status = taut_evaluate(a.context, 2.25, pendulum_q, pendulum_v, bond_wants[k], &a.values, &a.error);
        check_row(status == TAUT_ERROR_EVALUATE && strstr(a.error.message, "outer"), "bond, wanted %x: %d \"%s\"", bond_wants[k],
                  status, a.error.message);
    }
    check_equal("a name with brackets is found", taut_system_find(system, TAUT_COORDINATE, "wheel[3].angle"), 3);
    check_equal("a bond is found", taut_system_find(system, TAUT_BOND, "outer"), 1);
    check_equal("an unknown name is not", taut_system_find(system, TAUT_COORDINATE, "wheel[2].angle"), -1);
    twin_close(&a);
    taut_system_destroy(system);
}

/* ------------------------------------------------------------------------------------------------------------- arguments */

static void wrong(const char *what, const taut_callbacks *c, int code, const char *words)
{
    faulty f = {0};
    taut_allocator allocator = faulty_allocator(&f);
    taut_error error = {0};
    taut_system *system = NULL;
    int status = taut_system_from_callbacks(c, &allocator, &system, &error);
    check_row(status == code && !system && strstr(error.message, words) && f.live == 0, "%s: %d \"%s\" without \"%s\", %lld left",
              what, status, error.message, words, (long long)f.live);
    taut_system_destroy(system);
}

static void test_wrong(void)
{
    check_group("wrong arguments");
    user u = {0};
#define WRONG(what, code, words, ...)                                                                                              \
    do {                                                                                                                           \
        taut_callbacks c = pendulum(&u);                                                                                           \
        __VA_ARGS__;                                                                                                               \
        wrong(what, &c, code, words);                                                                                              \
    } while (0)
    static const double minus[] = {1, -1, 1, 1}, infinite[] = {1, INFINITY, 1, 1}, damped[] = {0, 1};
    static const taut_index falling[] = {0, 2, 1}, late[] = {1, 2, 3}, outside[] = {0, 4, 1, 2, 3, 0}, twice[] = {0, 0, 1, 2, 3, 0};
    static const char *const empty[] = {"a", "", "c", "d"};
    WRONG("no force", TAUT_ERROR_USAGE, "'force' is required", c.force = NULL);
    WRONG("no bond", TAUT_ERROR_USAGE, "'bond' is required", c.bond = NULL);
    WRONG("no coordinates", TAUT_ERROR_USAGE, "0 coordinates", c.coordinates = 0);
    WRONG("negative number of bonds", TAUT_ERROR_USAGE, "-1 bonds", c.bonds = -1);
    WRONG("negative mass", TAUT_ERROR_USAGE, "mass[1] is -1", c.mass = minus);
    WRONG("infinite compliance", TAUT_ERROR_USAGE, "compliance[1] is inf", c.compliance = infinite);
    WRONG("a damped rod", TAUT_ERROR_USAGE, "damping[1] is 1", c.damping = damped);
    WRONG("infinite start", TAUT_ERROR_USAGE, "start_q[1] is inf", c.start_q = infinite);
    WRONG("an empty name", TAUT_ERROR_USAGE, "name 1 of the coordinates", c.coordinate_names = empty);
    WRONG("half a pattern", TAUT_ERROR_USAGE, "both", c.jacobian_start = pendulum_start);
    WRONG("rows that fall", TAUT_ERROR_USAGE, "row 1", c.jacobian_start = falling, c.jacobian_column = pendulum_column);
    WRONG("rows that begin late", TAUT_ERROR_USAGE, "begin with 0", c.jacobian_start = late, c.jacobian_column = pendulum_column);
    WRONG("a column outside", TAUT_ERROR_USAGE, "not a coordinate", c.jacobian_start = pendulum_start, c.jacobian_column = outside);
    WRONG("a column twice", TAUT_ERROR_USAGE, "second time in row 0", c.jacobian_start = pendulum_start, c.jacobian_column = twice);
    WRONG("a matrix beyond all bounds", TAUT_ERROR_SIZE, "too large",
          c = (taut_callbacks){.coordinates = 1000000, .bonds = 1000000, .force = no_force, .bond = unit_bond});
    u = (user){.fail_at = 1, .fail_with = -1};
    WRONG("a force that stops at once", TAUT_ERROR_EVALUATE, "asked to stop", (void)0);
#undef WRONG
}

/* The caller's arrays may go away, and defaults are as documented. */
static void test_copies(void)
{
    check_group("copies and defaults");
    user u = {0};
    double mass[4] = {1, 2, 3, 4}, compliance[2] = {0.5, 0.25}, q[4] = {1, 2, 3, 4}, v[4] = {5, 6, 7, 8};
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
        check_row(taut_context_start(a.context, 0, q, v, NULL) == 0 && q[3] == 4 && v[0] == 5, "start: %g %g", q[3], v[0]);
        check_near("mass", taut_context_mass(a.context)[3], 4, 0);
        check_near("compliance", taut_context_compliance(a.context)[1], 0.25, 0);
        check_near("damping", taut_context_damping(a.context)[1], 0, 0);
        taut_system_name(system, TAUT_COORDINATE, 2, text, sizeof text);
        check_row(strcmp(text, "c") == 0, "name: %s", text);
        check_equal("pattern", a.jacobian.column[a.jacobian.start[1] + 3], 3);
        twin_close(&a);
    }
    taut_system_destroy(system);

    taut_callbacks least = {.coordinates = 2, .force = no_force};
    system = make(&least);
    if (system && twin_open(&a, system)) {
        double x[2] = {9, 9}, y[2] = {9, 9};
        taut_context_start(a.context, 0, x, y, NULL);
        check_row(x[0] == 0 && x[1] == 0 && y[0] == 0 && y[1] == 0, "the start is 0");
        check_near("the mass is 1", taut_context_mass(a.context)[1], 1, 0);
        taut_system_name(system, TAUT_COORDINATE, 1, text, sizeof text);
        check_row(strcmp(text, "q[2]") == 0 && taut_system_find(system, TAUT_COORDINATE, "q[2]") == 1, "name: %s", text);
        check_row(!(a.sizes.can & (TAUT_HAS_VELOCITY_FORCES | TAUT_CAN_JETS)), "bits %x", a.sizes.can);
        int status = taut_evaluate(a.context, 0, x, y, ~0u >> 19, &a.values, &a.error);
        check_row(status == 0 && a.values.potential == 0 && a.values.kinetic == 0, "everything at once: %d %s", status,
                  a.error.message);
        taut_jet *jet;
        check_equal("no jets", taut_jet_create(a.context, 2, TAUT_WANT_FORCE, &jet, &a.error), TAUT_ERROR_REFUSED);
        twin_close(&a);
    }
    taut_system_destroy(system);
}

/* ---------------------------------------------------------------------------------------------------------------- memory */

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
    taut_callbacks all[3] = {
        pendulum(&u),
        make_chain(&storage, &u),
        {.coordinates = 3, .bonds = 1, .force = matrix_force, .bond = matrix_bond, .mass_matrix = matrix_mass}};
    for (int which = 0; which < 3; which++) {
        faulty none = {0};
        taut_allocator allocator = faulty_allocator(&none);
        taut_error error = {0};
        int status = make_and_use(&all[which], &allocator, &error);
        check_row(status == 0 && none.live == 0, "system %d: %d %s, %lld left", which, status, error.message, (long long)none.live);
        for (int64_t k = 1; k <= none.calls; k++) {
            faulty f = {.fail = k};
            allocator = faulty_allocator(&f);
            status = make_and_use(&all[which], &allocator, &error);
            check_row(status == TAUT_ERROR_MEMORY && error.code == status && f.live == 0,
                      "system %d, call %lld: %d \"%s\", %lld left", which, (long long)k, status, error.message, (long long)f.live);
        }
    }
    /* nothing is allocated in evaluations */
    faulty counting = {0};
    taut_allocator allocator = faulty_allocator(&counting);
    taut_system *system = NULL;
    twin a;
    if (taut_system_from_callbacks(&all[0], &allocator, &system, NULL) == 0 && twin_open(&a, system)) {
        const double weight[2] = {1, 1};
        a.values.bond_weight = weight;
        int64_t before = counting.calls;
        int status = taut_evaluate(a.context, 0, pendulum_q, pendulum_v, ~0u >> 19, &a.values, &a.error);
        check_row(status == 0 && counting.calls == before, "evaluate: %d, %lld allocations", status,
                  (long long)(counting.calls - before));
        twin_close(&a);
    }
    taut_system_destroy(system);
}

/* ------------------------------------------------------------------------------------------------------------------- runs */

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

/* The same trajectory as the model file, full, rigid and slow; the check of derivatives accepts the differences. */
static void test_run(void)
{
    check_group("run");
    static const char model[] = "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1   stiffness 1e4\n"
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
    taut_callbacks c = {.coordinates = 2,
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
        run.code = run.system ? taut_options_create(NULL, &run.options, &run.error) : TAUT_ERROR_USAGE;
        driven_options(&run, rows[k].options);
        if (run.code == 0)
            run.code = taut_solver_create(run.system, run.options, NULL, &run.solver, &run.error);
        if (driven_good(rows[k].options, &run) && driven_good(rows[k].options, &model_run)) {
            int one = taut_solver_run(run.solver, NULL, 0, NULL, NULL, &run.error),
                other = taut_solver_run(model_run.solver, NULL, 0, NULL, NULL, &model_run.error);
            check_row(one == 0 && other == 0, "%s: %d %s; %d %s", rows[k].options, one, run.error.message, other,
                      model_run.error.message);
            twins_vector(rows[k].options, "positions", taut_solver_position(run.solver), taut_solver_position(model_run.solver), 2,
                         rows[k].limit);
            twins_vector(rows[k].options, "multipliers", taut_solver_multipliers(run.solver),
                         taut_solver_multipliers(model_run.solver), 1, 1e-4);
            taut_result result;
            taut_solver_result(run.solver, &result);
            check_below("the energy stays", fabs(result.energy_last - result.energy_first), 1e-3);
        }
        taut_check_report report;
        int status = run.system ? taut_check(run.system, run.options, &report, &run.error) : -1;
        check_row(status == 0 && report.verdict == 0 && report.derivatives >= 3, "check: %d %s, %d derivatives, %s", status,
                  run.error.message, report.derivatives, report.advice);
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
    test_returns();
    test_nan();
    test_wrong();
    test_copies();
    test_memory();
    test_run();
    return check_done();
}
