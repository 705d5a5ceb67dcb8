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
    int32_t pivot[2 * (TAUT_FUSED_LENGTHS + TAUT_FUSED_RODS +
                       TAUT_FUSED_COORDINATES)]; /* each with its diagonal entry */
    int32_t pivots, slot;                        /* numbers of these and of inputs */
} taut_fuser;

/* Inputs of the graph are q, v, t, parameters, compliances, damping times. Makes x, lambda, G and
 * the pivots; arrays are reserved and begin with f->zero. */
void taut_fused_equations(taut_fuser *f);
/* One operation, in any graph; curve and derivative of TAUT_OP_CURVE. */
int32_t taut_fused_repeat(taut_graph *graph, taut_op op, const int32_t operand[3],
                          const taut_curve *curve, int derivative);

#endif
