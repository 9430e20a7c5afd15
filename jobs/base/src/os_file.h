/* os_file.h: the file part of the operating-system seam, and atomic replacement of a file on top of
 * it.
 *
 * Reached through weft_os.files (NULL: the real one), so that tests refuse the k-th write, fsync or
 * rename, or end the process between two of them. Paths are NUL-terminated bytes as the kernel
 * takes them. Functions return WEFT_OK, WEFT_NOT_FOUND (no such file), WEFT_BUSY (locked by another
 * writer) or WEFT_IO; on failure nothing stays open. All may be called from any thread. */
#ifndef WEFT_OS_FILE_H
#define WEFT_OS_FILE_H

#include "os.h"

/* An open file; the real one stores a descriptor. Owner: whoever opened it, one thread. */
typedef struct weft__os_file {
    intptr_t handle;
} weft__os_file;

/* Constant table. */
struct weft__os_files {
    void *user;
    /* Opens a regular file (not a directory, device or FIFO: WEFT_IO) and tells its size. */
    weft_result (*open_read)(void *user, const char *path, weft__os_file *out, uint64_t *bytes);
    /* Creates `path`, or takes over what a dead writer left there; the file is locked until it is
     * closed, and empty. WEFT_BUSY when a live writer holds it. Does not follow a symbolic link. */
    weft_result (*open_write)(void *user, const char *path, weft__os_file *out);
    /* Exactly `bytes` bytes from `offset`; WEFT_IO when the file is shorter. */
    weft_result (*read)(void *user, weft__os_file file, void *to, size_t bytes, uint64_t offset);
    /* Appends exactly `bytes` bytes. */
    weft_result (*write)(void *user, weft__os_file file, const void *from, size_t bytes);
    weft_result (*sync)(void *user, weft__os_file file);
    void (*close)(void *user, weft__os_file file);
    /* Maps the first `bytes` bytes read-only; give them back with weft_os.unmap. */
    weft_result (*map)(void *user, weft__os_file file, size_t bytes, void **out);
    weft_result (*rename)(void *user, const char *from, const char *to);
    weft_result (*remove)(void *user, const char *path);
    /* Makes a rename into the directory of `path` durable. */
    weft_result (*sync_directory)(void *user, const char *path);
    /* Makes whole pages of weft_os.map writable or read-only. */
    weft_result (*protect)(void *user, void *memory, size_t bytes, bool is_writable);
};

/* The file table of a seam; never NULL. */
const weft__os_files *weft__os_files_of(const weft_os *os);

/* A run of bytes to be written. */
typedef struct weft__file_piece {
    const void *bytes;
    size_t count;
} weft__file_piece;

/* Replaces `path` by the pieces in order: writes `path`.new0 (.new1, ... when other writers hold
 * that), syncs it, renames it over `path`, syncs the directory. After a crash at any point `path`
 * is the old or the new file, complete; a left-over .new file is reused by the next save. Two
 * processes that save at once: the last complete one wins. On failure before the rename `path` is
 * untouched and the temporary file removed; WEFT_IO after it means that the new content is visible,
 * yet perhaps not durable. Threads: any. WEFT_INVALID_ARGUMENT for a path that is empty or longer
 * than 4000 bytes. */
weft_result weft__file_replace(const weft_os *os, const char *path, const weft__file_piece *pieces,
                               size_t piece_count);

#endif
