/* builder.h - what a builder of particles and bonds has been given (builder.c), for making a
 * system of it (assemble.c). */
#ifndef TAUT_SYSTEM_FROM_C_BUILDER_H
#define TAUT_SYSTEM_FROM_C_BUILDER_H

#include "system/system.h"

typedef struct taut_bond_family {
    struct taut_bond_family *next;
    char *name;
    taut_index count, first_row;
    taut_index *first, *second;        /* [count]; second < 0: pinned */
    double *anchor, *rest, *stiffness; /* stiffness NULL: rigid */
} taut_bond_family;

typedef struct taut_angles {
    struct taut_angles *next;
    taut_index count;
    taut_index *triple;
    double *rest, *stiffness;
} taut_angles;

struct taut_builder {
    taut_arena arena;
    int dimension;
    taut_index particles;
    int64_t bonds;
    double *mass, *p, *v, *gravity; /* NULL: 1, 0, 0, none */
    taut_bond_family *families, **family_end;
    taut_angles *angles, **angles_end;
    taut_error error; /* of the first call that was wrong */
};

/* Fills an empty system. */
int taut_builder_assemble(const taut_builder *builder, taut_system *system, taut_error *error);

#endif
