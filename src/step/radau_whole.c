/* radau_whole.c - stage-wise Newton: G_i and the weighted Hessians at every predicted stage, all
 * stages in one saddle matrix.
 *
 * With the unknowns U = (A A) da, so that dQ_i = h^2 U_i, only masses (and df/dv) couple the
 * stages:
 *     sum_j [ (A^-2)_ij M_i - h (A^-1)_ij df/dv_i ] U_j + h^2 B_i U_i + G_i^T dlambda_i = -R_i
 *     sum_j [ h^2 delta_ij + h tau (A^-1)_ij ] G_i U_j - C dlambda_i = -S_i
 *     (tau (dG/dt) dQ_i is left out: O(h) smaller)
 * The second rows are divided by h^2 + h tau. This is (8.4) of B solved with the derivative at
 * each stage, as in its (8.3). */
#include "step/radau.h"

/* Blocks beside the diagonal: masses only, or everything on the tangent pattern. */
static bool thin(const taut_radau *w)
{
    return w->diagonal && !w->velocity;
}

static int make_k(taut_stepper *s, taut_radau *w, taut_error *error)
{
    taut_index rows = w->s * w->n;
    int64_t beside = thin(w) ? w->n : w->tangents,
            count = (int64_t)w->s * (w->tangents + (w->s - 1) * beside);
    if (count > INT32_MAX)
        return taut_fail(
            error, TAUT_ERROR_SIZE,
            "--newton stage: the matrix of all stages has too many entries; use --newton tensor");
    w->whole_k_start = TAUT_NEW(s->arena, taut_index, rows + 1);
    w->whole_k_column = TAUT_NEW(s->arena, taut_index, count);
    w->whole_k = TAUT_NEW(s->arena, double, count);
    if (!w->whole_k_start || !w->whole_k_column || !w->whole_k)
        return taut_fail_memory(error);
    const taut_index *start = w->tangent.start, *column = w->tangent.column;
    taut_index used = 0;
    for (int i = 0; i < w->s; i++)
        for (taut_index r = 0; r < w->n; r++) {
            for (int j = 0; j < w->s; j++)
                if (i != j && thin(w))
                    w->whole_k_column[used++] = j * w->n + r;
                else
                    for (taut_index k = start[r]; k < start[r + 1]; k++)
                        w->whole_k_column[used++] = j * w->n + column[k];
            w->whole_k_start[i * w->n + r + 1] = used;
        }
    return TAUT_OK;
}

static int make_g(taut_stepper *s, taut_radau *w, taut_error *error)
{
    int copies = w->moves ? w->s : 1; /* damped bonds see the velocities, which all stages make */
    int64_t count = (int64_t)w->s * copies * w->entries;
    if (count > INT32_MAX)
        return taut_fail(
            error, TAUT_ERROR_SIZE,
            "--newton stage: the matrix of all stages has too many entries; use --newton tensor");
    w->whole_g_start = TAUT_NEW(s->arena, taut_index, (int64_t)w->s * w->m + 1);
    w->whole_g_column = TAUT_NEW(s->arena, taut_index, count);
    w->whole_g1 = TAUT_NEW(s->arena, double, count);
    w->whole_g2 = w->moves ? TAUT_NEW(s->arena, double, count) : w->whole_g1;
    if (!w->whole_g_start || !w->whole_g_column || !w->whole_g1 || !w->whole_g2)
        return taut_fail_memory(error);
    taut_index used = 0;
    for (int i = 0; i < w->s; i++)
        for (taut_index b = 0; b < w->m; b++) {
            for (int j = 0; j < w->s; j++)
                for (taut_index k = w->jacobian.start[b];
                     (i == j || w->moves) && k < w->jacobian.start[b + 1]; k++)
                    w->whole_g_column[used++] = j * w->n + w->jacobian.column[k];
            w->whole_g_start[i * w->m + b + 1] = used;
        }
    return TAUT_OK;
}

int taut_radau_whole_create(taut_stepper *s, taut_error *error)
{
    taut_radau *w = s->work;
    if ((int64_t)w->s * ((int64_t)w->n + w->m) > INT32_MAX)
        return taut_fail(error, TAUT_ERROR_SIZE,
                         "--newton stage: all stages together are too large; use --newton tensor");
    TAUT_TRY(make_k(s, w, error));
    TAUT_TRY(make_g(s, w, error));
    taut_saddle_shape shape = {.n = w->s * w->n,
                               .m = w->s * w->m,
                               .k_start = w->whole_k_start,
                               .k_column = w->whole_k_column,
                               .g_start = w->whole_g_start,
                               .g_column = w->whole_g_column};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &s->arena->allocator, &w->whole, error);
}

/* One row of K: blocks j of stage i. */
static taut_index add_row(taut_radau *w, int i, taut_index r, double h, const double *mass,
                          taut_index used)
{
    const taut_index *start = w->tangent.start, *column = w->tangent.column;
    for (int j = 0; j < w->s; j++) {
        double inertia = w->table.inverse_square[i][j], drag = h * w->table.inverse[i][j];
        if (i != j && thin(w)) {
            w->whole_k[used++] = inertia * mass[r];
            continue;
        }
        for (taut_index k = start[r]; k < start[r + 1]; k++, used++) {
            double value = inertia * (!w->diagonal ? mass[k] : column[k] == r ? mass[r] : 0);
            if (w->velocity)
                value -= drag * w->frozen.drag[k];
            if (i == j)
                value += h * h * w->frozen.stiff[k];
            w->whole_k[used] = value;
        }
    }
    return used;
}

/* What the row of a bond is divided by, beside h: any number of its size will do, and this one
 * never vanishes, backwards in time too. */
static double measure(double h, double tau)
{
    return h > 0 ? h + tau : h - tau;
}

void taut_radau_whole_add(taut_radau *w, int i, double h)
{
    const double *mass = w->varying ? w->mass + (int64_t)i * w->mass_entries : w->mass,
                 *g = w->g + (int64_t)i * w->entries;
    taut_index used = w->whole_k_start[i * w->n];
    for (taut_index r = 0; r < w->n; r++)
        used = add_row(w, i, r, h, mass, used);
    used = w->whole_g_start[i * w->m];
    for (taut_index b = 0; b < w->m; b++) {
        double tau = w->damping[b];
        for (int j = 0; j < w->s; j++) {
            double share = ((i == j ? h : 0) + tau * w->table.inverse[i][j]) / measure(h, tau);
            for (taut_index k = w->jacobian.start[b];
                 (i == j || w->moves) && k < w->jacobian.start[b + 1]; k++, used++) {
                w->whole_g1[used] = i == j ? g[k] : 0;
                if (w->moves)
                    w->whole_g2[used] = share * g[k];
            }
        }
        w->d[i * w->m + b] = w->compliance[b] / (h * measure(h, tau));
    }
}

int taut_radau_whole_factor(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    s->statistics->factorisations++;
    w->frozen.h = h;
    return taut_saddle_factor(w->whole, w->whole_k, w->whole_g1, w->moves ? w->whole_g2 : NULL,
                              w->d, error);
}

int taut_radau_whole_solve(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    taut_index n = w->n, m = w->m;
    for (int i = 0; i < w->s; i++)
        for (taut_index b = 0; b < m; b++)
            w->y[i * m + b] *= -1 / (h * measure(h, w->damping[b]));
    s->statistics->solves++;
    TAUT_TRY(taut_saddle_solve(w->whole, 1, w->r, w->y, error));
    /* da = A^-2 U */
    for (taut_index k = 0; k < n; k++) {
        double u[TAUT_STAGES_MAX];
        for (int j = 0; j < w->s; j++)
            u[j] = w->r[j * n + k];
        for (int i = 0; i < w->s; i++) {
            double sum = 0;
            for (int j = 0; j < w->s; j++)
                sum += w->table.inverse_square[i][j] * u[j];
            w->r[i * n + k] = sum;
        }
    }
    return TAUT_OK;
}
