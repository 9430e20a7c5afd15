/* SPDX-License-Identifier: MIT */
/* order_watch.h: handles of chunks against their order versions: where those of a chunk differ from
 * the last look, its order version, and that of its archetype, must be one since then.
 *
 * Not across weft_snapshot_restore: versions come again. Owner: the test, which ends with
 * order_watch_fini. Zero-initialise. */
#ifndef WEFT_TESTS_ORDER_WATCH_H
#define WEFT_TESTS_ORDER_WATCH_H

#include "check.h"
#include "hash_lanes.h"
#include "world_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The rows of a chunk, or the chunks of an archetype, as they were. */
typedef struct order_seen {
    uint64_t serial; /* of the chunk; 0: was not there. Of an archetype its number + 1 */
    uint64_t hash;
} order_seen;

typedef struct order_watch {
    order_seen *chunks, *archetypes; /* by id */
    uint32_t chunk_end, archetype_end;
    uint32_t version; /* of the world at the last look; 0: there was none */
} order_watch;

static inline uint64_t order_hash(const weft__chunk *chunk)
{
    return weft__hash_lanes(hash_word(chunk->serial, chunk->count), weft__chunk_entities(chunk),
                            chunk->count * sizeof(weft_entity));
}

/* 1 if what was seen under an id differs. `order`: its version, which must be one since then. */
static inline uint32_t order_compare(const order_watch *watch, const char *what, uint32_t id,
                                     order_seen *seen, order_seen now, uint32_t order)
{
    const bool is_same = seen->serial == now.serial, differs = seen->hash != now.hash;
    *seen = now;
    if (!is_same || !differs || watch->version == 0) return 0;
    if (!weft__version_is_newer(watch->version, order)) return 1;
    fprintf(stderr,
            "%s %" PRIu32 ": order version %" PRIu32 ", rows moved at %" PRIu32 " or later\n", what,
            id, order, watch->version);
    test_fail(__FILE__, __LINE__, "rows came, went or moved, and the order version stayed");
    return 1;
}

static inline void order_reach(order_seen **list, uint32_t *end, uint32_t count)
{
    if (count <= *end) return;
    *list = realloc(*list, count * sizeof **list);
    CHECK(*list != NULL);
    for (; *end < count; ++*end) (*list)[*end] = (order_seen){0, 0};
}

/* Compares, and sees what is there now. Returns how many chunks and archetypes have other
 * rows than before. */
static inline uint32_t order_watch_look(order_watch *watch, const weft_world *world)
{
    uint32_t moved = 0;
    order_reach(&watch->chunks, &watch->chunk_end, world->chunks.end + 1);
    order_reach(&watch->archetypes, &watch->archetype_end, world->archetypes.count);
    for (uint32_t id = 0; id < watch->chunk_end; id++) {
        const weft__chunk *chunk = id < world->chunks.end ? world->chunks.at[id] : NULL;
        order_seen now = {0, 0};
        if (chunk != NULL && chunk->count != 0)
            now = (order_seen){chunk->serial, order_hash(chunk)};
        const uint32_t order = chunk == NULL ? 0 : chunk->order_version;
        moved += order_compare(watch, "chunk", id, &watch->chunks[id], now, order);
    }
    for (uint32_t i = 0; i < world->archetypes.count; i++) {
        const weft__archetype *archetype = world->archetypes.at[i];
        order_seen now = {archetype->id, 1}; /* numbers may come to mean others */
        for (uint32_t c = 0; c < archetype->chunk_count; c++)
            now.hash = hash_word(now.hash, order_hash(archetype->chunks[c]));
        moved += order_compare(watch, "archetype", archetype->id, &watch->archetypes[i], now,
                               archetype->order_version);
    }
    watch->version = world->front.version;
    return moved;
}

static inline void order_watch_fini(order_watch *watch)
{
    free(watch->chunks);
    free(watch->archetypes);
    *watch = (order_watch){0};
}

#endif
