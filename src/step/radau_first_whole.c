/* radau_first_whole.c - stage-wise Newton for first-order systems: df/dz, df/dy and dg/dz at
 * every predicted stage.
 *
 * With the unknowns U = A dk, so that dZ_i = h U_i, only A^-1 couples the stages:
 *     sum_j (A^-1)_ij U_j - h df/dz_i U_i - df/dy_i dy_i = f_i - k_i
 *     dg/dz_i U_i = -g_i / h
 * Where df/dy and dg/dz are nearly orthogonal [C example 1], their product changes within a step
 * more than one Jacobian for all stages can tell: iterations with it converge for steps of 1/nu
 * only, these for any. */
#include "step/radau_first.h"

#include <string.h>

static int make_patterns(taut_stepper *s, taut_first_whole *w, taut_error *error)
{
    int stages = w->table->stages;
    taut_index n = w->one.n, m = w->one.m, used = 0;
    int64_t tangents = w->one.k_start[n], both = w->one.g_start[m];
    int64_t count = stages * (tangents + (int64_t)(stages - 1) * n), entries = stages * both;
    if (count > INT32_MAX || entries > INT32_MAX || stages * ((int64_t)n + m) > INT32_MAX)
        return taut_fail(error, TAUT_ERROR_SIZE,
                         "--newton stage: all stages together are too large; use --newton tensor");
    w->k_start = TAUT_NEW(s->arena, taut_index, (int64_t)stages * n + 1);
    w->k_column = TAUT_NEW(s->arena, taut_index, count);
    w->g_start = TAUT_NEW(s->arena, taut_index, (int64_t)stages * m + 1);
    w->g_column = TAUT_NEW(s->arena, taut_index, entries);
    if (!w->k_start || !w->k_column || !w->g_start || !w->g_column)
        return taut_fail_memory(error);
    for (int i = 0; i < stages; i++)
        for (taut_index r = 0; r < n; r++) {
            for (int j = 0; j < stages; j++)
                if (j != i)
                    w->k_column[used++] = j * n + r;
                else
                    for (taut_index e = w->one.k_start[r]; e < w->one.k_start[r + 1]; e++)
                        w->k_column[used++] = j * n + w->one.k_column[e];
            w->k_start[i * n + r + 1] = used;
        }
    used = 0;
    for (int i = 0; i < stages; i++)
        for (taut_index b = 0; b < m; b++) {
            for (taut_index e = w->one.g_start[b]; e < w->one.g_start[b + 1]; e++)
                w->g_column[used++] = i * n + w->one.g_column[e];
            w->g_start[i * m + b + 1] = used;
        }
    return TAUT_OK;
}

int taut_first_whole_create(taut_stepper *s, const taut_collocation *table,
                            const taut_saddle_shape *one, const taut_index *from,
                            taut_first_whole *w, taut_error *error)
{
    *w = (taut_first_whole){.table = table, .one = *one, .from = from};
    TAUT_TRY(make_patterns(s, w, error));
    taut_index rows = table->stages * one->n, bonds = table->stages * one->m;
    const taut_radau_part parts[] = {{&w->k, w->k_start[rows]},
                                     {&w->g1, w->g_start[bonds]},
                                     {&w->g2, w->g_start[bonds]},
                                     {&w->u, rows}};
    TAUT_TRY(taut_radau_reserve(s, sizeof parts / sizeof parts[0], parts, error));
    taut_saddle_shape shape = {.n = rows,
                               .m = bonds,
                               .k_start = w->k_start,
                               .k_column = w->k_column,
                               .g_start = w->g_start,
                               .g_column = w->g_column};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &s->arena->allocator, &w->saddle, error);
}

void taut_first_whole_add(taut_first_whole *w, int i, double h, const double *force_dz,
                          const double *force_dy, const double *g)
{
    const taut_saddle_shape *one = &w->one;
    taut_index used = w->k_start[i * one->n];
    for (taut_index r = 0; r < one->n; r++)
        for (int j = 0; j < w->table->stages; j++) {
            double coupling = w->table->inverse[i][j];
            if (j != i)
                w->k[used++] = coupling;
            else
                for (taut_index e = one->k_start[r]; e < one->k_start[r + 1]; e++)
                    w->k[used++] = (one->k_column[e] == r ? coupling : 0) - h * force_dz[e];
        }
    used = w->g_start[i * one->m];
    for (taut_index e = 0; e < one->g_start[one->m]; e++, used++) {
        taut_index from = w->from[e];
        w->g1[used] = from < 0 ? -force_dy[-1 - from] : 0;
        w->g2[used] = from < 0 ? 0 : g[from];
    }
}

int taut_first_whole_factor(taut_stepper *s, taut_first_whole *w, taut_error *error)
{
    s->statistics->factorisations++;
    return taut_saddle_factor(w->saddle, w->k, w->g1, w->g2, NULL, error);
}

int taut_first_whole_solve(taut_stepper *s, taut_first_whole *w, double h, double *r, double *c,
                           taut_error *error)
{
    for (int64_t i = 0; i < (int64_t)w->table->stages * w->one.m; i++)
        c[i] /= -h;
    s->statistics->solves++;
    TAUT_TRY(taut_saddle_solve(w->saddle, 1, r, c, error));
    memcpy(w->u, r, (size_t)w->table->stages * (size_t)w->one.n * sizeof *r);
    /* dk = A^-1 U */
    taut_collocation_combine(w->table, w->table->inverse[0], 1, w->one.n, NULL, 0, NULL, w->u, r);
    return TAUT_OK;
}
