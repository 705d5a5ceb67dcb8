/* test_native_cache.c - the cache of compiled tapes is used, checked and guarded; every failure
 * leaves the tapes as they were, with a message. The compiler is put behind a script that counts
 * how often it is asked to compile. */
#ifdef TAUT_CORE

#include "support/table.h"

int main(void)
{
    check_group("cache");
    check_skip("a core build has none");
    return check_done();
}

#else

#define _XOPEN_SOURCE 700

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "support/faulty.h"
#include "support/native_place.h"

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) || chmod(path, mode)) {
        printf("cannot write %s\n", path);
        exit(1);
    }
}

/* Entries of a folder; the name of the last .so goes to `object` (may be NULL). */
static int entries(const char *path, char *object, size_t size)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    int count = 0;
    while (folder && (entry = readdir(folder))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        count++;
        if (object && strstr(entry->d_name, ".so"))
            snprintf(object, size, "%s/%s", path, entry->d_name);
    }
    if (folder)
        closedir(folder);
    return count;
}

/* A folder of PATH whose cc is the script `body`. */
static void use_compiler(const char *body)
{
    char text[1400];
    mkdir(in_place("bin"), 0700);
    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", body);
    write_file(in_place("bin/cc"), text, 0700);
    char path[9000];
    snprintf(path, sizeof path, "%s:%s", in_place("bin"), old_path);
    setenv("PATH", path, 1);
}

/* The real compiler, leaving a line in `count` for each compilation. */
static void use_counting_compiler(const char *compiler)
{
    char body[1200];
    snprintf(body, sizeof body, "[ \"$1\" = --version ] || echo >>'%s'\nexec '%s' \"$@\"",
             in_place("count"), compiler);
    use_compiler(body);
}

static int compilations(void)
{
    FILE *file = fopen(in_place("count"), "r");
    int count = 0, c;
    while (file && (c = fgetc(file)) != EOF)
        count += c == '\n';
    if (file)
        fclose(file);
    return count;
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* One small tape, sin(x) + k: different k, different code. */
static bench bench_small(double k)
{
    bench b = bench_open();
    const int32_t sine = taut_graph_unary(b.graph, TAUT_OP_SIN, taut_graph_input(b.graph, 0));
    const int32_t node =
        taut_graph_binary(b.graph, TAUT_OP_ADD, sine, taut_graph_constant(b.graph, k));
    bench_tape(&b, 1, 1, &node, (const unsigned char[]){0});
    return b;
}

static double run_small(const bench *b, double x)
{
    double *regs = calloc((size_t)b->tape->registers, sizeof *regs);
    taut_tape_prepare(b->tape, 1, regs);
    regs[0] = x;
    taut_tape_run(b->tape, 0, 1, 1, regs);
    const double value = regs[b->tape->output[0]];
    free(regs);
    return value;
}

/* ---- cache */

static int try_small(double k, const char *folder, const taut_allocator *allocator,
                     taut_error *error)
{
    bench b = bench_small(k);
    const double before = run_small(&b, 0.5);
    const int status = taut_native_create(&b.tape, 1, folder, allocator, &b.native, error);
    check_row((status == 0) == (b.tape->native != NULL) && (status == 0) == (b.native != NULL),
              "status %d, but the tape says else", status);
    check_near("value", run_small(&b, 0.5), before, 0);
    bench_close(&b);
    return status;
}

/* Built once, found afterwards, built again when it is damaged. */
static void test_cache(const char *compiler)
{
    check_group("cache");
    use_counting_compiler(compiler);
    char folder[400], object[800] = "";
    snprintf(folder, sizeof folder, "%s", in_place("cache"));
    struct stat first, second;
    taut_error error = {0};
    check_equal("made", try_small(1, folder, NULL, &error), 0);
    check_equal("compiled", compilations(), 1);
    check_equal("entries of the folder", entries(folder, object, sizeof object), 1);
    check_row(stat(folder, &first) == 0 && (first.st_mode & 0777) == 0700,
              "mode of the folder is %o", first.st_mode & 0777);
    check_row(stat(object, &first) == 0 && (first.st_mode & 0777) == 0600,
              "mode of the object is %o", first.st_mode & 0777);
    check_equal("made again", try_small(1, folder, NULL, &error), 0);
    check_equal("not compiled again", compilations(), 1);
    check_row(stat(object, &second) == 0 && first.st_ino == second.st_ino &&
                  first.st_mtime == second.st_mtime,
              "another file");
    check_equal("another tape", try_small(2, folder, NULL, &error), 0);
    check_equal("is another object", compilations(), 2);
    check_equal("entries of the folder", entries(folder, NULL, 0), 2);

    check_row(truncate(object, first.st_size / 2) == 0, "cannot cut the object");
    check_equal("made after a cut", try_small(1, folder, NULL, &error), 0);
    check_equal("compiled after a cut", compilations(), 3);
    FILE *file = fopen(object, "r+b");
    check_row(file && fseek(file, 100, SEEK_SET) == 0 && fputc(fgetc(file) ^ 1, file) != EOF &&
                  fclose(file) == 0,
              "cannot flip a bit");
    check_equal("made after a flipped bit", try_small(1, folder, NULL, &error), 0);
    check_equal("compiled after a flipped bit", compilations(), 4);
    check_row(chmod(object, 0666) == 0, "cannot open the object to all");
    check_equal("made after it was open to all", try_small(1, folder, NULL, &error), 0);
    check_equal("compiled after it was open to all", compilations(), 5);

    /* the same program text, another version of the compiler */
    char body[1200];
    snprintf(body, sizeof body,
             "[ \"$1\" = --version ] && echo new && exit\necho >>'%s'\nexec '%s' \"$@\"",
             in_place("count"), compiler);
    use_compiler(body);
    check_equal("made with another compiler", try_small(1, folder, NULL, &error), 0);
    check_equal("compiled with another compiler", compilations(), 6);
}

/* Where the cache is when nothing is specified. */
static void test_default_folder(const char *compiler)
{
    check_group("default folder");
    use_counting_compiler(compiler);
    taut_error error = {0};
    setenv("XDG_CACHE_HOME", in_place("xdg/deep"), 1);
    check_equal("made", try_small(1, NULL, NULL, &error), 0);
    check_equal("entries of $XDG_CACHE_HOME/taut", entries(in_place("xdg/deep/taut"), NULL, 0), 1);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", in_place("home"), 1);
    check_equal("made", try_small(1, NULL, NULL, &error), 0);
    check_equal("entries of ~/.cache/taut", entries(in_place("home/.cache/taut"), NULL, 0), 1);
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    check_equal("no place", try_small(1, NULL, NULL, &error), TAUT_ERROR_UNAVAILABLE);
    check_contains("message", error.message, "HOME");
    char here[1000];
    check_row(getcwd(here, sizeof here) && chdir(place) == 0, "cannot go to the folder");
    check_equal("a name like an option", try_small(1, "-o", NULL, &error), 0);
    check_equal("its entries", entries(in_place("-o"), NULL, 0), 1);
    check_row(chdir(here) == 0, "cannot go back");
}

/* ---- refusals */

static void refused(const char *what, const char *folder, int code, const char *part)
{
    taut_error error = {0};
    const int before = compilations();
    check_equal(what, try_small(3, folder, NULL, &error), code);
    check_contains(what, error.message, part);
    check_equal("compilations", compilations(), before);
}

static void test_refusals(const char *compiler)
{
    check_group("refusal");
    use_counting_compiler(compiler);
    mkdir(in_place("open"), 0700);
    check_row(chmod(in_place("open"), 0777) == 0, "cannot open the folder to all");
    refused("folder that all can write", in_place("open"), TAUT_ERROR_REFUSED, "others");
    chmod(in_place("open"), 0770);
    refused("folder that the group can write", in_place("open"), TAUT_ERROR_REFUSED, "others");
    chmod(in_place("open"), 0777);
    mkdir(in_place("open/inner"), 0700);
    refused("folder that all can replace", in_place("open/inner"), TAUT_ERROR_REFUSED, "others");
    mkdir(in_place("open/inner/deep"), 0700);
    refused("two folders below", in_place("open/inner/deep"), TAUT_ERROR_REFUSED, "others");
    chmod(in_place("open"), 0770);
    refused("folder that the group can replace", in_place("open/inner"), TAUT_ERROR_REFUSED,
            "others");
    chmod(in_place("open"), 0700);
    check_equal("closed again", try_small(3, in_place("open/inner/deep"), NULL, NULL), 0);
    if (geteuid() == 0) { /* only root can give a folder away */
        check_row(chown(in_place("open"), 12345, (gid_t)-1) == 0, "cannot give the folder away");
        refused("below a folder of another user", in_place("open/inner"), TAUT_ERROR_REFUSED,
                "another user");
        check_row(chown(in_place("open"), 0, (gid_t)-1) == 0, "cannot take the folder back");
    } else {
        check_skip("not root: no folder of another user");
    }
    mkdir(in_place("real"), 0700);
    check_row(symlink(in_place("real"), in_place("link")) == 0, "cannot link");
    refused("link", in_place("link"), TAUT_ERROR_REFUSED, "not a folder");
    refused("below a file", in_place("bin/cc/cache"), TAUT_ERROR_FILE, "bin/cc");

    setenv("PATH", "", 1);
    refused("empty PATH", in_place("cache"), TAUT_ERROR_UNAVAILABLE, "no C compiler");
    unsetenv("PATH");
    refused("no PATH", in_place("cache"), TAUT_ERROR_UNAVAILABLE, "no C compiler");
    setenv("PATH", "bin:.::relative/folder", 1);
    refused("relative PATH", in_place("cache"), TAUT_ERROR_UNAVAILABLE, "no C compiler");
    setenv("PATH", old_path, 1);

    taut_native *native;
    taut_error error = {0};
    check_equal("no tapes", taut_native_create(NULL, 0, in_place("cache"), NULL, &native, &error),
                TAUT_ERROR_USAGE);
    bench b = bench_open();
    int32_t node = taut_graph_input(b.graph, 0);
    for (int i = 0; i <= TAUT_NATIVE_LENGTH; i++)
        node = taut_graph_unary(b.graph, TAUT_OP_SIN, node);
    bench_tape(&b, 1, 1, &node, (const unsigned char[]){0});
    check_equal("too long",
                taut_native_create(&b.tape, 1, in_place("cache"), NULL, &b.native, &error),
                TAUT_ERROR_SIZE);
    check_contains("message", error.message, "interpreted");
    bench_close(&b);
}

/* Compilers that fail in various ways; nothing stays behind. */
static void test_bad_compilers(const char *compiler)
{
    check_group("bad compiler");
    static const struct {
        const char *what, *body, *part;
    } rows[] = {
        {"no version", "exit 1", "version"},
        {"silent", "exit 0", "version"},
        {"complains", "[ \"$1\" = --version ] && echo 1 && exit\necho 'disk on fire' >&2\nexit 1",
         "disk on fire"},
        {"makes nothing", "[ \"$1\" = --version ] && echo 1 && exit\nexit 0", "cannot compile"},
        {"dies", "[ \"$1\" = --version ] && echo 1 && exit\nkill -9 $$", "cannot compile"},
        {"makes rubbish",
         "echo 1\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && echo rubbish >\"$2\"; shift; done",
         "cannot be loaded"},
        {"talks much",
         "[ \"$1\" = --version ] && echo 1 && exit\ni=0; while [ $i -lt 9000 ]; do echo 'much to "
         "say'; i=$((i+1)); done; exit 1",
         "much to say"},
    };
    mkdir(in_place("bad"), 0700);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        taut_error error = {0};
        use_compiler(rows[i].body);
        const int descriptors = open_descriptors();
        check_equal(rows[i].what, try_small(4, in_place("bad"), NULL, &error), TAUT_ERROR_PROCESS);
        check_contains(rows[i].what, error.message, rows[i].part);
        check_contains(rows[i].what, error.message, "interpreted");
        check_equal("descriptors", open_descriptors(), descriptors);
        check_row(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "%s: a child is left",
                  rows[i].what);
    }
    use_counting_compiler(compiler);
    taut_error error = {0};
    check_equal("a good one afterwards", try_small(4, in_place("bad"), NULL, &error), 0);
    check_equal("entries of the folder", entries(in_place("bad"), NULL, 0), 1);
}

/* A host that ignores SIGCHLD never gets a status, one with blocked signals must not hand them
 * on, timers interrupt the wait. */
static void on_alarm(int number)
{
    (void)number;
}

static void test_signals(const char *compiler)
{
    check_group("signals");
    use_counting_compiler(compiler);
    taut_error error = {0};
    signal(SIGCHLD, SIG_IGN);
    check_equal("SIGCHLD ignored", try_small(5, in_place("signals"), NULL, &error), 0);
    use_compiler("[ \"$1\" = --version ] && echo 2 && exit\nexit 1");
    check_equal("SIGCHLD ignored, bad compiler", try_small(6, in_place("signals"), NULL, &error),
                TAUT_ERROR_PROCESS);
    signal(SIGCHLD, SIG_DFL);

    use_counting_compiler(compiler);
    struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART: waitpid returns EINTR */
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    check_equal("interrupted waits", try_small(7, in_place("signals"), NULL, &error), 0);
    setitimer(ITIMER_REAL, &never, NULL);
    check_row(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "a child is left");
}

/* Standard streams closed, as in a daemon: the compiler's output must not end up in a file of
 * ours. */
static void test_closed_streams(const char *compiler)
{
    check_group("closed streams");
    use_counting_compiler(compiler);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        bench b = bench_small(8);
        taut_error error = {0};
        const int status =
            taut_native_create(&b.tape, 1, in_place("closed"), NULL, &b.native, &error);
        const bool good = status == 0 && fabs(run_small(&b, 0.5) - (sin(0.5) + 8)) < 1e-14;
        bench_close(&b);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    check_row(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
}

/* Two processes that build the same thing at the same time. */
static void test_together(const char *compiler)
{
    check_group("two processes");
    use_counting_compiler(compiler);
    fflush(stdout);
    pid_t child[2];
    for (int i = 0; i < 2; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            bench b = bench_small(9);
            taut_error error = {0};
            const int status =
                taut_native_create(&b.tape, 1, in_place("together"), NULL, &b.native, &error);
            bench_close(&b);
            _exit(status == 0 ? 0 : 1);
        }
    }
    for (int i = 0; i < 2; i++) {
        int status = -1;
        check_row(waitpid(child[i], &status, 0) == child[i] && status == 0, "process %d: %d", i,
                  status);
    }
    check_equal("entries of the folder", entries(in_place("together"), NULL, 0), 1);
}

/* A program with the rights of another user must not run what its caller put into PATH. */
static void test_other_rights(const char *compiler)
{
    check_group("other rights");
    if (geteuid() != 0) {
        check_skip("only root can take the rights of another user");
        return;
    }
    use_counting_compiler(compiler);
    taut_error error = {0};
    check_row(seteuid(65534) == 0, "cannot become another user");
    const int status = try_small(11, in_place("rights"), NULL, &error);
    check_row(seteuid(0) == 0, "cannot become root again");
    check_equal("status", status, TAUT_ERROR_REFUSED);
    check_contains("message", error.message, "another user");
}

static void test_memory(const char *compiler)
{
    check_group("memory");
    use_counting_compiler(compiler);
    taut_error error = {0};
    for (int64_t k = 1; k < 100; k++) {
        faulty memory = {.fail = k};
        const taut_allocator allocator = faulty_allocator(&memory);
        const int status = try_small(10, in_place("memory"), &allocator, &error);
        if (!memory.failed) {
            check_equal("status without a failure", status, 0);
            check_row(k > 1, "no allocation has failed");
            break;
        }
        check_row(status == TAUT_ERROR_MEMORY && memory.live == 0,
                  "allocation %lld: status %d, %lld blocks left", (long long)k, status,
                  (long long)memory.live);
    }
    check_equal("entries of the folder", entries(in_place("memory"), NULL, 0), 1);
}

int main(void)
{
    char compiler[400];
    check_group("cache");
    if (place_open(compiler, sizeof compiler)) {
        test_cache(compiler);
        test_default_folder(compiler);
        test_refusals(compiler);
        test_bad_compilers(compiler);
        test_signals(compiler);
        test_closed_streams(compiler);
        test_together(compiler);
        test_other_rights(compiler);
        test_memory(compiler);
    }
    remove_tree(place);
    return check_done();
}

#endif
