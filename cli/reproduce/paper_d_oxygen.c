/* paper_d_oxygen.c - Gear, Kaper, Kevrekidis, Zagaris: the introduction's failure of integrating
 * down to the manifold, and section 4.2, hydrogen and oxygen, tables 2 to 5. */
#include <math.h>
#include <string.h>

#include "reproduce/reproduce.h"

/* ---- introduction: fast motion along u + w changes the observable u */

static int introduction(recipe_work *k)
{
    static const char model[] =
        "[parameters]\neps = 1e-3\n[state]\nu, v, w\n[rates]\nu' = -(u + w)/(2*eps)\nv' = -1\n"
        "w' = -(u + w)/(2*eps)\n[stepper]\nstep = eps/2\nhorizon = 2*eps\n[observables]\nu, v\n"
        "[start]\nu = 3, v = 2, w = 5\n";
    recipe_case run;
    int status = recipe_project(k, &run, model, "", "method=brute");
    if (status == 0)
        status = recipe_note(k, hypot(run.result.q[0] - 3, run.result.q[2] - 5),
                             "introduction, brute force, distance");
    if (status == 0)
        status = recipe_note(k, run.result.q[0], "introduction, brute force, u");
    recipe_close(&run);
    if (status == 0)
        status = recipe_project(k, &run, model, "", "method=difference order=1");
    if (status == 0)
        status = recipe_note(k, run.result.q[2], "introduction, difference, w");
    recipe_close(&run);
    return status;
}

/* ---- tables 2 and 3 */

static const char *const species[] = {"O2", "H", "OH", "O", "H2", "H2O", "HO2"};
/* table 3, as initial values */
const char recipe_d_table_3[] =
    "start:O2=4.2783465727e-13 start:H=3.9878034748e-8 start:OH=1.3883748623e-10 "
    "start:O=1.1300067412e-11 start:H2=4.4019256520e-7 start:H2O=3.9848995981e-8 "
    "start:HO2=5.3981503775e-15";

static int eigenvalues(recipe_work *k)
{
    recipe_case run;
    taut_rate rate[7];
    taut_rates_report report;
    taut_rates_report_init(&report);
    int status = recipe_open(k, &run, "hydrogen_oxygen", recipe_d_table_3, "");
    if (status == 0)
        status = taut_rates(run.system, NULL, 7, rate, &report, &k->error);
    for (int i = 0; i < 5 && status == 0; i++)
        status = recipe_note(k, rate[6 - i].real, "table 2, eigenvalue %d", i + 1);
    if (status == 0)
        status = recipe_note(k, report.slow, "table 2, dimension");
    recipe_close(&run);
    return status;
}

static int concentrations(recipe_work *k)
{
    recipe_case run;
    int status =
        recipe_run(k, &run, "hydrogen_oxygen", "", "method=radau5 rtol=1e-11 until=1.2764e-3");
    if (status == 0)
        status = taut_solver_advance(run.solver, 1.2764e-3, &k->error);
    for (int i = 0; i < 7 && status == 0; i++)
        status = recipe_note(k, taut_solver_position(run.solver)[i], "table 3, %s", species[i]);
    recipe_close(&run);
    return status;
}

/* ---- tables 4 and 5: H and OH follow from the balances, as in the paper */

static const char reduced[] =
    "[parameters]\nk1f = 1.0136e12, k1b = 1.1007e13\nk2f = 3.5699e12, k2b = 3.2105e12\n"
    "k3f = 4.7430e12, k3b = 1.8240e11\nk4f = 6.0000e13\nk5f = 6.2868e15\n"
    "k8f = 6.5325e12, k8b = 3.1906e11\nmu = 2.4e-7\n"
    "oxygen = 2*4.2783465727e-13 + 1.3883748623e-10 + 1.1300067412e-11 + 3.9848995981e-8 + "
    "2*5.3981503775e-15\n"
    "hydrogen = 3.9878034748e-8 + 1.3883748623e-10 + 2*4.4019256520e-7 + 2*3.9848995981e-8 + "
    "5.3981503775e-15\n"
    "[state]\nO2, O, H2, H2O, HO2\n[definitions]\nOH = oxygen - (2*O2 + O + H2O + 2*HO2)\n"
    "H = hydrogen - (OH + 2*H2 + 2*H2O + HO2)\n"
    "r1 = k1f*O2*H - k1b*OH*O\nr2 = k2f*O*H2 - k2b*H*OH\nr3 = k3f*OH*H2 - k3b*H*H2O\n"
    "r4 = k4f*OH*HO2\nr5 = mu*k5f*O2*H\nr8 = k8f*OH^2 - k8b*O*H2O\n"
    "[rates]\nO2' = -r1 + r4 - r5\nO' = r1 - r2 + r8\nH2' = -r2 - r3\nH2O' = r3 + r4 + r8\n"
    "HO2' = -r4 + r5\n[stepper]\nmethod = radau5\nstep = 1e-6\nhorizon = 2e-5\n"
    "[observables]\nH2\n[start]\nO2 = 4.2783465727e-13, O = 1.1300067412e-11, H2 = "
    "4.4019256520e-7, H2O = 3.9848995981e-8, HO2 = 5.3981503775e-15\n";

/* |J f|/|f| in all seven variables, from the equations; y: the five of the reduced model. */
static int norm_ratio(recipe_work *k, const double *y, double *ratio)
{
    enum { N = 7 };
    const double a[N] = {4.2783465727e-13, 3.9878034748e-8, 1.3883748623e-10, 1.1300067412e-11,
                         4.4019256520e-7,  3.9848995981e-8, 5.3981503775e-15};
    double z[N] = {y[0], 0, 0, y[1], y[2], y[3], y[4]}, rate[N] = {0}, entry[N * N], top = 0,
           bottom = 0;
    recipe_case run;
    taut_context *context = NULL;
    taut_pattern tangent;
    taut_values values = {.size = sizeof values, .force = rate, .force_dq = entry};
    z[2] = 2 * a[0] + a[2] + a[3] + a[5] + 2 * a[6] - (2 * z[0] + z[3] + z[5] + 2 * z[6]);
    z[1] = a[1] + a[2] + 2 * a[4] + 2 * a[5] + a[6] - (z[2] + 2 * z[4] + 2 * z[5] + z[6]);
    int status = recipe_open(k, &run, "hydrogen_oxygen", "", "");
    if (status == 0)
        status = taut_context_create(run.system, NULL, &context, &k->error);
    if (status == 0)
        status = taut_system_pattern_get(run.system, TAUT_PATTERN_TANGENT, &tangent, &k->error);
    if (status == 0)
        status = taut_evaluate(context, 0, z, NULL, TAUT_WANT_FORCE | TAUT_WANT_FORCE_DQ, &values,
                               &k->error);
    for (int i = 0; i < N && status == 0; i++) {
        double product = 0;
        for (taut_index j = tangent.start[i]; j < tangent.start[i + 1]; j++)
            product += entry[j] * rate[tangent.column[j]];
        top += product * product;
        bottom += rate[i] * rate[i];
    }
    *ratio = sqrt(top / bottom);
    taut_context_destroy(context);
    recipe_close(&run);
    return status;
}

static int constrained(recipe_work *k, int order)
{
    double ratio = 0;
    recipe_case run;
    char options[60];
    snprintf(options, sizeof options, "method=difference order=%d tolerance=1e-17", order);
    int status = recipe_project(k, &run, reduced, "", options);
    if (status == 0)
        status = recipe_note(k, run.result.q[1] - 1.1300067412e-11, "table 4, m = %d", order);
    if (status == 0)
        status = norm_ratio(k, run.result.q, &ratio);
    if (status == 0)
        status = recipe_note(k, ratio, "table 5, m = %d", order);
    if (status == 0)
        status = recipe_point(k, order, log10(ratio));
    recipe_close(&run);
    return status;
}

int recipe_d_hydrogen_oxygen(recipe_work *k)
{
    k->labels[0] = "Hydrogen and oxygen: |Jv|/|v| (table 5)";
    k->labels[1] = "m";
    k->labels[2] = "log10 |Jv|/|v|";
    RECIPE_TRY(introduction(k));
    RECIPE_TRY(eigenvalues(k));
    RECIPE_TRY(concentrations(k));
    RECIPE_TRY(recipe_curve(k, "H = 2e-5"));
    for (int order = 0; order <= 4; order++)
        RECIPE_TRY(constrained(k, order));
    return 0;
}
