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
 * multiplied with T, in place. A lower triangular A with one value on its diagonal has one real
 * matrix, and its stages are solved one after another. All of it is real but the systems of complex
 * pairs, whose real and imaginary parts the solver puts together. */
#include "base/rows.h"
#include "step/radau.h"

/* Numbers of block_inverse for each eigenvalue. */
static taut_index inverses(const taut_radau *w)
{
    return w->moves ? w->m : 1;
}

int taut_radau_tensor_create(taut_stepper *s, taut_error *error)
{
    taut_radau *w = s->work;
    taut_arena *arena = s->arena;
    taut_saddle_shape one = w->shape;
    w->block_inverse = TAUT_NEW(arena, double complex, (int64_t)w->table.blocks *inverses(w));
    TAUT_NEED(error, w->block_inverse);
    s->factor = 0;
    for (int b = 0; b < w->table.blocks; b++) {
        one.complex_values = !w->table.real[b];
        TAUT_TRY(
            taut_saddle_create(&one, TAUT_BACKEND_AUTO, &arena->allocator, &w->block[b], error));
        s->factor += taut_saddle_seconds(w->block[b]) / w->table.blocks;
    }
    return TAUT_OK;
}

static int factor_block(taut_radau *w, int b, double complex e, taut_error *error)
{
    double complex *inverse = w->block_inverse + (int64_t)b * inverses(w);
    taut_saddle_sum sum = taut_radau_shifted(w, w->frozen.mass, e, w->g1);
    for (taut_index i = 0; i < inverses(w); i++) {
        double tau = w->moves ? w->damping[i] : 0;
        inverse[i] = 1 / (!w->compliance     ? e
                          : w->table.real[b] ? taut_radau_divisor(creal(e), tau)
                                             : e * (e + tau));
    }
    sum.g2 = w->g2;
    sum.d = w->compliance;
    sum.d_factor = inverse;
    sum.d_step = w->moves;
    return taut_saddle_factor_sum(w->block[b], &sum, error);
}

int taut_radau_factor(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    w->frozen.h = 0;
    if (w->stage_wise)
        TAUT_TRY(taut_radau_whole_factor(s, error));
    for (int b = 0; b < w->table.blocks && !w->stage_wise; b++) {
        s->statistics->factorisations++;
        TAUT_TRY(factor_block(w, b, h * w->table.mu[b], error));
    }
    w->frozen.h = h;
    return TAUT_OK;
}

/* x, y: the real parts, behind them the imaginary ones. */
static int solve_pair(taut_radau *w, int b, double *x, double *y, taut_error *error)
{
    const double complex *inverse = w->block_inverse + (int64_t)b * inverses(w);
    double *imaginary = y + w->m;
    for (taut_index i = 0; i < w->m; i++) {
        const double complex by = -inverse[w->moves ? i : 0];
        const double real = y[i];
        y[i] = creal(by) * real - cimag(by) * imaginary[i];
        imaginary[i] = creal(by) * imaginary[i] + cimag(by) * real;
    }
    return taut_saddle_solve_parts(w->block[b], (double *const[]){x, x + w->n},
                                   (double *const[]){y, imaginary}, error);
}

static int solve_real(taut_radau *w, int b, double *x, double *y, taut_error *error)
{
    const double complex *inverse = w->block_inverse + (int64_t)b * inverses(w);
    for (taut_index i = 0; i < w->m; i++)
        y[i] *= -creal(inverse[w->moves ? i : 0]);
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
    taut_collocation_split(table, w->n, w->r);
    taut_collocation_split(table, w->m, w->y);
    for (int b = 0, row = 0; b < table->blocks; row += table->real[b] ? 1 : 2, b++) {
        double *x = w->r + (int64_t)row * w->n, *y = w->y + (int64_t)row * w->m;
        s->statistics->solves++;
        TAUT_TRY(table->real[b] ? solve_real(w, b, x, y, error) : solve_pair(w, b, x, y, error));
    }
    taut_collocation_join(table, w->n, w->r);
    taut_collocation_join(table, w->m, w->y);
    return TAUT_OK;
}
