/* guard_contact.c - guards that no method notices: cut-offs that end smoothly, nearest images. The
 * difference of both fields behind a crossing is d^p; p is measured at the first crossings of each
 * guard, and statements in which it is above that of a kink are evaluated as they are written. */
#include "drive/guard_watch.h"

#include <math.h>

#include "base/vectors.h"

static const double SMOOTH = 1.75; /* order of contact that no step size reveals */
enum { OBSERVED = 3, FEW = 8 };

/* The difference of both fields at a state; c alone crosses. */
static int difference(taut_solver *solver, const taut_crossing *c, const taut_state *x, double h,
                      double *size, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    const taut_stepper *s = &solver->stepper;
    double e;
    taut_guard_keep(solver);
    taut_guard_cross(w, c);
    TAUT_TRY(taut_guard_measure(solver, x, false, h, 1, &e, error));
    *size = isfinite(e) ? taut_largest(s->n, s->first_order ? s->error_q : s->error_v) : NAN;
    return TAUT_OK;
}

/* p of the difference d^p of both fields at a time d behind taut_crossing c, from two times. */
static int find_contact(taut_solver *solver, const taut_crossing *c, double h, double *p,
                        taut_error *error)
{
    static const double NOTHING = 1e-12;
    taut_guard_watch *w = &solver->guards;
    const taut_stepper *s = &solver->stepper;
    double whole, half;
    TAUT_TRY(difference(solver, c, &s->now, h, &whole, error));
    double size = taut_largest(s->n, w->a);
    /* any state behind the crossing will do: the polynomial of the method would cost evaluations */
    taut_dense_points(solver, &s->last, &s->now, (1 + c->theta) / 2);
    TAUT_TRY(difference(solver, c, &solver->probe, h, &half, error));
    *p = whole <= NOTHING * size ? INFINITY : half > 0 ? log2(whole / half) : INFINITY;
    return TAUT_OK;
}

/* May a guard that has not crossed yet have a kink or jump that others of its statement have not?
 * Functions with kinks by nature may; in large families, where to hold them costs something,
 * comparisons and cells are taken to be alike; tables have none. */
static bool may_differ(const taut_guard_family *family)
{
    const taut_guard *guard = family->guard;
    return !guard->of_state || guard->op == TAUT_OP_SIGN || guard->op == TAUT_OP_ABS ||
           guard->op == TAUT_OP_MIN || guard->op == TAUT_OP_MAX ||
           (family->members <= FEW && guard->op != TAUT_OP_CURVE);
}

void taut_guard_drop(taut_solver *solver, int32_t kernel)
{
    taut_guard_watch *w = &solver->guards;
    int32_t left = 0;
    for (int32_t f = 0; f < w->families; f++)
        if (w->family[f].kernel != kernel) {
            w->contact[left] = w->contact[f];
            w->rough[left] = w->rough[f];
            w->family[left++] = w->family[f];
        }
    w->families = left;
    taut_hold_release(solver->context, kernel);
}

/* A statement whose crossings are all smoother than a kink of the force is evaluated as it is
 * written: it costs nothing any more. */
static bool release(taut_solver *solver, int32_t kernel)
{
    taut_guard_watch *w = &solver->guards;
    for (int32_t f = 0; f < w->families; f++) {
        bool smooth = isnan(w->contact[f]) ? !may_differ(&w->family[f]) : w->contact[f] >= SMOOTH;
        if (w->family[f].kernel == kernel && !smooth)
            return false;
    }
    taut_guard_drop(solver, kernel);
    return true;
}

bool taut_guard_release_smooth(taut_solver *solver, const int32_t *smooth, int count)
{
    bool some = false;
    for (int j = 0; j < count; j++)
        some = (smooth[j] >= 0 && release(solver, smooth[j])) || some;
    return some;
}

int taut_guard_classify(taut_solver *solver, double h, const taut_crossing *fresh, int news,
                        int32_t *smooth, taut_error *error)
{
    taut_guard_watch *w = &solver->guards;
    for (int j = 0; j < news; j++) {
        int32_t f = taut_guard_family_of(w, fresh[j].k);
        double p;
        TAUT_TRY(find_contact(solver, &fresh[j], h, &p, error));
        if (p >= SMOOTH || ++w->rough[f] >= OBSERVED)
            w->contact[f] = p;
        smooth[j] = p >= SMOOTH ? w->family[f].kernel : -1;
    }
    return TAUT_OK;
}
