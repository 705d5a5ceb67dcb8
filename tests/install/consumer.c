/* consumer.c - the smallest use of an installed Taut: read a model, ask for its sizes, evaluate
 * it at its initial state. */
#include <taut/taut.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char model[] = "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1   stiffness "
                            "1e4\n[start]\nx = 1.5, y = 2\n";

int main(void)
{
    taut_error error = {0};
    taut_system *system = NULL;
    taut_context *context = NULL;
    double q[2] = {0, 0}, v[2] = {0, 0}, g = NAN;
    taut_values values = {.size = sizeof values, .bond = &g};

    int status = taut_system_parse(model, strlen(model), "consumer", NULL, &system, &error);
    if (status == 0)
        status = taut_context_create(system, NULL, &context, &error);
    if (status == 0)
        status = taut_context_start(context, 0.0, q, v, &error);
    if (status == 0)
        status = taut_evaluate(context, 0.0, q, v, TAUT_WANT_BOND, &values, &error);
    if (status != 0)
        fprintf(stderr, "%s: %s\n", taut_code_name(status), error.message);
    else
        printf("Taut %s: the rod is longer than its rest length by %g\n", taut_version(), g);
    taut_context_destroy(context);
    taut_system_destroy(system);
    return status == 0 && fabs(g - 1.5) < 1e-14 ? 0 : 1;
}
