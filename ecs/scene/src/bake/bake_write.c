/* SPDX-License-Identifier: MIT */
/* bake_write.c: what bakers make: entities, values, names, places, blobs, as steps of the record.
 * Handles of entities are numbers of references of the record until a world is filled. See
 * weft/scene.h. */
#include "bake_write.h"

#include "component_type.h"
#include "hash.h"
#include "utf8.h"

#include <weft/transform.h>

#include <math.h>
#include <string.h>

/* ---- entities ---- */

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
    if (key != NULL) {
        uint32_t bytes = (uint32_t)strlen(key) + 1;
        reference.text = bake->texts.count;
        if (!WEFT__SCENE_ROOM(bake->scene->memory, &bake->texts, bake->texts.count + bytes)) {
            weft__bake_refused(bake);
            return (weft_entity){0, 0};
        }
        memcpy(bake->texts.at + bake->texts.count, key, bytes);
        bake->texts.count += bytes;
    }
    weft__record_reference *added = WEFT__SCENE_ADD(bake->scene->memory, &bake->references);
    if (added == NULL) {
        weft__bake_refused(bake);
        return (weft_entity){0, 0};
    }
    *added = reference;
    return handle(bake->references.count - 1);
}

weft_entity weft_bake_entity(weft_bake *bake, const char *name)
{
    uint64_t hash = name == NULL ? 0 : hash_string(name) | 1;
    for (uint32_t i = 0; i < bake->entities.count; i++)
        if (bake->entities.at[i] == hash) return refer(bake, WEFT__REFERENCE_OWN, i, NULL);
    uint64_t *added = WEFT__SCENE_ADD(bake->scene->memory, &bake->entities);
    if (added == NULL) {
        weft__bake_refused(bake);
        return (weft_entity){0, 0};
    }
    *added = hash;
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
    weft__bake_reads(bake, read, path, bytes, NULL);
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
    if (object == NULL && *why == weft__no_memory) weft__bake_refused(bake);
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
            weft__bake_reads(bake, read, key, length + rest, NULL);
        }
        return (weft_entity){0, 0};
    }
    char key[2 * WEFT__PATH_BYTES];
    weft__prefab_key(object, key, sizeof key);
    uint64_t hash = weft__prefab_hash(object);
    const weft__read read = {.kind = WEFT__READ_PREFAB, .path = hash, .hash = 1};
    weft__bake_reads(bake, read, key, strlen(key), NULL);
    return refer(bake, WEFT__REFERENCE_PREFAB, hash, key);
}

const char *weft__bake_word(weft_bake *bake, const weft__scene_file *file, const char *word,
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
    const weft__schema_component *found =
        weft__schema_find(bake->scene->schema, name, strlen(name));
    return found == NULL ? (weft_component){0} : found->component;
}

/* Where a property of the object says this text, in the strongest layer that does; NULL:
 * nowhere. */
static const char *place_of(const weft_bake *bake, const char *text)
{
    const weft__tree *tree = bake->scene->tree;
    const char *found = NULL;
    for (const weft__layer *l = NULL; (l = weft__layer_after(tree, bake->node, l)) != NULL;) {
        const weft__file_object *object = l->object;
        for (uint32_t p = object->first_property; p != WEFT__NONE;
             p = object->file->properties.at[p].next) {
            weft__json json;
            weft__json_token token = {.kind = WEFT__JSON_NULL};
            weft__json_open(&json, object->file->properties.at[p].json,
                            object->file->properties.at[p].json_bytes);
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
        weft_bake_error(bake, NULL, place_of(bake, path), "\"%s\": %s", path, why);
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
        weft_bake_error(bake, NULL, place_of(bake, reference), "\"%s\": %s", reference,
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
        weft_bake_error(bake, NULL, NULL,
                        "a baker changes an entity that is not of its object: use "
                        "weft_bake_entity");
    return WEFT__NONE;
}

/* Adds a step with room for `bytes`; NULL: memory was refused. */
static void *add_step(weft_bake *bake, weft__step step)
{
    size_t bytes = sizeof step + ((step.bytes + 15) & ~UINT64_C(15));
    uint32_t at = bake->steps.count;
    if (bytes > UINT32_MAX / 4 ||
        !WEFT__SCENE_ROOM(bake->scene->memory, &bake->steps, at + (uint32_t)bytes)) {
        weft__bake_refused(bake);
        return NULL;
    }
    memcpy(bake->steps.at + at, &step, sizeof step);
    memset(bake->steps.at + at + sizeof step, 0, bytes - sizeof step);
    bake->steps.count = at + (uint32_t)bytes;
    return bake->steps.at + at + sizeof step;
}

static const weft__step *find_step(const weft_bake *bake, weft__step_kind kind, uint32_t entity,
                                   uint32_t component)
{
    const char *end = bake->steps.at + bake->steps.count;
    for (const char *at = bake->steps.at; at < end;) {
        const weft__step *step = (const weft__step *)(const void *)at;
        bool is_value = step->kind <= WEFT__STEP_BUFFER && kind <= WEFT__STEP_BUFFER;
        if ((step->kind == kind || is_value) && step->entity == entity &&
            step->component == component)
            return step;
        at = (const char *)weft__step_next(step);
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
    size_t size = given->size, bytes = given->count * size;
    const weft__schema_component *known = weft__schema_of(bake->scene->schema, component);
    uint32_t number = own_number(bake, entity);
    if (bake->result != WEFT_OK) return bake->result;
    if (known == NULL) {
        weft_bake_error(bake, NULL, NULL,
                        "a baker gives a component that the world of the scene did not have when "
                        "the scene was created");
        return WEFT_BAD_HANDLE;
    }
    const weft_component_desc *desc = known->desc;
    bool fits = ((desc->flags & WEFT_BUFFER) != 0) == given->is_buffer && size == desc->size &&
                (desc->flags & (WEFT_RESOURCE | WEFT_CHUNK)) == 0;
    if (number == WEFT__NONE) return WEFT_INVALID_ARGUMENT;
    if (!fits) {
        weft_bake_error(bake, NULL, NULL,
                        "%s: a baker gives %zu bytes, the component has %zu, and its kind must "
                        "fit the call",
                        desc->name, size, desc->size);
        return WEFT_TYPE_MISMATCH;
    }
    if (find_step(bake, WEFT__STEP_SET, number, component.id) != NULL) {
        weft_bake_error(bake, NULL, NULL,
                        "%s is given twice, by bakers or by a property: once is possible",
                        desc->name);
        return WEFT_ALREADY_EXISTS;
    }
    char *at =
        add_step(bake, (weft__step){.kind = given->is_buffer ? WEFT__STEP_BUFFER : WEFT__STEP_SET,
                                    .entity = number,
                                    .component = component.id,
                                    .count = given->count,
                                    .bytes = bytes});
    if (at == NULL) return bake->result;
    if (bytes != 0) memcpy(at, given->at, bytes);
    if (!weft__elements_references(weft__type_of(desc), at, given->count, keep_reference, bake)) {
        weft_bake_error(bake, NULL, NULL,
                        "%s: no entity of weft_bake_entity and its like, or no blob that "
                        "weft_bake_blob was given",
                        desc->name);
        return WEFT_INVALID_ARGUMENT;
    }
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
    const weft__schema_component *known = weft__schema_of(bake->scene->schema, component);
    uint32_t number = own_number(bake, entity);
    if (known == NULL) {
        weft_bake_error(bake, NULL, NULL,
                        "a baker disables a component that the world of the scene did not have "
                        "when the scene was created: register it before");
        return WEFT_INVALID_ARGUMENT;
    }
    if (number == WEFT__NONE || (known->desc->flags & WEFT_ENABLEABLE) == 0 ||
        find_step(bake, WEFT__STEP_SET, number, component.id) == NULL) {
        weft_bake_error(bake, NULL, NULL,
                        "\"%s\" cannot be disabled: give it first; it must be ENABLEABLE",
                        known->desc->name);
        return WEFT_INVALID_ARGUMENT;
    }
    if (find_step(bake, WEFT__STEP_DISABLE, number, component.id) != NULL) {
        weft_bake_error(bake, NULL, NULL, "\"%s\" is disabled twice: remove one",
                        known->desc->name);
        return WEFT_ALREADY_EXISTS;
    }
    add_step(bake,
             (weft__step){.kind = WEFT__STEP_DISABLE, .entity = number, .component = component.id});
    return bake->result;
}

weft_result weft_bake_name(weft_bake *bake, weft_entity entity, const char *name)
{
    uint32_t number = own_number(bake, entity);
    size_t bytes = name == NULL ? 0 : strlen(name);
    if (number == WEFT__NONE) return WEFT_INVALID_ARGUMENT;
    if (bytes != 0 && !weft__name_fits(name, bytes)) {
        weft_bake_error(bake, NULL, NULL, "the name of an entity is not UTF-8");
        return WEFT_INVALID_ARGUMENT;
    }
    char *at =
        add_step(bake, (weft__step){.kind = WEFT__STEP_NAME, .entity = number, .bytes = bytes + 1});
    if (at != NULL && bytes != 0) memcpy(at, name, bytes);
    return bake->result;
}

/* ---- places ---- */

static const char *place_problem(const weft__place *place, weft_transform_usage usage)
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
    weft__place place = {.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    if (position != NULL) memcpy(place.position, position, sizeof place.position);
    if (rotation != NULL) memcpy(place.rotation, rotation, sizeof place.rotation);
    if (scale != NULL) memcpy(place.scale, scale, sizeof place.scale);
    if (number == WEFT__NONE) return WEFT_INVALID_ARGUMENT;
    const char *problem = place_problem(&place, usage);
    if (problem == NULL && usage != WEFT_TRANSFORM_NONE &&
        (bake->scene->schema->local.id == 0 || bake->scene->schema->placed.id == 0))
        problem = "places need the components of weft_transform_create: call it before "
                  "weft_scene_create";
    if (problem != NULL) {
        weft_bake_error(bake, NULL, NULL, "%s", problem);
        return WEFT_INVALID_ARGUMENT;
    }
    const weft__step *known = NULL;
    for (uint32_t u = 0; u <= WEFT_TRANSFORM_DYNAMIC && known == NULL; u++)
        known = find_step(bake, WEFT__STEP_TRANSFORM, number, u);
    if (known != NULL) { /* the strongest usage counts, and the last place */
        weft__step *step = (weft__step *)(uintptr_t)known;
        if (step->component < (uint32_t)usage) step->component = (uint32_t)usage;
        memcpy(step + 1, &place, sizeof place);
        return WEFT_OK;
    }
    char *at = add_step(bake, (weft__step){.kind = WEFT__STEP_TRANSFORM,
                                           .entity = number,
                                           .component = (uint32_t)usage,
                                           .bytes = sizeof place});
    if (at != NULL) memcpy(at, &place, sizeof place);
    return bake->result;
}

/* ---- blobs ---- */

weft_blob_store *weft_bake_blobs(weft_bake *bake)
{
    return bake->scene->blobs;
}

weft_result weft_bake_blob(weft_bake *bake, weft_blob_ref blob, const weft_blob_type *type)
{
    weft_blob_info info;
    if (weft_blob_info_get(bake->scene->blobs, blob, &info, sizeof info) != WEFT_OK ||
        weft_blob_read(bake->scene->blobs, blob, type) == NULL) {
        weft_bake_error(bake, NULL, NULL, "a blob that is not of weft_bake_blobs and its type");
        return WEFT_BAD_HANDLE;
    }
    for (uint32_t i = 0; i < bake->blobs.count; i++)
        if (bake->blobs.at[i].ref.id == blob.id) {
            weft_blob_release(bake->scene->blobs, blob);
            return WEFT_OK;
        }
    weft__record_blob *added = WEFT__SCENE_ADD(bake->scene->memory, &bake->blobs);
    if (added == NULL) {
        weft_blob_release(bake->scene->blobs, blob);
        weft__bake_refused(bake);
        return WEFT_OUT_OF_MEMORY;
    }
    *added = (weft__record_blob){blob, type, hash_word(info.content_hash, info.type_hash)};
    return WEFT_OK;
}
