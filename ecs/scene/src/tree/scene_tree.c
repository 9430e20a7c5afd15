/* SPDX-License-Identifier: MIT */
/* scene_tree.c: nodes, their paths and what they are found by: hashes of paths, of which each
 * name adds its own to that of its parent. See scene_tree.h. */
#include "scene_tree.h"

#include "hash.h"

#include <stdio.h>
#include <string.h>

void weft__tree_init(weft__tree *tree, weft__memory *memory, weft__files *files, uint32_t limit)
{
    *tree = (weft__tree){.files = files, .memory = memory, .arena.memory = memory, .limit = limit};
}

bool weft__tree_enter(weft__tree *tree)
{
    uint32_t number = tree->map.count + 1;
    if (!weft__table_room(tree->memory, WEFT__MEMORY_OTHER, &tree->map, number)) return false;
    weft__table_put(&tree->map, (uint32_t)tree->nodes.at[number - 1].path, number);
    return true;
}

bool weft__tree_reserve(weft__tree *tree, const weft__tree *as)
{
    return weft__table_room(tree->memory, WEFT__MEMORY_OTHER, &tree->map, as->map.count) &&
           WEFT__SCENE_ROOM(tree->memory, &tree->nodes, as->nodes.count) &&
           WEFT__SCENE_ROOM(tree->memory, &tree->layers, as->layers.count);
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

uint64_t weft__node_property(const weft__tree *tree, uint32_t node, const char *name)
{
    uint64_t hash = 0;
    for (uint32_t l = tree->nodes.at[node].first_layer; l != WEFT__NONE;
         l = tree->layers.at[l].next) {
        const weft__property *found = weft__object_property(tree->layers.at[l].object, name);
        if (found != NULL) hash = hash_end(hash_word(hash, found->hash)) | 1;
    }
    return hash;
}
