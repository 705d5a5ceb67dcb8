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

/* (rank_part.c) NULL in one process. */
taut_space *taut_context_space(const taut_context *context);
const taut_halo *taut_context_halo(const taut_context *context); /* of coordinates */
const taut_halo *taut_context_bond_halo(const taut_context *context);
/* The capabilities of the whole model: one part may lack what another one has. All ranks together;
 * nothing in one process. */
void taut_part_agree(taut_system *system);
/* Of models that no call supports over several ranks. All ranks together. */
int taut_part_refuse(const taut_system *system, taut_error *error);
/* Is there room for so many numbers of the whole system on one rank? What to do where there is
 * none.
 */
int taut_part_fits(double numbers, const char *advice, taut_error *error);
/* A rank alone: names and sizes of the whole system, for output only. */
int taut_part_whole(const taut_system *system, const taut_allocator *allocator, taut_system **whole,
                    taut_error *error);

#endif
