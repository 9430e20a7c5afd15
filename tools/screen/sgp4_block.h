/* SPDX-License-Identifier: MIT */
/* sgp4_block.h: what the deep kernel needs from sgp4_block.c: to move the resonance node of one
 * lane to the one for time t.
 */
#ifndef WEFT_SCREEN_SGP4_BLOCK_H
#define WEFT_SCREEN_SGP4_BLOCK_H

#include <assert.h>

#include "sgp4.h"

void sgp4_deep_block_seek(struct sgp4_deep_block *block, uint32_t lane, double t);

#endif
