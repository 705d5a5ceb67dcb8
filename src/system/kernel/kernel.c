/* kernel.c - from an expression of one member to a tape with all derivatives that methods ask
 * for.
 *
 * Bonds:    gdot = G v + g_t and gamma = g_qq(v,v) + 2 g_qt v + g_tt are directional derivatives
 * along (q' = v, t' = 1, v' = 0). Kinetic:  p = T_v, M = T_vv, inertial force T_q - (d/dt) p at
 * v' = 0   (Euler-Lagrange). */
#include "system/kernel/family.h"
#include "system/kernel/scatter.h"

#include <string.h>

enum { LOCAL_LIMIT = 256 };

typedef struct maker {
    taut_statement_kernel_plan *plan;
    taut_arena *arena;
    taut_error *error;
    int32_t locals;
    taut_local *local;
    int32_t *q_slot, *v_slot; /* slots of the locals, where there are any */
    int32_t *node;            /* outputs */
    unsigned char *level;
    int32_t outputs;
} maker;

static void output(maker *m, int32_t node, int level)
{
    m->node[m->outputs] = node;
    m->level[m->outputs++] = (unsigned char)level;
}

/* Marks the slots in use below the root. */
static int mark_used(const taut_statement_kernel_plan *plan, taut_arena *arena,
                     unsigned char **used)
{
    unsigned char *flag = TAUT_NEW(arena, unsigned char, taut_graph_size(plan->graph));
    *used = TAUT_NEW(arena, unsigned char, 3 * plan->slots + 1);
    if (!flag || !*used)
        return TAUT_ERROR_MEMORY;
    taut_graph_mark(plan->graph, &plan->root, 1, flag);
    taut_graph_mark(plan->graph, plan->also, plan->also_count, flag);
    for (int32_t k = 0; k < taut_graph_size(plan->graph); k++) {
        const taut_node *node = taut_graph_node(plan->graph, k);
        if (flag[k] && node->op == TAUT_OP_INPUT && node->a < plan->slots)
            (*used)[node->a] = 1;
    }
    return 0;
}

/* The local coordinate of a slot: the same for a position and its velocity. */
static int32_t local_of(maker *m, const taut_slot *slot, bool algebraic)
{
    for (int32_t k = 0; k < m->locals; k++) {
        bool is_algebraic = m->plan->first_order && m->local[k].q_slot < 0;
        if (m->local[k].gather == slot->gather && m->local[k].one == slot->one &&
            is_algebraic == algebraic)
            return k;
    }
    m->local[m->locals] =
        (taut_local){.q_slot = -1, .v_slot = -1, .gather = slot->gather, .one = slot->one};
    return m->locals++;
}

static int find_locals(maker *m)
{
    unsigned char *used;
    if (mark_used(m->plan, m->arena, &used))
        return taut_fail_memory(m->error);
    m->local = TAUT_NEW(m->arena, taut_local, m->plan->slots + 1);
    TAUT_NEED(m->error, m->local);
    for (int32_t k = 0; k < m->plan->slots; k++) {
        taut_slot *slot = &m->plan->slot[k];
        if (!used[k]) {
            if (slot->source != TAUT_FROM_TIME)
                slot->source = TAUT_FROM_NOTHING;
        } else if (slot->source == TAUT_FROM_Q || slot->source == TAUT_FROM_V) {
            bool velocity = slot->source == TAUT_FROM_V;
            int32_t c = local_of(m, slot, velocity && m->plan->first_order);
            *(velocity ? &m->local[c].v_slot : &m->local[c].q_slot) = k;
            if (m->locals > LOCAL_LIMIT)
                return taut_fail(
                    m->error, TAUT_ERROR_SIZE,
                    "one member of this statement refers to more than %d coordinates at once",
                    LOCAL_LIMIT);
        }
    }
    if (m->plan->time_slot >= 0 && !used[m->plan->time_slot])
        m->plan->time_slot = -1;
    return 0;
}

/* Gives every local coordinate a slot for its velocity, or for a weight. */
static int32_t add_slot(maker *m, int32_t c, taut_slot_source source)
{
    taut_statement_kernel_plan *plan = m->plan;
    plan->slot[plan->slots] =
        (taut_slot){.source = source, .one = m->local[c].one, .gather = m->local[c].gather};
    return plan->slots++;
}

static void add_velocities(maker *m)
{
    for (int32_t c = 0; c < m->locals; c++)
        if (m->local[c].v_slot < 0)
            m->local[c].v_slot = add_slot(m, c, TAUT_FROM_V);
}

/* d/dt of a node along q' = v, t' = 1 with v held. */
static int32_t along(maker *m, int32_t node)
{
    taut_graph *graph = m->plan->graph;
    int32_t slot[LOCAL_LIMIT + 1], seed[LOCAL_LIMIT + 1], count = 0;
    for (int32_t c = 0; c < m->locals; c++)
        if (m->local[c].q_slot >= 0) {
            slot[count] = m->local[c].q_slot;
            seed[count++] = taut_graph_input(graph, m->local[c].v_slot);
        }
    if (m->plan->time_slot >= 0) {
        slot[count] = m->plan->time_slot;
        seed[count++] = taut_graph_constant(graph, 1);
    }
    return taut_graph_derivative(graph, node, count, slot, seed);
}

/* Partial derivatives with respect to the positions (or velocities) of all locals; those without
 * a slot give 0. */
static int partials(maker *m, int32_t node, bool velocity, int32_t *result)
{
    int32_t slot[LOCAL_LIMIT], place[LOCAL_LIMIT], gradient[LOCAL_LIMIT], count = 0;
    for (int32_t c = 0; c < m->locals; c++) {
        result[c] = taut_graph_constant(m->plan->graph, 0);
        int32_t s = velocity ? m->local[c].v_slot : m->local[c].q_slot;
        if (s >= 0) {
            slot[count] = s;
            place[count++] = c;
        }
    }
    if (count == 0)
        return 0;
    TAUT_TRY(taut_graph_gradient(m->plan->graph, node, count, slot, gradient, m->error));
    for (int32_t k = 0; k < count; k++)
        result[place[k]] = gradient[k];
    return 0;
}

/* Lower triangle of second derivatives, row by row. */
static int triangle(maker *m, const int32_t *gradient, bool velocity, int level)
{
    int32_t row[LOCAL_LIMIT];
    for (int32_t i = 0; i < m->locals; i++) {
        TAUT_TRY(partials(m, gradient[i], velocity, row));
        for (int32_t j = 0; j <= i; j++)
            output(m, row[j], level);
    }
    return 0;
}

static int bond_outputs(maker *m)
{
    taut_graph *graph = m->plan->graph;
    int32_t gradient[LOCAL_LIMIT], zero = taut_graph_constant(graph, 0),
                                   one = taut_graph_constant(graph, 1);
    TAUT_TRY(partials(m, m->plan->root, false, gradient));
    output(m, m->plan->root, 0);
    for (int32_t c = 0; c < m->locals; c++)
        output(m, gradient[c], 1);
    int32_t time = m->plan->time_slot;
    output(m, time < 0 ? zero : taut_graph_derivative(graph, m->plan->root, 1, &time, &one), 1);
    if (m->plan->first_order) {
        output(m, zero, 2);
    } else {
        add_velocities(m);
        output(m, along(m, along(m, m->plan->root)), 2);
    }
    return triangle(m, gradient, false, 3);
}

static int potential_outputs(maker *m)
{
    int32_t gradient[LOCAL_LIMIT];
    TAUT_TRY(partials(m, m->plan->root, false, gradient));
    output(m, m->plan->root, 0);
    for (int32_t c = 0; c < m->locals; c++)
        output(m, gradient[c], 1);
    return triangle(m, gradient, false, 2);
}

static int force_outputs(maker *m)
{
    int32_t gradient[LOCAL_LIMIT];
    output(m, m->plan->root, 0);
    for (int velocity = 0; velocity < 2; velocity++) {
        TAUT_TRY(partials(m, m->plan->root, velocity, gradient));
        for (int32_t c = 0; c < m->locals; c++)
            output(m, gradient[c], 1);
    }
    return 0;
}

/* d(M w)/dq for weights w: what M(q) v' contributes to a Newton matrix. */
static int weighted_mass(maker *m, const int32_t *mass)
{
    taut_graph *graph = m->plan->graph;
    int32_t row[LOCAL_LIMIT], weight[LOCAL_LIMIT];
    for (int32_t c = 0; c < m->locals; c++)
        weight[c] = taut_graph_input(graph, add_slot(m, c, TAUT_FROM_WEIGHT));
    for (int32_t i = 0; i < m->locals; i++) {
        int32_t sum = taut_graph_constant(graph, 0);
        for (int32_t j = 0; j < m->locals; j++) {
            int32_t a = i > j ? i : j, b = i > j ? j : i;
            sum = taut_graph_binary(
                graph, TAUT_OP_ADD, sum,
                taut_graph_binary(graph, TAUT_OP_MUL, mass[a * (a + 1) / 2 + b], weight[j]));
        }
        TAUT_TRY(partials(m, sum, false, row));
        for (int32_t j = 0; j < m->locals; j++)
            output(m, row[j], 4);
    }
    return 0;
}

static int kinetic_outputs(maker *m)
{
    taut_graph *graph = m->plan->graph;
    int32_t p[LOCAL_LIMIT], tq[LOCAL_LIMIT], row[LOCAL_LIMIT], force[LOCAL_LIMIT];
    add_velocities(m);
    TAUT_TRY(partials(m, m->plan->root, true, p));
    TAUT_TRY(partials(m, m->plan->root, false, tq));
    output(m, m->plan->root, 0);
    for (int32_t c = 0; c < m->locals; c++)
        output(m, p[c], 1);
    int32_t mass_first = m->outputs;
    TAUT_TRY(triangle(m, p, true, 1));
    for (int32_t c = 0; c < m->locals; c++) {
        force[c] = taut_graph_binary(graph, TAUT_OP_SUB, tq[c], along(m, p[c]));
        output(m, force[c], 2);
    }
    for (int velocity = 0; velocity < 2; velocity++)
        for (int32_t i = 0; i < m->locals; i++) {
            TAUT_TRY(partials(m, force[i], velocity, row));
            for (int32_t j = 0; j < m->locals; j++)
                output(m, row[j], 3);
        }
    return weighted_mass(m, m->node + mass_first);
}

static int mass_outputs(maker *m)
{
    int32_t gradient[LOCAL_LIMIT];
    output(m, m->plan->root, 0);
    TAUT_TRY(partials(m, m->plan->root, false, gradient));
    for (int32_t c = 0; c < m->locals; c++)
        output(m, gradient[c], 1);
    return 0;
}

static int value_outputs(maker *m)
{
    output(m, m->plan->root, 0);
    return 0;
}

/* du/dt along q' = v, v' = a, t' = 1, first order: q' = a; a is gathered as a weight. */
static int guard_outputs(maker *m)
{
    taut_graph *graph = m->plan->graph;
    int32_t slot[2 * LOCAL_LIMIT + 1], seed[2 * LOCAL_LIMIT + 1], count = 0;
    bool first_order = m->plan->first_order;
    for (int32_t c = 0; c < m->locals; c++) {
        taut_local *local = &m->local[c];
        if (local->v_slot >= 0 && !first_order) {
            slot[count] = local->v_slot;
            seed[count++] = taut_graph_input(graph, add_slot(m, c, TAUT_FROM_WEIGHT));
        }
        if (local->q_slot < 0)
            continue;
        if (!first_order && local->v_slot < 0)
            local->v_slot = add_slot(m, c, TAUT_FROM_V);
        slot[count] = local->q_slot;
        seed[count++] =
            taut_graph_input(graph, first_order ? add_slot(m, c, TAUT_FROM_WEIGHT) : local->v_slot);
    }
    if (m->plan->time_slot >= 0) {
        slot[count] = m->plan->time_slot;
        seed[count++] = taut_graph_constant(graph, 1);
    }
    for (int32_t k = 0; k < m->plan->also_count; k++)
        output(m, m->plan->also[k], 0);
    for (int32_t k = 0; k < m->plan->also_count; k++)
        output(m, taut_graph_derivative(graph, m->plan->also[k], count, slot, seed), 1);
    return 0;
}

static int (*const make_outputs[TAUT_ROLE_COUNT])(maker *) = {
    [TAUT_ROLE_BOND] = bond_outputs,       [TAUT_ROLE_POTENTIAL] = potential_outputs,
    [TAUT_ROLE_STIFF] = potential_outputs, [TAUT_ROLE_FORCE] = force_outputs,
    [TAUT_ROLE_KINETIC] = kinetic_outputs, [TAUT_ROLE_MASS] = mass_outputs,
    [TAUT_ROLE_VALUE] = value_outputs,     [TAUT_ROLE_GUARD] = guard_outputs,
};

/* Does any of the outputs [first, last) depend on a slot of this source? */
static int depends(maker *m, int32_t first, int32_t last, taut_slot_source source, bool *result)
{
    unsigned char *flag = TAUT_NEW(m->arena, unsigned char, taut_graph_size(m->plan->graph));
    TAUT_NEED(m->error, flag);
    taut_graph_mark(m->plan->graph, m->node + first, last - first, flag);
    *result = false;
    for (int32_t k = 0; k < taut_graph_size(m->plan->graph); k++) {
        const taut_node *node = taut_graph_node(m->plan->graph, k);
        if (flag[k] && node->op == TAUT_OP_INPUT && m->plan->slot[node->a].source == source)
            *result = true;
    }
    return 0;
}

static bool all_zero(maker *m, int32_t first)
{
    double value;
    for (int32_t k = first; k < m->outputs; k++)
        if (!taut_graph_is_constant(m->plan->graph, m->node[k], &value) || value != 0)
            return false;
    return true;
}

/* Kinks and tables of the value itself: derivatives may contain branches of their own. */
static int find_kinks(const maker *m, bool *kinks, bool *tables)
{
    unsigned char *flag = TAUT_NEW(m->arena, unsigned char, taut_graph_size(m->plan->graph));
    TAUT_NEED(m->error, flag);
    taut_graph_mark(m->plan->graph, &m->plan->root, 1, flag);
    for (int32_t k = 0; k < taut_graph_size(m->plan->graph); k++) {
        taut_op op = taut_graph_node(m->plan->graph, k)->op;
        *kinks = *kinks || (flag[k] && taut_op_table[op].kink);
        *tables = *tables || (flag[k] && op == TAUT_OP_CURVE);
    }
    return 0;
}

/* What the value depends on; M for kinetic energies, which must not depend on velocities. */
static int find_uses(maker *m, taut_statement_kernel *kernel)
{
    int32_t first = 0, last = 1, nc = m->locals;
    if (kernel->role == TAUT_ROLE_KINETIC) {
        first = 1 + nc;
        last = first + nc * (nc + 1) / 2;
    }
    TAUT_TRY(depends(m, first, last, TAUT_FROM_Q, &kernel->uses_q));
    TAUT_TRY(depends(m, first, last, TAUT_FROM_V, &kernel->uses_v));
    TAUT_TRY(depends(m, first, last, TAUT_FROM_TIME, &kernel->uses_t));
    if (kernel->role == TAUT_ROLE_KINETIC && kernel->uses_v)
        return taut_fail(m->error, TAUT_ERROR_MODEL,
                         "a kinetic energy must be quadratic in the velocities");
    TAUT_TRY(find_kinks(m, &kernel->kinks, &kernel->tables));
    int32_t second = kernel->role == TAUT_ROLE_BOND    ? 3 + nc
                     : kernel->role <= TAUT_ROLE_STIFF ? 1 + nc
                                                       : m->outputs;
    kernel->second = !all_zero(m, second);
    return 0;
}

/* From which level on each slot is read, so that forces do not pay for gathering what only
 * second derivatives need. */
static void slot_levels(const maker *m, const taut_tape *tape, taut_slot *slot)
{
    for (int32_t s = 0; s < m->plan->slots; s++)
        slot[s].level = 255;
    for (int level = TAUT_LEVELS - 1; level >= 0; level--)
        for (int32_t k = 0; k < tape->level_end[level]; k++) {
            const taut_instruction *code = &tape->code[k];
            const int32_t operand[3] = {code->a, code->b, code->c};
            for (int j = 0; j < taut_op_table[code->op].arity; j++)
                if (operand[j] < m->plan->slots)
                    slot[operand[j]].level = (unsigned char)level;
        }
    for (int32_t k = 0; k < m->outputs; k++)
        if (tape->output[k] < m->plan->slots && m->level[k] < slot[tape->output[k]].level)
            slot[tape->output[k]].level = m->level[k];
}

/* A register that is finite when the given one is: signs do not matter. */
static int32_t without_sign(const taut_tape *tape, int32_t r)
{
    int32_t first = tape->inputs + tape->constants;
    while (r >= first && tape->code[r - first].op == TAUT_OP_NEG)
        r = tape->code[r - first].a;
    return r;
}

/* What is examined to decide whether g, G and gamma are finite: no constants, nothing twice. */
static int plan_watch(taut_statement_kernel *kernel, taut_arena *arena)
{
    const taut_tape *tape = kernel->tape;
    const int32_t nc = kernel->locals, end[3] = {1, 2 + nc, 3 + nc};
    int32_t *watch = TAUT_NEW(arena, int32_t, 3 + nc), count = 0, k = 0;
    if (!watch)
        return TAUT_ERROR_MEMORY;
    for (int level = 0; level < TAUT_LEVELS; level++) {
        for (; level < 3 && k < end[level]; k++) {
            int32_t r = without_sign(tape, tape->output[k]), seen = 0;
            bool constant = r >= tape->inputs && r < tape->inputs + tape->constants;
            while (seen < count && watch[seen] != r)
                seen++;
            if (!constant && seen == count)
                watch[count++] = r;
        }
        kernel->watch_end[level] = count;
    }
    kernel->watch = watch;
    return 0;
}

/* A gradient that is made of constants and of parameters that all members share needs no
 * evaluation. */
static bool is_steady(const taut_statement_kernel *kernel)
{
    const taut_tape *tape = kernel->tape;
    if (kernel->role != TAUT_ROLE_POTENTIAL || kernel->second)
        return false;
    for (int32_t c = 0; c < kernel->locals; c++) {
        int32_t r = tape->output[1 + c];
        bool shared = r < tape->inputs && kernel->slot[r].source == TAUT_FROM_PARAMETER &&
                      !kernel->slot[r].gather;
        if (!shared && (r < tape->inputs || r >= tape->inputs + tape->constants))
            return false;
    }
    return true;
}

/* What makes evaluation fast, found out once. */
static int plan_evaluation(taut_statement_kernel *kernel, taut_local *local, taut_arena *arena,
                           bool held)
{
    for (int32_t c = 0; c < kernel->locals; c++)
        local[c].places = taut_places_make(local[c].gather, local[c].one, kernel->members);
    kernel->rows = taut_places_make(kernel->row, 0, kernel->members);
    kernel->steady = !held && !kernel->fast && is_steady(kernel);
    if (taut_statement_kernel_plan_fetches(kernel, arena) || taut_family_plan(kernel, arena) ||
        (kernel->role == TAUT_ROLE_BOND && plan_watch(kernel, arena)))
        return TAUT_ERROR_MEMORY;
    return taut_statement_kernel_plan_simple(kernel, arena);
}

static int64_t output_room(const maker *m)
{
    int64_t nc = m->locals;
    return 8 + 5 * nc + 4 * nc * nc + 2 * (int64_t)m->plan->also_count;
}

int taut_statement_kernel_create(taut_statement_kernel_plan *plan, taut_arena *arena,
                                 taut_statement_kernel **result, taut_error *error)
{
    taut_arena scratch;
    taut_arena_init(&scratch, &arena->allocator);
    maker m = {.plan = plan, .arena = &scratch, .error = error};
    taut_statement_kernel *kernel = TAUT_NEW(arena, taut_statement_kernel, 1);
    const int32_t slots = plan->slots;
    int status = kernel ? find_locals(&m) : taut_fail_memory(error);
    if (status)
        goto done;
    m.node = TAUT_NEW(&scratch, int32_t, output_room(&m));
    m.level = TAUT_NEW(&scratch, unsigned char, output_room(&m));
    if (!m.node || !m.level) {
        status = taut_fail_memory(error);
        goto done;
    }
    if ((status = make_outputs[plan->role](&m)) || (status = taut_graph_status(plan->graph, error)))
        goto done;
    *kernel = (taut_statement_kernel){.role = plan->role,
                                      .members = plan->members,
                                      .slots = plan->slots,
                                      .locals = m.locals,
                                      .fast = plan->fast,
                                      .row = plan->row,
                                      .column = plan->column};
    if ((status = find_uses(&m, kernel)) ||
        (status = taut_tape_create(plan->graph, arena, plan->slots, m.outputs, m.node, m.level,
                                   &kernel->tape, error)))
        goto done;
    kernel->tape->members = plan->members;
    taut_slot *slot = TAUT_NEW(arena, taut_slot, plan->slots);
    taut_local *local = TAUT_NEW(arena, taut_local, m.locals);
    if (!slot || !local) {
        status = taut_fail_memory(error);
        goto done;
    }
    memcpy(slot, plan->slot, (size_t)plan->slots * sizeof *slot);
    memcpy(local, m.local, (size_t)m.locals * sizeof *local);
    slot_levels(&m, kernel->tape, slot);
    kernel->slot = slot;
    kernel->local = local;
    if (plan_evaluation(kernel, local, arena, plan->held)) {
        status = taut_fail_memory(error);
        goto done;
    }
    if ((kernel->kinks || kernel->tables) && plan->branches)
        status = taut_guards_create(plan, slots, arena, kernel, error);
    if (status == 0)
        *result = kernel;
done:
    taut_arena_clear(&scratch);
    return status;
}
