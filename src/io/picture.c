/* picture.c - the trajectory as a picture of up to four panels: coordinates, paths in the plane,
 * bond forces (first order: algebraic variables), energy, drift. Paths give way when all are
 * there.
 *
 * At most eight curves a panel, evenly spread over what there is. What is drawn of the rows is kept
 * in memory: all of them, every second one when there are more than MOST_POINTS, every fourth, ...;
 * and the latest. Gnuplot draws at the end. Only numbers and cleaned names get into its script. */
#include "io/panels.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/number.h"

enum {
    WIDTH = 1200,
    HEIGHT = 900,
    CURVES = 8,
    PANELS = TAUT_PANELS,
    NAME_SIZE = 64,
    TITLE_SIZE = 160,
    MOST_POINTS = 5000,
    FEW_COORDINATES = 64,
    COLUMNS = 4 + 4 * CURVES
};

typedef struct curve {
    taut_index x, y; /* of coordinates or bonds; x is used by paths only */
    char name[NAME_SIZE];
} curve;

typedef struct panel {
    char title[TITLE_SIZE];
    int curves;
    curve curve[CURVES];
} panel;

/* What a picture needs of the rows; with it another process goes on (mark). */
typedef struct drawn {
    int64_t rows, kept, stride; /* all; those in `row`, one of `stride` */
    int64_t pulls;              /* a multiplier, or algebraic variable, had a value */
    double energy;              /* of the first row; NaN: no panel */
    double drift;               /* largest; 0: no panel */
    double least[2], most[2];   /* of the paths, x and y */
    double latest[COLUMNS], row[MOST_POINTS][COLUMNS];
} drawn;

typedef struct picture {
    taut_gnuplot gnuplot;
    bool svg, conserved, first_order;
    char title[TITLE_SIZE];
    panel coordinates, paths, bonds;
    drawn seen;
} picture;

static size_t bytes_of(const drawn *s)
{
    return offsetof(drawn, row) + (size_t)s->kept * sizeof s->row[0];
}

/* All rows so far are in memory. */
static int mark(taut_file_sink *sink, taut_error *error)
{
    const drawn *s = &((picture *)sink->work)->seen;
    (void)error;
    sink->rows = s->rows;
    sink->memory = s;
    sink->memory_bytes = bytes_of(s);
    return TAUT_OK;
}

static void keep_latest(drawn *s)
{
    if (s->kept == MOST_POINTS) {
        for (int k = 1; k < MOST_POINTS / 2; k++)
            memcpy(s->row[k], s->row[2 * k], sizeof s->row[k]);
        s->kept = MOST_POINTS / 2;
        s->stride *= 2;
    }
    memcpy(s->row[s->kept++], s->latest, sizeof s->latest);
}

static const char *take_name(const taut_system *system, taut_item item, taut_index k,
                             char cleaned[NAME_SIZE])
{
    char name[NAME_SIZE];
    taut_system_name(system, item, k, name, sizeof name);
    taut_picture_clean(name, cleaned, NAME_SIZE);
    return cleaned;
}

/* k of `shown` curves, spread over `count` things. */
static taut_index spread(int k, int shown, taut_index count)
{
    return shown < 2 ? 0 : (taut_index)((int64_t)k * (count - 1) / (shown - 1));
}

static void set_title(panel *p, const char *what, taut_index count)
{
    if (count > p->curves)
        snprintf(p->title, sizeof p->title, "%s (%d of %d shown)", what, p->curves, (int)count);
    else
        snprintf(p->title, sizeof p->title, "%s", what);
}

static void choose_curves(panel *p, const taut_system *system, taut_item item, taut_index count,
                          const char *what)
{
    p->curves = count < CURVES ? (int)count : CURVES;
    for (int k = 0; k < p->curves; k++) {
        p->curve[k].y = spread(k, p->curves, count);
        take_name(system, item, p->curve[k].y, p->curve[k].name);
    }
    set_title(p, what, count);
}

/* The coordinate that is y to coordinate k's x: "p[1].x" and "p[1].y", "x2" and "y2"; -1 when
 * there is none. */
static taut_index find_partner(const taut_system *system, taut_index k, taut_index n)
{
    char name[NAME_SIZE], next[NAME_SIZE];
    if (taut_system_name(system, TAUT_COORDINATE, k, name, sizeof name) >= NAME_SIZE)
        return -1;
    char *x = strrchr(name, '.');
    x = x ? x + 1 : name;
    if (*x != 'x' || (x > name && x[1] != '\0'))
        return -1;
    *x = 'y';
    if (k + 1 < n &&
        taut_system_name(system, TAUT_COORDINATE, k + 1, next, sizeof next) < NAME_SIZE &&
        strcmp(name, next) == 0)
        return k + 1;
    return n <= FEW_COORDINATES ? taut_system_find(system, TAUT_COORDINATE, name) : -1;
}

static void choose_paths(panel *p, const taut_system *system, taut_index n, bool space)
{
    taut_index pairs = 0, seen = 0;
    for (taut_index k = 0; k < n; k++)
        pairs += find_partner(system, k, n) >= 0;
    int shown = pairs < CURVES ? (int)pairs : CURVES;
    for (taut_index k = 0; k < n && p->curves < shown; k++) {
        taut_index partner = find_partner(system, k, n);
        if (partner < 0 || seen++ != spread(p->curves, shown, pairs))
            continue;
        char x[NAME_SIZE], y[NAME_SIZE];
        curve *c = &p->curve[p->curves++];
        c->x = k;
        c->y = partner;
        take_name(system, TAUT_COORDINATE, k, c->name);
        size_t length = strlen(c->name);
        if (length > 2 && strcmp(c->name + length - 2, ".x") == 0)
            c->name[length - 2] = '\0';
        else
            snprintf(c->name, sizeof c->name, "%.28s, %.28s",
                     take_name(system, TAUT_COORDINATE, k, x),
                     take_name(system, TAUT_COORDINATE, partner, y));
    }
    set_title(p, space ? "paths seen along z" : "paths in the plane", pairs);
}

/* New rows, or behind those of a mark. */
static int begin_rows(taut_file_sink *sink, taut_error *error)
{
    drawn *s = &((picture *)sink->work)->seen;
    const taut_file_mark *from = &sink->resume;
    bool again = from->rows >= 0;
    memset(s, 0, sizeof *s);
    s->stride = 1;
    s->least[0] = s->least[1] = INFINITY;
    s->most[0] = s->most[1] = -INFINITY;
    if (again && from->memory_bytes >= offsetof(drawn, row) && from->memory_bytes <= sizeof *s)
        memcpy(s, from->memory, from->memory_bytes);
    if (s->rows < 0 || s->stride < 1 || s->kept < 0 || s->kept > MOST_POINTS ||
        (again && (s->rows != from->rows || from->memory_bytes != bytes_of(s))))
        return taut_fail(error, TAUT_ERROR_FILE,
                         "cannot continue %.300s: its rows are not those of this version",
                         sink->path);
    sink->resume.rows = -1;
    sink->begun = true;
    return TAUT_OK;
}

static int begin(void *user, const taut_system *system, taut_error *error)
{
    taut_file_sink *sink = user;
    picture *p = sink->work;
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    unsigned drives = TAUT_HAS_FORCES | TAUT_HAS_TIME | TAUT_HAS_MOVING_BONDS | TAUT_HAS_DAMPING |
                      TAUT_HAS_VELOCITY_FORCES;
    taut_event_info event;
    p->conserved = !(sizes.can & drives);
    for (taut_index k = 0; taut_system_event(system, k, &event); k++)
        p->conserved &= !event.alters;
    p->paths.curves = 0;
    choose_curves(&p->coordinates, system, TAUT_COORDINATE, sizes.coordinates,
                  sizes.kind == TAUT_MECHANICAL ? "coordinates" : "state");
    choose_paths(&p->paths, system, sizes.coordinates, sizes.dimension == 3);
    p->first_order = sizes.kind != TAUT_MECHANICAL;
    if (sizes.kind == TAUT_MECHANICAL)
        choose_curves(&p->bonds, system, TAUT_BOND, sizes.bonds, "bond forces (multipliers)");
    else
        choose_curves(&p->bonds, system, TAUT_ALGEBRAIC, sizes.algebraic, "algebraic variables");
    TAUT_TRY(begin_rows(sink, error));
    return taut_gnuplot_open(&p->gnuplot, error);
}

/* Columns: t, energy, drift of positions and of velocities, coordinates, x and y of paths,
 * multipliers. */
static int columns_of(const picture *p)
{
    return 4 + p->coordinates.curves + 2 * p->paths.curves + p->bonds.curves;
}

static int row(void *user, const taut_row *values, taut_error *error)
{
    taut_file_sink *sink = user;
    picture *p = sink->work;
    drawn *s = &p->seen;
    double *x = s->latest;
    (void)error;
    if (s->rows == 0)
        s->energy = values->energy;
    *x++ = values->t;
    *x++ = p->conserved ? values->energy - s->energy : values->energy;
    *x++ = values->drift_position;
    *x++ = values->drift_velocity;
    s->drift = fmax(s->drift, fmax(values->drift_position, values->drift_velocity));
    for (int k = 0; k < p->coordinates.curves; k++)
        *x++ = values->q[p->coordinates.curve[k].y];
    for (int k = 0; k < p->paths.curves; k++)
        for (int j = 0; j < 2; j++, x++) {
            *x = values->q[j ? p->paths.curve[k].y : p->paths.curve[k].x];
            s->least[j] = fmin(s->least[j], *x);
            s->most[j] = fmax(s->most[j], *x);
        }
    for (int k = 0; k < p->bonds.curves; k++, x++) {
        *x = values->lambda[p->bonds.curve[k].y];
        s->pulls |= isfinite(*x);
    }
    if (s->rows++ % s->stride == 0)
        keep_latest(s);
    return TAUT_OK;
}

/* plot 'rows' using X:Y title 'name', ...; x_column 1 is time, 0 means pairs of columns.
 * A curve without a name has no legend. */
static void write_plot(taut_file_sink *sink, const panel *at, int x_column, int column)
{
    taut_writer_format(sink, "set autoscale%s\nset title '%s'\nplot ", x_column ? " xfix" : "",
                       at->title);
    for (int k = 0; k < at->curves; k++) {
        int x = x_column ? x_column : column + 2 * k,
            y = x_column ? column + k : column + 2 * k + 1;
        taut_writer_format(sink, "%s'rows' using %d:%d with lines lt %d title '%s'",
                           k ? ", \\\n  " : "", x, y, k + 1, at->curve[k].name);
    }
    taut_writer_text(sink, "\n");
}

static void write_energy(taut_file_sink *sink, const picture *p)
{
    char number[TAUT_NUMBER_SIZE];
    taut_number_format(p->seen.energy, 6, number);
    panel energy = {.curves = 1};
    snprintf(energy.title, sizeof energy.title,
             p->conserved ? "energy error E - E(0), E(0) = %s" : "energy E, E(0) = %s", number);
    write_plot(sink, &energy, 1, 2);
}

static void write_drift(taut_file_sink *sink, const picture *p)
{
    panel drift = {.curves = p->first_order ? 1 : 2,
                   .title = "drift from what should hold exactly"};
    strcpy(drift.curve[0].name, p->first_order ? "invariants" : "positions");
    strcpy(drift.curve[1].name, "velocities");
    write_plot(sink, &drift, 1, 3);
}

/* Half of the rows are in the first thousandth of the time, as those of steps that grow over many
 * decades: a linear axis would show nothing of them. */
static bool is_long(const drawn *s)
{
    static const double SHARE = 1e-3;
    double middle = s->row[s->kept / 2][0], end = s->latest[0];
    return s->row[0][0] >= 0 && middle > 0 && middle < SHARE * end;
}

/* Both axes have the same scale, and with it the same tics. */
static void write_paths(taut_file_sink *sink, const picture *p, int column)
{
    enum { MOST_TICS = 6 };
    double length = fmax(p->seen.most[0] - p->seen.least[0], p->seen.most[1] - p->seen.least[1]);
    if (is_long(&p->seen))
        taut_writer_text(sink, "unset logscale x\nset format x '%g'\n");
    taut_writer_text(sink,
                     "set size ratio -1\nset xlabel 'x' offset 0,0.5\nset ylabel 'y' offset 1,0\n");
    if (length > 0 && isfinite(length))
        taut_writer_format(sink, "set tics %g\n", taut_picture_step(length, MOST_TICS));
    write_plot(sink, &p->paths, 0, column);
    taut_writer_text(sink, "set xlabel 't' offset 0,0.5\nunset ylabel\nset tics autofreq\n");
    if (is_long(&p->seen))
        taut_writer_text(sink, "set logscale x\nset format x '1e%T'\n");
}

static void write_script(taut_file_sink *sink, const picture *p)
{
    bool bonds = p->bonds.curves > 0 && p->seen.pulls, energy = isfinite(p->seen.energy),
         drift = p->seen.drift > 0;
    /* what matters comes first */
    bool paths = p->paths.curves > 0 && 2 + bonds + energy + drift <= PANELS;
    int panels = 1 + paths + bonds + energy + drift, k = 0, column = 5;
    taut_picture_begin(sink, p->svg, WIDTH, HEIGHT, p->title);
    taut_picture_place(sink, k++, panels, true);
    taut_writer_text(sink, "set xlabel 't' offset 0,0.5\n");
    if (is_long(&p->seen))
        taut_writer_text(sink, "set logscale x\nset format x '1e%T'\n");
    write_plot(sink, &p->coordinates, 1, column);
    column += p->coordinates.curves;
    if (!paths)
        column += 2 * p->paths.curves;
    if (paths) {
        taut_picture_place(sink, k++, panels, true);
        write_paths(sink, p, column);
        column += 2 * p->paths.curves;
    }
    if (bonds) {
        taut_picture_place(sink, k++, panels, true);
        write_plot(sink, &p->bonds, 1, column);
    }
    if (energy) {
        taut_picture_place(sink, k++, panels, true);
        write_energy(sink, p);
    }
    if (drift) {
        taut_picture_place(sink, k++, panels, true);
        write_drift(sink, p);
    }
    taut_writer_text(sink, "unset multiplot\nunset output\n");
}

static void write_rows(taut_file_sink *sink, const picture *p)
{
    const drawn *s = &p->seen;
    bool more = (s->rows - 1) % s->stride != 0; /* the latest is not among those kept */
    int columns = columns_of(p);
    for (int64_t k = 0; k < s->kept + more; k++)
        for (int j = 0; j < columns; j++)
            taut_writer_format(sink, j + 1 < columns ? "%g " : "%g\n",
                               k < s->kept ? s->row[k][j] : s->latest[j]);
}

static int write_file(taut_file_sink *sink, const char *name,
                      void (*write)(taut_file_sink *sink, const picture *p), taut_error *error)
{
    char path[TAUT_GNUPLOT_PATH];
    picture *p = sink->work;
    taut_gnuplot_path(&p->gnuplot, name, path);
    TAUT_TRY(taut_writer_open(sink, path, error));
    write(sink, p);
    return taut_writer_close(sink, error);
}

static int end(void *user, taut_error *error)
{
    taut_file_sink *sink = user;
    picture *p = sink->work;
    sink->begun = false;
    if (p->seen.rows == 0)
        return TAUT_OK; /* nothing was computed: nothing to draw */
    TAUT_TRY(write_file(sink, "rows", write_rows, error));
    TAUT_TRY(write_file(sink, "script", write_script, error));
    TAUT_TRY(taut_gnuplot_run(&p->gnuplot, error));
    int status = taut_gnuplot_deliver(&p->gnuplot, sink->path, error);
    taut_gnuplot_discard(&p->gnuplot);
    return status;
}

static void discard(taut_file_sink *sink)
{
    taut_gnuplot_discard(&((picture *)sink->work)->gnuplot);
}

int taut_picture_create(const char *path, const char *title, taut_file_sink **file, taut_sink *sink,
                        taut_error *error)
{
    TAUT_REQUIRE(sink);
    TAUT_TRY(taut_writer_create(path, sizeof(picture), file, error));
    picture *p = (*file)->work;
    int status = taut_picture_kind(path, &p->svg, error);
    if (status == 0)
        status = taut_gnuplot_find(&p->gnuplot, error);
    if (status != 0) {
        taut_file_sink_destroy(*file);
        *file = NULL;
        return status;
    }
    taut_picture_clean(title ? title : "", p->title, sizeof p->title);
    (*file)->discard = discard;
    (*file)->mark = mark;
    *sink = (taut_sink){.begin = begin, .row = row, .end = end, .user = *file};
    return TAUT_OK;
}
