/* SPDX-License-Identifier: MIT */
/* entity_name.c: the public functions of names: set, ask, find. Names are kept in name_table.c.
 *
 * Owner only; while systems run, names are set by command. */
#include "name_table.h"
#include "utf8.h"

weft_entity weft_entity_find(const weft_world *world, const char *name)
{
    if (world == NULL) return WEFT__NO_ENTITY;
    weft__name_key key = weft__name_key_of(name);
    weft_entity found = weft__name_find(world, &key, WEFT__NO_ENTITY);
    if (found.version == 0)
        weft__error(world, WEFT_NOT_FOUND, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "weft_entity_find: no living entity is named \"%s\"", key.text);
    return found;
}

static weft_result check(const weft_world *world, weft_entity entity, const char *name,
                         const char *what)
{
    weft_result result =
        weft__refuse_systems(world, what, "record a command (weft_recorder_set_name)");
    if (result != WEFT_OK) return result;
    if ((world->front.busy & WEFT__BUSY_WRITING) != 0) return weft__error_busy(world, what);
    if (!weft_entity_is_alive(world, entity)) return weft__error_stale(world, entity);
    if (name == NULL || name[0] == '\0' || weft__name_fits(name, SIZE_MAX)) return WEFT_OK;
    return weft__error_argument(world, what, "the name is not UTF-8: texts cannot hold it");
}

static weft_result name_set(weft_world *world, weft_entity entity, const weft__name_key *key,
                            const char *what)
{
    weft_result result = weft__name_set(world, entity, key);
    return result == WEFT_OK ? WEFT_OK : weft__error_memory(world, what);
}

weft_result weft_entity_set_name(weft_world *world, weft_entity entity, const char *name)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = check(world, entity, name, "weft_entity_set_name");
    if (result != WEFT_OK) return result;
    weft__name_key key = weft__name_key_of(name); /* a copy: `name` may be one that is kept here */
    return name_set(world, entity, &key, "weft_entity_set_name");
}

weft_result weft_entity_set_name_unique(weft_world *world, weft_entity entity, const char *name)
{
    const char *what = "weft_entity_set_name_unique";
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = check(world, entity, name, what);
    if (result != WEFT_OK) return result;
    weft__name_key key = weft__name_key_of(name);
    weft_entity other = weft__name_find(world, &key, entity);
    if (other.version == 0) return name_set(world, entity, &key, what);
    return weft__error(world, WEFT_ALREADY_EXISTS, other, WEFT__NO_COMPONENT,
                       "%s: entity %s has this name already: use another name, or "
                       "weft_entity_set_name, which allows equal names",
                       what, weft__entity_say(world, other).text);
}

const char *weft_entity_name(const weft_world *world, weft_entity entity)
{
    if (world == NULL || world->names == NULL || !weft__entity_lives(world, entity)) return "";
    return weft__name_last(world, entity);
}

uint32_t weft_entity_search(const weft_world *world, const char *part, weft_entity *out,
                            uint32_t capacity)
{
    if (world == NULL || part == NULL || (out == NULL && capacity != 0)) return 0;
    return weft__name_search(world, part, out, capacity);
}
