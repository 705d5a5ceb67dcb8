/* test_adaptive.c - adaptive step size: the norm and the controller seen from outside,
 * tolerances and errors against exact solutions, failures that a smaller step cures and those it
 * does not, dense output, first-order systems, memory. */
#include "base/method.h"
#include "support/run.h"
#include "drive/solver.h"

#define OSCILLATOR "[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = cos(t), x' = -sin(t)\n"
/* of period 2 pi */
#define ORBIT                                                                                      \
    "[coordinates]\nx, y\n[potential]\n-1/sqrt(x^2 + y^2)\n[start]\nx = 0.5, y' = sqrt(3)\n"

static const double PI = 3.14159265358979323846;

/* ---- a witness: a method that hands every call on to a real one and notes what it saw */

enum { NOTES = 4000 };
static struct {
    taut_method method;
    const taut_method *real;
    int count;
    double t[NOTES], h[NOTES], norm[NOTES];
    double longest; /* steps beyond are answered with "try a smaller one" */
} witness;

/* The norm of docs/architecture.md, repeated here for two variables x and y, which are a group. */
enum { MOST_VARIABLES = 4 };
static struct {
    double q[MOST_VARIABLES], square[MOST_VARIABLES], elapsed, reach, length, start_pull;
    int steps;
} seen;

static double first_order_norm(const taut_stepper *s)
{
    double sum = 0;
    for (taut_index i = 0; i < s->n; i++) {
        double q = fmax(fabs(s->now.q[i]), fabs(s->last.q[i]));
        double e = s->error_q[i] / (1e-3 * s->rtol * seen.q[i] + s->rtol * q);
        sum += e * e;
    }
    return sqrt(sum / s->n);
}

static double norm_of_positions(const taut_stepper *s, double h)
{
    double sum = 0;
    for (taut_index i = 0; i < s->n; i++) {
        double e = fabs(s->error_q[i]) + fabs(h * s->error_v[i]);
        e /= s->atol + s->rtol * fmax(fabs(s->now.q[i]), fabs(s->last.q[i]));
        sum += e * e;
    }
    return sqrt(sum / s->n);
}

/* max |x_i| over both coordinates, which are one group */
static double most(const double *x)
{
    return fmax(fabs(x[0]), fabs(x[1]));
}

static double norm_of(const taut_stepper *s, double h)
{
    if (s->first_order)
        return first_order_norm(s);
    double q = fmax(seen.q[0], most(s->now.q)),
           v = seen.elapsed > 0 ? sqrt(seen.square[0] / seen.elapsed) : most(s->now.v),
           a = seen.elapsed > 0 && !isnan(s->last.a[0]) ? most(s->last.a) : 0,
           fast = fmax(most(s->now.v), most(s->last.v)), q2 = 0, v2 = 0;
    v = fmax(fmax(v, 1e-3 * q / seen.length),
             ldexp(0.05, -(seen.steps < 16 ? seen.steps : 16)) * sqrt(seen.start_pull * q));
    double wq = s->atol + s->rtol * q, wv = s->rtol * v * (fast > 2 * v ? 2 * v / fast : 1);
    if (a * wq > s->rtol * v * v)
        wq = fmax(s->rtol * v * v / a, 8 * 0x1p-52 * most(s->now.q));
    for (taut_index i = 0; i < s->n; i++) {
        q2 += s->error_q[i] / wq * (s->error_q[i] / wq);
        v2 += s->error_v[i] / wv * (s->error_v[i] / wv);
    }
    double speed = sqrt(v2 / s->n), power = fmax(s->method->sharper, 1);
    if (power > 1)
        speed = fmin(speed, 40 * pow(s->rtol * speed, power) / s->rtol);
    double longest = fmax(fabs(h), 0.1 * seen.reach);
    double share = fmin(1, fmax(300 * longest / seen.length, 10 / (10. + seen.steps)));
    double own = fmax(sqrt(q2 / s->n), speed) / share;
    return power > 1 ? fmax(own, norm_of_positions(s, longest)) : own;
}

/* The step to `s->now` was accepted. */
static void see(const taut_stepper *s, double h)
{
    for (taut_index i = 0; i < s->n; i++)
        seen.q[i] = fmax(seen.q[i], fabs(s->now.q[i]));
    if (s->first_order)
        seen.q[0] = seen.q[1] = fmax(seen.q[0], seen.q[1]); /* x and y are one group */
    else
        seen.q[0] = fmax(seen.q[0], seen.q[1]);
    if (!s->first_order && h != 0)
        seen.square[0] +=
            fabs(h) * (most(s->now.v) * most(s->now.v) + most(s->last.v) * most(s->last.v));
    seen.elapsed += fabs(h);
    seen.steps += h != 0;
    seen.reach = fmax(fabs(h), seen.reach - fabs(h) / 10);
}

static int witness_step(taut_stepper *s, double h, taut_error *error)
{
    if (fabs(h) > witness.longest)
        return 1;
    double t = s->now.t;
    if (witness.count == 0 || t != witness.t[witness.count - 1])
        see(s, witness.count > 0 ? witness.h[witness.count - 1] : 0);
    int status = witness.real->step(s, h, error);
    if (witness.count < NOTES && status == 0) {
        witness.t[witness.count] = t;
        witness.h[witness.count] = h;
        witness.norm[witness.count++] = norm_of(s, h);
    }
    return status;
}

static driven watched(const char *model, const char *options)
{
    driven d = driven_create(model, options, NULL);
    if (!driven_good(options, &d))
        return d;
    witness.real = d.solver->stepper.method;
    witness.method = *witness.real;
    witness.method.step = witness_step;
    witness.count = 0;
    memset(&seen, 0, sizeof seen);
    seen.length = fabs(d.solver->until - d.solver->from);
    seen.start_pull = d.solver->stepper.field && d.solver->stepper.n == 2 ? 4 : 0; /* ORBIT */
    witness.longest = INFINITY;
    d.solver->stepper.method = &witness.method;
    return d;
}

static void test_controller(void)
{
    static const struct {
        const char *name, *model, *options;
    } rows[] = {
        {"orbit", ORBIT, "method=dop8 until=20 rtol=1e-7 atol=1e-9"},
        {"orbit, loose", ORBIT, "method=dop8 until=20 rtol=1e-3 atol=1e-3"},
        {"orbit, dopri5", ORBIT, "method=dopri5 until=20 rtol=1e-6 atol=1e-9"},
        {"orbit, radau5", ORBIT, "method=radau5 motion=full until=20 rtol=1e-6 atol=1e-9"},
        {"backwards", ORBIT, "method=dop8 from=3 until=-20 rtol=1e-6"},
        {"first order", "[state]\nx, y\n[rates]\nx' = 50*(cos(t) - x)\ny' = x\n",
         "until=10 rtol=1e-5"},
    };
    check_group("controller");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = watched(rows[k].model, rows[k].options);
        if (d.code == 0) {
            taut_result result = {.size = sizeof result};
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            check_row(code == 0, "%s: %s", rows[k].name, d.error.message);
            taut_solver_result_get(d.solver, &result, NULL);
            int wrong = 0, accepted = 0, grown = 0, after = 0;
            double largest = 0;
            for (int i = 0; i + 1 < witness.count; i++) {
                bool moved = witness.t[i + 1] != witness.t[i], good = witness.norm[i] <= 1;
                wrong += moved != good;
                accepted += moved;
                largest = moved ? fmax(largest, witness.norm[i]) : largest;
                grown += fabs(witness.h[i + 1]) > 6.0001 * fabs(witness.h[i]);
                after += !moved && fabs(witness.h[i + 1]) >= fabs(witness.h[i]);
            }
            check_row(wrong == 0, "%s: accepted and norm <= 1 disagree %d times in %d",
                      rows[k].name, wrong, witness.count);
            check_row(grown == 0 && after == 0,
                      "%s: grew too much %d times, after a rejection %d times", rows[k].name, grown,
                      after);
            check_row(result.statistics.steps == accepted + 1, "%s: %d steps counted, %d seen",
                      rows[k].name, (int)result.statistics.steps, accepted + 1);
            check_row(result.statistics.rejected == witness.count - accepted - 1,
                      "%s: %d rejected counted, %d seen", rows[k].name,
                      (int)result.statistics.rejected, witness.count - accepted - 1);
            largest = fmax(largest, witness.norm[witness.count - 1]);
            check_near(rows[k].name, result.error_estimate, largest * d.solver->stepper.rtol,
                       1e-12 * d.solver->stepper.rtol);
            check_row(result.t == (k == 4   ? -20
                                   : k == 5 ? 10
                                            : 20),
                      "%s ends at %.17g", rows[k].name, result.t);
        }
        driven_destroy(&d);
    }
}

static void test_recovery(void)
{
    check_group("steps that cannot be taken");
    driven d = watched(OSCILLATOR, "method=dop8 until=10");
    if (d.code == 0) {
        witness.longest = 0.05;
        check_equal("run", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), 0);
        check_near("x", taut_solver_position(d.solver)[0], cos(10), 1e-7);
        check_row(witness.count >= 200 && d.solver->statistics.rejected > 0,
                  "%d short steps, %d tries undone", witness.count,
                  (int)d.solver->statistics.rejected);
    }
    driven_destroy(&d);
    d = watched(OSCILLATOR, "method=dop8 until=10");
    if (d.code == 0) {
        witness.longest = 0;
        check_equal("never", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error),
                    TAUT_ERROR_EVALUATE);
        check_contains("never", d.error.message, "cannot be evaluated after t = 0");
        check_near("time", d.error.t, 0, 0);
    }
    driven_destroy(&d);
    d = watched(OSCILLATOR, "method=dop8 step=0.1 until=10");
    if (d.code == 0) {
        witness.longest = 0;
        check_equal("fixed", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error),
                    TAUT_ERROR_EVALUATE);
        check_contains("fixed", d.error.message, "a smaller step size may help");
    }
    driven_destroy(&d);
}

/* A force that fails once, at call `at`: with >0, or by not being a number. */
typedef struct moody {
    int calls, at, answer;
} moody;

static int moody_force(void *user, double t, const double *q, const double *v, double *f)
{
    moody *m = user;
    (void)t, (void)v;
    bool now = ++m->calls == m->at;
    f[0] = now && m->answer == 0 ? NAN : -q[0];
    return now ? m->answer : 0;
}

static void test_moods(void)
{
    check_group("a force that fails once");
    for (int answer = 0; answer < 2; answer++)
        for (int at = 1; at <= 60; at++) { /* counted from the first step on */
            moody m = {.answer = answer};
            const double one = 1;
            taut_callbacks calls = {.size = sizeof calls,
                                    .coordinates = 1,
                                    .start_q = &one,
                                    .force = moody_force,
                                    .user = &m};
            driven d = {0};
            d.code = taut_system_from_callbacks(&calls, NULL, &d.system, &d.error);
            driven_equip(&d, "method=dop8 until=6 rtol=1e-8", NULL);
            m.at = m.calls + 1 + at; /* the first call looks at the initial state itself */
            if (d.code == 0)
                d.code = taut_solver_advance(d.solver, 6, &d.error);
            check_row(d.code == 0 && m.calls > m.at, "call %d of %d: %s", at, m.calls,
                      d.error.message);
            if (d.code == 0)
                check_near("x", taut_solver_position(d.solver)[0], cos(6), 1e-6);
            driven_destroy(&d);
        }
}

/* z' = z^2 leaves all bounds at t = 1; sqrt is no number beyond t = 1; a root that is reached
 * only at t = 2 is passed by. */
static void test_ends(void)
{
    static const struct {
        const char *model, *options, *message;
        int code;
        double t, tolerance;
    } rows[] = {
        {"[state]\nz\n[rates]\nz' = z^2\n[start]\nz = 1\n", "until=2", "t = 1", TAUT_ERROR_STEP, 1,
         1e-6},
        {"[state]\nz\n[rates]\nz' = sqrt(1 - t)\n", "until=2", "z", TAUT_ERROR_EVALUATE, 1, 1e-5},
        {"[coordinates]\nx\n[forces]\nx = sqrt(1 - t)\n", "until=2", "x", TAUT_ERROR_EVALUATE, 1,
         1e-5},
        {"[state]\nz\n[rates]\nz' = -sqrt(z)\n[start]\nz = 1\n", "until=1.99", "", 0, 1.99, 0},
        /* ends before z = 0, where the rate is still a number */
        {"[state]\nz\n[rates]\nz' = -sqrt(z)\n[start]\nz = 1\n", "until=3", "z",
         TAUT_ERROR_EVALUATE, 2, 1e-2},
    };
    check_group("ends");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        if (driven_good(rows[k].model, &d)) {
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            check_row(code == rows[k].code, "row %d: %s, %s", (int)k, taut_code_name(code),
                      d.error.message);
            check_contains("message", d.error.message, rows[k].message);
            check_near("time", taut_solver_time(d.solver), rows[k].t, rows[k].tolerance);
            check_row(taut_solver_position(d.solver)[0] >= 0, "the state is where it can be: %g",
                      taut_solver_position(d.solver)[0]);
            if (code == 0)
                check_near("z", taut_solver_position(d.solver)[0], 0.005 * 0.005, 1e-6);
        }
        driven_destroy(&d);
    }
}

/* Every method with an estimate: the error follows the tolerance, on a problem whose solution is
 * known. */
static void test_tolerances(void)
{
    check_group("tolerances");
    for (int k = 0; taut_method_table[k]; k++) {
        const taut_method *method = taut_method_table[k];
        if (method->error_order == 0 || !(method->motions & TAUT_MOTION_FULL))
            continue;
        double before = INFINITY;
        int64_t steps = 0;
        /* order 1 needs as many steps as the tolerance is small */
        int first = method->order < 3 ? 3 : 4, last = method->order < 3 ? 4 : 8;
        for (int power = first; power <= last; power += (last - first + 1) / 2) {
            char options[120];
            snprintf(options, sizeof options,
                     "method=%s motion=full until=%.17g rtol=1e-%d atol=1e-%d", method->name,
                     2 * PI, power, power);
            driven d = driven_create(ORBIT, options, NULL);
            if (driven_good(options, &d) &&
                check_row(taut_solver_advance(d.solver, 2 * PI, &d.error) == 0, "%s: %s", options,
                          d.error.message)) {
                const double *q = taut_solver_position(d.solver);
                double e = hypot(q[0] - 0.5, q[1]), tolerance = pow(10, -power),
                       order = method->error_order;
                /* each step errs by the tolerance, and as many are taken as tolerance^(-1/order) */
                check_row(e <= 400 * pow(tolerance, 1 - 1 / order), "%s: error %.3g", options, e);
                check_row(e < before, "%s: error %.3g, before %.3g", options, e, before);
                taut_result result = {.size = sizeof result};
                taut_solver_result_get(d.solver, &result, NULL);
                check_row(result.statistics.steps > steps, "%s: %d steps, before %d", options,
                          (int)result.statistics.steps, (int)steps);
                check_row(result.error_estimate > 0 && result.error_estimate <= tolerance,
                          "%s: estimate %.3g", options, result.error_estimate);
                before = e;
                steps = result.statistics.steps;
            }
            driven_destroy(&d);
        }
    }
}

/* Units do not matter: a system in other units takes the same steps. Only the default of --atol
 * has a unit, and it adapts. */
static void test_units(void)
{
    static const char *const models[] = {
        "[state]\nx, y\n[rates]\nx' = -1e6*x*(1 + x*1e6) + 1\ny' = -1e6*y + 1e6*x\n[start]\nx = "
        "1e-6\n",
        "[state]\nx, y\n[rates]\nx' = -1e6*x*(1 + x) + 1e6\ny' = -1e6*y + 1e6*x\n[start]\nx = 1\n"};
    check_group("units");
    int64_t steps[2] = {0};
    double x[2] = {0};
    for (int k = 0; k < 2; k++) {
        driven d = driven_create(models[k], "until=1e-5", NULL);
        if (driven_good("run", &d)) {
            check_equal("advance", taut_solver_advance(d.solver, 1e-5, &d.error), 0);
            steps[k] = d.solver->statistics.steps;
            x[k] = taut_solver_position(d.solver)[0] * (k ? 1 : 1e6);
        }
        driven_destroy(&d);
    }
    check_near("x", x[0], x[1], 1e-9);
    check_equal("steps", steps[0], steps[1]);
}

static void test_limits(void)
{
    check_group("limits");
    driven d = watched(OSCILLATOR, "method=dop8 until=10 max-step=0.07");
    if (d.code == 0) {
        check_equal("run", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), 0);
        double most = 0;
        for (int i = 0; i < witness.count; i++)
            most = fmax(most, fabs(witness.h[i]));
        check_below("longest step", most, 0.07 * 1.0101);
    }
    driven_destroy(&d);
    d = driven_create(OSCILLATOR, "method=dop8 steps=5", NULL);
    if (driven_good("steps without an end", &d)) {
        check_equal("limit", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), TAUT_LIMIT);
        double t = taut_solver_time(d.solver);
        check_near("x", taut_solver_position(d.solver)[0], cos(t), 1e-6);
        check_row(t > 0.5, "t = %g after 5 steps", t);
    }
    driven_destroy(&d);
    d = driven_create(OSCILLATOR, "method=dop8 until=10 rtol=1e-10 atol=1e-10", NULL);
    if (driven_good("there and back", &d)) {
        check_equal("there", taut_solver_advance(d.solver, 10, &d.error), 0);
        check_equal("and back", taut_solver_advance(d.solver, 0, &d.error), 0);
        check_near("x", taut_solver_position(d.solver)[0], 1, 1e-8);
        check_near("t", taut_solver_time(d.solver), 0, 0);
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(d.solver, &result, NULL);
    }
    driven_destroy(&d);
    d = driven_create(OSCILLATOR, "method=dop8 step=0.5 until=2", NULL);
    if (driven_good("fixed step size", &d)) {
        taut_result result = {.size = sizeof result};
        check_equal("run", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), 0);
        taut_solver_result_get(d.solver, &result, NULL);
        check_row(isnan(result.error_estimate) && result.statistics.steps == 4,
                  "estimate %g, %d steps", result.error_estimate, (int)result.statistics.steps);
    }
    driven_destroy(&d);
}

/* Rows between long steps are as good as the steps. */
static void test_dense(void)
{
    static const struct {
        const char *options;
        double limit;
    } rows[] = {
        {"method=dop8 until=20 rtol=1e-8 atol=1e-8 every=0.0123", 1e-6},
        {"method=dopri5 until=20 rtol=1e-7 atol=1e-7 every=0.0123", 1e-5},
        {"method=radau5 motion=full until=20 rtol=1e-7 atol=1e-7 every=0.0123", 1e-5},
        {"method=rk4 step=0.1 until=20 every=0.0123", 2e-5},
    };
    check_group("dense output");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        static kept r;
        driven d = driven_create(OSCILLATOR, rows[k].options, NULL);
        if (driven_good(rows[k].options, &d)) {
            taut_sink sink = kept_sink(&r);
            check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s: %s",
                      rows[k].options, d.error.message);
            double off = 0;
            for (int i = 0; i < r.rows; i++)
                off = fmax(off, hypot(r.q[i][0] - cos(r.t[i]), r.v[i][0] + sin(r.t[i])));
            check_row(r.rows == 1628 && d.solver->statistics.steps < 250, "%d rows from %d steps",
                      r.rows, (int)d.solver->statistics.steps);
            check_below(rows[k].options, off, rows[k].limit);
        }
        driven_destroy(&d);
    }
}

/* A ball from height 1 under gravity 1, turned back with 0.8 of its speed: contacts at sqrt 2
 * and sqrt 2 (1 + 1.6). */
static void test_events(void)
{
    check_group("events between long steps");
    static kept r;
    driven d = driven_create("[coordinates]\ny\n[potential]\ny\n[start]\ny = 1\n[events]\nhit = y "
                             "falling then y' = -0.8*y'\n",
                             "method=dop8 until=4", NULL);
    if (driven_good("ball", &d)) {
        taut_sink sink = kept_sink(&r);
        check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s",
                  d.error.message);
        double t1 = sqrt(2), t2 = t1 * 2.6, v2 = 0.64 * t1, found[2] = {NAN, NAN};
        for (int i = 0, hits = 0; i < r.rows && hits < 2; i++)
            if (fabs(r.q[i][0]) < 1e-9 && r.v[i][0] < 0)
                found[hits++] = r.t[i];
        double height = 0; /* the flight between two contacts is seen, although it is one step */
        for (int i = 0; i < r.rows; i++)
            height = r.t[i] > t1 ? fmax(height, r.q[i][0]) : 0;
        check_near("top of the flight", height, 0.64, 1e-5);
        check_near("first contact", found[0], t1, 1e-12);
        check_near("second contact", found[1], t2, 1e-11);
        check_near("y at the end", taut_solver_position(d.solver)[0],
                   v2 * (4 - t2) - (4 - t2) * (4 - t2) / 2, 1e-10);
    }
    driven_destroy(&d);
}

/* First-order systems: columns, drift of invariants, algebraic variables, events. */
static void test_first_order(void)
{
    check_group("first order");
    static kept r;
    driven d =
        driven_create("[state]\np1, p2, v1, v2\n[definitions]\nr = sqrt(p1^2 + p2^2)\n[rates]\np1' "
                      "= v1\np2' = v2\n"
                      "v1' = -p1/r^3\nv2' = -p2/r^3\n[invariants]\nenergy = (v1^2 + v2^2)/2 - 1/r\n"
                      "[start]\np1 = 0.5, v2 = sqrt(3)\n[outputs]\nspin = p1*v2 - p2*v1\n",
                      "until=62.83185307179586 rtol=1e-8 atol=1e-8 every=0.5", NULL);
    if (driven_good("orbit", &d)) {
        taut_sink sink = kept_sink(&r);
        taut_result result = {.size = sizeof result};
        check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s",
                  d.error.message);
        taut_solver_result_get(d.solver, &result, NULL);
        check_near("p1 after ten periods", taut_solver_position(d.solver)[0], 0.5, 1e-4);
        check_below("drift of the energy, whose start is -1/2", result.drift_position, 1e-14);
        check_row(result.drift_position > 0 || result.drift_position == 0, "it is a number");
        check_row(isnan(r.energy[0]) && isnan(result.energy_first), "no energy");
        check_near("spin", r.output[10][0], sqrt(0.75), 1e-7);
    }
    driven_destroy(&d);
    /* [C example 1]: x1 = x2 = exp(t), y = -exp(t)/(2 - t) */
    d = driven_create("[parameters]\nnu = 10\n[state]\nx1, x2\n[algebraic]\ny\n[rates]\nx1' = (2 - "
                      "t)*nu*y + (1 + nu)*exp(t)\n"
                      "x2' = (nu - 1)*y + (1 + (nu - 1)/(2 - t))*exp(t)\n"
                      "[constraints]\nc = (t + 2)*x1 + (t^2 - 4)*x2 - (t^2 + t - "
                      "2)*exp(t)\n[start]\nx1 = 1, x2 = 1, y = -1/2\n"
                      "[events]\nfar = x1 - 2 rising stop\n",
                      "until=1 rtol=1e-9 atol=1e-9 every=0.1", NULL);
    if (driven_good("index 2", &d)) {
        taut_sink sink = kept_sink(&r);
        check_equal("stops", taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error), TAUT_EVENT);
        check_near("where exp(t) = 2", taut_solver_time(d.solver), log(2), 1e-8);
        for (int i = 0; i < r.rows; i++) {
            double e = exp(r.t[i]);
            check_row(fabs(r.q[i][0] - e) + fabs(r.q[i][1] - e) < 1e-7, "t = %g: x off by %g, %g",
                      r.t[i], r.q[i][0] - e, r.q[i][1] - e);
            check_near("y", r.v[i][0], -e / (2 - r.t[i]), 1e-6);
        }
        check_near("y at the end", taut_solver_velocity(d.solver)[0], -2 / (2 - log(2)), 1e-6);
    }
    driven_destroy(&d);
}

/* Nothing is allocated while stepping, for every run. */
static void test_memory(void)
{
    static const struct {
        const char *model, *options;
    } rows[] = {
        {ORBIT, "method=dop8 until=20 every=0.1"},
        {ORBIT, "method=dopri5 until=5"},
        {ORBIT, "method=radau5 motion=full until=5"},
        {"[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = x^2 + y^2 - 1\n[start]\nx = "
         "1\n[events]\nlow = y + 0.5 then x' = x'\n",
         "until=5 every=0.3"},
        {"[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness "
         "1e6\n[start]\nx = 1\n",
         "until=5"},
        {"[state]\nx\n[rates]\nx' = -x\n[start]\nx = 1\n", "until=5"},
    };
    check_group("memory while stepping");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        faulty f = {0};
        taut_allocator allocator = faulty_allocator(&f);
        driven d = driven_create(rows[k].model, rows[k].options, &allocator);
        if (driven_good(rows[k].options, &d)) {
            int64_t before = f.calls;
            static kept r;
            taut_sink sink = kept_sink(&r);
            check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s",
                      d.error.message);
            check_equal("allocations", f.calls - before, 0);
        }
        driven_destroy(&d);
        check_equal("blocks left", f.live, 0);
    }
}

int main(void)
{
    test_controller();
    test_recovery();
    test_moods();
    test_ends();
    test_tolerances();
    test_units();
    test_limits();
    test_dense();
    test_events();
    test_first_order();
    test_memory();
    return check_done();
}
