/* products.c - see products.h. Runs are found greedily: from the first sum that is in none, the
 * longest one of steps up to MOST_PERIOD sums. */
#include "linalg/products.h"

#include "base/four.h"
#include "linalg/order.h"

enum { MOST_PERIOD = 6, SHORT = 8, VECTOR = 4, MOST_TERMS = 6 };

/* ---- finding them */

typedef struct finder {
    const taut_sums *sums;
    bool *taken; /* [sums] */
    taut_index runs, terms;
} finder;

static taut_index terms_of(const taut_sums *s, taut_index i)
{
    return s->start[i + 1] - s->start[i];
}

/* Whether sum k follows j as j follows i. */
static bool follows(const taut_sums *s, taut_index i, taut_index j, taut_index k)
{
    taut_index terms = terms_of(s, k);
    if (terms != terms_of(s, j) || s->to[k] - s->to[j] != s->to[j] - s->to[i])
        return false;
    const taut_index *a = s->a, *b = s->b, p = s->start[i], q = s->start[j], r = s->start[k];
    for (taut_index t = 0; t < terms; t++)
        if (a[r + t] - a[q + t] != a[q + t] - a[p + t] ||
            b[r + t] - b[q + t] != b[q + t] - b[p + t])
            return false;
    return true;
}

/* The length of the run first, first + period, ... */
static taut_index length_of(const finder *f, taut_index first, taut_index period)
{
    const taut_sums *s = f->sums;
    taut_index count = 1, next = first + period;
    while (next < s->sums && !f->taken[next] &&
           (count == 1 ? terms_of(s, next) == terms_of(s, first)
                       : follows(s, next - 2 * period, next - period, next))) {
        count++;
        next += period;
    }
    return count;
}

static void describe(const finder *f, taut_index first, taut_index period, taut_index count,
                     const taut_products *products)
{
    const taut_sums *s = f->sums;
    taut_index other = count > 1 ? first + period : first;
    taut_run *run = &products->run[f->runs];
    *run = (taut_run){.count = count,
                      .to = s->to[first],
                      .to_step = s->to[other] - s->to[first],
                      .terms = terms_of(s, first),
                      .first = f->terms,
                      .a_dense = true,
                      .b_dense = true};
    run->pairs = run->terms > 0 && run->terms % 2 == 0;
    for (taut_index t = 0; t < run->terms; t++) {
        taut_index p = s->start[first] + t, q = s->start[other] + t;
        taut_term *term = &products->term[f->terms + t];
        *term = (taut_term){s->a[p], s->b[p], s->a[q] - s->a[p], s->b[q] - s->b[p]};
        run->a_dense = run->a_dense && term->a_step == 1;
        run->b_dense = run->b_dense && term->b_step == 1;
        run->pairs = run->pairs && term->b_step == 2 && (t % 2 == 0 || term->b == term[-1].b + 1);
    }
    run->pairs = run->pairs && run->a_dense;
}

/* Runs whose sums alternate. */
static void find_pairs(const taut_products *products)
{
    for (taut_index r = 0; r + 1 < products->runs; r++) {
        taut_run *x = &products->run[r], *y = x + 1;
        bool pair = x->to_step == 2 && y->to_step == 2 && y->to == x->to + 1 &&
                    x->count == y->count && x->terms == y->terms && x->a_dense && y->a_dense &&
                    x->b_dense && y->b_dense;
        for (taut_index t = 0; t < x->terms; t++)
            pair = pair && products->term[x->first + t].b == products->term[y->first + t].b;
        x->pair_out = pair;
        r += pair;
    }
}

/* Counts runs and terms, or, with products, writes them. */
static void walk(finder *f, const taut_products *products)
{
    f->runs = f->terms = 0;
    for (taut_index i = 0; i < f->sums->sums; i++)
        f->taken[i] = false;
    for (taut_index first = 0; first < f->sums->sums; first++) {
        taut_index best = 0, period = 1;
        for (taut_index p = 1; p <= MOST_PERIOD && !f->taken[first]; p++) {
            taut_index count = length_of(f, first, p);
            if (count > best) {
                best = count;
                period = p;
            }
        }
        if (best == 0)
            continue;
        for (taut_index k = 0; k < best; k++)
            f->taken[first + k * period] = true;
        if (products)
            describe(f, first, period, best, products);
        f->runs++;
        f->terms += terms_of(f->sums, first);
    }
}

int taut_products_find(const taut_sums *sums, taut_arena *arena, taut_products *products,
                       bool *regular, taut_error *error)
{
    taut_arena scratch;
    taut_arena_init(&scratch, &arena->allocator);
    finder f = {.sums = sums, .taken = TAUT_NEW(&scratch, bool, (int64_t)sums->sums + 1)};
    *products = (taut_products){0};
    *regular = false;
    if (!f.taken)
        return taut_fail_memory(error);
    walk(&f, NULL);
    if ((int64_t)f.runs * SHORT <= sums->sums) {
        products->run = TAUT_NEW(arena, taut_run, f.runs);
        products->term = TAUT_NEW(arena, taut_term, f.terms);
        *regular = products->run && products->term;
        if (*regular)
            walk(&f, products);
        products->runs = f.runs;
        for (taut_index r = 0; *regular && r < f.runs; r++)
            if (products->run[r].count > products->longest)
                products->longest = products->run[r].count;
        if (*regular)
            find_pairs(products);
    }
    taut_arena_clear(&scratch);
    return taut_arena_check(arena, error);
}

int taut_products_transposed(const taut_pattern *g, taut_arena *arena, taut_products *products,
                             bool *regular, taut_error *error)
{
    taut_arena scratch;
    taut_columns columns;
    taut_arena_init(&scratch, &arena->allocator);
    taut_index *to = TAUT_NEW(&scratch, taut_index, g->columns);
    int status =
        to ? taut_columns_build(g->rows, g->columns, g->start, g->column, &scratch, &columns, error)
           : taut_fail_memory(error);
    for (taut_index j = 0; status == 0 && j < g->columns; j++)
        to[j] = j;
    if (status == 0)
        status = taut_products_find(
            &(taut_sums){g->columns, to, columns.start, columns.entry, columns.row}, arena,
            products, regular, error);
    taut_arena_clear(&scratch);
    return status;
}

/* ---- forming them */

/* Sums begin .. end-1 of a run. */
typedef struct part {
    int64_t begin, end;
} part;

/* A number with its sum. */
TAUT_INLINED void change(double *x, taut_products_mode mode, double sum)
{
    *x = mode == TAUT_SUMS_SET        ? sum
         : mode == TAUT_SUMS_NEGATIVE ? -sum
         : mode == TAUT_SUMS_ADD      ? *x + sum
         : mode == TAUT_SUMS_SUBTRACT ? *x - sum
                                      : sum - *x;
}

TAUT_INLINED void store(double *to, taut_products_mode mode, const taut_four *sum)
{
    taut_four *all = (taut_four *)to;
    if (mode == TAUT_SUMS_SET)
        *all = *sum;
    else if (mode == TAUT_SUMS_NEGATIVE)
        *all = -*sum;
    else if (mode == TAUT_SUMS_ADD)
        *all += *sum;
    else if (mode == TAUT_SUMS_SUBTRACT)
        *all -= *sum;
    else
        *all = *sum - *all;
}

TAUT_INLINED void store_apart(double *to, int64_t step, taut_products_mode mode,
                              const taut_four *sum)
{
    for (int k = 0; k < VECTOR; k++)
        change(to + k * step, mode, (*sum)[k]);
}

/* One at a time. */
TAUT_INLINED void form_rest(const taut_run *run, const taut_term *term, part p,
                            taut_products_mode mode, const double *a, const double *b, double *out)
{
    for (int64_t k = p.begin; k < p.end; k++) {
        double sum = 0;
        for (taut_index t = 0; t < run->terms; t++)
            sum += a[term[t].a + k * term[t].a_step] * b[term[t].b + k * term[t].b_step];
        change(out + run->to + k * run->to_step, mode, sum);
    }
}

/* Any steps and any number of terms; those of b may be 1. */
TAUT_INLINED void form_any(const taut_run *run, const taut_term *term, part p,
                           taut_products_mode mode, const double *a, const double *b, double *out,
                           const bool b_dense)
{
    const int64_t terms = run->terms;
    int64_t k = p.begin;
    for (; k + VECTOR <= p.end; k += VECTOR) {
        taut_four sum = {0};
        for (int64_t t = 0; t < terms; t++) {
            const int64_t i = term[t].a_step, j = b_dense ? 1 : term[t].b_step;
            const double *x = a + term[t].a + k * i, *y = b + term[t].b + k * j;
            taut_four left = {x[0], x[i], x[2 * i], x[3 * i]},
                      right = {y[0], y[j], y[2 * j], y[3 * j]};
            if (b_dense)
                right = *(const taut_four *)y;
            sum += left * right;
        }
        store_apart(out + run->to + k * run->to_step, run->to_step, mode, &sum);
    }
    form_rest(run, term, (part){k, p.end}, mode, a, b, out);
}

/* All steps of a and b are 1; or, with `pairs`, b alternates and pairs of terms are loaded
 * together. */
TAUT_INLINED void sum_vector(const double *const *x, const double *const *y, int64_t k,
                             const int terms, const bool pairs, taut_four *sum)
{
    for (int t = 0; t < terms; t++) {
        taut_four right = *(const taut_four *)(y[t] + k);
        if (pairs) {
            const double *at = y[t / 2 * 2] + 2 * k;
            taut_four low = *(const taut_four *)at, high = *(const taut_four *)(at + VECTOR);
            taut_four near = TAUT_PICK(low, high, 0, 1, 4, 5),
                      far = TAUT_PICK(low, high, 2, 3, 6, 7);
            right =
                t % 2 == 0 ? TAUT_PICK(near, far, 0, 4, 2, 6) : TAUT_PICK(near, far, 1, 5, 3, 7);
        }
        *sum = t == 0 ? *(const taut_four *)(x[t] + k) * right
                      : *sum + *(const taut_four *)(x[t] + k) * right;
    }
}

TAUT_INLINED void form_known(const taut_run *run, const taut_term *term, part p,
                             taut_products_mode mode, const double *a, const double *b, double *out,
                             const int terms, const bool pairs, const bool together)
{
    const double *x[MOST_TERMS], *y[MOST_TERMS];
    const int64_t step = run->to_step;
    double *to = out + run->to;
    taut_four sum = {0};
    for (int t = 0; t < terms; t++) {
        x[t] = a + term[t].a;
        y[t] = b + term[t].b;
    }
    int64_t k = p.begin;
    for (; together && k + 2 * VECTOR <= p.end; k += 2 * VECTOR) {
        sum_vector(x, y, k, terms, pairs, &sum);
        store(to + k, mode, &sum);
        sum_vector(x, y, k + VECTOR, terms, pairs, &sum);
        store(to + k + VECTOR, mode, &sum);
    }
    for (; k + VECTOR <= p.end; k += VECTOR) {
        sum_vector(x, y, k, terms, pairs, &sum);
        if (together)
            store(to + k, mode, &sum);
        else
            store_apart(to + k * step, step, mode, &sum);
    }
    form_rest(run, term, (part){k, p.end}, mode, a, b, out);
}

TAUT_INLINED void form_dense(const taut_run *run, const taut_term *term, part p,
                             taut_products_mode mode, const double *a, const double *b, double *out,
                             const int terms)
{
    if (run->to_step == 1)
        form_known(run, term, p, mode, a, b, out, terms, false, true);
    else
        form_known(run, term, p, mode, a, b, out, terms, false, false);
}

TAUT_INLINED void form_pairs(const taut_run *run, const taut_term *term, part p,
                             taut_products_mode mode, const double *a, const double *b, double *out,
                             const int terms)
{
    if (run->to_step == 1)
        form_known(run, term, p, mode, a, b, out, terms, true, true);
    else
        form_known(run, term, p, mode, a, b, out, terms, true, false);
}

/* out alternates between this run and the next; all steps of a and b are 1, and b is the same. */
TAUT_INLINED void form_alternating(const taut_run *run, const taut_term *term, part p,
                                   taut_products_mode mode, const double *a, const double *b,
                                   double *out, const int terms)
{
    const taut_term *other = term + terms;
    const double *x[MOST_TERMS], *z[MOST_TERMS], *y[MOST_TERMS];
    for (int t = 0; t < terms; t++) {
        x[t] = a + term[t].a;
        z[t] = a + other[t].a;
        y[t] = b + term[t].b;
    }
    double *to = out + run->to;
    int64_t k = p.begin;
    for (; k + VECTOR <= p.end; k += VECTOR) {
        taut_four first, second;
        sum_vector(x, y, k, terms, false, &first);
        sum_vector(z, y, k, terms, false, &second);
        taut_four low = TAUT_PICK(first, second, 0, 4, 1, 5),
                  high = TAUT_PICK(first, second, 2, 6, 3, 7);
        store(to + 2 * k, mode, &low);
        store(to + 2 * k + VECTOR, mode, &high);
    }
    form_rest(run, term, (part){k, p.end}, mode, a, b, out);
    form_rest(run + 1, other, (part){k, p.end}, mode, a, b, out);
}

/* Numbers of terms that the compiler sees: bonds of two points in the plane and in space, and what
 * they share. */
#define BY_TERMS(form)                                                                             \
    switch (run->terms) {                                                                          \
    case 2: form(run, term, p, mode, a, b, out, 2); return;                                        \
    case 3: form(run, term, p, mode, a, b, out, 3); return;                                        \
    case 4: form(run, term, p, mode, a, b, out, 4); return;                                        \
    case 6: form(run, term, p, mode, a, b, out, 6); return;                                        \
    default: break;                                                                                \
    }

TAUT_INLINED void form_run(const taut_run *run, const taut_term *term, part p,
                           taut_products_mode mode, const double *a, const double *b, double *out)
{
    if (run->pair_out)
        BY_TERMS(form_alternating)
    else if (run->a_dense && run->b_dense)
        BY_TERMS(form_dense)
    else if (run->pairs && run->terms == 4) {
        form_pairs(run, term, p, mode, a, b, out, 4);
        return;
    } else if (run->pairs && run->terms == 2) {
        form_pairs(run, term, p, mode, a, b, out, 2);
        return;
    }
    if (run->b_dense)
        form_any(run, term, p, mode, a, b, out, true);
    else
        form_any(run, term, p, mode, a, b, out, false);
    if (run->pair_out)
        form_any(run + 1, term + run->terms, p, mode, a, b, out, true);
}

/* Sums begin .. end-1 of all runs, by blocks that stay in the first-level cache: what one run has
 * read, others read next. */
TAUT_INLINED void form_all(const taut_products *products, part all, taut_products_mode mode,
                           const double *a, const double *b, double *out)
{
    enum { BLOCK = 512 };
    for (int64_t begin = all.begin; begin < all.end; begin += BLOCK)
        for (taut_index r = 0; r < products->runs; r++) {
            const taut_run *run = &products->run[r];
            const int64_t end = begin + BLOCK < all.end ? begin + BLOCK : all.end;
            if (begin < run->count)
                form_run(run, products->term + run->first,
                         (part){begin, run->count < end ? run->count : end}, mode, a, b, out);
            r += run->pair_out;
        }
}

typedef struct products_work {
    const taut_products *products;
    taut_products_mode mode;
    const double *a, *b;
    double *out;
} products_work;

#define MODE(name, mode)                                                                           \
    TAUT_HOT static void products_##name(const products_work *w, part p)                           \
    {                                                                                              \
        form_all(w->products, p, mode, w->a, w->b, w->out);                                        \
    }
MODE(set, TAUT_SUMS_SET)
MODE(negative, TAUT_SUMS_NEGATIVE)
MODE(add, TAUT_SUMS_ADD)
MODE(subtract, TAUT_SUMS_SUBTRACT)
MODE(less, TAUT_SUMS_LESS)

static double form_block(void *context, int64_t begin, int64_t end)
{
    const products_work *w = context;
    const part p = {begin, end};
    if (w->mode == TAUT_SUMS_SET)
        products_set(w, p);
    else if (w->mode == TAUT_SUMS_NEGATIVE)
        products_negative(w, p);
    else if (w->mode == TAUT_SUMS_ADD)
        products_add(w, p);
    else if (w->mode == TAUT_SUMS_SUBTRACT)
        products_subtract(w, p);
    else
        products_less(w, p);
    return 0;
}

void taut_products_form(const taut_products *products, taut_products_mode mode, const double *a,
                        const double *b, double *out)
{
    products_work w = {products, mode, a, b, out};
    taut_pool_loop(products->pool, products->longest, form_block, &w);
}
