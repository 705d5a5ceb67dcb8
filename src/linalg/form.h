/* form.h - the matrix that is factored in place of a saddle system.
 *
 *     Schur form (K diagonal and positive): (A + D) y = G2 K^-1 r - s, x = K^-1 (r - G1^T y),
 *     A = G2 K^-1 G1^T
 *     whole form (everything else):
 *     the saddle matrix itself, coordinates and bonds interleaved by the order
 *
 * Both are scaled symmetrically by powers of two (no rounding) so that pivots can be compared
 * with 1: coordinates by 1/sqrt(max |K|) of their row, bonds by the size of A_ii + d_i. Without
 * it, masses of 1e-26 kg would look like zeros compared with G.
 *
 * Entry (i,j) of the matrix is stored at offset + i + j*step, which covers dense and banded
 * storage by columns alike. */
#ifndef TAUT_LINALG_FORM_H
#define TAUT_LINALG_FORM_H

#include "linalg/order.h"

/* Values of a saddle matrix: double or double complex, as in the shape. */
typedef struct taut_saddle_values {
    const void *k, *g1, *g2, *d; /* d may be NULL; g2 is never */
    const taut_saddle_sum *sum; /* not NULL: k is not used, and g1, g2 and d are those of the sum */
} taut_saddle_values;

typedef struct taut_form_runs taut_form_runs;

typedef struct taut_form {
    taut_saddle_shape shape;
    bool schur;
    bool definite;             /* real, symmetric and positive definite */
    bool lower;                /* only the lower half is stored */
    bool ordered;              /* places differ from the natural order */
    taut_index rows;           /* of the matrix */
    taut_index half_width;     /* largest |i - j| */
    taut_index *place;         /* of bond i (Schur), of coordinate j and bond n + i (whole) */
    taut_columns columns;      /* Schur: G by columns, row[] already holding places */
    double *scale;             /* Schur [m]; whole [n+m] */
    void *k_inverse, *g1, *g2; /* Schur: [n], scaled [entries]; g2 == g1 when symmetric */
    void *vector;              /* right-hand side and solution, [rows] */
    /* the same by runs of constant stride, unscaled (form_runs.h); NULL: by indices. Then g1 and
     * g2 are W and G, transposed, and `scale` is room for the diagonal */
    taut_form_runs *runs;
    int64_t offset, step;
} taut_form;

/* Chooses the form (`whole` excludes the Schur form); `order` asks for a bandwidth-reducing
 * order, which is kept only where it is narrower than the natural one. The columns of G are in an
 * arena of their own, since forms by runs do not need them once they are made. */
int taut_form_create(const taut_saddle_shape *shape, bool whole, bool order, taut_arena *arena,
                     taut_arena *columns, taut_form *form, taut_error *error);

/* Measures the half-width of the present order. */
void taut_form_measure(taut_form *form);
/* Gives a Schur form the natural order again; its half-width stays as it was. */
int taut_form_natural(taut_form *form, const taut_allocator *allocator, taut_error *error);
/* Whole form: puts every bond right behind the last of its coordinates, without which its pivot is
 * -D alone, and measures. *narrow: the half-width is at most `most`; else the order stays. */
int taut_form_postpone(taut_form *form, taut_index most, const taut_allocator *allocator,
                       bool *narrow, taut_error *error);
/* The work arrays, once the form is accepted. */
int taut_form_reserve(taut_form *form, taut_arena *arena, taut_error *error);
size_t taut_form_scalar(const taut_form *form); /* bytes of one number */

/* Scales, and keeps what solving needs. To be called before assemble or taut_form_triplets. */
int taut_form_load(taut_form *form, const taut_saddle_values *values, taut_error *error);
/* Adds all entries to a zeroed matrix. */
void taut_form_assemble(const taut_form *form, const taut_saddle_values *values, void *matrix);
/* What taut_form_load keeps. */
void taut_form_archive(taut_form *form, taut_archive *archive);
/* x[n], y[m] -> form->vector, and back after it was solved for. */
void taut_form_before(taut_form *form, const void *x, void *y);
void taut_form_after(taut_form *form, void *x, void *y);

/* The same for complex numbers by their parts, in the whole form. */
void taut_form_before_parts(taut_form *form, double *const x[2], double *const y[2]);
void taut_form_after_parts(const taut_form *form, double *const x[2], double *const y[2]);

/* The size below which a scaled pivot counts as zero, for eliminations with rows of `width`
 * entries. */
double taut_form_tolerance(taut_index width);
/* Reports that coordinate j has no mass. */
int taut_form_no_mass(taut_index j, taut_error *error);
/* Reports the pivot in column `column` of the matrix as zero (or the values as not finite). */
int taut_form_singular(const taut_form *form, const taut_saddle_values *values, taut_index column,
                       taut_error *error);

#endif
