/* hdf5_pieces.h - small parts of an HDF5 file: attributes, groups, datasets, lists of names, texts.
 */
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

/* What H5MD requires of a file, with the format of /taut; and of one with particles. */
bool taut_hdf5_identity(hid_t file);
bool taut_hdf5_box(hid_t file, int dimension);

/* Texts /taut/NAME: pieces of 80 bytes, the last one filled with zeros, so that a text can change.
 * A text that differs is replaced. */
bool taut_hdf5_text_put(hid_t file, const char *name, const char *text);
/* Fixed-length strings of a dataset, one after another, each of *size bytes: a list of names, or
 * the pieces of a text. NULL: there are none, or there is no memory (arena->failed). */
char *taut_hdf5_strings(hid_t file, const char *path, taut_arena *arena, hsize_t *count,
                        size_t *size);
char *taut_hdf5_text_get(hid_t file, const char *name, taut_arena *arena);

#endif

/* Of the part of an HDF5 file that H5MD does not describe; newer ones are refused. */
enum { TAUT_RECORD_FORMAT = 1 };

#endif
