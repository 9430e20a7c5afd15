/* SPDX-License-Identifier: MIT */
/* query_handle.h: what a weft_query names.
 *
 * Owner changes handles while the world is idle; look-up is for any thread between. */
#ifndef WEFT_QUERY_HANDLE_H
#define WEFT_QUERY_HANDLE_H

#include "given_list.h"
#include "query_state.h"

/* The handle's state, or NULL (and BAD_HANDLE set in the world's error by _checked). */
static inline weft__query_handle *weft__query_find(const weft_world *world, weft_query query)
{
    const weft__world_front *front = weft__front(world);
    const weft__queries *queries = front->queries;
    uint32_t index = query.id & WEFT__QUERY_INDEX_MASK;
    if (query.world != front->number || index == 0 || index >= queries->handles.count) return NULL;
    weft__query_handle *handle = queries->handles.at[index];
    bool is_alive =
        handle->query != NULL && handle->generation == query.id >> WEFT__QUERY_INDEX_BITS;
    return is_alive ? handle : NULL;
}
weft__query_handle *weft__query_find_checked(const weft_world *world, weft_query query);
/* A system holds / drops the handle. `query` is valid. */
void weft__query_acquire(weft_world *world, weft_query query);
void weft__query_release(weft_world *world, weft_query query);

/* The terms of a query's description. */
weft__given weft__query_terms_given(const weft_query_desc *desc);

#endif
