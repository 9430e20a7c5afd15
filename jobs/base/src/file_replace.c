/* file_replace.c: replaces a file so that a crash at any point leaves the old or the new one
 * (os_file.h). The order write, sync, rename, sync directory is what makes it hold: a rename that
 * reaches the disk before the data would leave an empty file after a power cut. */
#include "os_file.h"

#include <stdio.h>
#include <string.h>

#define PATH_BYTES_MAX 4000
#define WRITERS_MAX 16

static weft_result write_pieces(const weft__os_files *files, weft__os_file file,
                                const weft__file_piece *pieces, size_t piece_count)
{
    for (size_t i = 0; i < piece_count; i++) {
        if (pieces[i].count == 0) continue;
        weft_result result = files->write(files->user, file, pieces[i].bytes, pieces[i].count);
        if (result != WEFT_OK) return result;
    }
    return files->sync(files->user, file);
}

/* Opens the first temporary name that no live writer holds. */
static weft_result open_temporary(const weft__os_files *files, const char *path, char *temporary,
                                  weft__os_file *out)
{
    for (unsigned attempt = 0; attempt < WRITERS_MAX; attempt++) {
        snprintf(temporary, PATH_BYTES_MAX + 16, "%s.new%u", path, attempt);
        weft_result result = files->open_write(files->user, temporary, out);
        if (result != WEFT_BUSY) return result;
    }
    return WEFT_BUSY;
}

weft_result weft__file_replace(const weft_os *os, const char *path, const weft__file_piece *pieces,
                               size_t piece_count)
{
    const weft__os_files *files = weft__os_files_of(os);
    if (path[0] == '\0' || strlen(path) > PATH_BYTES_MAX) return WEFT_INVALID_ARGUMENT;
    char temporary[PATH_BYTES_MAX + 16];
    weft__os_file file;
    weft_result result = open_temporary(files, path, temporary, &file);
    if (result != WEFT_OK) return result;
    result = write_pieces(files, file, pieces, piece_count);
    /* The lock is held over the rename: nobody may take the temporary file over before. */
    if (result == WEFT_OK) result = files->rename(files->user, temporary, path);
    if (result != WEFT_OK) files->remove(files->user, temporary);
    files->close(files->user, file);
    return result == WEFT_OK ? files->sync_directory(files->user, path) : result;
}
