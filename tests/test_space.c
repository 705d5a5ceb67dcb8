/* test_space.c - runs of numbers, halos, and the band solver of several ranks (linalg/parted.c), in
 * one process: the ranks are threads that meet at barriers. Solutions are compared with those of
 * the whole matrix. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/saddle.h"
#include "support/table.h"

enum { MOST_RANKS = 5, MOST_BYTES = 1 << 16 };

/* ---- ranks as threads: every call writes to shared memory between two barriers */

static pthread_barrier_t barrier;
static char gathered[MOST_RANKS * MOST_BYTES];
static const void *mailbox[MOST_RANKS][3];

static void gather(taut_space *space, int64_t bytes, const void *mine, void *all)
{
    memcpy(gathered + space->rank * bytes, mine, (size_t)bytes);
    pthread_barrier_wait(&barrier);
    memcpy(all, gathered, (size_t)(bytes * space->size));
    pthread_barrier_wait(&barrier);
}

static void trade(taut_space *space, const int64_t *out_start, const int64_t *out,
                  const int64_t *in_start, int64_t *in)
{
    mailbox[space->rank][0] = out_start;
    mailbox[space->rank][1] = out;
    pthread_barrier_wait(&barrier);
    for (int r = 0; r < space->size; r++) {
        const int64_t *start = mailbox[r][0], *from = mailbox[r][1];
        for (int64_t k = 0; k < in_start[r + 1] - in_start[r]; k++)
            in[in_start[r] + k] = from[start[space->rank] + k];
    }
    pthread_barrier_wait(&barrier);
}

typedef struct letter {
    int partners;
    const int *partner;
    const int64_t *start;
    const double *out;
} letter;

static void exchange(taut_space *space, int partners, const int *partner, const int64_t *out_start,
                     const double *out, const int64_t *in_start, double *in)
{
    const letter mine = {partners, partner, out_start, out};
    mailbox[space->rank][2] = &mine;
    pthread_barrier_wait(&barrier);
    for (int k = 0; k < partners; k++) {
        const letter *from = mailbox[partner[k]][2];
        for (int j = 0; j < from->partners; j++)
            for (int64_t i = 0;
                 from->partner[j] == space->rank && i < in_start[k + 1] - in_start[k]; i++)
                in[in_start[k] + i] = from->out[from->start[j] + i];
    }
    pthread_barrier_wait(&barrier);
}

static const taut_space_calls calls = {.gather = gather, .trade = trade, .exchange = exchange};

/* ---- a chain: bond i between points i - 1 and i, each with two coordinates; the first one is
 * fixed */

enum { POINTS = 400, ENTRIES = 4 };

static double g_entry(int bond, int e)
{
    return sin(1.7 * bond + 0.9 * e) + (e < 2 ? -1.2 : 1.2);
}

/* The whole system: y of A y = W r - s, and x. */
static double whole_x[2 * POINTS], whole_y[POINTS];

static void mass_and_sides(int first, int count, double *k, double *x)
{
    for (int j = 0; j < count; j++) {
        k[j] = 1 + 0.3 * ((first + j) % 3);
        x[j] = cos(0.3 * (first + j));
    }
}

/* Bonds begin .. end-1 of points first .. first+points-1. */
static void fill(int begin, int end, int first, taut_index *start, taut_index *column, double *g,
                 double *s)
{
    taut_index used = 0;
    for (int i = begin; i < end; i++) {
        for (int e = i == 0 ? 2 : 0; e < ENTRIES; e++) {
            column[used] = (taut_index)(2 * (i - 1 - first) + e);
            g[used++] = g_entry(i, e);
        }
        start[i - begin + 1] = used;
        s[i - begin] = sin(0.1 * i);
    }
}

static void solve_whole(void)
{
    static taut_index start[POINTS + 1], column[POINTS * ENTRIES];
    static double g[POINTS * ENTRIES], k[2 * POINTS];
    taut_saddle *saddle = NULL;
    mass_and_sides(0, 2 * POINTS, k, whole_x);
    fill(0, POINTS, 0, start, column, g, whole_y);
    const taut_saddle_shape shape = {.n = 2 * POINTS,
                                     .m = POINTS,
                                     .g_start = start,
                                     .g_column = column,
                                     .symmetric = true,
                                     .positive = true};
    int status = taut_saddle_create(&shape, TAUT_BACKEND_AUTO, NULL, &saddle, NULL);
    status = status == 0 ? taut_saddle_factor(saddle, k, g, NULL, NULL, NULL) : status;
    status = status == 0 ? taut_saddle_solve(saddle, 1, whole_x, whole_y, NULL) : status;
    check_row(status == 0, "the whole matrix: status %d", status);
    taut_saddle_destroy(saddle);
}

typedef struct rank {
    taut_space space;
    double room[MOST_RANKS], sum, apart_x, apart_y;
    char words[MOST_RANKS * TAUT_SPACE_WORDS];
    taut_error error;
    int status, agreed;
} rank;

/* The part of a rank: its points and bonds, a bond more on each side, and their points. */
static void *run_rank(void *argument)
{
    static const taut_allocator *const standard = NULL;
    rank *r = argument;
    taut_arena arena;
    taut_error *error = &r->error;
    taut_arena_init(&arena, standard);
    const int own = POINTS * r->space.rank / r->space.size,
              end = POINTS * (r->space.rank + 1) / r->space.size, begin = own > 0 ? own - 1 : 0,
              last = end < POINTS ? end + 1 : POINTS, first = begin > 0 ? begin - 1 : 0,
              points = last - first, bonds = last - begin;
    int64_t point_range[1][2] = {{2 * first, 2 * last}}, bond_range[1][2] = {{begin, last}};
    taut_runs point_numbers, bond_numbers;
    taut_halo coordinates, rows;
    int *owner = TAUT_NEW(&arena, int, 2 * points), *bond_owner = TAUT_NEW(&arena, int, bonds);
    for (int i = 0; i < 2 * points; i++)
        for (int k = 0; k < r->space.size; k++)
            if (first + i / 2 >= POINTS * k / r->space.size)
                owner[i] = k;
    for (int i = 0; i < bonds; i++)
        for (int k = 0; k < r->space.size; k++)
            if (begin + i >= POINTS * k / r->space.size)
                bond_owner[i] = k;
    taut_runs_make(1, point_range, &arena, &point_numbers, error);
    taut_runs_make(1, bond_range, &arena, &bond_numbers, error);
    taut_halo_make(&r->space, &point_numbers, owner, &arena, &coordinates, error);
    taut_halo_make(&r->space, &bond_numbers, bond_owner, &arena, &rows, error);
    r->sum = taut_space_sum(&r->space, r->space.rank + 1);
    r->agreed = taut_space_agree(
        &r->space, r->space.rank == 1 ? taut_fail(error, TAUT_ERROR_STEP, "why") : 0, error);

    taut_index *start = TAUT_NEW(&arena, taut_index, bonds + 1),
               *column = TAUT_NEW(&arena, taut_index, ENTRIES * bonds);
    double *g, *k, *x, *y;
    taut_arena_reserve(&arena, ENTRIES * points, (double **const[]){&g, &k, &x, &y, NULL}, error);
    mass_and_sides(2 * first, 2 * points, k, x);
    fill(begin, last, first, start, column, g, y);
    const taut_saddle_shape shape = {.n = 2 * points,
                                     .m = bonds,
                                     .g_start = start,
                                     .g_column = column,
                                     .symmetric = true,
                                     .positive = true,
                                     .column_halo = &coordinates,
                                     .row_halo = &rows};
    taut_saddle *saddle = NULL;
    r->status = taut_saddle_create(&shape, TAUT_BACKEND_AUTO, NULL, &saddle, error);
    if (r->status == 0)
        r->status = taut_saddle_factor(saddle, k, g, NULL, NULL, error);
    if (r->status == 0)
        r->status = taut_saddle_solve(saddle, 1, x, y, error);
    for (int i = 0; i < bonds; i++) /* ghosts too */
        r->apart_y = fmax(r->apart_y, fabs(y[i] - whole_y[begin + i]));
    for (int i = 0; i < 2 * points; i++)
        r->apart_x = fmax(r->apart_x, fabs(x[i] - whole_x[2 * first + i]));
    taut_saddle_destroy(saddle);
    taut_arena_clear(&arena);
    return NULL;
}

static void run_ranks(int size)
{
    rank *ranks = calloc((size_t)size, sizeof *ranks);
    pthread_t thread[MOST_RANKS];
    pthread_barrier_init(&barrier, NULL, (unsigned)size);
    for (int r = 0; r < size; r++) {
        ranks[r].space = (taut_space){r, size, &calls, ranks[r].room, ranks[r].words};
        pthread_create(&thread[r], NULL, run_rank, &ranks[r]);
    }
    for (int r = 0; r < size; r++)
        pthread_join(thread[r], NULL);
    for (int r = 0; r < size; r++) {
        const rank *one = &ranks[r];
        check_row(one->sum == size * (size + 1) / 2, "%d ranks: a sum is %g", size, one->sum);
        check_row(one->agreed == TAUT_ERROR_STEP, "%d ranks, rank %d: status %d", size, r,
                  one->agreed);
        check_row(one->status == 0, "%d ranks, rank %d: %s", size, r, one->error.message);
        check_row(one->apart_y < 1e-11 && one->apart_x < 1e-11,
                  "%d ranks, rank %d: multipliers %g apart, coordinates %g", size, r, one->apart_y,
                  one->apart_x);
    }
    pthread_barrier_destroy(&barrier);
    free(ranks);
}

/* ---- runs of numbers */

static void try_runs(void)
{
    taut_arena arena;
    taut_runs runs;
    int64_t range[][2] = {{20, 23}, {3, 5}, {5, 9}, {7, 8}, {22, 25}, {40, 40}};
    taut_arena_init(&arena, NULL);
    int status = taut_runs_make(6, range, &arena, &runs, NULL);
    check_row(status == 0 && runs.count == 2 && runs.total == 11, "%d runs of %d numbers",
              (int)runs.count, (int)runs.total);
    check_row(taut_runs_find(&runs, 4) == 1 && taut_runs_find(&runs, 9) == -1 &&
                  taut_runs_find(&runs, 24) == 10 && taut_runs_find(&runs, 2) == -1,
              "where numbers are");
    check_row(taut_runs_place(&runs, 0) == 0 && taut_runs_place(&runs, 15) == 6 &&
                  taut_runs_place(&runs, 99) == 11,
              "where numbers would be");
    check_row(taut_runs_number(&runs, 0) == 3 && taut_runs_number(&runs, 6) == 20, "which numbers");
    taut_arena_clear(&arena);
}

int main(void)
{
    try_runs();
    solve_whole();
    for (int size = 2; size <= MOST_RANKS; size++)
        run_ranks(size);
    return check_done();
}
