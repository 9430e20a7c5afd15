// SPDX-License-Identifier: MIT
// observer.cpp: functions that are called after commands were played, for what was added, removed,
// changed, created or destroyed.
#include <cstdio>
#include <weft/weft.hpp>

struct Health {
    int points = 100;
};
struct Burning {};
struct Loot {
    int gold = 0;
};

int main()
{
    weft::world world;
    // The value is as it was. Commands that an observer records are played after it.
    world.observe<Health>("drop").removed([](weft::entity e, const Health &was, weft::commands &c) {
        std::printf("removed at %d points\n", was.points);
        c.set(e, Loot{5});
    });
    world.observe<Burning>("smoke").added([&world](weft::entity e) {
        std::printf("%s burns\n", weft_entity_name(world.get(), e));
    });
    world.observe<Loot>("count").added([&world](weft::entity e) {
        std::printf("loot of %d\n", world.read<Loot>(e)->gold);
    });

    weft::entity orc = world.entity().set(Health{3}).name("the orc");
    world.system("burn").with<Burning>().records<Health>(WEFT_RECORDS_REMOVE).each(
        [](Health &h, weft::entity e, weft::commands &c) {
            h.points -= 2;
            if (h.points < 0) c.remove<Health>(e);
        });
    world.step(1);
    world.add<Burning>(orc);
    for (int i = 0; i < 3; i++) world.step(1);
    world.run_observers(); // of what changed after the last step
}

/* prints:
 * the orc burns
 * removed at 1 points
 * loot of 5
 */
