/* world_file.c: weft_world_save and weft_world_load: the bytes of world_file_write.c and
 * world_file_read.c to and from files. */
#include "os_file.h"
#include "world_file_format.h"

static weft_result file_error(const weft_world *world, weft_result result, const char *what,
                              const char *path)
{
    return weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT, "%s: \"%.200s\": %s",
                       what, path, weft_result_text(result));
}

weft_result weft_world_save(weft_world *world, const char *path, const weft_save_desc *desc)
{
    static const weft_save_desc everything;
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (desc == NULL) desc = &everything;
    if (path == NULL || (desc->without_count != 0 && desc->without == NULL))
        return weft__error_argument(world, "weft_world_save",
                                    "path is NULL, or desc->without, but its count is not 0");
    weft_result result = weft__idle(world, "weft_world_save");
    if (result != WEFT_OK) return result;
    weft__world_bytes bytes;
    result = weft__world_write(world, desc, &bytes);
    if (result != WEFT_OK) return result;
    weft__file_piece piece = {bytes.bytes, bytes.count};
    result = weft__file_replace(world->desc.os, path, &piece, 1);
    weft__world_bytes_free(world, &bytes);
    return result == WEFT_OK ? WEFT_OK : file_error(world, result, "weft_world_save", path);
}

weft_result weft_world_load(weft_world *world, const char *path, const weft_load_desc *desc)
{
    static const weft_load_desc no_blobs;
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (desc == NULL) desc = &no_blobs;
    if (path == NULL || (desc->blob_type_count != 0 && desc->blob_types == NULL))
        return weft__error_argument(world, "weft_world_load",
                                    "path is NULL, or desc->blob_types, but its count is not 0");
    weft_result result = weft__idle(world, "weft_world_load");
    if (result != WEFT_OK) return result;
    const weft__os_files *files = weft__os_files_of(world->desc.os);
    weft__os_file file;
    uint64_t count;
    result = files->open_read(files->user, path, &file, &count);
    if (result != WEFT_OK) return file_error(world, result, "weft_world_load", path);
    char *bytes = weft__alloc(&world->memory, WEFT__MEMORY_COMMANDS, count + 1, 1, 16);
    result = bytes == NULL ? WEFT_OUT_OF_MEMORY : files->read(files->user, file, bytes, count, 0);
    files->close(files->user, file);
    result = result == WEFT_OK ? weft__world_read(world, bytes, count, desc, true)
                               : file_error(world, result, "weft_world_load", path);
    weft__free(&world->memory, WEFT__MEMORY_COMMANDS, bytes, count + 1, 1, 16);
    return result;
}
