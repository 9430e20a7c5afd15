/* SPDX-License-Identifier: MIT */
/* peers_taskflow.cpp: the rows of jobs in Taskflow. */
#include "peers.h"

#include <taskflow/algorithm/for_each.hpp>
#include <taskflow/taskflow.hpp>
#include <vector>

namespace
{

struct State {
    tf::Executor executor;
    tf::Taskflow flow;
    std::vector<uint32_t> cells;

    State(uint32_t n, uint32_t workers) : executor(workers), cells(n)
    {
    }
};

State &of(void *data)
{
    return *static_cast<State *>(data);
}

void *open_jobs(uint32_t n, uint32_t workers)
{
    return new State(n, workers);
}

void close_jobs(void *data)
{
    delete static_cast<State *>(data);
}

void spawn(void *data)
{
    State &s = of(data);
    for (uint32_t &cell : s.cells) s.executor.silent_async([&cell] { cell++; });
    s.executor.wait_for_all();
}

void run_flow(void *data)
{
    of(data).executor.run(of(data).flow).wait();
}

void *open_for(uint32_t n, uint32_t workers)
{
    auto *s = new State(n, workers);
    s->flow.for_each_index(0u, n, 1u, [s](uint32_t i) { s->cells[i] += peers_work(i); });
    return s;
}

std::vector<tf::Task> nodes_make(State &s)
{
    std::vector<tf::Task> nodes;
    for (uint32_t &cell : s.cells) nodes.push_back(s.flow.emplace([&cell] { cell++; }));
    return nodes;
}

void *open_chain(uint32_t n, uint32_t workers)
{
    auto *s = new State(n, workers);
    std::vector<tf::Task> nodes = nodes_make(*s);
    for (uint32_t i = 1; i < n; i++) nodes[i - 1].precede(nodes[i]);
    run_flow(s);
    return s;
}

void *open_layers(uint32_t n, uint32_t workers)
{
    auto *s = new State(n, workers);
    std::vector<tf::Task> nodes = nodes_make(*s);
    uint32_t width = n / PEERS_LAYERS;
    for (uint32_t i = width; i < n; i++)
        for (uint32_t k = 0; k < 2; k++)
            nodes[i / width * width - width + (i + k) % width].precede(nodes[i]);
    run_flow(s);
    return s;
}

uint64_t sum_cells(const void *data)
{
    uint64_t sum = 0;
    for (uint32_t cell : static_cast<const State *>(data)->cells) sum += cell;
    return sum;
}

const peers_case cases[] = {
    {"jobs.spawn", open_jobs, spawn, sum_cells, close_jobs},
    {"jobs.for", open_for, run_flow, sum_cells, close_jobs},
    {"jobs.chain", open_chain, run_flow, sum_cells, close_jobs},
    {"jobs.layers", open_layers, run_flow, sum_cells, close_jobs},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

} // namespace

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
const peers_library peers_taskflow = {"Taskflow", TEXT(TF_VERSION), cases};
