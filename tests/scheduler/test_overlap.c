/* SPDX-License-Identifier: MIT */
/* test_overlap.c: systems that begin before their stage: each waits for what it depends on and for
 * no more, and no result depends on it. Random frames with all kinds of systems have the same
 * values on one worker in order as on three at once, step after step. */
#include <weft/weft.h>

#include "atomic.h"
#include "part_order.h"
#include "plain.h"
#include "random.h"
#include "registry.h"
#include "told_clock.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PATIENCE_S = 20 };

/* A world with components on rows of their own. Owner: the test. */
typedef struct overlap_bed {
    weft_world *world;
    weft_component a, b, c, mark;
    weft_a32 x_is_set; /* what one system waits for and another sets */
    bool is_late;      /* it waited in vain */
} overlap_bed;

static void rows_of(overlap_bed *bed, weft_component component)
{
    weft_archetype archetype = weft_archetype_create(bed->world, &component, 1);
    CHECK_OK(weft_entity_create_many(bed->world, archetype, 3000, NULL));
}

static void bed_open_with(overlap_bed *bed, const weft_world_desc *desc)
{
    *bed = (overlap_bed){.world = NULL};
    CHECK_OK(weft_world_create(desc, &bed->world));
    bed->a = weft_component_create_plain(bed->world, "a", 4, 4, 0);
    bed->b = weft_component_create_plain(bed->world, "b", 4, 4, 0);
    bed->c = weft_component_create_plain(bed->world, "c", 4, 4, 0);
    bed->mark = WEFT_TAG(bed->world, mark);
    rows_of(bed, bed->a);
    rows_of(bed, bed->b);
    rows_of(bed, bed->c);
    CHECK_OK(weft_schedule_set(bed->world, &(weft_schedule_desc){.is_always_parallel = true}));
}

static void bed_open(overlap_bed *bed)
{
    bed_open_with(bed, &(weft_world_desc){.workers = 2});
}

static void bed_close(overlap_bed *bed)
{
    CHECK_OK(weft_world_validate(bed->world));
    CHECK_OK(weft_world_destroy(bed->world));
}

static bool is_past(const struct timespec *deadline)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec >= deadline->tv_sec;
}

/* Waits for what another system of the step sets. */
static void wait_for(weft_slice *slice, void *user)
{
    overlap_bed *bed = user;
    struct timespec deadline;
    (void)slice;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += PATIENCE_S;
    while (at_load_acq(&bed->x_is_set) == 0 && !is_past(&deadline)) at_stall(); /* the test's own */
    bed->is_late = at_load_acq(&bed->x_is_set) == 0;
}

static void set(weft_slice *slice, void *user)
{
    overlap_bed *bed = user;
    (void)slice;
    at_store_rel(&bed->x_is_set, 1u);
}

static void add_one(weft_slice *slice, void *user)
{
    uint32_t *values = weft_slice_write(slice, 0);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) values[i]++;
}

static void system_add(overlap_bed *bed, const char *name, void (*run)(weft_slice *, void *),
                       uint32_t flags, weft_component component, weft_access access)
{
    weft_system_desc desc = {.name = name,
                             .run = run,
                             .user = bed,
                             .flags = flags,
                             .over.rows.terms = {{component, access, WEFT_ALL, 0}}};
    CHECK(weft_system_create(bed->world, &desc).id != 0);
}

static void check_values(const overlap_bed *bed, weft_component component, uint32_t expected)
{
    weft_query all = weft_query_create(
        bed->world, &(weft_query_desc){.terms = {{component, WEFT_READ, WEFT_ALL, 0}}});
    weft_cursor cursor = weft_query_begin(bed->world, all);
    while (weft_query_next(&cursor)) {
        const uint32_t *values = weft_slice_read(&cursor.slice, 0);
        for (uint32_t i = 0; i < cursor.slice.count; i++) CHECK_U64(values[i], expected);
    }
}

/* ---- what begins when ---- */

PLAIN_TEST(a_system_begins_when_its_own_predecessors_have_ended)
{
    overlap_bed bed;
    bed_open(&bed);
    system_add(&bed, "long", wait_for, WEFT_SYSTEM_SERIAL, bed.b, WEFT_READ);
    system_add(&bed, "short", add_one, WEFT_SYSTEM_NOT_FUSED, bed.a, WEFT_WRITE);
    system_add(&bed, "next", set, WEFT_SYSTEM_SERIAL, bed.a, WEFT_READ); /* after short only */
    for (uint32_t i = 0; i < 5; i++) {
        at_store_rel(&bed.x_is_set, 0u);
        CHECK_OK(weft_world_step(bed.world, 0));
        CHECK(!bed.is_late);
    }
    bed_close(&bed);
}

PLAIN_TEST(the_owners_system_runs_beside_what_it_does_not_depend_on)
{
    overlap_bed bed;
    bed_open(&bed);
    system_add(&bed, "long", wait_for, WEFT_SYSTEM_SERIAL, bed.b, WEFT_READ);
    system_add(&bed, "main", set, WEFT_SYSTEM_MAIN_THREAD, bed.a, WEFT_READ);
    for (uint32_t i = 0; i < 5; i++) {
        at_store_rel(&bed.x_is_set, 0u);
        CHECK_OK(weft_world_step(bed.world, 0));
        CHECK(!bed.is_late);
    }
    bed_close(&bed);
}

/* The owner's system gets its turn between two parts of a loop that the owner works on. */
PLAIN_TEST(the_owners_system_that_others_wait_for_does_not_wait_for_a_loop)
{
    overlap_bed bed;
    bed_open(&bed);
    system_add(&bed, "loop", add_one, WEFT_SYSTEM_NOT_FUSED, bed.c, WEFT_WRITE);
    system_add(&bed, "first", add_one, WEFT_SYSTEM_SERIAL, bed.a, WEFT_WRITE);
    system_add(&bed, "main", add_one, WEFT_SYSTEM_MAIN_THREAD, bed.a, WEFT_WRITE);
    system_add(&bed, "last", add_one, WEFT_SYSTEM_SERIAL, bed.a, WEFT_WRITE);
    for (uint32_t i = 0; i < 200; i++) CHECK_OK(weft_world_step(bed.world, 0));
    check_values(&bed, bed.a, 600);
    bed_close(&bed);
}

static void set_late(weft_slice *slice, void *user)
{
    const struct timespec nap = {.tv_nsec = 2000000};
    nanosleep(&nap, NULL);
    set(slice, user);
}

static void check_set(weft_slice *slice, void *user)
{
    overlap_bed *bed = user;
    (void)slice;
    if (at_load_acq(&bed->x_is_set) == 0) bed->is_late = true;
}

PLAIN_TEST(an_explicit_order_holds_without_a_collision)
{
    overlap_bed bed;
    bed_open(&bed);
    system_add(&bed, "first", set_late, WEFT_SYSTEM_SERIAL, bed.a, WEFT_READ);
    system_add(&bed, "loop", add_one, WEFT_SYSTEM_NOT_FUSED, bed.c, WEFT_WRITE);
    weft_system_desc desc = {.name = "second",
                             .run = check_set,
                             .user = &bed,
                             .flags = WEFT_SYSTEM_SERIAL,
                             .after = {"first"},
                             .over.rows.terms = {{bed.b, WEFT_READ, WEFT_ALL, 0}}};
    CHECK(weft_system_create(bed.world, &desc).id != 0);
    for (uint32_t i = 0; i < 10; i++) {
        at_store_rel(&bed.x_is_set, 0u);
        CHECK_OK(weft_world_step(bed.world, 0));
        CHECK(!bed.is_late);
    }
    bed_close(&bed);
}

PLAIN_TEST(the_report_shows_the_longest_chain_of_the_last_step)
{
    static char text[4000], json[8000];
    overlap_bed bed;
    test_os os;
    weft_job_pool *pool = told_pool_create(&os);
    bed_open_with(&bed, &(weft_world_desc){.pool = pool, .os = &os.table});
    system_add(&bed, "quick", add_one, WEFT_SYSTEM_NOT_FUSED, bed.a, WEFT_WRITE);
    system_add(&bed, "first nap", nap, WEFT_SYSTEM_SERIAL, bed.b, WEFT_WRITE);
    system_add(&bed, "second nap", nap, WEFT_SYSTEM_MAIN_THREAD, bed.b, WEFT_WRITE);
    CHECK_OK(weft_world_step(bed.world, 0));
    CHECK(weft_schedule_chain(bed.world, text, sizeof text) < sizeof text);
    const char *first = strstr(text, "first nap"), *second = strstr(text, "second nap");
    CHECK(strstr(text, "segment 0: a graph of 3 tasks and 1 edge:") == text);
    CHECK(first != NULL && second > first && strstr(second, "(main thread)") != NULL);
    CHECK(strstr(text, "quick") == NULL);
    CHECK(weft_schedule_json(bed.world, json, sizeof json) < sizeof json);
    CHECK(strstr(json, "\"is_graph\": true") != NULL && strstr(json, "\"edges\": [[") != NULL);
    CHECK_OK(weft_schedule_set(bed.world, &(weft_schedule_desc){.without_overlap = true}));
    CHECK_OK(weft_world_step(bed.world, 0));
    weft_schedule_chain(bed.world, text, sizeof text);
    CHECK(strstr(text, "segment 0: 2 stages one after the other") == text);
    bed_close(&bed);
    CHECK_OK(weft_job_pool_destroy(pool));
}

/* ---- collisions that appear later ---- */

static void twice(weft_slice *slice, void *user)
{
    uint32_t *values = weft_slice_write(slice, 0);
    const struct timespec *nap = user;
    if (nap != NULL) nanosleep(nap, NULL);
    for (uint32_t i = 0; i < slice->count; i++) values[i] *= 2;
}

/* Two systems over different archetypes, until there is one that both run over. With `is_later` the
 * second is in a later stage already, for another reason, and the first takes long. */
static void begin_to_collide(uint32_t flags, bool is_later)
{
    overlap_bed bed;
    struct timespec nap = {.tv_nsec = 300000};
    bed_open(&bed);
    system_add(&bed, "tick", add_one, WEFT_SYSTEM_SERIAL, bed.c, WEFT_WRITE);
    weft_component left = WEFT_TAG(bed.world, left), right = WEFT_TAG(bed.world, right);
    weft_component on_left[] = {bed.a, left}, on_right[] = {bed.a, right},
                   on_both[] = {bed.a, left, right};
    weft_system_desc desc = {
        .name = "twice", .run = twice, .user = is_later ? &nap : NULL, .flags = flags};
    desc.over.rows.terms[0] = (weft_term){bed.a, WEFT_WRITE, WEFT_ALL, 0};
    desc.over.rows.terms[1] = (weft_term){left, WEFT_NO_ACCESS, WEFT_ALL, 0};
    CHECK(weft_system_create(bed.world, &desc).id != 0);
    desc.name = "plus";
    desc.run = add_one;
    if (is_later) desc.after[0] = "tick";
    desc.over.rows.terms[1].component = right;
    CHECK(weft_system_create(bed.world, &desc).id != 0);
    weft_archetype one = weft_archetype_create(bed.world, on_left, 2);
    weft_archetype other = weft_archetype_create(bed.world, on_right, 2);
    CHECK_OK(weft_entity_create_many(bed.world, one, 3000, NULL));
    CHECK_OK(weft_entity_create_many(bed.world, other, 3000, NULL));
    for (uint32_t i = 0; i < 5; i++) CHECK_OK(weft_world_step(bed.world, 0));
    static weft_entity entities[3000];
    weft_archetype both = weft_archetype_create(bed.world, on_both, 3);
    CHECK_OK(weft_entity_create_many(bed.world, both, 3000, entities));
    uint32_t expected = 0;
    for (uint32_t i = 0; i < 25; i++) {
        CHECK_OK(weft_world_step(bed.world, 0));
        expected = 2 * expected + 1;
        for (uint32_t k = 0; k < 3000; k += 7)
            CHECK_U64(*(const uint32_t *)weft_entity_read(bed.world, entities[k], bed.a), expected);
    }
    bed_close(&bed);
}

PLAIN_TEST(systems_that_begin_to_collide_are_ordered_from_then_on)
{
    begin_to_collide(0, false);
    begin_to_collide(WEFT_SYSTEM_NOT_FUSED, false);
    begin_to_collide(WEFT_SYSTEM_NOT_FUSED, true);
}

static void add_one_slowly(weft_slice *slice, void *user)
{
    uint32_t *values = weft_slice_write(slice, 0);
    uint32_t spent = 1;
    (void)user;
    for (uint32_t i = 0; i < 20000; i++) spent = spent * 3 + i;
    values[0] += spent == 0; /* 996,250,897: for the compiler to count */
    for (uint32_t i = 0; i < slice->count; i++) values[i]++;
}

/* Long enough for the graph, too short for it, long again. */
PLAIN_TEST(every_system_runs_once_a_step_whatever_runs_the_segment)
{
    overlap_bed bed;
    bed_open(&bed);
    CHECK_OK(weft_schedule_set(bed.world, &(weft_schedule_desc){.is_always_parallel = false}));
    system_add(&bed, "quick a", add_one, WEFT_SYSTEM_NOT_FUSED, bed.a, WEFT_WRITE);
    system_add(&bed, "quick b", add_one, WEFT_SYSTEM_MAIN_THREAD, bed.b, WEFT_WRITE);
    system_add(&bed, "slow a", add_one_slowly, WEFT_SYSTEM_NOT_FUSED, bed.a, WEFT_WRITE);
    system_add(&bed, "slow b", add_one_slowly, WEFT_SYSTEM_SERIAL, bed.b, WEFT_WRITE);
    weft_system slow[2] = {weft_system_find(bed.world, "slow a"),
                           weft_system_find(bed.world, "slow b")};
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 2; i++)
            CHECK_OK(weft_system_enable(bed.world, slow[i], round != 1));
        for (uint32_t i = 0; i < 100; i++) CHECK_OK(weft_world_step(bed.world, 0));
    }
    check_values(&bed, bed.a, 500);
    check_values(&bed, bed.b, 500);
    bed_close(&bed);
}

/* ---- random frames ---- */

#if defined(__SANITIZE_THREAD__) /* fifty times slower */
enum { SEEDS = 6 };
#else
enum { SEEDS = 30 };
#endif
enum { COMPONENTS = 6, ARCHETYPES = 5, SYSTEMS = 24, STEPS = 12 };

/* A system of a random frame. Owner: the test. */
typedef struct mixer {
    uint32_t number;
    uint32_t term_count;
    bool is_written[3];
    weft_component looked_up;
    weft_entity target;
    bool has_lookup;
    bool is_main;
} mixer;

static pthread_t stepping;

static uint32_t mix(uint32_t a, uint32_t b)
{
    uint32_t x = (a ^ (b * 0x9e3779b9u)) * 0x85ebca6bu;
    return x ^ x >> 15;
}

static void run_mixer(weft_slice *slice, void *user)
{
    const mixer *self = user;
    uint32_t seen = self->number;
    if (self->is_main) CHECK(pthread_equal(pthread_self(), stepping));
    if (self->has_lookup) {
        const uint32_t *far = weft_slice_read_entity(slice, self->target, self->looked_up);
        if (far != NULL) seen = mix(seen, *far);
    }
    for (uint32_t t = 0; t < self->term_count; t++) {
        const uint32_t *read = weft_slice_read(slice, t);
        uint32_t *write = self->is_written[t] ? weft_slice_write(slice, t) : NULL;
        const uint32_t *first = weft_slice_read(slice, 0);
        for (uint32_t i = 0; i < slice->count && write != NULL; i++)
            write[i] = mix(read[i] ^ seen, first[i]);
    }
}

static uint32_t draw_flags(test_random *random)
{
    switch (test_random_below(random, 6)) {
    case 0:
        return WEFT_SYSTEM_SERIAL;
    case 1:
        return WEFT_SYSTEM_MAIN_THREAD;
    case 2:
        return WEFT_SYSTEM_NOT_FUSED;
    case 3:
        return WEFT_SYSTEM_WHOLE_CHUNKS;
    default:
        return 0;
    }
}

static void draw_system(weft_world *world, test_random *random, mixer *self, uint32_t number,
                        const weft_component *components, const weft_entity *targets)
{
    static char names[SYSTEMS][8];
    snprintf(names[number], sizeof names[number], "s%u", number);
    weft_system_desc desc = {
        .name = names[number], .run = run_mixer, .user = self, .flags = draw_flags(random)};
    *self = (mixer){.number = number, .term_count = 1 + (uint32_t)test_random_below(random, 3)};
    self->is_main = (desc.flags & WEFT_SYSTEM_MAIN_THREAD) != 0;
    uint32_t at = (uint32_t)test_random_below(random, COMPONENTS);
    for (uint32_t t = 0; t < self->term_count; t++, at = (at + 1) % COMPONENTS) {
        self->is_written[t] = test_random_below(random, 2) == 0;
        desc.over.rows.terms[t] =
            (weft_term){components[at], self->is_written[t] ? WEFT_WRITE : WEFT_READ, WEFT_ALL, 0};
    }
    if (test_random_below(random, 4) == 0) { /* not of a component that it writes */
        self->has_lookup = true;
        self->looked_up = components[at];
        self->target = targets[test_random_below(random, ARCHETYPES)];
        desc.lookups[0] = (weft_lookup){self->looked_up, WEFT_READ};
    }
    if (number != 0 && test_random_below(random, 5) == 0)
        desc.after[0] = names[test_random_below(random, number)];
    CHECK(weft_system_create(world, &desc).id != 0);
}

/* Hashes of all steps of a random frame. */
static void run_frames(uint64_t seed, uint32_t workers, const weft_schedule_desc *options,
                       uint64_t *hashes)
{
    weft_world *world;
    mixer mixers[SYSTEMS];
    weft_component components[COMPONENTS];
    weft_entity targets[ARCHETYPES];
    test_random random = test_random_init(seed);
    stepping = pthread_self();
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &world));
    for (uint32_t i = 0; i < COMPONENTS; i++) {
        char name[8];
        snprintf(name, sizeof name, "c%u", i);
        components[i] = weft_component_create_plain(world, name, 4, 4, 0);
    }
    for (uint32_t i = 0; i < ARCHETYPES; i++) {
        weft_component set[COMPONENTS];
        static weft_entity entities[1500];
        uint32_t count = 0, first = (uint32_t)test_random_below(&random, COMPONENTS);
        uint32_t wanted = 2 + (uint32_t)test_random_below(&random, 3);
        while (count < wanted) set[count] = components[(first + count) % COMPONENTS], count++;
        CHECK_OK(weft_entity_create_many(world, weft_archetype_create(world, set, count),
                                         200 + (uint32_t)test_random_below(&random, 1300),
                                         entities));
        targets[i] = entities[i];
    }
    for (uint32_t i = 0; i < SYSTEMS; i++)
        draw_system(world, &random, &mixers[i], i, components, targets);
    CHECK_OK(weft_schedule_set(world, options));
    for (uint32_t step = 0; step < STEPS; step++) {
        if (weft_world_step(world, 0) != WEFT_OK)
            test_fail(__FILE__, __LINE__, weft_world_error(world)->text);
        hashes[step] = weft_world_hash(world, WEFT_HASH_LAYOUT);
    }
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(random_frames_have_the_same_values_in_order_and_at_once)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t expected[STEPS], hashes[STEPS];
        run_frames(seed, 1, &(weft_schedule_desc){.without_parallel = true}, expected);
        const weft_schedule_desc ways[] = {
            {.is_always_parallel = true},
            {.is_always_parallel = true, .shuffle_seed = seed},
            {.is_always_parallel = true, .without_fusion = true},
            {.is_always_parallel = true, .without_overlap = true},
        };
        for (uint32_t way = 0; way < 4; way++) {
            run_frames(seed, 3, &ways[way], hashes);
            for (uint32_t step = 0; step < STEPS; step++) CHECK_U64(hashes[step], expected[step]);
        }
    }
}

/* ---- what a serial system waits for goes first ---- */

static void copy_twice(weft_slice *slice, void *user)
{
    uint32_t *to = weft_slice_write(slice, 0);
    const uint32_t *from = weft_slice_read(slice, 1);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) to[i] = 2 * from[i];
}

static void system_copy(overlap_bed *bed, const char *name, weft_component to, weft_component from)
{
    weft_system_desc desc = {
        .name = name,
        .run = copy_twice,
        .over.rows.terms = {{to, WEFT_WRITE, WEFT_ALL, 0}, {from, WEFT_READ, WEFT_ALL, 0}}};
    CHECK(weft_system_create(bed->world, &desc).id != 0);
}

static void count_rows(weft_slice *slice, void *user)
{
    (void)slice;
    (void)user;
}

/* On rows of their own: c is increased, a made of c and b of a, in one stage; a serial system waits
 * for a, so that b is made beside it. Returns the segment, whose first plan is made. */
static weft__segment *split_bed_open(overlap_bed *bed)
{
    bed_open(bed);
    const weft_component all[] = {bed->a, bed->b, bed->c, bed->mark};
    weft_component d = weft_component_create_plain(bed->world, "d", 4, 4, 0);
    rows_of(bed, d);
    system_add(bed, "beside", add_one, WEFT_SYSTEM_NOT_FUSED, d, WEFT_WRITE);
    weft_archetype archetype = weft_archetype_create(bed->world, all, 4);
    CHECK_OK(weft_entity_create_many(bed->world, archetype, 3000, NULL));
    system_add(bed, "increase", add_one, 0, bed->c, WEFT_WRITE);
    system_copy(bed, "make a", bed->a, bed->c);
    system_copy(bed, "make b", bed->b, bed->a);
    system_add(bed, "serial", count_rows, WEFT_SYSTEM_SERIAL, bed->a, WEFT_READ);
    CHECK_OK(weft_world_step(bed->world, 0));
    weft__scheduler *scheduler = weft__scheduler_of(bed->world);
    CHECK_U64(scheduler->segment_count, 1);
    CHECK(scheduler->segments[0].plan == &scheduler->segments[0].plans[WEFT__PLAN_WHOLE]);
    return &scheduler->segments[0];
}

static void check_made(const overlap_bed *bed, uint32_t steps)
{
    weft_query all =
        weft_query_create(bed->world, &(weft_query_desc){.terms = {{bed->a, WEFT_READ, 0, 0},
                                                                   {bed->b, WEFT_READ, 0, 0},
                                                                   {bed->c, WEFT_READ, 0, 0}}});
    weft_cursor cursor = weft_query_begin(bed->world, all);
    while (weft_query_next(&cursor)) {
        const uint32_t *a = weft_slice_read(&cursor.slice, 0);
        const uint32_t *b = weft_slice_read(&cursor.slice, 1);
        const uint32_t *c = weft_slice_read(&cursor.slice, 2);
        for (uint32_t i = 0; i < cursor.slice.count; i++)
            CHECK(c[i] == steps && a[i] == 2 * steps && b[i] == 4 * steps);
    }
}

PLAIN_TEST(what_a_serial_system_waits_for_is_a_task_before_the_rest_of_its_stage)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        overlap_bed bed;
        const weft__segment *segment = split_bed_open(&bed);
        weft__scheduler *scheduler = weft__scheduler_of(bed.world);
        if (seed != 0) CHECK(weft__part_order_begin(scheduler, WEFT__PART_DRAW, seed) != NULL);
        uint32_t splits = 0;
        for (uint32_t step = 2; step < 10; step++) {
            CHECK_OK(weft_world_step(bed.world, 0));
            check_made(&bed, step);
            splits += segment->plan == &segment->plans[WEFT__PLAN_SPLIT];
        }
        CHECK_U64(splits, 4); /* each kind of graph in turn */
        CHECK_U64(segment->plans[WEFT__PLAN_SPLIT].task_count,
                  segment->plans[WEFT__PLAN_WHOLE].task_count + 1);
        bed_close(&bed);
    }
}

/* The last run of a match, which the split graph loses: stages are next, without another look. */
PLAIN_TEST(stages_after_a_split_graph_are_run_whole)
{
    overlap_bed bed;
    weft__segment *segment = split_bed_open(&bed);
    weft__scheduler *scheduler = weft__scheduler_of(bed.world);
    CHECK_OK(weft_world_step(bed.world, 0));
    CHECK(segment->plan == &segment->plans[WEFT__PLAN_SPLIT]);
    scheduler->options.is_always_parallel = false;
    segment->choice = (weft__segment_choice){
        .way = WEFT__WAY_SPLIT,
        .rival = WEFT__WAY_STAGES,
        .match_runs = 2 * WEFT__MATCH_RUNS - 1,
        .times = {{UINT64_C(7) << 40, {UINT64_C(1) << 40, UINT64_C(1) << 40}, 7},
                  {8 << 20, {1 << 20, 1 << 20}, 8}}};
    CHECK_OK(weft_world_step(bed.world, 0));
    CHECK(segment->choice.rest != 0);
    CHECK(segment->plan == &segment->plans[WEFT__PLAN_WHOLE]);
    for (uint32_t step = 4; step < 10; step++) {
        CHECK_OK(weft_world_step(bed.world, 0));
        check_made(&bed, step);
    }
    bed_close(&bed);
}

/* No serial system waits: the match against a split begins again without it, and ends. */
PLAIN_TEST(a_match_against_a_split_that_there_is_not_begins_again)
{
    overlap_bed bed;
    bed_open(&bed);
    rows_of(&bed, bed.a);
    rows_of(&bed, bed.b);
    system_add(&bed, "one", add_one, 0, bed.a, WEFT_WRITE);
    system_add(&bed, "other", add_one, WEFT_SYSTEM_NOT_FUSED, bed.b, WEFT_WRITE);
    CHECK_OK(weft_world_step(bed.world, 0));
    weft__segment *segment = &weft__scheduler_of(bed.world)->segments[0];
    weft__scheduler_of(bed.world)->options.is_always_parallel = segment->has_no_split = false;
    segment->choice = (weft__segment_choice){.way = WEFT__WAY_GRAPH}; /* the split is next */
    for (uint32_t i = 0; segment->choice.rest + segment->choice.runs_left == 0; i++)
        CHECK(weft_world_step(bed.world, 0) == WEFT_OK && i < 4 * WEFT__MATCH_RUNS);
    CHECK(segment->has_no_split);
    bed_close(&bed);
}
