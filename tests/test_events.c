/* test_events.c - events of runs: when they are met, against analytic times; what they do; where
 * they accumulate. */
#include <float.h>

#include "support/run.h"

/* Free fall from height 1 under gravity 1: Verlet and the dense output are exact, so that times
 * are exact to rounding. */
#define BALL "[coordinates]\ny, x\n[potential]\ny\n[start]\ny = 1, x' = 1\n"

static void test_times(void)
{
    static const struct {
        const char *model, *options;
        double t, tolerance;
    } rows[] = {
        {BALL "[events]\nfloor = y falling stop\n", "step=0.01 until=5", 1.41421356237309504880,
         1e-15},
        {BALL "[events]\nfloor = y falling stop\n", "step=0.3 until=5", 1.41421356237309504880,
         1e-15},
        {BALL "[events]\nfloor = y stop\n", "step=3 until=5", 1.41421356237309504880, 1e-15},
        {BALL "[events]\nfloor = y rising stop\n", "step=0.01 until=5", 5, 0},
        {BALL "[events]\nfast = y' + 2 falling stop\n", "step=0.07 until=5", 2, 1e-14},
        {BALL "[events]\nclock = t - 2.345 rising stop\n", "step=0.1 until=5", 2.345, 1e-15},
        {BALL "[events]\nsteep = (x - 1.25)^9 stop\n", "step=0.1 until=5", 1.25, 1e-3},
        {BALL "[events]\njump = if(x > 1.25, 1, -1) stop\n", "step=0.1 until=5", 1.25, 1e-15},
        {BALL "[events]\na = y stop\nb = x - 1 stop\n", "step=3 until=5", 1, 1e-15},
        /* x starts on the root, leaves it upwards and comes back */
        {"[coordinates]\nx\n[potential]\nx\n[start]\nx' = 1\n[events]\nback = x stop\n",
         "step=0.1 until=5", 2, 1e-14},
        {"[coordinates]\nx\n[potential]\nx\n[start]\nx' = 1\n[events]\nback = x falling stop\n",
         "step=3 until=5", 2, 1e-14},
        /* backwards in time: y comes from below, at t = -sqrt 2 */
        {BALL "[events]\nfloor = y stop\n", "step=0.01 until=-5", -1.41421356237309504880, 1e-15},
    };
    check_group("event times");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        if (driven_good(rows[k].model, &d)) {
            bool met = rows[k].tolerance > 0;
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            check_row(code == (met ? TAUT_EVENT : 0), "row %d: %s %s", (int)k, taut_code_name(code),
                      d.error.message);
            check_near("time", taut_solver_time(d.solver), rows[k].t, rows[k].tolerance);
            taut_result result = {.size = sizeof result};
            taut_solver_result_get(d.solver, &result, NULL);
            check_row(met == (result.event != NULL) && result.status == code, "row %d: event %s",
                      (int)k, result.event ? result.event : "-");
        }
        driven_destroy(&d);
    }
}

/* The error of the time is of second order for a method of second order. */
static void test_order(void)
{
    check_group("event order");
    double e[3];
    for (int j = 0; j < 3; j++) {
        static const char *const options[] = {"step=0.1 until=5", "step=0.05 until=5",
                                              "step=0.025 until=5"};
        driven d = driven_create(
            "[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = 1\n[events]\nzero = x stop\n",
            options[j], NULL);
        e[j] = NAN;
        if (driven_good("run", &d) &&
            taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error) == TAUT_EVENT)
            e[j] = fabs(taut_solver_time(d.solver) - acos(-1) / 2);
        driven_destroy(&d);
    }
    check_below("time", e[2], 1e-4);
    check_near("order", log2(e[0] / e[1]), 2, 0.1);
    check_near("order", log2(e[1] / e[2]), 2, 0.1);
}

/* Bounces lose 0.2 of the speed: they are at t_0 = sqrt 2, then 2 v 0.8^k apart, v = sqrt 2. */
static void test_bounces(void)
{
    static const char *const options[] = {"step=0.01 until=9", "step=0.13 until=9",
                                          "step=1 until=9 every=0.25"};
    check_group("bounces");
    for (int j = 0; j < 3; j++) {
        static kept r;
        driven d =
            driven_create(BALL "[events]\nhit = y falling then y' = -0.8*y'\n", options[j], NULL);
        if (driven_good(options[j], &d)) {
            taut_sink sink = kept_sink(&r);
            check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s: %s",
                      options[j], d.error.message);
            double due = sqrt(2), speed = sqrt(2), least = 1, off = 0;
            int found = 0;
            for (int i = 0; i < r.rows; i++) {
                least = fmin(least, r.q[i][0]);
                if (fabs(r.q[i][0]) > 1e-12 || r.t[i] == 0)
                    continue;
                /* a row before the jump, one after it */
                off = fmax(off, fabs(r.t[i] - due) + fabs(r.t[i + 1] - due));
                off = fmax(off, fabs(r.v[i][0] + speed) + fabs(r.v[i + 1][0] - 0.8 * speed));
                i++;
                speed *= 0.8;
                due += 2 * speed;
                found++;
            }
            check_equal("bounces before t = 9", found, 5);
            check_below("times, speeds off", off, 1e-12);
            check_below("depth under the floor", -least, 1e-13);
            check_near("x is not disturbed", taut_solver_position(d.solver)[1], 9, 1e-12);
            taut_result result = {.size = sizeof result};
            taut_solver_result_get(d.solver, &result, NULL);
            check_equal("a new start costs one evaluation", result.statistics.force_evaluations,
                        result.statistics.steps + 1 + found);
        }
        driven_destroy(&d);
    }
}

/* The bounces end at t = sqrt 2 (1 + 2 * 0.8/0.2) = 12.73: what is asked for beyond cannot be
 * done, and is said. */
static void test_accumulation(void)
{
    static const struct {
        const char *events;
        double t, tolerance;
    } rows[] = {
        {"hit = y falling then y' = -0.8*y'\n", 12.7279220613578556, 0.1},
        {"hit = y falling then y' = -0.1*y'\n", 1.72848324290045, 0.01},
        {"hit = y falling then y' = 0\n", 1.41421356237309505, 1e-7},
        {"hit = y falling then y = 0, y' = -0.5*y'\n", 4.24264068711928515, 0.05},
    };
    check_group("accumulation of events");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char model[200];
        snprintf(model, sizeof model, "%s[events]\n%s", BALL, rows[k].events);
        driven d = driven_create(model, "step=0.01 until=20", NULL);
        if (driven_good(rows[k].events, &d)) {
            /* in geometric progression they end at their limit (test_events_many.c), else they fail
             */
            bool limit = strstr(rows[k].events, "-0.");
            check_equal(rows[k].events, taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error),
                        limit ? TAUT_EVENT : TAUT_ERROR_STEP);
            check_contains("message", limit ? taut_solver_notice(d.solver, 0) : d.error.message,
                           limit ? "event 'hit' accumulates" : "event 'hit' occurs without end");
            check_near(rows[k].events, taut_solver_time(d.solver), rows[k].t, rows[k].tolerance);
            check_below("depth under the floor", -taut_solver_position(d.solver)[0], 1e-12);
        }
        driven_destroy(&d);
    }
}

/* Switches let the motion pass: they fire once for each crossing. */
static void test_switches(void)
{
    static const struct {
        const char *events, *options;
        int extra;  /* rows by events: before and after each */
        double x;   /* at t = 4 */
        int starts; /* new starts */
    } rows[] = {
        {"half = x - 0.5 then x' = 2*x'\n", "step=0.01 until=4 every=4", 2, 0.5 + 2 * 3.5, 1},
        {"half = x - 0.5 rising then y' = 0\n", "step=0.01 until=4 every=4", 2, 4, 1},
        {"wave = sin(10*x) then y' = y'\n", "step=0.01 until=4 every=4", 24, 4, 12},
        {"wave = sin(10*x) rising then y' = y'\n", "step=0.01 until=4 every=4", 12, 4, 6},
        {"wave = sin(10*x) falling then x' = x'\n", "step=0.25 until=4 every=4", 12, 4, 6},
        {"saw = x - 0.75 then x = 0\n", "step=0.01 until=4 every=4", 10, 4 - 5 * 0.75, 5},
    };
    check_group("switches");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        static kept r;
        char model[200];
        snprintf(model, sizeof model, "%s[events]\n%s", BALL, rows[k].events);
        driven d = driven_create(model, rows[k].options, NULL);
        if (driven_good(rows[k].events, &d)) {
            taut_sink sink = kept_sink(&r);
            check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s: %s",
                      rows[k].events, d.error.message);
            check_equal(rows[k].events, r.rows, 2 + rows[k].extra);
            check_near("x", taut_solver_position(d.solver)[1], rows[k].x, 1e-12);
            taut_result result = {.size = sizeof result};
            taut_solver_result_get(d.solver, &result, NULL);
            check_equal("starts", result.statistics.force_evaluations - result.statistics.steps - 1,
                        rows[k].starts);
        }
        driven_destroy(&d);
    }
}

/* Two balls that land at the same moment: both bounce. Then one after the other within one step. */
static void test_together(void)
{
    check_group("events together");
    for (int j = 0; j < 4; j++) {
        static const char *const heights[] = {"1", "1 + 1e-15", "1 - 1e-15", "1.001"};
        char model[400];
        snprintf(model, sizeof model,
                 "[coordinates]\na, b\n[potential]\na + b\n[start]\na = 1, b = %s\n"
                 "[events]\nfirst = a falling then a' = -a'\nsecond = b falling then b' = -b'\n",
                 heights[j]);
        driven d = driven_create(model, "step=0.1 until=20", NULL);
        if (driven_good(heights[j], &d)) {
            check_row(taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error) == 0, "%s: %s",
                      heights[j], d.error.message);
            const double *q = taut_solver_position(d.solver);
            check_row(q[0] > 0 && q[1] > 0 && q[0] < 1.01 && q[1] < 1.01,
                      "b from %s: a = %g, b = %g stay above the floor", heights[j], q[0], q[1]);
        }
        driven_destroy(&d);
    }
}

/* Thrown up with speed 1.5 the ball is above 1 from t = 1 to 2, and at most at 1.125: both
 * within one step of a method of high order, at whose ends the event function has the same sign.
 * On a rigid bond turning with rate -1 from the angle 1, x is above cos 0.3 from t = 0.7 to 1.3. */
static void test_twice(void)
{
    static const struct {
        const char *event;
        double t; /* 0: not met */
    } rows[] = {{"y - 1 stop", 1},         {"y - 1 rising stop", 1},
                {"y - 1 falling stop", 2}, {"1 - y falling stop", 1},
                {"1 - y rising stop", 2},  {"y - 1.124 stop", 1.5 - 0.044721359549995794},
                {"y - 1.126 stop", 0},     {"(y - 1.125)^2 stop", 0}};
    static const char *const ways[] = {
        "until=2.9 method=dop8",         "until=2.9 method=dopri5",
        "until=2.9 method=radau5",       "until=2.9 method=radau9",
        "until=2.9 method=rk4 step=2.9", "until=2.9 method=verlet step=2.9"};
    check_group("events met twice within a step");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (size_t j = 0; j < sizeof ways / sizeof ways[0]; j++) {
            char model[300];
            snprintf(model, sizeof model,
                     "[coordinates]\ny\n[potential]\ny\n[start]\ny' = 1.5\n[events]\nhere = %s\n",
                     rows[k].event);
            driven d = driven_create(model, ways[j], NULL);
            if (driven_good(ways[j], &d)) {
                int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
                check_row(code == (rows[k].t > 0 ? TAUT_EVENT : 0), "%s, %s: %s", rows[k].event,
                          ways[j], taut_code_name(code));
                check_near(rows[k].event, taut_solver_time(d.solver),
                           rows[k].t > 0 ? rows[k].t : 2.9, 1e-9);
            }
            driven_destroy(&d);
        }
    for (int j = 0; j < 2; j++) {
        driven d = driven_create(
            "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[start]\nx = cos(1), y = "
            "sin(1), x' = sin(1), y' = -cos(1)\n[events]\ninside = x - cos(0.3) rising stop\n",
            j ? "until=2 method=radau5" : "until=2 method=dop8", NULL);
        if (driven_good("rod", &d)) {
            check_equal("rod", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error),
                        TAUT_EVENT);
            check_near("rod", taut_solver_time(d.solver), 0.7, 1e-5);
        }
        driven_destroy(&d);
    }
}

/* Stops can be left again; advance meets events too. */
static void test_go_on(void)
{
    check_group("on after a stop");
    driven d =
        driven_create(BALL "[events]\nwave = cos(acos(-1)*x) stop\n", "step=0.03 until=3", NULL);
    if (driven_good("run", &d)) {
        for (int k = 0; k < 3; k++) {
            check_equal("stop", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error),
                        TAUT_EVENT);
            check_near("time", taut_solver_time(d.solver), 0.5 + k, 1e-14);
        }
        check_equal("end", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), 0);
        check_near("time", taut_solver_time(d.solver), 3, 0);
        check_equal("advance", taut_solver_advance(d.solver, 5, &d.error), TAUT_EVENT);
        check_near("time", taut_solver_time(d.solver), 3.5, 1e-14);
    }
    driven_destroy(&d);
}

int main(void)
{
    test_times();
    test_order();
    test_bounces();
    test_accumulation();
    test_switches();
    test_together();
    test_twice();
    test_go_on();
    return check_done();
}
