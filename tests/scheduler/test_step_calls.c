/* SPDX-License-Identifier: MIT */
/* test_step_calls.c: every public call that changes a world, its queries or its schedule, made
 * against its rule (docs/reference/threads.md, which this program reads): by a system on the owner
 * and on another worker, by a thread that runs no system, while a query is iterated, in an
 * exclusive system, in a hook. Each must be refused (WRONG_PHASE or BUSY, or null where there is no
 * result) and leave the world as it was. The calls: step_calls.h, scene_calls.h. */
#include "invariant.h"
#include "scene_calls.h"
#include "systems_bed.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static calls_room c;
static scene_room documents;
static calls_scratch scratch; /* of who calls */

/* ---- the rules ---- */

static char rules[64 * 1024]; /* threads.md */

static void read_rules(void)
{
    const char *root = getenv("WEFT_SOURCE_DIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/docs/reference/threads.md", root == NULL ? "." : root);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    size_t length = fread(rules, 1, sizeof rules - 1, file);
    CHECK(length > 0 && length < sizeof rules - 1);
    rules[length] = 0;
    fclose(file);
}

/* The rule of a function, which is not ended; NULL: it has none. */
static const char *rule_of(const char *name)
{
    char quoted[128];
    snprintf(quoted, sizeof quoted, "`%s`", name);
    const char *at = strstr(rules, quoted);
    while (at > rules && at[-1] != '\n') at--;
    return at == NULL ? NULL : at + strlen("| ");
}

static bool has_rule(const char *rule, const char *name)
{
    size_t length = strlen(name);
    return strncmp(rule, name, length) == 0 && strncmp(rule + length, " |", 2) == 0;
}

static bool must_refuse(const char *name)
{
    char function[128];
    snprintf(function, sizeof function, "%s", name);
    const char *rule = rule_of(function);
    if (rule == NULL) { /* weft_world_transfer_to, _from */
        *strrchr(function, '_') = 0;
        rule = rule_of(function);
    }
    if (rule == NULL) CHECK_TEXT(name, "a function of threads.md");
    if (has_rule(rule, "owner, outside of hooks")) return true;
    if (has_rule(rule, "owner, between steps")) return scratch.place <= CALLS_IN_EXCLUSIVE;
    if (has_rule(rule, "owner, world idle")) return scratch.place <= CALLS_WHILE_ITERATING;
    if (has_rule(rule, "owner")) return scratch.place <= CALLS_BY_STRANGER;
    CHECK(has_rule(rule, "owner or system")); /* weft_indexed_open, of a query never used */
    return scratch.place == CALLS_IN_SYSTEM;
}

/* Functions of a library beside, whose tests refuse them. */
static const char *const elsewhere[] = {"weft_inspect_start", "weft_inspect_stop",
                                        "weft_inspect_pump"};

enum { ALL_COUNT = CALL_COUNT + SCENE_CALL_COUNT }; /* calls of worlds, then those of scenes */

static const char *name_of(uint32_t call)
{
    return call < CALL_COUNT ? calls[call].name : scene_calls[call - CALL_COUNT].name;
}

static bool is_in_table(const char *name, size_t length)
{
    for (uint32_t i = 0; i < ALL_COUNT; i++)
        if (strncmp(name_of(i), name, length) == 0 &&
            (name_of(i)[length] == 0 || strcmp(name_of(i) + length, "_to") == 0))
            return true;
    for (uint32_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        if (strncmp(elsewhere[i], name, length) == 0 && elsewhere[i][length] == 0) return true;
    return false;
}

PLAIN_TEST(every_function_with_a_rule_of_phases_is_in_the_table)
{
    uint32_t count = 0;
    read_rules();
    for (const char *line = strstr(rules, "\n| owner, "); line != NULL;
         line = strstr(line + 1, "\n| owner, ")) {
        const char *end = strchr(line + 1, '\n');
        for (const char *at = strchr(line + 1, '`'); at != NULL && at < end;) {
            size_t length = strcspn(at + 1, "`");
            char name[128];
            snprintf(name, sizeof name, "%.*s", (int)length, at + 1);
            if (!is_in_table(name, length)) CHECK_TEXT(name, "in the table");
            count++;
            at = strchr(at + length + 2, '`');
        }
    }
    CHECK(count > 80);
}

/* ---- the calls ---- */

/* Each test runs twice: with the calls of the world, and with those of its documents, whose room
 * has made Parent and InstanceOf, which the calls of the world make. */
static bool has_documents;

#define CALLS_TEST(name)                                                                           \
    static void turn_##name(void);                                                                 \
    PLAIN_TEST(name)                                                                               \
    {                                                                                              \
        has_documents = false;                                                                     \
        turn_##name();                                                                             \
        has_documents = true;                                                                      \
        turn_##name();                                                                             \
    }                                                                                              \
    static void turn_##name(void)

static bool refused[ALL_COUNT];
static bool wants_worker; /* the calls are made by another worker, while the owner waits */
static weft_a32 x_done, x_began;

static void make_calls(void)
{
    for (uint32_t i = 0; i < ALL_COUNT; i++) {
        refused[i] = true;
        if ((i >= CALL_COUNT) != has_documents || !must_refuse(name_of(i))) continue;
        refused[i] = has_documents ? scene_calls[i - CALL_COUNT].is_refused(&documents, &scratch)
                                   : calls[i].is_refused(&c, &scratch);
    }
    at_store_rel(&x_done, 1); /* read by the owner, who waits for it */
}

static void caller(weft_slice *slice, void *user)
{
    (void)user;
    bool is_mine = (slice->worker != 0) == wants_worker;
    if (is_mine && at_load_acq(&x_done) == 0) make_calls(); /* one index at a time: see below */
    /* the other worker comes for its index while this one is held up */
    for (uint32_t i = 0; !is_mine && i < 100000 && at_load_acq(&x_done) == 0; i++) sched_yield();
}

static void open_room(void)
{
    read_rules();
    begin(2);
    CHECK(!has_documents || scene_room_open(&documents, t.world, "step_calls.weft"));
    CHECK(calls_room_open(&c, t.world, "step_calls.wss"));
    scratch = (calls_scratch){0};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &scratch.second));
}

static void close_room(void)
{
    CHECK(!has_documents || scene_room_close(&documents));
    CHECK(calls_room_close(&c));
    CHECK_OK(weft_world_destroy(scratch.second));
    end();
}

static void check_table(void)
{
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < ALL_COUNT; i++) {
        if (refused[i]) continue;
        static const char *const places[] = {"a system", "a stranger", "a loop",
                                             "an exclusive system", "a hook"};
        fprintf(stderr, "%s: accepted by %s\n", name_of(i),
                wants_worker ? "another worker" : places[scratch.place]);
        accepted++;
    }
    CHECK_U64(accepted, 0);
}

static void call_in_a_step(uint32_t flags, bool on_worker)
{
    open_room();
    make(&(weft_system_desc){.name = "caller",
                             .run = caller,
                             .over = {.kind = WEFT_OVER_COUNT, .count = flags == 0 ? 2 : 1},
                             .flags = flags});
    wants_worker = on_worker;
    scratch.place = (flags & WEFT_SYSTEM_EXCLUSIVE) != 0 ? CALLS_IN_EXCLUSIVE : CALLS_IN_SYSTEM;
    at_init(&x_done, 0);
    uint64_t before = weft_world_hash(t.world, WEFT_HASH_LAYOUT);
    for (uint32_t step = 0; step < 1000 && at_load_acq(&x_done) == 0; step++)
        weft_world_step(t.world, 0); /* checked builds report the calls */
    CHECK(at_load_acq(&x_done) == 1);
    check_table();
    CHECK_U64(weft_world_hash(t.world, WEFT_HASH_LAYOUT), before);
    CHECK_OK(weft_system_destroy(t.world, weft_system_find(t.world, "caller")));
    CHECK_OK(weft_world_step(t.world, 0));
    close_room();
}

CALLS_TEST(calls_that_change_a_world_are_refused_in_a_system_of_the_owner)
{
    call_in_a_step(WEFT_SYSTEM_MAIN_THREAD, false);
}

CALLS_TEST(calls_that_change_a_world_are_refused_in_jobs_of_the_owner)
{
    call_in_a_step(0, false);
}

CALLS_TEST(calls_that_change_a_world_are_refused_in_jobs_of_other_workers)
{
    call_in_a_step(0, true);
}

CALLS_TEST(calls_between_steps_are_refused_in_an_exclusive_system)
{
    call_in_a_step(WEFT_SYSTEM_EXCLUSIVE, false);
}

static void lets_a_stranger_call(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
    at_store_rel(&x_began, 1); /* the stranger's acquire: systems run */
    while (at_load_acq(&x_done) == 0) sched_yield();
}

static void *stranger(void *unused)
{
    while (at_load_acq(&x_began) == 0) sched_yield();
    make_calls();
    return unused;
}

static void let_a_stranger_call(uint32_t flags)
{
    pthread_t thread;
    open_room();
    make(&(weft_system_desc){.name = "caller",
                             .run = lets_a_stranger_call,
                             .over = {.kind = WEFT_OVER_COUNT, .count = 1},
                             .flags = flags});
    scratch.place = CALLS_BY_STRANGER;
    wants_worker = false;
    at_init(&x_done, 0);
    at_init(&x_began, 0);
    uint64_t before = weft_world_hash(t.world, WEFT_HASH_LAYOUT);
    CHECK(pthread_create(&thread, NULL, stranger, NULL) == 0);
    CHECK_RESULT(weft_world_step(t.world, 0), WEFT_IS_CHECKED ? WEFT_WRONG_PHASE : WEFT_OK);
    if (WEFT_IS_CHECKED) check_error(WEFT_WRONG_PHASE, "by a thread that runs none of its systems");
    CHECK(pthread_join(thread, NULL) == 0);
    check_table();
    CHECK_U64(weft_world_hash(t.world, WEFT_HASH_LAYOUT), before);
    CHECK_OK(weft_system_destroy(t.world, weft_system_find(t.world, "caller")));
    close_room();
}

CALLS_TEST(calls_of_a_thread_that_runs_no_system_are_refused_while_one_runs)
{
    let_a_stranger_call(WEFT_SYSTEM_MAIN_THREAD);
}

/* No phase says that a step goes on, but the thread that is in the world. */
CALLS_TEST(calls_of_another_thread_are_refused_in_an_exclusive_system_of_checked_builds)
{
    if (WEFT_IS_CHECKED) let_a_stranger_call(WEFT_SYSTEM_EXCLUSIVE);
}

/* Neither: a callback of the owner's loop waits for it, on a worker or on the owner. */
CALLS_TEST(calls_of_another_thread_are_refused_in_a_loop_of_checked_builds)
{
    pthread_t thread;
    if (!WEFT_IS_CHECKED) return;
    open_room();
    scratch.place = CALLS_BY_STRANGER;
    wants_worker = false;
    at_init(&x_done, 0);
    at_init(&x_began, 0);
    uint64_t before = weft_world_hash(t.world, WEFT_HASH_LAYOUT);
    uint64_t errors = weft_world_error(t.world)->number;
    CHECK(pthread_create(&thread, NULL, stranger, NULL) == 0);
    CHECK_OK(weft_query_each_parallel(t.world, t.all, lets_a_stranger_call, NULL));
    CHECK(pthread_join(thread, NULL) == 0);
    check_table();
    CHECK_U64(weft_world_error(t.world)->number, errors); /* the record is the owner's */
    CHECK_OK(weft_world_step(t.world, 0));                /* it was no mistake of a step */
    CHECK_U64(weft_world_hash(t.world, WEFT_HASH_LAYOUT), before);
    close_room();
}

CALLS_TEST(calls_on_an_idle_world_are_refused_while_a_query_is_iterated)
{
    open_room();
    scratch.place = CALLS_WHILE_ITERATING;
    wants_worker = false;
    uint64_t before = weft_world_hash(t.world, WEFT_HASH_LAYOUT);
    weft_cursor cursor = weft_query_begin(t.world, c.query);
    CHECK(weft_query_next(&cursor));
    make_calls();
    weft_query_end(&cursor);
    check_table();
    CHECK_U64(weft_world_hash(t.world, WEFT_HASH_LAYOUT), before);
    close_room();
}

static void call_in_hook(weft_world *world, void *user)
{
    (void)world, (void)user;
    make_calls();
}

CALLS_TEST(calls_outside_of_hooks_are_refused_in_a_hook)
{
    weft_world_hook hook = {.stepped = call_in_hook};
    open_room();
    scratch.place = CALLS_IN_HOOK;
    wants_worker = false;
    CHECK_OK(weft_world_hook_add(t.world, &hook));
    CHECK_OK(weft_world_step(t.world, 0));
    check_table();
    CHECK_OK(weft_world_hook_remove(t.world, &hook));
    close_room();
}

/* ---- what the refusals say, and what to do instead ---- */

static void advised(weft_slice *slice, void *user)
{
    (void)user;
    weft_recorder *made = NULL;
    CHECK_RESULT(weft_entity_set_name(t.world, t.rows[0], "at once"), WEFT_WRONG_PHASE);
    check_error(WEFT_WRONG_PHASE, "weft_recorder_set_name");
    CHECK_RESULT(weft_recorder_create(t.world, &made), WEFT_WRONG_PHASE);
    CHECK(made == NULL);
    check_error(WEFT_WRONG_PHASE, "weft_slice_recorder");
    weft_recorder_destroy(c.recorder);
    check_error(WEFT_WRONG_PHASE, "weft_recorder_destroy");
    CHECK_U64(weft_world_advance_change_version(t.world), 0);
    check_error(WEFT_WRONG_PHASE, "between steps");
    CHECK(weft_world_blobs(t.world) == NULL);
    check_error(WEFT_WRONG_PHASE, "before the step");
    weft_recorder *commands = weft_slice_recorder(slice);
    weft_entity entity = weft_recorder_create_entity(commands, c.archetype);
    CHECK_OK(weft_recorder_set_name(commands, entity, "made by a system"));
    CHECK_OK(weft_recorder_set_name(commands, t.rows[0], "a row"));
    CHECK_OK(weft_recorder_set_name(commands, t.rows[1], NULL));
}

/* Sixty-three bytes are kept, and no half of a character. */
static void check_long_names(void)
{
    char name[100];
    memset(name, 'x', sizeof name);
    memcpy(name + 62, "\xc3\xa9", 2);
    name[99] = 0;
    CHECK_OK(weft_recorder_set_name(c.recorder, t.rows[0], name));
    CHECK_OK(weft_recorder_set_name(c.recorder, t.rows[1], name + 40));
    CHECK_OK(weft_recorder_play(c.recorder));
    CHECK_U64(strlen(weft_entity_name(t.world, t.rows[0])), 62);
    CHECK_TEXT(weft_entity_name(t.world, t.rows[1]), name + 40);
}

PLAIN_TEST(refusals_in_a_step_say_what_to_do_and_names_are_recorded)
{
    has_documents = false;
    open_room();
    CHECK_OK(weft_entity_set_name(t.world, t.rows[1], "goes"));
    make(&(weft_system_desc){.name = "advised",
                             .run = advised,
                             .over = {.kind = WEFT_OVER_COUNT, .count = 1},
                             .flags = WEFT_SYSTEM_MAIN_THREAD,
                             .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_ADD});
    weft_world_step(t.world, 0);
    CHECK_TEXT(weft_entity_name(t.world, t.rows[0]), "a row");
    CHECK_TEXT(weft_entity_name(t.world, t.rows[1]), "");
    weft_query only_a = weft_query_create(
        t.world, &(weft_query_desc){.terms = {{t.a, WEFT_READ, WEFT_ALL, 0},
                                              {t.b, WEFT_NO_ACCESS, WEFT_ABSENT, 0}}});
    weft_entity named = weft_query_single(t.world, only_a);
    CHECK_TEXT(weft_entity_name(t.world, named), "made by a system");
    check_long_names();
    CHECK_OK(weft_recorder_add(c.recorder, t.rows[0], t.tag));
    CHECK(weft_world_blobs(t.world) != NULL);
    close_room();
}
