/* test_motion.c - the four motions of a model: what is chosen when nothing is specified, where the
 * start goes, that good data stay as they are, and the motions themselves against references of the
 * papers. */
#include "support/pendulum.h"
#include "support/run.h"
#include "drive/solver.h"

/* The stiff spring double pendulum [A section 5.1]. */
#define DOUBLE_PENDULUM(omega, lift)                                                               \
    "[coordinates]\nx1, y1, x2, y2\n[bonds]\ninner = sqrt(x1^2 + y1^2) - 1 stiffness " omega       \
    "^2\n"                                                                                         \
    "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness " omega "^2\n"                              \
    "[start]\nx1 = 1, y1 = " lift ", x2 = 2\ny1' = -0.5, y2' = 0.5\n"

static const char slider_crank[] = "[coordinates]\ntheta, x2, y2, psi\n[mass]\ntheta = "
                                   "10\n[forces]\ntheta = sin(t) - theta'\ny2 = -9.81\n"
                                   "[bonds]\ncentre_x = x2 - cos(theta) - 2*cos(psi)\nslide = "
                                   "sin(theta) - 3*sin(psi)\ncentre_y = y2 - sin(psi)\n"
                                   "[start]\ntheta' = -1, x2 = 3, y2' = -1/3, psi' = -1/3\n";

/* Springs that depend on each other. */
#define TWICE                                                                                      \
    "[coordinates]\nx, y\n[bonds]\na = x - 1 stiffness 1e6\nb = 2*x - 2 stiffness 1e6\n"           \
    "[start]\nx = 1.001, y' = 1\n"

/* More oscillating springs than actions are computed for. */
#define MANY                                                                                       \
    "[parameters]\nzero = 0\n[coordinates]\nq[i] for i in 1..802\n[potential]\n"                   \
    "sum(q[i]^2/2 for i in 1..802)\n[bonds]\n"                                                     \
    "pair[i] = q[2*i] - q[2*i-1] - 1 + zero*q[1] for i in 1..401 stiffness 1e6\n"                  \
    "[start]\nq[2*i] = 1.1 for i in 1..401\n"

/* Stiffly damped: the rate of the damper, 1e6, is far above the frequency 100. */
#define DAMPER "[coordinates]\nx, y\n[bonds]\na = x stiffness 1e4 damping 1e6\n[start]\nx = 0.01\n"
/* Frequencies 100 and 200 across a slow coordinate. */
#define RESONANT                                                                                   \
    "[parameters]\nzero = 0\n[coordinates]\nx, y, z\n[potential]\nz^2/2\n[bonds]\n"                \
    "a = x stiffness 1e4\nb = y + zero*x stiffness 4e4\n[start]\nx = 0.1, y = 0.1, z = 1\n"
#define WELL "[coordinates]\nx\n[potential]\nx^2\n[start]\nx = 1\n"

static void test_choice(void)
{
    static const struct {
        const char *model, *options, *explanation;
    } rows[] = {
        /* a slow point; an oscillation that is cheap to resolve, and one that is not */
        {PENDULUM("stiffness 1e6", "x = 1"), "until=1", "motion slow, method dop8"},
        {PENDULUM("stiffness 1e6", "x = 1"), "until=1",
         "slow because the initial state is a slow point within the tolerance (amplitude about 0), "
         "so that slow and full motion are the same"},
        {PENDULUM("stiffness 1e6", "x = 1.00001"), "until=1.1",
         "full because every oscillation can be resolved with about 20000 evaluations; motion "
         "slow would neglect an oscillation (amplitude about 1e-05, energy 5e-05, energy scale 1)"},
        {PENDULUM("stiffness 1e6", "x = 1.00001"), "until=1e9",
         "slow because the oscillation of the initial state is negligible (amplitude about 1e-05, "
         "energy 5e-05, energy scale 1); motion full would need about 1.8e+13 evaluations"},
        {PENDULUM("stiffness 4", "x = 1"), "until=1", "motion full, method dop8"},
        {PENDULUM("stiffness 4", "x = 1"), "until=1",
         "full because every oscillation can be resolved with about 5"},
        {PENDULUM("stiffness 4", "x = 1"), "until=1e9",
         "full because the lowest stiff frequency (2) is less than 10 times the rate of the slow "
         "motion (1."},
        {PENDULUM("stiffness 4", "x = 1"), "until=1e9", "; full needs about 3.6e+10 evaluations"},
        /* only a number of steps: full motion is affordable, or not */
        {PENDULUM("stiffness 1e6", "x = 1.1"), "steps=1000",
         "full because every oscillation can be resolved with about 12000 evaluations"},
        {PENDULUM("stiffness 1e6", "x = 1.1"), "steps=1000000000000", "motion effective"},
        {PENDULUM("rigid", "x = 1"), "until=1", "motion rigid, method dop8"},
        {PENDULUM("rigid", "x = 1"), "until=1 method=rattle step=0.01",
         "motion rigid, method rattle"},
        {PENDULUM("rigid", "x = 1"), "until=1 method=radau5", "motion rigid, method radau5"},
        {PENDULUM("stiffness 1e6", "x = 1"), "until=1 method=dop8", "motion full, method dop8"},
        {PENDULUM("stiffness 1e6", "x = 1.1"), "until=1 motion=slow",
         "the initial state was moved to its slow point"},
        {PENDULUM("rigid", "x = 1.1"), "until=1",
         "the initial state was moved onto the rigid bonds, which it violated by 0.1"},
        {PENDULUM("stiffness 1e6", "x = 1.1"), "until=1 motion=rigid",
         "the initial state was moved onto the rigid bonds"},
        /* effective beyond the budget only, and not by a step of [run] */
        {DOUBLE_PENDULUM("1e4", "0.25"), "until=1", "motion full, method dop8"},
        {PENDULUM("stiffness 1e6", "x = 1.1"), "until=1e9",
         "effective because the initial state oscillates (amplitude about 0.1, energy 5e+03, "
         "energy scale 1.1); motion full would need about 1.8e+13 evaluations; oscillations are "
         "averaged and their actions conserved; the error of averaging is not part of the error "
         "shown"},
        {PENDULUM("stiffness 1e6", "x = 1.1"), "until=1e9",
         "motion effective, method effective (order 8), adaptive step size"},
        {PENDULUM("stiffness 1e6", "x = 1.1"), "until=1e9 step=0.1",
         "motion effective, method projected-impulse (order 2), step 0.1"},
        {PENDULUM("stiffness 1e6", "x = 1.1") "[run]\nstep = 1e-5\n", "until=1e9",
         "motion effective, method effective"},
        /* its vibration drives a motion that is too fast */
        {DOUBLE_PENDULUM("1e4", "0.25"), "until=1e9",
         ", and motion effective needs a separation of 30 (it is 20.1 on the way); full needs"},
        {DOUBLE_PENDULUM("1e4", "0.25"), "until=1 step=1e-5",
         "motion full, method verlet (order 2), step 1e-05"},
        {DOUBLE_PENDULUM("1e4", "0.25") "[run]\nstep = 1e-5\n", "until=1",
         "motion full, method dop8 (order 8), adaptive step size"},
        /* the same where the motion is given */
        {DOUBLE_PENDULUM("1e4", "0.25"), "until=1 motion=full", "motion full, method dop8"},
        {DOUBLE_PENDULUM("1e4", "0.25"), "until=1 motion=full step=1e-5",
         "motion full, method verlet (order 2), step 1e-05"},
        {DOUBLE_PENDULUM("1e4", "0.25") "[run]\nstep = 1e-5\n", "until=1 motion=full",
         "motion full, method dop8 (order 8), adaptive step size"},
        {DOUBLE_PENDULUM("1e4", "0.25") "[run]\nstep = 1e-5\nmethod = verlet\n",
         "until=1 motion=full", "motion full, method verlet (order 2), step 1e-05 (of [run])"},
        {DOUBLE_PENDULUM("1e4", "0.25"), "until=1 method=verlet",
         "motion full, method verlet (order 2), step 1.32"},
        /* why not effective */
        {RESONANT, "until=1e9",
         "full because the initial state oscillates (amplitude about 0.1, energy 250, energy "
         "scale 1), and averaging neglects that frequencies are in resonance to 0.0 %; full needs "
         "about "
         "3.6e+12 evaluations"},
        {PENDULUM("stiffness 400", "y = -1.1"), "until=1e9",
         ", and motion effective needs a separation of 30 (it is 20)"},
        {MANY, "until=1e9", ", and resonances, which averaging neglects, are unknown"},
        {MANY, "until=0.1", "motion full, method dop8"},
        {PENDULUM("stiffness 1e4 damping 1e3", "x = 1.1"), "until=1e9",
         "full because overdamped springs are far from their equilibrium (energy 50, energy "
         "scale "},
        /* the effective motion cannot begin, which is said, and another is chosen */
        {TWICE, "until=1e9", "not effective: "},
        {TWICE, "until=1e9", "; full because the initial state oscillates (energy 2.5, "},
        {TWICE, "until=1e9", "motion full, method dop8"},
        {WELL, "until=1", "motion full, method dop8"},
        {WELL, "until=1 step=0.01", "motion full, method verlet"},
        /* implicit only where stiffness is met */
        {DAMPER, "until=1", "motion full, method dop8"},
        {"[coordinates]\nx, y\n[potential]\ny\n[bonds]\na = x stiffness 1e6 damping 1e3\nb = y "
         "stiffness 1e4\n",
         "until=1", "motion full, method dop8"},
    };
    check_group("choice");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        if (driven_good(rows[k].options, &d))
            check_contains(rows[k].options, taut_solver_explanation(d.solver), rows[k].explanation);
        driven_destroy(&d);
    }
}

/* The motion of the oscillating pendulum until t, and the estimated cost of the full one. */
static bool is_full(double t, double *cost)
{
    char options[60];
    snprintf(options, sizeof options, "until=%.17g", t);
    driven d = driven_create(PENDULUM("stiffness 1e7", "x = 1.1"), options, NULL);
    bool full = driven_good(options, &d) && d.solver->motion == TAUT_MOTION_FULL;
    *cost = d.solver ? d.solver->diagnosis.full_cost : NAN;
    driven_destroy(&d);
    return full;
}

/* Full motion up to 2e9 units of work. */
static void test_budget(void)
{
    double one, two, cost;
    check_group("budget");
    bool full = is_full(100, &one), later = is_full(200, &two);
    check_row(full && later, "not full for %g, %g units", one, two);
    double end = 100 + 100 * (2e9 - one) / (two - one); /* the cost is linear in the time */
    full = is_full(end * 0.999, &cost);
    check_row(full, "not full for %g units", cost);
    check_near("cost below", cost, 2e9 * 0.999, 1e6);
    full = is_full(end * 1.001, &cost);
    check_row(!full, "full for %g units", cost);
    check_near("cost above", cost, 2e9 * 1.001, 1e6);
}

/* The estimate against what a run needs: within a factor 2. */
static void test_estimate(void)
{
    static const struct {
        const char *model, *options;
    } rows[] = {
        {PENDULUM("stiffness 1e4", "x = 1.1"), "until=10"},
        {PENDULUM("stiffness 1e4", "x = 1.1"), "until=10 rtol=1e-3"},
        {PENDULUM("stiffness 1e4", "x = 1.1"), "until=10 rtol=1e-9"},
        {PENDULUM("stiffness 1e6", "x = 1.001"), "until=10"},
        {DOUBLE_PENDULUM("1e3", "0.25"), "until=5"},
        {RESONANT, "until=10"},
    };
    check_group("estimated evaluations");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        if (driven_good(rows[k].options, &d)) {
            double estimate = d.solver->diagnosis.full_evaluations;
            check_row(taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error) == 0, "%s",
                      d.error.message);
            double ratio = (double)d.solver->statistics.force_evaluations / estimate;
            check_row(ratio > 0.5 && ratio < 2, "row %d, %s: %g times the estimate %g", (int)k,
                      rows[k].options, ratio, estimate);
        }
        driven_destroy(&d);
    }
}

/* From dop8 to radau5 where stiffness is met, and only there: the method of the result, and the
 * time of the change in the explanation. */
static void test_switch(void)
{
    static const struct {
        const char *name, *model, *file, *set, *options, *method;
        double before; /* the change takes place after 0 and before this time */
    } rows[] = {
        {"damper", DAMPER, NULL, NULL, "until=1", "radau5", 0.01},
        {"damper, too short to pay", DAMPER, NULL, NULL, "until=1e-5", "dop8", 0},
        {"damper, method given", DAMPER, NULL, NULL, "until=1e-2 method=dop8", "dop8", 0},
        {"overdamped pendulum", PENDULUM("stiffness 1e4 damping 1e6", "x = 1.1"), NULL, NULL,
         "until=1", "radau5", 0.01},
        {"damped pendulum", PENDULUM("stiffness 1e4 damping 1", "x = 1.1"), NULL, NULL, "until=10",
         "dop8", 0},
        {"Robertson", NULL, "robertson", NULL, "", "radau5", 10},
        {"Van der Pol", NULL, "van_der_pol", NULL, "", "radau5", 100},
        {"cloth", NULL, "cloth", "N=6", "", "dop8", 0},
        {"Michaelis-Menten, short", NULL, "michaelis_menten", NULL, "until=1e-3", "dop8", 0},
    };
    check_group("switch");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char path[300];
        taut_load how = {.size = sizeof how, .set = &rows[k].set, .set_count = rows[k].set != NULL};
        driven d = {0};
        if (rows[k].model) {
            d = driven_create(rows[k].model, rows[k].options, NULL);
        } else {
            snprintf(path, sizeof path, TAUT_SOURCE_DIR "/models/%s.taut", rows[k].file);
            d.code = taut_system_load(path, &how, &d.system, &d.error);
            driven_equip(&d, rows[k].options, NULL);
        }
        if (driven_good(rows[k].name, &d)) {
            taut_result result = {.size = sizeof result};
            check_contains(rows[k].name, taut_solver_explanation(d.solver), "method dop8");
            check_row(taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error) == 0, "%s: %s",
                      rows[k].name, d.error.message);
            taut_solver_result_get(d.solver, &result, NULL);
            const char *words = "; method radau5 from t = ",
                       *change = strstr(taut_solver_explanation(d.solver), words);
            double at = change ? strtod(change + strlen(words), NULL) : 0;
            check_row(strcmp(result.method, rows[k].method) == 0, "%s: method %s", rows[k].name,
                      result.method);
            check_row(rows[k].before > 0 ? at > 0 && at < rows[k].before : !change, "%s: %s",
                      rows[k].name, taut_solver_explanation(d.solver));
        }
        driven_destroy(&d);
    }
}

/* Starts that are good stay as they are, to the last bit; in full motion springs keep their
 * stretch. */
static void test_good_starts(void)
{
    static const struct {
        const char *name, *model, *options;
        double q[4], v[4];
        int n;
    } rows[] = {
        {"rigid",
         DOUBLE_PENDULUM("1e4", "0"),
         "motion=rigid until=1",
         {1, 0, 2, 0},
         {0, -0.5, 0, 0.5},
         4},
        {"slow",
         DOUBLE_PENDULUM("1e6", "0"),
         "motion=slow until=1",
         {1, 0, 2, 0},
         {0, -0.5, 0, 0.5},
         4},
        {"full",
         DOUBLE_PENDULUM("1e4", "0.25"),
         "motion=full until=1",
         {1, 0.25, 2, 0},
         {0, -0.5, 0, 0.5},
         4},
        {"slider crank", slider_crank, "until=1", {0, 3, 0, 0}, {-1, 0, -1. / 3, -1. / 3}, 4},
    };
    check_group("good starts");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        if (driven_good(rows[k].name, &d)) {
            const double *q = taut_solver_position(d.solver), *v = taut_solver_velocity(d.solver);
            int same = 0;
            for (int i = 0; i < rows[k].n; i++)
                same += q[i] == rows[k].q[i] && v[i] == rows[k].v[i];
            check_row(same == rows[k].n, "%s: %d of %d entries are as given", rows[k].name, same,
                      rows[k].n);
        }
        driven_destroy(&d);
    }
    /* x hangs on a rigid bond, y on x by a spring that is stretched: only the rigid bond is put
     * right */
    driven d = driven_create("[coordinates]\nx, y\n[mass]\nx = 2, y = 3\n[bonds]\nrod = x - "
                             "1\nspring = y - x - 1 stiffness 100\n"
                             "[start]\nx = 1.5, y = 3, x' = 1, y' = 0.25\n",
                             "motion=full until=1", NULL);
    if (driven_good("mixed", &d)) {
        const double *q = taut_solver_position(d.solver), *v = taut_solver_velocity(d.solver);
        check_row(fabs(q[0] - 1) < 1e-14 && q[1] == 3, "positions %.17g %.17g", q[0], q[1]);
        check_row(fabs(v[0]) < 1e-14 && v[1] == 0.25, "velocities %.17g %.17g", v[0], v[1]);
        /* the spring then moves y = 2 + cos(omega t) + ..., omega^2 = 100/3 */
        double omega = sqrt(100. / 3);
        check_equal("advance", taut_solver_advance(d.solver, 1, &d.error), 0);
        check_near("y(1)", taut_solver_position(d.solver)[1],
                   2 + cos(omega) + 0.25 * sin(omega) / omega, 1e-4);
    }
    driven_destroy(&d);
}

/* The foot point of a rigid start: on the bonds, moved along G^T of where it landed (masses are
 * 1), velocities likewise. */
static void test_foot(void)
{
    check_group("foot point");
    driven d = driven_create(DOUBLE_PENDULUM("1e4", "0.25"),
                             "motion=rigid until=10 rtol=1e-9 atol=1e-9 every=0.1", NULL);
    if (driven_good("rigid", &d)) {
        const double *q = taut_solver_position(d.solver), q0[4] = {1, 0.25, 2, 0};
        double r1 = hypot(q[0], q[1]), r2 = hypot(q[2] - q[0], q[3] - q[1]);
        check_near("inner", r1, 1, 1e-14);
        check_near("outer", r2, 1, 1e-14);
        double e[2] = {(q[2] - q[0]) / r2, (q[3] - q[1]) / r2}, move[4];
        for (int i = 0; i < 4; i++)
            move[i] = q0[i] - q[i];
        /* lambda2 from the second mass, lambda1 from the first: two equations must hold too */
        double two = move[2] * e[0] + move[3] * e[1],
               one = (move[0] + two * e[0]) * q[0] + (move[1] + two * e[1]) * q[1];
        check_near("second mass moved along its rod", move[2] * e[1] - move[3] * e[0], 0, 1e-12);
        check_near("first mass: x", move[0] + two * e[0], one * q[0], 1e-12);
        check_near("first mass: y", move[1] + two * e[1], one * q[1], 1e-12);
        const double *v = taut_solver_velocity(d.solver);
        check_near("inner rate", v[0] * q[0] + v[1] * q[1], 0, 1e-14);
        check_near("outer rate", (v[2] - v[0]) * e[0] + (v[3] - v[1]) * e[1], 0, 1e-14);
        taut_result result = {.size = sizeof result};
        check_row(taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error) == 0, "%s",
                  d.error.message);
        taut_solver_result_get(d.solver, &result, NULL);
        check_below("drift of positions", result.drift_position, 1e-13);
        check_below("drift of velocities", result.drift_velocity, 1e-13);
        check_near("energy", result.energy_last, result.energy_first, 1e-7);
    }
    driven_destroy(&d);
}

/* Reference at t = 1 of the slider crank [C example 4; docs/sources.md, C], by every method that
 * knows its steps. */
static void test_slider_crank(void)
{
    static const double q[4] = {-1.061270282397952442, 2.401214566116768558, -0.2909919279848426683,
                                -0.2952634692628417145};
    static const double mu[3] = {0.3730378631064774131, 3.431444380758191872,
                                 -6.723523373744880700 - 3.431444380758191872};
    static const struct {
        const char *options;
        double limit,
            force_limit; /* multipliers of Radau IIA have order s - 1 only [docs/sources.md, B] */
    } rows[] = {
        {"method=dop8 rtol=1e-12 atol=1e-12", 1e-10, 1e-8},
        {"method=radau5 rtol=1e-9 atol=1e-9", 1e-7, 1e-3},
        {"method=dopri5 rtol=1e-10 atol=1e-10", 1e-8, 1e-6},
        {"method=dop8 rtol=1e-12 atol=1e-12 stabilize=project", 1e-10, 1e-8},
        {"method=dop8 rtol=1e-12 atol=1e-12 stabilize=none", 1e-10, 1e-8},
        {"method=dop8 rtol=1e-12 atol=1e-12 stabilize=baumgarte", 1e-10, 1e-8},
    };
    check_group("slider crank");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[160];
        snprintf(options, sizeof options, "%s until=1", rows[k].options);
        driven d = driven_create(slider_crank, options, NULL);
        if (driven_good(options, &d)) {
            check_row(taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error) == 0, "%s: %s",
                      options, d.error.message);
            double off = 0, force = 0;
            for (int i = 0; i < 4; i++)
                off = fmax(off, fabs(taut_solver_position(d.solver)[i] - q[i]));
            for (int i = 0; i < 3; i++)
                force = fmax(force, fabs(taut_solver_multipliers(d.solver)[i] - mu[i]));
            check_below(options, off, rows[k].limit);
            check_row(force <= rows[k].force_limit, "%s: multipliers off by %.3g", options, force);
        }
        driven_destroy(&d);
    }
}

/* Drift over t <= 100, stabilised and not. */
static void test_drift(void)
{
    static const struct {
        const char *stabilize;
        double least, most;
    } rows[] = {
        {"post", 0, 1e-12}, {"project", 0, 1e-12}, {"none", 1e-7, 1}, {"baumgarte", 1e-12, 1e-4}};
    check_group("drift");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[160];
        snprintf(options, sizeof options, "method=dop8 rtol=1e-6 until=100 every=1 stabilize=%s",
                 rows[k].stabilize);
        driven d = driven_create(slider_crank, options, NULL);
        if (driven_good(options, &d)) {
            taut_result result = {.size = sizeof result};
            check_row(taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error) == 0, "%s: %s",
                      options, d.error.message);
            taut_solver_result_get(d.solver, &result, NULL);
            check_row(result.drift_position >= rows[k].least &&
                          result.drift_position <= rows[k].most,
                      "%s: drift %.3g", options, result.drift_position);
        }
        driven_destroy(&d);
    }
}

/* The slow motions of a spring in the plane are circles r = r*, omega^2 r*^3 (r* - 1) = 4 M^2, M
 * the areal velocity [A 2.3; docs/sources.md, A]. */
static void test_circle(void)
{
    check_group("slow motion");
    static kept r;
    driven d = driven_create("[coordinates]\nx, y\n[bonds]\nspring = sqrt(x^2 + y^2) - 1 stiffness "
                             "1e6\n[start]\nx = 1.01, y' = 1\n",
                             "motion=slow until=10 rtol=1e-8 atol=1e-8", NULL);
    if (driven_good("circle", &d)) {
        taut_sink sink = kept_sink(&r);
        check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s",
                  d.error.message);
        double least = INFINITY, most = 0,
               areal = (r.q[0][0] * r.v[0][1] - r.q[0][1] * r.v[0][0]) / 2;
        for (int i = 0; i < r.rows; i++) {
            double radius = hypot(r.q[i][0], r.q[i][1]);
            least = fmin(least, radius);
            most = fmax(most, radius);
        }
        double star = 1;
        for (int j = 0; j < 50; j++)
            star = 1 + 4 * areal * areal / (1e6 * star * star * star);
        check_near("smallest radius", least, star, 2e-9);
        check_near("largest radius", most, star, 2e-9);
        check_row(d.solver->statistics.steps < 400, "%d steps", (int)d.solver->statistics.steps);
    }
    driven_destroy(&d);
}

/* The double pendulum at omega = 1000 from the exact slow point over (31)-(32): its initial state,
 * and the state at t = 10 [docs/sources.md, A]. */
static void test_slow_reference(void)
{
    static const double start[4] = {1.000001500045071096781, 0, 2.000002750073263937993, 0};
    static const double q[4] = {0.99934340676157869, -0.03622915908201496, 0.66151150110952525,
                                0.90497759592155011};
    static const double p[4] = {0.00109905864343522, 0.03032224325356639, -0.67391036767002129,
                                -0.21196201577063433};
    check_group("slow motion");
    driven d = driven_create(DOUBLE_PENDULUM("1e3", "0"),
                             "motion=slow until=10 rtol=1e-10 atol=1e-10", NULL);
    if (driven_good("double pendulum", &d)) {
        double off = 0, rate = 0;
        check_contains("explanation", taut_solver_explanation(d.solver),
                       "moved to its slow point, without oscillation (series");
        for (int i = 0; i < 4; i++)
            off = fmax(off, fabs(taut_solver_position(d.solver)[i] - start[i]));
        check_below("start", off, 1e-14);
        check_row(taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error) == 0, "%s",
                  d.error.message);
        off = 0;
        for (int i = 0; i < 4; i++) {
            off = fmax(off, fabs(taut_solver_position(d.solver)[i] - q[i]));
            rate = fmax(rate, fabs(taut_solver_velocity(d.solver)[i] - p[i]));
        }
        check_below("positions", off, 1e-8);
        check_below("velocities", rate, 1e-7);
    }
    driven_destroy(&d);
}

/* Without jets a slow start takes its slow point from forces alone, by `kernel`: on the circle
 * r*, as above, to what differences know. */
static int no_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)user, (void)t, (void)q, (void)v;
    f[0] = f[1] = 0;
    return 0;
}

static int radius_bond(void *user, double t, const double *q, double *g)
{
    (void)user, (void)t;
    g[0] = hypot(q[0], q[1]) - 1;
    return 0;
}

static void test_start_without_jets(void)
{
    static const double q[2] = {1.01, 0}, v[2] = {0, 1}, compliance[1] = {1e-6};
    taut_callbacks c = {.size = sizeof c,
                        .coordinates = 2,
                        .bonds = 1,
                        .compliance = compliance,
                        .start_q = q,
                        .start_v = v};
    driven d = {0};
    c.force = no_force;
    c.bond = radius_bond;
    check_group("a slow start without jets");
    d.code = taut_system_from_callbacks(&c, NULL, &d.system, &d.error);
    driven_equip(&d, "motion=slow until=1", NULL);
    if (driven_good("callbacks", &d)) {
        const double *x = taut_solver_position(d.solver), *u = taut_solver_velocity(d.solver);
        double areal = (x[0] * u[1] - x[1] * u[0]) / 2, star = 1;
        for (int j = 0; j < 50; j++)
            star = 1 + 4 * areal * areal / (1e6 * star * star * star);
        check_contains("explanation", taut_solver_explanation(d.solver),
                       "moved to its slow point, without oscillation (kernel");
        check_near("radius", hypot(x[0], x[1]), star, 1e-9);
        check_near("radial velocity", (x[0] * u[0] + x[1] * u[1]) / star, 0, 1e-6);
    }
    driven_destroy(&d);
}

/* Memory that runs out at call k, for motions with their fields, stabilisers, projections. */
static void test_faults(void)
{
    static const struct {
        const char *model, *options;
    } rows[] = {
        {PENDULUM("rigid", "x = 1.1"), "until=0.1"},
        {PENDULUM("stiffness 1e4", "x = 1.1"), "motion=slow until=0.1"},
        {PENDULUM("stiffness 1e4", "x = 1"), "until=0.1"},
        {"[state]\nx\n[rates]\nx' = -x\n[invariants]\ni = x*exp(t)\n[start]\nx = 1\n", "until=0.1"},
    };
    check_group("memory faults");
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        int code = TAUT_ERROR_MEMORY;
        int64_t k = 0;
        while (code == TAUT_ERROR_MEMORY && k < 3000) {
            faulty f = {.fail = ++k};
            taut_allocator allocator = faulty_allocator(&f);
            driven d = driven_create(rows[row].model, rows[row].options, &allocator);
            code = d.code;
            driven_destroy(&d);
            if (f.live != 0 || (code != 0 && code != TAUT_ERROR_MEMORY))
                check_row(false, "row %d: failure %d leaves %d blocks, %s", (int)row, (int)k,
                          (int)f.live, taut_code_name(code));
            if (code == 0 && f.failed > 0)
                code = TAUT_ERROR_MEMORY; /* what is optional was left out; go on */
        }
        check_row(code == 0 && k > 5, "row %d: %d failures, then %s", (int)row, (int)k - 1,
                  taut_code_name(code));
    }
}

int main(void)
{
    test_choice();
    test_budget();
    test_estimate();
    test_switch();
    test_good_starts();
    test_foot();
    test_slider_crank();
    test_drift();
    test_circle();
    test_slow_reference();
    test_start_without_jets();
    test_faults();
    return check_done();
}
