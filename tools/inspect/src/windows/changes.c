/* SPDX-License-Identifier: MIT */
/* changes.c: changes as the program itself would make them, by its public calls.
 *
 * What is refused is told in the words of the world. For an undo pages keep the values that
 * they wrote over; live links keep what stood in documents. */
#include "changes.h"

#include "values.h"
#include "window_entities.h"
#include "window_entity.h"
#include "written.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/entity.h>
#include <weft/live.h>
#include <weft/relation.h>

enum { COMPONENTS_MAX = 64 };

/* The entity of a request, where the page may write. Else the status of a refusal, written. */
static uint32_t take_entity(const weft__session *session, const weft__request *request,
                            weft_entity *entity, weft__wire *out)
{
    if (!session->is_writable) return weft__window_read_only(out);
    if (!weft__request_entity(request, "entity", entity) ||
        weft_entity_archetype(session->world, *entity).id == 0)
        return weft__window_fail(out, 404, "this entity is not alive");
    return 200;
}

static uint32_t tell(weft__session *session, weft_result result, weft_entity entity,
                     weft__wire *out)
{
    return result == WEFT_OK ? weft__entity_write(session, entity, out)
                             : weft__window_world_error(session, out);
}

/* The components of a list with commas. */
static uint32_t read_components(const weft__session *session, const char *text,
                                weft_component *found, uint32_t *count, weft__wire *out)
{
    *count = 0;
    for (const char *at = text; *at != '\0';) {
        char name[WEFT__REQUEST_WORD];
        at += strspn(at, " ,");
        size_t length = strcspn(at, ",");
        size_t kept = length;
        while (kept > 0 && at[kept - 1] == ' ') kept--;
        snprintf(name, sizeof name, "%.*s", (int)kept, at);
        at += length;
        if (kept == 0) continue;
        weft_component component = weft_component_find(session->world, name);
        if (component.id == 0) return weft__window_fail(out, 404, "no component \"%s\"", name);
        if (*count == COMPONENTS_MAX)
            return weft__window_fail(out, 422, "more than %d components", COMPONENTS_MAX);
        found[(*count)++] = component;
    }
    return 200;
}

uint32_t weft__entity_create(weft__session *session, const weft__request *request, weft__wire *out)
{
    char text[4096], name[64];
    weft_component components[COMPONENTS_MAX];
    uint32_t count;
    if (!session->is_writable) return weft__window_read_only(out);
    if (!weft__request_text(request, "components", text, sizeof text))
        return weft__window_fail(out, 400, "\"components\" is a text of at most 4,095 bytes");
    if (!weft__request_text(request, "name", name, sizeof name))
        return weft__window_fail(out, 400, "a name has at most 63 bytes");
    uint32_t status = read_components(session, text, components, &count, out);
    if (status != 200) return status;
    weft_archetype archetype = weft_archetype_create(session->world, components, count);
    weft_entity made = {0};
    if (archetype.id != 0) made = weft_entity_create(session->world, archetype);
    if (weft_entity_is_null(made)) return weft__window_world_error(session, out);
    if (name[0] != '\0' && weft_entity_set_name(session->world, made, name) != WEFT_OK) {
        status = weft__window_world_error(session, out);
        weft_entity_destroy(session->world, made);
        return status;
    }
    return weft__entity_write(session, made, out);
}

uint32_t weft__entity_clone(weft__session *session, const weft__request *request, weft__wire *out)
{
    weft_entity entity, made = {0};
    uint32_t status = take_entity(session, request, &entity, out);
    if (status != 200) return status;
    return tell(session, weft_entity_instantiate(session->world, entity, 1, &made), made, out);
}

uint32_t weft__entity_destroy(weft__session *session, const weft__request *request, weft__wire *out)
{
    weft_entity entity;
    uint32_t status = take_entity(session, request, &entity, out);
    if (status != 200) return status;
    if (weft_entity_destroy(session->world, entity) != WEFT_OK)
        return weft__window_world_error(session, out);
    weft__wire_entity(out, "destroyed", entity);
    return 200;
}

uint32_t weft__entity_rename(weft__session *session, const weft__request *request, weft__wire *out)
{
    char name[64];
    weft_entity entity;
    uint32_t status = take_entity(session, request, &entity, out);
    if (status != 200) return status;
    if (!weft__request_text(request, "name", name, sizeof name))
        return weft__window_fail(out, 400, "a name has at most 63 bytes");
    weft__search_free(session); /* what is found now differs */
    return tell(session, weft_entity_set_name(session->world, entity, name), entity, out);
}

uint32_t weft__entity_change(weft__session *session, const weft__request *request, weft__wire *out)
{
    char name[WEFT__REQUEST_WORD];
    weft_entity entity;
    uint32_t status = take_entity(session, request, &entity, out);
    if (status != 200) return status;
    bool is_add = weft__request_has(request, "add");
    weft__request_text(request, is_add ? "add" : "remove", name, sizeof name);
    weft_component component = weft_component_find(session->world, name);
    if (component.id == 0) return weft__window_fail(out, 404, "no component \"%s\"", name);
    weft_result result = is_add ? weft_entity_add(session->world, entity, component)
                                : weft_entity_remove(session->world, entity, component);
    return tell(session, result, entity, out);
}

uint32_t weft__entity_relate(weft__session *session, const weft__request *request, weft__wire *out)
{
    char name[WEFT__REQUEST_WORD];
    weft_entity entity, target = {0};
    uint32_t status = take_entity(session, request, &entity, out);
    if (status != 200) return status;
    weft__request_text(request, "relation", name, sizeof name);
    weft_component relation = weft_component_find(session->world, name);
    if (relation.id == 0) return weft__window_fail(out, 404, "no relation \"%s\"", name);
    if (weft__request_has(request, "target") && !weft__request_entity(request, "target", &target)) {
        weft__request_text(request, "target", name, sizeof name);
        target = weft_entity_find(session->world, name);
        if (weft_entity_is_null(target))
            return weft__window_fail(out, 404, "no entity \"%s\"", name);
    }
    weft_result result = weft_relation_set(session->world, entity, relation, target);
    if (result == WEFT_OK) result = weft_relation_settle(session->world);
    return tell(session, result, entity, out);
}

/* Where a value stands: a field of an object of a document. */
typedef struct place {
    weft_live *live;
    const char *object, *field;
} place;

/* The live link that an entity comes from, and its object there; NULL: none, and the answer says
 * so. */
static weft_live *find_link(const weft__session *session, weft_entity entity, const char **object,
                            weft__wire *out)
{
    uint32_t count;
    weft_live *found = NULL, **links = weft__session_links(session, &count, out);
    for (uint32_t i = 0; i < count && found == NULL; i++)
        if ((*object = weft_live_path(links[i], entity)) != NULL) found = links[i];
    free(links);
    if (found == NULL) weft__window_fail(out, 422, "this entity comes from no live link");
    return found;
}

/* The text of the value at a path, to be freed; NULL: there is none, and the answer says so. */
static char *value_text(const weft__session *session, weft_entity entity, const char *component,
                        const char *path_text, const place *in, weft__wire *out)
{
    weft_type made;
    const weft_type *type;
    weft_path path;
    weft_component of = weft_component_find(session->world, component);
    const void *value = of.id == 0 ? NULL : weft__value_of(session, entity, of);
    if (value == NULL || !weft__value_type(session, of, &made, &type) ||
        weft_path_parse(type, path_text, &path, NULL) != WEFT_OK) {
        weft__window_fail(out, 404, "this entity has no value %s.%s", component, path_text);
        return NULL;
    }
    char *text = weft__written_text(in->live, in->object, in->field, type, &path, value);
    if (text != NULL) return text;
    size_t length = weft_path_value_format(NULL, type, &path, value, NULL, 0);
    text = malloc(length + 1);
    out->has_failed |= text == NULL;
    if (text != NULL) weft_path_value_format(NULL, type, &path, value, text, length + 1);
    return text;
}

uint32_t weft__value_write_back(weft__session *session, const weft__request *request,
                                weft__wire *out)
{
    char component[WEFT__REQUEST_WORD], path[WEFT__REQUEST_WORD];
    char field[2 * WEFT__REQUEST_WORD];
    place in = {.field = field};
    weft_entity entity;
    uint32_t status = take_entity(session, request, &entity, out);
    if (status != 200) return status;
    weft__request_text(request, "component", component, sizeof component);
    weft__request_text(request, "path", path, sizeof path);
    const char *property = strcmp(component, "LocalTransform") == 0 ? "transform" : component;
    snprintf(field, sizeof field, "%s%s%s", property, path[0] == '\0' ? "" : ".", path);
    if ((in.live = find_link(session, entity, &in.object, out)) == NULL) return 422;
    char *text = value_text(session, entity, component, path, &in, out);
    if (text == NULL) return out->has_failed ? 503 : 404;
    weft_result result = weft_live_edit(in.live, in.object, field, text);
    free(text);
    if (result == WEFT_OK) weft__wire_count(out, "edit", ++session->edits);
    return tell(session, result, entity, out);
}

uint32_t weft__value_unwrite(weft__session *session, const weft__request *request, weft__wire *out)
{
    const char *object;
    weft_entity entity;
    uint32_t status = take_entity(session, request, &entity, out);
    if (status != 200) return status;
    if (weft__request_count(request, "edit", 0, UINT32_MAX) != session->edits)
        return weft__window_fail(out, 422, "another value was written into a document since then");
    weft_live *live = find_link(session, entity, &object, out);
    if (live == NULL) return 422;
    weft_result result = weft_live_undo(live);
    session->edits -= result == WEFT_OK;
    return tell(session, result, entity, out);
}
