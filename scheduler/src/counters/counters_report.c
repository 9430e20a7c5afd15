/* SPDX-License-Identifier: MIT */
/* counters_report.c: what was counted, as sums, a table, JSON and lines of a trace.
 *
 * A column that some worker could not count is missing for all: a sum over a part of the workers
 * would look like a sum. */
#include "counters_report.h"
#include "counters_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS = 17 }; /* of a table of 80 */

/* How a column appears. `unit` divides in the trace, whose counters have 32 bits. */
static const struct {
    const char *name, *json, *track; /* name: at most 6 bytes */
    uint32_t unit;
} columns[WEFT_COUNTER_COUNT] = {
    [WEFT_COUNTER_CYCLES] = {"cycles", "cycles", "cycles (1000)", 1000},
    [WEFT_COUNTER_INSTRUCTIONS] = {"instr", "instructions", "instructions (1000)", 1000},
    [WEFT_COUNTER_CACHE_MISSES] = {"cache", "cache_misses", "cache misses", 1},
    [WEFT_COUNTER_BRANCH_MISSES] = {"branch", "branch_misses", "branch misses", 1},
    [WEFT_COUNTER_TASK_CLOCK] = {"ms", "task_clock_ns", "processor time (us)", 1000},
    [WEFT_COUNTER_PAGE_FAULTS] = {"faults", "page_faults", "page faults", 1},
    [WEFT_COUNTER_CONTEXT_SWITCHES] = {"switch", "context_switches", "context switches", 1},
    [WEFT_COUNTER_CPU_MIGRATIONS] = {"migr", "cpu_migrations", "migrations", 1},
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

void weft__counters_sum(const weft__scheduler *scheduler, const weft__system *system,
                        weft_system_counters *out)
{
    const weft__counters *counters = scheduler->counters;
    *out = (weft_system_counters){.name = system->name};
    uint32_t slot = weft__system_slot(system);
    if (counters == NULL || slot >= counters->capacity) return;
    out->available = available(counters);
    for (uint32_t i = 0; i < counters->worker_count; i++) {
        const weft__counts *counts = weft__counts_of(counters, i, slot);
        if (counts->system == system->handle) add_worker(counts, out);
    }
    for (uint32_t i = 0; i < WEFT_COUNTER_COUNT; i++)
        if ((out->available & 1u << i) == 0) out->values[i] = 0;
}

/* ---- the reason */

static const char *error_name(int error)
{
    switch (error) {
    case EACCES:
        return "EACCES";
    case EPERM:
        return "EPERM";
    case ENOENT:
        return "ENOENT";
    case ENOSYS:
        return "ENOSYS";
    case EMFILE:
        return "EMFILE";
    case ENFILE:
        return "ENFILE";
    case ENOMEM:
        return "ENOMEM";
    case EOPNOTSUPP:
        return "EOPNOTSUPP";
    case ENODEV:
        return "ENODEV";
    case EIO:
        return "EIO";
    default:
        return "unexpected";
    }
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
}

void weft__counters_json(const weft__scheduler *scheduler, const weft__system *system,
                         weft__text *t)
{
    weft_system_counters sum;
    if (scheduler->counters == NULL) return;
    weft__counters_sum(scheduler, system, &sum);
    weft__text_add(t, ", \"counters\": {\"calls\": %llu", (unsigned long long)sum.calls);
    for (uint32_t i = 0; i < WEFT_COUNTER_COUNT; i++)
        if ((sum.available & 1u << i) != 0)
            weft__text_add(t, ", \"%s\": %llu", columns[i].json, (unsigned long long)sum.values[i]);
    weft__text_add(t, "}");
}

/* ---- trace */

static void begin_track(weft__counter_track *track, const weft__system *system)
{
    *track = (weft__counter_track){.system = system->handle};
    for (uint32_t i = 0; i < WEFT_COUNTER_COUNT; i++)
        snprintf(track->names[i], sizeof track->names[i], "%s: %s", system->name, columns[i].track);
}

void weft__counters_trace(weft__scheduler *scheduler)
{
    weft_job_context *owner = weft__front(scheduler->world)->host.context;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        const weft__system *system = scheduler->ordered[i];
        weft_system_counters sum;
        weft__counters_sum(scheduler, system, &sum);
        uint32_t slot = weft__system_slot(system);
        if (slot >= scheduler->counters->capacity) continue;
        weft__counter_track *track = &scheduler->counters->tracks[slot];
        if (track->system != system->handle) begin_track(track, system);
        for (uint32_t k = 0; k < WEFT_COUNTER_COUNT; k++) {
            if ((sum.available & 1u << k) == 0) continue;
            uint64_t before = track->before[k], now = sum.values[k]; /* scaled: may fall a little */
            uint64_t value = now > before ? (now - before) / columns[k].unit : 0;
            track->before[k] = now;
            weft__note(owner, WEFT_JOB_EVENT_COUNTER, track->names[k],
                       value < UINT32_MAX ? (uint32_t)value : UINT32_MAX);
        }
    }
}
