/* process_peer.c - the other side of the line protocol, for test_process: good, and wrong in one
 * way each (first argument).
 *
 * The equations are the five mixed variables of Gear, Kaper, Kevrekidis, Zagaris 2005, section
 * 4.3, one step of forward Euler. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { N = 5 };

static void euler(double h, double *y)
{
    double sum = 0, v[N], r[N], total = 0;
    for (int i = 0; i < N; i++)
        sum += y[i];
    for (int i = 0; i < N; i++)
        v[i] = 0.4 * sum - y[i];
    r[0] = -v[1];
    r[1] = v[0];
    r[2] = 1000 * (v[0] * v[0] + v[1] * v[1] - v[2]);
    r[3] = 800 * v[3] + v[3] * v[3];
    r[4] = 1200 * v[4] + v[4] * v[4];
    for (int i = 0; i < N; i++)
        total += 0.4 * r[i];
    for (int i = 0; i < N; i++)
        y[i] += h * (total - r[i]);
}

/* What goes wrong at request `call` (0: the greeting). False: nothing. */
static int misbehave(const char *how, int call)
{
    if (call == 0 && strcmp(how, "silent") == 0)
        sleep(100);
    if (call == 0 && strcmp(how, "files") == 0)
        for (int k = 3; k < 256; k++)
            if (fcntl(k, F_GETFD) != -1)
                return printf("error file %d is open\n", k);
    if (call == 0 && strcmp(how, "version") == 0)
        return puts("ready 7");
    if (call == 0 && strcmp(how, "greet-garbage") == 0)
        return puts("Welcome to LEGACY 3.1!");
    if (call == 0 && strcmp(how, "greet-error") == 0)
        return puts("error the licence has expired");
    if (call > 0 && strcmp(how, "always") == 0)
        exit(5);
    if (call >= 3 && strcmp(how, "nan") == 0)
        return puts("ok 1 2 nan 4 5");
    if (call >= 3 && strcmp(how, "infinity") == 0)
        return puts("ok 1 -Infinity 3 4 5");
    if (call != 3)
        return 0;
    if (strcmp(how, "exit") == 0) {
        fprintf(stderr, "reading tables\n\033[31mtable not found: k.dat\n");
        exit(3);
    }
    if (strcmp(how, "segv") == 0) {
        signal(SIGSEGV, SIG_DFL); /* sanitizers have a handler of their own */
        kill(getpid(), SIGSEGV);
    }
    if (strcmp(how, "hang") == 0)
        sleep(100);
    if (strcmp(how, "close") == 0) {
        fclose(stdout);
        sleep(100);
    }
    if (strcmp(how, "garbage") == 0)
        return puts("42 is the answer");
    if (strcmp(how, "words") == 0)
        return puts("ok 1 2 three 4 5");
    if (strcmp(how, "few") == 0)
        return puts("ok 1 2 3");
    if (strcmp(how, "many") == 0)
        return puts("ok 1 2 3 4 5 6");
    if (strcmp(how, "error") == 0)
        return puts("error concentration of y[2] is negative");
    if (strcmp(how, "twice") == 0)
        return puts("ok 1 2 3 4 5\nok 1 2 3 4 5");
    if (strcmp(how, "endless") == 0)
        for (;;)
            fputs("ok ok ok ok ok ok ok ok ok ok ok ok ", stdout);
    if (strcmp(how, "flood") == 0)
        for (;;)
            fputs("over and over\n", stderr);
    if (strcmp(how, "comments") == 0)
        for (;;)
            fputs("# still thinking\n", stdout);
    if (strcmp(how, "half") == 0) {
        fputs("ok 1 2 3 4", stdout);
        exit(0);
    }
    return 0;
}

/* Calls of all processes that share the file of this name. */
static long count_call(const char *path)
{
    long call = 0;
    int file = open(path, O_RDWR | O_CREAT, 0600);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    fcntl(file, F_SETLKW, &lock);
    if (pread(file, &call, sizeof call, 0) != (ssize_t)sizeof call)
        call = 0;
    call++;
    if (pwrite(file, &call, sizeof call, 0) != (ssize_t)sizeof call)
        exit(4);
    close(file);
    return call;
}

/* Every 500th call of them fails: every 2500th by garbage, of the others every 1500th by silence,
 * the rest by a signal. */
static int storm(const char *path)
{
    long call = count_call(path);
    if (call % 2500 == 0)
        return printf("\001\002 segmentation 3 4 ok\n");
    if (call % 1500 == 0)
        sleep(100);
    if (call % 500 == 0)
        kill(getpid(), SIGKILL);
    return 0;
}

/* A process of its own, which outlives us unless it is ended with us, and tells its number in a
 * file. */
static void leave_child(const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        for (;;)
            sleep(100);
    }
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "%ld\n", (long)child);
        fclose(file);
    }
}

int main(int count, char **argument)
{
    static char line[4000];
    const char *how = count > 1 ? argument[1] : "good";
    if (strcmp(how, "parent") == 0 && count > 2)
        leave_child(argument[2]);
    for (int call = 0; fgets(line, sizeof line, stdin); call++) {
        double t, H, y[N];
        int n;
        if (strcmp(how, "chatty") == 0) {
            printf("# comments are for people\n");
            for (int k = 0; k < 3000; k++)
                fprintf(stderr, "iteration %d of request %d\n", k, call);
        }
        if (strcmp(how, "slow") == 0 && call > 0)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        if (misbehave(how, call) || (call > 0 && strcmp(how, "storm") == 0 && storm(argument[2]))) {
        } else if (call == 0)
            puts(strcmp(line, "taut 1 5 y[1] y[2] y[3] y[4] y[5]\n") == 0 ? "ready 1"
                                                                          : "error not my names");
        else if (sscanf(line, "advance %lf %lf %d %lf %lf %lf %lf %lf", &t, &H, &n, y, y + 1, y + 2,
                        y + 3, y + 4) == 8 &&
                 n == N) {
            if (strcmp(how, "cannot") == 0 && call % 4 == 3) {
                puts("cannot converge");
            } else {
                euler(H, y);
                printf(strcmp(how, "coarse") == 0 ? "ok %.7g %.7g %.7g %.7g %.7g\r\n"
                                                  : "ok %.17g %.17g %.17g %.17g %.17g\n",
                       y[0], y[1], y[2], y[3], y[4]);
                if (strcmp(how, "double") == 0) { /* a second answer, at a time of its own */
                    fflush(stdout);
                    puts("ok 1 2 3 4 5");
                }
            }
        } else
            puts("error not a request");
        fflush(stdout);
    }
    return 0;
}
