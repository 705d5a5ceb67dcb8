/* record.c - see record.h. */
#include "point/record.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/rows.h"
#include "base/vectors.h"

#include "base/structs.h"
#include "system/rank_part.h"

static int new_window(taut_projection *p, taut_record_window *w, taut_error *error)
{
    int64_t most = 2 * TAUT_RECORD_SIDE + 1;
    TAUT_TRY(TAUT_RESERVE(&p->arena, most, error, &w->t, &w->weight));
    return TAUT_RESERVE(&p->arena, most * TAUT_RECORD_BONDS, error, &w->g);
}

int taut_record_create(taut_projection *p, taut_error *error)
{
    taut_index m = p->in->sizes.bonds > 0 ? p->in->sizes.bonds : p->in->sizes.coordinates;
    taut_record *record = TAUT_NEW(&p->arena, taut_record, 1);
    if (!record || !(record->values = TAUT_NEW(&p->arena, double, m)))
        return taut_fail_memory(error);
    TAUT_TRY(new_window(p, &record->window[0], error));
    TAUT_TRY(new_window(p, &record->window[1], error));
    record->item = p->in->sizes.bonds > 0 ? TAUT_BOND : TAUT_COORDINATE;
    record->bonds = m < TAUT_RECORD_BONDS ? (int)m : TAUT_RECORD_BONDS;
    for (int k = 0; k < record->bonds; k++)
        record->bond[k] =
            record->bonds < 2 ? 0 : (taut_index)((int64_t)k * (m - 1) / (record->bonds - 1));
    p->record = record;
    return TAUT_OK;
}

static void pick(const taut_record *record, const double *from, double *to)
{
    for (int k = 0; k < record->bonds; k++)
        to[k] = from[record->bond[k]];
}

/* The window that is being filled leads to p->q, where bonds have been recorded. */
void taut_record_end(taut_projection *p)
{
    taut_record *record = p->record;
    if (!record)
        return;
    taut_record_window *w = &record->window[record->filling];
    if (w->pass > 0 && w->pass <= p->passes)
        pick(record, record->item == TAUT_BOND ? p->pass[w->pass].g : p->q, w->filtered);
}

int taut_record_begin(taut_projection *p, int steps, double h, const double *weight,
                      taut_error *error)
{
    taut_record *record = p->record;
    if (!record)
        return TAUT_OK;
    int64_t pass = p->passes + 1;
    taut_record_end(p);
    record->filling = record->window[0].pass > 0 && record->window[0].pass < pass;
    if (record->filling == 0)
        record->window[1].pass = 0; /* a new beginning: passes are counted from 1 again */
    taut_record_window *w = &record->window[record->filling];
    w->pass = pass;
    w->h = h;
    w->stride = (steps + TAUT_RECORD_SIDE - 1) / TAUT_RECORD_SIDE;
    w->stride = w->stride > 1 ? w->stride : 1;
    w->side = steps / w->stride;
    for (int j = -w->side; j <= w->side; j++)
        w->weight[w->side + j] = weight[(j < 0 ? -j : j) * w->stride];
    return taut_record_sample(p, 0, p->q, error);
}

int taut_record_sample(taut_projection *p, int j, const double *q, taut_error *error)
{
    taut_record *record = p->record;
    if (!record)
        return TAUT_OK;
    taut_record_window *w = &record->window[record->filling];
    if (j % w->stride != 0)
        return TAUT_OK;
    int at = w->side + j / w->stride;
    if (at < 0 || at > 2 * w->side)
        return TAUT_OK;
    w->t[at] = j * w->h;
    taut_values values = {.bond = record->values};
    if (record->item == TAUT_BOND)
        TAUT_TRY(taut_evaluate_inside(p->in->context, p->in->t + w->t[at], q, NULL, TAUT_WANT_BOND,
                                      &values, error));
    for (int k = 0; k < record->bonds; k++)
        w->g[k * (2 * w->side + 1) + at] =
            record->item == TAUT_BOND ? record->values[record->bond[k]] : q[record->bond[k]];
    return TAUT_OK;
}

int taut_record_difference(taut_projection *p, int order, double difference, taut_error *error)
{
    taut_record *record = p->record;
    if (!record)
        return TAUT_OK;
    taut_record_iteration *grown = taut_arena_grow(&p->arena, record->iteration, record->iterations,
                                                   &record->capacity, sizeof *grown);
    TAUT_NEED(error, grown);
    record->iteration = grown;
    grown[record->iterations++] = (taut_record_iteration){order, difference};
    return TAUT_OK;
}

int taut_projection_window_get(const taut_projection *p, int which, taut_projection_window *window,
                               taut_error *error)
{
    const taut_record *record = p ? p->record : NULL;
    TAUT_REQUIRE(record && which >= 0 && which <= 1 && record->window[which].pass > 0);
    const taut_record_window *w = &record->window[which];
    taut_projection_window own = {.pass = w->pass,
                                  .item = record->item,
                                  .filtered = w->filtered,
                                  .count = 2 * w->side + 1,
                                  .bonds = record->bonds,
                                  .bond = record->bond,
                                  .t = w->t,
                                  .weight = w->weight,
                                  .g = w->g};
    return taut_struct_fill(window, &own, sizeof own, "taut_projection_window", error);
}

/* ---- what passes leave behind */

taut_pass *taut_projection_new_pass(taut_projection *p, taut_error *error)
{
    taut_index m = p->in->sizes.bonds;
    int64_t used = p->pass ? p->passes + 1 : 0;
    taut_pass *pass = taut_arena_grow(&p->arena, p->pass, used, &p->pass_capacity, sizeof *pass);
    double *g = TAUT_NEW(&p->arena, double, m), *gdot = TAUT_NEW(&p->arena, double, m);
    if (!pass || !g || !gdot) {
        taut_fail_memory(error);
        return NULL;
    }
    p->pass = pass;
    pass[used] = (taut_pass){g, gdot, p->statistics.force_evaluations};
    return &pass[used];
}

int taut_projection_record(taut_projection *p, const double *q, const double *v, taut_error *error)
{
    taut_pattern jacobian;
    TAUT_TRY(taut_system_pattern(p->in->system, TAUT_PATTERN_JACOBIAN, &jacobian, error));
    taut_pass *now = taut_projection_new_pass(p, error);
    if (now && !p->entries)
        p->entries = TAUT_NEW(&p->arena, double, p->in->sizes.jacobian_entries);
    TAUT_NEED(error, now, p->entries);
    taut_values values = {.bond = now->g, .bond_dt = now->gdot, .jacobian = p->entries};
    int status = taut_evaluate_inside(p->in->context, p->in->t, q, v,
                                      TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &values, error);
    TAUT_TRY(taut_space_agree(taut_context_space(p->in->context), status, error));
    taut_pattern_add(&jacobian, p->entries, 1, v, now->gdot);
    p->passes = now - p->pass;
    return TAUT_OK;
}

int taut_projection_watch(void *user, double t, const double *q, const double *v, taut_error *error)
{
    (void)t;
    return taut_projection_record(user, q, v, error);
}

static void explain(taut_projection *p, size_t used, const char *format, va_list list)
{
    vsnprintf(p->explanation + used, sizeof p->explanation - used, format, list);
}

void taut_explain(taut_projection *p, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    explain(p, 0, format, list);
    va_end(list);
}

void taut_explain_more(taut_projection *p, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    explain(p, strlen(p->explanation), format, list);
    va_end(list);
}

static taut_index velocities(const taut_projection *p)
{
    const taut_sizes *sizes = &p->in->sizes;
    return sizes->kind == TAUT_MECHANICAL ? sizes->coordinates : sizes->algebraic;
}

void taut_projection_move(taut_projection *p, const double *q, const double *v)
{
    taut_copy(p->in->sizes.coordinates, q, p->q);
    taut_copy(velocities(p), v, p->v);
}

static double *copy(taut_arena *arena, taut_index n, const double *from)
{
    double *to = TAUT_NEW(arena, double, n);
    if (to)
        taut_copy(n, from, to);
    return to;
}

int taut_projection_begin_at(taut_projection *p, const double *q, const double *v,
                             taut_projection_input *here, taut_error *error)
{
    *here = *p->in;
    here->q = copy(&p->arena, here->sizes.coordinates, q);
    here->v = copy(&p->arena, velocities(p), v);
    p->in = here;
    return here->q && here->v ? TAUT_OK : taut_fail_memory(error);
}

void taut_projection_restore(taut_projection *p)
{
    taut_projection_move(p, p->in->q, p->in->v);
    for (taut_index i = 0; i < p->in->sizes.bonds; i++)
        p->lambda[i] = NAN;
    p->moved_normal = p->moved_tangential = p->moved_normal_velocity =
        p->moved_tangential_velocity = 0;
}
