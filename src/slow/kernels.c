/* kernels.c - the piecewise cubic kernel of [A 5.2] and its samples.
 *
 *     K(t) = 2 - 2|t| - 8|t|^2 + 8|t|^3           for |t| <= 1/2
 *            2 - 22/3|t| + 8|t|^2 - 8/3|t|^3      for 1/2 < |t| <= 1
 *
 * mu = 3 vanishing moments, nu = 2 in the sense of lemma 3.2. K is zero at the ends, so that the trapezoid rule has the weights K(j/N)/N; its
 * moments 0 and 2 are exact when N is even. (N odd: the centre weight is corrected.) */
#include "slow/kernels.h"

#include <math.h>

static double cubic(double at)
{
    if (at <= 0.5)
        return 2 + at * (-2 + at * (-8 + 8 * at));
    return 2 + at * (-22.0 / 3 + at * (8 - 8.0 / 3 * at));
}

const taut_filter taut_filter_cubic = {.name = "cubic", .moments = 3, .value = cubic};

void taut_filter_weights(const taut_filter *filter, int steps, double *weight)
{
    double sum = 0;
    for (int j = 1; j <= steps; j++) {
        weight[j] = j == steps ? 0 : filter->value((double)j / steps) / steps;
        sum += 2 * weight[j];
    }
    weight[0] = 1 - sum;
}
