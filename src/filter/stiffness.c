/* stiffness.c - frequencies of the springs at a state, and the rounding of their g.
 *
 * Without springs the frequencies of everything that moves are those of the stiff potential, or
 * found in differences of forces (force_spectrum.c). The largest gap among them separates fast
 * from slow (with many coordinates the lowest wide one: force_spectrum_large.c), and the
 * micro-solution decides: what passes do not remove is slow, or not yet found. Away from the slow
 * manifold the force of a stretched spring causes frequencies across it that vanish on the
 * manifold: a state that oscillates is measured again, and the last measurement counts. */
#include "filter/stiffness.h"

#include <float.h>
#include <math.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "linalg/spectrum.h"

/* The springs that are not soft (all, when all are soft), as a pattern of their own. */
typedef struct springs {
    taut_index count;
    taut_index *start, *column;
    double *entry, *compliance;
} springs;

static int take_springs(const taut_projection *p, taut_arena *arena, const taut_pattern *jacobian,
                        const double *entry, springs *s, taut_error *error)
{
    taut_index m = p->in->sizes.bonds, hard = 0, used = 0;
    const double *compliance = taut_context_compliance(p->in->context);
    for (taut_index i = 0; i < m; i++)
        hard += compliance[i] > 0 && !taut_context_soft(p->in->context, i);
    *s = (springs){.start = TAUT_NEW(arena, taut_index, m + 1),
                   .column = TAUT_NEW(arena, taut_index, p->in->sizes.jacobian_entries),
                   .entry = TAUT_NEW(arena, double, p->in->sizes.jacobian_entries),
                   .compliance = TAUT_NEW(arena, double, m)};
    TAUT_TRY(taut_arena_check(arena, error));
    for (taut_index i = 0; i < m; i++) {
        if (hard > 0 && taut_context_soft(p->in->context, i))
            continue;
        for (taut_index k = jacobian->start[i]; k < jacobian->start[i + 1]; k++, used++) {
            s->column[used] = jacobian->column[k];
            s->entry[used] = entry[k];
        }
        s->compliance[s->count++] = compliance[i];
        s->start[s->count] = used;
    }
    return TAUT_OK;
}

/* min over springs of sqrt(G_i M^-1 G_i^T / c_i), masses on a diagonal; columns of a row may
 * repeat. */
static double single_frequency(const springs *s, const double *mass)
{
    double least = INFINITY;
    for (taut_index i = 0; i < s->count; i++) {
        double sum = 0;
        for (taut_index k = s->start[i]; k < s->start[i + 1]; k++)
            for (taut_index l = s->start[i]; l < s->start[i + 1]; l++)
                if (s->column[k] == s->column[l])
                    sum += s->entry[k] * s->entry[l] / mass[s->column[k]];
        if (sum > 0)
            least = fmin(least, sqrt(sum / s->compliance[i]));
    }
    return least;
}

static int measure(const taut_projection *p, const double *q, taut_arena *arena,
                   taut_stiffness *known, taut_error *error)
{
    taut_index n = p->in->sizes.coordinates;
    bool matrix = p->in->sizes.mass != TAUT_MASS_DIAGONAL;
    taut_pattern jacobian, tangent = {0};
    TAUT_TRY(taut_system_pattern(p->in->system, TAUT_PATTERN_JACOBIAN, &jacobian, error));
    if (matrix)
        TAUT_TRY(taut_system_pattern(p->in->system, TAUT_PATTERN_TANGENT, &tangent, error));
    taut_values values = {.jacobian = TAUT_NEW(arena, double, p->in->sizes.jacobian_entries),
                          .bond_dt = TAUT_NEW(arena, double, p->in->sizes.bonds),
                          .mass = TAUT_NEW(arena, double, matrix ? tangent.start[n] : n)};
    TAUT_TRY(taut_arena_check(arena, error));
    TAUT_TRY(taut_evaluate_inside(p->in->context, p->in->t, q, p->v,
                                  TAUT_WANT_JACOBIAN | TAUT_WANT_MASS, &values, error));
    for (taut_index i = 0; i < p->in->sizes.bonds && known->floor; i++)
        known->floor[i] += 4 * DBL_EPSILON * taut_row_size(&jacobian, values.jacobian, i, q);

    springs s;
    TAUT_TRY(take_springs(p, arena, &jacobian, values.jacobian, &s, error));
    /* soft ones go with the slow motion: what passes do to them has no meaning */
    for (taut_index i = 0; i < p->in->sizes.bonds && known->floor && s.count < p->in->sizes.bonds;
         i++)
        if (taut_context_soft(p->in->context, i))
            known->floor[i] = INFINITY;
    taut_saddle_shape shape = {.n = n,
                               .m = s.count,
                               .k_start = tangent.start,
                               .k_column = tangent.column,
                               .g_start = s.start,
                               .g_column = s.column,
                               .symmetric = true,
                               .positive = true};
    taut_spectrum spectrum = {0};
    taut_error reason;
    int status =
        taut_spectrum_bonds(&shape, values.mass, s.entry, s.compliance, TAUT_STIFFNESS_ENDS,
                            known->frequency, NULL, &spectrum, &arena->allocator, &reason);
    if (status == TAUT_ERROR_MEMORY)
        return taut_fail_memory(error);
    known->found = status == 0 ? spectrum.found : 0;
    known->complete = spectrum.complete;
    known->single = matrix ? 0 : single_frequency(&s, values.mass);
    return TAUT_OK;
}

/* ---- without springs: what is fast? */

static const double separate = 8; /* fast over slow, at least */

static void split(int count, const double *rate, int first, double floor, bool complete,
                  taut_stiffness *known)
{
    while (first < count && !(rate[first] > 0))
        first++;
    int fast = count - first;
    known->slow = first > 0 ? fmax(rate[first - 1], floor) : 0;
    known->floor_rate = floor;
    known->complete = complete && fast <= 2 * TAUT_STIFFNESS_ENDS;
    known->found = fast < 2 * TAUT_STIFFNESS_ENDS ? fast : 2 * TAUT_STIFFNESS_ENDS;
    for (int k = 0; k < known->found; k++) {
        bool low = fast <= 2 * TAUT_STIFFNESS_ENDS || k < TAUT_STIFFNESS_ENDS;
        known->frequency[k] = rate[low ? first + k : count - known->found + k];
    }
}

bool taut_stiffness_missed(taut_stiffness *known, double rate)
{
    const taut_force_spectrum *r = known->spectrum;
    known->rate_left = 0;
    if (!r || known->given > 0 || known->complete || known->found == 0)
        return false;
    /* where differences have shown all that there is, what is left is slow motion that the
     * window sees; but they are at one velocity */
    if (r->clean && r->sharp && !(r->p->in->sizes.can & TAUT_HAS_VELOCITY_FORCES))
        return false;
    if (rate > known->frequency[0] / separate && rate < known->frequency[0])
        known->rate_left = rate;
    return known->rate_left > 0;
}

/* What passes do not remove, and is too fast to be slow, is fast: a frequency that differences
 * of forces do not show, because they are taken at one velocity, or because the iteration has
 * not come to it. */
static void lower(taut_stiffness *known)
{
    const double margin = 0.9;
    if (known->rate_left > 0)
        known->lowered = margin * known->rate_left;
    if (known->lowered == 0 || known->found == 0 || known->frequency[0] <= known->lowered)
        return;
    known->frequency[0] = known->lowered;
    if (known->slow > known->lowered / separate) /* that belongs to it: what is slow is not known */
        known->slow = fmin(known->floor_rate, known->lowered);
    known->complete = false;
}

static int see_forces(const taut_projection *p, const double *q, taut_stiffness *known,
                      taut_error *error)
{
    taut_force_spectrum_seen seen;
    taut_force_spectrum_request request = {known->given, known->rough};
    if (taut_force_spectrum_known(known->spectrum, q, known->rough)) {
        lower(known);
        return TAUT_OK;
    }
    TAUT_TRY(taut_force_spectrum_see(known->spectrum, q, p->v, &request, &seen, error));
    split(seen.count, seen.rate, seen.first, seen.floor, seen.complete, known);
    known->hidden =
        seen.first > 0 && seen.noise > seen.pace && seen.rate[seen.first - 1] <= seen.noise;
    known->repels = 0;
    known->loose = 0;
    int first = 0;
    while (known->found > 0 && seen.rate[first] < known->frequency[0])
        first++;
    for (int k = first; k < seen.count; k++)
        known->repels = seen.repels[k] ? seen.rate[k] : known->repels;
    if (known->found > 0 && !seen.clean)
        known->loose = p->in->sizes.coordinates > TAUT_FORCE_SPECTRUM_MOST
                           ? 1
                           : seen.loose[first] / known->frequency[0];
    lower(known);
    return TAUT_OK;
}

static int see_potential(const taut_projection *p, const double *q, taut_arena *arena,
                         taut_stiffness *known, taut_error *error)
{
    int n = p->in->sizes.coordinates,
        ends = n <= TAUT_SPECTRUM_DENSE ? (n + 1) / 2 : TAUT_STIFFNESS_ENDS, found;
    double *rate = TAUT_NEW(arena, double, 2 * ends);
    bool complete;
    taut_error reason;
    TAUT_NEED(error, rate);
    int status =
        taut_frequencies(p->in->context, p->in->t, q, ends, rate, &found, &complete, &reason);
    TAUT_TRY(taut_fail_final(status, &reason, error));
    known->found = 0;
    if (status != 0)
        return TAUT_OK;
    double floor;
    TAUT_TRY(taut_force_spectrum_pace(known->spectrum, q, p->v, &floor, error));
    split(found, rate, taut_force_spectrum_gap(found, rate, floor, known->given), floor, complete,
          known);
    return TAUT_OK;
}

bool taut_stiffness_declared(const taut_projection *p)
{
    return (p->in->sizes.can & TAUT_HAS_SPRINGS) && !(p->in->sizes.can & TAUT_HAS_STIFF_POTENTIAL);
}

int taut_stiffness_measure(const taut_projection *p, const double *q, taut_stiffness *known,
                           taut_error *error)
{
    taut_arena arena;
    taut_arena_init(&arena, &p->arena.allocator);
    int status = taut_stiffness_declared(p)            ? measure(p, q, &arena, known, error)
                 : p->in->sizes.can & TAUT_HAS_SPRINGS ? see_forces(p, q, known, error)
                 : p->in->sizes.can & TAUT_HAS_STIFF_POTENTIAL
                     ? see_potential(p, q, &arena, known, error)
                     : see_forces(p, q, known, error);
    taut_arena_clear(&arena);
    return status;
}

int taut_stiffness_separated(const taut_stiffness *known, taut_error *error)
{
    if (!known->spectrum)
        return TAUT_OK;
    if (known->found == 0)
        return taut_fail(error, TAUT_ERROR_CONVERGE, "no force of this system oscillates%s",
                         known->given > 0 ? " as fast as the given omega"
                                          : ": there is nothing to project onto");
    if (known->repels > 0)
        return taut_fail(error, TAUT_ERROR_CONVERGE,
                         "among the fast forces (rates from %.4g to %.4g, slow ones up to %.4g) is "
                         "one that repels, at a rate of %.4g: no slow motion exists next to it",
                         known->frequency[0], known->frequency[known->found - 1], known->slow,
                         known->repels);
    if (known->rate_left > 0)
        return taut_fail(error, TAUT_ERROR_CONVERGE,
                         "slow and fast are not separated: in addition to frequencies from %.4g to "
                         "%.4g a part that oscillates at %.4g remains in the micro-solution; set "
                         "omega, from which on motion is fast",
                         known->frequency[known->found > 1], known->frequency[known->found - 1],
                         known->rate_left);
    if (known->given == 0 && known->slow > 0 &&
        known->frequency[0] < (known->hidden ? 2 : separate) * known->slow)
        return taut_fail(error, TAUT_ERROR_CONVERGE,
                         "slow and fast are not separated: the largest gap among the frequencies "
                         "is that between %.4g and %.4g; set omega, from which on motion is fast",
                         known->slow, known->frequency[0]);
    if (known->given == 0 && known->loose > 0.1)
        return taut_fail(error, TAUT_ERROR_CONVERGE,
                         "the slowest of the fast frequencies could not be found among so many "
                         "(about %.4g, up to %.4g): set omega, from which on motion is fast",
                         known->frequency[0], known->frequency[known->found - 1]);
    return TAUT_OK;
}

/* ---- is it slow? */

double taut_stiffness_pace(const taut_projection *p)
{
    double size = taut_largest(p->in->sizes.coordinates, p->in->q);
    return size > 0 ? taut_largest(p->in->sizes.coordinates, p->in->v) / size : 0;
}
