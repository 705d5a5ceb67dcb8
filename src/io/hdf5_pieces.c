/* hdf5_pieces.c - see hdf5_pieces.h. */
#include "io/hdf5_pieces.h"

#ifdef TAUT_HAVE_HDF5

#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 256, PIECE = 80, PIECES = 64 };

/* count 0: a scalar */
static bool write_attribute(hid_t object, const char *name, hid_t kept, hid_t given, hsize_t count,
                            const void *values)
{
    hid_t space = count ? taut_h5.Screate_simple(1, &count, NULL) : taut_h5.Screate(H5S_SCALAR);
    hid_t attribute = taut_h5.Acreate2(object, name, kept, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && taut_h5.Awrite(attribute, given, values) >= 0;
    taut_h5.Aclose(attribute);
    taut_h5.Sclose(space);
    return good;
}

/* Texts of `size` bytes each, one after another. */
bool taut_hdf5_texts(hid_t object, const char *name, const char *text, size_t size, hsize_t count)
{
    hid_t type = taut_h5.Tcopy(*taut_h5.T_C_S1);
    taut_h5.Tset_size(type, size);
    bool good = write_attribute(object, name, type, type, count, text);
    taut_h5.Tclose(type);
    return good;
}

bool taut_hdf5_text(hid_t object, const char *name, const char *text)
{
    return taut_hdf5_texts(object, name, text, strlen(text) + 1, 0);
}

bool taut_hdf5_integers(hid_t object, const char *name, const int *values, hsize_t count)
{
    return write_attribute(object, name, *taut_h5.T_STD_I32LE, *taut_h5.T_NATIVE_INT, count,
                           values);
}

/* A dataset, or (space < 0) a group, with the groups above it. */
hid_t taut_hdf5_place(hid_t file, const char *path, hid_t type, hid_t space, hid_t how)
{
    hid_t links = taut_h5.Pcreate(*taut_h5.P_LINK_CREATE);
    taut_h5.Pset_create_intermediate_group(links, 1);
    hid_t place = space < 0 ? taut_h5.Gcreate2(file, path, links, H5P_DEFAULT, H5P_DEFAULT)
                            : taut_h5.Dcreate2(file, path, type, space, links, how, H5P_DEFAULT);
    taut_h5.Pclose(links);
    return place;
}

hid_t taut_hdf5_group(hid_t file, const char *path)
{
    return taut_hdf5_place(file, path, -1, -1, H5P_DEFAULT);
}

/* Names of all things of a kind, one text each, many at a time. */
bool taut_hdf5_names(hid_t file, const char *path, const taut_system *system, taut_item item,
                     taut_index count)
{
    enum { BYTES = 1 << 14 };
    char name[BYTES];
    size_t longest = 1;
    if (count == 0)
        return true;
    for (taut_index k = 0; k < count; k++) {
        size_t length = (size_t)taut_system_name(system, item, k, name, NAME_SIZE);
        longest = length > longest ? length : longest;
    }
    longest = longest < NAME_SIZE ? longest + 1 : NAME_SIZE;
    const hsize_t size = (hsize_t)count, most = BYTES / longest;
    hid_t type = taut_h5.Tcopy(*taut_h5.T_C_S1), space = taut_h5.Screate_simple(1, &size, NULL);
    taut_h5.Tset_size(type, longest);
    hid_t set = taut_hdf5_place(file, path, type, space, H5P_DEFAULT);
    bool good = set >= 0;
    for (hsize_t at = 0, some; good && at < size; at += some) {
        some = size - at < most ? size - at : most;
        memset(name, 0, sizeof name);
        for (hsize_t k = 0; k < some; k++)
            taut_system_name(system, item, (taut_index)(at + k), name + k * longest, longest);
        hid_t memory = taut_h5.Screate_simple(1, &some, NULL);
        good = taut_h5.Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &some, NULL) >= 0 &&
               taut_h5.Dwrite(set, type, memory, space, H5P_DEFAULT, name) >= 0;
        taut_h5.Sclose(memory);
    }
    taut_h5.Dclose(set);
    taut_h5.Sclose(space);
    taut_h5.Tclose(type);
    return good;
}

bool taut_hdf5_identity(hid_t file)
{
    static const int version[2] = {1, 1}, format = TAUT_RECORD_FORMAT;
    hid_t group = taut_hdf5_group(file, "/h5md"), author = taut_hdf5_group(file, "/h5md/author"),
          creator = taut_hdf5_group(file, "/h5md/creator"), own = taut_hdf5_group(file, "/taut");
    bool good = group >= 0 && author >= 0 && creator >= 0 && own >= 0 &&
                taut_hdf5_integers(group, "version", version, 2) &&
                taut_hdf5_integers(own, "format", &format, 0) &&
                taut_hdf5_text(author, "name", "unknown") &&
                taut_hdf5_text(creator, "name", "taut") &&
                taut_hdf5_text(creator, "version", taut_version());
    taut_h5.Gclose(own);
    taut_h5.Gclose(creator);
    taut_h5.Gclose(author);
    taut_h5.Gclose(group);
    return good;
}

bool taut_hdf5_box(hid_t file, int dimension)
{
    hid_t box = taut_hdf5_group(file, "/particles/all/box");
    bool good = box >= 0 &&
                taut_hdf5_texts(box, "boundary", "none\0none\0none", 5, (hsize_t)dimension) &&
                taut_hdf5_integers(box, "dimension", &dimension, 0);
    taut_h5.Gclose(box);
    return good;
}

/* ---- texts */

static hid_t string_type(size_t size)
{
    hid_t type = taut_h5.Tcopy(*taut_h5.T_C_S1);
    taut_h5.Tset_size(type, size);
    taut_h5.Tset_strpad(type, H5T_STR_NULLPAD);
    return type;
}

/* An empty one, which can grow. */
static hid_t create_text(hid_t file, const char *path)
{
    const hsize_t none = 0, most = H5S_UNLIMITED, chunk = PIECES;
    hid_t type = string_type(PIECE), space = taut_h5.Screate_simple(1, &none, &most),
          how = taut_h5.Pcreate(*taut_h5.P_DATASET_CREATE);
    taut_h5.Pset_chunk(how, 1, &chunk);
    hid_t set = taut_hdf5_place(file, path, type, space, how);
    taut_h5.Pclose(how);
    taut_h5.Sclose(space);
    taut_h5.Tclose(type);
    return set;
}

static bool write_pieces(hid_t set, hsize_t first, hsize_t count, const char *bytes)
{
    if (count == 0)
        return true;
    hid_t type = string_type(PIECE), file = taut_h5.Dget_space(set),
          memory = taut_h5.Screate_simple(1, &count, NULL);
    bool good = taut_h5.Sselect_hyperslab(file, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0 &&
                taut_h5.Dwrite(set, type, memory, file, H5P_DEFAULT, bytes) >= 0;
    taut_h5.Sclose(memory);
    taut_h5.Sclose(file);
    taut_h5.Tclose(type);
    return good;
}

/* The old text is gone from the file before the new one is written: no kill leaves a mixture. */
static bool replace_text(hid_t file, hid_t set, const char *text)
{
    char last[PIECE] = "";
    size_t length = strlen(text), rest = length % PIECE;
    hsize_t none = 0, whole = length / PIECE, count = whole + (rest > 0);
    memcpy(last, text + whole * PIECE, rest);
    return taut_h5.Dset_extent(set, &none) >= 0 && taut_h5.Fflush(file, H5F_SCOPE_LOCAL) >= 0 &&
           taut_h5.Dset_extent(set, &count) >= 0 && write_pieces(set, 0, whole, text) &&
           write_pieces(set, whole, rest > 0, last);
}

bool taut_hdf5_text_put(hid_t file, const char *name, const char *text)
{
    char path[120];
    snprintf(path, sizeof path, "/taut/%s", name);
    taut_arena arena;
    taut_arena_init(&arena, NULL);
    bool there = taut_h5.Lexists(file, path, H5P_DEFAULT) > 0;
    const char *old = there ? taut_hdf5_text_get(file, name, &arena) : NULL;
    bool good = old && strcmp(old, text) == 0;
    taut_arena_clear(&arena);
    if (good)
        return true;
    hid_t set = there ? taut_h5.Dopen2(file, path, H5P_DEFAULT) : create_text(file, path);
    good = set >= 0 && replace_text(file, set, text);
    taut_h5.Dclose(set);
    return good;
}

char *taut_hdf5_strings(hid_t file, const char *path, taut_arena *arena, hsize_t *count,
                        size_t *size)
{
    enum { LONGEST = 1 << 20 };
    char *strings = NULL;
    hid_t set = taut_h5.Dopen2(file, path, H5P_DEFAULT);
    if (set < 0)
        return NULL;
    hid_t type = taut_h5.Dget_type(set), space = taut_h5.Dget_space(set);
    *size = taut_h5.Tget_size(type);
    if (taut_h5.Tget_class(type) == H5T_STRING && taut_h5.Tis_variable_str(type) == 0 &&
        *size > 0 && *size < LONGEST && taut_h5.Sget_simple_extent_ndims(space) == 1 &&
        taut_h5.Sget_simple_extent_dims(space, count, NULL) == 1 && *count < INT32_MAX)
        strings = TAUT_NEW(arena, char, *count **size + 1);
    hid_t given = string_type(*size);
    if (strings && *count > 0 &&
        taut_h5.Dread(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, strings) < 0)
        strings = NULL;
    taut_h5.Tclose(given);
    taut_h5.Sclose(space);
    taut_h5.Tclose(type);
    taut_h5.Dclose(set);
    return strings;
}

char *taut_hdf5_text_get(hid_t file, const char *name, taut_arena *arena)
{
    char path[120];
    hsize_t count;
    size_t size;
    snprintf(path, sizeof path, "/taut/%s", name);
    return taut_hdf5_strings(file, path, arena, &count, &size);
}

#endif
