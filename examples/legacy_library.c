/* legacy_library.c - an existing simulator as a shared library with three functions
 * (docs/black-boxes.md). It keeps its own data behind `user`; here that is eps of the equations of
 * Michaelis and Menten, by forward Euler.
 *
 *     cc -shared -fPIC legacy_library.c -o legacy.so      and in a model file:   [stepper]
 *                                                                            library = ./legacy.so
 */
#include <stdlib.h>

int taut_flow_open(int version, int n, const char *const *names, void **user);
int taut_flow_advance(void *user, double t, double H, double *z);
void taut_flow_close(void *user);

/* 0: ready. Anything else: not this version, or not these variables. */
int taut_flow_open(int version, int n, const char *const *names, void **user)
{
    double *eps = malloc(sizeof *eps);
    (void)names;
    *user = eps;
    if (!eps || version != 1 || n != 2) {
        free(eps);
        return 1;
    }
    *eps = 0.1;
    return 0;
}

/* z at t becomes z at t + H. 0; >0: not from this state; <0: stop. */
int taut_flow_advance(void *user, double t, double H, double *z)
{
    const double eps = *(double *)user;
    long steps = (long)(H / (eps / 10) + 0.5);
    (void)t;
    steps = steps < 1 ? 1 : steps;
    for (long k = 0; k < steps; k++) {
        double x = z[0], y = z[1], h = H / (double)steps;
        z[0] = x + h * (-x + (x + 0.5) * y);
        z[1] = y + h * ((x - (x + 1) * y) / eps);
    }
    return 0;
}

void taut_flow_close(void *user)
{
    free(user);
}
