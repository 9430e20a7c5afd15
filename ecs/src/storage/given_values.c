/* SPDX-License-Identifier: MIT */
/* given_values.c: the set of values that pointers for writing were given to.
 *
 * Keys are {location, component}. The set is emptied when it is full and structure has changed
 * since the last one: a key too many hides a mistake, one too few would make one up. */
#include "given_values.h"

#include "chunk_state.h"

#include <string.h>

#define PLACES 8192u /* when three quarters are taken, all pointers were given */
#define ALL_ROWS UINT32_MAX

/* Owner: the world. count == number of keys that are not 0; has_all == (count > PLACES / 4 * 3). */
struct weft__given_values {
    uint64_t structure; /* version of the world when the last one was given */
    uint32_t count;
    bool has_all;
    uint64_t keys[PLACES]; /* hash table: location << 32 | component; 0: free */
};

/* The place of a key, or the free one where it belongs. */
static uint32_t place_of(const weft__given_values *given, uint64_t key)
{
    uint32_t i = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 40) % PLACES;
    while (given->keys[i] != 0 && given->keys[i] != key) i = (i + 1) % PLACES;
    return i;
}

static weft__given_values *given_of(weft_world *world)
{
    if (world->given_values == NULL)
        world->given_values = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_QUERIES, 1,
                                                 sizeof *world->given_values, 8);
    return world->given_values;
}

static void note(weft_world *world, uint32_t location, uint32_t component)
{
    weft__given_values *given = given_of(world);
    if (given == NULL) return;
    if (given->has_all && given->structure != world->front.structure_version) {
        memset(given->keys, 0, sizeof given->keys);
        given->count = 0;
        given->has_all = false;
        given->structure = world->front.structure_version;
    }
    uint64_t key = (uint64_t)location << 32 | component;
    uint32_t place = place_of(given, key);
    if (given->keys[place] != 0 || given->has_all) return;
    given->keys[place] = key;
    given->count++;
    given->structure = world->front.structure_version;
    given->has_all = given->count > PLACES / 4 * 3;
}

void weft__given_values_note(weft_world *world, const weft__chunk *chunk, uint32_t row,
                             uint32_t component)
{
    note(world, weft__location(chunk, row), component);
}

void weft__given_values_note_all(weft_world *world, uint32_t component)
{
    note(world, ALL_ROWS, component);
}

static bool has_key(const weft__given_values *given, uint32_t location, uint32_t component)
{
    return given->keys[place_of(given, (uint64_t)location << 32 | component)] != 0;
}

bool weft__given_values_has(const weft_world *world, const weft__chunk *chunk, uint32_t row,
                            uint32_t component)
{
    const weft__given_values *given = world->given_values;
    if (given == NULL) return false;
    return given->has_all || has_key(given, weft__location(chunk, row), component) ||
           has_key(given, ALL_ROWS, component);
}

void weft__given_values_free(weft_world *world)
{
    weft__free(&world->memory, WEFT__MEMORY_QUERIES, world->given_values, 1,
               sizeof *world->given_values, 8);
    world->given_values = NULL;
}
