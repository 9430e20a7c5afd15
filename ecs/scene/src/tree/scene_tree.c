/* SPDX-License-Identifier: MIT */
/* scene_tree.c: nodes, their paths and what they are found by: hashes of paths, of which each
 * name adds its own to that of its parent. Then documents into nodes: children, instances of
 * prefabs and what they override, records of other files.
 *
 * Order of strength: the inner prefab, the outer prefab, the object, "with" of the object. An
 * override is there exactly when it is written. See scene_tree.h. */
#include "scene_tree.h"
#include "hash.h"
#include "json_pull.h"

#include <stdio.h>

void weft__tree_init(weft__tree *tree, weft__memory *memory, weft__files *files, uint32_t limit)
{
    *tree = (weft__tree){
        .files = files, .memory = memory, .arena = WEFT__SCENE_PILE(memory), .limit = limit};
}

void weft__tree_clear(weft__tree *tree)
{
    bool is_long = tree->nodes.capacity / 4 > tree->nodes.count;
    weft__pile_free(&tree->arena);
    if (is_long) weft__tree_free(tree);
    tree->nodes.count = tree->layers.count = tree->roots.count = 0;
    weft__table_clear(&tree->map);
    tree->problems = NULL;
    tree->is_refused = tree->is_full = false;
}

void weft__tree_free(weft__tree *tree)
{
    WEFT__SCENE_FREE(tree->memory, &tree->nodes);
    WEFT__SCENE_FREE(tree->memory, &tree->layers);
    WEFT__SCENE_FREE(tree->memory, &tree->roots);
    weft__table_free(tree->memory, WEFT__MEMORY_OTHER, &tree->map);
    weft__pile_free(&tree->arena);
}

const char weft__no_memory[] = "out of memory";

/* ---- finding ---- */

uint32_t weft__tree_find(const weft__tree *tree, uint64_t path)
{
    uint32_t step = 0, number;
    while ((number = weft__table_next(&tree->map, (uint32_t)path, &step)) != 0) {
        const weft__node *node = &tree->nodes.at[number - 1];
        if (node->path == path && !node->is_removed) return number - 1;
    }
    return WEFT__NONE;
}

uint32_t weft__tree_find_root(const weft__tree *tree, uint64_t hash)
{
    uint32_t node = weft__tree_find(tree, hash);
    return node == WEFT__NONE ? WEFT__NONE : tree->nodes.at[node].root;
}

uint32_t weft__tree_resolve(const weft__tree *tree, uint32_t from, const char *path, size_t bytes,
                            uint64_t *hash)
{
    const weft__node *nodes = tree->nodes.at;
    const char *at = path, *end = path + bytes;
    uint32_t node = from;
    if (at < end && *at == '/') {
        node = tree->roots.at[nodes[from].root].node;
        at++;
    }
    uint64_t found = nodes[node].path;
    for (bool is_there = true; at < end;) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        size_t part = (size_t)((slash == NULL ? end : slash) - at);
        if (part == 2 && at[0] == '.' && at[1] == '.') {
            node = is_there ? nodes[node].parent : WEFT__NONE;
            if (hash != NULL) *hash = 0;
            if (node == WEFT__NONE) return WEFT__NONE;
            found = nodes[node].path;
        } else if (part != 0 && !(part == 1 && at[0] == '.')) {
            found = hash_bytes(found, at, part);
            node = weft__tree_find(tree, found);
            is_there = node != WEFT__NONE;
        }
        at += part + 1;
    }
    if (hash != NULL) *hash = found;
    return weft__tree_find(tree, found);
}

const weft__file_object *weft__tree_reference(const weft__tree *tree, const weft__scene_file *file,
                                              const char *text, size_t bytes, const char **why)
{
    const char *mark = bytes == 0 ? NULL : memchr(text, '#', bytes);
    const weft__scene_file *other = file;
    *why = "a prefab is written \"#name\" of this document, or \"file#name\" of one in \"use\"";
    if (mark == NULL) return NULL;
    if (mark != text) {
        const weft__use *use = weft__file_use(file, text, (size_t)(mark - text));
        *why = "no file has this short name: add it to \"use\" of the document";
        if (use == NULL) return NULL;
        other = weft__files_open(tree->files, use->path);
        *why = weft__no_memory;
        if (other == NULL) return NULL;
        other = weft__file_good(other);
    }
    const weft__file_object *found =
        weft__file_find(other, mark + 1, bytes - (size_t)(mark + 1 - text));
    *why = other->is_broken ? NULL : "the file has no object of this name";
    return found;
}

const weft__file_object *weft__tree_key(weft__tree *tree, const char *key)
{
    const char *mark = strrchr(key, '#');
    char path[WEFT__PATH_BYTES];
    size_t bytes = mark == NULL ? 0 : (size_t)(mark - key);
    if (bytes == 0 || bytes >= sizeof path) return NULL;
    memcpy(path, key, bytes);
    path[bytes] = '\0';
    weft__scene_file *file = weft__files_open(tree->files, path);
    tree->is_refused |= file == NULL;
    return file == NULL ? NULL : weft__file_find(weft__file_good(file), mark + 1, strlen(mark + 1));
}

size_t weft__prefab_key(const weft__file_object *object, char *out, size_t capacity)
{
    const weft__file_object *chain[WEFT_VALUE_DEPTH];
    uint32_t count = 0;
    const weft__file_object *at = object;
    for (; count < WEFT_VALUE_DEPTH; count++) {
        chain[count] = at;
        if (at->parent == WEFT_SOURCE_ROOT) break;
        at = &object->file->objects.at[at->parent];
    }
    size_t length = (size_t)snprintf(out, capacity, "%s#", object->file->path);
    for (uint32_t i = count + (count < WEFT_VALUE_DEPTH); i-- > 0;)
        length += (size_t)snprintf(length < capacity ? out + length : NULL,
                                   length < capacity ? capacity - length : 0, "%.*s%s",
                                   (int)chain[i]->name_bytes, chain[i]->name, i == 0 ? "" : "/");
    return length;
}

uint64_t weft__prefab_hash(const weft__file_object *object)
{
    char key[2 * WEFT__PATH_BYTES];
    size_t length = weft__prefab_key(object, key, sizeof key);
    if (length >= sizeof key) length = sizeof key - 1;
    return hash_bytes(HASH_K1, key, length);
}

/* ---- reading ---- */

uint32_t weft__tree_find_path(const weft__tree *tree, const char *path)
{
    for (uint32_t r = 1; r < tree->roots.count; r++) {
        size_t bytes = strlen(tree->roots.at[r].key);
        if (strncmp(path, tree->roots.at[r].key, bytes) != 0) continue;
        if (path[bytes] == '\0') return tree->roots.at[r].node;
        if (path[bytes] == '/')
            return weft__tree_resolve(tree, tree->roots.at[r].node, path + bytes + 1,
                                      strlen(path + bytes + 1), NULL);
    }
    if (tree->roots.count == 0) return WEFT__NONE;
    return weft__tree_resolve(tree, tree->roots.at[0].node, path, strlen(path), NULL);
}

size_t weft__node_path(const weft__tree *tree, uint32_t node, char *out, size_t capacity)
{
    const weft__node *at = &tree->nodes.at[node];
    if (at->parent == WEFT__NONE)
        return (size_t)snprintf(out, capacity, "%.*s", (int)at->name_bytes, at->name);
    size_t length = weft__node_path(tree, at->parent, out, capacity);
    char *rest = length < capacity ? out + length : NULL;
    size_t left = length < capacity ? capacity - length : 0;
    return length + (size_t)snprintf(rest, left, "%s%.*s", length == 0 ? "" : "/",
                                     (int)at->name_bytes, at->name);
}

uint64_t weft__node_children(const weft__tree *tree, uint32_t node)
{
    uint64_t hash = HASH_K0;
    for (uint32_t i = tree->nodes.at[node].first; i != WEFT__NONE; i = tree->nodes.at[i].next)
        if (!tree->nodes.at[i].is_removed) hash = hash_word(hash, tree->nodes.at[i].path);
    return hash_end(hash) | 1;
}

const weft__property *weft__node_strongest(const weft__tree *tree, uint32_t node, const char *name,
                                           const weft__file_object **object)
{
    const weft__property *found = NULL;
    for (const weft__layer *l = NULL; (l = weft__layer_after(tree, node, l)) != NULL;) {
        const weft__property *p = weft__object_property(l->object, name);
        if (p == NULL) continue;
        found = p;
        *object = l->object;
    }
    return found;
}

uint64_t weft__node_property(const weft__tree *tree, uint32_t node, const char *name)
{
    uint64_t hash = 0;
    for (const weft__layer *l = NULL; (l = weft__layer_after(tree, node, l)) != NULL;) {
        const weft__property *found = weft__object_property(l->object, name);
        if (found != NULL) hash = hash_end(hash_word(hash, found->hash)) | 1;
    }
    return hash;
}

#define CHAIN_MOST 32u

/* An expansion of a root: the prefabs that are being applied, the outermost first. On the stack. */
typedef struct expansion {
    weft__tree *tree;
    const weft__file_object *chain[CHAIN_MOST];
    uint32_t chain_count;
    uint32_t depth;
    uint32_t root;
} expansion;

__attribute__((format(printf, 5, 6))) static void fail(expansion *e, uint32_t node,
                                                       const weft__scene_file *file, const char *at,
                                                       const char *format, ...)
{
    char path[512] = "";
    va_list arguments;
    if (node != WEFT__NONE) weft__node_path(e->tree, node, path, sizeof path);
    va_start(arguments, format);
    const weft__spot spot = {&file->text, at, path};
    e->tree->is_refused |=
        !weft__problem_add(&e->tree->arena, &e->tree->problems, &spot, format, arguments);
    va_end(arguments);
}

static uint32_t add_node(expansion *e, uint32_t parent, uint64_t path, const char *name,
                         uint32_t name_bytes)
{
    weft__tree *tree = e->tree;
    if (tree->nodes.count >= tree->limit) tree->is_full = true;
    if (tree->is_full || tree->is_refused) return WEFT__NONE;
    weft__node *node = WEFT__SCENE_ADD(tree->memory, &tree->nodes);
    uint32_t index = tree->nodes.count - 1;
    if (node == NULL) {
        tree->is_refused = true;
        return WEFT__NONE;
    }
    *node = (weft__node){.name = name,
                         .name_bytes = name_bytes,
                         .parent = parent,
                         .first = WEFT__NONE,
                         .last = WEFT__NONE,
                         .next = WEFT__NONE,
                         .first_layer = WEFT__NONE,
                         .last_layer = WEFT__NONE,
                         .root = e->root,
                         .path = path};
    if (!weft__table_room(tree->memory, WEFT__MEMORY_OTHER, &tree->map, tree->map.count + 1)) {
        tree->nodes.count--;
        tree->is_refused = true;
        return WEFT__NONE;
    }
    weft__table_put(&tree->map, (uint32_t)path, index + 1);
    if (parent == WEFT__NONE) return index;
    weft__node *above = &tree->nodes.at[parent];
    *(above->last == WEFT__NONE ? &above->first : &tree->nodes.at[above->last].next) = index;
    above->last = index;
    return index;
}

static void add_layer(expansion *e, uint32_t node, const weft__file_object *object)
{
    weft__tree *tree = e->tree;
    const weft__layer layer = {object, WEFT__NONE};
    uint32_t index = tree->layers.count;
    bool is_added = WEFT__SCENE_APPEND(tree->memory, &tree->layers, &layer);
    tree->is_refused |= !is_added;
    if (!is_added) return;
    weft__node *owner = &tree->nodes.at[node];
    *(owner->last_layer == WEFT__NONE ? &owner->first_layer
                                      : &tree->layers.at[owner->last_layer].next) = index;
    owner->last_layer = index;
    owner->own = hash_end(hash_word(owner->own, object->hash)) | 1;
}

/* ---- objects ---- */

static void apply(expansion *e, uint32_t node, const weft__file_object *object);

/* The characters of a string that has escapes go to the tree's memory; false: it is refused. */
static bool decode(expansion *e, weft__json_token *word)
{
    if (!word->has_escapes) return true;
    size_t room = (size_t)(word->end - word->at) + 1;
    char *text = weft__pile_take(&e->tree->arena, 1, room);
    e->tree->is_refused |= text == NULL;
    if (text == NULL) return false;
    word->end = text + weft__json_string(word, text, room);
    word->at = text;
    return true;
}

/* A string property; false: it is absent, or no string, which is said. */
static inline bool read_word(expansion *e, uint32_t node, const weft__file_object *object,
                             const char *name, weft__json_token *word, const char **at)
{
    const weft__property *property = weft__object_property(object, name);
    if (property == NULL) return false;
    weft__json json;
    weft__json_open(&json, property->json, property->json_bytes);
    *word = weft__json_next(&json);
    *at = property->json;
    if (word->kind == WEFT__JSON_STRING) return decode(e, word);
    fail(e, node, object->file, property->json, "a string should be here");
    return false;
}

static void apply_prefab(expansion *e, uint32_t node, const weft__file_object *object)
{
    weft__json_token word;
    const char *at, *why;
    if (!read_word(e, node, object, "prefab", &word, &at)) return;
    const weft__file_object *prefab =
        weft__tree_reference(e->tree, object->file, word.at, (size_t)(word.end - word.at), &why);
    if (prefab == NULL) {
        if (why == weft__no_memory)
            e->tree->is_refused = true;
        else if (why != NULL)
            fail(e, node, object->file, at, "%s", why);
        return;
    }
    for (uint32_t i = 0; i < e->chain_count; i++)
        if (e->chain[i] == prefab) {
            fail(e, node, object->file, at,
                 "a prefab that contains itself: \"%.*s\" stands in an instance of \"%.*s\"",
                 (int)(word.end - word.at), word.at, (int)prefab->name_bytes, prefab->name);
            return;
        }
    if (e->chain_count == CHAIN_MOST) {
        fail(e, node, object->file, at, "more than 32 prefabs within each other");
        return;
    }
    e->chain[e->chain_count++] = prefab;
    apply(e, node, prefab);
    e->chain_count--;
    e->tree->nodes.at[node].prefab = prefab;
}

static uint32_t add_child(expansion *e, uint32_t parent, const weft__file_object *object)
{
    uint64_t path = hash_bytes(e->tree->nodes.at[parent].path, object->name, object->name_bytes);
    uint32_t other = weft__tree_find(e->tree, path);
    if (other == WEFT__NONE) return add_node(e, parent, path, object->name, object->name_bytes);
    fail(e, other, object->file, object->at,
         "the name is taken: give this object another one, or change what the prefab has by "
         "\"with\"");
    return WEFT__NONE;
}

static void apply_children(expansion *e, uint32_t node, const weft__file_object *object)
{
    const weft__file_object *objects = object->file->objects.at;
    for (uint32_t i = object->first; i != WEFT__NONE; i = objects[i].next) {
        if (objects[i].role != WEFT__CHILD) continue;
        uint32_t child = add_child(e, node, &objects[i]);
        if (child != WEFT__NONE) apply(e, child, &objects[i]);
        if (e->tree->is_refused || e->tree->is_full) return;
    }
}

/* A path below a node, for "with" and "without". */
static uint32_t find_below(expansion *e, uint32_t node, const char *path, size_t bytes)
{
    bool is_inside = bytes != 0 && path[0] != '/' && path[0] != '.';
    uint32_t found = is_inside ? weft__tree_resolve(e->tree, node, path, bytes, NULL) : WEFT__NONE;
    return found == node ? WEFT__NONE : found;
}

/* A new object that "with" puts below one that is there: "barrel/tip"; NONE: there is none. */
static uint32_t add_below(expansion *e, uint32_t node, const char *path, size_t bytes)
{
    size_t above = bytes;
    while (above != 0 && path[above - 1] != '/') above--;
    const char *name = path + above;
    if (above == 0 || above == bytes || name[0] == '.') return WEFT__NONE;
    uint32_t parent = find_below(e, node, path, above - 1);
    if (parent == WEFT__NONE) return WEFT__NONE;
    uint64_t whole = hash_bytes(e->tree->nodes.at[parent].path, name, bytes - above);
    return add_node(e, parent, whole, name, (uint32_t)(bytes - above));
}

static void apply_with(expansion *e, uint32_t node, const weft__file_object *object)
{
    const weft__file_object *objects = object->file->objects.at;
    for (uint32_t i = object->first; i != WEFT__NONE; i = objects[i].next) {
        if (objects[i].role != WEFT__WITH) continue;
        const char *path = objects[i].name;
        const uint32_t bytes = objects[i].name_bytes;
        uint32_t below = find_below(e, node, path, bytes);
        if (below == WEFT__NONE) below = add_below(e, node, path, bytes);
        if (below != WEFT__NONE)
            apply(e, below, &objects[i]);
        else if (!e->tree->is_refused && !e->tree->is_full)
            fail(e, node, object->file, objects[i].at,
                 "no object \"%.*s\" below this one: it was renamed or removed in the prefab; "
                 "\"children\" adds one",
                 (int)bytes, path);
        if (e->tree->is_refused || e->tree->is_full) return;
    }
}

static void remove_node(weft__tree *tree, uint32_t node)
{
    tree->nodes.at[node].is_removed = true;
    for (uint32_t i = tree->nodes.at[node].first; i != WEFT__NONE; i = tree->nodes.at[i].next)
        if (!tree->nodes.at[i].is_removed) remove_node(tree, i);
}

static void apply_without(expansion *e, uint32_t node, const weft__file_object *object)
{
    const weft__property *property = weft__object_property(object, "without");
    if (property == NULL) return;
    weft__json json;
    weft__json_open(&json, property->json, property->json_bytes);
    weft__json_token token = weft__json_next(&json);
    bool is_list = token.kind == WEFT__JSON_ARRAY;
    while (is_list && (token = weft__json_next(&json)).kind == WEFT__JSON_STRING) {
        const char *at = token.at - 1;
        if (!decode(e, &token)) return;
        uint32_t below = find_below(e, node, token.at, (size_t)(token.end - token.at));
        if (below == WEFT__NONE)
            fail(e, node, object->file, at,
                 "no object \"%.*s\" below this one: it was renamed or removed in the prefab",
                 (int)(token.end - token.at), token.at);
        else
            remove_node(e->tree, below);
    }
    if (!is_list || token.kind != WEFT__JSON_ARRAY_END)
        fail(e, node, object->file, property->json,
             "paths of objects should be here: [\"panel/right\"]");
}

/* All objects of a file as children of the node. */
static void apply_each(expansion *e, uint32_t node, const weft__file_object *object)
{
    weft__json_token word;
    const char *at;
    if (!read_word(e, node, object, "each", &word, &at)) return;
    const weft__use *use = weft__file_use(object->file, word.at, (size_t)(word.end - word.at));
    if (use == NULL) {
        fail(e, node, object->file, at, "no file has this short name: add it to \"use\"");
        return;
    }
    weft__scene_file *opened = weft__files_open(e->tree->files, use->path);
    e->tree->is_refused |= opened == NULL;
    if (opened == NULL) return;
    const weft__scene_file *file = weft__file_good(opened);
    e->tree->nodes.at[node].is_group = true;
    for (uint32_t i = file->first; i != WEFT__NONE; i = file->objects.at[i].next) {
        const weft__file_object *record = &file->objects.at[i];
        uint32_t child = add_child(e, node, record);
        if (child == WEFT__NONE) continue;
        e->tree->nodes.at[child].is_record = true;
        apply(e, child, record);
        if (e->tree->is_refused || e->tree->is_full) return;
        add_layer(e, child, object);
    }
}

/* Adds an object as the strongest layer of a node, and what is below it. */
static void apply(expansion *e, uint32_t node, const weft__file_object *object)
{
    if (e->depth == 8 * WEFT_VALUE_DEPTH) {
        fail(e, node, object->file, object->at, "more than 512 objects within each other");
        return;
    }
    e->depth++;
    apply_prefab(e, node, object);
    add_layer(e, node, object);
    if (!e->tree->is_refused) apply_each(e, node, object);
    if (!e->tree->is_refused && !e->tree->is_full) apply_children(e, node, object);
    if (!e->tree->is_refused && !e->tree->is_full) apply_with(e, node, object);
    if (!e->tree->is_refused && !e->tree->is_full) apply_without(e, node, object);
    e->depth--;
}

/* ---- roots ---- */

static uint32_t add_root(weft__tree *tree, const char *key, uint64_t hash, expansion *e)
{
    weft__root *root = WEFT__SCENE_ADD(tree->memory, &tree->roots);
    if (root == NULL) {
        tree->is_refused = true;
        return WEFT__NONE;
    }
    uint32_t number = tree->roots.count - 1;
    *root = (weft__root){.key = key, .hash = hash};
    *e = (expansion){.tree = tree, .root = number};
    uint32_t node = add_node(e, WEFT__NONE, hash, key, (uint32_t)strlen(key));
    if (node == WEFT__NONE) {
        tree->roots.count--;
        return WEFT__NONE;
    }
    tree->roots.at[number].node = node;
    return number;
}

bool weft__tree_add_scene(weft__tree *tree, const char *const *paths, uint32_t count)
{
    expansion e;
    uint32_t root = add_root(tree, "", HASH_K0, &e);
    if (root == WEFT__NONE) return false;
    uint32_t top = tree->roots.at[root].node;
    tree->nodes.at[top].is_group = true;
    for (uint32_t i = 0; i < count && !tree->is_full; i++) {
        char whole[WEFT__PATH_BYTES];
        if (!weft__path_join(NULL, paths[i], strlen(paths[i]), whole)) continue;
        weft__scene_file *opened = weft__files_open(tree->files, whole);
        if (opened == NULL) return false;
        uint32_t parent = top;
        if (count > 1) {
            size_t bytes;
            const char *name = weft__path_stem(opened->path, &bytes);
            const weft__file_object folder = {
                .file = opened, .name = name, .name_bytes = (uint32_t)bytes};
            parent = add_child(&e, top, &folder);
            if (parent == WEFT__NONE) continue;
            tree->nodes.at[parent].is_group = true;
        }
        const weft__scene_file *file = weft__file_good(opened);
        for (uint32_t k = file->first; k != WEFT__NONE && !tree->is_refused && !tree->is_full;
             k = file->objects.at[k].next) {
            uint32_t node = add_child(&e, parent, &file->objects.at[k]);
            if (node != WEFT__NONE) apply(&e, node, &file->objects.at[k]);
        }
    }
    return !tree->is_refused;
}

uint32_t weft__tree_add_prefab(weft__tree *tree, const weft__file_object *object)
{
    uint64_t hash = weft__prefab_hash(object);
    uint32_t known = weft__tree_find_root(tree, hash);
    if (known != WEFT__NONE || tree->is_full) return known;
    char key[2 * WEFT__PATH_BYTES];
    expansion e;
    weft__prefab_key(object, key, sizeof key);
    const char *kept = weft__pile_text(&tree->arena, key, strlen(key));
    uint32_t root = kept == NULL ? WEFT__NONE : add_root(tree, kept, hash, &e);
    if (root == WEFT__NONE) {
        tree->is_refused = !tree->is_full;
        return WEFT__NONE;
    }
    e.chain[e.chain_count++] = object;
    apply(&e, tree->roots.at[root].node, object);
    return tree->is_refused ? WEFT__NONE : root;
}
