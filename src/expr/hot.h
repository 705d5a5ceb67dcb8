/* hot.h - how hot loops are compiled: the same C, once for any x86-64 and once for AVX2, chosen when the program starts.
 *
 * Only where the compiler and the C library can do it (gcc on x86-64 with glibc's indirect functions); elsewhere TAUT_HOT is empty.
 * Sanitizers instrument the chooser before they are ready for it, so it is off under them. AVX2 without FMA: results do not change. */
#ifndef TAUT_EXPR_HOT_H
#define TAUT_EXPR_HOT_H

#include <stdlib.h> /* for __GLIBC__ */

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) &&     \
    !defined(__SANITIZE_THREAD__)
#define TAUT_HOT __attribute__((target_clones("avx2", "default")))
#else
#define TAUT_HOT
#endif

#endif
