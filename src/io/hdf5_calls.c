/* hdf5_calls.c - see hdf5_calls.h. */
#ifdef TAUT_HAVE_HDF5

#include "io/hdf5_calls.h"

#include "base/library.h"

/* in the order of taut_hdf5_calls */
static const taut_import imports[] = {TAUT_IMPORT(H5Aclose),
                                      TAUT_IMPORT(H5Acreate2),
                                      TAUT_IMPORT(H5Aopen_by_name),
                                      TAUT_IMPORT(H5Aread),
                                      TAUT_IMPORT(H5Awrite),
                                      TAUT_IMPORT(H5Dclose),
                                      TAUT_IMPORT(H5Dcreate2),
                                      TAUT_IMPORT(H5Dget_space),
                                      TAUT_IMPORT(H5Dget_type),
                                      TAUT_IMPORT(H5Dopen2),
                                      TAUT_IMPORT(H5Dread),
                                      TAUT_IMPORT(H5Dset_extent),
                                      TAUT_IMPORT(H5Dwrite),
                                      TAUT_IMPORT(H5Eget_auto2),
                                      TAUT_IMPORT(H5Eset_auto2),
                                      TAUT_IMPORT(H5FDregister),
                                      TAUT_IMPORT(H5FDunregister),
                                      TAUT_IMPORT(H5Fclose),
                                      TAUT_IMPORT(H5Fcreate),
                                      TAUT_IMPORT(H5Fflush),
                                      TAUT_IMPORT(H5Fopen),
                                      TAUT_IMPORT(H5Gclose),
                                      TAUT_IMPORT(H5Gcreate2),
                                      TAUT_IMPORT(H5Gget_info_by_name),
                                      TAUT_IMPORT(H5Lcreate_hard),
                                      TAUT_IMPORT(H5Lexists),
                                      TAUT_IMPORT(H5Lget_name_by_idx),
                                      TAUT_IMPORT(H5Pclose),
                                      TAUT_IMPORT(H5Pcreate),
                                      TAUT_IMPORT(H5Pget_driver_info),
                                      TAUT_IMPORT(H5Pset_chunk),
                                      TAUT_IMPORT(H5Pset_create_intermediate_group),
                                      TAUT_IMPORT(H5Pset_driver),
                                      TAUT_IMPORT(H5Sclose),
                                      TAUT_IMPORT(H5Screate),
                                      TAUT_IMPORT(H5Screate_simple),
                                      TAUT_IMPORT(H5Sget_simple_extent_dims),
                                      TAUT_IMPORT(H5Sget_simple_extent_ndims),
                                      TAUT_IMPORT(H5Sselect_hyperslab),
                                      TAUT_IMPORT(H5Tclose),
                                      TAUT_IMPORT(H5Tcopy),
                                      TAUT_IMPORT(H5Tget_class),
                                      TAUT_IMPORT(H5Tget_size),
                                      TAUT_IMPORT(H5Tis_variable_str),
                                      TAUT_IMPORT(H5Tset_size),
                                      TAUT_IMPORT(H5Tset_strpad),
                                      TAUT_IMPORT(H5open),
                                      TAUT_IMPORT(H5P_CLS_DATASET_CREATE_ID_g),
                                      TAUT_IMPORT(H5P_CLS_FILE_ACCESS_ID_g),
                                      TAUT_IMPORT(H5P_CLS_LINK_CREATE_ID_g),
                                      TAUT_IMPORT(H5T_C_S1_g),
                                      TAUT_IMPORT(H5T_IEEE_F64LE_g),
                                      TAUT_IMPORT(H5T_NATIVE_DOUBLE_g),
                                      TAUT_IMPORT(H5T_NATIVE_INT_g),
                                      TAUT_IMPORT(H5T_STD_I32LE_g),
                                      TAUT_IMPORT(H5T_STD_I64LE_g)};
enum { IMPORTS = sizeof imports / sizeof *imports };

taut_hdf5_calls taut_h5;
_Static_assert(sizeof taut_h5 == IMPORTS * sizeof(void *), "one pointer for each import");
static taut_library library = {.file = TAUT_HDF5_FILE,
                               .package = "libhdf5-dev",
                               .imports = IMPORTS,
                               .import = imports,
                               .table = &taut_h5};

int taut_hdf5_load(const char *consequence, taut_error *error)
{
    if (!taut_library_load(&library))
        return taut_library_fail(&library, consequence, error);
    taut_h5.open(); /* sets the constants */
    return TAUT_OK;
}

void taut_hdf5_quiet(taut_hdf5_report *report)
{
    taut_h5.Eget_auto2(H5E_DEFAULT, &report->call, &report->data);
    taut_h5.Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void taut_hdf5_loud(const taut_hdf5_report *report)
{
    taut_h5.Eset_auto2(H5E_DEFAULT, report->call, report->data);
}

#else

typedef int taut_hdf5_calls_are_not_here; /* a file must not be empty */

#endif
