/* SPDX-License-Identifier: MIT */
/* test_units.c: the unit allocator alone: runs, fragmentation, limits, failure of the OS,
 * release of memory. */
#include "check.h"
#include "os_fault.h"
#include "units.h"

#include <criterion/criterion.h>
#include <string.h>

/* An allocator without a world. Owner: one test. */
typedef struct units_bed {
    weft__memory memory;
    test_os os;
    weft__units units;
} units_bed;

static void units_open(units_bed *b, uint32_t megachunk_limit)
{
    CHECK_OK(weft__memory_init(&b->memory, NULL));
    test_os_init(&b->os);
    weft__units_init(&b->units, &b->memory, &b->os.table, megachunk_limit, true);
}

static void units_close(units_bed *b)
{
    char text[200];
    if (!weft__units_check(&b->units, text, sizeof text)) test_fail(__FILE__, __LINE__, text);
    weft__units_fini(&b->units);
    CHECK_U64(weft__memory_bytes(&b->memory, WEFT__MEMORY_CHUNKS), 0);
}

Test(units, runs_are_contiguous_disjoint_zero_and_aligned)
{
    units_bed b;
    units_open(&b, 0);
    weft__run runs[7];
    for (uint32_t k = 0; k < 7; k++) {
        CHECK_OK(weft__units_allocate(&b.units, 1u << k, 0, &runs[k]));
        CHECK_U64(runs[k].count, 1u << k);
        CHECK(runs[k].is_zero);
        CHECK_U64((uintptr_t)runs[k].memory % WEFT__UNIT_BYTES, 0);
        memset(runs[k].memory, (int)k + 1, runs[k].count * WEFT__UNIT_BYTES);
    }
    for (uint32_t k = 0; k < 7; k++) {
        const unsigned char *bytes = runs[k].memory;
        CHECK_U64(bytes[0], k + 1);
        CHECK_U64(bytes[runs[k].count * WEFT__UNIT_BYTES - 1], k + 1);
    }
    CHECK_U64(weft__units_used(&b.units), 127);
    for (uint32_t k = 0; k < 7; k++)
        CHECK_OK(weft__units_free(&b.units, runs[k].first, runs[k].count));
    units_close(&b);
}

Test(units, used_memory_is_not_called_zero)
{
    units_bed b;
    units_open(&b, 0);
    weft__run keep, run, again;
    CHECK_OK(weft__units_allocate(&b.units, 1, 0, &keep));
    CHECK_OK(weft__units_allocate(&b.units, 2, 0, &run));
    CHECK_OK(weft__units_free(&b.units, run.first, run.count));
    CHECK_OK(weft__units_allocate(&b.units, 2, 0, &again));
    CHECK_U64(again.first, run.first);
    CHECK(!again.is_zero);
    units_close(&b);
}

Test(units, every_second_unit_free_serves_only_single_units)
{
    units_bed b;
    units_open(&b, 2);
    weft__run runs[128], run;
    for (uint32_t i = 0; i < 128; i++) CHECK_OK(weft__units_allocate(&b.units, 1, 0, &runs[i]));
    for (uint32_t i = 0; i < 128; i += 2) CHECK_OK(weft__units_free(&b.units, runs[i].first, 1));
    CHECK_RESULT(weft__units_allocate(&b.units, 2, 0, &run), WEFT_LIMIT);
    CHECK_OK(weft__units_allocate(&b.units, 1, 0, &run));
    CHECK_U64(run.count, 1);
    units_close(&b);
}

Test(units, the_limit_is_exact_and_a_failure_changes_nothing)
{
    units_bed b;
    units_open(&b, 2);
    weft__run a, c, run;
    CHECK_OK(weft__units_allocate(&b.units, 64, 0, &a));
    CHECK_OK(weft__units_allocate(&b.units, 64, 0, &c));
    CHECK_RESULT(weft__units_allocate(&b.units, 1, 0, &run), WEFT_LIMIT);
    CHECK_U64(run.count, 0);
    CHECK_U64(weft__units_used(&b.units), 128);
    CHECK_OK(weft__units_free(&b.units, a.first + 10, 3));
    CHECK_OK(weft__units_allocate(&b.units, 3, 0, &run));
    CHECK_U64(run.first, a.first + 10);
    units_close(&b);
}

Test(units, bad_sizes_and_double_frees_are_refused)
{
    units_bed b;
    units_open(&b, 0);
    weft__run run, other;
    CHECK_RESULT(weft__units_allocate(&b.units, 0, 0, &run), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft__units_allocate(&b.units, 65, 0, &run), WEFT_INVALID_ARGUMENT);
    CHECK_OK(weft__units_allocate(&b.units, 4, 0, &run));
    CHECK_OK(weft__units_allocate(&b.units, 4, 0, &other));
    CHECK_OK(weft__units_free(&b.units, run.first, 4));
    CHECK_RESULT(weft__units_free(&b.units, run.first, 4), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft__units_free(&b.units, other.first, 5), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft__units_free(&b.units, UINT32_MAX, 1), WEFT_INVALID_ARGUMENT);
    CHECK_U64(weft__units_used(&b.units), 4);
    units_close(&b);
}

Test(units, a_refused_mapping_leaves_no_trace_and_the_next_one_works)
{
    units_bed b;
    units_open(&b, 0);
    weft__run run;
    test_os_fail_map(&b.os, 1);
    CHECK_RESULT(weft__units_allocate(&b.units, 8, 0, &run), WEFT_OUT_OF_MEMORY);
    CHECK_U64(weft__units_used(&b.units), 0);
    CHECK_U64(weft__units_mapped(&b.units), 0);
    CHECK_OK(weft__units_allocate(&b.units, 8, 0, &run));
    CHECK(run.memory != NULL);
    memset(run.memory, 1, 8 * WEFT__UNIT_BYTES);
    units_close(&b);
}

Test(units, a_refused_mapping_still_serves_from_mapped_megachunks)
{
    units_bed b;
    units_open(&b, 0);
    weft__run run, small;
    CHECK_OK(weft__units_allocate(&b.units, 60, 0, &run));
    CHECK_OK(weft__units_allocate(&b.units, 60, 0, &run)); /* the other half of the reservation */
    test_os_fail_map(&b.os, 1);
    CHECK_RESULT(weft__units_allocate(&b.units, 64, 0, &small), WEFT_OUT_OF_MEMORY);
    test_os_fail_map(&b.os, 1);
    CHECK_OK(weft__units_allocate(&b.units, 4, 0, &small));
    units_close(&b);
}

Test(units, empty_reservations_go_back_to_the_system_but_for_some)
{
    units_bed b;
    units_open(&b, 0);
    weft__run runs[200];
    for (uint32_t i = 0; i < 200; i++) CHECK_OK(weft__units_allocate(&b.units, 64, 0, &runs[i]));
    CHECK_U64(weft__units_mapped(&b.units), 200);
    for (uint32_t i = 0; i < 200; i++) CHECK_OK(weft__units_free(&b.units, runs[i].first, 64));
    CHECK_U64(weft__units_mapped(&b.units), 2 * WEFT__RESERVATIONS_KEPT);
    weft__units_trim(&b.units, 0);
    CHECK_U64(weft__units_mapped(&b.units), 0);
    CHECK_OK(weft__units_allocate(&b.units, 1, 0, &runs[0]));
    CHECK(runs[0].is_zero);
    units_close(&b);
}
