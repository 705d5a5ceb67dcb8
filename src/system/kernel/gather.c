/* gather.c - from arrays of the system to registers of a kernel: what is loaded is decided once,
 * when the kernel is made. */
#include "base/vectors.h"
#include "system/kernel/kernel.h"

static bool is_fetched(const taut_slot *slot)
{
    switch (slot->source) {
    case TAUT_FROM_Q:
    case TAUT_FROM_V:
    case TAUT_FROM_LAMBDA:
    case TAUT_FROM_WEIGHT:
    case TAUT_FROM_BRANCH:
    case TAUT_FROM_DATA: return true;
    case TAUT_FROM_PARAMETER: return slot->gather;
    default: return false;
    }
}

static bool are_pair(const taut_fetch *a, const taut_fetch *b)
{
    return a->source == b->source && !a->data && !a->places.gather && !b->places.gather &&
           a->places.stride == 2 && b->places.stride == 2 && b->places.first == a->places.first + 1;
}

/* Pairs among fetch[first .. last-1], all of one level. */
static void find_pairs(taut_fetch *fetch, int32_t first, int32_t last)
{
    for (int32_t k = first; k + 1 < last; k++)
        if (are_pair(&fetch[k], &fetch[k + 1]))
            fetch[k++].pair = true;
}

int taut_statement_kernel_plan_fetches(taut_statement_kernel *kernel, taut_arena *arena)
{
    taut_fetch *fetch = TAUT_NEW(arena, taut_fetch, kernel->slots);
    if (!fetch)
        return TAUT_ERROR_MEMORY;
    kernel->time_slot = -1;
    for (int level = 0; level < TAUT_LEVELS; level++) {
        for (int32_t s = 0; s < kernel->slots; s++) {
            const taut_slot *slot = &kernel->slot[s];
            if (slot->level != level)
                continue;
            if (slot->source == TAUT_FROM_TIME)
                kernel->time_slot = s;
            if (is_fetched(slot))
                fetch[kernel->fetches++] = (taut_fetch){
                    .to = s,
                    .source = (int32_t)slot->source,
                    .places = taut_places_make(slot->gather, slot->one, kernel->members),
                    .data = slot->data};
        }
        kernel->fetch_end[level] = kernel->fetches;
        find_pairs(fetch, level ? kernel->fetch_end[level - 1] : 0, kernel->fetches);
    }
    kernel->fetch = fetch;
    return 0;
}

/* Lanes such that what values and first derivatives need stays in the first-level cache; long
 * tapes, which would have few, gain more from vectors of GOOD lanes than they lose in the
 * second-level one. ROOM bounds the memory of second derivatives. */
static int lanes_of(const taut_statement_kernel *kernel)
{
    enum { GOOD = 128, ROOM = 512 * 1024 };
    taut_tape first = *kernel->tape;
    first.registers = kernel->fetch_end[1] + first.constants + first.level_end[1];
    int64_t lanes = taut_tape_lanes(&first, kernel->members),
            whole = (kernel->members + 15) / 16 * 16;
    if (lanes > 1 && lanes < GOOD)
        lanes = whole < GOOD ? whole : GOOD;
    if (lanes > 16)
        lanes -= lanes % 16; /* the unrolled loops of the interpreter then have no rest */
    while (lanes > 8 && lanes * kernel->tape->registers * (int64_t)sizeof(double) > ROOM)
        lanes -= 8;
    return (int)lanes;
}

int taut_statement_kernel_regs(const taut_statement_kernel *kernel, taut_arena *arena,
                               taut_block_regs *regs)
{
    if (regs->lanes == 0)
        regs->lanes = lanes_of(kernel);
    regs->regs = TAUT_NEW(arena, double, (int64_t)kernel->tape->registers * regs->lanes);
    if (!regs->regs)
        return TAUT_ERROR_MEMORY;
    taut_tape_prepare(kernel->tape, regs->lanes, regs->regs);
    return 0;
}

void taut_statement_kernel_set_parameters(const taut_statement_kernel *kernel,
                                          const double *parameter, taut_block_regs *regs)
{
    for (int32_t s = 0; s < kernel->slots; s++)
        if (kernel->slot[s].source == TAUT_FROM_PARAMETER && !kernel->slot[s].gather)
            taut_lanes_fill(regs->regs + (int64_t)s * regs->lanes, regs->lanes,
                            parameter[kernel->slot[s].one]);
}

/* Are the branches of this block in their registers already? */
static bool has_branches(int level, int64_t first, int n, taut_block_regs *regs)
{
    const int32_t alike = regs->alike[first / regs->lanes];
    const bool known = alike > 0 && alike == regs->loaded && level <= regs->loaded_level;
    if (!known) {
        regs->loaded = n == regs->lanes ? alike : 0;
        regs->loaded_level = level;
    }
    return known;
}

void taut_statement_kernel_load(const taut_statement_kernel *kernel, int level, int64_t first,
                                int n, const taut_inputs *inputs, taut_block_regs *regs)
{
    const taut_fetch *end = kernel->fetch + kernel->fetch_end[level];
    const bool known = regs->fixed && has_branches(level, first, n, regs);
    for (const taut_fetch *f = kernel->fetch; f < end; f++) {
        double *to = regs->regs + (int64_t)f->to * regs->lanes;
        if (known && f->source == TAUT_FROM_BRANCH)
            continue;
        if (f->data) {
            if (!inputs->moving)
                taut_copy(n, f->data + first, to);
            continue;
        }
        const double *from = inputs->from[f->source];
        if (!from)
            continue;
        if (n == 1) {
            *to = from[f->places.gather ? f->places.gather[first]
                                        : f->places.first + f->places.stride * first];
            continue;
        }
        taut_places at = taut_places_from(&f->places, first);
        if (f->pair)
            taut_lanes_load_pairs(to, regs->regs + (int64_t)(++f)->to * regs->lanes,
                                  from + at.first, n);
        else
            taut_lanes_load(to, from, at, n);
    }
    if (kernel->time_slot >= 0)
        taut_lanes_fill(regs->regs + (int64_t)kernel->time_slot * regs->lanes, n, inputs->t);
}

void taut_statement_kernel_run(const taut_statement_kernel *kernel, int level, int64_t first, int n,
                               const taut_inputs *inputs, taut_block_regs *regs)
{
    taut_statement_kernel_load(kernel, level, first, n, inputs, regs);
    taut_tape_run(kernel->tape, level, regs->lanes, n, regs->regs);
}

double taut_statement_kernel_test(const taut_statement_kernel *kernel, int level, int n,
                                  const taut_block_regs *regs)
{
    double total = 0;
    for (int32_t k = 0; k < kernel->watch_end[level]; k++) {
        const double *x = regs->regs + (int64_t)kernel->watch[k] * regs->lanes;
        total += n == 1 ? x[0] * 0 : taut_lanes_test(x, n);
    }
    return total;
}
