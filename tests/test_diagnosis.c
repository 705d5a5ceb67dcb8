/* test_diagnosis.c - the diagnosis of an initial state: what it takes a failed factorisation for,
 * and that nothing is computed twice when a solver is made. The linker puts the functions here in
 * place of those of the library (CMakeLists.txt). */
#include "base/error.h"
#include "linalg/saddle.h"
#include "support/run.h"

static int factorisations, failing, with; /* the failing one, from 1; its status */
static int spectra;

int __real_taut_saddle_factor(taut_saddle *saddle, const double *k, const double *g1,
                              const double *g2, const double *d, taut_error *error);
int __wrap_taut_saddle_factor(taut_saddle *saddle, const double *k, const double *g1,
                              const double *g2, const double *d, taut_error *error);
int __real_taut_frequencies(taut_context *context, double t, const double *q, int count,
                            double *frequency, int *found, bool *complete, taut_error *error);
int __wrap_taut_frequencies(taut_context *context, double t, const double *q, int count,
                            double *frequency, int *found, bool *complete, taut_error *error);

int __wrap_taut_saddle_factor(taut_saddle *saddle, const double *k, const double *g1,
                              const double *g2, const double *d, taut_error *error)
{
    if (++factorisations == failing)
        return taut_fail(error, with, "this factorisation fails");
    return __real_taut_saddle_factor(saddle, k, g1, g2, d, error);
}

int __wrap_taut_frequencies(taut_context *context, double t, const double *q, int count,
                            double *frequency, int *found, bool *complete, taut_error *error)
{
    spectra++;
    return __real_taut_frequencies(context, t, q, count, frequency, found, complete, error);
}

#define PENDULUM(stiffness, x)                                                                     \
    "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness " stiffness \
    "\n[start]\nx = " x "\n"

/* Out of memory is no redundancy of springs, nor is anything else but a singular matrix. */
static void test_failures(void)
{
    static const char model[] = PENDULUM("1e4", "1.1");
    static const int codes[] = {TAUT_ERROR_MEMORY, TAUT_ERROR_CONVERGE, TAUT_ERROR_EVALUATE,
                                TAUT_ERROR_SINGULAR};
    check_group("a factorisation that fails");
    for (int k = 0; k < 4; k++) {
        bool singular = codes[k] == TAUT_ERROR_SINGULAR;
        taut_system *system = NULL;
        taut_error error = {0};
        taut_check_report report = {.size = sizeof report};
        failing = 0;
        check_equal("parse",
                    taut_system_parse(model, strlen(model), "model", NULL, &system, &error), 0);
        factorisations = 0;
        failing = 1;
        with = codes[k];
        int status = taut_check(system, NULL, &report, &error);
        check_row(status == (singular ? 0 : with), "check, %s: %s: %s", taut_code_name(with),
                  taut_code_name(status), error.message);
        /* without multipliers there is no kinetic part, and g counts from 0 */
        if (singular)
            check_near("energy of the stretch", report.oscillatory_energy, 1e4 * 0.01 / 2, 1e-9);
        taut_system_destroy(system);
        factorisations = 0;
        driven d = driven_create(model, "until=1", NULL);
        check_row(d.code == (singular ? 0 : with), "run, %s: %s: %s", taut_code_name(with),
                  taut_code_name(d.code), d.error.message);
        driven_destroy(&d);
    }
    failing = 0;
}

/* Every frequency is computed once, also when a motion gives way to another one. */
static void test_once(void)
{
    static const struct {
        const char *name, *text, *options;
        int spectra;
    } rows[] = {
        {"full by choice", PENDULUM("50", "1"), "until=1", 1},
        {"full by option", PENDULUM("50", "1"), "until=1 motion=full", 1},
        {"slow by choice", PENDULUM("1e4", "1"), "until=1", 1},
        {"slow by option", PENDULUM("1e4", "1"), "until=1 motion=slow", 0},
        {"a motion that gives way",
         "[coordinates]\nx, y\n[bonds]\na = x - 1 stiffness 1e6\nb = 2*x - 2 stiffness 1e6\n"
         "[start]\nx = 1.001, y' = 1\n",
         "until=1", 1},
        {"soft springs", PENDULUM("4 soft", "1"), "until=1", 1},
    };
    check_group("frequencies");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        spectra = 0;
        driven d = driven_create(rows[k].text, rows[k].options, NULL);
        driven_good(rows[k].name, &d);
        check_row(spectra == rows[k].spectra, "%s: computed %d times, expected %d: %s",
                  rows[k].name, spectra, rows[k].spectra,
                  d.solver ? taut_solver_explanation(d.solver) : "");
        driven_destroy(&d);
    }
}

int main(void)
{
    test_failures();
    test_once();
    return check_done();
}
