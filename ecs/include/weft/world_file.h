/* world_file.h: worlds as files, as bytes in memory and as streams.
 *
 * Public. A file holds the types, entities (with their handles), values, buffers, shared and chunk
 * values, enable bits, names, resources and the blobs that components refer to. A loaded world has
 * the same weft_world_hash as the saved one (its own entity tag is put on handles), and the same
 * operations go on having the same results in both: also in layout and order of queries, with
 * archetypes made before loading behind those of the file as soon as they are used or asked for
 * again. Files are untrusted: every byte is checked before use, but for what values mean. Memory
 * and streams hold the bytes of the file. */
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
    uint64_t bytes_max; /* a larger file, array or stream is LIMIT; 0: any size */
} weft_load_desc;

/* Where a stream goes: a socket, a pipe, a compressor, ... */
typedef struct weft_writer {
    /* Takes the next `count` bytes, at most 1 MiB, all of them. Any other result than WEFT_OK ends
     * the save, which returns it. */
    weft_result (*write)(void *user, const void *bytes, size_t count);
    void *user;
} weft_writer;

/* Where a stream comes from. */
typedef struct weft_reader {
    /* Writes up to `capacity` (never 0) bytes to `to` and tells how many; 0: the stream has ended.
     * Any other result than WEFT_OK ends the load, which returns it. */
    weft_result (*read)(void *user, void *to, size_t capacity, size_t *count);
    void *user;
} weft_reader;

/* Bytes from the world's memory hook; they end with weft_world_bytes_free. */
typedef struct weft_world_bytes {
    char *bytes;
    size_t count, capacity;
} weft_world_bytes;

/* Writes the world to a new file, syncs it and renames it over `path`: after a crash or an error
 * there is the old file or the new one, whole. Only regular files are replaced: a directory,
 * device, FIFO or socket is refused with IO (weft_world_save_stream writes into one); a symbolic
 * link stays, the file it leads to is replaced (IO when it leads nowhere). The same state gives the
 * same bytes. Values are written as their bytes (zero the padding of your structs), ENTITY fields
 * as handles, described BLOB fields as the blob. A type whose hooks copy or destruct needs the
 * hooks `save` and `load` (weft_component_hooks), unless it has described BLOB fields and no
 * construct hook: then these are what its destruct hook releases. `desc` may be NULL. Systems,
 * queries and versions are not written. Threads: owner, world idle. Errors: INVALID_ARGUMENT,
 * WRONG_PHASE, BAD_HANDLE, UNSUPPORTED (a type that cannot be written: the text names it), IO (the
 * text of weft_world_error tells the operation, the path and the system's reason), BUSY (16 others
 * write to this path now), OUT_OF_MEMORY. Cost: the bytes, held in memory once, and up to twice
 * more for a moment while buffers, hooked values and blobs outgrow the estimate. */
WEFT_API weft_result weft_world_save(weft_world *world, const char *path,
                                     const weft_save_desc *desc);
/* The same into memory: `out` gets bytes that the caller frees. On failure it is empty.
 * Threads: owner, world idle. Errors: as weft_world_save but IO and BUSY. */
WEFT_API weft_result weft_world_save_memory(weft_world *world, weft_world_bytes *out,
                                            const weft_save_desc *desc);
/* Frees what weft_world_save_memory of this world gave, before the world ends, and empties it. NULL
 * and empty bytes are ignored. Threads: owner. */
WEFT_API void weft_world_bytes_free(weft_world *world, weft_world_bytes *bytes);
/* The same into a stream, in order, when all bytes are made. Threads: owner, world idle; the
 * callback runs on the caller's thread and may not use the world. Errors: as
 * weft_world_save_memory, and what the writer returned. */
WEFT_API weft_result weft_world_save_stream(weft_world *world, const weft_writer *writer,
                                            const weft_save_desc *desc);

/* Fills a new world from a file: one in which no entity was ever created (weft_world_transfer
 * brings it into another). Types are found by name and must have the same weft_component_hash;
 * missing ones without hooks are registered, without write groups. Every value counts as changed
 * once. Blobs go to weft_world_blobs: each BLOB field of a type with a destruct hook gets a
 * reference of its own, others share one that the store keeps. `desc` may be NULL. Threads: owner,
 * world idle. Errors (no entity is there then, resources are as before; types and archetypes made
 * meanwhile stay; weft_world_error tells the check and the byte): INVALID_ARGUMENT, WRONG_PHASE
 * (not new, or not idle), NOT_FOUND, IO (also: not a regular file), CORRUPT, UNSUPPORTED (another
 * version or byte order), TYPE_MISMATCH (a type is different, or needs hooks, or a blob type was
 * not given), LIMIT (bytes_max; the limits of the world's descriptor bound what a file may take),
 * OUT_OF_MEMORY. Cost: in proportion to the bytes, which are held in memory once. */
WEFT_API weft_result weft_world_load(weft_world *world, const char *path,
                                     const weft_load_desc *desc);
/* The same from `count` bytes at any address, which are only read, and not needed afterwards.
 * Threads: owner, world idle. Errors: as weft_world_load but NOT_FOUND and IO. */
WEFT_API weft_result weft_world_load_memory(weft_world *world, const void *bytes, size_t count,
                                            const weft_load_desc *desc);
/* The same from a stream. Takes exactly the bytes of one world, so that more may follow; memory
 * grows with what arrives, not with what the stream says it holds. Threads: owner, world idle; the
 * callback runs on the caller's thread and may not use the world. Errors: as weft_world_load_memory
 * (CORRUPT also when the stream ends early), and what the reader returned. */
WEFT_API weft_result weft_world_load_stream(weft_world *world, const weft_reader *reader,
                                            const weft_load_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
