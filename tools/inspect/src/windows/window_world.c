/* SPDX-License-Identifier: MIT */
/* window_world.c: the head of the page, the Memory and Scenes windows, types. All of it is what the
 * library counts anyway; curves over time are made by the page. */
#include "window_world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint32_t weft__status_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    weft_world_stats stats;
    weft_frame_stats frames;
    (void)request;
    weft_world_stats_get(session->world, &stats, sizeof stats);
    weft_frame_stats_get(session->world, &frames, sizeof frames);
    weft_frame frame = weft_world_frame(session->world);
    weft__wire_text(out, "program", program_invocation_short_name);
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

/* ---- scenes ---- */

static void add_problems(weft_scene *scene, weft__wire *out)
{
    uint32_t count = weft_scene_error_count(scene);
    weft__wire_count(out, "problem_count", count);
    weft__wire_open(out, "problems", '[');
    for (uint32_t i = 0; i < count && i < 200; i++) {
        const weft_scene_problem *problem = weft_scene_error(scene, i);
        weft__wire_open(out, NULL, '{');
        weft__wire_text(out, "file", problem->file);
        weft__wire_count(out, "line", problem->line);
        weft__wire_count(out, "column", problem->column);
        weft__wire_text(out, "object", problem->object);
        weft__wire_text(out, "text", problem->text);
        weft__wire_close(out, '}');
    }
    weft__wire_close(out, ']');
}

static void add_scene(weft_scene *scene, weft__wire *out)
{
    weft_scene_stats s;
    weft_scene_stats_get(scene, &s, sizeof s);
    weft__wire_open(out, "bake", '{');
    weft__wire_count(out, "files", s.files);
    weft__wire_count(out, "files_read", s.files_read);
    weft__wire_count(out, "objects", s.objects);
    weft__wire_count(out, "baked", s.baked);
    weft__wire_count(out, "added", s.added);
    weft__wire_count(out, "removed", s.removed);
    weft__wire_count(out, "changed", s.changed);
    weft__wire_count(out, "entities", s.entities);
    weft__wire_count(out, "blobs", s.blob_count);
    weft__wire_count(out, "bytes", s.record_bytes);
    weft__wire_number(out, "seconds", s.seconds);
    weft__wire_close(out, '}');
    add_problems(scene, out);
}

/* What the program's source writes, as members of this object. */
static void add_source(const weft_inspect_source *source, weft__wire *out)
{
    size_t length = source->write(NULL, 0, source->user);
    char *text = malloc(length + 3);
    if (text == NULL || length == 0) {
        free(text);
        return;
    }
    size_t again = source->write(text + 1, length + 1, source->user);
    if (again <= length) {
        text[0] = '{';
        memcpy(text + 1 + again, "}", 2);
        weft__wire_json(out, "source", text);
    }
    free(text);
}

uint32_t weft__scenes_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    (void)request;
    bool has_source = session->source.write != NULL;
    weft__wire_bool(out, "there", session->scene != NULL || has_source);
    weft__wire_bool(out, "writable", session->is_writable && session->source.request != NULL);
    if (session->scene != NULL) add_scene(session->scene, out);
    if (has_source) add_source(&session->source, out);
    return 200;
}

uint32_t weft__section_request(weft__session *session, const weft__request *request,
                               weft__wire *out)
{
    char section[WEFT__REQUEST_WORD];
    if (!session->is_writable)
        return weft__window_fail(out, 403, "this inspector only reads: start it with is_writable");
    if (session->source.request == NULL)
        return weft__window_fail(out, 404, "this program loads no sections");
    weft__request_text(request, "section", section, sizeof section);
    weft_result result =
        session->source.request(section, weft__request_is(request, "load"), session->source.user);
    if (result != WEFT_OK)
        return weft__window_fail(out, 409, "%s: %s", section, weft_result_name(result));
    return weft__scenes_window(session, request, out);
}

uint32_t weft__types_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    uint32_t count = weft__session_component_count(session);
    (void)request;
    weft__wire_open(out, "types", '[');
    for (uint32_t id = 1; id <= count && id <= 1000; id++)
        weft__wire_text(out, NULL,
                        weft__session_name(session, weft__session_component(session, id)));
    weft__wire_close(out, ']');
    return 200;
}
