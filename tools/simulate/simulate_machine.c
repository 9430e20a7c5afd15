/* SPDX-License-Identifier: MIT */
/* simulate_machine.c: the virtual machine: fibres in the order of their clocks, cache lines, futex,
 * memory bus. Implements the hooks of atomic_hook.h and the seam of os.h.
 *
 * A cache line is known to a set of workers. A load by one of them, and a write by the only one,
 * are cheap; everything else moves the line, and moves of one line wait for each other. A plain
 * store does not wait for its line (store buffer), but the next worker does. */
#include "simulate.h"

#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "explore_fibre.h"
#include "os.h"

#define WORKERS_MAX 256u
#define LINES (1u << 17)
#define LONG_SLEEP_PS UINT64_C(1000000000) /* 1 ms: then the core sleeps, too */
#define LONG_WAKE_PS UINT64_C(50000000)

const sim_machine sim_machine_default = {.hit_ns = 1,
                                         .rmw_ns = 2.4,
                                         .transfer_ns = 60,
                                         .pause_ns = 25,
                                         .clock_ns = 9,
                                         .wake_call_ns = 5000,
                                         .wake_ns = 8000,
                                         .syscall_ns = 170};

/* A cache line. `owners` is the set of workers that hold it. */
typedef struct sim_line {
    uint64_t key; /* address / 64; 0: free place */
    uint64_t busy_ps;
    uint64_t owners[WORKERS_MAX / 64];
} sim_line;

typedef enum sim_state { SIM_READY, SIM_FUTEX, SIM_JOIN, SIM_ENDED } sim_state;

/* A virtual worker. Only the running one changes others, when it wakes them. */
typedef struct sim_worker {
    explore_fibre fibre;
    uint64_t clock_ps;
    sim_state state;
    const weft_a32 *futex;
    uint64_t slept_ps; /* when it went to sleep */
    uint32_t joins;
    void (*run)(void *argument);
    void *argument;
} sim_worker;

/* The machine: one per process, single-threaded. The hooks get no argument to find it by. */
static struct {
    sim_worker workers[WORKERS_MAX];
    uint32_t worker_count, current;
    uint32_t heap[WORKERS_MAX]; /* ready workers but the running one, by (clock, number) */
    uint32_t heap_count;
    sim_line *lines;
    uint64_t hit_ps, rmw_ps, transfer_ps, pause_ps, clock_ps, wake_call_ps, wake_ps, syscall_ps;
    double bus_ps_per_byte;
    uint64_t bus_ps; /* the memory bus is taken until then */
    uint64_t operations;
} machine;

static void fail(const char *text)
{
    fprintf(stderr, "weft simulate: %s\n", text);
    exit(1);
}

/* ---- the order of workers */

static bool is_before(uint32_t a, uint32_t b)
{
    uint64_t at = machine.workers[a].clock_ps, bt = machine.workers[b].clock_ps;
    return at < bt || (at == bt && a < b);
}

static void push(uint32_t worker)
{
    uint32_t i = machine.heap_count++;
    for (; i > 0 && is_before(worker, machine.heap[(i - 1) / 2]); i = (i - 1) / 2)
        machine.heap[i] = machine.heap[(i - 1) / 2];
    machine.heap[i] = worker;
}

/* Puts `worker` where the first one was; returns that one. */
static uint32_t replace_first(uint32_t worker)
{
    uint32_t first = machine.heap[0], i = 0, child;
    while ((child = 2 * i + 1) < machine.heap_count) {
        uint32_t right = child + 1;
        if (right < machine.heap_count && is_before(machine.heap[right], machine.heap[child]))
            child = right;
        if (!is_before(machine.heap[child], worker)) break;
        machine.heap[i] = machine.heap[child];
        i = child;
    }
    machine.heap[i] = worker;
    return first;
}

static void switch_to(uint32_t worker)
{
    uint32_t self = machine.current;
    machine.current = worker;
    explore_fibre_switch(&machine.workers[self].fibre, &machine.workers[worker].fibre);
}

/* Lets all whose clock is behind go first. */
static void settle(void)
{
    if (machine.heap_count == 0 || is_before(machine.current, machine.heap[0])) return;
    switch_to(replace_first(machine.current));
}

/* The same for loads and pauses, which may be ahead by as long as a line takes from core to core:
 * what others wrote since would not have arrived. Without it workers that look for work switch at
 * every load: 64 of them take ten times as long to simulate. */
static void settle_reader(void)
{
    if (machine.heap_count == 0) return;
    uint64_t first_ps = machine.workers[machine.heap[0]].clock_ps;
    if (machine.workers[machine.current].clock_ps > first_ps + machine.transfer_ps) settle();
}

/* The running worker stops until another makes it ready. */
static void block(sim_state state)
{
    machine.workers[machine.current].state = state;
    if (machine.heap_count == 0) fail("every worker sleeps: a wake-up was lost");
    uint32_t last = machine.heap[--machine.heap_count];
    uint32_t first = machine.heap_count == 0 ? last : replace_first(last);
    switch_to(first);
}

static void make_ready(uint32_t worker, uint64_t clock_ps)
{
    sim_worker *w = &machine.workers[worker];
    w->state = SIM_READY;
    if (w->clock_ps < clock_ps) w->clock_ps = clock_ps;
    push(worker);
}

/* ---- cache lines */

static sim_line *line_of(const void *address)
{
    uint64_t key = (uint64_t)(uintptr_t)address / 64;
    uint32_t place = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 40) & (LINES - 1);
    for (uint32_t tries = 0; tries < LINES; tries++) {
        sim_line *line = &machine.lines[place];
        if (line->key == key) return line;
        if (line->key == 0) {
            line->key = key;
            return line;
        }
        place = (place + 1) & (LINES - 1);
    }
    fail("too many cache lines");
    return NULL;
}

static bool is_held(const sim_line *line)
{
    return line->owners[machine.current / 64] >> (machine.current % 64) & 1;
}

static bool is_alone(const sim_line *line)
{
    uint64_t others = 0;
    for (uint32_t i = 0; i < WORKERS_MAX / 64; i++)
        others |= line->owners[i] &
                  ~(i == machine.current / 64 ? UINT64_C(1) << (machine.current % 64) : 0);
    return others == 0;
}

static void hold(sim_line *line, bool is_shared)
{
    if (!is_shared) memset(line->owners, 0, sizeof line->owners);
    line->owners[machine.current / 64] |= UINT64_C(1) << (machine.current % 64);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t *my_clock(void)
{
    return &machine.workers[machine.current].clock_ps;
}

static void cost_load(const void *address)
{
    machine.operations++;
    settle_reader();
    sim_line *line = line_of(address);
    uint64_t *clock = my_clock();
    if (is_held(line)) {
        *clock += machine.hit_ps;
        return;
    }
    uint64_t begin = later(*clock, line->busy_ps);
    *clock = begin + machine.transfer_ps;
    line->busy_ps = begin + machine.transfer_ps / 4; /* readers overlap */
    hold(line, true);
}

static void cost_store(const void *address)
{
    machine.operations++;
    settle();
    sim_line *line = line_of(address);
    uint64_t *clock = my_clock();
    if (!is_held(line) || !is_alone(line))
        line->busy_ps = later(*clock, line->busy_ps) + machine.transfer_ps;
    *clock += machine.hit_ps;
    hold(line, false);
}

static void cost_rmw(const void *address)
{
    machine.operations++;
    settle();
    sim_line *line = line_of(address);
    uint64_t *clock = my_clock();
    if (is_held(line) && is_alone(line)) {
        *clock += machine.rmw_ps;
        return;
    }
    *clock = later(*clock, line->busy_ps) + machine.transfer_ps;
    line->busy_ps = *clock;
    hold(line, false);
}

/* ---- hooks: sequentially consistent, in the order of the clocks */

static uint64_t get(const void *p, uint32_t width)
{
    uint64_t v = 0;
    memcpy(&v, p, width);
    return v;
}

static void put(void *p, uint32_t width, uint64_t v)
{
    memcpy(p, &v, width);
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
    *my_clock() += machine.pause_ps;
    settle_reader();
}

uint32_t weft__hook_thread(void)
{
    return machine.current;
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

/* ---- the operating system */

static void worker_entry(void)
{
    sim_worker *self = &machine.workers[machine.current];
    self->run(self->argument);
    for (uint32_t i = 0; i < machine.worker_count; i++)
        if (machine.workers[i].state == SIM_JOIN && machine.workers[i].joins == machine.current)
            make_ready(i, self->clock_ps);
    block(SIM_ENDED);
}

static weft_result os_thread_start(void *user, weft__os_thread *out, const char *name,
                                   void (*run)(void *argument), void *argument)
{
    (void)user, (void)name;
    if (machine.worker_count == WORKERS_MAX) return WEFT_THREAD_FAILED;
    uint32_t index = machine.worker_count++;
    sim_worker *w = &machine.workers[index];
    w->run = run;
    w->argument = argument;
    w->clock_ps = 0;
    explore_fibre_prepare(&w->fibre, worker_entry);
    make_ready(index, *my_clock());
    out->handle = index;
    return WEFT_OK;
}

static void os_thread_join(void *user, weft__os_thread thread)
{
    (void)user;
    settle();
    if (machine.workers[thread.handle].state == SIM_ENDED) return;
    machine.workers[machine.current].joins = (uint32_t)thread.handle;
    block(SIM_JOIN);
}

static void os_futex_wait(void *user, weft_a32 *word, uint32_t expected)
{
    (void)user;
    settle();
    sim_worker *self = &machine.workers[machine.current];
    self->clock_ps += machine.syscall_ps;
    if (word->v_ != expected) return;
    self->futex = word;
    self->slept_ps = self->clock_ps;
    block(SIM_FUTEX);
}

static void os_futex_wake(void *user, weft_a32 *word, uint32_t count)
{
    (void)user;
    settle();
    uint64_t now = *my_clock();
    bool is_woken = false;
    for (uint32_t i = 0; i < machine.worker_count && count > 0; i++) {
        sim_worker *w = &machine.workers[i];
        if (w->state != SIM_FUTEX || w->futex != word) continue;
        bool was_long = now > w->slept_ps + LONG_SLEEP_PS;
        make_ready(i, now + (was_long ? LONG_WAKE_PS : machine.wake_ps));
        is_woken = true;
        count--;
    }
    *my_clock() += is_woken ? machine.wake_call_ps : machine.syscall_ps;
}

static uint64_t os_clock_ns(void *user)
{
    (void)user;
    *my_clock() += machine.clock_ps;
    return *my_clock() / 1000;
}

/* A core for each. */
static uint32_t os_cpu_count(void *user)
{
    (void)user;
    return WORKERS_MAX;
}

const weft_os *sim_os(void)
{
    static weft_os os;
    os = *weft__os_default();
    os.thread_start = os_thread_start;
    os.thread_join = os_thread_join;
    os.futex_wait = os_futex_wait;
    os.futex_wake = os_futex_wake;
    os.clock_ns = os_clock_ns;
    os.cpu_count = os_cpu_count;
    return &os;
}

/* ---- for the driver */

static uint64_t ps_of(double ns)
{
    return (uint64_t)(ns * 1000);
}

void sim_begin(const sim_machine *m)
{
    if (machine.lines == NULL) machine.lines = malloc(LINES * sizeof *machine.lines);
    if (machine.lines == NULL) fail("out of memory");
    memset(machine.lines, 0, LINES * sizeof *machine.lines);
    machine.worker_count = 1;
    machine.current = machine.heap_count = 0;
    machine.workers[0].clock_ps = 0;
    machine.workers[0].state = SIM_READY;
    machine.hit_ps = ps_of(m->hit_ns);
    machine.rmw_ps = ps_of(m->rmw_ns);
    machine.transfer_ps = ps_of(m->transfer_ns);
    machine.pause_ps = ps_of(m->pause_ns);
    machine.clock_ps = ps_of(m->clock_ns);
    machine.wake_call_ps = ps_of(m->wake_call_ns);
    machine.wake_ps = ps_of(m->wake_ns);
    machine.syscall_ps = ps_of(m->syscall_ns);
    machine.bus_ps_per_byte = m->bandwidth > 0 ? 1e6 / m->bandwidth : 0;
    machine.bus_ps = 0;
    machine.operations = 0;
}

uint64_t sim_now_ps(void)
{
    return *my_clock();
}

uint64_t sim_operations(void)
{
    return machine.operations;
}

/* The bus serves bodies in the order they begin; a body ends when both its own time and its share
 * of the bus are over. */
void sim_work(uint32_t ns, uint32_t bytes)
{
    settle();
    uint64_t *clock = my_clock();
    uint64_t begin = *clock, end = begin + (uint64_t)ns * 1000;
    if (machine.bus_ps_per_byte > 0 && bytes > 0) {
        machine.bus_ps =
            later(machine.bus_ps, begin) + (uint64_t)((double)bytes * machine.bus_ps_per_byte);
        end = later(end, machine.bus_ps);
    }
    *clock = end;
}
