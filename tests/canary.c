/* canary.c - faults made on purpose, one for each argument. A build whose sanitizers are on must
 * stop at every one of them; CI fails if it does not, because then all other clean runs would
 * mean nothing. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* volatile: the compiler must neither see through the faults nor remove them */
static volatile int many = 4;

static int read_past_the_end(void)
{
    int *block = calloc((size_t)many, sizeof *block);
    if (!block)
        return 2;
    volatile int value = block[many];
    free(block);
    return value & 0;
}

static int overflow(void)
{
    volatile int large = INT_MAX;
    volatile int sum = large + many;
    return sum & 0;
}

static void *volatile kept;

static int leak(void)
{
    kept = malloc((size_t)many * 100);
    kept = NULL;
    return 0;
}

static volatile int shared;

static void *count_up(void *unused)
{
    for (int i = 0; i < 1000 * many; i++)
        shared++;
    return unused;
}

static int race(void)
{
    pthread_t other;
    if (pthread_create(&other, NULL, count_up, NULL) != 0)
        return 2;
    count_up(NULL);
    pthread_join(other, NULL);
    return 0;
}

int main(int count, char **argument)
{
    const char *fault = count == 2 ? argument[1] : "";
    if (strcmp(fault, "heap") == 0)
        return read_past_the_end();
    if (strcmp(fault, "overflow") == 0)
        return overflow();
    if (strcmp(fault, "leak") == 0)
        return leak();
    if (strcmp(fault, "race") == 0)
        return race();
    fprintf(stderr, "usage: canary heap|overflow|leak|race\n");
    return 0; /* only a sanitizer may give a failing status */
}
