/* SPDX-License-Identifier: MIT */
/* simulate_machine.c: what operations cost on the virtual machine: cache lines, looks for work, the
 * memory bus. Implements the hooks of atomic_hook.h; the order of workers and the seam of os.h are
 * in virtual_threads.c.
 *
 * A cache line is known to a set of workers. A load by one of them, and a write by the only one,
 * are cheap; everything else moves the line, and moves of one line wait for each other. A plain
 * store does not wait for its line (store buffer), but the next worker does.
 *
 * A worker that looks for work and finds none does the same again, until another one writes a line
 * that it looks at or its budget is spent. So what it does between two reads of the clock is a
 * *look*; after two equal ones it sleeps in real time, and its clock goes on by whole looks: to the
 * one that meets the write, or that sees the end of the budget. */
#include "virtual_machine.h"

#include <stdlib.h>
#include <string.h>

#define LINES (1u << 17)
#define IDLE_PS UINT64_C(20000000) /* slept at once at most: budgets are a guess (end_look) */

const sim_machine sim_machine_default = {.hit_ns = 1,
                                         .rmw_ns = 2.4,
                                         .transfer_ns = 60,
                                         .pause_ns = 25,
                                         .clock_ns = 9,
                                         .wake_call_ns = 5000,
                                         .wake_ns = 8000,
                                         .syscall_ns = 170,
                                         .frame_spin_ns = 200000};

/* ---- cache lines */

static sim_line *line_of(const void *address)
{
    uint64_t key = (uint64_t)(uintptr_t)address / 64;
    uint32_t place = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 40) & (LINES - 1);
    for (uint32_t tries = 0; tries < LINES; tries++) {
        sim_line *line = &sim_vm.lines[place];
        if (line->key == key) return line;
        if (line->key == 0) {
            line->key = key;
            return line;
        }
        place = (place + 1) & (LINES - 1);
    }
    sim_fail("too many cache lines");
    return NULL;
}

static bool is_held(const sim_line *line)
{
    return line->owners[sim_vm.current / 64] >> (sim_vm.current % 64) & 1;
}

static bool is_alone(const sim_line *line)
{
    uint64_t others = 0;
    for (uint32_t i = 0; i < WORKERS_MAX / 64; i++)
        others |= line->owners[i] &
                  ~(i == sim_vm.current / 64 ? UINT64_C(1) << (sim_vm.current % 64) : 0);
    return others == 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A sleeper whose look meets the line wakes for the look that sees it written. */
static void disturb(uint32_t worker, const sim_line *line)
{
    sim_worker *w = &sim_vm.workers[worker];
    const sim_look *look = &w->look;
    uint32_t at = 0;
    if (!look->is_asleep) return;
    while (at < look->count && look->glances[at].line != line) at++;
    if (at == look->count) return;
    uint64_t first_ps = look->begin_ps + look->glances[at].after_ps, now_ps = sim_self()->clock_ps;
    uint64_t looks =
        now_ps <= first_ps ? 0 : (now_ps - first_ps + look->period_ps - 1) / look->period_ps;
    uint64_t wake_ps = look->begin_ps + looks * look->period_ps;
    if (wake_ps >= w->clock_ps) return;
    w->clock_ps = wake_ps;
    sim_rise(w->place, worker);
}

/* The running worker holds it, too. */
static void share(sim_line *line)
{
    line->owners[sim_vm.current / 64] |= UINT64_C(1) << (sim_vm.current % 64);
}

/* The running worker alone holds it. */
static void take(sim_line *line)
{
    for (uint32_t i = 0; i < WORKERS_MAX / 64; i++) {
        if (sim_vm.asleep_count != 0)
            for (uint64_t left = line->owners[i]; left != 0; left &= left - 1)
                disturb(i * 64 + (uint32_t)__builtin_ctzll(left), line);
        line->owners[i] = 0;
    }
    share(line);
}

static void cost_load(const void *address)
{
    sim_vm.operations++;
    sim_settle_reader();
    const sim_worker *w = sim_self();
    sim_look *look = &sim_self()->look;
    sim_line *line = line_of(address);
    if (is_held(line)) {
        if (look->count == LOOK_LINES)
            look->has_missed = true;
        else if (look->count == 0 || look->glances[look->count - 1].line != line)
            look->glances[look->count++] = (sim_glance){line, w->clock_ps - look->begin_ps};
        sim_self()->clock_ps += sim_vm.hit_ps;
        return;
    }
    uint64_t begin = later(w->clock_ps, line->busy_ps);
    sim_self()->clock_ps = begin + sim_vm.transfer_ps;
    line->busy_ps = begin + sim_vm.transfer_ps / 4; /* readers overlap */
    look->has_missed = true;
    share(line);
}

static void cost_store(const void *address)
{
    sim_vm.operations++;
    sim_settle();
    sim_line *line = line_of(address);
    sim_worker *w = sim_self();
    if (!is_held(line) || !is_alone(line)) {
        line->busy_ps = later(w->clock_ps, line->busy_ps) + sim_vm.transfer_ps;
        w->look.has_acted = true;
        take(line);
    }
    w->clock_ps += sim_vm.hit_ps;
}

static void cost_rmw(const void *address)
{
    sim_vm.operations++;
    sim_settle();
    sim_line *line = line_of(address);
    sim_worker *w = sim_self();
    w->look.has_acted = true;
    if (is_held(line) && is_alone(line)) {
        w->clock_ps += sim_vm.rmw_ps;
        return;
    }
    take(line);
    w->clock_ps = later(w->clock_ps, line->busy_ps) + sim_vm.transfer_ps;
    line->busy_ps = w->clock_ps;
}

/* ---- looks */

/* The end of the budget that is spent next, a look at most 20 us away. */
static uint64_t next_deadline(const sim_worker *w)
{
    uint64_t deadline = w->clock_ps + IDLE_PS;
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t end = w->look.idle_ps + sim_vm.budgets_ps[i];
        if (end > w->clock_ps && end < deadline) deadline = end;
    }
    return deadline;
}

/* The running worker has just found nothing for the second time in the same way. */
static void sleep_through(sim_worker *w)
{
    sim_look *look = &w->look;
    uint64_t looks = (next_deadline(w) - w->clock_ps + look->period_ps - 1) / look->period_ps;
    look->begin_ps = w->clock_ps;
    w->clock_ps += looks * look->period_ps;
    look->is_asleep = true;
    sim_vm.asleep_count++;
    sim_settle();
    sim_vm.asleep_count--;
    look->is_asleep = false;
}

/* The running worker has read the clock. */
void sim_end_look(void)
{
    sim_worker *w = sim_self();
    sim_look *look = &w->look;
    uint64_t period = w->clock_ps - look->begin_ps;
    bool is_idle = !look->has_acted && !look->has_missed && look->has_paused;
    bool is_same = is_idle && period == look->period_ps;
    if (look->has_acted) look->idle_ps = w->clock_ps;
    look->period_ps = is_idle ? period : 0;
    if (is_same) sleep_through(w);
    look->begin_ps = w->clock_ps;
    look->has_acted = look->has_missed = look->has_paused = false;
    look->count = 0;
}

/* ---- hooks: sequentially consistent, in the order of the clocks */

static uint64_t get(const void *p, uint32_t width)
{
    uint32_t half;
    uint64_t v;
    if (width == 8) {
        memcpy(&v, p, 8);
        return v;
    }
    memcpy(&half, p, 4);
    return half;
}

static void put(void *p, uint32_t width, uint64_t v)
{
    uint32_t half = (uint32_t)v;
    if (width == 8)
        memcpy(p, &v, 8);
    else
        memcpy(p, &half, 4);
}

uint64_t weft__hook_load(const void *p, uint32_t width, weft__hook_order order, const char *site)
{
    (void)order, (void)site;
    cost_load(p);
    return get(p, width);
}

void weft__hook_store(void *p, uint32_t width, weft__hook_order order, uint64_t v, const char *site)
{
    (void)site;
    if (order == HOOK_SC)
        cost_rmw(p); /* an exchange */
    else
        cost_store(p);
    put(p, width, v);
}

uint64_t weft__hook_rmw_do(void *p, uint32_t width, uint32_t kind_and_order, uint64_t v,
                           const char *site)
{
    (void)site;
    cost_rmw(p);
    uint64_t old = get(p, width);
    put(p, width, hook_rmw_apply((weft__hook_rmw)(kind_and_order >> 8), old, v));
    return old;
}

bool weft__hook_cas(void *p, uint32_t width, weft__hook_order order, uint64_t *expected, uint64_t v,
                    const char *site)
{
    (void)order, (void)site;
    cost_rmw(p);
    uint64_t old = get(p, width);
    bool is_equal = old == *expected;
    if (is_equal) put(p, width, v);
    *expected = old;
    return is_equal;
}

void weft__hook_stall(const char *site)
{
    (void)site;
    sim_self()->clock_ps += sim_vm.pause_ps;
    sim_self()->look.has_paused = true;
    sim_settle_reader();
}

uint32_t weft__hook_thread(void)
{
    return sim_vm.current;
}

void weft__hook_init(void *p, uint32_t width, uint64_t v, const char *site)
{
    (void)site;
    put(p, width, v);
}

uint64_t weft__hook_plain(const void *p, uint32_t width, const char *site)
{
    (void)site;
    return get(p, width);
}

/* ---- for the driver */

static uint64_t ps_of(double ns)
{
    return (uint64_t)(ns * 1000);
}

void sim_begin(const sim_machine *m)
{
    if (sim_vm.lines == NULL) sim_vm.lines = malloc(LINES * sizeof *sim_vm.lines);
    if (sim_vm.lines == NULL) sim_fail("out of memory");
    memset(sim_vm.lines, 0, LINES * sizeof *sim_vm.lines);
    sim_vm.worker_count = 1;
    sim_vm.current = sim_vm.heap_count = 0;
    sim_vm.workers[0].clock_ps = 0;
    sim_vm.workers[0].state = SIM_READY;
    sim_vm.workers[0].look.period_ps = 0;
    sim_vm.hit_ps = ps_of(m->hit_ns);
    sim_vm.rmw_ps = ps_of(m->rmw_ns);
    sim_vm.transfer_ps = ps_of(m->transfer_ns);
    sim_vm.pause_ps = ps_of(m->pause_ns);
    sim_vm.clock_ps = ps_of(m->clock_ns);
    sim_vm.wake_call_ps = ps_of(m->wake_call_ns);
    sim_vm.wake_ps = ps_of(m->wake_ns);
    sim_vm.syscall_ps = ps_of(m->syscall_ns);
    sim_vm.bus_ps_per_byte = m->bandwidth > 0 ? 1e6 / m->bandwidth : 0;
    sim_vm.bus_ps = 0;
    sim_vm.operations = 0;
    sim_vm.asleep_count = 0;
    sim_vm.budgets_ps[0] = ps_of(m->spin_ns);
    sim_vm.budgets_ps[1] = ps_of(m->frame_spin_ns);
}

uint64_t sim_now_ps(void)
{
    return sim_self()->clock_ps;
}

uint32_t sim_worker_now(void)
{
    return sim_vm.current;
}

uint64_t sim_operations(void)
{
    return sim_vm.operations;
}

/* The bus serves bodies in the order they begin; a body ends when both its own time and its share
 * of the bus are over. */
void sim_work(uint64_t ns, uint32_t bytes)
{
    sim_settle();
    uint64_t begin = sim_self()->clock_ps, end = begin + ns * 1000;
    sim_self()->look.has_acted = true;
    if (sim_vm.bus_ps_per_byte > 0 && bytes > 0) {
        sim_vm.bus_ps =
            later(sim_vm.bus_ps, begin) + (uint64_t)((double)bytes * sim_vm.bus_ps_per_byte);
        end = later(end, sim_vm.bus_ps);
    }
    sim_self()->clock_ps = end;
}
