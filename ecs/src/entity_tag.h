/* entity_tag.h: the world's tag in stored handles: which one a world has, and handles taken out of
 * their world (hash, files) and put into one.
 *
 * A handle in values lies at any address, so it is looked at by its byte with the tag: the fourth,
 * as every supported machine is little-endian. With tag 0 there is nothing to do. */
#ifndef WEFT_ENTITY_TAG_H
#define WEFT_ENTITY_TAG_H

#include "directory.h"
#include "types.h"

#include <string.h>

#define WEFT__ENTITY_TAG_BYTE 3u /* of a stored handle */

/* The tag of a new world whose descriptor asks for `wanted`; *held gets the bit that the world
 * keeps until weft__entity_tag_release, or 0. Threads: any. */
uint32_t weft__entity_tag_obtain(uint32_t wanted, uint32_t *held);
void weft__entity_tag_release(uint32_t held);

static inline uint32_t weft__entity_tag(uint32_t index)
{
    return index >> WEFT__ENTITY_TAG_SHIFT;
}

/* Whether a handle was never one of this world: alive or dead, it has another tag. */
static inline bool weft__entity_is_foreign(const weft__directory *directory, weft_entity entity)
{
    return (entity.version & 1) != 0 && weft__entity_tag(entity.index ^ directory->tag_bits) != 0;
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

#endif
