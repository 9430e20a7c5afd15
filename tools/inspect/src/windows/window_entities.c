/* SPDX-License-Identifier: MIT */
/* window_entities.c: the Entities window. A page of rows costs a walk over the slices before it,
 * and the values of its own rows. */
#include "window_entities.h"

#include "query_text.h"
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/entity.h>
#include <weft/query.h>
#include <weft/relation.h>
#include <weft/slice.h>

enum { LOOKED_AT_MAX = 200000 };

static void add_head(const weft__session *session, weft_entity entity, weft__wire *out)
{
    weft__wire_entity(out, "entity", entity);
    const char *name = weft_entity_name(session->world, entity);
    if (name[0] != '\0') weft__wire_text(out, "name", name);
}

/* ---- columns ---- */

static bool has_column(const weft__columns *columns, weft_component component)
{
    for (uint32_t i = 0; i < columns->count; i++)
        if (columns->at[i].id == component.id) return true;
    return false;
}

static void add_column(weft__columns *columns, weft_component component)
{
    if (has_column(columns, component)) return;
    if (columns->count == WEFT__COLUMNS_MAX)
        columns->left_out++;
    else
        columns->at[columns->count++] = component;
}

void weft__columns_add(const weft__session *session, const weft__request *request,
                       weft__columns *columns)
{
    size_t bytes;
    weft__json json;
    const char *list = weft__request_raw(request, "columns", &bytes);
    if (list == NULL) return;
    weft__json_open(&json, list, bytes);
    if (weft__json_next(&json).kind != WEFT__JSON_ARRAY) return;
    for (weft__json_token t; (t = weft__json_next(&json)).kind == WEFT__JSON_STRING;) {
        char name[WEFT__REQUEST_WORD];
        if (weft__json_string(&t, name, sizeof name) >= sizeof name) continue;
        weft_component component = weft_component_find(session->world, name);
        if (component.id != 0) add_column(columns, component);
    }
}

/* Fields by which the list can be sorted. */
static void add_fields(const weft__session *session, weft_component component, weft__wire *out)
{
    weft_type made;
    const weft_type *type;
    const weft_component_desc *info = weft_component_info(session->world, component);
    weft__wire_open(out, NULL, '[');
    if ((info->flags & (WEFT_BUFFER | WEFT_CHUNK | WEFT_RESOURCE)) == 0 &&
        weft__value_type(session, component, &made, &type))
        for (uint32_t i = 0; i < type->field_count; i++)
            if (type->fields[i].count <= 1 && (type->fields[i].flags & WEFT_FIELD_HIDDEN) == 0)
                weft__wire_text(out, NULL, type->fields[i].name);
    weft__wire_close(out, ']');
}

void weft__columns_write(const weft__session *session, const weft__columns *columns,
                         weft__wire *out)
{
    weft__wire_open(out, "columns", '[');
    for (uint32_t i = 0; i < columns->count; i++)
        weft__wire_text(out, NULL, weft__session_name(session, columns->at[i]));
    weft__wire_close(out, ']');
    weft__wire_open(out, "fields", '[');
    for (uint32_t i = 0; i < columns->count; i++) add_fields(session, columns->at[i], out);
    weft__wire_close(out, ']');
    if (columns->left_out != 0) weft__wire_count(out, "columns_left_out", columns->left_out);
}

void weft__row_write(weft__session *session, weft_entity entity, const weft__columns *columns,
                     const char *lost, weft__wire *out)
{
    weft__wire_open(out, NULL, '{');
    add_head(session, entity, out);
    if (lost != NULL) weft__wire_text(out, "lost", lost);
    if (columns->count == 0)
        weft__wire_archetype(out, "has", session, weft_entity_archetype(session->world, entity));
    weft__wire_open(out, "values", '[');
    for (uint32_t i = 0; i < columns->count; i++) {
        const void *value = weft__value_of(session, entity, columns->at[i]);
        weft__wire_value(out, NULL, session, columns->at[i], value);
    }
    weft__wire_close(out, ']');
    weft__wire_close(out, '}');
}

/* The rows [from, from + count) that the query selects. */
static void add_rows(weft__session *session, weft_query query, const weft__request *request,
                     const weft__columns *columns, weft__wire *out)
{
    uint64_t from = weft__request_count(request, "from", 0, UINT64_C(1) << 40), at = 0;
    uint64_t end = from + weft__request_count(request, "count", 50, WEFT__PAGE_MAX);
    weft_cursor c = weft_query_begin(session->world, query);
    while (at < end && weft_query_next(&c)) {
        const weft_entity *entities = weft_slice_entities(&c.slice);
        uint32_t begin = 0, stop = 0;
        while (at < end && weft_slice_next_run(&c.slice, &begin, &stop)) {
            uint64_t run = stop - begin, skip = from > at ? from - at : 0;
            for (uint64_t i = skip; i < run && at + i < end; i++)
                weft__row_write(session, entities[begin + i], columns, NULL, out);
            at += run;
        }
    }
    weft_query_end(&c);
}

static void take_terms(const weft__session *session, weft_query query, weft__columns *columns)
{
    weft_term terms[WEFT_INLINE_TERMS];
    uint32_t count = weft_query_terms(session->world, query, terms, WEFT_INLINE_TERMS);
    for (uint32_t i = 0; i < count; i++) add_column(columns, terms[i].component);
}

uint32_t weft__entities_window(weft__session *session, const weft__request *request,
                               weft__wire *out)
{
    char text[1024], why[512];
    weft_query query;
    if (!weft__request_text(request, "query", text, sizeof text))
        return weft__window_fail(out, 400, "a query is a text of at most 1,023 bytes");
    if (!weft__query_text_make(session, text, &query, why, sizeof why))
        return weft__window_fail(out, 422, "%s", why);
    weft__columns columns = {0};
    take_terms(session, query, &columns);
    weft__columns_add(session, request, &columns);
    weft__wire_count(out, "total", weft_query_count(session->world, query));
    weft__columns_write(session, &columns, out);
    weft__wire_open(out, "rows", '[');
    add_rows(session, query, request, &columns, out);
    weft__wire_close(out, ']');
    weft_query_destroy(session->world, query);
    return 200;
}

/* ---- by name ---- */

enum { SEARCH_REST = 400 }; /* a search holds so many times as long as it took: 0.25 % */

/* What was found last. Owner: the session. */
struct weft__search {
    char part[64];
    weft_entity *found; /* [count] */
    uint32_t total, count, capacity;
    uint64_t due_ns;
};

void weft__search_free(weft__session *session)
{
    if (session->search != NULL) free(session->search->found);
    free(session->search);
    session->search = NULL;
}

/* The first `count` with the part in their names; NULL: memory is refused. */
static const weft__search *search(weft__session *session, const char *part, uint32_t count)
{
    uint64_t begin = weft__session_now();
    if (session->search == NULL) session->search = calloc(1, sizeof *session->search);
    weft__search *s = session->search;
    if (s == NULL) return NULL;
    bool holds = begin < s->due_ns && strcmp(s->part, part) == 0 &&
                 (count <= s->capacity || s->total <= s->capacity);
    if (holds) return s;
    if (count > s->capacity || s->found == NULL) {
        weft_entity *grown = realloc(s->found, (count + 1u) * sizeof *grown);
        s->due_ns = 0;
        if (grown == NULL) return NULL;
        s->found = grown;
        s->capacity = count;
    }
    s->total = weft_entity_search(session->world, part, s->found, s->capacity);
    s->count = s->total < s->capacity ? s->total : s->capacity;
    snprintf(s->part, sizeof s->part, "%s", part);
    uint64_t end = weft__session_now();
    s->due_ns = end + SEARCH_REST * (end - begin);
    return s;
}

uint32_t weft__search_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    char part[64];
    if (!weft__request_text(request, "part", part, sizeof part))
        return weft__window_fail(out, 400, "a part of a name has at most 63 bytes");
    weft_world_stats stats;
    weft_world_stats_get(session->world, &stats, sizeof stats);
    uint64_t from = weft__request_count(request, "from", 0, stats.entities);
    uint64_t end = from + weft__request_count(request, "count", WEFT__PAGE_MAX, WEFT__PAGE_MAX);
    const weft__search *s = search(session, part, (uint32_t)end);
    if (s == NULL) return weft__window_fail(out, 503, "no memory");
    weft__wire_count(out, "total", s->total);
    weft__columns columns = {0};
    weft__columns_add(session, request, &columns);
    weft__columns_write(session, &columns, out);
    weft__wire_open(out, "rows", '[');
    for (uint64_t i = from; i < s->count && i < end; i++) {
        bool is_alive = weft_entity_is_alive(session->world, s->found[i]);
        weft__row_write(session, s->found[i], &columns, is_alive ? NULL : "dead", out);
    }
    weft__wire_close(out, ']');
    return 200;
}

/* ---- relations ---- */

void weft__relations_find(weft__session *session)
{
    weft_world_stats stats;
    weft_relation_stats relation;
    weft_world_stats_get(session->world, &stats, sizeof stats);
    if (session->relation_types == stats.component_types) return;
    weft_component *list =
        realloc(session->relations, (stats.component_types + 1) * sizeof *session->relations);
    if (list == NULL) return; /* the next question tries again */
    session->relations = list;
    session->relation_types = stats.component_types;
    session->relation_count = 0;
    for (uint32_t id = 1; id <= stats.component_types; id++) {
        weft_component component = weft__session_component(session, id);
        if (weft_relation_stats_get(session->world, component, &relation, sizeof relation) ==
            WEFT_OK)
            session->relations[session->relation_count++] = component;
    }
}

uint32_t weft__relations_window(weft__session *session, const weft__request *request,
                                weft__wire *out)
{
    (void)request;
    weft__relations_find(session);
    weft__wire_open(out, "relations", '[');
    for (uint32_t i = 0; i < session->relation_count; i++)
        weft__wire_text(out, NULL, weft__session_name(session, session->relations[i]));
    weft__wire_close(out, ']');
    return 200;
}

static void add_node(weft__session *session, weft_component relation, weft_entity entity,
                     weft__wire *out)
{
    uint32_t count;
    weft_relation_sources(session->world, relation, entity, &count);
    weft__wire_open(out, NULL, '{');
    add_head(session, entity, out);
    weft__wire_count(out, "sources", count);
    weft__wire_close(out, '}');
}

/* Entities with sources and without a target: from entity number `from` on, until enough are found
 * or looked at. Returns where to go on; 0: that were all. */
static uint64_t add_roots(weft__session *session, weft_component relation, uint64_t from,
                          weft__wire *out)
{
    weft_query all = weft_query_create(
        session->world, &(weft_query_desc){.with_prefabs = true, .with_inactive = true});
    uint64_t at = 0, found = 0, next = 0;
    weft_cursor c = weft_query_begin(session->world, all);
    while (next == 0 && weft_query_next(&c)) {
        const weft_entity *entities = weft_slice_entities(&c.slice);
        for (uint32_t i = 0; i < c.slice.count && next == 0; i++, at++) {
            uint32_t count;
            if (at < from) continue;
            if (found == WEFT__PAGE_MAX || at - from == LOOKED_AT_MAX) next = at;
            weft_relation_sources(session->world, relation, entities[i], &count);
            bool is_root =
                count != 0 &&
                weft_entity_is_null(weft_relation_target(session->world, entities[i], relation));
            if (next != 0 || !is_root) continue;
            add_node(session, relation, entities[i], out);
            found++;
        }
    }
    weft_query_end(&c);
    weft_query_destroy(session->world, all);
    return next;
}

uint32_t weft__tree_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    char name[WEFT__REQUEST_WORD];
    weft_entity entity;
    weft_relation_stats stats;
    weft__request_text(request, "relation", name, sizeof name);
    weft_component relation = weft_component_find(session->world, name);
    if (weft_relation_stats_get(session->world, relation, &stats, sizeof stats) != WEFT_OK)
        return weft__window_fail(out, 404, "no relation \"%s\"", name);
    uint64_t from = weft__request_count(request, "from", 0, UINT64_C(1) << 40), next = 0;
    weft__wire_count(out, "edges", stats.sources);
    weft__wire_open(out, "rows", '[');
    if (!weft__request_entity(request, "entity", &entity)) {
        next = add_roots(session, relation, from, out);
    } else {
        uint32_t count;
        const weft_entity *sources =
            weft_relation_sources(session->world, relation, entity, &count);
        for (uint64_t i = from; i < count && i < from + WEFT__PAGE_MAX; i++)
            add_node(session, relation, sources[i], out);
        next = count > from + WEFT__PAGE_MAX ? from + WEFT__PAGE_MAX : 0;
    }
    weft__wire_close(out, ']');
    weft__wire_count(out, "next", next);
    return 200;
}
