/* bench_monitors.c - what watches a run of dop8: error norm, energy balance, stiffness, drift.
 *
 * Rows: name | limit | value | verdict, the value being processor time with the energy balance over
 * that without, in turn, on the double pendulum and on the chain. With arguments MODEL STEPS only
 * that run, for bench_monitors_instructions.sh: MODEL is pendulum, chain; driven-pendulum and
 * driven-chain, where forces do work; rigid-pendulum and rigid-chain, with a drift to measure;
 * radau-pendulum and radau-chain, driven, in slow motion by radau5; kinetic-pendulum, driven, with
 * a kinetic energy, and kinetic-radau, the same by radau5. */
#if defined(__linux__)
#define _POSIX_C_SOURCE 199309L
#endif
#include <stdlib.h>

#include "drive/solver.h"
#include "runs.h"

enum { ROUNDS = 41 };

static const char pendulum[] = "[coordinates]\nx1, y1, x2, y2\n[potential]\ny1 + y2\n[bonds]\n"
                               "inner = sqrt(x1^2 + y1^2) - 1 stiffness 1e6\n"
                               "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness 1e6\n"
                               "[start]\nx1 = 1, x2 = 2\n";
static const char chain[] =
    "[parameters]\nN = 1000\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1\n"
    "[potential]\nsum(bob[i].y for i in 1..N)\n[bonds]\n"
    "link[1] = length(bob[1]) - 1 stiffness 1e6\n"
    "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N stiffness 1e6\n"
    "[start]\nbob[i] = (i, 0) for i in 1..N\n";

static const char angles[] =
    "[coordinates]\na, b\n[kinetic]\na'^2 + a'*b'*cos(a - b) + b'^2/2\n[potential]\n"
    "-2*cos(a) - cos(b)\n[forces]\na = sin(t)\n[start]\na = 1, b = 1\n";

static bench create(const char *name, const char *more)
{
    bool long_one = strstr(name, "chain") != NULL, kinetic = strncmp(name, "kinetic", 7) == 0,
         radau = strstr(name, "radau") != NULL, rigid = strncmp(name, "rigid", 5) == 0,
         driven = strncmp(name, "driven", 6) == 0 || (radau && !kinetic);
    char model[800], options[200];
    snprintf(model, sizeof model, "%s%s",
             kinetic    ? angles
             : long_one ? chain
                        : pendulum,
             !driven    ? ""
             : long_one ? "[forces]\nbob[1].x = sin(t)\n"
                        : "[forces]\nx1 = sin(t)\n");
    snprintf(options, sizeof options, "motion=%s method=%s rtol=1e-6 until=1e3 every=step %s",
             rigid               ? "rigid"
             : radau && !kinetic ? "slow"
                                 : "full",
             radau ? "radau5" : "dop8", more);
    return make(model, 0, options);
}

/* Steps of at most 5e-4, so that both kinds take the same. */
static void advance(bench *b, int64_t steps)
{
    if (b->code == 0)
        b->code = taut_solver_advance(b->solver, taut_solver_time(b->solver) + (double)steps * 5e-4,
                                      &b->error);
}

static int against(const char *name, int64_t steps)
{
    const char *how = "max-step=5e-4";
    bench b[2] = {create(name, how), create(name, how)};
    double best[2] = {INFINITY, INFINITY};
    if (b[0].code == 0)
        b[0].solver->ledger.on = false;
    for (int k = 0; k < 2 * ROUNDS && b[0].code == 0 && b[1].code == 0; k++) {
        double begin = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
        advance(&b[k % 2], steps);
        best[k % 2] = fmin(best[k % 2], bench_clock(CLOCK_PROCESS_CPUTIME_ID) - begin);
    }
    char text[80];
    snprintf(text, sizeof text, "dop8, %s, time with the energy balance against none", name);
    row(text, 1.05, best[1] / best[0]);
    int code = done(&b[0]);
    return code ? code : done(&b[1]);
}

/* With the step size of the tolerance, so many steps. */
static int run(const char *name, const char *steps)
{
    char more[40];
    snprintf(more, sizeof more, "steps=%s", steps);
    bench b = create(name, more);
    if (b.code == 0)
        b.code = taut_solver_advance(b.solver, 1e3, &b.error);
    if (b.code == TAUT_LIMIT)
        b.code = 0;
    return done(&b) ? 1 : 0;
}

int main(int count, char **arguments)
{
    if (count == 3)
        return run(arguments[1], arguments[2]);
    return against("pendulum", 500) || against("chain", 10) ? 1 : 0;
}
