/* SPDX-License-Identifier: MIT */
/* typed.hpp: what a C++ type is as a component, and what a function's arguments are as the terms of a
 * query: the part of weft.hpp behind its queries, systems and worlds. Include weft.hpp.
 *
 * columns<tuple of arguments> makes the terms, and the loop over a slice: one column<Argument> each,
 * made once a slice, read for each row by at(). */
#ifndef WEFT_TYPED_HPP
#define WEFT_TYPED_HPP

#include <weft/weft.h>

#include <exception>
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

#if !defined(WEFT_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define WEFT_NO_EXCEPTIONS 1
#endif

namespace weft
{

using entity = weft_entity;

/* A failing call: the code of C and the text of weft_world_error. */
class error : public std::runtime_error
{
  public:
    error(weft_result code, const char *text) : std::runtime_error(text), code_(code) {}
    weft_result code() const { return code_; }

  private:
    weft_result code_;
};

/* ---- components ---- */

namespace detail
{

/* The name of a type, as the compiler writes it: "Position", "game::Position". */
template <class T> std::string type_name()
{
    std::string_view text = __PRETTY_FUNCTION__;
    std::size_t begin = text.find("T = ") + 4;
    return std::string(text.substr(begin, text.find_first_of(";]", begin) - begin));
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

/* What a C++ type is as a component. Specialise it, deriving from component_defaults<T>, for another
 * name, flags (WEFT_ENABLEABLE, WEFT_SPARSE, WEFT_SHARED, WEFT_RESOURCE, ...) or a description.
 * Rows move as bytes. A type that is not trivially copyable has to say that its values may be
 * moved so (`is_relocatable`; std::vector and std::unique_ptr may, std::string of libstdc++ may
 * not); then its constructors and its destructor are the hooks of the component. */
template <class T> struct component_defaults {
    static constexpr uint32_t flags = WEFT_DATA;
    static constexpr bool is_relocatable = std::is_trivially_copyable_v<T>;
    static const char *name()
    {
        static const std::string text = detail::type_name<T>();
        return text.c_str();
    }
    static const weft_type *type() { return nullptr; }
};
template <class T> struct component_traits : component_defaults<T> {
};

/* Access to a resource in a system: resource<Clock> writes, resource<const Clock> reads. */
template <class T> class resource
{
  public:
    explicit resource(T *value) : value_(value) {}
    T &operator*() const { return *value_; }
    T *operator->() const { return value_; }

  private:
    T *value_;
};

namespace detail
{

template <class T> constexpr uint32_t flags_of = component_traits<T>::flags;
template <class T> constexpr bool is_tag = std::is_empty_v<T>;

template <class T> void construct(void *values, uint32_t count, void *)
{
    for (uint32_t i = 0; i < count; i++) new (static_cast<T *>(values) + i) T();
}
template <class T> void destruct(void *values, uint32_t count, void *)
{
    for (uint32_t i = 0; i < count; i++) static_cast<T *>(values)[i].~T();
}
template <class T> void copy(void *to, const void *from, uint32_t count, void *)
{
    for (uint32_t i = 0; i < count; i++)
        new (static_cast<T *>(to) + i) T(static_cast<const T *>(from)[i]);
}

template <class T> weft_component_desc describe()
{
    static_assert(component_traits<T>::is_relocatable,
                  "a component moves as bytes: see weft::component_traits");
    weft_component_desc desc = {};
    desc.name = component_traits<T>::name();
    desc.flags = flags_of<T>;
    desc.type = component_traits<T>::type();
    desc.size = is_tag<T> ? 0 : sizeof(T);
    desc.alignment = is_tag<T> ? 1 : alignof(T);
    if constexpr (!std::is_trivially_copyable_v<T>) {
        desc.hooks.construct = construct<T>;
        desc.hooks.destruct = destruct<T>;
        if constexpr (std::is_copy_constructible_v<T>) desc.hooks.copy = copy<T>;
    }
    return desc;
}

struct state;

/* What ends with its weft::world at the latest, and is empty from then on: in the list of its state
 * until then. Threads: owner. */
class bound
{
  public:
    bound(const bound &) = delete;
    bound &operator=(const bound &) = delete;
    virtual void end() noexcept = 0; /* unbinds */

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
    std::vector<std::shared_ptr<void>> functions;
    std::mutex mutex; /* of `thrown` */
    std::exception_ptr thrown;

    template <class T> weft_component find() const /* threads: any, once registered */
    {
        uint32_t number = type_number<T>();
        return number < components.size() ? components[number] : weft_component{};
    }
    template <class T> weft_component obtain()
    {
        weft_component found = find<T>();
        if (found.id != 0) return found;
        weft_component_desc desc = describe<T>();
        bool is_plain = desc.type == nullptr && desc.hooks.construct == nullptr;
        found = is_plain && !is_tag<T> ? weft_component_create_typed(world, desc.name, desc.size,
                                                                     desc.alignment, desc.flags)
                                       : weft_component_create(world, &desc);
        if (components.size() <= type_number<T>()) components.resize(type_number<T>() + 1);
        components[type_number<T>()] = found;
        return checked(found);
    }
    weft_result checked(weft_result result) const
    {
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
        throw error(result, last->code == result ? last->text : weft_result_text(result));
#endif
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

/* ---- commands ---- */

/* A recorder: that of a slice, as an argument of a system's function. A failing command is reported
 * by the step. Components must be known to the world by then: name them in records<...>(). */
class commands
{
  public:
    commands(const detail::state *known, weft_recorder *recorder)
        : known_(known), recorder_(recorder)
    {
    }
    weft_recorder *get() const { return recorder_; }
    template <class T> weft_result set(entity e, const T &value)
    {
        return weft_recorder_set(recorder_, e, known_->find<T>(), &value, sizeof value);
    }
    template <class T> weft_result add(entity e)
    {
        return weft_recorder_add(recorder_, e, known_->find<T>());
    }
    template <class T> weft_result remove(entity e)
    {
        return weft_recorder_remove(recorder_, e, known_->find<T>());
    }
    template <class T> weft_result enable(entity e, bool enabled)
    {
        return weft_recorder_enable(recorder_, e, known_->find<T>(), enabled);
    }
    weft_result destroy(entity e) { return weft_recorder_destroy_entity(recorder_, e); }
    entity instantiate(entity source) { return weft_recorder_instantiate(recorder_, source); }
    /* An entity of an archetype made before (world.archetype<...>()), with values. */
    template <class... Ts> entity create(weft_archetype archetype, const Ts &...values)
    {
        entity made = weft_recorder_create_entity(recorder_, archetype);
        (set(made, values), ...);
        return made;
    }

  private:
    const detail::state *known_;
    weft_recorder *recorder_;
};

/* ---- from functions to terms ---- */

namespace detail
{

template <class F> struct signature : signature<decltype(&F::operator())> {
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

/* Column: what an argument of type A is at run time: made once a slice by its constructor, read for
 * each row by at(). `term` counts those that are terms of the query. */
struct no_term {
    static constexpr bool is_term = false;
    static void declare(state &, weft_term &) {}
    static void declare(state &, weft_system_desc &, uint32_t &) {}
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
            only = static_cast<T *>(weft_slice_read_shared(slice, term));
        else if constexpr (std::is_const_v<T>)
            only = static_cast<T *>(weft_slice_read_chunk(slice, term));
        else
            only = static_cast<T *>(weft_slice_write_chunk(slice, term));
    }
    bool is_there() const { return only != nullptr; }
    T *address(std::size_t) const { return only; }
    T *only;
};
template <class T, uint32_t flags>
using values_of = std::conditional_t<(flags & WEFT_SPARSE) != 0, values_by_row<T>,
                                     std::conditional_t<(flags & (WEFT_SHARED | WEFT_CHUNK)) != 0,
                                                        single_value<T>, values_in_column<T>>>;

template <class T, bool optional> struct component_column {
    using value = std::remove_const_t<T>;
    static_assert(std::is_class_v<value> || std::is_union_v<value>,
                  "a component is a struct of its own");
    static_assert(!is_tag<value>, "a tag has no value: name it in with<T>()");
    static_assert((flags_of<value> & (WEFT_BUFFER | WEFT_RESOURCE)) == 0,
                  "buffers: weft_slice_write_buffers; resources: weft::resource<T>");
    static_assert(std::is_const_v<T> || (flags_of<value> & WEFT_SHARED) == 0,
                  "a shared value is const");
    static constexpr bool is_term = true;

    static void declare(state &known, weft_term &term)
    {
        term.component = known.obtain<value>();
        term.access = std::is_const_v<T> ? WEFT_READ : WEFT_WRITE;
        term.match = optional ? WEFT_OPTIONAL : WEFT_ALL;
    }
    static void declare(state &, weft_system_desc &, uint32_t &) {}
    component_column(const state &, weft_slice *slice, uint32_t term) : values(slice, term) {}
    decltype(auto) at(std::size_t row) const
    {
        if constexpr (optional)
            return values.is_there() ? values.address(row) : nullptr;
        else
            return static_cast<T &>(*values.address(row));
    }
    values_of<T, flags_of<value>> values;
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
template <> struct column<entity> : no_term {
    column(const state &, weft_slice *slice, uint32_t) : first(slice->entities) {}
    entity at(std::size_t row) const { return first[row]; }
    const entity *first;
};
template <> struct column<float> : no_term {
    column(const state &, weft_slice *slice, uint32_t) : dt(slice->dt) {}
    float at(std::size_t) const { return dt; }
    float dt;
};
template <> struct column<weft_slice &> : no_term {
    column(const state &, weft_slice *s, uint32_t) : slice(s) {}
    weft_slice &at(std::size_t) const { return *slice; }
    weft_slice *slice;
};
template <> struct column<commands &> : no_term {
    column(const state &known, weft_slice *slice, uint32_t)
        : recorder(&known, weft_slice_recorder(slice))
    {
    }
    commands &at(std::size_t) { return recorder; }
    commands recorder;
};
template <class T> struct column<resource<T>> : no_term {
    using value = std::remove_const_t<T>;
    static void declare(state &, weft_term &) {}
    static void declare(state &known, weft_system_desc &desc, uint32_t &at)
    {
        if (at < WEFT_SYSTEM_LOOKUPS)
            desc.resources[at++] = {known.obtain<value>(),
                                    std::is_const_v<T> ? WEFT_READ : WEFT_WRITE};
    }
    column(const state &known, weft_slice *slice, uint32_t) : of(nullptr)
    {
        if constexpr (std::is_const_v<T>)
            of =
                resource<T>(static_cast<T *>(weft_slice_read_resource(slice, known.find<value>())));
        else
            of = resource<T>(
                static_cast<T *>(weft_slice_write_resource(slice, known.find<value>())));
    }
    resource<T> at(std::size_t) const { return of; }
    resource<T> of;
};

/* The arguments of a function together: terms for its query, and the loop over a slice. */
template <class Arguments> struct columns;
template <class... As> struct columns<std::tuple<As...>> {
    static constexpr uint32_t term_count = (0u + ... + (column<As>::is_term ? 1u : 0u));

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
    static void declare(state &known, weft_system_desc &desc)
    {
        uint32_t at = 0;
        (column<As>::declare(known, desc, at), ...);
    }
    template <class F> static void run(const state &known, weft_slice *slice, F &function)
    {
        run_with(known, slice, function, std::index_sequence_for<As...>());
    }

  private:
    template <std::size_t Term> static constexpr uint32_t term_before()
    {
        constexpr bool is_term[] = {column<As>::is_term..., false};
        uint32_t count = 0;
        for (std::size_t i = 0; i < Term; i++) count += is_term[i];
        return count;
    }
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
struct whole_slice {
    template <class F> static void run(const state &, weft_slice *slice, F &function)
    {
        function(*slice);
    }
};
template <class F> using columns_of = columns<typename signature<std::decay_t<F>>::arguments>;

} // namespace detail

} // namespace weft

#endif
