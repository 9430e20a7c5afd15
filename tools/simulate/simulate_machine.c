/* SPDX-License-Identifier: MIT */
/* simulate_machine.c: the virtual machine: fibres in the order of their clocks, cache lines, futex,
 * memory bus. Implements the hooks of atomic_hook.h and the seam of os.h.
 *
 * A cache line is known to a set of workers. A load by one of them, and a write by the only one,
 * are cheap; everything else moves the line, and moves of one line wait for each other. A plain
 * store does not wait for its line (store buffer), but the next worker does.
 *
 * A worker that looks for work and finds none does the same again, until another one writes a line
 * that it looks at or its budget is spent. So what it does between two reads of the clock is a
 * *look*; after two equal ones it sleeps in real time, and its clock goes on by whole looks: to the
 * one that meets the write, or that sees the end of the budget. */
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
#define LOOK_LINES 4096u
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

/* A cache line. `owners` is the set of workers that hold it. */
typedef struct sim_line {
    uint64_t key; /* address / 64; 0: free place */
    uint64_t busy_ps;
    uint64_t owners[WORKERS_MAX / 64];
} sim_line;

typedef enum sim_state { SIM_READY, SIM_FUTEX, SIM_JOIN, SIM_ENDED } sim_state;

/* A line that a look loads, and when. */
typedef struct sim_glance {
    const sim_line *line;
    uint64_t after_ps;
} sim_glance;

/* What a worker did since it read the clock. Owner: its worker. */
typedef struct sim_look {
    uint64_t begin_ps;
    uint64_t period_ps; /* of the look before; 0: it was another kind */
    uint64_t idle_ps;   /* when it began to find nothing */
    bool has_acted;     /* changed what others see, or worked */
    bool has_missed;    /* waited for a line, or saw too many */
    bool has_paused;
    bool is_asleep; /* its clock is ahead, at a look of its choice */
    uint32_t count;
    sim_glance glances[LOOK_LINES];
} sim_look;

/* A virtual worker. Only the running one changes others, when it wakes them. */
typedef struct sim_worker {
    explore_fibre fibre;
    uint64_t clock_ps;
    sim_state state;
    const weft_a32 *futex;
    uint64_t slept_ps; /* when it went to sleep */
    uint32_t joins;
    uint32_t place; /* in the heap, while ready and not running */
    void (*run)(void *argument);
    void *argument;
    sim_look look;
} sim_worker;

/* The machine: one per process, single-threaded. The hooks get no argument to find it by. */
static struct {
    sim_worker workers[WORKERS_MAX];
    uint32_t worker_count, current;
    uint32_t heap[WORKERS_MAX]; /* ready workers but the running one, by (clock, number) */
    uint32_t heap_count;
    uint32_t asleep_count;  /* looks with is_asleep */
    uint64_t budgets_ps[2]; /* how long a worker looks for work */
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

static void put_at(uint32_t place, uint32_t worker)
{
    machine.heap[place] = worker;
    machine.workers[worker].place = place;
}

/* Puts `worker` at `i` or, by its clock, above it. */
static void rise(uint32_t i, uint32_t worker)
{
    for (; i > 0 && is_before(worker, machine.heap[(i - 1) / 2]); i = (i - 1) / 2)
        put_at(i, machine.heap[(i - 1) / 2]);
    put_at(i, worker);
}

static void push(uint32_t worker)
{
    rise(machine.heap_count++, worker);
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
        put_at(i, machine.heap[child]);
        i = child;
    }
    put_at(i, worker);
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

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static sim_worker *self(void)
{
    return &machine.workers[machine.current];
}

/* A sleeper whose look meets the line wakes for the look that sees it written. */
static void disturb(uint32_t worker, const sim_line *line)
{
    sim_worker *w = &machine.workers[worker];
    const sim_look *look = &w->look;
    uint32_t at = 0;
    if (!look->is_asleep) return;
    while (at < look->count && look->glances[at].line != line) at++;
    if (at == look->count) return;
    uint64_t first_ps = look->begin_ps + look->glances[at].after_ps, now_ps = self()->clock_ps;
    uint64_t looks =
        now_ps <= first_ps ? 0 : (now_ps - first_ps + look->period_ps - 1) / look->period_ps;
    uint64_t wake_ps = look->begin_ps + looks * look->period_ps;
    if (wake_ps >= w->clock_ps) return;
    w->clock_ps = wake_ps;
    rise(w->place, worker);
}

/* The running worker holds it, too. */
static void share(sim_line *line)
{
    line->owners[machine.current / 64] |= UINT64_C(1) << (machine.current % 64);
}

/* The running worker alone holds it. */
static void take(sim_line *line)
{
    for (uint32_t i = 0; i < WORKERS_MAX / 64; i++) {
        if (machine.asleep_count != 0)
            for (uint64_t left = line->owners[i]; left != 0; left &= left - 1)
                disturb(i * 64 + (uint32_t)__builtin_ctzll(left), line);
        line->owners[i] = 0;
    }
    share(line);
}

static void cost_load(const void *address)
{
    machine.operations++;
    settle_reader();
    const sim_worker *w = self();
    sim_look *look = &self()->look;
    sim_line *line = line_of(address);
    if (is_held(line)) {
        if (look->count == LOOK_LINES)
            look->has_missed = true;
        else if (look->count == 0 || look->glances[look->count - 1].line != line)
            look->glances[look->count++] = (sim_glance){line, w->clock_ps - look->begin_ps};
        self()->clock_ps += machine.hit_ps;
        return;
    }
    uint64_t begin = later(w->clock_ps, line->busy_ps);
    self()->clock_ps = begin + machine.transfer_ps;
    line->busy_ps = begin + machine.transfer_ps / 4; /* readers overlap */
    look->has_missed = true;
    share(line);
}

static void cost_store(const void *address)
{
    machine.operations++;
    settle();
    sim_line *line = line_of(address);
    sim_worker *w = self();
    if (!is_held(line) || !is_alone(line)) {
        line->busy_ps = later(w->clock_ps, line->busy_ps) + machine.transfer_ps;
        w->look.has_acted = true;
        take(line);
    }
    w->clock_ps += machine.hit_ps;
}

static void cost_rmw(const void *address)
{
    machine.operations++;
    settle();
    sim_line *line = line_of(address);
    sim_worker *w = self();
    w->look.has_acted = true;
    if (is_held(line) && is_alone(line)) {
        w->clock_ps += machine.rmw_ps;
        return;
    }
    take(line);
    w->clock_ps = later(w->clock_ps, line->busy_ps) + machine.transfer_ps;
    line->busy_ps = w->clock_ps;
}

/* ---- looks */

/* The end of the budget that is spent next, a look at most 20 us away. */
static uint64_t next_deadline(const sim_worker *w)
{
    uint64_t deadline = w->clock_ps + IDLE_PS;
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t end = w->look.idle_ps + machine.budgets_ps[i];
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
    machine.asleep_count++;
    settle();
    machine.asleep_count--;
    look->is_asleep = false;
}

/* The running worker has read the clock. */
static void end_look(void)
{
    sim_worker *w = self();
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
    self()->clock_ps += machine.pause_ps;
    self()->look.has_paused = true;
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
    self()->run(self()->argument);
    for (uint32_t i = 0; i < machine.worker_count; i++)
        if (machine.workers[i].state == SIM_JOIN && machine.workers[i].joins == machine.current)
            make_ready(i, self()->clock_ps);
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
    w->look.period_ps = 0;
    explore_fibre_prepare(&w->fibre, worker_entry);
    make_ready(index, self()->clock_ps);
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
    sim_worker *w = self();
    w->clock_ps += machine.syscall_ps;
    w->look.has_acted = true;
    if (word->v_ != expected) return;
    w->futex = word;
    w->slept_ps = w->clock_ps;
    block(SIM_FUTEX);
}

static void os_futex_wake(void *user, weft_a32 *word, uint32_t count)
{
    (void)user;
    settle();
    self()->look.has_acted = true;
    uint64_t now = self()->clock_ps;
    bool is_woken = false;
    for (uint32_t i = 0; i < machine.worker_count && count > 0; i++) {
        sim_worker *w = &machine.workers[i];
        if (w->state != SIM_FUTEX || w->futex != word) continue;
        bool was_long = now > w->slept_ps + LONG_SLEEP_PS;
        make_ready(i, now + (was_long ? LONG_WAKE_PS : machine.wake_ps));
        is_woken = true;
        count--;
    }
    self()->clock_ps += is_woken ? machine.wake_call_ps : machine.syscall_ps;
}

static uint64_t os_clock_ns(void *user)
{
    (void)user;
    self()->clock_ps += machine.clock_ps;
    end_look();
    return self()->clock_ps / 1000;
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
    machine.workers[0].look.period_ps = 0;
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
    machine.asleep_count = 0;
    machine.budgets_ps[0] = ps_of(m->spin_ns);
    machine.budgets_ps[1] = ps_of(m->frame_spin_ns);
}

uint64_t sim_now_ps(void)
{
    return self()->clock_ps;
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
    uint64_t begin = self()->clock_ps, end = begin + (uint64_t)ns * 1000;
    self()->look.has_acted = true;
    if (machine.bus_ps_per_byte > 0 && bytes > 0) {
        machine.bus_ps =
            later(machine.bus_ps, begin) + (uint64_t)((double)bytes * machine.bus_ps_per_byte);
        end = later(end, machine.bus_ps);
    }
    self()->clock_ps = end;
}
