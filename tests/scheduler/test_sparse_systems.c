/* SPDX-License-Identifier: MIT */
/* test_sparse_systems.c: systems over SPARSE components: by themselves, beside columns, as
 * conditions, in look-ups and commands; the same world for any number of workers. */
#include <weft/weft.h>

#include "plain.h"

enum { ROWS = 20000, FRAMES = 12 };

typedef struct burn {
    uint32_t fuel;
    uint32_t seen;
} burn;

typedef struct scene {
    weft_world *world;
    weft_component heat, steps, burning, marked;
    weft_entity rows[ROWS];
    uint64_t slices; /* of `watch`, SERIAL */
} scene;

/* Over the SPARSE rows alone: a column. */
static void consume(weft_slice *s, void *user)
{
    (void)user;
    burn *b = WEFT_WRITE_COLUMN(s, 0, burn);
    for (uint32_t i = 0; i < s->count; i++) b[i].fuel--;
}

/* Entities that have it: their heat rises by what is left, which remembers the heat. */
static void warm(weft_slice *s, void *user)
{
    (void)user;
    uint32_t *heat = weft_slice_write(s, 0);
    weft_slice_walk walk = {0};
    while (weft_slice_next_row(s, &walk)) {
        burn *b = weft_slice_write_row(s, 1, (uint32_t)walk.row);
        heat[walk.row] += b->fuel;
        b->seen = heat[walk.row];
    }
}

/* Entities that have none cool down. */
static void cool(weft_slice *s, void *user)
{
    (void)user;
    uint32_t *heat = weft_slice_write(s, 0);
    weft_slice_walk walk = {0};
    while (weft_slice_next_row(s, &walk)) heat[walk.row] -= heat[walk.row] / 8;
}

/* What has no fuel goes out; its entity is marked instead; now and then another is lit or dies. */
static void put_out(weft_slice *s, void *user)
{
    scene *c = user;
    const burn *b = WEFT_READ_COLUMN(s, 0, burn);
    weft_recorder *r = weft_slice_recorder(s);
    for (uint32_t i = 0; i < s->count; i++) {
        if (b[i].fuel != 0) continue;
        weft_recorder_remove(r, s->entities[i], c->burning);
        weft_recorder_add(r, s->entities[i], c->marked);
        weft_entity next = c->rows[(s->entities[i].index * 7u) % ROWS];
        if (s->entities[i].index % 5 == 0)
            weft_recorder_destroy_entity(r, next);
        else
            weft_recorder_set(r, next, c->burning, &(burn){3 + b[i].seen % 5, 0}, sizeof(burn));
    }
}

/* Reads another entity's by look-up. */
static void look(weft_slice *s, void *user)
{
    scene *c = user;
    uint32_t *steps = weft_slice_write(s, 0);
    for (uint32_t i = 0; i < s->count; i++) {
        weft_entity other = c->rows[(s->entities[i].index + 1) % ROWS];
        const burn *b = weft_slice_read_entity(s, other, c->burning);
        steps[i] += b == NULL ? 1 : b->fuel;
    }
}

static void watch(weft_slice *s, void *user)
{
    (void)s;
    ((scene *)user)->slices++;
}

static weft_system make(scene *c, const weft_system_desc *desc)
{
    weft_system system = weft_system_create(c->world, desc);
    if (system.id == 0) test_fail(__FILE__, __LINE__, weft_world_error(c->world)->text);
    return system;
}

static void scene_open(scene *c, uint32_t workers)
{
    c->slices = 0;
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = workers, .entity_tag = WEFT_WITHOUT_ENTITY_TAG}, &c->world));
    c->heat = weft_component_create_plain(c->world, "heat", 4, 4, 0);
    c->steps = weft_component_create_plain(c->world, "steps", 4, 4, 0);
    c->burning = WEFT_COMPONENT_FLAGS(c->world, burn, WEFT_SPARSE);
    c->marked = weft_component_create_plain(c->world, "marked", 0, 1, WEFT_SPARSE);
    CHECK_OK(weft_entity_create_many(c->world, WEFT_ARCHETYPE(c->world, c->heat, c->steps),
                                     ROWS / 2, c->rows));
    CHECK_OK(weft_entity_create_many(c->world, WEFT_ARCHETYPE(c->world, c->heat), ROWS - ROWS / 2,
                                     c->rows + ROWS / 2));
    for (uint32_t i = 0; i < ROWS; i += 3) {
        burn b = {2 + i % 7, 0};
        CHECK_OK(weft_entity_set(c->world, c->rows[i], c->burning, &b, sizeof b));
    }
    CHECK_OK(weft_schedule_set(c->world, &(weft_schedule_desc){.is_always_parallel = workers > 1}));
}

static uint64_t run_scene(uint32_t workers, bool not_fused)
{
    static scene c;
    scene_open(&c, workers);
    uint32_t flags = not_fused ? WEFT_SYSTEM_NOT_FUSED : 0;
    make(&c, &(weft_system_desc){.name = "consume",
                                 .run = consume,
                                 .flags = flags,
                                 .over.rows.terms = {{c.burning, WEFT_WRITE}}});
    make(&c,
         &(weft_system_desc){.name = "warm",
                             .run = warm,
                             .flags = flags,
                             .over.rows.terms = {{c.heat, WEFT_WRITE}, {c.burning, WEFT_WRITE}}});
    make(&c, &(weft_system_desc){.name = "cool",
                                 .run = cool,
                                 .flags = flags,
                                 .over.rows.terms = {{c.heat, WEFT_WRITE},
                                                     {c.burning, WEFT_NO_ACCESS, WEFT_NONE}}});
    make(&c, &(weft_system_desc){.name = "look",
                                 .run = look,
                                 .user = &c,
                                 .flags = flags,
                                 .lookups = {{c.burning, WEFT_READ}},
                                 .over.rows.terms = {{c.steps, WEFT_WRITE}}});
    make(&c, &(weft_system_desc){.name = "put out",
                                 .run = put_out,
                                 .user = &c,
                                 .flags = flags,
                                 .effects =
                                     WEFT_RECORDS_ADD | WEFT_RECORDS_REMOVE | WEFT_RECORDS_DESTROY,
                                 .over.rows.terms = {{c.burning}}});
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        weft_result result = weft_world_step(c.world, 0.1f);
        if (result != WEFT_OK) test_fail(__FILE__, __LINE__, weft_world_error(c.world)->text);
    }
    CHECK_OK(weft_world_validate(c.world));
    weft_query burning =
        weft_query_create(c.world, &(weft_query_desc){.terms = {{c.burning}, {c.heat}}});
    uint64_t count = weft_query_count(c.world, burning);
    CHECK(count > 100 && count < ROWS / 2);
    uint64_t hash = weft_world_hash(c.world, WEFT_HASH_LAYOUT);
    CHECK_OK(weft_world_destroy(c.world));
    return hash;
}

PLAIN_TEST(same_world_for_any_number_of_workers)
{
    uint64_t expected = run_scene(1, false);
    for (uint32_t workers = 1; workers <= 4; workers++)
        for (uint32_t fused = 0; fused < 2; fused++)
            CHECK_U64(run_scene(workers, fused == 0), expected);
}

/* Two systems that write one component stay in one stage, slice by slice, while each touches
 * rows of its own slice alone. Rows of a SPARSE component lie elsewhere: such systems are
 * ordered as a whole. */
PLAIN_TEST(values_elsewhere_order_systems_as_a_whole)
{
    static scene c;
    scene_open(&c, 1);
    weft_frame_stats stats;
    const weft_component written[] = {c.heat, c.burning};
    for (uint32_t i = 0; i < 2; i++) {
        weft_system first =
            make(&c, &(weft_system_desc){
                         .name = "first",
                         .run = watch,
                         .user = &c,
                         .over.rows.terms = {{c.heat, WEFT_NO_ACCESS}, {written[i], WEFT_WRITE}}});
        weft_system second =
            make(&c, &(weft_system_desc){
                         .name = "second",
                         .run = watch,
                         .user = &c,
                         .over.rows.terms = {{c.heat, WEFT_NO_ACCESS}, {written[i], WEFT_WRITE}}});
        CHECK_OK(weft_schedule_compile(c.world));
        weft_frame_stats_get(c.world, &stats, sizeof stats);
        CHECK_U64(stats.stages, 1 + i);
        CHECK_OK(weft_system_destroy(c.world, first));
        CHECK_OK(weft_system_destroy(c.world, second));
    }
    CHECK_OK(weft_world_destroy(c.world));
}

/* skips_unchanged, filters and questions about changes know the values that rows have elsewhere. */
PLAIN_TEST(changes_of_values_elsewhere_are_seen)
{
    static scene c;
    scene_open(&c, 2);
    make(&c, &(weft_system_desc){.name = "watch",
                                 .run = watch,
                                 .user = &c,
                                 .flags = WEFT_SYSTEM_SERIAL,
                                 .skips_unchanged = true,
                                 .over.rows.terms = {{c.steps, WEFT_NO_ACCESS}, {c.burning}}});
    CHECK_OK(weft_world_step(c.world, 0));
    uint64_t all = c.slices;
    CHECK(all > 10);
    c.slices = 0;
    CHECK_OK(weft_world_step(c.world, 0));
    CHECK_U64(c.slices, 0);
    ((burn *)weft_entity_write(c.world, c.rows[0], c.burning))->fuel = 77;
    CHECK_OK(weft_world_step(c.world, 0));
    CHECK(c.slices != 0 && c.slices < all);
    weft_query q = weft_query_create(
        c.world,
        &(weft_query_desc){.terms = {{c.steps, WEFT_NO_ACCESS}, {c.burning, WEFT_NO_ACCESS}}});
    CHECK_OK(weft_query_filter_changed(c.world, q, c.burning, weft_world_change_version(c.world)));
    CHECK_U64(weft_query_count(c.world, q), 0);
    weft_world_advance_change_version(c.world);
    ((burn *)weft_entity_write(c.world, c.rows[3], c.burning))->fuel = 78;
    uint64_t changed = weft_query_count(c.world, q);
    CHECK(changed != 0 && changed < ROWS / 6);
    CHECK(weft_query_matches(c.world, q, c.rows[3]));
    CHECK(!weft_query_matches(c.world, q, c.rows[1]));
    CHECK_U64(weft_entity_change_version(c.world, c.rows[3], c.burning),
              weft_world_change_version(c.world));
    CHECK_OK(weft_world_destroy(c.world));
}
