/* SPDX-License-Identifier: MIT */
/* entity_tag.c: which tag a world has, and tags in stored handles.
 *
 * The counts of worlds are reached through one function, and by nothing else; entity_tag.h has the
 * edges that are cited here. */
#include "entity_tag.h"

/* Living worlds of the process that have each tag. Checked builds only. */
static weft_a32 *holders(uint32_t tag)
{
    static weft_a32 x_worlds[WEFT__ENTITY_TAG_LAST + 1];
    return &x_worlds[tag];
}

uint32_t weft__entity_tag_obtain(uint32_t wanted)
{
    uint32_t tag = wanted % WEFT_WITHOUT_ENTITY_TAG;
    if (!WEFT_IS_CHECKED) return tag;
    for (uint32_t free = 0; wanted == 0 && free <= WEFT__ENTITY_TAG_LAST; free++) {
        uint32_t none = 0;
        if (at_cas_ar(holders(free), &none, 1)) return free; /* T1 T2 T3 */
        tag = free;
    }
    at_add_ar(holders(tag), 1u); /* T2: asked for, or the last one, when every tag has a world */
    return tag;
}

void weft__entity_tag_release(uint32_t tag)
{
    if (WEFT_IS_CHECKED) at_sub_ar(holders(tag), 1u); /* T3 */
}

void weft__tags_flip(const weft__directory *directory, const weft__type *type, const char *values,
                     weft__value_bytes part)
{
    size_t size = type->desc.size, end = part.from + part.count;
    if (!weft__type_has_tags(directory, type)) return;
    for (size_t value = part.from / size * size; value < end; value += size)
        for (uint32_t i = 0; i < type->entity_offset_count; i++) {
            size_t at = value + type->entity_offsets[i], byte = at + WEFT__ENTITY_TAG_BYTE;
            uint32_t version;
            memcpy(&version, values + at + offsetof(weft_entity, version), sizeof version);
            if (byte < part.from || byte >= end || (version & 1) == 0) continue;
            part.bytes[byte - part.from] ^= (char)(directory->tag_bits >> 24);
        }
}
