/* test_process.c - black boxes in a process of their own: the same digits as inside, and every
 * way in which a program can fail gives a sentence, leaves no process behind and loses nothing.
 * The programs are examples/legacy.c and tests/process_peer.c, built next to this test. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <taut/taut.h>
#include <unistd.h>

#include "base/flow.h"
#include "blackbox/flows.h"
#include "support/project.h"

#ifdef TAUT_CORE
static const bool core = true; /* cannot start processes */
#else
static const bool core = false;
#endif

static char folder[1000]; /* where the programs are */

/* A model in that folder whose command is given; allowed unless said otherwise. */
static projected ask(const char *variables, const char *command, const char *more,
                     const char *options, const taut_allocator *allocator)
{
    static char text[3000];
    char name[1100];
    projected p = {0};
    snprintf(text, sizeof text, "[state]\n%s\n[stepper]\ncommand = %s\n%s\n", variables, command,
             more);
    snprintf(name, sizeof name, "%s/model.taut", folder);
    taut_load how = {.size = sizeof how, .allow_command = true};
    p.code = taut_system_parse(text, strlen(text), name, &how, &p.system, &p.error);
    projected_run(&p, options, allocator);
    return p;
}

static const char five[] = "y[i] for i in 1..5";
static const char five_more[] =
    "horizon = 4e-4\ntimeout = 20\n[observables]\ny[1], y[2]\n[start]\n"
    "y[1] = -791.2, y[2] = -792.2, y[3] = -814, y[4] = 5.2, y[5] = 405.2";

/* No child is left: neither running nor waiting to be waited for. */
static void nobody(const char *what)
{
    errno = 0;
    int got = (int)waitpid(-1, NULL, WNOHANG);
    check_row(got == -1 && errno == ECHILD, "%s: a process is left behind", what);
}

/* Ended, and not yet waited for by its new parent. */
static bool zombie(long pid)
{
    char path[60], state = '?';
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    bool read = file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
    if (file)
        fclose(file);
    return read && state == 'Z';
}

static int open_files(void)
{
    int count = 0;
    for (int k = 0; k < 256; k++)
        count += fcntl(k, F_GETFD) != -1;
    return count;
}

/* ---- the same digits */

static void same_digits(void)
{
    check_group("the same digits");
    for (int order = 0; order < 3; order++)
        for (int plain = 0; plain < 2; plain++) {
            char options[100];
            snprintf(options, sizeof options, "order=%d iterate=%s", order,
                     plain ? "plain" : "anderson");
            projected inside = project_model("michaelis_menten", NULL, options);
            projected p = ask("x, y", "./legacy --eps 0.1",
                              "horizon = 4e-2\n[observables]\nx\n[start]\nx = 1", options, NULL);
            if (projected_good("inside", &inside) && projected_good("legacy", &p)) {
                check_near("Michaelis-Menten", p.r.q[1], inside.r.q[1], 2e-14);
                check_row(llabs(p.stage[order].iterations - inside.stage[order].iterations) <= 2,
                          "iterations %lld and %lld", (long long)p.stage[order].iterations,
                          (long long)inside.stage[order].iterations);
                check_row(p.r.q[0] == 1, "x is kept");
                check_contains("explanation", p.r.explanation, "./legacy --eps 0.1");
            }
            projected_drop(&p);
            projected_drop(&inside);

            static const char *const init[] = {"y[4] = 5.2", "y[5] = 405.2"};
            taut_load how = {.size = sizeof how, .init = init, .init_count = 2};
            snprintf(options, sizeof options, "order=%d iterate=%s tolerance=%.17g", order,
                     plain ? "plain" : "anderson", 1e-10 / 814);
            inside = project_model("five_dimensions", &how, options);
            p = ask(five, "./process_peer good", five_more, options, NULL);
            if (projected_good("inside", &inside) && projected_good("process_peer", &p))
                for (int i = 0; i < 5; i++)
                    check_near("five dimensions", p.r.q[i], inside.r.q[i], 3e-11 * 800);
            projected_drop(&p);
            projected_drop(&inside);
        }
    nobody("after good ones");
}

/* docs/sources.md, D through the process: Michaelis-Menten log10 errors, five dimensions residuals
 * and counts. */
static void facts(void)
{
    static const double log_error[] = {-2.38, -4.44, -5.41},
                        residual[] = {4.990e-3, 3.36e-5, 9.06e-7};
    static const double mixed[] = {1.319e-2, 1.886e-4, 3.319e-6};
    static const int counts[] = {66, 173, 335};
    double v[5] = {-3.559434800714249, -2.559434800714249, 19.2202825996428754, -800, -1200},
           mean = 0;
    check_group("docs/sources.md, D through the process");
    for (int i = 0; i < 5; i++)
        mean += 0.4 * v[i];
    for (int order = 0; order < 3; order++) {
        char options[100];
        snprintf(options, sizeof options, "order=%d", order);
        projected p = ask("x, y", "./legacy", "horizon = 4e-2\n[observables]\nx\n[start]\nx = 1",
                          options, NULL);
        if (projected_good("legacy", &p))
            check_near("log10 of the error", log10(fabs(p.r.q[1] - 0.503031511623918)),
                       log_error[order], 0.006);
        projected_drop(&p);
        p = ask("x, y", "./legacy",
                "horizon = 4e-2\n[observables]\nu = x + y\n[start]\nx = 1.503031511623918", options,
                NULL);
        if (projected_good("mixed",
                           &p)) /* an observable that is a function, on a state without equations */
            check_near("mixed variables",
                       hypot(p.r.q[0] - 1, p.r.q[1] - 0.503031511623918) / mixed[order], 1, 5e-4);
        projected_drop(&p);
        snprintf(options, sizeof options, "order=%d iterate=plain tolerance=%.17g", order,
                 1e-10 / 814); /* as in test_difference.c */
        p = ask(five, "./process_peer good", five_more, options, NULL);
        if (projected_good("process_peer", &p)) {
            double sum = 0;
            for (int i = 0; i < 5; i++)
                sum += (p.r.q[i] - mean + v[i]) * (p.r.q[i] - mean + v[i]);
            check_near("residual", sqrt(sum) / residual[order], 1, 0.003);
            check_row(llabs(p.stage[order].iterations - counts[order]) <= 2,
                      "%lld iterations, expected %d", (long long)p.stage[order].iterations,
                      counts[order]);
        }
        projected_drop(&p);
    }
}

/* ---- failures */

static const struct {
    const char *how;
    int code;
    const char *words, *more; /* in the message; more may be NULL */
} failing[] = {
    {"exit", TAUT_ERROR_PROCESS, "exit status 3", "table not found: k.dat"},
    {"segv", TAUT_ERROR_PROCESS, "signal 11", NULL},
    {"hang", TAUT_ERROR_PROCESS, "within 0.2 s", "timeout"},
    {"silent", TAUT_ERROR_PROCESS, "within 0.2 s", NULL},
    {"close", TAUT_ERROR_PROCESS, "closed its output", NULL},
    {"half", TAUT_ERROR_PROCESS, "exit status 0", NULL},
    {"version", TAUT_ERROR_PROCESS, "ready 7", "version 1"},
    {"greet-garbage", TAUT_ERROR_PROCESS, "Welcome to LEGACY", "ready 1"},
    {"greet-error", TAUT_ERROR_PROCESS, "the licence has expired", NULL},
    {"garbage", TAUT_ERROR_PROCESS, "42 is the answer", "expected"},
    {"words", TAUT_ERROR_PROCESS, "'three' for 'y[3]'", NULL},
    {"few", TAUT_ERROR_PROCESS, "3 numbers where 5", NULL},
    {"many", TAUT_ERROR_PROCESS, "6 numbers where 5", NULL},
    {"nan", TAUT_ERROR_EVALUATE, "nan for 'y[3]'", NULL},
    {"infinity", TAUT_ERROR_EVALUATE, "-Infinit", "y[2]"},
    {"error", TAUT_ERROR_PROCESS, "concentration of y[2] is negative", NULL},
    {"endless", TAUT_ERROR_PROCESS, "does not end", NULL},
    {"twice", TAUT_ERROR_PROCESS, "without being asked", NULL},
    {"double", TAUT_ERROR_PROCESS, "without being asked", NULL},
    {"flood", TAUT_ERROR_PROCESS, "within 0.2 s", "over and over"},
    {"comments", TAUT_ERROR_PROCESS, "within 0.2 s", NULL},
};

static void failures(void)
{
    char more[400];
    snprintf(more, sizeof more, "horizon = 4e-4\ntimeout = 0.2\nrestarts = 0\n%s",
             strstr(five_more, "[observables]"));
    check_group("failures");
    int files = open_files();
    for (size_t k = 0; k < sizeof failing / sizeof failing[0]; k++) {
        char command[60];
        const char *how = failing[k].how;
        snprintf(command, sizeof command, "./process_peer %s", how);
        projected p = ask(five, command, more, "order=0 iterate=plain", NULL);
        check_row(p.code == failing[k].code, "%s: %s: %s", how, taut_code_name(p.code),
                  p.error.message);
        check_contains(how, p.error.message, failing[k].words);
        check_contains(how, p.error.message, failing[k].more ? failing[k].more : "process_peer");
        check_row(!strchr(p.error.message, '\033') && !strchr(p.error.message, '\n'),
                  "%s: no control characters", how);
        check_row(!p.projection, "%s: no result", how);
        projected_drop(&p);
        nobody(how);
    }
    check_equal("files that are open", open_files(), files);
}

/* The same failures, each once in the life of a process: a new process answers the request. What
 * fails in every process fails for good. */
static void restarts(void)
{
    static const char *const once[] = {"exit",    "segv",  "hang", "close",   "half",
                                       "garbage", "words", "few",  "endless", "flood"};
    char more[400], command[60];
    snprintf(more, sizeof more, "horizon = 4e-4\ntimeout = 0.2\n%s",
             strstr(five_more, "[observables]"));
    check_group("restarts");
    projected good = ask(five, "./process_peer good", more, "order=0", NULL);
    check_equal("no restarts", good.r.statistics.restarts, 0);
    for (size_t k = 0; k < sizeof once / sizeof once[0] && projected_good("good", &good); k++) {
        snprintf(command, sizeof command, "./process_peer %s", once[k]);
        projected p = ask(five, command, more, "order=0", NULL);
        if (projected_good(once[k], &p)) {
            check_row(memcmp(p.r.q, good.r.q, 5 * sizeof *p.r.q) == 0, "%s: the same digits",
                      once[k]);
            check_row(p.r.statistics.restarts >= 2, "%s: %lld restarts", once[k],
                      (long long)p.r.statistics.restarts);
            check_equal("uses of the flow", p.r.statistics.micro_steps,
                        good.r.statistics.micro_steps);
        }
        projected_drop(&p);
        nobody(once[k]);
    }
    projected p = ask(five, "./process_peer always", more, "order=0", NULL);
    check_contains("in every process", p.error.message, "repeated in 2 new processes");
    check_equal("in every process", p.code, TAUT_ERROR_PROCESS);
    projected_drop(&p);
    p = ask(five, "./process_peer error", more, "order=0", NULL);
    check_row(p.code == TAUT_ERROR_PROCESS && !strstr(p.error.message, "repeated"),
              "what a program refuses is not repeated: %s", p.error.message);
    projected_drop(&p);
    snprintf(more, sizeof more, "horizon = 4e-4\nrestarts = 1\n%s",
             strstr(five_more, "[observables]"));
    p = ask(five, "./process_peer exit", more, "order=0", NULL);
    check_row(p.code == TAUT_ERROR_PROCESS, "restarts = 1: %s", p.error.message);
    check_contains("the last messages", p.error.message, "'reading tables', '");
    projected_drop(&p);
    p = ask(five, "./process_peer good", "horizon = 1\ncopies = 0\n[observables]\ny[1]", "", NULL);
    projected_refused("no copies", &p, TAUT_ERROR_USAGE, "copies");
    projected_drop(&good);
    nobody("restarts");
}

/* 10000 states through processes of which every 500th call fails: all equal to those of a good
 * process. `copies` of them at the same time. */
static void storm(int copies)
{
    enum { CALLS = 10000, GROUP = 10, N = 5 };
    char command[100], path[1100];
    taut_arena arena;
    taut_statistics cost[2] = {{0}};
    taut_flow *flow[2] = {NULL};
    projected p = {0};
    static const char text[] =
        "[state]\ny[i] for i in 1..5\n[stepper]\ncommand = x\n[observables]\ny[1]\n";
    check_group(copies > 1 ? "10000 calls, several copies" : "10000 calls");
    snprintf(path, sizeof path, "%s/storm.%ld", folder, (long)getpid());
    snprintf(command, sizeof command, "./process_peer storm storm.%ld", (long)getpid());
    p.code = taut_system_parse(text, sizeof text - 1, "model.taut", NULL, &p.system, &p.error);
    taut_arena_init(&arena, NULL);
    for (int k = 0; k < 2; k++) {
        taut_process_settings settings = {.command = k ? command : "./process_peer good",
                                          .folder = folder,
                                          .timeout = k ? 0.2 : 20,
                                          .copies = copies,
                                          .restarts = 100};
        p.code = taut_flow_process(p.system, &arena, &cost[k], &settings, &flow[k], &p.error);
        check_row(p.code == 0, "start: %s", p.error.message);
    }
    double state[2][GROUP][N];
    int64_t done = 0, different = 0;
    for (; done < CALLS && p.code == 0; done += GROUP) {
        for (int i = 0; i < GROUP * N && done % 200 == 0; i++)
            state[0][i / N][i % N] = state[1][i / N][i % N] =
                i % N < 3   ? -790 - 0.01 * (double)(i + done % 1000)
                : i % N < 4 ? 5
                            : 405;
        for (int k = 0; k < 2 && p.code == 0; k++)
            for (int j = 0; j < (copies > 1 ? 1 : GROUP) && p.code == 0; j++)
                p.code = taut_flow_advance_all(flow[k], 0, 1e-5, copies > 1 ? GROUP : 1,
                                               state[k][j], &p.error);
        different += memcmp(state[0], state[1], sizeof state[0]) != 0;
    }
    check_row(p.code == 0, "%lld calls: %s", (long long)done, p.error.message);
    check_equal("groups that differ", different, 0);
    check_equal("calls", cost[1].micro_steps, CALLS);
    check_equal("restarts", cost[1].restarts, CALLS / 500);
    check_equal("undisturbed", cost[0].restarts, 0);
    for (int k = 0; k < 2; k++)
        if (flow[k])
            flow[k]->destroy(flow[k]);
    nobody("storm");
    unlink(path);
    taut_arena_clear(&arena);
    projected_drop(&p);
}

/* ---- starting */

static void starting(void)
{
    check_group("starting");
    projected p = ask("x, y", "./no-such-program", "horizon = 1\n[observables]\nx", "", NULL);
    projected_refused("no such file", &p, TAUT_ERROR_PROCESS, "No such file");
    p = ask("x, y", "no-such-program-anywhere", "horizon = 1\n[observables]\nx", "", NULL);
    projected_refused("not on PATH", &p, TAUT_ERROR_PROCESS, "not on PATH");
    p = ask("x, y", "/", "horizon = 1\n[observables]\nx", "", NULL);
    projected_refused("a folder", &p, TAUT_ERROR_PROCESS, "cannot start");
    p = ask("x, y", "./legacy 'x", "horizon = 1\n[observables]\nx", "", NULL);
    projected_refused("quote", &p, TAUT_ERROR_USAGE, "quote is not closed");
    p = ask("x, y, z", "./legacy", "horizon = 1\n[observables]\nx", "", NULL);
    projected_refused("another number of variables", &p, TAUT_ERROR_PROCESS,
                      "this program has the variables x and y");
    p = ask("x, y", "./legacy", "horizon = 1\ntimeout = 0\n[observables]\nx", "", NULL);
    projected_refused("no time", &p, TAUT_ERROR_USAGE, "timeout");
    p = ask("x, y", "'./legacy' \"--eps\" 0.\\1",
            "horizon = 4e-2\n[observables]\nx\n[start]\nx = 1", "order=0", NULL);
    if (projected_good("quotes", &p))
        check_near("quotes", p.r.q[1], 0.498886090308181, 1e-13);
    projected_drop(&p);
    nobody("after starts");
}

static void words(void)
{
    static const struct {
        const char *command, *expected; /* words joined by '|' */
    } rows[] = {{"a", "a|"},
                {"  ./a  --fast\tb ", "./a|--fast|b|"},
                {"a 'b c' \"d e\"", "a|b c|d e|"},
                {"a b\\ c \\'d", "a|b c|'d|"},
                {"a 'b\\c' \"q\\\"r\"", "a|b\\c|q\"r|"},
                {"a '' x''y", "a||xy|"},
                {"a $HOME *; rm", "a|$HOME|*;|rm|"}};
    check_group("words of a command");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_arena arena;
        char **word = NULL, joined[200] = "";
        taut_arena_init(&arena, NULL);
        check_equal(rows[k].command, taut_command_split(rows[k].command, &arena, &word, NULL), 0);
        for (int i = 0; word && word[i]; i++)
            strcat(strcat(joined, word[i]), "|");
        check_row(strcmp(joined, rows[k].expected) == 0, "%s: %s, expected %s", rows[k].command,
                  joined, rows[k].expected);
        taut_arena_clear(&arena);
    }
    taut_arena arena;
    char **word;
    taut_arena_init(&arena, NULL);
    check_equal("nothing", taut_command_split("  ", &arena, &word, NULL), TAUT_ERROR_USAGE);
    check_equal("an empty name", taut_command_split("''", &arena, &word, NULL), TAUT_ERROR_USAGE);
    check_equal("a lone quote", taut_command_split("a \"b", &arena, &word, NULL), TAUT_ERROR_USAGE);
    taut_arena_clear(&arena);
}

/* ---- shared libraries, and permission */

/* The model with `line` in [stepper], with permission or without. */
static projected ask_for(const char *line, bool allowed, const char *options)
{
    char text[2000], name[1100];
    projected p = {0};
    snprintf(text, sizeof text,
             "[state]\nx, y\n[stepper]\n%s\nhorizon = 4e-2\n[observables]\nx\n[start]\nx = 1\n",
             line);
    snprintf(name, sizeof name, "%s/model.taut", folder);
    taut_load how = {.size = sizeof how, .allow_command = allowed};
    p.code = taut_system_parse(text, strlen(text), name, &how, &p.system, &p.error);
    projected_run(&p, options, NULL);
    return p;
}

static void library(void)
{
    check_group("a shared library");
    projected p = ask_for("library = ./library_peer.so", true, "order=2"),
              inside = project_model("michaelis_menten", NULL, "order=2");
    if (projected_good("library", &p) && projected_good("inside", &inside))
        check_near("the same result", p.r.q[1], inside.r.q[1], 2e-14);
    projected_drop(&p);
    projected_drop(&inside);
    p = ask_for("library = ./no_such.so", true, "");
    projected_refused("not there", &p, TAUT_ERROR_PROCESS, "cannot load the library");
    p = ask_for("library = libm.so.6", true, "");
    projected_refused("another one", &p, TAUT_ERROR_PROCESS,
                      "does not export the function taut_flow_open");
    p = ask(five, "x\nlibrary = ./library_peer.so", five_more, "", NULL);
    projected_refused("both", &p, TAUT_ERROR_USAGE, "keep one of them");
}

/* Without permission nothing runs: no file is written, by a process or while a library is loaded.
 */
static void permission(void)
{
    char mark[1100], line[1200];
    check_group("permission");
    snprintf(mark, sizeof mark, "%s/mark.%ld", folder, (long)getpid());
    setenv("TAUT_LIBRARY_MARK", mark, 1);
    for (int k = 0; k < 8; k++) {
        enum { PROJECT, SPECTRUM, RUN, ALLOWED } verb = k % 4;
        bool allowed = verb == ALLOWED, program = k < 4;
        snprintf(line, sizeof line,
                 program ? "command = touch '%s'" : "library = ./library_peer.so", mark);
        unlink(mark);
        int files = open_files();
        if (verb == SPECTRUM || verb == RUN) { /* neither do these run it */
            projected p = ask_for(line, false, "");
            taut_rates_report report;
            taut_rate rate[2];
            taut_solver *solver = NULL;
            taut_rates_report_init(&report);
            taut_options_set(p.options, "until", "1", NULL);
            p.code = verb == SPECTRUM
                         ? taut_rates(p.system, NULL, 2, rate, &report, &p.error)
                         : taut_solver_create(p.system, p.options, NULL, &solver, &p.error);
            check_equal(verb == RUN ? "run" : "spectrum", p.code, TAUT_ERROR_REFUSED);
            check_contains("reason", p.error.message, program ? "runs the command" : "loads the");
            check_row(!solver, "no solver");
            projected_drop(&p);
        } else {
            projected p = ask_for(line, allowed, "order=0");
            if (!allowed)
                check_contains("reason", p.error.message,
                               program ? "runs the command" : "loads the");
            check_row(allowed || p.code == TAUT_ERROR_REFUSED, "%s: %s", line, p.error.message);
            projected_drop(&p);
        }
        check_row((access(mark, F_OK) == 0) == allowed, "%s, %s: the file is %s", line,
                  allowed ? "allowed" : "not allowed", allowed ? "not there" : "there");
        check_equal("files that are open", open_files(), files);
        nobody("permission");
    }
    unlink(mark);
    unsetenv("TAUT_LIBRARY_MARK");
}

/* The examples in Python and awk, where these are there. */
static void examples(void)
{
    static const char *const programs[][2] = {{"python3", "legacy.py"}, {"sh", "legacy.sh"}};
    check_group("examples");
    projected inside = project_model("michaelis_menten", NULL, "order=2");
    for (int k = 0; k < 2; k++) {
        char line[1300];
        snprintf(line, sizeof line, "command = %s '%s/examples/%s'", programs[k][0],
                 TAUT_SOURCE_DIR, programs[k][1]);
        projected p = ask_for(line, true, "order=2");
        if (p.code == TAUT_ERROR_PROCESS && strstr(p.error.message, "not on PATH"))
            check_skip("no such program");
        else if (projected_good(line, &p) && projected_good("inside", &inside))
            check_near(programs[k][1], p.r.q[1], inside.r.q[1], 2e-14);
        projected_drop(&p);
    }
    projected_drop(&inside);
}

/* ---- peculiar but allowed */

static void peculiar(void)
{
    check_group("peculiar programs");
    projected p = ask(five, "./process_peer chatty", five_more, "order=2", NULL);
    if (projected_good("comments, and far more on standard error than a pipe holds", &p))
        check_near("chatty", p.r.q[3], 5.2405652, 1e-6);
    projected_drop(&p);
    p = ask(five, "./process_peer cannot", five_more, "order=0", NULL);
    check_row(p.code == 0 || p.code == TAUT_ERROR_EVALUATE, "cannot: %s: %s",
              taut_code_name(p.code), p.error.message);
    if (p.code == 0)
        check_near("goes back to the best point and on", p.r.q[4], 405.24, 0.01);
    projected_drop(&p);
    p = ask(five, "./process_peer coarse", five_more, "order=2", NULL);
    if (projected_good("seven digits: their noise is found", &p)) {
        check_contains("seven digits", p.r.explanation, "the flow has a noise of");
        check_near("seven digits", p.r.q[4], 405.24, 0.02);
    }
    projected_drop(&p);
    p = ask(five, "./process_peer coarse", five_more, "order=2 tolerance=1e-12", NULL);
    projected_refused("seven digits are too few for this tolerance", &p, TAUT_ERROR_CONVERGE,
                      "a tolerance of");
    p = ask(five, "./process_peer coarse", five_more, "order=2 tolerance=3e-6", NULL);
    if (projected_good("seven digits, with a tolerance", &p))
        check_near("coarse", p.r.q[4], 405.24, 0.02);
    projected_drop(&p);
    /* many variables: requests and answers are longer than pipes are, both ways; and quotes
     * reach the program as they should */
    p = ask("z[i] for i in 1..20000",
            "sed -u -e 's/^taut.*/ready 1/' -e \"s/^advance [^ ]* [^ ]* [^ ]*/ok/\"",
            "horizon = 1\ntimeout = 20\n[observables]\nz[1]\n[start]\nz[i] = 1/i for i in 1..20000",
            "order=1", NULL);
    if (projected_good("20000 variables", &p))
        check_row(p.r.q[19999] == 1.0 / 20000 && p.stage[1].iterations == 1,
                  "20000 variables: the identity stands still");
    projected_drop(&p);
    nobody("peculiar");
}

/* The flow itself: one process serves many calls; a failure leaves the state alone, and is
 * remembered. */
static void the_flow(void)
{
    taut_arena arena;
    taut_statistics cost = {0};
    taut_flow *flow = NULL;
    projected p = {0};
    static const char text[] =
        "[state]\ny[i] for i in 1..5\n[stepper]\ncommand = x\n[observables]\ny[1]\n";
    check_group("the flow");
    p.code = taut_system_parse(text, sizeof text - 1, "model.taut", NULL, &p.system, &p.error);
    taut_arena_init(&arena, NULL);
    taut_process_settings settings = {
        .command = "./process_peer exit", .folder = folder, .timeout = 20, .copies = 1};
    int code = taut_flow_process(p.system, &arena, &cost, &settings, &flow, &p.error);
    if (check_row(code == 0, "start: %s", p.error.message)) {
        double state[5] = {-791.2, -792.2, -814, 5, 405}, before[5];
        check_equal("1", flow->advance(flow, 0, 1e-4, state, &p.error), 0);
        check_equal("2", flow->advance(flow, 1, 1e-4, state, &p.error), 0);
        memcpy(before, state, sizeof state);
        check_equal("3 fails", flow->advance(flow, 2, 1e-4, state, &p.error), TAUT_ERROR_PROCESS);
        check_row(memcmp(before, state, sizeof state) == 0, "the state is as before");
        check_equal("4 fails", flow->advance(flow, 2, 1e-4, state, &p.error), TAUT_ERROR_PROCESS);
        check_contains("4 says the same again", p.error.message, "exit status 3");
        check_equal("without a place for words", flow->advance(flow, 2, 1e-4, state, NULL),
                    TAUT_ERROR_PROCESS);
        check_equal("advances", cost.micro_steps, 3);
        flow->destroy(flow);
        nobody("the flow");
    }
    taut_arena_clear(&arena);
    projected_drop(&p);
}

/* What a program has started ends with it, also when it goes by itself. */
static void offspring(void)
{
    char command[1200], path[1100];
    long pid = 0;
    check_group("processes of the program");
    snprintf(path, sizeof path, "%s/offspring.%ld", folder, (long)getpid());
    for (int how = 0; how < 2; how++) {
        snprintf(command, sizeof command, "./process_peer parent offspring.%ld", (long)getpid());
        projected p =
            ask(five, command, five_more, how ? "order=0 passes=3 iterate=plain" : "order=0", NULL);
        check_row(how ? p.code == TAUT_ERROR_CONVERGE : p.code == 0, "%s: %s",
                  taut_code_name(p.code), p.error.message);
        projected_drop(&p);
        FILE *file = fopen(path, "r");
        check_row(file && fscanf(file, "%ld", &pid) == 1, "it has told its number");
        if (file)
            fclose(file);
        bool gone = false;
        /* who inherits it needs a moment to wait for it */
        for (int k = 0; k < 200 && pid > 0 && !gone; k++) {
            gone = kill((pid_t)pid, 0) != 0 || zombie(pid);
            usleep(5000);
        }
        check_row(gone, "process %ld has ended", pid);
        unlink(path);
        nobody("offspring");
    }
}

/* ---- the host's signals are its own */

static volatile sig_atomic_t rings;

static void ring(int number)
{
    (void)number;
    rings++;
}

static void signals(void)
{
    struct sigaction before, after;
    check_group("signals of the host");
    signal(SIGPIPE, SIG_DFL); /* a write to a dead program must not end us */
    sigaction(SIGPIPE, NULL, &before);
    for (int k = 0; k < 3; k++) {
        projected p = ask("x, y", "/bin/true", "horizon = 1\n[observables]\nx", "", NULL);
        projected_refused("it ends at once", &p, TAUT_ERROR_PROCESS, "exit status 0");
    }
    sigaction(SIGPIPE, NULL, &after);
    check_row(after.sa_handler == before.sa_handler, "SIGPIPE is handled as before");
    signal(SIGCHLD, SIG_IGN); /* children of such a host are waited for by the system */
    projected p = ask("x, y", "/bin/false", "horizon = 1\n[observables]\nx", "", NULL);
    projected_refused("children are ignored", &p, TAUT_ERROR_PROCESS, "ended");
    signal(SIGCHLD, SIG_DFL);
    /* a host with a clock that interrupts every call */
    struct sigaction tick = {.sa_handler = ring};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &tick, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    p = ask(five, "./process_peer chatty", five_more, "order=1", NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_DFL);
    check_row(rings > 10, "%d interruptions", (int)rings);
    if (projected_good("interrupted all the time", &p))
        check_near("interrupted all the time", p.r.q[3], 5.2405652, 1e-3);
    projected_drop(&p);
    /* a host with open files that it does not close on exec */
    int open_one = dup(1), open_two = fcntl(1, F_DUPFD, 77);
    p = ask(five, "./process_peer files", five_more, "order=0", NULL);
    projected_good("the program has none of the host's files", &p);
    projected_drop(&p);
    close(open_one);
    close(open_two);
    /* a host that has closed its own input and output */
    int kept[3];
    fflush(stdout);
    for (int k = 0; k < 3; k++) {
        kept[k] = fcntl(k, F_DUPFD_CLOEXEC, 100);
        close(k);
    }
    p = ask("x, y", "./legacy", "horizon = 4e-2\n[observables]\nx\n[start]\nx = 1", "order=0",
            NULL);
    for (int k = 0; k < 3; k++) {
        dup2(kept[k], k);
        close(kept[k]);
    }
    if (projected_good("files 0 to 2 were closed", &p))
        check_near("files 0 to 2 were closed", p.r.q[1], 0.498886090308181, 1e-13);
    projected_drop(&p);
    nobody("signals");
}

static void memory(void)
{
    check_group("memory");
    int files = open_files();
    for (int64_t k = 1; k < 100; k++) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        projected p = ask("x, y", "./legacy", "horizon = 4e-2\n[observables]\nx\n[start]\nx = 1",
                          "order=0", &allocator);
        int code = p.code;
        taut_projection_destroy(p.projection);
        p.projection = NULL;
        check_row(f.live == 0, "call %lld: %lld blocks left", (long long)k, (long long)f.live);
        projected_drop(&p);
        if (!f.failed) {
            check_equal("without a failure", code, 0);
            break;
        }
        check_equal("failed allocation", code, TAUT_ERROR_MEMORY);
    }
    nobody("memory");
    check_equal("files that are open", open_files(), files);
}

int main(int count, char **argument)
{
    const char *slash = count > 0 ? strrchr(argument[0], '/') : NULL;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - argument[0]) : 1,
             slash ? argument[0] : ".");
    words();
    if (core) {
        check_group("core build");
        projected p = ask("x, y", "./legacy", "horizon = 1\n[observables]\nx", "", NULL);
        projected_refused("no processes", &p, TAUT_ERROR_UNAVAILABLE, "not part of this build");
        return check_done();
    }
    same_digits();
    facts();
    failures();
    restarts();
    storm(1);
    storm(3);
    starting();
    library();
    permission();
    examples();
    peculiar();
    the_flow();
    offspring();
    signals();
    memory();
    return check_done();
}
