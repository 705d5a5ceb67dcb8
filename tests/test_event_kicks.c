/* test_event_kicks.c - events that alter velocities: once for each crossing, whether the motion goes on, slower or faster, or turns back, and
 * also where the state is put back onto rigid bonds at the event. */
#include "drive.h"

/* Free motion x = 1 - t, slowed down, sped up or turned back at x = 0: at t = 2 it is at -factor, once and exactly. The same on a rod in the
 * plane, where the state is put back onto the bond at the event: the angle phi = 1 - t as atan2(y, x). */
#define ON_LINE "[coordinates]\nx\n[start]\nx = 1, x' = -1\n[events]\nslow = x falling then x' = %g*x'\n"
#define ON_ROD                                                                                                                     \
    "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[start]\nx = cos(1), y = sin(1), x' = sin(1), y' = -cos(1)\n"        \
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
        check_row(d.code == 0 && fabs(at + factor) < 1e-4, "%s, factor %g, %s: %s, at %.12g: %s", way, factor,
                  form[15] == ',' ? "rod" : "line", taut_code_name(d.code), at, d.code ? d.error.message : "");
    }
    driven_destroy(&d);
}

static void test_slowed(void)
{
    static const double factors[] = {0.5, 0.25, 0.01, 0.75, 1.5, -0.5, -1};
    static const char *const ways[] = {"until=2 method=dop8", "until=2 method=radau5", "until=2 method=rk4 step=0.03",
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
    /* a pendulum from the horizontal, at half its speed below 30 degrees: at 0.9 below the pivot after t1 + t2, the integrals of
     * d theta/omega, omega^2 = 2 sin(theta), then 1/4 + 2 sin(theta) - 1 */
    static const char pendulum[] =
        "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[start]\nx = 1\n[events]\n"
        "brake = y + 0.5 falling then x' = x'/2, y' = y'/2\nend = y + 0.9 falling stop\n";
    static const char *const finer[] = {"until=9 method=dop8", "until=9 method=radau5", "until=9 method=rk4 step=0.01",
                                        "until=9 method=rattle step=0.001"};
    for (size_t k = 0; k < sizeof finer / sizeof finer[0]; k++) {
        driven d = driven_create(pendulum, finer[k], NULL);
        if (driven_good(finer[k], &d)) {
            check_equal(finer[k], taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), TAUT_EVENT);
            check_near(finer[k], taut_solver_time(d.solver), 1.7834225600778, 1e-5);
        }
        driven_destroy(&d);
    }
}

int main(void)
{
    test_slowed();
    return check_done();
}
