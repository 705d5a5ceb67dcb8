/* fused_graph.h - the equations of a step as nodes of one graph; shared by fused_graph.c, which
 * makes them, and fused.c, which makes tapes of them. */
#ifndef TAUT_SYSTEM_FUSED_GRAPH_H
#define TAUT_SYSTEM_FUSED_GRAPH_H

#include "system/fused.h"

enum { TAUT_FUSED_RODS = 8, TAUT_FUSED_COORDINATES = 64, TAUT_FUSED_LENGTHS = 32 };

typedef struct taut_fuser {
    const taut_system *system;
    taut_arena *scratch, *arena; /* the result is in `arena` */
    taut_fused *fused;
    taut_graph *graph;
    taut_index n, m;
    int32_t zero;
    int32_t *value;                  /* node of each register of a tape */
    int32_t *force, *mass;           /* [n], [n][n] */
    int32_t *bond, *bond_dt, *gamma; /* [m] */
    int32_t *row, *entry;            /* G: [m][n], and in the order of its pattern */
    int32_t *lambda, *x;             /* [m], [results] */
    int32_t energy[TAUT_FUSED_ENERGIES];
    taut_index results;
    /* factors: numbers of rigid bonds, W^T, W^T D^-1, those of A */
    taut_index rods, rod[TAUT_FUSED_RODS];
    int32_t w[TAUT_FUSED_RODS * TAUT_FUSED_COORDINATES],
        u[TAUT_FUSED_RODS * TAUT_FUSED_COORDINATES], a[TAUT_FUSED_RODS * TAUT_FUSED_RODS];
    /* inputs from `slot` on stand for nodes, through which nothing is differentiated */
    int32_t *stands;
    int32_t pivot[2 * (TAUT_FUSED_LENGTHS + TAUT_FUSED_RODS +
                       TAUT_FUSED_COORDINATES)]; /* each with its diagonal entry */
    int32_t pivots, slot;                        /* numbers of these and of inputs */
    int32_t fixed;                               /* inputs from there on do not vary */
} taut_fuser;

/* Inputs of the graph are q, v, t, targets of bonds, parameters, compliances, damping times. Makes
 * x, lambda, G and the pivots; arrays are reserved and begin with f->zero. */
int taut_fused_equations(taut_fuser *f);
/* M = L D L^T and A = L' D' L'^T. */
void taut_fused_factor(taut_fuser *f);
/* M x + G^T lambda = force[n], G x = -r; force becomes L^-1 force. x may be NULL. */
void taut_fused_solve(const taut_fuser *f, int32_t *force, const int32_t *r, int32_t *lambda,
                      int32_t *x);
/* Levels of slow motion (fused_slow.c): a and lambda, or y and y' of the bonds. */
int taut_fused_slow(taut_fuser *f);
/* c and tau of a bond. */
int32_t taut_fused_compliance(const taut_fuser *f, taut_index i);
int32_t taut_fused_damping(const taut_fuser *f, taut_index i);
/* Arithmetic that drops zeros. */
int32_t taut_fused_sum(const taut_fuser *f, int32_t a, int32_t b);
int32_t taut_fused_difference(const taut_fuser *f, int32_t a, int32_t b);
int32_t taut_fused_product(const taut_fuser *f, int32_t a, int32_t b);
/* One operation, in any graph; curve and derivative of TAUT_OP_CURVE. */
int32_t taut_fused_repeat(taut_graph *graph, taut_op op, const int32_t operand[3],
                          const taut_curve *curve, int derivative);

#endif
