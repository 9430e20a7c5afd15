/* SPDX-License-Identifier: MIT */
/* counters_group.c: counting while systems run, and what was counted: a group of events per
 * worker, sums per system and worker; as text, JSON and lines of a trace. Declared in
 * counters.h.
 *
 * The ladder, tried from the top, with the reason kept for the report:
 *   hardware   cycles, instructions, cache and branch misses; read from registers (rdpmc, no system
 *              call) where the kernel allows it, else with the software events by one read()
 *   software   processor time, page faults, context switches, migrations
 *   none       refused, or out of descriptors
 * Each rung is tried with the kernel's share first, then without; what one may not see then, or
 * what the machine does not have, is missing, never 0. A column that some worker could not count is
 * missing for all: a sum over a part of the workers would look like a sum.
 *
 *   who            its group, its counts      other groups, tracks
 *   worker w       reads and writes           never
 *   owner          reads, world at rest       the same
 *
 * A register is read in the page's sequence lock. Edge, with the kernel as the other side:
 *   E1  kernel: lock odd, fields, lock even -> thread: acquire of lock, of fields, of lock; the
 *       kernel writes on the processor of the thread, in between two of its instructions */
#include "counters.h"
#include "os_perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

typedef enum weft__rung {
    WEFT__RUNG_UNTRIED, /* the worker has run nothing */
    WEFT__RUNG_NONE,
    WEFT__RUNG_SOFTWARE,
    WEFT__RUNG_HARDWARE
} weft__rung;

/* What a group shows at one moment, or the difference of two. A value. */
typedef struct weft__sample {
    uint64_t enabled_ns, running_ns; /* running < enabled: it took turns with other users */
    uint64_t values[WEFT_COUNTER_COUNT];
} weft__sample;

/* The sum of a system on one worker. Owner: weft__counters; written by its worker only. */
typedef struct weft__counts {
    _Alignas(64) uint32_t system; /* handle it counts for; another one: it starts from 0 */
    uint64_t calls;
    weft__sample sum;
} weft__counts;

/* The counters of one worker. Owner: its thread. */
typedef struct weft__counter_group {
    _Alignas(64) uintptr_t thread; /* that opened them; 0: none yet */
    weft__rung rung;
    bool has_registers;
    bool is_user_only;
    uint32_t count; /* open events; event i belongs to column columns[i], event 0 leads */
    uint32_t columns[WEFT_COUNTER_COUNT];
    int descriptors[WEFT_COUNTER_COUNT];
    const void *pages[WEFT_COUNTER_COUNT]; /* mapped; NULL: none */
    uint32_t available;                    /* bit set of weft_counter */
    int hardware_error;                    /* why it is not the hardware rung; 0: it is */
    int error;                             /* why the rung is none; 0: it is not */
    weft__sample last;
    weft__counts works[WEFT__WORKS]; /* between calls of systems */
} weft__counter_group;

/* A system's lines in a trace. Owner: the scheduler. */
typedef struct weft__counter_track {
    uint32_t system; /* handle; names are made for it */
    uint64_t before[WEFT_COUNTER_COUNT];
    char names[WEFT_COUNTER_COUNT][96];
} weft__counter_track;

/* Owner: the scheduler. */
typedef struct weft__counters {
    const weft__os_perf *perf;   /* constant */
    bool is_software_only;       /* constant */
    uint32_t worker_count;       /* constant */
    uint32_t capacity;           /* systems there is room for */
    weft__counts *counts;        /* [worker][capacity] by slot of the system */
    weft__counter_track *tracks; /* [capacity] */
    weft__counter_track work_tracks[WEFT__WORKS];
    weft__counter_group groups[];
} weft__counters;

static inline weft__counts *counts_of(const weft__counters *counters, uint32_t worker,
                                      uint32_t slot)
{
    return &counters->counts[(size_t)worker * counters->capacity + slot];
}

/* ---- what was counted ---- */

enum { NAME_COLUMNS = 17 }; /* of a table of 80 */

/* An event, and how its column appears. `unit` divides in the trace, whose counters have 32
 * bits. */
static const struct {
    uint32_t type, config;
    const char *name, *json, *track; /* name: at most 6 bytes */
    uint32_t unit;
} columns[WEFT_COUNTER_COUNT] = {
#define HARD(event) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##event
#define SOFT(event) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##event
    [WEFT_COUNTER_CYCLES] = {HARD(CPU_CYCLES), "cycles", "cycles", "cycles (1000)", 1000},
    [WEFT_COUNTER_INSTRUCTIONS] = {HARD(INSTRUCTIONS), "instr", "instructions",
                                   "instructions (1000)", 1000},
    [WEFT_COUNTER_CACHE_MISSES] = {HARD(CACHE_MISSES), "cache", "cache_misses", "cache misses", 1},
    [WEFT_COUNTER_BRANCH_MISSES] = {HARD(BRANCH_MISSES), "branch", "branch_misses", "branch misses",
                                    1},
    [WEFT_COUNTER_TASK_CLOCK] = {SOFT(TASK_CLOCK), "ms", "task_clock_ns", "processor time (us)",
                                 1000},
    [WEFT_COUNTER_PAGE_FAULTS] = {SOFT(PAGE_FAULTS), "faults", "page_faults", "page faults", 1},
    [WEFT_COUNTER_CONTEXT_SWITCHES] = {SOFT(CONTEXT_SWITCHES), "switch", "context_switches",
                                       "context switches", 1},
    [WEFT_COUNTER_CPU_MIGRATIONS] = {SOFT(CPU_MIGRATIONS), "migr", "cpu_migrations", "migrations",
                                     1},
};

/* ---- sums */

/* The columns that every worker that ran something can count. */
static uint32_t available(const weft__counters *counters)
{
    uint32_t all = (1u << WEFT_COUNTER_COUNT) - 1, set = all;
    bool has_any = false;
    for (uint32_t i = 0; i < counters->worker_count; i++) {
        const weft__counter_group *group = &counters->groups[i];
        if (group->rung == WEFT__RUNG_UNTRIED) continue;
        set &= group->available;
        has_any = true;
    }
    return has_any ? set : 0;
}

static void add_worker(const weft__counts *counts, weft_system_counters *out)
{
    const weft__sample *sum = &counts->sum;
    out->calls += counts->calls;
    if (sum->running_ns == 0 && sum->enabled_ns != 0) out->available = 0; /* never had its turn */
    bool is_shared = sum->running_ns < sum->enabled_ns && sum->running_ns != 0;
    double scale = is_shared ? (double)sum->enabled_ns / (double)sum->running_ns : 1;
    for (uint32_t i = 0; i < WEFT_COUNTER_COUNT; i++)
        out->values[i] += is_shared ? (uint64_t)((double)sum->values[i] * scale) : sum->values[i];
}

static void leave_missing(weft_system_counters *out)
{
    for (uint32_t i = 0; i < WEFT_COUNTER_COUNT; i++)
        if ((out->available & 1u << i) == 0) out->values[i] = 0;
}

/* What was counted between the calls of systems. */
static void sum_work(const weft__counters *counters, weft__work work, weft_system_counters *out)
{
    static const char *const names[WEFT__WORKS] = {"(engine)", "(relations)", "(playback)",
                                                   "(observers)", "(hashing)"};
    *out = (weft_system_counters){.name = names[work], .available = available(counters)};
    for (uint32_t i = 0; i < counters->worker_count; i++)
        add_worker(&counters->groups[i].works[work], out);
    leave_missing(out);
}

void weft__counters_sum(const weft__scheduler *scheduler, const weft__system *system,
                        weft_system_counters *out)
{
    const weft__counters *counters = scheduler->counters;
    *out = (weft_system_counters){.name = system->name};
    uint32_t slot = weft__system_slot(system);
    if (counters == NULL || slot >= counters->capacity) return;
    out->available = available(counters);
    for (uint32_t i = 0; i < counters->worker_count; i++) {
        const weft__counts *counts = counts_of(counters, i, slot);
        if (counts->system == system->handle) add_worker(counts, out);
    }
    leave_missing(out);
}

/* ---- the reason */

static const char *error_name(int error)
{
#define NAMED(code)                                                                                \
    {                                                                                              \
        code, #code                                                                                \
    }
    static const struct {
        int error;
        const char *name;
    } names[] = {NAMED(EACCES), NAMED(EPERM),  NAMED(ENOENT),     NAMED(ENOSYS), NAMED(EMFILE),
                 NAMED(ENFILE), NAMED(ENOMEM), NAMED(EOPNOTSUPP), NAMED(ENODEV), NAMED(EIO)};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].error == error) return names[i].name;
    return "unexpected";
}

static void explain_none(weft__text *t, const weft__counters *counters, uint32_t worker)
{
    int error = counters->groups[worker].error;
    weft__text_add(t, "none: worker %u: %s (error %d): ", worker, error_name(error), error);
    switch (error) {
    case EACCES:
    case EPERM: {
        int32_t paranoid = counters->perf->paranoid(counters->perf->user);
        if (paranoid != INT32_MAX && paranoid > 2)
            weft__text_add(t,
                           "kernel.perf_event_paranoid is %d: sysctl kernel.perf_event_paranoid=2, "
                           "or give the program CAP_PERFMON",
                           paranoid);
        else
            weft__text_add(t, "perf_event_open is not allowed here: a container's seccomp profile, "
                              "or no CAP_PERFMON");
        break;
    }
    case EMFILE:
    case ENFILE:
        weft__text_add(t, "%u workers need up to %u file descriptors: raise ulimit -n",
                       counters->worker_count,
                       counters->worker_count * (uint32_t)WEFT_COUNTER_COUNT);
        break;
    case ENOMEM:
        weft__text_add(t, "the kernel is out of memory");
        break;
    case EIO:
        weft__text_add(t, "a counter could not be read");
        break;
    default:
        weft__text_add(t, "this kernel has no event counters");
        break;
    }
}

static void explain_software(weft__text *t, const weft__counters *counters,
                             const weft__counter_group *group)
{
    int error = group->hardware_error;
    weft__text_add(t, "software events only, by read(): ");
    if (counters->is_software_only)
        weft__text_add(t, "as asked for");
    else if (error == EACCES || error == EPERM)
        weft__text_add(t, "hardware counters are refused (%s)", error_name(error));
    else
        weft__text_add(t, "this machine has no hardware counters (%s), as most virtual machines",
                       error_name(error));
}

/* The worker on the lowest rung speaks for all. */
static const weft__counter_group *lowest(const weft__counters *counters, uint32_t *worker)
{
    const weft__counter_group *found = NULL;
    for (uint32_t i = 0; i < counters->worker_count; i++) {
        const weft__counter_group *group = &counters->groups[i];
        if (group->rung == WEFT__RUNG_UNTRIED) continue;
        if (found != NULL && group->rung >= found->rung) continue;
        found = group;
        *worker = i;
    }
    return found;
}

static void explain(weft__text *t, const weft__counters *counters)
{
    uint32_t worker = 0;
    const weft__counter_group *group = counters == NULL ? NULL : lowest(counters, &worker);
    weft__text_add(t, "counters: ");
    if (group == NULL)
        weft__text_add(t, "nothing was counted: no system has run with counts_events or "
                          "WEFT_COUNTERS=1");
    else if (group->rung == WEFT__RUNG_NONE)
        explain_none(t, counters, worker);
    else if (group->rung == WEFT__RUNG_SOFTWARE)
        explain_software(t, counters, group);
    else if (group->has_registers)
        weft__text_add(t, "hardware events, read from registers; software events would cost a "
                          "system call per slice: WEFT_COUNTERS=software");
    else
        weft__text_add(t, "hardware and software events, by read()");
    if (group != NULL && group->is_user_only)
        weft__text_add(t, "; without the kernel's share (kernel.perf_event_paranoid is %d)",
                       counters->perf->paranoid(counters->perf->user));
    weft__text_add(t, "\n");
}

/* ---- table and JSON */

/* A count in six columns; from a million on in thousands, and so on. */
static void add_count(weft__text *t, uint64_t count)
{
    static const char units[] = " kMGT";
    uint32_t unit = 0;
    if (count < 1000000) {
        weft__text_add(t, " %6llu", (unsigned long long)count);
        return;
    }
    for (; count >= 100000 && units[unit + 1] != '\0'; unit++) count /= 1000;
    weft__text_add(t, " %5llu%c", (unsigned long long)count, units[unit]);
}

static void add_value(weft__text *t, const weft_system_counters *sum, uint32_t column)
{
    const double ms = (double)sum->values[column] / 1e6;
    if ((sum->available & 1u << column) == 0)
        weft__text_add(t, " %6s", "-");
    else if (column == WEFT_COUNTER_TASK_CLOCK && ms < 1e5)
        weft__text_add(t, " %6.*f", ms < 100 ? 2 : ms < 1000 ? 1 : 0, ms);
    else
        add_count(t, column == WEFT_COUNTER_TASK_CLOCK ? (uint64_t)ms : sum->values[column]);
}

/* A line of 80 columns; a long name has one of its own. */
static void add_row(weft__text *t, const weft_system_counters *sum)
{
    weft__text_add(t, "%-*s", NAME_COLUMNS, sum->name);
    if (strlen(sum->name) > NAME_COLUMNS) weft__text_add(t, "\n%*s", NAME_COLUMNS, "");
    add_count(t, sum->calls);
    for (uint32_t i = 0; i < WEFT_COUNTER_COUNT; i++) add_value(t, sum, i);
    weft__text_add(t, "\n");
}

void weft__counters_text(const weft__scheduler *scheduler, weft__text *t)
{
    explain(t, scheduler->counters);
    if (scheduler->counters == NULL) return;
    weft__text_add(t, "%-*s %6s", NAME_COLUMNS, "system", "calls");
    for (uint32_t i = 0; i < WEFT_COUNTER_COUNT; i++) weft__text_add(t, " %6s", columns[i].name);
    weft__text_add(t, "\n");
    for (uint32_t i = 0; i < scheduler->system_capacity; i++) {
        weft_system_counters sum;
        if (scheduler->systems[i] == NULL) continue;
        weft__counters_sum(scheduler, scheduler->systems[i], &sum);
        add_row(t, &sum);
    }
    for (uint32_t i = WEFT__WORKS; i-- > 0;) {
        weft_system_counters sum;
        sum_work(scheduler->counters, i, &sum);
        add_row(t, &sum);
    }
    const weft__frame_share *share = &scheduler->counter_share;
    if (share->percent != 0)
        weft__text_add(t, "counted: %llu of %llu frames, %u %% of the time at most\n",
                       (unsigned long long)share->taken, (unsigned long long)share->of,
                       share->percent);
}

void weft__counters_json(const weft__scheduler *scheduler, const weft__system *system,
                         weft__work work, weft__text *t)
{
    weft_system_counters sum;
    if (scheduler->counters == NULL) return;
    if (system != NULL)
        weft__counters_sum(scheduler, system, &sum);
    else
        sum_work(scheduler->counters, work, &sum);
    weft__text_add(t, ", \"counters\": {\"calls\": %llu", (unsigned long long)sum.calls);
    for (uint32_t i = 0; i < WEFT_COUNTER_COUNT; i++)
        if ((sum.available & 1u << i) != 0)
            weft__text_add(t, ", \"%s\": %llu", columns[i].json, (unsigned long long)sum.values[i]);
    weft__text_add(t, "}");
}

/* ---- trace */

static void begin_track(weft__counter_track *track, uint32_t system, const char *name)
{
    *track = (weft__counter_track){.system = system};
    for (uint32_t i = 0; i < WEFT_COUNTER_COUNT; i++)
        snprintf(track->names[i], sizeof track->names[i], "%s: %s", name, columns[i].track);
}

static void note_track(weft_job_context *owner, weft__counter_track *track, uint32_t system,
                       const weft_system_counters *sum)
{
    if (track->system != system) begin_track(track, system, sum->name);
    for (uint32_t k = 0; k < WEFT_COUNTER_COUNT; k++) {
        if ((sum->available & 1u << k) == 0) continue;
        uint64_t before = track->before[k], now = sum->values[k]; /* scaled: may fall a little */
        uint64_t value = now > before ? (now - before) / columns[k].unit : 0;
        track->before[k] = now;
        weft__note(owner, WEFT_JOB_EVENT_COUNTER, track->names[k],
                   value < UINT32_MAX ? (uint32_t)value : UINT32_MAX);
    }
}

void weft__counters_trace(weft__scheduler *scheduler)
{
    weft_job_context *owner = weft__front(scheduler->world)->host.context;
    weft__counters *counters = scheduler->counters;
    weft_system_counters sum;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        const weft__system *system = scheduler->ordered[i];
        const uint32_t slot = weft__system_slot(system);
        if (slot >= counters->capacity) continue;
        weft__counters_sum(scheduler, system, &sum);
        note_track(owner, &counters->tracks[slot], system->handle, &sum);
    }
    for (weft__work work = 0; work < WEFT__WORKS; work++) {
        sum_work(counters, work, &sum);
        if (sum.calls != 0) note_track(owner, &counters->work_tracks[work], UINT32_MAX, &sum);
    }
}

/* ---- opening and reading groups ---- */

#define FIRST_SOFTWARE WEFT_COUNTER_TASK_CLOCK

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
    weft__perf_event event = {columns[column].type, columns[column].config, group->is_user_only};
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

static void add_since(weft__counter_group *group, const weft__sample *now, weft__counts *counts)
{
    counts->calls++;
    counts->sum.enabled_ns += now->enabled_ns - group->last.enabled_ns;
    counts->sum.running_ns += now->running_ns - group->last.running_ns;
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t column = group->columns[i];
        counts->sum.values[column] += now->values[column] - group->last.values[column];
    }
}

/* Reads the group; what was counted since is the engine's if `is_engine`. */
static void look(const weft__counters *counters, weft__counter_group *group, bool is_engine)
{
    weft__sample now = group->last;
    if (group->thread != weft__thread_self()) {
        open_group(counters, group);
        is_engine = false;
    }
    if (group->rung == WEFT__RUNG_NONE) return;
    if (!read_group(counters->perf, group, &now)) {
        give_up(counters->perf, group, EIO);
        return;
    }
    bool has_waited =
        now.enabled_ns - group->last.enabled_ns > now.running_ns - group->last.running_ns;
    if (has_waited) group->has_registers = false; /* registers cannot tell; read() can */
    if (is_engine) add_since(group, &now, &group->works[WEFT__WORK_REST]);
    group->last = now;
}

void weft__counters_frame(weft__scheduler *scheduler, bool is_begin)
{
    look(scheduler->counters, &scheduler->counters->groups[0], !is_begin);
}

void weft__counters_begin(weft__scheduler *scheduler, uint32_t worker)
{
    look(scheduler->counters, &scheduler->counters->groups[worker], worker == 0);
}

void weft__counters_take(weft__scheduler *scheduler, uint32_t worker, const weft__system *system,
                         weft__work work)
{
    const weft__os_perf *perf = scheduler->counters->perf;
    weft__counter_group *group = &scheduler->counters->groups[worker];
    if (group->rung == WEFT__RUNG_NONE) return;
    weft__sample now = {0};
    bool is_read = group->has_registers && read_registers(perf, group, &now);
    if (!is_read && !read_group(perf, group, &now)) {
        give_up(perf, group, EIO);
        return;
    }
    const uint32_t slot = system == NULL ? 0 : weft__system_slot(system);
    if (slot >= scheduler->counters->capacity) return; /* made in the middle of this step */
    weft__counts *counts =
        system == NULL ? &group->works[work] : counts_of(scheduler->counters, worker, slot);
    if (system != NULL && counts->system != system->handle)
        *counts = (weft__counts){.system = system->handle};
    add_since(group, &now, counts);
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
    WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, counters->counts, (size_t)workers * old);
    WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, counters->tracks, old);
    counters->counts = counts;
    counters->tracks = tracks;
    counters->capacity = capacity;
}

static bool grow(weft__scheduler *scheduler, weft__counters *counters)
{
    weft__memory *memory = scheduler->memory;
    uint32_t capacity = scheduler->system_capacity;
    size_t count = (size_t)counters->worker_count * capacity;
    weft__counts *counts = WEFT__NEW_ZEROED(memory, WEFT__MEMORY_SYSTEMS, count, *counts);
    weft__counter_track *tracks = WEFT__NEW_ZEROED(memory, WEFT__MEMORY_SYSTEMS, capacity, *tracks);
    if (counts != NULL && tracks != NULL) {
        replace(memory, counters, capacity, counts, tracks);
        return true;
    }
    WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, counts, count);
    WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, tracks, capacity);
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
    WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, counters->counts,
               (size_t)counters->worker_count * counters->capacity);
    WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, counters->tracks, counters->capacity);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, counters, 1, bytes_of(counters->worker_count), 64);
    scheduler->counters = NULL;
}
