/* derived.c - systems made from systems: they share kernels, names and patterns with their base
 * and change one thing.
 *
 * rigid: c = 0 for every bond that is not `soft` (docs/theory.md, Four motions); softer: all of
 * these c times a factor, for extrapolation in the stiffness; artificial: one c for all of these,
 * in place of rigid bonds; without: some bonds, which follow from others (redundant.c), are soft
 * springs with g = 0, so that nothing else has to know of them; with: other values of parameters,
 * and the numbers of [run] that follow from them; starting: other initial values. */
#include "system/system.h"

#include <string.h>

#include "base/number.h"
#include "base/options.h"
#include "base/vectors.h"
#include "system/rank_part.h"

taut_system *taut_system_derive(const taut_system *base, const taut_allocator *allocator)
{
    taut_arena arena;
    taut_arena_init(&arena, allocator ? allocator : &base->arena.allocator);
    taut_system *system = TAUT_NEW(&arena, taut_system, 1);
    if (!system)
        return NULL;
    *system = *base;
    system->arena = arena;
    system->owns_late = false;
    system->native = NULL; /* belongs to the base */
    system->base = base;
    return system;
}

/* Has it bonds that could be made rigid? */
static int check_bonds(const taut_system *base, taut_error *error)
{
    if (base->sizes.kind != TAUT_MECHANICAL)
        return taut_fail(error, TAUT_ERROR_REFUSED, "only mechanical systems have a rigid motion");
    if (base->sizes.can & TAUT_HAS_STIFF_POTENTIAL)
        return taut_fail(error, TAUT_ERROR_REFUSED,
                         "a stiff potential has no bonds that could be made rigid: write it as "
                         "bonds with a stiffness");
    return TAUT_OK;
}

int taut_system_rigid(const taut_system *base, taut_system **result, taut_error *error)
{
    if (result)
        *result = NULL;
    TAUT_REQUIRE(base && result);
    return taut_system_rigid_in(base, NULL, result, error);
}

int taut_system_artificial(const taut_system *base, double compliance, taut_system **result,
                           taut_error *error)
{
    *result = NULL;
    TAUT_TRY(check_bonds(base, error));
    taut_system *system = taut_system_derive(base, NULL);
    TAUT_NEED(error, system);
    system->artificial = compliance;
    system->sizes.can =
        (system->sizes.can & ~(unsigned)(TAUT_HAS_DAMPING | TAUT_HAS_RIGID)) | TAUT_HAS_SPRINGS;
    *result = system;
    return TAUT_OK;
}

int taut_system_rigid_in(const taut_system *base, const taut_allocator *allocator,
                         taut_system **result, taut_error *error)
{
    *result = NULL;
    TAUT_TRY(check_bonds(base, error));
    taut_system *system = taut_system_derive(base, allocator);
    TAUT_NEED(error, system);
    system->rigid = true;
    unsigned can =
        system->sizes.can & ~(unsigned)(TAUT_HAS_SPRINGS | TAUT_HAS_DAMPING | TAUT_HAS_RIGID);
    for (taut_index i = 0; i < system->sizes.bonds; i++)
        if (!(system->muted && system->muted[i]))
            can |= system->soft && system->soft[i]
                       ? TAUT_HAS_SPRINGS | (base->sizes.can & TAUT_HAS_DAMPING)
                       : TAUT_HAS_RIGID;
    system->sizes.can = can;
    taut_part_agree(system);
    *result = system;
    return 0;
}

int taut_system_softer(const taut_system *base, double factor, taut_system **result,
                       taut_error *error)
{
    *result = NULL;
    if (base->sizes.kind != TAUT_MECHANICAL || !(factor > 0))
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "springs of mechanical systems are made softer, by a factor above 0");
    taut_system *system = taut_system_derive(base, NULL);
    TAUT_NEED(error, system);
    system->softer = factor * (base->softer > 0 ? base->softer : 1);
    *result = system;
    return 0;
}

int taut_system_without(const taut_system *base, const unsigned char *muted, taut_system **result,
                        taut_error *error)
{
    size_t bonds = (size_t)base->sizes.bonds;
    *result = NULL;
    taut_system *system = taut_system_derive(base, NULL);
    TAUT_NEED(error, system);
    unsigned char *copy = TAUT_NEW(&system->arena, unsigned char, base->sizes.bonds),
                  *soft = TAUT_NEW(&system->arena, unsigned char, base->sizes.bonds);
    if (!copy || !soft) {
        taut_system_destroy(system);
        return taut_fail_memory(error);
    }
    memcpy(copy, muted, bonds);
    for (size_t i = 0; i < bonds; i++)
        soft[i] = muted[i] || (base->soft && base->soft[i]);
    system->muted = copy;
    system->soft = soft;
    *result = system;
    return 0;
}

/* The parameters of `context`, whether given or computed from others, are those of `system`. */
static int take_parameters(const taut_context *context, taut_system *system, taut_error *error)
{
    taut_index count = system->sizes.parameters;
    TAUT_TRY(TAUT_RESERVE(&system->arena, count, error, &system->parameter_value));
    system->parameter_fixed = TAUT_NEW(&system->arena, unsigned char, count);
    TAUT_NEED(error, system->parameter_fixed);
    taut_copy(count, context->parameter, system->parameter_value);
    memcpy(system->parameter_fixed, context->fixed, (size_t)count);
    return TAUT_OK;
}

/* Writes the numbers of [run] that are made of parameters, which must be good values of options. */
static int write_settings(taut_system *system, const double *value, taut_setting *setting,
                          taut_options *probe, taut_error *error)
{
    for (int32_t k = 0; k < system->value_kernels[TAUT_LIST_SETTING]; k++) {
        char text[TAUT_NUMBER_SIZE];
        const taut_index row = system->setting_kernel[k]->row[0];
        taut_number_format(value[row], 17, text);
        TAUT_TRY(taut_options_set_as(probe, "[run] ", setting[row].name, text, error));
        setting[row].value = taut_arena_text(&system->arena, text, strlen(text));
        TAUT_NEED(error, setting[row].value);
    }
    system->setting = setting;
    return TAUT_OK;
}

static int take_settings(taut_context *context, taut_system *system, taut_error *error)
{
    const taut_index count = system->sizes.settings;
    const taut_inputs inputs = {.q = context->scratch,
                                .v = context->scratch,
                                .parameter = context->parameter,
                                .t = system->from};
    double *value;
    taut_options *probe;
    if (system->value_kernels[TAUT_LIST_SETTING] == 0)
        return TAUT_OK;
    taut_setting *setting = TAUT_NEW(&system->arena, taut_setting, count);
    TAUT_NEED(error, setting);
    TAUT_TRY(TAUT_RESERVE(&system->arena, count, error, &value));
    memcpy(setting, system->setting, (size_t)count * sizeof *setting);
    taut_run_list(context, TAUT_LIST_SETTING, &inputs, value);
    TAUT_TRY(taut_options_create(&system->arena.allocator, &probe, error));
    int status = write_settings(system, value, setting, probe, error);
    taut_options_destroy(probe);
    return status;
}

int taut_system_with(const taut_system *base, taut_index count, const taut_index *parameter,
                     const double *value, taut_system **result, taut_error *error)
{
    if (result)
        *result = NULL;
    TAUT_REQUIRE(base && result && count > 0 && parameter && value);
    taut_context *context = NULL; /* checks the values */
    TAUT_TRY(taut_context_create(base, NULL, &context, error));
    int status = TAUT_OK;
    for (taut_index i = 0; i < count && status == 0; i++)
        status = taut_context_set_parameter(context, parameter[i], value[i], error);
    taut_system *system = status == 0 ? taut_system_derive(base, NULL) : NULL;
    if (status == 0)
        status = system ? take_parameters(context, system, error) : taut_fail_memory(error);
    if (status == 0)
        status = take_settings(context, system, error);
    taut_context_destroy(context);
    if (status != 0)
        taut_system_destroy(system);
    else
        *result = system;
    return status;
}

int taut_system_starting(const taut_system *base, taut_index count, const taut_index *row,
                         const double *value, taut_system **result, taut_error *error)
{
    *result = NULL;
    taut_system *system = taut_system_derive(base, NULL);
    TAUT_NEED(error, system);
    taut_index *rows = TAUT_NEW(&system->arena, taut_index, count);
    double *values = TAUT_NEW(&system->arena, double, count);
    if (!rows || !values) {
        taut_system_destroy(system);
        return taut_fail_memory(error);
    }
    memcpy(rows, row, (size_t)count * sizeof *rows);
    taut_copy(count, value, values);
    system->start_row = rows;
    system->start_value = values;
    system->start_given = count;
    *result = system;
    return TAUT_OK;
}
