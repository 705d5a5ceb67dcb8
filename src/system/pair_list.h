/* pair_list.h - which particles of two families are near one another, in O(N). */
#ifndef TAUT_SYSTEM_PAIR_LIST_H
#define TAUT_SYSTEM_PAIR_LIST_H

#include "base/memory.h"

/* Particle k of family s has the coordinates q[first[s] + dimension k ..] and the index low[s] + k.
 */
typedef struct taut_pair_families {
    int dimension;
    taut_index first[2];
    int32_t count[2], low[2];
    bool same;     /* one family: each pair once */
    int32_t apart; /* least difference of indices */
    /* pairs that a path of at most so many bonds connects are omitted */
    int32_t exclude;
    /* of particle i these of the second family: joined[joined_start[i] .. joined_start[i + 1] - 1];
     * NULL: none */
    const int32_t *joined_start, *joined;
} taut_pair_families;

enum { TAUT_PAIR_DIMENSIONS = 3 };
typedef struct taut_pair_grid {
    int cells[TAUT_PAIR_DIMENSIONS];
    /* cell = (x - low) * per, per direction */
    double low[TAUT_PAIR_DIMENSIONS], per[TAUT_PAIR_DIMENSIONS];
    bool wraps[TAUT_PAIR_DIMENSIONS];
} taut_pair_grid;

typedef struct taut_pair_list {
    const taut_pair_families *families;
    double cut, skin, box[3], inverse[3]; /* box and 1/box, 0: not periodic */
    bool valid;                           /* rows and reference are those of cut, skin and box */
    bool reserved;                        /* there is memory for rows */
    int64_t builds;
    /* row i: the particles of the second family, in ascending order, that were within cut + skin
     * of particle i at the reference positions [2][count][dimension] */
    int32_t rows, *start, *partner; /* rows 0 .. rows-1 are kept, others found when needed */
    int64_t capacity;
    double *reference;
    taut_pair_grid grid;
    int32_t *cell_start, *cell_member, *cell_of; /* of the second family */
    double *sorted; /* [dimension][count[1]]: reference positions by cells */
    int32_t *row;   /* [count[1] + 1]: the one that was found last */
} taut_pair_list;

/* Its memory, but for the rows, which are reserved when they are first built. */
int taut_pair_list_create(taut_pair_list *list, const taut_pair_families *families,
                          taut_arena *arena, taut_error *error);
/* Builds the rows again where a particle has moved by more than half the skin. A position that is
 * not finite makes `valid` false. Allocates where `reserved` is false only. */
int taut_pair_list_update(taut_pair_list *list, const double *q, taut_arena *arena,
                          taut_error *error);
/* Row i and its length; until the next call. */
int32_t taut_pair_list_row(const taut_pair_list *list, int32_t i, const int32_t **row);

/* box round(x/box), inverse = 1/box; 0 for box = inverse = 0 */
static inline double taut_pair_shift(double x, double box, double inverse)
{
    const double large = 6755399441055744.0; /* 1.5 2^52: the sum has no digits behind the point */
    return box * ((x * inverse + large) - large);
}

#endif
