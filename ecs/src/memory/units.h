/* SPDX-License-Identifier: MIT */
/* units.h: the unit allocator: units of 16 KiB in megachunks of 64, taken and given back by any
 * thread with one CAS.
 *
 * A megachunk is a 64-bit mask of units in use; a run of n units is found in the mask by bit
 * arithmetic and claimed by one CAS. Two neighbouring megachunks share one *reservation* of 2 MiB,
 * aligned for a huge page, mapped when the first of its units is claimed and unmapped when both
 * megachunks are empty and enough empty reservations are kept (hysteresis). The tables of masks are
 * made on demand in segments, so an unused allocator costs a few hundred bytes. The protocol is
 * written at the top of units.c. */
#pragma once

#include "heap.h"
#include "os.h"

/* Build-time parameters, so that models and the explorer can be tiny. */
#ifndef WEFT__MEGACHUNK_UNITS
#define WEFT__MEGACHUNK_UNITS 64 /* at most 64 */
#endif
#ifndef WEFT__UNIT_BYTES
#define WEFT__UNIT_BYTES ((size_t)16384)
#endif
#ifndef WEFT__SEGMENT_MEGACHUNKS
#define WEFT__SEGMENT_MEGACHUNKS 64 /* even, at most 64: one word of hints */
#endif
#ifndef WEFT__SEGMENT_LIMIT
#define WEFT__SEGMENT_LIMIT 256
#endif
#ifndef WEFT__RESERVATIONS_KEPT
#define WEFT__RESERVATIONS_KEPT 32u /* empty reservations that stay mapped */
#endif

#define WEFT__MEGACHUNK_BYTES (WEFT__MEGACHUNK_UNITS * WEFT__UNIT_BYTES)
#define WEFT__RESERVATION_BYTES (2 * WEFT__MEGACHUNK_BYTES)
#define WEFT__MEGACHUNK_LIMIT (WEFT__SEGMENT_LIMIT * WEFT__SEGMENT_MEGACHUNKS)

/* A run of units with an owner. */
typedef struct weft__run {
    void *memory;   /* first byte */
    uint32_t first; /* index of the first unit: megachunk * WEFT__MEGACHUNK_UNITS + unit */
    uint32_t count; /* units; 0: no run */
    bool is_zero;   /* true: the memory is fresh from the OS and reads as zero */
} weft__run;

typedef struct weft__units_segment weft__units_segment;

/* Owned by the world. Always, while no thread allocates or frees:
 *   x_reservations = pairs of megachunks with memory, at most megachunk_limit / 2;
 *   x_empty_reservations = those of them without a used unit; x_busy == 0. */
typedef struct weft__units {
    /* constant after init */
    weft__memory *memory;
    const weft_os *os;
    uint32_t megachunk_limit; /* even */
    bool with_huge_pages;
    bool is_mirrored; /* by the environment: unit 0 is at the end of its reservation, part 0 at the
                         end of its unit, so that what the order of addresses decides shows; then
                         runs are given back whole */
    /* shared atomic: see units.c */
    weft_aptr x_segments[WEFT__SEGMENT_LIMIT]; /* weft__units_segment *, NULL until needed */
    weft_a32 x_segment_end;                    /* one past the last segment made; only grows */
    weft_a32 x_reservations;                   /* mapped now */
    weft_a32 x_empty_reservations;             /* of these, without a used unit */
    weft_a32 x_busy;    /* megachunks held busy now (or about to be, or just left) */
    weft_a32 x_settled; /* times a busy megachunk was let go */
} weft__units;

/* `megachunk_limit` 0 means the maximum. Allocates nothing. */
void weft__units_init(weft__units *units, weft__memory *memory, const weft_os *os,
                      uint32_t megachunk_limit, bool with_huge_pages);
/* Unmaps everything. Threads: one, when no run is in use any more. */
void weft__units_fini(weft__units *units);

/* Takes exactly `count` contiguous units (1..WEFT__MEGACHUNK_UNITS), trying megachunk `home` first.
 * Threads: any. Errors: OUT_OF_MEMORY, LIMIT; nothing changed then. */
weft_result weft__units_allocate(weft__units *units, uint32_t count, uint32_t home, weft__run *out);
/* The same, at the address that is_mirrored says. */
static inline weft_result weft__units_take(weft__units *units, uint32_t count, uint32_t home,
                                           weft__run *out)
{
    const weft_result result = weft__units_allocate(units, count, home, out);
    if (result != WEFT_OK || !units->is_mirrored) return result;
    const size_t all = 2 * WEFT__MEGACHUNK_UNITS, first = out->first % all;
    char *base = (char *)out->memory - first * WEFT__UNIT_BYTES;
    out->memory = base + (all - first - count) * WEFT__UNIT_BYTES;
    return WEFT_OK;
}
/* Gives a run back, or part of one. Threads: any; the run must be owned by the caller. Errors
 * (nothing changed): INVALID_ARGUMENT for units that are not in use; a double free is told for
 * sure only when no other thread maps or unmaps that megachunk meanwhile. */
weft_result weft__units_free(weft__units *units, uint32_t first, uint32_t count);
/* Unmaps empty reservations beyond `kept`; returns how many. Threads: any. */
uint32_t weft__units_trim(weft__units *units, uint32_t kept);

/* Mapped megachunks, used units. Threads: any; exact while no thread allocates. */
uint32_t weft__units_mapped(const weft__units *units);
uint64_t weft__units_used(const weft__units *units);
/* Every invariant that holds while no thread allocates or frees; false: the text names the first
 * one broken. */
bool weft__units_check(const weft__units *units, char *text, size_t text_bytes);
