/* slot_maps.c - see slot_maps.h. In a part of a model (system/rank_part.h) positions are those of
 * the part; a survey sees those of the whole model. */
#include "model/slot_maps.h"

#include <math.h>

#include "system/rank_part.h"

static bool same_reference(const taut_reference *a, const taut_reference *b)
{
    if (a->symbol != b->symbol || a->dims != b->dims)
        return false;
    for (int d = 0; d < a->dims; d++)
        if (a->index[d] != b->index[d])
            return false;
    return true;
}

static bool refers(taut_slot_source source)
{
    return source == TAUT_FROM_Q || source == TAUT_FROM_V || source == TAUT_FROM_LAMBDA ||
           source == TAUT_FROM_PARAMETER;
}

static int32_t find_reference(taut_slot_map *m, taut_reference *r)
{
    uint64_t h = (uint64_t)(uintptr_t)r->symbol;
    for (int d = 0; d < r->dims; d++)
        h = (h ^ (h >> 31) ^ (uint32_t)r->index[d]) * 0x9e3779b97f4a7c15u;
    int64_t k = (int64_t)(h >> 20) & (m->hash_size - 1);
    while (m->hash[k] && !same_reference(m->reference[m->hash[k] - 1], r))
        k = (k + 1) & (m->hash_size - 1);
    if (!m->hash[k]) {
        m->reference[m->references] = r;
        m->hash[k] = ++m->references;
    }
    return m->hash[k] - 1;
}

static bool constant_reference(taut_expand *x, const taut_reference *r)
{
    double value;
    for (int d = 0; d < r->dims; d++)
        if (!taut_graph_is_constant(x->graph, r->index[d], &value))
            return false;
    return true;
}

int taut_slot_map_prepare(taut_slot_map *m, const int32_t *value_node, int values,
                          const taut_reference *left, int lefts)
{
    taut_expand *x = m->x;
    taut_arena *arena = &x->arena;
    int32_t size = taut_graph_size(x->graph);
    unsigned char *flag = TAUT_NEW(arena, unsigned char, size);
    m->used = TAUT_NEW(arena, unsigned char, x->slots + 1);
    m->reference = TAUT_NEW(arena, taut_reference *, x->slots + 1);
    m->base = TAUT_NEW(arena, taut_index *, x->slots + 1);
    m->one = TAUT_NEW(arena, taut_index, x->slots + 1);
    m->reference_of = TAUT_NEW(arena, int32_t, x->slots + 1);
    for (m->hash_size = 16; m->hash_size < 2 * (int64_t)x->slots + 2; m->hash_size *= 2)
        ;
    m->hash = TAUT_NEW(arena, int32_t, m->hash_size);
    m->gather = TAUT_NEW(arena, taut_index *, 6 * (int64_t)x->slots + 6);
    m->slot = TAUT_NEW(arena, taut_slot, 3 * x->slots + 1);
    int32_t *root = TAUT_NEW(arena, int32_t, size + 4 * (x->checks + lefts) + 1);
    TAUT_NEED(m->s->model->error, flag, m->used, m->reference, m->base, m->one, m->reference_of,
              m->hash, m->gather, m->slot, root);
    taut_graph_mark(x->graph, value_node, values, flag);
    int32_t roots = 0;
    for (int32_t k = 0; k < size; k++) {
        const taut_node *node = taut_graph_node(x->graph, k);
        if (!flag[k] || node->op != TAUT_OP_INPUT)
            continue;
        taut_slot_key *key = &x->slot[node->a];
        m->used[node->a] = 1;
        if (refers(key->source)) {
            int32_t before = m->references, r = find_reference(m, &key->reference);
            m->reference_of[node->a] = r;
            for (int d = 0; r == before && d < key->reference.dims; d++)
                root[roots++] = key->reference.index[d];
        } else if (key->source == TAUT_FROM_DATA) {
            root[roots++] = k;
        }
    }
    for (int32_t c = 0; c < x->checks; c++)
        for (int d = 0; d < x->check[c].reference.dims; d++)
            root[roots++] = x->check[c].reference.index[d];
    for (int k = 0; k < lefts; k++)
        for (int d = 0; d < left[k].dims; d++)
            root[roots++] = left[k].index[d];
    return taut_index_prepare(&m->run, x, m->members, root, roots);
}

/* Position of the member a reference means in the whole model, without component. */
static int resolve_whole(taut_slot_map *m, const taut_reference *r, int64_t member,
                         taut_index *position, const taut_symbol_block **block)
{
    int32_t number;
    int64_t ordinal;
    TAUT_TRY(taut_index_resolve(&m->run, r, member, &number, &ordinal));
    *block = &r->symbol->block[number];
    *position = (taut_index)((*block)->box.first + ordinal * (*block)->box.components);
    return 0;
}

static int resolve(taut_slot_map *m, const taut_reference *r, int64_t member, taut_index *position)
{
    const taut_part *part = m->s->model->system->part;
    const taut_symbol_block *block;
    TAUT_TRY(resolve_whole(m, r, member, position, &block));
    if (!part || block->kind != TAUT_SYMBOL_COORDINATE)
        return 0;
    *position = (taut_index)taut_runs_find(&part->coordinate, *position);
    return *position >= 0
               ? 0
               : taut_document_fail(r->document, r->place, m->s->model->error,
                                    "a run over several ranks does not support '%s' here, a "
                                    "coordinate of another rank",
                                    r->symbol->name);
}

/* Maps are as long as families are large: all together are bounded. */
static int count_entries(taut_slot_map *m, int lefts)
{
    int64_t each = 1 + lefts;
    for (int32_t r = 0; r < m->references; r++)
        each += !constant_reference(m->x, m->reference[r]);
    for (int32_t s = 0; s < m->x->slots; s++)
        each += m->used[s] && m->x->slot[s].source == TAUT_FROM_DATA;
    m->s->model->entries += each * m->count;
    if (m->s->model->entries <= TAUT_ENTRY_LIMIT)
        return 0;
    taut_statement *s = m->s;
    taut_document_fail(s->document, s->item->place, m->s->model->error,
                       "the model is too large: up to here its families need more than %d numbers",
                       TAUT_ENTRY_LIMIT);
    m->s->model->error->code = TAUT_ERROR_SIZE;
    return TAUT_ERROR_SIZE;
}

static int make_bases(taut_slot_map *m, const taut_reference *left, int lefts,
                      taut_index *const *left_base)
{
    taut_expand *x = m->x;
    TAUT_TRY(count_entries(m, lefts));
    for (int32_t r = 0; r < m->references; r++)
        if (!constant_reference(x, m->reference[r]) &&
            !(m->base[r] = TAUT_NEW(&x->arena, taut_index, m->count)))
            return taut_fail_memory(m->s->model->error);
    double **data = TAUT_NEW(&x->arena, double *, x->slots + 1);
    int32_t *data_node = TAUT_NEW(&x->arena, int32_t, x->slots + 1);
    TAUT_NEED(m->s->model->error, data, data_node);
    for (int32_t s = 0; s < x->slots; s++)
        if (m->used[s] && x->slot[s].source == TAUT_FROM_DATA) {
            if (!(data[s] = TAUT_NEW(&m->s->model->system->arena, double, m->count)))
                return taut_fail_memory(m->s->model->error);
            m->slot[s].data = data[s];
            data_node[s] = taut_graph_input(x->graph, s);
        }
    for (int64_t k = 0; k < m->count; k++) {
        int64_t member = taut_slot_map_member(m, k);
        TAUT_TRY(taut_index_member(&m->run, member));
        for (int32_t r = 0; r < m->references; r++)
            if (m->base[r] || k == 0)
                TAUT_TRY(
                    resolve(m, m->reference[r], member, m->base[r] ? &m->base[r][k] : &m->one[r]));
        for (int j = 0; j < lefts; j++)
            TAUT_TRY(resolve(m, &left[j], member, &left_base[j][k]));
        for (int32_t c = 0; c < x->checks; c++) {
            taut_index ignored;
            const taut_symbol_block *block;
            TAUT_TRY(resolve_whole(m, &x->check[c].reference, member, &ignored, &block));
        }
        for (int32_t s = 0; s < x->slots; s++)
            if (data[s])
                data[s][k] = m->run.value[data_node[s]];
    }
    return 0;
}

/* Slots of one coordinate, its position and its velocity, share one gather array: kernel.c
 * recognises locals apart by it. */
static int make_slots(taut_slot_map *m)
{
    taut_expand *x = m->x;
    for (int32_t s = 0; s < x->slots; s++) {
        const taut_slot_key *key = &x->slot[s];
        taut_slot *slot = &m->slot[s];
        slot->source = m->used[s] ? key->source : TAUT_FROM_NOTHING;
        if (!m->used[s] || !refers(key->source))
            continue;
        int component = key->reference.component > 0 ? key->reference.component : 0;
        int32_t r = m->reference_of[s];
        bool behind = m->s->joined && key->source == TAUT_FROM_V;
        taut_index shift = behind ? m->s->model->system->sizes.coordinates : 0;
        slot->source = behind ? TAUT_FROM_Q : slot->source;
        if (!m->base[r]) {
            slot->one = m->one[r] + component + shift;
            continue;
        }
        taut_index **gather =
            &m->gather[3 * ((int64_t)r + (behind ? x->slots + 1 : 0)) + component];
        if (!*gather) {
            if (!(*gather = TAUT_NEW(&m->s->model->system->arena, taut_index, m->count)))
                return taut_fail_memory(m->s->model->error);
            for (int64_t k = 0; k < m->count; k++)
                (*gather)[k] = m->base[r][k] + component + shift;
        }
        slot->gather = *gather;
    }
    return 0;
}

int taut_slot_map_make(taut_slot_map *m, const taut_reference *left, int lefts,
                       taut_index *const *left_base)
{
    TAUT_TRY(make_bases(m, left, lefts, left_base));
    return make_slots(m);
}

/* ---- surveys */

/* Bounds of the values of index nodes over all members: sums, differences and products of loop
 * names and constants. false: there are others. */
static bool bound_nodes(const taut_slot_map *m, double *low, double *high)
{
    const taut_index_run *run = &m->run;
    for (int32_t k = 0; k < run->nodes; k++) {
        const int32_t id = run->node[k];
        const taut_node *node = taut_graph_node(m->x->graph, id);
        const double a = node->a >= 0 ? low[node->a] : 0, b = node->b >= 0 ? low[node->b] : 0,
                     c = node->a >= 0 ? high[node->a] : 0, d = node->b >= 0 ? high[node->b] : 0;
        if (node->op == TAUT_OP_CONSTANT) {
            low[id] = high[id] = node->value;
        } else if (node->op == TAUT_OP_INPUT && m->x->slot[node->a].iterator >= 0) {
            const int32_t *value = m->members->value[m->x->slot[node->a].iterator];
            low[id] = high[id] = value[0];
            for (int64_t i = 1; i < m->members->count; i++) {
                low[id] = value[i] < low[id] ? value[i] : low[id];
                high[id] = value[i] > high[id] ? value[i] : high[id];
            }
        } else if (node->op == TAUT_OP_ADD) {
            low[id] = a + b;
            high[id] = c + d;
        } else if (node->op == TAUT_OP_SUB) {
            low[id] = a - d;
            high[id] = c - b;
        } else if (node->op == TAUT_OP_MUL) {
            low[id] = fmin(fmin(a * b, a * d), fmin(c * b, c * d));
            high[id] = fmax(fmax(a * b, a * d), fmax(c * b, c * d));
        } else {
            return false;
        }
    }
    return true;
}

/* Numbers of the whole model that a reference may mean: begin .. end-1. false: not known. */
static bool bound_reference(const taut_reference *r, const double *low, const double *high,
                            int64_t *begin, int64_t *end)
{
    int32_t from[4], to[4];
    int64_t first, last;
    for (int d = 0; d < r->dims; d++) {
        if (!(fabs(low[r->index[d]]) < 1e9 && fabs(high[r->index[d]]) < 1e9))
            return false;
        from[d] = (int32_t)low[r->index[d]];
        to[d] = (int32_t)high[r->index[d]];
    }
    const int32_t block = taut_symbol_block_of(r->symbol, from, &first);
    if (block < 0 || block != taut_symbol_block_of(r->symbol, to, &last) ||
        r->symbol->block[block].box.list || r->symbol->block[block].kind != TAUT_SYMBOL_COORDINATE)
        return false;
    const taut_name_block *box = &r->symbol->block[block].box;
    *begin = box->first + first * box->components;
    *end = box->first + (last + 1) * box->components;
    return true;
}

/* May any member be of interest? */
static bool is_near(const taut_slot_map *m, const taut_reference *left, int lefts, int64_t first,
                    const taut_survey *survey)
{
    const int32_t size = taut_graph_size(m->x->graph);
    double *low = TAUT_NEW(&m->x->arena, double, size),
           *high = TAUT_NEW(&m->x->arena, double, size);
    const int64_t row = m->s->whole_row + first;
    int64_t begin, end;
    if (!low || !high || !bound_nodes(m, low, high) ||
        survey->near(survey->user, m->s, TAUT_NEAR_ROW, row, row + m->members->count))
        return true;
    for (int32_t r = 0; r < m->references; r++) {
        if (m->reference[r]->symbol->kind == TAUT_SYMBOL_PARAMETER)
            continue;
        if (!bound_reference(m->reference[r], low, high, &begin, &end) ||
            survey->near(survey->user, m->s, TAUT_NEAR_COORDINATE, begin, end))
            return true;
    }
    for (int j = 0; j < lefts; j++)
        if (!bound_reference(&left[j], low, high, &begin, &end) ||
            survey->near(survey->user, m->s, TAUT_NEAR_TARGET, begin, end))
            return true;
    return m->references == 0 && lefts == 0 && m->s->role == TAUT_ROLE_POTENTIAL;
}

int taut_slot_map_show(taut_slot_map *m, const taut_reference *left, int lefts, int64_t first,
                       const taut_survey *survey)
{
    const taut_symbol_block *block;
    taut_sighting seen = {.statement = m->s, .targets = lefts};
    if (m->members->iterators > 0 && !is_near(m, left, lefts, first, survey))
        return 0;
    seen.at = TAUT_NEW(&m->x->arena, taut_index, m->references + 1);
    seen.width = TAUT_NEW(&m->x->arena, int, m->references + 1);
    TAUT_NEED(m->s->model->error, seen.at, seen.width);
    for (int64_t k = 0; k < m->count; k++) {
        const int64_t member = taut_slot_map_member(m, k);
        TAUT_TRY(taut_index_member(&m->run, member));
        seen.member = first + member;
        seen.place = member;
        seen.count = 0;
        for (int32_t r = 0; r < m->references; r++) {
            TAUT_TRY(resolve_whole(m, m->reference[r], member, &seen.at[seen.count], &block));
            if (block->kind == TAUT_SYMBOL_COORDINATE)
                seen.width[seen.count++] = block->box.components;
        }
        for (int j = 0; j < lefts; j++) {
            TAUT_TRY(resolve_whole(m, &left[j], member, &seen.target[j], &block));
            seen.target_width[j] = block->box.components;
        }
        TAUT_TRY(survey->see(survey->user, &seen));
    }
    return 0;
}
