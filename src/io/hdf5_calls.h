/* hdf5_calls.h - the functions and constants of HDF5 that Taut uses, under their names without H5;
 * the library is loaded at the first request (base/library.h). */
#ifndef TAUT_IO_HDF5_CALLS_H
#define TAUT_IO_HDF5_CALLS_H

#include <hdf5.h>

#include "base/error.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

/* In hdf5.h numbers such as H5F_ACC_TRUNC call the library, to open it; taut_hdf5_load has done it.
 */
#undef H5CHECK
#undef H5OPEN
#define H5CHECK
#define H5OPEN

typedef struct taut_hdf5_calls {
    __typeof__(H5Aclose) *Aclose;
    __typeof__(H5Acreate2) *Acreate2;
    __typeof__(H5Aopen_by_name) *Aopen_by_name;
    __typeof__(H5Aread) *Aread;
    __typeof__(H5Awrite) *Awrite;
    __typeof__(H5Dclose) *Dclose;
    __typeof__(H5Dcreate2) *Dcreate2;
    __typeof__(H5Dget_space) *Dget_space;
    __typeof__(H5Dget_type) *Dget_type;
    __typeof__(H5Dopen2) *Dopen2;
    __typeof__(H5Dread) *Dread;
    __typeof__(H5Dset_extent) *Dset_extent;
    __typeof__(H5Dwrite) *Dwrite;
    __typeof__(H5Eget_auto2) *Eget_auto2;
    __typeof__(H5Eset_auto2) *Eset_auto2;
    __typeof__(H5FDregister) *FDregister;
    __typeof__(H5FDunregister) *FDunregister;
    __typeof__(H5Fclose) *Fclose;
    __typeof__(H5Fcreate) *Fcreate;
    __typeof__(H5Fflush) *Fflush;
    __typeof__(H5Fopen) *Fopen;
    __typeof__(H5Gclose) *Gclose;
    __typeof__(H5Gcreate2) *Gcreate2;
    __typeof__(H5Gget_info_by_name) *Gget_info_by_name;
    __typeof__(H5Lcreate_hard) *Lcreate_hard;
    __typeof__(H5Lexists) *Lexists;
    __typeof__(H5Lget_name_by_idx) *Lget_name_by_idx;
    __typeof__(H5Pclose) *Pclose;
    __typeof__(H5Pcreate) *Pcreate;
    __typeof__(H5Pget_driver_info) *Pget_driver_info;
    __typeof__(H5Pset_chunk) *Pset_chunk;
    __typeof__(H5Pset_create_intermediate_group) *Pset_create_intermediate_group;
    __typeof__(H5Pset_driver) *Pset_driver;
    __typeof__(H5Sclose) *Sclose;
    __typeof__(H5Screate) *Screate;
    __typeof__(H5Screate_simple) *Screate_simple;
    __typeof__(H5Sget_simple_extent_dims) *Sget_simple_extent_dims;
    __typeof__(H5Sget_simple_extent_ndims) *Sget_simple_extent_ndims;
    __typeof__(H5Sselect_hyperslab) *Sselect_hyperslab;
    __typeof__(H5Tclose) *Tclose;
    __typeof__(H5Tcopy) *Tcopy;
    __typeof__(H5Tget_class) *Tget_class;
    __typeof__(H5Tget_size) *Tget_size;
    __typeof__(H5Tis_variable_str) *Tis_variable_str;
    __typeof__(H5Tset_size) *Tset_size;
    __typeof__(H5Tset_strpad) *Tset_strpad;
    __typeof__(H5open) *open;
    const hid_t *P_DATASET_CREATE, *P_FILE_ACCESS, *P_LINK_CREATE, *T_C_S1, *T_IEEE_F64LE,
        *T_NATIVE_DOUBLE, *T_NATIVE_INT, *T_STD_I32LE, *T_STD_I64LE;
} taut_hdf5_calls;

/* Filled by taut_hdf5_load, which fails when the library is not there; `consequence` is a part of
 * the message. (hdf5_calls.c) */
extern taut_hdf5_calls taut_h5;
int taut_hdf5_load(const char *consequence, taut_error *error);

/* The library's own messages, of the host: none between these two. */
typedef struct taut_hdf5_report {
    H5E_auto2_t call;
    void *data;
} taut_hdf5_report;
void taut_hdf5_quiet(taut_hdf5_report *report);
void taut_hdf5_loud(const taut_hdf5_report *report);

#endif
