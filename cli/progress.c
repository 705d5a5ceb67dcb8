/* progress.c - the progress bar, and Ctrl-C or SIGTERM: the first asks the run to stop, the second
 * kills. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <signal.h>
#include <time.h>

#include "cli.h"

/* A signal handler may write to such a variable only. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void cli_interrupt_watch(void)
{
#ifdef SA_RESETHAND
    static const int asking[] = {SIGINT, SIGTERM};
    struct sigaction now, action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    /* a shell's background job is started with the signal ignored, and keeps it so */
    for (size_t k = 0; k < sizeof asking / sizeof asking[0]; k++)
        if (sigaction(asking[k], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(asking[k], &action, NULL);
#else
    signal(SIGINT, on_interrupt); /* the second one finds the default again */
#endif
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}

double cli_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* "[=====>     ]  42%  t = 4.2 of 10  12345 steps  3 s left", or "420 of 1000 runs, 2 failed" */
static void draw(const cli_progress *progress, double t, double until, int64_t steps, double now)
{
    enum { CELLS = 30 };
    /* runs may go backwards, and have no end when only steps are limited */
    double from = progress->runs ? 0 : progress->from, /* also when it is continued */
        part = isfinite(until) && until != from ? (t - from) / (until - from) : 0,
           now_done = part - (progress->runs ? progress->from / until : 0);
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    char bar[CELLS + 1];
    int full = (int)(part * CELLS);
    for (int k = 0; k < CELLS; k++)
        bar[k] = k < full ? '=' : k == full ? '>' : ' ';
    bar[CELLS] = '\0';
    double left = now_done > 0 ? (now - progress->begin) * (1 - part) / now_done : NAN;
    fprintf(stderr, "%s[%s] %3d%%  ", progress->lines ? "" : "\r", bar, (int)(100 * part));
    if (progress->runs)
        fprintf(stderr, "%.0f of %.0f runs, %lld failed", t, until, (long long)steps);
    else
        fprintf(stderr, "t = %.4g of %.6g  %lld steps", t, until, (long long)steps);
    if (isfinite(left))
        fprintf(stderr, "  %.0f s left", ceil(left));
    fprintf(stderr, progress->lines ? "\n" : "\033[K");
    fflush(stderr);
}

int cli_progress_call(void *user, double t, double until, int64_t steps)
{
    cli_progress *progress = user;
    if (interrupted)
        return 1;
    if (!progress->bar)
        return 0;
    double now = cli_clock();
    if (!progress->started) {
        progress->started = true;
        progress->begin = progress->drawn = now;
        progress->from = t;
    }
    /* nothing for short runs, then ten pictures a second; lines every two seconds */
    if (now - progress->drawn > (progress->lines ? 2 : progress->shown ? 0.1 : 0.5)) {
        draw(progress, t, until, steps, now);
        progress->drawn = now;
        progress->shown = true;
    }
    return 0;
}

void cli_progress_clear(cli_progress *progress)
{
    if (progress->shown && !progress->lines)
        fprintf(stderr, "\r\033[K");
    progress->shown = false;
}
