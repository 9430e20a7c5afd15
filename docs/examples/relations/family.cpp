// SPDX-License-Identifier: MIT
// family.cpp: Parent, and a relation of your own: a component whose described entity is the target.
#include <cstdio>
#include <weft/weft.hpp>

struct Name {
    char text[8];
};
struct Follows {
    weft::entity leader = {};
};
WEFT_DESCRIBE(Follows, leader);

int main()
{
    weft::world world;
    weft::entity car = world.create(Name{"car"});
    for (const char *side : {"left", "right"}) {
        weft::entity_ref wheel = world.entity().parent(car);
        Name name = {};
        std::snprintf(name.text, sizeof name.text, "%s", side);
        wheel.set(name);
    }
    weft_component follows = world.relation<Follows>(WEFT_ON_TARGET_CLEAR);
    weft::entity dog = world.create(Name{"dog"}, Follows{car});

    world.settle(); // sources are as of the last step or settle()
    for (weft::entity wheel : world.sources(world.parent(), car))
        std::printf("wheel %s\n", world.read<Name>(wheel)->text);
    for (weft::entity who : world.sources(follows, car))
        std::printf("%s follows\n", world.read<Name>(who)->text);

    // A term as others: what rows have a Parent, and who it is.
    auto wheels = world.lookup<const Name>();
    world.each([&](const weft::parent &above, const Name &name) {
        std::printf("%s of %s\n", name.text, wheels[above.entity]->text);
    });

    world.destroy(car);
    world.settle(); // its children have gone with it; Follows is cleared, as was declared
    std::printf("%d left, dog follows %s\n", int(world.query().each([](const Name &) {}).count()),
                weft_entity_is_null(world.read<Follows>(dog)->leader) ? "none" : "one");
}

/* prints:
 * wheel left
 * wheel right
 * dog follows
 * left of car
 * right of car
 * 1 left, dog follows none
 */
