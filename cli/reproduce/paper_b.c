/* paper_b.c - Lubich: observed orders of Radau IIA. */
#include <math.h>

#include "reproduce/reproduce.h"

/* ---- B: errors at t = 1 for two steps give an order */

typedef struct end {
    double q[2], v[2];
} end;

static int pendulum(recipe_work *k, const char *method, double eps, int steps, end *e)
{
    recipe_case run;
    char set[40], options[120];
    snprintf(set, sizeof set, "eps=%g", eps);
    snprintf(options, sizeof options, "motion=slow raw=yes method=%s step=%.17g", method,
             1.0 / steps);
    int status = recipe_run(k, &run, "pendulum", set, options);
    if (status == 0)
        status = taut_solver_advance(run.solver, 1, &k->error);
    for (int i = 0; i < 2 && status == 0; i++) {
        e->q[i] = taut_solver_position(run.solver)[i];
        e->v[i] = taut_solver_velocity(run.solver)[i];
    }
    recipe_close(&run);
    return status;
}

static double apart(const double *a, const double *b)
{
    return hypot(a[0] - b[0], a[1] - b[1]);
}

/* The steps are where the order shows: errors well above rounding, and for y' short enough. */
static int orders(recipe_work *k, const char *method, double eps, const end *exact, int steps_y,
                  int steps_v)
{
    end coarse, fine;
    RECIPE_TRY(pendulum(k, method, eps, steps_y, &coarse));
    RECIPE_TRY(pendulum(k, method, eps, 2 * steps_y, &fine));
    RECIPE_TRY(recipe_note(k, log2(apart(coarse.q, exact->q) / apart(fine.q, exact->q)),
                           "%s, eps %g, y", method, eps));
    RECIPE_TRY(pendulum(k, method, eps, steps_v, &coarse));
    RECIPE_TRY(pendulum(k, method, eps, 2 * steps_v, &fine));
    return recipe_note(k, log2(apart(coarse.v, exact->v) / apart(fine.v, exact->v)),
                       "%s, eps %g, y'", method, eps);
}

int recipe_b_orders(recipe_work *k)
{
    static const struct {
        const char *method;
        int steps_y, steps_v;
    } rows[] = {{"radau1", 80, 80}, {"radau3", 80, 80}, {"radau5", 20, 160}};
    static const double eps[] = {0, 1e-6, 1e-4};
    end exact, now;
    k->labels[0] = "Radau IIA, stiff pendulum, eps = 1e-4";
    k->labels[1] = "step";
    k->labels[2] = "error at t = 1";
    k->logarithmic = true;
    for (int e = 0; e < 3; e++) {
        RECIPE_TRY(pendulum(k, "radau9", eps[e], 200, &exact));
        for (int m = 0; m < 3; m++)
            RECIPE_TRY(orders(k, rows[m].method, eps[e], &exact, rows[m].steps_y, rows[m].steps_v));
    }
    for (int m = 0; m < 3; m++)
        for (int part = 0; part < 2; part++) {
            RECIPE_TRY(
                recipe_curve(k, "%s, %s", rows[m].method, part ? "velocities" : "positions"));
            for (int steps = 5; steps <= 160; steps *= 2) {
                RECIPE_TRY(pendulum(k, rows[m].method, eps[2], steps, &now));
                RECIPE_TRY(recipe_point(k, 1.0 / steps,
                                        part ? apart(now.v, exact.v) : apart(now.q, exact.q)));
            }
        }
    return 0;
}
