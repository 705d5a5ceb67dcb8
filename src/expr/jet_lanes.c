/* jet_lanes.c - see jet_lanes.h. Numbers of terms are written out, so that the compiler knows them
 * and forms vectors. */
#include "expr/jet_lanes.h"

#include "base/four.h"

#if defined(__GNUC__) && !defined(__clang__)
#define LANES _Pragma("GCC ivdep")
#else
#define LANES
#endif

/* `to` may be `from`. */
TAUT_INLINED void add_terms(int n, double *to, const double *from, const taut_jet_terms *of,
                            const int count, const bool weighted, const bool begun)
{
    const double *x[TAUT_JET_TERMS], *y[TAUT_JET_TERMS];
    double weight[TAUT_JET_TERMS];
    for (int j = 0; j < count; j++) {
        x[j] = of->x[j];
        y[j] = of->y[j];
        weight[j] = of->weight[j];
    }
    LANES
    for (int l = 0; l < n; l++) {
        double sum = begun ? from[l] : 0;
        for (int j = 0; j < count; j++)
            sum += (weighted ? weight[j] * x[j][l] : x[j][l]) * y[j][l];
        to[l] = sum;
    }
}

TAUT_INLINED void add_some(int n, double *to, const double *from, const taut_jet_terms *of,
                           const int count, bool weighted)
{
    if (weighted && from)
        add_terms(n, to, from, of, count, true, true);
    else if (weighted)
        add_terms(n, to, from, of, count, true, false);
    else if (from)
        add_terms(n, to, from, of, count, false, true);
    else
        add_terms(n, to, from, of, count, false, false);
}

TAUT_HOT static void jet_sum_all(int n, double *to, const double *from, const taut_jet_terms *of,
                                 int count, bool weighted)
{
    switch (count) {
    case 0: add_some(n, to, from, of, 0, false); break;
    case 1: add_some(n, to, from, of, 1, weighted); break;
    case 2: add_some(n, to, from, of, 2, weighted); break;
    case 3: add_some(n, to, from, of, 3, weighted); break;
    default: add_some(n, to, from, of, TAUT_JET_TERMS, weighted);
    }
}

void taut_jet_sum(int n, double *to, const double *from, const taut_jet_terms *of, int count,
                  bool weighted)
{
    jet_sum_all(n, to, from, of, count, weighted);
}

TAUT_HOT static void jet_scale(int n, double *restrict to, double factor,
                               const double *restrict from)
{
    LANES
    for (int l = 0; l < n; l++)
        to[l] = factor * from[l];
}

void taut_jet_scale(int n, double *to, double factor, const double *from)
{
    jet_scale(n, to, factor, from);
}

TAUT_HOT static void jet_divide(int n, double *restrict to, double factor, const double *restrict b)
{
    LANES
    for (int l = 0; l < n; l++)
        to[l] /= factor * b[l];
}

void taut_jet_divide(int n, double *to, double factor, const double *b)
{
    jet_divide(n, to, factor, b);
}

TAUT_HOT static void jet_divide_or_zero(int n, double *restrict to, double factor,
                                        const double *restrict b)
{
    LANES
    for (int l = 0; l < n; l++) {
        double quotient = to[l] / (factor * b[l]);
        to[l] = b[l] == 0 ? 0 : quotient;
    }
}

void taut_jet_divide_or_zero(int n, double *to, double factor, const double *b)
{
    jet_divide_or_zero(n, to, factor, b);
}

TAUT_HOT static void jet_add(int n, double *restrict c, const double *a, const double *b)
{
    LANES
    for (int l = 0; l < n; l++)
        c[l] = a[l] + b[l];
}

void taut_jet_add(int n, double *c, const double *a, const double *b)
{
    jet_add(n, c, a, b);
}

TAUT_HOT static void jet_subtract(int n, double *restrict c, const double *a, const double *b)
{
    LANES
    for (int l = 0; l < n; l++)
        c[l] = a[l] - b[l];
}

void taut_jet_subtract(int n, double *c, const double *a, const double *b)
{
    jet_subtract(n, c, a, b);
}
