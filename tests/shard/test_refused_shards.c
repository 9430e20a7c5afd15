/* SPDX-License-Identifier: MIT */
/* test_refused_shards.c: refused memory in the functions of shards, with one rank, which sends and
 * receives nothing: see refused.h. A step or a sync that fails says so, and the next one does the
 * rest. */
#include "libc_fault.h"
#include "plain.h"
#include "points.h"
#include "refused.h"

#include <weft/shard.h>
#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POINTS = 60, NEWS = 12, CELLS = 4 };

/* A world with a shard, of which some rows are new, and some in another sector than their key
 * says. Owner: one run. */
typedef struct bed {
    weft_world *world;
    weft_shard *shard;
    weft_component place, friend, trail;
    weft_entity points[POINTS + NEWS];
    char path[64];
} bed;

static weft_result shard_make(bed *b)
{
    const weft_shard_desc desc = {
        .key = b->place,
        .grid = {.dimensions = 2, .cells = {CELLS, CELLS}, .most = {100, 100}},
        .halo = {b->place},
        .balance_every = 1,
        .seed = 7};
    const weft_result result = weft_shard_create(b->world, &desc, &b->shard);
    CHECK(result == WEFT_OK || weft_ranks_error()->text[0] != '\0');
    if (result != WEFT_OK) b->shard = NULL;
    return result;
}

static void *world_open(const refused_place *place)
{
    static bed made;
    bed *b = &made;
    memset(b, 0, sizeof *b);
    const weft_world_desc desc = {.pool = place->pool,
                                  .allocator = place->heap,
                                  .os = place->os,
                                  .without_huge_pages = true,
                                  .entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    CHECK_OK(weft_world_create(&desc, &b->world));
    b->place = WEFT_COMPONENT(b->world, Place);
    b->friend =
        weft_component_create(b->world, &(weft_component_desc){.name = "Friend",
                                                               .size = sizeof(Friend),
                                                               .alignment = _Alignof(Friend),
                                                               .fields = friend_fields,
                                                               .field_count = 1});
    b->trail = weft_component_create_plain(b->world, "Trail", 8, 8, WEFT_BUFFER);
    snprintf(b->path, sizeof b->path, "refused-%d.shards", (int)getpid());
    return b;
}

static void *bare_open(const refused_place *place)
{
    bed *b = world_open(place);
    CHECK_OK(shard_make(b));
    return b;
}

static void point_make(bed *b, uint32_t i)
{
    weft_shard_info info;
    weft_shard_info_get(b->shard, &info, sizeof info);
    const Place at = {(float)(i * 37 % 100), (float)(i * 61 % 100)};
    const Friend friend = {b->points[i / 2]};
    const weft_archetype with = WEFT_ARCHETYPE(b->world, info.gid, b->place, b->friend, b->trail);
    b->points[i] = weft_entity_create(b->world, with);
    CHECK_OK(weft_entity_set(b->world, b->points[i], b->place, &at, sizeof at));
    CHECK_OK(weft_entity_set(b->world, b->points[i], b->friend, &friend, sizeof friend));
    const weft_buffers trail = weft_entity_write_buffer(b->world, b->points[i], b->trail);
    CHECK_OK(weft_buffers_append(&trail, 0, &(uint64_t){i}, 1));
}

static void *new_open(const refused_place *place)
{
    bed *b = bare_open(place);
    for (uint32_t i = 0; i < POINTS; i++) point_make(b, i);
    return b;
}

static void *full_open(const refused_place *place)
{
    bed *b = new_open(place);
    CHECK_OK(weft_shard_sync(b->shard));
    CHECK_OK(weft_shard_save(b->shard, b->path));
    return b;
}

static void *changed_open(const refused_place *place)
{
    bed *b = full_open(place);
    for (uint32_t i = POINTS; i < POINTS + NEWS; i++) point_make(b, i);
    for (uint32_t i = 0; i < NEWS; i++) {
        Place *at = weft_entity_write(b->world, b->points[i * 3], b->place);
        at->x = 99 - at->x;
    }
    CHECK_OK(weft_entity_destroy(b->world, b->points[20]));
    return b;
}

/* A new world, and the file of another. */
static void *saved_open(const refused_place *place)
{
    bed *b = full_open(place);
    weft_shard_destroy(b->shard);
    CHECK_OK(weft_world_destroy(b->world));
    return bare_open(place);
}

static void bed_close(void *open)
{
    bed *b = open;
    weft_shard_destroy(b->shard);
    CHECK_OK(weft_world_destroy(b->world));
    unlink(b->path);
}

/* Rows, but not their sectors, are in the hash of shards, which is taken where all have gids. */
static void bed_look(void *open, refused_look *out)
{
    const bed *b = open;
    refused_see_world(out, b->world);
    refused_see(out, "shard", b->shard != NULL);
    if (b->shard == NULL) return;
    weft_shard_stats stats;
    weft_shard_stats_get(b->shard, &stats, sizeof stats);
    refused_see(out, "rows", stats.rows);
    refused_see(out, "stubs", stats.stubs);
    refused_see(out, "tick", weft_shard_tick(b->shard));
}

/* ---- the functions ---- */

static weft_result do_create(void *open)
{
    return shard_make(open);
}

static weft_result do_destroy(void *open)
{
    bed *b = open;
    weft_shard_destroy(b->shard);
    b->shard = NULL;
    return WEFT_OK;
}

static void look_around(weft_slice *slice, void *user)
{
    const bed *b = user;
    weft_shard_rows rows;
    const uint32_t sector = weft_shard_slice_sector(b->shard, slice);
    CHECK(weft_shard_rows_get(b->shard, sector, &rows));
}

static weft_result do_system(void *open)
{
    bed *b = open;
    weft_shard_info info;
    weft_shard_info_get(b->shard, &info, sizeof info);
    const weft_system_desc desc = {.name = "look",
                                   .run = look_around,
                                   .user = b,
                                   .over.rows.terms = {{info.gid, WEFT_READ, WEFT_ALL, 0},
                                                       {b->friend, WEFT_WRITE, WEFT_ALL, 0}}};
    return weft_shard_system_create(b->shard, &desc);
}

static void *stepping_open(const refused_place *place)
{
    bed *b = changed_open(place);
    CHECK_OK(do_system(b));
    return b;
}

static weft_result do_step(void *open)
{
    bed *b = open;
    return weft_shard_step(b->shard, 0.01f);
}

static weft_result do_sync(void *open)
{
    bed *b = open;
    return weft_shard_sync(b->shard);
}

static weft_result do_exchange(void *open)
{
    bed *b = open;
    return weft_shard_exchange(b->shard);
}

static weft_result do_balance(void *open)
{
    bed *b = open;
    bool moved;
    return weft_shard_balance(b->shard, &moved);
}

/* Null with a text: memory was refused. */
static weft_result do_find(void *open)
{
    bed *b = open;
    const uint64_t gid = weft_shard_gid(b->shard, b->points[3]);
    CHECK(gid != 0);
    const weft_entity found = weft_shard_find(b->shard, gid);
    if (found.version == 0) return WEFT_OUT_OF_MEMORY;
    CHECK(weft_entity_equal(found, b->points[3]));
    return WEFT_OK;
}

/* What a call of this bed gives is what it gave first, where nothing was refused. */
static void check_same(uint64_t first[2], uint64_t value)
{
    if (first[refused_how()] == 0) first[refused_how()] = value;
    CHECK_U64(value, first[refused_how()]);
}

static weft_result do_hash(void *open)
{
    bed *b = open;
    static uint64_t first[2];
    uint64_t hash[2];
    const weft_result result = weft_shard_hash(b->shard, hash);
    if (result == WEFT_OK) check_same(first, hash[0]);
    return result;
}

static weft_result do_save(void *open)
{
    bed *b = open;
    static uint64_t first[2];
    struct stat status;
    const weft_result result = weft_shard_save(b->shard, b->path);
    CHECK(result != WEFT_OK || stat(b->path, &status) == 0);
    if (result == WEFT_OK) check_same(first, (uint64_t)status.st_size);
    return result;
}

static weft_result do_load(void *open)
{
    bed *b = open;
    const weft_result result = weft_shard_load(b->shard, b->path);
    weft_shard_stats stats;
    weft_shard_stats_get(b->shard, &stats, sizeof stats);
    if (result != WEFT_OK) CHECK(stats.rows == 0 && stats.stubs == 0);
    if (result == WEFT_OK) CHECK(stats.rows == POINTS || stats.rows == 0); /* not counted */
    return result;
}

static weft_result do_stats(void *open)
{
    bed *b = open;
    weft_shard_stats stats;
    weft_shard_stats_get(b->shard, &stats, sizeof stats);
    return WEFT_OK;
}

static weft_result do_gather(void *open)
{
    static const char bytes[5000] = "all";
    void *out;
    uint64_t count;
    (void)open;
    const weft_result result = weft_ranks_gather(bytes, sizeof bytes, &out, &count);
    if (result != WEFT_OK) return result;
    CHECK(count == sizeof bytes && memcmp(out, bytes, count) == 0);
    free(out);
    return result;
}

static weft_result do_start(void *open)
{
    (void)open;
    weft_ranks_stop();
    return weft_ranks_start(NULL, NULL);
}

/* ---- the tables ---- */

static const refused_function on_worlds[] = {
    {"weft_shard_create", do_create, REFUSED_SILENT | REFUSED_TYPES, 0},
    {"weft_ranks_gather", do_gather, REFUSED_SILENT, 0},
    {"weft_ranks_start", do_start, REFUSED_SILENT | REFUSED_LESS, 0},
};

static const refused_function on_shards[] = {
    {"weft_shard_destroy", do_destroy, REFUSED_SILENT | REFUSED_LESS, 0},
    {"weft_shard_system_create", do_system, REFUSED_SILENT, 0},
    {"weft_shard_exchange", do_exchange, REFUSED_SILENT | REFUSED_LATER, 0},
    {"weft_shard_balance", do_balance, REFUSED_SILENT | REFUSED_LATER, 0},
    {"weft_shard_find", do_find, REFUSED_SILENT, 0},
    {"weft_shard_hash", do_hash, REFUSED_SILENT | REFUSED_LATER, 0},
    {"weft_shard_save", do_save, REFUSED_SILENT | REFUSED_LATER, 0},
    {"weft_shard_stats_get", do_stats, REFUSED_SILENT | REFUSED_LESS, 0},
};

static const refused_function on_changed[] = {
    {"weft_shard_sync", do_sync, REFUSED_SILENT | REFUSED_LATER, 0},
};

/* Their loop over all rows is the first one, and needs memory. */
static const refused_function on_new[] = {
    {"weft_shard_hash", do_hash, REFUSED_SILENT | REFUSED_LATER, 1},
    {"weft_shard_save", do_save, REFUSED_SILENT | REFUSED_LATER, 1},
};

static const refused_function on_steps[] = {
    {"weft_shard_step", do_step, REFUSED_SILENT | REFUSED_PART, 0},
};

static const refused_function on_files[] = {
    {"weft_shard_load", do_load, REFUSED_SILENT | REFUSED_TYPES | REFUSED_IDS, 0},
};

static weft_world *bed_world(void *open)
{
    const bed *b = open;
    return b->world;
}

static void sweep(const char *name, void *(*open)(const refused_place *place),
                  const refused_function *list, size_t count)
{
    const refused_bed swept = {.close = bed_close,
                               .look = bed_look,
                               .world = bed_world,
                               .libc = test_libc_faults(),
                               .fewest = 10};
    CHECK(weft_ranks_start_in(&(int){0}) == WEFT_UNSUPPORTED); /* no MPI is linked */
    CHECK(weft_ranks_start(NULL, NULL) == WEFT_OK);
    refused_sweep_of(&swept, name, open, list, count);
    weft_ranks_stop();
}

PLAIN_TEST(refused_shards_are_not_there)
{
    sweep("a world", world_open, REFUSED_LIST(on_worlds));
}

PLAIN_TEST(refused_calls_on_shards_leave_them_as_before)
{
    sweep("a shard", full_open, REFUSED_LIST(on_shards));
}

PLAIN_TEST(refused_rows_get_their_sectors_by_the_next_sync)
{
    sweep("a shard with news", changed_open, REFUSED_LIST(on_changed));
    sweep("a new shard", new_open, REFUSED_LIST(on_new));
    sweep("a shard with a system", stepping_open, REFUSED_LIST(on_steps));
}

PLAIN_TEST(refused_checkpoints_are_not_loaded)
{
    sweep("a shard and a file", saved_open, REFUSED_LIST(on_files));
}
