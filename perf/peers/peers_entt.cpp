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
template <unsigned> struct Tag {
};

struct State {
    std::unique_ptr<entt::registry> registry;
    std::vector<entt::entity> entities;
    std::vector<Position> positions;
    std::vector<Velocity> velocities;
    std::vector<uint32_t> order;
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

void *open_none(uint32_t n, uint32_t)
{
    return make(n, 1000);
}

void worlds(void *data)
{
    State &s = of(data);
    for (uint32_t i = 0; i < s.n; i++) {
        s.registry = std::make_unique<entt::registry>();
        bulk(s);
        s.counted += 1000;
        s.registry.reset();
    }
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
    {"destroy", open_full, destroy, sum_positions, close_all},
    {"iterate", open_full, iterate, sum_positions, close_all},
    {"iterate.fragments", open_fragments, iterate, sum_positions, close_all},
    {"get", open_full, get, sum_counted, close_all},
    {"set", open_full, set, sum_positions, close_all},
    {"add", open_full, add, sum_health, close_all},
    {"remove", open_remove, remove_all, sum_health, close_all},
    {"sparse.add", open_full, add, sum_health, close_all},
    {"observe.add", open_observed_add, add, sum_counted, close_all},
    {"observe.set", open_observed_set, set_observed, sum_counted, close_all},
    {"children", open_children, children, sum_children, close_all},
    {"world", open_none, worlds, sum_counted, close_all},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

} // namespace

const peers_library peers_entt = {"EnTT", ENTT_VERSION, cases};
