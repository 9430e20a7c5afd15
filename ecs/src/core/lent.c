/* SPDX-License-Identifier: MIT */
/* lent.c: refusals while threads of streams have parts of the world: blocks of the directory,
 * berths, chunks. What looks at all of the directory, or hands memory to another world, would miss
 * or break them. */
#include "lent.h"
#include "directory.h"
#include "error.h"

weft_result weft__lent_refuse(const weft_world *world, const char *what)
{
    if (__builtin_expect(world->lent.loads == 0, 1)) return WEFT_OK;
    return weft__error(world, WEFT_BUSY, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: %u sections are being read or taken out: call weft_stream_wait first",
                       what, world->lent.loads);
}

weft_result weft__ids_close(weft_world *world, const char *what)
{
    if (weft__outside_close(&world->directory)) return WEFT_OK;
    return weft__error(world, WEFT_WRONG_PHASE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: a recorder holds entities that weft_recorder_create_rows_unordered "
                       "gave: play or destroy it first",
                       what);
}

void weft__ids_open(weft_world *world)
{
    weft__outside_open(&world->directory);
}
