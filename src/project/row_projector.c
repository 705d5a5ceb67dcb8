/* row_projector.c - any row of the table of projections as a projector that allocates nothing.
 *
 * Series is a projector itself. The others are made, used and released for each state in a block of
 * memory that they get piece by piece: its size is four times what the row needed at the initial
 * state, where nothing is limited. */
#include "project/row_projector.h"

#include "base/statistics.h"
#include "base/vectors.h"
#include "slow/potential/potential.h"
#include "slow/series.h"
#include "system/system.h"

enum { UNIT = 64, MARGIN = 4 };

/* Hands out one block, again and again. */
typedef struct pool {
    char *block; /* NULL: counts what `from` gives */
    size_t size, used;
    bool short_of;
    taut_allocator from;
} pool;

typedef struct row_projector {
    taut_projector projector;
    taut_context *context; /* whose system and parameters count */
    taut_projection_settings settings;
    taut_projector *series; /* does it all, or NULL */
    pool pool;
    taut_index n, m;
    double *lambda; /* [m] */
} row_projector;

static void *get(void *user, size_t bytes)
{
    pool *p = user;
    size_t rounded = (bytes + UNIT - 1) / UNIT * UNIT;
    if (p->block && rounded > p->size - p->used) {
        p->short_of = true;
        return NULL;
    }
    void *place = p->block ? p->block + p->used : p->from.allocate(p->from.user, bytes);
    p->used += rounded;
    return place;
}

static void put(void *user, void *block)
{
    pool *p = user;
    if (!p->block)
        p->from.release(p->from.user, block);
}

/* From (q, v) to its slow point, in a context of its own: whatever grows in one, ends with it. */
static int project(row_projector *w, double t, double *q, double *v,
                   const taut_projection_method **made_by, taut_error *error)
{
    taut_allocator from = {get, put, &w->pool};
    taut_context *context = NULL;
    taut_projection *found = NULL;
    w->pool.used = 0;
    w->pool.short_of = false;
    int status =
        taut_context_like(w->context, taut_context_system(w->context), &from, &context, error);
    if (status == 0)
        status = taut_project_state(context, t, q, v, &w->settings, &from, &found, error);
    if (status == 0) {
        taut_copy(w->n, found->q, q);
        taut_copy(w->n, found->v, v);
        taut_copy(w->m, found->lambda, w->lambda);
        taut_statistics_add(w->projector.statistics, &found->statistics);
        *made_by = found->method;
    }
    taut_projection_destroy(found);
    taut_context_destroy(context);
    if (status == TAUT_ERROR_MEMORY && w->pool.short_of)
        return taut_fail(error, TAUT_ERROR_CONVERGE,
                         "projection %s needs more than %d times the memory that it needed at the "
                         "initial state, at t = %.9g: the state is far from the slow manifold",
                         w->settings.method->name, MARGIN, t);
    return status;
}

static int apply(taut_projector *projector, double t, double *q, double *v, taut_error *error)
{
    const taut_projection_method *row;
    projector->statistics->projections++;
    return project(projector->self, t, q, v, &row, error);
}

static int apply_series(taut_projector *projector, double t, double *q, double *v,
                        taut_error *error)
{
    taut_projector *series = ((row_projector *)projector->self)->series;
    projector->statistics->projections++;
    return series->apply(series, t, q, v, error);
}

static void archive_series(taut_projector *projector, taut_archive *archive)
{
    taut_projector *series = ((row_projector *)projector->self)->series;
    if (series->archive)
        series->archive(series, archive);
}

static void destroy(taut_projector *projector)
{
    row_projector *w = projector->self;
    if (w->series)
        w->series->destroy(w->series);
    w->series = NULL;
}

static int make_series(row_projector *w, const taut_sizes *sizes, taut_arena *arena,
                       taut_error *error)
{
    bool potential = sizes->can & TAUT_HAS_STIFF_POTENTIAL;
    taut_series_report report;
    TAUT_TRY(taut_series_create(potential ? &taut_potential_series : &taut_bond_series, w->context,
                                arena, w->projector.statistics, NULL, &w->series, error));
    taut_series_report_get(w->series, &report);
    w->projector.lambda = potential || !report.lambda ? NULL : report.lambda;
    w->projector.apply = apply_series;
    w->projector.archive = archive_series;
    return TAUT_OK;
}

static int fill(row_projector *w, taut_arena *arena, double t, double *q, double *v,
                const taut_projection_method **row, taut_error *error)
{
    taut_sizes sizes;
    taut_system_sizes(taut_context_system(w->context), &sizes);
    w->n = sizes.coordinates;
    w->m = sizes.bonds;
    TAUT_TRY(TAUT_RESERVE(arena, w->m, error, &w->lambda));
    TAUT_TRY(project(w, t, q, v, row, error));
    w->settings.method = *row;
    if (*row == &taut_projection_series)
        return make_series(w, &sizes, arena, error);
    bool springs = (sizes.can & TAUT_HAS_SPRINGS) && !(sizes.can & TAUT_HAS_STIFF_POTENTIAL);
    w->projector.lambda = springs ? w->lambda : NULL;
    w->pool.size = MARGIN * w->pool.used;
    w->pool.block = TAUT_NEW(arena, char, (int64_t)w->pool.size);
    return w->pool.block ? TAUT_OK : taut_fail_memory(error);
}

int taut_row_projector_create(taut_context *context, const taut_projection_settings *settings,
                              taut_arena *arena, taut_statistics *statistics, double t, double *q,
                              double *v, const taut_projection_method **row,
                              taut_projector **projector, taut_error *error)
{
    row_projector *w = TAUT_NEW(arena, row_projector, 1);
    *projector = NULL;
    TAUT_NEED(error, w);
    w->context = context;
    w->settings = *settings;
    w->settings.hold = NULL;
    w->settings.inside = true;
    w->pool.from = arena->allocator;
    w->projector = (taut_projector){.name = "slow point",
                                    .apply = apply,
                                    .destroy = destroy,
                                    .statistics = statistics,
                                    .self = w};
    int status = fill(w, arena, t, q, v, row, error);
    if (status == 0)
        *projector = &w->projector;
    else
        destroy(&w->projector);
    return status;
}
