/* test_event_kicks.c - events that alter velocities: once for each crossing, whether the motion
 * goes on, slower or faster, or turns back, and also where the state is put back onto rigid
 * bonds at the event. */
#include "support/run.h"

/* Free motion x = 1 - t, slowed down, sped up or turned back at x = 0: at t = 2 it is at
 * -factor, once and exactly. The same on a rigid bond in the plane, where the state is put back
 * onto the bond at the event: the angle phi = 1 - t as atan2(y, x). */
#define ON_LINE                                                                                    \
    "[coordinates]\nx\n[start]\nx = 1, x' = -1\n[events]\nslow = x falling then x' = %g*x'\n"
#define ON_ROD                                                                                     \
    "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[start]\nx = cos(1), y = sin(1), "   \
    "x' = sin(1), y' = -cos(1)\n"                                                                  \
    "[events]\nslow = atan2(y, x) falling then x' = %g*x', y' = %g*y'\n"

static void slowed(const char *way, const char *form, double factor)
{
    char model[400];
    snprintf(model, sizeof model, form, factor, factor);
    driven d = driven_create(model, way, NULL);
    if (driven_good(way, &d)) {
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        const double *q = taut_solver_position(d.solver);
        double at = form[15] == ',' ? atan2(q[1], q[0]) : q[0];
        check_row(d.code == 0 && fabs(at + factor) < 1e-4, "%s, factor %g, %s: %s, at %.12g: %s",
                  way, factor, form[15] == ',' ? "rod" : "line", taut_code_name(d.code), at,
                  d.code ? d.error.message : "");
    }
    driven_destroy(&d);
}

static void test_slowed(void)
{
    static const double factors[] = {0.5, 0.25, 0.01, 0.75, 1.5, -0.5, -1};
    static const char *const ways[] = {
        "until=2 method=dop8", "until=2 method=radau5", "until=2 method=rk4 step=0.03",
        "until=2 method=radau3 step=0.003", "until=2 method=ab2 step=0.0007"};
    check_group("events that slow down");
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
            slowed(ways[k], ON_LINE, factors[i]);
            slowed(ways[k], ON_ROD, factors[i]);
        }
        slowed("until=2 method=verlet step=0.03", ON_LINE, factors[i]);
        slowed("until=2 method=rattle step=0.003", ON_ROD, factors[i]);
    }
    /* a pendulum from the horizontal, at half its speed below 30 degrees: at 0.9 below the pivot
     * after t1 + t2, the integrals of d theta/omega, omega^2 = 2 sin(theta), then 1/4 + 2
     * sin(theta) - 1 */
    static const char pendulum[] =
        "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[start]\nx = "
        "1\n[events]\n"
        "brake = y + 0.5 falling then x' = x'/2, y' = y'/2\nend = y + 0.9 falling stop\n";
    static const char *const finer[] = {"until=9 method=dop8", "until=9 method=radau5",
                                        "until=9 method=rk4 step=0.01",
                                        "until=9 method=rattle step=0.001"};
    for (size_t k = 0; k < sizeof finer / sizeof finer[0]; k++) {
        driven d = driven_create(pendulum, finer[k], NULL);
        if (driven_good(finer[k], &d)) {
            check_equal(finer[k], taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error),
                        TAUT_EVENT);
            check_near(finer[k], taut_solver_time(d.solver), 1.7834225600778, 1e-5);
        }
        driven_destroy(&d);
    }
}

/* A kick that turns the velocity back in x alone: along the rigid bond, at the angle 0.3, the
 * motion still goes on, from the rate -1 of the angle to -(cos^2 - 0.1 sin^2), and is at 0.3 - 1.3
 * of that at t = 2. */
static void test_across(void)
{
    static const char model[] = "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - "
                                "1\n[start]\nx = cos(1), y = sin(1), x' = sin(1), y' = -cos(1)\n"
                                "[events]\nwall = atan2(y, x) - 0.3 falling then x' = -0.1*x'\n";
    static const char *const ways[] = {"until=2 method=dop8", "until=2 method=radau5",
                                       "until=2 method=rk4 step=0.03",
                                       "until=2 method=rattle step=0.003"};
    double rate = cos(0.3) * cos(0.3) - 0.1 * sin(0.3) * sin(0.3);
    check_group("kicks across a rod");
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        driven d = driven_create(model, ways[k], NULL);
        if (driven_good(ways[k], &d)) {
            check_equal(ways[k], taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), 0);
            const double *q = taut_solver_position(d.solver);
            check_near(ways[k], atan2(q[1], q[0]), 0.3 - 1.3 * rate, 1e-5);
            taut_result result = {.size = sizeof result};
            taut_solver_result_get(d.solver, &result, NULL);
            check_equal("kicks", result.altered, 1);
        }
        driven_destroy(&d);
    }
}

/* A stiff pendulum, kicked at t = 1, where it is at (x, y) below (docs/sources.md, B, eps = 1e-3):
 * of the velocity (1, -2) what is along the spring, v.n = 1.83117, is taken away, and w = x y' - y
 * x' = -1.28329 stays. After that lambda = w^2 - y as in the rigid motion, up to O(omega^-2), and
 * the energy is w^2/2 + y, with c lambda^2/2 = 2e-6 in the spring at omega = 1000. */
#define KICKED                                                                                     \
    "[parameters]\nomega = %g\n[coordinates]\nx, y\n[potential]\ny\n[bonds]\nspring = sqrt(x^2 + " \
    "y^2) - 1 stiffness omega^2\n"                                                                 \
    "[start]\nx = 1\n[events]\nkick = t - 1 rising then x' = %g, y' = %g\n"

static void test_slow(void)
{
    static const struct {
        double omega;
        const char *options;
        double near; /* of the energy */
    } rows[] = {{1e3, "until=3 motion=slow", 2e-5},
                {1e3, "until=3 motion=slow every=0.01", 2e-5},
                {1e5, "until=3 motion=slow", 2e-5},
                {1e3, "until=3 motion=slow method=radau9 rtol=1e-9 atol=1e-12", 5e-6},
                {1e3, "until=3 motion=rigid", 2e-5}};
    static kept r;
    const double x = .87954967191107640328, y = -.47581007712483674084, w = -2 * x - y;
    check_group("kicks in slow motion");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char model[400];
        snprintf(model, sizeof model, KICKED, rows[k].omega, 1., -2.);
        driven d = driven_create(model, rows[k].options, NULL);
        if (driven_good(rows[k].options, &d)) {
            taut_sink sink = kept_sink(&r);
            check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s: %s",
                      rows[k].options, d.error.message);
            double ringing = 0, stretch = 0;
            for (int j = 0; j < r.rows; j++) {
                const double *q = r.q[j], *v = r.v[j];
                if (r.t[j] <= 1)
                    continue;
                ringing = fmax(ringing, fabs(r.lambda[j][0] - (v[0] * v[0] + v[1] * v[1] - q[1])));
                stretch = fmax(stretch, fabs(hypot(q[0], q[1]) - 1));
            }
            taut_result result = {.size = sizeof result};
            taut_solver_result_get(d.solver, &result, NULL);
            check_below("multiplier compared with that of the rigid motion", ringing, 1e-2);
            check_below("stretch", stretch, 1e-5);
            check_near("energy", r.energy[r.rows - 1], w * w / 2 + y, rows[k].near);
            check_below("steps", (double)result.statistics.steps, 300);
            check_equal("kicks", result.altered, 1);
            check_near("put back", result.put_back, (x - 2 * y) * x, 1e-3);
        }
        driven_destroy(&d);
    }
}

/* No slow point after the kick: said, with the event and its time, and the run ends there. Stiff
 * potentials are refused beforehand. */
static void test_no_slow_point(void)
{
    char model[400];
    check_group("kicks without a slow point");
    snprintf(model, sizeof model, KICKED, 10., 0., -50.);
    driven d = driven_create(model, "until=3 motion=slow", NULL);
    if (driven_good("run", &d)) {
        check_equal("fails", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error),
                    TAUT_ERROR_CONVERGE);
        check_contains("message", d.error.message, "event 'kick' at t = 1 leaves a state");
        check_near("time", taut_solver_time(d.solver), 1, 1e-12);
        check_near("the state is that before the kick", taut_solver_velocity(d.solver)[1], -0.86,
                   0.05);
    }
    driven_destroy(&d);
    d = driven_create("[coordinates]\nx, y\n[potential]\ny\n[stiff potential]\n(x^2 + y^2 - 1)^2/4 "
                      "scale 1e6\n[start]\nx = 1\n"
                      "[events]\nkick = t - 1 rising then x' = 1\n",
                      "until=3 motion=slow", NULL);
    check_equal("a stiff potential", d.code, TAUT_ERROR_REFUSED);
    check_contains("message", d.error.message, "event 'kick' alters the state");
    driven_destroy(&d);
}

/* Nothing allocates in a run with kicks; an allocation that fails is an error, and nothing leaks.
 */
static void test_memory(void)
{
    char model[400];
    check_group("memory of kicks");
    snprintf(model, sizeof model, KICKED, 1e3, 1., -2.);
    faulty count = {0};
    taut_allocator counting = faulty_allocator(&count);
    driven d = driven_create(model, "until=3 motion=slow", &counting);
    if (driven_good("run", &d)) {
        int64_t before = count.calls;
        check_equal("run", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), 0);
        check_equal("allocations in the run", count.calls - before, 0);
    }
    driven_destroy(&d);
    int64_t bad = 0, calls = count.calls;
    for (int64_t k = 1; k <= calls; k = faulty_next(k)) {
        faulty f = {.fail = k};
        taut_allocator failing = faulty_allocator(&f);
        d = driven_create(model, "until=3 motion=slow", &failing);
        bad += d.code != TAUT_ERROR_MEMORY;
        driven_destroy(&d);
        bad += f.live != 0;
    }
    check_equal("allocations that failed without saying so, or leaked", bad, 0);
}

int main(void)
{
    test_slowed();
    test_across();
    test_slow();
    test_no_slow_point();
    test_memory();
    return check_done();
}
