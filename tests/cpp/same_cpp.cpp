// SPDX-License-Identifier: MIT
// same_cpp.cpp: three systems by weft.hpp. same.sh counts that they take the instructions of same_c.c.
#include <weft/weft.hpp>

#include "same.h"

template <> struct weft::component_traits<Health> : component_defaults<Health> {
    static constexpr uint32_t flags = WEFT_ENABLEABLE;
};

static weft::world *kept; // ends with the process

weft_world *same_create()
{
    weft_world_desc desc = {};
    desc.workers = 1;
    kept = new weft::world(desc);
    kept->component<Position>();
    kept->component<Velocity>();
    kept->component<Radius>();
    kept->component<Health>();
    kept->system("move").each([](Position &p, const Velocity &v, float dt) {
        p.x += v.x * dt;
        p.y += v.y * dt;
        p.z += v.z * dt;
    });
    kept->system("bounce").each([](const Position &p, Velocity &v, const Radius *r) {
        float radius = r != nullptr ? r->metres : 1;
        if (p.x > 100 - radius) v.x = -v.x;
    });
    kept->system("heal").each(
        [](Health &h, weft_entity e) { h.points += 1 + static_cast<float>(e.index & 1); });
    return kept->get();
}
