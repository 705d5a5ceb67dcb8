/* paper_a_motion.c - Ariel, Sanz-Serna, Tsai, section 6: slow solutions of the stiff double
 * pendulum until t = 10 by five techniques, figures 2 to 6. Errors are Euclidean norms in q and p
 * at the end against the full motion, every oscillation resolved by dop8 with fixed steps, from the
 * slow point that the same projection finds over (31)-(32). Each picture also has the best of Taut:
 * the explicit slow field with dop8. */
#include <math.h>
#include <string.h>

#include "reproduce/reproduce.h"

typedef struct end {
    double q[4], v[4];
    double evaluations;
} end;

static int move(recipe_work *k, int omega, const char *options, end *e)
{
    recipe_case run;
    char set[40], all[300];
    taut_result result;
    taut_result_init(&result);
    snprintf(set, sizeof set, "omega=%d lift=0", omega);
    snprintf(all, sizeof all, "until=10 every=10 verify=never %s", options);
    int status = recipe_run(k, &run, "double_pendulum", set, all);
    if (status == 0)
        status = taut_solver_advance(run.solver, 10, &k->error);
    if (status == 0)
        status = taut_solver_result_get(run.solver, &result, &k->error);
    for (int i = 0; i < 4 && status == 0; i++) {
        e->q[i] = taut_solver_position(run.solver)[i];
        e->v[i] = taut_solver_velocity(run.solver)[i];
    }
    e->evaluations = (double)result.statistics.force_evaluations;
    recipe_close(&run);
    return status;
}

static double apart(const double *a, const double *b)
{
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), hypot(a[2] - b[2], a[3] - b[3]));
}

/* Full motion with fixed steps that resolve every oscillation. */
static int resolve(recipe_work *k, int omega, const char *options, end *e)
{
    char all[200];
    snprintf(all, sizeof all, "motion=full method=dop8 step=%g %s", 0.5 / omega, options);
    return move(k, omega, all, e);
}

static int note_error(recipe_work *k, const end *e, const end *exact, const char *what)
{
    RECIPE_TRY(recipe_note(k, apart(e->q, exact->q), "%s, q", what));
    return recipe_note(k, apart(e->v, exact->v), "%s, p", what);
}

enum { MOST = 8 };

/* Runs that differ in a step size or a tolerance: two curves, q and p, over the evaluations. */
typedef struct sweep {
    const char *options; /* with one %s for the value */
    const char *value[MOST];
} sweep;

static int draw_sweep(recipe_work *k, int omega, const sweep *s, const end *exact, const char *name,
                      end at[MOST])
{
    int count = 0;
    for (; count < MOST && s->value[count]; count++) {
        char options[200];
        snprintf(options, sizeof options, s->options, s->value[count]);
        RECIPE_TRY(move(k, omega, options, &at[count]));
    }
    for (int part = 0; part < 2; part++) {
        RECIPE_TRY(recipe_curve(k, "%s, %s", name, part ? "p" : "q"));
        for (int j = 0; j < count; j++)
            RECIPE_TRY(recipe_point(k, at[j].evaluations,
                                    part ? apart(at[j].v, exact->v) : apart(at[j].q, exact->q)));
    }
    return 0;
}

static int draw_best(recipe_work *k)
{
    static const sweep best = {"motion=slow method=dop8 rtol=%s",
                               {"1e-4", "1e-6", "1e-8", "1e-10"}};
    end exact, at[MOST];
    RECIPE_TRY(resolve(k, 10000, "project=start projection=series", &exact));
    return draw_sweep(k, 10000, &best, &exact, "slow field, dop8, omega = 10000", at);
}

static void label(recipe_work *k, const char *title)
{
    k->labels[0] = title;
    k->labels[1] = "force evaluations";
    k->labels[2] = "error at t = 10";
    k->logarithmic = true;
}

static int open_omega(recipe_work *k, int omega, char *name, size_t size, end *exact)
{
    snprintf(name, size, "omega = %d", omega);
    return resolve(k, omega, "project=start projection=ipa", exact);
}

/* ---- figure 2: the constrained solution by RATTLE */

int recipe_a_figure_2(recipe_work *k)
{
    static const sweep steps = {
        "motion=rigid method=rattle step=%s",
        {"0.125", "0.0625", "0.03125", "0.015625", "0.0009765625", "0.0001220703125"}};
    char name[RECIPE_KEY];
    end exact, at[MOST];
    label(k, "RATTLE");
    for (int omega = 100; omega <= 10000; omega *= 10) {
        RECIPE_TRY(open_omega(k, omega, name, sizeof name, &exact));
        RECIPE_TRY(draw_sweep(k, omega, &steps, &exact, name, at));
        snprintf(name, sizeof name, "omega %d, H = 1/8192", omega);
        RECIPE_TRY(note_error(k, &at[5], &exact, name));
    }
    for (int j = 0; j < 4; j++) {
        snprintf(name, sizeof name, "omega 10000, H = 1/%d", 8 << j);
        RECIPE_TRY(note_error(k, &at[j], &exact, name));
    }
    return draw_best(k);
}

/* ---- figures 3 to 5: Adams on the stiff system */

/* At omega = 10000 every oscillation has to be followed with rounding near the tolerance. */
static const char *const tolerances[2][MOST] = {{"1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8"},
                                                {"1e-3", "1e-4"}};

static int draw_adams(recipe_work *k, const char *project, end *tight)
{
    char name[RECIPE_KEY], options[200];
    for (int j = 0, omega = 100; j < 3; j++, omega *= 10) {
        end exact, limit, at[MOST];
        sweep s = {.options = options};
        snprintf(options, sizeof options, "motion=full method=adams rtol=%%s %s", project);
        for (int i = 0; i < MOST; i++)
            s.value[i] = tolerances[omega == 10000][i];
        RECIPE_TRY(open_omega(k, omega, name, sizeof name, &exact));
        RECIPE_TRY(draw_sweep(k, omega, &s, &exact, name, at));
        if (omega < 1000)
            continue;
        if (omega == 1000) {
            *tight = at[5];
            RECIPE_TRY(note_error(k, &at[5], &exact, "omega 1000, rtol 1e-8"));
        }
        /* what smaller tolerances would lead to */
        RECIPE_TRY(resolve(k, omega, project, &limit));
        snprintf(name, sizeof name, "omega %d, limit", omega);
        RECIPE_TRY(note_error(k, &limit, &exact, name));
    }
    return draw_best(k);
}

int recipe_a_figure_3(recipe_work *k)
{
    end tight;
    label(k, "Adams from the constraint manifold");
    return draw_adams(k, "", &tight);
}

int recipe_a_figure_4(recipe_work *k)
{
    end tight;
    label(k, "Adams from the slow manifold");
    RECIPE_TRY(draw_adams(k, "project=start projection=ipa", &tight));
    for (int i = 0; i < 4; i++) {
        RECIPE_TRY(recipe_note(k, tight.q[i], "reference, q%d", i + 1));
        RECIPE_TRY(recipe_note(k, tight.v[i], "reference, p%d", i + 1));
    }
    return 0;
}

int recipe_a_figure_5(recipe_work *k)
{
    end tight;
    label(k, "Adams, projected at t = 1, 2, ..., 9");
    return draw_adams(k, "project=every=1 projection=ipa", &tight);
}

/* ---- figure 6: the classical Runge-Kutta method, projected at every stage, (38) */

static const sweep stages[] = {
    {"method=rk4 project=stage projection=ipa step=%s",
     {"0.5", "0.25", "0.125", "0.0625", "0.03125", "0.015625"}},
    {"method=rk4 project=stage projection=kernel step=%s",
     {"0.5", "0.25", "0.125", "0.0625", "0.03125", "0.015625"}},
    {"method=rk4 project=stage projection=series step=%s",
     {"0.5", "0.25", "0.125", "0.0625", "0.03125", "0.015625"}},
};

static int note_order(recipe_work *k, const char *name, int omega, const end *exact, const end *at)
{
    double error[2] = {apart(at[2].q, exact->q), apart(at[3].q, exact->q)};
    RECIPE_TRY(recipe_note(k, log2(error[0] / error[1]), "%s, omega %d, order", name, omega));
    return omega == 100
               ? 0
               : recipe_note(k, apart(at[5].q, exact->q), "%s, omega %d, H = 1/64, q", name, omega);
}

static int note_paper(recipe_work *k, int omega, const end *exact, const end *at)
{
    for (int j = 0; j < 6 && omega == 10000; j++) {
        RECIPE_TRY(recipe_note(k, at[j].evaluations, "H = 1/%d, evaluations", 2 << j));
        RECIPE_TRY(recipe_note(k, apart(at[j].q, exact->q), "H = 1/%d, q", 2 << j));
    }
    return omega == 1000 ? recipe_note(k, apart(at[3].q, exact->q), "omega 1000, H = 1/16, q") : 0;
}

static int draw_stages(recipe_work *k, int j, const char *projection, int omega)
{
    char name[RECIPE_KEY];
    end exact, at[MOST];
    sweep s = stages[j];
    bool paper = j == 0;
    RECIPE_TRY(paper ? open_omega(k, omega, name, sizeof name, &exact)
                     : resolve(k, omega, "project=start projection=series", &exact));
    snprintf(name, sizeof name, "%s, omega = %d", projection, omega);
    if (paper && omega == 100) /* the passes do not converge with H = 1/2 */
        memmove(s.value, s.value + 1, sizeof s.value - sizeof s.value[0]);
    if (!paper && omega == 100)
        s.value[5] = NULL; /* the error of the filter, not of the method */
    RECIPE_TRY(draw_sweep(k, omega, &s, &exact, name, at));
    return paper ? note_paper(k, omega, &exact, at) : note_order(k, projection, omega, &exact, at);
}

int recipe_a_figure_6(recipe_work *k)
{
    static const char *const names[] = {"ipa", "kernel", "series"};
    label(k, "RK4, projected at every stage");
    for (int j = 0; j < 3; j++)
        for (int omega = 100; omega <= 10000; omega *= 10)
            RECIPE_TRY(draw_stages(k, j, names[j], omega));
    return draw_best(k);
}
