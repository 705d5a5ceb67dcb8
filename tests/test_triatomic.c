/* test_triatomic.c - 50 random initial states of a bent triatomic molecule: effective motion agrees
 * with the full one to the order of the theory, or it warned.
 *
 * Foot points of the full motion differ from effective motion by O(1/omega) while the frequencies
 * are apart [E (13)]: twice the frequency, half the difference. They are equal where the arms are
 * perpendicular. States that pass there exchange actions, and their difference remains. */
#include <math.h>

#include "drive/solver.h"
#include "support/run.h"

enum { STATES = 50 };

/* In [-1, 1]: minimal standard generator of Park and Miller, always the same numbers. */
static double noise(long long *seed)
{
    *seed = *seed * 16807 % 2147483647;
    return 2 * (double)*seed / 2147483647 - 1;
}

/* models/triatomic.taut with equal masses, so that the frequencies are up to 30 % apart: half the
 * opening a, stretches and angular rates of both arms. */
static driven open_run(double omega, const double *z)
{
    char model[1400];
    double a = 0.5 * (1.9106 + 0.45 * z[0]), lift[2] = {0.15 * z[1] / omega, 0.15 * z[2] / omega},
           rate[2] = {0.5 * z[3], 0.5 * z[4]};
    snprintf(model, sizeof model,
             "[particles]\ndimension = 2\nO mass 1\nH[i] for i in 1..2 mass 1\n[potential]\n"
             "5/2*(angle(H[1] - O, H[2] - O) - 1.9106)^2\n[bonds]\n"
             "arm[i] = length(H[i] - O) - 1 for i in 1..2 stiffness %.17g^2\n[start]\n"
             "O = (0, 0)\nH[1] = (%.17g, %.17g), H[2] = (%.17g, %.17g)\n"
             "H[1]' = (%.17g, %.17g), H[2]' = (%.17g, %.17g)\n",
             omega, (1 + lift[0]) * cos(a), (1 + lift[0]) * sin(a), (1 + lift[1]) * cos(a),
             -(1 + lift[1]) * sin(a), -rate[0] * sin(a), rate[0] * cos(a), rate[1] * sin(a),
             rate[1] * cos(a));
    driven d = driven_create(model, "motion=effective method=effective verify=never until=1", NULL);
    driven_good("triatomic", &d);
    return d;
}

static double difference(double omega, const double *z, bool *warned)
{
    double result = NAN;
    driven d = open_run(omega, z);
    if (d.code == 0) {
        taut_result end = {.size = sizeof end};
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        taut_solver_result_get(d.solver, &end, NULL);
        *warned = end.caution != NULL;
        d.solver->verify = TAUT_VERIFY_AUTO;
        if (d.code == 0)
            d.code = taut_averaging_measure(d.solver, INFINITY, INFINITY, &d.error);
        check_row(d.code == 0, "omega %g: %s", omega, d.error.message);
        result = d.solver->averaging_error;
    }
    driven_destroy(&d);
    return result;
}

int main(void)
{
    long long seed = 20240601;
    int warnings = 0, exchanges = 0;
    double largest = 0;
    check_group("50 random states");
    for (int k = 0; k < STATES; k++) {
        double z[5], error[2];
        bool warned[2];
        for (int i = 0; i < 5; i++)
            z[i] = noise(&seed);
        for (int i = 0; i < 2; i++)
            error[i] = difference(i ? 600 : 300, z, &warned[i]);
        double ratio = error[0] / error[1];
        warnings += warned[0];
        exchanges += ratio < 1.6;
        largest = warned[0] ? largest : fmax(largest, error[0]);
        check_row(warned[0] || (ratio > 1.6 && ratio < 2.5),
                  "state %d: differences %g and %g with twice the frequency, no warning", k,
                  error[0], error[1]);
    }
    check_row(warnings >= 10 && warnings <= 35 && exchanges >= 3 && largest < 1e-3,
              "%d warnings, %d states that exchange actions, largest difference else %g", warnings,
              exchanges, largest);
    return check_done();
}
