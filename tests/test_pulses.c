/* test_pulses.c - forces and bonds that act for a small part of a run are not passed over. A kick
 * of impulse 1 on an oscillator at rest, a Gauss function of width w at t = 5, gives exactly
 *
 *     x = exp(-w^2/2) sin(t - 5),   x' = exp(-w^2/2) cos(t - 5)          (t well after 5),
 *
 * forwards and backwards in time. */
#include "support/run.h"

#include <math.h>

#define KICK(more)                                                                                 \
    "[coordinates]\nx, y\n[forces]\nx = exp(-((t - 5)/%g)^2/2)/(%g*sqrt(2*pi)) - x\ny = " more "\n"

static const struct {
    const char *what, *model, *options;
    double w, until, allowed;
} kicks[] = {
    {"alone", KICK("0*t"), "", 1e-3, 10, 3e-5},
    {"wide", KICK("0*t"), "", 0.1, 10, 3e-5},
    {"short", KICK("0*t"), "", 2e-4, 10, 3e-5},
    {"together with a vibration", KICK("sin(3*t) - y'"), "", 1e-3, 10, 3e-5},
    {"at a tolerance", KICK("0*t"), "rtol=1e-9", 1e-3, 10, 3e-8},
    {"implicit", KICK("0*t"), "method=radau5", 1e-3, 10, 3e-5},
    {"in a long run", KICK("0*t"), "", 1e-2, 100, 3e-5},
};

static void test_kicks(void)
{
    check_group("kicks");
    for (size_t k = 0; k < sizeof kicks / sizeof *kicks; k++) {
        char model[300], options[100];
        double w = kicks[k].w, t = kicks[k].until, e = exp(-w * w / 2);
        snprintf(model, sizeof model, kicks[k].model, w, w);
        snprintf(options, sizeof options, "until=%g %s", t, kicks[k].options);
        driven d = driven_create(model, options, NULL);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        if (driven_good(kicks[k].what, &d)) {
            taut_result result = {.size = sizeof result};
            taut_solver_result_get(d.solver, &result, NULL);
            check_near(kicks[k].what, taut_solver_position(d.solver)[0], e * sin(t - 5),
                       kicks[k].allowed);
            check_near("velocity", taut_solver_velocity(d.solver)[0], e * cos(t - 5),
                       kicks[k].allowed);
            /* a bound for all of the run would be one of w/4 */
            check_below("steps", (double)result.statistics.steps, 10 * t + 300);
        }
        driven_destroy(&d);
    }
}

/* From t = 10 back to 0; a support that moves by a bump, whose particle is carried along; a first-
 * order system; a force that vanishes at the initial state: x'' = p(t) x with x = 0, x' = 1 gives
 * x' = 1 + x(5) after the kick, x = x(5) there but for O(w). */
static void test_others(void)
{
    static const struct {
        const char *what, *model, *options;
        double x, v, allowed;
    } rows[] = {
        {"backwards",
         "[coordinates]\nx\n[forces]\nx = exp(-((t - 5)/1e-3)^2/2)/(1e-3*sqrt(2*pi))\n",
         "from=10 until=0", 5, -1, 1e-4},
        {"first order", "[state]\nx\n[rates]\nx' = exp(-((t - 5)/1e-3)^2/2)/(1e-3*sqrt(2*pi))\n",
         "until=10", 1, NAN, 1e-4},
        {"at a state where it vanishes",
         "[coordinates]\nx\n[forces]\nx = x*exp(-((t - "
         "5)/1e-3)^2/2)/(1e-3*sqrt(2*pi))\n[start]\nx' "
         "= 1\n",
         "until=10", 10 + 5 * 5, 6, 2e-2},
        {"a moving bond",
         "[coordinates]\nx, y\n[forces]\ny = 3*(x - y)\n[bonds]\ns = x - exp(-((t - 5)/0.02)^2)\n",
         "until=10 motion=rigid", 0, 0, 1e-5},
    };
    check_group("other pulses");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        if (driven_good(rows[k].what, &d)) {
            check_near(rows[k].what, taut_solver_position(d.solver)[0], rows[k].x,
                       rows[k].allowed * fmax(1, fabs(rows[k].x)));
            if (!isnan(rows[k].v))
                check_near("velocity", taut_solver_velocity(d.solver)[0], rows[k].v,
                           rows[k].allowed * fmax(1, fabs(rows[k].v)));
            if (k == 3) /* y'' = -3 y + 3 bump: an impulse of 3 * 0.02 sqrt(pi), but for O(w^2) */
                check_near("what it moves", taut_solver_position(d.solver)[1],
                           0.06 * sqrt(acos(-1)) * exp(-3 * 1e-4) * sin(5 * sqrt(3)) / sqrt(3),
                           1e-5);
        }
        driven_destroy(&d);
    }
}

/* Three entries of a table of 100,001, far closer to each other than samples of a formula: an
 * impulse of 2 at t = 50.001. */
static void test_table(void)
{
    enum { ENTRIES = 100001 };
    static const char *const methods[] = {"dop8", "dopri5", "adams", "radau5"};
    static char values[3 * ENTRIES + 20] = "f\n";
    char *end = values + 2;
    for (int k = 0; k < ENTRIES; k++)
        end += sprintf(end, "%s\n", k == 50001 ? "1000" : k == 50000 || k == 50002 ? "500" : "0");
    taut_table_text table = {.name = "b.csv", .text = values, .length = (size_t)(end - values)};
    taut_load how = {.size = sizeof how, .tables = &table, .table_count = 1};
    static const char model[] = "[tables]\nb = b.csv\n[coordinates]\nx\n[forces]\n"
                                "x = b.f[t/0.001 + 1] - x\n";
    check_group("a table");
    for (int k = 0; k < 4; k++) {
        char options[100];
        driven d = {0};
        snprintf(options, sizeof options, "method=%s until=100 rtol=1e-5", methods[k]);
        d.code = taut_system_parse(model, strlen(model), "model", &how, &d.system, &d.error);
        driven_equip(&d, options, NULL);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        if (driven_good(options, &d))
            check_near(options, taut_solver_position(d.solver)[0], 2 * sin(100 - 50.001), 2e-3);
        driven_destroy(&d);
    }
}

/* What varies all the time needs no such bounds: as many steps as without samples. */
static void test_plain(void)
{
    static const char *const models[] = {"[coordinates]\nx\n[forces]\nx = cos(2*t) - x\n",
                                         "[coordinates]\nx\n[forces]\nx = exp(-t/3) - x\n",
                                         "[coordinates]\nx\n[forces]\nx = 0.01*t - x\n"};
    check_group("without pulses");
    for (int k = 0; k < 3; k++) {
        driven d = driven_create(models[k], "until=20", NULL);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        if (driven_good(models[k], &d)) {
            taut_result result = {.size = sizeof result};
            taut_solver_result_get(d.solver, &result, NULL);
            check_below(models[k], (double)result.statistics.steps, 60);
        }
        driven_destroy(&d);
    }
}

int main(void)
{
    test_kicks();
    test_others();
    test_table();
    test_plain();
    return check_done();
}
