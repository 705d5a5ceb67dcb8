/* method.h - what a stepping method is: a constant descriptor, one file and one row of the table
 * (step/methods.c). */
#ifndef TAUT_BASE_METHOD_H
#define TAUT_BASE_METHOD_H

#include "base/archive.h"
#include "base/field.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/projector.h"

enum {
    TAUT_MOTION_RIGID = 1,
    TAUT_MOTION_SLOW = 2,
    TAUT_MOTION_EFFECTIVE = 4,
    TAUT_MOTION_FULL = 8
};

/* A point of a trajectory: q, v, a = v' and lambda of a mechanical system; the state q, its rate a
 * and the algebraic variables y of a first-order one. What a system does not have is NULL. */
typedef struct taut_state {
    double t;
    double *q, *v;  /* [n] */
    double *a;      /* [n]; NaN in methods that do not form it */
    double *lambda; /* [m] */
    double *y;      /* [m] */
} taut_state;

/* What evaluations need in addition to q, and what rows have as multipliers: v and lambda, or y
 * for both. */
static inline double *taut_state_v(const taut_state *x)
{
    return x->y ? x->y : x->v;
}

static inline double *taut_state_lambda(const taut_state *x)
{
    return x->y ? x->y : x->lambda;
}

/* A node of the quadrature that a step is: sum_j h weight_j p_j is the integral of p over the step
 * with the order of the method. */
typedef struct taut_step_node {
    double t, h;
    const double *q, *v, *a; /* [n] */
    double weight;
    double error, error_3; /* weights of the estimated error of the sum, and of a second one */
    /* of bonds there: lambda[m], G, dg/dt[m]; NULL where the method does not keep them */
    const double *lambda, *jacobian, *bond_dt;
} taut_step_node;

/* A method at work. A step writes the new state into the arrays of `last` and swaps, so that a
 * failed step leaves `now` as it was and a successful one leaves both of its ends for dense
 * output. `work` belongs to the method and lives in the arena. */
typedef struct taut_stepper {
    const struct taut_method *method;
    /* of the system that moves: the model's own, or one derived from it */
    taut_context *context;
    taut_field *field;           /* for methods with uses_field; NULL otherwise */
    const taut_options *options; /* for a method's own options; may be NULL */
    taut_pool *pool;             /* threads for loops over the state; NULL: one */
    taut_statistics *statistics;
    taut_arena *arena;
    bool first_order;
    taut_index n, m; /* m: bonds; first order: algebraic variables */
    taut_state now;  /* t, q, v always; a and lambda after a step */
    taut_state last; /* where the latest step began */
    /* [n] each: estimated error of the latest step, by methods with an error_order */
    double *error_q, *error_v;
    /* [n] each: what the driver allows of the errors of q_i and v_i, where velocities have scales
     * of their own; NULL: atol + rtol |q_i| of |dq_i| + h |dv_i| */
    double *weight_q, *weight_v;
    unsigned motion; /* TAUT_MOTION_ bit that was chosen; 0: not known */
    /* the step size is chosen from error_q, error_v; a fixed one needs no estimate */
    bool adaptive;
    /* the estimate of this system falls with this power of h; 0: with the method's error_order */
    int error_order;
    /* with kicks: the slow rate that the step size was chosen for, 1/separation, which errors
     * cannot fall below; what the steps were reduced to, 0: they were not, when, and whether the
     * actions were the reason or the slow forces */
    double slow_rate, floor, reduced, reduced_at;
    bool reduced_by_actions;
    /* [M G^T; G -D] of all bonds, of methods that factor it again whenever they use it; or NULL */
    struct taut_saddle *saddle;
    double factor; /* seconds of a factorisation, of those that own matrices: an estimate, or 0 */
    bool trial;    /* no step will be made: what only steps need may be omitted */
    /* of the run: implicit methods solve slightly more accurately */
    double rtol, atol;
    void *work;
    double *room; /* [room_size] (taut_stepper_room) */
    int64_t room_size;
} taut_stepper;

typedef struct taut_method {
    const char *name;
    unsigned motions; /* TAUT_MOTION_ bits */
    int order;
    const char *summary, *reference;
    unsigned needs, refuses; /* capability bits of taut.h */
    /* what distinguishes rows of one family: a tableau, stages; the method's own */
    const void *data;
    bool uses_field;  /* integrates stepper->field, of second or of first order */
    bool uses_stages; /* by field->stages, so that q' = v need not hold */
    /* without a step size of the user, one for the slow motion is chosen for the run; the method
     * checks every step and reduces it (adaptive, slow_rate and rtol of the stepper) */
    bool kicks;
    /* the row in its place where the mass is that of a kinetic energy and varies; NULL: none */
    const struct taut_method *in_momenta;
    bool averages;    /* effective motion: integrates the averaged system, not the model itself */
    bool first_order; /* supports first-order systems without a field */
    bool follows;     /* integrates a flow: black boxes, and rates by their [stepper] */
    bool spans_ranks; /* in runs over several ranks too (base/space.h) */
    bool saved_alone; /* but these are not saved */
    /* the estimate shrinks as h^error_order, with `propose` in the first step; 0: no estimate,
     * fixed steps only */
    int error_order;
    int bond_order; /* of velocities on rigid and stiff bonds, where it is lower; 0: as without */
    /* steps end on the rigid bonds, velocities too, to rounding, and `complete` sets lambda there:
     * nothing is left to refine */
    bool on_bonds;
    bool undamped; /* |R(inf)| = 1: oscillations that steps do not resolve stay */
    /* local order of the method over that of its error_v; 0: 1. Full motion raises relative errors
     * of velocities to this power, which is what the method itself makes of them */
    double sharper;
    /* stable while h omega is below this for every frequency omega; 0: without limit */
    double stability;
    /* h rho of the latest step, rho an estimate of the largest rate of the system; beyond
     * stiff_limit stability determines the step size. To be called after `complete`; NULL: none */
    double (*stiffness)(taut_stepper *stepper);
    double stiff_limit;
    /* assigns work; the only place that allocates */
    int (*create)(taut_stepper *stepper, taut_error *error);
    /* what the arena does not free; takes half-made work; may be NULL */
    void (*destroy)(taut_stepper *stepper);
    /* now -> last, now, and statistics->steps counted; TAUT_RETRY: a smaller step, now unchanged */
    int (*step)(taut_stepper *stepper, double h, taut_error *error);
    /* steps first .. last-1 of equal lengths, step k from begin + k h on, each followed by the
     * stabiliser `by` (NULL: none), with the results of `step`; how many were made: the next one
     * is to be made by `step`, also because `last` has no rates afterwards. Methods that
     * use the field: only with field->steps. NULL: none */
    int64_t (*several)(taut_stepper *stepper, double begin, double h, int64_t first, int64_t last,
                       taut_projector *by);
    void (*changed)(taut_stepper *stepper); /* someone altered `now`: forget what depends on it */
    /* a projector moved `now` by no more than the error of the step: history stays, values at
     * `now` do not; NULL: as changed */
    void (*stabilized)(taut_stepper *stepper);
    /* sets now.a and now.lambda (first order: also the algebraic variables) where the step left
     * them for later, at no cost when the next step needs them anyway. To be called before rows,
     * events and the end read them; NULL: every step sets them */
    int (*complete)(taut_stepper *stepper, taut_error *error);
    /* the driver undid the latest step (now is what last was); NULL: as changed */
    void (*rejected)(taut_stepper *stepper);
    /* methods with an order of their own: length of the next step over that of the latest one,
     * whose norm is e; accepted and completed, or, above 1 or NaN, to be undone. NULL: by
     * error_order */
    double (*propose)(taut_stepper *stepper, double e);
    /* node j = 0, 1, ... of the latest step, its stages; q only when `place`; false: there are no
     * more. All weights are 0: it does not count, and the rest is not set. NULL: none */
    bool (*node)(taut_stepper *stepper, int j, bool place, taut_step_node *node);
    /* gx[m] = G x, or without x sum_k |G_ik|, with G near the end of the latest step; NULL: none */
    void (*stretch)(taut_stepper *stepper, const double *x, double *gx);
    /* the state at a fraction theta of the latest step, q, v and lambda, also after `changed` (a
     * stabiliser has moved its end); NULL: Hermite interpolation of q, v, a by the driver */
    int (*dense)(taut_stepper *stepper, double theta, taut_state *state, taut_error *error);
    /* t, q and v of the oscillating state that `now` is the projection of, for its energy; NULL:
     * `now` is no projection */
    void (*vibrating)(taut_stepper *stepper, taut_state *state);
    /* lambda[m] at any state, for output; may be called at any time */
    int (*multipliers)(taut_stepper *stepper, double t, const double *q, const double *v,
                       double *lambda, taut_error *error);
    /* walks over all of `work` that later steps depend on; the states are the driver's. NULL: runs
     * by this method cannot be saved */
    void (*archive)(taut_stepper *stepper, taut_archive *archive);
} taut_method;

/* Exchanges the ends of the latest step. */
static inline void taut_stepper_turn(taut_stepper *s)
{
    taut_state now = s->now;
    s->now = s->last;
    s->last = now;
}

static inline int taut_error_order(const taut_stepper *s)
{
    return s->error_order > 0 ? s->error_order : s->method->error_order;
}

/* Memory for a state of the stepper's system, from its arena. (step/methods.c) */
int taut_state_create(const taut_stepper *stepper, taut_state *state, taut_error *error);

/* Numbers from one vector of n to the next one in a room: each begins on a cache line. */
static inline int64_t taut_apart(int64_t n)
{
    return (n + 7) / 8 * 8;
}

/* Room of at least `count` numbers for what does not outlive a call: stages of a method, states
 * that a stabiliser moves, measured drift share it. NULL: no memory. (step/methods.c) */
double *taut_stepper_room(taut_stepper *stepper, int64_t count);

extern const taut_method *const taut_method_table[]; /* ends with NULL (step/methods.c) */

/* The motions as words: "full", "rigid, slow". Writes at most `size` bytes. */
const char *taut_motions_text(unsigned motions, char *buffer, size_t size);
unsigned taut_motion_bit(const char *name);    /* 0 when there is no such motion */
const char *taut_motion_name(unsigned motion); /* of one bit; a constant */

#endif
