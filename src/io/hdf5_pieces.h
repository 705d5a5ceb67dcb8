/* hdf5_pieces.h - small parts of an HDF5 file: attributes, groups, datasets, lists of names. */
#ifndef TAUT_IO_HDF5_PIECES_H
#define TAUT_IO_HDF5_PIECES_H

#include <taut/taut.h>

#ifdef TAUT_HAVE_HDF5

#include "io/hdf5_driver.h"

/* Attributes; false: the library refuses. count 0: a scalar; texts have `size` bytes each. */
bool taut_hdf5_text(hid_t object, const char *name, const char *text);
bool taut_hdf5_texts(hid_t object, const char *name, const char *text, size_t size, hsize_t count);
bool taut_hdf5_integers(hid_t object, const char *name, const int *values, hsize_t count);
/* A dataset, or (space < 0) a group, with the groups above it. */
hid_t taut_hdf5_place(hid_t file, const char *path, hid_t type, hid_t space, hid_t how);
hid_t taut_hdf5_group(hid_t file, const char *path);
/* A dataset of the names of all things of a kind, one text each. */
bool taut_hdf5_names(hid_t file, const char *path, const taut_system *system, taut_item item,
                     taut_index count);

#endif
#endif
