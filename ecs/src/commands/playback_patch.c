/* SPDX-License-Identifier: MIT */
/* playback_patch.c: deferred handles in recorded values become those of the entities they mean. Any
 * worker, own rows. */
#include "playback_patch.h"
#include "component_type.h"

/* What a visited reference is resolved by; lives for one call. */
typedef struct patch {
    const weft__playback *playback;
    const weft__command_segment *segment;
} patch;

static bool patch_reference(void *user, weft__reference *r)
{
    const patch *p = user;
    if (!r->is_blob) r->entity = weft__playback_resolve(p->playback, p->segment, r->entity);
    return true;
}

void weft__playback_patch_rows(const weft__playback *playback, const weft__command_segment *segment,
                               const weft__type *type, void *values, uint32_t count)
{
    patch p = {playback, segment};
    weft__type_references(type, values, count, patch_reference, &p);
}

void weft__playback_patch(const weft__playback *playback, const weft__command_segment *segment,
                          const weft__type *type, void *elements, uint32_t count)
{
    patch p = {playback, segment};
    weft__elements_references(type, elements, count, patch_reference, &p);
}
