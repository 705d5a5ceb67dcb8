/* radau_tensor.c - tensor Newton: one Jacobian for all stages, reused over steps; A = T diag(mu) T^-1 separates the stages.
 *
 * Each eigenvalue mu (complex pairs once) has its own saddle system of size n + m [B (8.8); Hairer, Wanner II, IV.8]:
 *     [ K  G^T ] [x]   [ -R^            ]       K = M - h mu df/dv + h^2 mu^2 B,
 *     [ G  -D  ] [y] = [ -S^/(h mu (h mu + tau)) ]       D = C / (h mu (h mu + tau))
 * with R^ = left . R over the stages, and da = sum right x. Springs, dampers and rods differ in D alone: its size never grows with the
 * stiffness, and c = 0 is the index-3 system. (tau (dG/dt) dQ is left out: O(h) smaller.) */
#include "step/radau.h"

int taut_radau_tensor_create(taut_stepper *s, taut_error *error)
{
    taut_radau *w = s->work;
    w->block_k = TAUT_NEW(s->arena, double complex, w->tangents);
    w->block_g = TAUT_NEW(s->arena, double complex, w->entries);
    w->block_d = TAUT_NEW(s->arena, double complex, w->m);
    w->block_x = TAUT_NEW(s->arena, double complex, (int64_t)w->n * w->table.blocks);
    w->block_y = TAUT_NEW(s->arena, double complex, (int64_t)w->m * w->table.blocks);
    if (!w->block_k || !w->block_g || !w->block_d || !w->block_x || !w->block_y)
        return taut_fail_memory(error);
    for (int b = 0; b < w->table.blocks; b++) {
        taut_saddle_shape shape = {.n = w->n,
                                   .m = w->m,
                                   .k_start = w->tangent.start,
                                   .k_column = w->tangent.column,
                                   .g_start = w->jacobian.start,
                                   .g_column = w->jacobian.column,
                                   .complex_values = !w->table.real[b],
                                   .symmetric = w->symmetric};
        TAUT_TRY(taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &s->arena->allocator, &w->block[b], error));
    }
    return TAUT_OK;
}

static int factor_real(taut_radau *w, int b, double hmu, taut_error *error)
{
    double *k = (double *)w->block_k, *d = (double *)w->block_d;
    taut_radau_shift(w, w->frozen.mass, hmu, k, d);
    return taut_saddle_factor(w->block[b], k, w->frozen.jacobian, NULL, d, error);
}

static int factor_pair(taut_radau *w, int b, double complex hmu, taut_error *error)
{
    const taut_radau_frozen *from = &w->frozen;
    for (taut_index r = 0; r < w->n; r++)
        for (taut_index e = w->tangent.start[r]; e < w->tangent.start[r + 1]; e++) {
            double mass = !w->diagonal ? from->mass[e] : w->tangent.column[e] == r ? from->mass[r] : 0;
            w->block_k[e] = mass + hmu * hmu * from->stiff[e];
            if (w->velocity)
                w->block_k[e] -= hmu * from->drag[e];
        }
    for (taut_index e = 0; e < w->entries; e++)
        w->block_g[e] = from->jacobian[e];
    for (taut_index i = 0; i < w->m; i++)
        w->block_d[i] = w->compliance[i] / (hmu * (hmu + w->damping[i]));
    return taut_saddle_factor_complex(w->block[b], w->block_k, w->block_g, NULL, w->block_d, error);
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

/* left . R and left . S of a block. */
static void transform(taut_radau *w, int b, double h, double complex *x, double complex *y)
{
    const double complex hmu = h * w->table.mu[b];
    taut_collocation_split(&w->table, b, w->n, w->r, x);
    taut_collocation_split(&w->table, b, w->m, w->y, y);
    for (taut_index i = 0; i < w->m; i++)
        y[i] /= -(w->table.real[b] ? taut_radau_divisor(creal(hmu), w->damping[i]) : hmu * (hmu + w->damping[i]));
}

/* A real block solves in the front half of its own array. */
static int solve_block(taut_radau *w, int b, double complex *x, double complex *y, taut_error *error)
{
    if (!w->table.real[b])
        return taut_saddle_solve_complex(w->block[b], 1, x, y, error);
    double *p = (double *)x, *z = (double *)y;
    for (taut_index k = 0; k < w->n; k++)
        p[k] = creal(x[k]);
    for (taut_index i = 0; i < w->m; i++)
        z[i] = creal(y[i]);
    TAUT_TRY(taut_saddle_solve(w->block[b], 1, p, z, error));
    for (taut_index k = w->n; k-- > 0;)
        x[k] = p[k];
    for (taut_index i = w->m; i-- > 0;)
        y[i] = z[i];
    return TAUT_OK;
}

int taut_radau_tensor_solve(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    for (int b = 0; b < w->table.blocks; b++) {
        double complex *x = w->block_x + (int64_t)b * w->n, *y = w->block_y + (int64_t)b * w->m;
        transform(w, b, h, x, y);
        s->statistics->solves++;
        TAUT_TRY(solve_block(w, b, x, y, error));
    }
    taut_collocation_join(&w->table, w->n, w->block_x, w->r);
    taut_collocation_join(&w->table, w->m, w->block_y, w->y);
    return TAUT_OK;
}
