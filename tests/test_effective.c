/* test_effective.c - the effective system [E (7)-(8)] against the double pendulum in angles, and
 * against what it is the limit of. */
#include "support/run.h"
#include "judge/pendulum_angles.h"
#include "vibration/effective.h"

static const char *const gravity_model =
    "[parameters]\neps = %.17g\n[coordinates]\nx11, x12, x21, x22\n[potential]\nx12 + "
    "x22\n[bonds]\n"
    "inner = sqrt(x11^2 + x12^2) - 1 stiffness 1/eps^2\nouter = sqrt((x11-x21)^2 + (x12-x22)^2) - "
    "1 stiffness 1/eps^2\n"
    "[start]\nx11 = sqrt(0.5), x12 = -sqrt(0.5), x21 = sqrt(2), x22 = 5*eps\n";

typedef struct made {
    taut_system *base, *system;
    taut_solver *solver;
    taut_options *options;
    taut_error error;
    int code;
} made;

/* The effective system of a model's start, run as a rigid one. */
static made make(const char *model, const char *options)
{
    made e = {0};
    e.code = taut_system_parse(model, strlen(model), "model.taut", NULL, &e.base, &e.error);
    if (e.code == 0)
        e.code = taut_effective_from_start(e.base, 0, &e.system, &e.error);
    if (e.code == 0 && options) {
        driven d = {0};
        e.code = taut_options_create(NULL, &e.options, &e.error);
        d.options = e.options;
        driven_options(&d, options);
        e.code = e.code ? e.code : d.code;
        if (e.code == 0)
            e.code = taut_solver_create(e.system, e.options, NULL, &e.solver, &e.error);
    }
    check_row(e.code == 0, "%s: %s", taut_code_name(e.code), e.error.message);
    return e;
}

static void destroy(made *e)
{
    taut_solver_destroy(e->solver);
    taut_options_destroy(e->options);
    taut_system_destroy(e->system);
    taut_system_destroy(e->base);
}

static void test_angles(void)
{
    static const char *const options[] = {
        "motion=rigid method=dop8 rtol=1e-11 atol=1e-12 until=2",
        "motion=rigid method=radau5 rtol=1e-10 atol=1e-11 until=2",
        "motion=rigid method=rattle step=0.0005 until=2"};
    static const double tolerance[] = {3e-8, 1e-6, 1e-5};
    check_group("effective, in angles");
    for (int k = 0; k < 3; k++) {
        double eps = 1e-3, action[2], q[4], v[4];
        char model[700];
        snprintf(model, sizeof model, gravity_model, eps);
        made e = make(model, options[k]);
        angle_actions(eps, action);
        angle_state(angle_advance(angle_start(eps), 2, eps, action), q, v);
        if (e.code == 0) {
            e.code = taut_solver_advance(e.solver, 2, &e.error);
            check_row(e.code == 0, "%s: %s", options[k], e.error.message);
            for (int i = 0; i < 4; i++) {
                check_near(options[k], taut_solver_position(e.solver)[i], q[i], tolerance[k]);
                check_near(options[k], taut_solver_velocity(e.solver)[i], v[i], tolerance[k]);
            }
        }
        destroy(&e);
    }
}

/* x(t) - X(t) = O(eps) [E (13)]: the largest distance of the full motion (Verlet) from the
 * effective one, over 100 times up to t = 2. */
static double distance(double eps)
{
    char model[700], options[200];
    double worst = 0;
    snprintf(model, sizeof model, gravity_model, eps);
    made e = make(model, "motion=rigid method=dop8 rtol=1e-9 atol=1e-10 until=2");
    snprintf(options, sizeof options, "motion=full method=verlet step=%.17g until=2", eps / 50);
    driven d = driven_create(model, options, NULL);
    driven_good("full", &d);
    for (int k = 1; k <= 100 && e.code == 0 && d.code == 0; k++) {
        e.code = taut_solver_advance(e.solver, .02 * k, &e.error);
        d.code = taut_solver_advance(d.solver, .02 * k, &d.error);
        for (int i = 0; i < 4; i++)
            worst = fmax(
                worst, fabs(taut_solver_position(e.solver)[i] - taut_solver_position(d.solver)[i]));
    }
    worst = e.code || d.code ? NAN : worst;
    driven_destroy(&d);
    destroy(&e);
    return worst;
}

static void test_limit(void)
{
    check_group("effective, limit of the full motion");
    double e[4];
    for (int k = 0; k < 4; k++)
        e[k] = distance(8e-3 / (1 << k));
    for (int k = 1; k < 4; k++)
        check_near("slope in eps", log2(e[k - 1] / e[k]), 1, .25);
    check_near("slope over all", log2(e[0] / e[3]) / 3, 1, .1);
    check_below("size", e[3], 10e-3);
}

/* A mass on a stiff spring that hangs from a cart: Omega^2 = 1/(eps^2) (1/m + sin^2 phi/cart), so
 * that W depends on phi; kinetic energy in generalised coordinates, the mass matrix varies. */
static const char *const cart_model =
    "[parameters]\nomega = %.17g\n[coordinates]\nx, r, phi\n[definitions]\n"
    "bob = (x + r*sin(phi), -r*cos(phi))\n[kinetic]\n0.7*x'^2/2\ndot(bob', bob')/2\n"
    "[potential]\nbob.y\n[bonds]\nrod = r - 1 stiffness omega^2\n"
    "[start]\nx = 0, r = 1 + 2/omega, phi = 1\n";

static double cart_distance(double omega)
{
    char model[700];
    double worst = 0;
    snprintf(model, sizeof model, cart_model, omega);
    made e = make(model, "motion=rigid method=dop8 rtol=1e-9 atol=1e-10 until=2");
    driven d = driven_create(model, "motion=full method=dop8 rtol=1e-9 atol=1e-10 until=2", NULL);
    driven_good("full", &d);
    for (int k = 1; k <= 40 && e.code == 0 && d.code == 0; k++) {
        e.code = taut_solver_advance(e.solver, .05 * k, &e.error);
        d.code = taut_solver_advance(d.solver, .05 * k, &d.error);
        for (int i = 0; i < 3; i++)
            worst = fmax(
                worst, fabs(taut_solver_position(e.solver)[i] - taut_solver_position(d.solver)[i]));
    }
    check_row(e.code == 0 && d.code == 0, "cart: %s%s", e.error.message, d.error.message);
    driven_destroy(&d);
    destroy(&e);
    return worst;
}

static void test_kinetic(void)
{
    check_group("effective, varying mass");
    double e[3] = {cart_distance(100), cart_distance(200), cart_distance(400)};
    check_below("size", e[2], 2e-2);
    check_near("slope", log2(e[0] / e[2]) / 2, 1, .2);
    /* without the vibration the motion is another one */
    char model[700];
    snprintf(model, sizeof model, cart_model, 400.);
    made with = make(model, "motion=rigid method=dop8 until=2");
    driven rigid = driven_create(model, "motion=rigid method=dop8 until=2", NULL);
    if (with.code == 0 && driven_good("rigid", &rigid)) {
        taut_solver_advance(with.solver, 2, NULL);
        taut_solver_advance(rigid.solver, 2, NULL);
        double apart =
            fabs(taut_solver_position(with.solver)[2] - taut_solver_position(rigid.solver)[2]);
        check_row(apart > .1, "rigid and effective are %.3g apart", apart);
    }
    driven_destroy(&rigid);
    destroy(&with);
}

/* Mean tensions: C^-1 g of the full motion, averaged around t = 1 with the kernel 35/32 (1 -
 * s^2)^3 over |s| < 1, s = (t - 1)/0.1, are Lambda of (8), to O(0.1^2) and O(eps). */
static void test_tensions(void)
{
    check_group("effective, mean tensions");
    double eps = 5e-4, h = eps / 40, mean[2] = {0, 0}, total = 0;
    char model[700], options[200];
    snprintf(model, sizeof model, gravity_model, eps);
    snprintf(options, sizeof options, "motion=full method=verlet step=%.17g until=2", h);
    driven d = driven_create(model, options, NULL);
    driven_good("full", &d);
    if (d.code == 0)
        d.code = taut_solver_advance(d.solver, .9, &d.error);
    for (int k = 0; d.code == 0 && .9 + k * h <= 1.1; k++) {
        double s = (taut_solver_time(d.solver) - 1) / .1, weight = pow(fmax(0, 1 - s * s), 3);
        for (int i = 0; i < 2; i++)
            mean[i] += weight * taut_solver_multipliers(d.solver)[i];
        total += weight;
        d.code = taut_solver_advance(d.solver, .9 + (k + 1) * h, &d.error);
    }
    driven_destroy(&d);
    made e = make(model, "motion=rigid method=dop8 until=2");
    driven p =
        driven_create(model, "motion=effective method=projected-impulse step=0.02 until=2", NULL);
    driven none = driven_create(model, "motion=rigid method=dop8 until=2", NULL);
    if (driven_good("impulse", &p) && driven_good("rigid", &none) && e.code == 0) {
        check_equal("effective", taut_solver_advance(e.solver, 1, &e.error), 0);
        check_equal("impulse", taut_solver_advance(p.solver, 1, &p.error), 0);
        check_equal("rigid", taut_solver_advance(none.solver, 1, &none.error), 0);
        double apart = 0;
        for (int i = 0; i < 2; i++) {
            check_near("Lambda", taut_solver_multipliers(e.solver)[i], mean[i] / total, .03);
            check_near("impulse", taut_solver_multipliers(p.solver)[i], mean[i] / total, .03);
            apart = fmax(apart, fabs(taut_solver_multipliers(none.solver)[i] - mean[i] / total));
        }
        check_row(apart > .3, "without W a tension is off by %.3g", apart);
    }
    driven_destroy(&none);
    driven_destroy(&p);
    destroy(&e);
}

/* Motion `effective` with the method of that name, through the driver. */
static void test_driver(void)
{
    check_group("effective, driver");
    double eps = 1e-3, action[2], q[4], v[4];
    char model[700];
    snprintf(model, sizeof model, gravity_model, eps);
    driven d = driven_create(
        model, "motion=effective method=effective rtol=1e-10 atol=1e-11 until=2", NULL);
    if (driven_good("run", &d)) {
        check_equal("advance", taut_solver_advance(d.solver, 2, &d.error), 0);
        angle_actions(eps, action);
        angle_state(angle_advance(angle_start(eps), 2, eps, action), q, v);
        for (int i = 0; i < 4; i++) {
            check_near("q", taut_solver_position(d.solver)[i], q[i], 1e-7);
            check_near("v", taut_solver_velocity(d.solver)[i], v[i], 1e-7);
        }
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(d.solver, &result, NULL);
        check_near("energy with W", result.energy_last, result.energy_first, 1e-8);
        check_equal("no micro-steps", result.statistics.micro_steps, 0);
        check_below("drift", result.drift_position, 1e-10);
    }
    driven_destroy(&d);
}

/* The start is that of (9), with the directions of the vibrating state: by hand in
 * pendulum_angles.h, by the impulse methods, and with a mass that varies, where momenta are
 * projected. The foot point is 2.8e-6 away from it at eps = 1e-2. What is held stays. */
static void test_start(void)
{
    static const char *const polar =
        "[coordinates]\nr, phi\n[kinetic]\n(r'^2 + r^2*phi'^2)/2\n[bonds]\nrod = r*cos(phi)^2 + "
        "r*sin(phi)^2 - 1 stiffness 1e4\n[start]\nr = 1.02, phi = 0.3, r' = 0.5, phi' = 1\n";
    static const char *const held = "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 "
                                    "stiffness 1e4\n[start]\nx = 0.8 hold, y = 0.61\n";
    static const char *const methods[] = {"effective", "projected-impulse step=0.1",
                                          "mollified-impulse step=0.1"};
    check_group("effective, start");
    double eps = 1e-2, q[4], v[4];
    char model[700], options[120];
    snprintf(model, sizeof model, gravity_model, eps);
    angle_state(angle_start(eps), q, v);
    for (int k = 0; k < 3; k++) {
        snprintf(options, sizeof options, "motion=effective until=1 method=%s", methods[k]);
        driven d = driven_create(model, options, NULL);
        for (int i = 0; driven_good(methods[k], &d) && i < 4; i++)
            check_near(methods[k], taut_solver_position(d.solver)[i], q[i], 1e-14);
        driven_destroy(&d);
    }
    driven d = driven_create(polar, "motion=effective method=effective until=1", NULL);
    if (driven_good("polar", &d)) {
        check_near("r", taut_solver_position(d.solver)[0], 1, 1e-15);
        check_near("phi", taut_solver_position(d.solver)[1], 0.3, 1e-15);
        check_near("r'", taut_solver_velocity(d.solver)[0], 0, 1e-15);
        check_near("phi': the angular momentum is kept", taut_solver_velocity(d.solver)[1],
                   1.02 * 1.02, 1e-14);
    }
    driven_destroy(&d);
    d = driven_create("[coordinates]\nx\n[bonds]\nspring = x - cos(t) stiffness 1e4\n[start]\nx = "
                      "cos(t) + 0.01\n",
                      "motion=effective method=effective from=0.7 until=1", NULL);
    if (driven_good("moving", &d)) {
        check_near("x", taut_solver_position(d.solver)[0], cos(0.7), 1e-15);
        check_near("x'", taut_solver_velocity(d.solver)[0], -sin(0.7), 1e-15);
    }
    driven_destroy(&d);
    d = driven_create(held, "motion=effective method=effective until=1", NULL);
    if (driven_good("held", &d)) {
        check_near("held x", taut_solver_position(d.solver)[0], 0.8, 0);
        check_near("y", taut_solver_position(d.solver)[1], 0.6, 1e-14);
    }
    driven_destroy(&d);
}

/* Two equal triangles of springs, with unequal actions: their frequencies are equal and constant
 * while each stays rigid, so that the motion is the rigid one, for all modes. */
static void test_equal_molecules(void)
{
    static const char *const model =
        "[particles]\ndimension = 2\na[i] for i in 1..2 mass 1\nb[i] for i in 1..2 mass 2\nc[i] "
        "for i in 1..2 mass 1\n[potential]\n"
        "dot(b[1] - b[2], b[1] - b[2])/2 + a[1].y\n[bonds]\np[i] = length(a[i] - b[i]) - 1 for i "
        "in 1..2 stiffness 1e6\n"
        "r[i] = length(c[i] - b[i]) - 1 for i in 1..2 stiffness 1e6\ns[i] = length(c[i] - a[i]) - "
        "1.2 for i in 1..2 stiffness 1e6\n[start]\n"
        "b[1] = (0, 0), a[1] = (0.8, 0.6), c[1] = (0.8, -0.6)\nb[2] = (5, 0), a[2] = (5.8, 0.6), "
        "c[2] = (5.8, -0.6)\n"
        "a[1]' = (1, 0.5), c[2]' = (0.3, -0.1)\n";
    static const char *const options[] = {
        "motion=effective method=effective until=1 rtol=1e-9 atol=1e-11",
        "motion=rigid method=dop8 until=1 rtol=1e-9 atol=1e-11"};
    check_group("effective, equal molecules");
    driven d[2];
    for (int k = 0; k < 2; k++) {
        d[k] = driven_create(model, options[k], NULL);
        if (driven_good(options[k], &d[k]))
            check_row(taut_solver_advance(d[k].solver, 1, &d[k].error) == 0, "%s: %s", options[k],
                      d[k].error.message);
    }
    for (int i = 0; d[0].solver && d[1].solver && i < 12; i++)
        check_near("q", taut_solver_position(d[0].solver)[i], taut_solver_position(d[1].solver)[i],
                   1e-7);
    driven_destroy(&d[0]);
    driven_destroy(&d[1]);
}

/* Double pendulums that do not touch, with different actions: each moves as it does alone, although
 * frequencies of different ones meet. */
static void test_many_groups(void)
{
    static const char *const options[] = {
        "motion=effective method=effective until=0.5 rtol=1e-10 atol=1e-12",
        "motion=effective method=mollified-impulse until=0.5 step=0.1 inner-step=5e-4",
        "motion=effective method=impulse until=0.5 step=0.1 inner-step=5e-4",
        "motion=effective method=projected-impulse until=0.5 step=0.1 inner-step=5e-4"};
    enum { MANY = 250 };
    check_group("effective, many groups");
    for (size_t k = 0; k < sizeof options / sizeof options[0]; k++) {
        driven d[2];
        for (int one = 0; one < 2; one++) {
            char model[700];
            snprintf(model, sizeof model,
                     "[particles]\ndimension = 2\na[i] for i in %d..%d\nb[i] for i in %d..%d\n"
                     "[potential]\nsum(a[i].y + b[i].y for i in %d..%d)\n[bonds]\n"
                     "inner[i] = length(a[i]) - 1 for i in %d..%d stiffness 1e4\n"
                     "outer[i] = length(a[i] - b[i]) - 1 for i in %d..%d stiffness 1e4\n[start]\n"
                     "a[i] = (sqrt(0.5), -sqrt(0.5)) for i in %d..%d\n"
                     "b[i] = (sqrt(2), 0.05*i/%d) for i in %d..%d\n",
                     one ? MANY : 1, MANY, one ? MANY : 1, MANY, one ? MANY : 1, MANY,
                     one ? MANY : 1, MANY, one ? MANY : 1, MANY, one ? MANY : 1, MANY, MANY,
                     one ? MANY : 1, MANY);
            d[one] = driven_create(model, options[k], NULL);
            if (driven_good(options[k], &d[one]))
                check_row(taut_solver_advance(d[one].solver, 0.5, &d[one].error) == 0, "%s: %s",
                          options[k], d[one].error.message);
        }
        taut_result r = {.size = sizeof r};
        if (d[0].code == 0 && d[1].code == 0) {
            const double *many = taut_solver_position(d[0].solver),
                         *alone = taut_solver_position(d[1].solver);
            for (int i = 0; i < 4; i++)
                check_near(options[k], many[2 * (MANY - 1) + (i < 2 ? i : 2 * MANY + i - 2)],
                           alone[i], 1e-8);
            taut_solver_result_get(d[0].solver, &r, NULL);
            check_row(isnan(r.resonance_at), "%s: resonance at %g", options[k], r.resonance_at);
        }
        driven_destroy(&d[0]);
        driven_destroy(&d[1]);
    }
}

/* One group of more than 400 springs. */
static void test_long_chain(void)
{
    static const char *const model =
        "[particles]\ndimension = 2\np[i] for i in 1..420\n[definitions]\np[0] = (0, 0)\n"
        "[potential]\nsum(p[i].y for i in 1..420)\n[bonds]\n"
        "link[i] = length(p[i] - p[i-1]) - 1 for i in 1..420 stiffness 1e8\n"
        "[start]\np[i] = (i + 2e-4*sin(1.3*i), 0) for i in 1..420\n";
    check_group("effective, a long chain");
    made e = make(model, "motion=rigid method=rk4 step=1e-3 until=1");
    taut_result r = {.size = sizeof r};
    if (e.code == 0) {
        check_row(taut_solver_advance(e.solver, 1e-3, &e.error) == 0, "%s", e.error.message);
        taut_solver_result_get(e.solver, &r, NULL);
        check_near("energy", r.energy_last, r.energy_first, 1e-9 * fabs(r.energy_first));
        check_below("W is there", 1, r.energy_first);
    }
    destroy(&e);
}

/* All derivatives of effective systems, the Hessian of W included, against differences. */
static void test_derivatives(void)
{
    static const char *const more[] = {
        "[coordinates]\nx, y, z, w\n[bonds]\na = sqrt(x^2 + y^2) - 1 stiffness 1e4\nr = sqrt((z - "
        "x)^2 + (w - y)^2) - 1\n"
        "b = z + w^2 - .4*x*y - 2.2 stiffness 2e4\nk = x - w stiffness 2 soft\n[potential]\nx*y + "
        "z^2\n"
        "[start]\nx = .6, y = .8, z = 1.4, w = 1.4, x' = .3, z' = .3\n",
        "[coordinates]\nx, y, z\n[mass]\nx = 2, y = 2, z = 3\nM[x,y] = 1\n[bonds]\na = x*y - z "
        "stiffness 1e4\n"
        "b = x + sin(y) - z^2 stiffness 1e4\n[start]\nx = .3, y = .4, z = .15, x' = 1\n"};
    char gravity[700], cart[700];
    snprintf(gravity, sizeof gravity, gravity_model, 1e-2);
    snprintf(cart, sizeof cart, cart_model, 100.);
    const char *const models[] = {gravity, cart, more[0], more[1]};
    check_group("effective, derivatives");
    for (int k = 0; k < 4; k++) {
        made e = make(models[k], NULL);
        taut_check_report report = {.size = sizeof report};
        if (e.code == 0 && check_equal("check", taut_check(e.system, NULL, &report, &e.error), 0))
            for (int j = 0; j < report.derivatives; j++)
                check_row(report.derivative[j].deviation <= 1e-6, "model %d, %s: %.3g", k,
                          report.derivative[j].name, report.derivative[j].deviation);
        destroy(&e);
    }
}

static const struct {
    const char *model, *message;
} refusals[] = {
    {"[coordinates]\nx, y\n[bonds]\nr = x\n", "nothing vibrates"},
    {"[coordinates]\nx, y\n[bonds]\ns = y stiffness 1e4 damping 1\n", "damped bonds"},
    {"[coordinates]\nx, y\n[forces]\nx = -x'\n[bonds]\ns = y stiffness 1e4\n",
     "depend on velocities"},
    {"[coordinates]\nx, y\n[kinetic]\n(1 + y^2)*x'^2 + y'^2\n[forces]\nx = -x'\n[bonds]\ns = y "
     "stiffness 1e4\n",
     "depend on velocities"},
    {"[coordinates]\nx, y\n[mass]\nx = 2 + y^2\n[bonds]\ns = y stiffness 1e4\n", "[kinetic]"},
    {"[coordinates]\nx, y\n[stiff potential]\ny^2/2 scale 1e4\n", "stiff potential"},
    {"[coordinates]\nx, y\n[bonds]\ns = y stiffness 4 soft\n", "at least one"},
    {"[state]\nx\n[rates]\nx' = -x\n[start]\nx = 1\n", "mechanical"},
};

static void test_refusals(void)
{
    static const double bad[] = {-1, 1};
    check_group("effective, refusals");
    for (size_t k = 0; k < sizeof refusals / sizeof refusals[0]; k++) {
        taut_system *base = NULL, *system = NULL;
        taut_error error = {0};
        int code = taut_system_parse(refusals[k].model, strlen(refusals[k].model), "m.taut", NULL,
                                     &base, &error);
        if (check_row(code == 0, "parse: %s", error.message)) {
            check_equal(refusals[k].message, taut_effective_from_start(base, 0, &system, &error),
                        TAUT_ERROR_REFUSED);
            check_contains("message", error.message, refusals[k].message);
            check_row(system == NULL, "nothing is made");
        }
        taut_system_destroy(system);
        taut_system_destroy(base);
    }
    taut_system *base = NULL, *system = NULL;
    taut_error error = {0};
    char model[700];
    snprintf(model, sizeof model, gravity_model, 1e-2);
    check_equal("parse", taut_system_parse(model, strlen(model), "m.taut", NULL, &base, &error), 0);
    check_equal("negative action", taut_system_effective(base, bad, 2, &system, &error),
                TAUT_ERROR_USAGE);
    check_equal("no action", taut_system_effective(base, bad, 0, &system, &error),
                TAUT_ERROR_USAGE);
    /* three actions for two modes: told where it is first evaluated */
    static const double three[] = {1, 2, 3};
    check_equal("three", taut_system_effective(base, three, 3, &system, &error), 0);
    taut_context *context = NULL;
    double q[4], v[4], force[4];
    check_equal("context", taut_context_create(system, NULL, &context, &error), 0);
    check_equal("start", taut_context_start(context, 0, q, v, &error), 0);
    taut_values values = {.size = sizeof values, .force = force};
    check_equal("evaluate", taut_evaluate(context, 0, q, v, TAUT_WANT_FORCE, &values, &error),
                TAUT_ERROR_EVALUATE);
    check_contains("message", error.message, "2 stiff modes");
    taut_context_destroy(context);
    taut_system_destroy(system);
    taut_system_destroy(base);
}

/* Systems made in C: particles and distances as a builder makes them, and functions. Forces as
 * those of the model file. */
static int user_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)user, (void)t, (void)q, (void)v;
    f[0] = f[2] = 0;
    f[1] = f[3] = -1;
    return 0;
}

static int user_bond(void *user, double t, const double *q, double *g)
{
    (void)user, (void)t;
    g[0] = hypot(q[0], q[1]) - 1;
    g[1] = hypot(q[2] - q[0], q[3] - q[1]) - 1;
    return 0;
}

static int user_jacobian(void *user, double t, const double *q, double *e)
{
    (void)user, (void)t;
    double a = hypot(q[0], q[1]), b = hypot(q[2] - q[0], q[3] - q[1]),
           d[2] = {(q[2] - q[0]) / b, (q[3] - q[1]) / b};
    double rows[8] = {q[0] / a, q[1] / a, 0, 0, -d[0], -d[1], d[0], d[1]};
    memcpy(e, rows, sizeof rows);
    return 0;
}

static int made_in_c(int which, taut_system **system, taut_error *error)
{
    static const taut_index first[] = {0, 1}, second[] = {-1, 0};
    static const double anchor[4] = {0}, rest[] = {1, 1}, stiffness[] = {1e4, 1e4},
                        compliance[] = {1e-4, 1e-4}, down[] = {0, -1};
    const double start[] = {sqrt(.5), -sqrt(.5), sqrt(2), 5e-2};
    if (which == 0) {
        taut_callbacks call = {.size = sizeof call,
                               .coordinates = 4,
                               .bonds = 2,
                               .compliance = compliance,
                               .start_q = start,
                               .force = user_force,
                               .bond = user_bond,
                               .jacobian = user_jacobian};
        return taut_system_from_callbacks(&call, NULL, system, error);
    }
    taut_builder *builder = NULL;
    int code = taut_builder_create(2, 2, NULL, &builder, error);
    code = code ? code : taut_builder_start(builder, start, NULL);
    code = code ? code : taut_builder_gravity(builder, down);
    code = code ? code
                : taut_builder_distances(builder, "rod", 2, first, second, anchor, rest, stiffness);
    code = code ? code : taut_builder_finish(builder, system, error);
    taut_builder_destroy(builder);
    return code;
}

static void test_made_in_c(void)
{
    check_group("effective, systems made in C");
    char model[700];
    double force[3][4] = {{0}}, q[4] = {0}, v[4];
    snprintf(model, sizeof model, gravity_model, 1e-2);
    made e = make(model, NULL);
    for (int k = 0; k < 3; k++) {
        taut_system *base = NULL, *system = NULL;
        taut_context *context = NULL;
        taut_error error = {0};
        int code = k < 2 ? made_in_c(k, &base, &error) : e.code;
        if (code == 0 && k < 2)
            code = taut_effective_from_start(base, 0, &system, &error);
        if (code == 0)
            code = taut_context_create(k < 2 ? system : e.system, NULL, &context, &error);
        if (code == 0)
            code = taut_context_start(context, 0, q, v, &error);
        taut_values values = {.size = sizeof values, .force = force[k]};
        q[2] = q[0] + cos(.3); /* bent, so that W has a slope */
        q[3] = q[1] + sin(.3);
        if (code == 0)
            code = taut_evaluate(context, 0, q, v, TAUT_WANT_FORCE, &values, &error);
        check_row(code == 0, "%d: %s", k, error.message);
        check_near("compliance", code == 0 ? taut_context_compliance(context)[1] : NAN, 0, 0);
        taut_context_destroy(context);
        taut_system_destroy(system);
        taut_system_destroy(base);
    }
    for (int i = 0; i < 4; i++) {
        check_near("callbacks", force[0][i], force[2][i], 1e-4); /* Hessians by differences */
        check_near("builder", force[1][i], force[2][i], 1e-11);
    }
    check_row(fabs(force[2][0]) > 1e-2, "W is felt: %.3g", force[2][0]);
    destroy(&e);
}

/* Parameters set in a context of the effective system count in the base's too. */
static void test_parameters(void)
{
    check_group("effective, parameters");
    made e = make("[parameters]\ng = 1\n[coordinates]\nx, y\n[potential]\ng*y\n[bonds]\ns = x "
                  "stiffness 1e4\n[start]\nx = .01\n",
                  NULL);
    taut_context *context = NULL;
    double q[2] = {0, 0}, force[2] = {0, 0};
    taut_values values = {.size = sizeof values, .force = force};
    check_equal("context", taut_context_create(e.system, NULL, &context, &e.error), 0);
    check_equal("set", taut_context_set_parameter(context, 0, 3, &e.error), 0);
    check_equal("evaluate", taut_evaluate(context, 0, q, NULL, TAUT_WANT_FORCE, &values, &e.error),
                0);
    check_near("force", force[1], -3, 1e-15);
    check_near("compliance", taut_context_compliance(context)[0], 0, 0);
    taut_context_destroy(context);
    destroy(&e);
}

static void test_memory(void)
{
    check_group("effective, memory");
    char model[700];
    snprintf(model, sizeof model, gravity_model, 1e-2);
    for (int64_t k = 1; k < 3000; k = faulty_next(k)) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        taut_load how = {.size = sizeof how, .allocator = &allocator};
        taut_system *base = NULL, *system = NULL;
        taut_context *context = NULL;
        taut_error error = {0};
        double q[4], v[4], force[4];
        taut_values values = {.size = sizeof values, .force = force};
        int code = taut_system_parse(model, strlen(model), "m.taut", &how, &base, &error);
        if (code == 0)
            code = taut_effective_from_start(base, 0, &system, &error);
        if (code == 0)
            code = taut_context_create(system, NULL, &context, &error);
        if (code == 0)
            code = taut_context_start(context, 0, q, v, &error);
        int64_t calls = f.calls;
        for (int j = 0; j < 3 && code == 0; j++)
            code = taut_evaluate(context, 0, q, v, TAUT_WANT_FORCE, &values, &error);
        if (code == 0)
            check_equal("evaluation allocates nothing", f.calls, calls);
        bool failed = f.failed > 0;
        check_row(code == (failed ? TAUT_ERROR_MEMORY : 0), "call %d: %s", (int)k,
                  taut_code_name(code));
        taut_context_destroy(context);
        taut_system_destroy(system);
        taut_system_destroy(base);
        check_equal("live", f.live, 0);
        if (!failed)
            break;
    }
}

/* The run itself: its initial state makes a projector of its own. */
static void test_run_memory(void)
{
    check_group("effective, memory of a run");
    char model[700];
    snprintf(model, sizeof model, gravity_model, 1e-2);
    for (int64_t k = 1; k < 3000; k = faulty_next(k)) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        driven d = driven_create(model, "motion=effective method=effective until=0.1", &allocator);
        bool failed = f.failed > 0;
        check_row(d.code == (failed ? TAUT_ERROR_MEMORY : 0), "call %d: %s", (int)k,
                  taut_code_name(d.code));
        driven_destroy(&d);
        check_equal("live", f.live, 0);
        if (!failed)
            break;
    }
}

int main(void)
{
    test_angles();
    test_limit();
    test_kinetic();
    test_tensions();
    test_driver();
    test_start();
    test_equal_molecules();
    test_many_groups();
    test_long_chain();
    test_derivatives();
    test_refusals();
    test_made_in_c();
    test_parameters();
    test_memory();
    test_run_memory();
    return check_done();
}
