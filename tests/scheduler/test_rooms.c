/* SPDX-License-Identifier: MIT */
/* test_rooms.c: a server with many rooms: worlds that any threads step at the same time over one
 * pool, each world as if it were alone. */
#include "systems_bed.h"

#include <pthread.h>

enum { ROOMS = 32, HOSTS = 8, KINDS = 4 };
/* 10^5 steps over both pools together; builds that are ten times slower do a twentieth. */
#if defined(NDEBUG) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
enum { STEPS = 1563 };
#else
enum { STEPS = 80 };
#endif

typedef struct room {
    weft_world *world;
    weft_component place, speed;
    weft_archetype both;
    uint32_t kind;
} room;

static void move(weft_slice *s, void *user)
{
    const uint32_t *kind = user;
    uint32_t *place = weft_slice_write(s, 0);
    const uint32_t *speed = weft_slice_read(s, 1);
    for (uint32_t i = 0; i < s->count; i++) place[i] += speed[i] + *kind;
}

/* Commands from several workers: rows die and come, in the order of slices. */
static void spawn(weft_slice *s, void *user)
{
    const room *self = user;
    const uint32_t *place = weft_slice_read(s, 0);
    weft_recorder *commands = weft_slice_recorder(s);
    for (uint32_t i = 0; i < s->count; i++) {
        if (place[i] % 97 != self->kind) continue;
        uint32_t value = place[i] / 2 + 1;
        weft_recorder_destroy_entity(commands, s->entities[i]);
        weft_entity made = weft_recorder_create_entity(commands, self->both);
        weft_recorder_set(commands, made, self->place, &value, sizeof value);
    }
}

static void sum(weft_slice *s, void *user)
{
    const uint32_t *place = weft_slice_read(s, 0);
    uint64_t *total = user;
    for (uint32_t i = 0; i < s->count; i++) *total = *total * 31 + place[i];
}

static uint64_t totals[ROOMS];

static void open_room(room *self, uint32_t number, const weft_world_desc *desc, bool is_parallel)
{
    static weft_entity rows[600];
    self->kind = number % KINDS;
    totals[number] = 0;
    CHECK_OK(weft_world_create(desc, &self->world));
    self->place = weft_component_create_plain(self->world, "place", 4, 4, 0);
    self->speed = weft_component_create_plain(self->world, "speed", 4, 4, 0);
    self->both =
        weft_archetype_create(self->world, (weft_component[]){self->place, self->speed}, 2);
    const weft_system_desc systems[] = {
        {.name = "move",
         .run = move,
         .user = &self->kind,
         .over.rows.terms = {{self->place, WEFT_WRITE, 0, 0}, {self->speed, WEFT_READ, 0, 0}}},
        {.name = "spawn",
         .run = spawn,
         .user = self,
         .flags = WEFT_SYSTEM_BACKGROUND,
         .effects = WEFT_RECORDS_ANY,
         .over.rows.terms = {{self->place, WEFT_READ, 0, 0}}},
        {.name = "sum",
         .run = sum,
         .user = &totals[number],
         .flags = WEFT_SYSTEM_MAIN_THREAD,
         .over.rows.terms = {{self->place, WEFT_READ, 0, 0}}}};
    for (uint32_t i = 0; i < 3; i++) CHECK(weft_system_create(self->world, &systems[i]).id != 0);
    CHECK_OK(weft_entity_create_many(
        self->world,
        weft_archetype_create(self->world, (weft_component[]){self->place, self->speed}, 2), 600,
        rows));
    for (uint32_t i = 0; i < 600; i++)
        CHECK_OK(
            weft_entity_set(self->world, rows[i], self->speed, &(uint32_t){i + self->kind}, 4));
    CHECK_OK(
        weft_schedule_set(self->world, &(weft_schedule_desc){.is_always_parallel = is_parallel}));
}

/* What a room of each kind looks like after STEPS steps on its own. */
static void run_serially(uint64_t *hashes, uint64_t *sums)
{
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        room one;
        open_room(&one, kind, &(weft_world_desc){.workers = 1, .name = "serial"}, false);
        for (uint32_t step = 0; step < STEPS; step++) CHECK_OK(weft_world_step(one.world, 0));
        hashes[kind] = weft_world_hash(one.world, WEFT_HASH_LAYOUT);
        sums[kind] = totals[kind];
        CHECK_OK(weft_world_destroy(one.world));
    }
}

static room rooms[ROOMS];

/* A host thread steps its rooms in turn. */
static void *run_rooms(void *argument)
{
    uint32_t host = (uint32_t)(uintptr_t)argument;
    for (uint32_t step = 0; step < STEPS; step++)
        for (uint32_t i = host; i < ROOMS; i += HOSTS) CHECK_OK(weft_world_step(rooms[i].world, 0));
    return NULL;
}

static void run_hosts(uint32_t workers)
{
    weft_job_pool *pool;
    pthread_t threads[HOSTS];
    uint64_t hashes[KINDS], sums[KINDS];
    run_serially(hashes, sums);
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = workers}, &pool));
    for (uint32_t i = 0; i < ROOMS; i++)
        open_room(&rooms[i], i, &(weft_world_desc){.pool = pool, .name = "room"}, i % 2 == 0);
    for (uintptr_t i = 1; i < HOSTS; i++)
        CHECK(pthread_create(&threads[i], NULL, run_rooms, (void *)i) == 0);
    run_rooms(NULL); /* the pool's owner is a host, too */
    for (uint32_t i = 1; i < HOSTS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    for (uint32_t i = 0; i < ROOMS; i++) {
        CHECK_U64(weft_world_hash(rooms[i].world, WEFT_HASH_LAYOUT), hashes[i % KINDS]);
        CHECK_U64(totals[i], sums[i % KINDS]);
        CHECK_OK(weft_world_validate(rooms[i].world));
        CHECK_OK(weft_world_destroy(rooms[i].world));
    }
    CHECK_OK(weft_job_pool_destroy(pool));
}

PLAIN_TEST(eight_hosts_step_32_rooms_over_two_workers)
{
    run_hosts(2);
}

PLAIN_TEST(eight_hosts_step_32_rooms_over_eight_workers)
{
    run_hosts(8);
}

/* ---- a pool that worlds still live on */

PLAIN_TEST(a_pool_is_not_destroyed_under_worlds)
{
    weft_job_pool *pool;
    weft_world *arena, *lobby;
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 2}, &pool));
    CHECK_OK(weft_world_create(&(weft_world_desc){.pool = pool, .name = "arena"}, &arena));
    CHECK_OK(weft_world_create(&(weft_world_desc){.pool = pool, .name = "lobby"}, &lobby));
    CHECK_RESULT(weft_job_pool_destroy(pool), WEFT_BUSY);
    CHECK(strstr(weft_job_pool_error(pool)->text, "'arena'") != NULL);
    CHECK(strstr(weft_job_pool_error(pool)->text, "'lobby'") != NULL);
    CHECK_OK(weft_world_destroy(arena));
    CHECK_RESULT(weft_job_pool_destroy(pool), WEFT_BUSY);
    CHECK(strstr(weft_job_pool_error(pool)->text, "'arena'") == NULL);
    CHECK_OK(weft_world_step(lobby, 0)); /* it lives on */
    CHECK_OK(weft_world_destroy(lobby));
    CHECK_OK(weft_job_pool_destroy(pool));
}

/* ---- two threads in one world */

static void *step_refused(void *world)
{
    weft_result result = weft_world_step(world, 0);
    CHECK(result == WEFT_BUSY || result == WEFT_WRONG_PHASE);
    return NULL;
}

static void step_from_another_thread(weft_slice *s, void *user)
{
    pthread_t thread;
    (void)s;
    CHECK(pthread_create(&thread, NULL, step_refused, user) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

PLAIN_TEST(a_second_thread_in_a_world_is_refused)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 2}, &world));
    weft_system_desc system = {.name = "intruder",
                               .run = step_from_another_thread,
                               .user = world,
                               .flags = WEFT_SYSTEM_EXCLUSIVE};
    CHECK(weft_system_create(world, &system).id != 0);
    (void)weft_world_step(world, 0); /* the refusal may be its error: reported, not carried out */
    CHECK_OK(weft_world_destroy(world));
}

/* ---- other calls from a thread that is no worker */

static void count_rows(weft_slice *s, void *user)
{
    at_add_ar((weft_a32 *)user, s->count);
}

static void *use_elsewhere(void *argument)
{
    room *self = argument;
    weft_a32 x_rows = {0};
    weft_query all = weft_query_create(
        self->world, &(weft_query_desc){.terms = {{self->speed, WEFT_READ, 0, 0}}});
    CHECK_OK(weft_query_each_parallel(self->world, all, count_rows, &x_rows));
    CHECK_U64(at_load_acq(&x_rows), 600);
    weft_recorder *commands;
    CHECK_OK(weft_recorder_create(self->world, &commands));
    CHECK_OK(weft_recorder_play(commands));
    weft_recorder_destroy(commands);
    CHECK_OK(weft_world_destroy(self->world)); /* with a pool of its own, too */
    return NULL;
}

PLAIN_TEST(a_world_with_its_own_pool_moves_to_another_thread)
{
    room one;
    pthread_t thread;
    open_room(&one, 0, &(weft_world_desc){.workers = 3}, true);
    CHECK(pthread_create(&thread, NULL, use_elsewhere, &one) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}
