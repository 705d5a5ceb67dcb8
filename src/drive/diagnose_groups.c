/* diagnose_groups.c - the frequencies of springs in a diagnosis, group by group of connected ones
 * (system/modes/groups.c), their closest resonance, their bound over ranks, and the separation. */
#include <math.h>

#include "drive/diagnose.h"
#include "vibration/effective.h"

double taut_closest_resonance(int found, const double *frequency, const int *owner)
{
    taut_modes_report near = {0};
    taut_resonances_find(found, frequency, owner, &near);
    return near.resonances > 0 ? near.resonance[0].gap : INFINITY;
}

static void take(taut_diagnosis *d, const taut_modes_work *w)
{
    for (int k = 0; k < w->count; k++) {
        d->least = k == 0 ? w->frequency[k] : fmin(d->least, w->frequency[k]);
        d->most = d->fastest = fmax(d->most, w->frequency[k]);
    }
    d->modes_cost = taut_modes_cost(w);
    d->frequencies = w->count;
    d->resonance = taut_closest_resonance(w->count, w->frequency, w->owner);
}

int taut_diagnose_groups(taut_context *context, const double *q, taut_arena *arena,
                         taut_diagnosis *d, bool *done, taut_error *error)
{
    taut_modes_work w = {0};
    taut_error reason;
    *done = false;
    if (!(d->sizes.can & TAUT_CAN_INVERT_MASS) || d->sizes.can & TAUT_HAS_STIFF_POTENTIAL)
        return TAUT_OK;
    int64_t before = context->statistics.force_evaluations;
    int status =
        taut_modes_create(&w, context, arena, TAUT_MODES_ALONE, TAUT_SPECTRUM_DENSE, &reason);
    if (status == 0) {
        status = taut_modes_find(&w, d->t, q, &reason);
        *done = status == 0 && w.count > 0;
    }
    context->statistics.force_evaluations = before; /* a diagnosis, not a part of the motion */
    if (*done)
        take(d, &w);
    taut_modes_destroy(&w);
    return taut_fail_final(status, &reason, error);
}

int taut_diagnose_bound(taut_context *context, taut_space *space, const double *q,
                        taut_diagnosis *d, taut_error *error)
{
    double bound = 0;
    d->least = d->slow_rate = d->turning_rate = d->time_rate = d->decay_steps = NAN;
    int status = taut_frequency_bound(context, d->t, q, &bound, error);
    TAUT_TRY(taut_space_agree(space, status, error));
    d->most = d->frequencies > 0 ? taut_space_largest(space, bound) : 0;
    return TAUT_OK;
}

void taut_diagnosis_separate(taut_diagnosis *d)
{
    const bool known = d->frequencies >= 0 && !d->over_ranks;
    d->separation = !known                                   ? NAN
                    : d->slow_rate > 0 && d->frequencies > 0 ? d->least / d->slow_rate
                                                             : INFINITY;
}
