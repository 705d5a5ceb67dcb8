/* test_slow_field.c - slow motion by explicit methods (slow/slow_field.c, drive/slow_level.c):
 * orders in 1/omega, evaluations, invariants, agreement with Radau methods of high order, which
 * share nothing with it but the equations, refusals, and the choice of level and method. */
#include <float.h>
#include <math.h>

#include "drive/solver.h"
#include "slow/multiplier_recursion.h"
#include "slow/slow_field.h"
#include "support/run.h"
#include "support/two_rods.h"

enum { WIDTH = 4000 };

/* A run of a shipped model, or of a text, without rows. */
typedef struct outcome {
    taut_system *system;
    taut_solver *solver;
    taut_options *options;
    taut_error error;
    taut_result result;
    int code;
} outcome;

static void set_words(outcome *o, const char *text)
{
    char copy[300];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, " "); word && o->code == 0; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        o->code = taut_options_set(o->options, word, value, &o->error);
    }
}

/* `model`: a name with ";P=V" for parameters, or the text of one. */
static outcome make(const char *model, const char *options)
{
    outcome o = {.result = {.size = sizeof o.result}};
    char path[400], copy[200];
    const char *set[8];
    taut_load how = {.size = sizeof how, .set = set};
    if (strchr(model, '[')) {
        o.code = taut_system_parse(model, strlen(model), "model.taut", NULL, &o.system, &o.error);
    } else {
        snprintf(copy, sizeof copy, "%s", model);
        char *name = strtok(copy, ";");
        for (char *word; how.set_count < 8 && (word = strtok(NULL, ";"));)
            set[how.set_count++] = word;
        snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, name);
        o.code = taut_system_load(path, &how, &o.system, &o.error);
    }
    if (o.code == 0)
        o.code = taut_options_create(NULL, &o.options, &o.error);
    if (o.code == 0)
        set_words(&o, options);
    if (o.code == 0)
        o.code = taut_solver_create(o.system, o.options, NULL, &o.solver, &o.error);
    return o;
}

static outcome run(const char *model, const char *options)
{
    outcome o = make(model, options);
    if (o.code == 0) {
        o.code = taut_solver_run(o.solver, NULL, 0, NULL, NULL, &o.error);
        taut_solver_result_get(o.solver, &o.result, NULL);
    }
    return o;
}

static void release(outcome *o)
{
    taut_solver_destroy(o->solver);
    taut_options_destroy(o->options);
    taut_system_destroy(o->system);
}

/* Positions and velocities of the end, q first; false where the run failed. */
static bool end_of(const char *model, const char *options, double *end)
{
    outcome o = run(model, options);
    bool good = o.code == TAUT_OK || o.code == TAUT_INACCURATE;
    check_row(good, "%s, %s: %s", model, options, o.error.message);
    taut_index n = good ? o.solver->stepper.n : 0;
    for (taut_index i = 0; i < n; i++) {
        end[i] = taut_solver_position(o.solver)[i];
        end[n + i] = taut_solver_velocity(o.solver)[i];
    }
    release(&o);
    return good;
}

static double apart(int count, const double *a, const double *b)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* ---- errors are O(omega^-2(k+1)); the projection makes them smaller */

static void test_orders(void)
{
    static const double omega[] = {60, 120, 240};
    double error[3][3], reference[3][8];
    char model[80], options[120];
    check_group("orders");
    for (int w = 0; w < 3; w++) {
        snprintf(model, sizeof model, "double_pendulum;lift=0;omega=%g", omega[w]);
        end_of(model, "motion=slow method=radau9 rtol=1e-14", reference[w]);
        for (int k = 0; k < 3; k++) {
            double end[8];
            snprintf(options, sizeof options,
                     "motion=slow method=dop8 rtol=1e-12 stabilize=none level=%d", k);
            end_of(model, options, end);
            error[k][w] = apart(8, end, reference[w]);
            snprintf(options, sizeof options, "motion=slow method=dop8 rtol=1e-12 level=%d", k);
            end_of(model, options, end);
            double projected = apart(8, end, reference[w]);
            check_row(projected <= error[k][w] / 5,
                      "omega %g, level %d: %.2e, without projection %.2e", omega[w], k, projected,
                      error[k][w]);
        }
    }
    for (int k = 0; k < 3; k++)
        for (int w = 1; w < 3; w++) {
            double slope = log2(error[k][w - 1] / error[k][w]);
            check_row(fabs(slope - 2 * (k + 1)) < 0.3, "level %d, omega %g to %g: slope %.3f", k,
                      omega[w - 1], omega[w], slope);
        }
}

/* FACTS of paper A, section 6: the state at t = 10 from the exact slow point, omega = 1000. */
static void test_published(void)
{
    static const double reference[8] = {
        0.99934340676157869, -0.03622915908201496, 0.66151150110952525,  0.90497759592155011,
        0.00109905864343522, 0.03032224325356639,  -0.67391036767002129, -0.21196201577063433};
    static const double limits[3] = {4e-6, 2e-10, 2e-10};
    check_group("reference");
    for (int k = 0; k < 3; k++) {
        char options[80];
        double end[8];
        snprintf(options, sizeof options, "motion=slow method=dop8 rtol=1e-11 level=%d", k);
        if (end_of("double_pendulum;lift=0;omega=1000", options, end))
            check_below(options, apart(8, end, reference), limits[k]);
    }
}

/* ---- as many evaluations as rigid motion, whatever the stiffness */

static void test_evaluations(void)
{
    static const char *const omega[] = {"100", "1000", "1e4", "1e6", "1e8"};
    static const char *const rtol[] = {"1e-4", "1e-6", "1e-8"};
    check_group("evaluations");
    for (int r = 0; r < 3; r++)
        for (int w = 0; w < 5; w++) {
            char model[80], options[80];
            int64_t count[2];
            int level = -1;
            snprintf(model, sizeof model, "double_pendulum;lift=0;omega=%s", omega[w]);
            for (int slow = 0; slow < 2; slow++) {
                snprintf(options, sizeof options, "motion=%s method=dop8 rtol=%s",
                         slow ? "slow" : "rigid", rtol[r]);
                outcome o = run(model, options);
                check_row(o.code == TAUT_OK, "%s %s: %s", model, options, o.error.message);
                count[slow] = o.result.statistics.force_evaluations;
                level = o.result.level;
                release(&o);
            }
            check_row(fabs((double)(count[1] - count[0])) <= 0.1 * (double)count[0] && level >= 0,
                      "omega %s, rtol %s: %d evaluations (level %d), rigid %d", omega[w], rtol[r],
                      (int)count[1], level, (int)count[0]);
        }
}

/* ---- g = C lambda^(k), gdot = C d/dt lambda^(k), at ends of steps and between them */

typedef struct invariants {
    taut_multiplier_recursion *recursion;
    taut_context *context;
    taut_values values;
    int level;
    double most;
    taut_pattern jacobian;
} invariants;

static void measure(invariants *x, double t, const double *q, const double *v)
{
    const taut_multiplier_recursion *r = x->recursion;
    taut_index m = r->equations.m;
    double y[8];
    taut_error error;
    check_row(taut_multiplier_recursion_evaluate(x->recursion, x->level, true, t, q, v, &error) ==
                  0,
              "%s", error.message);
    for (taut_index i = 0; i < 2 * m; i++)
        y[i] = r->y[i];
    check_row(taut_evaluate_inside(x->context, t, q, v, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN,
                                   &x->values, &error) == 0,
              "%s", error.message);
    for (taut_index i = 0; i < m; i++) {
        double rate = x->values.bond_dt[i];
        for (taut_index e = x->jacobian.start[i]; e < x->jacobian.start[i + 1]; e++)
            rate += x->values.jacobian[e] * v[x->jacobian.column[e]];
        x->most = fmax(x->most, fmax(fabs(x->values.bond[i] - y[i]), fabs(rate - y[m + i])));
    }
}

static int row_of_invariants(void *user, const taut_row *row, taut_error *error)
{
    (void)error;
    measure(user, row->t, row->q, row->v);
    return 0;
}

static void test_invariants(void)
{
    static const char *const rtol[] = {"1e-4", "1e-6", "1e-8"};
    static const char *const omega[] = {"100", "1000", "1e5"};
    check_group("invariants");
    for (int k = 0; k < 3; k++)
        for (int r = 0; r < 3; r++)
            for (int w = 0; w < 3; w++) {
                char model[80], options[120];
                double bond[4], dt[4], jacobian[16];
                taut_arena arena;
                taut_allocator allocator = taut_allocator_or_default(NULL);
                taut_statistics statistics = {0};
                invariants x = {.values = {.bond = bond, .bond_dt = dt, .jacobian = jacobian},
                                .level = k};
                snprintf(model, sizeof model, "double_pendulum;lift=0;omega=%s", omega[w]);
                snprintf(options, sizeof options,
                         "motion=slow method=dop8 rtol=%s level=%d every=0.05", rtol[r], k);
                outcome o = make(model, options);
                taut_arena_init(&arena, &allocator);
                if (check_row(o.code == 0, "%s: %s", model, o.error.message) &&
                    taut_context_create(o.system, NULL, &x.context, &o.error) == 0 &&
                    taut_multiplier_recursion_create(x.context, &arena, &statistics, k, 0, NULL,
                                                     &x.recursion, &o.error) == 0 &&
                    taut_system_pattern(o.system, TAUT_PATTERN_JACOBIAN, &x.jacobian, &o.error) ==
                        0) {
                    taut_sink sink = {.row = row_of_invariants, .user = &x};
                    /* the initial state is the exact slow point, which differs by O(C^(k+2)) */
                    o.code = taut_solver_advance(o.solver, 1, &o.error);
                    o.code = taut_solver_run(o.solver, &sink, 1, NULL, NULL, &o.error);
                    check_row(o.code >= 0 && x.most < 1e-11, "%s, %s: off by %.2e", model, options,
                              x.most);
                }
                taut_multiplier_recursion_destroy(x.recursion);
                taut_context_destroy(x.context);
                taut_arena_clear(&arena);
                release(&o);
            }
}

/* ---- other systems, against radau9 */

static const char crank[] = /* two links of which one is elastic, M constant, driven */
    "[parameters]\nk = 1e8\n[coordinates]\ntheta, x2, y2, psi\n[mass]\ntheta = 0.36, x2 = 0.36,"
    " y2 = 0.36, psi = 0.08\n[forces]\ntheta = sin(t) - theta'\ny2 = -3\n[bonds]\n"
    "a = x2 - cos(theta) - cos(psi)/2 stiffness k\nb = y2 - sin(theta) - sin(psi)/2 stiffness k\n"
    "c = sin(theta) + sin(psi) rigid\n[start]\ntheta = 0.7, psi = -0.7, x2 = 1.5*cos(0.7),"
    " y2 = sin(0.7)/2\n";
static const char kinetic[] = /* M(q) by [kinetic], a stiff radius, damped */
    "[parameters]\nk = 1e8\n[coordinates]\nr, phi, s\n[kinetic]\n(r'^2 + r^2*phi'^2)/2 + (s'^2 +"
    " 2*s'*phi'*r*cos(phi) + r^2*phi'^2)/2\n[potential]\n-r*cos(phi) + s^2/2\n[bonds]\n"
    "rod = r - 1 stiffness k damping 100\n[start]\nr = 1, phi = 1, s = 0.2\n";
static const char
    moving[] = /* a bond that moves, a force of velocities, a soft spring, a rigid bond */
    "[parameters]\nk = 1e8\n[coordinates]\nx, y, u, w\n[potential]\ny + w\n[forces]\nu = -0.1*u' +"
    " 0.2*w'\nw = -0.2*u' - 0.1*w'\n[bonds]\nrod = length((x - 0.1*sin(2*t), y)) - 1 stiffness k\n"
    "link = length((u - x, w - y)) - 1 rigid\nweak = length((u, w)) - 1.5 stiffness 2 soft\n"
    "[start]\nx = 1, y = 0, u = 1, w = -1, x' = 0.2, u' = 0.2\n";
static const char varying_mass[] =
    "[parameters]\nk = 1e8\n[coordinates]\na, b\n[mass]\na = 2 + sin(a)\nb = 1\n[potential]\n"
    "cos(a) + b^2/2\n[bonds]\nhold = a - b^2/2 - 1 stiffness k\n[start]\na = 1, b = 0, b' = 1\n";

static void test_agreement(void)
{
    static const struct {
        const char *model, *until;
    } rows[] = {{"chain;N=5;omega=1e5", "5"},
                {"chain;N=20;omega=1e5", "5"},
                {crank, "5"},
                {kinetic, "5"},
                {moving, "5"},
                {varying_mass, "5"},
                {"four_bar;c=1e-8", "3"},
                {"cart", "10"},
                {"cart;omega=1e5", "10"},
                {"net;N=2;omega=1e4", "2"},
                {"truss", "2"},
                {"butane;bond_stiffness=224262.4*1e3^2;angle_stiffness=519.6528*1e3^2", "0.5"}};
    static double a[WIDTH], b[WIDTH];
    check_group("agreement with radau9");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[120];
        snprintf(options, sizeof options, "motion=slow method=radau9 rtol=1e-11 until=%s",
                 rows[k].until);
        outcome exact = run(rows[k].model, options);
        snprintf(options, sizeof options, "motion=slow method=dop8 rtol=1e-6 until=%s",
                 rows[k].until);
        outcome o = run(rows[k].model, options);
        if (check_row(exact.code == 0 && o.code == 0, "%.60s: %s %s", rows[k].model,
                      exact.error.message, o.error.message)) {
            taut_index n = o.solver->stepper.n;
            double size[2] = {0, 0}, off[2] = {0, 0};
            for (taut_index i = 0; i < n; i++)
                for (int part = 0; part < 2; part++) {
                    a[i] = (part ? taut_solver_velocity : taut_solver_position)(exact.solver)[i];
                    b[i] = (part ? taut_solver_velocity : taut_solver_position)(o.solver)[i];
                    size[part] = fmax(size[part], fabs(a[i]));
                    off[part] = fmax(off[part], fabs(a[i] - b[i]));
                }
            check_row(off[0] <= 2e-5 * size[0] && off[1] <= 2e-5 * fmax(size[1], size[0]),
                      "%.60s, level %d: off by %.2e of %.2g, velocities %.2e of %.2g",
                      rows[k].model, o.result.level, off[0], size[0], off[1], size[1]);
            check_row(o.result.level >= 0 && o.result.truncation < 1e-6, "%.60s: level %d, %.2e",
                      rows[k].model, o.result.level, o.result.truncation);
        }
        release(&exact);
        release(&o);
    }
}

/* ---- long chains */

static void test_chain(void)
{
    static double reference[WIDTH], end[WIDTH];
    static const struct {
        const char *omega;
        int level;
        double limit; /* of q and v, absolute; prototype: 7e-6, 4e-8, 5e-8 */
    } rows[] = {{"1e5", 0, 1e-5}, {"1e5", 1, 1e-7}, {"1e6", 0, 1e-6}};
    check_group("chain of 1000");
    for (int k = 0; k < 3; k++) {
        char model[80], options[120];
        snprintf(model, sizeof model, "chain;N=1000;omega=%s", rows[k].omega);
        if (k != 1)
            end_of(model, "motion=slow method=radau9 rtol=1e-11 until=1", reference);
        snprintf(options, sizeof options, "motion=slow method=dop8 rtol=1e-10 until=1 level=%d",
                 rows[k].level);
        if (end_of(model, options, end))
            check_below(options, apart(2000, end, reference), rows[k].limit);
    }
}

/* Not separated: refused, however short the run is, although a short step omits little; velocities
 * were off by 7e-4 of 0.05 at t = 0.05. */
static void test_not_separated(void)
{
    static double reference[WIDTH], end[WIDTH];
    static const char *const until[] = {"1", "0.3", "0.05", "1e-3"};
    check_group("chain of 1000 with omega = 1e4");
    for (int k = 0; k < 4; k++) {
        char options[120];
        snprintf(options, sizeof options, "motion=slow method=dop8 until=%s", until[k]);
        outcome o = make("chain;N=1000;omega=1e4", options);
        check_row(o.code == TAUT_ERROR_REFUSED && strstr(o.error.message, "grow from") &&
                      strstr(o.error.message, "radau5"),
                  "%s: %s", options, o.error.message);
        release(&o);
        snprintf(options, sizeof options, "motion=slow until=%s", until[k]);
        o = make("chain;N=1000;omega=1e4", options);
        check_row(o.code == 0 && o.solver->stepper.method == taut_method_find("radau5") &&
                      strstr(taut_solver_explanation(o.solver), "not separated"),
                  "%s: %s", options, o.code ? o.error.message : taut_solver_explanation(o.solver));
        release(&o);
    }
    if (end_of("chain;N=1000;omega=1e4", "motion=slow method=radau9 rtol=1e-9 until=0.05",
               reference) &&
        end_of("chain;N=1000;omega=1e4", "motion=slow until=0.05", end))
        check_below("velocities at t = 0.05", apart(2000, end + 2000, reference + 2000), 1e-5);
}

/* ---- refusals, and what replaces the field */

static const char bend[] = "[coordinates]\nx, y\n[forces]\ny = -abs(x)\n[bonds]\n"
                           "rod = length((x, y)) - 1 stiffness 1e8\n[start]\nx = 1, y = 0\n";
static const char twins[] = "[coordinates]\nx, y\n[potential]\ny\n[bonds]\n"
                            "a = length((x, y)) - 1 stiffness 1e8\n"
                            "b = length((x, y)) - 1 stiffness 1e8\n[start]\nx = 1, y = 0\n";

static void test_refusals(void)
{
    static const struct {
        const char *name, *model, *words;
    } rows[] = {{"stiff potential", "quartic_rod;omega=1e4", "stiff potential"},
                {"kink", bend, "kinks"},
                {"redundant springs", twins, "depends on others"},
                {"too slow springs", "spring_pendulum", "not separated"}};
    check_group("refusals");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        outcome o = make(rows[k].model, "motion=slow method=dop8 until=1");
        check_row(o.code < 0 && strstr(o.error.message, rows[k].words), "%s: %s", rows[k].name,
                  o.error.message);
        release(&o);
        o = run(rows[k].model, "motion=slow until=1");
        check_row(o.code == TAUT_OK && strcmp(o.result.method, "radau5") == 0 &&
                      o.result.level == -1 && isnan(o.result.truncation),
                  "%s without a method: %s %s", rows[k].name, o.error.message,
                  o.result.method ? o.result.method : "");
        release(&o);
    }
    /* sums over many pairs have no pattern of derivatives: implicit methods do not help */
    static const char *const pairs[] = {
        "motion=slow method=dop8 until=1e-4", "motion=slow until=1e-4",
        "motion=slow method=dop8 project=stage projection=constraint until=1e-4"};
    for (int k = 0; k < 3; k++) {
        outcome o = run("decane_melt", pairs[k]);
        check_row(k == 2
                      ? o.code == TAUT_OK
                      : o.code == TAUT_ERROR_REFUSED && strstr(o.error.message, "project stage") &&
                            !strstr(o.error.message, "radau5"),
                  "decane_melt, %s: %s", pairs[k], o.error.message);
        release(&o);
    }
    /* functions in C have no jets */
    static const double c[] = {1e-8, 1e-8}, q[] = {1, 0, 2, 0}, v[] = {0, -0.5, 0, 0.5};
    taut_callbacks calls = two_rods_calls(c, q, v);
    for (int named = 0; named < 2; named++) {
        driven d = {0};
        d.code = taut_system_from_callbacks(&calls, NULL, &d.system, &d.error);
        driven_equip(&d, named ? "motion=slow until=1 method=dop8" : "motion=slow until=1", NULL);
        if (named)
            check_row(d.code == TAUT_ERROR_REFUSED && strstr(d.error.message, "Taylor jets") &&
                          strstr(d.error.message, "radau5"),
                      "functions in C: %s", d.error.message);
        else
            check_row(d.code == 0 && d.solver->stepper.method == taut_method_find("radau5"),
                      "functions in C, no method: %s", d.error.message);
        driven_destroy(&d);
    }
    outcome o = make("double_pendulum;lift=0", "motion=slow method=dop8 stabilize=baumgarte");
    check_row(o.code == TAUT_ERROR_REFUSED, "baumgarte: %s", o.error.message);
    release(&o);
}

/* The level is the lowest that the tolerance allows; one that is too low is no success. */
static void test_levels(void)
{
    static const struct {
        const char *omega, *rtol;
        int level;
    } rows[] = {{"1e8", "1e-10", 0}, {"1e4", "1e-6", 0}, {"1e3", "1e-8", 1}, {"100", "1e-6", 2}};
    check_group("levels");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char model[80], options[80];
        snprintf(model, sizeof model, "double_pendulum;lift=0;omega=%s", rows[k].omega);
        snprintf(options, sizeof options, "motion=slow method=dop8 rtol=%s", rows[k].rtol);
        outcome o = run(model, options);
        check_row(o.code == TAUT_OK && o.result.level == rows[k].level, "%s, %s: level %d", model,
                  options, o.result.level);
        check_row(o.result.error_estimate >= o.result.truncation && o.result.truncation > 0,
                  "%s: estimate %.2e, truncation %.2e", model, o.result.error_estimate,
                  o.result.truncation);
        release(&o);
    }
    outcome o = run("double_pendulum;lift=0;omega=60", "motion=slow method=dop8 level=0 rtol=1e-9");
    check_row(o.code == TAUT_INACCURATE && o.result.error_estimate > 1e-7, "level 0: %s, %.2e",
              taut_code_name(o.code), o.result.error_estimate);
    release(&o);
    /* the cheaper method: level 0 is an explicit run, level 2 is not */
    o = run("double_pendulum;lift=0;omega=1e6", "motion=slow");
    check_row(o.code == 0 && strcmp(o.result.method, "dop8") == 0, "omega 1e6: %s",
              o.result.method);
    release(&o);
    o = run("double_pendulum;lift=0;omega=100", "motion=slow");
    check_row(o.code == 0 && strcmp(o.result.method, "radau5") == 0 &&
                  strstr(taut_solver_explanation(o.solver), "estimated cost"),
              "omega 100: %s", taut_solver_explanation(o.solver));
    release(&o);
}

/* A spring that weakens on the way: the level rises, then nothing helps, and Radau goes on where
 * the method is not specified. */
static void test_watch(void)
{
    static const char fading[] =
        "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = exp(-t)*(length((x, y)) - 1)"
        " stiffness 1e10\n[start]\nx = 1, y = 0\n[run]\nrtol = 1e-7\n";
    check_group("along the run");
    outcome o = make(fading, "motion=slow method=dop8 until=20");
    if (check_row(o.code == 0, "%s", o.error.message)) {
        int first = o.solver->level.field->level;
        o.code = taut_solver_advance(o.solver, 5, &o.error);
        check_row(o.code == 0 && o.solver->level.field->level > first,
                  "t = 5: level %d, first %d: %s", o.solver->level.field->level, first,
                  o.error.message);
        o.code = taut_solver_advance(o.solver, 20, &o.error);
        check_row(o.code == TAUT_ERROR_CONVERGE && strstr(o.error.message, "radau5"), "t = 20: %s",
                  o.error.message);
    }
    release(&o);
    o = run(fading, "motion=slow until=20");
    check_row(o.code == TAUT_OK && strcmp(o.result.method, "radau5") == 0 &&
                  strstr(taut_solver_explanation(o.solver), "of the slow field omits"),
              "%s: %s", taut_code_name(o.code),
              o.solver ? taut_solver_explanation(o.solver) : o.error.message);
    release(&o);
}

/* An event that alters the state: the run goes on from its slow point, as radau9 does. */
static void test_event(void)
{
    static const char model[] =
        "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = length((x, y)) - 1 stiffness 1e6\n"
        "[start]\nx = 1, y = 0\n[events]\nwall = x falling then x' = -0.5*x', y' = 0.1\n";
    double a[4], b[4];
    check_group("events");
    end_of(model, "motion=slow method=radau9 rtol=1e-11 until=4", b);
    outcome o = run(model, "motion=slow method=dop8 rtol=1e-8 until=4");
    if (check_row(o.code == TAUT_OK && o.result.altered > 0 && o.result.put_back > 1e-3,
                  "%s, altered %d times, put back by %.2g", o.error.message, (int)o.result.altered,
                  o.result.put_back)) {
        for (int i = 0; i < 4; i++)
            a[i] = (i < 2 ? taut_solver_position : taut_solver_velocity)(o.solver)[i % 2];
        check_below("distance from radau9", apart(4, a, b), 1e-6);
    }
    release(&o);
}

/* ---- with other methods, fixed steps too; nothing is allocated while stepping */

static void test_methods(void)
{
    static const char *const ways[] = {"method=dop8", "method=dopri5", "method=rk4 step=0.01",
                                       "method=ab2 step=0.001", "method=midpoint step=0.002"};
    static const char model[] = "[parameters]\nomega = 1000\n[coordinates]\nx, y\n[potential]\ny\n"
                                "[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness omega^2\n"
                                "[start]\nx = 1, y = 0\n";
    double reference[4];
    check_group("methods");
    end_of(model, "motion=slow method=radau9 rtol=1e-12 until=2", reference);
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        char options[120];
        faulty f = {0};
        taut_allocator allocator = faulty_allocator(&f);
        snprintf(options, sizeof options, "motion=slow %s until=2", ways[k]);
        driven d = driven_create(model, options, &allocator);
        if (driven_good(options, &d)) {
            int64_t before = f.calls;
            d.code = taut_solver_advance(d.solver, 2, &d.error);
            double off = fmax(apart(2, taut_solver_position(d.solver), reference),
                              apart(2, taut_solver_velocity(d.solver), reference + 2));
            check_row(d.code == 0 && f.calls == before, "%s: %d allocations, %s", options,
                      (int)(f.calls - before), d.error.message);
            check_below(options, off, 2e-5);
        }
        driven_destroy(&d);
    }
}

int main(void)
{
    taut_blas_threads(1);
    test_orders();
    test_published();
    test_evaluations();
    test_invariants();
    test_agreement();
    test_chain();
    test_not_separated();
    test_refusals();
    test_levels();
    test_watch();
    test_event();
    test_methods();
    return check_done();
}
