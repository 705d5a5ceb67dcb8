/* motion.c - which motion, and which method for it, when neither is specified.
 *
 *     rigid       c = 0 for every bond that is not soft
 *     slow        the stiff system itself on its slow manifold
 *     effective   bounded oscillations averaged
 *     full        every oscillation resolved
 *
 * The diagnosis of the initial state decides. `taut check` and every run use the same functions;
 * run_start.c puts the decision into effect. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "drive/solver.h"
#include "step/methods.h"

static const double NEGLIGIBLE = 1e-3; /* oscillatory energy over the energy scale */
static const double SEPARATED = 10;    /* lowest stiff frequency over the slow rate */

/* ---- which motion */

/* Does the table have a method of this motion that accepts the system? */
static bool offered(const taut_sizes *sizes, unsigned motion)
{
    for (int k = 0; taut_method_table[k]; k++)
        if ((taut_method_table[k]->motions & motion) &&
            taut_method_accepts(taut_method_table[k], sizes, NULL) == 0)
            return true;
    return false;
}

bool taut_motion_oscillates(const taut_diagnosis *d)
{
    return d->oscillatory_energy > NEGLIGIBLE * d->energy_scale;
}

/* For a system with stiff modes. */
static unsigned judge(const taut_diagnosis *d, unsigned avoid, char *why, size_t size)
{
    double energy = d->oscillatory_energy, scale = d->energy_scale;
    bool oscillates = taut_motion_oscillates(d);
    if (d->rank >= d->sizes.coordinates || d->frequencies >= d->sizes.coordinates) {
        snprintf(why, size, "full because the bonds leave no slow motion");
        return TAUT_MOTION_FULL;
    }
    if (!(d->separation >= SEPARATED)) {
        snprintf(why, size,
                 "full because the lowest stiff frequency (%.3g) is less than %g times the rate of "
                 "the slow motion (about %.3g)",
                 d->least, SEPARATED, d->slow_rate);
        return TAUT_MOTION_FULL;
    }
    if (!oscillates && offered(&d->sizes, TAUT_MOTION_SLOW & ~avoid)) {
        snprintf(why, size,
                 "slow because the initial state has negligible oscillatory energy (%.2g of %.2g)",
                 energy, scale);
        return TAUT_MOTION_SLOW;
    }
    if (oscillates && offered(&d->sizes, TAUT_MOTION_EFFECTIVE & ~avoid)) {
        snprintf(why, size,
                 "effective because the initial state oscillates (oscillatory energy %.2g of "
                 "%.2g): actions are conserved, oscillations averaged",
                 energy, scale);
        return TAUT_MOTION_EFFECTIVE;
    }
    taut_append(why, size, "%sfull resolves the oscillations (oscillatory energy %.2g of %.2g)",
                why[0] ? "; " : "", energy, scale); /* after what failed before */
    return TAUT_MOTION_FULL;
}

unsigned taut_motion_advise(const taut_diagnosis *d, unsigned avoid, char *why, size_t size)
{
    bool stiff = d->sizes.can & TAUT_HAS_STIFF_POTENTIAL;
    if (stiff || d->frequencies > 0) /* soft springs are forces */
        return judge(d, avoid, why, size);
    bool rigid = d->sizes.kind == TAUT_MECHANICAL && (d->sizes.can & TAUT_HAS_RIGID) &&
                 offered(&d->sizes, TAUT_MOTION_RIGID & ~avoid);
    return rigid ? TAUT_MOTION_RIGID : TAUT_MOTION_FULL;
}

static taut_backend backend_of(const taut_options *options)
{
    const char *name = taut_options_text(options, "backend");
    for (int k = 0; k < TAUT_BACKEND_COUNT; k++)
        if (strcmp(taut_backend_name((taut_backend)k), name) == 0)
            return (taut_backend)k;
    return TAUT_BACKEND_AUTO;
}

int taut_motion_diagnose(taut_solver *solver, taut_error *error)
{
    const taut_sizes *z = &solver->sizes; /* of the model: nothing is derived yet */
    taut_arena arena;
    taut_context *context = NULL;
    double from = taut_options_real(solver->options, "from");
    taut_index velocities = z->kind == TAUT_MECHANICAL ? z->coordinates : z->algebraic;
    if (solver->diagnosis.parts)
        return TAUT_OK;
    taut_arena_init(&arena, &solver->arena.allocator);
    double *q = TAUT_NEW(&arena, double, z->coordinates), *v = TAUT_NEW(&arena, double, velocities);
    int status = q && v ? TAUT_OK : taut_fail_memory(error);
    if (status == 0)
        status = taut_context_create(solver->system, &arena.allocator, &context, error);
    if (status == 0)
        status = taut_context_start(context, from, q, v, error);
    if (status == 0)
        status = taut_diagnose(context, from, q, v, TAUT_DIAGNOSE_INITIAL,
                               backend_of(solver->options), &solver->diagnosis, error);
    if (status == 0)
        status = taut_diagnose_along(context, taut_options_real(solver->options, "until"), q, v,
                                     &solver->diagnosis, error);
    taut_context_destroy(context);
    taut_arena_clear(&arena);
    return status;
}

int taut_motion_choose(taut_solver *solver, unsigned *motion, taut_error *error)
{
    const taut_diagnosis none = {.sizes = solver->sizes}, *d = &none;
    if (solver->sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL)) {
        TAUT_TRY(taut_motion_diagnose(solver, error));
        d = &solver->diagnosis;
    }
    *motion = taut_motion_advise(d, solver->avoid, solver->why, sizeof solver->why);
    return TAUT_OK;
}

/* ---- which method */

/* Usable without further options: it accepts the system, and its step size can be chosen. */
static bool usable(const taut_solver *solver, const taut_method *method, bool step_given)
{
    bool springs = solver->sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL);
    bool stepped = step_given || method->error_order > 0 || (springs && method->stability > 0);
    return (method->motions & solver->motion) && stepped &&
           taut_method_accepts(method, &solver->sizes, NULL) == 0;
}

const taut_method *taut_motion_method(const taut_solver *solver, bool step_given)
{
    static const struct {
        unsigned motion;
        const taut_method *methods[3]; /* in order of preference */
    } preferred[] = {
        {TAUT_MOTION_RIGID, {&taut_dop8, &taut_radau5, &taut_rattle}},
        {TAUT_MOTION_SLOW, {&taut_radau5}},
        {TAUT_MOTION_EFFECTIVE, {&taut_projected_impulse, &taut_effective}}, /* the first: a step */
        {TAUT_MOTION_FULL, {&taut_verlet, &taut_dop8, &taut_radau5}},
    };
    bool damped = solver->sizes.kind == TAUT_MECHANICAL && (solver->sizes.can & TAUT_HAS_DAMPING);
    if (damped && usable(solver, &taut_radau5, step_given)) /* strong damping is stiff */
        return &taut_radau5;
    for (size_t j = 0; j < sizeof preferred / sizeof preferred[0]; j++)
        for (int k = 0; preferred[j].motion == solver->motion && k < 3; k++)
            if (preferred[j].methods[k] && usable(solver, preferred[j].methods[k], step_given))
                return preferred[j].methods[k];
    /* any whose step size can be chosen; then any that accepts the system */
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; taut_method_table[k]; k++)
            if (usable(solver, taut_method_table[k], step_given || pass))
                return taut_method_table[k];
    return NULL;
}
