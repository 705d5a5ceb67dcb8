/* callbacks.c - a system from two C functions, the force and the bond: a pendulum on a stiff
 * spring. All derivatives are formed by differences; how good they are is checked against the
 * formulas. */
#include <taut/taut.h>

#include <math.h>
#include <stdio.h>

typedef struct pendulum {
    double mass, gravity, length;
} pendulum;

static int force(void *user, double t, const double *q, const double *v, double *f)
{
    const pendulum *p = user;
    (void)t, (void)q, (void)v;
    f[0] = 0;
    f[1] = -p->mass * p->gravity;
    return 0;
}

/* Zero at the rest length; the spring's potential is g^2 / 2c. */
static int bond(void *user, double t, const double *q, double *g)
{
    const pendulum *p = user;
    (void)t;
    g[0] = hypot(q[0], q[1]) - p->length;
    return 0; /* > 0: cannot be evaluated here, try a smaller step; < 0: stop */
}

/* G = (x, y) / r and gamma = (x v_y - y v_x)^2 / r^3, by differences and exactly. */
static int check(const taut_system *system, taut_error *error)
{
    const double q[2] = {0.6, -0.8}, v[2] = {2, 1};
    double jacobian[2], bond_dt[1], gamma[1], across = q[0] * v[1] - q[1] * v[0];
    taut_values values = {
        .size = sizeof values, .jacobian = jacobian, .bond_dt = bond_dt, .gamma = gamma};
    taut_context *context = NULL;
    int status = taut_context_create(system, NULL, &context, error);
    if (status == 0)
        status =
            taut_evaluate(context, 0, q, v, TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA, &values, error);
    if (status == 0)
        printf("differences are off by %.1e in G and %.1e in gamma = %g\n",
               fmax(fabs(jacobian[0] - q[0]), fabs(jacobian[1] - q[1])),
               fabs(gamma[0] - across * across), gamma[0]);
    taut_context_destroy(context);
    return status;
}

/* Released from the horizontal: at the lowest point the speed is sqrt(2 g l), for every
 * spring does in between, up to its energy. */
static int swing(const taut_system *system, const pendulum *p, taut_error *error)
{
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    int status = taut_options_create(NULL, &options, error);
    if (status == 0)
        status =
            taut_options_set(options, "method", "verlet", error); /* chooses its step by itself */
    if (status == 0)
        status = taut_options_set(options, "until", "2", error);
    if (status == 0)
        status = taut_solver_create(system, options, NULL, &solver, error);
    double lowest = 0, speed = 0;
    for (int k = 1; k <= 200 && status == 0; k++) {
        status = taut_solver_advance(solver, 0.01 * k, error);
        const double *q = taut_solver_position(solver), *v = taut_solver_velocity(solver);
        if (q[1] < lowest) {
            lowest = q[1];
            speed = hypot(v[0], v[1]);
        }
    }
    if (status == 0)
        printf("lowest point %.4f, speed there %.4f, sqrt(2 g l) = %.4f\n", lowest, speed,
               sqrt(2 * p->gravity * p->length));
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return status;
}

int main(void)
{
    pendulum p = {.mass = 2, .gravity = 9.81, .length = 1};
    const double mass[2] = {p.mass, p.mass}, compliance[1] = {1e-5}, start[2] = {1, 0};
    taut_callbacks callbacks = {.size = sizeof callbacks,
                                .coordinates = 2,
                                .bonds = 1,
                                .mass = mass,
                                .compliance = compliance,
                                .start_q = start,
                                .force = force,
                                .bond = bond,
                                .user = &p};
    taut_error error = {0};
    taut_system *system = NULL;
    int status = taut_system_from_callbacks(&callbacks, NULL, &system, &error);
    if (status == 0)
        status = check(system, &error);
    if (status == 0)
        status = swing(system, &p, &error);
    if (status != 0)
        fprintf(stderr, "%s: %s\n", taut_code_text(status), error.message);
    taut_system_destroy(system);
    return status != 0;
}
