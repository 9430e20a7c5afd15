/* SPDX-License-Identifier: MIT */
/* finder.h: finders: prepared look-ups of one component by entity, the fastest way to the values of
 * many entities in random order.
 *
 *   weft_finder find = weft_finder_open(world, position);
 *   for (i = 0; i < count; i++) {
 *       const Position *p = weft_finder_read(&find, targets[i]);
 *       if (p != NULL) ...
 *   }
 *
 * Public. weft_entity_read needs no preparation and says why there is no value. A finder is
 * slightly faster, because its parts stay in registers: keep it in a local variable. It stays
 * correct when values are added, removed or moved after it was opened. */
#ifndef WEFT_FINDER_H
#define WEFT_FINDER_H

#include <weft/entity.h>
#include <weft/slice.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- internals ---- */

#define WEFT_FINDER_BLOCK_SHIFT 12  /* private: slots per block of entities */
#define WEFT_FINDER_BLOCK_SLOTS 576 /* private: bytes before the slots of a block */
#define WEFT_FINDER_BERTH_SHIFT 10  /* private: locations per berth */
#define WEFT_FINDER_FEW 128         /* private: components that have tables in a world's head */

/* Private: under ThreadSanitizer every look-up is a call, because a slot is an atomic word, which a
 * header cannot declare for both languages. */
#if defined(__SANITIZE_THREAD__)
#define WEFT_FINDER_IS_CALL 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_FINDER_IS_CALL 1
#endif
#endif
#ifndef WEFT_FINDER_IS_CALL
#define WEFT_FINDER_IS_CALL 0
#endif

/* Private: always compiled into the caller; inline functions that are not static may use it. */
#define WEFT_FINDER_INLINE extern inline __attribute__((gnu_inline, always_inline))

/* ---- finders ---- */

/* Prepared look-ups of one component. Filled by the library; read only; may be copied. Valid until
 * the world is destroyed. {0} finds nothing. */
typedef struct weft_finder {
    const void *const *blocks; /* private, all of them */
    const uint64_t *places;
    const weft_world *world;
    weft_component component;
} weft_finder;

/* Prepares look-ups of a component. {0}, with the world's error set, for a bad component. Threads:
 * owner. Cost: the first time for a component O(chunks), and 8 bytes for every 1,024 rows (every
 * chunk, if they are smaller) of the world from then on; else O(1). */
WEFT_API weft_finder weft_finder_open(weft_world *world, weft_component component);

/* As weft_finder_open, inside a system for a component of its `lookups` (checked builds report
 * others), or in a loop of the owner. Threads: callback. Cost: O(1). */
WEFT_API weft_finder weft_slice_finder(const weft_slice *slice, weft_component component);

/* Private: the look-up without tables; cold, so that a loop keeps its registers. Threads:
 * as weft_finder_read. */
WEFT_API __attribute__((cold)) const void *
weft_finder_read_slowly(const weft_world *world, weft_entity entity, weft_component component);

/* Private: a place is the address of the value at location 0 << 16 | bytes per value. */
WEFT_FINDER_INLINE const void *weft_finder_value(uint64_t place, uint32_t location)
{
    intptr_t value = ((intptr_t)place >> 16) + (intptr_t)((place & 0xffff) * location);
    if (value == 0) __builtin_unreachable();
    return (const void *)value;
}

/* Private: the value of an entity from these tables; NULL: they do not hold it. *is_gone: the slot
 * is another entity's, so there is no value elsewhere. */
WEFT_FINDER_INLINE const void *weft_finder_look(const void *const *blocks, const uint64_t *places,
                                                weft_entity entity, bool *is_gone)
{
    uint64_t handle = (uint64_t)entity.version << 32 | entity.index;
    __asm__("" : "+r"(handle)); /* one load, not one for each half */
    uint32_t index = (uint32_t)handle;
    const char *block = (const char *)blocks[index >> WEFT_FINDER_BLOCK_SHIFT];
    if (__builtin_expect(block == NULL, 0)) return NULL;
    const void *first = block + WEFT_FINDER_BLOCK_SLOTS;
    index &= (1u << WEFT_FINDER_BLOCK_SHIFT) - 1;
    uint64_t slot = ((const uint64_t *)first)[index];
    uint64_t place = places[(uint32_t)slot >> WEFT_FINDER_BERTH_SHIFT];
    *is_gone = (slot ^ handle) >> 32 != 0;
    if (*is_gone || __builtin_expect(place == 0, 0)) return NULL;
    return weft_finder_value(place, (uint32_t)slot);
}

/* The value of an entity for reading; NULL when it, or its residue, has none. Valid until the next
 * structural change. Threads: any while unchanged. Cost: five loads, two of which may miss the
 * cache, and 15 other instructions. */
static inline const void *weft_finder_read(const weft_finder *finder, weft_entity entity)
{
    if (__builtin_expect(!WEFT_FINDER_IS_CALL && finder->blocks != NULL, 1)) {
        bool is_gone = false; /* targets often are: no call for them */
        const void *value = weft_finder_look(finder->blocks, finder->places, entity, &is_gone);
        if (__builtin_expect(value != NULL || is_gone, 1)) return value;
    }
    return weft_finder_read_slowly(finder->world, entity, finder->component);
}

/* ---- inline weft_entity_read ---- */

/* Private: the tables of the first components. */
typedef struct weft_finder_tables {
    const uint64_t *places[WEFT_FINDER_FEW];    /* [component]; NULL: none */
    const void *const *blocks[WEFT_FINDER_FEW]; /* [component] */
} weft_finder_tables;

/* The beginning of every world: what weft_entity_read, which is compiled into programs, needs of
 * it. Read only. Part of the ABI: its layout changes with the minor version only. Threads: any
 * while unchanged. */
typedef struct __attribute__((may_alias)) weft_world_head {
    uint32_t number;           /* in the handles of the world */
    uint32_t busy;             /* private */
    weft_finder_tables tables; /* private */
} weft_world_head;

/* The head of a world, which is not NULL. Threads: any. */
WEFT_FINDER_INLINE const weft_world_head *weft_world_head_of(const weft_world *world)
{
    return (const weft_world_head *)(const void *)world;
}

/* Private: what weft_entity_read calls where the tables are not enough. Threads: as it. */
WEFT_API const void *weft_entity_read_slowly(const weft_world *world, weft_entity entity,
                                             weft_component component);

/* weft_entity_read of entity.h, inline: two loads more than with a finder. A checked library has no
 * tables in the head, so that every look-up is a call. */
#if !WEFT_FINDER_IS_CALL
extern inline __attribute__((gnu_inline, nothrow)) const void *
weft_entity_read(const weft_world *world, weft_entity entity, weft_component component)
{
    if (__builtin_expect(world != NULL && component.id < WEFT_FINDER_FEW &&
                             component.world == weft_world_head_of(world)->number,
                         1)) {
        const weft_finder_tables *tables = &weft_world_head_of(world)->tables;
        const uint64_t *places = tables->places[component.id];
        bool is_gone; /* the error says so */
        const void *value =
            __builtin_expect(places == NULL, 0)
                ? NULL
                : weft_finder_look(tables->blocks[component.id], places, entity, &is_gone);
        if (__builtin_expect(value != NULL, 1)) return value;
    }
    return weft_entity_read_slowly(world, entity, component);
}
#endif

#ifdef __cplusplus
}
#endif
#endif
