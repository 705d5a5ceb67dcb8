/* footprint.c - memory that a system needs, from its sizes, before it is used: vectors, contexts,
 * patterns with their values, factors, and jets where slow points are computed. Coefficients are
 * fitted to what the program uses (peak of the resident memory) for chains of 10^4 to 3 10^6 links,
 * nets of 40^2 to 300^2 nodes and cloths of 50^2 and 100^2 nodes. Of the largest ones no second run
 * measures the error (drive/second_look.c), and many small things no longer count. */
#include "base/inside.h"
#include "linalg/saddle.h"
#include "system/kernel/scatter.h"
#include "system/system.h"

#include <math.h>

static const double PROGRAM = 1.6e7; /* with its libraries, and what small systems need */
enum { LARGEST = 500000 };           /* coordinates from which the second numbers hold */
static const double COORDINATE[] = {400, 200}, BOND[] = {200, 70}, ENTRY[] = {60, 32}; /* of G */
static const double PAIR = 30;        /* of Hessians */
static const double SPARSE_ROW = 500; /* of factors without a narrow band */
static const double SHAPE = 260;
static const double CURVED_ROW = 1500; /* more of factors where g is curved, of slow points */

/* Does the matrix of multipliers need a sparse factorisation? */
static bool is_sparse(const taut_system *system)
{
    const taut_sizes *z = &system->sizes;
    taut_backend backend = TAUT_BACKEND_AUTO;
    taut_saddle_shape shape = {.n = z->coordinates,
                               .m = z->bonds,
                               .g_start = system->jacobian_start,
                               .g_column = system->jacobian_column,
                               .symmetric = true,
                               .positive = true};
    return z->kind == TAUT_MECHANICAL && z->mass == TAUT_MASS_DIAGONAL && z->bonds > 0 &&
           taut_saddle_choice(&shape, &system->arena.allocator, &backend, NULL) == 0 &&
           backend == TAUT_BACKEND_SPARSE;
}

double taut_system_footprint(const taut_system *system, bool matrices)
{
    const taut_sizes *z = &system->sizes;
    const int size = !matrices && z->coordinates >= LARGEST;
    double pairs = 0, rows = (double)z->coordinates + z->bonds;
    for (int32_t k = 0; k < system->kernels && matrices; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        if (kernel->role != TAUT_ROLE_VALUE && kernel->second)
            pairs += (double)kernel->members * kernel->locals * kernel->locals;
    }
    return PROGRAM + COORDINATE[size] * z->coordinates + BOND[size] * z->bonds +
           SHAPE * taut_shape_count(system) + ENTRY[size] * (double)z->jacobian_entries +
           PAIR * pairs + (is_sparse(system) ? SPARSE_ROW * rows : 0);
}

double taut_system_memory(const taut_system *system)
{
    return system ? taut_system_footprint(system, !taut_evaluates_products(system)) : NAN;
}

/* Numbers that jets keep of an order: long families what later orders need, others all registers
 * (jets.c). */
static double jet_numbers(const taut_statement_kernel *kernel, int level, int32_t *slot)
{
    const taut_tape *tape = kernel->tape;
    const bool bond = kernel->role == TAUT_ROLE_BOND && level >= 1;
    double registers = (double)tape->registers + tape->companions;
    if (kernel->members > TAUT_JET_LANES)
        registers =
            taut_tape_jet_slots(tape, level, tape->output + 1, bond ? kernel->locals : 0, slot);
    return (double)kernel->members * registers;
}

double taut_system_memory_slow(const taut_system *system)
{
    enum { ORDERS = 14 }; /* of the levels that are usual */
    const unsigned wanted = TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA;
    if (!system)
        return NAN;
    const taut_sizes *z = &system->sizes;
    double numbers = 0;
    if (!(z->can & TAUT_CAN_JETS) || !(z->can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL)))
        return taut_system_memory(system);
    taut_arena scratch;
    taut_arena_init(&scratch, &system->arena.allocator);
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        const int level = taut_statement_kernel_level(kernel, wanted);
        int32_t *slot =
            TAUT_NEW(&scratch, int32_t, kernel->tape->registers + kernel->tape->companions);
        numbers += level >= 0 && slot ? jet_numbers(kernel, level, slot) : 0;
    }
    taut_arena_clear(&scratch);
    return taut_system_memory(system) + ORDERS * sizeof(double) * numbers +
           (is_sparse(system) ? CURVED_ROW * ((double)z->coordinates + z->bonds) : 0);
}
