// SPDX-License-Identifier: MIT
/* flock.cpp: the flock by weft.hpp: the program of flock.c, system by system. The arrays are vectors,
 * the world ends with the variable. */
#include "flock.h"

#include <memory>
#include <vector>
#include <weft/grid.h>
#include <weft/weft.hpp>

WEFT_DESCRIBE(Position, x, y);
WEFT_DESCRIBE(Heading, x, y);

namespace
{

enum { PARTS = 64 };

struct Flock {
    weft::world world;
    std::unique_ptr<weft_grid, decltype(&weft_grid_destroy)> grid{nullptr, weft_grid_destroy};
    weft_grid_view view = {};
    float side;
    std::vector<Position> at, sorted;
    std::vector<Heading> going, sorted_going;

    Flock(const weft_world_desc &desc, uint32_t size);
    void add_systems();
    void steer(weft_slice &s) const;
};

Flock::Flock(const weft_world_desc &desc, uint32_t size)
    : world(desc), side(static_cast<float>(flock_side(size))), at(size), sorted(size), going(size),
      sorted_going(size)
{
    weft_grid_desc box = {};
    weft_grid *made = nullptr;
    box.dimensions = 2;
    box.most[0] = box.most[1] = static_cast<double>(side);
    box.reach = 0.999;
    box.is_periodic[0] = box.is_periodic[1] = true;
    if (weft_grid_create(&box, &made) != WEFT_OK) throw std::bad_alloc();
    grid.reset(made);
    for (uint32_t i = 0; i < size; i++) {
        flock_hatch(i, side, &at[i], &going[i]);
        world.create(at[i], going[i]);
    }
    add_systems();
}

void Flock::steer(weft_slice &s) const
{
    auto *p = static_cast<Position *>(weft_slice_write(&s, 0));
    auto *h = static_cast<Heading *>(weft_slice_write(&s, 1));
    const Position *places = sorted.data();
    const Heading *ways = sorted_going.data();
    uint32_t tick = static_cast<uint32_t>(weft_slice_frame(&s).number);
    for (uint32_t i = 0; i < weft_slice_count(&s); i++) {
        uint32_t bird = static_cast<uint32_t>(s.first) + i;
        flock_view seen = {{0, 0}, {0, 0}, {0, 0}};
        weft_grid_run runs[WEFT_GRID_MAX_RUNS];
        uint32_t count = weft_grid_runs(grid.get(), view.cell_of[bird], runs);
        for (uint32_t r = 0; r < count; r++) {
            float x = static_cast<float>(runs[r].shift[0]) * side - p[i].x;
            float y = static_cast<float>(runs[r].shift[1]) * side - p[i].y;
            for (uint32_t k = runs[r].begin; k < runs[r].end; k++)
                flock_see(&seen, places[k].x + x, places[k].y + y, ways[k]);
        }
        flock_turn(&seen, bird, tick, &h[i]);
        flock_fly(&p[i], h[i], side);
    }
}

void Flock::add_systems()
{
    world.system("collect").over<const Position, const Heading>().run([this](weft_slice &s) {
        auto *p = static_cast<const Position *>(weft_slice_read(&s, 0));
        auto *h = static_cast<const Heading *>(weft_slice_read(&s, 1));
        Position *to = &at[s.first];
        Heading *way = &going[s.first];
        for (uint32_t i = 0; i < weft_slice_count(&s); i++) {
            to[i] = p[i];
            way[i] = h[i];
        }
    });
    world.system("sort").flags(WEFT_SYSTEM_JOBS).after("collect").run([this](weft_slice &s) {
        weft_grid_points points = {at.data(), sizeof(Position), static_cast<uint32_t>(at.size()),
                                   false, sorted.data()};
        weft_grid_build(grid.get(), weft_slice_job(&s), &points);
        weft_grid_view_get(grid.get(), &view, sizeof view);
    });
    world.system("gather").count(PARTS).after("sort").run([this](weft_slice &s) {
        std::size_t begin = going.size() * s.index / PARTS;
        std::size_t end = going.size() * (s.index + 1) / PARTS;
        const uint32_t *points = view.points;
        const Heading *from = going.data();
        Heading *to = sorted_going.data();
        for (std::size_t k = begin; k < end; k++) to[k] = from[points[k]];
    });
    world.system("steer").over<Position, Heading>().after("gather").run(
        [this](weft_slice &s) { steer(s); });
}

void *flock_open(uint32_t size, uint32_t workers)
{
    weft_world_desc desc = {};
    desc.workers = workers;
    return new Flock(desc, size);
}

void flock_step(void *side)
{
    static_cast<Flock *>(side)->world.step(0.1f);
}

uint64_t flock_content(void *side)
{
    uint64_t sum = 0, bird = 0;
    static_cast<Flock *>(side)->world.each(
        [&](const Position &p, const Heading &h) { sum += flock_sum(bird++, p, h); });
    return sum;
}

uint64_t flock_hash(void *side)
{
    return static_cast<Flock *>(side)->world.hash(WEFT_HASH_CONTENT);
}

void flock_close(void *side)
{
    delete static_cast<Flock *>(side);
}

} // namespace

extern "C" const program_side flock_cpp;
const program_side flock_cpp = {flock_open, flock_step, flock_content, flock_hash, flock_close};
