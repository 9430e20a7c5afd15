/* SPDX-License-Identifier: MIT */
/* test_table.c: hash tables of numbers against a plain list, and where memory is refused. */
#include "memory_bed.h"
#include "random.h"
#include "table.h"

#include <criterion/criterion.h>

#define CATEGORY WEFT__MEMORY_QUERIES

/* How often a number is found by a hash: that it is not met among others of the hash is the
 * caller's to see. */
static uint32_t times_found(const weft__table *table, uint32_t hash, uint32_t number)
{
    uint32_t step = 0, found, times = 0;
    while ((found = weft__table_next(table, hash, &step)) != 0) times += found == number;
    return times;
}

enum { NUMBERS = 600 };

/* Few hashes, at both ends of the table: chains are long and go round its end. */
static uint32_t hash_of(uint32_t number)
{
    return number % 7 == 0 ? UINT32_MAX : number % 50 * (UINT32_C(1) << 20) + (number % 3 - 1);
}

Test(table, numbers_that_come_and_go_are_those_of_a_list)
{
    bed b;
    weft__table table = {0};
    bool is_in[NUMBERS + 1] = {false};
    uint32_t count = 0;
    test_random random = test_random_init(0x7ab1e);
    bed_open(&b);
    CHECK_U64(times_found(&table, 5, 1), 0);
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t number = 1 + (uint32_t)test_random_below(&random, NUMBERS);
        if (is_in[number]) {
            weft__table_take(&table, hash_of(number), number);
            count--;
        } else {
            CHECK(weft__table_room(&b.memory, CATEGORY, &table, count + 1));
            weft__table_put(&table, hash_of(number), number);
            count++;
        }
        is_in[number] = !is_in[number];
        CHECK_U64(table.count, count);
        CHECK(2 * table.count <= table.capacity);
        for (uint32_t i = 1; i <= NUMBERS && round % 500 == 0; i++)
            CHECK_U64(times_found(&table, hash_of(i), i), is_in[i]);
    }
    weft__table_clear(&table);
    for (uint32_t i = 1; i <= NUMBERS; i++) CHECK_U64(times_found(&table, hash_of(i), i), 0);
    weft__table_free(&b.memory, CATEGORY, &table);
    CHECK_U64(weft__memory_bytes(&b.memory, CATEGORY), 0);
    test_memory_fini(&b.hook);
}

Test(table, refused_memory_leaves_it_as_it_was)
{
    bed b;
    weft__table table = {0};
    bed_open(&b);
    test_memory_fail(&b.hook, 1, true);
    CHECK(!weft__table_room(&b.memory, CATEGORY, &table, 1));
    CHECK_U64(table.capacity, 0);
    test_memory_fail(&b.hook, 0, false);
    CHECK(weft__table_room(&b.memory, CATEGORY, &table, 1));
    const uint32_t room = table.capacity / 2;
    for (uint32_t i = 1; i <= room; i++) weft__table_put(&table, hash_of(i), i);
    test_memory_fail(&b.hook, 1, true);
    CHECK(weft__table_room(&b.memory, CATEGORY, &table, room));
    CHECK(!weft__table_room(&b.memory, CATEGORY, &table, room + 1));
    CHECK(!weft__table_room(&b.memory, CATEGORY, &table, UINT32_MAX));
    for (uint32_t i = 1; i <= room; i++) CHECK_U64(times_found(&table, hash_of(i), i), 1);
    test_memory_fail(&b.hook, 0, false);
    CHECK(weft__table_room(&b.memory, CATEGORY, &table, room + 1));
    for (uint32_t i = 1; i <= room; i++) CHECK_U64(times_found(&table, hash_of(i), i), 1);
    weft__table_free(&b.memory, CATEGORY, &table);
    test_memory_fini(&b.hook);
}
