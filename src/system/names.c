/* names.c - names of families without storing one text per member: a block has its name and
 * its indices. */
#include "base/space.h"
#include "system/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t taut_block_find(const taut_name_block *block, const int32_t *index)
{
    if (!block->list) {
        int64_t ordinal = 0;
        for (int d = 0; d < block->dims; d++) {
            if (index[d] < block->lo[d] || index[d] > block->hi[d])
                return -1;
            ordinal =
                ordinal * ((int64_t)block->hi[d] - block->lo[d] + 1) + (index[d] - block->lo[d]);
        }
        return ordinal;
    }
    int64_t low = 0, high = block->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        const int32_t *entry = block->list + middle * block->dims;
        int order = 0;
        for (int d = 0; d < block->dims && order == 0; d++)
            order = (entry[d] > index[d]) - (entry[d] < index[d]);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

void taut_block_index(const taut_name_block *block, int64_t ordinal, int32_t *index)
{
    if (block->list) {
        memcpy(index, block->list + ordinal * block->dims, (size_t)block->dims * sizeof *index);
        return;
    }
    for (int d = block->dims - 1; d >= 0; d--) {
        int64_t width = (int64_t)block->hi[d] - block->lo[d] + 1;
        index[d] = (int32_t)(block->lo[d] + ordinal % width);
        ordinal /= width;
    }
}

int taut_names_add(taut_names *names, taut_arena *arena, const char *name,
                   const taut_name_block *block)
{
    names->block =
        taut_arena_grow(arena, names->block, names->blocks, &names->capacity, sizeof *names->block);
    if (!names->block)
        return TAUT_ERROR_MEMORY;
    names->block[names->blocks].name = name;
    names->block[names->blocks].block = *block;
    names->block[names->blocks++].block.first = (taut_index)names->total;
    names->total += block->count * block->components;
    return 0;
}

int taut_names_print(const taut_names *names, taut_index k, char *buffer, size_t size)
{
    if (size)
        buffer[0] = 0;
    if (k < 0 || k >= (names->here ? names->here->total : names->total))
        return 0;
    if (names->here)
        k = (taut_index)taut_runs_number(names->here, k);
    int64_t low = 0, high = names->blocks;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (names->block[middle].block.first <= k)
            low = middle;
        else
            high = middle;
    }
    const taut_name_block *block = &names->block[low].block;
    int32_t index[4];
    taut_block_index(block, (k - block->first) / block->components, index);
    char text[160];
    size_t plain = strlen(names->block[low].name);
    bool rate = plain > 0 && names->block[low].name[plain - 1] == '\''; /* y[1]', not y'[1] */
    int length = snprintf(text, sizeof text, "%.*s", (int)(plain - rate), names->block[low].name);
    for (int d = 0; d < block->dims; d++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%d%s", d ? "," : "[",
                           index[d], d == block->dims - 1 ? "]" : "");
    if (block->components > 1)
        length += snprintf(text + length, sizeof text - (size_t)length, ".%c",
                           "xyz"[(k - block->first) % block->components]);
    if (rate)
        length += snprintf(text + length, sizeof text - (size_t)length, "'");
    snprintf(buffer, size, "%s", text);
    return length;
}

/* Reads "[1,2]" and ".x" after a name; returns false when the text is not of this form. */
static bool read_indices(const char *text, int dims, int32_t *index, int *component)
{
    *component = -1;
    if (dims > 0) {
        if (*text++ != '[')
            return false;
        for (int d = 0; d < dims; d++) {
            char *end;
            long value = strtol(text, &end, 10);
            if (end == text || value < INT32_MIN || value > INT32_MAX ||
                *end != (d == dims - 1 ? ']' : ','))
                return false;
            index[d] = (int32_t)value;
            text = end + 1;
        }
    }
    if (text[0] == '.' && text[1] >= 'x' && text[1] <= 'z' && text[2] == 0) {
        *component = text[1] - 'x';
        return true;
    }
    return text[0] == 0;
}

static taut_index find(const taut_names *names, const char *text)
{
    size_t length = strcspn(text, "[.");
    for (int64_t b = 0; b < names->blocks; b++) {
        const taut_name_block *block = &names->block[b].block;
        int32_t index[4];
        int component;
        if (block->dims == 0 && block->components == 1 && strcmp(names->block[b].name, text) == 0)
            return block->first; /* names given in C may have any letters */
        if (strncmp(names->block[b].name, text, length) != 0 || names->block[b].name[length] != 0 ||
            !read_indices(text + length, block->dims, index, &component))
            continue;
        if ((block->components > 1) != (component >= 0) || component >= block->components)
            continue;
        int64_t ordinal = taut_block_find(block, index);
        if (ordinal >= 0)
            return (taut_index)(block->first + ordinal * block->components +
                                (component > 0 ? component : 0));
    }
    return -1;
}

taut_index taut_names_find(const taut_names *names, const char *text)
{
    taut_index k = find(names, text);
    return names->here && k >= 0 ? (taut_index)taut_runs_find(names->here, k) : k;
}

taut_index taut_names_begin(const taut_names *names, int64_t block)
{
    taut_index first = names->block[block].block.first;
    return names->here ? (taut_index)taut_runs_place(names->here, first) : first;
}

static const taut_names *names_of(const taut_system *system, taut_item item)
{
    switch (item) {
    case TAUT_COORDINATE: return &system->coordinates;
    case TAUT_ALGEBRAIC: return &system->algebraic;
    case TAUT_BOND: return &system->bonds;
    case TAUT_PARAMETER: return &system->parameters;
    case TAUT_OUTPUT: return &system->outputs;
    case TAUT_EVENT_ITEM: return &system->events;
    }
    return &system->coordinates;
}

int taut_system_name(const taut_system *system, taut_item item, taut_index k, char *buffer,
                     size_t size)
{
    if (buffer && size > 0)
        buffer[0] = '\0';
    return system && (buffer || size == 0)
               ? taut_names_print(names_of(system, item), k, buffer, size)
               : 0;
}

taut_index taut_system_find(const taut_system *system, taut_item item, const char *name)
{
    return system && name ? taut_names_find(names_of(system, item), name) : -1;
}
