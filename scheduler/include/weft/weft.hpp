/* SPDX-License-Identifier: MIT */
/* weft.hpp: weft for C++17: typed components, systems and queries of lambdas, owners of worlds.
 *
 *   weft::world world;
 *   world.create(Position{1, 2, 3}, Velocity{1, 0, 0});
 *   world.system("move").each([](Position &p, const Velocity &v, float dt) { p.x += v.x * dt; });
 *   world.step(1.0f / 60);
 *
 * Public, header only, over the C interface: every handle is that of weft.h, and world.get() is the
 * world for all that is not here. What a function takes says what it does:
 *   T &                  WRITE                   T *                  WRITE, OPTIONAL (or nullptr)
 *   const T &, T         READ                    const T *            READ, OPTIONAL
 *   weft_entity          the row's entity        float                seconds of the step
 *   weft::commands &     the slice's recorder    weft_slice &         the slice itself
 *   weft::resource<T>    a resource for writing, weft::resource<const T> for reading
 *   weft::lookup<T>      T of other entities for writing, weft::lookup<const T> for reading
 *   weft::buffer<T>      the elements of a BUFFER, weft::buffer<const T> for reading
 *   weft_frame           number, time and dt of the step
 *   const weft::parent & the row's Parent
 * The loop is that of C, inlined: the same instructions (tests/cpp).
 *
 * Errors are exceptions (weft::error). Without exceptions (-fno-exceptions, or WEFT_NO_EXCEPTIONS)
 * failing calls return what C returns; weft_world_error says more. An exception of a system's
 * function ends that slice; step() throws it when the step is over, of several that of the system
 * registered first and its first slice.
 * Threads: as the C functions; a weft::world belongs to its owner thread. */
#ifndef WEFT_HPP
#define WEFT_HPP

#include <weft/observer.h>
#include <weft/relation.h>
#include <weft/snapshot.h>
#include <weft/stream.h>
#include <weft/transfer.h>
#include <weft/typed.hpp>
#include <weft/world_file.h>

#include <cstdlib>
#include <optional>

namespace weft
{

/* The components of stream.h: which section an entity is of, and what asks for one. */
template <> struct component_traits<weft_section> : component_defaults<weft_section> {
    static constexpr uint32_t flags = WEFT_SHARED;
    static const char *name() { return "Section"; }
    static weft_component made(weft_world *world) { return weft_component_section(world); }
};
template <> struct component_traits<weft_section_request> : component_defaults<weft_section_request> {
    static const char *name() { return "SectionRequest"; }
    static weft_component made(weft_world *world) { return weft_component_section_request(world); }
};

/* ---- queries ---- */

/* Terms beside those that a function's arguments make: for systems and queries. */
template <class Self> class terms_of
{
  public:
    template <class... Ts> Self &with() { return add<Ts...>(WEFT_ALL); }
    template <class... Ts> Self &without() { return add<Ts...>(WEFT_NONE); }
    template <class... Ts> Self &any() { return add<Ts...>(WEFT_ANY); }
    Self &with_prefabs() { return query_.with_prefabs = true, self(); }
    Self &ignores_enabled() { return query_.ignores_enabled = true, self(); }

  protected:
    explicit terms_of(detail::state *known) : known_(known) {}
    template <class... Ts> Self &add(weft_match match)
    {
        (extra_.push_back({known_->obtain<Ts>(), WEFT_NO_ACCESS, match, 0}), ...);
        return self();
    }
    void add(weft_component component, weft_access access, weft_match match)
    {
        extra_.push_back({component, access, match, 0});
    }
    /* The arguments' terms come first: term i of the slice is argument i. */
    template <class F> weft_query_desc describe()
    {
        terms_.clear();
        detail::columns_of<F>::declare(*known_, terms_);
        terms_.insert(terms_.end(), extra_.begin(), extra_.end());
        weft_query_desc desc = query_;
        desc.more_terms = terms_.data();
        desc.more_term_count = static_cast<uint32_t>(terms_.size());
        return desc;
    }
    Self &self() { return static_cast<Self &>(*this); }
    detail::state *known_;

  private:
    weft_query_desc query_ = {};
    std::vector<weft_term> extra_, terms_;
};

namespace detail
{

/* The recorder of a loop outside systems: made for the outermost one. */
class outside_commands
{
  public:
    explicit outside_commands(state &known) : known_(known)
    {
        if (known.outside != nullptr) return;
        (void)known.checked(weft_recorder_create(known.world, &known.outside));
        is_outermost_ = known.outside != nullptr;
    }
    outside_commands(const outside_commands &) = delete;
    outside_commands &operator=(const outside_commands &) = delete;
    bool is_there() const { return known_.outside != nullptr; }
    void play()
    {
        if (is_outermost_) (void)known_.checked(weft_recorder_play(known_.outside));
    }
    ~outside_commands()
    {
        if (is_outermost_) weft_recorder_destroy(std::exchange(known_.outside, nullptr));
    }

  private:
    state &known_;
    bool is_outermost_ = false;
};

} // namespace detail

namespace detail
{

/* What queries and views have in common: filters (query.h), and how many rows they select. */
template <class Self> class selection : protected bound
{
  public:
    weft_query get() const { return handle_; }
    uint64_t count() const
    {
        return known_ == nullptr ? 0 : weft_query_count(known_->world, handle_);
    }
    bool matches(entity e) const
    {
        return known_ != nullptr && weft_query_matches(known_->world, handle_, e);
    }
    /* The rows whose SHARED value is this one. */
    template <class T> Self &only(const T &value) { return where(WEFT_FILTER_EQUAL, value); }
    template <class T> Self &except(const T &value) { return where(WEFT_FILTER_NOT_EQUAL, value); }
    /* Slices in which T changed after a weft_world_change_version. */
    template <class T> Self &changed_since(uint32_t version)
    {
        if (known_ != nullptr)
            known_->checked(weft_query_filter_changed(known_->world, handle_, known_->obtain<T>(), version));
        return static_cast<Self &>(*this);
    }
    /* All values of T, in the order of the rows (zero where an optional one is absent), and back. */
    template <class T> std::vector<T> read_values() const
    {
        static_assert(!is_component<T> || (is_plain<T> && !is_tag<T>), "values are copied as bytes");
        std::vector<T> all;
        if (known_ == nullptr) return all;
        all.resize(static_cast<std::size_t>(count()));
        (void)weft_query_read_values(known_->world, handle_, known_->obtain<T>(), all.data(),
                                     all.size());
        return all;
    }
    template <class T> weft_result write_values(const std::vector<T> &all)
    {
        static_assert(!is_component<T> || (is_plain<T> && !is_tag<T>), "values are copied as bytes");
        return called([&] {
            return weft_query_write_values(known_->world, handle_, known_->obtain<T>(), all.data(), all.size());
        });
    }
    /* Changes all rows; set_all adds the component where it is absent. */
    template <class T> weft_result set_all(const T &value)
    {
        static_assert(!is_component<T> || (is_plain<T> && !is_tag<T>), "values are copied as bytes: each()");
        return called([&] {
            if constexpr ((flags_of<T> & WEFT_SHARED) != 0)
                return weft_query_set_shared(known_->world, handle_, known_->obtain<T>(), &value);
            else
                return weft_query_set(known_->world, handle_, known_->obtain<T>(), &value, sizeof value);
        });
    }
    template <class T> weft_result add_all()
    {
        return called([&] { return weft_query_add(known_->world, handle_, known_->obtain<T>()); });
    }
    template <class T> weft_result remove_all()
    {
        return called([&] { return weft_query_remove(known_->world, handle_, known_->obtain<T>()); });
    }
    weft_result destroy_all()
    {
        return called([&] { return weft_query_destroy_entities(known_->world, handle_); });
    }
    Self &unfiltered()
    {
        if (known_ != nullptr) known_->checked(weft_query_filter_reset(known_->world, handle_));
        return static_cast<Self &>(*this);
    }

  protected:
    selection(state *known, weft_query handle) : handle_(handle) { bind(known); }
    selection(selection &&other) noexcept : handle_(std::exchange(other.handle_, {}))
    {
        if (other.known_ == nullptr) return;
        bind(other.known_);
        other.unbind();
    }
    ~selection() = default;
    template <class F> weft_result called(F &&function)
    {
        return known_ == nullptr ? checked_call(WEFT_BAD_HANDLE) : known_->checked(function());
    }
    void end_of_world() noexcept override
    {
        if (known_ != nullptr && handle_.id != 0) (void)weft_query_destroy(known_->world, handle_);
        handle_ = {};
        unbind();
    }
    template <class T> Self &where(weft_filter_op op, const T &value)
    {
        static_assert((flags_of<T> & WEFT_SHARED) != 0, "flags = WEFT_SHARED is missing");
        if (known_ != nullptr)
            known_->checked(weft_query_filter_shared(known_->world, handle_, known_->obtain<T>(), op, &value, 1));
        return static_cast<Self &>(*this);
    }
    weft_query handle_;
};

} // namespace detail

/* A query that the caller owns: it ends with the variable, or with the weft::world it was made by,
 * and then selects nothing. */
template <class F> class query final : public detail::selection<query<F>>
{
    using detail::selection<query<F>>::known_;
    using detail::selection<query<F>>::handle_;

  public:
    query(detail::state *known, weft_query handle, F function)
        : detail::selection<weft::query<F>>(known, handle), function_(std::move(function))
    {
    }
    query(query &&other) noexcept = default;
    ~query() { this->end_of_world(); }
    /* Calls the function for every row that the query selects, on this thread; then plays the
     * commands that it recorded (those of a loop within another one when the outer one ends). */
    void operator()()
    {
        if (known_ == nullptr) return;
        if constexpr (detail::columns_of<F>::takes_commands) {
            detail::outside_commands open(*known_);
            if (open.is_there()) {
                loop();
                open.play();
            }
        } else
            loop();
    }
    /* The same on all workers: the function may be called at once for rows of several slices. */
    void in_parallel()
    {
        static_assert(!detail::columns_of<F>::takes_commands, "commands are recorded on one thread: query()");
        if (known_ == nullptr) return;
        weft_result result = weft_query_each_parallel(
            known_->world, handle_,
            [](weft_slice *slice, void *user) {
                auto *q = static_cast<query *>(user);
                detail::guard([&] { detail::columns_of<F>::run(*q->known_, slice, q->function_); },
                              [q, slice] { detail::keep_thrown(*q->known_, 0, slice->index); });
            },
            this);
        (void)known_->ended(result);
    }

  private:
    void loop()
    {
        struct open_cursor {
            weft_cursor c;
            ~open_cursor() { weft_query_end(&c); }
        } open{weft_query_begin(known_->world, handle_)};
        while (weft_query_next(&open.c))
            detail::columns_of<F>::run(*known_, &open.c.slice, function_);
    }
    F function_;
};

/* The rows of a query one by one: for (auto [p, v, e] : world.view<Position, const Velocity,
 * weft::entity>()) p.x += v.x; each element a reference, a pointer where the term is `T *` (optional,
 * or nullptr), a weft::buffer<T>, or the entity. One loop at a time; leaving it early ends it. A function given to
 * each() is faster. Threads: owner. */
template <class... Ts> class view final : public detail::selection<view<Ts...>>
{
    using detail::selection<view<Ts...>>::known_;
    using detail::selection<view<Ts...>>::handle_;
    template <class T>
    using argument = std::conditional_t<std::is_pointer_v<T> || detail::is_service<T>, T, T &>;
    using columns = std::tuple<detail::column<argument<Ts>>...>;

  public:
    using function = void (*)(argument<Ts>...);
    view(detail::state *known, weft_query handle)
        : detail::selection<view<Ts...>>(known, handle)
    {
    }
    ~view() { end_of_world(); }

    struct sentinel {
    };
    class iterator
    {
      public:
        explicit iterator(view *of) : of_(of) {}
        std::tuple<argument<Ts>...> operator*() const
        {
            return std::apply(
                [this](auto &...each) {
                    return std::tuple<argument<Ts>...>(each.at(of_->row_)...);
                },
                *of_->columns_);
        }
        iterator &operator++() { return of_->row_++, of_->settle(), *this; }
        bool operator!=(sentinel) const { return of_->columns_.has_value(); }
        bool operator==(sentinel) const { return !of_->columns_.has_value(); }

      private:
        view *of_;
    };
    iterator begin()
    {
        columns_.reset();
        if (known_ == nullptr) return iterator(this); /* no rows, and the cursor's loop has gone */
        weft_query_end(&cursor_);
        cursor_ = weft_query_begin(known_->world, handle_);
        next_slice();
        settle();
        return iterator(this);
    }
    sentinel end() const { return {}; }

  private:
    void next_slice()
    {
        columns_.reset();
        row_ = 0;
        if (weft_query_next(&cursor_)) emplace(std::index_sequence_for<Ts...>());
    }
    template <std::size_t... Is> void emplace(std::index_sequence<Is...>)
    {
        columns_.emplace(detail::column<argument<Ts>>(
            *known_, &cursor_.slice,
            detail::columns<std::tuple<argument<Ts>...>>::template term_before<Is>())...);
    }
    /* Goes on to the next enabled row, from row_ on. */
    void settle()
    {
        while (columns_.has_value()) {
            const weft_slice &slice = cursor_.slice;
            while (row_ < slice.count && slice.enabled != nullptr &&
                   (slice.enabled[row_ / 64] >> row_ % 64 & 1) == 0)
                row_++;
            if (row_ < slice.count) return;
            next_slice();
        }
    }
    void end_of_world() noexcept override
    {
        if (known_ == nullptr) return;
        weft_query_end(&cursor_);
        columns_.reset();
        detail::selection<view<Ts...>>::end_of_world();
    }
    weft_cursor cursor_ = {};
    std::optional<columns> columns_; /* of the slice; none: the end */
    std::size_t row_ = 0;
};

/* Describes a query: world.query().with<Alive>().each([](Position &p) { ... })(). */
class query_builder : public terms_of<query_builder>
{
  public:
    explicit query_builder(detail::state *known) : terms_of(known) {}
    template <class F> query<std::decay_t<F>> each(F &&function)
    {
        using kept = std::decay_t<F>;
        weft_query_desc desc = describe<F>();
        if constexpr (detail::require_function<F>()) {
            kept copy(std::forward<F>(function)); /* may throw: before there is a query */
            return {known_, known_->checked(weft_query_create(known_->world, &desc)), std::move(copy)};
        } else
            std::abort(); /* it does not compile */
    }
    template <class... Ts> weft::view<Ts...> view()
    {
        weft_query_desc desc = describe<typename weft::view<Ts...>::function>();
        return {known_, known_->checked(weft_query_create(known_->world, &desc))};
    }
};

/* ---- systems ---- */

/* Describes a system; each() or run() registers it. */
class system_builder : public terms_of<system_builder>
{
  public:
    system_builder(detail::state *known, const char *name) : terms_of(known), name_(name)
    {
        desc_.flags = 0;
    }
    system_builder &before(const char *name) { return before_.push_back(name), *this; }
    system_builder &after(const char *name) { return after_.push_back(name), *this; }
    system_builder &group(const char *name) { return desc_.group = name, *this; }
    system_builder &period(float seconds) { return desc_.period = seconds, *this; }
    system_builder &flags(uint32_t system_flags) { return desc_.flags |= system_flags, *this; }
    system_builder &skips_unchanged() { return desc_.skips_unchanged = true, *this; }
    /* Which commands it records (weft_command_effects), of which components. */
    template <class... Ts> system_builder &records(uint32_t effects)
    {
        desc_.effects |= effects;
        (records_.push_back(known_->obtain<Ts>()), ...);
        return *this;
    }
    /* The components that entities it destroys may have (weft_system_desc.destroys). */
    template <class... Ts> system_builder &destroys()
    {
        desc_.effects |= WEFT_RECORDS_DESTROY;
        (destroys_.push_back(known_->obtain<Ts>()), ...);
        return *this;
    }
    /* Components of other entities: reads<T>() and, const or not, what weft_slice_read_entity takes.
     * An argument weft::lookup<T> says so by itself. */
    template <class... Ts> system_builder &reads() { return looks_up<Ts...>(WEFT_READ); }
    template <class... Ts> system_builder &writes() { return looks_up<Ts...>(WEFT_WRITE); }
    /* Resources that run() uses: resources<Clock, const Settings>(), const for reading. An argument
     * weft::resource<T> says so by itself. */
    template <class... Ts> system_builder &resources()
    {
        (all_.resources.push_back({known_->obtain<Ts>(), access_of<Ts>}), ...);
        return *this;
    }
    /* Queries that the function iterates (weft_slice_query), declared with their access. */
    template <class... Qs> system_builder &queries(const Qs &...queries)
    {
        (queries_.push_back(handle_of(queries)), ...);
        return *this;
    }
    /* The rows that run() gets, beside with<T>() and its like: terms 0, 1, ... of the slice, const
     * for reading: over<Position, const Velocity>(); maybe<T>() where rows without T count, too. */
    template <class... Ts> system_builder &over()
    {
        (this->add(known_->obtain<Ts>(), access_of<Ts>, WEFT_ALL), ...);
        return *this;
    }
    template <class... Ts> system_builder &maybe()
    {
        (this->add(known_->obtain<Ts>(), access_of<Ts>, WEFT_OPTIONAL), ...);
        return *this;
    }
    /* Instead of rows `count` indices (weft_slice.index), or as many as a function says in each run. */
    system_builder &count(uint32_t indices)
    {
        indices_ = indices;
        return over_ = WEFT_OVER_COUNT, *this;
    }
    template <class F> system_builder &range(F &&indices)
    {
        constexpr bool fits = detail::gives<uint32_t, F>();
        static_assert(fits, "range() takes a function uint32_t (), which can be copied");
        if constexpr (fits) range_ = std::forward<F>(indices);
        return over_ = WEFT_OVER_RANGE, *this;
    }
    /* The system runs only if the function returns true. */
    template <class F> system_builder &run_if(F &&condition)
    {
        constexpr bool fits = detail::gives<bool, F>();
        static_assert(fits, "run_if() takes a function bool (), which can be copied");
        if constexpr (fits) run_if_ = std::forward<F>(condition);
        return *this;
    }
    /* Level after level of a relation by depth: world.parent(), or a component that was declared. */
    system_builder &by_depth(weft_component relation)
    {
        this->add(relation, WEFT_READ, WEFT_OPTIONAL);
        all_.lookups.push_back({relation, WEFT_READ}); /* weft_relation_target, of rows above, too */
        return desc_.by_depth = relation, *this;
    }

    /* The function is called for every enabled row, in parallel; without components once a step, or
     * once for each index. */
    template <class F> weft_system each(F &&function)
    {
        using columns = detail::columns_of<F>;
        weft_query_desc rows = this->template describe<F>();
        columns::declare(*known_, all_);
        if constexpr (!detail::require_function<F>())
            return {};
        else if (rows.more_term_count != 0)
            return create<columns>(rows, std::forward<F>(function));
        else if constexpr (columns::is_of_row) {
            known_->refuse(WEFT_INVALID_ARGUMENT,
                           std::string("system ") + name_ + " takes the entity of a row, but names "
                           "no component that rows have: add with<T>(), or take a component");
            return {};
        } else
            return create<detail::once<columns>>(rows, std::forward<F>(function));
    }
    /* The function, void (weft_slice &), is called once for each slice or index; without terms once
     * a step. */
    template <class F> weft_system run(F &&function)
    {
        using arguments = detail::arguments_of<F>;
        constexpr bool fits = std::is_invocable_v<std::decay_t<F> &, weft_slice &> &&
                              !std::is_same_v<arguments, std::tuple<weft_slice>>;
        static_assert(fits, "run() takes a function void (weft_slice &); each() one of components");
        static_assert(!fits || detail::is_kept<F>, "a function is kept by value: std::move it, or make it copyable");
        if constexpr (fits && detail::is_kept<F>)
            return create<detail::whole_slice>(this->template describe<void (*)()>(), std::forward<F>(function));
        else
            return {};
    }

  private:
    template <class T>
    static constexpr weft_access access_of = std::is_const_v<T> ? WEFT_READ : WEFT_WRITE;
    static weft_query handle_of(weft_query of) { return of; }
    template <class F> static weft_query handle_of(const query<F> &of) { return of.get(); }

    /* What a system of C++ is for the library: `user`. */
    struct called {
        detail::state *known;
        uint64_t number; /* in order of registration */
        std::function<uint32_t()> range;
        std::function<bool()> run_if;
    };
    template <class... Ts> system_builder &looks_up(weft_access access)
    {
        (all_.lookups.push_back({known_->obtain<Ts>(), access}), ...);
        return *this;
    }
    /* The condition and the range are asked before any slice. */
    template <class F> static void ask(called *of, F &&function)
    {
        detail::guard(function, [of] { detail::keep_thrown(*of->known, of->number, 0); });
    }
    template <class Over, class F> weft_system create(const weft_query_desc &rows, F &&function)
    {
        struct closure : called {
            std::decay_t<F> function;
        };
        uint64_t number = known_->functions.size();
        auto kept = std::make_shared<closure>(closure{
            {known_, number, std::move(range_), std::move(run_if_)}, std::forward<F>(function)});
        called *of = kept.get();
        desc_.name = name_;
        desc_.user = of;
        desc_.run = [](weft_slice *slice, void *user) {
            closure *c = static_cast<closure *>(static_cast<called *>(user));
            detail::guard([&] { Over::run(*c->known, slice, c->function); },
                          [c, slice] {
                              detail::keep_thrown(*c->known, c->number,
                                                  slice->first + slice->index + 1);
                          });
        };
        if (over_ != WEFT_OVER_ROWS && rows.more_term_count != 0) {
            known_->refuse(WEFT_INVALID_ARGUMENT,
                           std::string("system ") + name_ + " has both rows and indices");
            return {};
        }
        desc_.over.kind = over_;
        if (over_ == WEFT_OVER_ROWS)
            desc_.over.rows = rows;
        else if (over_ == WEFT_OVER_COUNT)
            desc_.over.count = indices_;
        else
            desc_.over.range = [](weft_world *, void *user) {
                called *c = static_cast<called *>(user);
                uint32_t count = 0;
                ask(c, [&] { count = c->range(); });
                return count;
            };
        if (of->run_if)
            desc_.run_if = [](weft_world *, void *user) {
                called *c = static_cast<called *>(user);
                bool is_true = false;
                ask(c, [&] { is_true = c->run_if(); });
                return is_true;
            };
        list(desc_.more_lookups, desc_.more_lookup_count, all_.lookups);
        list(desc_.more_resources, desc_.more_resource_count, all_.resources);
        list(desc_.more_queries, desc_.more_query_count, queries_);
        list(desc_.more_records, desc_.more_record_count, records_);
        list(desc_.more_destroys, desc_.more_destroy_count, destroys_);
        list(desc_.more_before, desc_.more_before_count, before_);
        list(desc_.more_after, desc_.more_after_count, after_);
        known_->functions.push_back(std::move(kept)); /* before the system may need it */
        weft_system made = {};
        detail::or_undo([&] { made = known_->checked(weft_system_create(known_->world, &desc_)); },
                        [&] { known_->functions.pop_back(); });
        if (made.id == 0) known_->functions.pop_back();
        return made;
    }
    template <class T> static void list(const T *&more, uint32_t &count, const std::vector<T> &from)
    {
        more = from.data();
        count = static_cast<uint32_t>(from.size());
    }

    const char *name_;
    weft_system_desc desc_ = {};
    detail::declared all_;
    std::vector<weft_query> queries_;
    std::vector<weft_component> records_, destroys_;
    uint32_t over_ = WEFT_OVER_ROWS, indices_ = 0;
    std::function<uint32_t()> range_;
    std::function<bool()> run_if_;
    std::vector<const char *> before_, after_;
};

/* Describes a group of systems (weft_group_desc): set() replaces its order and rate. */
class group_builder
{
  public:
    group_builder(detail::state *known, const char *name) : known_(known) { desc_.name = name; }
    group_builder &before(const char *name) { return before_.push_back(name), *this; }
    group_builder &after(const char *name) { return after_.push_back(name), *this; }
    group_builder &period(float seconds) { return desc_.period = seconds, *this; }
    group_builder &disabled() { return desc_.is_disabled = true, *this; }
    weft_result set()
    {
        desc_.more_before = before_.data();
        desc_.more_before_count = static_cast<uint32_t>(before_.size());
        desc_.more_after = after_.data();
        desc_.more_after_count = static_cast<uint32_t>(after_.size());
        return known_->checked(weft_group_set(known_->world, &desc_));
    }
    /* Of a group that exists; its order and rate stay. */
    weft_result enable(bool enabled)
    {
        return known_->checked(weft_group_enable(known_->world, desc_.name, enabled));
    }

  private:
    detail::state *known_;
    weft_group_desc desc_ = {};
    std::vector<const char *> before_, after_;
};

/* ---- observers ---- */

/* Describes an observer of a component; the last call registers it. Its function takes any of
 * weft::entity, const T & (the value as it was: not of added and created), weft::commands & and
 * const weft_observation &, and is called for each entity. */
template <class T> class observer_builder
{
  public:
    observer_builder(detail::state *known, const char *name) : known_(known)
    {
        static_assert(!detail::is_component<T> ||
                          (detail::flags_of<T> & (WEFT_SHARED | WEFT_SPARSE | WEFT_BUFFER | WEFT_CHUNK | WEFT_RESOURCE)) == 0,
                      "tags and components in columns are observed: of others a tag that is added with them");
        desc_.name = name;
        desc_.component = known->obtain<T>();
    }
    observer_builder &before(const char *name) { return desc_.before = name, *this; }
    observer_builder &parallel() { return desc_.is_parallel = true, *this; }
    template <class F> weft_observer added(F &&f) { return on<F>(WEFT_ON_ADDED, f); }
    template <class F> weft_observer removed(F &&f) { return on<F>(WEFT_ON_REMOVED, f); }
    template <class F> weft_observer changed(F &&f) { return on<F>(WEFT_ON_CHANGED, f); }
    template <class F> weft_observer created(F &&f) { return on<F>(WEFT_ON_CREATED, f); }
    template <class F> weft_observer destroyed(F &&f) { return on<F>(WEFT_ON_DESTROYED, f); }

  private:
    template <class A>
    static decltype(auto) argument(const weft_observation *o, uint32_t i, commands &recorder)
    {
        using plain = std::remove_cv_t<std::remove_reference_t<A>>;
        if constexpr (std::is_same_v<plain, entity>)
            return entity(o->entities[i]);
        else if constexpr (std::is_same_v<plain, T>)
            return static_cast<const T &>(static_cast<const T *>(o->values)[i]);
        else if constexpr (std::is_same_v<plain, commands>)
            return static_cast<commands &>(recorder);
        else
            return static_cast<const weft_observation &>(*o);
    }
    /* What A would be made from; void: it is none. */
    template <class A, class plain = std::remove_cv_t<std::remove_reference_t<A>>>
    using given = std::conditional_t<std::is_same_v<plain, entity>, entity,
                  std::conditional_t<std::is_same_v<plain, T>, const T &,
                  std::conditional_t<std::is_same_v<plain, commands>, commands &,
                  std::conditional_t<std::is_same_v<plain, weft_observation>, const weft_observation &, void>>>>;
    template <class Arguments> struct caller { /* unknown: refused by require_function */
        static constexpr bool takes_value = false;
        static constexpr bool fits = true;
        template <class F> static void run(const weft_observation *, commands &, F &) {}
    };
    template <class... As> struct caller<std::tuple<As...>> {
        static constexpr bool fits = (true && ... && std::is_convertible_v<given<As>, As>);
        static constexpr bool takes_value =
            (false || ... ||
             std::is_same_v<std::remove_cv_t<std::remove_reference_t<As>>, T>);
        template <class F>
        static void run(const weft_observation *o, commands &recorder, F &function)
        {
            if constexpr (fits)
                for (uint32_t i = 0; i < o->count; i++) function(argument<As>(o, i, recorder)...);
        }
    };
    template <class F> weft_observer on(weft_observer_event event, F &function)
    {
        using call = caller<detail::arguments_of<F>>;
        static_assert(call::fits, "an observer's function takes weft::entity, const T & (the value as it was), "
                                  "weft::commands & or const weft_observation &");
        static_assert(!call::takes_value || !detail::is_tag<T>, "a tag has no value");
        if (call::takes_value && (event == WEFT_ON_ADDED || event == WEFT_ON_CREATED)) {
            known_->refuse(WEFT_INVALID_ARGUMENT,
                           std::string("observer ") + desc_.name + " of what was added takes the "
                           "value as it was, and there was none: read it by weft_entity_read");
            return {};
        }
        if constexpr (detail::require_function<F>())
            return create<call>(event, std::forward<F>(function));
        else
            return {};
    }
    template <class call, class F> weft_observer create(weft_observer_event event, F &&function)
    {
        struct closure {
            detail::state *known;
            uint64_t number;
            std::decay_t<F> function;
        };
        auto kept = std::make_shared<closure>(
            closure{known_, known_->functions.size(), std::forward<F>(function)});
        desc_.on = event;
        desc_.user = kept.get();
        desc_.run = [](const weft_observation *o, void *user) {
            closure *c = static_cast<closure *>(user);
            commands recorder(c->known, o->commands);
            detail::guard([&] { call::run(o, recorder, c->function); },
                          [c, o] { detail::keep_thrown(*c->known, c->number, o->entities[0].index); });
        };
        (void)known_->nothing();
        known_->functions.push_back(std::move(kept));
        weft_observer made = {};
        detail::or_undo([&] { made = known_->checked(weft_observer_create(known_->world, &desc_)); },
                        [&] { known_->functions.pop_back(); });
        if (made.id == 0) known_->functions.pop_back();
        return made;
    }
    detail::state *known_;
    weft_observer_desc desc_ = {};
};

/* ---- worlds ---- */

namespace detail
{

/* A handle of C that ends with the variable, or with the weft::world that owns the world. */
template <class Handle, void (*end)(Handle *)> class owned : bound
{
  public:
    owned() = default; /* empty */
    owned(owned &&other) noexcept { take(other); }
    owned &operator=(owned &&other) noexcept
    {
        if (this != &other) reset();
        if (this != &other) take(other);
        return *this;
    }
    ~owned() { reset(); }
    Handle *get() const { return handle_; }
    explicit operator bool() const { return handle_ != nullptr; }
    void reset() noexcept
    {
        if (handle_ != nullptr) end(std::exchange(handle_, nullptr));
        unbind();
    }

  protected:
    owned(state *known, Handle *handle) : handle_(handle)
    {
        if (known->is_owner && handle != nullptr) bind(known);
    }

  private:
    void take(owned &other) noexcept
    {
        handle_ = std::exchange(other.handle_, nullptr);
        if (other.known_ == nullptr) return;
        bind(other.known_);
        other.unbind();
    }
    void end_of_world() noexcept final { reset(); }
    Handle *handle_ = nullptr;
};

} // namespace detail

/* The state of a world at one time. It ends with the variable, or with the weft::world that owns the
 * world and took it, and then is empty. One of a borrowed world must end before the world. */
class snapshot final : public detail::owned<weft_snapshot, weft_snapshot_destroy>
{
  public:
    snapshot() = default;

  private:
    friend class world;
    using owned::owned;
};

/* An open section file (stream.h); it lives as a snapshot does. Its end takes all sections out. */
class stream final : public detail::owned<weft_stream, weft_stream_close>
{
  public:
    stream() = default;
    uint32_t number() const { return weft_stream_number(get()); }
    uint32_t size() const { return weft_stream_section_count(get()); }
    weft_result load(uint32_t section, float priority = 0)
    {
        return detail::checked_call(weft_stream_load(get(), section, priority));
    }
    weft_result unload(uint32_t section)
    {
        return detail::checked_call(weft_stream_unload(get(), section));
    }
    weft_result load_near(const float (&at)[3], float load, float unload)
    {
        return detail::checked_call(weft_stream_near(get(), at, load, unload));
    }
    weft_section_info section(uint32_t number) const
    {
        weft_section_info info = {};
        (void)detail::checked_call(weft_stream_section_get(get(), number, &info, sizeof info));
        return info;
    }

  private:
    friend class world;
    using owned::owned;
};

/* An entity of a world as an object: weft::entity_ref e = world.entity(id). It is a weft::entity where
 * one is wanted; changing calls return the same object: e.add<Enemy>().set(Health{5}). As long as the
 * weft::world stays where it is. */
class entity_ref : public bound_entity<world, entity_ref>
{
  public:
    using bound_entity::bound_entity;
    explicit inline operator bool() const; /* alive */
    template <class T> bool has() const;
    /* get<const T>() for reading, get<T>() for writing; NOT_FOUND where it has none. */
    template <class T> T &get() const;
    /* The same, or nullptr. */
    template <class T> T *try_get() const;
    template <class T> weft::buffer<T> buffer() const;
    using bound_entity::name;
    inline const char *name() const; /* nullptr: none */
    inline entity_ref instantiate() const;
    inline entity_ref relate(weft_component relation, entity target) const;
    inline entity_ref target(weft_component relation) const; /* false: none */
    inline entity_ref parent() const;
    inline entity_ref parent(entity of) const; /* sets it */
};

/* Owns a world (or borrows one), and the functions of the systems made through it: of a borrowed
 * world it must live as long as these systems may run. Queries and snapshots that outlive it end
 * with it; what C functions made of get() ends before it, or the world stays (WEFT_BUSY). */
class world
{
  public:
    explicit world(const weft_world_desc &desc = {}) : known_(std::make_unique<detail::state>())
    {
        weft_error why;
        weft_world_desc asked = desc;
        if (asked.error == nullptr) asked.error = &why;
        weft_result result = weft_world_create(&asked, &known_->world);
#ifndef WEFT_NO_EXCEPTIONS
        if (result != WEFT_OK) throw error(*asked.error);
#endif
        (void)result;
        known_->open(known_->world, true);
    }
    static world borrow(weft_world *from)
    {
        world made{std::make_unique<detail::state>()};
        made.known_->open(from, false);
        return made;
    }
    world(world &&) = default;
    world &operator=(world &&other) noexcept
    {
        std::swap(known_, other.known_);
        return *this;
    }
    ~world()
    {
        if (!known_) return;
        while (known_->first != nullptr) known_->first->end_of_world();
        if (!known_->is_owner) return;
        if (known_->copies->is_there.exchange(false)) known_->copies->thrown.take();
        (void)weft_world_destroy(known_->world);
    }
    weft_world *get() const
    {
        return known_->world;
    }

    /* The component of a type, registered at the first call, by a name that C finds, too. */
    template <class T> weft_component component()
    {
        return known_->template obtain<T>();
    }
    template <class... Ts> weft_archetype archetype()
    {
        static_assert((... && ((detail::flags_of<Ts> & (WEFT_SPARSE | WEFT_RESOURCE)) == 0)),
                      "SPARSE and RESOURCE components belong to no archetype");
        const weft_component types[] = {known_->template obtain<Ts>()...};
        return known_->checked(weft_archetype_create(get(), types, sizeof...(Ts)));
    }

    /* For commands::create_rows. */
    template <class... Ts> rows_of<Ts...> rows()
    {
        return rows_of<Ts...>(*known_);
    }

    weft_entity create()
    {
        return known_->checked(weft_entity_create(get(), weft_archetype_create(get(), nullptr, 0)));
    }
    /* An entity with these values: world.create(Position{1, 2}, Enemy{}). */
    template <class... Vs> weft_entity create(Vs &&...values)
    {
        weft_component types[sizeof...(Vs)];
        uint32_t count = 0; /* of its archetype: SPARSE components belong to none */
        (((detail::flags_of<std::decay_t<Vs>> & WEFT_SPARSE) != 0
              ? (void)0
              : (void)(types[count++] = component<std::decay_t<Vs>>())),
         ...);
        weft_entity made = known_->checked(
            weft_entity_create(get(), known_->checked(weft_archetype_create(get(), types, count))));
        bool is_whole = false; /* a copy may throw: then there is no entity */
        detail::or_undo([&] { is_whole = (... && (put(made, std::forward<Vs>(values)) == WEFT_OK)); },
                        [&] { (void)weft_entity_destroy(get(), made); });
        if (!is_whole) (void)weft_entity_destroy(get(), made), made = {};
        return made;
    }
    template <class... Ts> weft_result create_many(uint32_t count, weft_entity *out = nullptr)
    {
        return known_->checked(weft_entity_create_many(get(), archetype<Ts...>(), count, out));
    }
    /* `count` entities with the values of these arrays, which are copied: create_filled(n, positions, speeds). */
    template <class... Vs> std::vector<weft_entity> create_filled(uint32_t count, const Vs *...values)
    {
        static_assert((... && (detail::is_plain<Vs> && !detail::is_tag<Vs>)), "values are copied as bytes: create()");
        std::vector<weft_entity> made(count);
        const weft_values all[] = {{component<Vs>(), values}...};
        if (known_->checked(weft_entity_create_filled(get(), archetype<Vs...>(), all, sizeof...(Vs), count, made.data())) != WEFT_OK)
            made.clear();
        return made;
    }
    weft_entity instantiate(weft_entity source)
    {
        weft_entity made = {};
        known_->checked(weft_entity_instantiate(get(), source, 1, &made));
        return made;
    }
    weft_result destroy(weft_entity e)
    {
        return known_->checked(weft_entity_destroy(get(), e));
    }
    bool is_alive(weft_entity e) const
    {
        return weft_entity_is_alive(get(), e);
    }

    template <class T> bool has(weft_entity e) const
    {
        return weft_entity_has(get(), e, known_->template find_named<T>());
    }
    /* The value, or nullptr where there is none. Valid until the next structural change. */
    template <class T> const T *read(weft_entity e) const
    {
        detail::require_component<std::remove_cv_t<T>>();
        static_assert(!detail::is_tag<T>, "a tag has no value: has<T>()");
        static_assert((detail::flags_of<T> & (WEFT_BUFFER | WEFT_CHUNK | WEFT_RESOURCE)) == 0,
                      "BUFFER: buffer<T>(); CHUNK: in systems and loops; RESOURCE: "
                      "resource<T>()");
        weft_component of = known_->template find_named<T>();
        if constexpr ((detail::flags_of<T> & WEFT_SHARED) != 0)
            return static_cast<const T *>(weft_entity_read_shared(get(), e, of));
        else
            return static_cast<const T *>(weft_entity_read(get(), e, of));
    }
    /* For many reads in random order, slightly faster than read<T>(e): a finder that stays correct
     * when values move: auto hulls = world.lookup<const Hull>(); hulls[e]. */
    template <class T> weft::lookup<std::add_const_t<T>> lookup()
    {
        static_assert(std::is_const_v<T>, "lookup<const T>() reads; write<T>(e) changes");
        static_assert(!detail::is_tag<T>, "a tag has no value: has<T>()");
        static_assert((detail::flags_of<T> & (WEFT_SHARED | WEFT_BUFFER | WEFT_CHUNK | WEFT_RESOURCE)) == 0,
                      "SHARED, BUFFER, CHUNK and RESOURCE values are not looked up by entity");
        return weft::lookup<std::add_const_t<T>>(weft_finder_open(get(), component<T>()));
    }
    template <class T> T *write(weft_entity e)
    {
        detail::require_component<T>();
        static_assert(!detail::is_tag<T>, "a tag has no value: add<T>()");
        static_assert((detail::flags_of<T> &
                       (WEFT_SHARED | WEFT_BUFFER | WEFT_CHUNK | WEFT_RESOURCE)) == 0,
                      "SHARED: set(); BUFFER: buffer<T>(); CHUNK: in systems and "
                      "loops; RESOURCE: resource<T>()");
        return static_cast<T *>(weft_entity_write(get(), e, known_->template find_named<T>()));
    }
    template <class V> weft_result set(weft_entity e, V &&value)
    {
        return put(e, std::forward<V>(value));
    }
    /* Of `count` entities: of[i] has values[i]; of a SHARED component *values is that of all. All or
     * none; many times faster than one by one. */
    template <class T> weft_result set_many(const weft_entity *of, uint32_t count, const T *values)
    {
        static_assert(!detail::is_component<T> || (detail::is_plain<T> && !detail::is_tag<T>), "values are copied as bytes: set()");
        if constexpr ((detail::flags_of<T> & WEFT_SHARED) != 0)
            return known_->checked(weft_entity_set_shared_many(get(), of, count, component<T>(), values));
        else
            return known_->checked(weft_entity_set_many(get(), of, count, component<T>(), values, sizeof(T)));
    }
    template <class T> weft_result read_many(const weft_entity *of, uint32_t count, T *out)
    {
        static_assert(!detail::is_component<T> || (detail::is_plain<T> && !detail::is_tag<T>), "values are copied as bytes: read<T>()");
        return known_->checked(weft_entity_read_many(get(), of, count, component<T>(), out));
    }
    /* The values of a SHARED component that are in use. */
    template <class T> std::vector<T> shared_values()
    {
        static_assert((detail::flags_of<T> & WEFT_SHARED) != 0, "flags = WEFT_SHARED is missing");
        std::vector<const void *> at(weft_shared_values(get(), component<T>(), nullptr, 0));
        (void)weft_shared_values(get(), component<T>(), at.data(), static_cast<uint32_t>(at.size()));
        std::vector<T> all;
        for (const void *value : at) all.push_back(*static_cast<const T *>(value));
        return all;
    }
    /* Whether a described value is within the ranges of its fields: INVALID_ARGUMENT names the field. */
    template <class T> weft_result check(const T &value)
    {
        return known_->checked(weft_component_check(get(), component<T>(), &value));
    }
    /* Adds a component; with arguments the value T{arguments...}. */
    template <class T, class... As> weft_result add(weft_entity e, As &&...arguments)
    {
        if constexpr (sizeof...(As) != 0)
            return put(e, T{std::forward<As>(arguments)...});
        else
            return known_->checked(weft_entity_add(get(), e, component<T>()));
    }
    template <class T> weft_result remove(weft_entity e)
    {
        return known_->checked(weft_entity_remove(get(), e, component<T>()));
    }
    template <class T> weft_result enable(weft_entity e, bool enabled)
    {
        return known_->checked(weft_entity_enable(get(), e, component<T>(), enabled));
    }
    /* The elements of a BUFFER component: buffer<Stop>(e) for writing, buffer<const Stop>(e) for
     * reading; false where the entity has none. Valid until the next structural change. */
    template <class T> weft::buffer<T> buffer(weft_entity e)
    {
        static_assert((detail::flags_of<std::remove_const_t<T>> & WEFT_BUFFER) != 0,
                      "flags = WEFT_BUFFER is missing");
        weft_component of = known_->template find_named<T>();
        return {std::is_const_v<T> ? weft_entity_read_buffer(get(), e, of)
                                   : weft_entity_write_buffer(get(), e, of), 0};
    }
    /* The elements of a BUFFER that is a RESOURCE, while no system runs. */
    template <class T> weft::buffer<T> buffer()
    {
        static_assert((detail::flags_of<std::remove_const_t<T>> & WEFT_BUFFER) != 0 &&
                          (detail::flags_of<std::remove_const_t<T>> & WEFT_RESOURCE) != 0,
                      "flags = WEFT_BUFFER | WEFT_RESOURCE is missing");
        weft_buffers all = std::is_const_v<T> ? weft_resource_read_buffer(get(), component<T>())
                                              : weft_resource_write_buffer(get(), component<T>());
        if (all.count == 0) known_->fail(weft_world_error(get())->code);
        return {all, 0};
    }
    /* The entity as an object: world.entity(e).add<Enemy>().set(Health{5}); without an argument a
     * new one. */
    entity_ref entity(weft_entity e);
    entity_ref entity();
    weft_result name(weft_entity e, const char *text)
    {
        return known_->checked(weft_entity_set_name(get(), e, text));
    }
    weft_entity find(const char *text) const
    {
        return weft_entity_find(get(), text);
    }

    /* The value of a RESOURCE component, while no system runs; resource<const T>() only reads. */
    template <class T> T &resource()
    {
        static_assert((detail::flags_of<T> & WEFT_RESOURCE) != 0,
                      "flags = WEFT_RESOURCE is missing");
        static_assert((detail::flags_of<T> & WEFT_BUFFER) == 0, "of a BUFFER: buffer<T>()");
        T *value;
        if constexpr (std::is_const_v<T>)
            value = static_cast<T *>(weft_resource_read(get(), component<T>()));
        else
            value = static_cast<T *>(weft_resource_write(get(), component<T>()));
        if (value == nullptr) known_->fail(weft_world_error(get())->code);
        return *value;
    }
    /* Makes T, whose only described entity field is the target, a relation (relation.h). */
    template <class T>
    weft_component relation(weft_target_death on_target_death = WEFT_ON_TARGET_CLEAR,
                            bool by_depth = false)
    {
        weft_relation_desc desc = {component<T>(), on_target_death, by_depth, by_depth};
        known_->checked(weft_relation_declare(get(), &desc));
        return desc.component;
    }
    weft_result relate(weft_entity source, weft_component relation, weft_entity target)
    {
        return known_->checked(weft_relation_set(get(), source, relation, target));
    }
    /* The sources of a target, as of the last step or settle(): valid until the next. */
    struct entities {
        const weft_entity *first = nullptr;
        uint32_t count = 0;
        const weft_entity *begin() const { return first; }
        const weft_entity *end() const { return first + count; }
        uint32_t size() const { return count; }
    };
    entities sources(weft_component relation, weft_entity target) const
    {
        entities all;
        all.first = weft_relation_sources(get(), relation, target, &all.count);
        return all;
    }
    weft_result settle()
    {
        return known_->checked(weft_relation_settle(get()));
    }
    /* The component Parent, whose value is weft_target: by_depth(world.parent()). */
    weft_component parent()
    {
        return known_->checked(weft_component_parent(get()));
    }

    query_builder query()
    {
        return query_builder(known_.get());
    }
    /* One loop over all rows that the function's arguments select, on this thread. */
    template <class F> void each(F &&function)
    {
        query().each(std::forward<F>(function))();
    }
    /* The rows that have these components, for a range-based loop. */
    template <class... Ts> weft::view<Ts...> view()
    {
        return query().template view<Ts...>();
    }
    system_builder system(const char *name)
    {
        return {known_.get(), name};
    }
    weft_result enable(weft_system system, bool enabled)
    {
        return known_->checked(weft_system_enable(get(), system, enabled));
    }
    /* A group of systems: world.group("physics").before("render").period(1 / 50.0f).set(). */
    group_builder group(const char *name)
    {
        return {known_.get(), name};
    }
    weft_frame frame() const
    {
        return weft_world_frame(get());
    }
    /* The system that computes WorldTransform from LocalTransform and Parent (transform.h), in this
     * group; components weft_local_transform and weft_world_transform. */
    weft_result transforms(const char *group = nullptr)
    {
        return known_->checked(weft_transform_create(get(), group, nullptr));
    }
    /* Observers (observer.h): world.observe<Cargo>("drop").removed([](weft::entity e, const Cargo &was,
     * weft::commands &c) { ... }). */
    template <class T> observer_builder<T> observe(const char *name)
    {
        return {known_.get(), name};
    }

    /* Runs the observers now (weft_observers_run). */
    weft_result run_observers()
    {
        return known_->ended(weft_observers_run(get()));
    }
    weft_result step(float dt)
    {
        return known_->ended(weft_world_step(get(), dt));
    }
    /* Runs one system now (weft_system_run). */
    weft_result run(weft_system system, float dt)
    {
        return known_->ended(weft_system_run(get(), system, dt));
    }
    uint64_t hash(weft_hash_kind kind = WEFT_HASH_LAYOUT) const
    {
        return weft_world_hash(get(), kind);
    }
    /* World files (world_file.h). */
    weft_result save(const char *path, const weft_save_desc *desc = nullptr)
    {
        return known_->checked(weft_world_save(get(), path, desc));
    }
    weft_result load(const char *path, const weft_load_desc *desc = nullptr)
    {
        return known_->checked(weft_world_load(get(), path, desc));
    }
    std::string save_to_memory(const weft_save_desc *desc = nullptr)
    {
        weft_world_bytes bytes = {};
        weft_result result = weft_world_save_memory(get(), &bytes, desc);
        std::string text(bytes.bytes == nullptr ? "" : bytes.bytes, bytes.count);
        weft_world_bytes_free(get(), &bytes);
        known_->checked(result);
        return text;
    }
    weft_result load_from_memory(std::string_view bytes, const weft_load_desc *desc = nullptr)
    {
        return known_->checked(weft_world_load_memory(get(), bytes.data(), bytes.size(), desc));
    }
    /* Section files (stream.h): each entity in the section that its weft_section says. */
    weft_result save_sections(const char *path, const weft_sections_desc *desc = nullptr)
    {
        return known_->checked(weft_sections_save(get(), path, desc));
    }
    weft::stream stream(const char *path, const weft_stream_desc *desc = nullptr)
    {
        weft_stream *made = nullptr;
        known_->checked(weft_stream_open(get(), path, desc, &made));
        return {known_.get(), made};
    }
    /* Goes on with its streams, for about so long; wait_for_streams: until all is there. */
    weft_result step_streams(uint64_t budget_ns)
    {
        return known_->checked(weft_stream_step(get(), budget_ns));
    }
    weft_result wait_for_streams()
    {
        return known_->checked(weft_stream_wait(get()));
    }
    /* Moves entities of another world here (transfer.h): all, or those of desc->query. */
    weft_result take_entities(world &from, const weft_transfer_desc *desc = nullptr)
    {
        for (const auto &of : from.known_->may_throw) (void)of.obtain(*known_); /* with its own hooks */
        return known_->checked(weft_world_transfer(get(), from.get(), desc, nullptr, 0));
    }
    weft::snapshot take(const weft::snapshot *previous = nullptr)
    {
        weft_snapshot *made = nullptr;
        weft_result result =
            weft_snapshot_take(get(), previous == nullptr ? nullptr : previous->get(), &made);
        weft::snapshot taken{known_.get(), made}; /* a copy may have thrown: then it ends here */
        known_->checked(result);
        return taken;
    }
    weft_result restore(const weft::snapshot &from)
    {
        weft_result result = weft_snapshot_restore(get(), from.get());
        if (known_->copies->is_there) known_->touch_copies();
        return known_->checked(result);
    }

  private:
    friend class entity_ref;
    explicit world(std::unique_ptr<detail::state> known) : known_(std::move(known)) {}
    [[noreturn, gnu::cold]] void no_value(const char *name)
    {
        known_->refuse(WEFT_NOT_FOUND, std::string("the entity has no component \"") + name + "\"");
        std::abort();
    }
    template <class T, class V> weft_result put_object(weft_entity e, V &&value)
    {
        T made(std::forward<V>(value)); /* may throw, or lie in a row that add moves */
        bool is_new = !has<T>(e);
        weft_result result = add<T>(e); /* constructed there; assigned, not copied as bytes */
        if (T *at = write<T>(e))
            detail::or_undo([&] { *at = std::move(made); },
                            [&] { is_new ? (void)weft_entity_remove(get(), e, component<T>()) : (void)0; });
        return result;
    }
    template <class V> weft_result put(weft_entity e, V &&value)
    {
        using T = std::decay_t<V>;
        detail::require_component<T>();
        static_assert((detail::flags_of<T> & (WEFT_BUFFER | WEFT_CHUNK | WEFT_RESOURCE)) == 0,
                      "BUFFER: buffer<T>(); CHUNK: in systems and loops; RESOURCE: "
                      "resource<T>()");
        if constexpr (detail::is_tag<T>)
            return add<T>(e);
        else if constexpr ((detail::flags_of<T> & WEFT_SHARED) != 0)
            return known_->checked(weft_entity_set_shared(get(), e, component<T>(), &value));
        else if constexpr (!detail::is_plain<T>) {
            constexpr bool is_assigned = std::is_constructible_v<T, V &&> && std::is_assignable_v<T &, T>;
            static_assert(is_assigned, "a value with a destructor is copied or moved, then assigned: it needs both");
            if constexpr (is_assigned) return put_object<T>(e, std::forward<V>(value));
            return WEFT_OK;
        } else
            return known_->checked(weft_entity_set(get(), e, component<T>(), &value, sizeof value));
    }
    std::unique_ptr<detail::state> known_;
};

inline entity_ref world::entity(weft_entity e)
{
    return {this, e};
}
inline entity_ref world::entity()
{
    return {this, create()};
}
inline entity_ref::operator bool() const
{
    return to_->is_alive(id_);
}
template <class T> bool entity_ref::has() const
{
    return to_->template has<T>(id_);
}
template <class T> T *entity_ref::try_get() const
{
    if constexpr (std::is_const_v<T>)
        return to_->template read<std::remove_const_t<T>>(id_);
    else
        return to_->template write<T>(id_);
}
template <class T> T &entity_ref::get() const
{
    T *value = try_get<T>();
    if (__builtin_expect(value == nullptr, 0)) to_->no_value(component_traits<std::remove_const_t<T>>::name());
    return *value;
}
template <class T> buffer<T> entity_ref::buffer() const
{
    return to_->template buffer<T>(id_);
}
inline const char *entity_ref::name() const
{
    return weft_entity_name(to_->get(), id_);
}
inline entity_ref entity_ref::instantiate() const
{
    return {to_, to_->instantiate(id_)};
}
inline entity_ref entity_ref::relate(weft_component relation, weft::entity target) const
{
    return then(to_->relate(id_, relation, target));
}
inline entity_ref entity_ref::target(weft_component relation) const
{
    return {to_, weft_relation_target(to_->get(), id_, relation)};
}
inline entity_ref entity_ref::parent() const
{
    return target(to_->parent());
}
inline entity_ref entity_ref::parent(weft::entity of) const
{
    return relate(to_->parent(), of);
}

} // namespace weft

#endif
