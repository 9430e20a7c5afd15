// SPDX-License-Identifier: MIT
// resource.cpp: a resource is one value per world; a system without components runs once a step.
#include <cstdio>
#include <weft/weft.hpp>

struct Clock {
    double seconds = 0;
    int landed = 0;
};
struct Ball {
    float height = 0;
};
namespace weft {
template <> struct component_traits<Clock> : component_defaults<Clock> {
    static constexpr uint32_t flags = WEFT_RESOURCE;
};
}

int main()
{
    weft::world world;
    for (float height : {1.0f, 3.0f, 5.0f}) world.create(Ball{height});

    // Once a step, since it takes no component. weft_frame has the number and the time of the step.
    world.system("tick").each([](weft::resource<Clock> clock, float dt, const weft_frame &frame) {
        clock->seconds += dt;
        if (frame.number % 2 == 0) std::printf("step %d\n", int(frame.number));
    });
    // For each ball; it only reads the clock, so that it may run beside others that do.
    world.system("fall").after("tick").each(
        [](Ball &ball, weft::resource<const Clock> clock) {
            ball.height -= float(clock->seconds);
        });
    // Writes the resource for each ball: one after the other.
    world.system("land").after("fall").flags(WEFT_SYSTEM_SERIAL).each(
        [](const Ball &ball, weft::resource<Clock> clock) { clock->landed += ball.height <= 0; });

    world.step(1);
    world.step(1);
    const Clock &clock = world.resource<const Clock>(); // while no system runs
    std::printf("%g s, %d landed\n", clock.seconds, clock.landed);
}

/* prints:
 * step 2
 * 2 s, 3 landed
 */
