/* jets.c - Taylor coefficients of everything a system computes, order by order along given q(t),
 * v(t).
 *
 * Every kernel keeps, for all its members, the coefficients that later orders need, so that order j
 * costs O(j) per operation and methods can solve for the next coefficient of multipliers or
 * accelerations before going on. Those of sums, for example, are not needed again: of long families
 * they are kept for one chunk. Derivatives with respect to a parameter are jets of order 1 in
 * which only the parameters move. Sums over pairs keep the coefficients of q instead, and compute
 * the lower orders of a batch of pairs again: there may be many pairs. */
#include "base/rows.h"
#include "base/vectors.h"
#include "system/hold.h"
#include "system/pair_sums.h"
#include "system/kernel/scatter.h"

/* What a jet can follow: kernels' outputs are linear in their coefficients; products with v and
 * with weights of the caller are not, unless these stand still, as they do in derivatives with
 * respect to parameters. */
enum {
    JET_WANTS = TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA |
                TAUT_WANT_FORCE_DQ | TAUT_WANT_FORCE_DV | TAUT_WANT_MASS | TAUT_WANT_STIFF_FORCE |
                TAUT_WANT_STIFF_HESSIAN,
    PARAMETER_WANTS = JET_WANTS | TAUT_WANT_BOND_HESSIAN | TAUT_WANT_MASS_DQ | TAUT_WANT_ENERGY |
                      TAUT_WANT_MOMENTUM
};

typedef struct jet_kernel {
    const taut_statement_kernel *kernel;
    int level, lanes;
    int64_t chunks, size; /* doubles per order and chunk */
    double *regs;         /* [chunks][order + 1][registers + companions][lanes], or of one chunk: */
    int32_t *output;      /* [outputs]: where they are among those kept; NULL: all is in regs */
    taut_jet_places kept; /* kept: [chunks][order + 1][count][lanes] */
} jet_kernel;

struct taut_jet {
    taut_context *context;
    taut_arena arena;   /* of a jet that someone created */
    taut_arena *memory; /* it, or that of the context */
    int order;
    int done; /* orders computed since the start, -1 before */
    unsigned wanted;
    int32_t kernels;
    /* [2][kernels]: as written; with guards, whose branches a context may hold for a while */
    jet_kernel *kernel;
    double *zero; /* [longest] */
    /* sums over pairs: registers of a batch, [pair_sums][order + 1][registers + companions][lanes],
     * and q, [order + 1][n]; NULL before one is wanted */
    double **pair_regs, *pair_q;
    /* derivatives with respect to a parameter */
    bool frozen;              /* time and weights stand still */
    bool along;               /* registers are those of one chunk, see taut_jet_along */
    const double *seed;       /* parameters: coefficients of order 1, or NULL */
    const double *v, *weight; /* velocities; mass_weight of the caller */
};

/* Enough lanes that an instruction takes longer than its choice, whatever the cache. */
static int lanes_of(const taut_statement_kernel *kernel)
{
    enum { GOOD = TAUT_JET_LANES };
    const int lanes = taut_tape_lanes(kernel->tape, kernel->members);
    const int64_t whole = (kernel->members + 15) / 16 * 16;
    return lanes == 1 || lanes >= GOOD ? lanes : whole < GOOD ? (int)whole : GOOD;
}

/* Two blocks of all registers, and for each chunk what later orders need. */
static int make_kept(taut_jet *jet, jet_kernel *k, taut_error *error)
{
    const taut_tape *tape = k->kernel->tape;
    taut_jet_places *p = &k->kept;
    const bool bond = k->kernel->role == TAUT_ROLE_BOND && k->level >= 1; /* taut_jet_rows */
    int32_t *slot = TAUT_NEW(jet->memory, int32_t, tape->registers + tape->companions);
    k->output = TAUT_NEW(jet->memory, int32_t, tape->outputs);
    TAUT_NEED(error, slot, k->output);
    p->slot = slot;
    p->count =
        taut_tape_jet_slots(tape, k->level, tape->output + 1, bond ? k->kernel->locals : 0, slot);
    for (int32_t o = 0; o < tape->outputs; o++)
        k->output[o] = slot[tape->output[o]];
    TAUT_TRY(TAUT_RESERVE(jet->memory, 2 * k->size, error, &k->regs));
    p->first = k->regs;
    p->later = k->regs + k->size;
    taut_tape_prepare(tape, k->lanes, p->first);
    return TAUT_RESERVE(jet->memory, k->chunks * (jet->order + 1) * p->count * k->lanes, error,
                        &p->kept);
}

static int make_kernel(taut_jet *jet, jet_kernel *k, taut_error *error)
{
    const taut_statement_kernel *kernel = k->kernel;
    k->lanes = lanes_of(kernel);
    k->chunks = jet->along ? 1 : (kernel->members + k->lanes - 1) / k->lanes;
    k->size = (int64_t)(kernel->tape->registers + kernel->tape->companions) * k->lanes;
    if (k->chunks > 1 && !jet->frozen)
        return make_kept(jet, k, error);
    TAUT_TRY(TAUT_RESERVE(jet->memory, k->chunks * k->size * (jet->order + 1), error, &k->regs));
    for (int64_t c = 0; c < k->chunks; c++)
        taut_tape_jet_prepare(kernel->tape, jet->order + 1, k->lanes,
                              k->regs + c * k->size * (jet->order + 1));
    return 0;
}

/* What kernels have to give: forces and masses that depend on nothing but parameters are known. */
static unsigned asked(const taut_jet *jet, bool steady)
{
    unsigned known = 0;
    if (!jet->frozen && jet->context->system->sizes.mass == TAUT_MASS_DIAGONAL)
        known |= TAUT_WANT_MASS;
    if (!jet->frozen && steady)
        known |= TAUT_WANT_FORCE | TAUT_WANT_FORCE_DQ;
    return jet->wanted & ~known;
}

static int pair_level(const taut_jet *jet, int32_t k)
{
    return taut_statement_kernel_level(&jet->context->pairs[k].kernel, asked(jet, false));
}

static int64_t pair_size(const taut_pair_work *w)
{
    return (int64_t)(w->kernel.tape->registers + w->kernel.tape->companions) * w->regs.lanes;
}

/* Memory of sums over pairs that this is the first to need. */
static int want_pairs(taut_jet *jet, taut_error *error)
{
    const taut_system *system = jet->context->system;
    for (int32_t k = 0; k < system->pair_sums; k++) {
        const taut_pair_work *w = &jet->context->pairs[k];
        if (pair_level(jet, k) < 0 || jet->pair_regs[k])
            continue;
        TAUT_TRY(
            TAUT_RESERVE(jet->memory, pair_size(w) * (jet->order + 1), error, &jet->pair_regs[k]));
        taut_tape_jet_prepare(w->kernel.tape, jet->order + 1, w->regs.lanes, jet->pair_regs[k]);
        if (!jet->pair_q)
            TAUT_TRY(TAUT_RESERVE(jet->memory,
                                  (int64_t)system->sizes.coordinates * (jet->order + 1), error,
                                  &jet->pair_q));
    }
    return 0;
}

/* Settles what is wanted. Kernels that this is the first to need get their memory. */
static int want(taut_jet *jet, unsigned wanted, taut_error *error)
{
    jet->wanted = wanted;
    for (int32_t k = 0; k < 2 * jet->kernels; k++) {
        jet_kernel *one = &jet->kernel[k];
        const taut_statement_kernel *written = jet->context->system->kernel[k % jet->kernels];
        one->kernel = k < jet->kernels ? written : written->guards ? written->guards->held : NULL;
        one->level = one->kernel
                         ? taut_statement_kernel_level(one->kernel, asked(jet, written->steady))
                         : -1;
        if (one->level >= 0 && !one->regs)
            TAUT_TRY(make_kernel(jet, one, error));
    }
    return want_pairs(jet, error);
}

static int check_request(const taut_context *context, int order, unsigned wanted, unsigned possible,
                         taut_error *error)
{
    if (!(context->system->sizes.can & TAUT_CAN_JETS))
        return taut_fail(
            error, TAUT_ERROR_REFUSED,
            "this system has no Taylor jets: they need expressions (a model file, or a builder)");
    if (order < 0 || order > TAUT_JET_ORDER_MAX || wanted & ~possible)
        return taut_fail(
            error, TAUT_ERROR_USAGE,
            "jets have orders 0 to %d and give forces, bonds, their derivatives and masses only",
            TAUT_JET_ORDER_MAX);
    taut_pattern pattern;
    const unsigned vectors = TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN |
                             TAUT_WANT_GAMMA | TAUT_WANT_STIFF_FORCE | TAUT_WANT_ENERGY |
                             TAUT_WANT_MOMENTUM;
    const bool diagonal = context->system->sizes.mass == TAUT_MASS_DIAGONAL;
    if (!(wanted & ~(vectors | (diagonal ? TAUT_WANT_MASS : 0))))
        return TAUT_OK;
    if (wanted & TAUT_WANT_FORCE_DQ)
        TAUT_TRY(taut_pair_sums_check(context->system, error));
    return taut_system_pattern(context->system, TAUT_PATTERN_TANGENT, &pattern, error);
}

/* What jets of both kinds have, in jet->memory. */
static int fill_jet(taut_jet *jet, taut_context *context, int order, taut_error *error)
{
    const taut_system *system = context->system;
    jet->context = context;
    jet->order = order;
    jet->done = -1;
    jet->kernels = system->kernels;
    jet->kernel = TAUT_NEW(jet->memory, jet_kernel, 2 * (int64_t)jet->kernels);
    jet->zero =
        TAUT_NEW(jet->memory, double,
                 system->sizes.coordinates + system->sizes.algebraic + system->sizes.parameters);
    jet->pair_regs = TAUT_NEW(jet->memory, double *, system->pair_sums);
    return jet->kernel && jet->zero && jet->pair_regs ? 0 : taut_fail_memory(error);
}

static int create(taut_context *context, int order, unsigned wanted, bool along, taut_jet **result,
                  taut_error *error)
{
    TAUT_TRY(check_request(context, order, wanted, JET_WANTS, error));
    taut_arena arena;
    taut_arena_init(&arena, &context->arena.allocator);
    taut_jet *jet = TAUT_NEW(&arena, taut_jet, 1);
    TAUT_NEED(error, jet);
    jet->arena = arena;
    jet->memory = &jet->arena;
    jet->frozen = jet->along = along;
    int status = fill_jet(jet, context, order, error);
    if (status == 0)
        status = want(jet, wanted, error);
    if (status) {
        taut_jet_destroy(jet);
        return status;
    }
    *result = jet;
    return 0;
}

int taut_jet_create(taut_context *context, int order, unsigned wanted, taut_jet **result,
                    taut_error *error)
{
    if (result)
        *result = NULL;
    TAUT_REQUIRE(context && result);
    return create(context, order, wanted, false, result, error);
}

int taut_jet_create_along(taut_context *context, taut_jet **jet, taut_error *error)
{
    return create(context, 1, TAUT_WANT_JACOBIAN, true, jet, error);
}

void taut_jet_destroy(taut_jet *jet)
{
    if (!jet)
        return;
    taut_arena arena = jet->arena; /* the jet lives in it */
    taut_arena_clear(&arena);
}

/* Kernel k, as the context evaluates it now. */
static const jet_kernel *jet_kernel_now(const taut_jet *jet, int32_t k)
{
    bool held = jet->context->kernel[k] != jet->context->system->kernel[k];
    return &jet->kernel[held ? jet->kernels + k : k];
}

/* Those kept of a chunk. */
static taut_jet_places places(const taut_jet *jet, const jet_kernel *k, int64_t chunk)
{
    taut_jet_places p = k->kept;
    if (p.count > 0) /* otherwise there is no array */
        p.kept += chunk * (jet->order + 1) * p.count * k->lanes;
    return p;
}

/* Registers of order j of a chunk. */
static taut_block_regs registers(const taut_jet *jet, const jet_kernel *k, int64_t chunk, int j)
{
    if (k->output)
        return (taut_block_regs){.lanes = k->lanes, .regs = j == 0 ? k->kept.first : k->kept.later};
    return (taut_block_regs){.lanes = k->lanes,
                             .regs = k->regs + (chunk * (jet->order + 1) + j) * k->size};
}

static int members_of(const jet_kernel *k, int64_t first)
{
    return k->kernel->members - first < k->lanes ? (int)(k->kernel->members - first) : k->lanes;
}

static void run_kernel(taut_jet *jet, const jet_kernel *k, int j, const taut_inputs *inputs,
                       taut_values *values)
{
    for (int64_t c = 0; c < k->chunks; c++) {
        int64_t first = c * k->lanes;
        int n = members_of(k, first);
        taut_block_regs now = registers(jet, k, c, j);
        if (inputs->parameter)
            taut_statement_kernel_set_parameters(k->kernel, inputs->parameter, &now);
        taut_statement_kernel_load(k->kernel, k->level, first, n, inputs, &now);
        if (k->output) {
            const taut_jet_places at = places(jet, k, c);
            taut_tape_jet_run_kept(k->kernel->tape, k->level, j, k->lanes, n, &at);
        } else {
            taut_tape_jet_run(k->kernel->tape, k->level, j, k->lanes, n,
                              registers(jet, k, c, 0).regs);
        }
        taut_statement_kernel_scatter(jet->context, k->kernel, asked(jet, false), first, n,
                                      now.regs, k->lanes, jet->frozen ? jet->v : inputs->v, values);
    }
}

/* Coefficient j of what the kernels read. */
static taut_inputs inputs_of(const taut_jet *jet, int j, double t, const double *q, const double *v)
{
    taut_inputs inputs = {.q = q, .v = v, .moving = j > 0};
    if (j == 0) {
        inputs.t = t;
        inputs.parameter = jet->context->parameter;
        inputs.weight = jet->weight;
        inputs.branch = taut_hold_branches(jet->context);
    } else if (j == 1) {
        inputs.t = !jet->frozen;
        inputs.parameter = jet->seed;
    }
    return inputs;
}

/* Orders 0 to j of a batch of pairs. Their images move with them: coefficients of order 1 and more
 * are those of the particles. */
static void run_pairs(const taut_pair_visit *visit, int n)
{
    const taut_jet *jet = visit->own;
    taut_pair_work *w = visit->work;
    const taut_pair_families *f = &w->sum->families;
    const int lanes = w->regs.lanes, d = f->dimension, last = jet->done;
    double *first = jet->pair_regs[w - jet->context->pairs];
    taut_block_regs now = {.lanes = lanes, .regs = first};
    for (int j = 0; j <= last; j++, now.regs += pair_size(w)) {
        taut_inputs inputs = inputs_of(jet, j, 0, w->q, jet->zero);
        const double *q = jet->pair_q + (int64_t)j * jet->context->system->sizes.coordinates;
        for (int c = 0; j > 0 && c < 2 * d; c++)
            for (int l = 0; l < n; l++)
                w->q[c * lanes + l] = q[f->first[c / d] + d * w->pair[c / d][l] + c % d];
        if (inputs.parameter)
            taut_statement_kernel_set_parameters(&w->kernel, inputs.parameter, &now);
        taut_statement_kernel_load(&w->kernel, visit->level, 0, n, &inputs, &now);
        taut_tape_jet_run(w->kernel.tape, visit->level, j, lanes, n, first);
    }
    taut_statement_kernel_scatter(jet->context, &w->kernel, visit->wanted, 0, n,
                                  first + last * pair_size(w), lanes, jet->zero, visit->values);
}

static int add_pairs(taut_jet *jet, int j, const double *q, taut_values *values, taut_error *error)
{
    const taut_index n = jet->context->system->sizes.coordinates;
    if (!jet->pair_q)
        return 0;
    taut_copy(n, q, jet->pair_q + (int64_t)j * n);
    TAUT_TRY(taut_pair_sums_update(jet->context, jet->pair_q, error));
    taut_pair_visit visit = {run_pairs, jet->context, NULL, asked(jet, false),
                             values,    NULL,         0,    jet};
    for (int32_t k = 0; k < jet->context->system->pair_sums; k++) {
        visit.work = &jet->context->pairs[k];
        visit.level = pair_level(jet, k);
        if (visit.level >= 0)
            taut_pair_sum_visit(&visit, jet->pair_q);
    }
    return 0;
}

/* Masses and forces that no kernel gives are constant: they have a coefficient of order 0 only. */
static void begin(const taut_jet *jet, int j, taut_values *values)
{
    const taut_context *context = jet->context;
    const taut_system *system = context->system;
    const taut_index n = system->sizes.coordinates;
    const bool diagonal = system->sizes.mass == TAUT_MASS_DIAGONAL;
    taut_values_clear(system, jet->wanted, values);
    if (j > 0 || jet->frozen)
        return;
    if (jet->wanted & TAUT_WANT_FORCE && context->steady_force)
        taut_copy(n, context->steady_force, values->force);
    if (jet->wanted & TAUT_WANT_MASS && diagonal)
        taut_copy(n, context->mass, values->mass);
    const double *mass = jet->wanted & TAUT_WANT_MASS && !diagonal ? system->mass_constant : NULL;
    for (taut_index i = 0; mass && i < n; i++)
        if (mass[i] != 0)
            values->mass[taut_row_find(&taut_system_patterns(system)->tangent, i, i)] += mass[i];
}

const taut_system *taut_jet_system(const taut_jet *jet, unsigned *wanted)
{
    *wanted = jet->wanted;
    return jet->context->system;
}

int taut_jet_advance_inside(taut_jet *jet, int j, double t, const double *q, const double *v,
                            taut_values *values, taut_error *error)
{
    const taut_system *system = jet->context->system;
    if (j < 0 || j > jet->order || j > jet->done + 1)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "coefficient %d of a jet of order %d was asked after %d", j, jet->order,
                         jet->done);
    if (j == 0)
        jet->context->statistics.jets++;
    jet->done = j;
    taut_inputs inputs = inputs_of(jet, j, t, q, v ? v : jet->zero);
    begin(jet, j, values);
    for (int32_t k = 0; k < jet->kernels; k++) {
        const jet_kernel *one = jet_kernel_now(jet, k);
        if (one->level >= 0)
            run_kernel(jet, one, j, &inputs, values);
    }
    TAUT_TRY(add_pairs(jet, j, q, values, error));
    if (system->muted)
        taut_values_mute(system, jet->wanted, values);
    if (jet->wanted & TAUT_WANT_FORCE)
        TAUT_TRY(taut_check_finite(system, TAUT_COORDINATE, "a Taylor coefficient of the force on",
                                   t, values->force, system->sizes.coordinates, error));
    if (jet->wanted & TAUT_WANT_BOND)
        TAUT_TRY(taut_check_finite(system, TAUT_BOND, "a Taylor coefficient of bond", t,
                                   values->bond, system->sizes.bonds, error));
    return 0;
}

void taut_jet_rows(const taut_jet *jet, int j, const double *x, const double *y, double *rows,
                   double *forces)
{
    for (int32_t k = 0; k < jet->kernels; k++) {
        const jet_kernel *one = jet_kernel_now(jet, k);
        if (one->level < 1 || one->kernel->role != TAUT_ROLE_BOND)
            continue;
        for (int64_t c = 0; c < one->chunks; c++) {
            const int64_t first = c * one->lanes;
            const taut_jet_places at = places(jet, one, c);
            const double *then = one->output ? at.kept + (int64_t)j * at.count * one->lanes
                                             : registers(jet, one, c, j).regs;
            taut_statement_kernel_rows(one->kernel, first, members_of(one, first), then,
                                       one->output, one->lanes, x, y, rows, forces);
        }
    }
}

/* ---- derivatives along directions */

/* All orders and directions of a chunk while it is in the cache. */
void taut_jet_along(taut_jet *jet, double t, const double *q, int count, const double *z,
                    const double *y, double *forces)
{
    const taut_sizes *sizes = &jet->context->system->sizes;
    const taut_inputs at = inputs_of(jet, 0, t, q, jet->zero);
    jet->context->statistics.jets++;
    for (int32_t k = 0; k < jet->kernels; k++) {
        const jet_kernel *one = jet_kernel_now(jet, k);
        const taut_statement_kernel *kernel = one->kernel;
        if (one->level < 1 || kernel->role != TAUT_ROLE_BOND)
            continue;
        taut_block_regs now = registers(jet, one, 0, 0), next = registers(jet, one, 0, 1);
        taut_statement_kernel_set_parameters(kernel, at.parameter, &now);
        for (int64_t first = 0; first < kernel->members; first += one->lanes) {
            const int n = members_of(one, first);
            taut_statement_kernel_load(kernel, one->level, first, n, &at, &now);
            taut_tape_jet_run(kernel->tape, one->level, 0, one->lanes, n, now.regs);
            for (int d = 0; d < count; d++) {
                taut_inputs moved =
                    inputs_of(jet, 1, t, z + (int64_t)d * sizes->coordinates, jet->zero);
                taut_statement_kernel_load(kernel, one->level, first, n, &moved, &next);
                taut_tape_jet_run(kernel->tape, one->level, 1, one->lanes, n, now.regs);
                taut_statement_kernel_rows(kernel, first, n, next.regs, NULL, one->lanes, NULL,
                                           y + (int64_t)d * sizes->bonds, NULL, forces);
            }
        }
    }
}

/* ---- derivatives with respect to parameters */

/* Made at the first call for a context and kept in its arena, so that later ones allocate
 * nothing. */
struct parameter_work {
    taut_jet jet;
    double *seed;              /* [parameters] */
    double *bond, *compliance; /* for the energy of the springs, sum g^2 / 2c: g; dc/dp */
    double *bond_dp;           /* where dg/dp goes when the caller does not want it */
    double *regs;              /* jet of order 1 of one member of a parameter or compliance */
};

/* Derivatives of the values of a list of kernels, which depend on parameters only, into
 * result[row]. */
static void list_seed(taut_context *context, int list, taut_index k, const double *seed,
                      double *regs, double *result)
{
    int32_t count, first;
    taut_statement_kernel **kernel = taut_system_list(context->system, list, &count, &first);
    for (int32_t i = 0; i < count; i++) {
        const taut_tape *tape = kernel[i]->tape;
        int64_t size = tape->registers + tape->companions;
        taut_tape_jet_prepare(tape, 2, 1, regs);
        for (int64_t m = 0; m < kernel[i]->members; m++) {
            taut_index row = kernel[i]->row[m];
            if (list == TAUT_LIST_PARAMETER && (row == k || context->fixed[row] & 2))
                continue;
            for (int j = 0; j < 2; j++) {
                for (int32_t s = 0; s < kernel[i]->slots; s++) {
                    const taut_slot *slot = &kernel[i]->slot[s];
                    taut_index at = slot->gather ? slot->gather[m] : slot->one;
                    regs[j * size + s] = slot->source == TAUT_FROM_PARAMETER
                                             ? (j ? seed[at] : context->parameter[at])
                                         : slot->source == TAUT_FROM_DATA && j == 0 ? slot->data[m]
                                                                                    : 0;
                }
                taut_tape_jet_run(tape, 0, j, 1, 1, regs);
            }
            result[row] = regs[size + tape->output[0]];
        }
    }
}

/* The longest tape of a list, with room for order 1. */
static int64_t list_room(const taut_system *system, int list)
{
    int32_t count, first;
    int64_t most = 0;
    taut_statement_kernel **kernel = taut_system_list(system, list, &count, &first);
    for (int32_t i = 0; i < count; i++) {
        const int64_t size = (int64_t)kernel[i]->tape->registers + kernel[i]->tape->companions;
        most = size > most ? size : most;
    }
    return 2 * most;
}

static int make_work(taut_context *context, taut_error *error)
{
    const taut_sizes *sizes = &context->system->sizes;
    taut_arena *arena = &context->arena;
    struct parameter_work *w = TAUT_NEW(arena, struct parameter_work, 1);
    TAUT_NEED(error, w);
    const int64_t a = list_room(context->system, TAUT_LIST_PARAMETER),
                  b = list_room(context->system, TAUT_LIST_COMPLIANCE);
    TAUT_TRY(TAUT_RESERVE(arena, sizes->parameters, error, &w->seed));
    TAUT_TRY(TAUT_RESERVE(arena, sizes->bonds, error, &w->bond, &w->compliance, &w->bond_dp));
    TAUT_TRY(TAUT_RESERVE(arena, a > b ? a : b, error, &w->regs));
    w->jet.memory = arena;
    w->jet.frozen = true;
    w->jet.seed = w->seed;
    TAUT_TRY(fill_jet(&w->jet, context, 1, error));
    context->parameter_work = w;
    return 0;
}

static double spring_energy(const taut_context *context, const struct parameter_work *w,
                            const double *bond_dp)
{
    double sum = 0;
    for (taut_index i = 0; i < context->system->sizes.bonds; i++) {
        double c = context->compliance[i], g = w->bond[i];
        if (c > 0)
            sum += g * bond_dp[i] / c - g * g * w->compliance[i] / (2 * c * c);
    }
    return sum;
}

/* How parameters and compliances move with parameter k. */
static void seed_parameter(taut_context *context, struct parameter_work *w, taut_index k)
{
    const taut_sizes *sizes = &context->system->sizes;
    for (taut_index i = 0; i < sizes->parameters; i++)
        w->seed[i] = i == k;
    for (taut_index i = 0; i < sizes->bonds; i++)
        w->compliance[i] = 0;
    list_seed(context, TAUT_LIST_PARAMETER, k, w->seed, w->regs, w->seed);
    list_seed(context, TAUT_LIST_COMPLIANCE, k, w->seed, w->regs, w->compliance);
}

/* Order 0, then order 1 with the parameters moving alone. */
static int run_parameter(struct parameter_work *w, double t, const double *q, unsigned wanted,
                         taut_values *values, taut_error *error)
{
    taut_jet *jet = &w->jet;
    bool energy = wanted & TAUT_WANT_ENERGY;
    double *bond = values->bond;
    if (energy)
        values->bond = w->bond;
    int status = taut_jet_advance_inside(jet, 0, t, q, jet->v, values, error);
    values->bond = wanted & TAUT_WANT_BOND ? bond : w->bond_dp;
    if (status == 0)
        status = taut_jet_advance_inside(jet, 1, t, jet->zero, jet->zero, values, error);
    if (energy)
        values->bond_energy = spring_energy(jet->context, w, values->bond);
    values->bond = bond;
    return status;
}

int taut_evaluate_parameter_inside(taut_context *context, double t, const double *q,
                                   const double *v, taut_index k, unsigned wanted,
                                   taut_values *values, taut_error *error)
{
    const taut_sizes *sizes = &context->system->sizes;
    if (k < 0 || k >= sizes->parameters)
        return taut_fail(error, TAUT_ERROR_USAGE, "there is no parameter number %d", k);
    if (context->system->parameter_fixed[k] & 1)
        return taut_fail(
            error, TAUT_ERROR_USAGE,
            "this parameter fixes sizes or indices: there is no derivative with respect to it");
    TAUT_TRY(check_request(context, 1, wanted, PARAMETER_WANTS, error));
    if (!context->parameter_work)
        TAUT_TRY(make_work(context, error));
    struct parameter_work *w = context->parameter_work;
    /* the energy of springs needs g and its derivative */
    TAUT_TRY(want(&w->jet, wanted & TAUT_WANT_ENERGY ? wanted | TAUT_WANT_BOND : wanted, error));
    w->jet.v = v ? v : w->jet.zero;
    w->jet.weight = values->mass_weight;
    seed_parameter(context, w, k);
    return run_parameter(w, t, q, wanted, values, error);
}
