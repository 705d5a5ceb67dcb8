/* test_adams.c - the Adams methods of variable order and step size: observed orders, two
 * evaluations a step, accuracy of rows between steps, history at events and stabilisation, cost
 * compared with dop8 and dopri5. Oracles: solutions in closed form, and FACTS C (slider crank). */
#include "support/run.h"

/* cos t and sin t, of second and of first order */
static const char swing[] = "[coordinates]\nx, y\n[potential]\nx^2/2 + y^2/2\n"
                            "[start]\nx = 1, y' = 1\n[run]\nmotion = full\n";
static const char circle[] = "[state]\nx, y\n[rates]\nx' = -y\ny' = x\n[start]\nx = 1, y = 0\n";
/* cos t until it is 0 at pi/2, where its velocity doubles: then -2 cos(t - pi) ... = 2 cos t */
static const char kicked[] = "[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = 1\n"
                             "[events]\nmiddle = x   falling   then x' = 2*x'\n"
                             "[run]\nmotion = full\n";

typedef struct measured {
    double q[4], error; /* error against cos, sin */
    double rows;        /* and the largest of all rows */
    taut_statistics count;
} measured;

static measured measure(driven *d, const char *what)
{
    static kept rows;
    measured m = {.error = NAN};
    taut_sink sink = kept_sink(&rows);
    if (d->code == 0)
        d->code = taut_solver_run(d->solver, &sink, 1, NULL, NULL, &d->error);
    if (driven_good(what, d)) {
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(d->solver, &result, NULL);
        m.count = result.statistics;
        memcpy(m.q, rows.q[rows.rows - 1], sizeof m.q);
        for (int i = 0; i < rows.rows; i++) {
            double t = rows.t[i];
            m.error = hypot(rows.q[i][0] - cos(t), rows.q[i][1] - sin(t));
            m.rows = fmax(m.rows, m.error);
        }
    }
    driven_destroy(d);
    return m;
}

static measured run(const char *model, const char *options)
{
    driven d = driven_create(model, options, NULL);
    return measure(&d, options);
}

/* Of order k with local extrapolation: errors decrease as steps^-(k+1). Above 8 the highest orders
 * are not reached everywhere, and first steps count. */
static void test_orders(void)
{
    static const char *const models[] = {swing, circle};
    check_group("orders");
    for (int k = 1; k <= 12; k++)
        for (int form = 0; form < 2; form++) {
            double error[2], steps[2];
            for (int fine = 0; fine < 2; fine++) {
                char options[200];
                double rtol = (k < 2   ? 1e-2
                               : k < 3 ? 1e-4
                               : k < 6 ? 1e-6
                                       : 1e-8),
                       finer = k < 2 ? 1e-2 : 1e-3;
                snprintf(options, sizeof options,
                         "method=adams max-order=%d rtol=%g verify=never until=20", k,
                         fine ? rtol * finer : rtol);
                measured m = run(models[form], options);
                error[fine] = m.error;
                steps[fine] = (double)m.count.steps;
            }
            double order = log(error[0] / error[1]) / log(steps[1] / steps[0]);
            check_row(order > k + 0.5 && (order < k + 1.9 || k > 8),
                      "%s order, highest %d: observed %.2f (%.2g, %.2g in %g, %g steps)",
                      form ? "first" : "second", k, order, error[0], error[1], steps[0], steps[1]);
        }
}

/* Two evaluations a step and one a rejection; one at the initial state, and one (first order: two)
 * for the first step size. Rows between steps cost none. */
static void test_counts(void)
{
    check_group("counts");
    for (int form = 0; form < 2; form++)
        for (int dense = 0; dense < 2; dense++) {
            measured m =
                run(form ? circle : swing, dense ? "method=adams rtol=1e-7 until=9 every=0.01"
                                                 : "method=adams rtol=1e-7 until=9 every=9");
            check_equal("evaluations", m.count.force_evaluations,
                        2 * m.count.steps + m.count.rejected + 2 + form);
        }
}

static void test_rows(void)
{
    static const char *const models[] = {swing, circle};
    static const double rtol[] = {1e-4, 1e-7, 1e-10};
    check_group("rows");
    for (int form = 0; form < 2; form++)
        for (int k = 0; k < 3; k++)
            for (int back = 0; back < 2; back++) {
                char options[200];
                snprintf(options, sizeof options, "method=adams rtol=%g until=%d every=0.0123",
                         rtol[k], back ? -20 : 20);
                measured m = run(models[form], options);
                check_row(m.rows <= 20 * rtol[k], "%s: rows are off by %g", options, m.rows);
            }
}

/* The history ends where an event alters the state, and at no other row. */
static void test_events(void)
{
    check_group("events");
    measured m = run(kicked, "method=adams rtol=1e-9 until=3");
    check_near("after the event", m.q[0], 2 * cos(3), 1e-7);
    measured smooth = run(swing, "method=adams rtol=1e-9 until=3");
    check_row(m.count.steps > smooth.count.steps + 8, "%lld steps with a restart, %lld without",
              (long long)m.count.steps, (long long)smooth.count.steps);
    /* an advance that ends steps early keeps it */
    driven d = driven_create(circle, "method=adams rtol=1e-9 until=100", NULL);
    for (int k = 1; k <= 100 && d.code == 0; k++)
        d.code = taut_solver_advance(d.solver, 0.1 * k, &d.error);
    if (driven_good("advances", &d)) {
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(d.solver, &result, NULL);
        check_near("x after 100 advances", taut_solver_position(d.solver)[0], cos(10), 1e-7);
        check_below("steps", (double)result.statistics.steps, 400);
    }
    driven_destroy(&d);
}

/* ---- shipped models */

static measured run_shipped(const char *model, const char *set, const char *options)
{
    char path[400];
    driven d = {0};
    taut_load how = {.size = sizeof how, .set = &set, .set_count = set[0] != 0};
    snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, model);
    d.code = taut_system_load(path, &how, &d.system, &d.error);
    driven_equip(&d, options, NULL);
    return measure(&d, options);
}

/* FACTS C, example 4, at t = 1: stabilised at every step, with the history. */
static void test_rigid(void)
{
    static const double exact[] = {-1.061270282397952442, 2.401214566116768558,
                                   -0.2909919279848426683, -0.2952634692628417145};
    check_group("rigid");
    for (int k = 5; k <= 11; k += 2) {
        char options[120];
        snprintf(options, sizeof options, "motion=rigid method=adams rtol=1e-%d until=1", k);
        measured m = run_shipped("slider_crank", "", options);
        for (int i = 0; i < 4; i++)
            check_near(options, m.q[i], exact[i], 30 * pow(10, -k));
        check_below("steps with a history", (double)m.count.steps, 12. * k - 20);
    }
}

/* Evaluations at most `share` of those of another method, with an error of at most 10 times its, or
 * 50 tolerances. */
static void test_cost(void)
{
    static const struct {
        const char *model, *set, *options, *other;
        double rtol, share;
    } table[] = {{"double_pendulum", "", "motion=rigid until=10", "dop8", 1e-6, 0.75},
                 {"double_pendulum", "", "motion=rigid until=10", "dop8", 1e-10, 0.55},
                 {"double_pendulum", "", "motion=rigid until=10", "dopri5", 1e-8, 0.45},
                 {"double_pendulum", "omega=100", "motion=full until=5", "dop8", 1e-4, 0.65},
                 {"double_pendulum", "omega=100", "motion=full until=5", "dop8", 1e-8, 0.42},
                 {"double_pendulum", "omega=100", "motion=full until=5", "dopri5", 1e-6, 0.2},
                 {"fpu", "", "motion=full until=20", "dop8", 1e-6, 0.4},
                 {"kepler", "", "until=40 stabilize=none", "dop8", 1e-6, 0.8},
                 {"kepler", "", "until=40 stabilize=none", "dop8", 1e-10, 0.65},
                 {"kepler", "", "until=40 stabilize=none", "dopri5", 1e-8, 0.45}};
    check_group("cost");
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        char options[3][200];
        const char *methods[] = {"adams", table[k].other, "dop8"};
        measured m[3];
        for (int j = 0; j < 3; j++) {
            snprintf(options[j], sizeof options[j], "method=%s rtol=%g %s", methods[j],
                     j < 2 ? table[k].rtol : 1e-13, table[k].options);
            m[j] = run_shipped(table[k].model, table[k].set, options[j]);
        }
        double error[2] = {0}, size = 0;
        for (int i = 0; i < 4; i++) {
            size = fmax(size, fabs(m[2].q[i]));
            for (int j = 0; j < 2; j++)
                error[j] = fmax(error[j], fabs(m[j].q[i] - m[2].q[i]));
        }
        double share = (double)m[0].count.force_evaluations / (double)m[1].count.force_evaluations;
        check_row(share <= table[k].share &&
                      error[0] <= fmax(10 * error[1], 50 * table[k].rtol * size),
                  "%s %s: %s %lld evaluations, error %.2g; adams %.2f of them (limit %.2f), %.2g",
                  table[k].model, table[k].set, options[1], (long long)m[1].count.force_evaluations,
                  error[1], share, table[k].share, error[0]);
    }
}

/* A fixed step size: the first steps have orders 1, 2, ..., whose error stays. */
static void test_fixed(void)
{
    check_group("fixed step size");
    double coarse = run(swing, "method=adams step=0.05 until=5").error,
           fine = run(swing, "method=adams step=0.025 until=5").error,
           low = run(swing, "method=adams step=0.05 until=5 max-order=1").error;
    check_row(log2(coarse / fine) > 2.6, "order %.2f", log2(coarse / fine));
    check_below("error", coarse, 0.1 * low);
    driven d = driven_create(swing, "method=adams max-order=13", NULL);
    check_row(d.code == TAUT_ERROR_USAGE && strstr(d.error.message, "<= 12"), "%s",
              d.error.message);
    driven_destroy(&d);
}

int main(void)
{
    test_orders();
    test_counts();
    test_rows();
    test_events();
    test_rigid();
    test_cost();
    test_fixed();
    return check_done();
}
