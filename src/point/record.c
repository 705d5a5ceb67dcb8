/* record.c - see record.h. */
#include "point/record.h"

#include <math.h>
#include <string.h>

static int new_window(taut_projection *p, taut_trace_window *w, taut_error *error)
{
    int64_t most = 2 * TAUT_TRACE_SIDE + 1;
    w->t = TAUT_NEW(&p->arena, double, most);
    w->weight = TAUT_NEW(&p->arena, double, most);
    w->g = TAUT_NEW(&p->arena, double, most *TAUT_TRACE_BONDS);
    return w->t && w->weight && w->g ? TAUT_OK : taut_fail_memory(error);
}

int taut_trace_create(taut_projection *p, taut_error *error)
{
    taut_index m = p->sizes.bonds > 0 ? p->sizes.bonds : p->sizes.coordinates;
    taut_trace *trace = TAUT_NEW(&p->arena, taut_trace, 1);
    if (!trace || !(trace->values = TAUT_NEW(&p->arena, double, m)))
        return taut_fail_memory(error);
    TAUT_TRY(new_window(p, &trace->window[0], error));
    TAUT_TRY(new_window(p, &trace->window[1], error));
    trace->item = p->sizes.bonds > 0 ? TAUT_BOND : TAUT_COORDINATE;
    trace->bonds = m < TAUT_TRACE_BONDS ? (int)m : TAUT_TRACE_BONDS;
    for (int k = 0; k < trace->bonds; k++)
        trace->bond[k] = trace->bonds < 2 ? 0 : (taut_index)((int64_t)k * (m - 1) / (trace->bonds - 1));
    p->trace = trace;
    return TAUT_OK;
}

static void pick(const taut_trace *trace, const double *from, double *to)
{
    for (int k = 0; k < trace->bonds; k++)
        to[k] = from[trace->bond[k]];
}

/* The window that is being filled leads to p->q, where bonds have been recorded. */
void taut_trace_end(taut_projection *p)
{
    taut_trace *trace = p->trace;
    if (!trace)
        return;
    taut_trace_window *w = &trace->window[trace->filling];
    if (w->pass > 0 && w->pass <= p->passes)
        pick(trace, trace->item == TAUT_BOND ? p->pass[w->pass].g : p->q, w->filtered);
}

int taut_trace_begin(taut_projection *p, int steps, double h, const double *weight, taut_error *error)
{
    taut_trace *trace = p->trace;
    if (!trace)
        return TAUT_OK;
    int64_t pass = p->passes + 1;
    taut_trace_end(p);
    trace->filling = trace->window[0].pass > 0 && trace->window[0].pass < pass;
    if (trace->filling == 0)
        trace->window[1].pass = 0; /* a new beginning: passes are counted from 1 again */
    taut_trace_window *w = &trace->window[trace->filling];
    w->pass = pass;
    w->h = h;
    w->stride = (steps + TAUT_TRACE_SIDE - 1) / TAUT_TRACE_SIDE;
    w->stride = w->stride > 1 ? w->stride : 1;
    w->side = steps / w->stride;
    for (int j = -w->side; j <= w->side; j++)
        w->weight[w->side + j] = weight[(j < 0 ? -j : j) * w->stride];
    return taut_trace_sample(p, 0, p->q, error);
}

int taut_trace_sample(taut_projection *p, int j, const double *q, taut_error *error)
{
    taut_trace *trace = p->trace;
    if (!trace)
        return TAUT_OK;
    taut_trace_window *w = &trace->window[trace->filling];
    if (j % w->stride != 0)
        return TAUT_OK;
    int at = w->side + j / w->stride;
    if (at < 0 || at > 2 * w->side)
        return TAUT_OK;
    w->t[at] = j * w->h;
    taut_values values = {.bond = trace->values};
    if (trace->item == TAUT_BOND)
        TAUT_TRY(taut_evaluate(p->context, p->t + w->t[at], q, NULL, TAUT_WANT_BOND, &values, error));
    for (int k = 0; k < trace->bonds; k++)
        w->g[k * (2 * w->side + 1) + at] = trace->item == TAUT_BOND ? trace->values[trace->bond[k]] : q[trace->bond[k]];
    return TAUT_OK;
}

int taut_trace_difference(taut_projection *p, int order, double difference, taut_error *error)
{
    taut_trace *trace = p->trace;
    if (!trace)
        return TAUT_OK;
    taut_trace_iteration *grown = taut_arena_grow(&p->arena, trace->iteration, trace->iterations, &trace->capacity, sizeof *grown);
    if (!grown)
        return taut_fail_memory(error);
    trace->iteration = grown;
    grown[trace->iterations++] = (taut_trace_iteration){order, difference};
    return TAUT_OK;
}

bool taut_projection_window_get(const taut_projection *p, int which, taut_projection_window *window)
{
    const taut_trace *trace = p->trace;
    if (!trace || which < 0 || which > 1 || trace->window[which].pass == 0)
        return false;
    const taut_trace_window *w = &trace->window[which];
    *window = (taut_projection_window){.pass = w->pass,
                                       .item = trace->item,
                                       .filtered = w->filtered,
                                       .count = 2 * w->side + 1,
                                       .bonds = trace->bonds,
                                       .bond = trace->bond,
                                       .t = w->t,
                                       .weight = w->weight,
                                       .g = w->g};
    return true;
}

/* ---- what passes leave behind */

int taut_projection_record(taut_projection *p, const double *q, const double *v, taut_error *error)
{
    taut_index m = p->sizes.bonds;
    taut_pattern jacobian;
    TAUT_TRY(taut_system_pattern(p->system, TAUT_PATTERN_JACOBIAN, &jacobian, error));
    int64_t used = p->pass ? p->passes + 1 : 0;
    taut_pass *pass = taut_arena_grow(&p->arena, p->pass, used, &p->pass_capacity, sizeof *pass);
    taut_pass now = {TAUT_NEW(&p->arena, double, m), TAUT_NEW(&p->arena, double, m), p->statistics.force_evaluations};
    if (!p->entries)
        p->entries = TAUT_NEW(&p->arena, double, p->sizes.jacobian_entries);
    if (!pass || !now.g || !now.gdot || !p->entries)
        return taut_fail_memory(error);
    p->pass = pass;
    taut_values values = {.bond = now.g, .bond_dt = now.gdot, .jacobian = p->entries};
    TAUT_TRY(taut_evaluate(p->context, p->t, q, v, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &values, error));
    for (taut_index i = 0; i < m; i++)
        for (taut_index k = jacobian.start[i]; k < jacobian.start[i + 1]; k++)
            now.gdot[i] += p->entries[k] * v[jacobian.column[k]];
    p->pass[used] = now;
    p->passes = used;
    return TAUT_OK;
}

int taut_projection_watch(void *user, double t, const double *q, const double *v, taut_error *error)
{
    (void)t;
    return taut_projection_record(user, q, v, error);
}

/* What did not converge keeps its start. */
void taut_projection_restore(taut_projection *p)
{
    taut_index n = p->sizes.coordinates, nv = p->sizes.kind == TAUT_MECHANICAL ? n : p->sizes.algebraic;
    memcpy(p->q, p->q0, (size_t)n * sizeof(double));
    memcpy(p->v, p->v0, (size_t)nv * sizeof(double));
    for (taut_index i = 0; i < p->sizes.bonds; i++)
        p->lambda[i] = NAN;
    p->moved_normal = p->moved_tangential = p->moved_normal_velocity = p->moved_tangential_velocity = 0;
}
