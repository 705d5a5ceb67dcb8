/* slot_maps.h - where the members of a statement find what they refer to: the slots of its
 * expression, gathered from coordinates, parameters and tables. */
#ifndef TAUT_MODEL_SLOT_MAPS_H
#define TAUT_MODEL_SLOT_MAPS_H

#include "model/model.h"

typedef struct taut_slot_map {
    taut_statement *s;
    taut_expand *x;
    const taut_members *members;
    const int32_t *member; /* [count] ordinals, or NULL: all */
    int64_t count;
    taut_index_run run;
    taut_slot *slot; /* the result, with room for velocities */
    unsigned char *used;
    int32_t references;
    taut_reference **reference; /* distinct, up to component and source */
    int32_t *hash;              /* of these: number + 1 */
    int64_t hash_size;          /* a power of two */
    taut_index **base;          /* [references][count], NULL when constant */
    taut_index **gather;        /* [references][3 components], as far as made */
    taut_index *one;            /* [references] */
    int32_t *reference_of;      /* [slots] */
} taut_slot_map;

static inline int64_t taut_slot_map_member(const taut_slot_map *m, int64_t k)
{
    return m->member ? m->member[k] : k;
}

/* Finds the references of the values, and of the targets on the left. */
int taut_slot_map_prepare(taut_slot_map *m, const int32_t *value_node, int values,
                          const taut_reference *left, int lefts);
/* m->slot, and left_base[lefts][count]: the positions of the targets, without component. */
int taut_slot_map_make(taut_slot_map *m, const taut_reference *left, int lefts,
                       taut_index *const *left_base);
/* Shows all members to `survey`, instead. first: the number of the first of m->members. */
int taut_slot_map_show(taut_slot_map *m, const taut_reference *left, int lefts, int64_t first,
                       const taut_survey *survey);

#endif
