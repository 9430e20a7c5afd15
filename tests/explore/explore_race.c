/* SPDX-License-Identifier: MIT */
/* explore_race.c: the arena, and data races among plain accesses.
 *
 * The code under test is compiled with -fsanitize=thread and linked against this file instead of
 * the sanitizer's library, so every plain load and store calls one of the functions below. Under
 * the C11 model each 8-byte cell keeps its last accesses with their thread's clock; two accesses of
 * which one writes, one is plain, and neither clock reached the other thread, are a race. Under
 * every model an access to released arena memory is an error. */
#include "explore_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CELL_BITS 18
#define CELLS (1u << CELL_BITS)
#define RECORDS 6u
#define ARENA_BYTES (64u << 20)
#define GRAIN 16u
#define MAX_RESERVES 64u

typedef struct access_record {
    uint32_t clock;
    uint8_t thread, mask, access;
} access_record;

typedef struct access_cell {
    uint64_t address;
    uint32_t generation, count;
    access_record records[RECORDS];
} access_cell;

static access_cell cells[CELLS];
static uint32_t cell_count, generation;
static unsigned char *arena;
static size_t arena_used;
static unsigned char arena_state[ARENA_BYTES / GRAIN]; /* 0 never given out, 1 live, 2 released */
static struct {
    void *memory;
    size_t bytes;
} reserves[MAX_RESERVES]; /* address space of which a scenario touches little, outside the arena */
static uint32_t reserve_count;

/* ---- arena ---- */

static void *map_pages(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) return memory;
    perror("explore: address space");
    exit(2);
}

void engine_arena_reset(void)
{
    while (reserve_count > 0) {
        reserve_count--;
        munmap(reserves[reserve_count].memory, reserves[reserve_count].bytes);
    }
    if (!arena) arena = map_pages(ARENA_BYTES);
    memset(arena_state, 0, arena_used / GRAIN);
    arena_used = 0;
}

void *engine_reserve_take(size_t bytes)
{
    if (reserve_count == MAX_RESERVES) explore_fail("more than %u reserves", MAX_RESERVES);
    void *memory = map_pages(bytes);
    reserves[reserve_count].memory = memory;
    reserves[reserve_count++].bytes = bytes;
    return memory;
}

void engine_reserve_give(void *memory, size_t bytes)
{
    for (uint32_t i = 0; i < reserve_count; i++) {
        if (reserves[i].memory != memory || reserves[i].bytes != bytes) continue;
        munmap(memory, bytes);
        reserves[i] = reserves[--reserve_count];
        return;
    }
    explore_fail("released address space that was never given out, or twice");
}

void *engine_arena_take(size_t bytes, size_t alignment)
{
    size_t mask = (alignment > GRAIN ? alignment : GRAIN) - 1;
    size_t base = (size_t)(uintptr_t)arena;
    size_t at = ((base + arena_used + mask) & ~mask) - base;
    size_t size = (bytes + GRAIN - 1) & ~(size_t)(GRAIN - 1);
    if (at + size > ARENA_BYTES) explore_fail("a scenario needs more than %u bytes", ARENA_BYTES);
    arena_used = at + size;
    memset(arena_state + at / GRAIN, 1, size / GRAIN);
    return arena + at;
}

void engine_arena_give(void *memory, size_t bytes)
{
    size_t at = (size_t)((unsigned char *)memory - arena);
    if (at >= arena_used) explore_fail("released memory that was never given out");
    if (engine.model == EXPLORE_C11) { /* releasing is a write; of big blocks the start will do */
        engine_race_check(memory, bytes < 4096 ? (uint32_t)bytes : 4096, ENGINE_WRITE);
    }
    for (size_t i = at / GRAIN; i < (at + bytes + GRAIN - 1) / GRAIN; i++) {
        if (arena_state[i] != 1) explore_fail("released twice: %zu bytes", bytes);
        arena_state[i] = 2;
    }
}

void engine_arena_check(const void *address, const char *site)
{
    size_t at = (size_t)((const unsigned char *)address - arena);
    if (at >= arena_used || arena_state[at / GRAIN] == 1) return;
    explore_fail("use after release at %s", site ? site : "a plain access");
}

/* ---- races ---- */

void engine_race_reset(void)
{
    generation++;
    cell_count = 0;
}

static access_cell *cell_of(uint64_t address)
{
    uint32_t h = (uint32_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - CELL_BITS));
    while (cells[h].generation == generation && cells[h].address != address) h = (h + 1) % CELLS;
    if (cells[h].generation != generation) {
        if (++cell_count > CELLS / 2) explore_fail("more than %u plain cells", CELLS / 2);
        cells[h].generation = generation;
        cells[h].address = address;
        cells[h].count = 0;
    }
    return &cells[h];
}

static bool is_write(uint32_t access)
{
    return access == ENGINE_WRITE || access == ENGINE_ATOMIC_WRITE;
}

static bool is_plain(uint32_t access)
{
    return access == ENGINE_WRITE || access == ENGINE_READ;
}

static _Noreturn void report_race(const access_record *old, engine_access access, const void *p)
{
    static const char *const names[] = {"read", "write", "atomic read", "atomic write"};
    explore_fail("data race: %s by thread %u (after %s) against %s by thread %u (at %s), %p",
                 names[access], engine.current,
                 engine.threads[engine.current].site ? engine.threads[engine.current].site
                                                     : "start",
                 names[old->access], old->thread,
                 engine.threads[old->thread].site ? engine.threads[old->thread].site : "start", p);
}

static void note_access(access_cell *cell, access_record now)
{
    uint32_t slot = cell->count, oldest = 0;
    for (uint32_t i = 0; i < cell->count; i++) {
        const access_record *old = &cell->records[i];
        bool covers = old->thread == now.thread && (old->mask & ~now.mask) == 0;
        if (covers &&
            (old->access == now.access || (is_write(now.access) && is_plain(now.access)))) {
            slot = i;
            break;
        }
        if (old->clock < cell->records[oldest].clock) oldest = i;
    }
    if (slot == RECORDS) slot = oldest;
    if (slot == cell->count) cell->count++;
    cell->records[slot] = now;
}

static void check_cell(uint64_t address, uint8_t mask, engine_access access, const void *p)
{
    access_cell *cell = cell_of(address);
    const uint32_t *clock = engine_clock(engine.current);
    for (uint32_t i = 0; i < cell->count; i++) {
        const access_record *old = &cell->records[i];
        if (old->thread == engine.current || !(old->mask & mask)) continue;
        if (!is_write(access) && !is_write(old->access)) continue;
        if (!is_plain(access) && !is_plain(old->access)) continue;
        if (old->clock > clock[old->thread]) report_race(old, access, p);
    }
    note_access(cell, (access_record){clock[engine.current], (uint8_t)engine.current, mask,
                                      (uint8_t)access});
}

void engine_race_check(const void *p, uint32_t bytes, engine_access access)
{
    uint64_t at = (uint64_t)(uintptr_t)p, end = at + bytes;
    while (at < end) {
        uint64_t cell = at & ~UINT64_C(7);
        uint64_t stop = cell + 8 < end ? cell + 8 : end;
        uint8_t mask = (uint8_t)(((1u << (stop - at)) - 1) << (at - cell));
        check_cell(cell, mask, access, p);
        at = stop;
    }
}

/* ---- what -fsanitize=thread calls ---- */

static void plain(const void *p, uint32_t bytes, engine_access access)
{
    if (!engine.thread_count) return; /* not inside an execution */
    engine_arena_check(p, NULL);
    engine_meet(p, bytes);
    if (engine.model == EXPLORE_C11) engine_race_check(p, bytes, access);
}

void __tsan_init(void);
void __tsan_func_entry(void *pc);
void __tsan_func_exit(void);
void __tsan_read_range(const void *p, unsigned long bytes);
void __tsan_write_range(void *p, unsigned long bytes);

void __tsan_init(void)
{
}
void __tsan_func_entry(void *pc)
{
    (void)pc;
}
void __tsan_func_exit(void)
{
}
void __tsan_read_range(const void *p, unsigned long bytes)
{
    plain(p, (uint32_t)bytes, ENGINE_READ);
}
void __tsan_write_range(void *p, unsigned long bytes)
{
    plain(p, (uint32_t)bytes, ENGINE_WRITE);
}

#define TSAN_ACCESS_(bytes)                                                                        \
    void __tsan_read##bytes(const void *p);                                                        \
    void __tsan_write##bytes(void *p);                                                             \
    void __tsan_unaligned_read##bytes(const void *p);                                              \
    void __tsan_unaligned_write##bytes(void *p);                                                   \
    void __tsan_read_write##bytes(void *p);                                                        \
    void __tsan_unaligned_read_write##bytes(void *p);                                              \
    void __tsan_read##bytes(const void *p)                                                         \
    {                                                                                              \
        plain(p, bytes, ENGINE_READ);                                                              \
    }                                                                                              \
    void __tsan_write##bytes(void *p)                                                              \
    {                                                                                              \
        plain(p, bytes, ENGINE_WRITE);                                                             \
    }                                                                                              \
    void __tsan_unaligned_read##bytes(const void *p)                                               \
    {                                                                                              \
        plain(p, bytes, ENGINE_READ);                                                              \
    }                                                                                              \
    void __tsan_unaligned_write##bytes(void *p)                                                    \
    {                                                                                              \
        plain(p, bytes, ENGINE_WRITE);                                                             \
    }                                                                                              \
    void __tsan_read_write##bytes(void *p)                                                         \
    {                                                                                              \
        plain(p, bytes, ENGINE_WRITE);                                                             \
    }                                                                                              \
    void __tsan_unaligned_read_write##bytes(void *p)                                               \
    {                                                                                              \
        plain(p, bytes, ENGINE_WRITE);                                                             \
    }
TSAN_ACCESS_(1)
TSAN_ACCESS_(2)
TSAN_ACCESS_(4)
TSAN_ACCESS_(8)
TSAN_ACCESS_(16)
