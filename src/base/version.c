/* version.c - the version, and which parts this build has. */
#include <taut/taut.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *taut_version(void)
{
    return TEXT(TAUT_VERSION_MAJOR) "." TEXT(TAUT_VERSION_MINOR) "." TEXT(TAUT_VERSION_PATCH);
}

/* One literal, put together by the preprocessor: the build defines TAUT_HAVE_x for every library
 * it found. */
const char *taut_features(void)
{
    static const char features[] = ""
#ifdef TAUT_CORE
                                   " core"
#endif
#ifdef TAUT_HAVE_LAPACK
                                   " lapack"
#endif
#ifdef TAUT_HAVE_ARPACK
                                   " arpack"
#endif
#ifdef TAUT_HAVE_MUMPS
                                   " mumps"
#endif
#ifdef TAUT_HAVE_HDF5
                                   " hdf5"
#endif
#ifndef TAUT_CORE
                                   " gnuplot native"
#endif
        ;
    return features[0] ? features + 1 : features;
}
