/* reproduce.h - what recipes work with. A recipe computes and never sees a printed number;
 * reproduce.c sets the two side by side. */
#ifndef TAUT_CLI_REPRODUCE_H
#define TAUT_CLI_REPRODUCE_H

#include "cli.h"

enum { RECIPE_CURVES = 32, RECIPE_PICTURES = 12, RECIPE_KEY = 64, RECIPE_COORDINATES = 8 };

typedef struct recipe_entry {
    char key[RECIPE_KEY];
    double value;
} recipe_entry;

typedef struct recipe_work {
    const cli_call *call;
    cli_shipped models;
    recipe_entry *entry;
    int entries;
    /* a picture: curve k has the points start[k] .. start[k+1]-1 */
    const char *labels[3];
    char name[RECIPE_CURVES][RECIPE_KEY];
    int start[RECIPE_CURVES + 1], curves;
    double *x, *y;
    bool logarithmic;
    /* several pictures: each has the curves from `first` on; 0: one of all curves */
    struct {
        const char *name, *labels[3];
        int first;
    } picture[RECIPE_PICTURES];
    int pictures;
    taut_error error;
} recipe_work;

typedef struct recipe_row {
    const char *name, *source, *what;
    int (*compute)(recipe_work *k); /* 0, or a library code with k->error set */
} recipe_row;
extern const recipe_row recipe_table[]; /* ends with a NULL name (recipe.c) */

/* Every table and figure of the papers, with its state (list.c). Returns an exit status. */
int recipe_list(const cli_call *call);

/* ---- for recipes (recipe.c) */
int recipe_note(recipe_work *k, double value, const char *key, ...)
    __attribute__((format(printf, 3, 4)));
int recipe_curve(recipe_work *k, const char *name, ...) __attribute__((format(printf, 2, 3)));
int recipe_point(recipe_work *k, double x, double y); /* of the latest curve */
/* The curves that follow are in a picture of their own, RECIPE-name.png. */
int recipe_picture(recipe_work *k, const char *name, const char *title, const char *x,
                   const char *y);
int recipe_fail(recipe_work *k, const char *format, ...) __attribute__((format(printf, 2, 3)));
void recipe_clear(recipe_work *k);

/* A system and what is done with it. */
typedef struct recipe_case {
    taut_system *system;
    taut_options *options;
    taut_solver *solver;
    taut_projection *projection;
    taut_projection_result result;
} recipe_case;
/* A shipped model, or a text when it has a line break. `set` and `options` are words
 * "name=value": parameters, or initial values when the word begins with "start:"; options. */
int recipe_open(recipe_work *k, recipe_case *run, const char *model, const char *set,
                const char *options);
/* and a solver */
int recipe_run(recipe_work *k, recipe_case *run, const char *model, const char *set,
               const char *options);
int recipe_project(recipe_work *k, recipe_case *run, const char *model, const char *set,
                   const char *options); /* and a projection */
void recipe_close(recipe_case *run);

/* ---- the recipes */
int recipe_a_table_1(recipe_work *k);
int recipe_a_figure_2(recipe_work *k);
int recipe_a_figure_3(recipe_work *k);
int recipe_a_figure_4(recipe_work *k);
int recipe_a_figure_5(recipe_work *k);
int recipe_a_figure_6(recipe_work *k);
int recipe_b_orders(recipe_work *k);
int recipe_b_methods(recipe_work *k);
int recipe_b_damping(recipe_work *k);
int recipe_b_damped(recipe_work *k);
int recipe_b_expansion(recipe_work *k);
int recipe_b_newton(recipe_work *k);
int recipe_b_outer(recipe_work *k);
int recipe_c_table_1_1(recipe_work *k);
int recipe_c_example_2(recipe_work *k);
int recipe_c_theorems(recipe_work *k);
int recipe_c_table_3_1(recipe_work *k);
int recipe_c_slider_crank(recipe_work *k);
int recipe_d_michaelis_menten(recipe_work *k);
int recipe_d_five_dimensions(recipe_work *k);
int recipe_d_hydrogen_oxygen(recipe_work *k);
int recipe_e_figure_1(recipe_work *k);
int recipe_e_figure_3(recipe_work *k);
int recipe_e_figure_4(recipe_work *k);

/* Leaves the function with the status of `call` unless it is 0. */
#define RECIPE_TRY(call)                                                                           \
    do {                                                                                           \
        int status_ = (call);                                                                      \
        if (status_ != 0)                                                                          \
            return status_;                                                                        \
    } while (0)

#endif
