/* bench_chains.c - Verlet, RATTLE and dop8 (index 1, stabilised) on the hanging chain: Taut, from
 * the model text, against hand-written C (anchors.c) in the same run; time per link and step as
 * the chain grows.
 *
 * Rows: name | limit | value | verdict. Both sides take turns; processor times, the best of several
 * rounds. Taut's contain its guards and, for dop8, the stabilisation of each step, which the anchor
 * does without; the line before a row says how far positions differ. Interpreted, and compiled
 * where a compiler is there. Springs that are lengths of differences run through loops of the
 * library either way; written as square roots they show what a compiler makes of other springs.
 * With arguments "METHOD WHO LINKS STEPS" nothing but these steps is done, for
 * bench_instructions.sh; WHO is hand, taut or compiled. With "METHOD LINKS WHO" one row is
 * measured. */
#if defined(__linux__)
#define _POSIX_C_SOURCE 200112L
#endif
#include <math.h>
#include <stdlib.h>

#include "anchors.h"
#include "runs.h"

#define ROOT "sqrt((bob[i].x - bob[i-1].x)^2 + (bob[i].y - bob[i-1].y)^2)"

typedef struct contest {
    const char *name, *model, *settings;
    /* compiled or not, the loops of system/kernel/distance.c run; or with and without a compiler */
    bool library;
    double step, limit[2]; /* interpreted, compiled */
    int parts;             /* evaluations of a step, where they are what counts */
    int steps, few; /* of a round: of 1000 links, of 100000; short, since the motion is chaotic */
    const anchor *hand;
} contest;

static const contest contests[] = {
    {"verlet",
     HANGING_CHAIN(LENGTH, " stiffness 1e6"),
     "motion=full method=verlet step=1e-4",
     true,
     1e-4,
     {1.3, 0},
     1,
     400,
     40,
     &anchor_verlet},
    {"verlet by roots",
     HANGING_CHAIN(ROOT, " stiffness 1e6"),
     "motion=full method=verlet step=1e-4",
     false,
     1e-4,
     {0, 1.3},
     1,
     400,
     40,
     &anchor_verlet},
    {"rattle",
     HANGING_CHAIN(LENGTH, ""),
     "method=rattle step=0.01",
     false,
     0.01,
     {2, 2},
     1,
     20,
     20,
     &anchor_rattle},
    {"dop8",
     HANGING_CHAIN(LENGTH, ""),
     "method=dop8 step=0.05",
     false,
     0.05,
     {2, 2},
     12,
     4,
     4,
     &anchor_dop8},
};
enum { CONTESTS = sizeof contests / sizeof contests[0] };

/* Processor time, which other load disturbs less. */
static double spent(void)
{
    return bench_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static double apart(const contest *c, int links, const double *position)
{
    double off = 0, *q = malloc(2 * (size_t)links * sizeof *q);
    if (!q)
        return NAN;
    c->hand->position(q);
    for (int i = 0; i < 2 * links; i++)
        off = fmax(off, fabs(q[i] - position[i]));
    free(q);
    return off;
}

enum { ROUNDS = 9 };

static int race(const contest *c, int links, int64_t steps, double limit, bool compile)
{
    const char *how = c->library ? "distances of the library"
                      : compile  ? "compiled"
                                 : "interpreted";
    bench b = make_how(c->model, links, c->settings, compile);
    double best[2] = {INFINITY, INFINITY};
    if (b.code == 0 && !c->hand->create(links))
        b.code = TAUT_ERROR_MEMORY;
    for (int k = 0; k < ROUNDS && b.code == 0; k++) {
        double t0 = spent();
        c->hand->advance(steps, c->step);
        double t1 = spent();
        b.code = taut_solver_advance(b.solver, (double)((k + 1) * steps) * c->step, &b.error);
        best[0] = fmin(best[0], t1 - t0);
        best[1] = fmin(best[1], spent() - t1);
    }
    if (b.code == 0) {
        const char *part = c->parts > 1 ? "evaluation" : "step";
        double scale = 1e9 / ((double)links * (double)steps * c->parts);
        printf(
            "%s, chain of %d links, %s, ns per link and %s: %.3g by hand, %.3g by Taut; positions "
            "differ by %.2g\n",
            c->name, links, how, part, best[0] * scale, best[1] * scale,
            apart(c, links, taut_solver_position(b.solver)));
        char name[80];
        snprintf(name, sizeof name, "%s, chain of %d links: time, %s / by hand", c->name, links,
                 how);
        row(name, limit, best[1] / best[0]);
    }
    c->hand->destroy();
    return done(&b);
}

/* ns per link and step. */
static double cost(const contest *c, int links, int steps)
{
    bench b = make(c->model, links, c->settings);
    double best = INFINITY;
    for (int k = 0; k < 5 && b.code == 0; k++) {
        double t0 = spent();
        b.code = taut_solver_advance(b.solver, (double)((k + 1) * steps) * c->step, &b.error);
        best = fmin(best, spent() - t0);
    }
    return done(&b) ? NAN : best * 1e9 / ((double)links * steps);
}

/* Growth from 100 links on: 1 is linear cost. */
static int flat(const contest *c)
{
    double first = cost(c, 100, 20);
    for (int links = 1000; links <= 100000; links *= 10) {
        double more = cost(c, links, links < 100000 ? 20 : c->few);
        char name[80];
        printf("%s, chain of %d links: %.4g ns per link and step (%.4g with 100)\n", c->name, links,
               more, first);
        snprintf(name, sizeof name, "%s, chain of %d, time per link against 100 links", c->name,
                 links);
        /* the largest no longer fits the caches */
        row(name, links < 100000 ? 1.5 : 2.5, more / first);
        if (isnan(more))
            return 1;
    }
    return 0;
}

static int only(const contest *c, const char *who, int links, int64_t steps)
{
    if (strcmp(who, "hand") == 0) {
        bool good = c->hand->create(links);
        if (good)
            c->hand->advance(steps, c->step);
        c->hand->destroy();
        return good ? 0 : TAUT_ERROR_MEMORY;
    }
    bench b = make_how(c->model, links, c->settings, strcmp(who, "compiled") == 0);
    if (b.code == 0)
        b.code = taut_solver_advance(b.solver, (double)steps * c->step, &b.error);
    return done(&b);
}

int main(int count, char **arguments)
{
    int code = 0;
    if (count == 5) {
        for (int k = 0; k < CONTESTS; k++)
            if (strcmp(contests[k].name, arguments[1]) == 0)
                return only(&contests[k], arguments[2], atoi(arguments[3]), atoi(arguments[4])) ? 1
                                                                                                : 0;
        return 1;
    }
    for (int k = 0; k < CONTESTS && count == 4; k++) {
        const contest *c = &contests[k];
        int links = atoi(arguments[2]);
        if (strcmp(c->name, arguments[1]) == 0)
            return race(c, links, links < 5000 ? c->steps : c->few,
                        c->limit[strcmp(arguments[3], "compiled") == 0],
                        strcmp(arguments[3], "compiled") == 0);
    }
    for (int k = 0; k < CONTESTS && code == 0; k++) {
        const contest *c = &contests[k];
        /* 10 links, where calls count: watches over what was reached */
        code = race(c, 10, c->steps, 12, false);
        for (int compile = 0; compile < (c->library ? 1 : 2) && code == 0; compile++) {
            code = race(c, 1000, c->steps, c->limit[compile], compile);
            if (code == 0)
                code = race(c, 100000, c->few, c->limit[compile], compile);
        }
        if (code == 0 && c->hand != &anchor_verlet)
            code = flat(c);
    }
    return code ? 1 : 0;
}
