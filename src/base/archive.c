/* archive.c - see archive.h. Numbers are stored as they are in memory. */
#include "base/archive.h"

#include <string.h>

void taut_archive_fail(taut_archive *a, int status, const char *wrong)
{
    if (a->status != TAUT_OK)
        return;
    a->status = status;
    a->wrong = wrong;
}

static bool has_left(taut_archive *a, size_t count)
{
    if (count > a->left)
        taut_archive_fail(a, TAUT_ERROR_FILE, "it ends too early");
    return a->status == TAUT_OK;
}

/* What is there already is not written again: pages of zeros that were never written take no
 * memory (base/memory.h). */
static void read_at(taut_archive *a, size_t ahead, void *bytes, size_t count)
{
    enum { PIECE = 1 << 12 };
    unsigned char piece[PIECE], *to = bytes;
    for (size_t done = 0, size; done < count && a->status == TAUT_OK; done += size) {
        size = count - done < PIECE ? count - done : PIECE;
        if (a->read(a->user, a->at + ahead + done, piece, size) != 0)
            taut_archive_fail(a, TAUT_ERROR_FILE, "it cannot be read");
        else if (memcmp(to + done, piece, size) != 0)
            memcpy(to + done, piece, size);
    }
}

static void skip(taut_archive *a, size_t count)
{
    a->at += count;
    a->left -= count;
}

void taut_archive_bytes(taut_archive *a, void *bytes, size_t count)
{
    if (a->status != TAUT_OK || count == 0)
        return;
    if (!a->reading) {
        if (a->write(a->user, bytes, count) != 0)
            taut_archive_fail(a, TAUT_ERROR_FILE, "it cannot be written");
    } else if (has_left(a, count)) {
        read_at(a, 0, bytes, count);
        skip(a, count);
    }
}

void taut_archive_reals(taut_archive *a, double *x, int64_t count)
{
    taut_archive_bytes(a, x, (size_t)count * sizeof *x);
}

bool taut_archive_agree(taut_archive *a)
{
    if (!a->space)
        return a->status == TAUT_OK;
    if (!a->failed && taut_space_largest(a->space, a->status != TAUT_OK) > 0) {
        a->failed = true;
        taut_archive_fail(a, TAUT_ERROR_FILE, "it cannot be written");
    }
    return !a->failed;
}

static void write_window(void *user, const double *value, int64_t count)
{
    double *x = (double *)(uintptr_t)value; /* not altered by writing */
    taut_archive_reals(user, x, count);
}

/* Of the numbers of the whole system those that are here. */
static void read_spread(taut_archive *a, const taut_halo *halo, double *x)
{
    const taut_runs *runs = halo->numbers;
    const size_t size = (size_t)halo->total * sizeof *x;
    if (a->status != TAUT_OK || !has_left(a, size))
        return;
    for (int64_t k = 0; k < runs->count; k++)
        read_at(a, (size_t)runs->begin[k] * sizeof *x, x + runs->place[k],
                (size_t)(runs->end[k] - runs->begin[k]) * sizeof *x);
    skip(a, size);
}

void taut_archive_spread(taut_archive *a, const taut_halo *halo, double *x, int64_t count)
{
    if (!halo || count == 0)
        taut_archive_reals(a, x, count);
    else if (a->reading)
        read_spread(a, halo, x);
    else if (taut_archive_agree(a))
        taut_halo_collect(halo, x, a->room, write_window, a);
}

void taut_archive_real(taut_archive *a, double *x)
{
    taut_archive_reals(a, x, 1);
}

void taut_archive_count(taut_archive *a, int64_t *x)
{
    int64_t value = *x;
    taut_archive_bytes(a, &value, sizeof value);
    if (value < 0)
        taut_archive_fail(a, TAUT_ERROR_FILE, "a count is negative");
    if (a->status == TAUT_OK)
        *x = value;
}

/* A number within bounds; without success it stays. */
static int32_t bounded(taut_archive *a, int32_t x, int32_t least, int32_t most)
{
    int32_t value = x;
    taut_archive_bytes(a, &value, sizeof value);
    if (value < least || value > most)
        taut_archive_fail(a, TAUT_ERROR_FILE, "a number is out of its range");
    return a->status == TAUT_OK ? value : x;
}

void taut_archive_integer(taut_archive *a, int *x, int least, int most)
{
    *x = bounded(a, *x, least, most);
}

void taut_archive_flag(taut_archive *a, bool *x)
{
    *x = bounded(a, *x, 0, 1) != 0;
}

void taut_archive_indices(taut_archive *a, taut_index *x, int64_t count, taut_index least,
                          taut_index most)
{
    for (int64_t k = 0; k < count; k++)
        x[k] = bounded(a, x[k], least, most);
}

void taut_archive_text(taut_archive *a, char *text, size_t size)
{
    int32_t length = bounded(a, (int32_t)strlen(text), 0, (int32_t)size - 1);
    if (a->status != TAUT_OK)
        return;
    taut_archive_bytes(a, text, (size_t)length);
    if (a->reading && a->status == TAUT_OK)
        text[length] = '\0';
}

void taut_archive_same(taut_archive *a, int64_t x, const char *wrong)
{
    int64_t value = x;
    taut_archive_bytes(a, &value, sizeof value);
    if (value != x)
        taut_archive_fail(a, TAUT_ERROR_FILE, wrong);
}
