/* hot.h - how hot loops are compiled: the same C, once for any x86-64 and once for AVX2, chosen
 * when the program starts.
 *
 * Only where compiler and C library can do it (gcc, clang from 14, glibc's indirect functions);
 * elsewhere TAUT_HOT is empty. Sanitizers may instrument the chooser before they are ready for
 * it, so it is off under them. AVX2 without FMA: no value changes. */
#ifndef TAUT_BASE_HOT_H
#define TAUT_BASE_HOT_H

#include <stdlib.h> /* for __GLIBC__ */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define TAUT_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TAUT_SANITIZED
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(TAUT_SANITIZED) &&                       \
    ((defined(__clang__) && __clang_major__ >= 14) || (defined(__GNUC__) && !defined(__clang__)))
#define TAUT_HOT __attribute__((target_clones("avx2", "default")))
#else
#define TAUT_HOT
#endif

/* Loops of few operations: four vectors at a time. */
#if defined(__GNUC__) && !defined(__clang__)
#define TAUT_UNROLLED _Pragma("GCC unroll 4")
#else
#define TAUT_UNROLLED
#endif

#endif
