/* truncation_error.c - what is left of an expansion of slow motion that is cut. Expansions in
 * the compliance [B Theorem 2.2] are asymptotic: terms shrink while the derivatives of the slow
 * motion grow by less than the frequency of the springs, and grow from there on. Slow motion is
 * defined no better than its smallest terms; other constructions of it differ by as much
 * (tests/test_slow_judge.c measures that). */
#include "slow/truncation_error.h"

#include <math.h>
#include <stdbool.h>

double taut_truncation_rate(double q, double v, double a, double b)
{
    double low = 0, high = 1;
    if (!(q + v > 0 && a + b > 0 && isfinite(a + b)))
        return 0;
    while (high < 1e150 && (q * high + v) * high * high < a * high + b)
        high *= 16;
    for (int k = 0; k < 200 && high > low * (1 + 1e-3); k++) {
        double middle = low > 0 ? sqrt(low * high) : high / 16;
        if ((q * middle + v) * middle * middle < a * middle + b)
            low = middle;
        else
            high = middle;
        if (high < 1e-150)
            break;
    }
    return high;
}

static void push(double *term, double now)
{
    term[2] = term[1];
    term[1] = term[0];
    term[0] = now;
}

void taut_truncation_push(taut_truncation *t, double step, double q, double v)
{
    push(t->step, step);
    push(t->q, q);
    push(t->v, v);
    t->levels++;
}

/* The larger ratio of neighbouring terms before the last one, of those above rounding; 1 when
 * there is none. */
static double shrinking(const taut_truncation *t)
{
    bool q = t->q[2] > t->floor_q, v = t->v[2] > t->floor_v;
    return q || v ? fmax(q ? t->q[1] / t->q[2] : 0, v ? t->v[1] / t->v[2] : 0) : 1;
}

double taut_truncation_tail(const taut_truncation *t, const double *term, double next)
{
    if (isnan(next))
        next = t->levels < 3 ? term[0] : term[1] * shrinking(t);
    return 2 * fmax(term[0], fmin(term[1], next));
}

void taut_truncation_errors(const taut_truncation *t, double rate, double frequency, double next_q,
                            double next_v, double *q, double *v)
{
    double in_q = taut_truncation_tail(t, t->q, next_q),
           in_v = taut_truncation_tail(t, t->v, next_v);
    *q = frequency > 0 ? fmax(in_q, sqrt(in_q * (in_v / frequency))) : in_q;
    *v = fmax(fmax(in_v, sqrt(in_v * (in_q * frequency))), rate * in_q);
}
