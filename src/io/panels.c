/* panels.c - see panels.h. Only numbers and cleaned texts get into the script. */
#include "io/panels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 160, COLOURS = 8, SHAPES = 5, FEW_TICS = 8, MOST_TICS = 5 };

/* ---- what all pictures share */

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), wanted = strlen(ending);
    return length > wanted && strcmp(text + length - wanted, ending) == 0;
}

int taut_picture_kind(const char *path, bool *svg, taut_error *error)
{
    *svg = path && ends_with(path, ".svg");
    if (*svg || (path && ends_with(path, ".png")))
        return TAUT_OK;
    return taut_fail(error, TAUT_ERROR_USAGE,
                     "a picture's name must end in .png or .svg, found '%.200s'", path ? path : "");
}

/* Bytes of a letter or sign beyond ASCII in UTF-8, 2 to 4; 0: it is none (control characters,
 * overlong forms, surrogates included). */
static size_t utf8_length(const char *text)
{
    const unsigned char *b = (const unsigned char *)text;
    size_t length = b[0] >= 0xc2 && b[0] <= 0xdf   ? 2
                    : (b[0] & 0xf0) == 0xe0        ? 3
                    : b[0] >= 0xf0 && b[0] <= 0xf4 ? 4
                                                   : 0;
    for (size_t k = 1; k < length; k++)
        if ((b[k] & 0xc0) != 0x80)
            return 0;
    bool control = b[0] == 0xc2 && b[1] < 0xa0,
         overlong = (b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xf0 && b[1] < 0x90);
    bool nowhere = (b[0] == 0xed && b[1] >= 0xa0) || (b[0] == 0xf4 && b[1] >= 0x90);
    return control || overlong || nowhere ? 0 : length;
}

void taut_picture_clean(const char *text, char *result, size_t size)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:;()[]+-=*/|<>^% ";
    size_t used = 0;
    for (size_t length; *text && used + 1 < size;
         text += *text == '\'' || length == 0 ? 1 : length) {
        /* an apostrophe would end a text of the script: its typographic form does not */
        const char *from = *text == '\'' ? "\xe2\x80\x99" : text;
        length = utf8_length(from);
        if (length > 0 && used + length >= size)
            break;
        if (length > 0)
            memcpy(result + used, from, length);
        else
            result[used] = strchr(allowed, *text) ? *text : ' ';
        used += length > 0 ? length : 1;
    }
    result[used] = '\0';
}

double taut_picture_step(double length, int most)
{
    double least = length / most, power = pow(10, floor(log10(least)));
    return least <= power       ? power
           : least <= 2 * power ? 2 * power
           : least <= 5 * power ? 5 * power
                                : 10 * power;
}

static void write_clean(taut_file_sink *sink, const char *before, const char *text,
                        const char *after)
{
    char clean[TEXT];
    taut_picture_clean(text ? text : "", clean, sizeof clean);
    taut_writer_format(sink, "%s%s%s", before, clean, after);
}

/* The size of letters at which a title fits: one of size 15 takes about 10.2 pixels. */
static int title_size(const char *title, int width, int wanted)
{
    enum { LEAST = 8 };
    int letters = 0;
    for (const char *c = title; *c; c++)
        letters += ((unsigned char)*c & 0xc0) != 0x80; /* not within a letter of several bytes */
    double fits = 15 * width / (10.2 * (letters > 0 ? letters : 1));
    return fits >= wanted ? wanted : fits > LEAST ? (int)fits : LEAST;
}

void taut_picture_begin(taut_file_sink *sink, bool svg, int width, int height, const char *title)
{
    /* the cairo terminal is not in every gnuplot */
    if (svg)
        taut_writer_format(
            sink, "set terminal svg size %d,%d noenhanced font 'Sans,13' background 'white'\n",
            width, height);
    else
        taut_writer_format(
            sink,
            "if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {\n"
            "  set terminal pngcairo size %d,%d noenhanced font 'Sans,11' background 'white'\n"
            "} else {\n  set terminal png size %d,%d noenhanced\n}\n",
            width, height, width, height);
    taut_writer_text(sink, taut_gnuplot_style);
    if (title && title[0]) {
        write_clean(sink, "set multiplot title '", title, "' font 'Sans,");
        taut_writer_format(sink, "%d'\n", title_size(title, width, svg ? 17 : 15));
    } else if (title)
        taut_writer_text(sink, "set multiplot\n");
}

void taut_picture_place(taut_file_sink *sink, int k, int panels, bool titled)
{
    static const double places[TAUT_PANELS][TAUT_PANELS][4] = {
        {{0, 0, 1, 1}},
        {{0, .5, 1, .5}, {0, 0, 1, .5}},
        {{0, .5, 1, .5}, {0, 0, .5, .5}, {.5, 0, .5, .5}},
        {{0, .5, .5, .5}, {.5, .5, .5, .5}, {0, 0, .5, .5}, {.5, 0, .5, .5}}};
    /* the title has the rest */
    const double *at = places[panels - 1][k], height = titled ? .95 : 1;
    taut_writer_format(sink, "set origin %g, %g\nset size noratio %g, %g\n", at[0], at[1] * height,
                       at[2], at[3] * height);
}

/* ---- points */

/* least over most: a logarithmic axis that has fewer decades is labelled with plain numbers */
static const double narrow = 0.02;

/* What is drawn of a panel: the ends of its axes, and where zeros stand on a logarithmic one. */
typedef struct extent {
    double least[2], most[2]; /* x, y; least > most: nothing is there */
    bool log_y;               /* as wished, where there is something above zero */
    double decades;           /* between tics of a logarithmic y axis; 0: nothing is there */
    double zero;              /* y of zeros; 0: there are none, or no need */
} extent;

static bool shown(const taut_panel *p, double x, double y)
{
    return isfinite(x) && isfinite(y) && !(p->log_x && x <= 0) && !(p->log_y && y < 0);
}

static extent measure(const taut_panel *p)
{
    extent e = {.least = {INFINITY, INFINITY}, .most = {-INFINITY, -INFINITY}};
    bool zeros = false;
    for (int c = 0; c < p->curves; c++)
        for (int64_t k = 0; k < p->curve[c].count; k++) {
            double at[2] = {p->curve[c].x[k], p->curve[c].y[k]};
            if (!shown(p, at[0], at[1]))
                continue;
            zeros |= p->log_y && at[1] == 0;
            for (int j = 0; j < 2; j++)
                if (!(j == 1 && p->log_y && at[1] == 0)) {
                    e.least[j] = fmin(e.least[j], at[j]);
                    e.most[j] = fmax(e.most[j], at[j]);
                }
        }
    e.log_y = p->log_y && e.least[1] <= e.most[1];
    if (e.log_y && (zeros || e.least[1] < narrow * e.most[1])) {
        e.decades = fmax(1, ceil((log10(e.most[1]) - log10(e.least[1])) / MOST_TICS));
        e.zero = zeros ? pow(10, floor(log10(e.least[1])) - e.decades) : 0;
    }
    return e;
}

/* One block of points a curve; two empty lines separate blocks, which gnuplot counts as `index`. */
static void write_points(taut_file_sink *sink, const taut_panel *p, const taut_curve *curve,
                         const extent *e)
{
    int64_t seen = 0;
    for (int64_t k = 0; k < curve->count; k++) {
        double x = curve->x[k], y = e->log_y && curve->y[k] == 0 ? e->zero : curve->y[k];
        if (!shown(p, x, y))
            continue;
        taut_writer_format(sink, "%g %g", x, y);
        for (int j = 0; j < 4 && curve->style == TAUT_CURVE_MAP && p->edge[j]; j++)
            taut_writer_format(sink, " %g", p->edge[j][k]);
        if (curve->style == TAUT_CURVE_MAP)
            taut_writer_format(sink, " %g", p->z[k]);
        taut_writer_text(sink, "\n");
        seen++;
    }
    /* the block must be there: blocks are counted */
    taut_writer_text(sink, seen ? "\n\n" : "nan nan nan nan nan nan nan\n\n\n");
}

/* ---- the script */

static void write_curve(taut_file_sink *sink, const taut_panel *p, const taut_curve *curve,
                        int index)
{
    static const char *const styles[] = {[TAUT_CURVE_LINE] = "lines",
                                         [TAUT_CURVE_POINTS] = "points pt 7 ps 0.9",
                                         [TAUT_CURVE_MARKS] = "points pt 13 ps 1.9",
                                         [TAUT_CURVE_BOTH] = "linespoints pt 7 ps 0.6",
                                         [TAUT_CURVE_SHAPES] = "",
                                         [TAUT_CURVE_DASHED] = "linespoints pt 6 ps 0.6",
                                         [TAUT_CURVE_STEMS] = "impulses",
                                         [TAUT_CURVE_MAP] = "",
                                         [TAUT_CURVE_CROSSES] = "points pt 2 ps 1.3 lw 2"};
    static const char *const shapes[SHAPES] = {"linespoints pt 7 ps 0.6", "linespoints pt 6 ps 1.2",
                                               "linespoints pt 4 ps 1.3", "linespoints pt 8 ps 1.4",
                                               "linespoints pt 12 ps 1.5"};
    int colour = (curve->colour - 1 + COLOURS) % COLOURS + 1;
    const char *style = curve->style == TAUT_CURVE_SHAPES ? shapes[(curve->colour - 1) % SHAPES]
                                                          : styles[curve->style];
    if (curve->style == TAUT_CURVE_MAP)
        taut_writer_format(sink, "'rows' index %d using %s palette ", index,
                           p->edge[0] ? "1:2:3:4:5:6:7 with boxxyerror fs solid noborder"
                                      : "1:2:3 with points pt 7 ps 1");
    else
        taut_writer_format(sink, "'rows' index %d using 1:2 with %s lt %d ", index, style, colour);
    if (curve->style == TAUT_CURVE_DASHED)
        taut_writer_text(sink, "dt 2 ");
    if (curve->name && curve->name[0])
        write_clean(sink, "title '", curve->name, "'");
    else
        taut_writer_text(sink, "notitle");
}

static void write_named_tics(taut_file_sink *sink, const taut_panel *p)
{
    taut_writer_text(sink,
                     p->tics > FEW_TICS ? "set xtics rotate by -40 (" : "set xtics norotate (");
    for (int k = 0; k < p->tics; k++) {
        write_clean(sink, k ? ", '" : "'", p->tic[k], "' ");
        taut_writer_format(sink, "%d", k + 1);
    }
    taut_writer_format(sink, ")\nset xrange [0.5:%d.5]\n", p->tics);
}

static void write_range(taut_file_sink *sink, const char *axis, double from, double to)
{
    taut_writer_format(sink, "set %srange [%g:%g]\n", axis, from, to);
}

/* A logarithmic y axis: whole decades, and zero below them where there are zeros. */
static void write_decades(taut_file_sink *sink, const extent *e)
{
    double least = pow(10, floor(log10(e->least[1])));
    taut_writer_format(sink, "set ytics %g, %g\n", least, pow(10, e->decades));
    if (e->zero > 0)
        taut_writer_format(sink, "set ytics add ('0' %g)\n", e->zero);
    write_range(sink, "y", e->zero > 0 ? e->zero : least,
                fmax(10 * least, pow(10, ceil(log10(e->most[1])))));
}

/* A logarithmic axis of less than two decades: from a little below the least to a little above
 * the most, with tics at 1, 2 and 5. */
static void write_narrow(taut_file_sink *sink, const char *axis, double least, double most)
{
    static const double digits[] = {1, 2, 5};
    double from = least / 1.3, to = most * 1.3;
    const char *separator = "";
    write_range(sink, axis, from, to);
    taut_writer_format(sink, "set %stics (", axis);
    for (double power = pow(10, floor(log10(from))); power < to; power *= 10)
        for (int k = 0; k < 3; k++)
            if (digits[k] * power >= from && digits[k] * power <= to) {
                taut_writer_text(sink, separator);
                taut_writer_number(sink, digits[k] * power, 6);
                separator = ", ";
            }
    taut_writer_text(sink, ")\n");
}

/* The x axis ends near the last point, not at the next tic. */
static void write_x_range(taut_file_sink *sink, const taut_panel *p, const extent *e, bool powers)
{
    double least = e->least[0], most = e->most[0], beside = 0.02 * (most - least);
    if (!(least < most))
        return;
    if (p->log_x && powers)
        write_range(sink, "x", least / 1.5, most * 1.5);
    else if (p->log_x)
        write_narrow(sink, "x", least, most);
    else
        write_range(sink, "x", least - beside, most + beside);
}

static void write_axes(taut_file_sink *sink, const taut_panel *p, const extent *e)
{
    bool powers = p->log_x && e->least[0] < narrow * e->most[0];
    taut_writer_text(sink, p->log_x ? "set logscale x\n" : "unset logscale x\n");
    taut_writer_text(sink, e->log_y ? "set logscale y\n" : "unset logscale y\n");
    bool plain = e->least[0] >= 1e-3 && e->most[0] < 1e6; /* 100 reads better than 1e2 */
    taut_writer_text(sink, powers && !plain ? "set format x '1e%T'\n" : "set format x '%g'\n");
    taut_writer_text(sink, e->decades > 0 ? "set format y '1e%T'\n" : "set format y '%g'\n");
    taut_writer_text(sink, "set xrange [*:*]\nset yrange [*:*]\nset ytics autofreq\nset xtics "
                           "norotate autofreq\nunset mytics\n");
    if (p->tic)
        write_named_tics(sink, p);
    else if (!p->log_x && e->least[0] < e->most[0]) {
        double step = taut_picture_step(e->most[0] - e->least[0], MOST_TICS);
        taut_writer_format(sink, "set xtics %g\n", p->whole ? fmax(1, step) : step);
    }
    if (!p->tic)
        write_x_range(sink, p, e, powers);
    if (e->decades > 0)
        write_decades(sink, e);
    else if (e->log_y && e->least[1] < e->most[1])
        write_narrow(sink, "y", e->least[1], e->most[1]);
    if (e->least[0] > e->most[0]) /* gnuplot has no range for nothing */
        taut_writer_text(sink, "set xrange [0:1]\nset yrange [0:1]\n");
}

static void write_panel(taut_file_sink *sink, const taut_panel *p, int *index)
{
    extent e = measure(p);
    write_axes(sink, p, &e);
    if (p->z) /* even steps of lightness: viridis [van der Walt, Smith 2015] */
        taut_writer_text(sink, "set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', "
                               "3 '#5ec962', 4 '#fde725')\nset cbrange [*:*]\n"
                               "set autoscale xfix\nset autoscale yfix\n");
    if (p->title)
        write_clean(sink, "set title '", p->title, "'\n");
    write_clean(sink, "set xlabel '", p->x, "' offset 0,0.6\n");
    write_clean(sink, "set ylabel '", p->y, "' offset 0.8,0\nplot ");
    for (int k = 0; k < p->curves; k++) {
        taut_writer_text(sink, k ? ", \\\n  " : "");
        write_curve(sink, p, &p->curve[k], (*index)++);
    }
    taut_writer_text(sink, "\n");
}

typedef struct drawing {
    const char *title;
    const taut_panel *panel;
    int panels, width, height;
    bool svg;
} drawing;

static void write_rows(taut_file_sink *sink, const drawing *d)
{
    for (int k = 0; k < d->panels; k++) {
        extent e = measure(&d->panel[k]);
        for (int c = 0; c < d->panel[k].curves; c++)
            write_points(sink, &d->panel[k], &d->panel[k].curve[c], &e);
    }
}

static void write_script(taut_file_sink *sink, const drawing *d)
{
    int index = 0;
    bool titled = d->title && d->title[0];
    taut_picture_begin(sink, d->svg, d->width, d->height, d->title ? d->title : "");
    for (int k = 0; k < d->panels; k++) {
        taut_picture_place(sink, k, d->panels, titled);
        write_panel(sink, &d->panel[k], &index);
    }
    taut_writer_text(sink, "unset multiplot\nunset output\n");
}

static void discard(taut_file_sink *sink)
{
    taut_gnuplot_discard(sink->work);
}

static int write_file(taut_file_sink *sink, const char *name,
                      void (*write)(taut_file_sink *, const drawing *), const drawing *d,
                      taut_error *error)
{
    char path[TAUT_GNUPLOT_PATH];
    taut_gnuplot_path(sink->work, name, path);
    TAUT_TRY(taut_writer_open(sink, path, error));
    write(sink, d);
    return taut_writer_close(sink, error);
}

static int draw(taut_file_sink *sink, const drawing *d, taut_error *error)
{
    taut_gnuplot *gnuplot = sink->work;
    TAUT_TRY(taut_gnuplot_find(gnuplot, error));
    TAUT_TRY(taut_gnuplot_open(gnuplot, error));
    TAUT_TRY(write_file(sink, "rows", write_rows, d, error));
    TAUT_TRY(write_file(sink, "script", write_script, d, error));
    TAUT_TRY(taut_gnuplot_run(gnuplot, error));
    return taut_gnuplot_deliver(gnuplot, sink->path, error);
}

int taut_panels_draw(const char *path, const char *title, const taut_panel *panel, int panels,
                     int width, int height, taut_error *error)
{
    drawing d = {
        .title = title, .panel = panel, .panels = panels, .width = width, .height = height};
    taut_file_sink *sink = NULL;
    TAUT_TRY(taut_picture_kind(path, &d.svg, error));
    int curves = 0;
    for (int k = 0; k < panels; k++)
        curves += panel[k].curves;
    if (curves < 1 || panels > TAUT_PANELS)
        return taut_fail(error, TAUT_ERROR_USAGE, "there is nothing to draw");
    TAUT_TRY(taut_writer_create(path, sizeof(taut_gnuplot), &sink, error));
    sink->discard = discard;
    int status = draw(sink, &d, error);
    taut_file_sink_destroy(sink);
    return status;
}
