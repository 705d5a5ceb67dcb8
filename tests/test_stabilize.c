/* test_stabilize.c - stabilisation of rigid bonds and invariants: the numbers of Ascher, Qin, Reich
 * 1992 [C; docs/sources.md, C], orders kept, drift at rounding, refusals. */
#include "support/run.h"
#include "support/rig.h"

static const double pi = 3.14159265358979323846;

/* Slider crank at t = 1 [docs/sources.md, C, example 4]. */
static const double crank[4] = {-1.061270282397952442, 2.401214566116768558, -0.2909919279848426683,
                                -0.2952634692628417145};
static const double crank_rate = -1.074141060176316047; /* theta' */
static const double crank_lambda[3] = {-0.3730378631064774131, 3.431444380758191872,
                                       -6.723523373744880700};

static double crank_error(rig *r)
{
    double worst = fabs(r->s.now.v[0] - crank_rate);
    for (int i = 0; i < 4; i++)
        worst = fmax(worst, fabs(r->s.now.q[i] - crank[i]));
    return worst;
}

static void test_reference(void)
{
    check_group("slider crank at t = 1");
    static const struct {
        const char *stabilize;
        double alpha, beta;
    } rows[] = {
        {NULL, 0, 0}, {"post", 0, 0}, {"project", 0, 0}, {"post-simple", 0, 0}, {NULL, 4, 4}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        rig r;
        rig_create(&r, &(rig_how){.model = "slider_crank",
                                  .method = "dop8",
                                  .field = "rigid",
                                  .alpha = rows[k].alpha,
                                  .beta = rows[k].beta,
                                  .stabilize = rows[k].stabilize});
        rig_run(&r, 1, 20);
        if (rig_good("run", &r)) {
            const double *mu = r.s.now.lambda; /* mu1 = -l1, mu2 = l2, mu3 = l3 - l2 */
            check_below("error", crank_error(&r), 1e-12);
            check_near("lambda 1", -mu[0], crank_lambda[0], 1e-11);
            check_near("lambda 2", mu[1], crank_lambda[1], 1e-11);
            check_near("lambda 3", mu[1] + mu[2], crank_lambda[2], 1e-11);
        }
        rig_destroy(&r);
    }
}

static double crank_run(const char *method, const char *stabilize, int passes, double alpha,
                        double beta, int steps)
{
    rig r;
    rig_create(&r, &(rig_how){.model = "slider_crank",
                              .method = method,
                              .field = "rigid",
                              .alpha = alpha,
                              .beta = beta,
                              .stabilize = stabilize,
                              .passes = passes});
    rig_run(&r, 1, steps);
    double error = rig_good(method, &r) ? crank_error(&r) : NAN;
    rig_destroy(&r);
    return error;
}

/* Theorems 3.1 to 3.3: stabilisation does not reduce the order. */
static void test_orders(void)
{
    static const struct {
        const char *method;
        int order, steps;
        double tolerance;
    } methods[] = {{"euler", 1, 256, 0.1},
                   {"midpoint", 2, 64, 0.1},
                   {"rk4", 4, 16, 0.2},
                   {"dop8", 8, 2, 1.2},
                   {"ab2", 2, 128, 0.1}};
    static const struct {
        const char *stabilize;
        double alpha, beta;
    } kinds[] = {
        {"post", 0, 0},    {"project", 0, 0},  {"post-simple", 0, 0}, {"post-velocity", 0, 0},
        {"forward", 0, 0}, {"backward", 0, 0}, {NULL, 4, 4}};
    check_group("orders under stabilisation");
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            double e[2];
            for (int j = 0; j < 2; j++)
                e[j] = crank_run(methods[i].method, kinds[k].stabilize, 1, kinds[k].alpha,
                                 kinds[k].beta, methods[i].steps << j);
            double order = log2(e[0] / e[1]);
            check_row(fabs(order - methods[i].order) <= methods[i].tolerance ||
                          order > methods[i].order,
                      "%s with %s: order %.2f from errors %.2e, %.2e", methods[i].method,
                      kinds[k].stabilize ? kinds[k].stabilize : "Baumgarte", order, e[0], e[1]);
            check_row(e[1] < 0.01 && e[1] > 1e-16, "%s with %s: error %g", methods[i].method,
                      kinds[k].stabilize ? kinds[k].stabilize : "Baumgarte", e[1]);
        }
}

/* Largest drift over steps to t = end. */
static void largest_drift(const rig_how *how, double h, int steps, double *position,
                          double *velocity)
{
    rig r;
    rig_create(&r, how);
    *position = *velocity = 0;
    for (int k = 1; k <= steps && r.code == 0; k++) {
        double p, v;
        rig_run(&r, h * k, 1);
        rig_drift(&r, &p, &v);
        *position = fmax(*position, p);
        *velocity = fmax(*velocity, v);
    }
    rig_good(how->stabilize ? how->stabilize : "none", &r);
    rig_destroy(&r);
}

/* Example 4: Adams-Bashforth 2, h = 0.1, t <= 10, F as in (4.8), history at stabilised points
 * [docs/sources.md, C]. */
static void test_example_4(void)
{
    static const struct {
        const char *stabilize;
        double position, velocity, digits;
    } rows[] = {{NULL, 1.110e-2, 7.114e-3, 5e-4},
                {"post-simple", 2.218e-7, 7.476e-4, 5e-4},
                {"post-velocity", 6.61e-3, 0, 2e-3},
                {"post-position", 2.37e-7, 1.10e-2, 4e-3}};
    check_group("example 4, drift");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double p, v;
        largest_drift(&(rig_how){.model = "slider_crank",
                                 .method = "ab2",
                                 .field = "rigid",
                                 .stabilize = rows[k].stabilize},
                      0.1, 100, &p, &v);
        check_near("position", p, rows[k].position, rows[k].digits * rows[k].position);
        check_near("velocity", v, rows[k].velocity,
                   rows[k].velocity > 0 ? rows[k].digits * rows[k].velocity : 1e-15);
    }
    /* with "both" the drift shrinks as h^6 in the position and h^3 in the velocity */
    double p[2], v[2];
    for (int j = 0; j < 2; j++)
        largest_drift(&(rig_how){.model = "slider_crank",
                                 .method = "ab2",
                                 .field = "rigid",
                                 .stabilize = "post-simple"},
                      0.05 / (1 << j), 200 << j, &p[j], &v[j]);
    check_near("order of the position's drift", log2(p[0] / p[1]), 6, 0.5);
    check_near("order of the velocity's drift", log2(v[0] / v[1]), 3, 0.3);
}

/* Drift orders: position 2p+2 with one Newton step; the velocity is at rounding [docs/sources.md,
 * C]. Two passes, or projection: both at rounding. */
static void test_drift(void)
{
    static const struct {
        const char *method;
        int order;
    } rows[] = {{"euler", 4}, {"midpoint", 6}};
    check_group("drift");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double p[2], v[2];
        for (int j = 0; j < 2; j++)
            largest_drift(&(rig_how){.model = "slider_crank",
                                     .method = rows[k].method,
                                     .field = "rigid",
                                     .stabilize = "post"},
                          0.1 / (1 << j), 20 << j, &p[j], &v[j]);
        check_near(rows[k].method, log2(p[0] / p[1]), rows[k].order, 0.4);
        check_below("velocity", fmax(v[0], v[1]), 2e-15);
    }
    static const struct {
        const char *method, *stabilize;
        int passes;
        double h;
    } tight[] = {{"dop8", "post", 1, 0.1},
                 {"rk4", "post", 2, 0.05},
                 {"euler", "project", 0, 0.01},
                 {"midpoint", "post", 2, 0.02}};
    for (size_t k = 0; k < sizeof tight / sizeof tight[0]; k++) {
        double p, v;
        largest_drift(&(rig_how){.model = "slider_crank",
                                 .method = tight[k].method,
                                 .field = "rigid",
                                 .stabilize = tight[k].stabilize,
                                 .passes = tight[k].passes},
                      tight[k].h, (int)(100 / tight[k].h + 0.5), &p, &v);
        check_below("position drift up to t = 100", p, 1e-12);
        check_below("velocity drift up to t = 100", v, 1e-12);
    }
}

/* Table 3.1: p2 after one and two periods, with the digits of docs/sources.md, C. */
static void test_kepler(void)
{
    static const struct {
        const char *method, *stabilize;
        int steps; /* a period */
        double one, two, digits;
    } rows[] = {{"euler", NULL, 2000, -.63041, -.91527, 1e-5},
                {"euler", "post-velocity", 2000, 1.2665e-4, 2.4218e-4, 5e-5},
                {"euler", "post", 2000, 4.839e-5, 9.727e-5, 2e-4},
                {"euler", NULL, 4000, -.35601, -.88787, 2e-5},
                {"euler", "post-velocity", 4000, 3.2382e-5, 6.3328e-5, 5e-5},
                {"midpoint", NULL, 2000, 4.7969e-4, 9.4577e-4, 5e-5}};
    check_group("Kepler, Table 3.1");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        rig r;
        rig_create(&r, &(rig_how){.model = "kepler",
                                  .method = rows[k].method,
                                  .field = "first",
                                  .stabilize = rows[k].stabilize});
        rig_run(&r, 2 * pi, rows[k].steps);
        double one = r.s.now.q[1];
        rig_run(&r, 4 * pi, rows[k].steps);
        if (rig_good(rows[k].method, &r)) {
            check_near("p2(2 pi)", one, rows[k].one, rows[k].digits * fabs(rows[k].one));
            check_near("p2(4 pi)", r.s.now.q[1], rows[k].two, rows[k].digits * fabs(rows[k].two));
            check_equal("evaluations", r.statistics.force_evaluations,
                        2 * rows[k].steps * (rows[k].method[0] == 'm' ? 2 : 1) + 1);
        }
        rig_destroy(&r);
    }
}

/* An ellipse closes after 2 pi: the order of the method remains with the energy kept. */
static void test_kepler_orders(void)
{
    static const struct {
        const char *method;
        int order, steps;
    } rows[] = {{"rk4", 4, 400}, {"dopri5", 5, 200}, {"dop8", 8, 60}};
    static const char *kinds[] = {"post", "project", "post-velocity"};
    check_group("Kepler, orders");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int i = 0; i < 3; i++) {
            double e[2];
            for (int j = 0; j < 2; j++) {
                rig r;
                rig_create(&r, &(rig_how){.model = "kepler",
                                          .method = rows[k].method,
                                          .field = "first",
                                          .stabilize = kinds[i]});
                rig_run(&r, 2 * pi, rows[k].steps << j);
                rig_good(rows[k].method, &r);
                e[j] = fabs(r.s.now.q[0] - 0.5) + fabs(r.s.now.q[1]) + fabs(r.s.now.q[2]) +
                       fabs(r.s.now.q[3] - sqrt(3));
                rig_destroy(&r);
            }
            check_row(log2(e[0] / e[1]) > rows[k].order - 0.4 && e[1] < 1e-4 && e[1] > 1e-15,
                      "%s with %s: order %.2f, error %.2e", rows[k].method, kinds[i],
                      log2(e[0] / e[1]), e[1]);
        }
}

/* Example 2: z' = 3 t^2 by the midpoint rule lags by n h^3/4; the invariant is linear, so that one
 * step of post returns to it, and with alpha the deviation is known in closed form: d_n = a d_{n-1}
 * - b h^3/4. (For forward, (3.4), that is the formula of docs/sources.md, C.) */
static void test_example_2(void)
{
    static const char model[] =
        "[state]\nz\n[rates]\nz' = 3*t^2\n[invariants]\nh = z - t^3\n[start]\nz = 0\n";
    static const struct {
        const char *form;
        double alpha, a, b;
    } rows[] = {{NULL, 0, 1, 1},          {"post", 1, 0, 0},         {"project", 1, 0, 0},
                {"post", 0.3, 0.7, 0.7},  {"post", 1.5, -0.5, -0.5}, {"forward", 1, 0, 1},
                {"forward", 0.3, 0.7, 1}, {"backward", 1, 0.5, 0.5}, {"backward", 9, 0.1, 0.1}};
    check_group("example 2");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        rig r;
        double off = 0;
        rig_create(&r, &(rig_how){.model = model,
                                  .method = "midpoint",
                                  .field = "first",
                                  .stabilize = rows[k].form,
                                  .share = rows[k].alpha});
        rig_run(&r, 1, 10);
        for (int n = 0; n < 10; n++)
            off = rows[k].a * off - rows[k].b * 1e-3 / 4;
        if (rig_good("run", &r))
            check_near(rows[k].form ? rows[k].form : "none", r.s.now.q[0], 1 + off, 2e-15);
        rig_destroy(&r);
    }
}

/* (3.7): the drift decreases as 1/alpha, and is that of project for a large one. */
static void test_backward(void)
{
    static const struct {
        const char *model, *field, *method;
        double h;
    } rows[] = {{"kepler", "first", "midpoint", 0.05}, {"slider_crank", "rigid", "midpoint", 0.05}};
    check_group("backward");
    for (int k = 0; k < 2; k++) {
        static const double alpha[] = {30, 300, 1e14};
        double p[3], v[3];
        for (int j = 0; j < 3; j++)
            largest_drift(&(rig_how){.model = rows[k].model,
                                     .field = rows[k].field,
                                     .method = rows[k].method,
                                     .stabilize = "backward",
                                     .share = alpha[j]},
                          rows[k].h, 40, &p[j], &v[j]);
        check_near("1/alpha", p[0] / p[1], 10, 0.5);
        check_below("alpha = 1e14", fmax(p[2], v[2]), 1e-14);
    }
}

/* The direction of D: unit is (4.7), 2p + 2 in the positions; simple is (4.8), p + 1 in the
 * velocities [docs/sources.md, C]. */
static void test_directions(void)
{
    static const struct {
        const char *method, *direction, *of;
        double position, velocity; /* orders of the drift; 0: not asserted */
    } rows[] = {{"euler", "unit", NULL, 4, 0},
                {"midpoint", "unit", NULL, 6, 0},
                {"euler", "simple", NULL, 0, 2},
                {"midpoint", "simple", NULL, 0, 3},
                {"midpoint", "mass", "position", 6, 0}};
    check_group("directions");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double p[2], v[2];
        for (int j = 0; j < 2; j++)
            largest_drift(&(rig_how){.model = "slider_crank",
                                     .method = rows[k].method,
                                     .field = "rigid",
                                     .stabilize = "post",
                                     .of = rows[k].of,
                                     .direction = rows[k].direction},
                          0.05 / (1 << j), 40 << j, &p[j], &v[j]);
        if (rows[k].position > 0)
            check_near("positions", log2(p[0] / p[1]), rows[k].position, 0.45);
        if (rows[k].velocity > 0)
            check_near("velocities", log2(v[0] / v[1]), rows[k].velocity, 0.3);
        else if (!rows[k].of)
            check_below("velocities", v[1], 3e-15);
    }
}

/* Continuous stabilisation of a constraint that does not hold at the initial state: c' = -gamma c
 * by (1.6) and (1.7), c' = -gamma H H^T c by (1.8). Index 3: g'' + gamma1 g' + gamma2 g = 0. */
static void test_continuous(void)
{
    static const char model[] = "[state]\nx1, x2\n[algebraic]\ny\n"
                                "[rates]\nx1' = 2*y + sin(t)\nx2' = y - x1\n"
                                "[constraints]\nc = x1 + 2*x2\n[start]\nx1 = 0.1, x2 = 0\n";
    static const struct {
        const char *direction;
        double rate;
    } rows[] = {{"control", 3}, {"transpose", 3}, {"gradient", 15}};
    double x[3], end;
    check_group("continuous");
    for (int k = 0; k < 3; k++) {
        rig r;
        rig_create(&r, &(rig_how){.model = model,
                                  .method = "dop8",
                                  .field = "first",
                                  .alpha = 3,
                                  .direction = rows[k].direction});
        rig_run(&r, 0.5, 40);
        if (rig_good(rows[k].direction, &r)) {
            x[k] = r.s.now.q[0];
            check_near(rows[k].direction, x[k] + 2 * r.s.now.q[1], 0.1 * exp(-0.5 * rows[k].rate),
                       1e-12);
        }
        rig_destroy(&r);
    }
    check_row(fabs(x[0] - x[1]) > 1e-3, "control and transpose take different ways: %g, %g", x[0],
              x[1]);
    static const char pendulum[] = "[coordinates]\nx, y\n[potential]\ny\n[bonds]\n"
                                   "rod = x^2 + y^2 - 1   rigid\n[start]\nx = 1.1, y = 0\n";
    rig r;
    rig_create(
        &r, &(rig_how){
                .model = pendulum, .method = "dop8", .field = "index-1", .alpha = 2, .beta = 26});
    rig_run(&r, 1, 100);
    end = r.s.now.q[0] * r.s.now.q[0] + r.s.now.q[1] * r.s.now.q[1] - 1;
    if (rig_good("index 3", &r))
        check_near("g", end, 0.21 * exp(-1) * (cos(5) + sin(5) / 5), 1e-11);
    rig_destroy(&r);
}

/* Linear invariants are kept by every method without help, to rounding. */
static void test_linear(void)
{
    static const char model[] = "[state]\nx, y, z\n[rates]\nx' = y*z - x\ny' = x - 2*y*z\n"
                                "z' = y*z\n[invariants]\ntotal = x + y + z\n"
                                "[start]\nx = 1, y = 0.4, z = 0.3\n[run]\nuntil = 5\n";
    check_group("linear invariants");
    for (int k = 0; taut_method_table[k]; k++) {
        const taut_method *method = taut_method_table[k];
        if (method->averages || (!method->uses_field && !method->first_order))
            continue;
        char options[120];
        snprintf(options, sizeof options, "method=%s step=0.05 stabilize=none", method->name);
        driven d = driven_create(model, options, NULL);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        if (driven_good(options, &d)) {
            const double *q = taut_solver_position(d.solver);
            check_near(method->name, q[0] + q[1] + q[2], 1.7, 2e-14);
        }
        driven_destroy(&d);
    }
}

/* Quadratic ones by Gauss methods [section 5]: a rigid body, |L|^2 and the energy. Others drift. */
static void test_quadratic(void)
{
    static const char model[] =
        "[state]\nx, y, z\n[rates]\nx' = (1/3 - 1/2)*y*z\ny' = (1 - 1/3)*z*x\nz' = (1/2 - 1)*x*y\n"
        "[invariants]\nspin = x^2 + y^2 + z^2\nenergy = x^2/2 + y^2/4 + z^2/6\n"
        "[start]\nx = 0.8, y = 0.6, z = 0.4\n[run]\nuntil = 50\n";
    static const struct {
        const char *method;
        double least, most;
    } rows[] = {{"gauss2", 0, 1e-13}, {"gauss4", 0, 1e-13}, {"gauss6", 0, 1e-13},
                {"radau5", 1e-10, 1}, {"rk4", 1e-10, 1},    {"midpoint", 1e-6, 1}};
    check_group("quadratic invariants");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[120];
        taut_result result = {.size = sizeof result};
        snprintf(options, sizeof options, "method=%s step=0.2 stabilize=none", rows[k].method);
        driven d = driven_create(model, options, NULL);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        if (driven_good(options, &d)) {
            taut_solver_result_get(d.solver, &result, NULL);
            check_row(result.drift_position >= rows[k].least &&
                          result.drift_position <= rows[k].most,
                      "%s: drift %g", rows[k].method, result.drift_position);
        }
        driven_destroy(&d);
    }
}

/* What stabilisation costs is counted apart: one pass has two factorisations and two solves a step,
 * (4.8) one and two; none has none. A second pass is made only where it is not rounding. */
static void test_cost(void)
{
    static const struct {
        const char *options;
        int factorisations, solves, evaluations;
        int more; /* allowed in all 100 steps */
    } rows[] = {{"post stabilize-passes=1", 2, 2, 2, 0},
                {"post", 2, 2, 2, 15},
                {"post-simple", 2, 4, 2, 0},
                {"post-simple stabilize-refresh=50", 0, 4, 2, 3},
                {"post stabilize-solver=sor", 0, 0, 3, 0},
                {"post-velocity", 2, 2, 2, 0},
                {"forward", 1, 2, 1, 0},
                {"none", 0, 0, 0, 0}};
    check_group("cost");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[200];
        taut_result result = {.size = sizeof result};
        snprintf(options, sizeof options, "motion=rigid method=rk4 step=0.01 until=1 stabilize=%s",
                 rows[k].options);
        driven d = driven_create("[coordinates]\nx, y\n[potential]\ny\n[bonds]\n"
                                 "rod = sqrt(x^2 + y^2) - 1   rigid\n[start]\nx = 1\n",
                                 options, NULL);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        if (driven_good(options, &d)) {
            taut_solver_result_get(d.solver, &result, NULL);
            const taut_statistics *s = &result.statistics;
            const int64_t got[3] = {s->stabilizer_factorisations, s->stabilizer_solves,
                                    s->stabilizer_evaluations};
            const int expected[3] = {rows[k].factorisations, rows[k].solves, rows[k].evaluations};
            for (int i = 0; i < 3; i++)
                check_row(got[i] >= 100 * expected[i] && got[i] <= 100 * expected[i] + rows[k].more,
                          "%s: %d of kind %d", options, (int)got[i], i);
            check_row(s->solves >= s->stabilizer_solves + 400, "%lld solves in all",
                      (long long)s->solves);
        }
        driven_destroy(&d);
    }
}

/* The same through the options of a run; what does not fit is refused. */
static void test_options(void)
{
    static const struct {
        const char *model, *options;
        int code;
        const char *words;
    } rows[] = {
        {"kepler", "stabilize=forward stabilize-alpha=0.5 method=rk4 step=0.01", 0, ""},
        {"kepler", "stabilize=backward stabilize-alpha=50 method=adams", 0, ""},
        {"kepler", "stabilize=post stabilize-direction=gradient stabilize-alpha=0.1 method=dop8", 0,
         ""},
        {"index2", "stabilize=baumgarte stabilize-direction=control method=dop8 step=0.001", 0, ""},
        {"slider_crank", "motion=rigid stabilize=backward stabilize-alpha=1e6 method=dop8", 0, ""},
        {"slider_crank", "motion=rigid stabilize=forward method=dopri5", 0, ""},
        {"slider_crank", "motion=rigid stabilize=baumgarte stabilize-damping=7 method=dop8", 0, ""},
        {"kepler", "stabilize=post stabilize-alpha=2 method=dop8", TAUT_ERROR_USAGE, "below 2"},
        {"kepler", "stabilize=post stabilize-direction=mass method=dop8", TAUT_ERROR_REFUSED,
         "mechanical"},
        {"kepler", "stabilize=project stabilize-alpha=0.5 method=dop8", TAUT_ERROR_REFUSED,
         "all the way"},
        {"kepler", "stabilize=backward stabilize-direction=gradient method=dop8",
         TAUT_ERROR_REFUSED, "post and forward"},
        {"kepler", "stabilize=post stabilize-of=position method=dop8", TAUT_ERROR_REFUSED,
         "positions alone"},
        {"kepler", "stabilize=baumgarte stabilize-direction=control method=dop8",
         TAUT_ERROR_REFUSED, "index 2"},
        {"slider_crank", "motion=rigid stabilize=post stabilize-direction=transpose method=dop8",
         TAUT_ERROR_REFUSED, "first-order"},
        {"slider_crank",
         "motion=rigid stabilize=post stabilize-direction=gradient stabilize-alpha=0.1 method=dop8",
         0, ""},
        {"slider_crank", "motion=rigid stabilize=post stabilize-refresh=10 method=dop8", 0, ""},
        {"slider_crank", "motion=rigid stabilize=post stabilize-solver=sor method=dop8", 0, ""},
        {"kepler", "stabilize=post stabilize-refresh=5 method=dop8", 0, ""},
        {"kepler", "stabilize=forward stabilize-solver=diagonal method=dop8", 0, ""},
        {"slider_crank", "motion=rigid stabilize=project stabilize-refresh=10 method=dop8",
         TAUT_ERROR_REFUSED, "post and forward"},
        {"kepler",
         "stabilize=post stabilize-direction=gradient stabilize-alpha=0.1 stabilize-solver=sor "
         "method=dop8",
         TAUT_ERROR_REFUSED, "no matrix"}};
    check_group("options");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char path[400];
        driven d = {0};
        snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, rows[k].model);
        d.code = taut_system_load(path, NULL, &d.system, &d.error);
        driven_equip(&d, rows[k].options, NULL);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        check_row(d.code == rows[k].code && strstr(d.error.message, rows[k].words), "%s %s: %s: %s",
                  rows[k].model, rows[k].options, taut_code_name(d.code), d.error.message);
        driven_destroy(&d);
    }
}

/* Invariants keep the value they start with, whatever it is: x^2 + y^2 = 25, given or found. */
static void test_invariant_value(void)
{
    static const char model[] = "[state]\nx, y\n[rates]\nx' = y\ny' = -x\n[invariants]\nsize = x^2 "
                                "+ y^2\n[start]\nx = 3, y = 4\n";
    check_group("value of an invariant");
    for (int k = 0; k < 2; k++) {
        rig r;
        rig_create(
            &r, &(rig_how){
                    .model = model, .method = "euler", .field = "first", .stabilize = "project"});
        if (rig_good("create", &r) && k) {
            r.s.now.q[1] = 0;
            check_equal("begin", taut_stabilizer_begin(r.projector, 0, r.s.now.q, NULL, &r.error),
                        0);
        }
        rig_run(&r, 1, 10);
        if (rig_good("run", &r))
            check_near("x^2 + y^2", r.s.now.q[0] * r.s.now.q[0] + r.s.now.q[1] * r.s.now.q[1],
                       k ? 9 : 25, 2e-14);
        rig_destroy(&r);
    }
}

/* Index 2 [C example 1] with nu = 2 (explicit methods cannot follow nu = 1000): orders 1, 4, 8
 * for x, and the constraint is linear. */
static void test_index_2(void)
{
    static const struct {
        const char *method;
        int order, steps;
    } rows[] = {{"euler", 1, 64}, {"rk4", 4, 8}, {"dop8", 8, 2}};
    check_group("index 2");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        double e[2], p, v;
        for (int j = 0; j < 2; j++) {
            rig r;
            rig_create(&r, &(rig_how){.model = "index2",
                                      .set = {"nu=2"},
                                      .method = rows[k].method,
                                      .field = "first",
                                      .stabilize = "post"});
            rig_run(&r, 1, rows[k].steps << j);
            e[j] = rig_good(rows[k].method, &r)
                       ? fmax(fabs(r.s.now.q[0] - exp(1)), fabs(r.s.now.q[1] - exp(1)))
                       : NAN;
            rig_drift(&r, &p, &v);
            check_below("constraint", p, 2e-14);
            check_near("y", r.s.now.y[0], -exp(1), 20 * e[j] + 1e-14);
            rig_destroy(&r);
        }
        double order = log2(e[0] / e[1]);
        check_row(order > rows[k].order - 0.5 && e[1] < 0.1, "%s: order %.2f, error %.2e",
                  rows[k].method, order, e[1]);
    }
}

/* A state that is moved stays where it was when that fails; a good one moves negligibly; a far one
 * comes back. */
static void test_projection(void)
{
    check_group("projection");
    static const char *kinds[] = {"post", "project"};
    for (int k = 0; k < 2; k++) {
        rig r;
        rig_create(&r, &(rig_how){.model = "double_pendulum",
                                  .set = {"lift=0"},
                                  .method = "rk4",
                                  .field = "rigid",
                                  .stabilize = kinds[k],
                                  .passes = 3});
        if (rig_good("create", &r)) {
            double *q = r.s.now.q, *v = r.s.now.v, p, w;
            check_equal("good state", rig_stabilize(&r), 0);
            check_near("x1", q[0], 1, 1e-15);
            check_near("y2'", v[3], 0.5, 1e-15);
            q[0] = 1.1, q[1] = 0.3, v[0] = 1;
            check_equal("far state", rig_stabilize(&r), 0);
            rig_drift(&r, &p, &w);
            check_below("rods", p, k ? 1e-15 : 1e-4);
            check_below("rates", w, 1e-14);
            check_equal("no force evaluations", r.statistics.force_evaluations, 0);
            q[0] = q[1] = 0;
            check_equal("no direction", rig_stabilize(&r), TAUT_ERROR_EVALUATE);
            check_row(q[0] == 0 && q[1] == 0, "the state is as before");
        }
        rig_destroy(&r);
    }
}

static void test_refusals(void)
{
    static const struct {
        const char *model, *kind, *field;
        int passes, code;
        const char *words;
    } rows[] = {
        {"forced_spring", "post", "full", 0, TAUT_ERROR_REFUSED, "no rigid bonds"},
        {"[state]\nx\n[rates]\nx' = -x\n", "post", "first", 0, TAUT_ERROR_REFUSED,
         "neither [constraints] nor [invariants]"},
        {"kepler", "post-simple", "first", 0, TAUT_ERROR_REFUSED, "mechanical"},
        {"kepler", "pots", "first", 0, TAUT_ERROR_USAGE, "'pots'"},
        {"kepler", "post", "first", -1, TAUT_ERROR_USAGE, "passes"},
        {"[state]\nx\n[rates]\nx' = -2*x\n[invariants]\ni = x*exp(2*t)\n[start]\nx = 1\n",
         "post-velocity", "first", 0, TAUT_ERROR_REFUSED, "rate of another"},
    };
    check_group("refusals");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        rig r;
        rig_create(&r, &(rig_how){.model = rows[k].model,
                                  .method = "rk4",
                                  .field = rows[k].field,
                                  .stabilize = rows[k].kind,
                                  .passes = rows[k].passes});
        check_equal(rows[k].words, r.code, rows[k].code);
        check_contains("message", r.error.message, rows[k].words);
        rig_destroy(&r);
    }
}

/* ---- through the driver */

/* Rigid double pendulum from (31)-(32) of [A] at t = 10 (recipe in test_rattle.c): at most 1.3
 * times the evaluations of DOP853 in scipy, 191, 274, 429 [docs/sources.md, F], each run near its
 * tolerance. */
static void test_evaluations(void)
{
    static const char model[] =
        "[coordinates]\nx1, y1, x2, y2\n[bonds]\ninner = sqrt(x1^2 + y1^2) - 1 stiffness 1e8\n"
        "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness 1e8\n"
        "[start]\nx1 = 1, x2 = 2, y1' = -0.5, y2' = 0.5\n";
    static const double folded[4] = {0.99934375713186321, -0.036222300887320576,
                                     0.66152386461392287, 0.90498847264811194};
    static const struct {
        const char *tolerance;
        int64_t peer;
    } rows[] = {{"1e-4", 191}, {"1e-6", 274}, {"1e-8", 429}};
    check_group("evaluations of dop8");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[200];
        snprintf(options, sizeof options, "motion=rigid method=dop8 until=10 rtol=%s atol=%s",
                 rows[k].tolerance, rows[k].tolerance);
        driven d = driven_create(model, options, NULL);
        if (driven_good("create", &d)) {
            double worst = 0;
            taut_result result = {.size = sizeof result};
            check_row(taut_solver_advance(d.solver, 10, &d.error) == 0, "advance: %s",
                      d.error.message);
            taut_solver_result_get(d.solver, &result, NULL);
            for (int i = 0; i < 4; i++)
                worst = fmax(worst, fabs(taut_solver_position(d.solver)[i] - folded[i]));
            check_below("evaluations", (double)result.statistics.force_evaluations,
                        1.3 * (double)rows[k].peer);
            check_below("error over tolerance", worst / atof(rows[k].tolerance), 10);
            check_below("drift", fmax(result.drift_position, result.drift_velocity), 1e-14);
        }
        driven_destroy(&d);
    }
}

/* Every stabilised run writes rows inside its steps: they are on the circle as well as dense
 * output is, and the energy is kept. */
static void test_rows(void)
{
    static const char model[] =
        "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[start]\nx = 1\n";
    static const struct {
        const char *options;
        double rod, energy;
    } rows[] = {{"method=dop8 rtol=1e-9 atol=1e-12", 1e-8, 1e-7},
                {"method=dopri5 rtol=1e-9 atol=1e-12", 1e-8, 1e-6},
                {"method=rk4 step=0.01", 1e-8, 1e-7},
                {"method=rattle step=0.01", 1e-7, 2e-4},
                {"method=ab2 step=0.001", 1e-9, 1e-3}};
    check_group("rows");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        static kept kept_rows;
        char options[200];
        snprintf(options, sizeof options, "until=10 every=0.0137 %s", rows[k].options);
        driven d = driven_create(model, options, NULL);
        if (driven_good(rows[k].options, &d)) {
            taut_sink sink = kept_sink(&kept_rows);
            double rod = 0, energy = 0, pull = 0;
            check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "run: %s",
                      d.error.message);
            for (int i = 0; i < kept_rows.rows; i++) {
                rod = fmax(rod, fabs(hypot(kept_rows.q[i][0], kept_rows.q[i][1]) - 1));
                energy = fmax(energy, fabs(kept_rows.energy[i]));
                /* lambda = v^2 - y = -3 y for a pendulum that starts at rest with y = 0 */
                pull = fmax(pull, fabs(kept_rows.lambda[i][0] + 3 * kept_rows.q[i][1]));
            }
            check_equal("rows", kept_rows.rows, 731);
            check_row(rod <= rows[k].rod, "%s: rod %g, allowed %g", rows[k].options, rod,
                      rows[k].rod);
            check_row(energy <= rows[k].energy, "%s: energy %g, allowed %g", rows[k].options,
                      energy, rows[k].energy);
            check_row(pull <= 3 * rows[k].energy, "%s: lambda is off by %g", rows[k].options, pull);
        }
        driven_destroy(&d);
    }
}

int main(void)
{
    test_evaluations();
    test_rows();
    test_reference();
    test_orders();
    test_example_4();
    test_drift();
    test_kepler();
    test_kepler_orders();
    test_example_2();
    test_backward();
    test_directions();
    test_continuous();
    test_linear();
    test_quadratic();
    test_cost();
    test_options();
    test_invariant_value();
    test_index_2();
    test_projection();
    test_refusals();
    return check_done();
}
