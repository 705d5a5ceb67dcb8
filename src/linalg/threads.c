/* threads.c - how many threads the BLAS may use. The library itself never changes this: it
 * belongs to the host program. */
#include <taut/taut.h>

#if defined(TAUT_HAVE_LAPACK)
extern void openblas_set_num_threads(int count)
    __attribute__((weak)); /* absent from other BLAS libraries */
#endif

void taut_blas_threads(int count)
{
#if defined(TAUT_HAVE_LAPACK)
    if (openblas_set_num_threads && count > 0)
        openblas_set_num_threads(count);
#else
    (void)count;
#endif
}
