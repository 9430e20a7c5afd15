/* SPDX-License-Identifier: MIT */
/* grid.hpp: neighbours among positions, over grid.h: a grid of a C++ type.
 *
 *   weft::grid<Position> near(weft::grid_box(0, 100, 2)); // from 0 to 100 along each axis, reach 2
 *   near.build(positions);                               // a std::vector<Position>, or
 *   near.build(s, all);                                  // in a system with WEFT_SYSTEM_JOBS, rows of a query
 *   near.around(p, [&](const auto &n) { ... n.point, n.offset[0], n.square; near.entity(n.point) });
 *   near.pairs([&](uint32_t a, const auto &n) { ... });  // each pair once
 *
 * Public, header only, optional: weft.hpp does not include it. Position has members x, y and, in
 * three dimensions, z, one after the other, all float or all double. Neighbours come in a fixed
 * order, for any number of workers. Threads: as grid.h: one builds, then any number visit. */
#ifndef WEFT_GRID_HPP
#define WEFT_GRID_HPP

#include <weft/grid.h>
#include <weft/weft.hpp>

#include <array>

namespace weft
{

/* A box with equal sides; others are a weft_grid_desc by hand. */
inline weft_grid_desc grid_box(double least, double most, double reach, bool is_periodic = false)
{
    weft_grid_desc box = {};
    for (int axis = 0; axis < 3; axis++) {
        box.least[axis] = least;
        box.most[axis] = most;
        box.is_periodic[axis] = is_periodic;
    }
    box.reach = reach;
    return box;
}

namespace detail
{
template <class P, class = void> struct has_z : std::false_type {
};
template <class P> struct has_z<P, std::void_t<decltype(P::z)>> : std::true_type {
};
} // namespace detail

template <class P> class grid
{
    using number = decltype(P::x);
    static constexpr uint32_t axes = detail::has_z<P>::value ? 3 : 2;
    static_assert(std::is_same_v<number, float> || std::is_same_v<number, double>,
                  "a grid is of a type whose members x, y (and z) are float or double");
    static_assert(std::is_standard_layout_v<P> && offsetof(P, y) == offsetof(P, x) + sizeof(number),
                  "a grid is of a type with y behind x (and z behind y)");

  public:
    /* A point nearer than the reach. */
    struct neighbour {
        uint32_t point;                  /* its index in what was built */
        std::array<number, axes> offset; /* from here to it, across periodic borders */
        number square;                   /* of the distance */
    };

    explicit grid(const weft_grid_desc &desc) : box_(desc)
    {
        box_.dimensions = axes;
        weft_grid *made = nullptr;
        (void)detail::checked_call(weft_grid_create(&box_, &made));
        grid_.reset(made);
    }
    weft_grid *get() const { return grid_.get(); }
    explicit operator bool() const { return grid_ != nullptr; }

    /* Replaces the points; `job` shares the work with workers. */
    weft_result build(const P *points, uint32_t count, weft_job_context *job = nullptr)
    {
        entities_.clear();
        return sort(points, count, job);
    }
    weft_result build(const std::vector<P> &points, weft_job_context *job = nullptr)
    {
        return build(points.data(), static_cast<uint32_t>(points.size()), job);
    }
    /* The rows of a query whose first term is P: of query().each([](const P &) {}), declared by
     * queries(q) and flags(WEFT_SYSTEM_JOBS). entity(i) is the row's. */
    template <class Q> weft_result build(const weft_slice &s, const Q &rows)
    {
        return build(weft_slice_query(&s, handle_of(rows)), weft_slice_job(&s));
    }
    /* All P of a world, while no system runs. */
    weft_result build(world &of)
    {
        auto rows = of.query().each([](const P &) {});
        return build(weft_query_begin(of.get(), rows.get()), nullptr);
    }
    uint32_t size() const { return view_.count; }
    /* Of a point of build(s, query) and build(world). */
    weft::entity entity(uint32_t point) const { return entities_[point]; }

    /* Calls function(const neighbour &) for each point nearer than the reach, itself included. */
    template <class F> void around(const P &at, F &&function) const
    {
        constexpr bool fits = std::is_invocable_v<F &, const neighbour &>;
        static_assert(fits, "around() calls a function of const auto &neighbour");
        double where[axes];
        for (uint32_t a = 0; a < axes; a++) where[a] = static_cast<double>((&at.x)[a]);
        weft_grid_run runs[WEFT_GRID_MAX_RUNS];
        uint32_t count = weft_grid_runs(get(), weft_grid_cell_at(get(), where), runs);
        if constexpr (fits) visit(&at.x, runs, count, function);
    }
    /* Calls function(uint32_t point, const neighbour &) for each pair of points once. */
    template <class F> void pairs(F &&function) const
    {
        constexpr bool fits = std::is_invocable_v<F &, uint32_t, const neighbour &>;
        static_assert(fits, "pairs() calls a function of uint32_t point, const auto &neighbour");
        for (uint32_t cell = 0; cell < view_.cell_count; cell++) {
            weft_grid_run runs[WEFT_GRID_MAX_RUNS + 1];
            uint32_t count = 1 + weft_grid_runs_half(get(), cell, runs + 1);
            for (uint32_t k = view_.cell_begin[cell]; k < view_.cell_begin[cell + 1]; k++) {
                runs[0] = {k + 1, view_.cell_begin[cell + 1], {0, 0, 0}}; /* those after it */
                auto with = [&]([[maybe_unused]] const neighbour &n) {
                    if constexpr (fits) function(uint32_t{view_.points[k]}, n);
                };
                visit(&sorted_[std::size_t{k} * axes], runs, count, with);
            }
        }
    }

  private:
    static weft_query handle_of(weft_query of) { return of; }
    template <class Q> static weft_query handle_of(const Q &of) { return of.get(); }
    weft_result build(weft_cursor cursor, weft_job_context *job)
    {
        points_.clear();
        entities_.clear();
        while (weft_query_next(&cursor)) {
            const weft_slice &s = cursor.slice;
            const P *at = static_cast<const P *>(weft_slice_read(&s, 0));
            weft_slice_walk walk = {};
            while (weft_slice_next_row(&s, &walk)) {
                points_.push_back(at[walk.row]);
                entities_.push_back(s.entities[walk.row]);
            }
        }
        return sort(points_.data(), static_cast<uint32_t>(points_.size()), job);
    }
    weft_result sort(const P *points, uint32_t count, weft_job_context *job)
    {
        sorted_.resize(std::size_t{count} * axes);
        weft_grid_points all = {count == 0 ? nullptr : &points->x, sizeof(P), count,
                                std::is_same_v<number, double>, sorted_.data()};
        weft_result result = weft_grid_build(get(), job, &all);
        weft_grid_view_get(get(), &view_, sizeof view_);
        return detail::checked_call(result);
    }
    template <class F>
    void visit(const number *from, const weft_grid_run *runs, uint32_t count, F &function) const
    {
        const number reach = static_cast<number>(box_.reach) * static_cast<number>(box_.reach);
        for (uint32_t r = 0; r < count; r++) {
            number shift[axes];
            for (uint32_t a = 0; a < axes; a++)
                shift[a] = static_cast<number>(runs[r].shift[a] * (box_.most[a] - box_.least[a])) - from[a];
            for (uint32_t k = runs[r].begin; k < runs[r].end; k++) {
                neighbour n = {view_.points[k], {}, 0};
                for (uint32_t a = 0; a < axes; a++) {
                    n.offset[a] = sorted_[std::size_t{k} * axes + a] + shift[a];
                    n.square += n.offset[a] * n.offset[a];
                }
                if (n.square < reach) function(static_cast<const neighbour &>(n));
            }
        }
    }
    struct end {
        void operator()(weft_grid *g) const { weft_grid_destroy(g); }
    };
    weft_grid_desc box_;
    std::unique_ptr<weft_grid, end> grid_;
    weft_grid_view view_ = {};
    std::vector<number> sorted_;
    std::vector<P> points_;
    std::vector<weft::entity> entities_;
};

} // namespace weft

#endif
