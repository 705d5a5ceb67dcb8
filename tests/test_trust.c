/* test_trust.c - no run that ends with success is wrong: shipped models, with stiffnesses of
 * decades, in each motion, by each method with an error estimate, at tolerances of decades,
 * against trajectories of another family (tests/trust/shipped.csv and, for its recipe,
 * tests/trust/make_references.c).
 *
 * The rule, written down before anything was measured: at the end, in the scale of like
 * variables over the run, a run with status TAUT_OK is off by at most
 *
 *     100 rtol in q and in v, 1000 rtol in lambda
 *
 * times the sensitivity of the motion over 10 where that is larger than 1, and ten times what the
 * reference is uncertain by, or the result by its own statement (lambda_uncertainty), and rounding.
 * Variables that are known to less than a tenth of their scale are not compared. Of the runs by
 * methods of order 3 and more less than 5% may end otherwise; what a method does not support, and
 * refuses, is not counted. Methods that Taut chooses itself follow the rule in every cell, and so
 * do all others with the second look that the program takes (verify = auto): a success without it
 * that is beyond the rule is repeated with it, and must be right or no success. Of successes
 * without it, at most 1% are beyond the rule.
 *
 * Methods of order 1 are not run below rtol 1e-5, orders 2 to 4 not below 1e-7: they would need
 * millions of steps; below order 3 a quarter of the steps ends a run, which then is not judged. The
 * short form takes a tenth of the cells, by a hash of their names, order 1 at 1e-3 only and orders
 * 2 to 4 not below 1e-5; TAUT_TEST_LONG all, under sanitizers a hundredth; TAUT_TRUST_MODEL: of one
 * model, TAUT_TRUST_METHOD: by one method. `test_trust FILE` writes all cells to FILE as CSV. */
#include "support/table.h"

#include <float.h>
#include <taut/taut.h>

#include "base/method.h"
#include "base/options.h"

enum { LINES = 20000, LENGTH = 400, MOST_STEPS = 40000 };

/* A row of the table. */
typedef struct variable {
    char kind; /* q, v, l */
    taut_index index;
    double value, uncertainty, sensitivity, scale, rounding;
} variable;

/* The rows of a model with its settings in one motion. */
typedef struct reference {
    char model[40], settings[120], motion[12];
    double end;
    variable *variables;
    int count;
} reference;

typedef struct outcome {
    int status;
    bool refused;
    double error[3];   /* of q, v, lambda, largest over variables, in tolerances */
    double allowed[3]; /* where that was, in tolerances; NaN: nothing is compared */
    double share;      /* largest of error over allowed */
    taut_result result;
    taut_error message;
} outcome;

/* What is asked for; NULL and 0: nothing. */
typedef struct request {
    const char *motion, *method;
    double rtol;
    bool verify; /* as the program does */
    int steps;   /* at most; 0: MOST_STEPS */
} request;

static struct {
    int cells, judged, ended, failed;
    int beyond; /* the rule without a second look, by methods that Taut does not choose itself */
    int looked; /* of these, not repeated with success */
    FILE *report;
    unsigned share; /* one cell of so many is run */
} tally;

/* ---- the table */

static taut_system *read_model(const reference *r)
{
    char path[600], copy[120];
    const char *set[4];
    taut_load how = {.size = sizeof how, .set = set};
    taut_system *system = NULL;
    taut_error error = {0};
    snprintf(copy, sizeof copy, "%s", r->settings);
    for (char *word = strtok(copy, ";"); word && how.set_count < 4; word = strtok(NULL, ";"))
        set[how.set_count++] = word;
    snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, r->model);
    int status = taut_system_load(path, &how, &system, &error);
    check_row(status == 0, "%s %s: %s", r->model, r->settings, error.message);
    return status == 0 ? system : NULL;
}

/* Fields of a line of CSV, in place; as many as found. */
static int split(char *line, char **field, int most)
{
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at && count < most; count++) {
        field[count] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = '\0';
    }
    return count;
}

static bool same(const reference *a, const reference *b)
{
    return strcmp(a->model, b->model) == 0 && strcmp(a->settings, b->settings) == 0;
}

/* Reads the next reference from the lines of the table, *at the first of its lines. */
static bool next_reference(char **lines, int count, int *at, reference *r)
{
    static variable room[64];
    *r = (reference){.variables = room};
    for (; *at < count && r->count < 64; ++*at) {
        char copy[LENGTH], *field[11];
        reference now = {0};
        snprintf(copy, sizeof copy, "%s", lines[*at]);
        if (!check_row(split(copy, field, 11) == 11, "line %d of the table is short", *at + 2))
            continue;
        snprintf(now.model, sizeof now.model, "%s", field[0]);
        snprintf(now.settings, sizeof now.settings, "%s", field[1]);
        snprintf(now.motion, sizeof now.motion, "%s", field[2]);
        now.end = strtod(field[3], NULL);
        now.variables = room;
        if (r->count > 0 && (!same(&now, r) || strcmp(now.motion, r->motion) != 0))
            break;
        now.count = r->count;
        *r = now;
        room[r->count++] = (variable){field[4][0],
                                      (taut_index)strtol(field[5], NULL, 10),
                                      strtod(field[6], NULL),
                                      strtod(field[7], NULL),
                                      strtod(field[8], NULL),
                                      strtod(field[9], NULL),
                                      strtod(field[10], NULL)};
    }
    return r->count > 0;
}

/* Some of the table is known exactly: forced_spring, A cos t + lift cos(omega t), and kepler, which
 * is at the perihelion after two periods of 2 pi. */
static void check_exact(const reference *r)
{
    const double *orbit = (const double[]){0.5, 0, 0, sqrt(3)}, pi = 4 * atan(1);
    const char *set = strstr(r->settings, "omega=");
    double omega = set ? strtod(set + 6, NULL) : 100, A = omega * omega / (omega * omega - 1);
    bool spring = strcmp(r->model, "forced_spring") == 0 && strcmp(r->motion, "rigid") != 0,
         slow = strcmp(r->motion, "slow") == 0, kepler = strcmp(r->model, "kepler") == 0;
    for (int k = 0; k < r->count; k++) {
        const variable *x = &r->variables[k];
        double exact = NAN, lift = slow ? 0 : 1 / omega, t = r->end;
        if (spring && x->kind == 'q')
            exact = A * cos(t) + lift * cos(omega * t);
        if (spring && x->kind == 'v')
            exact = -A * sin(t) - omega * lift * sin(omega * t);
        if (kepler && !r->settings[0] && fabs(t - 4 * pi) < 1e-12)
            exact = orbit[x->index];
        if (!isnan(exact))
            check_row(fabs(x->value - exact) <= 10 * x->uncertainty + x->rounding,
                      "%s %s, motion %s: %c %d of the table is %.17g, exactly %.17g", r->model,
                      r->settings, r->motion, x->kind, (int)x->index, x->value, exact);
    }
}

/* ---- a cell */

static int set_all(taut_options *options, const reference *r, const request *how, taut_error *error)
{
    int status = taut_options_set_real(options, "until", r->end, error);
    if (status == 0 && how->motion)
        status = taut_options_set(options, "motion", how->motion, error);
    if (status == 0 && how->method)
        status = taut_options_set(options, "method", how->method, error);
    if (status == 0 && how->rtol > 0)
        status = taut_options_set_real(options, "rtol", how->rtol, error);
    if (status == 0)
        status = taut_options_set_integer(options, "steps",
                                          how->verify  ? 20 * MOST_STEPS
                                          : how->steps ? how->steps
                                                       : MOST_STEPS,
                                          error);
    if (status == 0 && (how->verify || !how->method))
        status = taut_options_set(options, "verify", "auto", error);
    return status;
}

static void compare(const taut_solver *solver, const reference *r, double rtol, outcome *o)
{
    double stated = o->result.lambda_uncertainty > 0 ? o->result.lambda_uncertainty : 0;
    for (int k = 0; k < r->count; k++) {
        const variable *x = &r->variables[k];
        int kind = x->kind == 'q' ? 0 : x->kind == 'v' ? 1 : 2;
        const double *values = kind == 0   ? taut_solver_position(solver)
                               : kind == 1 ? taut_solver_velocity(solver)
                                           : taut_solver_multipliers(solver);
        double floor = 10 * x->uncertainty + x->rounding, tolerance = rtol * x->scale;
        if (!(x->scale > 0) || floor > 0.1 * x->scale)
            continue;
        floor += kind == 2 ? 10 * stated : 0;
        double error = fabs(values[x->index] - x->value) / tolerance;
        double allowed =
            (kind == 2 ? 1000 : 100) * fmax(1, x->sensitivity / 10) + floor / tolerance;
        error = isfinite(error) ? error : INFINITY;
        if (isnan(o->allowed[kind]) || error / allowed > o->error[kind] / o->allowed[kind]) {
            o->error[kind] = error;
            o->allowed[kind] = allowed;
        }
        o->share = fmax(o->share, error / allowed);
    }
}

static outcome run(const taut_system *system, const reference *r, const request *how)
{
    outcome o = {.allowed = {NAN, NAN, NAN}, .error = {NAN, NAN, NAN}};
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    o.status = taut_options_create(NULL, &options, &o.message);
    if (o.status == 0)
        o.status = set_all(options, r, how, &o.message);
    double rtol = taut_options_real(options, "rtol");
    if (o.status == 0)
        o.status = taut_solver_create(system, options, NULL, &solver, &o.message);
    o.refused = o.status == TAUT_ERROR_REFUSED;
    if (o.status == 0)
        o.status = taut_solver_run(solver, NULL, 0, NULL, NULL, &o.message);
    if (solver) {
        taut_result_init(&o.result);
        taut_solver_result_get(solver, &o.result, NULL);
    }
    /* by default the motion is the program's choice: the table may have another one */
    const char *made = solver && o.result.motion[0] ? o.result.motion : "full";
    if (solver && !how->method && strcmp(made, r->motion) != 0)
        o.refused = true;
    else if (o.status == TAUT_OK)
        compare(solver, r, rtol, &o);
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return o;
}

static void write_report(const reference *r, const char *method, double rtol, const outcome *o)
{
    const taut_statistics *s = &o->result.statistics;
    if (!tally.report)
        return;
    fprintf(tally.report, "%s,%s,%s,%s,%.0e,%s", r->model, r->settings, r->motion, method, rtol,
            o->refused ? "refused" : taut_code_name(o->status));
    for (int k = 0; k < 3; k++)
        fprintf(tally.report, ",%.3g", o->error[k]);
    fprintf(tally.report, ",%.3g,%lld,%lld,%lld\n", o->share,
            (long long)(s->force_evaluations + s->jets), (long long)s->steps,
            (long long)s->rejected);
}

/* dop8 and adams, radau5 in slow motion and of first-order systems, and runs without a method. */
static bool is_chosen_by_taut(const char *motion, const char *method)
{
    bool mechanical = strcmp(motion, "full") == 0 || strcmp(motion, "rigid") == 0;
    return strcmp(method, "dop8") == 0 || strcmp(method, "adams") == 0 ||
           strcmp(method, "effective") == 0 || (!mechanical && strcmp(method, "radau5") == 0);
}

/* That which the step size follows in this motion. */
static int order_of(const taut_method *method, const char *motion)
{
    bool held = method->bond_order > 0 && strcmp(motion, "full") != 0;
    return held && method->bond_order < method->order ? method->bond_order : method->order;
}

static void describe(const reference *r, const char *method, double rtol, const outcome *o,
                     char *text, size_t size)
{
    snprintf(text, size,
             "%s %s, motion %s, method %s, rtol %.0e: off by %.3g (allowed %.3g) tolerances in q, "
             "%.3g (%.3g) in v, %.3g (%.3g) in lambda",
             r->model, r->settings, r->motion, method, rtol, o->error[0], o->allowed[0],
             o->error[1], o->allowed[1], o->error[2], o->allowed[2]);
}

/* `wrong` was a success beyond the rule: with a second look it is right, or no success. */
static void look_again(const taut_system *system, const reference *r, const request *how,
                       const outcome *wrong)
{
    request again = *how;
    char text[400], before[400];
    again.verify = true;
    outcome o = run(system, r, &again);
    describe(r, how->method, how->rtol, wrong, before, sizeof before);
    describe(r, how->method, how->rtol, &o, text, sizeof text);
    printf("beyond the rule: %s; with a second look %s\n", before, taut_code_name(o.status));
    check_row(o.status != TAUT_OK || o.share <= 1, "with a second look %s", text);
    tally.beyond++;
    tally.looked += o.status != TAUT_OK;
}

static void judge_outcome(const taut_system *system, const reference *r, const request *how,
                          const char *method, double rtol, const outcome *o)
{
    write_report(r, method, rtol, o);
    if (o->refused || o->status != TAUT_OK)
        return;
    tally.judged++;
    char text[400];
    describe(r, method, rtol, o, text, sizeof text);
    bool right = o->share <= 1, strict = !how->method || is_chosen_by_taut(r->motion, method);
    if (!right && !strict)
        look_again(system, r, how, o);
    check_row(right || !strict, "%s", text);
}

/* FNV-1a of the names of the cell: the same tenth everywhere; of methods for study a tenth of that.
 */
static bool chosen(const reference *r, const taut_method *by, double rtol)
{
    const char *method = by->name;
    bool study = by->bond_order > 0 || by->undamped;
    char text[300];
    uint32_t hash = 2166136261u;
    snprintf(text, sizeof text, "%s|%s|%s|%s|%.0e", r->model, r->settings, r->motion, method, rtol);
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return (hash >> 8) % (tally.share * (study && tally.share > 1 ? 10 : 1)) == 0;
}

static void run_cell(const taut_system *system, const reference *r, const taut_method *method,
                     double rtol)
{
    bool counts = order_of(method, r->motion) >= 3;
    request how = {r->motion, method->name, rtol, false, counts ? MOST_STEPS : MOST_STEPS / 4};
    outcome o = run(system, r, &how);
    tally.cells++;
    judge_outcome(system, r, &how, method->name, rtol, &o);
    if (o.refused || !counts)
        return;
    tally.ended++;
    tally.failed += o.status != TAUT_OK;
    if (o.status != TAUT_OK && getenv("TAUT_TEST_VERBOSE"))
        printf("%s %s, motion %s, method %s, rtol %.0e: %s: %s\n", r->model, r->settings, r->motion,
               method->name, rtol, taut_code_name(o.status), o.message.message);
}

static void run_methods(const taut_system *system, const reference *r)
{
    for (int k = 0; taut_method_table[k]; k++) {
        const taut_method *method = taut_method_table[k];
        const char *only = getenv("TAUT_TRUST_METHOD");
        if (method->error_order == 0 || !(method->motions & taut_motion_bit(r->motion)) ||
            (only && strcmp(only, method->name) != 0))
            continue;
        int order = order_of(method, r->motion);
        double least = order == 1 ? 0.9e-5 : order <= 4 ? 0.9e-7 : 0.9e-9;
        if (tally.share > 1)
            least *= order <= 4 ? 100 : 1;
        for (double rtol = 1e-3; rtol > least; rtol /= 10)
            if (chosen(r, method, rtol))
                run_cell(system, r, method, rtol);
    }
}

/* Nothing is specified but the end. */
static void run_default(const taut_system *system, const reference *r)
{
    double rtol = taut_options_real(NULL, "rtol");
    outcome o = run(system, r, &(request){0});
    char method[80];
    snprintf(method, sizeof method, "default: %s %s", o.result.motion ? o.result.motion : "",
             o.result.method ? o.result.method : "");
    tally.cells++;
    judge_outcome(system, r, &(request){0}, method, rtol, &o);
}

static int read_lines(char **lines, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[LENGTH];
    int count = 0;
    while (file && count < LINES && fgets(line, sizeof line, file)) {
        lines[count] = malloc(sizeof line);
        memcpy(lines[count++], line, sizeof line);
    }
    if (file)
        fclose(file);
    return count;
}

int main(int argc, char **argv)
{
    static char *lines[LINES];
    reference r, last = {0};
    taut_system *system = NULL;
    const char *only = getenv("TAUT_TRUST_MODEL");
    int count = read_lines(lines, TAUT_SOURCE_DIR "/tests/trust/shipped.csv"), at = 1;
    tally.share = argc > 1 || getenv("TAUT_TEST_LONG") ? 1
                  : getenv("TAUT_TEST_SANITIZED")      ? 100
                                                       : 10;
    tally.report = argc > 1 ? fopen(argv[1], "w") : NULL;
    taut_blas_threads(1);
    if (tally.report)
        fprintf(tally.report, "model,settings,motion,method,rtol,status,err_q,err_v,err_lambda,"
                              "share,evaluations,steps,rejected\n");
    check_group("trust");
    check_row(count > 1000, "%d lines in the table", count);
    while (next_reference(lines, count, &at, &r)) {
        if (only && strcmp(only, r.model) != 0)
            continue;
        if (!system || !same(&r, &last)) {
            taut_system_destroy(system);
            system = read_model(&r);
        }
        last = r;
        if (!system)
            continue;
        check_exact(&r);
        run_methods(system, &r);
        if (!r.settings[0])
            run_default(system, &r);
    }
    taut_system_destroy(system);
    check_row(tally.failed <= 0.05 * tally.ended,
              "%d of %d runs by methods of order 3 and more did not reach the end", tally.failed,
              tally.ended);
    check_row(tally.beyond <= 0.01 * tally.judged + 2, "%d of %d successes are beyond the rule",
              tally.beyond, tally.judged);
    printf(
        "%d cells, %d of them judged, %d of %d of order 3 and more failed; %d beyond the rule, of "
        "which a second look finds %d inaccurate\n",
        tally.cells, tally.judged, tally.failed, tally.ended, tally.beyond, tally.looked);
    if (tally.report)
        fclose(tally.report);
    for (int k = 0; k < count; k++)
        free(lines[k]);
    return check_done();
}
