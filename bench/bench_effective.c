/* bench_effective.c - where Taut chooses effective motion by itself it is not slower than Verlet:
 * processor time against Verlet with the longest stable step, which is far less accurate, and whose
 * time over the interval follows from a part of it. Rows: name | limit | value | verdict. */
#if defined(__linux__)
#define _POSIX_C_SOURCE 200112L
#endif
#include <string.h>

#include "runs.h"

enum { PART = 500 }; /* of the interval, for Verlet */

/* [Lubich, Weiss, example 1]; pendulums on springs that do not touch. Both barely stiff enough for
 * the choice: softer ones are integrated in full motion. */
#define DOUBLE                                                                                     \
    "[parameters]\neps = 3e-6\n[coordinates]\na, b, c, d\n[potential]\nb + d\n[bonds]\n"           \
    "inner = sqrt(a^2 + b^2) - 1 stiffness eps^-2\n"                                               \
    "outer = sqrt((a-c)^2 + (b-d)^2) - 1 stiffness eps^-2\n"                                       \
    "[start]\na = sqrt(0.5), b = -sqrt(0.5), c = sqrt(2), d = 5*eps\n"
#define MANY                                                                                       \
    "[parameters]\nN = 40, eps = 2e-5\n[particles]\ndimension = 2\np[i] for i in 1..N\n"           \
    "[potential]\nsum(p[i].y for i in 1..N)\n[bonds]\n"                                            \
    "rod[i] = length(p[i]) - 1 for i in 1..N stiffness eps^-2\n[start]\n"                          \
    "p[i] = (1 + 2*eps)*(sin(0.5 + i/N), -cos(0.5 + i/N)) for i in 1..N\n"

/* Processor seconds until `end`; NaN: it failed. */
static double measure(bench *b, double end)
{
    double begin = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    b->code = b->code ? b->code : taut_solver_advance(b->solver, end, &b->error);
    return bench_clock(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

static int compare(const char *name, const char *model, double until, double fastest)
{
    char settings[200], title[200];
    taut_result result = {.size = sizeof result};
    snprintf(settings, sizeof settings, "until=%.17g", until);
    bench b = make(model, 0, settings);
    double ours = measure(&b, until);
    bool chosen = b.code == 0 && taut_solver_result_get(b.solver, &result, NULL) == 0 &&
                  strcmp(result.motion, "effective") == 0;
    if (b.code == 0 && !chosen)
        printf("%s: %s\n", name, taut_solver_explanation(b.solver));
    int failed = done(&b) != 0 || !chosen;
    snprintf(settings, sizeof settings, "motion=full method=verlet step=%.17g until=%.17g",
             1.8 / fastest, until);
    bench v = make(model, 0, settings);
    double verlet = PART * measure(&v, until / PART);
    failed |= done(&v) != 0;
    snprintf(title, sizeof title, "%s, chosen effective motion over Verlet, time", name);
    if (failed)
        printf("%s | failed\n", title);
    else
        row(title, 1, ours / verlet);
    return failed;
}

int main(void)
{
    return compare("double pendulum", DOUBLE, 1.5, 5.4e5) | compare("40 pendulums", MANY, 2, 5e4);
}
