// SPDX-License-Identifier: MIT
// values.cpp: what C++ values need as components: constructors and destructors in every path, member
// initialisers, names, descriptions, handles of entities as values.
#include "check.hpp"

#include <weft/type.h>
#include <weft/weft.hpp>

#include <unordered_set>

weft_component other_state(weft::world &world);
const char *other_name();

namespace {
struct State {
    int number;
};
} // namespace

struct Position {
    float x = 0, y = 0;
};
struct Health {
    int points = 100;
    float scale = 1;
};
struct Owner {
    weft::entity of = {};
    int lives = 3;
};
template <class T> struct Pair {
    T first[2];
};
struct Inner {
    weft::entity target;
    float weights[3];
};
enum class Phase : uint8_t { coast, burn };
struct Link {
    Inner inner;
    Phase phase = Phase::burn;
    char label[8] = "none";
    double gain = 2;
};
struct Burning {};

/* Counts its values, and knows its owner: two with the same `self` are one fault. */
struct Counted {
    static inline int alive, copies_left = 1000000;
    int *heap;
    Counted() noexcept : heap(new int(7)) { alive++; }
    explicit Counted(int value) : heap(new int(value)) { alive++; }
    Counted(const Counted &other) : heap(new int(*other.heap))
    {
        if (copies_left-- <= 0) {
            delete heap;
            throw std::runtime_error("no more copies");
        }
        alive++;
    }
    Counted &operator=(const Counted &other)
    {
        *heap = *other.heap;
        return *this;
    }
    ~Counted()
    {
        delete heap;
        alive--;
    }
};
struct Unique {
    std::unique_ptr<int> value;
};
struct UniqueSparse {
    std::unique_ptr<int> value;
};

namespace weft {
template <> struct component_traits<Counted> : component_defaults<Counted> {
    static constexpr bool is_relocatable = true;
};
template <> struct component_traits<Unique> : component_defaults<Unique> {
    static constexpr bool is_relocatable = true;
};
template <> struct component_traits<UniqueSparse> : component_defaults<UniqueSparse> {
    static constexpr bool is_relocatable = true;
    static constexpr uint32_t flags = WEFT_SPARSE;
};
} // namespace weft

WEFT_DESCRIBE(Inner, target, weights);
WEFT_DESCRIBE(Link, inner, phase, label, gain);

static void values_begin_with_their_initialisers()
{
    weft::world world;
    weft::entity e = world.create();
    world.add<Health>(e);
    CHECK(world.read<Health>(e)->points == 100 && world.read<Health>(e)->scale == 1);
    weft::entity many[4];
    world.create_many<Health, Owner>(4, many);
    CHECK(world.read<Health>(many[3])->points == 100 && world.read<Owner>(many[0])->lives == 3);
    world.add<Health>(many[0], 5, 2.0f);
    CHECK(world.read<Health>(many[0])->points == 5);
    world.system("births")
        .records<Health, Owner>(WEFT_RECORDS_ANY)
        .each([](weft::entity self, const Owner &o, weft::commands &c) {
            if (o.lives == 3) c.create(Owner{self, 1}), c.add<Health>(c.create(Owner{self, 2}));
        });
    world.step(1);
    int born = 0, points = 0;
    world.each([&](const Owner &o) { born += o.lives < 3; });
    world.each([&](const Owner &o, const Health &h) { points += o.lives == 2 ? h.points : 0; });
    CHECK(born == 8 && points == 400);
}

static void commands_own_what_they_copy()
{
    int before = Counted::alive;
    {
        weft::world world;
        world.component<Counted>();
        weft::entity first = world.create(Position{1, 0});
        weft::entity second = world.create(Position{2, 0}, Counted(1));
        world.component<Burning>();
        Counted given(42);
        world.system("set").records<Counted, Position, Burning>(WEFT_RECORDS_ANY).each(
            [&](weft::entity e, const Position &p, weft::commands &c) {
                c.set(e, given);
                c.set(e, Burning{});
                if (p.x == 2) c.create(Position{9, 0}, Counted(43));
                if (p.x == 2) c.set(c.create(), Counted(44));
                if (p.x == 1) c.set(e, Counted(45)); /* overtakes the first */
                if (p.x == 1) c.set(weft::entity{777, 3}, Counted(46)); /* skipped */
            });
        world.step(1);
        CHECK(*world.read<Counted>(first)->heap == 45 && *world.read<Counted>(second)->heap == 42);
        CHECK(world.has<Burning>(first));
        int sum = 0;
        world.each([&](const Counted &c) { sum += *c.heap; });
        CHECK(sum == 45 + 42 + 43 + 44);
        world.each([](weft::entity e, const Position &, weft::commands &c) { c.set(e, Counted(5)); });
        weft::entity copy = world.instantiate(first);
        CHECK(*world.read<Counted>(copy)->heap == 5);
        world.destroy(first);
        CHECK(*world.read<Counted>(copy)->heap == 5);
    }
    CHECK(Counted::alive == before);
}

static void a_copy_that_throws_leaves_whole_rows()
{
    int before = Counted::alive;
    {
        weft::world world;
        weft::entity first = world.create(Counted(3), Position{});
        Counted::copies_left = 0;
        bool is_thrown = false;
        try {
            world.instantiate(first);
        } catch (const std::runtime_error &e) {
            is_thrown = std::string(e.what()) == "no more copies";
        }
        CHECK(is_thrown);
        Counted::copies_left = 1000000;
        int rows = 0, sum = 0;
        world.each([&](const Counted &c) { rows++, sum += *c.heap; });
        CHECK(rows == 2 && sum == 3 + 7); /* a new value stands where the copy failed */
        world.step(1);
        weft::entity copy = world.instantiate(first);
        CHECK(*world.read<Counted>(copy)->heap == 3);
    }
    CHECK(Counted::alive == before);
}

template <class F> static weft_result code_of(F &&failing)
{
    try {
        failing();
    } catch (const weft::error &e) {
        CHECK(e.what()[0] != 0);
        return e.code();
    }
    return WEFT_OK;
}

static void values_that_cannot_be_copied_have_one_owner()
{
    weft::world world;
    weft::entity e = world.create(Unique{std::make_unique<int>(4)}, Position{});
    CHECK(*world.read<Unique>(e)->value == 4);
    CHECK(code_of([&] { world.instantiate(e); }) == WEFT_UNSUPPORTED);
    CHECK(code_of([&] { world.take(); }) == WEFT_UNSUPPORTED);
    weft::entity sparse = world.create(Position{});
    world.add<UniqueSparse>(sparse);
    world.write<UniqueSparse>(sparse)->value = std::make_unique<int>(6);
    CHECK(code_of([&] { world.instantiate(sparse); }) == WEFT_UNSUPPORTED);
    world.system("hand over").records<Unique>(WEFT_RECORDS_ADD).each(
        [&](weft::entity self, const Position &, weft::commands &c) {
            c.set(self, Unique{std::make_unique<int>(8)});
        });
    world.step(1);
    CHECK(*world.read<Unique>(e)->value == 8 && *world.read<Unique>(sparse)->value == 8);
}

static void names_are_unique_for_types()
{
    weft::world world;
    CHECK(world.component<State>().id != other_state(world).id);
    CHECK(std::string(weft::component_traits<State>::name()) == "values.cpp::State");
    CHECK(std::string(other_name()) == "other_source.cpp::State");
    CHECK(world.component<Pair<int[3]>>().id != world.component<Pair<int[4]>>().id);
    CHECK(std::string(weft::component_traits<Pair<int[3]>>::name()).back() == '>');
    weft::entity e = world.create(State{1});
    CHECK(world.has<const State>(e) && world.component<const State>().id == world.component<State>().id);
    int with = 0, without = 0;
    world.query().with<const State>().each([&](weft::entity) { with++; })();
    world.query().without<const State>().each([&](const Position &) { without++; })();
    CHECK(with == 1 && without == 0);
}

static void described_types_are_translated()
{
    weft::world world;
    const weft_type *type = weft_component_type(world.get(), world.component<Link>());
    CHECK(type != nullptr && type->field_count == 4);
    CHECK(type->fields[0].kind == WEFT_FIELD_STRUCT && type->fields[1].kind == WEFT_FIELD_U8);
    CHECK(type->fields[2].kind == WEFT_FIELD_TEXT && type->fields[3].kind == WEFT_FIELD_F64);
    CHECK(static_cast<const Link *>(type->initial)->gain == 2);
    weft::entity target = world.create(Position{5, 5});
    Link link;
    link.inner.target = target;
    weft::entity e = world.create(link);
    world.name(e, "linked");
    char path[] = "/tmp/weft_values_XXXXXX";
    CHECK(mkstemp(path) >= 0);
    world.save(path);
    weft_world_desc desc = {};
    desc.entity_tag = 5;
    weft::world other(desc);
    other.component<Link>();
    other.component<Position>();
    other.load(path);
    std::remove(path);
    weft::entity found = other.find("linked");
    CHECK(!weft_entity_is_null(found) && found != e);
    CHECK(other.read<Position>(other.read<Link>(found)->inner.target)->x == 5);
}

static void entities_are_values()
{
    weft::world world;
    std::unordered_set<weft::entity> known;
    for (int i = 0; i < 100; i++) known.insert(world.create(Position{}));
    weft::entity first = *known.begin();
    CHECK(known.size() == 100 && known.count(first) == 1 && first == *known.begin());
    CHECK(known.count(world.create(Position{})) == 0 && first != weft::entity{});
}

static void owners_have_no_addresses_in_hashes()
{
    weft::world first, second, third;
    first.create(Unique{std::make_unique<int>(1)}, Position{1, 2});
    second.create(Unique{std::make_unique<int>(1)}, Position{1, 2});
    third.create(Unique{std::make_unique<int>(1)}, Position{1, 3});
    CHECK(first.hash() == second.hash() && first.hash(WEFT_HASH_CONTENT) == second.hash(WEFT_HASH_CONTENT));
    CHECK(first.hash() != third.hash());
}

int main()
{
    values_begin_with_their_initialisers();
    commands_own_what_they_copy();
    a_copy_that_throws_leaves_whole_rows();
    values_that_cannot_be_copied_have_one_owner();
    names_are_unique_for_types();
    described_types_are_translated();
    entities_are_values();
    owners_have_no_addresses_in_hashes();
    std::printf("%d failures\n", failures);
    return failures != 0;
}
