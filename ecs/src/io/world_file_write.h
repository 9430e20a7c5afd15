/* SPDX-License-Identifier: MIT */
/* world_file_write.h: the bytes of a world file, and what writer and reader share.
 *
 * Little-endian, unaligned, one stream behind the header, in this order:
 *
 *     types       u32 count, then each: text name, u64 hash, u32 flags, size, alignment, inline
 *                 elements, chunk row limit, u8 has hooks, u32 fields, each: text name, u32 kind
 *                 (weft__kind_number), offset, count; u32 relation (weft__relation_word), u32
 *                 required types, u32 type[] before this one. In order of registration; used ones,
 *                 relations, their depths, and what they require only
 *     archetypes  u32 count, then each (those without rows, too, as far as their types can be
 *                 written: their order is that of iteration): u32 types, u32 type[], u32 chunks,
 *                 then each chunk: u32 id, u32 size class, u32 rows, per SHARED type u8 0
 *                 (default) or 1 and the value, entities, then per type in this order:
 *                   CHUNK       the value
 *                   ENABLEABLE  u8 0 (all enabled) or 1 and u64 disabled bits[]
 *                   column      rows x value
 *                 A value is its bytes; with hooks u32 bytes and what `save` made; a buffer is u32
 *                 elements, then each as a value. BLOB fields hold 0 or the number of the blob
 *                 from 1 in the order of first mention. Entities and ENTITY fields are
 *                 without the tag of the world: xor-ed with it, so that a handle of
 *                 another world stays one
 *                 Behind the chunks those with room, as each goes to the head of the list of its
 *                 tuple: u32 count, u32 position[]
 *     dead        u32 count, then each: u32 index, u32 version (of an index that is not alive; the
 *                 last version of all: retired)
 *     names       u32 count, then each: entity, text; in order of rows
 *     resources   per RESOURCE type of the list: u32 bytes and the value (hooks: what `save` made);
 *                 a buffer as in a column
 *     runs        u32 count, then each: u8 0 (system) or 1 (group), text name, f64 elapsed, timer
 *                 (weft__kept_run); groups first, by name
 *     blobs       (at blobs_at) u32 count, then each: u64 type hash, u64 bytes, the block
 *
 * text: u32 bytes, then the bytes. The content hash covers everything behind itself. Version 4 has
 * no relations, no required types and no runs. */
#pragma once

#include "pack_rows.h"
#include "world_state.h"

#include <weft/world_file.h>

/* A list that grows. Owner: one save or load. */
typedef struct weft__run_list {
    weft_world *world;
    weft__kept_run *at;
    uint32_t count, capacity; /* as of a WEFT__LIST */
    bool is_out_of_memory;
} weft__run_list;

/* Adds a copy, unless there is no memory. */
void weft__run_list_add(weft__run_list *list, const weft__kept_run *run);
void weft__run_list_free(weft__run_list *list);
/* Those of the systems and groups, and those that still wait for theirs: groups first, by name. */
void weft__run_list_collect(weft__run_list *list);
/* NULL, or why a run that was read cannot be. */
const char *weft__run_problem(const weft__kept_run *run);
/* Gives the list, which is empty then, to the world: systems and groups take theirs, now or when
 * they are created. */
void weft__run_list_give(weft__run_list *list);

#define WORLD_FILE_MAGIC                                                                           \
    UINT64_C(0x0A1A646C726F5774) /* "tWorld", then two bytes text mode changes */
#define WORLD_FILE_VERSION 5u
#define WORLD_FILE_VERSION_LEAST 4u /* that is read */
#define WORLD_FILE_BYTE_ORDER 0x01020304u
#define WORLD_FILE_SEED UINT64_C(0x5EED0FA3B0F17E55)

/* The first bytes of a file. A value. Always: sizeof(weft__world_header) <= blobs_at <=
 * total_bytes. */
typedef struct weft__world_header {
    uint64_t magic, content_hash;
    uint32_t version, byte_order;
    uint64_t total_bytes, blobs_at; /* from the start of the file */
    uint64_t entity_count;          /* alive and dead ones listed */
    uint64_t steps;                 /* the clock of the world */
    double time;                    /* seconds, finite and not negative, as dt */
    float dt;
    uint32_t reserved; /* 0 */
} weft__world_header;
static_assert(sizeof(weft__world_header) == 72, "file format");

/* NULL, or why values of the type can be neither written nor read. */
const char *weft__type_save_problem(const weft__type *type);
/* What joins it to "leave it out": another thing that can be done, or nothing. */
static inline const char *weft__save_advice(const weft__type *type)
{
    return type->desc.shared_release != NULL ? ":" : ", or";
}
/* The whole file in memory. `out` belongs to the caller: weft_world_bytes_free. Error set. */
weft_result weft__world_write(weft_world *world, const weft_save_desc *desc, weft_world_bytes *out);
