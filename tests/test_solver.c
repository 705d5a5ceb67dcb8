/* test_solver.c - the time loop: choices and refusals, rows at exact times, guards, interrupts,
 * events, faults. */
#include "base/method.h"
#include "base/options.h"
#include "support/run.h"

#define SPRING "[coordinates]\nx\n[bonds]\ns = x stiffness 100\n[start]\nx = 1\n"
#define DECAY "[state]\nx\n[rates]\nx' = -x\n[start]\nx = 1\n"
#define FALL "[coordinates]\ny\n[potential]\ny\n[start]\ny = 1\n"

static const struct {
    const char *model, *options;
    int code;
    const char *message; /* part of it; for code 0, of the explanation */
} choices[] = {
    {SPRING, "step=0.01 until=1", 0,
     "motion full, method verlet (order 2), step 0.01: 62.8 steps in the period"},
    {SPRING, "motion=full method=verlet step=0.01 until=1", 0, "motion full, method verlet"},
    {SPRING, "method=verlet until=1", 0,
     "step 0.020944 (chosen): 30 steps in the period of the fastest spring (omega = 10)"},
    {SPRING, "until=1", 0,
     "method dop8 (order 8), adaptive step size with rtol 1e-06, atol 1e-09; full because the "
     "bonds leave no slow motion; full needs about 680 evaluations"},
    {SPRING "[run]\nuntil = 2\nstep = 0.03\n", "", 0, "method dop8 (order 8), adaptive step size"},
    {SPRING "[run]\nuntil = 2\nstep = 0.03\n", "method=verlet", 0,
     "method verlet (order 2), step 0.03 (of [run])"},
    {SPRING "[run]\nuntil = 2\nstep = 0.03\nmethod = verlet\n", "", 0,
     "method verlet (order 2), step 0.03 (of [run])"},
    {SPRING "[run]\nuntil = 2\nstep = 0.03\n", "step=0.01", 0, "step 0.01"},
    {SPRING "[run]\nmotion = slow\nuntil = 2\n", "motion=full step=0.01", 0, "motion full"},
    {SPRING "[run]\nmotion = slow\nuntil = 2\n", "method=verlet step=0.01", 0, "motion full"},
    {SPRING "[run]\nmotion = slow\nuntil = 2\n", "", 0,
     "motion slow, method dop8 (order 8), adaptive step size with rtol 1e-06, atol 1e-09"},
    {SPRING, "motion=rigid until=1", 0, "motion rigid, method dop8 (order 8), adaptive step size"},
    {SPRING, "motion=rigid until=1 step=0.1", 0, "method dop8 (order 8), step 0.1"},
    {SPRING, "motion=rigid method=verlet until=1", TAUT_ERROR_REFUSED,
     "method verlet is for motion full, not for motion rigid"},
    {SPRING, "method=verle until=1", TAUT_ERROR_USAGE,
     "unknown method 'verle'; did you mean verlet?"},
    {SPRING, "method=leapfrog until=1", TAUT_ERROR_USAGE,
     "unknown method 'leapfrog'; `taut methods`"},
    {SPRING, "method=ipa until=1", TAUT_ERROR_USAGE,
     "ipa is a projection, not a method of motion in time; `taut project`"},
    {SPRING, "step=0.01", TAUT_ERROR_USAGE, "an end time is required"},
    /* nothing can be chosen where nothing can be evaluated */
    {"[coordinates]\nx\n[bonds]\ns = sqrt(x) - 1 stiffness 100\n[start]\nx = -1\n", "until=1",
     TAUT_ERROR_EVALUATE, "at t = 0"},
    {FALL, "until=1", 0, "motion full, method dop8"},
    {FALL, "method=verlet until=1", TAUT_ERROR_USAGE,
     "a step size is required: there is no spring"},
    {FALL, "method=rattle until=1", TAUT_ERROR_USAGE, "a step size is required"},
    {SPRING, "step=0.2 until=1", TAUT_ERROR_STEP,
     "step 0.2 is unstable: the fastest spring needs h < 2/omega = 0.2"},
    {SPRING, "step=0.199 until=1", 0, "3.16 steps"},
    {SPRING, "step=1e-18 until=1", TAUT_ERROR_STEP, "too small"},
    {"[coordinates]\nx\n[stiff potential]\nx^2/2 scale 100\n[start]\nx = 1\n", "step=0.3 until=1",
     TAUT_ERROR_STEP, "2/omega = 0.2"},
    /* a step of [run] is for the method of [run]; dop8 knows better than a step made for Verlet */
    {SPRING "[run]\nuntil = 2\nstep = 0.03\n", "motion=full method=dop8", 0,
     "method dop8 (order 8), adaptive step size"},
    {SPRING "[run]\nuntil = 2\nstep = 0.03\nmethod = dop8\n", "", 0, "step 0.03"},
    {SPRING "[run]\nuntil = 2\nstep = 0.03\nmethod = dop8\n", "step=0.04", 0, "step 0.04"},
    {SPRING, "method=dop8 until=1 rtol=1e-9 atol=1e-8", 0, "rtol 1e-09, atol 1e-08"},
    /* methods that refuse, and what is chosen instead when no method is specified */
    {"[coordinates]\nx\n[bonds]\ns = x\n", "method=verlet step=0.1 until=1", TAUT_ERROR_REFUSED,
     "method verlet does not support rigid bonds (give the bonds a stiffness)"},
    {"[coordinates]\nx, y\n[bonds]\ns = x\n", "step=0.1 until=1", 0, "motion rigid, method dop8"},
    {"[coordinates]\nx\n[bonds]\ns = x stiffness 1 damping 1\n", "method=verlet step=0.1 until=1",
     TAUT_ERROR_REFUSED, "does not support damped bonds"},
    {"[coordinates]\nx\n[bonds]\ns = x stiffness 1 damping 1\n", "step=0.1 until=1", 0,
     "method dop8 (order 8), step 0.1"},
    {"[coordinates]\nx\n[forces]\nx = -x'\n", "method=verlet step=0.1 until=1", TAUT_ERROR_REFUSED,
     "forces that depend on velocities"},
    {"[coordinates]\nx\n[forces]\nx = -x'\n", "step=0.1 until=1", 0, "motion full, method dop8"},
    {"[coordinates]\nx\n[mass]\nx = 2 + sin(x)\n", "method=verlet step=0.1 until=1",
     TAUT_ERROR_REFUSED, "a mass matrix that varies"},
    {"[coordinates]\nx\n[forces]\nx = -x'\n[bonds]\ns = x\n", "method=verlet step=0.1 until=1",
     TAUT_ERROR_REFUSED,
     "rigid bonds (give the bonds a stiffness), does not support forces that depend on velocities"},
    {DECAY, "method=verlet step=0.1 until=1", TAUT_ERROR_REFUSED, "needs a mechanical system"},
    {DECAY, "until=1", 0, "first order, method dop8 (order 8), adaptive step size"},
    {DECAY, "motion=rigid until=1", TAUT_ERROR_USAGE, "only mechanical systems have motions"},
    {SPRING, "method=dop8 stabilize=post until=1", TAUT_ERROR_USAGE, "there are no rigid bonds"},
    {"[coordinates]\nx, y\n[bonds]\ns = x\n", "method=rattle step=0.1 stabilize=baumgarte until=1",
     TAUT_ERROR_REFUSED, "method rattle does not use them"},
};

static void test_choices(void)
{
    check_group("choices and refusals");
    for (size_t k = 0; k < sizeof choices / sizeof choices[0]; k++) {
        driven d = driven_create(choices[k].model, choices[k].options, NULL);
        check_row(d.code == choices[k].code, "row %d, %s: %s (%s), expected %s", (int)k,
                  choices[k].options, taut_code_name(d.code), d.error.message,
                  taut_code_name(choices[k].code));
        const char *text = d.solver ? taut_solver_explanation(d.solver) : d.error.message;
        check_contains(choices[k].options, text, choices[k].message);
        driven_destroy(&d);
    }
}

/* The option offers exactly the motions that methods can name; every method is complete. */
static void test_methods(void)
{
    check_group("methods");
    const char *choices_text = taut_option_find("motion")->choices;
    char words[80];
    unsigned all = 0;
    snprintf(words, sizeof words, "%s", choices_text);
    for (char *word = strtok(words, "|"); word; word = strtok(NULL, "|")) {
        unsigned bit = taut_motion_bit(word);
        check_row(bit != 0 && !(all & bit) && !strcmp(taut_motion_name(bit), word),
                  "motion %s has bit %u", word, bit);
        all |= bit;
    }
    check_equal("all motions are offered", all,
                TAUT_MOTION_RIGID | TAUT_MOTION_SLOW | TAUT_MOTION_EFFECTIVE | TAUT_MOTION_FULL);
    taut_method_info info = {.size = sizeof info};
    check_row(taut_method_count() > 0 && taut_method_get(-1, &info, NULL) != 0 &&
                  taut_method_get(taut_method_count(), &info, NULL) != 0,
              "bounds");
    for (int k = 0; taut_method_get(k, &info, NULL) == 0; k++) {
        const taut_method *method = taut_method_table[k];
        char text[80];
        check_row(!strcmp(info.motions, taut_motions_text(method->motions, text, sizeof text)) ||
                      strchr(text, ','),
                  "%s: %s", info.name, info.motions);
        check_row(method->create && method->step && method->changed && method->multipliers &&
                      info.order > 0,
                  "%s is complete", info.name);
        check_row(strlen(info.summary) > 20 && strlen(info.reference) > 5, "%s has words",
                  info.name);
    }
}

/* Settings of a model that only the command line may say are refused; here or already by the
 * reader. */
static void test_settings(void)
{
    static const char *const lines[] = {"out = 3",    "plot = 3", "allow-command = 1", "json = 1",
                                        "untill = 3", "step = 0", "step = -1"};
    check_group("[run] settings");
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        char model[200];
        snprintf(model, sizeof model, "%s[run]\n%s\n", SPRING, lines[k]);
        driven d = driven_create(model, "until=1", NULL);
        check_row(d.code == TAUT_ERROR_USAGE || d.code == TAUT_ERROR_MODEL, "'%s': %s (%s)",
                  lines[k], taut_code_name(d.code), d.error.message);
        driven_destroy(&d);
    }
}

static void test_rows(void)
{
    static const struct {
        const char *options;
        int rows;
        double first, every, last; /* every 0: times are not checked */
    } table[] = {
        {"step=0.003 until=1 every=0.1", 11, 0, 0.1, 1},
        {"step=0.003 until=1.05 every=0.1", 12, 0, 0.1, 1.05},
        {"step=0.01 until=1 every=step", 101, 0, 0.01, 1},
        {"step=0.0001 until=1 every=step", 10001, 0, 0, 1},
        {"step=0.01 until=1", 1001, 0, 0.001, 1},
        {"method=dop8 until=1", 1001, 0, 0.001, 1},
        {"method=dop8 from=1 until=-1", 1001, 1, -0.002, -1},
        {"step=0.0001 until=1", 1001, 0, 0.001, 1},
        {"step=0.003 from=2 until=3 every=0.25", 5, 2, 0.25, 3},
        {"step=0.003 from=1 until=0 every=0.1", 11, 1, -0.1, 0},
        {"step=0.1 until=1 every=0.01", 101, 0, 0.01, 1},
        {"step=0.01 until=1 every=5", 2, 0, 0, 1},
        {"step=0.003 from=1 until=1", 1, 1, 0, 1},
    };
    check_group("rows");
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        static kept r;
        driven d = driven_create(
            "[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = cos(t), x' = -sin(t)\n",
            table[k].options, NULL);
        if (driven_good(table[k].options, &d)) {
            taut_sink sink = kept_sink(&r);
            check_row(taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error) == 0, "%s: %s",
                      table[k].options, d.error.message);
            check_row(r.rows == table[k].rows, "%s: %d rows, expected %d", table[k].options, r.rows,
                      table[k].rows);
            if (table[k].every != 0) /* the end is a row as well */
                check_near("announced", taut_solver_rows(d.solver), r.rows, 1);
            check_near("first", r.t[0], table[k].first, 0);
            check_near("last", r.t[r.rows - 1], table[k].last, 0);
            double off = 0, wrong = 0;
            for (int i = 0; i < r.rows; i++) {
                if (table[k].every != 0 && i + 1 < r.rows)
                    off = fmax(off, fabs(r.t[i] - (table[k].first + i * table[k].every)));
                wrong = fmax(wrong, hypot(r.q[i][0] - cos(r.t[i]), r.v[i][0] + sin(r.t[i])));
            }
            check_below("times off", off, 0);
            check_below("state off", wrong, strstr(table[k].options, "step=0.1") ? 1e-3 : 1e-5);
        }
        driven_destroy(&d);
    }
}

/* Dense output: between steps the error is of the size of the steps' own. */
static void test_dense(void)
{
    check_group("dense output");
    double e[2];
    for (int j = 0; j < 2; j++) {
        static kept r;
        driven d = driven_create(
            "[coordinates]\nx\n[potential]\nx^2/2\n[start]\nx = 1\n",
            j ? "step=0.05 until=6 every=0.007" : "step=0.1 until=6 every=0.007", NULL);
        e[j] = 0;
        if (driven_good("run", &d)) {
            taut_sink sink = kept_sink(&r);
            check_equal("run", taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error), 0);
            for (int i = 0; i < r.rows; i++)
                e[j] = fmax(e[j], hypot(r.q[i][0] - cos(r.t[i]), r.v[i][0] + sin(r.t[i])));
        }
        driven_destroy(&d);
    }
    check_near("order at all times", log2(e[0] / e[1]), 2, 0.1);
}

static void test_outputs(void)
{
    check_group("outputs and multipliers");
    static kept r;
    driven d = driven_create(SPRING "[outputs]\ntwice = 2*x\npull = lambda(s)\n",
                             "step=0.01 until=1 every=0.123", NULL);
    if (driven_good("run", &d)) {
        taut_sink sink = kept_sink(&r);
        check_equal("run", taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error), 0);
        check_equal("rows", r.rows, 10);
        for (int i = 0; i < r.rows; i++) {
            check_near("twice", r.output[i][0], 2 * r.q[i][0], 1e-15);
            check_near("pull", r.output[i][1], r.lambda[i][0], 0);
            check_near("lambda", r.lambda[i][0], 100 * r.q[i][0], 1e-12);
            check_near("energy", r.energy[i], 50, 0.3);
        }
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(d.solver, &result, NULL);
        check_near("energy at first", result.energy_first, 50, 1e-13);
        check_near("energy at last", result.energy_last, r.energy[9], 0);
        check_row(!strcmp(result.method, "verlet") && !strcmp(result.motion, "full") &&
                      !result.event,
                  "names in the result");
    }
    driven_destroy(&d);
}

/* A force that stops being a number: the time, the name, the last good state. */
static void test_nan(void)
{
    check_group("NaN from a force");
    static kept r;
    driven d = driven_create("[coordinates]\na, b\n[forces]\nb = sqrt(1 - t)\n",
                             "step=0.01 until=2 every=step", NULL);
    if (driven_good("run", &d)) {
        taut_sink sink = kept_sink(&r);
        check_equal("run", taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error),
                    TAUT_ERROR_EVALUATE);
        check_near("time of the error", d.error.t, 1, 0.0101);
        check_contains("message", d.error.message, "b");
        check_near("last good time", taut_solver_time(d.solver), 1, 1e-12);
        check_row(isfinite(taut_solver_position(d.solver)[1]) &&
                      isfinite(taut_solver_velocity(d.solver)[1]),
                  "the state is finite");
        check_row(r.rows == 101 && r.ended == 1, "%d rows were written, ended %d times", r.rows,
                  r.ended);
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(d.solver, &result, NULL);
        check_equal("status", result.status, TAUT_ERROR_EVALUATE);
    }
    driven_destroy(&d);
}

/* Default rows of systems of many sizes, `every` in [run]: a row has 2 n numbers. There are 7
 * steps; of more than 1000 numbers no more than a row in each. */
static void test_default_rows(void)
{
    static const struct {
        int n;
        const char *run, *options;
        int rows;
    } table[] = {{1, "", "", 1001},
                 {500, "", "", 1001},
                 {501, "", "", 8},
                 {20000, "", "", 8},
                 {1000, "", "step=0.001", 501},
                 {20000, "", "step=0.01", 101},
                 {1, "every = step", "", 8},
                 {1, "every = step", "every=0.5", 4},
                 {1, "every = 1/4", "", 7},
                 {20000, "every = 0.5", "", 4},
                 {1, "", "every=step", 8},
                 {1, "every = 0.5", "every=step", 8},
                 {20000, "", "every=step", 8}};
    check_group("default rows");
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        static kept r;
        char model[200];
        snprintf(model, sizeof model,
                 "[parameters]\nn = %d\n[coordinates]\nx[i] for i in 1..n\n[start]\nx[i]' = 1 for "
                 "i in 1..n\n[run]\nuntil = 1.5\nstep = 0.22\nmethod = rk4\n%s\n",
                 table[k].n, table[k].run);
        driven d = driven_create(model, table[k].options, NULL);
        if (driven_good(model, &d)) {
            taut_sink sink = kept_sink(&r);
            check_equal("run", taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error), 0);
            check_row(r.rows == table[k].rows, "%d: %d rows, expected %d", (int)k, r.rows,
                      table[k].rows);
            check_near("announced", taut_solver_rows(d.solver), table[k].rows, 0);
        }
        driven_destroy(&d);
    }
    check_row(isnan(taut_solver_rows(NULL)), "no solver");
}

/* A spring that hardens: stable at the initial state, unstable later. */
static void test_explosion(void)
{
    check_group("explosion");
    driven d = driven_create("[coordinates]\nx\n[potential]\nx^4\n[start]\nx = 0.001, x' = 100\n",
                             "step=0.1 until=100", NULL);
    if (driven_good("run", &d)) {
        int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
        check_row(code == TAUT_ERROR_STEP || code == TAUT_ERROR_EVALUATE, "%s: %s",
                  taut_code_name(code), d.error.message);
        check_row(d.error.message[0] && isfinite(d.error.t), "it says when: t = %g, %s", d.error.t,
                  d.error.message);
    }
    driven_destroy(&d);
    /* at rest, at potential 0: nothing has exploded */
    d = driven_create("[coordinates]\ny\n[potential]\ny\n", "step=0.1 until=100", NULL);
    if (driven_good("fall", &d)) {
        check_row(taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error) == 0, "a long fall: %s",
                  d.error.message);
        check_near("y", taut_solver_position(d.solver)[0], -5000, 1e-9);
    }
    driven_destroy(&d);
}

static int stop_later(void *user, double t, double until, int64_t steps)
{
    int *calls = user;
    (void)t;
    return ++*calls == 3 && until == 100 && steps > 0;
}

static void test_interrupt(void)
{
    check_group("interrupt");
    static kept r;
    driven d = driven_create(SPRING, "step=0.01 until=100 every=0.5", NULL);
    if (driven_good("run", &d)) {
        int calls = 0;
        taut_sink sink = kept_sink(&r);
        check_equal("run", taut_solver_run(d.solver, &sink, 1, stop_later, &calls, &d.error),
                    TAUT_INTERRUPTED);
        check_near("after 3 * 1024 steps", taut_solver_time(d.solver), 30.72, 1e-12);
        check_row(r.rows == 63 && r.ended == 1, "%d rows, ended %d times", r.rows, r.ended);
        check_near("the last row is where it stopped", r.t[r.rows - 1], taut_solver_time(d.solver),
                   0);
        /* it can go on, and ends where it should */
        check_equal("on", taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error), 0);
        check_near("end", taut_solver_time(d.solver), 100, 0);
        check_near("rows go on at their times", r.t[1], 31, 0);
    }
    driven_destroy(&d);
    d = driven_create(SPRING, "step=0.01 until=100 steps=77", NULL);
    if (driven_good("limit", &d)) {
        check_equal("limit", taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error), TAUT_LIMIT);
        check_near("t", taut_solver_time(d.solver), 0.77, 1e-14);
    }
    driven_destroy(&d);
}

static int stop_now(void *user, double t, double until, int64_t steps)
{
    *(double *)user = t;
    (void)until, (void)steps;
    return 1;
}

/* One step has 5000 rows: the caller is heard between them. What of the step is not written then
 * is left out, an event in it is not. */
static void test_interrupt_rows(void)
{
    static const struct {
        const char *events;
        double stop, end; /* time at which the run stops; x at t = 3 */
    } rows[] = {{"", 1, 3}, {"[events]\nkick = t - 0.7 then x' = 2\n", 0.7, 5.3}};
    static kept r;
    check_group("interrupt between rows");
    for (int k = 0; k < 2; k++) {
        char model[120];
        snprintf(model, sizeof model, "[coordinates]\nx\n[start]\nx' = 1\n%s", rows[k].events);
        driven d = driven_create(model, "method=rk4 step=1 until=3 every=2e-4", NULL);
        if (driven_good("run", &d)) {
            double heard = 0;
            taut_sink sink = kept_sink(&r);
            check_equal("run", taut_solver_run(d.solver, &sink, 1, stop_now, &heard, &d.error),
                        TAUT_INTERRUPTED);
            check_near("heard after 1024 rows", heard, 1024 * 2e-4, 1e-12);
            check_near("where it stopped", taut_solver_time(d.solver), rows[k].stop, 1e-12);
            check_near("the last row is there", r.t[r.rows - 1], taut_solver_time(d.solver), 0);
            check_row(r.rows <= 1027, "%d rows", r.rows);
            check_equal("on", taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error), 0);
            check_near("x", taut_solver_position(d.solver)[0], rows[k].end, 1e-12);
            double off = 0, speed = k ? 2 : 1;
            for (int i = 0; i < r.rows && i < KEPT_ROWS; i++)
                off = fmax(off, fabs(r.q[i][0] - rows[k].end - speed * (r.t[i] - 3)));
            check_below("the rows after it", off, 1e-11);
            check_near("at their times", r.t[1], rows[k].stop + 2e-4, 1e-12);
        }
        driven_destroy(&d);
    }
}

static void test_sinks(void)
{
    check_group("sinks");
    static kept a, b;
    driven d = driven_create(SPRING, "step=0.01 until=1", NULL);
    if (driven_good("run", &d)) {
        b.fail_at = 5;
        taut_sink sinks[2] = {kept_sink(&a), kept_sink(&b)};
        check_equal("a sink fails", taut_solver_run(d.solver, sinks, 2, NULL, NULL, &d.error),
                    TAUT_ERROR_FILE);
        check_row(a.rows == 5 && a.ended == 1 && b.ended == 1, "%d rows; ended %d and %d", a.rows,
                  a.ended, b.ended);
    }
    driven_destroy(&d);
}

/* Positive numbers are no codes of sinks: such a run fails, and is not taken for one that an event
 * stopped. */
static int begin_one(void *user, const taut_system *system, taut_error *error)
{
    (void)user, (void)system, (void)error;
    return 1;
}

static int row_one(void *user, const taut_row *row, taut_error *error)
{
    (void)user, (void)row, (void)error;
    return 1;
}

static int row_none(void *user, const taut_row *row, taut_error *error)
{
    (void)user, (void)row, (void)error;
    return 0;
}

static int end_one(void *user, taut_error *error)
{
    (void)user, (void)error;
    return 1;
}

static void test_positive_sinks(void)
{
    static const taut_sink sinks[] = {
        {.begin = begin_one, .row = row_none}, {.row = row_one}, {.row = row_none, .end = end_one}};
    static const char *const call[] = {"begin", "row", "end"};
    check_group("sinks that return 1");
    for (int k = 0; k < 3; k++) {
        driven d = driven_create(SPRING, "step=0.01 until=1", NULL);
        taut_result result = {.size = sizeof result};
        if (driven_good("run", &d)) {
            int code = taut_solver_run(d.solver, &sinks[k], 1, NULL, NULL, &d.error);
            taut_solver_result_get(d.solver, &result, NULL);
            check_row(code == TAUT_ERROR_USAGE && result.status == code &&
                          strstr(d.error.message, call[k]),
                      "%s: %s: %s", call[k], taut_code_name(code), d.error.message);
        }
        driven_destroy(&d);
    }
}

static void test_faults(void)
{
    check_group("memory faults");
    int code = TAUT_ERROR_MEMORY;
    int64_t k = 0;
    while (code == TAUT_ERROR_MEMORY && k < 1000) {
        faulty f = {.fail = ++k};
        taut_allocator allocator = faulty_allocator(&f);
        driven d = driven_create("[coordinates]\nx, y\n[mass]\nM[x,y] = 0.5\n[bonds]\ns = x "
                                 "stiffness 4\n[events]\ne = x - 2 stop\n"
                                 "[run]\nuntil = 1\nstep = 0.1\n[outputs]\no = x\n",
                                 "", &allocator);
        code = d.code;
        driven_destroy(&d);
        check_row(f.live == 0, "failure %d leaves %d blocks", (int)k, (int)f.live);
    }
    check_row(code == 0 && k > 5, "%d failures, then %s", (int)k - 1, taut_code_name(code));
}

static void test_misuse(void)
{
    check_group("misuse");
    taut_solver *solver = NULL;
    taut_error error;
    check_equal("no system", taut_solver_create(NULL, NULL, NULL, &solver, &error),
                TAUT_ERROR_USAGE);
    check_equal("nowhere to put it", taut_solver_create(NULL, NULL, NULL, NULL, &error),
                TAUT_ERROR_USAGE);
    taut_solver_destroy(NULL);
    driven d = driven_create(SPRING "[run]\nuntil = 1\n", "", NULL);
    if (driven_good("run", &d)) {
        check_equal("not a time", taut_solver_advance(d.solver, NAN, &error), TAUT_ERROR_USAGE);
        taut_solver *plain;
        check_equal("no options: [run] decides",
                    taut_solver_create(d.system, NULL, NULL, &plain, NULL), 0);
        taut_solver_destroy(plain);
    }
    driven_destroy(&d);
}

int main(void)
{
    test_choices();
    test_methods();
    test_settings();
    test_rows();
    test_default_rows();
    test_dense();
    test_outputs();
    test_nan();
    test_explosion();
    test_interrupt();
    test_interrupt_rows();
    test_sinks();
    test_positive_sinks();
    test_faults();
    test_misuse();
    return check_done();
}
