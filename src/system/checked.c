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
    const bool any = sizes->coordinates > 0, bonds = sizes->bonds > 0,
               control = sizes->kind == TAUT_MECHANICAL ? any : sizes->algebraic > 0;
    const struct {
        unsigned bit;
        bool needed;
        const double *array;
        const char *name;
    } rows[] = {
        {TAUT_WANT_FORCE, any, own->force, "force"},
        {TAUT_WANT_BOND, bonds, own->bond, "bond"},
        {TAUT_WANT_JACOBIAN, bonds, own->jacobian, "jacobian"},
        {TAUT_WANT_JACOBIAN, bonds, own->bond_dt, "bond_dt"},
        {TAUT_WANT_GAMMA, bonds, own->gamma, "gamma"},
        {TAUT_WANT_BOND_HESSIAN, any, own->bond_hessian, "bond_hessian"},
        {TAUT_WANT_BOND_HESSIAN, bonds, own->bond_weight, "bond_weight"},
        {TAUT_WANT_FORCE_DQ, any, own->force_dq, "force_dq"},
        {TAUT_WANT_FORCE_DV, control, own->force_dv, "force_dv"},
        {TAUT_WANT_MASS, any, own->mass, "mass"},
        {TAUT_WANT_MASS_DQ, any, own->mass_dq, "mass_dq"},
        {TAUT_WANT_MASS_DQ, sizes->mass == TAUT_MASS_VARYING, own->mass_weight, "mass_weight"},
        {TAUT_WANT_STIFF_FORCE, any, own->stiff_force, "stiff_force"},
        {TAUT_WANT_STIFF_HESSIAN, any, own->stiff_hessian, "stiff_hessian"},
        {TAUT_WANT_MOMENTUM, any, own->momentum, "momentum"}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        if ((wanted & rows[k].bit) && rows[k].needed && !rows[k].array)
            return taut_fail(error, TAUT_ERROR_USAGE,
                             "taut_values: %s is wanted, so %s must not be NULL", rows[k].name,
                             rows[k].name);
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
