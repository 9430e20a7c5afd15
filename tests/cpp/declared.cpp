// SPDX-License-Identifier: MIT
// declared.cpp: what systems, observers, commands and loops of C++ declare and do: nothing is lost, and
// everything that they touch is known to the schedule.
#include "check.hpp"

#include <weft/weft.hpp>


struct Position {
    float x, y;
};
struct Velocity {
    float x, y;
};
struct Hull {
    float points;
};
struct Target {
    weft::entity entity;
};
struct Score {
    int number;
};
struct Limit {
    int number;
};
struct Team {
    uint32_t number;
};
struct Stops {
    int stop;
};
struct Cargo {
    int tons;
};
struct Seen {};
template <int N> struct Setting {
    int value;
};

namespace weft {
template <> struct component_traits<Score> : component_defaults<Score> {
    static constexpr uint32_t flags = WEFT_RESOURCE;
};
template <> struct component_traits<Limit> : component_defaults<Limit> {
    static constexpr uint32_t flags = WEFT_RESOURCE;
};
template <> struct component_traits<Team> : component_defaults<Team> {
    static constexpr uint32_t flags = WEFT_SHARED;
};
template <> struct component_traits<Stops> : component_defaults<Stops> {
    static constexpr uint32_t flags = WEFT_BUFFER;
};
template <int N> struct component_traits<Setting<N>> : component_defaults<Setting<N>> {
    static constexpr uint32_t flags = WEFT_RESOURCE;
};
} // namespace weft

WEFT_DESCRIBE(Target, entity);

/* The components that a system touches, as "Name" or "Name!" where it writes, sorted by id. */
static std::string access_of(weft::world &world, weft_system system)
{
    weft_lookup found[32];
    uint32_t count = weft_system_access(world.get(), system, found, 32);
    std::string text;
    for (uint32_t i = 0; i < count && i < 32; i++) {
        const weft_component_desc *info = weft_component_info(world.get(), found[i].component);
        text += std::string(text.empty() ? "" : " ") + info->name +
                (found[i].access == WEFT_WRITE ? "!" : "");
    }
    return text;
}

static void a_run_declares_what_it_touches()
{
    weft::world world;
    for (int i = 0; i < 10; i++) world.create(Position{0, 0}, Velocity{1, 2});
    world.component<Limit>();
    auto others = world.query().each([](const Hull &) {});
    weft_system move = world.system("move")
                           .over<Position, const Velocity>()
                           .maybe<const Hull>()
                           .resources<Score, const Limit>()
                           .flags(WEFT_SYSTEM_SERIAL)
                           .queries(others)
                           .run([&](weft_slice &s) {
                               auto *p = WEFT_WRITE_COLUMN(&s, 0, Position);
                               auto *v = WEFT_READ_COLUMN(&s, 1, Velocity);
                               for (uint32_t i = 0; i < s.count; i++) p[i].x += v[i].y;
                               auto *score = static_cast<Score *>(
                                   weft_slice_write_resource(&s, world.component<Score>()));
                               score->number += static_cast<int>(s.count);
                           });
    std::string access = access_of(world, move);
    CHECK(access.find("Position!") != std::string::npos && access.find("Score!") != std::string::npos);
    CHECK(access.find("Velocity") != std::string::npos && access.find("Velocity!") == std::string::npos);
    CHECK(access.find("Limit") != std::string::npos && access.find("Limit!") == std::string::npos);
    CHECK(access.find("Hull") != std::string::npos);
    int asked = 0, times = 0, indices = 0;  /* one counter a system: both run at the same time */
    world.system("sometimes").run_if([&] { return ++asked % 2 == 0; }).run([&](weft_slice &) {
        times++;
    });
    std::vector<int> counted(7);
    world.system("indices").count(7).run([&](weft_slice &s) { counted[s.index]++; });
    world.system("range").range([&] { return 3u; }).flags(WEFT_SYSTEM_SERIAL).run([&](weft_slice &) {
        indices++;
    });
    world.step(1);
    world.step(1);
    CHECK(world.resource<Score>().number == 20 && asked == 2 && times == 1 && indices == 6);
    CHECK(counted == std::vector<int>(7, 2));
    float sum = 0;
    world.each([&](const Position &p) { sum += p.x; });
    CHECK(sum == 40);
}

static void a_system_of_resources_runs_once_a_step()
{
    weft::world world;
    world.create(Position{1, 2});
    world.resource<Score>().number = 0;
    int rows = 0;
    weft_system once = world.system("once").each([](weft::resource<Score> s, float dt) {
        s->number += static_cast<int>(dt);
    });
    world.system("of rows").with<Position>().each([&](weft::resource<const Score>) { rows++; });
    world.step(2);
    world.run(once, 5);
    CHECK(world.resource<Score>().number == 7 && rows == 1);
    CHECK(access_of(world, once) == "Score!");
}

static void nine_resources_are_declared()
{
    weft::world world;
    world.create(Position{1, 0});
    world.resource<Setting<9>>().value = 9;
    int got = 0;
    weft_system system = world.system("nine").each(
        [&](const Position &, weft::resource<const Setting<1>>, weft::resource<const Setting<2>>,
            weft::resource<const Setting<3>>, weft::resource<const Setting<4>>,
            weft::resource<const Setting<5>>, weft::resource<const Setting<6>>,
            weft::resource<const Setting<7>>, weft::resource<const Setting<8>>,
            weft::resource<const Setting<9>> last) { got = last->value; });
    world.step(1);
    CHECK(got == 9);
    weft_lookup found[32];
    CHECK(weft_system_access(world.get(), system, found, 32) == 10);
}

static void lookups_are_declared()
{
    weft::world world;
    weft::entity ship = world.create(Hull{10});
    for (int i = 0; i < 3; i++) world.create(Target{ship}, Position{2, 0});
    world.create(Target{weft::entity{99, 1}}, Position{2, 0});
    weft_system hit = world.system("hit").flags(WEFT_SYSTEM_SERIAL).each(
        [](const Target &t, const Position &p, weft::lookup<Hull> hulls) {
            if (Hull *hull = hulls[t.entity]) hull->points -= p.x;
        });
    float least = 100;
    world.system("look").after("hit").flags(WEFT_SYSTEM_SERIAL).each(
        [&](const Target &t, const weft::lookup<const Hull> &hulls) {
            if (const Hull *hull = hulls[t.entity]) least = hull->points;
        });
    world.step(1);
    CHECK(world.read<Hull>(ship)->points == 4 && least == 4);
    CHECK(access_of(world, hit).find("Hull!") != std::string::npos);
}

static void a_depth_runs_after_the_one_above()
{
    weft::world world;
    weft_component parent = world.parent();
    weft::entity chain[20];
    for (int i = 0; i < 20; i++) {
        chain[i] = world.create(Position{1, 0});
        if (i > 0) world.relate(chain[i], parent, chain[i - 1]);
    }
    world.system("sum").by_depth(parent).each(
        [parent](Position &p, weft::entity self, weft_slice &s, weft::lookup<const Position> all) {
            weft::entity above = weft_relation_target(weft_slice_world(&s), self, parent);
            if (const Position *of = all[above]) p.x = of->x + 1;
        });
    world.step(1);
    CHECK(world.read<Position>(chain[19])->x == 20);
    CHECK(world.sources(parent, chain[3]).size() == 1);
    CHECK(*world.sources(parent, chain[3]).begin() == chain[4]);
}

static void commands_outside_systems_are_played()
{
    weft::world world;
    weft::entity first = world.create(Position{1, 0}), second = world.create(Position{2, 0});
    weft_archetype made = world.archetype<Cargo, Position, Seen>();
    world.component<Team>();
    CHECK(made.id != 0);
    world.each([&](weft::entity e, const Position &p, weft::commands &c) {
        if (p.x == 1) c.destroy(e);
        c.create(Cargo{3}, Position{9, 0}, Seen{});
        c.set(e, Team{4});
        CHECK(world.is_alive(first)); /* when the loop has ended */
    });
    CHECK(!world.is_alive(first) && world.read<Team>(second)->number == 4);
    auto cargo = world.query().with<Seen>().each([](const Cargo &, weft::commands c) {
        CHECK(c.get() != nullptr);
    });
    cargo();
    CHECK(cargo.count() == 2);
    int inner_rows = 0;
    world.each([&](weft::entity e, const Cargo &, weft::commands &c) {
        world.each([&](weft::entity other, const Team &, weft::commands &inner) {
            inner_rows++;
            inner.add<Seen>(other);
        });
        c.remove<Cargo>(e);
    });
    CHECK(inner_rows == 2 && cargo.count() == 0 && world.has<Seen>(second));
    bool is_thrown = false;
    try {
        world.each([](weft::entity e, const Team &, weft::commands &c) {
            c.destroy(e);
            throw 5;
        });
    } catch (int) {
        is_thrown = true;
    }
    CHECK(is_thrown && world.is_alive(second)); /* nothing was played */
    world.step(1);
    CHECK(world.is_alive(second));
}

static void buffers_and_names_are_commands_too()
{
    weft::world world;
    weft::entity e = world.create(Position{1, 0});
    world.component<Stops>();
    world.system("stops").records<Stops, Position>(WEFT_RECORDS_ANY).each(
        [](weft::entity self, const Position &, weft::commands &c) {
            const Stops stops[] = {{1}, {2}, {3}};
            c.set_buffer(self, stops, 2);
            c.append(self, stops, 3);
            c.name(self, "line 5");
            c.enable<Position>(self, true);
        });
    bool is_refused = false;
    try {
        world.step(1);
    } catch (const weft::error &error) {
        is_refused = error.code() == WEFT_TYPE_MISMATCH; /* Position is not ENABLEABLE */
    }
    CHECK(is_refused);
    CHECK(world.find("line 5") == e);
    weft_buffers stops = weft_entity_read_buffer(world.get(), e, world.component<Stops>());
    CHECK(weft_buffers_length(&stops, 0) == 5);
}

static void a_command_for_what_is_not_known_throws()
{
    weft::world world;
    world.create(Position{1, 0});
    world.system("forgot").each([](weft::entity self, const Position &, weft::commands &c) {
        c.add<Seen>(self);
    });
    std::string text;
    try {
        world.step(1);
    } catch (const weft::error &error) {
        text = error.what();
    }
    CHECK(text.find("Seen") != std::string::npos);
}

/* Of many slices and two systems that throw, always the same comes out. */
static void one_exception_comes_out()
{
    for (int round = 0; round < 20; round++) {
        weft_world_desc desc = {};
        desc.workers = 3;
        weft::world world(desc);
        for (int i = 0; i < 50000; i++) world.create(Position{static_cast<float>(i), 0});
        world.system("second").after("first").each([](const Position &, weft::entity) { throw 2; });
        world.system("first").each([](const Position &p) {
            if (p.x >= 10000) throw p.x;
        });
        float found = 0;
        int other = 0;
        try {
            world.step(1);
        } catch (int number) {
            other = number;
        } catch (float x) {
            found = x;
        }
        CHECK(other == 2 && found == 0); /* of the system that was registered first */
    }
    weft::world world;
    world.create(Position{1, 0});
    weft_system alone = world.system("alone").each([](const Position &) { throw 3; });
    bool is_thrown = false;
    try {
        world.run(alone, 1);
    } catch (int number) {
        is_thrown = number == 3;
    }
    CHECK(is_thrown);
    weft_system_enable(world.get(), alone, false);
    world.step(1); /* nothing is left over */
}

static void observers_are_functions()
{
    weft::world world;
    weft::entity e = world.create(Position{0, 0});
    world.component<Seen>();
    int added = 0, changed = 0, lost = 0;
    world.observe<Cargo>("added").added([&](weft::entity of, weft::commands &c) {
        added += of == e;
        c.add<Seen>(of);
    });
    world.observe<Cargo>("changed").changed([&](const Cargo &was) { changed += was.tons; });
    world.observe<Cargo>("lost").removed([&](const weft_observation &o, const Cargo &was) {
        lost += was.tons * static_cast<int>(o.count);
    });
    world.set(e, Cargo{3});
    world.step(1);
    CHECK(added == 1 && world.has<Seen>(e));
    world.set(e, Cargo{5});
    world.step(1);
    world.remove<Cargo>(e);
    world.run_observers();
    CHECK(changed == 3 && lost == 5);
    weft_observer tells = world.observe<Cargo>("throws").added([](weft::entity) { throw 4; });
    world.set(e, Cargo{1});
    bool is_thrown = false;
    try {
        world.step(1);
    } catch (int number) {
        is_thrown = number == 4;
    }
    CHECK(is_thrown && weft_observer_destroy(world.get(), tells) == WEFT_OK);
}

static void views_are_ranges()
{
    weft::world world;
    for (int i = 0; i < 1000; i++) {
        weft::entity e = world.create(Position{static_cast<float>(i), 0});
        if (i % 3 == 0) world.set(e, Velocity{1, 0});
        if (i % 5 == 0) world.set(e, Cargo{i});
    }
    int rows = 0, with = 0;
    float sum = 0;
    for (auto [p, v, e] : world.view<Position, const Velocity, weft::entity>()) {
        p.y = v.x;
        rows++;
        CHECK(world.is_alive(e));
    }
    for (auto [p, c] : world.view<const Position, Cargo *>()) sum += p.y, with += c != nullptr;
    CHECK(rows == 334 && sum == 334 && with == 200);
    auto all = world.query().without<Cargo>().view<const Position>();
    for (int round = 0; round < 2; round++) {
        int count = 0;
        for (auto [p] : all) {
            (void)p;
            if (++count == 700) break; /* leaves the loop open */
        }
        CHECK(count == 700);
    }
    int count = 0;
    for (auto [p] : all) count += p.x >= 0;
    CHECK(count == 800);
    for (auto [p] : world.view<const Position>()) {
        CHECK(p.x >= 0);
        break;
    }
    world.create(Position{}); /* no loop is open */
    std::unique_ptr<weft::view<Position>> late;
    {
        weft_job_pool *pool = nullptr;
        weft_job_pool_desc pool_desc = {};
        CHECK(weft_job_pool_create(&pool_desc, &pool) == WEFT_OK);
        weft_world_desc desc = {};
        desc.pool = pool;
        {
            weft::world other(desc);
            other.create(Position{});
            late.reset(new weft::view<Position>(other.view<Position>()));
            for (auto [p] : *late) {
                p.x = 1;
                break; /* a loop that is open when its world ends */
            }
        }
        CHECK(weft_job_pool_destroy(pool) == WEFT_OK); /* no world is left on it */
    }
    for (auto [p] : *late) CHECK(p.x == 2); /* no rows */
}

int main()
{
    a_run_declares_what_it_touches();
    a_system_of_resources_runs_once_a_step();
    nine_resources_are_declared();
    lookups_are_declared();
    a_depth_runs_after_the_one_above();
    commands_outside_systems_are_played();
    buffers_and_names_are_commands_too();
    a_command_for_what_is_not_known_throws();
    one_exception_comes_out();
    observers_are_functions();
    views_are_ranges();
    std::printf("%d failures\n", failures);
    return failures != 0;
}
