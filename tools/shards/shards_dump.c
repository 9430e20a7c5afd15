/* SPDX-License-Identifier: MIT */
/* shards_dump.c: `weft dump CHECKPOINT`: a checkpoint of a shard as text: all of its entities, as
 * one rank loads them into a world with the components of the file.
 */
#include "shards_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/shard.h>

#include "cli.h"
#include "cmd_dump.h"
#include "evolution.h"
#include "world_view.h"

/* The first words of a checkpoint (checkpoint.c), and its components. */
typedef struct front {
    uint64_t magic, version, seed, tick, sectors, components, component_bytes, hash;
    char *types;      /* [component_bytes], owned */
    char kept[65536]; /* the beginning of what is kept (checkpoint.c); zeros: nothing is */
} front;

/* False: it is too short. What is damaged, weft_shard_load says. */
static bool read_front(const char *path, front *out)
{
    FILE *file = fopen(path, "rb");
    bool is_done = file && fread(out, offsetof(front, types), 1, file) == 1 &&
                   out->component_bytes < (UINT64_C(1) << 32) &&
                   out->sectors <= WEFT_SHARD_SECTOR_LIMIT;
    out->types = is_done ? malloc((size_t)out->component_bytes + 1) : NULL;
    is_done = out->types && fread(out->types, 1, (size_t)out->component_bytes, file) ==
                                (size_t)out->component_bytes;
    uint64_t entry[4] = {0}; /* offset, bytes, counter, hash: of what is kept */
    memset(out->kept, 0, sizeof out->kept);
    if (is_done && out->version > 2 &&
        fseek(file, (long)(out->sectors * sizeof entry), SEEK_CUR) == 0)
        is_done = fread(entry, sizeof entry, 1, file) == 1;
    if (is_done && entry[1] != 0 && fseek(file, (long)entry[0], SEEK_SET) == 0)
        (void)fread(out->kept, 1, sizeof out->kept - 1, file);
    if (file) fclose(file);
    return is_done;
}

/* Registers the components of the file that are not there, but those of shards. *key: a plain
 * one. */
static weft_result register_types(weft_world *world, const front *of, weft_component *key)
{
    weft__in in = {.at = of->types, .end = of->types + of->component_bytes};
    weft__pile pile = {.memory = weft__world_memory(world), .category = WEFT__MEMORY_OTHER};
    weft_result result = WEFT_OK;
    for (uint64_t i = 0; i < of->components && result == WEFT_OK; i++) {
        weft__file_type type;
        const char *problem = weft__file_type_get(&in, &pile, &type);
        if (problem || in.is_short) result = WEFT_CORRUPT;
        const bool is_ours = result == WEFT_OK && strncmp(type.name, "Shard", 5) != 0 &&
                             strcmp(type.name, "CleanupResidue") != 0 && !type.is_hooked &&
                             weft_component_find(world, type.name).id == 0;
        if (is_ours) {
            const weft_component made = weft_component_create(world, &type.desc);
            if (made.id == 0) result = weft_world_error(world)->code;
            if (type.desc.flags == 0 && type.desc.size != 0 && key->id == 0) *key = made;
        }
    }
    weft__pile_free(&pile);
    return result;
}

/* The types that the file keeps: a number, then the bytes of each name and the name, in words. */
static void list_kept(weft_world *world, const front *of, weft_shard_desc *desc)
{
    uint64_t count, bytes, at = sizeof count, found = 0;
    memcpy(&count, of->kept, sizeof count);
    for (; count != 0 && found < WEFT_SHARD_KEPT_LIMIT && at < sizeof of->kept - 1024; count--) {
        char name[256] = "";
        memcpy(&bytes, of->kept + at, sizeof bytes);
        if (bytes >= sizeof name) return;
        memcpy(name, of->kept + at + 8, (size_t)bytes);
        desc->kept[found] = weft_component_find(world, name);
        if (desc->kept[found].id != 0) found++;
        at += 8 + (bytes + 7) / 8 * 8;
    }
}

/* Keys are not asked: rows come to the sectors that the file says. */
static uint32_t no_sector(const void *key, void *user)
{
    (void)key, (void)user;
    return 0;
}

static uint32_t none_near(uint32_t sector, uint32_t *out, uint32_t capacity, void *user)
{
    (void)sector, (void)out, (void)capacity, (void)user;
    return 0;
}

static int dump(weft_world *world, const char *path, const char *out)
{
    static front of;
    weft_shard *shard = NULL;
    weft_component key = {0};
    weft_result result = read_front(path, &of) ? register_types(world, &of, &key) : WEFT_CORRUPT;
    free(of.types);
    if (result == WEFT_CORRUPT || key.id == 0)
        return weft_cli_fail("dump", "%s: the checkpoint is damaged", path);
    if (result != WEFT_OK) return weft_cli_fail("dump", "%s", weft_world_error(world)->text);
    weft_shard_desc desc = {.key = key,
                            .sector_count = (uint32_t)of.sectors,
                            .sector_of = no_sector,
                            .neighbours = none_near};
    list_kept(world, &of, &desc);
    result = weft_shard_create(world, &desc, &shard);
    if (result == WEFT_OK) result = weft_shard_load(shard, path);
    const int status = result == WEFT_OK ? weft_cli_dump_world(world, out)
                                         : weft_cli_fail("dump", "%s", weft_ranks_error()->text);
    weft_shard_destroy(shard);
    return status;
}

int shards_dump(int argc, char **argv)
{
    weft_world *world;
    if (weft_ranks_count() != 1 || argc < 2)
        return weft_cli_misuse("dump", "a checkpoint is read by one process, without mpirun");
    if (weft_world_create(&(weft_world_desc){.workers = 1, .name = "dump", .is_hidden = true},
                          &world) != WEFT_OK)
        return weft_cli_fail("dump", "no world: memory was refused");
    const int status = dump(world, argv[1], argc > 2 ? argv[2] : NULL);
    weft_world_destroy(world);
    return status;
}
