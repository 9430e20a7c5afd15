/* SPDX-License-Identifier: MIT */
/* fold_tasks.c: the parallel parts of a playback, as loops on the pool. A serial playback runs them
 * on the calling thread. Owner. */
#include "fold_tasks.h"

weft_job_cost *weft__playback_cost(const weft__playback *playback, weft__playback_step step)
{
    return playback->costs == NULL ? NULL : &playback->costs->steps[step];
}

bool weft__playback_for(const weft__playback *playback, weft__playback_step step,
                        weft_job_for_fn fn, void *argument, uint32_t count)
{
    if (count == 0) return true;
    if (playback->job == NULL || count == 1) return fn(NULL, argument, 0, count) == 0;
    weft__callback_begin(playback->world); /* hooks run on any worker */
    weft_job_for_desc desc = {.fn = fn,
                              .argument = argument,
                              .count = count,
                              .grain = 1,
                              .cost = weft__playback_cost(playback, step),
                              .name = "playback"};
    weft_result result = weft_job_for(playback->job, &desc, NULL);
    weft__callback_end(playback->world);
    if (result == WEFT_OK || result == WEFT_JOB_FAILED) return result == WEFT_OK;
    return fn(NULL, argument, 0, count) == 0; /* the pool refused: nothing ran yet */
}
