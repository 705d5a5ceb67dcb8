/* inside.h - public calls as the library makes them itself: structs are those of this version, so
 * that nothing is checked. */
#ifndef TAUT_BASE_INSIDE_H
#define TAUT_BASE_INSIDE_H

#include <taut/taut.h>

void taut_system_sizes(const taut_system *system, taut_sizes *sizes);
int taut_system_pattern(const taut_system *system, taut_pattern_of which, taut_pattern *pattern,
                        taut_error *error);
/* False when out of range. */
bool taut_system_event(const taut_system *system, taut_index k, taut_event_info *info);
int taut_evaluate_inside(taut_context *context, double t, const double *q, const double *v,
                         unsigned wanted, taut_values *values, taut_error *error);
/* May bond_hessian and force_dq be one array, which becomes the sum of both? */
bool taut_evaluates_sums(const taut_system *system);
/* product[n] = A x of A = df/dq (TAUT_WANT_FORCE_DQ), A = sum_i weight_i Hess g_i
 * (TAUT_WANT_BOND_HESSIAN), without forming A or its pattern; with TAUT_WANT_FAST or TAUT_WANT_SLOW
 * of these forces alone. Not counted as an evaluation. For systems for which the first function
 * returns true: those so large that few products are cheaper than a matrix, of statements, without
 * forces that depend on velocities, masses that vary and stiff potentials. */
bool taut_evaluates_products(const taut_system *system);
int taut_evaluate_product(taut_context *context, double t, const double *q, const double *v,
                          unsigned wanted, const double *x, const double *weight, double *product,
                          taut_error *error);
/* force[n] of what does work that no energy accounts for: forces without a potential, potentials
 * that depend on t, whose sum is *potential. Either may be NULL. Not counted as an evaluation. */
int taut_evaluate_driving(taut_context *context, double t, const double *q, const double *v,
                          double *force, double *potential, taut_error *error);
/* Is the work of these, of bonds and of a mass that varies with q all that changes T + U, and
 * known? */
bool taut_system_energies(const taut_system *system);
int taut_evaluate_parameter_inside(taut_context *context, double t, const double *q,
                                   const double *v, taut_index k, unsigned wanted,
                                   taut_values *values, taut_error *error);
/* values->jacobian may be NULL: it is kept, for taut_jet_rows. */
int taut_jet_advance_inside(taut_jet *jet, int j, double t, const double *q, const double *v,
                            taut_values *values, taut_error *error);
/* With coefficient j of the Jacobian, which is kept: rows[m] -= G_j x, forces[n] -= G_j^T y; rows
 * or forces NULL: not this one. Bonds of a system without some (taut_system_without) count as the
 * others do. */
void taut_jet_rows(const taut_jet *jet, int j, const double *x, const double *y, double *rows,
                   double *forces);
/* A jet of G along straight lines q + s z at a fixed time, for taut_jet_along only: */
int taut_jet_create_along(taut_context *context, taut_jet **jet, taut_error *error);
/* forces[n] -= sum_k (dG(q + s z_k)/ds)^T y_k, of `count` directions z[count][n], y[count][m]. */
void taut_jet_along(taut_jet *jet, double t, const double *q, int count, const double *z,
                    const double *y, double *forces);
/* What the jet was created for. */
const taut_system *taut_jet_system(const taut_jet *jet, unsigned *wanted);

#endif
