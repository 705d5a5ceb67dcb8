/* panels.h - a picture of several panels with curves in each, drawn by gnuplot (gnuplot.h); and
 * what all pictures share. */
#ifndef TAUT_IO_PANELS_H
#define TAUT_IO_PANELS_H

#include "io/gnuplot.h"
#include "io/writer.h"

enum { TAUT_PANELS = 4 };

/* How the points of a curve are drawn. */
typedef enum taut_curve_style {
    TAUT_CURVE_LINE,
    TAUT_CURVE_POINTS,
    TAUT_CURVE_MARKS, /* larger points */
    TAUT_CURVE_BOTH,  /* a line through points */
    /* the same; points of colour 1 are small and full, those of 2 to 5 larger and hollow, and so
     * on: curves that coincide are all seen, and the ninth does not look like the first */
    TAUT_CURVE_SHAPES,
    TAUT_CURVE_DASHED,
    TAUT_CURVE_STEMS,
    TAUT_CURVE_MAP, /* boxes or points with the colour of z */
    TAUT_CURVE_CROSSES
} taut_curve_style;

typedef struct taut_curve {
    const char *name; /* in the legend; NULL or "": not there */
    const double *x, *y;
    int64_t count;
    taut_curve_style style;
    int colour; /* 1 to 8; others are taken modulo 8 */
} taut_curve;

typedef struct taut_panel {
    const char *title, *x, *y; /* labels */
    /* points that have no logarithm are omitted, except y = 0, which has a tic of its own below
     * all others */
    bool log_x, log_y;
    bool whole; /* x are numbers of things: tics at whole numbers only */
    int curves;
    const taut_curve *curve;
    const char *const *tic; /* [tics]: names of x = 1, 2, ...; NULL: numbers */
    int tics;
    /* of TAUT_CURVE_MAP, which is one curve of a panel: what is coloured, and where a box begins
     * and ends in x and y; NULL: points */
    const double *z, *edge[4];
} taut_panel;

/* Draws 1 to TAUT_PANELS panels into path, .png or .svg, `width` by `height` pixels. An empty
 * title leaves its room to the panels. */
int taut_panels_draw(const char *path, const char *title, const taut_panel *panel, int panels,
                     int width, int height, taut_error *error);

/* ---- what all pictures share */

/* TAUT_ERROR_USAGE when the name ends neither in .png nor in .svg. */
int taut_picture_kind(const char *path, bool *svg, taut_error *error);
/* Letters of any language (UTF-8), numbers and plain signs only: everything else becomes a
 * blank, so that nothing can end a text in the script. Nothing is cut inside a letter. */
void taut_picture_clean(const char *text, char *result, size_t size);
/* 1, 2 or 5 times a power of ten: the distance of tics of which `most` at most fall on a length
 * > 0. */
double taut_picture_step(double length, int most);
/* The commands that come first: terminal, style, `set multiplot` with the title. Nothing of the
 * multiplot when title is NULL. */
void taut_picture_begin(taut_file_sink *sink, bool svg, int width, int height, const char *title);
/* Where panel k of `panels` stands: one or two fill the width, three put the first above two,
 * four make a square. */
void taut_picture_place(taut_file_sink *sink, int k, int panels, bool titled);

#endif
