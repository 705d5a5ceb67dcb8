/* hdf5.c - the trajectory as HDF5 in the H5MD layout (version 1.1; de Buyl, Colberg, Hofling
 * 2014):
 *
 *     /h5md                           version, author, creator
 *     /particles/all/position         step, time, value [rows][particles][dimension]; velocity
 *                                     likewise; models with particles only
 *     /observables/coordinates        value [rows][n]; velocities, multipliers, outputs, energy,
 *                                     drift, event (first order: state, algebraic)
 *     /parameters/coordinate_names    and bond_names, output_names, algebraic_names, event_names
 *     /taut                           attribute format; texts: model, version, and those that
 *                                     taut_file_sink_text gives
 *
 * Every element shares one step and one time by hard links, which H5MD allows. Rows are
 * collected and written a chunk at a time, large ones as they come, whole or in pieces; the file is
 * flushed with each, so that an interrupted run leaves what was computed. The library's own
 * messages are kept silent while we are in it and left as they were. */
#ifndef TAUT_CORE
#define _POSIX_C_SOURCE 200809L
#endif

#include "io/writer.h"

#include <errno.h>
#include <string.h>

#ifdef TAUT_HAVE_HDF5

#include <sys/stat.h>

#include "expr/digest.h"
#include "io/hdf5_series.h"

enum { POSITIONS = 2, MOST_SERIES = 10, CHUNK_BYTES = 1 << 16, MOST_CHUNK = 1024, NAME_SIZE = 256 };

typedef taut_hdf5_series series;

/* What the file holds besides rows. */
typedef struct named_text {
    char *name, *text;
} named_text;

typedef struct hdf5 {
    hid_t file;
    taut_hdf5_file disk; /* records which write failed: HDF5 does not */
    taut_sizes sizes;
    bool particles;
    int count;
    series series[MOST_SERIES];
    hsize_t written;   /* rows in the file */
    hsize_t extent;    /* rows that there are; more than written after a resumption */
    hsize_t waiting;   /* rows in the buffers */
    hsize_t chunk;     /* rows of a chunk; of one row there are no buffers */
    int part, vectors; /* of a row in pieces: the next series; those of q, v, lambda */
    taut_index at;     /* in it */
    /* of the positions of the latest row, when it was last asked for */
    unsigned char latest[TAUT_DIGEST_BYTES];
    taut_hdf5_report report; /* of the host */
    bool closed;             /* the file is complete: texts are still replaced */
    int64_t texts, room;
    named_text *text;
} hdf5;

static void quiet(hdf5 *w)
{
    errno = 0;
    taut_hdf5_quiet(&w->report);
}

static void loud(hdf5 *w)
{
    taut_hdf5_loud(&w->report);
}

static int fail(const taut_file_sink *sink, const char *what, taut_error *error)
{
    const hdf5 *w = sink->work;
    int number = w->disk.failure ? w->disk.failure : errno;
    int code = taut_fail(error, TAUT_ERROR_FILE, "cannot %s %.300s: %s", what, sink->path,
                         number ? strerror(number) : "the HDF5 library refuses it");
    if (error)
        snprintf(error->file, sizeof error->file, "%s", sink->path);
    return code;
}

/* ---- series */

/* The first group holds step and time; the others link to them. */
static bool link_times(hdf5 *w, const series *s, const char *first)
{
    static const char *const names[2] = {"step", "time"};
    char from[120], to[120];
    for (int k = 0; k < 2 && strcmp(s->group, first) != 0; k++) {
        snprintf(from, sizeof from, "/%s/%s", first, names[k]);
        snprintf(to, sizeof to, "/%s/%s", s->group, names[k]);
        if (taut_h5.Lcreate_hard(w->file, from, w->file, to, H5P_DEFAULT, H5P_DEFAULT) < 0)
            return false;
    }
    return true;
}

static bool reach(const hdf5 *w, const series *s, hsize_t rows)
{
    return rows <= w->extent || taut_hdf5_series_extend(s, rows);
}

static bool write_chunk(const hdf5 *w, const series *s)
{
    return !s->buffer || (reach(w, s, w->written + w->waiting) &&
                          taut_hdf5_series_write(s, w->written, w->waiting));
}

static int flush_rows(taut_file_sink *sink, taut_error *error)
{
    hdf5 *w = sink->work;
    if (w->waiting == 0)
        return TAUT_OK;
    for (int k = 0; k < w->count; k++)
        if (!write_chunk(w, &w->series[k]))
            return fail(sink, "write", error);
    w->written += w->waiting;
    w->extent = w->extent > w->written ? w->extent : w->written;
    w->waiting = 0;
    return taut_h5.Fflush(w->file, H5F_SCOPE_LOCAL) < 0 || w->disk.failure
               ? fail(sink, "write", error)
               : TAUT_OK;
}

/* ---- the sink */

static void add_series(hdf5 *w, const char *group, const char *name, taut_index width,
                       taut_index parts)
{
    if (width > 0)
        w->series[w->count++] =
            (series){.group = group, .name = name, .width = width, .parts = parts, .set = -1};
}

/* Are all coordinates components of particles? The first is an x, and the last the last
 * component. */
static bool only_particles(const taut_system *system, const taut_sizes *sizes)
{
    taut_index n = sizes->coordinates;
    char name[NAME_SIZE];
    if (sizes->kind != TAUT_MECHANICAL || sizes->dimension < 2 || n == 0 ||
        n % sizes->dimension != 0)
        return false;
    for (taut_index k = 0; k < n; k++) {
        int length = taut_system_name(system, TAUT_COORDINATE, k, name, sizeof name);
        if (length < 3 || length >= NAME_SIZE || name[length - 2] != '.' ||
            name[length - 1] != "xyz"[k % sizes->dimension])
            return false;
    }
    return true;
}

/* The series in the order in which put_row fills them: step, time, q, v, lambda, outputs, energy,
 * drift (two), event. */
static void plan_series(hdf5 *w, const taut_system *system)
{
    const taut_sizes *z = &w->sizes;
    bool mechanical = z->kind == TAUT_MECHANICAL;
    w->particles = only_particles(system, z);
    const char *first = w->particles ? "particles/all/position"
                        : mechanical ? "observables/coordinates"
                                     : "observables/state";
    taut_index parts = w->particles ? z->dimension : 1;
    w->count = 0;
    add_series(w, first, "step", 1, 0);
    add_series(w, first, "time", 1, 0);
    add_series(w, first, "value", z->coordinates, parts);
    if (mechanical) {
        add_series(w, w->particles ? "particles/all/velocity" : "observables/velocities", "value",
                   z->coordinates, parts);
        add_series(w, "observables/multipliers", "value", z->bonds, 1);
    } else {
        add_series(w, "observables/algebraic", "value", z->algebraic, 1);
    }
    w->vectors = w->count - POSITIONS;
    add_series(w, "observables/outputs", "value", z->outputs, 1);
    if (mechanical)
        add_series(w, "observables/energy", "value", 1, 0);
    add_series(w, "observables/drift", "value", 2, 1);
    add_series(w, "observables/event", "value", z->events > 0, 0);
}

static int get_buffers(taut_file_sink *sink, taut_error *error)
{
    hdf5 *w = sink->work;
    int64_t width = 0;
    for (int k = 0; k < w->count; k++)
        width += w->series[k].width;
    int64_t rows = CHUNK_BYTES / (8 * width);
    w->chunk = (hsize_t)(rows < 1 ? 1 : rows > MOST_CHUNK ? MOST_CHUNK : rows);
    for (int k = 0; k < w->count && w->chunk > 1; k++) {
        series *s = &w->series[k];
        if (!(s->buffer = TAUT_NEW(&sink->arena, double, (int64_t)w->chunk * s->width)))
            return taut_fail_memory(error);
    }
    return TAUT_OK;
}

/* Texts of a file that goes on stay as they are unless they differ. */
static bool write_texts(hdf5 *w)
{
    bool good = true;
    for (int64_t k = 0; good && k < w->texts; k++)
        good = taut_hdf5_text_put(w->file, w->text[k].name, w->text[k].text);
    return good;
}

static bool write_head(hdf5 *w, const taut_system *system)
{
    const taut_sizes *z = &w->sizes;
    bool good = taut_hdf5_identity(w->file);
    for (int k = 0; good && k < w->count; k++)
        good = taut_hdf5_series_create(w->file, &w->series[k], w->chunk) &&
               link_times(w, &w->series[k], w->series[0].group);
    return good && (!w->particles || taut_hdf5_box(w->file, z->dimension)) &&
           taut_hdf5_names(w->file, "/parameters/coordinate_names", system, TAUT_COORDINATE,
                           z->coordinates) &&
           taut_hdf5_names(w->file, "/parameters/bond_names", system, TAUT_BOND, z->bonds) &&
           taut_hdf5_names(w->file, "/parameters/algebraic_names", system, TAUT_ALGEBRAIC,
                           z->algebraic) &&
           taut_hdf5_names(w->file, "/parameters/output_names", system, TAUT_OUTPUT, z->outputs) &&
           taut_hdf5_names(w->file, "/parameters/event_names", system, TAUT_EVENT_ITEM,
                           z->events) &&
           write_texts(w);
}

/* Rows of an earlier process behind those of this one, which ended before them. */
static bool shorten(const hdf5 *w)
{
    bool good = true;
    for (int k = 0; good && k < w->count; k++)
        good = taut_hdf5_series_extend(&w->series[k], w->written);
    return good;
}

static int close_file(taut_file_sink *sink, taut_error *error)
{
    hdf5 *w = sink->work;
    int status = TAUT_OK;
    if (w->file < 0)
        return TAUT_OK;
    if (w->disk.failure == 0) /* else it has been said */
        status = flush_rows(sink, error);
    bool said = w->disk.failure != 0;
    if (!said && w->extent > w->written && !shorten(w))
        status = status == 0 ? fail(sink, "write", error) : status;
    for (int k = 0; k < w->count; k++)
        if (w->series[k].set >= 0)
            taut_h5.Dclose(w->series[k].set);
    if ((taut_h5.Fclose(w->file) < 0 || (w->disk.failure && !said)) && status == 0)
        status = fail(sink, "close", error);
    w->file = -1;
    w->closed = sink->begun && status == 0;
    sink->begun = false;
    taut_hdf5_release(&w->disk);
    return status;
}

/* Opens the series of a file that this sink has written. Rows behind the mark stay until they are
 * written again, with the same numbers. */
static bool read_head(hdf5 *w, hsize_t rows)
{
    bool good = true;
    w->extent = H5S_UNLIMITED;
    for (int k = 0; good && k < w->count; k++) {
        hsize_t extent = 0;
        good = taut_hdf5_series_open(w->file, &w->series[k], rows, &extent);
        /* the file may have been cut off between two series */
        w->extent = extent < w->extent ? extent : w->extent;
    }
    w->written = rows;
    return good;
}

static bool digest_latest(hdf5 *w)
{
    enum { PIECE = 1 << 12 };
    const series *s = &w->series[POSITIONS];
    double piece[PIECE];
    taut_digest d;
    bool good = true;
    taut_digest_begin(&d);
    for (taut_index at = 0, size; good && at < s->width; at += size) {
        size = s->width - at < PIECE ? s->width - at : PIECE;
        good = taut_hdf5_series_get(s, w->written - 1, (hsize_t)at, (hsize_t)size, piece);
        taut_digest_add(&d, piece, (size_t)size * sizeof *piece);
    }
    taut_digest_end(&d, w->latest);
    return good;
}

/* The latest row is still the one that was written. */
static bool has_latest(taut_file_sink *sink)
{
    hdf5 *w = sink->work;
    if (w->written == 0 || sink->resume.memory_bytes == 0)
        return true;
    return sink->resume.memory_bytes == sizeof w->latest && digest_latest(w) &&
           memcmp(w->latest, sink->resume.memory, sizeof w->latest) == 0;
}

/* A file that others can read from its first moment on: it is made under another name, and takes
 * its own when its head is written. What is no regular file is opened itself. */
static bool make_file(taut_file_sink *sink, const taut_system *system, hid_t access)
{
    hdf5 *w = sink->work;
    struct stat status;
    char partial[1024];
    int used = snprintf(partial, sizeof partial, "%s.part", sink->path);
    bool direct = used < 0 || (size_t)used >= sizeof partial ||
                  (lstat(sink->path, &status) == 0 && !S_ISREG(status.st_mode));
    if (!direct)
        w->file = taut_h5.Fcreate(partial, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    direct = direct || w->file < 0;
    if (direct)
        w->file = taut_h5.Fcreate(sink->path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (w->file < 0)
        return false;
    bool good = write_head(w, system) && taut_h5.Fflush(w->file, H5F_SCOPE_LOCAL) >= 0 &&
                w->disk.failure == 0;
    if (!direct && good && rename(partial, sink->path) != 0)
        good = false;
    if (!direct && !good) {
        int reason = errno;
        remove(partial);
        errno = reason;
    }
    return good;
}

/* In the list of texts, in place of an earlier one. */
static int keep_text(taut_file_sink *sink, const char *name, const char *text, taut_error *error)
{
    hdf5 *w = sink->work;
    int64_t k = 0;
    while (k < w->texts && strcmp(w->text[k].name, name) != 0)
        k++;
    if (k == w->texts) {
        named_text *list = taut_arena_grow(&sink->arena, w->text, k, &w->room, sizeof *list);
        TAUT_NEED(error, list);
        w->text = list;
        list[k] = (named_text){.name = taut_arena_text(&sink->arena, name, strlen(name))};
        TAUT_NEED(error, list[k].name);
        w->texts++;
    }
    w->text[k].text = taut_arena_text(&sink->arena, text, strlen(text));
    return w->text[k].text ? TAUT_OK : taut_fail_memory(error);
}

/* Of a file that is open, or complete; before that, begin writes it. */
static int set_text(taut_file_sink *sink, const char *name, const char *text, taut_error *error)
{
    hdf5 *w = sink->work;
    TAUT_TRY(keep_text(sink, name, text, error));
    if (!sink->begun && !w->closed)
        return TAUT_OK;
    quiet(w);
    if (!sink->begun) {
        hid_t access = taut_hdf5_access(&w->disk);
        w->file = access < 0 ? -1 : taut_h5.Fopen(sink->path, H5F_ACC_RDWR, access);
        taut_h5.Pclose(access);
    }
    bool good = w->file >= 0 && taut_hdf5_text_put(w->file, name, text) &&
                taut_h5.Fflush(w->file, H5F_SCOPE_LOCAL) >= 0;
    if (!sink->begun) {
        good = w->file >= 0 && taut_h5.Fclose(w->file) >= 0 && good;
        w->file = -1;
    }
    int status = good && w->disk.failure == 0 ? TAUT_OK : fail(sink, "write", error);
    if (!sink->begun)
        taut_hdf5_release(&w->disk);
    loud(w);
    return status;
}

static int begin(void *user, const taut_system *system, taut_error *error)
{
    taut_file_sink *sink = user;
    hdf5 *w = sink->work;
    taut_system_sizes(system, &w->sizes);
    plan_series(w, system);
    TAUT_TRY(get_buffers(sink, error));
    TAUT_TRY(keep_text(sink, "version", taut_version(), error));
    if (taut_system_text(system, NULL))
        TAUT_TRY(keep_text(sink, "model", taut_system_text(system, NULL), error));
    w->written = w->waiting = w->extent = 0;
    int64_t rows = sink->resume.rows;
    bool good = false;
    quiet(w);
    hid_t access = taut_hdf5_access(&w->disk);
    if (access >= 0 && rows >= 0)
        w->file = taut_h5.Fopen(sink->path, H5F_ACC_RDWR, access);
    if (access >= 0)
        good = rows >= 0 ? w->file >= 0 && read_head(w, (hsize_t)rows) && has_latest(sink) &&
                               write_texts(w)
                         : make_file(sink, system, access);
    int status = good          ? TAUT_OK
                 : w->file < 0 ? fail(sink, "open", error)
                 : rows < 0    ? fail(sink, "write", error)
                               : taut_fail(error, TAUT_ERROR_FILE,
                                           "cannot continue %.300s: it does not have the %lld rows "
                                              "that it had; was it replaced?",
                                           sink->path, (long long)rows);
    taut_h5.Pclose(access);
    w->extent = good ? w->extent : w->written;
    if (!good && w->file >= 0)
        close_file(sink, NULL);
    else if (!good)
        taut_hdf5_release(&w->disk);
    sink->begun = good;
    sink->resume.rows = -1;
    loud(w);
    return status;
}

/* Numbers of series k in the row that is being written. */
static bool put(const hdf5 *w, int k, taut_index at, const double *x, taut_index count)
{
    const series *s = &w->series[k];
    if (s->buffer)
        memcpy(s->buffer + w->waiting * (hsize_t)s->width + at, x, (size_t)count * sizeof *x);
    return s->buffer || (reach(w, s, w->written + 1) &&
                         taut_hdf5_series_put(s, w->written, (hsize_t)at, (hsize_t)count, x));
}

/* The next numbers of q, v and lambda. */
static bool put_next(hdf5 *w, const double *x, taut_index count)
{
    bool good = true;
    for (taut_index size; good && count > 0; x += size, count -= size) {
        taut_index left = w->series[w->part].width - w->at;
        size = count < left ? count : left;
        good = put(w, w->part, w->at, x, size);
        w->at = size < left ? w->at + size : 0;
        w->part += size == left;
    }
    return good;
}

static int flush_quietly(taut_file_sink *sink, taut_error *error)
{
    quiet(sink->work);
    int status = flush_rows(sink, error);
    loud(sink->work);
    return status;
}

static int finish_row(taut_file_sink *sink, taut_error *error)
{
    hdf5 *w = sink->work;
    return ++w->waiting < w->chunk ? TAUT_OK : flush_quietly(sink, error);
}

static bool put_row(hdf5 *w, const taut_row *values)
{
    const taut_sizes *z = &w->sizes;
    const bool mechanical = z->kind == TAUT_MECHANICAL;
    const double number = (double)(w->written + w->waiting), event = values->event,
                 drift[2] = {values->drift_position, values->drift_velocity};
    int k = POSITIONS + w->vectors;
    w->part = POSITIONS;
    w->at = 0;
    return put(w, 0, 0, &number, 1) && put(w, 1, 0, &values->t, 1) &&
           (!values->q || (put_next(w, values->q, z->coordinates) &&
                           put_next(w, values->v, mechanical ? z->coordinates : z->algebraic) &&
                           put_next(w, values->lambda, mechanical ? z->bonds : 0))) &&
           (z->outputs == 0 || put(w, k++, 0, values->outputs, z->outputs)) &&
           (!mechanical || put(w, k++, 0, &values->energy, 1)) && put(w, k++, 0, drift, 2) &&
           (z->events == 0 || put(w, k++, 0, &event, 1));
}

static int row(void *user, const taut_row *values, taut_error *error)
{
    taut_file_sink *sink = user;
    hdf5 *w = sink->work;
    quiet(w);
    bool good = put_row(w, values);
    int status = good ? TAUT_OK : fail(sink, "write", error);
    loud(w);
    return !good || !values->q ? status : finish_row(sink, error);
}

static int piece(void *user, const double *x, taut_index count, taut_error *error)
{
    taut_file_sink *sink = user;
    hdf5 *w = sink->work;
    int64_t left = -w->at;
    for (int k = w->part; k < POSITIONS + w->vectors; k++)
        left += w->series[k].width;
    TAUT_REQUIRE(count >= 0 && (count > 0 ? x && count <= left : left == 0));
    if (count == 0)
        return finish_row(sink, error);
    quiet(w);
    int status = put_next(w, x, count) ? TAUT_OK : fail(sink, "write", error);
    loud(w);
    return status;
}

static int end(void *user, taut_error *error)
{
    taut_file_sink *sink = user;
    hdf5 *w = sink->work;
    quiet(w);
    int status = close_file(sink, error);
    loud(w);
    return status;
}

static void discard(taut_file_sink *sink)
{
    end(sink, NULL);
}

/* Rows go to the file before their chunk is full. */
static int mark(taut_file_sink *sink, taut_error *error)
{
    hdf5 *w = sink->work;
    int status = flush_quietly(sink, error);
    quiet(w);
    if (status == 0 && (taut_hdf5_sync(&w->disk) != 0 || (w->written > 0 && !digest_latest(w))))
        status = fail(sink, "write", error);
    loud(w);
    sink->rows = (int64_t)w->written;
    sink->memory = w->latest;
    sink->memory_bytes = w->written > 0 ? sizeof w->latest : 0;
    return status;
}

int taut_hdf5_create(const char *path, taut_file_sink **file, taut_sink *sink, taut_error *error)
{
    if (path && strcmp(path, "-") == 0)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "HDF5 cannot be written to standard output: a file name is needed");
    TAUT_REQUIRE(sink);
    TAUT_TRY(taut_hdf5_load("no HDF5 output (a name that ends in .csv needs none)", error));
    TAUT_TRY(taut_writer_create(path, sizeof(hdf5), file, error));
    ((hdf5 *)(*file)->work)->file = -1;
    (*file)->discard = discard;
    (*file)->mark = mark;
    (*file)->text = set_text;
    *sink = (taut_sink){begin, row, end, *file, piece};
    return TAUT_OK;
}

#else

int taut_hdf5_create(const char *path, taut_file_sink **file, taut_sink *sink, taut_error *error)
{
    TAUT_REQUIRE(file && sink);
    *file = NULL;
    return taut_fail(error, TAUT_ERROR_UNAVAILABLE,
                     "this build has no HDF5, so %.200s cannot be written: give a name that ends "
                     "in .csv, or build with libhdf5",
                     path ? path : "it");
}

#endif
