/* SPDX-License-Identifier: MIT */
/* fold.c: the steps of a fold, one after the other: collect and group, fold, then plan, copy, close
 * and settle. See fold_state.h. */
#include "fold.h"

#include "error.h"
#include "fold_collect.h"
#include "fold_move.h"
#include "fold_rows.h"
#include "fold_shared.h"
#include "fold_sweep.h"

/* Additions alone, removals alone and deaths need no order within a row; everything else does. */
static bool needs_order(uint32_t traits)
{
    const uint32_t added = WEFT__SEGMENT_HAS_ADDS | WEFT__SEGMENT_HAS_CREATES;
    return (traits & (WEFT__SEGMENT_HAS_VALUES | WEFT__SEGMENT_HAS_SHARED)) != 0 ||
           ((traits & WEFT__SEGMENT_HAS_REMOVES) != 0 && (traits & added) != 0);
}

static bool are_swept(const weft__fold *fold)
{
    if (at_load_rlx(&fold->x_unswept) != 0) return false; /* relaxed: the loop has ended */
    for (uint32_t i = 0; i < fold->touched_count; i++)
        if (!weft__fold_is_swept(fold, &fold->touched[i])) return false;
    return true;
}

/* Finds the places of all commands. Where order matters they are taken for sweeps first; a place
 * that is none makes all of them be collected again, for chains. */
static weft_result collect(weft__fold *fold, uint32_t traits)
{
    const weft__fold fresh = *fold;
    uint64_t skipped = fold->playback->result.skipped;
    bool may_sweep = (traits & (WEFT__SEGMENT_HAS_ENABLES | WEFT__SEGMENT_HAS_SHARED)) == 0;
    fold->has_sweeps = needs_order(traits) && may_sweep;
    fold->has_chains = needs_order(traits) && !may_sweep;
    weft_result result = weft__fold_collect(fold);
    if (result != WEFT_OK || fold->is_impossible || !fold->has_sweeps || are_swept(fold))
        return result;
    *fold = fresh;
    fold->playback->result.skipped = skipped;
    fold->has_chains = true;
    return weft__fold_collect(fold);
}

weft_result weft__fold_play(weft__playback *playback, const weft__command_segment *segments,
                            uint32_t count, bool *is_played)
{
    uint32_t traits = 0;
    for (uint32_t i = 0; i < count; i++) traits |= segments[i].traits;
    weft__fold fold = {.playback = playback,
                       .segments = segments,
                       .segment_count = count,
                       .has_shared = (traits & WEFT__SEGMENT_HAS_SHARED) != 0};
    uint64_t skipped = playback->result.skipped;
    weft_result result = collect(&fold, traits);
    fold.has_enables = fold.has_chains && (traits & WEFT__SEGMENT_HAS_ENABLES) != 0;
    bool is_held = fold.has_shared && result == WEFT_OK && !fold.is_impossible;
    if (is_held) result = weft__fold_values_hold(&fold);
    if (result == WEFT_OUT_OF_MEMORY) weft__error_memory(playback->world, "playback");
    if (result == WEFT_OK && !fold.is_impossible) result = weft__fold_rows(&fold);
    *is_played = !fold.is_impossible;
    if (fold.is_impossible) {
        playback->result.skipped = skipped;
        result = WEFT_OK;
    } else if (result == WEFT_OK) {
        result = weft__fold_move(&fold);
    }
    if (is_held) weft__fold_values_release(&fold);
    return result;
}
