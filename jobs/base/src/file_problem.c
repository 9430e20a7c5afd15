/* SPDX-License-Identifier: MIT */
/* file_problem.c: why a file operation failed, in words, and reading with such words
 * (os_file.h). */
#include "file_problem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *kind_text(weft__os_kind kind)
{
    switch (kind) {
    case WEFT__OS_NOTHING:
        return "nothing";
    case WEFT__OS_REGULAR_FILE:
        return "a regular file";
    case WEFT__OS_DIRECTORY:
        return "a directory";
    case WEFT__OS_CHARACTER_DEVICE:
        return "a character device";
    case WEFT__OS_BLOCK_DEVICE:
        return "a block device";
    case WEFT__OS_FIFO:
        return "a FIFO or pipe";
    case WEFT__OS_SOCKET:
        return "a socket";
    case WEFT__OS_BROKEN_LINK:
        return "a symbolic link that leads nowhere";
    case WEFT__OS_OTHER:
        break;
    }
    return "no regular file";
}

/* The system's words for an errno; `buffer` may hold them. */
static const char *reason_text(int reason, char *buffer, size_t bytes)
{
#ifdef __GLIBC__
    return strerror_r(reason, buffer, bytes);
#else
    return strerror_r(reason, buffer, bytes) == 0 ? buffer : "unknown reason";
#endif
}

weft_result weft__file_failed(weft__file_problem *problem, weft_result result,
                              const char *operation, const char *path)
{
    const int reason = errno;
    char buffer[96];
    if (problem == NULL) return result;
    const char *why =
        reason != 0 ? reason_text(reason, buffer, sizeof buffer) : weft_result_text(result);
    if (result == WEFT_BUSY) why = "others write it now: try again later, or name another file";
    if (result == WEFT_INVALID_ARGUMENT && reason == 0) why = "the path is empty";
    snprintf(problem->text, sizeof problem->text, "cannot %s \"%.200s\": %s", operation, path, why);
    return result;
}

weft_result weft__file_refused(weft__file_problem *problem, weft__os_kind kind,
                               const char *operation, const char *path)
{
    if (problem != NULL)
        snprintf(problem->text, sizeof problem->text,
                 "cannot %s \"%.200s\": it is %s, not a regular file", operation, path,
                 kind_text(kind));
    return WEFT_IO;
}

weft_result weft__file_open(const weft_os *os, const char *path, weft__file_source *out)
{
    const weft__os_files *files = weft__os_files_of(os);
    char place[4096];
    weft__os_kind kind;
    *out = (weft__file_source){.files = files, .path = path};
    errno = 0;
    weft_result result = files->open_read(files->user, path, &out->file, &out->bytes);
    if (result == WEFT_OK) return WEFT_OK;
    weft__file_failed(&out->problem, result, "open", path);
    if (result != WEFT_IO) return result;
    bool is_known = files->locate(files->user, path, place, sizeof place, &kind) == WEFT_OK;
    if (is_known && kind != WEFT__OS_NOTHING && kind != WEFT__OS_REGULAR_FILE)
        weft__file_refused(&out->problem, kind, "read", path);
    return result;
}

weft_result weft__file_read(weft__file_source *source, void *to, size_t bytes, uint64_t offset)
{
    errno = 0;
    weft_result result = source->files->read(source->files->user, source->file, to, bytes, offset);
    if (result == WEFT_OK) return WEFT_OK;
    const bool has_ended = errno == 0;
    weft__file_failed(&source->problem, result, "read", source->path);
    if (has_ended)
        snprintf(source->problem.text, sizeof source->problem.text,
                 "cannot read \"%.200s\": it became shorter while it was read: read it again",
                 source->path);
    return result;
}

void weft__file_close(weft__file_source *source)
{
    source->files->close(source->files->user, source->file); /* nothing was written */
}
