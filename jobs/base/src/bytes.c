/* SPDX-License-Identifier: MIT */
/* bytes.c: memory of those who write: one growing block, half as much again each time. Once refused
 * it stays refused, so that a writer asks once, at its end. What was written before stays there.
 * See bytes.h. */
#include "bytes.h"

void *weft__out_space(weft__out *out, size_t bytes)
{
    if (out->is_refused) return NULL;
    if (bytes > out->capacity - out->count) {
        size_t needed = out->count + bytes, grown = out->count == 0 ? needed : needed + needed / 2;
        char *at =
            weft__realloc(out->memory, WEFT__MEMORY_COMMANDS, out->at, out->capacity, grown, 1, 16);
        out->is_refused = at == NULL;
        if (at == NULL) return NULL;
        out->at = at;
        out->capacity = grown;
    }
    return out->at + out->count;
}

void weft__out_free(weft__out *out)
{
    weft__free(out->memory, WEFT__MEMORY_COMMANDS, out->at, out->capacity, 1, 16);
    *out = (weft__out){.memory = out->memory};
}
