/* SPDX-License-Identifier: MIT */
/* scene_state.c: scenes begin and end, bake, and tell of the last bake.
 *
 * In a bake the tree is made again, records whose object and reads are as before are kept, the
 * others are baked in parallel; prefabs that records refer to join in rounds, until no record
 * refers to another one. Nothing of the scene changes before all memory that is needed is there. A
 * trial is a bake of one object, from files and a tree of its own, on top of the files of the last
 * bake. An explanation of an object has its layers, what its bakers read, what they made, why they
 * ran in the last bake. See weft/scene.h. */
#include "scene_state.h"
#include "error.h"
#include "hash.h"
#include "sized.h"
#include "utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <weft/snapshot.h>

/* ---- begin and end ---- */

static bool is_possible(const weft_scene_desc *desc)
{
    if ((desc->bakers == NULL && desc->baker_count != 0) ||
        (desc->sources == NULL && desc->source_count != 0) || desc->baker_count > 65536 ||
        desc->source_count > 1024)
        return false;
    for (uint32_t i = 0; i < desc->baker_count; i++) {
        if (!weft__name_fits(desc->bakers[i].name, SIZE_MAX) || desc->bakers[i].bake == NULL)
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(desc->bakers[i].name, desc->bakers[k].name) == 0) return false;
    }
    for (uint32_t i = 0; i < desc->source_count; i++) {
        const weft_source_desc *source = &desc->sources[i];
        if (source->kind == NULL || source->suffixes == NULL || source->open == NULL ||
            strcmp(source->kind, "text") == 0)
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(source->kind, desc->sources[k].kind) == 0) return false;
    }
    return true;
}

static bool copy_arrays(weft_scene *scene, const weft_scene_desc *desc)
{
    const size_t baker_bytes = desc->baker_count * sizeof *desc->bakers;
    const size_t source_bytes = desc->source_count * sizeof *desc->sources;
    scene->arrays = WEFT__SCENE_PILE(&scene->memory);
    scene->desc = *desc;
    weft_baker_desc *bakers = weft__pile_take(&scene->arrays, 1, baker_bytes);
    weft_source_desc *sources = weft__pile_take(&scene->arrays, 1, source_bytes);
    scene->baker_properties =
        weft__pile_take(&scene->arrays, desc->baker_count, sizeof *scene->baker_properties);
    if (scene->arrays.is_refused) return false;
    if (baker_bytes != 0) memcpy(bakers, desc->bakers, baker_bytes);
    if (source_bytes != 0) memcpy(sources, desc->sources, source_bytes);
    scene->desc.bakers = bakers;
    scene->desc.sources = sources;
    for (uint32_t i = 0; i < desc->baker_count; i++) {
        const char *property = bakers[i].property;
        scene->baker_properties[i] =
            property == NULL ? 0 : hash_bytes(HASH_K1, property, strlen(property));
    }
    if (scene->desc.file_bytes_max == 0) scene->desc.file_bytes_max = UINT64_C(1) << 30;
    if (scene->desc.object_limit == 0) scene->desc.object_limit = UINT32_C(1) << 22;
    return true;
}

static weft_result begin(weft_scene *scene, weft_world *world, const weft_scene_desc *desc)
{
    if (!copy_arrays(scene, desc)) return WEFT_OUT_OF_MEMORY;
    weft_result result = weft__schema_init(&scene->schema, &scene->memory, world);
    if (result != WEFT_OK) return result;
    const weft_blob_store_desc blobs = {.allocator = scene->memory.hook};
    result = weft_blob_store_create(&blobs, &scene->blobs);
    if (result != WEFT_OK) return result;
    scene->worker_count = weft_job_pool_worker_count(weft_world_pool(world));
    scene->workers = weft__pile_take(&scene->arrays, scene->worker_count, sizeof *scene->workers);
    if (scene->workers == NULL) return WEFT_OUT_OF_MEMORY;
    weft__tree_init(&scene->tree, &scene->memory, &scene->files, scene->desc.object_limit);
    scene->spare = scene->tree;
    scene->told.removed = WEFT__SCENE_PILE(&scene->memory);
    scene->hook.holds = "scene (weft_scene_destroy)";
    return weft_world_hook_add(world, &scene->hook);
}

static void told_free(weft__memory *memory, weft__told *told)
{
    WEFT__SCENE_FREE(memory, &told->changes);
    WEFT__SCENE_FREE(memory, &told->problems);
    WEFT__SCENE_FREE(memory, &told->removed_paths);
    weft__pile_free(&told->removed);
}

static void scene_free(weft_scene *scene)
{
    weft__memory *memory = &scene->memory;
    for (uint32_t i = 0; i < scene->tree.nodes.count; i++)
        if (scene->tree.nodes.at[i].record != NULL)
            weft__record_free(scene->tree.nodes.at[i].record, memory, scene->blobs);
    weft__tree_free(&scene->tree);
    weft__tree_free(&scene->spare);
    weft__files_free(&scene->files);
    if (scene->watched != 0) weft__file_watch_close(&scene->watch);
    for (uint32_t i = 0; i < scene->worker_count && scene->workers != NULL; i++) {
        const weft__bake_scene shared = {.memory = memory};
        scene->workers[i].scene = &shared;
        weft__bake_free(&scene->workers[i]);
    }
    WEFT__SCENE_FREE(memory, &scene->entities);
    told_free(memory, &scene->told);
    weft__schema_free(&scene->schema, memory);
    weft_blob_store_destroy(scene->blobs);
    weft__pile_free(&scene->arrays);
    weft__memory last = scene->memory;
    weft__free(&last, WEFT__MEMORY_OTHER, scene, 1, sizeof *scene, 64);
}

weft_result weft_scene_create(weft_world *schema, const weft_scene_desc *desc, weft_scene **out)
{
    static const weft_scene_desc plain = {.baker_count = 0};
    weft__memory memory;
    if (out == NULL) return WEFT_INVALID_ARGUMENT;
    *out = NULL;
    if (desc == NULL) desc = &plain;
    if (schema == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__refuse_steps(schema, "weft_scene_create");
    if (result != WEFT_OK) return result;
    result =
        is_possible(desc) ? weft__memory_init(&memory, &desc->allocator) : WEFT_INVALID_ARGUMENT;
    if (result != WEFT_OK)
        return weft__error(schema, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_scene_create: give each baker and source a function and a name of "
                           "its own, and the allocator both functions");
    weft_scene *scene = weft__alloc_zeroed(&memory, WEFT__MEMORY_OTHER, 1, sizeof *scene, 64);
    if (scene == NULL) return weft__error_memory(schema, "weft_scene_create");
    weft__memory_init(&scene->memory, &desc->allocator);
    if (!weft__files_init(&scene->files, &scene->memory, &scene->desc)) {
        weft__free(&memory, WEFT__MEMORY_OTHER, scene, 1, sizeof *scene, 64);
        return weft__error_memory(schema, "weft_scene_create");
    }
    result = begin(scene, schema, desc);
    if (result == WEFT_OK)
        *out = scene;
    else
        scene_free(scene);
    return result == WEFT_OUT_OF_MEMORY ? weft__error_memory(schema, "weft_scene_create") : result;
}

void weft_scene_destroy(weft_scene *scene)
{
    if (scene == NULL || weft__scene_bakes(scene)) return;
    if (weft_world_hook_remove(scene->schema.world, &scene->hook) != WEFT_OK) return; /* not idle */
    scene_free(scene);
}

/* What bakers see in a bake with these files. */
static weft__bake_scene baking_with(weft_scene *scene, const weft__tree *tree, weft__files *files)
{
    return (weft__bake_scene){.tree = tree,
                              .schema = &scene->schema,
                              .bakers = scene->desc.bakers,
                              .baker_properties = scene->baker_properties,
                              .baker_count = scene->desc.baker_count,
                              .files = files,
                              .memory = &scene->memory,
                              .blobs = scene->blobs,
                              .bake = files->bake};
}

/* An object to be baked. */
typedef struct job {
    uint32_t node;
    weft__why why;
    weft__record *old; /* NULL: it was not there */
    uint32_t why_read; /* of the old record */
    weft__record *made;
} job;

/* A bake. On the stack of weft_scene_bake. */
typedef struct update {
    weft_scene *scene;
    weft__tree tree;
    weft__bake_scene shared;
    WEFT__LIST(job) jobs;
    uint32_t job_begin; /* of the round */
    uint32_t baked;
    uint32_t objects, records;          /* examined; that the tree has then */
    bool is_same_shape;                 /* see struct weft_scene */
    uint32_t found, faulty;             /* old records whose object is there; kept with mistakes */
    WEFT__LIST(weft__record *) dropped; /* old ones whose object is not */
    weft__told told;
} update;

/* ---- what must be baked ---- */

static bool has_entity(const weft__node *node)
{
    return !node->is_removed && !node->is_group;
}

/* What the last bake had at a path; NULL: nothing. Mostly the node has the number that it had. */
static const weft__node *old_node(const weft_scene *scene, uint64_t path, uint32_t index)
{
    const weft__tree *tree = &scene->tree;
    bool is_there = index < tree->nodes.count && tree->nodes.at[index].path == path &&
                    !tree->nodes.at[index].is_removed;
    if (!is_there) index = weft__tree_find(tree, path);
    return index == WEFT__NONE || tree->nodes.at[index].record == NULL ? NULL
                                                                       : &tree->nodes.at[index];
}

/* Why a record with reads or mistakes cannot be kept; KEPT: it can. */
static weft__why examine_record(update *u, const weft__record *old, uint32_t *why_read)
{
    for (*why_read = 0; *why_read < old->read_count; ++*why_read) {
        const weft__read *read = &old->reads[*why_read];
        if (weft__read_hash(&u->tree, old, read) != read->hash) return WEFT__WHY_READ;
    }
    /* What is said of a mistake has its place, which may have moved. */
    bool is_moved = old->problems != NULL && u->scene->files.read_count != 0;
    return is_moved ? WEFT__WHY_MISTAKE : WEFT__WHY_KEPT;
}

static bool examine(update *u, uint32_t index)
{
    weft__node *node = &u->tree.nodes.at[index];
    const weft__node *old = old_node(u->scene, node->path, index);
    job next = {.node = index, .why = WEFT__WHY_NEW};
    u->objects++;
    u->is_same_shape &=
        old != NULL && old == &u->scene->tree.nodes.at[index] && old->prefab == node->prefab;
    if (old != NULL) {
        u->found++;
        next.old = old->record;
        next.why = old->own == node->own ? WEFT__WHY_KEPT : WEFT__WHY_OWN;
        if (next.why == WEFT__WHY_KEPT && !old->is_plain)
            next.why = examine_record(u, old->record, &next.why_read);
        if (u->tree.is_refused) return false;
    }
    if (next.why == WEFT__WHY_KEPT) {
        node->record = old->record;
        node->is_plain = old->is_plain;
        node->has_prefabs = old->has_prefabs;
        node->is_simple = old->is_simple && node->prefab == NULL;
        node->is_kept = true;
        if (!old->is_plain) u->faulty += old->record->problems != NULL;
        u->records++;
        return true;
    }
    return WEFT__SCENE_APPEND(&u->scene->memory, &u->jobs, &next);
}

/* ---- baking ---- */

static int run_jobs(weft_job_context *context, void *argument, uint32_t begin, uint32_t end)
{
    update *u = argument;
    weft_bake *bake = &u->scene->workers[weft_job_worker_index(context)];
    for (uint32_t i = begin; i < end; i++) {
        job *next = &u->jobs.at[u->job_begin + i];
        next->made = weft__bake_node(bake, next->node);
        if (next->made == NULL) return 1;
    }
    return 0;
}

static bool has_reference(const weft__output *output, weft__reference_kind kind)
{
    for (uint32_t i = 0; output != NULL && i < output->reference_count; i++)
        if (output->references[i].kind == kind) return true;
    return false;
}

/* Whether everything of its entity is in its output. */
static bool is_simple(const weft__node *node, const weft__output *output)
{
    if (output == NULL || output->entity_count != 1 || node->prefab != NULL || node->root != 0 ||
        node->has_prefabs || has_reference(output, WEFT__REFERENCE_OBJECT))
        return false;
    for (const weft__bake_step *s = NULL; (s = weft__step_after(output, s)) != NULL;)
        if (s->kind == WEFT__STEP_TRANSFORM) return false;
    return true;
}

/* Takes the records of a round into the tree. */
static void collect(update *u)
{
    for (uint32_t i = u->job_begin; i < u->jobs.count; i++) {
        job *done = &u->jobs.at[i];
        weft__record *made = done->made;
        if (made == NULL) continue;
        made->why = done->why;
        if (done->why == WEFT__WHY_READ) {
            char text[1280];
            weft__text told = {text, sizeof text, 0};
            weft__read_text(&told, done->old, &done->old->reads[done->why_read]);
            made->why_text = weft__pile_text(
                &made->arena, text, told.length < sizeof text ? told.length : sizeof text - 1);
        }
        if (made->output == NULL && done->old != NULL && done->old->output != NULL) {
            made->output = done->old->output;
            made->output->users++;
        }
        weft__node *node = &u->tree.nodes.at[done->node];
        node->record = made;
        node->is_plain = made->read_count == 0 && made->problems == NULL;
        node->has_prefabs = has_reference(made->output, WEFT__REFERENCE_PREFAB);
        node->is_simple = is_simple(node, made->output);
        const weft__output *was = done->old == NULL ? NULL : done->old->output;
        node->is_kept = was != NULL && made->output != NULL && was->hash == made->output->hash;
        u->is_same_shape =
            u->is_same_shape &&
            (node->is_kept || (node->is_simple && u->scene->tree.nodes.at[done->node].is_simple));
        u->faulty += made->problems != NULL;
        u->records++;
    }
}

/* Objects between two reports of progress: some tenth of a second's work, and enough of it for any
 * number of workers. */
enum { PROGRESS_OBJECTS = 1 << 15 };

static bool run_round(update *u, uint32_t count)
{
    weft_scene *scene = u->scene;
    weft_job_context *context;
    weft_job_pool *pool = weft_world_pool(scene->schema.world);
    if (weft_job_pool_enter(pool, &context) != WEFT_OK) return false;
    bool is_done = true;
    uint32_t first = u->job_begin;
    for (uint32_t done = 0; is_done && done < count;) {
        uint32_t part = count - done < PROGRESS_OBJECTS ? count - done : PROGRESS_OBJECTS;
        const weft_job_for_desc desc = {
            .fn = run_jobs, .argument = u, .count = part, .cost = &scene->cost, .name = "bake"};
        u->job_begin = first + done;
        is_done = weft_job_for(context, &desc, NULL) == WEFT_OK;
        done += part;
        if (scene->desc.progress != NULL) scene->desc.progress(done, count, scene->desc.user);
    }
    u->job_begin = first;
    weft_job_pool_leave(context);
    return is_done;
}

static bool bake_round(update *u, uint32_t begin, uint32_t end)
{
    u->job_begin = u->jobs.count;
    for (uint32_t i = begin; i < end; i++)
        if (has_entity(&u->tree.nodes.at[i]) && !examine(u, i)) return false;
    uint32_t count = u->jobs.count - u->job_begin;
    if (count == 0) return true;
    bool is_done = run_round(u, count);
    collect(u);
    u->baked += count;
    return is_done;
}

/* ---- prefabs that are entities ---- */

static bool add_prefab(update *u, const weft__file_object *object)
{
    return object == NULL || weft__tree_add_prefab(&u->tree, object) != WEFT__NONE ||
           u->tree.is_full;
}

/* The prefabs that the nodes of a round refer to. */
static bool add_prefabs(update *u, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++) {
        if (!has_entity(&u->tree.nodes.at[i])) continue;
        if (!add_prefab(u, u->tree.nodes.at[i].prefab)) return false;
        const weft__record *record = u->tree.nodes.at[i].record;
        const weft__output *output = u->tree.nodes.at[i].has_prefabs ? record->output : NULL;
        for (uint32_t r = 0; output != NULL && r < output->reference_count; r++) {
            const weft__record_reference *reference = &output->references[r];
            if (reference->kind != WEFT__REFERENCE_PREFAB ||
                weft__tree_find_root(&u->tree, reference->path) != WEFT__NONE)
                continue;
            if (!add_prefab(u, weft__tree_key(&u->tree, output->texts + reference->text)))
                return false;
        }
        if (u->tree.is_refused) return false;
    }
    return true;
}

static bool bake_all(update *u, const char *const *paths, uint32_t count)
{
    if (!weft__tree_add_scene(&u->tree, paths, count)) return false;
    for (uint32_t done = 0; done < u->tree.nodes.count;) {
        uint32_t end = u->tree.nodes.count;
        if (!bake_round(u, done, end) || !add_prefabs(u, done, end)) return false;
        done = end;
    }
    return true;
}

/* ---- what has changed ---- */

static bool add_change(update *u, uint32_t node, weft_scene_change_kind kind)
{
    const weft__record_change change = {node, kind};
    return WEFT__SCENE_APPEND(&u->scene->memory, &u->told.changes, &change);
}

static bool add_removed(update *u, uint32_t node)
{
    char path[2 * WEFT__PATH_BYTES];
    size_t length = weft__node_path(&u->scene->tree, node, path, sizeof path);
    const char *kept =
        weft__pile_text(&u->told.removed, path, length < sizeof path ? length : sizeof path - 1);
    return kept != NULL && WEFT__SCENE_APPEND(&u->scene->memory, &u->told.removed_paths, &kept) &&
           add_change(u, u->told.removed_paths.count - 1, WEFT_SCENE_REMOVED);
}

static const weft__output *output_of(const weft__record *record)
{
    return record == NULL ? NULL : record->output;
}

/* Old records whose object is not there any more. */
static bool find_dropped(update *u)
{
    const weft__tree *old = &u->scene->tree;
    for (uint32_t i = 0; u->found != u->scene->record_count && i < old->nodes.count; i++) {
        weft__record *record = old->nodes.at[i].record;
        if (record == NULL) continue;
        uint32_t now = weft__tree_find(&u->tree, old->nodes.at[i].path);
        if (now != WEFT__NONE && has_entity(&u->tree.nodes.at[now])) continue;
        if (!WEFT__SCENE_APPEND(&u->scene->memory, &u->dropped, &record)) return false;
        if (record->output != NULL && !add_removed(u, i)) return false;
    }
    return true;
}

static bool compare(update *u)
{
    bool is_kept = true;
    for (uint32_t i = 0; i < u->jobs.count && is_kept; i++) {
        const weft__output *was = output_of(u->jobs.at[i].old);
        const weft__output *is = output_of(u->jobs.at[i].made);
        if (was == NULL && is != NULL)
            is_kept = add_change(u, u->jobs.at[i].node, WEFT_SCENE_ADDED);
        else if (was != NULL && is != NULL && was->hash != is->hash)
            is_kept = add_change(u, u->jobs.at[i].node, WEFT_SCENE_CHANGED);
    }
    return is_kept && find_dropped(u);
}

/* ---- mistakes ---- */

static bool add_problems(update *u, const weft__problem *first)
{
    for (; first != NULL; first = first->next)
        if (!WEFT__SCENE_APPEND(&u->scene->memory, &u->told.problems, &first->told)) return false;
    return true;
}

static bool say(update *u, weft_result code, const char *file, const char *format, const char *what)
{
    weft__problem problem = {.next = NULL};
    weft__error_fill(&problem.told, code, format, file, what);
    problem.told.number = 0;
    weft__error_name(problem.told.file, sizeof problem.told.file, file);
    return add_problems(u, &problem);
}

static int by_place(const void *a, const void *b)
{
    const weft_error *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    if (order != 0) return order;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    order = strcmp(x->path, y->path);
    return order != 0 ? order : strcmp(x->text, y->text);
}

/* What is said behind the path of the object. */
static const char *message(const weft_error *problem)
{
    const char *at = problem->path[0] == '\0' ? NULL : strstr(problem->text, problem->path);
    return at == NULL ? problem->text : at + strlen(problem->path);
}

/* A mistake in a prefab is one, however many instances have it. */
static void unite(update *u)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < u->told.problems.count; i++) {
        const weft_error *p = &u->told.problems.at[i];
        const weft_error *last = kept == 0 ? NULL : &u->told.problems.at[kept - 1];
        if (last != NULL && p->line != 0 && p->line == last->line && p->column == last->column &&
            strcmp(p->file, last->file) == 0 && strcmp(message(p), message(last)) == 0)
            continue;
        u->told.problems.at[kept++] = *p;
    }
    u->told.problems.count = kept;
}

static bool gather_problems(update *u)
{
    const weft__files *files = &u->scene->files;
    bool is_kept = add_problems(u, u->tree.problems);
    for (const weft__scene_file *file = files->first; file != NULL && is_kept; file = file->next) {
        if (file->used != files->bake) continue;
        is_kept = add_problems(u, file->problems);
        bool is_document = (file->path_hash ^ hash_string(file->path)) == 0;
        if (file->is_missing && is_document)
            is_kept =
                say(u, file->result, file->path, "%.300s: cannot be read: %s",
                    file->result == WEFT_NOT_FOUND
                        ? "there is no such file: create it, or correct the name"
                    : file->result == WEFT_IO
                        ? "it is a directory or a pipe, or the disk refused: name a readable file"
                        : weft_result_text(file->result));
    }
    for (uint32_t i = 0; u->faulty != 0 && i < u->tree.nodes.count && is_kept; i++)
        if (u->tree.nodes.at[i].record != NULL && !u->tree.nodes.at[i].is_plain)
            is_kept = add_problems(u, u->tree.nodes.at[i].record->problems);
    if (u->tree.is_full && is_kept)
        is_kept = say(u, WEFT_LIMIT, "",
                      "%sthe scene has more objects than weft_scene_desc.object_limit%s", "");
    if (u->told.problems.count > 1)
        qsort(u->told.problems.at, u->told.problems.count, sizeof *u->told.problems.at, by_place);
    unite(u);
    return is_kept;
}

/* ---- the end ---- */

/* The records that the scene has no more; of a bake that failed: those that it made. */
static void drop_records(update *u, bool is_failed)
{
    weft_scene *scene = u->scene;
    for (uint32_t i = 0; i < u->jobs.count; i++) {
        weft__record *record = is_failed ? u->jobs.at[i].made : u->jobs.at[i].old;
        if (record != NULL) weft__record_free(record, &scene->memory, scene->blobs);
    }
    for (uint32_t i = 0; i < u->dropped.count && !is_failed; i++)
        weft__record_free(u->dropped.at[i], &scene->memory, scene->blobs);
}

/* Adds what a record has to the statistics, or takes it away. */
static void count_record(weft_scene_stats *stats, const weft__record *record, bool is_gone)
{
    const weft__output *output = output_of(record);
    if (output == NULL) return;
    uint64_t bytes = sizeof(weft__record) + output->bytes;
    stats->entities += is_gone ? 0 - output->entity_count : output->entity_count;
    stats->record_bytes += is_gone ? 0 - bytes : bytes;
}

static void count(update *u, weft_scene_stats *stats)
{
    *stats = (weft_scene_stats){.files_read = u->scene->files.read_count,
                                .objects = u->objects,
                                .baked = u->baked,
                                .entities = u->scene->stats.entities,
                                .record_bytes = u->scene->stats.record_bytes,
                                .errors = u->told.problems.count};
    for (const weft__scene_file *f = u->scene->files.first; f != NULL; f = f->next)
        stats->files += f->used == u->scene->files.bake && !f->is_missing;
    for (uint32_t i = 0; i < u->jobs.count; i++) {
        count_record(stats, u->jobs.at[i].old, true);
        count_record(stats, u->jobs.at[i].made, false);
    }
    for (uint32_t i = 0; i < u->dropped.count; i++) count_record(stats, u->dropped.at[i], true);
    for (uint32_t i = 0; i < u->told.changes.count; i++) {
        stats->added += u->told.changes.at[i].kind == WEFT_SCENE_ADDED;
        stats->removed += u->told.changes.at[i].kind == WEFT_SCENE_REMOVED;
        stats->changed += u->told.changes.at[i].kind == WEFT_SCENE_CHANGED;
    }
}

weft_result weft_scene_bake(weft_scene *scene, const char *const *paths, uint32_t path_count)
{
    if (scene == NULL || (paths == NULL && path_count != 0)) return WEFT_INVALID_ARGUMENT;
    if (weft__scene_bakes(scene)) return WEFT_WRONG_PHASE;
    weft_result result =
        weft__refuse_systems(scene->schema.world, "weft_scene_bake", "do it after the step");
    if (result != WEFT_OK) return result;
    const uint64_t begin = weft__scene_now();
    update u = {.scene = scene, .is_same_shape = true};
    u.told.removed = WEFT__SCENE_PILE(&scene->memory);
    scene->files.bake++;
    scene->files.read_count = 0;
    u.tree = scene->spare;
    u.shared = baking_with(scene, &u.tree, &scene->files);
    for (uint32_t i = 0; i < scene->worker_count; i++) scene->workers[i].scene = &u.shared;
    bool is_done = bake_all(&u, paths, path_count) && compare(&u) && gather_problems(&u);
    if (is_done) {
        weft_scene_stats stats;
        weft_blob_store_stats blobs;
        count(&u, &stats);
        const weft__tree before = scene->tree;
        const weft__told told_before = scene->told;
        scene->tree = u.tree;
        scene->told = u.told;
        u.tree = before;
        u.told = told_before;
        drop_records(&u, false);
        scene->is_same_shape = u.is_same_shape && u.found == scene->record_count;
        scene->record_count = u.records;
        weft_blob_store_stats_get(scene->blobs, &blobs, sizeof blobs);
        stats.blob_count = blobs.blob_count;
        stats.seconds = 1e-9 * (double)(weft__scene_now() - begin);
        scene->stats = stats;
        scene->baked = scene->files.bake;
    } else {
        drop_records(&u, true);
    }
    weft__tree_clear(&u.tree);
    scene->spare = u.tree;
    weft__files_sweep(&scene->files, !is_done);
    for (uint32_t i = 0; i < scene->worker_count; i++) scene->workers[i].scene = NULL;
    WEFT__SCENE_FREE(&scene->memory, &u.jobs);
    WEFT__SCENE_FREE(&scene->memory, &u.dropped);
    told_free(&scene->memory, &u.told);
    if (!is_done) return weft__error_memory(scene->schema.world, "weft_scene_bake");
    return scene->told.problems.count == 0 ? WEFT_OK : WEFT_INVALID_ARGUMENT;
}

/* ---- trials ---- */

/* One trial. On the stack. */
typedef struct trying {
    weft_scene *scene;
    const weft__trial *trial;
    weft__files files;
    weft__tree tree;
    char *why;
    size_t capacity;
} trying;

/* As weft__text_place; 0: it has none. */
static uint64_t place_of(const weft__problem *problem)
{
    return (uint64_t)problem->told.line << 32 | problem->told.column;
}

/* The first mistake in the property; of a list that is wanted whole, the first one. */
static weft_result mistake_told(const trying *t, const weft__problem *list, bool is_whole)
{
    const weft__problem *found = NULL;
    if (list == NULL) return WEFT_OK;
    const weft_text text = {t->trial->text, t->trial->bytes, NULL};
    const uint64_t begin = weft__text_place(&text, text.bytes + t->trial->begin);
    const uint64_t end = weft__text_place(&text, text.bytes + t->trial->end);
    for (const weft__problem *p = list; p != NULL; p = p->next) {
        bool is_there = place_of(p) >= begin && place_of(p) <= end &&
                        strcmp(p->told.file, t->files.first->path) == 0;
        if ((is_whole || is_there) && (found == NULL || place_of(p) < place_of(found))) found = p;
    }
    if (found == NULL) return WEFT_OK;
    snprintf(t->why, t->capacity, "%.*s", (int)strcspn(found->told.text, "\n"), found->told.text);
    return WEFT_INVALID_ARGUMENT;
}

/* The bakers of the object say what they say of it. */
static weft_result node_try(trying *t, uint32_t node)
{
    weft_scene *scene = t->scene;
    uint32_t before = weft__tree_find_path(&scene->tree, t->trial->object);
    const weft__record *was = before == WEFT__NONE ? NULL : scene->tree.nodes.at[before].record;
    const weft__bake_scene shared = baking_with(scene, &t->tree, &t->files);
    weft_bake bake = {.scene = &shared};
    weft__record *record = weft__bake_node(&bake, node);
    weft_result result = WEFT_OUT_OF_MEMORY;
    if (record != NULL) {
        result = mistake_told(t, record->problems, was != NULL && was->problems == NULL);
        weft__record_free(record, &scene->memory, scene->blobs);
    }
    weft__bake_free(&bake);
    return result;
}

static weft_result tree_try(trying *t)
{
    const weft__trial *trial = t->trial;
    if (!weft__tree_add_scene(&t->tree, trial->paths, trial->path_count)) return WEFT_OUT_OF_MEMORY;
    weft_result result = mistake_told(t, t->tree.problems, false);
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
    weft_result result = mistake_told(&t, t.files.first->problems, true);
    if (result == WEFT_OK) result = tree_try(&t);
    weft__tree_free(&t.tree);
    weft__files_unstack(&t.files, &scene->files);
    return result;
}

/* ---- what it tells ---- */

void weft_scene_stats_get(const weft_scene *scene, weft_scene_stats *out, size_t out_bytes)
{
    if (scene == NULL || out == NULL) return;
    weft__sized_fill(out, out_bytes, &scene->stats, sizeof scene->stats);
}

uint32_t weft_scene_mistakes(const weft_scene *scene, weft_error *out, uint32_t capacity)
{
    if (scene == NULL) return 0;
    for (uint32_t i = 0; i < scene->told.problems.count && i < capacity; i++)
        out[i] = scene->told.problems.at[i];
    return scene->told.problems.count;
}

bool weft_scene_change_at(weft_scene *scene, uint32_t index, weft_scene_change *out)
{
    if (scene == NULL || out == NULL || index >= scene->told.changes.count) return false;
    const weft__record_change *change = &scene->told.changes.at[index];
    *out = (weft_scene_change){.kind = change->kind, .path = scene->path};
    if (change->kind == WEFT_SCENE_REMOVED)
        out->path = scene->told.removed_paths.at[change->node];
    else
        weft__node_path(&scene->tree, change->node, scene->path, sizeof scene->path);
    return true;
}

bool weft_scene_is_stale(weft_scene *scene)
{
    if (scene == NULL || scene->files.bake == 0) return false;
    return scene->baked != scene->files.bake || weft__files_are_stale(&scene->files);
}

bool weft_scene_wait(weft_scene *scene, uint32_t milliseconds)
{
    if (scene == NULL || scene->files.bake == 0) return false;
    uint64_t now = weft__scene_now();
    const uint64_t end_ns = now + UINT64_C(1000000) * milliseconds;
    if (scene->watched == 0) weft__file_watch_open(&scene->watch); /* closed: it looks only */
    if (scene->watched != scene->files.bake) weft__file_watch_follow(&scene->watch, &scene->files);
    scene->watched = scene->files.bake;
    do {
        uint32_t left_ms = now < end_ns ? (uint32_t)((end_ns - now + 999999) / 1000000) : 0;
        weft__file_news news = weft__file_watch_wait(&scene->watch, &scene->files, left_ms, 0);
        if (news == WEFT__FILES_CHANGED) return true;
        if (news == WEFT__FILES_REST && weft_scene_is_stale(scene)) return true;
        now = weft__scene_now();
    } while (now < end_ns);
    return false;
}

static bool is_read(const weft_scene *scene, const weft__scene_file *file)
{
    return file->used == scene->files.bake && !file->is_fallback && !file->is_missing;
}

const char *weft_scene_file_at(const weft_scene *scene, uint32_t index)
{
    const weft__scene_file *first = scene == NULL ? NULL : scene->files.first;
    for (const weft__scene_file *f = first; f != NULL; f = f->next)
        if (is_read(scene, f) && index-- == 0) return f->path;
    for (const weft__scene_file *f = first; f != NULL; f = f->next) {
        if (!is_read(scene, f)) continue;
        if (index < f->uses.count) return f->uses.at[index].path;
        index -= f->uses.count;
    }
    return NULL;
}

weft_entity weft_scene_entity(const weft_scene *scene, const char *path)
{
    const weft_entity none = {0, 0};
    if (scene == NULL || path == NULL || scene->filled != scene->baked) return none;
    if (scene->filled_moment != 0 &&
        !weft_world_has_moment(scene->schema.world, scene->filled_moment))
        return none;
    uint32_t node = weft__tree_find_path(&scene->tree, path);
    return node == WEFT__NONE || node >= scene->entities.count ? none : scene->entities.at[node];
}

/* ---- why an object is what it is, for people and as JSON ---- */

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

/* One entry of a list: a line for people, or a string of an array. */
typedef struct list {
    weft__text *out;
    const char *title;
    bool is_json;
    uint32_t count;
} list;

static void add_entry(list *l, const char *entry)
{
    if (l->is_json) {
        weft__text_add(l->out, l->count == 0 ? "" : ", ");
        weft__text_add_quoted(l->out, entry);
    } else {
        weft__text_add(l->out, "  %-12s%s\n", l->count == 0 ? l->title : "", entry);
    }
    l->count++;
}

static list begin_list(weft__text *t, bool is_json, const char *title)
{
    if (is_json) weft__text_add(t, ", \"%s\": [", title);
    return (list){t, title, is_json, 0};
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
        add_entry(&all, entry);
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
        add_entry(&l, entry);
    }
    end_list(&l);
}

static void add_makes(weft__text *t, const weft_scene *scene, const weft__output *output,
                      bool is_json)
{
    list l = begin_list(t, is_json, "makes");
    const weft__bake_step *step = NULL;
    while (output != NULL && (step = weft__step_after(output, step)) != NULL) {
        char entry[512];
        weft__text e = {entry, sizeof entry, 0};
        static const char *const usages[] = {"none", "static", "dynamic"};
        if (step->kind == WEFT__STEP_NAME)
            weft__text_add(&e, "name %s", (const char *)(step + 1));
        else if (step->kind == WEFT__STEP_TRANSFORM)
            weft__text_add(&e, "transform, %s", usages[step->component]);
        else
            weft__text_add(&e, "%s", scene->schema.components.at[step->component - 1].desc->name);
        if (step->kind == WEFT__STEP_DISABLE) weft__text_add(&e, ", disabled");
        if (step->kind == WEFT__STEP_BUFFER) weft__text_add(&e, ", %u elements", step->count);
        if (step->entity != 0) weft__text_add(&e, " (additional entity %u)", step->entity);
        add_entry(&l, entry);
    }
    end_list(&l);
}

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
        add_entry(&l, why_text(scene, record));
        end_list(&l);
        add_reads(&t, record, is_json);
        add_makes(&t, scene, record->output, is_json);
        l = begin_list(&t, is_json, "mistakes");
        for (const weft__problem *p = record->problems; p != NULL; p = p->next)
            add_entry(&l, p->told.text);
        end_list(&l);
    }
    weft__text_add(&t, is_json ? "}\n" : "");
    return t.length;
}
