/* SPDX-License-Identifier: MIT */
/* entity_change.h: the lean way of one entity to another archetype, where nothing but bytes has to
 * be copied, with the value of the component that is added: for entity_change.c, and for
 * entity_set.c, which writes a value once, where the row goes. Owner, world idle. */
#ifndef WEFT_ENTITY_CHANGE_H
#define WEFT_ENTITY_CHANGE_H

#include "archetype_state.h"
#include "error.h"
#include "world_state.h"

#include <string.h>

/* A change of weft__quick: the component with its world, and a bit for removing. */
static inline uint64_t weft__change_key(weft_component component)
{
    static_assert(offsetof(weft_component, world) == 4 && sizeof component == 8, "packed");
    uint64_t bits;
    memcpy(&bits, &component, sizeof bits); /* as it came: in one register */
    return bits << 1;
}

/* The chunk of an entity, with its slot, if the world may be changed now; else NULL. */
static inline __attribute__((always_inline)) weft__chunk *
weft__changed_chunk(const weft_world *world, uint64_t entity, weft_a64 **x_slot, uint64_t *slot)
{
    if (!weft__is_idle(world)) return NULL;
    *x_slot = weft__directory_slot(&world->directory, (uint32_t)entity);
    if (__builtin_expect(*x_slot == NULL, 0)) return NULL;
    *slot = at_load_rlx(*x_slot); /* relaxed: idle */
    if (__builtin_expect((*slot ^ entity) >> 32 != 0 || (uint32_t)*slot == 0, 0)) return NULL;
    return world->berths.at[(uint32_t)*slot >> WEFT__BERTH_SHIFT].chunk;
}

/* Whether the quick way, whose key is that of the change, leads from this chunk: it does from all
 * of the same layout. */
static inline bool weft__quick_leads(weft__quick *quick, weft__chunk *from)
{
    if (__builtin_expect(quick->from != from, 0)) {
        if (quick->from == NULL || quick->plan->from != from->archetype ||
            quick->plan->from_layout != from->layout)
            return false;
        quick->from = from;
    }
    return quick->tuple->room == quick->to;
}

/* Takes the entity at a slot, whose row is in `from`, the quick way, which leads from there.
 * `value`: of the component that is added, of quick->bytes; NULL: zeroes. OK, or no memory. */
weft_result weft__row_leave(weft_world *world, weft_a64 *x_slot, uint64_t slot, const void *value);

/* Adds the component of a key, which is not for removing, with a value of `bytes` bytes, not NULL,
 * where nothing but bytes and bits has to be copied; *result: OK, or no memory. False: it is
 * otherwise (present, refused, special, of another size), and nothing was done. */
bool weft__entity_add_value(weft_world *world, uint64_t entity, uint64_t key, const void *value,
                            size_t bytes, weft_result *result);

#endif
