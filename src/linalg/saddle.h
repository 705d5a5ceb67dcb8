/* saddle.h - the one linear solver of Taut: saddle systems
 *
 *     [ K   G1^T ] [x]   [r]
 *     [ G2  -D   ] [y] = [s]        K n x n, G1 and G2 m x n, D = diag(d) >= 0 (or absent)
 *
 * real or complex, symmetric or not. m = 0 makes it a solver for K. analyse once (create),
 * factor as often as the values change, solve for several right-hand sides. Nothing is allocated
 * after create, except inside MUMPS. A solver belongs to one thread; those with the sparse
 * backend that MUMPS factors wait for one another.
 *
 * With K diagonal and positive, the matrix that is factored is A = G2 K^-1 G1^T + D (m rows),
 * else the saddle matrix (n + m rows). Its size and band decide when the choice is left open:
 * tiny up to 16 rows, then the cheapest, by estimate, of banded, dense (up to 300 rows) and
 * sparse. */
#ifndef TAUT_LINALG_SADDLE_H
#define TAUT_LINALG_SADDLE_H

#include <complex.h>

#include "base/archive.h"
#include "base/pool.h"
#include "base/space.h"

typedef enum taut_backend {
    TAUT_BACKEND_AUTO,
    TAUT_BACKEND_TINY,  /* own dense kernels, matrices of at most 16 rows */
    TAUT_BACKEND_DENSE, /* LAPACK, or own kernels in the core build */
    /* after a bandwidth-reducing order: O((n+m) b^2); with K diagonal and positive, on A = G2
     * K^-1 G1^T + D */
    TAUT_BACKEND_BANDED,
    /* K diagonal and positive: own multifrontal factors of A (fronts.c); else MUMPS */
    TAUT_BACKEND_SPARSE,
    TAUT_BACKEND_COUNT
} taut_backend;
const char *
taut_backend_name(taut_backend backend); /* "auto", "tiny", "dense", "banded", "sparse" */
bool taut_backend_available(taut_backend backend);

typedef struct taut_saddle_shape {
    taut_index n, m;
    /* pattern of K by rows; NULL: K is diagonal, values [n] */
    const taut_index *k_start, *k_column;
    /* pattern of G1 and G2 by rows; columns unsorted, may repeat (entries add up) */
    const taut_index *g_start, *g_column;
    bool complex_values;
    bool symmetric; /* K symmetric and G1 == G2 */
    bool positive;  /* K symmetric positive definite: A = G K^-1 G^T may be used */
    /* a number that changes when a diagonal K does; NULL: each K is compared with the last */
    const int64_t *k_changes;
    taut_pool *pool; /* threads for long loops; NULL: one. The numbers are the same */
    /* of several ranks, which then create, factor and solve together: those of x and y. Every row
     * that meets a row owned is there. NULL: all of the matrix is here */
    const taut_halo *column_halo, *row_halo;
} taut_saddle_shape;

typedef struct taut_saddle taut_saddle;

/* Real arrays that make a saddle matrix with a pattern of K, real or complex, as it is assembled:
 *     K = diag(diagonal) + sum_{p < parts} factor_p part_p,   D = diag(d_factor_i d_i) */
enum { TAUT_SADDLE_PARTS = 3 };
typedef struct taut_saddle_sum {
    const double *diagonal; /* [n], or NULL */
    int parts;
    const double *part[TAUT_SADDLE_PARTS]; /* on the pattern of K */
    double complex factor[TAUT_SADDLE_PARTS];
    const double *g1, *g2; /* g2 NULL: g1 */
    const double *d;       /* [m]; NULL: 0 */
    /* entry i d_step; d_step 0: one for all */
    const double complex *d_factor;
    int d_step;
} taut_saddle_sum;

/* Analyses. The patterns must stay alive. */
int taut_saddle_create(const taut_saddle_shape *shape, taut_backend backend,
                       const taut_allocator *allocator, taut_saddle **saddle, taut_error *error);
void taut_saddle_destroy(taut_saddle *saddle);
taut_backend taut_saddle_backend(const taut_saddle *saddle);
/* What TAUT_BACKEND_AUTO would choose, without the memory of a matrix. */
int taut_saddle_choice(const taut_saddle_shape *shape, const taut_allocator *allocator,
                       taut_backend *backend, taut_error *error);
/* What a factorisation takes, by estimate from sizes alone. */
double taut_saddle_seconds(const taut_saddle *saddle);
/* One line: "banded, A of half-width 1 after reordering, 99999 rows". */
const char *taut_saddle_structure(const taut_saddle *saddle);

/* Factors. g2 == NULL means g1; d == NULL means 0. A singular matrix gives TAUT_ERROR_SINGULAR. */
int taut_saddle_factor(taut_saddle *saddle, const double *k, const double *g1, const double *g2,
                       const double *d, taut_error *error);
int taut_saddle_factor_complex(taut_saddle *saddle, const double complex *k,
                               const double complex *g1, const double complex *g2,
                               const double complex *d, taut_error *error);
int taut_saddle_factor_sum(taut_saddle *saddle, const taut_saddle_sum *sum, taut_error *error);
/* Solves in place for `count` right-hand sides: x[count][n] holds r and becomes x, y[count][m]
 * holds s and becomes y. */
int taut_saddle_solve(taut_saddle *saddle, int count, double *x, double *y, taut_error *error);
int taut_saddle_solve_complex(taut_saddle *saddle, int count, double complex *x, double complex *y,
                              taut_error *error);
/* The same for one right-hand side of a complex system with a pattern of K: real parts x[0] and
 * y[0], imaginary ones x[1] and y[1]. */
int taut_saddle_solve_parts(taut_saddle *saddle, double *const x[2], double *const y[2],
                            taut_error *error);

/* The factorisation, if there is one; the sparse backend factors again when it is read. */
void taut_saddle_archive(taut_saddle *saddle, taut_archive *archive);

/* Rank of G: rows scaled to unit length; a row whose part perpendicular to the rows before it
 * (in the band order) is at most `tolerance` long counts as dependent (0 means 1e-10). O(m b^2),
 * b the half-width of G G^T: O(m) for chains; TAUT_ERROR_SIZE when b is so large that the band
 * does not fit. redundant[] (size m, may be NULL) marks rows that depend on earlier ones; for
 * each marked row partner[] (may be NULL) names an unmarked row with the largest coefficient in
 * that dependence (-1 for a zero row). When naming takes too long (thousands of long
 * dependences), a row that others depend on may be marked in place of a later one; the rank is
 * right all the same. residual (may be NULL): values g_i; *conflict (may be NULL): whether
 * a dependent row has a right-hand side that its partners cannot satisfy: the values g_i / |G_i|
 * disagree by more than 1e-12 and 1e-5 of their size. */
int taut_rank(const taut_saddle_shape *shape, const double *g, double tolerance,
              const double *residual, taut_index *rank, unsigned char *redundant,
              taut_index *partner, bool *conflict, const taut_allocator *allocator,
              taut_error *error);

#endif
