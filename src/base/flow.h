/* flow.h - a map of a state over a time H: what projections run, whether it is Verlet or a
 * legacy process. */
#ifndef TAUT_BASE_FLOW_H
#define TAUT_BASE_FLOW_H

#include "base/archive.h"

typedef struct taut_flow {
    const char *name;
    /* of the state: n for first order and black boxes, 2 n (q, then v) for mechanical systems */
    taut_index size;
    /* state[size] at time t becomes that at t + H, which may be negative. 0, TAUT_RETRY cannot
     * from here, <0 error; the state is as before when it fails. */
    int (*advance)(struct taut_flow *flow, double t, double H, double *state, taut_error *error);
    /* The same for states[count][size], perhaps at the same time; the first failure is returned,
     * and then some states may have advanced. NULL: one after the other. */
    int (*advance_all)(struct taut_flow *flow, double t, double H, int count, double *states,
                       taut_error *error);
    void (*destroy)(struct taut_flow *flow);
    /* what later calls depend on besides their arguments; NULL: nothing */
    void (*archive)(struct taut_flow *flow, taut_archive *archive);
    taut_statistics *statistics; /* micro_steps, force_evaluations, restarts */
} taut_flow;

static inline int taut_flow_advance_all(taut_flow *flow, double t, double H, int count,
                                        double *states, taut_error *error)
{
    if (flow->advance_all)
        return flow->advance_all(flow, t, H, count, states, error);
    for (int k = 0; k < count; k++)
        TAUT_TRY(flow->advance(flow, t, H, states + (int64_t)k * flow->size, error));
    return TAUT_OK;
}

/* The end of making a flow, which is the first member of what its kind keeps: hands it out, or
 * destroys what is half made and passes the status on. */
static inline int taut_flow_made(taut_flow *made, int status, taut_flow **flow)
{
    if (status != 0)
        made->destroy(made);
    *flow = status == 0 ? made : NULL;
    return status;
}

#endif
