/* context.c - one system, one thread: parameter values and register blocks. */
#include "base/vectors.h"
#include "system/hold.h"
#include "system/kernel/scatter.h"
#include "system/pair_sums.h"
#include "system/parts.h"

#include <math.h>
#include <string.h>

taut_statement_kernel **taut_system_list(const taut_system *system, int list, int32_t *count,
                                         int32_t *first)
{
    taut_statement_kernel **const lists[TAUT_LIST_COUNT] = {
        system->parameter_kernel, system->compliance_kernel, system->damping_kernel,
        system->start_kernel,     system->output_kernel,     system->event_kernel,
        system->tension_kernel,   system->conserved_kernel,  system->pair_kernel,
        system->shape_kernel,     system->setting_kernel};
    *first = 0;
    for (int k = 0; k < list; k++)
        *first += system->value_kernels[k];
    *count = system->value_kernels[list];
    return lists[list];
}

static int make_regs(taut_context *context, taut_error *error)
{
    const taut_system *system = context->system;
    int32_t total = 0;
    for (int list = 0; list < TAUT_LIST_COUNT; list++)
        total += system->value_kernels[list];
    context->kernel = system->kernel;
    context->regs = TAUT_NEW(&context->arena, taut_block_regs, system->kernels);
    context->value_regs = TAUT_NEW(&context->arena, taut_block_regs, total);
    TAUT_NEED(error, context->regs, context->value_regs);
    for (int32_t k = 0; k < system->kernels; k++)
        if (taut_statement_kernel_regs(system->kernel[k], &context->arena, &context->regs[k]))
            return taut_fail_memory(error);
    for (int list = 0; list < TAUT_LIST_COUNT; list++) {
        int32_t count, first;
        taut_statement_kernel **kernel = taut_system_list(system, list, &count, &first);
        for (int32_t k = 0; k < count; k++)
            if (taut_statement_kernel_regs(kernel[k], &context->arena,
                                           &context->value_regs[first + k]))
                return taut_fail_memory(error);
    }
    return 0;
}

static int make_arrays(taut_context *context, taut_error *error)
{
    const taut_sizes *sizes = &context->system->sizes;
    taut_arena *arena = &context->arena;
    taut_index longest =
        sizes->coordinates > sizes->algebraic ? sizes->coordinates : sizes->algebraic;
    if (sizes->bonds > longest)
        longest = sizes->bonds;
    context->fixed = TAUT_NEW(arena, unsigned char, sizes->parameters);
    TAUT_NEED(error, context->fixed);
    TAUT_TRY(TAUT_RESERVE(arena, sizes->parameters, error, &context->parameter));
    TAUT_TRY(TAUT_RESERVE(arena, sizes->bonds, error, &context->compliance, &context->damping,
                          &context->stiffness));
    TAUT_TRY(TAUT_RESERVE(arena, sizes->coordinates, error, &context->mass));
    TAUT_TRY(TAUT_RESERVE(arena, longest, error, &context->scratch));
    bool steady = false;
    for (int32_t k = 0; k < context->system->kernels; k++)
        steady = steady || context->system->kernel[k]->steady;
    if (context->system->conserved_rows.rows > 0) {
        context->next = TAUT_NEW(arena, taut_index, context->system->conserved_rows.rows);
        TAUT_NEED(error, context->next);
        TAUT_TRY(TAUT_RESERVE(arena, 2 * (int64_t)sizes->coordinates, error, &context->joined));
    }
    if (context->system->value_kernels[TAUT_LIST_TENSION] > 0)
        TAUT_TRY(TAUT_RESERVE(arena, sizes->bonds, error, &context->factor));
    if (steady && !(context->steady_force = TAUT_NEW(arena, double, sizes->coordinates)))
        return taut_fail_memory(error);
    if (sizes->parameters) {
        taut_copy(sizes->parameters, context->system->parameter_value, context->parameter);
        memcpy(context->fixed, context->system->parameter_fixed, (size_t)sizes->parameters);
    }
    return 0;
}

/* Room for the largest assignment of an event. */
static int make_event_room(taut_context *context, taut_error *error)
{
    const taut_system *system = context->system;
    int64_t most = 1, longest = 1;
    for (taut_index k = 0; k < system->sizes.events; k++) {
        const taut_event *event = &system->event[k];
        most = event->assignments > most ? event->assignments : most;
        for (int32_t j = 0; j < event->assignments; j++)
            longest = event->assign[j].kernel->tape->registers > longest
                          ? event->assign[j].kernel->tape->registers
                          : longest;
    }
    TAUT_TRY(TAUT_RESERVE(&context->arena, most, error, &context->event_value));
    return TAUT_RESERVE(&context->arena, longest, error, &context->event_regs);
}

/* The one thing that rigid, artificial, softer and reduced derived systems change. */
static void apply_derived(taut_context *context)
{
    const taut_system *system = context->system;
    double factor = system->softer, one = system->rigid ? 0 : system->artificial;
    bool same = system->rigid || one > 0;
    for (taut_index i = 0; (same || factor > 0) && i < system->sizes.bonds; i++)
        if (!(system->soft && system->soft[i])) {
            context->compliance[i] = same ? one : factor * context->compliance[i];
            context->damping[i] = same ? 0 : factor * context->damping[i];
        }
    for (taut_index i = 0; system->muted && i < system->sizes.bonds; i++)
        if (system->muted[i]) {
            context->compliance[i] = 1;
            context->damping[i] = 0;
        }
}

int taut_context_create(const taut_system *system, const taut_allocator *allocator,
                        taut_context **result, taut_error *error)
{
    if (result)
        *result = NULL;
    TAUT_REQUIRE(system && result);
    taut_allocator use = allocator ? *allocator : system->arena.allocator;
    taut_arena first;
    taut_arena_init(&first, &use);
    first.looped = true;
    taut_context *context = TAUT_NEW(&first, taut_context, 1);
    TAUT_NEED(error, context);
    context->system = system;
    context->arena = first;
    int status = make_arrays(context, error);
    if (status == 0)
        status = make_regs(context, error);
    if (status == 0)
        status = make_event_room(context, error);
    if (status == 0)
        status = taut_pair_sums_create(context, error);
    if (status == 0 && system->attach) {
        status = system->attach(context, error);
        apply_derived(context);
    } else if (status == 0) {
        status = taut_context_renew(context, error);
    }
    if (status) {
        taut_context_destroy(context);
        return status;
    }
    *result = context;
    return 0;
}

void taut_context_destroy(taut_context *context)
{
    if (!context)
        return;
    taut_arena arena = context->arena; /* the context lives in it */
    taut_arena_clear(&arena);
}

const taut_system *taut_context_system(const taut_context *context)
{
    return context ? context->system : NULL;
}

void taut_run_list(taut_context *context, int list, const taut_inputs *inputs, double *value)
{
    int32_t count, first;
    taut_statement_kernel **kernel = taut_system_list(context->system, list, &count, &first);
    for (int32_t k = 0; k < count; k++) {
        taut_block_regs *regs = &context->value_regs[first + k];
        taut_statement_kernel_set_parameters(kernel[k], context->parameter,
                                             /* parameters may depend on those just computed */
                                             regs);
        for (int64_t from = 0; from < kernel[k]->members; from += regs->lanes) {
            int n = kernel[k]->members - from < regs->lanes ? (int)(kernel[k]->members - from)
                                                            : regs->lanes;
            taut_statement_kernel_run(kernel[k], 0, from, n, inputs, regs);
            const double *x = regs->regs + (int64_t)kernel[k]->tape->output[0] * regs->lanes;
            for (int l = 0; l < n; l++) {
                taut_index row = kernel[k]->row[from + l];
                if (list != TAUT_LIST_PARAMETER || !(context->fixed[row] & 2))
                    value[row] = x[l];
            }
        }
    }
}

/* Each kernel of the factors, into context->factor [m]: 1 where the stiffness is constant. */
static void renew_factors(taut_context *context, double t)
{
    taut_inputs inputs = {
        .q = context->scratch, .v = context->scratch, .parameter = context->parameter, .t = t};
    for (taut_index i = 0; i < context->system->sizes.bonds; i++)
        context->factor[i] = 1;
    taut_run_list(context, TAUT_LIST_TENSION, &inputs, context->factor);
}

void taut_context_tensions(taut_context *context, double t, const double *lambda, double *forces)
{
    taut_index m = context->system->sizes.bonds;
    if (forces != lambda)
        taut_copy(m, lambda, forces);
    if (!context->factor)
        return;
    renew_factors(context, t);
    for (taut_index i = 0; i < m; i++)
        forces[i] *= context->factor[i];
}

int taut_context_check_stiffness(taut_context *context, double t, taut_error *error)
{
    char name[160];
    if (!context->factor)
        return TAUT_OK;
    renew_factors(context, t);
    for (taut_index i = 0; i < context->system->sizes.bonds; i++)
        if (!(context->factor[i] > 0) || !isfinite(context->factor[i])) {
            taut_system_name(context->system, TAUT_BOND, i, name, sizeof name);
            return taut_fail(error, TAUT_ERROR_EVALUATE,
                             "the stiffness of bond %s is not positive and finite at t = %.9g: it "
                             "must be at all times of the run",
                             name, t);
        }
    return TAUT_OK;
}

static int check_bonds(const taut_context *context, taut_error *error)
{
    char name[160];
    for (taut_index i = 0; i < context->system->sizes.bonds; i++) {
        double c = context->compliance[i], tau = context->damping[i];
        if (c >= 0 && isfinite(c) && tau >= 0 && isfinite(tau))
            continue;
        taut_system_name(context->system, TAUT_BOND, i, name, sizeof name);
        if (!(c >= 0) || !isfinite(c))
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "bond %s has compliance %g: a stiffness must be positive and finite",
                             name, c);
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "bond %s has damping time %g: a damping must not be negative", name, tau);
    }
    return 0;
}

/* Methods are chosen by capability bits: whether there are springs and rigid bonds must not
 * change after a model is loaded. */
static int check_kinds(const taut_context *context, taut_error *error)
{
    const taut_system *system = context->system;
    char name[160];
    for (taut_index i = 0; !system->base && i < system->sizes.bonds; i++) {
        if (system->muted && system->muted[i])
            continue;
        unsigned kind = context->compliance[i] > 0 ? TAUT_HAS_SPRINGS : TAUT_HAS_RIGID;
        if (system->sizes.kind != TAUT_MECHANICAL || system->sizes.can & kind)
            continue;
        taut_system_name(system, TAUT_BOND, i, name, sizeof name);
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "bond %s would become %s: give such a value when the model is loaded",
                         name, kind == TAUT_HAS_RIGID ? "rigid" : "a spring");
    }
    return 0;
}

static int check_parameters(const taut_context *context, taut_error *error)
{
    char name[160];
    for (taut_index k = 0; k < context->system->sizes.parameters; k++)
        if (!isfinite(context->parameter[k])) {
            taut_system_name(context->system, TAUT_PARAMETER, k, name, sizeof name);
            return taut_fail(error, TAUT_ERROR_USAGE, "parameter %s has no finite value (%g)", name,
                             context->parameter[k]);
        }
    return 0;
}

static int check_mass(const taut_context *context, taut_error *error)
{
    const taut_system *system = context->system;
    char name[160];
    TAUT_TRY(taut_check_finite(system, TAUT_COORDINATE, "the mass of", system->from, context->mass,
                               system->sizes.coordinates, error));
    for (taut_index i = 0; i < system->sizes.coordinates; i++) {
        double m = context->mass[i];
        if (m > 0 || (m == 0 && !(system->sizes.can & TAUT_CAN_INVERT_MASS)))
            continue;
        taut_system_name(system, TAUT_COORDINATE, i, name, sizeof name);
        return taut_fail(
            error, TAUT_ERROR_USAGE, "the mass of %s is %g: it must be positive%s", name, m,
            m == 0 ? " (a massless coordinate must be so when the model is loaded)" : "");
    }
    return 0;
}

/* Constant diagonal masses: 1 where none is given, kernels elsewhere. */
static int renew_mass(taut_context *context, taut_error *error)
{
    const taut_system *system = context->system;
    if (system->sizes.mass != TAUT_MASS_DIAGONAL)
        return 0;
    taut_values values = {.mass = context->mass};
    taut_inputs inputs = {.q = context->scratch,
                          .v = context->scratch,
                          .parameter = context->parameter,
                          .t = system->from};
    for (taut_index i = 0; i < system->sizes.coordinates; i++)
        context->mass[i] = system->mass_constant ? system->mass_constant[i] : 1;
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        if (kernel->role != TAUT_ROLE_MASS && kernel->role != TAUT_ROLE_KINETIC)
            continue;
        taut_block_regs *regs = &context->regs[k];
        int level = taut_statement_kernel_level(kernel, TAUT_WANT_MASS);
        for (int64_t first = 0; first < kernel->members; first += regs->lanes) {
            int n = kernel->members - first < regs->lanes ? (int)(kernel->members - first)
                                                          : regs->lanes;
            taut_statement_kernel_run(kernel, level, first, n, &inputs, regs);
            taut_statement_kernel_scatter(context, kernel, TAUT_WANT_MASS, first, n, regs->regs,
                                          regs->lanes, context->scratch, &values);
        }
    }
    return system->sizes.kind == TAUT_MECHANICAL ? check_mass(context, error) : 0;
}

/* Forces of linear potentials (gravity): every evaluation starts from them instead of from zero. */
static int renew_steady_force(taut_context *context, taut_error *error)
{
    const taut_system *system = context->system;
    taut_values values = {.force = context->steady_force};
    if (!context->steady_force)
        return 0;
    taut_clear(system->sizes.coordinates, context->steady_force);
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        const taut_block_regs *regs = &context->regs[k];
        for (int64_t first = 0; kernel->steady && first < kernel->members; first += regs->lanes) {
            int n = kernel->members - first < regs->lanes ? (int)(kernel->members - first)
                                                          : regs->lanes;
            taut_statement_kernel_scatter(context, kernel, TAUT_WANT_FORCE, first, n, regs->regs,
                                          regs->lanes, context->scratch, &values);
        }
    }
    return taut_check_finite(system, TAUT_COORDINATE, "the force on", system->from,
                             context->steady_force, system->sizes.coordinates, error);
}

/* Else compliances, damping times and stiffnesses are 0, as they were allocated. */
static bool has_springs(const taut_system *system)
{
    bool any = !system->rigid || system->muted;
    for (taut_index i = 0; !any && system->soft && i < system->sizes.bonds; i++)
        any = system->soft[i];
    return any;
}

static int renew_springs(taut_context *context, const taut_inputs *inputs, taut_error *error)
{
    taut_run_list(context, TAUT_LIST_COMPLIANCE, inputs, context->compliance);
    taut_run_list(context, TAUT_LIST_DAMPING, inputs, context->damping);
    apply_derived(context);
    TAUT_TRY(check_bonds(context, error));
    TAUT_TRY(check_kinds(context, error));
    for (taut_index i = 0; i < context->system->sizes.bonds; i++)
        context->stiffness[i] = context->compliance[i] > 0 ? 1 / context->compliance[i] : 0;
    return TAUT_OK;
}

static int renew(taut_context *context, taut_error *error)
{
    const taut_system *system = context->system;
    taut_inputs inputs = {.q = context->scratch,
                          .v = context->scratch,
                          .parameter = context->parameter,
                          .t = system->from};
    taut_run_list(context, TAUT_LIST_PARAMETER, &inputs, context->parameter);
    TAUT_TRY(check_parameters(context, error));
    for (int32_t k = 0; k < system->kernels; k++)
        taut_statement_kernel_set_parameters(system->kernel[k], context->parameter,
                                             &context->regs[k]);
    taut_parts_renew(context);
    taut_hold_renew(context);
    TAUT_TRY(renew_steady_force(context, error));
    if (has_springs(system))
        TAUT_TRY(renew_springs(context, &inputs, error));
    TAUT_TRY(taut_pair_sums_renew(context, error));
    return renew_mass(context, error);
}

int taut_context_renew(taut_context *context, taut_error *error)
{
    context->renewals++;
    taut_hold_use(context, false);
    int status = renew(context, error);
    taut_hold_use(context, true);
    return status;
}

int taut_context_set_parameter(taut_context *context, taut_index k, double value, taut_error *error)
{
    TAUT_REQUIRE(context && k >= 0 && k < context->system->sizes.parameters);
    const taut_system *system = context->system;
    char name[160];
    taut_system_name(system, TAUT_PARAMETER, k, name, sizeof name);
    if (system->parameter_fixed[k] & 1)
        return taut_fail(
            error, TAUT_ERROR_USAGE,
            "parameter %s determines sizes or indices: give it when the model is loaded", name);
    if (!isfinite(value))
        return taut_fail(error, TAUT_ERROR_USAGE, "parameter %s: the value must be finite", name);
    double old = context->parameter[k];
    unsigned char was = context->fixed[k];
    context->parameter[k] = value;
    context->fixed[k] |= 2; /* no longer computed from others */
    int status = taut_context_renew(context, error);
    if (status) { /* as before: nothing is lost */
        context->parameter[k] = old;
        context->fixed[k] = was;
        taut_context_renew(context, NULL);
    }
    return status;
}

int taut_context_like(const taut_context *like, const taut_system *system,
                      const taut_allocator *allocator, taut_context **context, taut_error *error)
{
    TAUT_TRY(taut_context_create(system, allocator, context, error));
    for (taut_index k = 0; k < system->sizes.parameters;
         k++) { /* the caller may have changed some */
        double value = taut_context_parameter(like, k);
        if (value != taut_context_parameter(*context, k))
            TAUT_TRY(taut_context_set_parameter(*context, k, value, error));
    }
    return TAUT_OK;
}

double taut_context_parameter(const taut_context *context, taut_index k)
{
    return context && k >= 0 && k < context->system->sizes.parameters ? context->parameter[k] : NAN;
}

const double *taut_context_compliance(const taut_context *context)
{
    return context ? context->compliance : NULL;
}

const double *taut_context_damping(const taut_context *context)
{
    return context ? context->damping : NULL;
}

const double *taut_context_mass(const taut_context *context)
{
    return context && context->system->sizes.mass == TAUT_MASS_DIAGONAL ? context->mass : NULL;
}

bool taut_context_soft(const taut_context *context, taut_index bond)
{
    return context && context->system->soft && bond >= 0 && bond < context->system->sizes.bonds &&
           context->system->soft[bond];
}

const taut_statistics *taut_context_statistics(const taut_context *context)
{
    return context ? &context->statistics : NULL;
}
