/* SPDX-License-Identifier: MIT */
/* peers_entt.cpp: the rows in EnTT, as its manual writes them. Children are a list of the parent's
 * and a component of the child, as its manual advises. */
#include "peers.h"

#include <entt/entt.hpp>
#include <memory>
#include <vector>

namespace
{

struct Children {
    std::vector<entt::entity> all;
};
struct Parent {
    entt::entity entity;
};
struct Target {
    entt::entity entity;
};
template <unsigned> struct Tag {
};

struct State {
    std::unique_ptr<entt::registry> registry;
    std::vector<entt::entity> entities;
    std::vector<Position> positions;
    std::vector<Velocity> velocities;
    std::vector<uint32_t> order;
    std::vector<std::unique_ptr<entt::registry>> worlds;
    entt::entity parent{};
    uint32_t n = 0;
    uint64_t counted = 0;

    void count(entt::registry &, entt::entity)
    {
        counted++;
    }
};

State &of(void *data)
{
    return *static_cast<State *>(data);
}
const State &of(const void *data)
{
    return *static_cast<const State *>(data);
}

State *make(uint32_t n, uint32_t count)
{
    auto *s = new State;
    s->n = n;
    s->entities.resize(count);
    s->positions.resize(count);
    s->velocities.resize(count);
    uint32_t *order = peers_order(count);
    s->order.assign(order, order + count);
    free(order);
    for (uint32_t i = 0; i < count; i++) {
        s->positions[i] = peers_position(i);
        s->velocities[i] = peers_velocity(i);
    }
    return s;
}

void *open_empty(uint32_t n, uint32_t)
{
    State *s = make(n, n);
    s->registry = std::make_unique<entt::registry>();
    return s;
}

void bulk(State &s)
{
    s.registry->create(s.entities.begin(), s.entities.end());
    s.registry->insert<Position>(s.entities.begin(), s.entities.end(), s.positions.begin());
    s.registry->insert<Velocity>(s.entities.begin(), s.entities.end(), s.velocities.begin());
}

void create_bulk(void *data)
{
    bulk(of(data));
}

void *open_full(uint32_t n, uint32_t workers)
{
    void *s = open_empty(n, workers);
    create_bulk(s);
    return s;
}

void close_all(void *data)
{
    delete static_cast<State *>(data);
}

void create(void *data)
{
    State &s = of(data);
    for (uint32_t i = 0; i < s.n; i++) {
        entt::entity made = s.registry->create();
        s.registry->emplace<Position>(made, s.positions[i]);
        s.registry->emplace<Velocity>(made, s.velocities[i]);
    }
}

void destroy(void *data)
{
    State &s = of(data);
    for (uint32_t i : s.order) s.registry->destroy(s.entities[i]);
}

void iterate(void *data)
{
    of(data).registry->view<Position, const Velocity>().each(
        [](Position &at, const Velocity &by) { peers_move(&at, &by); });
}

template <unsigned N> void tag(State &s)
{
    if constexpr (N < PEERS_TAGS) {
        for (uint32_t i = N; i < s.n; i += PEERS_TAGS) s.registry->emplace<Tag<N>>(s.entities[i]);
        tag<N + 1>(s);
    }
}

void *open_fragments(uint32_t n, uint32_t workers)
{
    void *s = open_full(n, workers);
    tag<0>(of(s));
    return s;
}

template <unsigned N> void bits(State &s)
{
    if constexpr (N < PEERS_BITS) {
        for (uint32_t i = 0; i < s.n; i++)
            if ((i >> N & 1) != 0) s.registry->emplace<Tag<N>>(s.entities[i]);
        bits<N + 1>(s);
    }
}

void *open_tables(uint32_t n, uint32_t workers)
{
    void *s = open_full(n, workers);
    bits<0>(of(s));
    return s;
}

void *open_few(uint32_t n, uint32_t workers)
{
    void *s = open_full(10, workers);
    of(s).n = n;
    return s;
}

void passes(void *data)
{
    for (uint32_t i = 0; i < of(data).n; i++) iterate(data);
}

void *open_follow(uint32_t n, uint32_t workers)
{
    void *data = open_full(n, workers);
    State &s = of(data);
    for (uint32_t i = 0; i < n; i++)
        s.registry->emplace<Target>(s.entities[i], s.entities[s.order[i]]);
    return data;
}

void follow(void *data)
{
    entt::registry &registry = *of(data).registry;
    auto velocities = registry.view<const Velocity>();
    registry.view<Position, const Target>().each([&](Position &at, const Target &target) {
        if (velocities.contains(target.entity))
            peers_move(&at, &velocities.get<const Velocity>(target.entity));
    });
}

void has(void *data)
{
    State &s = of(data);
    for (uint32_t i : s.order) s.counted += s.registry->all_of<Velocity>(s.entities[i]);
}

void *open_copy(uint32_t n, uint32_t workers)
{
    void *data = open_empty(n, workers);
    State &s = of(data);
    s.entities[0] = s.registry->create();
    s.registry->emplace<Position>(s.entities[0], s.positions[0]);
    s.registry->emplace<Velocity>(s.entities[0], s.velocities[0]);
    return data;
}

void copy(void *data) // as its manual does: each storage that has the first one
{
    State &s = of(data);
    entt::entity first = s.entities[0];
    for (uint32_t i = 0; i < s.n; i++) {
        entt::entity made = s.registry->create();
        for (auto [id, storage] : s.registry->storage())
            if (storage.contains(first)) storage.push(made, storage.value(first));
    }
}

void destroy_bulk(void *data)
{
    State &s = of(data);
    auto all = s.registry->view<Position>();
    s.registry->destroy(all.begin(), all.end());
}

void get(void *data)
{
    State &s = of(data);
    for (uint32_t i : s.order) {
        const Position *at = s.registry->try_get<Position>(s.entities[i]);
        s.counted += at == nullptr ? 0 : static_cast<uint64_t>(at->x);
    }
}

void set(void *data)
{
    State &s = of(data);
    for (uint32_t i = 0; i < s.n; i++)
        s.registry->replace<Position>(s.entities[s.order[i]], s.positions[i]);
}

void add(void *data)
{
    State &s = of(data);
    for (uint32_t i = 0; i < s.n; i++)
        s.registry->emplace<Health>(s.entities[s.order[i]], Health{i});
}

void add_order(void *data)
{
    State &s = of(data);
    for (uint32_t i = 0; i < s.n; i++) s.registry->emplace<Health>(s.entities[i], Health{i});
}

void add_bulk(void *data)
{
    State &s = of(data);
    const auto *values = reinterpret_cast<const Health *>(s.order.data());
    s.registry->insert<Health>(s.entities.begin(), s.entities.end(), values);
}

void *open_sparse_full(uint32_t n, uint32_t workers)
{
    void *s = open_full(n, workers);
    add_bulk(s);
    return s;
}

void get_health(void *data)
{
    State &s = of(data);
    for (uint32_t i : s.order) {
        const Health *health = s.registry->try_get<Health>(s.entities[i]);
        s.counted += health == nullptr ? 0 : health->points;
    }
}

void remove_bulk(void *data)
{
    State &s = of(data);
    s.registry->remove<Health>(s.entities.begin(), s.entities.end());
}

void tag_add(void *data)
{
    State &s = of(data);
    for (uint32_t i : s.order) s.registry->emplace<Tag<0>>(s.entities[i]);
}

void *open_tagged(uint32_t n, uint32_t workers)
{
    void *s = open_full(n, workers);
    tag_add(s);
    return s;
}

void tag_remove(void *data)
{
    State &s = of(data);
    for (uint32_t i : s.order) s.registry->remove<Tag<0>>(s.entities[i]);
}

uint64_t sum_tagged(const void *data)
{
    const State &s = of(data);
    uint64_t sum = s.n;
    for (entt::entity each : s.entities) sum += s.registry->all_of<Tag<0>>(each);
    return sum;
}

void *open_observed_create(uint32_t n, uint32_t workers)
{
    void *s = open_empty(n, workers);
    of(s).registry->on_construct<Position>().connect<&State::count>(of(s));
    return s;
}

void *open_remove(uint32_t n, uint32_t workers)
{
    void *s = open_full(n, workers);
    add(s);
    return s;
}

void remove_all(void *data)
{
    State &s = of(data);
    for (uint32_t i : s.order) s.registry->remove<Health>(s.entities[i]);
}

void *open_observed_add(uint32_t n, uint32_t workers)
{
    void *s = open_full(n, workers);
    of(s).registry->on_construct<Health>().connect<&State::count>(of(s));
    return s;
}

void *open_observed_set(uint32_t n, uint32_t workers)
{
    void *s = open_full(n, workers);
    of(s).registry->on_update<Position>().connect<&State::count>(of(s));
    return s;
}

void set_observed(void *data)
{
    State &s = of(data);
    for (uint32_t i : s.order) {
        Position at = s.positions[i];
        at.z = 2;
        s.registry->replace<Position>(s.entities[i], at);
    }
}

void *open_children(uint32_t n, uint32_t workers)
{
    void *s = open_full(n, workers);
    of(s).parent = of(s).registry->create();
    of(s).registry->emplace<Children>(of(s).parent);
    return s;
}

void children(void *data)
{
    State &s = of(data);
    for (entt::entity each : s.entities) {
        s.registry->emplace<Parent>(each, s.parent);
        s.registry->get<Children>(s.parent).all.push_back(each);
    }
}

void trees(void *data)
{
    State &s = of(data);
    for (uint32_t i = 0; i < s.n; i++) {
        if (i % PEERS_TREE == 0) continue;
        entt::entity root = s.entities[i - i % PEERS_TREE];
        s.registry->emplace<Parent>(s.entities[i], root);
        s.registry->get_or_emplace<Children>(root).all.push_back(s.entities[i]);
    }
}

void *open_trees_pass(uint32_t n, uint32_t workers)
{
    void *s = open_full(n, workers);
    trees(s);
    return s;
}

void trees_pass(void *data)
{
    entt::registry &registry = *of(data).registry;
    auto positions = registry.view<const Position>();
    registry.view<Position, const Parent>().each([&](Position &at, const Parent &parent) {
        peers_add(&at, &positions.get<const Position>(parent.entity));
    });
}

uint64_t sum_trees(const void *data)
{
    uint64_t sum = 0;
    for (auto [entity, children] : of(data).registry->view<const Children>().each())
        sum += children.all.size();
    return sum;
}

void *open_none(uint32_t n, uint32_t)
{
    return make(n, PEERS_SMALL);
}

void world_fill(State &s)
{
    s.registry = std::make_unique<entt::registry>();
    bulk(s);
    s.counted += PEERS_SMALL;
}

void worlds(void *data)
{
    State &s = of(data);
    for (uint32_t i = 0; i < s.n; i++) {
        world_fill(s);
        s.registry.reset();
    }
}

void worlds_make(void *data)
{
    State &s = of(data);
    for (uint32_t i = 0; i < s.n; i++) {
        world_fill(s);
        s.worlds.push_back(std::move(s.registry));
    }
}

void *open_worlds(uint32_t n, uint32_t workers)
{
    void *s = open_none(n, workers);
    worlds_make(s);
    return s;
}

void worlds_end(void *data)
{
    of(data).worlds.clear();
}

uint64_t sum_positions(const void *data)
{
    uint64_t sum = 0;
    for (auto [entity, at] : of(data).registry->view<const Position>().each())
        sum += peers_sum(&at) + 1;
    return sum;
}

uint64_t sum_health(const void *data)
{
    const State &s = of(data);
    uint64_t sum = 0;
    for (entt::entity each : s.entities) {
        const Health *health = s.registry->try_get<Health>(each);
        sum += health == nullptr ? 1 : health->points * 2;
    }
    return sum;
}

uint64_t sum_children(const void *data)
{
    return of(data).registry->get<Children>(of(data).parent).all.size();
}

uint64_t sum_counted(const void *data)
{
    return of(data).counted;
}

const peers_case cases[] = {
    {"create", open_empty, create, sum_positions, close_all},
    {"create.bulk", open_empty, create_bulk, sum_positions, close_all},
    {"create.observed", open_observed_create, create_bulk, sum_counted, close_all},
    {"copy", open_copy, copy, sum_positions, close_all},
    {"destroy", open_full, destroy, sum_positions, close_all},
    {"destroy.bulk", open_full, destroy_bulk, sum_positions, close_all},
    {"iterate", open_full, iterate, sum_positions, close_all},
    {"iterate.fragments", open_fragments, iterate, sum_positions, close_all},
    {"iterate.tables", open_tables, iterate, sum_positions, close_all},
    {"iterate.few", open_few, passes, sum_positions, close_all},
    {"follow", open_follow, follow, sum_positions, close_all},
    {"get", open_full, get, sum_counted, close_all},
    {"has", open_full, has, sum_counted, close_all},
    {"set", open_full, set, sum_positions, close_all},
    {"add", open_full, add, sum_health, close_all},
    {"add.bulk", open_full, add_bulk, sum_health, close_all},
    {"remove", open_remove, remove_all, sum_health, close_all},
    {"remove.bulk", open_remove, remove_bulk, sum_health, close_all},
    {"tag.add", open_full, tag_add, sum_tagged, close_all},
    {"tag.remove", open_tagged, tag_remove, sum_tagged, close_all},
    {"sparse.add", open_full, add, sum_health, close_all},
    {"sparse.add.order", open_full, add_order, sum_health, close_all},
    {"sparse.get", open_sparse_full, get_health, sum_counted, close_all},
    {"sparse.remove", open_remove, remove_all, sum_health, close_all},
    {"observe.add", open_observed_add, add, sum_counted, close_all},
    {"observe.add.bulk", open_observed_add, add_bulk, sum_counted, close_all},
    {"observe.set", open_observed_set, set_observed, sum_counted, close_all},
    {"children", open_children, children, sum_children, close_all},
    {"trees", open_full, trees, sum_trees, close_all},
    {"trees.pass", open_trees_pass, trees_pass, sum_positions, close_all},
    {"world", open_none, worlds, sum_counted, close_all},
    {"world.make", open_none, worlds_make, sum_counted, close_all},
    {"world.end", open_worlds, worlds_end, sum_counted, close_all},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

} // namespace

const peers_library peers_entt = {"EnTT", ENTT_VERSION, cases};
