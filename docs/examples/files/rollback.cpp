// SPDX-License-Identifier: MIT
// rollback.cpp: snapshots: the state of a world at one time, to go back to. The second of a chain
// copies only what changed since the first.
#include <cstdio>
#include <weft/weft.hpp>

struct Ball {
    float height = 0, speed = 0;
};

int main()
{
    weft::world world;
    for (int i = 0; i < 1000; i++) world.create(Ball{10, float(i)});
    world.system("fly").each([](Ball &ball, float dt) { ball.height += ball.speed * dt; });

    std::vector<weft::snapshot> past; // each ends with its variable
    for (int frame = 0; frame < 3; frame++) {
        past.push_back(world.take(past.empty() ? nullptr : &past.back()));
        world.step(0.5f);
    }
    uint64_t end = world.hash();
    std::printf("step %d\n", int(world.frame().number));

    // Back to the second frame, and the same again: the same bits.
    world.restore(past[1]);
    std::printf("step %d\n", int(world.frame().number));
    world.step(0.5f);
    world.step(0.5f);
    std::printf("%s\n", world.hash() == end ? "the same" : "another");

    // Or differently.
    world.restore(past[1]);
    world.each([](Ball &ball) { ball.speed = -ball.speed; });
    world.step(0.5f);
    world.step(0.5f);
    std::printf("%s\n", world.hash() == end ? "the same" : "another");
}

/* prints:
 * step 3
 * step 1
 * the same
 * another
 */
