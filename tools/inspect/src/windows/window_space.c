/* SPDX-License-Identifier: MIT */
/* window_space.c: points of a query. A position is two or three numbers of one component, each
 * named by its path. Rows are drawn evenly, so a view of millions costs as much as one of
 * thousands, and a walk over the slices. */
#include "window_space.h"

#include "query_text.h"
#include "values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <weft/entity.h>
#include <weft/slice.h>

enum { POINTS_MAX = 20000, NEAREST = 10 };

/* ---- what may be a position ---- */

/* One candidate. Owner: one call. */
typedef struct place {
    weft_component component;
    char axes[3][96]; /* paths; "" for z: it is flat */
    uint32_t rank;    /* 0: it says so */
} place;

/* What a walk over the types finds. Owner: one call. */
typedef struct places {
    place *at;
    uint32_t count, capacity;
    const weft__session *session;
    weft_component component;
    const weft_type *type; /* of it */
    weft__wire *out;       /* the list of numbers */
} places;

static bool is_number(const weft_field *field)
{
    return weft__kind_is_number(field->kind);
}

static bool says_place(const char *text)
{
    static const char *const words[] = {"position", "place", "location",    "centre", "center",
                                        "point",    "coord", "translation", "pos"};
    for (size_t i = 0; text != NULL && i < sizeof words / sizeof words[0]; i++)
        if (strcasestr(text, words[i]) != NULL) return true;
    return false;
}

static void add_place(places *p, const char *const axes[3], bool is_said)
{
    if (p->count == p->capacity) {
        uint32_t capacity = 2 * p->capacity + 16;
        place *grown = realloc(p->at, capacity * sizeof *grown);
        p->out->has_failed |= grown == NULL;
        if (grown == NULL) return;
        p->at = grown;
        p->capacity = capacity;
    }
    place *made = &p->at[p->count++];
    *made = (place){.component = p->component, .rank = is_said ? 0 : 1};
    for (uint32_t i = 0; i < 3; i++)
        snprintf(made->axes[i], sizeof made->axes[i], "%s", axes[i] == NULL ? "" : axes[i]);
}

static void add_number(places *p, const char *path)
{
    weft__wire_open(p->out, NULL, '{');
    weft__wire_text(p->out, "component", weft__session_name(p->session, p->component));
    weft__wire_text(p->out, "path", path);
    weft__wire_close(p->out, '}');
}

/* Elements of the field at a path of the component; 0: it has no such path. */
static uint32_t count_of(const places *p, const char *path_text)
{
    weft_path path;
    return weft_path_parse(p->type, path_text, &path, NULL) == WEFT_OK ? path.count : 0;
}

/* x, y and perhaps z of a struct. */
static void find_axes(places *p, const weft_type *type, const char *before, bool is_said)
{
    char text[3][96];
    const char *axes[3] = {NULL, NULL, NULL};
    static const char *const names[3] = {"x", "y", "z"};
    for (uint32_t i = 0; i < 3; i++) {
        const weft_field *field = type->fields, *end = field + type->field_count;
        while (field < end && (strcasecmp(field->name, names[i]) != 0 || !is_number(field)))
            field++;
        if (field == end) continue;
        snprintf(text[i], sizeof text[i], "%s%s", before, field->name);
        if (count_of(p, text[i]) == 1) axes[i] = text[i];
    }
    if (axes[0] != NULL && axes[1] != NULL) add_place(p, axes, is_said);
}

/* An array of numbers: the first two or three; of a matrix of 3 x 4 its last column. */
static void find_array(places *p, uint32_t elements, const char *path, bool is_said)
{
    char text[3][96];
    const char *axes[3] = {NULL, NULL, NULL};
    bool is_matrix = elements == 12;
    uint32_t count = elements == 2 ? 2 : 3;
    if (!is_matrix && (elements > 4 || !is_said)) return;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(text[i], sizeof text[i], "%s[%u]", path, is_matrix ? 4 * i + 3 : i);
        axes[i] = text[i];
    }
    add_place(p, axes, is_said);
}

static void walk_type(places *p, const weft_type *type, const char *before, bool is_said,
                      uint32_t depth)
{
    find_axes(p, type, before, is_said);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const weft_field *field = &type->fields[i];
        char path[80];
        bool says = is_said || says_place(field->name) || says_place(field->text);
        int length = snprintf(path, sizeof path, "%s%s", before, field->name);
        if (length < 0 || (size_t)length + 2 >= sizeof path) continue;
        if (field->flags & WEFT_FIELD_HIDDEN) continue;
        uint32_t elements = count_of(p, path);
        if (is_number(field) && elements == 1) add_number(p, path);
        if (is_number(field) && elements > 1) find_array(p, elements, path, says);
        if (field->kind == WEFT_FIELD_STRUCT && field->type != NULL && elements == 1 && depth < 3) {
            memcpy(path + length, ".", 2);
            walk_type(p, field->type, path, says, depth + 1);
        }
    }
}

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->component.id < y->component.id ? -1 : x->component.id > y->component.id;
}

uint32_t weft__places_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    places p = {.session = session, .out = out};
    uint32_t count = weft__session_component_count(session);
    (void)request;
    weft__wire_open(out, "numbers", '[');
    for (uint32_t id = 1; id <= count; id++) {
        weft_type made;
        const weft_type *type;
        p.component = weft__session_component(session, id);
        const weft_component_desc *info = weft_component_info(session->world, p.component);
        if (info == NULL || (info->flags & (WEFT_RESOURCE | WEFT_CHUNK | WEFT_BUFFER)) != 0 ||
            info->size == 0 || !weft__value_type(session, p.component, &made, &type))
            continue;
        p.type = type;
        walk_type(&p, type, "", says_place(info->name), 0);
    }
    weft__wire_close(out, ']');
    if (p.count != 0) qsort(p.at, p.count, sizeof *p.at, compare_places);
    weft__wire_open(out, "places", '[');
    for (uint32_t i = 0; i < p.count; i++) {
        weft__wire_open(out, NULL, '{');
        weft__wire_text(out, "component", weft__session_name(session, p.at[i].component));
        for (uint32_t k = 0; k < 3; k++)
            weft__wire_text(out, k == 0 ? "x" : k == 1 ? "y" : "z", p.at[i].axes[k]);
        weft__wire_close(out, '}');
    }
    weft__wire_close(out, ']');
    free(p.at);
    return 200;
}

/* ---- points ---- */

/* One number of a component. */
typedef struct number {
    weft_component component;
    const weft_field *field; /* NULL: there is none */
    uint32_t offset;
} number;

/* What is asked. Owner: one call. */
typedef struct view {
    weft_query query;
    number axes[3], value;
    double *numbers; /* [4][count], NAN for none */
    weft_entity *entities;
    uint32_t count, capacity;
} view;

static double number_of(const weft__session *session, weft_entity entity, const number *n)
{
    const char *bytes = n->field == NULL ? NULL : weft__value_of(session, entity, n->component);
    return bytes == NULL ? (double)NAN : weft__value_number(n->field->kind, bytes + n->offset);
}

static bool read_number(const weft__session *session, const weft__request *request,
                        const char *component, const char *member, number *out)
{
    char name[WEFT__REQUEST_WORD], path_text[WEFT__REQUEST_WORD];
    weft_path path;
    *out = (number){0};
    weft__request_text(request, component, name, sizeof name);
    weft__request_text(request, member, path_text, sizeof path_text);
    if (path_text[0] == '\0') return true;
    weft_type made;
    const weft_type *type;
    out->component = weft_component_find(session->world, name);
    if (out->component.id == 0 || !weft__value_type(session, out->component, &made, &type) ||
        weft_path_parse(type, path_text, &path, NULL) != WEFT_OK || path.field == NULL ||
        path.count != 1 || !is_number(path.field))
        return false;
    out->field = path.field;
    out->offset = path.offset;
    return true;
}

/* Query and numbers of a request. Else the status of an answer that is written. */
static uint32_t read_view(weft__session *session, const weft__request *request, view *v,
                          weft__wire *out)
{
    char text[1024], why[512], name[WEFT__REQUEST_WORD];
    *v = (view){.capacity = (uint32_t)weft__request_count(request, "count", 5000, POINTS_MAX)};
    static const char *const members[3] = {"x", "y", "z"};
    for (uint32_t i = 0; i < 3; i++)
        if (!read_number(session, request, "component", members[i], &v->axes[i]))
            return weft__window_fail(out, 422, "\"%s\" is no number of that component", members[i]);
    if (v->axes[0].field == NULL || v->axes[1].field == NULL)
        return weft__window_fail(out, 422, "a position has at least \"x\" and \"y\"");
    if (!read_number(session, request, "value_of", "value", &v->value))
        return weft__window_fail(out, 422, "\"value\" is no number of that component");
    weft__request_text(request, "component", name, sizeof name);
    if (!weft__request_text(request, "query", text, sizeof text - sizeof name - 4))
        return weft__window_fail(out, 400, "a query is a text of at most 700 bytes");
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%s+%s", length == 0 ? "" : ", ", name);
    if (!weft__query_text_make(session, text, &v->query, why, sizeof why)) {
        text[length] = '\0'; /* it may name the component itself */
        if (length == 0 || !weft__query_text_make(session, text, &v->query, why, sizeof why))
            return weft__window_fail(out, 422, "%s", why);
    }
    return 200;
}

/* Calls `take` for every row of the query that `skips` leaves. */
static void walk_rows(const weft__session *session, view *v, uint64_t step,
                      void (*take)(const weft__session *session, view *v, weft_entity entity))
{
    uint64_t at = 0;
    weft_cursor c = weft_query_begin(session->world, v->query);
    while (weft_query_next(&c)) {
        const weft_entity *entities = weft_slice_entities(&c.slice);
        uint32_t begin = 0, stop = 0;
        while (weft_slice_next_run(&c.slice, &begin, &stop)) {
            uint64_t first = (step - at % step) % step;
            for (uint64_t i = begin + first; i < stop; i += step) take(session, v, entities[i]);
            at += stop - begin;
        }
    }
    weft_query_end(&c);
}

static void take_point(const weft__session *session, view *v, weft_entity entity)
{
    if (v->count == v->capacity) return;
    double *numbers = v->numbers + 4 * (size_t)v->count;
    for (uint32_t k = 0; k < 3; k++) numbers[k] = number_of(session, entity, &v->axes[k]);
    numbers[3] = number_of(session, entity, &v->value);
    v->entities[v->count++] = entity;
}

/* The chosen one is shown whatever the even draw left out: room for it is behind the others. */
static void take_chosen(const weft__session *session, view *v, weft_entity entity)
{
    for (uint32_t i = 0; i < v->count; i++)
        if (weft_entity_equal(v->entities[i], entity)) return;
    v->capacity = v->count + 1;
    if (!isnan(number_of(session, entity, &v->axes[0]))) take_point(session, v, entity);
}

static void write_unit(weft__wire *out, const view *v)
{
    const char *unit = v->axes[0].field->unit;
    weft__wire_text(out, "unit", unit == NULL ? "" : unit);
}

static bool make_room(view *v, weft__wire *out)
{
    v->numbers = calloc(4 * ((size_t)v->capacity + 1), sizeof *v->numbers);
    v->entities = calloc((size_t)v->capacity + 1, sizeof *v->entities);
    out->has_failed |= v->numbers == NULL || v->entities == NULL;
    return !out->has_failed;
}

static void end_view(const weft__session *session, view *v)
{
    free(v->numbers);
    free(v->entities);
    weft_query_destroy(session->world, v->query);
}

uint32_t weft__points_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    view v;
    uint32_t status = read_view(session, request, &v, out);
    if (status != 200) return status;
    uint64_t total = weft_query_count(session->world, v.query);
    uint64_t step = v.capacity == 0 ? 1 : (total + v.capacity - 1) / v.capacity;
    if (make_room(&v, out)) {
        weft_entity chosen;
        walk_rows(session, &v, step == 0 ? 1 : step, take_point);
        if (weft__request_entity(request, "entity", &chosen)) take_chosen(session, &v, chosen);
    }
    weft__wire_count(out, "total", total);
    write_unit(out, &v);
    weft__wire_open(out, "entities", '[');
    for (uint32_t i = 0; i < v.count; i++) weft__wire_entity(out, NULL, v.entities[i]);
    weft__wire_close(out, ']');
    static const char *const names[4] = {"x", "y", "z", "value"};
    for (uint32_t k = 0; k < 4; k++) {
        if ((k < 3 ? &v.axes[k] : &v.value)->field == NULL) continue;
        weft__wire_open(out, names[k], '[');
        for (uint32_t i = 0; i < v.count; i++)
            weft__wire_number(out, NULL, v.numbers[4 * (size_t)i + k]);
        weft__wire_close(out, ']');
    }
    end_view(session, &v);
    return 200;
}

/* Keeps the nearest in order; numbers[0..2] of element NEAREST are where to look from, numbers[3]
 * of the others their distances. */
static void take_near(const weft__session *session, view *v, weft_entity entity)
{
    const double *from = v->numbers + 4 * (size_t)NEAREST;
    double sum = 0;
    for (uint32_t k = 0; k < 3; k++) {
        double at = v->axes[k].field == NULL ? 0 : number_of(session, entity, &v->axes[k]);
        sum += (at - from[k]) * (at - from[k]);
    }
    if (!(sum >= 0) || weft_entity_equal(entity, v->entities[NEAREST])) return;
    uint32_t i = v->count < NEAREST ? v->count : NEAREST;
    while (i > 0 && v->numbers[4 * (size_t)(i - 1) + 3] > sum) i--;
    if (i == NEAREST) return;
    v->count += v->count < NEAREST;
    for (uint32_t k = v->count - 1; k > i; k--) {
        v->entities[k] = v->entities[k - 1];
        v->numbers[4 * (size_t)k + 3] = v->numbers[4 * (size_t)(k - 1) + 3];
    }
    v->entities[i] = entity;
    v->numbers[4 * (size_t)i + 3] = sum;
}

uint32_t weft__nearest_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    view v;
    weft_entity entity;
    if (!weft__request_entity(request, "entity", &entity))
        return weft__window_fail(out, 404, "this entity is not alive");
    uint32_t status = read_view(session, request, &v, out);
    if (status != 200) return status;
    v.capacity = NEAREST + 1;
    if (make_room(&v, out)) {
        v.entities[NEAREST] = entity;
        for (uint32_t k = 0; k < 3; k++)
            v.numbers[4 * (size_t)NEAREST + k] =
                v.axes[k].field == NULL ? 0 : number_of(session, entity, &v.axes[k]);
        walk_rows(session, &v, 1, take_near);
    }
    weft__wire_text(out, "name", weft_entity_name(session->world, entity));
    write_unit(out, &v);
    weft__wire_open(out, "rows", '[');
    for (uint32_t i = 0; i < v.count; i++) {
        weft__wire_open(out, NULL, '{');
        weft__wire_entity(out, "entity", v.entities[i]);
        weft__wire_text(out, "name", weft_entity_name(session->world, v.entities[i]));
        weft__wire_number(out, "distance", sqrt(v.numbers[4 * (size_t)i + 3]));
        weft__wire_close(out, '}');
    }
    weft__wire_close(out, ']');
    end_view(session, &v);
    return 200;
}
