/* projection_ranks.c - a projection over several ranks (system/rank_part.h): each works on its
 * part. What it does not support is refused; the result is gathered on rank 0 where it is asked
 * for. */
#include "project/project.h"

#include "point/hold/hold.h"
#include "system/rank_part.h"
#include "system/system.h"

static int fail_option(const char *name, taut_error *error)
{
    return taut_fail_option(error, TAUT_ERROR_REFUSED, name,
                            "this option is not supported over several ranks: omit it, or use it "
                            "without mpiexec");
}

int taut_projection_ranks(taut_projection *p, const taut_projection_settings *settings,
                          taut_error *error)
{
    const taut_projection_input *in = p->in;
    taut_space *space = taut_context_space(in->context);
    if (!space)
        return TAUT_OK;
    TAUT_TRY(taut_part_refuse(in->system, error));
    if (p->method == &taut_projection_auto)
        p->method = in->sizes.can & TAUT_HAS_SPRINGS ? &taut_projection_series
                                                     : &taut_projection_constraint;
    if (!p->method->spans_ranks)
        return taut_fail_option(error, TAUT_ERROR_REFUSED, "method",
                                "projection %s is not supported over several ranks, which have "
                                "constraint and series: use one of these, or run without mpiexec",
                                p->method->name);
    const char *option = settings->expansion        ? "expansion"
                         : settings->richardson > 0 ? "richardson"
                         : settings->record         ? "plot"
                                                    : NULL;
    if (option)
        return fail_option(option, error);
    const unsigned bits = TAUT_HOLD_POSITION | TAUT_HOLD_VELOCITY | TAUT_GUESS;
    const bool held = taut_hold_any(in->hold, in->sizes.coordinates, bits);
    return taut_space_largest(space, held) > 0
               ? taut_fail(error, TAUT_ERROR_REFUSED,
                           "`hold` and `guess` of [start] are not supported in projections over "
                           "several ranks: omit them, or run without mpiexec")
               : TAUT_OK;
}

int taut_projection_ranks_begin(const taut_system *system, const taut_options *options,
                                taut_error *error)
{
    const taut_part *part = system->part;
    if (!part)
        return TAUT_OK;
    if (taut_options_given(options, "hold"))
        return fail_option("hold", error);
    const double n = (double)part->coordinates.total, m = (double)part->bonds.total;
    return taut_part_fits(4 * n + 3 * m,
                          "a run in motion slow finds the slow point of larger systems", error);
}

/* ---- the whole result, on rank 0 */

typedef struct gathering {
    taut_arena *arena;
    double *room;
    bool first;
    taut_error *error;
} gathering;

/* x of this rank; *to becomes that of all ranks on rank 0. */
static int gather(gathering *g, const taut_halo *halo, const double *x, double **to)
{
    double *whole = NULL;
    TAUT_TRY(TAUT_RESERVE(g->arena, g->first ? halo->total : 0, g->error, &whole));
    taut_halo_whole(halo, x, g->room, whole);
    *to = g->first ? whole : *to;
    return TAUT_OK;
}

static int gather_all(taut_projection *p, taut_projection_input *in, const taut_part *part,
                      taut_error *error)
{
    const taut_halo *q = &part->coordinates, *bond = &part->bonds;
    const int64_t rooms[] = {taut_halo_room(q), taut_halo_room(bond)};
    gathering g = {.arena = &p->arena, .first = part->space->rank == 0, .error = error};
    double *start_q = NULL, *start_v = NULL;
    TAUT_TRY(TAUT_RESERVE(&p->arena, rooms[rooms[1] > rooms[0]], error, &g.room));
    TAUT_TRY(gather(&g, q, p->q, &p->q));
    TAUT_TRY(gather(&g, q, p->v, &p->v));
    TAUT_TRY(gather(&g, q, in->q, &start_q));
    TAUT_TRY(gather(&g, q, in->v, &start_v));
    TAUT_TRY(gather(&g, bond, p->lambda, &p->lambda));
    for (int64_t k = 0; p->pass && k <= p->passes; k++) {
        TAUT_TRY(gather(&g, bond, p->pass[k].g, &p->pass[k].g));
        TAUT_TRY(gather(&g, bond, p->pass[k].gdot, &p->pass[k].gdot));
    }
    if (!g.first)
        return TAUT_OK;
    in->q = start_q;
    in->v = start_v;
    TAUT_TRY(taut_part_whole(in->system, &p->arena.allocator, &p->whole, error));
    in->system = p->whole;
    taut_system_sizes(p->whole, &in->sizes);
    return TAUT_OK;
}

int taut_projection_gather(taut_projection *p, const taut_system **system, taut_error *error)
{
    TAUT_REQUIRE(p && system);
    const taut_part *part = p->in->system->part;
    *system = p->whole ? p->whole : p->in->system;
    if (!part || p->whole)
        return TAUT_OK;
    taut_projection_input *in = TAUT_NEW(&p->arena, taut_projection_input, 1);
    TAUT_NEED(error, in);
    *in = *p->in;
    TAUT_TRY(gather_all(p, in, part, error));
    p->in = in;
    *system = in->system;
    return TAUT_OK;
}
