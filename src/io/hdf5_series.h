/* hdf5_series.h - datasets of an HDF5 file that grow by rows of numbers. */
#ifndef TAUT_IO_HDF5_SERIES_H
#define TAUT_IO_HDF5_SERIES_H

#include "io/hdf5_pieces.h"

#ifdef TAUT_HAVE_HDF5

typedef struct taut_hdf5_series {
    const char *group; /* "observables/energy" */
    const char *name;  /* "value", "time", "step" */
    taut_index width;  /* numbers a row, */
    taut_index parts;  /* > 1: as [width/parts][parts]; 0: one number a row */
    hid_t set;         /* < 0: not there */
    double *buffer;    /* [rows of a chunk][width] of the caller, or NULL */
} taut_hdf5_series;

/* false: the library refuses. A chunk has these rows, of wide ones a part of a row. */
bool taut_hdf5_series_create(hid_t file, taut_hdf5_series *series, hsize_t chunk);
/* Of a file that was written before: it has at least these rows; how many? */
bool taut_hdf5_series_open(hid_t file, taut_hdf5_series *series, hsize_t rows, hsize_t *extent);
bool taut_hdf5_series_extend(const taut_hdf5_series *series, hsize_t rows);
/* Whole rows from row `first` on, from the buffer. */
bool taut_hdf5_series_write(const taut_hdf5_series *series, hsize_t first, hsize_t rows);
/* Numbers of a row, from number `from` on. */
bool taut_hdf5_series_put(const taut_hdf5_series *series, hsize_t row, hsize_t from, hsize_t count,
                          const double *x);
bool taut_hdf5_series_get(const taut_hdf5_series *series, hsize_t row, hsize_t from, hsize_t count,
                          double *x);

#endif

#endif
