/* radau_study.c - the modified Newton iterations that implicit methods for stiff problems use, to
 * study: one Jacobian of the equations without multipliers, kept for the step.
 *
 *     J = I (x) M + h^2/eps^2 (sum_j a_ij a_jk Hess U(at_i)) + O(h)    [B (8.1)-(8.3), Lemma 8.1]
 *     J0: at_i = y0;   J1: at_i = y0 + c_i h v0;   J2: at_i = stages of the constrained system
 *
 * Multipliers are those of the iterate, lambda = C^-1 (g + T gdot), instead of unknowns; eliminated
 * from the saddle matrix of all stages (radau_whole.c) at these points they leave J. J0 converges
 * for h <= c eps^(2/3) only, J1 for h <= c eps^(1/2); (8.4), the default, for all.
 *
 * r0, r1, r2 keep the outer and inner iterations of a stiff potential apart (radau_potential.c):
 * r^(0) = 0 is corrected that many times [(8.5)-(8.7), Lemma 8.2]. */
#include <string.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "step/radau.h"

int taut_radau_study_create(taut_stepper *s, const char *form, taut_error *error)
{
    taut_radau *w = s->work;
    if (w->outer > 0 && w->rows == 0)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "newton",
                                "%s limits the outer iteration for stiff potentials, which exists "
                                "in slow motion with Radau and Lobatto methods only; choose auto",
                                form);
    if (form[0] != 'J')
        return TAUT_OK;
    w->study = (taut_radau_study_form)(TAUT_STUDY_J0 + (form[1] - '0'));
    bool springs = !s->first_order && w->rows == 0 && !w->stiff;
    for (taut_index i = 0; i < w->m && springs; i++)
        springs = w->compliance[i] > 0;
    if (!springs || w->m == 0)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "newton",
                                "%s has no multipliers: it needs springs, and no rigid bonds, "
                                "first-order systems or stiff potentials; choose auto",
                                form);
    w->rigid = TAUT_NEW(s->arena, double, w->m);
    return taut_arena_check(s->arena, error);
}

void taut_radau_study_tensions(taut_radau *w, const double *jacobian, const double *drift,
                               const double *v, double *lambda)
{
    for (taut_index i = 0; i < w->m; i++) {
        double rate = drift[i] + taut_row_dot(&w->jacobian, jacobian, i, v);
        lambda[i] = (w->bond[i] + w->damping[i] * rate) / w->compliance[i];
    }
}

void taut_radau_study_place(taut_stepper *s, double h)
{
    taut_radau *w = s->work;
    for (int i = 0; i < w->s && w->study != TAUT_STUDY_J2; i++) {
        double *q = w->q + (int64_t)i * w->n;
        taut_copy(w->n, s->now.q, q);
        taut_copy(w->n, s->now.v, w->v + (int64_t)i * w->n);
        if (w->study == TAUT_STUDY_J1)
            taut_add_scaled(w->n, h * w->table.c[i], s->now.v, q);
    }
}
