/* test_callbacks_stop.c - what callbacks return, seen from a run or a projection: <0 ends it at
 * once and for good, >0 and NaN make steps smaller. And forces that depend on velocities in
 * places that the start does not show. */
#include <taut/taut.h>

#include "support/faulty.h"
#include "support/table.h"

/* A pendulum; calls of any of its functions are numbered. */
typedef struct swing {
    int64_t calls, at; /* so far; the one that returns `with`, 0: none */
    int with;
    double wall; /* beyond x = wall the force cannot be evaluated; 0: nowhere */
    bool nan;    /* as NaN rather than by the return value */
    int64_t refused;
} swing;

static int tick(swing *s)
{
    return ++s->calls == s->at ? s->with : 0;
}

static int swing_force(void *user, double t, const double *q, const double *v, double *f)
{
    swing *s = user;
    (void)t;
    (void)v;
    f[0] = 0;
    f[1] = -1;
    int status = tick(s);
    if (s->wall > 0 && q[0] > s->wall) {
        s->refused++;
        f[1] = s->nan ? NAN : f[1];
        return s->nan ? 0 : 1;
    }
    return status;
}

static int swing_bond(void *user, double t, const double *q, double *g)
{
    (void)t;
    g[0] = sqrt(q[0] * q[0] + q[1] * q[1]) - 1;
    return tick(user);
}

static int swing_jacobian(void *user, double t, const double *q, double *entries)
{
    (void)t;
    double r = sqrt(q[0] * q[0] + q[1] * q[1]);
    entries[0] = q[0] / r;
    entries[1] = q[1] / r;
    return tick(user);
}

static int swing_gamma(void *user, double t, const double *q, const double *v, double *gamma)
{
    (void)t;
    double r = sqrt(q[0] * q[0] + q[1] * q[1]), across = (q[0] * v[1] - q[1] * v[0]) / r;
    gamma[0] = across * across / r;
    return tick(user);
}

static int swing_energy(void *user, double t, const double *q, double *potential)
{
    (void)t;
    *potential = q[1];
    return tick(user);
}

/* level 0: force and bond alone; 1: all functions. */
static taut_callbacks pendulum(swing *s, int level, double stiffness)
{
    static const double start[] = {0.6, -0.8};
    static double compliance;
    compliance = stiffness > 0 ? 1 / stiffness : 0;
    return (taut_callbacks){.size = sizeof(taut_callbacks),
                            .coordinates = 2,
                            .bonds = 1,
                            .start_q = start,
                            .compliance = &compliance,
                            .force = swing_force,
                            .bond = swing_bond,
                            .jacobian = level ? swing_jacobian : NULL,
                            .gamma = level ? swing_gamma : NULL,
                            .energy = level ? swing_energy : NULL,
                            .user = s};
}

static taut_options *options_of(const char *words, taut_error *error)
{
    taut_options *options = NULL;
    char copy[200];
    snprintf(copy, sizeof copy, "%s", words);
    int code = taut_options_create(NULL, &options, error);
    for (char *word = strtok(copy, " "); word && code == 0; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        code = taut_options_set(options, word, value, error);
    }
    return options;
}

/* A run, or a projection; the system is made again each time. Returns the code. */
static int use(swing *s, int level, double stiffness, const char *words, bool project,
               taut_error *error)
{
    taut_callbacks c = pendulum(s, level, stiffness);
    taut_system *system = NULL;
    taut_solver *solver = NULL;
    taut_projection *projection = NULL;
    taut_options *options = options_of(words, error);
    s->calls = s->refused = 0;
    int code = options ? taut_system_from_callbacks(&c, NULL, &system, error) : error->code;
    if (code == 0 && project)
        code = taut_project(system, options, NULL, &projection, error);
    else if (code == 0) {
        code = taut_solver_create(system, options, NULL, &solver, error);
        if (code == 0)
            code = taut_solver_run(solver, NULL, 0, NULL, NULL, error);
    }
    taut_projection_destroy(projection);
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    taut_system_destroy(system);
    return code;
}

/* ---- stop: at the first call, the last one, and calls in between */

static void stop_everywhere(int level, double stiffness, const char *words, bool project)
{
    taut_error error = {0};
    swing s = {0};
    int code = use(&s, level, stiffness, words, project, &error);
    int64_t calls = s.calls, missed = 0, first = 0, more = 0;
    int other = 0;
    check_row(code == 0 && calls > 10, "%s, level %d: %s, %lld calls: %s", words, level,
              taut_code_name(code), (long long)calls, error.message);
    for (int64_t at = 1; at <= calls && code == 0; at = at < 60 ? at + 1 : at * 9 / 8) {
        s = (swing){.at = at, .with = -3};
        int got = use(&s, level, stiffness, words, project, &error);
        /* constraint records its passes in a context of its own, and learns of it when the
         * projection is done */
        bool good = got == TAUT_ERROR_STOPPED && error.code == got && strstr(error.message, "-3") &&
                    (s.calls == at || strstr(words, "constraint"));
        if (!good && missed++ == 0) {
            first = at;
            more = s.calls - at;
            other = got;
        }
    }
    check_row(missed == 0, "%s, level %d, stop at call %lld of %lld: %s, and %lld more calls",
              words, level, (long long)first, (long long)calls, taut_code_name(other),
              (long long)more);
}

static void stopped(void)
{
    static const struct {
        double stiffness;
        const char *words;
        bool project;
    } rows[] = {{1e4, "motion=full method=verlet step=0.002 until=0.1", false},
                {1e4, "motion=full method=rk4 step=0.002 until=0.1", false},
                {1e4, "motion=full method=dop8 rtol=1e-6 until=0.1", false},
                {0, "motion=rigid method=rattle step=0.01 until=0.1", false},
                {0, "motion=rigid method=rk4 step=0.01 until=0.1", false},
                {0, "motion=rigid method=dop8 rtol=1e-6 until=0.5", false},
                {0, "motion=rigid method=ab2 step=0.01 until=0.1", false},
                {0, "motion=rigid method=radau5 rtol=1e-6 until=0.5", false},
                {1e4, "motion=slow method=radau5 rtol=1e-6 until=0.5", false},
                {1e4, "motion=slow method=radau3 step=0.02 until=0.1", false},
                {1e4,
                 "motion=effective method=projected-impulse step=0.02 inner-step=0.001 until=0.1",
                 false},
                {1e4, "motion=effective method=impulse step=0.02 until=0.1", false},
                {1e4, "method=ipa", true},
                {1e4, "method=kernel", true},
                {1e4, "method=auto", true},
                {1e4, "method=constraint", true}};
    check_group("stop");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int level = 0; level < 2; level++)
            stop_everywhere(level, rows[k].stiffness, rows[k].words, rows[k].project);
}

/* ---- a wall that is reached: steps become smaller, and the message has the time (and for NaN
 * the name) */

static void walls(void)
{
    static const char *const words[] = {"motion=rigid method=dop8 rtol=1e-6 until=3",
                                        "motion=rigid method=radau5 rtol=1e-6 until=3"};
    check_group("cannot evaluate");
    for (int k = 0; k < 2; k++)
        for (int nan = 0; nan < 2; nan++) {
            taut_error error = {0};
            /* outward from 0.6 never: it falls inward, and comes out on the other side */
            swing s = {.wall = 0.61, .nan = nan};
            check_equal("a wall that is not met", use(&s, 1, 0, words[k], false, &error), 0);
            s = (swing){.wall = 0.5, .nan = nan};
            check_row(use(&s, 1, 0, words[k], false, &error) < 0 && s.refused > 0,
                      "a start behind the wall: %s", error.message);
        }
}

/* The pendulum starts at x = -0.6 and swings to x = +0.6; at x = 0.2 the force ends. */
static int far_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)t;
    (void)v;
    swing *s = user;
    s->calls++;
    f[0] = 0;
    f[1] = -1;
    if (q[0] > s->wall) {
        s->refused++;
        f[1] = s->nan ? NAN : f[1];
        return s->nan ? 0 : 5;
    }
    return 0;
}

static void approached(void)
{
    static const double start[] = {-0.6, -0.8};
    static const char *const names[] = {"across", "up"};
    check_group("steps become smaller");
    for (int nan = 0; nan < 2; nan++) {
        swing s = {.wall = 0.2, .nan = nan};
        taut_callbacks c = pendulum(&s, 1, 0);
        c.start_q = start;
        c.force = far_force;
        c.coordinate_names = names;
        taut_error error = {0};
        taut_system *system = NULL;
        taut_solver *solver = NULL;
        taut_options *options = options_of("motion=rigid method=dop8 rtol=1e-6 until=5", &error);
        int code = taut_system_from_callbacks(&c, NULL, &system, &error);
        if (code == 0)
            code = taut_solver_create(system, options, NULL, &solver, &error);
        if (check_row(code == 0, "%s", error.message)) {
            code = taut_solver_run(solver, NULL, 0, NULL, NULL, &error);
            double x = taut_solver_position(solver)[0];
            check_row(code == TAUT_ERROR_EVALUATE || code == TAUT_ERROR_STEP,
                      "the run ends: %s: %s", taut_code_name(code), error.message);
            check_row(x <= 0.2 && x > 0.19,
                      "it comes near the wall by smaller steps: x = %.6g after %lld refusals", x,
                      (long long)s.refused);
            check_row(error.t > 0.5 && error.t < 5, "the error has the time: %g", error.t);
            check_row(!nan || strstr(error.message, "up"), "NaN has a name: %s", error.message);
        }
        taut_solver_destroy(solver);
        taut_options_destroy(options);
        taut_system_destroy(system);
    }
}

/* ---- a callback that cannot evaluate once, in a run with a fixed step size whose state grows:
 * steps are repeated there to tell growth from instability */

static int escaping_force(void *user, double t, const double *q, const double *v, double *f)
{
    (void)t;
    (void)v;
    f[0] = 100 * q[0];
    return tick(user);
}

static int run_escape(swing *s, const char *words, taut_error *error)
{
    static const double start_q[] = {1}, start_v[] = {10};
    taut_callbacks c = {.size = sizeof c,
                        .coordinates = 1,
                        .start_q = start_q,
                        .start_v = start_v,
                        .force = escaping_force,
                        .user = s};
    taut_system *system = NULL;
    taut_solver *solver = NULL;
    taut_options *options = options_of(words, error);
    s->calls = 0;
    int code = taut_system_from_callbacks(&c, NULL, &system, error);
    if (code == 0)
        code = taut_solver_create(system, options, NULL, &solver, error);
    if (code == 0)
        code = taut_solver_run(solver, NULL, 0, NULL, NULL, error);
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    taut_system_destroy(system);
    return code;
}

/* A failure is survived or reported; it is never an event, a limit or an interrupt. */
static void grown(void)
{
    static const char *const words[] = {"motion=full method=rk4 step=0.02 until=1",
                                        "motion=full method=verlet step=0.02 until=1",
                                        "motion=full method=radau3 step=0.02 until=1"};
    check_group("repeated steps that cannot be evaluated");
    for (int k = 0; k < 3; k++) {
        taut_error error = {0};
        swing s = {0};
        int code = run_escape(&s, words[k], &error);
        int64_t calls = s.calls, wrong = 0, failed = 0;
        check_row(code == 0 && calls > 50, "%s: %lld calls: %s", words[k], (long long)calls,
                  error.message);
        for (int64_t at = 1; at <= calls; at++) {
            s = (swing){.at = at, .with = 1};
            code = run_escape(&s, words[k], &error);
            wrong += code > 0 || (code < 0 && !error.message[0]);
            failed += code == TAUT_ERROR_EVALUATE;
        }
        check_row(wrong == 0 && failed > 0,
                  "%s: %lld of %lld failures are reported as results, %lld as errors", words[k],
                  (long long)wrong, (long long)calls, (long long)failed);
    }
}

/* taut_check at a state where a function cannot be evaluated fails, or does without it. */
static void checked(void)
{
    check_group("check where a callback cannot evaluate");
    for (int level = 0; level < 2; level++) {
        taut_error error = {0};
        taut_check_report report = {.size = sizeof report};
        int64_t calls = 1, wrong = 0, failed = 0;
        for (int64_t at = 0; at <= calls; at++) {
            swing s = {.at = 0, .with = 1};
            taut_callbacks c = pendulum(&s, level, 1e4);
            taut_system *system = NULL;
            int code = taut_system_from_callbacks(&c, NULL, &system, &error);
            s.calls = 0;
            s.at = at;
            if (code == 0)
                code = taut_check(system, NULL, &report, &error);
            calls = at == 0 ? s.calls : calls;
            wrong += code > 0 || (at == 0 && code != 0);
            failed += code == TAUT_ERROR_EVALUATE;
            taut_system_destroy(system);
        }
        check_row(wrong == 0 && failed > 0 && calls > 5,
                  "level %d: %lld of %lld failures are reported as results, %lld as errors", level,
                  (long long)wrong, (long long)calls, (long long)failed);
    }
}

/* ---- a brake that the start does not feel */

static int brake(void *user, double t, const double *q, const double *v, double *f)
{
    (void)user;
    (void)t;
    f[0] = q[0] > 10 ? -v[0] : 0;
    return 0;
}

static int drag(void *user, double t, const double *q, const double *v, double *f)
{
    (void)user;
    (void)t;
    (void)q;
    f[0] = -v[0];
    return 0;
}

static void velocities(void)
{
    static const double going[] = {1};
    taut_sizes sizes = {.size = sizeof sizes};
    taut_error error = {0};
    check_group("forces that depend on velocities");
    for (int k = 0; k < 3; k++) {
        taut_callbacks c = {.size = sizeof c,
                            .coordinates = 1,
                            .start_v = going,
                            .force = k < 2 ? brake : drag,
                            .velocity_dependent = k == 1};
        taut_system *system = NULL;
        if (!check_equal("system", taut_system_from_callbacks(&c, NULL, &system, &error), 0))
            continue;
        taut_system_sizes_get(system, &sizes, NULL);
        check_row(!!(sizes.can & TAUT_HAS_VELOCITY_FORCES) == (k > 0),
                  k == 0   ? "a brake far away is not seen"
                  : k == 1 ? "it counts when it is said"
                           : "a drag is seen");
        taut_options *options = options_of("motion=full method=impulse step=0.1 until=1", &error);
        taut_solver *solver = NULL;
        int code = taut_solver_create(system, options, NULL, &solver, &error);
        check_row(k == 0 || (code == TAUT_ERROR_REFUSED && solver == NULL),
                  "impulse refuses velocities: %s", error.message);
        taut_solver_destroy(solver);
        taut_options_destroy(options);
        taut_system_destroy(system);
    }
}

int main(void)
{
    stopped();
    walls();
    approached();
    grown();
    checked();
    velocities();
    return check_done();
}
