/* SPDX-License-Identifier: MIT */
/* test_resource_buffer.c: buffers of the world (WEFT_BUFFER | WEFT_RESOURCE): what every holder
 * of a world's values makes of them (hashes, snapshots, files, references), and who may change
 * them. */
#include <weft/snapshot.h>
#include <weft/type.h>
#include <weft/weft.h>

#include "invariant.h"
#include "memory_fault.h"
#include "plain.h"

#include <stddef.h>
#include <string.h>

/* An event of a queue that the world has once. */
typedef struct event {
    uint32_t kind;
    weft_entity at;
} event;

static test_memory memory;
static weft_world *world;
static weft_component events, row, clock_time;
static weft_entity rows[200];

static weft_component events_create(weft_world *of)
{
    static const weft_field fields[] = {
        {.name = "kind", .kind = WEFT_FIELD_U32, .offset = offsetof(event, kind)},
        {.name = "at", .kind = WEFT_FIELD_ENTITY, .offset = offsetof(event, at)}};
    return weft_component_create(of, &(weft_component_desc){.name = "events",
                                                            .size = sizeof(event),
                                                            .alignment = 4,
                                                            .flags = WEFT_BUFFER | WEFT_RESOURCE,
                                                            .buffer_capacity = 4,
                                                            .fields = fields,
                                                            .field_count = 2});
}

static void begin(uint32_t workers)
{
    test_memory_init(&memory);
    weft_world_desc desc = {.workers = workers,
                            .allocator = test_memory_hook(&memory),
                            .entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    CHECK_OK(weft_world_create(&desc, &world));
    events = events_create(world);
    row = weft_component_create_plain(world, "row", 4, 4, 0);
    clock_time = weft_component_create_plain(world, "clock", 8, 8, WEFT_RESOURCE);
    CHECK(events.id != 0 && row.id != 0 && clock_time.id != 0);
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, row), 200, rows));
}

static void end(void)
{
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
    test_memory_fini(&memory);
}

static void append(uint32_t from, uint32_t count)
{
    weft_buffers queue = weft_resource_write_buffer(world, events);
    CHECK_U64(queue.count, 1);
    for (uint32_t i = from; i < from + count; i++)
        CHECK_OK(weft_buffers_append(&queue, 0, &(event){i, rows[i % 200]}, 1));
}

/* Events 0 to count - 1, in order. */
static void check_events(weft_world *of, uint32_t count)
{
    weft_buffers queue = weft_resource_read_buffer(of, weft_component_find(of, "events"));
    CHECK_U64(queue.count, 1);
    CHECK_U64(weft_buffers_length(&queue, 0), count);
    const event *list = weft_buffers_read(&queue, 0);
    for (uint32_t i = 0; i < count; i++) {
        CHECK_U64(list[i].kind, i);
        CHECK(weft_entity_equal(list[i].at, rows[i % 200]));
    }
}

static void check_error(weft_result code, const char *word)
{
    CHECK_RESULT(weft_world_error(world)->code, code);
    if (strstr(weft_world_error(world)->text, word) == NULL)
        CHECK_TEXT(weft_world_error(world)->text, word);
}

static uint64_t hash(weft_world *of)
{
    return weft_world_hash(of, WEFT_HASH_CONTENT) * 3 + weft_world_hash(of, WEFT_HASH_LAYOUT);
}

/* ---- the value ---- */

PLAIN_TEST(it_is_one_buffer_that_grows_out_of_its_block_and_stays_open)
{
    begin(1);
    check_events(world, 0);
    weft_buffers queue = weft_resource_write_buffer(world, events);
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_OK(weft_buffers_append(&queue, 0, &(event){i, rows[i % 200]}, 1));
        if (i == 100) CHECK_OK(weft_entity_add(world, rows[0], weft_component_prefab(world)));
    }
    check_events(world, 1000);
    CHECK(((const weft_buffer *)weft_resource_read(world, events))->heap != NULL);
    CHECK_OK(weft_buffers_resize(&queue, 0, 3));
    CHECK_OK(weft_buffers_reserve(&queue, 0, 0));
    CHECK(((const weft_buffer *)weft_resource_read(world, events))->heap == NULL);
    check_events(world, 3);
    end();
}

PLAIN_TEST(hashes_see_every_element_and_no_spare_room)
{
    begin(1);
    uint64_t empty = hash(world);
    append(0, 3);
    uint64_t three = hash(world);
    CHECK(three != empty);
    append(3, 60); /* on the heap */
    weft_buffers queue = weft_resource_write_buffer(world, events);
    event *list = weft_buffers_write(&queue, 0);
    uint64_t full = hash(world);
    CHECK(full != three);
    list[62].kind++;
    CHECK(hash(world) != full);
    list[62].kind--;
    CHECK_U64(hash(world), full);
    CHECK_OK(weft_buffers_resize(&queue, 0, 3));
    CHECK_U64(hash(world), three); /* with 60 elements of room */
    CHECK_OK(weft_buffers_resize(&queue, 0, 0));
    CHECK_U64(hash(world), empty);
    end();
}

PLAIN_TEST(references_of_its_elements_are_cleared)
{
    begin(1);
    append(0, 50);
    CHECK_OK(weft_entity_destroy(world, rows[7]));
    CHECK_OK(weft_entity_destroy(world, rows[49]));
    uint64_t cleared = 0;
    CHECK_OK(weft_world_clear_references(world, &cleared));
    CHECK_U64(cleared, 2);
    weft_buffers queue = weft_resource_read_buffer(world, events);
    const event *list = weft_buffers_read(&queue, 0);
    for (uint32_t i = 0; i < 50; i++) CHECK(weft_entity_is_null(list[i].at) == (i == 7 || i == 49));
    end();
}

/* ---- snapshots and files ---- */

PLAIN_TEST(snapshots_of_several_moments_hold_their_own_elements)
{
    static const uint32_t counts[] = {0, 2, 300, 5, 4};
    enum { COUNT = sizeof counts / sizeof counts[0] };
    begin(1);
    weft_snapshot *taken[COUNT] = {0};
    uint64_t hashes[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        weft_buffers queue = weft_resource_write_buffer(world, events);
        CHECK_OK(weft_buffers_resize(&queue, 0, 0));
        append(0, counts[i]);
        CHECK_OK(weft_snapshot_take(world, i == 0 ? NULL : taken[i - 1], &taken[i]));
        hashes[i] = hash(world);
    }
    for (uint32_t i = 0; i < 3 * COUNT; i++) { /* back and forth, by other timelines */
        uint32_t k = i * 2 % COUNT;
        append(1000, 9);
        CHECK_OK(weft_entity_add(world, rows[i], weft_component_prefab(world)));
        CHECK_OK(weft_snapshot_restore(world, taken[k]));
        CHECK_U64(hash(world), hashes[k]);
        check_events(world, counts[k]);
        CHECK_OK(weft_world_validate(world));
    }
    for (uint32_t i = 0; i < COUNT; i++) weft_snapshot_destroy(taken[i]);
    end();
}

PLAIN_TEST(a_restore_or_a_take_without_memory_changes_nothing)
{
    begin(1);
    append(0, 40);
    weft_snapshot *before;
    CHECK_OK(weft_snapshot_take(world, NULL, &before));
    append(40, 60);
    uint64_t state = hash(world), refused = 0;
    for (uint64_t k = 1;; k++) {
        test_memory_fail(&memory, k, false);
        weft_result result = weft_snapshot_restore(world, before);
        test_memory_fail(&memory, 0, false);
        if (result == WEFT_OK) break;
        CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        CHECK_U64(hash(world), state);
        check_events(world, 100);
        refused++;
    }
    CHECK(refused >= 3); /* the list, the value, the elements */
    check_events(world, 40);
    state = hash(world);
    refused = 0;
    for (uint64_t k = 1;; k++) {
        weft_snapshot *other = NULL;
        test_memory_fail(&memory, k, false);
        weft_result result = weft_snapshot_take(world, before, &other);
        test_memory_fail(&memory, 0, false);
        weft_snapshot_destroy(other);
        if (result == WEFT_OK) break;
        CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        CHECK_U64(hash(world), state);
        refused++;
    }
    CHECK(refused >= 3);
    weft_snapshot_destroy(before);
    end();
}

/* Loads into a world of its own; knows the type before, or learns it from the file. */
static void check_loaded(const weft_world_bytes *bytes, bool knows_type, uint32_t count)
{
    weft_world *loaded;
    weft_world_desc desc = {.workers = 1,
                            .allocator = test_memory_hook(&memory),
                            .entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    CHECK_OK(weft_world_create(&desc, &loaded));
    if (knows_type) CHECK(events_create(loaded).id != 0);
    CHECK_OK(weft_world_load_memory(loaded, bytes->bytes, bytes->count, NULL));
    CHECK_OK(weft_world_validate(loaded));
    check_events(loaded, count);
    CHECK_U64(hash(loaded), hash(world));
    weft_world_bytes again;
    CHECK_OK(weft_world_save_memory(loaded, &again, NULL));
    CHECK_U64(again.count, bytes->count);
    CHECK(memcmp(again.bytes, bytes->bytes, bytes->count) == 0);
    weft_world_bytes_free(loaded, &again);
    CHECK_OK(weft_world_destroy(loaded));
}

PLAIN_TEST(files_carry_its_elements)
{
    static const uint32_t counts[] = {0, 4, 5, 500};
    for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        begin(1);
        append(0, counts[i]);
        weft_world_bytes bytes;
        CHECK_OK(weft_world_save_memory(world, &bytes, NULL));
        check_loaded(&bytes, true, counts[i]);
        check_loaded(&bytes, false, counts[i]);
        weft_world_bytes_free(world, &bytes);
        end();
    }
}

PLAIN_TEST(a_load_without_memory_leaves_it_empty)
{
    begin(1);
    append(0, 77);
    weft_world_bytes bytes;
    CHECK_OK(weft_world_save_memory(world, &bytes, NULL));
    weft_world *loaded;
    weft_world_desc desc = {.workers = 1,
                            .allocator = test_memory_hook(&memory),
                            .entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    CHECK_OK(weft_world_create(&desc, &loaded));
    weft_component known = events_create(loaded);
    for (uint64_t k = 1;; k++) {
        test_memory_fail(&memory, k, false);
        weft_result result = weft_world_load_memory(loaded, bytes.bytes, bytes.count, NULL);
        test_memory_fail(&memory, 0, false);
        if (result == WEFT_OK) break;
        CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        weft_buffers queue = weft_resource_read_buffer(loaded, known);
        CHECK(queue.count == 1 && weft_buffers_length(&queue, 0) == 0);
    }
    CHECK_OK(weft_world_validate(loaded));
    CHECK_OK(weft_world_destroy(loaded));
    weft_world_bytes_free(world, &bytes);
    end();
}

/* ---- elements that own something ---- */

static int64_t alive;

static void element_construct(void *values, uint32_t count, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < count; i++) ((uint32_t *)values)[i] = 1;
    alive += count;
}
static void element_destruct(void *values, uint32_t count, void *user)
{
    (void)values, (void)user;
    alive -= count;
}
static void element_copy(void *to, const void *from, uint32_t count, void *user)
{
    (void)user;
    memcpy(to, from, count * sizeof(uint32_t));
    alive += count;
}

PLAIN_TEST(hooks_see_every_element_once)
{
    begin(1);
    alive = 0;
    weft_component owners = weft_component_create(
        world, &(weft_component_desc){.name = "owners",
                                      .size = 4,
                                      .flags = WEFT_BUFFER | WEFT_RESOURCE,
                                      .buffer_capacity = 2,
                                      .hooks = {.construct = element_construct,
                                                .destruct = element_destruct,
                                                .copy = element_copy}});
    weft_buffers list = weft_resource_write_buffer(world, owners);
    CHECK_OK(weft_buffers_resize(&list, 0, 10));
    CHECK_I64(alive, 10);
    weft_snapshot *ten;
    CHECK_OK(weft_snapshot_take(world, NULL, &ten));
    CHECK_I64(alive, 20);
    CHECK_OK(weft_buffers_resize(&list, 0, 1));
    CHECK_I64(alive, 11);
    CHECK_OK(weft_snapshot_restore(world, ten));
    CHECK_I64(alive, 20);
    weft_snapshot_destroy(ten);
    CHECK_I64(alive, 10);
    end();
    CHECK_I64(alive, 0);
}

/* ---- systems ---- */

static void push_event(weft_slice *slice, void *user)
{
    (void)user;
    weft_buffers queue = weft_slice_write_resource_buffer(slice, events);
    CHECK_U64(queue.count, 1);
    uint32_t length = weft_buffers_length(&queue, 0);
    CHECK_OK(weft_buffers_append(&queue, 0, &(event){length, rows[length % 200]}, 1));
}

static void sum_events(weft_slice *slice, void *user)
{
    weft_buffers queue = weft_slice_read_resource_buffer(slice, events);
    CHECK_U64(queue.count, 1);
    CHECK_RESULT(weft_buffers_append(&queue, 0, &(event){0}, 1), WEFT_UNDECLARED_ACCESS);
    if (slice->index == 0) *(uint32_t *)user = weft_buffers_length(&queue, 0);
}

static void read_events(weft_slice *slice, void *user)
{
    weft_buffers queue = weft_slice_read_resource_buffer(slice, events);
    CHECK_U64(queue.count, 1);
    if (slice->index == 0) *(uint32_t *)user = weft_buffers_length(&queue, 0);
}

/* A producer, which is serial, then a consumer of many slices that only reads. */
static void systems_create(void (*consumer)(weft_slice *, void *), uint32_t *seen)
{
    weft_system producer = weft_system_create(
        world, &(weft_system_desc){.name = "producer",
                                   .run = push_event,
                                   .flags = WEFT_SYSTEM_SERIAL,
                                   .resources = {{events, WEFT_WRITE}, {clock_time, WEFT_READ}},
                                   .over.rows.terms = {{row, WEFT_READ, 0, 0}}});
    weft_system reader =
        weft_system_create(world, &(weft_system_desc){.name = "consumer",
                                                      .run = consumer,
                                                      .user = seen,
                                                      .resources = {{events, WEFT_READ}},
                                                      .over.rows.terms = {{row, WEFT_READ, 0, 0}}});
    CHECK(producer.id != 0 && reader.id != 0);
}

PLAIN_TEST(systems_that_declare_it_are_ordered_by_it)
{
    uint64_t hashes[2];
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t seen = 0;
        begin(k == 0 ? 1 : 3);
        CHECK_OK(weft_schedule_set(world, &(weft_schedule_desc){.is_always_parallel = k == 1}));
        systems_create(read_events, &seen);
        for (uint32_t step = 1; step <= 20; step++) {
            CHECK_OK(weft_world_step(world, 0));
            weft_buffers queue = weft_resource_read_buffer(world, events);
            CHECK_U64(seen, weft_buffers_length(&queue, 0)); /* all of the producer's */
            CHECK(seen >= step);
        }
        check_events(world, seen);
        hashes[k] = weft_world_hash(world, WEFT_HASH_CONTENT);
        end();
    }
    CHECK_U64(hashes[0], hashes[1]);
}

PLAIN_TEST(a_system_that_declares_reading_cannot_append)
{
    uint32_t seen = 0;
    begin(1);
    systems_create(sum_events, &seen);
    weft_result result = weft_world_step(world, 0);
    if (WEFT_IS_CHECKED) {
        CHECK_RESULT(result, WEFT_UNDECLARED_ACCESS);
        check_error(WEFT_UNDECLARED_ACCESS, "consumer");
        check_error(WEFT_UNDECLARED_ACCESS, "events");
    }
    check_events(world, seen);
    end();
}

static void write_undeclared(weft_slice *slice, void *user)
{
    (void)user;
    weft_buffers queue = weft_slice_write_resource_buffer(slice, events);
    CHECK_U64(queue.writable_count, WEFT_IS_CHECKED ? 0 : 1);
}

PLAIN_TEST(undeclared_access_is_named)
{
    for (uint32_t k = 0; k < 2; k++) {
        begin(1);
        weft_system_desc desc = {.name = "sneak", .run = write_undeclared, .flags = 0};
        if (k == 1) desc.resources[0] = (weft_lookup){events, WEFT_READ};
        CHECK(weft_system_create(world, &desc).id != 0);
        weft_result result = weft_world_step(world, 0);
        if (WEFT_IS_CHECKED) {
            CHECK_RESULT(result, WEFT_UNDECLARED_ACCESS);
            check_error(WEFT_UNDECLARED_ACCESS, "sneak");
            check_error(WEFT_UNDECLARED_ACCESS, "events");
        }
        check_events(world, 0);
        end();
    }
}

PLAIN_TEST(a_system_whose_slices_run_at_once_cannot_write_it)
{
    begin(1);
    weft_system_desc desc = {.name = "rows",
                             .run = push_event,
                             .resources = {{events, WEFT_WRITE}, {clock_time, WEFT_READ}},
                             .over.rows.terms = {{row, WEFT_READ, 0, 0}}};
    CHECK_U64(weft_system_create(world, &desc).id, 0);
    check_error(WEFT_INVALID_ARGUMENT, "SERIAL");
    CHECK_U64(weft_world_error(world)->component.id, events.id);
    weft_system_desc range = desc;
    range.over = (weft_system_over){.kind = WEFT_OVER_COUNT, .count = 10};
    CHECK_U64(weft_system_create(world, &range).id, 0);
    check_error(WEFT_INVALID_ARGUMENT, "SERIAL");
    range.flags = WEFT_SYSTEM_SERIAL;
    CHECK(weft_system_create(world, &range).id != 0);
    weft_system_desc once = desc;
    once.over = (weft_system_over){0};
    once.name = "once";
    CHECK(weft_system_create(world, &once).id != 0);
    uint32_t seen = 0;
    desc.resources[0].access = WEFT_READ;
    desc.name = "readers";
    desc.run = read_events;
    desc.user = &seen;
    CHECK(weft_system_create(world, &desc).id != 0);
    CHECK_OK(weft_world_step(world, 0));
    check_events(world, 11); /* of 10 indices, and of one call */
    CHECK_U64(seen, 11);
    end();
}

static void write_as_owner(weft_slice *slice, void *user)
{
    (void)user;
    CHECK_U64(weft_resource_write_buffer(weft_slice_world(slice), events).writable_count, 0);
}

PLAIN_TEST(the_owners_call_is_refused_while_systems_run)
{
    begin(1);
    CHECK(
        weft_system_create(world, &(weft_system_desc){.name = "owner", .run = write_as_owner}).id !=
        0);
    CHECK_RESULT(weft_world_step(world, 0), WEFT_IS_CHECKED ? WEFT_WRONG_PHASE : WEFT_OK);
    check_error(WEFT_WRONG_PHASE, "weft_resource_write");
    check_events(world, 0);
    end();
}

/* ---- wrong calls ---- */

PLAIN_TEST(wrong_calls_are_refused_and_say_what_to_do)
{
    begin(1);
    weft_component foreign = events;
    foreign.world++;
    append(0, 2);
    CHECK_U64(weft_resource_write_buffer(world, clock_time).count, 0);
    check_error(WEFT_TYPE_MISMATCH, "weft_resource_write_buffer: component \"clock\" is no BUFFER");
    CHECK_U64(weft_resource_read_buffer(world, clock_time).count, 0);
    check_error(WEFT_TYPE_MISMATCH, "weft_resource_read_buffer: component \"clock\" is no BUFFER");
    CHECK_U64(weft_resource_read_buffer(world, row).count, 0);
    check_error(WEFT_TYPE_MISMATCH, "no RESOURCE");
    CHECK_U64(weft_resource_read_buffer(world, foreign).count, 0);
    check_error(WEFT_BAD_HANDLE, "another world");
    CHECK_U64(weft_resource_write_buffer(NULL, events).count, 0);
    CHECK_U64(weft_slice_read_resource_buffer(NULL, events).count, 0);
    CHECK_U64(weft_slice_write_resource_buffer(&(weft_slice){0}, events).count, 0);
    weft_buffers queue = weft_resource_read_buffer(world, events);
    CHECK_RESULT(weft_buffers_append(&queue, 0, &(event){0}, 1), WEFT_UNDECLARED_ACCESS);
    check_error(WEFT_UNDECLARED_ACCESS, "WEFT_WRITE");
    queue = weft_resource_write_buffer(world, events);
    CHECK_RESULT(weft_buffers_append(&queue, 1, &(event){0}, 1), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_buffers_append(&queue, 0, NULL, 1), WEFT_INVALID_ARGUMENT);
    check_events(world, 2);
    end();
}

PLAIN_TEST(it_belongs_to_no_entity)
{
    begin(1);
    event one = {0};
    CHECK_RESULT(weft_entity_add(world, rows[0], events), WEFT_TYPE_MISMATCH);
    check_error(WEFT_TYPE_MISMATCH, "RESOURCE");
    CHECK_RESULT(weft_entity_set(world, rows[0], events, &one, sizeof one), WEFT_TYPE_MISMATCH);
    check_error(WEFT_TYPE_MISMATCH, "weft_resource_write");
    CHECK_U64(weft_archetype_create(world, &events, 1).id, 0);
    check_error(WEFT_TYPE_MISMATCH, "RESOURCE");
    CHECK_U64(weft_entity_write_buffer(world, rows[0], events).count, 0);
    weft_query query =
        weft_query_create(world, &(weft_query_desc){.terms = {{events, WEFT_WRITE, 0, 0}}});
    CHECK_U64(query.id, 0);
    weft_recorder *recorder;
    CHECK_OK(weft_recorder_create(world, &recorder));
    CHECK_RESULT(weft_recorder_append(recorder, rows[0], events, &one, 1), WEFT_TYPE_MISMATCH);
    weft_recorder_destroy(recorder);
    check_events(world, 0);
    end();
}

PLAIN_TEST(it_goes_with_no_other_kind)
{
    static const uint32_t others[] = {WEFT_ENABLEABLE, WEFT_SHARED, WEFT_CHUNK, WEFT_CLEANUP};
    begin(1);
    for (uint32_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        uint32_t flags = WEFT_BUFFER | WEFT_RESOURCE | others[i];
        CHECK_U64(weft_component_create_plain(world, "mixed", 4, 4, flags).id, 0);
        CHECK_RESULT(weft_world_error(world)->code, WEFT_INVALID_ARGUMENT);
    }
    uint32_t kinds = WEFT_BUFFER | WEFT_RESOURCE | WEFT_NOT_HASHED;
    weft_component scratch = weft_component_create_plain(world, "scratch", 4, 4, kinds);
    uint64_t before = hash(world);
    weft_buffers list = weft_resource_write_buffer(world, scratch);
    CHECK_OK(weft_buffers_resize(&list, 0, 100));
    CHECK_U64(hash(world), before);
    weft_component marks = weft_component_create_plain(world, "marks", 0, 1, kinds);
    list = weft_resource_write_buffer(world, marks); /* elements without bytes: a counter */
    CHECK_OK(weft_buffers_resize(&list, 0, 100));
    CHECK_U64(weft_buffers_length(&list, 0), 100);
    end();
}
