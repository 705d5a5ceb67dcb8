/* bench_adams.c - when adams is the cheapest explicit method: forces between all pairs of N
 * particles in a trap, full motion. What an error of 1e-7 of the final positions costs, in
 * evaluations and in time, compared with dop8 and dopri5: interpolated between tolerances.
 *
 * Long-range forces make a smooth motion, on which a history pays; close encounters (a short
 * softening length) restrict its use. A step of adams costs more beyond its evaluations, which
 * counts while forces are cheap: with 2 particles.
 *
 * Rows: name | limit | value | verdict. Times are the best of several runs, in which the methods
 * take turns. */
#if defined(__linux__)
#define _POSIX_C_SOURCE 199309L
#endif
#include <math.h>

#include "runs.h"

enum { ROUNDS = 3, TOLERANCES = 8, METHODS = 3, MOST = 400 };
static const double TARGET = 1e-7;
static const char *const methods[METHODS] = {"adams", "dop8", "dopri5"};

static const char text[] =
    "[parameters]\nN = 20\n[particles]\ndimension = 2\np[i] for i in 1..N mass 1\n"
    "[potential]\nsum(dot(p[i], p[i])/2 for i in 1..N)\n"
    "sum(1/(N*sqrt(dot(p[i] - p[j], p[i] - p[j]) + %g)) for i in 1..N, j in i+1..N)\n"
    "[start]\np[i] = (cos(2*pi*i/N), sin(2*pi*i/N)) for i in 1..N\n"
    "p[i]' = (0.3*cos(5*i), 0.3*sin(7*i)) for i in 1..N\n[run]\nuntil = 100\nmotion = full\n";

typedef struct measured {
    double seconds, evaluations, error, q[MOST];
} measured;

static int once(const char *model, int particles, double until, const char *method, double rtol,
                measured *m)
{
    char settings[120];
    snprintf(settings, sizeof settings, "method=%s rtol=%g verify=never", method, rtol);
    bench b = make(model, particles, settings);
    double t0 = now();
    if (b.code == 0)
        b.code = taut_solver_advance(b.solver, until, &b.error);
    if (b.code == 0) {
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(b.solver, &result, NULL);
        m->seconds = now() - t0;
        m->evaluations = (double)result.statistics.force_evaluations;
        memcpy(m->q, taut_solver_position(b.solver), 2 * (size_t)particles * sizeof *m->q);
    }
    return done(&b);
}

/* log cost at log TARGET on the line through the two tolerances around it */
static double at_target(const double *error, const double *cost)
{
    for (int k = 0; k + 1 < TOLERANCES; k++)
        if (error[k] > TARGET && error[k + 1] <= TARGET) {
            double part = log(error[k] / TARGET) / log(error[k] / error[k + 1]);
            return cost[k] * pow(cost[k + 1] / cost[k], part);
        }
    return NAN;
}

static int compare_costs(int particles, double softening, double until, double most, double slowest)
{
    static measured exact, m;
    char model[600], name[120];
    double error[TOLERANCES], evaluations[TOLERANCES], seconds[TOLERANCES], cost[METHODS],
        time[METHODS];
    snprintf(model, sizeof model, text, softening);
    if (once(model, particles, until, "dop8", 1e-13, &exact) != 0)
        return 1;
    for (int j = 0; j < METHODS; j++) {
        for (int k = 0; k < TOLERANCES; k++) {
            seconds[k] = INFINITY;
            for (int round = 0; round < ROUNDS; round++) {
                if (once(model, particles, until, methods[j], pow(10, -4 - k), &m) != 0)
                    return 1;
                seconds[k] = fmin(seconds[k], m.seconds);
            }
            evaluations[k] = m.evaluations;
            error[k] = 0;
            for (int i = 0; i < 2 * particles; i++)
                error[k] = fmax(error[k], fabs(m.q[i] - exact.q[i]));
        }
        cost[j] = at_target(error, evaluations);
        time[j] = at_target(error, seconds);
        printf("%s, %d particles, softening %g: %.0f evaluations, %.3g ms for an error of %g\n",
               methods[j], particles, softening, cost[j], 1e3 * time[j], TARGET);
    }
    for (int j = 1; j < METHODS; j++) {
        if (isnan(cost[j])) /* not reached with any of these tolerances */
            continue;
        snprintf(name, sizeof name, "adams, %d particles, softening %g, evaluations over %s",
                 particles, softening, methods[j]);
        row(name, most, cost[0] / cost[j]);
    }
    snprintf(name, sizeof name, "adams, %d particles, softening %g, time over dop8", particles,
             softening);
    row(name, slowest, time[0] / time[1]);
    return 0;
}

int main(void)
{
    /* it is the cheapest where the evaluations are below 1; the limit of times with cheap forces
     * only watches over what was reached */
    int code = compare_costs(2, 1, 40, 1, 2);
    code |= compare_costs(60, 1, 40, 1, 1);
    code |= compare_costs(60, 0.01, 10, 1, 1);
    return code;
}
