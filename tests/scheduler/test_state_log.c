/* SPDX-License-Identifier: MIT */
/* test_state_log.c: the state log: the same lines for any number of workers, lines per row when
 * they are asked for, and what it does when it cannot be written. */
#include "systems_bed.h"

#include <weft/snapshot.h>
#include <weft/state_log.h>

#include <stdio.h>
#include <stdlib.h>

/* A log in memory. Owner: one test. */
typedef struct text {
    char *bytes;
    size_t count;
    weft_result result; /* of the writer */
} text;

static weft_result keep(void *user, const void *bytes, size_t count)
{
    text *log = user;
    log->bytes = realloc(log->bytes, log->count + count + 1);
    CHECK(log->bytes != NULL);
    memcpy(log->bytes + log->count, bytes, count);
    log->count += count;
    log->bytes[log->count] = '\0';
    return log->result;
}

static void mix_values(weft_slice *s, void *user)
{
    (void)user;
    uint32_t *a = weft_slice_write(s, 0);
    for (uint32_t i = 0; i < s->count; i++)
        a[i] = a[i] * 31 + weft_slice_entities(s)[i].index % 1000;
}

static void drop_some(weft_slice *s, void *user)
{
    (void)user;
    const uint32_t *a = weft_slice_read(s, 0);
    for (uint32_t i = 0; i < s->count; i++)
        if (a[i] % 97 == 1)
            weft_recorder_remove(weft_slice_recorder(s), weft_slice_entities(s)[i], t.b);
}

static void make_systems(void)
{
    make(&(weft_system_desc){
        .name = "mix\tvalues", .run = mix_values, .over.rows.terms = {{t.a, WEFT_WRITE, 0, 0}}});
    make(&(weft_system_desc){.name = "drop",
                             .run = drop_some,
                             .over.rows.terms = {{t.a, WEFT_READ, 0, 0}, {t.b, 0, 0, 0}},
                             .effects = WEFT_RECORDS_REMOVE,
                             .records = {t.b}});
}

/* Three steps on some workers, logged. */
static text log_of(uint32_t workers, uint64_t rows_first, uint64_t rows_last)
{
    text log = {NULL, 0, WEFT_OK};
    begin(workers);
    make_systems();
    CHECK_OK(weft_state_log_begin(t.world, &(weft_state_log_desc){.writer = {keep, &log},
                                                                  .rows_first = rows_first,
                                                                  .rows_last = rows_last}));
    for (int i = 0; i < 3; i++) CHECK_OK(weft_world_step(t.world, 1));
    CHECK_OK(weft_state_log_end(t.world));
    CHECK_OK(weft_world_step(t.world, 1)); /* not logged */
    end();
    return log;
}

static uint32_t count_of(const text *log, const char *word)
{
    uint32_t count = 0;
    for (const char *at = log->bytes; (at = strstr(at, word)) != NULL; at++) count++;
    return count;
}

PLAIN_TEST(the_log_does_not_depend_on_workers)
{
    text one = log_of(1, 0, 0), three = log_of(3, 0, 0);
    CHECK_TEXT(three.bytes, one.bytes);
    CHECK_U64(count_of(&one, "\nS\t"), 3);
    CHECK_U64(count_of(&one, "\nE\t"), 3);
    CHECK_U64(count_of(&one, "\nR\t"), 0);
    CHECK(count_of(&one, "\nC\t1\tdrop\t") > 0);
    free(one.bytes);
    free(three.bytes);
}

PLAIN_TEST(rows_and_commands_of_the_steps_asked_for_have_lines)
{
    text log = log_of(3, 2, 2);
    CHECK_U64(count_of(&log, "\nR\t"), ROWS);
    CHECK(count_of(&log, "\tremove\tb\t") > 0);
    CHECK(count_of(&log, "\nV\t") >= ROWS);
    free(log.bytes);
}

PLAIN_TEST(a_tab_in_a_name_does_not_cut_a_line)
{
    text log = log_of(1, 0, 0);
    CHECK(strstr(log.bytes, "\nW\t0\tmix values\ta\t3000\t") != NULL);
    free(log.bytes);
}

/* ---- what is known of slices ---- */

static weft_component on; /* ENABLEABLE */
static weft_archetype pair;

static void look(weft_slice *s, void *user)
{
    (void)user;
    uint32_t *value = weft_slice_write_entity(s, t.rows[1234], t.b);
    if (value != NULL) *value += 3;
    *(uint32_t *)weft_slice_write_resource(s, t.resource) += 1;
}

/* What the host does between two steps. */
static void meddle(uint32_t step, weft_snapshot **snapshot)
{
    uint32_t *value = weft_entity_write(t.world, t.rows[7 * step], t.a);
    if (value != NULL) *value += step;
    CHECK_OK(weft_entity_set_shared(t.world, t.rows[2000 + step], t.shared, &(uint32_t){step % 2}));
    CHECK_OK(weft_entity_enable(t.world, t.rows[100 * step], on, step % 3 == 0));
    if (step % 4 == 1) CHECK_OK(weft_entity_destroy(t.world, weft_entity_create(t.world, pair)));
    if (step % 4 == 2) CHECK_OK(weft_entity_set_name(t.world, t.rows[step], "named"));
    if (step == 3) CHECK_OK(weft_snapshot_take(t.world, NULL, snapshot));
    if (step == 6 || step == 9) CHECK_OK(weft_snapshot_restore(t.world, *snapshot));
}

/* Ends the world of a log, and takes the lines that begin logs out of it. */
static void end_of(const text *log)
{
    end();
    char *to = log->bytes;
    for (char *line = log->bytes, *next; line != NULL && *line != '\0'; line = next) {
        next = strchr(line, '\n') + 1;
        if (line[0] == 'w') continue;
        memmove(to, line, (size_t)(next - line));
        to += next - line;
    }
    *to = '\0';
}

/* Twelve steps; `is_cold`: a log for each, which knows nothing of the last. */
static text log_of_changes(uint32_t workers, bool is_cold)
{
    text log = {NULL, 0, WEFT_OK};
    const weft_state_log_desc desc = {.writer = {keep, &log}};
    weft_snapshot *snapshot = NULL;
    begin(workers);
    on = weft_component_create_plain(t.world, "on", 4, 4, WEFT_ENABLEABLE);
    pair = weft_archetype_create(t.world, (weft_component[]){t.a, t.b}, 2);
    for (uint32_t i = 0; i < ROWS; i += 50) CHECK_OK(weft_entity_add(t.world, t.rows[i], on));
    make_systems();
    make(&(weft_system_desc){.name = "look",
                             .run = look,
                             .lookups = {{t.b, WEFT_WRITE}},
                             .resources = {{t.resource, WEFT_WRITE}}});
    CHECK_OK(weft_state_log_begin(t.world, &desc));
    for (uint32_t step = 0; step < 12; step++) {
        CHECK_OK(weft_world_step(t.world, 1));
        if (is_cold) CHECK_OK(weft_state_log_end(t.world));
        meddle(step, &snapshot);
        if (is_cold) CHECK_OK(weft_state_log_begin(t.world, &desc));
    }
    CHECK_OK(weft_state_log_end(t.world));
    weft_snapshot_destroy(snapshot);
    end_of(&log);
    return log;
}

PLAIN_TEST(what_is_known_of_slices_is_what_they_hold)
{
    for (uint32_t workers = 1; workers <= 3; workers += 2) {
        text warm = log_of_changes(workers, false), cold = log_of_changes(workers, true);
        CHECK_TEXT(warm.bytes, cold.bytes);
        CHECK_U64(count_of(&warm, "\nE\t"), 12);
        free(warm.bytes);
        free(cold.bytes);
    }
}

/* Two futures of one moment that write and move rows at the same versions. */
static text log_of_futures(bool is_cold)
{
    text log = {NULL, 0, WEFT_OK};
    const weft_state_log_desc desc = {.writer = {keep, &log}};
    weft_snapshot *snapshot = NULL;
    begin(1);
    make_systems();
    CHECK_OK(weft_state_log_begin(t.world, &desc));
    CHECK_OK(weft_world_step(t.world, 1));
    CHECK_OK(weft_snapshot_take(t.world, NULL, &snapshot));
    uint32_t end = weft_world_change_version(t.world) + 3;
    for (uint32_t future = 0; future < 2; future++) {
        if (future == 1) CHECK_OK(weft_snapshot_restore(t.world, snapshot));
        CHECK_OK(weft_entity_destroy(t.world, t.rows[100 + future]));
        CHECK_OK(weft_entity_set(t.world, t.rows[200], t.b, &future, 4));
        while (weft_world_change_version(t.world) < end) weft_world_advance_change_version(t.world);
        if (is_cold) CHECK_OK(weft_state_log_end(t.world));
        if (is_cold) CHECK_OK(weft_state_log_begin(t.world, &desc));
        CHECK_OK(weft_world_step(t.world, 1));
        end = weft_world_change_version(t.world); /* the next look sees no lower one */
    }
    CHECK_OK(weft_state_log_end(t.world));
    weft_snapshot_destroy(snapshot);
    end_of(&log);
    return log;
}

PLAIN_TEST(what_is_known_of_one_future_is_not_believed_in_another)
{
    text warm = log_of_futures(false), cold = log_of_futures(true);
    CHECK_TEXT(warm.bytes, cold.bytes);
    free(warm.bytes);
    free(cold.bytes);
}

PLAIN_TEST(a_writer_that_fails_ends_the_log_and_not_the_steps)
{
    text log = {NULL, 0, WEFT_IO};
    begin(1);
    make_systems();
    CHECK_OK(weft_state_log_begin(t.world, &(weft_state_log_desc){.writer = {keep, &log}}));
    CHECK_OK(weft_world_step(t.world, 1));
    const size_t count = log.count;
    CHECK_OK(weft_world_step(t.world, 1));
    CHECK_U64(log.count, count);
    CHECK_RESULT(weft_state_log_end(t.world), WEFT_IO);
    end();
    free(log.bytes);
}

PLAIN_TEST(wrong_calls_are_refused)
{
    text log = {NULL, 0, WEFT_OK};
    const weft_state_log_desc desc = {.writer = {keep, &log}};
    CHECK_RESULT(weft_state_log_begin(NULL, &desc), WEFT_INVALID_ARGUMENT);
    begin(1);
    CHECK_RESULT(weft_state_log_begin(t.world, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_state_log_begin(t.world, &(weft_state_log_desc){0}), WEFT_INVALID_ARGUMENT);
    check_error(WEFT_INVALID_ARGUMENT, "writer");
    CHECK_OK(weft_state_log_end(t.world)); /* there is none */
    CHECK_OK(weft_state_log_begin(t.world, &desc));
    CHECK_RESULT(weft_state_log_begin(t.world, &desc), WEFT_BUSY);
    end(); /* with the world */
    free(log.bytes);
}
