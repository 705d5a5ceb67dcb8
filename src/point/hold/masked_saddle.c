/* masked_saddle.c - saddle matrices of M and G in which some coordinates are fixed:
 *
 *     [ M_ff  G_f^T ] [ x_f ]   [ r_f ]
 *     [ G_f   -D    ] [ y   ] = [ s   ],      x = 0 where held       (f: what is free)
 *
 * A held coordinate has the row 1 x = 0 in place of its own, and no column in G, so that the
 * pattern, and with it the analysis, is that of the full matrix. With nothing held it is the
 * full matrix. */
#include "base/rows.h"
#include "point/hold/hold.h"

#include <string.h>

#include "system/rank_part.h"
#include "system/singular.h"

static bool held(const taut_masked_saddle *s, taut_index i)
{
    return s->hold && (s->hold[i] & s->bit);
}

/* Room for [M G^T; G -D] with all bonds of the system. */
static int new_saddle(taut_masked_saddle *s, const taut_sizes *sizes, bool curved,
                      taut_error *error)
{
    bool positive = !curved && (sizes->can & TAUT_CAN_INVERT_MASS);
    const double *mass = taut_context_mass(s->context);
    for (taut_index i = 0; mass && i < s->n; i++)
        positive &= mass[i] > 0;
    taut_saddle_shape shape = {.n = s->n,
                               .m = s->m,
                               .k_start = s->tangent.start,
                               .k_column = s->tangent.column,
                               .g_start = s->jacobian.start,
                               .g_column = s->jacobian.column,
                               /* d(M w)/dq is not symmetric */
                               .symmetric = !curved || sizes->mass == TAUT_MASS_DIAGONAL,
                               .positive = positive,
                               .column_halo = taut_context_halo(s->context),
                               .row_halo = taut_context_bond_halo(s->context)};
    return taut_saddle_create(&shape, TAUT_BACKEND_AUTO, s->allocator, &s->saddle, error);
}

static int create(taut_masked_saddle *s, taut_context *context, taut_arena *arena,
                  const unsigned char *hold, unsigned bit, bool curved, taut_saddle *other,
                  taut_error *error)
{
    const taut_system *system = taut_context_system(context);
    taut_sizes sizes;
    taut_system_sizes(system, &sizes);
    *s = (taut_masked_saddle){.saddle = other,
                              .borrowed = other,
                              .context = context,
                              .allocator = &arena->allocator,
                              .n = sizes.coordinates,
                              .m = sizes.bonds,
                              .hold = hold,
                              .bit = bit,
                              .purpose = "the directions across the bonds cannot be determined"};
    s->matrix = curved || sizes.mass != TAUT_MASS_DIAGONAL;
    TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &s->jacobian, error));
    if (s->matrix)
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &s->tangent, error));
    s->g = TAUT_NEW(arena, double, sizes.jacobian_entries);
    s->k = TAUT_NEW(arena, double, s->matrix ? s->tangent.start[s->n] : s->n);
    s->d = TAUT_NEW(arena, double, s->m);
    s->moves = TAUT_NEW(arena, unsigned char, s->m);
    TAUT_NEED(error, s->g, s->k, s->d, s->moves);
    s->plain = true;
    for (taut_index i = 0; i < s->m; i++)
        s->plain = s->plain && s->jacobian.start[i + 1] > s->jacobian.start[i];
    return s->borrowed ? TAUT_OK : new_saddle(s, &sizes, curved, error);
}

int taut_masked_saddle_create(taut_masked_saddle *s, taut_context *context, taut_arena *arena,
                              const unsigned char *hold, unsigned bit, taut_saddle *other,
                              taut_error *error)
{
    return create(s, context, arena, hold, bit, false, other, error);
}

int taut_masked_saddle_create_curved(taut_masked_saddle *s, taut_context *context,
                                     taut_arena *arena, const unsigned char *hold, unsigned bit,
                                     taut_error *error)
{
    return create(s, context, arena, hold, bit, true, NULL, error);
}

void taut_masked_saddle_destroy(taut_masked_saddle *s)
{
    if (!s->borrowed)
        taut_saddle_destroy(s->saddle);
    s->saddle = NULL;
    s->borrowed = false;
}

/* k = M without what is held. */
static void mask_mass(taut_masked_saddle *s, const double *mass)
{
    for (taut_index i = 0; i < s->n && !s->matrix; i++)
        s->k[i] = held(s, i) ? 1 : mass[i];
    for (taut_index i = 0; i < s->n && s->matrix; i++)
        for (taut_index k = s->tangent.start[i]; k < s->tangent.start[i + 1]; k++) {
            taut_index j = s->tangent.column[k];
            s->k[k] = held(s, i) || held(s, j) ? i == j : mass[k];
        }
}

static void mask_jacobian(taut_masked_saddle *s, const double *jacobian,
                          const unsigned char *counts)
{
    for (taut_index i = 0; i < s->m; i++) {
        s->moves[i] = 0;
        for (taut_index k = s->jacobian.start[i]; k < s->jacobian.start[i + 1]; k++) {
            bool free = (!counts || counts[i]) && !held(s, s->jacobian.column[k]);
            s->g[k] = free ? jacobian[k] : 0;
            s->moves[i] |= free;
        }
        s->d[i] = !s->moves[i];
    }
}

static double diagonal(const taut_masked_saddle *s, taut_index i)
{
    double value = s->k[s->matrix ? taut_row_find(&s->tangent, i, i) : i];
    return value > 0 ? value : 1;
}

int taut_masked_saddle_factor(taut_masked_saddle *s, double t, const double *mass,
                              const double *jacobian, const unsigned char *counts,
                              double relaxation, taut_error *error)
{
    const bool some = taut_hold_any(s->hold, s->n, s->bit);
    s->whole = s->plain && !some && relaxation == 0 && !(counts && memchr(counts, 0, (size_t)s->m));
    if (s->whole) {
        memset(s->moves, 1, (size_t)s->m);
    } else {
        mask_mass(s, mass);
        mask_jacobian(s, jacobian, counts);
    }
    for (taut_index i = 0; i < s->m && relaxation > 0; i++) {
        double sum = 0;
        for (taut_index k = s->jacobian.start[i]; k < s->jacobian.start[i + 1]; k++)
            sum += s->g[k] * s->g[k] / diagonal(s, s->jacobian.column[k]);
        s->d[i] = s->moves[i] && sum > 0 ? relaxation * sum : 1;
    }
    taut_singular parts = {.context = s->context,
                           .allocator = s->allocator,
                           .n = s->n,
                           .m = s->m,
                           .mass = s->whole ? mass : s->k,
                           .mass_start = s->tangent.start,
                           .start = s->jacobian.start,
                           .column = s->jacobian.column,
                           .jacobian = s->whole ? jacobian : s->g,
                           .compliance = s->whole ? NULL : s->d,
                           .held = some};
    int status =
        taut_saddle_factor(s->saddle, parts.mass, parts.jacobian, NULL, parts.compliance, error);
    if (taut_context_space(s->context))
        return taut_space_agree(taut_context_space(s->context), status, error);
    return taut_singular_explain(&parts, status, t, s->purpose, error);
}

int taut_masked_saddle_solve(const taut_masked_saddle *s, double *x, double *y, taut_error *error)
{
    for (taut_index i = 0; i < s->n && s->hold; i++)
        if (held(s, i))
            x[i] = 0;
    for (taut_index i = 0; i < s->m && !s->whole; i++)
        if (!s->moves[i])
            y[i] = 0;
    TAUT_TRY(taut_saddle_solve(s->saddle, 1, x, y, error));
    for (taut_index i = 0; i < s->n && s->hold;
         i++) /* rounding of a dense solve must not reach them */
        if (held(s, i))
            x[i] = 0;
    return TAUT_OK;
}
