/* SPDX-License-Identifier: MIT */
/* system_free.c: what a system owns, given back (system_free.h).
 *
 * Owner. No schedule names the system any more: weft__schedule_free. */
#include "system_free.h"

#include "column_watch.h"
#include "registry.h"

static void drop_queries(weft_world *world, weft__system *system)
{
    for (uint32_t i = 0; i < system->held_count; i++)
        weft__query_release(world, system->lists.queries[i]);
    if (system->query.id == 0) return;
    weft__query_release(world, system->query);
    if (system->owns_query) weft_query_destroy(world, system->query);
}

void weft__system_abandon(weft__system *system)
{
    weft__memory *memory = system->scheduler->memory;
    drop_queries(system->scheduler->world, system);
    weft__lists_free(memory, &system->lists);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, system, 1, sizeof *system, 64);
}

void weft__system_free(weft__system *system)
{
    weft__watch_fini(system);
    weft__slot_free(system->scheduler, weft__system_slot(system));
    weft__system_abandon(system);
}
