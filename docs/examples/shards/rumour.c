/* SPDX-License-Identifier: MIT */
/* rumour.c: a world cut into sectors: people who stand on a line tell their neighbours. Run it
 * alone, or by mpirun -np 2: the result is the same. */
#include <stdio.h>
#include <weft/shard.h>

typedef struct {
    float x, y;
} Place;
typedef struct {
    float heard;
} News;
static weft_shard *shard;

/* Reads rows of others: of this rank or of the next one, as they were before the step. */
static void listen(weft_slice *slice, void *user)
{
    (void)user;
    const Place *at = WEFT_READ_COLUMN(slice, 0, Place);
    News *news = WEFT_WRITE_COLUMN(slice, 1, News);
    const uint32_t *near;
    uint32_t near_count = weft_shard_near(shard, weft_shard_slice_sector(shard, slice), &near);
    for (uint32_t k = 0; k < near_count; k++) {
        weft_shard_rows rows;
        if (!weft_shard_rows_get(shard, near[k], &rows)) continue;
        const Place *other = rows.columns[0]; /* y is 1 where the news is */
        for (uint32_t i = 0; i < weft_slice_count(slice); i++)
            for (uint32_t j = 0; j < rows.count; j++)
                if (other[j].y > 0 && other[j].x > at[i].x - 1.5f && other[j].x < at[i].x + 1.5f)
                    news[i].heard = 1;
    }
}

static void believe(weft_slice *slice, void *user)
{
    (void)user;
    Place *at = WEFT_WRITE_COLUMN(slice, 0, Place);
    const News *news = WEFT_READ_COLUMN(slice, 1, News);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        if (news[i].heard > 0) at[i].y = 1;
}

int main(int argc, char **argv)
{
    weft_world *world;
    if (weft_ranks_start(&argc, &argv) != WEFT_OK || weft_world_create(NULL, &world) != WEFT_OK)
        return 1;
    weft_component place = WEFT_COMPONENT(world, Place), news = WEFT_COMPONENT(world, News);
    const weft_shard_desc desc = {
        .key = place,
        .halo = {place},
        .grid = {.dimensions = 2, .cells = {10, 1}, .most = {100, 2}, .reach = 2}};
    if (weft_shard_create(world, &desc, &shard) != WEFT_OK) weft_ranks_abort(1);
    weft_shard_info info;
    weft_shard_info_get(shard, &info, sizeof info);
    for (int i = 0; i < 100; i++) { /* every rank goes through the list and takes its own */
        Place at = {(float)i + 0.5f, i == 50};
        if (!weft_shard_is_mine(shard, &at)) continue;
        weft_entity person =
            weft_entity_create(world, WEFT_ARCHETYPE(world, info.gid, place, news));
        WEFT_SET(world, person, place, Place, {at.x, at.y});
    }
    weft_shard_sync(shard);
    weft_shard_system_create(
        shard, &(weft_system_desc){.name = "listen",
                                   .run = listen,
                                   .over.rows.terms = {{place}, {news, WEFT_WRITE}, {info.gid}}});
    weft_system_create(world,
                       &(weft_system_desc){.name = "believe",
                                           .run = believe,
                                           .over.rows.terms = {{place, WEFT_WRITE}, {news}}});
    for (int tick = 0; tick < 20; tick++)
        if (weft_shard_step(shard, 1) != WEFT_OK) weft_ranks_abort(1);

    uint64_t know = 0;
    weft_cursor c = weft_query_begin(
        world, weft_query_create(world, &(weft_query_desc){.terms = {{news}, {info.gid}}}));
    while (weft_query_next(&c)) {
        const News *n = WEFT_READ_COLUMN(&c.slice, 0, News);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) know += n[i].heard > 0;
    }
    weft_ranks_sum(&know, 1);
    if (weft_ranks_rank() == 0) printf("after 20 steps %d know it\n", (int)know);
    weft_shard_destroy(shard);
    weft_world_destroy(world);
    weft_ranks_stop();
}

/* prints:
 * after 20 steps 41 know it
 */
