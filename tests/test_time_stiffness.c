/* test_time_stiffness.c - bonds whose stiffness or compliance depends on t. Oracles: closed
 * solutions; slow solutions as formal series, x = (F - x'')/k repeated on Taylor series in extended
 * precision; rigid motion, which no stiffness alters. */
#include "judge/taylor.h"
#include "support/run.h"

/* x'' + 4 x/u^4 = 0, u = 1 + 0.3 t:  x = u (0.1 sin s + cos s), s = (2/0.3)(1 - 1/u) */
static const char growing[] = "[coordinates]\nx\n[bonds]\nspring = x  stiffness 4*(1 + 0.3*t)^-4\n"
                              "[start]\nx = 1, x' = 0.5\n[outputs]\nforce = lambda(spring)\n";
static const char yielding[] = "[coordinates]\nx\n[bonds]\nspring = x  compliance (1 + 0.3*t)^4/4\n"
                               "[start]\nx = 1, x' = 0.5\n[outputs]\nforce = lambda(spring)\n";

static void closed(double t, double *x, double *v, double *force)
{
    double u = 1 + 0.3 * t, s = 2 / 0.3 * (1 - 1 / u);
    *x = u * (0.1 * sin(s) + cos(s));
    *v = 0.3 * (0.1 * sin(s) + cos(s)) + 2 / u * (0.1 * cos(s) - sin(s));
    *force = 4 * pow(u, -4) * *x;
}

static int run(driven *d, kept *rows)
{
    taut_sink sink = kept_sink(rows);
    if (d->code == 0)
        d->code = taut_solver_run(d->solver, &sink, 1, NULL, NULL, &d->error);
    return d->code;
}

static void check_closed(void)
{
    static kept rows;
    static const struct {
        const char *model, *options;
        double tolerance;
    } table[] = {{growing, "motion=full method=dop8 rtol=1e-10 until=5", 1e-8},
                 /* between steps multipliers of Radau have the order s - 1 */
                 {growing, "motion=full method=radau9 rtol=1e-9 until=5", 1e-6},
                 {growing, "motion=full method=radau5 rtol=1e-8 until=5", 1e-4},
                 {growing, "motion=full method=verlet step=1e-3 until=5", 1e-5},
                 {yielding, "motion=full method=dop8 rtol=1e-10 until=5", 1e-8}};
    check_group("closed solution");
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        driven d = driven_create(table[k].model, table[k].options, NULL);
        run(&d, &rows);
        if (!driven_good(table[k].options, &d)) {
            driven_destroy(&d);
            continue;
        }
        double worst = 0, x, v, force;
        for (int i = 0; i < rows.rows; i++) {
            closed(rows.t[i], &x, &v, &force);
            worst = fmax(worst, fabs(rows.q[i][0] - x) + fabs(rows.v[i][0] - v));
            worst = fmax(worst, fabs(rows.lambda[i][0] - force) + fabs(rows.output[i][0] - force));
            worst = fmax(worst, fabs(rows.energy[i] - (v * v + force * x) / 2));
        }
        check_below(table[k].options, worst, table[k].tolerance);
        closed(5, &x, &v, &force);
        check_near("multiplier of the end", taut_solver_multipliers(d.solver)[0], force,
                   table[k].tolerance);
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(d.solver, &result, NULL);
        /* work of the changing stiffness is E(5) - E(0) */
        if (isfinite(result.energy_balance))
            check_below("balance of energy", fabs(result.energy_balance), 1e-4);
        driven_destroy(&d);
    }
}

/* Verlet's error is O(h^2) with k(t) too. */
static void check_order(void)
{
    double x, v, force, error[2];
    closed(5, &x, &v, &force);
    check_group("order");
    for (int k = 0; k < 2; k++) {
        driven d = driven_create(growing,
                                 k ? "motion=full method=verlet step=0.005 until=5"
                                   : "motion=full method=verlet step=0.01 until=5",
                                 NULL);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        if (driven_good("verlet", &d))
            error[k] = fabs(taut_solver_position(d.solver)[0] - x);
        driven_destroy(&d);
    }
    check_near("verlet", log2(error[0] / error[1]), 2, 0.05);
}

/* ---- the slow solution of x'' = cos t - k(t) (x - 0.3 sin t), k = K (1 + sin(2 t)/2) */

static series wave(real t, real phase, real w)
{
    series s;
    real factor = 1;
    for (int n = 0; n < N; n++) {
        s.c[n] = factor * sinl(w * t + phase + n * acosl(-1) / 2);
        factor *= w / (n + 1);
    }
    return s;
}

static series divide(series a, series b)
{
    series q = {{0}};
    for (int n = 0; n < N; n++) {
        real sum = a.c[n];
        for (int j = 0; j < n; j++)
            sum -= q.c[j] * b.c[n - j];
        q.c[n] = sum / b.c[0];
    }
    return q;
}

/* x, x', force; the number of terms is that at which those at K = 1e4 are below 1e-20 */
static void slow(real K, real t, double *x, double *v, double *force)
{
    series k = scale(add(constant(1), wave(t, 0, 2), 0.5L), K), r = scale(wave(t, 0, 1), 0.3L),
           f = add(wave(t, acosl(-1) / 2, 1), derivative(derivative(r)), -1), y = divide(f, k);
    for (int level = 0; level < 5; level++)
        y = divide(add(f, derivative(derivative(y)), -1), k);
    *x = (double)(r.c[0] + y.c[0]);
    *v = (double)(r.c[1] + y.c[1]);
    *force = (double)(k.c[0] * y.c[0]);
}

static const char driven_spring[] =
    "[parameters]\nK = 1e4\n[coordinates]\nx\n[forces]\nx = cos(t)\n"
    "[bonds]\nspring = x - 0.3*sin(t)  stiffness K*(1 + 0.5*sin(2*t))\n"
    "[start]\nx = 0\n";

static void check_slow_point(void)
{
    static const char *const methods[] = {"series", "kernel"};
    static const double limit[] = {1e-13, 1e-7};
    check_group("slow point");
    for (int k = 0; k < 2; k++) {
        taut_error error = {0};
        taut_system *system = NULL;
        taut_options *options = NULL;
        taut_projection *p = NULL;
        taut_projection_result r = {.size = sizeof r};
        double x, v, force;
        slow(1e4L, 1, &x, &v, &force);
        int status = taut_system_parse(driven_spring, strlen(driven_spring), "model.taut", NULL,
                                       &system, &error);
        if (status == 0)
            status = taut_options_create(NULL, &options, &error);
        if (status == 0)
            status = taut_options_set(options, "method", methods[k], &error);
        if (status == 0)
            status = taut_options_set(options, "from", "1", &error);
        if (status == 0)
            status = taut_project(system, options, NULL, &p, &error);
        if (check_row(status == 0, "%s: %s", methods[k], error.message)) {
            taut_projection_result_get(p, &r, NULL);
            check_near(methods[k], r.q[0], x, limit[k]);
            check_near("velocity", r.v[0], v, 100 * limit[k]);
            check_near("force", r.lambda[0], force, 1e4 * limit[k]);
        }
        taut_projection_destroy(p);
        taut_options_destroy(options);
        taut_system_destroy(system);
    }
}

/* the same, as a family with a compliance */
static const char driven_family[] =
    "[parameters]\nK = 1e4\n[coordinates]\nx[i] for i in 1..2\n[forces]\nx[i] = cos(t) for i in "
    "1..2\n[bonds]\nspring[i] = x[i] - 0.3*sin(t) for i in 1..2  compliance 1/(K*(1 + "
    "0.5*sin(2*t)))\n[start]\nx[1] = 0\n";

static void check_slow_motion(void)
{
    static const struct {
        const char *model, *options;
    } table[] = {{driven_spring, "motion=slow method=radau5 rtol=1e-9 until=3"},
                 {driven_spring, "motion=slow method=radau9 rtol=1e-10 until=3"},
                 {driven_family, "motion=slow method=radau9 rtol=1e-10 until=3"}};
    static kept rows;
    check_group("slow motion");
    for (int k = 0; k < 3; k++) {
        driven d = driven_create(table[k].model, table[k].options, NULL);
        run(&d, &rows);
        double worst = 0, worst_force = 0;
        for (int i = 0; d.code == 0 && i < rows.rows; i += 10) {
            double x, v, force;
            slow(1e4L, rows.t[i], &x, &v, &force);
            worst = fmax(worst, fabs(rows.q[i][0] - x) + 1e-2 * fabs(rows.v[i][0] - v));
            worst_force = fmax(worst_force, fabs(rows.lambda[i][0] - force));
        }
        if (driven_good(table[k].options, &d)) {
            check_below(table[k].options, worst, 1e-8);
            check_below("force", worst_force, 1e-5);
        }
        driven_destroy(&d);
    }
}

/* ---- rigid motion does not depend on the stiffness; multipliers are forces */

static void check_rigid(void)
{
    static const char head[] = "[coordinates]\nx, y, u, w\n[potential]\ny + w\n[bonds]\n"
                               "rod[i] = if(i == 1, sqrt(x^2 + y^2), sqrt((x - u)^2 + (y - w)^2)) "
                               "- 1 for i in 1..2  stiffness ";
    static const char tail[] = "\n[start]\nx = 1, u = 2, w' = 0.3\n";
    static const char *const stiffness[] = {"1e6", "1e6*i*(1 + t)^2"};
    double found[2][6] = {{0}};
    check_group("rigid motion");
    for (int k = 0; k < 2; k++) {
        char text[600];
        snprintf(text, sizeof text, "%s%s%s", head, stiffness[k], tail);
        driven d = driven_create(text, "motion=rigid method=dop8 rtol=1e-11 until=2", NULL);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        if (driven_good(stiffness[k], &d)) {
            memcpy(found[k], taut_solver_position(d.solver), 4 * sizeof(double));
            memcpy(found[k] + 4, taut_solver_multipliers(d.solver), 2 * sizeof(double));
        }
        driven_destroy(&d);
    }
    for (int i = 0; i < 6; i++)
        check_near(i < 4 ? "coordinate" : "multiplier", found[1][i], found[0][i], 1e-8);
}

/* An event of the force in the spring, at the time of the closed solution. */
static void check_event(void)
{
    char text[400];
    double low = 1, high = 2, x, v, force;
    snprintf(text, sizeof text, "%s[events]\nweak = lambda(spring) + 0.25  falling  stop\n",
             growing);
    for (int k = 0; k < 60; k++) {
        double middle = (low + high) / 2;
        closed(middle, &x, &v, &force);
        *(force > -0.25 ? &low : &high) = middle;
    }
    check_group("event");
    driven d = driven_create(text, "motion=full method=dop8 rtol=1e-10 until=5", NULL);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    if (check_row(d.code >= 0, "%s", d.error.message))
        check_near("time", taut_solver_time(d.solver), low, 1e-7);
    driven_destroy(&d);
}

static void check_frequency(void)
{
    taut_system *system = NULL;
    taut_context *context = NULL;
    taut_error error = {0};
    double q[1] = {0}, frequency[2] = {0};
    int found = 0;
    bool complete = false;
    check_group("frequency");
    int status = taut_system_parse(growing, strlen(growing), "model.taut", NULL, &system, &error);
    if (status == 0)
        status = taut_context_create(system, NULL, &context, &error);
    if (status == 0)
        status = taut_frequencies(context, 4, q, 1, frequency, &found, &complete, &error);
    if (check_row(status == 0 && found == 1, "%s", error.message))
        check_near("sqrt(k/m)", frequency[0], 2 / (2.2 * 2.2), 1e-12);
    taut_context_destroy(context);
    taut_system_destroy(system);
}

/* A stiffness that vanishes within the run. */
static void check_vanishing(void)
{
    check_group("a stiffness that vanishes");
    driven d = driven_create("[coordinates]\nx\n[bonds]\nspring = x  stiffness 1 - t\n"
                             "[start]\nx = 1\n",
                             "motion=full method=dop8 until=2", NULL);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    check_row(d.code < 0 && strstr(d.error.message, "stiffness of bond spring"), "%d: %s", d.code,
              d.error.message);
    driven_destroy(&d);
}

int main(void)
{
    check_closed();
    check_order();
    check_slow_point();
    check_slow_motion();
    check_rigid();
    check_event();
    check_frequency();
    check_vanishing();
    return check_done();
}
