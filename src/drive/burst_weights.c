/* burst_weights.c - value and slope of the slow motion at the beginning of a burst.
 *
 *     z_j = p(j) + sum of c mu^j over fast parts,    least <= mu <= most,  p of degree d >= 3
 *
 * With A(E) = prod_k (E - mu_k)/(1 - mu_k), E z_j = z_(j+1), mu_k the zeros of Chebyshev's
 * polynomial on [least, most], the sums u = A z have almost no fast parts, and A p + O(slow
 * motion's difference of order d + 1) else. r, the polynomial of degree d through d + 1 of u, gives
 * p:
 *
 *     p = A(e^D)^-1 r = r + b_1 r' + b_2 r'' + ...,     D = d/dj
 *
 * A sample more is a zero more, by which fast parts fall faster than by their decay; but the
 * weights grow, with them what rounding makes of the slope, and this limits their number. Where the
 * flow has noise, a line is fitted to the last samples instead. */
#include "drive/burst_weights.h"

#include <math.h>

enum { MOST_DEGREE = 6 };

int taut_burst_window(const taut_burst_fit *fit, int last)
{
    int W = fit->line ? fit->window : last - fit->skip;
    return W < fit->degree ? fit->degree : W > fit->window ? fit->window : W;
}

static void fit_line(int W, int last, double *value, double *slope)
{
    double centre = last - W / 2.0, square = W * (W + 1) * (W + 2) / 12.0;
    for (int j = 0; j <= W; j++) {
        slope[j] = (j - W / 2.0) / square;
        value[j] = 1.0 / (W + 1) - centre * slope[j];
    }
}

/* Coefficients a[zeros + 1] of A, and b[degree + 1] of the inverse of A(e^D). */
static void annihilator(const taut_burst_fit *fit, int zeros, double *a, double *b)
{
    double moment[MOST_DEGREE + 1] = {0};
    a[0] = 1;
    for (int k = 0; k < zeros; k++) {
        double mu = (fit->least + fit->most) / 2 +
                    (fit->most - fit->least) / 2 * cos(acos(-1) * (k + 0.5) / zeros);
        a[k + 1] = 0;
        for (int j = k + 1; j >= 0; j--)
            a[j] = ((j > 0 ? a[j - 1] : 0) - mu * a[j]) / (1 - mu);
    }
    for (int k = 0; k <= zeros; k++) {
        double power = a[k];
        for (int n = 0; n <= fit->degree; n++) { /* a_k k^n/n! */
            moment[n] += power;
            power *= k / (n + 1.0);
        }
    }
    for (int n = 0; n <= fit->degree; n++) {
        b[n] = n == 0;
        for (int m = 1; m <= n; m++)
            b[n] -= moment[m] * b[n - m];
    }
}

/* d[n]: n-th derivative at 0 of the polynomial of this degree that is 1 at first + i, and 0 at the
 * other points. */
static void lagrange(int degree, int first, int i, double *d)
{
    for (int n = 0; n <= degree + 1; n++)
        d[n] = n == 0;
    for (int m = 0; m <= degree; m++)
        for (int n = degree; n >= 0 && m != i; n--)
            d[n] = ((n > 0 ? n * d[n - 1] : 0) - (first + m) * d[n]) / (i - m);
}

void taut_burst_weights(const taut_burst_fit *fit, int last, double *value, double *slope)
{
    const int W = taut_burst_window(fit, last), zeros = W - fit->degree;
    double a[TAUT_BURST_WINDOW + 1], b[MOST_DEGREE + 1], d[MOST_DEGREE + 2];
    if (fit->line) {
        fit_line(W, last, value, slope);
        return;
    }
    annihilator(fit, zeros, a, b);
    for (int j = 0; j <= W; j++)
        value[j] = slope[j] = 0;
    for (int i = 0; i <= fit->degree; i++) {
        double v = 0, s = 0;
        lagrange(fit->degree, last - W, i, d);
        for (int n = 0; n <= fit->degree; n++) {
            v += b[n] * d[n];
            s += b[n] * d[n + 1];
        }
        for (int k = 0; k <= zeros; k++) {
            value[i + k] += v * a[k];
            slope[i + k] += s * a[k];
        }
    }
}

/* Rates change along the motion: those of the initial state may become smaller. */
static const double SLOWER = 0.65;

/* What noise makes of the slope over the time of a leap, in tenths of the tolerance. */
static double noise_error(const taut_burst_facts *facts, const taut_burst_fit *fit)
{
    double value[TAUT_BURST_WINDOW + 1], slope[TAUT_BURST_WINDOW + 1], square = 0;
    taut_burst_weights(fit, fit->window + fit->skip, value, slope);
    for (int j = 0; j <= fit->window; j++)
        square += slope[j] * slope[j];
    return facts->noise * sqrt(square) * facts->time / (0.1 * facts->tolerance);
}

static void choose(const taut_burst_facts *facts, int degree, taut_burst_fit *fit)
{
    double least = exp(-facts->fastest), most = exp(-SLOWER * facts->slowest);
    *fit = (taut_burst_fit){
        .degree = degree, .window = degree, .skip = 1, .least = least, .most = most};
    double error = noise_error(facts, fit);
    for (taut_burst_fit more = *fit; more.window < TAUT_BURST_WINDOW;) {
        more.window++;
        if (noise_error(facts, &more) > 1)
            break;
        *fit = more;
    }
    /* Chebyshev: a zero divides by rho; what is left decays. A polynomial leaves the next term. */
    double x = (2 - least - most) / (most - least),
           rest = log(facts->time / facts->tolerance) - (fit->window - degree) * acosh(fmax(x, 1)),
           samples = fit->window + fit->skip + fmax(0, rest) / (SLOWER * facts->slowest),
           term = pow(facts->slow * samples, degree) / (degree + 1) * facts->slow * facts->time;
    fit->samples = samples;
    fit->excess = fmax(1, fmax(error, term / facts->tolerance));
}

void taut_burst_choose(const taut_burst_facts *facts, taut_burst_fit *fit)
{
    choose(facts, TAUT_BURST_DEGREE, fit);
    for (int degree = TAUT_BURST_DEGREE + 1; degree <= MOST_DEGREE && fit->excess > 1; degree++) {
        taut_burst_fit other;
        choose(facts, degree, &other);
        *fit = other.excess < fit->excess ? other : *fit;
    }
}
