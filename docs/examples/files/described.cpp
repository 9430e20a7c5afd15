// SPDX-License-Identifier: MIT
// described.cpp: WEFT_DESCRIBE names the members of a type. Then files keep entities that members
// refer to, also where these get other handles, and read what an older struct has written.
#include <cstdio>
#include <weft/weft.hpp>

struct Orbit {
    weft::entity centre = {};
    double radius = 1;
};
WEFT_DESCRIBE(Orbit, centre, radius);
struct Cargo {
    std::vector<int> crates;
};
namespace weft {
// A type with a destructor says how it is written: the bytes that it takes, and back.
template <> struct component_traits<Cargo> : component_defaults<Cargo> {
    static constexpr bool is_relocatable = true;
    static std::size_t save(const Cargo &cargo, void *out, std::size_t capacity)
    {
        std::size_t bytes = cargo.crates.size() * sizeof(int);
        if (bytes != 0 && bytes <= capacity) std::memcpy(out, cargo.crates.data(), bytes);
        return bytes;
    }
    static bool load(Cargo &cargo, const void *bytes, std::size_t count)
    {
        cargo.crates.resize(count / sizeof(int));
        if (count != 0) std::memcpy(cargo.crates.data(), bytes, count / sizeof(int) * sizeof(int));
        return count % sizeof(int) == 0;
    }
};
}

int main()
{
    {
        weft::world world;
        weft::entity sun = world.entity().name("sun");
        weft::entity ship = world.create(Orbit{sun, 9.5}, Cargo{{4, 5}});
        world.name(ship, "ship");
        world.save("sky.weft");
    }
    weft::world loaded;
    loaded.component<Orbit>(); // types with functions of their own must be known
    loaded.component<Cargo>();
    loaded.load("sky.weft");
    weft::world world; // that runs: entities come into it under other handles
    world.create(Cargo{});
    world.take_entities(loaded);
    weft::entity ship = world.find("ship");
    const Orbit *orbit = world.read<Orbit>(ship);
    std::printf("around the %s at %g\n", world.entity(orbit->centre).name(), orbit->radius);
    for (int crate : world.read<Cargo>(ship)->crates) std::printf("crate %d\n", crate);
}

/* prints:
 * around the sun at 9.5
 * crate 4
 * crate 5
 */
