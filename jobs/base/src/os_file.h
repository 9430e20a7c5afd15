/* SPDX-License-Identifier: MIT */
/* os_file.h: the file part of the operating-system seam, and atomic replacement of a file on top of
 * it.
 *
 * Reached through weft_os.files (NULL: the real one), so that tests refuse the k-th write, fsync or
 * rename, or end the process between two of them. Paths are NUL-terminated bytes as the kernel
 * takes them. Functions return WEFT_OK, WEFT_NOT_FOUND (no such file), WEFT_BUSY (locked by another
 * writer) or WEFT_IO, and leave the reason in errno (callers set it to 0 before, so 0 means that
 * the system gave none); on failure nothing stays open. All may be called from any thread. */
#pragma once

#include "os.h"

/* An open file; the real one stores a descriptor. Owner: the thread that opened it. */
typedef struct weft__os_file {
    intptr_t handle;
} weft__os_file;

/* What a path leads to. */
typedef enum weft__os_kind {
    WEFT__OS_NOTHING,
    WEFT__OS_REGULAR_FILE,
    WEFT__OS_DIRECTORY,
    WEFT__OS_CHARACTER_DEVICE,
    WEFT__OS_BLOCK_DEVICE,
    WEFT__OS_FIFO,
    WEFT__OS_SOCKET,
    WEFT__OS_BROKEN_LINK, /* a symbolic link to nothing */
    WEFT__OS_OTHER,
} weft__os_kind;

/* A table of functions. Owner: as weft_os; constant. */
struct weft__os_files {
    void *user;
    /* What `path` leads to, symbolic links followed. A regular file: `place` gets its path without
     * a link at the end; nothing: `place` is the path. */
    weft_result (*locate)(void *user, const char *path, char *place, size_t place_bytes,
                          weft__os_kind *kind);
    /* Opens a regular file (not a directory, device or FIFO: WEFT_IO) and tells its size. */
    weft_result (*open_read)(void *user, const char *path, weft__os_file *out, uint64_t *bytes);
    /* Creates `path`, or takes over what a dead writer left there; the file is locked until it is
     * closed, and empty. WEFT_BUSY when a live writer holds it. Regular files only; does not follow
     * a symbolic link. Permissions as fopen gives them: 0666 without the umask. */
    weft_result (*open_write)(void *user, const char *path, weft__os_file *out);
    /* Gives the open file the permission bits of the file at `place`. */
    weft_result (*keep_mode)(void *user, weft__os_file file, const char *place);
    /* Exactly `bytes` bytes from `offset`; WEFT_IO when the file is shorter. */
    weft_result (*read)(void *user, weft__os_file file, void *to, size_t bytes, uint64_t offset);
    /* Appends exactly `bytes` bytes. */
    weft_result (*write)(void *user, weft__os_file file, const void *from, size_t bytes);
    weft_result (*sync)(void *user, weft__os_file file);
    /* The file is closed whatever it returns. */
    weft_result (*close)(void *user, weft__os_file file);
    /* Maps the first `bytes` bytes read-only; give them back with weft_os.unmap. */
    weft_result (*map)(void *user, weft__os_file file, size_t bytes, void **out);
    /* The same, writable and shared, from `offset` on; the file grows to hold it. Its blocks are
     * there: a full disk is refused here, by no signal later. */
    weft_result (*map_shared)(void *user, weft__os_file file, uint64_t offset, size_t bytes,
                              void **out);
    weft_result (*rename)(void *user, const char *from, const char *to);
    weft_result (*remove)(void *user, const char *path);
    /* Makes a rename into the directory of `path` durable. */
    weft_result (*sync_directory)(void *user, const char *path);
    /* Makes whole pages of weft_os.map writable or read-only. */
    weft_result (*protect)(void *user, void *memory, size_t bytes, bool is_writable);
};

/* The file table of a seam; never NULL. */
WEFT__DOOR const weft__os_files *weft__os_files_of(const weft_os *os);
