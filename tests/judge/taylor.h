/* taylor.h - truncated Taylor series in extended precision, made without recurrences: a
 * function's expansion at a_0 is written down and composed with the argument's series by
 * Horner's rule. Oracles for tests of jets. */
#ifndef TAUT_TESTS_JUDGE_TAYLOR_H
#define TAUT_TESTS_JUDGE_TAYLOR_H

#include <math.h>

#include <taut/taut.h>

typedef long double real;
enum { N = TAUT_JET_ORDER_MAX + 1 };
typedef struct series {
    real c[N];
} series;

static inline series constant(real value)
{
    return (series){{value}};
}

static inline series add(series a, series b, real factor)
{
    for (int k = 0; k < N; k++)
        a.c[k] += factor * b.c[k];
    return a;
}

static inline series multiply(series a, series b)
{
    series c = {{0}};
    for (int i = 0; i < N; i++)
        for (int j = 0; i + j < N; j++)
            c.c[i + j] += a.c[i] * b.c[j];
    return c;
}

static inline series scale(series a, real factor)
{
    return add((series){{0}}, a, factor);
}

/* f(a(t)) where f(a_0 + w) = sum f_n w^n */
static inline series compose(const real *f, series a)
{
    a.c[0] = 0;
    series c = constant(f[N - 1]);
    for (int n = N - 2; n >= 0; n--) {
        c = multiply(c, a);
        c.c[0] += f[n];
    }
    return c;
}

static inline series derivative(series a)
{
    for (int k = 0; k + 1 < N; k++)
        a.c[k] = (k + 1) * a.c[k + 1];
    a.c[N - 1] = 0; /* not known */
    return a;
}

static inline series integral(series a, real start)
{
    for (int k = N - 1; k > 0; k--)
        a.c[k] = a.c[k - 1] / k;
    a.c[0] = start;
    return a;
}

/* (a_0 + w)^b = sum binomial(b, n) a_0^(b-n) w^n */
static inline series power(series a, real b)
{
    real f[N];
    f[0] = powl(a.c[0], b);
    for (int n = 1; n < N; n++)
        f[n] = f[n - 1] * (b - n + 1) / n / a.c[0];
    return compose(f, a);
}

static inline series exponential(series a)
{
    real f[N];
    f[0] = expl(a.c[0]);
    for (int n = 1; n < N; n++)
        f[n] = f[n - 1] / n;
    return compose(f, a);
}

static inline series logarithm(series a)
{
    real f[N];
    f[0] = logl(a.c[0]);
    for (int n = 1; n < N; n++)
        f[n] = (n % 2 ? 1 : -1) / (n * powl(a.c[0], n));
    return compose(f, a);
}

/* The n-th derivatives of sin run through sin, cos, -sin, -cos; `from` 1 begins at cos. */
static inline series circular(series a, int from)
{
    const real turn[4] = {sinl(a.c[0]), cosl(a.c[0]), -sinl(a.c[0]), -cosl(a.c[0])};
    real f[N], factorial = 1;
    for (int n = 0; n < N; n++) {
        f[n] = turn[(n + from) % 4] / factorial;
        factorial *= n + 1;
    }
    return compose(f, a);
}

static inline series of_neg(series a, series b)
{
    (void)b;
    return scale(a, -1);
}
static inline series of_sqrt(series a, series b)
{
    (void)b;
    return power(a, 0.5L);
}
static inline series of_exp(series a, series b)
{
    (void)b;
    return exponential(a);
}
static inline series of_log(series a, series b)
{
    (void)b;
    return logarithm(a);
}
static inline series of_sin(series a, series b)
{
    (void)b;
    return circular(a, 0);
}
static inline series of_cos(series a, series b)
{
    (void)b;
    return circular(a, 1);
}
static inline series of_tan(series a, series b)
{
    (void)b;
    return multiply(circular(a, 0), power(circular(a, 1), -1));
}
static inline series of_sinh(series a, series b)
{
    (void)b;
    return scale(add(exponential(a), exponential(scale(a, -1)), -1), 0.5L);
}
static inline series of_cosh(series a, series b)
{
    (void)b;
    return scale(add(exponential(a), exponential(scale(a, -1)), 1), 0.5L);
}
static inline series of_tanh(series a, series b)
{
    return multiply(of_sinh(a, b), power(of_cosh(a, b), -1));
}
static inline series of_asin(series a, series b)
{
    (void)b;
    return integral(multiply(derivative(a), power(add(constant(1), multiply(a, a), -1), -0.5L)),
                    asinl(a.c[0]));
}
static inline series of_acos(series a, series b)
{
    return add(constant(acosl(0)), of_asin(a, b), -1);
}

/* atan: f_n = cos^n(theta) sin(n (theta + pi/2)) / n,  theta = atan(a_0) */
static inline series of_atan(series a, series b)
{
    (void)b;
    const real theta = atanl(a.c[0]);
    real f[N];
    f[0] = theta;
    for (int n = 1; n < N; n++)
        f[n] = powl(cosl(theta), n) * sinl(n * (theta + acosl(0))) / n;
    return compose(f, a);
}
static inline series of_add(series a, series b)
{
    return add(a, b, 1);
}
static inline series of_sub(series a, series b)
{
    return add(a, b, -1);
}
static inline series of_mul(series a, series b)
{
    return multiply(a, b);
}
static inline series of_div(series a, series b)
{
    return multiply(a, power(b, -1));
}
static inline series of_pow(series a, series b)
{
    return exponential(multiply(b, logarithm(a)));
}
static inline series of_hypot(series a, series b)
{
    return power(add(multiply(a, a), multiply(b, b), 1), 0.5L);
}
static inline series of_atan2(series a, series b)
{
    series c = of_atan(of_div(a, b), b);
    c.c[0] = atan2l(a.c[0], b.c[0]);
    return c;
}

#endif
