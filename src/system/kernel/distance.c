/* distance.c - see distance.h. */
#include "system/kernel/distance.h"

#include <math.h>

#include "base/four.h"
#include "system/kernel/family.h"

/* ---- once */

/* The instruction that writes a register; one of no operation for inputs and constants. */
static taut_instruction made_by(const taut_tape *tape, int32_t reg)
{
    const int32_t first = tape->inputs + tape->constants;
    return reg >= first ? tape->code[reg - first] : (taut_instruction){.op = TAUT_OP_COUNT};
}

/* The same number for all members, which is in its register before a run. */
static bool is_uniform(const taut_statement_kernel *kernel, int32_t reg)
{
    const taut_tape *tape = kernel->tape;
    if (reg >= tape->inputs)
        return reg < tape->inputs + tape->constants;
    return kernel->slot[reg].source == TAUT_FROM_PARAMETER && !kernel->slot[reg].gather;
}

/* The place in q of a member's coordinate that an input is; -1: it is none. */
static taut_index place_of(const taut_statement_kernel *kernel, int32_t reg)
{
    for (int32_t k = 0; k < kernel->fetch_end[1]; k++)
        if (kernel->fetch[k].to == reg && kernel->fetch[k].source == TAUT_FROM_Q)
            return kernel->fetch[k].places.first;
    return -1;
}

/* d[0..stride-1] of |d|^2, a sum from left to right. */
static bool find_components(const taut_tape *tape, int32_t sum, int stride, int32_t *d)
{
    for (int c = stride - 1; c >= 0; c--) {
        const taut_instruction add = made_by(tape, sum);
        if (c > 0 && add.op != TAUT_OP_ADD)
            return false;
        const taut_instruction square = made_by(tape, c > 0 ? add.b : sum);
        if (square.op != TAUT_OP_MUL || square.a != square.b)
            return false;
        d[c] = square.a;
        sum = add.a;
    }
    return true;
}

/* Do the forces on coordinate c have the factor d / |d|, with 0 where |d| = 0? */
static bool has_force(const taut_tape *tape, const taut_family *family, int c, int32_t d,
                      int32_t root)
{
    const taut_family_term *term = family->term + 2 * (int64_t)c;
    const taut_instruction force = made_by(tape, family->reg[term[0].buffer]);
    const taut_instruction over = made_by(tape, force.a == d ? force.b : force.a);
    return term[0].buffer == c && term[1].buffer == c && term[0].shift == family->term[0].shift &&
           term[1].shift == family->term[1].shift && force.op == TAUT_OP_MUL &&
           (force.a == d || force.b == d) && over.op == TAUT_OP_DIVZ && over.b == root &&
           over.a >= tape->inputs && over.a < tape->inputs + tape->constants &&
           tape->constant[over.a - tape->inputs] == 1;
}

bool taut_distance_find(const taut_statement_kernel *kernel, const taut_family *family,
                        taut_distance *distance)
{
    const taut_tape *tape = kernel->tape;
    const int stride = (int)family->stride;
    const taut_instruction g = made_by(tape, tape->output[0]);
    const bool plus = g.op == TAUT_OP_ADD, last = plus && made_by(tape, g.a).op != TAUT_OP_ROOT;
    const int32_t root = last ? g.b : g.a, rest = last ? g.a : g.b;
    int32_t d[3];
    if (!family->opposite || stride < 2 || family->buffers != stride ||
        (!plus && g.op != TAUT_OP_SUB) || made_by(tape, root).op != TAUT_OP_ROOT ||
        !is_uniform(kernel, rest) || !find_components(tape, made_by(tape, root).a, stride, d))
        return false;
    for (int c = 0; c < stride; c++) {
        const taut_instruction minus = made_by(tape, d[c]);
        if (minus.op != TAUT_OP_SUB || !has_force(tape, family, c, d[c], root))
            return false;
        const taut_index far = place_of(kernel, minus.a) - c, near = place_of(kernel, minus.b) - c;
        if (c == 0)
            *distance = (taut_distance){far, near, rest, plus};
        if (far < 0 || near < 0 || far != distance->far || near != distance->near)
            return false;
    }
    return (distance->far - family->origin) % stride == 0;
}

/* ---- loops */

/* |d|^2 of four members from the squares of d as they lie in memory; in a plane in the order 0, 2,
 * 1, 3, which spares vectors that cross halves. */
TAUT_INLINED void add_squares(const int stride, const taut_four *x, taut_four *sum)
{
    if (stride == 2) {
        *sum = TAUT_PICK(x[0], x[1], 0, 4, 2, 6) + TAUT_PICK(x[0], x[1], 1, 5, 3, 7);
    } else {
        const taut_four a = TAUT_PICK(x[0], x[1], 0, 3, 6, 6),
                        b = TAUT_PICK(x[0], x[1], 1, 4, 7, 7),
                        c = TAUT_PICK(x[0], x[1], 2, 5, 5, 5);
        *sum = TAUT_PICK(a, x[2], 0, 1, 2, 5) + TAUT_PICK(b, x[2], 0, 1, 2, 6) +
               TAUT_PICK(c, x[2], 0, 1, 4, 7);
    }
}

/* From members in memory to this order, and back. */
TAUT_INLINED void reorder(const int stride, taut_four *x)
{
    if (stride == 2)
        *x = TAUT_PICK(*x, *x, 0, 2, 1, 3);
}

/* to[] *= the number of its member. */
TAUT_INLINED void multiply(const int stride, const taut_four *x, taut_four *to)
{
    if (stride == 2) {
        to[0] *= TAUT_PICK(*x, *x, 0, 0, 2, 2);
        to[1] *= TAUT_PICK(*x, *x, 1, 1, 3, 3);
    } else {
        to[0] *= TAUT_PICK(*x, *x, 0, 0, 0, 1);
        to[1] *= TAUT_PICK(*x, *x, 1, 1, 2, 2);
        to[2] *= TAUT_PICK(*x, *x, 2, 3, 3, 3);
    }
}

/* Members k .. k + 3. */
TAUT_INLINED void run_four(const int stride, int k, const double *far, const double *near,
                           double minus, const double *stiffness, double *lambda, double *force)
{
    const taut_four zero = {0};
    taut_four d[3], x[3], sum, strength = *(const taut_four *)(stiffness + k);
    for (int c = 0; c < stride; c++) {
        d[c] = *(const taut_four *)(far + stride * k + 4 * c) -
               *(const taut_four *)(near + stride * k + 4 * c);
        x[c] = d[c] * d[c];
    }
    add_squares(stride, x, &sum);
    const taut_four root = {sqrt(sum[0]), sqrt(sum[1]), sqrt(sum[2]), sqrt(sum[3])};
    const taut_four over = (taut_four)((taut_four_mask)(1 / root) & (root != zero));
    reorder(stride, &strength);
    taut_four tension = (root + minus) * strength;
    multiply(stride, &over, d);
    multiply(stride, &tension, d);
    for (int c = 0; c < stride; c++)
        *(taut_four *)(force + stride * k + 4 * c) = d[c];
    reorder(stride, &tension);
    if (lambda)
        *(taut_four *)(lambda + k) = tension;
}

TAUT_INLINED void run_one(const int stride, int k, const double *far, const double *near,
                          double minus, const double *stiffness, double *lambda, double *force)
{
    double d[3], sum = 0;
    for (int c = 0; c < stride; c++) {
        d[c] = far[stride * k + c] - near[stride * k + c];
        sum = c == 0 ? d[c] * d[c] : sum + d[c] * d[c];
    }
    const double root = sqrt(sum), over = root == 0 ? 0 : 1 / root,
                 tension = (root + minus) * stiffness[k];
    for (int c = 0; c < stride; c++)
        force[stride * k + c] = d[c] * over * tension;
    if (lambda)
        lambda[k] = tension;
}

TAUT_INLINED void run_all(const int stride, int n, const double *far, const double *near,
                          double minus, const double *stiffness, double *lambda, double *force)
{
    int k = 0;
    TAUT_UNROLLED
    for (; k + 4 <= n; k += 4)
        run_four(stride, k, far, near, minus, stiffness, lambda, force);
    for (; k < n; k++)
        run_one(stride, k, far, near, minus, stiffness, lambda, force);
}

TAUT_HOT static void distances(int stride, int n, const double *far, const double *near,
                               double minus, const double *stiffness, double *lambda, double *force)
{
    if (stride == 2 && lambda)
        run_all(2, n, far, near, minus, stiffness, lambda, force);
    else if (stride == 2)
        run_all(2, n, far, near, minus, stiffness, NULL, force);
    else
        run_all(3, n, far, near, minus, stiffness, lambda, force);
}

void taut_distance_run(int stride, int n, const double *far, const double *near, double length,
                       const double *stiffness, double *lambda, double *force)
{
    distances(stride, n, far, near, -length, stiffness, lambda, force);
}
