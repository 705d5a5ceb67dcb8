/* seal.h - files that end with their own digest (SHA-256), so that one cut short or altered is
 * noticed before it is used. */
#ifndef TAUT_EXPR_SEAL_H
#define TAUT_EXPR_SEAL_H

#include <stdbool.h>

/* Appends the digest, and makes the file this user's alone; false: it cannot be written. */
bool taut_seal_write(const char *path);
/* A plain file of this user that no other user can write and whose digest is correct. */
bool taut_seal_holds(const char *path);

#endif
