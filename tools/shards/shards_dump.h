/* SPDX-License-Identifier: MIT */
/* shards_dump.h: `weft dump` of a checkpoint of a shard: `weft` hands over to it.
 */
#ifndef WEFT_SHARDS_SHARDS_DUMP_H
#define WEFT_SHARDS_SHARDS_DUMP_H

/* The command: the checkpoint, and perhaps the file to write to. */
int shards_dump(int argc, char **argv);

#endif
