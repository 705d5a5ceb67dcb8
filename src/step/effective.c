/* effective.c - the effective system itself, integrated by an explicit method of order 8.
 *
 *     M V' = f(X) - grad W(X) - G(X)^T Lambda, g(X) = 0, W = sum J_k Omega_k(X)   [E (7)-(8)]
 *
 * The driver makes the derived system (vibration/effective_system.c) with the actions of the
 * start; to this row it is a rigid system in index-1 form, and the work is that of dop8. It
 * costs no micro-steps: with the springs as stiff as they may be, steps are those of the slow
 * motion. */
#include "step/explicit.h"
#include "step/methods.h"

const taut_method taut_effective = {
    .name = "effective",
    .motions = TAUT_MOTION_EFFECTIVE,
    .order = 8,
    .error_order = 8,
    .summary = "the effective system, rigid with the force of the actions, by dop8: no micro-steps",
    .reference = "Rubin, Ungar 1957; Lubich, Weiss (7)-(9)",
    .needs = TAUT_CAN_FORCE | TAUT_CAN_INVERT_MASS,
    .refuses = TAUT_HAS_DAMPING | TAUT_HAS_STIFF_POTENTIAL | TAUT_HAS_ALGEBRAIC | TAUT_HAS_STEPPER,
    .data = &taut_tableau_dop8,
    .averages = true,
    TAUT_RUNGE_KUTTA_METHOD,
};
