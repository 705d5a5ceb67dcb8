/* divide.c - which part of a model a rank needs (system/rank_part.h).
 *
 * Each family of coordinates is divided by ranges of its members; a bond, or a term of the
 * potential, belongs to the owner of its highest coordinate. Two surveys of all statements, which
 * keep nothing that does not meet the part, find the coordinates of the bonds that are owned, and
 * then those of all statements that meet these. Members that are not needed are dropped where
 * statements are built, so that the memory of a rank is that of its part. */
#include "model/model.h"

#include <stdio.h>
#include <string.h>

#include "system/rank_part.h"

typedef struct ranges {
    int64_t count, capacity, (*range)[2];
} ranges;

typedef struct divider {
    taut_model *model;
    taut_part *part;
    taut_space *space;
    taut_arena scratch;
    taut_runs met;       /* C: the coordinates owned, and those of bonds owned */
    ranges found, bonds; /* coordinates beyond those, bonds that are here */
    bool last;           /* of the two surveys */
    unsigned char *event;
    bool linked; /* initial values refer to others */
} divider;

/* ---- owners */

/* Member k of `count` belongs to rank r: count r/size <= k < count (r + 1)/size. */
static int64_t first_of(int64_t count, int rank, int size)
{
    return count * rank / size;
}

static int owner_of(const taut_names *names, const taut_space *space, int64_t number)
{
    int64_t low = 0, high = names->blocks;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        *(names->block[middle].block.first <= number ? &low : &high) = middle;
    }
    const taut_name_block *block = &names->block[low].block;
    const int64_t k = (number - block->first) / block->components;
    int rank = (int)((double)k / (double)block->count * space->size);
    rank = rank >= space->size ? space->size - 1 : rank;
    while (rank > 0 && k < first_of(block->count, rank, space->size))
        rank--;
    while (rank + 1 < space->size && k >= first_of(block->count, rank + 1, space->size))
        rank++;
    return rank;
}

static int owner_of_member(const divider *d, const taut_sighting *seen)
{
    taut_index most = 0;
    for (int k = 0; k < seen->count; k++)
        most = seen->at[k] > most ? seen->at[k] : most;
    return owner_of(&d->model->system->coordinates, d->space, most);
}

/* ---- surveys */

static int add_range(divider *d, ranges *to, int64_t begin, int64_t count)
{
    int64_t *last = to->count > 0 ? to->range[to->count - 1] : NULL;
    if (last && last[1] == begin) {
        last[1] += count;
        return 0;
    }
    to->range =
        taut_arena_grow(&d->scratch, to->range, to->count, &to->capacity, sizeof *to->range);
    TAUT_NEED(d->model->error, to->range);
    to->range[to->count][0] = begin;
    to->range[to->count++][1] = begin + count;
    return 0;
}

/* Its coordinates that are not here yet. */
static int add_coordinates(divider *d, const taut_sighting *seen)
{
    for (int k = 0; k < seen->count; k++)
        if (taut_runs_find(&d->met, seen->at[k]) < 0)
            TAUT_TRY(add_range(d, &d->found, seen->at[k], seen->width[k]));
    return 0;
}

static bool meets(const taut_runs *runs, const taut_sighting *seen)
{
    for (int k = 0; k < seen->count; k++)
        if (taut_runs_find(runs, seen->at[k]) >= 0)
            return true;
    for (int k = 0; k < seen->targets; k++)
        if (taut_runs_find(runs, seen->target[k]) >= 0)
            return true;
    return false;
}

static bool meets_range(const taut_runs *runs, int64_t begin, int64_t end)
{
    return taut_runs_place(runs, end) > taut_runs_place(runs, begin);
}

static bool near(void *user, const taut_statement *statement, taut_near what, int64_t begin,
                 int64_t end)
{
    (void)statement;
    return what != TAUT_NEAR_ROW && meets_range(&((divider *)user)->met, begin, end);
}

static int see(void *user, const taut_sighting *seen)
{
    divider *d = user;
    const bool bond = seen->statement->role == TAUT_ROLE_BOND;
    if (!d->last)
        return bond && owner_of_member(d, seen) == d->space->rank ? add_coordinates(d, seen) : 0;
    if (!meets(&d->met, seen))
        return 0;
    TAUT_TRY(add_coordinates(d, seen));
    return bond ? add_range(d, &d->bonds, seen->statement->whole_row + seen->member, 1) : 0;
}

static int survey(divider *d, bool last)
{
    taut_model *model = d->model;
    const taut_survey shown = {see, near, d};
    int64_t block = 0;
    int status = 0;
    d->last = last;
    model->survey = &shown;
    for (int64_t k = 0; k < model->document->items && status == 0; k++) {
        const taut_item_tree *item = &model->document->item[k];
        if (item->section == TAUT_SECTION_BONDS) {
            model->whole_row = model->system->bonds.block[block++].block.first;
            status = taut_model_row_item(model, item, 0, "a bond", NULL);
        } else if (item->section == TAUT_SECTION_POTENTIAL && last) {
            status = taut_model_energy_item(model, item, TAUT_ROLE_POTENTIAL, "a potential");
        } else if (item->section == TAUT_SECTION_FORCES && last) {
            status = taut_model_force_item(model, item, false);
        }
    }
    model->survey = NULL;
    return status;
}

/* ---- events: on the rank that owns their highest coordinate, and on those that meet what they
 * alter */

static int see_event(void *user, const taut_sighting *seen)
{
    divider *d = user;
    unsigned char *event = &d->event[seen->statement->whole_row + seen->member];
    if (!seen->statement->left && owner_of_member(d, seen) == d->space->rank)
        *event |= TAUT_EVENT_HERE | TAUT_EVENT_OWN;
    for (int k = 0; k < seen->targets; k++)
        if (taut_runs_find(&d->met, seen->target[k]) >= 0)
            *event |= TAUT_EVENT_HERE;
    return 0;
}

static int see_needed(void *user, const taut_sighting *seen)
{
    divider *d = user;
    if (!d->event[seen->statement->whole_row + seen->member])
        return 0;
    for (int k = 0; k < seen->targets; k++)
        if (taut_runs_find(&d->met, seen->target[k]) < 0)
            TAUT_TRY(add_range(d, &d->found, seen->target[k], seen->target_width[k]));
    return add_coordinates(d, seen);
}

static bool near_all(void *user, const taut_statement *statement, taut_near what, int64_t begin,
                     int64_t end)
{
    (void)user, (void)statement, (void)what, (void)begin, (void)end;
    return true;
}

static int survey_events(divider *d)
{
    enum { MOST = 100000 }; /* all ranks have the values of all */
    taut_model *model = d->model;
    const taut_survey shown[2] = {{see_event, near_all, d}, {see_needed, near_all, d}};
    const taut_names *names = &model->system->events;
    int status = taut_model_event_names(model);
    d->event = TAUT_NEW(&model->system->arena, unsigned char, names->total);
    TAUT_NEED(model->error, d->event);
    for (int pass = 0; pass < 2; pass++) {
        model->survey = &shown[pass];
        for (int64_t k = 0, block = 0; k < model->document->items && status == 0; k++) {
            const taut_item_tree *item = &model->document->item[k];
            if (item->section == TAUT_SECTION_EVENTS && names->total > MOST)
                status = taut_model_fail(model, item->place,
                                         "a run over several ranks can have %d events, and here "
                                         "are %lld",
                                         MOST, (long long)names->total);
            else if (item->section == TAUT_SECTION_EVENTS)
                status = taut_model_event_show(model, item, names->block[block++].block.first);
        }
    }
    model->survey = NULL;
    d->part->event = d->event;
    return status;
}

/* ---- initial values: what those refer to that are owned */

static int see_start(void *user, const taut_sighting *seen)
{
    divider *d = user;
    d->linked = d->linked || seen->count > 0;
    return owner_of(&d->model->system->coordinates, d->space, seen->target[0]) == d->space->rank
               ? add_coordinates(d, seen)
               : 0;
}

static bool near_target(void *user, const taut_statement *statement, taut_near what, int64_t begin,
                        int64_t end)
{
    (void)statement;
    return what == TAUT_NEAR_TARGET && meets_range(&((divider *)user)->met, begin, end);
}

static int survey_start(divider *d)
{
    const taut_survey shown = {see_start, near_target, d};
    d->model->survey = &shown;
    int status = taut_model_start_show(d->model);
    d->model->survey = NULL;
    return status;
}

/* ---- the part */

static int join_runs(divider *d, taut_arena *arena, taut_runs *to)
{
    for (int64_t k = 0; k < d->met.count; k++)
        TAUT_TRY(add_range(d, &d->found, d->met.begin[k], d->met.end[k] - d->met.begin[k]));
    TAUT_TRY(taut_runs_make(d->found.count, d->found.range, arena, to, d->model->error));
    d->found = (ranges){0};
    return 0;
}

static int find_owned(divider *d)
{
    const taut_names *names = &d->model->system->coordinates;
    for (int64_t b = 0; b < names->blocks; b++) {
        const taut_name_block *block = &names->block[b].block;
        const int64_t first = first_of(block->count, d->space->rank, d->space->size),
                      end = first_of(block->count, d->space->rank + 1, d->space->size);
        TAUT_TRY(add_range(d, &d->found, block->first + first * block->components,
                           (end - first) * block->components));
    }
    return join_runs(d, &d->scratch, &d->met);
}

/* A bond's owner is known from its coordinates: surveyed once more, now by place. */
typedef struct bond_owners {
    divider *divider;
    int *owner;
} bond_owners;

static int see_owner(void *user, const taut_sighting *seen)
{
    const bond_owners *to = user;
    int64_t place =
        taut_runs_find(&to->divider->part->bond, seen->statement->whole_row + seen->member);
    if (seen->statement->role == TAUT_ROLE_BOND && place >= 0)
        to->owner[place] = owner_of_member(to->divider, seen);
    return 0;
}

static bool near_owner(void *user, const taut_statement *statement, taut_near what, int64_t begin,
                       int64_t end)
{
    (void)statement;
    return what == TAUT_NEAR_ROW &&
           meets_range(&((bond_owners *)user)->divider->part->bond, begin, end);
}

static int find_bond_owners(divider *d, int *owner)
{
    taut_model *model = d->model;
    bond_owners to = {d, owner};
    const taut_survey shown = {see_owner, near_owner, &to};
    int64_t block = 0;
    int status = 0;
    model->survey = &shown;
    for (int64_t k = 0; k < model->document->items && status == 0; k++)
        if (model->document->item[k].section == TAUT_SECTION_BONDS) {
            model->whole_row = model->system->bonds.block[block++].block.first;
            status = taut_model_row_item(model, &model->document->item[k], 0, "a bond", NULL);
        }
    model->survey = NULL;
    return status;
}

static int make_halos(divider *d)
{
    taut_part *part = d->part;
    taut_arena *arena = &d->model->system->arena;
    taut_error *error = d->model->error;
    int *owner = TAUT_NEW(&d->scratch, int, part->coordinate.total),
        *bond_owner = TAUT_NEW(&d->scratch, int, part->bond.total),
        status = owner && bond_owner ? find_bond_owners(d, bond_owner) : taut_fail_memory(error);
    for (int64_t k = 0; status == 0 && k < part->coordinate.total; k++)
        owner[k] = owner_of(&d->model->system->coordinates, d->space,
                            taut_runs_number(&part->coordinate, k));
    part->ghost_bond = TAUT_NEW(arena, unsigned char, part->bond.total);
    status = part->ghost_bond ? status : taut_fail_memory(error);
    for (int64_t k = 0; status == 0 && k < part->bond.total; k++)
        part->ghost_bond[k] = bond_owner[k] != d->space->rank;
    TAUT_TRY(taut_space_agree(d->space, status, error));
    TAUT_TRY(taut_halo_make(d->space, &part->coordinate, owner, arena, &part->coordinates, error));
    return taut_halo_make(d->space, &part->bond, bond_owner, arena, &part->bonds, error);
}

/* What a run over several ranks cannot have. */
static int refuse(const taut_model *model)
{
    static const taut_section wrong[] = {TAUT_SECTION_STATE, TAUT_SECTION_KINETIC,
                                         TAUT_SECTION_STIFF_POTENTIAL, TAUT_SECTION_INVARIANTS,
                                         TAUT_SECTION_STEPPER};
    for (int64_t k = 0; k < model->document->items; k++)
        for (size_t j = 0; j < sizeof wrong / sizeof wrong[0]; j++)
            if (model->document->item[k].section == wrong[j])
                return taut_model_fail(model, model->document->item[k].place,
                                       "[%s] is not supported in a run over several ranks: run "
                                       "this model without mpiexec",
                                       taut_section_name(wrong[j]));
    return 0;
}

/* Each rank has something to move, and bonds if there are any. */
static int refuse_empty(const divider *d)
{
    const taut_part *part = d->part;
    const bool idle =
        part->coordinates.ranges == 0 || (part->bonds.total > 0 && part->bonds.ranges == 0);
    if (taut_space_largest(d->space, idle) == 0)
        return 0;
    return taut_model_fail(d->model, (taut_place){1, 1, 0},
                           "the model is too small for %d ranks: some would have no coordinates or "
                           "no bonds",
                           d->space->size);
}

static int divide(divider *d)
{
    taut_arena *arena = &d->model->system->arena;
    TAUT_TRY(find_owned(d));
    TAUT_TRY(survey(d, false));
    TAUT_TRY(join_runs(d, arena, &d->part->met));
    d->met = d->part->met;
    TAUT_TRY(survey(d, true));
    TAUT_TRY(survey_events(d));
    TAUT_TRY(survey_start(d));
    TAUT_TRY(join_runs(d, arena, &d->part->coordinate));
    return taut_runs_make(d->bonds.count, d->bonds.range, arena, &d->part->bond, d->model->error);
}

int taut_model_divide(taut_model *model)
{
    taut_system *system = model->system;
    taut_space *space = model->how->space;
    if (taut_space_ranks(space) == 1)
        return 0;
    TAUT_TRY(refuse(model));
    divider d = {.model = model, .space = space, .part = TAUT_NEW(&system->arena, taut_part, 1)};
    TAUT_NEED(model->error, d.part);
    d.part->space = space;
    taut_arena_init(&d.scratch, &system->arena.allocator);
    int status = taut_space_agree(space, divide(&d), model->error);
    d.part->linked = taut_space_largest(space, d.linked) > 0;
    if (status == 0)
        status = make_halos(&d);
    if (status == 0)
        status = refuse_empty(&d);
    taut_arena_clear(&d.scratch);
    TAUT_TRY(status);
    system->part = d.part;
    system->coordinates.here = &d.part->coordinate;
    system->bonds.here = &d.part->bond;
    system->sizes.coordinates = (taut_index)d.part->coordinate.total;
    system->sizes.bonds = (taut_index)d.part->bond.total;
    return 0;
}

int64_t taut_part_bonds(const taut_model *model, taut_index *first, int64_t count)
{
    const taut_part *part = model->system->part;
    if (!part)
        return count;
    const int64_t begin = taut_runs_place(&part->bond, *first),
                  end = taut_runs_place(&part->bond, *first + count);
    *first = (taut_index)begin;
    return end - begin;
}

/* ---- the members of a statement that are here */

typedef struct keeper {
    const divider *divider; /* owners */
    const taut_part *part;
    taut_model *model;
    taut_arena *arena;
    const taut_statement *statement;
    unsigned char *keep; /* of the members of a piece: 1 kept, 2 kept and owned by another rank */
    int64_t room;
    taut_members *to[2]; /* owned, others */
    int64_t capacity[2][TAUT_ITERATOR_LIMIT], ordinals;
} keeper;

static bool by_row(const taut_statement *s)
{
    return s->role == TAUT_ROLE_BOND || s->list == TAUT_LIST_COMPLIANCE ||
           s->list == TAUT_LIST_DAMPING || s->list == TAUT_LIST_TENSION;
}

static bool is_event(const taut_statement *s)
{
    return s->events || s->list == TAUT_LIST_EVENT;
}

static const taut_runs *target_runs(const keeper *w)
{
    return w->statement->role == TAUT_ROLE_FORCE ? &w->part->met : &w->part->coordinate;
}

static bool near_member(void *user, const taut_statement *s, taut_near what, int64_t begin,
                        int64_t end)
{
    const keeper *w = user;
    if (is_event(s))
        return true;
    if (by_row(s))
        return what == TAUT_NEAR_ROW && meets_range(&w->part->bond, begin, end);
    if (s->left) /* the target decides */
        return what == TAUT_NEAR_TARGET && meets_range(target_runs(w), begin, end);
    return what == TAUT_NEAR_COORDINATE && meets_range(&w->part->met, begin, end);
}

static int see_member(void *user, const taut_sighting *seen)
{
    keeper *w = user;
    const taut_statement *s = w->statement;
    while (seen->place >= w->room) {
        int64_t was = w->room;
        w->keep = taut_arena_grow(w->arena, w->keep, was, &w->room, 1);
        TAUT_NEED(w->model->error, w->keep);
    }
    unsigned char keep;
    if (is_event(s))
        keep = w->part->event[s->whole_row + seen->member] != 0;
    else if (by_row(s))
        keep = taut_runs_find(&w->part->bond, s->whole_row + seen->member) >= 0;
    else if (s->list == TAUT_LIST_START && w->part->linked)
        keep = owner_of(&w->model->system->coordinates, w->part->space, seen->target[0]) ==
               w->part->space->rank;
    else if (seen->targets > 0)
        keep = taut_runs_find(target_runs(w), seen->target[0]) >= 0;
    else
        keep = seen->count > 0 ? meets(&w->part->met, seen) : w->part->space->rank == 0;
    if (keep && seen->count > 0 && s->role == TAUT_ROLE_POTENTIAL)
        keep = owner_of_member(w->divider, seen) == w->part->space->rank ? 1 : 2;
    w->keep[seen->place] = keep;
    return 0;
}

static int keep_piece(void *user, const taut_members *members, int64_t first)
{
    keeper *w = user;
    for (int64_t i = 0; i < members->count; i++) {
        if (i >= w->room || !w->keep[i])
            continue;
        const int which = w->keep[i] - 1;
        w->keep[i] = 0;
        taut_members *to = w->to[which];
        for (int k = 0; k < members->iterators; k++) {
            to->value[k] = taut_arena_grow(w->arena, to->value[k], to->count,
                                           &w->capacity[which][k], sizeof(int32_t));
            TAUT_NEED(w->model->error, to->value[k]);
            to->value[k][to->count] = members->value[k][i];
        }
        if (is_event(w->statement)) {
            to->ordinal =
                taut_arena_grow(w->arena, to->ordinal, to->count, &w->ordinals, sizeof(int32_t));
            TAUT_NEED(w->model->error, to->ordinal);
            to->ordinal[to->count] = (int32_t)(first + i);
        }
        to->count++;
        if (to->count > TAUT_MEMBER_LIMIT)
            return taut_document_fail(w->statement->document, w->statement->item->place,
                                      w->model->error,
                                      "this statement has more than %d members on one rank: use "
                                      "more ranks",
                                      TAUT_MEMBER_LIMIT);
    }
    return 0;
}

int taut_part_members(taut_statement *s, taut_arena *arena, taut_members *members, int64_t *own)
{
    taut_model *model = s->model;
    const divider owners = {.model = model, .space = model->how->space};
    taut_members others = {.iterators = s->term.iterators};
    *members = (taut_members){.iterators = s->term.iterators};
    keeper w = {.divider = &owners,
                .part = model->system->part,
                .model = model,
                .arena = arena,
                .statement = s,
                .to = {members, &others}};
    const taut_survey shown = {see_member, near_member, &w};
    TAUT_TRY(taut_statement_show(s, &shown, keep_piece, &w));
    *own = members->count;
    for (int64_t i = 0; i < others.count; i++)
        for (int k = 0; k < others.iterators; k++) {
            members->value[k] = taut_arena_grow(arena, members->value[k], *own + i,
                                                &w.capacity[0][k], sizeof(int32_t));
            TAUT_NEED(model->error, members->value[k]);
            members->value[k][*own + i] = others.value[k][i];
        }
    members->count += others.count;
    return 0;
}
