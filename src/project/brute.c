/* brute.c - the state that the flow itself reaches when its fast parts have decayed: what a
 * projection is compared with [D introduction]. It is slow, but its observables are not those that
 * were given, and it belongs to a later time.
 *
 *     r_k = |z_{k+2} - 2 z_{k+1} + z_k| / |z_{k+1} - z_k|
 *
 * falls while fast parts decay, and stays where slow ones alone are left. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/inside.h"
#include "base/vectors.h"
#include "project/difference.h"

enum { MOST = 100000, SETTLED = 3 }; /* uses of the flow; with a ratio that does not fall */

static const double slow_ratio = 0.02;

/* |a - 2 b + c| and |b - c|, each variable in units of its scale. */
static void changes(const taut_difference *w, const double *a, const double *b, const double *c,
                    double *second, double *first)
{
    double sum = 0, step = 0;
    for (taut_index i = 0; i < w->held.n; i++) {
        double change = (a[i] - 2 * b[i] + c[i]) / w->scale[i], v = (b[i] - c[i]) / w->scale[i];
        sum += change * change;
        step += v * v;
    }
    *second = sqrt(sum);
    *first = sqrt(step);
}

static int advance(taut_difference *w, int64_t k, const double *from, double *to, taut_error *error)
{
    taut_copy(w->held.n, from, to);
    return w->flow->advance(w->flow, w->p->in->t + (double)k * w->horizon, w->horizon, to, error);
}

/* The observable or invariant that has changed most, in the explanation. */
static int explain_moved(taut_difference *w, const double *start, taut_error *error)
{
    taut_projection *p = w->p;
    taut_index most = -1;
    double far = -1;
    taut_values now = {.bond = w->held.value};
    TAUT_TRY(
        taut_evaluate_inside(p->in->context, p->in->t, p->q, NULL, TAUT_WANT_BOND, &now, error));
    taut_index m = p->in->sizes.bonds; /* invariants are first */
    for (taut_index i = m - p->in->sizes.observables; i < m; i++)
        if (fabs(w->held.value[i] - w->held.target[i]) > far) {
            far = fabs(w->held.value[i] - w->held.target[i]);
            most = i;
        }
    char name[100] = "";
    if (most >= 0)
        taut_system_name(p->in->system, TAUT_BOND, most, name, sizeof name);
    if (most >= 0)
        taut_explain_more(p, "; observables moved, most of all %.60s from %.6g to %.6g", name,
                          w->held.target[most], w->held.value[most]);
    taut_explain_more(p, "; the state moved by %.3g",
                      taut_largest_difference(w->held.n, start, p->q));
    return TAUT_OK;
}

int taut_difference_brute(taut_difference *w, double *start, taut_error *error)
{
    taut_projection *p = w->p;
    taut_index n = w->held.n;
    double *one = w->work, *two = w->next, second, first, before = INFINITY;
    int64_t limit = w->limit ? w->limit : MOST, k = 0;
    int settled = 0;
    taut_copy(n, p->q, start);
    TAUT_TRY(advance(w, 0, p->q, one, error));
    for (taut_index i = 0; i < n; i++)
        w->scale[i] = fmax(fmax(fabs(p->q[i]), fabs(one[i])), 1e-3 * taut_largest(n, one));
    for (; k < limit && settled < SETTLED; k++) {
        TAUT_TRY(advance(w, k + 1, one, two, error));
        changes(w, two, one, p->q, &second, &first);
        double ratio = first > 0 ? second / first : 0;
        settled = ratio == 0 || (ratio < slow_ratio && ratio > 0.8 * before) ? settled + 1 : 0;
        before = ratio;
        taut_copy(n, one, p->q);
        taut_copy(n, two, one);
    }
    w->noise = DBL_EPSILON * taut_largest(n, one); /* rounding */
    if (settled < SETTLED)
        return taut_fail(
            error, TAUT_ERROR_CONVERGE,
            "the motion is not slow after %lld uses of the flow: it changes by %.2g of "
            "its rate in each",
            (long long)k, before);
    taut_explain(p,
                 "projection brute: the flow itself, up to t = %.6g, where its rate changes by "
                 "%.2g in a horizon of %.6g",
                 p->in->t + (double)k * w->horizon, before, w->horizon);
    return explain_moved(w, start, error);
}
