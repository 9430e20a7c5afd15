// SPDX-License-Identifier: MIT
// hello.cpp: a first program: components are structs, systems are functions, a step runs them.
#include <cstdio>
#include <weft/weft.hpp>

struct Position {
    float x = 0, y = 0;
};
struct Velocity {
    float x = 0, y = 0;
};
struct Frozen {}; // an empty struct is a tag

int main()
{
    weft::world world; // ends with the variable
    weft::entity ball = world.create(Position{0, 2}, Velocity{1, 0});
    weft::entity stone = world.create(Position{5, 0}, Velocity{1, 0}, Frozen{});

    // What a function takes says what it reads (const) and writes: systems that touch different
    // things run side by side.
    world.system("move").without<Frozen>().each([](Position &p, const Velocity &v, float dt) {
        p.x += v.x * dt;
        p.y += v.y * dt;
    });
    for (int i = 0; i < 4; i++) world.step(0.25f);

    for (auto [p, e] : world.view<const Position, weft::entity>())
        std::printf("%s at %g, %g\n", e == ball ? "ball" : "stone", double(p.x), double(p.y));

    // The same calls with the entity left out, and one that fails: errors are exceptions.
    world.entity(stone).remove<Frozen>().set(Velocity{0, -1}).name("stone");
    world.destroy(ball);
    try {
        world.entity(ball).get<Position>().x = 1;
    } catch (const weft::error &error) {
        std::printf("%s\n", weft_result_text(error.code()));
    }
    std::printf("%s\n", world.find("stone") == stone ? "found" : "lost");
}

/* prints:
 * ball at 1, 2
 * stone at 5, 0
 * there is no such thing
 * found
 */
