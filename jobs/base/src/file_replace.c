/* SPDX-License-Identifier: MIT */
/* file_replace.c: replaces a file so that a crash at any point leaves the old or the new one
 * (os_file.h). The order write, sync, rename, sync directory is what makes it hold: a rename that
 * reaches the disk before the data would leave an empty file after a power cut. */
#include "file_replace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES_MAX 4000
#define WRITERS_MAX 16

/* One replacement. On the stack of weft__file_replace. */
typedef struct replacement {
    const weft__os_files *files;
    const char *path;                /* as the caller wrote it */
    char place[PATH_BYTES_MAX + 96]; /* of the file that is replaced */
    char temporary[PATH_BYTES_MAX + 112];
    bool is_new; /* there is no file at `place` */
    weft__file_problem *problem;
} replacement;

static weft_result failed(const replacement *r, weft_result result, const char *operation)
{
    return weft__file_failed(r->problem, result, operation, r->path);
}

/* Anything but a regular file would be lost, not replaced. */
static weft_result find_place(replacement *r)
{
    const size_t bytes = strlen(r->path);
    weft__os_kind kind;
    errno = 0;
    if (bytes == 0 || bytes > PATH_BYTES_MAX) {
        if (bytes > PATH_BYTES_MAX) errno = ENAMETOOLONG;
        return failed(r, WEFT_INVALID_ARGUMENT, "write");
    }
    const size_t place_bytes = PATH_BYTES_MAX + 1;
    weft_result result = r->files->locate(r->files->user, r->path, r->place, place_bytes, &kind);
    if (result != WEFT_OK) return failed(r, result, "write");
    r->is_new = kind == WEFT__OS_NOTHING;
    if (r->is_new || kind == WEFT__OS_REGULAR_FILE) return WEFT_OK;
    return weft__file_refused(r->problem, kind, "replace", r->path);
}

/* Opens the first temporary name that no live writer holds. */
static weft_result open_temporary(replacement *r, weft__os_file *out)
{
    weft_result result = WEFT_BUSY;
    for (unsigned attempt = 0; attempt < WRITERS_MAX && result == WEFT_BUSY; attempt++) {
        snprintf(r->temporary, sizeof r->temporary, "%s.new%u", r->place, attempt);
        errno = 0;
        result = r->files->open_write(r->files->user, r->temporary, out);
    }
    if (result == WEFT_OK) return WEFT_OK;
    if (result == WEFT_BUSY) errno = 0;
    return failed(r, result, "create a file to replace");
}

static weft_result write_pieces(const replacement *r, weft__os_file file,
                                const weft__file_piece *pieces, size_t piece_count)
{
    const weft__os_files *files = r->files;
    errno = 0;
    if (!r->is_new) { /* before the first byte: what was private is never readable by others */
        weft_result result = files->keep_mode(files->user, file, r->place);
        if (result != WEFT_OK && result != WEFT_NOT_FOUND) /* gone meanwhile: a new one */
            return failed(r, result, "keep the permissions of");
    }
    for (size_t i = 0; i < piece_count; i++) {
        if (pieces[i].count == 0) continue;
        weft_result result = files->write(files->user, file, pieces[i].bytes, pieces[i].count);
        if (result != WEFT_OK) return failed(r, result, "write");
    }
    weft_result result = files->sync(files->user, file);
    if (result != WEFT_OK) return failed(r, result, "sync");
    /* The lock is held over the rename: no other writer may take the temporary file. */
    result = files->rename(files->user, r->temporary, r->place);
    return result == WEFT_OK ? WEFT_OK : failed(r, result, "rename a new file to");
}

weft_result weft__file_replace(const weft_os *os, const char *path, const weft__file_piece *pieces,
                               size_t piece_count, weft__file_problem *problem)
{
    replacement r = {.files = weft__os_files_of(os), .path = path, .problem = problem};
    const weft__os_files *files = r.files;
    weft__os_file file;
    if (problem != NULL) problem->text[0] = '\0';
    weft_result result = find_place(&r);
    if (result == WEFT_OK) result = open_temporary(&r, &file);
    if (result != WEFT_OK) return result;
    result = write_pieces(&r, file, pieces, piece_count);
    if (result != WEFT_OK) {
        files->remove(files->user, r.temporary);
        files->close(files->user, file);
        return result;
    }
    errno = 0;
    if (files->close(files->user, file) != WEFT_OK)
        result = failed(&r, WEFT_IO, "close the new file, which is in place, perhaps not durably,");
    errno = 0;
    if (files->sync_directory(files->user, r.place) != WEFT_OK)
        result = failed(&r, WEFT_IO, "sync the directory of the new file, which is in place,");
    return result;
}
