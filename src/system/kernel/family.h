/* family.h - springs of a family whose forces fall on points that follow each other, as the links
 * of a chain do: forces are gathered by points instead of scattered by members, and the points are
 * kicked while their forces are in the cache,
 *
 *     lambda_k = g_k / c_k,   a_p = (f_p - sum of lambda G over the members that act on p) / m_p,
 *     v_p += h/2 a_p                                             (Verlet's second half step)
 *     v_p += h/2 a_p,   q_p += h v_p                    (and, if wanted, the next one's first half)
 *
 * in blocks of members. Member k reads and acts on the points k .. k + depth, so that a point whose
 * forces are complete is not read again and can move in place. Inner points, those on which all
 * members act that can, are depth .. members - 1. */
#ifndef TAUT_SYSTEM_KERNEL_FAMILY_H
#define TAUT_SYSTEM_KERNEL_FAMILY_H

#include "base/pool.h"
#include "system/kernel/distance.h"

enum { TAUT_FAMILY_BUFFERS = 8 };

/* What a coordinate of a point gets from one member: sign * buffer[point - shift] */
typedef struct taut_family_term {
    int32_t buffer, shift;
    double sign;
} taut_family_term;

typedef struct taut_family {
    taut_index origin, stride; /* first coordinate of point 0, coordinates of a point */
    int32_t depth, terms;      /* terms: of each coordinate */
    taut_family_term
        *term;     /* [stride][terms], in the order of the local coordinates, or `opposite` */
    bool opposite; /* two terms each, of signs -1 and 1 */
    int32_t buffers;
    int32_t reg[TAUT_FAMILY_BUFFERS]; /* whose products with lambda the buffers hold */
    taut_tape tape;                   /* interpreted: no further than these registers */
    bool is_distance; /* then buffers are not used, but forces as they are in the system */
    taut_distance distance;
} taut_family;

/* Sets kernel->family and, where compiled code can load the members by itself, the binding of the
 * tape; part of taut_statement_kernel_create. 0 or TAUT_ERROR_MEMORY. */
int taut_family_plan(taut_statement_kernel *kernel, taut_arena *arena);

typedef struct taut_family_target {
    const double *stiffness; /* [m]: 1/c */
    double *lambda;          /* [m], or NULL: not wanted */
    const double *base;      /* [n]: forces on inner points so far; may be `force` */
    double *force;         /* [n]: accelerations of inner points; to the others forces are added */
    const double *inverse; /* [n]: 1/m, or NULL: 1 */
    double h, *v;          /* [n]: inner points are kicked by h/2 */
    double *q;             /* [n]: kicked twice, then moved by h; force of inner points is not set,
                              and no force is tested. NULL: they stay */
} taut_family_target;

/* The coordinates of inner points. */
static inline taut_index taut_family_begin(const taut_statement_kernel *kernel)
{
    return kernel->family->origin + kernel->family->stride * kernel->family->depth;
}
static inline taut_index taut_family_end(const taut_statement_kernel *kernel)
{
    return kernel->family->origin + kernel->family->stride * (taut_index)kernel->members;
}

/* All members; NaN when a force may not be finite, else 0; 0 where points move. */
double taut_family_run(const taut_statement_kernel *kernel, const taut_inputs *inputs,
                       taut_block_regs *regs, const taut_family_target *to);

/* The same by several threads, with the same bits: ranges of points, and before them the members
 * that act on the points of two. regs[thread][number] are registers of the kernel; edge: room of
 * TAUT_FAMILY_PARTS times what taut_family_edge says. */
enum { TAUT_FAMILY_PARTS = 64 };
typedef struct taut_family_team {
    taut_pool *pool;
    taut_block_regs *const *regs;
    int32_t number;
    double *edge;
} taut_family_team;
int64_t taut_family_edge(const taut_statement_kernel *kernel);
double taut_family_share(const taut_statement_kernel *kernel, const taut_inputs *inputs,
                         const taut_family_team *team, const taut_family_target *to);

#endif
