/* symbols.c - the names of a model: declared once, found by hash, near misses when unknown. */
#include "model/model.h"

#include <math.h>
#include <string.h>

static uint32_t hash_text(const char *text)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

const char *taut_symbol_word(taut_symbol_kind kind)
{
    static const char *const words[] = {
        "parameter", "coordinate", "algebraic variable", "definition", "function", "table", "bond"};
    return words[kind];
}

static int64_t hash_place(const taut_model *model, const char *name)
{
    int64_t mask = model->hash_size - 1, k = hash_text(name) & (uint32_t)mask;
    while (model->hash[k] && strcmp(model->symbol[model->hash[k] - 1]->name, name) != 0)
        k = (k + 1) & mask;
    return k;
}

taut_symbol *taut_model_find(const taut_model *model, const char *name)
{
    if (!model->hash_size)
        return NULL;
    int64_t k = hash_place(model, name);
    return model->hash[k] ? model->symbol[model->hash[k] - 1] : NULL;
}

static int rehash(taut_model *model)
{
    int64_t size = model->hash_size ? 2 * model->hash_size : 64;
    int32_t *hash = TAUT_NEW(&model->scratch, int32_t, size);
    if (!hash)
        return TAUT_ERROR_MEMORY;
    model->hash = hash;
    model->hash_size = size;
    for (int64_t k = 0; k < model->symbols; k++)
        hash[hash_place(model, model->symbol[k]->name)] = (int32_t)(k + 1);
    return 0;
}

static taut_symbol *add_symbol(taut_model *model, const char *name)
{
    if (2 * (model->symbols + 1) > model->hash_size && rehash(model))
        return NULL;
    taut_symbol *symbol = TAUT_NEW(&model->scratch, taut_symbol, 1);
    /* names outlive the reading */
    char *copy = taut_arena_text(&model->system->arena, name, strlen(name));
    model->symbol = taut_arena_grow(&model->scratch, model->symbol, model->symbols,
                                    &model->symbol_capacity, sizeof *model->symbol);
    if (!symbol || !copy || !model->symbol)
        return NULL;
    symbol->name = copy;
    symbol->plain = -1;
    model->hash[hash_place(model, name)] = (int32_t)model->symbols + 1;
    model->symbol[model->symbols++] = symbol;
    return symbol;
}

/* Is the name declared further down, by a section that is read after the parameters? */
static const char *declared_later(const taut_model *model, const char *name)
{
    for (int64_t k = 0; k < model->document->items; k++) {
        const taut_item_tree *item = &model->document->item[k];
        bool variable =
            item->section == TAUT_SECTION_COORDINATES || item->section == TAUT_SECTION_PARTICLES ||
            item->section == TAUT_SECTION_STATE || item->section == TAUT_SECTION_ALGEBRAIC;
        if (variable && !item->left && item->value && item->value->kind == TAUT_TREE_NAME &&
            strcmp(item->value->name, name) == 0)
            return "coordinate";
        if (item->section == TAUT_SECTION_DEFINITIONS && item->left &&
            strcmp(item->left->name, name) == 0)
            return "definition";
    }
    return NULL;
}

/* Names that cannot be declared; the last five are not suggested. */
static const char *const built_in[] = {
    "t",        "pi",    "sqrt",  "exp",    "log",  "sin",    "cos", "tan",   "asin",
    "acos",     "atan",  "atan2", "sinh",   "cosh", "tanh",   "abs", "sign",  "min",
    "max",      "hypot", "floor", "round",  "mod",  "length", "dot", "cross", "angle",
    "dihedral", "if",    "sum",   "lambda", "for",  "in",     "and", "or",    "M"};
enum { BUILT_IN = sizeof built_in / sizeof built_in[0] - 5 };

int taut_model_unknown(const taut_model *model, const taut_document *document, taut_place place,
                       const char *name)
{
    const char *later = declared_later(model, name);
    if (later)
        return taut_document_fail(document, place, model->error,
                                  "a parameter, range or size cannot depend on the %s '%s'", later,
                                  name);
    int best = 99;
    const char *found = taut_near_miss(name, built_in, BUILT_IN);
    if (found)
        best = taut_edit_distance(name, found);
    for (int64_t k = 0; k < model->symbols; k++) {
        const char *candidate = model->symbol[k]->name;
        if (taut_near_miss(name, &candidate, 1) && taut_edit_distance(name, candidate) <= best) {
            if (taut_edit_distance(name, candidate) < best || !found)
                found = candidate;
            best = taut_edit_distance(name, candidate);
        }
    }
    if (found)
        return taut_document_fail(document, place, model->error,
                                  "unknown name '%s'; did you mean '%s'?", name, found);
    return taut_document_fail(document, place, model->error, "unknown name '%s'", name);
}

/* Which iterator an index on the left is; numbers become bounds of width one. */
static int left_index(taut_model *model, const taut_document *document, const taut_item_tree *item,
                      const taut_tree *index, int d, taut_symbol_block *block, taut_expand *x)
{
    if (index->kind == TAUT_TREE_NAME && index->count == 0 && !index->member && index->primes == 0)
        for (int32_t k = 0; k < item->iterators; k++)
            if (strcmp(item->iterator[k].name, index->name) == 0) {
                block->iterator_of[d] = (int8_t)k;
                return 0;
            }
    int32_t node;
    double value;
    TAUT_TRY(taut_expand_index(x, index, NULL, &node));
    if (!taut_graph_is_constant(x->graph, node, &value) || value != floor(value) ||
        fabs(value) > 1e9)
        return taut_document_fail(
            document, index->place, model->error,
            "expected a loop name or an integer as the index of a declared name");
    block->iterator_of[d] = -1;
    block->box.lo[d] = block->box.hi[d] = (int32_t)value;
    return 0;
}

typedef struct bounds {
    int64_t count;
    int32_t lo[TAUT_ITERATOR_LIMIT], hi[TAUT_ITERATOR_LIMIT];
} bounds;

static int widen(void *user, const taut_members *members, int64_t first)
{
    bounds *b = user;
    for (int k = 0; k < members->iterators; k++) {
        int32_t lo = first ? b->lo[k] : INT32_MAX, hi = first ? b->hi[k] : INT32_MIN;
        for (int64_t i = 0; i < members->count; i++) {
            lo = members->value[k][i] < lo ? members->value[k][i] : lo;
            hi = members->value[k][i] > hi ? members->value[k][i] : hi;
        }
        b->lo[k] = lo;
        b->hi[k] = hi;
    }
    b->count = first + members->count;
    return 0;
}

/* The members, or, in a run over several ranks, which have no room for all of them, their bounds
 * alone. */
static int find_bounds(const taut_model *model, taut_expand *x, bool all, taut_members *members,
                       bounds *b)
{
    enum { PIECE = 1 << 15 };
    if (!all && taut_space_size(model->how->space) > 1)
        return taut_members_each(x, PIECE, widen, b);
    TAUT_TRY(taut_members_list(x, members));
    return widen(b, members, 0);
}

/* Bounds of a box when all ranges are constant; otherwise an explicit list. */
static int shape_block(taut_model *model, const taut_document *document, const taut_item_tree *item,
                       taut_symbol_block *block, taut_expand *x)
{
    taut_members members = {0};
    bounds found = {0};
    x->iterators = item->iterators;
    for (int32_t k = 0; k < item->iterators; k++)
        x->iterator[k] = &item->iterator[k];
    TAUT_TRY(find_bounds(model, x, false, &members, &found));
    block->box.count = found.count;
    bool box = true, ordered = true;
    int64_t volume = 1;
    int last = -1;
    for (int d = 0; d < block->box.dims; d++) {
        int k = block->iterator_of[d];
        if (k < 0)
            continue;
        ordered = ordered && k > last;
        last = k;
        block->box.lo[d] = found.lo[k];
        block->box.hi[d] = found.hi[k];
        volume *= found.count ? (int64_t)found.hi[k] - found.lo[k] + 1 : 0;
        box = box && (volume <= TAUT_MEMBER_LIMIT || volume == found.count);
    }
    for (int32_t k = 0; k < item->iterators; k++) {
        bool there = false;
        for (int d = 0; d < block->box.dims; d++)
            there = there || block->iterator_of[d] == k;
        if (!there)
            return taut_document_fail(document, item->iterator[k].place, model->error,
                                      "the loop name '%s' must be an index on the left: the "
                                      "members have no names otherwise",
                                      item->iterator[k].name);
    }
    if (!ordered)
        return taut_document_fail(document, item->place, model->error,
                                  "write the indices on the left in the order of the loops");
    if (box && volume == found.count)
        return 0;
    if (members.count == 0)
        TAUT_TRY(find_bounds(model, x, true, &members, &found));
    int32_t *list = TAUT_NEW(&model->system->arena, int32_t, members.count * block->box.dims);
    TAUT_NEED(model->error, list);
    for (int64_t i = 0; i < members.count; i++)
        for (int d = 0; d < block->box.dims; d++)
            list[i * block->box.dims + d] = block->iterator_of[d] < 0
                                                ? block->box.lo[d]
                                                : members.value[block->iterator_of[d]][i];
    block->box.list = list;
    return 0;
}

/* ---- blocks of a symbol: single members by hash, ranges one after the other */

static int64_t point_place(const taut_symbol *symbol, const int32_t *index)
{
    uint64_t h = 17;
    int64_t mask = symbol->point_size - 1;
    for (int d = 0; d < symbol->dims; d++) {
        h = (h ^ (uint32_t)index[d]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    int64_t k = (int64_t)(h >> 20) & mask;
    while (symbol->point[k] && memcmp(symbol->block[symbol->point[k] - 1].box.lo, index,
                                      (size_t)symbol->dims * sizeof *index) != 0)
        k = (k + 1) & mask;
    return k;
}

int32_t taut_symbol_block_of(const taut_symbol *symbol, const int32_t *index, int64_t *ordinal)
{
    *ordinal = 0;
    if (symbol->points) {
        int32_t b = symbol->point[point_place(symbol, index)];
        if (b)
            return b - 1;
    }
    for (int64_t k = 0; k < symbol->ranges; k++) {
        *ordinal = taut_block_find(&symbol->block[symbol->range[k]].box, index);
        if (*ordinal >= 0)
            return symbol->range[k];
    }
    return -1;
}

static bool is_point(const taut_name_block *box)
{
    return box->count == 1 && !box->list;
}

static int grow_points(taut_model *model, taut_symbol *symbol)
{
    int64_t size = symbol->point_size ? 2 * symbol->point_size : 16;
    int32_t *old = symbol->point, *table = TAUT_NEW(&model->scratch, int32_t, size);
    int64_t old_size = symbol->point_size;
    TAUT_NEED(model->error, table);
    symbol->point = table;
    symbol->point_size = size;
    for (int64_t k = 0; k < old_size; k++)
        if (old[k])
            table[point_place(symbol, symbol->block[old[k] - 1].box.lo)] = old[k];
    return 0;
}

/* Block b, the newest, becomes known to taut_symbol_block_of. */
static int register_block(taut_model *model, const taut_document *document, taut_symbol *symbol,
                          int32_t b, const taut_tree *left)
{
    const taut_symbol_block *block = &symbol->block[b];
    if (block->kind != TAUT_SYMBOL_DEFINITION && symbol->plain < 0)
        symbol->plain = b;
    if (is_point(&block->box)) {
        if (2 * (symbol->points + 1) > symbol->point_size)
            TAUT_TRY(grow_points(model, symbol));
        symbol->point[point_place(symbol, block->box.lo)] = b + 1;
        symbol->points++;
        return 0;
    }
    if (symbol->ranges == TAUT_RANGE_LIMIT)
        return taut_document_fail(document, left->place, model->error,
                                  "'%s' is declared by more than %d lines with 'for'", left->name,
                                  TAUT_RANGE_LIMIT);
    symbol->range = taut_arena_grow(&model->scratch, symbol->range, symbol->ranges,
                                    &symbol->range_capacity, sizeof *symbol->range);
    TAUT_NEED(model->error, symbol->range);
    symbol->range[symbol->ranges++] = b;
    return 0;
}

static bool overlap(taut_model *model, const taut_name_block *a, const taut_name_block *b)
{
    int32_t index[4];
    const taut_name_block *small = a->count < b->count ? a : b, *large = small == a ? b : a;
    for (int d = 0; d < a->dims && a->dims; d++)
        if (a->hi[d] < b->lo[d] || b->hi[d] < a->lo[d])
            return false;
    model->effort += small->count;
    for (int64_t k = 0; k < small->count; k++) {
        taut_block_index(small, k, index);
        if (taut_block_find(large, index) >= 0)
            return true;
    }
    return false;
}

static int given_twice(taut_model *model, const taut_document *document,
                       const taut_symbol_block *old, const taut_tree *left)
{
    return taut_document_fail(document, left->place, model->error,
                              "'%s' is given twice (first in line %d)", left->name,
                              old->item ? old->item->place.line : 0);
}

/* Is any member of the block there already? */
static int check_members(taut_model *model, const taut_document *document,
                         const taut_symbol *symbol, const taut_symbol_block *block,
                         const taut_tree *left)
{
    int64_t ordinal;
    if (is_point(&block->box)) {
        int32_t b = taut_symbol_block_of(symbol, block->box.lo, &ordinal);
        return b < 0 ? 0 : given_twice(model, document, &symbol->block[b], left);
    }
    for (int64_t k = 0; k < symbol->ranges; k++)
        if (overlap(model, &symbol->block[symbol->range[k]].box, &block->box))
            return given_twice(model, document, &symbol->block[symbol->range[k]], left);
    for (int32_t k = 0; symbol->points && k < symbol->blocks; k++)
        if (is_point(&symbol->block[k].box) &&
            taut_block_find(&block->box, symbol->block[k].box.lo) >= 0)
            return given_twice(model, document, &symbol->block[k], left);
    model->effort += symbol->points ? symbol->blocks : 0;
    if (model->effort > TAUT_EFFORT_LIMIT)
        return taut_document_fail(document, left->place, model->error,
                                  "'%s' is declared by too many lines", left->name);
    return 0;
}

/* Blocks of one symbol have the same number of indices, and one kind, but for definitions that
 * complete a family. It is enough to ask the first block and the first that is no definition. */
static int check_new(taut_model *model, const taut_document *document, const taut_symbol *symbol,
                     const taut_symbol_block *block, const taut_tree *left)
{
    const int32_t first[2] = {0, symbol->plain};
    for (int k = 0; k < 2 && symbol->blocks && first[k] >= 0; k++) {
        const taut_symbol_block *old = &symbol->block[first[k]];
        bool mixes =
            (old->kind == TAUT_SYMBOL_DEFINITION || block->kind == TAUT_SYMBOL_DEFINITION) &&
            (old->kind <= TAUT_SYMBOL_DEFINITION && block->kind <= TAUT_SYMBOL_DEFINITION) &&
            block->box.dims > 0;
        if (old->kind != block->kind && !mixes)
            return taut_document_fail(
                document, left->place, model->error, "'%s' is already the name of a %s (line %d)",
                left->name, taut_symbol_word(old->kind), old->item ? old->item->place.line : 0);
        if (old->box.dims != block->box.dims)
            return taut_document_fail(document, left->place, model->error,
                                      "'%s' has %d %s elsewhere (line %d)", left->name,
                                      old->box.dims, old->box.dims == 1 ? "index" : "indices",
                                      old->item ? old->item->place.line : 0);
        if (old->kind == block->kind && old->box.components != block->box.components)
            return taut_document_fail(document, left->place, model->error,
                                      "'%s' is %s elsewhere (line %d)", left->name,
                                      old->box.components > 1 ? "a particle" : "a number",
                                      old->item ? old->item->place.line : 0);
    }
    return check_members(model, document, symbol, block, left);
}

static bool reserved(const char *name)
{
    for (size_t k = 0; k < sizeof built_in / sizeof built_in[0]; k++)
        if (strcmp(built_in[k], name) == 0)
            return true;
    return false;
}

/* The members an item declares: dimensions, bounds, count. */
static int shape(taut_model *model, const taut_document *document, const taut_item_tree *item,
                 const taut_tree *left, taut_symbol_block *block)
{
    block->box.components = 1;
    block->box.dims = left->kind == TAUT_TREE_NAME ? left->count : 0;
    if (item->iterators > TAUT_ITERATOR_LIMIT)
        return taut_document_fail(document, item->place, model->error,
                                  "at most %d loops can be nested", TAUT_ITERATOR_LIMIT);
    taut_expand x;
    TAUT_TRY(taut_expand_init(&x, model, document, 0, "an index"));
    int status = 0;
    for (int d = 0; d < block->box.dims && status == 0; d++)
        status = left_index(model, document, item, left->child[d], d, block, &x);
    if (status == 0)
        status = shape_block(model, document, item, block, &x);
    taut_expand_clear(&x);
    return status;
}

/* Adds a block of members to its name in a space of names: the model's, or one of outputs or
 * events. */
static int enter(taut_model *space, const taut_document *document, taut_symbol_block *block,
                 const taut_tree *left, taut_names *names, taut_symbol **result)
{
    taut_symbol *symbol = taut_model_find(space, left->name);
    if (!symbol) {
        symbol = add_symbol(space, left->name);
        TAUT_NEED(space->error, symbol);
        symbol->kind = block->kind;
        symbol->dims = block->box.dims;
        symbol->place = left->place;
    }
    TAUT_TRY(check_new(space, document, symbol, block, left));
    if (names) {
        if (names->total + block->box.count * block->box.components > INT32_MAX / 4)
            return taut_document_fail(document, left->place, space->error,
                                      "too many members in total");
        if (taut_names_add(names, &space->system->arena, symbol->name, &block->box))
            return taut_fail_memory(space->error);
        block->box.first = names->block[names->blocks - 1].block.first;
    }
    symbol->block = taut_arena_grow(&space->scratch, symbol->block, symbol->blocks,
                                    &symbol->capacity, sizeof *symbol->block);
    TAUT_NEED(space->error, symbol->block);
    symbol->mixed =
        symbol->mixed || (symbol->blocks > 0 && (block->kind == TAUT_SYMBOL_DEFINITION ||
                                                 symbol->kind == TAUT_SYMBOL_DEFINITION));
    symbol->block[symbol->blocks++] = *block;
    if (result)
        *result = symbol;
    return register_block(space, document, symbol, symbol->blocks - 1, left);
}

int taut_model_declare(taut_model *model, const taut_document *document, taut_symbol_kind kind,
                       const taut_item_tree *item, const taut_tree *left, taut_names *names,
                       int components, taut_symbol **result)
{
    if (reserved(left->name))
        return taut_document_fail(document, left->place, model->error,
                                  "'%s' is a built-in name and cannot be declared", left->name);
    if (left->kind == TAUT_TREE_NAME && (left->primes || left->member))
        return taut_document_fail(document, left->place, model->error,
                                  "expected a plain name to declare, such as %s", left->name);
    taut_symbol_block block = {.kind = kind, .item = item, .document = document};
    TAUT_TRY(shape(model, document, item, left, &block));
    block.box.components = components;
    return enter(model, document, &block, left, names, result);
}

taut_model taut_space_make(const taut_model *model)
{
    taut_model space = {.system = model->system, .error = model->error};
    taut_arena_init(&space.scratch, &model->scratch.allocator);
    return space;
}

int taut_space_name(taut_model *space, taut_model *model, const taut_item_tree *item,
                    const taut_tree *left, taut_names *names, taut_symbol_block *block)
{
    *block =
        (taut_symbol_block){.kind = TAUT_SYMBOL_BOND, .item = item, .document = model->document};
    TAUT_TRY(shape(model, model->document, item, left, block));
    return enter(space, model->document, block, left, names, NULL);
}
