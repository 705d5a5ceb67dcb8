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
static int check_arrays(const taut_system *system, unsigned wanted, const taut_values *x,
                        taut_error *error)
{
    const taut_sizes *sizes = &system->sizes;
    bool bonds = sizes->bonds > 0, varying = sizes->mass == TAUT_MASS_VARYING;
    const void *const array[] = {/* in the order of the bits */
                                 x->force,
                                 x->bond,
                                 x->bond_dt ? x->jacobian : NULL,
                                 x->gamma,
                                 x->bond_weight || !bonds ? x->bond_hessian : NULL,
                                 x->force_dq,
                                 x->force_dv,
                                 x->mass,
                                 x->mass_weight || !varying ? x->mass_dq : NULL,
                                 x->stiff_force,
                                 x->stiff_hessian,
                                 x,
                                 x->momentum};
    if (!bonds)
        wanted &= ~(unsigned)(TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA);
    if (sizes->kind != TAUT_MECHANICAL && sizes->algebraic == 0)
        wanted &= ~(unsigned)TAUT_WANT_FORCE_DV;
    for (unsigned k = 0; k < sizeof array / sizeof array[0] && wanted >> k; k++)
        if ((wanted >> k & 1) && !array[k])
            return taut_fail(
                error, TAUT_ERROR_USAGE,
                "taut_values: an array that the bit 1 << %u of what is wanted fills or "
                "reads is NULL",
                k);
    return TAUT_OK;
}

/* The values of the caller; or, where they are those of an older header, a copy in full length. */
static int take_values(const taut_system *system, unsigned wanted, taut_values *given,
                       taut_values *own, taut_values **taken, taut_error *error)
{
    *taken = given;
    if (!given || given->size != sizeof *given) {
        TAUT_TRY(taut_struct_read(own, sizeof *own, given, "taut_values", error));
        *taken = own;
    }
    return check_arrays(system, wanted, *taken, error);
}

/* The numbers among the values; arrays are the caller's own already. */
static int give_values(int status, taut_values *given, const taut_values *taken)
{
    if (taken != given)
        taut_struct_fill(given, taken, sizeof *taken, "taut_values", NULL);
    return status;
}

static int evaluate(taut_context *context, double t, const double *q, const double *v,
                    unsigned wanted, taut_values *values, taut_error *error)
{
    taut_values own, *taken;
    TAUT_REQUIRE(context && q);
    TAUT_TRY(take_values(context->system, wanted, values, &own, &taken, error));
    return give_values(taut_evaluate_inside(context, t, q, v, wanted, taken, error), values, taken);
}

/* Evaluations of small systems take nanoseconds: what is asked for often is checked at once. */
int taut_evaluate(taut_context *context, double t, const double *q, const double *v,
                  unsigned wanted, taut_values *values, taut_error *error)
{
    const unsigned often = TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN;
    const taut_values *x = values;
    bool good = context && q && x && x->size == sizeof *x && !(wanted & ~often) && x->force &&
                x->bond && x->bond_dt && x->jacobian;
    return (good ? taut_evaluate_inside : evaluate)(context, t, q, v, wanted, values, error);
}

int taut_evaluate_parameter(taut_context *context, double t, const double *q, const double *v,
                            taut_index k, unsigned wanted, taut_values *values, taut_error *error)
{
    taut_values own, *taken;
    TAUT_REQUIRE(context && q);
    TAUT_TRY(take_values(context->system, wanted, values, &own, &taken, error));
    return give_values(taut_evaluate_parameter_inside(context, t, q, v, k, wanted, taken, error),
                       values, taken);
}

int taut_jet_advance(taut_jet *jet, int j, double t, const double *q, const double *v,
                     taut_values *values, taut_error *error)
{
    taut_values own, *taken;
    unsigned wanted;
    TAUT_REQUIRE(jet && q);
    const taut_system *system = taut_jet_system(jet, &wanted);
    TAUT_TRY(take_values(system, wanted, values, &own, &taken, error));
    return give_values(taut_jet_advance_inside(jet, j, t, q, v, taken, error), values, taken);
}
