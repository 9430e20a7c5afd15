/* SPDX-License-Identifier: MIT */
/* cmd_dump.h: the text of a world, for `weft dump` of a checkpoint of a shard, which weft-shards
 * reads.
 */
#ifndef WEFT_TOOLS_CMD_DUMP_H
#define WEFT_TOOLS_CMD_DUMP_H

#include <weft/world.h>

/* Writes the world as text to a file, or to stdout where `out` is NULL: the exit status. */
int weft_cli_dump_world(weft_world *world, const char *out);

#endif
