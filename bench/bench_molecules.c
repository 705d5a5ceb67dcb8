/* bench_molecules.c - effective motion and the mollified impulse method on flexible water molecules
 * that do not touch: time per molecule and step as the box grows from 216 to 10,000.
 *
 * Rows: name | limit | value | verdict; processor times, the best of several rounds. The slow
 * forces are springs that hold the molecules, so that what is measured are modes, actions and W. */
#if defined(__linux__)
#define _POSIX_C_SOURCE 200112L
#endif
#include "runs.h"

#define WATER                                                                                      \
    "[parameters]\nN = 216\nangle0 = 113.24*pi/180\n[particles]\ndimension = 3\n"                  \
    "O[i] for i in 1..N mass 15.9994\nA[i] for i in 1..N mass 1.008\nB[i] for i in 1..N mass "     \
    "1.008\n[definitions]\narm(a) = (cos(a), sin(a), 0)*0.1012\n"                                  \
    "place(i) = (mod(i, 7), mod(i, 11), mod(i, 13))*0.01\n[potential]\n"                           \
    "sum(25*dot(O[i], O[i]) for i in 1..N)\n[bonds]\n"                                             \
    "first[i] = length(A[i] - O[i]) - 0.1012 for i in 1..N stiffness 443153.4\n"                   \
    "second[i] = length(B[i] - O[i]) - 0.1012 for i in 1..N stiffness 443153.4\n"                  \
    "bend[i] = angle(A[i] - O[i], B[i] - O[i]) - angle0 for i in 1..N stiffness 317.5656\n"        \
    "[start]\nO[i] = place(i) for i in 1..N\nA[i] = place(i) + 1.02*arm(2.4*i) for i in 1..N\n"    \
    "B[i] = place(i) + arm(2.4*i + angle0) for i in 1..N\n[run]\nuntil = 1000\n"

/* Microseconds per molecule and step, or NaN. */
static double measure(const char *settings, double step, int molecules)
{
    enum { ROUNDS = 3 };
    double best = INFINITY;
    bench b = make(WATER, molecules, settings);
    int steps = molecules > 1000 ? 2 : 40;
    for (int k = 0; b.code == 0 && k < ROUNDS; k++) {
        double before = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
        b.code = taut_solver_advance(b.solver, (k + 1) * steps * step, &b.error);
        best = fmin(best, bench_clock(CLOCK_PROCESS_CPUTIME_ID) - before);
    }
    return done(&b) == 0 ? 1e6 * best / steps / molecules : NAN;
}

int main(void)
{
    static const struct {
        const char *name, *settings;
    } rows[] = {{"effective", "motion=effective method=effective step=0.004"},
                {"mollified-impulse", "motion=effective method=mollified-impulse step=0.004"}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char name[120];
        double few = measure(rows[k].settings, 0.004, 216),
               many = measure(rows[k].settings, 0.004, 10000);
        printf("%s: %.3g and %.3g microseconds per molecule and step\n", rows[k].name, few, many);
        snprintf(name, sizeof name, "%s, 10000 molecules over 216, time per molecule and step",
                 rows[k].name);
        row(name, 1.5, many / few);
    }
    return 0;
}
