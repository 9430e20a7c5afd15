/* SPDX-License-Identifier: MIT */
/* window_systems.c: systems, their schedule, queries. The schedule itself is what
 * weft_schedule_json writes: edges are asked for once, when they are looked at, not ten times a
 * second. */
#include "window_systems.h"

#include "query_text.h"
#include "system_log.h"

#include <stdlib.h>
#include <string.h>
#include <weft/query.h>
#include <weft/schedule.h>
#include <weft/slice.h>
#include <weft/system.h>

static void add_access(const weft__session *session, weft_system system, weft__wire *out)
{
    uint32_t count = weft_system_access(session->world, system, NULL, 0);
    weft_lookup *touched = calloc(count + 1, sizeof *touched);
    out->has_failed |= touched == NULL;
    count = touched == NULL ? 0 : weft_system_access(session->world, system, touched, count);
    weft__wire_open(out, "access", '[');
    for (uint32_t i = 0; i < count; i++) {
        weft__wire_open(out, NULL, '{');
        weft__wire_text(out, "name", weft__session_name(session, touched[i].component));
        weft__wire_bool(out, "write", touched[i].access == WEFT_WRITE);
        weft__wire_close(out, '}');
    }
    weft__wire_close(out, ']');
    free(touched);
}

static void add_flags(uint32_t flags, weft__wire *out)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {{WEFT_SYSTEM_SERIAL, "serial"},
                 {WEFT_SYSTEM_MAIN_THREAD, "main thread"},
                 {WEFT_SYSTEM_EXCLUSIVE, "exclusive"},
                 {WEFT_SYSTEM_BACKGROUND, "background"},
                 {WEFT_SYSTEM_TIMER, "timer"}};
    weft__wire_open(out, "flags", '[');
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (flags & names[i].flag) weft__wire_text(out, NULL, names[i].name);
    weft__wire_close(out, ']');
}

static void add_system(const weft__session *session, weft_system system, weft__wire *out)
{
    weft_system_info info;
    weft_system_stats stats;
    if (weft_system_info_get(session->world, system, &info, sizeof info) != WEFT_OK ||
        weft_system_stats_get(session->world, system, &stats, sizeof stats) != WEFT_OK)
        return;
    weft__times times = weft__system_log_of(session, system);
    weft__wire_open(out, NULL, '{');
    weft__wire_text(out, "name", info.name);
    weft__wire_text(out, "group", info.group);
    weft__wire_bool(out, "enabled", info.is_enabled);
    weft__wire_count(out, "stage", stats.stage);
    weft__wire_bool(out, "fused", stats.is_fused);
    weft__wire_count(out, "runs", stats.runs);
    weft__wire_count(out, "rows", stats.rows);
    weft__wire_count(out, "slices", stats.slices);
    weft__wire_count(out, "commands", stats.commands);
    weft__wire_count(out, "last", times.last);
    weft__wire_count(out, "average", times.average);
    weft__wire_count(out, "p99", times.p99);
    if (info.period > 0) weft__wire_number(out, "period", (double)info.period);
    add_flags(info.flags, out);
    add_access(session, system, out);
    weft__wire_close(out, '}');
}

static void add_frame(const weft__session *session, weft__wire *out)
{
    weft_frame_stats frame;
    weft_frame_stats_get(session->world, &frame, sizeof frame);
    weft__times times = weft__system_log_frames(session);
    weft__wire_count(out, "workers", weft_job_pool_worker_count(weft_world_pool(session->world)));
    weft__wire_bool(out, "writable", session->is_writable);
    weft__wire_count(out, "frame", frame.frame_ns);
    weft__wire_count(out, "average", times.average);
    weft__wire_count(out, "p99", times.p99);
    weft__wire_count(out, "critical", frame.critical_path_ns);
    weft__wire_count(out, "playback", frame.playback_ns);
    weft__wire_count(out, "relations", frame.relations_ns);
    weft__wire_count(out, "observers", frame.observers_ns);
    weft__wire_count(out, "hashing", frame.hashing_ns);
    weft__wire_count(out, "stages", frame.stages);
    weft__wire_count(out, "sync_points", frame.sync_points);
    weft__wire_count(out, "commands", frame.commands);
    weft__wire_count(out, "skipped", frame.commands_skipped);
}

uint32_t weft__systems_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    uint32_t count;
    (void)request;
    weft__session_need(session, WEFT__NEED_TIMES);
    weft_system *list = weft__session_systems(session, &count, out);
    weft__wire_bool(out, "measured", session->is_measuring); /* else times are 0: ask again */
    add_frame(session, out);
    weft__wire_open(out, "systems", '[');
    for (uint32_t i = 0; i < count; i++) add_system(session, list[i], out);
    weft__wire_close(out, ']');
    free(list);
    return 200;
}

uint32_t weft__schedule_window(weft__session *session, const weft__request *request,
                               weft__wire *out)
{
    (void)request;
    size_t length = weft_schedule_json(session->world, NULL, 0);
    char *text = malloc(length + 1);
    if (text == NULL) return weft__window_fail(out, 503, "no memory");
    /* else memory was refused for a part of one of the two */
    out->has_failed |= weft_schedule_json(session->world, text, length + 1) != length;
    weft__wire_json(out, "schedule", text);
    free(text);
    return 200;
}

static weft_system find_system(const weft__session *session, const weft__request *request,
                               const char *member)
{
    char name[WEFT__REQUEST_WORD];
    weft__request_text(request, member, name, sizeof name);
    return weft_system_find(session->world, name);
}

uint32_t weft__explain_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    char text[2048];
    weft_system a = find_system(session, request, "a"), b = find_system(session, request, "b");
    if (a.id == 0 || b.id == 0) return weft__window_fail(out, 404, "there is no such system");
    weft_schedule_explain(session->world, a, b, text, sizeof text);
    weft__wire_text(out, "text", text);
    return 200;
}

uint32_t weft__system_switch(weft__session *session, const weft__request *request, weft__wire *out)
{
    if (!session->is_writable) return weft__window_read_only(out);
    weft_system system = find_system(session, request, "system");
    if (system.id == 0) return weft__window_fail(out, 404, "there is no such system");
    if (weft_system_enable(session->world, system, weft__request_is(request, "enabled")) != WEFT_OK)
        return weft__window_world_error(session, out);
    return weft__systems_window(session, request, out);
}

uint32_t weft__group_switch(weft__session *session, const weft__request *request, weft__wire *out)
{
    char name[64];
    if (!session->is_writable) return weft__window_read_only(out);
    if (!weft__request_text(request, "group", name, sizeof name))
        return weft__window_fail(out, 400, "a name has at most 63 bytes");
    if (weft_group_enable(session->world, name, weft__request_is(request, "enabled")) != WEFT_OK)
        return weft__window_world_error(session, out);
    return weft__systems_window(session, request, out);
}

uint32_t weft__system_once(weft__session *session, const weft__request *request, weft__wire *out)
{
    if (!session->is_writable) return weft__window_read_only(out);
    weft_system system = find_system(session, request, "system");
    if (system.id == 0) return weft__window_fail(out, 404, "there is no such system");
    float dt = weft_world_frame(session->world).dt;
    if (weft_system_run(session->world, system, dt) != WEFT_OK)
        return weft__window_world_error(session, out);
    return weft__systems_window(session, request, out);
}

/* ---- queries ---- */

static void add_terms(const weft__session *session, weft_query query, weft__wire *out)
{
    uint32_t count = weft_query_terms(session->world, query, NULL, 0);
    weft_term *terms = calloc(count + 1, sizeof *terms);
    out->has_failed |= terms == NULL;
    count = terms == NULL ? 0 : weft_query_terms(session->world, query, terms, count);
    weft__wire_open(out, "terms", '[');
    for (uint32_t i = 0; i < count; i++) {
        weft__wire_open(out, NULL, '{');
        weft__wire_text(out, "name", weft__session_name(session, terms[i].component));
        weft__wire_text(out, "match", weft__query_text_prefix(terms[i].match));
        weft__wire_bool(out, "write", terms[i].access == WEFT_WRITE);
        if (terms[i].alternative != 0) weft__wire_count(out, "alternative", terms[i].alternative);
        weft__wire_close(out, '}');
    }
    weft__wire_close(out, ']');
    free(terms);
}

/* A system, and its query. Owner: one answer. */
typedef struct user {
    const char *name;
    uint32_t query; /* 0: none */
} user;

static user *list_users(const weft__session *session, uint32_t *count, weft__wire *out)
{
    weft_system_info info;
    weft_system *systems = weft__session_systems(session, count, out);
    user *users = calloc(*count + 1u, sizeof *users);
    out->has_failed |= users == NULL;
    for (uint32_t i = 0; users != NULL && i < *count; i++)
        if (weft_system_info_get(session->world, systems[i], &info, sizeof info) == WEFT_OK)
            users[i] = (user){info.name, info.query.id};
    if (users == NULL) *count = 0;
    free(systems);
    return users;
}

static void add_users(weft_query query, const user *users, uint32_t count, weft__wire *out)
{
    weft__wire_open(out, "systems", '[');
    for (uint32_t i = 0; i < count; i++)
        if (users[i].query == query.id) weft__wire_text(out, NULL, users[i].name);
    weft__wire_close(out, ']');
}

static void add_query(const weft__session *session, weft_query query, weft__wire *out)
{
    weft_query_info info;
    if (weft_query_info_get(session->world, query, &info, sizeof info) != WEFT_OK) return;
    uint64_t selected = weft_query_count(session->world, query);
    weft__wire_count(out, "id", query.id);
    add_terms(session, query, out);
    weft__wire_count(out, "archetypes", info.archetypes);
    weft__wire_count(out, "rows", info.rows);
    weft__wire_count(out, "selected", selected);
    weft__wire_count(out, "skipped", info.rows < selected ? 0 : info.rows - selected);
    weft__wire_count(out, "handles", info.handles);
    weft__wire_count(out, "shared_filters", info.shared_filters);
    weft__wire_count(out, "change_filters", info.change_filters);
    weft__wire_open(out, "options", '[');
    if (info.with_prefabs) weft__wire_text(out, NULL, "with prefabs");
    if (info.with_inactive) weft__wire_text(out, NULL, "with inactive");
    if (info.ignores_enabled) weft__wire_text(out, NULL, "ignores enable bits");
    weft__wire_close(out, ']');
}

uint32_t weft__queries_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    uint32_t system_count;
    (void)request;
    uint32_t total = weft_query_list(session->world, NULL, 0);
    weft_query *list = calloc(total + 1, sizeof *list);
    user *users = list_users(session, &system_count, out);
    out->has_failed |= list == NULL;
    total = list == NULL ? 0 : weft_query_list(session->world, list, total);
    weft__wire_count(out, "total", total);
    weft__wire_open(out, "rows", '[');
    for (uint32_t i = 0; i < total; i++) {
        weft__wire_open(out, NULL, '{');
        add_query(session, list[i], out);
        add_users(list[i], users, system_count, out);
        weft__wire_close(out, '}');
    }
    weft__wire_close(out, ']');
    free(users);
    free(list);
    return 200;
}
