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
 * The loop is that of C, inlined: the same instructions (tests/cpp).
 *
 * Errors are exceptions (weft::error). Without exceptions (-fno-exceptions, or WEFT_NO_EXCEPTIONS)
 * failing calls return what C returns; weft_world_error says more. An exception of a system's
 * function ends that slice; step() throws the first one when the step is over.
 * Threads: as the C functions; a weft::world belongs to its owner thread. */
#ifndef WEFT_HPP
#define WEFT_HPP

#include <weft/snapshot.h>
#include <weft/typed.hpp>
#include <weft/world_file.h>

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
    ~query() { end(); }
    weft_query get() const { return handle_; }
    uint64_t count() const
    {
        return known_ == nullptr ? 0 : weft_query_count(known_->world, handle_);
    }
    /* Calls the function for every row that the query selects, on this thread. */
    void operator()()
    {
        if (known_ == nullptr) return;
        struct open_cursor {
            weft_cursor c;
            ~open_cursor() { weft_query_end(&c); }
        } open{weft_query_begin(known_->world, handle_)};
        while (weft_query_next(&open.c))
            detail::columns_of<F>::run(*known_, &open.c.slice, function_);
    }

  private:
    void end() noexcept override
    {
        if (known_ != nullptr && handle_.id != 0) (void)weft_query_destroy(known_->world, handle_);
        handle_ = {};
        unbind();
    }
    weft_query handle_;
    F function_;
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
    /* Components of other entities: reads<T>() and, const or not, what weft_slice_read_entity takes. */
    template <class... Ts> system_builder &reads() { return looks_up<Ts...>(WEFT_READ); }
    template <class... Ts> system_builder &writes() { return looks_up<Ts...>(WEFT_WRITE); }

    /* The function is called for every enabled row, in parallel. */
    template <class F> weft_system each(F &&function)
    {
        desc_.over.rows = describe<F>();
        detail::columns_of<F>::declare(*known_, desc_);
        return create<detail::columns_of<F>>(std::forward<F>(function));
    }
    /* The function, void (weft_slice &), is called once for each slice; without terms once a step. */
    template <class F> weft_system run(F &&function)
    {
        desc_.over.rows = describe<void (*)()>();
        return create<detail::whole_slice>(std::forward<F>(function));
    }

  private:
    template <class... Ts> system_builder &looks_up(weft_access access)
    {
        (lookups_.push_back({known_->obtain<Ts>(), access}), ...);
        return *this;
    }
    template <class Over, class F> weft_system create(F &&function)
    {
        struct closure {
            std::decay_t<F> function;
            detail::state *known;
        };
        auto kept = std::make_shared<closure>(closure{std::forward<F>(function), known_});
        desc_.name = name_;
        desc_.user = kept.get();
        desc_.run = [](weft_slice *slice, void *user) {
            closure *c = static_cast<closure *>(user);
#ifdef WEFT_NO_EXCEPTIONS
            Over::run(*c->known, slice, c->function);
#else
            try {
                Over::run(*c->known, slice, c->function);
            } catch (...) {
                std::lock_guard<std::mutex> lock(c->known->mutex);
                if (!c->known->thrown) c->known->thrown = std::current_exception();
            }
#endif
        };
        list(desc_.more_lookups, desc_.more_lookup_count, lookups_);
        list(desc_.more_records, desc_.more_record_count, records_);
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
    std::vector<weft_lookup> lookups_;
    std::vector<weft_component> records_;
    std::vector<const char *> before_, after_;
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
    void end() noexcept override { reset(); }
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
        weft_result result = weft_world_create(&desc, &known_->world);
        known_->is_owner = true;
#ifndef WEFT_NO_EXCEPTIONS
        if (result != WEFT_OK) throw error(result, weft_result_text(result));
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
        while (known_->first != nullptr) known_->first->end();
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
    template <class... Ts> entity create(const Ts &...values)
    {
        entity made = known_->checked(weft_entity_create(get(), archetype<Ts...>()));
        (put(made, values), ...);
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
        return static_cast<const T *>(weft_entity_read(get(), e, known_->template find<T>()));
    }
    template <class T> T *write(entity e)
    {
        return static_cast<T *>(weft_entity_write(get(), e, known_->template find<T>()));
    }
    template <class T> weft_result set(entity e, const T &value)
    {
        return put(e, value);
    }
    template <class T> weft_result add(entity e)
    {
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
        return *static_cast<T *>(weft_resource_write(get(), component<T>()));
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
    system_builder system(const char *name)
    {
        return {known_.get(), name};
    }

    weft_result step(float dt)
    {
        weft_result result = weft_world_step(get(), dt);
#ifndef WEFT_NO_EXCEPTIONS
        if (known_->thrown) std::rethrow_exception(std::exchange(known_->thrown, nullptr));
#endif
        return known_->checked(result);
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
    template <class T> weft_result put(entity e, const T &value)
    {
        if constexpr (detail::is_tag<T>)
            return add<T>(e);
        else if constexpr ((detail::flags_of<T> & WEFT_SHARED) != 0)
            return known_->checked(weft_entity_set_shared(get(), e, component<T>(), &value));
        else if constexpr (!std::is_trivially_copyable_v<T>) {
            weft_result result = add<T>(e); /* constructed there; assigned, not copied as bytes */
            if (T *at = write<T>(e)) *at = value;
            return result;
        } else
            return known_->checked(weft_entity_set(get(), e, component<T>(), &value, sizeof value));
    }
    std::unique_ptr<detail::state> known_;
};

} // namespace weft

#endif
