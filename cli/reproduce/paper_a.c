/* paper_a.c - Ariel, Sanz-Serna, Tsai: table 1 and the slow points (33)-(36). */
#include <math.h>

#include "reproduce/reproduce.h"

/* ---- A: table 1 from the initial state (29)-(30), slow points (33)-(36) from (31)-(32) */

static int note_passes(recipe_work *k, const recipe_case *run, int omega)
{
    const double *g, *gdot;
    RECIPE_TRY(recipe_curve(k, "omega = %d", omega));
    for (int pass = 0; taut_projection_pass(run->projection, pass, &g, &gdot, NULL); pass++) {
        RECIPE_TRY(recipe_point(k, pass, log10(fmax(fabs(g[0]), fabs(g[1])))));
        for (int i = 0; i < 2; i++)
            RECIPE_TRY(recipe_note(k, g[i], "omega %d, pass %d, g%d", omega, pass, i + 1));
        for (int i = 0; i < 2; i++)
            RECIPE_TRY(recipe_note(k, gdot[i], "omega %d, pass %d, gdot%d", omega, pass, i + 1));
    }
    return recipe_note(k, (double)run->result.passes, "omega %d, iterations", omega);
}

/* (33)-(36): what is not zero there; and the stretches of section 5.4. */
static int note_slow_point(recipe_work *k, const recipe_case *run, int omega)
{
    const double *q = run->result.q, *v = run->result.v, *g;
    RECIPE_TRY(recipe_note(k, q[0], "slow point, omega %d, x1", omega));
    RECIPE_TRY(recipe_note(k, q[2], "slow point, omega %d, x2", omega));
    RECIPE_TRY(recipe_note(k, v[1], "slow point, omega %d, y1'", omega));
    RECIPE_TRY(recipe_note(k, v[3], "slow point, omega %d, y2'", omega));
    RECIPE_TRY(
        recipe_note(k, (double)run->result.passes, "slow point, omega %d, iterations", omega));
    if (!taut_projection_pass(run->projection, run->result.passes, &g, NULL, NULL))
        return recipe_fail(k, "the projection has no last pass");
    for (int i = 0; i < 2; i++)
        RECIPE_TRY(recipe_note(k, g[i], "slow point, omega %d, g%d", omega, i + 1));
    return 0;
}

int recipe_a_table_1(recipe_work *k)
{
    int status = 0;
    k->labels[0] = "distance from the constraint manifold";
    k->labels[1] = "pass";
    k->labels[2] = "log10 max |g|";
    for (int far = 1; far >= 0; far--)
        for (int omega = 1000; omega <= 10000 && status == 0; omega *= 10) {
            recipe_case run;
            char set[60];
            snprintf(set, sizeof set, "omega=%d%s", omega, far ? "" : " lift=0");
            status = recipe_project(k, &run, "double_pendulum", set, "method=ipa");
            if (status == 0)
                status = far ? note_passes(k, &run, omega) : note_slow_point(k, &run, omega);
            recipe_close(&run);
        }
    return status;
}
