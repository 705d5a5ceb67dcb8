/* watchdog.h - programs that Taut starts do not outlive it.
 *
 * A process that is killed can do nothing more. So a second one, the watchdog, waits for its end
 * (the other end of a socket closes) and then ends the process group of the program, with all that
 * the program has started. (PR_SET_PDEATHSIG reaches the program alone, and too early: when the
 * thread ends that started it.) */
#ifndef TAUT_BASE_WATCHDOG_H
#define TAUT_BASE_WATCHDOG_H

typedef struct taut_watchdog {
    long pid; /* of the watchdog; 0: none */
    int life; /* our end of the socket */
} taut_watchdog;

/* Watches the process group `group`. Without room for another process there is no watchdog: the
 * program then ends when its input does. */
void taut_watchdog_begin(taut_watchdog *watchdog, long group);
/* Before the group leader is waited for: afterwards its number may be that of others. */
void taut_watchdog_end(taut_watchdog *watchdog);

/* Numbers of files that this process may have open; and closing them from `first` on, for use
 * between fork and exec. */
int taut_watchdog_files(void);
void taut_watchdog_close(int first, int files);

#endif
