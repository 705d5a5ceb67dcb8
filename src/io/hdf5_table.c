/* hdf5_table.c - see hdf5_table.h. */
#include "io/hdf5_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifdef TAUT_HAVE_HDF5

#include "io/hdf5_pieces.h"

static bool write_set(hid_t file, const taut_hdf5_set *s)
{
    hsize_t shape[2] = {(hsize_t)s->rows, (hsize_t)s->width};
    hid_t type = s->number ? *taut_h5.T_IEEE_F64LE : taut_h5.Tcopy(*taut_h5.T_C_S1),
          space = taut_h5.Screate_simple(s->width > 0 ? 2 : 1, shape, NULL);
    if (!s->number)
        taut_h5.Tset_size(type, s->size);
    hid_t set = taut_hdf5_place(file, s->path, type, space, H5P_DEFAULT);
    bool good = set >= 0 &&
                taut_h5.Dwrite(set, s->number ? *taut_h5.T_NATIVE_DOUBLE : type, H5S_ALL, H5S_ALL,
                               H5P_DEFAULT, s->number ? (const void *)s->number : s->text) >= 0;
    if (good && s->name)
        good = taut_hdf5_texts(set, "names", s->name, s->name_size, (hsize_t)s->width);
    if (set >= 0)
        taut_h5.Dclose(set);
    if (!s->number)
        taut_h5.Tclose(type);
    taut_h5.Sclose(space);
    return good;
}

int taut_hdf5_write(const char *path, const char *what, const taut_hdf5_set *set, int sets,
                    taut_error *error)
{
    H5E_auto2_t report;
    void *report_data;
    char partial[1100];
    TAUT_TRY(taut_hdf5_load("no HDF5 output (a name that ends in .csv needs none)", error));
    if ((size_t)snprintf(partial, sizeof partial, "%s.part", path) >= sizeof partial)
        return taut_fail(error, TAUT_ERROR_FILE, "cannot write %.300s: the name is too long", path);
    taut_h5.Eget_auto2(H5E_DEFAULT, &report, &report_data);
    taut_h5.Eset_auto2(H5E_DEFAULT, NULL, NULL);
    errno = 0;
    hid_t file = taut_h5.Fcreate(partial, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    bool good = file >= 0;
    hid_t top = good ? taut_hdf5_group(file, "/taut") : -1;
    good = top >= 0 && taut_hdf5_text(top, "content", what) &&
           taut_hdf5_text(top, "version", taut_version());
    if (top >= 0)
        taut_h5.Gclose(top);
    for (int k = 0; k < sets && good; k++)
        good = write_set(file, &set[k]);
    if (file >= 0)
        good = taut_h5.Fclose(file) >= 0 && good;
    taut_h5.Eset_auto2(H5E_DEFAULT, report, report_data);
    if (good && rename(partial, path) == 0)
        return TAUT_OK;
    int number = errno;
    remove(partial);
    return taut_fail(error, TAUT_ERROR_FILE, "cannot write %.300s: %s", path,
                     number ? strerror(number) : "the HDF5 library refuses it");
}

#else

int taut_hdf5_write(const char *path, const char *what, const taut_hdf5_set *set, int sets,
                    taut_error *error)
{
    (void)what, (void)set, (void)sets;
    return taut_fail(error, TAUT_ERROR_UNAVAILABLE,
                     "this build has no HDF5, so %.200s cannot be written: give a name that ends "
                     "in .csv, or build with libhdf5",
                     path);
}

#endif
