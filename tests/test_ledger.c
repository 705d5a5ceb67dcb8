/* test_ledger.c - the energy of a run: work and dissipation against closed forms, no alarm in runs
 * that are right, and what becomes of steps that create energy. */
#include "base/method.h"
#include "support/run.h"
#include "drive/solver.h"

static const double pi = 3.14159265358979324;
static kept rows_of_run;

/* Runs to the end with rows; the result. */
static taut_result finish(driven *d)
{
    taut_sink sink = kept_sink(&rows_of_run);
    taut_result result = {.size = sizeof result};
    d->code = taut_solver_run(d->solver, &sink, 1, NULL, NULL, &d->error);
    taut_solver_result_get(d->solver, &result, NULL);
    return result;
}

/* ---- closed forms */

/* Masses 1. The oscillator with k = 4, d = 0.4 from x = 1: x = e^(-t/5) (cos wt + sin(wt)/(5 w)), w
 * = sqrt(4 - 1/25). Driven by cos 3t without damping, from rest: x = (cos 2t - cos 3t)/5. Driven
 * and damped in its stationary motion x = A cos 3t + B sin 3t, over two periods T = 2 pi/3: work
 * and loss are both d 9 (A^2 + B^2) T, the amplitude from 25 + 9 d^2. A bond that moves a mass by q
 * = cos t does the work (sin t)^2/2. The potential x sin t from x' = 1 gives x = sin t and the work
 * (sin t)^2/2. */
static void test_closed_forms(void)
{
    double w = sqrt(4 - 0.04), s = sin(3 * w), c = cos(3 * w), decay = exp(-0.6),
           x = decay * (c + s / (5 * w)), v = -decay * s * (w + 0.04 / w),
           left = v * v / 2 + 2 * x * x;
    double free_x = (cos(6) - cos(9)) / 5, free_v = (3 * sin(9) - 2 * sin(6)) / 5,
           gained = free_v * free_v / 2 + 2 * free_x * free_x;
    double driven_loss = 0.4 * 9 / (25 + 9 * 0.16) * 2 * pi / 3, half = sin(2) * sin(2) / 2;
    const struct {
        const char *name, *model, *more;
        double work, lost;
    } rows[] = {
        {"damped", "[coordinates]\nx\n[bonds]\ns = x stiffness 4 damping 0.4\n[start]\nx = 1\n",
         "motion=full until=3", 0, 2 - left},
        {"driven", "[coordinates]\nx\n[potential]\n2*x^2\n[forces]\nx = cos(3*t)\n",
         "motion=full until=3", gained, 0},
        {"driven and damped",
         "[coordinates]\nx\n[bonds]\ns = x stiffness 4 damping 0.4\n[forces]\nx = cos(3*t)\n"
         "[start]\nx = -5/26.44, x' = 3*1.2/26.44\n",
         "motion=full until=4.1887902047863909", driven_loss, driven_loss},
        {"moving bond", "[coordinates]\nx\n[bonds]\ns = x - cos(t)\n[start]\nx = 1\n",
         "motion=rigid until=2", half, 0},
        {"moving potential", "[coordinates]\nx\n[potential]\nx*sin(t)\n[start]\nx' = 1\n",
         "motion=full until=2", half, 0},
        {"drag", "[coordinates]\nx\n[forces]\nx = -x'\n[start]\nx' = 1\n", "motion=full until=2",
         (exp(-4) - 1) / 2, 0},
        {"free fall", "[coordinates]\ny\n[potential]\n9.81*y\n", "motion=full until=2", 0, 0},
        {"pendulum",
         "[coordinates]\nx, y\n[potential]\ny\n[bonds]\ns = sqrt(x^2 + y^2) - 1\n[start]\nx = 1\n",
         "motion=rigid until=4", 0, 0},
        {"bounces, which are events and no error",
         "[coordinates]\ny\n[potential]\ny\n[start]\ny = 1\n"
         "[events]\nhit = y falling then y' = -0.8*y'\n",
         "motion=full until=5", 0, 0},
        {"a kinetic energy",
         "[coordinates]\na, b\n[kinetic]\n(2 + cos(b))*a'^2/2 + a'*b'*cos(b)/3 + b'^2/2\n"
         "[potential]\n-cos(a) - cos(b)\n[start]\na = 1, b' = 1\n",
         "motion=full until=4", 0, 0},
    };
    check_group("closed forms");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[200];
        snprintf(options, sizeof options, "method=dop8 rtol=1e-9 every=0.005 %s", rows[k].more);
        driven d = driven_create(rows[k].model, options, NULL);
        if (driven_good(rows[k].name, &d)) {
            taut_result r = finish(&d);
            check_row(d.code == 0, "%s: %s", rows[k].name, d.error.message);
            check_near(rows[k].name, r.energy_work, rows[k].work, 1e-7);
            check_near(rows[k].name, r.energy_dissipated, rows[k].lost, 1e-7);
            check_near(rows[k].name, r.energy_balance, 0, 1e-7);
            check_equal("rejected", d.solver->ledger.rejected, 0);
        }
        driven_destroy(&d);
    }
}

/* What rows cannot show is not shown: too few of them, with both kinds of change; a kinetic energy
 * that is not quadratic; effective motion and first order have no energy. With one kind of change,
 * it is the change of the energy. */
static void test_unknown(void)
{
    static const struct {
        const char *name, *model, *more;
        bool known;
    } rows[] = {
        {"coarse rows",
         "[coordinates]\nx\n[bonds]\ns = x stiffness 100 damping 0.4\n[forces]\nx = cos(3*t)\n"
         "[start]\nx = 1\n",
         "motion=full method=dop8 until=10 every=2.5", false},
        {"coarse rows, damping only",
         "[coordinates]\nx\n[bonds]\ns = x stiffness 100 damping 0.4\n[start]\nx = 1\n",
         "motion=full method=dop8 until=10 every=2.5", true},
        {"a kinetic energy with linear terms",
         "[coordinates]\nx\n[kinetic]\nx'^2/2 + x'*sin(x)\n[start]\nx' = 1\n",
         "motion=full method=dop8 until=2 every=0.01", false},
        {"first order", "[state]\nx\n[rates]\nx' = -x\n[start]\nx = 1\n", "method=dop8 until=1",
         false},
    };
    check_group("unknown");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, rows[k].more, NULL);
        if (driven_good(rows[k].name, &d)) {
            taut_result r = finish(&d);
            check_row(isfinite(r.energy_dissipated) == rows[k].known && isnan(r.energy_balance),
                      "%s: work %g, dissipated %g, balance %g", rows[k].name, r.energy_work,
                      r.energy_dissipated, r.energy_balance);
            if (rows[k].known)
                check_near(rows[k].name, r.energy_dissipated, r.energy_first - r.energy_last, 0);
        }
        driven_destroy(&d);
    }
}

/* ---- no alarm */

static driven load(const char *name, const char *set, const char *options)
{
    driven d = {0};
    char path[200];
    const char *sets[] = {set};
    taut_load how = {.size = sizeof how, .set = sets, .set_count = set != NULL};
    snprintf(path, sizeof path, "models/%s.taut", name);
    d.code = taut_system_load(path, &how, &d.system, &d.error);
    driven_equip(&d, options, NULL);
    return d;
}

/* Shipped models in motions and by methods that are right for them: no step is rejected for its
 * energy. Butane takes 9000 steps at 1e-9. */
static void test_no_alarm(void)
{
    static const struct {
        const char *model, *motion, *methods[5];
    } rows[] = {
        {"double_pendulum", "rigid", {"dopri5", "dop8", "radau3", "radau5", "radau9"}},
        {"double_pendulum", "slow", {"radau3", "radau5", "radau9"}},
        {"pendulum", "rigid", {"dopri5", "dop8", "radau3", "radau5", "radau9"}},
        {"pendulum", "slow", {"radau3", "radau5", "radau9"}},
        {"triatomic", "rigid", {"dopri5", "dop8", "radau5"}},
        {"triatomic", "slow", {"radau5", "radau9"}},
        {"fpu", "rigid", {"dopri5", "dop8"}},
        {"butane", "slow", {"radau5"}},
        {"cart", "rigid", {"dop8", "radau5"}},
        {"rope_bending", "rigid", {"dop8", "radau5"}},
        {"quartic_rod", "slow", {"radau5", "radau9"}},
        {"forced_spring", "rigid", {"dopri5", "dop8"}},
        {"forced_spring", "full", {"dopri5", "dop8"}},
        {"crane", "rigid", {"dopri5", "dop8"}},
        {"crane", "full", {"dopri5", "dop8"}},
        {"slider_crank", "rigid", {"dopri5", "dop8"}},
        {"slider_crank", "full", {"dopri5", "dop8"}},
        {"forced_spring", "rigid", {"radau5", "radau7", "radau9"}},
        {"forced_spring", "slow", {"radau3", "radau5", "radau9"}},
        {"forced_spring", "full", {"radau9"}},
        {"crane", "slow", {"radau3", "radau5", "radau7", "radau9"}},
        {"slider_crank", "rigid", {"radau3", "radau5", "radau7", "radau9"}},
        {"half_car", "full", {"dopri5", "dop8", "radau5", "radau9"}},
        {"foot_excitation", "slow", {"radau5", "radau9"}},
        {"robot_arm", "full", {"dopri5", "dop8", "radau5", "radau9"}},
        {"squeezer", "rigid", {"dopri5", "dop8", "radau5"}},
        {"stick_slip", "rigid", {"dopri5", "dop8"}},
    };
    static const char *const tolerances[] = {"1e-3", "1e-6", "1e-9"};
    check_group("no alarm");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int j = 0; j < 5 && rows[k].methods[j]; j++)
            for (int i = 0; i < (strcmp(rows[k].model, "butane") == 0 ? 2 : 3); i++) {
                char what[100];
                snprintf(what, sizeof what, "motion=%s method=%s rtol=%s", rows[k].motion,
                         rows[k].methods[j], tolerances[i]);
                driven d = load(rows[k].model, NULL, what);
                if (driven_good(what, &d)) {
                    d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
                    bool on = d.solver->ledger.on || d.solver->ledger.step.on;
                    check_row(d.code == 0 && on && d.solver->ledger.rejected == 0,
                              "%s %s: %lld rejected, %s", rows[k].model, what,
                              (long long)d.solver->ledger.rejected, d.code ? d.error.message : "");
                }
                driven_destroy(&d);
            }
}

/* ---- runs that went wrong: they are right now, or fail with the reason */

static void judge(const char *what, driven *d, double scale)
{
    taut_result r = {.size = sizeof r};
    if (!driven_good(what, d))
        return;
    d->code = taut_solver_run(d->solver, NULL, 0, NULL, NULL, &d->error);
    taut_solver_result_get(d->solver, &r, NULL);
    if (d->code == 0)
        check_near(what, r.energy_last, r.energy_first, 0.3 * scale);
    else
        check_row(d->code == TAUT_ERROR_STEP || d->code == TAUT_ERROR_EVALUATE, "%s: %s", what,
                  d->error.message);
    driven_destroy(d);
}

/* Energies were 0 -> 1.4e6 and 305 (chain, kinetic energy some 100), -1 -> -52 and 497 (comet), 0
 * -> 7e14 (quartic_rod at another critical point). */
static void test_catastrophes(void)
{
    static const char *const tolerances[] = {"1e-3", "1e-4", "1e-5", "1e-6"};
    check_group("catastrophes");
    for (int k = 0; k < 4; k++) {
        char what[100];
        snprintf(what, sizeof what, "motion=full method=dopri5 rtol=%s", tolerances[k]);
        driven chain = load("chain", NULL, what), pendulum = load("free_pendulum", NULL, what);
        judge("chain", &chain, 100);
        judge("free pendulum", &pendulum, 0.5);
        snprintf(what, sizeof what, "motion=full method=dop8 until=5 rtol=%s", tolerances[k]);
        driven comet = driven_create(
            "[coordinates]\nx, y\n[potential]\n-1/sqrt(x^2 + y^2)\n[start]\nx = 1, y' = 0.001\n",
            what, NULL);
        judge("comet", &comet, 1);
        snprintf(what, sizeof what, "motion=full method=radau5 until=2 rtol=%s", tolerances[k]);
        driven fall =
            driven_create("[coordinates]\nx\n[potential]\n-1/abs(x)\n[start]\nx = 1\n", what, NULL);
        judge("fall to the centre", &fall, 1);
        snprintf(what, sizeof what, "motion=slow method=radau5 until=3 rtol=%s", tolerances[k]);
        driven rod = load("quartic_rod", "omega=1e8", what);
        judge("quartic rod", &rod, 1);
    }
}

/* ---- methods that create energy and claim to be exact */

static double factor; /* of velocities in each step */
static taut_method crooked;

static driven crooked_create(const char *base, int (*step)(taut_stepper *, double, taut_error *),
                             const char *model, const char *options)
{
    driven d = {0};
    crooked = *taut_method_find(base);
    crooked.name = "crooked";
    crooked.step = step;
    d.code = taut_system_parse(model, strlen(model), "model.taut", NULL, &d.system, &d.error);
    if (d.code == 0)
        d.code = taut_options_create(NULL, &d.options, &d.error);
    driven_options(&d, options);
    if (d.code == 0)
        d.code = taut_solver_create_own(d.system, d.options, &crooked, NULL, &d.solver, &d.error);
    return d;
}

static int crooked_step(taut_stepper *s, double h, taut_error *error)
{
    TAUT_TRY(taut_method_find("dop8")->step(s, h, error));
    for (taut_index i = 0; i < s->n; i++) {
        s->now.v[i] *= factor;
        s->error_q[i] = s->error_v[i] = 0;
    }
    return TAUT_OK;
}

/* A step that adds 2 % to the kinetic energy is refused at every length; one that adds 0.2 %, or
 * takes it away, at rtol 1e-3 ends the run in the end. So it is where energy is constant, where
 * damping decreases it, and where forces do work. */
static void test_crooked(void)
{
#define SPRING "[bonds]\ns = x stiffness 1"
#define DRIVEN "[potential]\nx^2/2\n[forces]\nx = cos(3*t)"
#define DRAG "[potential]\nx^2/2\n[forces]\nx = cos(t) - x'/5"
#define FOOT "[bonds]\ns = x - cos(3*t)/10 stiffness 1 damping 0.1"
#define WORK "the work of all forces is"
#define SUM "more than the work of all forces by t ="
    static const struct {
        double factor;
        const char *model, *more, *part; /* of the message; NULL: the run is good */
    } rows[] = {
        {1.01, SPRING, "rtol=1e-6", "no step succeeded"},
        {1.01, SPRING, "rtol=1e-6", "constant in this motion"},
        {0.99, SPRING, "rtol=1e-6", "constant in this motion"},
        {1.001, SPRING, "rtol=1e-3 until=2000", "the energy drifted from 1"},
        {0.999, SPRING, "rtol=1e-3 until=2000", "the energy drifted from 1"},
        {1, SPRING, "rtol=1e-9", NULL},
        {1.01, SPRING " damping 1e-3", "rtol=1e-6", WORK},
        {0.99, SPRING " damping 1e-3", "rtol=1e-6", WORK},
        {1.01, SPRING " damping 1e-3", "rtol=1e-6 until=-200", WORK},
        {0.99, SPRING " damping 1e-3", "rtol=1e-6 until=-200", WORK},
        {1, SPRING " damping 1e-3", "rtol=1e-6", NULL},
        {1, SPRING " damping 1e-3", "rtol=1e-6 until=-200", NULL},
        {1.01, DRIVEN, "rtol=1e-6", "no step succeeded"},
        {1.01, DRIVEN, "rtol=1e-6", WORK},
        {0.99, DRIVEN, "rtol=1e-6", WORK},
        {1.003, DRIVEN, "rtol=1e-3 until=2000", SUM},
        {0.997, DRIVEN, "rtol=1e-3 until=2000", SUM},
        {1, DRIVEN, "rtol=1e-3 until=2000", NULL},
        {1, DRIVEN, "rtol=1e-9 max-step=0.1", NULL},
        {1.01, DRAG, "rtol=1e-6", WORK},
        {0.99, DRAG, "rtol=1e-6", WORK},
        {1, DRAG, "rtol=1e-3 until=2000", NULL},
        {1, DRAG, "rtol=1e-9 max-step=0.1", NULL},
        {1.01, FOOT, "rtol=1e-6", WORK},
        {0.99, FOOT, "rtol=1e-6", WORK},
        {1, FOOT, "rtol=1e-3 until=2000", NULL},
        {1, FOOT, "rtol=1e-9 max-step=0.1", NULL},
    };
    check_group("crooked methods");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char model[200], what[200];
        factor = rows[k].factor;
        snprintf(model, sizeof model, "[coordinates]\nx\n%s\n[start]\nx = 1, x' = 1\n",
                 rows[k].model);
        snprintf(what, sizeof what, "motion=full max-step=0.5 until=200 %s", rows[k].more);
        driven d = crooked_create("dop8", crooked_step, model, what);
        if (driven_good(what, &d)) {
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            if (rows[k].part) {
                check_equal(what, code, TAUT_ERROR_STEP);
                check_contains(what, d.error.message, rows[k].part);
            } else {
                check_row(code == 0 && d.solver->ledger.rejected == 0, "%s, %s: %s", rows[k].model,
                          what, code ? d.error.message : "steps were rejected");
            }
        }
        driven_destroy(&d);
    }
}

/* ---- steps that went wrong, by Radau methods and with masses that are not constant or diagonal */

#define FORCED "[potential]\n-cos(a) - cos(b)\n[forces]\na = sin(2*t) - a'/5 + push\n"
static const struct {
    const char *name, *model;
    bool rates; /* explicit methods are compared by v^T M v', which contains a wrong force */
    bool raw;   /* Radau methods are compared with the velocities of the last stage */
    bool rigid; /* motion rigid, else full */
} moving[] = {
    {"diagonal", FORCED, true, false, false},
    {"not diagonal", "[mass]\na = 2, b = 1\nM[a, b] = 0.5\n" FORCED, true, false, false},
    {"varying mass", "[mass]\na = 2 + cos(b), b = 1\nM[a, b] = cos(a)/3\n" FORCED, false, false,
     false},
    {"kinetic energy", "[kinetic]\n(2 + cos(b))*a'^2/2 + a'*b'*cos(b)/3 + b'^2/2\n" FORCED, false,
     false, false},
    {"kinetic energy, damped bond that moves",
     "[kinetic]\n(2 + cos(b))*a'^2/2 + b'^2/2\n[bonds]\ns = a - b - sin(3*t)/10 stiffness 50 "
     "damping 0.5\n" FORCED,
     false, false, false},
    {"potential of time", "[potential]\na*b*sin(t)/4\n[bonds]\ns = a - b stiffness 50\n" FORCED,
     true, false, false},
    {"kinetic energy, soft spring, rigid motion",
     "[kinetic]\n(2 + cos(b))*a'^2/2 + b'^2/2\n[bonds]\ns = a - b stiffness 20 soft\n" FORCED,
     false, false, true},
    {"rigid bond that moves", "[bonds]\ns = b - 0.5 - sin(t)/5\n" FORCED, true, true, false},
};

static const taut_method *base;
static double wrong;  /* a force that acts during one step */
static int made, bad; /* steps so far; the bad one, which is compared */
static taut_solver *watched;

static int wrong_step(taut_stepper *s, double h, taut_error *error)
{
    if (++made == bad) {
        watched->ledger.step.calm = 0;
        TAUT_TRY(taut_context_set_parameter(s->context, 0, wrong, error));
    }
    int status = base->step(s, h, error);
    TAUT_TRY(taut_context_set_parameter(s->context, 0, 0, error));
    for (taut_index i = 0; i < s->n && status == 0; i++) {
        s->now.v[i] *= factor;
        s->error_q[i] = s->error_v[i] = 0; /* the estimate would show it too */
    }
    return status;
}

static driven wrong_create(int k, const char *method)
{
    char model[500], what[200];
    base = taut_method_find(method);
    made = 0;
    snprintf(model, sizeof model,
             "[parameters]\npush = 0\n[coordinates]\na, b\n%s[start]\na = 1, b = 0.5, a' = 0.3, "
             "b' = 0.2\n",
             moving[k].model);
    snprintf(what, sizeof what, "motion=%s rtol=1e-6 max-step=0.05 from=1 until=5",
             moving[k].rigid ? "rigid" : "full");
    driven d = crooked_create(method, wrong_step, model, what);
    watched = d.solver;
    return d;
}

/* One step with a wrong force, while no estimate shows it, is
 * rejected; made again it is right, and the result is that of the method. Velocities that are
 * 0.1 % too large in each step end the run. */
static void test_wrong_steps(void)
{
    static const char *const methods[] = {"dop8", "radau5", "radau7", "radau9"};
    check_group("wrong steps");
    for (size_t k = 0; k < sizeof moving / sizeof moving[0]; k++)
        for (int j = 0; j < 4; j++) {
            double end[2] = {0};
            int64_t rejected[2] = {0};
            const char *name = moving[k].name;
            bool feels = j > 0 || !moving[k].rates;
            factor = 1;
            for (int i = 0; i < 2; i++) {
                wrong = i ? 2 : 0;
                bad = 20;
                driven d = wrong_create((int)k, methods[j]);
                if (driven_good(name, &d)) {
                    d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
                    check_row(d.code == 0 && d.solver->ledger.step.on, "%s, %s: %s", name,
                              methods[j], d.error.message);
                    end[i] = taut_solver_position(d.solver)[0];
                    rejected[i] = d.solver->ledger.rejected;
                }
                driven_destroy(&d);
            }
            check_row(rejected[0] == 0 && rejected[1] == feels, "%s, %s: %lld and %lld rejected",
                      name, methods[j], (long long)rejected[0], (long long)rejected[1]);
            if (feels)
                check_near(name, end[1], end[0], 1e-5);
            if (j > 0 && moving[k].raw)
                continue;
            factor = 1.001;
            wrong = 0;
            driven d = wrong_create((int)k, methods[j]);
            if (driven_good(name, &d)) {
                int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
                check_equal(name, code, TAUT_ERROR_STEP);
                check_contains(name, d.error.message, "where the work of");
            }
            driven_destroy(&d);
        }
}

/* A method without an estimate at steps that are unstable (h omega = 8), driven by cos 3t from
 * rest: x = (cos 2t - cos 3t)/5. The balance alone makes its steps short enough, within 30 times
 * the tolerance a step; without it the result is meaningless. */
static void test_blind(void)
{
    check_group("a method without an estimate");
    factor = 1;
    for (int on = 0; on < 2; on++) {
        driven d = crooked_create("dop8", crooked_step,
                                  "[coordinates]\nx\n[potential]\n2*x^2\n[forces]\nx = cos(3*t)\n",
                                  "motion=full max-step=4 until=200 rtol=1e-8");
        if (driven_good("blind", &d)) {
            d.solver->ledger.step.on = on;
            d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            double x = taut_solver_position(d.solver)[0], exact = (cos(400) - cos(600)) / 5;
            check_row(d.code == 0, "blind: %s", d.error.message);
            if (on)
                check_near("with the balance", x, exact, 1e-4);
            else
                check_row(!(fabs(x - exact) < 1), "without the balance: %g, exact %g", x, exact);
            check_row(!on || d.solver->ledger.rejected > 0, "no step was rejected");
        }
        driven_destroy(&d);
    }
}

int main(void)
{
    test_closed_forms();
    test_unknown();
    test_no_alarm();
    test_catastrophes();
    test_crooked();
    test_wrong_steps();
    test_blind();
    return check_done();
}
