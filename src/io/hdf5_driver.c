/* hdf5_driver.c - see hdf5_driver.h.
 *
 * What a reader follows is replaced in an order that leaves the file readable whenever the process
 * is killed. Rows are written at once: no structure refers to them yet. Changes of the structure
 * wait for a flush, and then go to the file as: new places; the superblock, which has the length;
 * new nodes of the trees of chunks, then those above old ones, then old ones, so that every chunk
 * stays reachable while a node is split; last the headers, which have the number of rows.
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

static void apply_changes(taut_hdf5_file *f);

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    (void)most;
    const settings *how = taut_h5.Pget_driver_info(access);
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
    *f = (taut_hdf5_file){.driver = f->driver,
                          .arena = f->arena,
                          .open = true,
                          .number = number,
                          .end = (haddr_t)status.st_size};
    return &f->base;
}

static herr_t close_file(H5FD_t *base)
{
    taut_hdf5_file *f = (taut_hdf5_file *)base;
    apply_changes(f);
    if (close(f->number) != 0)
        note(f, errno);
    f->open = false;
    return 0;
}

static herr_t query(const H5FD_t *base, unsigned long *flags)
{
    (void)base;
    /* metadata that is accumulated would lose its types */
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA;
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
static int read_file(const taut_hdf5_file *f, haddr_t at, size_t size, void *buffer)
{
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

/* From the file, and over it what waits. */
static herr_t read_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                         void *buffer)
{
    (void)type;
    (void)transfer;
    const taut_hdf5_file *f = (const taut_hdf5_file *)base;
    if (read_file(f, at, size, buffer) != 0)
        return -1;
    for (int64_t k = 0; k < f->changes; k++) {
        const taut_hdf5_change *c = &f->change[k];
        haddr_t first = c->at > at ? c->at : at,
                end = c->at + c->size < at + size ? c->at + c->size : at + size;
        if (first < end)
            memcpy((char *)buffer + (first - at), f->waiting + c->from + (first - c->at),
                   (size_t)(end - first));
    }
    return 0;
}

static void write_file(taut_hdf5_file *f, haddr_t at, size_t size, const char *from)
{
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
}

/* Keeps a change. One of the same place is replaced, unless others cover it in part. */
static void keep_change(taut_hdf5_file *f, H5FD_mem_t type, haddr_t at, size_t size,
                        const void *bytes)
{
    for (int64_t k = f->changes - 1; k >= 0; k--) {
        taut_hdf5_change *c = &f->change[k];
        if (c->at >= at + size || at >= c->at + c->size)
            continue;
        if (c->at != at || c->size != size)
            break;
        c->type = type;
        memcpy(f->waiting + c->from, bytes, size);
        return;
    }
    if (f->used + size > f->size) {
        size_t more = 2 * (f->used + size);
        char *larger = TAUT_NEW(&f->arena, char, more);
        if (!larger) {
            note(f, ENOMEM);
            return;
        }
        if (f->used > 0)
            memcpy(larger, f->waiting, f->used);
        f->waiting = larger;
        f->size = more;
    }
    taut_hdf5_change *list =
        taut_arena_grow(&f->arena, f->change, f->changes, &f->room, sizeof *list);
    if (!list) {
        note(f, ENOMEM);
        return;
    }
    f->change = list;
    list[f->changes++] = (taut_hdf5_change){type, at, size, f->used};
    memcpy(f->waiting + f->used, bytes, size);
    f->used += size;
}

enum { NEW_PLACES, SUPERBLOCK, NEW_NODES, OLD_NODES, OTHERS = OLD_NODES + 256, HEADERS };

/* When a change may reach the file. A node of a tree: "TREE", type, level. */
static int turn_of(const taut_hdf5_file *f, const taut_hdf5_change *c, haddr_t end)
{
    char there[4];
    if (c->type == H5FD_MEM_SUPER)
        return SUPERBLOCK;
    if (c->at >= end)
        return NEW_PLACES;
    if (c->type == H5FD_MEM_OHDR)
        return HEADERS;
    if (c->type != H5FD_MEM_BTREE || c->size < 8)
        return OTHERS;
    if (read_file(f, c->at, sizeof there, there) != 0 || memcmp(there, "TREE", sizeof there) != 0)
        return NEW_NODES;
    return OLD_NODES + 255 - (unsigned char)f->waiting[c->from + 5]; /* the highest first */
}

static void apply_changes(taut_hdf5_file *f)
{
    struct stat status;
    haddr_t end = fstat(f->number, &status) == 0 ? (haddr_t)status.st_size : 0;
    if (f->changes > 0 && end < f->end_used && f->failure == 0 &&
        ftruncate(f->number, (off_t)f->end_used) != 0)
        note(f, errno);
    for (int turn = NEW_PLACES; turn <= HEADERS && f->changes > 0;) {
        int next = HEADERS + 1;
        for (int64_t k = 0; k < f->changes; k++) {
            taut_hdf5_change *c = &f->change[k];
            int own = c->size > 0 ? turn_of(f, c, end) : HEADERS + 1;
            if (own == turn) {
                write_file(f, c->at, c->size, f->waiting + c->from);
                c->size = 0;
            } else if (own > turn && own < next) {
                next = own;
            }
        }
        turn = next;
    }
    f->changes = 0;
    f->used = 0;
}

static herr_t write_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                          const void *buffer)
{
    (void)transfer;
    taut_hdf5_file *f = (taut_hdf5_file *)base;
    f->end = at + size > f->end ? at + size : f->end;
    if (type == H5FD_MEM_DRAW)
        write_file(f, at, size, buffer);
    else
        keep_change(f, type, at, size, buffer);
    return 0;
}

static herr_t flush_file(H5FD_t *base, hid_t transfer, hbool_t closing)
{
    (void)transfer;
    (void)closing;
    apply_changes((taut_hdf5_file *)base);
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
    .flush = flush_file,
    .truncate = truncate_file,
    .fl_map = H5FD_FLMAP_DICHOTOMY};

hid_t taut_hdf5_access(taut_hdf5_file *file)
{
    settings how = {file};
    *file = (taut_hdf5_file){.driver = taut_h5.FDregister(&driver)};
    taut_arena_init(&file->arena, NULL);
    hid_t access = taut_h5.Pcreate(*taut_h5.P_FILE_ACCESS);
    if (access >= 0 && (file->driver < 0 || taut_h5.Pset_driver(access, file->driver, &how) < 0)) {
        taut_h5.Pclose(access);
        access = -1;
    }
    return access;
}

int taut_hdf5_sync(taut_hdf5_file *f)
{
    if (fsync(f->number) != 0)
        note(f, errno);
    return f->failure;
}

void taut_hdf5_release(taut_hdf5_file *file)
{
    if (file->driver > 0)
        taut_h5.FDunregister(file->driver);
    file->driver = 0;
    taut_arena_clear(&file->arena);
}

#else

typedef int taut_hdf5_is_not_here; /* a file must not be empty */

#endif
