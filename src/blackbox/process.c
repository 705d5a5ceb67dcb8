/* process.c - a separate program as a flow, by a protocol of lines (docs/black-boxes.md):
 *
 *     taut 1 n name_1 ... name_n          ->   ready 1
 *     advance t H n z_1 ... z_n           ->   ok z_1 ... z_n  |  cannot reason  |  error reason
 *
 * Numbers have 17 digits, so that nothing is lost on the way: results are the same as inside one
 * process. A request contains all that its answer depends on. So a request whose process has
 * failed is repeated in a new one, and several requests are answered by several copies of the
 * program at the same time. */
#include "blackbox/process.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/vectors.h"
#include "blackbox/flows.h"

enum { VERSION = 1, NAME_MOST = 200, REASON_MOST = 300, REPEATS = 2 /* of one request */ };

typedef struct copy {
    taut_child child;
    char *request; /* [room] */
    int state;     /* the number of the state that it works on; -1: none */
    int repeats;   /* of its request */
} copy;

typedef struct process_flow {
    taut_flow flow;
    const taut_system *system;
    copy *copy;
    taut_child **busy; /* [copies] */
    int copies, started;
    int restarts_left; /* of all copies together */
    size_t room;       /* of a request */
    double *work;      /* [size] */
    char failure[960]; /* as long as the message of an error */
    bool failed;
    bool refused; /* the program itself has reported that it cannot work */
} process_flow;

/* ---- answers */

static bool starts_with(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 &&
           (line[length] == '\0' || isspace((unsigned char)line[length]));
}

static int garbage(taut_child *child, const char *line, const char *expected, taut_error *error)
{
    char what[300];
    snprintf(what, sizeof what, "it answered '%.80s%s' where %s was expected", line,
             strlen(line) > 80 ? "..." : "", expected);
    return taut_child_fail(child, what, error);
}

/* A word that is no finite number. TAUT_RETRY for NaN and infinity, which another state may
 * avoid. */
static int bad_number(process_flow *f, taut_child *child, const char *word, taut_index k, double t,
                      taut_error *error)
{
    char name[NAME_MOST], lower[8] = "";
    taut_system_name(f->system, TAUT_COORDINATE, k, name, sizeof name);
    for (int i = 0; i < 7 && word[i]; i++)
        lower[i] = (char)tolower((unsigned char)word[i]);
    const char *letters = lower + (lower[0] == '-' || lower[0] == '+');
    if (strncmp(letters, "nan", 3) == 0 || strncmp(letters, "inf", 3) == 0) {
        taut_fail(error, TAUT_ERROR_EVALUATE, "the program '%.80s' gave %.8s for '%.80s' at t = %g",
                  child->words[0], word, name, t);
        return TAUT_RETRY;
    }
    char what[300];
    snprintf(what, sizeof what, "it answered '%.40s' for '%.80s' where a number was expected", word,
             name);
    return taut_child_fail(child, what, error);
}

static int read_state(process_flow *f, taut_child *child, char *words, double t, taut_error *error)
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
            return bad_number(f, child, c, k, t, error);
        c = last ? end : end + 1;
    }
    if (k == n)
        return TAUT_OK;
    char what[120];
    snprintf(what, sizeof what, "it answered %d number%s where %d were expected", k,
             k == 1 ? "" : "s", n);
    return taut_child_fail(child, what, error);
}

/* What a program answers in place of numbers. */
static int read_refusal(process_flow *f, taut_child *child, const char *line, double t,
                        taut_error *error)
{
    if (starts_with(line, "cannot")) {
        taut_fail(error, TAUT_ERROR_EVALUATE, "the program '%.80s' cannot go on from t = %g:%.*s",
                  child->words[0], t, REASON_MOST, line[6] ? line + 6 : " it gives no reason");
        return TAUT_RETRY;
    }
    if (starts_with(line, "error")) {
        char what[REASON_MOST + 40];
        f->refused = true;
        snprintf(what, sizeof what, "it reports:%.*s", REASON_MOST, line[5] ? line + 5 : " error");
        return taut_child_fail(child, what, error);
    }
    return garbage(child, line, "'ok' and numbers, 'cannot' or 'error'", error);
}

/* ---- exchanges */

/* An exchange with one copy, to its end. */
static int ask(taut_child *child, const char *request, size_t length, char **answer,
               taut_error *error)
{
    *answer = NULL;
    TAUT_TRY(taut_child_begin(child, request, length, error));
    while (!*answer) {
        taut_child_wait(&child, 1);
        TAUT_TRY(taut_child_answer(child, answer, error));
    }
    return TAUT_OK;
}

/* Starts a copy and greets it; its request is overwritten. */
static int start_copy(process_flow *f, copy *c, taut_error *error)
{
    char *to = c->request, *answer;
    TAUT_TRY(taut_child_start(&c->child, error));
    to += sprintf(to, "taut %d %d", VERSION, f->flow.size);
    for (taut_index i = 0; i < f->flow.size; i++) {
        *to++ = ' ';
        to += taut_system_name(f->system, TAUT_COORDINATE, i, to,
                               f->room - (size_t)(to - c->request));
    }
    *to++ = '\n';
    TAUT_TRY(ask(&c->child, c->request, (size_t)(to - c->request), &answer, error));
    if (starts_with(answer, "error"))
        return read_refusal(f, &c->child, answer, 0, error);
    int version, end = 0;
    if (sscanf(answer, "ready %d %n", &version, &end) != 1 || answer[end])
        return garbage(&c->child, answer, "the greeting 'ready 1'", error);
    if (version != VERSION)
        return garbage(&c->child, answer, "version 1 of the protocol ('ready 1')", error);
    return TAUT_OK;
}

static size_t write_request(process_flow *f, copy *c, double t, double H, const double *state)
{
    char number[TAUT_NUMBER_SIZE];
    taut_index n = f->flow.size;
    char *to = c->request;
    taut_number_format(t, 17, number);
    to += sprintf(to, "advance %s ", number);
    taut_number_format(H, 17, number);
    to += sprintf(to, "%s %d", number, n);
    for (taut_index i = 0; i < n; i++) {
        *to++ = ' ';
        to += taut_number_format(state[i], 17, to);
    }
    *to++ = '\n';
    return (size_t)(to - c->request);
}

/* The call that all copies work on. */
typedef struct call {
    double t, H;
    double *states; /* [count][size] */
} call;

/* Has the process of `c` failed in a way that a new one may not? Then it is there, and the request
 * is under way again: *repeated. A failure of the new process is that of the old one again. */
static int repeat(process_flow *f, copy *c, const call *now, int status, bool *repeated,
                  taut_error *error)
{
    *repeated = false;
    while (status == TAUT_ERROR_PROCESS && !f->refused && c->repeats < REPEATS &&
           f->restarts_left > 0) {
        c->repeats++;
        f->restarts_left--;
        f->flow.statistics->restarts++;
        status = start_copy(f, c, error);
        size_t length =
            write_request(f, c, now->t, now->H, now->states + (int64_t)c->state * f->flow.size);
        if (status == 0)
            status = taut_child_begin(&c->child, c->request, length, error);
        if ((*repeated = status == 0))
            return TAUT_OK;
    }
    if (status == TAUT_ERROR_PROCESS && c->repeats > 0) {
        char message[sizeof f->failure];
        snprintf(message, sizeof message, "%.800s; the request was repeated in %d new process%s",
                 error->message, c->repeats, c->repeats > 1 ? "es" : "");
        return taut_fail(error, status, "%s", message);
    }
    return status;
}

/* Gives `c` the state with this number. */
static int give(process_flow *f, copy *c, const call *now, int state, taut_error *error)
{
    bool repeated;
    if (c->child.pid == 0 && c == f->copy + f->started) {
        f->started++;
        TAUT_TRY(start_copy(f, c, error));
    }
    c->state = state;
    c->repeats = 0;
    f->flow.statistics->micro_steps++;
    size_t length =
        write_request(f, c, now->t, now->H, now->states + (int64_t)state * f->flow.size);
    int status = taut_child_begin(&c->child, c->request, length, error);
    return repeat(f, c, now, status, &repeated, error);
}

/* What `c` has answered, if it has: then its state is set and it is free. */
static int take(process_flow *f, copy *c, const call *now, taut_error *error)
{
    char *answer;
    bool repeated;
    int status = taut_child_answer(&c->child, &answer, error);
    if (status == 0 && !answer)
        return TAUT_OK;
    if (status == 0 && c->child.unasked && starts_with(answer, "ok"))
        status = taut_child_fail(&c->child, "it wrote a line without being asked",
                                 error); /* perhaps a second answer to the last request */
    else if (status == 0)
        status = starts_with(answer, "ok") ? read_state(f, &c->child, answer + 2, now->t, error)
                                           : read_refusal(f, &c->child, answer, now->t, error);
    status = repeat(f, c, now, status, &repeated, error);
    if (repeated)
        return TAUT_OK;
    if (status == 0)
        taut_copy(f->flow.size, f->work, now->states + (int64_t)c->state * f->flow.size);
    c->state = -1;
    return status;
}

/* ---- the flow */

/* Waits for the copies that work. `status` is what has happened so far; the first failure stays. */
static int take_answers(process_flow *f, const call *now, int busy, int status, taut_error *error)
{
    taut_error later = {0};
    taut_child_wait(f->busy, busy);
    for (int k = 0; k < f->copies; k++)
        if (f->copy[k].state >= 0) {
            int own = take(f, &f->copy[k], now, status ? &later : error);
            status = status ? status : own;
        }
    return status;
}

static int advance_all(taut_flow *flow, double t, double H, int count, double *states,
                       taut_error *error)
{
    process_flow *f = (process_flow *)flow;
    taut_error mine = {0};
    taut_error *e = error ? error : &mine;
    const call now = {t, H, states};
    int status = 0, next = 0;
    if (f->failed)
        return taut_fail(e, TAUT_ERROR_PROCESS, "%s", f->failure);
    for (;;) {
        int busy = 0;
        for (int k = 0; k < f->copies && status >= 0; k++) {
            if (f->copy[k].state < 0 && status == 0 && next < count)
                status = give(f, &f->copy[k], &now, next++, e);
            if (f->copy[k].state >= 0)
                f->busy[busy++] = &f->copy[k].child;
        }
        if (busy == 0 || status < 0)
            break;
        status = take_answers(f, &now, busy, status, e);
    }
    if (status != 0)
        e->t = t;
    if (status < 0) { /* later calls report the same again */
        f->failed = true;
        snprintf(f->failure, sizeof f->failure, "%s", e->message);
    }
    return status;
}

static int advance(taut_flow *flow, double t, double H, double *state, taut_error *error)
{
    return advance_all(flow, t, H, 1, state, error);
}

static void destroy(taut_flow *flow)
{
    process_flow *f = (process_flow *)flow;
    for (int k = 0; k < f->started; k++)
        taut_child_end(&f->copy[k].child);
}

/* ---- creation */

static int build(process_flow *f, const taut_process_settings *settings, taut_arena *arena,
                 taut_error *error)
{
    taut_index n = f->flow.size;
    char **words;
    size_t names = 64;
    for (taut_index i = 0; i < n; i++)
        names += (size_t)taut_system_name(f->system, TAUT_COORDINATE, i, (char[1]){0}, 1) + 1;
    size_t numbers = 128 + (size_t)n * TAUT_NUMBER_SIZE, line = 1024 + 2 * numbers;
    TAUT_TRY(taut_command_split(settings->command, arena, &words, error));
    f->room = names > numbers ? names : numbers;
    f->work = TAUT_NEW(arena, double, n);
    f->copy = TAUT_NEW(arena, copy, f->copies);
    f->busy = TAUT_NEW(arena, taut_child *, f->copies);
    TAUT_TRY(taut_arena_check(arena, error));
    for (int k = 0; k < f->copies; k++) {
        f->copy[k] = (copy){.state = -1, .request = TAUT_NEW(arena, char, f->room)};
        f->copy[k].child = (taut_child){.words = words,
                                        .folder = settings->folder,
                                        .timeout = settings->timeout,
                                        .line = TAUT_NEW(arena, char, line + 1),
                                        .room = line};
    }
    TAUT_TRY(taut_arena_check(arena, error));
    f->started = 1;
    return start_copy(f, &f->copy[0], error);
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
                          .advance_all = advance_all,
                          .destroy = destroy,
                          .statistics = statistics};
    f->system = system;
    f->copies = settings->copies;
    f->restarts_left = settings->restarts;
    return taut_flow_made(&f->flow, build(f, settings, arena, error), flow);
}
