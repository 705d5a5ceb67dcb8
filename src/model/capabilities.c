/* capabilities.c - what all statements of a model together amount to: the kind of its mass matrix,
 * and the capability bits (TAUT_HAS_..., TAUT_CAN_...) that methods and projections ask for. */
#include "model/model.h"

/* With a kinetic energy, coordinates whose velocity it does not contain squared have no mass. */
static int find_massless(taut_model *model)
{
    const taut_system *system = model->system;
    unsigned char *heavy = TAUT_NEW(&model->scratch, unsigned char, system->coordinates.total);
    TAUT_NEED(model->error, heavy);
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        const taut_tape *tape = kernel->tape;
        for (int32_t c = 0; kernel->role == TAUT_ROLE_KINETIC && c < kernel->locals; c++) {
            /* M[c,c] */
            int32_t constant =
                tape->output[1 + kernel->locals + c * (c + 1) / 2 + c] - tape->inputs;
            if (constant >= 0 && constant < tape->constants && tape->constant[constant] == 0)
                continue;
            for (int64_t i = 0; i < kernel->members; i++)
                heavy[kernel->local[c].gather ? kernel->local[c].gather[i] : kernel->local[c].one] =
                    1;
        }
    }
    for (int64_t i = 0; i < system->coordinates.total; i++)
        model->massless = model->massless || !heavy[i];
    return 0;
}

/* Marks the coordinates whose diagonal entry is given, at most once each. */
static int mark_masses(taut_model *model, unsigned char *given, bool *varying, bool *off)
{
    const taut_system *system = model->system;
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        if (kernel->role == TAUT_ROLE_KINETIC) {
            *varying = *varying || kernel->uses_q || kernel->uses_t;
            *off = *off || kernel->locals > 1;
        }
        if (kernel->role != TAUT_ROLE_MASS)
            continue;
        *varying = *varying || kernel->uses_q || kernel->uses_t;
        for (int64_t i = 0; i < kernel->members; i++) {
            taut_index a = kernel->row[i], b = kernel->column[i];
            *off = *off || a != b;
            if (a == b && given[a]) {
                char name[160];
                taut_names_print(&system->coordinates, a, name, sizeof name);
                return taut_model_fail(model, (taut_place){1, 1, 0},
                                       "the mass of %s is given twice", name);
            }
            given[a] = given[a] || a == b;
        }
    }
    return TAUT_OK;
}

/* Unlisted masses are 1; with a kinetic energy nothing is added. Only these are written: zeros of
 * large systems take no memory. */
static int finish_mass(taut_model *model)
{
    taut_system *system = model->system;
    const taut_index n = system->sizes.coordinates;
    const bool kinetic = model->document->present[TAUT_SECTION_KINETIC];
    bool varying = false, off = false;
    taut_arena scratch;
    TAUT_TRY(TAUT_RESERVE(&system->arena, n, model->error, &system->mass_constant));
    taut_arena_init(&scratch, &system->arena.allocator);
    unsigned char *given = TAUT_NEW(&scratch, unsigned char, n);
    for (taut_index i = 0; i < n && given && kinetic; i++)
        given[i] = 1;
    int status = given ? mark_masses(model, given, &varying, &off) : taut_fail_memory(model->error);
    for (taut_index i = 0; i < n && status == 0 && !kinetic; i++)
        if (!given[i])
            system->mass_constant[i] = 1;
    taut_arena_clear(&scratch);
    TAUT_TRY(status);
    system->sizes.mass = varying ? TAUT_MASS_VARYING
                         : off   ? TAUT_MASS_CONSTANT
                                 : TAUT_MASS_DIAGONAL;
    return kinetic ? find_massless(model) : 0;
}

static unsigned force_bits(const taut_statement_kernel *kernel, bool kinetic_only)
{
    unsigned can = 0;
    if (kernel->uses_t)
        can |= TAUT_HAS_TIME;
    if (!kinetic_only && kernel->uses_v)
        can |= TAUT_HAS_VELOCITY_FORCES;
    return can;
}

int taut_model_capabilities(taut_model *model)
{
    taut_system *system = model->system;
    if (system->sizes.kind == TAUT_MECHANICAL)
        TAUT_TRY(finish_mass(model));
    unsigned can = system->sizes.can | TAUT_CAN_FORCE | TAUT_CAN_DERIVATIVES | TAUT_CAN_JETS |
                   TAUT_CAN_INVERT_MASS;
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        can |= kernel->kinks ? TAUT_HAS_KINKS : 0;
        switch (kernel->role) {
        case TAUT_ROLE_BOND: can |= kernel->uses_t ? TAUT_HAS_MOVING_BONDS : 0; break;
        case TAUT_ROLE_FORCE: can |= TAUT_HAS_FORCES | force_bits(kernel, false); break;
        case TAUT_ROLE_KINETIC:
            can |=
                TAUT_HAS_KINETIC | force_bits(kernel, true) |
                (kernel->uses_q || kernel->uses_t ? TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_VARYING_MASS
                                                  : 0);
            break;
        case TAUT_ROLE_MASS:
            can |= force_bits(kernel, true) |
                   (kernel->uses_q || kernel->uses_t ? TAUT_HAS_VARYING_MASS : 0);
            break;
        case TAUT_ROLE_STIFF: can |= TAUT_HAS_STIFF_POTENTIAL | force_bits(kernel, true); break;
        default: can |= force_bits(kernel, true); break;
        }
    }
    can |= system->sizes.algebraic ? TAUT_HAS_ALGEBRAIC : 0;
    if (model->massless)
        can &= ~(unsigned)TAUT_CAN_INVERT_MASS;
    can |= system->sizes.invariants ? TAUT_HAS_INVARIANTS : 0;
    can |= system->steppers ? TAUT_HAS_STEPPER : 0;
    if (system->sizes.kind == TAUT_BLACK_BOX)
        can &= ~(unsigned)(TAUT_CAN_FORCE | TAUT_CAN_JETS | TAUT_CAN_DERIVATIVES);
    if (taut_pair_sums_check(system, NULL))
        can = (can & ~(unsigned)TAUT_CAN_DERIVATIVES) | TAUT_HAS_PAIRS;
    system->sizes.can = can;
    return 0;
}
