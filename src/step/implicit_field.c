/* implicit_field.c - implicit Runge-Kutta methods on a field: what Baumgarte's and the other
 * stabilising terms make of the equations [Ascher, Qin, Reich 1992, (1.6)-(1.8), (2.3), (4.4)].
 *
 *     W_i = h sum_j a_ij F(t + c_j h, z + W_j),   z <- z + sum_j d_j W_j,   d = b^T A^-1
 *
 * F is q' and v', or the rate of a first-order system. Without the term these methods solve the
 * constraints themselves; with it they discretise the reduced equations, as in table 1.1. A field
 * has no derivatives: those of Newton's iteration are differences at the stages, formed once a step
 * and again where it converges slowly, and matrices are dense. For small systems.
 *
 * The error estimate is that of first-order systems (radau_first.c), with F at the beginning of the
 * step:
 *     error = (I - h gamma J)^-1 h gamma (F(z) - k(0)),   or the embedded method's sum
 * k(0) from the polynomial of the stages, J at the beginning. */
#include "step/implicit_field.h"

#include <float.h>
#include <math.h>

#include "linalg/saddle.h"
#include "step/collocation.h"
#include "step/explicit.h"
#include "step/radau.h"

enum { MOST_ROWS = 300, MOST_ITERATIONS = 40 };
static const double SLOW = 0.1; /* corrections that shrink less ask for another matrix */

typedef struct implicit_field {
    taut_collocation table;
    taut_index size, rows;         /* of z; of all stages */
    taut_saddle *saddle, *filter;  /* I - h A x J, I - h gamma J */
    double *matrix, *jacobian;     /* [rows rows]; J, then I - h gamma J, [size size] */
    double *z, *next, *first;      /* z, what follows it, F(z), [size] */
    double *point, *slope;         /* [size] */
    double *w, *f, *r;             /* of all stages, [rows] */
    double along[TAUT_STAGES_MAX]; /* d */
    bool fresh;                    /* now.a and now.lambda belong to now */
} implicit_field;

/* F(z) */
static int evaluate(taut_stepper *s, double t, const double *z, double *to, taut_error *error)
{
    taut_field *field = s->field;
    if (!field->second_order)
        return field->evaluate(field, t, z, NULL, to, NULL, error);
    TAUT_TRY(field->evaluate(field, t, z, z + s->n, to + s->n, NULL, error));
    taut_copy(s->n, z + s->n, to);
    if (field->extra)
        taut_add(s->n, field->extra, to);
    return TAUT_OK;
}

/* J at the stages, by differences from the F that are there, and the matrix of Newton's iteration.
 */
static int form(taut_stepper *s, implicit_field *w, double h, taut_error *error)
{
    const taut_index n = w->size;
    const double least = 1e-3 * fmax(taut_largest(n, w->z), DBL_MIN);
    s->statistics->jacobians++;
    s->statistics->factorisations++;
    for (taut_index c = 0; c < w->rows; c++) {
        const int j = (int)(c / n);
        const double *own = w->w + (int64_t)j * n, *f = w->f + (int64_t)j * n;
        for (taut_index k = 0; k < n; k++)
            w->point[k] = w->z[k] + own[k];
        double *moved = &w->point[c % n], before = *moved;
        *moved += sqrt(DBL_EPSILON) * fmax(fabs(before), least);
        TAUT_TRY(evaluate(s, s->now.t + w->table.c[j] * h, w->point, w->slope, error));
        for (taut_index r = 0; r < n && j == 0; r++)
            w->jacobian[(int64_t)r * n + c] = (w->slope[r] - f[r]) / (*moved - before);
        for (taut_index r = 0; r < w->rows; r++)
            w->matrix[(int64_t)r * w->rows + c] = (r == c) - h * w->table.a[r / n][j] *
                                                                 (w->slope[r % n] - f[r % n]) /
                                                                 (*moved - before);
    }
    return taut_saddle_factor(w->saddle, w->matrix, NULL, NULL, NULL, error);
}

/* r = h (A x I) F(z + W) - W */
static int residual(taut_stepper *s, implicit_field *w, double h, taut_error *error)
{
    const int stages = w->table.stages;
    for (int i = 0; i < stages; i++) {
        const double *own = w->w + (int64_t)i * w->size;
        for (taut_index k = 0; k < w->size; k++)
            w->point[k] = w->z[k] + own[k];
        TAUT_TRY(evaluate(s, s->now.t + w->table.c[i] * h, w->point, w->f + (int64_t)i * w->size,
                          error));
    }
    for (int i = 0; i < stages; i++)
        for (taut_index k = 0; k < w->size; k++) {
            int64_t at = (int64_t)i * w->size + k;
            double sum = w->table.begins ? w->table.early[i] * w->first[k] : 0;
            for (int j = 0; j < stages; j++)
                sum += w->table.a[i][j] * w->f[(int64_t)j * w->size + k];
            w->r[at] = h * sum - w->w[at];
        }
    return TAUT_OK;
}

/* W, to rounding. */
static int solve(taut_stepper *s, implicit_field *w, double h, taut_error *error)
{
    double before = INFINITY, rate = 1, scale = fmax(taut_largest(w->size, w->z), DBL_MIN);
    taut_clear(w->rows, w->w);
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        TAUT_TRY(residual(s, w, h, error));
        if (rate > SLOW)
            TAUT_TRY(form(s, w, h, error));
        s->statistics->solves++;
        s->statistics->newton_iterations++;
        TAUT_TRY(taut_saddle_solve(w->saddle, 1, w->r, NULL, error));
        taut_add(w->rows, w->r, w->w);
        double change = taut_largest(w->rows, w->r);
        scale = fmax(scale, taut_largest(w->rows, w->w));
        if (change <= 4 * DBL_EPSILON * scale || (change > before / 2 && change < 1e-9 * scale))
            return TAUT_OK;
        rate = change / before; /* of a first correction: 0 */
        before = change;
        if (!isfinite(change))
            break;
    }
    taut_fail(error, TAUT_ERROR_CONVERGE,
              "Newton's iteration of %s on the stabilised equations does not converge with a step "
              "of %.3g",
              s->method->name, fabs(h));
    return TAUT_RETRY;
}

static int estimate(taut_stepper *s, implicit_field *w, double h, taut_error *error)
{
    const taut_collocation *table = &w->table;
    const taut_index n = w->size;
    const double e = h * table->gamma;
    for (taut_index k = 0; k < n; k++) {
        double sum = (table->compare_start - table->compare_early) * w->first[k];
        for (int j = 0; j < table->stages; j++)
            sum -= table->compare[j] * w->f[(int64_t)j * n + k];
        w->slope[k] = e * sum;
        for (taut_index c = 0; c < n; c++)
            w->jacobian[(int64_t)k * n + c] = (k == c) - e * w->jacobian[(int64_t)k * n + c];
    }
    s->statistics->factorisations++;
    s->statistics->solves++;
    TAUT_TRY(taut_saddle_factor(w->filter, w->jacobian, NULL, NULL, NULL, error));
    TAUT_TRY(taut_saddle_solve(w->filter, 1, w->slope, NULL, error));
    taut_copy(s->n, w->slope, s->error_q);
    if (s->field->second_order)
        taut_copy(s->n, w->slope + s->n, s->error_v);
    else
        taut_clear(s->n, s->error_v);
    return TAUT_OK;
}

static int step(taut_stepper *s, double h, taut_error *error)
{
    implicit_field *w = s->work;
    const bool second = s->field->second_order;
    taut_state next = s->last;
    taut_copy(s->n, s->now.q, w->z);
    if (second)
        taut_copy(s->n, s->now.v, w->z + s->n);
    if (w->table.begins || (s->adaptive && w->table.compare_start != 0))
        TAUT_TRY(evaluate(s, s->now.t, w->z, w->first, error));
    TAUT_TRY(solve(s, w, h, error));
    if (s->adaptive)
        TAUT_TRY(estimate(s, w, h, error));
    taut_copy(w->size, w->z, w->next);
    for (int i = 0; i < w->table.stages; i++)
        taut_add_scaled(w->size, w->along[i], w->w + (int64_t)i * w->size, w->next);
    taut_copy(s->n, w->next, next.q);
    if (second)
        taut_copy(s->n, w->next + s->n, next.v);
    next.t = s->now.t + h;
    s->last = s->now;
    s->now = next;
    w->fresh = false;
    s->statistics->steps++;
    return TAUT_OK;
}

static void changed(taut_stepper *s)
{
    ((implicit_field *)s->work)->fresh = false;
}

static int complete(taut_stepper *s, taut_error *error)
{
    implicit_field *w = s->work;
    if (w->fresh)
        return TAUT_OK;
    TAUT_TRY(taut_field_multipliers(s, s->now.t, s->now.q, s->now.v, s->now.a,
                                    taut_state_lambda(&s->now), error));
    w->fresh = true;
    return TAUT_OK;
}

static int multipliers(taut_stepper *s, double t, const double *q, const double *v, double *lambda,
                       taut_error *error)
{
    implicit_field *w = s->work;
    return taut_field_multipliers(s, t, q, v, w->point, lambda, error);
}

static void archive(taut_stepper *s, taut_archive *to)
{
    taut_archive_flag(to, &((implicit_field *)s->work)->fresh);
}

/* For full matrices. */
static int create_dense(taut_stepper *s, taut_index rows, taut_saddle **saddle, taut_error *error)
{
    int64_t entries = (int64_t)rows * rows;
    taut_index *start = TAUT_NEW(s->arena, taut_index, rows + 1),
               *column = TAUT_NEW(s->arena, taut_index, entries);
    TAUT_TRY(taut_arena_check(s->arena, error));
    for (taut_index r = 0; r <= rows; r++)
        start[r] = r * rows;
    for (int64_t e = 0; e < entries; e++)
        column[e] = (taut_index)(e % rows);
    taut_saddle_shape shape = {.n = rows, .k_start = start, .k_column = column};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, &s->arena->allocator, saddle, error);
}

static int create(taut_stepper *s, taut_error *error)
{
    implicit_field *w = s->work = TAUT_NEW(s->arena, implicit_field, 1);
    TAUT_NEED(error, w);
    taut_collocation_make(s->method->data, &w->table);
    const int stages = w->table.stages;
    w->size = s->field->second_order ? 2 * s->n : s->n;
    w->rows = stages * w->size;
    if (w->rows > MOST_ROWS)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "stabilize",
                                "a term in the equations of method %s makes dense matrices of %d "
                                "rows; at most %d are supported: use post",
                                s->method->name, (int)w->rows, MOST_ROWS);
    TAUT_TRY(
        TAUT_RESERVE(s->arena, w->size, error, &w->z, &w->next, &w->first, &w->point, &w->slope));
    TAUT_TRY(TAUT_RESERVE(s->arena, w->rows, error, &w->w, &w->f, &w->r));
    TAUT_TRY(TAUT_RESERVE(s->arena, (int64_t)w->rows * w->rows, error, &w->matrix));
    TAUT_TRY(TAUT_RESERVE(s->arena, (int64_t)w->size * w->size, error, &w->jacobian));
    for (int j = 0; j < stages; j++)
        for (int i = 0; i < stages; i++)
            w->along[j] += w->table.ends ? (i == 0 && j == stages - 1)
                                         : w->table.b[i] * w->table.inverse[i][j];
    TAUT_TRY(create_dense(s, w->rows, &w->saddle, error));
    return s->adaptive ? create_dense(s, w->size, &w->filter, error) : TAUT_OK;
}

static void destroy(taut_stepper *s)
{
    implicit_field *w = s->work;
    if (!w)
        return;
    taut_saddle_destroy(w->saddle);
    taut_saddle_destroy(w->filter);
}

bool taut_implicit_on_field(const taut_method *method, taut_method *on_field)
{
    if (method->archive != taut_radau_archive) /* the family of radau.c */
        return false;
    *on_field = (taut_method){.name = method->name,
                              .motions = method->motions,
                              .order = method->order,
                              .summary = method->summary,
                              .reference = method->reference,
                              .needs = method->needs,
                              .refuses = method->refuses,
                              .data = method->data,
                              .uses_field = true,
                              .uses_stages = true,
                              .error_order = method->error_order,
                              .undamped = method->undamped,
                              .create = create,
                              .destroy = destroy,
                              .step = step,
                              .changed = changed,
                              .complete = complete,
                              .multipliers = multipliers,
                              .archive = archive};
    return true;
}
