/* test_projecting.c - projection onto the slow manifold inside runs [A section 6]: orders of (38)
 * for every stiffness, counts, adaptive step size, all the times at which `project` can act, rigid
 * motion by artificial stiffness, forces without derivatives, refusals.
 *
 * Oracles: FACTS A (references in 30 digits from the exact slow point over (31)-(32) at omega =
 * 1000, and figure 6 with the settings of the paper); full motion from the slow point; rigid
 * motion. */
#include <math.h>
#include <taut/taut.h>

#include "support/run.h"

static const char pendulum[] =
    "[parameters]\nomega = %g\n[coordinates]\nx1, y1, x2, y2\n[bonds]\n"
    "inner = sqrt(x1^2 + y1^2) - 1               stiffness omega^2\n"
    "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1     stiffness omega^2\n"
    "[start]\nx1 = 1, x2 = 2, y1' = -0.5, y2' = 0.5\n%s[run]\nuntil = 10\nevery = 20\n";

/* A at t = 10, omega = 1000: from the exact slow point, and from that of ipa */
static const double exact_q[4] = {0.99934340676157869, -0.03622915908201496, 0.66151150110952525,
                                  0.90497759592155011},
                    exact_v[4] = {0.00109905864343522, 0.03032224325356639, -0.67391036767002129,
                                  -0.21196201577063433};

typedef struct ending {
    double q[4], v[4], lambda[2];
    taut_statistics count;
    bool good;
} ending;

static double distance(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static ending finish(driven *d, const char *what)
{
    ending e = {.q = {NAN, NAN, NAN, NAN}};
    if (d->code == 0)
        d->code = taut_solver_run(d->solver, NULL, 0, NULL, NULL, &d->error);
    e.good = driven_good(what, d);
    if (e.good) {
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(d->solver, &result, NULL);
        e.count = result.statistics;
        memcpy(e.q, taut_solver_position(d->solver), sizeof e.q);
        memcpy(e.v, taut_solver_velocity(d->solver), sizeof e.v);
        taut_sizes sizes = {.size = sizeof sizes};
        taut_system_sizes_get(d->system, &sizes, NULL);
        if (sizes.bonds > 0)
            memcpy(e.lambda, taut_solver_multipliers(d->solver), sizeof e.lambda);
    }
    driven_destroy(d);
    return e;
}

static driven make(double omega, const char *more, const char *options,
                   const taut_allocator *allocator)
{
    char text[1000];
    snprintf(text, sizeof text, pendulum, omega, more);
    return driven_create(text, options, allocator);
}

static ending run(double omega, const char *options)
{
    driven d = make(omega, "", options, NULL);
    char what[300];
    snprintf(what, sizeof what, "omega %g, %s", omega, options);
    return finish(&d, what);
}

/* ---- (38) */

static void test_orders(void)
{
    static const char *const names[] = {"series", "kernel"};
    check_group("order 4 for every stiffness");
    for (double omega = 100; omega <= 1e4; omega *= 10) {
        char resolved[100];
        snprintf(resolved, sizeof resolved, "motion=full method=dop8 project=start step=%g until=2",
                 0.5 / omega);
        ending full = run(omega, resolved);
        for (int k = 0; k < 2; k++) {
            double error[3];
            for (int j = 0; j < 3; j++) {
                char options[200];
                snprintf(options, sizeof options,
                         "method=rk4 step=%g project=stage projection=%s until=2", 0.125 / (1 << j),
                         names[k]);
                error[j] = distance(run(omega, options).q, full.q);
            }
            double order[2] = {log2(error[0] / error[1]), log2(error[1] / error[2])};
            /* the last error of kernel is that of its filter */
            bool filter = k == 1 && omega == 100 && error[2] < 1e-6;
            check_row(order[0] > 3.6 && (filter || (order[1] > 3.6 && order[1] < 4.6)),
                      "omega %g, %s: errors %.3e %.3e %.3e, orders %.2f %.2f", omega, names[k],
                      error[0], error[1], error[2], order[0], order[1]);
        }
    }
}

static void test_reference(void)
{
    static const struct {
        const char *name;
        double most;
    } rows[] = {{"series", 2e-7}, {"kernel", 2e-7}};
    check_group("reference at omega = 1000, H = 1/64");
    for (int k = 0; k < 2; k++) {
        char options[200];
        snprintf(options, sizeof options, "method=rk4 step=0.015625 project=stage projection=%s",
                 rows[k].name);
        ending e = run(1000, options);
        check_row(distance(e.q, exact_q) < rows[k].most && distance(e.v, exact_v) < rows[k].most,
                  "%s: %.3e, velocities %.3e", rows[k].name, distance(e.q, exact_q),
                  distance(e.v, exact_v));
        /* four projections a step, and one at the end */
        check_equal("steps", e.count.steps, 640);
        check_equal("projections", e.count.projections, 4 * 640 + 1);
    }
}

/* Figure 6 with the settings of the paper: evaluations and errors against the exact solution from
 * the slow point of ipa. */
static void test_paper(void)
{
    static const double evaluations[] = {15842, 29131, 52971};
    check_group("figure 6");
    for (int j = 0; j < 3; j++) {
        char options[200];
        snprintf(options, sizeof options, "method=rk4 step=%g project=stage projection=ipa",
                 0.5 / (1 << j));
        ending e = run(1e4, options);
        check_row(fabs((double)e.count.force_evaluations / evaluations[j] - 1) < 0.05,
                  "H = 1/%d: %lld evaluations, %g", 2 << j, (long long)e.count.force_evaluations,
                  evaluations[j]);
    }
}

/* ---- adaptive step size */

static void test_adaptive(void)
{
    static const char *const methods[] = {"dop8", "dopri5", "adams"};
    check_group("adaptive step size, omega from 1e3 to 9e7");
    for (int k = 0; k < 3; k++) {
        char options[200];
        int64_t first = 0;
        snprintf(options, sizeof options, "method=%s project=stage rtol=1e-7", methods[k]);
        ending rigid = run(1e3, "motion=rigid method=dop8 rtol=1e-12");
        for (double omega = 1e3; omega <= 1e9; omega *= 300) {
            ending e = run(omega, options);
            double error = omega == 1e3 ? distance(e.q, exact_q)
                                        : distance(e.q, rigid.q) - 50 / (omega * omega);
            first = first ? first : e.count.steps;
            check_row(error < 3e-6, "%s: error %.2e", options, error);
            check_row(llabs(e.count.steps - first) <= first / 5, "%s, omega %g: %lld steps, %lld",
                      options, omega, (long long)e.count.steps, (long long)first);
        }
    }
}

/* ---- when */

static void test_when(void)
{
    static const struct {
        const char *options;
        int64_t least, most; /* projections */
        double error;
    } rows[] = {
        {"method=adams project=every=1 rtol=1e-8", 9, 9, 1e-6},
        {"method=dop8 project=every=1 rtol=1e-8", 9, 9, 1e-6},
        {"method=rk4 step=0.001 project=every=0.5", 19, 19, 1e-5},
        {"method=radau5 project=every=2.5 rtol=1e-8", 3, 3, 1e-5},
        {"method=verlet motion=full step=1e-4 project=every=4", 2, 2, 1e-3},
        {"method=adams project=drift=1e-3 rtol=1e-8", 0, 0, 1e-6},
        {"method=adams project=drift=1e-9 rtol=1e-6", 100, 2000, 1e-4},
        {"method=adams project=drift=1e-8 rtol=1e-6", 1, 600, 1e-4},
        {"method=dop8 project=step rtol=1e-8", 100, 100000, 1e-6},
        {"motion=full method=dop8 project=start rtol=1e-10", 0, 0, 1e-8},
    };
    check_group("when");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        ending e = run(1000, rows[k].options);
        check_row(e.count.projections >= rows[k].least && e.count.projections <= rows[k].most,
                  "%s: %lld projections, %lld to %lld", rows[k].options,
                  (long long)e.count.projections, (long long)rows[k].least,
                  (long long)rows[k].most);
        check_row(distance(e.q, exact_q) < rows[k].error, "%s: error %.3e", rows[k].options,
                  distance(e.q, exact_q));
    }
}

/* `none` keeps the initial state; others move it by (3/2, 11/4)/omega^2. */
static void test_start(void)
{
    static const struct {
        const char *options;
        double moved;
    } rows[] = {{"motion=slow project=none", 0},
                {"motion=slow project=none method=radau5", 0},
                {"motion=slow project=start projection=kernel", 1.5e-6},
                {"motion=full project=start method=verlet", 1.5e-6},
                {"project=stage method=dop8", 1.5e-6}};
    check_group("initial state");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        driven d = make(1000, "", rows[k].options, NULL);
        if (driven_good(rows[k].options, &d))
            check_row(fabs(taut_solver_position(d.solver)[0] - 1 - rows[k].moved) <= 1e-10,
                      "%s: %.9g", rows[k].options, taut_solver_position(d.solver)[0] - 1);
        driven_destroy(&d);
    }
}

/* ---- rows and events between steps are slow points */

static void test_rows(void)
{
    static kept fine, coarse;
    static const char *const names[] = {"series", "kernel"};
    check_group("rows and events");
    for (int k = 0; k < 2; k++) {
        char options[200];
        snprintf(options, sizeof options,
                 "method=dop8 project=stage projection=%s every=0.37 rtol=1e-8 until=5", names[k]);
        taut_sink sinks[2] = {kept_sink(&fine), kept_sink(&coarse)};
        driven d[2] = {
            make(1000, "", "motion=slow method=radau5 every=0.37 rtol=1e-10 until=5", NULL),
            make(1000, "[events]\nlow = y1 + 0.2   falling   then x1' = x1'\n", options, NULL)};
        for (int j = 0; j < 2; j++)
            if (driven_good(options, &d[j]))
                d[j].code = taut_solver_run(d[j].solver, &sinks[j], 1, NULL, NULL, &d[j].error);
        double q = 0, lambda = 0, seen = 0;
        for (int j = 0, i = 0; j < coarse.rows; j++) {
            if (i < fine.rows && fabs(fine.t[i] - coarse.t[j]) < 1e-9) {
                q = fmax(q, distance(fine.q[i], coarse.q[j]));
                for (int b = 0; b < 2; b++)
                    lambda = fmax(lambda, fabs(fine.lambda[i][b] - coarse.lambda[j][b]));
                i++;
            } else {
                seen++;
                check_row(fabs(coarse.q[j][1] + 0.2) < 1e-7, "event at y1 = %g", coarse.q[j][1]);
            }
        }
        check_row(fine.rows == 15 && q < 1e-6 && lambda < 1e-5 && seen >= 1,
                  "%s: %d rows off by %.1e, multipliers %.1e, %g events", options, coarse.rows, q,
                  lambda, seen);
        for (int j = 0; j < 2; j++) {
            driven_good(options, &d[j]);
            driven_destroy(&d[j]);
        }
    }
}

/* ---- nothing is allocated while stepping; memory may end at any call before */

static void test_memory(void)
{
    static const char *const options[] = {
        "method=rk4 step=0.1 project=stage projection=series",
        "method=rk4 step=0.1 project=stage projection=kernel",
        "method=rk4 step=0.1 project=stage projection=ipa",
        "method=adams project=every=1",
        "method=adams project=drift=1e-10",
        "motion=rigid method=dop8 project=stage projection=kernel until=1"};
    check_group("memory");
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        faulty f = {0};
        taut_allocator allocator = faulty_allocator(&f);
        driven d = make(1000, "", options[k], &allocator);
        if (driven_good(options[k], &d)) {
            int64_t before = f.calls;
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            check_row(d.code == 0 && f.calls == before, "%s: %lld allocations, %s", options[k],
                      (long long)(f.calls - before), d.error.message);
        }
        driven_destroy(&d);
        int64_t all = f.calls, refused = 0;
        for (int64_t at = 1; at <= all; at += 1 + all / 8) {
            f = (faulty){.fail = at};
            d = make(1000, "", options[k], &allocator);
            refused += d.code == TAUT_ERROR_MEMORY;
            driven_destroy(&d);
            check_row(f.live == 0, "%s: %lld blocks remain", options[k], (long long)f.live);
        }
        check_row(refused > 2, "%s: %lld failures", options[k], (long long)refused);
    }
}

/* ---- rigid motion by artificial stiffness */

static void test_rigid(void)
{
    static const char *const names[] = {"series", "kernel"};
    check_group("rigid motion");
    ending rigid = run(1000, "motion=rigid method=dop8 rtol=1e-12");
    for (int k = 0; k < 2; k++) {
        char options[200];
        snprintf(options, sizeof options,
                 "motion=rigid method=dop8 rtol=1e-10 project=stage projection=%s", names[k]);
        ending e = run(1000, options);
        check_row(distance(e.q, rigid.q) < 2e-8 && distance(e.v, rigid.v) < 2e-8,
                  "%s: off by %.2e, velocities %.2e", options, distance(e.q, rigid.q),
                  distance(e.v, rigid.v));
        check_row(fabs(e.lambda[0] - rigid.lambda[0]) + fabs(e.lambda[1] - rigid.lambda[1]) < 1e-6,
                  "%s: multipliers off", options);
    }
}

/* ---- forces from C functions, without a derivative */

typedef struct functions {
    double stiffness; /* of springs inside the force; 0: none there */
    int64_t calls;
} functions;

static int force(void *user, double t, const double *q, const double *v, double *f)
{
    functions *p = user;
    double inner = hypot(q[0], q[1]), x = q[2] - q[0], y = q[3] - q[1], outer = hypot(x, y);
    double one = p->stiffness * (1 - 1 / inner), two = p->stiffness * (1 - 1 / outer);
    (void)t, (void)v;
    p->calls++;
    f[0] = -one * q[0] + two * x;
    f[1] = -one * q[1] + two * y;
    f[2] = -two * x;
    f[3] = -two * y;
    return 0;
}

static int bonds(void *user, double t, const double *q, double *g)
{
    (void)user, (void)t;
    g[0] = hypot(q[0], q[1]) - 1;
    g[1] = hypot(q[2] - q[0], q[3] - q[1]) - 1;
    return 0;
}

static ending run_functions(const char *name, const taut_callbacks *c, const char *options)
{
    driven d = {0};
    d.code = taut_system_from_callbacks(c, NULL, &d.system, &d.error);
    if (d.code == 0)
        d.code = taut_options_create(NULL, &d.options, &d.error);
    driven_options(&d, options);
    driven_options(&d, "until=10 every=20");
    if (d.code == 0)
        d.code = taut_solver_create(d.system, d.options, NULL, &d.solver, &d.error);
    return finish(&d, name);
}

/* Springs as bonds; rigid bonds; springs hidden in the force, whose slow point is found from forces
 * alone, and which the full motion from there must follow. */
static void test_functions(void)
{
    static const double soft[2] = {1e-6, 1e-6}, q[4] = {1, 0, 2, 0}, v[4] = {0, -0.5, 0, 0.5};
    static const struct {
        const char *options;
        double hidden, most;
        const double *compliance;
        bool rigid;
    } rows[] = {
        {"project=stage method=dop8 rtol=1e-7", 0, 1e-6, soft, false},
        {"project=stage method=dop8 rtol=1e-7", 1e6, 1e-5, NULL, false},
        {"project=stage method=rk4 step=0.03125", 1e6, 1e-5, NULL, false},
        {"motion=rigid project=stage method=dop8 rtol=1e-7", 0, 1e-6, NULL, true},
    };
    check_group("forces without derivatives");
    ending rigid = run(1000, "motion=rigid method=dop8 rtol=1e-12");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        functions user = {.stiffness = rows[k].hidden};
        int count = rows[k].hidden > 0 ? 0 : 2;
        taut_callbacks c = {.size = sizeof c,
                            .coordinates = 4,
                            .bonds = count,
                            .compliance = rows[k].compliance,
                            .start_q = q,
                            .start_v = v,
                            .force = force,
                            .bond = count ? bonds : NULL,
                            .user = &user};
        ending e = run_functions(rows[k].options, &c, rows[k].options), full;
        int64_t calls = user.calls;
        if (count == 0)
            full = run_functions("full", &c, "motion=full project=start method=dop8 step=5e-4");
        const double *right = count == 0 ? full.q : rows[k].rigid ? rigid.q : exact_q;
        check_row(distance(e.q, right) < rows[k].most, "%s, stiffness %g: off by %.2e, %lld calls",
                  rows[k].options, rows[k].hidden, distance(e.q, right), (long long)calls);
    }
}

/* ---- refusals */

static void test_refusals(void)
{
    static const struct {
        const char *options, *message;
        int code;
    } rows[] = {
        {"project=often", "choose none, start", TAUT_ERROR_USAGE},
        {"project=every", "a time above 0", TAUT_ERROR_USAGE},
        {"project=drift=-1", "a length above 0", TAUT_ERROR_USAGE},
        {"project=step=1", "has no value", TAUT_ERROR_USAGE},
        {"project=stage projection=rk4", "not a projection", TAUT_ERROR_USAGE},
        {"project=stage projection=seris", "did you mean series", TAUT_ERROR_USAGE},
        {"project=stage method=radau5", "explicit Runge-Kutta and Adams", TAUT_ERROR_REFUSED},
        {"project=stage motion=effective", "for motion rigid, slow", TAUT_ERROR_REFUSED},
        {"project=every=1 motion=rigid", "for motion slow, full", TAUT_ERROR_REFUSED},
    };
    check_group("refusals");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        driven d = make(1000, "", rows[k].options, NULL);
        check_row(d.code == rows[k].code && strstr(d.error.message, rows[k].message), "%s: %d, %s",
                  rows[k].options, d.code, d.error.message);
        driven_destroy(&d);
    }
    driven d = make(1000, "[forces]\nx1 = if(x1 > 0, 1, 2)\n", "project=stage", NULL);
    check_row(d.code == TAUT_ERROR_REFUSED && strstr(d.error.message, "conditions"), "kinks: %s",
              d.error.message);
    driven_destroy(&d);
}

int main(void)
{
    test_orders();
    test_reference();
    test_paper();
    test_adaptive();
    test_when();
    test_start();
    test_rows();
    test_memory();
    test_rigid();
    test_functions();
    test_refusals();
    return check_done();
}
