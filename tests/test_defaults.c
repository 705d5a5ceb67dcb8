/* test_defaults.c - what Taut makes of a model when nothing is specified but the end time: right to
 * the error that it states, and within 100 tolerances, on models that are stiff, damped, driven,
 * rigid, resonant or have events. References: tests/trust/references.csv, from equations written by
 * hand and integrators of another family (tests/trust/references.py). */
#include "support/table.h"

#include <taut/taut.h>

enum { LINE = 400, MOST = 100 };
static const double RTOL = 1e-6, FAR = 100, FAR_LAMBDA = 1000;

typedef struct value {
    char kind; /* q, v, l */
    char name[80];
    taut_index index;
    double value, uncertainty;
} value;

typedef struct subject {
    char model[40], settings[80];
    double t;
    value values[MOST];
    int count;
} subject;

/* "x'" is a velocity, "lambda(x)" a multiplier. */
static void read_name(const char *text, value *v)
{
    size_t length = strlen(text);
    v->kind = 'q';
    snprintf(v->name, sizeof v->name, "%s", text);
    if (length > 0 && text[length - 1] == '\'') {
        v->kind = 'v';
        v->name[length - 1] = '\0';
    } else if (strncmp(text, "lambda(", 7) == 0) {
        v->kind = 'l';
        snprintf(v->name, sizeof v->name, "%.*s", (int)length - 8, text + 7);
    }
}

/* model,settings,t,"variable",value,uncertainty */
static bool read_line(const char *line, subject *s, value *v)
{
    char text[80];
    *s = (subject){0};
    const char *comma = strchr(line, ','), *second = comma ? strchr(comma + 1, ',') : NULL;
    if (!second)
        return false;
    snprintf(s->model, sizeof s->model, "%.*s", (int)(comma - line), line);
    snprintf(s->settings, sizeof s->settings, "%.*s", (int)(second - comma - 1), comma + 1);
    if (sscanf(second + 1, "%lf,\"%79[^\"]\",%lf,%lf", &s->t, text, &v->value, &v->uncertainty) !=
        4)
        return false;
    read_name(text, v);
    return true;
}

static taut_system *load(const subject *s, taut_error *error)
{
    char path[300], *set[4] = {0}, copy[80];
    const char *source = getenv("TAUT_SOURCE");
    taut_system *system = NULL;
    int count = 0;
    snprintf(path, sizeof path, "%s/models/%s.taut", source ? source : ".", s->model);
    snprintf(copy, sizeof copy, "%s", s->settings);
    for (char *at = strtok(copy, ";"); at && count < 4; at = strtok(NULL, ";"))
        set[count++] = at;
    taut_load how = {.size = sizeof how, .set = (const char *const *)set, .set_count = count};
    taut_system_load(path, &how, &system, error);
    return system;
}

static double find_value(const taut_solver *solver, const value *v)
{
    const double *from = v->kind == 'q'   ? taut_solver_position(solver)
                         : v->kind == 'v' ? taut_solver_velocity(solver)
                                          : taut_solver_multipliers(solver);
    return v->index >= 0 && from ? from[v->index] : NAN;
}

/* Within 100 tolerances (1000 in lambda) of the largest reference of its kind, and within three
 * times the error that the run states, which is that of its first, less accurate part. */
static void judge(const subject *s, const taut_solver *solver)
{
    taut_result result = {.size = sizeof result};
    taut_solver_result_get(solver, &result, NULL);
    double stated[3] = {result.error_position, result.error_velocity, result.error_lambda};
    for (int k = 0; k < s->count; k++) {
        const value *v = &s->values[k];
        double size = 0, off = fabs(find_value(solver, v) - v->value);
        for (int j = 0; j < s->count; j++)
            size = s->values[j].kind == v->kind ? fmax(size, fabs(s->values[j].value)) : size;
        double error = stated[v->kind == 'q'   ? 0
                              : v->kind == 'v' ? 1
                                               : 2],
               far = (v->kind == 'l' ? FAR_LAMBDA : FAR) * RTOL * size + 10 * v->uncertainty;
        check_row(off <= far, "%s %s, t = %g: %c %s off by %.3g, allowed %.3g", s->model,
                  s->settings, s->t, v->kind, v->name, off, far);
        check_row(off <= 3 * error * size + 10 * v->uncertainty,
                  "%s %s, t = %g: %c %s off by %.3g, stated %.3g of %.3g", s->model, s->settings,
                  s->t, v->kind, v->name, off, error, size);
    }
}

static void run(subject *s)
{
    taut_error error = {.t = NAN};
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    taut_system *system = load(s, &error);
    if (!check_row(system != NULL, "%s: %s", s->model, error.message))
        return;
    for (int k = 0; k < s->count; k++)
        s->values[k].index = taut_system_find(
            system, s->values[k].kind == 'l' ? TAUT_BOND : TAUT_COORDINATE, s->values[k].name);
    int status = taut_options_create(NULL, &options, &error);
    if (status == 0)
        status = taut_options_set_real(options, "until", s->t, &error);
    if (status == 0)
        status = taut_options_set(options, "verify", "auto", &error);
    if (status == 0)
        status = taut_solver_create(system, options, NULL, &solver, &error);
    if (status == 0)
        status = taut_solver_run(solver, NULL, 0, NULL, NULL, &error);
    if (check_row(status == 0, "%s %s, t = %g: %s: %s", s->model, s->settings, s->t,
                  taut_code_name(status), error.message))
        judge(s, solver);
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    taut_system_destroy(system);
}

/* The cloth has 2700 coordinates: too slow under sanitizers. */
static void finish(subject *s)
{
    bool large = strcmp(s->model, "cloth") == 0;
    if (s->count > 0 && !(large && getenv("TAUT_TEST_SANITIZED")))
        run(s);
    s->count = 0;
}

int main(void)
{
    char path[300], line[LINE];
    const char *source = getenv("TAUT_SOURCE");
    snprintf(path, sizeof path, "%s/tests/trust/references.csv", source ? source : ".");
    FILE *file = fopen(path, "r");
    subject now = {0}, next;
    value v;
    int subjects = 0;
    check_group("nothing specified");
    check_row(file != NULL, "%s is missing", path);
    while (file && fgets(line, sizeof line, file)) {
        if (!read_line(line, &next, &v))
            continue; /* the head */
        if (strcmp(now.model, next.model) != 0 || strcmp(now.settings, next.settings) != 0 ||
            now.t != next.t) {
            finish(&now);
            now = next;
            subjects++;
        }
        if (check_row(now.count < MOST, "%s: too many values", now.model))
            now.values[now.count++] = v;
    }
    finish(&now);
    check_row(subjects >= 28, "%d subjects", subjects);
    if (file)
        fclose(file);
    return check_done();
}
