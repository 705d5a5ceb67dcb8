/* analysis.h - everyday calls that ask about a system or many runs of it: projecting, comparing,
 * sweeping, checking, and about runs that are in files or on pages. <taut/taut.h> includes it. */
#ifndef TAUT_ANALYSIS_H
#define TAUT_ANALYSIS_H

#include <taut/taut.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- projecting */

/* One row of the table of projections, for people. */
typedef struct taut_projection_info {
    size_t size;
    const char *name, *summary, *reference;
    unsigned needs, refuses; /* TAUT_CAN_ bits, TAUT_HAS_ bits */
} taut_projection_info;
TAUT_API int taut_projection_count(void);
TAUT_API int taut_projection_get(int k, taut_projection_info *info, taut_error *error);

typedef struct taut_projection taut_projection; /* a projected state and how it was found */
/* What came out. Texts and arrays belong to the projection. "Normal" is the change of the
 * distance to the foot point, "tangential" the distance between the foot points before and after
 * (Euclidean norms; NaN when a foot point does not exist). */
typedef struct taut_projection_result {
    size_t size;
    int status; /* TAUT_OK, or TAUT_ERROR_CONVERGE: then the state is that of the start */
    double t;
    const char *method, *explanation;
    /* [n], [n], [m]; first order: the state, the algebraic variables */
    const double *q, *v, *lambda;
    /* [n]: slow part of the force of a stiff potential; NULL when there is none, or it is not
     * known */
    const double *stiff_force;
    const double *start_q, *start_v;
    int64_t passes;
    double moved_normal, moved_tangential, moved_normal_velocity, moved_tangential_velocity;
    taut_statistics statistics;
    /* Projection difference: |Jv|/|v| at the result, v its rate of change, J dv/dz, seen over steps
     * of ratio_time; what the fastest rate has left in v. ratio_bound: it is at most this, what is
     * left is noise. noise: standard deviation of the flow. NaN elsewhere. */
    double ratio, ratio_time, noise;
    bool ratio_bound;
} taut_projection_result;
/* Projects the start of `system` onto the slow manifold of its springs or its flow, or onto its
 * rigid bonds. Options read: method, from, hold, richardson, expansion, omega, window,
 * micro-steps, passes, tolerance, order, horizon, iterate; all but method, hold and expansion
 * may stand in [run]. When it does not converge (TAUT_ERROR_CONVERGE) the result is made all the
 * same, with its passes; after other errors it is NULL. */
TAUT_API int taut_project(const taut_system *system, const taut_options *options,
                          const taut_allocator *allocator, taut_projection **projection,
                          taut_error *error);
TAUT_API void taut_projection_destroy(taut_projection *projection);
/* The system of the result, for names and sizes. Of a projection over several processes all of them
 * make this call before the result is read: then the first one has the whole result, the others
 * what is theirs. It belongs to the projection, or is that of taut_project. */
TAUT_API int taut_projection_gather(taut_projection *projection, const taut_system **system,
                                    taut_error *error);
TAUT_API int taut_projection_result_get(const taut_projection *projection,
                                        taut_projection_result *result, taut_error *error);
/* Warning k: an option that was given to taut_project and has no effect on this projection; the
 * text begins with its name. NULL when out of range. */
TAUT_API const char *taut_projection_warning(const taut_projection *projection, int k);
/* Pass k (0: the start): g[m], gdot[m] there, force evaluations of the micro-integration so far.
 * False when out of range; NULL allowed. */
TAUT_API bool taut_projection_pass(const taut_projection *projection, int64_t k, const double **g,
                                   const double **gdot, int64_t *force_evaluations);
/* With the option expansion, series gives y^0 + eps^2 y^1 + eps^4 y^2 + ... of the slow point
 * [Lubich 1993, (2.6)]: y^k, k = 0 (the foot point), 1, 2, in q[n] and v[n]; eps^2 is the
 * largest compliance, others are in proportion. False when there is none; NULL allowed. */
TAUT_API bool taut_projection_expansion(const taut_projection *projection, int k, const double **q,
                                        const double **v, double *eps2);
/* The micro-solution of a pass; kept when the option plot is given, for projections that sample.
 * At most 8 bonds, spread evenly; of systems without bonds coordinates in their place. */
typedef struct taut_projection_window {
    size_t size;
    int64_t pass;   /* the pass that it leads to */
    taut_item item; /* TAUT_BOND or TAUT_COORDINATE */
    int count, bonds;
    const taut_index *bond; /* [bonds]: which */
    /* [count]: times from that of the start, ascending; the weights; g: [bonds][count] */
    const double *t, *weight, *g;
    const double *filtered; /* [bonds]: after the pass */
} taut_projection_window;
/* which = 0: of the first pass, 1: of the last, when there is more than one. */
TAUT_API int taut_projection_window_get(const taut_projection *projection, int which,
                                        taut_projection_window *window, taut_error *error);
/* A picture (.png or .svg, by gnuplot): the windows, the weights, residuals of the passes;
 * without windows what there is. */
TAUT_API int taut_projection_plot(const taut_projection *projection, const char *path,
                                  const char *title, taut_error *error);

/* ---- comparing */
/* Every method with every value (steps, or tolerances), from the same start to the same end,
 * against one reference. */
typedef struct taut_compare_request {
    size_t size;
    const char *const *methods;
    const double *values;
    int method_count, value_count;
    bool tolerances; /* values are relative tolerances; else step sizes */
} taut_compare_request;
typedef struct taut_compared {
    size_t size;
    const char *method, *message; /* message: why it could not run; NULL when it did */
    double value, error, error_velocity, order,
        /* errors: max norms at the end; order: against the row before; NaN: none */
        seconds;
    double uncertainty, uncertainty_velocity; /* of the reference: smaller errors mean nothing */
    taut_statistics statistics;
} taut_compared;
typedef struct taut_comparison taut_comparison;
TAUT_API int taut_compare(const taut_system *system, const taut_options *options,
                          const taut_compare_request *request, const taut_allocator *allocator,
                          taut_comparison **comparison, taut_error *error);
TAUT_API void taut_comparison_destroy(taut_comparison *comparison);
/* Row k: methods in the order of the request, for each its values. */
TAUT_API int taut_comparison_get(const taut_comparison *comparison, int k, taut_compared *row,
                                 taut_error *error);
/* One sentence: motion, end, reference. *uncertainty (may be NULL): how far two references are
 * apart; smaller errors mean nothing. */
TAUT_API const char *taut_comparison_explanation(const taut_comparison *comparison,
                                                 double *uncertainty);

/* ---- sweeping */

/* Many runs with different values, and what is kept of each (docs/sweeps.md: the grammars). */
typedef struct taut_sweep_request {
    size_t size;
    /* "omega=50:5000:log8", "x1=1,2", "method=dop8,radau5": parameters, initial values, options */
    const char *const *vary;
    const char *const *keep; /* "max(energy)" */
    int vary_count, keep_count;
    bool zip;       /* first values together, second values together, ...; else the product */
    int64_t random; /* > 0: so many runs with values drawn at random */
    int64_t seed;   /* of these */
    int threads;    /* at most; 0 is 1. Rows do not depend on it */
    /* CSV file that rows are written to while they are computed, or NULL ("-": standard output);
     * resume: rows that it has already are read instead of computed again. They must be of the
     * same sweep: names and varied values are compared. */
    const char *path;
    bool resume;
    /* how the system was loaded: needed where a parameter fixes sizes or indices, so that each run
     * loads the model again; may be NULL elsewhere */
    const taut_load *load;
    /* processes that share the runs, or NULL: all make the same call, and get the same rows, which
     * the first one writes (`path`, `resume`). The system is a whole one, without
     * taut_load.space. */
    taut_space *space;
} taut_sweep_request;
/* One run. Texts and arrays belong to the sweep. */
typedef struct taut_swept {
    size_t size;
    const double *varied;             /* [vary_count]: numbers; NaN for words */
    const double *kept;               /* [keep_count]: NaN when the run failed */
    int status;                       /* as of taut_solver_run; negative: it failed */
    double error;                     /* measured (option verify); NaN: not measured */
    int64_t steps, force_evaluations; /* fast ones included */
    const char *message;              /* why it failed, or "" */
} taut_swept;
typedef struct taut_sweep taut_sweep;
/* A failed run is a row; wrong requests, memory and files are errors. `progress` (may be NULL) is
 * called by one thread at a time, not always that of the caller: t is the number of finished runs,
 * until that of all, steps that of failed ones; when it returns 1 the sweep ends with
 * TAUT_INTERRUPTED and the rows so far. Options are those of runs. With several threads `allocator`
 * is called by all of them. */
TAUT_API int taut_sweep_run(const taut_system *system, const taut_options *options,
                            const taut_sweep_request *request, const taut_allocator *allocator,
                            taut_progress progress, void *user, taut_sweep **sweep,
                            taut_error *error);
TAUT_API void taut_sweep_destroy(taut_sweep *sweep);
/* Rows that there are. *runs (may be NULL): those of the whole sweep. */
TAUT_API int64_t taut_sweep_rows(const taut_sweep *sweep, int64_t *runs);
/* Run k of the order of the request: the last varied name changes fastest. */
TAUT_API int taut_sweep_get(const taut_sweep *sweep, int64_t k, taut_swept *row, taut_error *error);
/* Varied value j of run k as text; false when out of range. */
TAUT_API bool taut_sweep_text(const taut_sweep *sweep, int64_t k, int j, char *buffer, size_t size);
/* The table as an HDF5 file: one dataset for each column. */
TAUT_API int taut_sweep_hdf5(const taut_sweep *sweep, const char *path, taut_error *error);
/* A picture (.png or .svg, by gnuplot): kept values against the varied one; of two varied ones
 * curves for each value of one of them, or a map. Failed runs are marked. */
TAUT_API int taut_sweep_plot(const taut_sweep *sweep, const char *path, const char *title,
                             taut_error *error);

/* ---- checking */

/* One derivative compared with extrapolated central differences: largest relative deviation and
 * where. It is wrong when the deviation is larger than limit + uncertainty, the latter being how
 * far the differences themselves may be off there, relative like the others. */
typedef struct taut_derivative_check {
    const char *name; /* "G", "gamma", "df/dq", ... */
    int derivative;   /* 1 or 2: which limit applies */
    double deviation, limit, uncertainty;
    char where[96];
} taut_derivative_check;

/* One of [invariants] at the initial state: its value, and its rate by the equations of the model
 * (NaN: unknown). */
typedef struct taut_invariant_check {
    char name[96];
    double value, rate;
    /* 1: the rate vanishes, there and at states nearby; 0: it does not; -1: unknown */
    int constant;
} taut_invariant_check;

typedef struct taut_check_report {
    size_t size;
    const taut_sizes *sizes; /* the system's */
    char structure[160];     /* which linear algebra was chosen, and why */
    taut_derivative_check derivative[16];
    int derivatives;
    /* bonds marked `soft`: forces, and no part of what follows */
    taut_index soft;
    taut_index rank;                       /* of G; == bonds - soft when full */
    char rank_message[400];                /* names of redundant or conflicting bonds */
    double start_position, start_velocity; /* max |g|, |gdot| of the rigid bonds at the start */
    /* how far the start is from g = 0 (bonds that are not soft), max |g| */
    double foot_distance;
    double frequency_least, frequency_most; /* 0 when there are no springs; NaN: unknown */
    /* number of stiff modes; -1: unknown, and with it what depends on them, which is NaN (a stiff
     * potential of more than 400 coordinates) */
    int64_t frequencies;
    /* how fast the slow motion can change (docs/theory.md, Fast and slow): the largest along a
     * pilot run from the start, explicit dependence on time included */
    double slow_rate;
    double oscillatory_energy, energy_scale; /* of the start */
    /* where the motion has one, FILE:LINE:COLUMN: words, the system's; NULL: nowhere */
    const char *kinks;
    /* what taut_solver_create chooses with the same options and [run]; NULL: no run can begin, or
     * it has no motion (first order) */
    const char *motion, *method;
    char advice[900]; /* one line */
    int verdict;      /* 0 usable, 1 numerically unusable */
    /* slow_rate at the start alone; the time of the state where it is largest; of f and g at fixed
     * q and v */
    double slow_rate_initial, slow_rate_at, time_rate;
    /* fastest decay: of damped bonds, each alone; of df/dz in first-order systems; 0: none */
    double decay_rate;
    double decay_steps; /* of dop8 until the end time, at the limit of stability; NaN: unknown */
    double separation;  /* frequency_least over slow_rate; INFINITY where that is 0 */
    /* of the pilot run at which slow_rate was evaluated; 0: there is none, and slow_rate is that
     * of the start */
    int slow_rate_states;
    taut_invariant_check invariant[16]; /* the first of them */
    int invariants;
    /* Processes that divide the system (taut_space_create), 1 where it is not divided. Several
     * compute neither slow rates nor spectrum: slow_rate, frequency_least and separation are NaN,
     * and frequency_most is a bound. rank is -1 where bonds depend on each other; `sizes` points to
     * `whole`, whose members are not counted (-1). */
    int ranks;
    taut_sizes whole;
} taut_check_report;

/* Examines a system at its initial state. Options read: from, backend, no-derivatives, and those of
 * taut_solver_create, which decide about motion and method. */
TAUT_API int taut_check(const taut_system *system, const taut_options *options,
                        taut_check_report *report, taut_error *error);

/* ---- drawing */

/* [shapes] of a model: what a picture or a page draws at a state. A member of a family is one
 * shape. Points have 3 numbers each, z = 0 in a plane. */
typedef enum taut_shape_kind {
    TAUT_SHAPE_POINT,
    TAUT_SHAPE_LINE,
    TAUT_SHAPE_PATH,
    TAUT_SHAPE_CIRCLE, /* centre, then (radius, 0, 0) */
    TAUT_SHAPE_BOX,    /* two opposite corners */
    TAUT_SHAPE_ARROW,  /* tail, tip */
    TAUT_SHAPE_TEXT
} taut_shape_kind;
typedef struct taut_shape {
    size_t size;
    /* text: of TAUT_SHAPE_TEXT, else NULL; colour: NULL, #rrggbb, or black (that of text), grey
     * #777777, orange #e69f00, sky #56b4e9, green #009e73, yellow #f0e442, blue #0072b2, red
     * #d55e00, purple #cc79a7. The system's. */
    const char *name, *text, *colour;
    taut_shape_kind kind;
    int points, first; /* the first point is at numbers[3 * first] */
    double width;      /* in pixels; 0: not given */
} taut_shape;
TAUT_API int taut_shape_count(const taut_system *system);
/* TAUT_ERROR_USAGE when k is out of range. */
TAUT_API int taut_shape_get(const taut_system *system, int k, taut_shape *shape, taut_error *error);
/* numbers[3 * all points] of all shapes at a state, as taut_evaluate_outputs; lambda[m] may be NULL
 * when no shape uses it. A shape where a number is not finite is not drawn. */
TAUT_API int taut_shapes_at(taut_context *context, double t, const double *q, const double *v,
                            const double *lambda, double *numbers, taut_error *error);

/* ---- runs in files */

/* Besides its rows an HDF5 file holds texts by name (letters, digits, '_'): `model` and `version`,
 * which the sink writes itself, and what it is given: the program gives name, command, settings,
 * summary (JSON, as of --json), start, tables and table1, table2, ... (docs/cli.md). Given before
 * the run, a text is in the file from its first moment on; given again, also after the run, it
 * replaces the earlier one. TAUT_ERROR_REFUSED: a sink of another kind. */
TAUT_API int taut_file_sink_text(taut_file_sink *file, const char *name, const char *text,
                                 taut_error *error);

/* A run that a sink of taut_hdf5_create wrote, also one that was interrupted or killed; a file that
 * is still being written shows what it has so far. Files of a newer format are refused. */
typedef struct taut_record taut_record;
TAUT_API int taut_record_open(const char *path, const taut_allocator *allocator,
                              taut_record **record, taut_error *error);
TAUT_API void taut_record_destroy(taut_record *record);
/* What the file has: kind, dimension (0 unless all coordinates are components of particles),
 * coordinates, algebraic, bonds, outputs, events; other members are 0. *rows may be NULL. */
TAUT_API int taut_record_sizes_get(const taut_record *record, taut_sizes *sizes, int64_t *rows,
                                   taut_error *error);
/* Names of coordinates, algebraic variables, bonds, outputs, events; NULL when out of range. */
TAUT_API const char *taut_record_name(const taut_record *record, taut_item item, taut_index k);
/* A text by its name, and the name of text k; NULL: there is none. */
TAUT_API const char *taut_record_text(const taut_record *record, const char *name);
TAUT_API const char *taut_record_text_name(const taut_record *record, int k);
/* The row nearest to time t (of two at one time the later one, which is the state behind an event);
 * NaN: the last row. -1: there are no rows, or t is outside of them. */
TAUT_API int64_t taut_record_find(const taut_record *record, double t);
/* Reads `count` rows from row `first` on; count < 0: all that follow. The arrays belong to the
 * record and live until the next call. */
TAUT_API int taut_record_rows_get(taut_record *record, int64_t first, int64_t count,
                                  taut_memory_rows *rows, taut_error *error);

/* taut_plot in 1 to 4 panels, one below the other: panel p has the curves first[p] ..
 * first[p+1]-1. labels[2 + panels]: title, x, and y of each. */
TAUT_API int taut_plot_panels(const char *path, const char *const *labels, int panels,
                              const int *first, const char *const *names, const int *start,
                              const double *x, const double *y, bool logarithmic,
                              taut_error *error);

/* ---- pages */

/* A page: one HTML file without any other file or network that plays runs, with plots, or shows a
 * sweep; a browser opens it from the file system. Rows are kept until the page is written: at most
 * 64 MB of them, then every second one, every fourth, ... */
typedef struct taut_page taut_page;
TAUT_API int taut_page_create(const taut_allocator *allocator, taut_page **page, taut_error *error);
/* One run more, whose rows go to `sink`; several are shown together. The model's text, title and
 * shapes are taken from the system that the sink is begun with. */
TAUT_API int taut_page_run(taut_page *page, const char *name, taut_sink *sink, taut_error *error);
/* The sweep that the page shows, in place of runs: kept values over varied ones, and the table. The
 * model's text and title are those of the system (or NULL). */
TAUT_API int taut_page_sweep(taut_page *page, const char *name, const taut_system *system,
                             const taut_sweep *sweep, taut_error *error);
/* The same of its CSV table, which taut_sweep_run or `taut sweep` wrote. */
TAUT_API int taut_page_table(taut_page *page, const char *name, const char *csv, taut_error *error);
/* A text of the run added last, or of the sweep, under a heading such as "command" or "summary":
 * plain text, nothing in it is markup. */
TAUT_API int taut_page_text(taut_page *page, const char *heading, const char *text,
                            taut_error *error);
/* Writes the page, of about 2 MB at most unless a single row is large; `-` is standard output. */
TAUT_API int taut_page_write(const taut_page *page, const char *path, taut_error *error);
TAUT_API void taut_page_destroy(taut_page *page);

#ifdef __cplusplus
}
#endif

#endif
