/* reproduce.h - what recipes work with. A recipe computes and never sees a printed number; reproduce.c sets the two side by side. */
#ifndef TAUT_CLI_REPRODUCE_H
#define TAUT_CLI_REPRODUCE_H

#include "cli.h"

enum { COOK_CURVES = 16, COOK_KEY = 64, COOK_COORDINATES = 8 };

typedef struct cook_entry {
    char key[COOK_KEY];
    double value;
} cook_entry;

typedef struct cook {
    const cli_call *call;
    cli_shipped models;
    cook_entry *entry;
    int entries;
    /* a picture: curve k has the points start[k] .. start[k+1]-1 */
    const char *labels[3];
    char name[COOK_CURVES][COOK_KEY];
    int start[COOK_CURVES + 1], curves;
    double *x, *y;
    bool logarithmic;
    taut_error error;
} cook;

typedef struct cook_recipe {
    const char *name, *source, *what;
    int (*compute)(cook *k); /* 0, or a library code with k->error set */
} cook_recipe;
extern const cook_recipe cook_recipes[]; /* ends with a NULL name (recipes.c) */

/* ---- for recipes (cook.c) */
int cook_note(cook *k, double value, const char *key, ...) __attribute__((format(printf, 3, 4)));
int cook_curve(cook *k, const char *name, ...) __attribute__((format(printf, 2, 3)));
int cook_point(cook *k, double x, double y); /* of the latest curve */
int cook_fail(cook *k, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cook_clear(cook *k);

/* A system and what is done with it. */
typedef struct cook_pot {
    taut_system *system;
    taut_options *options;
    taut_solver *solver;
    taut_projection *projection;
    taut_projection_result result;
} cook_pot;
/* A shipped model, or a text when it has a line break. `set` and `options` are words "name=value": parameters, or start values when
 * the word begins with "start:"; options. */
int cook_open(cook *k, cook_pot *pot, const char *model, const char *set, const char *options);
int cook_run(cook *k, cook_pot *pot, const char *model, const char *set, const char *options);     /* and a solver */
int cook_project(cook *k, cook_pot *pot, const char *model, const char *set, const char *options); /* and a projection */
void cook_close(cook_pot *pot);

/* ---- the recipes */
int cook_a_table_1(cook *k);
int cook_b_orders(cook *k);
int cook_c_table_3_1(cook *k);
int cook_c_slider_crank(cook *k);
int cook_d_michaelis_menten(cook *k);
int cook_d_five_dimensions(cook *k);
int cook_e_figure_3(cook *k);

/* Leaves the function with the status of `call` unless it is 0. */
#define COOK_TRY(call)                                                                                                             \
    do {                                                                                                                           \
        int status_ = (call);                                                                                                      \
        if (status_ != 0)                                                                                                          \
            return status_;                                                                                                        \
    } while (0)

#endif
