/* SPDX-License-Identifier: MIT */
/* bake_read.c: what bakers read: properties, other objects, files. All of it is recorded, but
 * what is of the object itself: that is one hash. What was not found is a read, too. See
 * weft/scene.h. */
#include "bake_read.h"

#include "bake_write.h"
#include "hash.h"

#include <stdio.h>
#include <string.h>

static const weft_object *object_or_own(const weft_bake *bake, const weft_object *object)
{
    return object == NULL ? weft__node_object(bake, bake->node) : object;
}

/* Text of the run: a copy that ends with it. */
static const char *kept(weft_bake *bake, const char *text, size_t bytes)
{
    const char *copy = weft__pile_text(&bake->arena, text, bytes);
    if (copy == NULL) weft__bake_refused(bake);
    return copy == NULL ? "" : copy;
}

const char *weft_bake_name_of(weft_bake *bake, const weft_object *object)
{
    const weft__node *node =
        &bake->scene->tree->nodes.at[weft__object_node(bake, object_or_own(bake, object))];
    return kept(bake, node->name, node->name_bytes);
}

const char *weft_bake_path_of(weft_bake *bake, const weft_object *object)
{
    char path[2 * WEFT__PATH_BYTES];
    uint32_t node = weft__object_node(bake, object_or_own(bake, object));
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
    weft__bake_reads(bake, read, path, length < sizeof path ? length : sizeof path - 1, name);
}

static void consume(weft_bake *bake, uint32_t node, const char *property)
{
    if (node != bake->node) return;
    uint64_t hash = hash_bytes(HASH_K1, property, strlen(property));
    uint64_t *added = WEFT__SCENE_ADD(bake->scene->memory, &bake->consumed);
    if (added == NULL)
        weft__bake_refused(bake);
    else
        *added = hash;
}

/* The object itself is read: the layer that has its bytes, or data of a source of this kind, the
 * strongest; NULL: none has. */
static const weft__file_object *read_itself(weft_bake *bake, const weft_object *object,
                                            const char *kind)
{
    const weft__tree *tree = bake->scene->tree;
    const uint32_t node = weft__object_node(bake, object_or_own(bake, object));
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
    weft__bake_reads(bake, read, path, strlen(path), NULL);
    return node == WEFT__NONE ? NULL : weft__node_object(bake, node);
}

const weft_object *weft_bake_child(weft_bake *bake, const weft_object *object,
                                   const weft_object *previous)
{
    const weft__tree *tree = bake->scene->tree;
    uint32_t node = weft__object_node(bake, object_or_own(bake, object));
    uint32_t child = previous == NULL ? tree->nodes.at[node].first
                                      : tree->nodes.at[weft__object_node(bake, previous)].next;
    if (previous == NULL)
        reads_node(bake, WEFT__READ_CHILDREN, node, NULL, weft__node_children(tree, node));
    while (child != WEFT__NONE && tree->nodes.at[child].is_removed)
        child = tree->nodes.at[child].next;
    return child == WEFT__NONE ? NULL : weft__node_object(bake, child);
}

/* The document of an object: that of its strongest layer. */
static const weft__scene_file *file_of(const weft_bake *bake, uint32_t node)
{
    const weft__tree *tree = bake->scene->tree;
    return tree->layers.at[tree->nodes.at[node].last_layer].object->file;
}

weft_result weft_bake_file(weft_bake *bake, const char *path, weft_text *bytes)
{
    char whole[WEFT__PATH_BYTES];
    *bytes = (weft_text){0};
    if (!weft__path_join(file_of(bake, bake->node)->path, path, strlen(path), whole))
        return WEFT_LIMIT;
    pthread_mutex_lock(&bake->scene->files->lock);
    const weft__scene_file *file = weft__files_bytes(bake->scene->files, whole);
    pthread_mutex_unlock(&bake->scene->files->lock);
    if (file == NULL) {
        weft__bake_refused(bake);
        return WEFT_OUT_OF_MEMORY;
    }
    const weft__read read = {.kind = WEFT__READ_FILE, .path = file->path_hash, .hash = file->hash};
    weft__bake_reads(bake, read, whole, strlen(whole), NULL);
    if (file->is_missing) return file->result;
    *bytes = file->text;
    return WEFT_OK;
}

/* ---- properties ---- */

uint32_t weft_bake_property(weft_bake *bake, const weft_object *object, const char *property,
                            weft_property *out, uint32_t capacity)
{
    const weft__tree *tree = bake->scene->tree;
    uint32_t node = weft__object_node(bake, object_or_own(bake, object)), count = 0;
    reads_node(bake, WEFT__READ_PROPERTY, node, property,
               weft__node_property(tree, node, property));
    consume(bake, node, property);
    uint32_t layer = 0;
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

/* What words of a value mean: weft_value_io.user. On the stack of a reading. */
typedef struct words {
    weft_bake *bake;
    const weft__scene_file *file;
} words;

static const char *read_entity(const char *word, size_t length, weft_entity *out, void *user)
{
    const words *w = user;
    return weft__bake_word(w->bake, w->file, word, length, out);
}

static const char *read_blob(const char *word, size_t length, weft_blob_ref *out, void *user)
{
    (void)word, (void)length, (void)out, (void)user;
    return "a blob is made by a baker, not written in a document";
}

weft__reading weft__bake_reading(weft_bake *bake, const weft__file_object *object,
                                 const weft__property *property, weft__bake_text *text)
{
    const weft_text *whole = &object->file->text;
    bool is_in_file =
        property->json >= whole->bytes && property->json < whole->bytes + whole->count;
    text->text =
        is_in_file ? *whole : (weft_text){property->json, property->json_bytes, object->file->path};
    words *user = weft__pile_take(&bake->arena, sizeof *user);
    if (user == NULL)
        weft__bake_refused(bake);
    else
        *user = (words){bake, object->file};
    text->io = (weft_value_io){.read_entity = read_entity, .read_blob = read_blob, .user = user};
    weft__reading r = {.io = &text->io,
                       .text = &text->text,
                       .error = &text->error,
                       .result = WEFT_INVALID_ARGUMENT};
    weft__json_open(&r.json, property->json, property->json_bytes);
    return r;
}

/* One layer of a value; false: a mistake, which is reported with the path of the object. */
static bool read_layer(weft_bake *bake, const weft__file_object *object,
                       const weft__property *property, const weft_type *type, void *value,
                       bool *is_there)
{
    weft__bake_text text;
    weft__reading r = weft__bake_reading(bake, object, property, &text);
    if (bake->result != WEFT_OK) return false;
    r.trail.root = type;
    weft__json_token token = weft__json_next(&r.json);
    if (token.kind == WEFT__JSON_NULL) { /* not there, whatever the prefab says */
        weft_value_initial(type, value);
        *is_there = false;
        return true;
    }
    *is_there = true;
    if (weft__reading_value(&r, type, value, &token)) return true;
    if (r.result == WEFT_OUT_OF_MEMORY) weft__bake_refused(bake);
    /* Again, for the error with the path of the object in it. */
    char path[WEFT__PATH_BYTES], name[WEFT__PATH_BYTES + 256];
    weft__node_path(bake->scene->tree, bake->node, path, sizeof path);
    snprintf(name, sizeof name, "%s.%.*s", path, (int)property->name_bytes, property->name);
    const weft_type named = {.name = name};
    r = weft__bake_reading(bake, object, property, &text);
    r.trail.root = &named;
    token = weft__json_next(&r.json);
    weft__reading_value(&r, type, value, &token);
    bake->is_failed = true;
    if (!weft__problem_add_value(&bake->record->arena, &bake->record->problems, &text.text, path,
                                 &text.error))
        weft__bake_refused(bake);
    return false;
}

weft_result weft__bake_value(weft_bake *bake, uint32_t node, const char *property,
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

weft_result weft_bake_read(weft_bake *bake, const weft_object *object, const char *property,
                           const weft_type *type, void *value, bool *is_there)
{
    uint32_t node = weft__object_node(bake, object_or_own(bake, object));
    bool is_found;
    reads_node(bake, WEFT__READ_PROPERTY, node, property,
               weft__node_property(bake->scene->tree, node, property));
    consume(bake, node, property);
    return weft__bake_value(bake, node, property, type, value,
                            is_there == NULL ? &is_found : is_there);
}

/* ---- mistakes ---- */

void weft_bake_error(weft_bake *bake, const weft_object *object, const char *at, const char *format,
                     ...)
{
    const weft__tree *tree = bake->scene->tree;
    uint32_t node = weft__object_node(bake, object_or_own(bake, object));
    const weft__file_object *place = tree->layers.at[tree->nodes.at[node].last_layer].object;
    for (const weft__layer *l = NULL;
         (l = weft__layer_after(tree, node, l)) != NULL && at != NULL;) {
        const weft_text *text = &l->object->file->text;
        if (at >= text->bytes && at <= text->bytes + text->count) place = l->object;
    }
    char path[WEFT__PATH_BYTES];
    weft__node_path(tree, node, path, sizeof path);
    va_list arguments;
    va_start(arguments, format);
    bake->is_failed = true;
    const weft__spot spot = {&place->file->text, at == NULL ? place->at : at, path};
    if (!weft__problem_add(&bake->record->arena, &bake->record->problems, &spot, format, arguments))
        weft__bake_refused(bake);
    va_end(arguments);
}
