/* SPDX-License-Identifier: MIT */
/* stream_room.c: one job that maps memory for entity blocks. The crew only maps it; the owner puts
 * the blocks into the directory, because lending them changes the same tables. See stream_room.h.
 */
#include "stream_room.h"
#include "directory_grow.h"

/* The crew's part. */
static void room_make(weft__crew_job *job, uint32_t piece, uint32_t thread)
{
    weft__room *room = (weft__room *)(void *)job;
    (void)piece, (void)thread;
    room->slab = weft__directory_slab_make(room->directory, room->count);
}

static void room_ask(weft__streams *streams, uint32_t blocks)
{
    weft__room *room = &streams->room;
    room->directory = &streams->world->directory;
    room->count = weft__directory_ahead(room->directory, blocks);
    room->job.run = room_make;
    room->job.piece_count = 1;
    at_store_rlx(&room->job.x_priority, UINT32_MAX); /* relaxed: a wish */
    room->is_out = true;
    weft__crew_push(&streams->crew, &room->job);
}

bool weft__room_has(weft__streams *streams, uint32_t rows)
{
    const weft__directory *directory = &streams->world->directory;
    weft__room *room = &streams->room;
    uint32_t needed = (uint32_t)(((uint64_t)rows + WEFT__BLOCK_SLOTS - 1) / WEFT__BLOCK_SLOTS);
    uint32_t there = weft__directory_lendable(&streams->world->directory, 2 * needed);
    uint32_t end = at_load_rlx(&directory->x_block_end); /* relaxed: idle */
    bool is_alone = streams->world->lent.loads == 0;
    bool can_grow = !room->has_failed && directory->block_limit - end >= 2 * needed;
    if (there < 2 * needed && !is_alone && can_grow && !room->is_out)
        room_ask(streams, 2 * needed - there);
    return there >= needed || is_alone || !can_grow;
}

void weft__room_go_on(weft__streams *streams)
{
    weft__room *room = &streams->room;
    if (!room->is_out || !weft__crew_is_done(&room->job)) return;
    room->is_out = false;
    room->has_failed = room->slab == NULL;
    if (room->slab != NULL) weft__directory_slab_use(&streams->world->directory, room->slab);
    room->slab = NULL;
}

void weft__room_end(weft__streams *streams)
{
    weft__room *room = &streams->room;
    if (!room->is_out) return;
    weft__crew_await(&streams->crew, &room->job);
    weft__directory_slab_free(&streams->world->directory, room->slab);
    room->is_out = false;
}
