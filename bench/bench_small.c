/* bench_small.c - small systems from model text, compiled and interpreted, against C written by
 * hand for one model and one method. Rows: name | limit | value | verdict.
 *
 *     rigid double pendulum (index 1): DOP853 with adaptive steps, rk4
 *     stiff double pendulum and the Fermi-Pasta-Ulam chain (full motion): rk4; DOP853
 *
 * Loops by hand are plain: no energy balance, no statistics, the same tableaus (step/tableau.h)
 * with zeros omitted. Taut stabilises rigid bonds by three corrections in a step, unless
 * stabilize=none: rows compare both sides without, both sides with the same corrections, and what a
 * user gets by default with a loop that has none, for information. Times are per evaluation of the
 * forces, both in turn in the same run, the best of many.
 *
 *     bench_small contest K         one comparison
 *     bench_small once K WHO        one run: hand, compiled, interpreted; prints evaluations
 *
 *     bench_small count TOLERANCE   one compiled run of the rigid double pendulum; prints
 *                                   evaluations and error: for bench_small_instructions.sh
 *     bench_small compile MODEL     seconds of a first compilation (processor and wall time) */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/hot.h"
#include "runs.h"
#include "step/tableau.h"

enum { ROUNDS = 400, MOST = 12, STAGES = 12 };

/* ---- by hand: y = (q, v) */

typedef void (*rate)(const double *restrict y, double *restrict a);

/* Two unit masses on two rigid bonds of length 1. */
static inline __attribute__((always_inline)) void rigid_pendulum(const double *restrict y,
                                                                 double *restrict a)
{
    const double ux = y[0], uy = y[1], wx = y[2] - y[0], wy = y[3] - y[1], dx = y[6] - y[4],
                 dy = y[7] - y[5];
    const double r1 = 1 / sqrt(ux * ux + uy * uy), r2 = 1 / sqrt(wx * wx + wy * wy);
    const double ex = ux * r1, ey = uy * r1, fx = wx * r2, fy = wy * r2;
    const double along1 = ex * y[4] + ey * y[5], along2 = fx * dx + fy * dy;
    const double gamma1 = (y[4] * y[4] + y[5] * y[5] - along1 * along1) * r1,
                 gamma2 = (dx * dx + dy * dy - along2 * along2) * r2;
    const double c = -(ex * fx + ey * fy), det = 1 / (2 - c * c);
    const double l1 = (2 * gamma1 - c * gamma2) * det, l2 = (gamma2 - c * gamma1) * det;
    a[0] = -ex * l1 + fx * l2;
    a[1] = -ey * l1 + fy * l2;
    a[2] = -fx * l2;
    a[3] = -fy * l2;
}

/* Two Newton steps of the positions, then the velocities, as stabilisation `post` makes them. */
static inline __attribute__((always_inline)) void stabilize_pendulum(double *restrict y)
{
    for (int pass = 0; pass < 3; pass++) {
        const double ux = y[0], uy = y[1], wx = y[2] - y[0], wy = y[3] - y[1];
        const double d1 = sqrt(ux * ux + uy * uy), d2 = sqrt(wx * wx + wy * wy), r1 = 1 / d1,
                     r2 = 1 / d2;
        const double ex = ux * r1, ey = uy * r1, fx = wx * r2, fy = wy * r2;
        const double c = -(ex * fx + ey * fy), det = 1 / (2 - c * c);
        const double g1 = pass < 2 ? d1 - 1 : ex * y[4] + ey * y[5],
                     g2 = pass < 2 ? d2 - 1 : fx * (y[6] - y[4]) + fy * (y[7] - y[5]);
        const double l1 = (2 * g1 - c * g2) * det, l2 = (g2 - c * g1) * det;
        double *x = pass < 2 ? y : y + 4;
        x[0] += -ex * l1 + fx * l2;
        x[1] += -ey * l1 + fy * l2;
        x[2] += -fx * l2;
        x[3] += -fy * l2;
    }
}

static double square; /* omega^2 */

static inline __attribute__((always_inline)) void stiff_pendulum(const double *restrict y,
                                                                 double *restrict a)
{
    const double wx = y[2] - y[0], wy = y[3] - y[1];
    const double r1 = sqrt(y[0] * y[0] + y[1] * y[1]), r2 = sqrt(wx * wx + wy * wy);
    const double t1 = square * (r1 - 1) / r1, t2 = square * (r2 - 1) / r2;
    a[0] = -t1 * y[0] + t2 * wx;
    a[1] = -t1 * y[1] + t2 * wy;
    a[2] = -t2 * wx;
    a[3] = -t2 * wy;
}

/* Six masses, three stiff springs [Hairer, Lubich, Wanner, I.5.1]. */
static inline __attribute__((always_inline)) void fpu(const double *restrict y, double *restrict a)
{
    double soft[4];
    for (int i = 0; i < 4; i++) {
        double d = (i < 3 ? y[2 * i] : 0) - (i > 0 ? y[2 * i - 1] : 0);
        soft[i] = 4 * d * d * d;
    }
    for (int i = 0; i < 3; i++) {
        double stiff = square / 2 * (y[2 * i + 1] - y[2 * i]);
        a[2 * i] = stiff - soft[i];
        a[2 * i + 1] = soft[i + 1] - stiff;
    }
}

static int64_t evaluations;

static inline __attribute__((always_inline)) void hand_rk4(int n, rate f, double *y, double h)
{
    double k[4][2 * MOST], z[2 * MOST];
    static const double part[4] = {0, 0.5, 0.5, 1};
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < 2 * n; i++)
            z[i] = s ? y[i] + h * part[s] * k[s - 1][i] : y[i];
        for (int i = 0; i < n; i++)
            k[s][i] = z[n + i];
        f(z, k[s] + n);
    }
    for (int i = 0; i < 2 * n; i++)
        y[i] += h / 6 * (k[0][i] + 2 * (k[1][i] + k[2][i]) + k[3][i]);
    evaluations += 4;
}

/* One sum of DOP853, zeros of the tableau left out: terms of row s. */
static inline __attribute__((always_inline)) void
hand_sum(int n, int terms, const int *term, const double *weight, const double (*k)[2 * MOST],
         double h, const double *restrict y, double *restrict z)
{
    double sum[2 * MOST] = {0};
    for (int j = 0; j < terms; j++)
        for (int i = 0; i < 2 * n; i++)
            sum[i] += weight[j] * k[term[j]][i];
    for (int i = 0; i < 2 * n; i++)
        z[i] = (y ? y[i] : 0) + h * sum[i];
}

typedef struct sum {
    int terms, term[STAGES + 1];
    double weight[STAGES + 1];
} sum;
static sum row_of[STAGES + 1], error_5, error_3;

static void compress(sum *s, int count, const double *weight)
{
    for (int j = 0; j < count; j++)
        if (weight[j] != 0) {
            s->weight[s->terms] = weight[j];
            s->term[s->terms++] = j;
        }
}

static void compress_all(void)
{
    const taut_tableau *t = &taut_tableau_dop8;
    for (int s = 1; s <= STAGES; s++)
        compress(&row_of[s], s, t->a + s * t->width);
    compress(&error_5, STAGES, t->error);
    compress(&error_3, STAGES, t->error_3);
}

/* DOP853 as in dop853.f: to `until` with rtol = atol = tol. */
static inline __attribute__((always_inline)) void hand_dop853(int n, rate f,
                                                              void (*stabilize)(double *),
                                                              double *y, double until, double tol,
                                                              double h)
{
    double k[STAGES + 1][2 * MOST], z[2 * MOST], e5[2 * MOST], e3[2 * MOST], t = 0;
    for (int i = 0; i < n; i++)
        k[0][i] = y[n + i];
    f(y, k[0] + n);
    while (t < until) {
        h = t + 1.01 * h >= until ? until - t : h;
        for (int s = 1; s <= STAGES; s++) {
            hand_sum(n, row_of[s].terms, row_of[s].term, row_of[s].weight,
                     (const double(*)[2 * MOST]) k, h, y, z);
            for (int i = 0; i < n; i++)
                k[s][i] = z[n + i];
            if (s < STAGES)
                f(z, k[s] + n);
        }
        evaluations += STAGES - 1;
        hand_sum(n, error_5.terms, error_5.term, error_5.weight, (const double(*)[2 * MOST]) k, h,
                 NULL, e5);
        hand_sum(n, error_3.terms, error_3.term, error_3.weight, (const double(*)[2 * MOST]) k, h,
                 NULL, e3);
        double five = 0, three = 0;
        for (int i = 0; i < 2 * n; i++) {
            double scale = tol * (1 + fmax(fabs(y[i]), fabs(z[i])));
            five += e5[i] / scale * (e5[i] / scale);
            three += e3[i] / scale * (e3[i] / scale);
        }
        double all = five + 0.01 * three, error = all > 0 ? five / sqrt(2 * n * all) : 0;
        double factor = fmin(6, fmax(0.33, 0.9 * pow(fmax(error, 1e-30), -0.125)));
        if (error <= 1) {
            t += h;
            memcpy(y, z, 2 * (size_t)n * sizeof *y);
            if (stabilize)
                stabilize(y);
            for (int i = 0; i < n; i++)
                k[0][i] = y[n + i];
            f(y, k[0] + n);
            evaluations++;
        }
        h *= factor;
    }
}

TAUT_HOT static void hand_rigid_dop8(double *y, double until, double tol)
{
    hand_dop853(4, rigid_pendulum, NULL, y, until, tol, 0.1);
}

static __attribute__((noinline)) void hand_stabilized_dop8(double *y, double until, double tol)
{
    hand_dop853(4, rigid_pendulum, stabilize_pendulum, y, until, tol, 0.1);
}

TAUT_HOT static void hand_fpu_dop8(double *y, double until, double tol)
{
    hand_dop853(6, fpu, NULL, y, until, tol, 0.01);
}

static __attribute__((noinline)) void hand_rigid_rk4(double *y, double until, double h)
{
    for (int64_t k = 0, steps = llround(until / h); k < steps; k++)
        hand_rk4(4, rigid_pendulum, y, h);
}

static __attribute__((noinline)) void hand_stabilized_rk4(double *y, double until, double h)
{
    for (int64_t k = 0, steps = llround(until / h); k < steps; k++) {
        hand_rk4(4, rigid_pendulum, y, h);
        stabilize_pendulum(y);
    }
}

TAUT_HOT static void hand_stiff_rk4(double *y, double until, double h)
{
    for (int64_t k = 0, steps = llround(until / h); k < steps; k++)
        hand_rk4(4, stiff_pendulum, y, h);
}

/* ---- the same by Taut */

static const char pendulum[] =
    "[parameters]\nomega = 1e4\n[coordinates]\nx1, y1, x2, y2\n[bonds]\n"
    "inner = sqrt(x1^2 + y1^2) - 1  stiffness omega^2\n"
    "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1  stiffness omega^2\n"
    "[start]\nx1 = 1, y1 = 0, x2 = 2, y2 = 0\nx1' = 0, y1' = -0.5, x2' = 0, y2' = 0.5\n"
    "[run]\nuntil = 10\n";
static const char chain[] =
    "[parameters]\nm = 3\nomega = 50\n[coordinates]\nq[i] for i in 1..2*m\n"
    "[definitions]\nq[0] = 0, q[2*m+1] = 0\n"
    "[potential]\nsum((q[2*i+1] - q[2*i])^4 for i in 0..m)\n"
    "[bonds]\npair[i] = q[2*i] - q[2*i-1] for i in 1..m  stiffness omega^2/2\n"
    "[start]\nq[1] = (1 - 1/omega)/sqrt(2), q[2] = (1 + 1/omega)/sqrt(2)\n"
    "q[1]' = 0, q[2]' = sqrt(2)\n[run]\nuntil = 200\n";

static const double pendulum_start[8] = {1, 0, 2, 0, 0, -0.5, 0, 0.5};

typedef struct contest {
    const char *name, *model, *settings;
    double limit, interpreted; /* of times over those by hand; 0: no limit, no row */
    double until, option;      /* tolerance or step by hand */
    int n;
    void (*hand)(double *y, double until, double option);
} contest;

/* ns per evaluation of one run; `state` at its end. */
static double hand_once(const contest *c, double *y)
{
    const double r = sqrt(0.5),
                 chain_start[12] = {(1 - 1 / 50.) * r, (1 + 1 / 50.) * r, [7] = sqrt(2)};
    memcpy(y, c->n == 6 ? chain_start : pendulum_start, 2 * (size_t)c->n * sizeof *y);
    evaluations = 0;
    double begin = now();
    c->hand(y, c->until, c->option);
    return (now() - begin) * 1e9 / (double)evaluations;
}

static bench made(const contest *c, bool compile)
{
    bench b = prepare(c->model, 0, c->settings, compile);
    if (b.code == 0 && compile && taut_system_warning(b.system, 0))
        printf("%s\n", taut_system_warning(b.system, 0));
    return b;
}

/* The same; counts evaluations too. */
static double taut_once(const contest *c, bench *b)
{
    taut_result result = {.size = sizeof result};
    b->code = taut_solver_create(b->system, b->options, NULL, &b->solver, &b->error);
    double begin = now();
    if (b->code == 0)
        b->code = taut_solver_advance(b->solver, c->until, &b->error);
    double passed = now() - begin;
    if (b->code == 0)
        b->code = taut_solver_result_get(b->solver, &result, &b->error);
    evaluations = result.statistics.force_evaluations;
    return b->code ? NAN : passed * 1e9 / (double)evaluations;
}

static double distance(const double *x, const double *y, int n)
{
    double off = 0;
    for (int i = 0; i < n; i++)
        off = fmax(off, fabs(x[i] - y[i]));
    return off;
}

static void set_stiffness(const contest *c)
{
    square = c->n == 6 ? 2500 : 1e8;
}

/* Short runs, so that the best of many is one that nothing interrupted. */
static int compete(const contest *c)
{
    set_stiffness(c);
    double best[3] = {INFINITY, INFINITY, INFINITY}, y[2 * MOST], off = 0;
    bench b[2] = {made(c, true), made(c, false)};
    for (int k = 0; k < ROUNDS; k++) {
        best[0] = fmin(best[0], hand_once(c, y));
        for (int j = 0; j < 2 && b[0].code == 0 && b[1].code == 0; j++) {
            best[1 + j] = fmin(best[1 + j], taut_once(c, &b[j]));
            if (b[j].code == 0)
                off = fmax(off, distance(y, taut_solver_position(b[j].solver), c->n));
            taut_solver_destroy(b[j].solver);
            b[j].solver = NULL;
        }
    }
    int code = done(&b[0]);
    code = done(&b[1]) || code;
    if (code)
        return code;
    char name[120];
    printf("%s: %.3g ns per evaluation by hand, %.3g compiled, %.3g interpreted; positions differ "
           "by %.2g\n",
           c->name, best[0], best[1], best[2], off);
    snprintf(name, sizeof name, "%s: time per evaluation, compiled / by hand", c->name);
    row(name, c->limit, best[1] / best[0]);
    snprintf(name, sizeof name, "%s: time per evaluation, interpreted / by hand", c->name);
    if (c->interpreted > 0)
        row(name, c->interpreted, best[2] / best[0]);
    return 0;
}

/* ---- for the script */

/* One run of one contest: evaluations. */
static int run_once(const contest *c, const char *who)
{
    set_stiffness(c);
    double y[2 * MOST];
    bench b = {0};
    if (strcmp(who, "hand") == 0)
        hand_once(c, y);
    else
        b = made(c, strcmp(who, "compiled") == 0);
    if (b.system && b.code == 0)
        taut_once(c, &b);
    printf("%lld\n", (long long)evaluations);
    return done(&b);
}

/* The error is that of the positions at the end, against a run by hand at rounding. */
static int count_once(const char *tolerance)
{
    char settings[80];
    contest c = {.model = pendulum, .settings = settings, .until = 10, .n = 4};
    double y[8];
    memcpy(y, pendulum_start, sizeof y);
    hand_rigid_dop8(y, c.until, 1e-14);
    snprintf(settings, sizeof settings, "motion=rigid method=dop8 rtol=%s", tolerance);
    bench b = made(&c, true);
    if (b.code == 0)
        taut_once(&c, &b);
    if (b.code == 0)
        printf("%lld %.3g\n", (long long)evaluations,
               distance(y, taut_solver_position(b.solver), c.n));
    return done(&b);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

/* Processor time of this process and of those that it has waited for: on a machine that does
 * nothing else a compiler takes as long as that. */
static double spent(void)
{
    struct rusage own, others;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &others);
    const struct timeval each[] = {own.ru_utime, own.ru_stime, others.ru_utime, others.ru_stime};
    double total = 0;
    for (size_t k = 0; k < sizeof each / sizeof each[0]; k++)
        total += (double)each[k].tv_sec + 1e-6 * (double)each[k].tv_usec;
    return total;
}

typedef struct seconds {
    double processor, wall;
} seconds;

/* Of a first compilation of a model file, in a cache of its own, less those without. */
static seconds compile_once(const char *path)
{
    char folder[] = "taut-bench-XXXXXX";
    const seconds failed = {NAN, NAN};
    seconds took[2];
    taut_error error;
    if (!mkdtemp(folder))
        return failed;
    char *full = realpath(folder, NULL);
    if (!full || setenv("XDG_CACHE_HOME", full, 1))
        return failed;
    free(full);
    for (int compile = 0; compile < 2; compile++) {
        taut_system *system;
        taut_load how = {.size = sizeof how, .compile = compile};
        seconds begin = {spent(), now()};
        if (taut_system_load(path, &how, &system, &error) != 0)
            return failed;
        took[compile] = (seconds){spent() - begin.processor, now() - begin.wall};
        taut_system_destroy(system);
    }
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return (seconds){took[1].processor - took[0].processor, took[1].wall - took[0].wall};
}

static int compile_rows(void)
{
    const struct {
        const char *model;
        double limit;
    } rows[] = {{"double_pendulum", 0.2}, {"water_box", 1}};
    int failed = 0;
    for (size_t k = 0; k < 2; k++) {
        char path[200], name[120];
        seconds best = {INFINITY, INFINITY};
        snprintf(path, sizeof path, TAUT_SOURCE_DIR "/models/%s.taut", rows[k].model);
        for (int round = 0; round < 10; round++) {
            seconds took = compile_once(path);
            best.processor = fmin(best.processor, took.processor);
            best.wall = fmin(best.wall, took.wall);
        }
        snprintf(name, sizeof name,
                 "%s, first compilation, seconds of processor time (wall time: %.3g s)",
                 rows[k].model, best.wall);
        row(name, rows[k].limit, best.processor);
        failed += isinf(best.processor);
    }
    return failed;
}

int main(int count, char **arguments)
{
    static const contest contests[] = {
        {.name = "rigid double pendulum, dop8, Taut stabilised and the loop by hand not",
         .model = pendulum,
         .settings = "motion=rigid method=dop8 rtol=1e-7",
         .interpreted = 5.56, /* 250 ns where C by hand takes 45 */
         .until = 10,
         .option = 1e-8,
         .n = 4,
         .hand = hand_rigid_dop8},
        {.name = "rigid double pendulum, dop8, neither stabilised",
         .model = pendulum,
         .settings = "motion=rigid method=dop8 rtol=1e-7 stabilize=none",
         .limit = 1.5,
         .until = 10,
         .option = 1e-8,
         .n = 4,
         .hand = hand_rigid_dop8},
        {.name = "rigid double pendulum, rk4, neither stabilised",
         .model = pendulum,
         .settings = "motion=rigid method=rk4 step=0.01 stabilize=none",
         .limit = 1.5,
         .until = 10,
         .option = 0.01,
         .n = 4,
         .hand = hand_rigid_rk4},
        {.name = "rigid double pendulum, rk4, Taut stabilised and the loop by hand not",
         .model = pendulum,
         .settings = "motion=rigid method=rk4 step=0.01",
         .until = 10,
         .option = 0.01,
         .n = 4,
         .hand = hand_rigid_rk4},
        {.name = "stiff double pendulum, rk4",
         .model = pendulum,
         .settings = "motion=full method=rk4 step=0.0001",
         .limit = 1.5,
         .until = 1,
         .option = 0.0001,
         .n = 4,
         .hand = hand_stiff_rk4},
        {.name = "Fermi-Pasta-Ulam chain, dop8",
         .model = chain,
         .settings = "motion=full method=dop8 rtol=1e-8",
         .limit = 1.5,
         .until = 10,
         .option = 1e-9,
         .n = 6,
         .hand = hand_fpu_dop8},
        {.name = "rigid double pendulum, dop8, both stabilised",
         .model = pendulum,
         .settings = "motion=rigid method=dop8 rtol=1e-7",
         .limit = 1.5,
         .until = 10,
         .option = 1e-8,
         .n = 4,
         .hand = hand_stabilized_dop8},
        {.name = "rigid double pendulum, rk4, both stabilised",
         .model = pendulum,
         .settings = "motion=rigid method=rk4 step=0.01",
         .limit = 1.5,
         .until = 10,
         .option = 0.01,
         .n = 4,
         .hand = hand_stabilized_rk4},
    };
    compress_all();
    if (count == 3 && strcmp(arguments[1], "count") == 0)
        return count_once(arguments[2]);
    if (count == 3 && strcmp(arguments[1], "compile") == 0) {
        seconds took = compile_once(arguments[2]);
        return printf("%.3g %.3g\n", took.processor, took.wall) < 0;
    }
    if (count == 4 && strcmp(arguments[1], "once") == 0)
        return run_once(&contests[atoi(arguments[2])], arguments[3]);
    if (count == 3 && strcmp(arguments[1], "contest") == 0)
        return compete(&contests[atoi(arguments[2])]);
    int code = 0;
    for (size_t k = 0; k < sizeof contests / sizeof contests[0]; k++)
        code = compete(&contests[k]) || code;
    return compile_rows() || code;
}
