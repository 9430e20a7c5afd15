// SPDX-License-Identifier: MIT
// terms.cpp: what a function may name beside its components (Parent, the frame, look-ups), groups, rows
// made in place, changes of many rows at once; and copies that throw in several worlds at once.
#include "check.hpp"

#include <weft/weft.hpp>

#include <thread>

struct Position {
    float x = 0, y = 0;
};
struct Speed {
    float x;
};
struct Frozen {};
struct Team {
    int number;
};
struct Clock {
    uint64_t steps = 0;
};
struct Level {
    int number;
};
WEFT_DESCRIBE(Level, number);
/* Its copies throw when asked to, by world. */
struct Fragile {
    int world = -1;
    static inline thread_local int refuses = -1;
    Fragile() noexcept = default;
    explicit Fragile(int of) : world(of) {}
    Fragile(const Fragile &other) : world(other.world)
    {
#ifndef WEFT_NO_EXCEPTIONS
        if (refuses == world) throw std::runtime_error(std::to_string(world));
#endif
    }
    Fragile(Fragile &&) noexcept = default;
    Fragile &operator=(const Fragile &) = default;
    Fragile &operator=(Fragile &&) noexcept = default;
    ~Fragile() {}
};
namespace weft {
template <> struct component_traits<Team> : component_defaults<Team> {
    static constexpr uint32_t flags = WEFT_SHARED;
};
template <> struct component_traits<Clock> : component_defaults<Clock> {
    static constexpr uint32_t flags = WEFT_RESOURCE;
};
template <> struct component_traits<Fragile> : component_defaults<Fragile> {
    static constexpr bool is_relocatable = true;
};
}

namespace
{

void parent_is_a_term()
{
    weft::world world;
    weft::entity ship = world.create(Position{3, 0}), gun = world.create(Position{1, 0}, Speed{0});
    world.entity(gun).parent(ship);
    world.system("carry").each([](Speed &s, const weft::parent &above, weft::lookup<const Position> at) {
        s.x = at[above.entity]->x;
    });
    int with = 0, without = 0;
    world.query().with<weft::parent>().each([&](const Position &) { with++; })();
    world.query().without<weft::parent>().each([&](const Position &) { without++; })();
    CHECK(with == 1 && without == 1);
    world.step(1);
    CHECK(world.read<Speed>(gun)->x == 3);
    CHECK(world.read<weft::parent>(gun)->entity == ship);
    auto at = world.lookup<const Position>();
    CHECK(at[gun]->x == 1 && at[weft::entity{}] == nullptr);
    world.entity(gun).remove<weft::parent>();
    CHECK(!world.has<weft::parent>(gun) && !world.entity(gun).parent());
    world.set(gun, weft::parent{{ship}});
    CHECK(world.entity(gun).parent().id() == ship);
    for (auto [above, e] : world.view<const weft::parent, weft::entity>())
        CHECK(above.entity == ship && e == gun);
}

void transforms_are_components()
{
    weft::world world;
    weft_local_transform place = weft_local_transform_none();
    place.position[0] = 10;
    weft::entity ship = world.create(place, weft_world_transform{});
    weft::entity gun = world.create(place, weft_world_transform{});
    world.entity(gun).parent(ship);
    world.transforms();
    world.step(1);
    CHECK(world.read<weft_world_transform>(gun)->rows[0][3] == 20);
    float sum = 0;
    world.each([&](const weft_world_transform &t) { sum += t.rows[0][3]; });
    CHECK(sum == 30);
}

void frame_is_an_argument()
{
    weft::world world;
    world.create(Position{});
    world.system("count").each([](weft::resource<Clock> clock, const weft_frame &frame) {
        clock->steps = clock->steps * 10 + frame.number;
        CHECK(frame.dt == 0.5f);
    });
    world.system("of rows").each([](Position &p, weft_frame frame, const weft_slice &slice) {
        p.x = static_cast<float>(frame.time);
        CHECK(slice.worker < 64);
    });
    world.step(0.5f);
    world.step(0.5f);
    CHECK(world.resource<const Clock>().steps == 12 && world.frame().number == 2);
    world.each([](const Position &p) { CHECK(p.x == 1); });
}

void groups_have_an_order_and_a_rate()
{
    weft::world world;
    std::string order;
    world.system("late").group("render").each([&](weft::resource<Clock>) { order += 'r'; });
    world.system("early").group("physics").each([&](weft::resource<Clock>) { order += 'p'; });
    world.group("physics").before("render").period(0.5f).set();
    world.step(1);
    CHECK(order == "ppr");
    world.group("physics").enable(false);
    world.step(1);
    CHECK(order == "pprr");
#ifndef WEFT_NO_EXCEPTIONS
    bool is_refused = false;
    try {
        world.group("no such").enable(true);
    } catch (const weft::error &error) {
        is_refused = error.code() == WEFT_NOT_FOUND;
    }
    CHECK(is_refused);
#endif
}

void rows_are_filled_in_place()
{
    weft::world world;
    auto rows = world.rows<Speed, Position>(); /* the archetype has another order, maybe */
    world.component<Position>();
    world.system("make").records<Speed, Position>(WEFT_RECORDS_CREATE).each([rows](weft::commands &c) {
        c.create_rows(rows, 5000, [](uint32_t i, Speed &s, Position &p) {
            s.x = static_cast<float>(i);
            p.y = 7;
        });
        c.create_rows(rows, 2, [](Speed &s, Position &p) { s.x = p.x = 1; });
    });
    world.step(1);
    double sum = 0, count = 0;
    world.each([&](const Speed &s, const Position &p) {
        sum += static_cast<double>(s.x);
        count += p.y == 7;
    });
    CHECK(count == 5000 && sum == 4999 * 2500 + 2);
}

void many_rows_change_at_once()
{
    weft::world world;
    Position places[] = {{1, 0}, {2, 0}, {3, 0}};
    auto made = world.create_filled(3, places);
    CHECK(made.size() == 3 && world.read<Position>(made[2])->x == 3);
    Speed speeds[] = {{4}, {5}, {6}}, back[3];
    world.set_many(made.data(), 3, speeds);
    world.read_many(made.data(), 3, back);
    CHECK(back[1].x == 5);
    Team red = {1};
    world.set_many(made.data(), 2, &red);
    auto all = world.query().each([](Position &p) { p.y += 1; });
    CHECK(world.shared_values<Team>().size() == 2 && world.query().with<Team>().each([](Position &) {}).count() == 2);
    all.set_all(Team{2});
    CHECK(world.read<Team>(made[2])->number == 2);
    auto values = all.read_values<Position>();
    CHECK(values.size() == 3 && values[0].x == 1);
    for (Position &p : values) p.x *= 2;
    all.write_values(values);
    CHECK(world.read<Position>(made[1])->x == 4);
    all.in_parallel();
    CHECK(world.read<Position>(made[0])->y == 1);
    all.add_all<Frozen>();
    CHECK(world.has<Frozen>(made[0]));
    all.remove_all<Frozen>();
    all.set_all(Speed{9});
    CHECK(world.read<Speed>(made[0])->x == 9);
    weft_query both = all.get();
    world.each([&](weft::entity e, const Position &, weft::commands &c) {
        if (e == made[0]) c.set_all(both, Team{5}), c.add_all<Frozen>(both), c.remove_all<Speed>(both);
    });
    CHECK(world.read<Team>(made[1])->number == 5 && world.has<Frozen>(made[2]) && !world.has<Speed>(made[2]));
    world.check(Level{3});
    all.destroy_all();
    CHECK(!world.is_alive(made[0]) && all.count() == 0);
}

#ifndef WEFT_NO_EXCEPTIONS
/* What a function throws in parallel comes out of the loop: that of the lowest slice. */
void loops_in_parallel_throw()
{
    weft::world world;
    world.create_many<Position>(100000);
    auto all = world.query().each([](weft::entity e, const Position &) {
        if (e.index >= 50) throw static_cast<int>(e.index);
    });
    int thrown = 0;
    try {
        all.in_parallel();
    } catch (int index) {
        thrown = index;
    }
    CHECK(thrown == 50);
}

/* A copy that throws is an exception of the call that copied, and of no other world's. */
int copies_of(int number, bool is_fragile)
{
    int thrown = 0;
    weft::world world;
    weft::entity source = world.create(Fragile(number));
    Fragile::refuses = is_fragile ? number : -1;
    for (int i = 0; i < 200; i++) {
        try {
            world.instantiate(source);
            world.create(Position{});
        } catch (const std::runtime_error &error) {
            thrown += error.what() == std::to_string(number) ? 1 : 1000000;
        }
    }
    Fragile::refuses = -1;
    return thrown;
}
void worlds_do_not_see_copies_of_others_fail()
{
    int thrown[4] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([i, &thrown] { thrown[i] = copies_of(i, i % 2 == 0); });
    for (std::thread &each : threads) each.join();
    CHECK(thrown[0] == 200 && thrown[1] == 0 && thrown[2] == 200 && thrown[3] == 0);
}
/* Two weft::worlds of one world of C share its hooks. */
void borrowed_worlds_see_copies_fail()
{
    weft::world owner, other;
    weft::entity source = owner.create(Fragile(1));
    int thrown = 0;
    for (int i = 0; i < 3; i++) {
        weft::world borrowed = weft::world::borrow(owner.get());
        Fragile::refuses = 1;
        try {
            borrowed.instantiate(source);
        } catch (const std::runtime_error &) {
            thrown++;
        }
        Fragile::refuses = -1;
        other.create(Position{});
        owner.create(Position{});
    }
    CHECK(thrown == 3);
    other.take_entities(owner); /* with hooks, where the type is not known */
    Fragile::refuses = 1;
    for (auto [of, e] : other.view<const Fragile, weft::entity>())
        if (of.world == 1) source = e;
    try {
        other.instantiate(source);
    } catch (const std::runtime_error &) {
        thrown++;
    }
    Fragile::refuses = -1;
    CHECK(thrown == 4);
}
#endif

} // namespace

static void components_of_the_library_have_types()
{
    weft::world world;
    weft::entity hen = world.create(Position{1, 0}), egg = world.create(Position{2, 0});
    world.add<weft::linked_group>(hen);
    for (weft::entity e : {hen, egg}) world.buffer<weft::linked_group>(hen).push_back(weft::linked_group{e});
    world.component<weft::instance_of>();
    world.add<weft::prefab>(hen); /* and its group */
    CHECK(world.has<weft::prefab>(egg) && world.component<weft::prefab>().id == weft_component_prefab(world.get()).id);
    weft::entity copy = world.instantiate(hen);
    CHECK(world.buffer<weft::linked_group>(copy).size() == 2 && world.read<weft::instance_of>(copy)->entity == hen);
    world.add<weft::inactive>(copy);
    CHECK(world.view<Position>().count() == 1 && world.query().with<weft::inactive>().view<Position>().count() == 1);
    world.set(copy, weft_section{0, 0, 3});
    CHECK(world.read<weft_section>(copy)->section == 3 && weft_component_find(world.get(), "weft_section").id == 0);
}

int main()
{
    parent_is_a_term();
    transforms_are_components();
    frame_is_an_argument();
    groups_have_an_order_and_a_rate();
    rows_are_filled_in_place();
    many_rows_change_at_once();
    components_of_the_library_have_types();
#ifndef WEFT_NO_EXCEPTIONS
    loops_in_parallel_throw();
    worlds_do_not_see_copies_of_others_fail();
    borrowed_worlds_see_copies_fail();
#endif
    return failures != 0;
}
