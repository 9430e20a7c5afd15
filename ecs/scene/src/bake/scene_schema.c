/* SPDX-License-Identifier: MIT */
/* scene_schema.c: the components of a world by id and by name, as they were when the scene was
 * made. See scene_schema.h. */
#include "scene_schema.h"

#include "hash.h"
#include "value_error.h"

#include <weft/transform.h>

#include <string.h>

static bool add(weft__schema *schema, weft__memory *memory, const weft_component_desc *desc,
                weft_component component)
{
    weft__schema_component *added = WEFT__SCENE_ADD(memory, &schema->components);
    if (added == NULL) return false;
    *added = (weft__schema_component){.desc = desc, .component = component};
    if (desc == NULL) return true;
    added->type = weft_component_type(schema->world, component);
    added->name_hash = hash_string(desc->name);
    added->hash = weft_component_hash(schema->world, component);
    return true;
}

static bool make_map(weft__schema *schema, weft__memory *memory)
{
    if (!weft__table_room(memory, WEFT__MEMORY_OTHER, &schema->map, schema->components.count))
        return false;
    for (uint32_t i = 0; i < schema->components.count; i++)
        if (schema->components.at[i].desc != NULL)
            weft__table_put(&schema->map, (uint32_t)schema->components.at[i].name_hash, i + 1);
    return true;
}

weft_result weft__schema_init(weft__schema *schema, weft__memory *memory, weft_world *world)
{
    weft_world_stats stats;
    *schema = (weft__schema){.world = world};
    schema->parent = weft_component_parent(world);
    schema->instance_of = weft_component_instance_of(world);
    if (schema->parent.id == 0 || schema->instance_of.id == 0) return weft_world_error(world)->code;
    schema->prefab = weft_component_prefab(world);
    schema->linked_group = weft_component_linked_group(world);
    schema->local = weft_component_find(world, "LocalTransform");
    schema->placed = weft_component_find(world, "WorldTransform");
    schema->stretch = weft_component_find(world, "LocalStretch");
    weft_world_stats_get(world, &stats, sizeof stats);
    for (uint32_t id = 1; id <= stats.component_types; id++) { /* ids count from 1 */
        weft_component component = {id, schema->parent.world};
        const weft_component_desc *desc = weft_component_info(world, component);
        if (!add(schema, memory, desc, component)) return WEFT_OUT_OF_MEMORY;
    }
    return make_map(schema, memory) ? WEFT_OK : WEFT_OUT_OF_MEMORY;
}

void weft__schema_free(weft__schema *schema, weft__memory *memory)
{
    WEFT__SCENE_FREE(memory, &schema->components);
    weft__table_free(memory, WEFT__MEMORY_OTHER, &schema->map);
}

const weft__schema_component *weft__schema_find(const weft__schema *schema, const char *name,
                                                size_t bytes)
{
    uint64_t hash = hash_bytes(HASH_K0, name, bytes);
    uint32_t step = 0, id;
    while ((id = weft__table_next(&schema->map, (uint32_t)hash, &step)) != 0) {
        const weft__schema_component *found = &schema->components.at[id - 1];
        if (strlen(found->desc->name) == bytes && memcmp(found->desc->name, name, bytes) == 0)
            return found;
    }
    return NULL;
}

const weft__schema_component *weft__schema_of(const weft__schema *schema, weft_component component)
{
    if (component.id == 0 || component.id > schema->components.count ||
        component.world != schema->parent.world)
        return NULL;
    const weft__schema_component *found = &schema->components.at[component.id - 1];
    return found->desc == NULL ? NULL : found;
}

const char *weft__schema_like(const weft__schema *schema, const char *word, size_t bytes)
{
    const char *best = NULL;
    for (uint32_t i = 0; i < schema->components.count && best == NULL; i++)
        if (schema->components.at[i].desc != NULL)
            best = weft__name_like(&schema->components.at[i].desc->name, 0, 1, word, bytes);
    return best;
}
