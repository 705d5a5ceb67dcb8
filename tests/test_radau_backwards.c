/* test_radau_backwards.c - damped bonds backwards in time: a step as long as the damping time,
 * or as makes an eigenvalue of the method meet it, is a step like any other. */
#include "support/run.h"

/* x'' = -(k x + d x'), tau = d/k, from (x, v). */
typedef struct oscillator {
    double k, d, x, v;
} oscillator;

static driven create(const oscillator *o, const char *method, const char *newton, double h)
{
    char model[300], options[200];
    snprintf(model, sizeof model,
             "[coordinates]\nx\n[bonds]\nspring = x stiffness %.17g damping %.17g\n[start]\nx = "
             "%.17g, x' = %.17g\n",
             o->k, o->d, o->x, o->v);
    snprintf(options, sizeof options, "method=%s newton=%s motion=full step=%.17g until=%.17g",
             method, newton, fabs(h), h);
    return driven_create(model, options, NULL);
}

/* Implicit Euler by hand: v1 = v0 - h (k x1 + d v1), x1 = x0 + h v1. */
static void euler(const oscillator *o, double h, double *x, double *v)
{
    *v = (o->v - h * o->k * o->x) / (1 + h * o->d + h * h * o->k);
    *x = o->x + h * *v;
}

/* The solution, underdamped. */
static void exact(const oscillator *o, double h, double *x, double *v)
{
    double a = o->d / 2, w = sqrt(o->k - a * a), b = (o->v + a * o->x) / w, e = exp(-a * h),
           c = cos(w * h), s = sin(w * h);
    *x = e * (o->x * c + b * s);
    *v = -a * *x + e * w * (b * c - o->x * s);
}

static void one_step(const oscillator *o, const char *method, const char *newton, double h,
                     double x, double v, double near)
{
    char what[100];
    snprintf(what, sizeof what, "%s, %s, h = %g, tau = %g", method, newton, h, o->d / o->k);
    driven d = create(o, method, newton, h);
    if (driven_good(what, &d)) {
        int code = taut_solver_advance(d.solver, h, &d.error);
        check_row(code == 0, "%s: %s", what, code ? d.error.message : "");
        check_near(what, taut_solver_position(d.solver)[0], x, near);
        check_near(what, taut_solver_velocity(d.solver)[0], v, near);
        check_near(what, taut_solver_multipliers(d.solver)[0], o->k * x + o->d * v,
                   (o->k + o->d) * near);
    }
    driven_destroy(&d);
}

int main(void)
{
    static const char *const newtons[] = {"stage", "tensor"};
    static const oscillator strong = {.k = 100, .d = 10, .x = 1, .v = 0.5},
                            weak = {.k = 1, .d = 0.1, .x = 1, .v = -0.3};
    /* tau over the real eigenvalue of the Runge-Kutta matrix: 1/3.6378342527444957 of radau5,
     * 1/6.2867047517292766 of radau9 */
    static const struct {
        const char *method;
        double h, near; /* |h|^p / p! with the classical order p */
    } rows[] = {{"radau3", -0.1, 1e-4},
                {"radau3", -0.2, 1e-3},
                {"radau5", -0.1, 1e-7},
                {"radau5", -0.2, 1e-5},
                {"radau5", -0.36378342527444957, 1e-4},
                {"radau9", -0.1, 1e-12},
                {"radau9", -0.2, 1e-11},
                {"radau9", -0.62867047517292766, 1e-6}};
    check_group("implicit Euler backwards");
    for (int j = 0; j < 2; j++)
        for (double h = -0.1; h > -0.5; h -= 0.1) {
            double x, v;
            euler(&strong, h, &x, &v);
            one_step(&strong, "radau1", newtons[j], h, x, v, 1e-11);
        }
    check_group("Radau backwards");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int j = 0; j < 2; j++) {
            double x, v;
            exact(&weak, rows[k].h, &x, &v);
            one_step(&weak, rows[k].method, newtons[j], rows[k].h, x, v, rows[k].near);
        }
    return check_done();
}
