/* SPDX-License-Identifier: MIT */
/* live_slots.h: entities of documents, by key and by entity.
 *
 * Owner. A slot's address holds until the next one is added. */
#ifndef WEFT_LIVE_SLOTS_H
#define WEFT_LIVE_SLOTS_H

#include "live_state.h"

#define WEFT__NONE UINT32_MAX

/* A slot by its key, by its entity; NULL: there is none. */
weft__live_slot *weft__live_slot_of(const weft_live *live, uint64_t key);
weft__live_slot *weft__live_slot_at(const weft_live *live, weft_entity entity);
/* A new slot without a base; NULL: memory. */
weft__live_slot *weft__live_slot_add(weft_live *live, uint64_t key, weft_entity entity,
                                     const char *path);
/* The object is gone; its base is freed. */
void weft__live_slot_remove(weft_live *live, weft__live_slot *slot);
/* The object has another entity; slots are at other addresses. False: memory. */
bool weft__live_slot_move(weft_live *live, uint64_t key, weft_entity entity);
/* The tables. */
void weft__live_slots_free(weft_live *live);

#endif
