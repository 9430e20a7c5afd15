/* SPDX-License-Identifier: MIT */
/* sized.h: structs of the caller that the library fills, whose size is that of the header the
 * caller was compiled with. An older program has a shorter struct: only its bytes are written. A
 * newer one has a longer struct: what this library does not know is 0. Structs of this kind grow
 * at their end only. */
#pragma once

#include <stddef.h>
#include <string.h>

/* Fills all `bytes` bytes at `out` and none behind them. */
static inline void weft__sized_fill(void *out, size_t bytes, const void *from, size_t from_bytes)
{
    size_t known = bytes < from_bytes ? bytes : from_bytes;
    if (known != 0) memcpy(out, from, known);
    if (known < bytes) memset((char *)out + known, 0, bytes - known);
}
