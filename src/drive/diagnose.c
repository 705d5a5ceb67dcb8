/* diagnose.c - the equations at a state: rank, violation of bonds, oscillation, energies, rates,
 * frequencies.
 *
 * The slow multipliers lambda0 solve  [M G^T; G 0] (v', lambda) = (f, -gamma)  (index-1 form), and
 * the oscillatory energy is measured from them: sum (g - c lambda0)^2 / 2c  +  gdot^T A^-1 gdot / 2
 * over the springs. Soft springs are forces: they are part of f and have no rows. */
#include "drive/diagnose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rows.h"
#include "base/text.h"
#include "base/vectors.h"
#include "drive/slow_rate.h"
#include "project/flow_rates.h"
#include "linalg/spectrum.h"
#include "slow/potential/potential.h"
#include "system/modes/modes.h"
#include "system/rank_part.h"
#include "vibration/effective.h"

typedef struct examiner {
    const taut_system *system;
    const taut_sizes *sizes;
    taut_diagnosis *d;
    taut_error *error;
    taut_arena arena;
    taut_context *context;
    taut_saddle *saddle;
    taut_pattern jacobian, tangent;
    taut_values values;
    taut_index n, m, whole_m,
        muted; /* whole_m: of all ranks; muted: without a part in the motion */
    const double *q, *v;
    double *gdot, *acceleration, *lambda;
    /* of the slow rate: multipliers and forces of soft springs; G with the rows of soft springs */
    double *weight, *jacobian_of_all;
    /* [m]: 1 in rows of soft springs, which are empty in the saddle matrix */
    double *soft_rows;
    unsigned char *rigid, *counts; /* [m]: holds exactly; is not a soft spring */
    double work;                   /* of the forces without soft springs, over the largest q */
    bool mass_known;               /* that of the context */
    taut_space *space;             /* of several ranks, or NULL */
    bool solvable;
    bool factored; /* the saddle matrix, perhaps with dependent rows made independent */
} examiner;

/* ---- the state */

static int reserve(examiner *e)
{
    const taut_sizes *z = e->sizes;
    taut_values *values = &e->values;
    TAUT_TRY(TAUT_RESERVE(&e->arena, e->n, e->error, &values->force, &values->stiff_force,
                          &e->acceleration));
    TAUT_TRY(TAUT_RESERVE(&e->arena, e->m, e->error, &values->bond, &values->bond_dt,
                          &values->gamma, &e->gdot, &e->lambda, &e->soft_rows, &e->weight));
    TAUT_TRY(TAUT_RESERVE(&e->arena, z->jacobian_entries, e->error, &values->jacobian));
    if (e->mass_known)
        values->mass = e->context->mass;
    else
        TAUT_TRY(TAUT_RESERVE(&e->arena, e->tangent.start ? e->tangent.start[e->n] : e->n, e->error,
                              &values->mass));
    e->rigid = TAUT_NEW(&e->arena, unsigned char, e->m);
    e->counts = TAUT_NEW(&e->arena, unsigned char, e->m);
    return e->rigid && e->counts ? TAUT_OK : taut_fail_memory(e->error);
}

static int evaluate(examiner *e, bool energy)
{
    const taut_sizes *z = e->sizes;
    bool mechanical = z->kind == TAUT_MECHANICAL;
    TAUT_TRY(taut_system_pattern(e->system, TAUT_PATTERN_JACOBIAN, &e->jacobian, e->error));
    if (z->mass != TAUT_MASS_DIAGONAL && mechanical)
        TAUT_TRY(taut_system_pattern(e->system, TAUT_PATTERN_TANGENT, &e->tangent, e->error));
    e->mass_known = taut_context_masses(e->context);
    TAUT_TRY(reserve(e));
    unsigned wanted = TAUT_WANT_BOND | TAUT_WANT_JACOBIAN;
    if (z->kind != TAUT_BLACK_BOX)
        wanted |= TAUT_WANT_FORCE;
    if (mechanical)
        wanted |= (e->mass_known ? 0 : TAUT_WANT_MASS) | TAUT_WANT_GAMMA |
                  (energy ? TAUT_WANT_ENERGY : 0);
    if (z->can & TAUT_HAS_STIFF_POTENTIAL)
        wanted |= TAUT_WANT_STIFF_FORCE;
    int status =
        taut_evaluate_inside(e->context, e->d->t, e->q, e->v, wanted, &e->values, e->error);
    TAUT_TRY(taut_space_agree(e->space, status, e->error));
    for (taut_index i = 0; i < e->m && z->kind != TAUT_BLACK_BOX; i++)
        e->gdot[i] = e->values.bond_dt[i] + taut_row_dot(&e->jacobian, e->values.jacobian, i,
                                                         mechanical ? e->v : e->values.force);
    return TAUT_OK;
}

static taut_index count_all(const examiner *e, taut_index count)
{
    return (taut_index)taut_space_sum(e->space, count);
}

static bool owns(const examiner *e, taut_index bond)
{
    return !e->space || !e->system->part->ghost_bond[bond];
}

/* Which rows must hold exactly, which are soft springs; how far the state is from them. */
static void measure_violation(examiner *e)
{
    taut_diagnosis *d = e->d;
    const double *c = taut_context_compliance(e->context);
    bool mechanical = e->sizes->kind == TAUT_MECHANICAL;
    for (taut_index i = 0; i < e->m; i++) {
        bool observable = !mechanical && i >= e->sizes->constraints;
        e->rigid[i] = mechanical ? c[i] == 0 : !observable;
        e->counts[i] = !(mechanical && c[i] > 0 && taut_context_soft(e->context, i));
        e->soft_rows[i] = !e->counts[i];
        bool muted = e->system->muted && e->system->muted[i], own = owns(e, i);
        d->hard += own && e->rigid[i];
        e->muted += own && muted;
        d->soft += own && !e->counts[i] && !muted;
        if (e->rigid[i]) {
            d->position = fmax(d->position, fabs(e->values.bond[i]));
            d->velocity = fmax(d->velocity, fabs(e->gdot[i]));
        }
        if (!observable && e->counts[i])
            d->foot_distance = fmax(d->foot_distance, fabs(e->values.bond[i]));
    }
    d->hard = count_all(e, d->hard);
    d->soft = count_all(e, d->soft);
    e->muted = count_all(e, e->muted);
    d->position = taut_space_largest(e->space, d->position);
    d->velocity = taut_space_largest(e->space, d->velocity);
    d->foot_distance = taut_space_largest(e->space, d->foot_distance);
}

/* ---- rank */

static int rank_of(const examiner *e, const unsigned char *only, taut_index *rank, taut_index *rows,
                   char *message, size_t size)
{
    const taut_row_rank asked = {.system = e->system,
                                 .jacobian = &e->jacobian,
                                 .entry = e->values.jacobian,
                                 .bond = e->values.bond,
                                 .only = only};
    return taut_diagnose_rank(&asked, &e->arena.allocator, rank, rows, message, size, e->error);
}

static int find_rank(examiner *e)
{
    taut_diagnosis *d = e->d;
    taut_index rank, rows;
    char text[300];
    d->rank = e->whole_m - d->soft - e->muted;
    if (e->space) /* from the matrix (solve) */
        return TAUT_OK;
    if (d->hard) {
        TAUT_TRY(rank_of(e, e->rigid, &rank, &rows, text, sizeof text));
        if (rank < rows) {
            d->redundant = true;
            d->rank -= rows - rank;
            snprintf(d->dependent, sizeof d->dependent, "%s have rank %d of %d: %s",
                     e->sizes->kind == TAUT_MECHANICAL ? "the rigid bonds" : "the constraints",
                     rank, rows, text);
            return 0;
        }
    }
    if (e->sizes->kind != TAUT_MECHANICAL || d->hard == d->rank)
        return 0;
    TAUT_TRY(rank_of(e, e->counts, &d->rank, &rows, text, sizeof text));
    if (d->rank < rows)
        snprintf(d->dependent, sizeof d->dependent,
                 "G has rank %d of %d, which springs allow but rigid motion does not: %s", d->rank,
                 rows, text);
    return 0;
}

/* ---- the saddle system of the index-1 form: structure, slow multipliers, oscillatory energy */

/* The diagonal of M, wherever it is stored; 0 when it has no such entry. */
static double mass_of(const examiner *e, taut_index i)
{
    if (!e->tangent.start)
        return e->values.mass[i];
    taut_index k = taut_row_find(&e->tangent, i, i);
    return k < 0 ? 0 : e->values.mass[k];
}

/* G M^-1 G^T of one row, with the diagonal of M. */
static double mobility(const examiner *e, taut_index i)
{
    double sum = 0;
    for (taut_index k = e->jacobian.start[i]; k < e->jacobian.start[i + 1]; k++) {
        double mass = mass_of(e, e->jacobian.column[k]), entry = e->values.jacobian[k];
        sum += mass > 0 ? entry * entry / mass : 0;
    }
    return sum;
}

/* A coordinate without mass moves only because of what holds it: with no bond its acceleration
 * is force over zero. */
static int find_massless(examiner *e)
{
    unsigned char *held = TAUT_NEW(&e->arena, unsigned char, e->n);
    TAUT_NEED(e->error, held);
    for (taut_index k = 0; k < e->sizes->jacobian_entries; k++)
        if (e->values.jacobian[k] != 0)
            held[e->jacobian.column[k]] = 1;
    for (taut_index i = 0; i < e->n && e->d->massless < 0; i++)
        if (!held[i] && mass_of(e, i) == 0)
            e->d->massless = i;
    return TAUT_OK;
}

/* Soft springs join the force, and their rows leave the matrix. */
static int take_soft(examiner *e)
{
    const double *c = taut_context_compliance(e->context), *tau = taut_context_damping(e->context);
    e->jacobian_of_all = e->values.jacobian;
    if (e->d->soft > 0) {
        TAUT_TRY(
            TAUT_RESERVE(&e->arena, e->sizes->jacobian_entries, e->error, &e->jacobian_of_all));
        taut_copy(e->sizes->jacobian_entries, e->values.jacobian, e->jacobian_of_all);
    }
    for (taut_index i = 0; i < e->m; i++) {
        if (e->counts[i])
            continue;
        e->weight[i] = (e->values.bond[i] + tau[i] * e->gdot[i]) / c[i];
        taut_row_add(&e->jacobian, e->values.jacobian, i, -e->weight[i], e->values.force);
        taut_row_clear(&e->jacobian, e->values.jacobian, i);
    }
    return TAUT_OK;
}

/* The rigid motion: its acceleration, and in y[m] its multipliers. */
static int solve_rigid(examiner *e, double *acceleration, double *y)
{
    taut_copy(e->n, e->values.force, acceleration);
    for (taut_index i = 0; i < e->m; i++)
        y[i] = e->counts[i] ? -e->values.gamma[i] : 0;
    return taut_saddle_solve(e->saddle, 1, acceleration, y, e->error);
}

/* Rows that depend on others, as compliant as 1e-10 of their mobility G M^-1 G^T: the space of the
 * rigid motion is the same. */
static int factor_dependent(examiner *e, taut_error *reason)
{
    double *d = TAUT_NEW(&e->arena, double, e->m);
    TAUT_NEED(reason, d);
    for (taut_index i = 0; i < e->m; i++)
        d[i] = e->soft_rows[i] + 1e-10 * mobility(e, i);
    return taut_saddle_factor(e->saddle, e->values.mass, e->values.jacobian, NULL, d, reason);
}

/* The matrix of several ranks does not name them; with springs as compliant as 1 it is singular
 * where rigid bonds depend on each other. */
static int note_dependent(examiner *e)
{
    taut_diagnosis *d = e->d;
    for (taut_index i = 0; i < e->m; i++)
        e->lambda[i] = !e->rigid[i];
    int status =
        taut_saddle_factor(e->saddle, e->values.mass, e->values.jacobian, NULL, e->lambda, NULL);
    d->redundant = taut_space_agree(e->space, status, NULL) != 0;
    d->rank = -1;
    snprintf(d->dependent, sizeof d->dependent,
             "%s depend on each other, and several processes do not find which ones: check a "
             "smaller model of the same kind without mpiexec",
             d->redundant ? "rigid bonds" : "springs");
    return TAUT_OK;
}

/* Springs that depend on each other make the matrix singular: what follows from the multipliers
 * stays unknown, but for the rate. */
static int solve(examiner *e, taut_backend backend, bool rate)
{
    taut_error reason;
    taut_saddle_shape shape = {.n = e->n,
                               .m = e->m,
                               .g_start = e->jacobian.start,
                               .g_column = e->jacobian.column,
                               .k_start = e->tangent.start,
                               .k_column = e->tangent.column,
                               .symmetric = true,
                               .positive = true,
                               .column_halo = taut_context_halo(e->context),
                               .row_halo = taut_context_bond_halo(e->context)};
    TAUT_TRY(taut_saddle_create(&shape, backend, &e->arena.allocator, &e->saddle, e->error));
    snprintf(e->d->structure, sizeof e->d->structure, "%s", taut_saddle_structure(e->saddle));
    e->work = taut_work_scale(taut_context_halo(e->context), e->n, e->values.force, e->q);
    TAUT_TRY(take_soft(e));
    int status = taut_saddle_factor(e->saddle, e->values.mass, e->values.jacobian, NULL,
                                    e->soft_rows, &reason);
    status = taut_space_agree(e->space, status, &reason);
    e->solvable = e->factored = status == 0;
    if (status == TAUT_ERROR_SINGULAR && e->space)
        return note_dependent(e);
    if (status == TAUT_ERROR_SINGULAR && rate) {
        status = factor_dependent(e, &reason);
        e->factored = status == 0;
    }
    if (status == TAUT_ERROR_SINGULAR)
        return TAUT_OK;
    if (status != 0 && e->error)
        *e->error = reason;
    TAUT_TRY(status);
    return e->solvable ? solve_rigid(e, e->acceleration, e->lambda) : TAUT_OK;
}

/* ---- the slow rate at the state */

/* Where the pencil cannot be formed: velocities and accelerations relative to the coordinates. */
static double rate_of_scales(const examiner *e)
{
    double size = taut_largest(e->n, e->q), rate = 0;
    for (taut_index i = 0; i < e->n; i++) {
        double over = size > 0 ? size : 1;
        rate = fmax(rate, fmax(fabs(e->v[i]) / over, sqrt(fabs(e->acceleration[i]) / over)));
    }
    return rate;
}

static int measure_rate(examiner *e, bool later, bool kicks)
{
    taut_diagnosis *d = e->d;
    taut_error reason;
    bool stiff = e->sizes->can & TAUT_HAS_STIFF_POTENTIAL;
    double *a = e->acceleration, *y = e->lambda;
    d->slow_rate = d->turning_rate = rate_of_scales(e);
    if (!e->factored || (stiff && e->n > TAUT_SPECTRUM_DENSE))
        return TAUT_OK;
    TAUT_TRY(solve_rigid(e, a, y));
    for (taut_index i = 0; i < e->m; i++) {
        e->weight[i] = e->counts[i] ? y[i] : e->weight[i];
        d->force = e->counts[i] ? fmax(d->force, fabs(y[i])) : d->force;
    }
    taut_rigid_motion motion = {.context = e->context,
                                .t = d->t,
                                .q = e->q,
                                .v = e->v,
                                .mass = e->values.mass,
                                .jacobian = e->jacobian_of_all,
                                .acceleration = a,
                                .weight = e->weight,
                                .saddle = e->saddle,
                                .rows = e->m,
                                .part = kicks ? TAUT_WANT_SLOW : 0};
    double rate;
    int status =
        stiff ? taut_slow_rate_potential(&motion, e->values.force, e->values.gamma, &rate, &reason)
              : taut_slow_rate(&motion, &rate, &reason);
    if (status == 0)
        d->slow_rate = rate;
    TAUT_TRY(taut_fail_final(status, &reason, e->error));
    status = stiff ? TAUT_OK : taut_turning_rate(&motion, &d->turning_rate, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, e->error));
    if (!later || stiff || !e->solvable || e->n <= TAUT_PILOT_LARGE ||
        !(e->sizes->can & TAUT_CAN_DERIVATIVES))
        return TAUT_OK;
    status = taut_leaps(&motion, e->soft_rows, &e->values, fmax(d->slow_rate, d->turning_rate),
                        d->later, &d->laters, &reason);
    return taut_fail_final(status, &reason, e->error);
}

/* A damped bond alone: gddot = -d A gdot, d = tau/c, A = G M^-1 G^T. */
static void measure_decay(examiner *e)
{
    const double *c = taut_context_compliance(e->context), *tau = taut_context_damping(e->context);
    for (taut_index i = 0; i < e->m; i++) {
        double mobility = 0;
        if (!(c[i] > 0 && tau[i] > 0))
            continue;
        for (taut_index k = e->jacobian.start[i]; k < e->jacobian.start[i + 1]; k++) {
            double mass = mass_of(e, e->jacobian.column[k]), g = e->values.jacobian[k];
            mobility += mass > 0 ? g * g / mass : 0;
        }
        e->d->decay_rate = fmax(e->d->decay_rate, tau[i] / c[i] * mobility);
    }
    e->d->decay_rate = taut_space_largest(e->space, e->d->decay_rate);
}

/* A stiff potential has no multipliers that would be measured from. */
static void measure_oscillation(examiner *e, bool multipliers)
{
    taut_diagnosis *d = e->d;
    const double *c = taut_context_compliance(e->context), *tau = taut_context_damping(e->context);
    bool known = e->solvable && multipliers;
    d->amplitude = known ? 0 : INFINITY;
    for (taut_index i = 0; i < e->m && known; i++) {
        if (e->rigid[i] || !e->counts[i])
            continue;
        /* as if the other springs were not there: a measure, not a result */
        double moves = mobility(e, i), rate = e->gdot[i],
               period = moves > 0 ? sqrt(c[i] / moves) : 0; /* 1/omega */
        double off = e->values.bond[i] + tau[i] * rate - c[i] * e->lambda[i];
        d->overdamped |= tau[i] > 0 && tau[i] >= 2 * period;
        d->amplitude = fmax(d->amplitude, fmax(fabs(off), fabs(rate) * period));
    }
    d->amplitude = taut_space_largest(e->space, d->amplitude);
    d->overdamped = taut_space_largest(e->space, d->overdamped) > 0;
    if (d->overdamped)
        d->amplitude = 0;
}

/* The energy scale is that of the slow motion: kinetic energy and the work of its forces along the
 * coordinates; at least the forces times the largest coordinate, an energy that there is even when
 * the state is at rest and at potential zero. */
static double sum_work(void *context, int64_t begin, int64_t end)
{
    const examiner *e = context;
    double sum = 0;
    for (int64_t i = begin; i < end; i++)
        sum += fabs(e->values.force[i]) * fabs(e->q[i]);
    return sum;
}

static void measure_scales(examiner *e)
{
    const double work = taut_halo_sum(taut_context_halo(e->context), NULL, e->n, sum_work, e),
                 kinetic = taut_space_sum(e->space, e->values.kinetic);
    e->d->energy_scale = fmax(kinetic + work, e->work);
}

static int measure_energy(examiner *e)
{
    taut_diagnosis *d = e->d;
    const double *c = taut_context_compliance(e->context);
    measure_scales(e);
    if (e->sizes->can & TAUT_HAS_STIFF_POTENTIAL && e->n > TAUT_SPECTRUM_DENSE) {
        d->oscillatory_energy = NAN; /* as the modes are */
        return TAUT_OK;
    }
    if (e->sizes->can & TAUT_HAS_STIFF_POTENTIAL) {
        taut_error reason;
        int status = taut_potential_oscillatory_energy(
            e->context, d->t, e->q, e->v, &e->arena.allocator, &d->oscillatory_energy, &reason);
        if (status == 0)
            return TAUT_OK;
        /* else there is no foot point, and only the springs are known */
        TAUT_TRY(taut_fail_final(status, &reason, e->error));
    }
    taut_arena scratch;
    taut_arena_init(&scratch, &e->arena.allocator);
    double *x, *y, kinetic = 0, potential = 0;
    int status = TAUT_RESERVE(&scratch, e->n, e->error, &x);
    if (status == 0)
        status = TAUT_RESERVE(&scratch, e->m, e->error, &y);
    for (taut_index i = 0; i < e->m && status == 0; i++) {
        double off = e->values.bond[i] - c[i] * e->lambda[i];
        bool spring = c[i] > 0 && e->counts[i];
        potential += spring && owns(e, i) ? off * off / (2 * c[i]) : 0;
        y[i] = spring ? e->gdot[i] : 0;
    }
    if (status == 0 && e->solvable)
        status = taut_saddle_solve(e->saddle, 1, x, y, e->error);
    for (taut_index i = 0; i < e->m && status == 0 && e->solvable; i++)
        kinetic -= c[i] > 0 && e->counts[i] && owns(e, i) ? y[i] * e->gdot[i] / 2 : 0;
    d->oscillatory_energy =
        taut_space_sum(e->space, potential) + fmax(taut_space_sum(e->space, kinetic), 0);
    taut_arena_clear(&scratch);
    return status;
}

/* ---- frequencies */

static int64_t count_modes(const examiner *e)
{
    const taut_diagnosis *d = e->d;
    const double *c = taut_context_compliance(e->context);
    int64_t count = 0;
    for (taut_index i = 0; i < e->m; i++)
        count += c[i] > 0 && e->counts[i] && owns(e, i);
    if (e->space)
        return (int64_t)taut_space_sum(e->space, (double)count);
    /* springs that depend on others, or on rigid bonds, add none */
    bool ranked = !d->redundant && d->massless < 0;
    return ranked && count > d->rank - d->hard ? d->rank - d->hard : count;
}

/* A large system whose spectrum does not converge remains without frequencies. */
static int find_frequencies(examiner *e, bool modes, bool fastest)
{
    taut_diagnosis *d = e->d;
    bool stiff = e->sizes->can & TAUT_HAS_STIFF_POTENTIAL, complete, done = false;
    if (stiff && modes && e->n > TAUT_SPECTRUM_DENSE) {
        d->frequencies = -1;
        d->least = d->resonance = NAN;
    }
    if (!d->frequencies && !stiff && !fastest)
        return TAUT_OK;
    if (d->frequencies > 0)
        TAUT_TRY(taut_diagnose_groups(e->context, e->q, &e->arena, d, &done, e->error));
    if (done)
        return TAUT_OK;
    taut_arena_clear(&e->arena);
    int count = e->n <= TAUT_SPECTRUM_DENSE && modes ? e->n : 1, found;
    double *frequency = TAUT_NEW(&e->arena, double, 2 * (int64_t)count + 2);
    taut_error reason;
    TAUT_NEED(e->error, frequency);
    int status =
        taut_frequencies(e->context, d->t, e->q, count, frequency, &found, &complete, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, e->error));
    if (status || found == 0)
        return TAUT_OK;
    d->fastest = frequency[found - 1];
    if (!modes || (!d->frequencies && !stiff))
        return TAUT_OK;
    if (complete && !stiff && found > d->frequencies) { /* what they leave at zero comes first */
        frequency += found - d->frequencies;
        found = (int)d->frequencies;
    }
    d->most = frequency[found - 1];
    if (d->frequencies < 0)
        return TAUT_OK;
    d->least = frequency[0];
    if (complete) {
        d->resonance = taut_closest_resonance(found, frequency, NULL);
        d->frequencies = found;
    }
    return TAUT_OK;
}

static int examine(examiner *e, unsigned parts, taut_backend backend)
{
    bool energy = parts & TAUT_DIAGNOSE_ENERGY, rate = parts & TAUT_DIAGNOSE_RATE,
         oscillation = energy || (parts & TAUT_DIAGNOSE_OSCILLATION),
         multipliers = e->m > 0 && !(e->sizes->can & TAUT_HAS_STIFF_POTENTIAL);
    if (parts & ~(unsigned)TAUT_DIAGNOSE_FASTEST) {
        TAUT_TRY(evaluate(e, energy));
        measure_violation(e);
    }
    if (parts & TAUT_DIAGNOSE_RANK)
        TAUT_TRY(find_rank(e));
    if (e->sizes->kind == TAUT_FIRST_ORDER && rate)
        return taut_stiff_rate(e->context, e->d->t, e->q, &e->d->decay_rate, e->error);
    if (e->sizes->kind != TAUT_MECHANICAL)
        return TAUT_OK;
    if (parts & TAUT_DIAGNOSE_RANK && !e->space) /* whose masses are positive */
        TAUT_TRY(find_massless(e));
    if (rate)
        measure_decay(e);
    if (energy || rate || (oscillation && multipliers))
        TAUT_TRY(solve(e, backend, rate));
    if (oscillation)
        measure_oscillation(e, multipliers);
    if (energy)
        TAUT_TRY(measure_energy(e));
    if (rate && !e->space)
        TAUT_TRY(measure_rate(e, parts & TAUT_DIAGNOSE_LATER, parts & TAUT_DIAGNOSE_KICKS));
    if (parts & TAUT_DIAGNOSE_MODES)
        e->d->frequencies = count_modes(e);
    taut_saddle_destroy(e->saddle); /* frequencies need as much again */
    e->saddle = NULL;
    taut_arena_clear(&e->arena);
    if (e->space)
        return parts & TAUT_DIAGNOSE_MODES
                   ? taut_diagnose_bound(e->context, e->space, e->q, e->d, e->error)
                   : TAUT_OK;
    return find_frequencies(e, parts & TAUT_DIAGNOSE_MODES, parts & TAUT_DIAGNOSE_FASTEST);
}

int taut_diagnose(taut_context *context, double t, const double *q, const double *v, unsigned parts,
                  taut_backend backend, taut_diagnosis *diagnosis, taut_error *error)
{
    const taut_system *system = taut_context_system(context);
    const taut_part *part = system->part;
    *diagnosis =
        (taut_diagnosis){.t = t, .massless = -1, .resonance = NAN, .averaged_gap = INFINITY};
    taut_system_sizes(system, &diagnosis->sizes);
    examiner e = {.system = system,
                  .sizes = &diagnosis->sizes,
                  .d = diagnosis,
                  .error = error,
                  .context = context,
                  .q = q,
                  .v = v,
                  .n = diagnosis->sizes.coordinates,
                  .m = diagnosis->sizes.bonds,
                  .whole_m = part ? (taut_index)part->bonds.total : diagnosis->sizes.bonds,
                  .space = taut_context_space(context)};
    diagnosis->over_ranks = part;
    taut_arena_init(&e.arena, &context->arena.allocator);
    int status = examine(&e, parts, backend);
    diagnosis->slow_rate_initial = diagnosis->slow_rate;
    diagnosis->slow_rate_at = t;
    taut_diagnosis_separate(diagnosis);
    if (status == 0)
        diagnosis->parts = parts;
    taut_saddle_destroy(e.saddle);
    taut_arena_clear(&e.arena);
    return status;
}
