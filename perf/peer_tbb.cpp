// peer_tbb.cpp: the oneTBB side of peer.h; compiled only when CMake finds TBB.
//
// The arena is kept from call to call, because making one costs more than most loops measured here.
#include "peer.h"

#include <memory>
#include <tbb/tbb.h>

namespace
{
std::unique_ptr<tbb::task_arena> arena;
std::unique_ptr<tbb::global_control> control;
uint32_t arena_workers = 0;

tbb::task_arena &arena_of(uint32_t workers)
{
    if (!arena || arena_workers != workers) {
        control = std::make_unique<tbb::global_control>(
            tbb::global_control::max_allowed_parallelism, workers);
        arena = std::make_unique<tbb::task_arena>(static_cast<int>(workers));
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

const weft_peer peer = {"tbb", loop, spawn, fib};
} // namespace

extern "C" const weft_peer *weft_peer_tbb(void)
{
    return &peer;
}
