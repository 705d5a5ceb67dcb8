/* space.h - processes that share a run, its ranks, and what they exchange. NULL is a run of one
 * process: all calls are then the identity.
 *
 * A vector of a rank has entries that it owns and copies of entries of other ranks, its ghosts, in
 * the order of the numbers that the entries have in the whole system. Every entry is owned by one
 * rank. Ranks meet in the calls of this file only; all of them make the same calls in the same
 * order, so that whatever a call depends on must be the same on all of them. Results are the same
 * bits on all ranks: sums are formed in the order of the ranks. */
#ifndef TAUT_BASE_SPACE_H
#define TAUT_BASE_SPACE_H

#include "base/pool.h"

typedef struct taut_space_calls {
    /* all[size][bytes] <- mine[bytes] of each rank */
    void (*gather)(taut_space *space, int64_t bytes, const void *mine, void *all);
    /* numbers to and from each rank, those of rank r at [start[r], start[r + 1]) */
    void (*trade)(taut_space *space, const int64_t *out_start, const int64_t *out,
                  const int64_t *in_start, int64_t *in);
    /* the same with some ranks only, partner[partners], which do so with this one; kind tells
     * exchanges apart */
    void (*exchange)(taut_space *space, int partners, const int *partner, const int64_t *out_start,
                     const double *out, const int64_t *in_start, double *in);
    bool (*meet)(taut_space *space, double seconds);
    void (*end)(taut_space *space, int code); /* of all processes */
    void (*destroy)(taut_space *space);
} taut_space_calls;

struct taut_space {
    int rank, size;
    const taut_space_calls *calls;
    double *room; /* [size] */
    char *words;  /* [size][TAUT_SPACE_WORDS] messages of failures */
};
enum { TAUT_SPACE_WORDS = 400 };

/* The ranks that were started together; NULL where there is one. (space_mpi.c, where built) */
int taut_space_open(taut_space **space, taut_error *error);

static inline int taut_space_ranks(const taut_space *space)
{
    return space ? space->size : 1;
}
/* The sum and the largest of x over the ranks; NaN where one is. */
double taut_space_sum(taut_space *space, double x);
double taut_space_largest(taut_space *space, double x);
/* For a step that all ranks make or none: the status of the first rank that failed, 0 where none
 * did. An error goes before TAUT_RETRY. Ranks that did not fail get its message. */
int taut_space_agree(taut_space *space, int status, taut_error *error);

/* Numbers of a whole system that are here: runs of successive ones, ascending. */
typedef struct taut_runs {
    int64_t count, total; /* runs, numbers */
    int64_t *begin, *end; /* of each run */
    int64_t *place;       /* how many numbers the runs before it have */
} taut_runs;
/* Where a number is, or -1; where it would be; and back. */
int64_t taut_runs_find(const taut_runs *runs, int64_t number);
int64_t taut_runs_place(const taut_runs *runs, int64_t number);
int64_t taut_runs_number(const taut_runs *runs, int64_t place);
/* From any ranges, range[k][0] .. range[k][1] - 1, which it sorts. */
int taut_runs_make(int64_t count, int64_t (*range)[2], taut_arena *arena, taut_runs *runs,
                   taut_error *error);

/* One kind of vectors: how many entries, which of them are owned, and the exchange of ghosts. */
typedef struct taut_halo {
    taut_space *space;
    const taut_runs *numbers; /* of the entries; NULL for parts of a kind */
    taut_index count;         /* entries */
    int64_t total;            /* owned by all ranks together */
    int64_t before;           /* owned by ranks below this one */
    int ranges;               /* owned: entries range[k][0] .. range[k][1] - 1 */
    taut_index (*range)[2];
    int partners, *partner;
    int64_t *out_start, *in_start; /* [partners + 1] */
    taut_index *out, *in;          /* entries */
    double *out_value, *in_value;
} taut_halo;

/* numbers: of all entries; owner[entries]. The ranks call it together. */
int taut_halo_make(taut_space *space, const taut_runs *numbers, const int *owner, taut_arena *arena,
                   taut_halo *halo, taut_error *error);
/* Of the vectors of some entries alone: entry[count], ascending; of an entry that is chosen here
 * the copies on other ranks are chosen too. Together. */
int taut_halo_part(const taut_halo *whole, taut_index count, const taut_index *entry,
                   taut_arena *arena, taut_halo *part, taut_error *error);
/* Ghosts become copies of what their owners have. */
void taut_halo_refresh(const taut_halo *halo, double *x);
/* As taut_pool_sum over the owned entries of all ranks. */
double taut_halo_sum(const taut_halo *halo, taut_pool *pool, int64_t n, taut_loop_body *body,
                     void *context);
/* |x| of the entries of all ranks; taut_norm where halo is NULL. */
double taut_halo_norm(const taut_halo *halo, taut_index n, const double *x);
/* On rank 0, take(user, value, count) of the entries of all ranks in the order of their numbers, in
 * pieces of a fixed size. Together. room: of taut_halo_room numbers. */
typedef void taut_halo_take(void *user, const double *value, int64_t count);
int64_t taut_halo_room(const taut_halo *halo);
void taut_halo_collect(const taut_halo *halo, const double *x, double *room, taut_halo_take *take,
                       void *user);
/* The same into whole[total] on rank 0. */
void taut_halo_whole(const taut_halo *halo, const double *x, double *room, double *whole);

#endif
