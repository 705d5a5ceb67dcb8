/* builder.c - particles and bonds stated in C, a family at a time: everything is checked and
 * copied. A call that is wrong is remembered, and taut_builder_finish reports it;
 * assemble.c makes the kernels. */
#include "system/from_c/builder.h"

#include <math.h>
#include <string.h>

#include "base/vectors.h"
#include "expr/ast.h"

#define WRONG(builder, ...) (taut_fail(&(builder)->error, TAUT_ERROR_USAGE, __VA_ARGS__))

static double *copy_reals(taut_builder *b, const double *x, int64_t count)
{
    double *copy = TAUT_NEW(&b->arena, double, count);
    if (copy && count)
        taut_copy(count, x, copy);
    return copy;
}

static taut_index *copy_indices(taut_builder *b, const taut_index *x, int64_t count)
{
    taut_index *copy = TAUT_NEW(&b->arena, taut_index, count);
    if (copy && count)
        memcpy(copy, x, (size_t)count * sizeof *copy);
    return copy;
}

/* Finite numbers, from `least` on. */
static int check_reals(taut_builder *b, const char *what, const double *x, int64_t count,
                       double least)
{
    for (int64_t k = 0; k < count; k++)
        if (!isfinite(x[k]) || x[k] < least)
            return WRONG(b, "%s[%lld] is %g: it must be finite%s", what, (long long)k, x[k],
                         least == 0 ? " and not negative" : "");
    return 0;
}

static int take_reals(taut_builder *b, const char *what, const double *x, int64_t count,
                      double least, double **to)
{
    if (!x)
        return WRONG(b, "%s: the array is missing", what);
    TAUT_TRY(check_reals(b, what, x, count, least));
    double *copy = copy_reals(b, x, count);
    if (!copy)
        return taut_fail_memory(&b->error);
    *to = copy;
    return 0;
}

/* 0, or why nothing more is accepted. */
static int state_of(const taut_builder *b)
{
    return b ? b->error.code : TAUT_ERROR_USAGE;
}

int taut_builder_create(int dimension, taut_index particles, const taut_allocator *allocator,
                        taut_builder **builder, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(builder);
    *builder = NULL;
    if ((dimension != 2 && dimension != 3) || particles < 1 || particles > INT32_MAX / dimension)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "taut_builder_create: dimension %d and %d particles: dimensions are 2 and "
                         "3, and there is at least one particle",
                         dimension, particles);
    taut_arena arena;
    taut_arena_init(&arena, allocator);
    taut_builder *b = TAUT_NEW(&arena, taut_builder, 1);
    TAUT_NEED(error, b);
    b->arena = arena;
    b->dimension = dimension;
    b->particles = particles;
    b->family_end = &b->families;
    b->angles_end = &b->angles;
    *builder = b;
    return 0;
}

void taut_builder_destroy(taut_builder *b)
{
    if (!b)
        return;
    taut_arena arena = b->arena; /* the builder lives in it */
    taut_arena_clear(&arena);
}

int taut_builder_mass(taut_builder *b, const double *mass)
{
    TAUT_TRY(state_of(b));
    return take_reals(b, "taut_builder_mass: mass", mass, b->particles, 0, &b->mass);
}

int taut_builder_start(taut_builder *b, const double *p, const double *v)
{
    TAUT_TRY(state_of(b));
    int64_t n = (int64_t)b->particles * b->dimension;
    TAUT_TRY(take_reals(b, "taut_builder_start: p", p, n, -INFINITY, &b->p));
    return v ? take_reals(b, "taut_builder_start: v", v, n, -INFINITY, &b->v) : 0;
}

int taut_builder_gravity(taut_builder *b, const double *acceleration)
{
    TAUT_TRY(state_of(b));
    return take_reals(b, "taut_builder_gravity: acceleration", acceleration, b->dimension,
                      -INFINITY, &b->gravity);
}

static const char letters[] =
    "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"; /* those from 11 on may be
                                                                          the first */

/* Names as in model files: a letter, then letters, digits and underscores; each once. */
static int check_name(taut_builder *b, const char *name)
{
    size_t length = name ? strlen(name) : 0;
    /* not isalpha: what is a letter must not depend on the locale of the host */
    bool good = length > 0 && length <= TAUT_NAME_LIMIT && strspn(name, letters) == length &&
                strchr(letters + 11, name[0]);
    if (!good)
        return WRONG(b,
                     "taut_builder_distances: the name of a family is a letter, then letters, "
                     "digits or '_', at most %d",
                     TAUT_NAME_LIMIT);
    for (const taut_bond_family *f = b->families; f; f = f->next)
        if (strcmp(f->name, name) == 0)
            return WRONG(b, "taut_builder_distances: there is a family '%s' already", name);
    return 0;
}

static int check_ends(taut_builder *b, const char *name, taut_index count, const taut_index *first,
                      const taut_index *second, const double *anchor)
{
    for (taut_index k = 0; k < count; k++) {
        if (first[k] < 0 || first[k] >= b->particles || second[k] >= b->particles)
            return WRONG(b,
                         "taut_builder_distances: %s joins particles %d and %d in bond %d; there "
                         "are %d, counted from 0",
                         name, first[k], second[k], k, b->particles);
        if (first[k] == second[k])
            return WRONG(b, "taut_builder_distances: %s joins particle %d to itself in bond %d",
                         name, first[k], k);
        if (second[k] < 0 && !anchor)
            return WRONG(b, "taut_builder_distances: %s has a pinned bond %d, but no anchors", name,
                         k);
        if (second[k] < 0)
            TAUT_TRY(check_reals(b, "taut_builder_distances: anchor",
                                 anchor + (int64_t)k * b->dimension, b->dimension, -INFINITY));
    }
    return 0;
}

int taut_builder_distances(taut_builder *b, const char *name, taut_index count,
                           const taut_index *first, const taut_index *second, const double *anchor,
                           const double *rest, const double *stiffness)
{
    TAUT_TRY(state_of(b));
    TAUT_TRY(check_name(b, name));
    if (count < 1 || !first || !second || !rest)
        return WRONG(b, "taut_builder_distances: %s has %d bonds%s", name, count,
                     count < 1 ? "" : ", and an array is missing");
    if (b->bonds + count > INT32_MAX)
        return taut_fail(&b->error, TAUT_ERROR_SIZE, "taut_builder_distances: more than %d bonds",
                         INT32_MAX);
    TAUT_TRY(check_ends(b, name, count, first, second, anchor));
    TAUT_TRY(check_reals(b, "taut_builder_distances: rest", rest, count, 0));
    if (stiffness)
        TAUT_TRY(check_reals(b, "taut_builder_distances: stiffness", stiffness, count, 0));
    taut_bond_family *f = TAUT_NEW(&b->arena, taut_bond_family, 1);
    if (!f)
        return taut_fail_memory(&b->error);
    *f = (taut_bond_family){.name = taut_arena_text(&b->arena, name, strlen(name)),
                            .count = count,
                            .first_row = (taut_index)b->bonds,
                            .first = copy_indices(b, first, count),
                            .second = copy_indices(b, second, count),
                            .rest = copy_reals(b, rest, count)};
    bool good = f->name && f->first && f->second && f->rest;
    if (anchor)
        good = (f->anchor = copy_reals(b, anchor, (int64_t)count * b->dimension)) && good;
    if (stiffness)
        good = (f->stiffness = copy_reals(b, stiffness, count)) && good;
    if (!good)
        return taut_fail_memory(&b->error);
    b->bonds += count;
    *b->family_end = f;
    b->family_end = &f->next;
    return 0;
}

int taut_builder_angles(taut_builder *b, taut_index count, const taut_index *triples,
                        const double *rest, const double *stiffness)
{
    TAUT_TRY(state_of(b));
    if (count < 1 || !triples || !rest || !stiffness)
        return WRONG(b, "taut_builder_angles: %d angles%s", count,
                     count < 1 ? "" : ", and an array is missing");
    for (taut_index k = 0; k < count; k++) {
        const taut_index *t = triples + 3 * (int64_t)k;
        for (int c = 0; c < 3; c++)
            if (t[c] < 0 || t[c] >= b->particles || t[c] == t[(c + 1) % 3])
                return WRONG(b,
                             "taut_builder_angles: angle %d is between particles %d, %d, %d: three "
                             "different ones of 0 to %d",
                             k, t[0], t[1], t[2], b->particles - 1);
    }
    TAUT_TRY(check_reals(b, "taut_builder_angles: rest", rest, count, -INFINITY));
    TAUT_TRY(check_reals(b, "taut_builder_angles: stiffness", stiffness, count, -INFINITY));
    taut_angles *a = TAUT_NEW(&b->arena, taut_angles, 1);
    if (!a)
        return taut_fail_memory(&b->error);
    *a = (taut_angles){.count = count,
                       .triple = copy_indices(b, triples, 3 * (int64_t)count),
                       .rest = copy_reals(b, rest, count),
                       .stiffness = copy_reals(b, stiffness, count)};
    if (!a->triple || !a->rest || !a->stiffness)
        return taut_fail_memory(&b->error);
    *b->angles_end = a;
    b->angles_end = &a->next;
    return 0;
}

int taut_builder_finish(taut_builder *b, taut_system **result, taut_error *error)
{
    taut_error_clear(error);
    if (result)
        *result = NULL;
    TAUT_REQUIRE(b && result);
    if (b->error.code) {
        if (error)
            *error = b->error;
        return b->error.code;
    }
    taut_system *system = taut_system_new(&b->arena.allocator);
    TAUT_NEED(error, system);
    int status = taut_builder_assemble(b, system, error);
    if (status) {
        taut_system_destroy(system);
        return status;
    }
    *result = system;
    return 0;
}
