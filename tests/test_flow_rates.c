/* test_flow_rates.c - rates of flows and first-order models: eigenvalues of D table 2 (with the
 * corrections of docs/sources.md), analytic ones, the dimension of slow manifolds and advice; the
 * horizon that follows from them; positive variables; the verdict on a projection. */
#include <taut/taut.h>

#include "linalg/general_eigen.h"
#include "support/project.h"

typedef struct rated {
    taut_system *system;
    taut_options *options;
    taut_rate rate[20];
    taut_rates_report report;
    taut_error error;
    int code;
} rated;

static const char oxygen[] =
    "O2 = 4.2783465727e-13, H = 3.9878034748e-8, OH = 1.3883748623e-10, O = 1.1300067412e-11\n"
    "H2 = 4.4019256520e-7, H2O = 3.9848995981e-8, HO2 = 5.3981503775e-15\n"; /* D table 3 */

static rated rates_of(taut_system *system, const char *name, const char *value)
{
    rated r = {.system = system};
    taut_rates_report_init(&r.report);
    r.code = taut_options_create(NULL, &r.options, &r.error);
    if (r.code == 0 && name)
        r.code = taut_options_set(r.options, name, value, &r.error);
    if (r.code == 0)
        r.code = taut_rates(system, r.options, 20, r.rate, &r.report, &r.error);
    return r;
}

static rated rates_model(const char *model, const taut_load *how, const char *name,
                         const char *value)
{
    projected p = project_model(model, how, "passes=1");
    rated r = rates_of(p.system, name, value);
    p.system = NULL;
    projected_drop(&p);
    return r;
}

static void drop(rated *r)
{
    taut_options_destroy(r->options);
    taut_system_destroy(r->system);
}

static bool good(const char *what, const rated *r)
{
    return check_row(r->code == 0, "%s: %s", what, r->error.message);
}

/* ---- eigenvalues */

static void eigenvalues(void)
{
    /* companion of (x + 1)(x + 3)(x^2 + 4): -1, -3, 2 i, -2 i */
    double a[16] = {-4, -7, -16, -12, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, copy[16], real[4], im[4];
    double complex work[20], left[4];
    taut_index pivot[4];
    double sum = 0, product = 1;
    check_group("eigenvalues");
    memcpy(copy, a, sizeof a);
    check_row(taut_general_values(4, copy, real, im), "found");
    for (int k = 0; k < 4; k++) {
        double complex mu = real[k] + im[k] * I;
        double off = cabs((mu + 1) * (mu + 3) * (mu * mu + 4));
        check_below("a root of the polynomial", off, 1e-11);
        sum += real[k];
        product *= cabs(mu);
        taut_general_left(4, a, mu, 0, work, pivot, left);
        for (int j = 0; j < 4; j++) {
            double complex x = -mu * left[j];
            for (int i = 0; i < 4; i++)
                x += left[i] * a[i * 4 + j];
            check_below("left eigenvector", cabs(x), 1e-9);
        }
    }
    check_near("their sum", sum, -4, 1e-12);
    check_near("their product", product, 12, 1e-11);
}

static void table_2(void)
{
    static const double expected[] = {-4.012e-3, -8.315e3, -4.045e4, -1.355e6, -2.466e6};
    taut_load how = {.size = sizeof how, .start_text = oxygen};
    check_group("D table 2");
    rated r = rates_model("hydrogen_oxygen", &how, NULL, NULL);
    if (good("hydrogen and oxygen", &r)) {
        check_equal("invariants", r.report.conserved, 2);
        check_equal("dimension", r.report.slow, 1);
        for (int k = 0; k < 5; k++)
            check_near("rate", r.rate[2 + k].real / expected[k], 1, 5e-4);
        check_near("gap", r.report.gap, 8.315e3 / 4.012e-3, 1e4);
        check_contains("advice", r.report.advice, "dimension 1, as many as there are observables");
    }
    drop(&r);
    r = rates_model("hydrogen_oxygen", NULL, NULL, NULL);
    if (good("before the ignition", &r))
        check_contains("advice", r.report.advice, "it does not attract");
    drop(&r);
}

/* The same rates by differences of a flow: a C function that follows two decays and a rotation. */
static int advance(void *user, double t, double H, double *z)
{
    static const double decay[] = {-50, -80};
    int *calls = user;
    double a = z[0], b = z[1], c = exp(-0.1 * H);
    (void)t;
    ++*calls;
    z[0] = c * (cos(H) * a - sin(H) * b);
    z[1] = c * (sin(H) * a + cos(H) * b);
    for (int i = 0; i < 2; i++)
        z[2 + i] = z[i] * z[i] + (z[2 + i] - (i ? b * b : a * a)) * exp(decay[i] * H);
    return 0;
}

static void flow(int observables, double horizon)
{
    static const taut_index observable[] = {0, 1, 2};
    static const double start[] = {1, 0.5, 0.9, 0.2};
    int calls = 0;
    taut_black_box box = {.size = sizeof box,
                          .variables = 4,
                          .observables = observables,
                          .observable = observable,
                          .start = start,
                          .horizon = horizon,
                          .advance = advance,
                          .user = &calls};
    taut_system *system = NULL;
    taut_error error;
    check_equal("system", taut_system_from_flow(&box, NULL, &system, &error), 0);
    rated r = rates_of(system, NULL, NULL);
    if (good("flow", &r)) {
        check_equal("dimension", r.report.slow, 2);
        for (int k = 0; k < 2; k++) {
            check_near("slow: real", r.rate[k].real, -0.1, 1e-4);
            check_near("slow: imaginary", r.rate[k].imaginary, k ? -1 : 1, 1e-4);
        }
        check_near("fast", r.rate[2].real, -50, 0.01);
        check_near("fast", r.rate[3].real, -80, 0.1);
        check_contains("advice", r.report.advice,
                       observables == 2   ? "as many as there are observables"
                       : observables == 1 ? "use more; functions with slow rates: z["
                                          : "use fewer");
        check_equal("uses", r.report.flow_uses, calls);
        if (horizon > 0)
            check_equal("uses", calls, 8 + 5);
        else
            check_near("horizon", r.report.horizon, observables == 3 ? 1.0 / 80 : 1.0 / 50, 1e-3);
    }
    drop(&r);
}

/* ---- what follows from them */

static void horizons(void)
{
    static const char text[] = "[parameters]\neps = 0.1\n[state]\nx, y\n[rates]\nx' = -x + (x + "
                               "0.5)*y\ny' = (x - (x + 1)*y)/eps\n[stepper]\nmethod = dop8\nstep = "
                               "0.005\n[observables]\nx\n[start]\nx = 1, y = 0\n";
    check_group("horizon");
    projected p = project_model(text, NULL, "order=4");
    if (projected_good("no horizon", &p)) {
        check_near("Michaelis-Menten", p.r.q[1], 0.503031511623918, 1e-8);
        check_contains("no horizon", p.r.explanation, "(from the spectrum)");
    }
    projected_drop(&p);
}

/* y' = -50 (y - x)(y + x): y = x attracts, y = -x repels. */
static void positive(void)
{
    static const char text[] = "[state]\nx positive, y%s\n[rates]\nx' = -0.01*x\ny' = -50*(y^2 - "
                               "x^2)\n[stepper]\nmethod = rk4\nstep = 0.001\nhorizon = 0.02\n"
                               "[observables]\nx\n[start]\nx = 1, y = 0.02\n";
    char model[500];
    check_group("positive variables");
    for (int word = 0; word < 2; word++) {
        snprintf(model, sizeof model, text, word ? " positive" : "");
        static const char *const names[] = {"anderson", "newton"};
        for (int k = 0; k < 2; k++) {
            char options[60];
            snprintf(options, sizeof options, "order=2 iterate=%s", names[k]);
            projected p = project_model(model, NULL, options);
            if (word && projected_good(options, &p))
                check_near("y = x", p.r.q[1], 1, 1e-3);
            if (!word)
                check_row(p.code != 0 || fabs(p.r.q[1] - 1) < 1e-3,
                          "%s without the word: y = %g is no slow state", options, p.r.q[1]);
            projected_drop(&p);
        }
    }
    /* the only root is negative */
    static const char below[] = "[state]\nx, y positive\n[rates]\nx' = 0\ny' = -50*(y + x)\n"
                                "[stepper]\nhorizon = 0.02\n[observables]\nx\n[start]\nx = 1, y = "
                                "0.5\n";
    projected p = project_model(below, NULL, "order=0");
    check_equal("a negative root", p.code, TAUT_ERROR_CONVERGE);
    projected_drop(&p);
    p = project_model("[state]\nx positiv\n[rates]\nx' = 0\n", NULL, "");
    check_contains("misspelt", p.error.message, "did you mean 'positive'");
    projected_drop(&p);
}

/* D table 5, all seven variables: the paper's 59 to 206 for m >= 1 are its tolerance of 1e-14. */
static void verdict(void)
{
    taut_load how = {.size = sizeof how, .start_text = oxygen};
    check_group("verdict");
    for (int order = 0; order < 3; order++) {
        char options[40];
        snprintf(options, sizeof options, "order=%d", order);
        projected p = project_model("hydrogen_oxygen", &how, options);
        if (projected_good(options, &p))
            check_row(order == 0 ? p.r.ratio > 4e5 && p.r.ratio < 2.5e6 : p.r.ratio < 1000,
                      "order %d: |Jv|/|v| = %g", order, p.r.ratio);
        projected_drop(&p);
    }
}

/* 600 variables: 4 slow decays, a slow rotation, the others fast, by ARPACK or Arnoldi. */
static void many(void)
{
    static const char model[] =
        "[parameters]\nn = 594\n[state]\na[i] for i in 1..4\nx, y\nz[i] for i in 1..n\n[rates]\n"
        "a[i]' = -0.1*i*a[i] for i in 1..4\nx' = -0.25*x - y\ny' = x - 0.25*y\n"
        "z[i]' = (a[1]^2 - z[i])*(200 + i) for i in 1..n\n[start]\na[i] = 1 for i in 1..4\n"
        "x = 1, y = 0\nz[i] = 1 for i in 1..n\n";
    static const double real[] = {-0.1, -0.2, -0.3, -0.4, -0.25, -0.25},
                        imaginary[] = {0, 0, 0, 0, 1, -1};
    taut_error error = {0};
    taut_system *system = NULL;
    taut_options *options = NULL;
    taut_rate rate[10];
    taut_rates_report report;
    taut_rates_report_init(&report);
    check_group("600 variables");
    check_equal("parse", taut_system_parse(model, sizeof model - 1, "many", NULL, &system, &error),
                0);
    check_equal("without a horizon", taut_rates(system, NULL, 10, rate, &report, &error),
                TAUT_ERROR_USAGE);
    check_contains("message", error.message, "it is required");
    taut_options_create(NULL, &options, NULL);
    taut_options_set(options, "horizon", "0.02", NULL);
    int code = taut_rates(system, options, 10, rate, &report, &error);
    if (check_row(code == 0, "rates: %s", error.message)) {
        check_equal("found", report.found, 10);
        check_equal("slow", report.slow, 6);
        for (int k = 0; k < 6; k++) {
            double off = INFINITY; /* ordered by size, to the accuracy of differences */
            for (int j = 0; j < 6; j++)
                off = fmin(off, hypot(rate[j].real - real[k], rate[j].imaginary - imaginary[k]));
            check_below("rate", off, 1e-4);
        }
        check_near("the first fast one", rate[6].real, -201, 2);
        check_row(rate[0].variable[0] == -1, "functions are not found");
    }
    taut_options_destroy(options);
    taut_system_destroy(system);
}

/* Robertson's reactions at the initial state: two rates 0, two different functions. */
static void multiple(void)
{
    check_group("multiple rates");
    rated r = rates_model("robertson", NULL, NULL, NULL);
    if (good("robertson", &r)) {
        check_equal("first", r.rate[0].variable[0], 0);
        check_equal("second", r.rate[1].variable[0], 2);
    }
    drop(&r);
}

int main(void)
{
    eigenvalues();
    table_2();
    check_group("a flow");
    for (int observables = 1; observables <= 3; observables++)
        flow(observables, 0.02);
    flow(2, 0);
    horizons();
    positive();
    verdict();
    many();
    multiple();
    return check_done();
}
