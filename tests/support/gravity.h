/* gravity.h - impulse methods on the double pendulum of [E example 1], against the effective motion
 * computed in angles. */
#ifndef TAUT_TESTS_SUPPORT_GRAVITY_H
#define TAUT_TESTS_SUPPORT_GRAVITY_H

#include "judge/pendulum_angles.h"
#include "support/run.h"

static const char *const gravity_model =
    "[parameters]\neps = %.17g\n[coordinates]\nx11, x12, x21, x22\n[potential]\nx12 + "
    "x22\n[bonds]\n"
    "inner = sqrt(x11^2 + x12^2) - 1 stiffness 1/eps^2\nouter = sqrt((x11-x21)^2 + (x12-x22)^2) - "
    "1 stiffness 1/eps^2\n"
    "[start]\nx11 = sqrt(0.5), x12 = -sqrt(0.5), x21 = sqrt(2), x22 = 5*eps\n";

/* The inner link rigid, the outer one given by a stiff potential. */
static const char *const potential_model =
    "[parameters]\neps = %.17g\n[coordinates]\nx11, x12, x21, x22\n[potential]\nx12 + "
    "x22\n[stiff potential]\n(sqrt((x11-x21)^2 + (x12-x22)^2) - 1)^2/2 scale 1/eps^2\n[bonds]\n"
    "inner = sqrt(x11^2 + x12^2) - 1\n"
    "[start]\nx11 = sqrt(0.5), x12 = -sqrt(0.5), x21 = sqrt(2), x22 = 5*eps\n";

typedef struct errors {
    double q, v;
} errors;

/* Largest errors over the grid times up to t = 2 against the effective system with the given
 * actions. */
static inline errors grid_errors(const char *method, double eps, double h, double inner,
                                 const char *more, const double *action)
{
    char model[700], options[200];
    errors worst = {0, 0};
    snprintf(model, sizeof model, gravity_model, eps);
    snprintf(options, sizeof options,
             "motion=effective method=%s step=%.17g inner-step=%.17g until=2 %s", method, h, inner,
             more);
    driven d = driven_create(model, options, NULL);
    if (!driven_good(method, &d)) {
        driven_destroy(&d);
        return (errors){NAN, NAN};
    }
    angles x = angle_start(eps);
    int steps = (int)lround(2 / h);
    for (int k = 0; k <= steps; k++) {
        double q[4], v[4];
        if (k > 0) {
            x = angle_advance(x, h, eps, action);
            int code = taut_solver_advance(d.solver, k * h, &d.error);
            if (code != 0 && !check_row(false, "%s: %s", method, d.error.message))
                break;
        }
        angle_state(x, q, v);
        for (int i = 0; i < 4; i++) {
            worst.q = fmax(worst.q, fabs(q[i] - taut_solver_position(d.solver)[i]));
            worst.v = fmax(worst.v, fabs(v[i] - taut_solver_velocity(d.solver)[i]));
        }
    }
    driven_destroy(&d);
    return worst;
}

#endif
