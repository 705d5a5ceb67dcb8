/* plot_curves.c - a picture of curves through points: error against work, results beside published ones. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/gnuplot.h"
#include "io/writer.h"

enum { LABEL = 160 };

/* Names become gnuplot strings in single quotes: what could end one, or a line, is replaced. */
static void write_quoted(taut_file_sink *sink, const char *text)
{
    char clean[LABEL];
    size_t k = 0;
    for (; text[k] && k < sizeof clean - 1; k++)
        clean[k] = (unsigned char)text[k] < ' ' ? ' ' : text[k] == '\'' ? '`' : text[k];
    clean[k] = '\0';
    taut_writer_text(sink, "'");
    taut_writer_text(sink, clean);
    taut_writer_text(sink, "'");
}

/* One block of points a curve; two empty lines separate blocks, which gnuplot counts as `index`. */
static void write_points(taut_file_sink *sink, int curves, const int *start, const double *x, const double *y, bool logarithmic)
{
    for (int c = 0; c < curves; c++) {
        taut_writer_text(sink, c ? "\n\n" : "");
        int shown = 0;
        for (int k = start[c]; k < start[c + 1]; k++) {
            if (!isfinite(x[k]) || !isfinite(y[k]) || (logarithmic && (x[k] <= 0 || y[k] <= 0)))
                continue;
            taut_writer_number(sink, x[k], 12);
            taut_writer_text(sink, " ");
            taut_writer_number(sink, y[k], 12);
            taut_writer_text(sink, "\n");
            shown++;
        }
        if (!shown)
            taut_writer_text(sink, "nan nan\n"); /* the block must be there: blocks are counted */
    }
}

static void write_script(taut_file_sink *sink, bool svg, const char *const *labels, const char *const *names, int curves,
                         bool logarithmic)
{
    static const char *const words[3] = {"set title ", "\nset xlabel ", "\nset ylabel "};
    /* the cairo terminal is not in every gnuplot */
    taut_writer_text(sink, svg ? "set terminal svg size 900,650 font 'Sans,14' noenhanced background rgb 'white'\n"
                               : "if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {\n"
                                 "  set terminal pngcairo size 1000,720 font 'Sans,11' noenhanced\n"
                                 "} else {\n  set terminal png size 1000,720 noenhanced\n}\n");
    taut_writer_text(sink, taut_gnuplot_style);
    if (logarithmic)
        taut_writer_text(sink, "set logscale xy\n");
    for (int k = 0; k < 3; k++) {
        taut_writer_text(sink, words[k]);
        write_quoted(sink, labels[k]);
    }
    taut_writer_text(sink, "\nplot ");
    for (int c = 0; c < curves; c++) {
        char line[80];
        snprintf(line, sizeof line, "%s'rows' index %d using 1:2 with linespoints title ", c ? ", \\\n  " : "", c);
        taut_writer_text(sink, line);
        write_quoted(sink, names[c]);
    }
    taut_writer_text(sink, "\nunset output\n");
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), wanted = strlen(ending);
    return length > wanted && strcmp(text + length - wanted, ending) == 0;
}

static void discard(taut_file_sink *sink)
{
    taut_gnuplot_discard(sink->work);
}

int taut_plot(const char *path, const char *const *labels, const char *const *names, int curves, const int *start, const double *x,
              const double *y, bool logarithmic, taut_error *error)
{
    char file[TAUT_GNUPLOT_PATH];
    bool svg = ends_with(path, ".svg");
    taut_file_sink *sink = NULL;
    if (!svg && !ends_with(path, ".png"))
        return taut_fail(error, TAUT_ERROR_USAGE, "a picture's name must end in .png or .svg, found '%.200s'", path);
    if (curves < 1)
        return taut_fail(error, TAUT_ERROR_USAGE, "there is nothing to draw");
    TAUT_TRY(taut_writer_create(path, sizeof(taut_gnuplot), &sink, error));
    taut_gnuplot *gnuplot = sink->work;
    sink->discard = discard;
    int status = taut_gnuplot_find(gnuplot, error);
    if (status == 0)
        status = taut_gnuplot_open(gnuplot, error);
    if (status == 0) {
        taut_gnuplot_path(gnuplot, "rows", file);
        status = taut_writer_open(sink, file, error);
    }
    if (status == 0) {
        write_points(sink, curves, start, x, y, logarithmic);
        status = taut_writer_close(sink, error);
    }
    if (status == 0) {
        taut_gnuplot_path(gnuplot, "script", file);
        status = taut_writer_open(sink, file, error);
    }
    if (status == 0) {
        write_script(sink, svg, labels, names, curves, logarithmic);
        status = taut_writer_close(sink, error);
    }
    if (status == 0)
        status = taut_gnuplot_run(gnuplot, error);
    if (status == 0)
        status = taut_gnuplot_deliver(gnuplot, path, error);
    taut_file_sink_destroy(sink);
    return status;
}
