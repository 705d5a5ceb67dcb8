/* test_stabilize_cheap.c - section 5 of Ascher, Qin, Reich 1992: a factorisation that serves
 * several steps, a diagonal or a sweep of relaxation instead of it, F = D; and where (4.8) fails.
 */
#include "support/rig.h"
#include "support/run.h"

typedef struct drift_of {
    double position, velocity, error;
    int64_t factorisations;
} drift_of;

/* Largest drift in `steps` steps to t = until, and the error of q[0] against `exact`. */
static drift_of drift(const rig_how *how, double until, int steps, double exact)
{
    drift_of most = {0};
    rig r;
    rig_create(&r, how);
    for (int k = 1; k <= steps && r.code == 0; k++) {
        double p, v;
        rig_run(&r, until * k / steps, 1);
        rig_drift(&r, &p, &v);
        most.position = fmax(most.position, p);
        most.velocity = fmax(most.velocity, v);
    }
    if (rig_good(how->solver ? how->solver : "factor", &r)) {
        most.error = fabs(r.s.now.q[0] - exact);
        most.factorisations = r.statistics.factorisations - r.statistics.force_evaluations;
    } else
        most = (drift_of){NAN, NAN, NAN, -1};
    rig_destroy(&r);
    return most;
}

/* theta of the slider crank at t = 10, by dop8 with steps of 1/200 */
static double crank_at_10(void)
{
    double exact = NAN;
    rig r;
    rig_create(&r, &(rig_how){.model = "slider_crank",
                              .method = "dop8",
                              .field = "rigid",
                              .stabilize = "project"});
    rig_run(&r, 10, 2000);
    if (rig_good("reference", &r))
        exact = r.s.now.q[0];
    rig_destroy(&r);
    return exact;
}

/* Slider crank, Adams-Bashforth, h = 0.02: without stabilisation the positions drift by some 1e-4;
 * every cheap way keeps them, and the order. */
static void test_slider_crank(void)
{
    static const struct {
        const char *solver, *direction;
        int refresh;
        double alpha, part; /* of the drift without */
    } rows[] = {{NULL, "mass", 1, 1, 1e-6},       {NULL, "mass", 10, 1, 1e-2},
                {"sor", "mass", 1, 1, 0.03},      {"diagonal", "mass", 1, 0.7, 0.2},
                {"sor", "unit", 1, 1, 0.05},      {"diagonal", "unit", 1, 0.5, 0.3},
                {NULL, "gradient", 1, 0.15, 0.5}, {"sor", "simple", 1, 1, 0.05}};
    check_group("slider crank");
    double exact = crank_at_10();
    drift_of none = drift(&(rig_how){.model = "slider_crank", .method = "ab2", .field = "rigid"},
                          10, 500, exact);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        rig_how how = {.model = "slider_crank",
                       .method = "ab2",
                       .field = "rigid",
                       .stabilize = "post",
                       .direction = rows[k].direction,
                       .solver = rows[k].solver,
                       .refresh = rows[k].refresh,
                       .passes = 1,
                       .share = rows[k].alpha};
        drift_of a = drift(&how, 10, 500, exact), b = drift(&how, 10, 1000, exact);
        const char *name = rows[k].solver ? rows[k].solver : rows[k].direction;
        check_row(a.position <= rows[k].part * none.position, "%s: drift %g of %g", name,
                  a.position, none.position);
        check_row(a.error / b.error > 3.2 && a.error / b.error < 5, "%s: errors %g, %g", name,
                  a.error, b.error);
        if (rows[k].solver || rows[k].refresh > 1)
            check_row(a.factorisations <= (rows[k].refresh > 1 ? 51 : 0), "%s: %d factorisations",
                      name, (int)a.factorisations);
    }
}

/* A chain of 100 links: bonds depend on their neighbours. One step of each: sor leaves less. */
static void test_chain(void)
{
    static const char *const solvers[3] = {"factor", "sor", "diagonal"};
    double left[3], none;
    check_group("chain");
    rig_how how = {
        .model = "chain", .set = {"N=100"}, .method = "rk4", .field = "rigid", .passes = 1};
    none = drift(&how, 2, 40, 0).position;
    how.stabilize = "post";
    for (int k = 0; k < 3; k++) {
        how.solver = solvers[k];
        left[k] = drift(&how, 2, 40, 0).position;
    }
    check_row(left[0] < left[1] && left[1] < left[2] && left[2] < none,
              "drift %g by a factorisation, %g sor, %g diagonal, %g without", left[0], left[1],
              left[2], none);
    check_below("sor", left[1], none / 5);
}

/* Invariants of a first-order system: two that depend on each other (energy and angular momentum
 * of a Kepler orbit). */
static void test_first_order(void)
{
    static const char model[] =
        "[state]\nx, y, u, w\n[rates]\nx' = u\ny' = w\nu' = -x/(x^2 + y^2)^1.5\nw' = -y/(x^2 + "
        "y^2)^1.5\n[invariants]\nenergy = (u^2 + w^2)/2 - 1/sqrt(x^2 + y^2)\nmomentum = x*w - "
        "y*u\n[start]\nx = 0.5, w = sqrt(3)\n";
    static const struct {
        const char *solver;
        int refresh;
        double most;
    } rows[] = {{NULL, 1, 1e-9}, {"sor", 1, 2e-4}, {"diagonal", 1, 2e-3}, {NULL, 4, 1e-5}};
    check_group("first order");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        rig r;
        double most = 0;
        rig_create(&r, &(rig_how){.model = model,
                                  .method = "midpoint",
                                  .field = "first",
                                  .stabilize = "post",
                                  .passes = 1,
                                  .share = rows[k].solver ? 0.7 : 1,
                                  .solver = rows[k].solver,
                                  .refresh = rows[k].refresh});
        for (int n = 1; n <= 2000 && r.code == 0; n++) {
            rig_run(&r, 0.01 * n, 1);
            const double *z = r.s.now.q;
            most = fmax(most, fabs((z[2] * z[2] + z[3] * z[3]) / 2 - 1 / hypot(z[0], z[1]) + 0.5));
            most = fmax(most, fabs(z[0] * z[3] - z[1] * z[2] - sqrt(3) / 2));
        }
        if (rig_good("run", &r)) {
            check_row(most <= rows[k].most, "%s, %d: drift %g",
                      rows[k].solver ? rows[k].solver : "factor", rows[k].refresh, most);
            check_row(rows[k].refresh == 1 || r.statistics.factorisations <= 501,
                      "%d factorisations", (int)r.statistics.factorisations);
        }
        rig_destroy(&r);
    }
}

/* (4.8) where L dominates: a bead on a wave, |L F| up to k^2 |x'| / 2 = 72. */
static void test_curvature(void)
{
    static const char model[] = "[coordinates]\nx, y\n[bonds]\nwave = y - sin(12*x) rigid\n"
                                "[start]\nx = 0.1, y = sin(1.2), x' = 1, y' = 12*cos(1.2)\n";
    static const struct {
        const char *step, *direction;
        bool warned;
    } rows[] = {{"0.05", "simple", true}, {"0.002", "simple", false}, {"0.05", "unit", false}};
    check_group("curvature");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[200];
        snprintf(options, sizeof options,
                 "motion=rigid method=euler step=%s until=4 stabilize=post stabilize-direction=%s",
                 rows[k].step, rows[k].direction);
        driven d = driven_create(model, options, NULL);
        if (driven_good(options, &d)) {
            taut_solver_advance(d.solver, 4, &d.error);
            const char *notice = taut_solver_notice(d.solver, 0);
            check_row((notice && strstr(notice, "curvature")) == rows[k].warned, "%s: %s", options,
                      notice ? notice : "none");
        }
        driven_destroy(&d);
    }
}

int main(void)
{
    test_slider_crank();
    test_chain();
    test_first_order();
    test_curvature();
    return check_done();
}
