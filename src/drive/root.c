/* root.c - see root.h. Regula falsi, an end value halved when that end stays twice (Illinois), and
 * a bisection whenever three steps have not halved the bracket. */
#include "drive/root.h"

#include <float.h>
#include <math.h>

double taut_root_resolution(const taut_solver *solver)
{
    double h = fabs(solver->stepper.now.t - solver->stepper.last.t);
    return fmax(DBL_EPSILON, 2 * DBL_EPSILON * fabs(solver->stepper.now.t) / h);
}

int taut_root_locate(taut_solver *solver, taut_root_function function, int64_t k, double tiny,
                     double *low, double *high, double f_low, double f_high, taut_error *error)
{
    enum { MOST_ITERATIONS = 200 };
    double a = *low, b = *high, mark = b - a;
    bool rising = f_low < 0;
    int stayed = 0; /* which end stayed: -1 low, 1 high */
    for (int j = 0; b - a > tiny && j < MOST_ITERATIONS; j++) {
        double c = (a * f_high - b * f_low) / (f_high - f_low), f;
        if (j % 3 == 2) {
            if (b - a > mark / 2)
                c = (a + b) / 2;
            mark = b - a;
        }
        /* off the ends by what can be seen, so that the far end comes in at last */
        if (!(c > a + tiny / 2))
            c = a + tiny / 2;
        if (c > b - tiny / 2)
            c = b - tiny / 2;
        TAUT_TRY(function(solver, k, c, &f, error));
        if (rising ? f >= 0 : f <= 0) {
            b = c;
            f_high = f;
            f_low = stayed == -1 ? f_low / 2 : f_low;
            stayed = -1;
        } else {
            a = c;
            f_low = f;
            f_high = stayed == 1 ? f_high / 2 : f_high;
            stayed = 1;
        }
    }
    *low = a;
    *high = b;
    return TAUT_OK;
}

double taut_root_dip(double f0, double f1, double m0, double m1)
{
    /* of the lower end: a cubic is no better approximation of a long step */
    static const double NEARLY = 0.25;
    double a2 = 3 * (f1 - f0) - 2 * m0 - m1, a3 = 2 * (f0 - f1) + m0 + m1;
    double theta = -m0 / (a2 + sqrt(fmax(a2 * a2 - 3 * a3 * m0, 0)));
    double value = f0 + theta * (m0 + theta * (a2 + theta * a3));
    return theta > 0 && theta < 1 && value < NEARLY * fmin(f0, f1) ? theta : -1;
}
