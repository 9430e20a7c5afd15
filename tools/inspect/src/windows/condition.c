/* SPDX-License-Identifier: MIT */
/* condition.c: one condition at a time. It is checked for what it names when it is set, so that a
 * wrong word is told at once and not by a pause that never comes. */
#include "condition.h"

#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/entity.h>

typedef enum kind {
    KIND_DEAD,
    KIND_ROWS, /* of an archetype */
    KIND_BELOW,
    KIND_ABOVE,
    KIND_CHANGED,
} kind;

/* Owner: the session. */
struct weft__condition {
    kind kind;
    weft_entity entity;
    weft_component component;
    weft_archetype archetype;
    weft_field_kind field;
    uint32_t offset;
    double number;  /* the bound */
    uint64_t first; /* bits or rows when it was set */
    char text[256];
    bool is_reached;
    uint64_t frame; /* in which it was */
};

/* Bits of the number; false: there is none. */
static bool read_bits(const weft__session *session, const weft__condition *c, double *out)
{
    const char *bytes = weft__value_of(session, c->entity, c->component);
    if (bytes != NULL) *out = weft__value_number(c->field, bytes + c->offset);
    return bytes != NULL;
}

static uint64_t rows_of(const weft__session *session, weft_archetype archetype)
{
    weft_archetype_stats stats;
    if (weft_archetype_stats_get(session->world, archetype, &stats, sizeof stats) != WEFT_OK)
        return UINT64_MAX;
    return stats.entities;
}

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static uint32_t read_value(weft__session *session, const weft__request *request, const char *is,
                           weft__condition *c, weft__wire *out)
{
    char name[WEFT__REQUEST_WORD], path_text[WEFT__REQUEST_WORD];
    weft_type made;
    const weft_type *type;
    weft_path path;
    double now = 0;
    weft__request_text(request, "component", name, sizeof name);
    weft__request_text(request, "path", path_text, sizeof path_text);
    c->component = weft_component_find(session->world, name);
    if (c->component.id == 0 || weft__value_of(session, c->entity, c->component) == NULL ||
        !weft__value_type(session, c->component, &made, &type))
        return weft__window_fail(out, 404, "this entity has no values \"%s\"", name);
    if (weft_path_parse(type, path_text, &path, NULL) != WEFT_OK || path.field == NULL ||
        path.count != 1 || !weft__kind_is_number(path.field->kind))
        return weft__window_fail(out, 422, "%s.%s is no number", name, path_text);
    c->field = path.field->kind;
    c->offset = path.offset;
    c->kind = is[0] == '<' ? KIND_BELOW : is[0] == '>' ? KIND_ABOVE : KIND_CHANGED;
    c->number = weft__request_number(request, "number", 0);
    read_bits(session, c, &now);
    c->first = bits_of(now);
    if (c->kind == KIND_CHANGED)
        snprintf(c->text, sizeof c->text, "%.80s.%.80s of %u:%u changes", name, path_text,
                 c->entity.index, c->entity.version);
    else
        snprintf(c->text, sizeof c->text, "%.80s.%.80s of %u:%u is %s %g", name, path_text,
                 c->entity.index, c->entity.version, c->kind == KIND_BELOW ? "below" : "above",
                 c->number);
    return 200;
}

static uint32_t read_condition(weft__session *session, const weft__request *request,
                               weft__condition *c, weft__wire *out)
{
    char is[16];
    weft__request_text(request, "is", is, sizeof is);
    if (weft__request_has(request, "archetype")) {
        uint32_t id = (uint32_t)weft__request_count(request, "archetype", 0, UINT32_MAX);
        c->kind = KIND_ROWS;
        c->archetype = weft_archetype_at(session->world, 0);
        c->archetype.id = id;
        c->first = rows_of(session, c->archetype);
        if (c->first == UINT64_MAX)
            return weft__window_fail(out, 404, "there is no archetype %u", id);
        snprintf(c->text, sizeof c->text, "archetype %u gets or loses entities", id);
        return 200;
    }
    if (!weft__request_entity(request, "entity", &c->entity) ||
        !weft_entity_is_alive(session->world, c->entity))
        return weft__window_fail(out, 404, "this entity is not alive");
    if (strcmp(is, "dead") == 0) {
        c->kind = KIND_DEAD;
        snprintf(c->text, sizeof c->text, "%u:%u dies", c->entity.index, c->entity.version);
        return 200;
    }
    if (strcmp(is, "<") != 0 && strcmp(is, ">") != 0 && strcmp(is, "changed") != 0)
        return weft__window_fail(out, 422, "\"is\" is <, >, changed or dead");
    return read_value(session, request, is, c, out);
}

uint32_t weft__condition_set(weft__session *session, const weft__request *request, weft__wire *out)
{
    weft__condition *made = NULL;
    if (request->count > 1) { /* "do", and what is waited for */
        made = calloc(1, sizeof *made);
        if (made == NULL) return weft__window_fail(out, 503, "no memory");
        uint32_t status = read_condition(session, request, made, out);
        if (status != 200) {
            free(made);
            return status;
        }
    }
    weft__condition_free(session);
    session->condition = made;
    weft__condition_write(session, out);
    return 200;
}

static bool holds(const weft__session *session, const weft__condition *c)
{
    double now;
    switch (c->kind) {
    case KIND_DEAD:
        return !weft_entity_is_alive(session->world, c->entity);
    case KIND_ROWS:
        return rows_of(session, c->archetype) != c->first;
    case KIND_BELOW:
        return read_bits(session, c, &now) && now < c->number;
    case KIND_ABOVE:
        return read_bits(session, c, &now) && now > c->number;
    case KIND_CHANGED:
        return read_bits(session, c, &now) && bits_of(now) != c->first;
    }
    return false;
}

void weft__condition_check(weft__session *session)
{
    weft__condition *c = session->condition;
    if (c == NULL || c->is_reached || !holds(session, c)) return;
    c->is_reached = true;
    c->frame = weft_world_frame(session->world).number;
    session->is_paused = true;
    session->steps_left = 0;
}

void weft__condition_write(const weft__session *session, weft__wire *out)
{
    const weft__condition *c = session->condition;
    if (c == NULL) return;
    weft__wire_text(out, c->is_reached ? "reached" : "condition", c->text);
    if (c->is_reached) weft__wire_count(out, "reached_frame", c->frame);
}

void weft__condition_free(weft__session *session)
{
    free(session->condition);
    session->condition = NULL;
}
