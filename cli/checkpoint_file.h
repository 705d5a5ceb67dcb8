/* checkpoint_file.h - the file of a checkpoint: named parts of bytes, and a digest of all.
 *
 *     taut checkpoint 3
 *     LENGTH NAME
 *     the bytes
 *     ...
 *     rest NAME
 *     the bytes
 *     digest HEX
 *
 * A part "rest", whose length is not known before it is written, extends to the digest. */
#ifndef TAUT_CLI_CHECKPOINT_FILE_H
#define TAUT_CLI_CHECKPOINT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cli_part {
    char *name, *bytes; /* a zero byte follows the bytes; of the rest bytes is NULL */
    size_t length;
} cli_part;

typedef struct cli_saved {
    FILE *file;
    cli_part *part;
    int parts;
    size_t rest, here; /* where the rest begins; what is read next */
} cli_saved;

/* Takes `file`, and reads its parts but for the rest, which may be large. digest: that of the file
 * is compared. false: *wrong is the reason, a part of a sentence. */
bool cli_saved_open(cli_saved *saved, FILE *file, bool digest, const char **wrong);
/* The part of this name; empty (name NULL) when there is none. */
cli_part cli_saved_part(const cli_saved *saved, const char *name);
/* Bytes of the rest: a taut_read, user is the cli_saved. */
int cli_saved_read(void *user, size_t at, void *bytes, size_t count);
void cli_saved_release(cli_saved *saved);

/* A new file is written under another name, and takes the place of the old one when it is on the
 * disk. */
typedef struct cli_saving {
    const char *path;
    char partial[1100]; /* its name */
    FILE *file;
    uint64_t digest;
    bool rest;  /* the last part has begun */
    int reason; /* errno of the first failure */
} cli_saving;
void cli_saving_open(cli_saving *saving, const char *path);
void cli_saving_part(cli_saving *saving, const char *name, const void *bytes, size_t length);
/* The last part, in pieces: 0, or nonzero where they cannot be written. */
void cli_saving_rest(cli_saving *saving, const char *name);
int cli_saving_put(cli_saving *saving, const void *bytes, size_t count);
/* 0, or errno: then the old file is still there. */
int cli_saving_close(cli_saving *saving);

#endif
