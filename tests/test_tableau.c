/* test_tableau.c - the coefficients of explicit Runge-Kutta methods: every order condition of
 * every order they claim, by rooted trees [Hairer, Norsett, Wanner I, II.2, Theorem 2.13]; the
 * same for their estimates and dense output. */
#include "step/tableau.h"
#include "support/table.h"

enum { MOST_ORDER = 9 };

typedef struct weights { /* a Runge-Kutta method: any number of stages up to 16 */
    int stages;
    double a[TAUT_TABLEAU_WIDTH][TAUT_TABLEAU_WIDTH], b[TAUT_TABLEAU_WIDTH];
} weights;

/* phi[i] = product over the children of sum_j a_ij phi_j(child); returns gamma. `level` is the
 * tree as a level sequence of n nodes. */
static double tree(const weights *w, const int *level, int n, double *phi)
{
    double gamma = n;
    for (int i = 0; i < w->stages; i++)
        phi[i] = 1;
    for (int first = 1, next; first < n; first = next) {
        next = first + 1;
        while (next < n && level[next] > level[first])
            next++;
        double child[TAUT_TABLEAU_WIDTH];
        gamma *= tree(w, level + first, next - first, child);
        for (int i = 0; i < w->stages; i++) {
            double sum = 0;
            for (int j = 0; j < w->stages; j++)
                sum += w->a[i][j] * child[j];
            phi[i] *= sum;
        }
    }
    return gamma;
}

/* The next tree in the order of Beyer and Hedetniemi 1980; false after the last. */
static bool next_tree(int *level, int n)
{
    int p = n - 1;
    while (p > 0 && level[p] == 2)
        p--;
    if (p <= 0)
        return false;
    int q = p - 1;
    while (level[q] != level[p] - 1)
        q--;
    for (int i = p; i < n; i++)
        level[i] = level[i - (p - q)];
    return true;
}

/* Largest violation of the conditions of order n, sum b phi = theta^n / gamma; *count says how
 * many there are. */
static double violation(const weights *w, int n, double theta, int *count)
{
    int level[MOST_ORDER];
    double worst = 0, phi[TAUT_TABLEAU_WIDTH];
    for (int i = 0; i < n; i++)
        level[i] = i + 1;
    *count = 0;
    do {
        double gamma = tree(w, level, n, phi), sum = 0;
        for (int i = 0; i < w->stages; i++)
            sum += w->b[i] * phi[i];
        worst = fmax(worst, fabs(sum - pow(theta, n) / gamma));
        ++*count;
    } while (next_tree(level, n));
    return worst;
}

/* All k of a tableau: stages, the end, the extra ones. */
static weights extended(const taut_tableau *table)
{
    weights w = {.stages = table->stages + 1 + table->extra};
    for (int i = 0; i < w.stages; i++)
        for (int j = 0; j < table->width; j++)
            w.a[i][j] = table->a[i * table->width + j];
    return w;
}

static void check_order(const char *what, const weights *w, int order, double theta,
                        double tolerance)
{
    static const int trees[MOST_ORDER] = {0, 1, 1, 2, 4, 9, 20, 48, 115};
    int count;
    for (int n = 1; n <= order; n++) {
        double worst = violation(w, n, theta, &count);
        check_row(worst <= tolerance, "%s: conditions of order %d violated by %g", what, n, worst);
        check_equal("number of trees", count, trees[n]);
    }
    if (order + 1 < MOST_ORDER)
        check_row(violation(w, order + 1, theta, &count) > 1e-7, "%s: is of order %d and not of %d",
                  what, order, order + 1);
}

/* b(theta) of continuous.c's form. */
static void dense_weights(const taut_tableau *table, double theta, double *b)
{
    const double *end = table->a + table->stages * table->width;
    for (int i = 0; i <= table->stages + table->extra; i++) {
        double first = i == 0, last = i == table->stages, weight = i < table->width ? end[i] : 0,
               f[8], value = 0;
        int rows = 3 + table->dense_rows;
        f[0] = weight;
        f[1] = first - weight;
        f[2] = 2 * weight - first - last;
        for (int j = 3; j < rows; j++)
            f[j] = table->dense[(j - 3) * table->width + i];
        for (int j = rows - 1; j >= 0; j--)
            value = (value + f[j]) * (j % 2 ? 1 - theta : theta);
        b[i] = value;
    }
}

static void test_coefficients(void)
{
    static const struct {
        const char *name;
        const taut_tableau *table;
        int order, error, error_3, dense; /* orders; 0: there is none */
    } rows[] = {{"euler", &taut_tableau_euler, 1, 0, 0, 1},
                {"midpoint", &taut_tableau_midpoint, 2, 0, 0, 2},
                {"rk4", &taut_tableau_rk4, 4, 0, 0, 3},
                {"dopri5", &taut_tableau_dopri5, 5, 4, 0, 4},
                {"dop8", &taut_tableau_dop8, 8, 5, 3, 7}};
    check_group("coefficients");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        const taut_tableau *table = rows[k].table;
        weights w = extended(table);
        const double *b = table->a + table->stages * table->width;
        for (int i = 0; i < w.stages; i++) {
            double sum = 0;
            for (int j = 0; j < table->width; j++)
                sum += w.a[i][j];
            check_row(fabs(sum - table->c[i]) <= 1e-14 * 100,
                      "%s: row %d adds up to %.17g, c is %.17g", rows[k].name, i, sum, table->c[i]);
        }
        memcpy(w.b, b, (size_t)table->stages * sizeof *b);
        check_order(rows[k].name, &w, rows[k].order, 1, 2e-14);
        const double *error[2] = {table->error, table->error_3};
        int order[2] = {rows[k].error, rows[k].error_3};
        for (int e = 0; e < 2; e++) {
            check_row(!error[e] == !order[e], "%s: estimate %d is there or not", rows[k].name, e);
            for (int i = 0; error[e] && i <= table->stages; i++)
                w.b[i] = (i < table->stages ? b[i] : 0) - error[e][i];
            if (error[e])
                check_order("embedded", &w, order[e], 1, 2e-14);
        }
        for (int e = 1; e < 4; e++) {
            dense_weights(table, e / 4., w.b);
            check_order("dense output", &w, rows[k].dense, e / 4., 1e-13);
        }
    }
}

int main(void)
{
    test_coefficients();
    return check_done();
}
