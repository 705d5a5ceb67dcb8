/* internal_state.c - saving and restoring what a simulator keeps to itself. */
#include "blackbox/internal_state.h"

#include <math.h>
#include <string.h>

#include "base/vectors.h"

static int check(int status, const char *function, taut_error *error)
{
    if (status == 0)
        return TAUT_OK;
    return taut_fail(error, TAUT_ERROR_STOPPED, "the function `%s` of the flow returned %d",
                     function, status);
}

int taut_internal_state_create(taut_internal_state *s, taut_index n, const taut_black_box *box,
                               const void *first, taut_arena *arena, taut_error *error)
{
    *s = (taut_internal_state){.n = n, .box = box, .first = first};
    taut_moment *const moment[] = {&s->begin, &s->end, &s->latest};
    for (int k = 0; k < 3; k++) {
        moment[k]->z = TAUT_NEW(arena, double, n);
        moment[k]->memory = TAUT_NEW(arena, unsigned char, box->memory);
    }
    return taut_arena_check(arena, error);
}

int taut_internal_state_restore(taut_internal_state *s, double t, double H, const double *from,
                                taut_error *error)
{
    taut_moment *const moment[] = {&s->latest, &s->end, &s->begin};
    double nearest = 0.5 * fabs(H); /* times are rounded; states at rest differ by time alone */
    s->from = NULL;
    for (int k = 0; k < 3; k++) {
        const taut_moment *m = moment[k];
        double away = fabs(t - m->t);
        if (m->known && away < nearest && memcmp(m->z, from, (size_t)s->n * sizeof *from) == 0) {
            nearest = away;
            s->from = moment[k];
        }
    }
    if (s->from == &s->latest) /* it is there */
        return TAUT_OK;
    const void *memory = s->from ? s->from->memory : s->first;
    return check(s->box->restore(s->box->user, memory), "restore", error);
}

static void set(taut_moment *m, double t, const double *z, taut_index n, const void *memory,
                size_t bytes)
{
    m->known = true;
    m->t = t;
    taut_copy(n, z, m->z);
    memcpy(m->memory, memory, bytes);
}

int taut_internal_state_save(taut_internal_state *s, double t, const double *from, double end,
                             const double *to, taut_error *error)
{
    bool repeated = s->from == &s->begin;
    size_t bytes = s->box->memory;
    if (!repeated) {
        set(&s->begin, t, from, s->n, s->from ? s->from->memory : s->first, bytes);
        s->end.known = false;
    }
    s->latest.known = false;
    if (!to)
        return TAUT_OK;
    TAUT_TRY(check(s->box->save(s->box->user, s->latest.memory), "save", error));
    set(&s->latest, end, to, s->n, s->latest.memory, 0);
    if (!s->end.known)
        set(&s->end, end, to, s->n, s->latest.memory, bytes);
    return TAUT_OK;
}

void taut_internal_state_archive(taut_internal_state *s, taut_archive *a)
{
    taut_moment *const moment[] = {&s->begin, &s->end, &s->latest};
    taut_archive_same(a, (int64_t)s->box->memory, "the flow has another internal state");
    for (int k = 0; k < 3; k++) {
        taut_archive_flag(a, &moment[k]->known);
        taut_archive_real(a, &moment[k]->t);
        taut_archive_reals(a, moment[k]->z, s->n);
        taut_archive_bytes(a, moment[k]->memory, s->box->memory);
    }
    /* the simulator of this run may be another one, or have made other calls */
    if (a->reading && a->status == TAUT_OK && s->latest.known &&
        s->box->restore(s->box->user, s->latest.memory) != 0)
        taut_archive_fail(a, TAUT_ERROR_STOPPED, "the function `restore` of the flow failed");
}
