/* SPDX-License-Identifier: MIT */
/* section_bytes.c: memory of the writer of section files: one growing block, from the hook of the
 * world. Once refused it stays refused, so that a writer asks once, at its end. Owner of the
 * world. */
#include "section_bytes.h"

void *weft__out_room(weft__out *out, size_t bytes)
{
    if (out->is_refused) return NULL;
    if (bytes > out->capacity - out->count) {
        size_t grown = out->count + bytes + (out->count + bytes) / 2;
        char *at =
            weft__realloc(out->memory, WEFT__MEMORY_COMMANDS, out->at, out->capacity, grown, 1, 16);
        out->is_refused = at == NULL;
        if (at == NULL) return NULL;
        out->at = at;
        out->capacity = grown;
    }
    void *room = out->at + out->count;
    out->count += bytes;
    return room;
}

void weft__out_free(weft__out *out)
{
    weft__free(out->memory, WEFT__MEMORY_COMMANDS, out->at, out->capacity, 1, 16);
    *out = (weft__out){.memory = out->memory};
}
