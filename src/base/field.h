/* field.h - a vector field that explicit methods integrate, whatever it wraps: the full system,
 * the index-1 form of a constrained one, a stabilised or a slow field. Makers are in src/wrap;
 * drive puts one into the stepper before the method is created. */
#ifndef TAUT_BASE_FIELD_H
#define TAUT_BASE_FIELD_H

#include "base/archive.h"
#include "base/vectors.h"

/* Stages first .. count-1 of an explicit method of a second-order field:
 *     V_i = v + h sum_j row_ij V_j  (kq[i]),  A_i = rate(t + c_i h, q + h sum_j row_ij V_j, V_i)
 * (kv[i]; stage 0 is that of q and v themselves), and the end of the step, the sum of row `count`.
 * Compiled code has this struct too (expr/emit.c). */
typedef struct taut_stages {
    int first, count;
    const taut_sum *row;
    const double *c;
    double t, h;
    double **kq, **kv; /* kq[0] may be replaced, where q' = v does not hold */
    double *q, *v;
    double *next_q, *next_v;
} taut_stages;

/* Exchanges both ends of the step: the next one begins where it ended. */
static inline void taut_stages_turn(taut_stages *s)
{
    double *q = s->q, *v = s->v, *rate = s->kv[0];
    s->q = s->next_q;
    s->v = s->kq[0] = s->next_v;
    s->kv[0] = s->kv[s->count];
    s->next_q = q;
    s->next_v = s->kq[s->count] = v;
    s->kv[s->count] = rate;
}

/* Second order:  q' = v, v' = rate(t,q,v).   First order:  q' = rate(t,q), v unused by the
 * method (algebraic variables, if any, are found inside and returned through lambda's place). */
typedef struct taut_field {
    const char *name; /* "full", "index-1", "index-1, Baumgarte" */
    bool second_order;
    taut_index n, m;
    double factor; /* seconds of a factorisation, by estimate; 0: unknown, or there is none */
    /* rate[n]; lambda[m] (first order: algebraic variables) may be NULL. 0, TAUT_RETRY
     * cannot evaluate here, <0 error. Never allocates. */
    int (*evaluate)(struct taut_field *field, double t, const double *q, const double *v,
                    double *rate, double *lambda, taut_error *error);
    /* as many stages as can be evaluated at once: returns the number of the first that was not,
     * whose evaluation by `evaluate` shows the reason; the end is formed after all of them. -1:
     * nothing was done; NULL: none */
    int (*stages)(struct taut_field *field, const taut_stages *stages);
    /* the steps first .. last-1, of which step k begins at begin + k h, the first one as `stages`
     * has it; how many could be made: `stages` then has the next one. NULL: none */
    int64_t (*steps)(struct taut_field *field, taut_stages *stages, double begin, int64_t first,
                     int64_t last);
    /* gx[m] = G x, or without x sum_k |G_ik|, with G of the latest evaluation; NULL: none */
    void (*stretch)(struct taut_field *field, const double *x, double *gx);
    /* [n]: where the latest evaluation was, a point that the field itself chose for the given one
     * (wrap/projected_field.c); NULL: at the given one. q' is at_v then */
    const double *at_q, *at_v;
    /* [n]: q' - v of the latest evaluation (wrap/stabilized_field.c); NULL: 0 */
    const double *extra;
    /* the matrix of M and the rigid bonds, for a stabiliser: each evaluation factors it again; or
     * NULL */
    struct taut_saddle *saddle;
    bool keeps;  /* ends of steps stay where they are nevertheless */
    bool costly; /* there are no multipliers, and rows are not worth an evaluation */
    void (*destroy)(struct taut_field *field); /* takes half-made ones; may be NULL */
    /* what later evaluations depend on; NULL: nothing */
    void (*archive)(struct taut_field *field, taut_archive *archive);
    /* counts force evaluations, factorisations, solves */
    taut_statistics *statistics;
    void *self;
} taut_field;

/* The state (q, v) of the latest evaluation becomes where it was. */
static inline void taut_field_place(const taut_field *field, double *q, double *v)
{
    if (!field->at_q)
        return;
    taut_copy(field->n, field->at_q, q);
    taut_copy(field->n, field->at_v, v);
}

#endif
