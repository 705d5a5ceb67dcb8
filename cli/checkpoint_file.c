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

static const char head[] = "taut checkpoint ", first[] = "taut checkpoint 3\n";
enum { MOST_PARTS = 10000, NAME = 1100, DIGITS = 16 };

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

/* "digest HEX\n" at the end is that of everything before it. */
static bool is_whole(const char *data, size_t size)
{
    char expected[32];
    size_t tail = strlen("digest \n") + DIGITS;
    if (size < tail)
        return false;
    snprintf(expected, sizeof expected, "digest %0*" PRIx64 "\n", DIGITS,
             mix(EMPTY, data, size - tail));
    return memcmp(data + size - tail, expected, tail) == 0;
}

/* One part at *at; its line ends and the end of its bytes become zeros. */
static bool take_part(cli_saved *saved, char **at, const char *end)
{
    char *line = memchr(*at, '\n', (size_t)(end - *at)), *name = NULL;
    if (!line || saved->parts >= MOST_PARTS)
        return false;
    *line = '\0';
    errno = 0;
    char *bytes = line + 1;
    const bool rest = strncmp(*at, "rest ", 5) == 0;
    unsigned long long length = strtoull(*at, &name, 10);
    if (rest && bytes < end) {
        name = *at + 4;
        length = (unsigned long long)(end - bytes - 1);
    }
    if (errno != 0 || (!rest && (**at < '0' || **at > '9')) || *name != ' ' ||
        length >= (unsigned long long)(end - bytes) || bytes[length] != '\n')
        return false;
    cli_part *larger = realloc(saved->part, ((size_t)saved->parts + 1) * sizeof *larger);
    if (!larger)
        return false;
    saved->part = larger;
    larger[saved->parts++] = (cli_part){name + 1, bytes, (size_t)length};
    bytes[length] = '\0';
    *at = bytes + length + 1;
    return true;
}

bool cli_saved_parse(cli_saved *saved, char *data, size_t size, const char **wrong)
{
    *saved = (cli_saved){.data = data};
    if (size < sizeof first - 1 || memcmp(data, head, sizeof head - 1) != 0) {
        *wrong = "it is not a checkpoint";
        return false;
    }
    if (memcmp(data, first, sizeof first - 1) != 0) {
        *wrong = "it has a format that this version of Taut does not read; use the version that "
                 "wrote it";
        return false;
    }
    *wrong = "it is damaged or cut off";
    if (!is_whole(data, size))
        return false;
    char *at = data + sizeof first - 1;
    const char *end = data + size - strlen("digest \n") - DIGITS;
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
    return (cli_part){name, NULL, 0};
}

void cli_saved_release(cli_saved *saved)
{
    free(saved->data);
    free(saved->part);
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
    char line[NAME + 32];
    int size = snprintf(line, sizeof line, "%zu %.*s\n", length, (int)NAME, name);
    if (s->reason != 0)
        return;
    put(s, line, (size_t)size);
    put(s, bytes, length);
    put(s, "\n", 1);
}

void cli_saving_rest(cli_saving *s, const char *name)
{
    char line[NAME + 32];
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
    char line[32];
    if (s->file && s->rest)
        put(s, "\n", 1);
    int size = snprintf(line, sizeof line, "digest %0*" PRIx64 "\n", DIGITS, s->digest);
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
