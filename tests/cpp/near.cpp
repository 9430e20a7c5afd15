// SPDX-License-Identifier: MIT
// near.cpp: the typed grid finds what a comparison of each with each finds.
#include "check.hpp"

#include <weft/grid.hpp>

#include <cmath>
#include <set>

struct Flat {
    int id;
    float x, y;
};
struct Solid {
    double x, y, z;
    int id;
};
struct Disabled {};
namespace weft {
template <> struct component_traits<Flat> : component_defaults<Flat> {
    static constexpr uint32_t flags = WEFT_ENABLEABLE;
};
}

namespace
{

uint32_t drawn = 1;
double draw(double most)
{
    drawn = drawn * 1664525 + 1013904223;
    return most * (drawn >> 8) / (1 << 24);
}
double along(double from, double to, double side, bool is_periodic)
{
    double d = to - from;
    return is_periodic ? d - side * std::round(d / side) : d;
}

template <class P> void finds_all(std::vector<P> points, bool is_periodic)
{
    const double side = 10, reach = 1.25;
    constexpr bool is_solid = std::is_same_v<P, Solid>;
    weft::grid<P> grid(weft::grid_box(0, side, reach, is_periodic));
    grid.build(points);
    CHECK(grid.size() == points.size());
    std::set<std::pair<uint32_t, uint32_t>> found, should;
    auto square = [&](uint32_t i, uint32_t j) {
        double sum = 0;
        const P &a = points[i], &b = points[j];
        sum += std::pow(along(double(a.x), double(b.x), side, is_periodic), 2);
        sum += std::pow(along(double(a.y), double(b.y), side, is_periodic), 2);
        if constexpr (is_solid) sum += std::pow(along(a.z, b.z, side, is_periodic), 2);
        return sum;
    };
    for (uint32_t i = 0; i < points.size(); i++)
        for (uint32_t j = i + 1; j < points.size(); j++)
            if (square(i, j) < reach * reach) should.insert({i, j});
    grid.pairs([&](uint32_t a, const auto &n) {
        CHECK(found.insert({std::min(a, n.point), std::max(a, n.point)}).second);
        CHECK(std::abs(double(n.square) - square(a, n.point)) < 1e-4);
    });
    CHECK(found == should);
    for (uint32_t i = 0; i < points.size(); i += 7) {
        std::size_t count = 0, all = 0;
        grid.around(points[i], [&](const typename weft::grid<P>::neighbour &n) {
            count++;
            CHECK(std::abs(double(n.offset[0]) - along(double(points[i].x), double(points[n.point].x), side, is_periodic)) < 1e-4);
        });
        for (uint32_t j = 0; j < points.size(); j++) all += square(i, j) < reach * reach;
        CHECK(count == all);
    }
}

void rows_of_a_world()
{
    weft::world world;
    std::vector<weft::entity> made;
    for (int i = 0; i < 500; i++)
        made.push_back(world.create(Flat{i, static_cast<float>(draw(10)), static_cast<float>(draw(10))}));
    world.enable<Flat>(made[3], false);
    weft::grid<Flat> grid(weft::grid_box(0, 10, 1));
    grid.build(world);
    CHECK(grid.size() == 499);
    auto all = world.query().each([](const Flat &) {});
    std::atomic<int> pairs{0};
    world.system("sort").flags(WEFT_SYSTEM_JOBS).queries(all).run([&](weft_slice &s) { grid.build(s, all); });
    world.system("look").after("sort").each([&](const Flat &at, weft::entity self) {
        bool is_here = false;
        grid.around(at, [&](const auto &n) { is_here |= grid.entity(n.point) == self, pairs++; });
        CHECK(is_here);
    });
    world.step(1);
    int once = 0;
    grid.pairs([&](uint32_t, const auto &) { once++; });
    CHECK(pairs == once * 2 + 499);
}

} // namespace

int main()
{
    std::vector<Flat> flat;
    std::vector<Solid> solid;
    for (int i = 0; i < 400; i++) {
        flat.push_back({i, static_cast<float>(draw(10)), static_cast<float>(draw(10))});
        solid.push_back({draw(10), draw(10), draw(10), i});
    }
    for (bool is_periodic : {false, true}) {
        finds_all(flat, is_periodic);
        finds_all(solid, is_periodic);
    }
    finds_all(std::vector<Flat>(), false);
    rows_of_a_world();
    return failures != 0;
}
