/* checked.c - public calls that fill structs of the caller, with arguments checked; the library
 * itself calls what is inside (base/inside.h). */
#include "base/structs.h"
#include "system/system.h"

int taut_system_sizes_get(const taut_system *system, taut_sizes *sizes, taut_error *error)
{
    TAUT_REQUIRE(system);
    return taut_struct_fill(sizes, &system->sizes, sizeof system->sizes, "taut_sizes", error);
}

int taut_system_pattern_get(const taut_system *system, taut_pattern_of which, taut_pattern *pattern,
                            taut_error *error)
{
    TAUT_REQUIRE(system && pattern);
    return taut_system_pattern(system, which, pattern, error);
}

int taut_system_event_get(const taut_system *system, taut_index k, taut_event_info *info,
                          taut_error *error)
{
    taut_event_info own;
    TAUT_REQUIRE(system && taut_system_event(system, k, &own));
    return taut_struct_fill(info, &own, sizeof own, "taut_event_info", error);
}

/* What is wanted has an array, unless that is empty. */
static int read_values(const taut_system *system, unsigned wanted, const taut_values *given,
                       taut_values *own, taut_error *error)
{
    TAUT_TRY(taut_struct_read(own, sizeof *own, given, "taut_values", error));
    const taut_sizes *sizes = &system->sizes;
    bool bonds = sizes->bonds > 0, varying = sizes->mass == TAUT_MASS_VARYING;
    const void *const array[] = {/* in the order of the bits */
                                 own->force,
                                 own->bond,
                                 own->bond_dt ? own->jacobian : NULL,
                                 own->gamma,
                                 own->bond_weight || !bonds ? own->bond_hessian : NULL,
                                 own->force_dq,
                                 own->force_dv,
                                 own->mass,
                                 own->mass_weight || !varying ? own->mass_dq : NULL,
                                 own->stiff_force,
                                 own->stiff_hessian,
                                 own,
                                 own->momentum};
    if (!bonds)
        wanted &= ~(unsigned)(TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA);
    if (sizes->kind != TAUT_MECHANICAL && sizes->algebraic == 0)
        wanted &= ~(unsigned)TAUT_WANT_FORCE_DV;
    for (unsigned k = 0; k < sizeof array / sizeof array[0]; k++)
        if ((wanted >> k & 1) && !array[k])
            return taut_fail(
                error, TAUT_ERROR_USAGE,
                "taut_values: an array that the bit 1 << %u of what is wanted fills or "
                "reads is NULL",
                k);
    return TAUT_OK;
}

/* The numbers among the values; arrays are the caller's own already. */
static int give_values(int status, taut_values *given, const taut_values *own)
{
    taut_struct_fill(given, own, sizeof *own, "taut_values", NULL);
    return status;
}

int taut_evaluate(taut_context *context, double t, const double *q, const double *v,
                  unsigned wanted, taut_values *values, taut_error *error)
{
    taut_values own;
    TAUT_REQUIRE(context && q);
    TAUT_TRY(read_values(context->system, wanted, values, &own, error));
    return give_values(taut_evaluate_inside(context, t, q, v, wanted, &own, error), values, &own);
}

int taut_evaluate_parameter(taut_context *context, double t, const double *q, const double *v,
                            taut_index k, unsigned wanted, taut_values *values, taut_error *error)
{
    taut_values own;
    TAUT_REQUIRE(context && q);
    TAUT_TRY(read_values(context->system, wanted, values, &own, error));
    return give_values(taut_evaluate_parameter_inside(context, t, q, v, k, wanted, &own, error),
                       values, &own);
}

int taut_jet_advance(taut_jet *jet, int j, double t, const double *q, const double *v,
                     taut_values *values, taut_error *error)
{
    taut_values own;
    unsigned wanted;
    TAUT_REQUIRE(jet && q);
    const taut_system *system = taut_jet_system(jet, &wanted);
    TAUT_TRY(read_values(system, wanted, values, &own, error));
    return give_values(taut_jet_advance_inside(jet, j, t, q, v, &own, error), values, &own);
}
