/* test_events_many.c - families of events that alter the state, several events at one time, and
 * events whose times accumulate. References: free fall in closed form. */
#include "support/run.h"

#include <math.h>

/* Three balls, dropped from heights h = 1, 2, 3 under gravity 1, with the restitution e = 0.5, 0.6,
 * 0.7: the velocity at time t, after the bounces so far. */
static double falling(double h, double e, double t, double *v)
{
    double now = sqrt(2 * h), up = now;
    if (t < now) {
        *v = -t;
        return h - t * t / 2;
    }
    for (;;) {
        up *= e;
        if (t <= now + 2 * up)
            break;
        now += 2 * up;
    }
    *v = up - (t - now);
    return up * (t - now) - (t - now) * (t - now) / 2;
}

static void test_family(void)
{
    static const char model[] =
        "[parameters]\ne[i] = 0.4 + i/10 for i in 1..3\n[particles]\ndimension = 2\np[i] for i in "
        "1..3\n[potential]\nsum(p[i].y for i in 1..3)\n[start]\np[i] = (0, i) for i in 1..3\np[i]' "
        "= (8, 0) for i in 1..3\n[events]\nhit[i] = p[i].y for i in 1..3 falling then p[i]' = "
        "(p[i].x'/2, -e[i]*p[i].y')\n";
    static const char *const ways[] = {"until=4", "until=4 method=verlet step=0.01",
                                       "until=4 method=radau5"};
    static const int bounces[3] = {4, 1, 1};
    check_group("a family of events with `then`, of vectors");
    for (int k = 0; k < 3; k++) {
        driven d = driven_create(model, ways[k], NULL);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        if (driven_good(ways[k], &d))
            for (int i = 0; i < 3; i++) {
                double v, y = falling(i + 1, 0.5 + i / 10., 4, &v);
                check_near("height", taut_solver_position(d.solver)[2 * i + 1], y, 1e-9);
                check_near("velocity", taut_solver_velocity(d.solver)[2 * i + 1], v, 1e-9);
                check_near("the other component", taut_solver_velocity(d.solver)[2 * i],
                           8 / pow(2, bounces[i]), 1e-12);
            }
        driven_destroy(&d);
    }
}

/* At t = 1 both functions vanish, with different rounding: x' = 3 first, then doubled, or the other
 * way round. */
static void test_order(void)
{
    static const struct {
        const char *events;
        double v;
    } rows[] = {
        {"a = t - 1 rising then x' = 3\nb = sin(pi*t) falling then x' = 2*x'\n", 6},
        {"b = sin(pi*t) falling then x' = 2*x'\na = t - 1 rising then x' = 3\n", 3},
        {"a = x - 1 rising then x' = 3\nb = 7*(x - 1)/3 rising then x' = 2*x'\n", 6},
        {"b = 7*(x - 1)/3 rising then x' = 2*x'\na = x - 1 rising then x' = 3\n", 3},
        {"a = x - 1 rising then x' = 3\nb = x - 1 rising then x' = 2*x'\nc = t - 1 rising then x' "
         "= x' + 1\n",
         7},
    };
    static const char *const ways[] = {"", "method=verlet step=0.3", "method=rk4 step=0.25",
                                       "method=radau5"};
    check_group("several events at one time");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int j = 0; j < 4; j++) {
            char model[400], options[80];
            snprintf(model, sizeof model, "[coordinates]\nx\n[start]\nx' = 1\n[events]\n%s",
                     rows[k].events);
            snprintf(options, sizeof options, "until=1.5 motion=full %s", ways[j]);
            driven d = driven_create(model, options, NULL);
            if (d.code == 0)
                d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            if (driven_good(rows[k].events, &d)) {
                check_near(rows[k].events, taut_solver_velocity(d.solver)[0], rows[k].v, 1e-9);
                check_near("position", taut_solver_position(d.solver)[0], 1 + 0.5 * rows[k].v,
                           1e-9);
            }
            driven_destroy(&d);
        }
}

/* A stop before `then` leaves the state as it is, one after it has its effect. */
static void test_stop(void)
{
    static const struct {
        const char *events;
        double v;
    } rows[] = {{"a = x - 1 rising stop\nb = 3*(x - 1) rising then x' = 2*x'\n", 1},
                {"b = 3*(x - 1) rising then x' = 2*x'\na = x - 1 rising stop\n", 2}};
    check_group("a stop among them");
    for (int k = 0; k < 2; k++) {
        char model[400];
        snprintf(model, sizeof model, "[coordinates]\nx\n[start]\nx' = 1\n[events]\n%s",
                 rows[k].events);
        driven d = driven_create(model, "until=2", NULL);
        if (driven_good(rows[k].events, &d)) {
            check_equal("code", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error),
                        TAUT_EVENT);
            check_near("time", taut_solver_time(d.solver), 1, 1e-9);
            check_near("velocity", taut_solver_velocity(d.solver)[0], rows[k].v, 1e-12);
        }
        driven_destroy(&d);
    }
}

/* A ball from height 1 under gravity 1: sqrt(2) (1 + e)/(1 - e). */
static void test_zeno(void)
{
    static const double restitution[] = {0.1, 0.5, 0.9, 0.98};
    static const char *const ways[] = {"", "method=dopri5 rtol=1e-9", "method=verlet step=0.01",
                                       "method=radau5"};
    check_group("events that accumulate");
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 4; j++) {
            char model[400], options[80];
            double e = restitution[k], limit = sqrt(2) * (1 + e) / (1 - e);
            snprintf(model, sizeof model,
                     "[coordinates]\nx, y\n[potential]\ny\n[start]\ny = 1, x' = 1\n[events]\nfloor "
                     "= y falling then y' = -%g*y'\n",
                     e);
            snprintf(options, sizeof options, "until=%g %s", 2 * limit, ways[j]);
            driven d = driven_create(model, options, NULL);
            if (driven_good(ways[j], &d)) {
                taut_result result = {.size = sizeof result};
                int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
                taut_solver_result_get(d.solver, &result, NULL);
                check_row(code == TAUT_EVENT && result.event && !strcmp(result.event, "floor"),
                          "%s, e = %g: %s: %s", ways[j], e, taut_code_name(code), d.error.message);
                const char *notice = taut_solver_notice(d.solver, 0);
                const char *at = notice ? strstr(notice, "accumulates at t = ") : NULL;
                check_near("limit", at ? strtod(at + 19, NULL) : NAN, limit, 1e-8 * limit);
                check_near("x", taut_solver_position(d.solver)[0], limit, 1e-6 * limit);
                check_near("y", taut_solver_position(d.solver)[1], 0, 1e-12);
            }
            driven_destroy(&d);
        }
}

int main(void)
{
    test_family();
    test_order();
    test_stop();
    test_zeno();
    return check_done();
}
