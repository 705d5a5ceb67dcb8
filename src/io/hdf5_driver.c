/* hdf5_driver.c - see hdf5_driver.h.
 *
 * A write that fails leaves HDF5 (1.10) with a file that can neither be closed nor left open:
 * its own clean-up at the end of the process then crashes. So success is returned to it, and
 * the user of the file checks `failure`. Everything else is plain POSIX. */
#ifndef TAUT_CORE
#define _POSIX_C_SOURCE 200809L
#endif

#include "io/hdf5_driver.h"

#ifdef TAUT_HAVE_HDF5

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* HDF5 copies this, so it points to the file. */
typedef struct settings {
    taut_hdf5_file *file;
} settings;

static void note(taut_hdf5_file *f, int reason)
{
    if (f->failure == 0)
        f->failure = reason ? reason : EIO;
}

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    (void)most;
    const settings *how = H5Pget_driver_info(access);
    taut_hdf5_file *f = how ? how->file : NULL;
    if (!f || f->open)
        return NULL;
    int mode = (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY) | (flags & H5F_ACC_CREAT ? O_CREAT : 0) |
               (flags & H5F_ACC_TRUNC ? O_TRUNC : 0) | (flags & H5F_ACC_EXCL ? O_EXCL : 0) |
               O_CLOEXEC;
    struct stat status;
    int number = open(name, mode, 0666);
    if (number < 0)
        return NULL;
    if (fstat(number, &status) != 0) {
        int reason = errno;
        close(number);
        errno = reason;
        return NULL;
    }
    *f = (taut_hdf5_file){
        .driver = f->driver, .open = true, .number = number, .end = (haddr_t)status.st_size};
    return &f->base;
}

static herr_t close_file(H5FD_t *base)
{
    taut_hdf5_file *f = (taut_hdf5_file *)base;
    if (close(f->number) != 0)
        note(f, errno);
    f->open = false;
    return 0;
}

static herr_t query(const H5FD_t *base, unsigned long *flags)
{
    (void)base;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t get_used(const H5FD_t *base, H5FD_mem_t type)
{
    (void)type;
    return ((const taut_hdf5_file *)base)->end_used;
}

static herr_t set_used(H5FD_t *base, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    ((taut_hdf5_file *)base)->end_used = end;
    return 0;
}

static haddr_t get_end(const H5FD_t *base, H5FD_mem_t type)
{
    (void)type;
    return ((const taut_hdf5_file *)base)->end;
}

/* What was never written reads as zeros. */
static herr_t read_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                         void *buffer)
{
    (void)type;
    (void)transfer;
    const taut_hdf5_file *f = (const taut_hdf5_file *)base;
    char *to = buffer;
    while (size > 0) {
        ssize_t count = pread(f->number, to, size, (off_t)at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        if (count == 0) {
            memset(to, 0, size);
            break;
        }
        to += count;
        at += (haddr_t)count;
        size -= (size_t)count;
    }
    return 0;
}

static herr_t write_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                          const void *buffer)
{
    (void)type;
    (void)transfer;
    taut_hdf5_file *f = (taut_hdf5_file *)base;
    const char *from = buffer;
    f->end = at + size > f->end ? at + size : f->end;
    while (size > 0 && f->failure == 0) {
        ssize_t count = pwrite(f->number, from, size, (off_t)at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            note(f, errno);
            break;
        }
        from += count;
        at += (haddr_t)count;
        size -= (size_t)count;
    }
    return 0;
}

static herr_t truncate_file(H5FD_t *base, hid_t transfer, hbool_t closing)
{
    (void)transfer;
    (void)closing;
    taut_hdf5_file *f = (taut_hdf5_file *)base;
    if (f->failure == 0 && f->end != f->end_used && ftruncate(f->number, (off_t)f->end_used) != 0)
        note(f, errno);
    f->end = f->end_used;
    return 0;
}

static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = 600, /* from 512 on: not registered with the HDF Group */
#endif
    .name = "taut",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(settings),
    .open = open_file,
    .close = close_file,
    .query = query,
    .get_eoa = get_used,
    .set_eoa = set_used,
    .get_eof = get_end,
    .read = read_bytes,
    .write = write_bytes,
    .truncate = truncate_file,
    .fl_map = H5FD_FLMAP_DICHOTOMY};

hid_t taut_hdf5_access(taut_hdf5_file *file)
{
    settings how = {file};
    *file = (taut_hdf5_file){.driver = H5FDregister(&driver)};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && (file->driver < 0 || H5Pset_driver(access, file->driver, &how) < 0)) {
        H5Pclose(access);
        access = -1;
    }
    return access;
}

void taut_hdf5_release(taut_hdf5_file *file)
{
    if (file->driver > 0)
        H5FDunregister(file->driver);
    file->driver = 0;
}

#else

typedef int taut_hdf5_is_not_here; /* a file must not be empty */

#endif
