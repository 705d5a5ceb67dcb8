/* outer_kicks.c - outer steps of order 4 for the impulse methods (option outer-order).
 *
 *     kick(b1 h) flow(d1 h) kick(b2 h) flow(d2 h) kick*(b3 h) and back
 *
 *     b1 = 1/20, b2 = 49/180, b3 = 16/45, d1 = 1/2 - sqrt(3/7)/2, d2 = sqrt(3/7)/2
 *     kick*:  v+ = v + b3 h (a + gamma h^2 a'(x) a(x)), gamma = (3861 - 791 sqrt(21))/11520
 *     [SBAB_4 of Laskar, Robutel 2001; a'a: Takahashi, Imada 1984, Chin 1997]
 *
 * Lobatto's formula along the fast flow integrates what is of first order in a to order 8, also the
 * oscillations that a step does not resolve; the derivative of a along itself what is of second
 * order. A force of rate w alone has the frequency w (1 - (h w)^4/36300), where kicks at distance h
 * make w (1 + (h w)^2/24) of it. gamma makes the trace of a step right for the oscillator to that
 * order: sum_{i<j} b_i b_j d_ij (1 - d_ij) + b3 gamma = 1/12, d_ij distances of kicks. The place of
 * a'a is free; Laskar and Robutel have it at the ends. Where a = -M^-1 grad U, a'a is M^-1 times
 * the gradient of |grad U|^2/2 in the norm of M^-1, and steps stay symplectic; they are
 * time-reversible in any case.
 *
 * a'a is a difference over 1e-5 of gamma h^2 a, of which truncation and rounding leave 1e-7, or
 * 1e-9 of the kick. Steps have five evaluations of a, the last of which the next one begins with.
 * Since kicks have unequal weights, oscillations are in resonance at h Omega = pi, as with one kick
 * in a step. Where M depends on x, or there are rigid bonds, a'a is a covariant derivative:
 * refused. */
#include <string.h>

#include "base/vectors.h"
#include "step/impulse.h"

/* a <- a + gamma h^2 a'(x) a at next_x */
static int bend(taut_impulse *w, double t, double h, double *restrict a, taut_error *error)
{
    static const double part = 1e-5, gamma = 0.020501964000862058;
    const double length = part * gamma * h * h;
    const taut_index n = w->mechanics.n;
    for (taut_index i = 0; i < n; i++)
        w->near_x[i] = w->next_x[i] + length * a[i];
    TAUT_TRY(taut_impulse_kick(w, t, w->near_x, w->near_a, error));
    for (taut_index i = 0; i < n; i++)
        a[i] += (w->near_a[i] - a[i]) / part;
    return TAUT_OK;
}

static void push(taut_impulse *w, double h, const double *restrict a)
{
    for (taut_index i = 0; i < w->mechanics.n; i++)
        w->next_v[i] += h * a[i];
}

int taut_impulse_advance_4(taut_impulse *w, double t, double h, taut_error *error)
{
    enum { FLOWS = 4, MIDDLE = 2 };
    static const double place[FLOWS + 1] = {0, 0.17267316464601143, 0.5, 0.8273268353539886, 1},
                                      weight[FLOWS + 1] = {1. / 20, 49. / 180, 16. / 45, 49. / 180,
                                                           1. / 20};
    push(w, weight[0] * h, w->kick);
    for (int k = 1; k <= FLOWS; k++) {
        const double before = t + place[k - 1] * h, now = t + place[k] * h;
        TAUT_TRY(taut_impulse_vibrate(w, before, (place[k] - place[k - 1]) * h, error));
        TAUT_TRY(taut_impulse_kick(w, now, w->next_x, w->next_kick, error));
        if (k == MIDDLE)
            TAUT_TRY(bend(w, now, h, w->next_kick, error));
        push(w, weight[k] * h, w->next_kick);
    }
    return TAUT_OK;
}

taut_kick_error taut_kick_error_of(const taut_options *options)
{
    /* twice the relative errors of the frequency; of order 4 twice that, for forces that are not
     * linear */
    static const taut_kick_error two = {2, 12, 1}, four = {4, 9000, 16. / 45};
    return options && strcmp(taut_options_text(options, "outer-order"), "4") == 0 ? four : two;
}

int taut_impulse_choose_order(taut_impulse *w, const char *who, bool adiabatic, taut_error *error)
{
    const taut_stepper *stepper = w->stepper;
    w->fourth = taut_kick_error_of(stepper->options).order == 4;
    if (!w->fourth)
        return TAUT_OK;
    if (w->general || adiabatic)
        return taut_fail_option(
            error, TAUT_ERROR_REFUSED, "outer-order",
            "%s has kicks of order 4 with constant masses, without rigid bonds and forces that "
            "depend on velocities, and with micro-steps of method verlet; omit it",
            who);
    return TAUT_RESERVE(stepper->arena, w->mechanics.n, error, &w->near_x, &w->near_a);
}
