/* SPDX-License-Identifier: MIT */
/* scene_schema.h: the components that a scene may use: a copy of what the world knows of them,
 * which any thread reads. Made with the scene, constant. */
#ifndef WEFT_SCENE_SCHEMA_H
#define WEFT_SCENE_SCHEMA_H

#include "scene_memory.h"

#include <weft/ecs.h>

/* A component. Owner: weft__schema; texts belong to the world. */
typedef struct weft__schema_component {
    const weft_component_desc *desc;
    const weft_type *type; /* NULL: not described */
    weft_component component;
    uint64_t name_hash, hash;
} weft__schema_component;

/* Part of a scene. */
typedef struct weft__schema {
    weft_world *world;
    WEFT__LIST(weft__schema_component) components; /* by id - 1; desc NULL: internal */
    weft__table map;                               /* of ids by name */
    weft_component parent, instance_of, prefab, linked_group;
    weft_component local, placed, stretch; /* of weft_transform_create; null: not registered */
} weft__schema;

weft_result weft__schema_init(weft__schema *schema, weft__memory *memory, weft_world *world);
void weft__schema_free(weft__schema *schema, weft__memory *memory);
/* NULL: no component of this name, or of this handle. */
const weft__schema_component *weft__schema_find(const weft__schema *schema, const char *name,
                                                size_t bytes);
const weft__schema_component *weft__schema_of(const weft__schema *schema, weft_component component);
/* The name most like a word; NULL: none is. */
const char *weft__schema_like(const weft__schema *schema, const char *word, size_t bytes);

#endif
