/* process.c - a separate program as a flow, by a protocol of lines (docs/black-boxes.md):
 *
 *     taut 1 n name_1 ... name_n          ->   ready 1
 *     advance t H n z_1 ... z_n           ->   ok z_1 ... z_n  |  cannot reason  |  error reason
 *
 * Numbers have 17 digits, so that nothing is lost on the way: results are the same as inside one
 * process. */
#include "blackbox/process.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/vectors.h"
#include "blackbox/flows.h"

enum { VERSION = 1, NAME_MOST = 200, REASON_MOST = 300 };

typedef struct process_flow {
    taut_flow flow;
    const taut_system *system;
    taut_child child;
    char *request;
    size_t room;       /* of it */
    double *work;      /* [size] */
    char failure[960]; /* as long as the message of an error */
    bool failed;
} process_flow;

/* ---- answers */

static bool starts_with(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 &&
           (line[length] == '\0' || isspace((unsigned char)line[length]));
}

static int garbage(process_flow *f, const char *line, const char *expected, taut_error *error)
{
    char what[300];
    snprintf(what, sizeof what, "it answered '%.80s%s' where %s was expected", line,
             strlen(line) > 80 ? "..." : "", expected);
    return taut_child_fail(&f->child, what, error);
}

/* A word that is no finite number. TAUT_RETRY for NaN and infinity, which another state may
 * avoid. */
static int bad_number(process_flow *f, const char *word, taut_index k, double t, taut_error *error)
{
    char name[NAME_MOST], lower[8] = "";
    taut_system_name(f->system, TAUT_COORDINATE, k, name, sizeof name);
    for (int i = 0; i < 7 && word[i]; i++)
        lower[i] = (char)tolower((unsigned char)word[i]);
    const char *letters = lower + (lower[0] == '-' || lower[0] == '+');
    if (strncmp(letters, "nan", 3) == 0 || strncmp(letters, "inf", 3) == 0) {
        taut_fail(error, TAUT_ERROR_EVALUATE, "the program '%.80s' gave %.8s for '%.80s' at t = %g",
                  f->child.words[0], word, name, t);
        return TAUT_RETRY;
    }
    char what[300];
    snprintf(what, sizeof what, "it answered '%.40s' for '%.80s' where a number was expected", word,
             name);
    return taut_child_fail(&f->child, what, error);
}

static int read_state(process_flow *f, char *words, double t, taut_error *error)
{
    taut_index n = f->flow.size, k = 0;
    char *c = words;
    for (;; k++) {
        c += strspn(c, " \t\r");
        if (!*c)
            break;
        char *end = c + strcspn(c, " \t\r");
        bool last = !*end;
        *end = '\0';
        if (k < n && !taut_number_parse(c, &f->work[k]))
            return bad_number(f, c, k, t, error);
        c = last ? end : end + 1;
    }
    if (k == n)
        return TAUT_OK;
    char what[120];
    snprintf(what, sizeof what, "it answered %d number%s where %d were expected", k,
             k == 1 ? "" : "s", n);
    return taut_child_fail(&f->child, what, error);
}

/* What a program answers in place of numbers. */
static int read_refusal(process_flow *f, const char *line, double t, taut_error *error)
{
    if (starts_with(line, "cannot")) {
        taut_fail(error, TAUT_ERROR_EVALUATE, "the program '%.80s' cannot go on from t = %g:%.*s",
                  f->child.words[0], t, REASON_MOST, line[6] ? line + 6 : " it gives no reason");
        return TAUT_RETRY;
    }
    if (starts_with(line, "error")) {
        char what[REASON_MOST + 40];
        snprintf(what, sizeof what, "it reports:%.*s", REASON_MOST, line[5] ? line + 5 : " error");
        return taut_child_fail(&f->child, what, error);
    }
    return garbage(f, line, "'ok' and numbers, 'cannot' or 'error'", error);
}

/* ---- the flow */

static int write_request(process_flow *f, double t, double H, const double *state)
{
    char number[TAUT_NUMBER_SIZE];
    taut_index n = f->flow.size;
    char *to = f->request;
    taut_number_format(t, 17, number);
    to += sprintf(to, "advance %s ", number);
    taut_number_format(H, 17, number);
    to += sprintf(to, "%s %d", number, n);
    for (taut_index i = 0; i < n; i++) {
        *to++ = ' ';
        to += taut_number_format(state[i], 17, to);
    }
    *to++ = '\n';
    return (int)(to - f->request);
}

/* A process that failed once is gone: later calls report the same again. */
static int remember(process_flow *f, int status, const taut_error *error)
{
    if (status < 0) {
        f->failed = true;
        snprintf(f->failure, sizeof f->failure, "%s", error->message);
    }
    return status;
}

static int advance(taut_flow *flow, double t, double H, double *state, taut_error *error)
{
    process_flow *f = (process_flow *)flow;
    taut_error mine;
    taut_error *e = error ? error : &mine;
    if (f->failed)
        return taut_fail(e, TAUT_ERROR_PROCESS, "%s", f->failure);
    char *answer;
    int length = write_request(f, t, H, state);
    flow->statistics->micro_steps++;
    int status = taut_child_ask(&f->child, f->request, (size_t)length, &answer, e);
    if (status == 0 && f->child.unasked && starts_with(answer, "ok"))
        status = taut_child_fail(&f->child, "it wrote a line without being asked",
                                 e); /* perhaps a second answer to the last request */
    else if (status == 0)
        status = starts_with(answer, "ok") ? read_state(f, answer + 2, t, e)
                                           : read_refusal(f, answer, t, e);
    if (status == 0)
        taut_copy(flow->size, f->work, state);
    else
        e->t = t;
    return remember(f, status, e);
}

static void destroy(taut_flow *flow)
{
    process_flow *f = (process_flow *)flow;
    taut_child_end(&f->child);
}

/* ---- creation */

static int greet(process_flow *f, taut_error *error)
{
    char *to = f->request, *answer;
    to += sprintf(to, "taut %d %d", VERSION, f->flow.size);
    for (taut_index i = 0; i < f->flow.size; i++) {
        *to++ = ' ';
        to += taut_system_name(f->system, TAUT_COORDINATE, i, to,
                               f->room - (size_t)(to - f->request));
    }
    *to++ = '\n';
    TAUT_TRY(taut_child_ask(&f->child, f->request, (size_t)(to - f->request), &answer, error));
    if (starts_with(answer, "error"))
        return read_refusal(f, answer, 0, error);
    int version, end = 0;
    if (sscanf(answer, "ready %d %n", &version, &end) != 1 || answer[end])
        return garbage(f, answer, "the greeting 'ready 1'", error);
    if (version != VERSION)
        return garbage(f, answer, "version 1 of the protocol ('ready 1')", error);
    return TAUT_OK;
}

static int build(process_flow *f, const taut_process_settings *settings, taut_arena *arena,
                 taut_error *error)
{
    taut_index n = f->flow.size;
    char **words;
    size_t names = 64;
    for (taut_index i = 0; i < n; i++)
        names += (size_t)taut_system_name(f->system, TAUT_COORDINATE, i, (char[1]){0}, 1) + 1;
    size_t numbers = 128 + (size_t)n * TAUT_NUMBER_SIZE;
    TAUT_TRY(taut_command_split(settings->command, arena, &words, error));
    f->room = names > numbers ? names : numbers;
    f->request = TAUT_NEW(arena, char, f->room);
    f->work = TAUT_NEW(arena, double, n);
    TAUT_TRY(taut_arena_check(arena, error));
    f->child =
        (taut_child){.words = words, .folder = settings->folder, .timeout = settings->timeout};
    TAUT_TRY(taut_child_start(&f->child, 1024 + 2 * numbers, arena, error));
    return greet(f, error);
}

int taut_flow_process(const taut_system *system, taut_arena *arena, taut_statistics *statistics,
                      const taut_process_settings *settings, taut_flow **flow, taut_error *error)
{
    *flow = NULL;
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    process_flow *f = TAUT_NEW(arena, process_flow, 1);
    TAUT_NEED(error, f);
    f->flow = (taut_flow){.name = "process",
                          .size = sizes.coordinates,
                          .advance = advance,
                          .destroy = destroy,
                          .statistics = statistics};
    f->system = system;
    return taut_flow_made(&f->flow, build(f, settings, arena, error), flow);
}
