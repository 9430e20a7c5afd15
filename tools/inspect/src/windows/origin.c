/* SPDX-License-Identifier: MIT */
/* origin.c: asks one after the other who may know an entity: the program, live links, the scene,
 * streams. Nothing is kept. */
#include "origin.h"

#include <weft/entity.h>
#include <weft/live.h>
#include <weft/relation.h>
#include <weft/stream.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32, TEXT_BYTES = 512 };

/* The first layer of an explanation: "level.weft:3"; "": it has none. */
static void read_place(const char *explanation, char *out, size_t capacity)
{
    const char *at = strstr(explanation, "\n  layers");
    *out = '\0';
    if (at == NULL) return;
    at += strlen("\n  layers");
    at += strspn(at, " ");
    snprintf(out, capacity, "%.*s", (int)strcspn(at, "\n"), at);
}

static bool write_place(const char *explanation, const char *path, char *text)
{
    char place[320];
    read_place(explanation, place, sizeof place);
    snprintf(text, TEXT_BYTES, "%s%s%.180s", place, *place == '\0' ? "" : " ", path);
    return true;
}

/* ---- documents ---- */

/* What of the last conflicts is about the object. */
static void add_conflicts(const weft_live *live, const char *path, weft__wire *out)
{
    const char *text;
    size_t bytes = strlen(path);
    weft__wire_open(out, "conflicts", '[');
    for (uint32_t i = 0; (text = weft_live_conflict_at(live, i)) != NULL; i++)
        if (strncmp(text, path, bytes) == 0 && (text[bytes] == '.' || text[bytes] == ':'))
            weft__wire_text(out, NULL, text);
    weft__wire_close(out, ']');
}

static bool of_links(const weft__session *session, weft_entity entity, char *text, weft__wire *out)
{
    uint32_t count;
    bool is_known = false;
    weft_live **links = weft__session_links(session, &count, out);
    for (uint32_t i = 0; i < count && !is_known; i++) {
        char explanation[2048] = "";
        const char *path = weft_live_path(links[i], entity);
        if (path == NULL) continue;
        weft_live_explain(links[i], path, false, explanation, sizeof explanation);
        weft__wire_bool(out, "live", true);
        add_conflicts(links[i], path, out);
        is_known = write_place(explanation, path, text);
    }
    free(links);
    return is_known;
}

/* The names from the root down to the entity. False: one has no name, or there are too many. */
static bool find_path(const weft_world *world, weft_entity entity, char *path, size_t capacity)
{
    weft_component parent = weft_component_find(world, "Parent");
    size_t at = capacity - 1;
    path[at] = '\0';
    for (uint32_t depth = 0; depth < DEPTH_MAX; depth++) {
        const char *name = weft_entity_name(world, entity);
        size_t bytes = name == NULL ? 0 : strlen(name);
        if (bytes == 0 || bytes + 1 > at) return false;
        if (path[at] != '\0') path[--at] = '/';
        at -= bytes;
        memcpy(path + at, name, bytes);
        entity = parent.id == 0 ? (weft_entity){0} : weft_relation_target(world, entity, parent);
        if (weft_entity_is_null(entity)) {
            memmove(path, path + at, capacity - at);
            return true;
        }
    }
    return false;
}

static bool of_scene(const weft__session *session, weft_entity entity, char *text)
{
    char path[256], explanation[2048];
    if (session->scene == NULL || !find_path(session->world, entity, path, sizeof path))
        return false;
    weft_entity found = weft_scene_entity(session->scene, path);
    if (found.index != entity.index || found.version != entity.version) return false;
    weft_scene_explain(session->scene, path, false, explanation, sizeof explanation);
    return write_place(explanation, path, text);
}

static bool of_streams(const weft__session *session, weft_entity entity, char *text,
                       weft__wire *out)
{
    weft_component section = weft_component_find(session->world, "Section");
    if (section.id == 0 || !weft_entity_has(session->world, entity, section)) return false;
    const weft_section *of = weft_entity_read_shared(session->world, entity, section);
    uint32_t count;
    bool is_known = false;
    weft_stream **streams = weft__session_streams(session, &count, out);
    for (uint32_t i = 0; of != NULL && i < count && !is_known; i++) {
        weft_section_info info;
        if (weft_stream_number(streams[i]) != of->instance ||
            weft_stream_section_get(streams[i], of->section, &info, sizeof info) != WEFT_OK)
            continue;
        snprintf(text, TEXT_BYTES, "%.400s, section %u", info.path, of->section);
        is_known = true;
    }
    free(streams);
    return is_known;
}

void weft__origin_add(const weft__session *session, weft_entity entity, weft__wire *out)
{
    char text[TEXT_BYTES] = "";
    const weft_inspect_source *source = &session->source;
    bool is_known =
        source->origin != NULL && source->origin(entity, text, sizeof text, source->user) != 0;
    is_known = is_known || of_links(session, entity, text, out) ||
               of_scene(session, entity, text) || of_streams(session, entity, text, out);
    if (is_known) weft__wire_text(out, "origin", text);
}
