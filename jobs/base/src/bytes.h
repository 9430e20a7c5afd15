/* SPDX-License-Identifier: MIT */
/* bytes.h: bytes that grow, for those who write files, texts and blocks; bytes with an end, for
 * those who read them.
 *
 *     weft__out out = {.memory = memory};
 *     weft__out_u32(&out, count);
 *     if (out.is_refused) return WEFT_OUT_OF_MEMORY;
 *
 * Values on the stack of what writes or reads. The first failure is kept, so that it is asked once,
 * at the end. Memory counts as scratch, of WEFT__MEMORY_COMMANDS. */
#pragma once

#include "heap.h"

#include <string.h>

/* Growing memory, aligned to 16; also a list of things of one size. Owner: its struct, which frees
 * it. Always: count <= capacity. */
typedef struct weft__out {
    weft__memory *memory;
    char *at;
    size_t count, capacity;
    bool is_refused; /* no memory: nothing is added any more */
} weft__out;

/* Room for `bytes` more, which do not count yet; NULL: refused. */
void *weft__out_space(weft__out *out, size_t bytes);
WEFT__DOOR void weft__out_free(weft__out *out);

/* Room for `bytes` more, which count at once; NULL: refused. */
static inline void *weft__out_room(weft__out *out, size_t bytes)
{
    void *room = weft__out_space(out, bytes);
    if (room != NULL) out->count += bytes;
    return room;
}

static inline void weft__out_put(weft__out *out, const void *bytes, size_t count)
{
    void *to = count == 0 ? NULL : weft__out_room(out, count);
    if (to != NULL) memcpy(to, bytes, count);
}

static inline void weft__out_u8(weft__out *out, uint8_t value)
{
    weft__out_put(out, &value, sizeof value);
}

static inline void weft__out_u32(weft__out *out, uint32_t value)
{
    weft__out_put(out, &value, sizeof value);
}

static inline void weft__out_u64(weft__out *out, uint64_t value)
{
    weft__out_put(out, &value, sizeof value);
}

/* Length and bytes of a string. */
static inline void weft__out_text(weft__out *out, const char *text)
{
    weft__out_u32(out, (uint32_t)strlen(text));
    weft__out_put(out, text, strlen(text));
}

/* A place for a number that is known later. */
static inline size_t weft__out_later(weft__out *out)
{
    size_t at = out->count;
    weft__out_u32(out, 0);
    return at;
}

static inline void weft__out_now(const weft__out *out, size_t at, uint32_t value)
{
    if (!out->is_refused) memcpy(out->at + at, &value, sizeof value);
}

/* Bytes that are read one after the other. */
typedef struct weft__in {
    const char *at, *end;
    bool is_short; /* more was asked for than there is; everything after reads as zero */
} weft__in;

/* The next bytes; NULL when there are fewer. */
static inline const char *weft__in_take(weft__in *in, uint64_t count)
{
    if (in->is_short || count > (uint64_t)(in->end - in->at)) {
        in->is_short = true;
        return NULL;
    }
    const char *taken = in->at;
    in->at += count;
    return taken;
}

static inline void weft__in_get(weft__in *in, void *to, size_t count)
{
    const char *from = weft__in_take(in, count);
    if (from != NULL)
        memcpy(to, from, count);
    else
        memset(to, 0, count);
}

static inline uint8_t weft__in_u8(weft__in *in)
{
    uint8_t value;
    weft__in_get(in, &value, sizeof value);
    return value;
}

static inline uint32_t weft__in_u32(weft__in *in)
{
    uint32_t value;
    weft__in_get(in, &value, sizeof value);
    return value;
}

static inline uint64_t weft__in_u64(weft__in *in)
{
    uint64_t value;
    weft__in_get(in, &value, sizeof value);
    return value;
}

/* Whether `count` things of at least `bytes` bytes can follow. */
static inline bool weft__in_has(weft__in *in, uint64_t count, uint64_t bytes)
{
    if (in->is_short || (count != 0 && bytes > (uint64_t)(in->end - in->at) / count))
        in->is_short = true;
    return !in->is_short;
}
