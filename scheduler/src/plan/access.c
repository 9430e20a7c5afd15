/* SPDX-License-Identifier: MIT */
/* access.c: collision of access sets. See access.h. Cost of a pair: the items of both, and for
 * each shared component with a write one pass over the words of the archetype sets until the
 * first hit. */
#include "access.h"

#include "bits.h"
#include "invariant.h"

#include <stdlib.h>

static uint64_t set_word(const weft__archetype_set *set, uint32_t word)
{
    if (set == NULL) return ~UINT64_C(0);
    return word < set->word_count ? set->words[word] : 0;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

uint32_t weft__archetype_sets_meet(const weft__archetype_set *a, const weft__archetype_set *b,
                                   const weft__archetype_set *c)
{
    const weft__archetype_set *sets[] = {a, b, c};
    uint32_t first = 0, end = UINT32_MAX;
    for (uint32_t i = 0; i < 3; i++) {
        if (sets[i] == NULL) continue;
        first = larger(first, sets[i]->first_word);
        if (sets[i]->word_count < end) end = sets[i]->word_count;
    }
    if (end == UINT32_MAX) return 0; /* three times "any": they meet if there are archetypes */
    for (uint32_t word = first; word < end; word++) {
        uint64_t common = set_word(a, word) & set_word(b, word) & set_word(c, word);
        if (common != 0) return word * 64 + bits_lowest(common);
    }
    return UINT32_MAX;
}

weft__conflict weft__access_item_conflict(const weft__access_item *a, const weft__access_item *b)
{
    WEFT_ASSERT(a->component == b->component);
    if (((a->flags | b->flags) & WEFT__ACCESS_WRITE) == 0) return WEFT__CONFLICT_NONE;
    if (((a->flags | b->flags) & WEFT__ACCESS_RESOURCE) == 0 &&
        weft__archetype_sets_meet(a->match, b->match, a->with) == UINT32_MAX)
        return WEFT__CONFLICT_NONE;
    return ((a->flags | b->flags) & WEFT__ACCESS_FAR) != 0 ? WEFT__CONFLICT_FAR
                                                           : WEFT__CONFLICT_NEAR;
}

/* The strongest conflict between the runs of items of one component. */
static weft__conflict conflict_of_runs(const weft__access_item *a, uint32_t a_count,
                                       const weft__access_item *b, uint32_t b_count)
{
    weft__conflict worst = WEFT__CONFLICT_NONE;
    for (uint32_t i = 0; i < a_count; i++)
        for (uint32_t k = 0; k < b_count; k++) {
            weft__conflict conflict = weft__access_item_conflict(&a[i], &b[k]);
            if (conflict > worst) worst = conflict;
        }
    return worst;
}

static uint32_t run_length(const weft__access_set *set, uint32_t from)
{
    uint32_t end = from + 1;
    while (end < set->count && set->items[end].component == set->items[from].component) end++;
    return end - from;
}

weft__conflict weft__access_conflict(const weft__access_set *a, const weft__access_set *b,
                                     uint32_t *component)
{
    weft__conflict worst = WEFT__CONFLICT_NONE;
    for (uint32_t i = 0, k = 0; i < a->count && k < b->count;) {
        uint32_t left = a->items[i].component, right = b->items[k].component;
        if (left != right) {
            if (left < right)
                i++;
            else
                k++;
            continue;
        }
        uint32_t i_run = run_length(a, i), k_run = run_length(b, k);
        weft__conflict conflict = conflict_of_runs(&a->items[i], i_run, &b->items[k], k_run);
        if (conflict > worst) {
            worst = conflict;
            if (component != NULL) *component = left;
            if (worst == WEFT__CONFLICT_FAR) return worst;
        }
        i += i_run;
        k += k_run;
    }
    return worst;
}

static int compare_items(const void *left, const void *right)
{
    const weft__access_item *a = left, *b = right;
    if (a->component != b->component) return a->component < b->component ? -1 : 1;
    if (a->match != b->match) return (uintptr_t)a->match < (uintptr_t)b->match ? -1 : 1;
    return a->flags < b->flags ? -1 : a->flags > b->flags;
}

void weft__access_set_normalise(weft__access_set *set)
{
    if (set->count == 0) return;
    qsort(set->items, set->count, sizeof set->items[0], compare_items);
    uint32_t kept = 0;
    for (uint32_t i = 1; i < set->count; i++) {
        weft__access_item *last = &set->items[kept], *next = &set->items[i];
        bool is_same = last->component == next->component && last->match == next->match;
        if (is_same)
            last->flags |= next->flags; /* write beats read, far beats near */
        else
            set->items[++kept] = *next;
    }
    set->count = kept + 1;
}
