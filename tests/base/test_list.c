/* SPDX-License-Identifier: MIT */
/* test_list.c: growing arrays: what they hold, and that refused memory leaves them as they were. */
#include "list.h"
#include "memory_bed.h"

#include <criterion/criterion.h>

typedef struct wide {
    _Alignas(64) uint64_t value;
} wide;

static void bed_close(bed *b)
{
    CHECK_U64(weft__memory_bytes(&b->memory, WEFT__MEMORY_QUERIES), 0);
    test_memory_fini(&b->hook);
}

Test(list, holds_what_was_added_and_gives_its_memory_back)
{
    bed b;
    WEFT__LIST(uint32_t) list = {0};
    WEFT__LIST(wide) lines = {0};
    bed_open(&b);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t *added = WEFT__LIST_ADD(&b.memory, WEFT__MEMORY_QUERIES, &list);
        wide line = {i};
        CHECK(added != NULL);
        *added = i;
        CHECK(WEFT__LIST_APPEND(&b.memory, WEFT__MEMORY_QUERIES, &lines, &line, 1));
    }
    CHECK_U64(list.count, 1000);
    CHECK_U64(list.capacity, 1024);
    CHECK_U64((uintptr_t)lines.at % 64, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_U64(list.at[i], i);
        CHECK_U64(lines.at[i].value, i);
    }
    WEFT__LIST_FREE(&b.memory, WEFT__MEMORY_QUERIES, &list);
    WEFT__LIST_FREE(&b.memory, WEFT__MEMORY_QUERIES, &lines);
    CHECK_U64(list.count + list.capacity, 0);
    WEFT__LIST_FREE(&b.memory, WEFT__MEMORY_QUERIES, &list); /* empty: nothing */
    bed_close(&b);
}

Test(list, elements_that_are_reached_are_zero)
{
    bed b;
    WEFT__LIST(uint64_t) list = {0};
    bed_open(&b);
    CHECK(WEFT__LIST_REACH(&b.memory, WEFT__MEMORY_QUERIES, &list, list.count));
    CHECK_U64(list.capacity, 0);
    for (uint32_t end = 1; end < 300; end += end + 1) {
        CHECK(WEFT__LIST_REACH(&b.memory, WEFT__MEMORY_QUERIES, &list, end));
        CHECK_U64(list.count, end);
        CHECK_U64(list.at[end - 1], 0);
        for (uint32_t i = 0; i < end; i++) list.at[i] = i + 1;
        CHECK(WEFT__LIST_REACH(&b.memory, WEFT__MEMORY_QUERIES, &list, end - 1)); /* no shorter */
        CHECK_U64(list.count, end);
    }
    WEFT__LIST_FREE(&b.memory, WEFT__MEMORY_QUERIES, &list);
    bed_close(&b);
}

Test(list, refused_memory_leaves_it_as_it_was)
{
    static const uint16_t more[100] = {7};
    bed b;
    WEFT__LIST(uint16_t) list = {0};
    bed_open(&b);
    test_memory_fail(&b.hook, 1, true);
    CHECK_POINTER(WEFT__LIST_ADD(&b.memory, WEFT__MEMORY_QUERIES, &list), NULL);
    CHECK_U64(list.count + list.capacity, 0);
    test_memory_fail(&b.hook, 0, false);
    while (list.count == 0 || list.count < list.capacity)
        *WEFT__LIST_ADD(&b.memory, WEFT__MEMORY_QUERIES, &list) = 5;
    uint32_t count = list.count;
    test_memory_fail(&b.hook, 1, true);
    CHECK_POINTER(WEFT__LIST_ADD(&b.memory, WEFT__MEMORY_QUERIES, &list), NULL);
    CHECK(!WEFT__LIST_APPEND(&b.memory, WEFT__MEMORY_QUERIES, &list, more, 100));
    CHECK(!WEFT__LIST_REACH(&b.memory, WEFT__MEMORY_QUERIES, &list, count + 1));
    CHECK(!WEFT__LIST_ROOM(&b.memory, WEFT__MEMORY_QUERIES, &list, count + 1));
    CHECK_U64(list.count, count);
    for (uint32_t i = 0; i < count; i++) CHECK_U64(list.at[i], 5);
    test_memory_fail(&b.hook, 0, false);
    CHECK(WEFT__LIST_APPEND(&b.memory, WEFT__MEMORY_QUERIES, &list, more, 100));
    CHECK_U64(list.count, count + 100);
    CHECK_U64(list.at[count - 1], 5);
    CHECK_U64(list.at[count], 7);
    WEFT__LIST_FREE(&b.memory, WEFT__MEMORY_QUERIES, &list);
    bed_close(&b);
}

Test(list, counts_that_no_list_has_are_refused)
{
    bed b;
    WEFT__LIST(char) list = {0};
    bed_open(&b);
    CHECK(!weft__list_grow(&b.memory, WEFT__MEMORY_QUERIES, &list.at, &list.capacity,
                           (size_t)UINT32_MAX + 1, 1));
    CHECK(!WEFT__LIST_ROOM(&b.memory, WEFT__MEMORY_QUERIES, &list, UINT32_MAX));
    CHECK_U64(list.capacity, 0);
    bed_close(&b);
}
