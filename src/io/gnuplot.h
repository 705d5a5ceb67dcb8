/* gnuplot.h - running gnuplot without a shell, in a folder of its own. */
#ifndef TAUT_IO_GNUPLOT_H
#define TAUT_IO_GNUPLOT_H

#include "base/memory.h"

enum { TAUT_GNUPLOT_PATH = 1024 };

/* Where a picture is made: the folder holds `rows`, `script`, `messages` and `picture`, and
 * nothing else. */
typedef struct taut_gnuplot {
    char program[TAUT_GNUPLOT_PATH];
    char folder[TAUT_GNUPLOT_PATH]; /* empty: none was made */
} taut_gnuplot;

/* Commands that all pictures begin with: output, grid, legends below the axes (they cover
 * nothing, and panels below each other line up), eight colours that everybody can distinguish
 * [Okabe, Ito 2008]. */
extern const char taut_gnuplot_style[];

/* Finds the program on PATH; TAUT_ERROR_UNAVAILABLE when there is none, or in a core build. */
int taut_gnuplot_find(taut_gnuplot *gnuplot, taut_error *error);
/* Makes the folder, private to the user. */
int taut_gnuplot_open(taut_gnuplot *gnuplot, taut_error *error);
/* The path of a file in the folder. */
void taut_gnuplot_path(const taut_gnuplot *gnuplot, const char *name, char path[TAUT_GNUPLOT_PATH]);
/* Runs `script` inside the folder and waits. TAUT_ERROR_PROCESS with gnuplot's own words when it
 * fails. */
int taut_gnuplot_run(const taut_gnuplot *gnuplot, taut_error *error);
/* Copies `picture` to where it is wanted. */
int taut_gnuplot_deliver(const taut_gnuplot *gnuplot, const char *path, taut_error *error);
/* Removes the folder and its files; nothing happens when there is none. */
void taut_gnuplot_discard(taut_gnuplot *gnuplot);

#endif
