/* test_resume_kill.c - runs of the program that are killed at random moments (SIGKILL) and resumed
 * give the bytes of CSV, and the rows of HDF5, of a run that was not disturbed: five methods, with
 * events. Whatever the moment, the CSV file has no part of a row and the HDF5 file can be read.
 * SIGTERM ends a run as Ctrl-C does. TAUT_TEST_LONG: 100 kills, else a few. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/table.h"

#ifdef TAUT_HAVE_HDF5
#include <hdf5.h>
#endif

enum { MOST_ARGUMENTS = 40, WORDS = 600 };

static char folder[200];
static const char *program;

static const char *file_in(const char *name)
{
    static char path[4][300];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static const char rigid[] = "# pendulum at a wall\n[coordinates]\nx, y\n[potential]\n9.81*y\n"
                            "[bonds]\nrod = sqrt(x^2 + y^2) - 1   rigid\n"
                            "[outputs]\ntension = lambda(rod)\n"
                            "[events]\nwall = x + 0.2   falling   then x' = -x', y' = -y'\n"
                            "[start]\nx = 1, y = 0\n";
static const char spring[] =
    "# springs at a wall\n[parameters]\nk = 1e4\n[coordinates]\nx, y, u\n[potential]\n"
    "9.81*y + (u - x)^2\n[bonds]\nrod = sqrt(x^2 + y^2) - 1   stiffness k\n"
    "[outputs]\ntension = lambda(rod)\n"
    "[events]\nwall = x + 0.2   falling   then x' = -x', y' = -y'\n"
    "[start]\nx = 1, y = 0, u = 0.5\n";

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

/* ---- the program as a child */

static pid_t start(const char *words)
{
    static char copy[WORDS];
    char *argument[MOST_ARGUMENTS] = {(char *)(uintptr_t)program};
    int count = 1;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, " "); word && count + 1 < MOST_ARGUMENTS;
         word = strtok(NULL, " "))
        argument[count++] = word;
    pid_t child = fork();
    if (child != 0)
        return child;
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, 1);
    dup2(open(file_in("messages"), O_WRONLY | O_CREAT | O_TRUNC, 0666), 2);
    if (chdir(folder) == 0)
        execv(program, argument);
    _exit(126);
}

/* The exit status; -1: by a signal. */
static int finish(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run(const char *words)
{
    return finish(start(words));
}

static void wait_for(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    nanosleep(&time, NULL);
}

static double uniform(void)
{
    static unsigned long long state = 88172645463325252ull;
    static bool seeded;
    if (!seeded) {
        struct timespec now;
        const char *seed = getenv("TAUT_TEST_SEED");
        clock_gettime(CLOCK_REALTIME, &now);
        state ^= seed ? strtoull(seed, NULL, 10) : (unsigned long long)now.tv_nsec << 20;
        seeded = true;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

/* ---- files */

static char *read_all(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    *size = 0;
    if (!file || fstat(fileno(file), &status) != 0)
        return NULL;
    char *text = malloc((size_t)status.st_size + 1);
    *size = fread(text, 1, (size_t)status.st_size, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

static bool same_bytes(const char *a, const char *b)
{
    size_t x, y;
    char *p = read_all(a, &x), *q = read_all(b, &y);
    bool same = p && q && x == y && memcmp(p, q, x) == 0;
    free(p);
    free(q);
    return same;
}

/* The process that writes the rows outlives the one that was killed for some milliseconds. */
static bool has_whole_rows(const char *path)
{
    bool whole = false;
    for (int look = 0; look < 100 && !whole; look++) {
        size_t size;
        char *text = read_all(path, &size);
        whole = !text || size == 0 || text[size - 1] == '\n';
        free(text);
        if (!whole)
            wait_for(0.02);
    }
    return whole;
}

#ifdef TAUT_HAVE_HDF5

static const char *const sets[] = {
    "/observables/coordinates/step",  "/observables/coordinates/time",
    "/observables/coordinates/value", "/observables/velocities/value",
    "/observables/multipliers/value", "/observables/outputs/value",
    "/observables/energy/value",      "/observables/drift/value"};

/* The numbers of a set, allocated; NULL: it cannot be read. */
static double *read_set(hid_t file, const char *name, hsize_t *count)
{
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = set < 0 ? -1 : H5Dget_space(set);
    double *x = NULL;
    if (space >= 0) {
        *count = (hsize_t)H5Sget_simple_extent_npoints(space);
        x = malloc((*count + 1) * sizeof *x);
        if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) < 0) {
            free(x);
            x = NULL;
        }
        H5Sclose(space);
    }
    if (set >= 0)
        H5Dclose(set);
    return x;
}

/* Can all sets be read? With another file: are they equal? */
static bool check_hdf5(const char *path, const char *other)
{
    bool good = true;
    hid_t a = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT),
          b = other ? H5Fopen(other, H5F_ACC_RDONLY, H5P_DEFAULT) : -1;
    for (size_t k = 0; k < sizeof sets / sizeof sets[0] && a >= 0; k++) {
        hsize_t m = 0, n = 0;
        double *x = read_set(a, sets[k], &m), *y = other ? read_set(b, sets[k], &n) : NULL;
        good = good && x && (!other || (y && m == n && memcmp(x, y, m * sizeof *x) == 0));
        /* times ascend: nothing is missing, nothing is filled with zeros */
        for (hsize_t i = 1; k == 1 && good && i < m; i++)
            good = x[i] >= x[i - 1] && x[i] > 0;
        free(x);
        free(y);
    }
    good = good && a >= 0;
    if (a >= 0)
        H5Fclose(a);
    if (b >= 0)
        H5Fclose(b);
    return good;
}

#endif

/* ---- kills */

typedef struct row {
    const char *name, *words;
    bool hdf5;
} row;

static const row rows[] = {
    {"verlet", "spring.taut --method verlet --motion full --step 1e-4 --until 12 --every 0.01",
     false},
    {"rattle", "rigid.taut --method rattle --step 1e-4 --until 10 --every 0.01", true},
    {"dop8", "rigid.taut --method dop8 --motion rigid --rtol 1e-10 --until 100 --verify never",
     false},
    {"radau5", "spring.taut --method radau5 --motion slow --rtol 1e-8 --until 10 --verify never",
     true},
    {"ab2", "rigid.taut --method ab2 --motion rigid --step 2e-4 --until 10 --every 0.005", false},
    {"projected-impulse",
     "spring.taut --method projected-impulse --motion effective --step 2e-3 --until 10 --every "
     "0.02",
     false},
    {"chosen by Taut, with a second look", "spring.taut --until 8", true},
};

static bool is_there(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size > 0;
}

/* Kills a run `kills` times and lets it end; returns how many of them were in time. */
static int kill_and_resume(const row *r, int kills, double length)
{
    char words[WORDS], out[64];
    char checkpoint[300];
    snprintf(checkpoint, sizeof checkpoint, "%s", file_in("checkpoint"));
    int in_time = 0, status = -1;
    remove(checkpoint);
    snprintf(out, sizeof out, "killed.%s", r->hdf5 ? "h5" : "csv");
    remove(file_in(out));
    for (int k = 0; k <= kills && status != 0; k++) {
        bool resumes = is_there(checkpoint);
        if (resumes)
            snprintf(words, sizeof words, "run --resume checkpoint --quiet");
        else
            snprintf(words, sizeof words,
                     "run %s --out %s --quiet --checkpoint checkpoint --checkpoint-every 0.002",
                     r->words, out);
        pid_t child = start(words);
        if (k < kills) {
            wait_for(0.003 + uniform() * length);
            kill(child, SIGKILL);
        }
        status = finish(child);
        in_time += status == -1;
        size_t size;
        char *messages = read_all(file_in("messages"), &size);
        check_row(status == 0 || status == -1, "%s: exit status %d of 'taut %s': %s", r->name,
                  status, words, messages);
        free(messages);
        check_row(r->hdf5 || has_whole_rows(file_in(out)), "%s: whole rows", r->name);
#ifdef TAUT_HAVE_HDF5
        if (r->hdf5 && is_there(file_in(out)))
            check_row(check_hdf5(file_in(out), NULL), "%s: %s can be read after the kill", r->name,
                      out);
#endif
    }
    return in_time;
}

static void test_kills(void)
{
    check_group("kills");
    bool many = getenv("TAUT_TEST_LONG") != NULL;
    int killed = 0;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        row r = rows[k];
        char words[WORDS];
#ifndef TAUT_HAVE_HDF5
        r.hdf5 = false;
#endif
        const char *out = r.hdf5 ? "whole.h5" : "whole.csv";
        struct timespec begin, end;
        snprintf(words, sizeof words, "run %s --out %s --quiet", r.words, out);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        check_equal(r.name, run(words), 0);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double length =
            (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
        for (int turn = 0; turn < (many ? 6 : 1); turn++) {
            killed += kill_and_resume(&r, many ? 4 : 2, length);
#ifdef TAUT_HAVE_HDF5
            if (r.hdf5)
                check_row(check_hdf5(file_in("whole.h5"), file_in("killed.h5")),
                          "%s: the same rows of HDF5", r.name);
#endif
            if (!r.hdf5)
                check_row(same_bytes(file_in("whole.csv"), file_in("killed.csv")),
                          "%s: the same bytes", r.name);
        }
    }
    check_row(killed >= (many ? 100 : 4), "%d runs were killed in time", killed);
}

/* ---- SIGTERM */

static void test_terminate(void)
{
    check_group("SIGTERM");
    const char *words = "run rigid.taut --method rattle --step 1e-4 --until 20 --quiet --out ";
    char line[WORDS];
    snprintf(line, sizeof line, "%s whole.csv", words);
    check_equal("undisturbed", run(line), 0);
    snprintf(line, sizeof line, "%s ended.csv --checkpoint checkpoint", words);
    remove(file_in("checkpoint"));
    pid_t child = start(line);
    for (int k = 0; k < 2000 && !is_there(file_in("checkpoint")); k++)
        wait_for(0.005);
    wait_for(0.02);
    kill(child, SIGTERM);
    check_equal("exit status", finish(child), 130);
    check_row(has_whole_rows(file_in("ended.csv")), "whole rows");
    check_row(!same_bytes(file_in("whole.csv"), file_in("ended.csv")), "it ended early");
    check_equal("resumed", run("run --resume checkpoint --quiet"), 0);
    check_row(same_bytes(file_in("whole.csv"), file_in("ended.csv")), "the same bytes");
    check_equal("a finished run resumed", run("run --resume checkpoint --quiet"), 0);
    check_row(same_bytes(file_in("whole.csv"), file_in("ended.csv")), "the same bytes again");
}

int main(void)
{
    const char *build = getenv("TAUT");
    if (getenv("TAUT_TEST_CORE") || !build) {
        check_group("kills");
        check_skip("there is no program, or it cannot continue files");
        return check_done();
    }
    program = build;
#ifdef TAUT_HAVE_HDF5
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
#endif
    snprintf(folder, sizeof folder, "/tmp/taut-resume-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    write_text(file_in("rigid.taut"), rigid);
    write_text(file_in("spring.taut"), spring);
    test_kills();
    test_terminate();
    char command[260];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    if (check_counts.failed == 0 && system(command) != 0)
        printf("%s stays\n", folder);
    return check_done();
}
