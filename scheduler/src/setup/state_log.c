/* SPDX-License-Identifier: MIT */
/* state_log.c: the calls of weft/state_log.h: checks, and the world's scheduler, which is made when
 * there is none.
 *
 * The log itself is record/hash_log.c. */
#include "hash_log.h"
#include "registry.h"
#include "scheduler.h"

#include "ecs_engine.h"

weft_result weft_state_log_begin(weft_world *world, const weft_state_log_desc *desc)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__between_steps(world, "weft_state_log_begin");
    if (result != WEFT_OK) return result;
    if (desc == NULL || desc->writer.write == NULL)
        return weft__error_argument(world, "weft_state_log_begin",
                                    "there is no writer: set desc.writer.write");
    weft__scheduler *scheduler = weft__scheduler_obtain(world);
    if (scheduler == NULL) return WEFT_OUT_OF_MEMORY;
    if (scheduler->hash_log != NULL)
        return weft__error(world, WEFT_BUSY, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_state_log_begin: a log is being written: end it first");
    return weft__hash_log_open(scheduler, desc);
}

weft_result weft_state_log_end(weft_world *world)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__between_steps(world, "weft_state_log_end");
    if (result != WEFT_OK) return result;
    weft__scheduler *scheduler = weft__scheduler_of(world);
    return scheduler == NULL ? WEFT_OK : weft__hash_log_close(scheduler);
}
