/* rank_part.h - a system that is the part of a model which one rank of a run needs (base/space.h):
 * its coordinates and bonds are those that the rank owns, and ghosts.
 *
 * With C the coordinates that a rank owns and those of the bonds that it owns, every statement that
 * meets C is here with all its coordinates. So forces on C, all bonds that meet C and the rows of
 * A = G M^-1 G^T of the bonds owned are right without a message, once coordinates are. */
#ifndef TAUT_SYSTEM_RANK_PART_H
#define TAUT_SYSTEM_RANK_PART_H

#include "base/space.h"

enum { TAUT_EVENT_HERE = 1, TAUT_EVENT_OWN = 2 };

typedef struct taut_part {
    taut_space *space;
    taut_runs coordinate, bond; /* numbers in the whole model */
    taut_halo coordinates, bonds;
    taut_runs met;             /* C */
    unsigned char *ghost_bond; /* [bonds] */
    /* [events of the whole model]: bits TAUT_EVENT_HERE: it can be evaluated, and carried out;
     * TAUT_EVENT_OWN: its function counts, on one rank */
    unsigned char *event;
    bool linked; /* initial values refer to others: each rank computes those that it owns */
} taut_part;

#endif
