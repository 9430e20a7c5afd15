/* SPDX-License-Identifier: MIT */
/* jobs.hpp: jobs, loops and graphs of C++17 functions, over jobs.h.
 *
 *   weft::pool pool;
 *   auto sum = pool.submit([values] { return std::accumulate(values.begin(), values.end(), 0); });
 *   pool.parallel_for(count, [&](uint32_t i) { out[i] = in[i] * 2; });
 *   double total = pool.parallel_reduce(count, 0.0, [&](uint32_t i) { return in[i]; },
 *                                       [](double a, double b) { return a + b; });
 *   std::printf("%d %g\n", sum.get(), total);
 *
 * Public, header only. Functions are kept by value as long as their job lives. What a function throws
 * comes out of the call that waits for it: of several in one loop that of the lowest item. Inside a
 * job, or a system with WEFT_SYSTEM_JOBS, the free functions take its context. Without exceptions
 * (-fno-exceptions, or WEFT_NO_EXCEPTIONS) a call that fails returns its code, or an empty value.
 * Futures and graphs may outlive a weft::pool that owns its workers. Threads: as the C functions; a
 * weft::pool and its futures belong to the pool's owner. */
#ifndef WEFT_JOBS_HPP
#define WEFT_JOBS_HPP

#include <weft/jobs.h>

#include <atomic>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if !defined(WEFT_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define WEFT_NO_EXCEPTIONS 1
#endif

namespace weft
{

/* A failing call: the error of C; what() is its text. */
class error : public std::runtime_error
{
  public:
    explicit error(const weft_error &why) : std::runtime_error(why.text), why_(why) {}
    error(weft_result code, const char *text) : std::runtime_error(text), why_()
    {
        why_.code = code;
        std::strncpy(why_.text, text, sizeof why_.text - 1);
    }
    weft_result code() const { return why_.code; }
    const weft_error &why() const { return why_; }

  private:
    weft_error why_;
};

namespace detail
{

inline weft_result checked_call([[maybe_unused]] weft_result result)
{
#ifndef WEFT_NO_EXCEPTIONS
    if (result != WEFT_OK) throw error(result, weft_result_text(result));
#endif
    return result;
}

/* Of the exceptions that functions on several workers threw the one with the lowest place: the same
 * for any number of workers, where all of them run. */
class first_thrown
{
  public:
    struct kept {
        std::exception_ptr exception;
        uint64_t place = 0, within = 0;
        bool is_refusal = false; /* of a call of weft, whose own result may say more */
    };
    /* Keeps the exception that is handled now. Threads: any. */
    void keep([[maybe_unused]] uint64_t place, [[maybe_unused]] uint64_t within = 0,
              [[maybe_unused]] bool is_refusal = false)
    {
#ifndef WEFT_NO_EXCEPTIONS
        std::lock_guard<std::mutex> lock(mutex_);
        if (!kept_.exception || place < kept_.place ||
            (place == kept_.place && within < kept_.within))
            kept_ = {std::current_exception(), place, within, is_refusal};
#endif
    }
    /* Calls a function, and keeps what it throws. */
    template <class F> void guard([[maybe_unused]] uint64_t place, F &&function)
    {
#ifdef WEFT_NO_EXCEPTIONS
        function();
#else
        try {
            function();
        } catch (...) {
            keep(place);
        }
#endif
    }
    /* The rest when all have ended. */
    kept take() { return std::exchange(kept_, {}); }
    std::exception_ptr get() const { return kept_.exception; }
    void set(std::exception_ptr exception) { kept_.exception = std::move(exception); }
    void rethrow()
    {
        if (std::exception_ptr exception = take().exception) std::rethrow_exception(exception);
    }

  private:
    std::mutex mutex_;
    kept kept_;
};

struct nothing {
};
/* Where a pool is, for its futures and graphs, which may end after it: then nullptr. */
using pool_place = std::shared_ptr<std::atomic<weft_job_pool *>>;
inline pool_place place_of(weft_job_pool *pool)
{
    return std::make_shared<std::atomic<weft_job_pool *>>(pool);
}

/* Functions that do not fit are refused by one sentence, and not called: the compiler says no more. */

/* Kept by value, as its own copy. */
template <class F> constexpr bool is_kept = std::is_constructible_v<std::decay_t<F>, F>;
/* F as it is kept gives a T, and can be copied, as std::function wants it. A pointer is no bool: nor
 * is a function that one forgot to call. */
template <class T, class F> constexpr bool gives()
{
    using kept = std::decay_t<F>;
    if constexpr (!std::is_invocable_v<kept &> || !std::is_copy_constructible_v<kept> || !is_kept<F>)
        return false;
    else if constexpr (std::is_void_v<T>)
        return true;
    else {
        using R = std::invoke_result_t<kept &>;
        return std::is_convertible_v<R, T> && !std::is_pointer_v<std::decay_t<R>>;
    }
}
/* A value of R becomes a T, and keeps its fraction. */
template <class R, class T>
constexpr bool becomes = std::is_convertible_v<R, T> &&
                         !(std::is_integral_v<T> && std::is_floating_point_v<std::decay_t<R>>);
template <class T, class F> constexpr bool is_item()
{
    if constexpr (std::is_invocable_v<F &, uint32_t>)
        return becomes<std::invoke_result_t<F &, uint32_t>, T>;
    return false;
}
template <class T, class C> constexpr bool is_combine()
{
    if constexpr (std::is_invocable_v<C &, T, T>) return becomes<std::invoke_result_t<C &, T, T>, T>;
    return false;
}

/* What a job leaves behind. Shared by the job, its futures, and the jobs after it. */
struct job_state {
    virtual ~job_state() = default;
    first_thrown thrown;
    weft_job_handle handle = {};
};
template <class R> struct job_result : job_state {
    std::optional<R> value;
};

} // namespace detail

/* ---- loops ---- */

/* Calls function(i) for each i below `count`, on all workers; returns when all are done. Items that
 * follow one that threw may not run. */
template <class F>
weft_result parallel_for(weft_job_context *context, uint32_t count, F &&function,
                         weft_job_cost *cost = nullptr)
{
    constexpr bool fits = std::is_invocable_v<F &, uint32_t>;
    static_assert(fits, "a loop's function takes the number of the item: uint32_t i");
    struct loop {
        std::remove_reference_t<F> &function;
        detail::first_thrown thrown;
    } state{function, {}};
    weft_job_for_desc desc = {};
    desc.argument = &state;
    desc.count = count;
    desc.cost = cost;
    desc.fn = [](weft_job_context *, void *argument, uint32_t begin, uint32_t end) {
        loop *l = static_cast<loop *>(argument);
        uint32_t i = begin;
        l->thrown.guard(begin, [&] {
            if constexpr (fits)
                for (; i < end; i++) l->function(uint32_t{i});
        });
        return i < end ? 1 : 0;
    };
    weft_result result = weft_job_for(context, &desc, nullptr);
    state.thrown.rethrow();
    return detail::checked_call(result);
}

namespace detail
{
template <class T, class F, class C>
void reduce(weft_job_context *context, uint32_t count, T &initial, F &function, C &combine, uint32_t grain)
{
    const uint32_t parts = count / grain + (count % grain != 0);
    std::vector<std::optional<T>> partial(parts);
    weft::parallel_for(context, parts, [&](uint32_t part) {
        const uint32_t begin = part * grain, end = count - begin < grain ? count : begin + grain;
        T value = function(uint32_t{begin});
        for (uint32_t i = begin + 1; i < end; i++)
            value = combine(std::move(value), static_cast<T>(function(uint32_t{i})));
        partial[part].emplace(std::move(value));
    });
    for (std::optional<T> &value : partial)
        if (value) initial = combine(std::move(initial), std::move(*value));
}
} // namespace detail

/* Reduces function(0), ..., function(count - 1) by combine(a, b), beginning with `initial`. Items are
 * taken in parts of `grain`, each from left to right, and the parts from left to right: the result
 * depends on `grain`, but neither on the number of workers nor on timing. */
template <class T, class F, class C>
T parallel_reduce(weft_job_context *context, uint32_t count, T initial, F &&function, C &&combine,
                  uint32_t grain = 1024)
{
    constexpr bool is_item = detail::is_item<T, F>(), is_combine = detail::is_combine<T, C>();
    static_assert(is_item, "a reduction's function takes uint32_t i, and gives values of the type of "
                           "`initial`: 0.0 where they have fractions");
    static_assert(!is_item || is_combine, "a reduction combines two values of the type of `initial` to one");
    if constexpr (is_item && is_combine)
        detail::reduce(context, count, initial, function, combine, grain == 0 ? 1 : grain);
    return initial;
}

/* ---- jobs ---- */

/* The result of a job to come. Copies are of the same job. A future that is dropped leaves its job
 * running. It may outlive a pool that ended its jobs; not a borrowed one. */
template <class R> class future
{
    using kept = std::conditional_t<std::is_void_v<R>, detail::nothing, R>;

  public:
    future() = default; /* empty */
    explicit operator bool() const { return state_ != nullptr; }
    bool is_done() const
    {
        weft_job_pool *pool = *pool_;
        return pool == nullptr || weft_job_is_done(pool, state_->handle);
    }
    weft_job_handle handle() const { return state_->handle; }
    /* Waits, running other jobs, and gives the result; what the job, or one before it, threw is
     * thrown, at each call. Threads: pool owner, not in a job (WOULD_NEST). */
    decltype(auto) get() const
    {
        if (weft_job_pool *pool = *pool_)
            detail::checked_call(weft_job_wait(weft_job_pool_owner(pool), state_->handle, nullptr));
        if (std::exception_ptr thrown = state_->thrown.get()) std::rethrow_exception(thrown);
        if constexpr (!std::is_void_v<R>) return static_cast<R &>(*state_->value);
    }

    /* The result, without waiting: for a job that runs after this one. Else, and after an exception,
     * an empty value. Threads: any. */
    kept get_if_done() const
    {
        return is_done() && state_->value ? *state_->value : kept();
    }

  private:
    friend class pool;
    template <class> friend class future;
    future(detail::pool_place pool, std::shared_ptr<detail::job_result<kept>> state)
        : pool_(std::move(pool)), state_(std::move(state))
    {
    }
    detail::pool_place pool_;
    std::shared_ptr<detail::job_result<kept>> state_;
};

/* Owns a pool of workers, or borrows one (that of a world: weft_world_pool). */
class pool
{
  public:
    explicit pool(uint32_t workers = 0) : pool(of_workers(workers)) {}
    explicit pool(const weft_job_pool_desc &desc) : is_owner_(true)
    {
        weft_error why;
        weft_job_pool_desc asked = desc;
        if (asked.error == nullptr) asked.error = &why;
        [[maybe_unused]] weft_result result = weft_job_pool_create(&asked, &pool_);
#ifndef WEFT_NO_EXCEPTIONS
        if (result != WEFT_OK) throw error(*asked.error);
#endif
        place_ = detail::place_of(pool_);
    }
    static pool borrow(weft_job_pool *from) { return pool(from, false); }
    pool(pool &&other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), place_(std::move(other.place_)), is_owner_(other.is_owner_)
    {
    }
    pool &operator=(pool &&other) noexcept
    {
        std::swap(pool_, other.pool_);
        std::swap(place_, other.place_);
        std::swap(is_owner_, other.is_owner_);
        return *this;
    }
    /* Waits for all jobs of a pool that it owns. */
    ~pool()
    {
        if (pool_ == nullptr || !is_owner_) return;
        (void)weft_job_wait_all(context(), nullptr);
        if (weft_job_pool_destroy(pool_) == WEFT_OK) *place_ = nullptr;
    }
    weft_job_pool *get() const { return pool_; }
    weft_job_context *context() const { return weft_job_pool_owner(pool_); }
    uint32_t workers() const { return weft_job_pool_worker_count(pool_); }

    template <class F> weft_result parallel_for(uint32_t count, F &&function)
    {
        return weft::parallel_for(context(), count, std::forward<F>(function));
    }
    template <class T, class F, class C>
    T parallel_reduce(uint32_t count, T initial, F &&function, C &&combine, uint32_t grain = 1024)
    {
        return weft::parallel_reduce(context(), count, std::move(initial), std::forward<F>(function),
                                     std::forward<C>(combine), grain);
    }
    /* Submits a job: R function(), or R function(weft_job_context *) for loops of its own. It runs
     * when the jobs of `after` have ended; if one of them threw, it does not run, and throws the
     * same. */
    template <class F, class... As> auto submit(F &&function, const As &...after)
    {
        using plain = std::decay_t<F>;
        constexpr bool takes_context = std::is_invocable_v<plain &, weft_job_context *>;
        constexpr bool is_job = takes_context || std::is_invocable_v<plain &>;
        using R = typename result_of<plain, is_job, takes_context>::type;
        constexpr bool is_result = std::is_void_v<R> || std::is_move_constructible_v<R>;
        constexpr bool is_after = (... && is_future<As>::value);
        static_assert(is_job, "a job's function takes nothing, or weft_job_context *");
        static_assert(!is_job || detail::is_kept<F>, "a job keeps its function by value: std::move it, or make it copyable");
        static_assert(is_result && !std::is_reference_v<R>, "a job gives a value, which is moved, or nothing: no reference");
        static_assert(is_after, "a job runs after others: each is a weft::future");
        if constexpr (is_job && detail::is_kept<F> && is_result && !std::is_reference_v<R> && is_after)
            return submitted<R, takes_context>(std::forward<F>(function), after...);
        else
            return future<std::decay_t<R>>();
    }
    weft_result wait_all()
    {
        return detail::checked_call(weft_job_wait_all(context(), nullptr));
    }

  private:
    template <class F, bool is_job, bool takes_context> struct result_of {
        using type = void;
    };
    template <class F> struct result_of<F, true, false> {
        using type = std::invoke_result_t<F &>;
    };
    template <class F> struct result_of<F, true, true> {
        using type = std::invoke_result_t<F &, weft_job_context *>;
    };
    template <class A> struct is_future : std::false_type {
    };
    template <class R> struct is_future<future<R>> : std::true_type {
    };
    template <class R, bool takes_context, class F, class... Rs>
    future<R> submitted(F &&function, const future<Rs> &...after)
    {
        using plain = std::decay_t<F>;
        using kept = typename future<R>::kept;
        struct job {
            plain function;
            std::shared_ptr<detail::job_result<kept>> state;
            std::vector<std::shared_ptr<detail::job_state>> after;
        };
        auto state = std::make_shared<detail::job_result<kept>>();
        auto one = std::make_unique<job>(job{std::forward<F>(function), state, {after.state_...}});
        const weft_job_handle before[] = {
            (after ? after.state_->handle : weft_job_handle{})..., weft_job_handle{}};
        weft_job_desc desc = {};
        desc.argument = one.get();
        desc.after = before;
        desc.after_count = sizeof...(Rs);
        desc.runs_on_error = true; /* so that it always frees itself */
        desc.fn = [](weft_job_context *context, void *argument) {
            std::unique_ptr<job> j(static_cast<job *>(argument));
            for (const auto &earlier : j->after)
                if (earlier && earlier->thrown.get()) {
                    j->state->thrown.set(earlier->thrown.get());
                    return 0;
                }
            j->state->thrown.guard(0, [&] {
                (void)context;
                auto call = [&]() -> R {
                    if constexpr (takes_context)
                        return j->function(context);
                    else
                        return j->function();
                };
                if constexpr (std::is_void_v<R>)
                    call();
                else
                    j->state->value.emplace(call());
            });
            return 0;
        };
        weft_result result = weft_job_submit(context(), &desc, &state->handle);
        if (result == WEFT_OK) (void)one.release();
        detail::checked_call(result);
        return result == WEFT_OK ? future<R>(place_, std::move(state)) : future<R>();
    }
    static weft_job_pool_desc of_workers(uint32_t workers)
    {
        weft_job_pool_desc desc = {};
        desc.worker_count = workers;
        return desc;
    }
    friend class graph;
    pool(weft_job_pool *from, bool is_owner)
        : pool_(from), place_(detail::place_of(from)), is_owner_(is_owner)
    {
    }
    weft_job_pool *pool_ = nullptr;
    detail::pool_place place_;
    bool is_owner_;
};

/* ---- graphs ---- */

/* A graph of functions, compiled by its first run and run as often as wanted:
 *   weft::graph frame;
 *   auto read = frame.add("read", [&] { ... });
 *   frame.add("draw", [&] { ... }, {read});
 *   frame.run(pool); */
class graph
{
  public:
    using node = uint32_t;
    graph() = default;
    graph(const graph &) = delete;
    graph &operator=(const graph &) = delete;
    ~graph() { unmake(); }

    /* Adds a node that runs after those of `after`. `name` is kept by pointer. */
    template <class F> node add(const char *name, F &&function, const std::vector<node> &after = {})
    {
        constexpr bool fits = detail::gives<void, F>();
        static_assert(fits, "a node's function takes nothing, and can be copied");
        std::function<void()> kept;
        if constexpr (fits) kept = std::forward<F>(function);
        unmake();
        node added = static_cast<node>(nodes_.size());
        nodes_.push_back(std::make_unique<one>(one{name, std::move(kept), this, added}));
        for (node earlier : after) edges_.push_back({earlier, added});
        return added;
    }
    weft_result run(const pool &workers)
    {
        if (place_ != workers.place_) unmake(); /* of a pool that may have ended */
        place_ = workers.place_;
        return run(workers.context());
    }
    weft_result run(weft_job_context *context)
    {
        if (place_ == nullptr) place_ = detail::place_of(weft_job_context_pool(context));
        weft_result result = made_ == nullptr ? make(context) : WEFT_OK;
        if (result == WEFT_OK) result = weft_job_graph_run(context, made_, nullptr);
        thrown_.rethrow();
        return detail::checked_call(result);
    }

  private:
    struct one {
        const char *name;
        std::function<void()> function;
        graph *of;
        node number;
    };
    struct edge {
        uint32_t before, after;
    };
    weft_result make(weft_job_context *context)
    {
        std::vector<weft_job_graph_node> nodes;
        for (const auto &each : nodes_) {
            weft_job_graph_node made = {};
            made.name = each->name;
            made.argument = each.get();
            made.fn = [](weft_job_context *, void *argument) {
                one *o = static_cast<one *>(argument);
                bool is_done = false;
                o->of->thrown_.guard(o->number, [&] {
                    o->function();
                    is_done = true;
                });
                return is_done ? 0 : 1;
            };
            nodes.push_back(made);
        }
        static_assert(sizeof(edge) == sizeof(uint32_t[2]));
        weft_job_graph_desc desc = {};
        desc.nodes = nodes.data();
        desc.node_count = static_cast<uint32_t>(nodes.size());
        desc.edges = reinterpret_cast<const uint32_t(*)[2]>(edges_.data());
        desc.edge_count = static_cast<uint32_t>(edges_.size());
        return weft_job_graph_create(weft_job_context_pool(context), &desc, &made_);
    }
    void unmake()
    {
        if (made_ != nullptr && *place_ != nullptr) (void)weft_job_graph_destroy(made_);
        made_ = nullptr;
    }
    std::vector<std::unique_ptr<one>> nodes_;
    std::vector<edge> edges_;
    weft_job_graph *made_ = nullptr;
    detail::pool_place place_; /* of the pool that has it */
    detail::first_thrown thrown_;
};

} // namespace weft

#endif
