/* test_record.c - runs that are read back from HDF5 files: the same bits as rows in memory, names,
 * texts that are replaced, the nearest row, files of a newer format, cut off and damaged ones. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/run.h"

#ifndef TAUT_HAVE_HDF5

int main(void)
{
    taut_record *record = NULL;
    taut_error error;
    check_group("records");
    check_equal("without HDF5", taut_record_open("a.h5", NULL, &record, &error),
                TAUT_ERROR_UNAVAILABLE);
    return check_done();
}

#else

#include <hdf5.h>

#define BALL                                                                                       \
    "# a ball on a spring\n[coordinates]\nx, y\n[potential]\n9.81*y\n[bonds]\n"                    \
    "link = sqrt(x^2 + y^2) - 1   stiffness 40\n[start]\nx = 1\n[outputs]\nr = sqrt(x^2 + y^2)\n"  \
    "[events]\nfloor = y + 1.1   falling   then y' = -0.9*y'\n"
#define PARTICLES                                                                                  \
    "[particles]\ndimension = 3\np[i] for i in 1..4   mass 1\n[bonds]\n"                           \
    "b[i] = length(p[i] - p[i-1]) - 1 for i in 2..4\n[start]\np[i] = (i, 0, 0) for i in 1..4\n"    \
    "p[1]' = (0, 1, 0.5)\n"
#define FIRST_ORDER                                                                                \
    "[state]\nx, y\n[algebraic]\nmu\n[rates]\nx' = y + mu*x\ny' = -x + mu*y\n[constraints]\n"      \
    "circle = x^2 + y^2 - 1\n[start]\nx = 1, y = 0\n"

static char path[200];

/* The run, into the file and into memory. */
static taut_memory_sink *run_into(driven *d, taut_file_sink **file)
{
    taut_memory_sink *memory = NULL;
    taut_sink sinks[2];
    int code = taut_hdf5_create(path, file, &sinks[0], &d->error);
    if (code == 0)
        code = taut_file_sink_text(*file, "command", "first", &d->error);
    if (code == 0)
        code = taut_memory_sink_create(NULL, &memory, &sinks[1], &d->error);
    if (code == 0)
        code = taut_solver_run(d->solver, sinks, 2, NULL, NULL, &d->error);
    check_row(code >= 0, "run: %s", d->error.message);
    return memory;
}

static bool same(const double *a, const double *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
}

static void compare_rows(const taut_memory_rows *a, const taut_memory_rows *b, int64_t first)
{
    int64_t n = b->rows;
    check_row(a->coordinates == b->coordinates && a->velocities == b->velocities &&
                  a->multipliers == b->multipliers && a->outputs == b->outputs,
              "widths %d %d %d %d", b->coordinates, b->velocities, b->multipliers, b->outputs);
    check_row(same(a->t + first, b->t, n) &&
                  same(a->q + first * a->coordinates, b->q, n * a->coordinates) &&
                  same(a->v + first * a->velocities, b->v, n * a->velocities) &&
                  same(a->lambda + first * a->multipliers, b->lambda, n * a->multipliers) &&
                  same(a->output + first * a->outputs, b->output, n * a->outputs) &&
                  same(a->energy + first, b->energy, n) &&
                  same(a->drift + 2 * first, b->drift, 2 * n) &&
                  same(a->event + first, b->event, n),
              "the bits of %lld rows from %lld on", (long long)n, (long long)first);
}

static void compare_names(const driven *d, const taut_record *record)
{
    static const taut_item items[] = {TAUT_COORDINATE, TAUT_ALGEBRAIC, TAUT_OUTPUT,
                                      TAUT_EVENT_ITEM};
    char name[100];
    int wrong = 0, count = 0;
    for (int i = 0; i < 4; i++)
        for (taut_index k = 0;; k++, count++) {
            const char *found = taut_record_name(record, items[i], k);
            int length = taut_system_name(d->system, items[i], k, name, sizeof name);
            if (length == 0 && !found)
                break;
            if (wrong += length == 0 || !found || strcmp(name, found) != 0, wrong)
                break;
        }
    check_row(wrong == 0 && count > 0, "%d names", count);
}

static void test_rows(const char *name, const char *model, const char *options, int dimension)
{
    check_group(name);
    driven d = driven_create(model, options, NULL);
    check_row(d.code == 0, "%s", d.error.message);
    taut_file_sink *file = NULL;
    taut_memory_sink *memory = run_into(&d, &file);
    taut_record *record = NULL;
    taut_memory_rows whole = {.size = sizeof whole}, got = {.size = sizeof got};
    taut_sizes z = {.size = sizeof z};
    int64_t rows = -1;
    check_equal("open", taut_record_open(path, NULL, &record, &d.error), 0);
    check_equal("memory", taut_memory_sink_get(memory, &whole, &d.error), 0);
    check_equal("sizes", taut_record_sizes_get(record, &z, &rows, &d.error), 0);
    check_row(rows == whole.rows && rows > 10 && z.dimension == dimension,
              "%lld rows, dimension %d", (long long)rows, z.dimension);
    check_equal("all rows", taut_record_rows_get(record, 0, -1, &got, &d.error), 0);
    compare_rows(&whole, &got, 0);
    check_equal("some rows", taut_record_rows_get(record, 7, 3, &got, &d.error), 0);
    compare_rows(&whole, &got, 7);
    check_row(taut_record_rows_get(record, 7, rows, &got, &d.error) == TAUT_ERROR_USAGE,
              "more rows than there are");
    compare_names(&d, record);
    check_row(strcmp(taut_record_text(record, "model"), model) == 0, "the text of the model");
    check_row(strcmp(taut_record_text(record, "version"), taut_version()) == 0, "the version");
    double between = 0.4 * whole.t[5] + 0.6 * whole.t[6];
    check_equal("nearest", taut_record_find(record, between), 6);
    check_equal("last", taut_record_find(record, NAN), rows - 1);
    check_equal("outside", taut_record_find(record, fmax(whole.t[0], whole.t[rows - 1]) + 1), -1);
    taut_record_destroy(record);
    taut_memory_sink_destroy(memory);
    taut_file_sink_destroy(file);
    driven_destroy(&d);
}

/* Texts of any length replace each other, before, in and after the run. */
static void test_texts(void)
{
    static const size_t lengths[] = {0, 1, 79, 80, 81, 5120, 100000, 5, 0, 12000};
    check_group("texts");
    driven d = driven_create(BALL, "until=1 every=0.1", NULL);
    taut_file_sink *file = NULL;
    taut_memory_sink_destroy(run_into(&d, &file));
    char *text = malloc(100001);
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        for (size_t i = 0; i < lengths[k]; i++)
            text[i] = (char)('a' + (i + k) % 26);
        text[lengths[k]] = '\0';
        check_equal("replace", taut_file_sink_text(file, "command", text, &d.error), 0);
        taut_record *record = NULL;
        check_equal("open", taut_record_open(path, NULL, &record, &d.error), 0);
        const char *found = taut_record_text(record, "command");
        check_row(found && strcmp(found, text) == 0, "%zu bytes", lengths[k]);
        taut_record_destroy(record);
    }
    check_row(taut_file_sink_text(file, "a/b", "", &d.error) == TAUT_ERROR_USAGE, "a name");
    free(text);
    taut_file_sink_destroy(file);
    driven_destroy(&d);
    taut_sink sink;
    check_equal("csv", taut_csv_create("/tmp/x.csv", &file, &sink, &d.error), 0);
    check_equal("no texts in it", taut_file_sink_text(file, "a", "", &d.error), TAUT_ERROR_REFUSED);
    taut_file_sink_destroy(file);
}

static void test_newer_format(void)
{
    check_group("a newer format");
    int format = 7;
    taut_error error = {0};
    taut_record *record = NULL;
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
          group = H5Gopen2(file, "/taut", H5P_DEFAULT),
          attribute = H5Aopen(group, "format", H5P_DEFAULT);
    check_row(H5Awrite(attribute, H5T_NATIVE_INT, &format) >= 0, "the format is changed");
    H5Aclose(attribute);
    H5Gclose(group);
    H5Fclose(file);
    check_equal("refused", taut_record_open(path, NULL, &record, &error), TAUT_ERROR_FILE);
    check_row(strstr(error.message, "format 7") && strstr(error.message, "newer version"), "'%s'",
              error.message);
}

/* Opens the file in a process of its own: of a damaged one HDF5 may keep something open. */
static int status_of_reader(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        taut_record *record = NULL;
        taut_memory_rows rows = {.size = sizeof rows};
        int code = taut_record_open(path, NULL, &record, NULL);
        code = code == 0 ? taut_record_rows_get(record, 0, -1, &rows, NULL) : code;
        taut_record_destroy(record);
        _exit(code != 0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A file that was cut off, or has other bytes, is refused or read: never a crash. */
static void test_damage(void)
{
    enum { CUTS = 30, CASES = 150 };
    static char bytes[1 << 20], copy[1 << 20];
    check_group("damage");
    FILE *file = fopen(path, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    int count[2] = {0, 0};
    for (size_t k = 0; k < CASES; k++) {
        size_t length = k < CUTS ? size * k / CUTS : size;
        memcpy(copy, bytes, size);
        for (size_t i = 0; k >= CUTS && i < 8; i++)
            copy[(k * 7919 + i * 104729) % (k % 2 ? size : size / 8)] ^= (char)(1 + k % 255);
        file = fopen(path, "wb");
        fwrite(copy, 1, length, file);
        fclose(file);
        int status = status_of_reader();
        check_row(status == 0 || status == 1, "case %zu: status %d", k, status);
        count[status == 1]++;
    }
    check_row(count[1] >= CUTS && count[0] > 0, "%d read, %d refused", count[0], count[1]);
}

int main(void)
{
    char folder[] = "/tmp/taut-record-XXXXXX";
    check_row(mkdtemp(folder) != NULL, "a folder");
    snprintf(path, sizeof path, "%s/run.h5", folder);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    test_rows("particles", PARTICLES, "until=1 every=0.05 motion=rigid", 3);
    test_rows("first order", FIRST_ORDER, "until=1 every=0.05", 0);
    test_rows("coordinates, backwards", BALL, "from=1 until=0 every=0.05 motion=full", 0);
    test_rows("events", BALL, "until=2 every=0.01 motion=full", 0);
    test_texts();
    test_newer_format();
    test_rows("for damage", BALL, "until=2 every=0.01 motion=full", 0);
    test_damage();
    remove(path);
    rmdir(folder);
    return check_done();
}

#endif
