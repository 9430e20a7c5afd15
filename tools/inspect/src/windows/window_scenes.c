/* SPDX-License-Identifier: MIT */
/* window_scenes.c: the Scenes window: what was baked, live links, streams. Links and streams of a
 * world are found without the program's help. */
#include "window_scenes.h"

#include <weft/live.h>
#include <weft/stream.h>

#include <stdlib.h>

enum { SECTIONS_SHOWN = 400, TOLD_MAX = 100, MISTAKES_MAX = 8 }; /* how many there are is told */

static void add_problems(weft_scene *scene, weft__wire *out)
{
    const uint32_t count = weft_scene_mistakes(scene, NULL, 0);
    const uint32_t told = count < TOLD_MAX ? count : TOLD_MAX;
    weft_error *mistakes = calloc(told + 1, sizeof *mistakes);
    weft__wire_count(out, "problem_count", count);
    weft__wire_open(out, "problems", '[');
    if (mistakes != NULL) weft_scene_mistakes(scene, mistakes, told);
    for (uint32_t i = 0; i < told && mistakes != NULL; i++) {
        weft__wire_open(out, NULL, '{');
        weft__wire_text(out, "file", mistakes[i].file);
        weft__wire_count(out, "line", mistakes[i].line);
        weft__wire_count(out, "column", mistakes[i].column);
        weft__wire_text(out, "object", mistakes[i].path);
        weft__wire_text(out, "text", mistakes[i].text);
        weft__wire_close(out, '}');
    }
    weft__wire_close(out, ']');
    free(mistakes);
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

static void add_link(weft_live *live, weft__wire *out)
{
    const char *text;
    weft_error mistakes[MISTAKES_MAX];
    uint32_t count = weft_live_mistakes(live, mistakes, MISTAKES_MAX), documents = 0;
    weft__wire_open(out, NULL, '{');
    weft__wire_open(out, "documents", '[');
    for (; (text = weft_live_document_at(live, documents)) != NULL; documents++)
        if (documents < TOLD_MAX) weft__wire_text(out, NULL, text);
    weft__wire_close(out, ']');
    weft__wire_count(out, "document_count", documents);
    weft__wire_count(out, "mistake_count", count);
    weft__wire_open(out, "mistakes", '[');
    for (uint32_t i = 0; i < count && i < MISTAKES_MAX; i++)
        weft__wire_text(out, NULL, mistakes[i].text);
    weft__wire_close(out, ']');
    weft__wire_open(out, "conflicts", '[');
    for (uint32_t i = 0; (text = weft_live_conflict_at(live, i)) != NULL; i++)
        weft__wire_text(out, NULL, text);
    weft__wire_close(out, ']');
    weft__wire_close(out, '}');
}

/* Returns whether there are any; the same for streams. */
static bool add_links(const weft__session *session, weft__wire *out)
{
    uint32_t count;
    weft_live **links = weft__session_links(session, &count, out);
    weft__wire_open(out, "links", '[');
    for (uint32_t i = 0; i < count; i++) add_link(links[i], out);
    weft__wire_close(out, ']');
    free(links);
    return count != 0;
}

/* ---- streams ---- */

static const char *state_name(weft_section_state state)
{
    static const char *const names[] = {
        [WEFT_SECTION_ABSENT] = "absent",   [WEFT_SECTION_WAITING] = "waiting",
        [WEFT_SECTION_READING] = "reading", [WEFT_SECTION_LOADED] = "loaded",
        [WEFT_SECTION_LEAVING] = "leaving", [WEFT_SECTION_FAILED] = "failed"};
    return (size_t)state < sizeof names / sizeof names[0] ? names[state] : "?";
}

static void add_section(uint32_t number, const weft_section_info *info, weft__wire *out)
{
    weft__wire_open(out, NULL, '{');
    weft__wire_count(out, "section", number);
    weft__wire_text(out, "state", state_name(info->state));
    weft__wire_bool(out, "asked", info->is_asked_for);
    weft__wire_count(out, "rows", info->rows);
    weft__wire_count(out, "chunks", info->chunks);
    weft__wire_count(out, "bytes", info->bytes);
    if (info->state == WEFT_SECTION_FAILED) weft__wire_text(out, "text", info->text);
    weft__wire_close(out, '}');
}

/* Sections that are in the world or on their way first, then the others. */
static void add_sections(const weft_stream *stream, weft__wire *out)
{
    weft_section_info info;
    uint32_t all = weft_stream_section_count(stream), shown = 0;
    uint32_t states[WEFT_SECTION_FAILED + 1] = {0};
    uint64_t rows = 0;
    weft__wire_open(out, "sections", '[');
    for (int with_absent = 0; with_absent < 2; with_absent++)
        for (uint32_t i = 0; i < all; i++) {
            if (weft_stream_section_get(stream, i, &info, sizeof info) != WEFT_OK ||
                (info.state == WEFT_SECTION_ABSENT) != (with_absent != 0))
                continue;
            if ((size_t)info.state < sizeof states / sizeof states[0]) states[info.state]++;
            if (info.state == WEFT_SECTION_LOADED) rows += info.rows;
            if (shown++ < SECTIONS_SHOWN) add_section(i, &info, out);
        }
    weft__wire_close(out, ']');
    weft__wire_count(out, "section_count", all);
    weft__wire_count(out, "rows", rows);
    for (uint32_t i = 0; i < sizeof states / sizeof states[0]; i++)
        weft__wire_count(out, state_name((weft_section_state)i), states[i]);
}

static bool add_streams(const weft__session *session, weft__wire *out)
{
    uint32_t count;
    weft_stream **streams = weft__session_streams(session, &count, out);
    weft__wire_open(out, "streams", '[');
    for (uint32_t i = 0; i < count; i++) {
        weft_section_info info;
        if (weft_stream_section_get(streams[i], 0, &info, sizeof info) != WEFT_OK) continue;
        weft__wire_open(out, NULL, '{');
        weft__wire_count(out, "stream", weft_stream_number(streams[i]));
        weft__wire_text(out, "path", info.path);
        add_sections(streams[i], out);
        weft__wire_close(out, '}');
    }
    weft__wire_close(out, ']');
    free(streams);
    return count != 0;
}

static weft_result stream_request(const weft__session *session, const weft__request *request,
                                  const char *section, weft__wire *out)
{
    weft_result result = WEFT_NOT_FOUND;
    uint64_t number = weft__request_count(request, "stream", 0, UINT32_MAX);
    uint32_t count, which = (uint32_t)strtoul(section, NULL, 10);
    weft_stream **streams = weft__session_streams(session, &count, out);
    for (uint32_t i = 0; i < count; i++)
        if (weft_stream_number(streams[i]) == number)
            result = weft__request_is(request, "load") ? weft_stream_load(streams[i], which, 1)
                                                       : weft_stream_unload(streams[i], which);
    free(streams);
    return result;
}

uint32_t weft__scenes_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    (void)request;
    bool has_source = session->source.write != NULL;
    bool has_links = add_links(session, out), has_streams = add_streams(session, out);
    weft__wire_bool(out, "there", session->scene != NULL || has_source || has_links || has_streams);
    weft__wire_bool(out, "writable", session->is_writable);
    weft__wire_bool(out, "requestable", session->is_writable && session->source.request != NULL);
    if (session->scene != NULL) add_scene(session->scene, out);
    if (has_source) weft__wire_told(out, "source", session->source.write, session->source.user);
    return 200;
}

uint32_t weft__section_request(weft__session *session, const weft__request *request,
                               weft__wire *out)
{
    char section[WEFT__REQUEST_WORD];
    weft_result result;
    if (!session->is_writable) return weft__window_read_only(out);
    weft__request_text(request, "section", section, sizeof section);
    if (weft__request_has(request, "stream"))
        result = stream_request(session, request, section, out);
    else if (session->source.request == NULL)
        return weft__window_fail(out, 404, "this program loads no sections");
    else
        result = session->source.request(section, weft__request_is(request, "load"),
                                         session->source.user);
    if (result != WEFT_OK)
        return weft__window_fail(out, 409, "section %s: %s", section, weft_result_text(result));
    return weft__scenes_window(session, request, out);
}
