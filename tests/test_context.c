/* test_context.c - what a context answers: parameters and derivatives with respect to them,
 * outputs with multipliers, masses and inertial forces against formulas, first-order kinds,
 * numbers that are not numbers; no allocation in evaluations, several threads. */
#include <taut/taut.h>

#include <pthread.h>

#include "support/faulty.h"
#include "support/table.h"
#include "support/twins.h"

enum {
    EVERYTHING = TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA |
                 TAUT_WANT_BOND_HESSIAN | TAUT_WANT_FORCE_DQ | TAUT_WANT_FORCE_DV | TAUT_WANT_MASS |
                 TAUT_WANT_MASS_DQ | TAUT_WANT_STIFF_FORCE | TAUT_WANT_STIFF_HESSIAN |
                 TAUT_WANT_ENERGY | TAUT_WANT_MOMENTUM
};

/* ---- parameters */

static const char parameter_text[] =
    "[parameters]\nN = 3\nomega = 10\nkappa = omega^2, half = kappa/2\nw[i] = i*omega for i in "
    "1..N\n"
    "rho = 2\n"
    "[coordinates]\nx[i] for i in 1..N\n"
    "[mass]\nx[i] = rho + w[i] for i in 1..N\n"
    "[potential]\nsum(half*x[i]^2 for i in 1..N)\n"
    "[bonds]\nb[i] = x[i] - rho for i in 1..N   stiffness kappa + w[i]   damping omega\n"
    "[start]\nx[i] = rho*i for i in 1..N\n"
    "[run]\nuntil = 2*w[N]\nmethod = dop8\nstep = 1/kappa\nevery = 0.5\n";

static double parameter(const taut_context *context, const char *name)
{
    return taut_context_parameter(
        context, taut_system_find(taut_context_system(context), TAUT_PARAMETER, name));
}

static int set(taut_context *context, const char *name, double value, taut_error *error)
{
    return taut_context_set_parameter(
        context, taut_system_find(taut_context_system(context), TAUT_PARAMETER, name), value,
        error);
}

static void test_parameters(void)
{
    check_group("parameters");
    taut_system *system = twin_parse(parameter_text, NULL);
    taut_context *context = NULL, *other = NULL;
    taut_error error = {0};
    double q[3], v[3];
    if (!system || taut_context_create(system, NULL, &context, &error) ||
        taut_context_create(system, NULL, &other, &error)) {
        check_row(false, "contexts: %s", error.message);
        taut_system_destroy(system);
        return;
    }
    check_near("derived at load", parameter(context, "half"), 50, 0);
    check_row(set(context, "omega", 4, &error) == 0, "set omega: %s", error.message);
    check_near("kappa follows", parameter(context, "kappa"), 16, 0);
    check_near("half follows kappa", parameter(context, "half"), 8, 0);
    check_near("families follow", parameter(context, "w[3]"), 12, 0);
    check_near("compliances follow", taut_context_compliance(context)[1], 1.0 / (16 + 8), 1e-16);
    check_near("damping times follow", taut_context_damping(context)[1], 4.0 / (16 + 8), 1e-16);
    check_near("masses follow", taut_context_mass(context)[2], 2 + 12, 0);
    check_near("another context does not", parameter(other, "half"), 50, 0);
    check_near("nor its compliances", taut_context_compliance(other)[1], 1.0 / (100 + 20), 1e-17);
    check_row(set(context, "rho", 3, &error) == 0 &&
                  taut_context_start(context, 0, q, v, &error) == 0 && q[2] == 9,
              "start values follow: %g", q[2]);

    check_row(set(context, "half", 1, &error) == 0 && set(context, "omega", 5, &error) == 0,
              "set half, then omega: %s", error.message);
    check_near("what was set stays", parameter(context, "half"), 1, 0);
    check_near("the rest follows", parameter(context, "kappa"), 25, 0);

    check_equal("structural", set(context, "N", 4, &error), TAUT_ERROR_USAGE);
    check_contains("structural", error.message, "determines sizes or indices");
    check_equal("unknown", set(context, "nothing", 4, &error), TAUT_ERROR_USAGE);
    check_equal("infinite", set(context, "omega", INFINITY, &error), TAUT_ERROR_USAGE);
    check_equal("beyond the end", taut_context_set_parameter(context, 99, 1, &error),
                TAUT_ERROR_USAGE);
    check_row(isnan(taut_context_parameter(context, 99)) &&
                  isnan(taut_context_parameter(context, -1)),
              "no such parameter");
    /* a stiffness that becomes negative is refused, and nothing changes */
    check_equal("negative stiffness", set(context, "kappa", -1000, &error), TAUT_ERROR_USAGE);
    check_near("kappa is as before", parameter(context, "kappa"), 25, 0);
    check_near("and the compliances", taut_context_compliance(context)[0], 1.0 / 30, 1e-17);
    check_row(set(context, "omega", 6, &error) == 0 && parameter(context, "kappa") == 36,
              "kappa is still computed: %g", parameter(context, "kappa"));
    taut_context_destroy(context);
    taut_context_destroy(other);
    taut_system_destroy(system);
}

/* Are these the values of [run]? */
static void check_settings(const char *what, const taut_system *system, const char *until,
                           const char *step)
{
    const char *const expected[] = {until, "dop8", step, "0.5"}, *name, *value = "";
    for (int k = 0; k < 4; k++)
        check_row(taut_system_setting(system, k, &name, &value) && strcmp(value, expected[k]) == 0,
                  "%s: %s = %s, expected %s", what, name, value, expected[k]);
}

/* Numbers of [run] follow parameters, also those that are computed from others. */
static void test_settings(void)
{
    check_group("settings of [run]");
    taut_system *system = twin_parse(parameter_text, NULL), *with = NULL, *twice = NULL;
    taut_error error = {0};
    taut_index omega = taut_system_find(system, TAUT_PARAMETER, "omega"),
               kappa = taut_system_find(system, TAUT_PARAMETER, "kappa");
    check_settings("base", system, "60", "0.01");
    check_equal("with", taut_system_with(system, 1, &omega, &(double){4}, &with, &error), 0);
    check_settings("omega", with, "24", "0.0625");
    check_equal("again", taut_system_with(with, 1, &kappa, &(double){8}, &twice, &error), 0);
    check_settings("kappa", twice, "24", "0.125");
    check_settings("base", system, "60", "0.01");
    taut_system_destroy(twice);
    taut_system_destroy(with);
    /* not a step size */
    check_equal("negative", taut_system_with(system, 1, &kappa, &(double){-1}, &with, &error),
                TAUT_ERROR_USAGE);
    check_contains("negative", error.message, "step");
    check_row(!with, "nothing is made");
    taut_system_destroy(system);
}

/* A derived system has what a context has after the same calls, and contexts of the base do not. */
static void test_with(void)
{
    check_group("with");
    taut_system *system = twin_parse(parameter_text, NULL), *with = NULL;
    taut_context *context = NULL, *base = NULL;
    taut_error error = {0};
    double q[3], v[3];
    taut_index which[] = {taut_system_find(system, TAUT_PARAMETER, "half"),
                          taut_system_find(system, TAUT_PARAMETER, "omega"),
                          taut_system_find(system, TAUT_PARAMETER, "rho")},
               structural = taut_system_find(system, TAUT_PARAMETER, "N");
    check_equal("with", taut_system_with(system, 3, which, (double[]){1, 5, 3}, &with, &error), 0);
    check_equal("context", taut_context_create(with, NULL, &context, &error), 0);
    check_equal("base", taut_context_create(system, NULL, &base, &error), 0);
    if (context && base) {
        check_near("given", parameter(context, "half"), 1, 0);
        check_near("computed", parameter(context, "kappa"), 25, 0);
        check_near("compliance", taut_context_compliance(context)[1], 1.0 / (25 + 10), 1e-17);
        check_equal("start", taut_context_start(context, 0, q, v, &error), 0);
        check_near("start", q[2], 9, 0);
        check_near("the base", parameter(base, "kappa"), 100, 0);
        check_row(set(context, "omega", 6, &error) == 0 && parameter(context, "kappa") == 36 &&
                      parameter(context, "half") == 1,
                  "and on from there: %g", parameter(context, "kappa"));
    }
    taut_context_destroy(context);
    taut_context_destroy(base);
    taut_system_destroy(with);
    check_equal("structural", taut_system_with(system, 1, &structural, &(double){4}, &with, &error),
                TAUT_ERROR_USAGE);
    check_row(!with, "nothing is made");
    taut_system_destroy(system);
}

/* ---- d/dp */

static const struct {
    const char *name, *parameter, *text;
} derived[] = {
    {"springs", "omega", parameter_text},
    {"a mass and a rest length", "rho", parameter_text},
    {"a function of a parameter", "a",
     "[parameters]\na = 0.7, b = sin(a)*2, c = b^2\n[coordinates]\nx, y\n"
     "[mass]\nx = 1 + a^2, M[x, y] = b*cos(x)*a\n"
     "[potential]\nexp(a*x)*y\n[forces]\ny = -b*y'*x - c*t\n"
     "[bonds]\nrod = sqrt(x^2 + b*y^2) - a*t   compliance a^3\nline = x - c*y   rigid\n[start]\nx "
     "= 1, y = 2\n"},
    {"kinetic energy", "m",
     "[parameters]\nm = 1.5, l = m^2\n[coordinates]\nx, phi\n[definitions]\nbob = (x + l*sin(phi), "
     "-l*cos(phi))\n"
     "[kinetic]\nm*x'^2/2 + dot(bob', bob')/2\n[potential]\nm*bob.y\n[start]\nphi = 1\n"},
    {"a stiff potential", "omega",
     "[parameters]\nomega = 3, r = omega/3\n[coordinates]\nx, y\n[stiff potential]\n(x^2 + y^2 - "
     "r^2)^2/4   scale omega^2\n[start]\nx = 1\n"},
};

/* Room for every result of one system in one block: fields of `values` with their lengths. */
typedef struct field {
    const char *name;
    double *a, *b, *exact; /* at p + h and p - h; the derivative */
    int64_t count;
} field;

static void test_derivative(const char *name, taut_system *system, const char *which)
{
    twin one, two, exact;
    if (!twin_open(&one, system) || !twin_open(&two, system) || !twin_open(&exact, system))
        return;
    int64_t n = one.sizes.coordinates, m = one.sizes.bonds, tangent = one.tangent.start[n];
    taut_index k = taut_system_find(system, TAUT_PARAMETER, which);
    double *q = twin_room(n), *v = twin_room(n), *weight = twin_room(m), t = 0.3;
    uint64_t seed = 3;
    taut_context_start(one.context, 0, q, v, NULL);
    for (int64_t i = 0; i < n; i++) {
        q[i] += 0.1 * twins_random(&seed);
        v[i] = twins_random(&seed);
    }
    for (int64_t i = 0; i < m; i++)
        weight[i] = twins_random(&seed);
    twin *const all[] = {&one, &two, &exact};
    for (int j = 0; j < 3; j++) {
        all[j]->values.bond_weight = weight;
        all[j]->values.mass_weight = v;
    }
    double p = taut_context_parameter(one.context, k), h = 1e-5 * p;
    int status = taut_context_set_parameter(one.context, k, p + h, &one.error);
    if (status == 0)
        status = taut_context_set_parameter(two.context, k, p - h, &one.error);
    if (status == 0)
        status = taut_evaluate(one.context, t, q, v, EVERYTHING, &one.values, &one.error);
    if (status == 0)
        status = taut_evaluate(two.context, t, q, v, EVERYTHING, &two.values, &one.error);
    if (status == 0)
        status = taut_evaluate_parameter(exact.context, t, q, v, k, EVERYTHING, &exact.values,
                                         &one.error);
    check_row(status == 0, "%s: %d %s", name, status, one.error.message);
    taut_values *a = &one.values, *b = &two.values, *e = &exact.values;
    double energy[3][4] = {{a->kinetic, a->potential, a->bond_energy, a->stiff_energy},
                           {b->kinetic, b->potential, b->bond_energy, b->stiff_energy},
                           {e->kinetic, e->potential, e->bond_energy, e->stiff_energy}};
    const field fields[] = {
        {"f", a->force, b->force, e->force, n},
        {"g", a->bond, b->bond, e->bond, m},
        {"G", a->jacobian, b->jacobian, e->jacobian, one.sizes.jacobian_entries},
        {"g_t", a->bond_dt, b->bond_dt, e->bond_dt, m},
        {"gamma", a->gamma, b->gamma, e->gamma, m},
        {"Hess g", a->bond_hessian, b->bond_hessian, e->bond_hessian, tangent},
        {"df/dq", a->force_dq, b->force_dq, e->force_dq, tangent},
        {"df/dv", a->force_dv, b->force_dv, e->force_dv, tangent},
        {"M", a->mass, b->mass, e->mass, one.sizes.mass == TAUT_MASS_DIAGONAL ? n : tangent},
        {"dM/dq", a->mass_dq, b->mass_dq, e->mass_dq, tangent},
        {"stiff force", a->stiff_force, b->stiff_force, e->stiff_force, n},
        {"stiff Hessian", a->stiff_hessian, b->stiff_hessian, e->stiff_hessian, tangent},
        {"momentum", a->momentum, b->momentum, e->momentum, n},
        {"energy", energy[0], energy[1], energy[2], 4}};
    bool moved = false;
    for (size_t j = 0; j < sizeof fields / sizeof fields[0] && status == 0; j++) {
        const field *f = &fields[j];
        double size = 1e-3, worst = 0;
        for (int64_t i = 0; i < f->count; i++) {
            double difference = (f->a[i] - f->b[i]) / (2 * h);
            size = fmax(size, fabs(difference));
            worst = fmax(worst, isfinite(f->exact[i]) ? fabs(difference - f->exact[i]) : INFINITY);
            moved = moved || fabs(f->exact[i]) > 1e-3;
        }
        check_row(worst <= 1e-7 * size, "%s: d(%s)/d%s off by %.3g of %.3g", name, f->name, which,
                  worst, size);
    }
    check_row(moved, "%s: something depends on %s", name, which);
    free(q);
    free(v);
    free(weight);
    for (int j = 0; j < 3; j++)
        twin_close(all[j]);
}

static void test_derivatives(void)
{
    check_group("d/dp");
    for (size_t k = 0; k < sizeof derived / sizeof derived[0]; k++) {
        taut_system *system = twin_parse(derived[k].text, NULL);
        if (system)
            test_derivative(derived[k].name, system, derived[k].parameter);
        taut_system_destroy(system);
    }
    taut_system *system = twin_parse(parameter_text, NULL);
    twin a;
    if (system && twin_open(&a, system)) {
        double q[3] = {1, 2, 3};
        check_equal(
            "structural",
            taut_evaluate_parameter(a.context, 0, q, NULL, 0, TAUT_WANT_FORCE, &a.values, &a.error),
            TAUT_ERROR_USAGE);
        check_equal("unknown",
                    taut_evaluate_parameter(a.context, 0, q, NULL, -1, TAUT_WANT_FORCE, &a.values,
                                            &a.error),
                    TAUT_ERROR_USAGE);
        /* only the energy: no other array is needed */
        taut_values energy = {.size = sizeof energy};
        taut_index rho = taut_system_find(system, TAUT_PARAMETER, "rho");
        int status = taut_evaluate_parameter(a.context, 0, q, NULL, rho, TAUT_WANT_ENERGY, &energy,
                                             &a.error);
        /* sum of (x_i - rho)^2 (kappa + w_i) / 2: its derivative is minus the sum of the spring
         * forces */
        check_near("energy alone", energy.bond_energy, -((1 - 2) * 110.0 + 0 + (3 - 2) * 130.0),
                   1e-12);
        check_equal("status", status, 0);
        twin_close(&a);
    }
    taut_system_destroy(system);
}

/* ---- masses by formula */

/* T = m (r'^2 + r^2 phi'^2)/2: M = m diag(1, r^2), inertial forces m r phi'^2 and -2 m r r' phi'.
 */
static void test_polar(void)
{
    check_group("polar pendulum");
    taut_system *system = twin_parse(
        "[parameters]\nm = 3\n[coordinates]\nr, phi\n[kinetic]\nm*(r'^2 + r^2*phi'^2)/2\n"
        "[potential]\n-m*10*r*cos(phi)\n[start]\nr = 2, phi = 1\n",
        NULL);
    twin a;
    if (!system || !twin_open(&a, system))
        return;
    const double q[2] = {1.7, 0.4}, v[2] = {-0.6, 1.1}, w[2] = {0.3, -2};
    double r = q[0], phi = q[1], m = 3;
    a.values.mass_weight = w;
    int status = taut_evaluate(a.context, 0, q, v, EVERYTHING & ~TAUT_WANT_BOND_HESSIAN, &a.values,
                               &a.error);
    check_row(status == 0, "evaluate: %s", a.error.message);
    check_row(a.sizes.can & TAUT_HAS_KINETIC && a.sizes.can & TAUT_HAS_VARYING_MASS &&
                  a.sizes.can & TAUT_HAS_VELOCITY_FORCES,
              "bits: %x", a.sizes.can);
    check_near("f_r", a.values.force[0], m * r * v[1] * v[1] + m * 10 * cos(phi), 1e-13);
    check_near("f_phi", a.values.force[1], -2 * m * r * v[0] * v[1] - m * 10 * r * sin(phi), 1e-13);
    check_near("p_r", a.values.momentum[0], m * v[0], 1e-14);
    check_near("p_phi", a.values.momentum[1], m * r * r * v[1], 1e-14);
    check_near("T", a.values.kinetic, m * (v[0] * v[0] + r * r * v[1] * v[1]) / 2, 1e-14);
    check_near("V", a.values.potential, -m * 10 * r * cos(phi), 1e-13);
    static const char *const names[] = {"M", "d(Mw)/dq", "df/dq", "df/dv"};
    const double *const entries[] = {a.values.mass, a.values.mass_dq, a.values.force_dq,
                                     a.values.force_dv};
    const double expected[][4] = {{m, 0, 0, m * r * r},
                                  {0, 0, 2 * m * r * w[1], 0},
                                  {m * v[1] * v[1], -m * 10 * sin(phi),
                                   -2 * m * v[0] * v[1] - m * 10 * sin(phi),
                                   -m * 10 * r * cos(phi)},
                                  {0, 2 * m * r * v[1], -2 * m * r * v[1], -2 * m * r * v[0]}};
    for (int k = 0; k < 4; k++) {
        twin_dense(&a.tangent, 2, entries[k], a.dense[0]);
        for (int i = 0; i < 4; i++)
            check_near(names[k], a.dense[0][i], expected[k][i], 1e-13);
    }
    twin_close(&a);
    taut_system_destroy(system);
}

/* ---- outputs, first order */

static void test_outputs(void)
{
    check_group("outputs");
    taut_system *system =
        twin_parse("[parameters]\nk = 2\n[particles]\ndimension = 2\np[i] for i in "
                   "1..2\n[bonds]\nrod[i] = length(p[i]) - 1 for i in 1..2\n"
                   "[outputs]\npull = k*lambda(rod[2])\nends[i] = lambda(rod[i])*p[i].x + t for i "
                   "in 1..2\nspeed = length(p[1]')\n"
                   "[start]\np[i] = (i, 0) for i in 1..2\n",
                   NULL);
    taut_context *context = NULL;
    taut_error error = {0};
    if (!system || taut_context_create(system, NULL, &context, &error) != 0) {
        taut_system_destroy(system);
        return;
    }
    const double q[4] = {3, 4, 5, 6}, v[4] = {3, 4, 0, 0}, lambda[2] = {7, 11};
    double out[4] = {0};
    int status = taut_evaluate_outputs(context, 0.5, q, v, lambda, out, &error);
    check_row(status == 0 && out[0] == 22 && out[1] == 21.5 && out[2] == 55.5 && out[3] == 5,
              "outputs: %d: %g %g %g %g", status, out[0], out[1], out[2], out[3]);
    status = taut_evaluate_outputs(context, 0.5, q, NULL, NULL, out, &error);
    check_row(status == 0 && out[0] == 0 && out[1] == 0.5 && out[3] == 0,
              "without v and lambda: %g %g %g", out[0], out[1], out[3]);
    set(context, "k", 10, &error);
    taut_evaluate_outputs(context, 0.5, q, v, lambda, out, &error);
    check_near("parameters reach outputs", out[0], 110, 0);
    taut_context_destroy(context);
    taut_system_destroy(system);
}

/* z' = f(t, z, y): rates, df/dz on the tangent pattern, df/dy on the control pattern,
 * constraints before invariants. */
static void test_first_order(void)
{
    check_group("first order");
    taut_system *system = twin_parse(
        "[state]\na, b, c\n[algebraic]\ny, w\n"
        "[rates]\na' = b*y^2\nb' = t*w - a*c\nc' = sin(y*w)\n"
        "[constraints]\nfirst = a^2*b - t, second = b*c\n[invariants]\nenergy = a + b + c\n"
        "[start]\na = 1, b = t, y = 3\n",
        NULL);
    taut_error error = {0};
    taut_context *context = NULL;
    taut_sizes sizes = {.size = sizeof sizes};
    taut_pattern tangent, control, jacobian;
    if (!system || taut_context_create(system, NULL, &context, &error) != 0) {
        taut_system_destroy(system);
        return;
    }
    taut_system_sizes_get(system, &sizes, NULL);
    check_row(sizes.kind == TAUT_FIRST_ORDER && sizes.coordinates == 3 && sizes.algebraic == 2 &&
                  sizes.constraints == 2 && sizes.invariants == 1 && sizes.bonds == 3,
              "sizes");
    taut_system_pattern_get(system, TAUT_PATTERN_TANGENT, &tangent, &error);
    taut_system_pattern_get(system, TAUT_PATTERN_CONTROL, &control, &error);
    taut_system_pattern_get(system, TAUT_PATTERN_JACOBIAN, &jacobian, &error);
    const double z[3] = {1.2, 0.7, -0.4}, y[2] = {2, 0.3}, weight[3] = {1, 2, 3}, t = 0.9;
    double f[3], g[3], G[9], gt[3], dz[9] = {0}, dy[6] = {0}, hessian[9], dense[9], zero[5];
    taut_values values = {.size = sizeof values,
                          .force = f,
                          .bond = g,
                          .jacobian = G,
                          .bond_dt = gt,
                          .force_dq = dz,
                          .force_dv = dy,
                          .bond_hessian = hessian,
                          .bond_weight = weight};
    int status = taut_evaluate(context, t, z, y,
                               TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN |
                                   TAUT_WANT_FORCE_DQ | TAUT_WANT_FORCE_DV | TAUT_WANT_BOND_HESSIAN,
                               &values, &error);
    check_row(status == 0, "evaluate: %s", error.message);
    const double a = z[0], b = z[1], c = z[2], cs = cos(y[0] * y[1]);
    const double rates[3] = {b * y[0] * y[0], t * y[1] - a * c, sin(y[0] * y[1])},
                 rows[3] = {a * a * b - t, b * c, a + b + c}, late[3] = {-1, 0, 0},
                 by_state[9] = {0, y[0] * y[0], 0, -c, 0, -a, 0, 0, 0},
                 by_control[6] = {2 * b * y[0], 0, 0, t, y[1] * cs, y[0] * cs},
                 gradient[9] = {2 * a * b, a * a, 0, 0, c, b, 1, 1, 1},
                 second[9] = {2 * b, 2 * a, 0, 2 * a, 0, 2, 0, 2, 0};
    check_below("rates", twins_apart(f, rates, 3, 0), 1e-15);
    check_below("rows", twins_apart(g, rows, 3, 0), 1e-15);
    check_below("dg/dt", twins_apart(gt, late, 3, 0), 1e-15);
    twin_dense(&tangent, 3, dz, dense);
    check_below("df/dz", twins_apart(dense, by_state, 9, 0), 1e-15);
    twin_dense(&control, 2, dy, dense);
    check_below("df/dy", twins_apart(dense, by_control, 6, 0), 1e-15);
    twin_dense(&jacobian, 3, G, dense);
    check_below("G", twins_apart(dense, gradient, 9, 0), 1e-15);
    twin_dense(&tangent, 3, hessian, dense);
    check_below("Hess", twins_apart(dense, second, 9, 0), 1e-15);
    status = taut_context_start(context, 4, zero, zero + 3, &error);
    check_row(status == 0 && zero[0] == 1 && zero[1] == 4 && zero[2] == 0 && zero[3] == 3 &&
                  zero[4] == 0,
              "start: %g %g %g, %g %g", zero[0], zero[1], zero[2], zero[3], zero[4]);
    taut_context_destroy(context);
    taut_system_destroy(system);
}

/* ---- not a number; memory */

static void test_nan(void)
{
    check_group("not a number");
    taut_system *system = twin_parse("[particles]\ndimension = 2\np[i] for i in "
                                     "1..3\n[forces]\np[i].y = sqrt(p[i].x) for i in 1..3\n"
                                     "[bonds]\nlink[i] = 1/p[i].y for i in 1..3   stiffness 2\n"
                                     "[potential]\nsum(log(p[i].x + 10) for i in 1..3)\n",
                                     NULL);
    twin a;
    if (!system || !twin_open(&a, system))
        return;
    static const struct {
        double q[6];
        unsigned wanted;
        const char *name;
    } rows[] = {{{1, 1, -1, 1, 1, 1}, TAUT_WANT_FORCE, "p[2].y"},
                {{1, 1, 1, 1, -2, 1}, TAUT_WANT_FORCE, "p[3].y"},
                {{1, 1, -10, 1, 1, 1}, TAUT_WANT_FORCE, "p[2]"},
                {{1, 0, 1, 1, 1, 1}, TAUT_WANT_BOND, "link[1]"},
                {{1, 1, 1, 1, 1, 0}, TAUT_WANT_JACOBIAN, "link[3]"},
                {{1, 1, 1, 0, 1, 1}, TAUT_WANT_GAMMA, "link[2]"},
                {{-11, 1, 1, 1, 1, 1}, TAUT_WANT_ENERGY, "energy"}};
    double v[6] = {1, 1, 1, 1, 1, 1};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        int status =
            taut_evaluate(a.context, 1.25, rows[k].q, v, rows[k].wanted, &a.values, &a.error);
        check_row(status == TAUT_ERROR_EVALUATE && strstr(a.error.message, rows[k].name) &&
                      a.error.t == 1.25 && strstr(a.error.message, "1.25"),
                  "%s: %d \"%s\" t = %g", rows[k].name, status, a.error.message, a.error.t);
    }
    twin_close(&a);
    taut_system_destroy(system);
}

static void test_memory(void)
{
    check_group("no allocation");
    for (size_t k = 0; k < sizeof derived / sizeof derived[0]; k++) {
        faulty f = {0};
        taut_allocator allocator = faulty_allocator(&f);
        taut_load how = {.size = sizeof how, .allocator = &allocator};
        taut_system *system = twin_parse(derived[k].text, &how);
        twin a;
        if (!system || !twin_open(&a, system))
            continue;
        int64_t n = a.sizes.coordinates, m = a.sizes.bonds;
        double *q = twin_room(n), *v = twin_room(n), *weight = twin_room(m), *lambda = twin_room(m);
        a.values.bond_weight = weight;
        a.values.mass_weight = v;
        int64_t before = f.calls;
        int status = taut_context_start(a.context, 0, q, v, &a.error);
        for (int j = 0; j < 3 && status == 0; j++)
            status = taut_evaluate(a.context, 0.1 * j, q, v, EVERYTHING, &a.values, &a.error);
        if (status == 0)
            status = taut_context_set_parameter(
                a.context, taut_system_find(system, TAUT_PARAMETER, derived[k].parameter), 1.25,
                &a.error);
        check_row(status == 0 && f.calls == before, "%s: %d %s, %lld allocations", derived[k].name,
                  status, a.error.message, (long long)(f.calls - before));
        /* one jet: allocated when created, not when it advances */
        taut_jet *jet = NULL;
        status = taut_jet_create(a.context, 5, TAUT_WANT_FORCE | TAUT_WANT_BOND, &jet, &a.error);
        before = f.calls;
        for (int j = 0; j <= 5 && status == 0; j++)
            status = taut_jet_advance(jet, j, 0, q, v, &a.values, &a.error);
        check_row(status == 0 && f.calls == before, "%s: jets: %d, %lld allocations",
                  derived[k].name, status, (long long)(f.calls - before));
        taut_jet_destroy(jet);
        free(q);
        free(v);
        free(weight);
        free(lambda);
        twin_close(&a);
        taut_system_destroy(system);
        check_equal("blocks left", f.live, 0);
    }
}

/* ---- threads */

typedef struct worker {
    taut_system *system;
    uint64_t digest; /* of all results */
    int status;
    const char *parameter;
} worker;

static uint64_t digest(uint64_t sum, const double *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        sum = (sum ^ bits) * 1099511628211u;
    }
    return sum;
}

/* Many states through one context; the tangent pattern is asked for by several threads at once. */
static void *work(void *data)
{
    worker *w = data;
    twin a;
    uint64_t seed = 11;
    w->digest = 14695981039346656037u;
    if (!twin_open(&a, w->system)) {
        w->status = TAUT_ERROR_MEMORY;
        return NULL;
    }
    int64_t n = a.sizes.coordinates, m = a.sizes.bonds;
    double *q = twin_room(n), *v = twin_room(n), *weight = twin_room(m);
    a.values.bond_weight = weight;
    a.values.mass_weight = v;
    w->status = taut_context_start(a.context, 0, q, v, &a.error);
    for (int k = 0; k < 50 && w->status == 0; k++) {
        for (int64_t i = 0; i < n; i++) {
            q[i] += 0.01 * twins_random(&seed);
            v[i] = twins_random(&seed);
        }
        for (int64_t i = 0; i < m; i++)
            weight[i] = twins_random(&seed);
        if (w->parameter)
            w->status = set(a.context, w->parameter, 1 + 0.01 * k, &a.error);
        if (w->status == 0)
            w->status = taut_evaluate(a.context, 0.1 * k, q, v, EVERYTHING, &a.values, &a.error);
        w->digest = digest(w->digest, a.values.force, n);
        w->digest = digest(w->digest, a.values.jacobian, a.sizes.jacobian_entries);
        w->digest = digest(w->digest, a.values.bond_hessian, a.tangent.start[n]);
        w->digest = digest(w->digest, a.values.force_dq, a.tangent.start[n]);
        w->digest = digest(w->digest, a.values.stiff_force, n);
        w->digest = digest(w->digest, &a.values.kinetic, 1);
    }
    free(q);
    free(v);
    free(weight);
    twin_close(&a);
    return NULL;
}

static void test_threads(void)
{
    enum { THREADS = 4 };
    check_group("threads");
    for (size_t k = 0; k < sizeof derived / sizeof derived[0]; k++) {
        taut_system *system = twin_parse(derived[k].text, NULL);
        if (!system)
            continue;
        worker workers[THREADS];
        pthread_t thread[THREADS];
        int started = 0;
        for (int i = 0; i < THREADS; i++)
            workers[i] =
                (worker){.system = system, .parameter = i % 2 ? derived[k].parameter : NULL};
        while (started < THREADS &&
               pthread_create(&thread[started], NULL, work, &workers[started]) == 0)
            started++;
        for (int i = 0; i < started; i++)
            pthread_join(thread[i], NULL);
        worker alone = {.system = system};
        work(&alone);
        check_row(started == THREADS && workers[0].status == 0 && workers[1].status == 0 &&
                      alone.status == 0 && workers[0].digest == alone.digest &&
                      workers[2].digest == alone.digest && workers[1].digest == workers[3].digest &&
                      workers[1].digest != alone.digest,
                  "%s: %d threads, status %d %d, digests %llx %llx %llx", derived[k].name, started,
                  workers[0].status, workers[1].status, (unsigned long long)workers[0].digest,
                  (unsigned long long)workers[2].digest, (unsigned long long)alone.digest);
        taut_system_destroy(system);
    }
}

int main(void)
{
    test_parameters();
    test_settings();
    test_with();
    test_derivatives();
    test_polar();
    test_outputs();
    test_first_order();
    test_nan();
    test_memory();
    test_threads();
    return check_done();
}
