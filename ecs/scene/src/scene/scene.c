/* SPDX-License-Identifier: MIT */
/* scene.c: scenes begin and end; what they tell of the last bake. See weft/scene.h and
 * scene_state.h. */
#include "scene_state.h"

#include "error.h"
#include "hash.h"
#include "sized.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

/* ---- begin and end ---- */

static bool is_possible(const weft_scene_desc *desc)
{
    if ((desc->bakers == NULL && desc->baker_count != 0) ||
        (desc->sources == NULL && desc->source_count != 0) || desc->baker_count > 65536 ||
        desc->source_count > 1024)
        return false;
    for (uint32_t i = 0; i < desc->baker_count; i++) {
        if (!weft__name_fits(desc->bakers[i].name, SIZE_MAX) || desc->bakers[i].bake == NULL)
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(desc->bakers[i].name, desc->bakers[k].name) == 0) return false;
    }
    for (uint32_t i = 0; i < desc->source_count; i++) {
        const weft_source_desc *source = &desc->sources[i];
        if (source->kind == NULL || source->suffixes == NULL || source->open == NULL ||
            strcmp(source->kind, "text") == 0)
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(source->kind, desc->sources[k].kind) == 0) return false;
    }
    return true;
}

static bool copy_arrays(weft_scene *scene, const weft_scene_desc *desc)
{
    const size_t baker_bytes = desc->baker_count * sizeof *desc->bakers;
    const size_t source_bytes = desc->source_count * sizeof *desc->sources;
    scene->arrays.memory = &scene->memory;
    scene->desc = *desc;
    weft_baker_desc *bakers = weft__pile_take(&scene->arrays, baker_bytes);
    weft_source_desc *sources = weft__pile_take(&scene->arrays, source_bytes);
    scene->baker_properties =
        weft__pile_take(&scene->arrays, desc->baker_count * sizeof *scene->baker_properties);
    if (bakers == NULL || sources == NULL || scene->baker_properties == NULL) return false;
    if (baker_bytes != 0) memcpy(bakers, desc->bakers, baker_bytes);
    if (source_bytes != 0) memcpy(sources, desc->sources, source_bytes);
    scene->desc.bakers = bakers;
    scene->desc.sources = sources;
    for (uint32_t i = 0; i < desc->baker_count; i++) {
        const char *property = bakers[i].property;
        scene->baker_properties[i] =
            property == NULL ? 0 : hash_bytes(HASH_K1, property, strlen(property));
    }
    if (scene->desc.file_bytes_max == 0) scene->desc.file_bytes_max = UINT64_C(1) << 30;
    if (scene->desc.object_limit == 0) scene->desc.object_limit = UINT32_C(1) << 22;
    return true;
}

static weft_result begin(weft_scene *scene, weft_world *world, const weft_scene_desc *desc)
{
    if (!copy_arrays(scene, desc)) return WEFT_OUT_OF_MEMORY;
    weft_result result = weft__schema_init(&scene->schema, &scene->memory, world);
    if (result != WEFT_OK) return result;
    const weft_blob_store_desc blobs = {.allocator = scene->memory.hook};
    result = weft_blob_store_create(&blobs, &scene->blobs);
    if (result != WEFT_OK) return result;
    scene->worker_count = weft_job_pool_worker_count(weft_world_pool(world));
    scene->workers = weft__alloc_zeroed(&scene->memory, WEFT__MEMORY_OTHER, scene->worker_count,
                                        sizeof *scene->workers, 16);
    if (scene->workers == NULL) return WEFT_OUT_OF_MEMORY;
    weft__tree_init(&scene->tree, &scene->memory, &scene->files, scene->desc.object_limit);
    scene->removed.memory = &scene->memory;
    scene->hook.holds = "scene (weft_scene_destroy)";
    return weft_world_hook_add(world, &scene->hook);
}

static void free_records(weft_scene *scene)
{
    for (uint32_t i = 0; i < scene->tree.nodes.count; i++)
        if (scene->tree.nodes.at[i].record != NULL)
            weft__record_free(scene->tree.nodes.at[i].record, &scene->memory, scene->blobs);
}

static void scene_free(weft_scene *scene)
{
    weft__memory *memory = &scene->memory;
    free_records(scene);
    weft__tree_free(&scene->tree);
    weft__files_free(&scene->files);
    for (uint32_t i = 0; i < scene->worker_count && scene->workers != NULL; i++) {
        const weft__bake_scene shared = {.memory = memory};
        scene->workers[i].scene = &shared;
        weft__bake_free(&scene->workers[i]);
    }
    weft__free(memory, WEFT__MEMORY_OTHER, scene->workers, scene->worker_count,
               sizeof *scene->workers, 16);
    WEFT__SCENE_FREE(memory, &scene->changes);
    WEFT__SCENE_FREE(memory, &scene->problems);
    WEFT__SCENE_FREE(memory, &scene->removed_paths);
    WEFT__SCENE_FREE(memory, &scene->entities);
    weft__pile_free(&scene->removed);
    weft__schema_free(&scene->schema, memory);
    weft_blob_store_destroy(scene->blobs);
    weft__pile_free(&scene->arrays);
    weft__blocks_end(&scene->blocks, &scene->memory.hook);
    weft__memory last = scene->memory;
    weft__free(&last, WEFT__MEMORY_OTHER, scene, 1, sizeof *scene, 64);
}

weft_result weft_scene_create(weft_world *schema, const weft_scene_desc *desc, weft_scene **out)
{
    static const weft_scene_desc plain = {.baker_count = 0};
    weft__memory memory;
    if (out == NULL) return WEFT_INVALID_ARGUMENT;
    *out = NULL;
    if (desc == NULL) desc = &plain;
    if (schema == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__refuse_steps(schema, "weft_scene_create");
    if (result != WEFT_OK) return result;
    result =
        is_possible(desc) ? weft__memory_init(&memory, &desc->allocator) : WEFT_INVALID_ARGUMENT;
    if (result != WEFT_OK)
        return weft__error(schema, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_scene_create: give each baker and source a function and a name of "
                           "its own, and the allocator both functions");
    weft_scene *scene = weft__alloc_zeroed(&memory, WEFT__MEMORY_OTHER, 1, sizeof *scene, 64);
    if (scene == NULL) return weft__error_memory(schema, "weft_scene_create");
    weft__memory_init(&scene->memory, &desc->allocator);
    weft__blocks_init(&scene->blocks, &scene->memory.hook);
    if (!weft__files_init(&scene->files, &scene->memory, &scene->desc)) {
        weft__blocks_end(&scene->blocks, &scene->memory.hook);
        weft__free(&memory, WEFT__MEMORY_OTHER, scene, 1, sizeof *scene, 64);
        return weft__error_memory(schema, "weft_scene_create");
    }
    result = begin(scene, schema, desc);
    if (result == WEFT_OK)
        *out = scene;
    else
        scene_free(scene);
    return result == WEFT_OUT_OF_MEMORY ? weft__error_memory(schema, "weft_scene_create") : result;
}

void weft_scene_destroy(weft_scene *scene)
{
    if (scene == NULL || weft__scene_bakes(scene)) return;
    if (weft_world_hook_remove(scene->schema.world, &scene->hook) != WEFT_OK) return; /* not idle */
    scene_free(scene);
}

/* ---- what it tells ---- */

void weft_scene_stats_get(const weft_scene *scene, weft_scene_stats *out, size_t out_bytes)
{
    if (scene == NULL || out == NULL) return;
    weft__sized_fill(out, out_bytes, &scene->stats, sizeof scene->stats);
}

uint32_t weft_scene_error_count(const weft_scene *scene)
{
    return scene == NULL ? 0 : scene->problems.count;
}

const weft_scene_problem *weft_scene_error(const weft_scene *scene, uint32_t index)
{
    return scene == NULL || index >= scene->problems.count ? NULL : &scene->problems.at[index];
}

bool weft_scene_change_get(weft_scene *scene, uint32_t index, weft_scene_change *out)
{
    if (scene == NULL || out == NULL || index >= scene->changes.count) return false;
    const weft__change *change = &scene->changes.at[index];
    *out = (weft_scene_change){.kind = change->kind, .path = scene->path};
    if (change->kind == WEFT_SCENE_REMOVED)
        out->path = scene->removed_paths.at[change->node];
    else
        weft__node_path(&scene->tree, change->node, scene->path, sizeof scene->path);
    return true;
}

bool weft_scene_is_stale(weft_scene *scene)
{
    if (scene == NULL || scene->files.bake == 0) return false;
    return scene->baked != scene->files.bake || weft__files_are_stale(&scene->files);
}

static bool is_read(const weft_scene *scene, const weft__scene_file *file)
{
    return file->used == scene->files.bake && !file->is_fallback && !file->is_missing;
}

const char *weft_scene_file(const weft_scene *scene, uint32_t index)
{
    const weft__scene_file *first = scene == NULL ? NULL : scene->files.first;
    for (const weft__scene_file *f = first; f != NULL; f = f->next)
        if (is_read(scene, f) && index-- == 0) return f->path;
    for (const weft__scene_file *f = first; f != NULL; f = f->next) {
        if (!is_read(scene, f)) continue;
        if (index < f->uses.count) return f->uses.at[index].path;
        index -= f->uses.count;
    }
    return NULL;
}

weft_entity weft_scene_entity(const weft_scene *scene, const char *path)
{
    const weft_entity none = {0, 0};
    if (scene == NULL || path == NULL || scene->filled != scene->baked) return none;
    if (scene->filled_moment != 0 &&
        !weft_world_has_moment(scene->schema.world, scene->filled_moment))
        return none;
    uint32_t node = weft__tree_find_path(&scene->tree, path);
    return node == WEFT__NONE || node >= scene->entities.count ? none : scene->entities.at[node];
}
