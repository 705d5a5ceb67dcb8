/* test_projective.c - slow motion of rates and black boxes by bursts of a flow: orders, counts of
 * inner steps against direct integration, levels, lifting, directions, events, noise, checkpoints.
 * References: Taut's own implicit method at rtol 1e-11 (tested by itself), exact solutions. */
#include <taut/taut.h>

#include <stdint.h>

#include "support/run.h"

#define main walkers_main
int walkers_main(void);
#include "../examples/walkers.c"
#undef main

/* Michaelis and Menten, eps = 1e-4 [D section 4.1]; rows read nothing of it. */
static const char mm[] =
    "[parameters]\neps = 1e-4\n[state]\nx, y\n[rates]\nx' = -x + (x + 0.5)*y\n"
    "y' = (x - (x + 1)*y)/eps\n[stepper]\nmethod = euler\nstep = eps/2\nhorizon = eps/2\n"
    "[observables]\nx\n[start]\nx = 1, y = 0\n[events]\nhalf = x - 0.5   falling   stop\n";

static driven run_text(const char *model, const char *options, const taut_allocator *allocator)
{
    driven d = driven_create(model, options, allocator);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    return d;
}

static taut_result result_of(const driven *d)
{
    taut_result r = {.size = sizeof r};
    taut_solver_result_get(d->solver, &r, NULL);
    return r;
}

/* The state at the end of a run by another method. */
static void refer(const char *model, const char *options, int n, double *z)
{
    driven d = run_text(model, options, NULL);
    if (driven_good("reference", &d))
        memcpy(z, taut_solver_position(d.solver), (size_t)n * sizeof *z);
    driven_destroy(&d);
}

static double off(const driven *d, int n, const double *z)
{
    double most = 0;
    const double *q = taut_solver_position(d->solver);
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(q[i] - z[i]));
    return most;
}

/* ---- orders of the methods: projective forward Euler and Runge-Kutta */

static void orders(void)
{
    static const struct {
        const char *method;
        double order, step;
    } rows[] = {{"euler", 1, 0.1}, {"midpoint", 2, 0.2}, {"rk4", 4, 0.5}};
    double direct[2];
    check_group("orders");
    refer(mm, "until=1 method=flow step=0.5 inner-step=1e-5", 2, direct);
    for (int k = 0; k < 3; k++) {
        double error[2];
        for (int j = 0; j < 2; j++) {
            char options[120];
            snprintf(options, sizeof options,
                     "motion=slow method=%s step=%.17g until=1 rtol=1e-8 inner-step=1e-5",
                     rows[k].method, rows[k].step / (1 << j));
            /* events would end the run where x = 0.5, later than 1 */
            driven d = run_text(mm, options, NULL);
            error[j] = driven_good(options, &d) ? off(&d, 1, direct) : NAN;
            driven_destroy(&d);
        }
        check_near(rows[k].method, log2(error[0] / error[1]), rows[k].order, 0.1);
    }
}

/* ---- counts */

static void michaelis_menten(void)
{
    double exact[2];
    check_group("Michaelis-Menten, eps = 1e-4, until 5");
    char model[600];
    snprintf(model, sizeof model, "%s", mm);
    *strstr(model, "[events]") = '\0';
    refer(model, "until=5 method=radau5 rtol=1e-11", 2, exact);
    driven slow = run_text(model, "until=5 motion=slow method=rk4 step=0.5", NULL),
           direct = run_text(model, "until=5 method=flow step=0.5", NULL);
    if (driven_good("slow", &slow) && driven_good("direct", &direct)) {
        taut_result s = result_of(&slow), d = result_of(&direct);
        check_below("error", off(&slow, 2, exact), 1e-5);
        check_below("error of direct integration", off(&direct, 2, exact), 1e-5);
        check_equal("direct inner steps", d.statistics.micro_steps, 100000);
        check_near("as stated", s.direct_steps, 100000, 1);
        check_row(s.statistics.micro_steps * 100 <= d.statistics.micro_steps,
                  "%lld inner steps, direct integration %lld", (long long)s.statistics.micro_steps,
                  (long long)d.statistics.micro_steps);
        check_below("inner steps", (double)s.statistics.micro_steps, 800);
        check_contains("explanation", taut_solver_explanation(slow.solver), "dimension 1");
        printf("# Michaelis-Menten: %lld inner steps, error %.2g\n",
               (long long)s.statistics.micro_steps, off(&slow, 2, exact));
    }
    driven_destroy(&slow);
    driven_destroy(&direct);
}

static void reaction_diffusion(void)
{
    enum { N = 400 };
    static const struct {
        const char *set, *options; /* the first row of a set is the reference */
        double error, factor;
    } rows[] = {{"eps = 2e-4", "method=radau5 rtol=1e-9", 0, 0},
                {"eps = 2e-4", "rtol=1e-4", 1e-5, 100},
                {"eps = 2e-4", "method=rk4 step=1", 1e-4, 75},
                {"eps = 2e-4", "rtol=1e-6", 1e-6, 30},
                {"eps = 1.5e-3", "method=radau5 rtol=1e-9", 0, 0}, /* a gap of 520 */
                {"eps = 1.5e-3", "rtol=1e-3", 1e-4, 20},
                {"eps = 1.5e-3", "method=rk4 step=1 rtol=1e-4", 1e-4, 25}};
    double exact[N];
    check_group("reaction-diffusion, 200 points");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[100];
        taut_load how = {.size = sizeof how, .set = &rows[k].set, .set_count = 1};
        driven d = {0};
        bool reference = rows[k].factor == 0;
        snprintf(options, sizeof options, "%s%s", reference ? "" : "motion=slow ", rows[k].options);
        d.code = taut_system_load("models/reaction_diffusion.taut", &how, &d.system, &d.error);
        driven_equip(&d, options, NULL);
        if (d.code == 0)
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        if (driven_good(options, &d) && reference)
            memcpy(exact, taut_solver_position(d.solver), sizeof exact);
        else if (d.code == 0) {
            taut_result r = result_of(&d);
            check_below(options, off(&d, N, exact), rows[k].error);
            check_row(rows[k].factor * (double)r.statistics.micro_steps <= r.direct_steps,
                      "%s, %s: %lld inner steps, direct integration %.0f", rows[k].set, options,
                      (long long)r.statistics.micro_steps, r.direct_steps);
            printf("# %s, %s: %lld inner steps, direct integration %.0f, error %.2g\n", rows[k].set,
                   options, (long long)r.statistics.micro_steps, r.direct_steps, off(&d, N, exact));
        }
        driven_destroy(&d);
    }
}

/* Rates 2, 1e3 and 1e7: one level between the inner steps of 1e-7 and samples, whose error follows
 * the tolerance. Below 1e-7 rounding of the level is too large, and the run is direct. */
static void telescopic(void)
{
    static const char model[] =
        "[state]\nx, y, z\n[rates]\nx' = -x*y\ny' = (x^2 - y)*1e3\nz' = (x + y - z)*1e7\n"
        "[start]\nx = 1, y = 0, z = 0\n";
    static const double rtol[] = {1e-3, 1e-4, 1e-5, 1e-6}, factor[] = {1500, 900, 300, 30};
    char options[60];
    double exact[3];
    check_group("telescopic");
    refer(model, "until=3 method=radau5 rtol=1e-11", 3, exact);
    for (int k = 0; k < 4; k++) {
        snprintf(options, sizeof options, "until=3 motion=slow rtol=%g", rtol[k]);
        driven d = run_text(model, options, NULL);
        if (driven_good(options, &d)) {
            taut_result r = result_of(&d);
            check_contains("levels", taut_solver_explanation(d.solver), "telescopic with 1 level");
            check_below(options, off(&d, 3, exact), 2 * rtol[k]);
            check_row(factor[k] * (double)r.statistics.micro_steps <= r.direct_steps,
                      "%s: %lld inner steps, direct integration %.0f", options,
                      (long long)r.statistics.micro_steps, r.direct_steps);
            printf("# telescopic, rtol %g: %lld inner steps, error %.2g\n", rtol[k],
                   (long long)r.statistics.micro_steps, off(&d, 3, exact));
        }
        driven_destroy(&d);
    }
    driven d = run_text(model, "until=3 motion=slow rtol=1e-9", NULL);
    if (driven_good("rtol 1e-9", &d)) {
        check_contains("directly", taut_solver_explanation(d.solver), "and rtol is 1e-09");
        check_below("directly", off(&d, 3, exact), 1e-9);
    }
    driven_destroy(&d);
}

/* ---- lifting, directions, events, direct integration */

static void lifting(void)
{
    static const char *const names[] = {"burst", "last", "difference order=1"};
    double exact[2];
    check_group("lifting");
    refer(mm, "until=1 method=radau5 rtol=1e-11", 2, exact);
    for (int k = 0; k < 3; k++) {
        char options[120];
        snprintf(options, sizeof options, "motion=slow until=1 method=rk4 step=0.25 lifting=%s",
                 names[k]);
        driven d = run_text(mm, options, NULL);
        /* difference keeps x = 1, the others follow what y = 0 leads to: 4e-5 apart */
        if (driven_good(options, &d))
            check_below(names[k], off(&d, 2, exact), k < 2 ? 3e-6 : 5e-5);
        driven_destroy(&d);
    }
    driven d = run_text("[state]\nx, y\n[rates]\nx' = -x\ny' = 1e4*(x - y)\n[start]\nx = 1\n",
                        "motion=slow until=1 lifting=difference", NULL);
    check_row(d.code == TAUT_ERROR_REFUSED, "lift without observables: %d", d.code);
    check_contains("message", d.error.message, "observables");
    driven_destroy(&d);
}

/* x' = -x, y relaxes to x: the slow solution is known, x = e^-t, y = x/(1 - 1e-4). */
static const char linear[] = "[state]\nx, y\n[rates]\nx' = -x\ny' = 1e4*(x - y)\n"
                             "[start]\nx = 1, y = 1/(1 - 1e-4)\n"
                             "[events]\nlow = x - 0.7   falling   stop\n";

/* The same as a black box that goes forward only. */
static int relax(void *user, double t, double H, double *z)
{
    double slow = 1 / (1 - 1e-4), off = z[1] - slow * z[0];
    (void)user;
    (void)t;
    if (H < 0)
        return 1;
    z[0] *= exp(-H);
    z[1] = slow * z[0] + off * exp(-1e4 * H);
    return 0;
}

static void backwards_closed(void)
{
    double start[] = {1, 1};
    taut_index observed = 0;
    taut_black_box box = {.size = sizeof box,
                          .variables = 2,
                          .observables = 1,
                          .observable = &observed,
                          .start = start,
                          .horizon = 1e-4,
                          .advance = relax};
    driven d = {0};
    d.code = taut_system_from_flow(&box, NULL, &d.system, &d.error);
    driven_equip(&d, "from=0 until=-2 rtol=1e-5", NULL);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    if (driven_good("a black box, backwards", &d)) {
        check_near("x", taut_solver_position(d.solver)[0], exp(2), 1e-4);
        check_row(20 * result_of(&d).statistics.micro_steps < 20000, "%lld uses of the flow",
                  (long long)result_of(&d).statistics.micro_steps);
    }
    driven_destroy(&d);
}

/* a <-> b fast, a -> c slow; a + b + c is kept although bursts are extrapolated. */
static void invariant(void)
{
    static const char model[] =
        "[state]\na, b, c\n[rates]\na' = -1e4*a + 2e4*b - a\nb' = 1e4*a - 2e4*b\nc' = a\n"
        "[invariants]\nall = a + b + c\n[start]\na = 1, b = 5, c = 3\n";
    check_group("linear invariants");
    driven d = run_text(model, "motion=slow until=5", NULL);
    if (driven_good("slow", &d)) {
        const double *z = taut_solver_position(d.solver);
        check_near("a + b + c", z[0] + z[1] + z[2], 9, 4e-15);
        /* a + b decays at the rate 2/3, to 1e-4 */
        check_near("a + b", (z[0] + z[1]) / (6 * exp(-10.0 / 3)), 1, 1e-3);
    }
    driven_destroy(&d);
}

static void directions(void)
{
    check_group("backwards, and events");
    backwards_closed();
    driven d = run_text(linear, "motion=slow from=0 until=-2 rtol=1e-8", NULL);
    if (driven_good("backwards", &d)) {
        check_near("x", taut_solver_position(d.solver)[0], exp(2), 1e-6);
        check_near("y", taut_solver_position(d.solver)[1], exp(2) / (1 - 1e-4), 1e-6);
    }
    driven_destroy(&d);
    d = run_text(linear, "motion=slow until=2 rtol=1e-8", NULL);
    check_equal("event", d.code, TAUT_EVENT);
    if (d.code == TAUT_EVENT)
        check_near("its time", taut_solver_time(d.solver), -log(0.7), 1e-6);
    driven_destroy(&d);
}

static void direct(void)
{
    static const struct {
        const char *rates, *words;
    } rows[] = {{"x' = -x\ny' = 8*(x^2 - y)", "integrated directly: bursts would take longer"},
                {"x' = -x\ny' = 2*(x - y)", "integrated directly: the rates have no gap"},
                {"x' = 1e3*y\ny' = -1e3*x - y + z\nz' = -z", "integrated directly: a fast part"}};
    check_group("where it does not pay");
    for (int k = 0; k < 3; k++) {
        char model[200];
        snprintf(model, sizeof model, "[state]\nx, y%s\n[rates]\n%s\n[start]\nx = 1\n",
                 k == 2 ? ", z" : "", rows[k].rates);
        driven d = run_text(model, "motion=slow until=1", NULL);
        if (driven_good(rows[k].rates, &d)) {
            check_contains(rows[k].rates, taut_solver_explanation(d.solver), rows[k].words);
            check_row(isnan(result_of(&d).direct_steps), "%s: inner steps", rows[k].rates);
        }
        driven_destroy(&d);
    }
}

/* ---- a black box: walkers, as a function and as a process */

static int advance_walkers(void *user, double t, double H, double *z)
{
    int64_t *calls = user;
    ++*calls;
    walk(t, H, z);
    return 0;
}

static double first_mode(const double *z, double *total)
{
    double sum = 0;
    *total = 0;
    for (int i = 0; i < SITES; i++) {
        sum += z[i] * cos(2 * acos(-1) * (i + 1) / SITES);
        *total += z[i];
    }
    return sum;
}

/* Until 1 with this method, from the density 1000 (1 + 0.8 cos); calls of the flow. */
static int walk_function(const char *options, double *z, int64_t *calls)
{
    taut_index observed[SITES];
    double start[COUNTS] = {0};
    for (int i = 0; i < SITES; i++) {
        observed[i] = i;
        start[i] = 1000 * (1 + 0.8 * cos(2 * acos(-1) * (i + 1) / SITES));
    }
    *calls = 0;
    taut_black_box box = {.size = sizeof box,
                          .variables = COUNTS,
                          .observables = SITES,
                          .observable = observed,
                          .start = start,
                          .horizon = 0.001,
                          .advance = advance_walkers,
                          .user = calls};
    driven d = {0};
    d.code = taut_system_from_flow(&box, NULL, &d.system, &d.error);
    driven_equip(&d, options, NULL);
    *calls = 0; /* those of the plan do not count */
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    if (z && driven_good(options, &d)) {
        memcpy(z, taut_solver_position(d.solver), COUNTS * sizeof *z);
        check_contains("noise", taut_solver_explanation(d.solver), "noise");
    }
    int code = d.code;
    driven_destroy(&d);
    return code;
}

/* The same through a process, from a model file in the build folder. */
static int walk_process(const char *options, double *z, taut_statistics *statistics)
{
    static const char text[] =
        "[state]\nn[i] for i in 1..10\nd[i] for i in 1..10\n[stepper]\ncommand = %s/tests/walkers\n"
        "horizon = 0.001\n[observables]\nn[i] for i in 1..10\n[start]\n"
        "n[i] = 1000*(1 + 0.8*cos(2*acos(-1)*i/10)) for i in 1..10\n";
    char model[4600];
    taut_load how = {.size = sizeof how, .allow_command = true};
    snprintf(model, sizeof model, text, getenv("TAUT_BUILD"));
    driven d = {0};
    d.code = taut_system_parse(model, strlen(model), "walkers.taut", &how, &d.system, &d.error);
    driven_equip(&d, options, NULL);
    if (d.code == 0)
        d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
    if (driven_good("process", &d)) {
        memcpy(z, taut_solver_position(d.solver), COUNTS * sizeof *z);
        *statistics = result_of(&d).statistics;
    }
    int code = d.code;
    driven_destroy(&d);
    return code;
}

static void walkers(void)
{
    static const char options[] = "until=1 method=euler step=0.1";
    double z[COUNTS] = {0}, other[COUNTS] = {0}, total, exact = 4000 * exp(cos(acos(-1) / 5) - 1);
    int64_t calls;
    check_group("10,000 walkers");
    if (walk_function(options, z, &calls) != 0)
        return;
    /* ten steps and the initial state, a burst of 16 each; the last one heals the end */
    check_equal("uses of the flow", calls, 160);
    check_near("density", first_mode(z, &total), exact, 0.12 * exact);
    check_near("walkers", total, 10000, 60);
    taut_statistics statistics = {0};
    if (getenv("TAUT_TEST_CORE"))
        check_skip("no processes in this build");
    else if (walk_process(options, other, &statistics) == 0) {
        check_row(memcmp(z, other, sizeof z) == 0, "the process gives the same digits: %.17g %.17g",
                  z[0], other[0]);
        check_equal("uses of the process", statistics.micro_steps, 176);
    }
    check_equal("adaptive steps and noise", walk_function("until=1", NULL, &calls),
                TAUT_ERROR_REFUSED);
}

/* ---- memory, checkpoints */

static void memory(void)
{
    static const char options[] = "motion=slow until=1 lifting=difference";
    faulty f = {0};
    taut_allocator allocator = faulty_allocator(&f);
    check_group("memory");
    driven d = driven_create(mm, options, &allocator);
    int64_t before = f.calls;
    if (driven_good("create", &d)) {
        check_equal("run", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), 0);
        check_equal("allocations while stepping", f.calls - before, 0);
    }
    driven_destroy(&d);
    check_equal("blocks left", f.live, 0);
    for (int64_t k = 1; k <= before; k = faulty_next(k)) {
        f = (faulty){.fail = k};
        d = driven_create(mm, options, &allocator);
        check_row(d.code == TAUT_ERROR_MEMORY || d.code == 0, "allocation %lld fails: %d",
                  (long long)k, d.code);
        driven_destroy(&d);
        check_row(f.live == 0, "allocation %lld fails: %lld blocks left", (long long)k,
                  (long long)f.live);
    }
}

typedef struct saved {
    unsigned char bytes[200000];
    size_t count;
    int64_t at;
} saved;

static int take(void *user, const void *bytes, size_t count)
{
    saved *s = user;
    if (s->count + count > sizeof s->bytes)
        return 1;
    memcpy(s->bytes + s->count, bytes, count);
    s->count += count;
    return 0;
}

static int save_once(void *user, taut_solver *solver, taut_error *error)
{
    saved *s = user;
    taut_result r = {.size = sizeof r};
    taut_solver_result_get(solver, &r, NULL);
    if (s->count > 0 || r.statistics.steps < s->at)
        return 0;
    return taut_solver_save(solver, take, s, error);
}

static void checkpoints(void)
{
    static const char *const rows[] = {"motion=slow until=1", "motion=slow until=1 lifting=last",
                                       "motion=slow until=1 method=rk4 step=0.1",
                                       "until=0.01 method=flow step=0.001"};
    check_group("checkpoints");
    for (int k = 0; k < 4; k++) {
        saved s = {.at = 2};
        driven d = driven_create(mm, rows[k], NULL), e = driven_create(mm, rows[k], NULL);
        if (!driven_good(rows[k], &d) || !driven_good(rows[k], &e))
            continue;
        taut_solver_checkpoint(d.solver, 0, save_once, &s, NULL);
        check_equal(rows[k], taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), 0);
        check_row(s.count > 0, "%s: saved", rows[k]);
        check_equal("restore", taut_solver_restore(e.solver, s.bytes, s.count, &e.error), 0);
        check_equal("continued", taut_solver_run(e.solver, NULL, 0, NULL, NULL, &e.error), 0);
        taut_result a = result_of(&d), b = result_of(&e);
        check_row(memcmp(taut_solver_position(d.solver), taut_solver_position(e.solver),
                         2 * sizeof(double)) == 0,
                  "%s: the same bits", rows[k]);
        check_equal("inner steps", a.statistics.micro_steps, b.statistics.micro_steps);
        driven_destroy(&d);
        driven_destroy(&e);
    }
}

int main(void)
{
    orders();
    michaelis_menten();
    reaction_diffusion();
    telescopic();
    lifting();
    directions();
    invariant();
    direct();
    walkers();
    memory();
    checkpoints();
    return check_done();
}
