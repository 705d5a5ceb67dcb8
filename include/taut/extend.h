/* extend.h - extension points of Taut: systems made in C. <taut/taut.h> includes it. */
#ifndef TAUT_EXTEND_H
#define TAUT_EXTEND_H

#include <taut/taut.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A system from C functions. Each returns 0, >0 "cannot evaluate here, try a smaller step", <0
 * "stop": then none is called again by that solver, projection or context, which fails with
 * TAUT_ERROR_STOPPED. NaN counts as >0. Only `force` and, with bonds, `bond` are required; what
 * is NULL is formed by coloured differences (where functions vary over lengths of the size of
 * the state: first derivatives to about 1e-10, second ones to 1e-9), and the system then lacks
 * TAUT_CAN_DERIVATIVES. Functions must be re-entrant. */
typedef struct taut_callbacks {
    size_t size;
    taut_index coordinates, bonds;
    const double *mass;                                      /* diagonal, [n]; NULL for 1 */
    const double *compliance;                                /* [m]; NULL for rigid */
    const double *damping;                                   /* tau, [m]; NULL for 0 */
    const char *const *coordinate_names, *const *bond_names; /* NULL for q[1].. and bond[1].. */
    const double *start_q, *start_v;                         /* [n]; NULL for 0 */
    /* sparsity of G by rows (start[m+1], column[]); NULL for dense */
    const taut_index *jacobian_start, *jacobian_column;
    int (*force)(void *user, double t, const double *q, const double *v, double *f);
    int (*bond)(void *user, double t, const double *q, double *g);
    /* on the pattern */
    int (*jacobian)(void *user, double t, const double *q, double *entries);
    int (*gamma)(void *user, double t, const double *q, const double *v, double *gamma); /* [m] */
    int (*energy)(void *user, double t, const double *q, double *potential);
    /* dense n x n, symmetric; replaces mass */
    int (*mass_matrix)(void *user, double t, const double *q, double *mass);
    /* f or g depends on t explicitly. Where this is false it is found out at the start: say it when
     * they depend on t only later (switches). */
    bool time_dependent;
    /* f depends on v. Where this is false it is found out at the start: say it when f depends on
     * v only elsewhere (brakes, contacts). */
    bool velocity_dependent;
    void *user;
} taut_callbacks;
TAUT_API int taut_system_from_callbacks(const taut_callbacks *callbacks,
                                        const taut_allocator *allocator, taut_system **system,
                                        taut_error *error);

/* Particles and bonds, a family at a time. Indices are from 0; coordinates are named p[1].x,
 * ...; bonds <name>[1], ... */
typedef struct taut_builder taut_builder;
TAUT_API int taut_builder_create(int dimension, taut_index particles,
                                 const taut_allocator *allocator, taut_builder **builder,
                                 taut_error *error);
TAUT_API void taut_builder_destroy(taut_builder *builder);
TAUT_API int taut_builder_mass(taut_builder *builder, const double *mass); /* [particles] */
TAUT_API int taut_builder_start(taut_builder *builder, const double *p,
                                const double *v); /* [particles*dimension] each, v may be NULL */
/* [dimension] */
TAUT_API int taut_builder_gravity(taut_builder *builder, const double *acceleration);
/* Distance bonds |p_i - p_j| - rest; stiffness[k] == 0 or stiffness == NULL is rigid. second[k]
 * < 0 joins particle first[k] to anchor[k*dimension..]. */
TAUT_API int taut_builder_distances(taut_builder *builder, const char *name, taut_index count,
                                    const taut_index *first, const taut_index *second,
                                    const double *anchor, const double *rest,
                                    const double *stiffness);
/* A potential stiffness/2 (angle(i,j,k) - rest)^2 for each triple; soft, not a bond. */
TAUT_API int taut_builder_angles(taut_builder *builder, taut_index count, const taut_index *triples,
                                 const double *rest, const double *stiffness);
TAUT_API int taut_builder_finish(taut_builder *builder, taut_system **system, taut_error *error);

/* A system from a function that maps a state over a time H: z(t) -> z(t + H). 0, >0 "cannot from
 * here", <0 "stop". Arrays are copied. */
typedef struct taut_black_box {
    size_t size;
    taut_index variables, observables;
    /* [observables]: variables that keep their values in projections */
    const taut_index *observable;
    const double *start;      /* [variables]; NULL for 0 */
    const char *const *names; /* [variables]; NULL for z[1].. */
    double horizon;           /* H of projections; 0: --horizon says it */
    int (*advance)(void *user, double t, double H, double *z);
    void *user;
    /* For a simulator with an internal state next to z (history, random numbers), of `memory`
     * bytes: save writes it, restore sets it; 0, else stop. save is called when the system is made
     * and after calls of advance; restore before a call that does not continue the latest one, with
     * the internal state that was saved at its state, or, where that state is new, with that of the
     * beginning. NULL: an answer depends on (t, H, z) alone. */
    size_t memory;
    int (*save)(void *user, void *memory);
    int (*restore)(void *user, const void *memory);
    /* advance may be called by several threads at the same time (option `copies`) */
    bool threads;
} taut_black_box;
TAUT_API int taut_system_from_flow(const taut_black_box *box, const taut_allocator *allocator,
                                   taut_system **system, taut_error *error);

/* An explicit Runge-Kutta method as numbers:
 *
 *     k_i = f(t + c_i h, y + h sum_{j<i} a_ij k_j), y+ = y + h sum_i b_i k_i
 *
 * The estimated error of a step is h sum_i e_i k_i, where k of index `stages` is f at the end of
 * the step (for methods whose last stage is the first of the next step; else e[stages] is 0).
 * Required: sum_j a_ij = c_i, sum_i b_i c_i^(k-1) = 1/k up to the order, sum_i e_i = 0. Arrays are
 * copied. Between steps rows are given by cubic Hermite interpolation. */
typedef struct taut_butcher_tableau {
    size_t size;
    const char *name;    /* in results and messages; NULL for "own" */
    int stages, order;   /* 1 <= stages <= 15 */
    int embedded_order;  /* of y+ minus the estimate; 0 without one: fixed step size only */
    const double *a;     /* [stages][stages], strictly lower triangular, row by row */
    const double *b, *c; /* [stages] */
    const double *e;     /* [stages + 1]; NULL when embedded_order is 0 */
    double stability;    /* h omega of undamped oscillations is below this; 0: not known */
} taut_butcher_tableau;
/* taut_solver_create with this method, in motion full or rigid. */
TAUT_API int taut_solver_create_tableau(const taut_system *system, const taut_options *options,
                                        const taut_butcher_tableau *tableau,
                                        const taut_allocator *allocator, taut_solver **solver,
                                        taut_error *error);

#ifdef __cplusplus
}
#endif

#endif
