/* fields.h - vector fields for explicit methods, made from a system (base/field.h).
 *
 * All take memory from `arena`; call field->destroy (when it is not NULL) before the arena is
 * cleared. `statistics` counts what evaluations cost. */
#ifndef TAUT_WRAP_FIELDS_H
#define TAUT_WRAP_FIELDS_H

#include "base/field.h"

/* M v' = f - G^T C^-1 (g + T gdot) - scale grad V: every oscillation is there. Rigid bonds are
 * refused. */
int taut_field_full(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                    taut_field **field, taut_error *error);
/* [M G^T; G 0] (v', lambda) = (f, -gamma - alpha gdot - beta g) for the rigid bonds; springs act
 * as forces. alpha = beta = 0: the plain index-1 form; else Baumgarte's. */
int taut_field_index1(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                      double alpha, double beta, taut_field **field, taut_error *error);
/* The same for all bonds that are not soft, as if they were rigid: accelerations and multipliers
 * lambda^(0) of slow motion (slow/slow_field.c). */
int taut_field_stiff_index1(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                            taut_field **field, taut_error *error);
/* (4.4): q' = v + dq, v' = a + dv, stabilised at this rate; reduced: the index-2 form (2.4). For
 * methods with uses_stages. direction: "mass" (NULL, "auto"), "unit", "simple", "gradient". */
int taut_field_continuous(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                          double rate, const char *direction, bool reduced, taut_field **field,
                          taut_error *error);
/* The springs of a field that is not that of slow motion, but for soft ones, have these multipliers
 * lambda[m] from now on, as long as they live; NULL: their own. */
void taut_field_give(taut_field *field, const double *lambda);
/* z' = f(t,z,y) - gamma F h, y from G f(t,z,y) + g_t = 0 (constraints); h = (constraints,
 * invariants). gamma = 0: no stabilising term. y is returned in lambda's place. F by its direction:
 * "transpose" (NULL, "auto") H^T (H H^T)^-1 (1.7); "gradient" H^T (1.8); "control" B (G B)^-1,
 * B = df/dy, Baumgarte's own (1.6): G f + g_t + gamma g = 0, for constraints alone; "tangent"
 * (2.4) with D = H^T: z' = f - F (H f + h_t + gamma h). */
int taut_field_first_order(taut_context *context, taut_arena *arena, taut_statistics *statistics,
                           double gamma, const char *direction, taut_field **field,
                           taut_error *error);
/* The invariants of a stabilised first-order field keep the values they have at this state
 * (before: those of the model's start at t = 0). To be called at the initial state of a run, and
 * after an event that altered the state; then method->changed(). Without a stabilising term:
 * nothing to do. */
int taut_field_first_order_begin(taut_field *field, double t, const double *z, taut_error *error);

#endif
