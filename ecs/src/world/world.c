/* SPDX-License-Identifier: MIT */
/* world.c: creation and destruction of a world, its versions and its statistics. What a world holds
 * is in world_state.h; every other subject has its own file. */

#include "archetype.h"
#include "blob_store.h"
#include "chunk.h"
#include "component_registry.h"
#include "entity_tag.h"
#include "guard.h"
#include "log.h"
#include "name_table.h"
#include "query_cursor.h"
#include "sized.h"
#include "text.h"
#include "utf8.h"
#include "world_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/type.h>

#define COMPONENT_LIMIT 65535u /* ids are 16 bits in look-up tables; 0 is null */
#define BUILT_IN_COMPONENTS 4u

static uint32_t limit_or(uint32_t value, uint32_t most)
{
    return value == 0 || value > most ? most : value;
}

/* What is out of range; NULL: nothing. */
static const char *mistake_in(const weft_world_desc *desc)
{
    if (desc->entity_tag > WEFT_WITHOUT_ENTITY_TAG)
        return "entity_tag must be at most 15, or WEFT_WITHOUT_ENTITY_TAG";
    if (desc->entity_block_limit > WEFT__BLOCK_LIMIT)
        return "entity_block_limit must be at most 32,768";
    if (desc->megachunk_limit > WEFT__MEGACHUNK_LIMIT)
        return "megachunk_limit must be at most 16,384";
    if (desc->component_limit > COMPONENT_LIMIT - BUILT_IN_COMPONENTS)
        return "component_limit must be at most 65,531";
    if (desc->workers > 256) return "workers must be at most 256";
    if (desc->name != NULL && desc->name[0] != '\0' && !weft__name_fits(desc->name, SIZE_MAX))
        return "name must be UTF-8";
    return NULL;
}

/* A world and what ends with it, in one block. */
typedef struct whole {
    weft_world world;
    weft_error error;
    char name[];
} whole;

static size_t whole_bytes(const char *name)
{
    return sizeof(whole) + strlen(name) + 1;
}

/* A world with its memory hook and error record, everything else empty. */
static weft_result world_allocate(const weft_world_desc *desc, weft_world **out)
{
    weft__memory memory;
    weft_result result = weft__memory_init(&memory, &desc->allocator);
    if (result != WEFT_OK) return result;
    const char *name = desc->name == NULL ? "world" : desc->name;
    whole *made =
        weft__alloc_zeroed(&memory, WEFT__MEMORY_OTHER, 1, whole_bytes(name), _Alignof(whole));
    if (made == NULL) return WEFT_OUT_OF_MEMORY;
    weft_world *world = *out = &made->world;
    world->memory = memory;
    /* Numbers of worlds: 1..2^31 - 1, then from the beginning. */
    static weft_a32 x_given;
    world->front.number = at_add_rlx(&x_given, 1) % INT32_MAX + 1;
    world->error = &made->error;
    world->desc = *desc;
    world->desc.name = memcpy(made->name, name, strlen(name) + 1);
    return WEFT_OK;
}

static void world_free(weft_world *world)
{
    weft__memory memory = world->memory;
    WEFT__FREE(&memory, WEFT__MEMORY_OTHER, world->hook_error, 1);
    weft__free(&memory, WEFT__MEMORY_OTHER, world, 1, whole_bytes(world->desc.name),
               _Alignof(whole));
}

static weft_result built_ins_create(weft_world *world)
{
    static const weft_field reference = {"entity", WEFT_FIELD_ENTITY, 0, 1};
    world->builtin.prefab = weft_component_create_plain(world, "Prefab", 0, 1, 0);
    world->builtin.inactive = weft_component_create_plain(world, "Inactive", 0, 1, 0);
    world->builtin.linked_group =
        weft_component_create(world, &(weft_component_desc){.name = "LinkedGroup",
                                                            .size = sizeof(weft_entity),
                                                            .alignment = _Alignof(weft_entity),
                                                            .flags = WEFT_BUFFER,
                                                            .buffer_capacity = 1,
                                                            .fields = &reference,
                                                            .field_count = 1});
    world->builtin.residue = weft_component_create_plain(world, "CleanupResidue", 0, 1, 0);
    if (world->builtin.residue.id != 0)
        world->types.at[world->builtin.residue.id]->is_of_entities =
            world->types.at[world->builtin.residue.id]->is_folded = false;
    bool are_there = world->builtin.prefab.id != 0 && world->builtin.inactive.id != 0 &&
                     world->builtin.linked_group.id != 0 && world->builtin.residue.id != 0;
    return are_there ? WEFT_OK : WEFT_OUT_OF_MEMORY;
}

static weft_result pool_obtain(weft_world *world)
{
    world->front.host.pool = world->desc.pool;
    if (world->front.host.pool != NULL) {
        world->front.host.owner = weft_job_pool_owner(world->front.host.pool);
        weft__pool_add_user(world->front.host.pool, &world->front.host.tenancy, world->desc.name);
        return WEFT_OK;
    }
    world->front.host.owns_pool = true;
    weft_result result =
        weft_job_pool_create(&(weft_job_pool_desc){.worker_count = world->desc.workers,
                                                   .allocator = world->memory.hook,
                                                   .os = world->desc.os,
                                                   .trace_file = world->desc.trace_file,
                                                   .error = world->desc.error,
                                                   .log = world->desc.log,
                                                   .stack_bytes = world->desc.stack_bytes},
                             &world->front.host.pool);
    world->front.host.owner = weft_job_pool_owner(world->front.host.pool);
    if (result == WEFT_OK)
        weft__pool_add_user(world->front.host.pool, &world->front.host.tenancy, world->desc.name);
    return result;
}

/* Told of worlds that are made. Process-wide, set before the first one; never in a world's memory.
 */
static void (*world_created)(weft_world *world);

void weft_world_watch_created(void (*created)(weft_world *world))
{
    world_created = created;
}

static weft_result storage_init(weft_world *world)
{
    weft_world_desc *desc = &world->desc;
    const weft_os *os = desc->os == NULL ? weft__os_default() : desc->os;
    desc->os = os;
    desc->entity_block_limit = limit_or(desc->entity_block_limit, WEFT__BLOCK_LIMIT);
    desc->megachunk_limit = limit_or(desc->megachunk_limit, WEFT__MEGACHUNK_LIMIT);
    desc->component_limit =
        limit_or(desc->component_limit == 0 ? 0 : desc->component_limit + BUILT_IN_COMPONENTS,
                 COMPONENT_LIMIT);
    desc->entity_tag = weft__entity_tag_obtain(desc->entity_tag);
    weft__directory_init(&world->directory, &world->memory, os, desc);
    weft__units_init(&world->units, &world->memory, os, desc->megachunk_limit,
                     !desc->without_huge_pages);
    const char *addresses = secure_getenv("WEFT_ADDRESSES");
    world->units.is_mirrored = addresses != NULL && strcmp(addresses, "mirrored") == 0;
    if (addresses != NULL && addresses[0] != '\0' && !world->units.is_mirrored)
        weft__log(&desc->log, WEFT_LOG_WARNING,
                  "WEFT_ADDRESSES=%s is not used: say mirrored, or nothing", addresses);
    weft__shared_init(&world->shared, &world->memory);
    world->shared.world = world;
    weft__chunks_init(world);
    weft__stand_in_init(world);
    world->front.version = world->front.renewed = 1;
    world->types.near[0].key = 1; /* all zero would be the key of the null component */
    world->front.structure_version = 1;
    weft_result result = weft__queries_create(world);
    if (result == WEFT_OK) result = built_ins_create(world);
    return result == WEFT_OK ? pool_obtain(world) : result;
}

static void storage_fini(weft_world *world)
{
    weft__chunks_fini(world);
    if (world->front.queries != NULL) weft__loops_free(&world->front.queries->loops);
    weft__queries_destroy(world);
    weft__archetypes_fini(world);
    weft__shared_fini(&world->shared);
    weft__types_fini(world);
    weft__names_fini(world);
    weft__guards_free(world);
    weft__stand_in_fini(world);
    weft__small_fini(&world->small, &world->memory);
    weft__lines_fini(&world->lines, &world->memory);
    weft__lines_fini(&world->archetype_lines, &world->memory);
    weft__parts_fini(&world->parts, &world->memory);
    weft__units_fini(&world->units);
    weft__directory_fini(&world->directory);
    weft__entity_tag_release(world->desc.entity_tag);
    weft__blob_store_free(world->blobs); /* last: destructors of components may release blobs */
}

static weft_result create_world(const weft_world_desc *desc, weft_world **out)
{
    weft_world *world;
    weft_result result = world_allocate(desc, &world);
    if (result != WEFT_OK) return result;
    result = storage_init(world);
    if (result != WEFT_OK) {
        storage_fini(world);
        world_free(world);
        return result;
    }
    *out = world;
    world->front.is_told = true;
    if (world_created != NULL && !desc->is_hidden) world_created(world);
    world->front.is_told = false;
    return WEFT_OK;
}

weft_result weft_world_create(const weft_world_desc *desc, weft_world **out)
{
    static const weft_world_desc defaults;
    if (desc == NULL) desc = &defaults;
    weft_error *error = desc->error;
    if (error != NULL) *error = (weft_error){0};
    const char *mistake = out == NULL ? "out is NULL: give its address" : mistake_in(desc);
    if (out != NULL) *out = NULL;
    if (mistake != NULL)
        return weft__error_fill(error, WEFT_INVALID_ARGUMENT, "weft_world_create: %s", mistake);
    weft_result result = create_world(desc, out);
    if (result != WEFT_OK && error != NULL && error->code == WEFT_OK)
        weft__error_fill(error, result, "weft_world_create: %s; nothing was made",
                         weft_result_text(result));
    return result;
}

/* Asked before anything is destroyed, outside of jobs: the owner of the world has its pool. */
static weft_result pool_check_end(weft_world *world)
{
    weft__host *host = &world->front.host;
    uintptr_t owner = weft__pool_take_over(host->pool, weft__thread_self());
    weft__pool_remove_user(host->pool, &host->tenancy);
    weft_result result = weft__pool_check_end(host->pool);
    if (result == WEFT_OK) return WEFT_OK;
    weft__pool_add_user(host->pool, &host->tenancy, world->desc.name);
    weft__pool_take_over(host->pool, owner);
    return weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "weft_world_destroy: its own job pool would end with it, but %s",
                       weft_job_pool_error(world->front.host.pool)->text);
}

static void list_add(char *list, size_t room, const char *item)
{
    size_t used = strlen(list);
    snprintf(list + used, room - used, "%s%s", used == 0 ? "" : ", ", item);
}

static inline uint32_t held(const weft_world *world, weft__holder kind)
{
    return at_load_rlx(&weft__front(world)->x_holders[kind]); /* relaxed: above */
}

/* What lives on the world and has to end before it. */
static weft_result holders_check(const weft_world *world)
{
    static const char *const words[WEFT__HOLDER_COUNT][2] = {
        {"snapshots", "weft_snapshot_destroy"},
        {"recorders", "weft_recorder_destroy"},
        {"streams", "weft_stream_close"},
        {"indexed accesses", "weft_indexed_close"},
    };
    char list[sizeof world->error->text - 60] = "", item[64];
    for (uint32_t i = 0; i < WEFT__HOLDER_COUNT; i++) {
        uint32_t count = held(world, i);
        snprintf(item, sizeof item, "%s: %u (%s)", words[i][0], count, words[i][1]);
        if (count != 0) list_add(list, sizeof list, item);
    }
    weft_blob_store_stats blobs;
    if (weft_blob_store_stats_get(world->blobs, &blobs, sizeof blobs) == WEFT_OK &&
        blobs.builders != 0) {
        snprintf(item, sizeof item, "blob builders: %u (weft_blob_builder_destroy)",
                 blobs.builders);
        list_add(list, sizeof list, item);
    }
    for (const weft_world_hook *hook = world->front.hooks; hook != NULL; hook = hook->next)
        if (hook->holds != NULL) list_add(list, sizeof list, hook->holds);
    if (list[0] == '\0') return WEFT_OK;
    return weft__error(world, WEFT_BUSY, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "weft_world_destroy: end first what lives on the world: %s", list);
}

weft_component weft_component_prefab(const weft_world *world)
{
    return world == NULL ? WEFT__NO_COMPONENT : world->builtin.prefab;
}

weft_component weft_component_inactive(const weft_world *world)
{
    return world == NULL ? WEFT__NO_COMPONENT : world->builtin.inactive;
}

weft_component weft_component_linked_group(const weft_world *world)
{
    return world == NULL ? WEFT__NO_COMPONENT : world->builtin.linked_group;
}

weft_result weft_world_destroy(weft_world *world)
{
    if (world == NULL) return WEFT_OK;
    weft_result result = weft__outside_hooks(world, "weft_world_destroy");
    if (result != WEFT_OK) return result;
    /* in a job the error of the world belongs to another thread */
    bool is_in_job = world->front.host.owns_pool && weft__pool_is_in_job(world->front.host.pool);
    result = is_in_job ? WEFT_WRONG_PHASE : holders_check(world);
    if (result == WEFT_OK && world->front.host.owns_pool) result = pool_check_end(world);
    if (result != WEFT_OK) return result;
    world->front.is_told = world->front.is_ending = true;
    weft__world_ended(world);
    for (uint32_t i = 0; i < WEFT__EXTENSION_COUNT; i++) {
        weft__extension *extension = &world->front.extensions[i];
        if (extension->data != NULL) extension->destroy(extension->data);
        extension->data = NULL;
    }
    weft__callback_errors_free(world);
    WEFT__FREE(&world->memory, WEFT__MEMORY_OTHER, world->front.runs, world->front.run_capacity);
    if (world->front.host.owns_pool)
        weft_job_pool_destroy(world->front.host.pool); /* pool_check_end took the world off it */
    else
        weft__pool_remove_user(world->front.host.pool, &world->front.host.tenancy);
    world->front.host.owner = NULL;
    storage_fini(world);
    world_free(world);
    return WEFT_OK;
}

weft_job_pool *weft_world_pool(const weft_world *world)
{
    return world == NULL ? NULL : world->front.host.pool;
}

weft_blob_store *weft_world_blobs(weft_world *world)
{
    if (world == NULL || world->blobs != NULL) return world == NULL ? NULL : world->blobs;
    const char *advice = "call it once before the step, which makes the store";
    weft_result result = weft__refuse_systems(world, "weft_world_blobs", advice);
    if (result != WEFT_OK) return NULL;
    result = weft__blob_store_make(&world->memory, NULL, world->desc.os, WEFT_BLOB_PROTECT_CHECKED,
                                   &world->blobs);
    if (result == WEFT_OUT_OF_MEMORY) weft__error_memory(world, "weft_world_blobs");
    if (result == WEFT_LIMIT)
        weft__error(world, WEFT_LIMIT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "weft_world_blobs: the numbers of blob stores of this process are taken or "
                    "used up: destroy worlds and stores that are not needed, or use one store for "
                    "all");
    return world->blobs;
}

/* ---- statistics ---- */

static void stats_memory(const weft_world *world, weft_world_stats *out)
{
    const weft__memory *memory = &world->memory;
    out->bytes_entities = weft__memory_bytes(memory, WEFT__MEMORY_ENTITIES);
    out->bytes_chunks = weft__memory_bytes(memory, WEFT__MEMORY_CHUNKS);
    out->bytes_metadata = weft__memory_bytes(memory, WEFT__MEMORY_METADATA);
    out->bytes_types = weft__memory_bytes(memory, WEFT__MEMORY_TYPES);
    out->bytes_queries = weft__memory_bytes(memory, WEFT__MEMORY_QUERIES);
    out->bytes_shared = weft__memory_bytes(memory, WEFT__MEMORY_SHARED);
    out->bytes_buffers = weft__memory_bytes(memory, WEFT__MEMORY_BUFFERS);
    out->bytes_commands = weft__memory_bytes(memory, WEFT__MEMORY_COMMANDS);
    out->bytes_systems = weft__memory_bytes(memory, WEFT__MEMORY_SYSTEMS);
    out->bytes_blobs = weft__memory_bytes(memory, WEFT__MEMORY_BLOBS);
    for (int i = 0; i < WEFT__MEMORY_CATEGORY_COUNT; i++)
        out->bytes_total += weft__memory_bytes(memory, (weft__memory_category)i);
    out->bytes_other = out->bytes_total - out->bytes_entities - out->bytes_chunks -
                       out->bytes_metadata - out->bytes_types - out->bytes_queries -
                       out->bytes_shared - out->bytes_buffers - out->bytes_commands -
                       out->bytes_systems - out->bytes_blobs;
    out->allocations = at_load_rlx(&memory->x_allocations); /* relaxed: a statistic */
}

static void stats_plans(const weft__archetype *archetype, weft_world_stats *out)
{
    for (uint32_t i = 0; i <= archetype->plan_mask; i++)
        for (const weft__plan *plan = archetype->plans[i]; plan != NULL; plan = plan->next) {
            out->bytes_moved += plan->rows_moved * plan->copy_bytes;
            out->rows_moved += plan->rows_moved;
        }
}

void weft_world_stats_get(const weft_world *world, weft_world_stats *out, size_t out_bytes)
{
    if (out == NULL) return;
    weft_world_stats stats = {0};
    if (world != NULL) {
        stats.entities = weft__directory_alive(&world->directory);
        stats.archetypes = world->archetypes.count;
        stats.chunks = world->chunks.count;
        for (uint32_t id = 1; id < world->chunks.end; id++)
            if (world->chunks.at[id] != NULL)
                stats.slices += weft__chunk_slices(world->chunks.at[id]);
        stats.units_used = weft__units_used(&world->units);
        stats.megachunks_mapped = weft__units_mapped(&world->units);
        stats.component_types = world->types.count;
        stats.queries = world->front.queries->all.count;
        stats.bytes_moved = at_load_rlx(&world->moved.x_bytes); /* relaxed: a statistic */
        stats.rows_moved = at_load_rlx(&world->moved.x_rows);   /* relaxed: a statistic */
        for (uint32_t i = 0; i < world->archetypes.id_count; i++)
            if (world->archetypes.by_id[i] != NULL) stats_plans(world->archetypes.by_id[i], &stats);
        stats_memory(world, &stats);
    }
    weft__sized_fill(out, out_bytes, &stats, sizeof stats);
}
