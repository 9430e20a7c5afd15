/* SPDX-License-Identifier: MIT */
/* session.c: what several windows use: errors as answers, names, handles as text.
 *
 * Nothing here is kept between two requests. */
#include "session.h"

#include "os.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/entity.h>
#include <weft/finder.h>

uint64_t weft__session_now(void)
{
    const weft_os *os = weft__os_default();
    return os->clock_ns(os->user);
}

uint32_t weft__window_fail(weft__wire *out, uint32_t status, const char *format, ...)
{
    char text[640];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    weft__wire_text(out, "error", text);
    return status;
}

uint32_t weft__window_read_only(weft__wire *out)
{
    return weft__window_fail(out, 403,
                             "this inspector only reads: start it with is_writable, or with "
                             "WEFT_INSPECT=write");
}

uint32_t weft__window_world_error(const weft__session *session, weft__wire *out)
{
    return weft__window_fail(out, 409, "%s", weft_world_error(session->world)->text);
}

void weft__session_need(weft__session *session, weft__need need)
{
    session->needed_ns[need] = weft__session_now();
}

weft_component weft__session_component(const weft__session *session, uint32_t id)
{
    return (weft_component){id, weft_world_head_of(session->world)->number};
}

uint32_t weft__session_component_count(const weft__session *session)
{
    weft_world_stats stats;
    weft_world_stats_get(session->world, &stats, sizeof stats);
    return (uint32_t)stats.component_types;
}

/* Room for `count` things; NULL: none, or memory is refused, which fails the answer. */
static void *make_list(uint32_t count, size_t bytes, weft__wire *out)
{
    void *list = count == 0 ? NULL : calloc(count, bytes);
    out->has_failed |= count != 0 && list == NULL;
    return list;
}

weft_system *weft__session_systems(const weft__session *session, uint32_t *count, weft__wire *out)
{
    uint32_t all = weft_system_list(session->world, NULL, 0);
    weft_system *list = make_list(all, sizeof *list, out);
    *count = list == NULL ? 0 : weft_system_list(session->world, list, all);
    return list;
}

weft_component *weft__session_components(const weft__session *session, weft_archetype archetype,
                                         uint32_t *count, weft__wire *out)
{
    uint32_t all = weft_archetype_components(session->world, archetype, NULL, 0);
    weft_component *list = make_list(all, sizeof *list, out);
    *count = list == NULL ? 0 : weft_archetype_components(session->world, archetype, list, all);
    return list;
}

weft_live **weft__session_links(const weft__session *session, uint32_t *count, weft__wire *out)
{
    uint32_t all = weft_live_list(session->world, NULL, 0);
    weft_live **list = make_list(all, sizeof *list, out);
    *count = list == NULL ? 0 : weft_live_list(session->world, list, all);
    return list;
}

weft_stream **weft__session_streams(const weft__session *session, uint32_t *count, weft__wire *out)
{
    uint32_t all = weft_stream_list(session->world, NULL, 0);
    weft_stream **list = make_list(all, sizeof *list, out);
    *count = list == NULL ? 0 : weft_stream_list(session->world, list, all);
    return list;
}

const char *weft__session_kind(const weft_component_desc *info)
{
    if (info->flags & WEFT_RESOURCE) return "resource";
    if (info->flags & WEFT_SHARED) return "shared";
    if (info->flags & WEFT_CHUNK) return "chunk";
    if (info->flags & WEFT_BUFFER) return "buffer";
    if (info->flags & WEFT_SPARSE) return "sparse";
    return info->size == 0 ? "tag" : "data";
}

const char *weft__session_name(const weft__session *session, weft_component component)
{
    const weft_component_desc *info = weft_component_info(session->world, component);
    return info == NULL ? "?" : info->name;
}

void weft__wire_entity(weft__wire *out, const char *name, weft_entity entity)
{
    char text[32];
    snprintf(text, sizeof text, "%u:%u", entity.index, entity.version);
    weft__wire_text(out, name, text);
}

void weft__wire_told(weft__wire *out, const char *name,
                     size_t (*write)(char *text, size_t capacity, void *user), void *user)
{
    size_t length = write(NULL, 0, user);
    char *text = malloc(length + 3);
    out->has_failed |= text == NULL;
    if (text == NULL || length == 0) {
        free(text);
        return;
    }
    size_t again = write(text + 1, length + 1, user);
    if (again <= length) {
        text[0] = '{';
        memcpy(text + 1 + again, "}", 2);
        weft__wire_json(out, name, text);
    }
    free(text);
}

void weft__wire_archetype(weft__wire *out, const char *name, const weft__session *session,
                          weft_archetype archetype)
{
    uint32_t count;
    weft_component *components = weft__session_components(session, archetype, &count, out);
    weft__wire_open(out, name, '[');
    for (uint32_t i = 0; i < count; i++)
        weft__wire_text(out, NULL, weft__session_name(session, components[i]));
    weft__wire_close(out, ']');
    free(components);
}
