/* base.h - handles, codes, errors, memory and statistics. <taut/taut.h> includes it. */
#ifndef TAUT_BASE_H
#define TAUT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define TAUT_API __declspec(dllexport)
#elif defined(__GNUC__)
#define TAUT_API __attribute__((visibility("default")))
#else
#define TAUT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t taut_index;

typedef struct taut_system taut_system; /* what moves: immutable */
/* evaluates one system for one thread; holds the parameter values */
typedef struct taut_context taut_context;
typedef struct taut_options taut_options; /* how: every entry of the options table */
typedef struct taut_solver taut_solver;   /* a run: state, method, workspace */

/* Codes. The text of each is taut_code_text(code); positive ones are results, negative ones
 * errors. */
enum {
    TAUT_OK = 0,
    TAUT_EVENT = 1,         /* an event asked to stop */
    TAUT_INTERRUPTED = 2,   /* the progress callback asked to stop */
    TAUT_LIMIT = 3,         /* a limit (steps) was reached before the end time */
    TAUT_INACCURATE = 4,    /* finished, but the measured error is above 100 tolerances, of
                               multipliers 1000; or the second run failed; or effective motion,
                               chosen by Taut, was not justified (taut_result, caution) */
    TAUT_ERROR_USAGE = -1,  /* a call or an option does not make sense */
    TAUT_ERROR_MODEL = -2,  /* a model file is wrong; file, line, column are set */
    TAUT_ERROR_FILE = -3,   /* a file cannot be read or written */
    TAUT_ERROR_MEMORY = -4, /* the allocator returned NULL */
    TAUT_ERROR_SIZE = -5,   /* too large: a bound of the reader or of taut_index */
    /* a force, bond or callback gave NaN or infinity, or cannot evaluate */
    TAUT_ERROR_EVALUATE = -6,
    TAUT_ERROR_SINGULAR = -7, /* G is rank deficient, or the saddle matrix singular */
    TAUT_ERROR_CONVERGE = -8, /* an iteration did not converge */
    TAUT_ERROR_STEP = -9,     /* the step became too small */
    /* the method does not support this system; the message gives reason and remedy */
    TAUT_ERROR_REFUSED = -10,
    TAUT_ERROR_UNAVAILABLE = -11, /* a part that this build does not have */
    TAUT_ERROR_PROCESS = -12,     /* a program that Taut started failed */
    /* a callback returned a negative number: it is not called again */
    TAUT_ERROR_STOPPED = -13,
};

typedef struct taut_error {
    int code;
    int line, column;  /* in a model file, from 1; 0 when there is none */
    double t;          /* time of the failure, NaN when there is none */
    char file[256];    /* model file, or empty */
    char source[200];  /* the offending line, or the part of a long one around it, or empty */
    char option[40];   /* the option that the message is about, "rtol", or empty */
    char message[960]; /* one or two sentences: what failed, what was expected, what to do */
    int source_column; /* the place in `source`, from 1; 0 when there is none */
    unsigned char reserved[60]; /* zero */
} taut_error;

/* Memory comes from here, and only while objects are created. NULL everywhere means malloc and
 * free. `resize` is not needed. */
typedef struct taut_allocator {
    void *(*allocate)(void *user, size_t bytes); /* NULL when it cannot */
    void (*release)(void *user, void *block);
    void *user;
} taut_allocator;

/* What everything cost. One force evaluation is one evaluation of (f, g, G) at a point. */
typedef struct taut_statistics {
    int64_t steps, rejected;
    int64_t force_evaluations, fast_force_evaluations, jets, jacobians;
    int64_t factorisations, solves, newton_iterations, micro_steps;
    /* of these the part of stabilisation after steps, and its evaluations of (g, G), which are no
     * force evaluations */
    int64_t stabilizer_factorisations, stabilizer_solves;
    int64_t restarts; /* of the process of a black box that failed */
    int64_t stabilizer_evaluations;
    int64_t projections; /* onto the slow manifold inside a run */
    int64_t reserved[1]; /* zero */
} taut_statistics;

TAUT_API const char *taut_version(void);       /* "0.1.0" */
TAUT_API const char *taut_code_name(int code); /* "TAUT_ERROR_MODEL"; "unknown" for other numbers */
TAUT_API const char *taut_code_text(int code); /* a short sentence */
/* Which backends this build has: "lapack arpack mumps hdf5 gnuplot native". */
TAUT_API const char *taut_features(void);

/* For programs: threads of the BLAS in this process (OpenBLAS; else no effect). Our matrices are
 * small: one is fastest. */
TAUT_API void taut_blas_threads(int count);

/* For "did you mean ...?": the nearest of `count` candidates, or NULL when none is near: 1 edit
 * (insert, delete, replace, swap neighbours) for names up to 4 letters, 2 up to 8, 3 beyond, and
 * fewer edits than letters. */
TAUT_API const char *taut_near_miss(const char *name, const char *const *candidates, int64_t count);

/* Copies text of others for people: control characters, which a terminal would obey, and bytes that
 * are no UTF-8 become \x1b and the like, tabs become blanks. Cut where `size` bytes end; returns
 * the length. Messages of the library are such copies. */
TAUT_API size_t taut_visible(const char *text, char *copy, size_t size);

#ifdef __cplusplus
}
#endif

#endif
