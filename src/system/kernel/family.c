/* family.c - see family.h. */
#include "system/kernel/family.h"

#include <string.h>

#include "base/four.h"
#include "base/vectors.h"

/* CARRY: of the last block, for points whose forces come from two blocks; ALIGNED: points at which
 * blocks end, so that vectors of results begin where cache lines do. */
enum { FEWEST = 32, DEEPEST = 4, WIDEST = 3, MOST_TERMS = 4, ALIGNED = 4, BLOCK = 256 };
enum { CARRY = DEEPEST + ALIGNED };

/* ---- once */

static int32_t buffer_of(taut_family *family, int32_t reg)
{
    int32_t b = 0;
    while (b < family->buffers && family->reg[b] != reg)
        b++;
    if (b < TAUT_FAMILY_BUFFERS && b == family->buffers)
        family->reg[family->buffers++] = reg;
    return b;
}

/* Local c as a term of its coordinate; false where it does not fit. */
static bool add_term(const taut_statement_kernel *kernel, taut_family *family, int32_t c,
                     int32_t *count)
{
    const taut_tape *tape = kernel->tape;
    const int32_t first = tape->inputs + tape->constants;
    const int64_t off = (int64_t)kernel->local[c].places.first - family->origin;
    int32_t reg = tape->output[1 + c], at = (int32_t)(off % family->stride);
    double sign = 1;
    for (; reg >= first && tape->code[reg - first].op == TAUT_OP_NEG; sign = -sign)
        reg = tape->code[reg - first].a;
    const int32_t buffer = buffer_of(family, reg);
    if (off / family->stride > DEEPEST || count[at] == MOST_TERMS || buffer == TAUT_FAMILY_BUFFERS)
        return false;
    const int32_t shift = (int32_t)(off / family->stride);
    family->term[at * MOST_TERMS + count[at]++] = (taut_family_term){buffer, shift, sign};
    family->depth = shift > family->depth ? shift : family->depth;
    return true;
}

/* Whether all local coordinates are those of points that follow each other. */
static bool find_terms(const taut_statement_kernel *kernel, taut_family *family)
{
    int32_t count[WIDEST] = {0};
    for (int32_t c = 0; c < kernel->locals; c++) {
        const taut_places *at = &kernel->local[c].places;
        if (at->gather || at->stride != kernel->local[0].places.stride || at->stride < 1 ||
            at->stride > WIDEST)
            return false;
        family->origin = c == 0 || at->first < family->origin ? at->first : family->origin;
        family->stride = at->stride;
    }
    for (int32_t c = 0; c < kernel->locals; c++)
        if (!add_term(kernel, family, c, count))
            return false;
    family->terms = count[0];
    for (int32_t at = 0; at < family->stride; at++) {
        if (count[at] != count[0])
            return false;
        memmove(family->term + at * family->terms, family->term + at * MOST_TERMS,
                (size_t)family->terms * sizeof *family->term);
    }
    return family->terms > 0 && kernel->members > family->depth;
}

/* Members that compiled code can load: everything is the same for all, or at a constant distance.
 * What is the same for all is in its register before a run. */
static int bind(taut_statement_kernel *kernel, taut_arena *arena)
{
    taut_family_binding *binding = TAUT_NEW(arena, taut_family_binding, 1);
    taut_bound_input *input = TAUT_NEW(arena, taut_bound_input, kernel->slots);
    if (!binding || !input)
        return TAUT_ERROR_MEMORY;
    for (int32_t k = 0; k < kernel->slots; k++)
        input[k].array = -1;
    for (int32_t k = 0; k < kernel->fetch_end[1]; k++) {
        const taut_fetch *f = &kernel->fetch[k];
        if (f->data || f->places.gather || f->source == TAUT_FROM_BRANCH ||
            f->source == TAUT_FROM_LAMBDA)
            return 0;
        input[f->to] =
            (taut_bound_input){NULL, f->source, f->places.first, .stride = f->places.stride};
    }
    *binding = (taut_family_binding){.input = input,
                                     .factor = TAUT_FROM_LAMBDA,
                                     .row = kernel->rows.first,
                                     .buffers = kernel->family->buffers,
                                     .reg = kernel->family->reg};
    kernel->tape->family = binding;
    return 0;
}

int taut_family_plan(taut_statement_kernel *kernel, taut_arena *arena)
{
    if (kernel->role != TAUT_ROLE_BOND || kernel->members < FEWEST || kernel->rows.gather ||
        kernel->rows.stride != 1 || kernel->locals == 0)
        return 0;
    taut_family *family = TAUT_NEW(arena, taut_family, 1);
    taut_family_term *term = TAUT_NEW(arena, taut_family_term, WIDEST * MOST_TERMS);
    if (!family || !term)
        return TAUT_ERROR_MEMORY;
    family->term = term;
    if (!find_terms(kernel, family))
        return 0;
    kernel->family = family;
    return bind(kernel, arena);
}

/* ---- loops */

/* to = x y, and of several */
TAUT_HOT static void family_multiply(double *restrict to, const double *restrict x,
                                     const double *restrict y, int n)
{
    TAUT_UNROLLED
    for (int k = 0; k < n; k++)
        to[k] = x[k] * y[k];
}

/* Points of a block: x[stride][terms] begin at the first one. */
typedef struct points {
    int64_t n;
    const double *x[WIDEST * MOST_TERMS];
    double sign[WIDEST * MOST_TERMS];
    const double *base, *inverse;
    double h, *a, *v;
} points;

/* Components of four points as they lie in memory. */
TAUT_INLINED void interleave(const int stride, const taut_four *x, taut_four *to)
{
    if (stride == 1) {
        to[0] = x[0];
    } else if (stride == 2) {
        taut_four even = TAUT_PICK(x[0], x[1], 0, 4, 2, 6), odd = TAUT_PICK(x[0], x[1], 1, 5, 3, 7);
        to[0] = TAUT_PICK(even, odd, 0, 1, 4, 5);
        to[1] = TAUT_PICK(even, odd, 2, 3, 6, 7);
    } else {
        taut_four low = TAUT_PICK(x[0], x[1], 0, 4, 1, 5),
                  middle = TAUT_PICK(x[1], x[2], 1, 5, 2, 6),
                  high = TAUT_PICK(x[0], x[1], 3, 7, 3, 7);
        to[0] = TAUT_PICK(low, x[2], 0, 1, 4, 2);
        to[1] = TAUT_PICK(middle, x[0], 0, 1, 6, 2);
        to[2] = TAUT_PICK(high, x[2], 6, 0, 1, 7);
    }
}

/* Coordinate c of point k, one at a time. */
TAUT_INLINED double gather_one(const points *p, const int stride, int terms, int64_t k, int c)
{
    const int64_t i = stride * k + c;
    double sum = p->sign[c * terms] * p->x[c * terms][k];
    for (int t = c * terms + 1; t < (c + 1) * terms; t++)
        sum += p->sign[t] * p->x[t][k];
    p->a[i] = (p->base[i] - sum) * (p->inverse ? p->inverse[i] : 1);
    p->v[i] += p->h * p->a[i];
    return p->a[i];
}

/* Returns the sum of all accelerations, which is finite when they are. */
TAUT_INLINED double gather(const points *p, const int stride, const int terms, const bool masses)
{
    const double *x[WIDEST * MOST_TERMS], *base = p->base, *inverse = p->inverse, h = p->h;
    double sign[WIDEST * MOST_TERMS], *a = p->a, *v = p->v;
    taut_four all = {0};
    int64_t k = 0;
    for (int t = 0; t < stride * terms; t++) {
        x[t] = p->x[t];
        sign[t] = p->sign[t];
    }
    for (; k + ALIGNED <= p->n; k += ALIGNED) {
        taut_four sum[WIDEST], force[WIDEST];
        for (int c = 0; c < stride; c++) {
            sum[c] = sign[c * terms] * *(const taut_four *)(x[c * terms] + k);
            for (int t = c * terms + 1; t < (c + 1) * terms; t++)
                sum[c] += sign[t] * *(const taut_four *)(x[t] + k);
        }
        interleave(stride, sum, force);
        for (int c = 0; c < stride; c++) {
            const int64_t i = stride * k + ALIGNED * c;
            force[c] = *(const taut_four *)(base + i) - force[c];
            if (masses)
                force[c] *= *(const taut_four *)(inverse + i);
            *(taut_four *)(a + i) = force[c];
            *(taut_four *)(v + i) += h * force[c];
            all += force[c];
        }
    }
    double sum = (all[0] + all[1]) + (all[2] + all[3]);
    for (; k < p->n; k++)
        for (int c = 0; c < stride; c++)
            sum += gather_one(p, stride, terms, k, c);
    return sum;
}

TAUT_INLINED double gather_stride(const points *p, const int stride, int terms)
{
    return terms != 2   ? gather(p, stride, terms, p->inverse)
           : p->inverse ? gather(p, stride, 2, true)
                        : gather(p, stride, 2, false);
}

TAUT_HOT static double family_gather(const points *p, int stride, int terms)
{
    return stride == 1   ? gather_stride(p, 1, terms)
           : stride == 2 ? gather_stride(p, 2, terms)
                         : gather_stride(p, 3, terms);
}

/* ---- blocks */

typedef struct block {
    const taut_statement_kernel *kernel;
    const taut_family *family;
    const taut_inputs *inputs;
    taut_block_regs *regs;
    const taut_family_target *to;
    int64_t first; /* member at room[.][CARRY] */
    double room[TAUT_FAMILY_BUFFERS][CARRY + BLOCK];
} block;

/* lambda, and what the buffers hold, of n members. */
static void fill(block *b, int n)
{
    const taut_statement_kernel *kernel = b->kernel;
    const taut_family *family = b->family;
    taut_block_regs *regs = b->regs;
    const taut_index row = kernel->rows.first + (taut_index)b->first;
    if (kernel->tape->native_family) {
        double *to[1 + TAUT_FAMILY_BUFFERS] = {b->to->lambda};
        for (int32_t k = 0; k < family->buffers; k++)
            to[1 + k] = b->room[k] + CARRY;
        if (kernel->time_slot >= 0)
            regs->regs[(int64_t)kernel->time_slot * regs->lanes] = b->inputs->t;
        kernel->tape->native_family(b->inputs->from, regs->regs, regs->lanes, (long)b->first, n,
                                    to);
        return;
    }
    double *lambda = b->to->lambda + row;
    taut_statement_kernel_run(kernel, 1, b->first, n, b->inputs, regs);
    family_multiply(lambda, regs->regs + (int64_t)kernel->tape->output[0] * regs->lanes,
                    b->to->stiffness + row, n);
    for (int32_t k = 0; k < family->buffers; k++)
        family_multiply(b->room[k] + CARRY, regs->regs + (int64_t)family->reg[k] * regs->lanes,
                        lambda, n);
}

/* Inner points begin .. end-1; returns the sum of their accelerations. */
static double gather_points(block *b, int64_t begin, int64_t end)
{
    const taut_family *family = b->family;
    const taut_family_target *to = b->to;
    const int64_t at = family->origin + family->stride * begin;
    points p;
    p.n = end - begin;
    p.base = to->base + at;
    p.inverse = to->inverse ? to->inverse + at : NULL;
    p.h = to->h;
    p.a = to->force + at;
    p.v = to->v + at;
    for (int32_t t = 0; t < family->stride * family->terms; t++) {
        const taut_family_term *term = &family->term[t];
        p.x[t] = b->room[term->buffer] + CARRY + (begin - b->first) - term->shift;
        p.sign[t] = term->sign;
    }
    return family_gather(&p, family->stride, family->terms);
}

/* Outer points: forces are added; returns the sum of what was added. */
static double add_points(block *b, int64_t begin, int64_t end)
{
    const taut_family *family = b->family;
    double sum = 0;
    for (int64_t point = begin; point < end; point++)
        for (int32_t t = 0; t < family->stride * family->terms; t++) {
            const taut_family_term *term = &family->term[t];
            const int64_t member = point - term->shift;
            if (member < 0 || member >= b->kernel->members)
                continue;
            const double x = term->sign * b->room[term->buffer][CARRY + (member - b->first)];
            b->to->force[family->origin + family->stride * point + t / family->terms] -= x;
            sum += x;
        }
    return sum;
}

double taut_family_run(const taut_statement_kernel *kernel, const taut_inputs *inputs,
                       taut_block_regs *regs, const taut_family_target *to)
{
    block b; /* its room is not set to zero */
    b.kernel = kernel;
    b.family = kernel->family;
    b.inputs = inputs;
    b.regs = regs;
    b.to = to;
    b.first = 0;
    const int64_t members = kernel->members,
                  size = kernel->tape->native_family || regs->lanes > BLOCK ? BLOCK : regs->lanes;
    int64_t point = kernel->family->depth;
    double sum = 0;
    for (int64_t end; b.first < members; b.first = end) {
        end = members - b.first < size ? members : b.first + size;
        const int n = (int)(end - b.first);
        fill(&b, n);
        if (b.first == 0)
            sum += add_points(&b, 0, b.family->depth);
        const int64_t last = end == members ? end : end - end % ALIGNED;
        if (point % ALIGNED) { /* once */
            sum += gather_points(&b, point, ALIGNED);
            point = ALIGNED;
        }
        sum += gather_points(&b, point, last);
        point = last;
        if (end == members)
            sum += add_points(&b, members, members + b.family->depth);
        for (int32_t k = 0; k < b.family->buffers; k++)
            memmove(b.room[k], b.room[k] + n, CARRY * sizeof(double));
    }
    return sum - sum;
}
