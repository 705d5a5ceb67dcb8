/* tableau.c - coefficients of the small explicit methods; those of dop8 are in dop8.c.
 * tests/test_tableau.c checks the order conditions of all of them. */
#include "step/tableau.h"

#include <stddef.h>

/* clang-format off */
static const double euler_a[2][2] = {{0}, {1}};
static const double euler_c[2] = {0, 1};

static const double midpoint_a[3][3] = {{0}, {0.5}, {0, 1}};
static const double midpoint_c[3] = {0, 0.5, 1};

/* the classical method [Kutta 1901] */
static const double rk4_a[5][5] = {
    {0},
    {0.5},
    {0, 0.5},
    {0, 0, 1},
    {1. / 6, 1. / 3, 1. / 3, 1. / 6},
};
static const double rk4_c[5] = {0, 0.5, 0.5, 1, 1};

/* Dormand, Prince 1980, RK5(4)7M; dense output of order 4 by Shampine, in the form of Hairer,
 * Norsett, Wanner I (2nd ed.), II.6 */
static const double dopri5_a[7][7] = {
    {0},
    {1. / 5},
    {3. / 40, 9. / 40},
    {44. / 45, -56. / 15, 32. / 9},
    {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
    {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
    {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
};
static const double dopri5_c[7] = {0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};
static const double dopri5_error[7] = {71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200,
22. / 525, -1. / 40};
static const double dopri5_dense[1][7] = {{-12715105075. / 11282082432., 0,
87487479700. / 32700410799., -10690763975. / 1880347072.,
                                           701980252875. / 199316789632.,
                                           -1453857185. / 822651844., 69997945. / 29380423.}};
/* clang-format on */

const taut_tableau taut_tableau_euler = {.stages = 1, .width = 2, .a = euler_a[0], .c = euler_c};
const taut_tableau taut_tableau_midpoint = {
    .stages = 2, .width = 3, .a = midpoint_a[0], .c = midpoint_c};
const taut_tableau taut_tableau_rk4 = {.stages = 4, .width = 5, .a = rk4_a[0], .c = rk4_c};
const taut_tableau taut_tableau_dopri5 = {.stages = 6,
                                          .width = 7,
                                          .a = dopri5_a[0],
                                          .c = dopri5_c,
                                          .error = dopri5_error,
                                          .dense_rows = 1,
                                          .dense = dopri5_dense[0]};
