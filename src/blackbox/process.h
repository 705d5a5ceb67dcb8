/* process.h - a child process with lines to and from it, without the protocol (child.c).
 */
#ifndef TAUT_BLACKBOX_PROCESS_H
#define TAUT_BLACKBOX_PROCESS_H

#include "base/watchdog.h"
#include "base/memory.h"

/* lines of its standard error that are kept, and their length; children to wait for together */
enum { TAUT_CHILD_LINES = 3, TAUT_CHILD_LINE = 150, TAUT_CHILD_COPIES = 64 };

typedef struct taut_child {
    char *const *words; /* program and arguments, NULL at the end */
    const char *folder;
    double timeout; /* seconds for one exchange */
    long pid;       /* 0: none, or already waited for */
    taut_watchdog watchdog;
    int in, out, err;
    int heard;           /* the child's own end of `in`, to look at */
    bool unasked;        /* the latest line came while the request was still unread */
    bool closed;         /* its output has ended */
    char *line;          /* output of the program that was not read yet: room + 1 bytes */
    size_t room, have;   /* of it */
    size_t used;         /* bytes of `line` that belong to the latest line, its end included */
    const char *request; /* the exchange under way, which ends at `until` */
    size_t length, sent;
    double until;
    char said[TAUT_CHILD_LINES][TAUT_CHILD_LINE]; /* the last lines of its standard error */
    int64_t lines;                                /* so many there were */
    char saying[TAUT_CHILD_LINE];                 /* the line that is being written there */
    size_t saying_length;
} taut_child;

/* Starts it; also one that has ended. `words`, `folder`, `timeout`, `line` and `room`, the longest
 * line that may come, are set. */
int taut_child_start(taut_child *child, taut_error *error);
/* Begins to write a request, which stays until it is answered. */
int taut_child_begin(taut_child *child, const char *request, size_t length, taut_error *error);
/* Waits until one of the children can go on, or the time of one is over. */
void taut_child_wait(taut_child *const *children, int count);
/* The line that answers, without its end; it stays until the next call. NULL: not yet. On failure
 * the process is gone, and the message contains how it ended and its last messages. */
int taut_child_answer(taut_child *child, char **answer, taut_error *error);
/* Ends it: its input is closed, it has a second to finish, then it is killed. Takes one that was
 * never started. */
void taut_child_end(taut_child *child);
/* Ends it and reports `what` (a sentence about the program), with what it said last. */
int taut_child_fail(taut_child *child, const char *what, taut_error *error);

#endif
