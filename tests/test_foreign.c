/* test_foreign.c - what others have written: files that are no files, texts with control
 * characters, and the memory that a model asks for. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <taut/taut.h>

#include "base/file.h"
#include "base/text.h"
#include "support/table.h"

/* ---- texts */

static void visible(void)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"", ""},
        {"plain 'text', 100 %", "plain 'text', 100 %"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e"},
        {"a\tb", "a b"},
        {"\033[2J\033]0;x\007", "\\x1b[2J\\x1b]0;x\\x07"},
        {"line\nnext\r", "line\\x0anext\\x0d"},
        {"\x7f\xc2\x9b"
         "1m",
         "\\x7f\\xc2\\x9b1m"}, /* CSI as one character */
        {"\x9b\xff\xc3", "\\x9b\\xff\\xc3"},
        {"\xc0\xaf\xed\xa0\x80", "\\xc0\\xaf\\xed\\xa0\\x80"}, /* overlong, surrogate */
    };
    check_group("control characters are shown");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char copy[100];
        size_t length = taut_visible(rows[k].text, copy, sizeof copy);
        check_row(strcmp(copy, rows[k].shown) == 0 && length == strlen(copy), "%s, expected %s",
                  copy, rows[k].shown);
        for (size_t size = 1; size < strlen(rows[k].shown); size++) {
            char cut[100];
            memset(cut, '#', sizeof cut);
            length = taut_visible(rows[k].text, cut, size);
            check_row(length < size && cut[length] == 0 && cut[size] == '#' &&
                          strncmp(cut, rows[k].shown, length) == 0,
                      "%zu bytes: %s of %s", size, cut, rows[k].shown);
        }
    }
    check_equal("nothing to copy to", (long long)taut_visible("x", NULL, 0), 0);
}

static bool printable(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

/* The line of an error comes from memory, and of a long one the part around the place. */
static void quoted(void)
{
    taut_system *system = NULL;
    taut_error error;
    char text[2000] = "[coordinates]\nx\n[potential]\n";
    check_group("the line of an error");
    for (int k = 0; k < 80; k++)
        strcat(text, "x + 0*");
    strcat(text, "wrong\033[31m + x\n");
    int code = taut_system_parse(text, strlen(text), "long\033.taut", NULL, &system, &error);
    check_equal("a wrong character", code, TAUT_ERROR_MODEL);
    check_row(error.column > 480 && error.source_column > 0 &&
                  (size_t)error.source_column <= strlen(error.source) + 1,
              "column %d, %d in a part of %zu bytes", error.column, error.source_column,
              strlen(error.source));
    check_row(error.source_column > 6 &&
                  (strncmp(error.source + error.source_column - 1, "wrong", 5) == 0 ||
                   strncmp(error.source + error.source_column - 6, "wrong", 5) == 0),
              "the place is in '%s', column %d", error.source, error.source_column);
    check_row(printable(error.source) && printable(error.message) && printable(error.file),
              "'%s', '%s', '%s'", error.source, error.message, error.file);
    taut_system_destroy(system);
    strcpy(text, "[coordinates]\nx\n[potential]\nx +\n");
    taut_system_parse(text, strlen(text), "short", NULL, &system, &error);
    check_row(error.source_column == error.column && strcmp(error.source, "x +") == 0,
              "column %d and %d of '%s'", error.column, error.source_column, error.source);
    taut_system_destroy(system);
}

/* ---- files */

static const char *folder;

static const char *inside(const char *name)
{
    static char path[2][300];
    static int turn;
    turn = 1 - turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(inside(name), "w");
    if (file) {
        fputs(text, file);
        fclose(file);
    }
}

static void try_file(const char *in, const char *name, const char *text, const char *reason)
{
    taut_arena arena;
    char why[TAUT_FILE_WHY];
    size_t length = 0;
    taut_arena_init(&arena, NULL);
    const char *got = taut_file_read(in, name, 1000, &arena, &length, why);
    if (text)
        check_row(got && strcmp(got, text) == 0 && length == strlen(text), "%s: '%s', %s", name,
                  got ? got : "", why);
    else
        check_row(!got && strstr(why, reason), "%s: '%s', expected '%s'", name, why, reason);
    taut_arena_clear(&arena);
}

static void files(void)
{
    char big[1200], home[] = "/tmp/taut_foreign_XXXXXX", top[100], outside[] = "/etc/passwd";
    check_group("files");
    if (!mkdtemp(home)) {
        check_skip("no folder for files");
        return;
    }
    snprintf(top, sizeof top, "%s/top", home);
    folder = top;
    mkdir(top, 0700);
    mkdir(inside("sub"), 0700);
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    write_file("plain", "one\n");
    write_file("empty", "");
    write_file("big", big);
    write_file("sub/deep", "two\n");
    write_file("../outside", "secret\n");
    bool made = symlink("plain", inside("link")) == 0 && symlink("sub", inside("way")) == 0 &&
                symlink("../outside", inside("out")) == 0 && symlink("..", inside("up")) == 0 &&
                symlink(outside, inside("far")) == 0 && symlink("/dev/zero", inside("zero")) == 0 &&
                symlink("loop", inside("loop")) == 0 && mkfifo(inside("pipe"), 0600) == 0;
    check_row(made, "links and a pipe");
    static const struct {
        const char *name, *text, *reason; /* inside the folder */
    } rows[] = {{"plain", "one\n", NULL},
                {"empty", "", NULL},
                {"sub/deep", "two\n", NULL},
                {"sub//deep", "two\n", NULL},
                {"link", "one\n", NULL},
                {"way/deep", "two\n", NULL},
                {"out", NULL, "leads out of the folder"},
                {"up/outside", NULL, "leads out of the folder"},
                {"far", NULL, "leads out of the folder"},
                {"zero", NULL, "leads out of the folder"},
                {"loop", NULL, ""},
                {"pipe", NULL, "is a pipe"},
                {"sub", NULL, "is a folder"},
                {"big", NULL, "larger than"},
                {"none", NULL, "No such file"},
                {"plain/deep", NULL, ""}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        try_file(top, rows[k].name, rows[k].text, rows[k].reason);
    /* a path that the user gave may be a link, but no pipe and no device */
    try_file(NULL, inside("out"), "secret\n", NULL);
    try_file(NULL, inside("pipe"), NULL, "is a pipe");
    try_file(NULL, "/dev/zero", NULL, "is a device");
    try_file(NULL, inside("sub"), NULL, "is a folder");
    static const char *const all[] = {"plain", "empty", "big", "sub/deep", "../outside",
                                      "link",  "way",   "out", "up",       "far",
                                      "zero",  "loop",  "pipe"};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        unlink(inside(all[k]));
    rmdir(inside("sub"));
    rmdir(top);
    rmdir(home);
}

/* ---- memory */

typedef struct count {
    size_t now, most;
} count;

static void *count_get(void *user, size_t bytes)
{
    count *c = user;
    size_t *block = malloc(bytes + 64);
    if (!block)
        return NULL;
    *block = bytes;
    c->now += bytes;
    c->most = c->now > c->most ? c->now : c->most;
    return block + 8;
}

static void count_give(void *user, void *block)
{
    count *c = user;
    if (!block)
        return;
    size_t *begin = (size_t *)block - 8;
    c->now -= *begin;
    free(begin);
}

/* The estimate against what the same allocator has counted at the peak of a check. */
static void memory(void)
{
    static const struct {
        const char *model, *set;
        bool slow; /* its slow point decides about the motion */
    } rows[] = {{"chain", "N=20000", false},
                {"polymer", "N=150", false},
                {"fpu", "m=20000", false},
                {"net", "N=24", true}};
    static const double PROGRAM = 1.4e7; /* is not counted here */
#ifdef TAUT_CORE
    static const double least = 0.7; /* frequencies take dense matrices without ARPACK */
#else
    static const double least = 0.88;
#endif
    check_group("memory is estimated");
    for (int k = 0; k < 4; k++) {
        count c = {0};
        taut_allocator allocator = {count_get, count_give, &c};
        taut_system *system = NULL;
        taut_options *options = NULL;
        taut_error error = {0};
        taut_check_report report = {.size = sizeof report};
        taut_load how = {
            .size = sizeof how, .allocator = &allocator, .set = &rows[k].set, .set_count = 1};
        char path[300];
        snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, rows[k].model);
        int code = taut_system_load(path, &how, &system, &error);
        double estimate =
            rows[k].slow ? taut_system_memory_slow(system) : taut_system_memory(system);
        if (code == 0)
            code = taut_options_create(NULL, &options, &error);
        if (code == 0)
            code = taut_options_set(options, "no-derivatives", "yes", &error);
        if (code == 0)
            code = taut_check(system, options, &report, &error);
        check_row(code == 0, "%s: %s", rows[k].model, error.message);
        double ratio = estimate / ((double)c.most + PROGRAM);
        check_row(ratio > least && ratio < 1.6, "%s %s: %.3g MB estimated, %.3g MB counted",
                  rows[k].model, rows[k].set, estimate / 1e6, (double)c.most / 1e6);
        taut_options_destroy(options);
        taut_system_destroy(system);
    }
    check_row(isnan(taut_system_memory(NULL)) && isnan(taut_system_memory_slow(NULL)),
              "of no system");
}

/* The same for two steps of a method; `least` of explicit ones and of slow motion is above. */
static void memory_of_methods(void)
{
    static const struct {
        const char *method, *set;
        double least, most;
    } rows[] = {
        {"radau5", "N=20000", 0.7, 1.6}, {"trbdf2", "N=20000", 0.7, 1.7}, {NULL, "N=20000", 1, 1}};
    check_group("memory of methods is estimated");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        count c = {0};
        taut_allocator allocator = {count_get, count_give, &c};
        taut_system *system = NULL;
        taut_options *options = NULL;
        taut_solver *solver = NULL;
        taut_error error = {0};
        taut_load how = {
            .size = sizeof how, .allocator = &allocator, .set = &rows[k].set, .set_count = 1};
        int code = taut_system_load(TAUT_SOURCE_DIR "/models/chain.taut", &how, &system, &error);
        const double estimate = taut_system_memory_method(system, rows[k].method);
        double counted = taut_system_memory(system);
        if (code == 0 && rows[k].method) {
            code = taut_options_create(NULL, &options, &error);
            code = code ? code : taut_options_set(options, "motion", "rigid", &error);
            code = code ? code : taut_options_set(options, "method", rows[k].method, &error);
            code = code ? code : taut_options_set(options, "step", "1e-5", &error);
            code = code ? code : taut_solver_create(system, options, &allocator, &solver, &error);
            code = code ? code : taut_solver_advance(solver, 2e-5, &error);
            counted = (double)c.most + 1.4e7;
        }
        const double ratio = estimate / counted;
        check_row(code == 0 && ratio >= rows[k].least && ratio <= rows[k].most,
                  "%s: status %d %s, %.3g MB estimated, %.3g MB counted",
                  rows[k].method ? rows[k].method : "no method", code, error.message,
                  estimate / 1e6, counted / 1e6);
        taut_solver_destroy(solver);
        taut_options_destroy(options);
        taut_system_destroy(system);
    }
    check_row(isnan(taut_system_memory_method(NULL, "radau5")), "of no system");
}

int main(void)
{
    visible();
    quoted();
    files();
    memory();
    memory_of_methods();
    return check_done();
}
