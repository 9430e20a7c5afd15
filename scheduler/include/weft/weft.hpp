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
 * The loop is that of C, inlined: the same instructions (tests/cpp).
 *
 * Errors are exceptions (weft::error). Without exceptions (-fno-exceptions, or WEFT_NO_EXCEPTIONS)
 * failing calls return what C returns; weft_world_error says more. An exception of a system's
 * function ends that slice; step() throws it when the step is over, of several that of the system
 * registered first and its first slice.
 * Threads: as the C functions; a weft::world belongs to its owner thread. */
#ifndef WEFT_HPP
#define WEFT_HPP

#include <weft/snapshot.h>
#include <weft/typed.hpp>
#include <weft/observer.h>
#include <weft/relation.h>
#include <weft/world_file.h>

#include <optional>

namespace weft
{

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

/* A query that the caller owns: it ends with the variable, or with the weft::world it was made by,
 * and then selects nothing. */
template <class F> class query final : detail::bound
{
  public:
    query(detail::state *known, weft_query handle, F function)
        : handle_(handle), function_(std::move(function))
    {
        bind(known);
    }
    query(query &&other) noexcept
        : handle_(std::exchange(other.handle_, {})), function_(std::move(other.function_))
    {
        if (other.known_ == nullptr) return;
        bind(other.known_);
        other.unbind();
    }
    ~query() { end_of_world(); }
    weft_query get() const { return handle_; }
    uint64_t count() const
    {
        return known_ == nullptr ? 0 : weft_query_count(known_->world, handle_);
    }
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
    void end_of_world() noexcept override
    {
        if (known_ != nullptr && handle_.id != 0) (void)weft_query_destroy(known_->world, handle_);
        handle_ = {};
        unbind();
    }
    weft_query handle_;
    F function_;
};

/* The rows of a query one by one: for (auto [p, v, e] : world.view<Position, const Velocity,
 * weft::entity>()) p.x += v.x; each element a reference, a pointer where the term is `T *` (optional,
 * or nullptr), or the entity. One loop at a time; leaving it early ends it. A function given to
 * each() is faster. Threads: owner. */
template <class... Ts> class view final : detail::bound
{
    template <class T>
    using argument = std::conditional_t<std::is_pointer_v<T> || std::is_same_v<T, entity>, T, T &>;
    using columns = std::tuple<detail::column<argument<Ts>>...>;

  public:
    using function = void (*)(argument<Ts>...);
    view(detail::state *known, weft_query handle) : handle_(handle) { bind(known); }
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
        (void)weft_query_destroy(known_->world, handle_);
        unbind();
    }
    weft_query handle_;
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
        weft_query_desc desc = describe<F>();
        weft_query made = known_->checked(weft_query_create(known_->world, &desc));
        return {known_, made, std::forward<F>(function)};
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
    system_builder &range(std::function<uint32_t()> indices)
    {
        range_ = std::move(indices);
        return over_ = WEFT_OVER_RANGE, *this;
    }
    /* The system runs only if the function returns true. */
    system_builder &run_if(std::function<bool()> condition)
    {
        return run_if_ = std::move(condition), *this;
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
        if (rows.more_term_count != 0) return create<columns>(rows, std::forward<F>(function));
        if constexpr (columns::is_of_row) {
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
        return create<detail::whole_slice>(this->template describe<void (*)()>(),
                                           std::forward<F>(function));
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
        weft_system made = known_->checked(weft_system_create(known_->world, &desc_));
        if (made.id != 0) known_->functions.push_back(std::move(kept));
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

/* ---- observers ---- */

/* Describes an observer of a component; the last call registers it. Its function takes any of
 * weft::entity, const T & (the value as it was: not of added and created), weft::commands & and
 * const weft_observation &, and is called for each entity. */
template <class T> class observer_builder
{
  public:
    observer_builder(detail::state *known, const char *name) : known_(known)
    {
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
        static_assert(std::is_same_v<plain, entity> || std::is_same_v<plain, T> ||
                          std::is_same_v<plain, commands> || std::is_same_v<plain, weft_observation>,
                      "an observer's function takes weft::entity, const T & (the value as it was), "
                      "weft::commands & or const weft_observation &");
        if constexpr (std::is_same_v<plain, entity>)
            return entity(o->entities[i]);
        else if constexpr (std::is_same_v<plain, T>)
            return static_cast<const T &>(static_cast<const T *>(o->values)[i]);
        else if constexpr (std::is_same_v<plain, commands>)
            return static_cast<commands &>(recorder);
        else
            return static_cast<const weft_observation &>(*o);
    }
    template <class... As> struct caller;
    template <class... As> struct caller<std::tuple<As...>> {
        static constexpr bool takes_value =
            (false || ... ||
             std::is_same_v<std::remove_cv_t<std::remove_reference_t<As>>, T>);
        template <class F>
        static void run(const weft_observation *o, commands &recorder, F &function)
        {
            for (uint32_t i = 0; i < o->count; i++) function(argument<As>(o, i, recorder)...);
        }
    };
    template <class F> weft_observer on(weft_observer_event event, F &function)
    {
        using call = caller<typename detail::signature<std::decay_t<F>>::arguments>;
        static_assert(!call::takes_value || !detail::is_tag<T>, "a tag has no value");
        if (call::takes_value && (event == WEFT_ON_ADDED || event == WEFT_ON_CREATED)) {
            known_->refuse(WEFT_INVALID_ARGUMENT,
                           std::string("observer ") + desc_.name + " of what was added takes the "
                           "value as it was, and there was none: read it by weft_entity_read");
            return {};
        }
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
        weft_observer made = known_->checked(weft_observer_create(known_->world, &desc_));
        if (made.id != 0) known_->functions.push_back(std::move(kept));
        return made;
    }
    detail::state *known_;
    weft_observer_desc desc_ = {};
};

/* ---- worlds ---- */

/* The state of a world at one time. It ends with the variable, or with the weft::world that owns the
 * world and took it, and then is empty. One of a borrowed world must end before the world. */
class snapshot final : detail::bound
{
  public:
    snapshot() = default; /* empty */
    snapshot(snapshot &&other) noexcept { take(other); }
    snapshot &operator=(snapshot &&other) noexcept
    {
        if (this != &other) reset();
        if (this != &other) take(other);
        return *this;
    }
    ~snapshot() { reset(); }
    weft_snapshot *get() const { return handle_; }
    explicit operator bool() const { return handle_ != nullptr; }
    void reset() noexcept
    {
        weft_snapshot_destroy(std::exchange(handle_, nullptr));
        unbind();
    }

  private:
    friend class world;
    snapshot(detail::state *known, weft_snapshot *handle) : handle_(handle)
    {
        if (known->is_owner) bind(known);
    }
    void take(snapshot &other) noexcept
    {
        handle_ = std::exchange(other.handle_, nullptr);
        if (other.known_ == nullptr) return;
        bind(other.known_);
        other.unbind();
    }
    void end_of_world() noexcept override { reset(); }
    weft_snapshot *handle_ = nullptr;
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
        known_->is_owner = true;
#ifndef WEFT_NO_EXCEPTIONS
        if (result != WEFT_OK) throw error(*asked.error);
#endif
        (void)result;
    }
    static world borrow(weft_world *from)
    {
        world made{std::make_unique<detail::state>()};
        made.known_->world = from;
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
        if (known_->is_owner) (void)weft_world_destroy(known_->world);
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
        const weft_component types[] = {known_->template obtain<Ts>()...};
        return known_->checked(weft_archetype_create(get(), types, sizeof...(Ts)));
    }

    entity create()
    {
        return known_->checked(weft_entity_create(get(), weft_archetype_create(get(), nullptr, 0)));
    }
    /* An entity with these values: world.create(Position{1, 2}, Enemy{}). */
    template <class... Vs> entity create(Vs &&...values)
    {
        entity made = known_->checked(weft_entity_create(get(), archetype<std::decay_t<Vs>...>()));
        ((void)put(made, std::forward<Vs>(values)), ...);
        return made;
    }
    template <class... Ts> weft_result create_many(uint32_t count, entity *out = nullptr)
    {
        return known_->checked(weft_entity_create_many(get(), archetype<Ts...>(), count, out));
    }
    entity instantiate(entity source)
    {
        entity made = {};
        known_->checked(weft_entity_instantiate(get(), source, 1, &made));
        return made;
    }
    weft_result destroy(entity e)
    {
        return known_->checked(weft_entity_destroy(get(), e));
    }
    bool is_alive(entity e) const
    {
        return weft_entity_is_alive(get(), e);
    }

    template <class T> bool has(entity e) const
    {
        return weft_entity_has(get(), e, known_->template find<T>());
    }
    /* The value, or nullptr where there is none. Valid until the next structural change. */
    template <class T> const T *read(entity e) const
    {
        detail::require_component<std::remove_cv_t<T>>();
        static_assert(!detail::is_tag<T>, "a tag has no value: has<T>()");
        static_assert((detail::flags_of<T> & (WEFT_BUFFER | WEFT_CHUNK | WEFT_RESOURCE)) == 0,
                      "BUFFER: weft_entity_read_buffer; CHUNK: in systems and loops; RESOURCE: "
                      "resource<T>()");
        weft_component of = known_->template find<T>();
        if constexpr ((detail::flags_of<T> & WEFT_SHARED) != 0)
            return static_cast<const T *>(weft_entity_read_shared(get(), e, of));
        else
            return static_cast<const T *>(weft_entity_read(get(), e, of));
    }
    template <class T> T *write(entity e)
    {
        detail::require_component<T>();
        static_assert(!detail::is_tag<T>, "a tag has no value: add<T>()");
        static_assert((detail::flags_of<T> &
                       (WEFT_SHARED | WEFT_BUFFER | WEFT_CHUNK | WEFT_RESOURCE)) == 0,
                      "SHARED: set(); BUFFER: weft_entity_write_buffer; CHUNK: in systems and "
                      "loops; RESOURCE: resource<T>()");
        return static_cast<T *>(weft_entity_write(get(), e, known_->template find<T>()));
    }
    template <class V> weft_result set(entity e, V &&value)
    {
        return put(e, std::forward<V>(value));
    }
    /* Adds a component; with arguments the value T{arguments...}. */
    template <class T, class... As> weft_result add(entity e, As &&...arguments)
    {
        if constexpr (sizeof...(As) != 0)
            return put(e, T{std::forward<As>(arguments)...});
        else
            return known_->checked(weft_entity_add(get(), e, component<T>()));
    }
    template <class T> weft_result remove(entity e)
    {
        return known_->checked(weft_entity_remove(get(), e, component<T>()));
    }
    template <class T> weft_result enable(entity e, bool enabled)
    {
        return known_->checked(weft_entity_enable(get(), e, component<T>(), enabled));
    }
    weft_result name(entity e, const char *text)
    {
        return known_->checked(weft_entity_set_name(get(), e, text));
    }
    entity find(const char *text) const
    {
        return weft_entity_find(get(), text);
    }

    /* The value of a RESOURCE component, while no system runs. */
    template <class T> T &resource()
    {
        static_assert((detail::flags_of<T> & WEFT_RESOURCE) != 0,
                      "flags = WEFT_RESOURCE is missing");
        T *value = static_cast<T *>(weft_resource_write(get(), component<T>()));
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
    weft_result relate(entity source, weft_component relation, entity target)
    {
        return known_->checked(weft_relation_set(get(), source, relation, target));
    }
    /* The sources of a target, as of the last step or settle(): valid until the next. */
    struct entities {
        const entity *first = nullptr;
        uint32_t count = 0;
        const entity *begin() const { return first; }
        const entity *end() const { return first + count; }
        uint32_t size() const { return count; }
    };
    entities sources(weft_component relation, entity target) const
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
    weft_result save(const char *path)
    {
        return known_->checked(weft_world_save(get(), path, nullptr));
    }
    weft_result load(const char *path)
    {
        return known_->checked(weft_world_load(get(), path, nullptr));
    }
    weft::snapshot take(const weft::snapshot *previous = nullptr)
    {
        weft_snapshot *made = nullptr;
        known_->checked(
            weft_snapshot_take(get(), previous == nullptr ? nullptr : previous->get(), &made));
        return {known_.get(), made};
    }
    weft_result restore(const weft::snapshot &from)
    {
        return known_->checked(weft_snapshot_restore(get(), from.get()));
    }

  private:
    explicit world(std::unique_ptr<detail::state> known) : known_(std::move(known)) {}
    template <class V> weft_result put(entity e, V &&value)
    {
        using T = std::decay_t<V>;
        detail::require_component<T>();
        static_assert((detail::flags_of<T> & (WEFT_BUFFER | WEFT_CHUNK | WEFT_RESOURCE)) == 0,
                      "BUFFER: weft_entity_write_buffer; CHUNK: in systems and loops; RESOURCE: "
                      "resource<T>()");
        if constexpr (detail::is_tag<T>)
            return add<T>(e);
        else if constexpr ((detail::flags_of<T> & WEFT_SHARED) != 0)
            return known_->checked(weft_entity_set_shared(get(), e, component<T>(), &value));
        else if constexpr (!detail::is_plain<T>) {
            weft_result result = add<T>(e); /* constructed there; assigned, not copied as bytes */
            if (T *at = write<T>(e)) *at = std::forward<V>(value);
            return result;
        } else
            return known_->checked(weft_entity_set(get(), e, component<T>(), &value, sizeof value));
    }
    std::unique_ptr<detail::state> known_;
};

} // namespace weft

#endif
