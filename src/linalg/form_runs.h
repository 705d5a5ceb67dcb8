/* form_runs.h - the Schur form of real, symmetric systems (form.h) by runs of constant stride
 * (products.h), for band matrices that own kernels factor:
 *
 *     W = G K^-1,   A + D = W G^T + D,   (A + D) y = W r - s,   x = K^-1 r - W^T y
 *
 * Rows of G with the same number of entries that follow each other are a group, and are kept
 * transposed: first entries, second entries, ... Nothing is scaled: pivots are compared with their
 * own diagonal entry, which is the same decision. */
#ifndef TAUT_LINALG_FORM_RUNS_H
#define TAUT_LINALG_FORM_RUNS_H

#include "linalg/form.h"
#include "linalg/products.h"

typedef struct taut_form_group {
    taut_index rows, terms, first; /* first entry, in G by rows and in the transposed order */
} taut_form_group;

struct taut_form_runs {
    bool diagonals; /* A is stored by diagonals (segments.h); else as form.h says */
    taut_index groups;
    taut_form_group *group;
    taut_products rows, columns, matrix; /* of W r, W^T y, W G^T */
    double *k;       /* the K that `inverse` is made of, [n]; not where the shape counts changes */
    double *inverse; /* 1/K of the column of each entry, transposed order; not of K = 1 */
    bool known;      /* k is there */
    int64_t changes; /* of k, where the shape counts them */
    bool unit;       /* K = 1: W is G, one array */
    double *w;       /* the array of W otherwise */
    double *room;    /* [rows]: the vector of a system that is reordered */
};

/* form->runs, or NULL where the pattern has no long runs. */
int taut_form_runs_create(taut_form *form, bool diagonals, taut_arena *arena, taut_error *error);
/* Keeps K^-1 and, transposed, W and G; values->g1 may be form->g2, where G is transposed already.
 */
int taut_form_runs_load(taut_form *form, const taut_saddle_values *values, taut_error *error);
/* Writes every entry of A + D that is not zero by its pattern. */
void taut_form_runs_assemble(const taut_form *form, const double *d, double *matrix);
/* After `unit` changed: where W is. */
void taut_form_runs_unit(taut_form *form);
/* As taut_form_before and taut_form_after; x NULL: only bonds have a right-hand side; `opposite`:
 * y holds -s. Without reordering form->vector is y until then. */
void taut_form_runs_before(taut_form *form, bool opposite, const double *x, double *y);
void taut_form_runs_after(taut_form *form, double *x, double *y);
/* After taut_form_runs_before without x: x = -K^-1 G^T y. */
void taut_form_runs_after_bonds(taut_form *form, double *x, double *y);
/* y = G x; x = -K^-1 G^T y */
void taut_form_runs_product(const taut_form *form, const double *x, double *y);
void taut_form_runs_pull(const taut_form *form, const double *y, double *x);

#endif
