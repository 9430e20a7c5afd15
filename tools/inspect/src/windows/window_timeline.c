/* SPDX-License-Identifier: MIT */
/* window_timeline.c: periods of the timeline, made small enough for the pixels that show them; and
 * counts of the job system. */
#include "window_timeline.h"

#include "timeline_store.h"

static const uint64_t default_span_ns = UINT64_C(100000000);

static weft__period period_of(const weft__session *session, const weft__request *request)
{
    const uint64_t most = UINT64_C(1) << 53;
    uint64_t end = weft__timeline_end(session);
    weft__period period = {.pixels = (uint32_t)weft__request_count(request, "pixels", 1000, 4000)};
    if (weft__request_is(request, "frame") && weft__timeline_frame(session, &period)) {
        period.pixels = (uint32_t)weft__request_count(request, "pixels", 1000, 4000);
        return period;
    }
    if (weft__request_is(request, "slowest") && weft__timeline_slowest(session, &period)) {
        period.pixels = (uint32_t)weft__request_count(request, "pixels", 1000, 4000);
        return period;
    }
    uint64_t span = weft__request_count(request, "span", default_span_ns, most);
    period.to_ns = weft__request_count(request, "to", end, most);
    period.from_ns =
        weft__request_count(request, "from", period.to_ns > span ? period.to_ns - span : 0, most);
    if (period.from_ns > period.to_ns) period.from_ns = period.to_ns;
    return period;
}

uint32_t weft__timeline_window(weft__session *session, const weft__request *request,
                               weft__wire *out)
{
    weft__session_need(session, WEFT__NEED_EVENTS);
    weft__period period = period_of(session, request);
    weft__wire_bool(out, "traced", weft__timeline_has_events(session));
    weft__wire_count(out, "end", weft__timeline_end(session));
    weft__wire_count(out, "from", period.from_ns);
    weft__wire_count(out, "to", period.to_ns);
    weft__period slowest;
    if (weft__timeline_slowest(session, &slowest))
        weft__wire_count(out, "slowest", slowest.to_ns - slowest.from_ns);
    weft__timeline_write(session, &period, out);
    return 200;
}

uint32_t weft__export_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    (void)request;
    weft__session_need(session, WEFT__NEED_EVENTS);
    weft__timeline_export(session, out);
    return 200;
}

static void add_counts(const weft_job_stats *stats, weft__wire *out)
{
    weft__wire_count(out, "submitted", stats->submitted);
    weft__wire_count(out, "children", stats->children);
    weft__wire_count(out, "stolen", stats->stolen);
    weft__wire_count(out, "lost_races", stats->steals_failed);
    weft__wire_count(out, "loops_split", stats->loops_parallel);
    weft__wire_count(out, "loops_inlined", stats->loops_inlined);
    weft__wire_count(out, "graph_runs", stats->graph_runs);
    weft__wire_count(out, "parks", stats->parked);
    weft__wire_count(out, "wakes", stats->wakes);
    weft__wire_count(out, "spin", stats->spin_ns);
}

uint32_t weft__jobs_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    weft_job_stats stats;
    const weft_job_pool *pool = weft_world_pool(session->world);
    (void)request;
    weft__session_need(session, WEFT__NEED_EVENTS);
    weft_job_stats_get(pool, &stats, sizeof stats);
    weft__wire_count(out, "now", weft__session_now());
    add_counts(&stats, out);
    weft__wire_count(out, "high_water", stats.jobs_high_water);
    weft__wire_count(out, "wake_ns", stats.wake_ns);
    weft__wire_count(out, "spin_budget", stats.spin_budget_ns);
    weft__wire_open(out, "workers", '[');
    for (uint32_t i = 0; i < weft_job_pool_worker_count(pool); i++) {
        double busy = weft__timeline_busy(session, i);
        weft_job_worker_stats_get(pool, i, &stats, sizeof stats);
        weft__wire_open(out, NULL, '{');
        if (busy >= 0) weft__wire_number(out, "busy", busy);
        add_counts(&stats, out);
        weft__wire_close(out, '}');
    }
    weft__wire_close(out, ']');
    return 200;
}
