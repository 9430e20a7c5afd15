/* SPDX-License-Identifier: MIT */
/* shared.h: the store of shared component values: one list of values per SHARED type, de-duplicated
 * by content, each with a reference count.
 *
 * A value is known by its index; chunks hold tuples of indices, so that comparing values is
 * comparing numbers. Index 0 is the default (all zero): it is never stored and never counted. A
 * value lives while a chunk, a filter or a snapshot refers to it; then its release hook runs,
 * its slot goes to a free list and the index may name another value later. Values never move
 * while they live.
 *
 * Content means: the type's own hash and equality when it has them; else its described fields,
 * whatever lies in the padding, with -0.0 equal to 0.0; else all its bytes. */
#pragma once

#include "list.h"

#include <weft/component.h>

typedef struct weft__shared_type weft__shared_type;

/* Owned by the world. Written by the owner while the world is idle (playback included); values and
 * tuples may be read from jobs meanwhile, because nothing is released then. */
typedef struct weft__shared {
    weft__memory *memory;
    const weft_world *world;               /* of hooks; NULL: none */
    WEFT__LIST(weft__shared_type *) types; /* [component id]: NULL unless SHARED */
} weft__shared;

/* Writes a store without values. Allocates nothing. */
void weft__shared_init(weft__shared *shared, weft__memory *memory);
/* Calls the release hook of every live value and frees everything. */
void weft__shared_fini(weft__shared *shared);

/* Adds the value list of a component (flags contain SHARED). `desc` must outlive the store (its
 * hooks and fields are read). OUT_OF_MEMORY leaves the store as it was. */
weft_result weft__shared_type_create(weft__shared *shared, uint32_t component,
                                     const weft_component_desc *desc);
bool weft__shared_has_type(const weft__shared *shared, uint32_t component);

/* The index of a value, inserted when it is new, with one more reference on it (none on the
 * default). OUT_OF_MEMORY leaves the store as it was. */
weft_result weft__shared_intern(weft__shared *shared, uint32_t component, const void *value,
                                uint32_t *index);
/* The index of a value if it is there (0 for the default); false when it is not. */
bool weft__shared_find(const weft__shared *shared, uint32_t component, const void *value,
                       uint32_t *index);
/* Adds `count` references to a live value. Index 0 is fine and counts nothing. */
void weft__shared_acquire(weft__shared *shared, uint32_t component, uint32_t index, uint32_t count);
/* Drops `count` references; at zero the value is released. Index 0 is fine. */
void weft__shared_release(weft__shared *shared, uint32_t component, uint32_t index, uint32_t count);
/* One more reference, of a snapshot; one less. Index 0 is fine. */
void weft__shared_keep(weft__shared *shared, uint32_t component, uint32_t index);
void weft__shared_let_go(weft__shared *shared, uint32_t component, uint32_t index);
/* The bytes of a live value belong to another store: its release hook will not run here, until they
 * are owned again. Index 0 is fine. */
void weft__shared_disown(weft__shared *shared, uint32_t component, uint32_t index,
                         bool is_disowned);

/* The value of a live index; valid while it is referenced. */
const void *weft__shared_value(const weft__shared *shared, uint32_t component, uint32_t index);
/* References of a live index (0 for the default). */
uint32_t weft__shared_references(const weft__shared *shared, uint32_t component, uint32_t index);
/* Adds to the count of references alone: nothing is released at 0. For the invariant checker, which
 * gives back what it took. Index 0 is fine. */
void weft__shared_adjust(weft__shared *shared, uint32_t component, uint32_t index, uint32_t delta);
/* Called with each reference that a holder has (index 0: the default, not counted). */
typedef void (*weft__shared_visit_fn)(void *user, uint32_t component, uint32_t index);
/* Values in use by others than snapshots, the default first, then in the order of their
 * bytes: writes up to `capacity` pointers, returns how many there are. O(n log n). */
uint32_t weft__shared_list(const weft__shared *shared, uint32_t component, const void **out,
                           uint32_t capacity);
/* Whether the books of a component's values are right: each slot is live or free, each live one has
 * an entry in the table. */
bool weft__shared_check(const weft__shared *shared, uint32_t component);
/* Every index in use is below this. */
uint32_t weft__shared_end(const weft__shared *shared, uint32_t component);
