/* tuned_weights.c - frequency-tuned weights.
 *
 * Verlet samples a linear oscillation as cos(j theta), 2 sin(theta/2) = h omega, and weights w_j
 * turn it into W(theta) times itself, with W(theta) = sum_j w_j cos(j theta), a polynomial in
 * cos(theta) (docs/theory.md, Filters). Wanted: sum_j w_j = 1, sum_j w_j j^(2i) = 0 for 2i < mu,
 * and
 *
 *     few frequencies:
 *     W(theta_k) = 0, the rest minimises sum_k W'(theta_k)^2 + rho sum_j w_j^2
 *     (frequencies change with the state)
 *     many:              max over [theta_1, theta_K] of |W| as small as can be,
 *     by reweighted least squares [Lawson 1961].
 *
 * Both are least squares with linear conditions, hence one small symmetric system. */
#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "filter/filter_kernels.h"

enum { ROWS = TAUT_TUNED_STEPS + 1 + TAUT_TUNED_ZEROS + 5, GRID = 4 * TAUT_TUNED_STEPS };

typedef struct problem {
    int steps, moments; /* mu */
    int size;           /* unknowns steps + 1, then conditions */
    double a[ROWS][ROWS], b[ROWS];
} problem;

/* Adds weight * (row . w)^2 to what is minimised. */
static void add_square(problem *p, const double *row, double weight)
{
    for (int i = 0; i <= p->steps; i++)
        for (int j = 0; j <= p->steps; j++)
            p->a[i][j] += weight * row[i] * row[j];
}

static void add_condition(problem *p, const double *row, double value)
{
    for (int j = 0; j <= p->steps; j++)
        p->a[p->size][j] = p->a[j][p->size] = row[j];
    p->b[p->size++] = value;
}

static void response_row(int steps, double theta, double *row)
{
    for (int j = 0; j <= steps; j++)
        row[j] = (j ? 2 : 1) * cos(j * theta);
}

/* Moments, scaled by the number of steps, and rho sum w^2. */
static void begin(problem *p, int moments, int steps)
{
    const double rho = 1e-3;
    memset(p, 0, sizeof *p);
    *p = (problem){.steps = steps, .moments = moments, .size = steps + 1};
    for (int j = 0; j <= steps; j++)
        p->a[j][j] = rho * (j ? 2 : 1);
    for (int power = 0; power < moments; power += 2) {
        double row[ROWS];
        for (int j = 0; j <= steps; j++)
            row[j] = (j ? 2 : 1) * pow((double)j / steps, power);
        add_condition(p, row, power == 0);
    }
}

/* The sum of all is 1 to rounding. */
static void take(const problem *p, double *weight)
{
    double sum = 0;
    for (int j = 1; j <= p->steps; j++) {
        weight[j] = p->b[j];
        sum += 2 * weight[j];
    }
    weight[0] = 1 - sum;
}

static double zeros(problem *p, int moments, int count, const double *theta, int steps,
                    double *weight)
{
    const double curb = 1e-5;  /* against sums of large weights */
    const double spread = 0.1; /* a frequency that is off by this share */
    double row[ROWS], most = 0;
    begin(p, moments, steps);
    for (int k = 0; k < count; k++) {
        for (int j = 0; j <= steps; j++)
            row[j] = -2 * j * sin(j * theta[k]) * theta[k];
        add_square(p, row, curb);
        response_row(steps, theta[k], row);
        add_condition(p, row, 0);
    }
    if (!taut_filter_solve(p->size, ROWS, p->a[0], p->b))
        return INFINITY;
    take(p, weight);
    for (int k = 0; k < count; k++)
        for (int side = -1; side <= 1; side += 2)
            most = fmax(most, fabs(taut_filter_kernel_response(steps, weight,
                                                               theta[k] * (1 + side * spread))));
    return most;
}

static double band(problem *p, int moments, double least, double most, int steps, double *weight)
{
    enum { ROUNDS = 12 };
    double share[GRID], row[ROWS], largest = INFINITY;
    int points = 4 * steps;
    for (int i = 0; i < points; i++)
        share[i] = 1.0 / points;
    for (int round = 0; round < ROUNDS; round++) {
        begin(p, moments, steps);
        for (int i = 0; i < points; i++) {
            response_row(steps, least + (most - least) * i / (points - 1), row);
            add_square(p, row, share[i]);
        }
        if (!taut_filter_solve(p->size, ROWS, p->a[0], p->b))
            return largest;
        double total = 0, found = 0, left[GRID];
        double before[TAUT_TUNED_STEPS + 1];
        take(p, before);
        for (int i = 0; i < points; i++) {
            left[i] = fabs(taut_filter_kernel_response(steps, before,
                                                       least + (most - least) * i / (points - 1)));
            found = fmax(found, left[i]);
            total += share[i] * left[i];
        }
        if (found < largest) {
            largest = found;
            taut_copy(steps + 1, before, weight);
        }
        for (int i = 0; i < points && total > 0; i++)
            share[i] *= left[i] / total;
    }
    return largest;
}

double taut_tuned_weights(int moments, int count, const double *theta, bool complete, int steps,
                          double *weight)
{
    problem p;
    int room = steps + 1 - (moments + 1) / 2;
    if (room < 1 || steps > TAUT_TUNED_STEPS || count < 1)
        return INFINITY;
    if (complete && count <= room && count <= TAUT_TUNED_ZEROS)
        return zeros(&p, moments, count, theta, steps, weight);
    return band(&p, moments, theta[0], theta[count - 1], steps, weight);
}

double taut_tuned_sum(int steps, const double *weight)
{
    double sum = fabs(weight[0]);
    for (int j = 1; j <= steps; j++)
        sum += 2 * fabs(weight[j]);
    return sum;
}
