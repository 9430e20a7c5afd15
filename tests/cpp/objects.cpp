// SPDX-License-Identifier: MIT
// objects.cpp: entities, buffers, filters and files as objects of C++.
#include "check.hpp"

#include <weft/weft.hpp>

#include <cstdlib>
#include <cstring>

struct Position {
    float x = 0, y = 0;
};
struct Health {
    int points = 100;
};
struct Burning {};
struct Team {
    uint32_t number;
};
struct Stop {
    int number = -1;
    weft::entity at = {};
};
struct Event {
    int number;
};
/* Has an owner: its elements must be destructed once. */
struct Part {
    static inline std::atomic<int> alive;
    int *heap;
    Part() noexcept : heap(nullptr) {}
    explicit Part(int value) : heap(new int(value)) { alive++; }
    Part(const Part &other) : heap(other.heap == nullptr ? nullptr : new int(*other.heap))
    {
        alive += heap != nullptr;
    }
    Part(Part &&other) noexcept : heap(std::exchange(other.heap, nullptr)) {}
    Part &operator=(Part other) noexcept
    {
        std::swap(heap, other.heap);
        return *this;
    }
    ~Part()
    {
        alive -= heap != nullptr;
        delete heap;
    }
};
struct Route {
    std::vector<int> stops;
};

namespace weft {
template <> struct component_traits<Team> : component_defaults<Team> {
    static constexpr uint32_t flags = WEFT_SHARED;
};
template <> struct component_traits<Stop> : component_defaults<Stop> {
    static constexpr uint32_t flags = WEFT_BUFFER;
};
template <> struct component_traits<Event> : component_defaults<Event> {
    static constexpr uint32_t flags = WEFT_BUFFER | WEFT_RESOURCE;
};
template <> struct component_traits<Part> : component_defaults<Part> {
    static constexpr uint32_t flags = WEFT_BUFFER;
    static constexpr bool is_relocatable = true;
};
template <> struct component_traits<Route> : component_defaults<Route> {
    static constexpr bool is_relocatable = true;
    static std::size_t save(const Route &route, void *out, std::size_t capacity)
    {
        std::size_t bytes = route.stops.size() * sizeof(int);
        if (bytes != 0 && bytes <= capacity) std::memcpy(out, route.stops.data(), bytes);
        return bytes;
    }
    static bool load(Route &route, const void *bytes, std::size_t count)
    {
        if (count % sizeof(int) != 0) return false;
        route.stops.resize(count / sizeof(int));
        if (count != 0) std::memcpy(route.stops.data(), bytes, count);
        return true;
    }
};
} // namespace weft

template <class F> static weft_result code_of(F &&failing)
{
    try {
        failing();
    } catch (const weft::error &e) {
        return e.code();
    }
    return WEFT_OK;
}

static void an_entity_is_an_object()
{
    weft::world world;
    auto e = world.entity().add<Burning>().set(Position{1, 2}).add<Health>(5).name("car");
    CHECK(e && e.has<Burning>() && std::string(e.name()) == "car");
    CHECK(e.get<const Position>().y == 2 && e.get<Health>().points == 5);
    e.get<Position>().x = 7;
    CHECK(world.read<Position>(e)->x == 7);
    e.remove<Health>();
    CHECK(e.try_get<const Health>() == nullptr && e.try_get<Health>() == nullptr);
    CHECK(code_of([&] { e.get<Health>(); }) == WEFT_NOT_FOUND);
    auto child = world.entity(world.create(Position{})).parent(e);
    CHECK(child.parent().id() == e.id() && !e.parent() && world.entity(e).id() == e);
    auto copy = e.instantiate();
    CHECK(copy.has<Burning>() && copy.id() != e.id() && copy.get<const Position>().x == 7);
    copy.destroy();
    CHECK(!copy && e);
    CHECK(code_of([&] { copy.set(Position{}); }) == WEFT_STALE_ENTITY);
    world.component<Health>();
    world.each([&](weft::entity self, const Position &, weft::commands &c) {
        c.entity(self).add<Health>(8).remove<Burning>();
        if (self == child.id()) c.entity(c.create()).set(Health{9}).name("new");
    });
    CHECK(e.get<const Health>().points == 8 && !e.has<Burning>());
    CHECK(world.entity(world.find("new")).get<const Health>().points == 9);
    CHECK(!world.entity(world.find("none")));
}

static void another_world_object_finds_components_by_name()
{
    weft::world world;
    weft::entity e = world.create(Position{3, 4}, Burning{});
    world.add<Stop>(e);
    weft::world other = weft::world::borrow(world.get());
    CHECK(other.has<Position>(e) && other.has<Burning>(e) && other.read<Position>(e)->y == 4);
    CHECK(other.write<Position>(e) != nullptr && other.buffer<Stop>(e));
    CHECK(!other.has<Health>(e));
}

static void buffers_are_ranges()
{
    weft::world world;
    weft::entity e = world.create(Position{}), none = world.create(Position{});
    CHECK(world.create_many<Position>(50) == WEFT_OK);
    world.add<Stop>(e);
    auto stops = world.buffer<Stop>(e);
    CHECK(stops && stops.empty() && !world.buffer<Stop>(none) && !world.buffer<const Stop>(none));
    for (int i = 0; i < 20; i++) stops.push_back(Stop{i, {}});
    stops.push_back(stops[3]);
    stops.insert(0, stops.back());
    stops.erase(1, 2);
    stops.append(stops.data(), 3);
    int sum = 0;
    for (const Stop &stop : world.buffer<const Stop>(e)) sum += stop.number;
    CHECK(stops.size() == 23 && stops.front().number == 3 && stops.back().number == 3);
    CHECK(sum == 190 + 3 + 3 - 1 + 3 + 2 + 3);
    stops.pop_back();
    stops.resize(30);
    CHECK(stops.back().number == -1); /* constructed */
    CHECK(code_of([&] { stops.erase(29, 2); }) == WEFT_INVALID_ARGUMENT);
    CHECK(code_of([&] { stops.insert(31, Stop{}); }) == WEFT_INVALID_ARGUMENT);
    stops.clear();
    CHECK(code_of([&] { stops.pop_back(); }) == WEFT_INVALID_ARGUMENT && stops.empty());
    CHECK(code_of([&] { world.buffer<Stop>(none).push_back(Stop{}); }) == WEFT_INVALID_ARGUMENT);
    world.system("visit").each([](weft::buffer<Stop> b, weft::entity self, const Position &p) {
        b.push_back(Stop{static_cast<int>(p.x), self});
    });
    world.system("look").after("visit").each(
        [&](Position &p, weft::lookup<weft::buffer<const Stop>> all) {
            p.y = all[e] ? static_cast<float>(all[e].size()) : -1;
            if (all[none]) p.y = -2;
        });
    world.system("events").each([](weft::resource<weft::buffer<Event>> events, float dt) {
        events->push_back(Event{static_cast<int>(dt)});
    });
    world.step(3);
    world.step(4);
    CHECK(world.read<Position>(none)->y == 2);
    CHECK(world.buffer<const Event>().size() == 2 && world.buffer<Event>()[1].number == 4);
    world.each([](weft::entity self, weft::buffer<const Stop> b, weft::commands &c) {
        if (b.size() == 2) c.append(self, {Stop{7, self}, Stop{8, self}});
    });
    int rows = 0;
    for (auto [b, self] : world.view<weft::buffer<const Stop>, weft::entity>())
        rows++, CHECK(b.size() == 4 && b[3].number == 8 && b[0].at == self);
    CHECK(rows == 1);
}

static void elements_with_destructors_have_one_owner()
{
    {
        weft::world world;
        weft::entity e = world.create(Position{});
        world.add<Part>(e);
        auto parts = world.buffer<Part>(e);
        for (int i = 0; i < 40; i++) parts.push_back(Part(i));
        parts.push_back(parts[7]);
        parts.insert(3, parts[8]);
        CHECK(*parts[3].heap == 8 && *parts[4].heap == 3 && *parts.back().heap == 7);
        parts.erase(0, 3);
        CHECK(Part::alive == 39 && *parts.front().heap == 8);
        weft::entity copy = world.instantiate(e);
        CHECK(Part::alive == 78 && *world.buffer<const Part>(copy)[5].heap == *parts[5].heap);
        world.add<Burning>(copy);
        weft::snapshot before = world.take();
        world.destroy(e);
        world.buffer<Part>(copy).clear();
        world.restore(before);
        CHECK(world.buffer<Part>(e).size() == 39 && world.buffer<const Part>(copy).size() == 39);
    }
    CHECK(Part::alive == 0);
}

static void queries_are_filtered()
{
    weft::world world;
    for (uint32_t i = 0; i < 12; i++) world.create(Position{}, Team{i % 3});
    auto some = world.query().each([](Position &p, const Team &t) {
        p.x += 1 + static_cast<float>(t.number);
    });
    CHECK(some.only(Team{2}).count() == 4);
    some();
    uint32_t version = weft_world_advance_change_version(world.get());
    CHECK(some.unfiltered().except(Team{2}).count() == 8 && some.unfiltered().count() == 12);
    auto view = world.query().view<const Position, const Team>();
    view.only(Team{2});
    int rows = 0;
    for (auto [p, t] : view) rows += p.x == 3 && t.number == 2;
    CHECK(rows == 4);
    CHECK(some.changed_since<Position>(version).count() == 0);
    weft::entity e = world.create(Position{}, Team{5});
    CHECK(view.unfiltered().matches(e) && !view.only(Team{1}).matches(e));
}

static std::string temporary_name()
{
    char path[] = "/tmp/weft_objects_XXXXXX";
    int file = mkstemp(path);
    CHECK(file >= 0);
    return path;
}

static void files_hold_values_by_their_own_functions()
{
    weft::world world;
    world.name(world.create(Route{{1, 2, 3}}, Health{4}), "bus");
    world.name(world.create(Route{}), "empty");
    std::string bytes = world.save_to_memory();
    weft::world other;
    other.component<Route>();
    other.component<Health>();
    other.load_from_memory(bytes);
    auto bus = other.entity(other.find("bus"));
    CHECK((bus.get<const Route>().stops == std::vector<int>{1, 2, 3}) && bus.get<Health>().points == 4);
    CHECK(other.entity(other.find("empty")).get<const Route>().stops.empty());
    weft::world broken;
    broken.component<Route>();
    CHECK(code_of([&] { broken.load_from_memory(bytes.substr(0, bytes.size() / 2)); }) == WEFT_CORRUPT);
    weft::world third;
    third.take_entities(world);
    CHECK((third.entity(third.find("bus")).get<const Route>().stops == std::vector<int>{1, 2, 3}));
    CHECK(weft_entity_is_null(world.find("bus")));
}

static void sections_come_and_leave()
{
    std::string path = temporary_name();
    {
        weft::world world;
        weft_component section = weft_component_section(world.get());
        for (uint32_t i = 0; i < 30; i++) {
            weft::entity e = world.create(Position{static_cast<float>(i), 0});
            weft_section in = {};
            in.section = 1 + i % 3;
            CHECK(weft_entity_add(world.get(), e, section) == WEFT_OK);
            CHECK(weft_entity_set_shared(world.get(), e, section, &in) == WEFT_OK);
        }
        world.save_sections(path.c_str());
    }
    weft::world world;
    world.component<Position>();
    weft::stream level = world.stream(path.c_str());
    auto all = world.query().each([](const Position &) {});
    CHECK(level && level.size() == 4 && all.count() == 0);
    level.load(2);
    world.wait_for_streams();
    CHECK(all.count() == 10 && level.section(2).rows == 10);
    level.unload(2);
    world.step_streams(0);
    world.wait_for_streams();
    CHECK(all.count() == 0);
    CHECK(code_of([&] { level.load(9); }) == WEFT_INVALID_ARGUMENT);
    std::remove(path.c_str());
}

int main()
{
    an_entity_is_an_object();
    another_world_object_finds_components_by_name();
    buffers_are_ranges();
    elements_with_destructors_have_one_owner();
    queries_are_filtered();
    files_hold_values_by_their_own_functions();
    sections_come_and_leave();
    std::printf("%d failures\n", failures);
    return failures != 0;
}
