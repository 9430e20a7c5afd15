/* SPDX-License-Identifier: MIT */
/* scene_explain.c: why an object is what it is, for people and as JSON: its layers, what its bakers
 * read, what they made, why they ran in the last bake. */
#include "scene_state.h"

#include <string.h>

/* ---- pieces ---- */

static uint32_t line_of(const weft__file_object *object)
{
    const weft_text *text = &object->file->text;
    const char *at = object->at == NULL ? object->value.bytes : object->at;
    uint32_t line = 1;
    if (at < text->bytes || at > text->bytes + text->count) return 1;
    for (const char *c = text->bytes; c < at; c++) line += *c == '\n';
    return line;
}

static const char *why_text(const weft_scene *scene, const weft__record *record)
{
    if (record->born != scene->baked) return "as before";
    switch (record->why) {
    case WEFT__WHY_NEW:
        return "new";
    case WEFT__WHY_OWN:
        return "its own text has changed";
    case WEFT__WHY_MISTAKE:
        return "it had a mistake";
    case WEFT__WHY_READ:
        return record->why_text == NULL ? "something that it read has changed" : record->why_text;
    case WEFT__WHY_KEPT:
        break;
    }
    return "as before";
}

static void add_step(weft__text *t, const weft_scene *scene, const weft__step *step)
{
    static const char *const usages[] = {"none", "static", "dynamic"};
    if (step->kind == WEFT__STEP_NAME)
        weft__text_add(t, "name %s", (const char *)(step + 1));
    else if (step->kind == WEFT__STEP_TRANSFORM)
        weft__text_add(t, "transform, %s", usages[step->component]);
    else
        weft__text_add(t, "%s", scene->schema.components.at[step->component - 1].desc->name);
    if (step->kind == WEFT__STEP_DISABLE) weft__text_add(t, ", disabled");
    if (step->kind == WEFT__STEP_BUFFER) weft__text_add(t, ", %u elements", step->count);
    if (step->entity != 0) weft__text_add(t, " (additional entity %u)", step->entity);
}

/* ---- lists ---- */

/* One entry of a list: a line for people, or a string of an array. */
typedef struct list {
    weft__text *out;
    bool is_json;
    uint32_t count;
} list;

static void add_entry(list *l, const char *title, const char *entry)
{
    if (l->is_json) {
        weft__text_add(l->out, l->count == 0 ? "" : ", ");
        weft__text_add_quoted(l->out, entry);
    } else {
        weft__text_add(l->out, "  %-12s%s\n", l->count == 0 ? title : "", entry);
    }
    l->count++;
}

static list begin_list(weft__text *t, bool is_json, const char *title)
{
    if (is_json) weft__text_add(t, ", \"%s\": [", title);
    return (list){t, is_json, 0};
}

static void end_list(const list *l)
{
    if (l->is_json) weft__text_add(l->out, "]");
}

static void add_layers(weft__text *t, const weft_scene *scene, uint32_t node, bool is_json)
{
    const weft__tree *tree = &scene->tree;
    list all = begin_list(t, is_json, "layers");
    for (const weft__layer *l = NULL; (l = weft__layer_after(tree, node, l)) != NULL;) {
        char entry[WEFT__PATH_BYTES];
        const weft__file_object *object = l->object;
        weft__text e = {entry, sizeof entry, 0};
        weft__text_add(&e, "%s:%u", object->file->path, line_of(object));
        add_entry(&all, "layers", entry);
    }
    end_list(&all);
}

static void add_reads(weft__text *t, const weft__record *record, bool is_json)
{
    list l = begin_list(t, is_json, "reads");
    for (uint32_t i = 0; i < record->read_count; i++) {
        char entry[WEFT__PATH_BYTES];
        weft__text e = {entry, sizeof entry, 0};
        weft__read_text(&e, record, &record->reads[i]);
        if (record->reads[i].hash == 0) weft__text_add(&e, " (not there)");
        add_entry(&l, "reads", entry);
    }
    end_list(&l);
}

static void add_makes(weft__text *t, const weft_scene *scene, const weft__output *output,
                      bool is_json)
{
    list l = begin_list(t, is_json, "makes");
    const weft__step *step = NULL;
    while (output != NULL && (step = weft__step_after(output, step)) != NULL) {
        char entry[512];
        weft__text e = {entry, sizeof entry, 0};
        add_step(&e, scene, step);
        add_entry(&l, "makes", entry);
    }
    end_list(&l);
}

static void add_mistakes(weft__text *t, const weft__record *record, bool is_json)
{
    list l = begin_list(t, is_json, "mistakes");
    for (const weft__problem *p = record->problems; p != NULL; p = p->next)
        add_entry(&l, "mistakes", p->told.text);
    end_list(&l);
}

/* ---- the whole ---- */

size_t weft_scene_explain(weft_scene *scene, const char *path, bool is_json, char *text,
                          size_t capacity)
{
    uint32_t node =
        scene == NULL || path == NULL ? WEFT__NONE : weft__tree_find_path(&scene->tree, path);
    if (node == WEFT__NONE || (text == NULL && capacity != 0)) return 0;
    const weft__record *record = scene->tree.nodes.at[node].record;
    weft__text t = {text, capacity, 0};
    if (is_json) {
        weft__text_add(&t, "{\"object\": ");
        weft__text_add_quoted(&t, path);
    } else {
        weft__text_add(&t, "%s\n", path);
    }
    add_layers(&t, scene, node, is_json);
    if (record != NULL) {
        list l = begin_list(&t, is_json, "baked");
        add_entry(&l, "baked", why_text(scene, record));
        end_list(&l);
        add_reads(&t, record, is_json);
        add_makes(&t, scene, record->output, is_json);
        add_mistakes(&t, record, is_json);
    }
    weft__text_add(&t, is_json ? "}\n" : "");
    return t.length;
}
