/* SPDX-License-Identifier: MIT */
/* playback_link.h: rows made in place join the world before the first command is played: their
 * chunks get tuples, the rows ids, and handles that were asked for become real. Owner. */
#ifndef WEFT_PLAYBACK_LINK_H
#define WEFT_PLAYBACK_LINK_H

#include "playback_state.h"

/* Puts the rows made in place into the world: all or none. Owner. */
weft_result weft__playback_link(weft__playback *playback);

#endif
