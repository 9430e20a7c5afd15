/* entity_tag.c: which tag a world has, and tags in stored handles.
 *
 * Edges:
 * T1  hold: or of a bit <-> release: and of it: atomic, so that two living worlds have different
 *     bits; nothing else is ordered by them */
#include "entity_tag.h"

#include "atomic.h"
#include "bits.h"
#include "invariant.h"

/* Tags of living worlds, of the process: bit t is set while a world holds tag t. */
static weft_a32 *held_tags(void)
{
    static weft_a32 x_held;
    return &x_held;
}

/* True: this call set the bit. */
static bool hold(uint32_t tag)
{
    return (at_or_ar(held_tags(), 1u << tag) >> tag & 1) == 0; /* T1 */
}

uint32_t weft__entity_tag_obtain(uint32_t wanted, uint32_t *held)
{
    uint32_t tag = wanted == WEFT_WITHOUT_ENTITY_TAG ? 0 : wanted;
    *held = 0;
    if (wanted == 0 && !WEFT_IS_CHECKED) return 0;
    if (wanted == 0) {
        for (tag = 0; tag <= WEFT__ENTITY_TAG_LAST; tag++) {
            if (!hold(tag)) continue;
            *held = 1u << tag;
            return tag;
        }
        return WEFT__ENTITY_TAG_LAST; /* more worlds than tags: the last one is shared */
    }
    if (hold(tag)) *held = 1u << tag;
    return tag;
}

void weft__entity_tag_release(uint32_t held)
{
    if (held != 0) at_and_ar(held_tags(), ~held); /* T1 */
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
