/* SPDX-License-Identifier: MIT */
/* window_components.c: types with their users. Counts are made by one walk over archetypes and one
 * over what systems declare, each time they are asked for. */
#include "window_components.h"

#include "values.h"

#include <stdlib.h>
#include <string.h>
#include <weft/entity.h>
#include <weft/finder.h>

enum { ARCHETYPES_SHOWN = 100 };

/* What is counted of a type. */
typedef struct counts {
    uint64_t entities;
    uint32_t archetypes, readers, writers;
} counts;

/* ---- walks ---- */

static void count_archetypes(const weft__session *session, counts *types, uint32_t type_count,
                             weft__wire *out)
{
    weft_world_stats world;
    weft_world_stats_get(session->world, &world, sizeof world);
    for (uint32_t i = 0; i < world.archetypes; i++) {
        uint32_t count;
        weft_archetype_stats stats;
        weft_archetype archetype = weft_archetype_at(session->world, i);
        weft_archetype_stats_get(session->world, archetype, &stats, sizeof stats);
        weft_component *list = weft__session_components(session, archetype, &count, out);
        for (uint32_t k = 0; k < count; k++) {
            if (list[k].id > type_count) continue;
            types[list[k].id].archetypes++;
            types[list[k].id].entities += stats.entities;
        }
        free(list);
    }
}

/* Calls `found` for everything that systems touch. */
static void walk_access(const weft__session *session, weft__wire *out,
                        void (*found)(void *user, weft_system system, const weft_lookup *touched),
                        void *user)
{
    uint32_t count;
    weft_system *systems = weft__session_systems(session, &count, out);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t all = weft_system_access(session->world, systems[i], NULL, 0);
        weft_lookup *touched = calloc(all + 1, sizeof *touched);
        out->has_failed |= touched == NULL;
        if (touched == NULL) break;
        weft_system_access(session->world, systems[i], touched, all);
        for (uint32_t k = 0; k < all; k++) found(user, systems[i], &touched[k]);
        free(touched);
    }
    free(systems);
}

static void count_access(void *user, weft_system system, const weft_lookup *touched)
{
    counts *of = &((counts *)user)[touched->component.id];
    (void)system;
    if (touched->access == WEFT_WRITE)
        of->writers++;
    else
        of->readers++;
}

static void add_type(const weft__session *session, weft_component component, const counts *of,
                     weft__wire *out)
{
    const weft_component_desc *info = weft_component_info(session->world, component);
    if (info == NULL) return;
    weft__wire_open(out, NULL, '{');
    weft__wire_text(out, "name", info->name);
    weft__wire_text(out, "kind", weft__session_kind(info));
    weft__wire_count(out, "bytes", info->size);
    weft__wire_count(out, "archetypes", of->archetypes);
    weft__wire_count(out, "entities", of->entities);
    weft__wire_count(out, "readers", of->readers);
    weft__wire_count(out, "writers", of->writers);
    weft__wire_close(out, '}');
}

uint32_t weft__components_window(weft__session *session, const weft__request *request,
                                 weft__wire *out)
{
    uint32_t count = weft__session_component_count(session);
    counts *types = calloc(count + 1u, sizeof *types);
    (void)request;
    if (types == NULL) return weft__window_fail(out, 503, "no memory");
    count_archetypes(session, types, count, out);
    walk_access(session, out, count_access, types);
    weft__wire_open(out, "rows", '[');
    for (uint32_t id = 1; id <= count; id++)
        add_type(session, weft__session_component(session, id), &types[id], out);
    weft__wire_close(out, ']');
    free(types);
    return 200;
}

/* ---- one type ---- */

/* A list of systems that is being written. */
typedef struct users {
    const weft__session *session;
    weft_component component;
    weft_access access;
    weft__wire *out;
} users;

static void add_user(void *user, weft_system system, const weft_lookup *touched)
{
    const users *u = user;
    weft_system_info info;
    if (touched->component.id != u->component.id || touched->access != u->access) return;
    if (weft_system_info_get(u->session->world, system, &info, sizeof info) != WEFT_OK) return;
    weft__wire_text(u->out, NULL, info.name);
}

static void add_users(const weft__session *session, weft_component component, weft__wire *out)
{
    users u = {session, component, WEFT_WRITE, out};
    weft__wire_open(out, "writers", '[');
    walk_access(session, out, add_user, &u);
    weft__wire_close(out, ']');
    u.access = WEFT_READ;
    weft__wire_open(out, "readers", '[');
    walk_access(session, out, add_user, &u);
    weft__wire_close(out, ']');
}

static bool has_component(const weft__session *session, weft_archetype archetype,
                          weft_component component, weft__wire *out)
{
    uint32_t count;
    bool is_there = false;
    weft_component *list = weft__session_components(session, archetype, &count, out);
    for (uint32_t i = 0; i < count; i++) is_there |= list[i].id == component.id;
    free(list);
    return is_there;
}

static void add_archetypes(const weft__session *session, weft_component component, weft__wire *out)
{
    uint32_t found = 0;
    weft_world_stats world;
    weft_world_stats_get(session->world, &world, sizeof world);
    weft__wire_open(out, "archetypes", '[');
    for (uint32_t i = 0; i < world.archetypes; i++) {
        weft_archetype_stats stats;
        weft_archetype archetype = weft_archetype_at(session->world, i);
        if (!has_component(session, archetype, component, out)) continue;
        if (found++ >= ARCHETYPES_SHOWN) continue;
        weft_archetype_stats_get(session->world, archetype, &stats, sizeof stats);
        weft__wire_open(out, NULL, '{');
        weft__wire_count(out, "id", archetype.id);
        weft__wire_count(out, "entities", stats.entities);
        weft__wire_archetype(out, "components", session, archetype);
        weft__wire_close(out, '}');
    }
    weft__wire_close(out, ']');
    weft__wire_count(out, "archetype_count", found);
}

static void add_fields(const weft_type *type, weft__wire *out)
{
    weft__wire_open(out, "described", '[');
    for (uint32_t i = 0; i < type->field_count; i++) {
        const weft_field *field = &type->fields[i];
        weft__wire_open(out, NULL, '{');
        weft__wire_text(out, "name", field->name);
        weft__wire_text(out, "kind", weft__value_kind(field->kind));
        weft__wire_count(out, "count", field->count == 0 ? 1 : field->count);
        weft__wire_count(out, "offset", field->offset);
        if (field->unit != NULL) weft__wire_text(out, "unit", field->unit);
        if (field->text != NULL) weft__wire_text(out, "text", field->text);
        weft__wire_close(out, '}');
    }
    weft__wire_close(out, ']');
}

static uint32_t write_component(weft__session *session, weft_component component, weft__wire *out)
{
    weft_type made;
    const weft_type *type;
    const weft_component_desc *info = weft_component_info(session->world, component);
    bool is_resource = (info->flags & WEFT_RESOURCE) != 0;
    weft__wire_text(out, "name", info->name);
    weft__wire_text(out, "kind", weft__session_kind(info));
    weft__wire_count(out, "bytes", info->size);
    weft__wire_count(out, "alignment", info->alignment);
    weft__wire_bool(out, "enableable", (info->flags & WEFT_ENABLEABLE) != 0);
    weft__wire_bool(out, "writable", session->is_writable && is_resource);
    if (weft__value_type(session, component, &made, &type)) {
        add_fields(type, out);
        if (is_resource && (info->flags & WEFT_BUFFER) == 0)
            weft__wire_leaves(out, "fields", session, type,
                              weft_resource_read(session->world, component));
    } else if (is_resource && (info->flags & WEFT_BUFFER) == 0) {
        weft__wire_value(out, "raw", session, component,
                         weft_resource_read(session->world, component));
    }
    add_users(session, component, out);
    add_archetypes(session, component, out);
    return 200;
}

static weft_component find_component(const weft__session *session, const weft__request *request)
{
    char name[256];
    weft__request_text(request, "component", name, sizeof name);
    return weft_component_find(session->world, name);
}

uint32_t weft__component_window(weft__session *session, const weft__request *request,
                                weft__wire *out)
{
    weft_component component = find_component(session, request);
    if (component.id == 0) return weft__window_fail(out, 404, "there is no such component");
    return write_component(session, component, out);
}

uint32_t weft__resource_edit(weft__session *session, const weft__request *request, weft__wire *out)
{
    weft_component component = find_component(session, request);
    if (!session->is_writable) return weft__window_read_only(out);
    if (component.id == 0) return weft__window_fail(out, 404, "there is no such component");
    const weft_component_desc *info = weft_component_info(session->world, component);
    if ((info->flags & WEFT_RESOURCE) == 0)
        return weft__window_fail(out, 422, "%s is no resource", info->name);
    void *copy = NULL;
    bool is_plain = (info->flags & WEFT_BUFFER) == 0;
    const void *old = is_plain ? weft_resource_read(session->world, component) : NULL;
    uint32_t status = weft__value_edit(session, request, component, old, &copy, out);
    void *value = status == 200 ? weft_resource_write(session->world, component) : NULL;
    if (status == 200 && value == NULL) status = weft__window_world_error(session, out);
    if (value != NULL) memcpy(value, copy, info->size); /* one field differs: hooks have no part */
    free(copy);
    return status == 200 ? write_component(session, component, out) : status;
}
