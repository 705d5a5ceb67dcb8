/* process.h - a child process with lines to and from it, without the protocol (child.c).
 */
#ifndef TAUT_BLACKBOX_PROCESS_H
#define TAUT_BLACKBOX_PROCESS_H

#include "base/watchdog.h"
#include "base/memory.h"

typedef struct taut_child {
    char *const *words; /* program and arguments, NULL at the end */
    const char *folder;
    double timeout; /* seconds for one exchange */
    long pid;       /* 0: none, or already waited for */
    taut_watchdog watchdog;
    int in, out, err;
    int heard;         /* the child's own end of `in`, to look at */
    bool unasked;      /* the latest line came while the request was still unread */
    char *line;        /* output of the program that was not read yet */
    size_t room, have; /* of it */
    size_t used;       /* bytes of `line` that belong to the latest line, its end included */
    char said[200];    /* the last line of its standard error */
    char saying[200];  /* the line that is being written there */
    size_t saying_length;
} taut_child;

/* Starts it. `room` is the longest line that may come. Memory comes from the arena. */
int taut_child_start(taut_child *child, size_t room, taut_arena *arena, taut_error *error);
/* Writes a request and waits for one line, which is returned without its end and stays until the
 * next call. On failure the process is gone, and the message names how it ended and its last
 * message. */
int taut_child_ask(taut_child *child, const char *request, size_t length, char **answer,
                   taut_error *error);
/* Ends it: its input is closed, it has a second to finish, then it is killed. Takes one that was
 * never started. */
void taut_child_end(taut_child *child);
/* Ends it and reports `what` (a sentence about the program), with what it said last. */
int taut_child_fail(taut_child *child, const char *what, taut_error *error);

#endif
