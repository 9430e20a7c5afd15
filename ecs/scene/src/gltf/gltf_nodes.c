/* SPDX-License-Identifier: MIT */
/* gltf_nodes.c: the forest of nodes: parents from children, circles by counting what is reached
 * from the roots, names by a table of hashes. Nothing recurses. See gltf_nodes.h. */
#include "gltf_nodes.h"

#include "hash.h"

#include <weft/scene_gltf.h>

#include <stdio.h>
#include <string.h>

/* ---- parents ---- */

static bool element_number(weft_source *out, const weft__gltf_value *element, uint32_t limit,
                           uint32_t *number)
{
    if (element->kind == WEFT__JSON_NUMBER && element->number >= 0 && element->number < limit &&
        weft__number_is_whole(element->number)) {
        *number = (uint32_t)element->number;
        return true;
    }
    weft_source_error(out, element->at, "this is not the number of a node: there are %u", limit);
    return false;
}

/* The array of numbers of nodes of a node or scene; false: it is none. */
static bool find_list(weft_source *out, const weft__gltf_value *json, const char *name,
                      const weft__gltf_value **list)
{
    *list = weft__gltf_member(json, name);
    if (*list == NULL || (*list)->kind == WEFT__JSON_ARRAY) return true;
    weft_source_error(out, (*list)->at, "\"%s\" should be an array of numbers", name);
    return false;
}

static bool find_parents(weft_source *out, weft__gltf *file)
{
    uint32_t child;
    const weft__gltf_value *list;
    for (uint32_t i = 0; i < file->nodes.count; i++) {
        if (!find_list(out, file->nodes.at[i], "children", &list)) return false;
        for (uint32_t k = 0; list != NULL && k < list->count; k++) {
            const weft__gltf_value *at = &list[1 + k]; /* numbers: one value each */
            if (!element_number(out, at, file->nodes.count, &child)) return false;
            if (file->node[child].parent != WEFT__GLTF_NONE) {
                weft_source_error(out, at->at, "node %u has two parents: %u and %u", child,
                                  file->node[child].parent, i);
                return false;
            }
            file->node[child].parent = i;
        }
    }
    return true;
}

/* ---- names ---- */

/* Hashes of names in use, by open addressing. On the stack of weft__gltf_forest. */
typedef struct names {
    uint64_t *at;
    uint64_t mask;
} names;

/* Takes a name; false: it is taken. */
static bool take_name(names *used, uint64_t hash)
{
    hash |= 1;
    uint64_t i = hash >> 7;
    for (; used->at[i & used->mask] != 0; i++)
        if (used->at[i & used->mask] == hash) return false;
    used->at[i & used->mask] = hash;
    return true;
}

static uint64_t name_hash(uint64_t above, const char *name, size_t bytes)
{
    return hash_bytes(above ^ HASH_K1, name, bytes);
}

/* The name of a node as objects may have it; `word` and `number` when it has none. */
static size_t legal_name(const weft__gltf_node *node, const char *word, uint32_t number,
                         char out[256])
{
    size_t bytes = weft__gltf_string(weft__gltf_member(node->json, "name"), out,
                                     WEFT__GLTF_SIGNIFICANT_NAME + 1);
    if (bytes == 0) return (size_t)snprintf(out, 256, "%s%u", word, number);
    for (size_t i = 0; i < bytes; i++)
        if (out[i] == '/' || out[i] == '#' || (unsigned char)out[i] < 0x20 ||
            (i == 0 && out[i] == '.'))
            out[i] = '_';
    return bytes;
}

/* Names a node below `above`; false: memory was refused. Beyond "~15" a name takes the number of
 * its node, so that many equal names stay cheap. */
static bool name_node(weft_source *out, names *used, weft__gltf_node *node, const char *word,
                      uint32_t number)
{
    char name[256];
    size_t bytes = legal_name(node, word, number, name), first = bytes;
    uint64_t above = node->above == NULL ? HASH_K0 : node->above->path_hash;
    uint64_t hash = name_hash(above, name, bytes);
    if (!take_name(used, hash)) {
        uint32_t turn = 2;
        do {
            bytes = first + (size_t)snprintf(name + first, sizeof name - first, "~%u", turn);
            turn = turn < 15 ? turn + 1 : turn == 15 ? 16 + number : turn + 1;
            hash = name_hash(above, name, bytes);
        } while (!take_name(used, hash));
    }
    char *kept = weft_source_memory(out, bytes + 1);
    if (kept == NULL) return false;
    memcpy(kept, name, bytes + 1);
    node->name = kept;
    node->name_bytes = (uint32_t)bytes;
    node->path_hash = hash;
    return true;
}

/* ---- the order of objects ---- */

/* A walk from parents to children, by a stack in the memory of the file. */
typedef struct walk {
    weft_source *out;
    weft__gltf *file;
    names used;
    weft__gltf_node **stack;
    uint32_t count;
} walk;

static bool visit(walk *w, weft__gltf_node *node, const char *word, uint32_t number)
{
    node->depth = node->above == NULL ? 0 : node->above->depth + 1;
    if (node->depth >= WEFT_GLTF_DEPTH_MAX) {
        weft_source_error(w->out, node->json->at, "more than %d nodes below each other",
                          WEFT_GLTF_DEPTH_MAX);
        return false;
    }
    w->file->in_order[w->file->object_count++] = node;
    return name_node(w->out, &w->used, node, word, number);
}

/* Puts nodes on the stack, the last one first. */
static bool push_list(walk *w, const weft__gltf_value *list, const weft__gltf_node *above)
{
    for (uint32_t i = list == NULL ? 0 : list->count; i-- > 0;) {
        uint32_t number;
        if (!element_number(w->out, &list[1 + i], w->file->nodes.count, &number)) return false;
        weft__gltf_node *node = &w->file->node[number];
        if (node->object != WEFT__GLTF_NONE) continue; /* a scene has it as a root */
        node->object = 0;
        node->above = above;
        w->stack[w->count++] = node;
    }
    return true;
}

static bool walk_stack(walk *w)
{
    while (w->count > 0) {
        weft__gltf_node *node = w->stack[--w->count];
        uint32_t number = (uint32_t)(node - w->file->node);
        if (!visit(w, node, "node", number) ||
            !push_list(w, weft__gltf_member(node->json, "children"), node))
            return false;
    }
    return true;
}

static bool walk_scenes(walk *w)
{
    weft__gltf *file = w->file;
    const weft__gltf_value *list;
    bool are_many = file->scenes.count > 1;
    for (uint32_t i = 0; i < file->scenes.count; i++) {
        weft__gltf_node *scene = &file->node[file->nodes.count + i];
        if (!find_list(w->out, scene->json, "nodes", &list)) return false;
        if (are_many && !visit(w, scene, "scene", i)) return false;
        if (!push_list(w, list, are_many ? scene : NULL) || !walk_stack(w)) return false;
    }
    for (uint32_t i = 0; i < file->nodes.count && file->scenes.count == 0; i++) {
        if (file->node[i].parent != WEFT__GLTF_NONE) continue;
        w->stack[w->count++] = &file->node[i];
        if (!walk_stack(w)) return false;
    }
    return true;
}

/* Whether going up from each node ends. Colours: `object` is the number of the walk that came
 * by. */
static bool find_circle(weft_source *out, weft__gltf *file)
{
    for (uint32_t i = 0; i < file->nodes.count; i++) {
        uint32_t at = i;
        while (at != WEFT__GLTF_NONE && file->node[at].object == WEFT__GLTF_NONE) {
            file->node[at].object = i;
            at = file->node[at].parent;
        }
        if (at != WEFT__GLTF_NONE && file->node[at].object == i) {
            weft_source_error(out, file->nodes.at[at]->at, "node %u is below itself", at);
            return true;
        }
    }
    for (uint32_t i = 0; i < file->nodes.count; i++) file->node[i].object = WEFT__GLTF_NONE;
    return false;
}

static bool make_room(weft_source *out, weft__gltf *file, walk *w)
{
    size_t count = (size_t)file->nodes.count + file->scenes.count;
    uint64_t slots = 16;
    while (slots < 2 * count) slots *= 2;
    file->node = weft_source_memory(out, (count + 1) * sizeof *file->node);
    file->in_order = weft_source_memory(out, (count + 1) * sizeof(void *));
    *w = (walk){.out = out, .file = file, .used.mask = slots - 1};
    w->stack = weft_source_memory(out, (count + 1) * sizeof(void *));
    w->used.at = weft_source_memory(out, slots * sizeof *w->used.at);
    if (file->node == NULL || file->in_order == NULL || w->stack == NULL || w->used.at == NULL)
        return false;
    memset(w->used.at, 0, slots * sizeof *w->used.at);
    for (size_t i = 0; i < count; i++) {
        bool is_scene = i >= file->nodes.count;
        file->node[i] = (weft__gltf_node){.file = file,
                                          .json = is_scene ? file->scenes.at[i - file->nodes.count]
                                                           : file->nodes.at[i],
                                          .parent = WEFT__GLTF_NONE,
                                          .object = WEFT__GLTF_NONE,
                                          .first_animation = WEFT__GLTF_NONE,
                                          .last_animation = WEFT__GLTF_NONE,
                                          .is_scene = is_scene};
    }
    return true;
}

bool weft__gltf_forest(weft_source *out, weft__gltf *file)
{
    walk w;
    return make_room(out, file, &w) && find_parents(out, file) && !find_circle(out, file) &&
           walk_scenes(&w);
}

bool weft__gltf_path(const weft__gltf_node *node, const weft__gltf_node *from,
                     char out[WEFT__GLTF_PATH_BYTES])
{
    const weft__gltf_node *chain[WEFT_GLTF_DEPTH_MAX + 1];
    uint32_t count = 0;
    size_t at = 0;
    for (uint32_t i = 0; from != NULL && i <= from->depth; i++, at += 3) memcpy(out + at, "../", 3);
    for (; node != NULL && count <= WEFT_GLTF_DEPTH_MAX; node = node->above) chain[count++] = node;
    while (count-- > 0) {
        if (at + chain[count]->name_bytes + 2 > WEFT__GLTF_PATH_BYTES) return false;
        memcpy(out + at, chain[count]->name, chain[count]->name_bytes);
        at += chain[count]->name_bytes;
        out[at++] = '/';
    }
    out[at - 1] = '\0';
    return true;
}
