/* bench_process.c - what a request to a separate program costs beyond the program's own work, and
 * what a second copy gains, or a second thread of a function. The program is this one, with an
 * argument: its flow is the identity, and "slow" lets it sleep for 5 ms.
 *
 * Rows: name | limit | value | verdict. */
#define _XOPEN_SOURCE 700
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "blackbox/flows.h"

enum { N = 5, CALLS = 20000, SLOW_CALLS = 100 };

/* The other side of the protocol. */
static int answer(int slow)
{
    static char line[4000];
    while (fgets(line, sizeof line, stdin)) {
        char *state = line;
        for (int k = 0; k < 4 && state; k++)
            state = strchr(state + 1, ' ');
        if (strncmp(line, "advance", 7) == 0 && slow)
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        if (strncmp(line, "advance", 7) == 0 && state)
            printf("ok%s", state);
        else
            puts("ready 1");
        fflush(stdout);
    }
    return 0;
}

static int advance_slowly(void *user, double t, double H, double *z)
{
    (void)user, (void)t, (void)H, (void)z;
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    return 0;
}

/* Seconds for one state, of `calls`, in groups of ten; negative when it failed. command NULL: of
 * the system's function. */
static double measure(const taut_system *system, const char *command, int copies, int calls)
{
    enum { GROUP = 10 };
    taut_arena arena;
    taut_statistics cost = {0};
    taut_flow *flow = NULL;
    taut_error error = {0};
    taut_process_settings settings = {
        .command = command, .folder = ".", .timeout = 60, .copies = copies};
    double states[GROUP][N], time = -1;
    for (int i = 0; i < GROUP * N; i++)
        states[i / N][i % N] = 1 / (i + 3.0);
    taut_arena_init(&arena, NULL);
    int status = command ? taut_flow_process(system, &arena, &cost, &settings, &flow, &error)
                         : taut_flow_callback(system, &arena, &cost, copies, &flow, &error);
    if (status == 0) /* all copies are started before the clock */
        status = taut_flow_advance_all(flow, 0, 1, GROUP, states[0], &error);
    double begin = now();
    for (int k = 0; k < calls && status == 0; k += GROUP)
        status = taut_flow_advance_all(flow, 0, 1, GROUP, states[0], &error);
    if (status == 0)
        time = (now() - begin) / calls;
    else
        printf("flow | failed | %s\n", error.message);
    if (flow)
        flow->destroy(flow);
    taut_arena_clear(&arena);
    return time;
}

int main(int count, char **argument)
{
    static const char text[] =
        "[state]\ny[i] for i in 1..5\n[stepper]\ncommand = x\n[observables]\ny[1]\n";
    char self[1000], fast[1100], slow[1100];
    taut_system *system = NULL;
    taut_error error;
    if (count > 1)
        return answer(strcmp(argument[1], "slow") == 0);
    if (!realpath(argument[0], self) ||
        taut_system_parse(text, sizeof text - 1, "model.taut", NULL, &system, &error) != 0)
        return 1;
    snprintf(fast, sizeof fast, "'%s' fast", self);
    snprintf(slow, sizeof slow, "'%s' slow", self);
    double one = measure(system, fast, 1, CALLS);
    row("a request to a program, 5 variables, microseconds", 50, 1e6 * one);
    one = measure(system, slow, 1, SLOW_CALLS);
    double two = measure(system, slow, 2, SLOW_CALLS);
    row("time with two copies of a slow program / with one (1/1.7)", 1 / 1.7, two / one);
    taut_black_box box = {
        .size = sizeof box, .variables = N, .advance = advance_slowly, .threads = true};
    taut_system_destroy(system);
    if (one < 0 || two < 0 || taut_system_from_flow(&box, NULL, &system, &error) != 0)
        return 1;
    one = measure(system, NULL, 1, SLOW_CALLS);
    two = measure(system, NULL, 2, SLOW_CALLS);
    row("time with two threads of a slow function / with one (1/1.7)", 1 / 1.7, two / one);
    taut_system_destroy(system);
    return one < 0 || two < 0;
}
