/* SPDX-License-Identifier: MIT */
/* explore_selftest.c: small programs with known faults that the explorer must find, each under the
 * model that shows it, and their repaired twins that must pass. */
#include "explore.h"

static weft_a32 x, y, lock_word, wakes;
static uint32_t payload, seen[2];

/* ---- lost update: load and store instead of an addition ---- */

static void add_split(void *argument)
{
    (void)argument;
    at_store_rlx(&x, at_load_rlx(&x) + 1);
}

static void add_whole(void *argument)
{
    (void)argument;
    at_add_ar(&x, 1u);
}

static void count_with(void (*add)(void *argument))
{
    at_init(&x, 0);
    for (int i = 0; i < 3; i++) explore_thread(add, NULL);
    explore_begin();
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(at_plain(&x) == 3, "lost update: %u", at_plain(&x));
}

static void lost_update(void)
{
    count_with(add_split);
}

static void no_lost_update(void)
{
    count_with(add_whole);
}

/* ---- Dekker: both threads may miss each other without a StoreLoad ---- */

static void dekker_weak(void *argument)
{
    uint32_t me = argument != NULL;
    at_store_rel(me ? &x : &y, 1);
    seen[me] = at_load_acq(me ? &y : &x);
}

static void dekker_strong(void *argument)
{
    uint32_t me = argument != NULL;
    at_store_sc(me ? &x : &y, 1);
    seen[me] = at_load_sc(me ? &y : &x);
}

static void dekker_with(void (*side)(void *argument))
{
    at_init(&x, 0);
    at_init(&y, 0);
    explore_thread(side, NULL);
    explore_thread(side, &x);
    explore_begin();
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(seen[0] || seen[1], "both missed the other");
}

static void dekker_broken(void)
{
    dekker_with(dekker_weak);
}

static void dekker_good(void)
{
    dekker_with(dekker_strong);
}

/* ---- publication: a plain payload behind a flag ---- */

static void publish_rlx(void *argument)
{
    (void)argument;
    payload = 7;
    at_store_rlx(&x, 1);
}

static void publish_rel(void *argument)
{
    (void)argument;
    payload = 7;
    at_store_rel(&x, 1);
}

static void read_payload(void *argument)
{
    (void)argument;
    if (at_load_acq(&x)) seen[0] = payload;
}

static void publish_with(void (*publish)(void *argument))
{
    at_init(&x, 0);
    payload = 0;
    seen[0] = 7;
    explore_thread(publish, NULL);
    explore_thread(read_payload, NULL);
    explore_begin();
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(seen[0] == 7, "payload %u", seen[0]);
}

static void publish_broken(void)
{
    publish_with(publish_rlx);
}

static void publish_good(void)
{
    publish_with(publish_rel);
}

/* The same between two atomics: the second store overtakes the first. */
static void flag_writer(void *argument)
{
    at_store_rlx(&y, 7);
    if (argument)
        at_store_rel(&x, 1);
    else
        at_store_rlx(&x, 1);
}

static void flag_reader(void *argument)
{
    (void)argument;
    if (at_load_acq(&x)) seen[0] = at_load_rlx(&y);
}

static void flag_with(void *argument)
{
    at_init(&x, 0);
    at_init(&y, 0);
    seen[0] = 7;
    explore_thread(flag_writer, argument);
    explore_thread(flag_reader, NULL);
    explore_begin();
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(seen[0] == 7, "overtaken: %u", seen[0]);
}

static void flag_broken(void)
{
    flag_with(NULL);
}

static void flag_good(void)
{
    flag_with(&x);
}

/* ---- sleep and wake: a waker that looks before it publishes loses the sleeper ---- */

static void sleep_once(void *argument)
{
    const weft_os *os = explore_os();
    (void)argument;
    at_store_sc(&wakes, 1); /* announce */
    while (!at_load_sc(&x)) os->futex_wait(os->user, &x, 0);
}

static void wake_late(void *argument)
{
    const weft_os *os = explore_os();
    bool is_asleep = at_load_sc(&wakes) != 0;
    if (argument) {
        at_store_sc(&x, 1);
        is_asleep = at_load_sc(&wakes) != 0;
    } else {
        at_store_sc(&x, 1);
    }
    if (is_asleep) os->futex_wake(os->user, &x, 1);
}

static void wake_with(void *argument)
{
    at_init(&x, 0);
    at_init(&wakes, 0);
    explore_thread(sleep_once, NULL);
    explore_thread(wake_late, argument);
    explore_begin();
    explore_join_all();
    explore_end();
}

static void wake_broken(void)
{
    wake_with(NULL);
}

static void wake_good(void)
{
    wake_with(&x);
}

/* ---- a spin lock never released, and a good one that spins through stalls ---- */

static void lock_twice(void *argument)
{
    for (int i = 0; i < 2; i++) {
        uint32_t zero = 0;
        while (!at_cas_ar(&lock_word, &zero, 1u)) {
            zero = 0;
            at_stall();
        }
        payload++;
        if (argument) at_store_rel(&lock_word, 0);
    }
}

static void lock_with(void *argument)
{
    at_init(&lock_word, 0);
    payload = 0;
    explore_thread(lock_twice, argument);
    explore_thread(lock_twice, argument);
    explore_begin();
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(payload == 4, "payload %u", payload);
}

static void lock_broken(void)
{
    lock_with(NULL);
}

static void lock_good(void)
{
    lock_with(&x);
}

/* ---- use after release ---- */

static weft_aptr shared;

static void use_shared(void *argument)
{
    (void)argument;
    uint32_t *p = at_load_acq(&shared);
    if (p) *p = 2;
}

static void release_early(void)
{
    const weft_allocator *heap = explore_allocator();
    uint32_t *p = heap->allocate(heap->user, sizeof *p, 8);
    at_init(&shared, p);
    explore_thread(use_shared, NULL);
    explore_begin();
    at_store_rel(&shared, NULL);
    heap->release(heap->user, p, sizeof *p, 8);
    explore_join_all();
    explore_end();
}

static weft_a32 *released_word;

static void add_to_released(void *argument)
{
    (void)argument;
    at_add_ar(released_word, 1u);
}

static void use_released(void)
{
    const weft_allocator *heap = explore_allocator();
    released_word = heap->allocate(heap->user, sizeof *released_word, 8);
    at_init(released_word, 0);
    explore_thread(add_to_released, NULL);
    explore_begin();
    at_add_ar(released_word, 1u);
    heap->release(heap->user, released_word, sizeof *released_word, 8);
    explore_join_all();
    explore_end();
}

/* ---- histories: a counter whose read may be stale is not linearisable ---- */

static explore_history history;

static bool apply_counter(void *state, const explore_operation *operation)
{
    uint32_t *value = state;
    if (operation->kind == 1) {
        ++*value;
        return true;
    }
    return operation->result == *value;
}

static void count_and_read(void *argument)
{
    uint32_t h = explore_history_begin(&history, 1, 0);
    if (argument)
        at_add_sc(&x, 1u);
    else
        at_store_sc(&x, at_load_sc(&x) + 1);
    explore_history_end(&history, h, 0);
    h = explore_history_begin(&history, 2, 0);
    explore_history_end(&history, h, at_load_sc(&x));
}

static void history_with(void *argument)
{
    uint32_t zero = 0;
    at_init(&x, 0);
    explore_history_init(&history);
    explore_thread(count_and_read, argument);
    explore_thread(count_and_read, argument);
    explore_begin();
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(explore_history_is_linearisable(&history, apply_counter, &zero, sizeof zero),
                  "not linearisable");
}

static void history_broken(void)
{
    history_with(NULL);
}

static void history_good(void)
{
    history_with(&x);
}

#define SC_DFS                                                                                     \
    {                                                                                              \
        EXPLORE_SC, EXPLORE_DFS, 4, 0, 0, 5000000, 0, true, false                                  \
    }
#define TSO_DFS                                                                                    \
    {                                                                                              \
        EXPLORE_TSO, EXPLORE_DFS, 3, 3, 0, 5000000, 0, true, false                                 \
    }
#define PSO_DFS                                                                                    \
    {                                                                                              \
        EXPLORE_PSO, EXPLORE_DFS, 3, 3, 0, 5000000, 0, true, false                                 \
    }
#define C11_DFS                                                                                    \
    {                                                                                              \
        EXPLORE_C11, EXPLORE_DFS, 3, 3, 0, 5000000, 0, true, false                                 \
    }
#define C11_PCT                                                                                    \
    {                                                                                              \
        EXPLORE_C11, EXPLORE_PCT, 3, 1, 0, 20000, 0, false, false                                  \
    }
#define TSO_RANDOM                                                                                 \
    {                                                                                              \
        EXPLORE_TSO, EXPLORE_RANDOM, 0, 1, 0, 20000, 0, false, false                               \
    }
#define FIND(model)                                                                                \
    {                                                                                              \
        model, EXPLORE_DFS, 3, 3, 0, 5000000, 0, false, false                                      \
    }
#define FIND_PCT(model)                                                                            \
    {                                                                                              \
        model, EXPLORE_PCT, 3, 1, 0, 100000, 0, false, false                                       \
    }

const explore_scenario explore_scenarios[] = {
    {"lost_update", lost_update, {FIND(EXPLORE_SC), FIND_PCT(EXPLORE_SC)}, "lost update"},
    {"no_lost_update", no_lost_update, {SC_DFS, TSO_DFS, C11_DFS, C11_PCT}, NULL},
    {"dekker_broken",
     dekker_broken,
     {FIND(EXPLORE_TSO), FIND(EXPLORE_PSO), FIND(EXPLORE_C11), FIND_PCT(EXPLORE_TSO),
      FIND_PCT(EXPLORE_C11)},
     "both missed"},
    {"dekker_unseen_by_sc", dekker_broken, {SC_DFS}, NULL},
    {"dekker_good", dekker_good, {SC_DFS, TSO_DFS, PSO_DFS, C11_DFS, C11_PCT, TSO_RANDOM}, NULL},
    {"publish_broken", publish_broken, {FIND(EXPLORE_C11), FIND_PCT(EXPLORE_C11)}, "data race"},
    {"publish_good", publish_good, {SC_DFS, TSO_DFS, C11_DFS, C11_PCT}, NULL},
    {"flag_broken",
     flag_broken,
     {FIND(EXPLORE_PSO), FIND(EXPLORE_C11), FIND_PCT(EXPLORE_PSO), FIND_PCT(EXPLORE_C11)},
     "overtaken"},
    {"flag_good", flag_good, {SC_DFS, TSO_DFS, PSO_DFS, C11_DFS, C11_PCT}, NULL},
    {"flag_unseen_by_tso", flag_broken, {TSO_DFS}, NULL},
    {"wake_broken", wake_broken, {FIND(EXPLORE_SC), FIND_PCT(EXPLORE_SC)}, "deadlock"},
    {"wake_good", wake_good, {SC_DFS, TSO_DFS, C11_DFS, C11_PCT}, NULL},
    {"lock_broken", lock_broken, {FIND(EXPLORE_SC)}, "livelock"},
    {"lock_good", lock_good, {SC_DFS, TSO_DFS, C11_DFS, C11_PCT}, NULL},
    {"release_early", release_early, {FIND(EXPLORE_C11)}, "use after release"},
    {"use_released", use_released, {FIND(EXPLORE_SC), FIND_PCT(EXPLORE_TSO)}, "use after release"},
    {"history_broken", history_broken, {FIND(EXPLORE_SC)}, "not linearisable"},
    {"history_good", history_good, {SC_DFS, C11_DFS}, NULL},
    {NULL, NULL, {{0}}, NULL},
};
