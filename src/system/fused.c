/* fused.c - see fused.h. Two tapes are made of the graph of the equations (fused_graph.c): one of
 * what depends on parameters alone, run when these change, and one of the rest, to which the
 * results of the first are inputs. A pivot that is not above TOLERANCE times its diagonal entry
 * counts as singular. */
#include "system/fused_graph.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/vectors.h"

/* operations: compilers take too long for more */
enum { COMPILED = 4000, COMPILED_SLOW = 1500 };
enum { FROM_Q, FROM_V, FROM_TIME, FROM_KNOWN, FROM_TARGET };
enum { TO_X, TO_LAMBDA, TO_JACOBIAN, TO_COUNT };
static const double TOLERANCE = 64 * DBL_EPSILON; /* above that of the saddle solver */

/* ---- two tapes from the graph: what depends on parameters alone is an input of the second */

typedef struct splitter {
    taut_graph *graph; /* of the second tape */
    int32_t *node;     /* of each node: there, or -1 */
    bool *varies;
    int32_t *known; /* nodes of the first graph that are inputs of the second tape */
    /* of nodes that depend on v: factors of positions alone and the rest, there; -1: none */
    bool apart, *late;
    int32_t *positions, *rest;
} splitter;

static int32_t known_input(taut_fuser *f, splitter *s, int32_t node)
{
    if (s->node[node] < 0) {
        s->known[f->fused->known] = node;
        s->node[node] = taut_graph_input(s->graph, f->fixed + f->fused->known++);
    }
    return s->node[node];
}

/* The node in the second graph. */
static int32_t moved(taut_fuser *f, splitter *s, int32_t node)
{
    double value;
    if (taut_graph_is_constant(f->graph, node, &value))
        return taut_graph_constant(s->graph, value);
    return s->varies[node] ? s->node[node] : known_input(f, s, node);
}

static int32_t times(const splitter *s, int32_t a, int32_t b)
{
    return a < 0 ? b : b < 0 ? a : taut_graph_binary(s->graph, TAUT_OP_MUL, a, b);
}

/* The node of a product. The velocities of a stage are known last, since they need the
 * accelerations of the stage before: factors of positions alone are multiplied first, so that
 * little is left to do then. */
static int32_t product(splitter *s, int32_t k, const int32_t *from, const int32_t *operand)
{
    for (int j = 0; j < 2; j++) {
        const bool late = s->late[from[j]];
        s->positions[k] = times(s, s->positions[k], late ? s->positions[from[j]] : operand[j]);
        s->rest[k] = times(s, s->rest[k], late ? s->rest[from[j]] : -1);
    }
    return times(s, s->positions[k], s->rest[k]);
}

/* Does it depend on v? Then it has parts, of which `positions` is only that of products. */
static void move_parts(const taut_fuser *f, splitter *s, int32_t k, const int32_t *from, int arity)
{
    const taut_node *node = taut_graph_node(f->graph, k);
    s->late[k] = node->op == TAUT_OP_INPUT && node->a >= f->n && node->a < 2 * f->n;
    if (node->op == TAUT_OP_INPUT && node->a >= f->slot)
        s->late[k] = s->late[f->stands[node->a - f->slot]];
    for (int j = 0; j < arity; j++)
        s->late[k] = s->late[k] || s->late[from[j]];
    s->positions[k] = s->rest[k] = -1;
}

static void move_node(taut_fuser *f, splitter *s, int32_t k)
{
    const taut_node *node = taut_graph_node(f->graph, k);
    const int arity = taut_op_table[node->op].arity;
    const int32_t from[3] = {node->a, node->b, node->c};
    int32_t operand[3] = {-1, -1, -1};
    s->node[k] = -1;
    for (int j = 0; j < arity; j++)
        s->varies[k] = s->varies[k] || s->varies[from[j]];
    move_parts(f, s, k, from, arity);
    if (node->op == TAUT_OP_INPUT && node->a >= f->slot) {
        s->varies[k] = true;
        s->node[k] = moved(f, s, f->stands[node->a - f->slot]);
    } else if (node->op == TAUT_OP_INPUT) {
        s->varies[k] = node->a < f->fixed;
        if (s->varies[k])
            s->node[k] = taut_graph_input(s->graph, node->a);
    } else if (s->varies[k]) {
        for (int j = 0; j < arity; j++)
            operand[j] = moved(f, s, from[j]);
        s->node[k] = s->apart && s->late[k] && node->op == TAUT_OP_MUL
                         ? product(s, k, from, operand)
                         : taut_fused_repeat(s->graph, node->op, operand, node->curve, node->b);
    }
    if (s->rest[k] < 0)
        s->rest[k] = s->node[k];
}

/* What is stored, then the pivots. */
typedef struct result_list {
    int32_t count, stored;
    int32_t *node;
    taut_bound_output *to;
} result_list;

static void add_result(result_list *list, int32_t node, int array, int32_t place)
{
    list->node[list->count] = node;
    list->to[list->count++] = (taut_bound_output){.array = array, .place = place, .how = '='};
}

static int list_results(taut_fuser *f, result_list *list)
{
    const int64_t entries = f->system->sizes.jacobian_entries;
    const taut_fused *fused = f->fused;
    const int64_t room = f->results + f->m + entries + 2 * (int64_t)f->pivots;
    list->node = TAUT_NEW(f->scratch, int32_t, room);
    list->to = TAUT_NEW(f->arena, taut_bound_output, room);
    if (!list->node || !list->to)
        return TAUT_ERROR_MEMORY;
    for (taut_index i = 0; i < f->results; i++)
        add_result(list, f->x[i], TO_X, i);
    for (taut_index i = 0; i < f->m && fused->kind == TAUT_FUSED_ACCELERATION; i++)
        add_result(list, f->lambda[i], TO_LAMBDA, i);
    for (int32_t k = 0; fused->jacobian && k < entries; k++)
        add_result(list, f->entry[k], TO_JACOBIAN, k);
    list->stored = list->count;
    for (int32_t k = 0; k < 2 * f->pivots; k++)
        add_result(list, f->pivot[k], 0, 0);
    return 0;
}

/* Where the second tape reads and writes. */
static int bind(taut_fuser *f, const result_list *list)
{
    taut_tape *tape = f->fused->each;
    taut_tape_binding *binding = TAUT_NEW(f->arena, taut_tape_binding, 1);
    taut_bound_input *input = TAUT_NEW(f->arena, taut_bound_input, tape->inputs);
    int32_t *watch = TAUT_NEW(f->arena, int32_t, f->results);
    if (!binding || !input || !watch)
        return TAUT_ERROR_MEMORY;
    for (int32_t k = 0; k < tape->inputs; k++) {
        int array = k < f->n        ? FROM_Q
                    : k < 2 * f->n  ? FROM_V
                    : k == 2 * f->n ? FROM_TIME
                    : k < f->fixed  ? FROM_TARGET
                                    : FROM_KNOWN;
        int32_t first[] = {0, f->n, 2 * f->n, f->fixed, 2 * f->n + 1};
        input[k] = (taut_bound_input){.array = array, .place = k - first[array]};
    }
    for (int32_t k = 0; k < list->count; k++)
        list->to[k].from = tape->output[k];
    for (taut_index i = 0; i < f->results; i++)
        watch[i] = tape->output[i];
    *binding =
        (taut_tape_binding){.input = input,
                            .output = list->to,
                            .watch = watch,
                            .alone = true,
                            .coordinates = f->fused->kind == TAUT_FUSED_ACCELERATION ? f->n : 0,
                            .pivots = f->pivots,
                            .pivot = tape->output + list->stored,
                            .tolerance = TOLERANCE};
    for (int level = 0; level < TAUT_BOUND_LEVELS; level++) {
        binding->output_end[level] = list->stored;
        binding->watch_end[level] = f->results;
    }
    tape->binding = binding;
    return 0;
}

/* What the results are made of, also through nodes that others stand for. */
static void mark(const taut_fuser *f, const result_list *list, unsigned char *used)
{
    for (int32_t k = 0; k < list->count; k++)
        used[list->node[k]] = 1;
    for (int32_t k = taut_graph_size(f->graph) - 1; k >= 0; k--) {
        const taut_node *node = taut_graph_node(f->graph, k);
        const int32_t from[3] = {node->a, node->b, node->c};
        if (used[k] && node->op == TAUT_OP_INPUT && node->a >= f->slot)
            used[f->stands[node->a - f->slot]] = 1;
        for (int j = 0; used[k] && j < taut_op_table[node->op].arity; j++)
            used[from[j]] = 1;
    }
}

static int make_tapes(taut_fuser *f, splitter *s, taut_error *error)
{
    result_list list = {0};
    const int32_t size = taut_graph_size(f->graph);
    TAUT_TRY(taut_graph_status(f->graph, error));
    if (list_results(f, &list))
        return taut_fail_memory(error);
    unsigned char *level = TAUT_NEW(f->scratch, unsigned char, list.count + size),
                  *used = TAUT_NEW(f->scratch, unsigned char, size);
    s->node = TAUT_NEW(f->scratch, int32_t, size);
    s->known = TAUT_NEW(f->scratch, int32_t, size);
    s->varies = TAUT_NEW(f->scratch, bool, size);
    s->late = TAUT_NEW(f->scratch, bool, size);
    s->positions = TAUT_NEW(f->scratch, int32_t, size);
    s->rest = TAUT_NEW(f->scratch, int32_t, size);
    s->apart = f->fused->kind == TAUT_FUSED_ACCELERATION && f->fused->level == 0;
    TAUT_NEED(error, level, used, s->node, s->known, s->varies, s->late, s->positions, s->rest);
    mark(f, &list, used);
    for (int32_t k = 0; k < size; k++)
        if (used[k])
            move_node(f, s, k);
    for (int32_t k = 0; k < list.count; k++)
        list.node[k] = moved(f, s, list.node[k]);
    TAUT_TRY(taut_graph_status(s->graph, error));
    TAUT_TRY(taut_tape_create(f->graph, f->arena, f->slot, f->fused->known, s->known, level,
                              &f->fused->once, error));
    TAUT_TRY(taut_tape_create(s->graph, f->arena, f->fixed + f->fused->known, list.count, list.node,
                              level, &f->fused->each, error));
    return bind(f, &list) ? taut_fail_memory(error) : TAUT_OK;
}

/* ---- making */

static bool fits(const taut_system *system, const taut_fused *fused)
{
    const taut_sizes *z = &system->sizes;
    double work = 0;
    if (z->kind != TAUT_MECHANICAL || system->evaluate || system->muted || system->pair_sums ||
        z->coordinates < 1 || z->coordinates > TAUT_FUSED_COORDINATES ||
        fused->rods > TAUT_FUSED_RODS || !(z->can & TAUT_CAN_INVERT_MASS) ||
        (fused->rods == 0 && fused->kind != TAUT_FUSED_ENERGY &&
         (fused->kind != TAUT_FUSED_ACCELERATION || fused->level > 0)))
        return false;
    for (int32_t k = 0; k < system->kernels; k++)
        work += (double)system->kernel[k]->members * system->kernel[k]->tape->level_end[2];
    return work <= COMPILED;
}

static int reserve(taut_fuser *f, taut_error *error)
{
    const int64_t n = f->n, m = f->m;
    int32_t longest = 0;
    for (int32_t k = 0; k < f->system->kernels; k++)
        if (f->system->kernel[k]->tape->registers > longest)
            longest = f->system->kernel[k]->tape->registers;
    int32_t **const array[] = {&f->value, &f->force, &f->mass,  &f->bond,   &f->bond_dt,
                               &f->gamma, &f->row,   &f->entry, &f->lambda, &f->x};
    const int64_t length[] = {longest, n,
                              n * n,   m,
                              m,       m,
                              m * n,   f->system->sizes.jacobian_entries,
                              m,       n + 2 * m + TAUT_FUSED_ENERGIES};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++) {
        *array[k] = TAUT_NEW(f->scratch, int32_t, length[k]);
        TAUT_NEED(error, *array[k]);
        for (int64_t i = 0; i < length[k]; i++)
            (*array[k])[i] = f->zero;
    }
    return TAUT_OK;
}

static int make(taut_fuser *f, splitter *s, taut_error *error)
{
    f->zero = taut_graph_constant(f->graph, 0);
    TAUT_TRY(reserve(f, error));
    if (taut_fused_equations(f))
        return taut_fail_memory(error);
    return make_tapes(f, s, error);
}

int taut_fused_create(const taut_system *system, taut_fused_kind kind, int level,
                      const unsigned char *rigid, taut_arena *arena, taut_fused **result,
                      taut_error *error)
{
    const taut_sizes *z = &system->sizes;
    taut_fused fused = {.kind = kind, .level = level, .rigid = rigid};
    *result = NULL;
    for (taut_index i = 0; i < z->bonds; i++)
        fused.rods += rigid[i] != 0;
    fused.jacobian = kind == TAUT_FUSED_ACCELERATION && level == 0 && fused.rods < z->bonds;
    if (!fits(system, &fused))
        return TAUT_OK;
    taut_arena scratch;
    taut_arena_init(&scratch, &arena->allocator);
    taut_fuser f = {.system = system,
                    .scratch = &scratch,
                    .arena = arena,
                    .fused = &fused,
                    .n = z->coordinates,
                    .m = z->bonds,
                    .slot = 2 * z->coordinates + 1 + z->parameters + 3 * z->bonds,
                    .fixed = 2 * z->coordinates + 1 + z->bonds};
    splitter s = {.graph = taut_graph_create(&arena->allocator, 8 * COMPILED)};
    f.graph = taut_graph_create(&arena->allocator, 8 * COMPILED);
    int status = f.graph && s.graph ? make(&f, &s, error) : taut_fail_memory(error);
    taut_graph_destroy(f.graph);
    taut_graph_destroy(s.graph);
    taut_arena_clear(&scratch);
    if (status == TAUT_ERROR_SIZE) /* too many operations: as before */
        return TAUT_OK;
    TAUT_TRY(status);
    *result = TAUT_NEW(arena, taut_fused, 1);
    TAUT_NEED(error, *result);
    **result = fused;
    return TAUT_OK;
}

/* ---- compiled forms of a system */

_Static_assert(sizeof((taut_system *)0)->fused[0] == TAUT_FUSED_FORMS * sizeof(taut_fused *),
               "one place for each form");

/* Of slow motion, for which all bonds that are not soft are rigid, the accelerations of level 1
 * alone: others are long, or needed once in a step, and compilers take their time for each. */
static bool is_compiled(int variant, taut_fused_kind kind, int level)
{
    return level == 0 ? kind != TAUT_FUSED_MANIFOLD
                      : variant == 1 && kind == TAUT_FUSED_ACCELERATION;
}

static int prepare(taut_system *system, int variant, const unsigned char *rigid, taut_error *error)
{
    for (int k = 0; k < TAUT_FUSED_FORMS; k++) {
        const taut_fused_kind kind = (taut_fused_kind)(k % TAUT_FUSED_KINDS);
        const int level = k / TAUT_FUSED_KINDS;
        taut_fused *made = NULL;
        if (is_compiled(variant, kind, level))
            TAUT_TRY(taut_fused_create(system, kind, level, rigid, &system->arena, &made, error));
        if (made && (made->level == 0 || made->each->length <= COMPILED_SLOW))
            system->fused[variant][k] = made;
    }
    return TAUT_OK;
}

int taut_fused_prepare(taut_system *system, taut_error *error)
{
    const taut_index m = system->sizes.bonds;
    taut_context *context;
    if (system->sizes.kind != TAUT_MECHANICAL)
        return TAUT_OK;
    unsigned char *stated = TAUT_NEW(&system->arena, unsigned char, m),
                  *rigid = TAUT_NEW(&system->arena, unsigned char, m);
    TAUT_NEED(error, stated, rigid);
    if (taut_context_create(system, NULL, &context, NULL) != 0)
        return TAUT_OK; /* its users get the reason */
    for (taut_index i = 0; i < m; i++) {
        stated[i] = !(context->compliance[i] > 0);
        rigid[i] = stated[i] || !(system->soft && system->soft[i]);
    }
    taut_context_destroy(context);
    TAUT_TRY(prepare(system, 0, stated, error));
    return memcmp(stated, rigid, (size_t)m) ? prepare(system, 1, rigid, error) : TAUT_OK;
}

static const taut_fused *find_compiled(const taut_system *system, taut_fused_kind kind, int level,
                                       const unsigned char *rigid)
{
    for (int variant = 0; variant < 2 && level < TAUT_FUSED_LEVELS; variant++) {
        const taut_fused *fused = system->fused[variant][level * TAUT_FUSED_KINDS + kind];
        if (fused && !system->evaluate && !system->muted && fused->each->native_bound &&
            memcmp(fused->rigid, rigid, (size_t)system->sizes.bonds) == 0)
            return fused;
    }
    return NULL;
}

/* ---- in use */

/* About the ns of an interpreted evaluation statement by statement, fitted to shipped models:
 * members of families are run in vectors, one tape runs them one after another. Levels of slow
 * motion are jets of each level before, at least that many times as much. */
static double statements_cost(const taut_system *system, const taut_fused *fused)
{
    const bool manifold = fused->kind == TAUT_FUSED_MANIFOLD,
               moves = fused->kind == TAUT_FUSED_ACCELERATION || manifold;
    double sum = fused->rods > 0 ? 150 + 25. * fused->rods + 10. * fused->rods * fused->rods : 0;
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        const bool bond = kernel->role == TAUT_ROLE_BOND, many = kernel->members > 1;
        const double
            members = (double)kernel->members,
            length =
                kernel->tape
                    ->level_end[kernel->role == TAUT_ROLE_KINETIC || (bond && fused->rods > 0) ? 2
                                                                                               : 1];
        if (bond || moves || fused->kind == TAUT_FUSED_ENERGY)
            sum += 40 + length * (many ? 5 + 0.4 * members : 1.5) +
                   kernel->locals * (4 + 0.6 * members);
    }
    return sum * (fused->level + 1) * (2 * fused->level + 1 + manifold);
}

int taut_fused_open(taut_context *context, taut_fused_kind kind, int level, taut_index rods,
                    const taut_index *rod, taut_arena *arena, taut_fused_work **result,
                    taut_error *error)
{
    const taut_system *system = context->system;
    taut_fused *own;
    *result = NULL;
    if (system->sizes.bonds > TAUT_FUSED_BONDS || system->part)
        return TAUT_OK; /* of several ranks, what is solved for depends on others */
    unsigned char *rigid = TAUT_NEW(arena, unsigned char, system->sizes.bonds);
    TAUT_NEED(error, rigid);
    for (taut_index r = 0; r < rods; r++)
        rigid[rod[r]] = 1;
    const taut_fused *fused = find_compiled(system, kind, level, rigid);
    if (!fused) {
        TAUT_TRY(taut_fused_create(system, kind, level, rigid, arena, &own, error));
        if (!own || 20 + 1.6 * own->each->length > statements_cost(system, own))
            return TAUT_OK;
        fused = own;
    }
    taut_fused_work *work = TAUT_NEW(arena, taut_fused_work, 1);
    TAUT_NEED(error, work);
    *work = (taut_fused_work){.fused = fused, .context = context, .renewed = -1};
    TAUT_TRY(TAUT_RESERVE(arena, fused->known, error, &work->known));
    TAUT_TRY(TAUT_RESERVE(arena, system->sizes.bonds, error, &work->lambda, &work->target));
    TAUT_TRY(TAUT_RESERVE(arena, fused->once->registers, error, &work->once));
    TAUT_TRY(TAUT_RESERVE(arena, fused->each->registers, error, &work->each));
    taut_tape_prepare(fused->once, 1, work->once);
    taut_tape_prepare(fused->each, 1, work->each);
    *result = work;
    return TAUT_OK;
}

/* What depends on parameters, after they have changed. */
static __attribute__((noinline)) void renew(taut_fused_work *w)
{
    const taut_context *context = w->context;
    const taut_sizes *z = &context->system->sizes;
    const taut_tape *once = w->fused->once;
    const int64_t fixed = 2 * (int64_t)z->coordinates + 1 + z->bonds;
    double *to = w->once + fixed;
    taut_copy(z->parameters, context->parameter, to);
    taut_copy(z->bonds, context->compliance, to + z->parameters);
    taut_copy(z->bonds, context->damping, to + z->parameters + z->bonds);
    taut_tape_interpret(once, 0, 1, 1, w->once);
    double *known = w->each + fixed;
    for (int32_t k = 0; k < w->fused->known; k++)
        known[k] = w->known[k] = w->once[once->output[k]];
    w->renewed = context->renewals;
}

void taut_fused_aim(taut_fused_work *w, const double *target)
{
    const taut_sizes *z = &w->context->system->sizes;
    taut_copy(z->bonds, target, w->target);
    taut_copy(z->bonds, target, w->each + 2 * (int64_t)z->coordinates + 1);
}

/* The interpreter, with q, v and t in their registers; returns what the compiled form does. */
static double interpret(const taut_fused_work *w, double *const *to)
{
    const taut_tape *tape = w->fused->each;
    const taut_tape_binding *binding = tape->binding;
    const int32_t *out = tape->output, results = binding->watch_end[0];
    double total = 0, *regs = w->each;
    taut_tape_interpret(tape, 0, 1, 1, regs);
    for (int32_t k = 0; k < results; k++)
        total += to[TO_X][k] = regs[out[k]];
    for (int32_t k = results; k < binding->output_end[0]; k++)
        to[binding->output[k].array][binding->output[k].place] = regs[out[k]];
    for (int32_t k = 0; k < binding->pivots; k++)
        if (!(regs[binding->pivot[2 * k]] > binding->tolerance * regs[binding->pivot[2 * k + 1]]))
            return NAN;
    return total - total;
}

static int interpret_stages(const taut_fused_work *w, const taut_stages *s, double *jacobian)
{
    const taut_index n = w->context->system->sizes.coordinates;
    double *q = w->each, *v = q + n;
    for (int i = s->first; i < s->count; i++) {
        double *const to[TO_COUNT] = {s->kv[i], w->lambda, jacobian};
        if (i > 0)
            taut_sum_form_pair(n, &s->row[i], s->kq, s->kv, s->h, s->q, s->v, q, s->kq[i]);
        else
            taut_copy(n, s->q, q);
        taut_copy(n, s->kq[i], v);
        v[n] = s->t + s->c[i] * s->h;
        if (interpret(w, to) != 0)
            return i;
    }
    taut_sum_form_pair(n, &s->row[s->count], s->kq, s->kv, s->h, s->q, s->v, s->next_q, s->next_v);
    return s->count;
}

/* False: guards are held. */
static inline bool ready(taut_fused_work *w)
{
    if (w->context->kernel != w->context->system->kernel)
        return false;
    if (w->renewed != w->context->renewals)
        renew(w);
    return true;
}

int taut_fused_stages(taut_fused_work *w, const taut_stages *s, double *jacobian)
{
    const taut_stages_function run = w->fused->each->native_stages;
    if (!ready(w))
        return -1;
    int end = run ? run(s, w->known, w->lambda, jacobian) : interpret_stages(w, s, jacobian);
    w->context->statistics.force_evaluations += end - s->first;
    return end;
}

int64_t taut_fused_steps(taut_fused_work *w, taut_stages *s, double begin, int64_t first,
                         int64_t last, double *jacobian, int64_t *evaluations)
{
    const taut_stages_function run = w->fused->each->native_stages;
    int64_t k = first;
    *evaluations = 0;
    if (!ready(w))
        return 0;
    for (; k < last; k++) {
        int end = run ? run(s, w->known, w->lambda, jacobian) : interpret_stages(w, s, jacobian);
        *evaluations += end - s->first;
        if (end < s->count)
            break;
        taut_stages_turn(s);
        s->first = 0;
        s->t = begin + (double)(k + 1) * s->h;
    }
    w->context->statistics.force_evaluations += *evaluations;
    return k - first;
}

bool taut_fused_run_slowly(taut_fused_work *w, double t, const double *q, const double *v,
                           double *const *to)
{
    const taut_index n = w->context->system->sizes.coordinates;
    if (!ready(w))
        return false;
    if (w->fused->each->native_bound)
        return taut_fused_run(w, t, q, v, to[TO_X], to[TO_LAMBDA], to[TO_JACOBIAN]);
    taut_copy(n, q, w->each);
    taut_copy(n, v, w->each + n);
    w->each[2 * n] = t;
    bool done = interpret(w, to) == 0;
    w->context->statistics.force_evaluations += done;
    return done;
}
