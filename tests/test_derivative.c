/* test_derivative.c - projections derivative, outer, filter and brute: the exact condition of Gear,
 * Kaper, Kevrekidis, Zagaris 2005, (1.9), with the values of docs/sources.md, D; the expansion
 * (4.3); a filter to both sides on flows that run backwards; the failure of integrating down to the
 * manifold, introduction. And difference with a long horizon first. */
#include <taut/taut.h>

#include "support/project.h"

static void exact(void)
{
    static const double expected[] = {0.5, .5030491206269487, .5030316262326032, .503031503683772,
                                      .5030315117764151};
    static const char *const names[] = {"anderson", "newton", "plain"};
    check_group("the exact condition, eps = 0.1");
    for (int order = 0; order < 5; order++)
        for (int k = 0; k < 3; k++) {
            char options[80];
            snprintf(options, sizeof options, "method=derivative order=%d iterate=%s", order,
                     names[k]);
            projected p = project_model("michaelis_menten", NULL, options);
            if (projected_good(options, &p)) {
                int64_t jets = 0;
                for (int m = 0; m <= order; m++)
                    jets += p.stage[m].iterations * (m + 1);
                check_near(options, p.r.q[1], expected[order], 2e-13);
                check_equal("jets", p.r.statistics.jets, jets);
                if (k < 2)
                    check_row(p.stage[order].iterations <= 10, "%s: %lld evaluations", options,
                              (long long)p.stage[order].iterations);
            }
            projected_drop(&p);
        }
    projected p = project_model("hydrogen_oxygen", NULL, "method=derivative order=0");
    check_equal("before the ignition", p.code, TAUT_ERROR_CONVERGE);
    projected_drop(&p);
    /* explicit time: y' = (sin t - y)/eps at t = 0, slow solution -eps/(1 + eps^2) */
    static const char forced[] = "[state]\nx, y\n[rates]\nx' = 0\ny' = 50*(sin(t) - y)\n"
                                 "[observables]\nx\n";
    p = project_model(forced, NULL, "method=derivative order=6");
    if (projected_good("forced", &p))
        check_near("forced", p.r.q[1], -0.02 / (1 + 0.0004), 1e-11);
    projected_drop(&p);
}

/* ---- the outer expansion */

/* (4.3) with kappa = 1, lambda = 1/2. */
static double formula(double x, double eps, int order)
{
    double term[] = {x / (x + 1), eps * 0.5 * x / pow(x + 1, 4),
                     eps * eps * 0.5 * x * (1 - 1.5 * x - x - 1) / pow(x + 1, 7)},
           sum = 0;
    for (int k = 0; k <= order; k++)
        sum += term[k];
    return sum;
}

static const char oscillator[] =
    "[parameters]\nw = 100\n[state]\nx, a, b\n[rates]\nx' = -0.5*x\na' = w*b\nb' = -w*(a - x)\n"
    "[stepper]\nstep = 5e-4\n[observables]\nx\n[start]\nx = 1, a = 0.2, b = 0.3\n";
static const double slow_a = 1 / (1 + 0.25e-4); /* and b = -a/200: exact */

static void outer(void)
{
    static const char *const set[] = {"eps=0.1", "eps=0.01"}, *const init[] = {"x=1", "x=0.3"};
    check_group("the outer expansion (4.3)");
    for (int k = 0; k < 12; k++) {
        int order = k % 3, e = k / 3 % 2, x = k / 6;
        char options[60];
        taut_load how = {
            .size = sizeof how, .set = &set[e], .set_count = 1, .init = &init[x], .init_count = 1};
        snprintf(options, sizeof options, "method=outer order=%d", order);
        projected p = project_model("michaelis_menten", &how, options);
        if (projected_good(options, &p)) {
            check_near(options, p.r.q[1], formula(x ? 0.3 : 1, e ? 0.01 : 0.1, order), 4e-16);
            check_equal("terms", p.stages, order + 1);
            /* term 0; then each degree along order + 1 lines, all but the last one twice */
            check_equal("jets", p.r.statistics.jets - p.stage[0].iterations,
                        (order + 1) * (order ? 2 * order : 1));
        }
        projected_drop(&p);
    }
    projected p = project_model(oscillator, NULL, "method=outer order=6");
    if (projected_good("a geometric series", &p)) {
        check_near("a", p.r.q[1], slow_a, 1e-15);
        check_near("b", p.r.q[2], -slow_a / 200, 1e-15);
        check_near("last term", p.stage[6].moved / (pow(0.005, 6)), 1, 1e-6);
    }
    projected_drop(&p);
    const char *slower = "eps=2";
    taut_load how = {.size = sizeof how, .set = &slower, .set_count = 1};
    p = project_model("michaelis_menten", &how, "method=outer horizon=0.5");
    if (projected_good("an asymptotic series", &p))
        check_contains("it ends with the smallest term", p.r.explanation, "is larger than");
    projected_drop(&p);
    /* invariants are kept; (1.9) of the same order has the same error */
    static const char balance[] =
        "[state]\na, b, c\n[rates]\na' = -50*a + 100*b - a*c\nb' = 50*a - 100*b\nc' = a*c\n"
        "[invariants]\nall = a + b + c\n[observables]\nc\n[start]\na = 1, b = 5, c = 3\n";
    p = project_model(balance, NULL, "method=outer order=5");
    projected q = project_model(balance, NULL, "method=derivative order=5");
    if (projected_good("outer", &p) && projected_good("derivative", &q)) {
        check_near("an invariant", p.r.q[0] + p.r.q[1] + p.r.q[2], 9, 2e-15);
        check_near("as by derivatives", p.r.q[0], q.r.q[0], 1e-9);
    }
    projected_drop(&p);
    projected_drop(&q);
    p = project_model("[state]\nx, y\n[rates]\nx' = -1\ny' = 100*(x - y)\n[observables]\n"
                      "r = x^2 + y^2\n[start]\nx = 1, y = 0.1\n",
                      NULL, "method=outer order=2");
    projected_refused("a quadratic observable", &p, TAUT_ERROR_REFUSED, "linear functions");
}

/* ---- a filter to both sides */

typedef struct turning {
    int64_t calls;
    bool forward; /* only */
} turning;

/* The flow of the oscillator above, exactly: (a, b) turns about the slow solution. */
static int turn(void *user, double t, double H, double *z)
{
    turning *f = user;
    double a = z[1] - slow_a * z[0], b = z[2] + slow_a / 200 * z[0], x = z[0] * exp(-H / 2);
    (void)t;
    f->calls++;
    if (f->forward && H < 0)
        return 1;
    z[0] = x;
    z[1] = slow_a * x + a * cos(100 * H) + b * sin(100 * H);
    z[2] = -slow_a / 200 * x + b * cos(100 * H) - a * sin(100 * H);
    return 0;
}

static projected filter_function(turning *f, const char *options)
{
    static taut_index observable = 0;
    static double start[] = {1, 0.2, 0.3};
    taut_black_box box = {.size = sizeof box,
                          .variables = 3,
                          .observables = 1,
                          .observable = &observable,
                          .start = start,
                          .horizon = 0.16,
                          .advance = turn,
                          .user = f};
    projected p = {0};
    p.code = taut_system_from_flow(&box, NULL, &p.system, &p.error);
    projected_run(&p, options, NULL);
    return p;
}

static void filter(void)
{
    static const int moments[] = {3, 5, 9};
    static const double error[] = {1e-7, 1e-11, 1e-14};
    check_group("a filter to both sides");
    for (int k = 0; k < 6; k++) {
        char options[60];
        turning f = {0};
        snprintf(options, sizeof options, "method=filter moments=%d", moments[k % 3]);
        projected p =
            k < 3 ? project_model(oscillator, NULL, options) : filter_function(&f, options);
        if (projected_good(options, &p)) {
            check_near("a", p.r.q[1], slow_a, error[k % 3]);
            check_near("b", p.r.q[2], -slow_a / 200, error[k % 3]);
            check_row(p.r.q[0] == 1, "x is kept");
            check_equal("evaluations", p.stage[0].iterations, 3);
            /* 24 steps to each side; the initial state, its noise, what is left of fast rates */
            if (k >= 3)
                check_row(f.calls >= 48 * 3 + 9 + 2 && f.calls <= 48 * 3 + 9 + 16,
                          "%lld uses of the flow", (long long)f.calls);
        }
        projected_drop(&p);
    }
    turning f = {.forward = true};
    projected p = filter_function(&f, "method=filter");
    projected_refused("forward only", &p, TAUT_ERROR_REFUSED, "needs a flow that runs backwards");
    p = project_model(oscillator, NULL, "method=filter micro-steps=4 moments=5");
    projected_refused("too few steps", &p, TAUT_ERROR_USAGE, "more than 4 steps");
}

/* ---- long horizons first: plain iteration of H = 0.001 [D figure 3] takes 46830 evaluations */

static void horizons(void)
{
    check_group("a long horizon first");
    projected one = project_model("michaelis_menten", NULL,
                                  "method=difference order=1 horizon=0.001 iterate=plain"),
              two = project_model("michaelis_menten", NULL,
                                  "method=difference order=1 horizon=0.001 iterate=plain "
                                  "first-horizon=0.016");
    if (projected_good("one horizon", &one) && projected_good("three horizons", &two)) {
        check_near("the same point", two.r.q[1], one.r.q[1], 1e-10);
        check_row(one.r.statistics.force_evaluations > 92000, "%lld inner steps",
                  (long long)one.r.statistics.force_evaluations);
        /* 95 of order 0 at H = 0.016, 2718 of order 1 at 0.016 and 0.004, 26160 at 0.001 */
        check_row(llabs(two.stage[0].iterations - 95) <= 2 &&
                      llabs(two.stage[1].iterations - 26160) <= 20,
                  "%lld and %lld iterations", (long long)two.stage[0].iterations,
                  (long long)two.stage[1].iterations);
        check_contains("longer ones", two.r.explanation, "(and 2718 with longer horizons");
    }
    projected_drop(&one);
    projected_drop(&two);
}

static void brute(void)
{
    static const char intro[] =
        "[parameters]\neps = 1e-3\n[state]\nu, v, w\n[rates]\nu' = -(u + w)/(2*eps)\nv' = -1\n"
        "w' = -(u + w)/(2*eps)\n[stepper]\nstep = eps/2\nhorizon = 2*eps\n[observables]\nu, v\n"
        "[start]\nu = 3, v = 2, w = 5\n";
    check_group("brute force");
    projected p = project_model(intro, NULL, "method=brute");
    if (projected_good("introduction", &p)) {
        double moved = hypot(p.r.q[0] - 3, p.r.q[2] - 5);
        check_near("u = (u0 - w0)/2", p.r.q[0], -1, 1e-9);
        check_near("w = (w0 - u0)/2", p.r.q[2], 1, 1e-9);
        check_near("distance |u0 + w0|/sqrt 2", moved, 8 / sqrt(2), 1e-9);
        check_contains("introduction", p.r.explanation, "u from 3 to -1");
    }
    projected_drop(&p);
    p = project_model(intro, NULL, "method=difference order=1");
    if (projected_good("difference", &p))
        check_near("w = -u0 for the u that was given", p.r.q[2], -3, 1e-12);
    projected_drop(&p);
    p = project_model("michaelis_menten", NULL, "method=brute");
    if (projected_good("Michaelis-Menten", &p)) {
        double x = p.r.q[0];
        check_row(x < 0.9, "the observable has moved to %g", x);
        /* (4.3) there, to O(eps^3) */
        check_near("on the slow manifold", p.r.q[1],
                   x / (x + 1) + 0.05 * x / pow(x + 1, 4) -
                       0.005 * x * (1.5 * x + x) / pow(x + 1, 7),
                   2e-4);
    }
    projected_drop(&p);
    p = project_model("michaelis_menten", NULL, "method=brute passes=3");
    projected_refused("too few", &p, TAUT_ERROR_CONVERGE, "not slow after 3 uses");
}

static void memory(void)
{
    taut_system *system = NULL;
    taut_error error;
    check_group("memory");
    check_equal(
        "parse",
        taut_system_parse(oscillator, strlen(oscillator), "model.taut", NULL, &system, &error), 0);
    projected_faults(system, "method=outer order=3");
    projected_faults(system, "method=filter");
    taut_system_destroy(system);
}

int main(void)
{
    exact();
    memory();
    outer();
    filter();
    horizons();
    brute();
    return check_done();
}
