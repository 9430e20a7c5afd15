/* SPDX-License-Identifier: MIT */
/* stress_owner.c: what a host of `weft stress threads` does with a small world of its own on the
 * pool of all: relations, scenes baked on the pool, a live link with its thread; and what it asks
 * of the world that it has in this phase. */
#include "stress_host.h"

#include <weft/live.h>
#include <weft/scene.h>

#include <stdlib.h>
#include <string.h>

/* ---- scenes ---- */

static weft_result read_document(const char *path, uint64_t known, uint64_t *stamp, weft_text *out,
                                 const weft_allocator *allocator, void *user)
{
    static const char text[] = "{\"weft\": 1, \"objects\": {\"a\": {\"heat\": {\"at\": 1}}, "
                               "\"b\": {\"glow\": {\"at\": 2}}, \"c\": {\"glow\": {\"at\": 3}}}}";
    (void)path, (void)known, (void)user;
    char *bytes = allocator->allocate == NULL
                      ? malloc(sizeof text)
                      : allocator->allocate(allocator->user, sizeof text, 1);
    if (bytes == NULL) return WEFT_OUT_OF_MEMORY;
    memcpy(bytes, text, sizeof text);
    *out = (weft_text){.bytes = bytes, .count = sizeof text - 1};
    *stamp = 0;
    return WEFT_OK;
}

static const weft_field heat_field = {.name = "at", .kind = WEFT_FIELD_U32};
static const weft_type heat_type = {
    .name = "heat", .size = 4, .alignment = 4, .fields = &heat_field, .field_count = 1};
static const char *const documents[] = {"level.weft"};

/* Objects with a glow: heat, and one entity more. */
static weft_result bake_glow(weft_bake *bake, const weft_object *object, void *user)
{
    uint32_t at = 0;
    bool is_there = false;
    weft_property property;
    weft_text bytes;
    (void)user;
    const weft_result result = weft_bake_parse(bake, object, "glow", &heat_type, &at, &is_there);
    if (result != WEFT_OK || !is_there) return WEFT_INVALID_ARGUMENT;
    const weft_entity own = weft_bake_entity(bake, NULL), more = weft_bake_entity(bake, "more");
    const weft_component sparks = weft_bake_component(bake, "sparks");
    const weft_component lit = weft_bake_component(bake, "lit");
    weft_bake_set(bake, own, weft_bake_component(bake, "heat"), &at, sizeof at);
    weft_bake_set(bake, more, lit, &at, sizeof at);
    weft_bake_disable(bake, more, lit);
    weft_bake_buffer(bake, more, sparks, &at, 1, sizeof at);
    weft_bake_name(bake, more, weft_bake_path_of(bake, object)[0] == 'b' ? "spark" : NULL);
    const bool is_right =
        weft_bake_property(bake, object, "glow", &property, 1) == 1 &&
        weft_bake_object(bake, "/a") != NULL && weft_bake_child(bake, object, NULL) == NULL &&
        weft_bake_bytes(bake, object).count == 0 && weft_bake_data(bake, object, "tle") == NULL &&
        weft_bake_name_of(bake, object)[0] != 'a' && weft_bake_entity_of(bake, "/a").version != 0 &&
        weft_bake_file(bake, "beside", &bytes) == WEFT_OK;
    return is_right ? WEFT_OK : WEFT_CORRUPT;
}

static const weft_baker_desc glow = {.name = "glow", .property = "glow", .bake = bake_glow};
static const weft_scene_desc scene_desc = {
    .read = read_document, .bakers = &glow, .baker_count = 1};

static weft_component open_small(host *h, weft_world **out)
{
    const weft_world_desc desc = {.pool = h->round->pool};
    const weft_component_desc heat = {.name = "heat", .type = &heat_type};
    if (!EXPECT_OK(h, weft_world_create(&desc, out))) return (weft_component){0};
    EXPECT(h, weft_component_create_plain(*out, "lit", 4, 4, WEFT_ENABLEABLE).id != 0);
    EXPECT(h, weft_component_create_plain(*out, "sparks", 4, 4, WEFT_BUFFER).id != 0);
    return weft_component_create(*out, &heat);
}

static void check_heat(host *h, weft_world *world, weft_component heat)
{
    uint32_t values[4] = {0};
    const weft_term reads = {heat, WEFT_READ, WEFT_ALL, 0};
    const weft_query all = weft_query_create(world, &(weft_query_desc){.terms = {reads}});
    EXPECT(h, weft_query_read_values(world, all, heat, values, 4) == 3);
    EXPECT(h, values[0] + values[1] + values[2] == 6);
    EXPECT_OK(h, weft_component_check(world, heat, values));
    EXPECT_OK(h, weft_query_destroy(world, all));
}

/* Baked on the pool. */
void weft_stress_scene(host *h)
{
    weft_world *world;
    weft_scene *scene;
    weft_scene_stats stats;
    weft_scene_change change;
    char text[500];
    const weft_component heat = open_small(h, &world);
    if (heat.id == 0) return;
    if (EXPECT_OK(h, weft_scene_create(world, &scene_desc, &scene))) {
        EXPECT_OK(h, weft_scene_bake(scene, documents, 1));
        EXPECT(h, weft_scene_mistakes(scene, NULL, 0) == 0);
        EXPECT(h, weft_scene_file_at(scene, 0) != NULL);
        (void)weft_scene_is_stale(scene);
        (void)weft_scene_wait(scene, 0);
        weft_scene_stats_get(scene, &stats, sizeof stats);
        EXPECT(h, stats.entities == 5 && weft_scene_change_at(scene, 2, &change));
        EXPECT_OK(h, weft_scene_fill(scene, world));
        EXPECT(h, weft_entity_is_alive(world, weft_scene_entity(scene, "a")));
        EXPECT(h, weft_scene_explain(scene, "b", false, text, sizeof text) != 0);
        check_heat(h, world, heat);
        weft_scene_destroy(scene);
    }
    EXPECT_OK(h, weft_world_destroy(world));
}

/* A link with its thread, which bakes beside all hosts. */
void weft_stress_live(host *h)
{
    weft_world *world;
    weft_live *live, *listed;
    weft_live_report report;
    char text[500];
    const weft_component heat = open_small(h, &world);
    const weft_live_desc desc = {.scene = &scene_desc,
                                 .paths = documents,
                                 .path_count = 1,
                                 .without_thread = weft_stress_below(h, 2) == 0};
    if (heat.id == 0) return;
    if (EXPECT_OK(h, weft_live_start(world, &desc, &live))) {
        EXPECT(h, weft_live_refresh(live) == (desc.without_thread ? WEFT_OK : WEFT_UNSUPPORTED));
        EXPECT_OK(h, weft_live_apply(live, 0, &report, sizeof report));
        check_heat(h, world, heat);
        EXPECT(h, weft_live_list(world, &listed, 1) == 1 && listed == live);
        EXPECT(h, strcmp(weft_live_document_at(live, 0), "level.weft") == 0);
        EXPECT(h, weft_live_mistakes(live, NULL, 0) == 0 && weft_live_conflict_at(live, 0) == NULL);
        EXPECT(h, strcmp(weft_live_path(live, weft_live_entity(live, "c")), "c") == 0);
        (void)weft_live_explain(live, "a", true, text, sizeof text); /* 0 while it bakes */
        EXPECT(h, weft_live_undo(live) == WEFT_NOT_FOUND);
        EXPECT_OK(h, weft_world_step(world, 0));
        weft_live_stop(live);
    }
    EXPECT_OK(h, weft_world_destroy(world));
}

void weft_stress_relate(host *h)
{
    enum { CARS = 40 };
    weft_world *world;
    weft_entity car, wheels[CARS];
    weft_relation_stats stats;
    uint32_t count;
    const weft_component heat = open_small(h, &world);
    if (heat.id == 0) return;
    const weft_component parent = weft_component_parent(world);
    const weft_archetype plain = weft_archetype_create(world, &heat, 1);
    car = weft_entity_create(world, plain);
    EXPECT_OK(h, weft_entity_create_many(world, plain, CARS, wheels));
    for (uint32_t i = 0; i < CARS; i++)
        EXPECT_OK(h, weft_relation_set(world, wheels[i], parent, i == 0 ? car : wheels[i / 2]));
    EXPECT_OK(h, weft_relation_settle(world));
    EXPECT(h, weft_relation_sources(world, parent, car, &count) != NULL && count == 1);
    EXPECT(h, weft_entity_equal(weft_relation_target(world, wheels[2], parent), wheels[1]));
    EXPECT(h, weft_relation_depth(world, parent, wheels[0]) == 1);
    EXPECT_OK(h, weft_relation_stats_get(world, parent, &stats, sizeof stats));
    EXPECT_OK(h, weft_entity_destroy(world, car));
    EXPECT_OK(h, weft_relation_settle(world));
    EXPECT(h, !weft_entity_is_alive(world, wheels[CARS - 1]));
    EXPECT_OK(h, weft_world_destroy(world));
}

/* What is stored where. */
static void ask_rows(host *h, const place *p)
{
    weft_cursor cursor = weft_query_begin(p->world, p->all);
    weft_entity_place at;
    weft_archetype_stats stats;
    uint32_t bands[4], values[8] = {0};
    if (!weft_query_next(&cursor)) return;
    const uint32_t count = cursor.slice.count < 8 ? cursor.slice.count : 8;
    const weft_entity *entities = weft_slice_entities(&cursor.slice);
    EXPECT_OK(h, weft_entity_read_many(p->world, entities, count, p->value, values));
    EXPECT(h, memcmp(values, weft_slice_write(&cursor.slice, 0), count * sizeof *values) == 0);
    EXPECT_OK(h, weft_entity_place_get(p->world, entities[0], &at, sizeof at));
    EXPECT_OK(h, weft_archetype_stats_get(p->world, at.archetype, &stats, sizeof stats));
    EXPECT(h, weft_archetype_occupancy(p->world, at.archetype, bands, 4) != 0);
    while (weft_query_next(&cursor)) {
    }
}

void weft_stress_ask(host *h)
{
    const place *p = h->owned;
    const weft_system grow = weft_system_find(p->world, "grow");
    const void *shared[4];
    weft_error mistakes[4];
    weft_system_counters counters;
    EXPECT(h, weft_component_find(p->world, "value").id == p->value.id);
    EXPECT(h, weft_component_type(p->world, p->value) == NULL);
    ask_rows(h, p);
    const uint32_t groups = weft_shared_values(p->world, p->group, shared, 4);
    EXPECT(h, groups <= 3 && weft_archetype_at(p->world, 0).id != 0);
    (void)weft_schedule_mistakes(p->world, mistakes, 4);
    EXPECT_OK(h, weft_system_counters_get(p->world, grow, &counters, sizeof counters));
    EXPECT(h, weft_world_hook_find(p->world, "no hook") == NULL);
    weft_world_error_clear(p->world);
    EXPECT(h, weft_world_error(p->world)->code == WEFT_OK);
}
