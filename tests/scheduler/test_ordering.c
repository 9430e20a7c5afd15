/* SPDX-License-Identifier: MIT */
/* test_ordering.c: topological order by rank, cycles as a path, random orders. */
#include "staging.h"

#include "check.h"

#include <criterion/criterion.h>

static weft__memory memory;

static weft_result sort(const weft__order_edge *edges, uint32_t edge_count, uint32_t nodes,
                        uint64_t seed, uint32_t *out, uint32_t *length)
{
    static const uint32_t ranks[] = {0, 1, 2, 3, 4, 5, 6, 7};
    CHECK_OK(weft__memory_init(&memory, NULL));
    weft__ordering graph = {nodes, ranks, edges, edge_count, seed};
    weft__pile pile = {&memory, WEFT__MEMORY_SYSTEMS};
    weft_result result = weft__ordering_sort(&graph, &pile, out, length);
    weft__pile_free(&pile);
    CHECK_U64(weft__memory_bytes(&memory, WEFT__MEMORY_SYSTEMS), 0);
    return result;
}

Test(ordering, without_edges_the_rank_decides)
{
    uint32_t out[5], length;
    CHECK_OK(sort(NULL, 0, 5, 0, out, &length));
    for (uint32_t i = 0; i < 5; i++) CHECK_U64(out[i], i);
}

Test(ordering, an_edge_moves_only_what_it_must)
{
    uint32_t out[4], length;
    CHECK_OK(sort((weft__order_edge[]){{3, 0}}, 1, 4, 0, out, &length));
    static const uint32_t expected[] = {1, 2, 3, 0};
    for (uint32_t i = 0; i < 4; i++) CHECK_U64(out[i], expected[i]);
}

Test(ordering, a_cycle_is_reported_as_its_path)
{
    uint32_t out[6], length;
    weft__order_edge edges[] = {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}};
    CHECK_RESULT(sort(edges, 5, 6, 0, out, &length), WEFT_CYCLE);
    CHECK_U64(length, 3);
    for (uint32_t i = 0; i < 3; i++) { /* each before the next, around */
        uint32_t next = out[(i + 1) % 3];
        CHECK_U64(next, out[i] == 3 ? 1 : out[i] + 1);
    }
}

Test(ordering, a_node_before_itself_is_a_cycle_of_one)
{
    uint32_t out[2], length;
    CHECK_RESULT(sort((weft__order_edge[]){{1, 1}}, 1, 2, 0, out, &length), WEFT_CYCLE);
    CHECK_U64(length, 1);
    CHECK_U64(out[0], 1);
}

Test(ordering, random_orders_differ_and_respect_edges)
{
    weft__order_edge edges[] = {{0, 4}, {4, 7}, {1, 2}, {2, 0}};
    uint32_t different = 0, first[8] = {0};
    for (uint64_t seed = 1; seed <= 50; seed++) {
        uint32_t out[8], at[8], length;
        CHECK_OK(sort(edges, 4, 8, seed, out, &length));
        for (uint32_t i = 0; i < 8; i++) at[out[i]] = i;
        for (uint32_t i = 0; i < 4; i++) CHECK(at[edges[i].before] < at[edges[i].after]);
        bool is_same = true;
        for (uint32_t i = 0; i < 8; i++) {
            if (seed == 1) first[i] = out[i];
            is_same = is_same && first[i] == out[i];
        }
        if (!is_same) different++;
    }
    CHECK(different > 25);
}
