/* SPDX-License-Identifier: MIT */
/* world_file.h: worlds as files, as bytes in memory and as streams, all with the same bytes.
 *
 * Public. In a file: types, entities with their handles, values, buffers, shared and chunk
 * values, enable bits, names, resources, the blobs that components refer to, the number, time
 * and dt of the last step (weft_world_frame), what relations do, and how far timers and fixed
 * rates of systems and groups are. Not in it: systems, queries and groups themselves, which a
 * program registers before or after the load: those of a saved name go on where they were.
 *
 * Files are version 5; those of version 4, which have no relations, timers and rates, are read,
 * too. A loaded world has the same weft_world_hash as the saved one; handles get its own entity
 * tag. From then on the same operations have the same results in both, also in layout and in the
 * order of queries; archetypes made before loading come last once they are used or created
 * again. Files are untrusted: every byte is checked before use, except what values mean.
 *
 * Callbacks may not use the world: in them, and in hooks that save and load values, calls that
 * change or end it are WRONG_PHASE. */
#ifndef WEFT_WORLD_FILE_H
#define WEFT_WORLD_FILE_H

#include <weft/component.h>
#include <weft/load_report.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_blob_type weft_blob_type; /* <weft/blob.h> */

/* ---- descriptions ---- */

/* What is saved. Zero means default. */
typedef struct weft_save_desc {
    /* Components that are left out: loaded entities lack them, and residues with no others end. */
    const weft_component *without;
    uint32_t without_count;
} weft_save_desc;

/* A component or a field that had another name when the file was saved. */
typedef struct weft_load_rename {
    const char *type;  /* the component, as the file names it */
    const char *field; /* its path in the file: "drag", "hull.mass", or that of a struct, "hull";
                          NULL: the component itself */
    const char *to;    /* the name, of a registered component, or the path now */
} weft_load_rename;

/* Changes the values of another layout where names and kinds of fields do not say how. */
typedef struct weft_load_migration {
    const char *type; /* the component, as it is named now */
    uint64_t from;    /* weft_component_hash of the layout in the file; 0: any but the current */
    /* `to` was filled by the names of fields; `from` has the `bytes` of the value in the file,
     * at any address. References are as the file has them, and may be copied only. Returns NULL,
     * or why the value is refused (static text). Runs on the caller's thread; may not use the
     * world. */
    const char *(*migrate)(void *to, const void *from, size_t bytes, void *user);
    void *user;
} weft_load_migration;

/* How a field of the file differs from that of the world. */
typedef enum weft_load_change_kind {
    WEFT_LOAD_ADDED,     /* not in the file: has the value of weft_type.initial, or zero */
    WEFT_LOAD_DROPPED,   /* only in the file: its values are not loaded */
    WEFT_LOAD_RENAMED,   /* by weft_load_desc.renames */
    WEFT_LOAD_CONVERTED, /* a number of another kind */
    WEFT_LOAD_LONGER,    /* an array that has more elements now */
    WEFT_LOAD_SHORTER,   /* fewer: the last ones are not loaded; text and bytes must fit */
} weft_load_change_kind;

/* One difference between a layout in the file and that of the world. */
typedef struct weft_load_change {
    const char *type;  /* the component, as it is named now */
    const char *field; /* its path: of a dropped one in the file, else now */
    weft_load_change_kind kind;
} weft_load_change;

/* What a load accepts and reports. Zero means default. */
typedef struct weft_load_desc {
    const weft_blob_type *const *blob_types; /* of the blobs that the file may hold */
    uint32_t blob_type_count;
    const weft_load_rename *renames; /* the first that fits counts */
    uint32_t rename_count;
    const weft_load_migration *migrations; /* the first that fits counts */
    uint32_t migration_count;
    /* Called for each difference between a layout in the file and that of the world, before values
     * are read. `change` is valid during the call. May not use the world. NULL: not wanted. */
    void (*changed)(const weft_load_change *change, void *user);
    void *changed_user;
    uint64_t bytes_max;       /* a larger file or array is LIMIT; 0: any size */
    weft_load_report *report; /* why the load was refused; filled by every load. NULL: not wanted */
    size_t report_bytes;      /* sizeof *report */
} weft_load_desc;

/* Where text goes: for example a file, a socket or a pipe. */
typedef struct weft_writer {
    /* Must take all of the next `count` bytes, at most 1 MiB. Any result but WEFT_OK ends the
     * save, which returns it. */
    weft_result (*write)(void *user, const void *bytes, size_t count);
    void *user;
} weft_writer;

/* Bytes from the world's memory hook; weft_world_bytes_free frees them. */
typedef struct weft_world_bytes {
    char *bytes;
    size_t count, capacity;
} weft_world_bytes;

/* ---- save ---- */

/* Writes the world to a new file, syncs it and renames it over `path`: after a crash or an error
 * the file is the old or the new one, complete. Only regular files are replaced: a directory,
 * device, FIFO or socket is refused with IO (write the bytes of weft_world_save_memory to one). A
 * symbolic link stays; the file it leads to is replaced (IO when it leads nowhere). The same state
 * gives the same bytes. Values are written as their bytes (zero the padding of your structs),
 * ENTITY fields as handles, described BLOB fields as the blob. A type with copy or destruct hooks
 * needs the hooks `save` and `load` (weft_component_hooks), unless it has described BLOB fields
 * and no construct hook: then its destruct hook is taken to release these fields. Systems, queries
 * and versions are not written. `desc` may be NULL. Threads: owner, between steps. Errors:
 * INVALID_ARGUMENT, WRONG_PHASE, BAD_HANDLE, UNSUPPORTED (a type that cannot be written: the text
 * names it), IO (the text names the operation, the path and the system's reason), BUSY (16 others
 * write to this path now), OUT_OF_MEMORY. Cost: holds the bytes in memory once, at times up to
 * three times, when buffers, hooked values and blobs exceed the estimate. */
WEFT_API weft_result weft_world_save(weft_world *world, const char *path,
                                     const weft_save_desc *desc);

/* As weft_world_save, into memory: `out` gets bytes that the caller frees. On failure it is empty.
 * Threads: owner, between steps. Errors: as weft_world_save, except IO and BUSY. */
WEFT_API weft_result weft_world_save_memory(weft_world *world, weft_world_bytes *out,
                                            const weft_save_desc *desc);

/* Frees the bytes of weft_world_save_memory and empties `bytes`. Call it before the world is
 * destroyed. NULL and empty bytes are ignored. Threads: owner. */
WEFT_API void weft_world_bytes_free(weft_world *world, weft_world_bytes *bytes);

/* ---- load ---- */

/* Fills a new world from a file. New means that no entity was ever created in it;
 * weft_world_transfer then moves the entities to another. Types are found by name; missing ones
 * without hooks are registered, with what they require. Relations of
 * the saved world that this one has not declared are declared (from a file of version 4 Parent
 * and InstanceOf, where it has them). Where the layout is another (weft_component_hash), fields
 * are matched by their paths: absent ones get the value of weft_type.initial, references null;
 * those that the world lacks are left out; numbers are converted, whole ones exactly, and must
 * fit. Values without described fields need their size, a migration, or to be tags on one side.
 * Values of hooks need the same layout, and so does the kind. Every value counts as changed
 * once. Blobs go to weft_world_blobs: each BLOB field of a type with a destruct hook gets a
 * reference of its own, others share one that the store keeps. `desc` may be NULL. Threads:
 * owner, between steps. Errors (the world has no entity then and its resources are as before;
 * types, relations and archetypes made by the load stay; the text names the check and the byte):
 * INVALID_ARGUMENT, WRONG_PHASE (not new, or not idle), NOT_FOUND, IO (also: not a regular
 * file), CORRUPT, UNSUPPORTED (another version or byte order), TYPE_MISMATCH (a type cannot be
 * converted, a number does not fit, hooks are needed, or a blob type was not given), LIMIT
 * (bytes_max; the limits of the world's descriptor bound what a file may take), OUT_OF_MEMORY.
 * Cost: in proportion to the bytes, which are held in memory once. */
WEFT_API weft_result weft_world_load(weft_world *world, const char *path,
                                     const weft_load_desc *desc);

/* As weft_world_load, from `count` bytes at any address, which are not used afterwards. Threads:
 * owner, between steps. Errors: as weft_world_load, except NOT_FOUND and IO. */
WEFT_API weft_result weft_world_load_memory(weft_world *world, const void *bytes, size_t count,
                                            const weft_load_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
