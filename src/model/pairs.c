/* pairs.c - sum(term for pairs i, j in a, b within r ...): one statement whose members, the pairs
 * within the cut-off, change with the positions (system/pair_sums.h).
 *
 * The statement is expanded for the pairs (1, 1), (2, 2), ...: positions, parameters and columns of
 * tables whose index is i or j alone have then one entry for each particle, from which those of any
 * pair are taken. What depends on both indices at once is refused. */
#include "model/model.h"

#include <math.h>
#include <string.h>

static int fail_at(const taut_statement *s, taut_place place, const char *message, const char *name)
{
    return taut_document_fail(s->document, place, s->model->error, message, name);
}

/* Families of particles with one index. */
static int find_families(taut_statement *s, taut_pair_families *f)
{
    const taut_pairs *pairs = s->term.pairs;
    for (int k = 0; k < 2; k++) {
        taut_symbol *symbol = taut_model_find(s->model, pairs->family[k]);
        if (!symbol)
            return taut_model_unknown(s->model, s->document, pairs->place[k], pairs->family[k]);
        const taut_name_block *box = &symbol->block[0].box;
        if (symbol->kind != TAUT_SYMBOL_COORDINATE || symbol->blocks != 1 || box->dims != 1 ||
            box->list || box->components < 2)
            return fail_at(s, pairs->place[k],
                           "expected particles p[i] for i in a..b, declared in one line of "
                           "[particles]; '%s' is not that",
                           pairs->family[k]);
        f->dimension = box->components;
        f->first[k] = box->first;
        f->low[k] = box->lo[0];
        f->count[k] = (int32_t)box->count;
    }
    f->same = pairs->family[0] == pairs->family[1];
    return 0;
}

/* An integer that is known before the run; *result is the default. */
static int find_integer(taut_statement *s, int which, const char *word, int32_t *result)
{
    const taut_tree *tree = s->term.pairs->tree[which];
    taut_expand x;
    int32_t node;
    double value = 0;
    if (!tree)
        return 0;
    TAUT_TRY(taut_expand_init(&x, s->model, s->document, 0, "an integer of a sum over pairs"));
    int status = taut_expand_index(&x, tree, NULL, &node);
    bool whole = status == 0 && taut_graph_is_constant(x.graph, node, &value) &&
                 value == floor(value) && value >= 0 && value < 1e9;
    taut_expand_clear(&x);
    TAUT_TRY(status);
    *result = (int32_t)value;
    return whole ? 0 : fail_at(s, tree->place, "'%s' needs an integer that is not negative", word);
}

/* Bonds, where they exclude pairs, replace the rule that equal indices are no pair. */
static int find_integers(taut_statement *s, taut_pair_families *f)
{
    f->apart = s->term.pairs->tree[TAUT_PAIR_EXCLUDE] ? 0 : 1;
    f->exclude = 0;
    TAUT_TRY(find_integer(s, TAUT_PAIR_APART, "apart", &f->apart));
    return find_integer(s, TAUT_PAIR_EXCLUDE, "exclude", &f->exclude);
}

/* One number of the sum as a kernel over parameters. */
static int number(const taut_statement *of, int row, const taut_tree *tree, const char *what)
{
    taut_statement s = taut_statement_make(of->model, of->document, of->item, TAUT_ROLE_VALUE,
                                           1u << TAUT_FROM_PARAMETER, what);
    s.list = TAUT_LIST_PAIR;
    s.first_row = of->model->system->pair_sums * TAUT_PAIR_NUMBERS + row;
    s.term = (taut_term){.sign = 1, .body = tree};
    return taut_statement_build(&s);
}

static int numbers(taut_statement *s, taut_pair_sum *sum)
{
    const taut_pairs *pairs = s->term.pairs;
    const taut_tree *skin = pairs->tree[TAUT_PAIR_SKIN], *box = pairs->tree[TAUT_PAIR_PERIODIC];
    const int d = sum->families.dimension;
    TAUT_TRY(number(s, TAUT_PAIR_CUT, pairs->tree[TAUT_PAIR_WITHIN], "a cut-off"));
    sum->skin = skin != NULL;
    if (skin)
        TAUT_TRY(number(s, TAUT_PAIR_SKIN_WIDTH, skin, "a skin"));
    sum->periodic = box != NULL;
    const bool each = box && box->kind == TAUT_TREE_VECTOR;
    if (each && box->count != d)
        return fail_at(s, box->place, "'%s' needs one length, or one for each direction",
                       "periodic");
    for (int c = 0; c < d && box; c++)
        TAUT_TRY(number(s, TAUT_PAIR_BOX + c, each ? box->child[c] : box, "a periodic box"));
    return 0;
}

/* The sum in the model file, for errors of its numbers. */
static int find_place(taut_statement *s, taut_place place, taut_pair_sum *sum)
{
    taut_error *at = TAUT_NEW(&s->model->system->arena, taut_error, 1);
    TAUT_NEED(s->model->error, at);
    taut_document_fail(s->document, place, at, "sum");
    sum->place = at;
    return 0;
}

int taut_pairs_build(taut_statement *s, taut_place place)
{
    if (taut_space_size(s->model->how->space) > 1)
        return taut_document_fail(s->document, place, s->model->error,
                                  "a sum over pairs is not supported in a run over several ranks: "
                                  "run this model without mpiexec");
    taut_system *system = s->model->system;
    taut_pair_sum *sum = TAUT_NEW(&system->arena, taut_pair_sum, 1);
    TAUT_NEED(s->model->error, sum);
    TAUT_TRY(find_families(s, &sum->families));
    TAUT_TRY(find_integers(s, &sum->families));
    TAUT_TRY(numbers(s, sum));
    TAUT_TRY(find_place(s, place, sum));
    const unsigned allow = s->allow;
    const char *what = s->what;
    s->pairs = sum;
    s->allow = 1u << TAUT_FROM_Q | 1u << TAUT_FROM_PARAMETER;
    s->what = "the term of a sum over pairs";
    int status = taut_statement_build(s);
    s->pairs = NULL;
    s->allow = allow;
    s->what = what;
    return status;
}

int taut_pairs_members(taut_statement *s, taut_arena *arena, taut_members *members)
{
    const taut_pair_families *f = &s->pairs->families;
    *members = (taut_members){.iterators = 2};
    members->count = f->count[0] > f->count[1] ? f->count[0] : f->count[1];
    for (int k = 0; k < 2; k++) {
        TAUT_NEED(s->model->error, members->value[k] = TAUT_NEW(arena, int32_t, members->count));
        for (int32_t i = 0; i < members->count; i++)
            members->value[k][i] = f->low[k] + (i < f->count[k] ? i : f->count[k] - 1);
    }
    return 0;
}

int32_t taut_pairs_end(taut_expand *x, const taut_reference *r, int components)
{
    static const double direction[2][3] = {{0.6, 0.8, 0}, {0.48, 0.6, 0.64}};
    if (r->dims != 1 || r->index[0] != x->iterator_node[1])
        return taut_graph_constant(x->graph, 0);
    int32_t part = taut_graph_constant(x->graph, direction[components - 2][r->component]);
    return taut_graph_binary(x->graph, TAUT_OP_MUL, part, x->cut);
}

/* Adds the sides, 1 for i and 2 for j, that a node of integers depends on. */
static int sides_below(taut_expand *x, int32_t node)
{
    const int32_t *slot;
    int32_t count = taut_graph_inputs(x->graph, node, &slot);
    int sides = 0;
    for (int32_t k = 0; k < count; k++) {
        const taut_slot_key *key = &x->slot[slot[k]];
        sides |= key->iterator >= 0 ? 1 << key->iterator : sides_below(x, key->reference.index[0]);
    }
    return sides;
}

/* Which particle a slot belongs to: 0, 1, or -1 for none. */
static int find_side(taut_statement *s, taut_expand *x, const taut_slot_key *key, signed char *side)
{
    const taut_reference *r = &key->reference;
    int sides = 0;
    if (key->source == TAUT_FROM_Q) {
        for (int k = 0; k < 2; k++)
            if (r->dims == 1 && r->index[0] == x->iterator_node[k] &&
                strcmp(r->symbol->name, s->term.pairs->family[k]) == 0)
                sides = 1 << k;
        if (!sides)
            return taut_document_fail(r->document, r->place, s->model->error,
                                      "the term of this sum over pairs refers to %s[%s] and "
                                      "%s[%s] only",
                                      s->term.pairs->family[0], s->term.iterator[0]->name,
                                      s->term.pairs->family[1], s->term.iterator[1]->name);
    } else if (key->iterator >= 0) {
        sides = 1 << key->iterator;
    } else {
        for (int d = 0; d < (key->table ? 1 : r->dims); d++)
            sides |= sides_below(x, r->index[d]);
    }
    if (sides == 3)
        return taut_document_fail(r->document, r->place, s->model->error,
                                  "an index in the term of a sum over pairs depends on '%s' or on "
                                  "'%s', not on both",
                                  s->term.iterator[0]->name, s->term.iterator[1]->name);
    *side = (signed char)(sides - 1);
    if (sides == 0)
        *side = -1;
    return 0;
}

static int refuse_conditions(taut_statement *s, const taut_guards *guards)
{
    for (int32_t k = 0; guards && k < guards->count; k++)
        if (guards->guard[k].op != TAUT_OP_CURVE)
            return fail_at(s, s->term.body->place,
                           "the term of a sum over pairs must be smooth: it cannot contain "
                           "conditions (if, abs, min, round, ...) of the positions; nearest images "
                           "are those of '%s', and beyond the cut-off the term is not evaluated",
                           "periodic");
    return 0;
}

int taut_pairs_add(taut_statement *s, taut_expand *x, taut_statement_kernel *kernel)
{
    taut_system *system = s->model->system;
    taut_pair_sum *sum = s->pairs;
    signed char *side = TAUT_NEW(&system->arena, signed char, kernel->slots + 1);
    TAUT_NEED(s->model->error, side);
    TAUT_TRY(refuse_conditions(s, kernel->guards));
    kernel->guards = NULL; /* ends of tables */
    for (int32_t k = 0; k < kernel->slots; k++) {
        side[k] = -1;
        if (k < x->slots && kernel->slot[k].source != TAUT_FROM_NOTHING)
            TAUT_TRY(find_side(s, x, &x->slot[k], &side[k]));
    }
    sum->side = side;
    sum->kernel = kernel;
    system->pair_sum = taut_arena_grow(&system->arena, system->pair_sum, system->pair_sums,
                                       &s->model->pair_capacity, sizeof(taut_pair_sum *));
    TAUT_NEED(s->model->error, system->pair_sum);
    system->pair_sum[system->pair_sums++] = sum;
    return 0;
}
