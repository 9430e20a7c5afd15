/* SPDX-License-Identifier: MIT */
/* bake.c: the components of a world by id and by name, as they were when the scene was made; then
 * how one object becomes a record: its bakers run, then its properties (those named like a
 * component, "transform", "static", "name", "disabled"; unknown ones are mistakes), then what they
 * made is put into one block. Before that, what bakers may call (weft/scene.h). What they make:
 * entities, values, names, places, blobs, as steps of the record; handles of entities are numbers
 * of references of the record until a world is filled. What they read: properties, other objects,
 * files: all of it is recorded, but what is of the object itself, which is one hash; what was not
 * found is a read, too. See bake.h. */
#include "bake.h"
#include "component_type.h"
#include "hash.h"
#include "utf8.h"

#include <stdio.h>
#include <weft/relation.h>
#include <weft/transform.h>

/* ---- the schema ---- */

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
        weft__schema_component *added = WEFT__SCENE_ADD(memory, &schema->components);
        if (added == NULL || !weft__table_room(memory, WEFT__MEMORY_OTHER, &schema->map, id))
            return WEFT_OUT_OF_MEMORY;
        *added = (weft__schema_component){.desc = desc, .component = component};
        if (desc == NULL) continue;
        added->type = weft_component_type(world, component);
        added->hash = weft_component_hash(world, component);
        weft__table_put(&schema->map, (uint32_t)hash_string(desc->name), id);
    }
    return WEFT_OK;
}

void weft__schema_free(weft__schema *schema, weft__memory *memory)
{
    WEFT__SCENE_FREE(memory, &schema->components);
    weft__table_free(memory, WEFT__MEMORY_OTHER, &schema->map);
}

static const weft__schema_component *schema_find(const weft__schema *schema, const char *name,
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

static const weft__schema_component *schema_of(const weft__schema *schema, weft_component component)
{
    if (component.id == 0 || component.id > schema->components.count ||
        component.world != schema->parent.world)
        return NULL;
    const weft__schema_component *found = &schema->components.at[component.id - 1];
    return found->desc == NULL ? NULL : found;
}

static const char *schema_like(const weft__schema *schema, const char *word, size_t bytes)
{
    const char *best = NULL;
    for (uint32_t i = 0; i < schema->components.count && best == NULL; i++)
        if (schema->components.at[i].desc != NULL)
            best = weft__name_like(&schema->components.at[i].desc->name, 0, 1, word, bytes);
    return best;
}

/* ---- the run ---- */

/* NULL: the one that is baked. */
static uint32_t object_node(const weft_bake *bake, const weft_object *object)
{
    const weft__node *node = (const void *)object;
    return node == NULL ? bake->node : (uint32_t)(node - bake->scene->tree->nodes.at);
}
static const weft_object *node_object(const weft_bake *bake, uint32_t node)
{
    return (const weft_object *)(const void *)&bake->scene->tree->nodes.at[node];
}

static void refused(weft_bake *bake)
{
    bake->result = WEFT_OUT_OF_MEMORY;
}

/* More bytes of a list; NULL: refused, which the bake keeps. */
static char *chars_add(weft_bake *bake, weft__chars *list, size_t bytes)
{
    uint32_t at = list->count;
    if (bytes > UINT32_MAX / 4 ||
        !WEFT__SCENE_ROOM(bake->scene->memory, list, at + (uint32_t)bytes)) {
        refused(bake);
        return NULL;
    }
    list->count += (uint32_t)bytes;
    return list->at + at;
}

/* Memory for one value, aligned to 64, zeroed; NULL: refused. */
static void *scratch_take(weft_bake *bake, size_t bytes)
{
    bake->scratch.count = 0;
    char *at = chars_add(bake, &bake->scratch, bytes + 64);
    if (at == NULL) return NULL;
    return memset(at + (64 - (uintptr_t)at % 64) % 64, 0, bytes);
}

/* The place of a text in a list of texts. */
static uint32_t add_text(weft_bake *bake, weft__chars *list, const char *text, size_t bytes)
{
    uint32_t at = list->count;
    char *to = chars_add(bake, list, bytes + 1);
    if (to == NULL) return 0;
    if (bytes != 0) memcpy(to, text, bytes);
    to[bytes] = '\0';
    return at;
}

/* Records a read: its kind, path and hash; `text` says of what, `name` (may be NULL) which
 * property. */
static void record_read(weft_bake *bake, weft__read read, const char *text, size_t text_bytes,
                        const char *name)
{
    for (uint32_t i = 0; i < bake->reads.count; i++) {
        const weft__read *known = &bake->reads.at[i];
        if (known->kind != read.kind || known->path != read.path) continue;
        if (name == NULL || strcmp(bake->read_texts.at + known->name, name) == 0) return;
    }
    read.text = add_text(bake, &bake->read_texts, text, text_bytes);
    read.name = name == NULL ? 0 : add_text(bake, &bake->read_texts, name, strlen(name));
    if (!WEFT__SCENE_APPEND(bake->scene->memory, &bake->reads, &read)) refused(bake);
}

/* A mistake of a baker: reports it, and is `result`. */
#define refuse(bake, result, ...)                                                                  \
    (weft_bake_fail((bake), NULL, NULL, __VA_ARGS__), (weft_result)(result))

/* ---- what bakers call: entities ---- */

static weft_entity handle(uint32_t reference)
{
    return (weft_entity){reference, WEFT__REFERENCE_VERSION};
}

static weft_entity refer(weft_bake *bake, weft__reference_kind kind, uint64_t path, const char *key)
{
    for (uint32_t i = 0; i < bake->references.count; i++)
        if (bake->references.at[i].kind == kind && bake->references.at[i].path == path)
            return handle(i);
    weft__record_reference reference = {.kind = kind, .path = path};
    if (key != NULL) reference.text = add_text(bake, &bake->texts, key, strlen(key));
    if (!WEFT__SCENE_APPEND(bake->scene->memory, &bake->references, &reference)) {
        refused(bake);
        return (weft_entity){0, 0};
    }
    return handle(bake->references.count - 1);
}

weft_entity weft_bake_entity(weft_bake *bake, const char *name)
{
    uint64_t hash = name == NULL ? 0 : hash_string(name) | 1;
    for (uint32_t i = 0; i < bake->entities.count; i++)
        if (bake->entities.at[i] == hash) return refer(bake, WEFT__REFERENCE_OWN, i, NULL);
    if (!WEFT__SCENE_APPEND(bake->scene->memory, &bake->entities, &hash)) {
        refused(bake);
        return (weft_entity){0, 0};
    }
    return refer(bake, WEFT__REFERENCE_OWN, bake->entities.count - 1, NULL);
}

/* The entity of an object by its path; a null handle: *why says it. */
static weft_entity entity_of(weft_bake *bake, const char *path, size_t bytes, const char **why)
{
    const weft__tree *tree = bake->scene->tree;
    uint64_t hash;
    uint32_t node = weft__tree_resolve(tree, bake->node, path, bytes, &hash);
    if (node == bake->node) return weft_bake_entity(bake, NULL);
    const weft__read read = {.kind = WEFT__READ_OBJECT, .path = hash, .hash = node != WEFT__NONE};
    record_read(bake, read, path, bytes, NULL);
    *why = "no object has this path: it goes from this object (\"../other\", \"child\") or from "
           "the root (\"/other\")";
    if (node == WEFT__NONE) return (weft_entity){0, 0};
    *why = "this object is no entity: it holds those of a file";
    if (tree->nodes.at[node].is_group) return (weft_entity){0, 0};
    return refer(bake, WEFT__REFERENCE_OBJECT, hash, NULL);
}

static weft_entity prefab_of(weft_bake *bake, const weft__scene_file *file, const char *text,
                             size_t bytes, const char **why)
{
    weft__files *files = bake->scene->files;
    pthread_mutex_lock(&files->lock);
    const weft__file_object *object =
        weft__tree_reference(bake->scene->tree, file, text, bytes, why);
    pthread_mutex_unlock(&files->lock);
    if (object == NULL && *why == weft__no_memory) refused(bake);
    if (object == NULL) {
        /* Another file may come to have it: the mistake depends on that file. */
        const char *mark = memchr(text, '#', bytes);
        const weft__use *use =
            mark == NULL ? NULL : weft__file_use(file, text, (size_t)(mark - text));
        char key[2 * WEFT__PATH_BYTES];
        const char *path = use == NULL ? file->path : use->path;
        size_t length = strlen(path), rest = mark == NULL ? 0 : bytes - (size_t)(mark - text);
        if (mark != NULL && length + rest < sizeof key) {
            memcpy(key, path, length);
            memcpy(key + length, mark, rest);
            key[length + rest] = '\0';
            const weft__read read = {.kind = WEFT__READ_PREFAB, .path = hash_string(key)};
            record_read(bake, read, key, length + rest, NULL);
        }
        return (weft_entity){0, 0};
    }
    char key[2 * WEFT__PATH_BYTES];
    weft__prefab_key(object, key, sizeof key);
    uint64_t hash = weft__prefab_hash(object);
    const weft__read read = {.kind = WEFT__READ_PREFAB, .path = hash, .hash = 1};
    record_read(bake, read, key, strlen(key), NULL);
    return refer(bake, WEFT__REFERENCE_PREFAB, hash, key);
}

/* The entity that a word means: a path, or the reference of a prefab; NULL, or what is wrong. */
static const char *entity_of_word(weft_bake *bake, const weft__scene_file *file, const char *word,
                                  size_t bytes, weft_entity *out)
{
    const char *why = NULL;
    *out = (weft_entity){0, 0};
    if (bytes == 0) return NULL;
    *out = memchr(word, '#', bytes) != NULL ? prefab_of(bake, file, word, bytes, &why)
                                            : entity_of(bake, word, bytes, &why);
    if (!weft_entity_is_null(*out)) return NULL;
    return why == NULL ? "the file of this prefab is broken" : why;
}

weft_component weft_bake_component(const weft_bake *bake, const char *name)
{
    const weft__schema_component *found = schema_find(bake->scene->schema, name, strlen(name));
    return found == NULL ? (weft_component){0} : found->component;
}

/* Where a property of the object says this text, in the strongest layer that does; NULL:
 * nowhere. */
static const char *place_of(const weft_bake *bake, const char *text)
{
    const weft__tree *tree = bake->scene->tree;
    const char *found = NULL;
    for (const weft__layer *l = NULL; (l = weft__layer_after(tree, bake->node, l)) != NULL;) {
        for (const weft__property *p = NULL; (p = weft__property_after(l->object, p)) != NULL;) {
            weft__json json;
            weft__json_token token = {.kind = WEFT__JSON_NULL};
            weft__json_open(&json, p->json, p->json_bytes);
            while (token.kind != WEFT__JSON_END && token.kind != WEFT__JSON_ERROR) {
                token = weft__json_next(&json);
                bool is_it = token.kind == WEFT__JSON_STRING && weft__json_is(&token, text);
                if (is_it) found = token.at - 1; /* its quote */
            }
        }
    }
    return found;
}

weft_entity weft_bake_entity_of(weft_bake *bake, const char *path)
{
    const char *why = NULL;
    weft_entity entity = entity_of(bake, path, strlen(path), &why);
    if (weft_entity_is_null(entity) && bake->result == WEFT_OK)
        weft_bake_fail(bake, NULL, place_of(bake, path), "\"%s\": %s", path, why);
    return entity;
}

weft_entity weft_bake_prefab(weft_bake *bake, const char *reference)
{
    const weft__tree *tree = bake->scene->tree;
    const char *why = NULL;
    weft_entity entity = {0, 0};
    uint32_t layers = 0;
    const weft__scene_file *files[64];
    for (const weft__layer *l = NULL;
         layers < 64 && (l = weft__layer_after(tree, bake->node, l)) != NULL;)
        files[layers++] = l->object->file;
    while (layers-- > 0 && weft_entity_is_null(entity)) /* the strongest that knows the name */
        entity = prefab_of(bake, files[layers], reference, strlen(reference), &why);
    if (weft_entity_is_null(entity) && bake->result == WEFT_OK)
        weft_bake_fail(bake, NULL, place_of(bake, reference), "\"%s\": %s", reference,
                       why == NULL ? "the file of this prefab is broken" : why);
    return entity;
}

/* ---- steps ---- */

/* The number of an entity of this object; WEFT__NONE: it is none, which is a mistake. */
static uint32_t own_number(weft_bake *bake, weft_entity entity)
{
    if (entity.version == WEFT__REFERENCE_VERSION && entity.index < bake->references.count &&
        bake->references.at[entity.index].kind == WEFT__REFERENCE_OWN)
        return (uint32_t)bake->references.at[entity.index].path;
    if (bake->result == WEFT_OK)
        weft_bake_fail(bake, NULL, NULL,
                       "a baker changes an entity that is not of its object: use "
                       "weft_bake_entity");
    return WEFT__NONE;
}

/* Adds a step and a copy of its bytes; NULL: memory was refused. */
static void *add_step(weft_bake *bake, weft__bake_step step, const void *from)
{
    size_t bytes = sizeof step + ((step.bytes + 15) & ~UINT64_C(15));
    char *at = chars_add(bake, &bake->steps, bytes);
    if (at == NULL) return NULL;
    memcpy(at, &step, sizeof step);
    memset(at + sizeof step, 0, bytes - sizeof step);
    return step.bytes == 0 ? at + sizeof step : memcpy(at + sizeof step, from, step.bytes);
}

static weft__bake_step *find_step(const weft_bake *bake, weft__bake_step_kind kind, uint32_t entity,
                                  uint32_t component)
{
    const char *end = bake->steps.at + bake->steps.count;
    for (char *at = bake->steps.at; at < end;) {
        weft__bake_step *step = (weft__bake_step *)(void *)at;
        bool is_value = step->kind <= WEFT__STEP_BUFFER && kind <= WEFT__STEP_BUFFER;
        if ((step->kind == kind || is_value) && step->entity == entity &&
            (kind == WEFT__STEP_TRANSFORM || step->component == component))
            return step;
        at += sizeof *step + ((step->bytes + 15) & ~UINT64_C(15));
    }
    return NULL;
}

/* Leads references in a value: those to entities stay, blobs become numbers of the record. False:
 * a mistake. */
static bool keep_reference(void *user, weft__reference *reference)
{
    weft_bake *bake = user;
    const weft_entity entity = reference->entity;
    uint32_t blob = 0;
    if (reference->bits == 0) return true;
    if (!reference->is_blob)
        return entity.version == WEFT__REFERENCE_VERSION && entity.index < bake->references.count;
    while (blob < bake->blobs.count && bake->blobs.at[blob].ref.id != reference->bits) blob++;
    bool is_known = blob != bake->blobs.count;
    reference->bits = blob + 1;
    return is_known;
}

/* Values of a baker. On the stack of a call. */
typedef struct values {
    const void *at;
    uint32_t count;
    size_t size; /* of one */
    bool is_buffer;
} values;

static weft_result write_values(weft_bake *bake, weft_entity entity, weft_component component,
                                const values *given)
{
    size_t size = given->size;
    const weft__schema_component *known = schema_of(bake->scene->schema, component);
    uint32_t number = own_number(bake, entity);
    if (bake->result != WEFT_OK) return bake->result;
    if (known == NULL)
        return refuse(bake, WEFT_BAD_HANDLE,
                      "a baker gives a component that the world of the scene did not have when "
                      "the scene was created");
    const weft_component_desc *desc = known->desc;
    bool fits = ((desc->flags & WEFT_BUFFER) != 0) == given->is_buffer && size == desc->size &&
                (desc->flags & (WEFT_RESOURCE | WEFT_CHUNK)) == 0;
    if (number == WEFT__NONE) return WEFT_INVALID_ARGUMENT;
    if (!fits)
        return refuse(bake, WEFT_TYPE_MISMATCH,
                      "%s: a baker gives %zu bytes, the component has %zu, and its kind must "
                      "fit the call",
                      desc->name, size, desc->size);
    if (find_step(bake, WEFT__STEP_SET, number, component.id) != NULL)
        return refuse(bake, WEFT_ALREADY_EXISTS,
                      "%s is given twice, by bakers or by a property: once is possible",
                      desc->name);
    char *at =
        add_step(bake,
                 (weft__bake_step){.kind = given->is_buffer ? WEFT__STEP_BUFFER : WEFT__STEP_SET,
                                   .entity = number,
                                   .component = component.id,
                                   .count = given->count,
                                   .bytes = given->count * size},
                 given->at);
    if (at == NULL) return bake->result;
    if (!weft__elements_references(weft__type_of(desc), at, given->count, keep_reference, bake))
        return refuse(bake, WEFT_INVALID_ARGUMENT,
                      "%s: no entity of weft_bake_entity and its like, or no blob that "
                      "weft_bake_blob was given",
                      desc->name);
    return bake->result;
}

weft_result weft_bake_set(weft_bake *bake, weft_entity entity, weft_component component,
                          const void *value, size_t size)
{
    return write_values(bake, entity, component, &(values){value, 1, size, false});
}

weft_result weft_bake_buffer(weft_bake *bake, weft_entity entity, weft_component component,
                             const void *elements, uint32_t count, size_t size)
{
    return write_values(bake, entity, component, &(values){elements, count, size, true});
}

weft_result weft_bake_disable(weft_bake *bake, weft_entity entity, weft_component component)
{
    const weft__schema_component *known = schema_of(bake->scene->schema, component);
    uint32_t number = own_number(bake, entity);
    if (known == NULL)
        return refuse(bake, WEFT_INVALID_ARGUMENT,
                      "a baker disables a component that the world of the scene did not have "
                      "when the scene was created: register it before");
    if (number == WEFT__NONE || (known->desc->flags & WEFT_ENABLEABLE) == 0 ||
        find_step(bake, WEFT__STEP_SET, number, component.id) == NULL)
        return refuse(bake, WEFT_INVALID_ARGUMENT,
                      "\"%s\" cannot be disabled: give it first; it must be ENABLEABLE",
                      known->desc->name);
    if (find_step(bake, WEFT__STEP_DISABLE, number, component.id) != NULL)
        return refuse(bake, WEFT_ALREADY_EXISTS, "\"%s\" is disabled twice: remove one",
                      known->desc->name);
    add_step(
        bake,
        (weft__bake_step){.kind = WEFT__STEP_DISABLE, .entity = number, .component = component.id},
        NULL);
    return bake->result;
}

weft_result weft_bake_name(weft_bake *bake, weft_entity entity, const char *name)
{
    uint32_t number = own_number(bake, entity);
    if (name == NULL) name = "";
    size_t bytes = strlen(name);
    if (number == WEFT__NONE) return WEFT_INVALID_ARGUMENT;
    if (bytes != 0 && !weft__name_fits(name, bytes))
        return refuse(bake, WEFT_INVALID_ARGUMENT, "the name of an entity is not UTF-8");
    add_step(bake, (weft__bake_step){.kind = WEFT__STEP_NAME, .entity = number, .bytes = bytes + 1},
             name);
    return bake->result;
}

/* ---- places ---- */

static const char *place_problem(const weft__bake_place *place, weft_transform_usage usage)
{
    float sum = 0;
    for (int i = 0; i < 4; i++) sum += place->rotation[i] * place->rotation[i];
    for (int i = 0; i < 3; i++)
        if (!isfinite(place->position[i]) || !isfinite(place->scale[i]))
            return "a place that is not finite";
    if (!(fabsf(sum - 1) < 1e-3f)) return "the rotation is no unit quaternion: x, y, z, w";
    if (usage == WEFT_TRANSFORM_DYNAMIC && !weft__scale_is_even(place->scale))
        return "scales differ: only what is static can have that (\"static\": true)";
    return NULL;
}

weft_result weft_bake_transform(weft_bake *bake, weft_entity entity, const float position[3],
                                const float rotation[4], const float scale[3],
                                weft_transform_usage usage)
{
    uint32_t number = own_number(bake, entity);
    weft__bake_place place = {.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    if (position != NULL) memcpy(place.position, position, sizeof place.position);
    if (rotation != NULL) memcpy(place.rotation, rotation, sizeof place.rotation);
    if (scale != NULL) memcpy(place.scale, scale, sizeof place.scale);
    if (number == WEFT__NONE) return WEFT_INVALID_ARGUMENT;
    const char *problem = place_problem(&place, usage);
    if (problem == NULL && usage != WEFT_TRANSFORM_NONE &&
        (bake->scene->schema->local.id == 0 || bake->scene->schema->placed.id == 0))
        problem = "places need the components of weft_transform_create: call it before "
                  "weft_scene_create";
    if (problem != NULL) return refuse(bake, WEFT_INVALID_ARGUMENT, "%s", problem);
    weft__bake_step *step = find_step(bake, WEFT__STEP_TRANSFORM, number, 0);
    if (step != NULL) { /* the strongest usage counts, and the last place */
        if (step->component < (uint32_t)usage) step->component = (uint32_t)usage;
        memcpy(step + 1, &place, sizeof place);
        return WEFT_OK;
    }
    add_step(bake,
             (weft__bake_step){.kind = WEFT__STEP_TRANSFORM,
                               .entity = number,
                               .component = (uint32_t)usage,
                               .bytes = sizeof place},
             &place);
    return bake->result;
}

weft_blob_store *weft_bake_blobs(weft_bake *bake)
{
    return bake->scene->blobs;
}

weft_result weft_bake_blob(weft_bake *bake, weft_blob_ref blob, const weft_blob_type *type)
{
    weft_blob_info info;
    if (weft_blob_info_get(bake->scene->blobs, blob, &info, sizeof info) != WEFT_OK ||
        weft_blob_read(bake->scene->blobs, blob, type) == NULL)
        return refuse(bake, WEFT_BAD_HANDLE, "a blob that is not of weft_bake_blobs and its type");
    for (uint32_t i = 0; i < bake->blobs.count; i++)
        if (bake->blobs.at[i].ref.id == blob.id) {
            weft_blob_release(bake->scene->blobs, blob);
            return WEFT_OK;
        }
    const weft__record_blob added = {blob, type, hash_word(info.content_hash, info.type_hash)};
    if (!WEFT__SCENE_APPEND(bake->scene->memory, &bake->blobs, &added)) {
        weft_blob_release(bake->scene->blobs, blob);
        refused(bake);
        return WEFT_OUT_OF_MEMORY;
    }
    return WEFT_OK;
}

/* ---- what bakers read ---- */

/* Text of the run: a copy that ends with it. */
static const char *kept(weft_bake *bake, const char *text, size_t bytes)
{
    const char *copy = weft__pile_text(&bake->arena, text, bytes);
    if (copy == NULL) refused(bake);
    return copy == NULL ? "" : copy;
}

const char *weft_bake_name_of(weft_bake *bake, const weft_object *object)
{
    const weft__node *node = &bake->scene->tree->nodes.at[object_node(bake, object)];
    return kept(bake, node->name, node->name_bytes);
}

const char *weft_bake_path_of(weft_bake *bake, const weft_object *object)
{
    char path[2 * WEFT__PATH_BYTES];
    uint32_t node = object_node(bake, object);
    size_t length = weft__node_path(bake->scene->tree, node, path, sizeof path);
    return kept(bake, path, length < sizeof path ? length : sizeof path - 1);
}

/* Records a read of a node, unless it is the own one. */
static void reads_node(weft_bake *bake, weft__read_kind kind, uint32_t node, const char *name,
                       uint64_t hash)
{
    char path[1024];
    if (node == bake->node && kind != WEFT__READ_CHILDREN) return;
    size_t length = weft__node_path(bake->scene->tree, node, path, sizeof path);
    const weft__read read = {
        .kind = kind, .path = bake->scene->tree->nodes.at[node].path, .hash = hash};
    record_read(bake, read, path, length < sizeof path ? length : sizeof path - 1, name);
}

/* The node of an object, whose property is read: a baker's, if it is the own one. */
static uint32_t reads_property(weft_bake *bake, const weft_object *object, const char *property)
{
    uint32_t node = object_node(bake, object);
    uint64_t hash = hash_bytes(HASH_K1, property, strlen(property));
    if (node != bake->node)
        reads_node(bake, WEFT__READ_PROPERTY, node, property,
                   weft__node_property(bake->scene->tree, node, property));
    else if (!WEFT__SCENE_APPEND(bake->scene->memory, &bake->consumed, &hash))
        refused(bake);
    return node;
}

/* The object itself is read: the layer that has its bytes, or data of a source of this kind, the
 * strongest; NULL: none has. */
static const weft__file_object *read_itself(weft_bake *bake, const weft_object *object,
                                            const char *kind)
{
    const weft__tree *tree = bake->scene->tree;
    const uint32_t node = object_node(bake, object);
    const weft__file_object *found = NULL;
    reads_node(bake, WEFT__READ_BYTES, node, NULL, tree->nodes.at[node].own);
    for (const weft__layer *l = NULL; (l = weft__layer_after(tree, node, l)) != NULL;) {
        const weft__file_object *layer = l->object;
        if (kind == NULL ? layer->value.bytes != NULL
                         : layer->data != NULL && strcmp(layer->file->source->kind, kind) == 0)
            found = layer;
    }
    return found;
}

const void *weft_bake_data(weft_bake *bake, const weft_object *object, const char *kind)
{
    const weft__file_object *found = read_itself(bake, object, kind);
    return found == NULL ? NULL : found->data;
}

weft_text weft_bake_bytes(weft_bake *bake, const weft_object *object)
{
    const weft__file_object *found = read_itself(bake, object, NULL);
    return found == NULL ? (weft_text){0} : found->value;
}

const weft_object *weft_bake_object(weft_bake *bake, const char *path)
{
    uint64_t hash;
    uint32_t node = weft__tree_resolve(bake->scene->tree, bake->node, path, strlen(path), &hash);
    const weft__read read = {.kind = WEFT__READ_OBJECT, .path = hash, .hash = node != WEFT__NONE};
    record_read(bake, read, path, strlen(path), NULL);
    return node == WEFT__NONE ? NULL : node_object(bake, node);
}

const weft_object *weft_bake_child(weft_bake *bake, const weft_object *object,
                                   const weft_object *previous)
{
    const weft__tree *tree = bake->scene->tree;
    uint32_t node = object_node(bake, object);
    uint32_t child = previous == NULL ? tree->nodes.at[node].first
                                      : tree->nodes.at[object_node(bake, previous)].next;
    if (previous == NULL)
        reads_node(bake, WEFT__READ_CHILDREN, node, NULL, weft__node_children(tree, node));
    while (child != WEFT__NONE && tree->nodes.at[child].is_removed)
        child = tree->nodes.at[child].next;
    return child == WEFT__NONE ? NULL : node_object(bake, child);
}

weft_result weft_bake_file(weft_bake *bake, const char *path, weft_text *bytes)
{
    char whole[WEFT__PATH_BYTES];
    *bytes = (weft_text){0};
    const weft__tree *tree = bake->scene->tree; /* from the document of its strongest layer */
    const weft__layer *last = &tree->layers.at[tree->nodes.at[bake->node].last_layer];
    if (!weft__path_join(last->object->file->path, path, strlen(path), whole)) return WEFT_LIMIT;
    pthread_mutex_lock(&bake->scene->files->lock);
    const weft__scene_file *file = weft__files_bytes(bake->scene->files, whole);
    pthread_mutex_unlock(&bake->scene->files->lock);
    if (file == NULL) {
        refused(bake);
        return WEFT_OUT_OF_MEMORY;
    }
    const weft__read read = {.kind = WEFT__READ_FILE, .path = file->path_hash, .hash = file->hash};
    record_read(bake, read, whole, strlen(whole), NULL);
    if (file->is_missing) return file->result;
    *bytes = file->text;
    return WEFT_OK;
}

/* ---- properties ---- */

uint32_t weft_bake_property(weft_bake *bake, const weft_object *object, const char *property,
                            weft_property *out, uint32_t capacity)
{
    const weft__tree *tree = bake->scene->tree;
    uint32_t node = reads_property(bake, object, property), count = 0, layer = 0;
    for (const weft__layer *l = NULL; (l = weft__layer_after(tree, node, l)) != NULL; layer++) {
        const weft__file_object *from = l->object;
        const weft__property *found = weft__object_property(from, property);
        if (found == NULL) continue;
        if (count < capacity)
            out[count] = (weft_property){{found->json, found->json_bytes, from->file->path}, layer};
        count++;
    }
    return count;
}

/* What a reading works on: what words of a value mean (weft_value_io.user), and its errors. On the
 * stack of the caller, while it reads. */
typedef struct bake_text {
    weft_bake *bake;
    const weft__scene_file *file;
    weft_text text;
    weft_value_io io;
    weft_error error;
} bake_text;

static const char *read_entity(const char *word, size_t length, weft_entity *out, void *user)
{
    const bake_text *w = user;
    return entity_of_word(w->bake, w->file, word, length, out);
}

static const char *read_blob(const char *word, size_t length, weft_blob_ref *out, void *user)
{
    (void)word, (void)length, (void)out, (void)user;
    return "a blob is made by a baker, not written in a document";
}

static weft__reading reading_of(weft_bake *bake, const weft__file_object *object,
                                const weft__property *property, bake_text *text)
{
    const weft_text *whole = &object->file->text;
    bool is_in_file =
        property->json >= whole->bytes && property->json < whole->bytes + whole->count;
    text->bake = bake;
    text->file = object->file;
    text->text =
        is_in_file ? *whole : (weft_text){property->json, property->json_bytes, object->file->path};
    text->io = (weft_value_io){.read_entity = read_entity, .read_blob = read_blob, .user = text};
    weft__reading r = {.io = &text->io,
                       .text = &text->text,
                       .error = &text->error,
                       .result = WEFT_INVALID_ARGUMENT};
    weft__json_open(&r.json, property->json, property->json_bytes);
    return r;
}

static bool keep_error(weft_bake *bake, const bake_text *text, const char *path)
{
    bake->is_failed = true;
    if (!weft__problem_add_value(&bake->record->arena, &bake->record->problems, path, &text->error))
        refused(bake);
    return false;
}

/* One layer of a value; false: a mistake, which is reported with the path of the object. */
static bool read_layer(weft_bake *bake, const weft__file_object *object,
                       const weft__property *property, const weft_type *type, void *value,
                       bool *is_there)
{
    bake_text text;
    weft__reading r = reading_of(bake, object, property, &text);
    r.trail.root = type;
    weft__json_token token = weft__json_next(&r.json);
    if (token.kind == WEFT__JSON_NULL) { /* not there, whatever the prefab says */
        weft_value_initial(type, value);
        *is_there = false;
        return true;
    }
    *is_there = true;
    if (weft__reading_value(&r, type, value, &token)) return true;
    if (r.result == WEFT_OUT_OF_MEMORY) refused(bake);
    /* Again, for the error with the path of the object in it. */
    char path[WEFT__PATH_BYTES], name[WEFT__PATH_BYTES + 256];
    weft__node_path(bake->scene->tree, bake->node, path, sizeof path);
    snprintf(name, sizeof name, "%s.%.*s", path, (int)property->name_bytes, property->name);
    const weft_type named = {.name = name};
    r = reading_of(bake, object, property, &text);
    r.trail.root = &named;
    token = weft__json_next(&r.json);
    weft__reading_value(&r, type, value, &token);
    return keep_error(bake, &text, path);
}

static weft_result value_of(weft_bake *bake, uint32_t node, const char *property,
                            const weft_type *type, void *value, bool *is_there)
{
    const weft__tree *tree = bake->scene->tree;
    weft_value_initial(type, value);
    *is_there = false;
    for (const weft__layer *l = NULL; (l = weft__layer_after(tree, node, l)) != NULL;) {
        const weft__file_object *object = l->object;
        const weft__property *found = weft__object_property(object, property);
        if (found != NULL && !read_layer(bake, object, found, type, value, is_there))
            return bake->result == WEFT_OK ? WEFT_INVALID_ARGUMENT : bake->result;
    }
    return WEFT_OK;
}

weft_result weft_bake_parse(weft_bake *bake, const weft_object *object, const char *property,
                            const weft_type *type, void *value, bool *is_there)
{
    uint32_t node = reads_property(bake, object, property);
    bool is_found;
    return value_of(bake, node, property, type, value, is_there == NULL ? &is_found : is_there);
}

void weft_bake_fail(weft_bake *bake, const weft_object *object, const char *at, const char *format,
                    ...)
{
    const weft__tree *tree = bake->scene->tree;
    uint32_t node = object_node(bake, object);
    const weft__file_object *place = tree->layers.at[tree->nodes.at[node].last_layer].object;
    for (const weft__layer *l = NULL;
         (l = weft__layer_after(tree, node, l)) != NULL && at != NULL;) {
        const weft_text *text = &l->object->file->text;
        if (at >= text->bytes && at <= text->bytes + text->count) place = l->object;
    }
    char path[WEFT__PATH_BYTES];
    weft__node_path(tree, node, path, sizeof path);
    bake->is_failed = true;
    const weft__spot spot = {&place->file->text, at == NULL ? place->at : at, path};
    va_list arguments;
    va_start(arguments, format);
    if (!weft__problem_add(&bake->record->arena, &bake->record->problems, &spot, format, arguments))
        refused(bake);
    va_end(arguments);
}

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
    if (value_of(bake, bake->node, "transform", &placing_type, &place, &is_there) != WEFT_OK ||
        value_of(bake, bake->node, "static", &flag_type, &is_static, &has_static) != WEFT_OK ||
        !is_there)
        return;
    const float scale[3] = {place.scale, place.scale, place.scale};
    weft_bake_transform(bake, entity, place.position, place.rotation, scale,
                        is_static ? WEFT_TRANSFORM_STATIC : WEFT_TRANSFORM_DYNAMIC);
}

/* `like`: a word that it may be, where a component's name is not near; or NULL. */
static void tell_unknown(weft_bake *bake, const char *at, const char *name, size_t bytes,
                         const char *like)
{
    const char *near = schema_like(bake->scene->schema, name, bytes);
    if (near != NULL) like = near;
    weft_bake_fail(bake, NULL, at, "no component and no baker has the name \"%.*s\": %s%s%s",
                   (int)(bytes < 64 ? bytes : 64), name, like == NULL ? "" : "did you mean \"",
                   like == NULL ? "register it before the scene is made (weft bake: by --types; "
                                  "weft live: impossible)"
                                : like,
                   like == NULL ? "" : "\"?");
}

/* {"disabled": ["Shield"]}, of the strongest layer that has it. */
static void bake_disabled(weft_bake *bake, weft_entity entity)
{
    const weft__file_object *object;
    const weft__property *found =
        weft__node_strongest(bake->scene->tree, bake->node, "disabled", &object);
    if (found == NULL) return;
    weft__json json;
    weft__json_open(&json, found->json, found->json_bytes);
    weft__json_token token = weft__json_next(&json);
    bool is_list = token.kind == WEFT__JSON_ARRAY;
    while (is_list && (token = weft__json_next(&json)).kind == WEFT__JSON_STRING) {
        char name[256];
        size_t length = weft__json_string(&token, name, sizeof name);
        const weft__schema_component *known =
            length < sizeof name ? schema_find(bake->scene->schema, name, length) : NULL;
        if (known == NULL)
            tell_unknown(bake, token.at - 1, name, length, NULL);
        else
            weft_bake_disable(bake, entity, known->component);
    }
    if (!is_list || token.kind != WEFT__JSON_ARRAY_END)
        weft_bake_fail(bake, NULL, found->json, "names of components should be here: [\"Shield\"]");
}

/* ---- components ---- */

/* Is there: true, {}; is not: false, null. */
static void bake_tag(weft_bake *bake, weft_entity entity, const weft__schema_component *known,
                     const weft__property *last)
{
    weft__json json;
    weft__json_open(&json, last->json, last->json_bytes);
    weft__json_token token = weft__json_next(&json);
    if (token.kind == WEFT__JSON_FALSE || token.kind == WEFT__JSON_NULL) return;
    bool is_empty =
        token.kind == WEFT__JSON_OBJECT && weft__json_next(&json).kind == WEFT__JSON_OBJECT_END;
    if (token.kind == WEFT__JSON_TRUE || is_empty)
        weft_bake_set(bake, entity, known->component, NULL, 0);
    else
        weft_bake_fail(bake, NULL, last->json, "a tag has no value: write true or false");
}

/* The elements of an array; the strongest layer has all of them. */
static void bake_array(weft_bake *bake, weft_entity entity, const weft__schema_component *known,
                       const weft__file_object *object, const weft__property *last)
{
    bake_text text;
    size_t size = known->desc->size;
    weft__reading r = reading_of(bake, object, last, &text);
    char path[WEFT__PATH_BYTES], name[WEFT__PATH_BYTES + 256];
    weft__node_path(bake->scene->tree, bake->node, path, sizeof path);
    snprintf(name, sizeof name, "%s.%s", path, known->desc->name);
    const weft_type named = {.name = name};
    r.trail.root = &named;
    weft__json_token token = weft__json_next(&r.json);
    if (token.kind == WEFT__JSON_NULL) return;
    if (token.kind != WEFT__JSON_ARRAY) {
        weft_bake_fail(bake, NULL, last->json, "an array should be here: %s is a buffer",
                       known->desc->name);
        return;
    }
    weft__chars elements = {0};
    uint32_t count = 0;
    bool is_read = true;
    for (; is_read && bake->result == WEFT_OK; count++) {
        token = weft__json_next(&r.json);
        if (token.kind == WEFT__JSON_ARRAY_END) break;
        char *value = scratch_take(bake, size);
        if (value == NULL) break;
        weft_value_initial(known->type, value);
        is_read =
            token.kind != WEFT__JSON_ERROR && weft__reading_value(&r, known->type, value, &token);
        char *kept = is_read ? chars_add(bake, &elements, size) : NULL;
        if (kept == NULL) break;
        memcpy(kept, value, size);
    }
    if (!is_read)
        keep_error(bake, &text, path);
    else if (bake->result == WEFT_OK)
        weft_bake_buffer(bake, entity, known->component, elements.at, count, size);
    WEFT__SCENE_FREE(bake->scene->memory, &elements);
}

static void bake_component(weft_bake *bake, weft_entity entity, const weft__schema_component *known,
                           const weft__file_object *object, const weft__property *last)
{
    const weft_component_desc *desc = known->desc;
    if ((desc->flags & (WEFT_RESOURCE | WEFT_CHUNK)) != 0) {
        weft_bake_fail(bake, NULL, last->json, "%s is a value of the %s, not of an entity",
                       desc->name, (desc->flags & WEFT_CHUNK) != 0 ? "chunk" : "world");
    } else if (desc->size == 0) {
        bake_tag(bake, entity, known, last);
    } else if (known->type == NULL) {
        weft_bake_fail(bake, NULL, last->json,
                       "%s is not described: register it with weft_component_desc.type (weft "
                       "bake: a \"description\" in its line of --types), or write a baker",
                       desc->name);
    } else if ((desc->flags & WEFT_BUFFER) != 0) {
        bake_array(bake, entity, known, object, last);
    } else {
        void *value = scratch_take(bake, desc->size);
        bool is_there = false;
        if (value != NULL &&
            value_of(bake, bake->node, desc->name, known->type, value, &is_there) == WEFT_OK &&
            is_there)
            weft_bake_set(bake, entity, known->component, value, desc->size);
    }
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

static void bake_property(weft_bake *bake, weft_entity entity, const weft__file_object *object,
                          const weft__property *property)
{
    const weft__schema_component *known =
        schema_find(bake->scene->schema, property->name, property->name_bytes);
    if (known == NULL) {
        static const char *const own[] = {"transform", "children", "prefab", "disabled"};
        tell_unknown(bake, property->json, property->name, property->name_bytes,
                     weft__name_like(own, sizeof own[0], sizeof own / sizeof own[0], property->name,
                                     property->name_bytes));
        return;
    }
    bake_component(bake, entity, known, object, property);
}

/* Whether a stronger layer than `l` has the property. */
static bool is_overridden(const weft_bake *bake, const weft__layer *l, uint64_t name_hash)
{
    while ((l = weft__layer_after(bake->scene->tree, bake->node, l)) != NULL)
        if (weft__object_has(l->object, name_hash) != NULL) return true;
    return false;
}

/* What bakers have read is not baked again. */
static void bake_properties(weft_bake *bake)
{
    const weft__tree *tree = bake->scene->tree;
    weft_entity entity = weft_bake_entity(bake, NULL);
    for (const weft__layer *l = NULL; (l = weft__layer_after(tree, bake->node, l)) != NULL;) {
        const weft__property *p = NULL;
        while (bake->result == WEFT_OK && (p = weft__property_after(l->object, p)) != NULL)
            if (!is_word(p) && !is_consumed(bake, p->name_hash) &&
                !is_overridden(bake, l, p->name_hash))
                bake_property(bake, entity, l->object, p);
    }
    if (bake->result == WEFT_OK) bake_place(bake, entity);
    if (bake->result == WEFT_OK) {
        char name[NAME_BYTES + 1];
        bool is_there;
        name[NAME_BYTES] = '\0';
        if (value_of(bake, bake->node, "name", &name_type, name, &is_there) == WEFT_OK && is_there)
            weft_bake_name(bake, entity, name);
    }
    if (bake->result == WEFT_OK) bake_disabled(bake, entity);
}

void weft__bake_free(weft_bake *bake)
{
    if (bake->scene == NULL) return;
    weft__memory *memory = bake->scene->memory;
    WEFT__SCENE_FREE(memory, &bake->reads);
    WEFT__SCENE_FREE(memory, &bake->references);
    WEFT__SCENE_FREE(memory, &bake->blobs);
    WEFT__SCENE_FREE(memory, &bake->steps);
    WEFT__SCENE_FREE(memory, &bake->texts);
    WEFT__SCENE_FREE(memory, &bake->read_texts);
    WEFT__SCENE_FREE(memory, &bake->entities);
    WEFT__SCENE_FREE(memory, &bake->consumed);
    WEFT__SCENE_FREE(memory, &bake->scratch);
    weft__pile_free(&bake->arena);
}

void weft__read_text(weft__text *t, const weft__record *record, const weft__read *read)
{
    static const char *const words[] = {"object", "property", "children of",
                                        "object", "file",     "prefab"};
    weft__text_add(t, "%s %s", words[read->kind], record->texts + read->text);
    if (read->kind == WEFT__READ_PROPERTY) weft__text_add(t, ".%s", record->texts + read->name);
}

uint64_t weft__read_hash(weft__tree *tree, const weft__record *record, const weft__read *read)
{
    const weft__scene_file *file;
    uint32_t node = WEFT__NONE;
    if (read->kind < WEFT__READ_FILE) node = weft__tree_find(tree, read->path);
    switch (read->kind) {
    case WEFT__READ_OBJECT:
        return node != WEFT__NONE;
    case WEFT__READ_PROPERTY:
        return node == WEFT__NONE ? 0 : weft__node_property(tree, node, record->texts + read->name);
    case WEFT__READ_CHILDREN:
        return node == WEFT__NONE ? 0 : weft__node_children(tree, node);
    case WEFT__READ_BYTES:
        return node == WEFT__NONE ? 0 : tree->nodes.at[node].own;
    case WEFT__READ_FILE:
        file = weft__files_bytes(tree->files, record->texts + read->text);
        tree->is_refused |= file == NULL;
        return file == NULL ? 0 : file->hash;
    case WEFT__READ_PREFAB:
        return weft__tree_key(tree, record->texts + read->text) != NULL;
    }
    return 0;
}

/* ---- the record ---- */

static uint64_t hash_output(const weft_bake *bake)
{
    uint64_t hash = hash_word(HASH_K0, bake->entities.count);
    hash = hash_bytes(hash, bake->steps.at, bake->steps.count);
    for (uint32_t i = 0; i < bake->references.count; i++)
        hash = hash_word(hash_word(hash, bake->references.at[i].kind), bake->references.at[i].path);
    for (uint32_t i = 0; i < bake->blobs.count; i++)
        hash = hash_word(hash, bake->blobs.at[i].content);
    const weft__node *node = &bake->scene->tree->nodes.at[bake->node];
    if (node->prefab != NULL) hash = hash_word(hash, weft__prefab_hash(node->prefab));
    return hash_end(hash) | 1;
}

/* One block: output, references, blobs, steps, texts. The references of blobs pass to it. */
static weft__output *make_output(weft_bake *bake)
{
    size_t head = (sizeof(weft__output) + 15) & ~(size_t)15;
    size_t references = bake->references.count * sizeof(weft__record_reference);
    size_t blobs = bake->blobs.count * sizeof(weft__record_blob);
    size_t before = (head + references + blobs + 15) & ~(size_t)15;
    size_t bytes = before + bake->steps.count + bake->texts.count;
    char *block = weft__alloc(bake->scene->memory, WEFT__MEMORY_OTHER, bytes, 1, 16);
    if (block == NULL) return NULL;
    weft__output *output = (weft__output *)block;
    *output = (weft__output){.users = 1,
                             .entity_count = bake->entities.count,
                             .reference_count = bake->references.count,
                             .blob_count = bake->blobs.count,
                             .hash = hash_output(bake),
                             .bytes = bytes,
                             .step_bytes = bake->steps.count,
                             .references = (weft__record_reference *)(block + head),
                             .blobs = (weft__record_blob *)(block + head + references),
                             .steps = block + before,
                             .texts = block + before + bake->steps.count};
    if (references != 0) memcpy(output->references, bake->references.at, references);
    if (blobs != 0) memcpy(output->blobs, bake->blobs.at, blobs);
    if (bake->steps.count != 0) memcpy(output->steps, bake->steps.at, bake->steps.count);
    if (bake->texts.count != 0) memcpy(output->texts, bake->texts.at, bake->texts.count);
    bake->blobs.count = 0;
    return output;
}

static bool keep_reads(weft_bake *bake, weft__record *record)
{
    if (bake->reads.count == 0) return true;
    size_t bytes = bake->reads.count * sizeof(weft__read);
    record->reads = weft__pile_take(&record->arena, 1, bytes);
    record->texts = weft__pile_text(&record->arena, bake->read_texts.at, bake->read_texts.count);
    if (record->reads == NULL || record->texts == NULL) return false;
    memcpy(record->reads, bake->reads.at, bytes);
    record->read_count = bake->reads.count;
    return true;
}

/* ---- bakers ---- */

static bool has_kind(const weft_bake *bake, const char *kind)
{
    const weft__tree *tree = bake->scene->tree;
    for (const weft__layer *l = NULL; (l = weft__layer_after(tree, bake->node, l)) != NULL;)
        if (strcmp(l->object->file->source->kind, kind) == 0) return true;
    return false;
}

static void run_bakers(weft_bake *bake)
{
    const weft__bake_scene *scene = bake->scene;
    const weft__file_object *object;
    const weft__property *asked = weft__node_strongest(scene->tree, bake->node, "baker", &object);
    bool is_known = asked == NULL;
    for (uint32_t i = 0; i < scene->baker_count && bake->result == WEFT_OK; i++) {
        const weft_baker_desc *baker = &scene->bakers[i];
        size_t bytes = strlen(baker->name);
        bool is_named = asked != NULL && asked->json_bytes == bytes + 2 && asked->json[0] == '"' &&
                        memcmp(asked->json + 1, baker->name, bytes) == 0;
        is_known |= is_named;
        if (is_named || (baker->kind != NULL && has_kind(bake, baker->kind)) ||
            (baker->property != NULL &&
             weft__node_property(scene->tree, bake->node, baker->property) != 0)) {
            weft_result result = baker->bake(bake, node_object(bake, bake->node), baker->user);
            if (result == WEFT_OUT_OF_MEMORY) refused(bake);
            if (result != WEFT_OK && !bake->is_failed && bake->result == WEFT_OK)
                weft_bake_fail(bake, NULL, NULL, "the baker \"%s\" failed: %s", baker->name,
                               weft_result_text(result));
        }
    }
    if (is_known) return;
    weft_bake_fail(bake, NULL, asked->json, "no baker %.*s is registered",
                   (int)(asked->json_bytes < 64 ? asked->json_bytes : 64), asked->json);
}

weft__record *weft__bake_node(weft_bake *bake, uint32_t node)
{
    const weft__node *baked = &bake->scene->tree->nodes.at[node];
    weft__record *record = WEFT__NEW_ZEROED(bake->scene->memory, WEFT__MEMORY_OTHER, 1, *record);
    if (record == NULL) return NULL;
    record->arena = WEFT__SCENE_PILE(bake->scene->memory);
    record->path = baked->path;
    record->own = baked->own;
    record->born = bake->scene->bake;
    bake->record = record;
    bake->node = node;
    bake->result = WEFT_OK;
    bake->is_failed = false;
    bake->reads.count = bake->references.count = bake->steps.count = bake->texts.count = 0;
    bake->read_texts.count = bake->entities.count = bake->consumed.count = 0;
    bake->arena = WEFT__SCENE_PILE(bake->scene->memory);
    weft_bake_entity(bake, NULL);
    run_bakers(bake);
    if (bake->result == WEFT_OK) bake_properties(bake);
    bool is_kept = bake->result == WEFT_OK && keep_reads(bake, record);
    if (is_kept && !bake->is_failed) is_kept = (record->output = make_output(bake)) != NULL;
    for (uint32_t i = 0; i < bake->blobs.count; i++)
        weft_blob_release(bake->scene->blobs, bake->blobs.at[i].ref);
    bake->blobs.count = 0;
    weft__pile_free(&bake->arena);
    if (is_kept) return record;
    weft__record_free(record, bake->scene->memory, bake->scene->blobs);
    return NULL;
}

void weft__record_free(weft__record *record, weft__memory *memory, weft_blob_store *blobs)
{
    weft__output *output = record->output;
    if (output != NULL && --output->users == 0) {
        for (uint32_t i = 0; i < output->blob_count; i++)
            weft_blob_release(blobs, output->blobs[i].ref);
        weft__free(memory, WEFT__MEMORY_OTHER, output, output->bytes, 1, 16);
    }
    weft__pile_free(&record->arena);
    WEFT__FREE(memory, WEFT__MEMORY_OTHER, record, 1);
}
