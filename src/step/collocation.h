/* collocation.h - implicit Runge-Kutta methods of 1 to 5 stages: coefficients as data, and what
 * follows from them.
 *
 * Stages at c_i; a polynomial through values at the stages is sum_i l_i(theta) x_i, theta = (t -
 * t0)/h, l_i the Lagrange polynomials. Collocation has a_ij = int_0^{c_i} l_j; the other methods
 * have A as data. With c_s = 1 the last row of A is b: the end of a step is its last stage. A is
 * regular; an explicit first stage (ESDIRK), whose values are those at the beginning, is not one of
 * the stages, and its column of A is kept apart. Diagonally implicit methods (A lower triangular,
 * one value on the diagonal) have low stage order: their polynomial is the line through the first
 * and the last stage. */
#ifndef TAUT_STEP_COLLOCATION_H
#define TAUT_STEP_COLLOCATION_H

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

enum { TAUT_STAGES_MAX = 5, TAUT_SPECTRAL_MAX = 3 };

/* A real eigenvalue of A, or one of a complex pair:  A right = mu right,  left A = mu left,
 * left . right = 1. A vector over the stages is x = sum of right (left . x) over real blocks and
 * 2 Re(...) over complex ones. */
typedef struct taut_spectral {
    bool real;
    /* real and imaginary parts */
    double mu[2], right[TAUT_STAGES_MAX][2], left[TAUT_STAGES_MAX][2];
} taut_spectral;

typedef struct taut_stage_data {
    int stages, blocks;
    double c[TAUT_STAGES_MAX];
    taut_spectral block[TAUT_SPECTRAL_MAX]; /* triangular: the diagonal alone */
    /* NULL: collocation; else the rows of A, [stages][stages] */
    const double *a;
    bool triangular;
    const double *early; /* the column of an explicit first stage; NULL: there is none */
    /* The error of velocities is h times the sum of these with the accelerations of the stages,
     * and of the explicit one; NULL: the polynomial is compared with the beginning of the step. */
    const double *error;
    double early_error;
} taut_stage_data;

extern const taut_stage_data taut_radau_table[TAUT_STAGES_MAX]; /* entry s - 1 has s stages */
/* (implicit_tables.c) */
extern const taut_stage_data taut_gauss2_table, taut_gauss4_table, taut_gauss6_table,
    taut_lobatto2_table, taut_lobatto4_table, taut_lobatto6_table, taut_sdirk2_table,
    taut_sdirk3_table, taut_sdirk4_table, taut_trbdf2_table, taut_esdirk4_table;

typedef struct taut_collocation {
    int stages, blocks;
    const double *c;
    bool ends;       /* with the last stage */
    bool begins;     /* with an explicit stage: */
    bool triangular; /* A */
    bool dense;      /* the polynomials of the stages lead to the end of the step */
    double early[TAUT_STAGES_MAX], early_square[TAUT_STAGES_MAX]; /* its column e of A, and A e */
    double b[TAUT_STAGES_MAX], b_square[TAUT_STAGES_MAX];         /* b^T, b^T A */
    double node[TAUT_STAGES_MAX];                                 /* of the polynomials */
    int nodes;
    /* of the error estimate: of the beginning, of the explicit stage, of the stages */
    double compare_start, compare_early, compare[TAUT_STAGES_MAX];
    double a[TAUT_STAGES_MAX][TAUT_STAGES_MAX];
    double square[TAUT_STAGES_MAX][TAUT_STAGES_MAX];         /* A A */
    double inverse[TAUT_STAGES_MAX][TAUT_STAGES_MAX];        /* A^-1 */
    double inverse_square[TAUT_STAGES_MAX][TAUT_STAGES_MAX]; /* A^-1 A^-1 */
    double basis[TAUT_STAGES_MAX][TAUT_STAGES_MAX];          /* l_i = sum_k basis[i][k] theta^k */
    /* T^-1: left vectors; of complex ones the real and the imaginary part */
    double apart[TAUT_STAGES_MAX][TAUT_STAGES_MAX];
    double together[TAUT_STAGES_MAX][TAUT_STAGES_MAX]; /* T */
    double complex mu[TAUT_SPECTRAL_MAX], right[TAUT_SPECTRAL_MAX][TAUT_STAGES_MAX],
        left[TAUT_SPECTRAL_MAX][TAUT_STAGES_MAX];
    bool real[TAUT_SPECTRAL_MAX];
    /* the real eigenvalue, or the size of the first pair: the filter of the error estimate */
    double gamma;
} taut_collocation;

void taut_collocation_make(const taut_stage_data *data, taut_collocation *collocation);
/* weight[i]: l_i at theta, integrated `integrals` (0, 1, 2) times from 0. */
void taut_collocation_weights(const taut_collocation *collocation, double theta, int integrals,
                              double *weight);
/* prod_i (x - c_i) over the nodes, to which the error of a polynomial through the stages is
 * proportional, integrated once or twice from `from` over `length`; beyond the step it gives the
 * error of a continuation. */
double taut_collocation_miss(const taut_collocation *collocation, double from, double length,
                             int integrals);
/* The largest of it within a step. */
double taut_collocation_between(const taut_collocation *collocation, int integrals);

/* Values of all stages, x[stages][size]. Continued from a step of length 1 into the next one of
 * length `ratio`: values at its stages. */
void taut_collocation_extend(const taut_collocation *collocation, double ratio, int32_t size,
                             double *from, double *to);
/* left . x of every block in place of x, of a complex one the real part and then the imaginary
 * one; and back. values: [stages][size]. */
void taut_collocation_split(const taut_collocation *collocation, int32_t size, double *values);
void taut_collocation_join(const taut_collocation *collocation, int32_t size, double *values);
/* to_i = base + c_i along extra + scale sum_j matrix_ij from_j, from and to [stages][size]; base
 * and extra [size] may be NULL. The matrix is one of those above. */
void taut_collocation_combine(const taut_collocation *collocation, const double *matrix,
                              double scale, int32_t size, const double *base, double along,
                              double *extra, double *from, double *to);
/* to[size] = scale sum_j row_j from_j. */
void taut_collocation_row(const taut_collocation *collocation, const double *row, double scale,
                          int32_t size, double *from, double *to);

#endif
