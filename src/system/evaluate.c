/* evaluate.c - one call for everything a method can ask at a point: kernels run batch by batch,
 * results are scattered. */
#include "base/rows.h"
#include "base/vectors.h"
#include "system/finite.h"
#include "system/hold.h"
#include "system/kernel/family.h"
#include "system/kernel/scatter.h"
#include "system/pair_sums.h"
#include "system/rank_part.h"
#include "system/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    NEEDS_TANGENT = TAUT_WANT_BOND_HESSIAN | TAUT_WANT_FORCE_DQ | TAUT_WANT_FORCE_DV |
                    TAUT_WANT_MASS_DQ | TAUT_WANT_STIFF_HESSIAN,
    PAIR_WANTS = TAUT_WANT_FORCE | TAUT_WANT_FORCE_DQ | TAUT_WANT_ENERGY
};

typedef struct motion {
    const double *mass, *v;
} motion;

static double kinetic_block(void *context, int64_t begin, int64_t end)
{
    const motion *m = context;
    double sum = 0;
    for (int64_t i = begin; i < end; i++)
        sum += m->mass[i] * m->v[i] * m->v[i] / 2;
    return sum;
}

/* Masses that no kernel computes: 1 where none is given; for diagonal constant masses all of
 * them. */
static void add_plain_mass(const taut_context *context, unsigned wanted, const double *v,
                           taut_values *values)
{
    const taut_system *system = context->system;
    taut_index n = system->sizes.coordinates;
    bool diagonal = system->sizes.mass == TAUT_MASS_DIAGONAL;
    bool kinetic = system->sizes.can & TAUT_HAS_KINETIC; /* then kernels give energy and momentum */
    const double *mass = diagonal ? context->mass : system->mass_constant;
    if (wanted & TAUT_WANT_MASS && diagonal)
        taut_copy(n, mass, values->mass);
    if (kinetic || !mass)
        return;
    const taut_part *part = system->part;
    motion m = {mass, v};
    for (int k = 0; wanted & TAUT_WANT_ENERGY && part && k < part->coordinates.ranges; k++)
        values->kinetic +=
            kinetic_block(&m, part->coordinates.range[k][0], part->coordinates.range[k][1]);
    if (wanted & TAUT_WANT_ENERGY && !part)
        values->kinetic += taut_pool_sum(context->pool, n, kinetic_block, &m);
    if (!(wanted & TAUT_WANT_MOMENTUM) && (diagonal || !(wanted & TAUT_WANT_MASS)))
        return;
    for (taut_index i = 0; i < n; i++) {
        if (wanted & TAUT_WANT_MOMENTUM)
            values->momentum[i] += mass[i] * v[i];
        if (wanted & TAUT_WANT_MASS && !diagonal && mass[i] != 0) {
            const taut_pattern *tangent = &taut_system_patterns(system)->tangent;
            values->mass[taut_row_find(tangent, i, i)] += mass[i];
        }
    }
}

/* Adds all members of a kernel; NaN when a bond may not be finite, else 0. */
static double run_kernel(taut_context *context, const taut_statement_kernel *kernel,
                         taut_block_regs *regs, int level, const taut_inputs *inputs,
                         unsigned wanted, taut_values *values)
{
    double odd = 0;
    for (int64_t first = 0; first < kernel->members; first += regs->lanes) {
        int n =
            kernel->members - first < regs->lanes ? (int)(kernel->members - first) : regs->lanes;
        taut_statement_kernel_run(kernel, level, first, n, inputs, regs);
        odd += taut_statement_kernel_test(kernel, level, n, regs);
        taut_statement_kernel_scatter(context, kernel, wanted, first, n, regs->regs, regs->lanes,
                                      inputs->v, values);
    }
    return odd;
}

/* The energies of many members, in blocks that do not depend on the threads. */
typedef struct energies {
    taut_context *context;
    int32_t kernel;
    int level;
    const taut_inputs *inputs;
    int64_t block;
    taut_values sum[TAUT_LOOP_BLOCKS];
    double odd[TAUT_LOOP_BLOCKS];
} energies;

static void run_energies_of(void *context, int64_t block, int thread)
{
    energies *e = context;
    taut_context *of = e->context;
    const taut_statement_kernel *kernel = of->kernel[e->kernel];
    taut_block_regs *regs = thread > 0 ? &of->parts->regs[thread][e->kernel] : &of->regs[e->kernel];
    const int64_t begin = block * e->block,
                  end = kernel->members - begin < e->block ? kernel->members : begin + e->block;
    taut_values sum = {0};
    double odd = 0;
    for (int64_t first = begin; first < end; first += regs->lanes) {
        const int n = end - first < regs->lanes ? (int)(end - first) : regs->lanes;
        taut_statement_kernel_run(kernel, e->level, first, n, e->inputs, regs);
        odd += taut_statement_kernel_test(kernel, e->level, n, regs);
        taut_statement_kernel_scatter(of, kernel, TAUT_WANT_ENERGY, first, n, regs->regs,
                                      regs->lanes, e->inputs->v, &sum);
    }
    e->sum[block] = sum;
    e->odd[block] = odd;
}

static double run_energies(taut_context *context, int32_t kernel, int level,
                           const taut_inputs *inputs, taut_values *values)
{
    energies e = {.context = context, .kernel = kernel, .level = level, .inputs = inputs};
    const int64_t members = context->kernel[kernel]->members, lanes = context->regs[kernel].lanes;
    e.block = (taut_pool_block(members) + lanes - 1) / lanes * lanes;
    const int64_t blocks = (members + e.block - 1) / e.block;
    double odd = 0;
    if (context->parts)
        taut_pool_run(context->pool, blocks, run_energies_of, &e);
    for (int64_t k = 0; k < blocks; k++) {
        if (!context->parts)
            run_energies_of(&e, k, 0);
        values->kinetic += e.sum[k].kinetic;
        values->potential += e.sum[k].potential;
        values->bond_energy += e.sum[k].bond_energy;
        values->stiff_energy += e.sum[k].stiff_energy;
        odd += e.odd[k];
    }
    return odd;
}

/* Has the kernel no part in a request for fast or slow forces alone? */
static bool is_apart(const taut_statement_kernel *kernel, unsigned part)
{
    const bool fast = kernel->fast || (kernel->role == TAUT_ROLE_FORCE && kernel->uses_v);
    return part && kernel->role != TAUT_ROLE_BOND && kernel->role != TAUT_ROLE_STIFF &&
           fast == (part == TAUT_WANT_SLOW);
}

/* All but kernel `left`. *forced: something was added to the steady forces, which are known to be
 * finite. */
static double run_kernels(taut_context *context, const taut_inputs *inputs, unsigned wanted,
                          unsigned part, int32_t left, taut_values *values, bool *forced)
{
    const taut_system *system = context->system;
    bool skip_mass = system->sizes.mass == TAUT_MASS_DIAGONAL;
    unsigned steady_wanted = wanted & ~(unsigned)(TAUT_WANT_FORCE | TAUT_WANT_FORCE_DQ);
    double odd = 0;
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = context->kernel[k];
        unsigned asked = kernel->steady ? steady_wanted : wanted;
        int level = taut_statement_kernel_level(kernel, asked);
        if (k == left || level < 0 || (skip_mass && kernel->role == TAUT_ROLE_MASS) ||
            is_apart(kernel, part))
            continue;
        *forced = *forced || (kernel->role != TAUT_ROLE_BOND && !kernel->steady);
        odd += asked == TAUT_WANT_ENERGY && kernel->members > TAUT_LOOP_LEAST && !context->hold
                   ? run_energies(context, k, level, inputs, values)
                   : run_kernel(context, kernel, &context->regs[k], level, inputs, asked, values);
    }
    return odd;
}

/* The same for simple requests, in which small systems would spend more on questions than on
 * expressions. */
static double run_simple(taut_context *context, const taut_inputs *inputs, unsigned wanted,
                         unsigned part, taut_values *values, bool *forced)
{
    const taut_system *system = context->system;
    const unsigned index = taut_simple_index(wanted);
    double odd = 0;
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = context->kernel[k];
        const int level = kernel->simple_level[index];
        if (level < 0 || is_apart(kernel, part))
            continue;
        *forced = *forced || kernel->role != TAUT_ROLE_BOND;
        odd += kernel->single
                   ? taut_single_run(system, kernel, level, inputs, context->regs[k].regs, wanted,
                                     values)
                   : run_kernel(context, kernel, &context->regs[k], level, inputs, wanted, values);
    }
    return odd;
}

/* Forces begin with the steady ones, or with zero. */
static void begin_forces(const taut_context *context, unsigned wanted, bool steady,
                         taut_values *values)
{
    const taut_index n = context->system->sizes.coordinates;
    if (wanted & TAUT_WANT_FORCE && steady && context->steady_force)
        taut_copy(n, context->steady_force, values->force);
    else if (wanted & TAUT_WANT_FORCE)
        taut_clear(n, values->force);
    if (wanted & TAUT_WANT_STIFF_FORCE)
        taut_clear(n, values->stiff_force);
}

/* By several threads, which test the forces too. */
static double run_parts(taut_context *context, const taut_inputs *inputs, unsigned wanted,
                        bool begin, taut_values *values, bool *forced)
{
    const taut_parts_task task = {.inputs = inputs,
                                  .wanted = wanted,
                                  .left = -1,
                                  .begin = begin,
                                  .steady = !(wanted & TAUT_WANT_FAST)};
    double force, odd = taut_parts_run(context, &task, values, &force);
    *forced = force != 0;
    return odd;
}

static double run_all(taut_context *context, const taut_inputs *inputs, unsigned wanted,
                      taut_values *values, bool *forced)
{
    const taut_system *system = context->system;
    const unsigned simple = TAUT_WANT_SIMPLE, part = wanted & (TAUT_WANT_FAST | TAUT_WANT_SLOW);
    wanted &= ~part;
    const unsigned rest = wanted & ~simple;
    const bool parts = taut_parts_serve(context, wanted);
    if (parts && !(system->pair_sums && wanted & PAIR_WANTS))
        return run_parts(context, inputs, wanted | part, true, values, forced);
    begin_forces(context, wanted, part != TAUT_WANT_FAST, values);
    if (rest)
        taut_values_clear(system, rest, values);
    if (system->pair_sums && wanted & PAIR_WANTS) {
        taut_pair_sums_add(context, inputs, wanted, part, values);
        *forced = true;
    }
    if (parts)
        return run_parts(context, inputs, wanted | part, false, values, forced);
    if (!rest)
        return run_simple(context, inputs, wanted, part, values, forced);
    if (wanted & (TAUT_WANT_MASS | TAUT_WANT_ENERGY | TAUT_WANT_MOMENTUM))
        add_plain_mass(context, wanted, inputs->v, values);
    if (system->sizes.mass == TAUT_MASS_DIAGONAL)
        wanted &= ~(unsigned)TAUT_WANT_MASS;
    return run_kernels(context, inputs, wanted, part, -1, values, forced);
}

static void count(taut_context *context, unsigned wanted)
{
    if (wanted & (TAUT_WANT_FORCE | TAUT_WANT_JACOBIAN))
        context->statistics.force_evaluations++;
    if (wanted & (TAUT_WANT_FORCE_DQ | TAUT_WANT_FORCE_DV))
        context->statistics.jacobians++;
}

void taut_values_mute(const taut_system *system, unsigned wanted, taut_values *values)
{
    const taut_pattern rows = {system->sizes.bonds, system->sizes.coordinates,
                               system->jacobian_start, system->jacobian_column};
    for (taut_index i = 0; i < system->sizes.bonds; i++) {
        if (!system->muted[i])
            continue;
        if (wanted & TAUT_WANT_BOND)
            values->bond[i] = 0;
        if (wanted & TAUT_WANT_JACOBIAN && values->jacobian)
            taut_row_clear(&rows, values->jacobian, i);
        if (wanted & TAUT_WANT_JACOBIAN && values->bond_dt)
            values->bond_dt[i] = 0;
        if (wanted & TAUT_WANT_GAMMA)
            values->gamma[i] = 0;
    }
}

static int evaluate(taut_context *context, double t, const double *q, const double *v,
                    unsigned wanted, taut_values *values, taut_error *error)
{
    const taut_system *system = context->system;
    if (system->sizes.kind == TAUT_BLACK_BOX &&
        wanted & ~(unsigned)(TAUT_WANT_BOND | TAUT_WANT_JACOBIAN))
        return taut_fail(
            error, TAUT_ERROR_REFUSED,
            "this system is a black box: only its invariants and observables can be evaluated");
    bool matrix = wanted & NEEDS_TANGENT ||
                  (wanted & TAUT_WANT_MASS && system->sizes.mass != TAUT_MASS_DIAGONAL);
    const taut_patterns *patterns;
    if (wanted & TAUT_WANT_FORCE_DQ)
        TAUT_TRY(taut_pair_sums_check(system, error));
    if (matrix)
        TAUT_TRY(taut_system_form(system, &patterns, error));
    if (!v)
        v = context->scratch;
    count(context, wanted);
    if (system->evaluate) {
        TAUT_TRY(system->evaluate(context, t, q, v, wanted, values, error));
        TAUT_TRY(taut_check_forces(system, t, wanted, values, error));
        TAUT_TRY(taut_check_matrices(system, t, wanted, values, error));
        return taut_check_bonds(system, t, wanted, values, error);
    }
    taut_inputs inputs = {
        .q = q, .v = v, .parameter = context->parameter, .weight = values->mass_weight, .t = t};
    inputs.branch = taut_hold_branches(context);
    bool forced = false;
    if (wanted & PAIR_WANTS)
        TAUT_TRY(taut_pair_sums_update(context, q, error));
    double odd = run_all(context, &inputs, wanted, values, &forced);
    if (!forced)
        wanted &= ~(unsigned)TAUT_WANT_FORCE;
    if (wanted & (TAUT_WANT_FORCE | TAUT_WANT_STIFF_FORCE | TAUT_WANT_ENERGY))
        TAUT_TRY(taut_check_forces(system, t, wanted, values, error));
    if (wanted & (NEEDS_TANGENT | TAUT_WANT_MASS | TAUT_WANT_MOMENTUM))
        TAUT_TRY(taut_check_matrices(system, t, wanted, values, error));
    if (odd == 0)
        return 0;
    TAUT_TRY(taut_context_check_stiffness(context, t, error));
    return taut_check_bonds(system, t, wanted, values, error);
}

bool taut_evaluates_sums(const taut_system *system)
{
    return !system->evaluate;
}

bool taut_evaluates_products(const taut_system *system)
{
    enum { LARGE = 100000 };
    const unsigned others =
        TAUT_HAS_PAIRS | TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_KINETIC | TAUT_HAS_STIFF_POTENTIAL;
    const taut_sizes *z = &system->sizes;
    return z->coordinates >= LARGE && !system->evaluate && z->kind == TAUT_MECHANICAL &&
           z->mass == TAUT_MASS_DIAGONAL && !(z->can & others);
}

int taut_evaluate_product(taut_context *context, double t, const double *q, const double *v,
                          unsigned wanted, const double *x, const double *weight, double *product,
                          taut_error *error)
{
    const unsigned part = wanted & (TAUT_WANT_FAST | TAUT_WANT_SLOW);
    const taut_index n = context->system->sizes.coordinates;
    taut_inputs inputs = {.q = q, .v = v, .parameter = context->parameter, .t = t};
    taut_values values = {.force_dq = product, .bond_hessian = product, .bond_weight = weight};
    bool forced = false;
    inputs.branch = taut_hold_branches(context);
    taut_clear(n, product);
    context->along = x;
    run_kernels(context, &inputs, wanted & ~part, part, -1, &values, &forced);
    context->along = NULL;
    return taut_check_finite(context->system, TAUT_COORDINATE, "the derivative of the force on", t,
                             product, n, error);
}

/* The largest family of springs whose points can be kicked at once; -1: there is none. */
static int32_t find_family(const taut_context *context)
{
    int32_t best = -1;
    for (int32_t k = 0; k < context->system->kernels; k++)
        if (context->kernel[k]->family &&
            (best < 0 || context->kernel[k]->members > context->kernel[best]->members))
            best = k;
    return best;
}

/* May a kernel add to the forces on coordinates begin .. end-1? */
static bool meets(const taut_statement_kernel *kernel, taut_index begin, taut_index end)
{
    bool met = kernel->members > 1 || (kernel->role == TAUT_ROLE_FORCE &&
                                       kernel->rows.first >= begin && kernel->rows.first < end);
    for (int32_t c = 0; c < kernel->locals && kernel->role != TAUT_ROLE_FORCE; c++)
        met =
            met || (kernel->local[c].places.first >= begin && kernel->local[c].places.first < end);
    return met;
}

/* Kernels that add to the forces on inner points of a family before it does. */
static bool others_meet(const taut_context *context, int32_t family, unsigned wanted)
{
    const taut_statement_kernel *kernel = context->kernel[family];
    const taut_index begin = taut_family_begin(kernel), end = taut_family_end(kernel);
    bool met = false;
    for (int32_t k = 0; k < context->system->kernels && !met; k++)
        met = k != family && !context->kernel[k]->steady && meets(context->kernel[k], begin, end) &&
              taut_statement_kernel_level(context->kernel[k], wanted) >= 0;
    return met;
}

/* Points that a family has not kicked. */
static void kick_points(const taut_kick *kick, double *force, taut_index begin, taut_index end)
{
    for (taut_index i = begin; i < end; i++) {
        force[i] *= kick->inverse ? kick->inverse[i] : 1;
        kick->v[i] += kick->h / 2 * force[i];
        if (kick->q) {
            kick->v[i] += kick->h / 2 * force[i];
            kick->q[i] += kick->h * kick->v[i];
        }
    }
}

/* All kernels but the family: forces on inner points only where they have some. */
static double pull_others(taut_context *context, const taut_inputs *inputs, int32_t family,
                          bool met, taut_values *values)
{
    const unsigned wanted = TAUT_WANT_FORCE | TAUT_WANT_PULL;
    const taut_index n = context->system->sizes.coordinates;
    const taut_index begin = met ? 0 : taut_family_begin(context->kernel[family]),
                     end = met ? 0 : taut_family_end(context->kernel[family]);
    const double *steady = context->steady_force ? context->steady_force : context->scratch;
    double odd = 0;
    bool forced = false;
    if (taut_parts_serve(context, wanted)) {
        const taut_parts_task task = {inputs, wanted, family, true, true, begin, end};
        double tested;
        odd = taut_parts_run(context, &task, values, &tested);
        odd += tested;
        forced = !met;
    } else {
        taut_copy(begin, steady, values->force);
        taut_copy(n - end, steady + end, values->force + end);
        odd = run_kernels(context, inputs, wanted, 0, family, values, &forced);
    }
    return forced ? odd + taut_lanes_test(values->force, begin) +
                        taut_lanes_test(values->force + end, n - end)
                  : odd;
}

/* Forces and kicks with the springs of a family last. */
static double pull_and_kick(taut_context *context, const taut_inputs *inputs, int32_t family,
                            taut_values *values, taut_kick *kick)
{
    const taut_index n = context->system->sizes.coordinates;
    const taut_statement_kernel *kernel = context->kernel[family];
    const taut_index begin = taut_family_begin(kernel), end = taut_family_end(kernel);
    const bool met = others_meet(context, family, TAUT_WANT_FORCE | TAUT_WANT_PULL);
    const double *steady = context->steady_force ? context->steady_force : context->scratch;
    taut_family_target to = {.stiffness = context->stiffness,
                             .lambda = kick->q ? NULL : values->bond,
                             .base = met ? values->force : steady,
                             .force = values->force,
                             .inverse = kick->inverse,
                             .h = kick->h,
                             .v = kick->v,
                             .q = kick->q};
    double odd = pull_others(context, inputs, family, met, values);
    if (taut_parts_serve(context, TAUT_WANT_FORCE)) {
        const taut_family_team team = {context->pool, context->parts->regs, family,
                                       context->parts->edge};
        odd += taut_family_share(kernel, inputs, &team, &to);
    } else {
        odd += taut_family_run(kernel, inputs, &context->regs[family], &to);
    }
    kick_points(kick, values->force, 0, begin);
    kick_points(kick, values->force, end, n);
    kick->done = true;
    return odd;
}

static bool can_pull(const taut_system *system)
{
    return !system->evaluate && !system->muted && system->sizes.kind == TAUT_MECHANICAL;
}

bool taut_evaluate_kicks(const taut_context *context)
{
    return can_pull(context->system) && !context->system->pair_sums && find_family(context) >= 0;
}

bool taut_evaluate_pull(taut_context *context, double t, const double *q, const double *v,
                        taut_values *values, taut_kick *kick)
{
    const taut_system *system = context->system;
    const unsigned stiff = values->stiff_force ? (unsigned)TAUT_WANT_STIFF_FORCE : 0;
    if (!can_pull(system))
        return false;
    taut_inputs inputs = {.q = q,
                          .v = v ? v : context->scratch,
                          .lambda = context->stiffness,
                          .parameter = context->parameter,
                          .t = t};
    inputs.branch = taut_hold_branches(context);
    bool forced = false;
    if (taut_pair_sums_update(context, q, NULL) != 0)
        return false;
    const int32_t family = kick && !stiff && !system->pair_sums ? find_family(context) : -1;
    double odd = family >= 0 ? pull_and_kick(context, &inputs, family, values, kick)
                             : run_all(context, &inputs, TAUT_WANT_FORCE | TAUT_WANT_PULL | stiff,
                                       values, &forced);
    if (forced)
        odd += taut_lanes_test(values->force, system->sizes.coordinates);
    if (forced && stiff)
        odd += taut_lanes_test(values->stiff_force, system->sizes.coordinates);
    if (odd == 0)
        count(context, TAUT_WANT_FORCE);
    return odd == 0;
}

int taut_evaluate_inside(taut_context *context, double t, const double *q, const double *v,
                         unsigned wanted, taut_values *values, taut_error *error)
{
    TAUT_TRY(evaluate(context, t, q, v, wanted, values, error));
    if (context->system->muted)
        taut_values_mute(context->system, wanted, values);
    return TAUT_OK;
}

/* Does it do work that no energy accounts for? */
static bool drives(const taut_statement_kernel *kernel)
{
    return kernel->role == TAUT_ROLE_FORCE ||
           (kernel->role == TAUT_ROLE_POTENTIAL && kernel->uses_t);
}

int taut_evaluate_driving(taut_context *context, double t, const double *q, const double *v,
                          double *force, double *potential, taut_error *error)
{
    const taut_system *system = context->system;
    const unsigned wanted = (force ? TAUT_WANT_FORCE : 0) | (potential ? TAUT_WANT_ENERGY : 0);
    taut_values values = {.force = force};
    taut_inputs inputs = {.q = q, .v = v, .parameter = context->parameter, .t = t};
    inputs.branch = taut_hold_branches(context);
    if (force)
        taut_clear(system->sizes.coordinates, force);
    if (system->evaluate && system->sizes.can & (TAUT_HAS_FORCES | TAUT_HAS_TIME))
        TAUT_TRY(system->evaluate(context, t, q, v, wanted, &values, error));
    for (int32_t k = 0; !system->evaluate && k < system->kernels; k++) {
        const taut_statement_kernel *kernel = context->kernel[k];
        int level = drives(kernel) ? taut_statement_kernel_level(kernel, wanted) : -1;
        if (level < 0)
            continue;
        if (kernel->single && !potential)
            taut_single_run(system, kernel, level, &inputs, context->regs[k].regs, wanted, &values);
        else
            run_kernel(context, kernel, &context->regs[k], level, &inputs, wanted, &values);
    }
    if (potential)
        *potential = values.potential;
    return taut_check_forces(system, t, wanted, &values, error);
}

bool taut_system_energies(const taut_system *system)
{
    const unsigned can = system->sizes.can;
    bool known = !(can & TAUT_HAS_STIFF_POTENTIAL);
    if (system->evaluate) /* differences of a mass matrix cost too much */
        return known && !(can & TAUT_HAS_VARYING_MASS);
    for (int32_t k = 0; k < system->kernels; k++) {
        taut_role role = system->kernel[k]->role;
        known &=
            !((role == TAUT_ROLE_MASS || role == TAUT_ROLE_KINETIC) && system->kernel[k]->uses_t);
    }
    return known;
}

/* Outputs or events at a point. */
static void run_values(taut_context *context, int list, double t, const double *q, const double *v,
                       const double *lambda, double *values)
{
    taut_inputs inputs = {.q = q,
                          .v = v ? v : context->scratch,
                          .lambda = lambda ? lambda : context->scratch,
                          .parameter = context->parameter,
                          .t = t};
    taut_run_list(context, list, &inputs, values);
}

int taut_evaluate_outputs(taut_context *context, double t, const double *q, const double *v,
                          const double *lambda, double *outputs, taut_error *error)
{
    /* an output that is not a number is shown as such: it does not influence the motion */
    TAUT_REQUIRE(context && q && (outputs || context->system->sizes.outputs == 0));
    run_values(context, TAUT_LIST_OUTPUT, t, q, v, lambda, outputs);
    return 0;
}

int taut_shapes_at(taut_context *context, double t, const double *q, const double *v,
                   const double *lambda, double *numbers, taut_error *error)
{
    TAUT_REQUIRE(context && q && (numbers || context->system->shapes == 0));
    taut_clear(3 * (int64_t)context->system->shape_points, numbers);
    run_values(context, TAUT_LIST_SHAPE, t, q, v, lambda, numbers);
    return 0;
}

int taut_evaluate_events(taut_context *context, double t, const double *q, const double *v,
                         const double *lambda, double *values, taut_error *error)
{
    TAUT_REQUIRE(context && q && (values || context->system->sizes.events == 0));
    run_values(context, TAUT_LIST_EVENT, t, q, v, lambda, values);
    return taut_check_finite(context->system, TAUT_EVENT_ITEM, "event", t, values,
                             context->system->sizes.events, error);
}
