/* SPDX-License-Identifier: MIT */
/* scene_trial.c: a trial is a bake of one object, from files and a tree of its own, on top of the
 * files of the last bake. See scene_trial.h. */
#include "scene_trial.h"

#include <stdio.h>
#include <string.h>

/* One trial. On the stack. */
typedef struct trying {
    weft_scene *scene;
    const weft__trial *trial;
    weft__files files;
    weft__tree tree;
    char *why;
    size_t capacity;
} trying;

/* The first mistake in the property; of a list that is wanted whole, the first one. */
static weft_result told(const trying *t, const weft__problem *list, bool is_whole)
{
    const weft__problem *found = NULL;
    for (const weft__problem *p = list; p != NULL; p = p->next) {
        bool is_there = p->offset > t->trial->begin && p->offset <= t->trial->end + 1 &&
                        strcmp(p->file, t->files.first->path) == 0;
        if ((is_whole || is_there) && (found == NULL || p->offset < found->offset)) found = p;
    }
    if (found == NULL) return WEFT_OK;
    snprintf(t->why, t->capacity, "%.*s", (int)strcspn(found->text, "\n"), found->text);
    return WEFT_INVALID_ARGUMENT;
}

/* The bakers of the object say what they say of it. */
static weft_result node_try(trying *t, uint32_t node)
{
    weft_scene *scene = t->scene;
    uint32_t before = weft__tree_find_path(&scene->tree, t->trial->object);
    const weft__record *was = before == WEFT__NONE ? NULL : scene->tree.nodes.at[before].record;
    const weft__bake_scene shared = {.tree = &t->tree,
                                     .schema = &scene->schema,
                                     .bakers = scene->desc.bakers,
                                     .baker_properties = scene->baker_properties,
                                     .baker_count = scene->desc.baker_count,
                                     .files = &t->files,
                                     .memory = &scene->memory,
                                     .blobs = scene->blobs,
                                     .bake = scene->baked};
    weft_bake bake = {.scene = &shared};
    weft__record *record = weft__bake_node(&bake, node);
    weft_result result = WEFT_OUT_OF_MEMORY;
    if (record != NULL) {
        result = told(t, record->problems, was != NULL && was->problems == NULL);
        weft__record_free(record, &scene->memory, scene->blobs);
    }
    weft__bake_free(&bake);
    return result;
}

static weft_result tree_try(trying *t)
{
    const weft__trial *trial = t->trial;
    if (!weft__tree_add_scene(&t->tree, trial->paths, trial->path_count)) return WEFT_OUT_OF_MEMORY;
    weft_result result = told(t, t->tree.problems, false);
    uint32_t node = weft__tree_find_path(&t->tree, trial->object);
    if (result != WEFT_OK || node == WEFT__NONE || t->tree.nodes.at[node].is_group ||
        t->tree.nodes.at[node].is_removed)
        return result;
    return node_try(t, node);
}

weft_result weft__scene_try(weft_scene *scene, const weft__trial *trial, char *why, size_t capacity)
{
    trying t = {.scene = scene, .trial = trial, .why = why, .capacity = capacity};
    const weft_text text = {trial->text, trial->bytes, NULL};
    if (scene->baked != scene->files.bake) return WEFT_OUT_OF_MEMORY; /* so the last bake ended */
    if (!weft__files_stack(&t.files, &scene->files, trial->file, &text)) return WEFT_OUT_OF_MEMORY;
    weft__tree_init(&t.tree, &scene->memory, &t.files, scene->desc.object_limit);
    weft_result result = told(&t, t.files.first->problems, true);
    if (result == WEFT_OK) result = tree_try(&t);
    weft__tree_free(&t.tree);
    weft__files_unstack(&t.files, &scene->files);
    return result;
}
