/* SPDX-License-Identifier: MIT */
/* entity_swap.c: two entities of the same archetype and shared values change places: their values
 * and enable bits do, so that the order of iteration changes and nothing else.
 *
 * Owner, world idle. */

#include "archetype_state.h"
#include "entity_value.h"
#include "error.h"
#include "sparse.h"

#include <string.h>

static void bytes_swap(char *a, char *b, size_t bytes)
{
    char scratch[256];
    for (size_t done = 0; done < bytes; done += sizeof scratch) {
        size_t n = bytes - done < sizeof scratch ? bytes - done : sizeof scratch;
        memcpy(scratch, a + done, n);
        memcpy(a + done, b + done, n);
        memcpy(b + done, scratch, n);
    }
}

static void bit_swap(const weft__chunk *a, uint32_t row_a, const weft__chunk *b, uint32_t row_b,
                     uint32_t enableable)
{
    weft_a64 *x_a = &weft__chunk_disabled(a, enableable)[row_a / 64];
    weft_a64 *x_b = &weft__chunk_disabled(b, enableable)[row_b / 64];
    uint64_t bit_a = UINT64_C(1) << row_a % 64, bit_b = UINT64_C(1) << row_b % 64;
    /* relaxed: the world is idle */
    bool is_a = (at_load_rlx(x_a) & bit_a) != 0, is_b = (at_load_rlx(x_b) & bit_b) != 0;
    if (is_a == is_b) return;
    uint32_t shift = a->layout->slice_shift;
    weft_a32 *x_count_a = &weft__chunk_disabled_counts(a, enableable)[row_a >> shift];
    weft_a32 *x_count_b = &weft__chunk_disabled_counts(b, enableable)[row_b >> shift];
    at_store_rlx(x_a, at_load_rlx(x_a) ^ bit_a); /* relaxed: idle */
    at_store_rlx(x_b, at_load_rlx(x_b) ^ bit_b); /* relaxed: idle */
    uint32_t one = is_a ? 1u : UINT32_MAX;
    at_store_rlx(x_count_a, at_load_rlx(x_count_a) - one); /* relaxed: idle */
    at_store_rlx(x_count_b, at_load_rlx(x_count_b) + one); /* relaxed: idle */
}

static void rows_swap(const weft_world *world, const weft__chunk *a, uint32_t row_a,
                      const weft__chunk *b, uint32_t row_b)
{
    const weft__archetype *archetype = a->archetype;
    for (uint32_t column = 1; column < a->layout->column_count; column++)
        bytes_swap(weft__chunk_value(a, column, row_a), weft__chunk_value(b, column, row_b),
                   a->layout->columns[column].bytes);
    uint32_t shift = a->layout->slice_shift;
    for (uint32_t type = 0; type < archetype->type_count; type++) {
        weft__stamp(weft__chunk_versions(a, type) + (row_a >> shift), world->front.version);
        weft__stamp(weft__chunk_versions(b, type) + (row_b >> shift), world->front.version);
        uint32_t enableable = archetype->types[type].enableable;
        if (enableable != WEFT__NO_PLACE) bit_swap(a, row_a, b, row_b, enableable);
    }
}

weft_result weft_entity_swap(weft_world *world, weft_entity a, weft_entity b)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_entity_swap");
    if (result != WEFT_OK) return result;
    uint32_t row_a, row_b;
    const weft__chunk *chunk_a = weft__living_chunk(world, a, &row_a);
    const weft__chunk *chunk_b = weft__living_chunk(world, b, &row_b);
    if (chunk_a == NULL) return weft__error_stale(world, a);
    if (chunk_b == NULL) return weft__error_stale(world, b);
    if (chunk_a->tuple != chunk_b->tuple)
        return weft__error(world, WEFT_TYPE_MISMATCH, a, WEFT__NO_COMPONENT,
                           "weft_entity_swap: the entities differ in archetype or shared values: "
                           "bring both to one with weft_entity_set_archetype or "
                           "weft_entity_set_shared");
    if (chunk_a == chunk_b && row_a == row_b) return WEFT_OK;
    result = weft__sparse_exchange(world, a, b);
    if (result == WEFT_OK) rows_swap(world, chunk_a, row_a, chunk_b, row_b);
    return result;
}
