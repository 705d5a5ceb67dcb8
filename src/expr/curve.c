/* curve.c - natural cubic splines on the knots 1, 2, ..., n.
 *
 * With h = 1 the second derivatives m_k solve  m_{k-1} + 4 m_k + m_{k+1} = 6 (y_{k-1} - 2 y_k +
 * y_{k+1}),  m_1 = m_n = 0 (continuity of the first derivative); on [k, k+1], s = x - k:
 *
 *     y = y_k + s (y_{k+1} - y_k - (2 m_k + m_{k+1})/6) + s^2 m_k/2 + s^3 (m_{k+1} - m_k)/6.
 *
 * Since m vanishes at the ends the linear continuation is C2 there too. */
#include "expr/curve.h"

#include <math.h>

/* Second derivatives by elimination without pivoting: the matrix is diagonally dominant. `upper`
 * is work. */
static void second_derivatives(int32_t count, const double *y, double *m, double *upper)
{
    m[0] = upper[0] = 0.0;
    for (int32_t k = 1; k + 1 < count; k++) {
        double pivot = 4.0 - upper[k - 1];
        upper[k] = 1.0 / pivot;
        m[k] = (6.0 * (y[k - 1] - 2.0 * y[k] + y[k + 1]) - m[k - 1]) / pivot;
    }
    m[count - 1] = 0.0;
    for (int32_t k = count - 2; k > 0; k--)
        m[k] -= upper[k] * m[k + 1];
}

static void fill_pieces(int32_t count, const double *y, const double *m, double *piece)
{
    for (int32_t k = 0; k + 1 < count; k++, piece += 4) {
        piece[0] = y[k];
        piece[1] = y[k + 1] - y[k] - (2.0 * m[k] + m[k + 1]) / 6.0;
        piece[2] = m[k] / 2.0;
        piece[3] = (m[k + 1] - m[k]) / 6.0;
    }
}

int taut_curve_create(taut_arena *arena, int32_t count, const double *values,
                      const taut_curve **curve, taut_error *error)
{
    if (count < 1)
        return taut_fail(error, TAUT_ERROR_USAGE, "a curve needs at least one value");
    taut_curve *made = TAUT_NEW(arena, taut_curve, 1);
    double *piece = TAUT_NEW(arena, double, 4 * ((int64_t)count - 1));
    double *work = TAUT_NEW(arena, double, 2 * (int64_t)count);
    TAUT_NEED(error, made, piece, work);
    second_derivatives(count, values, work, work + count);
    fill_pieces(count, values, work, piece);
    *made = (taut_curve){
        .count = count, .coefficient = piece, .first = values[0], .last = values[count - 1]};
    if (count > 1) {
        const double *end = piece + 4 * ((int64_t)count - 2);
        made->slope_first = piece[1];
        made->slope_last = end[1] + 2.0 * end[2] + 3.0 * end[3];
    }
    *curve = made;
    return 0;
}

static double line(int d, double value, double slope, double distance)
{
    return d == 0 ? value + slope * distance : d == 1 ? slope : 0.0;
}

double taut_curve_value(const taut_curve *curve, int d, double x)
{
    if (isnan(x) || d < 0)
        return NAN;
    if (d > 3)
        return 0.0;
    if (x < 1.0)
        return line(d, curve->first, curve->slope_first, x - 1.0);
    if (x >= curve->count)
        return line(d, curve->last, curve->slope_last, x - curve->count);
    int32_t k = (int32_t)x;
    const double *p = curve->coefficient + 4 * ((int64_t)k - 1);
    double s = x - k;
    switch (d) {
    case 0: return p[0] + s * (p[1] + s * (p[2] + s * p[3]));
    case 1: return p[1] + s * (2.0 * p[2] + s * 3.0 * p[3]);
    case 2: return 2.0 * p[2] + 6.0 * s * p[3];
    default: return 6.0 * p[3];
    }
}
