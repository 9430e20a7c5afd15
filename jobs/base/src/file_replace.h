/* SPDX-License-Identifier: MIT */
/* file_replace.h: a file is replaced as a whole, or stays as it was.
 *
 * Any thread. */
#pragma once

#include "file_problem.h"

/* A run of bytes to be written, borrowed for the call. A value. */
typedef struct weft__file_piece {
    const void *bytes;
    size_t count;
} weft__file_piece;

/* Replaces `path` by the pieces in order: writes `path`.new0 (.new1, ... when other writers hold
 * that), syncs it, renames it over `path`, syncs the directory. After a crash at any point `path`
 * is the old or the new file, complete; a left-over .new file is reused by the next save. Two
 * processes that save at once: the last complete one wins. Replaces regular files only, anything
 * else is WEFT_IO and named; a symbolic link stays, the file that it leads to is replaced. On
 * failure before the rename `path` is untouched and the temporary file removed; WEFT_IO after it
 * means that the new content is visible, yet perhaps not durable, and `problem` says so. `problem`
 * may be NULL. Threads: any. WEFT_INVALID_ARGUMENT for a path that is empty or longer than 4000
 * bytes. */
WEFT__DOOR weft_result weft__file_replace(const weft_os *os, const char *path,
                                          const weft__file_piece *pieces, size_t piece_count,
                                          weft__file_problem *problem);
