/* radau_tensor.c - tensor Newton: one Jacobian for all stages, reused over steps; A = T diag(mu)
 * T^-1 separates the stages.
 *
 * Each eigenvalue mu (complex pairs once) has its own saddle system of size n + m [B (8.8);
 * Hairer, Wanner II, IV.8]:
 *     [ K  G^T ] [x]   [ -R^            ]       K = M - h mu df/dv + h^2 mu^2 B,
 *     [ G  -D  ] [y] = [ -S^/(h mu (h mu + tau)) ]       D = C / (h mu (h mu + tau))
 * with R^ = left . R over the stages, and da = sum right x. Springs, dampers and rigid bonds
 * differ in D alone: its size never grows with the stiffness, and c = 0 is the index-3 system.
 * (tau (dG/dt) dQ is omitted: O(h) smaller.) First order: K = I - h mu df/dz, -df/dy^T and dg/dz
 * for the two G, D = 0 and -g^/(h mu).
 *
 * Vectors over the stages are multiplied with T^-1, solved for, eigenvalue by eigenvalue, and
 * multiplied with T. A lower triangular A with one value on its diagonal has one real matrix, and
 * its stages are solved one after another. All of it is real but the systems of complex pairs,
 * whose real and imaginary parts are put together for the solver. */
#include "base/rows.h"
#include "step/radau.h"

int taut_radau_tensor_create(taut_stepper *s, taut_error *error)
{
    taut_radau *w = s->work;
    taut_arena *arena = s->arena;
    taut_saddle_shape one = w->shape;
    taut_index entries = w->m > 0 ? one.g_start[w->m] : 0;
    w->block_k = TAUT_NEW(arena, double complex, w->tangents);
    w->block_g1 = TAUT_NEW(arena, double complex, entries);
    w->block_g2 = w->g2 ? TAUT_NEW(arena, double complex, entries) : NULL;
    w->block_d = TAUT_NEW(arena, double complex, w->m);
    w->block_factor = TAUT_NEW(arena, double complex, (int64_t)w->table.blocks * w->m);
    w->apart_r = TAUT_NEW(arena, double, (int64_t)w->s * w->n);
    w->apart_y = TAUT_NEW(arena, double, (int64_t)w->s * w->m);
    w->pair_x = TAUT_NEW(arena, double complex, w->n);
    w->pair_y = TAUT_NEW(arena, double complex, w->m);
    TAUT_TRY(taut_arena_check(arena, error));
    s->factor = 0;
    for (int b = 0; b < w->table.blocks; b++) {
        one.complex_values = !w->table.real[b];
        TAUT_TRY(
            taut_saddle_create(&one, TAUT_BACKEND_AUTO, &arena->allocator, &w->block[b], error));
        s->factor += taut_saddle_seconds(w->block[b]) / w->table.blocks;
    }
    return TAUT_OK;
}

static int factor_real(taut_radau *w, int b, double e, taut_error *error)
{
    double *k = (double *)w->block_k, *d = w->compliance ? (double *)w->block_d : NULL;
    taut_radau_shift(w, w->frozen.mass, e, k, d);
    for (taut_index i = 0; i < w->m; i++)
        w->block_factor[(int64_t)b * w->m + i] =
            -1 / (d ? taut_radau_divisor(e, w->damping[i]) : e);
    return taut_saddle_factor(w->block[b], k, w->g1, w->g2, d, error);
}

static int factor_pair(taut_radau *w, int b, double complex e, taut_error *error)
{
    const taut_radau_frozen *from = &w->frozen;
    const double complex power = w->equations->integrals == 2 ? e * e : e;
    double complex *factor = w->block_factor + (int64_t)b * w->m,
                   *d = w->compliance ? w->block_d : NULL;
    for (taut_index r = 0; r < w->n; r++)
        for (taut_index k = w->tangent.start[r]; k < w->tangent.start[r + 1]; k++) {
            double mass = !w->diagonal                ? from->mass[k]
                          : w->tangent.column[k] == r ? from->mass[r]
                                                      : 0;
            w->block_k[k] = mass + power * from->stiff[k];
            if (w->velocity)
                w->block_k[k] -= e * from->drag[k];
        }
    for (taut_index k = 0; w->m > 0 && k < w->shape.g_start[w->m]; k++) {
        w->block_g1[k] = w->g1[k];
        if (w->g2)
            w->block_g2[k] = w->g2[k];
    }
    const double complex undamped = -1 / (d ? e * e : e);
    for (taut_index i = 0; i < w->m; i++) {
        factor[i] = d && w->damping[i] > 0 ? -1 / (e * (e + w->damping[i])) : undamped;
        if (d)
            d[i] = -w->compliance[i] * factor[i];
    }
    return taut_saddle_factor_complex(w->block[b], w->block_k, w->block_g1, w->block_g2, d, error);
}

int taut_radau_factor(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    w->frozen.h = 0;
    if (w->stage_wise)
        TAUT_TRY(taut_radau_whole_factor(s, error));
    for (int b = 0; b < w->table.blocks && !w->stage_wise; b++) {
        s->statistics->factorisations++;
        TAUT_TRY(w->table.real[b] ? factor_real(w, b, h * creal(w->table.mu[b]), error)
                                  : factor_pair(w, b, h * w->table.mu[b], error));
    }
    w->frozen.h = h;
    return TAUT_OK;
}

/* x, y: the real parts, behind them the imaginary ones. A complex number is its two parts in a
 * row. */
static int solve_pair(taut_radau *w, int b, double *x, double *y, taut_error *error)
{
    const double *factor = (const double *)(w->block_factor + (int64_t)b * w->m);
    double *p = (double *)w->pair_x, *z = (double *)w->pair_y;
    for (int64_t k = 0; k < w->n; k++) {
        p[2 * k] = x[k];
        p[2 * k + 1] = x[w->n + k];
    }
    for (int64_t i = 0; i < w->m; i++) {
        z[2 * i] = factor[2 * i] * y[i] - factor[2 * i + 1] * y[w->m + i];
        z[2 * i + 1] = factor[2 * i] * y[w->m + i] + factor[2 * i + 1] * y[i];
    }
    TAUT_TRY(taut_saddle_solve_complex(w->block[b], 1, w->pair_x, w->pair_y, error));
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

static int solve_real(taut_radau *w, int b, double *x, double *y, taut_error *error)
{
    for (taut_index i = 0; i < w->m; i++)
        y[i] *= creal(w->block_factor[(int64_t)b * w->m + i]);
    return taut_saddle_solve(w->block[b], 1, x, y, error);
}

/* A lower triangular: what the corrections of stages j < i add to the equations of stage i,
 *     r_i += sum_j (h a_ij df/dv - h^2 (A A)_ij B) da_j,
 *     y_i += sum_j (h^2 (A A)_ij + T h a_ij) G da_j;   first order: h a_ij in place of h^2 (A A)_ij
 */
static void add_earlier(taut_radau *w, int i, double h)
{
    const taut_collocation *table = &w->table;
    const taut_pattern g = {w->m, w->n, w->shape.g_start, w->shape.g_column};
    bool first = w->equations->integrals == 1;
    double *r = w->r + (int64_t)i * w->n, *y = w->y + (int64_t)i * w->m, row[2][TAUT_STAGES_MAX];
    for (int j = 0; j < w->s; j++) {
        row[0][j] = j < i ? (first ? h * table->a[i][j] : h * h * table->square[i][j]) : 0;
        row[1][j] = j < i ? h * table->a[i][j] : 0;
    }
    taut_collocation_row(table, row[0], 1, w->n, w->r, w->extra);
    taut_pattern_add(&w->tangent, w->frozen.stiff, -1, w->extra, r);
    for (taut_index b = 0; b < w->m; b++)
        y[b] += taut_row_dot(&g, w->g2 ? w->g2 : w->g1, b, w->extra);
    if (!w->velocity && !w->moves)
        return;
    taut_collocation_row(table, row[1], 1, w->n, w->r, w->extra);
    if (w->velocity)
        taut_pattern_add(&w->tangent, w->frozen.drag, 1, w->extra, r);
    for (taut_index b = 0; w->moves && b < w->m; b++)
        y[b] += w->damping[b] * taut_row_dot(&g, w->g1, b, w->extra);
}

/* One real factorisation, stage after stage. */
static int solve_triangular(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    for (int i = 0; i < w->s; i++) {
        if (i > 0)
            add_earlier(w, i, h);
        s->statistics->solves++;
        TAUT_TRY(solve_real(w, 0, w->r + (int64_t)i * w->n, w->y + (int64_t)i * w->m, error));
    }
    return TAUT_OK;
}

int taut_radau_tensor_solve(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    const taut_collocation *table = &w->table;
    if (table->triangular)
        return solve_triangular(s, h, error);
    taut_collocation_split(table, w->n, w->r, w->apart_r);
    taut_collocation_split(table, w->m, w->y, w->apart_y);
    for (int b = 0, row = 0; b < table->blocks; row += table->real[b] ? 1 : 2, b++) {
        double *x = w->apart_r + (int64_t)row * w->n, *y = w->apart_y + (int64_t)row * w->m;
        s->statistics->solves++;
        TAUT_TRY(table->real[b] ? solve_real(w, b, x, y, error) : solve_pair(w, b, x, y, error));
    }
    taut_collocation_join(table, w->n, w->apart_r, w->r);
    taut_collocation_join(table, w->m, w->apart_y, w->y);
    return TAUT_OK;
}
