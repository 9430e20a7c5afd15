/* SPDX-License-Identifier: MIT */
// peer_tbb.cpp: the oneTBB side of peer.h; compiled only when CMake finds TBB.
//
// The arena is kept from call to call, because making one costs more than most loops measured here.
#include "peer.h"

#include <memory>
#include <sched.h>
#include <tbb/tbb.h>

namespace
{
// Binds the threads that enter an arena, each once; the CPUs are those of who made it.
class binder : public tbb::task_scheduler_observer
{
    cpu_set_t allowed;

  public:
    explicit binder(tbb::task_arena &of) : tbb::task_scheduler_observer(of)
    {
        if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) observe(true);
    }
    void on_scheduler_entry(bool is_worker) override
    {
        thread_local bool is_bound = false;
        if (!is_worker || is_bound) return;
        is_bound = true;
        int n = tbb::this_task_arena::current_thread_index() % CPU_COUNT(&allowed);
        for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (!CPU_ISSET(cpu, &allowed) || n-- != 0) continue;
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
        }
    }
};

std::unique_ptr<tbb::task_arena> arena;
std::unique_ptr<binder> bound;
std::unique_ptr<tbb::global_control> control;
uint32_t arena_workers = 0;

tbb::task_arena &arena_of(uint32_t workers, bool is_binding = false)
{
    if (!arena || arena_workers != workers || (is_binding && !bound)) {
        control = std::make_unique<tbb::global_control>(
            tbb::global_control::max_allowed_parallelism, workers);
        bound.reset();
        arena = std::make_unique<tbb::task_arena>(static_cast<int>(workers));
        arena->initialize();
        if (is_binding) bound = std::make_unique<binder>(*arena);
        arena_workers = workers;
    }
    return *arena;
}

void loop(uint32_t workers, uint64_t count, uint64_t grain, weft_peer_body *body, void *user)
{
    arena_of(workers).execute([=] {
        using range = tbb::blocked_range<uint64_t>;
        const auto run = [=](const range &r) { body(r.begin(), r.end(), user); };
        if (grain == 0) {
            tbb::parallel_for(range(0, count), run);
        } else {
            tbb::parallel_for(range(0, count, grain), run, tbb::simple_partitioner());
        }
    });
}

void start(uint32_t workers)
{
    arena_of(workers, true);
    loop(
        workers, 1000, 1, [](uint64_t, uint64_t, void *) {}, nullptr);
}

void spawn(uint32_t workers, uint32_t count, weft_peer_task *task, void *user)
{
    arena_of(workers).execute([=] {
        tbb::task_group group;
        for (uint32_t i = 0; i < count; i++) group.run([=] { task(user); });
        group.wait();
    });
}

uint64_t fib_task(uint32_t n)
{
    if (n < 2) return n;
    uint64_t a = 0;
    tbb::task_group group;
    group.run([&a, n] { a = fib_task(n - 1); });
    const uint64_t b = fib_task(n - 2);
    group.wait();
    return a + b;
}

uint64_t fib(uint32_t workers, uint32_t n)
{
    return arena_of(workers).execute([=] { return fib_task(n); });
}

const weft_peer peer = {"tbb", start, loop, spawn, fib};
} // namespace

extern "C" const weft_peer *weft_peer_tbb(void)
{
    return &peer;
}
