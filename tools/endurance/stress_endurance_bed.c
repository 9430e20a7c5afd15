/* SPDX-License-Identifier: MIT */
/* stress_endurance_bed.c: the main world: components of every kind, systems of every kind,
 * 20,000 entities that are born and die. What a row does follows from its Seed, never from the
 * worker. */
#include "endurance.h"

#include "blob_store.h"
#include "query_state.h"
#include "registry.h"
#include "world_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <weft/stream.h>

static const weft_field spin_fields[] = {WEFT_FIELD(endurance_spin, speed),
                                         WEFT_FIELD(endurance_spin, angle)};
static const weft_type spin_type = {.name = "Spin",
                                    .size = sizeof(endurance_spin),
                                    .alignment = 4,
                                    .fields = spin_fields,
                                    .field_count = 2};
static const weft_field story_fields[] = {{.name = "text", .kind = WEFT_FIELD_BLOB}};

endurance_kinds endurance_register(weft_world *world)
{
    static const char *const tags[ENDURANCE_TAGS] = {"T0", "T1", "T2"};
    endurance_kinds k = {.parent = weft_component_parent(world),
                         .linked = weft_component_linked_group(world),
                         .section = weft_component_section(world)};
    weft_component_instance_of(world);
    k.seed = weft_component_create_plain(world, "Seed", 8, 8, 0);
    k.value = weft_component_create_plain(world, "Value", sizeof(endurance_value), 8, 0);
    for (uint32_t i = 0; i < ENDURANCE_TAGS; i++)
        k.tag[i] = weft_component_create_plain(world, tags[i], i % 2 ? 8 : 0, i % 2 ? 8 : 1, 0);
    k.share = weft_component_create_plain(world, "Share", 8, 8, WEFT_SHARED);
    k.lot = weft_component_create_plain(world, "Lot", 8, 8, WEFT_CHUNK);
    k.trail = weft_component_create(
        world, &(weft_component_desc){
                   .name = "Trail", .size = 8, .flags = WEFT_BUFFER, .buffer_capacity = 4});
    k.rare = weft_component_create_plain(world, "Rare", 8, 8, WEFT_SPARSE);
    k.lever = weft_component_create_plain(world, "Lever", 4, 4, WEFT_ENABLEABLE);
    k.debt = weft_component_create_plain(world, "Debt", 8, 8, WEFT_CLEANUP);
    k.story = weft_component_create(world, &(weft_component_desc){.name = "Story",
                                                                  .size = sizeof(endurance_story),
                                                                  .fields = story_fields,
                                                                  .field_count = 1});
    k.spin = weft_component_create(world, &(weft_component_desc){.type = &spin_type});
    k.total = weft_component_create_plain(world, "Total", 8, 8, WEFT_RESOURCE);
    return k;
}

/* ---- systems ---- */

/* A newborn: its own seed, and one of the kinds. */
static void be_born(const endurance *e, weft_recorder *commands, weft_entity parent, uint64_t draw)
{
    const endurance_kinds *k = &e->kinds;
    const endurance_seed seed = {draw * 3};
    const weft_entity child = weft_recorder_create_entity(commands, e->plain);
    weft_recorder_set(commands, child, k->seed, &seed, sizeof seed);
    switch (draw >> 40 & 7) {
    case 0:
        weft_recorder_set(commands, child, k->parent, &parent, sizeof parent);
        break;
    case 1:
        weft_recorder_set(commands, child, k->rare, &draw, sizeof draw);
        break;
    case 2:
        weft_recorder_add(commands, child, k->debt);
        break;
    case 3:
        weft_recorder_append(commands, child, k->trail, &draw, 1);
        break;
    case 4:
        weft_recorder_add(commands, child, k->lever);
        weft_recorder_enable(commands, child, k->lever, (draw & 1 << 20) != 0);
        break;
    case 5: {
        char name[32];
        snprintf(name, sizeof name, "born %016llx", (unsigned long long)draw);
        weft_recorder_set_name(commands, child, name);
        break;
    }
    default:
        break;
    }
}

static void live(weft_slice *slice, void *user)
{
    const endurance *e = user;
    endurance_seed *seeds = weft_slice_write(slice, 0);
    const weft_entity *entities = weft_slice_entities(slice);
    weft_recorder *commands = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        const uint64_t draw = weft_stress_random(&seeds[i].state);
        const weft_component tag = e->kinds.tag[(draw >> 32) % ENDURANCE_TAGS];
        const uint32_t choice = draw % 1024;
        if (choice < 4) {
            be_born(e, commands, entities[i], draw);
        } else if (choice < 4 + e->death) {
            weft_recorder_destroy_entity(commands, entities[i]);
        } else if (choice < 16) {
            weft_recorder_add(commands, entities[i], tag);
        } else if (choice < 22) {
            weft_recorder_remove(commands, entities[i], tag);
        } else if (choice < 24) {
            const uint64_t share = (draw >> 20) % ENDURANCE_SHARES;
            weft_recorder_set_shared(commands, entities[i], e->kinds.share, &share);
        }
    }
}

static void move(weft_slice *slice, void *user)
{
    endurance_value *values = weft_slice_write(slice, 0);
    const endurance_seed *seeds = weft_slice_read(slice, 1);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        for (uint32_t k = 0; k < 3; k++)
            values[i].at[k] += 1e-3 * (double)(seeds[i].state >> (8 * k) & 255);
}

/* Buffers grow, spill, and are trimmed. */
static void trail(weft_slice *slice, void *user)
{
    const weft_buffers trails = weft_slice_write_buffers(slice, 0);
    const endurance_seed *seeds = weft_slice_read(slice, 1);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        const uint64_t draw = seeds[i].state;
        if (draw % 16 != 0) continue;
        if (weft_buffers_length(&trails, i) > 12) {
            weft_buffers_resize(&trails, i, 0);
            weft_buffers_reserve(&trails, i, 0);
        }
        weft_buffers_append(&trails, i, &draw, 1);
    }
}

/* Residues pay their debt and are gone. */
static void pay(weft_slice *slice, void *user)
{
    const endurance *e = user;
    weft_recorder *commands = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        weft_recorder_remove(commands, weft_slice_entities(slice)[i], e->kinds.debt);
}

static void sum(weft_slice *slice, void *user)
{
    const endurance *e = user;
    uint64_t *total = weft_slice_write_resource(slice, e->kinds.total);
    const endurance_seed *seeds = weft_slice_read(slice, 0);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) *total += seeds[i].state;
}

static void read_values(weft_slice *slice, void *user)
{
    const endurance_value *values = weft_slice_read(slice, 0);
    double all = 0;
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) all += values[i].at[0];
    if (all < 0) abort(); /* values only grow */
}

/* Alone in the world: some of the oldest get another Rare, others lose it. */
static void alone(weft_slice *slice, void *user)
{
    const endurance *e = user;
    weft_world *world = weft_slice_world(slice);
    weft_entity some[64];
    const uint64_t count = weft_query_entities(world, e->people, some, 64);
    for (uint64_t i = 0; i < 64 && i < count; i++) {
        if (i % 2 == 0) {
            weft_entity_set(world, some[i], e->kinds.rare, &i, sizeof i);
        } else {
            weft_entity_remove(world, some[i], e->kinds.rare);
        }
    }
}

static void nothing(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
}

static bool systems_make(endurance *e)
{
    const endurance_kinds *k = &e->kinds;
    const weft_system_desc list[] = {
        {.name = "live",
         .run = live,
         .effects = WEFT_RECORDS_ANY,
         .over.rows.terms = {{k->seed, WEFT_WRITE}}},
        {.name = "move", .run = move, .over.rows.terms = {{k->value, WEFT_WRITE}, {k->seed}}},
        {.name = "trail", .run = trail, .over.rows.terms = {{k->trail, WEFT_WRITE}, {k->seed}}},
        {.name = "pay",
         .run = pay,
         .effects = WEFT_RECORDS_ANY,
         .over.rows.terms = {{k->debt}, {k->seed, WEFT_NO_ACCESS, WEFT_ABSENT, 0}}},
        {.name = "sum",
         .run = sum,
         .flags = WEFT_SYSTEM_SERIAL,
         .group = "slow",
         .period = 0.02f,
         .over.rows.terms = {{k->seed}, {k->tag[0], WEFT_NO_ACCESS}},
         .resources = {{k->total, WEFT_WRITE}}},
        {.name = "read",
         .run = read_values,
         .flags = WEFT_SYSTEM_BACKGROUND,
         .over.rows.terms = {{k->value}}},
        {.name = "alone", .run = alone, .flags = WEFT_SYSTEM_EXCLUSIVE, .period = 0.1f},
        {.name = "timer", .run = nothing, .flags = WEFT_SYSTEM_TIMER},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        weft_system_desc desc = list[i];
        desc.user = e;
        if (weft_system_create(e->world, &desc).id != 0) continue;
        endurance_fail(e, "system %s: %s", desc.name, weft_world_error(e->world)->text);
        return false;
    }
    e->timer = weft_system_find(e->world, "timer");
    return true;
}

/* What observers do with each entity: nothing that the world shows, but memory of theirs. */
static void observe(const weft_observation *observation, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < observation->count; i++)
        (void)weft_entity_is_alive(observation->world, observation->entities[i]);
}

static bool observers_make(endurance *e)
{
    const weft_observer_desc list[] = {
        {.name = "added",
         .on = WEFT_ON_ADDED,
         .component = e->kinds.tag[1],
         .run = observe,
         .is_parallel = true},
        {.name = "gone", .on = WEFT_ON_DESTROYED, .component = e->kinds.seed, .run = observe},
        {.name = "turned", .on = WEFT_ON_CHANGED, .component = e->kinds.spin, .run = observe},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (weft_observer_create(e->world, &list[i]).id != 0) continue;
        endurance_fail(e, "observer %s: %s", list[i].name, weft_world_error(e->world)->text);
        return false;
    }
    return true;
}

/* ---- entities ---- */

typedef struct tale {
    uint64_t number, words[32];
} tale;
static const weft_blob_type tale_type = WEFT_BLOB_TYPE_PLAIN(tale);
static const weft_blob_type *const tale_types[] = {&tale_type};
const weft_load_desc endurance_loads = {.blob_types = tale_types, .blob_type_count = 1};

weft_blob_ref endurance_story_make(endurance *e, weft_world *world, uint64_t number)
{
    weft_blob_ref ref = {0};
    weft_blob_builder *builder;
    weft_blob_store *store = weft_world_blobs(world);
    if (!endurance_ok(e, world, weft_blob_builder_create(store, &tale_type, 0, &builder), "blob"))
        return ref;
    tale *t = weft_blob_builder_root(builder);
    t->number = number;
    endurance_ok(e, world, weft_blob_builder_finish(builder, &ref), "end of a blob");
    weft_blob_builder_destroy(builder);
    return ref;
}

size_t endurance_story_write(weft_blob_ref blob, char *text, size_t capacity, void *user)
{
    const endurance *e = user;
    const tale *t = weft_blob_read(weft_world_blobs(e->world), blob, &tale_type);
    return (size_t)snprintf(text, capacity, "%llu", t ? (unsigned long long)t->number : 0);
}

const char *endurance_story_read(const char *word, size_t length, weft_blob_ref *out, void *user)
{
    endurance *e = user;
    char number[24];
    snprintf(number, sizeof number, "%.*s", (int)length, word);
    *out = endurance_story_make(e, e->guest, strtoull(number, NULL, 10));
    return out->id ? NULL : "no blob for it";
}

/* The first slot of the store: a few blobs more, and it is retired. */
static void age_blobs(endurance *e)
{
    weft_blob_store *store = weft_world_blobs(e->world);
    const weft_blob_ref blob = endurance_story_make(e, e->world, UINT64_MAX);
    blob_slot *slot = at_plain(&store->x_segments[0]);
    weft_blob_release(store, blob);
    at_init(&slot->x_state, ((blob.id >> 32 | 0xffff) - 5) << 32);
}

static bool people_make(endurance *e)
{
    static endurance_seed seeds[ENDURANCE_PEOPLE];
    const endurance_kinds *k = &e->kinds;
    e->plain = WEFT_ARCHETYPE(e->world, k->seed, k->value);
    e->people = weft_query_create(e->world, &(weft_query_desc){.terms = {{k->seed}}});
    for (uint32_t i = 0; i < ENDURANCE_PEOPLE; i++) seeds[i].state = weft_stress_random(&e->random);
    weft_result result = weft_entity_create_filled(
        e->world, e->plain, WEFT_VALUES({k->seed, seeds}), ENDURANCE_PEOPLE, NULL);
    if (!endurance_ok(e, e->world, result, "people")) return false;
    result = weft_entity_create_many(e->world, WEFT_ARCHETYPE(e->world, k->story, k->lot),
                                     ENDURANCE_STORIES, e->readers);
    if (!endurance_ok(e, e->world, result, "readers")) return false;
    age_blobs(e);
    for (uint32_t i = 0; i < ENDURANCE_STORIES; i++)
        e->stories[i] = endurance_story_make(e, e->world, e->made++);
    return e->errors == 0;
}

/* A prefab of four: its root, its members, which refer to each other by the group. */
static bool prefab_make(endurance *e)
{
    weft_entity group[4];
    const endurance_kinds *k = &e->kinds;
    weft_world *w = e->world;
    const weft_archetype root = WEFT_ARCHETYPE(w, k->value, k->linked);
    const weft_archetype member = WEFT_ARCHETYPE(w, k->value, k->trail);
    group[0] = weft_entity_create(w, root);
    for (uint32_t i = 1; i < 4; i++) group[i] = weft_entity_create(w, member);
    const weft_buffers list = weft_entity_write_buffer(w, group[0], k->linked);
    e->prefab = group[0];
    return endurance_ok(e, w, weft_buffers_append(&list, 0, group, 4), "linked group") &&
           endurance_ok(e, w, weft_entity_add(w, group[0], weft_component_prefab(w)), "prefab");
}

bool endurance_bed_make(endurance *e)
{
    const weft_world_desc desc = {.name = "endurance", .workers = e->workers};
    const weft_result result = weft_world_create(&desc, &e->world);
    if (result != WEFT_OK) {
        endurance_fail(e, "cannot create a world: %s", weft_result_name(result));
        return false;
    }
    e->kinds = endurance_register(e->world);
    return people_make(e) && prefab_make(e) && systems_make(e) && observers_make(e);
}

/* ---- age ---- */

void endurance_pass(endurance *e, uint32_t versions)
{
    for (uint32_t i = 0; i < 16; i++) {
        weft__front(e->world)->version += versions / 16;
        (void)weft_world_advance_change_version(e->world);
    }
}

/* Indices that die a few times more, and then never live again. */
static void age_entities(endurance *e)
{
    enum { OLD = 64 };
    weft_entity old[OLD];
    weft__directory *directory = &e->world->directory;
    weft__block_table *table = at_plain(&directory->x_table);
    if (!endurance_ok(e, e->world, weft_entity_create_many(e->world, e->plain, OLD, old), "old"))
        return;
    weft_entity_destroy_many(e->world, old, OLD);
    for (uint32_t i = 0; i < OLD; i++) {
        const uint32_t index = weft_entity_index(old[i]);
        weft__entity_block *block = at_plain(&table->x_blocks[index / WEFT__BLOCK_SLOTS]);
        at_init(&block->x_slots[index % WEFT__BLOCK_SLOTS],
                (uint64_t)(WEFT__VERSION_LAST - 1 - 2 * (i % 8)) << 32);
    }
}

void endurance_age(endurance *e)
{
    age_entities(e);
    /* A query and a system come and go: their places have five handles left. */
    const weft_query query =
        weft_query_create(e->world, &(weft_query_desc){.terms = {{e->kinds.debt}}});
    weft__query_handle *place =
        e->world->front.queries->handles.at[query.id & WEFT__QUERY_INDEX_MASK];
    weft_query_destroy(e->world, query);
    place->generation = WEFT__QUERY_GENERATION_LAST - 5;
    const weft_system system =
        weft_system_create(e->world, &(weft_system_desc){.name = "old", .run = nothing});
    weft_system_destroy(e->world, system);
    weft__scheduler *scheduler = weft__scheduler_of(e->world);
    for (uint32_t i = 0; i < scheduler->system_capacity; i++)
        if (scheduler->systems[i] == NULL && scheduler->generations[i] != 0)
            scheduler->generations[i] = UINT16_MAX - 5;
    /* Change versions wrap within the first steps. */
    while (weft_world_change_version(e->world) < UINT32_MAX - (1u << 28))
        endurance_pass(e, 1u << 27);
    endurance_pass(e, UINT32_MAX - weft_world_change_version(e->world) - 20000);
}
