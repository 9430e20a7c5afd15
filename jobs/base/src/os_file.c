/* os_file.c: the real files behind os_file.h: open, pread, write, fsync, flock, mmap, mprotect.
 *
 * Reads open with O_NONBLOCK so that a FIFO without a writer cannot hang us, then insist on a
 * regular file. Writers hold an flock: it dies with the process, so what a crash left behind can be
 * told from what is being written. Stateless. */
#include "os_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

static weft_result open_read_real(void *user, const char *path, weft__os_file *out, uint64_t *bytes)
{
    (void)user;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return result_of_errno();
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(descriptor);
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
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
    if (descriptor < 0) return errno == ENOMEM ? WEFT_OUT_OF_MEMORY : WEFT_IO;
    weft_result result = WEFT_OK;
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 || !is_still_at(descriptor, path)) {
        result = WEFT_BUSY;
    } else if (ftruncate(descriptor, 0) != 0) {
        result = WEFT_IO;
    }
    if (result != WEFT_OK) {
        close(descriptor);
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
        ssize_t count = pread((int)file.handle, next, wanted, (off_t)offset);
        if (count < 0 && errno == EINTR) continue;
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
        ssize_t count = write((int)file.handle, next, wanted);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return WEFT_IO;
        next += count, bytes -= (size_t)count;
    }
    return WEFT_OK;
}

static weft_result sync_real(void *user, weft__os_file file)
{
    (void)user;
    return fsync((int)file.handle) == 0 ? WEFT_OK : WEFT_IO;
}

static void close_real(void *user, weft__os_file file)
{
    (void)user;
    close((int)file.handle);
}

static weft_result map_real(void *user, weft__os_file file, size_t bytes, void **out)
{
    (void)user;
    void *memory = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, (int)file.handle, 0);
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
    int descriptor = open(directory, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (descriptor < 0) return WEFT_IO;
    weft_result result = fsync(descriptor) == 0 ? WEFT_OK : WEFT_IO;
    close(descriptor);
    return result;
}

static weft_result protect_real(void *user, void *memory, size_t bytes, bool is_writable)
{
    (void)user;
    int protection = is_writable ? PROT_READ | PROT_WRITE : PROT_READ;
    return mprotect(memory, bytes, protection) == 0 ? WEFT_OK : WEFT_OUT_OF_MEMORY;
}

static const weft__os_files files_real = {
    .open_read = open_read_real,
    .open_write = open_write_real,
    .read = read_real,
    .write = write_real,
    .sync = sync_real,
    .close = close_real,
    .map = map_real,
    .rename = rename_real,
    .remove = remove_real,
    .sync_directory = sync_directory_real,
    .protect = protect_real,
};

const weft__os_files *weft__os_files_of(const weft_os *os)
{
    return os->files != NULL ? os->files : &files_real;
}
