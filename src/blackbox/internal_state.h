/* internal_state.h - what a simulator keeps to itself from one call to the next (history of a
 * multistep method, random numbers), saved and restored by its own functions.
 *
 * A call continues the latest one, or repeats one from the same state (dense output, a shorter
 * step), or begins somewhere else (columns of a Jacobian, measurements of noise). The first two get
 * the internal state that belongs to their state, the others that of the beginning, so that
 * answers do not depend on the calls before. */
#ifndef TAUT_BLACKBOX_INTERNAL_STATE_H
#define TAUT_BLACKBOX_INTERNAL_STATE_H

#include "base/archive.h"

typedef struct taut_moment {
    bool known;
    double t, *z; /* [n] */
    unsigned char *memory;
} taut_moment;

typedef struct taut_internal_state {
    taut_index n;
    const taut_black_box *box;
    const unsigned char *first; /* internal state of the beginning */
    /* of the latest step its begin and end; the end of the latest call, which may have repeated a
     * part of the step */
    taut_moment begin, end, latest;
    taut_moment *from; /* where the present call begins; NULL: elsewhere */
} taut_internal_state;

int taut_internal_state_create(taut_internal_state *s, taut_index n, const taut_black_box *box,
                               const void *first, taut_arena *arena, taut_error *error);
/* Before and after a call of the simulator over H; after one that failed `to` is NULL. */
int taut_internal_state_restore(taut_internal_state *s, double t, double H, const double *from,
                                taut_error *error);
int taut_internal_state_save(taut_internal_state *s, double t, const double *from, double end,
                             const double *to, taut_error *error);
void taut_internal_state_archive(taut_internal_state *s, taut_archive *archive);

#endif
