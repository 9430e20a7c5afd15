// SPDX-License-Identifier: MIT
// transforms.cpp: places relative to parents: the system of weft, and one of your own by depth:
// parents before their children, each depth in parallel.
#include <cstdio>
#include <weft/weft.hpp>

struct Mass {
    float own = 0, above = 0; // above: of all parents together
};

weft_local_transform at(float x);
weft_local_transform at(float x)
{
    weft_local_transform place = weft_local_transform_none();
    place.position[0] = x;
    return place;
}

int main()
{
    weft::world world;
    world.transforms(); // the system "transforms"
    weft::entity ship = world.create(at(100), weft_world_transform{}, Mass{50});
    weft::entity turret = world.create(at(10), weft_world_transform{}, Mass{5});
    weft::entity gun = world.create(at(1), weft_world_transform{}, Mass{1});
    world.entity(turret).parent(ship);
    world.entity(gun).parent(turret);

    // A row's parent is computed before the row is; rows without one come first.
    world.system("sum").by_depth(world.parent()).each(
        [](Mass &mass, const weft::parent *of, weft::lookup<const Mass> masses) {
            const Mass *parent = of != nullptr ? masses[of->entity] : nullptr;
            mass.above = parent != nullptr ? parent->above + parent->own : 0;
        });

    for (int i = 0; i < 2; i++) {
        world.step(1);
        std::printf("gun at %g, below %g\n",
                    double(world.read<weft_world_transform>(gun)->rows[0][3]),
                    double(world.read<Mass>(gun)->above));
        world.set(ship, at(200));
    }
}

/* prints:
 * gun at 111, below 55
 * gun at 211, below 55
 */
