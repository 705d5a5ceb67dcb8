/* own_tableau.c - a Runge-Kutta method that Taut does not have, given as numbers: Bogacki and
 * Shampine 1989, order 3 with an estimate of order 2, on Kepler's problem. Halving a fixed step
 * size shows the order; an adaptive step size comes from the estimate; a wrong tableau is refused.
 */
#include <taut/taut.h>

#include <math.h>
#include <stdio.h>

static const char kepler[] = "[coordinates]\nx, y\n"
                             "[potential]\n-1/sqrt(x^2 + y^2)\n"
                             "[start]\nx = 1\ny' = 1\n";

static const double a[16] = {0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.75, 0, 0, 2. / 9, 1. / 3, 4. / 9, 0};

static taut_butcher_tableau make_tableau(void)
{
    static const double b[4] = {2. / 9, 1. / 3, 4. / 9, 0}, c[4] = {0, 0.5, 0.75, 1};
    static const double e[5] = {-5. / 72, 1. / 12, 1. / 9, -1. / 8, 0}; /* b minus the embedded b */
    taut_butcher_tableau tableau;
    taut_butcher_tableau_init(&tableau);
    tableau.name = "bs3";
    tableau.stages = 4;
    tableau.order = 3;
    tableau.embedded_order = 2;
    tableau.a = a;
    tableau.b = b;
    tableau.c = c;
    tableau.e = e;
    return tableau;
}

/* The circle of radius 1 once around: how far the end is from the beginning. */
static int round_trip(const taut_system *system, const char *option, double value, double *off,
                      taut_error *error)
{
    taut_butcher_tableau tableau = make_tableau();
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    const double turn = 2 * acos(-1);
    int status = taut_options_create(NULL, &options, error);
    if (status == 0)
        status = taut_options_set_real(options, option, value, error);
    if (status == 0)
        status = taut_options_set_real(options, "until", turn, error);
    if (status == 0)
        status = taut_solver_create_tableau(system, options, &tableau, NULL, &solver, error);
    if (status == 0)
        status = taut_solver_run(solver, NULL, 0, NULL, NULL, error);
    if (status == 0)
        *off = hypot(taut_solver_position(solver)[0] - 1, taut_solver_position(solver)[1]);
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return status;
}

int main(void)
{
    taut_error error = {0};
    taut_system *system = NULL;
    taut_solver *solver = NULL;
    double coarse = 0, fine = 0, adaptive = 0;
    int status = taut_system_parse(kepler, sizeof kepler - 1, "kepler", NULL, &system, &error);
    if (status == 0)
        status = round_trip(system, "step", 0.02, &coarse, &error);
    if (status == 0)
        status = round_trip(system, "step", 0.01, &fine, &error);
    if (status == 0)
        status = round_trip(system, "rtol", 1e-6, &adaptive, &error);
    if (status != 0) {
        fprintf(stderr, "%s: %s\n", taut_code_text(status), error.message);
        taut_system_destroy(system);
        return 1;
    }
    double order = log2(coarse / fine);
    printf("observed order %.2f; with rtol 1e-6 the circle closes up to %.1e\n", order, adaptive);
    taut_butcher_tableau wrong = make_tableau();
    wrong.order = 4;
    status = taut_solver_create_tableau(system, NULL, &wrong, NULL, &solver, &error);
    printf("claiming order 4: %s\n", error.message);
    taut_system_destroy(system);
    return !(fabs(order - 3) < 0.1 && adaptive < 1e-3 && status == TAUT_ERROR_USAGE);
}
