/* loops.c - see loops.h. */
#include "base/loops.h"

#include "base/hot.h"

typedef struct loop {
    double factor;
    const double *x;
    double *y;
} loop;

static double copy(void *context, int64_t begin, int64_t end)
{
    const loop *l = context;
    taut_copy(end - begin, l->x + begin, l->y + begin);
    return 0;
}

void taut_loop_copy(taut_pool *pool, int64_t n, const double *from, double *to)
{
    taut_pool_loop(pool, n, copy, &(loop){.x = from, .y = to});
}

static double clear(void *context, int64_t begin, int64_t end)
{
    taut_clear(end - begin, ((const loop *)context)->y + begin);
    return 0;
}

void taut_loop_clear(taut_pool *pool, int64_t n, double *x)
{
    taut_pool_loop(pool, n, clear, &(loop){.y = x});
}

static double fill(void *context, int64_t begin, int64_t end)
{
    const loop *l = context;
    for (int64_t i = begin; i < end; i++)
        l->y[i] = l->factor;
    return 0;
}

void taut_loop_fill(taut_pool *pool, int64_t n, double value, double *x)
{
    taut_pool_loop(pool, n, fill, &(loop){.factor = value, .y = x});
}

static double add(void *context, int64_t begin, int64_t end)
{
    const loop *l = context;
    taut_add((taut_index)(end - begin), l->x + begin, l->y + begin);
    return 0;
}

void taut_loop_add(taut_pool *pool, int64_t n, const double *y, double *x)
{
    taut_pool_loop(pool, n, add, &(loop){.x = y, .y = x});
}

static double add_scaled(void *context, int64_t begin, int64_t end)
{
    const loop *l = context;
    taut_add_scaled(end - begin, l->factor, l->x + begin, l->y + begin);
    return 0;
}

void taut_loop_add_scaled(taut_pool *pool, int64_t n, double factor, const double *y, double *x)
{
    taut_pool_loop(pool, n, add_scaled, &(loop){factor, y, x});
}

TAUT_HOT static void loop_multiply(int64_t n, const double *restrict by, double *restrict x)
{
    TAUT_UNROLLED
    for (int64_t i = 0; i < n; i++)
        x[i] *= by[i];
}

static double multiply(void *context, int64_t begin, int64_t end)
{
    const loop *l = context;
    loop_multiply(end - begin, l->x + begin, l->y + begin);
    return 0;
}

void taut_loop_multiply(taut_pool *pool, int64_t n, const double *by, double *x)
{
    taut_pool_loop(pool, n, multiply, &(loop){.x = by, .y = x});
}

TAUT_HOT static void loop_scale(int64_t n, double factor, const double *restrict x,
                                double *restrict y)
{
    TAUT_UNROLLED
    for (int64_t i = 0; i < n; i++)
        y[i] = factor * x[i];
}

static double scale(void *context, int64_t begin, int64_t end)
{
    const loop *l = context;
    loop_scale(end - begin, l->factor, l->x + begin, l->y + begin);
    return 0;
}

void taut_loop_scale(taut_pool *pool, int64_t n, double factor, const double *x, double *y)
{
    taut_pool_loop(pool, n, scale, &(loop){factor, x, y});
}

static double largest(void *context, int64_t begin, int64_t end)
{
    return taut_largest(end - begin, ((const loop *)context)->x + begin);
}

double taut_loop_largest(taut_pool *pool, int64_t n, const double *x)
{
    return taut_pool_largest(pool, n, largest, &(loop){.x = x});
}

static double square(void *context, int64_t begin, int64_t end)
{
    return taut_square((taut_index)(end - begin), ((const loop *)context)->x + begin);
}

double taut_loop_square(taut_pool *pool, int64_t n, const double *x)
{
    return taut_pool_sum(pool, n, square, &(loop){.x = x});
}

/* ---- sums of stages */

typedef struct form {
    taut_sum sum;
    double *const *kq, *const *kv, h;
    const double *q, *v;
    double *out_q, *out_v;
} form;

static const double *at(const double *x, int64_t begin)
{
    return x ? x + begin : NULL;
}

static double form_block(void *context, int64_t begin, int64_t end)
{
    const form *f = context;
    const taut_index n = (taut_index)(end - begin);
    double *kq[TAUT_MOST_TERMS], *kv[TAUT_MOST_TERMS];
    for (int j = 0; j < f->sum.terms; j++) {
        kq[f->sum.term[j]] = f->kq[f->sum.term[j]] + begin;
        kv[f->sum.term[j]] = f->kv ? f->kv[f->sum.term[j]] + begin : NULL;
    }
    if (f->kv)
        taut_sum_form_pair(n, &f->sum, kq, kv, f->h, at(f->q, begin), at(f->v, begin),
                           f->out_q + begin, f->out_v + begin);
    else
        taut_sum_form(n, &f->sum, kq, f->h, at(f->q, begin), f->out_q + begin);
    return 0;
}

void taut_loop_form(taut_pool *pool, taut_index n, const taut_sum *sum, double *const *kq,
                    double *const *kv, double h, const double *q, const double *v, double *out_q,
                    double *out_v)
{
    if (taut_pool_size(pool) == 1 && kv)
        taut_sum_form_pair(n, sum, kq, kv, h, q, v, out_q, out_v);
    else if (taut_pool_size(pool) == 1)
        taut_sum_form(n, sum, kq, h, q, out_q);
    else
        taut_pool_loop(pool, n, form_block, &(form){*sum, kq, kv, h, q, v, out_q, out_v});
}

typedef struct sums {
    double h;
    const taut_loop_sum *of;
} sums;

static double sums_block(void *context, int64_t begin, int64_t end)
{
    enum { PART = 256 };
    const sums *both = context;
    for (int64_t i = begin; i < end; i += PART)
        for (int f = 0; f < 2; f++) {
            const taut_loop_sum *one = &both->of[f];
            double *k[TAUT_MOST_TERMS];
            for (int j = 0; j < one->sum->terms; j++)
                k[one->sum->term[j]] = one->k[one->sum->term[j]] + i;
            taut_sum_form((taut_index)(end - i < PART ? end - i : PART), one->sum, k, both->h,
                          at(one->base, i), one->out + i);
        }
    return 0;
}

void taut_loop_sums(taut_pool *pool, taut_index n, double h, const taut_loop_sum of[2])
{
    taut_pool_loop(pool, n, sums_block, &(sums){h, of});
}
