/* SPDX-License-Identifier: MIT */
/* ops_scene.c: the world as a scene: a source makes an object of each living entity, a baker gives
 * it the components of that entity, and another world is filled with them; some of them a second
 * time, when others are gone, by another fill or by a live link. What documents say in text is for
 * the tests of scenes.
 *
 * Callbacks run on workers: they read the model, and take no memory of it. The C program says only
 * that it was done. */
#include "everything.h"

#include <stdlib.h>
#include <string.h>
#include <weft/live.h>
#include <weft/scene.h>

enum { LIVING_MOST = 400, PATH_BYTES = 24, VALUE_BYTES = 2432, BAKES = 2 };

static const char file_name[] = "world.every";

/* A scene, and what it holds now. Owner: one call; callbacks read it. */
typedef struct staging {
    everything *e;
    everything_place *there;
    weft_scene *scene;
    uint64_t drawn, stamp;
    uint32_t bake, count;
} staging;

/* Kinds that bakers do not give: those of groups and depths, values of chunks and with hooks. */
static bool is_baked(uint32_t kind)
{
    const model_kind *of = &kinds_of_model()[kind];
    if (kind == PREFAB || kind == GROUP || kind == ORIGIN || !kind_is_any(kind)) return false;
    return (of->flags & (MODEL_CHUNK | MODEL_SIGNED | MODEL_DEPTH)) == 0;
}

/* All at first, later a half. */
static bool is_there(const staging *s, uint32_t n)
{
    return model_is_alive(&s->e->here->m, n) &&
           (s->bake == 0 || everything_mix(s->drawn, n) % 2 != 0);
}

static void path_of(uint32_t n, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "/e%u", n); /* from the root; names are without the slash */
}

static weft_result file_read(const char *path, uint64_t known, uint64_t *stamp, weft_text *out,
                             const weft_allocator *allocator, void *user)
{
    const staging *s = user;
    if (strcmp(path, file_name) != 0) return WEFT_NOT_FOUND;
    *out = (weft_text){0};
    *stamp = s->stamp;
    if (known == s->stamp) return WEFT_OK; /* as before */
    char text[16];
    int length = snprintf(text, sizeof text, "%u", s->bake);
    char *bytes = allocator->allocate(allocator->user, (size_t)length + 1, 16);
    if (bytes == NULL) return WEFT_OUT_OF_MEMORY;
    memcpy(bytes, text, (size_t)length + 1);
    *out = (weft_text){.bytes = bytes, .count = (size_t)length};
    return WEFT_OK;
}

static weft_result file_open(weft_source *out, const weft_text *file, void *user)
{
    const staging *s = user;
    const model *m = &s->e->here->m;
    (void)file;
    for (uint32_t n = 1; n < m->count; n++) {
        char path[PATH_BYTES];
        if (!is_there(s, n)) continue;
        path_of(n, path);
        char *name = weft_source_memory(out, PATH_BYTES);
        uint32_t *number = weft_source_memory(out, sizeof *number);
        if (name == NULL || number == NULL) return WEFT_OUT_OF_MEMORY;
        memcpy(name, path + 1, PATH_BYTES - 1);
        *number = n;
        weft_source_object object = {.name = name,
                                     .name_bytes = strlen(name),
                                     .parent = WEFT_SOURCE_ROOT,
                                     .value = name,
                                     .value_bytes = strlen(name),
                                     .hash = 1 + s->stamp, /* all are baked again */
                                     .data = number};
        if (weft_source_add(out, &object) == UINT32_MAX) return WEFT_INVALID_ARGUMENT;
    }
    return WEFT_OK;
}

/* ---- the baker ---- */

/* Numbers become handles; those of what is not there are null. */
static void links_bake(const staging *s, weft_bake *bake, uint32_t kind, uint8_t *bytes,
                       uint32_t count)
{
    const model_kind *of = &kinds_of_model()[kind];
    for (uint32_t i = 0; i < count * of->link_count; i++) {
        uint8_t *at =
            bytes + (size_t)(i / of->link_count) * of->size + of->links[i % of->link_count];
        char path[PATH_BYTES];
        uint64_t number;
        weft_entity handle = {0};
        memcpy(&number, at, sizeof number);
        path_of((uint32_t)number, path);
        if (number < UINT32_MAX && is_there(s, (uint32_t)number))
            handle = weft_bake_entity_of(bake, path);
        memcpy(at, &handle, sizeof handle);
    }
}

/* What the file says later differs. */
static void plain_change(const staging *s, uint8_t *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    word += s->bake;
    memcpy(bytes, &word, sizeof word);
}

static weft_result kind_bake(const staging *s, weft_bake *bake, weft_entity entity, uint32_t n,
                             uint32_t kind)
{
    const model *m = &s->e->here->m;
    const model_value *value = model_read(m, n, kind);
    const weft_component_desc *desc = weft_component_info(s->e->here->world, s->e->here->of[kind]);
    weft_component component = weft_bake_component(bake, desc->name);
    uint32_t size = m->kinds[kind].size, count = value == NULL ? 0 : value->count;
    uint8_t *bytes = aligned_alloc(64, ((size_t)count * size + 64) / 64 * 64);
    if (bytes == NULL) return WEFT_OUT_OF_MEMORY;
    if (count * size != 0) memcpy(bytes, value->bytes, (size_t)count * size);
    links_bake(s, bake, kind, bytes, count);
    if (kind == PLAIN) plain_change(s, bytes);
    weft_result result = kind_is_buffer(kind)
                             ? weft_bake_buffer(bake, entity, component, bytes, count, size)
                             : weft_bake_set(bake, entity, component, bytes, size);
    free(bytes);
    if (result == WEFT_OK && (m->entities[n].disabled >> kind & 1) != 0)
        result = weft_bake_disable(bake, entity, component);
    return result;
}

static weft_result object_bake(weft_bake *bake, const weft_object *object, void *user)
{
    const staging *s = user;
    const uint32_t *number = weft_bake_data(bake, object, "every");
    const model *m = &s->e->here->m;
    char path[PATH_BYTES];
    if (number == NULL) return WEFT_NOT_FOUND;
    path_of(*number, path);
    if (strcmp(weft_bake_path_of(bake, object), path + 1) != 0) return WEFT_CORRUPT;
    if (strcmp(weft_bake_name_of(bake, object), path + 1) != 0) return WEFT_CORRUPT;
    if (weft_bake_bytes(bake, object).count != strlen(path + 1)) return WEFT_CORRUPT;
    weft_property property;
    bool has_none = weft_bake_object(bake, "/none") == NULL &&
                    weft_bake_child(bake, object, NULL) == NULL &&
                    weft_bake_property(bake, object, "none", &property, 1) == 0;
    if (!has_none || weft_bake_object(bake, path) != object) return WEFT_CORRUPT;
    weft_entity entity = weft_bake_entity(bake, NULL);
    weft_result result = WEFT_OK;
    for (uint32_t kind = 0; kind < KINDS && result == WEFT_OK; kind++)
        if (is_baked(kind) && model_has(m, *number, kind))
            result = kind_bake(s, bake, entity, *number, kind);
    const char *name = model_name(m, *number);
    return result != WEFT_OK ? result : weft_bake_name(bake, entity, name[0] == '\0' ? NULL : name);
}

/* ---- comparing ---- */

/* As model_clear_references, in shared values: the first link, which all of them have. */
static void shared_clear(model *m)
{
    for (uint32_t n = 1; n < m->count; n++)
        for (model_value *value = m->entities[n].values; value != NULL; value = value->next) {
            uint64_t number;
            if (!kind_is_shared(value->kind) || m->kinds[value->kind].link_count == 0) continue;
            memcpy(&number, value->bytes, sizeof number);
            if (!model_is_alive(m, (uint32_t)number)) memset(value->bytes, 0, sizeof number);
        }
}

/* The model of the filled world: what was baked, and what that requires. */
static void there_model(staging *s)
{
    model *m = &s->there->m;
    uint64_t kept = 0;
    for (uint32_t kind = 0; kind < KINDS; kind++) kept |= is_baked(kind) ? KIND_BIT(kind) : 0;
    model_copy_into(m, &s->e->here->m, m->blocks);
    m->version = 0;
    model_renew(m);
    for (uint32_t n = 1; n < m->count; n++) {
        if (m->entities[n].life != MODEL_RESIDUE && !model_is_alive(m, n)) continue;
        if (!is_there(s, n)) {
            model_leave(m, n);
            continue;
        }
        model_lose(m, n, ~kept);
        model_change(m, n, model_with_needs(m, m->entities[n].set), 0);
        if (model_has(m, n, PLAIN)) plain_change(s, model_read(m, n, PLAIN)->bytes);
    }
    for (uint32_t kind = 0; kind < KINDS; kind++) m->resources[kind] = NULL;
    model_clear_references(m);
    shared_clear(m);
}

static void fill_compare(staging *s)
{
    everything *e = s->e;
    weft_scene_stats stats;
    if (!everything_open(e, s->there, "there")) return;
    s->there->knows_stamps = false;
    weft_result result = weft_scene_fill(s->scene, s->there->world);
    if (result != WEFT_OK) {
        everything_fails(e, "weft_scene_fill", "%s: %s", weft_result_name(result),
                         weft_world_error(s->there->world)->text);
        return;
    }
    there_model(s);
    model *m = &s->there->m;
    weft_entity *handles = model_memory(m, m->count * sizeof *handles);
    for (uint32_t n = 1; n < m->count; n++) {
        char path[PATH_BYTES];
        path_of(n, path);
        handles[n] = weft_scene_entity(s->scene, path + 1);
        everything_equal(e, "weft_scene_entity", !weft_entity_is_null(handles[n]), is_there(s, n));
    }
    weft_scene_stats_get(s->scene, &stats, sizeof stats);
    everything_equal(e, "weft_scene_stats: entities", stats.entities, m->living);
    if (everything_has_failed(e)) return;
    everything_relearn(e, s->there, handles, m->count);
    everything_compare(e, s->there);
    if (!everything_has_failed(e)) everything_close(e, s->there);
}

static void bake_run(staging *s)
{
    everything *e = s->e;
    const char *const paths[] = {file_name};
    uint32_t now = 0;
    char text[64];
    for (uint32_t n = 1; n < e->here->m.count; n++) now += is_there(s, n);
    weft_result result = weft_scene_bake(s->scene, paths, 1);
    if (result != WEFT_OK) {
        weft_error mistake = {0};
        weft_scene_mistakes(s->scene, &mistake, 1);
        everything_fails(e, "weft_scene_bake", "%s: %s", weft_result_name(result), mistake.text);
        return;
    }
    everything_equal(e, "weft_scene_mistakes", weft_scene_mistakes(s->scene, NULL, 0), 0);
    weft_scene_change change;
    uint32_t removed = 0;
    for (uint32_t i = 0; weft_scene_change_at(s->scene, i, &change); i++)
        removed += change.kind == WEFT_SCENE_REMOVED;
    everything_equal(e, "weft_scene_change_at: removed", removed,
                     s->bake == 0 ? 0 : s->count - now);
    s->count = now;
    everything_equal(e, "weft_scene_is_stale", weft_scene_is_stale(s->scene), false);
    everything_equal(e, "weft_scene_wait", weft_scene_wait(s->scene, 0), false);
    everything_equal(e, "weft_scene_file_at", weft_scene_file_at(s->scene, 0) != NULL,
                     now != 0 || s->bake != 0);
    everything_equal(e, "weft_scene_explain of none",
                     weft_scene_explain(s->scene, "none", false, text, sizeof text), 0);
    if (!everything_has_failed(e)) fill_compare(s);
}

/* ---- live ---- */

/* The entities of the link, and the world as the file says it. */
static void live_compare(staging *s, weft_live *live, uint32_t residues)
{
    everything *e = s->e;
    there_model(s);
    model *m = &s->there->m;
    weft_entity *handles = model_memory(m, m->count * sizeof *handles);
    for (uint32_t n = 1; n < m->count && !everything_has_failed(e); n++) {
        char path[PATH_BYTES];
        path_of(n, path);
        handles[n] = weft_live_entity(live, path + 1);
        everything_equal(e, "weft_live_entity", !weft_entity_is_null(handles[n]), is_there(s, n));
        if (!is_there(s, n)) continue;
        const char *back = weft_live_path(live, handles[n]);
        everything_equal(e, "weft_live_path", back != NULL && strcmp(back, path + 1) == 0, true);
    }
    if (everything_has_failed(e)) return;
    m->residues = residues;
    everything_relearn(e, s->there, handles, m->count);
    everything_compare(e, s->there);
}

/* Objects that are gone leave; with CLEANUP components they leave a residue. */
static void live_change(staging *s, weft_live *live)
{
    everything *e = s->e;
    const model *m = &e->here->m;
    weft_live_report report;
    uint32_t removed = 0, residues = 0;
    s->bake = 1;
    s->stamp++;
    for (uint32_t n = 1; n < m->count; n++) {
        bool leaves_residue = false;
        if (!model_is_alive(m, n) || is_there(s, n)) continue;
        removed++;
        for (uint32_t kind = 0; kind < KINDS; kind++)
            leaves_residue |= model_has(&s->there->m, n, kind) && model_is(m, kind, MODEL_CLEANUP);
        residues += leaves_residue;
    }
    everything_result(e, "weft_live_refresh", weft_live_refresh(live), WEFT_OK);
    weft_result result = weft_live_apply(live, 0, &report, sizeof report);
    if (!everything_result(e, "weft_live_apply", result, WEFT_OK)) return;
    everything_equal(e, "weft_live_report: removed", report.removed, removed);
    everything_equal(e, "weft_live_report: conflicts", report.conflicts, 0);
    everything_equal(e, "weft_live_report: errors", report.errors, 0);
    live_compare(s, live, residues);
}

static void live_ask(staging *s, weft_live *live)
{
    everything *e = s->e;
    weft_live *first = NULL;
    char text[64];
    const char *document = weft_live_document_at(live, 0);
    everything_equal(e, "weft_live_list", weft_live_list(s->there->world, &first, 1), 1);
    everything_equal(e, "weft_live_list: which", first == live, true);
    everything_equal(e, "weft_live_document_at",
                     document != NULL && strcmp(document, file_name) == 0, true);
    everything_equal(e, "weft_live_mistakes", weft_live_mistakes(live, NULL, 0), 0);
    everything_equal(e, "weft_live_conflict_at", weft_live_conflict_at(live, 0) == NULL, true);
    everything_equal(e, "weft_live_explain of none",
                     weft_live_explain(live, "none", false, text, sizeof text), 0);
    everything_result(e, "weft_live_edit of none", weft_live_edit(live, "none", "PLAIN", "1"),
                      WEFT_NOT_FOUND);
    everything_result(e, "weft_live_undo of none", weft_live_undo(live), WEFT_NOT_FOUND);
}

static void live_run(staging *s, const weft_scene_desc *desc)
{
    everything *e = s->e;
    weft_live *live = NULL;
    const char *const paths[] = {file_name};
    s->stamp = 1;
    if (!everything_open(e, s->there, "there")) return;
    s->there->knows_stamps = false;
    weft_live_desc link = {.scene = desc, .paths = paths, .path_count = 1, .without_thread = true};
    weft_result result = weft_live_start(s->there->world, &link, &live);
    if (!everything_result(e, "weft_live_start", result, WEFT_OK)) return;
    live_compare(s, live, 0);
    if (!everything_has_failed(e)) live_ask(s, live);
    if (!everything_has_failed(e)) live_change(s, live);
    weft_live_stop(live);
    if (!everything_has_failed(e)) everything_close(e, s->there);
}

static void run_scene(everything *e, const everything_call *c)
{
    FILE *out = e->out;
    staging s = {.e = e, .there = &e->places[1], .drawn = everything_mix(c->value, c->a)};
    if (e->here->m.living == 0 || e->here->m.living > LIVING_MOST) return;
    everything_says(e, "/* the world was baked as a scene, and filled another */");
    e->out = NULL;
    const weft_source_desc source = {
        .kind = "every", .suffixes = ".every", .open = file_open, .user = &s};
    const weft_baker_desc baker = {
        .name = "every", .kind = "every", .version = 1, .bake = object_bake, .user = &s};
    weft_scene_desc desc = {.bakers = &baker,
                            .baker_count = 1,
                            .sources = &source,
                            .source_count = 1,
                            .read = file_read,
                            .user = &s};
    if (c->way == 1) {
        live_run(&s, &desc);
        e->out = out;
        return;
    }
    weft_result result = weft_scene_create(e->here->world, &desc, &s.scene);
    everything_result(e, "weft_scene_create", result, WEFT_OK);
    for (; s.bake < BAKES && !everything_has_failed(e); s.bake++) {
        s.stamp = s.bake + 1;
        bake_run(&s);
    }
    weft_scene_destroy(s.scene);
    e->out = out;
}

static const char *const scene_ways[] = {"scene", "live", NULL};

const everything_op everything_ops_scene[] = {
    {.name = "scene",
     .functions =
         "weft_scene_create weft_scene_bake weft_scene_fill weft_scene_entity "
         "weft_scene_stats_get weft_scene_mistakes "
         "weft_scene_change_at weft_scene_is_stale weft_scene_wait weft_scene_file_at "
         "weft_scene_explain "
         "weft_scene_destroy weft_source_add weft_source_memory weft_bake_data "
         "weft_bake_path_of weft_bake_name_of weft_bake_bytes weft_bake_entity "
         "weft_bake_entity_of weft_bake_component weft_bake_set weft_bake_buffer "
         "weft_bake_disable weft_bake_name weft_bake_object weft_bake_child weft_bake_property "
         "weft_live_start "
         "weft_live_apply weft_live_refresh weft_live_stop weft_live_entity weft_live_path "
         "weft_live_list weft_live_document_at weft_live_mistakes weft_live_conflict_at "
         "weft_live_explain weft_live_edit weft_live_undo",
     .weight = 1,
     .ways = scene_ways,
     .run = run_scene},
    {0},
};
