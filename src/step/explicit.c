/* explicit.c - explicit Runge-Kutta methods on any field (base/field.h), coefficients from
 * tableau.h.
 *
 *     Q_i = q + h sum_j a_ij V_j, V_i = v + h sum_j a_ij A_j, A_i = rate(t + c_i h, Q_i, V_i)
 *     [Hairer, Norsett, Wanner I, II.1]
 *
 * The rate at the end of a step is formed when it is needed: by the estimate (dopri5), dense
 * output, the next step. A step that is rejected or stabilised then costs no evaluation that is
 * thrown away. */
#include "step/explicit.h"

#include <float.h>
#include <math.h>

#include "base/four.h"
#include "base/loops.h"
#include "step/methods.h"
#include "system/rank_part.h"
#include "system/system.h"

enum {
    NEVER_FREE = 1000,
    LARGE = 4096 /* coordinates from which velocities of stages are not kept */
};

static bool has_term(const taut_sum *sum, int j)
{
    for (int k = 0; k < sum->terms; k++)
        if (sum->term[k] == j && sum->weight[k] != 0)
            return true;
    return false;
}

/* Does stage i count in the end of the step, or its error? (taut_runge_kutta_node) */
static bool counts(const taut_tableau *table, int i)
{
    return i < table->stages &&
           (table->a[table->stages * table->width + i] != 0 ||
            (table->error && table->error[i] != 0) || (table->error_3 && table->error_3[i] != 0));
}

/* The last stage, or the end, that stage j has a part in; NEVER_FREE: an estimate, dense output, a
 * stage that counts and may be formed again, or the last stage, which is compared with the end
 * (taut_runge_kutta_stiffness). */
static int last_use(const taut_runge_kutta *w, int j)
{
    const taut_tableau *table = w->tableau;
    int last = j;
    for (int i = j + 1; i <= table->stages + table->extra; i++)
        if (has_term(&w->row[i], j) || (w->by_rates && has_term(&w->path[i].rates, j)))
            last = last == NEVER_FREE || counts(table, i) ? NEVER_FREE : i;
    bool kept = table->a[(table->stages - 1) * table->width + j] != 0 ||
                (table->error && has_term(&w->error, j)) ||
                (table->error_3 && has_term(&w->error_3, j));
    for (int r = 0; r < table->dense_rows; r++)
        kept = kept || table->dense[r * table->width + j] != 0;
    return kept ? NEVER_FREE : last;
}

/* The arrays of stage i: those of an earlier one that is not needed any more, or new ones. */
static void reserve_stage(taut_stepper *s, taut_runge_kutta *w, int i, bool *taken)
{
    for (int j = 1; j < i; j++)
        if (j != w->tableau->stages && !taken[j] && last_use(w, j) < i) {
            taken[j] = true;
            w->rate[i] = w->rate[j];
            w->velocity[i] = w->velocity[j];
            return;
        }
    w->rate[i] = TAUT_NEW(s->arena, double, s->n);
    w->velocity[i] = w->second_order && !w->by_rates ? TAUT_NEW(s->arena, double, s->n) : NULL;
}

static void make_sum(const taut_runge_kutta *w, int count, const double *weight, taut_sum *sum,
                     taut_stage_path *path)
{
    if (!weight)
        return;
    taut_sum_make(sum, count, weight);
    if (w->by_rates)
        taut_stage_path_make(path, w->tableau, count, weight);
}

static void make_sums(taut_runge_kutta *w)
{
    const taut_tableau *table = w->tableau;
    for (int i = 1; i <= table->stages + table->extra; i++)
        make_sum(w, i, table->a + i * table->width, &w->row[i], &w->path[i]);
    make_sum(w, table->stages + 1, table->error, &w->error, &w->path_error);
    make_sum(w, table->stages, table->error_3, &w->error_3, &w->path_error_3);
}

int taut_runge_kutta_reserve(taut_stepper *s, taut_runge_kutta *w, taut_error *error)
{
    taut_arena *arena = s->arena;
    bool taken[TAUT_TABLEAU_WIDTH] = {false};
    const taut_tableau *table = w->tableau = s->method->data;
    w->second_order = s->field->second_order;
    make_sums(w);
    w->stage = taut_stepper_room(s, 2 * taut_apart(s->n));
    TAUT_NEED(error, w->stage);
    w->speed = w->stage + taut_apart(s->n);
    const int64_t size = w->by_rates ? 0 : (int64_t)(3 + table->dense_rows) * s->n;
    w->polynomial_q = TAUT_NEW(arena, double, size);
    w->polynomial_v = TAUT_NEW(arena, double, w->second_order ? size : 0);
    for (int i = 1; i <= table->stages + table->extra; i++)
        if (i != table->stages) /* the ends of the step live in the states */
            reserve_stage(s, w, i, taken);
    for (int i = 0; i < TAUT_TABLEAU_WIDTH; i++) {
        w->kv[i] = w->rate[i];
        w->kq[i] = w->velocity[i];
    }
    w->at_once = (taut_stages){
        .count = table->stages, .row = w->row, .c = table->c, .kq = w->kq, .kv = w->kv};
    return taut_arena_check(arena, error);
}

int taut_runge_kutta_create(taut_stepper *s, taut_error *error)
{
    const taut_field *field = s->field;
    taut_runge_kutta *w = s->work = TAUT_NEW(s->arena, taut_runge_kutta, 1);
    TAUT_NEED(error, w);
    w->by_rates =
        field->second_order && !field->stages && !field->at_q && !field->extra && s->n >= LARGE;
    return taut_runge_kutta_reserve(s, w, error);
}

void taut_runge_kutta_stages(const taut_runge_kutta *w, const taut_state *begin,
                             const taut_state *end, double **kq, double **kv)
{
    const taut_tableau *table = w->tableau;
    for (int i = 0; i <= table->stages + table->extra; i++) {
        const taut_state *edge = i == 0 ? begin : i == table->stages ? end : NULL;
        double *rate = edge ? edge->a : w->rate[i];
        kv[i] = w->second_order ? rate : NULL;
        kq[i] = !w->second_order ? rate : edge ? edge->v : w->velocity[i];
    }
}

/* A sum over the stages, of positions and (second order) of velocities. */
static inline void form(const taut_stepper *s, const taut_sum *sum, const taut_stage_path *path,
                        double **kq, double **kv, double h, const double *q, const double *v,
                        double *out_q, double *out_v)
{
    const taut_runge_kutta *w = s->work;
    if (w->by_rates)
        taut_stage_path_form(s, path, sum, kq, kv, h, q, v, out_q, out_v);
    else
        taut_loop_form(s->pool, s->n, sum, kq, w->second_order ? kv : NULL, h, q, v, out_q, out_v);
}

int taut_runge_kutta_stage(taut_stepper *s, const taut_state *begin, double h, int i, double **kq,
                           double **kv, taut_error *error)
{
    taut_runge_kutta *w = s->work;
    double *speed = w->by_rates ? w->speed : kq[i];
    form(s, &w->row[i], &w->path[i], kq, kv, h, begin->q, begin->v, w->stage, speed);
    TAUT_TRY(s->field->evaluate(s->field, begin->t + w->tableau->c[i] * h, w->stage,
                                w->second_order ? speed : NULL, w->second_order ? kv[i] : speed,
                                NULL, error));
    taut_field_place(s->field, w->stage, speed);
    return TAUT_OK;
}

/* The rate, and lambda (first order: the algebraic variables), of a state, which moves to where the
 * field is evaluated. */
static int evaluate_state(taut_stepper *s, taut_state *state, taut_error *error)
{
    const taut_runge_kutta *w = s->work;
    TAUT_TRY(s->field->evaluate(s->field, state->t, state->q, w->second_order ? state->v : NULL,
                                state->a, taut_state_lambda(state), error));
    if (!s->field->keeps)
        taut_field_place(s->field, state->q, state->v);
    return TAUT_OK;
}

/* 1/x; 1 where x is not above 0 */
TAUT_INLINED void invert(taut_four *x)
{
    const taut_four one = {1, 1, 1, 1};
    taut_four_mask positive = *x > 0;
    *x = (taut_four)(((taut_four_mask)(one / *x) & positive) | ((taut_four_mask)one & ~positive));
}

/* The estimate of DOP853 joins one of order 5 and one of order 3, |e5|^2 / sqrt(|e5|^2 + 0.01
 * |e3|^2): it shrinks as h^8. Norms as the driver's. [Hairer, Norsett, Wanner I, II.10 (10.17)] */
typedef struct join {
    const taut_stepper *s;
    const double *q, *e3_q, *e3_v;
    double h, factor;
    bool second_order;
    int64_t block;
    double *three; /* sums of order 3, by blocks */
} join;

/* Returns the sum of order 5. */
TAUT_HOT static double join_sums(const join *j, taut_index begin, taut_index n, double *of_three)
{
    const taut_stepper *s = j->s;
    taut_four five = {0}, three = {0}, scale, speed, e5, e3, more;
    for (taut_index i = begin; i < n; i += 4) {
        taut_four_sizes(n, i, s->weight_q ? s->weight_q : j->q, &scale);
        if (!s->weight_q)
            scale = s->atol + s->rtol * scale;
        invert(&scale);
        taut_four_sizes(n, i, s->error_q, &e5);
        taut_four_sizes(n, i, j->e3_q, &e3);
        e5 *= scale;
        e3 *= scale;
        if (j->second_order) {
            speed = fabs(j->h) * scale;
            if (s->weight_v) {
                taut_four_sizes(n, i, s->weight_v, &speed);
                invert(&speed);
            }
            taut_four_sizes(n, i, s->error_v, &more);
            e5 += more * speed;
            taut_four_sizes(n, i, j->e3_v, &more);
            e3 += more * speed;
        }
        five += e5 * e5;
        three += e3 * e3;
    }
    *of_three = (three[0] + three[1]) + (three[2] + three[3]);
    return (five[0] + five[1]) + (five[2] + five[3]);
}

static double join_block(void *context, int64_t begin, int64_t end)
{
    const join *j = context;
    double *three = begin == 0 ? j->three : &j->three[begin / j->block];
    return join_sums(j, (taut_index)begin, (taut_index)end, three);
}

static double scale_block(void *context, int64_t begin, int64_t end)
{
    const join *j = context;
    taut_scale((taut_index)(end - begin), j->factor, j->s->error_q + begin);
    taut_scale((taut_index)(end - begin), j->factor, j->s->error_v + begin);
    return 0;
}

/* Of several ranks: the coordinates that are owned. */
static const taut_halo *halo_of(const taut_stepper *s)
{
    const taut_part *part = taut_context_system(s->context)->part;
    return part ? &part->coordinates : NULL;
}

static double join_ranges(const join *j, const taut_halo *halo, double *of_three)
{
    double five = 0, three = 0, one;
    for (int k = 0; k < halo->ranges; k++) {
        five += join_sums(j, halo->range[k][0], halo->range[k][1], &one);
        three += one;
    }
    *of_three = taut_space_sum(halo->space, three);
    return taut_space_sum(halo->space, five);
}

/* The estimates become one. */
static void join_estimates(const taut_stepper *s, const double *q, double h)
{
    const taut_runge_kutta *w = s->work;
    double of_block[TAUT_LOOP_BLOCKS], three = 0;
    join j = {.s = s,
              .q = q,
              .e3_q = w->stage,
              .e3_v = w->speed,
              .h = h,
              .second_order = w->second_order,
              .block = taut_pool_block(s->n),
              .three = of_block};
    const taut_halo *halo = halo_of(s);
    double five =
        halo ? join_ranges(&j, halo, &three) : taut_pool_sum(s->pool, s->n, join_block, &j);
    for (int64_t k = 0; !halo && k * j.block < s->n; k++)
        three = k == 0 ? of_block[0] : three + of_block[k];
    const double all = five + 0.01 * three;
    j.factor = all > 0 ? sqrt(five / all) : 1;
    taut_pool_loop(s->pool, s->n, scale_block, &j);
}

static void estimate(taut_stepper *s, const taut_state *begin, double h, double **kq, double **kv)
{
    taut_runge_kutta *w = s->work;
    const taut_tableau *table = w->tableau;
    if (!table->error || !s->adaptive)
        return;
    form(s, &w->error, &w->path_error, kq, kv, h, NULL, NULL, s->error_q, s->error_v);
    if (!w->second_order)
        taut_clear(s->n, s->error_v);
    if (!table->error_3)
        return;
    form(s, &w->error_3, &w->path_error_3, kq, kv, h, NULL, NULL, w->stage, w->speed);
    join_estimates(s, begin->q, h);
}

/* Stages of the step from `begin` to `end`, and its end. */
static taut_stages *stages_of(taut_stepper *s, int first, const taut_state *begin,
                              const taut_state *end, double h)
{
    taut_runge_kutta *w = s->work;
    taut_stages *at = &w->at_once;
    w->kq[0] = begin->v;
    w->kv[0] = begin->a;
    w->kq[at->count] = end->v;
    w->kv[at->count] = end->a;
    at->first = first;
    at->t = begin->t;
    at->h = h;
    at->q = begin->q;
    at->v = begin->v;
    at->next_q = end->q;
    at->next_v = end->v;
    return at;
}

int taut_runge_kutta_step(taut_stepper *s, double h, taut_error *error)
{
    taut_runge_kutta *w = s->work;
    const taut_tableau *table = w->tableau;
    TAUT_TRY(taut_runge_kutta_complete(s, error));

    const taut_state *old = &s->now;
    taut_state *next = &s->last;
    double **kq = w->kq, **kv = w->kv;
    int end = s->field->stages ? s->field->stages(s->field, stages_of(s, 1, old, next, h)) : -1;
    if (end < table->stages) {
        taut_runge_kutta_stages(w, old, next, kq, kv);
        for (int i = end < 1 ? 1 : end; i < table->stages; i++)
            TAUT_TRY(taut_runge_kutta_stage(s, old, h, i, kq, kv, error));
        form(s, &w->row[table->stages], &w->path[table->stages], kq, kv, h, old->q, old->v, next->q,
             next->v);
    }
    next->t = old->t + h;
    bool end_counts = table->error && table->error[table->stages] != 0;
    if (end_counts)
        TAUT_TRY(evaluate_state(s, next, error));
    estimate(s, old, h, kq, kv);
    w->fresh = end_counts;
    w->continuous = false;
    w->h = h;
    taut_stepper_turn(s);
    s->statistics->steps++;
    return TAUT_OK;
}

/* The end of the latest step of `at`; false: it cannot be. */
static bool stabilized(taut_stepper *s, const taut_stages *at, taut_projector *by)
{
    taut_statistics *count = s->statistics;
    int64_t factorisations = count->factorisations, solves = count->solves;
    if (by->apply(by, at->t, at->q, at->v, NULL) != 0)
        return false;
    count->stabilizer_factorisations += count->factorisations - factorisations;
    count->stabilizer_solves += count->solves - solves;
    return true;
}

int64_t taut_runge_kutta_several(taut_stepper *s, double begin, double h, int64_t first,
                                 int64_t last, taut_projector *by)
{
    taut_runge_kutta *w = s->work;
    taut_statistics *count = s->statistics;
    const int stages = w->tableau->stages;
    if (w->tableau->error && w->tableau->error[stages] != 0)
        return 0; /* `step` evaluates the end for its estimate, and the next one uses that */
    taut_stages *at = stages_of(s, w->fresh, &s->now, &s->last, h);
    int64_t k = first, made = 1;
    for (; k < last && made > 0; k += made) {
        made = s->field->steps(s->field, at, begin, k, by ? k + 1 : last);
        count->steps += made;
        if (made > 0 && by && !stabilized(s, at, by)) {
            taut_stages_turn(at);
            count->steps--;
            made = 0;
        }
    }
    if (k == first)
        return 0;
    if ((k - first) % 2 != 0)
        taut_stepper_turn(s);
    s->now.t = begin + (double)k * h;
    s->last.t = begin + (double)(k - 1) * h;
    w->fresh = w->continuous = false;
    w->h = h;
    return k - first;
}

int taut_runge_kutta_complete(taut_stepper *s, taut_error *error)
{
    taut_runge_kutta *w = s->work;
    if (!w->fresh)
        TAUT_TRY(evaluate_state(s, &s->now, error));
    w->fresh = true;
    return TAUT_OK;
}

/* |h sum_j weight_j k_j| */
static double combined_norm(taut_stepper *s, int count, const double *weight, double *const *k,
                            double h)
{
    double *sum = ((taut_runge_kutta *)s->work)->speed;
    taut_sum terms;
    taut_sum_make(&terms, count, weight);
    taut_loop_form(s->pool, s->n, &terms, k, NULL, h, NULL, NULL, sum, NULL);
    return sqrt(taut_loop_square(s->pool, s->n, sum));
}

/* |h sum_j weight_j V_j| and |h sum_j weight_j A_j| */
static double combined_norms(taut_stepper *s, const double *weight, double *const *kq,
                             double *const *kv, double h, double *of_rates)
{
    const taut_runge_kutta *w = s->work;
    const int stages = w->tableau->stages;
    taut_stage_path path;
    taut_sum rates;
    if (!w->by_rates) {
        *of_rates = combined_norm(s, stages, weight, kv, h);
        return combined_norm(s, stages, weight, kq, h);
    }
    taut_sum_make(&rates, stages, weight);
    taut_stage_path_make(&path, w->tableau, stages, weight);
    taut_stage_path_form(s, &path, &rates, kq, kv, h, NULL, NULL, w->stage, w->speed);
    *of_rates = sqrt(taut_loop_square(s->pool, s->n, w->speed));
    return sqrt(taut_loop_square(s->pool, s->n, w->stage));
}

/* The last stage lies at the end of the step too: y1 - Y = h sum (b_j - a_j) k_j. Second order:
 * where velocities differ little because an oscillation turns, positions do not; h^2 |dv'|/|dq| is
 * (h omega)^2 of oscillations, and far larger than h |dv'|/|dv| of damped motion. */
double taut_runge_kutta_stiffness(taut_stepper *s)
{
    static const double TURNING = 0.3;
    taut_runge_kutta *w = s->work;
    const taut_tableau *table = w->tableau;
    int last = table->stages - 1;
    double *kq[TAUT_TABLEAU_WIDTH], *kv[TAUT_TABLEAU_WIDTH], weight[TAUT_TABLEAU_WIDTH];
    const double *b = table->a + table->stages * table->width, *a = table->a + last * table->width;
    if (!w->fresh || s->n == 0)
        return 0;
    taut_runge_kutta_stages(w, &s->last, &s->now, kq, kv);
    double **k = w->second_order ? kv : kq, h = fabs(w->h), moved = 0, apart;
    for (int j = 0; j < table->stages; j++)
        weight[j] = b[j] - (j < last ? a[j] : 0);
    if (w->second_order)
        moved = combined_norms(s, weight, kq, kv, h, &apart);
    else
        apart = combined_norm(s, table->stages, weight, kq, h);
    double rate =
        combined_norm(s, 2, (const double[]){1, -1}, (double *const[]){s->now.a, k[last]}, h);
    double hrho = apart > 0 ? rate / apart : 0;
    return moved > 0 ? fmin(hrho, TURNING * h * rate / moved) : hrho;
}

/* Stages are not kept as positions, and those of large systems not as velocities: formed again. */
static void form_node(taut_stepper *s, int j)
{
    const taut_runge_kutta *w = s->work;
    double *kq[TAUT_TABLEAU_WIDTH], *kv[TAUT_TABLEAU_WIDTH];
    taut_runge_kutta_stages(w, &s->last, &s->now, kq, kv);
    if (w->by_rates)
        taut_stage_path_form(s, &w->path[j], &w->row[j], kq, kv, w->h, s->last.q, s->last.v,
                             w->stage, w->speed);
    else
        taut_loop_form(s->pool, s->n, &w->row[j], kq, NULL, w->h, s->last.q, NULL, w->stage, NULL);
}

bool taut_runge_kutta_node(taut_stepper *s, int j, bool place, taut_step_node *node)
{
    const taut_runge_kutta *w = s->work;
    const taut_tableau *table = w->tableau;
    const taut_state *edge = j == 0 ? &s->last : j == table->stages ? &s->now : NULL;
    if (j > table->stages)
        return false;
    *node = (taut_step_node){.h = w->h};
    node->weight = j < table->stages ? table->a[table->stages * table->width + j] : 0;
    node->error = table->error ? table->error[j] : 0;
    node->error_3 = table->error_3 && j < table->stages ? table->error_3[j] : 0;
    if (node->weight == 0 && node->error == 0 && node->error_3 == 0)
        return true; /* as in `counts` */
    node->t = s->last.t + table->c[j] * w->h;
    node->v = edge ? edge->v : w->by_rates ? w->speed : w->velocity[j];
    node->a = edge ? edge->a : w->rate[j];
    node->q = edge ? edge->q : w->stage;
    if ((place || w->by_rates) && !edge)
        form_node(s, j);
    return true;
}

void taut_runge_kutta_stretch(taut_stepper *s, const double *x, double *gx)
{
    if (s->field->stretch)
        s->field->stretch(s->field, x, gx);
    else
        taut_clear(s->m, gx);
}

void taut_runge_kutta_changed(taut_stepper *s)
{
    taut_runge_kutta *w = s->work;
    w->fresh = w->continuous = false;
}

/* The state of the beginning is back, and with it the rate that was formed there. */
void taut_runge_kutta_rejected(taut_stepper *s)
{
    taut_runge_kutta *w = s->work;
    w->fresh = true;
    w->continuous = false;
}

/* The stages serve dense output and stiffness of the step just made, never the next one. */
void taut_runge_kutta_archive(taut_stepper *s, taut_archive *archive)
{
    taut_runge_kutta *w = s->work;
    taut_archive_flag(archive, &w->fresh);
    taut_archive_real(archive, &w->h);
    if (archive->reading)
        w->continuous = false;
}

int taut_field_multipliers(taut_stepper *s, double t, const double *q, const double *v,
                           double *rate, double *lambda, taut_error *error)
{
    taut_statistics before = *s->field->statistics;
    if (s->field->costly)
        return TAUT_OK;
    int status =
        s->field->evaluate(s->field, t, q, s->field->second_order ? v : NULL, rate, lambda, error);
    *s->field->statistics = before;
    return status;
}

int taut_runge_kutta_multipliers(taut_stepper *s, double t, const double *q, const double *v,
                                 double *lambda, taut_error *error)
{
    taut_runge_kutta *w = s->work;
    if (s->m == 0)
        return TAUT_OK;
    const double *known = taut_state_lambda(&s->now);
    if (q != s->now.q || v != taut_state_v(&s->now) || t != s->now.t)
        return taut_field_multipliers(s, t, q, v, w->stage, lambda, error);
    TAUT_TRY(taut_runge_kutta_complete(s, error));
    if (lambda != known)
        taut_copy(s->m, known, lambda);
    return TAUT_OK;
}

#define EXPLICIT(method, ...)                                                                      \
    const taut_method taut_##method = {.name = #method,                                            \
                                       .motions = TAUT_MOTION_RIGID | TAUT_MOTION_SLOW |           \
                                                  TAUT_MOTION_FULL,                                \
                                       .needs = TAUT_CAN_FORCE,                                    \
                                       .refuses = TAUT_HAS_STEPPER,                                \
                                       .data = &taut_tableau_##method,                             \
                                       TAUT_RUNGE_KUTTA_METHOD,                                    \
                                       __VA_ARGS__}

EXPLICIT(euler, .order = 1, .summary = "forward Euler: for comparison",
         .reference = "Euler 1768; Ascher, Qin, Reich 1992, Table 3.1");
EXPLICIT(midpoint, .order = 2, .summary = "explicit midpoint rule",
         .reference = "Runge 1895; Ascher, Qin, Reich 1992, Example 2");
EXPLICIT(rk4, .order = 4, .stability = 2.8284271247461903,
         .summary = "the classical Runge-Kutta method", .reference = "Kutta 1901");
EXPLICIT(dopri5, .order = 5, .error_order = 5, .stiff_limit = 3.25,
         .stiffness = taut_runge_kutta_stiffness,
         .summary = "Dormand and Prince, order 5, embedded estimate of order 4, dense output",
         .reference = "Dormand, Prince 1980; Hairer, Norsett, Wanner I, II.5-6");
EXPLICIT(
    dop8, .order = 8, .error_order = 8, .stiff_limit = 6.1, .stiffness = taut_runge_kutta_stiffness,
    .summary = "DOP853: order 8, embedded estimates of orders 5 and 3, dense output of order 7",
    .reference = "Dormand, Prince 1989; Hairer, Norsett, Wanner I, II.5-6, II.10");
