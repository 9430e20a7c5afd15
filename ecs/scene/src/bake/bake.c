/* SPDX-License-Identifier: MIT */
/* bake.c: one object becomes a record: its bakers run, then its properties (those named like a
 * component, "transform", "static", "name", "disabled"; unknown ones are mistakes), then what they
 * made is put into one block. See bake.h. */
#include "bake.h"

#include "bake_read.h"
#include "hash.h"

#include <weft/transform.h>

#include <stdio.h>
#include <string.h>

/* ---- properties ---- */

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

/* Whether a stronger layer than `l` has the property. */
static bool is_overridden(const weft_bake *bake, const weft__layer *l,
                          const weft__property *property)
{
    while ((l = weft__layer_after(bake->scene->tree, bake->node, l)) != NULL)
        for (uint32_t p = l->object->first_property; p != WEFT__NONE;
             p = l->object->file->properties.at[p].next)
            if (l->object->file->properties.at[p].name_hash == property->name_hash) return true;
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

/* What bakers have read is not baked again. */
static void bake_properties(weft_bake *bake)
{
    const weft__tree *tree = bake->scene->tree;
    weft_entity entity = weft_bake_entity(bake, NULL);
    for (const weft__layer *l = NULL; (l = weft__layer_after(tree, bake->node, l)) != NULL;) {
        const weft__file_object *object = l->object;
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

void weft__bake_refused(weft_bake *bake)
{
    bake->result = WEFT_OUT_OF_MEMORY;
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

void *weft__bake_scratch(weft_bake *bake, size_t bytes)
{
    if (bytes > UINT32_MAX / 4 ||
        !WEFT__SCENE_ROOM(bake->scene->memory, &bake->scratch, (uint32_t)bytes + 64)) {
        weft__bake_refused(bake);
        return NULL;
    }
    char *at = bake->scratch.at;
    at += (64 - (uintptr_t)at % 64) % 64;
    memset(at, 0, bytes);
    return at;
}

/* ---- reads ---- */

static uint32_t add_text(weft_bake *bake, const char *text, size_t bytes)
{
    uint32_t at = bake->read_texts.count;
    if (bytes > UINT32_MAX / 4 ||
        !WEFT__SCENE_ROOM(bake->scene->memory, &bake->read_texts, at + (uint32_t)bytes + 1)) {
        weft__bake_refused(bake);
        return 0;
    }
    if (bytes != 0) memcpy(bake->read_texts.at + at, text, bytes);
    bake->read_texts.at[at + bytes] = '\0';
    bake->read_texts.count = at + (uint32_t)bytes + 1;
    return at;
}

void weft__bake_reads(weft_bake *bake, weft__read read, const char *text, size_t text_bytes,
                      const char *name)
{
    for (uint32_t i = 0; i < bake->reads.count; i++) {
        const weft__read *known = &bake->reads.at[i];
        if (known->kind != read.kind || known->path != read.path) continue;
        if (name == NULL || strcmp(bake->read_texts.at + known->name, name) == 0) return;
    }
    read.text = add_text(bake, text, text_bytes);
    read.name = name == NULL ? 0 : add_text(bake, name, strlen(name));
    weft__read *kept = WEFT__SCENE_ADD(bake->scene->memory, &bake->reads);
    if (kept == NULL)
        weft__bake_refused(bake);
    else
        *kept = read;
}

static uint64_t bytes_hash(const weft__tree *tree, uint32_t node)
{
    return node == WEFT__NONE ? 0 : tree->nodes.at[node].own;
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
        return bytes_hash(tree, node);
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
                             .text_bytes = bake->texts.count,
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

static void begin(weft_bake *bake, uint32_t node)
{
    bake->node = node;
    bake->result = WEFT_OK;
    bake->is_failed = false;
    bake->reads.count = bake->references.count = bake->steps.count = bake->texts.count = 0;
    bake->read_texts.count = bake->entities.count = bake->consumed.count = 0;
    bake->arena.memory = bake->scene->memory;
    weft_bake_entity(bake, NULL);
}

static void end(weft_bake *bake)
{
    for (uint32_t i = 0; i < bake->blobs.count; i++)
        weft_blob_release(bake->scene->blobs, bake->blobs.at[i].ref);
    bake->blobs.count = 0;
    weft__pile_free(&bake->arena);
}

static bool keep_reads(weft_bake *bake, weft__record *record)
{
    if (bake->reads.count == 0) return true;
    size_t bytes = bake->reads.count * sizeof(weft__read);
    record->reads = weft__pile_take(&record->arena, bytes);
    record->texts = weft__pile_text(&record->arena, bake->read_texts.at, bake->read_texts.count);
    if (record->reads == NULL || record->texts == NULL) return false;
    memcpy(record->reads, bake->reads.at, bytes);
    record->read_count = bake->reads.count;
    return true;
}

/* ---- bakers ---- */

static bool is_asked(const weft__property *asked, const char *name)
{
    size_t bytes = strlen(name);
    return asked != NULL && asked->json_bytes == bytes + 2 && asked->json[0] == '"' &&
           memcmp(asked->json + 1, name, bytes) == 0;
}

static bool has_kind(const weft_bake *bake, const char *kind)
{
    const weft__tree *tree = bake->scene->tree;
    for (const weft__layer *l = NULL; (l = weft__layer_after(tree, bake->node, l)) != NULL;)
        if (strcmp(l->object->file->source->kind, kind) == 0) return true;
    return false;
}

static void run_baker(weft_bake *bake, const weft_baker_desc *baker)
{
    weft_result result = baker->bake(bake, weft__node_object(bake, bake->node), baker->user);
    if (result == WEFT_OUT_OF_MEMORY) weft__bake_refused(bake);
    if (result != WEFT_OK && !bake->is_failed && bake->result == WEFT_OK)
        weft_bake_error(bake, NULL, NULL, "the baker \"%s\" failed: %s", baker->name,
                        weft_result_text(result));
}

static void run_bakers(weft_bake *bake)
{
    const weft__bake_scene *scene = bake->scene;
    const weft__file_object *object;
    const weft__property *asked = weft__node_strongest(scene->tree, bake->node, "baker", &object);
    bool is_known = asked == NULL;
    for (uint32_t i = 0; i < scene->baker_count && bake->result == WEFT_OK; i++) {
        const weft_baker_desc *baker = &scene->bakers[i];
        bool is_named = is_asked(asked, baker->name);
        is_known |= is_named;
        if (is_named || (baker->kind != NULL && has_kind(bake, baker->kind)) ||
            (baker->property != NULL &&
             weft__node_property(scene->tree, bake->node, baker->property) != 0))
            run_baker(bake, baker);
    }
    if (is_known) return;
    weft_bake_error(bake, NULL, asked->json, "no baker %.*s is registered",
                    (int)(asked->json_bytes < 64 ? asked->json_bytes : 64), asked->json);
}

weft__record *weft__bake_node(weft_bake *bake, uint32_t node)
{
    const weft__node *baked = &bake->scene->tree->nodes.at[node];
    weft__record *record =
        weft__alloc_zeroed(bake->scene->memory, WEFT__MEMORY_OTHER, 1, sizeof *record, 16);
    if (record == NULL) return NULL;
    record->arena.memory = bake->scene->memory;
    record->path = baked->path;
    record->own = baked->own;
    record->born = bake->scene->bake;
    bake->record = record;
    begin(bake, node);
    run_bakers(bake);
    if (bake->result == WEFT_OK) bake_properties(bake);
    bool is_kept = bake->result == WEFT_OK && keep_reads(bake, record);
    if (is_kept && !bake->is_failed) is_kept = (record->output = make_output(bake)) != NULL;
    end(bake);
    if (is_kept) return record;
    weft__record_free(record, bake->scene->memory, bake->scene->blobs);
    return NULL;
}

/* ---- the end of records ---- */

static void output_release(weft__output *output, weft__memory *memory, weft_blob_store *blobs)
{
    if (output == NULL || --output->users != 0) return;
    for (uint32_t i = 0; i < output->blob_count; i++)
        weft_blob_release(blobs, output->blobs[i].ref);
    weft__free(memory, WEFT__MEMORY_OTHER, output, output->bytes, 1, 16);
}

void weft__record_free(weft__record *record, weft__memory *memory, weft_blob_store *blobs)
{
    output_release(record->output, memory, blobs);
    weft__pile_free(&record->arena);
    weft__free(memory, WEFT__MEMORY_OTHER, record, 1, sizeof *record, 16);
}
