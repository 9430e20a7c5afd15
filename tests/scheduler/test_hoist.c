/* SPDX-License-Identifier: MIT */
/* test_hoist.c: which systems are moved in front of a sync point, and which must stay behind it. */
#include "staging.h"

#include <weft/system.h>

#include "check.h"
#include "random.h"

#include <criterion/criterion.h>
#include <string.h>

enum { A = 1, B, C, D, E, COMPONENTS = 8, LIMIT = 24, ITEMS = 4 };

/* Systems in order, each with its lists. Owner: the test. */
typedef struct bed {
    weft__memory memory;
    weft__access_item items[LIMIT][ITEMS];
    uint32_t mentions[LIMIT][ITEMS], records[LIMIT][ITEMS];
    weft__staging_node nodes[LIMIT];
    weft__order_edge barriers[LIMIT];
    weft__staging_input input;
    uint32_t order[LIMIT];
} bed;

static void bed_init(bed *b)
{
    memset(b, 0, sizeof *b);
    CHECK_OK(weft__memory_init(&b->memory, NULL));
    b->input = (weft__staging_input){
        .nodes = b->nodes, .barriers = b->barriers, .component_limit = COMPONENTS};
}

static void bed_hoist(bed *b)
{
    weft__pile pile = {&b->memory, WEFT__MEMORY_SYSTEMS};
    CHECK_OK(weft__staging_hoist(&b->input, &pile, b->order));
    weft__pile_free(&pile);
    CHECK_U64(weft__memory_bytes(&b->memory, WEFT__MEMORY_SYSTEMS), 0);
}

/* A fusable system over rows with no component yet. */
static uint32_t add_system(bed *b)
{
    uint32_t node = b->input.node_count++;
    b->nodes[node] = (weft__staging_node){
        .access.items = b->items[node],
        .mentions = b->mentions[node],
        .required = b->mentions[node],
        .records = b->records[node],
        .traits = WEFT__STAGING_FUSABLE | WEFT__STAGING_SEES_ROWS | WEFT__STAGING_ROWS_ONLY};
    return node;
}

/* Components in ascending order. */
static void touch(bed *b, uint32_t node, uint32_t component, uint32_t flags)
{
    weft__staging_node *n = &b->nodes[node];
    n->access.items[n->access.count++] = (weft__access_item){component, flags, NULL, NULL};
    b->mentions[node][n->mention_count++] = component;
    n->required_count = n->mention_count;
}

static uint32_t add_writer(bed *b, uint32_t component)
{
    uint32_t node = add_system(b);
    touch(b, node, component, WEFT__ACCESS_WRITE);
    return node;
}

/* Adds `component` to entities. */
static uint32_t add_recorder(bed *b, uint32_t reads, uint32_t component)
{
    uint32_t node = add_system(b);
    touch(b, node, reads, 0);
    b->nodes[node].effects = WEFT_RECORDS_ADD;
    b->records[node][b->nodes[node].record_count++] = component;
    return node;
}

static uint32_t place_of(const bed *b, uint32_t node)
{
    for (uint32_t i = 0; i < b->input.node_count; i++)
        if (b->order[i] == node) return i;
    return UINT32_MAX;
}

Test(hoist, who_sees_nothing_of_the_commands_is_moved_in_front_of_the_sync_point)
{
    bed b;
    bed_init(&b);
    uint32_t first = add_writer(&b, A);
    uint32_t recorder = add_recorder(&b, A, B), observer = add_writer(&b, B);
    uint32_t other = add_writer(&b, A);
    bed_hoist(&b);
    const uint32_t expected[] = {first, recorder, other, observer};
    for (uint32_t i = 0; i < 4; i++) CHECK_U64(b.order[i], expected[i]);
}

Test(hoist, who_follows_a_system_behind_the_sync_point_stays_behind_it)
{
    bed b;
    bed_init(&b);
    add_recorder(&b, A, B);
    uint32_t observer = add_system(&b);
    touch(&b, observer, B, 0);
    touch(&b, observer, C, WEFT__ACCESS_WRITE);
    uint32_t reader = add_system(&b);
    touch(&b, reader, C, 0);
    uint32_t ordered = add_writer(&b, D), free_one = add_writer(&b, E);
    b.barriers[b.input.barrier_count++] = (weft__order_edge){observer, ordered};
    bed_hoist(&b);
    CHECK(place_of(&b, reader) > place_of(&b, observer));
    CHECK(place_of(&b, ordered) > place_of(&b, observer));
    CHECK(place_of(&b, free_one) < place_of(&b, observer));
}

Test(hoist, these_keep_their_segment)
{
    static const uint32_t traits[] = {WEFT__STAGING_EXCLUSIVE, WEFT__STAGING_BACKGROUND,
                                      WEFT__STAGING_STAYS};
    for (uint32_t i = 0; i < 5; i++) {
        bed b;
        bed_init(&b);
        add_recorder(&b, A, B);
        uint32_t observer = add_writer(&b, B), other = add_writer(&b, A);
        if (i < 3) b.nodes[other].traits |= traits[i];
        if (i == 3) b.nodes[other].effects = WEFT_RECORDS_CREATE;
        if (i == 4) b.nodes[other].access.count = b.nodes[other].mention_count = 0;
        bed_hoist(&b);
        CHECK(place_of(&b, other) > place_of(&b, observer));
    }
}

/* Nothing to fuse it with in front, but behind the sync point. */
Test(hoist, a_system_stays_with_what_it_is_fused_with)
{
    bed b;
    bed_init(&b);
    add_recorder(&b, A, B);
    uint32_t observer = add_system(&b);
    touch(&b, observer, B, 0);
    touch(&b, observer, C, 0);
    uint32_t reader = add_system(&b);
    touch(&b, reader, C, 0);
    bed_hoist(&b);
    CHECK(place_of(&b, reader) > place_of(&b, observer));
    b.nodes[reader].traits &= ~(uint32_t)WEFT__STAGING_FUSABLE;
    bed_hoist(&b);
    CHECK(place_of(&b, reader) < place_of(&b, observer));
}

static uint32_t below(test_random *random, uint32_t bound)
{
    return (uint32_t)test_random_below(random, bound);
}

static void add_at_random(bed *b, test_random *random)
{
    uint32_t node = add_system(b);
    for (uint32_t c = A; c < COMPONENTS; c++)
        if (b->nodes[node].access.count < ITEMS && below(random, 3) == 0)
            touch(b, node, c, below(random, 2) == 0 ? WEFT__ACCESS_WRITE : 0u);
    if (below(random, 3) == 0) {
        b->nodes[node].effects = 1u << below(random, 4);
        b->records[node][b->nodes[node].record_count++] = 1 + below(random, 7);
        if (below(random, 2) == 0) {
            b->nodes[node].destroys = b->records[node];
            b->nodes[node].destroy_count = 1;
        }
    }
    if (below(random, 6) == 0) b->nodes[node].traits &= ~(uint32_t)WEFT__STAGING_FUSABLE;
    if (below(random, 6) == 0) b->nodes[node].traits &= ~(uint32_t)WEFT__STAGING_ROWS_ONLY;
    if (below(random, 12) == 0) b->nodes[node].traits |= WEFT__STAGING_EXCLUSIVE;
    if (node > 0 && below(random, 4) == 0)
        b->barriers[b->input.barrier_count++] = (weft__order_edge){below(random, node), node};
}

static bool is_exclusive(const bed *b, uint32_t node)
{
    return (b->nodes[node].traits & WEFT__STAGING_EXCLUSIVE) != 0;
}

/* Two systems in the wrong order must have nothing to do with each other. */
static void check_swapped(const bed *b, uint32_t early, uint32_t late)
{
    const weft__staging_node *a = &b->nodes[early], *z = &b->nodes[late];
    CHECK_U64(weft__staging_visible(a, z), WEFT__VISIBLE_NOTHING);
    CHECK_U64(z->effects, WEFT_RECORDS_NOTHING); /* who records keeps its place */
    CHECK(!is_exclusive(b, early) && !is_exclusive(b, late));
    for (uint32_t i = 0; i < a->access.count; i++)
        for (uint32_t k = 0; k < z->access.count; k++)
            CHECK(a->access.items[i].component != z->access.items[k].component ||
                  ((a->access.items[i].flags | z->access.items[k].flags) & WEFT__ACCESS_WRITE) ==
                      0);
    for (uint32_t i = 0; i < b->input.barrier_count; i++)
        CHECK(b->barriers[i].before != early || b->barriers[i].after != late);
}

/* Sync points that the planner needs for an order of nodes: one where a node sees what is not
 * played yet. */
static uint32_t sync_points(const bed *b, bool is_hoisted)
{
    uint32_t count = 0, first = 0;
    for (uint32_t i = 0; i < b->input.node_count; i++) {
        uint32_t node = is_hoisted ? b->order[i] : i;
        bool is_sync = false;
        for (uint32_t k = first; k < i && !is_sync; k++)
            is_sync = weft__staging_visible(&b->nodes[is_hoisted ? b->order[k] : k],
                                            &b->nodes[node]) != WEFT__VISIBLE_NOTHING;
        if (!is_sync) continue;
        count++;
        first = i;
    }
    return count;
}

Test(hoist, random_orders_keep_what_systems_depend_on)
{
    test_random random = test_random_init(1516);
    uint64_t moved = 0;
    for (uint32_t round = 0; round < 20000; round++) {
        bed b;
        bed_init(&b);
        uint32_t count = 2 + below(&random, LIMIT - 2);
        for (uint32_t i = 0; i < count; i++) add_at_random(&b, &random);
        bed_hoist(&b);
        uint32_t seen = 0;
        for (uint32_t i = 0; i < count; i++) {
            CHECK(b.order[i] < count && (seen >> b.order[i] & 1) == 0);
            seen |= 1u << b.order[i];
            for (uint32_t k = i + 1; k < count; k++)
                if (b.order[k] < b.order[i]) {
                    check_swapped(&b, b.order[k], b.order[i]);
                    moved++;
                }
        }
        CHECK(sync_points(&b, true) <= sync_points(&b, false));
    }
    CHECK(moved > 10000);
}
