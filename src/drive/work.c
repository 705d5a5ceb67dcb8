/* work.c - work and dissipation of driven and damped systems, from powers sampled where rows are.
 *
 *     d/dt (T + springs) = P - D,   P = v^T f + lambda^T g_t,   D = sum_i (tau_i/c_i) gdot_i^2
 *
 * f contains -grad U, so the work of everything that has no potential, explicit dependence on time
 * included, is the integral of P plus the change of U. Each interval [a, b] of an integral is that
 * of parabolas through three neighbouring samples,
 *
 *     (b - a) (P_a + P_b)/2 - P'' (b - a)^3/12,
 *
 * with P''/2 the mean of the second divided differences on both sides: order 4. Rows that are too
 * far apart for the motion show in what remains of the balance. */
#include "base/rows.h"
#include "drive/solver.h"

int taut_work_create(taut_solver *solver, taut_error *error)
{
    taut_work *w = &solver->ledger.work;
    const taut_sizes *z = &solver->sizes;
    /* f contains inertial forces where the mass varies */
    w->on = solver->ledger.known && !taut_run_space(solver) && !solver->conserves &&
            !(z->can & TAUT_HAS_VARYING_MASS);
    if (!w->on)
        return TAUT_OK;
    TAUT_TRY(TAUT_RESERVE(&solver->arena, z->coordinates, error, &w->values.force));
    TAUT_TRY(TAUT_RESERVE(&solver->arena, z->bonds, error, &w->values.bond_dt));
    TAUT_TRY(TAUT_RESERVE(&solver->arena, z->jacobian_entries, error, &w->values.jacobian));
    return taut_system_pattern(solver->moving, TAUT_PATTERN_JACOBIAN, &w->jacobian, error);
}

/* The next sample, `step` after the latest one, which was `before` after the one before it. */
static void extend(taut_integral *x, int samples, double before, double step, double value)
{
    if (samples > 0) {
        double slope = (value - x->value) / step;
        x->sum += step * (x->value + value) / 2;
        if (samples > 1) {
            double second = (slope - x->slope) / (before + step) / 12,
                   first = second * before * before * before;
            x->tail = second * step * step * step;
            x->sum -= (samples > 2 ? 1 : 2) * first + x->tail;
        }
        x->slope = slope;
    }
    x->value = value;
}

static void close(taut_integral *x)
{
    *x = (taut_integral){.sum = x->sum - x->tail};
}

int taut_work_sample(taut_solver *solver, const taut_state *state, double potential, bool begin,
                     taut_error *error)
{
    taut_work *w = &solver->ledger.work;
    const taut_values *x = &w->values;
    const double *compliance = taut_context_compliance(solver->context),
                 *damping = taut_context_damping(solver->context);
    if (!w->on || (!begin && w->samples > 0 && state->t == w->t))
        return TAUT_OK;
    unsigned wanted = TAUT_WANT_FORCE | (solver->sizes.bonds > 0 ? TAUT_WANT_JACOBIAN : 0);
    TAUT_TRY(taut_evaluate_inside(solver->context, state->t, state->q, state->v, wanted, &w->values,
                                  error));
    double power = 0, loss = 0;
    for (taut_index i = 0; i < solver->sizes.coordinates; i++)
        power += state->v[i] * x->force[i];
    for (taut_index i = 0; i < solver->sizes.bonds; i++) {
        power += state->lambda[i] * x->bond_dt[i];
        if (damping[i] > 0) {
            double rate = x->bond_dt[i] + taut_row_dot(&w->jacobian, x->jacobian, i, state->v);
            loss += damping[i] / compliance[i] * rate * rate;
        }
    }
    if (begin) {
        close(&w->power);
        close(&w->loss);
        w->samples = 0;
    } else {
        w->gained += potential - w->potential;
    }
    double step = state->t - w->t;
    extend(&w->power, w->samples, w->step, step, power);
    extend(&w->loss, w->samples, w->step, step, loss);
    w->samples++;
    w->step = step;
    w->t = state->t;
    w->potential = potential;
    return TAUT_OK;
}

void taut_work_get(const taut_work *w, double *gained, double *lost)
{
    *gained = w->power.sum - w->power.tail + w->gained;
    *lost = w->loss.sum - w->loss.tail;
}
