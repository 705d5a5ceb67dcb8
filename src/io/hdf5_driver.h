/* hdf5_driver.h - a driver of HDF5 for files on disks that may be full. */
#ifndef TAUT_IO_HDF5_DRIVER_H
#define TAUT_IO_HDF5_DRIVER_H

#ifdef TAUT_HAVE_HDF5

#include <hdf5.h>

/* A list of file access properties with the driver; close it with H5Pclose. *failure becomes the errno of the first write that fails, and
 * must live as long as the file is open. Negative when HDF5 refuses. */
hid_t taut_hdf5_access(int *failure);

#endif

#endif
