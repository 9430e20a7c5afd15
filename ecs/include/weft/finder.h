/* finder.h: look-ups of one component by entity, prepared once: the quickest way to the values of
 * many entities in no order.
 *
 *   weft_finder find = weft_finder_open(world, position);
 *   for (i = 0; i < count; i++) {
 *       const Position *p = weft_finder_get(&find, targets[i]);
 *       if (p != NULL) ...
 *   }
 *
 * Public. weft_entity_get says why there is no value, and needs no preparation; a finder costs half
 * as much, for its parts stay in registers: keep it in a local variable. It is never wrong: values
 * that came, went or moved after it was opened are found as they are. */
#ifndef WEFT_FINDER_H
#define WEFT_FINDER_H

#include <weft/slice.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_FINDER_BLOCK_SHIFT 13   /* private: slots per block of entities */
#define WEFT_FINDER_BLOCK_SLOTS 1088 /* private: bytes before the slots of a block */
#define WEFT_FINDER_BERTH_SHIFT 10   /* private: locations per berth */

/* Under ThreadSanitizer every look-up is a call: a slot is an atomic word, which a header cannot
 * say for both languages. */
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

/* Filled by the engine, read only; copies are fine. Valid until the world is destroyed. {0}: finds
 * nothing. */
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
/* The same inside a system, for a component that it declared as a lookup (a report and {0} in
 * checked builds, if it did not), or in a loop of the owner. Threads: the slice's. Cost: O(1). */
WEFT_API weft_finder weft_slice_finder(const weft_slice *slice, weft_component component);
/* Private: the way that needs no preparation; cold, so that a loop keeps its registers. */
WEFT_API __attribute__((cold)) const void *
weft_finder_get_slowly(const weft_world *world, weft_entity entity, weft_component component);

/* Private: a place is the address of the value at location 0 << 16 | bytes per value. */
static inline const void *weft_finder_value(uint64_t place, uint32_t location)
{
    intptr_t value = ((intptr_t)place >> 16) + (intptr_t)((place & 0xffff) * location);
    if (value == 0) __builtin_unreachable();
    return (const void *)value;
}

/* The value of an entity for reading; NULL when it is dead or has none. Valid until the next
 * structural change. Threads: any while nobody changes structure. Cost: five loads, two of which
 * may miss the cache, and 15 other instructions. */
static inline const void *weft_finder_get(const weft_finder *finder, weft_entity entity)
{
    uint64_t handle = (uint64_t)entity.version << 32 | entity.index;
    __asm__("" : "+r"(handle)); /* one load, not one for each half */
    if (__builtin_expect(!WEFT_FINDER_IS_CALL && finder->blocks != NULL, 1)) {
        uint32_t index = (uint32_t)handle;
        const char *block = (const char *)finder->blocks[index >> WEFT_FINDER_BLOCK_SHIFT];
        if (__builtin_expect(block != NULL, 1)) {
            const void *slots = block + WEFT_FINDER_BLOCK_SLOTS;
            index &= (1u << WEFT_FINDER_BLOCK_SHIFT) - 1;
            uint64_t slot = ((const uint64_t *)slots)[index];
            uint64_t place = finder->places[(uint32_t)slot >> WEFT_FINDER_BERTH_SHIFT];
            if (__builtin_expect((slot ^ handle) >> 32 == 0 && place != 0, 1))
                return weft_finder_value(place, (uint32_t)slot);
        }
    }
    return weft_finder_get_slowly(finder->world, entity, finder->component);
}

#ifdef __cplusplus
}
#endif
#endif
