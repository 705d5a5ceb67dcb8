/* watchdog.c - see watchdog.h. */
#if !defined TAUT_CORE && !defined _GNU_SOURCE
#define _GNU_SOURCE /* close_range */
#endif

#include "base/watchdog.h"

#ifndef TAUT_CORE

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES_MOST = 65536, INTERVAL = 1000 /* milliseconds */ };

int taut_watchdog_files(void)
{
    long files = sysconf(_SC_OPEN_MAX);
    return files > 0 && files < FILES_MOST ? (int)files : FILES_MOST;
}

/* Systems without close_range do it one by one. */
void taut_watchdog_close(int first, int files)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0)
        return;
#endif
    for (int k = first; k < files; k++)
        close(k);
}

/* In the watchdog: only calls that are safe after fork. The parent is looked for too: a copy of it
 * that was made by fork would keep the socket open. */
static void watch(int life, int files, pid_t parent, pid_t group)
{
    struct pollfd end = {.fd = 0, .events = POLLIN};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setpgid(0, 0);
    dup2(life, 0);
    taut_watchdog_close(1, files);
    for (;;) {
        char byte;
        ssize_t got = poll(&end, 1, INTERVAL) > 0 ? read(0, &byte, 1) : -1;
        if (got > 0)
            _exit(0); /* dismissed */
        if (got == 0 || getppid() != parent)
            break;
    }
    kill(-group, SIGKILL);
    _exit(0);
}

void taut_watchdog_begin(taut_watchdog *watchdog, long group)
{
    int ends[2], files = taut_watchdog_files();
    pid_t parent = getpid(), pid = -1;
    *watchdog = (taut_watchdog){.life = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    pid = fork();
    if (pid == 0)
        watch(ends[1], files, parent, (pid_t)group);
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    else
        *watchdog = (taut_watchdog){.pid = pid, .life = ends[0]};
}

void taut_watchdog_end(taut_watchdog *watchdog)
{
    if (watchdog->pid == 0)
        return;
    bool dismissed = send(watchdog->life, "x", 1, MSG_NOSIGNAL) == 1;
    if (!dismissed)
        kill((pid_t)watchdog->pid, SIGKILL);
    close(watchdog->life);
    while (waitpid((pid_t)watchdog->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    *watchdog = (taut_watchdog){.life = -1};
}

#else

typedef int taut_watchdog_is_not_here; /* a file must not be empty */

#endif
