/* methods.c - the table of methods: the command line, --help, the documentation and the tests
 * read it. */
#include "step/methods.h"

#include <stdio.h>
#include <string.h>

#include "base/structs.h"

/* clang-format off */
/* One row for each method. */
#define ROWS(row) \
    row(taut_verlet) \
    row(taut_radau5) \
    row(taut_radau3) \
    row(taut_radau1) \
    row(taut_radau7) \
    row(taut_radau9) \
    row(taut_lobatto2) \
    row(taut_lobatto4) \
    row(taut_lobatto6) \
    row(taut_gauss2) \
    row(taut_gauss4) \
    row(taut_gauss6) \
    row(taut_sdirk2) \
    row(taut_sdirk3) \
    row(taut_sdirk4) \
    row(taut_trbdf2) \
    row(taut_esdirk4) \
    row(taut_dop8) \
    row(taut_dopri5) \
    row(taut_rk4) \
    row(taut_midpoint) \
    row(taut_euler) \
    row(taut_adams) \
    row(taut_ab2) \
    row(taut_rattle) \
    row(taut_shake) \
    row(taut_rattle4) \
    row(taut_rattle6) \
    row(taut_rattle8) \
    row(taut_lobatto_ab4) \
    row(taut_lobatto_ab6) \
    row(taut_verlet4) \
    row(taut_verlet6) \
    row(taut_verlet8) \
    row(taut_projected_impulse) \
    row(taut_mollified_impulse) \
    row(taut_transformed) \
    row(taut_impulse_method) \
    row(taut_effective) \
    row(taut_follow_flow)
/* clang-format on */

#define DECLARE(method) extern const taut_method method;
#define ADDRESS(method) &(method),

ROWS(DECLARE)
const taut_method *const taut_method_table[] = {ROWS(ADDRESS) NULL};

enum { METHODS = sizeof taut_method_table / sizeof taut_method_table[0] - 1 };

static const struct {
    unsigned bit;
    const char *name;
} motions[] = {{TAUT_MOTION_RIGID, "rigid"},
               {TAUT_MOTION_SLOW, "slow"},
               {TAUT_MOTION_EFFECTIVE, "effective"},
               {TAUT_MOTION_FULL, "full"}};

enum { MOTIONS = sizeof motions / sizeof motions[0], ALL_SETS = 1 << MOTIONS };

unsigned taut_motion_bit(const char *name)
{
    for (int k = 0; k < MOTIONS; k++)
        if (strcmp(motions[k].name, name) == 0)
            return motions[k].bit;
    return 0;
}

const char *taut_motion_name(unsigned motion)
{
    for (int k = 0; k < MOTIONS; k++)
        if (motions[k].bit == motion)
            return motions[k].name;
    return "";
}

const char *taut_motions_text(unsigned bits, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (int k = 0; k < MOTIONS; k++)
        if ((bits & motions[k].bit) && used < size)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "",
                                     motions[k].name);
    return buffer;
}

int taut_state_create(const taut_stepper *s, taut_state *state, taut_error *error)
{
    *state = (taut_state){.q = TAUT_NEW(s->arena, double, s->n),
                          .v = s->first_order ? NULL : TAUT_NEW(s->arena, double, s->n),
                          .a = TAUT_NEW(s->arena, double, s->n),
                          .lambda = s->first_order ? NULL : TAUT_NEW(s->arena, double, s->m),
                          .y = s->first_order ? TAUT_NEW(s->arena, double, s->m) : NULL};
    return taut_arena_check(s->arena, error);
}

double *taut_stepper_room(taut_stepper *s, int64_t count)
{
    if (!s->room || s->room_size < count) {
        s->room = TAUT_NEW(s->arena, double, count);
        s->room_size = count;
    }
    return s->room;
}

int taut_method_count(void)
{
    return METHODS;
}

int taut_method_get(int k, taut_method_info *info, taut_error *error)
{
    /* every set of motions as a constant text: the caller keeps the pointer */
    static const char *const sets[ALL_SETS] = {"",
                                               "rigid",
                                               "slow",
                                               "rigid slow",
                                               "effective",
                                               "rigid effective",
                                               "slow effective",
                                               "rigid slow effective",
                                               "full",
                                               "rigid full",
                                               "slow full",
                                               "rigid slow full",
                                               "effective full",
                                               "rigid effective full",
                                               "slow effective full",
                                               "rigid slow effective full"};
    TAUT_REQUIRE(k >= 0 && k < METHODS);
    const taut_method *method = taut_method_table[k];
    taut_method_info own = {.name = method->name,
                            .motions = sets[method->motions % ALL_SETS],
                            .order = method->order,
                            .summary = method->summary,
                            .reference = method->reference,
                            .needs = method->needs,
                            .refuses = method->refuses};
    return taut_struct_fill(info, &own, sizeof own, "taut_method_info", error);
}
