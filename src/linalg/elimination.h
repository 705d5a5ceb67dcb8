/* elimination.h - the order in which a sparse positive definite matrix A = G K^-1 G^T + D is
 * eliminated, and the fronts of that elimination.
 *
 * A is a sum of cliques: a coordinate joins all its bonds. That is the quotient graph with which
 * minimum degree begins, so that A itself is never formed. Approximate degrees, mass elimination,
 * indistinguishable bonds and aggressive absorption as in
 *
 *     P. Amestoy, T. Davis, I. Duff, SIAM J. Matrix Anal. Appl. 17 (1996) 886-905
 *
 * A front is a dense matrix: `pivots` bonds that are eliminated there, at places that follow each
 * other, and `border` more, of fronts further up. Fronts come in postorder, and small ones are
 * merged with the next one up where few zeros are stored for it. */
#ifndef TAUT_LINALG_ELIMINATION_H
#define TAUT_LINALG_ELIMINATION_H

#include "linalg/order.h"

typedef struct taut_front {
    taut_index first, pivots, border; /* place of the first pivot */
    taut_index parent, child, before; /* fronts, or -1: the last child, the child before this one */
    int64_t list;   /* places[list .. list + border - 1], ascending; and their rows in the parent */
    int64_t column; /* numbers: of the first pivot column, of pivots + border rows and a few more */
    /* in the stack: what the border adds to the parent, border^2 and a few more, as it is formed
     * above that of the children, and afterwards */
    int64_t formed, kept;
} taut_front;

typedef struct taut_elimination {
    taut_index rows, fronts;
    taut_front *front;
    taut_index *place;  /* [rows] of each bond */
    taut_index *places; /* borders of all fronts */
    taut_index *local;  /* the same as rows of the parent */
    int64_t numbers;    /* of all pivot columns */
    int64_t stacked;    /* of the stack */
    taut_index largest; /* rows of the largest front */
    double work;        /* multiplications with additions of a factorisation */
} taut_elimination;

/* Columns are stored with a few rows more, so that loops need not end with single ones. */
enum { TAUT_FRONT_MORE = 3 };

/* `g`: the columns of G; what its rows are called is what places are given to. */
int taut_eliminate(taut_index rows, taut_index columns, const taut_columns *g, taut_arena *arena,
                   taut_elimination *elimination, taut_error *error);

#endif
