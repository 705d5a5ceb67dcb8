/* radau_tensor.c - tensor Newton: one Jacobian for all stages, reused over steps; A = T diag(mu)
 * T^-1 separates the stages.
 *
 * Each eigenvalue mu (complex pairs once) has its own saddle system of size n + m [B (8.8);
 * Hairer, Wanner II, IV.8]:
 *     [ K  G^T ] [x]   [ -R^            ]       K = M - h mu df/dv + h^2 mu^2 B,
 *     [ G  -D  ] [y] = [ -S^/(h mu (h mu + tau)) ]       D = C / (h mu (h mu + tau))
 * with R^ = left . R over the stages, and da = sum right x. Springs, dampers and rods differ in
 * D alone: its size never grows with the stiffness, and c = 0 is the index-3 system. (tau
 * (dG/dt) dQ is left out: O(h) smaller.) */
#include "step/radau.h"

taut_saddle_shape taut_radau_shape(const taut_radau *w)
{
    return (taut_saddle_shape){.n = w->n,
                               .m = w->m,
                               .k_start = w->tangent.start,
                               .k_column = w->tangent.column,
                               .g_start = w->jacobian.start,
                               .g_column = w->jacobian.column,
                               .symmetric = w->symmetric};
}

int taut_radau_tensor_create(taut_stepper *s, taut_error *error)
{
    taut_radau *w = s->work;
    taut_saddle_shape shape = taut_radau_shape(w);
    w->block_k = TAUT_NEW(s->arena, double complex, w->tangents);
    w->block_g = TAUT_NEW(s->arena, double complex, w->entries);
    w->block_d = TAUT_NEW(s->arena, double complex, w->m);
    if (!w->block_k || !w->block_g || !w->block_d)
        return taut_fail_memory(error);
    return taut_radau_blocks_create(s, &w->table, &shape, &w->blocks, error);
}

static int factor_real(taut_radau *w, int b, double hmu, taut_error *error)
{
    double *k = (double *)w->block_k, *d = (double *)w->block_d;
    taut_radau_shift(w, w->frozen.mass, hmu, k, d);
    for (taut_index i = 0; i < w->m; i++)
        w->blocks.factor[(int64_t)b * w->m + i] = -1 / taut_radau_divisor(hmu, w->damping[i]);
    return taut_saddle_factor(w->blocks.saddle[b], k, w->frozen.jacobian, NULL, d, error);
}

static int factor_pair(taut_radau *w, int b, double complex hmu, taut_error *error)
{
    const taut_radau_frozen *from = &w->frozen;
    const double complex square = hmu * hmu;
    double complex *factor = w->blocks.factor + (int64_t)b * w->m;
    for (taut_index r = 0; r < w->n; r++)
        for (taut_index e = w->tangent.start[r]; e < w->tangent.start[r + 1]; e++) {
            double mass = !w->diagonal                ? from->mass[e]
                          : w->tangent.column[e] == r ? from->mass[r]
                                                      : 0;
            w->block_k[e] = mass + square * from->stiff[e];
            if (w->velocity)
                w->block_k[e] -= hmu * from->drag[e];
        }
    for (taut_index e = 0; e < w->entries; e++)
        w->block_g[e] = from->jacobian[e];
    for (taut_index i = 0; i < w->m; i++) {
        factor[i] = -1 / (hmu * (hmu + w->damping[i]));
        w->block_d[i] = -w->compliance[i] * factor[i];
    }
    return taut_saddle_factor_complex(w->blocks.saddle[b], w->block_k, w->block_g, NULL, w->block_d,
                                      error);
}

int taut_radau_tensor_factor(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    w->frozen.h = 0;
    for (int b = 0; b < w->table.blocks; b++) {
        s->statistics->factorisations++;
        if (w->table.real[b])
            TAUT_TRY(factor_real(w, b, h * creal(w->table.mu[b]), error));
        else
            TAUT_TRY(factor_pair(w, b, h * w->table.mu[b], error));
    }
    w->frozen.h = h;
    return TAUT_OK;
}
