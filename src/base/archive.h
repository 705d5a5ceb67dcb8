/* archive.h - what a run must remember, written or read by one and the same walk: a function names
 * its values in a fixed order, and the archive copies them out or in. Nothing that is read can be
 * a pointer, and integers are within the bounds that the walk states, so that a wrong file gives
 * wrong numbers or an error, and no more.
 *
 * The first failure is kept, and everything after it is skipped: walks need no checks. */
#ifndef TAUT_BASE_ARCHIVE_H
#define TAUT_BASE_ARCHIVE_H

#include "base/space.h"

typedef struct taut_archive {
    bool reading;
    int status;        /* of the first failure; TAUT_OK so far */
    const char *wrong; /* its reason, a constant */
    /* writing: where bytes go; nonzero: it failed */
    int (*write)(void *user, const void *bytes, size_t count);
    void *user; /* of both */
    /* of several ranks, whose first one writes: all make the same walk, with the same numbers but
     * for those of taut_archive_spread; room: of the larger taut_halo_room of its halos */
    taut_space *space;
    double *room;
    bool failed; /* on a rank, which all know */
    /* reading: count bytes from a place on; nonzero: it failed. The next place, and what is left */
    int (*read)(void *user, size_t at, void *bytes, size_t count);
    size_t at, left;
} taut_archive;

void taut_archive_bytes(taut_archive *archive, void *bytes, size_t count);
/* x[count], any bits; x may be NULL where count is 0 */
void taut_archive_reals(taut_archive *archive, double *x, int64_t count);
/* The same for entries of a halo (NULL: all are here), in the order of the whole system: what
 * several ranks have written another number of them can read. */
void taut_archive_spread(taut_archive *archive, const taut_halo *halo, double *x, int64_t count);
/* At the end of writing: did all ranks succeed? */
bool taut_archive_agree(taut_archive *archive);
void taut_archive_real(taut_archive *archive, double *x);
void taut_archive_flag(taut_archive *archive, bool *x);
void taut_archive_integer(taut_archive *archive, int *x, int least, int most);
void taut_archive_indices(taut_archive *archive, taut_index *x, int64_t count, taut_index least,
                          taut_index most);
void taut_archive_count(taut_archive *archive, int64_t *x); /* not negative */
/* A terminated text in room for `size` bytes. */
void taut_archive_text(taut_archive *archive, char *text, size_t size);
/* What is written must be the same when it is read; else `wrong` is the reason. */
void taut_archive_same(taut_archive *archive, int64_t x, const char *wrong);
void taut_archive_fail(taut_archive *archive, int status, const char *wrong);

#endif
