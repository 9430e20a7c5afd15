/* SPDX-License-Identifier: MIT */
/* entity_tag.h: the world's tag in stored handles: which one a world has, and handles taken out of
 * their world (hash, files) and put into one.
 *
 * Checked builds count the living worlds of each tag in words of the process, because the worlds
 * that must have different tags do not know of each other: they are made by any thread, over any
 * pool. Release builds have no such words.
 *
 * Edges, on the count of one tag; they are atomic, and order nothing else:
 * T1  obtain: CAS of 0 to 1   <->  obtain of another thread: the same. One of the two has the tag
 * T2  obtain of a tag that is asked for, or shared: add of 1  <->  obtain: CAS of 0 to 1. A tag
 *     that a living world has is not given to one that asks for none
 * T3  release: sub of 1        ->  obtain: CAS of 0 to 1. Given again after the last world is gone
 *
 * A handle in values lies at any address, so it is looked at by its byte with the tag: the fourth,
 * as every supported machine is little-endian. With tag 0 there is nothing to do. */
#pragma once

#include "component_type.h"
#include "directory.h"
#include "invariant.h"

#define WEFT__ENTITY_TAG_BYTE 3u /* of a stored handle */

/* The tag of a new world whose descriptor asks for `wanted` (weft_world_desc.entity_tag), which it
 * has until weft__entity_tag_release. Threads: any. */
uint32_t weft__entity_tag_obtain(uint32_t wanted);
void weft__entity_tag_release(uint32_t tag);

static inline uint32_t weft__entity_tag(uint32_t index)
{
    return index >> WEFT__ENTITY_TAG_SHIFT;
}

/* Whether a handle was never one of this world: alive or dead, it has another tag. */
static inline bool weft__entity_is_foreign(const weft__directory *directory, weft_entity entity)
{
    return (entity.version & 1) != 0 && weft__entity_tag(entity.index ^ directory->tag_bits) != 0;
}

/* The position of the first foreign entity, or `count`. Release builds do not look, and return
 * `count`: the calls that ask skip such entities as dead ones. */
static inline uint32_t weft__foreign_find(const weft__directory *directory,
                                          const weft_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; WEFT_IS_CHECKED && i < count; i++)
        if (weft__entity_is_foreign(directory, entities[i])) return i;
    return count;
}

/* Whether values of the type change when they leave or enter the world. */
static inline bool weft__type_has_tags(const weft__directory *directory, const weft__type *type)
{
    return directory->tag_bits != 0 && type->entity_offset_count != 0;
}

/* A part of values of one type that lie side by side: bytes [from, from + count) of them, and where
 * they were copied to (or are). */
typedef struct weft__value_bytes {
    char *bytes;
    size_t from, count;
} weft__value_bytes;

/* Takes the tag of the world off the handles in a part of `values`, or puts it on: both are one
 * exclusive or, so that handles of other worlds stay foreign whatever tag the reader has. Null and
 * deferred handles have no tag. */
void weft__tags_flip(const weft__directory *directory, const weft__type *type, const char *values,
                     weft__value_bytes part);
