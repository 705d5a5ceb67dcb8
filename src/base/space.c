/* space.c - see space.h: what does not depend on how ranks talk to each other. */
#include "base/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vectors.h"

enum { PIECE = 1 << 16 }; /* entries of one message of taut_halo_collect */

#ifndef TAUT_MPI
int taut_space_open(taut_space **space, taut_error *error)
{
    (void)error;
    *space = NULL;
    return TAUT_OK;
}
#endif

int taut_space_create(taut_space **space, taut_error *error)
{
    taut_error_clear(error);
    TAUT_REQUIRE(space);
    TAUT_TRY(taut_space_open(space, error));
    if (taut_space_ranks(*space) > 1)
        return TAUT_OK;
    taut_space_destroy(*space);
    *space = NULL;
    return TAUT_OK;
}

void taut_space_destroy(taut_space *space)
{
    if (space)
        space->calls->destroy(space);
}

int taut_space_rank(const taut_space *space)
{
    return space ? space->rank : 0;
}

int taut_space_size(const taut_space *space)
{
    return taut_space_ranks(space);
}

bool taut_space_meet(taut_space *space, double seconds)
{
    return !space || space->calls->meet(space, seconds);
}

void taut_space_end(taut_space *space, int code)
{
    if (space)
        space->calls->end(space, code);
}

/* ---- numbers of all ranks */

double taut_space_sum(taut_space *space, double x)
{
    if (!space)
        return x;
    double sum = 0;
    space->calls->gather(space, sizeof x, &x, space->room);
    for (int r = 0; r < space->size; r++)
        sum += space->room[r];
    return sum;
}

double taut_space_largest(taut_space *space, double x)
{
    if (!space)
        return x;
    space->calls->gather(space, sizeof x, &x, space->room);
    double most = space->room[0];
    for (int r = 1; r < space->size; r++)
        most = taut_larger(space->room[r], taut_larger(most, space->room[r]));
    return most;
}

int taut_space_agree(taut_space *space, int status, taut_error *error)
{
    if (!space)
        return status;
    double mine = status;
    space->calls->gather(space, sizeof mine, &mine, space->room);
    int first = -1;
    for (int r = 0; r < space->size; r++) {
        const double other = space->room[r];
        bool worse = first < 0 ? other != 0 : space->room[first] > 0 && other < 0;
        first = worse ? r : first;
    }
    if (first < 0)
        return status;
    const int code = (int)space->room[first];
    if (code > 0) /* a smaller step is tried, whatever the reason */
        return code;
    char mine_words[TAUT_SPACE_WORDS] = "";
    if (status == code && error)
        snprintf(mine_words, sizeof mine_words, "%.399s", error->message);
    space->calls->gather(space, TAUT_SPACE_WORDS, mine_words, space->words);
    if (status == code)
        return code;
    const char *words = space->words + (int64_t)first * TAUT_SPACE_WORDS;
    return taut_fail(error, code, "%s", words[0] ? words : "another rank failed");
}

/* ---- runs of numbers */

/* The last run that begins at or before a key of it, or -1. */
static int64_t run_at(int64_t count, const int64_t *begin, int64_t key)
{
    int64_t low = -1, high = count;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (begin[middle] <= key)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t taut_runs_find(const taut_runs *runs, int64_t number)
{
    int64_t k = run_at(runs->count, runs->begin, number);
    return k >= 0 && number < runs->end[k] ? runs->place[k] + number - runs->begin[k] : -1;
}

int64_t taut_runs_place(const taut_runs *runs, int64_t number)
{
    int64_t k = run_at(runs->count, runs->begin, number);
    if (k < 0)
        return 0;
    int64_t last = number < runs->end[k] ? number : runs->end[k];
    return runs->place[k] + last - runs->begin[k];
}

int64_t taut_runs_number(const taut_runs *runs, int64_t place)
{
    int64_t k = run_at(runs->count, runs->place, place);
    return runs->begin[k] + place - runs->place[k];
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int taut_runs_make(int64_t count, int64_t (*range)[2], taut_arena *arena, taut_runs *runs,
                   taut_error *error)
{
    bool sorted = true;
    *runs = (taut_runs){0};
    for (int64_t k = 1; k < count && sorted; k++)
        sorted = range[k][0] > range[k - 1][0];
    if (!sorted)
        qsort(range, (size_t)count, sizeof *range, compare);
    runs->begin = TAUT_NEW(arena, int64_t, count);
    runs->end = TAUT_NEW(arena, int64_t, count);
    runs->place = TAUT_NEW(arena, int64_t, count);
    TAUT_NEED(error, runs->begin, runs->end, runs->place);
    int64_t r = -1;
    for (int64_t k = 0; k < count; k++) {
        if (range[k][1] <= range[k][0])
            continue;
        if (r < 0 || range[k][0] > runs->end[r]) {
            runs->begin[++r] = range[k][0];
            runs->end[r] = range[k][0];
        }
        runs->end[r] = range[k][1] > runs->end[r] ? range[k][1] : runs->end[r];
    }
    runs->count = r + 1;
    for (int64_t k = 0; k < runs->count; k++) {
        runs->place[k] = runs->total;
        runs->total += runs->end[k] - runs->begin[k];
    }
    return TAUT_OK;
}

/* ---- halos */

static int find_ranges(taut_halo *halo, const int *owner, taut_arena *arena, taut_error *error)
{
    const int mine = halo->space->rank;
    for (taut_index i = 0; i < halo->count; i++)
        halo->ranges += owner[i] == mine && (i == 0 || owner[i - 1] != mine);
    halo->range = taut_arena_get(arena, halo->ranges, sizeof *halo->range);
    TAUT_NEED(error, halo->range);
    int r = -1;
    for (taut_index i = 0; i < halo->count; i++) {
        if (owner[i] != mine)
            continue;
        if (i == 0 || owner[i - 1] != mine)
            halo->range[++r][0] = i;
        halo->range[r][1] = i + 1;
    }
    return TAUT_OK;
}

/* How many entries all ranks own, and those before this one. */
static void count_all(taut_halo *halo)
{
    double own = 0;
    for (int k = 0; k < halo->ranges; k++)
        own += halo->range[k][1] - halo->range[k][0];
    taut_space *space = halo->space;
    space->calls->gather(space, sizeof own, &own, space->room);
    for (int r = 0; r < space->size; r++) {
        halo->before += r < space->rank ? (int64_t)space->room[r] : 0;
        halo->total += (int64_t)space->room[r];
    }
}

/* Lists for each rank, made from lists by rank: those that are not empty. */
static int keep_partners(taut_halo *halo, const int64_t *out, const int64_t *in, taut_arena *arena,
                         taut_error *error)
{
    const int size = halo->space->size;
    for (int r = 0; r < size; r++)
        halo->partners += out[r + 1] > out[r] || in[r + 1] > in[r];
    halo->partner = TAUT_NEW(arena, int, halo->partners);
    halo->out_start = TAUT_NEW(arena, int64_t, halo->partners + 1);
    halo->in_start = TAUT_NEW(arena, int64_t, halo->partners + 1);
    TAUT_NEED(error, halo->partner, halo->out_start, halo->in_start);
    for (int r = 0, k = 0; r < size; r++)
        if (out[r + 1] > out[r] || in[r + 1] > in[r]) {
            halo->partner[k++] = r;
            halo->out_start[k] = out[r + 1];
            halo->in_start[k] = in[r + 1];
        }
    return TAUT_RESERVE(arena, out[size], error, &halo->out_value) != 0
               ? taut_fail_memory(error)
               : TAUT_RESERVE(arena, in[size], error, &halo->in_value);
}

/* Ghosts by owner: their entries, and the numbers to ask for. */
static int list_ghosts(taut_halo *halo, const int *owner, int64_t *in_start, int64_t *number,
                       taut_arena *scratch, taut_error *error)
{
    const int size = halo->space->size;
    int64_t *next = TAUT_NEW(scratch, int64_t, size + 1);
    TAUT_NEED(error, next);
    for (int r = 0; r < size; r++)
        next[r] = in_start[r];
    for (taut_index i = 0; i < halo->count; i++)
        if (owner[i] != halo->space->rank) {
            number[next[owner[i]]] = taut_runs_number(halo->numbers, i);
            halo->in[next[owner[i]]++] = i;
        }
    return TAUT_OK;
}

/* Counts by rank go to these ranks; starts from counts. */
static void trade_counts(taut_space *space, const int64_t *start, int64_t *each, int64_t *result)
{
    for (int r = 0; r < space->size; r++)
        each[r] = start[r + 1] - start[r];
    int64_t *ones = each + space->size; /* [size + 1] */
    for (int r = 0; r <= space->size; r++)
        ones[r] = r;
    space->calls->trade(space, ones, each, ones, result + 1);
    result[0] = 0;
    for (int r = 0; r < space->size; r++)
        result[r + 1] += result[r];
}

static int make(taut_halo *halo, const int *owner, taut_arena *arena, taut_arena *scratch,
                taut_error *error)
{
    taut_space *space = halo->space;
    const int size = space->size;
    int64_t *in = TAUT_NEW(scratch, int64_t, size + 1), *out = TAUT_NEW(scratch, int64_t, size + 1),
            *each = TAUT_NEW(scratch, int64_t, 2 * size + 1);
    TAUT_TRY(find_ranges(halo, owner, arena, error));
    TAUT_NEED(error, in, out, each);
    count_all(halo);
    for (taut_index i = 0; i < halo->count; i++)
        in[owner[i] + 1] += owner[i] != space->rank;
    for (int r = 0; r < size; r++)
        in[r + 1] += in[r];
    trade_counts(space, in, each, out);
    int64_t *asked = TAUT_NEW(scratch, int64_t, in[size] + 1),
            *wanted = TAUT_NEW(scratch, int64_t, out[size] + 1);
    halo->in = TAUT_NEW(arena, taut_index, in[size]);
    halo->out = TAUT_NEW(arena, taut_index, out[size]);
    TAUT_NEED(error, asked, wanted, halo->in, halo->out);
    TAUT_TRY(list_ghosts(halo, owner, in, asked, scratch, error));
    space->calls->trade(space, in, asked, out, wanted);
    for (int64_t k = 0; k < out[size]; k++)
        halo->out[k] = (taut_index)taut_runs_find(halo->numbers, wanted[k]);
    return keep_partners(halo, out, in, arena, error);
}

int taut_halo_make(taut_space *space, const taut_runs *numbers, const int *owner, taut_arena *arena,
                   taut_halo *halo, taut_error *error)
{
    taut_arena scratch;
    taut_arena_init(&scratch, &arena->allocator);
    *halo = (taut_halo){.space = space, .numbers = numbers, .count = (taut_index)numbers->total};
    int status = make(halo, owner, arena, &scratch, error);
    taut_arena_clear(&scratch);
    return status;
}

/* The entries of a list that are chosen, by their new numbers; starts move. */
static int64_t choose(int partners, int64_t *start, const taut_index *from,
                      const taut_index *chosen, taut_index *to)
{
    int64_t used = 0;
    for (int k = 0; k < partners; k++) {
        int64_t begin = start[k];
        start[k] = used;
        for (int64_t e = begin; e < start[k + 1]; e++)
            if (chosen[from[e]] >= 0)
                to[used++] = chosen[from[e]];
    }
    start[partners] = used;
    return used;
}

static int choose_part(const taut_halo *whole, taut_index count, const taut_index *entry,
                       taut_index *chosen, taut_arena *arena, taut_halo *part, taut_error *error)
{
    for (taut_index i = 0; i < whole->count; i++)
        chosen[i] = -1;
    for (taut_index i = 0; i < count; i++)
        chosen[entry[i]] = i;
    part->range = taut_arena_get(arena, whole->ranges, sizeof *part->range);
    TAUT_NEED(error, part->range);
    for (int k = 0; k < whole->ranges; k++) {
        taut_index own = 0, first = -1;
        for (taut_index i = whole->range[k][0]; i < whole->range[k][1]; i++)
            if (chosen[i] >= 0) {
                first = first < 0 ? chosen[i] : first;
                own++;
            }
        if (own == 0)
            continue;
        taut_index *last = part->ranges > 0 ? part->range[part->ranges - 1] : NULL;
        if (last && last[1] == first) {
            last[1] += own;
            continue;
        }
        part->range[part->ranges][0] = first;
        part->range[part->ranges++][1] = first + own;
    }
    count_all(part);
    const int partners = whole->partners;
    const int64_t outs = whole->out_start[partners], ins = whole->in_start[partners];
    part->partner = whole->partner;
    part->out_start = TAUT_NEW(arena, int64_t, partners + 1);
    part->in_start = TAUT_NEW(arena, int64_t, partners + 1);
    part->out = TAUT_NEW(arena, taut_index, outs);
    part->in = TAUT_NEW(arena, taut_index, ins);
    TAUT_NEED(error, part->out_start, part->in_start, part->out, part->in);
    memcpy(part->out_start, whole->out_start, (size_t)(partners + 1) * sizeof(int64_t));
    memcpy(part->in_start, whole->in_start, (size_t)(partners + 1) * sizeof(int64_t));
    choose(partners, part->out_start, whole->out, chosen, part->out);
    choose(partners, part->in_start, whole->in, chosen, part->in);
    TAUT_TRY(TAUT_RESERVE(arena, outs, error, &part->out_value));
    return TAUT_RESERVE(arena, ins, error, &part->in_value);
}

int taut_halo_part(const taut_halo *whole, taut_index count, const taut_index *entry,
                   taut_arena *arena, taut_halo *part, taut_error *error)
{
    taut_arena scratch;
    taut_arena_init(&scratch, &arena->allocator);
    *part = (taut_halo){.space = whole->space, .count = count, .partners = whole->partners};
    taut_index *chosen = TAUT_NEW(&scratch, taut_index, whole->count);
    int status = chosen ? choose_part(whole, count, entry, chosen, arena, part, error)
                        : taut_fail_memory(error);
    taut_arena_clear(&scratch);
    return status;
}

void taut_halo_refresh(const taut_halo *halo, double *x)
{
    if (!halo)
        return;
    const int64_t outs = halo->out_start[halo->partners], ins = halo->in_start[halo->partners];
    for (int64_t k = 0; k < outs; k++)
        halo->out_value[k] = x[halo->out[k]];
    halo->space->calls->exchange(halo->space, halo->partners, halo->partner, halo->out_start,
                                 halo->out_value, halo->in_start, halo->in_value);
    for (int64_t k = 0; k < ins; k++)
        x[halo->in[k]] = halo->in_value[k];
}

double taut_halo_sum(const taut_halo *halo, taut_pool *pool, int64_t n, taut_loop_body *body,
                     void *context)
{
    if (!halo)
        return taut_pool_sum(pool, n, body, context);
    double sum = 0;
    for (int k = 0; k < halo->ranges; k++)
        sum += body(context, halo->range[k][0], halo->range[k][1]);
    return taut_space_sum(halo->space, sum);
}

double taut_halo_norm(const taut_halo *halo, taut_index n, const double *x)
{
    if (!halo)
        return taut_norm(n, x);
    double sum = 0;
    for (int k = 0; k < halo->ranges; k++) {
        const taut_index *range = halo->range[k];
        const double part = taut_norm(range[1] - range[0], x + range[0]);
        sum += part * part;
    }
    return sqrt(taut_space_sum(halo->space, sum));
}

/* ---- all entries, in their order, on rank 0: windows of successive numbers */

static int64_t window(const taut_halo *halo)
{
    return halo->total < PIECE ? halo->total : PIECE;
}

/* Numbers and values that are sent; those that come; the values in order. */
int64_t taut_halo_room(const taut_halo *halo)
{
    return window(halo) * (halo->space->rank == 0 ? 5 : 2);
}

/* The owned entries from (range, next) on whose numbers are below `end`: number, value, ... */
static int64_t fill_piece(const taut_halo *halo, const double *x, int64_t end, int *range,
                          taut_index *next, double *piece)
{
    int64_t count = 0;
    for (; *range < halo->ranges; *next = ++*range < halo->ranges ? halo->range[*range][0] : 0)
        for (; *next < halo->range[*range][1]; ++*next) {
            const int64_t number = taut_runs_number(halo->numbers, *next);
            if (number >= end)
                return count;
            piece[2 * count] = (double)number;
            piece[2 * count++ + 1] = x[*next];
        }
    return count;
}

/* Pieces of all ranks come to rank 0, one rank after the other; counts of them in space->room. */
static void send_pieces(taut_space *space, int64_t mine, const double *piece, double *in)
{
    const int64_t nothing[2] = {0, 0};
    const double count = (double)mine;
    space->calls->gather(space, sizeof count, &count, space->room);
    if (space->rank > 0) {
        const int64_t start[2] = {0, 2 * mine};
        if (mine > 0)
            space->calls->exchange(space, 1, &(int){0}, start, piece, nothing, in);
        return;
    }
    for (int r = 1; r < space->size; r++) {
        const int64_t start[2] = {0, 2 * (int64_t)space->room[r]};
        if (start[1] > 0)
            space->calls->exchange(space, 1, &r, nothing, piece, start, in);
        in += start[1];
    }
}

void taut_halo_collect(const taut_halo *halo, const double *x, double *room, taut_halo_take *take,
                       void *user)
{
    taut_space *space = halo->space;
    const int64_t width = window(halo);
    double *in = room + 2 * width, *values = in + 2 * width;
    int range = 0;
    taut_index next = halo->ranges > 0 ? halo->range[0][0] : 0;
    for (int64_t begin = 0; begin < halo->total; begin += width) {
        const int64_t end = begin + width < halo->total ? begin + width : halo->total,
                      mine = fill_piece(halo, x, end, &range, &next, room);
        send_pieces(space, mine, room, in);
        if (space->rank > 0)
            continue;
        for (int64_t k = 0; k < end - begin; k++) {
            const double *pair = k < mine ? room + 2 * k : in + 2 * (k - mine);
            values[(int64_t)pair[0] - begin] = pair[1];
        }
        take(user, values, end - begin);
    }
}

static void append(void *user, const double *value, int64_t count)
{
    double **to = user;
    memcpy(*to, value, (size_t)count * sizeof *value);
    *to += count;
}

void taut_halo_whole(const taut_halo *halo, const double *x, double *room, double *whole)
{
    taut_halo_collect(halo, x, room, append, &whole);
}
