/* SPDX-License-Identifier: MIT */
/* scratch.c: arrays that playback and changes of many rows use and keep, so that a steady state
 * allocates nothing. One set per world, in its commands extension, made when it is first used; each
 * array only grows. */
#include "scratch.h"

/* Owned by the world (its commands extension); used by the owner during playback. */
typedef struct scratch {
    weft_world *world;
    struct {
        void *memory;
        size_t bytes;
    } arrays[WEFT__SCRATCH_COUNT];
} scratch;

static void destroy(void *data)
{
    scratch *s = data;
    weft__memory *memory = &s->world->memory;
    for (uint32_t i = 0; i < WEFT__SCRATCH_COUNT; i++)
        weft__free(memory, WEFT__MEMORY_COMMANDS, s->arrays[i].memory, 1, s->arrays[i].bytes, 64);
    WEFT__FREE(memory, WEFT__MEMORY_COMMANDS, s, 1);
}

static scratch *obtain(weft_world *world)
{
    weft__extension *extension = &world->front.extensions[WEFT__EXTENSION_COMMANDS];
    if (extension->data != NULL) return extension->data;
    scratch *s = WEFT__NEW_ZEROED(&world->memory, WEFT__MEMORY_COMMANDS, 1, *s);
    if (s == NULL) return NULL;
    s->world = world;
    *extension = (weft__extension){.data = s, .destroy = destroy};
    return s;
}

void *weft__scratch_take(weft_world *world, weft__scratch_slot slot, size_t count, size_t size)
{
    scratch *s = obtain(world);
    if (s == NULL) return NULL;
    size_t bytes = bits_align_up(count * size + 64, 4096);
    if (bytes <= s->arrays[slot].bytes) return s->arrays[slot].memory;
    bytes += bytes / 2;
    void *fresh = weft__alloc(&world->memory, WEFT__MEMORY_COMMANDS, 1, bytes, 64);
    if (fresh == NULL) return NULL;
    weft__free(&world->memory, WEFT__MEMORY_COMMANDS, s->arrays[slot].memory, 1,
               s->arrays[slot].bytes, 64);
    s->arrays[slot].memory = fresh;
    s->arrays[slot].bytes = bytes;
    return fresh;
}
