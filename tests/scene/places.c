/* SPDX-License-Identifier: MIT */
/* places.c: where the entities of a glTF file stand: as baked, after a step, after what has no
 * parent has moved by 1, 2, 3 and a step; for a scene that fills a world and for a live link.
 * Prints "WHEN PATH" and the 12 numbers of the WorldTransform in a line each, for places.py. */
#include <weft/live.h>
#include <weft/scene_gltf.h>
#include <weft/transform.h>
#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>

/* A world, and what its entities are called. On the stack of main. */
typedef struct stage {
    weft_world *world;
    weft_transform transform;
    weft_gltf_components gltf;
    weft_baker_desc baker;
    weft_source_desc source;
    weft_scene *scene; /* for the paths */
    weft_live *live;   /* NULL: the scene has filled the world */
} stage;

static void must(weft_result result, const char *what)
{
    if (result == WEFT_OK) return;
    fprintf(stderr, "%s: %s\n", what, weft_result_name(result));
    exit(1);
}

static weft_scene_desc scene_desc(const stage *s)
{
    return (weft_scene_desc){
        .bakers = &s->baker, .baker_count = 1, .sources = &s->source, .source_count = 1};
}

static weft_entity entity_of(const stage *s, const char *path)
{
    return s->live != NULL ? weft_live_entity(s->live, path) : weft_scene_entity(s->scene, path);
}

static void print(stage *s, const char *when)
{
    weft_scene_change object;
    for (uint32_t i = 0; weft_scene_change_at(s->scene, i, &object); i++) {
        const weft_world_transform *at =
            weft_entity_read(s->world, entity_of(s, object.path), s->transform.world);
        if (at == NULL) continue; /* a scene of several */
        printf("%s", when);
        for (int k = 0; k < 12; k++) printf(" %.9g", (double)at->rows[k / 4][k % 4]);
        printf(" %s\n", object.path);
    }
}

static void roots_move(stage *s)
{
    weft_scene_change object;
    weft_component parent = weft_component_parent(s->world);
    for (uint32_t i = 0; weft_scene_change_at(s->scene, i, &object); i++) {
        weft_entity entity = entity_of(s, object.path);
        const weft_target *above = weft_entity_read(s->world, entity, parent);
        if (above != NULL && weft_entity_has(s->world, above->entity, s->transform.world)) continue;
        weft_local_transform *at = weft_entity_write(s->world, entity, s->transform.local);
        for (int k = 0; at != NULL && k < 3; k++) at->position[k] += (float)(k + 1);
    }
}

static void run(const char *file, bool is_live)
{
    stage s = {.source = weft_source_gltf()};
    must(weft_world_create(&(weft_world_desc){.workers = 1}, &s.world), "world");
    must(weft_transform_create(s.world, NULL, &s.transform), "transforms");
    must(weft_scene_gltf_register(s.world, &s.gltf), "components");
    s.baker = weft_baker_gltf(&s.gltf);
    const weft_scene_desc desc = scene_desc(&s);
    must(weft_scene_create(s.world, &desc, &s.scene), "scene");
    weft_result result = weft_scene_bake(s.scene, &file, 1);
    weft_error mistakes[16];
    const uint32_t count = weft_scene_mistakes(s.scene, mistakes, 16);
    for (uint32_t i = 0; i < count && i < 16; i++) fprintf(stderr, "%s\n", mistakes[i].text);
    must(result, "bake");
    const weft_live_desc link = {
        .scene = &desc, .paths = &file, .path_count = 1, .without_thread = true};
    if (is_live)
        must(weft_live_start(s.world, &link, &s.live), "live");
    else
        must(weft_scene_fill(s.scene, s.world), "fill");
    print(&s, "baked");
    must(weft_world_step(s.world, 0), "step");
    print(&s, "still");
    roots_move(&s);
    must(weft_world_step(s.world, 0), "step");
    print(&s, "moved");
    weft_live_stop(s.live);
    weft_scene_destroy(s.scene);
    must(weft_world_destroy(s.world), "end");
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    run(argv[1], false);
    run(argv[1], true);
    return 0;
}
