/* SPDX-License-Identifier: MIT */
/* units.c: the protocol of the unit allocator.
 *
 * A megachunk's word x_in_use is 0 (empty), FULL (all ones: full, or *busy*: held by one thread
 * that maps, unmaps or does the books) or a mask of used units. Transitions out of 0 and into 0
 * go through busy; all others are one CAS. Reservation i belongs to megachunks 2i and 2i+1;
 * a thread that changes it holds one of them busy to map, both to unmap, so a pointer cannot go
 * while a unit is in use.
 *
 * Edges:
 * U1  map, store of the reservation pointer (release) -> store of the mask (release)
 *                                    -> allocate: acquire of the mask, load of the pointer
 * U2  free: CAS of the mask (release; the owner's last use of the units is before it)
 *                                    -> allocate: CAS of the mask (acquire), first use of the units
 * U3  unmap: CAS 0 -> busy of both (acquire) after U2 of every former owner; pointer taken, dirty
 *     masks cleared -> store of 0 (release) -> claim: CAS 0 -> busy (acquire), map
 * U4  new segment: CAS of its pointer (release) -> scan: acquire load of the pointer
 * U5  busy ends: add of x_settled (release) after the mask's store
 *                                    -> full scan: acquire load of x_settled before and after
 *     so a scan that found nothing while a megachunk was busy runs again: busy is never "full".
 * U6  hints: or and and of x_full -> with itself: no hint of another megachunk is lost
 *
 * Counts: x_halves of a reservation is the number of its megachunks that are not empty, changed
 * only by the holder of a busy half, with the bit MAPPED from its mapping (by a holder, so
 * halves >= 1) to its unmapping (both held, halves 0). The read-modify-write that meets MAPPED
 * with 0 <-> 1 halves changes x_empty_reservations, the number of mapped reservations without a
 * used unit. The word x_full is a hint: a set bit may be stale (then a megachunk is overlooked
 * until the scan that ignores hints), a clear one costs a look. */
#include "units.h"
#include "bits.h"
#include "invariant.h"

#include <stdio.h>

#define FULL bits_mask(WEFT__MEGACHUNK_UNITS)
#define PAIRS (WEFT__SEGMENT_MEGACHUNKS / 2)
#define MAPPED (UINT32_C(1) << 31) /* of x_halves */

/* The words of some megachunks. Owner: the units, until weft__units_fini; the world's workers
 * touch it by edges U1 to U6 only. Always, while no megachunk is busy:
 *   x_halves == number of x_in_use that are not 0, with MAPPED exactly when x_memory != NULL;
 *   x_in_use[i] & ~x_dirty[i] == 0. */
struct weft__units_segment {
    weft_a64 x_full; /* hint: bit per megachunk */
    /* The words of a reservation share a cache line with no other one: with eight masks to a line,
     * two threads with a home of their own took 28 ns a pair, one alone 14. */
    struct reservation {
        _Alignas(64) weft_a64 x_in_use[2];
        weft_a64 x_dirty[2]; /* units given out since the memory was mapped */
        weft_aptr x_memory;
        weft_a32 x_halves;
    } pairs[PAIRS];
};

static inline weft_a64 *in_use_of(weft__units_segment *segment, uint32_t local)
{
    return &segment->pairs[local / 2].x_in_use[local % 2];
}

static inline weft_a64 *dirty_of(weft__units_segment *segment, uint32_t local)
{
    return &segment->pairs[local / 2].x_dirty[local % 2];
}

/* What a scan looks for and what it met. Lives on the stack of allocate_slowly. */
typedef struct scan {
    weft__units *units;
    uint32_t count;
    bool ignores_hints;
    bool map_failed; /* the OS refused: only mapped megachunks are of use */
    weft__run *out;
} scan;

void weft__units_init(weft__units *units, weft__memory *memory, const weft_os *os,
                      uint32_t megachunk_limit, bool with_huge_pages)
{
    if (megachunk_limit == 0 || megachunk_limit > WEFT__MEGACHUNK_LIMIT)
        megachunk_limit = WEFT__MEGACHUNK_LIMIT;
    units->memory = memory;
    units->os = os;
    units->megachunk_limit = megachunk_limit;
    units->with_huge_pages = with_huge_pages;
    units->is_mirrored = false;
    for (uint32_t i = 0; i < WEFT__SEGMENT_LIMIT; i++) at_init(&units->x_segments[i], NULL);
    at_init(&units->x_segment_end, 0);
    at_init(&units->x_reservations, 0);
    at_init(&units->x_empty_reservations, 0);
    at_init(&units->x_busy, 0);
    at_init(&units->x_settled, 0);
}

static weft__units_segment *segment_at(const weft__units *units, uint32_t segment)
{
    return at_load_acq(&units->x_segments[segment]); /* U4 */
}

static void unmap_reservation(weft__units *units, void *memory)
{
    units->os->unmap(units->os->user, memory, WEFT__RESERVATION_BYTES);
    weft__memory_count(units->memory, WEFT__MEMORY_CHUNKS, -(int64_t)WEFT__RESERVATION_BYTES);
    at_sub_rlx(&units->x_reservations, 1u); /* relaxed: a statistic */
}

void weft__units_fini(weft__units *units)
{
    for (uint32_t s = 0; s < WEFT__SEGMENT_LIMIT; s++) {
        weft__units_segment *segment = at_plain(&units->x_segments[s]);
        if (segment == NULL) continue;
        for (uint32_t i = 0; i < PAIRS; i++) {
            void *memory = at_plain(&segment->pairs[i].x_memory);
            if (memory != NULL) unmap_reservation(units, memory);
        }
        WEFT__FREE(units->memory, WEFT__MEMORY_CHUNKS, segment, 1);
        at_init(&units->x_segments[s], NULL);
    }
}

/* Holding a megachunk busy begins before its CAS and ends after its store, so that x_busy is never
 * 0 while one is held. */
static bool busy_begin(weft__units *units, weft_a64 *x_word, uint64_t *expected)
{
    /* relaxed would do for x_busy: the CAS releases it, and one that failed did nothing */
    at_add_ar(&units->x_busy, 1u);                      /* U5 */
    if (at_cas_ar(x_word, expected, FULL)) return true; /* U2 U3: takes over the units */
    at_sub_ar(&units->x_busy, 1u);                      /* U5: claimed nothing */
    return false;
}

static void busy_end(weft__units *units, weft_a64 *x_word, uint64_t mask)
{
    at_store_rel(x_word, mask);       /* U1 U3 */
    at_add_ar(&units->x_settled, 1u); /* U5 */
    at_sub_ar(&units->x_busy, 1u);    /* U5 */
}

/* The reservation of a pair, mapped if need be; the caller holds one half busy. */
static void *reservation_obtain(weft__units *units, weft__units_segment *segment, uint32_t pair)
{
    weft_aptr *x_memory = &segment->pairs[pair].x_memory;
    /* relaxed would do: nothing was written behind the pointer, the system made it zero */
    void *memory = at_load_acq(x_memory); /* U1: the other half may have mapped it */
    if (memory != NULL) return memory;
    size_t alignment = units->with_huge_pages ? WEFT__RESERVATION_BYTES : WEFT__UNIT_BYTES;
    memory = units->os->map(units->os->user, WEFT__RESERVATION_BYTES, alignment);
    if (memory == NULL) return at_load_acq(x_memory); /* U1: perhaps the other half could */
    weft__memory_count(units->memory, WEFT__MEMORY_CHUNKS, (int64_t)WEFT__RESERVATION_BYTES);
    at_add_rlx(&units->x_reservations, 1u); /* relaxed: a statistic */
    void *found = NULL;
    if (!at_cas_ar(x_memory, &found, memory)) { /* U1 */
        unmap_reservation(units, memory);
        return found;
    }
    /* any order would do: a count, the pointer carries the data */
    at_or_ar(&segment->pairs[pair].x_halves, MAPPED); /* U1 */
    return memory;
}

/* A half leaves emptiness (is_used) or enters it; the caller holds it busy. True when a mapped pair
 * is empty now. */
static bool halves_change(weft__units *units, weft__units_segment *segment, uint32_t pair,
                          bool is_used)
{
    /* relaxed: one word tells all; edges U1 to U3 carry the data */
    uint32_t old = is_used ? at_add_rlx(&segment->pairs[pair].x_halves, 1u)
                           : at_sub_rlx(&segment->pairs[pair].x_halves, 1u); /* relaxed: above */
    if (old != (MAPPED | (is_used ? 0u : 1u))) return false;
    if (is_used)
        at_sub_rlx(&units->x_empty_reservations, 1u); /* relaxed: a threshold, not a protocol */
    else
        at_add_rlx(&units->x_empty_reservations, 1u); /* relaxed: a threshold, not a protocol */
    return !is_used;
}

/* Unmaps a reservation; the caller holds one half busy and has left its count; takes the other
 * half if it is empty. The caller lets go of its own half. */
static bool reservation_release(weft__units *units, weft__units_segment *segment, uint32_t own)
{
    uint32_t other = own ^ 1u;
    uint64_t expected = 0;
    if (!busy_begin(units, in_use_of(segment, other), &expected)) return false; /* U3 */
    /* any order would do below: both halves are held, by CAS before and by stores after */
    void *memory = at_xchg_ar(&segment->pairs[own / 2].x_memory, NULL); /* U3 */
    if (memory != NULL) {
        at_and_ar(&segment->pairs[own / 2].x_halves, ~MAPPED); /* U3 */
        at_sub_rlx(&units->x_empty_reservations, 1u); /* relaxed: a threshold, not a protocol */
        at_store_rlx(dirty_of(segment, own), 0);      /* relaxed: published by U3 */
        at_store_rlx(dirty_of(segment, other), 0);    /* relaxed: published by U3 */
        unmap_reservation(units, memory);
    }
    busy_end(units, in_use_of(segment, other), 0);
    return memory != NULL;
}

static inline void run_describe(weft__run *out, uint32_t count, uint32_t megachunk,
                                uint32_t position, void *memory, bool is_zero)
{
    char *base = (char *)memory + (megachunk % 2) * WEFT__MEGACHUNK_BYTES;
    *out = (weft__run){.memory = base + position * WEFT__UNIT_BYTES,
                       .first = megachunk * WEFT__MEGACHUNK_UNITS + position,
                       .count = count,
                       .is_zero = is_zero};
}

/* The books of `count` units that are ours now. */
static void run_take(weft__run *out, uint32_t count, weft__units_segment *segment,
                     uint32_t megachunk, uint32_t position, void *memory)
{
    uint32_t local = megachunk % WEFT__SEGMENT_MEGACHUNKS;
    uint64_t bits = bits_mask(count) << position;
    uint64_t dirty = at_load_rlx(dirty_of(segment, local)); /* relaxed: our bits are ours by U2 */
    /* any order would do: as above */
    if ((dirty & bits) != bits) dirty = at_or_ar(dirty_of(segment, local), bits); /* U2 U3 */
    run_describe(out, count, megachunk, position, memory, (dirty & bits) == 0);
}

static void hint_full(weft__units_segment *segment, uint32_t local)
{
    uint64_t bit = UINT64_C(1) << local;
    at_or_ar(&segment->x_full, bit); /* U6: any order would do, also below: a hint */
    /* relaxed: a free between our mask and our hint cleared it too early; look again */
    if (at_load_rlx(in_use_of(segment, local)) != FULL) at_and_ar(&segment->x_full, ~bit); /* U6 */
}

/* Takes the first units of an empty megachunk. False: another thread has it, or no memory. */
static bool claim_empty(scan *s, weft__units_segment *segment, uint32_t megachunk)
{
    uint32_t local = megachunk % WEFT__SEGMENT_MEGACHUNKS;
    weft_a64 *x_word = in_use_of(segment, local);
    if (s->map_failed && at_load_acq(&segment->pairs[local / 2].x_memory) == NULL)
        return false; /* U1 */
    uint64_t expected = 0;
    if (!busy_begin(s->units, x_word, &expected)) return false;
    halves_change(s->units, segment, local / 2, true);
    void *memory = reservation_obtain(s->units, segment, local / 2);
    if (memory == NULL) {
        s->map_failed = true;
        halves_change(s->units, segment, local / 2, false);
        busy_end(s->units, x_word, 0);
        return false;
    }
    run_take(s->out, s->count, segment, megachunk, 0, memory);
    busy_end(s->units, x_word, bits_mask(s->count));
    if (s->count == WEFT__MEGACHUNK_UNITS) hint_full(segment, local);
    return true;
}

static bool claim_run(scan *s, weft__units_segment *segment, uint32_t megachunk)
{
    uint32_t local = megachunk % WEFT__SEGMENT_MEGACHUNKS;
    weft_a64 *x_word = in_use_of(segment, local);
    uint64_t mask = at_load_acq(x_word); /* U1 */
    for (;;) {
        if (mask == 0) {
            if (claim_empty(s, segment, megachunk)) return true;
            mask = at_load_acq(x_word); /* U1: relaxed would do, the CAS acquires */
            if (mask == 0) return false;
            continue;
        }
        uint32_t position = bits_find_run(~mask & FULL, s->count);
        if (position == 64) return false;
        uint64_t taken = mask | bits_mask(s->count) << position;
        if (!at_cas_ar(x_word, &mask, taken)) continue; /* U1 U2; the word moved: look again */
        run_take(s->out, s->count, segment, megachunk, position,
                 at_load_acq(&segment->pairs[local / 2].x_memory)); /* U1: by the CAS already */
        if (taken == FULL) hint_full(segment, local);
        return true;
    }
}

/* Scans megachunks [begin, end) of one segment. */
static bool scan_segment(scan *s, uint32_t index, uint32_t begin, uint32_t end)
{
    weft__units_segment *segment = segment_at(s->units, index);
    if (segment == NULL) return false;
    uint32_t first = index * WEFT__SEGMENT_MEGACHUNKS;
    uint32_t limit = s->units->megachunk_limit - first;
    if (end > limit) end = limit;
    if (begin >= end) return false;
    uint64_t candidates = bits_mask(end) & ~bits_mask(begin);
    /* relaxed: a hint */
    if (!s->ignores_hints) candidates &= ~at_load_rlx(&segment->x_full);
    for (; candidates != 0; candidates &= candidates - 1) {
        if (claim_run(s, segment, first + bits_lowest(candidates))) return true;
    }
    return false;
}

static bool scan_all(scan *s, uint32_t home)
{
    /* relaxed would do: the segment's pointer is acquired itself */
    uint32_t end = at_load_acq(&s->units->x_segment_end); /* U4 */
    if (end == 0) return false;
    uint32_t start = home / WEFT__SEGMENT_MEGACHUNKS;
    uint32_t local = home % WEFT__SEGMENT_MEGACHUNKS;
    if (start >= end) start = 0, local = 0;
    if (scan_segment(s, start, local, WEFT__SEGMENT_MEGACHUNKS)) return true;
    for (uint32_t i = 1; i < end; i++) {
        if (scan_segment(s, (start + i) % end, 0, WEFT__SEGMENT_MEGACHUNKS)) return true;
    }
    return scan_segment(s, start, 0, local);
}

/* Makes the segment after the last one. */
static weft_result segment_add(weft__units *units, uint32_t end)
{
    if (end * WEFT__SEGMENT_MEGACHUNKS >= units->megachunk_limit) return WEFT_LIMIT;
    if (segment_at(units, end) == NULL) {
        weft__units_segment *segment =
            WEFT__NEW_ZEROED(units->memory, WEFT__MEMORY_CHUNKS, 1, *segment);
        if (segment == NULL) return WEFT_OUT_OF_MEMORY;
        void *expected = NULL;
        if (!at_cas_ar(&units->x_segments[end], &expected, segment)) /* U4 */
            WEFT__FREE(units->memory, WEFT__MEMORY_CHUNKS, segment, 1);
    }
    uint32_t expected = end;
    at_cas_ar(&units->x_segment_end, &expected, end + 1); /* U4; another thread may have done it */
    return WEFT_OK;
}

/* The whole search. */
static __attribute__((noinline)) weft_result allocate_slowly(weft__units *units, uint32_t count,
                                                             uint32_t home, weft__run *out)
{
    *out = (weft__run){0};
    if (count == 0 || count > WEFT__MEGACHUNK_UNITS) return WEFT_INVALID_ARGUMENT;
    scan s = {.units = units, .count = count, .out = out};
    for (;;) {
        uint32_t settled = at_load_acq(&units->x_settled); /* U5 */
        uint32_t end = at_load_acq(&units->x_segment_end); /* U4 */
        if (scan_all(&s, home)) return WEFT_OK;
        if (end != 0 && !s.ignores_hints) { /* stale hints must not cost a segment */
            s.ignores_hints = true;
            continue;
        }
        if (s.map_failed) return WEFT_OUT_OF_MEMORY;
        weft_result result = segment_add(units, end);
        if (result == WEFT_OK) continue;
        if (result == WEFT_OUT_OF_MEMORY) return result;
        /* relaxed would do for x_settled: the acquire of x_busy has made it visible */
        bool was_busy = at_load_acq(&units->x_busy) != 0;                          /* U5 */
        if (!was_busy && at_load_acq(&units->x_settled) == settled) return result; /* U5 */
        at_stall();
    }
}

/* Books of the short way that are not just a description. */
static __attribute__((noinline)) weft_result one_end(weft__units_segment *segment,
                                                     uint32_t megachunk, uint64_t taken,
                                                     uint32_t position, weft__run *out)
{
    uint32_t local = megachunk % WEFT__SEGMENT_MEGACHUNKS;
    run_take(out, 1, segment, megachunk, position,
             at_load_acq(&segment->pairs[local / 2].x_memory)); /* U1: by the CAS already */
    if (taken == FULL) hint_full(segment, local);
    return WEFT_OK;
}

/* The short way is for one unit of a home megachunk in use. It saves no registers: a locked
 * instruction waits for the stores before it. */
weft_result weft__units_allocate(weft__units *units, uint32_t count, uint32_t home, weft__run *out)
{
    if (__builtin_expect(count != 1 || home >= units->megachunk_limit, 0))
        return allocate_slowly(units, count, home, out);
    weft__units_segment *segment = segment_at(units, home / WEFT__SEGMENT_MEGACHUNKS);
    if (__builtin_expect(segment == NULL, 0)) return allocate_slowly(units, count, home, out);
    uint32_t local = home % WEFT__SEGMENT_MEGACHUNKS;
    /* relaxed would do: the CAS acquires */
    uint64_t mask = at_load_acq(in_use_of(segment, local)); /* U1 */
    if (__builtin_expect(mask == 0 || mask == FULL, 0))
        return allocate_slowly(units, count, home, out);
    uint32_t position = bits_lowest(~mask);
    uint64_t taken = mask | (mask + 1); /* sets the lowest zero */
    if (__builtin_expect(!at_cas_ar(in_use_of(segment, local), &mask, taken), 0)) /* U1 U2 */
        return allocate_slowly(units, count, home, out);
    uint64_t dirty = at_load_rlx(dirty_of(segment, local)); /* relaxed: our bit is ours by U2 */
    if (__builtin_expect((dirty >> position & 1) == 0 || taken == FULL, 0))
        return one_end(segment, home, taken, position, out);
    /* relaxed would do: acquired by the CAS already */
    run_describe(out, 1, home, position, at_load_acq(&segment->pairs[local / 2].x_memory), /* U1 */
                 false);
    return WEFT_OK;
}

/* The last units of a megachunk were given back; the caller holds it busy. */
static void became_empty(weft__units *units, weft__units_segment *segment, uint32_t local)
{
    /* relaxed: a threshold, not a protocol */
    if (halves_change(units, segment, local / 2, false) &&
        at_load_rlx(&units->x_empty_reservations) > WEFT__RESERVATIONS_KEPT)
        reservation_release(units, segment, local);
    busy_end(units, in_use_of(segment, local), 0);
}

/* The last units of a megachunk, a full one, a word that moved, and refusals. */
static __attribute__((noinline)) weft_result
free_slowly(weft__units *units, weft__units_segment *segment, uint32_t local, uint64_t bits)
{
    weft_a64 *x_word = in_use_of(segment, local);
    uint64_t mask = at_load_acq(x_word); /* U2: ours since our allocation, relaxed would do */
    for (;;) {
        if ((mask & bits) != bits) return WEFT_INVALID_ARGUMENT;
        bool is_last = mask == bits;
        /* U2 */
        if (is_last ? busy_begin(units, x_word, &mask) : at_cas_ar(x_word, &mask, mask & ~bits)) {
            if (is_last) became_empty(units, segment, local);
            break; /* U2 */
        }
    }
    if (mask == FULL) at_and_ar(&segment->x_full, ~(UINT64_C(1) << local)); /* U6: a hint */
    return WEFT_OK;
}

/* The short way saves no registers, as that of weft__units_allocate. */
weft_result weft__units_free(weft__units *units, uint32_t first, uint32_t count)
{
    uint32_t megachunk = first / WEFT__MEGACHUNK_UNITS, position = first % WEFT__MEGACHUNK_UNITS;
    uint32_t index = megachunk / WEFT__SEGMENT_MEGACHUNKS;
    if (__builtin_expect(count == 0 || position + count > WEFT__MEGACHUNK_UNITS ||
                             index >= WEFT__SEGMENT_LIMIT,
                         0))
        return WEFT_INVALID_ARGUMENT;
    weft__units_segment *segment = segment_at(units, index);
    if (__builtin_expect(segment == NULL, 0)) return WEFT_INVALID_ARGUMENT;
    uint32_t local = megachunk % WEFT__SEGMENT_MEGACHUNKS;
    uint64_t bits = bits_mask(count) << position;
    /* relaxed would do: the CAS acquires */
    uint64_t mask = at_load_acq(in_use_of(segment, local)); /* U2: ours since our allocation */
    if (__builtin_expect((mask & bits) != bits || mask == bits || mask == FULL, 0) ||
        __builtin_expect(!at_cas_ar(in_use_of(segment, local), &mask, mask & ~bits), 0)) /* U2 */
        return free_slowly(units, segment, local, bits);
    return WEFT_OK;
}

uint32_t weft__units_trim(weft__units *units, uint32_t kept)
{
    uint32_t released = 0, end = at_load_acq(&units->x_segment_end); /* U4 */
    for (uint32_t s = end; s-- > 0;) {
        weft__units_segment *segment = segment_at(units, s);
        for (uint32_t pair = PAIRS; pair-- > 0;) {
            /* relaxed: a threshold, not a protocol */
            if (at_load_rlx(&units->x_empty_reservations) <= kept) return released;
            /* relaxed would do: what follows holds both halves */
            if (at_load_acq(&segment->pairs[pair].x_memory) == NULL) continue; /* U1 */
            uint64_t expected = 0;
            if (!busy_begin(units, in_use_of(segment, 2 * pair), &expected)) continue; /* U3 */
            released += reservation_release(units, segment, 2 * pair) ? 1 : 0;
            busy_end(units, in_use_of(segment, 2 * pair), 0);
        }
    }
    return released;
}

uint32_t weft__units_mapped(const weft__units *units)
{
    return 2 * at_load_rlx(&units->x_reservations); /* relaxed: a statistic */
}

uint64_t weft__units_used(const weft__units *units)
{
    uint64_t used = 0;
    for (uint32_t s = 0; s < at_load_acq(&units->x_segment_end); s++) { /* U4: as in scan_all */
        weft__units_segment *segment = segment_at(units, s);
        for (uint32_t i = 0; i < WEFT__SEGMENT_MEGACHUNKS; i++)
            used += bits_count(at_load_rlx(in_use_of(segment, i))); /* relaxed: a statistic */
    }
    return used;
}

/* Books of one pair, nothing else running; counts into *mapped and *empty. NULL: they are right. */
static const char *pair_check(weft__units_segment *segment, uint32_t pair, uint32_t *mapped,
                              uint32_t *empty)
{
    uint64_t low = at_plain(in_use_of(segment, 2 * pair));
    uint64_t high = at_plain(in_use_of(segment, 2 * pair + 1));
    uint32_t used = (low != 0 ? 1u : 0u) + (high != 0 ? 1u : 0u);
    bool is_mapped = at_plain(&segment->pairs[pair].x_memory) != NULL;
    if (used != 0 && !is_mapped) return "units in use without memory";
    if (at_plain(&segment->pairs[pair].x_halves) != (used | (is_mapped ? MAPPED : 0)))
        return "x_halves is not the used megachunks";
    if ((low & ~at_plain(dirty_of(segment, 2 * pair))) != 0 ||
        (high & ~at_plain(dirty_of(segment, 2 * pair + 1))) != 0)
        return "a unit in use is not marked dirty";
    *mapped += is_mapped ? 1 : 0;
    *empty += is_mapped && used == 0 ? 1 : 0;
    return NULL;
}

bool weft__units_check(const weft__units *units, char *text, size_t text_bytes)
{
    uint32_t mapped = 0, empty = 0;
    const char *broken = at_plain(&units->x_busy) != 0 ? "a megachunk is still busy" : NULL;
    for (uint32_t s = 0; s < at_plain(&units->x_segment_end) && broken == NULL; s++) {
        weft__units_segment *segment = at_plain(&units->x_segments[s]);
        for (uint32_t pair = 0; pair < PAIRS && broken == NULL; pair++)
            broken = pair_check(segment, pair, &mapped, &empty);
    }
    if (broken == NULL && mapped != at_plain(&units->x_reservations))
        broken = "x_reservations is not the mapped reservations";
    if (broken == NULL && empty != at_plain(&units->x_empty_reservations))
        broken = "x_empty_reservations is not the empty mapped reservations";
    if (broken != NULL) snprintf(text, text_bytes, "unit allocator: %s", broken);
    return broken == NULL;
}
