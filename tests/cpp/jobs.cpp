// SPDX-License-Identifier: MIT
// jobs.cpp: jobs, loops and graphs of C++ functions: their results, their order, what they throw.
#include "check.hpp"

#include <weft/weft.hpp>

#include <numeric>

static void jobs_have_results()
{
    weft::pool pool(3);
    std::vector<int> values(1000, 2);
    auto owned = std::make_unique<int>(5);
    std::weak_ptr<int> watched;
    {
        auto shared = std::make_shared<int>(1);
        watched = shared;
        auto sum = pool.submit([values, own = std::move(owned), shared] {
            return std::accumulate(values.begin(), values.end(), *own);
        });
        values.clear(); /* the job has its own */
        auto half = pool.submit([&sum] { return sum.get_if_done(); }, sum);
        CHECK(sum.get() == 2005 && half.get() == 2005 && sum.is_done());
    }
    CHECK(watched.expired()); /* the function ended with its job */
    int runs = 0;
    auto nothing = pool.submit([&runs] { runs++; });
    nothing.get();
    CHECK(runs == 1 && !weft::future<int>());
    std::vector<weft::future<int>> many;
    for (int i = 0; i < 1000; i++) many.push_back(pool.submit([i] { return i; }));
    int total = 0;
    for (const auto &one : many) total += one.get();
    CHECK(total == 1000 * 999 / 2);
    auto inner = pool.submit([](weft_job_context *job) {
        return weft::parallel_reduce(job, 100, 0, [](uint32_t i) { return static_cast<int>(i); },
                                     std::plus<>());
    });
    CHECK(inner.get() == 4950);
}

static void what_a_job_throws_comes_out()
{
    weft::pool pool(2);
    auto bad = pool.submit([]() -> int { throw std::runtime_error("bad"); });
    bool has_run = false;
    auto after = pool.submit([&] { has_run = true; }, bad);
    for (int round = 0; round < 2; round++) {
        std::string text;
        try {
            after.get();
        } catch (const std::runtime_error &e) {
            text = e.what();
        }
        CHECK(text == "bad" && !has_run);
    }
    pool.wait_all();
    for (int round = 0; round < 50; round++) {
        uint32_t thrown = 0;
        try {
            pool.parallel_for(10000, [](uint32_t i) {
                if (i % 777 == 776) throw i;
            });
        } catch (uint32_t i) {
            thrown = i;
        }
        CHECK(thrown % 777 == 776);
    }
}

static void a_reduction_does_not_depend_on_workers()
{
    double first = 0;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        weft::pool pool(workers);
        double sum = pool.parallel_reduce(
            100001, 0.0, [](uint32_t i) { return 1.0 / (1 + i % 1000); }, std::plus<>());
        if (workers == 1) first = sum;
        CHECK(sum == first && pool.workers() == workers);
    }
    weft::pool pool(2);
    CHECK(pool.parallel_reduce(0, 5, [](uint32_t) { return 1; }, std::plus<>()) == 5);
    std::string text = pool.parallel_reduce(
        26, std::string(), [](uint32_t i) { return std::string(1, static_cast<char>('a' + i)); },
        std::plus<>(), 3);
    CHECK(text == "abcdefghijklmnopqrstuvwxyz");
}

static void a_graph_runs_in_order()
{
    weft::world world;
    weft::pool pool = weft::pool::borrow(weft_world_pool(world.get()));
    weft::graph graph;
    int number = 0, limit = 1000;
    auto read = graph.add("read", [&] { number = number * 10 + 1; });
    auto step = graph.add("step", [&] { number = number * 10 + 2; }, {read});
    graph.run(pool);
    CHECK(number == 12);
    bool is_drawn = false;
    auto check = graph.add("check", [&] {
        if (number > limit) throw number;
    }, {read, step});
    graph.add("draw", [&] { is_drawn = true; }, {check});
    int thrown = 0;
    try {
        graph.run(pool);
    } catch (int n) {
        thrown = n;
    }
    CHECK(thrown == 1212 && !is_drawn);
    limit = 10000000;
    graph.run(pool);
    CHECK(is_drawn);
}

static void futures_and_graphs_outlive_their_pool()
{
    int runs = 0;
    weft::graph graph;
    graph.add("count", [&] { runs++; });
    weft::future<int> kept;
    weft::future<void> failed;
    {
        weft::pool pool(2);
        kept = pool.submit([] { return 7; });
        failed = pool.submit([] { throw 8; });
        graph.run(pool);
        weft::pool moved = std::move(pool);
        graph.run(moved);
    }
    CHECK(kept.is_done() && kept.get() == 7 && kept.get_if_done() == 7);
    int thrown = 0;
    try {
        failed.get();
    } catch (int n) {
        thrown = n;
    }
    CHECK(thrown == 8);
    weft::pool next(1), other(1);
    graph.run(next); /* compiled again */
    graph.run(other);
    graph.add("again", [&] { runs++; });
    graph.run(other);
    CHECK(runs == 6);
}

int main()
{
    jobs_have_results();
    what_a_job_throws_comes_out();
    a_reduction_does_not_depend_on_workers();
    a_graph_runs_in_order();
    futures_and_graphs_outlive_their_pool();
    std::printf("%d failures\n", failures);
    return failures != 0;
}
