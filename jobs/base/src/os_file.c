/* SPDX-License-Identifier: MIT */
/* os_file.c: the real files behind os_file.h: open, pread, write, fsync, flock, mmap, mprotect.
 *
 * Reads open with O_NONBLOCK so that a FIFO without a writer cannot hang us, then insist on a
 * regular file. Writers hold an flock: it dies with the process, so what a crash left behind can be
 * told from what is being written. Calls that a signal interrupts are made again, and transfers go
 * on where they stopped. Stateless. */
#include "os_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linux transfers at most 0x7ffff000 bytes a call. */
#define TRANSFER_BYTES_MAX ((size_t)1 << 30)

static weft_result result_of_errno(void)
{
    if (errno == ENOENT) return WEFT_NOT_FOUND;
    return errno == ENOMEM ? WEFT_OUT_OF_MEMORY : WEFT_IO;
}

/* The result of a call, made again while a signal interrupts it. */
#define AGAIN(call)                                                                                \
    __extension__({                                                                                \
        long done_;                                                                                \
        do done_ = (long)(call);                                                                   \
        while (done_ < 0 && errno == EINTR);                                                       \
        done_;                                                                                     \
    })

static int open_again(const char *path, int flags)
{
    return (int)AGAIN(open(path, flags | O_CLOEXEC, 0666));
}

/* Closes after a failure, whose errno stays; `reason` replaces it unless it is negative. */
static void close_failed(int descriptor, int reason)
{
    if (reason < 0) reason = errno;
    close(descriptor);
    errno = reason;
}

static weft__os_kind kind_of(mode_t mode)
{
    if (S_ISREG(mode)) return WEFT__OS_REGULAR_FILE;
    if (S_ISDIR(mode)) return WEFT__OS_DIRECTORY;
    if (S_ISCHR(mode)) return WEFT__OS_CHARACTER_DEVICE;
    if (S_ISBLK(mode)) return WEFT__OS_BLOCK_DEVICE;
    if (S_ISFIFO(mode)) return WEFT__OS_FIFO;
    return S_ISSOCK(mode) ? WEFT__OS_SOCKET : WEFT__OS_OTHER;
}

static weft_result locate_real(void *user, const char *path, char *place, size_t place_bytes,
                               weft__os_kind *kind)
{
    (void)user;
    char followed[PATH_MAX];
    struct stat status, link;
    const char *from = path;
    *kind = WEFT__OS_NOTHING;
    bool is_there = stat(path, &status) == 0;
    if (!is_there && errno != ENOENT) return result_of_errno();
    bool is_link = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
    if (is_there) *kind = kind_of(status.st_mode);
    if (!is_there && is_link) *kind = WEFT__OS_BROKEN_LINK;
    if (*kind == WEFT__OS_REGULAR_FILE && is_link) from = realpath(path, followed);
    if (from == NULL) return WEFT_IO;
    size_t bytes = strlen(from) + 1;
    if (bytes > place_bytes) {
        errno = ENAMETOOLONG;
        return WEFT_IO;
    }
    memcpy(place, from, bytes);
    return WEFT_OK;
}

static weft_result keep_mode_real(void *user, weft__os_file file, const char *place)
{
    (void)user;
    struct stat old, new;
    if (stat(place, &old) != 0) return result_of_errno();
    if (fstat((int)file.handle, &new) != 0) return WEFT_IO;
    if ((old.st_mode & 07777) == (new.st_mode & 07777)) return WEFT_OK;
    return AGAIN(fchmod((int)file.handle, old.st_mode & 07777)) == 0 ? WEFT_OK : WEFT_IO;
}

static weft_result open_read_real(void *user, const char *path, weft__os_file *out, uint64_t *bytes)
{
    (void)user;
    int descriptor = open_again(path, O_RDONLY | O_NONBLOCK);
    if (descriptor < 0) return result_of_errno();
    struct stat status;
    bool has_status = fstat(descriptor, &status) == 0;
    if (!has_status || !S_ISREG(status.st_mode)) {
        close_failed(descriptor, has_status ? 0 : -1);
        return WEFT_IO;
    }
    out->handle = descriptor;
    *bytes = (uint64_t)status.st_size;
    return WEFT_OK;
}

/* A locked descriptor may belong to a file that its writer has renamed meanwhile. */
static bool is_still_at(int descriptor, const char *path)
{
    struct stat by_descriptor, by_path;
    return fstat(descriptor, &by_descriptor) == 0 && lstat(path, &by_path) == 0 &&
           by_descriptor.st_ino == by_path.st_ino && by_descriptor.st_dev == by_path.st_dev;
}

static weft_result open_write_real(void *user, const char *path, weft__os_file *out)
{
    (void)user;
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
    int descriptor = open_again(path, flags | O_EXCL), reason = -1;
    const bool is_made = descriptor >= 0;
    if (!is_made && errno == EEXIST) descriptor = open_again(path, flags);
    if (descriptor < 0) return errno == ENOMEM ? WEFT_OUT_OF_MEMORY : WEFT_IO;
    struct stat status;
    weft_result result = WEFT_OK;
    if (fstat(descriptor, &status) != 0) {
        result = WEFT_IO;
    } else if (!S_ISREG(status.st_mode)) {
        result = WEFT_IO;
        reason = 0;
    } else if (AGAIN(flock(descriptor, LOCK_EX | LOCK_NB)) != 0) {
        result = errno == EWOULDBLOCK ? WEFT_BUSY : WEFT_IO;
    } else if (!is_still_at(descriptor, path)) {
        result = WEFT_BUSY;
    } else if (AGAIN(ftruncate(descriptor, 0)) != 0) {
        result = WEFT_IO;
    }
    if (result != WEFT_OK) {
        if (reason < 0) reason = errno;
        if (is_made && result == WEFT_IO) unlink(path);
        close_failed(descriptor, reason);
        return result;
    }
    out->handle = descriptor;
    return WEFT_OK;
}

static weft_result read_real(void *user, weft__os_file file, void *to, size_t bytes,
                             uint64_t offset)
{
    (void)user;
    char *next = to;
    while (bytes != 0) {
        size_t wanted = bytes < TRANSFER_BYTES_MAX ? bytes : TRANSFER_BYTES_MAX;
        ssize_t count = AGAIN(pread((int)file.handle, next, wanted, (off_t)offset));
        if (count == 0) errno = 0; /* the file ends */
        if (count <= 0) return WEFT_IO;
        next += count, offset += (uint64_t)count, bytes -= (size_t)count;
    }
    return WEFT_OK;
}

static weft_result write_real(void *user, weft__os_file file, const void *from, size_t bytes)
{
    (void)user;
    const char *next = from;
    while (bytes != 0) {
        size_t wanted = bytes < TRANSFER_BYTES_MAX ? bytes : TRANSFER_BYTES_MAX;
        ssize_t count = AGAIN(write((int)file.handle, next, wanted));
        if (count <= 0) return WEFT_IO;
        next += count, bytes -= (size_t)count;
    }
    return WEFT_OK;
}

static weft_result sync_real(void *user, weft__os_file file)
{
    (void)user;
    return AGAIN(fsync((int)file.handle)) == 0 ? WEFT_OK : WEFT_IO;
}

static weft_result close_real(void *user, weft__os_file file)
{
    (void)user;
    /* interrupted, it is closed all the same */
    return close((int)file.handle) == 0 || errno == EINTR ? WEFT_OK : WEFT_IO;
}

static weft_result map_real(void *user, weft__os_file file, size_t bytes, void **out)
{
    (void)user;
    void *memory = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, (int)file.handle, 0);
    if (memory == MAP_FAILED) return result_of_errno();
    *out = memory;
    return WEFT_OK;
}

static weft_result map_shared_real(void *user, weft__os_file file, uint64_t offset, size_t bytes,
                                   void **out)
{
    (void)user;
    do errno = posix_fallocate((int)file.handle, (off_t)offset, (off_t)bytes);
    while (errno == EINTR);
    if (errno != 0) return result_of_errno();
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)file.handle, (off_t)offset);
    if (memory == MAP_FAILED) return result_of_errno();
    *out = memory;
    return WEFT_OK;
}

static weft_result rename_real(void *user, const char *from, const char *to)
{
    (void)user;
    return rename(from, to) == 0 ? WEFT_OK : WEFT_IO;
}

static weft_result remove_real(void *user, const char *path)
{
    (void)user;
    return unlink(path) == 0 ? WEFT_OK : result_of_errno();
}

static weft_result sync_directory_real(void *user, const char *path)
{
    (void)user;
    char directory[4096] = ".";
    const char *slash = strrchr(path, '/');
    if (slash != NULL) {
        size_t length = slash == path ? 1 : (size_t)(slash - path);
        if (length >= sizeof directory) return WEFT_INVALID_ARGUMENT;
        memcpy(directory, path, length);
        directory[length] = '\0';
    }
    int descriptor = open_again(directory, O_RDONLY | O_DIRECTORY);
    if (descriptor < 0) return WEFT_IO;
    weft_result result = AGAIN(fsync(descriptor)) == 0 ? WEFT_OK : WEFT_IO;
    close_failed(descriptor, -1);
    return result;
}

static weft_result protect_real(void *user, void *memory, size_t bytes, bool is_writable)
{
    (void)user;
    int protection = is_writable ? PROT_READ | PROT_WRITE : PROT_READ;
    return mprotect(memory, bytes, protection) == 0 ? WEFT_OK : WEFT_OUT_OF_MEMORY;
}

static const weft__os_files files_real = {
    .locate = locate_real,
    .open_read = open_read_real,
    .open_write = open_write_real,
    .keep_mode = keep_mode_real,
    .read = read_real,
    .write = write_real,
    .sync = sync_real,
    .close = close_real,
    .map = map_real,
    .map_shared = map_shared_real,
    .rename = rename_real,
    .remove = remove_real,
    .sync_directory = sync_directory_real,
    .protect = protect_real,
};

const weft__os_files *weft__os_files_of(const weft_os *os)
{
    return os->files != NULL ? os->files : &files_real;
}
