/* SPDX-License-Identifier: MIT */
/* query_handle.c: looking up handles of queries, and holding them for systems.
 *
 * A handle is {generation, index} in one word; its slot keeps its address. Slots are taken and
 * given back in query_create.c. */
#include "query_handle.h"

#include "error.h"

weft__query_handle *weft__query_find_checked(const weft_world *world, weft_query query)
{
    weft__query_handle *handle = weft__query_find(world, query);
    if (handle == NULL)
        weft__error(world, WEFT_BAD_HANDLE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "query 0x%08x does not exist in this world (null, destroyed or of another "
                    "world): use what weft_query_create returned",
                    query.id);
    return handle;
}

void weft__query_acquire(weft_world *world, weft_query query)
{
    weft__query_handle *handle = weft__query_find(world, query);
    WEFT_ASSERT(handle != NULL);
    handle->users++;
}

void weft__query_release(weft_world *world, weft_query query)
{
    weft__query_handle *handle = weft__query_find(world, query);
    WEFT_ASSERT(handle != NULL && handle->users != 0);
    handle->users--;
}
