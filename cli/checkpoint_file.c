/* checkpoint_file.c - see checkpoint_file.h. */
#define _POSIX_C_SOURCE 200809L
#include "checkpoint_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "windows.h"

static const char head[] = "taut checkpoint ", first[] = "taut checkpoint 3\n", last[] = "digest ";
enum { MOST_PARTS = 10000, NAME = 1100, LINE = NAME + 32, DIGITS = 16 };
enum { TAIL = sizeof last + DIGITS }; /* bytes of the last line */

/* FNV-1a: finds accidents. */
static uint64_t mix(uint64_t digest, const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    for (size_t k = 0; k < count; k++)
        digest = (digest ^ b[k]) * 0x100000001b3u;
    return digest;
}

static const uint64_t EMPTY = 0xcbf29ce484222325u;

/* ---- reading */

static bool read_at(cli_saved *saved, size_t at, void *bytes, size_t count)
{
    if (at != saved->here && fseeko(saved->file, (off_t)at, SEEK_SET) != 0)
        return false;
    saved->here = at + fread(bytes, 1, count, saved->file);
    return saved->here == at + count;
}

/* "digest HEX\n" at the end, of everything before it. */
static bool is_whole(cli_saved *saved, size_t body, bool digest)
{
    enum { PIECE = 1 << 14 };
    char piece[PIECE], expected[TAIL + 1], found[TAIL];
    uint64_t mixed = EMPTY;
    for (size_t at = 0, size; digest && at < body; at += size) {
        size = body - at < PIECE ? body - at : PIECE;
        if (!read_at(saved, at, piece, size))
            return false;
        mixed = mix(mixed, piece, size);
    }
    snprintf(expected, sizeof expected, "%s%0*" PRIx64 "\n", last, DIGITS, mixed);
    return read_at(saved, body, found, TAIL) &&
           memcmp(found, expected, digest ? TAIL : sizeof last - 1) == 0;
}

/* The line of a part. */
static bool take_line(cli_saved *saved, size_t *at, size_t end, char line[LINE])
{
    size_t size = end - *at < LINE ? end - *at : LINE;
    if (!read_at(saved, *at, line, size))
        return false;
    char *stop = memchr(line, '\n', size);
    if (!stop)
        return false;
    *stop = '\0';
    *at += (size_t)(stop - line) + 1;
    return true;
}

/* The bytes of a part, and the end of its line. */
static bool take_bytes(cli_saved *saved, size_t at, cli_part *part)
{
    part->bytes = malloc(part->length + 1);
    if (!part->bytes || !read_at(saved, at, part->bytes, part->length + 1) ||
        part->bytes[part->length] != '\n')
        return false;
    part->bytes[part->length] = '\0';
    return true;
}

/* One part at *at. */
static bool take_part(cli_saved *saved, size_t *at, size_t end)
{
    char line[LINE], *name = NULL;
    if (saved->parts >= MOST_PARTS || !take_line(saved, at, end, line) || *at >= end)
        return false;
    const bool rest = strncmp(line, "rest ", 5) == 0;
    errno = 0;
    unsigned long long length = strtoull(line, &name, 10);
    if (rest) {
        name = line + 4;
        length = end - *at - 1;
        saved->rest = *at;
    }
    if (errno != 0 || (!rest && (*line < '0' || *line > '9')) || *name != ' ' ||
        length >= end - *at)
        return false;
    cli_part *larger = realloc(saved->part, ((size_t)saved->parts + 1) * sizeof *larger);
    if (!larger)
        return false;
    saved->part = larger;
    cli_part *part = &larger[saved->parts++];
    *part = (cli_part){.name = strdup(name + 1), .length = (size_t)length};
    const bool good = part->name && (rest || take_bytes(saved, *at, part));
    *at += (size_t)length + 1;
    return good;
}

bool cli_saved_open(cli_saved *saved, FILE *file, bool digest, const char **wrong)
{
    char start[sizeof first - 1] = "";
    *saved = (cli_saved){.file = file};
    off_t size = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : -1;
    saved->here = SIZE_MAX; /* the end, from which nothing is read */
    const bool begins = size >= (off_t)sizeof start && read_at(saved, 0, start, sizeof start);
    if (!begins || memcmp(start, head, sizeof head - 1) != 0) {
        *wrong = "it is not a checkpoint";
        return false;
    }
    if (memcmp(start, first, sizeof start) != 0) {
        *wrong = "it has a format that this version of Taut does not read; use the version that "
                 "wrote it";
        return false;
    }
    *wrong = "it is damaged or cut off";
    if (size < (off_t)(sizeof start + TAIL))
        return false;
    const size_t end = (size_t)size - TAIL;
    size_t at = sizeof start;
    if (!is_whole(saved, end, digest))
        return false;
    while (at < end)
        if (!take_part(saved, &at, end))
            return false;
    return true;
}

cli_part cli_saved_part(const cli_saved *saved, const char *name)
{
    for (int k = 0; k < saved->parts; k++)
        if (strcmp(saved->part[k].name, name) == 0)
            return saved->part[k];
    return (cli_part){0};
}

int cli_saved_read(void *user, size_t at, void *bytes, size_t count)
{
    cli_saved *saved = user;
    return read_at(saved, saved->rest + at, bytes, count) ? 0 : 1;
}

void cli_saved_release(cli_saved *saved)
{
    for (int k = 0; k < saved->parts; k++) {
        free(saved->part[k].name);
        free(saved->part[k].bytes);
    }
    free(saved->part);
    if (saved->file)
        fclose(saved->file);
    *saved = (cli_saved){0};
}

/* ---- writing */

static void put(cli_saving *s, const void *bytes, size_t count)
{
    errno = 0;
    if (s->reason == 0 && fwrite(bytes, 1, count, s->file) != count)
        s->reason = errno ? errno : EIO;
    s->digest = mix(s->digest, bytes, count);
}

/* Always under the same other name: a process that was killed leaves one file at most. */
void cli_saving_open(cli_saving *s, const char *path)
{
    *s = (cli_saving){.path = path, .digest = EMPTY};
    int used = snprintf(s->partial, sizeof s->partial, "%s.part", path), number = -1;
    errno = ENAMETOOLONG;
    if ((size_t)used < sizeof s->partial)
        number = open(s->partial, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    s->file = number < 0 ? NULL : fdopen(number, "w");
    s->reason = s->file ? 0 : errno;
    if (number >= 0 && !s->file)
        close(number);
    if (s->file)
        put(s, first, sizeof first - 1);
}

void cli_saving_part(cli_saving *s, const char *name, const void *bytes, size_t length)
{
    char line[LINE];
    int size = snprintf(line, sizeof line, "%zu %.*s\n", length, (int)NAME, name);
    if (s->reason != 0)
        return;
    put(s, line, (size_t)size);
    put(s, bytes, length);
    put(s, "\n", 1);
}

void cli_saving_rest(cli_saving *s, const char *name)
{
    char line[LINE];
    int size = snprintf(line, sizeof line, "rest %.*s\n", (int)NAME, name);
    s->rest = true;
    if (s->reason == 0)
        put(s, line, (size_t)size);
}

int cli_saving_put(cli_saving *s, const void *bytes, size_t count)
{
    if (s->reason == 0)
        put(s, bytes, count);
    return s->reason;
}

/* The new name is on the disk too. The name of the other file is not needed any more. */
static void sync_folder(cli_saving *s)
{
    char *slash = strrchr(s->partial, '/');
    if (slash)
        slash[1] = '\0';
    int number = open(slash ? s->partial : ".", O_RDONLY | O_CLOEXEC);
    if (number < 0)
        return;
    fsync(number);
    close(number);
}

int cli_saving_close(cli_saving *s)
{
    char line[TAIL + 1];
    if (s->file && s->rest)
        put(s, "\n", 1);
    int size = snprintf(line, sizeof line, "%s%0*" PRIx64 "\n", last, DIGITS, s->digest);
    if (s->file) {
        put(s, line, (size_t)size);
        errno = 0;
        if ((fflush(s->file) != 0 || fsync(fileno(s->file)) != 0) && s->reason == 0)
            s->reason = errno ? errno : EIO;
        if (fclose(s->file) != 0 && s->reason == 0)
            s->reason = errno ? errno : EIO;
        if (s->reason == 0 && rename(s->partial, s->path) != 0)
            s->reason = errno;
        if (s->reason != 0)
            remove(s->partial);
        else
            sync_folder(s);
    }
    s->file = NULL;
    return s->reason;
}
