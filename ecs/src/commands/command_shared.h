/* SPDX-License-Identifier: MIT */
/* command_shared.h: recorded SHARED values with a release hook, and who releases them.
 *
 * Playback, and the end of a recorder, first take a reference in the store for every such value,
 * and let go of all of them last. So one that no entity took (its command was skipped, overwritten,
 * dropped, or never played) is released, equal ones once, and one in use is not. Recording takes
 * none: jobs cannot write to the store. Owner, world idle. */
#ifndef WEFT_COMMAND_SHARED_H
#define WEFT_COMMAND_SHARED_H

#include "command_format.h"

/* Takes the references of the commands of a segment that have none. OUT_OF_MEMORY: the values that
 * have none stay the caller's. */
weft_result weft__command_hold_shared(weft_world *world, const weft__command_segment *segment);
/* Gives them back. */
void weft__command_let_go_shared(weft_world *world, const weft__command_segment *segment);

#endif
