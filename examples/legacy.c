/* legacy.c - how an existing simulator answers Taut: a line in, a line out
 * (docs/black-boxes.md). It stands for a program whose equations are out of reach; here they are
 * those of Michaelis and Menten, by forward Euler, and Taut sees none of it.
 *
 *     cc legacy.c -lm -o legacy        and in a model file:   [stepper]
 *                                                             command = ./legacy --eps 0.1
 *                                                             horizon = 0.04
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIABLES = 2, LINE = 1000 };

static double eps = 0.1;

/* The old code: the state z = (x, y) after the time H. */
static void simulate(double H, double *z)
{
    long steps = lround(H / (eps / 10));
    steps = steps < 1 ? 1 : steps;
    for (long k = 0; k < steps; k++) {
        double x = z[0], y = z[1], h = H / (double)steps;
        z[0] = x + h * (-x + (x + 0.5) * y);
        z[1] = y + h * ((x - (x + 1) * y) / eps);
    }
}

/* "advance t H n z1 ... zn" becomes "ok z1 ... zn". */
static void advance(char *words)
{
    double number[3 + VARIABLES];
    for (int k = 0; k < 3 + VARIABLES; k++) {
        char *end;
        number[k] = strtod(words, &end);
        if (end == words) {
            printf("error expected 't H n' and %d numbers\n", VARIABLES);
            return;
        }
        words = end;
    }
    double H = number[1], *z = number + 3;
    if (H < 0) {
        printf("cannot go backwards\n");
        return;
    }
    simulate(H, z);
    printf("ok");
    for (int k = 0; k < VARIABLES; k++)
        printf(" %.17g", z[k]);
    printf("\n");
}

int main(int count, char **argument)
{
    char line[LINE];
    for (int k = 1; k + 1 < count; k += 2)
        if (strcmp(argument[k], "--eps") == 0)
            eps = atof(argument[k + 1]);
    while (fgets(line, sizeof line, stdin)) { /* the end of the input is the end of the program */
        int version, variables;
        if (sscanf(line, "taut %d %d", &version, &variables) == 2)
            puts(version == 1 && variables == VARIABLES
                     ? "ready 1"
                     : "error this program has the variables x and y");
        else if (strncmp(line, "advance ", 8) == 0)
            advance(line + 8);
        else
            puts("error unknown request");
        fflush(stdout); /* an answer that stays in a buffer is no answer */
    }
    return 0;
}
