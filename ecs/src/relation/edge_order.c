/* SPDX-License-Identifier: MIT */
/* edge_order.c: changes of edges in the order of target and source. Many are sorted by slot first,
 * by counting, then within each slot; few by merging. Scans give them mostly in order, which is
 * seen before anything is moved: then they stay where they are. Pure. */
#include "edge_order.h"

#define RUN 12u /* of insertion sort */

static bool is_before(const weft__edge_change *a, const weft__edge_change *b)
{
    uint64_t x = weft__edge_target_key(a), y = weft__edge_target_key(b);
    return x < y || (x == y && weft__edge_source_key(a) < weft__edge_source_key(b));
}

static void insertion_sort(weft__edge_change *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        weft__edge_change item = items[i];
        uint32_t k = i;
        for (; k > 0 && is_before(&item, &items[k - 1]); k--) items[k] = items[k - 1];
        items[k] = item;
    }
}

static void merge(const weft__edge_change *from, uint32_t middle, uint32_t count,
                  weft__edge_change *to)
{
    uint32_t a = 0, b = middle;
    for (uint32_t i = 0; i < count; i++) {
        bool takes_b = a == middle || (b < count && is_before(&from[b], &from[a]));
        to[i] = from[takes_b ? b++ : a++];
    }
}

static bool is_sorted(const weft__edge_change *items, uint32_t count)
{
    uint64_t target = 0, source = 0; /* of the one before */
    for (uint32_t i = 0; i < count; i++) {
        uint64_t x = weft__edge_target_key(&items[i]), y = weft__edge_source_key(&items[i]);
        if (x < target || (x == target && y < source)) return false;
        target = x;
        source = y;
    }
    return true;
}

/* Stable. `room`: as many items. */
static void merge_sort(weft__edge_change *items, uint32_t count, weft__edge_change *room)
{
    if (is_sorted(items, count)) return;
    for (uint32_t i = 0; i < count; i += RUN)
        insertion_sort(items + i, count - i < RUN ? count - i : RUN);
    for (uint32_t width = RUN; width < count; width *= 2) {
        for (uint32_t i = 0; i < count; i += 2 * width) {
            uint32_t size = count - i < 2 * width ? count - i : 2 * width;
            merge(items + i, width < size ? width : size, size, room + i);
        }
        memcpy(items, room, count * sizeof *items);
    }
}

void weft__edges_sort(weft__edge_change *items, uint32_t count, weft__edge_change *room)
{
    if (is_sorted(items, count)) return;
    if (count < WEFT__EDGE_COUNTING_FROM) {
        merge_sort(items, count, room);
        return;
    }
    uint32_t ends[WEFT__BLOCK_SLOTS + 1] = {0};
    for (uint32_t i = 0; i < count; i++) ends[items[i].target.index % WEFT__BLOCK_SLOTS + 1]++;
    for (uint32_t i = 0; i < WEFT__BLOCK_SLOTS; i++) ends[i + 1] += ends[i];
    for (uint32_t i = 0; i < count; i++)
        room[ends[items[i].target.index % WEFT__BLOCK_SLOTS]++] = items[i];
    memcpy(items, room, count * sizeof *items);
    for (uint32_t i = 0, first = 0; i < WEFT__BLOCK_SLOTS; first = ends[i++])
        if (ends[i] - first > 1) merge_sort(items + first, ends[i] - first, room);
}
