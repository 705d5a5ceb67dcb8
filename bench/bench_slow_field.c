/* bench_slow_field.c - slow motion by dop8 on the explicit slow field. Rows: name | limit | value |
 * verdict.
 *
 * A stiff chain of 1000 links, from rest to t = 1, against velocity Verlet written by hand, in
 * coordinates of the links and at the limit of its stability, h = 0.9/omega; a tenth of its steps
 * is timed. Errors are those against radau9; what Verlet leaves is the oscillation of the initial
 * state, 7.5e-6 in velocities at omega = 1e5, whatever its step.
 *
 * For bench_slow_field_instructions.sh, runs of the double pendulum to t = 10:
 *
 *     bench_slow_field run|compiled MOTION OMEGA OPTIONS    prints evaluations
 *     bench_slow_field chain MOTION OPTIONS    the same of the chain, omega = 1e5, to t = 1
 *     bench_slow_field below ERROR OMEGA    of tolerances from 1e-3 down the first one, compiled,
 *         whose positions agree with radau9; prints it, evaluations, error and level */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <stdlib.h>

#include "anchors.h"
#include "runs.h"

enum { LINKS = 1000 };

static const char chain[] =
    "[parameters]\nN = 1000\nomega = %s\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1\n"
    "[potential]\nsum(bob[i].y for i in 1..N)\n[bonds]\n"
    "link[1] = length(bob[1]) - 1 stiffness omega^2\n"
    "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N stiffness omega^2\n"
    "[start]\nbob[i] = (i, 0) for i in 1..N\n";
static const char pendulum[] = "[parameters]\nomega = %s\n[coordinates]\nx1, y1, x2, y2\n[bonds]\n"
                               "inner = sqrt(x1^2 + y1^2) - 1 stiffness omega^2\n"
                               "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness omega^2\n"
                               "[start]\nx1 = 1, x2 = 2, y1' = -0.5, y2' = 0.5\n";

static double spent(void)
{
    return bench_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* Seconds of `steps` of Verlet. */
static double verlet(double omega, double h, int steps)
{
    anchor_stiffness = omega * omega;
    double seconds = NAN;
    if (anchor_verlet.create(LINKS)) {
        double begin = spent();
        anchor_verlet.advance(steps, h);
        seconds = spent() - begin;
    }
    anchor_verlet.destroy();
    return seconds;
}

/* The state at t = 1 into end[4000], and the least seconds of several runs. */
static double timed(const char *omega, const char *options, int runs, double *end)
{
    char model[1000];
    double best = INFINITY;
    snprintf(model, sizeof model, chain, omega);
    for (int k = 0; k < runs; k++) {
        bench b = make(model, 0, options);
        double begin = spent();
        if (b.code == 0)
            b.code = taut_solver_advance(b.solver, 1, &b.error);
        best = fmin(best, spent() - begin);
        for (int i = 0; b.code == 0 && i < 2 * LINKS; i++) {
            end[i] = taut_solver_position(b.solver)[i];
            end[2 * LINKS + i] = taut_solver_velocity(b.solver)[i];
        }
        if (done(&b) != 0)
            return NAN;
    }
    return best;
}

static double apart(int count, const double *a, const double *b)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static int compare_chains(void)
{
    static const struct {
        const char *omega, *level;
        double error, times; /* at most, in q; at least */
    } rows[] = {{"1e6", "0", 1e-6, 300}, {"1e5", "0", 1e-5, 20}, {"1e5", "1", 1e-7, 20}};
    static double reference[4 * LINKS], end[4 * LINKS];
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[100], name[200];
        double omega = strtod(rows[k].omega, NULL), h = 0.9 / omega;
        int steps = (int)(0.1 / h);
        if (k != 2)
            timed(rows[k].omega, "motion=slow method=radau9 rtol=1e-10 until=1", 1, reference);
        snprintf(options, sizeof options, "motion=slow method=dop8 rtol=1e-8 until=1 level=%s",
                 rows[k].level);
        double own = timed(rows[k].omega, options, 5, end), other = 10 * verlet(omega, h, steps);
        printf("chain of 1000, omega %s, level %s: %.3g s, Verlet %.3g s; velocities off by %.2g\n",
               rows[k].omega, rows[k].level, own, other,
               apart(2 * LINKS, end + 2 * LINKS, reference + 2 * LINKS));
        snprintf(name, sizeof name, "slow field, chain of 1000, omega %s, level %s: error in q",
                 rows[k].omega, rows[k].level);
        row(name, rows[k].error, apart(2 * LINKS, end, reference));
        snprintf(name, sizeof name,
                 "slow field, chain of 1000, omega %s, level %s: seconds over those of Verlet",
                 rows[k].omega, rows[k].level);
        row(name, 1 / rows[k].times, own / other);
    }
    return 0;
}

/* Positions of the double pendulum at t = 10 into q[4]. */
static int pendulum_at(const char *omega, const char *settings, bool compile, double *q,
                       taut_result *result)
{
    char model[600];
    snprintf(model, sizeof model, pendulum, omega);
    bench b = make_how(model, 0, settings, compile);
    if (b.code == 0)
        b.code = taut_solver_advance(b.solver, 10, &b.error);
    if (b.code == 0)
        taut_solver_result_get(b.solver, result, NULL);
    for (int i = 0; b.code == 0 && i < 4; i++)
        q[i] = taut_solver_position(b.solver)[i];
    return done(&b);
}

static int find_below(double error, const char *omega)
{
    static const double part[] = {1, 0.5, 0.2};
    taut_result result = {.size = sizeof result};
    double q[4], reference[4];
    if (pendulum_at(omega, "motion=slow method=radau9 rtol=1e-11 until=10", false, reference,
                    &result))
        return 1;
    for (int k = 0; k < 20; k++) {
        char settings[100];
        double rtol = 1e-3 * part[k % 3] * pow(10, -(k / 3));
        snprintf(settings, sizeof settings, "motion=slow method=dop8 until=10 rtol=%.3g", rtol);
        if (pendulum_at(omega, settings, true, q, &result) || apart(4, q, reference) > error)
            continue;
        printf("%.3g %lld %.3g %d\n", rtol, (long long)result.statistics.force_evaluations,
               apart(4, q, reference), result.level);
        return 0;
    }
    return 1;
}

static int run_chain(const char *motion, const char *options)
{
    char settings[300], links[1000];
    taut_result result = {.size = sizeof result};
    snprintf(settings, sizeof settings, "motion=%s method=dop8 until=1 %s", motion, options);
    snprintf(links, sizeof links, chain, "1e5");
    bench b = make(links, 0, settings);
    if (b.code == 0)
        b.code = taut_solver_advance(b.solver, 1, &b.error);
    if (b.code == 0)
        taut_solver_result_get(b.solver, &result, NULL);
    printf("%lld\n", (long long)result.statistics.force_evaluations);
    return done(&b) != 0;
}

int main(int argc, char **argv)
{
    char settings[300];
    double q[4];
    taut_result result = {.size = sizeof result};
    taut_blas_threads(1);
    if (argc == 4 && strcmp(argv[1], "chain") == 0)
        return run_chain(argv[2], argv[3]);
    if (argc == 4)
        return find_below(strtod(argv[2], NULL), argv[3]);
    if (argc < 5)
        return compare_chains();
    snprintf(settings, sizeof settings, "motion=%s method=dop8 until=10 %s", argv[2], argv[4]);
    if (pendulum_at(argv[3], settings, strcmp(argv[1], "compiled") == 0, q, &result))
        return 1;
    printf("%lld\n", (long long)result.statistics.force_evaluations);
    return 0;
}
