/* walkers.c - a particle simulation as a black box: 10,000 walkers on a circle of 10 sites, and
 * what Taut sees of them: how many there are at each site, and how many more of these walk to the
 * right than to the left.
 *
 * A walker steps to the next site in its direction with rate 1, and turns with rate 500. Turning is
 * fast, densities change slowly: `taut run` integrates them by short bursts of this program.
 *
 *     cc walkers.c -lm -o walkers      and in a model file:   [state]
 *                                                             n[i] for i in 1..10
 *                                                             d[i] for i in 1..10
 *                                                             [stepper]
 *                                                             command = ./walkers
 *                                                             horizon = 0.001
 *                                                             [observables]
 *                                                             n[i] for i in 1..10
 *
 * Random numbers depend on time and state alone, so that a request has one answer. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 10, COUNTS = 2 * SITES, WALKERS_LINE = 2000 };

static const double step_rate = 1, turn_rate = 500;

/* In (0, 1]; Vigna's splitmix64. */
static double uniform(uint64_t *seed)
{
    uint64_t x = *seed += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)(((x ^ (x >> 31)) >> 11) + 1) * 0x1p-53;
}

static uint64_t seed_of(double t, const double *z)
{
    uint64_t seed = 1, bits;
    for (int k = -1; k < COUNTS; k++) {
        memcpy(&bits, k < 0 ? &t : &z[k], sizeof bits);
        seed = (seed ^ bits) * 0x100000001b3u;
    }
    return seed;
}

/* The walkers after the time H. What is less than a walker becomes one by chance. */
static void walk(double t, double H, double *z)
{
    double count[COUNTS] = {0};
    uint64_t seed = seed_of(t, z);
    for (int k = 0; k < COUNTS; k++) {
        int from = k % SITES, first = k < SITES ? 1 : -1;
        double walkers = (z[from] + first * z[from + SITES]) / 2;
        for (double left = walkers + 1 - uniform(&seed); left >= 1; left--) {
            int site = from, way = first;
            double both = step_rate + turn_rate, time = 0;
            while ((time -= log(uniform(&seed)) / both) < H)
                if (uniform(&seed) * both < turn_rate)
                    way = -way;
                else
                    site = (site + way + SITES) % SITES;
            count[site]++;
            count[site + SITES] += way;
        }
    }
    memcpy(z, count, sizeof count);
}

/* "t H n z1 ... zn" becomes "ok z1 ... zn". */
static void answer(char *words)
{
    double number[3 + COUNTS];
    for (int k = 0; k < 3 + COUNTS; k++) {
        char *end;
        number[k] = strtod(words, &end);
        if (end == words) {
            printf("error expected 't H n' and %d numbers\n", COUNTS);
            return;
        }
        words = end;
    }
    if (number[1] < 0) {
        printf("cannot go backwards\n");
        return;
    }
    walk(number[0], number[1], number + 3);
    printf("ok");
    for (int k = 0; k < COUNTS; k++)
        printf(" %.17g", number[3 + k]);
    printf("\n");
}

int main(void)
{
    char line[WALKERS_LINE];
    while (fgets(line, sizeof line, stdin)) {
        int version, variables;
        if (sscanf(line, "taut %d %d", &version, &variables) == 2)
            puts(version == 1 && variables == COUNTS ? "ready 1"
                                                     : "error this program has 20 variables");
        else if (strncmp(line, "advance ", 8) == 0)
            answer(line + 8);
        else
            puts("error unknown request");
        fflush(stdout);
    }
    return 0;
}
