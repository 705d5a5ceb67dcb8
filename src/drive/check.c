/* check.c - is a system well posed at its start? Sizes, structure, derivatives, rank,
 * consistency, frequencies, energy, advice.
 *
 * The slow multipliers lambda0 solve  [M G^T; G 0] (v', lambda) = (f, -gamma)  (index-1 form),
 * and the oscillatory energy is measured from them: sum (g - c lambda0)^2 / 2c  +  gdot^T A^-1
 * gdot / 2  over the springs. Soft springs are forces: they are part of f and have no rows. */
#include "base/vectors.h"
#include "base/rows.h"
#include "system/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "linalg/saddle.h"
#include "slow/potential/potential.h"

typedef struct examiner {
    const taut_system *system;
    const taut_sizes *sizes;
    taut_check_report *report;
    taut_error *error;
    taut_arena arena;
    taut_context *context;
    taut_saddle *saddle;
    taut_pattern jacobian, tangent;
    taut_values values;
    taut_index n, m, hard; /* hard: rows that must hold exactly (rigid bonds, constraints) */
    double t;
    double *q, *v, *gdot, *acceleration, *lambda;
    /* [m]: 1 in rows of soft springs, which are empty in the saddle matrix */
    double *soft_rows;
    unsigned char *rigid, *counts; /* [m]: holds exactly; is not a soft spring */
    bool solvable;
} examiner;

static int room(examiner *e, double **array, int64_t count)
{
    *array = TAUT_NEW(&e->arena, double, count);
    return *array ? 0 : taut_fail_memory(e->error);
}

/* ---- the point */

static int evaluate_start(examiner *e)
{
    const taut_sizes *z = e->sizes;
    taut_index nv = z->kind == TAUT_MECHANICAL ? e->n : z->algebraic;
    TAUT_TRY(taut_system_pattern(e->system, TAUT_PATTERN_JACOBIAN, &e->jacobian, e->error));
    if (z->mass != TAUT_MASS_DIAGONAL && z->kind == TAUT_MECHANICAL)
        TAUT_TRY(taut_system_pattern(e->system, TAUT_PATTERN_TANGENT, &e->tangent, e->error));
    TAUT_TRY(room(e, &e->q, e->n));
    TAUT_TRY(room(e, &e->v, nv));
    TAUT_TRY(room(e, &e->values.force, e->n));
    if (z->can & TAUT_HAS_STIFF_POTENTIAL)
        TAUT_TRY(room(e, &e->values.stiff_force, e->n));
    TAUT_TRY(room(e, &e->values.mass, e->tangent.start ? e->tangent.start[e->n] : e->n));
    TAUT_TRY(room(e, &e->values.bond, e->m));
    TAUT_TRY(room(e, &e->values.bond_dt, e->m));
    TAUT_TRY(room(e, &e->values.gamma, e->m));
    TAUT_TRY(room(e, &e->values.jacobian, z->jacobian_entries));
    TAUT_TRY(room(e, &e->gdot, e->m));
    TAUT_TRY(room(e, &e->acceleration, e->n));
    TAUT_TRY(room(e, &e->lambda, e->m));
    TAUT_TRY(room(e, &e->soft_rows, e->m));
    e->rigid = TAUT_NEW(&e->arena, unsigned char, e->m);
    e->counts = TAUT_NEW(&e->arena, unsigned char, e->m);
    if (!e->rigid || !e->counts)
        return taut_fail_memory(e->error);
    TAUT_TRY(taut_context_start(e->context, e->t, e->q, e->v, e->error));
    unsigned wanted = TAUT_WANT_BOND | TAUT_WANT_JACOBIAN;
    if (z->kind != TAUT_BLACK_BOX)
        wanted |= TAUT_WANT_FORCE;
    if (z->kind == TAUT_MECHANICAL)
        wanted |= TAUT_WANT_MASS | TAUT_WANT_GAMMA | TAUT_WANT_ENERGY;
    if (e->values.stiff_force)
        wanted |= TAUT_WANT_STIFF_FORCE;
    TAUT_TRY(taut_evaluate(e->context, e->t, e->q, e->v, wanted, &e->values, e->error));
    const double *rate = z->kind == TAUT_MECHANICAL ? e->v : e->values.force;
    for (taut_index i = 0; i < e->m; i++) {
        double sum = e->values.bond_dt[i] + taut_row_dot(&e->jacobian, e->values.jacobian, i, rate);
        e->gdot[i] = z->kind == TAUT_BLACK_BOX ? 0 : sum;
    }
    return 0;
}

/* Rigid bonds, of first-order systems the constraints; soft springs. */
static void find_rigid(examiner *e)
{
    const double *c = taut_context_compliance(e->context);
    bool mechanical = e->sizes->kind == TAUT_MECHANICAL;
    for (taut_index i = 0; i < e->m; i++) {
        e->rigid[i] = mechanical ? c[i] == 0 : i < e->sizes->constraints;
        e->counts[i] = !(mechanical && c[i] > 0 && taut_context_soft(e->context, i));
        e->soft_rows[i] = !e->counts[i];
        e->hard += e->rigid[i];
        e->report->soft += !e->counts[i];
    }
}

static void measure_start(examiner *e)
{
    taut_check_report *r = e->report;
    for (taut_index i = 0; i < e->m; i++) {
        bool observable = e->sizes->kind != TAUT_MECHANICAL && i >= e->sizes->constraints;
        if (e->rigid[i]) {
            r->start_position = fmax(r->start_position, fabs(e->values.bond[i]));
            r->start_velocity = fmax(r->start_velocity, fabs(e->gdot[i]));
        }
        if (!observable && e->counts[i])
            r->foot_distance = fmax(r->foot_distance, fabs(e->values.bond[i]));
    }
}

/* ---- rank, of the rows that `only` selects */

static int rank_in(examiner *e, taut_arena *scratch, const unsigned char *only, taut_index *rank,
                   taut_index *rows, char *message, size_t size)
{
    taut_index *start = TAUT_NEW(scratch, taut_index, e->m + 1),
               *row = TAUT_NEW(scratch, taut_index, e->m);
    taut_index *column = TAUT_NEW(scratch, taut_index, e->sizes->jacobian_entries),
               *partner = TAUT_NEW(scratch, taut_index, e->m);
    double *entry = TAUT_NEW(scratch, double, e->sizes->jacobian_entries),
           *residual = TAUT_NEW(scratch, double, e->m);
    unsigned char *redundant = TAUT_NEW(scratch, unsigned char, e->m);
    if (!start || !row || !column || !partner || !entry || !residual || !redundant)
        return taut_fail_memory(e->error);
    taut_index count = 0, entries = 0;
    for (taut_index i = 0; i < e->m; i++) {
        if (!only[i])
            continue;
        for (taut_index k = e->jacobian.start[i]; k < e->jacobian.start[i + 1]; k++, entries++) {
            column[entries] = e->jacobian.column[k];
            entry[entries] = e->values.jacobian[k];
        }
        residual[count] = e->values.bond[i];
        row[count++] = i;
        start[count] = entries;
    }
    *rows = *rank = count;
    message[0] = 0;
    if (count == 0)
        return 0;
    taut_saddle_shape shape = {.n = e->n, .m = count, .g_start = start, .g_column = column};
    bool conflict = false;
    TAUT_TRY(taut_rank(&shape, entry, 1e-10, residual, rank, redundant, partner, &conflict,
                       &e->arena.allocator, e->error));
    int length = 0, shown = 0;
    for (taut_index i = 0; i < count && shown < 3; i++) {
        if (!redundant[i])
            continue;
        char name[96], other[96] = "";
        taut_system_name(e->system, TAUT_BOND, row[i], name, sizeof name);
        if (partner[i] >= 0)
            taut_system_name(e->system, TAUT_BOND, row[partner[i]], other, sizeof other);
        snprintf(message + length, size - (size_t)length, "%s%s %s%s", shown++ ? "; " : "", name,
                 partner[i] < 0 ? "has a zero gradient"
                 : conflict     ? "contradicts "
                                : "follows from others such as ",
                 other);
        length = (int)strlen(message); /* long names may have cut it */
    }
    if (*rank < count - 3)
        snprintf(message + length, size - (size_t)length, "; and %d more",
                 (int)(count - 3 - *rank));
    return 0;
}

static int rank_of(examiner *e, const unsigned char *only, taut_index *rank, taut_index *rows,
                   char *message, size_t size)
{
    taut_arena scratch;
    taut_arena_init(&scratch, &e->arena.allocator);
    int status = rank_in(e, &scratch, only, rank, rows, message, size);
    taut_arena_clear(&scratch);
    return status;
}

static int check_rank(examiner *e)
{
    taut_check_report *r = e->report;
    taut_index rank, rows;
    char text[300];
    r->rank = e->m - r->soft;
    if (e->hard) {
        TAUT_TRY(rank_of(e, e->rigid, &rank, &rows, text, sizeof text));
        if (rank < rows) {
            r->verdict = 1;
            r->rank -= rows - rank;
            snprintf(r->rank_message, sizeof r->rank_message, "%s have rank %d of %d: %s",
                     e->sizes->kind == TAUT_MECHANICAL ? "the rigid bonds" : "the constraints",
                     rank, rows, text);
            return 0;
        }
    }
    if (e->sizes->kind != TAUT_MECHANICAL || e->hard == r->rank)
        return 0;
    TAUT_TRY(rank_of(e, e->counts, &r->rank, &rows, text, sizeof text));
    if (r->rank < rows)
        snprintf(r->rank_message, sizeof r->rank_message,
                 "G has rank %d of %d, which springs allow but rigid motion does not: %s", r->rank,
                 rows, text);
    return 0;
}

/* ---- the saddle system of the index-1 form: structure, slow multipliers, slow rate,
 * oscillatory energy */

/* The diagonal of M, wherever it is stored; 0 when it has no such entry. */
static double mass_of(const examiner *e, taut_index i)
{
    if (!e->tangent.start)
        return e->values.mass[i];
    taut_index place = taut_row_find(&e->tangent, i, i);
    return place < 0 ? 0 : e->values.mass[place];
}

/* A coordinate without mass moves only because of what holds it: with no bond its acceleration
 * is force over zero. */
static int check_masses(examiner *e)
{
    taut_check_report *r = e->report;
    unsigned char *held = TAUT_NEW(&e->arena, unsigned char, e->n);
    if (!held)
        return taut_fail_memory(e->error);
    for (taut_index k = 0; k < e->sizes->jacobian_entries; k++)
        if (e->values.jacobian[k] != 0)
            held[e->jacobian.column[k]] = 1;
    for (taut_index i = 0; i < e->n && !r->verdict; i++) {
        char name[96];
        if (held[i] || mass_of(e, i) != 0)
            continue;
        r->verdict = 1;
        taut_system_name(e->system, TAUT_COORDINATE, i, name, sizeof name);
        snprintf(r->advice, sizeof r->advice,
                 "%s has neither mass nor bonds, so that nothing tells how it moves: give it one "
                 "of them",
                 name);
    }
    return 0;
}

/* Soft springs join the force, and their rows leave the matrix. Their own frequencies, with the
 * rest at rest, belong to the slow motion. */
static void take_soft(examiner *e)
{
    const double *c = taut_context_compliance(e->context), *tau = taut_context_damping(e->context);
    for (taut_index i = 0; i < e->m; i++) {
        if (e->counts[i])
            continue;
        double pull = (e->values.bond[i] + tau[i] * e->gdot[i]) / c[i], mobility = 0;
        taut_index begin = e->jacobian.start[i], end = e->jacobian.start[i + 1];
        for (taut_index k = begin; k < end; k++) {
            taut_index column = e->jacobian.column[k];
            double mass = mass_of(e, column);
            e->values.force[column] -= e->values.jacobian[k] * pull;
            for (taut_index l = begin; l < end && mass > 0; l++) /* columns may repeat */
                mobility += e->jacobian.column[l] == column
                                ? e->values.jacobian[k] * e->values.jacobian[l] / mass
                                : 0;
        }
        for (taut_index k = begin; k < end; k++)
            e->values.jacobian[k] = 0;
        e->report->slow_rate = fmax(e->report->slow_rate, sqrt(fmax(mobility, 0) / c[i]));
    }
}

static int solve_start(examiner *e, taut_backend backend)
{
    taut_saddle_shape shape = {.n = e->n,
                               .m = e->m,
                               .g_start = e->jacobian.start,
                               .g_column = e->jacobian.column,
                               .symmetric = true,
                               .positive = true};
    shape.k_start = e->tangent.start;
    shape.k_column = e->tangent.column;
    TAUT_TRY(taut_saddle_create(&shape, backend, &e->arena.allocator, &e->saddle, e->error));
    snprintf(e->report->structure, sizeof e->report->structure, "%s",
             taut_saddle_structure(e->saddle));
    take_soft(e);
    if (taut_saddle_factor(e->saddle, e->values.mass, e->values.jacobian, NULL, e->soft_rows,
                           NULL) != 0)
        return 0; /* redundant springs: what follows needs a regular matrix, and is left out */
    taut_copy(e->n, e->values.force, e->acceleration);
    for (taut_index i = 0; i < e->m; i++)
        e->lambda[i] = e->counts[i] ? -e->values.gamma[i] : 0;
    TAUT_TRY(taut_saddle_solve(e->saddle, 1, e->acceleration, e->lambda, e->error));
    e->solvable = true;
    return 0;
}

static int measure_energy(examiner *e)
{
    taut_check_report *r = e->report;
    const double *c = taut_context_compliance(e->context);
    double *x, *y, size = taut_largest(e->n, e->q), work = 0;
    if (size == 0)
        size = 1;
    for (taut_index i = 0; i < e->n; i++) {
        work += fabs(e->values.force[i]) * fabs(e->q[i]);
        r->slow_rate =
            fmax(r->slow_rate, fmax(fabs(e->v[i]) / size, sqrt(fabs(e->acceleration[i]) / size)));
    }
    r->energy_scale = e->values.kinetic + work;
    if (e->sizes->can & TAUT_HAS_STIFF_POTENTIAL) {
        taut_error ignored;
        int status = taut_potential_oscillatory_energy(
            e->context, e->t, e->q, e->v, &e->arena.allocator, &r->oscillatory_energy, &ignored);
        if (status == 0 ||
            status ==
                TAUT_ERROR_MEMORY) /* else there is no foot point, and only the springs are known */
            return status == 0 ? 0 : taut_fail_memory(e->error);
    }
    for (taut_index i = 0; i < e->m; i++) {
        double off = e->values.bond[i] - c[i] * e->lambda[i];
        if (c[i] > 0 && e->counts[i])
            r->oscillatory_energy += off * off / (2 * c[i]);
    }
    if (!e->solvable)
        return 0;
    TAUT_TRY(room(e, &x, e->n));
    TAUT_TRY(room(e, &y, e->m));
    for (taut_index i = 0; i < e->m; i++)
        y[i] = c[i] > 0 && e->counts[i] ? e->gdot[i] : 0;
    TAUT_TRY(taut_saddle_solve(e->saddle, 1, x, y, e->error));
    double kinetic = 0;
    for (taut_index i = 0; i < e->m; i++)
        kinetic -= c[i] > 0 && e->counts[i] ? y[i] * e->gdot[i] / 2 : 0;
    r->oscillatory_energy += fmax(kinetic, 0);
    return 0;
}

static int measure_frequencies(examiner *e)
{
    taut_check_report *r = e->report;
    const double *c = taut_context_compliance(e->context);
    double *frequency;
    int found;
    bool complete;
    for (taut_index i = 0; i < e->m; i++)
        r->frequencies += c[i] > 0 && e->counts[i];
    if (!r->verdict && r->frequencies > r->rank - e->hard)
        r->frequencies =
            r->rank - e->hard; /* springs that depend on others, or on rods, add none */
    bool stiff = e->sizes->can & TAUT_HAS_STIFF_POTENTIAL;
    if (!r->frequencies && !stiff)
        return 0;
    int count = e->n <= TAUT_SPECTRUM_DENSE ? e->n : 1;
    TAUT_TRY(room(e, &frequency, 2 * (int64_t)count + 2));
    taut_error ignored;
    int status =
        taut_frequencies(e->context, e->t, e->q, count, frequency, &found, &complete, &ignored);
    TAUT_TRY(taut_fail_final(status, &ignored, e->error));
    if (status || found == 0)
        return 0;
    if (complete && !stiff && found > r->frequencies) { /* what they leave at zero comes first */
        frequency += found - r->frequencies;
        found = (int)r->frequencies;
    }
    r->frequency_least = frequency[0];
    r->frequency_most = frequency[found - 1];
    if (complete)
        r->frequencies = found;
    else if (stiff)
        r->frequencies = e->n;
    return 0;
}

/* ---- advice */

static void advise_mechanical(examiner *e)
{
    taut_check_report *r = e->report;
    double ratio = r->slow_rate > 0 ? r->frequency_least / r->slow_rate : INFINITY;
    char *to = r->advice;
    size_t size = sizeof r->advice;
    bool damped = e->sizes->can & TAUT_HAS_DAMPING;
    if (r->advice[0]) /* said already */
        return;
    if (r->verdict)
        snprintf(to, size, "remove the redundant bonds, or give them a stiffness");
    else if (e->hard && r->start_position > 1e-6)
        snprintf(to, size,
                 "the start violates rigid bonds by %.2g: correct it, or let `taut run` move it "
                 "onto them",
                 r->start_position);
    else if (e->hard && !r->frequencies && r->rank_message[0])
        snprintf(to, size,
                 "springs that follow from rods do nothing: leave them out, and motion rigid is "
                 "what remains");
    else if (e->hard && !r->frequencies)
        snprintf(to, size, "rigid bonds: motion rigid is what this model asks for");
    else if (r->frequencies && ratio < 10)
        snprintf(to, size,
                 "fast and slow are not well separated (lowest frequency %.3g, slow rate about "
                 "%.3g at the start): resolve everything, --motion full",
                 r->frequency_least, r->slow_rate);
    else if (r->frequencies && r->oscillatory_energy > 1e-3 * r->energy_scale)
        snprintf(to, size,
                 "the start rings: %.2g of oscillatory energy beside %.2g; --motion slow takes the "
                 "ringing away, %sfull with --step at most %.2g resolves it%s",
                 r->oscillatory_energy, r->energy_scale,
                 damped || r->rank_message[0] ? "" : "effective averages it, ",
                 0.3 / r->frequency_most, damped ? " while damping lets it die" : "");
    else if (r->frequencies)
        snprintf(to, size,
                 "the start hardly rings: --motion slow takes long steps; full needs a --step of "
                 "about %.2g (0.3 over the highest frequency)",
                 0.3 / r->frequency_most);
    else
        snprintf(to, size, "no stiff springs: `taut run` integrates it with any explicit method");
}

static void advise(examiner *e)
{
    taut_check_report *r = e->report;
    for (int k = 0; k < r->derivatives; k++)
        if (!(r->derivative[k].deviation <=
              r->derivative[k].limit + r->derivative[k].uncertainty) &&
            !(e->sizes->can & TAUT_HAS_KINKS)) {
            r->verdict = 1;
            snprintf(r->advice, sizeof r->advice,
                     "%s does not agree with differences (%.2g at %s): correct the derivative",
                     r->derivative[k].name, r->derivative[k].deviation, r->derivative[k].where);
            return;
        }
    if (e->sizes->kind == TAUT_MECHANICAL)
        advise_mechanical(e);
    else if (r->verdict)
        snprintf(r->advice, sizeof r->advice, "remove the redundant constraints");
    else if (e->hard && r->start_position > 1e-6)
        snprintf(r->advice, sizeof r->advice, "the start violates the constraints by %.2g",
                 r->start_position);
    else {
        bool box = e->sizes->kind == TAUT_BLACK_BOX, observed = e->sizes->observables > 0;
        snprintf(r->advice, sizeof r->advice, "well posed%s%s",
                 box ? "" : "; `taut run` integrates it",
                 observed ? "; `taut project` finds a slow point for its observables"
                 : box    ? "; name [observables], and `taut project` finds a slow point for them"
                          : "");
    }
}

static taut_backend backend_option(const taut_options *options)
{
    const char *name = options ? taut_options_text(options, "backend") : "auto";
    for (int k = 0; name && k < TAUT_BACKEND_COUNT; k++)
        if (strcmp(taut_backend_name((taut_backend)k), name) == 0)
            return (taut_backend)k;
    return TAUT_BACKEND_AUTO;
}

static int examine(examiner *e, const taut_options *options)
{
    bool derivatives = !(options && taut_options_flag(options, "no-derivatives")) &&
                       e->sizes->kind != TAUT_BLACK_BOX;
    TAUT_TRY(taut_context_create(e->system, &e->arena.allocator, &e->context, e->error));
    TAUT_TRY(evaluate_start(e));
    find_rigid(e);
    measure_start(e);
    if (derivatives)
        TAUT_TRY(taut_verify_derivatives(e->context, e->t, e->q, e->v, e->report->derivative, 16,
                                         &e->report->derivatives, e->error));
    TAUT_TRY(check_rank(e));
    if (e->sizes->kind == TAUT_MECHANICAL) {
        TAUT_TRY(check_masses(e));
        TAUT_TRY(solve_start(e, backend_option(options)));
        TAUT_TRY(measure_energy(e));
        taut_saddle_destroy(e->saddle); /* frequencies need as much again */
        e->saddle = NULL;
        TAUT_TRY(measure_frequencies(e));
    }
    advise(e);
    return 0;
}

int taut_check(const taut_system *system, const taut_options *options, taut_check_report *report,
               taut_error *error)
{
    examiner e = {.system = system, .report = report, .error = error};
    memset(report, 0, sizeof *report);
    taut_error_clear(error);
    taut_system_sizes(system, &report->sizes);
    report->kinks = system->kinks;
    e.sizes = &report->sizes;
    e.n = e.sizes->coordinates;
    e.m = e.sizes->bonds;
    e.t = options && taut_options_given(options, "from") ? taut_options_real(options, "from")
                                                         : system->from;
    taut_arena_init(&e.arena, &system->arena.allocator);
    int status = examine(&e, options);
    taut_saddle_destroy(e.saddle);
    taut_context_destroy(e.context);
    taut_arena_clear(&e.arena);
    return status;
}
