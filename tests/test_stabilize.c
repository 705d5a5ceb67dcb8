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

/* Theorem 3.3: stabilisation does not reduce the order. */
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
    } kinds[] = {{"post", 0, 0},
                 {"project", 0, 0},
                 {"post-simple", 0, 0},
                 {"post-velocity", 0, 0},
                 {NULL, 4, 4}};
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

/* Example 2: z' = 3 t^2 by the midpoint rule lags by n h^3/4; the invariant is linear, so that
 * one step back ends exactly on it. */
static void test_example_2(void)
{
    static const char model[] =
        "[state]\nz\n[rates]\nz' = 3*t^2\n[invariants]\nh = z - t^3\n[start]\nz = 0\n";
    check_group("example 2");
    for (int k = 0; k < 3; k++) {
        const char *kinds[] = {NULL, "post", "project"};
        rig r;
        rig_create(
            &r, &(rig_how){
                    .model = model, .method = "midpoint", .field = "first", .stabilize = kinds[k]});
        rig_run(&r, 1, 10);
        if (rig_good("run", &r))
            check_near("z", r.s.now.q[0], k ? 1 : 1 - 10 * 1e-3 / 4, 1e-15);
        rig_destroy(&r);
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
    test_invariant_value();
    test_index_2();
    test_projection();
    test_refusals();
    return check_done();
}
