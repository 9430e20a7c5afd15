/* SPDX-License-Identifier: MIT */
/* peers_enkits.cpp: the rows of jobs in enkiTS. */
#include "peers.h"

#include <TaskScheduler.h>
#include <memory>
#include <vector>

namespace
{

struct Tick : enki::ITaskSet {
    uint32_t *cell = nullptr;

    void ExecuteRange(enki::TaskSetPartition, uint32_t) override
    {
        ++*cell;
    }
};

struct Loop : enki::ITaskSet {
    std::vector<uint32_t> *cells = nullptr;

    void ExecuteRange(enki::TaskSetPartition range, uint32_t) override
    {
        for (uint32_t i = range.start; i < range.end; i++) (*cells)[i] += peers_work(i);
    }
};

struct State {
    enki::TaskScheduler scheduler;
    std::vector<uint32_t> cells;
    std::unique_ptr<Tick[]> ticks;
    std::unique_ptr<enki::Dependency[]> edges;
    Loop loop;
    uint32_t roots = 0; /* ticks that nothing comes before: the first ones */
};

State &of(void *data)
{
    return *static_cast<State *>(data);
}

State *make(uint32_t n, uint32_t workers, bool has_ticks)
{
    auto *s = new State;
    s->scheduler.Initialize(workers);
    s->cells.resize(n);
    if (has_ticks) s->ticks = std::make_unique<Tick[]>(n);
    for (uint32_t i = 0; i < n && has_ticks; i++) s->ticks[i].cell = &s->cells[i];
    s->roots = n;
    return s;
}

void *open_spawn(uint32_t n, uint32_t workers)
{
    return make(n, workers, true);
}

void run_ticks(void *data)
{
    State &s = of(data);
    for (uint32_t i = 0; i < s.roots; i++) s.scheduler.AddTaskSetToPipe(&s.ticks[i]);
    s.scheduler.WaitforAll();
}

void *open_for(uint32_t n, uint32_t workers)
{
    State *s = make(n, workers, false);
    s->loop.cells = &s->cells;
    s->loop.m_SetSize = n;
    s->loop.m_MinRange = 64;
    return s;
}

void run_for(void *data)
{
    State &s = of(data);
    s.scheduler.AddTaskSetToPipe(&s.loop);
    s.scheduler.WaitforTask(&s.loop);
}

void *open_chain(uint32_t n, uint32_t workers)
{
    State *s = make(n, workers, true);
    s->edges = std::make_unique<enki::Dependency[]>(n);
    for (uint32_t i = 1; i < n; i++) s->ticks[i].SetDependency(s->edges[i], &s->ticks[i - 1]);
    s->roots = 1;
    run_ticks(s);
    return s;
}

void *open_layers(uint32_t n, uint32_t workers)
{
    State *s = make(n, workers, true);
    uint32_t width = n / PEERS_LAYERS;
    s->edges = std::make_unique<enki::Dependency[]>(2 * n);
    for (uint32_t i = width; i < n; i++)
        for (uint32_t k = 0; k < 2; k++)
            s->ticks[i].SetDependency(s->edges[2 * i + k],
                                      &s->ticks[i / width * width - width + (i + k) % width]);
    s->roots = width;
    run_ticks(s);
    return s;
}

uint64_t sum_cells(const void *data)
{
    uint64_t sum = 0;
    for (uint32_t cell : static_cast<const State *>(data)->cells) sum += cell;
    return sum;
}

void close_jobs(void *data)
{
    of(data).scheduler.WaitforAllAndShutdown();
    State &s = of(data);
    s.edges.reset(); /* before the tasks that they name */
    delete &s;
}

const peers_case cases[] = {
    {"jobs.spawn", open_spawn, run_ticks, sum_cells, close_jobs},
    {"jobs.for", open_for, run_for, sum_cells, close_jobs},
    {"jobs.chain", open_chain, run_ticks, sum_cells, close_jobs},
    {"jobs.layers", open_layers, run_ticks, sum_cells, close_jobs},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

} // namespace

#ifndef ENKITS_VERSION
#define ENKITS_VERSION ""
#endif
const peers_library peers_enkits = {"enkiTS", ENKITS_VERSION, cases};
