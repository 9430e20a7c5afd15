// SPDX-License-Identifier: MIT
// near.cpp: which positions are near each other: a grid of a type, built each step from the rows of
// a query, and asked by other systems in parallel.
#include <cstdio>
#include <weft/grid.hpp>

struct Position {
    float x = 0, y = 0;
};
struct Crowd {
    int others = 0;
};

int main()
{
    weft::world world;
    for (int i = 0; i < 100; i++)
        world.create(Position{float(i % 10), float(i / 10)}, Crowd{});

    weft::grid<Position> grid(weft::grid_box(0, 10, 1.5)); // from 0 to 10, neighbours within 1.5
    auto all = world.query().each([](const Position &) {});
    world.system("sort").flags(WEFT_SYSTEM_JOBS).queries(all).run(
        [&](weft_slice &s) { grid.build(s, all); });
    world.system("count").after("sort").each([&](const Position &p, Crowd &crowd) {
        crowd.others = -1; // not itself
        grid.around(p, [&](const auto &) { crowd.others++; });
    });
    world.step(1);

    int corners = 0, inner = 0;
    world.each([&](const Crowd &crowd) {
        corners += crowd.others == 3;
        inner += crowd.others == 8;
    });
    std::printf("%d corners, %d inner\n", corners, inner);

    // Points of your own, without a world; across borders that are joined.
    std::vector<Position> points = {{0.25f, 5}, {9.75f, 5}, {5, 5}};
    weft::grid<Position> ring(weft::grid_box(0, 10, 1, true));
    ring.build(points);
    ring.pairs([](uint32_t a, const auto &b) {
        std::printf("%u and %u: %g\n", a, b.point, double(b.offset[0]));
    });
}

/* prints:
 * 4 corners, 64 inner
 * 1 and 0: 0.5
 */
