/* SPDX-License-Identifier: MIT */
/* test_step_errors.c: what a step refuses to systems and conditions that call back on the world,
 * and how the errors of recorded commands reach the caller of the step. */
#include "invariant.h"
#include "systems_bed.h"

#include <weft/observer.h>
#include <weft/snapshot.h>

/* ---- calls back while a step is going on ---- */

static uint32_t call;
static weft_result got;

static void call_scheduler(weft_world *world)
{
    weft_snapshot *snapshot = NULL;
    weft_system own = weft_system_find(world, "x");
    char text[200];
    switch (call) {
    case 0:
        got = weft_world_step(world, 0);
        break;
    case 1:
        got = weft_world_destroy(world);
        break;
    case 2:
        got = weft_system_destroy(world, own);
        break;
    case 3:
        got = weft_system_run(world, own, 0);
        break;
    case 4:
        got = weft_schedule_set(world, &(weft_schedule_desc){0});
        break;
    case 5:
        got = weft_schedule_compile(world);
        break;
    case 6:
        got = weft_snapshot_take(world, NULL, &snapshot);
        break;
    case 7:
        got = weft_group_set(world, &(weft_group_desc){.name = "g"});
        break;
    case 8:
        CHECK(weft_system_create(world, &(weft_system_desc){.name = "y", .run = nothing}).id == 0);
        got = weft_world_error(world)->code;
        break;
    default:
        CHECK(weft_schedule_json(world, text, sizeof text) != 0);
        CHECK(strstr(text, "step is going on") != NULL);
        got = weft_world_error(world)->code;
        break;
    }
}

static void call_in_system(weft_slice *s, void *user)
{
    (void)user;
    weft_world *world = weft_slice_world(s);
    call_scheduler(world);
    CHECK_OK(weft_entity_add(world, t.rows[call], t.tag)); /* structure may change here */
}

static bool call_in_condition(weft_world *world, void *user)
{
    (void)user;
    call_scheduler(world);
    CHECK_U64(weft_query_count(world, t.all), ROWS);
    CHECK_RESULT(weft_entity_add(world, t.rows[100], t.tag), WEFT_WRONG_PHASE);
    check_error(WEFT_WRONG_PHASE, "run condition");
    CHECK_RESULT(weft_system_enable(world, weft_system_find(world, "x"), false), WEFT_WRONG_PHASE);
    return true;
}

static void calls_back(void)
{
    for (uint32_t i = 0; i < 2; i++) {
        weft_a32 x_slices = {0};
        make(SYSTEM_OF(i == 0 ? call_in_system : nothing,
                       .flags = i == 0 ? (uint32_t)WEFT_SYSTEM_EXCLUSIVE : 0,
                       .run_if = i == 0 ? NULL : call_in_condition));
        make(&(weft_system_desc){.name = "after",
                                 .run = add_one,
                                 .user = &x_slices,
                                 .over.rows.terms = {{t.a, WEFT_WRITE, 0, 0}}});
        for (call = 0; call < 10; call++) {
            CHECK_OK(weft_world_step(t.world, 0));
            CHECK_RESULT(got, WEFT_WRONG_PHASE);
            check_values(i * 10 + call + 1); /* the rest of the step ran */
        }
        CHECK_OK(weft_system_destroy(t.world, weft_system_find(t.world, "x")));
        CHECK_OK(weft_system_destroy(t.world, weft_system_find(t.world, "after")));
    }
}

PLAIN_TEST(exclusive_systems_and_conditions_can_neither_step_nor_change_systems_nor_end_the_world)
{
    on_workers(calls_back);
}

/* ---- what callbacks of a step leave open, or write ---- */

static weft_query writing;
static weft_cursor left[2];

/* A loop that reads and one that writes; conditions only get the first. */
static void leave_loops(weft_world *world)
{
    left[0] = weft_query_begin(world, t.all);
    left[1] = weft_query_begin(world, writing);
    CHECK(weft_query_next(&left[0]));
}

static void leave_in_system(weft_slice *s, void *user)
{
    (void)user;
    leave_loops(weft_slice_world(s));
}

static bool leave_in_condition(weft_world *world, void *user)
{
    (void)user;
    leave_loops(world);
    return true;
}

static uint32_t leave_in_range(weft_world *world, void *user)
{
    (void)user;
    leave_loops(world);
    return 1;
}

static void leave_in_observer(const weft_observation *o, void *user)
{
    (void)user;
    leave_loops(o->world);
}

/* The step names what left a loop open; ended late, it takes no protection from another one. */
static void check_left(const char *whose)
{
    CHECK_RESULT(weft_world_step(t.world, 0), WEFT_WRONG_PHASE);
    check_error(WEFT_WRONG_PHASE, whose);
    check_error(WEFT_WRONG_PHASE, "left a loop of weft_query_begin open");
    weft_cursor open = weft_query_begin(t.world, t.all);
    CHECK(weft_query_next(&open) && !weft_query_next(&left[0]));
    for (uint32_t i = 0; i < 2; i++) weft_query_end(&left[i]);
    CHECK_RESULT(weft_entity_destroy(t.world, t.rows[0]), WEFT_WRONG_PHASE);
    check_error(WEFT_WRONG_PHASE, "end the loop");
    weft_query_end(&open);
    CHECK_OK(weft_entity_add(t.world, t.rows[0], t.tag));
    CHECK_OK(weft_entity_remove(t.world, t.rows[0], t.tag));
    weft_system system = weft_system_find(t.world, "x");
    if (system.id != 0) CHECK_OK(weft_system_destroy(t.world, system));
    CHECK_OK(weft_world_step(t.world, 0));
}

static void leaves_loops(void)
{
    writing = weft_query_create(t.world, &(weft_query_desc){.terms = {{t.a, WEFT_WRITE, 0, 0}}});
    make(SYSTEM_OF(leave_in_system, .flags = WEFT_SYSTEM_EXCLUSIVE));
    check_left("system x");
    make(SYSTEM(.run_if = leave_in_condition));
    check_left("run_if of system x");
    make(SYSTEM(.over = {.kind = WEFT_OVER_RANGE, .range = leave_in_range}));
    check_left("range of system x");
    weft_observer_desc observer = {
        .name = "o", .on = WEFT_ON_ADDED, .component = t.tag, .run = leave_in_observer};
    CHECK(weft_observer_create(t.world, &observer).id != 0);
    CHECK_OK(weft_entity_add(t.world, t.rows[7], t.tag));
    check_left("observer o");
}

PLAIN_TEST(a_loop_that_a_callback_of_a_step_leaves_open_is_named_and_ended)
{
    on_workers(leaves_loops);
}

static weft_component buffer;
static uint32_t asked;

/* It may read: each call that would change the world is refused. */
static void write_all(weft_world *world)
{
    weft_entity e = t.rows[1];
    const uint32_t nine = 9;
    weft_indexed indexed;
    asked++;
    CHECK_RESULT(weft_entity_set(world, e, t.a, &nine, 4), WEFT_WRONG_PHASE);
    check_error(WEFT_WRONG_PHASE, "it may read the world, not change it");
    uint32_t *value = weft_entity_write(world, e, t.a);
    if (value != NULL) *value = 9; /* checked builds: memory that stands in */
    CHECK(WEFT_IS_CHECKED || value == NULL);
    value = weft_resource_write(world, t.resource);
    if (value != NULL) *value = 9;
    weft_buffers list = weft_entity_write_buffer(world, e, buffer);
    CHECK(weft_buffers_append(&list, 0, &nine, 1) != WEFT_OK);
    CHECK_RESULT(weft_entity_set_name(world, e, "nine"), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_indexed_open(world, writing, 0, &indexed), WEFT_WRONG_PHASE);
    CHECK_U64(*(const uint32_t *)weft_entity_read(world, e, t.a), 0);
    weft_cursor cursor = weft_query_begin(world, writing);
    CHECK(!weft_query_next(&cursor));
    CHECK_U64(weft_query_count(world, t.all), ROWS);
}

static bool write_in_condition(weft_world *world, void *user)
{
    (void)user;
    write_all(world);
    return true;
}

static uint32_t write_in_range(weft_world *world, void *user)
{
    (void)user;
    write_all(world);
    return 1;
}

static void conditions_write(void)
{
    buffer = weft_component_create_plain(t.world, "buffer", 4, 4, WEFT_BUFFER);
    writing = weft_query_create(t.world, &(weft_query_desc){.terms = {{t.a, WEFT_WRITE, 0, 0}}});
    CHECK_OK(weft_entity_add(t.world, t.rows[1], buffer));
    asked = 0;
    make(SYSTEM(.run_if = write_in_condition,
                .over = {.kind = WEFT_OVER_RANGE, .range = write_in_range}));
    const uint64_t hash = weft_world_hash(t.world, WEFT_HASH_CONTENT);
    CHECK_OK(weft_world_step(t.world, 0));
    CHECK_U64(asked, 2);
    CHECK_U64(weft_world_hash(t.world, WEFT_HASH_CONTENT), hash);
}

PLAIN_TEST(conditions_and_sizes_of_ranges_only_read_the_world)
{
    on_workers(conditions_write);
}

static void switch_off(weft_slice *s, void *user)
{
    (void)user;
    got = weft_system_enable(weft_slice_world(s), weft_system_find(t.world, "x"), false);
}

static void switches(void)
{
    weft_a32 x_slices = {0};
    weft_system_stats stats;
    weft_system own = make(SYSTEM_OF(switch_off, .flags = WEFT_SYSTEM_EXCLUSIVE));
    make(&(weft_system_desc){.name = "after",
                             .run = add_one,
                             .user = &x_slices,
                             .over.rows.terms = {{t.a, WEFT_WRITE, 0, 0}}});
    for (uint32_t i = 1; i <= 3; i++) {
        CHECK_OK(weft_world_step(t.world, 0));
        check_values(i);
    }
    CHECK_OK(got);
    CHECK_OK(weft_system_stats_get(t.world, own, &stats, sizeof stats));
    CHECK_U64(stats.runs, 1); /* once: it switched itself off */
}

PLAIN_TEST(an_exclusive_system_can_switch_itself_off_from_the_next_step_on)
{
    on_workers(switches);
}

static void write_resource(weft_slice *s, void *user)
{
    (void)user;
    uint32_t *value = weft_resource_write(weft_slice_world(s), t.resource);
    CHECK((value != NULL) == WEFT_IS_CHECKED);
    if (value != NULL) *value = 9; /* memory that stands in */
    got = weft_world_error(weft_slice_world(s))->code;
}

PLAIN_TEST(a_resource_is_not_written_through_the_world_while_systems_run)
{
    begin(1);
    make(SYSTEM_OF(write_resource, .flags = WEFT_SYSTEM_MAIN_THREAD));
    CHECK_RESULT(weft_world_step(t.world, 0), WEFT_IS_CHECKED ? WEFT_WRONG_PHASE : WEFT_OK);
    CHECK_U64(*(const uint32_t *)weft_resource_read(t.world, t.resource), 0);
    CHECK_RESULT(got, WEFT_WRONG_PHASE);
    end();
}

/* ---- errors of commands ---- */

static weft_query gone; /* destroyed: a command on it fails when it is played */

static void record_wrong(weft_slice *s, void *user)
{
    const uint32_t *number = user;
    weft_recorder *commands = weft_slice_recorder(s);
    CHECK_OK(weft_recorder_add(commands, t.rows[*number], t.tag));
    if (*number == 1) CHECK_OK(weft_recorder_query_add(commands, gone, t.tag));
    CHECK_OK(weft_recorder_add(commands, t.rows[*number + 10], t.tag));
}

static void failing_playback(void)
{
    static const uint32_t numbers[] = {0, 1, 2};
    static const char *const names[] = {"first", "wrong", "last"};
    weft_a32 x_slices = {0};
    gone = weft_query_create(t.world, &(weft_query_desc){.terms = {{t.b, WEFT_READ, 0, 0}}});
    CHECK_OK(weft_query_destroy(t.world, gone));
    for (uint32_t i = 0; i < 3; i++)
        make(&(weft_system_desc){.name = names[i],
                                 .run = record_wrong,
                                 .user = (void *)(uintptr_t)&numbers[i],
                                 .effects = WEFT_RECORDS_ANY});
    make(&(weft_system_desc){.name = "after",
                             .run = add_one,
                             .user = &x_slices,
                             .over.rows.terms = {{t.a, WEFT_WRITE, 0, 0}}});
    for (uint32_t step = 1; step <= 2; step++) {
        CHECK_RESULT(weft_world_step(t.world, 0), WEFT_BAD_HANDLE);
        check_error(WEFT_BAD_HANDLE, "command query_add");
        check_error(WEFT_BAD_HANDLE, "by system 'wrong'");
        check_values(step); /* later systems run */
        for (uint32_t i = 0; i < 3; i++) {
            CHECK_U64(weft_entity_has(t.world, t.rows[i], t.tag), i < 2);
            CHECK_U64(weft_entity_has(t.world, t.rows[i + 10], t.tag), i < 1);
        }
    }
    CHECK_OK(weft_system_destroy(t.world, weft_system_find(t.world, "wrong")));
    CHECK_OK(weft_world_step(t.world, 0));
    CHECK(weft_entity_has(t.world, t.rows[12], t.tag));
}

PLAIN_TEST(a_command_that_fails_drops_those_after_it_and_nothing_else)
{
    on_workers(failing_playback);
}

/* The first system misuses its recorder in the second slice, the second one in the first slice. */
static void misuse(weft_slice *s, void *user)
{
    const uint32_t *slice = user;
    if (s->index != *slice) return;
    CHECK_RESULT(weft_recorder_set(weft_slice_recorder(s), s->entities[0], t.b, "abc", 3),
                 WEFT_TYPE_MISMATCH);
}

PLAIN_TEST(of_several_refused_commands_the_first_by_order_of_effect_is_reported)
{
    static uint32_t slices[] = {1, 0};
    for (uint32_t fused = 0; fused < 2; fused++) {
        begin(1);
        for (uint32_t i = 0; i < 2; i++)
            make(&(weft_system_desc){.name = i == 0 ? "early" : "late",
                                     .run = misuse,
                                     .user = &slices[i],
                                     .effects = WEFT_RECORDS_ADD,
                                     .records = {t.b},
                                     .over.rows.terms = {{t.a, WEFT_WRITE, WEFT_ALL, 0}}});
        CHECK_OK(weft_schedule_set(t.world, &(weft_schedule_desc){.without_fusion = fused == 0}));
        CHECK_RESULT(weft_world_step(t.world, 0), WEFT_TYPE_MISMATCH);
        check_error(WEFT_TYPE_MISMATCH, "'early' (slice 1)");
        end();
    }
}

/* Fails twice, after a command of another system did; tells the number of the last failure. */
static void fail_twice(weft_slice *s, void *user)
{
    weft_world *world = weft_slice_world(s);
    CHECK_RESULT(weft_query_destroy(world, gone), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_query_destroy(world, gone), WEFT_BAD_HANDLE);
    *(uint64_t *)user = weft_world_error(world)->number;
}

PLAIN_TEST(the_error_of_a_step_is_newer_than_those_of_its_systems)
{
    static const uint32_t wrong = 1;
    uint64_t number = 0;
    begin(1);
    gone = weft_query_create(t.world, &(weft_query_desc){.terms = {{t.b, WEFT_READ, 0, 0}}});
    CHECK_OK(weft_query_destroy(t.world, gone));
    make(&(weft_system_desc){.name = "wrong",
                             .run = record_wrong,
                             .user = (void *)(uintptr_t)&wrong,
                             .effects = WEFT_RECORDS_ANY});
    make(&(weft_system_desc){
        .name = "twice", .run = fail_twice, .user = &number, .flags = WEFT_SYSTEM_EXCLUSIVE});
    CHECK_RESULT(weft_world_step(t.world, 0), WEFT_BAD_HANDLE);
    check_error(WEFT_BAD_HANDLE, "command query_add");
    CHECK(number != 0 && weft_world_error(t.world)->number > number);
    end();
}
