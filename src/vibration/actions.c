/* actions.c - energies and actions of the stiff modes at a state, and how well their frequencies
 * are separated.
 *
 *     E_k = (pdot_k^2 + Omega_k^2 p_k^2)/2, J_k = E_k/Omega_k   [E (20)]
 *
 * with g and G at the given point, not at its projection. The actions are kept while |Omega_j -
 * Omega_k| (j != k) [E (11)] and |Omega_j - Omega_k - Omega_l| (all j, k, l) [E (12)] stay away
 * from zero. Both belong to one group of springs: equal molecules that do not touch are no
 * resonance. */
#include "base/rows.h"
#include "vibration/effective.h"

#include <math.h>
#include <stdlib.h>

#include "base/structs.h"
#include "system/modes/potential_modes.h"
#include "system/redundant.h"

enum {
    MOST_RESONANCES = sizeof(((taut_modes_report *)0)->resonance) / sizeof(taut_resonance),
    SHARES = 4
};

/* Keeps the closest ones, sorted. */
static void insert_resonance(taut_modes_report *report, int j, int k, int l, double gap)
{
    int at = report->resonances < MOST_RESONANCES ? report->resonances++ : MOST_RESONANCES;
    for (; at > 0 && report->resonance[at - 1].gap > gap; at--)
        if (at < MOST_RESONANCES)
            report->resonance[at] = report->resonance[at - 1];
    if (at < MOST_RESONANCES)
        report->resonance[at] = (taut_resonance){j, k, l, gap};
}

/* All neighbours; and for each j the pairs k <= l along the line Omega_k + Omega_l = Omega_j:
 * O(modes^2). */
static void add_group(int first, int end, const double *frequency, taut_modes_report *report)
{
    for (int j = first + 1; j < end; j++) {
        double gap = (frequency[j] - frequency[j - 1]) / frequency[j];
        report->separation = fmin(report->separation, gap);
        insert_resonance(report, j, j - 1, -1, gap);
    }
    for (int j = first; j < end; j++)
        for (int k = first, l = end - 1; k <= l;) {
            double excess = frequency[k] + frequency[l] - frequency[j];
            if (k != j && l != j) /* else only a frequency near zero: that is the separation of fast
                                     and slow */
                insert_resonance(report, j, k, l, fabs(excess) / frequency[j]);
            if (excess > 0)
                l--;
            else
                k++;
        }
}

void taut_resonances_find(int modes, const double *frequency, const int *owner,
                          taut_modes_report *report)
{
    report->separation = INFINITY;
    for (int first = 0, end; first < modes; first = end) {
        end = owner ? first + 1 : modes;
        while (end < modes && owner[end] == owner[first])
            end++;
        add_group(first, end, frequency, report);
    }
}

/* Keeps the largest, sorted. */
static void insert_share(taut_mode *mode, taut_index bond, double share)
{
    int at = SHARES;
    while (at > 0 && share > mode->share[at - 1])
        at--;
    for (int a = SHARES - 1; a > at; a--) {
        mode->share[a] = mode->share[a - 1];
        mode->bond[a] = mode->bond[a - 1];
    }
    if (at < SHARES) {
        mode->share[at] = share;
        mode->bond[at] = bond;
    }
}

/* Fills in frequency, amplitudes and shares of mode k. */
typedef void describer(const void *work, int k, taut_mode *mode);

/* A mode and its place in the work, to be sorted. */
typedef struct place {
    double frequency;
    int k;
} place;

static int compare(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->frequency != y->frequency
               ? (x->frequency > y->frequency) - (x->frequency < y->frequency)
               : (x->k > y->k) - (x->k < y->k);
}

/* Resonances are found by groups (owner), and named by the places among all, ascending. */
static int name_resonances(int modes, const double *frequency, const int *owner, const place *order,
                           taut_arena *arena, taut_modes_report *report, taut_error *error)
{
    int *rank = TAUT_NEW(arena, int, modes);
    TAUT_NEED(error, rank);
    for (int k = 0; k < modes; k++)
        rank[order[k].k] = k;
    taut_resonances_find(modes, frequency, owner, report);
    for (int r = 0; r < report->resonances; r++) {
        taut_resonance *one = &report->resonance[r];
        *one =
            (taut_resonance){rank[one->j], rank[one->k], one->l >= 0 ? rank[one->l] : -1, one->gap};
    }
    return TAUT_OK;
}

/* From modes in the order of the work to a list that ascends. */
static int fill(const void *work, describer *describe, int modes, const double *frequency,
                const int *owner, int count, taut_arena *arena, taut_mode *mode,
                taut_modes_report *report, taut_error *error)
{
    place *order = TAUT_NEW(arena, place, modes);
    TAUT_NEED(error, order);
    for (int k = 0; k < modes; k++)
        order[k] = (place){frequency[k], k};
    qsort(order, (size_t)modes, sizeof *order, compare);
    report->modes = modes;
    report->complete = modes <= count;
    report->found = report->complete ? modes : count;
    for (int k = 0; k < modes; k++) {
        taut_mode made = {
            .frequency = order[k].frequency, .bond = {-1, -1, -1, -1}, .place = order[k].k};
        describe(work, order[k].k, &made);
        made.energy = (made.rate * made.rate +
                       made.frequency * made.frequency * made.stretch * made.stretch) /
                      2;
        made.action = made.energy / made.frequency;
        report->energy += made.energy;
        report->correction += made.action * made.frequency;
        if (report->complete || k < count - count / 2)
            mode[k] = made;
        else if (k >= modes - count / 2)
            mode[k - modes + count] = made;
    }
    return name_resonances(modes, frequency, owner, order, arena, report, error);
}

typedef struct spring_modes {
    taut_modes_work modes;
    const double *v;
} spring_modes;

static void describe_springs(const void *work, int k, taut_mode *mode)
{
    const spring_modes *s = work;
    const taut_modes_work *w = &s->modes;
    const taut_mode_group *g = &w->group[w->owner[k]];
    const double *weight = taut_modes_weight(w, k), *c = taut_context_compliance(w->context);
    taut_modes_amplitude(w, k, s->v, &mode->stretch, &mode->rate);
    for (taut_index i = 0; i < g->springs; i++) /* u^2/c over Omega^2; the sum is w^T C w = 1 */
        insert_share(mode, g->spring[i], c[g->spring[i]] * weight[i] * weight[i]);
}

static int frequencies(taut_context *context, double t, const double *q, int count, taut_mode *mode,
                       taut_modes_report *report, taut_error *error);

/* Large groups have only the ends of their spectrum, unless all modes are requested. */
static int springs(taut_context *context, double t, const double *q, const double *v, int count,
                   taut_mode *mode, taut_modes_report *report, taut_error *error)
{
    taut_arena arena;
    spring_modes s = {.modes = {.context = context}, .v = v};
    taut_arena_init(&arena, &context->arena.allocator);
    taut_modes_work *w = &s.modes;
    int status =
        taut_modes_create(w, context, &arena, TAUT_MODES_ALONE, TAUT_SPECTRUM_DENSE, error);
    bool large = status == TAUT_ERROR_REFUSED && w->largest > TAUT_SPECTRUM_DENSE,
         ends = large && count < w->springs;
    if (large && !ends)
        status = taut_modes_create(w, context, &arena, TAUT_MODES_ALONE, TAUT_SPECTRUM_DENSE_LIMIT,
                                   error);
    else if (ends)
        status = TAUT_OK;
    if (status == 0 && !ends)
        status = taut_modes_find(w, t, q, error);
    if (status == 0 && !ends)
        status = fill(&s, describe_springs, w->count, w->frequency, w->owner, count, &arena, mode,
                      report, error);
    taut_modes_destroy(w);
    taut_arena_clear(&arena);
    return ends ? frequencies(context, t, q, count, mode, report, error) : status;
}

/* ---- with a stiff potential, K z = Omega^2 M z (potential_modes.h):  p = z^T U_q/Omega^2,
 * pdot = z^T dU_q/dt/Omega^2,  U all that is stiff */

typedef struct stiff_work {
    taut_potential_modes modes;
    taut_jet *jet;
    double *gradient, *rate; /* [n]: U_q and its rate along (q, v), time included */
    double *frequency;       /* [n], ascending */
    int *from;               /* [n]: place of each in the list of modes */
} stiff_work;

/* out += G_i^T x/c of a spring that is part of the modes */
static void add_spring(const taut_potential_modes *w, taut_index i, double x, double *out)
{
    taut_row_add(&w->jacobian, w->values.jacobian, i, x / taut_context_compliance(w->context)[i],
                 out);
}

static double stretch_of(const taut_potential_modes *w, taut_index i, const double *x)
{
    return taut_row_dot(&w->jacobian, w->values.jacobian, i, x);
}

static bool vibrates(const taut_potential_modes *w, taut_index i)
{
    return !w->rigid[i] && !taut_context_soft(w->context, i);
}

static int find_rate(stiff_work *s, double t, const double *q, const double *v, taut_error *error)
{
    taut_potential_modes *w = &s->modes;
    taut_values values = {.stiff_force = s->rate};
    taut_potential_modes_gradient(w, s->gradient);
    TAUT_TRY(taut_jet_advance_inside(s->jet, 0, t, q, v, &values, error));
    TAUT_TRY(taut_jet_advance_inside(s->jet, 1, t, v, v, &values, error));
    for (taut_index i = 0; i < w->n; i++)
        s->rate[i] = -s->rate[i];
    for (taut_index i = 0; i < w->m; i++)
        if (vibrates(w, i))
            add_spring(w, i, w->values.bond_dt[i] + stretch_of(w, i, v), s->rate);
    return TAUT_OK;
}

static void describe_stiff(const void *work, int k, taut_mode *mode)
{
    const stiff_work *s = work;
    const taut_potential_modes *w = &s->modes;
    const double *z = w->mode + (int64_t)s->from[k] * w->n,
                 *c = taut_context_compliance(w->context);
    double square = s->frequency[k] * s->frequency[k];
    mode->potential = 1;
    for (taut_index i = 0; i < w->n; i++) {
        mode->stretch += z[i] * s->gradient[i] / square;
        mode->rate += z[i] * s->rate[i] / square;
    }
    for (taut_index i = 0; i < w->m; i++) {
        if (!vibrates(w, i))
            continue;
        double along = stretch_of(w, i, z), share = along * along / (c[i] * square);
        mode->potential -= share;
        insert_share(mode, i, share);
    }
    mode->potential = fmax(mode->potential, 0); /* rounding */
}

/* The modes that vibrate, ascending; returns how many. */
static int sort_modes(stiff_work *s, int rank)
{
    int found = 0;
    for (int k = rank - 1; k >= 0; k--) /* values descend; negative ones are no vibrations */
        if (s->modes.value[k] > 0) {
            s->frequency[found] = sqrt(s->modes.value[k]);
            s->from[found++] = k;
        }
    return found;
}

static int small_stiff(taut_context *context, double t, const double *q, const double *v, int count,
                       taut_mode *mode, taut_modes_report *report, taut_error *error)
{
    taut_arena arena;
    stiff_work s = {0};
    int rank = 0;
    taut_index n = context->system->sizes.coordinates;
    taut_arena_init(&arena, &context->arena.allocator);
    int status = taut_potential_modes_create(&s.modes, context, &arena, false, error);
    s.from = TAUT_NEW(&arena, int, n);
    double *rest = NULL;
    if (status == 0)
        status = TAUT_RESERVE(&arena, n, error, &s.gradient, &s.rate, &s.frequency, &rest);
    if (status == 0)
        status = taut_arena_check(&arena, error);
    if (status == 0)
        status = taut_jet_create(context, 1, TAUT_WANT_STIFF_FORCE, &s.jet, error);
    if (status == 0)
        status = taut_potential_modes_modes(&s.modes, t, q, &rank, error);
    if (status == 0)
        status = find_rate(&s, t, q, v ? v : rest, error);
    if (status == 0)
        status = fill(&s, describe_stiff, sort_modes(&s, rank), s.frequency, NULL, count, &arena,
                      mode, report, error);
    taut_jet_destroy(s.jet);
    taut_arena_clear(&arena);
    return status;
}

/* Frequencies alone, from both ends. */
static int frequencies(taut_context *context, double t, const double *q, int count, taut_mode *mode,
                       taut_modes_report *report, taut_error *error)
{
    taut_arena arena;
    taut_arena_init(&arena, &context->arena.allocator);
    int ends = count > 1 ? count / 2 : 1, found = 0;
    double *frequency = TAUT_NEW(&arena, double, 2 * (int64_t)ends);
    int status = frequency ? taut_frequencies(context, t, q, ends, frequency, &found,
                                              &report->complete, error)
                           : taut_fail_memory(error);
    report->found = found < count ? found : count;
    report->complete = report->complete && found <= count;
    report->modes = report->complete ? found : -1;
    for (int k = 0; k < report->found; k++)
        mode[k] = (taut_mode){.frequency = frequency[k],
                              .stretch = NAN,
                              .rate = NAN,
                              .energy = NAN,
                              .action = NAN,
                              .bond = {-1, -1, -1, -1},
                              .place = -1};
    if (status == 0 && report->complete)
        taut_resonances_find(report->found, frequency, NULL, report);
    report->energy = report->correction = NAN;
    taut_arena_clear(&arena);
    return status;
}

static int find_modes(taut_context *context, double t, const double *q, const double *v, int count,
                      taut_mode *mode, taut_modes_report *report, taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(context->system, &sizes);
    if (count < 1)
        return taut_fail(error, TAUT_ERROR_USAGE, "at least one mode must be requested, not %d",
                         count);
    if (sizes.kind != TAUT_MECHANICAL)
        return taut_fail(error, TAUT_ERROR_REFUSED, "modes exist for mechanical systems only");
    if (!(sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL)))
        return 0;
    int64_t before = context->statistics.force_evaluations;
    bool stiff = sizes.can & TAUT_HAS_STIFF_POTENTIAL;
    int status = !stiff ? springs(context, t, q, v, count, mode, report, error)
                 : sizes.coordinates > TAUT_SPECTRUM_DENSE
                     ? frequencies(context, t, q, count, mode, report, error)
                     : small_stiff(context, t, q, v, count, mode, report, error);
    context->statistics.force_evaluations = before; /* a diagnosis, not a part of the motion */
    return status;
}

/* The same without redundant rigid bonds, where it is they that made the matrix singular. */
static int find_modes_without(taut_context *context, double t, const double *q, const double *v,
                              int count, taut_mode *mode, taut_modes_report *report,
                              taut_error *error)
{
    taut_redundancy found = {0};
    taut_context *other = NULL;
    taut_error reason = {.t = NAN};
    taut_arena arena;
    taut_arena_init(&arena, &context->arena.allocator);
    double *rest = TAUT_NEW(&arena, double, context->system->sizes.coordinates);
    int status = rest ? taut_redundancy_find(context->system, t, q, v ? v : rest,
                                             &context->arena.allocator, &found, &reason)
                      : TAUT_ERROR_SINGULAR;
    if (status == 0 && found.independent) {
        *report =
            (taut_modes_report){.size = report->size, .complete = true, .separation = INFINITY};
        status = taut_context_like(context, found.independent, &arena.allocator, &other, error);
        if (status == 0)
            status = find_modes(other, t, q, v, count, mode, report, error);
    } else {
        status = TAUT_ERROR_SINGULAR; /* *error has the reason */
    }
    taut_context_destroy(other);
    taut_system_destroy(found.independent);
    taut_arena_clear(&arena);
    return status;
}

int taut_modes(taut_context *context, double t, const double *q, const double *v, int count,
               taut_mode *mode, taut_modes_report *report, taut_error *error)
{
    taut_modes_report own = {.complete = true, .separation = INFINITY};
    TAUT_REQUIRE(context && q && mode);
    TAUT_TRY(taut_struct_fill(report, &own, sizeof own, "taut_modes_report", error));
    int status = find_modes(context, t, q, v, count, mode, &own, error);
    if (status == TAUT_ERROR_SINGULAR)
        status = find_modes_without(context, t, q, v, count, mode, &own, error);
    taut_struct_fill(report, &own, sizeof own, "taut_modes_report", NULL);
    return status;
}
