/* SPDX-License-Identifier: MIT */
/* test_order_version.c: every way by which rows of a chunk come, go or move is seen in its order
 * version and in that of its archetype. Ways one by one; drawn lists of commands of all kinds:
 * test_commands_agree.c. */
#include "order_watch.h"
#include "plain.h"

#include <weft/ecs.h>
#include <weft/relation.h>

#include <string.h>

enum { MANY = 300, FEW = 3 };

/* Owner: one way of the table. `e`: with a, every second with b, too. */
typedef struct bed {
    weft_world *world;
    weft_component a, b, tag, bits, hooked, shared, sparse, sparse_hooked, clean, likes, level;
    weft_archetype with_a, with_ab, small;
    weft_query all_a;
    weft_entity e[MANY];
    order_watch watch;
} bed;

static void count_values(void *values, uint32_t count, void *user)
{
    (void)values;
    *(uint64_t *)user += count;
}

static uint64_t hook_calls;

static weft_component component(weft_world *world, const char *name, size_t size, uint32_t flags)
{
    weft_component_desc desc = {.name = name, .size = size, .alignment = 4, .flags = flags};
    if (size == 0) desc.alignment = 1;
    if ((flags & WEFT_SPARSE) != 0) desc.chunk_row_limit = 4;
    if (strstr(name, "hooked") != NULL)
        desc.hooks = (weft_component_hooks){.destruct = count_values, .user = &hook_calls};
    weft_component made = weft_component_create(world, &desc);
    CHECK(made.id != 0);
    return made;
}

/* `is_plain`: nothing is SPARSE. */
static bed bed_open(bool is_plain)
{
    bed b = {0};
    static const weft_field link = {"target", WEFT_FIELD_ENTITY, 0, 1};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &b.world));
    b.a = component(b.world, "a", 4, 0);
    b.b = component(b.world, "b", 4, 0);
    b.tag = component(b.world, "tag", 0, 0);
    b.bits = component(b.world, "bits", 4, WEFT_ENABLEABLE);
    b.hooked = component(b.world, "hooked", 4, 0);
    b.shared = component(b.world, "shared", 4, WEFT_SHARED);
    if (!is_plain) b.sparse = component(b.world, "sparse", 4, WEFT_SPARSE);
    if (!is_plain) b.sparse_hooked = component(b.world, "sparse hooked", 4, WEFT_SPARSE);
    b.clean = component(b.world, "clean", 4, WEFT_CLEANUP);
    weft_component_desc desc = {
        .name = "likes", .size = 8, .alignment = 4, .fields = &link, .field_count = 1};
    b.likes = weft_component_create(b.world, &desc);
    CHECK_OK(weft_relation_declare(
        b.world,
        &(weft_relation_desc){.component = b.likes, .on_target_death = WEFT_ON_TARGET_DESTROY}));
    desc.name = "level";
    b.level = weft_component_create(b.world, &desc);
    CHECK_OK(weft_relation_declare(b.world,
                                   &(weft_relation_desc){.component = b.level, .by_depth = true}));
    weft_component limit = weft_component_create(
        b.world, &(weft_component_desc){.name = "limit", .chunk_row_limit = 4});
    b.with_a = weft_archetype_create(b.world, &b.a, 1);
    b.with_ab = weft_archetype_create(b.world, (weft_component[]){b.a, b.b}, 2);
    b.small = weft_archetype_create(b.world, (weft_component[]){b.b, limit}, 2);
    b.all_a = weft_query_create(b.world, &(weft_query_desc){.terms = {{b.a, WEFT_READ, 0, 0}}});
    CHECK_OK(weft_entity_create_many(b.world, b.with_a, MANY, b.e));
    for (uint32_t i = 1; i < MANY; i += 2) CHECK_OK(weft_entity_add(b.world, b.e[i], b.b));
    /* places of all kinds, so that what comes is not the first row of a chunk */
    const weft_component kinds[] = {b.tag,   b.bits,  b.hooked, b.shared,       b.sparse,
                                    b.clean, b.likes, b.level,  b.sparse_hooked};
    for (uint32_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (uint32_t i = 0; i < 6 && kinds[k].id != 0; i++) {
            weft_entity made = weft_entity_create(b.world, b.with_a);
            CHECK_OK(weft_entity_add(b.world, made, kinds[k]));
        }
    CHECK_OK(weft_relation_settle(b.world));
    return b;
}

/* ---- calls ---- */

static void each_add(bed *b, weft_component component)
{
    for (uint32_t i = 0; i < FEW; i++) CHECK_OK(weft_entity_add(b->world, b->e[40 * i], component));
}

static void each_remove(bed *b, weft_component component)
{
    weft_query query = weft_query_create(
        b->world, &(weft_query_desc){.terms = {{component, WEFT_NO_ACCESS, 0, 0}}});
    weft_entity with[MANY];
    CHECK(weft_query_entities(b->world, query, with, MANY) >= 2);
    CHECK_OK(weft_entity_remove(b->world, with[0], component));
}

static void create(bed *b)
{
    CHECK(weft_entity_create(b->world, b->with_a).version != 0);
}
static void create_twice(bed *b) /* the second row was made ready by the first */
{
    create(b);
    (void)order_watch_look(&b->watch, b->world);
    create(b);
}
static void create_many(bed *b)
{
    CHECK_OK(weft_entity_create_many(b->world, b->with_a, 10, NULL));
}
static void create_hooked(bed *b)
{
    weft_component list[] = {b->a, b->hooked};
    CHECK(weft_entity_create(b->world, weft_archetype_create(b->world, list, 2)).version != 0);
}
static void instantiate(bed *b)
{
    CHECK_OK(weft_entity_instantiate(b->world, b->e[1], 5, NULL));
}
static void destroy_last(bed *b)
{
    CHECK_OK(weft_entity_destroy(b->world, b->e[MANY - 1]));
}
static void destroy_first(bed *b)
{
    CHECK_OK(weft_entity_destroy(b->world, b->e[0]));
}
static void destroy_and_create(bed *b) /* the count stays */
{
    destroy_first(b);
    create(b);
}
static void destroy_clean(bed *b)
{
    weft_query query = weft_query_create(
        b->world, &(weft_query_desc){.terms = {{b->clean, WEFT_NO_ACCESS, 0, 0}}});
    weft_entity with[MANY];
    CHECK_U64(weft_query_entities(b->world, query, with, MANY), 6);
    CHECK_OK(weft_entity_destroy(b->world, with[0]));
}
static void destroy_many(bed *b)
{
    CHECK_OK(weft_entity_destroy_many(b->world, b->e, 20));
}
static void add(bed *b)
{
    each_add(b, b->tag);
}
static void add_value(bed *b)
{
    CHECK_OK(weft_entity_set(b->world, b->e[0], b->b, &(uint32_t){1}, 4));
}
static void add_bits(bed *b)
{
    each_add(b, b->bits);
}
static void add_hooked(bed *b)
{
    each_add(b, b->hooked);
}
static void add_sparse(bed *b)
{
    each_add(b, b->sparse);
}
static void add_sparse_hooked(bed *b)
{
    each_add(b, b->sparse_hooked);
}
static void remove_value(bed *b)
{
    each_remove(b, b->b);
}
static void remove_bits(bed *b)
{
    each_remove(b, b->bits);
}
static void remove_hooked(bed *b)
{
    each_remove(b, b->hooked);
}
static void remove_sparse(bed *b)
{
    each_remove(b, b->sparse);
}
static void remove_sparse_hooked(bed *b)
{
    each_remove(b, b->sparse_hooked);
}
static void set_sparse_many(bed *b)
{
    const uint32_t values[FEW] = {0};
    CHECK_OK(weft_entity_set_many(b->world, b->e, FEW, b->sparse, values, 4));
}
static void destroy_sparse(bed *b) /* its row of the sparse component goes as well */
{
    weft_query query = weft_query_create(
        b->world, &(weft_query_desc){.terms = {{b->sparse, WEFT_NO_ACCESS, 0, 0}}});
    weft_entity with[MANY];
    CHECK_U64(weft_query_entities(b->world, query, with, MANY), 6);
    CHECK_OK(weft_entity_destroy(b->world, with[0]));
}
static void change_many(bed *b)
{
    const weft_change_desc desc = {.add = &b->tag, .add_count = 1};
    CHECK_OK(weft_entity_change_many(b->world, b->e + 10, 50, &desc));
}
static void set_archetype(bed *b)
{
    CHECK_OK(weft_entity_set_archetype(b->world, b->e[0], b->with_ab));
}
static void set_shared(bed *b)
{
    weft_entity pair[2];
    weft_component list[] = {b->a, b->shared};
    weft_archetype archetype = weft_archetype_create(b->world, list, 2);
    CHECK_OK(weft_entity_create_many(b->world, archetype, 2, pair));
    CHECK_OK(weft_entity_set_shared(b->world, pair[0], b->shared, &(uint32_t){7}));
}
static void query_add(bed *b)
{
    CHECK_OK(weft_query_add(b->world, b->all_a, b->tag));
}
static void query_remove(bed *b)
{
    CHECK_OK(weft_query_remove(b->world, b->all_a, b->b));
}
static void query_destroy(bed *b)
{
    weft_query query =
        weft_query_create(b->world, &(weft_query_desc){.terms = {{b->bits, WEFT_READ, 0, 0}}});
    weft_entity with[MANY];
    CHECK_U64(weft_query_entities(b->world, query, with, MANY), 6);
    CHECK_OK(weft_entity_enable(b->world, with[1], b->bits, false));
    (void)order_watch_look(&b->watch, b->world);
    CHECK_OK(weft_query_destroy_entities(b->world, query)); /* one remains */
}
static void compact(bed *b)
{
    weft_entity made[64];
    CHECK_OK(weft_entity_create_many(b->world, b->small, 64, made));
    for (uint32_t i = 0; i < 64; i++)
        if (i % 4 != 0) CHECK_OK(weft_entity_destroy(b->world, made[i]));
    (void)order_watch_look(&b->watch, b->world);
    CHECK(weft_world_compact(b->world, UINT64_MAX) != 0);
}
static void transfer_out(bed *b)
{
    weft_world *to;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &to));
    weft_query query =
        weft_query_create(b->world, &(weft_query_desc){.terms = {{b->bits, WEFT_NO_ACCESS, 0, 0}}});
    weft_entity with[MANY];
    CHECK_U64(weft_query_entities(b->world, query, with, MANY), 6);
    CHECK_OK(weft_entity_enable(b->world, with[1], b->bits, false));
    CHECK_OK(weft_world_transfer(to, b->world, &(weft_transfer_desc){.query = query}, NULL, 0));
    CHECK_OK(weft_world_destroy(to));
}
static void transfer_in(bed *b)
{
    weft_world *from;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &from));
    weft_component a = component(from, "a", 4, 0);
    CHECK_OK(weft_entity_create_many(from, weft_archetype_create(from, &a, 1), 30, NULL));
    CHECK_OK(weft_world_transfer(b->world, from, NULL, NULL, 0));
    CHECK_OK(weft_world_destroy(from));
}
static void death_of_a_target(bed *b)
{
    for (uint32_t i = 0; i < 5; i++)
        CHECK_OK(weft_relation_set(b->world, b->e[20 + i], b->likes, b->e[i % 2]));
    CHECK_OK(weft_relation_settle(b->world));
    CHECK_OK(weft_entity_destroy(b->world, b->e[0]));
    (void)order_watch_look(&b->watch, b->world);
    CHECK_OK(weft_relation_settle(b->world));
}
static void change_of_depth(bed *b)
{
    for (uint32_t i = 0; i < 5; i++)
        CHECK_OK(weft_relation_set(b->world, b->e[20 + i], b->level, b->e[i]));
    CHECK_OK(weft_relation_settle(b->world));
    CHECK_OK(weft_relation_set(b->world, b->e[20], b->level, b->e[21]));
    (void)order_watch_look(&b->watch, b->world);
    CHECK_OK(weft_relation_settle(b->world));
}

/* ---- commands ---- */

/* Records `count` commands of one kind and plays them: few one by one, many folded. */
typedef void record_fn(const bed *b, weft_recorder *recorder, uint32_t i);

static void play(const bed *b, record_fn *record, uint32_t count)
{
    weft_recorder *recorder;
    CHECK_OK(weft_recorder_create(b->world, &recorder));
    for (uint32_t i = 0; i < count; i++) record(b, recorder, i);
    CHECK_OK(weft_recorder_play(recorder));
    weft_recorder_destroy(recorder);
}
static void record_create(const bed *b, weft_recorder *r, uint32_t i)
{
    (void)i;
    CHECK(weft_recorder_create_entity(r, b->with_ab).version != 0);
}
static void record_instantiate(const bed *b, weft_recorder *r, uint32_t i)
{
    CHECK(weft_recorder_instantiate(r, b->e[i % 2]).version != 0);
}
static void record_destroy(const bed *b, weft_recorder *r, uint32_t i)
{
    CHECK_OK(weft_recorder_destroy_entity(r, b->e[i]));
}
static void record_add(const bed *b, weft_recorder *r, uint32_t i)
{
    CHECK_OK(weft_recorder_add(r, b->e[i], b->tag));
}
static void record_set(const bed *b, weft_recorder *r, uint32_t i)
{
    CHECK_OK(weft_recorder_set(r, b->e[i], b->hooked, &i, 4));
}
static void record_sparse(const bed *b, weft_recorder *r, uint32_t i)
{
    CHECK_OK(weft_recorder_add(r, b->e[i], b->sparse));
}
static void record_remove(const bed *b, weft_recorder *r, uint32_t i)
{
    CHECK_OK(weft_recorder_remove(r, b->e[i | 1], b->b));
}
static void record_shared(const bed *b, weft_recorder *r, uint32_t i)
{
    CHECK_OK(weft_recorder_set_shared(r, b->e[i], b->shared, &(uint32_t){0}));
}
static void record_query(const bed *b, weft_recorder *r, uint32_t i)
{
    if (i == 0) CHECK_OK(weft_recorder_query_remove(r, b->all_a, b->b));
}
static void record_rows(const bed *b, weft_recorder *r, uint32_t i)
{
    weft_slice rows;
    CHECK_OK(weft_recorder_create_rows(r, b->with_a, 3 + i % 2, &rows));
}
static void record_unordered(const bed *b, weft_recorder *r, uint32_t i)
{
    weft_slice rows;
    CHECK_OK(weft_recorder_create_rows_unordered(r, b->with_a, 3 + i % 2, &rows));
}

/* ---- all ---- */

typedef struct way {
    const char *name;
    void (*run)(bed *b);
    record_fn *record;
} way;

#define CALL(name)                                                                                 \
    {                                                                                              \
#name, name, NULL                                                                          \
    }
#define COMMAND(name)                                                                              \
    {                                                                                              \
#name, NULL, name                                                                          \
    }

static const way ways[] = {CALL(create),
                           CALL(create_twice),
                           CALL(create_many),
                           CALL(create_hooked),
                           CALL(instantiate),
                           CALL(destroy_last),
                           CALL(destroy_first),
                           CALL(destroy_and_create),
                           CALL(destroy_clean),
                           CALL(destroy_many),
                           CALL(add),
                           CALL(add_value),
                           CALL(add_bits),
                           CALL(add_hooked),
                           CALL(add_sparse),
                           CALL(add_sparse_hooked),
                           CALL(remove_value),
                           CALL(remove_bits),
                           CALL(remove_hooked),
                           CALL(remove_sparse),
                           CALL(remove_sparse_hooked),
                           CALL(set_sparse_many),
                           CALL(destroy_sparse),
                           CALL(change_many),
                           CALL(set_archetype),
                           CALL(set_shared),
                           CALL(query_add),
                           CALL(query_remove),
                           CALL(query_destroy),
                           CALL(compact),
                           CALL(transfer_out),
                           CALL(transfer_in),
                           CALL(death_of_a_target),
                           CALL(change_of_depth),
                           COMMAND(record_create),
                           COMMAND(record_instantiate),
                           COMMAND(record_destroy),
                           COMMAND(record_add),
                           COMMAND(record_set),
                           COMMAND(record_sparse),
                           COMMAND(record_remove),
                           COMMAND(record_shared),
                           COMMAND(record_query),
                           COMMAND(record_rows),
                           COMMAND(record_unordered)};

static void run_way(const way *w, uint32_t commands, bool is_plain)
{
    bed b = bed_open(is_plain);
    weft_world_advance_change_version(b.world);
    (void)order_watch_look(&b.watch, b.world);
    if (w->run != NULL)
        w->run(&b);
    else
        play(&b, w->record, commands);
    if (order_watch_look(&b.watch, b.world) == 0) test_fail(__FILE__, __LINE__, w->name);
    CHECK_OK(weft_world_validate(b.world));
    order_watch_fini(&b.watch);
    CHECK_OK(weft_world_destroy(b.world));
}

PLAIN_TEST(rows_that_come_go_or_move_are_seen_in_order_versions)
{
    for (uint32_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        for (uint32_t commands = FEW; commands <= MANY; commands += MANY - FEW)
            for (uint32_t plain = 0; plain < 2; plain++)
                if (plain == 0 || strstr(ways[i].name, "sparse") == NULL)
                    run_way(&ways[i], commands, plain == 1);
}
