/* parse_pairs.c - sums over pairs of particles: for pairs i, j in a, b within r apart k
 * exclude k periodic l skin s shift. The words are not reserved: `pairs` is an index where `in` follows it. */
#include "expr/parser.h"

/* Takes a word that must follow. */
static int take_word(taut_parser *parser, const char *word, const char *expected)
{
    return taut_parser_at_word(parser, word) ? taut_parser_advance(parser)
                                             : taut_parser_expected(parser, expected);
}

/* The expressions behind the words, each at most once, and `shift`. */
static int parse_words(taut_parser *parser, taut_pairs *pairs)
{
    static const char *const word[TAUT_PAIR_TREES] = {"within", "apart", "exclude", "periodic",
                                                      "skin"};
    for (;;) {
        int k = 0;
        while (k < TAUT_PAIR_TREES && (pairs->tree[k] || !taut_parser_at_word(parser, word[k])))
            k++;
        if (k == TAUT_PAIR_TREES && (pairs->shift || !taut_parser_at_word(parser, "shift")))
            break;
        TAUT_TRY(taut_parser_advance(parser));
        if (k < TAUT_PAIR_TREES)
            TAUT_TRY(taut_parse_expression(parser, &pairs->tree[k]));
        else
            pairs->shift = true;
    }
    return pairs->tree[TAUT_PAIR_WITHIN] ? 0
                                         : taut_parser_expected(parser, "'within' and the cut-off");
}

int taut_parse_pairs(taut_parser *parser, taut_iterator **iterator, taut_pairs **result)
{
    taut_pairs *pairs = *result = TAUT_NEW(parser->arena, taut_pairs, 1);
    *iterator = TAUT_NEW(parser->arena, taut_iterator, 2);
    TAUT_NEED(parser->error, pairs, *iterator);
    TAUT_TRY(taut_parser_advance(parser)); /* `for` */
    for (int k = 0; k < 2; k++) {
        TAUT_TRY(taut_parser_advance(parser)); /* `pairs` or a comma */
        (*iterator)[k].place = parser->token.place;
        TAUT_TRY(taut_parser_name(parser, "the name of an index", &(*iterator)[k].name));
        if (k == 0 && parser->token.kind != ',')
            return taut_parser_expected(parser, "',' and the second index: pairs i, j in ...");
    }
    if ((*iterator)[0].name == (*iterator)[1].name)
        return taut_parser_fail(parser, (*iterator)[1].place,
                                "the index '%s' appears twice in this 'for'", (*iterator)[1].name);
    TAUT_TRY(take_word(parser, "in", "'in' and the particles"));
    for (int k = 0; k < 2; k++) {
        pairs->place[k] = parser->token.place;
        TAUT_TRY(taut_parser_name(parser, "the name of particles", &pairs->family[k]));
        if (parser->token.kind != ',')
            break;
        TAUT_TRY(taut_parser_advance(parser));
    }
    if (!pairs->family[1]) {
        pairs->family[1] = pairs->family[0];
        pairs->place[1] = pairs->place[0];
    }
    return parse_words(parser, pairs);
}

bool taut_parser_at_pairs(const taut_parser *parser)
{
    taut_parser ahead = *parser;
    ahead.error = ahead.lexer.error = NULL;
    return taut_parser_advance(&ahead) == 0 && taut_parser_at_word(&ahead, "pairs") &&
           taut_parser_advance(&ahead) == 0 && !taut_parser_at_word(&ahead, "in");
}
