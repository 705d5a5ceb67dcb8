/* term_value.c - the value of a term: its body, factors and scale, the stiffness of a bond that
 * depends on t, and the value at the cut-off that `shift` subtracts. */
#include "model/model.h"

/* sqrt(k(t)/k), k(t) the stiffness and k that of the initial time: by it a bond with a stiffness
 * that depends on t becomes one that does not (docs/theory.md). */
static int stiffening(taut_statement *s, taut_expand *x, const taut_attribute *spring,
                      int32_t *factor)
{
    int32_t now, then;
    taut_binding *scope = taut_expand_scope(x, s->item->iterators);
    x->allow = 1u << TAUT_FROM_PARAMETER | 1u << TAUT_FROM_TIME;
    TAUT_TRY(taut_expand_scalar(x, spring->value, scope, &now));
    x->still = true;
    TAUT_TRY(taut_expand_scalar(x, spring->value, scope, &then));
    x->still = false;
    bool compliance = spring->word == TAUT_WORD_COMPLIANCE;
    *factor = taut_graph_unary(
        x->graph, TAUT_OP_SQRT,
        taut_graph_binary(x->graph, TAUT_OP_DIV, compliance ? then : now, compliance ? now : then));
    return 0;
}

/* The term of a sum over pairs less its value at the cut-off. */
static int subtract_end(const taut_term *term, taut_expand *x, taut_value *value)
{
    taut_value end;
    const unsigned allow = x->allow;
    x->allow = 1u << TAUT_FROM_PARAMETER;
    TAUT_TRY(taut_expand_scalar(x, term->pairs->tree[TAUT_PAIR_WITHIN], NULL, &x->cut));
    x->allow = allow;
    x->at_cut = true;
    int status = taut_expand_tree(x, term->body, taut_expand_scope(x, term->iterators), &end);
    x->at_cut = false;
    TAUT_TRY(status);
    if (value->n == 1 && end.n == 1)
        value->node[0] = taut_graph_binary(x->graph, TAUT_OP_SUB, value->node[0], end.node[0]);
    return 0;
}

int taut_statement_value(taut_statement *s, taut_expand *x, taut_value *value)
{
    const taut_term *term = &s->term;
    if (s->relative) {
        value->n = 1;
        return stiffening(s, x, s->spring, value->node);
    }
    x->still = s->still;
    TAUT_TRY(taut_expand_tree(x, term->body, taut_expand_scope(x, term->iterators), value));
    if (term->pairs && term->pairs->shift)
        TAUT_TRY(subtract_end(term, x, value));
    int32_t factor = taut_graph_constant(x->graph, term->sign);
    for (int k = 0; k <= term->factors; k++) {
        const taut_tree *tree = k < term->factors ? term->factor[k] : s->times;
        taut_value f;
        if (!tree)
            continue;
        bool scale = k == term->factors; /* a scale is a number of the model, not of the state */
        x->allow = scale ? 1u << TAUT_FROM_PARAMETER : s->allow;
        x->what = scale ? "a scale" : s->what;
        TAUT_TRY(taut_expand_tree(
            x, tree, taut_expand_scope(x, scale ? s->item->iterators : term->depth[k]), &f));
        taut_op op = k < term->factors && term->inverse[k] ? TAUT_OP_DIV : TAUT_OP_MUL;
        if (f.n > 1 && value->n > 1)
            return taut_expand_fail(x, tree->place, "for products of vectors use dot or cross");
        if (f.n > 1) {
            for (int c = 0; c < f.n; c++)
                f.node[c] = taut_graph_binary(x->graph, op, value->node[0], f.node[c]);
            *value = f;
        } else {
            factor = taut_graph_binary(x->graph, op, factor, f.node[0]);
        }
    }
    s->timed |= x->timed;
    if (s->spring) {
        int32_t by;
        TAUT_TRY(stiffening(s, x, s->spring, &by));
        factor = taut_graph_binary(x->graph, TAUT_OP_MUL, factor, by);
    }
    for (int c = 0; c < value->n; c++) {
        value->node[c] = taut_graph_binary(x->graph, TAUT_OP_MUL, factor, value->node[c]);
        if (s->reciprocal)
            value->node[c] = taut_graph_binary(x->graph, TAUT_OP_DIV,
                                               taut_graph_constant(x->graph, 1), value->node[c]);
    }
    return 0;
}
