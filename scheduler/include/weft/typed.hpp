/* SPDX-License-Identifier: MIT */
/* typed.hpp: what a C++ type is as a component, and what a function's arguments are as the terms of a
 * query: the part of weft.hpp behind its queries, systems and worlds. Include weft.hpp.
 *
 * columns<tuple of arguments> makes the terms, and the loop over a slice: one column<Argument> each,
 * made once a slice, read for each row by at(). */
#ifndef WEFT_TYPED_HPP
#define WEFT_TYPED_HPP

#include <weft/buffers.h>
#include <weft/finder.h>
#include <weft/jobs.hpp>
#include <weft/relation.h>
#include <weft/schedule.h>
#include <weft/transform.h>
#include <weft/type.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/* Handles compare and hash as values: std::unordered_set<weft::entity>. */
inline bool operator==(weft_entity a, weft_entity b)
{
    return weft_entity_equal(a, b);
}
inline bool operator!=(weft_entity a, weft_entity b)
{
    return !weft_entity_equal(a, b);
}
template <> struct std::hash<weft_entity> {
    std::size_t operator()(weft_entity e) const noexcept
    {
        return std::hash<uint64_t>()(uint64_t{e.version} << 32 | e.index);
    }
};

namespace weft
{

using entity = weft_entity;
class world;

/* ---- components ---- */

namespace detail
{

/* component_traits<T> that say how values are written into files: std::size_t save(const T &, void *out,
 * std::size_t capacity) and bool load(T &, const void *bytes, std::size_t count), as the hooks of C. */
template <class Traits, class = void> struct has_save : std::false_type {
};
template <class Traits> struct has_save<Traits, std::void_t<decltype(&Traits::save)>> : std::true_type {
};
template <class Traits, class = void> struct has_load : std::false_type {
};
template <class Traits> struct has_load<Traits, std::void_t<decltype(&Traits::load)>> : std::true_type {
};
template <class T, class Traits> constexpr bool are_file_hooks()
{
    if constexpr (has_save<Traits>::value && has_load<Traits>::value)
        return std::is_invocable_r_v<std::size_t, decltype(&Traits::save), const T &, void *, std::size_t> &&
               std::is_invocable_r_v<bool, decltype(&Traits::load), T &, const void *, std::size_t>;
    return !has_save<Traits>::value && !has_load<Traits>::value;
}

template <class T> constexpr const char *spelled()
{
    return __PRETTY_FUNCTION__;
}
/* The source that includes this header: each has its own. */
static constexpr const char *source_file = __BASE_FILE__;

/* Where the compiler writes an unnamed namespace into `text`, and how; no more: npos. */
inline std::pair<std::size_t, std::size_t> unnamed_in(const std::string &text)
{
    for (const char *form : {"{anonymous}", "(anonymous namespace)", "<unnamed>"}) {
        std::size_t at = text.find(form);
        if (at != std::string::npos) return {at, std::string(form).size()};
    }
    return {std::string::npos, 0};
}

/* The name of a type, as the compiler writes it: "Position", "game::Position". In an unnamed
 * namespace, of which each source has one, with the name of the source: "game.cpp::Position". */
template <class T> std::string type_name()
{
    std::string text = spelled<T>();
    std::size_t begin = text.find("T = ") + 4;
    text = text.substr(begin, text.rfind(']') - begin);
    for (auto at = unnamed_in(text); at.second != 0; at = unnamed_in(text)) {
        std::string file = source_file;
        text.replace(at.first, at.second, file.substr(file.find_last_of("/\\") + 1));
    }
    return text;
}
template <class T> bool is_of_one_source()
{
    return unnamed_in(spelled<T>()).second != 0;
}

/* A number per type of the program, to find its component in a world. */
inline uint32_t next_type()
{
    static uint32_t count = 0;
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    return count++;
}
template <class T> uint32_t type_number()
{
    static const uint32_t number = next_type();
    return number;
}

} // namespace detail

/* The description of a type (type.h): what WEFT_DESCRIBE makes. */
template <class T> struct description {
    static const weft_type *type() { return nullptr; }
};

namespace detail
{

/* A field by the C++ type of a member: numbers, entities, blobs, arrays of them, text, described
 * structs; enums as their integers; anything else is bytes. */
template <class M> weft_field field_of(const char *name, std::size_t offset)
{
    using item = std::remove_all_extents_t<M>;
    weft_field field = {};
    field.name = name;
    field.offset = static_cast<uint32_t>(offset);
    field.bytes = static_cast<uint32_t>(sizeof(M));
    if constexpr (std::is_enum_v<item>)
        field.kind = weft_kind_of<std::underlying_type_t<item>>();
    else if constexpr (std::is_class_v<item>)
        field.type = description<item>::type();
    if (field.type != nullptr)
        field.kind = WEFT_FIELD_STRUCT;
    else if constexpr (!std::is_enum_v<item>)
        field.kind = weft_kind_of<M>();
    return field;
}

template <class T> weft_type described(const weft_field *fields, std::size_t count)
{
    static_assert(std::is_standard_layout_v<T>, "a described type has standard layout: its members "
                                                "are all public or all private, in one class");
    static const std::string name = type_name<T>();
    weft_type type = {};
    type.name = name.c_str();
    type.size = sizeof(T);
    type.alignment = alignof(T);
    type.fields = fields;
    type.field_count = static_cast<uint32_t>(count);
    if constexpr (std::is_default_constructible_v<T> &&
                  !std::is_trivially_default_constructible_v<T>) {
        static const T initial = T();
        type.initial = &initial;
    }
    return type;
}

} // namespace detail

/* Describes a type by its members, outside of namespaces: WEFT_DESCRIBE(game::Orbit, centre, radius).
 * Then files and copies translate its entities, and text and the inspector show its fields. At most
 * 24 members; others are weft_type by hand, in component_traits<T>::type(). */
#define WEFT_DESCRIBE(T, ...)                                                                      \
    template <> struct weft::description<T> {                                                      \
        static const weft_type *type()                                                             \
        {                                                                                          \
            static const weft_field fields[] = {WEFT_DESCRIBE_(T, __VA_ARGS__)};                   \
            static const weft_type made =                                                          \
                weft::detail::described<T>(fields, sizeof fields / sizeof *fields);                \
            return &made;                                                                          \
        }                                                                                          \
    }
#define WEFT_DESCRIBE_MEMBER_(T, m) weft::detail::field_of<decltype(T::m)>(#m, offsetof(T, m))
#define WEFT_DESCRIBE_(T, ...) WEFT_DESCRIBE_COUNT_(__VA_ARGS__, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)(T, __VA_ARGS__)
#define WEFT_DESCRIBE_COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, n, ...) WEFT_DESCRIBE_##n##_
#define WEFT_DESCRIBE_1_(T, m) WEFT_DESCRIBE_MEMBER_(T, m)
#define WEFT_DESCRIBE_2_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_1_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_3_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_2_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_4_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_3_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_5_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_4_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_6_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_5_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_7_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_6_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_8_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_7_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_9_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_8_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_10_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_9_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_11_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_10_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_12_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_11_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_13_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_12_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_14_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_13_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_15_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_14_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_16_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_15_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_17_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_16_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_18_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_17_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_19_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_18_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_20_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_19_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_21_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_20_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_22_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_21_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_23_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_22_(T, __VA_ARGS__)
#define WEFT_DESCRIBE_24_(T, m, ...) WEFT_DESCRIBE_MEMBER_(T, m), WEFT_DESCRIBE_23_(T, __VA_ARGS__)

/* What a C++ type is as a component. Specialise it, deriving from component_defaults<T>, for another
 * name, flags (WEFT_ENABLEABLE, WEFT_SPARSE, WEFT_SHARED, WEFT_RESOURCE, ...) or a description.
 * Rows move as bytes. A type that is not trivially copyable has to say that its values may be
 * moved so (`is_relocatable`; std::vector and std::unique_ptr may, std::string of libstdc++ may
 * not); then its constructors and its destructor are the hooks of the component. Static functions
 * std::size_t save(const T &, void *out, std::size_t capacity) and bool load(T &, const void *bytes,
 * std::size_t count) write it into files (weft_component_hooks). */
template <class T> struct component_defaults {
    static constexpr uint32_t flags = WEFT_DATA;
    static constexpr bool is_relocatable = std::is_trivially_copyable_v<T>;
    /* Whether weft_world_hash sees the bytes: those of an owner are addresses, other ones in each run. */
    static constexpr bool is_hashed = std::is_trivially_copyable_v<T>;
    static const char *name()
    {
        static const std::string text = detail::type_name<T>();
        return text.c_str();
    }
    static const weft_type *type() { return description<T>::type(); }
};
template <class T> struct component_traits : component_defaults<T> {
};

/* `const T` is the component of T. */
template <class T> struct component_traits<const T> : component_traits<T> {
};

/* The component Parent: `const weft::parent &above` as an argument, with<weft::parent>() as a term;
 * above.entity is the parent. The library makes it and those below: traits of such a component have a
 * function `made`. InstanceOf likewise: its entity is the prefab. */
struct parent : weft_target {
};
struct instance_of : weft_target {
};
/* Tags: queries leave out what has them, unless they name them (entity.h). */
struct prefab {
};
struct inactive {
};
/* Element of the buffer LinkedGroup: element 0 is the root. */
struct linked_group {
    weft_entity entity;
};
template <> struct component_traits<parent> : component_defaults<parent> {
    static const char *name() { return "Parent"; }
    static weft_component made(weft_world *world) { return weft_component_parent(world); }
};
template <> struct component_traits<instance_of> : component_defaults<instance_of> {
    static const char *name() { return "InstanceOf"; }
    static weft_component made(weft_world *world) { return weft_component_instance_of(world); }
};
template <> struct component_traits<prefab> : component_defaults<prefab> {
    static const char *name() { return "Prefab"; }
    static weft_component made(weft_world *world) { return weft_component_prefab(world); }
};
template <> struct component_traits<inactive> : component_defaults<inactive> {
    static const char *name() { return "Inactive"; }
    static weft_component made(weft_world *world) { return weft_component_inactive(world); }
};
template <> struct component_traits<linked_group> : component_defaults<linked_group> {
    static constexpr uint32_t flags = WEFT_BUFFER;
    static const char *name() { return "LinkedGroup"; }
    static weft_component made(weft_world *world) { return weft_component_linked_group(world); }
};
template <> struct component_traits<weft_local_transform> : component_defaults<weft_local_transform> {
    static const char *name() { return "LocalTransform"; }
    static weft_component made(weft_world *world)
    {
        weft_transform all = {};
        (void)weft_transform_create(world, nullptr, &all);
        return all.local;
    }
};
template <> struct component_traits<weft_world_transform> : component_defaults<weft_world_transform> {
    static const char *name() { return "WorldTransform"; }
    static weft_component made(weft_world *world)
    {
        weft_transform all = {};
        (void)weft_transform_create(world, nullptr, &all);
        return all.world;
    }
};

namespace detail
{
template <class Traits, class = void> struct is_of_library : std::false_type {
};
template <class Traits> struct is_of_library<Traits, std::void_t<decltype(&Traits::made)>> : std::true_type {
};
struct service { /* what arguments may be beside components */
};
/* Calls a function, and `undo` when it throws. */
template <class F, class U> void or_undo(F &&function, [[maybe_unused]] U &&undo)
{
#ifdef WEFT_NO_EXCEPTIONS
    function();
#else
    try {
        function();
    } catch (...) {
        undo();
        throw;
    }
#endif
}
} // namespace detail

/* The elements of a BUFFER component of T, of one entity, or of the world (WEFT_RESOURCE): an
 * argument of functions, what world.buffer<Stop>(e) returns, and behind resource<buffer<T>> and
 * lookup<buffer<T>>. buffer<Stop> changes, buffer<const Stop> reads; false where there is none. As
 * std::vector: growing moves the elements. Valid as weft_buffers (buffers.h). */
template <class T> class buffer : detail::service
{
    using value = std::remove_const_t<T>;

  public:
    buffer() = default;
    buffer(const weft_buffers &rows, uint32_t row) : rows_(rows), row_(row) {}
    explicit operator bool() const { return row_ < rows_.count; }
    uint32_t size() const { return weft_buffers_length(&rows_, row_); }
    bool empty() const { return size() == 0; }
    T *data() const
    {
        if constexpr (std::is_const_v<T>)
            return static_cast<T *>(weft_buffers_read(&rows_, row_));
        else
            return row_ < rows_.count ? static_cast<T *>(weft_buffers_write(&rows_, row_)) : nullptr;
    }
    T *begin() const { return data(); }
    T *end() const { return data() + size(); }
    T &operator[](uint32_t i) const { return data()[i]; }
    T &front() const { return data()[0]; }
    T &back() const { return data()[size() - 1]; }
    template <class V> weft_result push_back(V &&element) const { return insert(size(), std::forward<V>(element)); }
    /* Before element `at`, or at the end: at == size(). */
    template <class V> weft_result insert(uint32_t at, V &&element) const
    {
        value made(std::forward<V>(element)); /* may be one of these */
        const uint32_t count = size();
        if (at > count || !*this) return detail::checked_call(WEFT_INVALID_ARGUMENT);
        weft_result result = resize(count + 1);
        if (result != WEFT_OK) return result;
        T *all = data();
        std::move_backward(all + at, all + count, all + count + 1);
        all[at] = std::move(made);
        return result;
    }
    weft_result erase(uint32_t at, uint32_t count = 1) const
    {
        const uint32_t length = size();
        if (at > length || count > length - at) return detail::checked_call(WEFT_INVALID_ARGUMENT);
        std::move(data() + at + count, data() + length, data() + at);
        return resize(length - count);
    }
    /* Copies of elements, which may be of this buffer. */
    weft_result append(const value *elements, uint32_t count) const
    {
        static_assert(std::is_trivially_copyable_v<value>, "elements are copied as bytes: push_back");
        return changed(weft_buffers_append(&rows_, row_, elements, count));
    }
    weft_result pop_back() const { return erase(size() - 1); }
    weft_result clear() const { return resize(0); }
    /* New elements are constructed, or zero. */
    weft_result resize(uint32_t count) const { return changed(weft_buffers_resize(&rows_, row_, count)); }
    weft_result reserve(uint32_t capacity) const { return changed(weft_buffers_reserve(&rows_, row_, capacity)); }

  private:
    static weft_result changed(weft_result result)
    {
        static_assert(!std::is_const_v<T>, "a weft::buffer<const T> only reads");
        return detail::checked_call(result);
    }
    weft_buffers rows_ = {};
    uint32_t row_ = 0;
};

/* Access to a resource in a system: resource<Clock> writes, resource<const Clock> reads. */
template <class T> class resource : detail::service
{
  public:
    explicit resource(T *value) : value_(value) {}
    T &operator*() const { return *value_; }
    T *operator->() const { return value_; }

  private:
    T *value_;
};

/* Access to a component of other entities in a system: lookup<const Hull> reads, lookup<Hull> writes
 * (two slices must not write the same entity: flags(WEFT_SYSTEM_SERIAL) where they could). */
template <class T> class lookup : detail::service
{
  public:
    lookup(const weft_slice *slice, weft_component component)
        : slice_(slice), component_(component)
    {
    }
    /* The value; nullptr: the entity has none, or is not alive. */
    T *operator[](entity e) const
    {
        return static_cast<T *>(weft_slice_write_entity(slice_, e, component_));
    }

  private:
    const weft_slice *slice_;
    weft_component component_;
};
/* For reading a finder (finder.h), inlined; outside systems world.lookup<const Hull>(). */
template <class T> class lookup<const T> : detail::service
{
  public:
    lookup(const weft_slice *slice, weft_component component)
        : finder_(weft_slice_finder(slice, component))
    {
    }
    explicit lookup(const weft_finder &finder) : finder_(finder) {}
    const T *operator[](entity e) const
    {
        return static_cast<const T *>(weft_finder_read(&finder_, e));
    }

  private:
    weft_finder finder_;
};
template <class T> class lookup<buffer<T>> : detail::service
{
  public:
    lookup(const weft_slice *slice, weft_component component)
        : slice_(slice), component_(component)
    {
    }
    /* false: the entity has none, or is not alive. */
    buffer<T> operator[](entity e) const
    {
        if constexpr (std::is_const_v<T>)
            return {weft_slice_read_entity_buffer(slice_, e, component_), 0};
        else
            return {weft_slice_write_entity_buffer(slice_, e, component_), 0};
    }

  private:
    const weft_slice *slice_;
    weft_component component_;
};
template <class T> class resource<buffer<T>> : detail::service
{
  public:
    explicit resource(const weft_buffers &of) : value_(of, 0) {}
    const buffer<T> &operator*() const { return value_; }
    const buffer<T> *operator->() const { return &value_; }

  private:
    buffer<T> value_;
};

namespace detail
{

template <class T> constexpr uint32_t flags_of = component_traits<T>::flags;
template <class T> constexpr bool is_tag = std::is_empty_v<T>;
template <class T> constexpr bool is_plain = std::is_trivially_copyable_v<T>;
/* Member initialisers, or a constructor: values do not begin as zero. */
template <class T>
constexpr bool is_constructed = !std::is_trivially_default_constructible_v<T> &&
                                std::is_default_constructible_v<T>;
template <class T, class = void> constexpr bool is_struct = false; /* one that is known here */
template <class T>
constexpr bool is_struct<T, std::void_t<decltype(sizeof(T))>> = std::is_class_v<T> || std::is_union_v<T>;
template <class T> constexpr bool is_of_weft()
{
    if constexpr (is_struct<T>) return std::is_base_of_v<service, T>;
    return false;
}
template <class T>
constexpr bool is_service = std::is_same_v<T, weft_entity> || std::is_same_v<T, weft_slice> || std::is_same_v<T, world> ||
                            std::is_same_v<T, weft_frame> || is_of_weft<T>();

/* The first exception of a copy that a hook made in a world: hooks are called by C, which no
 * exception may cross, so the value is a new one, and the call of weft::world that copied throws.
 * It is the `user` of the hooks, which may outlive each weft::world of a borrowed world, and go
 * with entities into another world: so it stays, and serves the next world at this address. */
struct failed_copies {
    std::atomic<bool> is_there{false};
    first_thrown thrown;

    static failed_copies *of(const weft_world *world)
    {
        static std::mutex &mutex = *new std::mutex; /* worlds may end after static variables */
        static auto &all = *new std::map<const weft_world *, failed_copies>;
        std::lock_guard<std::mutex> lock(mutex);
        return &all[world];
    }
};

template <class T> void construct(void *values, uint32_t count, void *) noexcept
{
    for (uint32_t i = 0; i < count; i++) new (static_cast<T *>(values) + i) T();
}
template <class T> void destruct(void *values, uint32_t count, void *) noexcept
{
    for (uint32_t i = 0; i < count; i++) static_cast<T *>(values)[i].~T();
}
template <class T>
void copy_one(T *to, const T &from, [[maybe_unused]] failed_copies *failed) noexcept
{
#ifdef WEFT_NO_EXCEPTIONS
    new (to) T(from);
#else
    try {
        new (to) T(from);
    } catch (...) {
        new (to) T();
        failed->thrown.keep(0);
        failed->is_there = true;
    }
#endif
}
template <class T> void copy(void *to, const void *from, uint32_t count, void *failed) noexcept
{
    for (uint32_t i = 0; i < count; i++)
        copy_one(static_cast<T *>(to) + i, static_cast<const T *>(from)[i],
                 static_cast<failed_copies *>(failed));
}

/* What cannot be a component does not compile, with the first of these sentences that fits. */
enum class fault { none, no_struct, service, not_relocatable, no_constructor, throws, destructor_throws, tag, begun, file_hooks };

template <class T> constexpr fault fault_of_value()
{
    constexpr bool is_fixed = (flags_of<T> & (WEFT_SHARED | WEFT_CHUNK)) != 0;
    if (!component_traits<T>::is_relocatable) return fault::not_relocatable;
    if (!is_plain<T> && !std::is_default_constructible_v<T>) return fault::no_constructor;
    if (is_constructed<T> && !std::is_nothrow_default_constructible_v<T>) return fault::throws;
    if (!std::is_nothrow_destructible_v<T>) return fault::destructor_throws;
    if (is_tag<T> && (!is_plain<T> || is_constructed<T>)) return fault::tag;
    if (is_fixed && (!is_plain<T> || is_constructed<T>)) return fault::begun;
    if (!are_file_hooks<T, component_traits<T>>()) return fault::file_hooks;
    return fault::none;
}
template <class T> constexpr fault fault_of()
{
    if constexpr (!is_struct<T>)
        return fault::no_struct;
    else if constexpr (is_service<T>)
        return fault::service;
    else
        return fault_of_value<T>();
}
template <class T> constexpr bool is_component = fault_of<T>() == fault::none;

template <class T> constexpr void require_component()
{
    constexpr fault found = fault_of<T>();
    static_assert(found != fault::no_struct, "a component is a struct of its own: no pointer, array, number or enum");
    static_assert(found != fault::service, "weft's own types are no components");
    static_assert(found != fault::not_relocatable, "a component moves as bytes: see weft::component_traits");
    static_assert(found != fault::no_constructor, "a component needs a constructor without arguments: it begins with it");
    static_assert(found != fault::throws, "the constructor of a component may not throw: mark it noexcept");
    static_assert(found != fault::destructor_throws, "the destructor of a component may not throw");
    static_assert(found != fault::tag, "a tag has no value: its constructor and destructor would not run");
    static_assert(found != fault::begun, "SHARED and CHUNK values begin as zero: no member initialisers, no constructor, no destructor");
    static_assert(found != fault::file_hooks, "traits for files are both: std::size_t save(const T &, void *out, std::size_t capacity) and bool load(T &, const void *bytes, std::size_t count)");
}

template <class T> void describe(weft_component_desc &desc, [[maybe_unused]] failed_copies *failed)
{
    using traits = component_traits<T>;
    desc.name = traits::name();
    desc.flags = flags_of<T> | (traits::is_hashed ? 0 : WEFT_NOT_HASHED);
    desc.type = traits::type();
    desc.size = is_tag<T> ? 0 : sizeof(T);
    desc.alignment = is_tag<T> ? 1 : alignof(T);
    if constexpr (is_constructed<T>) desc.hooks.construct = construct<T>;
    if constexpr (!is_plain<T>) {
        desc.hooks.destruct = destruct<T>;
        if constexpr (std::is_copy_constructible_v<T>) desc.hooks.copy = copy<T>;
        desc.hooks.user = failed;
    }
    if constexpr (has_save<traits>::value) {
        desc.hooks.save = [](const void *value, void *out, size_t capacity, void *) noexcept {
            return traits::save(*static_cast<const T *>(value), out, capacity);
        };
        desc.hooks.load = [](void *value, const void *bytes, size_t count, void *) noexcept {
            return traits::load(*static_cast<T *>(value), bytes, count);
        };
    }
}

struct state;

/* What ends with its weft::world at the latest, and is empty from then on: in the list of its state
 * until then. Threads: owner. */
class bound
{
  public:
    bound(const bound &) = delete;
    bound &operator=(const bound &) = delete;
    virtual void end_of_world() noexcept = 0; /* unbinds */

  protected:
    bound() = default;
    ~bound() = default;
    inline void bind(state *known) noexcept;
    void unbind() noexcept
    {
        if (known_ == nullptr) return;
        *at_ = next_;
        if (next_ != nullptr) next_->at_ = at_;
        known_ = nullptr;
    }
    state *known_ = nullptr; /* nullptr: empty */

  private:
    bound *next_ = nullptr;
    bound **at_ = nullptr; /* what points to this */
};

/* What a weft::world knows beside the world: components by type, functions of systems. */
struct state {
    weft_world *world = nullptr;
    bool is_owner = false;
    bound *first = nullptr;
    std::vector<weft_component> components; /* [type_number] */
    struct thrower { /* a type whose copies may throw */
        weft_component component;
        weft_component (*obtain)(state &);
    };
    std::vector<thrower> may_throw;
    std::vector<std::shared_ptr<void>> functions;
    weft_archetype empty = {};          /* that of entities without components */
    weft_recorder *outside = nullptr;   /* of the loop outside systems that runs */
    /* What functions threw that the library called: by the number of the system or observer in
     * order of registration, then by its slice. */
    first_thrown thrown;
    failed_copies *copies = nullptr;

    void open(weft_world *of, bool owns)
    {
        world = of;
        is_owner = owns;
        copies = failed_copies::of(of);
    }

    template <class C> weft_component find() const /* threads: any, once registered */
    {
        using T = std::remove_cv_t<C>;
        require_component<T>();
        uint32_t number = type_number<T>();
        return number < components.size() ? components[number] : weft_component{};
    }
    /* As find; also what C, a file or another weft::world registered by the type's name. */
    template <class C> weft_component find_named()
    {
        weft_component found = find<C>();
        if (__builtin_expect(found.id == 0, 0) &&
            weft_component_find(world, component_traits<std::remove_cv_t<C>>::name()).id != 0)
            found = obtain<C>();
        return found;
    }
    template <class C> weft_component obtain()
    {
        using T = std::remove_cv_t<C>;
        weft_component found = find<T>();
        if (found.id != 0) return found;
        if constexpr (is_of_library<component_traits<T>>::value) {
            found = component_traits<T>::made(world);
            if (components.size() <= type_number<T>()) components.resize(type_number<T>() + 1);
            return components[type_number<T>()] = checked(found);
        } else
            return create<T>();
    }
    template <class T> weft_component create()
    {
        weft_component found = {};
        weft_component_desc desc = {};
        if constexpr (is_component<T>) describe<T>(desc, copies);
        bool is_typed = desc.type == nullptr && desc.fields == nullptr &&
                        desc.hooks.construct == nullptr && desc.hooks.destruct == nullptr &&
                        desc.hooks.save == nullptr;
        found = is_typed && !is_tag<T> ? weft_component_create_typed(world, desc.name, desc.size,
                                                                     desc.alignment, desc.flags)
                                       : weft_component_create(world, &desc);
        if (is_of_one_source<T>())
            for (weft_component other : components)
                if (found.id != 0 && other.id == found.id) {
                    refuse(WEFT_ALREADY_EXISTS, "two C++ types have the name " +
                                                    std::string(desc.name) +
                                                    ": give one a name by weft::component_traits");
                    return {};
                }
        if (components.size() <= type_number<T>()) components.resize(type_number<T>() + 1);
        components[type_number<T>()] = found;
        if constexpr (!is_plain<T> && std::is_copy_constructible_v<T> &&
                      !std::is_nothrow_copy_constructible_v<T>)
            if (found.id != 0 && (flags_of<T> & WEFT_RESOURCE) == 0)
                may_throw.push_back({found, [](state &in) { return in.obtain<T>(); }});
        return checked(found);
    }
    /* After a restore in which copies threw: rows with such values are no longer those of the
     * snapshot, so that restoring it again copies them again. */
    void touch_copies()
    {
        for (const thrower &of : may_throw) {
            weft_query_desc desc = {};
            desc.terms[0] = {of.component, WEFT_WRITE, WEFT_ALL, 0};
            desc.with_prefabs = desc.with_inactive = desc.ignores_enabled = true;
            weft_query rows = weft_query_create(world, &desc);
            weft_cursor c = weft_query_begin(world, rows);
            while (weft_query_next(&c)) {
            } /* a term that is written stamps each slice */
            (void)weft_query_destroy(world, rows);
        }
    }
    /* The archetype of entities to which commands give components. */
    weft_archetype nothing()
    {
        if (empty.id == 0) empty = checked(weft_archetype_create(world, nullptr, 0));
        return empty;
    }
    weft_result checked(weft_result result) const
    {
#ifndef WEFT_NO_EXCEPTIONS
        if (__builtin_expect(copies->is_there, 0) && copies->is_there.exchange(false))
            copies->thrown.rethrow();
#endif
        if (result != WEFT_OK) fail(result);
        return result;
    }
    template <class H> H checked(H handle) const
    {
        if (handle.id == 0) fail(weft_world_error(world)->code);
        return handle;
    }
    entity checked(entity made) const
    {
        if (weft_entity_is_null(made)) fail(weft_world_error(world)->code);
        return made;
    }
    void fail([[maybe_unused]] weft_result result) const
    {
#ifndef WEFT_NO_EXCEPTIONS
        const weft_error *last = weft_world_error(world);
        if (last->code == result) throw error(*last);
        throw error(result, weft_result_text(result));
#endif
    }
    void refuse([[maybe_unused]] weft_result result, [[maybe_unused]] const std::string &text) const
    {
#ifndef WEFT_NO_EXCEPTIONS
        throw error(result, text.c_str());
#endif
    }
    /* Ends a call in which functions ran: throws the kept exception, else the error of the call. */
    weft_result ended(weft_result result)
    {
        first_thrown::kept kept = thrown.take();
        if (kept.exception && !(kept.is_refusal && result != WEFT_OK)) {
            if (copies->is_there.exchange(false)) copies->thrown.take();
            std::rethrow_exception(kept.exception);
        }
        return checked(result);
    }
};

inline void bound::bind(state *known) noexcept
{
    known_ = known;
    next_ = known->first;
    at_ = &known->first;
    if (next_ != nullptr) next_->at_ = &next_;
    known->first = this;
}

} // namespace detail

/* ---- functions ---- */

namespace detail
{

struct unknown; /* arguments */
template <class F, class = void> struct signature {
    using arguments = unknown;
};
template <class F>
struct signature<F, std::void_t<decltype(&F::operator())>> : signature<decltype(&F::operator())> {
};
template <class R, class C, class... As> struct signature<R (C::*)(As...) const> {
    using arguments = std::tuple<As...>;
};
template <class R, class C, class... As>
struct signature<R (C::*)(As...)> : signature<R (C::*)(As...) const> {
};
template <class R, class C, class... As>
struct signature<R (C::*)(As...) const noexcept> : signature<R (C::*)(As...) const> {
};
template <class R, class C, class... As>
struct signature<R (C::*)(As...) noexcept> : signature<R (C::*)(As...) const> {
};
template <class R, class... As> struct signature<R (*)(As...)> {
    using arguments = std::tuple<As...>;
};
template <class R, class... As> struct signature<R (*)(As...) noexcept> : signature<R (*)(As...)> {
};
template <class F> using arguments_of = typename signature<std::decay_t<F>>::arguments;
template <class F> constexpr bool has_arguments = !std::is_same_v<arguments_of<F>, unknown>;
/* What a system, a query, a loop or an observer calls. */
template <class F> constexpr bool require_function()
{
    static_assert(has_arguments<F>, "the function's arguments need types: not auto, and one operator()");
    static_assert(!has_arguments<F> || is_kept<F>, "a function is kept by value: std::move it, or make it copyable");
    return has_arguments<F> && is_kept<F>;
}

} // namespace detail

/* ---- commands ---- */

/* A command that could not be recorded. */
class command_error : public error
{
  public:
    using error::error;
};

/* An entity and what changes it: entity_ref (of a world), or what commands::entity returns. Calls are
 * those of `To`, and return the same object; a failing one throws, or without exceptions does
 * nothing (weft_world_error says more). As long as `To` stays. */
template <class To, class Self> class bound_entity : detail::service
{
  public:
    bound_entity(To *to, entity id) : to_(to), id_(id) {}
    entity id() const { return id_; }
    operator entity() const { return id_; }
    template <class V> const Self &set(V &&value) const { return then(to_->set(id_, std::forward<V>(value))); }
    template <class T, class... As> const Self &add(As &&...arguments) const
    {
        return then(to_->template add<T>(id_, std::forward<As>(arguments)...));
    }
    template <class T> const Self &remove() const { return then(to_->template remove<T>(id_)); }
    template <class T> const Self &enable(bool enabled) const { return then(to_->template enable<T>(id_, enabled)); }
    const Self &name(const char *text) const { return then(to_->name(id_, text)); }
    weft_result destroy() const { return to_->destroy(id_); }

  protected:
    const Self &then(weft_result) const { return static_cast<const Self &>(*this); }
    To *to_;
    entity id_;
};
class commands;
class command_entity : public bound_entity<const commands, command_entity>
{
  public:
    using bound_entity::bound_entity;
};

/* A recorder, as an argument of a function: in a system that of the slice, whose commands are played
 * at the next sync point; in a loop outside systems one that is played when the loop has ended (a
 * loop that an exception ends plays nothing). What cannot be recorded throws, or without exceptions
 * returns what C returns; what fails when it is played is the error of the step or loop.
 * Components must be known to the world by then: name them in records<...>(). */
template <class... Ts> class rows_of;
class commands : detail::service
{
  public:
    commands(const detail::state *known, weft_recorder *recorder)
        : known_(known), recorder_(recorder)
    {
    }
    weft_recorder *get() const { return recorder_; }
    /* Sets a value, and adds the component where the weft_entity lacks it. */
    template <class V> weft_result set(weft_entity e, V &&value) const
    {
        using T = std::decay_t<V>;
        detail::require_component<T>();
        static_assert((detail::flags_of<T> & (WEFT_BUFFER | WEFT_CHUNK | WEFT_RESOURCE)) == 0,
                      "a BUFFER is changed by append and set_buffer; no command sets CHUNK and "
                      "RESOURCE values");
        if constexpr (detail::is_tag<T>)
            return add<T>(e);
        else if constexpr ((detail::flags_of<T> & WEFT_SHARED) != 0)
            return checked<T>(weft_recorder_set_shared(recorder_, e, known_->find<T>(), &value));
        else if constexpr (detail::is_plain<T>)
            return checked<T>(
                weft_recorder_set(recorder_, e, known_->find<T>(), &value, sizeof value));
        else { /* the recorder takes over the bytes of a value of its own */
            alignas(T) unsigned char bytes[sizeof(T)];
            T *made = new (bytes) T(std::forward<V>(value));
            weft_result result = weft_recorder_set(recorder_, e, known_->find<T>(), bytes, sizeof(T));
            if (result != WEFT_OK) made->~T();
            return checked<T>(result);
        }
    }
    /* Adds a component; with arguments the value T{arguments...}. */
    template <class T, class... As> weft_result add(weft_entity e, As &&...arguments) const
    {
        if constexpr (sizeof...(As) != 0)
            return set(e, T{std::forward<As>(arguments)...});
        else
            return checked<T>(weft_recorder_add(recorder_, e, known_->find<T>()));
    }
    template <class T> weft_result remove(weft_entity e) const
    {
        return checked<T>(weft_recorder_remove(recorder_, e, known_->find<T>()));
    }
    template <class T> weft_result enable(weft_entity e, bool enabled) const
    {
        return checked<T>(weft_recorder_enable(recorder_, e, known_->find<T>(), enabled));
    }
    /* Elements of a BUFFER component of T. */
    template <class T> weft_result append(weft_entity e, const T *elements, uint32_t count) const
    {
        static_assert((detail::flags_of<T> & WEFT_BUFFER) != 0, "flags = WEFT_BUFFER is missing");
        static_assert(detail::is_plain<T>, "elements are copied as bytes");
        return checked<T>(
            weft_recorder_append(recorder_, e, known_->find<T>(), elements, count));
    }
    template <class T> weft_result set_buffer(weft_entity e, const T *elements, uint32_t count) const
    {
        static_assert((detail::flags_of<T> & WEFT_BUFFER) != 0, "flags = WEFT_BUFFER is missing");
        static_assert(detail::is_plain<T>, "elements are copied as bytes");
        return checked<T>(
            weft_recorder_set_buffer(recorder_, e, known_->find<T>(), elements, count));
    }
    template <class T> weft_result append(weft_entity e, std::initializer_list<T> elements) const
    {
        return append(e, elements.begin(), static_cast<uint32_t>(elements.size()));
    }
    weft_result name(weft_entity e, const char *text) const
    {
        return checked(weft_recorder_set_name(recorder_, e, text), "name");
    }
    weft_result destroy(weft_entity e) const
    {
        return checked(weft_recorder_destroy_entity(recorder_, e), "destroy");
    }
    weft_entity instantiate(weft_entity source) const
    {
        return checked(weft_recorder_instantiate(recorder_, source), "instantiate");
    }
    /* An entity with these values: c.create(Position{1, 2}, Enemy{}); of an archetype made before
     * (world.archetype<Position, Enemy>()) where that comes first. */
    weft_entity create() const { return make(known_->empty); }
    template <class V, class... Vs> weft_entity create(V &&first, Vs &&...rest) const
    {
        if constexpr (std::is_same_v<std::decay_t<V>, weft_archetype>)
            return make(first, std::forward<Vs>(rest)...);
        else
            return make(known_->empty, std::forward<V>(first), std::forward<Vs>(rest)...);
    }

    /* `count` entities whose columns the function fills in place, before they are played:
     * function(Position &, Velocity &), or function(uint32_t i, Position &, Velocity &).
     *   auto sparks = world.rows<Position, Velocity>(); // before
     *   c.create_rows(sparks, 1000, [](uint32_t i, Position &p, Velocity &v) { ... }); */
    template <class... Ts, class F>
    weft_result create_rows(const rows_of<Ts...> &of, uint32_t count, F &&function) const
    {
        static_assert(rows_of<Ts...>::template fits<F>, "rows are filled by a function of references to their "
                                                        "components, in their order: (Position &, Velocity &), or "
                                                        "(uint32_t i, Position &, Velocity &)");
        for (uint32_t done = 0; done < count;) { /* at most a chunk at a time */
            weft_slice rows;
            weft_result result = checked(
                weft_recorder_create_rows(recorder_, of.archetype_, count - done, &rows), "rows");
            if (result != WEFT_OK) return result;
            if constexpr (rows_of<Ts...>::template fits<F>) of.fill(&rows, done, function);
            done += rows.count;
        }
        return WEFT_OK;
    }

    /* Of all rows that a query selects when they are played. */
    weft_result destroy_all(weft_query q) const
    {
        return checked(weft_recorder_query_destroy_entities(recorder_, q), "all rows of a query");
    }
    template <class T> weft_result add_all(weft_query q) const
    {
        return checked<T>(weft_recorder_query_add(recorder_, q, known_->find<T>()));
    }
    template <class T> weft_result remove_all(weft_query q) const
    {
        return checked<T>(weft_recorder_query_remove(recorder_, q, known_->find<T>()));
    }
    template <class T> weft_result enable_all(weft_query q, bool enabled) const
    {
        return checked<T>(weft_recorder_query_enable(recorder_, q, known_->find<T>(), enabled));
    }
    /* A SHARED value. */
    template <class T> weft_result set_all(weft_query q, const T &value) const
    {
        static_assert((detail::flags_of<T> & WEFT_SHARED) != 0, "flags = WEFT_SHARED is missing");
        return checked<T>(
            weft_recorder_query_set_shared(recorder_, q, known_->find<T>(), &value));
    }

    /* The same commands, of one entity: c.entity(e).add<Burning>().set(Health{5}). */
    command_entity entity(weft_entity e) const { return {this, e}; }

  private:
    /* Whole, or not at all: a copy may throw. */
    template <class... Vs> weft_entity make(weft_archetype archetype, Vs &&...values) const
    {
        weft_entity made = checked(weft_recorder_create_entity(recorder_, archetype), "create");
        if (!weft_entity_is_null(made))
            detail::or_undo([&] { ((void)set(made, std::forward<Vs>(values)), ...); },
                            [&] { (void)weft_recorder_destroy_entity(recorder_, made); });
        return made;
    }
    template <class T> weft_result checked(weft_result result) const
    {
        if (__builtin_expect(result != WEFT_OK, 0)) {
            const char *name = component_traits<std::remove_cv_t<T>>::name();
            if (known_->find<T>().id == 0)
                known_->refuse(result, std::string("a command names component \"") + name +
                                           "\", which the world does not know: call "
                                           "world.component<T>() before, or name it in "
                                           "records<T>()");
            else
                fail(result, name);
        }
        return result;
    }
    weft_result checked(weft_result result, const char *what) const
    {
        if (__builtin_expect(result != WEFT_OK, 0)) fail(result, what);
        return result;
    }
    weft_entity checked(weft_entity made, const char *what) const
    {
        if (__builtin_expect(weft_entity_is_null(made), 0))
            fail(recorder_ == nullptr ? WEFT_WRONG_PHASE : WEFT_INVALID_ARGUMENT, what);
        return made;
    }
    [[gnu::cold]] void fail([[maybe_unused]] weft_result result,
                            [[maybe_unused]] const char *what) const
    {
#ifndef WEFT_NO_EXCEPTIONS
        std::string text = std::string("the command for ") + what + " was refused: ";
        throw command_error(result, (text + weft_result_text(result)).c_str());
#endif
    }
    const detail::state *known_;
    weft_recorder *recorder_;
};

/* What commands::create_rows makes: an archetype, and which of its columns are Ts; world.rows<Ts...>(). */
template <class... Ts> class rows_of
{
  public:
    weft_archetype archetype() const { return archetype_; }

  private:
    friend class commands;
    friend class world;
    /* A value would be filled, and lost. */
    template <class Arguments> struct takes_value : std::false_type {
    };
    template <class... As> struct takes_value<std::tuple<As...>> : std::bool_constant<(false || ... || (!std::is_reference_v<As> && std::is_class_v<As>))> {
    };
    template <class F>
    static constexpr bool fits = (std::is_invocable_v<F &, uint32_t, Ts &...> || std::is_invocable_v<F &, Ts &...>)&&
                                 !takes_value<detail::arguments_of<F>>::value;
    explicit rows_of(detail::state &known)
    {
        static_assert((... && (!detail::is_tag<Ts> && (detail::flags_of<Ts> & (WEFT_SHARED | WEFT_BUFFER | WEFT_SPARSE | WEFT_CHUNK | WEFT_RESOURCE)) == 0)),
                      "rows are filled by values in columns: no tag, SHARED, BUFFER, SPARSE, CHUNK or RESOURCE");
        const weft_component types[] = {known.obtain<Ts>()...};
        archetype_ = known.checked(weft_archetype_create(known.world, types, sizeof...(Ts)));
        std::vector<weft_component> all(weft_archetype_components(known.world, archetype_, nullptr, 0));
        weft_archetype_components(known.world, archetype_, all.data(), static_cast<uint32_t>(all.size()));
        for (std::size_t i = 0; i < sizeof...(Ts); i++)
            while (at_[i] < all.size() && all[at_[i]].id != types[i].id) at_[i]++;
    }
    template <class F> void fill(weft_slice *rows, uint32_t done, F &function) const
    {
        fill(rows, done, function, std::index_sequence_for<Ts...>());
    }
    template <class F, std::size_t... Is>
    void fill(weft_slice *rows, uint32_t done, F &function, std::index_sequence<Is...>) const
    {
        std::tuple<Ts *...> columns{static_cast<Ts *>(weft_slice_write(rows, at_[Is]))...};
        for (uint32_t i = 0; i < rows->count; i++)
            if constexpr (std::is_invocable_v<F &, uint32_t, Ts &...>)
                function(done + i, std::get<Is>(columns)[i]...);
            else
                function(std::get<Is>(columns)[i]...);
    }
    weft_archetype archetype_ = {};
    uint32_t at_[sizeof...(Ts)] = {}; /* the column of each */
};

/* ---- from functions to terms ---- */

namespace detail
{

/* Keeps the exception that is handled now: it comes out of the call in which functions ran. */
[[gnu::cold, gnu::noinline]] inline void keep_thrown([[maybe_unused]] state &known,
                                                     [[maybe_unused]] uint64_t number,
                                                     [[maybe_unused]] uint64_t within)
{
#ifndef WEFT_NO_EXCEPTIONS
    try {
        throw;
    } catch (const command_error &) {
        known.thrown.keep(number, within, true);
    } catch (...) {
        known.thrown.keep(number, within);
    }
#endif
}
/* Calls a function; `caught` is called in the handler of what it throws, and knows by itself who threw
 * it: nothing of that is kept in registers meanwhile. */
template <class F, class C> void guard(F &&function, [[maybe_unused]] C &&caught)
{
#ifdef WEFT_NO_EXCEPTIONS
    function();
#else
    try {
        function();
    } catch (...) {
        caught();
    }
#endif
}

/* What a system touches beside its rows. */
struct declared {
    std::vector<weft_lookup> lookups, resources;
};

/* Column: what an argument of type A is at run time: made once a slice by its constructor, read for
 * each row by at(). `term` counts those that are terms of the query. */
struct no_term {
    static constexpr bool is_term = false;
    static constexpr bool is_of_row = false;
    static constexpr bool takes_commands = false;
    static void declare(state &, weft_term &) {}
    static void declare(state &, declared &) {}
};
/* Where the values of a component are: a column; of a SPARSE one looked up for each row; of a SHARED or
 * CHUNK one a single value. */
template <class T> struct values_in_column {
    values_in_column(weft_slice *slice, uint32_t term)
        : first(__builtin_expect(slice->calls == 0, 1) ? static_cast<T *>(slice->columns[term])
                                                       : ask(slice, term))
    {
    }
    [[gnu::noinline, gnu::cold]] static T *ask(weft_slice *slice, uint32_t term)
    {
        const char *name = component_traits<std::remove_const_t<T>>::name();
        weft_access access = std::is_const_v<T> ? WEFT_READ : WEFT_WRITE;
        return static_cast<T *>(weft_slice_ask_as(slice, term, access, sizeof(T), name));
    }
    bool is_there() const { return first != nullptr; }
    T *address(std::size_t row) const { return first + row; }
    T *first;
};
template <class T> struct values_by_row {
    values_by_row(weft_slice *of, uint32_t number) : slice(of), term(number) {}
    bool is_there() const { return true; }
    T *address(std::size_t row) const
    {
        if constexpr (std::is_const_v<T>)
            return static_cast<T *>(weft_slice_read_row(slice, term, static_cast<uint32_t>(row)));
        else
            return static_cast<T *>(weft_slice_write_row(slice, term, static_cast<uint32_t>(row)));
    }
    weft_slice *slice;
    uint32_t term;
};
template <class T> struct single_value {
    single_value(weft_slice *slice, uint32_t term)
    {
        if constexpr ((flags_of<std::remove_const_t<T>> & WEFT_SHARED) != 0)
            only = const_cast<T *>(static_cast<const T *>(weft_slice_read_shared(slice, term))); /* T is const, or refused */
        else if constexpr (std::is_const_v<T>)
            only = static_cast<T *>(weft_slice_read_chunk(slice, term));
        else
            only = static_cast<T *>(weft_slice_write_chunk(slice, term));
    }
    bool is_there() const { return only != nullptr; }
    T *address(std::size_t) const { return only; }
    T *only;
};
template <class T> struct no_values { /* of what is refused */
    no_values(weft_slice *, uint32_t) {}
    bool is_there() const { return false; }
    T *address(std::size_t) const { return nullptr; }
};
template <class T, uint32_t flags>
using values_of = std::conditional_t<(flags & WEFT_SPARSE) != 0, values_by_row<T>,
                                     std::conditional_t<(flags & (WEFT_SHARED | WEFT_CHUNK)) != 0,
                                                        single_value<T>, values_in_column<T>>>;

template <bool is_known> constexpr void require_argument()
{
    static_assert(is_known, "an argument is a component (a struct of its own), weft::entity, float (the "
                            "seconds of the step), weft_frame, weft::commands &, weft::resource<T>, "
                            "weft::lookup<T>, weft::buffer<T> or weft_slice &");
}
template <class T, bool optional> struct component_column {
    using value = std::remove_const_t<T>;
    static constexpr bool is_known = is_struct<value> && !is_service<value>;
    using known_value = std::conditional_t<is_known, value, parent>; /* what may be asked about */
    static constexpr bool is_value = is_known && !is_tag<known_value>;
    static constexpr uint32_t flags = flags_of<known_value>;
    static constexpr bool is_term = true;

    static void declare([[maybe_unused]] state &known, weft_term &term)
    {
        require_argument<is_known>();
        static_assert(std::is_const_v<T> || !(std::is_same_v<value, parent> || std::is_same_v<value, instance_of>),
                      "Parent and InstanceOf are const as a term: change them by relate() or a command");
        static_assert(!is_known || is_value, "a tag has no value: name it in with<T>()");
        static_assert(!is_value || (flags & (WEFT_BUFFER | WEFT_RESOURCE)) == 0,
                      "buffers: weft::buffer<T>; resources: weft::resource<T>");
        static_assert(!is_value || std::is_const_v<T> || (flags & WEFT_SHARED) == 0,
                      "a shared value is const");
        if constexpr (is_known) term.component = known.obtain<value>();
        term.access = std::is_const_v<T> ? WEFT_READ : WEFT_WRITE;
        term.match = optional ? WEFT_OPTIONAL : WEFT_ALL;
    }
    static void declare(state &, declared &) {}
    static constexpr bool is_of_row = true;
    static constexpr bool takes_commands = false;
    component_column(const state &, weft_slice *slice, uint32_t term) : values(slice, term) {}
    decltype(auto) at(std::size_t row) const
    {
        if constexpr (optional)
            return values.is_there() ? values.address(row) : nullptr;
        else
            return static_cast<T &>(*values.address(row));
    }
    std::conditional_t<is_known, values_of<T, flags>, no_values<T>> values;
};

template <class A> struct column : component_column<const A, false> {
    using component_column<const A, false>::component_column;
};
template <class T> struct column<T &> : component_column<T, false> {
    using component_column<T, false>::component_column;
};
template <class T> struct column<T *> : component_column<T, true> {
    using component_column<T, true>::component_column;
};
template <class T> struct column<T &&> : component_column<T, false> {
    using component_column<T, false>::component_column;
    using component_column<T, false>::declare;
    static void declare(state &, weft_term &) { require_argument<std::is_lvalue_reference_v<T &&>>(); }
    T &&at(std::size_t row) const { return static_cast<T &&>(*this->values.address(row)); }
};
template <> struct column<entity> : no_term {
    static constexpr bool is_of_row = true;
    column(const state &, weft_slice *slice, uint32_t) : first(slice->entities) {}
    entity at(std::size_t row) const { return first[row]; }
    const entity *first;
};
template <> struct column<float> : no_term {
    column(const state &, weft_slice *slice, uint32_t) : dt(slice->dt) {}
    float at(std::size_t) const { return dt; }
    float dt;
};
template <> struct column<weft_frame> : no_term {
    column(const state &, weft_slice *slice, uint32_t) : frame(weft_slice_frame(slice)) {}
    const weft_frame &at(std::size_t) const { return frame; }
    weft_frame frame;
};
template <> struct column<weft_slice &> : no_term {
    column(const state &, weft_slice *s, uint32_t) : slice(s) {}
    weft_slice &at(std::size_t) const { return *slice; }
    weft_slice *slice;
};
template <> struct column<commands &> : no_term {
    static constexpr bool takes_commands = true;
    static void declare(state &known, weft_term &) { (void)known.nothing(); }
    static void declare(state &, declared &) {}
    column(const state &known, weft_slice *slice, uint32_t)
        : recorder(&known, known.outside != nullptr ? known.outside : weft_slice_recorder(slice))
    {
    }
    commands &at(std::size_t) { return recorder; }
    commands recorder;
};
template <class T> struct column<buffer<T>> {
    using value = std::remove_const_t<T>;
    static constexpr bool is_term = true;
    static constexpr bool is_of_row = true;
    static constexpr bool takes_commands = false;
    static void declare(state &known, weft_term &term)
    {
        constexpr uint32_t flags = flags_of<value>;
        static_assert(!is_component<value> || (flags & WEFT_BUFFER) != 0, "flags = WEFT_BUFFER is missing");
        static_assert((flags & WEFT_RESOURCE) == 0, "of a resource: weft::resource<weft::buffer<T>>");
        term.component = known.obtain<value>();
        term.access = std::is_const_v<T> ? WEFT_READ : WEFT_WRITE;
    }
    static void declare(state &, declared &) {}
    column(const state &, weft_slice *slice, uint32_t term)
        : rows(std::is_const_v<T> ? weft_slice_read_buffers(slice, term)
                                  : weft_slice_write_buffers(slice, term))
    {
    }
    buffer<T> at(std::size_t row) const { return {rows, static_cast<uint32_t>(row)}; }
    weft_buffers rows;
};
template <class T> struct column<resource<buffer<T>>> : no_term {
    using value = std::remove_const_t<T>;
    static void declare(state &known, weft_term &)
    {
        constexpr uint32_t flags = flags_of<value>;
        static_assert(!is_component<value> || ((flags & WEFT_BUFFER) != 0 && (flags & WEFT_RESOURCE) != 0),
                      "flags = WEFT_BUFFER | WEFT_RESOURCE is missing");
        (void)known.obtain<value>();
    }
    static void declare(state &known, declared &all)
    {
        all.resources.push_back(
            {known.obtain<value>(), std::is_const_v<T> ? WEFT_READ : WEFT_WRITE});
    }
    column(const state &known, weft_slice *slice, uint32_t)
        : of(std::is_const_v<T> ? weft_slice_read_resource_buffer(slice, known.find<value>())
                                : weft_slice_write_resource_buffer(slice, known.find<value>()))
    {
    }
    resource<buffer<T>> at(std::size_t) const { return of; }
    resource<buffer<T>> of;
};
template <class T> struct column<resource<T>> : no_term {
    using value = std::remove_const_t<T>;
    static void declare(state &known, weft_term &)
    {
        constexpr uint32_t flags = flags_of<value>;
        static_assert(!is_component<value> || (flags & WEFT_RESOURCE) != 0, "flags = WEFT_RESOURCE is missing");
        static_assert((flags & (WEFT_RESOURCE | WEFT_BUFFER)) != (WEFT_RESOURCE | WEFT_BUFFER),
                      "weft::resource<weft::buffer<T>>");
        (void)known.obtain<value>();
    }
    static void declare(state &known, declared &all)
    {
        all.resources.push_back(
            {known.obtain<value>(), std::is_const_v<T> ? WEFT_READ : WEFT_WRITE});
    }
    column(const state &known, weft_slice *slice, uint32_t) : of(nullptr)
    {
        weft_component component = known.find<value>();
        if constexpr (std::is_const_v<T>)
            of = resource<T>(static_cast<T *>(weft_slice_read_resource(slice, component)));
        else
            of = resource<T>(static_cast<T *>(weft_slice_write_resource(slice, component)));
    }
    resource<T> at(std::size_t) const { return of; }
    resource<T> of;
};
template <class T> struct element_of {
    using type = T;
};
template <class T> struct element_of<buffer<T>> {
    using type = T;
};
template <class B> struct column<lookup<B>> : no_term {
    using T = typename element_of<B>::type;
    using value = std::remove_const_t<T>;
    static void declare(state &known, weft_term &)
    {
        constexpr uint32_t flags = flags_of<value>;
        constexpr bool is_single = (flags & (WEFT_SHARED | WEFT_CHUNK | WEFT_RESOURCE)) != 0;
        static_assert(!is_tag<value>, "a tag has no value: weft_entity_has");
        static_assert(!is_single, "SHARED, CHUNK and RESOURCE values are not looked up by entity");
        static_assert(!is_component<value> || is_tag<value> || is_single ||
                          ((flags & WEFT_BUFFER) != 0) != std::is_same_v<T, B>,
                      "a lookup of a BUFFER is weft::lookup<weft::buffer<T>>, and of nothing else");
        (void)known.obtain<value>();
    }
    static void declare(state &known, declared &all)
    {
        all.lookups.push_back(
            {known.obtain<value>(), std::is_const_v<T> ? WEFT_READ : WEFT_WRITE});
    }
    column(const state &known, weft_slice *slice, uint32_t) : of(slice, known.find<value>()) {}
    lookup<B> at(std::size_t) const { return of; }
    lookup<B> of;
};
/* Other ways to write the same; what is left is refused by component_column. */
template <> struct column<const entity &> : column<entity> {
    using column<entity>::column;
};
template <> struct column<const float &> : column<float> {
    using column<float>::column;
};
template <> struct column<const weft_frame &> : column<weft_frame> {
    using column<weft_frame>::column;
};
template <> struct column<const weft_slice &> : column<weft_slice &> {
    using column<weft_slice &>::column;
};
template <> struct column<commands> : column<commands &> {
    using column<commands &>::column;
};
template <> struct column<const commands &> : column<commands &> {
    using column<commands &>::column;
};
template <class T> struct column<const resource<T> &> : column<resource<T>> {
    using column<resource<T>>::column;
};
template <class T> struct column<const buffer<T> &> : column<buffer<T>> {
    using column<buffer<T>>::column;
};
template <class T> struct column<const lookup<T> &> : column<lookup<T>> {
    using column<lookup<T>>::column;
};

/* The arguments of a function together: terms for its query, and the loop over a slice. */
template <class Arguments> struct columns { /* unknown: refused by require_function */
    static constexpr bool is_of_row = false;
    static constexpr bool takes_commands = false;
    static void declare(state &, std::vector<weft_term> &) {}
    static void declare(state &, declared &) {}
    template <class F> static void run(const state &, weft_slice *, F &) {}
    template <class F> static void run_once(const state &, weft_slice *, F &) {}
};
template <class... As> struct columns<std::tuple<As...>> {
    /* Whether the function asks for a row, so that it cannot run without. */
    static constexpr bool is_of_row = (false || ... || column<As>::is_of_row);
    static constexpr bool takes_commands = (false || ... || column<As>::takes_commands);

    static void declare(state &known, std::vector<weft_term> &terms)
    {
        [[maybe_unused]] auto one = [&](auto *of) {
            using C = std::remove_pointer_t<decltype(of)>;
            weft_term term = {};
            C::declare(known, term);
            if (C::is_term) terms.push_back(term);
        };
        (one(static_cast<column<As> *>(nullptr)), ...);
    }
    static void declare([[maybe_unused]] state &known, [[maybe_unused]] declared &all)
    {
        (column<As>::declare(known, all), ...);
    }
    template <class F> static void run(const state &known, weft_slice *slice, F &function)
    {
        run_with(known, slice, function, std::index_sequence_for<As...>());
    }
    /* Without rows: once for a slice. */
    template <class F> static void run_once(const state &known, weft_slice *slice, F &function)
    {
        std::tuple<column<As>...> from{column<As>(known, slice, 0)...};
        std::apply([&](auto &...each) { function(each.at(0)...); }, from);
    }

    template <std::size_t Term> static constexpr uint32_t term_before()
    {
        constexpr bool is_term[] = {column<As>::is_term..., false};
        uint32_t count = 0;
        for (std::size_t i = 0; i < Term; i++) count += is_term[i];
        return count;
    }

  private:
    template <class F, std::size_t... Is>
    static void run_with(const state &known, weft_slice *slice, F &function,
                         std::index_sequence<Is...>)
    {
        std::tuple<column<As>...> from{column<As>(known, slice, term_before<Is>())...};
        if (__builtin_expect(slice->enabled == nullptr, 1)) {
            for (std::size_t row = 0, count = slice->count; row < count; row++)
                function(std::get<Is>(from).at(row)...);
            return;
        }
        for (std::size_t base = 0, count = slice->count; base < count;
             base += 64) /* 64 rows a word */
            for (uint64_t bits = slice->enabled[base / 64]; bits != 0; bits &= bits - 1)
                function(std::get<Is>(from).at(base +
                                               static_cast<std::size_t>(__builtin_ctzll(bits)))...);
    }
};
/* The same for systems without terms, whose function is called once a step or index. */
template <class Columns> struct once {
    template <class F> static void run(const state &known, weft_slice *slice, F &function)
    {
        Columns::run_once(known, slice, function);
    }
};
struct whole_slice {
    template <class F> static void run(const state &, weft_slice *slice, F &function)
    {
        function(*slice);
    }
};
template <class F> using columns_of = columns<arguments_of<F>>;

} // namespace detail

} // namespace weft

#endif
