/* tape.c - from a graph to instructions: mark what the outputs need, number the registers, write
 * the code level by level. */
#include "expr/tape.h"

#include <string.h>

enum { UNUSED = 255 };

/* What creation needs and gives back at its end. */
typedef struct builder {
    const taut_graph *graph;
    taut_arena work;
    unsigned char *need; /* per node: the lowest level that needs it, or UNUSED */
    unsigned char *rank; /* per node: where in its level it stands, see find_ranks */
    int32_t *place;      /* per node: its register; -1 before */
    int32_t size;        /* nodes that matter */
    int64_t constants, curves, companions;
    int64_t level_count[TAUT_LEVELS];
} builder;

static int32_t operand(const taut_node *node, int which)
{
    return which == 0 ? node->a : which == 1 ? node->b : node->c;
}

static int check_outputs(const taut_graph *graph, int32_t count, const int32_t *node,
                         const unsigned char *level, taut_error *error)
{
    TAUT_TRY(taut_graph_status(graph, error));
    for (int32_t k = 0; k < count; k++) {
        if (node[k] < 0 || node[k] >= taut_graph_size(graph))
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "output %d of a tape is not a node of its graph", (int)k);
        if (level[k] >= TAUT_LEVELS)
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "output %d of a tape has level %d, at most %d is possible", (int)k,
                             (int)level[k], TAUT_LEVELS - 1);
    }
    return 0;
}

/* The lowest level that needs each node; operands have smaller numbers, so one pass downwards
 * does it. */
static void find_needs(builder *build, int32_t count, const int32_t *node,
                       const unsigned char *level)
{
    memset(build->need, UNUSED, (size_t)build->size);
    for (int32_t k = 0; k < count; k++)
        if (level[k] < build->need[node[k]])
            build->need[node[k]] = level[k];
    for (int32_t k = build->size - 1; k >= 0; k--) {
        const taut_node *user = taut_graph_node(build->graph, k);
        for (int j = 0; build->need[k] != UNUSED && j < taut_op_table[user->op].arity; j++) {
            unsigned char *need = &build->need[operand(user, j)];
            *need = build->need[k] < *need ? build->need[k] : *need;
        }
    }
}

static int count_all(builder *build, int32_t inputs, taut_error *error)
{
    for (int32_t k = 0; k < build->size; k++) {
        const taut_node *node = taut_graph_node(build->graph, k);
        if (build->need[k] == UNUSED)
            continue;
        if (node->op == TAUT_OP_CONSTANT) {
            build->constants++;
        } else if (node->op == TAUT_OP_INPUT) {
            if (node->a >= inputs)
                return taut_fail(error, TAUT_ERROR_USAGE,
                                 "an expression uses input %d of a tape that has %d", (int)node->a,
                                 (int)inputs);
        } else {
            build->level_count[build->need[k]]++;
            build->companions += taut_jet_companions(node->op);
            build->curves += node->op == TAUT_OP_CURVE;
        }
    }
    return 0;
}

/* Outputs that nothing else of their level is made of stand at its end, in the order of the
 * outputs as far as they do not need one another. Their registers are then neighbours, which
 * compilers store, and compute, as vectors. */
enum { RANK_FIRST, RANK_OUTPUT, RANK_LAST };

static void find_ranks(builder *build, int32_t count, const int32_t *node)
{
    for (int32_t k = 0; k < count; k++)
        if (taut_op_table[taut_graph_node(build->graph, node[k])->op].arity > 0)
            build->rank[node[k]] = RANK_OUTPUT;
    for (int32_t k = build->size - 1; k >= 0; k--) { /* users before operands */
        const taut_node *user = taut_graph_node(build->graph, k);
        for (int j = 0; build->rank[k] == RANK_FIRST && build->need[k] != UNUSED &&
                        j < taut_op_table[user->op].arity;
             j++)
            if (build->need[operand(user, j)] == build->need[k])
                build->rank[operand(user, j)] = RANK_FIRST;
    }
    for (int32_t k = 0; k < build->size; k++) {
        const taut_node *user = taut_graph_node(build->graph, k);
        for (int j = 0; build->rank[k] != RANK_FIRST && build->need[k] != UNUSED &&
                        j < taut_op_table[user->op].arity;
             j++)
            if (build->need[operand(user, j)] == build->need[k] &&
                build->rank[operand(user, j)] != RANK_FIRST)
                build->rank[k] = RANK_LAST;
    }
}

static void place_inputs(builder *build, const taut_tape *tape, double *constant)
{
    int32_t next = 0;
    for (int32_t k = 0; k < build->size; k++) {
        const taut_node *node = taut_graph_node(build->graph, k);
        build->place[k] = -1;
        if (build->need[k] == UNUSED)
            continue;
        if (node->op == TAUT_OP_CONSTANT) {
            constant[next] = node->value;
            build->place[k] = tape->inputs + next++;
        } else if (node->op == TAUT_OP_INPUT) {
            build->place[k] = node->a;
        }
    }
}

/* Registers: inputs, constants, then instructions sorted by level, within one by rank, and then
 * in the order of the graph. */
static void place_registers(builder *build, const taut_tape *tape, int32_t count,
                            const int32_t *output, double *constant)
{
    int32_t next[TAUT_LEVELS];
    for (int k = 0; k < TAUT_LEVELS; k++)
        next[k] = tape->inputs + tape->constants + (k ? tape->level_end[k - 1] : 0);
    place_inputs(build, tape, constant);
    for (int rank = RANK_FIRST; rank <= RANK_LAST; rank++)
        for (int32_t k = 0; k < (rank == RANK_OUTPUT ? count : build->size); k++) {
            const int32_t node = rank == RANK_OUTPUT ? output[k] : k;
            if (build->need[node] != UNUSED && build->rank[node] == rank && build->place[node] < 0)
                build->place[node] = next[build->need[node]]++;
        }
}

static void write_code(builder *build, taut_tape *tape, taut_instruction *code,
                       const struct taut_curve **curve)
{
    int32_t curves = 0, companions = 0, first = tape->inputs + tape->constants;
    for (int32_t k = 0; k < build->size; k++) {
        const taut_node *node = taut_graph_node(build->graph, k);
        if (build->need[k] == UNUSED || node->op == TAUT_OP_CONSTANT || node->op == TAUT_OP_INPUT)
            continue;
        int arity = taut_op_table[node->op].arity, companion = taut_jet_companions(node->op);
        taut_instruction *one = &code[build->place[k] - first];
        *one = (taut_instruction){.op = (int32_t)node->op,
                                  .to = build->place[k],
                                  .a = build->place[node->a],
                                  .b = -1,
                                  .c = -1};
        if (arity > 1)
            one->b = build->place[node->b];
        if (arity > 2)
            one->c = build->place[node->c];
        if (node->op == TAUT_OP_CURVE) {
            one->b = node->b;
            one->c = curves;
            curve[curves++] = node->curve;
        }
        one->companion = companion ? tape->registers + companions : -1;
        companions += companion;
        tape->kinks = tape->kinks || taut_op_table[node->op].kink;
    }
}

static void find_pairs(const taut_tape *tape, taut_instruction *code)
{
    int level = 0;
    for (int32_t k = 0; k < tape->length; k++) {
        while (k >= tape->level_end[level])
            level++;
        const taut_instruction *next = &code[k + 1];
        code[k].pair = code[k].op;
        if (k + 1 < tape->level_end[level] && taut_is_paired(code[k].op) &&
            taut_is_paired(next->op))
            code[k].pair = TAUT_PAIR(code[k].op, next->op,
                                     next->a == code[k].to   ? 1
                                     : next->b == code[k].to ? 2
                                                             : 0);
    }
}

static int assemble(builder *build, taut_arena *arena, int32_t inputs, int32_t count,
                    const int32_t *node, taut_tape **result, taut_error *error)
{
    int64_t length = 0;
    taut_tape *tape = TAUT_NEW(arena, taut_tape, 1);
    TAUT_NEED(error, tape);
    for (int k = 0; k < TAUT_LEVELS; k++)
        tape->level_end[k] = (int32_t)(length += build->level_count[k]);
    if (inputs + build->constants + length + build->companions > INT32_MAX)
        return taut_fail(error, TAUT_ERROR_SIZE,
                         "a tape needs more registers than can be numbered");
    tape->inputs = inputs;
    tape->constants = (int32_t)build->constants;
    tape->length = (int32_t)length;
    tape->registers = (int32_t)(inputs + build->constants + length);
    tape->companions = (int32_t)build->companions;
    tape->outputs = count;
    double *constant = TAUT_NEW(arena, double, build->constants);
    taut_instruction *code = TAUT_NEW(arena, taut_instruction, length);
    const struct taut_curve **curve = TAUT_NEW(arena, const struct taut_curve *, build->curves);
    int32_t *output = TAUT_NEW(arena, int32_t, count);
    TAUT_NEED(error, constant, code, curve, output);
    place_registers(build, tape, count, node, constant);
    write_code(build, tape, code, curve);
    find_pairs(tape, code);
    for (int32_t k = 0; k < count; k++)
        output[k] = build->place[node[k]];
    tape->constant = constant;
    tape->code = code;
    tape->curve = curve;
    tape->output = output;
    *result = tape;
    return 0;
}

int taut_tape_create(const taut_graph *graph, taut_arena *arena, int32_t inputs, int32_t count,
                     const int32_t *node, const unsigned char *level, taut_tape **tape,
                     taut_error *error)
{
    TAUT_TRY(check_outputs(graph, count, node, level, error));
    builder build = {.graph = graph};
    for (int32_t k = 0; k < count; k++)
        build.size = node[k] >= build.size ? node[k] + 1 : build.size;
    taut_arena_init(&build.work, &arena->allocator);
    build.need = TAUT_NEW(&build.work, unsigned char, build.size);
    build.rank = TAUT_NEW(&build.work, unsigned char, build.size);
    build.place = TAUT_NEW(&build.work, int32_t, build.size);
    int status = build.need && build.rank && build.place ? 0 : taut_fail_memory(error);
    if (status == 0) {
        find_needs(&build, count, node, level);
        find_ranks(&build, count, node);
        status = count_all(&build, inputs, error);
    }
    if (status == 0)
        status = assemble(&build, arena, inputs, count, node, tape, error);
    taut_arena_clear(&build.work);
    return status;
}

int taut_tape_lanes(const taut_tape *tape, int64_t members)
{
    /* three quarters of a first-level cache of 32 KB; fewer than 8 lanes would not fill vectors,
     * more than 256 gain nothing */
    enum { CACHE = 24 * 1024, LEAST = 8, MOST = 256 };
    if (members <= 1)
        return 1;
    int64_t lanes = CACHE / (int64_t)sizeof(double) / (tape->registers > 0 ? tape->registers : 1);
    if (lanes > members + LEAST - 1)
        lanes = members + LEAST - 1;
    lanes = lanes < LEAST ? LEAST : lanes > MOST ? MOST : lanes;
    return (int)(lanes - lanes % LEAST);
}

void taut_tape_prepare(const taut_tape *tape, int lanes, double *regs)
{
    double *to = regs + (int64_t)tape->inputs * lanes;
    for (int32_t k = 0; k < tape->constants; k++)
        for (int lane = 0; lane < lanes; lane++)
            *to++ = tape->constant[k];
}
