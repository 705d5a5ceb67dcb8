/* child.c - a child process that answers lines with lines.
 *
 * No shell: execv on words. Its standard input is a socket, because writing to one can be asked
 * not to raise SIGPIPE, whatever the host program does with signals; its output and its messages
 * are pipes. All ends are closed on exec in other children of the host, and the host's files are
 * closed in this one. It leads a process group of its own, so that it can be ended with all it
 * has started, also when Taut is killed (base/watchdog.h). We keep its end of the socket too: so we
 * see whether a request has been read when an answer comes. */
#if !defined TAUT_CORE && !defined _GNU_SOURCE
#define _GNU_SOURCE /* pipe2 */
#endif

#include "blackbox/process.h"

#ifdef TAUT_CORE

int taut_child_start(taut_child *child, taut_error *error)
{
    (void)child;
    return taut_fail(error, TAUT_ERROR_UNAVAILABLE,
                     "commands are not part of this build: it cannot start processes");
}

int taut_child_begin(taut_child *child, const char *request, size_t length, taut_error *error)
{
    (void)request;
    (void)length;
    return taut_child_start(child, error);
}

void taut_child_wait(taut_child *const *children, int count)
{
    (void)children;
    (void)count;
}

int taut_child_answer(taut_child *child, char **answer, taut_error *error)
{
    *answer = NULL;
    return taut_child_start(child, error);
}

void taut_child_end(taut_child *child)
{
    (void)child;
}

int taut_child_fail(taut_child *child, const char *what, taut_error *error)
{
    (void)what;
    return taut_child_start(child, error);
}

#else

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { PATH_ROOM = 4096, GRACE = 1000 /* milliseconds */ };

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

/* ---- starting */

/* Our ends and the child's: [0] is read from, [1] is written to. */
typedef struct ends {
    int in[2], out[2], err[2];
    int status[2]; /* delivers the errno of an exec that failed */
    int files;     /* numbers of files that the host may have open */
} ends;

/* Numbers 0 to 2 would be overwritten in the child when the host has closed its own. */
static bool lift(int *end)
{
    if (*end > 3)
        return true;
    int higher = fcntl(*end, F_DUPFD_CLOEXEC, 4);
    close_end(end);
    *end = higher;
    return higher >= 0;
}

static bool open_ends(ends *e)
{
    int *pair[] = {e->in, e->out, e->err, e->status};
    e->files = taut_watchdog_files();
    for (int k = 0; k < 4; k++)
        pair[k][0] = pair[k][1] = -1;
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return false;
    e->in[0] = sockets[0];
    e->in[1] = sockets[1];
    bool good = pipe2(e->out, O_CLOEXEC) == 0 && pipe2(e->err, O_CLOEXEC) == 0 &&
                pipe2(e->status, O_CLOEXEC) == 0;
    for (int k = 0; k < 4 && good; k++)
        good = lift(&pair[k][0]) && lift(&pair[k][1]);
    return good && fcntl(e->in[1], F_SETFL, O_NONBLOCK) == 0 &&
           fcntl(e->out[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(e->err[0], F_SETFL, O_NONBLOCK) == 0;
}

static void close_ends(ends *e)
{
    int *pair[] = {e->in, e->out, e->err, e->status};
    for (int k = 0; k < 4; k++) {
        close_end(&pair[k][0]);
        close_end(&pair[k][1]);
    }
}

/* Where the program is: as written when it has a '/', else on PATH (absolute entries only: we
 * change folders). */
static bool find_program(const char *name, char path[PATH_ROOM])
{
    if (strchr(name, '/')) {
        int length = snprintf(path, PATH_ROOM, "%s", name);
        return length < PATH_ROOM;
    }
    const char *list = getenv("PATH");
    for (const char *part = list ? list : ""; *part;) {
        size_t length = strcspn(part, ":");
        int used = snprintf(path, PATH_ROOM, "%.*s/%s", (int)length, part, name);
        if (part[0] == '/' && used < PATH_ROOM && access(path, X_OK) == 0)
            return true;
        part += length + (part[length] == ':');
    }
    return false;
}

/* In the child: only calls that are safe between fork and exec. */
static void become(const taut_child *child, const char *path, const ends *e)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    if (dup2(e->in[0], 0) >= 0 && dup2(e->out[1], 1) >= 0 && dup2(e->err[1], 2) >= 0 &&
        dup3(e->status[1], 3, O_CLOEXEC) >= 0) {
        taut_watchdog_close(4, e->files);
        if (chdir(child->folder) == 0)
            execv(path, child->words);
    }
    int number = errno;
    ssize_t written = write(3, &number, sizeof number);
    _exit(written > 0 ? 127 : 126);
}

/* Waits for the exec; 0, or its errno. */
static int exec_result(int status)
{
    int number = 0;
    ssize_t got;
    do
        got = read(status, &number, sizeof number);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof number ? number : 0;
}

static void wait_for(long pid)
{
    while (waitpid((pid_t)pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

int taut_child_start(taut_child *child, taut_error *error)
{
    char path[PATH_ROOM];
    ends e;
    child->in = child->out = child->err = child->heard = -1;
    child->have = child->used = child->saying_length = 0;
    child->lines = 0;
    child->closed = false;
    if (!find_program(child->words[0], path))
        return taut_fail(error, TAUT_ERROR_PROCESS,
                         "the program '%.200s' is not on PATH; write ./%.200s if it is in the "
                         "folder of the model",
                         child->words[0], child->words[0]);
    bool good = open_ends(&e);
    pid_t pid = good ? fork() : -1;
    if (pid == 0)
        become(child, path, &e);
    int number = errno;
    if (pid > 0) {
        close_end(&e.status[1]);
        number = exec_result(e.status[0]);
    }
    if (pid > 0 && number == 0) {
        child->pid = pid;
        child->in = e.in[1];
        child->out = e.out[0];
        child->err = e.err[0];
        child->heard = e.in[0];
        e.in[0] = e.in[1] = e.out[0] = e.err[0] = -1;
    }
    close_ends(&e);
    if (child->pid) {
        taut_watchdog_begin(&child->watchdog, child->pid);
        return TAUT_OK;
    }
    if (pid > 0)
        wait_for(pid);
    return taut_fail(error, TAUT_ERROR_PROCESS,
                     "cannot start the program '%.150s' in the folder '%.150s': %s",
                     child->words[0], child->folder, strerror(number));
}

/* ---- its messages */

static void hear(taut_child *child, const char *text, size_t length)
{
    for (size_t k = 0; k < length; k++) {
        unsigned char c = (unsigned char)text[k];
        if (c == '\n') {
            child->saying[child->saying_length] = '\0';
            if (child->saying_length > 0)
                memcpy(child->said[child->lines++ % TAUT_CHILD_LINES], child->saying,
                       sizeof child->saying);
            child->saying_length = 0;
        } else if (child->saying_length + 1 < sizeof child->saying && c != '\r' && c != '\0')
            child->saying[child->saying_length++] = (char)c;
    }
}

/* Reads what is there of its standard error; not for ever, when it writes more than can be read. */
static void listen_to(taut_child *child)
{
    char block[1024];
    for (int k = 0; k < 256 && child->err >= 0; k++) {
        ssize_t got = read(child->err, block, sizeof block);
        if (got > 0)
            hear(child, block, (size_t)got);
        else if (got == 0 || (errno != EAGAIN && errno != EINTR))
            close_end(&child->err);
        else if (errno == EAGAIN)
            return;
    }
}

/* ---- ending */

/* Has it ended? Then what it has started is ended too, while its number still stands for its
 * group, and it is waited for. *status is -1 when someone else has waited for it. */
static bool reap(taut_child *child, int *status)
{
    siginfo_t info = {.si_pid = 0};
    pid_t pid = (pid_t)child->pid, got;
    int known = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    if ((known != 0 && errno == EINTR) || (known == 0 && info.si_pid == 0))
        return false;
    if (known == 0)
        kill(-pid, SIGKILL);
    taut_watchdog_end(&child->watchdog);
    do
        got = waitpid(pid, status, 0);
    while (got < 0 && errno == EINTR);
    if (got != pid)
        *status = -1;
    child->pid = 0;
    return true;
}

/* Its status once it has ended; waits at most `milliseconds`, reading on so that it is not kept
 * from ending. False: still there. */
static bool ended(taut_child *child, int milliseconds, int *status)
{
    char block[1024];
    double until = taut_clock() + milliseconds / 1000.0;
    for (;;) {
        if (reap(child, status))
            return true;
        if (taut_clock() >= until)
            return false;
        listen_to(child);
        for (int k = 0; k < 256 && child->out >= 0 && read(child->out, block, sizeof block) > 0;
             k++)
            ;
        poll(NULL, 0, 2);
    }
}

/* Ends it, with force when it takes longer than `grace`; true when it ended by itself, with its
 * status. */
static bool finish(taut_child *child, int grace, int *status)
{
    if (child->pid == 0)
        return false;
    close_end(&child->in);
    close_end(&child->heard);
    bool alone = ended(child, grace, status);
    if (!alone) {
        if (kill(-(pid_t)child->pid, SIGKILL) != 0)
            kill((pid_t)child->pid, SIGKILL);
        taut_watchdog_end(&child->watchdog);
        wait_for(child->pid);
        child->pid = 0;
    }
    listen_to(child);
    close_end(&child->out);
    close_end(&child->err);
    if (child->saying_length > 0)
        hear(child, "\n", 1);
    return alone;
}

void taut_child_end(taut_child *child)
{
    int status;
    finish(child, GRACE, &status);
}

static int fail_with(const taut_child *child, const char *what, taut_error *error)
{
    char last[3 * (TAUT_CHILD_LINE + 8) + 40] = "";
    int64_t first = child->lines > TAUT_CHILD_LINES ? child->lines - TAUT_CHILD_LINES : 0;
    for (int64_t k = first; k < child->lines; k++)
        snprintf(last + strlen(last), sizeof last - strlen(last), "%s'%s'",
                 k > first          ? ", "
                 : child->lines > 1 ? "; its last messages: "
                                    : "; its last message: ",
                 child->said[k % TAUT_CHILD_LINES]);
    return taut_fail(error, TAUT_ERROR_PROCESS, "the program '%.80s' failed: %.330s%s",
                     child->words[0], what, last);
}

int taut_child_fail(taut_child *child, const char *what, taut_error *error)
{
    int status;
    finish(child, 0, &status);
    return fail_with(child, what, error);
}

/* It closed its output without an answer. */
static int fail_ended(taut_child *child, taut_error *error)
{
    int status = -1;
    char what[160] = "it closed its output without an answer";
    if (finish(child, GRACE, &status)) {
        if (status != -1 && WIFEXITED(status))
            snprintf(what, sizeof what, "it ended with exit status %d before it answered",
                     WEXITSTATUS(status));
        else if (status != -1 && WIFSIGNALED(status))
            snprintf(what, sizeof what, "it was ended by signal %d (%s) before it answered",
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
        else
            strcpy(what, "it ended before it answered");
    }
    return fail_with(child, what, error);
}

/* ---- asking */

/* Takes the first line of what has come, without comments; NULL when none is complete. */
static char *take_line(taut_child *child)
{
    for (;;) {
        memmove(child->line, child->line + child->used, child->have - child->used);
        child->have -= child->used;
        child->used = 0;
        char *end = memchr(child->line, '\n', child->have);
        if (!end)
            return NULL;
        child->used = (size_t)(end - child->line) + 1;
        if (child->line[0] != '#') {
            *end = '\0';
            if (end > child->line && end[-1] == '\r')
                end[-1] = '\0';
            return child->line;
        }
    }
}

/* Reads once; false at the end of its output. */
static bool read_some(taut_child *child)
{
    ssize_t got = read(child->out, child->line + child->have, child->room - child->have);
    if (got > 0)
        child->have += (size_t)got;
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Sends what it can of the rest of the request. A program that does not listen any more may still
 * have answered. */
static void send_some(taut_child *child)
{
    ssize_t got =
        send(child->in, child->request + child->sent, child->length - child->sent, MSG_NOSIGNAL);
    if (got >= 0)
        child->sent += (size_t)got;
    else if (errno != EAGAIN && errno != EINTR)
        child->sent = child->length;
}

/* Is all of the request still waiting to be read? Then a line that comes now does not answer it. */
static bool unread(const taut_child *child)
{
    int waiting = 0;
    return ioctl(child->heard, FIONREAD, &waiting) == 0 && waiting >= 0 &&
           (size_t)waiting >= child->length;
}

int taut_child_begin(taut_child *child, const char *request, size_t length, taut_error *error)
{
    if (child->pid == 0)
        return fail_with(child, "it has ended", error);
    if (take_line(child))
        return taut_child_fail(child, "it wrote a line without being asked", error);
    child->request = request;
    child->length = length;
    child->sent = 0;
    child->until = taut_clock() + child->timeout;
    send_some(child);
    return TAUT_OK;
}

void taut_child_wait(taut_child *const *children, int count)
{
    struct pollfd wanted[3 * TAUT_CHILD_COPIES];
    double now = taut_clock(), left = 1e6;
    for (int k = 0; k < count; k++) {
        const taut_child *c = children[k];
        wanted[3 * k] = (struct pollfd){.fd = c->out, .events = POLLIN};
        wanted[3 * k + 1] = (struct pollfd){.fd = c->err, .events = POLLIN};
        wanted[3 * k + 2] =
            (struct pollfd){.fd = c->sent < c->length ? c->in : -1, .events = POLLOUT};
        left = fmin(left, c->until - now);
    }
    if (poll(wanted, (nfds_t)(3 * count), left <= 0 ? 0 : (int)(left * 1000) + 1) <= 0)
        return;
    for (int k = 0; k < count; k++) {
        taut_child *c = children[k];
        if (wanted[3 * k + 2].revents)
            send_some(c);
        if (wanted[3 * k + 1].revents)
            listen_to(c);
        if (wanted[3 * k].revents && !read_some(c))
            c->closed = true;
    }
}

int taut_child_answer(taut_child *child, char **answer, taut_error *error)
{
    if ((*answer = take_line(child))) {
        child->unasked = unread(child);
        return TAUT_OK;
    }
    if (child->closed)
        return fail_ended(child, error);
    if (child->have == child->room)
        return taut_child_fail(child, "its answer does not end: no line was expected to be so long",
                               error);
    if (taut_clock() < child->until)
        return TAUT_OK;
    char what[120];
    snprintf(what, sizeof what, "it did not answer within %g s (timeout in [stepper] allows more)",
             child->timeout);
    return taut_child_fail(child, what, error);
}

#endif
