/* SPDX-License-Identifier: MIT */
/* test_live_faults.c: live links without memory, and processes that are killed while they write
 * into a document: what the run knows is not lost, and the file is the old or the new one. */
#include "memory_fault.h"
#include "scene_fixture.h"

#include <weft/live.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- memory ---- */

static const char *const steps[] = {
    "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 2}}, \"b\": {\"Alive\": true}}}",
    "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 3}}, \"c\": {\"transform\": {}, "
    "\"Spawner\": {\"what\": \"/a\"}}}}",
    "{\"weft\": 1, \"prefabs\": {\"p\": {\"Shield\": {\"strength\": 4}}}, \"objects\": {\"a\": "
    "{\"prefab\": \"#p\"}, \"c\": {\"Links\": [{\"to\": \"/a\"}, {}]}}}"};

static void step_check(const cast *c, weft_world *world, weft_live *live, uint32_t step)
{
    weft_entity a = weft_live_entity(live, "a"), b = weft_live_entity(live, "b");
    const Spin *spin = weft_entity_read(world, a, c->spin);
    CHECK_U64(spin != NULL, step < 2);
    if (spin != NULL) CHECK_F64((double)spin->speed, step == 0 ? 2 : 3, 0);
    CHECK_U64(b.version != 0, step == 0);
    CHECK_U64(weft_entity_has(world, a, c->shield), step == 2);
    CHECK_U64(weft_live_entity(live, "c").version != 0, step > 0);
    CHECK_OK(weft_world_validate(world));
}

static void follow(shelf *files, const weft_allocator *hook)
{
    cast c;
    weft_world *world = cast_world(1, &c);
    weft_live *live = NULL;
    const weft_scene_desc scene = {.read = shelf_read, .user = files, .allocator = *hook};
    const weft_live_desc desc = {.scene = &scene,
                                 .paths = (const char *[]){"a.weft"},
                                 .path_count = 1,
                                 .without_thread = true};
    weft_result result;
    shelf_put(files, "a.weft", steps[0]);
    while ((result = weft_live_start(world, &desc, &live)) != WEFT_OK) {
        CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        CHECK(live == NULL);
        CHECK_OK(weft_world_destroy(world)); /* entities that came stay: begin again */
        world = cast_world(1, &c);
    }
    for (uint32_t step = 0; step < 3; step++) {
        shelf_put(files, "a.weft", steps[step]);
        while ((result = weft_live_refresh(live)) != WEFT_OK)
            CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        while ((result = weft_live_apply(live, 0, NULL, 0)) != WEFT_OK)
            CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        step_check(&c, world, live, step);
    }
    weft_live_stop(live);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(refused_memory_delays_what_a_world_follows_and_loses_none_of_it)
{
    bool was_refused = true;
    uint32_t refusals = 0;
    for (uint64_t at = 1; was_refused; at++) {
        static shelf files;
        test_memory memory;
        test_memory_init(&memory);
        weft_allocator hook = test_memory_hook(&memory);
        test_memory_fail(&memory, at, false);
        follow(&files, &hook);
        was_refused = memory.failures != 0;
        refusals += was_refused;
        test_memory_fini(&memory);
    }
    CHECK(refusals > 100);
}

/* ---- edits ---- */

static const char before[] = "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 2}}}}\n";
static const char after[] = "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 43}}}}\n";

/* Edits without end; a byte for each. */
static void edit_always(const char *path, int tell)
{
    cast c;
    weft_world *world = cast_world(1, &c);
    weft_live *live;
    const weft_live_desc desc = {
        .paths = (const char *const *)&path, .path_count = 1, .without_thread = true};
    CHECK_OK(weft_live_start(world, &desc, &live));
    for (uint32_t i = 0;; i++) {
        CHECK_OK(weft_live_edit(live, "a", "Spin.speed", i % 2 == 0 ? "43" : "2"));
        CHECK(write(tell, "", 1) == 1);
    }
}

PLAIN_TEST(a_process_killed_while_it_edits_leaves_the_old_text_or_the_new_one)
{
    char path[64], now[256];
    snprintf(path, sizeof path, "live-killed-%d.weft", (int)getpid());
    for (uint32_t round = 0; round < 12; round++) {
        int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), ends[2];
        CHECK(file >= 0 && write(file, before, sizeof before - 1) == sizeof before - 1);
        close(file);
        CHECK(pipe(ends) == 0);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) edit_always(path, ends[1]);
        for (uint32_t i = 0; i <= round; i++) CHECK(read(ends[0], now, 1) == 1);
        for (uint32_t turn = 0; turn < round * 20; turn++) sched_yield();
        CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
        close(ends[0]), close(ends[1]);
        file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t count = read(file, now, sizeof now - 1);
        CHECK(file >= 0 && count > 0);
        close(file);
        now[count] = '\0';
        if (strcmp(now, before) != 0) CHECK_TEXT(now, after);
    }
    unlink(path);
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "live-killed-%d.weft.new%u", (int)getpid(), i);
        unlink(path);
    }
}
