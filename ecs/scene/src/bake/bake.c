/* SPDX-License-Identifier: MIT */
/* bake.c: one object becomes a record: its bakers run, then its properties, then what they made
 * is put into one block. See bake.h. */
#include "bake.h"

#include "bake_properties.h"

#include "hash.h"

#include <stdio.h>
#include <string.h>

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

/* The name in "baker", in the strongest layer that has it. */
static const weft__property *asked_baker(const weft_bake *bake, const weft__file_object **object)
{
    const weft__tree *tree = bake->scene->tree;
    const weft__property *found = NULL;
    for (uint32_t l = tree->nodes.at[bake->node].first_layer; l != WEFT__NONE;
         l = tree->layers.at[l].next) {
        const weft__property *p = weft__object_property(tree->layers.at[l].object, "baker");
        if (p == NULL) continue;
        found = p;
        *object = tree->layers.at[l].object;
    }
    return found;
}

static bool is_asked(const weft__property *asked, const char *name)
{
    size_t bytes = strlen(name);
    return asked != NULL && asked->json_bytes == bytes + 2 && asked->json[0] == '"' &&
           memcmp(asked->json + 1, name, bytes) == 0;
}

static bool has_kind(const weft_bake *bake, const char *kind)
{
    const weft__tree *tree = bake->scene->tree;
    for (uint32_t l = tree->nodes.at[bake->node].first_layer; l != WEFT__NONE;
         l = tree->layers.at[l].next)
        if (strcmp(tree->layers.at[l].object->file->source->kind, kind) == 0) return true;
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
    const weft__file_object *object = NULL;
    const weft__property *asked = asked_baker(bake, &object);
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
    if (bake->result == WEFT_OK) weft__bake_properties(bake);
    bool is_kept = bake->result == WEFT_OK && keep_reads(bake, record);
    if (is_kept && !bake->is_failed) is_kept = (record->output = make_output(bake)) != NULL;
    end(bake);
    if (is_kept) return record;
    weft__record_free(record, bake->scene->memory, bake->scene->blobs);
    return NULL;
}
