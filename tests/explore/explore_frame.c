/* SPDX-License-Identifier: MIT */
/* explore_frame.c: whole frames on the real job layer, storage, scheduler and playback: three
 * systems with structural change on three workers, two frames. Whatever the interleaving, the
 * layout hash after each frame must be that of the same frames run serially and without fusion,
 * and the world must be valid. Folding is made tiny (two rows a task), so that a handful of
 * entities makes many parts.
 *
 *   frame_births   rows made in jobs, deferred entities with references and values, deaths
 *   frame_changes  a look-up between two writers, in a stage of its own; additions and removals of
 *                  the same component, enable bits
 *   frame_deaths   additions and deaths only: folding without an order within a row
 *   frame_fused    three conflicting row systems in one stage, the last of which records
 *   frame_disabled rows with a disabled component move into the same chunks from several tasks
 *   frame_background  a background system, which is joined before the stage that needs its values
 *   frame_overlap  a graph of systems that are not fused, of the owner's, of one ordered by name
 *   frame_newer_stamp two writers of one version: the newer one stays
 *   frame_recorder    another thread records while the owner registers components, makes
 *                     archetypes and queries, creates, destroys and steps; it also records with
 *                     what the owner made meanwhile, if that was handed over in time
 *   frame_unordered   the same, with rows that get ids at once
 *
 * Too many steps to be exhaustive: PCT and random switches. Under `c11` every plain access of the
 * engine and of the systems is checked for data races as well. */
#include <weft/type.h>
#include <weft/weft.h>

#include "chunk.h"
#include "explore_desc.h"
#include "explore_plans.h"
#include "pool_state.h"
#include "world_state.h"

enum { WORKERS = 3, FRAMES = 2, GROUPS = 3, GROUP_ROWS = 3, SCENARIOS = 8 };

/* A component that refers to an entity. */
typedef struct link {
    weft_entity other;
    uint32_t value;
    uint32_t padding;
} link;

/* One world of one execution. */
typedef struct frame_world {
    weft_job_pool *pool;
    weft_world *world;
    weft_component value, speed, mark, link;
    weft_archetype spawned, born;
    weft_entity pair, lone; /* sources of instances */
} frame_world;

static frame_world f;

static uint32_t mix(uint32_t a, uint32_t b)
{
    uint32_t x = (a ^ (b * 0x9e3779b9u)) * 0x85ebca6bu;
    return x ^ x >> 15;
}

/* ---- systems ---- */

/* Writes its rows; makes entities that refer back, and rows that refer to them. */
static void breed(weft_slice *s, void *user)
{
    (void)user;
    weft_recorder *commands = weft_slice_recorder(s);
    const weft_entity *entities = weft_slice_entities(s);
    uint32_t *values = weft_slice_write(s, 0);
    for (uint32_t i = 0; i < s->count; i++) {
        values[i] = mix(values[i], entities[i].index);
        if (values[i] % 2 == 0) continue;
        weft_entity made = weft_recorder_create_entity(commands, f.born);
        link back = {entities[i], values[i], 0}, there = {made, 1, 0};
        weft_recorder_set(commands, made, f.link, &back, sizeof back);
        weft_recorder_set(commands, entities[i], f.link, &there, sizeof there);
    }
}

static void spawn(weft_slice *s, void *user)
{
    (void)user;
    weft_slice rows;
    if (weft_recorder_create_rows(weft_slice_recorder(s), f.spawned, 2, &rows) != WEFT_OK) return;
    for (uint32_t i = 0; i < rows.count; i++)
        ((uint32_t *)rows.columns[0])[i] = mix(s->index + 7, i);
}

/* Destroys some rows of what it reads. */
static void cull(weft_slice *s, void *user)
{
    (void)user;
    const weft_entity *entities = weft_slice_entities(s);
    const uint32_t *speeds = weft_slice_read(s, 0);
    for (uint32_t i = 0; i < s->count; i++)
        if (mix(speeds[i], entities[i].index) % 3 == 0)
            weft_recorder_destroy_entity(weft_slice_recorder(s), entities[i]);
}

/* Adds or removes the mark, and switches it off. */
static void toggle(weft_slice *s, void *user)
{
    (void)user;
    weft_recorder *commands = weft_slice_recorder(s);
    const weft_entity *entities = weft_slice_entities(s);
    uint32_t *values = weft_slice_write(s, 0);
    for (uint32_t i = 0; i < s->count; i++) {
        values[i] = mix(values[i], 5);
        if (values[i] % 3 == 0)
            weft_recorder_remove(commands, entities[i], f.mark);
        else
            weft_recorder_add(commands, entities[i], f.mark);
        if (values[i] % 3 == 1) weft_recorder_enable(commands, entities[i], f.mark, false);
    }
}

static void add_mark(weft_slice *s, void *user)
{
    (void)user;
    const weft_entity *entities = weft_slice_entities(s);
    for (uint32_t i = 0; i < s->count; i++)
        weft_recorder_add(weft_slice_recorder(s), entities[i], f.mark);
}

static void scale(weft_slice *s, void *user)
{
    (void)user;
    uint32_t *values = weft_slice_write(s, 0);
    for (uint32_t i = 0; i < s->count; i++) values[i] = mix(values[i], 11);
}

/* Adds what it reads of the entity that its link refers to. */
static void follow(weft_slice *s, void *user)
{
    (void)user;
    uint32_t *speeds = weft_slice_write(s, 0);
    const link *links = weft_slice_read(s, 1);
    for (uint32_t i = 0; i < s->count; i++) {
        const uint32_t *value = weft_slice_read_entity(s, links[i].other, f.value);
        if (value != NULL) speeds[i] = mix(speeds[i], *value);
    }
}

static void accelerate(weft_slice *s, void *user)
{
    (void)user;
    const uint32_t *values = weft_slice_read(s, 0);
    uint32_t *speeds = weft_slice_write(s, 1);
    for (uint32_t i = 0; i < s->count; i++) speeds[i] = mix(speeds[i], values[i]);
}

static void move_rows(weft_slice *s, void *user)
{
    (void)user;
    uint32_t *values = weft_slice_write(s, 0);
    const uint32_t *speeds = weft_slice_read(s, 1);
    for (uint32_t i = 0; i < s->count; i++) values[i] = mix(values[i], speeds[i]);
}

static void add(const weft_system_desc *desc)
{
    EXPLORE_CHECK(weft_system_create(f.world, desc).id != 0, "system %s: %s", desc->name,
                  weft_world_error(f.world)->text);
}

static void add_births(void)
{
    add(&(weft_system_desc){.name = "breed",
                            .run = breed,
                            .effects = WEFT_RECORDS_ANY,
                            .over.rows.terms = {{f.value, WEFT_WRITE, WEFT_ALL, 0}}});
    add(&(weft_system_desc){.name = "spawn",
                            .run = spawn,
                            .effects = WEFT_RECORDS_CREATE,
                            .over = {.kind = WEFT_OVER_COUNT, .count = 2}});
    add(&(weft_system_desc){.name = "cull",
                            .run = cull,
                            .effects = WEFT_RECORDS_DESTROY,
                            .over.rows.terms = {{f.speed, WEFT_READ, WEFT_ALL, 0}}});
}

static void add_changes(void)
{
    const weft_term value = {f.value, WEFT_WRITE, WEFT_ALL, 0};
    add(&(weft_system_desc){.name = "scale", .run = scale, .over.rows.terms = {value}});
    add(&(weft_system_desc){
        .name = "follow",
        .run = follow,
        .lookups = {{f.value, WEFT_READ}},
        .over.rows.terms = {{f.speed, WEFT_WRITE, WEFT_ALL, 0}, {f.link, WEFT_READ, WEFT_ALL, 0}}});
    add(&(weft_system_desc){
        .name = "toggle", .run = toggle, .effects = WEFT_RECORDS_ANY, .over.rows.terms = {value}});
}

static void add_deaths(void)
{
    add(&(weft_system_desc){.name = "mark",
                            .run = add_mark,
                            .effects = WEFT_RECORDS_ADD,
                            .records = {f.mark},
                            .over.rows.terms = {{f.value, WEFT_READ, WEFT_ALL, 0}}});
    add(&(weft_system_desc){.name = "cull",
                            .run = cull,
                            .effects = WEFT_RECORDS_DESTROY,
                            .over.rows.terms = {{f.speed, WEFT_READ, WEFT_ALL, 0}}});
    add(&(weft_system_desc){.name = "spawn",
                            .run = spawn,
                            .effects = WEFT_RECORDS_CREATE,
                            .over = {.kind = WEFT_OVER_COUNT, .count = 3}});
}

/* All rows move; the bits of their marks go with them. */
static void shed(weft_slice *s, void *user)
{
    (void)user;
    const weft_entity *entities = weft_slice_entities(s);
    for (uint32_t i = 0; i < s->count; i++)
        weft_recorder_remove(weft_slice_recorder(s), entities[i], f.speed);
}

/* Nothing but removals: many tasks move rows to one chunk. */
static void add_disabled(void)
{
    const weft_query_desc marked = {
        .terms = {{f.mark, WEFT_READ, WEFT_ALL, 0}, {f.speed, WEFT_READ, WEFT_ALL, 0}},
        .ignores_enabled = true};
    weft_query query = weft_query_create(f.world, &marked);
    EXPLORE_CHECK(weft_query_enable(f.world, query, f.mark, false) == WEFT_OK, "not disabled");
    weft_query_destroy(f.world, query);
    add(&(weft_system_desc){.name = "shed",
                            .run = shed,
                            .effects = WEFT_RECORDS_ANY,
                            .over.rows.terms = {{f.speed, WEFT_READ, WEFT_ALL, 0}}});
}

/* The values are written in the background; what reads them comes after the join. */
static void add_background(void)
{
    add(&(weft_system_desc){.name = "scale",
                            .run = scale,
                            .flags = WEFT_SYSTEM_BACKGROUND,
                            .over.rows.terms = {{f.value, WEFT_WRITE, WEFT_ALL, 0}}});
    add(&(weft_system_desc){.name = "accelerate",
                            .run = accelerate,
                            .over.rows.terms = {{f.value, WEFT_READ, WEFT_ALL, 0},
                                                {f.speed, WEFT_WRITE, WEFT_ALL, 0}}});
}

/* Two that nothing orders, the owner's after both, one that looks its values up, one after it by
 * name only, which records. */
static void add_overlap(void)
{
    const weft_term value = {f.value, WEFT_WRITE, WEFT_ALL, 0};
    const weft_term speed = {f.speed, WEFT_WRITE, WEFT_ALL, 0};
    const weft_term read = {f.value, WEFT_READ, WEFT_ALL, 0};
    const weft_term links = {f.link, WEFT_READ, WEFT_ALL, 0};
    add(&(weft_system_desc){
        .name = "scale", .run = scale, .flags = WEFT_SYSTEM_NOT_FUSED, .over.rows.terms = {value}});
    add(&(weft_system_desc){
        .name = "brake", .run = scale, .flags = WEFT_SYSTEM_SERIAL, .over.rows.terms = {speed}});
    add(&(weft_system_desc){.name = "accelerate",
                            .run = accelerate,
                            .flags = WEFT_SYSTEM_MAIN_THREAD,
                            .over.rows.terms = {read, speed}});
    add(&(weft_system_desc){.name = "follow",
                            .run = follow,
                            .lookups = {{f.value, WEFT_READ}},
                            .over.rows.terms = {speed, links}});
    add(&(weft_system_desc){.name = "mark",
                            .run = add_mark,
                            .effects = WEFT_RECORDS_ANY,
                            .after = {"brake"},
                            .over.rows.terms = {read}});
}

static void add_fused(void)
{
    const weft_term value = {f.value, WEFT_WRITE, WEFT_ALL, 0};
    const weft_term speed = {f.speed, WEFT_READ, WEFT_ALL, 0};
    add(&(weft_system_desc){.name = "accelerate",
                            .run = accelerate,
                            .over.rows.terms = {{f.value, WEFT_READ, WEFT_ALL, 0},
                                                {f.speed, WEFT_WRITE, WEFT_ALL, 0}}});
    add(&(weft_system_desc){.name = "move", .run = move_rows, .over.rows.terms = {value, speed}});
    add(&(weft_system_desc){
        .name = "toggle", .run = toggle, .effects = WEFT_RECORDS_ANY, .over.rows.terms = {value}});
}

/* Instances of two sources, and values for some of them. */
static void make_instances(weft_slice *s, void *user)
{
    (void)user;
    weft_recorder *commands = weft_slice_recorder(s);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t value = mix(s->index, i);
        weft_entity of_pair = weft_recorder_instantiate(commands, f.pair);
        weft_recorder_set(commands, of_pair, f.speed, &value, sizeof value);
        if (i == s->index % 2) weft_recorder_instantiate(commands, f.lone);
    }
}

/* Two that link to each other, in a group, and a lone one. */
static void add_instances(void)
{
    weft_component group = weft_component_linked_group(f.world);
    weft_entity pair[2];
    EXPLORE_CHECK(weft_entity_create_many(f.world, f.born, 2, pair) == WEFT_OK &&
                      weft_entity_create_many(f.world, f.spawned, 1, &f.lone) == WEFT_OK &&
                      weft_entity_add(f.world, pair[0], group) == WEFT_OK,
                  "no sources");
    f.pair = pair[0];
    for (uint32_t i = 0; i < 2; i++) {
        link next = {pair[1 - i], i, 0};
        weft_entity_set(f.world, pair[i], f.link, &next, sizeof next);
    }
    weft_buffers linked = weft_entity_write_buffer(f.world, pair[0], group);
    EXPLORE_CHECK(weft_buffers_append(&linked, 0, pair, 2) == WEFT_OK, "no group");
    add(&(weft_system_desc){.name = "instances",
                            .run = make_instances,
                            .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_ADD,
                            .over = {.kind = WEFT_OVER_COUNT, .count = 3}});
}

/* ---- worlds ---- */

static void make_kinds(void)
{
    static const weft_field field = {"other", WEFT_FIELD_ENTITY, offsetof(link, other), 0};
    f.value = weft_component_create_plain(f.world, "value", 4, 4, 0);
    f.speed = weft_component_create_plain(f.world, "speed", 4, 4, 0);
    f.mark = weft_component_create_plain(f.world, "mark", 4, 4, WEFT_ENABLEABLE);
    f.link = weft_component_create(f.world, &(weft_component_desc){.name = "link",
                                                                   .size = sizeof(link),
                                                                   .alignment = 4,
                                                                   .fields = &field,
                                                                   .field_count = 1});
    f.spawned = weft_archetype_create(f.world, (weft_component[]){f.speed}, 1);
    f.born = weft_archetype_create(f.world, (weft_component[]){f.value, f.link}, 2);
    EXPLORE_CHECK(f.mark.id != 0 && f.link.id != 0 && f.born.id != 0, "no components");
}

/* Three archetypes of a few rows: three slices. Links form a ring. */
static void populate(void)
{
    const weft_component sets[GROUPS][4] = {
        {f.value}, {f.value, f.speed, f.link}, {f.value, f.speed, f.mark, f.link}};
    static const uint32_t counts[GROUPS] = {1, 3, 4};
    weft_entity made[GROUPS * GROUP_ROWS];
    for (uint32_t g = 0; g < GROUPS; g++)
        EXPLORE_CHECK(weft_entity_create_many(f.world,
                                              weft_archetype_create(f.world, sets[g], counts[g]),
                                              GROUP_ROWS, made + g * GROUP_ROWS) == WEFT_OK,
                      "no entities");
    for (uint32_t i = 0; i < GROUPS * GROUP_ROWS; i++) {
        uint32_t number = mix(i, 3);
        link next = {made[(i + 2) % (GROUPS * GROUP_ROWS)], i, 0};
        weft_entity_set(f.world, made[i], f.value, &number, sizeof number);
        if (i < GROUP_ROWS) continue;
        weft_entity_set(f.world, made[i], f.speed, &number, sizeof number);
        weft_entity_set(f.world, made[i], f.link, &next, sizeof next);
    }
}

static void make_world(void (*add_systems)(void), uint32_t workers)
{
    weft_job_pool_desc pool = explore_pool_desc(workers);
    f = (frame_world){0};
    EXPLORE_CHECK(weft_job_pool_create(&pool, &f.pool) == WEFT_OK, "no pool");
    weft_world_desc desc = {.pool = f.pool, .allocator = *explore_allocator(), .os = explore_os()};
    EXPLORE_CHECK(weft_world_create(&desc, &f.world) == WEFT_OK, "no world");
    make_kinds();
    populate();
    add_systems();
    weft_schedule_desc options = {.without_parallel = workers == 1,
                                  .without_fusion = workers == 1,
                                  .is_always_parallel = workers != 1};
    EXPLORE_CHECK(weft_schedule_set(f.world, &options) == WEFT_OK, "options");
}

static void end_world(void)
{
    EXPLORE_CHECK(weft_world_validate(f.world) == WEFT_OK, "%s", weft_world_error(f.world)->text);
    EXPLORE_CHECK(weft_world_destroy(f.world) == WEFT_OK, "the world is in use");
    EXPLORE_CHECK(weft_job_pool_destroy(f.pool) == WEFT_OK, "the pool is in use");
}

static void run_frames(uint64_t hashes[FRAMES])
{
    for (uint32_t i = 0; i < FRAMES; i++) {
        EXPLORE_CHECK(weft_world_step(f.world, 0.5f) == WEFT_OK, "frame %u: %s", i,
                      weft_world_error(f.world)->text);
        hashes[i] = weft_world_hash(f.world, WEFT_HASH_LAYOUT);
    }
}

/* Statistics that nothing depends on. */
static void ignore_statistics(void)
{
    for (uint32_t i = 0; i < f.pool->worker_count; i++)
        explore_ignore(&f.pool->workers[i].stats, sizeof f.pool->workers[i].stats);
    explore_ignore(f.pool->alive, sizeof *f.pool->alive);
    explore_ignore(&f.world->moved.x_rows, sizeof f.world->moved.x_rows);
    explore_ignore(&f.world->moved.x_bytes, sizeof f.world->moved.x_bytes);
}

/* The serial hashes are worked out once for a scenario, before anything is explored. */
static void check_frames(uint32_t scenario, void (*add_systems)(void))
{
    static uint64_t serial[SCENARIOS][FRAMES];
    static bool is_known[SCENARIOS];
    uint64_t hashes[FRAMES];
    if (!is_known[scenario]) {
        make_world(add_systems, 1);
        run_frames(serial[scenario]);
        end_world();
        is_known[scenario] = true;
    }
    make_world(add_systems, WORKERS);
    ignore_statistics();
    explore_begin();
    run_frames(hashes);
    explore_end();
    for (uint32_t i = 0; i < FRAMES; i++)
        EXPLORE_CHECK(hashes[i] == serial[scenario][i],
                      "frame %u: the hash differs from that of the serial run", i);
    end_world();
}

static void births(void)
{
    check_frames(0, add_births);
}

static void changes(void)
{
    check_frames(1, add_changes);
}

static void deaths(void)
{
    check_frames(2, add_deaths);
}

static void fused(void)
{
    check_frames(3, add_fused);
}

static void disabled(void)
{
    check_frames(4, add_disabled);
}

static void background(void)
{
    check_frames(5, add_background);
}

static void overlap(void)
{
    check_frames(6, add_overlap);
}

static void instances(void)
{
    check_frames(7, add_instances);
}

/* Moves of several tasks raise the version of one slice. */
static weft_a32 version;

static void raise_version(void *argument)
{
    weft__stamp_newer(&version, (uint32_t)(uintptr_t)argument);
}

static void newer_stamp(void)
{
    at_init(&version, 3);
    explore_thread(raise_version, (void *)5);
    explore_thread(raise_version, (void *)4);
    explore_begin();
    raise_version((void *)7);
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(at_plain(&version) == 7, "version %u", at_plain(&version));
}

/* ---- a second thread that records ---- */

/* What the owner hands over while the other thread records. */
typedef struct handed_over {
    weft_component component;
    weft_archetype archetype;
} handed_over;

static weft_recorder *recorder;
static handed_over late;
static weft_a32 has_late; /* 1: `late` may be read */
static bool is_unordered, took_late;

static void record_rows(weft_archetype archetype, uint32_t count)
{
    weft_slice rows;
    weft_result result =
        is_unordered ? weft_recorder_create_rows_unordered(recorder, archetype, count, &rows)
                     : weft_recorder_create_rows(recorder, archetype, count, &rows);
    EXPLORE_CHECK(result == WEFT_OK && rows.count == count, "rows: %s", weft_result_name(result));
    for (uint32_t i = 0; i < count; i++) ((uint32_t *)rows.columns[0])[i] = mix(count, i);
}

static void record_beside(void *unused)
{
    (void)unused;
    const uint32_t value = 11;
    const link there = {f.lone, 1, 0};
    weft_entity made = weft_recorder_create_entity(recorder, f.born);
    weft_recorder_set(recorder, made, f.link, &there, sizeof there);
    record_rows(f.spawned, 2);
    took_late = at_load_acq(&has_late) != 0; /* hand_over */
    if (took_late) {
        weft_recorder_set(recorder, f.lone, late.component, &value, sizeof value);
        record_rows(late.archetype, 1);
    }
    weft_recorder_add(recorder, f.lone, f.mark);
}

/* The owner beside it. The new entries are the ones that make both lists grow. */
static void own_beside(void)
{
    late.component = weft_component_create_plain(f.world, "late", 4, 4, 0);
    late.archetype = weft_archetype_create(f.world, (weft_component[]){f.value, late.component}, 2);
    at_store_rel(&has_late, 1u); /* record_beside */
    const weft_query_desc lone = {.terms = {{late.component, WEFT_READ, WEFT_NONE, 0}}};
    weft_query query = weft_query_create(f.world, &lone);
    weft_entity other = weft_entity_create(f.world, f.spawned);
    EXPLORE_CHECK(late.archetype.id != 0 && query.id != 0 && other.version != 0, "nothing made");
    EXPLORE_CHECK(weft_world_step(f.world, 0.5f) == WEFT_OK, "%s", weft_world_error(f.world)->text);
    EXPLORE_CHECK(weft_entity_destroy(f.world, other) == WEFT_OK, "not destroyed");
    weft_query_destroy(f.world, query);
}

static void add_recorder(void)
{
    add(&(weft_system_desc){.name = "spawn",
                            .run = spawn,
                            .effects = WEFT_RECORDS_CREATE,
                            .over = {.kind = WEFT_OVER_COUNT, .count = 1}});
    f.lone = weft_entity_create(f.world, f.born);
    for (uint32_t i = 0; f.world->types.count + 1 < f.world->types.known.capacity; i++) {
        const char name[] = {'f', (char)('a' + i), 0};
        weft_component filler = weft_component_create_plain(f.world, name, 0, 1, 0);
        if (f.world->archetypes.id_count < f.world->archetypes.known.capacity)
            weft_archetype_create(f.world, &filler, 1);
    }
    EXPLORE_CHECK(weft_recorder_create(f.world, &recorder) == WEFT_OK, "no recorder");
    at_init(&has_late, 0);
}

/* Plays what was recorded; the hash of the world. */
static uint64_t play_recorded(void)
{
    EXPLORE_CHECK(weft_recorder_play(recorder) == WEFT_OK, "%s", weft_world_error(f.world)->text);
    weft_recorder_destroy(recorder);
    return weft_world_hash(f.world, is_unordered ? WEFT_HASH_CONTENT : WEFT_HASH_LAYOUT);
}

static uint64_t recorded_alone(bool with_late)
{
    make_world(add_recorder, 1);
    if (!with_late) record_beside(NULL);
    own_beside();
    if (with_late) record_beside(NULL);
    EXPLORE_CHECK(took_late == with_late, "not handed over");
    const uint64_t hash = play_recorded();
    end_world();
    return hash;
}

static void check_recorder(bool with_ids)
{
    static uint64_t alone[2]; /* [took_late]; each is worked out once */
    is_unordered = with_ids;
    make_world(add_recorder, 2);
    ignore_statistics();
    explore_thread(record_beside, NULL);
    explore_begin();
    own_beside();
    explore_join_all();
    explore_end();
    const uint64_t hash = play_recorded();
    const bool took = took_late;
    end_world();
    if (with_ids) return; /* which ids depends on timing */
    if (alone[took] == 0) alone[took] = recorded_alone(took);
    EXPLORE_CHECK(hash == alone[took], "the hash differs from that of one thread");
}

static void beside_recorder(void)
{
    check_recorder(false);
}

static void beside_unordered(void)
{
    check_recorder(true);
}

#define MOST(runs)                                                                                 \
    PLAN_ALL_DEEP(EXPLORE_SC, 1, 0), PLAN_PCT(EXPLORE_TSO, 4, runs, 200000),                       \
        PLAN_PCT(EXPLORE_C11, 4, runs, 200000), PLAN_RANDOM(EXPLORE_TSO, runs, 200000)

/* Two threads, of which one makes some 60 steps: all schedules of few preemptions. */
#define BESIDE                                                                                     \
    PLAN_ALL(EXPLORE_TSO, 1, 1), PLAN_ALL_DEEP(EXPLORE_SC, 2, 0),                                  \
        PLAN_ALL_DEEP(EXPLORE_C11, 1, 1), PLAN_PCT(EXPLORE_C11, 4, 500, 50000)

const explore_scenario explore_scenarios[] = {
    {"frame_births", births, {MOST(500)}, NULL},
    {"frame_changes", changes, {MOST(500)}, NULL},
    {"frame_deaths", deaths, {MOST(500)}, NULL},
    {"frame_fused", fused, {MOST(500)}, NULL},
    {"frame_disabled", disabled, {MOST(500)}, NULL},
    {"frame_background", background, {MOST(500)}, NULL},
    {"frame_overlap", overlap, {MOST(500)}, NULL},
    {"frame_instances", instances, {MOST(500)}, NULL},
    {"frame_recorder", beside_recorder, {BESIDE}, NULL},
    {"frame_unordered", beside_unordered, {BESIDE}, NULL},
    {"frame_newer_stamp", newer_stamp, {PLAN_ALL(EXPLORE_SC, 3, 0)}, NULL},
    {NULL, NULL, {{0}}, NULL},
};
