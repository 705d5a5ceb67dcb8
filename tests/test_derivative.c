/* test_derivative.c - projections derivative and brute: the exact condition of Gear, Kaper,
 * Kevrekidis, Zagaris 2005, (1.9), with the values of docs/sources.md, D; and the failure of
 * integrating down to the manifold, introduction. */
#include <taut/taut.h>

#include "support/project.h"

static void exact(void)
{
    static const double expected[] = {0.5, .5030491206269487, .5030316262326032, .503031503683772,
                                      .5030315117764151};
    static const char *const names[] = {"anderson", "newton", "plain"};
    check_group("the exact condition, eps = 0.1");
    for (int order = 0; order < 5; order++)
        for (int k = 0; k < 3; k++) {
            char options[80];
            snprintf(options, sizeof options, "method=derivative order=%d iterate=%s", order,
                     names[k]);
            projected p = project_model("michaelis_menten", NULL, options);
            if (projected_good(options, &p)) {
                int64_t jets = 0;
                for (int m = 0; m <= order; m++)
                    jets += p.stage[m].iterations * (m + 1);
                check_near(options, p.r.q[1], expected[order], 2e-13);
                check_equal("jets", p.r.statistics.jets, jets);
                if (k < 2)
                    check_row(p.stage[order].iterations <= 10, "%s: %lld evaluations", options,
                              (long long)p.stage[order].iterations);
            }
            projected_drop(&p);
        }
    projected p = project_model("hydrogen_oxygen", NULL, "method=derivative order=0");
    check_equal("before the ignition", p.code, TAUT_ERROR_CONVERGE);
    projected_drop(&p);
    /* explicit time: y' = (sin t - y)/eps at t = 0, slow solution -eps/(1 + eps^2) */
    static const char forced[] = "[state]\nx, y\n[rates]\nx' = 0\ny' = 50*(sin(t) - y)\n"
                                 "[observables]\nx\n";
    p = project_model(forced, NULL, "method=derivative order=6");
    if (projected_good("forced", &p))
        check_near("forced", p.r.q[1], -0.02 / (1 + 0.0004), 1e-11);
    projected_drop(&p);
}

static void brute(void)
{
    static const char intro[] =
        "[parameters]\neps = 1e-3\n[state]\nu, v, w\n[rates]\nu' = -(u + w)/(2*eps)\nv' = -1\n"
        "w' = -(u + w)/(2*eps)\n[stepper]\nstep = eps/2\nhorizon = 2*eps\n[observables]\nu, v\n"
        "[start]\nu = 3, v = 2, w = 5\n";
    check_group("brute force");
    projected p = project_model(intro, NULL, "method=brute");
    if (projected_good("introduction", &p)) {
        double moved = hypot(p.r.q[0] - 3, p.r.q[2] - 5);
        check_near("u = (u0 - w0)/2", p.r.q[0], -1, 1e-9);
        check_near("w = (w0 - u0)/2", p.r.q[2], 1, 1e-9);
        check_near("distance |u0 + w0|/sqrt 2", moved, 8 / sqrt(2), 1e-9);
        check_contains("introduction", p.r.explanation, "u from 3 to -1");
    }
    projected_drop(&p);
    p = project_model(intro, NULL, "method=difference order=1");
    if (projected_good("difference", &p))
        check_near("w = -u0 for the u that was given", p.r.q[2], -3, 1e-12);
    projected_drop(&p);
    p = project_model("michaelis_menten", NULL, "method=brute");
    if (projected_good("Michaelis-Menten", &p)) {
        double x = p.r.q[0];
        check_row(x < 0.9, "the observable has moved to %g", x);
        /* (4.3) there, to O(eps^3) */
        check_near("on the slow manifold", p.r.q[1],
                   x / (x + 1) + 0.05 * x / pow(x + 1, 4) -
                       0.005 * x * (1.5 * x + x) / pow(x + 1, 7),
                   2e-4);
    }
    projected_drop(&p);
    p = project_model("michaelis_menten", NULL, "method=brute passes=3");
    projected_refused("too few", &p, TAUT_ERROR_CONVERGE, "not slow after 3 uses");
}

int main(void)
{
    exact();
    brute();
    return check_done();
}
