/* run_record_hdf5.c - reads the rows, names and texts that hdf5.c writes. Series that the file
 * lacks are NaN (energy, drift) or zeros (event). Of a run that was killed some series may have a
 * chunk more than others: rows are those that all of them have. */
#include "io/run_record.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "io/hdf5_pieces.h"

#ifdef TAUT_HAVE_HDF5

enum { PLACES = 3, MOST_TEXTS = 1000, NAME_SIZE = 64 };

static int fail(const taut_record *r, const char *why, taut_error *error)
{
    int code = taut_fail(error, TAUT_ERROR_FILE, "cannot read %.300s: %s", r->path, why);
    if (error)
        snprintf(error->file, sizeof error->file, "%s", r->path);
    return code;
}

/* The file while it is open, by HDF5's own driver: what it cannot close of a damaged file stays
 * with it. */
typedef struct reader {
    hid_t file;
    taut_hdf5_report report;
} reader;

/* Where the file has its time, positions and velocities: particles, mechanical, first order. */
static const char *const places[PLACES][3] = {
    {"/particles/all/position/time", "/particles/all/position/value",
     "/particles/all/velocity/value"},
    {"/observables/coordinates/time", "/observables/coordinates/value",
     "/observables/velocities/value"},
    {"/observables/state/time", "/observables/state/value", "/observables/algebraic/value"}};

static int open_file(reader *file, const taut_record *r, taut_error *error)
{
    TAUT_TRY(taut_hdf5_load("HDF5 files cannot be read", error));
    taut_hdf5_quiet(&file->report);
    errno = 0;
    file->file = taut_h5.Fopen(r->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    int number = errno;
    if (file->file >= 0)
        return TAUT_OK;
    taut_hdf5_loud(&file->report);
    return fail(r, number ? strerror(number) : "it is not an HDF5 file, or it is damaged", error);
}

static void close_file(reader *file)
{
    taut_h5.Fclose(file->file);
    taut_hdf5_loud(&file->report);
}

/* Lexists needs every group above to exist. */
static bool exists(hid_t file, const char *path)
{
    char part[120];
    for (const char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", slash ? (int)(slash - path) : 100, path);
        if (taut_h5.Lexists(file, part, H5P_DEFAULT) <= 0)
            return false;
        if (!slash)
            return true;
    }
}

/* ---- rows */

/* The shape of a dataset of numbers by rows: *rows becomes at most what it has. */
static bool look(taut_record *r, hid_t file, int k, const char *path)
{
    hsize_t shape[3] = {0, 1, 1};
    hid_t set = exists(file, path) ? taut_h5.Dopen2(file, path, H5P_DEFAULT) : -1;
    if (set < 0)
        return false;
    hid_t space = taut_h5.Dget_space(set);
    int rank = taut_h5.Sget_simple_extent_ndims(space);
    bool good = rank >= 1 && rank <= 3 &&
                taut_h5.Sget_simple_extent_dims(space, shape, NULL) == rank &&
                shape[0] < INT64_MAX / 64 && shape[1] < INT32_MAX && shape[2] < INT32_MAX &&
                shape[1] * shape[2] < INT32_MAX;
    taut_h5.Sclose(space);
    taut_h5.Dclose(set);
    if (!good)
        return false;
    r->field[k] = (taut_record_field){path, (taut_index)(shape[1] * shape[2]),
                                      rank == 3 ? (taut_index)shape[2] : 0};
    r->rows = k == TAUT_RECORD_TIME || (int64_t)shape[0] < r->rows ? (int64_t)shape[0] : r->rows;
    return true;
}

static bool look_at_series(taut_record *r, hid_t file)
{
    int k = 0;
    while (k < PLACES && !exists(file, places[k][1]))
        k++;
    if (k == PLACES || !look(r, file, TAUT_RECORD_TIME, places[k][0]) ||
        !look(r, file, TAUT_RECORD_POSITION, places[k][1]) || r->field[TAUT_RECORD_TIME].width != 1)
        return false;
    look(r, file, TAUT_RECORD_VELOCITY, places[k][2]);
    look(r, file, TAUT_RECORD_MULTIPLIER, "/observables/multipliers/value");
    look(r, file, TAUT_RECORD_OUTPUT, "/observables/outputs/value");
    look(r, file, TAUT_RECORD_ENERGY, "/observables/energy/value");
    look(r, file, TAUT_RECORD_DRIFT, "/observables/drift/value");
    look(r, file, TAUT_RECORD_EVENT, "/observables/event/value");
    r->sizes.kind = k < 2 ? TAUT_MECHANICAL : TAUT_FIRST_ORDER;
    r->sizes.dimension = k == 0 ? r->field[TAUT_RECORD_POSITION].parts : 0;
    r->sizes.coordinates = r->field[TAUT_RECORD_POSITION].width;
    r->sizes.algebraic = k < 2 ? 0 : r->field[TAUT_RECORD_VELOCITY].width;
    r->sizes.bonds = r->field[TAUT_RECORD_MULTIPLIER].width;
    r->sizes.outputs = r->field[TAUT_RECORD_OUTPUT].width;
    return (k == 2 || r->field[TAUT_RECORD_VELOCITY].width == r->sizes.coordinates) &&
           r->field[TAUT_RECORD_ENERGY].width <= 1 && r->field[TAUT_RECORD_EVENT].width <= 1 &&
           (r->field[TAUT_RECORD_DRIFT].width == 0 || r->field[TAUT_RECORD_DRIFT].width == 2);
}

static bool read_rows(const taut_record *r, hid_t file, int k, int64_t first, int64_t count,
                      double *to)
{
    const taut_record_field *f = &r->field[k];
    if (count == 0)
        return true;
    hid_t set = taut_h5.Dopen2(file, f->path, H5P_DEFAULT);
    if (set < 0)
        return false;
    hid_t space = taut_h5.Dget_space(set);
    int rank = taut_h5.Sget_simple_extent_ndims(space);
    hsize_t start[3] = {(hsize_t)first, 0, 0}, shape[3] = {(hsize_t)count, (hsize_t)f->width, 1};
    if (f->parts > 0) {
        shape[1] = (hsize_t)(f->width / f->parts);
        shape[2] = (hsize_t)f->parts;
    }
    hid_t memory = rank >= 1 && rank <= 3 ? taut_h5.Screate_simple(rank, shape, NULL) : -1;
    bool good = memory >= 0 &&
                taut_h5.Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, shape, NULL) >= 0 &&
                taut_h5.Dread(set, *taut_h5.T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, to) >= 0;
    if (memory >= 0)
        taut_h5.Sclose(memory);
    taut_h5.Sclose(space);
    taut_h5.Dclose(set);
    return good;
}

/* ---- names and texts */

static int read_names(taut_record *r, hid_t file, taut_item item, const char *path,
                      taut_index *count, taut_error *error)
{
    hsize_t found = 0;
    size_t size = 0;
    char *strings =
        exists(file, path) ? taut_hdf5_strings(file, path, &r->arena, &found, &size) : NULL;
    if (*count < 0) /* as many as there are */
        *count = strings ? (taut_index)found : 0;
    if (*count > 0 && (!strings || found != (hsize_t)*count))
        return fail(r, "names and rows do not fit each other", error);
    r->name[item] = TAUT_NEW(&r->arena, char *, *count);
    TAUT_NEED(error, r->name[item]);
    for (taut_index k = 0; k < *count; k++) {
        const char *name = strings + (size_t)k * size, *end = memchr(name, 0, size);
        size_t length = end ? (size_t)(end - name) : size;
        r->name[item][k] = taut_arena_text(&r->arena, name, length);
        TAUT_NEED(error, r->name[item][k]);
    }
    return TAUT_OK;
}

static int read_texts(taut_record *r, hid_t file, taut_error *error)
{
    H5G_info_t info;
    char name[NAME_SIZE];
    if (!exists(file, "/taut") || taut_h5.Gget_info_by_name(file, "/taut", &info, H5P_DEFAULT) < 0)
        return TAUT_OK;
    int count = info.nlinks < MOST_TEXTS ? (int)info.nlinks : MOST_TEXTS;
    r->text_name = TAUT_NEW(&r->arena, char *, count);
    r->text = TAUT_NEW(&r->arena, char *, count);
    TAUT_NEED(error, r->text_name, r->text);
    for (int k = 0; k < count; k++) {
        ssize_t length = taut_h5.Lget_name_by_idx(file, "/taut", H5_INDEX_NAME, H5_ITER_INC,
                                                  (hsize_t)k, name, sizeof name, H5P_DEFAULT);
        char *text =
            length > 0 && length < NAME_SIZE ? taut_hdf5_text_get(file, name, &r->arena) : NULL;
        if (!text)
            continue;
        r->text[r->texts] = text;
        r->text_name[r->texts] = taut_arena_text(&r->arena, name, strlen(name));
        TAUT_NEED(error, r->text_name[r->texts]);
        r->texts++;
    }
    return TAUT_OK;
}

static int check_format(const taut_record *r, hid_t file, taut_error *error)
{
    int format = 0;
    if (!exists(file, "/taut"))
        return TAUT_OK; /* of an early version: rows and names */
    hid_t attribute = taut_h5.Aopen_by_name(file, "/taut", "format", H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0 || taut_h5.Aread(attribute, *taut_h5.T_NATIVE_INT, &format) < 0)
        format = 0;
    taut_h5.Aclose(attribute);
    if (format <= TAUT_RECORD_FORMAT)
        return TAUT_OK;
    char why[160];
    snprintf(why, sizeof why,
             "it has format %d, which a newer version of Taut wrote; version %s reads formats up "
             "to %d",
             format, taut_version(), TAUT_RECORD_FORMAT);
    return fail(r, why, error);
}

static int read_head(taut_record *r, hid_t file, taut_error *error)
{
    taut_index events = -1;
    taut_sizes *z = &r->sizes;
    TAUT_TRY(check_format(r, file, error));
    if (!look_at_series(r, file))
        return fail(r, "it has no rows of a run of Taut", error);
    TAUT_TRY(read_names(r, file, TAUT_COORDINATE, "/parameters/coordinate_names", &z->coordinates,
                        error));
    TAUT_TRY(
        read_names(r, file, TAUT_ALGEBRAIC, "/parameters/algebraic_names", &z->algebraic, error));
    if (z->kind == TAUT_MECHANICAL) /* others have names of constraints, and no multipliers */
        TAUT_TRY(read_names(r, file, TAUT_BOND, "/parameters/bond_names", &z->bonds, error));
    TAUT_TRY(read_names(r, file, TAUT_OUTPUT, "/parameters/output_names", &z->outputs, error));
    TAUT_TRY(read_names(r, file, TAUT_EVENT_ITEM, "/parameters/event_names", &events, error));
    z->events = events;
    TAUT_TRY(read_texts(r, file, error));
    r->t = TAUT_NEW(&r->arena, double, r->rows);
    TAUT_NEED(error, r->t);
    return read_rows(r, file, TAUT_RECORD_TIME, 0, r->rows, r->t) ? TAUT_OK
                                                                  : fail(r, "it is damaged", error);
}

/* `count` rows of field k, or what stands for them. */
static double *get_field(taut_record *r, hid_t file, int k, int64_t first, int64_t count,
                         bool *good)
{
    taut_index width = k == TAUT_RECORD_ENERGY || k == TAUT_RECORD_EVENT ? 1
                       : k == TAUT_RECORD_DRIFT                          ? 2
                                                                         : r->field[k].width;
    double *values = TAUT_NEW(&r->rows_arena, double, count *width);
    if (values && r->field[k].path)
        *good = *good && read_rows(r, file, k, first, count, values);
    else
        for (int64_t i = 0; values && k != TAUT_RECORD_EVENT && i < count * width; i++)
            values[i] = NAN;
    return values;
}

int taut_record_read_head(taut_record *r, taut_error *error)
{
    reader file;
    TAUT_TRY(open_file(&file, r, error));
    int status = read_head(r, file.file, error);
    close_file(&file);
    return status;
}

int taut_record_read_rows(taut_record *r, int64_t first, int64_t count, double **array,
                          taut_error *error)
{
    reader file;
    bool good = true;
    TAUT_TRY(open_file(&file, r, error));
    for (int k = 0; k < TAUT_RECORD_FIELDS; k++)
        array[k] = get_field(r, file.file, k, first, count, &good);
    close_file(&file);
    TAUT_TRY(taut_arena_check(&r->rows_arena, error));
    return good ? TAUT_OK : fail(r, "it is damaged", error);
}

#else

int taut_record_read_head(taut_record *r, taut_error *error)
{
    return taut_fail(error, TAUT_ERROR_UNAVAILABLE,
                     "this build has no HDF5, so %.200s cannot be read: build with libhdf5",
                     r->path);
}

int taut_record_read_rows(taut_record *r, int64_t first, int64_t count, double **array,
                          taut_error *error)
{
    (void)first;
    (void)count;
    (void)array;
    return taut_record_read_head(r, error);
}

#endif
