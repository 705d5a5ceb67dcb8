/* library.h - optional libraries (LAPACK, ARPACK, MUMPS, HDF5), loaded when they are first needed.
 *
 * A program that links them loads all of them before it begins: OpenBLAS starts its threads there,
 * which takes longer than a small run, and more address space than a limited process has. So the
 * build gives the name of the file (TAUT_LOADS), and dlopen finds it at the first request. Builds
 * without dlopen (static programs: -DTAUT_DLOPEN=OFF) link the libraries; the core build has none.
 *
 * A user of a library declares a struct of pointers to its functions, the imports in the same
 * order, and one taut_library; then calls through the struct. */
#ifndef TAUT_BASE_LIBRARY_H
#define TAUT_BASE_LIBRARY_H

#include "base/error.h"

/* A function or a variable of a library; its address when it is linked. */
typedef struct taut_import {
    const char *name;
    void *linked;
} taut_import;

#ifdef TAUT_LOADS
#define TAUT_IMPORT(name)                                                                          \
    {                                                                                              \
#name, NULL                                                                                \
    }
#else
#define TAUT_IMPORT(name)                                                                          \
    {                                                                                              \
#name, __extension__(void *) & name                                                        \
    }
#endif

typedef struct taut_library {
    const char *file;    /* as the loader finds it, for instance libopenblas.so.0; "": linked */
    const char *package; /* of Debian */
    bool blas;           /* starts threads when it is loaded, or loads what does */
    int imports;
    const taut_import *import;
    void *table;       /* [imports] pointers, set by taut_library_load */
    _Atomic int state; /* 0, then 1: there, 2: not there */
    char reason[160];  /* of state 2 */
} taut_library;

/* Whether the library is there; the first call loads it. Threads may call at the same time. */
bool taut_library_load(taut_library *library);
/* The error for a library that could not be loaded: what is lost, the reason, the package. */
int taut_library_fail(const taut_library *library, const char *loss, taut_error *error);

#endif
