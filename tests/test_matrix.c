/* test_matrix.c - every method on every shipped model in every motion it offers: within tolerance, or refused with a reason.
 *
 * The reference of a cell is dop8, for dop8 and dopri5 radau5, at a tight tolerance. What this does not show: in slow motion only Radau
 * methods run, so that radau5 at the tight tolerance judges its own family, and a common error would not be seen; in effective motion
 * there is no reference, and a cell must only end with finite numbers. Stiffness is made mild, so that resolving it costs little. The
 * refusals are compared with docs/refusals.md, and the sentence says what to do. */
#include "table.h"

#include <dirent.h>
#include <taut/taut.h>

typedef struct cell {
    const char *model, *motion, *method;
    int order;
} cell;

typedef struct outcome {
    int status;
    int n;
    double *q;
    taut_error error;
    taut_result result;
} outcome;

static const char *const mild[] = {"omega=60", "eps=0.02", "stiffness=3600"};

/* Loads with whichever mild settings the model knows. */
static int load(const char *model, taut_system **system, taut_error *error)
{
    char path[600];
    snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, model);
    const char *set[3];
    int count = 0;
    taut_system *plain;
    int status = taut_system_load(path, NULL, &plain, error);
    if (status)
        return status;
    for (int k = 0; k < 3; k++) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(mild[k], "="), mild[k]);
        if (taut_system_find(plain, TAUT_PARAMETER, name) >= 0 && strcmp(model, "index2") != 0)
            set[count++] = mild[k];
    }
    taut_system_destroy(plain);
    taut_load how = {.set = set, .set_count = count};
    return taut_system_load(path, &how, system, error);
}

static int set_all(taut_options *options, const cell *c, const char *step, const char *rtol, taut_error *error)
{
    int status = c->motion[0] ? taut_options_set(options, "motion", c->motion, error) : 0;
    if (status == 0)
        status = taut_options_set(options, "method", c->method, error);
    if (status == 0)
        status = taut_options_set(options, "from", "0", error);
    if (status == 0)
        status = taut_options_set(options, "until", strcmp(c->model, "water_box") == 0 ? "0.003" : "0.2", error);
    if (status == 0)
        status = taut_options_set(options, "steps", "20000", error); /* a cell that needs more has gone wrong */
    if (status == 0 && step)
        status = taut_options_set(options, "step", step, error);
    if (status == 0 && rtol)
        status = taut_options_set(options, "rtol", rtol, error);
    if (status == 0 && rtol)
        status = taut_options_set(options, "atol", strcmp(c->model, "hydrogen_oxygen") == 0 ? "1e-17" : rtol, error);
    return status;
}

static outcome run(const taut_system *system, const cell *c, const char *step, const char *rtol)
{
    outcome o = {0};
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    o.n = sizes.coordinates;
    o.q = calloc((size_t)o.n + 1, sizeof(double));
    o.status = taut_options_create(NULL, &options, &o.error);
    if (o.status == 0)
        o.status = set_all(options, c, step, rtol, &o.error);
    if (o.status == 0)
        o.status = taut_solver_create(system, options, NULL, &solver, &o.error);
    if (o.status == 0)
        o.status = taut_solver_run(solver, NULL, 0, NULL, NULL, &o.error);
    if (solver) {
        memcpy(o.q, taut_solver_position(solver), (size_t)o.n * sizeof(double));
        taut_solver_result(solver, &o.result);
    }
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return o;
}

static double distance(const outcome *a, const outcome *b)
{
    double largest = 0, off = 0;
    for (int i = 0; i < a->n; i++) {
        largest = fmax(largest, fabs(b->q[i]));
        off = fmax(off, fabs(a->q[i] - b->q[i]));
        if (!isfinite(a->q[i]))
            return INFINITY;
    }
    return largest > 0 ? off / largest : off;
}

/* What a fixed step of 1e-3 may leave, by order; and an adaptive run at 1e-7. */
static double allowed(const cell *c, bool adaptive)
{
    if (strcmp(c->motion, "effective") == 0)
        return 0.1; /* the averaged motion differs by its own O(eps) */
    if (adaptive)
        return c->order == 1 ? 2e-3 : 2e-5;
    return c->order >= 4 ? 2e-4 : c->order >= 2 ? 5e-3 : 0.2;
}

static bool adaptive_method(const char *name)
{
    return strncmp(name, "radau", 5) == 0 || strncmp(name, "dop", 3) == 0;
}

/* References of one model and motion, by two families; made when first needed. */
typedef struct references {
    const char *model, *motion;
    bool made[2];
    outcome by[2];
} references;

static const outcome *reference(const taut_system *system, const cell *c, references *r)
{
    static const char *const judge[] = {"dop8", "radau5"};
    if (r->model != c->model || r->motion != c->motion) {
        free(r->by[0].q);
        free(r->by[1].q);
        *r = (references){.model = c->model, .motion = c->motion};
    }
    bool explicit_one = strncmp(c->method, "dop", 3) == 0;
    for (int k = 0; k < 2; k++) {
        int family = explicit_one ? 1 - k : k; /* another family judges, where it offers the motion */
        cell other = {c->model, c->motion, judge[family], 8};
        if (!r->made[family])
            r->by[family] = run(system, &other, NULL, "1e-9");
        r->made[family] = true;
        if (r->by[family].status == 0)
            return &r->by[family];
    }
    return NULL;
}

/* A step that resolves the fastest spring; small enough for the rates of first-order models. */
static void fixed_step(const taut_system *system, char *text, size_t size)
{
    taut_check_report report;
    taut_options *options = NULL;
    double h = 1e-3;
    if (taut_options_create(NULL, &options, NULL) == 0 && taut_options_set(options, "no-derivatives", "yes", NULL) == 0 &&
        taut_check(system, options, &report, NULL) == 0) {
        if (report.frequency_most > 0)
            h = fmin(h, 0.2 / report.frequency_most);
        if (report.sizes.kind != TAUT_MECHANICAL)
            h = 1e-4;
    }
    taut_options_destroy(options);
    snprintf(text, size, "%.3g", h);
}

/* Failures that are right: explicit methods and implicit Euler cannot follow the combustion model in
 * 20000 steps and must not pretend to; a vibration that grows beyond
 * the averaged motion is told. */
static bool honest_failure(const cell *c, int status)
{
    if (strcmp(c->model, "hydrogen_oxygen") == 0 && (strncmp(c->method, "radau", 5) != 0 || c->order == 1))
        return status == TAUT_ERROR_STEP || status == TAUT_ERROR_EVALUATE || status == TAUT_LIMIT;
    if (strcmp(c->method, "euler") == 0 && strcmp(c->motion, "full") == 0)
        return status == TAUT_ERROR_STEP; /* unstable on every oscillation, and told */
    return strcmp(c->motion, "effective") == 0 && status == TAUT_ERROR_CONVERGE;
}

static void one(const cell *c, references *known, FILE *list)
{
    taut_system *system;
    taut_error error;
    if (load(c->model, &system, &error)) {
        check_row(false, "%s: %s", c->model, error.message);
        return;
    }
    bool adaptive = adaptive_method(c->method);
    char step[32];
    fixed_step(system, step, sizeof step);
    outcome o = run(system, c, adaptive ? NULL : step, adaptive ? "1e-7" : NULL);
    if (o.status == TAUT_ERROR_REFUSED) {
        check_row(strlen(o.error.message) > 20, "%s %s %s: refused without a reason: '%s'", c->model, c->motion, c->method,
                  o.error.message);
        fprintf(list, "| %s | %s | %s | %s |\n", c->model, c->motion, c->method, o.error.message);
    } else if (o.status) {
        check_row(honest_failure(c, o.status), "%s, motion %s, method %s: %s: %s", c->model, c->motion, c->method,
                  taut_code_name(o.status), o.error.message);
    } else {
        const outcome *r = reference(system, c, known);
        double off = distance(&o, r ? r : &o);
        check_row(off <= allowed(c, adaptive), "%s, motion %s, method %s: off by %.3g, allowed %.3g%s", c->model, c->motion,
                  c->method, off, allowed(c, adaptive), r ? "" : " (no reference)");
    }
    free(o.q);
    taut_system_destroy(system);
}

static bool mechanical(const char *model)
{
    taut_system *system;
    taut_error error;
    taut_sizes sizes = {0};
    if (load(model, &system, &error) == 0)
        taut_system_sizes(system, &sizes);
    taut_system_destroy(system);
    return sizes.kind == TAUT_MECHANICAL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_models(char **names, int room)
{
    DIR *folder = opendir(TAUT_SOURCE_DIR "/models");
    int count = 0;
    for (struct dirent *entry; folder && count < room && (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".taut") != 0)
            continue;
        names[count] = calloc(1, length);
        memcpy(names[count++], entry->d_name, length - 5);
    }
    if (folder)
        closedir(folder);
    qsort(names, (size_t)count, sizeof *names, compare_names);
    return count;
}

/* The page is what the methods say of themselves. */
static void compare_list(FILE *list)
{
    char ours[900], page[900];
    FILE *file = fopen(TAUT_SOURCE_DIR "/docs/refusals.md", "r");
    rewind(list);
    while (file && fgets(page, sizeof page, file) && strncmp(page, "|---", 4) != 0)
        ;
    int rows = 0;
    bool same = file != NULL;
    while (file && fgets(ours, sizeof ours, list)) {
        same = same && fgets(page, sizeof page, file) && strcmp(ours, page) == 0;
        rows++;
    }
    check_row(same && rows > 0 && !fgets(page, sizeof page, file),
              "docs/refusals.md is not what the methods say: make it anew with test_matrix FILE (%d rows)", rows);
    if (file)
        fclose(file);
}

int main(int argc, char **argv)
{
    char *model[100];
    int models = list_models(model, 100);
    references known = {0};
    static const char *const motions[] = {"rigid", "slow", "effective", "full"};
    /* with an argument: writes the list of refusals, which is docs/refusals.md; without: compares with that */
    FILE *list = argc > 1 ? fopen(argv[1], "w") : tmpfile();
    check_group("matrix");
    check_row(models > 20 && list, "%d models found", models);
    for (int k = 0; k < models && list; k++) {
        if (getenv("TAUT_TEST_SANITIZED") && strcmp(model[k], "water_box") == 0) {
            check_skip("water_box takes long under sanitizers");
            continue;
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < taut_method_count(); j++) {
                taut_method_info info;
                taut_method_get(j, &info);
                bool motion = mechanical(model[k]); /* first-order systems have no motions: once, without */
                if (strstr(info.motions, motions[i]) && (motion || i == 3))
                    one(&(cell){model[k], motion ? motions[i] : "", info.name, info.order}, &known, list);
            }
    }
    free(known.by[0].q);
    free(known.by[1].q);
    for (int k = 0; k < models; k++)
        free(model[k]);
    if (list && argc == 1)
        compare_list(list);
    if (list)
        fclose(list);
    return check_done();
}
