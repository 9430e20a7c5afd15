/* SPDX-License-Identifier: MIT */
/* window_world.c: the head of the page, the Memory window, types. All of it is what the library
 * counts anyway; curves over time are made by the page. */
#include "window_world.h"

#include "condition.h"

#include <errno.h>
#include <weft/schedule.h>
#include <weft/system.h>

uint32_t weft__status_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    weft_world_stats stats;
    weft_frame_stats frames;
    (void)request;
    weft_world_stats_get(session->world, &stats, sizeof stats);
    weft_frame_stats_get(session->world, &frames, sizeof frames);
    weft_frame frame = weft_world_frame(session->world);
    weft__wire_count(out, "protocol", WEFT__PROTOCOL);
    weft__wire_text(out, "program", program_invocation_short_name);
    weft__wire_text(out, "world", weft__world_name(session->world));
    weft__worlds_write(&session->place, out);
    weft__wire_count(out, "frame", frame.number);
    weft__wire_number(out, "time", frame.time);
    weft__wire_number(out, "dt", (double)frame.dt);
    weft__wire_count(out, "entities", stats.entities);
    weft__wire_count(out, "archetypes", stats.archetypes);
    weft__wire_count(out, "chunks", stats.chunks);
    weft__wire_count(out, "systems", frames.systems);
    weft__wire_count(out, "workers", weft_job_pool_worker_count(weft_world_pool(session->world)));
    weft__wire_count(out, "bytes", stats.bytes_total);
    weft__wire_number(out, "pace", session->steps_per_second);
    weft__wire_bool(out, "paused", session->is_paused);
    weft__wire_number(out, "speed", session->speed);
    weft__wire_bool(out, "writable", session->is_writable);
    weft__condition_write(session, out);
    return 200;
}

uint32_t weft__memory_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    weft_world_stats s;
    (void)request;
    weft_world_stats_get(session->world, &s, sizeof s);
    const struct {
        const char *name;
        uint64_t bytes;
    } categories[] = {{"chunks", s.bytes_chunks},     {"entities", s.bytes_entities},
                      {"metadata", s.bytes_metadata}, {"blobs", s.bytes_blobs},
                      {"buffers", s.bytes_buffers},   {"shared values", s.bytes_shared},
                      {"commands", s.bytes_commands}, {"systems", s.bytes_systems},
                      {"queries", s.bytes_queries},   {"types", s.bytes_types},
                      {"other", s.bytes_other}};
    weft__wire_count(out, "now", weft__session_now());
    weft__wire_count(out, "total", s.bytes_total);
    weft__wire_open(out, "categories", '[');
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++) {
        weft__wire_open(out, NULL, '{');
        weft__wire_text(out, "name", categories[i].name);
        weft__wire_count(out, "bytes", categories[i].bytes);
        weft__wire_close(out, '}');
    }
    weft__wire_close(out, ']');
    weft__wire_count(out, "units", s.units_used);
    weft__wire_count(out, "megachunks", s.megachunks_mapped);
    weft__wire_count(out, "allocations", s.allocations);
    weft__wire_count(out, "rows_moved", s.rows_moved);
    weft__wire_count(out, "bytes_moved", s.bytes_moved);
    return 200;
}

uint32_t weft__types_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    uint32_t count = weft__session_component_count(session);
    (void)request;
    weft__wire_open(out, "types", '[');
    for (uint32_t id = 1; id <= count; id++)
        weft__wire_text(out, NULL,
                        weft__session_name(session, weft__session_component(session, id)));
    weft__wire_close(out, ']');
    return 200;
}
