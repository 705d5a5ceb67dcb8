/* recipe.c - the table of recipes, and what they share: entries and curves that grow, models
 * with options in one line. A recipe does what a user could do with the program: options in
 * words, results read from the library. It does not read printed numbers. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/reproduce.h"

const recipe_row recipe_table[] = {
    {"a-table-1",
     "G. Ariel, J. M. Sanz-Serna, R. Tsai: A multiscale technique for finding slow manifolds of "
     "stiff mechanical systems, Multiscale Model. Simul. 10 (2012), table 1, (33)-(36) and section "
     "5.4",
     "iterated projection onto the slow manifold of the stiff double pendulum", recipe_a_table_1},
    {"a-figure-2",
     "G. Ariel, J. M. Sanz-Serna, R. Tsai: A multiscale technique for finding slow manifolds of "
     "stiff mechanical systems, Multiscale Model. Simul. 10 (2012), section 6.1, figure 2; "
     "its numbers are from an independent computation",
     "slow solutions approximated by RATTLE", recipe_a_figure_2},
    {"a-figure-3",
     "G. Ariel, J. M. Sanz-Serna, R. Tsai: A multiscale technique for finding slow manifolds of "
     "stiff mechanical systems, Multiscale Model. Simul. 10 (2012), section 6.2, figure 3; "
     "its numbers are from an independent computation",
     "the stiff system by Adams methods from the constraint manifold", recipe_a_figure_3},
    {"a-figure-4",
     "G. Ariel, J. M. Sanz-Serna, R. Tsai: A multiscale technique for finding slow manifolds of "
     "stiff mechanical systems, Multiscale Model. Simul. 10 (2012), section 6.3, figure 4; "
     "its numbers are from an independent computation",
     "the stiff system by Adams methods from the slow manifold", recipe_a_figure_4},
    {"a-figure-5",
     "G. Ariel, J. M. Sanz-Serna, R. Tsai: A multiscale technique for finding slow manifolds of "
     "stiff mechanical systems, Multiscale Model. Simul. 10 (2012), section 6.4, figure 5; "
     "its numbers are from an independent computation",
     "Adams methods with projection at t = 1, 2, ..., 9", recipe_a_figure_5},
    {"a-figure-6",
     "G. Ariel, J. M. Sanz-Serna, R. Tsai: A multiscale technique for finding slow manifolds of "
     "stiff mechanical systems, Multiscale Model. Simul. 10 (2012), section 6.5, figure 6; "
     "its numbers are from an independent computation",
     "RK4 with projection at every stage, (38)", recipe_a_figure_6},
    {"b-orders",
     "C. Lubich: Integration of stiff mechanical systems by Runge-Kutta methods (1992), theorems "
     "3.1 and 4.1: 2s-1 in y, s in y' and s-1 in lambda for Radau IIA with s stages, for every "
     "stiffness",
     "observed orders of Radau IIA for the stiff and the rigid pendulum", recipe_b_orders},
    {"b-methods",
     "C. Lubich: Integration of stiff mechanical systems by Runge-Kutta methods (1992), theorems "
     "3.1 and 4.1 for Lobatto IIIC, SDIRK, ESDIRK and, outside of their assumptions, Gauss methods",
     "observed orders of implicit methods in y, y' and lambda", recipe_b_methods},
    {"b-damping",
     "C. Lubich: Integration of stiff mechanical systems by Runge-Kutta methods (1992), theorem "
     "3.2; |R(i h/eps)| of the stability functions, in closed form",
     "what a step leaves of an oscillation, and states off the slow manifold", recipe_b_damping},
    {"b-expansion",
     "C. Lubich: Integration of stiff mechanical systems by Runge-Kutta methods (1992), theorems "
     "4.2 and 6.1: the numerical solution has an expansion in eps^2, whose coefficients solve "
     "(2.25) "
     "with orders q - 2k at least; y^1, y^2 from solutions in 20 digits",
     "expansion in eps^2 of the numerical solution", recipe_b_expansion},
    {"b-damped",
     "E. Hairer, C. Lubich, M. Roche: The numerical solution of differential-algebraic systems by "
     "Runge-Kutta methods (1989), table 2.3, for strongly damped bonds, of which Lubich 1992 has "
     "no "
     "orders",
     "observed orders for strongly damped bonds, whose limit is of index 2", recipe_b_damped},
    {"b-newton",
     "C. Lubich: Integration of stiff mechanical systems by Runge-Kutta methods (1992), "
     "(8.1)-(8.8), "
     "lemmas 8.1 and 8.2; iterations are from an independent computation",
     "iterations with and without multipliers: steps of eps^(2/3) and eps^(1/2), or any",
     recipe_b_newton},
    {"b-outer",
     "C. Lubich: Integration of stiff mechanical systems by Runge-Kutta methods (1992), lemma 8.2: "
     "errors of the outer iteration (8.5)-(8.7) are O(eps^2 h^2k), eps <= c h",
     "outer iterations of a step for a stiff potential that is not written as bonds",
     recipe_b_outer},
    {"c-table-1-1",
     "U. M. Ascher, H. Qin, S. Reich: Stabilization of DAEs and invariant manifolds (1992), "
     "example 1, table 1.1 and figure 1.1",
     "Baumgarte's term and two others, with backward Euler, in example 1", recipe_c_table_1_1},
    {"c-example-2",
     "U. M. Ascher, H. Qin, S. Reich: Stabilization of DAEs and invariant manifolds (1992), "
     "example 2 and its continuation (3.8); alpha = 0 and 1 are printed, the others follow from "
     "the recursions (3.4), (3.7) and (3.9)",
     "deviation from an invariant manifold with forward and backward stabilisation",
     recipe_c_example_2},
    {"c-theorems",
     "U. M. Ascher, H. Qin, S. Reich: Stabilization of DAEs and invariant manifolds (1992), "
     "theorems 3.1 to 3.3: the order p of the method is kept, the drift has order p + 1, in (3.7) "
     "it decreases as 1/alpha",
     "orders of errors and drift of six methods, stabilised, in Kepler's problem",
     recipe_c_theorems},
    {"c-table-3-1",
     "U. M. Ascher, H. Qin, S. Reich: Stabilization of DAEs and invariant manifolds (1992), table "
     "3.1",
     "Kepler's problem with and without stabilised energy", recipe_c_table_3_1},
    {"c-slider-crank",
     "U. M. Ascher, H. Qin, S. Reich: Stabilization of DAEs and invariant manifolds (1992), "
     "example 4, figures 4.2 to 4.13; the figures have no numbers: drifts and the state at t = 1 "
     "are from an independent computation in 30 digits",
     "slider crank with Adams-Bashforth and four stabilisations", recipe_c_slider_crank},
    {"d-michaelis-menten",
     "C. W. Gear, T. J. Kaper, I. G. Kevrekidis, A. Zagaris: Projecting to a slow manifold, SIAM "
     "J. Appl. Dyn. Syst. 4 (2005), section 4.1, figures 2, 3, 5; errors and iterations of the "
     "figures are from an independent computation",
     "slow points of Michaelis-Menten kinetics by vanishing differences",
     recipe_d_michaelis_menten},
    {"d-five-dimensions",
     "C. W. Gear, T. J. Kaper, I. G. Kevrekidis, A. Zagaris: Projecting to a slow manifold, SIAM "
     "J. Appl. Dyn. Syst. 4 (2005), section 4.3, figure 6; residuals of the figure are from an "
     "independent computation",
     "slow points of five mixed variables by vanishing differences", recipe_d_five_dimensions},
    {"d-hydrogen-oxygen",
     "C. W. Gear, T. J. Kaper, I. G. Kevrekidis, A. Zagaris: Projecting to a slow manifold, SIAM "
     "J. Appl. Dyn. Syst. 4 (2005), introduction, section 4.2, tables 2 to 5",
     "integrating down to a slow manifold, and hydrogen-oxygen reactions on it",
     recipe_d_hydrogen_oxygen},
    {"e-figure-1",
     "C. Lubich, D. Weiss: Numerical integrators for motion under a strong constraining force, "
     "figure 1; the figures have no numbers: they are from an independent computation, with the "
     "fits "
     "0.064 h^2 + 1.8 eps in x and 0.079 h^2 + 2.5 eps in P y",
     "the impulse method, which does not converge uniformly", recipe_e_figure_1},
    {"e-figure-3",
     "C. Lubich, D. Weiss: Numerical integrators for motion under a strong constraining force, "
     "figures 2 and 3; the figures have no numbers: they are from an independent computation, with "
     "the fits "
     "0.064 h^2 + 1.8 eps in x and 0.079 h^2 + 2.5 eps in P y",
     "projected and mollified impulse methods against the effective motion", recipe_e_figure_3},
    {"e-figure-4",
     "C. Lubich, D. Weiss: Numerical integrators for motion under a strong constraining force, "
     "figure 4; the figures have no numbers: they are from an independent computation, with the "
     "fits "
     "0.064 h^2 + 1.8 eps in x and 0.079 h^2 + 2.5 eps in P y",
     "the impulse method in transformed variables against the effective motion", recipe_e_figure_4},
    {NULL, NULL, NULL, NULL},
};

int recipe_fail(recipe_work *k, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    k->error = (taut_error){.code = TAUT_ERROR_USAGE, .t = NAN};
    vsnprintf(k->error.message, sizeof k->error.message, format, list);
    va_end(list);
    return TAUT_ERROR_USAGE;
}

int recipe_note(recipe_work *k, double value, const char *key, ...)
{
    recipe_entry *larger = realloc(k->entry, ((size_t)k->entries + 1) * sizeof *larger);
    if (!larger)
        return recipe_fail(k, "out of memory");
    k->entry = larger;
    recipe_entry *entry = &larger[k->entries++];
    va_list list;
    va_start(list, key);
    vsnprintf(entry->key, sizeof entry->key, key, list);
    va_end(list);
    entry->value = value;
    return 0;
}

int recipe_curve(recipe_work *k, const char *name, ...)
{
    if (k->curves == RECIPE_CURVES)
        return recipe_fail(k, "more than %d curves", RECIPE_CURVES);
    va_list list;
    va_start(list, name);
    vsnprintf(k->name[k->curves], RECIPE_KEY, name, list);
    va_end(list);
    k->curves++;
    k->start[k->curves] = k->start[k->curves - 1];
    return 0;
}

int recipe_point(recipe_work *k, double x, double y)
{
    int place = k->start[k->curves];
    double *xs = realloc(k->x, ((size_t)place + 1) * sizeof *xs);
    if (xs)
        k->x = xs;
    double *ys = realloc(k->y, ((size_t)place + 1) * sizeof *ys);
    if (ys)
        k->y = ys;
    if (!xs || !ys)
        return recipe_fail(k, "out of memory");
    xs[place] = x;
    ys[place] = y;
    k->start[k->curves]++;
    return 0;
}

int recipe_picture(recipe_work *k, const char *name, const char *title, const char *x,
                   const char *y)
{
    if (k->pictures == RECIPE_PICTURES)
        return recipe_fail(k, "more than %d pictures", RECIPE_PICTURES);
    k->picture[k->pictures].name = name;
    k->picture[k->pictures].labels[0] = title;
    k->picture[k->pictures].labels[1] = x;
    k->picture[k->pictures].labels[2] = y;
    k->picture[k->pictures++].first = k->curves;
    return 0;
}

void recipe_clear(recipe_work *k)
{
    free(k->entry);
    free(k->x);
    free(k->y);
    *k = (recipe_work){.call = k->call, .models = k->models, .error = {.t = NAN}};
}

/* Cuts words apart in place; returns how many, -1 when there are more than fit. */
static int cut_words(char *text, const char **word, int most)
{
    int count = 0;
    for (char *p = text; *p;) {
        size_t length = strcspn(p, " ");
        char *next = p + length + (p[length] == ' ');
        p[length] = '\0';
        if (count == most)
            return -1;
        word[count++] = p;
        p = next;
    }
    return count;
}

static int load(recipe_work *k, recipe_case *run, const char *model, const char *set)
{
    enum { MOST = 8 };
    char text[200];
    static const char start[] = "start:";
    const char *word[MOST], *init[MOST];
    snprintf(text, sizeof text, "%s", set);
    int count = cut_words(text, word, MOST), parameters = 0, starts = 0;
    bool compile = false;
    for (int i = 0; i < count; i++)
        if (strcmp(word[i], "compile") == 0)
            compile = true;
        else if (strncmp(word[i], start, sizeof start - 1) == 0)
            init[starts++] = word[i] + sizeof start - 1;
        else
            word[parameters++] = word[i];
    taut_load how = {.size = sizeof how,
                     .set = word,
                     .set_count = parameters,
                     .init = init,
                     .init_count = starts,
                     .compile = compile};
    if (strchr(model, '\n'))
        return taut_system_parse(model, strlen(model), "recipe", &how, &run->system, &k->error);
    for (int i = 0; i < k->models.count; i++)
        if (strcmp(k->models.name[i], model) == 0)
            return taut_system_load(k->models.path[i], &how, &run->system, &k->error);
    return recipe_fail(k, "the shipped model '%s' is missing; set TAUT_MODELS to its folder",
                       model);
}

static int set_options(recipe_work *k, recipe_case *run, const char *options)
{
    enum { MOST = 16 };
    char text[400], name[40];
    const char *word[MOST];
    snprintf(text, sizeof text, "%s", options);
    int count = cut_words(text, word, MOST);
    for (int i = 0; i < count; i++) {
        const char *equals = strchr(word[i], '=');
        if (!equals)
            return recipe_fail(k, "a recipe has the option '%s' without a value", word[i]);
        snprintf(name, sizeof name, "%.*s", (int)(equals - word[i]), word[i]);
        RECIPE_TRY(taut_options_set(run->options, name, equals + 1, &k->error));
    }
    return count < 0 ? recipe_fail(k, "a recipe has too many options") : 0;
}

int recipe_open(recipe_work *k, recipe_case *run, const char *model, const char *set,
                const char *options)
{
    *run = (recipe_case){0};
    RECIPE_TRY(load(k, run, model, set));
    RECIPE_TRY(taut_options_create(NULL, &run->options, &k->error));
    return set_options(k, run, options);
}

int recipe_run(recipe_work *k, recipe_case *run, const char *model, const char *set,
               const char *options)
{
    RECIPE_TRY(recipe_open(k, run, model, set, options));
    return taut_solver_create(run->system, run->options, NULL, &run->solver, &k->error);
}

int recipe_project(recipe_work *k, recipe_case *run, const char *model, const char *set,
                   const char *options)
{
    RECIPE_TRY(recipe_open(k, run, model, set, options));
    RECIPE_TRY(taut_project(run->system, run->options, NULL, &run->projection, &k->error));
    taut_projection_result_init(&run->result);
    taut_projection_result_get(run->projection, &run->result, NULL);
    return 0;
}

void recipe_close(recipe_case *run)
{
    taut_solver_destroy(run->solver);
    taut_projection_destroy(run->projection);
    taut_options_destroy(run->options);
    taut_system_destroy(run->system);
    *run = (recipe_case){0};
}
