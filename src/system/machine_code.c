/* machine_code.c - the expressions of a system as machine code: the tapes of all statements, and
 * those of small systems (fused.h), in one run of a compiler. */
#include "system/fused.h"

enum { FORMS = sizeof((taut_system *)0)->fused / sizeof(taut_fused *) };

static const taut_fused *form_of(const taut_system *system, int k)
{
    const int each = FORMS / 2;
    return system->fused[k / each][k % each];
}

/* All tapes, or without `tape` their number. */
static int32_t list_tapes(const taut_system *system, taut_tape **tape)
{
    int32_t total = 0;
    for (int k = 0; k < FORMS; k++) {
        const taut_fused *fused = form_of(system, k);
        if (fused && tape)
            tape[total] = fused->each;
        total += fused != NULL;
    }
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        const taut_guards *guards = kernel->guards;
        taut_tape *const form[3] = {kernel->tape, guards ? guards->held->tape : NULL,
                                    guards ? guards->values->tape : NULL};
        for (int j = 0; j < 3; j++)
            if (form[j] && form[j]->length <= TAUT_NATIVE_LENGTH) {
                if (tape)
                    tape[total] = form[j];
                total++;
            }
    }
    return total;
}

int taut_system_native(taut_system *system, double seconds, taut_error *error)
{
    if (system->native)
        return TAUT_OK;
    if (!system->fused[0][0])
        TAUT_TRY(taut_fused_prepare(system, error));
    taut_arena scratch;
    taut_arena_init(&scratch, &system->arena.allocator);
    int32_t count = list_tapes(system, NULL);
    taut_tape **tape = TAUT_NEW(&scratch, taut_tape *, count + 1);
    list_tapes(system, tape);
    int status = !tape ? taut_fail_memory(error)
                       : taut_native_within(tape, count, NULL, seconds, &system->arena.allocator,
                                            &system->native, error);
    if (status != 0)
        system->native = NULL;
    taut_arena_clear(&scratch);
    return status;
}

double taut_system_operations(const taut_system *system)
{
    double sum = 0;
    for (int32_t k = 0; k < system->kernels; k++)
        sum += system->kernel[k]->tape->length;
    for (int k = 0; k < FORMS; k++) {
        const taut_fused *fused = form_of(system, k);
        sum += fused ? fused->each->length : 0;
    }
    return sum;
}
