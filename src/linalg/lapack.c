/* lapack.c - LAPACK's routines, loaded at the first request; see lapack.h. */
#include "linalg/lapack.h"

#ifdef TAUT_HAVE_LAPACK

#include "base/library.h"

static const taut_import routines[] = {
    TAUT_IMPORT(dgetrf_), TAUT_IMPORT(dgetrs_), TAUT_IMPORT(zgetrf_), TAUT_IMPORT(zgetrs_),
    TAUT_IMPORT(dpotrf_), TAUT_IMPORT(dpotrs_), TAUT_IMPORT(dpbtrf_), TAUT_IMPORT(dpbtrs_),
    TAUT_IMPORT(dgbtrf_), TAUT_IMPORT(dgbtrs_), TAUT_IMPORT(zgbtrf_), TAUT_IMPORT(zgbtrs_),
    TAUT_IMPORT(dsyev_)};
enum { ROUTINES = sizeof routines / sizeof *routines };

static taut_lapack lapack;
_Static_assert(sizeof lapack == ROUTINES * sizeof(void *), "one pointer for each routine");
static taut_library library = {.file = TAUT_LAPACK_FILE,
                               .package = "libopenblas0",
                               .blas = true,
                               .imports = ROUTINES,
                               .import = routines,
                               .table = &lapack};

const taut_lapack *taut_lapack_get(void)
{
    return taut_library_load(&library) ? &lapack : NULL;
}

#else

const taut_lapack *taut_lapack_get(void)
{
    return NULL;
}

#endif
