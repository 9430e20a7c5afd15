// SPDX-License-Identifier: MIT
// swarm.cpp: systems that create and destroy: they record commands, which are played at the next
// sync point. What they do is named beside the function, so that others need not wait.
#include <cstdio>
#include <weft/weft.hpp>

struct Queen {
    int eggs = 0;
};
struct Bee {
    int age = 0;
};
struct Position {
    float x = 0;
};

int main()
{
    weft::world world;
    world.create(Queen{3}, Position{1});

    world.system("hatch").records<Bee, Position>(WEFT_RECORDS_CREATE).each(
        [](Queen &queen, const Position &at, weft::commands &c) {
            if (queen.eggs == 0) return;
            queen.eggs--;
            c.create(Bee{}, at); // each value with its type
        });
    world.system("grow").each([](Bee &bee) { bee.age++; });
    world.system("die").after("grow").destroys<Bee, Position>().each(
        [](const Bee &bee, weft::entity e, weft::commands &c) {
            if (bee.age > 2) c.destroy(e);
        });

    auto bees = world.query().each([](const Bee &) {});
    for (int day = 1; day <= 6; day++) {
        world.step(1);
        std::printf("day %d: %d\n", day, int(bees.count()));
    }

    // Many at once, with columns that are filled in place; also in a loop outside systems, whose
    // commands are played when it has ended.
    auto swarm = world.rows<Bee, Position>();
    world.each([&](const Queen &, weft::commands &c) {
        c.create_rows(swarm, 1000, [](uint32_t i, Bee &, Position &p) { p.x = float(i); });
    });
    float sum = 0;
    auto places = world.query().with<Bee>().each([](const Position &) {});
    for (const Position &p : places.read_values<Position>())
        sum += p.x;
    std::printf("%d bees, sum %g\n", int(bees.count()), double(sum));
}

/* prints:
 * day 1: 1
 * day 2: 2
 * day 3: 2
 * day 4: 1
 * day 5: 0
 * day 6: 0
 * 1000 bees, sum 499500
 */
