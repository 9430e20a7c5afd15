/* SPDX-License-Identifier: MIT */
/* shards_stress.h: `weft stress shard`: models of random sizes, each run in one go and again with a
 * checkpoint in the middle and sectors that move at random times; both must end the same.
 */
#ifndef WEFT_SHARDS_SHARDS_STRESS_H
#define WEFT_SHARDS_SHARDS_STRESS_H

/* The command, with the options of `weft stress` that concern it. Collective. */
int shards_stress(int argc, char **argv);

#endif
