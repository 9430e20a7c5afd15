/* SPDX-License-Identifier: MIT */
/* entity_sparse.h: SPARSE components of entities: the part of the changes of entities and queries
 * that moves no row of the entity.
 *
 * Owner, world idle unless said otherwise. All or none. */
#pragma once

#include "sparse.h"

/* As weft_entity_add and _remove, with every check, of a SPARSE component. */
weft_result weft__sparse_entity_add(weft_world *world, weft_entity entity,
                                    const weft__sparse *sparse);
weft_result weft__sparse_entity_remove(weft_world *world, weft_entity entity,
                                       const weft__sparse *sparse);
/* As weft_entity_set of a value of the type's size, with every check but those of values. */
weft_result weft__sparse_entity_set(weft_world *world, weft_entity entity,
                                    const weft__sparse *sparse, const void *value);
/* Sets a value of the type's size, and adds the component where it is absent. A component that is
 * present may be set while the owner iterates. */
weft_result weft__sparse_set(weft_world *world, weft_entity entity, const weft__type *type,
                             const void *value);
weft_result weft__sparse_set_many(weft_world *world, const weft_entity *entities, uint32_t count,
                                  const weft__type *type, const void *values);

/* SPARSE components that many entities get and lose: one step that can fail, one that cannot, or
 * back. Owner: one call. */
typedef struct weft__sparse_changes {
    weft__sparse_addition *additions; /* [add_count], NULL: none */
    const uint32_t *remove;
    uint32_t add_count;
    uint32_t remove_count;
} weft__sparse_changes;

/* Takes the SPARSE ones out of a list of components: they are behind its end then, as many as it
 * returns. */
uint32_t weft__sparse_part(const weft_world *world, uint32_t *list, uint32_t *count);
/* `add` and `remove` list SPARSE components; one that is in both is removed. */
weft_result weft__sparse_changes_prepare(weft_world *world, const weft_entity *entities,
                                         uint32_t count, const uint32_t *add, uint32_t add_count,
                                         weft__sparse_changes *changes);
void weft__sparse_changes_commit(weft_world *world, const weft_entity *entities, uint32_t count,
                                 weft__sparse_changes *changes);
void weft__sparse_changes_cancel(weft_world *world, const weft_entity *entities, uint32_t count,
                                 weft__sparse_changes *changes);

/* Adds, removes (`value` is not used) or sets the component for all rows of a query. Lives on the
 * caller's stack, borrowed for the call. */
typedef struct weft__sparse_query_change {
    const weft__type *type;
    const void *value; /* NULL: zeroed where it is absent */
    bool is_remove;
    const char *what;
} weft__sparse_query_change;
weft_result weft__sparse_change_query(weft_world *world, weft_query query,
                                      const weft__sparse_query_change *change);

/* SPARSE components of the copies of an entity. Owner: the operation. */
typedef struct weft__sparse_copies {
    weft__sparse_addition *items; /* a type that the entity has; capacity: type_count */
    uint32_t count;
    uint32_t type_count; /* SPARSE types of the world */
} weft__sparse_copies;

/* Everything that can fail for `count` copies of `source`, which have the ids `named`, or (NULL)
 * get their ids of `ids` later. Zero-initialised before; ended by commit or cancel, also after an
 * error. OUT_OF_MEMORY: error set. */
weft_result weft__sparse_copies_prepare(weft_world *world, weft_entity source, uint32_t count,
                                        const weft_entity *named, const weft__row_ids *ids,
                                        weft__sparse_copies *out);
/* Gives copies[0..count) the components and values of `source`. */
void weft__sparse_copies_commit(weft_world *world, weft__sparse_copies *copies, weft_entity source,
                                const weft_entity *entities, uint32_t count);
void weft__sparse_copies_cancel(weft_world *world, weft__sparse_copies *copies);
