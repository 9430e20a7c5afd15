/* SPDX-License-Identifier: MIT */
/* shards.h: the commands that are in weft-shards only.
 */
#ifndef WEFT_SHARDS_SHARDS_H
#define WEFT_SHARDS_SHARDS_H

#include "cli.h"

/* shard-demo, stress and dump; ends with an empty one. */
extern const weft_cli_command shards_commands[];

#endif
