/* test_run_stops.c - a callback that asks to stop ends a run and a comparison at any call, with
 * that reason. */
#include "support/run.h"

typedef struct stopping {
    int64_t calls, stop;
} stopping;

/* ---- runs with a spring, so that initial states are projected and frequencies found */

static int swing_plane(void *user, double t, const double *q, const double *v, double *f)
{
    stopping *s = user;
    (void)t, (void)v, (void)q;
    f[0] = 0;
    f[1] = -0.1;
    return ++s->calls == s->stop ? -1 : 0;
}

static int stretch(void *user, double t, const double *q, double *g)
{
    (void)user, (void)t;
    g[0] = hypot(q[0], q[1]) - 1;
    return 0;
}

static void test_stop_runs(void)
{
    static const char *const ways[] = {"motion=full method=verlet step=0.01",
                                       "motion=full method=dop8",
                                       "motion=full method=rk4 step=0.01",
                                       "motion=slow method=radau5",
                                       "motion=rigid method=dop8",
                                       "motion=rigid method=rattle step=0.05",
                                       "motion=effective method=projected-impulse step=0.05",
                                       "motion=effective method=effective",
                                       ""};
    static const double q[2] = {1.01, 0}, v[2] = {0, 1}, compliance[1] = {1e-2};
    check_group("runs that are stopped");
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        int64_t calls = 0;
        for (int64_t at = 0; at <= calls; at += at < 60 ? 1 : calls / 20 + 1) {
            stopping s = {.stop = at};
            taut_callbacks c = {.size = sizeof c,
                                .coordinates = 2,
                                .bonds = 1,
                                .start_q = q,
                                .start_v = v,
                                .compliance = compliance,
                                .user = &s};
            c.force = swing_plane;
            c.bond = stretch;
            driven d = {0};
            d.code = taut_system_from_callbacks(&c, NULL, &d.system, &d.error);
            if (d.code == 0)
                d.code = taut_options_create(NULL, &d.options, &d.error);
            driven_options(&d, "until=0.2");
            driven_options(&d, ways[k]);
            if (d.code == 0)
                d.code = taut_solver_create(d.system, d.options, NULL, &d.solver, &d.error);
            if (d.code == 0)
                d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            check_row(d.code == (at ? TAUT_ERROR_STOPPED : 0), "%s, call %d of %d: %s: %s", ways[k],
                      (int)at, (int)calls, taut_code_name(d.code), d.code ? d.error.message : "");
            driven_destroy(&d);
            calls = at ? calls : s.calls;
        }
    }
}

/* ---- comparisons: a stop is not one more row */

static int swing(void *user, double t, const double *q, const double *v, double *f)
{
    stopping *s = user;
    (void)t, (void)v;
    f[0] = -q[0];
    return ++s->calls == s->stop ? -1 : 0;
}

static void test_stop(void)
{
    static const double q[1] = {1}, steps[2] = {0.1, 0.05};
    static const char *const methods[2] = {"verlet", "rk4"};
    const taut_compare_request request = {.size = sizeof request,
                                          .methods = methods,
                                          .values = steps,
                                          .method_count = 2,
                                          .value_count = 2};
    check_group("comparisons that are stopped");
    int64_t calls = 0;
    /* at = 0: never, which counts */
    for (int64_t at = 0; at <= calls; at += at < 60 ? 1 : calls / 40) {
        stopping s = {.stop = at};
        taut_callbacks c = {
            .size = sizeof c, .coordinates = 1, .start_q = q, .force = swing, .user = &s};
        taut_system *system = NULL;
        taut_options *options = NULL;
        taut_comparison *comparison = NULL;
        taut_error error;
        int code = taut_system_from_callbacks(&c, NULL, &system, &error);
        if (code == 0)
            code = taut_options_create(NULL, &options, &error);
        if (code == 0)
            code = taut_options_set(options, "until", "1", &error);
        if (code == 0)
            code = taut_compare(system, options, &request, NULL, &comparison, &error);
        check_row(code == (at ? TAUT_ERROR_STOPPED : 0), "call %d of %d: %s: %s", (int)at,
                  (int)calls, taut_code_name(code), code ? error.message : "");
        taut_comparison_destroy(comparison);
        taut_options_destroy(options);
        taut_system_destroy(system);
        calls = at ? calls : s.calls;
    }
}

int main(void)
{
    test_stop();
    test_stop_runs();
    return check_done();
}
