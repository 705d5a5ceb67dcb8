/* faulty.h - an allocator that counts, and that fails at the k-th call on request. */
#ifndef TAUT_TESTS_SUPPORT_FAULTY_H
#define TAUT_TESTS_SUPPORT_FAULTY_H

#include <taut/taut.h>

#include <stdint.h>
#include <stdlib.h>

typedef struct faulty {
    int64_t calls;  /* allocations asked for */
    int64_t fail;   /* the call that fails, counted from 1; 0 for none */
    bool lasting;   /* all later calls fail too */
    int64_t live;   /* blocks not yet released */
    int64_t failed; /* calls that failed */
} faulty;

static inline void *faulty_allocate(void *user, size_t bytes)
{
    faulty *f = user;
    f->calls++;
    if (f->fail && (f->calls == f->fail || (f->lasting && f->calls > f->fail))) {
        f->failed++;
        return NULL;
    }
    void *block = malloc(bytes ? bytes : 1);
    if (block)
        f->live++;
    return block;
}

static inline void faulty_release(void *user, void *block)
{
    faulty *f = user;
    if (block)
        f->live--;
    free(block);
}

static inline taut_allocator faulty_allocator(faulty *f)
{
    return (taut_allocator){faulty_allocate, faulty_release, f};
}

/* Under sanitizers (TAUT_TEST_SANITIZED) long loops over k go on in growing strides: every k up
 * to 64, then about 3 in 100. */
static inline int64_t faulty_next(int64_t k)
{
    return getenv("TAUT_TEST_SANITIZED") && k >= 64 ? k + k / 32 : k + 1;
}

#endif
