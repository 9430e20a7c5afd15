/* SPDX-License-Identifier: MIT */
/* counters_group.c: opening the groups down the ladder (counters_state.h), and reading them.
 *
 * A register is read in the page's sequence lock. Edge, with the kernel as the other side:
 *   E1  kernel: lock odd, fields, lock even -> thread: acquire of lock, of fields, of lock; the
 *       kernel writes on the processor of the thread, in between two of its instructions */
#include "counters_group.h"

#include "counters.h"

#include "counters_state.h"

#include "os.h"

#include <errno.h>
#include <linux/perf_event.h>

#define FIRST_SOFTWARE WEFT_COUNTER_TASK_CLOCK

static const struct {
    uint32_t type;
    uint64_t config;
} events[WEFT_COUNTER_COUNT] = {
    [WEFT_COUNTER_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [WEFT_COUNTER_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [WEFT_COUNTER_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    [WEFT_COUNTER_BRANCH_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    [WEFT_COUNTER_TASK_CLOCK] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    [WEFT_COUNTER_PAGE_FAULTS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    [WEFT_COUNTER_CONTEXT_SWITCHES] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    [WEFT_COUNTER_CPU_MIGRATIONS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

/* ---- the ladder */

static void close_group(const weft__os_perf *perf, weft__counter_group *group)
{
    for (uint32_t i = group->count; i-- > 0;) {
        if (group->pages[i] != NULL) perf->unmap(perf->user, group->pages[i]);
        group->pages[i] = NULL;
        perf->close(perf->user, group->descriptors[i]);
    }
    group->count = group->available = 0;
    group->has_registers = group->is_user_only = false;
}

static bool is_refusal(int error)
{
    return error == EACCES || error == EPERM;
}

/* The machine is out of something: fewer events would not be the honest answer. */
static bool is_exhausted(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

static int open_event(const weft__os_perf *perf, weft__counter_group *group, uint32_t column)
{
    weft__perf_event event = {events[column].type, events[column].config, group->is_user_only};
    int leader = group->count == 0 ? -1 : group->descriptors[0];
    int result = perf->open(perf->user, &event, leader);
    if (result >= 0 || !is_refusal(-result) || group->count != 0) return result;
    group->is_user_only = event.is_user_only = true;
    return perf->open(perf->user, &event, leader);
}

/* Adds events to the group; 0, or why there can be no group. An event that is not there, or that
 * counts nothing outside of the kernel, is left out. */
static int open_events(const weft__os_perf *perf, weft__counter_group *group, uint32_t first,
                       uint32_t end)
{
    for (uint32_t column = first; column < end; column++) {
        if (group->is_user_only && column >= WEFT_COUNTER_CONTEXT_SWITCHES) continue;
        int result = open_event(perf, group, column);
        if (result >= 0) {
            group->descriptors[group->count] = result;
            group->columns[group->count++] = column;
            group->available |= 1u << column;
        } else if (group->count == 0 || is_exhausted(-result)) {
            return -result;
        }
    }
    return 0;
}

static bool may_read_registers(const void *page)
{
    const struct perf_event_mmap_page *shared = page;
    return shared != NULL && shared->cap_user_rdpmc;
}

static bool map_registers(const weft__os_perf *perf, weft__counter_group *group)
{
    bool may_read = true;
    for (uint32_t i = 0; i < group->count; i++) {
        group->pages[i] = perf->map(perf->user, group->descriptors[i]);
        may_read = may_read && may_read_registers(group->pages[i]);
    }
    return may_read;
}

static int open_hardware(const weft__os_perf *perf, weft__counter_group *group)
{
    int error = open_events(perf, group, 0, FIRST_SOFTWARE);
    if (error != 0) return error;
    group->rung = WEFT__RUNG_HARDWARE;
    group->has_registers = map_registers(perf, group);
    if (group->has_registers) return 0; /* the others would cost a system call per slice */
    return open_events(perf, group, FIRST_SOFTWARE, WEFT_COUNTER_COUNT);
}

static bool read_group(const weft__os_perf *perf, const weft__counter_group *group,
                       weft__sample *out)
{
    uint64_t words[3 + WEFT_COUNTER_COUNT]; /* nr, enabled, running, values */
    if (!perf->read(perf->user, group->descriptors[0], words, 3 + group->count)) return false;
    out->enabled_ns = words[1];
    out->running_ns = words[2];
    for (uint32_t i = 0; i < group->count; i++) out->values[group->columns[i]] = words[3 + i];
    return true;
}

/* No counters on this worker, from here on. */
static void give_up(const weft__os_perf *perf, weft__counter_group *group, int error)
{
    close_group(perf, group);
    group->rung = WEFT__RUNG_NONE;
    group->error = error;
}

/* For the calling thread. */
static void open_group(const weft__counters *counters, weft__counter_group *group)
{
    const weft__os_perf *perf = counters->perf;
    close_group(perf, group);
    group->thread = weft__thread_self();
    group->error = 0;
    int error = counters->is_software_only ? ENOENT : open_hardware(perf, group);
    group->hardware_error = error;
    if (error != 0 && !is_exhausted(error)) {
        close_group(perf, group);
        error = open_events(perf, group, FIRST_SOFTWARE, WEFT_COUNTER_COUNT);
        group->rung = WEFT__RUNG_SOFTWARE;
    }
    if (error == 0 && !perf->start(perf->user, group->descriptors[0])) error = EIO;
    if (error != 0) give_up(perf, group, error);
}

/* ---- reading */

/* False when the counter is not in a register now. */
static bool read_register(const weft__os_perf *perf, const void *page, uint64_t *out)
{
    const struct perf_event_mmap_page *shared = page;
    const weft_a32 *lock = (const weft_a32 *)(const void *)&shared->lock;
    const weft_a32 *register_index = (const weft_a32 *)(const void *)&shared->index;
    const weft_a64 *base = (const weft_a64 *)(const void *)&shared->offset;
    uint32_t before, index;
    uint64_t value;
    do {
        before = at_load_acq(lock);          /* E1 */
        index = at_load_acq(register_index); /* E1 */
        value = at_load_acq(base);           /* E1 */
        if (index == 0) return false;
        uint32_t shift = 64u - shared->pmc_width;
        uint64_t raw = perf->read_register(perf->user, index - 1) << shift;
        value += (uint64_t)((int64_t)raw >> shift); /* the register is signed */
    } while (at_load_acq(lock) != before);          /* E1 */
    *out = value;
    return true;
}

static bool read_registers(const weft__os_perf *perf, const weft__counter_group *group,
                           weft__sample *out)
{
    *out = group->last; /* times do not move between two parts */
    for (uint32_t i = 0; i < group->count; i++)
        if (!read_register(perf, group->pages[i], &out->values[group->columns[i]])) return false;
    return true;
}

void weft__counters_begin(weft__scheduler *scheduler, uint32_t worker)
{
    const weft__counters *counters = scheduler->counters;
    weft__counter_group *group = &scheduler->counters->groups[worker];
    if (group->thread != weft__thread_self()) open_group(counters, group);
    if (group->rung == WEFT__RUNG_NONE) return;
    weft__sample before = group->last;
    if (!read_group(counters->perf, group, &group->last)) {
        give_up(counters->perf, group, EIO);
        return;
    }
    bool has_waited =
        group->last.enabled_ns - before.enabled_ns > group->last.running_ns - before.running_ns;
    if (has_waited) group->has_registers = false; /* registers cannot tell; read() can */
}

void weft__counters_take(weft__scheduler *scheduler, uint32_t worker, const weft__system *system)
{
    const weft__os_perf *perf = scheduler->counters->perf;
    weft__counter_group *group = &scheduler->counters->groups[worker];
    if (group->rung == WEFT__RUNG_NONE) return;
    weft__sample now;
    bool is_read = group->has_registers && read_registers(perf, group, &now);
    if (!is_read && !read_group(perf, group, &now)) {
        give_up(perf, group, EIO);
        return;
    }
    uint32_t slot = weft__system_slot(system);
    if (slot >= scheduler->counters->capacity) return; /* made in the middle of this step */
    weft__counts *counts = weft__counts_of(scheduler->counters, worker, slot);
    if (counts->system != system->handle) *counts = (weft__counts){.system = system->handle};
    counts->calls++;
    counts->sum.enabled_ns += now.enabled_ns - group->last.enabled_ns;
    counts->sum.running_ns += now.running_ns - group->last.running_ns;
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t column = group->columns[i];
        counts->sum.values[column] += now.values[column] - group->last.values[column];
    }
    group->last = now;
}

/* ---- on and off */

static size_t bytes_of(uint32_t worker_count)
{
    return sizeof(weft__counters) + worker_count * sizeof(weft__counter_group);
}

static weft__counters *make(weft__scheduler *scheduler)
{
    weft__counters *counters = weft__alloc_zeroed(scheduler->memory, WEFT__MEMORY_SYSTEMS, 1,
                                                  bytes_of(scheduler->worker_count), 64);
    if (counters == NULL) return NULL;
    const weft_os *os = weft__world_desc(scheduler->world)->os;
    counters->perf = weft__os_perf_of(os != NULL ? os : weft__os_default());
    counters->is_software_only = scheduler->counter_wish == WEFT__COUNTER_WISH_SOFTWARE;
    counters->worker_count = scheduler->worker_count;
    scheduler->counters = counters;
    return counters;
}

/* Takes the place of the arrays of `counters`, which it frees. */
static void replace(weft__memory *memory, weft__counters *counters, uint32_t capacity,
                    weft__counts *counts, weft__counter_track *tracks)
{
    uint32_t old = counters->capacity, workers = counters->worker_count;
    for (uint32_t i = 0; i < workers; i++)
        for (uint32_t k = 0; k < old; k++)
            counts[(size_t)i * capacity + k] = counters->counts[(size_t)i * old + k];
    for (uint32_t k = 0; k < old; k++) tracks[k] = counters->tracks[k];
    weft__free(memory, WEFT__MEMORY_SYSTEMS, counters->counts, (size_t)workers * old,
               sizeof *counts, 64);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, counters->tracks, old, sizeof *tracks, 8);
    counters->counts = counts;
    counters->tracks = tracks;
    counters->capacity = capacity;
}

static bool grow(weft__scheduler *scheduler, weft__counters *counters)
{
    weft__memory *memory = scheduler->memory;
    uint32_t capacity = scheduler->system_capacity;
    size_t count = (size_t)counters->worker_count * capacity;
    weft__counts *counts =
        weft__alloc_zeroed(memory, WEFT__MEMORY_SYSTEMS, count, sizeof *counts, 64);
    weft__counter_track *tracks =
        weft__alloc_zeroed(memory, WEFT__MEMORY_SYSTEMS, capacity, sizeof *tracks, 8);
    if (counts != NULL && tracks != NULL) {
        replace(memory, counters, capacity, counts, tracks);
        return true;
    }
    weft__free(memory, WEFT__MEMORY_SYSTEMS, counts, count, sizeof *counts, 64);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, tracks, capacity, sizeof *tracks, 8);
    return false;
}

bool weft__counters_reserve(weft__scheduler *scheduler)
{
    weft__counters *counters = scheduler->counters != NULL ? scheduler->counters : make(scheduler);
    if (counters == NULL) return false;
    return counters->capacity >= scheduler->system_capacity || grow(scheduler, counters);
}

void weft__counters_free(weft__scheduler *scheduler)
{
    weft__counters *counters = scheduler->counters;
    if (counters == NULL) return;
    weft__counters_print(scheduler);
    weft__memory *memory = scheduler->memory;
    for (uint32_t i = 0; i < counters->worker_count; i++)
        close_group(counters->perf, &counters->groups[i]);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, counters->counts,
               (size_t)counters->worker_count * counters->capacity, sizeof *counters->counts, 64);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, counters->tracks, counters->capacity,
               sizeof *counters->tracks, 8);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, counters, 1, bytes_of(counters->worker_count), 64);
    scheduler->counters = NULL;
}
