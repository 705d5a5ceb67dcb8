/* test_io.c - CSV, HDF5 and pictures: what is written, and what happens when it cannot be. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/run.h"
#include "io/panels.h"

#ifdef TAUT_HAVE_HDF5
#include <hdf5.h>
#endif

#define SPRING                                                                                     \
    "[coordinates]\nx\n[bonds]\ns = x stiffness 100\n[start]\nx = 1/3\n[outputs]\nhalf = x/2\n"

static char folder[200];

static const char *inside(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static char *read_all(const char *path, size_t *length)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "rb");
    *length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[*length] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* Runs a model into one sink (0 CSV, 1 picture, 2 HDF5); the code of the first failure. */
static int run_into(const char *model, const char *options, int kind, const char *path,
                    const char *title, taut_error *error)
{
    taut_file_sink *file = NULL;
    taut_sink sink;
    driven d = driven_create(model, options, NULL);
    int code = d.code;
    *error = d.error;
    if (code == 0)
        code = kind == 2   ? taut_hdf5_create(path, &file, &sink, error)
               : kind == 1 ? taut_picture_create(path, title, &file, &sink, error)
                           : taut_csv_create(path, &file, &sink, error);
    if (code == 0)
        code = taut_solver_run(d.solver, &sink, 1, NULL, NULL, error);
    taut_file_sink_destroy(file);
    driven_destroy(&d);
    return code;
}

static void test_csv(void)
{
    check_group("csv");
    taut_error error;
    size_t length;
    const char *path = inside("a.csv");
    int code = run_into(SPRING, "step=0.1 until=0.5 every=step", false, path, NULL, &error);
    check_row(code == 0, "%s", error.message);
    const char *text = read_all(path, &length), *header = "t,x,x',lambda(s),half\n";
    check_row(strncmp(text, header, strlen(header)) == 0, "header of '%.40s'", text);
    /* every number reads back exactly; the first two rows are known: x1 = x0 (1 - h^2 omega^2/2) */
    double row[6][5] = {{0}};
    int rows = 0;
    for (const char *line = strchr(text, '\n') + 1; *line && rows < 6;
         line = strchr(line, '\n') + 1, rows++)
        sscanf(line, "%lf,%lf,%lf,%lf,%lf", &row[rows][0], &row[rows][1], &row[rows][2],
               &row[rows][3], &row[rows][4]);
    check_equal("rows", rows, 6);
    check_near("x(0)", row[0][1], 1. / 3, 0);
    check_near("lambda(0)", row[0][3], 100. / 3, 1e-14);
    check_near("x(h)", row[1][1], 1. / 6, 1e-15);
    check_near("half", row[1][4], row[1][1] / 2, 0);
    check_near("end", row[5][0], 0.5, 0);
    check_contains("17 digits", text, "0.33333333333333331,");
}

/* First order: state, algebraic variables, outputs. */
static void test_first_order(void)
{
    check_group("csv of first order");
    taut_error error;
    size_t length;
    const char *path = inside("c.csv");
    int code = run_into("[state]\nx\n[algebraic]\ny\n[rates]\nx' = y\n[constraints]\nc = x - "
                        "t^2\n[outputs]\ntwice = 2*x\n",
                        "until=1 step=0.5 method=rk4", 0, path, NULL, &error);
    check_row(code == 0, "%s", error.message);
    const char *text = read_all(path, &length), *header = "t,x,y,twice\n";
    check_row(strncmp(text, header, strlen(header)) == 0, "header of '%.40s'", text);
    double row[4] = {0};
    const char *last = strstr(text, "\n1,");
    check_row(last && sscanf(last, "\n%lf,%lf,%lf,%lf", &row[0], &row[1], &row[2], &row[3]) == 4,
              "last row");
    check_row(fabs(row[1] - 1) + fabs(row[2] - 2) + fabs(row[3] - 2) < 1e-12, "%g %g %g", row[1],
              row[2], row[3]);
}

static void test_names(void)
{
    check_group("csv names");
    taut_error error;
    size_t length;
    const char *path = inside("b.csv");
    int code = run_into("[particles]\ndimension = 2\nnode[i,j] for i in 1..2, j in 1..2 mass 1\n"
                        "[bonds]\nrow[i,j] = length(node[i,j+1] - node[i,j]) - 1 for i in 1..2, j "
                        "in 1..1 stiffness 4\n"
                        "[start]\nnode[i,j] = (i, j) for i in 1..2, j in 1..2\n",
                        "step=0.1 until=0.1", false, path, NULL, &error);
    check_row(code == 0, "%s", error.message);
    const char *text = read_all(path, &length);
    static const char expected[] =
        "t,\"node[1,1].x\",\"node[1,1].y\",\"node[1,2].x\",\"node[1,2].y\",\"node[2,1].x\",\"node["
        "2,1].y\",\"node[2,2].x\",\"node[2,2].y\",\"node[1,1].x'\",\"node[1,1].y'\",\"node[1,2].x'"
        "\",\"node[1,2].y'\",\"node[2,1].x'\",\"node[2,1].y'\",\"node[2,2].x'\",\"node[2,2].y'\","
        "\"lambda(row[1,1])\",\"lambda(row[2,1])\"\n";
    check_row(strncmp(text, expected, sizeof expected - 1) == 0, "header:\n%.400s", text);
}

static void test_bad_files(void)
{
    static const struct {
        const char *path, *message;
    } rows[] = {{"/dev/full", "cannot write /dev/full: No space left"},
                {"/does/not/exist/a.csv", "cannot open /does/not/exist/a.csv: No such file"},
                {"/dev", "cannot open /dev: Is a directory"},
                {"", "a file name is needed"}};
    check_group("csv that cannot be written");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_error error;
        if (!strcmp(rows[k].path, "/dev/full") && access("/dev/full", W_OK) != 0) {
            check_skip("there is no /dev/full");
            continue;
        }
        /* fails at the end; fails while running */
        for (int long_run = 0; long_run < 2; long_run++) {
            int code = run_into(SPRING, long_run ? "step=0.01 until=9" : "step=0.01 until=0.1",
                                false, rows[k].path, NULL, &error);
            check_row(code == TAUT_ERROR_FILE || (code == TAUT_ERROR_USAGE && !rows[k].path[0]),
                      "%s: %s", rows[k].path, taut_code_name(code));
            check_contains(rows[k].path, error.message, rows[k].message);
        }
    }
    taut_file_sink_destroy(NULL);
}

static int files_in(const char *path)
{
    int count = 0;
    DIR *list = opendir(path);
    for (struct dirent *entry; list && (entry = readdir(list));)
        count += entry->d_name[0] != '.';
    if (list)
        closedir(list);
    return count;
}

static const char double_pendulum[] = "[coordinates]\nx1, y1, x2, y2\n[potential]\ny1 + y2\n"
                                      "[bonds]\ninner = sqrt(x1^2 + y1^2) - 1 stiffness 1e4\n"
                                      "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1 stiffness 1e4\n"
                                      "[start]\nx1 = 1, y1 = 0, x2 = 2, y2 = 0.05\n";

static void test_picture(void)
{
    static const struct {
        const char *name, *model, *options, *title;
    } rows[] = {
        {"four.png", double_pendulum, "step=0.002 until=10", "Stiff double pendulum"},
        {"four.svg", double_pendulum, "step=0.002 until=1",
         "it's <bad> \"title\" `touch pwned` $(touch pwned) \\n ' ; system('touch pwned') #"},
        {"one.svg", "[coordinates]\na\n[forces]\na = sin(t)\n", "step=0.1 until=9", NULL},
        {"single.png", SPRING, "step=0.1 until=0", ""},
        {"drift.svg",
         "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = x^2 + y^2 - 1\n[start]\nx = 1\n",
         "until=9 every=0.1 stabilize=none", "Rod"},
    };
    check_group("pictures");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_error error;
        size_t length;
        const char *path = inside(rows[k].name);
        int before = files_in(folder);
        int code = run_into(rows[k].model, rows[k].options, true, path, rows[k].title, &error);
        if (code == TAUT_ERROR_UNAVAILABLE) {
            check_skip(error.message);
            continue;
        }
        check_row(code == 0, "%s: %s", rows[k].name, error.message);
        const char *bytes = read_all(path, &length);
        bool svg = strstr(rows[k].name, ".svg") != NULL;
        check_row(length > 5000 &&
                      (svg ? strstr(bytes, "<svg") != NULL : memcmp(bytes, "\x89PNG", 4) == 0),
                  "%s: %d bytes", rows[k].name, (int)length);
        if (svg)
            check_row(strstr(bytes, "</svg>") && strstr(bytes, "coordinates"), "%s is whole",
                      rows[k].name);
        if (svg)
            check_row((strstr(bytes, "drift from") != NULL) == !strcmp(rows[k].name, "drift.svg"),
                      "%s: drift", rows[k].name);
        check_equal("files left", files_in(folder), before + 1);
    }
}

static void test_bad_pictures(void)
{
    check_group("pictures that cannot be made");
    taut_error error;
    taut_file_sink *file;
    taut_sink sink;
    check_equal("ending", taut_picture_create("a.gif", "", &file, &sink, &error), TAUT_ERROR_USAGE);
    check_contains("ending", error.message, "must end in .png or .svg");
    char *path = strdup(getenv("PATH") ? getenv("PATH") : "");
    setenv("PATH", folder, 1);
    check_equal("no gnuplot", taut_picture_create(inside("a.png"), "", &file, &sink, &error),
                TAUT_ERROR_UNAVAILABLE);
    check_contains("no gnuplot", error.message, "gnuplot");

    /* a gnuplot that fails: its words are repeated, nothing is left behind */
    FILE *fake = fopen(inside("gnuplot"), "w");
    fputs("#!/bin/sh\necho 'no such terminal' >&2\nexit 3\n", fake);
    fclose(fake);
    chmod(inside("gnuplot"), 0700);
    int before = files_in(folder);
    int code = run_into(SPRING, "step=0.1 until=1", true, inside("a.png"), "", &error);
    if (code == TAUT_ERROR_UNAVAILABLE)
        check_skip(error.message);
    else {
        check_equal("failing gnuplot", code, TAUT_ERROR_PROCESS);
        check_contains("failing gnuplot", error.message, "no such terminal");
        check_equal("files left", files_in(folder), before);
    }
    setenv("PATH", path, 1);
    free(path);
    code = run_into(SPRING, "step=0.1 until=1", true, "/does/not/exist.png", "", &error);
    check_row(code == TAUT_ERROR_FILE || code == TAUT_ERROR_UNAVAILABLE, "no such folder: %s",
              error.message);
}

#ifdef TAUT_HAVE_HDF5
/* Reads a dataset of doubles; its shape goes to shape[3]. Returns the number of values, or -1. */
static int read_set(hid_t file, const char *path, double *values, int most, hsize_t shape[3])
{
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(set);
    shape[0] = shape[1] = shape[2] = 0;
    int count = set < 0 || H5Sget_simple_extent_ndims(space) > 3
                    ? -1
                    : (int)H5Sget_simple_extent_npoints(space);
    if (count >= 0)
        H5Sget_simple_extent_dims(space, shape, NULL);
    if (count > most ||
        (count > 0 && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0))
        count = -1;
    H5Sclose(space);
    H5Dclose(set);
    return count;
}

static bool same_object(hid_t file, const char *a, const char *b)
{
    H5G_stat_t x, y;
    return H5Gget_objinfo(file, a, true, &x) >= 0 && H5Gget_objinfo(file, b, true, &y) >= 0 &&
           x.objno[0] == y.objno[0] && x.objno[1] == y.objno[1];
}

/* Layout of H5MD 1.1: every element has value, step and time; particles have a box. */
static void check_h5md(hid_t file)
{
    int version[2] = {0};
    hid_t attribute = H5Aopen_by_name(file, "/h5md", "version", H5P_DEFAULT, H5P_DEFAULT);
    check_row(H5Aread(attribute, H5T_NATIVE_INT, version) >= 0 && version[0] == 1 &&
                  version[1] == 1,
              "version %d.%d", version[0], version[1]);
    H5Aclose(attribute);
    static const char *const needed[] = {"/h5md/author", "/h5md/creator", "/particles/all/box",
                                         "/particles/all/velocity/time"};
    for (size_t k = 0; k < sizeof needed / sizeof needed[0]; k++)
        check_row(H5Oexists_by_name(file, needed[k], H5P_DEFAULT) > 0, "%s is there", needed[k]);
    check_row(same_object(file, "/particles/all/position/time", "/observables/energy/time"),
              "one time for all");
}

static void test_hdf5(void)
{
    check_group("hdf5");
    taut_error error;
    char path[600];
    snprintf(path, sizeof path, "%s", inside("a.h5"));
    /* two free particles: p(t) = p(0) + t v; 3001 rows are several chunks and a rest */
    int code =
        run_into("[particles]\ndimension = 3\np[i] for i in 1..2 mass 1\n[start]\np[i] = (i, 2, 3) "
                 "for i in 1..2\n"
                 "p[i]' = (0, i, 0) for i in 1..2\n[outputs]\nheight = p[2].y\n",
                 "method=verlet motion=full step=0.001 until=3 every=0.001", 2, path, NULL, &error);
    check_row(code == 0, "%s", error.message);
    enum { ROWS = 3001 };
    static double value[ROWS * 6];
    hsize_t shape[3];
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    check_row(file >= 0, "the file opens");
    check_equal("positions",
                read_set(file, "/particles/all/position/value", value, ROWS * 6, shape), ROWS * 6);
    check_row(shape[0] == ROWS && shape[1] == 2 && shape[2] == 3, "shape %d %d %d", (int)shape[0],
              (int)shape[1], (int)shape[2]);
    double off = 0;
    for (int k = 0; k < ROWS; k++)
        for (int i = 0; i < 2; i++)
            off = fmax(off, fabs(value[6 * k + 3 * i + 1] - (2 + (i + 1) * 0.001 * k)) +
                                fabs(value[6 * k + 3 * i] - (i + 1)));
    check_below("positions off", off, 1e-12);
    check_equal("times", read_set(file, "/particles/all/position/time", value, ROWS, shape), ROWS);
    check_near("last time", value[ROWS - 1], 3, 0);
    check_equal("steps", read_set(file, "/particles/all/position/step", value, ROWS, shape), ROWS);
    check_near("last step", value[ROWS - 1], ROWS - 1, 0);
    check_equal("outputs", read_set(file, "/observables/outputs/value", value, ROWS, shape), ROWS);
    check_near("height at the end", value[ROWS - 1], 8, 1e-12);
    check_equal("energy", read_set(file, "/observables/energy/value", value, ROWS, shape), ROWS);
    check_near("energy", value[ROWS - 1], 2.5, 1e-12);
    check_h5md(file);
    H5Fclose(file);

    /* first order: x' = y, y the algebraic variable with x = t^2 */
    code = run_into(
        "[state]\nx\n[algebraic]\ny\n[rates]\nx' = y\n[constraints]\nc = x - t^2\n[start]\nx = 0\n",
        "until=1 step=0.125 method=rk4 every=step", 2, path, NULL, &error);
    check_row(code == 0, "%s", error.message);
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    check_equal("state", read_set(file, "/observables/state/value", value, 9, shape), 9);
    check_near("x(1)", value[8], 1, 1e-12);
    check_equal("algebraic", read_set(file, "/observables/algebraic/value", value, 9, shape), 9);
    check_near("y(1)", value[8], 2, 1e-12);
    check_row(H5Lexists(file, "/observables/energy", H5P_DEFAULT) == 0, "no energy");
    H5Fclose(file);
}

/* A sink that gives whole rows to another one in pieces of odd sizes. */
typedef struct splitter {
    taut_sink to;
    taut_sizes sizes;
    taut_index size; /* of a piece */
} splitter;

static int split_begin(void *user, const taut_system *system, taut_error *error)
{
    splitter *s = user;
    s->sizes.size = sizeof s->sizes;
    taut_system_sizes_get(system, &s->sizes, NULL);
    return s->to.begin(s->to.user, system, error);
}

static int split_row(void *user, const taut_row *row, taut_error *error)
{
    const splitter *s = user;
    const double *const from[] = {row->q, row->v, row->lambda};
    const taut_index count[] = {s->sizes.coordinates, s->sizes.coordinates, s->sizes.bonds};
    taut_row bare = *row;
    bare.q = bare.v = bare.lambda = NULL;
    int code = s->to.row(s->to.user, &bare, error);
    for (int k = 0; k < 3; k++)
        for (taut_index at = 0, size; at < count[k] && code == 0; at += size) {
            size = count[k] - at < s->size ? count[k] - at : s->size;
            code = s->to.piece(s->to.user, from[k] + at, size, error);
        }
    return code == 0 ? s->to.piece(s->to.user, NULL, 0, error) : code;
}

static int split_end(void *user, taut_error *error)
{
    const splitter *s = user;
    return s->to.end(s->to.user, error);
}

/* Rows in pieces are those of whole rows: buffered ones, and wide ones. */
static void test_pieces(void)
{
    enum { MOST = 300000 };
    static const char *const sets[] = {
        "/particles/all/position/value",  "/particles/all/velocity/value",
        "/observables/multipliers/value", "/observables/energy/value",
        "/observables/drift/value",       "/particles/all/position/time"};
    static double value[2][MOST];
    static const struct {
        int particles;
        taut_index piece;
    } cases[] = {{3, 2}, {3, 100}, {9000, 7}, {9000, 1000}, {9000, 100000}};
    check_group("pieces of rows");
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char model[600], path[2][300];
        snprintf(model, sizeof model,
                 "[parameters]\nN = %d\n[particles]\ndimension = 3\np[i] for i in 1..N mass 1\n"
                 "[bonds]\nlink[i] = length(p[i+1] - p[i]) - 1 for i in 1..N-1   rigid\n"
                 "[start]\np[i] = (i, 0, 0) for i in 1..N\np[i]' = (0, sin(i), cos(i)) for i in "
                 "1..N\n",
                 cases[c].particles);
        for (int way = 0; way < 2; way++) {
            driven d =
                driven_create(model, "method=rattle motion=rigid step=0.01 until=0.03", NULL);
            taut_file_sink *file = NULL;
            splitter s = {.size = cases[c].piece};
            snprintf(path[way], sizeof path[way], "%s/pieces%d.h5", folder, way);
            d.code = taut_hdf5_create(path[way], &file, &s.to, &d.error);
            taut_sink split = {
                .begin = split_begin, .row = split_row, .end = split_end, .user = &s};
            if (d.code == 0)
                d.code = taut_solver_run(d.solver, way ? &split : &s.to, 1, NULL, NULL, &d.error);
            check_row(d.code == 0, "%d particles: %s", cases[c].particles, d.error.message);
            taut_file_sink_destroy(file);
            driven_destroy(&d);
        }
        hid_t file[2] = {H5Fopen(path[0], H5F_ACC_RDONLY, H5P_DEFAULT),
                         H5Fopen(path[1], H5F_ACC_RDONLY, H5P_DEFAULT)};
        for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
            hsize_t shape[2][3];
            int count[2];
            for (int way = 0; way < 2; way++)
                count[way] = read_set(file[way], sets[k], value[way], MOST, shape[way]);
            check_row(count[0] > 0 && count[1] == count[0] &&
                          memcmp(shape[0], shape[1], sizeof shape[0]) == 0 &&
                          memcmp(value[0], value[1], (size_t)count[0] * sizeof(double)) == 0,
                      "%d particles in pieces of %d: %s: %d numbers and %d", cases[c].particles,
                      (int)cases[c].piece, sets[k], count[0], count[1]);
        }
        H5Fclose(file[0]);
        H5Fclose(file[1]);
    }
}

static void test_bad_hdf5(void)
{
    static const char *const paths[] = {"/does/not/exist/a.h5", "/dev"};
    check_group("hdf5 that cannot be written");
    taut_error error;
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++) {
        check_equal(paths[k], run_into(SPRING, "step=0.1 until=1", 2, paths[k], NULL, &error),
                    TAUT_ERROR_FILE);
        check_contains(paths[k], error.message, paths[k]);
    }
    check_equal("standard output", run_into(SPRING, "step=0.1 until=1", 2, "-", NULL, &error),
                TAUT_ERROR_USAGE);
}
#else
static void test_hdf5(void)
{
    check_group("hdf5");
    taut_error error;
    check_equal("a build without it",
                run_into(SPRING, "step=0.1 until=1", 2, inside("a.h5"), NULL, &error),
                TAUT_ERROR_UNAVAILABLE);
    check_contains("what to do", error.message, ".csv");
}

static void test_bad_hdf5(void)
{
}

static void test_pieces(void)
{
}
#endif

/* A disk that is full after so many bytes, as far as this process can tell. HDF5 must survive
 * it, to the end of the process. */
static void test_full_disk(void)
{
    static const char *const names[] = {"full.csv", "full.png", "full.h5"};
    static const rlim_t room[] = {0, 1, 700, 2048, 2100, 4096, 10000, 30000};
    struct rlimit before;
    check_group("full disk");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    for (int kind = 0; kind < 3; kind++) {
        for (size_t k = 0; k < sizeof room / sizeof room[0]; k++) {
            taut_error error;
            char path[600];
            struct rlimit now = {room[k], before.rlim_max};
            snprintf(path, sizeof path, "%s", inside(names[kind]));
            setrlimit(RLIMIT_FSIZE, &now);
            int code = run_into(SPRING, "step=0.001 until=10 every=0.001", kind, path, "", &error);
            setrlimit(RLIMIT_FSIZE, &before);
            if (code == TAUT_ERROR_UNAVAILABLE)
                break;
            check_row(code == TAUT_ERROR_FILE, "%s, %d bytes: %s %s", names[kind], (int)room[k],
                      taut_code_name(code), error.message);
            check_contains(names[kind], error.message, strerror(EFBIG));
            check_row(kind != 1 || access(path, F_OK) != 0,
                      "%s, %d bytes: a part of a picture is left", names[kind], (int)room[k]);
        }
    }
    taut_error error;
    int code = run_into(SPRING, "step=0.001 until=1", 2, inside("full.h5"), NULL, &error);
    check_row(code == 0 || code == TAUT_ERROR_UNAVAILABLE, "room again: %s", error.message);
}

static void remove_folder(void)
{
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (entry->d_name[0] != '.')
            unlink(inside(entry->d_name));
    if (list)
        closedir(list);
    rmdir(folder);
}

/* Tics: as many as are wanted at most, and not far fewer; 1, 2 or 5 times a power of ten. */
static void test_tics(void)
{
    static const struct {
        double length;
        int most;
        double step;
    } rows[] = {{10, 5, 2}, {1, 5, 0.2},   {0.97, 6, 0.2}, {3e-7, 5, 1e-7},
                {11, 5, 5}, {100, 1, 100}, {51, 5, 20}};
    check_group("tics");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        check_near("step", taut_picture_step(rows[k].length, rows[k].most), rows[k].step,
                   1e-12 * rows[k].step);
}

/* Titles and names: letters of any language stay whole, what could end a text in a script of
 * gnuplot does not pass. */
static void test_clean(void)
{
    static const struct {
        const char *text, *clean;
        size_t size;
    } rows[] = {
        {"omega[1].x = 2", "omega[1].x = 2", 64},
        {"a\"c`d\\e$f\n!{}@~#&", "a c d e f        ", 64},
        {"x1' of Bennett's", "x1\xe2\x80\x99 of Bennett\xe2\x80\x99s", 64},
        {"Gr\xc3\xb6\xc3\x9f"
         "e \xe2\x80\x94 \xf0\x9d\x9c\x86",
         "Gr\xc3\xb6\xc3\x9f"
         "e \xe2\x80\x94 \xf0\x9d\x9c\x86",
         64},
        {"Gr\xc3\xb6", "Gr", 4}, /* no room for the whole letter */
        {"a\xc3"
         "b\xff"
         "c\xc2\x85"
         "d",
         "a b c  d", 64}, /* broken; a control character */
        {"\xc0\xa7"
         "x\xe0\x80\xa7",
         "  x   ", 64},                                  /* a quote in overlong forms */
        {"\xed\xa0\x80\xf4\x90\x80\x80", "       ", 64}, /* no letters */
        {"a\xc3", "a ", 64},                             /* the text ends inside a letter */
    };
    check_group("clean texts");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char clean[64];
        taut_picture_clean(rows[k].text, clean, rows[k].size);
        check_row(strcmp(clean, rows[k].clean) == 0, "row %d: '%s'", (int)k, clean);
    }
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s/taut-test-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!check_row(mkdtemp(folder) != NULL, "a folder for the test"))
        return check_done();
    setenv("TMPDIR", folder, 1); /* so that what pictures leave behind is seen */
    test_csv();
    test_first_order();
    test_names();
    test_bad_files();
    test_tics();
    test_clean();
    test_picture();
    test_bad_pictures();
    test_hdf5();
    test_bad_hdf5();
    test_pieces();
    test_full_disk();
    remove_folder();
    return check_done();
}
