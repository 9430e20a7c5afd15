// SPDX-License-Identifier: MIT
// owners.cpp: components with constructors and destructors, and a value that many entities share.
#include <cstdio>
#include <memory>
#include <weft/weft.hpp>

struct Path { // owns memory
    std::vector<int> stops;
};
struct Engine { // has one owner: moved, never copied
    std::unique_ptr<int> power;
};
struct Team { // one value for all entities that have the same
    int number;
};
struct Health {
    int points = 100; // what values begin with
};
namespace weft {
// Rows move as bytes. A std::vector and a std::unique_ptr may be moved so; a std::string not.
template <> struct component_traits<Path> : component_defaults<Path> {
    static constexpr bool is_relocatable = true;
};
template <> struct component_traits<Engine> : component_defaults<Engine> {
    static constexpr bool is_relocatable = true;
};
template <> struct component_traits<Team> : component_defaults<Team> {
    static constexpr uint32_t flags = WEFT_SHARED;
};
}

int main()
{
    weft::world world;
    weft::entity bus = world.create(Path{{1, 2, 3}}, Team{7}, Health{});
    weft::entity copy = world.instantiate(bus); // copies the vector
    world.entity(copy).get<Path>().stops.push_back(4);
    std::printf("%d and %d stops, %d points\n", int(world.read<Path>(bus)->stops.size()),
                int(world.read<Path>(copy)->stops.size()), world.read<Health>(copy)->points);

    world.set(bus, Engine{std::make_unique<int>(90)}); // moved into the world
    try {
        world.instantiate(bus); // an Engine has no copy
    } catch (const weft::error &error) {
        std::printf("%s\n", weft_result_text(error.code()));
    }

    world.set(copy, Team{8});
    auto query = world.query().with<Path>().each([](const Team &team, weft::entity) {
        std::printf("team %d\n", team.number);
    });
    query.only(Team{8});
    query(); // chunks of other teams are not looked at
    world.destroy(bus); // the destructors run
}

/* prints:
 * 3 and 4 stops, 100 points
 * not available in this build or on this machine
 * team 8
 */
