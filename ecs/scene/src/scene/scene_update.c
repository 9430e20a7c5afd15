/* SPDX-License-Identifier: MIT */
/* scene_update.c: a bake: the tree is made again, records whose object and reads are as before
 * are kept, the others are baked in parallel; prefabs that records refer to join in rounds,
 * until no record refers to another one. Nothing of the scene changes before all memory that is
 * needed is there. A trial is a bake of one object, from files and a tree of its own, on top of the
 * files of the last bake. */
#include "scene_update.h"
#include "error.h"
#include "hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    WEFT__LIST(weft__change) changes;
    WEFT__LIST(weft_scene_problem) problems;
    WEFT__LIST(const char *) removed_paths;
    weft__pile removed;
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
    job *added = WEFT__SCENE_ADD(&u->scene->memory, &u->jobs);
    if (added != NULL) *added = next;
    return added != NULL;
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

static void explain(job *done, const weft__record *old)
{
    done->made->why = done->why;
    if (done->why != WEFT__WHY_READ) return;
    char text[1280];
    weft__text t = {text, sizeof text, 0};
    weft__read_text(&t, old, &old->reads[done->why_read]);
    size_t bytes = t.length < sizeof text ? t.length : sizeof text - 1;
    done->made->why_text = weft__pile_text(&done->made->arena, text, bytes);
}

/* Whether everything of its entity is in its output. */
static bool is_simple(const weft__node *node, const weft__output *output)
{
    if (output == NULL || output->entity_count != 1 || node->prefab != NULL || node->root != 0)
        return false;
    for (uint32_t i = 0; i < output->reference_count; i++)
        if (output->references[i].kind != WEFT__REFERENCE_OWN) return false;
    for (const weft__step *s = NULL; (s = weft__step_after(output, s)) != NULL;)
        if (s->kind == WEFT__STEP_TRANSFORM) return false;
    return true;
}

static bool refers_to_prefabs(const weft__output *output)
{
    for (uint32_t i = 0; output != NULL && i < output->reference_count; i++)
        if (output->references[i].kind == WEFT__REFERENCE_PREFAB) return true;
    return false;
}

/* Of a tree of the same shape. */
static bool was_simple(const update *u, uint32_t node)
{
    return u->scene->tree.nodes.at[node].is_simple;
}

/* Takes the records of a round into the tree. */
static void collect(update *u)
{
    for (uint32_t i = u->job_begin; i < u->jobs.count; i++) {
        job *done = &u->jobs.at[i];
        weft__record *made = done->made;
        if (made == NULL) continue;
        explain(done, done->old);
        if (made->output == NULL && done->old != NULL && done->old->output != NULL) {
            made->output = done->old->output;
            made->output->users++;
        }
        weft__node *node = &u->tree.nodes.at[done->node];
        node->record = made;
        node->is_plain = made->read_count == 0 && made->problems == NULL;
        node->has_prefabs = refers_to_prefabs(made->output);
        node->is_simple = is_simple(node, made->output);
        const weft__output *was = done->old == NULL ? NULL : done->old->output;
        node->is_kept = was != NULL && made->output != NULL && was->hash == made->output->hash;
        u->is_same_shape =
            u->is_same_shape && (node->is_kept || (node->is_simple && was_simple(u, done->node)));
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
    if (!weft__tree_reserve(&u->tree, &u->scene->tree) ||
        !weft__tree_add_scene(&u->tree, paths, count))
        return false;
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
    weft__change *change = WEFT__SCENE_ADD(&u->scene->memory, &u->changes);
    if (change != NULL) *change = (weft__change){node, kind};
    return change != NULL;
}

static bool add_removed(update *u, uint32_t node)
{
    char path[2 * WEFT__PATH_BYTES];
    size_t length = weft__node_path(&u->scene->tree, node, path, sizeof path);
    const char *kept =
        weft__pile_text(&u->removed, path, length < sizeof path ? length : sizeof path - 1);
    const char **added =
        kept == NULL ? NULL : WEFT__SCENE_ADD(&u->scene->memory, &u->removed_paths);
    if (added == NULL) return false;
    *added = kept;
    return add_change(u, u->removed_paths.count - 1, WEFT_SCENE_REMOVED);
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
        weft__record **added = WEFT__SCENE_ADD(&u->scene->memory, &u->dropped);
        if (added == NULL) return false;
        *added = record;
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

static bool add_problem(update *u, const weft_scene_problem *problem)
{
    weft_scene_problem *added = WEFT__SCENE_ADD(&u->scene->memory, &u->problems);
    if (added != NULL) *added = *problem;
    return added != NULL;
}

static bool add_problems(update *u, const weft__problem *first)
{
    for (; first != NULL; first = first->next)
        if (!add_problem(u, &first->told)) return false;
    return true;
}

static bool say(update *u, const char *file, const char *format, const char *what)
{
    char text[WEFT__PATH_BYTES + 256];
    int length = snprintf(text, sizeof text, format, file, what);
    size_t bytes = length < (int)sizeof text ? (size_t)length : sizeof text - 1;
    const weft_scene_problem problem = {.file = weft__pile_text(&u->removed, file, strlen(file)),
                                        .object = "",
                                        .text = weft__pile_text(&u->removed, text, bytes)};
    return problem.file != NULL && problem.text != NULL && add_problem(u, &problem);
}

static int by_place(const void *a, const void *b)
{
    const weft_scene_problem *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    if (order != 0) return order;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    order = strcmp(x->object, y->object);
    return order != 0 ? order : strcmp(x->text, y->text);
}

/* What is said behind the path of the object. */
static const char *message(const weft_scene_problem *problem)
{
    const char *at = problem->object[0] == '\0' ? NULL : strstr(problem->text, problem->object);
    return at == NULL ? problem->text : at + strlen(problem->object);
}

/* A mistake in a prefab is one, however many instances have it. */
static void unite(update *u)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < u->problems.count; i++) {
        const weft_scene_problem *p = &u->problems.at[i];
        const weft_scene_problem *last = kept == 0 ? NULL : &u->problems.at[kept - 1];
        if (last != NULL && p->line != 0 && p->line == last->line && p->column == last->column &&
            strcmp(p->file, last->file) == 0 && strcmp(message(p), message(last)) == 0)
            continue;
        u->problems.at[kept++] = *p;
    }
    u->problems.count = kept;
}

static const char *why_missing(weft_result result)
{
    if (result == WEFT_NOT_FOUND) return "there is no such file: create it, or correct the name";
    if (result == WEFT_IO)
        return "it is a directory or a pipe, or the disk refused: name a readable file";
    return weft_result_text(result);
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
            is_kept = say(u, file->path, "%s: cannot be read: %s", why_missing(file->result));
    }
    for (uint32_t i = 0; u->faulty != 0 && i < u->tree.nodes.count && is_kept; i++)
        if (u->tree.nodes.at[i].record != NULL && !u->tree.nodes.at[i].is_plain)
            is_kept = add_problems(u, u->tree.nodes.at[i].record->problems);
    if (u->tree.is_full && is_kept)
        is_kept =
            say(u, "", "%sthe scene has more objects than weft_scene_desc.object_limit%s", "");
    if (u->problems.count > 1)
        qsort(u->problems.at, u->problems.count, sizeof *u->problems.at, by_place);
    unite(u);
    return is_kept;
}

/* ---- the end ---- */

/* The records that the scene has no more; of a bake that failed: those that it made. */
static void free_records(update *u, bool is_failed)
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
                                .errors = u->problems.count};
    for (const weft__scene_file *f = u->scene->files.first; f != NULL; f = f->next)
        stats->files += f->used == u->scene->files.bake && !f->is_missing;
    for (uint32_t i = 0; i < u->jobs.count; i++) {
        count_record(stats, u->jobs.at[i].old, true);
        count_record(stats, u->jobs.at[i].made, false);
    }
    for (uint32_t i = 0; i < u->dropped.count; i++) count_record(stats, u->dropped.at[i], true);
    for (uint32_t i = 0; i < u->changes.count; i++) {
        stats->added += u->changes.at[i].kind == WEFT_SCENE_ADDED;
        stats->removed += u->changes.at[i].kind == WEFT_SCENE_REMOVED;
        stats->changed += u->changes.at[i].kind == WEFT_SCENE_CHANGED;
    }
}

#define EXCHANGE(a, b)                                                                             \
    do {                                                                                           \
        char exchanged[sizeof(a)];                                                                 \
        memcpy(exchanged, &(a), sizeof(a));                                                        \
        memcpy(&(a), &(b), sizeof(a));                                                             \
        memcpy(&(b), exchanged, sizeof(a));                                                        \
    } while (0)

weft_result weft_scene_bake(weft_scene *scene, const char *const *paths, uint32_t path_count)
{
    if (scene == NULL || (paths == NULL && path_count != 0)) return WEFT_INVALID_ARGUMENT;
    if (weft__scene_bakes(scene)) return WEFT_WRONG_PHASE;
    weft_result result =
        weft__refuse_systems(scene->schema.world, "weft_scene_bake", "do it after the step");
    if (result != WEFT_OK) return result;
    const uint64_t begin = weft__scene_now();
    update u = {.scene = scene, .removed.memory = &scene->memory, .is_same_shape = true};
    scene->files.bake++;
    scene->files.read_count = 0;
    weft__tree_init(&u.tree, &scene->memory, &scene->files, scene->desc.object_limit);
    u.shared = weft__scene_baking(scene, &u.tree, &scene->files);
    for (uint32_t i = 0; i < scene->worker_count; i++) scene->workers[i].scene = &u.shared;
    bool is_done = bake_all(&u, paths, path_count) && compare(&u) && gather_problems(&u);
    if (is_done) {
        weft_scene_stats stats;
        weft_blob_store_stats blobs;
        count(&u, &stats);
        EXCHANGE(scene->tree, u.tree);
        EXCHANGE(scene->changes, u.changes);
        EXCHANGE(scene->problems, u.problems);
        EXCHANGE(scene->removed_paths, u.removed_paths);
        EXCHANGE(scene->removed, u.removed);
        free_records(&u, false);
        scene->is_same_shape = u.is_same_shape && u.found == scene->record_count;
        scene->record_count = u.records;
        weft_blob_store_stats_get(scene->blobs, &blobs, sizeof blobs);
        stats.blob_count = blobs.blob_count;
        stats.seconds = 1e-9 * (double)(weft__scene_now() - begin);
        scene->stats = stats;
        scene->baked = scene->files.bake;
    } else {
        free_records(&u, true);
    }
    weft__tree_free(&u.tree);
    weft__files_sweep(&scene->files, !is_done);
    weft__blocks_age(&scene->blocks);
    for (uint32_t i = 0; i < scene->worker_count; i++) scene->workers[i].scene = NULL;
    WEFT__SCENE_FREE(&scene->memory, &u.jobs);
    WEFT__SCENE_FREE(&scene->memory, &u.dropped);
    WEFT__SCENE_FREE(&scene->memory, &u.changes);
    WEFT__SCENE_FREE(&scene->memory, &u.problems);
    WEFT__SCENE_FREE(&scene->memory, &u.removed_paths);
    weft__pile_free(&u.removed);
    if (!is_done) return weft__error_memory(scene->schema.world, "weft_scene_bake");
    return scene->problems.count == 0 ? WEFT_OK : WEFT_INVALID_ARGUMENT;
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

/* The first mistake in the property; of a list that is wanted whole, the first one. */
static weft_result told(const trying *t, const weft__problem *list, bool is_whole)
{
    const weft__problem *found = NULL;
    for (const weft__problem *p = list; p != NULL; p = p->next) {
        bool is_there = p->offset > t->trial->begin && p->offset <= t->trial->end + 1 &&
                        strcmp(p->told.file, t->files.first->path) == 0;
        if ((is_whole || is_there) && (found == NULL || p->offset < found->offset)) found = p;
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
    const weft__bake_scene shared = weft__scene_baking(scene, &t->tree, &t->files);
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
