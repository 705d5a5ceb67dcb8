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
    family->opposite = count[0] == 2;
    for (int32_t at = 0; at < family->stride; at++) {
        if (count[at] != count[0])
            return false;
        taut_family_term *term = family->term + at * family->terms;
        memmove(term, family->term + at * MOST_TERMS, (size_t)family->terms * sizeof *term);
        family->opposite = family->opposite && term[0].sign != term[1].sign;
        if (family->opposite && term[0].sign > 0) {
            const taut_family_term other = term[0];
            term[0] = term[1];
            term[1] = other;
        }
    }
    return family->terms > 0 && kernel->members > family->depth;
}

/* The interpreter need not run what follows the last value that is used: signs of other forces. */
static void trim(const taut_statement_kernel *kernel, taut_family *family)
{
    const taut_tape *tape = kernel->tape;
    int32_t last = tape->output[0];
    for (int32_t b = 0; b < family->buffers; b++)
        last = family->reg[b] > last ? family->reg[b] : last;
    family->tape = *tape;
    while (family->tape.level_end[1] > 0 && tape->code[family->tape.level_end[1] - 1].to > last)
        family->tape.level_end[1]--;
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
    trim(kernel, family);
    family->is_distance = taut_distance_find(kernel, family, &family->distance);
    return bind(kernel, arena);
}

/* ---- loops */

/* to = x y */
TAUT_HOT static void family_multiply(double *restrict to, const double *restrict x,
                                     const double *restrict y, int n)
{
    TAUT_UNROLLED
    for (int k = 0; k < n; k++)
        to[k] = x[k] * y[k];
}

/* lambda = g stiffness, x = lambda a, y = lambda b: points in a plane */
TAUT_HOT static void family_multiply_pair(double *restrict lambda, double *restrict x,
                                          double *restrict y, const double *restrict g,
                                          const double *restrict stiffness,
                                          const double *restrict a, const double *restrict b, int n)
{
    for (int k = 0; k < n; k++) {
        lambda[k] = g[k] * stiffness[k];
        x[k] = a[k] * lambda[k];
        y[k] = b[k] * lambda[k];
    }
}

/* x[stride][terms] of the point at the first member of a block, everything else of point 0. */
typedef struct points {
    const double *x[WIDEST * MOST_TERMS];
    double sign[WIDEST * MOST_TERMS];
    bool opposite; /* as of the family */
    const double *base, *inverse;
    double h, *a, *v, *q;
} points;

/* Points of a block: how many, and where they begin in x[.] and in the coordinates. */
typedef struct range {
    int64_t n, first, at;
} range;

/* What is left to the compiler, since it is known for all points. */
typedef struct form {
    int stride, terms;
    bool opposite, masses, moves;
} form;

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
TAUT_INLINED double gather_one(const points *p, const form f, int64_t k, int c)
{
    const int64_t i = f.stride * k + c;
    double sum = p->sign[c * f.terms] * p->x[c * f.terms][k];
    for (int t = c * f.terms + 1; t < (c + 1) * f.terms; t++)
        sum += p->sign[t] * p->x[t][k];
    const double a = (p->base[i] - sum) * (f.masses ? p->inverse[i] : 1), kick = p->h / 2 * a;
    p->v[i] += kick;
    if (f.moves) {
        p->v[i] += kick;
        p->q[i] += p->h * p->v[i];
    } else
        p->a[i] = a;
    return a;
}

/* Four points from k on; their accelerations are added to *all, unless they move. */
TAUT_INLINED void gather_four(const points *p, const form f, int64_t k, taut_four *all)
{
    taut_four sum[WIDEST], force[WIDEST];
    for (int c = 0; c < f.stride; c++) {
        const int t0 = c * f.terms;
        const taut_four x = *(const taut_four *)(p->x[t0] + k);
        if (f.opposite) {
            sum[c] = x - *(const taut_four *)(p->x[t0 + 1] + k);
            continue;
        }
        sum[c] = -p->sign[t0] * x;
        for (int t = t0 + 1; t < t0 + f.terms; t++)
            sum[c] -= p->sign[t] * *(const taut_four *)(p->x[t] + k);
    }
    interleave(f.stride, sum, force);
    for (int c = 0; c < f.stride; c++) {
        const int64_t i = f.stride * k + ALIGNED * c;
        taut_four a = *(const taut_four *)(p->base + i) + force[c];
        if (f.masses)
            a *= *(const taut_four *)(p->inverse + i);
        const taut_four kick = p->h / 2 * a, v = *(taut_four *)(p->v + i) + kick;
        if (f.moves) {
            const taut_four next = v + kick;
            *(taut_four *)(p->v + i) = next;
            *(taut_four *)(p->q + i) += p->h * next;
        } else {
            *(taut_four *)(p->a + i) = a;
            *(taut_four *)(p->v + i) = v;
            *all += a;
        }
    }
}

/* Returns the sum of all accelerations, which is finite when they are; 0 where points move. */
TAUT_INLINED double gather(const points *from, const range r, const form f)
{
    points p = *from; /* which stores do not alter */
    taut_four all = {0};
    int64_t k = 0;
    for (int t = 0; t < f.stride * f.terms; t++)
        p.x[t] += r.first;
    p.base += r.at;
    p.inverse = f.masses ? p.inverse + r.at : NULL;
    p.a += r.at;
    p.v += r.at;
    p.q = f.moves ? p.q + r.at : NULL;
    TAUT_UNROLLED
    for (; k + ALIGNED <= r.n; k += ALIGNED)
        gather_four(&p, f, k, &all);
    double sum = (all[0] + all[1]) + (all[2] + all[3]);
    for (; k < r.n; k++)
        for (int c = 0; c < f.stride; c++)
            sum += gather_one(&p, f, k, c);
    return f.moves ? 0 : sum;
}

TAUT_INLINED double gather_stride(const points *p, const range r, const int stride, int terms)
{
    if (!p->opposite)
        return gather(p, r, (form){stride, terms, false, p->inverse, p->q});
    if (p->q)
        return p->inverse ? gather(p, r, (form){stride, 2, true, true, true})
                          : gather(p, r, (form){stride, 2, true, false, true});
    return p->inverse ? gather(p, r, (form){stride, 2, true, true, false})
                      : gather(p, r, (form){stride, 2, true, false, false});
}

TAUT_HOT static double family_gather(const points *p, const range *r, int stride, int terms)
{
    return stride == 1   ? gather_stride(p, *r, 1, terms)
           : stride == 2 ? gather_stride(p, *r, 2, terms)
                         : gather_stride(p, *r, 3, terms);
}

/* ---- blocks */

typedef struct block {
    const taut_statement_kernel *kernel;
    const taut_family *family;
    const taut_inputs *inputs;
    taut_block_regs *regs;
    const taut_family_target *to;
    points points;
    int64_t first;                                   /* member at room[.][CARRY] */
    double room[TAUT_FAMILY_BUFFERS][CARRY + BLOCK]; /* of distances: [CARRY + BLOCK][stride] */
    double unwanted[BLOCK];                          /* lambda */
} block;

/* Of distances: the whole room. */
static double *distances(block *b)
{
    return (double *)b->room;
}

/* Where what a term takes from a member is: x[stride step] of the next ones. */
static double *place_of(block *b, const taut_family_term *term, int64_t member)
{
    const int64_t at = CARRY + (member - b->first);
    return b->family->is_distance ? distances(b) + b->family->stride * at + term->buffer
                                  : b->room[term->buffer] + at;
}

static void fill_distances(block *b, int n)
{
    const taut_family *family = b->family;
    const taut_distance *distance = &family->distance;
    const taut_index row = b->kernel->rows.first + (taut_index)b->first;
    const double *q = b->inputs->q + family->stride * b->first,
                 rest = b->regs->regs[(int64_t)distance->rest * b->regs->lanes];
    taut_distance_run((int)family->stride, n, q + distance->far, q + distance->near,
                      distance->negative ? -rest : rest, b->to->stiffness + row,
                      b->to->lambda ? b->to->lambda + row : NULL,
                      distances(b) + family->stride * CARRY);
}

/* lambda, and what the buffers hold, of n members. */
static void fill(block *b, int n)
{
    const taut_statement_kernel *kernel = b->kernel;
    const taut_family *family = b->family;
    taut_block_regs *regs = b->regs;
    const taut_index row = kernel->rows.first + (taut_index)b->first;
    double *lambda = b->to->lambda ? b->to->lambda + row : b->unwanted;
    if (family->is_distance) {
        fill_distances(b, n);
        return;
    }
    if (kernel->tape->native_family) {
        double *to[1 + TAUT_FAMILY_BUFFERS] = {lambda};
        for (int32_t k = 0; k < family->buffers; k++)
            to[1 + k] = b->room[k] + CARRY;
        if (kernel->time_slot >= 0)
            regs->regs[(int64_t)kernel->time_slot * regs->lanes] = b->inputs->t;
        kernel->tape->native_family(b->inputs->from, regs->regs, regs->lanes, (long)b->first, n,
                                    to);
        return;
    }
    const double *x[1 + TAUT_FAMILY_BUFFERS];
    taut_statement_kernel_load(kernel, 1, b->first, n, b->inputs, regs);
    taut_tape_run(kernel->tape->native ? kernel->tape : &family->tape, 1, regs->lanes, n,
                  regs->regs);
    x[0] = regs->regs + (int64_t)kernel->tape->output[0] * regs->lanes;
    for (int32_t k = 0; k < family->buffers; k++)
        x[1 + k] = regs->regs + (int64_t)family->reg[k] * regs->lanes;
    if (family->buffers == 2) {
        family_multiply_pair(lambda, b->room[0] + CARRY, b->room[1] + CARRY, x[0],
                             b->to->stiffness + row, x[1], x[2], n);
        return;
    }
    family_multiply(lambda, x[0], b->to->stiffness + row, n);
    for (int32_t k = 0; k < family->buffers; k++)
        family_multiply(b->room[k] + CARRY, x[1 + k], lambda, n);
}

static void find_points(block *b)
{
    const taut_family *family = b->family;
    const taut_family_target *to = b->to;
    points *p = &b->points;
    p->opposite = family->opposite;
    p->base = to->base + family->origin;
    p->inverse = to->inverse ? to->inverse + family->origin : NULL;
    p->h = to->h;
    p->a = to->force + family->origin;
    p->v = to->v + family->origin;
    p->q = to->q ? to->q + family->origin : NULL;
    for (int32_t t = 0; t < family->stride * family->terms; t++) {
        p->x[t] = place_of(b, &family->term[t], b->first - family->term[t].shift);
        p->sign[t] = family->term[t].sign;
    }
}

/* Inner points begin .. end-1; returns the sum of their accelerations. Distances go coordinate by
 * coordinate. */
static double gather_points(block *b, int64_t begin, int64_t end)
{
    const taut_family *family = b->family;
    const int64_t each = family->is_distance ? family->stride : 1;
    const range r = {each * (end - begin), each * (begin - b->first), family->stride * begin};
    return family_gather(&b->points, &r, each > 1 ? 1 : (int)family->stride, family->terms);
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
            const double x = term->sign * *place_of(b, term, member);
            b->to->force[family->origin + family->stride * point + t / family->terms] -= x;
            sum += x;
        }
    return sum;
}

static void prepare(block *b, const taut_statement_kernel *kernel, const taut_inputs *inputs,
                    taut_block_regs *regs, const taut_family_target *to, int64_t first)
{
    b->kernel = kernel; /* the room is not set to zero */
    b->family = kernel->family;
    b->inputs = inputs;
    b->regs = regs;
    b->to = to;
    b->first = first;
    find_points(b);
}

/* What the block has of n members from `at` on: to `edge`, or from there. */
static void keep_edge(block *b, int64_t at, double *edge)
{
    const int64_t n = b->family->depth, stride = b->family->stride;
    if (b->family->is_distance)
        taut_copy(n * stride, distances(b) + stride * (CARRY + at), edge);
    for (int32_t k = 0; k < b->family->buffers && !b->family->is_distance; k++)
        taut_copy(n, b->room[k] + CARRY + at, edge + k * n);
}

static void take_edge(block *b, int64_t at, const double *edge)
{
    const int64_t n = b->family->depth, stride = b->family->stride;
    if (b->family->is_distance)
        taut_copy(n * stride, edge, distances(b) + stride * (CARRY + at));
    for (int32_t k = 0; k < b->family->buffers && !b->family->is_distance; k++)
        taut_copy(n, edge + k * n, b->room[k] + CARRY + at);
}

static void carry_on(block *b, int n)
{
    const size_t stride = (size_t)b->family->stride;
    for (int32_t k = 0; k < b->family->buffers && !b->family->is_distance; k++)
        memmove(b->room[k], b->room[k] + n, CARRY * sizeof(double));
    if (b->family->is_distance)
        memmove(distances(b), distances(b) + stride * (size_t)n, stride * CARRY * sizeof(double));
}

/* Members and points from b->first to `until`; `after`: the last members of the range are there
 * (taut_family_share), and their points may not be read any more; NULL: none are. */
static double run_range(block *b, int64_t until, const double *after)
{
    const int64_t members = b->kernel->members, depth = b->family->depth,
                  size = b->family->is_distance || b->kernel->tape->native_family ||
                                 b->regs->lanes > BLOCK
                             ? BLOCK
                             : b->regs->lanes;
    int64_t point = b->first == 0 ? depth : b->first;
    double sum = 0;
    for (int64_t end; b->first < until; b->first = end) {
        end = until - b->first < size ? until : b->first + size;
        if (after && end < until && until - end <= depth) /* so that some are left to be formed */
            end = b->first + size / 2;
        const int n = (int)(end - b->first), left = end == until && after ? (int)depth : 0;
        fill(b, n - left);
        if (left > 0)
            take_edge(b, n - left, after);
        if (b->first == 0)
            sum += add_points(b, 0, depth);
        const int64_t last = end == until ? end : end - end % ALIGNED;
        if (point % ALIGNED) { /* once */
            sum += gather_points(b, point, ALIGNED);
            point = ALIGNED;
        }
        sum += gather_points(b, point, last);
        point = last;
        if (end == members) {
            sum += add_points(b, members, members + depth);
            break;
        }
        carry_on(b, n);
    }
    return sum - sum;
}

double taut_family_run(const taut_statement_kernel *kernel, const taut_inputs *inputs,
                       taut_block_regs *regs, const taut_family_target *to)
{
    block b;
    prepare(&b, kernel, inputs, regs, to, 0);
    return run_range(&b, kernel->members, NULL);
}

/* ---- several threads */

int64_t taut_family_edge(const taut_statement_kernel *kernel)
{
    const taut_family *family = kernel->family;
    return (int64_t)family->depth * (family->is_distance ? family->stride : family->buffers);
}

typedef struct share {
    const taut_statement_kernel *kernel;
    const taut_inputs *inputs;
    const taut_family_team *team;
    const taut_family_target *to;
    int64_t each; /* members of a range */
    double odd[TAUT_FAMILY_PARTS];
} share;

static double *edge_of(const share *s, int64_t part)
{
    return s->team->edge + part * taut_family_edge(s->kernel);
}

/* The members before the first one of a range, which act on points of two. */
static void run_edge(const share *s, int64_t part)
{
    block b;
    prepare(&b, s->kernel, s->inputs, &s->team->regs[0][s->team->number], s->to,
            part * s->each - s->kernel->family->depth);
    fill(&b, (int)s->kernel->family->depth);
    keep_edge(&b, 0, edge_of(s, part));
}

static void run_share(void *context, int64_t part, int thread)
{
    share *s = context;
    const int64_t members = s->kernel->members, first = part * s->each, until = first + s->each;
    block b;
    prepare(&b, s->kernel, s->inputs, &s->team->regs[thread][s->team->number], s->to, first);
    if (first > 0)
        take_edge(&b, -(int64_t)s->kernel->family->depth, edge_of(s, part));
    s->odd[part] =
        until < members ? run_range(&b, until, edge_of(s, part + 1)) : run_range(&b, members, NULL);
}

double taut_family_share(const taut_statement_kernel *kernel, const taut_inputs *inputs,
                         const taut_family_team *team, const taut_family_target *to)
{
    const int64_t members = kernel->members, even = members / TAUT_FAMILY_PARTS / BLOCK * BLOCK,
                  each = even > 4 * BLOCK ? even : 4 * BLOCK;
    share s = {.kernel = kernel, .inputs = inputs, .team = team, .to = to, .each = each};
    int64_t parts = members / each;
    if (parts > TAUT_FAMILY_PARTS)
        parts = TAUT_FAMILY_PARTS;
    s.each = parts > 0 ? (members / parts + BLOCK - 1) / BLOCK * BLOCK : members;
    parts = (members - 1) / s.each + 1;
    double odd = 0;
    for (int64_t k = 1; k < parts; k++)
        run_edge(&s, k);
    taut_pool_run(team->pool, parts, run_share, &s);
    for (int64_t k = 0; k < parts; k++)
        odd += s.odd[k];
    return odd;
}
