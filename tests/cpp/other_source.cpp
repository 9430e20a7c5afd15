// SPDX-License-Identifier: MIT
// other_source.cpp: has a type of the same name and size as values.cpp, in an unnamed namespace.
#include <weft/weft.hpp>

namespace {
struct State {
    float heat;
};
} // namespace

weft_component other_state(weft::world &world);
const char *other_name();

weft_component other_state(weft::world &world)
{
    return world.component<State>();
}

const char *other_name()
{
    return weft::component_traits<State>::name();
}
