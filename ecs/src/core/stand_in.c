/* SPDX-License-Identifier: MIT */
/* stand_in.c: memory that stands in for what a mistake does not get, in checked builds.
 *
 * Blocks are a list, each with a head in front. Only mistakes come here, from any thread, so a
 * mutex guards them. What may be done with the memory: stand_in.h. */
#include "stand_in.h"

#include "world_state.h"

#include <string.h>

#define FIRST_BYTES ((size_t)64 << 10)
#define MOST_BYTES ((size_t)16 << 20) /* of a block, but for a larger request */
#define ALIGNMENT ((size_t)64)
#define MARGIN ((size_t)256) /* behind each: a little past the end hits nothing else */

/* In front of each block. */
typedef struct head {
    _Alignas(64) char *before;
    size_t size; /* with the head */
} head;

static bool grow(weft__stand_in *stand_in, weft__memory *memory, size_t bytes)
{
    size_t size = stand_in->size == 0 ? FIRST_BYTES : 2 * stand_in->size;
    if (size > MOST_BYTES) size = MOST_BYTES;
    if (size < sizeof(head) + bytes) size = sizeof(head) + bytes;
    char *block = weft__alloc(memory, WEFT__MEMORY_SYSTEMS, size, 1, ALIGNMENT);
    if (block == NULL) return false;
    *(head *)(void *)block = (head){stand_in->block, size};
    stand_in->block = block;
    stand_in->size = size;
    stand_in->used = sizeof(head);
    return true;
}

static void *take(weft_world *world, size_t bytes)
{
    weft__stand_in *stand_in = &world->stand_in;
    if (bytes > SIZE_MAX / 4) return NULL;
    bytes = bits_align_up(bytes, ALIGNMENT) + MARGIN;
    if (stand_in->size - stand_in->used < bytes) {
        if (stand_in->size >= MOST_BYTES && stand_in->size - sizeof(head) >= bytes)
            stand_in->used = sizeof(head);
        else if (!grow(stand_in, &world->memory, bytes))
            return NULL;
    }
    char *taken = stand_in->block + stand_in->used;
    stand_in->used += bytes;
    return memset(taken, 0, bytes);
}

void *weft__stand_in_bytes(const weft_world *world, size_t bytes)
{
    weft_world *owner = (weft_world *)(uintptr_t)world;
    if (!WEFT_IS_CHECKED) return NULL;
    pthread_mutex_lock(&owner->stand_in.lock);
    void *taken = take(owner, bytes);
    pthread_mutex_unlock(&owner->stand_in.lock);
    return taken;
}

bool weft__stand_in_holds(const weft_world *world, const void *at)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&world->stand_in.lock;
    bool holds = false;
    if (!WEFT_IS_CHECKED) return false;
    pthread_mutex_lock(lock);
    for (const char *block = world->stand_in.block; block != NULL && !holds;) {
        const head *front = (const void *)block;
        holds = (uintptr_t)at - (uintptr_t)block < front->size;
        block = front->before;
    }
    pthread_mutex_unlock(lock);
    return holds;
}

/* Bytes of a value; of a BUFFER also of an element, which it may be taken for. */
static size_t bytes_of(const weft__type *type)
{
    size_t bytes = type == NULL ? 0 : type->value_bytes;
    return type != NULL && type->desc.size > bytes ? type->desc.size : bytes;
}

void *weft__stand_in_values(const weft_world *world, uint32_t component, uint32_t rows)
{
    const weft__roll *known = &world->types.known; /* the owner may register others meanwhile */
    size_t bytes = 0, most = 0;
    if (!WEFT_IS_CHECKED) return NULL;
    bytes = bytes_of(weft__roll_at(known, component)); /* [0]: NULL */
    const weft__type *type;
    for (uint32_t i = 1; bytes == 0 && (type = weft__roll_at(known, i)) != NULL; i++)
        most = bytes_of(type) > most ? bytes_of(type) : most;
    if (bytes == 0) bytes = most;
    return weft__stand_in_bytes(world, bytes * (rows == 0 ? 1 : rows));
}

void *weft__stand_in_refused(const weft_world *world, uint32_t component)
{
    const uint32_t callbacks =
        (uint32_t)(WEFT__BUSY_STEPPING | WEFT__BUSY_OBSERVERS | WEFT__BUSY_CALLBACK);
    bool is_callback = (world->front.busy & callbacks) != 0;
    return is_callback ? weft__stand_in_values(world, component, 1) : NULL;
}

void weft__stand_in_init(weft_world *world)
{
    pthread_mutex_init(&world->stand_in.lock, NULL);
}

void weft__stand_in_fini(weft_world *world)
{
    pthread_mutex_destroy(&world->stand_in.lock);
    for (char *block = world->stand_in.block; block != NULL;) {
        head at = *(head *)(void *)block;
        weft__free(&world->memory, WEFT__MEMORY_SYSTEMS, block, at.size, 1, ALIGNMENT);
        block = at.before;
    }
}
