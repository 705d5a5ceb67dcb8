/* order_equations.h - accelerations and multipliers of one Taylor coefficient of a motion
 * (order_equations.c). */
#ifndef TAUT_SLOW_ORDER_EQUATIONS_H
#define TAUT_SLOW_ORDER_EQUATIONS_H

#include "point/hold/hold.h"

/* What the values of a Taylor coefficient consist of. */
enum {
    TAUT_ORDER_WANTED =
        TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA | TAUT_WANT_MASS
};

typedef struct taut_order_equations {
    taut_index n, m;
    int64_t g_entries, m_entries, numbers; /* of G, of M, of all values of a coefficient */
    taut_masked_saddle saddle; /* of M_0 and the rows of G_0 that are not soft; nothing is held */
    bool varying;              /* M depends on the state */
    bool soft, damped;         /* there are such bonds */
    unsigned char *counts;     /* [m]: not soft */
    const double *compliance, *damping;
} taut_order_equations;

/* One product of coefficients in the equations of order i: jacobian and mass of order b, the
 * others of order i - b. */
typedef struct taut_order_term {
    const double *jacobian, *mass, *v, *a, *lambda;
} taut_order_term;

/* Memory comes from the arena; destroy frees the factorisation. `purpose` begins the message for
 * a singular matrix. other: as in taut_masked_saddle_create. */
int taut_order_equations_create(taut_order_equations *equations, taut_context *context,
                                taut_arena *arena, const char *purpose, taut_saddle *other,
                                taut_error *error);
void taut_order_equations_destroy(taut_order_equations *equations); /* accepts half-made ones */
/* New arrays for the values of TAUT_ORDER_WANTED, one after the other from values->force on. */
int taut_order_values(const taut_order_equations *equations, taut_arena *arena, taut_values *values,
                      taut_error *error);
/* The right-hand sides: term[0] is that of the unknowns themselves, `values` holds bond, bond_dt
 * and gamma of the coefficient, second[m] (NULL: 0) times `factor` is its y''. a[n], which holds
 * the force, s[m], and lambda[m] of soft bonds (0 for others) are written. */
void taut_order_right_side(const taut_order_equations *equations, const taut_values *values,
                           const taut_order_term *term, int terms, const double *second,
                           double factor, double *a, double *lambda, double *s);
/* lambda[m] of bonds that are not soft from the solution s[m]. */
void taut_order_take(const taut_order_equations *equations, const double *s, double *lambda);
/* y = (1 + T d/dt)^-1 C lambda: one coefficient, y_i = (c lambda_i - tau (i+1) y_{i+1})/unit;
 * `next` is y_{i+1}, NULL: 0. Soft bonds keep theirs. */
void taut_order_stretch(const taut_order_equations *equations, int i, const double *lambda,
                        const double *next, double unit, double *y);

#endif
