// SPDX-License-Identifier: MIT
// jobs.cpp: functions as jobs, with results; parallel loops and sums; a graph that runs each frame.
#include <cmath>
#include <cstdio>
#include <functional>
#include <weft/jobs.hpp>

int main()
{
    weft::pool pool; // of a world: weft::pool::borrow(weft_world_pool(world.get()))

    // A job is kept by value as long as it lives; one after another reads its result.
    std::vector<double> numbers = {3, 4};
    auto square = pool.submit([numbers] { return std::pow(numbers[0], 2) + std::pow(numbers[1], 2); });
    auto root = pool.submit([square] { return std::sqrt(square.get_if_done()); }, square);
    std::printf("%g\n", root.get());

    // A loop on all workers, and a sum in a fixed order: the same bits for any number of them.
    std::vector<double> roots(100000);
    const uint32_t count = uint32_t(roots.size());
    pool.parallel_for(count, [&](uint32_t i) { roots[i] = std::sqrt(double(i)); });
    auto root_of = [&](uint32_t i) { return roots[i]; };
    double sum = pool.parallel_reduce(count, 0.0, root_of, std::plus<>());
    std::printf("%.3f\n", sum);

    // What a job throws comes out of get().
    auto failing = pool.submit([]() -> int { throw std::runtime_error("no such level"); });
    try {
        failing.get();
    } catch (const std::exception &error) {
        std::printf("%s\n", error.what());
    }

    int parts[2] = {}, whole = 0;
    weft::graph frame; // compiled by the first run
    auto left = frame.add("left", [&] { parts[0]++; });
    auto right = frame.add("right", [&] { parts[1] += 10; });
    frame.add("both", [&] { whole = parts[0] + parts[1]; }, {left, right});
    for (int i = 0; i < 3; i++) frame.run(pool);
    std::printf("%d\n", whole);
}

/* prints:
 * 5
 * 21081692.746
 * no such level
 * 33
 */
