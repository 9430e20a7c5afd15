/* SPDX-License-Identifier: MIT */
/* directory_dead.h: indices that are not alive, for files and snapshots.
 *
 * World idle. */
#ifndef WEFT_DIRECTORY_DEAD_H
#define WEFT_DIRECTORY_DEAD_H

#include "directory.h"

/* An index that is not alive. A value. */
typedef struct weft__dead {
    uint32_t index;
    uint32_t version; /* even, not 0; WEFT__VERSION_LAST: retired */
} weft__dead;

/* The first index from *from on that is not alive, but was; false: there is none. *from is where to
 * go on. World idle. Cost of all: a word per 64 alive or new indices, a slot per dead one. */
bool weft__directory_dead_next(const weft__directory *directory, uint32_t *from, weft__dead *out);
/* Makes every index that is not alive as `dead` lists it, ascending; those not in it become new
 * again. World idle. Cost: as above. */
void weft__directory_dead_put(weft__directory *directory, const weft__dead *dead, uint32_t count);
/* Makes an index that is new what `dead` says. World idle. Errors: of weft__directory_force. */
weft_result weft__directory_dead_enter(weft__directory *directory, weft__dead dead);
/* Whether an index that is not alive can have the version. */
static inline bool weft__dead_is_right(uint32_t version)
{
    return version == WEFT__VERSION_LAST || (version != 0 && (version & 1) == 0);
}

#endif
