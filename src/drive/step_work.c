/* step_work.c - the balance of a step where forces or damping do work: the change of an energy
 * against work by the stages of the method, as if W' = P were one more of its equations, with its
 * order and, where it has one, its estimated error:
 *
 *     H(t1) - H(t0) = W + errors,    W = h sum_j b_j P_j
 *
 * Explicit methods with constant M:  H = T = v^T M v/2,  P = v^T M v', which is the power of all
 * forces and costs no evaluation.
 *
 * Varying M, and Radau methods, whose W by v^T M v' exceeds the change of T by the square of the
 * highest coefficient of v, whatever the forces are:
 *
 *     H = T + U (+ springs),    P = v^T f_d + bonds + v^T (dM/dt) v/2
 *
 * with U at the ends of the step only, and f_d evaluated again, of what has no constant potential.
 * A kinetic energy T(q, v) needs no last term: inertial forces do that work. Bonds have
 * lambda^T (g_t - gdot), with the multipliers of the stages, whose velocities across stiff bonds
 * have the error O(h^s): in this sum it stands against that of v^T f. Where springs are part of H,
 * in full motion and with explicit methods, lambda^T g_t - sum_i (tau_i/c_i) gdot_i^2.
 *
 * Allowed is what the tolerance allows of H (ledger.c), and a multiple of the error of W. Over many
 * steps the unexplained changes may be a part of the kinetic energy and of the work done. Not
 * compared: radau1, whose W has the error of all it computes; a stiff potential; M that depends on
 * t, or is a function in C; with varying M and explicit methods, moving rigid bonds, whose
 * multipliers stages do not have, slow motion and friction that sticks.
 *
 * In good runs of the shipped models the difference is up to 25 times tol times T, most below 3,
 * and in sum up to 5 times tol times the work done once 10 steps were made; of 1359 runs by
 * Radau methods 1189 stay below 0.02 of what is allowed. */
#include "drive/solver.h"

#include <float.h>
#include <math.h>

#include "base/inside.h"
#include "base/rows.h"
#include "base/vectors.h"
#include "system/fused.h"

static const double QUADRATURE = 10; /* times the estimated error of W */
static const double DRIFT = 0.3;     /* of the kinetic energy, over many steps */
static const double LOST = 0.1;      /* times what a step may lose, of the work done */

static const double FAR = 10;    /* as in ledger.c */
static const double MANY = 1000; /* steps of a run whose end is not known */
static const double LONGER = 2;  /* steps that are longer than the one compared are compared */
static const double ROUNDING = 64 * DBL_EPSILON;
/* steps that may follow uncompared while none is rejected; where the balance is excellent, also
 * when one is, until SOME remain */
enum { SOME = 2, MORE = 5, MOST = 19 };

/* Can the energies and powers of nodes be known? */
static bool has_powers(const taut_solver *solver)
{
    const unsigned can = solver->sizes.can, rigid = TAUT_HAS_MOVING_BONDS | TAUT_HAS_RIGID;
    if (!taut_system_energies(solver->moving) || solver->stepper.method->order < 2)
        return false;
    return !solver->stepper.method->uses_field ||
           ((can & rigid) != rigid && solver->motion != TAUT_MOTION_SLOW &&
            !solver->guards.sliding);
}

/* Room, once. */
static int reserve(taut_solver *solver, taut_step_work *w, taut_error *error)
{
    const taut_sizes *z = &solver->sizes;
    const int64_t entries = w->tangent.rows > 0 ? w->tangent.start[w->tangent.rows] : 0;
    if (w->product)
        return TAUT_OK;
    TAUT_TRY(TAUT_RESERVE(&solver->arena, z->coordinates, error, &w->product));
    TAUT_TRY(TAUT_RESERVE(&solver->arena, entries, error, &w->matrix));
    TAUT_TRY(TAUT_RESERVE(&solver->arena, w->fresh_bonds ? z->jacobian_entries : 0, error,
                          &w->bonds.jacobian));
    return TAUT_RESERVE(&solver->arena, w->fresh_bonds ? z->bonds : 0, error, &w->bonds.bond,
                        &w->bonds.bond_dt);
}

int taut_step_work_create(taut_solver *solver, taut_error *error)
{
    taut_step_work *w = &solver->ledger.step;
    const taut_stepper *s = &solver->stepper;
    const unsigned can = solver->sizes.can, moves = TAUT_HAS_DAMPING | TAUT_HAS_MOVING_BONDS;
    w->t = NAN;
    w->mass = taut_context_mass(solver->context);
    w->inertia = can & TAUT_HAS_VARYING_MASS && !(can & TAUT_HAS_KINETIC);
    w->powers = !s->method->uses_field || can & TAUT_HAS_VARYING_MASS;
    w->raw =
        w->powers && !s->method->uses_field && can & TAUT_HAS_MOVING_BONDS && can & TAUT_HAS_RIGID;
    w->springs = w->powers && (s->method->uses_field || solver->motion == TAUT_MOTION_FULL);
    w->fresh_bonds = w->powers && s->method->uses_field && can & moves;
    w->on = solver->control.on && !taut_run_space(solver) && (solver->ledger.known || w->inertia) &&
            !s->first_order && !solver->averaged && !solver->conserves && s->method->node &&
            (!w->powers || has_powers(solver));
    if (!w->on)
        return TAUT_OK;
    TAUT_TRY(taut_system_pattern(solver->moving, TAUT_PATTERN_JACOBIAN, &w->jacobian, error));
    if (w->powers ? w->inertia : !w->mass)
        TAUT_TRY(taut_system_pattern(solver->moving, TAUT_PATTERN_TANGENT, &w->tangent, error));
    TAUT_TRY(reserve(solver, w, error));
    taut_values values = {.mass = w->matrix};
    return w->powers || w->mass ? TAUT_OK
                                : taut_evaluate_inside(solver->context, s->now.t, s->now.q,
                                                       s->now.v, TAUT_WANT_MASS, &values, error);
}

/* x^T M y with constant M; without a diagonal M y stays in w->product. */
static double mass_product(const taut_solver *solver, const double *x, const double *y)
{
    const taut_step_work *w = &solver->ledger.step;
    const taut_index n = solver->stepper.n;
    if (w->mass)
        return taut_power(n, w->mass, x, y);
    double sum = 0;
    for (taut_index i = 0; i < n; i++)
        sum += x[i] * (w->product[i] = taut_row_dot(&w->tangent, w->matrix, i, y));
    return sum;
}

/* H of a state, and the part of it by which errors are measured. */
static int find_energy(taut_solver *solver, double t, const double *q, const double *v,
                       taut_step_energy *to, taut_error *error)
{
    const taut_step_work *w = &solver->ledger.step;
    taut_values e = {0};
    double driving = 0;
    const double *tape;
    *to = (taut_step_energy){0};
    if (!w->powers) {
        to->sum = to->held = mass_product(solver, v, v) / 2;
        return TAUT_OK;
    }
    if ((tape = taut_ledger_tape(solver, t, q, v))) {
        e.kinetic = tape[TAUT_FUSED_KINETIC];
        e.potential = tape[TAUT_FUSED_POTENTIAL];
        e.bond_energy = tape[TAUT_FUSED_SPRINGS];
        driving = tape[TAUT_FUSED_DRIVING];
    } else {
        TAUT_TRY(taut_evaluate_inside(solver->context, t, q, v, TAUT_WANT_ENERGY, &e, error));
        TAUT_TRY(taut_evaluate_driving(solver->context, t, q, v, NULL, &driving, error));
    }
    to->held = e.kinetic + (w->springs ? e.bond_energy : 0);
    to->sum = to->held + e.potential - driving;
    to->rounding = ROUNDING * (to->held + fabs(e.potential) + fabs(driving));
    return TAUT_OK;
}

/* The power of bonds at a node. */
static int bond_power(taut_solver *solver, const taut_step_node *node, double *power,
                      taut_error *error)
{
    taut_step_work *w = &solver->ledger.step;
    const double *c = taut_context_compliance(solver->context),
                 *tau = taut_context_damping(solver->context), *jacobian = node->jacobian,
                 *bond_dt = node->bond_dt;
    if (!node->lambda && !w->fresh_bonds)
        return TAUT_OK;
    if (!node->lambda) {
        TAUT_TRY(taut_evaluate_inside(solver->context, node->t, node->q, node->v,
                                      TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &w->bonds, error));
        jacobian = w->bonds.jacobian;
        bond_dt = w->bonds.bond_dt;
    }
    for (taut_index i = 0; i < solver->stepper.m; i++) {
        double along = taut_row_dot(&w->jacobian, jacobian, i, node->v), rate = along + bond_dt[i];
        if (w->springs && c[i] > 0) {
            double lambda =
                node->lambda ? node->lambda[i] : (w->bonds.bond[i] + tau[i] * rate) / c[i];
            *power += lambda * bond_dt[i] - tau[i] / c[i] * rate * rate;
        } else if (node->lambda)
            *power -= node->lambda[i] * along;
    }
    return TAUT_OK;
}

/* v^T (dM/dt) v/2, of a mass without inertial forces. */
static int inertia_power(taut_solver *solver, const taut_step_node *node, double *power,
                         taut_error *error)
{
    const taut_step_work *w = &solver->ledger.step;
    taut_values values = {.mass_dq = w->matrix, .mass_weight = node->v};
    TAUT_TRY(taut_evaluate_inside(solver->context, node->t, node->q, node->v, TAUT_WANT_MASS_DQ,
                                  &values, error));
    for (taut_index i = 0; i < solver->stepper.n; i++)
        *power += node->v[i] * taut_row_dot(&w->tangent, w->matrix, i, node->v) / 2;
    return TAUT_OK;
}

static int find_power(taut_solver *solver, const taut_step_node *node, double *power,
                      taut_error *error)
{
    const taut_step_work *w = &solver->ledger.step;
    *power = 0;
    if (!w->powers) {
        *power = mass_product(solver, node->v, node->a);
        return TAUT_OK;
    }
    TAUT_TRY(
        taut_evaluate_driving(solver->context, node->t, node->q, node->v, w->product, NULL, error));
    *power = taut_dot(solver->stepper.n, node->v, w->product);
    if (w->inertia)
        TAUT_TRY(inertia_power(solver, node, power, error));
    return bond_power(solver, node, power, error);
}

/* H at the end. Along moving rigid bonds the velocity was corrected by O(h^s) where it is not 0:
 * that of the last stage is compared, and the change is no work of forces. */
static int find_end(taut_solver *solver, taut_step_energy *to, taut_error *error)
{
    const taut_step_work *w = &solver->ledger.step;
    taut_stepper *s = &solver->stepper;
    taut_step_node node = {.v = s->now.v};
    for (int j = 0; w->raw && s->method->node(s, j, false, &node); j++)
        continue; /* to the last one */
    return find_energy(solver, s->now.t, s->now.q, node.v, to, error);
}

/* W; *off: its estimated error, formed as those of q and v; *large: sum of |h b_j P_j|. */
static int find_work(taut_solver *solver, double *work, double *off, double *large,
                     taut_error *error)
{
    const taut_step_work *w = &solver->ledger.step;
    taut_stepper *s = &solver->stepper;
    taut_step_node node;
    double five = 0, three = 0;
    bool joined = false;
    *work = *large = 0;
    for (int j = 0; s->method->node(s, j, w->powers, &node); j++) {
        double power;
        if (node.weight == 0 && node.error == 0 && node.error_3 == 0)
            continue;
        TAUT_TRY(find_power(solver, &node, &power, error));
        power *= node.h;
        *work += node.weight * power;
        five += node.error * power;
        three += node.error_3 * power;
        *large += fabs(node.weight * power);
        joined |= node.error_3 != 0;
    }
    double all = sqrt(five * five + 0.01 * three * three);
    *off = (joined && all > 0 ? fabs(five) / all : 1) * fabs(five);
    return TAUT_OK;
}

/* The forces of bonds at the end of a step, where stages keep them. */
static double bond_forces(taut_solver *solver)
{
    const taut_step_work *w = &solver->ledger.step;
    taut_stepper *s = &solver->stepper;
    taut_step_node node = {0};
    double sum = 0;
    for (int j = 0; s->method->node(s, j, false, &node); j++)
        continue; /* to the last one */
    for (taut_index i = 0; node.lambda && i < s->m; i++)
        sum += fabs(node.lambda[i]) * taut_row_size(&w->jacobian, node.jacobian, i, NULL);
    return sum;
}

/* |F| |q| of all forces F, the larger at both ends; constant M: |M v'| |q|. */
static int work_scale(taut_solver *solver, double *scale, taut_error *error)
{
    const taut_step_work *w = &solver->ledger.step;
    const taut_stepper *s = &solver->stepper;
    const taut_state *end[] = {&s->last, &s->now};
    *scale = 0;
    for (int k = 0; k < 2; k++) {
        double sum = 0, size = taut_largest(s->n, end[k]->q);
        if (w->powers) {
            TAUT_TRY(taut_ledger_work_scale(solver, end[k], &sum, error));
            sum += bond_forces(solver) * size;
        } else {
            mass_product(solver, end[k]->a, end[k]->a);
            for (taut_index i = 0; i < s->n; i++)
                sum += size * fabs(w->mass ? w->mass[i] * end[k]->a[i] : w->product[i]);
        }
        *scale = isfinite(sum) ? fmax(*scale, sum) : *scale;
    }
    return TAUT_OK;
}

/* The kinetic energy of velocities that are too small to count: from rest the scale of positions,
 * by which atol is chosen, over the time of the run, or what pulses give. */
static int negligible(taut_solver *solver, double h, double *energy, taut_error *error)
{
    const taut_step_work *w = &solver->ledger.step;
    const taut_stepper *s = &solver->stepper;
    double length = fabs(solver->until - solver->from),
           speed = s->atol / s->rtol / (isfinite(length) ? length : MANY * fabs(h));
    const double *pulse = solver->pulses.count > 0 ? solver->pulses.speed : NULL;
    taut_values e = {0};
    for (taut_index i = 0; i < s->n; i++)
        s->error_q[i] = fmax(speed, pulse ? pulse[i] : 0); /* scratch, as in ledger.c */
    if (w->powers)
        TAUT_TRY(taut_evaluate_inside(solver->context, s->now.t, s->now.q, s->error_q,
                                      TAUT_WANT_ENERGY, &e, error));
    *energy = w->powers ? e.kinetic : mass_product(solver, s->error_q, s->error_q) / 2;
    return TAUT_OK;
}

static const char *subject(const taut_step_work *w)
{
    return w->powers ? "energy" : "kinetic energy";
}

static const char *forces(const taut_step_work *w)
{
    return w->powers ? "driving forces, bonds and damping" : "all forces";
}

static int reject(taut_solver *solver, double change, double work, double allowed,
                  taut_error *error)
{
    const taut_step_work *w = &solver->ledger.step;
    solver->ledger.rejected++;
    taut_fail(error, TAUT_ERROR_STEP,
              "the %s would change by %.9g where the work of %s is %.9g and the tolerance allows a "
              "difference of %.2g, as at a singularity or where the state leaves the domain of the "
              "model",
              subject(w), change, forces(w), work, allowed);
    return TAUT_RETRY;
}

static int check_sum(taut_solver *solver, double share, double most, taut_error *error)
{
    const taut_step_work *w = &solver->ledger.step;
    double start = fmin(DRIFT, FAR * share); /* of the energies at the initial state */
    double t = solver->stepper.now.t, mean = w->integral / fmax(w->passed, DBL_MIN), small,
           limit = DRIFT * fmax(most, mean) + LOST * share * w->done + start * solver->energy_scale;
    if (fabs(w->unexplained) <= limit)
        return TAUT_OK;
    TAUT_TRY(negligible(solver, solver->step, &small, error));
    if (fabs(w->unexplained) <= DRIFT * small)
        return TAUT_OK;
    int code = taut_fail(error, TAUT_ERROR_STEP,
                         "the %s changed by %.6g more than the work of %s by t = %.9g (limit "
                         "%.2g): the errors of several steps add up; use a smaller rtol or another "
                         "method",
                         subject(w), w->unexplained, forces(w), t, limit);
    if (error)
        error->t = t;
    return code;
}

/* Adds what the tolerance allows where the energies alone do not explain a difference. */
static int allow_more(taut_solver *solver, double share, double off_work, double *allowed,
                      taut_error *error)
{
    double scale, small;
    TAUT_TRY(work_scale(solver, &scale, error));
    TAUT_TRY(negligible(solver, solver->stepper.now.t - solver->stepper.last.t, &small, error));
    *allowed += share * (scale + small);
    /* an estimate beyond the tolerance does not excuse a step */
    *allowed += fmin(QUADRATURE * off_work, *allowed);
    return TAUT_OK;
}

/* Rigid and slow motion control h dv only (norm.c): velocities may be off by tol |q|/h, which does
 * the work 2 T tol |q|/(h |v|); here without 2 tol. */
static double unseen(const taut_solver *solver, double h, double most)
{
    const taut_stepper *s = &solver->stepper;
    double way = h * taut_largest(s->n, s->now.v);
    return solver->norm.own_scales || !(way > 0) ? 0 : most * taut_largest(s->n, s->now.q) / way;
}

static void note(taut_solver *solver, const taut_step_energy *before, const taut_step_energy *after,
                 double work)
{
    taut_step_work *w = &solver->ledger.step;
    const taut_stepper *s = &solver->stepper;
    double h = fabs(s->now.t - s->last.t);
    w->seen = s->statistics->rejected;
    w->t = w->raw ? NAN : s->now.t;
    w->energy = *after;
    w->length = h;
    w->passed += h;
    w->integral += h * (before->held + after->held) / 2;
    w->done += fabs(work) + unseen(solver, h, fmax(before->held, after->held));
    w->unexplained += after->sum - before->sum - work;
}

bool taut_step_work_due(taut_solver *solver)
{
    taut_step_work *w = &solver->ledger.step;
    const taut_stepper *s = &solver->stepper;
    double h = s->now.t - s->last.t;
    bool eased = w->calm > SOME || (w->calm > 0 && w->seen == s->statistics->rejected);
    if (!w->on || !s->method->node)
        return false;
    if (!eased || fabs(h) > LONGER * w->length)
        return true;
    w->calm--;
    return false;
}

int taut_step_work_check(taut_solver *solver, double share, taut_error *error)
{
    taut_step_work *w = &solver->ledger.step;
    const taut_stepper *s = &solver->stepper;
    taut_step_energy before = w->energy, after;
    double work, off_work, large;
    if (w->t != s->last.t)
        TAUT_TRY(find_energy(solver, s->last.t, s->last.q, s->last.v, &before, error));
    TAUT_TRY(find_end(solver, &after, error));
    TAUT_TRY(find_work(solver, &work, &off_work, &large, error));
    /* velocities are as accurate as their mean over time allows */
    double most = fmax(before.held, after.held), off = after.sum - before.sum - work,
           mean = w->passed > 0 ? w->integral / w->passed : 0,
           allowed = share * fmax(most, sqrt(most * mean));
    if (!(fabs(off) <= allowed)) {
        TAUT_TRY(allow_more(solver, share, off_work, &allowed, error));
        allowed += 16 * DBL_EPSILON * large + fmax(before.rounding, after.rounding);
    }
    if (!(fabs(off) <= allowed))
        return reject(solver, after.sum - before.sum, work, allowed, error);
    w->calm = fabs(off) > 0.01 * allowed     ? 0
              : fabs(off) > 0.003 * allowed  ? SOME
              : fabs(off) > 0.0003 * allowed ? MORE
                                             : MOST;
    note(solver, &before, &after, work);
    return check_sum(solver, share, most, error);
}

void taut_step_work_begin(taut_solver *solver)
{
    taut_step_work *w = &solver->ledger.step;
    w->t = NAN;
    w->energy = (taut_step_energy){0};
    w->length = w->passed = w->integral = w->done = w->unexplained = 0;
    w->calm = 0;
    w->seen = 0;
}
