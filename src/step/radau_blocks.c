/* radau_blocks.c - the saddle systems of the eigenvalues of A, which separate the stages: A = T
 * diag(mu) T^-1 [Hairer, Wanner II, IV.8].
 *
 * Vectors over the stages are multiplied with T^-1, solved for, eigenvalue by eigenvalue, and
 * multiplied with T. All of it is real but the systems of complex pairs, whose real and
 * imaginary parts are put together for the solver. */
#include "step/radau.h"

int taut_radau_blocks_create(taut_stepper *s, const taut_collocation *table,
                             const taut_saddle_shape *shape, taut_radau_blocks *to,
                             taut_error *error)
{
    taut_saddle_shape one = *shape;
    to->table = table;
    to->n = shape->n;
    to->m = shape->m;
    to->x = TAUT_NEW(s->arena, double, (int64_t)table->stages * to->n);
    to->y = TAUT_NEW(s->arena, double, (int64_t)table->stages * to->m);
    to->pair_x = TAUT_NEW(s->arena, double complex, to->n);
    to->pair_y = TAUT_NEW(s->arena, double complex, to->m);
    to->factor = TAUT_NEW(s->arena, double complex, (int64_t)table->blocks * to->m);
    if (!to->x || !to->y || !to->pair_x || !to->pair_y || !to->factor)
        return taut_fail_memory(error);
    for (int b = 0; b < table->blocks; b++) {
        one.complex_values = !table->real[b];
        TAUT_TRY(taut_saddle_create(&one, TAUT_BACKEND_AUTO, &s->arena->allocator, &to->saddle[b],
                                    error));
    }
    return TAUT_OK;
}

void taut_radau_blocks_destroy(taut_radau_blocks *blocks)
{
    for (int b = 0; b < TAUT_SPECTRAL_MAX; b++)
        taut_saddle_destroy(blocks->saddle[b]);
}

/* x, y: the real parts, behind them the imaginary ones. A complex number is its two parts in a
 * row. */
static int solve_pair(taut_radau_blocks *w, int b, double *x, double *y, taut_error *error)
{
    const double *factor = (const double *)(w->factor + (int64_t)b * w->m);
    double *p = (double *)w->pair_x, *z = (double *)w->pair_y;
    for (int64_t k = 0; k < w->n; k++) {
        p[2 * k] = x[k];
        p[2 * k + 1] = x[w->n + k];
    }
    for (int64_t i = 0; i < w->m; i++) {
        z[2 * i] = factor[2 * i] * y[i] - factor[2 * i + 1] * y[w->m + i];
        z[2 * i + 1] = factor[2 * i] * y[w->m + i] + factor[2 * i + 1] * y[i];
    }
    TAUT_TRY(taut_saddle_solve_complex(w->saddle[b], 1, w->pair_x, w->pair_y, error));
    for (int64_t k = 0; k < w->n; k++) {
        x[k] = p[2 * k];
        x[w->n + k] = p[2 * k + 1];
    }
    for (int64_t i = 0; i < w->m; i++) {
        y[i] = z[2 * i];
        y[w->m + i] = z[2 * i + 1];
    }
    return TAUT_OK;
}

static int solve_real(taut_radau_blocks *w, int b, double *x, double *y, taut_error *error)
{
    for (taut_index i = 0; i < w->m; i++)
        y[i] *= creal(w->factor[(int64_t)b * w->m + i]);
    return taut_saddle_solve(w->saddle[b], 1, x, y, error);
}

int taut_radau_blocks_solve(taut_stepper *s, taut_radau_blocks *w, double *r, double *c,
                            taut_error *error)
{
    const taut_collocation *table = w->table;
    taut_collocation_split(table, w->n, r, w->x);
    taut_collocation_split(table, w->m, c, w->y);
    for (int b = 0, row = 0; b < table->blocks; row += table->real[b] ? 1 : 2, b++) {
        double *x = w->x + (int64_t)row * w->n, *y = w->y + (int64_t)row * w->m;
        s->statistics->solves++;
        TAUT_TRY(table->real[b] ? solve_real(w, b, x, y, error) : solve_pair(w, b, x, y, error));
    }
    taut_collocation_join(table, w->n, w->x, r);
    taut_collocation_join(table, w->m, w->y, c);
    return TAUT_OK;
}
