/* test_explicit.c - explicit Runge-Kutta methods and Adams-Bashforth: observed orders, dense
 * output, counts; the fields they run on, against analytic solutions; faults, memory. */
#include "support/rig.h"

/* ---- observed orders */

static const char oscillator[] = "[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = 1\n";
static const char forced[] =
    "[state]\nx, u\n[rates]\nx' = u\nu' = -x + cos(2*t) - 0.5*(u - cos(t))*x\n[start]\nx = 1\n";

/* |x - cos t| + |v + sin t| at t = 2 after n steps. */
static double oscillator_error(const char *method, int n, int64_t *evaluations)
{
    rig r;
    rig_create(&r, &(rig_how){.model = oscillator, .method = method, .field = "full"});
    rig_run(&r, 2, n);
    double error =
        rig_good(method, &r) ? fabs(r.s.now.q[0] - cos(2)) + fabs(r.s.now.v[0] + sin(2)) : NAN;
    *evaluations = r.statistics.force_evaluations;
    rig_destroy(&r);
    return error;
}

static void test_orders(void)
{
    static const struct {
        const char *method;
        int order, steps, per_step;
        double tolerance;
    } rows[] = {{"euler", 1, 512, 1, 0.05}, {"midpoint", 2, 64, 2, 0.05}, {"rk4", 4, 32, 4, 0.05},
                {"dopri5", 5, 16, 6, 0.25}, {"dop8", 8, 4, 12, 0.3},      {"ab2", 2, 128, 1, 0.1}};
    check_group("observed order");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        int64_t evaluations;
        double coarse = oscillator_error(rows[k].method, rows[k].steps, &evaluations);
        check_equal("evaluations: stages a step, and the end", evaluations,
                    rows[k].steps * rows[k].per_step + 1);
        double fine = oscillator_error(rows[k].method, 2 * rows[k].steps, &evaluations);
        check_near(rows[k].method, log2(coarse / fine), rows[k].order, rows[k].tolerance);
        check_below(rows[k].method, fine, 1e-2);
    }
}

/* ---- one step and its interior, estimates, undone steps */

/* Over one step h of x'' = -x from (1, 2): the largest interior error, and |estimate|. */
static double interior_error(const char *method, double h, double *estimate)
{
    rig r;
    rig_create(&r, &(rig_how){.model = oscillator, .method = method, .field = "full"});
    double worst = 0, q[1], v[1], a[1];
    if (rig_good(method, &r)) {
        r.s.now.v[0] = 2;
        r.code = r.s.method->step(&r.s, h, &r.error);
        *estimate = fabs(r.s.error_q[0]) + fabs(h * r.s.error_v[0]);
        for (int k = 1; k < 8 && r.code == 0; k++) {
            taut_state x = {.q = q, .v = v, .a = a, .lambda = a};
            r.code = r.s.method->dense(&r.s, k / 8., &x, &r.error);
            double t = k / 8. * h;
            worst =
                fmax(worst, fabs(q[0] - cos(t) - 2 * sin(t)) + fabs(v[0] + sin(t) - 2 * cos(t)));
            check_near("rate inside", a[0], -q[0], 1e-15);
        }
        rig_good(method, &r);
    }
    rig_destroy(&r);
    return worst;
}

static void test_inside(void)
{
    static const struct {
        const char *method;
        double h;
        int dense, estimate; /* powers of h */
    } rows[] = {{"rk4", 0.25, 4, 0}, {"dopri5", 0.25, 5, 5}, {"dop8", 1, 8, 8}};
    check_group("inside a step");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double e[2], d[2];
        for (int j = 0; j < 2; j++)
            d[j] = interior_error(rows[k].method, rows[k].h / (1 << j), &e[j]);
        check_near(rows[k].method, log2(d[0] / d[1]), rows[k].dense, 0.35);
        if (rows[k].estimate)
            check_near("estimate", log2(e[0] / e[1]), rows[k].estimate, 0.8);
        check_row(d[1] > 0, "%s: there is an error to speak of", rows[k].method);
    }
}

/* Driver's view: step, undo, smaller step, look inside. Evaluations: 12 + 11 (k_0 is kept), then
 * the end and 3 for dense output. */
static void test_undo(void)
{
    check_group("undone steps");
    rig r, straight;
    rig_create(&r, &(rig_how){.model = oscillator, .method = "dop8", .field = "full"});
    rig_create(&straight, &(rig_how){.model = oscillator, .method = "dop8", .field = "full"});
    taut_stepper *s = &r.s;
    check_equal("step", s->method->step(s, 0.5, &r.error), 0);
    check_equal("evaluations of a step", r.statistics.force_evaluations, 12);
    taut_state now = s->now;
    s->now = s->last;
    s->last = now;
    s->method->rejected(s);
    check_equal("again", s->method->step(s, 0.25, &r.error), 0);
    check_equal("one less the second time", r.statistics.force_evaluations, 23);
    straight.s.method->step(&straight.s, 0.25, &straight.error);
    check_near("as if it had not been", s->now.q[0], straight.s.now.q[0], 0);
    double q[1], v[1], a[1];
    taut_state x = {.q = q, .v = v, .a = a, .lambda = a};
    check_equal("dense", s->method->dense(s, 0.5, &x, &r.error), 0);
    check_equal("dense again", s->method->dense(s, 0.25, &x, &r.error), 0);
    check_equal("the end and three stages, once", r.statistics.force_evaluations, 27);
    check_equal("next step", s->method->step(s, 0.25, &r.error), 0);
    check_equal("its first stage is known", r.statistics.force_evaluations, 38);
    s->now.q[0] = 3;
    s->method->changed(s);
    check_equal("step from another state", s->method->step(s, 0.25, &r.error), 0);
    check_equal("and now it is not", r.statistics.force_evaluations, 50);
    check_row(fabs(s->now.q[0] - 3) < 0.4, "it begins at the new state: %g", s->now.q[0]);
    rig_destroy(&r);
    rig_destroy(&straight);
}

/* An event sets the end of a step to a point inside: between the beginning and there the
 * trajectory is still followed. */
static void test_shortened(void)
{
    static const char *methods[] = {"rk4", "dopri5", "dop8", "ab2"};
    check_group("a step cut short");
    for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++) {
        rig r;
        rig_create(&r, &(rig_how){.model = oscillator, .method = methods[k], .field = "full"});
        r.s.method->step(&r.s, 0.25, &r.error);
        r.s.now.t = 0.1;
        r.s.now.q[0] = cos(0.1);
        r.s.now.v[0] = -sin(0.1);
        r.s.method->changed(&r.s);
        double q[1], v[1], a[1];
        taut_state x = {.q = q, .v = v, .a = a, .lambda = a};
        check_equal(methods[k], r.s.method->dense(&r.s, 0.5, &x, &r.error), 0);
        check_near("t", x.t, 0.05, 1e-16);
        check_near("x", q[0], cos(0.05), 1e-6);
        check_near("v", v[0], -sin(0.05), 1e-6);
        rig_destroy(&r);
    }
}

/* ab2: a change restarts the history (an Euler step), a stabilisation does not. */
static void test_history(void)
{
    check_group("history");
    for (int k = 0; k < 2; k++) {
        rig r;
        rig_create(&r, &(rig_how){.model = oscillator, .method = "ab2", .field = "full"});
        taut_stepper *s = &r.s;
        s->method->step(s, 0.1, &r.error); /* x = 1, v = -0.1 */
        if (k)
            s->method->changed(s);
        else
            s->method->stabilized(s);
        s->method->step(s, 0.2, &r.error); /* weights 2 and -1 with history: r = 2 */
        check_near("x", s->now.q[0], k ? 1 - 0.02 : 1 + 0.2 * (2 * -0.1), 1e-15);
        check_near("v", s->now.v[0], k ? -0.1 - 0.2 : -0.1 + 0.2 * (2 * -1. + 1), 1e-15);
        rig_destroy(&r);
    }
}

/* ---- fields */

typedef struct field_row {
    const char *name, *model, *field;
    /* expected for the first coordinate and the first bond at t; lambda NaN: none */
    double t, q, v, lambda;
    double alpha, beta;
} field_row;

static const field_row field_rows[] = {
    {"spring", "[coordinates]\nx\n[mass]\nx = 2\n[bonds]\ns = x stiffness 8\n[start]\nx = 1\n",
     "full", 1, -0.41614683654714241, -1.8185948536513634, -3.3291746923771393, 0, 0},
    /* x'' = -5 x - 4 x': exp(-2 t) (cos t + 2 sin t), x' = -5 exp(-2 t) sin t */
    {"damped spring", "[coordinates]\nx\n[bonds]\ns = x stiffness 5 damping 4\n[start]\nx = 1\n",
     "full", 1, 0.30088339372679584, -0.5694035703218405, -0.7731973126533829, 0, 0},
    {"stiff potential", "[coordinates]\nx\n[stiff potential]\nx^2/2 scale 4\n[start]\nx = 1\n",
     "full", 1, -0.41614683654714241, -1.8185948536513634, NAN, 0, 0},
    {"mass matrix",
     "[coordinates]\nx, y\n[mass]\nx = 2, y = 2\nM[x,y] = 1\n[potential]\n6*(x^2 + "
     "y^2)\n[start]\nx = 1, y = 1\n",
     "full", 1, -0.41614683654714241, -1.8185948536513634, NAN, 0, 0},
    /* free flight in polar coordinates: r = sqrt(1 + t^2) */
    {"varying mass",
     "[coordinates]\nr, phi\n[kinetic]\n(r'^2 + r^2*phi'^2)/2\n[start]\nr = 1, phi' = 1\n", "full",
     1, 1.4142135623730951, 0.70710678118654757, NAN, 0, 0},
    /* two masses on a rigid bond, the first on a spring: x'' = -2 x / 2 */
    {"rod and spring",
     "[coordinates]\nx, y\n[bonds]\nrod = y - x - 1\nspring = x stiffness 2\n[start]\nx = 1, y = "
     "2\n",
     "index-1", 1, 0.54030230586813977, -0.8414709848078965, 0.54030230586813977, 0, 0},
    {"rod after spring",
     "[coordinates]\nx, y\n[bonds]\nspring = x stiffness 2\nrod = y - x - 1\n[start]\nx = 1, y = "
     "2\n",
     "index-1", 1, 0.54030230586813977, -0.8414709848078965, 1.0806046117362795, 0, 0},
    /* prescribed motion: the reaction is minus the acceleration */
    {"moving rod", "[coordinates]\nx\n[bonds]\nrod = x - cos(t)\n[start]\nx = 1\n", "index-1", 1,
     0.54030230586813977, -0.8414709848078965, 0.54030230586813977, 0, 0},
    /* y has no mass of its own but hangs on x: the force on y moves x */
    {"massless coordinate",
     "[coordinates]\nx, y\n[mass]\ny = 0\n[potential]\ny^2/2\n[bonds]\nrod = y - x\n[start]\nx = "
     "1, y = 1\n",
     "index-1", 1, 0.54030230586813977, -0.8414709848078965, -0.54030230586813977, 0, 0},
    /* made rigid: the pendulum of [B (1.1)] at rest; reference at t = 1, eps = 0 [docs/sources.md,
       B] */
    {"derived",
     "[coordinates]\ny1, y2\n[potential]\ny2\n[bonds]\nspring = sqrt(y1^2 + y2^2) - 1 compliance "
     "1e-4\n[start]\ny1 = 1\n",
     "rigid", 1, .87954813241188915462, -.46415735885099401163, 1.427429768828162, 0, 0},
    /* off the manifold: g'' + 4 g' + 4 g = 0, g = (1 + 2 t) exp(-2 t) */
    {"Baumgarte", "[coordinates]\nx\n[bonds]\nrod = x\n[start]\nx = 1\n", "index-1", 1,
     0.40600584970983811, -0.54134113294645081, -0.54134113294645081, 4, 4},
    {"first order", forced, "first", 0, 1, NAN, NAN, 0, 0}, /* no algebraic variables */
    /* index 2, linear in y: exact solution exp(t), y = -exp(t)/(2 - t) [C example 1] */
    {"index 2", "index2", "first", 0.5, 1.6487212707001282, -1.0991475138000854, NAN, 0, 0},
    /* index 2, cubic in y: x = sin t, y = cos(t)^(1/3) */
    {"nonlinear index 2",
     "[state]\nx\n[algebraic]\ny\n[rates]\nx' = y^3\n[constraints]\nc = x - sin(t)\n[start]\ny = "
     "0.9\n",
     "first", 1, 0.8414709848078965, 0.8144772166995121, NAN, 0, 0},
    /* two algebraic variables that share equations */
    {"coupled index 2",
     "[state]\nx, z\n[algebraic]\ny, w\n[rates]\nx' = y + 2*w\nz' = 3*y - w\n[constraints]\na = x "
     "+ z - sin(t)\nb = x - z - cos(t) + 1\n[start]\nx = 0\n",
     "first", 1, 0.19088664533801809, 0.17588413588659396, NAN, 0, 0},
};

static void test_fields(void)
{
    check_group("fields");
    for (size_t k = 0; k < sizeof field_rows / sizeof field_rows[0]; k++) {
        const field_row *row = &field_rows[k];
        rig r;
        rig_create(&r, &(rig_how){.model = row->model,
                                  .set = {strcmp(row->model, "index2") == 0 ? "nu=2" : NULL},
                                  .method = "dop8",
                                  .field = row->field,
                                  .alpha = row->alpha,
                                  .beta = row->beta});
        if (row->t > 0)
            rig_run(&r, row->t, 16);
        if (rig_good(row->name, &r)) {
            check_near(row->name, r.s.now.q[0], row->q, 1e-13);
            if (!isnan(row->v))
                check_near(row->name, taut_state_v(&r.s.now)[0], row->v,
                           row->field[0] == 'f' && row->field[1] == 'i' ? 2e-13 : 1e-13);
            if (!isnan(row->lambda))
                check_near("lambda", taut_state_lambda(&r.s.now)[0], row->lambda, 2e-12);
        }
        rig_destroy(&r);
    }
}

/* A stabilising term: h = z - t^3 decays as exp(-gamma t), for every start [C (2.3),
 * Proposition 2.1]. */
static void test_stabilised_field(void)
{
    check_group("stabilised field");
    static const char *models[] = {
        "[state]\nz\n[rates]\nz' = 3*t^2\n[invariants]\nh = z - t^3\n[start]\nz = 0\n",
        "[state]\nz, w\n[rates]\nz' = 3*t^2\nw' = -w\n[invariants]\nh = 5*(z - t^3)\n[start]\nz = "
        "0\n"};
    for (int k = 0; k < 2; k++) {
        rig r;
        rig_create(&r,
                   &(rig_how){.model = models[k], .method = "dop8", .field = "first", .alpha = 2});
        if (rig_good("create", &r)) {
            r.s.now.q[0] = 1;
            rig_run(&r, 1, 20);
            check_near("z", r.s.now.q[0], 1 + exp(-2), 1e-12);
            /* told that this is where it shall stay */
            check_equal("begin", taut_field_first_order_begin(r.s.field, 1, r.s.now.q, &r.error),
                        0);
            r.s.method->changed(&r.s);
            rig_run(&r, 2, 20);
            check_near("z", r.s.now.q[0], 8 + exp(-2), 1e-12);
        }
        rig_destroy(&r);
    }
}

/* Costs of one evaluation of each field, exactly. */
static void test_costs(void)
{
    check_group("costs");
    static const struct {
        const char *name, *model, *field;
        /* of 3 steps of rk4, and the end: 13 evaluations */
        int64_t forces, factorisations, solves, newton;
    } rows[] = {
        {"full", oscillator, "full", 13, 0, 0, 0},
        {"mass matrix", "[coordinates]\nx, y\n[mass]\nx = 2, y = 2\nM[x,y] = 1\n[start]\nx = 1\n",
         "full", 13, 1, 13, 0},
        {"varying mass",
         "[coordinates]\nr, phi\n[kinetic]\n(r'^2 + r^2*phi'^2)/2\n[start]\nr = 1, phi' = 1\n",
         "full", 13, 13, 13, 0},
        {"index-1", "slider_crank", "rigid", 13, 13, 13, 0},
        {"first order", forced, "first", 13, 0, 0, 0},
        {"index 2, linear in y", "index2", "first", 13, 13, 13, 13},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        rig r;
        rig_create(&r, &(rig_how){.model = rows[k].model, .method = "rk4", .field = rows[k].field});
        rig_run(&r, 0.03, 3);
        if (rig_good(rows[k].name, &r)) {
            check_equal(rows[k].name, r.statistics.force_evaluations, rows[k].forces);
            check_equal("factorisations", r.statistics.factorisations, rows[k].factorisations);
            check_equal("solves", r.statistics.solves, rows[k].solves);
            check_equal("Newton iterations", r.statistics.newton_iterations, rows[k].newton);
            check_equal("steps", r.statistics.steps, 3);
            /* multipliers are there already, elsewhere they are not counted */
            double lambda[8], q[8] = {1, 2};
            r.s.method->multipliers(&r.s, r.s.now.t, r.s.now.q, taut_state_v(&r.s.now), lambda,
                                    &r.error);
            r.s.method->multipliers(&r.s, 0, q, taut_state_v(&r.s.now), lambda, &r.error);
            check_equal("for output", r.statistics.force_evaluations, rows[k].forces);
        }
        rig_destroy(&r);
    }
}

static void test_refusals(void)
{
    check_group("refusals");
    static const struct {
        const char *model, *field;
        int code;
        const char *words;
    } rows[] = {
        {"slider_crank", "full", TAUT_ERROR_REFUSED, "'centre_x' is rigid"},
        {"kepler", "full", TAUT_ERROR_REFUSED, "mechanical"},
        {"chain", "first", TAUT_ERROR_REFUSED, "first-order"},
        {"[coordinates]\nx, y\n[mass]\ny = 0\n[potential]\nx^2 + y^2\n", "full", TAUT_ERROR_REFUSED,
         "that of 'y' is 0"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        rig r;
        rig_create(&r, &(rig_how){.model = rows[k].model, .method = "rk4", .field = rows[k].field});
        check_equal(rows[k].words, r.code, rows[k].code);
        check_contains("message", r.error.message, rows[k].words);
        rig_destroy(&r);
    }
    /* two rigid bonds that say the same: found when it is evaluated */
    rig r;
    rig_create(&r, &(rig_how){.model = "[coordinates]\nx, y\n[bonds]\na = x - y\nb = 2*x - 2*y\n",
                              .method = "rk4",
                              .field = "index-1"});
    check_equal("redundant rods", rig_run(&r, 1, 10), TAUT_ERROR_SINGULAR);
    check_contains("redundant rods", r.error.message, "depends on others such as");
    check_near("the state is as before", r.s.now.q[0], 0, 0);
    rig_destroy(&r);
    /* an algebraic variable that has no influence on the constraint */
    rig_create(&r, &(rig_how){.model = "[state]\nx, z\n[algebraic]\ny\n[rates]\nx' = 1\nz' = "
                                       "y\n[constraints]\nc = x - t\n",
                              .method = "rk4",
                              .field = "first"});
    check_equal("index 3", rig_run(&r, 1, 10), TAUT_ERROR_SINGULAR);
    check_contains("index 3", r.error.message, "index is above 2");
    rig_destroy(&r);
}

/* ---- callbacks that fail */

typedef struct trouble {
    int calls, at, code; /* the call of `force` that fails, and how; code 99: NaN */
} trouble;

static int pendulum_force(void *user, double t, const double *q, const double *v, double *f)
{
    trouble *x = user;
    (void)t, (void)q, (void)v;
    f[0] = 0;
    f[1] = -1;
    if (++x->calls != x->at)
        return 0;
    f[0] = x->code == 99 ? NAN : 0;
    return x->code == 99 ? 0 : x->code;
}

static int pendulum_bond(void *user, double t, const double *q, double *g)
{
    (void)user, (void)t;
    g[0] = (q[0] * q[0] + q[1] * q[1] - 1) / 2;
    return 0;
}

static int pendulum_jacobian(void *user, double t, const double *q, double *entries)
{
    (void)user, (void)t;
    entries[0] = q[0];
    entries[1] = q[1];
    return 0;
}

static int pendulum_gamma(void *user, double t, const double *q, const double *v, double *gamma)
{
    (void)user, (void)t, (void)q;
    gamma[0] = v[0] * v[0] + v[1] * v[1];
    return 0;
}

/* A step in which call k fails returns that, leaves the state, and can be taken again: the same
 * bits as without trouble. */
static void test_faults(void)
{
    static const char *methods[] = {"euler", "dopri5", "dop8", "ab2", "rattle"};
    static const int codes[] = {1, -6, 99};
    const double q0[] = {1, 0}, v0[] = {0, 0};
    trouble x = {0};
    taut_callbacks callbacks = {.size = sizeof callbacks,
                                .coordinates = 2,
                                .bonds = 1,
                                .start_q = q0,
                                .start_v = v0,
                                .force = pendulum_force,
                                .bond = pendulum_bond,
                                .jacobian = pendulum_jacobian,
                                .gamma = pendulum_gamma,
                                .user = &x};
    check_group("faults");
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        rig_how how = {.method = methods[m],
                       .field = strcmp(methods[m], "rattle") ? "index-1" : NULL};
        double good[4];
        int most = 0;
        for (int k = 0; k <= 3 * most; k++) {
            rig r;
            x = (trouble){.at = 0};
            rig_from(&r, &how, &callbacks);
            rig_run(&r, 0.1, 1);
            /* the first rate is evaluated again */
            (r.s.method->stabilized ? r.s.method->stabilized : r.s.method->changed)(&r.s);
            x = (trouble){.at = k ? 1 + (k - 1) / 3 : 0, .code = codes[(k + 2) % 3]};
            double before[4] = {r.s.now.q[0], r.s.now.q[1], r.s.now.v[0], r.s.now.v[1]};
            int status = r.s.method->step(&r.s, 0.1, &r.error);
            if (k == 0)
                most = x.calls;
            if (k > 0) {
                check_row(x.code == 99 ? status == TAUT_ERROR_EVALUATE
                          : x.code > 0 ? status > 0
                                       : status < 0,
                          "%s: call %d fails with %d: %d", methods[m], x.at, x.code, status);
                check_row(r.s.now.q[0] == before[0] && r.s.now.q[1] == before[1] &&
                              r.s.now.v[0] == before[2] && r.s.now.v[1] == before[3] &&
                              r.s.now.t == 0.1,
                          "%s: the state is as before", methods[m]);
                status = r.s.method->step(&r.s, 0.1, &r.error);
            }
            double now[4] = {r.s.now.q[0], r.s.now.q[1], r.s.now.v[0], r.s.now.v[1]};
            if (k == 0)
                memcpy(good, now, sizeof good);
            double off = 0;
            for (int i = 0; i < 4; i++)
                off = fmax(off, fabs(now[i] - good[i]));
            if (k > 0 && x.code < 0) { /* who asked to stop is not asked again */
                check_row(status == TAUT_ERROR_STOPPED, "%s: the next try after a stop: %d",
                          methods[m], status);
                rig_destroy(&r);
                continue;
            }
            check_row(status == 0 && off <= (m == 4 ? 1e-15 : 0),
                      "%s: the next try is good: %d, off by %g", methods[m], status, off);
            rig_destroy(&r);
        }
        check_row(most > 0, "%s: calls of a step: %d", methods[m], most);
    }
}

static void test_memory(void)
{
    check_group("memory");
    static const rig_how rows[] = {
        {.model = "slider_crank",
         .method = "dop8",
         .field = "rigid",
         .alpha = 1,
         .stabilize = "post"},
        {.model = "[coordinates]\nx, y\n[bonds]\nspring = x stiffness 2\nrod = y - x - "
                  "1\n[start]\nx = 1, y = 2\n",
         .method = "ab2",
         .field = "index-1",
         .stabilize = "post-simple"},
        {.model = "index2",
         .method = "dopri5",
         .field = "first",
         .alpha = 1,
         .stabilize = "project"},
        {.model = "kepler", .method = "rk4", .field = "first", .stabilize = "post-velocity"},
        {.model = "double_pendulum", .method = "rattle", .rigid = true},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        faulty f = {0};
        taut_allocator allocator = faulty_allocator(&f);
        rig_how how = rows[k];
        how.allocator = &allocator;
        rig r;
        rig_create(&r, &how);
        int64_t calls = f.calls;
        rig_run(&r, 0.02, 2);
        check_row(r.code == 0 && f.calls == calls,
                  "%s on %.20s: %d allocations while stepping (%s)", how.method, how.model,
                  (int)(f.calls - calls), r.error.message);
        rig_destroy(&r);
        check_equal("blocks left", f.live, 0);
        int64_t wrong = 0;
        for (int64_t fail = 1; fail <= calls; fail = faulty_next(fail)) {
            f = (faulty){.fail = fail};
            rig_create(&r, &how);
            wrong += r.code != TAUT_ERROR_MEMORY;
            rig_destroy(&r);
            wrong += f.live != 0;
        }
        check_equal("failures at every allocation", wrong, 0);
    }
}

int main(void)
{
    test_orders();
    test_inside();
    test_undo();
    test_shortened();
    test_history();
    test_fields();
    test_stabilised_field();
    test_costs();
    test_refusals();
    test_faults();
    test_memory();
    return check_done();
}
