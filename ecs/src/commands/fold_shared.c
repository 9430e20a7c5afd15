/* SPDX-License-Identifier: MIT */
/* fold_shared.c: the shared values of a fold. Workers can look for a value in the store but not add
 * it, and a look-up costs more than comparing with the few that their segment has shown already. */
#include "fold_shared.h"

#include "scratch.h"

#include <string.h>

static_assert(WEFT__FOLD_VALUES << WEFT__FOLD_VALUE_SHIFT <= 256, "a number fits the flags");

bool weft__fold_values_take(weft__fold *fold)
{
    weft_world *world = fold->playback->world;
    size_t segments = fold->segment_count, count = segments * WEFT__FOLD_VALUES;
    fold->values = weft__scratch_take(world, WEFT__SCRATCH_VALUES, count, sizeof fold->values[0]);
    fold->value_indices = weft__scratch_take(world, WEFT__SCRATCH_VALUE_INDICES, count,
                                             sizeof fold->value_indices[0]);
    fold->value_counts = weft__scratch_take(world, WEFT__SCRATCH_VALUE_COUNTS, segments,
                                            sizeof fold->value_counts[0]);
    if (fold->values == NULL || fold->value_indices == NULL || fold->value_counts == NULL)
        return false;
    memset(fold->value_counts, 0, segments * sizeof fold->value_counts[0]);
    memset(fold->value_indices, 0, count * sizeof fold->value_indices[0]); /* nothing is held */
    return true;
}

static bool is_same(const weft__fold *fold, const weft__command *a, const weft__command *b)
{
    if (a->subject != b->subject) return false;
    size_t bytes = fold->playback->world->types.at[a->subject]->desc.size;
    const void *left = weft__command_payload(a), *right = weft__command_payload(b);
    return bytes == 4 ? memcmp(left, right, 4) == 0 : memcmp(left, right, bytes) == 0;
}

/* Where the number of a value is guessed: by its first bytes. */
static uint32_t guess_of(const weft__command *command)
{
    uint32_t word = 0;
    if (command->words != 0) memcpy(&word, weft__command_payload(command), sizeof word);
    return word * UINT32_C(2654435761) >> 28;
}

bool weft__fold_value_note(const weft__fold *fold, uint32_t segment, weft__command *command,
                           uint8_t *guesses)
{
    static_assert(WEFT__FOLD_VALUES == 16, "a guess has four bits");
    weft__command **known = fold->values + (size_t)segment * WEFT__FOLD_VALUES;
    uint8_t *guess = &guesses[guess_of(command)];
    uint32_t count = fold->value_counts[segment], i = *guess;
    if (i >= count || !is_same(fold, known[i], command)) i = 0;
    while (i < count && !is_same(fold, known[i], command)) i++;
    if (i == WEFT__FOLD_VALUES) return false;
    *guess = (uint8_t)i;
    if (i == count) {
        known[i] = command;
        fold->value_counts[segment]++;
    }
    command->flags = (uint8_t)((command->flags & ((1u << WEFT__FOLD_VALUE_SHIFT) - 1)) |
                               i << WEFT__FOLD_VALUE_SHIFT);
    return true;
}

weft_result weft__fold_values_hold(const weft__fold *fold)
{
    weft__shared *shared = &fold->playback->world->shared;
    for (uint32_t i = 0; i < fold->segment_count; i++) {
        size_t first = (size_t)i * WEFT__FOLD_VALUES;
        for (uint32_t k = 0; k < fold->value_counts[i]; k++) {
            const weft__command *command = fold->values[first + k];
            weft_result result =
                weft__shared_intern(shared, command->subject, weft__command_payload(command),
                                    &fold->value_indices[first + k]);
            if (result != WEFT_OK) return result;
        }
    }
    return WEFT_OK;
}

void weft__fold_values_release(const weft__fold *fold)
{
    for (uint32_t i = 0; i < fold->segment_count; i++) {
        size_t first = (size_t)i * WEFT__FOLD_VALUES;
        for (uint32_t k = 0; k < fold->value_counts[i]; k++)
            weft__shared_release(&fold->playback->world->shared, fold->values[first + k]->subject,
                                 fold->value_indices[first + k], 1);
    }
}
