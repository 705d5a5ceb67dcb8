/* hdf5_table.h - a file of HDF5 with some datasets, written at once. */
#ifndef TAUT_IO_HDF5_TABLE_H
#define TAUT_IO_HDF5_TABLE_H

#include "base/error.h"

typedef struct taut_hdf5_set {
    const char *path;     /* "/kept" */
    const double *number; /* [rows][width], or NULL: */
    const char *text;     /* [rows][width] of `size` bytes each */
    size_t size;
    int64_t rows, width; /* width 0: one entry a row, and one dimension */
    const char *name;    /* attribute `names`: [width] of name_size bytes; NULL: none */
    size_t name_size;
} taut_hdf5_set;

/* `what` is the attribute `content` of the file. The file is complete or does not change. */
int taut_hdf5_write(const char *path, const char *what, const taut_hdf5_set *set, int sets,
                    taut_error *error);

#endif
