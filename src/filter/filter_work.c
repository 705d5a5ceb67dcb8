/* filter_work.c - what filtering projections share: see filter_work.h. */
#include "filter/filter_work.h"

#include "base/vectors.h"
#include "point/hold/hold.h"
#include "step/flow_rattle.h"

int taut_filter_work_create(taut_filter_work *w, taut_error *error)
{
    taut_projection *p = w->p;
    TAUT_TRY(taut_rigid_bonds_create(p, &w->rigid, error));
    TAUT_TRY(taut_rigid_bonds_begin(&w->rigid, error));
    w->declared = taut_stiffness_declared(p);
    w->stiffness.given = w->settings->omega;
    if (!w->declared) {
        TAUT_TRY(taut_force_spectrum_create(p, &w->spectrum, error));
        w->stiffness.spectrum = &w->spectrum;
        w->stiffness.rough = p->in->sizes.coordinates > TAUT_FORCE_SPECTRUM_MOST;
    }
    TAUT_TRY(taut_filter_progress_create(p, w->stiffness.spectrum, &w->progress, error));
    TAUT_TRY(taut_sampler_create(p, &w->sampler, error));
    return taut_hold_restorer_create(p->in->context, &p->arena, &p->statistics, p->in->hold,
                                     p->in->t, p->q, p->v, &w->restorer, error);
}

void taut_filter_work_destroy(taut_filter_work *w)
{
    taut_rigid_bonds_end(&w->rigid);
    taut_rigid_bonds_destroy(&w->rigid);
    taut_fibre_destroy(&w->fibre);
    taut_sampler_destroy(&w->sampler);
    taut_force_spectrum_destroy(&w->spectrum);
    taut_hold_restorer_destroy(w->restorer);
}

int taut_filter_work_measure(taut_filter_work *w, taut_error *error)
{
    bool first = w->fastest == 0;
    w->stiffness.floor = w->declared && first ? w->progress.floor : NULL;
    TAUT_TRY(taut_stiffness_measure(w->p, w->p->q, &w->stiffness, error));
    if (w->stiffness.found == 0)
        return taut_stiffness_separated(&w->stiffness, error);
    w->slowest = w->stiffness.frequency[0];
    w->fastest = w->stiffness.frequency[w->stiffness.found - 1];
    return first && !w->declared
               ? taut_filter_progress_scale(&w->progress, w->slowest, w->fastest, error)
               : TAUT_OK;
}

int taut_filter_work_multipliers(taut_filter_work *w, const double *balance, int64_t pass,
                                 taut_error *error)
{
    taut_projection *p = w->p;
    if (w->sampler.rigid && !balance)
        return taut_flow_rattle_multipliers(w->sampler.flow, p->in->t, p->q, p->v, p->lambda,
                                            error);
    for (taut_index i = 0; i < p->in->sizes.bonds; i++)
        p->lambda[i] = balance ? balance[i] : taut_spring_force(p, &p->pass[pass], i);
    return TAUT_OK;
}
