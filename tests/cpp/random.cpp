// SPDX-License-Identifier: MIT
// random.cpp [seconds N | SEED ...]: draws calls of weft.hpp over fixed types: plain ones, tags, values
// with owners, values whose copies throw, SHARED, CHUNK, SPARSE, BUFFER, ENABLEABLE, described, large and
// aligned ones, resources and relations; in several worlds, on several workers. A model says what each
// world holds, and all of it is compared after every call; owners are counted at the end of each seed.
// Exceptions are answers (-fno-exceptions: codes); a wrong value ends the program with the seed and the call.
#include <weft/weft.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>

namespace
{

/* ---- the types ---- */

std::atomic<int64_t> cells;            /* values that own something */
std::atomic<int> copies_left{1 << 30}; /* of Thrower, until one throws */
constexpr uint32_t WHOLE = 0x5eed1e55;

struct copy_fault {
};
#ifdef WEFT_NO_EXCEPTIONS
constexpr bool can_throw = false;
template <class E> void raise(const E &)
{
    std::abort();
}
#else
constexpr bool can_throw = true;
template <class E> [[noreturn]] void raise(const E &what)
{
    throw what;
}
#endif
/* The next copy of a Thrower but `after` throws, if `should`. */
void let_copies_throw(bool should, int after = 0)
{
    copies_left = can_throw && should ? after : 1 << 30;
}

/* Owns a cell on the heap; two owners of one are found by AddressSanitizer, or by `whole`. */
template <bool throws> struct owner {
    struct cell {
        int value;
        uint32_t whole = WHOLE;
    };
    cell *own;
    owner() noexcept : own(new cell{7}) { cells++; }
    explicit owner(int value) : own(new cell{value}) { cells++; }
    owner(const owner &other) : own(nullptr)
    {
        if (throws && copies_left-- <= 0) raise(copy_fault());
        own = new cell(*other.own);
        cells++;
    }
    owner(owner &&other) noexcept : owner() { std::swap(own, other.own); }
    owner &operator=(const owner &other)
    {
        if (throws && copies_left-- <= 0) raise(copy_fault());
        own->value = other.own->value;
        return *this;
    }
    owner &operator=(owner &&other) noexcept
    {
        std::swap(own, other.own);
        return *this;
    }
    ~owner()
    {
        if (own->whole != WHOLE) std::fprintf(stderr, "a value ended twice\n"), std::abort();
        own->whole = 0;
        delete own;
        cells--;
    }
};

struct Id {
    int v;
};
struct Plain {
    int v;
};
struct Begun {
    float scale = 2;
    int v = 100;
};
struct Counted : owner<false> {
    using owner::owner;
};
struct Thrower : owner<true> {
    using owner::owner;
};
struct Unique {
    std::unique_ptr<int> own;
};
struct Saved : owner<false> {
    using owner::owner;
};
struct Tag {};
struct OtherTag {};
struct Team {
    int v;
};
struct Sum {
    int v;
};
struct Heat {
    int v;
};
struct SparseOwner : owner<false> {
    using owner::owner;
};
struct SparseThrower : owner<true> {
    using owner::owner;
};
struct Shield {
    int v;
};
struct ShieldOwner : owner<false> {
    using owner::owner;
};
struct Link {
    weft::entity to = {};
    int v = 0;
};
struct Orbit {
    weft::entity centre = {};
};
struct Big {
    int v;
    char bytes[1000];
};
struct alignas(64) Aligned {
    int v;
};
struct Alone {
    int v;
};
struct Stops {
    int v;
};
struct Parts : owner<false> {
    using owner::owner;
};
struct Score {
    int64_t rows;
};
struct Cache : owner<false> {
    using owner::owner;
};
struct Events {
    int v;
};

} // namespace

#define WEFT_RANDOM_TRAITS(T, kinds, moves)                                                        \
    template <> struct weft::component_traits<T> : weft::component_defaults<T> {                   \
        static constexpr uint32_t flags = kinds;                                                   \
        static constexpr bool is_relocatable = moves;                                              \
    }
WEFT_RANDOM_TRAITS(Unique, WEFT_DATA, true);
WEFT_RANDOM_TRAITS(Team, WEFT_SHARED, true);
WEFT_RANDOM_TRAITS(Sum, WEFT_CHUNK, true);
WEFT_RANDOM_TRAITS(Heat, WEFT_SPARSE, true);
WEFT_RANDOM_TRAITS(SparseOwner, WEFT_SPARSE, true);
WEFT_RANDOM_TRAITS(Shield, WEFT_ENABLEABLE, true);
WEFT_RANDOM_TRAITS(Alone, WEFT_NOT_COPIED, true);
WEFT_RANDOM_TRAITS(Stops, WEFT_BUFFER, true);
WEFT_RANDOM_TRAITS(Score, WEFT_RESOURCE, true);
WEFT_RANDOM_TRAITS(Events, WEFT_RESOURCE | WEFT_BUFFER, true);
template <class T> struct saved_traits : weft::component_defaults<T> {
    static constexpr bool is_relocatable = true;
    static std::size_t save(const T &value, void *out, std::size_t capacity)
    {
        if (capacity >= sizeof(int)) std::memcpy(out, &value.own->value, sizeof(int));
        return sizeof(int);
    }
    static bool load(T &value, const void *bytes, std::size_t count)
    {
        if (count == sizeof(int)) std::memcpy(&value.own->value, bytes, count);
        return count == sizeof(int);
    }
};
#define WEFT_RANDOM_SAVED(T, kinds)                                                                \
    template <> struct weft::component_traits<T> : saved_traits<T> {                               \
        static constexpr uint32_t flags = kinds;                                                   \
    }
WEFT_RANDOM_SAVED(Counted, WEFT_DATA);
WEFT_RANDOM_SAVED(Thrower, WEFT_DATA);
WEFT_RANDOM_SAVED(Saved, WEFT_DATA);
WEFT_RANDOM_SAVED(SparseThrower, WEFT_SPARSE);
WEFT_RANDOM_SAVED(ShieldOwner, WEFT_ENABLEABLE);
WEFT_RANDOM_SAVED(Parts, WEFT_BUFFER);
WEFT_RANDOM_SAVED(Cache, WEFT_RESOURCE);
WEFT_DESCRIBE(Link, to, v);
WEFT_DESCRIBE(Orbit, centre);

namespace
{

/* ---- a value of any type as a number ---- */

template <class T> T make(int v)
{
    if constexpr (std::is_empty_v<T>)
        return T{};
    else if constexpr (std::is_same_v<T, Unique>)
        return Unique{std::make_unique<int>(v)};
    else if constexpr (std::is_constructible_v<T, int>)
        return T(v);
    else {
        T made = {};
        made.v = v;
        if constexpr (std::is_same_v<T, Big>) std::memset(made.bytes, v & 127, sizeof made.bytes);
        return made;
    }
}
template <class T> int number(const T &value)
{
    if constexpr (std::is_empty_v<T>)
        return 0;
    else if constexpr (std::is_same_v<T, Unique>)
        return value.own ? *value.own : 0;
    else if constexpr (std::is_base_of_v<owner<false>, T> || std::is_base_of_v<owner<true>, T>)
        return value.own->whole == WHOLE ? value.own->value : -12345;
    else {
        if constexpr (std::is_same_v<T, Big>)
            for (char byte : value.bytes)
                if (byte != (value.v & 127)) return -12346;
        return value.v;
    }
}
template <class T> void assign(T &value, int v)
{
    if constexpr (std::is_same_v<T, Link>)
        value.v = v;
    else
        value = make<T>(v);
}

/* What drawn calls are made of: those of values, one by one. */
template <class... Ts> struct types {
    static constexpr std::size_t count = sizeof...(Ts);
    /* function(static_cast<T *>(nullptr)) of type `number`. */
    template <class F> static void at(std::size_t number, F &&function)
    {
        std::size_t i = 0;
        ((i++ == number ? function(static_cast<Ts *>(nullptr)) : (void)0), ...);
    }
    template <class F> static void each(F &&function)
    {
        std::size_t i = 0;
        (function(i++, static_cast<Ts *>(nullptr)), ...);
    }
};
using all = types<Plain, Begun, Counted, Thrower, Unique, Saved, Tag, OtherTag, Team, Heat, SparseOwner,
                  Shield, ShieldOwner, Link, Big, Aligned, Alone, Sum, Stops, Parts,
                  SparseThrower>;
template <class T> constexpr uint32_t flags = weft::component_traits<T>::flags;
template <class T> constexpr bool is_buffer = (flags<T> & WEFT_BUFFER) != 0;
template <class T> constexpr bool is_chunk = (flags<T> & WEFT_CHUNK) != 0;
template <class T> constexpr bool is_enableable = (flags<T> & WEFT_ENABLEABLE) != 0;
template <class T> constexpr int initial()
{
    if (std::is_same_v<T, Begun>) return 100;
    return std::is_base_of_v<owner<false>, T> || std::is_base_of_v<owner<true>, T> ? 7 : 0;
}
template <class T> std::size_t type_index()
{
    std::size_t found = all::count;
    all::each([&](std::size_t i, auto *of) {
        if (std::is_same_v<std::remove_pointer_t<decltype(of)>, T>) found = i;
    });
    return found;
}

/* ---- the model ---- */

struct value {
    bool is_there = false, is_enabled = true;
    int v = 0;
    std::vector<int> elements;
};
struct thing {
    weft::entity handle = {};
    value of[all::count];
    int link = -1; /* the id that Link leads to; -1: none, -2: one that has gone */
    weft::entity link_handle = {};
    int centre = -1; /* of Orbit; has it: has_orbit */
    bool has_orbit = false;
};
using things = std::map<int, thing>; /* by Id */
struct resources {
    int64_t rows = 0;
    int cache = 7;
    std::vector<int> events;
};

/* A drawn command, on the entity that records it. */
struct command {
    enum { add, set, remove, destroy, enable, create, append, kinds } kind;
    std::size_t type;
    int v;
};

uint64_t seed, random_state;
const char *at_call = "";
int calls;

uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return below == 0 ? 0 : static_cast<uint32_t>(random_state >> 33) % below;
}
[[noreturn]] void wrong(const char *what, int id, const char *type, long is, long should)
{
    std::printf("random: seed %llu, call %d (%s): %s: id %d, %s: is %ld, should be %ld\n"
                "again: test_random_cpp %llu\n",
                static_cast<unsigned long long>(seed), calls, at_call, what, id, type, is, should,
                static_cast<unsigned long long>(seed)), std::fflush(stdout);
    std::abort();
}

/* ---- a world and its model ---- */

struct place {
    weft::world world;
    things model;
    resources res;
    int next_id = 1;
    std::map<int, std::vector<command>> drawn; /* what the system "commands" records, by Id */
    int throws_at = 0;                         /* the id at which the system "throws" does */
    std::set<std::pair<uint32_t, uint32_t>> seen_tags; /* with Tag when observers last ran */
    std::atomic<int> told_added{0}, told_removed{0};
    int due_added = 0, due_removed = 0;
    weft_component orbit = {};

    explicit place(const weft_world_desc &desc) : world(desc) { prepare(); }
    void prepare();
    thing &any()
    {
        auto it = model.begin();
        std::advance(it, draw(static_cast<uint32_t>(model.size())));
        return it->second;
    }
    int id_of(const thing &t) const
    {
        for (auto &[id, other] : model)
            if (&other == &t) return id;
        return -1;
    }
    /* A new entity has handle `made`, and Id `id`. */
    thing &adopt(int id, weft::entity made)
    {
        thing &t = model[id];
        t.handle = made;
        return t;
    }
    template <class T> value &of(thing &t) { return t.of[type_index<T>()]; }
    void died(int id)
    {
        model.erase(id);
        for (auto &[_, t] : model) {
            if (t.centre == id) t.centre = -1;
            if (t.link == id) t.link = -2;
        }
    }
    void observed()
    {
        decltype(seen_tags) now;
        for (auto &[_, t] : model)
            if (t.of[type_index<Tag>()].is_there) now.insert({t.handle.index, t.handle.version});
        for (auto &handle : now) due_added += seen_tags.count(handle) == 0;
        for (auto &handle : seen_tags) due_removed += now.count(handle) == 0;
        seen_tags = std::move(now);
    }
    void record(weft::entity e, const Id &id, weft::commands &c) const;
    static void model_set(thing &t, std::size_t type, int v);
    static void model_add(thing &t, std::size_t type);
    void draw_commands();
    void model_commands();
    void model_step();
    void find_handles();
    template <class T> void check_value(const thing &t, int id, const value &should);
    template <class T> void resync(thing &t, int id)
    {
        if (!of<T>(t).is_there) return;
        int v = number(*world.read<T>(t.handle));
        if (v != initial<T>() && v != of<T>(t).v) wrong("restored", id, "", v, of<T>(t).v);
        of<T>(t).v = v;
    }
    void check();
};

void place::prepare()
{
    world.component<Id>();
    all::each([&](std::size_t, auto *of) { world.component<std::remove_pointer_t<decltype(of)>>(); });
    world.component<Events>();
    (void)world.resource<Score>();
    (void)world.resource<Cache>();
    orbit = world.relation<Orbit>();
    place *me = this;
    world.system("plain").each([](Plain &p, const Begun *b) { p.v += b != nullptr ? 2 : 1; });
    world.system("owners").after("plain").each([](Counted &c, const Plain &p) {
        c.own->value = p.v * 3;
    });
    world.system("heat").after("owners").each([](Heat &h, const Counted &c, SparseOwner *s) {
        h.v = c.own->value + 1;
        if (s != nullptr) s->own->value = h.v;
    });
    world.system("shields").after("heat").each([](Shield &s, ShieldOwner *o) {
        s.v++;
        if (o != nullptr) o->own->value++;
    });
    world.system("stops").after("shields").each([](weft::buffer<Stops> stops, const Id &id) {
        if (stops.size() < 20) stops.push_back(Stops{id.v});
    });
    world.system("parts").after("stops").each(
        [](weft::buffer<Parts> parts, weft::buffer<const Stops> stops) {
            if (parts.size() > 5) parts.erase(1);
            if (!stops.empty()) parts.insert(0, make<Parts>(stops.back().v));
        });
    world.system("links").after("parts").each([](Link &l, weft::lookup<const Aligned> all_aligned) {
        const Aligned *found = all_aligned[l.to];
        if (found != nullptr) l.v = found->v;
    });
    world.system("count")
        .over<const Id>()
        .maybe<const Plain>()
        .resources<Score>()
        .flags(WEFT_SYSTEM_SERIAL)
        .run([me](weft_slice &s) {
            static_cast<Score *>(weft_slice_write_resource(&s, me->world.component<Score>()))->rows +=
                s.count;
        });
    world.system("once").after("count").each(
        [](weft::resource<Cache> cache, weft::resource<weft::buffer<Events>> events,
           weft::resource<const Score> score) {
            cache->own->value = static_cast<int>(score->rows % 1000);
            events->push_back(Events{static_cast<int>(score->rows % 7)});
            if (events->size() > 9) events->clear();
        });
    world.system("throws").after("once").each([me](const Id &id) {
        if (id.v == me->throws_at) raise(id.v);
    });
    world.system("commands")
        .after("throws")
        .records<Plain, Begun, Counted, Thrower, Unique, Saved, Tag, OtherTag, Team, Heat, SparseOwner,
                 Shield, ShieldOwner, Link, Big, Aligned, Alone, Sum, Stops, Parts, SparseThrower, Id>(
            WEFT_RECORDS_ANY)
        .destroys<Id, Plain, Begun, Counted, Thrower, Unique, Saved, Tag, OtherTag, Team, Heat,
                  SparseOwner, Shield, ShieldOwner, Link, Big, Aligned, Alone, Sum, Stops, Parts, SparseThrower,
                  Orbit>()
        .each([me](weft::entity e, const Id &id, weft::commands &c) { me->record(e, id, c); });
    world.observe<Tag>("added").added([me](weft::entity) { me->told_added++; });
    world.observe<Tag>("removed").removed([me](weft::entity) { me->told_removed++; });
}

void place::record(weft::entity e, const Id &id, weft::commands &c) const
{
    auto found = drawn.find(id.v);
    if (found == drawn.end()) return;
    for (const command &one : found->second) {
        if (one.kind == command::destroy) c.destroy(e);
        if (one.kind == command::create)
            c.create(Id{one.v}, Plain{one.v}, make<Counted>(one.v), Tag{}, make<SparseOwner>(one.v));
        all::at(one.type, [&](auto *of) {
            using T = std::remove_pointer_t<decltype(of)>;
            if (one.kind == command::add) c.entity(e).template add<T>();
            if (one.kind == command::remove) c.template remove<T>(e);
            if constexpr (is_enableable<T>)
                if (one.kind == command::enable) c.template enable<T>(e, (one.v & 1) != 0);
            if constexpr (std::is_same_v<T, Stops>) {
                if (one.kind == command::append) c.append(e, {Stops{one.v}, Stops{one.v + 1}});
            } else if constexpr (!is_buffer<T> && !is_chunk<T>)
                if (one.kind == command::set) c.set(e, make<T>(one.v));
        });
    }
}

/* ---- what the model does ---- */

template <class T> void has_initial(value &of)
{
    if (of.is_there) return;
    of = value();
    of.is_there = true;
    of.v = initial<T>();
}
void place::model_set(thing &t, std::size_t type, int v)
{
    all::at(type, [&](auto *of) {
        using T = std::remove_pointer_t<decltype(of)>;
        has_initial<T>(t.of[type]);
        t.of[type].v = std::is_empty_v<T> ? 0 : v;
        if (std::is_same_v<T, Link>) t.link = -1, t.link_handle = {};
    });
}
void place::model_add(thing &t, std::size_t type)
{
    if (t.of[type].is_there) return;
    all::at(type, [&](auto *of) {
        using T = std::remove_pointer_t<decltype(of)>;
        has_initial<T>(t.of[type]);
        if (std::is_same_v<T, Link>) t.link = -1, t.link_handle = {};
    });
}

/* Draws what may be recorded on an entity, by what it would be then. */
void place::draw_commands()
{
    drawn.clear();
    for (auto &[id, real] : model) {
        if (draw(3) != 0) continue;
        thing t = real;
        for (uint32_t i = draw(6); i > 0; i--) {
            command one = {static_cast<decltype(command::kind)>(draw(command::kinds)), draw(all::count),
                           static_cast<int>(draw(1000))};
            bool is_good = true;
            all::at(one.type, [&](auto *of) {
                using T = std::remove_pointer_t<decltype(of)>;
                value &v = t.of[one.type];
                if (one.kind == command::add) model_add(t, one.type);
                if (one.kind == command::set) {
                    is_good = !is_buffer<T> && !is_chunk<T>;
                    if (is_good) model_set(t, one.type, one.v);
                }
                if (one.kind == command::remove) is_good = v.is_there, v.is_there = false;
                if (one.kind == command::enable) is_good = is_enableable<T> && v.is_there;
                if (one.kind == command::append) is_good = std::is_same_v<T, Stops> && v.is_there;
                if (one.kind == command::create) one.v = next_id++;
                if (one.kind == command::destroy) is_good = draw(4) == 0;
            });
            if (!is_good) continue;
            drawn[id].push_back(one);
            if (one.kind == command::destroy) break;
        }
    }
}
void place::model_commands()
{
    std::vector<int> dead;
    for (auto &[id, list] : drawn) {
        auto found = model.find(id);
        if (found == model.end()) continue;
        for (const command &one : list) {
            thing &t = found->second;
            value &v = t.of[one.type];
            if (one.kind == command::add) model_add(t, one.type);
            if (one.kind == command::set) model_set(t, one.type, one.v);
            if (one.kind == command::remove) v.is_there = false;
            if (one.kind == command::enable) v.is_enabled = (one.v & 1) != 0;
            if (one.kind == command::append) {
                v.elements.push_back(one.v);
                v.elements.push_back(one.v + 1);
            }
            if (one.kind == command::destroy) dead.push_back(id);
            if (one.kind == command::create) {
                thing &made = model[one.v];
                model_set(made, type_index<Plain>(), one.v);
                model_set(made, type_index<Counted>(), one.v);
                model_set(made, type_index<Tag>(), 0);
                model_set(made, type_index<SparseOwner>(), one.v);
            }
        }
    }
    drawn.clear();
    for (int id : dead) died(id);
}
/* Finds the handles of entities by their Ids. */
void place::find_handles()
{
    std::set<int> seen;
    world.each([&](weft::entity e, const Id &id) {
        auto found = model.find(id.v);
        if (found == model.end()) wrong("an entity that should not be", id.v, "Id", 1, 0);
        if (!seen.insert(id.v).second) wrong("an entity is there twice", id.v, "Id", 2, 1);
        found->second.handle = e;
    });
    if (seen.size() != model.size())
        wrong("entities", 0, "Id", static_cast<long>(seen.size()), static_cast<long>(model.size()));
    for (auto &[id, t] : model)
        if (t.link >= 0) t.link_handle = model[t.link].handle;
}
void place::model_step()
{
    for (auto &[id, t] : model) {
        value &plain = of<Plain>(t), &counted = of<Counted>(t), &heat = of<Heat>(t);
        if (plain.is_there) plain.v += of<Begun>(t).is_there ? 2 : 1;
        if (plain.is_there && counted.is_there) counted.v = plain.v * 3;
        if (heat.is_there && counted.is_there) {
            heat.v = counted.v + 1;
            of<SparseOwner>(t).v = heat.v;
        }
        if (of<Shield>(t).is_there && of<Shield>(t).is_enabled) {
            of<Shield>(t).v++;
            of<ShieldOwner>(t).v++;
        }
        std::vector<int> &stops = of<Stops>(t).elements, &parts = of<Parts>(t).elements;
        if (of<Stops>(t).is_there && stops.size() < 20) stops.push_back(id);
        if (of<Stops>(t).is_there && of<Parts>(t).is_there) {
            if (parts.size() > 5) parts.erase(parts.begin() + 1);
            if (!stops.empty()) parts.insert(parts.begin(), stops.back());
        }
        if (of<Link>(t).is_there && t.link >= 0 && of<Aligned>(model[t.link]).is_there)
            of<Link>(t).v = of<Aligned>(model[t.link]).v;
    }
    res.rows += static_cast<int64_t>(model.size());
    res.cache = static_cast<int>(res.rows % 1000);
    res.events.push_back(static_cast<int>(res.rows % 7));
    if (res.events.size() > 9) res.events.clear();
    model_commands();
}

template <class T> void place::check_value(const thing &t, int id, const value &should)
{
    const char *name = weft::component_traits<T>::name();
    weft::entity_ref e = world.entity(t.handle);
    if (e.has<T>() != should.is_there) wrong("has", id, name, e.has<T>(), should.is_there);
    if (!should.is_there) return;
    if constexpr (is_buffer<T>) {
        weft::buffer<const T> is = world.buffer<const T>(e);
        if (is.size() != should.elements.size())
            wrong("length", id, name, is.size(), static_cast<long>(should.elements.size()));
        for (uint32_t i = 0; i < is.size(); i++)
            if (number(is[i]) != should.elements[i])
                wrong("element", id, name, number(is[i]), should.elements[i]);
    } else if constexpr (!std::is_empty_v<T> && !is_chunk<T>) {
        const T *is = e.try_get<const T>();
        if (is == nullptr) wrong("value", id, name, 0, 1);
        if (number(*is) != should.v) wrong("value", id, name, number(*is), should.v);
        if constexpr (std::is_same_v<T, Begun>)
            if (is->scale != 2) wrong("scale", id, name, static_cast<long>(is->scale), 2);
        if constexpr (std::is_same_v<T, Link>)
            if (is->to != t.link_handle)
                wrong("link", id, name, static_cast<long>(is->to.version) << 32 | is->to.index,
                      static_cast<long>(t.link_handle.version) << 32 | t.link_handle.index);
    }
    if constexpr (is_enableable<T>) {
        bool is = weft_entity_is_enabled(world.get(), t.handle, world.component<T>());
        if (is != should.is_enabled) wrong("enabled", id, name, is, should.is_enabled);
    }
}
void place::check()
{
    if (model.size() > 300 && calls % 16 != 0) return;
    std::map<int, int> sources;
    for (auto &[id, t] : model) {
        const Id *is = world.is_alive(t.handle) ? world.read<Id>(t.handle) : nullptr;
        if (is == nullptr || is->v != id) wrong("entity", id, "Id", is == nullptr ? 0 : is->v, id);
        all::each([&, &i = id, &thing = t](std::size_t type, auto *of) {
            check_value<std::remove_pointer_t<decltype(of)>>(thing, i, thing.of[type]);
        });
        if (world.has<Orbit>(t.handle) != t.has_orbit) wrong("relation", id, "Orbit", !t.has_orbit, t.has_orbit);
        if (t.has_orbit && t.centre >= 0) sources[t.centre]++;
    }
    world.settle();
    for (auto &[id, t] : model) {
        uint32_t count = world.sources(orbit, t.handle).size();
        if (count != static_cast<uint32_t>(sources[id])) wrong("sources", id, "Orbit", count, sources[id]);
        for (weft::entity source : world.sources(orbit, t.handle))
            if (world.entity(source).target(orbit).id() != t.handle) wrong("target", id, "Orbit", 0, 1);
    }
    uint64_t rows = world.query().each([](const Id &) {}).count();
    if (rows != model.size()) wrong("rows", 0, "Id", static_cast<long>(rows), static_cast<long>(model.size()));
    all::each([&](std::size_t type, auto *of) {
        long count = 0, should = 0;
        world.query().with<std::remove_pointer_t<decltype(of)>>().ignores_enabled().each(
            [&](const Id &) { count++; })();
        for (auto &[_, t] : model) should += t.of[type].is_there;
        if (count != should)
            wrong("rows of a query", 0, weft::component_traits<std::remove_pointer_t<decltype(of)>>::name(), count, should);
    });
    if (world.resource<Score>().rows != res.rows) wrong("resource", 0, "Score", world.resource<Score>().rows, res.rows);
    if (number(world.resource<Cache>()) != res.cache) wrong("resource", 0, "Cache", number(world.resource<Cache>()), res.cache);
    auto events = world.buffer<const Events>();
    if (events.size() != res.events.size()) wrong("events", 0, "Events", events.size(), static_cast<long>(res.events.size()));
    for (uint32_t i = 0; i < events.size(); i++)
        if (events[i].v != res.events[i]) wrong("event", 0, "Events", events[i].v, res.events[i]);
    if (told_added != due_added) wrong("observed", 0, "Tag added", told_added, due_added);
    if (told_removed != due_removed) wrong("observed", 0, "Tag removed", told_removed, due_removed);
}

/* ---- calls ---- */

enum outcome { DONE, REFUSED, THROWN };
weft_result code_of(weft_result code) { return code; }
weft_result code_of(weft::entity made) { return weft_entity_is_null(made) ? WEFT_NOT_FOUND : WEFT_OK; }
/* What came of a call that returns its code, or an entity. */
template <class F> outcome tried(F &&function, weft_result *code = nullptr)
{
#ifdef WEFT_NO_EXCEPTIONS
    weft_result is = code_of(function());
    if (code != nullptr) *code = is;
    return is == WEFT_OK ? DONE : REFUSED;
#else
    try {
        if (code_of(function()) != WEFT_OK) wrong("a code, and no exception", 0, "", 1, 0);
    } catch (const weft::error &e) {
        if (e.what()[0] == 0) wrong("an error without text", 0, "", e.code(), 0);
        if (code != nullptr) *code = e.code();
        return REFUSED;
    } catch (const copy_fault &) {
        return THROWN;
    }
    return DONE;
#endif
}
void expect(outcome is, outcome should)
{
    if (is != should) wrong("outcome", 0, "0 done, 1 refused, 2 thrown", is, should);
}

void call_create(place &p)
{
    int id = p.next_id++, v = static_cast<int>(draw(1000));
    weft::world &w = p.world;
    weft::entity made = {};
    thing t;
    auto has = [&](auto *of, int number) {
        place::model_set(t, type_index<std::remove_pointer_t<decltype(of)>>(), number);
    };
    thing *other = p.model.empty() ? nullptr : &p.any();
    switch (draw(8)) {
    case 0:
        made = w.create();
        w.set(made, Id{id});
        break;
    case 1:
        made = w.create(Plain{v}, Id{id});
        has((Plain *)nullptr, v);
        break;
    case 2:
        made = w.create(Id{id}, make<Counted>(v), Team{v % 3}, make<Saved>(v));
        has((Counted *)nullptr, v), has((Team *)nullptr, v % 3), has((Saved *)nullptr, v);
        break;
    case 3:
        made = w.create(Id{id}, make<Unique>(v), Tag{}, make<Big>(v));
        has((Unique *)nullptr, v), has((Tag *)nullptr, 0), has((Big *)nullptr, v);
        break;
    case 4: {
        Thrower given = make<Thrower>(v);
        let_copies_throw(true, static_cast<int>(draw(2)));
        outcome is = tried([&] { return made = w.create(Id{id}, Begun{2, v}, given); });
        expect(is, copies_left < 0 ? THROWN : DONE);
        copies_left = 1 << 30;
        if (is == THROWN) return;
        has((Thrower *)nullptr, v), has((Begun *)nullptr, v);
        break;
    }
    case 5:
        made = w.create(Id{id}, Heat{v}, make<SparseOwner>(v), Shield{v}, make<ShieldOwner>(v));
        has((Heat *)nullptr, v), has((SparseOwner *)nullptr, v), has((Shield *)nullptr, v);
        has((ShieldOwner *)nullptr, v);
        break;
    case 6:
        if (other == nullptr) return;
        made = w.create(Id{id}, Link{other->handle, v}, make<Aligned>(v), Alone{v});
        has((Link *)nullptr, v), has((Aligned *)nullptr, v), has((Alone *)nullptr, v);
        t.link = p.id_of(*other), t.link_handle = other->handle;
        break;
    default: /* of values that lie in the world */
        if (other == nullptr || !p.of<Counted>(*other).is_there || !p.of<Heat>(*other).is_there) return;
        made = w.create(Id{id}, *w.read<Counted>(other->handle), *w.read<Heat>(other->handle));
        has((Counted *)nullptr, p.of<Counted>(*other).v), has((Heat *)nullptr, p.of<Heat>(*other).v);
    }
    t.handle = made;
    p.model[id] = t;
}

void call_create_many(place &p)
{
    weft::entity made[9];
    uint32_t count = draw(9);
    p.world.create_many<Id, Begun, Counted, OtherTag>(count, made);
    for (uint32_t i = 0; i < count; i++) {
        int id = p.next_id++;
        p.world.set(made[i], Id{id});
        thing &t = p.adopt(id, made[i]);
        place::model_add(t, type_index<Begun>());
        place::model_add(t, type_index<Counted>());
        place::model_add(t, type_index<OtherTag>());
    }
}

void call_change(place &p)
{
    thing &t = p.any();
    std::size_t type = draw(all::count);
    int v = static_cast<int>(draw(1000));
    weft::entity_ref e = p.world.entity(t.handle);
    value &model = t.of[type];
    all::at(type, [&](auto *of) {
        using T = std::remove_pointer_t<decltype(of)>;
        switch (draw(7)) {
        case 0:
            e.add<T>();
            place::model_add(t, type);
            break;
        case 1:
            if constexpr (!is_buffer<T> && !is_chunk<T>) {
                e.set(make<T>(v));
                place::model_set(t, type, v);
            }
            break;
        case 2: {
            outcome is = tried([&] { return p.world.remove<T>(e); });
            if (is == REFUSED && model.is_there) wrong("remove", 0, "refused", 1, 0);
            model.is_there = false;
            break;
        }
        case 3:
            if constexpr (is_enableable<T>)
                if (model.is_there) {
                    model.is_enabled = v & 1;
                    e.enable<T>((v & 1) != 0);
                }
            break;
        case 4: /* a copy, of a value in the world if there is one */
            if constexpr (!is_buffer<T> && !is_chunk<T> && !std::is_empty_v<T> && !std::is_same_v<T, Unique>) {
                thing &from = p.any();
                const T *value = p.world.read<T>(from.handle);
                if (value == nullptr) break;
                int is = number(*value), link = from.link;
                weft::entity link_handle = from.link_handle;
                let_copies_throw(draw(2) == 0);
                outcome done = tried([&] { return p.world.set(e, *value); });
                expect(done, copies_left < 0 ? THROWN : DONE);
                copies_left = 1 << 30;
                if (done == THROWN) break;
                place::model_set(t, type, is);
                if (std::is_same_v<T, Link>) t.link = link, t.link_handle = link_handle;
            }
            break;
        case 5:
            if constexpr (is_buffer<T>) {
                auto buffer = p.world.buffer<T>(e);
                if (!model.is_there) {
                    if (buffer) wrong("buffer", 0, "absent", 1, 0);
                    break;
                }
                std::vector<int> &should = model.elements;
                for (uint32_t i = draw(12); i > 0; i--) {
                    uint32_t at = draw(buffer.size() + 1);
                    v++;
                    switch (draw(6)) {
                    case 0: buffer.push_back(make<T>(v)), should.push_back(v); break;
                    case 1: buffer.insert(at, make<T>(v)), should.insert(should.begin() + at, v); break;
                    case 2:
                        if (at < buffer.size()) buffer.erase(at), should.erase(should.begin() + at);
                        break;
                    case 3:
                        if (at < buffer.size()) buffer.push_back(buffer[at]), should.push_back(should[at]);
                        break;
                    case 4: buffer.resize(at), should.resize(at, initial<T>()); break;
                    default: buffer.reserve(at);
                    }
                }
            } else if constexpr (!std::is_empty_v<T> && !is_chunk<T> && (flags<T> & WEFT_SHARED) == 0) {
                T *value = e.try_get<T>();
                if ((value != nullptr) != model.is_there) wrong("write", 0, "", value != nullptr, model.is_there);
                if (value != nullptr) assign(*value, v), model.v = v;
            }
            break;
        default:
            if constexpr (!is_buffer<T> && !is_chunk<T> && std::is_constructible_v<T, int>) {
                p.world.add<T>(e, v);
                place::model_set(t, type, v);
            }
        }
    });
}

void call_dead(place &p)
{
    weft::entity dead = p.world.create(Plain{});
    p.world.destroy(dead);
    std::size_t type = draw(all::count);
    all::at(type, [&](auto *of) {
        using T = std::remove_pointer_t<decltype(of)>;
        weft::entity_ref e = p.world.entity(dead);
        if (e || e.has<T>()) wrong("a dead entity", 0, "has", 1, 0);
        expect(tried([&] { return p.world.add<T>(e); }), REFUSED);
        if constexpr (!is_buffer<T> && !is_chunk<T>) expect(tried([&] { return p.world.set(e, make<T>(3)); }), REFUSED);
        if constexpr (!is_buffer<T> && !is_chunk<T> && !std::is_empty_v<T>)
            if (can_throw)
                expect(tried([&] { return (void)e.get<const T>(), WEFT_OK; }), REFUSED);
        if constexpr (is_buffer<T>)
            expect(tried([&] { return p.world.buffer<T>(e).push_back(make<T>(3)); }), REFUSED);
    });
    expect(tried([&] { return p.world.instantiate(dead); }), REFUSED);
}

void call_destroy(place &p)
{
    thing &t = p.any();
    p.world.destroy(t.handle);
    p.died(p.id_of(t));
}

void call_instantiate(place &p)
{
    thing &from = p.any();
    int source = p.id_of(from), id = p.next_id++;
    weft::entity made = {};
    let_copies_throw(draw(4) == 0);
    outcome is = tried([&] { return made = p.world.instantiate(from.handle); });
    expect(is, p.of<Unique>(from).is_there ? REFUSED : copies_left < 0 ? THROWN : DONE);
    bool is_new_value = copies_left < 0;
    copies_left = 1 << 30;
    if (is == REFUSED) return;
    thing t = from;
    p.of<Alone>(t) = value();
    if (is == THROWN) { /* it is there, with a new value where the copy threw */
        p.world.each([&](weft::entity e, const Id &of) {
            if (of.v == source && e != p.model[source].handle) made = e;
        });
        if (weft_entity_is_null(made)) wrong("the copy", source, "", 0, 1);
    }
    if (is_new_value) p.of<Thrower>(t).v = p.of<SparseThrower>(t).v = initial<Thrower>();
    p.world.set(made, Id{id});
    if (t.link == source) t.link = id, t.link_handle = made;
    t.handle = made;
    p.model[id] = t;
}

void call_relate(place &p)
{
    thing &a = p.any(), &b = p.any();
    if (&a == &b) return;
    p.world.entity(a.handle).relate(p.orbit, b.handle);
    a.has_orbit = true;
    a.centre = p.id_of(b);
}

void call_link(place &p)
{
    thing &a = p.any(), &b = p.any();
    int v = static_cast<int>(draw(100));
    p.world.set(a.handle, Link{b.handle, v});
    place::model_set(a, type_index<Link>(), v);
    a.link = p.id_of(b), a.link_handle = b.handle;
}

void call_loop(place &p)
{
    p.draw_commands();
    if (can_throw && draw(4) == 0) { /* what a loop recorded that throws is dropped */
        expect(tried([&] {
                   return p.world.each([&](weft::entity e, const Id &id, weft::commands &c) {
                       p.record(e, id, c);
                       if (id.v % 3 == 0) raise(copy_fault());
                   }), WEFT_OK;
               }),
               std::any_of(p.model.begin(), p.model.end(), [](auto &of) { return of.first % 3 == 0; }) ? THROWN : DONE);
        bool is_dropped = std::any_of(p.model.begin(), p.model.end(), [](auto &of) { return of.first % 3 == 0; });
        if (is_dropped)
            p.drawn.clear();
        else
            p.model_commands();
    } else {
        p.world.each([&](weft::entity e, const Id &id, weft::commands &c) { p.record(e, id, c); });
        p.model_commands();
    }
    p.find_handles();
}

void call_view(place &p)
{
    int left = static_cast<int>(draw(20));
    for (auto [id, plain, counted, e] : p.world.view<const Id, Plain, Counted *, weft::entity>()) {
        auto found = p.model.find(id.v);
        if (found == p.model.end() || found->second.handle != e) wrong("view", id.v, "Id", 1, 0);
        if (!p.of<Plain>(found->second).is_there) wrong("view", id.v, "Plain", 1, 0);
        if ((counted != nullptr) != p.of<Counted>(found->second).is_there) wrong("view", id.v, "Counted", 1, 0);
        plain.v += 5;
        p.of<Plain>(found->second).v += 5;
        if (counted != nullptr) *counted = make<Counted>(plain.v), p.of<Counted>(found->second).v = plain.v;
        if (left-- == 0) break;
    }
    int team = static_cast<int>(draw(3));
    long count = 0, should = 0;
    auto query = p.world.query().each([&](const Team &t) { count += t.v == team; });
    query.only(Team{team});
    query();
    for (auto &[_, t] : p.model) should += p.of<Team>(t).is_there && p.of<Team>(t).v == team;
    if (count != should) wrong("filter", 0, "Team", count, should);
}

void call_step(place &p)
{
    p.draw_commands();
    p.throws_at = can_throw && draw(4) == 0 && !p.model.empty() ? p.id_of(p.any()) : 0;
    int thrown = 0;
#ifdef WEFT_NO_EXCEPTIONS
    if (p.world.step(1.0f / 60) != WEFT_OK) thrown = -1;
#else
    try {
        p.world.step(1.0f / 60);
    } catch (int id) {
        thrown = id;
    }
#endif
    if (thrown != p.throws_at) wrong("the step throws", 0, "", thrown, p.throws_at);
    p.throws_at = 0;
    p.model_step();
    p.find_handles();
    p.observed();
}

void call_observe(place &p)
{
    p.world.run_observers();
    p.observed();
}

/* ---- copies of whole worlds ---- */

struct kept {
    weft::snapshot snapshot;
    things model;
    resources res;
};

void call_take(place &p, std::vector<kept> &all_kept)
{
    bool has_unique = false;
    for (auto &[_, t] : p.model) has_unique |= p.of<Unique>(t).is_there;
    let_copies_throw(draw(4) == 0);
    kept made;
    const weft::snapshot *previous = all_kept.empty() || draw(2) == 0 ? nullptr : &all_kept.back().snapshot;
    outcome is = tried([&] {
        made.snapshot = p.world.take(previous);
        return made.snapshot ? WEFT_OK : WEFT_UNSUPPORTED;
    });
    bool is_thrown = copies_left < 0;
    copies_left = 1 << 30;
    expect(is, has_unique ? REFUSED : is_thrown ? THROWN : DONE);
    if (is != DONE) return;
    made.model = p.model, made.res = p.res;
    all_kept.push_back(std::move(made));
    if (all_kept.size() > 3) all_kept.erase(all_kept.begin());
}

void call_restore(place &p, std::vector<kept> &all_kept)
{
    if (all_kept.empty()) return;
    kept &from = all_kept[draw(static_cast<uint32_t>(all_kept.size()))];
    let_copies_throw(draw(4) == 0);
    outcome is = tried([&] { return p.world.restore(from.snapshot); });
    if (is == REFUSED || (is == THROWN) != (copies_left < 0)) wrong("restore", 0, "", is, DONE);
    copies_left = 1 << 30;
    p.model = from.model, p.res = from.res;
    if (is != THROWN) return;
    for (auto &[id, t] : p.model) { /* new values where copies threw */
        p.resync<Thrower>(t, id);
        p.resync<SparseThrower>(t, id);
    }
}

weft_world_desc drawn_desc()
{
    weft_world_desc desc = {};
    desc.workers = 1 + draw(4);
    desc.without_huge_pages = true;
    desc.entity_tag = WEFT_WITHOUT_ENTITY_TAG; /* a file loads into a world of the same handles */
    return desc;
}

void call_file(std::unique_ptr<place> &p, std::vector<kept> &all_kept)
{
    if (draw(2) == 0) { /* what cannot be saved goes, by commands */
        p->world.query().any<Unique, SparseOwner>().each([](weft::entity e, const Id &, weft::commands &c) {
            c.remove<Unique>(e);
            c.entity(e).remove<SparseOwner>();
        })();
        for (auto &[_, t] : p->model) p->of<Unique>(t).is_there = p->of<SparseOwner>(t).is_there = false;
    }
    bool can = true;
    for (auto &[_, t] : p->model) can &= !p->of<Unique>(t).is_there && !p->of<SparseOwner>(t).is_there;
    std::string bytes;
    weft_result code = WEFT_OK;
    outcome is = tried(
        [&] {
            bytes = p->world.save_to_memory();
            return bytes.empty() ? weft_world_error(p->world.get())->code : WEFT_OK;
        },
        &code);
    if (is == REFUSED && (can || code != WEFT_UNSUPPORTED)) wrong("save", 0, "", code, 0);
    if (is != DONE) return;
    auto other = std::make_unique<place>(drawn_desc());
    other->next_id = p->next_id;
    if (draw(4) == 0) {
        weft::world broken(drawn_desc());
        broken.component<Saved>();
        std::string cut = bytes.substr(0, draw(static_cast<uint32_t>(bytes.size())));
        expect(tried([&] { return broken.load_from_memory(cut); }), REFUSED);
    }
    other->world.load_from_memory(bytes);
    other->model = p->model, other->res = p->res; /* handles, too, and those of the dead */
    all_kept.clear();
    p = std::move(other);
}

void call_transfer(place &to, place &from)
{
    for (auto &[id, _] : from.model)
        if (to.model.count(id) != 0) return; /* restored there, after it had moved */
    to.world.take_entities(from.world);
    for (auto &[id, t] : from.model) {
        if (t.link == -2) t.link = -1, t.link_handle = {};
        to.model[id] = t;
    }
    from.model.clear();
    to.find_handles();
}

/* ---- seeds ---- */

void play(uint64_t of)
{
    seed = random_state = of;
    calls = 0;
    for (int i = 0; i < 4; i++) (void)draw(2);
    {
        std::unique_ptr<place> places[2];
        std::vector<kept> all_kept[2];
        for (auto &p : places) p = std::make_unique<place>(drawn_desc());
        places[1]->next_id = 1000000;
        uint32_t length = 20 + draw(120);
        for (uint32_t i = 0; i < length; i++) {
            uint32_t which = draw(2), kind = draw(44);
            place &p = *places[which];
            calls++;
            auto run = [&](const char *name, bool wants_any, auto &&call) {
                at_call = name;
                if (!wants_any || !p.model.empty()) call();
            };
            if (p.model.empty() && kind > 24) kind = 0;
            if (kind < 7) run("create", false, [&] { call_create(p); });
            else if (kind < 8) run("create_many", false, [&] { call_create_many(p); });
            else if (kind < 19) run("change", true, [&] { call_change(p); });
            else if (kind < 20) run("dead", false, [&] { call_dead(p); });
            else if (kind < 22) run("destroy", true, [&] { call_destroy(p); });
            else if (kind < 25) run("instantiate", true, [&] { call_instantiate(p); });
            else if (kind < 27) run("relate", true, [&] { call_relate(p); });
            else if (kind < 28) run("link", true, [&] { call_link(p); });
            else if (kind < 31) run("loop", false, [&] { call_loop(p); });
            else if (kind < 33) run("view", false, [&] { call_view(p); });
            else if (kind < 37) run("step", false, [&] { call_step(p); });
            else if (kind < 38) run("observe", false, [&] { call_observe(p); });
            else if (kind < 39) run("take", false, [&] { call_take(p, all_kept[which]); });
            else if (kind < 41) run("restore", false, [&] { call_restore(p, all_kept[which]); });
            else if (kind < 42) run("file", false, [&] { call_file(places[which], all_kept[which]); });
            else if (kind < 43) run("transfer", false, [&] { call_transfer(*places[1 - which], p); });
            else run("move", false, [&] {
                weft::world moved = std::move(p.world);
                p.world = std::move(moved);
            });
            for (auto &each : places) each->check();
        }
    }
    if (cells != 0) wrong("values left", 0, "", cells, 0);
}

} // namespace

int main(int count, char **arguments)
{
    int seconds = count == 3 && std::strcmp(arguments[1], "seconds") == 0 ? std::atoi(arguments[2]) : 0;
    uint64_t played = 0;
    if (seconds == 0 && count > 1) {
        for (int i = 1; i < count; i++) play(std::strtoull(arguments[i], nullptr, 10)), played++;
    } else {
        auto begin = std::chrono::steady_clock::now();
        uint64_t first = seconds == 0 ? 1 : static_cast<uint64_t>(begin.time_since_epoch().count());
        while (seconds == 0 ? played < 60
                            : std::chrono::steady_clock::now() - begin < std::chrono::seconds(seconds))
            play(first + played++);
    }
    std::printf("%llu seeds\n", static_cast<unsigned long long>(played));
}
