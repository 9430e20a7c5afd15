/* SPDX-License-Identifier: MIT */
/* lines.c: slabs of lines: the first one is small, each next one twice as large, up to a limit, so
 * that small worlds stay small and the rest at the end of a slab is little. Owner, world idle. */
#include "lines.h"

#include "bits.h"
#include "poison.h"

#include <assert.h>

#define FIRST_BYTES ((size_t)1024)
#define MOST_BYTES ((size_t)32768)

static_assert(sizeof(weft__line_slab) <= WEFT__LINE, "the head of a slab is a line");

static size_t slab_bytes(const weft__line_slab *last, size_t needed)
{
    size_t bytes = last == NULL ? FIRST_BYTES : 2 * last->bytes;
    if (bytes > MOST_BYTES) bytes = MOST_BYTES;
    return bytes < needed ? needed : bytes;
}

static weft__line_slab *slab_make(weft__lines *lines, weft__memory *memory, size_t needed)
{
    size_t bytes = slab_bytes(lines->slab, needed);
    weft__line_slab *slab =
        weft__alloc(memory, WEFT__MEMORY_METADATA, bytes / WEFT__LINE, WEFT__LINE, WEFT__LINE);
    if (slab == NULL) return NULL;
    *slab = (weft__line_slab){.before = lines->slab, .bytes = bytes, .used = WEFT__LINE};
    if (lines->slab != NULL) lines->slab->after = slab;
    lines->slab = slab;
    return slab;
}

void *weft__lines_take(weft__lines *lines, weft__memory *memory, size_t bytes)
{
    weft__line_slab *slab = lines->slab;
    bytes = bits_align_up(bytes, WEFT__LINE);
    if (slab == NULL || slab->bytes - slab->used < bytes)
        slab = slab_make(lines, memory, WEFT__LINE + bytes);
    if (slab == NULL) return NULL;
    slab->used += bytes;
    slab->blocks++;
    return (char *)slab + slab->used - bytes;
}

void weft__lines_undo(weft__lines *lines, size_t bytes)
{
    lines->slab->used -= bits_align_up(bytes, WEFT__LINE);
    lines->slab->blocks--;
}

static void slab_free(weft__memory *memory, weft__line_slab *slab)
{
    ASAN_UNPOISON_MEMORY_REGION(slab, slab->bytes); /* objects that ended */
    weft__free(memory, WEFT__MEMORY_METADATA, slab, slab->bytes / WEFT__LINE, WEFT__LINE,
               WEFT__LINE);
}

void weft__lines_give(weft__lines *lines, weft__memory *memory, weft__line_slab *slab)
{
    if (--slab->blocks != 0 || slab == lines->slab) return;
    slab->after->before = slab->before;
    if (slab->before != NULL) slab->before->after = slab->after;
    slab_free(memory, slab);
}

void weft__lines_fini(weft__lines *lines, weft__memory *memory)
{
    for (weft__line_slab *slab = lines->slab, *before; slab != NULL; slab = before) {
        before = slab->before;
        slab_free(memory, slab);
    }
    *lines = (weft__lines){0};
}
