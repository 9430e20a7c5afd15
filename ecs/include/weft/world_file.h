/* world_file.h: worlds as files.
 *
 * Public. A file holds the types, entities (with their handles), values, buffers, shared and chunk
 * values, enable bits, names, singletons and the blobs that components refer to. A loaded world has
 * the same weft_world_hash as the saved one (of both kinds, when it made no archetypes before).
 * Files are untrusted: every byte is checked before use, but for what values mean. */
#ifndef WEFT_WORLD_FILE_H
#define WEFT_WORLD_FILE_H

#include <weft/blob.h>
#include <weft/component.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default. */
typedef struct weft_save_desc {
    const weft_component *without; /* components that are not written: entities lose them */
    uint32_t without_count;
} weft_save_desc;

/* Zero means default. */
typedef struct weft_load_desc {
    const weft_blob_type *const *blob_types; /* of the blobs that the file may hold */
    uint32_t blob_type_count;
} weft_load_desc;

/* Writes the world to a new file, syncs it and renames it over `path`: after a crash there is
 * the old file or the new one. The same state gives the same bytes. Values are written as their
 * bytes (zero the padding of your structs), ENTITY fields as handles, described BLOB fields as
 * the blob. A type whose hooks copy or destruct needs the hooks `save` and `load`
 * (weft_component_hooks), unless it has described BLOB fields and no construct hook: then these
 * are what its destruct hook releases. `desc` may be NULL. Systems, queries and versions are not
 * written. Threads: owner, world idle. Errors: INVALID_ARGUMENT, WRONG_PHASE, BAD_HANDLE,
 * UNSUPPORTED (a type that cannot be written: the text names it), IO, BUSY (16 others write to
 * this path now), OUT_OF_MEMORY. Cost: the bytes, held in memory once. */
WEFT_API weft_result weft_world_save(weft_world *world, const char *path,
                                     const weft_save_desc *desc);

/* Fills a new world from a file: one in which no entity was ever created (weft_world_transfer
 * brings it into another). Types are found by name and must have the same weft_component_hash;
 * missing ones without hooks are registered, without write groups. Every value counts as changed
 * once. Blobs go to weft_world_blobs: each BLOB field of a type with a destruct hook gets a
 * reference of its own, others share one that the store keeps. `desc` may be NULL. Threads:
 * owner, world idle. Errors (no entity is there then, singletons are as before; types and
 * archetypes made meanwhile stay; weft_world_error tells the check and the byte):
 * INVALID_ARGUMENT, WRONG_PHASE (not new), NOT_FOUND, IO, CORRUPT, UNSUPPORTED (another version
 * or byte order), TYPE_MISMATCH (a type is different, or needs hooks, or a blob type was not
 * given), LIMIT (the limits of the world's descriptor bound what a file may take),
 * OUT_OF_MEMORY. */
WEFT_API weft_result weft_world_load(weft_world *world, const char *path,
                                     const weft_load_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
