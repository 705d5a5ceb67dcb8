/* bench_ledger.c - what the energy balance adds to a step of dop8: every step compared against
 * none, in turn, on the double pendulum and on the chain.
 *
 * Rows: name | limit | value | verdict, the value being processor time with over that without. With
 * arguments MODEL on|off STEPS only that run, for bench_ledger_instructions.sh. */
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

/* A solver that takes steps of at most 5e-4, so that both kinds take the same. */
static bench create(const char *name, bool on)
{
    bench b = make(strcmp(name, "chain") == 0 ? chain : pendulum, 0,
                   "motion=full method=dop8 max-step=5e-4 rtol=1e-6 until=1e9");
    if (b.code == 0)
        b.solver->ledger.on = on;
    return b;
}

static void advance(bench *b, int64_t steps)
{
    if (b->code == 0)
        b->code = taut_solver_advance(b->solver, taut_solver_time(b->solver) + (double)steps * 5e-4,
                                      &b->error);
}

static int against(const char *name, int64_t steps)
{
    bench b[2] = {create(name, false), create(name, true)};
    double best[2] = {INFINITY, INFINITY};
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

int main(int count, char **arguments)
{
    if (count == 4) {
        bench b = create(arguments[1], strcmp(arguments[2], "on") == 0);
        advance(&b, atoi(arguments[3]));
        return done(&b) ? 1 : 0;
    }
    return against("double pendulum", 500) || against("chain", 10) ? 1 : 0;
}
