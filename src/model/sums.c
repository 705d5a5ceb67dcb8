/* sums.c - statements that add up (potentials, forces, kinetic energies): sums that have nothing
 * but signs, additions and factors around them stay loops, a term each, and are never written
 * out. Definitions are looked through. */
#include "model/model.h"

#include <string.h>

/* The definition that a plain name means, unless it is being looked into: then it leads back to
 * itself, which its expansion reports. */
static taut_symbol *look_through(const taut_model *model, const taut_tree *tree)
{
    if (tree->kind != TAUT_TREE_NAME || tree->count || tree->member || tree->primes)
        return NULL;
    taut_symbol *symbol = taut_model_find(model, tree->name);
    return symbol && symbol->kind == TAUT_SYMBOL_DEFINITION && symbol->dims == 0 &&
                   symbol->state == 0
               ? symbol
               : NULL;
}

/* Is there a sum in the tree that can stay a loop, having nothing but signs, additions and
 * factors around it? `depth` counts levels through definitions; each of these is examined once. */
static bool linear_sum(const taut_model *model, const taut_tree *tree, int depth)
{
    if (depth > TAUT_LEVEL_LIMIT)
        return false;
    if (tree->kind == TAUT_TREE_SUM)
        return true;
    if (tree->kind == TAUT_TREE_UNARY)
        return linear_sum(model, tree->child[0], depth + 1);
    if (tree->kind == TAUT_TREE_BINARY && strchr("+-", tree->op))
        return linear_sum(model, tree->child[0], depth + 1) ||
               linear_sum(model, tree->child[1], depth + 1);
    if (tree->kind == TAUT_TREE_BINARY && tree->op == '*')
        return linear_sum(model, tree->child[0], depth + 1) !=
               linear_sum(model, tree->child[1], depth + 1);
    if (tree->kind == TAUT_TREE_BINARY && tree->op == '/')
        return linear_sum(model, tree->child[0], depth + 1);
    taut_symbol *symbol = look_through(model, tree);
    if (symbol && symbol->sums == TAUT_SUMS_UNKNOWN) {
        symbol->used = true;
        symbol->sums = TAUT_SUMS_ASKED;
        symbol->sums = linear_sum(model, symbol->block[0].item->value, depth + 1) ? TAUT_SUMS_LOOP
                                                                                  : TAUT_SUMS_NONE;
    }
    return symbol && symbol->sums == TAUT_SUMS_LOOP;
}

static int split_terms(taut_statement *s, const taut_tree *tree, taut_term term);

static int split_product(taut_statement *s, const taut_tree *tree, taut_term term)
{
    int side = tree->op == '/' || linear_sum(s->model, tree->child[0], 0) ? 0 : 1;
    term.factor[term.factors] = tree->child[1 - side];
    term.inverse[term.factors] = tree->op == '/';
    term.depth[term.factors++] = term.iterators;
    return split_terms(s, tree->child[side], term);
}

static int split_definition(taut_statement *s, const taut_tree *tree, taut_term term)
{
    const taut_document *document = s->document;
    taut_symbol *symbol = look_through(s->model, tree);
    s->document = symbol->block[0].document;
    symbol->state++;
    int status = split_terms(s, symbol->block[0].item->value, term);
    symbol->state--;
    s->document = document;
    return status;
}

static int split_further(taut_statement *s, const taut_tree *tree, taut_term term)
{
    if (tree->kind == TAUT_TREE_UNARY) {
        term.sign = -term.sign;
        return split_terms(s, tree->child[0], term);
    }
    if (tree->kind == TAUT_TREE_BINARY && strchr("+-", tree->op)) {
        TAUT_TRY(split_terms(s, tree->child[0], term));
        if (tree->op == '-')
            term.sign = -term.sign;
        return split_terms(s, tree->child[1], term);
    }
    if (tree->kind == TAUT_TREE_BINARY)
        return split_product(s, tree, term);
    if (tree->kind == TAUT_TREE_NAME)
        return split_definition(s, tree, term);
    if (tree->pairs && (s->role != TAUT_ROLE_POTENTIAL || term.iterators))
        return taut_document_fail(s->document, tree->place, s->model->error,
                                  s->role != TAUT_ROLE_POTENTIAL
                                      ? "a sum over pairs is a term of [potential]"
                                      : "a sum over pairs cannot stand inside another loop");
    for (int k = 0; k < tree->iterators; k++) /* a sum */
        term.iterator[term.iterators++] = &tree->iterator[k];
    if (!tree->pairs)
        return split_terms(s, tree->child[0], term);
    term.pairs = tree->pairs;
    term.body = tree->child[0];
    s->term = term;
    return taut_pairs_build(s, tree->place);
}

static int split_terms(taut_statement *s, const taut_tree *tree, taut_term term)
{
    bool room = tree->kind == TAUT_TREE_SUM
                    ? term.iterators + tree->iterators <= TAUT_ITERATOR_LIMIT
                : tree->kind == TAUT_TREE_NAME ? term.iterators == 0
                                               : term.factors < TAUT_FACTOR_LIMIT;
    if (room && s->model->levels < TAUT_LEVEL_LIMIT / 2 && linear_sum(s->model, tree, 0)) {
        s->model->levels++;
        int status = split_further(s, tree, term);
        s->model->levels--;
        return status;
    }
    term.body = tree;
    s->term = term;
    return taut_statement_build(s);
}

int taut_statement_terms(taut_statement *s, const taut_tree *tree)
{
    taut_term term = {.sign = 1, .iterators = s->item->iterators};
    if (s->item->iterators > TAUT_ITERATOR_LIMIT)
        return taut_document_fail(s->document, s->item->place, s->model->error,
                                  "at most %d loops can be nested", TAUT_ITERATOR_LIMIT);
    for (int k = 0; k < term.iterators; k++)
        term.iterator[k] = &s->item->iterator[k];
    bool adds = s->joined && s->item->iterators == 0; /* one row, to which kernels add */
    if (!adds &&
        (s->role == TAUT_ROLE_BOND || s->role == TAUT_ROLE_VALUE || s->role == TAUT_ROLE_MASS)) {
        term.body = tree;
        s->term = term;
        return taut_statement_build(s);
    }
    return split_terms(s, tree, term);
}
