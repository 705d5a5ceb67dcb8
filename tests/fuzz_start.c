/* fuzz_start.c - any bytes as the text of --start, for three models: particles in families with
 * bonds, coordinates with held ones and a kinetic energy, a first-order system. The reader must
 * answer with a system or an error with its place, in bounded time and memory; the initial state is
 * then a number for each variable or an error, and the same when it is evaluated again.
 *
 * With libFuzzer (preset fuzz) this is a target; otherwise main replays the files given as
 * arguments. */
#include <taut/taut.h>

#include <math.h>
#include <string.h>

#include "support/fuzz.h"

static const char *const models[] = {
    "[parameters]\nN = 4\nlift = 0.5\n[definitions]\nhalf(u) = u/2\n[particles]\ndimension = 2\n"
    "bob[i] for i in 1..N mass 1\n[potential]\nsum(bob[i].y for i in 1..N)\n[bonds]\n"
    "link[1] = length(bob[1]) - 1 stiffness 1e6\n"
    "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N rigid\n[start]\n"
    "bob[i] = (i, lift) for i in 1..N\n",
    "[parameters]\nm = 2\n[coordinates]\nr, phi\n[kinetic]\nm*(r'^2 + r^2*phi'^2)/2\n[potential]\n"
    "-1/r\n[start]\nr = 1, phi = 0.3 hold, phi' = 1\n",
    "[state]\nx[i] for i in 0..2\n[algebraic]\ny\n[rates]\nx[i]' = -x[i] + y for i in 0..2\n"
    "[constraints]\nc = x[0] + x[1] - t\n[start]\nx[i] = i for i in 0..2\n",
};

enum { SMALL = 16 };

/* Twice, since evaluations must not depend on what was evaluated before. */
static void begin(const taut_system *system)
{
    double q[2][SMALL] = {{0}}, v[2][SMALL] = {{0}};
    taut_context *context = NULL;
    taut_error error = {0};
    taut_sizes sizes = {.size = sizeof sizes};
    int status = taut_context_create(system, NULL, &context, &error), again[2];
    taut_system_sizes_get(system, &sizes, NULL);
    demand(sizes.coordinates <= SMALL && sizes.algebraic <= SMALL, "variables are the model's");
    demand(status == 0 || status == TAUT_ERROR_MEMORY, "a small system has a context");
    for (int k = 0; k < 2 && status == 0; k++) {
        again[k] = taut_context_start(context, 0.25, q[k], v[k], &error);
        demand(again[k] <= 0 && (again[k] == 0 || (error.code == again[k] && error.message[0])),
               "a failure has its code and a message");
        for (taut_index i = 0; again[k] == 0 && i < sizes.coordinates; i++)
            demand(isfinite(q[k][i]) && isfinite(v[k][i]), "an initial state is finite");
    }
    demand(status != 0 || (again[0] == again[1] && memcmp(q[0], q[1], sizeof q[0]) == 0 &&
                           memcmp(v[0], v[1], sizeof v[0]) == 0),
           "the same text gives the same state");
    taut_context_destroy(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        size_t used = 0;
        taut_allocator allocator = {bounded_allocate, bounded_release, &used};
        taut_load how = {.size = sizeof how, .allocator = &allocator, .start_text = text};
        taut_system *system = NULL;
        taut_error error = {0};
        int status =
            taut_system_parse(models[k], strlen(models[k]), "model", &how, &system, &error);
        demand(status <= 0 && (status == 0) == (system != NULL), "a system or an error");
        demand(status == 0 || (error.code == status && error.message[0]),
               "an error has its code and a message");
        demand(status != TAUT_ERROR_MODEL || (error.line > 0 && error.column > 0 && error.file[0]),
               "a wrong text has a place");
        if (status == 0)
            begin(system);
        taut_system_destroy(system);
        demand(used == 0, "all memory is given back");
    }
    free(text);
    return 0;
}
