/* products.h - lists of sums of products, found once and formed often:
 *
 *     out[to_i] = sum_t a[a_it] b[b_it]
 *
 * A product with a sparse matrix, its transpose, or G K^-1 G^T is such a list. In chains, ropes and
 * grids the places of one sum follow from those of the last, or of the last but one (coordinates of
 * a point alternate), by constant steps: these sums are one run, which needs no indices and is
 * formed four at a time. */
#ifndef TAUT_LINALG_PRODUCTS_H
#define TAUT_LINALG_PRODUCTS_H

#include "base/pool.h"

typedef struct taut_term {
    taut_index a, b, a_step, b_step;
} taut_term;

typedef struct taut_run {
    taut_index count, to, to_step;
    taut_index terms, first; /* term[first .. first + terms - 1] */
    bool a_dense, b_dense;   /* all steps are 1 */
    /* terms come in pairs of neighbours in b, x and y of points that alternate; and this sum and
     * the next run's are such a pair in `out`, with the same b */
    bool pairs, pair_out;
} taut_run;

typedef struct taut_products {
    taut_index runs, longest; /* number, and the most sums of one */
    taut_run *run;
    taut_term *term;
    taut_pool *pool; /* threads that form them; NULL: one */
} taut_products;

/* What is to be found out: sum i < sums has the terms start[i] .. start[i+1]-1. */
typedef struct taut_sums {
    taut_index sums;
    const taut_index *to, *start, *a, *b;
} taut_sums;

/* Finds the runs. *regular: false when they are so short that a loop over indices is faster;
 * nothing is made then. */
int taut_products_find(const taut_sums *sums, taut_arena *arena, taut_products *products,
                       bool *regular, taut_error *error);

/* Those of G^T y for values of G by rows: a is G, b is y, and `out` has all columns. */
int taut_products_transposed(const taut_pattern *g, taut_arena *arena, taut_products *products,
                             bool *regular, taut_error *error);

/* out = sums; out = -sums; out += sums; out -= sums; out = sums - out. `out` overlaps neither a nor
 * b. */
typedef enum taut_products_mode {
    TAUT_SUMS_SET,
    TAUT_SUMS_NEGATIVE,
    TAUT_SUMS_ADD,
    TAUT_SUMS_SUBTRACT,
    TAUT_SUMS_LESS
} taut_products_mode;
void taut_products_form(const taut_products *products, taut_products_mode mode, const double *a,
                        const double *b, double *out);

#endif
