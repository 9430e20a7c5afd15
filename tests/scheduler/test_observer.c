/* SPDX-License-Identifier: MIT */
/* test_observer.c: what observers are told, in which order and rounds, and what they are refused
 * for. Against a naive model: test_observer_random.c. */
#include "check.h"
#include "invariant.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/observer.h>
#include <weft/snapshot.h>
#include <weft/weft.h>

enum { MANY = 20000 };

/* What was told, as text: "name:event:count ". */
typedef struct bed {
    weft_world *world;
    weft_component value, tag, number;
    weft_archetype echoes;
    char text[512];
    uint32_t last; /* of `value` in the first old value */
    weft_entity first;
} bed;

typedef struct listener {
    bed *bed;
    const char *name;
} listener;

static bed bed_open(uint32_t workers)
{
    bed b = {0};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &b.world));
    b.value = weft_component_create_plain(b.world, "value", 4, 4, 0);
    b.tag = weft_component_create_plain(b.world, "tag", 0, 1, 0);
    return b;
}

static void bed_close(const bed *b)
{
    CHECK_OK(weft_world_validate(b->world));
    weft_world_destroy(b->world);
}

static void note(const weft_observation *o, void *user)
{
    const listener *l = user;
    bed *b = l->bed;
    size_t used = strlen(b->text);
    snprintf(b->text + used, sizeof b->text - used, "%s:%u ", l->name, o->count);
    b->last = o->values == NULL ? 0 : *(const uint32_t *)o->values;
    b->first = o->entities[0];
}

static weft_observer listen(listener *l, uint32_t on, weft_component component)
{
    weft_observer made = weft_observer_create(
        l->bed->world,
        &(weft_observer_desc){
            .name = l->name, .on = on, .component = component, .run = note, .user = l});
    CHECK(made.id != 0);
    return made;
}

static void told(bed *b, const char *expected)
{
    CHECK_OK(weft_observers_run(b->world));
    CHECK_TEXT(b->text, expected);
    b->text[0] = '\0';
}

Test(observer, a_cleanup_component_is_told_when_the_residue_loses_it)
{
    bed b = bed_open(1);
    weft_component kept = weft_component_create_plain(b.world, "kept", 4, 4, WEFT_CLEANUP);
    listener l[] = {{&b, "any"}, {&b, "value"}, {&b, "kept"}, {&b, "removed"}};
    listen(&l[0], WEFT_ON_DESTROYED, (weft_component){0});
    listen(&l[1], WEFT_ON_DESTROYED, b.value);
    listen(&l[2], WEFT_ON_DESTROYED, kept);
    listen(&l[3], WEFT_ON_REMOVED, kept);
    weft_entity e = weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.value, kept));
    CHECK_OK(weft_entity_set(b.world, e, kept, &(uint32_t){7}, 4));
    told(&b, "");
    CHECK_OK(weft_entity_destroy(b.world, e));
    told(&b, "any:1 value:1 ");
    CHECK_OK(weft_entity_remove(b.world, e, kept));
    told(&b, "kept:1 removed:1 ");
    CHECK_U64(b.last, 7);
    told(&b, "");
    bed_close(&b);
}

static weft_recorder *kept_recorder;

static void keep_recorder(const weft_observation *o, void *user)
{
    kept_recorder = o->commands;
    CHECK_OK(weft_recorder_add(kept_recorder, o->entities[0], *(const weft_component *)user));
}

Test(observer, a_recorder_that_an_observer_kept_is_refused_in_checked_builds)
{
    bed b = bed_open(1);
    weft_observer_desc desc = {.name = "keeper",
                               .on = WEFT_ON_ADDED,
                               .component = b.value,
                               .run = keep_recorder,
                               .user = &b.tag};
    CHECK(weft_observer_create(b.world, &desc).id != 0);
    weft_entity made = weft_entity_create(b.world, weft_archetype_create(b.world, &b.value, 1));
    CHECK_OK(weft_observers_run(b.world));
    CHECK(weft_entity_has(b.world, made, b.tag));
    if (WEFT_IS_CHECKED) {
        CHECK_RESULT(weft_recorder_remove(kept_recorder, made, b.tag), WEFT_WRONG_PHASE);
        CHECK_RESULT(weft_world_step(b.world, 0), WEFT_WRONG_PHASE);
        CHECK(strstr(weft_world_error(b.world)->text, "after the callback") != NULL);
        CHECK(weft_entity_has(b.world, made, b.tag));
    }
    bed_close(&b);
}

static void count_slice(weft_slice *s, void *user)
{
    *(uint32_t *)user += s->count;
}

/* Release builds take it. Its key is that of no system: there is none at all, then another one. */
Test(observer, what_is_recorded_after_an_observer_is_played_and_counted_for_no_system)
{
    bed b = bed_open(1);
    uint32_t seen = 0;
    weft_system_stats stats;
    const weft_observer_desc desc = {.name = "keeper",
                                     .on = WEFT_ON_ADDED,
                                     .component = b.value,
                                     .run = keep_recorder,
                                     .user = &b.tag};
    CHECK(weft_observer_create(b.world, &desc).id != 0);
    weft_entity made = weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.value));
    CHECK_OK(weft_observers_run(b.world));
    if (!WEFT_IS_CHECKED) {
        CHECK_OK(weft_recorder_remove(kept_recorder, made, b.tag));
        CHECK_OK(weft_world_step(b.world, 0));
        CHECK(!weft_entity_has(b.world, made, b.tag));
        const weft_system_desc other = {.name = "other",
                                        .run = count_slice,
                                        .user = &seen,
                                        .over.rows.terms = {{b.value, WEFT_READ, 0, 0}}};
        const weft_system system = weft_system_create(b.world, &other);
        CHECK_OK(weft_recorder_add(kept_recorder, made, b.tag));
        CHECK_OK(weft_world_step(b.world, 0));
        CHECK(weft_entity_has(b.world, made, b.tag));
        weft_system_stats_get(b.world, system, &stats, sizeof stats);
        CHECK_U64(stats.commands, 0);
        CHECK_U64(seen, 1);
    }
    bed_close(&b);
}

Test(observer, each_event_is_told_once_with_the_values_as_they_were)
{
    bed b = bed_open(1);
    listener l[] = {
        {&b, "added"}, {&b, "removed"}, {&b, "changed"}, {&b, "created"}, {&b, "destroyed"}};
    weft_archetype none = weft_archetype_create(b.world, NULL, 0);
    weft_entity old = weft_entity_create(b.world, none);
    for (uint32_t i = 0; i < 5; i++) listen(&l[i], WEFT_ON_ADDED + i, b.value);
    told(&b, "");
    weft_entity fresh = weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.value));
    WEFT_SET(b.world, old, b.value, uint32_t, {5});
    told(&b, "added:2 created:1 ");
    CHECK(weft_entity_equal(b.first, fresh));
    told(&b, "");
    WEFT_SET(b.world, old, b.value, uint32_t, {6});
    told(&b, "changed:1 ");
    CHECK_U64(b.last, 5);
    CHECK_OK(weft_entity_add(b.world, old, b.tag)); /* moves it: nothing is told */
    told(&b, "");
    CHECK_OK(weft_entity_remove(b.world, old, b.value));
    told(&b, "removed:1 ");
    CHECK_U64(b.last, 6);
    CHECK_OK(weft_entity_destroy(b.world, fresh));
    CHECK_OK(weft_entity_destroy(b.world, old));
    told(&b, "removed:1 destroyed:1 ");
    CHECK(weft_entity_equal(b.first, fresh));
    bed_close(&b);
}

/* The change version stays the same between steps, and goes back with a snapshot. */
Test(observer, versions_that_come_again_hide_no_change)
{
    bed b = bed_open(1);
    listener l = {&b, "changed"};
    weft_entity entity = weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.value));
    listen(&l, WEFT_ON_CHANGED, b.value);
    CHECK_OK(weft_world_step(b.world, 0.1f)); /* rows that came in this version are all compared */
    told(&b, "");
    for (uint32_t i = 1; i < 4; i++) {
        WEFT_SET(b.world, entity, b.value, uint32_t, {i});
        told(&b, "changed:1 ");
        CHECK_U64(b.last, i - 1);
    }
    CHECK_OK(weft_world_step(b.world, 0.1f));
    weft_snapshot *snapshot = NULL;
    CHECK_OK(weft_snapshot_take(b.world, NULL, &snapshot));
    for (uint32_t i = 0; i < 2; i++) {
        WEFT_SET(b.world, entity, b.value, uint32_t, {10 + i});
        CHECK_OK(weft_world_step(b.world, 0.1f));
        CHECK_TEXT(b.text, "changed:1 ");
        CHECK_U64(b.last, 3 + 7 * i);
        b.text[0] = '\0';
        CHECK_OK(weft_world_step(b.world, 0.1f));
        CHECK_OK(weft_snapshot_restore(b.world, snapshot));
    }
    weft_snapshot_destroy(snapshot);
    bed_close(&b);
}

Test(observer, a_handle_used_again_is_removed_and_added)
{
    bed b = bed_open(1);
    listener l[] = {{&b, "added"}, {&b, "removed"}, {&b, "any"}};
    weft_archetype with = WEFT_ARCHETYPE(b.world, b.value);
    weft_entity entity = weft_entity_create(b.world, with);
    listen(&l[0], WEFT_ON_ADDED, b.value);
    listen(&l[1], WEFT_ON_REMOVED, b.value);
    listen(&l[2], WEFT_ON_DESTROYED, (weft_component){0});
    WEFT_SET(b.world, entity, b.value, uint32_t, {3});
    told(&b, "");
    CHECK_OK(weft_entity_destroy(b.world, entity));
    weft_entity next = weft_entity_create(b.world, with);
    CHECK(next.index == entity.index);
    CHECK_OK(weft_observers_run(b.world));
    CHECK_TEXT(b.text, "added:1 removed:1 any:1 ");
    bed_close(&b);
}

Test(observer, they_run_in_their_order)
{
    bed b = bed_open(1);
    listener l[] = {{&b, "one"}, {&b, "two"}, {&b, "zero"}};
    listen(&l[0], WEFT_ON_ADDED, b.value);
    weft_observer two = listen(&l[1], WEFT_ON_ADDED, b.value);
    weft_observer_create(b.world, &(weft_observer_desc){.name = "zero",
                                                        .on = WEFT_ON_ADDED,
                                                        .component = b.value,
                                                        .run = note,
                                                        .user = &l[2],
                                                        .before = "one"});
    weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.value));
    told(&b, "zero:1 one:1 two:1 ");
    CHECK_OK(weft_observer_destroy(b.world, two));
    CHECK_RESULT(weft_observer_destroy(b.world, two), WEFT_BAD_HANDLE);
    weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.value));
    told(&b, "zero:1 one:1 ");
    bed_close(&b);
}

static void add_tags(const weft_observation *o, void *user)
{
    for (uint32_t i = 0; i < o->count; i++)
        CHECK_OK(weft_recorder_add(o->commands, o->entities[i], *(weft_component *)user));
}

static void spawn(weft_slice *slice, void *user)
{
    weft_recorder *commands = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(weft_recorder_create_entity(commands, *(weft_archetype *)user).version != 0);
}

Test(observer, what_they_record_is_the_next_round_of_the_same_step)
{
    bed b = bed_open(1);
    listener l = {&b, "tagged"};
    weft_archetype with = WEFT_ARCHETYPE(b.world, b.value);
    listen(&l, WEFT_ON_ADDED, b.tag);
    weft_observer_create(b.world, &(weft_observer_desc){.name = "tag",
                                                        .on = WEFT_ON_CREATED,
                                                        .component = b.value,
                                                        .run = add_tags,
                                                        .user = &b.tag});
    weft_system_create(b.world, &(weft_system_desc){.name = "spawn",
                                                    .run = spawn,
                                                    .user = &with,
                                                    .effects = WEFT_RECORDS_CREATE,
                                                    .records = {b.value}});
    CHECK_OK(weft_world_step(b.world, 0.1f));
    CHECK_TEXT(b.text, "tagged:3 ");
    CHECK_OK(weft_world_step(b.world, 0.1f));
    CHECK_TEXT(b.text, "tagged:3 tagged:3 ");
    bed_close(&b);
}

static void flip(const weft_observation *o, void *user)
{
    const weft_component *tag = user;
    for (uint32_t i = 0; i < o->count; i++)
        CHECK_OK(o->event == WEFT_ON_ADDED ? weft_recorder_remove(o->commands, o->entities[i], *tag)
                                           : weft_recorder_add(o->commands, o->entities[i], *tag));
}

Test(observer, rounds_that_do_not_end_are_a_cycle_with_its_names)
{
    bed b = bed_open(1);
    const weft_observer_desc off = {
        .name = "off", .on = WEFT_ON_ADDED, .component = b.tag, .run = flip, .user = &b.tag};
    const weft_observer_desc on = {
        .name = "on", .on = WEFT_ON_REMOVED, .component = b.tag, .run = flip, .user = &b.tag};
    weft_observer_create(b.world, &off);
    weft_observer made = weft_observer_create(b.world, &on);
    weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.tag));
    CHECK_RESULT(weft_observers_run(b.world), WEFT_CYCLE);
    const char *text = weft_world_error(b.world)->text;
    CHECK(strstr(text, "8 rounds: off > on > off > on > off > on > off > on") != NULL);
    CHECK_OK(weft_observer_destroy(b.world, made));
    weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.tag));
    CHECK_OK(weft_world_step(b.world, 0.1f));
    bed_close(&b);
}

static void try_change(const weft_observation *o, void *user)
{
    *(weft_result *)user = weft_entity_destroy(o->world, o->entities[0]);
    CHECK_RESULT(weft_observers_run(o->world), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_observer_destroy(o->world, (weft_observer){0}), WEFT_WRONG_PHASE);
    CHECK(weft_entity_read(o->world, o->entities[0], o->component) != NULL);
}

/* Checked builds name the observer. */
static void expect_refused(const bed *b, weft_result result)
{
    CHECK_RESULT(result, WEFT_IS_CHECKED ? WEFT_WRONG_PHASE : WEFT_OK);
    CHECK(strstr(weft_world_error(b->world)->text, "record a command (weft_observation") != NULL);
    if (WEFT_IS_CHECKED)
        CHECK(strstr(weft_world_error(b->world)->text, "observer 'try': weft_entity_destroy") !=
              NULL);
}

Test(observer, they_read_the_world_and_do_not_change_it)
{
    bed b = bed_open(1);
    weft_result result = WEFT_OK;
    weft_observer_create(b.world, &(weft_observer_desc){.name = "try",
                                                        .on = WEFT_ON_ADDED,
                                                        .component = b.value,
                                                        .run = try_change,
                                                        .user = &result});
    weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.value));
    expect_refused(&b, weft_world_step(b.world, 0.1f));
    CHECK_RESULT(result, WEFT_WRONG_PHASE);
    weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.value));
    result = WEFT_OK;
    expect_refused(&b, weft_observers_run(b.world));
    CHECK_RESULT(result, WEFT_WRONG_PHASE);
    bed_close(&b);
}

static void write_entities(const weft_observation *o, void *user)
{
    const bed *b = user;
    uint32_t *value = weft_entity_write(o->world, o->entities[0], b->value);
    CHECK((value != NULL) == WEFT_IS_CHECKED);
    if (value != NULL) *value = 9;
}

Test(observer, a_refused_call_of_an_observer_on_any_worker_is_named)
{
    for (uint32_t workers = 1; workers < 4; workers += 2) {
        bed b = bed_open(workers);
        weft_observer_create(b.world, &(weft_observer_desc){.name = "try",
                                                            .on = WEFT_ON_ADDED,
                                                            .component = b.value,
                                                            .run = write_entities,
                                                            .is_parallel = true,
                                                            .user = &b});
        weft_archetype archetype = WEFT_ARCHETYPE(b.world, b.value);
        CHECK_OK(weft_entity_create_many(b.world, archetype, 9000, NULL));
        weft_result result = weft_world_step(b.world, 0.1f);
        CHECK_RESULT(result, WEFT_IS_CHECKED ? WEFT_WRONG_PHASE : WEFT_OK);
        if (WEFT_IS_CHECKED)
            CHECK(strstr(weft_world_error(b.world)->text,
                         "observer 'try': weft_entity_write was called") != NULL);
        CHECK_OK(weft_world_step(b.world, 0.1f));
        bed_close(&b);
    }
}

Test(observer, restored_snapshots_are_told_as_what_differs)
{
    bed b = bed_open(1);
    listener l[] = {{&b, "added"}, {&b, "removed"}, {&b, "changed"}};
    for (uint32_t i = 0; i < 3; i++) listen(&l[i], WEFT_ON_ADDED + i, b.value);
    weft_archetype with = WEFT_ARCHETYPE(b.world, b.value);
    weft_entity pair[2];
    CHECK_OK(weft_entity_create_many(b.world, with, 2, pair));
    told(&b, "added:2 ");
    weft_snapshot *snapshot = NULL;
    CHECK_OK(weft_snapshot_take(b.world, NULL, &snapshot));
    CHECK_OK(weft_entity_destroy(b.world, pair[0]));
    WEFT_SET(b.world, pair[1], b.value, uint32_t, {4});
    told(&b, "removed:1 changed:1 ");
    CHECK_OK(weft_snapshot_restore(b.world, snapshot));
    told(&b, "added:1 changed:1 ");
    weft_snapshot_destroy(snapshot);
    bed_close(&b);
}

static void set_value(const weft_observation *o, void *user)
{
    const bed *b = user;
    uint32_t value = o->event == WEFT_ON_CREATED ? 1 : 2;
    for (uint32_t i = 0; i < o->count; i++)
        CHECK_OK(weft_recorder_set(o->commands, o->entities[i], b->value, &value, sizeof value));
}

Test(observer, the_commands_of_the_last_one_have_effect)
{
    bed b = bed_open(1);
    weft_observer_create(b.world, &(weft_observer_desc){.name = "one",
                                                        .on = WEFT_ON_CREATED,
                                                        .component = b.value,
                                                        .run = set_value,
                                                        .user = &b});
    weft_observer_create(b.world, &(weft_observer_desc){.name = "two",
                                                        .on = WEFT_ON_ADDED,
                                                        .component = b.value,
                                                        .run = set_value,
                                                        .user = &b});
    weft_entity entity = weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.value));
    CHECK_OK(weft_observers_run(b.world));
    CHECK_U64(*(const uint32_t *)weft_entity_read(b.world, entity, b.value), 2);
    bed_close(&b);
}

Test(observer, a_loaded_world_is_told_as_added)
{
    bed from = bed_open(1), to = bed_open(1);
    CHECK_OK(
        weft_entity_create_many(from.world, WEFT_ARCHETYPE(from.world, from.value), MANY, NULL));
    weft_world_bytes saved;
    CHECK_OK(weft_world_save_memory(from.world, &saved, NULL));
    listener l[] = {{&to, "added"}, {&to, "created"}};
    listen(&l[0], WEFT_ON_ADDED, to.value);
    listen(&l[1], WEFT_ON_CREATED, (weft_component){0});
    CHECK_OK(weft_world_load_memory(to.world, saved.bytes, saved.count, NULL));
    told(&to, "added:20000 created:20000 ");
    weft_world_bytes_free(from.world, &saved);
    bed_close(&from);
    bed_close(&to);
}

/* Creates an entity for each, from several workers, that names it. */
static void echo(const weft_observation *o, void *user)
{
    const bed *b = user;
    CHECK(o->count <= 4096);
    for (uint32_t i = 0; i < o->count; i++) {
        const uint32_t *number = weft_entity_read(o->world, o->entities[i], b->value);
        weft_entity made = weft_recorder_create_entity(o->commands, b->echoes);
        CHECK_OK(weft_recorder_set(o->commands, made, b->number, number, sizeof *number));
    }
}

/* Echoes are in the order of what they name. */
static void check_echoes(const bed *b)
{
    uint32_t next = 0;
    weft_query all =
        weft_query_create(b->world, &(weft_query_desc){.terms = {{b->number, WEFT_READ}}});
    weft_cursor c = weft_query_begin(b->world, all);
    while (weft_query_next(&c))
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++)
            CHECK_U64(((const uint32_t *)weft_slice_read(&c.slice, 0))[i], next++);
    CHECK_U64(next, MANY);
}

Test(observer, parallel_batches_are_played_in_their_order_by_any_number_of_workers)
{
    uint64_t hashes[3];
    for (uint32_t k = 0; k < 3; k++) {
        bed b = bed_open(k + 1);
        b.number = weft_component_create_plain(b.world, "number", 4, 4, 0);
        b.echoes = WEFT_ARCHETYPE(b.world, b.number);
        weft_observer_create(b.world, &(weft_observer_desc){.name = "echo",
                                                            .on = WEFT_ON_ADDED,
                                                            .component = b.value,
                                                            .run = echo,
                                                            .user = &b,
                                                            .is_parallel = true});
        weft_archetype with = WEFT_ARCHETYPE(b.world, b.value);
        for (uint32_t i = 0; i < MANY; i++) {
            weft_entity entity = weft_entity_create(b.world, with);
            WEFT_SET(b.world, entity, b.value, uint32_t, {i});
        }
        CHECK_OK(weft_world_step(b.world, 0.1f));
        hashes[k] = weft_world_hash(b.world, WEFT_HASH_LAYOUT);
        check_echoes(&b);
        bed_close(&b);
    }
    CHECK_U64(hashes[1], hashes[0]);
    CHECK_U64(hashes[2], hashes[0]);
}

static void read_dead(const weft_observation *o, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < o->count; i++)
        CHECK(weft_entity_read(o->world, o->entities[i], o->component) == NULL);
}

Test(observer, what_several_workers_ask_in_vain_is_no_error_of_the_world)
{
    bed b = bed_open(3);
    weft_observer_create(b.world, &(weft_observer_desc){.name = "read",
                                                        .on = WEFT_ON_DESTROYED,
                                                        .component = b.value,
                                                        .run = read_dead,
                                                        .is_parallel = true});
    CHECK_OK(weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.value), MANY, NULL));
    CHECK_OK(weft_observers_run(b.world));
    weft_query all = weft_query_create(b.world, &(weft_query_desc){0});
    CHECK_OK(weft_query_destroy_entities(b.world, all));
    uint64_t errors = weft_world_error(b.world)->number;
    CHECK_OK(weft_observers_run(b.world));
    CHECK_U64(weft_world_error(b.world)->number, errors);
    bed_close(&b);
}

static void *dirty_allocate(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    void *memory = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    return memory == NULL ? NULL : memset(memory, 0xab, bytes);
}

static void dirty_release(void *user, void *memory, size_t bytes, size_t alignment)
{
    (void)user, (void)bytes, (void)alignment;
    free(memory);
}

/* Nothing kept values when it went: what is told of it is zero, not what memory held. */
Test(observer, what_went_before_values_were_kept_is_zero)
{
    bed b = {0};
    const weft_world_desc desc = {.workers = 1, .allocator = {dirty_allocate, dirty_release, NULL}};
    CHECK_OK(weft_world_create(&desc, &b.world));
    b.value = weft_component_create_plain(b.world, "value", 4, 4, 0);
    listener came = {&b, "came"}, gone = {&b, "gone"};
    listen(&came, WEFT_ON_ADDED, b.value);
    weft_entity e = weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.value));
    CHECK_OK(WEFT_SET(b.world, e, b.value, uint32_t, {7}));
    CHECK_OK(weft_observers_run(b.world));
    CHECK_OK(weft_entity_destroy(b.world, e));
    listen(&gone, WEFT_ON_REMOVED, b.value);
    b.last = 9;
    CHECK_OK(weft_observers_run(b.world));
    CHECK_TEXT(b.text, "came:1 gone:1 ");
    CHECK_U64(b.last, 0);
    bed_close(&b);
}

Test(observer, bad_descriptions_are_refused)
{
    bed b = bed_open(1);
    weft_component list = weft_component_create_plain(b.world, "list", 4, 4, WEFT_BUFFER);
    weft_observer_desc desc = {.name = "x", .on = WEFT_ON_ADDED, .component = list, .run = note};
    CHECK_U64(weft_observer_create(b.world, &desc).id, 0);
    CHECK_RESULT(weft_world_error(b.world)->code, WEFT_TYPE_MISMATCH);
    desc.component = (weft_component){0};
    CHECK_U64(weft_observer_create(b.world, &desc).id, 0);
    CHECK_RESULT(weft_world_error(b.world)->code, WEFT_INVALID_ARGUMENT);
    desc.component = b.tag;
    desc.on = WEFT_ON_CHANGED;
    CHECK_U64(weft_observer_create(b.world, &desc).id, 0);
    desc.on = 9;
    CHECK_U64(weft_observer_create(b.world, &desc).id, 0);
    desc.on = WEFT_ON_ADDED;
    desc.before = "nothing";
    CHECK_U64(weft_observer_create(b.world, &desc).id, 0);
    CHECK_RESULT(weft_world_error(b.world)->code, WEFT_NOT_FOUND);
    desc.before = NULL;
    CHECK(weft_observer_create(b.world, &desc).id != 0);
    CHECK_U64(weft_observer_create(b.world, &desc).id, 0);
    CHECK_RESULT(weft_world_error(b.world)->code, WEFT_ALREADY_EXISTS);
    bed_close(&b);
}
