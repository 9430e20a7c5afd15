// SPDX-License-Identifier: MIT
// typed.cpp: weft.hpp: every kind of argument, every kind of component, owners, errors. Built a second
// time without exceptions (WEFT_NO_EXCEPTIONS), where failing calls return what C returns.
#include "check.hpp"

#include <weft/weft.hpp>

#include <cstdlib>
#include <optional>

namespace {

struct Position {
    float x, y, z;
};
struct Velocity {
    float x, y, z;
};
struct Frozen {};
struct Team {
    uint32_t number;
};
struct Heat {
    float degrees;
};
struct Sum {
    double total;
};
struct Clock {
    double seconds;
};
struct Path {
    std::vector<int> stops;
};
struct Shield {
    float strength;
};

} // namespace

namespace weft {
template <> struct component_traits<Team> : component_defaults<Team> {
    static constexpr uint32_t flags = WEFT_SHARED;
    static const char *name() { return "Team"; }
};
template <> struct component_traits<Heat> : component_defaults<Heat> {
    static constexpr uint32_t flags = WEFT_SPARSE;
};
template <> struct component_traits<Sum> : component_defaults<Sum> {
    static constexpr uint32_t flags = WEFT_CHUNK;
};
template <> struct component_traits<Clock> : component_defaults<Clock> {
    static constexpr uint32_t flags = WEFT_RESOURCE;
};
template <> struct component_traits<Shield> : component_defaults<Shield> {
    static constexpr uint32_t flags = WEFT_ENABLEABLE;
};
template <> struct component_traits<Path> : component_defaults<Path> {
    static constexpr bool is_relocatable = true;
};
} // namespace weft

namespace {

void arguments_say_what_a_system_does()
{
    weft::world world;
    weft::entity moving = world.create(Position{1, 0, 0}, Velocity{2, 0, 0});
    weft::entity resting = world.create(Position{7, 0, 0});
    weft::entity cold = world.create(Position{0, 0, 0}, Velocity{9, 0, 0}, Frozen{});
    weft_system move = world.system("move").without<Frozen>().each(
        [](Position &p, const Velocity &v, float dt) { p.x += v.x * dt; });
    world.system("count").after("move").each([](Position &p, const Velocity *v, weft::entity e) {
        p.y = v != nullptr ? v->x : -1;
        p.z = static_cast<float>(weft_entity_index(e));
    });
    CHECK(move.id != 0 && weft_system_find(world.get(), "move").id == move.id);
    world.step(0.5f);
    CHECK(world.read<Position>(moving)->x == 2 && world.read<Position>(moving)->y == 2);
    CHECK(world.read<Position>(resting)->x == 7 && world.read<Position>(resting)->y == -1);
    CHECK(world.read<Position>(cold)->x == 0);
    CHECK(world.read<Position>(cold)->z == static_cast<float>(weft_entity_index(cold)));
    CHECK(world.read<Velocity>(resting) == nullptr && !world.has<Velocity>(resting));
}

void every_kind_of_component_is_an_argument()
{
    weft::world world;
    for (uint32_t i = 0; i < 100; i++) {
        weft::entity e = world.create(Position{static_cast<float>(i), 0, 0}, Team{i % 2}, Shield{1});
        if (i % 4 == 0) world.set(e, Heat{1});
        if (i % 5 == 0) world.enable<Shield>(e, false);
        world.add<Sum>(e);
    }
    world.resource<Clock>().seconds = 3;
    world.system("teams").each([](Position &p, const Team &t) { p.y = static_cast<float>(t.number); });
    world.system("heat").each([](Heat &h, const Position &p) { h.degrees += p.x; });
    world.system("sums").flags(WEFT_SYSTEM_SERIAL).each([](Sum &s, const Position &p) { s.total += p.x; });
    world.system("shields").each([](Shield &s, weft::resource<const Clock> clock) {
        s.strength += static_cast<float>(clock->seconds);
    });
    world.system("clock").run([](weft_slice &) {});
    world.step(1);
    float teams = 0, heat = 0, shields = 0;
    double sums = 0;
    int rows = 0;
    world.each([&](const Position &p) { teams += p.y; });
    world.each([&](const Heat &h) { heat += h.degrees; });
    world.query().ignores_enabled().each([&](const Shield &s) { shields += s.strength, rows++; })();
    weft::world *w = &world;
    auto chunks = world.query().each([&](const Sum &s, weft_slice &slice, weft::entity e) {
        if (e.index == slice.entities[0].index) sums += s.total;
        (void)w;
    });
    chunks();
    CHECK(teams == 50);
    CHECK(heat == 25 + 4 * 300); /* 0, 4, ..., 96 */
    CHECK(rows == 100 && shields == 100 + 80 * 3);
    CHECK(sums == 99 * 50);
}

void commands_change_the_world_after_the_system()
{
    weft::world world;
    weft::entity e = world.create(Position{1, 2, 3});
    weft_archetype burst = world.archetype<Position, Velocity>();
    world.system("explode")
        .records<Frozen, Velocity, Position>(WEFT_RECORDS_ANY)
        .each([burst](weft::entity self, const Position &p, weft::commands &c) {
            if (p.z != 3) return;
            c.add<Frozen>(self);
            c.set(self, Position{0, 0, 0});
            weft::entity made = c.create(burst, Position{5, 5, 5}, Velocity{1, 1, 1});
            c.remove<Velocity>(made);
        });
    world.step(1);
    CHECK(world.has<Frozen>(e) && world.read<Position>(e)->z == 0);
    auto all = world.query().each([](const Position &) {});
    CHECK(all.count() == 2);
    world.step(1);
    CHECK(all.count() == 2);
}

void values_that_are_no_bytes_are_constructed_and_destructed()
{
    weft::world world;
    weft::entity first = world.create(Path{{1, 2, 3}}, Position{});
    weft::entity second = world.instantiate(first);
    world.write<Path>(second)->stops.push_back(4);
    CHECK(world.read<Path>(first)->stops.size() == 3 && world.read<Path>(second)->stops.size() == 4);
    world.add<Frozen>(first); /* moves */
    CHECK(world.read<Path>(first)->stops[2] == 3);
    weft::snapshot before = world.take();
    world.destroy(second);
    CHECK(!world.is_alive(second));
    world.restore(before);
    CHECK(world.is_alive(second) && world.read<Path>(second)->stops[3] == 4);
}

/* Declares what is of a world before the world, moves it, and ends either first. */
void what_is_of_a_world_ends_with_it()
{
    weft_job_pool_desc pool_desc = {};
    weft_job_pool *pool = nullptr;
    CHECK(weft_job_pool_create(&pool_desc, &pool) == WEFT_OK);
    weft_world_desc desc = {};
    desc.pool = pool;
    {
        weft::snapshot late, moved, early;
        std::optional<weft::query<void (*)(Position &)>> query;
        {
            weft::world world(desc);
            weft::entity e = world.create(Position{1, 2, 3});
            query.emplace(world.query().each(+[](Position &p) { p.x = 5; }));
            CHECK(query->count() == 1);
            late = world.take();
            moved = world.take(&late);
            early = world.take();
            world.destroy(e);
            weft::snapshot from = std::move(moved);
            CHECK(!moved && from);
            moved = std::move(from);
            weft::world other = std::move(world); /* they go with it */
            other.restore(moved);
            (*query)();
            CHECK(other.read<Position>(e)->x == 5);
            early.reset();
            CHECK(!early && late && moved);
        }
        CHECK(!late && !moved && late.get() == nullptr);
        CHECK(query->count() == 0 && query->get().id == 0);
        (*query)(); /* no rows */
        weft::snapshot none = std::move(late);
        CHECK(!none);
    }
    CHECK(weft_job_pool_destroy(pool) == WEFT_OK); /* no world is left on it */
}

void a_snapshot_of_a_borrowed_world_stays()
{
    weft_world *world = nullptr;
    weft_world_desc desc = {};
    CHECK(weft_world_create(&desc, &world) == WEFT_OK);
    weft::snapshot kept = weft::world::borrow(world).take();
    CHECK(kept && weft_world_destroy(world) == WEFT_BUSY);
    kept.reset();
    CHECK(weft_world_destroy(world) == WEFT_OK);
}

void worlds_are_moved_borrowed_saved()
{
    weft::world world;
    weft::entity e = world.create(Position{1, 2, 3});
    world.name(e, "hero");
    int steps = 0;
    world.system("steps").run([&steps](weft_slice &) { steps++; });
    weft::world moved = std::move(world);
    moved.step(1);
    CHECK(steps == 1);
    CHECK(weft_entity_equal(moved.find("hero"), e));
    weft::world borrowed = weft::world::borrow(moved.get());
    CHECK(borrowed.component<Position>().id == moved.component<Position>().id);
    CHECK(borrowed.read<Position>(e)->y == 2);
    char path[] = "/tmp/weft_typed_XXXXXX";
    int file = mkstemp(path);
    CHECK(file >= 0);
    moved.save(path);
    weft::world loaded;
    loaded.component<Position>();
    loaded.load(path);
    CHECK(loaded.hash() == moved.hash());
    std::remove(path);
    weft::world other;
    CHECK(other.component<Velocity>().id + 1 == other.component<Position>().id);
}

#ifdef WEFT_NO_EXCEPTIONS

void failing_calls_return_what_c_returns()
{
    weft::world world;
    CHECK(world.destroy({12345, 6}) == WEFT_STALE_ENTITY);
    CHECK(weft_world_error(world.get())->code == WEFT_STALE_ENTITY);
    CHECK(world.system("").run([](weft_slice &) {}).id == 0);
    CHECK(world.load("/nowhere/at/all") == WEFT_NOT_FOUND);
}

#else

template <class F> weft_result code_of(F &&failing)
{
    try {
        failing();
    } catch (const weft::error &e) {
        CHECK(e.what()[0] != 0);
        return e.code();
    }
    return WEFT_OK;
}

void failing_calls_throw()
{
    weft::world world;
    CHECK(code_of([&] { world.destroy({12345, 6}); }) == WEFT_STALE_ENTITY);
    CHECK(code_of([&] { world.system("").run([](weft_slice &) {}); }) == WEFT_INVALID_ARGUMENT);
    CHECK(code_of([&] { world.load("/nowhere/at/all"); }) == WEFT_NOT_FOUND);
    CHECK(code_of([&] { world.step(-1); }) == WEFT_INVALID_ARGUMENT);
    weft_world_desc bad = {};
    bad.entity_tag = 99;
    CHECK(code_of([&] { weft::world refused(bad); }) == WEFT_INVALID_ARGUMENT);
    world.system("a").before("b").run([](weft_slice &) {});
    world.system("b").before("a").run([](weft_slice &) {});
    CHECK(code_of([&] { world.step(1); }) == WEFT_CYCLE);
}

void an_exception_of_a_system_comes_out_of_the_step()
{
    weft::world world;
    for (int i = 0; i < 10000; i++) world.create(Position{static_cast<float>(i), 0, 0});
    world.system("throws").each([](Position &p) {
        if (p.x == 77) throw std::out_of_range("77");
        p.y = 1;
    });
    bool is_thrown = false;
    try {
        world.step(1);
    } catch (const std::out_of_range &e) {
        is_thrown = std::string(e.what()) == "77";
    }
    CHECK(is_thrown);
    world.each([](Position &p) { p.x = 0; });
    world.step(1); /* no longer */
    bool is_left = false;
    try {
        world.each([](Position &) { throw 5; });
    } catch (int) {
        is_left = true;
    }
    CHECK(is_left);
    world.create(Velocity{}); /* the loop was closed */
}

#endif

} // namespace

int main()
{
    arguments_say_what_a_system_does();
    every_kind_of_component_is_an_argument();
    commands_change_the_world_after_the_system();
    values_that_are_no_bytes_are_constructed_and_destructed();
    what_is_of_a_world_ends_with_it();
    a_snapshot_of_a_borrowed_world_stays();
    worlds_are_moved_borrowed_saved();
#ifdef WEFT_NO_EXCEPTIONS
    failing_calls_return_what_c_returns();
#else
    failing_calls_throw();
    an_exception_of_a_system_comes_out_of_the_step();
#endif
    std::printf("%d failures\n", failures);
    return failures != 0;
}
