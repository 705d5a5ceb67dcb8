/* stage_path.c - positions of the stages of an explicit method from their accelerations alone,
 * where q' = v:
 *
 *     Q_i = q + h c_i v + h^2 sum_l (A^2)_il A_l,   c_i = sum_j a_ij
 *     [Hairer, Norsett, Wanner I, II.14 (14.6): Nystrom's form of a Runge-Kutta method]
 *
 * and likewise what else is a sum of velocities: the end, estimates, dense output. Large systems
 * then have one array for each stage, not two, and read half as much memory. */
#include "step/explicit.h"

#include <float.h>
#include <math.h>

#include "base/loops.h"

/* Order conditions let many of the sums vanish: what is rounding is 0. */
static double whole(double sum, double size)
{
    enum { ROUNDING = 64 };
    return fabs(sum) <= ROUNDING * DBL_EPSILON * size ? 0 : sum;
}

void taut_stage_path_make(taut_stage_path *path, const taut_tableau *table, int count,
                          const double *weight)
{
    double rates[TAUT_TABLEAU_WIDTH] = {0}, speed = 0, all = 0;
    for (int i = 0; i < count; i++) {
        speed += weight[i];
        all += fabs(weight[i]);
    }
    path->speed = whole(speed, all);
    for (int l = 0; l < table->width; l++) {
        double sum = 0, size = 0;
        for (int i = l + 1; i < count; i++) {
            double term = weight[i] * table->a[i * table->width + l];
            sum += term;
            size += fabs(term);
        }
        rates[l] = whole(sum, size);
    }
    taut_sum_make(&path->rates, table->width, rates);
}

void taut_stage_path_form(const taut_stepper *s, const taut_stage_path *path, const taut_sum *sum,
                          double *const *kq, double *const *kv, double h, const double *q,
                          const double *v, double *out_q, double *out_v)
{
    taut_sum terms = path->rates; /* with other numbers: v is one of them */
    double *k[TAUT_MOST_TERMS];
    for (int j = 0; j < terms.terms; j++) {
        k[j] = kv[terms.term[j]];
        terms.term[j] = j;
        terms.weight[j] *= h;
    }
    if (path->speed != 0) {
        k[terms.terms] = kq[0];
        terms.term[terms.terms] = terms.terms;
        terms.weight[terms.terms++] = path->speed;
    }
    taut_loop_sums(s->pool, s->n, h,
                   (const taut_loop_sum[2]){{&terms, k, q, out_q}, {sum, kv, v, out_v}});
}
