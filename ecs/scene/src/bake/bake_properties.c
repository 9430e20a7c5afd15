/* SPDX-License-Identifier: MIT */
/* bake_properties.c: properties that bake themselves: those named like a component, "transform",
 * "static", "name", "disabled"; and unknown ones, which are mistakes. */
#include "bake_properties.h"

#include "bake_read.h"
#include "hash.h"
#include "value_read.h"

#include <weft/transform.h>

#include <stdio.h>
#include <string.h>

/* ---- the words of weft ---- */

/* The value of "transform". On the stack of a bake. */
typedef struct placing {
    float position[3], rotation[4], scale;
} placing;
static const weft_field placing_fields[] = {
    WEFT_FIELD_WITH(placing, position, .unit = "m"),
    WEFT_FIELD(placing, rotation),
    WEFT_FIELD(placing, scale),
};
static const placing placing_none = {{0, 0, 0}, {0, 0, 0, 1}, 1};
static const weft_type placing_type = {.name = "transform",
                                       .size = sizeof(placing),
                                       .alignment = _Alignof(placing),
                                       .fields = placing_fields,
                                       .field_count = 3,
                                       .initial = &placing_none};

static const weft_field flag_fields[] = {{.name = "", .kind = WEFT_FIELD_BOOL}};
static const weft_type flag_type = {
    .name = "static", .size = 1, .alignment = 1, .fields = flag_fields, .field_count = 1};

enum { NAME_BYTES = 255 }; /* as objects; entities keep less */
static const weft_field name_fields[] = {
    {.name = "", .kind = WEFT_FIELD_TEXT, .count = NAME_BYTES}};
static const weft_type name_type = {
    .name = "name", .size = NAME_BYTES, .alignment = 1, .fields = name_fields, .field_count = 1};

static bool is_word(const weft__property *property)
{
    static const char *const words[] = {"prefab", "without", "each",     "baker",
                                        "name",   "static",  "disabled", "transform"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == property->name_bytes &&
            memcmp(words[i], property->name, property->name_bytes) == 0)
            return true;
    return false;
}

static void bake_place(weft_bake *bake, weft_entity entity)
{
    placing place;
    bool is_there, has_static, is_static = false;
    if (weft__bake_value(bake, bake->node, "transform", &placing_type, &place, &is_there) !=
            WEFT_OK ||
        weft__bake_value(bake, bake->node, "static", &flag_type, &is_static, &has_static) !=
            WEFT_OK ||
        !is_there)
        return;
    const float scale[3] = {place.scale, place.scale, place.scale};
    weft_bake_transform(bake, entity, place.position, place.rotation, scale,
                        is_static ? WEFT_TRANSFORM_STATIC : WEFT_TRANSFORM_DYNAMIC);
}

static void bake_name(weft_bake *bake, weft_entity entity)
{
    char name[NAME_BYTES + 1];
    bool is_there;
    name[NAME_BYTES] = '\0';
    if (weft__bake_value(bake, bake->node, "name", &name_type, name, &is_there) == WEFT_OK &&
        is_there)
        weft_bake_name(bake, entity, name);
}

/* `like`: a word that it may be, where a component's name is not near; or NULL. */
static void tell_unknown(weft_bake *bake, const char *at, const char *name, size_t bytes,
                         const char *like)
{
    const char *near = weft__schema_like(bake->scene->schema, name, bytes);
    if (near != NULL) like = near;
    weft_bake_error(bake, NULL, at, "no component and no baker has the name \"%.*s\": %s%s%s",
                    (int)(bytes < 64 ? bytes : 64), name, like == NULL ? "" : "did you mean \"",
                    like == NULL ? "register it before the scene is made (weft bake: by --types; "
                                   "weft live: impossible)"
                                 : like,
                    like == NULL ? "" : "\"?");
}

/* {"disabled": ["Shield"]}, of the strongest layer that has it. */
static void bake_disabled(weft_bake *bake, weft_entity entity)
{
    const weft__tree *tree = bake->scene->tree;
    const weft__property *found = NULL;
    for (uint32_t l = tree->nodes.at[bake->node].first_layer; l != WEFT__NONE;
         l = tree->layers.at[l].next) {
        const weft__property *p = weft__object_property(tree->layers.at[l].object, "disabled");
        if (p != NULL) found = p;
    }
    if (found == NULL) return;
    weft__json json;
    weft__json_open(&json, found->json, found->json_bytes);
    weft__json_token token = weft__json_next(&json);
    bool is_list = token.kind == WEFT__JSON_ARRAY;
    while (is_list && (token = weft__json_next(&json)).kind == WEFT__JSON_STRING) {
        char name[256];
        size_t length = weft__json_string(&token, name, sizeof name);
        const weft__schema_component *known =
            length < sizeof name ? weft__schema_find(bake->scene->schema, name, length) : NULL;
        if (known == NULL)
            tell_unknown(bake, token.at - 1, name, length, NULL);
        else
            weft_bake_disable(bake, entity, known->component);
    }
    if (!is_list || token.kind != WEFT__JSON_ARRAY_END)
        weft_bake_error(bake, NULL, found->json,
                        "names of components should be here: [\"Shield\"]");
}

/* ---- components ---- */

/* Whether a tag is there: true, {} or false, null. */
static bool bake_tag(weft_bake *bake, weft_entity entity, const weft__schema_component *known,
                     const weft__property *last)
{
    weft__json json;
    weft__json_open(&json, last->json, last->json_bytes);
    weft__json_token token = weft__json_next(&json);
    if (token.kind == WEFT__JSON_FALSE || token.kind == WEFT__JSON_NULL) return true;
    bool is_empty =
        token.kind == WEFT__JSON_OBJECT && weft__json_next(&json).kind == WEFT__JSON_OBJECT_END;
    if (token.kind != WEFT__JSON_TRUE && !is_empty) {
        weft_bake_error(bake, NULL, last->json, "a tag has no value: write true or false");
        return false;
    }
    return weft_bake_set(bake, entity, known->component, NULL, 0) == WEFT_OK;
}

/* The elements of an array; the strongest layer has all of them. */
static bool bake_array(weft_bake *bake, weft_entity entity, const weft__schema_component *known,
                       const weft__file_object *object, const weft__property *last)
{
    weft__bake_text text;
    size_t size = known->desc->size;
    weft__reading r = weft__bake_reading(bake, object, last, &text);
    char path[WEFT__PATH_BYTES], name[WEFT__PATH_BYTES + 256];
    weft__node_path(bake->scene->tree, bake->node, path, sizeof path);
    snprintf(name, sizeof name, "%s.%s", path, known->desc->name);
    const weft_type named = {.name = name};
    r.trail.root = &named;
    weft__json_token token = weft__json_next(&r.json);
    if (token.kind == WEFT__JSON_NULL) return true;
    if (token.kind != WEFT__JSON_ARRAY) {
        weft_bake_error(bake, NULL, last->json, "an array should be here: %s is a buffer",
                        known->desc->name);
        return false;
    }
    WEFT__LIST(char) elements = {0};
    uint32_t count = 0;
    bool is_read = true;
    for (; is_read && bake->result == WEFT_OK; count++) {
        token = weft__json_next(&r.json);
        if (token.kind == WEFT__JSON_ARRAY_END) break;
        char *value = weft__bake_scratch(bake, size);
        if (value == NULL) break;
        weft_value_initial(known->type, value);
        is_read =
            token.kind != WEFT__JSON_ERROR && weft__reading_value(&r, known->type, value, &token);
        size_t bytes = (size_t)(count + 1) * size;
        if (!is_read) break;
        if (bytes > UINT32_MAX / 4 ||
            !WEFT__SCENE_ROOM(bake->scene->memory, &elements, (uint32_t)bytes))
            weft__bake_refused(bake);
        else
            memcpy(elements.at + bytes - size, value, size);
    }
    if (!is_read) {
        bake->is_failed = true;
        if (!weft__problem_add_value(&bake->record->arena, &bake->record->problems, &text.text,
                                     path, &text.error))
            weft__bake_refused(bake);
    } else if (bake->result == WEFT_OK) {
        is_read =
            weft_bake_buffer(bake, entity, known->component, elements.at, count, size) == WEFT_OK;
    }
    WEFT__SCENE_FREE(bake->scene->memory, &elements);
    return is_read;
}

static bool bake_component(weft_bake *bake, weft_entity entity, const weft__schema_component *known,
                           const weft__file_object *object, const weft__property *last,
                           const char *name)
{
    const weft_component_desc *desc = known->desc;
    if ((desc->flags & (WEFT_RESOURCE | WEFT_CHUNK)) != 0) {
        weft_bake_error(bake, NULL, last->json, "%s is a value of the %s, not of an entity",
                        desc->name, (desc->flags & WEFT_CHUNK) != 0 ? "chunk" : "world");
        return false;
    }
    if (desc->size == 0) return bake_tag(bake, entity, known, last);
    if (known->type == NULL) {
        weft_bake_error(bake, NULL, last->json,
                        "%s is not described: register it with weft_component_desc.type (weft "
                        "bake: a \"description\" in its line of --types), or write a baker",
                        desc->name);
        return false;
    }
    if ((desc->flags & WEFT_BUFFER) != 0) return bake_array(bake, entity, known, object, last);
    void *value = weft__bake_scratch(bake, desc->size);
    bool is_there;
    if (value == NULL ||
        weft__bake_value(bake, bake->node, name, known->type, value, &is_there) != WEFT_OK)
        return false;
    return !is_there || weft_bake_set(bake, entity, known->component, value, desc->size) == WEFT_OK;
}

/* ---- all properties ---- */

static bool is_consumed(const weft_bake *bake, uint64_t name_hash)
{
    for (uint32_t i = 0; i < bake->consumed.count; i++)
        if (bake->consumed.at[i] == name_hash) return true;
    for (uint32_t i = 0; i < bake->scene->baker_count; i++)
        if (bake->scene->baker_properties[i] == name_hash) return true;
    return false;
}

/* Whether a stronger layer than `layer` has the property. */
static bool is_overridden(const weft_bake *bake, uint32_t layer, const weft__property *property)
{
    const weft__tree *tree = bake->scene->tree;
    for (uint32_t l = tree->layers.at[layer].next; l != WEFT__NONE; l = tree->layers.at[l].next) {
        const weft__file_object *object = tree->layers.at[l].object;
        for (uint32_t p = object->first_property; p != WEFT__NONE;
             p = object->file->properties.at[p].next)
            if (object->file->properties.at[p].name_hash == property->name_hash) return true;
    }
    return false;
}

static void bake_property(weft_bake *bake, weft_entity entity, const weft__file_object *object,
                          const weft__property *property)
{
    const weft__schema_component *known =
        weft__schema_find(bake->scene->schema, property->name, property->name_bytes);
    if (known == NULL) {
        static const char *const own[] = {"transform", "children", "prefab", "disabled"};
        tell_unknown(bake, property->json, property->name, property->name_bytes,
                     weft__name_like(own, sizeof own[0], sizeof own / sizeof own[0], property->name,
                                     property->name_bytes));
        return;
    }
    bake_component(bake, entity, known, object, property, known->desc->name);
}

void weft__bake_properties(weft_bake *bake)
{
    const weft__tree *tree = bake->scene->tree;
    weft_entity entity = weft_bake_entity(bake, NULL);
    for (uint32_t l = tree->nodes.at[bake->node].first_layer; l != WEFT__NONE;
         l = tree->layers.at[l].next) {
        const weft__file_object *object = tree->layers.at[l].object;
        for (uint32_t p = object->first_property; p != WEFT__NONE && bake->result == WEFT_OK;
             p = object->file->properties.at[p].next) {
            const weft__property *property = &object->file->properties.at[p];
            if (!is_word(property) && !is_consumed(bake, property->name_hash) &&
                !is_overridden(bake, l, property))
                bake_property(bake, entity, object, property);
        }
    }
    if (bake->result == WEFT_OK) bake_place(bake, entity);
    if (bake->result == WEFT_OK) bake_name(bake, entity);
    if (bake->result == WEFT_OK) bake_disabled(bake, entity);
}
