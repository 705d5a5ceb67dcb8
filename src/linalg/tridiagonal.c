/* tridiagonal.c - QL with implicit shifts of Wilkinson, on a symmetric tridiagonal matrix.
 *
 *     Golub, Van Loan, Matrix Computations, 4th ed., 8.3.3; Dubrulle, Martin, Wilkinson,
 *     Numer. Math. 12 (1968) 377-383 */
#include "linalg/tridiagonal.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

static void rotate_rows(int width, double *x, double *y, double c, double s)
{
    for (int k = 0; k < width; k++) {
        double upper = x[k], lower = y[k];
        x[k] = c * upper - s * lower;
        y[k] = s * upper + c * lower;
    }
}

/* One sweep on rows low..high. */
static void sweep(int low, int high, double *d, double *e, double *z, int width)
{
    double g = (d[low + 1] - d[low]) / (2 * e[low]), s = 1, c = 1, p = 0;
    g = d[high] - d[low] + e[low] / (g + copysign(hypot(g, 1), g));
    for (int i = high - 1; i >= low; i--) {
        double f = s * e[i], b = c * e[i], r = hypot(f, g);
        e[i + 1] = r;
        if (r == 0) { /* the matrix has split */
            d[i + 1] -= p;
            e[high] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotate_rows(width, z + (int64_t)i * width, z + (int64_t)(i + 1) * width, c, s);
    }
    d[low] -= p;
    e[low] = g;
    e[high] = 0;
}

bool taut_tridiagonal_ql(int n, double *d, double *e, double *z, int width)
{
    enum { MOST_SWEEPS = 60 };
    e[n - 1] = 0;
    for (int low = 0; low < n; low++)
        for (int sweeps = 0;; sweeps++) {
            int high = low;
            while (high < n - 1 &&
                   fabs(e[high]) > DBL_EPSILON * (fabs(d[high]) + fabs(d[high + 1])))
                high++;
            if (high == low)
                break;
            if (sweeps == MOST_SWEEPS)
                return false;
            sweep(low, high, d, e, z, width);
        }
    return true;
}
