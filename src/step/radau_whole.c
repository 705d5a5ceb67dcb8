/* radau_whole.c - stage-wise Newton: G_i and the weighted Hessians at every predicted stage, all
 * stages in one saddle matrix.
 *
 * With the unknowns U = (A A) da, so that dQ_i = h^2 U_i, only masses (and df/dv) couple the
 * stages:
 *     sum_j [ (A^-2)_ij M_i - h (A^-1)_ij df/dv_i ] U_j + h^2 B_i U_i + G_i^T dlambda_i = -R_i
 *     sum_j [ h^2 delta_ij + h tau (A^-1)_ij ] G_i U_j - C dlambda_i = -S_i
 *     (tau (dG/dt) dQ_i is omitted: O(h) smaller)
 * The second rows are divided by h^2 + h tau. This is (8.4) of B solved with the derivative at
 * each stage, as in its (8.3).
 *
 * First order: with U = A dk, so that dZ_i = h U_i, only A^-1 couples the stages:
 *     sum_j (A^-1)_ij U_j - h df/dz_i U_i - df/dy_i dy_i = f_i - k_i
 *     dg/dz_i U_i = -g_i / h
 * Where df/dy and dg/dz are nearly orthogonal [C example 1], their product changes within a step
 * more than one Jacobian for all stages can follow: iterations with it converge for steps of
 * 1/nu only, these for any. */
#include "step/radau.h"

/* Blocks outside the diagonal: masses only, or everything on the tangent pattern. */
static bool thin(const taut_radau *w)
{
    return w->diagonal && !w->velocity;
}

/* The columns of row r of one stage's pattern, as stage j. */
static taut_index add_columns(const taut_index *start, const taut_index *column, taut_index r,
                              taut_index first, taut_index used, taut_index *to)
{
    for (taut_index k = start[r]; k < start[r + 1]; k++)
        to[used++] = first + column[k];
    return used;
}

static void fill_patterns(taut_radau *w)
{
    const taut_saddle_shape *one = &w->shape;
    taut_index used = 0;
    for (int i = 0; i < w->s; i++)
        for (taut_index r = 0; r < w->n; r++) {
            for (int j = 0; j < w->s; j++)
                if (i != j && thin(w))
                    w->whole_k_column[used++] = j * w->n + r;
                else
                    used = add_columns(one->k_start, one->k_column, r, j * w->n, used,
                                       w->whole_k_column);
            w->whole_k_start[i * w->n + r + 1] = used;
        }
    used = 0;
    for (int i = 0; i < w->s; i++)
        for (taut_index b = 0; b < w->m; b++) {
            for (int j = 0; j < w->s; j++)
                if (i == j || w->moves)
                    used = add_columns(one->g_start, one->g_column, b, j * w->n, used,
                                       w->whole_g_column);
            w->whole_g_start[i * w->m + b + 1] = used;
        }
}

int taut_radau_whole_create(taut_stepper *s, taut_error *error)
{
    taut_radau *w = s->work;
    taut_arena *arena = s->arena;
    int64_t rows = (int64_t)w->s * w->n, bonds = (int64_t)w->s * w->m,
            outside = thin(w) ? w->n : w->tangents,
            entries = (int64_t)w->s * (w->tangents + (w->s - 1) * outside),
            /* damped bonds see the velocities, which all stages make */
        both = (int64_t)w->s * (w->moves ? w->s : 1) * (w->m > 0 ? w->shape.g_start[w->m] : 0);
    if (rows + bonds > INT32_MAX || entries > INT32_MAX || both > INT32_MAX)
        return taut_fail_option(error, TAUT_ERROR_SIZE, "newton",
                                "the matrix of all stages is too large; choose tensor");
    w->whole_k_start = TAUT_NEW(arena, taut_index, rows + 1);
    w->whole_k_column = TAUT_NEW(arena, taut_index, entries);
    w->whole_k = TAUT_NEW(arena, double, entries);
    w->whole_g_start = TAUT_NEW(arena, taut_index, bonds + 1);
    w->whole_g_column = TAUT_NEW(arena, taut_index, both);
    w->whole_g1 = TAUT_NEW(arena, double, both);
    w->whole_g2 = w->moves || w->g2 ? TAUT_NEW(arena, double, both) : NULL;
    TAUT_TRY(taut_arena_check(arena, error));
    fill_patterns(w);
    taut_saddle_shape shape = {.n = (taut_index)rows,
                               .m = (taut_index)bonds,
                               .k_start = w->whole_k_start,
                               .k_column = w->whole_k_column,
                               .g_start = w->whole_g_start,
                               .g_column = w->whole_g_column};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &arena->allocator, &w->whole, error);
}

/* A^-2, or A^-1 for equations of first order: what leads from U to the unknowns. */
static double (*coupling(taut_radau *w))[TAUT_STAGES_MAX]
{
    return w->equations->integrals == 2 ? w->table.inverse_square : w->table.inverse;
}

/* One row of K: blocks j of stage i. */
static taut_index add_row(taut_radau *w, int i, taut_index r, double h, const double *mass,
                          taut_index used)
{
    const taut_index *start = w->tangent.start, *column = w->tangent.column;
    double power = w->equations->integrals == 2 ? h * h : h;
    for (int j = 0; j < w->s; j++) {
        double inertia = coupling(w)[i][j], drag = h * w->table.inverse[i][j];
        if (i != j && thin(w)) {
            w->whole_k[used++] = inertia * mass[r];
            continue;
        }
        for (taut_index k = start[r]; k < start[r + 1]; k++, used++) {
            double value = inertia * (!w->diagonal ? mass[k] : column[k] == r ? mass[r] : 0);
            if (w->velocity)
                value -= drag * w->frozen.drag[k];
            if (i == j)
                value += power * w->frozen.stiff[k];
            w->whole_k[used] = value;
        }
    }
    return used;
}

void taut_radau_whole_add(taut_radau *w, int i, double h)
{
    const double *mass = w->varying ? w->mass + (int64_t)i * w->mass_entries : w->mass;
    taut_index used = w->whole_k_start[i * w->n];
    for (taut_index r = 0; r < w->n; r++)
        used = add_row(w, i, r, h, mass, used);
    w->equations->add_bonds(w, i, h);
}

/* What the row of a bond is divided by, besides h: any number of its size will do, and this one
 * never vanishes, backwards in time too. */
static double measure(double h, double tau)
{
    return h > 0 ? h + tau : h - tau;
}

void taut_radau_add_bonds(taut_radau *w, int i, double h)
{
    const double *g = w->g + (int64_t)i * w->entries;
    taut_index used = w->whole_g_start[i * w->m];
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

int taut_radau_whole_factor(taut_stepper *s, taut_error *error)
{
    taut_radau *w = s->work;
    s->statistics->factorisations++;
    return taut_saddle_factor(w->whole, w->whole_k, w->whole_g1, w->whole_g2,
                              w->compliance ? w->d : NULL, error);
}

int taut_radau_whole_solve(taut_stepper *s, double h, taut_error *error)
{
    taut_radau *w = s->work;
    for (int i = 0; i < w->s; i++)
        for (taut_index b = 0; b < w->m; b++)
            w->y[i * w->m + b] *= -1 / (w->compliance ? h * measure(h, w->damping[b]) : h);
    s->statistics->solves++;
    TAUT_TRY(taut_saddle_solve(w->whole, 1, w->r, w->y, error));
    for (taut_index k = 0; k < w->n; k++) {
        double u[TAUT_STAGES_MAX];
        for (int j = 0; j < w->s; j++)
            u[j] = w->r[j * w->n + k];
        for (int i = 0; i < w->s; i++) {
            double sum = 0;
            for (int j = 0; j < w->s; j++)
                sum += coupling(w)[i][j] * u[j];
            w->r[i * w->n + k] = sum;
        }
    }
    return TAUT_OK;
}
