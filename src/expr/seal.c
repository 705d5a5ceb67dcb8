/* seal.c - see seal.h. */
#ifndef TAUT_CORE
#define _XOPEN_SOURCE 700
#endif

#include "expr/seal.h"

#ifndef TAUT_CORE

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expr/digest.h"

/* The digest of the first `length` bytes of a file. */
static bool digest_file(FILE *file, long length, unsigned char sum[TAUT_DIGEST_BYTES])
{
    taut_digest digest;
    taut_digest_begin(&digest);
    char buffer[4096];
    while (length > 0) {
        const size_t part = length < (long)sizeof buffer ? (size_t)length : sizeof buffer;
        if (fread(buffer, 1, part, file) != part)
            return false;
        taut_digest_add(&digest, buffer, part);
        length -= (long)part;
    }
    taut_digest_end(&digest, sum);
    return true;
}

bool taut_seal_write(const char *path)
{
    FILE *file = fopen(path, "r+b");
    if (!file)
        return false;
    unsigned char sum[TAUT_DIGEST_BYTES];
    bool good = fseek(file, 0, SEEK_END) == 0;
    const long length = ftell(file);
    good = good && length > 0 && fseek(file, 0, SEEK_SET) == 0 && digest_file(file, length, sum) &&
           fseek(file, 0, SEEK_END) == 0 && fwrite(sum, 1, sizeof sum, file) == sizeof sum;
    good = (fclose(file) == 0) && good;
    return good && chmod(path, 0600) == 0;
}

bool taut_seal_holds(const char *path)
{
    struct stat status;
    if (lstat(path, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        (status.st_mode & (S_IWGRP | S_IWOTH)))
        return false;
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    unsigned char sum[TAUT_DIGEST_BYTES], found[TAUT_DIGEST_BYTES];
    const long length = (long)status.st_size - TAUT_DIGEST_BYTES;
    const bool good = length > 0 && digest_file(file, length, sum) &&
                      fread(found, 1, sizeof found, file) == sizeof found &&
                      memcmp(sum, found, sizeof sum) == 0;
    fclose(file);
    return good;
}

#endif
