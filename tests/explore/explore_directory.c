/* SPDX-License-Identifier: MIT */
/* explore_directory.c: ecs/src/memory/directory.c under every schedule, with 2 blocks of 2 slots
 * whose versions end at 5. Owners mark the slots of their entities with plain writes, so one
 * slot handed out twice is a data race. Histories are checked against a counter: LIMIT only when
 * all slots were taken. */
#include "directory.h"
#include "directory_lend.h"
#include "explore_plans.h"

#define CAPACITY (WEFT__BLOCK_SLOTS * WEFT__BLOCK_LIMIT)

static weft__memory memory;
static weft__directory *directory;
static explore_history history;
static uint32_t owner[CAPACITY];
static uint32_t capacity;
static weft_a32 births, deaths;

enum { CREATE = 1, DESTROY };

static void start(uint32_t blocks)
{
    weft_world_desc desc = {.entity_block_limit = blocks, .without_huge_pages = true};
    weft__memory_init(&memory, explore_allocator());
    directory = explore_scratch(sizeof *directory, 64);
    weft__directory_init(directory, &memory, explore_os(), &desc);
    capacity = blocks * WEFT__BLOCK_SLOTS;
    for (uint32_t i = 0; i < CAPACITY; i++) owner[i] = 0;
    at_init(&deaths, 0);
    at_init(&births, 0);
    explore_ignore(&births, sizeof births);
    explore_history_init(&history);
}

static bool create(uint32_t home, uint32_t count, weft_entity *out)
{
    uint32_t h = explore_history_begin(&history, CREATE, count);
    weft_result result = weft__directory_allocate_any(directory, &home, count, out);
    explore_history_end(&history, h, (uint64_t)result);
    if (result != WEFT_OK) return false;
    at_add_rlx(&births, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t location;
        EXPLORE_CHECK(out[i].index < capacity && (out[i].version & 1), "entity %u:%u", out[i].index,
                      out[i].version);
        EXPLORE_CHECK(owner[out[i].index] == 0, "slot %u has an owner", out[i].index);
        owner[out[i].index] = explore_self() + 1;
        EXPLORE_CHECK(weft__directory_find(directory, out[i], &location), "dead at birth");
        EXPLORE_CHECK(location == 0, "born at a place");
        weft__directory_place(directory, out[i], out[i].version);
    }
    return true;
}

static void destroy(const weft_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t location;
        EXPLORE_CHECK(owner[entities[i].index] == explore_self() + 1, "taken by another thread");
        EXPLORE_CHECK(weft__directory_find(directory, entities[i], &location), "died early");
        EXPLORE_CHECK(location == entities[i].version, "moved to %u", location);
        owner[entities[i].index] = 0;
    }
    uint32_t h = explore_history_begin(&history, DESTROY, count);
    uint32_t died = weft__directory_free_any(directory, entities, count);
    explore_history_end(&history, h, died);
    EXPLORE_CHECK(died == count, "%u of %u died", died, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t location;
        EXPLORE_CHECK(!weft__directory_find(directory, entities[i], &location), "alive after");
    }
}

/* Slots that destroyers of other threads gave back while `o` ran. */
static uint64_t overlapping(const explore_operation *o)
{
    uint64_t moved = 0;
    for (uint32_t i = 0; i < history.count; i++) {
        const explore_operation *other = &history.operations[i];
        if (other->thread == o->thread || other->end < o->begin || other->begin > o->end) continue;
        moved += other->argument; /* a creator that fails gives back what it had */
    }
    return moved;
}

static bool apply(void *state, const explore_operation *o)
{
    uint64_t *used = state;
    if (o->kind == DESTROY) {
        *used -= o->result;
        return true;
    }
    if (o->result == WEFT_OK) return (*used += o->argument) <= capacity;
    if (o->result == WEFT_OUT_OF_MEMORY) return true;
    return *used + o->argument + overlapping(o) > capacity;
}

static void check_books(void)
{
    char text[200] = "";
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(weft__directory_check(directory, text, sizeof text), "%s", text);
}

static void check(uint64_t used)
{
    check_books();
    EXPLORE_CHECK(explore_is_weak() ||
                      explore_history_is_linearisable(&history, apply, &used, sizeof used),
                  "the history is not one of a directory of %u slots", capacity);
}

static void finish(uint64_t used, uint64_t alive)
{
    check(used);
    EXPLORE_CHECK(weft__directory_alive(directory) == alive, "%u alive",
                  (unsigned)weft__directory_alive(directory));
    weft__directory_fini(directory);
}

static void one(void *argument)
{
    weft_entity e;
    if (create((uint32_t)(uintptr_t)argument, 1, &e)) destroy(&e, 1);
}

static void two(void *argument)
{
    weft_entity e[2];
    if (create((uint32_t)(uintptr_t)argument, 2, e)) destroy(e, 2);
}

/* Both make the first block. */
static void first_allocators(void)
{
    start(2);
    explore_thread(one, (void *)0);
    explore_begin();
    one((void *)0);
    finish(0, 0);
}

/* One block of two slots for two threads that want one each: a busy block is not a full one. */
static void must_succeed(void *argument)
{
    weft_entity e;
    (void)argument;
    EXPLORE_CHECK(create(0, 1, &e), "no room, but there was");
    destroy(&e, 1);
}

static void busy_is_not_full(void)
{
    start(1);
    explore_thread(must_succeed, NULL);
    explore_begin();
    must_succeed(NULL);
    finish(0, 0);
}

static void two_blocks(void)
{
    start(2);
    explore_thread(two, (void *)0);
    explore_thread(one, (void *)1);
    explore_begin();
    two((void *)1);
    finish(0, 0);
}

/* Two destroyers of one entity, and a creator that may get its slot. */
static weft_entity shared[2];

static void destroy_shared(void *argument)
{
    uint32_t died = weft__directory_free_any(directory, shared, 2);
    (void)argument;
    at_add_rlx(&deaths, died);
}

static void create_over(void *argument)
{
    weft_entity e;
    uint32_t home = 0;
    (void)argument;
    if (weft__directory_allocate_any(directory, &home, 1, &e) != WEFT_OK) return;
    for (uint32_t i = 0; i < 2; i++) {
        EXPLORE_CHECK(e.index != shared[i].index || e.version != shared[i].version,
                      "a handle repeats");
    }
    uint32_t location;
    EXPLORE_CHECK(weft__directory_find(directory, e, &location), "died by a stale handle");
    EXPLORE_CHECK(weft__directory_free_any(directory, &e, 1) == 1, "died by a stale handle");
}

static void two_destroyers(void)
{
    uint32_t home = 0;
    start(1);
    weft__directory_allocate_any(directory, &home, 2, shared);
    explore_thread(destroy_shared, NULL);
    explore_thread(create_over, NULL);
    explore_begin();
    destroy_shared(NULL);
    check(0);
    EXPLORE_CHECK(at_plain(&deaths) == 2, "%u deaths of 2", at_plain(&deaths));
    EXPLORE_CHECK(weft__directory_alive(directory) == 0, "an entity lives");
    weft__directory_fini(directory);
}

/* Versions run out: the slots are retired one by one and never come back. */
static void burn(void *argument)
{
    for (uintptr_t i = 0; i < (uintptr_t)argument; i++) one((void *)0);
}

static void retirement(void)
{
    start(1);
    explore_thread(burn, (void *)3);
    explore_begin();
    burn((void *)3);
    check_books(); /* a death may retire the slot, so the histories are not those of a pool */
    explore_history_init(&history);
    burn((void *)7);
    EXPLORE_CHECK(at_plain(&births) == 6, "%u births in 2 slots of 3 versions", at_plain(&births));
    EXPLORE_CHECK(weft__directory_alive(directory) == 0, "retired slots count as alive");
    weft__directory_fini(directory);
}

/* The books of others may be read while they change. */
static void look(void *argument)
{
    uint32_t location;
    (void)argument;
    EXPLORE_CHECK(weft__directory_alive(directory) <= 2, "more alive than slots");
    for (uint32_t i = 0; i < 2; i++) {
        weft_entity never = {shared[i].index, shared[i].version + 2};
        EXPLORE_CHECK(!weft__directory_find(directory, never, &location), "alive before birth");
    }
}

static void look_ups(void)
{
    uint32_t home = 0;
    start(1);
    weft__directory_allocate_any(directory, &home, 2, shared);
    explore_thread(look, NULL);
    explore_begin();
    destroy_shared(NULL);
    check(0);
    weft__directory_fini(directory);
}

/* ---- a recorder outside of systems beside the owner ---- */

static weft_entity held[2]; /* of the recorder */

static void mark(const weft_entity *entities, uint32_t count, uint32_t who)
{
    for (uint32_t i = 0; i < count; i++) {
        EXPLORE_CHECK(entities[i].index < capacity && (entities[i].version & 1), "entity %u:%u",
                      entities[i].index, entities[i].version);
        EXPLORE_CHECK(owner[entities[i].index] == 0, "slot %u has an owner", entities[i].index);
        owner[entities[i].index] = who;
    }
}

static void unmark(const weft_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) owner[entities[i].index] = 0;
}

/* Takes two ids, gives them back, and takes them for good. */
static void record(void *argument)
{
    (void)argument;
    EXPLORE_CHECK(weft__outside_take(directory, 2, held) == WEFT_OK, "no room, but there was");
    mark(held, 2, 1);
    unmark(held, 2);
    weft__outside_return(directory, held, 2);
    EXPLORE_CHECK(weft__outside_take(directory, 2, held) == WEFT_OK, "no room, but there was");
    mark(held, 2, 1);
}

static void settle_held(void)
{
    uint32_t location;
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(!weft__directory_find(directory, held[0], &location), "alive before playback");
    weft__outside_settle(directory, held, 2);
    EXPLORE_CHECK(weft__directory_find(directory, held[1], &location), "dead after playback");
    check_books();
}

/* The owner counts on the room that it found; it makes a block while the recorder makes one. */
static void outside_beside_owner(void)
{
    weft_entity own[2];
    start(2);
    explore_thread(record, NULL);
    explore_begin();
    EXPLORE_CHECK(weft__directory_reserve_owner(directory, 2) == WEFT_OK, "no room, but there was");
    weft__directory_allocate_owner(directory, 2, own, NULL, 7);
    mark(own, 2, 2);
    unmark(own, 2);
    weft__directory_free_many_owner(directory, own, 2);
    settle_held();
    EXPLORE_CHECK(weft__directory_alive(directory) == 2, "%u alive",
                  (unsigned)weft__directory_alive(directory));
    weft__directory_fini(directory);
}

/* Entities of the block die while the recorder takes slots of it. */
static void outside_beside_deaths(void)
{
    weft_entity old[2];
    start(2);
    EXPLORE_CHECK(weft__outside_take(directory, 2, old) == WEFT_OK, "no room in a new directory");
    weft__outside_settle(directory, old, 2);
    mark(old, 2, 2);
    explore_thread(record, NULL);
    explore_begin();
    unmark(old, 2);
    EXPLORE_CHECK(weft__directory_free_any(directory, old, 1) == 1, "it did not die");
    weft__directory_free_many_owner(directory, old + 1, 1);
    settle_held();
    EXPLORE_CHECK(weft__directory_alive(directory) == 2, "%u alive",
                  (unsigned)weft__directory_alive(directory));
    weft__directory_fini(directory);
}

/* A section gets a block while the recorder makes one. */
static void outside_beside_lending(void)
{
    weft__lent_block lent;
    start(2);
    explore_thread(record, NULL);
    explore_begin();
    EXPLORE_CHECK(weft__directory_lend(directory, 1, &lent) == WEFT_OK, "no room, but there was");
    EXPLORE_CHECK(!lent.block->is_outside, "the block of the recorder is lent");
    weft__lent_level(&lent);
    mark((weft_entity[]){weft__lent_handle(directory, &lent, 0)}, 1, 2);
    weft__directory_put_back(directory, &lent);
    settle_held();
    weft__directory_fini(directory);
}

/* A restore keeps ids from being taken, or is refused. */
static void outside_beside_restore(void)
{
    weft_entity old[2];
    start(2);
    EXPLORE_CHECK(weft__outside_take(directory, 2, old) == WEFT_OK, "no room in a new directory");
    weft__outside_settle(directory, old, 2);
    weft__directory_free_many_owner(directory, old, 2);
    explore_thread(record, NULL);
    explore_begin();
    if (weft__outside_close(directory)) {
        for (uint32_t i = 0; i < 2; i++) /* alive as before, then new again */
            for (uint32_t version = 1; version != UINT32_MAX; version--)
                weft__directory_force(directory, old[i].index, version, 0);
        weft__outside_open(directory);
    }
    settle_held();
    weft__directory_fini(directory);
}

/* Two full blocks get room at once: the owner's next search begins at the lower one. */
static weft_entity lodgers[CAPACITY];

static void evict(void *argument)
{
    const weft_entity *entity = argument;
    EXPLORE_CHECK(weft__directory_free_any(directory, entity, 1) == 1, "did not die");
}

static void lowest_room(void)
{
    start(2);
    EXPLORE_CHECK(weft__directory_reserve_owner(directory, CAPACITY) == WEFT_OK, "reserve");
    weft__directory_allocate_owner(directory, CAPACITY, lodgers, NULL, 0);
    EXPLORE_CHECK(weft__directory_reserve_owner(directory, 1) == WEFT_LIMIT, "more than capacity");
    explore_thread(evict, &lodgers[0]);
    explore_thread(evict, &lodgers[CAPACITY - 1]);
    explore_begin();
    check_books();
    EXPLORE_CHECK(weft__directory_reserve_owner(directory, 2) == WEFT_OK, "room is not found");
    weft_entity again[2];
    weft__directory_allocate_owner(directory, 2, again, NULL, 0);
    EXPLORE_CHECK(again[0].index == lodgers[0].index, "not the lowest: %u", again[0].index);
    weft__directory_fini(directory);
}

#define DEEP                                                                                       \
    PLAN_ALL_DEEP(EXPLORE_SC, 4, 0), PLAN_ALL_DEEP(EXPLORE_TSO, 3, 2),                             \
        PLAN_ALL_DEEP(EXPLORE_C11, 2, 1)

const explore_scenario explore_scenarios[] = {
    {"directory_first_allocators",
     first_allocators,
     {PLAN_ALL(EXPLORE_SC, 3, 0), PLAN_ALL(EXPLORE_TSO, 2, 2), PLAN_ALL(EXPLORE_C11, 2, 1),
      PLAN_ALL_FAULTS(EXPLORE_SC, 3, 2), PLAN_ALL_DEEP(EXPLORE_SC, 4, 0),
      PLAN_PCT_FAULTS(EXPLORE_C11, 5, 1, 10000, 5000000)},
     NULL},
    {"directory_busy_is_not_full",
     busy_is_not_full,
     {PLAN_ALL(EXPLORE_SC, 3, 0), PLAN_ALL(EXPLORE_TSO, 2, 2), PLAN_ALL(EXPLORE_C11, 2, 1),
      PLAN_PCT(EXPLORE_C11, 5, 10000, 5000000)},
     NULL},
    {"directory_two_blocks",
     two_blocks,
     {PLAN_ALL(EXPLORE_SC, 1, 0), PLAN_PCT(EXPLORE_TSO, 5, 20000, 3000000),
      PLAN_PCT_FAULTS(EXPLORE_C11, 5, 1, 20000, 5000000), DEEP},
     NULL},
    {"directory_two_destroyers",
     two_destroyers,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_ALL(EXPLORE_TSO, 2, 1), PLAN_ALL(EXPLORE_C11, 1, 1),
      PLAN_PCT(EXPLORE_C11, 5, 20000, 5000000), DEEP},
     NULL},
    {"directory_retirement",
     retirement,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_ALL(EXPLORE_C11, 1, 1),
      PLAN_PCT(EXPLORE_C11, 4, 10000, 2000000)},
     NULL},
    {"directory_lowest_room",
     lowest_room,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_C11, 2, 1)},
     NULL},
    {"directory_outside_beside_owner",
     outside_beside_owner,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_ALL(EXPLORE_C11, 1, 1),
      PLAN_PCT(EXPLORE_C11, 4, 10000, 2000000)},
     NULL},
    {"directory_outside_beside_deaths",
     outside_beside_deaths,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_ALL(EXPLORE_C11, 1, 1),
      PLAN_PCT(EXPLORE_C11, 4, 10000, 2000000)},
     NULL},
    {"directory_outside_beside_lending",
     outside_beside_lending,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_ALL(EXPLORE_C11, 1, 1),
      PLAN_PCT(EXPLORE_C11, 4, 10000, 2000000)},
     NULL},
    {"directory_outside_beside_restore",
     outside_beside_restore,
     {PLAN_ALL(EXPLORE_SC, 3, 0), PLAN_ALL(EXPLORE_C11, 2, 1)},
     NULL},
    {"directory_look_ups",
     look_ups,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_C11, 3, 2)},
     NULL},
    {NULL, NULL, {{0}}, NULL},
};
