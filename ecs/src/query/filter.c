/* SPDX-License-Identifier: MIT */
/* filter.c: evaluating the filters of query handles, and enable bits.
 *
 * A shared value of a condition is interned when the condition is made, so that evaluation compares
 * indices; filtering on a value not in use creates it. Change conditions compare version numbers,
 * wrap-safe: newer means the difference is positive as a signed number. */
#include "filter.h"
#include "entity_value.h"
#include "query_state.h"
#include "search.h"

/* ---- evaluation ---- */

/* Values ascend. */
static bool has_value(const weft__filter_shared *condition, uint32_t value)
{
    const uint32_t low =
        weft__search(condition->values, condition->count, sizeof *condition->values, 0, value);
    return low < condition->count && condition->values[low] == value;
}

static bool passes_shared(const weft__filter_shared *condition, const weft__place *places,
                          const weft__chunk *chunk)
{
    uint32_t position = places[condition->term].shared;
    bool wants_others = condition->op == WEFT_FILTER_NOT_EQUAL;
    if (position == WEFT__NO_PLACE) return wants_others;
    return has_value(condition, chunk->tuple->values[position]) != wants_others;
}

/* Every change condition with version 0 lets everything pass. */
static bool passes_anyway(const weft__filter *filter, const uint32_t *since)
{
    if (since != NULL) return *since == 0;
    for (uint32_t i = 0; i < filter->changed.count; i++)
        if (filter->changed.at[i].since == 0) return true;
    return false;
}

weft__filter_verdict weft__filter_chunk(const weft__filter *filter, const weft__place *places,
                                        const weft__chunk *chunk, const uint32_t *since)
{
    for (uint32_t i = 0; i < filter->shared.count; i++)
        if (!passes_shared(&filter->shared.at[i], places, chunk)) return WEFT__FILTER_SKIP;
    if (!weft__filter_has_changes(filter)) return WEFT__FILTER_PASS;
    uint32_t order_since = since != NULL ? *since : filter->order_since;
    if (filter->has_order &&
        (order_since == 0 || weft__version_is_newer(chunk->order_version, order_since)))
        return WEFT__FILTER_PASS;
    if (filter->changed.count == 0) return WEFT__FILTER_SKIP;
    return passes_anyway(filter, since) ? WEFT__FILTER_PASS : WEFT__FILTER_SLICES;
}

static bool has_changed(const weft_a32 *x_version, uint32_t since)
{
    /* plain: slices of the caller's own range, which others do not stamp while it is scanned; so
     * that the compiler may compare eight at once (0.5 ns per slice; 1.2 one by one) */
    uint32_t version = at_plain(x_version);
    return version != 0 && (int32_t)(version - since) > 0;
}

enum { BLOCK = 8 };

/* How many of a block's slices have changed. */
static inline uint32_t changed_in_block(const weft_a32 *x_versions, uint32_t since)
{
    uint32_t changed = 0;
    for (uint32_t i = 0; i < BLOCK; i++) changed += has_changed(&x_versions[i], since);
    return changed;
}

uint32_t weft__versions_scan(const weft_a32 *x_versions, uint32_t slice, uint32_t end,
                             uint32_t since, bool wanted)
{
    const uint32_t passed = wanted ? 0 : BLOCK; /* nothing to find in a block like this */
    while (slice + BLOCK <= end && changed_in_block(x_versions + slice, since) == passed)
        slice += BLOCK;
    while (slice < end && has_changed(&x_versions[slice], since) != wanted) slice++;
    return slice;
}

static uint32_t since_of(const weft__filter *filter, uint32_t index, const uint32_t *since)
{
    return since != NULL ? *since : filter->changed.at[index].since;
}

uint32_t weft__filter_sparse_version(const weft__type *sparse, const weft__chunk *chunk,
                                     uint32_t slice)
{
    uint32_t shift = chunk->layout->slice_shift, first = slice << shift;
    uint32_t left = chunk->count - first;
    return weft__sparse_newest(sparse, chunk, first, left < 1u << shift ? left : 1u << shift);
}

/* The first slice in [slice, end) in which the SPARSE value of a row's entity changed. */
static uint32_t scan_sparse(const weft__type *type, const weft__chunk *chunk, uint32_t slice,
                            uint32_t end, uint32_t since)
{
    for (; slice < end; slice++)
        if (since == 0 ||
            weft__version_is_newer(weft__filter_sparse_version(type, chunk, slice), since))
            break;
    return slice;
}

uint32_t weft__filter_next(const weft__filter *filter, const weft__place *places,
                           const weft__chunk *chunk, uint32_t slice, uint32_t end,
                           const uint32_t *since)
{
    uint32_t first = end; /* changed in any column: the nearest of all */
    for (uint32_t i = 0; i < filter->changed.count; i++) {
        uint32_t type = places[filter->changed.at[i].term].type;
        if (filter->changed.at[i].sparse != NULL)
            first = scan_sparse(filter->changed.at[i].sparse, chunk, slice, first,
                                since_of(filter, i, since));
        if (type == WEFT__NO_PLACE) continue;
        first = weft__versions_scan(weft__chunk_versions(chunk, type), slice, first,
                                    since_of(filter, i, since), true);
    }
    return first;
}

static bool is_changed(const weft__filter *filter, const weft__place *places,
                       const weft__chunk *chunk, uint32_t slice, const uint32_t *since)
{
    return weft__filter_next(filter, places, chunk, slice, slice + 1, since) == slice;
}

uint32_t weft__filter_run_end(const weft__filter *filter, const weft__place *places,
                              const weft__chunk *chunk, uint32_t slice, uint32_t end,
                              const uint32_t *since)
{
    if (filter->changed.count == 1 && places[filter->changed.at[0].term].type != WEFT__NO_PLACE)
        return weft__versions_scan(
            weft__chunk_versions(chunk, places[filter->changed.at[0].term].type), slice, end,
            since_of(filter, 0, since), false);
    while (slice < end && is_changed(filter, places, chunk, slice, since)) slice++;
    return slice;
}

void weft__filter_release(weft_world *world, const weft__filter_shared *condition, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        weft__shared_release(&world->shared, condition->component, condition->values[i], 1);
}

void weft__filter_reset(weft_world *world, weft__filter *filter)
{
    for (uint32_t i = 0; i < filter->shared.count; i++) {
        weft__filter_shared *condition = &filter->shared.at[i];
        weft__filter_release(world, condition, condition->count);
        WEFT__FREE(&world->memory, WEFT__MEMORY_QUERIES, condition->values, condition->count);
    }
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &filter->shared);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &filter->changed);
    *filter = (weft__filter){.version = filter->version + 1};
}

/* The mask of a slice is, per description that matches the archetype: rows where every ALL term is
 * enabled, every NONE and DISABLED term is disabled, and one of the ANY terms is enabled (one that
 * is not enableable always is); the descriptions are OR-ed. Counts of disabled rows per slice
 * answer the common cases without looking at a bit. */

bool weft__chunk_is_enabled(const weft__chunk *chunk, uint32_t enableable, uint32_t row)
{
    /* relaxed: bits are read by the owner, or by systems ordered after their writers */
    uint64_t word = at_load_rlx(&weft__chunk_disabled(chunk, enableable)[row >> 6]);
    return (word >> (row & 63) & 1) == 0;
}

/* ---- counts ---- */

/* Rows of a slice. */
static uint32_t slice_rows(const weft__chunk *chunk, uint32_t slice)
{
    uint32_t shift = chunk->layout->slice_shift;
    uint32_t left = chunk->count - (slice << shift);
    return left < 1u << shift ? left : 1u << shift;
}

/* How many rows of a slice are disabled, and how many a term lets pass, by the counts. */
static weft__rows guess_disabled(uint32_t enableable, const weft__chunk *chunk, uint32_t slice)
{
    /* relaxed: written by the owner, or by systems ordered before this one */
    uint32_t disabled = at_load_rlx(&weft__chunk_disabled_counts(chunk, enableable)[slice]);
    if (disabled == 0) return WEFT__ROWS_NONE;
    return disabled == slice_rows(chunk, slice) ? WEFT__ROWS_ALL : WEFT__ROWS_SOME;
}

static weft__rows guess_term(const weft__query_term *term, const weft__place *place,
                             const weft__chunk *chunk, uint32_t slice)
{
    if (!term->is_masking) return WEFT__ROWS_ALL;
    if (term->sparse != NULL) return WEFT__ROWS_SOME;
    weft__rows disabled = guess_disabled(place->enableable, chunk, slice);
    bool wants_enabled = term->match == WEFT_ALL || term->match == WEFT_ANY;
    if (!wants_enabled || disabled == WEFT__ROWS_SOME) return disabled;
    return disabled == WEFT__ROWS_ALL ? WEFT__ROWS_NONE : WEFT__ROWS_ALL;
}

/* Whether a term says something about rows of the archetype. */
static bool is_asked(const weft__query_term *term, const weft__place *place)
{
    return place->type != WEFT__NO_PLACE || term->sparse != NULL;
}

static weft__rows guess_alternative(const weft__query *query, const weft__place *places,
                                    const weft__chunk *chunk, uint32_t slice, uint32_t alternative)
{
    bool has_any = (query->any_alternatives >> alternative & 1) != 0;
    weft__rows rows = WEFT__ROWS_ALL, any = WEFT__ROWS_NONE;
    for (uint32_t t = 0; t < query->term_count; t++) {
        const weft__query_term *term = &query->terms[t];
        if (term->alternative != alternative || !is_asked(term, &places[t])) continue;
        weft__rows guess = guess_term(term, &places[t], chunk, slice);
        if (term->match == WEFT_ANY) {
            if (guess == WEFT__ROWS_ALL || any == WEFT__ROWS_NONE) any = guess;
        } else if (guess == WEFT__ROWS_NONE) {
            return WEFT__ROWS_NONE;
        } else if (guess == WEFT__ROWS_SOME) {
            rows = WEFT__ROWS_SOME;
        }
    }
    if (!has_any || any == WEFT__ROWS_ALL) return rows;
    return any;
}

weft__rows weft__query_mask_guess(const weft__query *query, uint32_t match,
                                  const weft__chunk *chunk, uint32_t slice)
{
    const weft__place *places = weft__match_places(query, match);
    weft__rows rows = WEFT__ROWS_NONE;
    for (uint64_t left = query->matches[match].alternatives; left != 0; left &= left - 1) {
        weft__rows guess = guess_alternative(query, places, chunk, slice, bits_lowest(left));
        if (guess == WEFT__ROWS_ALL) return query->hidden_flags == 0 ? guess : WEFT__ROWS_SOME;
        if (guess == WEFT__ROWS_SOME) rows = WEFT__ROWS_SOME;
    }
    return rows;
}

/* ---- bits ---- */

/* A stretch of the words of a chunk: words [first, first + count). A value. */
typedef struct word_range {
    const weft__chunk *chunk;
    uint32_t first;
    uint32_t count;
} word_range;

/* Ands the words of a term into `mask`, flipped when enabled rows are wanted. */
static void and_words(uint64_t *mask, word_range range, uint32_t enableable, bool wants_enabled)
{
    const weft_a64 *x_words = weft__chunk_disabled(range.chunk, enableable) + range.first;
    uint64_t flip = wants_enabled ? ~UINT64_C(0) : 0;
    for (uint32_t w = 0; w < range.count; w++) /* relaxed: as weft__chunk_is_enabled */
        mask[w] &= at_load_rlx(&x_words[w]) ^ flip;
}

static void or_enabled_words(uint64_t *mask, word_range range, uint32_t enableable)
{
    const weft_a64 *x_words = weft__chunk_disabled(range.chunk, enableable) + range.first;
    for (uint32_t w = 0; w < range.count; w++) /* relaxed: as weft__chunk_is_enabled */
        mask[w] |= ~at_load_rlx(&x_words[w]);
}

/* Rows of a stretch of words: [*row, *row + returned). */
static uint32_t range_rows(word_range range, uint32_t *row)
{
    *row = range.first * 64;
    uint32_t left = range.chunk->count > *row ? range.chunk->count - *row : 0;
    return left < range.count * 64 ? left : range.count * 64;
}

/* The rows whose entities have a SPARSE component. They are alive, so a slot that leads to a row is
 * theirs. */
static void sparse_words(uint64_t *words, word_range range, const weft__type *type)
{
    weft__entity_block *const *blocks = type->sparse->blocks;
    uint32_t row, count = range_rows(range, &row);
    const weft_entity *entities = weft__chunk_entities(range.chunk) + row;
    for (uint32_t w = 0; w < range.count; w++) {
        uint64_t word = 0;
        uint32_t first = w * 64, end = first + 64 < count ? first + 64 : count;
        for (uint32_t i = first; i < end; i++) {
            const weft__entity_block *block = blocks[entities[i].index / WEFT__BLOCK_SLOTS];
            if (block == NULL) continue;
            /* relaxed: as weft__sparse_find */
            uint64_t slot = at_load_rlx(&block->x_slots[entities[i].index % WEFT__BLOCK_SLOTS]);
            word |= (uint64_t)((uint32_t)slot != 0) << (i - first);
        }
        words[w] = word;
    }
}

/* The same, as it is known or into `found`. */
static const uint64_t *sparse_found(const weft__query *query, const weft__type *type,
                                    word_range range, uint64_t *found)
{
    if (query->flat.rare == type)
        return query->flat.rare_words + weft__location(range.chunk, range.first * 64) / 64;
    sparse_words(found, range, type);
    return found;
}

/* Whether rows with the component are wanted, or those without. */
static bool wants_sparse(const weft__query_term *term)
{
    return term->match != WEFT_NONE && term->match != WEFT_ABSENT;
}

/* A SPARSE term, for one description: anded, or of several the ORed ones. */
static void sparse_term_mask(const weft__query *query, const weft__query_term *term,
                             word_range range, uint64_t *mask, uint64_t *any)
{
    uint64_t found[WEFT__MASK_WORDS];
    const uint64_t *words = sparse_found(query, term->sparse, range, found);
    for (uint32_t w = 0; w < range.count; w++)
        if (term->match == WEFT_ANY)
            any[w] |= words[w];
        else
            mask[w] &= wants_sparse(term) ? words[w] : ~words[w];
}

/* Leaves out SPARSE rows whose entities are prefabs or inactive. */
static void hide_words(uint64_t *mask, word_range range, const weft__query *query)
{
    uint32_t row, count = range_rows(range, &row);
    const weft_entity *entities = weft__chunk_entities(range.chunk) + row;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t unused;
        const weft__chunk *chunk = weft__entity_chunk(query->world, entities[i], &unused);
        if ((chunk->archetype->flags & query->hidden_flags) != 0)
            mask[i / 64] &= ~(UINT64_C(1) << i % 64);
    }
}

/* The rows that satisfy one description. */
static void alternative_mask(const weft__query *query, const weft__place *places, word_range range,
                             uint32_t alternative, uint64_t *mask)
{
    uint64_t any[WEFT__MASK_WORDS] = {0};
    bool needs_any = (query->any_alternatives >> alternative & 1) != 0;
    memset(mask, 0xFF, range.count * sizeof *mask);
    for (uint32_t t = 0; t < query->term_count; t++) {
        const weft__query_term *term = &query->terms[t];
        if (term->alternative != alternative || !is_asked(term, &places[t])) continue;
        if (term->sparse != NULL && term->is_masking)
            sparse_term_mask(query, term, range, mask, any);
        else if (term->match == WEFT_ANY && !term->is_masking)
            needs_any = false; /* every row has this one */
        else if (term->match == WEFT_ANY)
            or_enabled_words(any, range, places[t].enableable);
        else if (term->is_masking)
            and_words(mask, range, places[t].enableable, term->match == WEFT_ALL);
    }
    for (uint32_t w = 0; w < range.count && needs_any; w++) mask[w] &= any[w];
}

/* All descriptions; bits beyond the words' rows are not cleared. */
static void match_mask(const weft__query *query, uint32_t match, word_range range, uint64_t *mask)
{
    const weft__place *places = weft__match_places(query, match);
    uint64_t left = query->matches[match].alternatives;
    alternative_mask(query, places, range, bits_lowest(left), mask);
    while ((left &= left - 1) != 0) {
        uint64_t other[WEFT__MASK_WORDS];
        alternative_mask(query, places, range, bits_lowest(left), other);
        for (uint32_t w = 0; w < range.count; w++) mask[w] |= other[w];
    }
    if (query->hidden_flags != 0) hide_words(mask, range, query);
}

/* Clears the bits beyond the rows, and says what is left. */
static weft__rows close_mask(uint64_t *mask, uint32_t rows)
{
    uint64_t some = 0, all = ~UINT64_C(0);
    uint32_t whole = rows / 64;
    for (uint32_t w = 0; w < whole; w++) {
        some |= mask[w];
        all &= mask[w];
    }
    bool is_all = all == ~UINT64_C(0);
    if ((rows & 63) != 0) {
        mask[whole] &= bits_mask(rows & 63);
        some |= mask[whole];
        is_all = is_all && mask[whole] == bits_mask(rows & 63);
    }
    if (some == 0) return WEFT__ROWS_NONE;
    return is_all ? WEFT__ROWS_ALL : WEFT__ROWS_SOME;
}

/* The mask of a slice that some but not all rows pass, of a match with one masking term: its
 * words, as they are or flipped; the count of disabled rows has told the rest. */
static void sole_mask(const weft__query_term *term, const weft__place *place, word_range range,
                      uint32_t rows, uint64_t *mask)
{
    const weft_a64 *x_words = weft__chunk_disabled(range.chunk, place->enableable) + range.first;
    uint64_t flip = term->match == WEFT_ALL ? ~UINT64_C(0) : 0;
    for (uint32_t w = 0; w < range.count; w++) /* relaxed: as weft__chunk_is_enabled */
        mask[w] = at_load_rlx(&x_words[w]) ^ flip;
    if ((rows & 63) != 0) mask[range.count - 1] &= bits_mask(rows & 63);
}

/* The mask of a slice of a match whose only masking term is SPARSE. */
static weft__rows sole_sparse_mask(const weft__query *query, const weft__query_term *term,
                                   word_range range, uint32_t rows, uint64_t *mask)
{
    const uint64_t *words = sparse_found(query, term->sparse, range, mask);
    uint64_t flip = wants_sparse(term) ? 0 : ~UINT64_C(0);
    for (uint32_t w = 0; w < range.count; w++) mask[w] = words[w] ^ flip;
    if (query->hidden_flags != 0) hide_words(mask, range, query);
    return close_mask(mask, rows);
}

weft__rows weft__query_mask(const weft__query *query, uint32_t match, const weft__chunk *chunk,
                            uint32_t slice, uint64_t *mask)
{
    uint32_t sole = query->matches[match].sole_mask;
    const weft__place *places = weft__match_places(query, match);
    weft__rows guess = sole != WEFT__NONE
                           ? guess_term(&query->terms[sole], &places[sole], chunk, slice)
                           : weft__query_mask_guess(query, match, chunk, slice);
    if (guess != WEFT__ROWS_SOME) return guess;
    uint32_t rows = slice_rows(chunk, slice);
    word_range range = {.chunk = chunk,
                        .first = slice << (chunk->layout->slice_shift - 6),
                        .count = (rows + 63) / 64};
    WEFT_ASSERT(range.count <= WEFT__MASK_WORDS);
    if (sole != WEFT__NONE && query->terms[sole].sparse != NULL)
        return sole_sparse_mask(query, &query->terms[sole], range, rows, mask);
    if (sole != WEFT__NONE) {
        sole_mask(&query->terms[sole], &places[sole], range, rows, mask);
        return WEFT__ROWS_SOME;
    }
    match_mask(query, match, range, mask);
    return close_mask(mask, rows);
}

bool weft__query_row_is_enabled(const weft__query *query, uint32_t match, const weft__chunk *chunk,
                                uint32_t row)
{
    if (!query->matches[match].has_masks) return true;
    uint64_t word;
    match_mask(query, match, (word_range){.chunk = chunk, .first = row >> 6, .count = 1}, &word);
    return (word >> (row & 63) & 1) != 0;
}
