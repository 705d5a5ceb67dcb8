/* jet.c - Taylor coefficients through a tape, one order at a time.
 *
 * A register is a series x(t) = x_0 + x_1 t + x_2 t^2 + ... Each operation has a recurrence that
 * gives coefficient k of its result from coefficients 0..k of its operands and 0..k-1 of its
 * result; it follows from the differential equation that the operation satisfies, for example c
 * = exp(a):  c' = a' c,  so  k c_k = sum_{i=1..k} i a_i c_{k-i}. [Griewank, Walther, Evaluating
 * Derivatives, 2nd ed. 2008, section 13.2, tables 13.1 and 13.2]
 *
 * Some need a second series, the companion: cos for sin, 1 + tan^2 for tan,
 * sqrt(1 - a^2) for asin, ... Order 0 is the interpreter's result; operations with a kink take
 * the side on which coefficient 0 lies. All loops run over the lanes. */
#include "expr/tape.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "expr/curve.h"
#include "expr/jet_lanes.h"

typedef struct jet {
    const taut_tape *tape;
    double *regs;
    size_t lanes, block;           /* doubles from one register, and from one order, to the next */
    int n;                         /* lanes in use */
    int k;                         /* the order that is computed */
    const taut_jet_places *places; /* or NULL: all registers of all orders are in regs */
} jet;

/* Lower orders of what is not kept: constants, of order 0. */
static double *row_kept(const jet *s, int32_t reg, int order)
{
    const taut_jet_places *p = s->places;
    if (order == s->k)
        return (order == 0 ? p->first : p->later) + (size_t)reg * s->lanes;
    if (p->slot[reg] < 0)
        return p->first + (size_t)reg * s->lanes;
    return p->kept + ((size_t)order * (size_t)p->count + (size_t)p->slot[reg]) * s->lanes;
}

static inline double *row(const jet *s, int32_t reg, int order)
{
    if (s->places)
        return row_kept(s, reg, order);
    return s->regs + (size_t)order * s->block + (size_t)reg * s->lanes;
}

/* Of one lane: the same sums in the same order. */
static void convolve_one(const jet *s, double *to, const double *from, double alpha, double beta,
                         int32_t x, int32_t y, int first, int last)
{
    const ptrdiff_t block = (ptrdiff_t)s->block;
    const double *xs = row(s, x, 0), *ys = row(s, y, 0);
    ptrdiff_t a = first * block, b = (s->k - first) * block;
    double sum = from ? *from : 0;
    if (x == y && beta == 0 && first + last == s->k) {
        for (; a < b; a += block, b -= block)
            sum += 2 * alpha * xs[a] * ys[b];
        last = a == b ? 0 : -1; /* the term in the middle */
        first = 0;
    }
    for (int i = first; i <= last; i++, a += block, b -= block)
        sum += (alpha + beta * i) * xs[a] * ys[b];
    *to = sum;
}

/* to = from + sum_{i=first..last} (alpha + beta i) x_i y_{k-i}, from NULL: 0: the one loop in which
 * the time goes. In a square, terms i and k - i are the same. */
static void convolve(const jet *s, double *to, const double *from, double alpha, double beta,
                     int32_t x, int32_t y, int first, int last)
{
    const bool square = x == y && beta == 0 && first + last == s->k;
    const int end = square ? s->k / 2 : last;
    const bool weighted = alpha != 1 || beta != 0 || square;
    taut_jet_terms of;
    int count = 0;
    if (s->n == 1 && !s->places) {
        convolve_one(s, to, from, alpha, beta, x, y, first, last);
        return;
    }
    for (int i = first; i <= end; i++) {
        if (count == TAUT_JET_TERMS) {
            taut_jet_sum(s->n, to, from, &of, count, weighted);
            from = to;
            count = 0;
        }
        of.weight[count] = (alpha + beta * i) * (square && 2 * i < s->k ? 2 : 1);
        of.x[count] = row(s, x, i);
        of.y[count++] = row(s, y, s->k - i);
    }
    if (count > 0 || from != to)
        taut_jet_sum(s->n, to, from, &of, count, weighted);
}

static double *copy(const jet *s, int32_t to, int32_t from, double scale)
{
    double *result = row(s, to, s->k);
    taut_jet_scale(s->n, result, scale, row(s, from, s->k));
    return result;
}

static double *zero(const jet *s, int32_t to)
{
    double *result = row(s, to, s->k);
    memset(result, 0, (size_t)s->n * sizeof(double));
    return result;
}

static void divide(const jet *s, double *to, int32_t by, double factor)
{
    taut_jet_divide(s->n, to, factor, row(s, by, 0));
}

/* The same, and 0 where the divisor is 0: the smooth continuation that ROOT, HYPOT and DIVZ
 * stand for. */
static void divide_or_zero(const jet *s, double *to, int32_t by, double factor)
{
    taut_jet_divide_or_zero(s->n, to, factor, row(s, by, 0));
}

/* c' = scale a' y:  k c_k = scale sum i a_i y_{k-i} */
static void integrate(const jet *s, int32_t c, double scale, int32_t a, int32_t y)
{
    convolve(s, row(s, c, s->k), NULL, 0, scale / s->k, a, y, 1, s->k);
}

/* ---- arithmetic */

static void next_nothing(const jet *s, const taut_instruction *in) /* piecewise constant */
{
    zero(s, in->to);
}

static void next_neg(const jet *s, const taut_instruction *in)
{
    copy(s, in->to, in->a, -1);
}

static void next_add(const jet *s, const taut_instruction *in)
{
    taut_jet_add(s->n, row(s, in->to, s->k), row(s, in->a, s->k), row(s, in->b, s->k));
}

static void next_sub(const jet *s, const taut_instruction *in)
{
    taut_jet_subtract(s->n, row(s, in->to, s->k), row(s, in->a, s->k), row(s, in->b, s->k));
}

static void next_mul(const jet *s, const taut_instruction *in)
{
    if (taut_tape_is_constant(s->tape, in->a))
        copy(s, in->to, in->b, *row(s, in->a, 0));
    else if (taut_tape_is_constant(s->tape, in->b))
        copy(s, in->to, in->a, *row(s, in->b, 0));
    else
        convolve(s, row(s, in->to, s->k), NULL, 1, 0, in->a, in->b, 0, s->k);
}

static double *quotient_numerator(const jet *s, const taut_instruction *in)
{
    if (taut_tape_is_constant(s->tape, in->b))
        return copy(s, in->to, in->a, 1);
    double *c = row(s, in->to, s->k);
    convolve(s, c, row(s, in->a, s->k), -1, 0, in->to, in->b, 0, s->k - 1);
    return c;
}

static void next_div(const jet *s, const taut_instruction *in)
{
    divide(s, quotient_numerator(s, in), in->b, 1);
}

static void next_divz(const jet *s, const taut_instruction *in)
{
    divide_or_zero(s, quotient_numerator(s, in), in->b, 1);
}

/* ---- roots */

/* c c = a:  2 c_0 c_k = a_k - sum_{i=1..k-1} c_i c_{k-i} */
static double *root_numerator(const jet *s, const taut_instruction *in)
{
    double *c = row(s, in->to, s->k);
    convolve(s, c, row(s, in->a, s->k), -1, 0, in->to, in->to, 1, s->k - 1);
    return c;
}

static void next_sqrt(const jet *s, const taut_instruction *in)
{
    divide(s, root_numerator(s, in), in->to, 2);
}

static void next_root(const jet *s, const taut_instruction *in)
{
    divide_or_zero(s, root_numerator(s, in), in->to, 2);
}

/* c c' = a a' + b b' */
static void next_hypot(const jet *s, const taut_instruction *in)
{
    double *c = row(s, in->to, s->k);
    convolve(s, c, NULL, 0, 1.0 / s->k, in->a, in->a, 1, s->k);
    convolve(s, c, c, 0, 1.0 / s->k, in->b, in->b, 1, s->k);
    convolve(s, c, c, 0, -1.0 / s->k, in->to, in->to, 1, s->k - 1);
    divide_or_zero(s, c, in->to, 1);
}

/* ---- exponential and circular functions */

static void next_exp(const jet *s, const taut_instruction *in)
{
    integrate(s, in->to, 1, in->a, in->to);
}

/* a c' = a' */
static void logarithm(const jet *s, int32_t c, int32_t a)
{
    double *to = row(s, c, s->k);
    convolve(s, to, row(s, a, s->k), 0, -1.0 / s->k, c, a, 1, s->k - 1);
    divide(s, to, a, 1);
}

static void next_log(const jet *s, const taut_instruction *in)
{
    logarithm(s, in->to, in->a);
}

static void next_sin(const jet *s, const taut_instruction *in)
{
    integrate(s, in->to, 1, in->a, in->companion);
    integrate(s, in->companion, -1, in->a, in->to);
}

static void next_cos(const jet *s, const taut_instruction *in)
{
    integrate(s, in->to, -1, in->a, in->companion);
    integrate(s, in->companion, 1, in->a, in->to);
}

static void next_sinh_cosh(const jet *s, const taut_instruction *in)
{
    integrate(s, in->to, 1, in->a, in->companion);
    integrate(s, in->companion, 1, in->a, in->to);
}

/* c' = a' w,  w = 1 + c^2 */
static void next_tan(const jet *s, const taut_instruction *in)
{
    integrate(s, in->to, 1, in->a, in->companion);
    convolve(s, row(s, in->companion, s->k), NULL, 1, 0, in->to, in->to, 0, s->k);
}

/* c' = a' w,  w = 1 - c^2 */
static void next_tanh(const jet *s, const taut_instruction *in)
{
    integrate(s, in->to, 1, in->a, in->companion);
    convolve(s, row(s, in->companion, s->k), NULL, -1, 0, in->to, in->to, 0, s->k);
}

/* w c' = sign a',  solved for c_k */
static void divide_slope(const jet *s, int32_t c, double sign, int32_t a, int32_t w)
{
    double *to = copy(s, c, a, sign);
    convolve(s, to, to, 0, -1.0 / s->k, c, w, 1, s->k - 1);
    divide(s, to, w, 1);
}

/* w = sqrt(1 - a^2):  w c' = a',  w' = -a c' */
static void next_asin(const jet *s, const taut_instruction *in)
{
    divide_slope(s, in->to, 1, in->a, in->companion);
    integrate(s, in->companion, -1, in->to, in->a);
}

static void next_acos(const jet *s, const taut_instruction *in)
{
    divide_slope(s, in->to, -1, in->a, in->companion);
    integrate(s, in->companion, 1, in->to, in->a);
}

/* w = 1 + a^2:  w c' = a' */
static void next_atan(const jet *s, const taut_instruction *in)
{
    divide_slope(s, in->to, 1, in->a, in->companion);
    convolve(s, row(s, in->companion, s->k), NULL, 1, 0, in->a, in->a, 0, s->k);
}

/* c = atan2(a, b), w = a^2 + b^2:  w c' = b a' - a b' */
static void next_atan2(const jet *s, const taut_instruction *in)
{
    double *c = row(s, in->to, s->k), *w = row(s, in->companion, s->k);
    convolve(s, c, NULL, 0, 1.0 / s->k, in->a, in->b, 1, s->k);
    convolve(s, c, c, 0, -1.0 / s->k, in->b, in->a, 1, s->k);
    convolve(s, c, c, 0, -1.0 / s->k, in->to, in->companion, 1, s->k - 1);
    divide(s, c, in->companion, 1);
    convolve(s, w, NULL, 1, 0, in->a, in->a, 0, s->k);
    convolve(s, w, w, 1, 0, in->b, in->b, 0, s->k);
}

/* ---- powers */

enum { WHOLE_POWER_MOST = 64 };

/* The order of the first nonzero coefficient from `from` on, or k + 1. */
static int valuation(const jet *s, int32_t reg, int lane, int from)
{
    int m = from;
    while (m <= s->k && row(s, reg, m)[lane] == 0)
        m++;
    return m;
}

/* x <- x y, coefficients 0..k; downwards, so that what is overwritten is not needed any more. */
static void multiply_series(int k, double *x, const double *y)
{
    for (int j = k; j >= 0; j--) {
        double sum = 0;
        for (int i = 0; i <= j; i++)
            sum += x[i] * y[j - i];
        x[j] = sum;
    }
}

/* Coefficient k of a^n by products. The recurrence below divides by a_0 in every order, which
 * whole powers do not deserve: their coefficients stay small however small a_0 is. */
static double whole_power(const jet *s, int32_t a, int lane, int n)
{
    double base[TAUT_JET_ORDER_MAX + 1], result[TAUT_JET_ORDER_MAX + 1] = {1};
    for (int i = 0; i <= s->k; i++)
        base[i] = row(s, a, i)[lane];
    for (; n > 0; n /= 2) {
        if (n % 2)
            multiply_series(s->k, result, base);
        if (n > 1)
            multiply_series(s->k, base, base);
    }
    return result[s->k];
}

/* One lane of a^b. With a = a_m t^m + ..., m > 0, the result begins like t^(m b): zero below
 * that order; at and beyond it a broken power is not smooth, and the result is NaN. `fixed`: b does
 * not move. */
static double power_of_lane(const jet *s, const taut_instruction *in, int lane, bool fixed)
{
    const double b = row(s, in->b, 0)[lane], a0 = row(s, in->a, 0)[lane];
    if (fixed && b >= 0 && b <= WHOLE_POWER_MOST && b == floor(b))
        return whole_power(s, in->a, lane, (int)b);
    if (a0 == 0) {
        const int m = valuation(s, in->a, lane, 1);
        return b > 0 && (m > s->k || m * b > s->k) ? 0 : NAN;
    }
    double sum = 0;
    for (int i = 1; i <= s->k; i++)
        sum += (i * b - (s->k - i)) * row(s, in->a, i)[lane] * row(s, in->to, s->k - i)[lane];
    return sum / (s->k * a0);
}

/* A constant exponent:  k a_0 c_k = sum_{i=1..k} (i b - (k - i)) a_i c_{k-i} */
static void next_pow_constant(const jet *s, const taut_instruction *in)
{
    const double b = *row(s, in->b, 0), *a = row(s, in->a, 0);
    const bool whole = b >= 0 && b <= WHOLE_POWER_MOST && b == floor(b);
    double *c = row(s, in->to, s->k);
    convolve(s, c, NULL, -s->k, b + 1, in->a, in->to, 1, s->k);
    divide(s, c, in->a, s->k);
    for (int l = 0; l < s->n; l++)
        if (whole || a[l] == 0)
            c[l] = power_of_lane(s, in, l, true);
}

/* a^b = exp(d), d = b log a; companions log a and d. Where the exponent has not moved so far (a
 * parameter, for example) the rule for a constant one holds, also for bases that have no logarithm.
 */
static void next_pow(const jet *s, const taut_instruction *in)
{
    if (taut_tape_is_constant(s->tape, in->b)) {
        next_pow_constant(s, in);
        return;
    }
    const int32_t logarithm_a = in->companion, d = in->companion + 1;
    logarithm(s, logarithm_a, in->a);
    convolve(s, row(s, d, s->k), NULL, 1, 0, in->b, logarithm_a, 0, s->k);
    integrate(s, in->to, 1, d, in->to);
    const double *a = row(s, in->a, 0);
    double *c = row(s, in->to, s->k);
    for (int l = 0; l < s->n; l++) {
        const bool fixed = valuation(s, in->b, l, 1) > s->k;
        if (fixed || a[l] == 0)
            c[l] = power_of_lane(s, in, l, fixed);
    }
}

/* ---- one side of a kink */

static void next_abs(const jet *s, const taut_instruction *in)
{
    double *c = row(s, in->to, s->k);
    const double *a = row(s, in->a, s->k), *side = row(s, in->a, 0);
    for (int l = 0; l < s->n; l++)
        c[l] = side[l] > 0 ? a[l] : side[l] < 0 ? -a[l] : 0 * a[l];
}

static void next_min(const jet *s, const taut_instruction *in)
{
    double *c = row(s, in->to, s->k);
    const double *a = row(s, in->a, s->k), *b = row(s, in->b, s->k);
    const double *side_a = row(s, in->a, 0), *side_b = row(s, in->b, 0);
    for (int l = 0; l < s->n; l++)
        c[l] = side_a[l] < side_b[l] ? a[l] : b[l];
}

static void next_max(const jet *s, const taut_instruction *in)
{
    double *c = row(s, in->to, s->k);
    const double *a = row(s, in->a, s->k), *b = row(s, in->b, s->k);
    const double *side_a = row(s, in->a, 0), *side_b = row(s, in->b, 0);
    for (int l = 0; l < s->n; l++)
        c[l] = side_a[l] > side_b[l] ? a[l] : b[l];
}

static void next_mod(const jet *s, const taut_instruction *in)
{
    double *c = row(s, in->to, s->k);
    const double *a = row(s, in->a, s->k), *b = row(s, in->b, s->k);
    const double *a0 = row(s, in->a, 0), *b0 = row(s, in->b, 0);
    for (int l = 0; l < s->n; l++)
        c[l] = a[l] - floor(a0[l] / b0[l]) * b[l];
}

static void next_select(const jet *s, const taut_instruction *in)
{
    double *to = row(s, in->to, s->k);
    const double *condition = row(s, in->a, 0), *b = row(s, in->b, s->k), *c = row(s, in->c, s->k);
    for (int l = 0; l < s->n; l++)
        to[l] = condition[l] != 0 ? b[l] : c[l];
}

/* The cubic on which a_0 lies, expanded there: c = p + p' w + p''/2 w^2 + p'''/6 w^3, w = a -
 * a_0; companions w^2 and w^3. */
static void next_curve(const jet *s, const taut_instruction *in)
{
    const taut_curve *curve = s->tape->curve[in->c];
    const int32_t square = in->companion, cube = in->companion + 1;
    convolve(s, row(s, square, s->k), NULL, 1, 0, in->a, in->a, 1, s->k - 1);
    convolve(s, row(s, cube, s->k), NULL, 1, 0, in->a, square, 1, s->k - 1);
    const double *a0 = row(s, in->a, 0), *w = row(s, in->a, s->k), *w2 = row(s, square, s->k),
                 *w3 = row(s, cube, s->k);
    double *c = row(s, in->to, s->k);
    for (int l = 0; l < s->n; l++)
        c[l] = taut_curve_value(curve, in->b + 1, a0[l]) * w[l] +
               taut_curve_value(curve, in->b + 2, a0[l]) / 2 * w2[l] +
               taut_curve_value(curve, in->b + 3, a0[l]) / 6 * w3[l];
}

/* ---- the table */

typedef struct rule {
    int companions;
    void (*next)(const jet *s, const taut_instruction *in);
} rule;

static const rule rules[TAUT_OP_COUNT] = {
    [TAUT_OP_NEG] = {0, next_neg},        [TAUT_OP_SQRT] = {0, next_sqrt},
    [TAUT_OP_ROOT] = {0, next_root},      [TAUT_OP_EXP] = {0, next_exp},
    [TAUT_OP_LOG] = {0, next_log},        [TAUT_OP_SIN] = {1, next_sin},
    [TAUT_OP_COS] = {1, next_cos},        [TAUT_OP_TAN] = {1, next_tan},
    [TAUT_OP_ASIN] = {1, next_asin},      [TAUT_OP_ACOS] = {1, next_acos},
    [TAUT_OP_ATAN] = {1, next_atan},      [TAUT_OP_SINH] = {1, next_sinh_cosh},
    [TAUT_OP_COSH] = {1, next_sinh_cosh}, [TAUT_OP_TANH] = {1, next_tanh},
    [TAUT_OP_ABS] = {0, next_abs},        [TAUT_OP_SIGN] = {0, next_nothing},
    [TAUT_OP_FLOOR] = {0, next_nothing},  [TAUT_OP_ROUND] = {0, next_nothing},
    [TAUT_OP_CURVE] = {2, next_curve},    [TAUT_OP_ADD] = {0, next_add},
    [TAUT_OP_SUB] = {0, next_sub},        [TAUT_OP_MUL] = {0, next_mul},
    [TAUT_OP_DIV] = {0, next_div},        [TAUT_OP_DIVZ] = {0, next_divz},
    [TAUT_OP_POW] = {2, next_pow},        [TAUT_OP_ATAN2] = {1, next_atan2},
    [TAUT_OP_HYPOT] = {0, next_hypot},    [TAUT_OP_MIN] = {0, next_min},
    [TAUT_OP_MAX] = {0, next_max},        [TAUT_OP_MOD] = {0, next_mod},
    [TAUT_OP_LT] = {0, next_nothing},     [TAUT_OP_LE] = {0, next_nothing},
    [TAUT_OP_EQ] = {0, next_nothing},     [TAUT_OP_NE] = {0, next_nothing},
    [TAUT_OP_AND] = {0, next_nothing},    [TAUT_OP_OR] = {0, next_nothing},
    [TAUT_OP_SELECT] = {0, next_select},
};

int taut_jet_companions(taut_op op)
{
    return (unsigned)op < TAUT_OP_COUNT ? rules[op].companions : 0;
}

/* Coefficient 0 of a companion, from a = a_0, b = b_0 and the result. */
static double companion_start(taut_op op, double a, double b, double result)
{
    switch (op) {
    case TAUT_OP_SIN: return cos(a);
    case TAUT_OP_COS: return sin(a);
    case TAUT_OP_TAN: return 1 + result * result;
    case TAUT_OP_ASIN:
    case TAUT_OP_ACOS: return sqrt((1 - a) * (1 + a));
    case TAUT_OP_ATAN: return 1 + a * a;
    case TAUT_OP_SINH: return cosh(a);
    case TAUT_OP_COSH: return sinh(a);
    case TAUT_OP_TANH: return 1 / (cosh(a) * cosh(a));
    case TAUT_OP_ATAN2: return a * a + b * b;
    case TAUT_OP_POW: return log(a);
    default: return 0; /* of a curve: (a - a_0)^2 */
    }
}

static void start_companions(const jet *s, const taut_instruction *in)
{
    const bool two = taut_op_table[in->op].arity == 2;
    const double *a = row(s, in->a, 0), *b = two ? row(s, in->b, 0) : a,
                 *result = row(s, in->to, 0);
    double *first = row(s, in->companion, 0);
    for (int l = 0; l < s->n; l++)
        first[l] = companion_start((taut_op)in->op, a[l], b[l], result[l]);
    if (taut_jet_companions((taut_op)in->op) < 2)
        return;
    double *second = row(s, in->companion + 1, 0);
    for (int l = 0; l < s->n; l++)
        second[l] = in->op == TAUT_OP_POW ? b[l] * first[l] : 0;
}

void taut_tape_jet_prepare(const taut_tape *tape, int orders, int lanes, double *regs)
{
    const size_t block = (size_t)(tape->registers + tape->companions) * (size_t)lanes;
    const size_t first = (size_t)tape->inputs * (size_t)lanes,
                 count = (size_t)tape->constants * (size_t)lanes;
    taut_tape_prepare(tape, lanes, regs);
    for (int order = 1; order < orders; order++)
        memset(regs + (size_t)order * block + first, 0, count * sizeof(double));
}

/* Order 0 by the interpreter: all registers are needed, and the compiled form writes outputs only.
 */
static void run(const jet *s, int level, double *regs)
{
    const taut_tape *tape = s->tape;
    const taut_instruction *code = tape->code, *end = code + tape->level_end[level];
    assert(level >= 0 && level < TAUT_LEVELS && s->k >= 0 && s->k <= TAUT_JET_ORDER_MAX);
    if (s->k > 0) {
        for (; code < end; code++)
            rules[code->op].next(s, code);
        return;
    }
    taut_tape interpreted = *tape;
    interpreted.native = NULL;
    interpreted.native_one = NULL;
    taut_tape_run(&interpreted, level, (int)s->lanes, s->n, regs);
    for (; code < end; code++)
        if (rules[code->op].companions)
            start_companions(s, code);
}

void taut_tape_jet_run(const taut_tape *tape, int level, int order, int lanes, int n, double *regs)
{
    const size_t block = (size_t)(tape->registers + tape->companions) * (size_t)lanes;
    run(&(jet){tape, regs, (size_t)lanes, block, n, order, NULL}, level, regs);
}

/* ---- of what is kept (jet_slots.c) */

void taut_tape_jet_run_kept(const taut_tape *tape, int level, int order, int lanes, int n,
                            const taut_jet_places *places)
{
    const int32_t all = tape->registers + tape->companions;
    const size_t width = (size_t)lanes;
    double *regs = order == 0 ? places->first : places->later;
    double *kept = places->kept + (size_t)order * (size_t)places->count * width;
    run(&(jet){tape, regs, width, 0, n, order, places}, level, regs);
    for (int32_t r = 0; r < all; r++)
        if (places->slot[r] >= 0)
            memcpy(kept + (size_t)places->slot[r] * width, regs + (size_t)r * width,
                   (size_t)n * sizeof(double));
}
