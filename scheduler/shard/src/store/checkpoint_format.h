/* SPDX-License-Identifier: MIT */
/* checkpoint_format.h: the bytes of a checkpoint.
 *
 *     head          weft__checkpoint_head
 *     components    of each component of the world, in the order of registration: two words (its
 *                   weft_component_hash, bytes of its name), the name; padded to words
 *     sectors       weft__checkpoint_sector [sectors]
 *     sections      of each sector, by number: blocks of rows (row_block.h) by kind list
 *
 * Numbers are those of the machine that wrote it (little endian, like world files). The head has a
 * hash of components and sectors, and each sector one of its section: damage is found before
 * anything is loaded. */
#ifndef WEFT_CHECKPOINT_FORMAT_H
#define WEFT_CHECKPOINT_FORMAT_H

#include <stdint.h>

#define WEFT__CHECKPOINT_MAGIC UINT64_C(0x6472616873746677) /* "wftshard" */
#define WEFT__CHECKPOINT_VERSION UINT64_C(1)

/* A value. */
typedef struct weft__checkpoint_head {
    uint64_t magic, version;
    uint64_t seed, tick;
    uint64_t sectors, components;
    uint64_t component_bytes; /* of the part with components */
    uint64_t hash;            /* of components and sectors, started with the fields above */
} weft__checkpoint_head;

/* A value. */
typedef struct weft__checkpoint_sector {
    uint64_t offset, bytes; /* of its section */
    uint64_t counter;       /* gids given away */
    uint64_t hash;          /* of the section */
} weft__checkpoint_sector;

#endif
