/* SPDX-License-Identifier: MIT */
/* virtual_threads.c: the order of workers, and the operating system that they see: threads that are
 * fibres, futexes, a clock. A worker that waits is taken out of the order until another makes it
 * ready; a wake-up takes as long as it would on a sim_vm. Implements the seam of os.h. */
#include "virtual_machine.h"

#include <stdlib.h>

#define LONG_SLEEP_PS UINT64_C(1000000000) /* 1 ms: then the core sleeps, too */
#define LONG_WAKE_PS UINT64_C(50000000)

sim_virtual sim_vm;

_Noreturn void sim_fail(const char *text)
{
    fprintf(stderr, "weft simulate: %s\n", text);
    exit(1);
}

/* ---- the order of workers */

static void put_at(uint32_t place, uint32_t worker)
{
    sim_vm.heap[place] = worker;
    sim_vm.workers[worker].place = place;
}

/* Puts `worker` at `i` or, by its clock, above it. */
void sim_rise(uint32_t i, uint32_t worker)
{
    for (; i > 0 && sim_is_before(worker, sim_vm.heap[(i - 1) / 2]); i = (i - 1) / 2)
        put_at(i, sim_vm.heap[(i - 1) / 2]);
    put_at(i, worker);
}

static void push(uint32_t worker)
{
    sim_rise(sim_vm.heap_count++, worker);
}

/* Puts `worker` where the first one was; returns that one. */
static uint32_t replace_first(uint32_t worker)
{
    uint32_t first = sim_vm.heap[0], i = 0, child;
    while ((child = 2 * i + 1) < sim_vm.heap_count) {
        uint32_t right = child + 1;
        if (right < sim_vm.heap_count && sim_is_before(sim_vm.heap[right], sim_vm.heap[child]))
            child = right;
        if (!sim_is_before(sim_vm.heap[child], worker)) break;
        put_at(i, sim_vm.heap[child]);
        i = child;
    }
    put_at(i, worker);
    return first;
}

static void switch_to(uint32_t worker)
{
    uint32_t self = sim_vm.current;
    sim_vm.current = worker;
    explore_fibre_switch(&sim_vm.workers[self].fibre, &sim_vm.workers[worker].fibre);
}

/* The running worker stops until another makes it ready. */
static void block(sim_state state)
{
    sim_vm.workers[sim_vm.current].state = state;
    if (sim_vm.heap_count == 0) sim_fail("every worker sleeps: a wake-up was lost");
    uint32_t last = sim_vm.heap[--sim_vm.heap_count];
    uint32_t first = sim_vm.heap_count == 0 ? last : replace_first(last);
    switch_to(first);
}

static void make_ready(uint32_t worker, uint64_t clock_ps)
{
    sim_worker *w = &sim_vm.workers[worker];
    w->state = SIM_READY;
    if (w->clock_ps < clock_ps) w->clock_ps = clock_ps;
    push(worker);
}

void sim_yield(void)
{
    switch_to(replace_first(sim_vm.current));
}

/* ---- the operating system */

static void worker_entry(void)
{
    sim_self()->run(sim_self()->argument);
    for (uint32_t i = 0; i < sim_vm.worker_count; i++)
        if (sim_vm.workers[i].state == SIM_JOIN && sim_vm.workers[i].joins == sim_vm.current)
            make_ready(i, sim_self()->clock_ps);
    block(SIM_ENDED);
}

static weft_result os_thread_start(void *user, weft__os_thread *out, const char *name,
                                   void (*run)(void *argument), void *argument)
{
    (void)user, (void)name;
    if (sim_vm.worker_count == WORKERS_MAX) return WEFT_THREAD_FAILED;
    uint32_t index = sim_vm.worker_count++;
    sim_worker *w = &sim_vm.workers[index];
    w->run = run;
    w->argument = argument;
    w->clock_ps = 0;
    w->look.period_ps = 0;
    explore_fibre_prepare(&w->fibre, worker_entry);
    make_ready(index, sim_self()->clock_ps);
    out->handle = index;
    return WEFT_OK;
}

static void os_thread_join(void *user, weft__os_thread thread)
{
    (void)user;
    sim_settle();
    if (sim_vm.workers[thread.handle].state == SIM_ENDED) return;
    sim_vm.workers[sim_vm.current].joins = (uint32_t)thread.handle;
    block(SIM_JOIN);
}

static void os_futex_wait(void *user, weft_a32 *word, uint32_t expected)
{
    (void)user;
    sim_settle();
    sim_worker *w = sim_self();
    w->clock_ps += sim_vm.syscall_ps;
    w->look.has_acted = true;
    if (word->v_ != expected) return;
    w->futex = word;
    w->slept_ps = w->clock_ps;
    block(SIM_FUTEX);
}

static void os_futex_wake(void *user, weft_a32 *word, uint32_t count)
{
    (void)user;
    sim_settle();
    sim_self()->look.has_acted = true;
    uint64_t now = sim_self()->clock_ps;
    bool is_woken = false;
    for (uint32_t i = 0; i < sim_vm.worker_count && count > 0; i++) {
        sim_worker *w = &sim_vm.workers[i];
        if (w->state != SIM_FUTEX || w->futex != word) continue;
        bool was_long = now > w->slept_ps + LONG_SLEEP_PS;
        make_ready(i, now + (was_long ? LONG_WAKE_PS : sim_vm.wake_ps));
        is_woken = true;
        count--;
    }
    sim_self()->clock_ps += is_woken ? sim_vm.wake_call_ps : sim_vm.syscall_ps;
}

static uint64_t os_clock_ns(void *user)
{
    (void)user;
    sim_self()->clock_ps += sim_vm.clock_ps;
    sim_end_look();
    return sim_self()->clock_ps / 1000;
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
