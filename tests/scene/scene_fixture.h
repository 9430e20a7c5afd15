/* SPDX-License-Identifier: MIT */
/* scene_fixture.h: documents in memory, a world with described components of every kind, and
 * bakers. */
#ifndef WEFT_TESTS_SCENE_FIXTURE_H
#define WEFT_TESTS_SCENE_FIXTURE_H

#include "plain.h"

#include <weft/scene.h>
#include <weft/transform.h>
#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A component with a blob, which a baker of the test builds. */
typedef struct Bits {
    WEFT_BLOB_ARRAY(uint32_t) numbers;
} Bits;
static const weft_blob_field bits_fields[] = {WEFT_BLOB_FIELD_ARRAY(Bits, numbers, NULL)};
static const weft_blob_type bits_type = WEFT_BLOB_TYPE(Bits, bits_fields);
typedef struct Mesh {
    weft_blob_ref bits;
} Mesh;
static const weft_field mesh_fields[] = {WEFT_FIELD(Mesh, bits)};
static const weft_type mesh_type = WEFT_TYPE(Mesh, mesh_fields);

/* Files by name; the text is borrowed. */
typedef struct shelf {
    struct {
        char name[64];
        const char *text;
        size_t count; /* 0: strlen(text) */
        uint64_t stamp;
    } files[32];
    uint32_t count;
    uint32_t reads; /* of bytes */
} shelf;

static inline void shelf_put_bytes(shelf *s, const char *name, const void *text, size_t count)
{
    uint32_t i = 0;
    while (i < s->count && strcmp(s->files[i].name, name) != 0) i++;
    if (i == s->count) {
        CHECK(s->count < 32);
        s->count++;
    }
    snprintf(s->files[i].name, sizeof s->files[i].name, "%s", name);
    s->files[i].text = text;
    s->files[i].count = count;
    s->files[i].stamp++;
}

static inline void shelf_put(shelf *s, const char *name, const char *text)
{
    shelf_put_bytes(s, name, text, text == NULL ? 0 : strlen(text));
}

static inline weft_result shelf_read(const char *path, uint64_t known, uint64_t *stamp,
                                     weft_text *out, const weft_allocator *allocator, void *user)
{
    shelf *s = user;
    for (uint32_t i = 0; i < s->count; i++) {
        if (strcmp(s->files[i].name, path) != 0) continue;
        if (s->files[i].text == NULL) return WEFT_NOT_FOUND;
        *stamp = s->files[i].stamp;
        if (known == *stamp) return WEFT_OK;
        char *bytes = allocator->allocate(allocator->user, s->files[i].count + 1, 16);
        if (bytes == NULL) return WEFT_OUT_OF_MEMORY;
        memcpy(bytes, s->files[i].text, s->files[i].count);
        *out = (weft_text){bytes, s->files[i].count, NULL};
        s->reads++;
        return WEFT_OK;
    }
    return WEFT_NOT_FOUND;
}

/* ---- components ---- */

typedef struct Spin {
    float speed;
    float axis[3];
} Spin;
typedef struct Spawner {
    weft_entity what;
    float every;
} Spawner;
typedef struct Team {
    uint32_t number;
} Team;
typedef struct Link {
    weft_entity to;
    uint32_t weight;
} Link;
typedef struct Shield {
    float strength;
} Shield;

static const weft_field spin_fields[] = {
    WEFT_FIELD_WITH(Spin, speed, .unit = "rad/s", .least = -100, .most = 100),
    WEFT_FIELD(Spin, axis)};
static const Spin spin_initial = {1, {0, 1, 0}};
static const weft_type spin_type = {.name = "Spin",
                                    .size = sizeof(Spin),
                                    .alignment = 4,
                                    .fields = spin_fields,
                                    .field_count = 2,
                                    .initial = &spin_initial};
static const weft_field spawner_fields[] = {WEFT_FIELD(Spawner, what),
                                            WEFT_FIELD_WITH(Spawner, every, .unit = "s")};
static const weft_type spawner_type = WEFT_TYPE(Spawner, spawner_fields);
static const weft_field team_fields[] = {WEFT_FIELD(Team, number)};
static const weft_type team_type = WEFT_TYPE(Team, team_fields);
static const weft_field link_fields[] = {WEFT_FIELD(Link, to), WEFT_FIELD(Link, weight)};
static const weft_type link_type = WEFT_TYPE(Link, link_fields);
static const weft_field shield_fields[] = {WEFT_FIELD(Shield, strength)};
static const weft_type shield_type = WEFT_TYPE(Shield, shield_fields);

/* Handles of the components above. */
typedef struct cast {
    weft_component spin, spawner, team, links, shield, alive, opaque, note;
    weft_transform transform;
} cast;

static inline cast cast_register(weft_world *world)
{
    cast c = {
        .spin = weft_component_create(world, &(weft_component_desc){.type = &spin_type}),
        .spawner = weft_component_create(world, &(weft_component_desc){.type = &spawner_type}),
        .team = weft_component_create(
            world, &(weft_component_desc){.type = &team_type, .flags = WEFT_SHARED}),
        .links = weft_component_create(
            world,
            &(weft_component_desc){.name = "Links", .type = &link_type, .flags = WEFT_BUFFER}),
        .shield = weft_component_create(
            world, &(weft_component_desc){.type = &shield_type, .flags = WEFT_ENABLEABLE}),
        .alive = WEFT_TAG(world, Alive),
        .opaque = weft_component_create_plain(world, "Opaque", 8, 8, 0),
        .note = weft_component_create(world, &(weft_component_desc){.name = "Note",
                                                                    .type = &team_type,
                                                                    .size = 4,
                                                                    .flags = WEFT_SPARSE}),
    };
    CHECK_OK(weft_transform_create(world, NULL, &c.transform));
    return c;
}

static inline weft_world *cast_world(uint32_t workers, cast *c)
{
    weft_world *world;
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = workers, .entity_tag = WEFT_WITHOUT_ENTITY_TAG}, &world));
    *c = cast_register(world);
    return world;
}

/* One of the first mistakes, until the next call; NULL beyond the last. */
static inline const weft_error *mistake_of(const weft_scene *scene, uint32_t index)
{
    static weft_error told[32];
    return index < 32 && index < weft_scene_mistakes(scene, told, 32) ? &told[index] : NULL;
}

/* Prints the mistakes, for a test that expected none. */
static inline void print_mistakes(const weft_scene *scene)
{
    for (uint32_t i = 0; mistake_of(scene, i) != NULL; i++)
        fprintf(stderr, "%s\n", mistake_of(scene, i)->text);
}

#define CHECK_BAKES(scene, path)                                                                   \
    do {                                                                                           \
        weft_result baked = weft_scene_bake((scene), (const char *[]){path}, 1);                   \
        if (baked != WEFT_OK) print_mistakes(scene);                                               \
        CHECK_OK(baked);                                                                           \
    } while (0)

#endif
