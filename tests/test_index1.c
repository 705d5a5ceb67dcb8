/* test_index1.c - constraints that contain algebraic variables, alone (index 1) and next to others
 * (index 2). Oracles: solutions in closed form, observed orders, the constraints evaluated here;
 * initial values that are wrong in the model. Robertson's problem is in test_defaults.c. */
#include "support/run.h"

/* z = y = exp(-2 t); the constraint is nonlinear in both */
static const char decay[] = "[state]\nz\n[algebraic]\ny\n[rates]\nz' = -2*y\n"
                            "[constraints]\nc = y + y^3/2 - (z + z^3/2)\n"
                            "[start]\nz = 1, y = 0.3\n";
/* x = sin t, w = cos t, y = exp(-t), mu = 0: `level` determines y, `circle` the multiplier mu */
static const char mixed[] = "[state]\nx, w\n[algebraic]\ny, mu\n"
                            "[rates]\nx' = y*exp(t)*cos(t) + mu*x\n"
                            "w' = -sin(t) + mu*w*(1 + y)\n"
                            "[constraints]\ncircle = x^2 + w^2 - 1\n"
                            "level = y*(1 + x) - exp(-t)*(1 + sin(t))\n"
                            "[start]\nx = sin(t), w = cos(t), y = 7, mu = -3\n";
/* y[i] = exp(-i t) by a chain of constraints through a definition; z' = -sum y */
static const char family[] = "[state]\nz\n[algebraic]\ny[i] for i in 1..3\n"
                             "[definitions]\ntwice[i] = 2*y[i] for i in 1..3\n"
                             "[rates]\nz' = -y[1] - y[2] - y[3]\n"
                             "[constraints]\nc[i] = twice[i] - 2*exp(-i*t) for i in 1..3\n"
                             "[start]\nz = 0\n";

static double end_of(const char *model, const char *options, double expected, double *other,
                     double other_expected)
{
    double error = NAN;
    driven d = driven_create(model, options, NULL);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    if (driven_good(options, &d)) {
        error = fabs(taut_solver_position(d.solver)[0] - expected);
        *other = fabs(taut_solver_position(d.solver)[1] - other_expected);
    }
    driven_destroy(&d);
    return error;
}

static void check_orders(void)
{
    static const struct {
        const char *method;
        double order, step;
    } table[] = {{"radau1", 1, 0.02}, {"radau3", 3, 0.1}, {"radau5", 5, 0.25},   {"radau7", 7, 0.5},
                 {"radau9", 9, 1},    {"euler", 1, 0.02}, {"midpoint", 2, 0.02}, {"rk4", 4, 0.05},
                 {"dopri5", 5, 0.05}, {"ab2", 2, 0.01},   {"dop8", 8, 0.25}};
    check_group("orders");
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        double error[2], follows[2];
        for (int fine = 0; fine < 2; fine++) {
            char options[200];
            snprintf(options, sizeof options, "method=%s step=%g until=2", table[k].method,
                     table[k].step / (fine ? 2 : 1));
            error[fine] = end_of(decay, options, exp(-4), &follows[fine], exp(-4));
        }
        double order = log2(error[0] / error[1]), order_y = log2(follows[0] / follows[1]);
        check_row(order > table[k].order - 0.35 && order_y > table[k].order - 0.35,
                  "%s: %.2f, algebraic variable %.2f (%g, %g)", table[k].method, order, order_y,
                  error[0], error[1]);
    }
}

static int run(driven *d, kept *rows)
{
    taut_sink sink = kept_sink(rows);
    if (d->code == 0)
        d->code = taut_solver_run(d->solver, &sink, 1, NULL, NULL, &d->error);
    return d->code;
}

static void check_mixed(void)
{
    static kept rows;
    static const char *const options[] = {"method=radau5 rtol=1e-8 until=3",
                                          "method=radau9 rtol=1e-10 until=3",
                                          "method=radau3 rtol=1e-6 until=3",
                                          "method=dop8 rtol=1e-9 until=3",
                                          "method=dopri5 rtol=1e-8 until=3",
                                          "method=dop8 rtol=1e-9 until=3 stabilize=project",
                                          "rtol=1e-8 until=3"};
    check_group("mixed");
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        driven d = driven_create(mixed, options[k], NULL);
        run(&d, &rows);
        if (!driven_good(options[k], &d)) {
            driven_destroy(&d);
            continue;
        }
        double worst = 0, off = 0;
        for (int i = 0; i < rows.rows; i++) {
            double t = rows.t[i], *q = rows.q[i];
            worst = fmax(worst, fabs(q[0] - sin(t)) + fabs(q[1] - cos(t)) + fabs(q[2] - exp(-t)));
            off = fmax(off, fabs(q[0] * q[0] + q[1] * q[1] - 1));
            off = fmax(off, fabs(q[2] * (1 + q[0]) - exp(-t) * (1 + sin(t))));
        }
        check_below(options[k], worst, k == 2 ? 1e-4 : 1e-6);
        check_below("constraints, as evaluated here", off, k == 2 ? 1e-5 : 1e-7);
        /* the given y = 7 and mu = -3 are guesses: consistent ones are the first row's */
        check_near("y of the first row", rows.q[0][2], 1, 1e-14);
        check_near("rate of y", rows.v[0][0], -1, 1e-12);
        check_near("mu", rows.v[0][1], 0, 1e-12);
        driven_destroy(&d);
    }
}

static void check_family(void)
{
    char name[40];
    check_group("family");
    driven d = driven_create(family, "rtol=1e-10 until=1", NULL);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    if (driven_good("family", &d)) {
        const double *q = taut_solver_position(d.solver), *u = taut_solver_velocity(d.solver);
        check_near("z", q[0], -(1 - exp(-1)) - (1 - exp(-2)) / 2 - (1 - exp(-3)) / 3, 1e-9);
        for (int i = 1; i <= 3; i++) {
            check_near("y", q[i], exp(-i), 1e-10);
            check_near("y'", u[i - 1], -i * exp(-i), 1e-8);
        }
        taut_system_name(d.system, TAUT_ALGEBRAIC, 1, name, sizeof name);
        check_row(strcmp(name, "y[2]'") == 0, "the name of a rate is %s", name);
    }
    driven_destroy(&d);
}

/* An event doubles z at t = 1: y follows at once. From there z = 2 exp(-2) exp(-2 (t - 1)). */
static void check_event(void)
{
    static kept rows;
    static const char *const options[] = {"method=radau5 rtol=1e-9 until=2",
                                          "method=dop8 rtol=1e-9 until=2"};
    char text[400];
    snprintf(text, sizeof text, "%s[events]\ntwice = t - 1  rising  then z = 2*z\n", decay);
    check_group("event");
    for (int k = 0; k < 2; k++) {
        driven d = driven_create(text, options[k], NULL);
        run(&d, &rows);
        double worst = 0, apart = 0;
        for (int i = 0; i < rows.rows; i++) {
            double z = exp(-2 * rows.t[i]) * (rows.t[i] > 1 + 1e-9 ? 2 : 1);
            worst = fmax(worst, fabs(rows.t[i] - 1) > 1e-9 ? fabs(rows.q[i][0] - z) : 0);
            apart = fmax(apart, fabs(rows.q[i][0] - rows.q[i][1]));
        }
        if (driven_good(options[k], &d)) {
            check_below("z", worst, 1e-7);
            check_below("y - z", apart, 1e-8);
        }
        driven_destroy(&d);
    }
}

/* What cannot be solved is refused with names, before a step. */
static void check_refusals(void)
{
    static const struct {
        const char *model, *words[3];
    } table[] = {
        {"[state]\nz\n[algebraic]\ny\n[rates]\nz' = y\n[constraints]\nc = y^2 + z^2\n"
         "[start]\nz = 0, y = 0\n",
         {"cannot be solved", "'c'", "index is above 1"}},
        {"[state]\nz\n[algebraic]\ny\n[rates]\nz' = y\n[constraints]\nc = y^2 + z^2\n"
         "[start]\nz = 1, y = 0.5\n",
         {"were found", "'c'", "[start]"}},
        {"[state]\nx, y, u, w\n[algebraic]\nl\n[rates]\nx' = u\ny' = w\nu' = -l*x\n"
         "w' = -l*y - 1\n[constraints]\nc = x^2 + y^2 - 1\n[start]\nx = 1\n",
         {"index is above 2", "Differentiate", "[bonds]"}},
        {"[state]\nx, w\n[algebraic]\ny, u\n[rates]\nx' = y\nw' = u\n"
         "[constraints]\na = y + u - x\nb = 2*y + 2*u - w\n[start]\nx = 1\n",
         {"cannot be solved", "separately", "index is above 1"}},
        {"[state]\nx, u\n[algebraic]\na, b\n[rates]\nx' = u - a - 2*b\nu' = -x\n[constraints]\n"
         "c = x - sin(t)\nd = 2*x - 2*sin(t)\n[start]\nu = 1\n",
         {"follow from others", "taut check", "omit them"}},
    };
    static const char *const methods[] = {"method=radau5 until=1", "method=dop8 until=1"};
    check_group("refusals");
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        for (int m = 0; m < 2; m++) {
            driven d = driven_create(table[k].model, methods[m], NULL);
            if (d.code == 0)
                d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            check_row(d.code < 0, "model %d, %s: it ran", (int)k, methods[m]);
            for (int j = 0; j < 3; j++)
                check_row(strstr(d.error.message, table[k].words[j]), "model %d, %s: '%s' in: %s",
                          (int)k, methods[m], table[k].words[j], d.error.message);
            driven_destroy(&d);
        }
}

int main(void)
{
    check_orders();
    check_mixed();
    check_family();
    check_event();
    check_refusals();
    return check_done();
}
