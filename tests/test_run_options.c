/* test_run_options.c - options of a run: those without effect are reported, and [run] accepts those
 * whose row of the table says so. */
#include "support/pendulum.h"
#include "support/run.h"

/* Options that a run never reads are reported, of any kind; those it reads are not. */
static void test_unread(void)
{
    static const char spring[] = PENDULUM("stiffness 1e4", "x = 1"),
                      rod[] = PENDULUM("rigid", "x = 1");
    static const struct {
        const char *model, *options, *warnings; /* names, in the order of the table */
    } rows[] = {
        {spring, "until=0.1 motion=full method=dop8 newton=tensor", "newton"},
        {spring, "until=0.1 motion=slow method=radau5 newton=tensor", ""},
        {spring, "until=0.1 motion=full method=verlet max-step=1", "max-step"},
        {spring, "until=0.1 motion=full method=dop8 rtol=1e-8 atol=1e-9 max-step=1", ""},
        {spring, "until=0.1 motion=effective method=projected-impulse step=0.05 inner-step=1e-4",
         ""},
        {spring, "until=0.1 motion=effective method=effective inner-step=1e-4", "inner-step"},
        /* the start is judged by it */
        {spring, "until=0.1 motion=slow method=radau5 step=0.01 rtol=1e-8", ""},
        {rod, "until=0.1 method=dop8 stabilize-passes=3", ""},
        {rod, "until=0.1 method=dop8 stabilize-rate=3", "stabilize-rate"},
        {rod, "until=0.1 method=dop8 stabilize=baumgarte stabilize-rate=3 stabilize-passes=2",
         "stabilize-passes"},
        {rod, "until=0.1 method=rattle step=0.01 stabilize-passes=3", "stabilize-passes"},
        {rod, "until=0.1 method=dop8 every=0.01 steps=100 from=0 window=3", "window"},
        {PENDULUM("stiffness 1e4", "x = 1") "[run]\nnewton = tensor\nwindow = 3\n",
         "until=0.1 motion=full method=dop8", ""},
    };
    check_group("options without effect");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        char names[200] = "";
        for (int i = 0; d.solver && taut_solver_warning(d.solver, i); i++) {
            const char *text = taut_solver_warning(d.solver, i);
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%.*s", used ? " " : "",
                     (int)strcspn(text, " "), text);
        }
        if (driven_good(rows[k].options, &d))
            check_row(strcmp(names, rows[k].warnings) == 0, "%s: told '%s', expected '%s'",
                      rows[k].options, names, rows[k].warnings);
        driven_destroy(&d);
    }
}

/* A tolerance of the call is an error where the method cannot honour it, or where the step size is
 * fixed; that of [run] is for the
 * methods that can. */
static void test_tolerances(void)
{
#define HONOUR "cannot honour a tolerance"
#define CONTRADICT "a tolerance and a fixed step size contradict each other"
    static const char spring[] = PENDULUM("stiffness 1e4", "x = 1"),
                      rod[] = PENDULUM("rigid", "x = 1");
    static const struct {
        const char *model, *options, *option; /* NULL: a run can begin */
        const char *reason;
    } rows[] = {
        {spring, "until=0.1 motion=full method=verlet rtol=1e-8", "rtol", HONOUR},
        {spring, "until=0.1 motion=full method=verlet atol=1e-8", "atol", HONOUR},
        {spring, "until=0.1 motion=full method=verlet step=0.001 rtol=1e-8 atol=1e-9", "rtol",
         HONOUR},
        {spring, "until=0.1 motion=full step=0.001 rtol=1e-8", "rtol", CONTRADICT},
        {spring, "until=0.1 motion=full rtol=1e-8 atol=1e-9", NULL, NULL},
        {spring, "until=0.1 motion=full method=verlet", NULL, NULL},
        {spring, "until=0.1 motion=effective method=projected-impulse step=0.05 rtol=1e-8", "rtol",
         CONTRADICT},
        {spring, "until=0.1 motion=effective method=projected-impulse rtol=1e-3", NULL, NULL},
        {spring, "until=0.1 motion=effective method=effective rtol=1e-8", NULL, NULL},
        {spring, "until=0.1 motion=full method=rk4 step=1e-3 rtol=1e-8", "rtol", HONOUR},
        {rod, "until=0.1 method=rattle step=0.01 atol=1e-8", "atol", HONOUR},
        {rod, "until=0.1 method=dop8 atol=1e-8", NULL, NULL},
        {spring, "until=0.1 motion=full step=0.001 atol=1e-8", "atol", CONTRADICT},
        {spring, "until=0.1 motion=full method=dop8 step=0.001 rtol=1e-8", "rtol", CONTRADICT},
        {rod, "until=0.1 motion=rigid method=radau5 step=0.01 atol=1e-8", "atol", CONTRADICT},
        {PENDULUM("stiffness 1e4", "x = 1") "[run]\nmethod = dop8\nstep = 0.001\n",
         "until=0.1 motion=full rtol=1e-8", "rtol", "[run] of the model has a fixed step size"},
        {PENDULUM("stiffness 1e4", "x = 1") "[run]\nmethod = verlet\nstep = 0.001\n",
         "until=0.1 motion=full method=dop8 rtol=1e-8", NULL, NULL},
        {PENDULUM("stiffness 1e4", "x = 1") "[run]\nrtol = 1e-8\natol = 1e-9\n",
         "until=0.1 motion=full method=verlet", NULL, NULL},
    };
    check_group("tolerances");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        driven d = driven_create(rows[k].model, rows[k].options, NULL);
        check_row(d.code == (rows[k].option ? TAUT_ERROR_USAGE : 0), "%s: %s: %s", rows[k].options,
                  taut_code_name(d.code), d.error.message);
        if (rows[k].option) {
            check_row(strcmp(d.error.option, rows[k].option) == 0, "%s: option '%s'",
                      rows[k].options, d.error.option);
            check_contains(rows[k].options, d.error.message, rows[k].reason);
        }
        driven_destroy(&d);
    }
}

/* [run] takes every option whose row says so, and only those; a step from there is said to be
 * from there. */
static void test_run_section(void)
{
    int count;
    const taut_option *table = taut_option_table(&count);
    check_group("[run]");
    for (int k = 0; k < count; k++) {
        char text[200], value[40] = "1";
        if (table[k].type == TAUT_OPTION_CHOICE)
            snprintf(value, sizeof value, "%.*s", (int)strcspn(table[k].choices, "|"),
                     table[k].choices);
        else if (table[k].type == TAUT_OPTION_FLAG)
            snprintf(value, sizeof value, "yes");
        else if (table[k].type == TAUT_OPTION_TEXT)
            snprintf(value, sizeof value, "dop8");
        else if (table[k].least > 1)
            snprintf(value, sizeof value, "%g", table[k].least);
        snprintf(text, sizeof text, "[coordinates]\nx\n[run]\n%s = %s\n", table[k].name, value);
        taut_system *system = NULL;
        taut_error error;
        int status = taut_system_parse(text, strlen(text), "model.taut", NULL, &system, &error);
        check_row(table[k].in_model ? status == 0 : status == TAUT_ERROR_MODEL && error.line == 4,
                  "%s = %s: %s: %s", table[k].name, value, taut_code_name(status),
                  status ? error.message : "");
        taut_system_destroy(system);
    }
    driven d = driven_create(PENDULUM("stiffness 1e4", "x = 1") "[run]\nstep = 0.003\n",
                             "until=0.1 motion=full method=verlet", NULL);
    if (driven_good("step", &d))
        check_contains("explanation", taut_solver_explanation(d.solver), "step 0.003 (of [run])");
    driven_destroy(&d);
    d = driven_create(PENDULUM("stiffness 1e4", "x = 1") "[run]\nstep = 0.003\n",
                      "until=0.1 motion=full method=verlet step=0.004", NULL);
    if (driven_good("step", &d))
        check_row(!strstr(taut_solver_explanation(d.solver), "[run]"), "%s",
                  taut_solver_explanation(d.solver));
    driven_destroy(&d);
}

int main(void)
{
    test_unread();
    test_tolerances();
    test_run_section();
    return check_done();
}
