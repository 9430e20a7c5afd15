/* SPDX-License-Identifier: MIT */
/* walks.c: five ways through the library, each taken once, cold: the first entity of an archetype
 * is created, an entity is given a component, changed by a recorded command, seen by a step, filled
 * from a baked scene. walks.py counts the source files that each goes through.
 *
 * `walks NAME` prepares a world with one worker and takes the way as walk_body, where callgrind
 * collects; `walks` alone lists the names. */
#include <weft/scene.h>
#include <weft/weft.h>

#include <stdio.h>
#include <string.h>

typedef struct pair {
    float x, y;
} pair;

/* What the ways go through. Owner: main. */
typedef struct ground {
    weft_world *world;
    weft_component position, velocity;
    weft_archetype empty; /* no entity has it yet */
    weft_entity entity;
    weft_recorder *commands;
    weft_scene *scene;
} ground;

static bool create(ground *g)
{
    return !weft_entity_is_null(weft_entity_create(g->world, g->empty));
}

static bool add(ground *g)
{
    return weft_entity_add(g->world, g->entity, g->velocity) == WEFT_OK;
}

static bool command(ground *g)
{
    return weft_recorder_add(g->commands, g->entity, g->velocity) == WEFT_OK &&
           weft_recorder_play(g->commands) == WEFT_OK;
}

static bool step(ground *g)
{
    return weft_world_step(g->world, 0.5f) == WEFT_OK;
}

static bool fill(ground *g)
{
    return weft_scene_fill(g->scene, g->world) == WEFT_OK;
}

static const struct way {
    const char *name;
    bool (*take)(ground *g);
} ways[] = {{"create", create}, {"add", add}, {"command", command}, {"step", step}, {"fill", fill}};

/* The only function that callgrind collects in. */
__attribute__((noinline)) bool walk_body(const struct way *way, ground *g);
__attribute__((noinline)) bool walk_body(const struct way *way, ground *g)
{
    bool is_taken = way->take(g);
    __asm__("" ::: "memory"); /* no tail call */
    return is_taken;
}

static void move(weft_slice *slice, void *user)
{
    pair *p = weft_slice_write(slice, 0);
    (void)user;
    for (uint32_t i = 0, n = weft_slice_count(slice); i < n; i++) p[i].x += 1;
}

static weft_result read_text(const char *path, uint64_t known, uint64_t *stamp, weft_text *out,
                             const weft_allocator *allocator, void *user)
{
    static const char text[] =
        "{\"weft\": 1, \"objects\": {\"a\": {\"Position\": {\"x\": 1, \"y\": 2}}}}";
    (void)path, (void)user;
    *stamp = 1;
    if (known == 1) return WEFT_OK;
    char *bytes = allocator->allocate(allocator->user, sizeof text, 16);
    if (bytes == NULL) return WEFT_OUT_OF_MEMORY;
    memcpy(bytes, text, sizeof text);
    *out = (weft_text){bytes, sizeof text - 1, NULL};
    return WEFT_OK;
}

static bool prepare(ground *g)
{
    static const char *const path = "a.weft";
    static const weft_field fields[] = {WEFT_FIELD(pair, x), WEFT_FIELD(pair, y)};
    static const weft_type type = {.name = "Position",
                                   .size = sizeof(pair),
                                   .alignment = 4,
                                   .fields = fields,
                                   .field_count = 2};
    const weft_scene_desc scene = {.read = read_text};
    if (weft_world_create(&(weft_world_desc){.workers = 1}, &g->world) != WEFT_OK) return false;
    g->position = weft_component_create(g->world, &(weft_component_desc){.type = &type});
    g->velocity = weft_component_create_plain(g->world, "Velocity", sizeof(pair), 4, 0);
    g->empty = weft_archetype_create(g->world, &g->velocity, 1);
    g->entity = weft_entity_create(g->world, weft_archetype_create(g->world, &g->position, 1));
    weft_system_desc system = {.name = "move", .run = move};
    system.over.rows.terms[0] = (weft_term){g->position, WEFT_WRITE, WEFT_ALL, 0};
    return weft_system_create(g->world, &system).id != 0 &&
           weft_recorder_create(g->world, &g->commands) == WEFT_OK &&
           weft_scene_create(g->world, &scene, &g->scene) == WEFT_OK &&
           weft_scene_bake(g->scene, &path, 1) == WEFT_OK;
}

int main(int argc, char **argv)
{
    static ground g;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (argc < 2) puts(ways[i].name);
        if (argc < 2 || strcmp(argv[1], ways[i].name) != 0) continue;
        if (!prepare(&g) || !walk_body(&ways[i], &g)) {
            fprintf(stderr, "%s does not run\n", argv[1]);
            return 1;
        }
        weft_recorder_destroy(g.commands);
        weft_scene_destroy(g.scene);
        return weft_world_destroy(g.world) == WEFT_OK ? 0 : 1;
    }
    return argc < 2 ? 0 : 2;
}
