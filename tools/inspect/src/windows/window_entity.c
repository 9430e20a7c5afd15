/* SPDX-License-Identifier: MIT */
/* window_entity.c: one entity: what it has, what runs over it, where it comes from.
 *
 * An edit sets a value as the program would; what it may be is checked in values.c. */
#include "window_entity.h"

#include "origin.h"
#include "values.h"
#include "window_entities.h"

#include <stdlib.h>
#include <string.h>
#include <weft/entity.h>
#include <weft/query.h>
#include <weft/relation.h>
#include <weft/system.h>

enum { ELEMENTS_SHOWN = 16 };

/* Elements [from, from + count) of a buffer. */
static void add_elements(const weft__session *session, weft_component component, uint64_t from,
                         uint64_t count, const weft_buffer *buffer, weft__wire *out)
{
    weft_type made;
    const weft_type *type;
    const weft_component_desc *info = weft_component_info(session->world, component);
    weft__wire_count(out, "count", buffer->count);
    const char *elements = weft_buffer_read(buffer);
    weft__wire_open(out, "elements", '[');
    bool is_described = weft__value_type(session, component, &made, &type);
    for (uint64_t i = from; i < buffer->count && i < from + count; i++) {
        const void *element = elements + i * info->size;
        if (!is_described) weft__wire_bytes(out, NULL, element, info->size);
        if (!is_described) continue;
        size_t length = weft_value_format(NULL, type, element, NULL, 0);
        weft__wire_json(out, NULL, " ");
        char *room = weft__wire_room(out, length + 1);
        if (room == NULL) break;
        weft_value_format(NULL, type, element, room, length + 1);
        out->count += length;
    }
    weft__wire_close(out, ']');
}

static void add_component(const weft__session *session, weft_entity entity,
                          weft_component component, weft__wire *out)
{
    weft_type made;
    const weft_type *type;
    const weft_component_desc *info = weft_component_info(session->world, component);
    const void *value = weft__value_of(session, entity, component);
    weft__wire_open(out, NULL, '{');
    weft__wire_text(out, "name", info->name);
    weft__wire_text(out, "kind", weft__session_kind(info));
    weft__wire_count(out, "bytes", info->size);
    if (info->flags & WEFT_ENABLEABLE)
        weft__wire_bool(out, "enabled", weft_entity_is_enabled(session->world, entity, component));
    if (value != NULL && (info->flags & WEFT_BUFFER) != 0)
        add_elements(session, component, 0, ELEMENTS_SHOWN, value, out);
    else if (value != NULL && weft__value_type(session, component, &made, &type))
        weft__wire_leaves(out, "fields", session, type, value);
    else if (value != NULL)
        weft__wire_value(out, "raw", session, component, value);
    weft__wire_close(out, '}');
}

static void add_components(const weft__session *session, weft_entity entity,
                           weft_archetype archetype, weft__wire *out)
{
    uint32_t count;
    weft_component *components = weft__session_components(session, archetype, &count, out);
    uint32_t types = weft__session_component_count(session);
    weft__wire_open(out, "components", '[');
    for (uint32_t i = 0; i < count; i++) add_component(session, entity, components[i], out);
    for (uint32_t id = 1; id <= types; id++) { /* SPARSE ones are in no archetype */
        weft_component component = weft__session_component(session, id);
        const weft_component_desc *info = weft_component_info(session->world, component);
        if (info != NULL && (info->flags & WEFT_SPARSE) != 0 &&
            weft_entity_has(session->world, entity, component))
            add_component(session, entity, component, out);
    }
    weft__wire_close(out, ']');
    free(components);
}

static void add_systems(const weft__session *session, weft_entity entity, weft__wire *out)
{
    uint32_t count;
    weft_system *systems = weft__session_systems(session, &count, out);
    weft__wire_open(out, "systems", '[');
    for (uint32_t i = 0; i < count; i++) {
        weft_system_info info;
        if (weft_system_info_get(session->world, systems[i], &info, sizeof info) != WEFT_OK ||
            info.query.id == 0 || !weft_query_matches(session->world, info.query, entity))
            continue;
        weft__wire_text(out, NULL, info.name);
    }
    weft__wire_close(out, ']');
    free(systems);
}

static void add_relations(weft__session *session, weft_entity entity, weft__wire *out)
{
    weft__relations_find(session);
    weft__wire_open(out, "relations", '[');
    for (uint32_t i = 0; i < session->relation_count; i++) {
        weft_component relation = session->relations[i];
        weft_entity target = weft_relation_target(session->world, entity, relation);
        uint32_t sources;
        weft_relation_sources(session->world, relation, entity, &sources);
        if (weft_entity_is_null(target) && sources == 0) continue;
        weft__wire_open(out, NULL, '{');
        weft__wire_text(out, "name", weft__session_name(session, relation));
        if (!weft_entity_is_null(target)) {
            weft__wire_entity(out, "target", target);
            weft__wire_text(out, "target_name", weft_entity_name(session->world, target));
        }
        weft__wire_count(out, "sources", sources);
        weft__wire_close(out, '}');
    }
    weft__wire_close(out, ']');
}

uint32_t weft__entity_write(weft__session *session, weft_entity entity, weft__wire *out)
{
    weft_entity_place place;
    if (weft_entity_place_get(session->world, entity, &place, sizeof place) != WEFT_OK)
        return weft__window_fail(out, 404, "entity %u:%u is not alive", entity.index,
                                 entity.version);
    weft__wire_entity(out, "entity", entity);
    weft__wire_text(out, "name", weft_entity_name(session->world, entity));
    weft__wire_bool(out, "writable", session->is_writable);
    weft__wire_count(out, "archetype", place.archetype.id);
    weft__wire_count(out, "chunk", place.chunk);
    weft__wire_count(out, "row", place.row);
    weft__wire_count(out, "chunk_rows", place.chunk_rows);
    weft__wire_count(out, "chunk_capacity", place.chunk_capacity);
    add_components(session, entity, place.archetype, out);
    add_relations(session, entity, out);
    add_systems(session, entity, out);
    weft__origin_add(session, entity, out);
    return 200;
}

/* By handle, or by name. */
static bool find_entity(const weft__session *session, const weft__request *request,
                        weft_entity *out)
{
    char name[64];
    if (weft__request_entity(request, "entity", out)) /* what is left of a dead one, too */
        return weft_entity_archetype(session->world, *out).id != 0;
    if (!weft__request_text(request, "name", name, sizeof name) || name[0] == '\0') return false;
    *out = weft_entity_find(session->world, name);
    return !weft_entity_is_null(*out);
}

uint32_t weft__entity_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    weft_entity entity;
    if (!find_entity(session, request, &entity))
        return weft__window_fail(out, 404, "this entity is not alive");
    return weft__entity_write(session, entity, out);
}

uint32_t weft__elements_window(weft__session *session, const weft__request *request,
                               weft__wire *out)
{
    char name[WEFT__REQUEST_WORD];
    weft_entity entity;
    if (!find_entity(session, request, &entity))
        return weft__window_fail(out, 404, "this entity is not alive");
    weft__request_text(request, "component", name, sizeof name);
    weft_component component = weft_component_find(session->world, name);
    const weft_component_desc *info = weft_component_info(session->world, component);
    const void *buffer = weft__value_of(session, entity, component);
    if (buffer == NULL || (info->flags & WEFT_BUFFER) == 0)
        return weft__window_fail(out, 404, "this entity has no buffer \"%s\"", name);
    uint64_t from = weft__request_count(request, "from", 0, UINT32_MAX);
    add_elements(session, component, from,
                 weft__request_count(request, "count", WEFT__PAGE_MAX, WEFT__PAGE_MAX), buffer,
                 out);
    return 200;
}

/* ---- edits ---- */

static weft_result set_value(weft__session *session, weft_entity entity, weft_component component,
                             const void *value)
{
    const weft_component_desc *info = weft_component_info(session->world, component);
    if (info->flags & WEFT_SHARED)
        return weft_entity_set_shared(session->world, entity, component, value);
    return weft_entity_set(session->world, entity, component, value, info->size);
}

static uint32_t change_value(weft__session *session, const weft__request *request,
                             weft_entity entity, weft_component component, weft__wire *out)
{
    const void *old = weft__value_of(session, entity, component);
    void *copy = NULL;
    uint32_t status = weft__value_edit(session, request, component, old, &copy, out);
    if (status == 200 && set_value(session, entity, component, copy) != WEFT_OK)
        status = weft__window_world_error(session, out);
    free(copy);
    return status;
}

uint32_t weft__entity_edit(weft__session *session, const weft__request *request, weft__wire *out)
{
    char name[WEFT__REQUEST_WORD];
    weft_entity entity;
    if (!session->is_writable) return weft__window_read_only(out);
    if (!find_entity(session, request, &entity))
        return weft__window_fail(out, 404, "this entity is not alive");
    weft__request_text(request, "component", name, sizeof name);
    weft_component component = weft_component_find(session->world, name);
    if (component.id == 0 || !weft_entity_has(session->world, entity, component))
        return weft__window_fail(out, 404, "this entity has no \"%s\"", name);
    uint32_t status = 200;
    if (weft__request_has(request, "enabled")) {
        bool is_enabled = weft__request_is(request, "enabled");
        if (weft_entity_enable(session->world, entity, component, is_enabled) != WEFT_OK)
            status = weft__window_world_error(session, out);
    } else {
        status = change_value(session, request, entity, component, out);
    }
    return status == 200 ? weft__entity_write(session, entity, out) : status;
}
