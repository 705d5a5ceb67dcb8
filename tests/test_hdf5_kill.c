/* test_hdf5_kill.c - an HDF5 file can be read whenever the process that writes it is killed: a
 * child ends at its k-th write to the file, and what it leaves has whole series with the numbers of
 * their rows, none of them filled with zeros. Rows are long, so that each is a chunk of its own and
 * the trees of chunks are split. A text that is replaced is the old one, none, or the new one. Some
 * k, all of them with TAUT_TEST_LONG. */
#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <taut/taut.h>

#include "support/table.h"

#ifndef TAUT_HAVE_HDF5

int main(void)
{
    check_group("kills");
    check_skip("this build has no HDF5");
    return check_done();
}

#else

#include <hdf5.h>

enum { LINKS = 700, ROWS = 140 };
static char texts[2][9000]; /* before and after the run */

static int64_t writes, last = -1; /* the child ends before this one */

ssize_t __real_pwrite(int file, const void *bytes, size_t count, off_t at);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t count, off_t at);

ssize_t __wrap_pwrite(int file, const void *bytes, size_t count, off_t at)
{
    if (writes++ == last)
        _exit(0);
    return __real_pwrite(file, bytes, count, at);
}

static double *number(double x)
{
    static double values[4 * LINKS];
    for (int i = 0; i < 4 * LINKS; i++)
        values[i] = x + i;
    return values;
}

/* Writes rows whose numbers are 1000 row + place; with marks, as a run with checkpoints. */
static int write_rows(const taut_system *system, const char *path)
{
    taut_error error;
    taut_file_sink *file = NULL;
    taut_sink sink;
    taut_file_mark mark = {.size = sizeof mark};
    int status = taut_hdf5_create(path, &file, &sink, &error);
    if (status == 0)
        status = taut_file_sink_text(file, "summary", texts[0], &error);
    if (status == 0)
        status = sink.begin(sink.user, system, &error);
    for (int k = 1; k <= ROWS && status == 0; k++) {
        const double *x = number(1000 * k);
        taut_row row = {.t = k, .q = x, .v = x, .lambda = x, .energy = k};
        status = sink.row(sink.user, &row, &error);
        if (status == 0 && k % 9 == 0)
            status = taut_file_sink_mark(file, &mark, &error);
    }
    if (status == 0)
        status = sink.end(sink.user, &error);
    if (status == 0)
        status = taut_file_sink_text(file, "summary", texts[1], &error);
    taut_file_sink_destroy(file);
    return status;
}

/* The rows of a set that can be read and are right; -1: it cannot be read. */
static int right_rows(hid_t file, const char *name, double factor)
{
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = set < 0 ? -1 : H5Dget_space(set);
    hsize_t shape[3] = {0, 1, 1};
    int rows = -1;
    if (space >= 0 && H5Sget_simple_extent_dims(space, shape, NULL) >= 0) {
        hsize_t width = shape[1] * shape[2];
        double *x = malloc((shape[0] * width + 1) * sizeof *x);
        if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0)
            for (rows = 0; rows < (int)shape[0];) {
                bool right = true;
                for (hsize_t i = 0; i < width; i++)
                    right &= x[(hsize_t)rows * width + i] == factor * (rows + 1) + (double)i;
                if (!right)
                    break;
                rows++;
            }
        if (rows < (int)shape[0])
            rows = -1;
        free(x);
        H5Sclose(space);
    }
    if (set >= 0)
        H5Dclose(set);
    return rows;
}

/* The same by Taut's own reader; the text is the first one, none, or the last one. */
static int recorded_rows(const char *path)
{
    taut_record *record = NULL;
    taut_memory_rows rows = {.size = sizeof rows};
    bool good = taut_record_open(path, NULL, &record, NULL) == 0 &&
                taut_record_rows_get(record, 0, -1, &rows, NULL) == 0;
    const char *text = taut_record_text(record, "summary");
    good = good && text && taut_record_text(record, "model") &&
           (!text[0] || strcmp(text, texts[0]) == 0 || strcmp(text, texts[1]) == 0);
    taut_record_destroy(record);
    return good ? (int)rows.rows : -1;
}

/* What the file has; -1: it cannot be read. */
static int rows_of(const char *path)
{
    static const struct {
        const char *name;
        double factor;
    } sets[] = {{"/particles/all/position/time", 1},
                {"/particles/all/position/value", 1000},
                {"/particles/all/velocity/value", 1000},
                {"/observables/multipliers/value", 1000},
                {"/observables/energy/value", 1}};
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    int least = file < 0 ? -1 : ROWS;
    for (size_t k = 0; k < sizeof sets / sizeof sets[0] && file >= 0; k++) {
        int rows = right_rows(file, sets[k].name, sets[k].factor);
        least = rows < least ? rows : least;
    }
    if (file >= 0)
        H5Fclose(file);
    int recorded = recorded_rows(path); /* those that all series have */
    return recorded >= 0 && recorded <= least && recorded > least - 9 ? least : -1;
}

static void test_kills(const taut_system *system, const char *path)
{
    bool all = getenv("TAUT_TEST_LONG") != NULL;
    writes = 0;
    check_equal("all rows are written", write_rows(system, path), 0);
    check_equal("and can be read", rows_of(path), ROWS);
    int64_t count = writes, step = all ? 1 : count / 23 + 1;
    int before = 0, most = 0;
    for (last = 0; last < count; last += step) {
        remove(path);
        pid_t child = fork();
        writes = 0;
        if (child == 0)
            _exit(write_rows(system, path) != 0);
        int status = -1;
        waitpid(child, &status, 0);
        struct stat there;
        bool begun = stat(path, &there) == 0;
        int rows = begun ? rows_of(path) : 0;
        check_row(status == 0 && rows >= 0 && rows >= before - 1,
                  "killed at write %lld of %lld: status %d, %d rows, %d before", (long long)last,
                  (long long)count, status, rows, before);
        before = rows > before ? rows : before;
        most = rows > most ? rows : most;
    }
    last = -1;
    check_row(most > 64, "%d rows in the fullest file", most);
}

int main(void)
{
    char folder[] = "/tmp/taut-hdf5-XXXXXX", path[100], partial[120];
    static const char model[] = "[parameters]\nN = 700\n[particles]\ndimension = 2\n"
                                "p[i] for i in 1..N   mass 1\n[bonds]\n"
                                "b[1] = length(p[1]) - 1   stiffness 1e4\n"
                                "b[i] = length(p[i] - p[i-1]) - 1 for i in 2..N   stiffness 1e4\n"
                                "[start]\np[i] = (i, 0) for i in 1..N\n";
    taut_system *system = NULL;
    taut_error error;
    check_group("kills");
    int status = taut_system_parse(model, strlen(model), "wide", NULL, &system, &error);
    check_row(status == 0 && mkdtemp(folder), "the model: %s", status ? error.message : "");
    snprintf(path, sizeof path, "%s/rows.h5", folder);
    snprintf(partial, sizeof partial, "%s.part", path);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    memset(texts[0], 'a', 300);
    memset(texts[1], 'b', sizeof texts[1] - 1);
    if (status == 0)
        test_kills(system, path);
    taut_system_destroy(system);
    remove(path);
    remove(partial);
    rmdir(folder);
    return check_done();
}

#endif
