/* SPDX-License-Identifier: MIT */
/* query_info.c: the queries of a world and what they are, for tools.
 *
 * Reads only, but for the list of chunks of a query, which is brought up to date. Owner. */
#include "query_handle.h"
#include "query_read.h"

#include "error.h"
#include "sized.h"

static weft_query handle_at(const weft_world *world, uint32_t index)
{
    const weft__query_handle *handle = weft__front(world)->queries->handles.at[index];
    return (weft_query){handle->generation << WEFT__QUERY_INDEX_BITS | index,
                        weft__front(world)->number};
}

uint32_t weft_query_list(const weft_world *world, weft_query *out, uint32_t capacity)
{
    uint32_t found = 0;
    if (world == NULL || (out == NULL && capacity != 0)) return 0;
    for (uint32_t i = 1; i < weft__front(world)->queries->handles.count; i++) {
        if (weft__front(world)->queries->handles.at[i]->query == NULL) continue;
        if (found < capacity) out[found] = handle_at(world, i);
        found++;
    }
    return found;
}

uint32_t weft_query_terms(const weft_world *world, weft_query query, weft_term *out,
                          uint32_t capacity)
{
    const weft__query_handle *handle =
        world == NULL ? NULL : weft__query_find_checked(world, query);
    if (handle == NULL) return 0;
    for (uint32_t i = 0; i < handle->query->term_count && i < capacity; i++) {
        const weft__query_term *term = &handle->query->terms[i];
        out[i] = (weft_term){.component = weft__component(world, term->component),
                             .access = (weft_access)term->access,
                             .match = (weft_match)term->match,
                             .alternative = term->alternative};
    }
    return handle->query->term_count;
}

weft_result weft_query_info_get(const weft_world *world, weft_query query, weft_query_info *out,
                                size_t out_bytes)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (out == NULL)
        return weft__error_argument(world, "weft_query_info_get",
                                    "out is NULL: give the address of a weft_query_info");
    weft__query_handle *handle = weft__query_find_checked(world, query);
    if (handle == NULL) return WEFT_BAD_HANDLE;
    weft__query *q = handle->query;
    weft_result result = weft__query_ready(world, q);
    if (result != WEFT_OK) return result;
    const weft__filter *filter = &handle->filter;
    weft_query_info info = {.archetypes = q->match_count,
                            .systems = handle->users,
                            .handles = q->references,
                            .shared_filters = filter->shared.count,
                            .change_filters = filter->changed.count + filter->has_order,
                            .rows = q->flat.entries[q->flat.count].first_row,
                            .with_prefabs = q->with_prefabs,
                            .with_inactive = q->with_inactive,
                            .ignores_enabled = q->ignores_enabled,
                            .stamps_asked = q->stamps_asked};
    weft__sized_fill(out, out_bytes, &info, sizeof info);
    return WEFT_OK;
}
