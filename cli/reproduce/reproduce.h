/* reproduce.h - what recipes work with. A recipe computes and never sees a printed number;
 * printed.c sets the two side by side, reproduce.c and book.c write them. */
#ifndef TAUT_CLI_REPRODUCE_H
#define TAUT_CLI_REPRODUCE_H

#include "cli.h"

enum { RECIPE_CURVES = 32, RECIPE_PICTURES = 12, RECIPE_KEY = 64, RECIPE_COORDINATES = 8 };
enum { RECIPE_FIELDS = 4 }; /* of a line of reproduce/: key, printed, accept, note */

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

/* ---- results (printed.c) */
typedef enum recipe_verdict {
    RECIPE_EQUAL,
    RECIPE_WITHIN,
    RECIPE_EXPLAINED,
    RECIPE_UNEXPLAINED,
    RECIPE_VERDICTS
} recipe_verdict;
extern const char *const recipe_verdict_names[RECIPE_VERDICTS];

typedef struct recipe_number {
    char *field[RECIPE_FIELDS]; /* into the text of the file */
    double ours;                /* NaN when the recipe has no such key */
    int digits;                 /* that are worth printing of it */
    recipe_verdict verdict;
    bool found;
} recipe_number;

/* What the best method of Taut does on the same problem (best.c). */
typedef struct recipe_best {
    char *command, *explanation, *failure; /* failure: NULL, or why there are no rows */
    const char *model;                     /* the text of model.taut, or NULL */
    const char *same;                      /* the recipe that has these rows already, or NULL */
    struct {
        char *name;
        double error, error_velocity; /* NaN: not measured */
        int64_t evaluations, steps;
    } row[4];
    int rows;
} recipe_best;

typedef struct recipe_result {
    const recipe_row *recipe;
    char *text, *notes;  /* of the file of printed numbers; its comments */
    const char *heading; /* what they are: printed, computed, ... */
    recipe_number *number;
    int count, counts[RECIPE_VERDICTS];
    char *failure; /* NULL, or why it could not be computed */
    struct {
        char *path, *title;
    } picture[RECIPE_PICTURES];
    int pictures;
    recipe_best best;
} recipe_result;

/* Cuts a line at its bars; missing fields are empty. */
void recipe_cut(char *line, char *field[RECIPE_FIELDS]);
/* The next line without blanks around it, NULL: none. Changes the text. */
char *recipe_line(char **text);
/* The text of FOLDER/NAME.txt, allocated; NULL after a message. */
char *recipe_file(const cli_call *call, const char *folder, const char *name);
/* Reads the printed numbers of r->recipe: 0, or an exit status after a message. */
int recipe_printed(recipe_result *r, const cli_call *call, const char *folder);
void recipe_judge(recipe_result *r, const recipe_work *work);
const char *recipe_number_note(const recipe_number *x); /* "" for none */
void recipe_result_clear(recipe_result *r);

/* Every table and figure of the papers, with its state (list.c). Returns an exit status. */
int recipe_list(const cli_call *call);
typedef struct recipe_item {
    char *field[RECIPE_FIELDS]; /* paper, what, recipe or "-", note */
    const char *state;
} recipe_item;
/* The next line of list.txt. */
bool recipe_item_next(char **text, recipe_item *item);

/* Runs the best method on the problem of result->recipe, unless an earlier result has it; a failure
 * is a text in it. */
void recipe_best_run(recipe_work *k, const recipe_result *earlier, int count,
                     recipe_result *result);
void recipe_best_clear(recipe_best *best);

/* All results on one page that needs nothing else (book.c); 0, or an exit status after a message.
 */
int recipe_book_write(const cli_call *call, const char *path, const char *folder,
                      const recipe_result *results, int count);
extern const unsigned char recipe_book_head[], recipe_book_tail[];
extern const size_t recipe_book_head_size, recipe_book_tail_size;

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

/* ---- the recipes, and models of theirs that others use too */
extern const char recipe_b_damped_model[], recipe_b_ellipse_model[], recipe_c_example_2_model[],
    recipe_d_table_3[];
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
