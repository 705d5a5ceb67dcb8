/* best.c - what the best method of Taut does on the problem of each recipe: its error and its work
 * for two tolerances, against a reference that two methods agree on (taut compare), or for
 * projections against another projection. The commands are those that a user would type. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/reproduce.h"

typedef struct problem {
    const char *recipe, *model, *set, *options;
    const char *methods[2]; /* of taut compare; none: taut project, judged with other options */
    const char *judge;
} problem;

#define PENDULUM(recipe)                                                                           \
    {                                                                                              \
        recipe, "pendulum", "eps=1e-4", "motion=slow until=1", {"dop8", "radau9"}, NULL            \
    }
#define DOUBLE_PENDULUM(recipe)                                                                    \
    {                                                                                              \
        recipe, "double_pendulum", "omega=10000 lift=0", "motion=slow until=10", {"dop8"}, NULL    \
    }
#define EFFECTIVE(recipe)                                                                          \
    {                                                                                              \
        recipe, "double_pendulum_gravity", "eps=1e-3", "motion=effective", {"effective"}, NULL     \
    }
#define KEPLER(recipe)                                                                             \
    {                                                                                              \
        recipe, "kepler", "", "", {"dop8"}, NULL                                                   \
    }

static const problem problems[] = {
    {"a-table-1", "double_pendulum", "omega=1000", "method=series", {NULL}, "method=kernel"},
    DOUBLE_PENDULUM("a-figure-2"),
    DOUBLE_PENDULUM("a-figure-3"),
    DOUBLE_PENDULUM("a-figure-4"),
    DOUBLE_PENDULUM("a-figure-5"),
    DOUBLE_PENDULUM("a-figure-6"),
    PENDULUM("b-orders"),
    PENDULUM("b-methods"),
    PENDULUM("b-damping"),
    PENDULUM("b-expansion"),
    PENDULUM("b-newton"),
    {"b-damped", recipe_b_damped_model, "", "motion=slow until=1", {"dop8", "radau9"}, NULL},
    {"b-outer", recipe_b_ellipse_model, "", "motion=slow until=1", {"radau9"}, NULL},
    {"c-table-1-1", "index2", "", "", {"radau9"}, NULL},
    {"c-example-2", recipe_c_example_2_model, "", "until=1", {"dop8"}, NULL},
    KEPLER("c-theorems"),
    KEPLER("c-table-3-1"),
    {"c-slider-crank", "slider_crank", "", "until=10", {"dop8"}, NULL},
    {"d-michaelis-menten",
     "michaelis_menten",
     "",
     "method=derivative order=4",
     {NULL},
     "method=derivative order=6"},
    {"d-five-dimensions",
     "five_dimensions",
     "start:y[4]=5.2 start:y[5]=405.2",
     "method=derivative order=2",
     {NULL},
     "method=derivative order=3"},
    {"d-hydrogen-oxygen",
     "hydrogen_oxygen",
     recipe_d_table_3,
     "method=difference order=1",
     {NULL},
     "method=derivative order=1"},
    EFFECTIVE("e-figure-1"),
    EFFECTIVE("e-figure-3"),
    EFFECTIVE("e-figure-4"),
};

/* " --set a=b --init c=d --motion e", of words "a=b", "start:c=d" and options "motion=e". */
static void add_words(char *to, size_t size, const char *words, const char *flag)
{
    static const char start[] = "start:";
    while (*words) {
        int length = (int)strcspn(words, " ");
        bool init = strncmp(words, start, sizeof start - 1) == 0;
        int skip = init ? (int)sizeof start - 1 : 0;
        size_t used = strlen(to);
        if (flag)
            snprintf(to + used, size - used, " --%s %.*s", init ? "init" : flag, length - skip,
                     words + skip);
        else
            snprintf(to + used, size - used, " --%.*s %.*s", (int)strcspn(words, "="), words,
                     length - (int)strcspn(words, "=") - 1, words + strcspn(words, "=") + 1);
        words += length + (words[length] == ' ');
    }
}

static char *command_of(const problem *p)
{
    char text[600] = "";
    add_words(text, sizeof text, p->set, "set");
    add_words(text, sizeof text, p->options, NULL);
    const char *model = strchr(p->model, '\n') ? "model.taut" : p->model;
    return p->methods[0] ? cli_format("taut compare %s%s --methods %s%s%s --tolerances 1e-6,1e-10",
                                      model, text, p->methods[0], p->methods[1] ? "," : "",
                                      p->methods[1] ? p->methods[1] : "")
                         : cli_format("taut project %s%s", model, text);
}

static int compare(recipe_work *k, const recipe_case *run, const problem *p, recipe_best *best)
{
    static const double tolerances[] = {1e-6, 1e-10};
    taut_comparison *comparison = NULL;
    taut_compared row;
    taut_compared_init(&row);
    taut_compare_request request = {.size = sizeof request,
                                    .methods = p->methods,
                                    .method_count = p->methods[1] ? 2 : 1,
                                    .values = tolerances,
                                    .value_count = 2,
                                    .tolerances = true};
    int status = taut_compare(run->system, run->options, &request, NULL, &comparison, &k->error);
    if (status == 0)
        best->explanation = cli_format("%s", taut_comparison_explanation(comparison, NULL));
    for (int i = 0; status == 0 && i < 2 * request.method_count; i++) {
        status = taut_comparison_get(comparison, i, &row, &k->error);
        if (status == 0 && row.message)
            status = recipe_fail(k, "%s: %s", row.method, row.message);
        if (status != 0)
            break;
        best->row[best->rows].name = cli_format("%s, tolerance %g", row.method, row.value);
        best->row[best->rows].error = fmax(row.error, row.uncertainty);
        best->row[best->rows].error_velocity = fmax(row.error_velocity, row.uncertainty_velocity);
        best->row[best->rows].evaluations = row.statistics.force_evaluations;
        best->row[best->rows++].steps = row.statistics.steps;
    }
    taut_comparison_destroy(comparison);
    return status;
}

static double most_apart(const double *a, const double *b, taut_index count)
{
    double most = a && b ? 0 : NAN;
    for (taut_index i = 0; a && b && i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static int project(recipe_work *k, const problem *p, recipe_best *best)
{
    recipe_case run, other = {0};
    taut_sizes sizes;
    taut_sizes_init(&sizes);
    int status = recipe_project(k, &run, p->model, p->set, p->options);
    if (status == 0)
        status = recipe_project(k, &other, p->model, p->set, p->judge);
    if (status == 0)
        status = taut_system_sizes_get(run.system, &sizes, &k->error);
    if (status == 0) {
        bool mechanical = sizes.kind == TAUT_MECHANICAL;
        best->explanation =
            cli_format("%s; the error is the difference from what another one finds (%s)",
                       run.result.explanation, p->judge);
        best->row[0].name = cli_format("%s", run.result.method);
        best->row[0].error = most_apart(run.result.q, other.result.q, sizes.coordinates);
        best->row[0].error_velocity =
            mechanical ? most_apart(run.result.v, other.result.v, sizes.coordinates) : NAN;
        best->row[0].evaluations = run.result.statistics.force_evaluations;
        best->row[0].steps = run.result.passes;
        best->rows = 1;
    }
    recipe_close(&other);
    recipe_close(&run);
    return status;
}

void recipe_best_run(recipe_work *k, const recipe_result *earlier, int count, recipe_result *result)
{
    recipe_best *best = &result->best;
    const problem *p = problems;
    while (strcmp(p->recipe, result->recipe->name) != 0)
        if (++p == problems + sizeof problems / sizeof *problems)
            return;
    best->command = command_of(p);
    best->model = strchr(p->model, '\n') ? p->model : NULL;
    for (int i = 0; best->command && i < count; i++)
        if (earlier[i].best.rows > 0 && strcmp(earlier[i].best.command, best->command) == 0) {
            best->same = earlier[i].recipe->name;
            return;
        }
    recipe_case run = {0};
    int status = p->methods[0] ? recipe_open(k, &run, p->model, p->set, p->options) : 0;
    if (status == 0)
        status = p->methods[0] ? compare(k, &run, p, best) : project(k, p, best);
    recipe_close(&run);
    if (status != 0)
        best->failure = cli_format("%s", k->error.message);
}

void recipe_best_clear(recipe_best *best)
{
    for (int i = 0; i < best->rows; i++)
        free(best->row[i].name);
    free(best->command);
    free(best->explanation);
    free(best->failure);
}
