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

/* ---- a start, or a fill, that is refused ---- */

/* A world with all kinds of components and entities of its own, which must stay as they are. */
typedef struct bed {
    test_memory memory, scene_memory; /* of the world; of the link or the scene */
    shelf files;
    weft_world *world;
    weft_component held; /* CLEANUP */
    weft_scene *scene;
} bed;

static const weft_field held_fields[] = {{.name = "by", .kind = WEFT_FIELD_U32}};
static const weft_type held_type = {
    .name = "Held", .size = 4, .alignment = 4, .fields = held_fields, .field_count = 1};

static const char everything[] =
    "{\"weft\": 1, \"prefabs\": {\"p\": {\"Shield\": {\"strength\": 4}, \"children\": {\"q\": "
    "{}}}}, "
    "\"objects\": {\"a\": {\"prefab\": \"#p\", \"Held\": {\"by\": 3}, \"name\": \"mine\"}, \"b\": "
    "{\"transform\": {}, \"Team\": {\"number\": 7}, \"children\": {\"c\": {\"Note\": {\"number\": "
    "1}, "
    "\"transform\": {}, \"Links\": [{\"to\": \"/a\"}, {}, {}, {}, {}, {}, {}, {}, {}]}}}, \"d\": "
    "{\"Held\": "
    "{\"by\": 4}, \"Alive\": true, \"Spawner\": {\"what\": \"#p\"}, \"disabled\": [\"Shield\"], "
    "\"Shield\": {\"strength\": 1}}}}";

static void bed_begin(bed *b)
{
    memset(b, 0, sizeof *b);
    test_memory_init(&b->memory);
    test_memory_init(&b->scene_memory);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1,
                                                  .entity_tag = WEFT_WITHOUT_ENTITY_TAG,
                                                  .allocator = test_memory_hook(&b->memory)},
                               &b->world));
    cast c = cast_register(b->world);
    b->held = weft_component_create(
        b->world, &(weft_component_desc){.type = &held_type, .flags = WEFT_CLEANUP});
    CHECK(b->held.id != 0 && weft_component_parent(b->world).id != 0);
    CHECK(weft_component_instance_of(b->world).id != 0);
    weft_entity own[20];
    weft_archetype archetype =
        weft_archetype_create(b->world, (weft_component[]){c.spin, b->held}, 2);
    CHECK_OK(weft_entity_create_many(b->world, archetype, 20, own));
    CHECK_OK(weft_entity_set_name(b->world, own[3], "mine"));
    shelf_put(&b->files, "a.weft", everything);
}

static weft_scene_desc bed_scene(bed *b)
{
    return (weft_scene_desc){
        .read = shelf_read, .user = &b->files, .allocator = test_memory_hook(&b->scene_memory)};
}

static void bed_end(bed *b)
{
    weft_scene_destroy(b->scene);
    CHECK_OK(weft_world_validate(b->world));
    CHECK_OK(weft_world_destroy(b->world));
    test_memory_fini(&b->memory);
    test_memory_fini(&b->scene_memory);
}

/* Everything but caches (archetypes, objects of chunks). */
typedef struct look {
    uint64_t content, layout;
    weft_world_stats stats;
} look;

static look bed_look(bed *b)
{
    look l = {.content = weft_world_hash(b->world, WEFT_HASH_CONTENT),
              .layout = weft_world_hash(b->world, WEFT_HASH_LAYOUT)};
    weft_world_stats_get(b->world, &l.stats, sizeof l.stats);
    return l;
}

static void look_check(bed *b, const look *was)
{
    look now = bed_look(b);
    CHECK_U64(now.content, was->content);
    CHECK_U64(now.layout, was->layout);
    CHECK_U64(now.stats.entities, was->stats.entities);
    CHECK_U64(now.stats.slices, was->stats.slices);
    CHECK_U64(now.stats.component_types, was->stats.component_types);
    CHECK_U64(now.stats.bytes_buffers, was->stats.bytes_buffers);
    CHECK(weft_entity_find(b->world, "d").version == 0);
    weft_entity next[40]; /* who get the ids that came back have no names of others */
    CHECK_OK(weft_entity_create_many(b->world, weft_archetype_create(b->world, NULL, 0), 40, next));
    CHECK_U64(weft_entity_search(b->world, "", NULL, 0), 1); /* "mine" */
    CHECK_OK(weft_entity_destroy_many(b->world, next, 40));
    CHECK_OK(weft_world_validate(b->world));
}

/* Starts a link, or fills, with the k-th allocation of one memory refused; then again without.
 * Returns whether something was refused. */
static bool refuse(bool is_live, bool is_world, uint64_t k)
{
    static bed b;
    bed_begin(&b);
    weft_live *live = NULL;
    const weft_scene_desc scene = bed_scene(&b);
    const weft_live_desc desc = {.scene = &scene,
                                 .paths = (const char *[]){"a.weft"},
                                 .path_count = 1,
                                 .without_thread = true};
    if (!is_live) CHECK_OK(weft_scene_create(b.world, &scene, &b.scene));
    if (!is_live) CHECK_BAKES(b.scene, "a.weft");
    const look was = bed_look(&b);
    test_memory *memory = is_world ? &b.memory : &b.scene_memory;
    test_memory_fail(memory, k, false);
    weft_result result =
        is_live ? weft_live_start(b.world, &desc, &live) : weft_scene_fill(b.scene, b.world);
    bool is_refused = memory->failures != 0;
    test_memory_fail(memory, 0, false);
    if (result != WEFT_OK) {
        CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        CHECK_RESULT(weft_world_error(b.world)->code, WEFT_OUT_OF_MEMORY);
        CHECK(weft_world_error(b.world)->text[0] != '\0');
        look_check(&b, &was);
        if (is_live) CHECK_OK(weft_live_start(b.world, &desc, &live));
        if (!is_live) CHECK_OK(weft_scene_fill(b.scene, b.world));
    }
    CHECK_U64(bed_look(&b).stats.entities, was.stats.entities + 7); /* with the prefab */
    weft_live_stop(live);
    bed_end(&b);
    return is_refused;
}

PLAIN_TEST(a_start_or_a_fill_that_is_refused_memory_leaves_the_world_as_it_was)
{
    for (uint32_t way = 0; way < 4; way++) {
        uint64_t k = 1;
        while (refuse(way % 2 == 0, way / 2 == 0, k)) k++;
        printf("%s, memory of the %s: %u refused\n", way % 2 == 0 ? "start" : "fill",
               way / 2 == 0 ? "world" : "scene", (unsigned)k - 1);
        CHECK(k > 3);
    }
}

/* ---- edits ---- */

static const char before[] = "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 2}}}}\n";
static const char after[] = "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 43}}}}\n";

static void file_is(const char *path, const char *text)
{
    char now[256] = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0 && read(file, now, sizeof now - 1) >= 0);
    close(file);
    CHECK_TEXT(now, text);
}

/* An edit and its undo, with the k-th allocation of each refused, then again without. Returns
 * whether something was refused. */
static bool edit_refuse(const char *path, uint64_t k)
{
    cast c;
    weft_live *live;
    test_memory memory;
    bool is_refused = false;
    weft_world *world = cast_world(1, &c);
    test_memory_init(&memory);
    const weft_scene_desc scene = {.allocator = test_memory_hook(&memory)};
    const weft_live_desc desc = {
        .scene = &scene, .paths = &path, .path_count = 1, .without_thread = true};
    CHECK_OK(weft_live_start(world, &desc, &live));
    for (uint32_t turn = 0; turn < 4; turn++) {
        uint64_t failures = memory.failures;
        test_memory_fail(&memory, turn % 2 == 0 ? k : 0, false);
        weft_result result =
            turn < 2 ? weft_live_edit(live, "a", "Spin.speed", "43") : weft_live_undo(live);
        bool was_refused = memory.failures != failures;
        test_memory_fail(&memory, 0, false);
        CHECK_RESULT(result, was_refused ? WEFT_OUT_OF_MEMORY : WEFT_OK);
        if (was_refused) CHECK(strstr(weft_world_error(world)->text, "memory") != NULL);
        file_is(path, turn < 2 ? (was_refused ? before : after) : was_refused ? after : before);
        is_refused |= was_refused;
        turn += turn % 2 == 0 && !was_refused; /* it is done */
    }
    CHECK_RESULT(weft_live_undo(live), WEFT_NOT_FOUND);
    weft_live_stop(live);
    CHECK_OK(weft_world_destroy(world));
    test_memory_fini(&memory);
    return is_refused;
}

PLAIN_TEST(an_edit_or_an_undo_that_is_refused_memory_leaves_the_text)
{
    const char *path = "live-refused.weft";
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    CHECK(file >= 0 && write(file, before, sizeof before - 1) == sizeof before - 1);
    close(file);
    uint64_t k = 1;
    while (edit_refuse(path, k)) k++;
    printf("edit: %u refused\n", (unsigned)k - 1);
    CHECK(k > 10);
    unlink(path);
}

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
    const char *path = "live-killed.weft";
    char now[256];
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
}
