/* hdf5_pieces.c - see hdf5_pieces.h. */
#include "io/hdf5_pieces.h"

#ifdef TAUT_HAVE_HDF5

#include <string.h>

enum { NAME_SIZE = 256 };

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

/* Names of all things of a kind, one text each. */
bool taut_hdf5_names(hid_t file, const char *path, const taut_system *system, taut_item item,
                     taut_index count)
{
    if (count == 0)
        return true;
    hsize_t size = (hsize_t)count, at = 0, one = 1;
    hid_t type = taut_h5.Tcopy(*taut_h5.T_C_S1), space = taut_h5.Screate_simple(1, &size, NULL),
          memory = taut_h5.Screate_simple(1, &one, NULL);
    char name[NAME_SIZE];
    size_t longest = 1;
    for (taut_index k = 0; k < count; k++) {
        size_t length = (size_t)taut_system_name(system, item, k, name, sizeof name);
        longest = length > longest ? length : longest;
    }
    longest = longest < NAME_SIZE ? longest + 1 : NAME_SIZE;
    taut_h5.Tset_size(type, longest);
    hid_t set = taut_hdf5_place(file, path, type, space, H5P_DEFAULT);
    bool good = set >= 0;
    for (taut_index k = 0; good && k < count; k++) {
        memset(name, 0, sizeof name);
        taut_system_name(system, item, k, name, sizeof name);
        at = (hsize_t)k;
        good = taut_h5.Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL) >= 0 &&
               taut_h5.Dwrite(set, type, memory, space, H5P_DEFAULT, name) >= 0;
    }
    taut_h5.Dclose(set);
    taut_h5.Sclose(memory);
    taut_h5.Sclose(space);
    taut_h5.Tclose(type);
    return good;
}

#endif
