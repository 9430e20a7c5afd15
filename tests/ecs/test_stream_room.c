/* SPDX-License-Identifier: MIT */
/* test_stream_room.c: while threads read sections the owner maps no memory: it would wait for one
 * of them that has lost its processor; they map entity blocks for it. */
#include "os.h"
#include "plain.h"
#include "world_state.h"

#include <weft/ecs.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECTIONS = 4, ROWS = 32 * 4096 };

/* The real operating system, and who asked it for memory. */
typedef struct watching_os {
    weft_os table;
    pthread_t owner;
    const weft_world *world;
    uint32_t beside;    /* maps of the owner while threads had sections; owner only */
    weft_a32 x_threads; /* maps of threads */
} watching_os;

static void *map_watched(void *user, size_t bytes, size_t alignment)
{
    watching_os *os = user;
    if (!pthread_equal(pthread_self(), os->owner))
        at_add_rlx(&os->x_threads, 1u); /* relaxed: a count */
    else if (os->world != NULL && os->world->lent.loads != 0)
        os->beside++;
    const weft_os *real = weft__os_default();
    return real->map(real->user, bytes, alignment);
}

static const char path[] = "room.wss";

static void file_make(void)
{
    weft_world *world;
    weft_entity *e = malloc(ROWS * sizeof *e);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    weft_component section = weft_component_section(world);
    weft_archetype archetype = weft_archetype_create(world, &section, 1);
    for (uint32_t k = 1; k <= SECTIONS; k++) {
        weft_section own = {.section = k};
        CHECK_OK(weft_entity_create_many(world, archetype, ROWS, e));
        CHECK_OK(weft_entity_set_shared_many(world, e, ROWS, section, &own));
    }
    CHECK_OK(weft_sections_save(world, path, NULL));
    CHECK_OK(weft_world_destroy(world));
    free(e);
}

PLAIN_TEST(the_owner_maps_nothing_while_threads_read)
{
    weft_world *world;
    weft_stream *stream;
    file_make();
    watching_os os = {.table = *weft__os_default(), .owner = pthread_self()};
    os.table.user = &os;
    os.table.map = map_watched;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .os = &os.table}, &world));
    os.world = world;
    CHECK_OK(weft_stream_open(world, path, NULL, &stream));
    for (uint32_t k = 1; k <= SECTIONS; k++) CHECK_OK(weft_stream_load(stream, k, 0));
    weft_stream_stats stats = {0};
    while (stats.loaded < SECTIONS + 1) { /* section 0, too */
        CHECK_OK(weft_stream_step(world, 0));
        weft_stream_stats_get(world, &stats, sizeof stats);
        sched_yield();
    }
    CHECK_U64(os.beside, 0);
    CHECK(at_load_rlx(&os.x_threads) != 0); /* relaxed: the threads are done */
    CHECK_U64(stats.rows_loaded, (uint64_t)SECTIONS * ROWS);
    CHECK_OK(weft_world_validate(world));
    os.world = NULL;
    weft_stream_close(stream);
    CHECK_OK(weft_world_destroy(world));
}
