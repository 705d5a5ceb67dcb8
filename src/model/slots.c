/* slots.c - the inputs of a statement: equal references (a coordinate, a parameter, an entry of a
 * table) are one slot, found by a hash table with open addressing. */
#include "model/model.h"

static uint64_t mix(uint64_t h, uint64_t value)
{
    return (h ^ value) * 0x9e3779b97f4a7c15u ^ (h >> 29);
}

static uint64_t hash_key(const taut_slot_key *key)
{
    uint64_t h = mix(17, key->source);
    h = mix(h, (uint64_t)(uintptr_t)key->reference.symbol);
    h = mix(h, (uint64_t)(uintptr_t)key->table);
    h = mix(h, (uint64_t)(key->column * 64 + key->iterator));
    h = mix(h, (uint64_t)(key->reference.component * 8 + key->reference.dims));
    for (int d = 0; d < key->reference.dims; d++)
        h = mix(h, (uint64_t)key->reference.index[d]);
    return h;
}

static bool equal_keys(const taut_slot_key *a, const taut_slot_key *b)
{
    if (a->source != b->source || a->reference.symbol != b->reference.symbol ||
        a->table != b->table || a->column != b->column || a->iterator != b->iterator ||
        a->reference.component != b->reference.component || a->reference.dims != b->reference.dims)
        return false;
    for (int d = 0; d < a->reference.dims; d++)
        if (a->reference.index[d] != b->reference.index[d])
            return false;
    return true;
}

static int64_t slot_place(const taut_expand *x, const taut_slot_key *key)
{
    int64_t mask = x->slot_hash_size - 1, k = (int64_t)(hash_key(key) >> 20) & mask;
    while (x->slot_hash[k] && !equal_keys(&x->slot[x->slot_hash[k] - 1], key))
        k = (k + 1) & mask;
    return k;
}

int32_t taut_expand_slot(taut_expand *x, const taut_slot_key *key)
{
    if (2 * (x->slots + 1) > x->slot_hash_size) {
        int64_t size = x->slot_hash_size ? 2 * x->slot_hash_size : 32;
        int32_t *hash = TAUT_NEW(&x->arena, int32_t, size);
        if (!hash) {
            x->starved = true;
            return -1;
        }
        x->slot_hash = hash;
        x->slot_hash_size = size;
        for (int32_t k = 0; k < x->slots; k++)
            hash[slot_place(x, &x->slot[k])] = k + 1;
    }
    int64_t place = slot_place(x, key);
    if (x->slot_hash[place])
        return taut_graph_input(x->graph, x->slot_hash[place] - 1);
    taut_slot_key *slots =
        taut_arena_grow(&x->arena, x->slot, x->slots, &x->slot_capacity, sizeof *x->slot);
    if (!slots) { /* those that are there stay: expanding goes on to its end */
        x->starved = true;
        return -1;
    }
    x->slot = slots;
    x->slot[x->slots] = *key;
    x->slot_hash[place] = ++x->slots;
    return taut_graph_input(x->graph, x->slots - 1);
}
