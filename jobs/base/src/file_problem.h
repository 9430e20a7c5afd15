/* SPDX-License-Identifier: MIT */
/* file_problem.h: files are read, and what failed is kept for the error text.
 *
 * Any thread, one at a time per source. */
#pragma once

#include "os_file.h"

/* Why a file operation failed, in a sentence: the operation, the path and the system's reason; ""
 * when nothing failed. Owner: the caller's stack. */
typedef struct weft__file_problem {
    char text[384];
} weft__file_problem;

/* Writes the sentence and returns `result`; to be called before anything changes errno. `operation`
 * reads after "cannot": "open", "read". `problem` may be NULL. */
weft_result weft__file_failed(weft__file_problem *problem, weft_result result,
                              const char *operation, const char *path);
/* The same for a file of a kind that cannot be used. Returns WEFT_IO. */
weft_result weft__file_refused(weft__file_problem *problem, weft__os_kind kind,
                               const char *operation, const char *path);
/* A regular file that is read. Owner: one thread, between open and close. */
typedef struct weft__file_source {
    const weft__os_files *files;
    const char *path; /* the caller's */
    weft__os_file file;
    uint64_t bytes;             /* its size when it was opened */
    weft__file_problem problem; /* of the last call that failed */
} weft__file_source;

/* Opens a regular file; another kind of file is WEFT_IO and named. On failure only `problem` holds
 * anything. */
WEFT__DOOR weft_result weft__file_open(const weft_os *os, const char *path, weft__file_source *out);
/* Exactly `bytes` bytes from `offset`. */
WEFT__DOOR weft_result weft__file_read(weft__file_source *source, void *to, size_t bytes,
                                       uint64_t offset);
WEFT__DOOR void weft__file_close(weft__file_source *source);
