/* sliding.c - motion on surfaces u_i = 0 across which sign(u_i) jumps, where both fields point at
 * the surface: each sign is replaced by a number s_i with
 *
 *     u_i' = 0,    u_i' = r_i(t, q, v, a(s)),    |s_i| <= 1                  [Filippov 1988, 2.4]
 *
 * a constraint on velocity level with multiplier s_i. The field is mostly an affine function of s:
 * Newton's iteration with a matrix by differences, which is kept as long as it converges, needs two
 * evaluations. Who integrates the field leaves the surface when |s_i| reaches 1. */
#include "wrap/sliding.h"

#include <math.h>

#include "linalg/small_kernels.h"

static const double NEAR = 1e-10;     /* |u'| over what s = 1 changes of it */
static const double SINGULAR = 1e-10; /* pivot */

/* u' of the surfaces, on the present branches; `rate` is the field. */
static int evaluate_rates(taut_sliding *w, double t, const double *q, const double *v, double *rate,
                          double *lambda, double *r, taut_error *error)
{
    TAUT_TRY(w->inner->evaluate(w->inner, t, q, v, rate, lambda, error));
    taut_hold_values(w->context, t, q, v, rate, false, w->u, w->rate);
    for (int i = 0; i < w->count; i++)
        r[i] = w->rate[w->guard[i]];
    return TAUT_OK;
}

void taut_sliding_align(const taut_sliding *w)
{
    double *branch = w->context->hold->branch;
    for (int64_t j = 0; j < w->pairs; j++)
        branch[w->pair[j].k] = w->pair[j].turn * branch[w->pair[j].leader];
}

static int find_matrix(taut_sliding *w, double t, const double *q, const double *v, double *rate,
                       const double *r, taut_error *error)
{
    double *branch = w->context->hold->branch, other[TAUT_SLIDING_MOST];
    for (int j = 0; j < w->count; j++) {
        double s = branch[w->guard[j]], step = s > 0 ? -1 : 1;
        branch[w->guard[j]] = s + step;
        taut_sliding_align(w);
        int status = evaluate_rates(w, t, q, v, rate, NULL, other, error);
        branch[w->guard[j]] = s;
        taut_sliding_align(w);
        TAUT_TRY(status);
        for (int i = 0; i < w->count; i++)
            w->matrix[i * w->count + j] = (other[i] - r[i]) / step;
    }
    w->known = true;
    return TAUT_OK;
}

static double largest(const taut_sliding *w, int row)
{
    double most = 0;
    for (int j = 0; j < w->count; j++)
        most = fmax(most, fabs(w->matrix[row * w->count + j]));
    return most;
}

/* x := A^-1 x, rows scaled; false when A is singular. */
static bool solve(const taut_sliding *w, double *x)
{
    double a[TAUT_SLIDING_MOST * TAUT_SLIDING_MOST];
    taut_index pivot[TAUT_SLIDING_MOST];
    int n = w->count;
    for (int i = 0; i < n; i++) {
        double most = largest(w, i);
        for (int j = 0; j < n; j++)
            a[i + j * n] = w->matrix[i * n + j] / most;
        x[i] /= most;
    }
    if (taut_lu_factor(false, n, a, pivot, SINGULAR) != 0)
        return false;
    taut_lu_solve(false, n, a, pivot, x);
    return true;
}

static bool is_small(const taut_sliding *w, const double *r)
{
    for (int i = 0; i < w->count; i++)
        if (!(fabs(r[i]) <= NEAR * largest(w, i)))
            return false;
    return true;
}

static int evaluate(taut_field *field, double t, const double *q, const double *v, double *rate,
                    double *lambda, taut_error *error)
{
    enum { MOST = 12 };
    taut_sliding *w = field->self;
    double *branch = w->context->hold->branch, r[TAUT_SLIDING_MOST], ds[TAUT_SLIDING_MOST];
    for (int j = 0; j < MOST; j++) {
        TAUT_TRY(evaluate_rates(w, t, q, v, rate, lambda, r, error));
        if (w->known && is_small(w, r))
            return TAUT_OK;
        if (!w->known || j == 3 || j == 7)
            TAUT_TRY(find_matrix(w, t, q, v, rate, r, error));
        for (int i = 0; i < w->count; i++)
            ds[i] = -r[i];
        if (!solve(w, ds))
            return TAUT_RETRY;
        for (int i = 0; i < w->count; i++)
            branch[w->guard[i]] += ds[i];
        taut_sliding_align(w);
    }
    return TAUT_RETRY;
}

/* Are all principal minors of a[n][n] positive? By the one without the first row and column, and
 * by its Schur complement [Tsatsomeros, Li 2000]; a is overwritten. */
static bool is_p_matrix(int n, double *a)
{
    double rest[TAUT_SLIDING_MOST * TAUT_SLIDING_MOST];
    if (n == 0)
        return true;
    if (!(a[0] > 0))
        return false;
    int m = n - 1;
    for (int schur = 0; schur < 2; schur++) {
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++)
                rest[i * m + j] =
                    a[(i + 1) * n + j + 1] - (schur ? a[(i + 1) * n] * a[j + 1] / a[0] : 0);
        if (!is_p_matrix(m, rest))
            return false;
    }
    return true;
}

/* s in [-1, 1]^n with u' = A s + b, where s_i = 1 needs u_i' >= 0 and s_i = -1 needs u_i' <= 0, is
 * unique for every b when -A is a P-matrix [Cottle, Pang, Stone 1992, 3.3]. There always is one. */
bool taut_sliding_unique(const taut_sliding *w)
{
    double a[TAUT_SLIDING_MOST * TAUT_SLIDING_MOST];
    for (int k = 0; k < w->count * w->count; k++)
        a[k] = -w->matrix[k];
    return is_p_matrix(w->count, a);
}

static void stretch(taut_field *field, const double *x, double *gx)
{
    taut_field *inner = ((taut_sliding *)field->self)->inner;
    inner->stretch(inner, x, gx);
}

int taut_sliding_create(taut_sliding *w, taut_field *inner, taut_context *context,
                        taut_arena *arena, taut_error *error)
{
    *w = (taut_sliding){.field = *inner, .inner = inner, .context = context};
    w->field.evaluate = evaluate;
    w->field.stages = NULL;
    w->field.stretch = inner->stretch ? stretch : NULL;
    w->field.destroy = NULL;
    w->field.self = w;
    return TAUT_RESERVE(arena, context->system->branches, error, &w->u, &w->rate);
}
