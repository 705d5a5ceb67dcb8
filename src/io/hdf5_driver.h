/* hdf5_driver.h - a driver of HDF5 for disks that may be full and processes that may be killed. */
#ifndef TAUT_IO_HDF5_DRIVER_H
#define TAUT_IO_HDF5_DRIVER_H

#ifdef TAUT_HAVE_HDF5

#include "base/memory.h"
#include "io/hdf5_calls.h"

/* A change of the file's structure that waits for the next flush. */
typedef struct taut_hdf5_change {
    H5FD_mem_t type;
    haddr_t at;
    size_t size, from; /* bytes of `waiting` */
} taut_hdf5_change;

/* One file, in memory of the caller that lives as long as the file is open. */
typedef struct taut_hdf5_file {
    H5FD_t base;  /* HDF5's own part comes first */
    hid_t driver; /* that of HDF5 for this file */
    bool open;
    int number;            /* of the file in this process */
    int failure;           /* errno of the first write that failed, or 0 */
    haddr_t end_used, end; /* of what is allocated; of the file */
    taut_arena arena;      /* of what waits */
    taut_hdf5_change *change;
    int64_t changes, room;
    char *waiting;
    size_t used, size;
} taut_hdf5_file;

/* A list of file access properties with the driver, for one file; close it with H5Pclose.
 * Negative when HDF5 refuses. */
hid_t taut_hdf5_access(taut_hdf5_file *file);
/* Waits until all that was flushed is on the disk; nonzero: errno. */
int taut_hdf5_sync(taut_hdf5_file *file);
/* When the file is closed, or could not be opened: HDF5 still looks at a driver while it closes
 * the last file of it. */
void taut_hdf5_release(taut_hdf5_file *file);

#endif

#endif
