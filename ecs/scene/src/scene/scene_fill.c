/* SPDX-License-Identifier: MIT */
/* scene_fill.c: records become entities of a world: first all entities, then their values. A
 * fill that fails takes back what it made. See fill_entities.h and fill_values.h. */
#include "fill_values.h"

#include "error.h"
#include "unmake.h"

#include <string.h>

/* ---- the whole ---- */

static bool begin(weft__fill *f)
{
    weft_scene *scene = f->scene;
    uint32_t nodes = scene->tree.nodes.count;
    bool is_same = f->world == scene->schema.world;
    f->map_count = scene->schema.components.count;
    f->map = weft__alloc_zeroed(f->memory, WEFT__MEMORY_OTHER, f->map_count, sizeof *f->map, 16);
    f->first = weft__alloc(f->memory, WEFT__MEMORY_OTHER, nodes, sizeof *f->first, 16);
    bool has_room = weft__places_room(&f->places, f->memory, nodes) &&
                    WEFT__SCENE_ROOM(f->memory, &f->entities, scene->stats.entities + 1) &&
                    WEFT__SCENE_ROOM(f->memory, &scene->entities, nodes + 1);
    if (f->map == NULL || f->first == NULL || !has_room)
        return weft__fill_refuse(f, WEFT_OUT_OF_MEMORY);
    f->prefab = weft_component_prefab(f->world);
    f->linked_group = weft_component_linked_group(f->world);
    f->parent = weft_component_parent(f->world);
    f->instance_of = weft_component_instance_of(f->world);
    if (f->parent.id == 0 || f->instance_of.id == 0) return weft__fill_world_refused(f);
    f->local = is_same ? scene->schema.local : weft_component_find(f->world, "LocalTransform");
    f->placed = is_same ? scene->schema.placed : weft_component_find(f->world, "WorldTransform");
    f->stretch = is_same ? scene->schema.stretch : weft_component_find(f->world, "LocalStretch");
    return true;
}

/* The world as it was: entities in the order in which they came, the last one first, and blobs. */
static void take_back(weft__fill *f)
{
    for (uint32_t i = f->entities.count; i-- > 0;) weft__entity_unmake(f->world, f->entities.at[i]);
    for (uint32_t i = 0; i < f->copies.count; i++) weft_blob_release(f->blobs, f->copies.at[i].to);
}

static void end(weft__fill *f)
{
    uint32_t nodes = f->scene->tree.nodes.count;
    weft__free(f->memory, WEFT__MEMORY_OTHER, f->map, f->map_count, sizeof *f->map, 16);
    weft__free(f->memory, WEFT__MEMORY_OTHER, f->first, nodes, sizeof *f->first, 16);
    weft__places_free(&f->places, f->memory);
    WEFT__SCENE_FREE(f->memory, &f->kinds);
    weft__table_free(f->memory, WEFT__MEMORY_OTHER, &f->kind_at);
    WEFT__SCENE_FREE(f->memory, &f->entities);
    WEFT__SCENE_FREE(f->memory, &f->copies);
    WEFT__SCENE_FREE(f->memory, &f->scratch);
}

weft_result weft_scene_fill(weft_scene *scene, weft_world *world)
{
    if (scene == NULL || world == NULL) return WEFT_INVALID_ARGUMENT;
    if (weft__scene_bakes(scene)) return WEFT_WRONG_PHASE;
    weft_result result = weft__refuse_systems(world, "weft_scene_fill", "do it after the step");
    if (result != WEFT_OK) return result;
    if (scene->tree.nodes.count == 0) return WEFT_OK; /* nothing was baked */
    weft__fill f = {.scene = scene, .memory = &scene->memory, .world = world};
    uint64_t errors = weft_world_error(world)->number;
    if (begin(&f) && weft__fill_entities(&f) && weft__fill_values(&f)) {
        for (uint32_t i = 0; i < scene->tree.nodes.count; i++)
            scene->entities.at[i] = weft__fill_entity_of(&f, i);
        scene->entities.count = scene->tree.nodes.count;
        scene->filled = scene->baked;
        scene->filled_moment = world == scene->schema.world ? weft_world_moment(world) : 0;
    } else {
        if (weft_world_error(world)->number == errors)
            weft__error(world, f.result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                        "weft_scene_fill: %s; nothing was made", weft_result_text(f.result));
        take_back(&f);
    }
    end(&f);
    return f.result;
}
