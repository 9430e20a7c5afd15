/* SPDX-License-Identifier: MIT */
/* test_changes.c: what systems see of changes: others' writes and not their own, everything the
 * first time, all since their last run after frames they did not run in. */
#include <weft/weft.h>

#include "check.h"
#include "world_state.h"

#include <criterion/criterion.h>

enum { ROWS = 4096 };

/* `writer` writes every value; `watcher` writes, too, and runs over what changed since its last
 * run; `reader` is one with skips_unchanged. */
typedef struct fixture {
    weft_world *world;
    weft_component value;
    weft_entity entities[ROWS];
    weft_system writer, watcher, reader;
    uint64_t watched, read;
} fixture;

static void touch(weft_slice *slice, void *user)
{
    (void)user;
    int32_t *values = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) values[i]++;
}

static void watch(weft_slice *slice, void *user)
{
    ((fixture *)user)->watched += weft_slice_count(slice);
    touch(slice, user);
}

static void see(weft_slice *slice, void *user)
{
    ((fixture *)user)->read += weft_slice_count(slice);
}

static void open_world(fixture *f)
{
    f->watched = f->read = 0;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 2}, &f->world));
    f->value = weft_component_create_plain(f->world, "value", 4, 4, 0);
    CHECK_OK(
        weft_entity_create_many(f->world, WEFT_ARCHETYPE(f->world, f->value), ROWS, f->entities));
    weft_query changed =
        weft_query_create(f->world, &(weft_query_desc){.terms = {{f->value, WEFT_WRITE}}});
    CHECK_OK(weft_query_filter_changed(f->world, changed, f->value, 0));
    f->writer = weft_system_create(
        f->world, &(weft_system_desc){
                      .name = "writer", .run = touch, .over.rows.terms = {{f->value, WEFT_WRITE}}});
    f->watcher = weft_system_create(
        f->world, &(weft_system_desc){.name = "watcher",
                                      .run = watch,
                                      .user = f,
                                      .flags = WEFT_SYSTEM_SERIAL,
                                      .over = {.kind = WEFT_OVER_QUERY, .query = changed}});
    f->reader = weft_system_create(f->world, &(weft_system_desc){.name = "reader",
                                                                 .run = see,
                                                                 .user = f,
                                                                 .flags = WEFT_SYSTEM_SERIAL,
                                                                 .skips_unchanged = true,
                                                                 .over.rows.terms = {{f->value}}});
    CHECK(f->writer.id != 0 && f->watcher.id != 0 && f->reader.id != 0);
}

/* Steps once, and says how many rows the two saw. */
static void step(fixture *f, uint64_t *watched, uint64_t *read)
{
    f->watched = f->read = 0;
    CHECK_OK(weft_world_step(f->world, 0));
    *watched = f->watched;
    *read = f->read;
}

static void enable(fixture *f, weft_system system, bool enabled)
{
    CHECK_OK(weft_system_enable(f->world, system, enabled));
}

Test(changes, the_first_run_sees_everything_later_ones_what_others_wrote_not_their_own)
{
    static fixture f;
    uint64_t watched, read;
    open_world(&f);
    enable(&f, f.writer, false);
    step(&f, &watched, &read);
    CHECK_U64(watched, ROWS);
    CHECK_U64(read, ROWS);
    step(&f, &watched, &read);
    CHECK_U64(watched, 0); /* its own writes of the first step */
    CHECK_U64(read, 0);    /* seen in the first step: the watcher comes before the reader */
    CHECK(weft_entity_write(f.world, f.entities[3], f.value) != NULL); /* the owner, in between */
    step(&f, &watched, &read);
    CHECK(watched != 0 && watched < ROWS);
    CHECK_U64(read, watched);
    enable(&f, f.writer, true);
    step(&f, &watched, &read);
    CHECK_U64(watched, ROWS);
    CHECK_U64(read, ROWS);
    CHECK_OK(weft_world_destroy(f.world));
}

Test(changes, a_system_that_did_not_run_sees_all_since_its_last_run)
{
    static fixture f;
    uint64_t watched, read;
    open_world(&f);
    step(&f, &watched, &read);
    enable(&f, f.watcher, false);
    enable(&f, f.reader, false);
    step(&f, &watched, &read);
    CHECK_U64(watched + read, 0);
    enable(&f, f.writer, false); /* its writes are three steps old when the others come back */
    step(&f, &watched, &read);
    step(&f, &watched, &read);
    enable(&f, f.watcher, true);
    enable(&f, f.reader, true);
    step(&f, &watched, &read);
    CHECK_U64(watched, ROWS);
    CHECK_U64(read, ROWS);
    step(&f, &watched, &read);
    CHECK_U64(watched + read, 0);
    CHECK_OK(weft_world_destroy(f.world));
}

Test(changes, frames_across_the_wrap_of_versions_see_what_others_do)
{
    static fixture f;
    uint64_t watched, read;
    open_world(&f);
    step(&f, &watched, &read);
    for (uint32_t before = 2; before < 40; before++) { /* the wrap falls between any two systems */
        f.world->front.version = UINT32_MAX / 2; /* so that half of the versions is not exceeded */
        step(&f, &watched, &read);
        f.world->front.version = UINT32_MAX - before;
        step(&f, &watched, &read);
        for (int i = 0; i < 12; i++) {
            step(&f, &watched, &read);
            CHECK_U64(watched, ROWS);
            CHECK_U64(read, ROWS);
        }
        CHECK(weft_world_change_version(f.world) < 100); /* it has wrapped */
    }
    CHECK_OK(weft_world_destroy(f.world));
}

Test(changes, writes_have_the_version_of_the_system_run_not_of_the_moment)
{
    static fixture f;
    uint64_t watched, read;
    open_world(&f);
    enable(&f, f.watcher, false);
    step(&f, &watched, &read);
    uint32_t before = weft_world_change_version(f.world);
    step(&f, &watched, &read);
    /* all slices of the writer, on any worker, are newer than `before` and older than now */
    weft_query since_before = weft_query_create(f.world, &(weft_query_desc){.terms = {{f.value}}});
    weft_query since_now = weft_query_create(f.world, &(weft_query_desc){.terms = {{f.value}}});
    CHECK_OK(weft_query_filter_changed(f.world, since_before, f.value, before));
    CHECK_OK(weft_query_filter_changed(f.world, since_now, f.value,
                                       weft_world_change_version(f.world) - 1));
    CHECK_U64(weft_query_count(f.world, since_before), ROWS);
    CHECK_U64(weft_query_count(f.world, since_now), 0);
    CHECK_OK(weft_world_destroy(f.world));
}
