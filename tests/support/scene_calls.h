/* SPDX-License-Identifier: MIT */
/* scene_calls.h: the calls of scenes and live links that change a world, a scene or a document, as
 * a table like that of step_calls.h, for test_step_calls.c and `weft stress threads`. */
#ifndef WEFT_TESTS_SCENE_CALLS_H
#define WEFT_TESTS_SCENE_CALLS_H

#include <weft/live.h>
#include <weft/scene.h>
#include <weft/scene_gltf.h>

#include "step_calls.h"

/* What the calls need. Constant while they are made. */
typedef struct scene_room {
    weft_world *world;
    weft_scene *scene; /* baked and not filled */
    weft_live *live;   /* without a thread, after one edit; its document has changed since */
    const char *path;  /* of the document */
} scene_room;

static const char scene_room_text[] = "{\"weft\": 1, \"objects\": {\"a\": {\"Room\": {\"n\": 1}}}}";

static inline weft_result scene_room_bake(const scene_room *r)
{
    return weft_scene_bake(r->scene, &r->path, 1);
}

static inline weft_result scene_room_start(const scene_room *r, weft_live **out)
{
    const weft_live_desc desc = {.paths = &r->path, .path_count = 1, .without_thread = true};
    return weft_live_start(r->world, &desc, out);
}

/* X(name, is refused) */
#define CALLS_OF_SCENES(X)                                                                         \
    X(weft_scene_create, WRONG(s, weft_scene_create(r->world, NULL, &(weft_scene *){NULL})))       \
    X(weft_scene_destroy, (weft_scene_destroy(r->scene), true))                                    \
    X(weft_scene_bake, WRONG(s, scene_room_bake(r)))                                               \
    X(weft_scene_fill, WRONG(s, weft_scene_fill(r->scene, r->world)))                              \
    X(weft_scene_gltf_register,                                                                    \
      WRONG(s, weft_scene_gltf_register(r->world, &(weft_gltf_components){{0, 0}})))               \
    X(weft_live_start, WRONG(s, scene_room_start(r, &(weft_live *){NULL})))                        \
    X(weft_live_stop, (weft_live_stop(r->live), true))                                             \
    X(weft_live_apply, WRONG(s, weft_live_apply(r->live, 0, NULL, 0)))                             \
    X(weft_live_refresh, WRONG(s, weft_live_refresh(r->live)))                                     \
    X(weft_live_edit, WRONG(s, weft_live_edit(r->live, "a", "Room.n", "7")))                       \
    X(weft_live_undo, WRONG(s, weft_live_undo(r->live)))

#define SCENE_CALLS_DEFINE(name, ...)                                                              \
    static bool calls_of_##name(scene_room *r, calls_scratch *s)                                   \
    {                                                                                              \
        (void)r, (void)s;                                                                          \
        return __VA_ARGS__;                                                                        \
    }
CALLS_OF_SCENES(SCENE_CALLS_DEFINE)

#define SCENE_CALLS_ENTRY(name, ...) {#name, calls_of_##name},
static const struct {
    const char *name;
    bool (*is_refused)(scene_room *r, calls_scratch *s); /* makes the call */
} scene_calls[] = {CALLS_OF_SCENES(SCENE_CALLS_ENTRY)};
enum { SCENE_CALL_COUNT = sizeof scene_calls / sizeof scene_calls[0] };

static inline bool scene_room_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) return false;
    bool is_written = fputs(text, file) >= 0;
    return fclose(file) == 0 && is_written;
}

static inline bool scene_room_open(scene_room *r, weft_world *world, const char *path)
{
    static const weft_field field = {.name = "n", .kind = WEFT_FIELD_U32};
    static const weft_type type = {
        .name = "Room", .size = 4, .alignment = 4, .fields = &field, .field_count = 1};
    const weft_component_desc room = {.name = "Room", .type = &type};
    *r = (scene_room){.world = world, .path = path};
    return weft_component_create(world, &room).id != 0 && scene_room_write(path, scene_room_text) &&
           weft_scene_create(world, NULL, &r->scene) == WEFT_OK && scene_room_bake(r) == WEFT_OK &&
           scene_room_start(r, &r->live) == WEFT_OK &&
           weft_live_edit(r->live, "a", "Room.n", "2") == WEFT_OK &&
           weft_live_refresh(r->live) == WEFT_OK;
}

/* Ends a room: what was refused is done now. False: one of its things is not as it was. */
static inline bool scene_room_close(scene_room *r)
{
    weft_live_report report;
    bool is_whole = weft_live_apply(r->live, 0, &report, sizeof report) == WEFT_OK &&
                    report.changed == 1 && report.errors == 0 && report.conflicts == 0 &&
                    weft_live_undo(r->live) == WEFT_OK && weft_live_refresh(r->live) == WEFT_OK &&
                    weft_live_apply(r->live, 0, &report, sizeof report) == WEFT_OK;
    weft_live_stop(r->live);
    is_whole = scene_room_bake(r) == WEFT_OK && is_whole;
    is_whole = weft_scene_fill(r->scene, r->world) == WEFT_OK && is_whole;
    weft_scene_destroy(r->scene);
    return remove(r->path) == 0 && is_whole;
}

#endif
