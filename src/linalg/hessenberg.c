/* hessenberg.c - eigenvalues of a small matrix that is zero below its first subdiagonal, not
 * symmetric: the implicit double-shift QR iteration [Francis 1961; Golub, Van Loan 1996,
 * algorithms 7.5.1 and 7.5.2]. For forces without reaction, whose stiffness is not symmetric. */
#include <float.h>
#include <math.h>

#include "linalg/hessenberg.h"

#include "base/vectors.h"

enum { MOST_SWEEPS = 60 }; /* for one eigenvalue */

/* Householder's reflection of (x, y, z) onto the first axis: I - 2 w w^T/(w^T w), w overwrites
 * x[]. False when nothing is to be done. */
static bool reflection(int count, double *x)
{
    double norm = 0;
    for (int i = 0; i < count; i++)
        norm += x[i] * x[i];
    norm = sqrt(norm);
    if (!(norm > 0))
        return false;
    x[0] += x[0] < 0 ? -norm : norm;
    return true;
}

/* Applies it to rows first .. first + count - 1 of h (columns from, ..., to), or to columns
 * (rows from, ..., to). */
static void reflect(int n, double *h, int count, const double *w, int first, int from, int to,
                    bool columns)
{
    double square = 0;
    for (int i = 0; i < count; i++)
        square += w[i] * w[i];
    for (int j = from; j <= to; j++) {
        double sum = 0;
        for (int i = 0; i < count; i++)
            sum += w[i] * (columns ? h[j * n + first + i] : h[(first + i) * n + j]);
        for (int i = 0; i < count; i++)
            *(columns ? &h[j * n + first + i] : &h[(first + i) * n + j]) -= 2 * sum / square * w[i];
    }
}

/* One sweep over the block low .. high with the eigenvalues of its last 2 x 2 block, or
 * something else now and then, as shifts. */
static void sweep(int n, double *h, int low, int high, bool unusual)
{
    double a = h[(high - 1) * n + high - 1], b = h[(high - 1) * n + high],
           c = h[high * n + high - 1], d = h[high * n + high];
    double sum = a + d, product = a * d - b * c;
    if (unusual) {
        sum = 1.5 * (fabs(c) + fabs(h[(high - 1) * n + high - 2]));
        product = sum * sum / 2.25;
    }
    double p = h[low * n + low], q = h[(low + 1) * n + low];
    double x[3] = {p * p + h[low * n + low + 1] * q - sum * p + product,
                   q * (p + h[(low + 1) * n + low + 1] - sum), q * h[(low + 2) * n + low + 1]};
    for (int k = low; k < high; k++) {
        int count = k + 2 <= high ? 3 : 2;
        double w[3] = {x[0], x[1], x[2]};
        if (reflection(count, w)) {
            reflect(n, h, count, w, k, k > low ? k - 1 : low, high, false);
            reflect(n, h, count, w, k, low, k + 3 < high ? k + 3 : high, true);
        }
        x[0] = h[(k + 1) * n + k];
        x[1] = k + 2 <= high ? h[(k + 2) * n + k] : 0;
        x[2] = k + 3 <= high ? h[(k + 3) * n + k] : 0;
        for (int i = k + 1; i <= high && k > low; i++) /* what the reflection has made zero */
            h[i * n + k - 1] = 0;
    }
}

static void pair(const double *h, int n, int k, double *real, double *imaginary)
{
    double a = h[k * n + k], b = h[k * n + k + 1], c = h[(k + 1) * n + k],
           d = h[(k + 1) * n + k + 1];
    double half = (a + d) / 2, square = (a - d) * (a - d) / 4 + b * c, root = sqrt(fabs(square));
    real[0] = half - (square > 0 ? root : 0);
    real[1] = half + (square > 0 ? root : 0);
    imaginary[0] = square > 0 ? 0 : root;
    imaginary[1] = -imaginary[0];
}

bool taut_hessenberg_values(int n, double *h, double *real, double *imaginary)
{
    int high = n - 1, sweeps = 0;
    double size = fmax(DBL_MIN, taut_largest((int64_t)n * n, h));
    while (high >= 0) {
        int low = high;
        while (low > 0 &&
               fabs(h[low * n + low - 1]) >
                   DBL_EPSILON * fmax(fabs(h[low * n + low]) + fabs(h[(low - 1) * n + low - 1]),
                                      DBL_EPSILON * size))
            low--;
        if (low == high) {
            real[high] = h[high * n + high];
            imaginary[high--] = 0;
            sweeps = 0;
        } else if (low == high - 1) {
            pair(h, n, low, real + low, imaginary + low);
            high -= 2;
            sweeps = 0;
        } else if (++sweeps > MOST_SWEEPS) {
            return false;
        } else {
            sweep(n, h, low, high, sweeps % 10 == 0);
        }
    }
    return true;
}
