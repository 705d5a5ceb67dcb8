/* jet_slots.c - which registers of a tape the Taylor coefficients of later orders are made of
 * (the rules are those of jet.c). Sums, differences and products with constants, most of what
 * springs compute, need none. */
#include <string.h>

#include "expr/tape.h"

/* What the rule of an operation reads of lower orders: bits of its operands a, b, c, its result and
 * its companions. */
enum { OF_A = 1, OF_B = 2, OF_C = 4, OF_RESULT = 8, OF_COMPANIONS = 16 };

static int reads(const taut_tape *tape, const taut_instruction *in)
{
    const bool fixed_a = taut_tape_is_constant(tape, in->a),
               fixed_b = taut_tape_is_constant(tape, in->b);
    switch (in->op) {
    case TAUT_OP_NEG:
    case TAUT_OP_ADD:
    case TAUT_OP_SUB:
    case TAUT_OP_SIGN:
    case TAUT_OP_FLOOR:
    case TAUT_OP_ROUND:
    case TAUT_OP_LT:
    case TAUT_OP_LE:
    case TAUT_OP_EQ:
    case TAUT_OP_NE:
    case TAUT_OP_AND:
    case TAUT_OP_OR: return 0;
    case TAUT_OP_MUL: return fixed_a || fixed_b ? 0 : OF_A | OF_B;
    case TAUT_OP_DIV:
    case TAUT_OP_DIVZ: return fixed_b ? 0 : OF_B | OF_RESULT;
    case TAUT_OP_SQRT:
    case TAUT_OP_ROOT: return OF_RESULT;
    case TAUT_OP_CURVE: return OF_A | OF_COMPANIONS; /* b and c are no registers */
    default: break;
    }
    static const int operands[] = {0, OF_A, OF_A | OF_B, OF_A | OF_B | OF_C};
    return operands[taut_op_table[in->op].arity] | OF_RESULT | OF_COMPANIONS;
}

int32_t taut_tape_jet_slots(const taut_tape *tape, int level, const int32_t *output, int outputs,
                            int32_t *slot)
{
    const int32_t all = tape->registers + tape->companions;
    int32_t count = 0;
    memset(slot, 0, (size_t)all * sizeof *slot);
    for (int k = 0; k < outputs; k++)
        slot[output[k]] = 1;
    for (int32_t i = 0; i < tape->level_end[level]; i++) {
        const taut_instruction *in = &tape->code[i];
        const int needs = reads(tape, in);
        if (needs & OF_A)
            slot[in->a] = 1;
        if (needs & OF_B)
            slot[in->b] = 1;
        if (needs & OF_C)
            slot[in->c] = 1;
        if (needs & OF_RESULT)
            slot[in->to] = 1;
        for (int c = 0; needs & OF_COMPANIONS && c < taut_jet_companions((taut_op)in->op); c++)
            slot[in->companion + c] = 1;
    }
    for (int32_t r = 0; r < all; r++)
        slot[r] = slot[r] ? count++ : -1;
    return count;
}
