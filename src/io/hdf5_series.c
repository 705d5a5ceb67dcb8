/* hdf5_series.c - see hdf5_series.h. */
#include "io/hdf5_series.h"

#ifdef TAUT_HAVE_HDF5

#include <stdio.h>
#include <string.h>

/* Numbers of a chunk of wide rows: 1 MB, as much as HDF5 keeps in memory, so that pieces of a row
 * are put together there. */
enum { WIDEST = 1 << 17 };

/* How many dimensions it has. */
static int shape_of(const taut_hdf5_series *s, hsize_t rows, hsize_t shape[3])
{
    shape[0] = rows;
    if (s->parts > 1) {
        shape[1] = (hsize_t)(s->width / s->parts);
        shape[2] = (hsize_t)s->parts;
        return 3;
    }
    shape[1] = (hsize_t)s->width;
    return s->parts == 0 ? 1 : 2;
}

bool taut_hdf5_series_create(hid_t file, taut_hdf5_series *s, hsize_t chunk)
{
    hsize_t shape[3], most[3], part[3];
    const hsize_t widest = WIDEST / (hsize_t)(s->parts > 1 ? s->parts : 1);
    int rank = shape_of(s, 0, shape);
    shape_of(s, chunk, part);
    part[1] = part[1] < widest ? part[1] : widest;
    shape_of(s, H5S_UNLIMITED, most);
    char path[120];
    snprintf(path, sizeof path, "/%s/%s", s->group, s->name);
    hid_t space = taut_h5.Screate_simple(rank, shape, most),
          how = taut_h5.Pcreate(*taut_h5.P_DATASET_CREATE);
    taut_h5.Pset_chunk(how, rank, part);
    bool steps = strcmp(s->name, "step") == 0;
    s->set = taut_hdf5_place(file, path, steps ? *taut_h5.T_STD_I64LE : *taut_h5.T_IEEE_F64LE,
                             space, how);
    taut_h5.Pclose(how);
    taut_h5.Sclose(space);
    return s->set >= 0;
}

bool taut_hdf5_series_open(hid_t file, taut_hdf5_series *s, hsize_t rows, hsize_t *extent)
{
    char path[120];
    hsize_t shape[3] = {0}, expected[3];
    snprintf(path, sizeof path, "/%s/%s", s->group, s->name);
    s->set = taut_h5.Dopen2(file, path, H5P_DEFAULT);
    hid_t space = s->set < 0 ? -1 : taut_h5.Dget_space(s->set);
    int rank = shape_of(s, 0, expected);
    bool good = space >= 0 && taut_h5.Sget_simple_extent_ndims(space) == rank &&
                taut_h5.Sget_simple_extent_dims(space, shape, NULL) == rank && shape[0] >= rows;
    for (int k = 1; k < rank; k++)
        good = good && shape[k] == expected[k];
    if (space >= 0)
        taut_h5.Sclose(space);
    *extent = shape[0];
    return good;
}

bool taut_hdf5_series_extend(const taut_hdf5_series *s, hsize_t rows)
{
    hsize_t shape[3];
    shape_of(s, rows, shape);
    return taut_h5.Dset_extent(s->set, shape) >= 0;
}

/* A block between the file and x (to) or y (from). */
static bool move(const taut_hdf5_series *s, const hsize_t start[3], const hsize_t count[3],
                 const double *to, double *from)
{
    hsize_t shape[3];
    const int rank = shape_of(s, 0, shape);
    hid_t file = taut_h5.Dget_space(s->set), memory = taut_h5.Screate_simple(rank, count, NULL),
          type = *taut_h5.T_NATIVE_DOUBLE;
    bool good = file >= 0 &&
                taut_h5.Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                (to ? taut_h5.Dwrite(s->set, type, memory, file, H5P_DEFAULT, to)
                    : taut_h5.Dread(s->set, type, memory, file, H5P_DEFAULT, from)) >= 0;
    taut_h5.Sclose(memory);
    taut_h5.Sclose(file);
    return good;
}

bool taut_hdf5_series_write(const taut_hdf5_series *s, hsize_t first, hsize_t rows)
{
    const hsize_t start[3] = {first, 0, 0};
    hsize_t count[3];
    shape_of(s, rows, count);
    return move(s, start, count, s->buffer, NULL);
}

/* Of [width/parts][parts] the rest of a part, whole parts, and the beginning of one. */
static bool move_numbers(const taut_hdf5_series *s, hsize_t row, hsize_t from, hsize_t count,
                         const double *to, double *back)
{
    const hsize_t parts = s->parts > 1 ? (hsize_t)s->parts : 1;
    bool good = true;
    for (hsize_t done = 0, size; good && done < count; done += size) {
        const hsize_t at = from + done, left = count - done, inside = at % parts;
        const bool whole = inside == 0 && left >= parts;
        size = whole ? left - left % parts : left < parts - inside ? left : parts - inside;
        const hsize_t start[3] = {row, at / parts, inside},
                      block[3] = {1, whole ? size / parts : 1, whole ? parts : size};
        good = move(s, start, block, to ? to + done : NULL, back ? back + done : NULL);
    }
    return good;
}

bool taut_hdf5_series_put(const taut_hdf5_series *s, hsize_t row, hsize_t from, hsize_t count,
                          const double *x)
{
    return move_numbers(s, row, from, count, x, NULL);
}

bool taut_hdf5_series_get(const taut_hdf5_series *s, hsize_t row, hsize_t from, hsize_t count,
                          double *x)
{
    return move_numbers(s, row, from, count, NULL, x);
}

#endif
