/* bench_system.c - the real path, from model file to arrays: taut_evaluate against hand-written
 * C, and what `check` costs.
 *
 * Rows: name | limit | value | verdict. Evaluation: f, g, G and dg/dt at a state of the chain (N
 * = 1000) and of the double pendulum, into the same kind of arrays on both sides; Taut's side
 * includes finding NaN and infinity. For the pendulum, where the call itself costs more than
 * compiled expressions, these are measured alone as well: the limits 15 and 2 are theirs. Ratios
 * of the best of many short timings taken in turns, so that other load disturbs little; both
 * sides are compared first. Check: processor time and memory of loading and checking the chain,
 * each size in a process of its own, with the exponents fitted to N >= 10^4. TAUT_BENCH_QUICK
 * stops at 10^5. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "system/system.h"

enum { LINKS = 1000, ROUNDS = 300, WANTED = TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN };

/* ---- one model by Taut, and the same arrays by hand */

typedef struct subject {
    taut_system *system;
    taut_context *context;
    taut_sizes sizes;
    double *q, *v;
    taut_values taut, hand;
} subject;

static double *numbers(int64_t count)
{
    double *x = calloc((size_t)count + 1, sizeof *x);
    if (!x)
        exit(1);
    return x;
}

static void make_values(const taut_sizes *sizes, taut_values *values)
{
    taut_values_init(values);
    values->force = numbers(sizes->coordinates);
    values->bond = numbers(sizes->bonds);
    values->bond_dt = numbers(sizes->bonds);
    values->jacobian = numbers(sizes->jacobian_entries);
}

/* The start of the model, a little disturbed. */
static int subject_create(subject *s, const char *model, const char *set, bool compile)
{
    taut_error error = {0};
    taut_load how = {.size = sizeof how, .set = &set, .set_count = set ? 1 : 0, .compile = compile};
    *s = (subject){0};
    int status = taut_system_load(model, &how, &s->system, &error);
    if (status == 0)
        status = taut_context_create(s->system, NULL, &s->context, &error);
    if (status == 0) {
        taut_sizes_init(&s->sizes);
        taut_system_sizes_get(s->system, &s->sizes, NULL);
        s->q = numbers(s->sizes.coordinates);
        s->v = numbers(s->sizes.coordinates);
        make_values(&s->sizes, &s->taut);
        make_values(&s->sizes, &s->hand);
        status = taut_context_start(s->context, 0, s->q, s->v, &error);
        for (taut_index i = 0; i < s->sizes.coordinates; i++)
            s->q[i] += 0.05 * sin(1.7 * i);
    }
    if (status)
        printf("%s | failed | %s\n", model, error.message);
    return status;
}

static void subject_destroy(subject *s)
{
    taut_values *both[2] = {&s->taut, &s->hand};
    for (int k = 0; k < 2; k++) {
        free(both[k]->force);
        free(both[k]->bond);
        free(both[k]->bond_dt);
        free(both[k]->jacobian);
    }
    free(s->q);
    free(s->v);
    taut_context_destroy(s->context);
    taut_system_destroy(s->system);
}

static void by_taut(subject *s)
{
    taut_evaluate(s->context, 0, s->q, s->v, WANTED, &s->taut, NULL);
}

static double difference(const double *x, const double *y, int64_t count)
{
    double worst = 0;
    for (int64_t k = 0; k < count; k++)
        worst = fabs(x[k] - y[k]) <= worst ? worst : fabs(x[k] - y[k]);
    return worst;
}

/* A wrong answer is no result. */
static bool agree(subject *s, void (*hand)(subject *))
{
    by_taut(s);
    hand(s);
    double worst = fmax(difference(s->taut.force, s->hand.force, s->sizes.coordinates),
                        difference(s->taut.jacobian, s->hand.jacobian, s->sizes.jacobian_entries));
    worst = fmax(worst, difference(s->taut.bond, s->hand.bond, s->sizes.bonds));
    worst = fmax(worst, difference(s->taut.bond_dt, s->hand.bond_dt, s->sizes.bonds));
    if (worst < 1e-13)
        return true;
    printf("evaluation | failed | Taut and hand-written C differ by %g\n", worst);
    return false;
}

static double time_of(void (*call)(subject *), subject *s, int repeat)
{
    double start = now();
    for (int k = 0; k < repeat; k++)
        call(s);
    return (now() - start) / repeat;
}

/* Seconds of one call of each, the best of ROUNDS. */
static void race(void (*const call[2])(subject *), subject *s, int repeat, double best[2])
{
    best[0] = best[1] = INFINITY;
    for (int k = 0; k < ROUNDS; k++)
        for (int j = 0; j < 2; j++)
            best[j] = fmin(best[j], time_of(call[j], s, repeat));
}

static void report(const char *name, double limit, void (*taut)(subject *), void (*hand)(subject *),
                   subject *s, int repeat)
{
    double best[2];
    race((void (*const[2])(subject *)){taut, hand}, s, repeat, best);
    printf("%s: %.4g ns by Taut, %.4g by hand\n", name, best[0] * 1e9, best[1] * 1e9);
    row(name, limit, best[0] / best[1]);
}

/* ---- chain: links of unit length from the origin, gravity 1 along -y */

static void link_by_hand(double ux, double uy, double *restrict g, double *restrict entry)
{
    double r = sqrt(ux * ux + uy * uy), w = 1 / r;
    *g = r - 1;
    entry[0] = w * ux;
    entry[1] = w * uy;
}

static void chain_by_hand(subject *s)
{
    const double *restrict q = s->q;
    double *restrict f = s->hand.force, *restrict g = s->hand.bond, *restrict dt = s->hand.bond_dt;
    double *restrict jacobian = s->hand.jacobian;
    int links = s->sizes.bonds;
    for (int i = 0; i < links; i++) {
        f[2 * i] = 0;
        f[2 * i + 1] = -1;
        dt[i] = 0;
    }
    link_by_hand(q[0], q[1], g, jacobian);
    for (int i = 1; i < links; i++) {
        double *restrict entry = jacobian + 4 * i - 2;
        link_by_hand(q[2 * i] - q[2 * i - 2], q[2 * i + 1] - q[2 * i - 1], g + i, entry);
        entry[2] = -entry[0];
        entry[3] = -entry[1];
    }
}

static int bench_chain(void)
{
    subject s;
    int status = subject_create(&s, TAUT_SOURCE_DIR "/models/chain.taut", "N=1000", false);
    if (status == 0 && !agree(&s, chain_by_hand))
        status = 1;
    if (status == 0)
        report("chain of 1000, taut_evaluate of f, g, G / C", 1.5, by_taut, chain_by_hand, &s, 10);
    subject_destroy(&s);
    return status;
}

/* ---- double pendulum: no forces, two bonds */

static __attribute__((noinline)) void pendulum_by_hand(subject *s)
{
    const double *restrict q = s->q;
    double *restrict f = s->hand.force, *restrict g = s->hand.bond,
                     *restrict entry = s->hand.jacobian;
    f[0] = f[1] = f[2] = f[3] = 0;
    s->hand.bond_dt[0] = s->hand.bond_dt[1] = 0;
    link_by_hand(q[0], q[1], g, entry);
    double far[2];
    link_by_hand(q[0] - q[2], q[1] - q[3], g + 1, far);
    entry[2] = far[0]; /* x1, x2, y1, y2: the order of first mention */
    entry[3] = -far[0];
    entry[4] = far[1];
    entry[5] = -far[1];
}

/* The two tapes without gather, scatter and checks. */
static __attribute__((noinline)) void pendulum_tapes(subject *s)
{
    for (int32_t k = 0; k < s->system->kernels; k++)
        taut_tape_run(s->system->kernel[k]->tape, 1, 1, 1, s->context->regs[k].regs);
}

static int bench_pendulum(bool compile)
{
    subject s;
    int status = subject_create(&s, TAUT_SOURCE_DIR "/models/double_pendulum.taut", NULL, compile);
    if (status == 0 && compile && !s.system->native) {
        printf("double pendulum, compiled | failed | %s\n", taut_system_warning(s.system, 0));
        status = 1;
    }
    if (status == 0 && !agree(&s, pendulum_by_hand))
        status = 1;
    if (status == 0) {
        report(compile ? "double pendulum, taut_evaluate of f, g, G, compiled / C"
                       : "double pendulum, taut_evaluate of f, g, G / C",
               compile ? 10 : 15, by_taut, pendulum_by_hand, &s, 1000);
        report(compile ? "double pendulum, its tapes alone, compiled / C"
                       : "double pendulum, its tapes alone / C",
               compile ? 2 : 15, pendulum_tapes, pendulum_by_hand, &s, 1000);
    }
    subject_destroy(&s);
    return status;
}

/* ---- check */

typedef struct cost {
    double links, seconds, megabytes;
} cost;

static int check_chain(int links)
{
    char set[40];
    snprintf(set, sizeof set, "N=%d", links);
    const char *sets = set;
    taut_load how = {.size = sizeof how, .set = &sets, .set_count = 1};
    taut_system *system;
    taut_error error = {0};
    taut_check_report report = {.size = sizeof report};
    int status = taut_system_load(TAUT_SOURCE_DIR "/models/chain.taut", &how, &system, &error);
    if (status == 0)
        status = taut_check(system, NULL, &report, &error);
    if (status == 0 && report.verdict)
        snprintf(error.message, sizeof error.message, "%s", report.advice);
    if (status || report.verdict)
        printf("check, chain of %d | failed | %s\n", links, error.message);
    fflush(stdout);
    return status || report.verdict;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static int measure_check(int links, cost *result)
{
    struct rusage used;
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(check_chain(links) ? 1 : 0);
    if (child < 0 || wait4(child, &status, 0, &used) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status))
        return 1;
    *result = (cost){links, seconds_of(used.ru_utime) + seconds_of(used.ru_stime),
                     (double)used.ru_maxrss / 1024};
    printf("check, chain of %d: %.3g s, %.4g MB\n", links, result->seconds, result->megabytes);
    return 0;
}

/* The slope of log y against log N by least squares. */
static double exponent(const cost *c, int count, bool memory)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (int k = 0; k < count; k++) {
        double a = log(c[k].links), b = log(memory ? c[k].megabytes : c[k].seconds);
        x += a / count;
        y += b / count;
        xx += a * a / count;
        xy += a * b / count;
    }
    return (xy - x * y) / (xx - x * x);
}

static int bench_check(void)
{
    static const int sizes[] = {1000, 10000, 30000, 100000, 300000, 1000000};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    cost c[COUNT];
    int count = getenv("TAUT_BENCH_QUICK") ? 4 : COUNT;
    for (int k = 0; k < count; k++)
        if (measure_check(sizes[k], &c[k]))
            return 1;
    row("check, chain of 100000, seconds", 2, c[3].seconds);
    row("check, chain of 100000, MB", 200, c[3].megabytes);
    row("check, exponent of the time in N", 1.15, exponent(c + 1, count - 1, false));
    row("check, exponent of the memory in N", 1.1, exponent(c + 1, count - 1, true));
    return 0;
}

/* ---- a cache of its own for what is compiled */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

int main(void)
{
    char folder[] = "taut-bench-XXXXXX"; /* here: the folder is private, and removed at the end */
    taut_blas_threads(1);                /* as the program does */
    if (!mkdtemp(folder) || setenv("XDG_CACHE_HOME", folder, 1))
        return 1;
    int failed = bench_chain();
    failed += bench_pendulum(false) != 0;
    failed += bench_pendulum(true) != 0;
    failed += bench_check() != 0;
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return failed ? 1 : 0;
}
