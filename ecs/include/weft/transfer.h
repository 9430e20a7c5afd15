/* SPDX-License-Identifier: MIT */
/* transfer.h: moving entities from one world to another.
 *
 * Public. Fill a second world, for example on another thread, then move its entities into the
 * one that runs. No hook runs: values only change their world. Both worlds must be idle; one
 * thread owns both during the call. */
#ifndef WEFT_TRANSFER_H
#define WEFT_TRANSFER_H

#include <weft/query.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- transfer ---- */

/* What moves. Zero means default: everything. */
typedef struct weft_transfer_desc {
    weft_query query;     /* of the source: which entities move; filters and enable bits count.
                             Null: all, with prefabs, inactive ones and residues */
    weft_entity *tracked; /* handles of the source that the caller holds: replaced by the new
                             handles, or null when the entity did not move. May be NULL. Checked
                             builds refuse entities of other worlds (BAD_HANDLE) */
    uint32_t tracked_count;
} weft_transfer_desc;

/* What a transfer did. */
typedef struct weft_transfer_report {
    uint64_t entities;           /* moved */
    uint64_t references_cleared; /* moved ENTITY fields set to null, because their entity did not
                                    move */
    uint64_t chunks_kept;        /* chunks that moved as a whole */
} weft_transfer_report;

/* Moves entities with their values, buffers, shared and chunk values, enable bits, cleanup
 * components and names. They get new handles (the lowest free ones, in the order of source
 * archetype, chunk and row); the old ones are dead. Described ENTITY fields, also in buffers
 * (linked groups), chunk values and SHARED values, lead to the new handles of entities that move in
 * the same call; others become null. Linked groups are not followed: select their members.
 *
 * Component types are found by name and must have the same weft_component_hash; missing ones are
 * registered with the source's description and hooks. Shared values are found by content, with
 * their new references.
 * Resources, systems and queries stay. Blobs that described BLOB fields refer to are copied to
 * the destination's store; a type with a destruct hook owns a reference per field, which moves
 * with the value; for other types the destination's store keeps one reference to each blob until
 * the store is destroyed.
 *
 * Every moved value counts as changed once, at the destination's version. A chunk that moves as
 * a whole stays a chunk, unless it is less than half full and others have room for its rows.
 *
 * `desc` and `report` may be NULL; `report_bytes`: sizeof *report. Threads: owner, world
 * idle; of both worlds.
 * Errors (both worlds keep their entities; the text is in weft_world_error(to); types and
 * archetypes made in `to` stay): INVALID_ARGUMENT (the same world twice, tracked_count without
 * tracked), WRONG_PHASE, BAD_HANDLE, TYPE_MISMATCH (a type of that name is different there), BUSY
 * (a value with a shared_release hook would be in both worlds: entities, filters or snapshots of
 * the source still use it), LIMIT, OUT_OF_MEMORY. Cost: O(rows moved + metadata). */
WEFT_API weft_result weft_world_transfer(weft_world *to, weft_world *from,
                                         const weft_transfer_desc *desc,
                                         weft_transfer_report *report, size_t report_bytes);

#ifdef __cplusplus
}
#endif
#endif
