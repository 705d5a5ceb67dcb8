/* page.h - what the files that make a page share: a run as its rows, and what they mean, or the
 * table of a sweep. */
#ifndef TAUT_IO_PAGE_H
#define TAUT_IO_PAGE_H

#include "io/deflate.h"

enum { TAUT_PAGE_RUNS = 16 };

/* Columns of a row behind t, in this order. */
enum {
    TAUT_PAGE_POSITION,
    TAUT_PAGE_VELOCITY, /* first order: algebraic variables */
    TAUT_PAGE_MULTIPLIER,
    TAUT_PAGE_OUTPUT,
    TAUT_PAGE_ENERGY,
    TAUT_PAGE_DRIFT,  /* position, velocity */
    TAUT_PAGE_ANCHOR, /* fixed ends of bonds */
    TAUT_PAGE_SHAPE,  /* numbers of [shapes] */
    TAUT_PAGE_GROUPS
};

typedef struct taut_page_event {
    double t;
    taut_index event; /* k + 1 */
} taut_page_event;

typedef struct taut_page_text_item {
    const char *heading, *text;
    struct taut_page_text_item *next;
} taut_page_text_item;

/* Numbers of what is kept, in order. */
typedef struct taut_pick {
    int32_t *item;
    int64_t count;
} taut_pick;

/* Ends of bonds that are no coordinates: the bond is not drawn; it leads to a fixed point. */
enum { TAUT_PAGE_NO_END = -1, TAUT_PAGE_FIXED_END = -2 };

typedef struct taut_page_run_data {
    taut_arena *arena;
    const char *name, *title, *model;
    taut_page_text_item *text; /* first, in order */
    taut_bytes table;          /* of a sweep: CSV with `seen` rows after its header; else empty */
    int varied;                /* its names, after the column `run`; -1: unknown */
    struct taut_page_run_data *next;
    taut_sizes sizes;
    taut_context *context; /* of fixed ends and shapes, during the run */
    int64_t width[TAUT_PAGE_GROUPS], columns;
    /* rows: those seen, those kept, one of `stride`; [capacity][1 + columns] */
    int64_t seen, kept, capacity, stride;
    double *row, *latest;
    taut_page_event *event;
    int64_t events, event_capacity;
    /* structure, fixed by the system */
    int32_t *point;      /* [points]: 4 * first coordinate + dimension */
    int32_t *end;        /* [2 * bonds]: first coordinates, or as above */
    double *gain;        /* [bonds]: force over multiplier */
    unsigned char *kind; /* [bonds]: 0 rigid, 1 spring, 2 damped spring, 3 soft */
    taut_index points, anchors;
    int every; /* one bond of so many is kept; 1: all, and the lists are empty */
    taut_pick coordinate, bond;
    int dimension; /* of the scene: 2 or 3; 0: no points */
    double gravity[3];
    bool moving; /* fixed ends are where a function of time says */
    taut_bytes names;
    taut_shape *shape; /* [shapes] */
    int shapes;
    int64_t shape_points;
    double *work, *jacobian; /* of fixed ends */
} taut_page_run_data;

/* page_scene.c: points, bonds, gravity; and where the fixed ends of bonds are. */
int taut_page_scene(taut_page_run_data *run, const taut_system *system, taut_error *error);
void taut_page_anchors(taut_page_run_data *run, double t, const double *q, double *anchor);
void taut_page_gains(taut_page_run_data *run, double t, const double *q, const double *anchor);
void taut_page_gravity(taut_page_run_data *run, double t, const double *q, const double *v);

/* page_thin.c: which coordinates and bonds are kept, before the first row; after the last one
 * points and bonds are numbered by those kept. */
int taut_page_thin(taut_page_run_data *run, taut_error *error);
int taut_page_renumber(taut_page_run_data *run, taut_error *error);

/* page_code.c: everything numeric of a run, coded, as base64; one row of `thin` is written. Where
 * there is a base, the differences of its positions to energies from those of the base, too. */
void taut_page_code(taut_bytes *to, const taut_page_run_data *run, const taut_page_run_data *base,
                    int64_t thin);
/* The first run, where another one has rows at the same times; else NULL. */
const taut_page_run_data *taut_page_base(const taut_page_run_data *first,
                                         const taut_page_run_data *run);
int64_t taut_page_differences(const taut_page_run_data *run);
int64_t taut_page_frames(const taut_page_run_data *run, int64_t thin);

/* page_table.c: of the table one row of `thin` is written. */
void taut_page_table_code(taut_bytes *to, const taut_page_run_data *run, int64_t thin);
/* Adds the table of a sweep; `varied` as above. */
int taut_page_table_add(taut_page *page, const char *name, const taut_system *system,
                        const char *csv, int64_t bytes, int varied, taut_error *error);
/* page.c: a new run or table of the page (a table is alone on it); title and text of its model. */
int taut_page_add(taut_page *page, const char *name, bool table, taut_page_run_data **run,
                  taut_error *error);
int taut_page_model(taut_page_run_data *run, const taut_system *system, taut_error *error);

/* The page around the data, made from web/ (cmake/Page.cmake). */
extern const unsigned char taut_page_head[], taut_page_tail[];
extern const size_t taut_page_head_size, taut_page_tail_size;

#endif
