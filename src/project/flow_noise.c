/* flow_noise.c - how far the results of a flow scatter: rounding, few printed digits, random
 * numbers.
 *
 *     f_k = flow_H(z + k eta p), k = 0 .. 7,    sigma_j^2 = (j!)^2/(2j)! mean (Delta^j f)^2
 *     [Hamming 1971, section 6; More, Wild 2011, section 3]
 *
 * Differences of a high order of a smooth function over so short a way vanish; what is left is
 * noise. Orders 2 to 4 are averaged. Where most neighbours are equal, the results have fewer
 * digits than the steps, and longer steps are taken. The repetitions are not at one point: a
 * program that rounds would give the same result each time. */
#include <float.h>
#include <math.h>

#include "base/random.h"
#include "base/vectors.h"
#include "project/difference.h"

/* Variance of column i of f[8][n]; *equal: neighbours that are the same. */
static double variance(const double *f, taut_index n, taut_index i, int *equal)
{
    static const double factor[] = {1, 1.0 / 2, 1.0 / 6, 1.0 / 20, 1.0 / 70};
    double d[TAUT_NOISE_POINTS], sum = 0;
    *equal = 0;
    for (int k = 0; k < TAUT_NOISE_POINTS; k++)
        d[k] = f[(int64_t)k * n + i];
    for (int j = 1; j <= 4; j++) {
        double square = 0;
        for (int k = 0; k + j < TAUT_NOISE_POINTS; k++) {
            d[k] = d[k + 1] - d[k];
            *equal += j == 1 && d[k] == 0;
            square += d[k] * d[k];
        }
        if (j >= 2)
            sum += factor[j] * square / (TAUT_NOISE_POINTS - j);
    }
    return sum / 3;
}

int taut_flow_noise(taut_flow *flow, double t, double H, const double *z, const double *scale,
                    double *work, double *noise, taut_error *error)
{
    static const double eta[] = {1e-10, 1e-6, 1e-4};
    const taut_index n = flow->size;
    for (int round = 0; round < 3; round++) {
        uint64_t seed = 1;
        int64_t resolved = 0, moving = 0;
        for (taut_index i = 0; i < n; i++) {
            double p = eta[round] * (taut_random(&seed) < 0 ? -1 : 1) * scale[i];
            for (int k = 0; k < TAUT_NOISE_POINTS; k++)
                work[(int64_t)k * n + i] = z[i] + k * p;
        }
        TAUT_TRY(taut_flow_advance_all(flow, t, H, TAUT_NOISE_POINTS, work, error));
        for (taut_index i = 0; i < n; i++) {
            int equal;
            noise[i] = sqrt(variance(work, n, i, &equal));
            noise[i] = fmax(noise[i], DBL_EPSILON / 2 * fabs(work[i]));
            resolved += equal < TAUT_NOISE_POINTS / 2;
            moving += scale[i] > 0;
        }
        if (2 * resolved >= moving)
            break;
    }
    return TAUT_OK;
}
