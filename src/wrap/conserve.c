/* conserve.c - see conserve.h. */
#include "wrap/conserve.h"

#include <float.h>
#include <math.h>

#include "base/vectors.h"
#include "system/conserved.h"

enum { MOST_INVARIANTS = 32 };
static const double DEPENDENT = 1e-10; /* pivots of A below this share of its diagonal */

struct taut_conserve {
    taut_context *context;
    taut_index n, rows, bonds;   /* rigid ones */
    taut_pattern pattern;        /* of H */
    double *kept, *value, *rate; /* [rows] */
    double *entries;             /* H */
    double *way, *reaction;      /* P^T H^T: [2 rows][n], positions first; [2 rows][rigid bonds] */
    double *gram, *factor, *right; /* A and its factor, [rows][rows]; [rows] */
    double most_q, most_v;         /* largest traces of the two parts of A */
};

int taut_conserve_create(taut_context *context, taut_arena *arena, taut_index bonds,
                         taut_conserve **conserve, taut_error *error)
{
    taut_pattern pattern;
    taut_index rows = taut_conserved_rows(taut_context_system(context), &pattern);
    *conserve = NULL;
    if (rows == 0)
        return TAUT_OK;
    if (rows > MOST_INVARIANTS)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "at most %d invariants of a mechanical system can be kept; there are %d",
                         MOST_INVARIANTS, (int)rows);
    taut_conserve *w = TAUT_NEW(arena, taut_conserve, 1);
    TAUT_NEED(error, w);
    w->context = context;
    w->rows = rows;
    w->bonds = bonds;
    w->pattern = pattern;
    w->n = pattern.columns / 2;
    TAUT_TRY(TAUT_RESERVE(arena, rows, error, &w->kept, &w->value, &w->rate, &w->right));
    TAUT_TRY(TAUT_RESERVE(arena, pattern.start[rows], error, &w->entries));
    TAUT_TRY(TAUT_RESERVE(arena, 2 * (int64_t)rows * w->n, error, &w->way));
    TAUT_TRY(TAUT_RESERVE(arena, 2 * (int64_t)rows * bonds, error, &w->reaction));
    TAUT_TRY(TAUT_RESERVE(arena, (int64_t)rows * rows, error, &w->gram, &w->factor));
    *conserve = w;
    return TAUT_OK;
}

int taut_conserve_begin(taut_conserve *w, double t, const double *q, const double *v,
                        taut_error *error)
{
    w->most_q = w->most_v = 0;
    return taut_conserved_evaluate(w->context, t, q, v, w->kept, NULL, NULL, error);
}

void taut_conserve_archive(taut_conserve *w, taut_archive *archive)
{
    taut_archive_reals(archive, w->kept, w->rows);
    taut_archive_real(archive, &w->most_q);
    taut_archive_real(archive, &w->most_v);
}

/* Part of row i of H times x[n]: positions (part 0) or velocities (1). */
static double row_times(const taut_conserve *w, taut_index i, int part, const double *x)
{
    double sum = 0;
    for (taut_index e = w->pattern.start[i]; e < w->pattern.start[i + 1]; e++) {
        taut_index c = w->pattern.column[e] - (part ? w->n : 0);
        if (c >= 0 && c < w->n)
            sum += w->entries[e] * x[c];
    }
    return sum;
}

/* The directions M^-1 P^T H^T, for positions and velocities apart. */
static int find_ways(taut_conserve *w, taut_saddle *saddle, taut_error *error)
{
    taut_clear(2 * (int64_t)w->rows * w->n, w->way);
    taut_clear(2 * (int64_t)w->rows * w->bonds, w->reaction);
    for (taut_index i = 0; i < w->rows; i++)
        for (taut_index e = w->pattern.start[i]; e < w->pattern.start[i + 1]; e++) {
            taut_index c = w->pattern.column[e];
            bool velocity = c >= w->n;
            w->way[((velocity ? w->rows : 0) + i) * (int64_t)w->n + (velocity ? c - w->n : c)] +=
                w->entries[e];
        }
    return taut_saddle_solve(saddle, 2 * w->rows, w->way, w->reaction, error);
}

/* gram = A; returns 1/tau^2. */
static double form_gram(taut_conserve *w)
{
    taut_index k = w->rows;
    double part[2] = {0, 0};
    for (int p = 0; p < 2; p++)
        for (taut_index i = 0; i < k; i++)
            part[p] += row_times(w, i, p, w->way + (p * k + i) * (int64_t)w->n);
    w->most_q = fmax(w->most_q, part[0]);
    w->most_v = fmax(w->most_v, part[1]);
    double weight = w->most_q > 0 && w->most_v > 0 ? w->most_q / w->most_v : 1;
    for (taut_index i = 0; i < k; i++)
        for (taut_index j = 0; j < k; j++)
            w->gram[i * k + j] = row_times(w, i, 0, w->way + j * (int64_t)w->n) +
                                 weight * row_times(w, i, 1, w->way + (k + j) * (int64_t)w->n);
    return weight;
}

/* right <- A^-1 right by Cholesky's factorisation; invariants that depend on others here (at an
 * equilibrium, for instance) get 0. */
static void solve_gram(taut_conserve *w)
{
    taut_index k = w->rows;
    double *l = w->factor;
    for (taut_index j = 0; j < k; j++) {
        double pivot = w->gram[j * k + j], first = pivot;
        for (taut_index i = 0; i < j; i++)
            pivot -= l[j * k + i] * l[j * k + i];
        bool good = pivot > DEPENDENT * first;
        l[j * k + j] = good ? sqrt(pivot) : 0;
        for (taut_index r = j + 1; r < k; r++) {
            double sum = w->gram[r * k + j];
            for (taut_index i = 0; i < j; i++)
                sum -= l[r * k + i] * l[j * k + i];
            l[r * k + j] = good ? sum / l[j * k + j] : 0;
        }
    }
    for (taut_index j = 0; j < k; j++) {
        for (taut_index i = 0; i < j; i++)
            w->right[j] -= l[j * k + i] * w->right[i];
        w->right[j] = l[j * k + j] > 0 ? w->right[j] / l[j * k + j] : 0;
    }
    for (taut_index j = k; j-- > 0;) {
        for (taut_index r = j + 1; r < k; r++)
            w->right[j] -= l[r * k + j] * w->right[r];
        w->right[j] = l[j * k + j] > 0 ? w->right[j] / l[j * k + j] : 0;
    }
}

/* What rounding of q and v may leave of invariant i. */
static double rounding(const taut_conserve *w, taut_index i, const double *q, const double *v)
{
    double sum = fabs(w->kept[i]);
    for (taut_index e = w->pattern.start[i]; e < w->pattern.start[i + 1]; e++) {
        taut_index c = w->pattern.column[e];
        sum += fabs(w->entries[e] * (c < w->n ? q[c] : v[c - w->n]));
    }
    return DBL_EPSILON * sum + DBL_MIN;
}

int taut_conserve_step(taut_conserve *w, taut_saddle *saddle, double t, double *q, double *v,
                       double *off, taut_error *error)
{
    taut_index k = w->rows;
    *off = 0;
    TAUT_TRY(taut_conserved_evaluate(w->context, t, q, v, w->value, w->entries, NULL, error));
    for (taut_index i = 0; i < k; i++) {
        w->right[i] = w->value[i] - w->kept[i];
        *off = fmax(*off, fabs(w->right[i]) / rounding(w, i, q, v));
    }
    if (*off <= 1)
        return TAUT_OK;
    TAUT_TRY(find_ways(w, saddle, error));
    double weight = form_gram(w);
    solve_gram(w);
    for (taut_index i = 0; i < k; i++) {
        taut_add_scaled(w->n, -w->right[i], w->way + i * (int64_t)w->n, q);
        taut_add_scaled(w->n, -weight * w->right[i], w->way + (k + i) * (int64_t)w->n, v);
    }
    return TAUT_OK;
}

int taut_conserve_verify(taut_conserve *w, double t, const double *q, const double *v,
                         const double *a, double share, const char *motion, taut_error *error)
{
    TAUT_TRY(taut_conserved_evaluate(w->context, t, q, v, w->value, w->entries, w->rate, error));
    for (taut_index i = 0; i < w->rows; i++) {
        double size = fabs(w->rate[i]), sum = w->rate[i];
        for (taut_index e = w->pattern.start[i]; e < w->pattern.start[i + 1]; e++) {
            taut_index c = w->pattern.column[e];
            double term = w->entries[e] * (c < w->n ? v[c] : a[c - w->n]);
            sum += term;
            size += fabs(term);
        }
        if (fabs(sum) <= share * size)
            continue;
        char name[96];
        taut_conserved_name(taut_context_system(w->context), i, name, sizeof name);
        return taut_fail(
            error, TAUT_ERROR_REFUSED,
            "'%s' of [invariants] is not constant in motion %s: at t = %.9g its rate is "
            "%.3g, the sum of terms of size %.3g. Correct it, omit it, or choose "
            "another motion",
            name, motion, t, sum, size);
    }
    return TAUT_OK;
}
