/* bench_radau.c - Radau IIA: evaluations needed for an accuracy, steps against stiffness, time
 * per link of long chains.
 *
 * Rows: name | limit | value | verdict. Evaluations are compared with those measured for the two
 * Newton forms in the design (168 / 264 / 410 stage-wise, 591 / 840 / 1715 with frozen
 * derivatives, at errors 1e-4 / 1e-6 / 1e-8 of the double pendulum, omega = 1000, t = 10); times
 * per link are compared with those of a chain of 100 in the same run. */
#if defined(__linux__)
#define _POSIX_C_SOURCE 199309L
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "runs.h"

/* ---- evaluations against errors */

static const char pendulum[] =
    "[coordinates]\nx1, y1, x2, y2\n[bonds]\ninner = sqrt(x1^2 + y1^2) - 1 stiffness 1e6\n"
    "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness 1e6\n"
    "[start]\nx1 = 1.000001500045071096781, x2 = 2.000002750073263937993, y1' = -0.5, y2' = 0.5\n";

/* Positions at t = 10: see tests/test_radau.c for where they come from. */
static const double end[4] = {0.99934340676157869, -0.03622915908201496, 0.66151150110952525,
                              0.90497759592155011};

static int evaluations(const char *newton, const double design[3])
{
    double best[3] = {INFINITY, INFINITY, INFINITY};
    char by[3][40] = {"", "", ""};
    for (int order = 5; order <= 9; order += 2)
        for (int k = 10; k <= 36; k++) {
            char settings[200];
            double rtol = pow(10, -k / 4.0), off = 0;
            snprintf(settings, sizeof settings,
                     "motion=slow method=radau%d newton=%s rtol=%.3g atol=%.3g until=10", order,
                     newton, rtol, rtol);
            bench b = make(pendulum, 0, settings);
            if (b.code == 0)
                b.code = taut_solver_advance(b.solver, 10, &b.error);
            taut_result r = {.size = sizeof r};
            if (b.code == 0) {
                taut_solver_result_get(b.solver, &r, NULL);
                for (int i = 0; i < 4; i++)
                    off = fmax(off, fabs(taut_solver_position(b.solver)[i] - end[i]));
            }
            if (done(&b) != 0)
                return 1;
            for (int j = 0; j < 3; j++)
                if (off <= pow(10, -4 - 2 * j) &&
                    (double)r.statistics.force_evaluations < best[j]) {
                    best[j] = (double)r.statistics.force_evaluations;
                    snprintf(by[j], sizeof by[j], "radau%d, rtol %.2g", order, rtol);
                }
        }
    for (int j = 0; j < 3; j++) {
        char name[300];
        snprintf(name, sizeof name, "radau %s, evaluations at error 1e-%d (%g by %s) against %g",
                 newton, 4 + 2 * j, best[j], by[j], design[j]);
        row(name, 1.1, best[j] / design[j]);
    }
    return 0;
}

/* ---- long chains */

static const char hanging[] =
    "[parameters]\nN = 20\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1\n"
    "[potential]\nsum(bob[i].y for i in 1..N)\n[bonds]\nlink[1] = length(bob[1]) - 1 stiffness "
    "1e12\n"
    "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N stiffness 1e12\n"
    "[start]\nbob[i] = (i, 0) for i in 1..N\n";

static bench make_chain(const char *method, int links)
{
    char settings[120];
    snprintf(settings, sizeof settings,
             "motion=slow method=%s newton=tensor step=0.01 until=10 raw=yes", method);
    return make(hanging, links, settings);
}

static int chain(const char *method, int links, double *per_link)
{
    bench b = make_chain(method, links);
    double best = INFINITY;
    taut_result before = {.size = sizeof before}, after = {.size = sizeof after};
    for (int k = 0; k < 12 && b.code == 0; k++) {
        taut_solver_result_get(b.solver, &before, NULL);
        double start = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
        b.code = taut_solver_advance(b.solver, 0.05 * (k + 1), &b.error);
        taut_solver_result_get(b.solver, &after, NULL);
        if (k > 0) /* the first steps fill caches and form the first guess */
            best = fmin(best, (bench_clock(CLOCK_PROCESS_CPUTIME_ID) - start) /
                                  (double)(after.statistics.steps - before.statistics.steps));
    }
    *per_link = best * 1e9 / links;
    if (b.code == 0)
        printf("%s, chain of %d links: %.3g ns per link and step, %.3g iterations a step\n", method,
               links, *per_link,
               (double)after.statistics.newton_iterations / (double)after.statistics.steps);
    return done(&b);
}

/* For bench_instructions.sh: nothing but the steps. */
static int only_steps(const char *method, int links, int steps)
{
    bench b = make_chain(method, links);
    if (b.code == 0)
        b.code = taut_solver_advance(b.solver, 0.01 * steps, &b.error);
    return done(&b);
}

int main(int count, char **arguments)
{
    if (count == 4)
        return only_steps(arguments[1], atoi(arguments[2]), atoi(arguments[3])) ? 1 : 0;
    static const double stage[3] = {168, 264, 410}, frozen[3] = {591, 840, 1715};
    if (evaluations("stage", stage) || evaluations("tensor", frozen))
        return 1;
    double hundred, thousand, ten_thousand;
    if (chain("radau5", 100, &hundred) || chain("radau5", 1000, &thousand) ||
        chain("radau5", 10000, &ten_thousand))
        return 1;
    row("radau5, chain of 1000, time per link and step against 100", 1.3, thousand / hundred);
    row("radau5, chain of 10000, time per link and step against 100", 1.6, ten_thousand / hundred);
    return 0;
}
