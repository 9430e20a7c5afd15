/* SPDX-License-Identifier: MIT */
/* desc_lists.c: checking and copying the lists of descriptions. What handles stand for is
 * checked by system.c; the copies are one block, so that a system has one allocation more, and
 * none when its lists are empty. */
#include "desc_lists.h"
#include "utf8.h"

#include <string.h>

#define GIVEN(list_name, entry_type, desc, limit, pointer, number)                                 \
    (weft__given)                                                                                  \
    {                                                                                              \
        .name = #list_name, .few = (desc)->list_name, .few_limit = (limit), .more = (pointer),     \
        .more_count = (number), .bytes = sizeof(entry_type), .key_bytes = sizeof(void *)           \
    }

static_assert(sizeof(weft_component) == sizeof(void *) && sizeof(weft_query) == sizeof(void *) &&
                  sizeof(weft_lookup) == sizeof(weft_component) + sizeof(weft_access),
              "keys of entries, no padding");

/* A null pointer to a name is no handle. */
static weft_result names_check(const weft_world *world, const char *what, weft__given *list)
{
    weft_result result = weft__given_check(world, what, list);
    for (uint32_t i = 0; i < list->count && result == WEFT_OK; i++) {
        const char *name = *(const char *const *)weft__given_at(list, i);
        bool is_more = i >= list->few_count;
        if (!weft__name_fits(name, WEFT__NAME_LIMIT - 1))
            result =
                weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                            "%s: %s%s[%u]: names must have 1..63 bytes of UTF-8", what,
                            is_more ? "more_" : "", list->name, is_more ? i - list->few_count : i);
    }
    return result;
}

weft_result weft__lists_check_group(const weft_world *world, const char *what,
                                    const weft_group_desc *desc, weft__lists_given *out)
{
    *out = (weft__lists_given){0};
    out->before = GIVEN(before, const char *, desc, WEFT_SYSTEM_ORDER, desc->more_before,
                        desc->more_before_count);
    out->after = GIVEN(after, const char *, desc, WEFT_SYSTEM_ORDER, desc->more_after,
                       desc->more_after_count);
    weft_result result = names_check(world, what, &out->before);
    return result == WEFT_OK ? names_check(world, what, &out->after) : result;
}

weft_result weft__lists_check(const weft_world *world, const char *what,
                              const weft_system_desc *desc, weft__lists_given *out)
{
    out->lookups = GIVEN(lookups, weft_lookup, desc, WEFT_SYSTEM_LOOKUPS, desc->more_lookups,
                         desc->more_lookup_count);
    out->resources = GIVEN(resources, weft_lookup, desc, WEFT_SYSTEM_LOOKUPS, desc->more_resources,
                           desc->more_resource_count);
    out->queries = GIVEN(queries, weft_query, desc, WEFT_SYSTEM_LOOKUPS, desc->more_queries,
                         desc->more_query_count);
    out->records = GIVEN(records, weft_component, desc, WEFT_SYSTEM_LOOKUPS, desc->more_records,
                         desc->more_record_count);
    out->destroys = GIVEN(destroys, weft_component, desc, WEFT_SYSTEM_LOOKUPS, desc->more_destroys,
                          desc->more_destroy_count);
    out->before = GIVEN(before, const char *, desc, WEFT_SYSTEM_ORDER, desc->more_before,
                        desc->more_before_count);
    out->after = GIVEN(after, const char *, desc, WEFT_SYSTEM_ORDER, desc->more_after,
                       desc->more_after_count);
    weft__given *handles[] = {&out->lookups, &out->resources, &out->queries, &out->records,
                              &out->destroys};
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < sizeof handles / sizeof handles[0] && result == WEFT_OK; i++)
        result = weft__given_check(world, what, handles[i]);
    if (result == WEFT_OK) result = names_check(world, what, &out->before);
    return result == WEFT_OK ? names_check(world, what, &out->after) : result;
}

/* ---- copies ---- */

static uint32_t copy_grants(weft__grant *to, const weft__given *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const weft_lookup *lookup = weft__given_at(from, i);
        to[i] = (weft__grant){lookup->component.id, lookup->access};
    }
    return from->count;
}

static uint32_t copy_names(char (*to)[WEFT__NAME_LIMIT], const weft__given *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const char *name = *(const char *const *)weft__given_at(from, i);
        memcpy(to[i], name, strlen(name) + 1);
    }
    return from->count;
}

static uint32_t copy_components(uint32_t *to, const weft__given *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        uint32_t at = i, id = ((const weft_component *)weft__given_at(from, i))->id;
        for (; at > 0 && to[at - 1] > id; at--) to[at] = to[at - 1];
        to[at] = id;
    }
    return from->count;
}

/* Components that commands bring, and with them what these require. Returns their number; `to`
 * NULL: a bound of it. */
static uint32_t copy_records(const weft_world *world, uint32_t *to, const weft__given *from)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        const weft_component *component = weft__given_at(from, i);
        const weft__type *type = weft__type_find(world, *component);
        if (to == NULL) count += 1 + type->required_count;
        if (to != NULL) weft__ids_insert(to, &count, component->id);
        for (uint32_t k = 0; to != NULL && k < type->required_count; k++)
            weft__ids_insert(to, &count, type->required[k]);
    }
    return count;
}

weft_result weft__lists_copy(weft_world *world, const weft__lists_given *given, weft__lists *out)
{
    weft__memory *memory = weft__world_memory(world);
    *out = (weft__lists){0};
    size_t queries = given->queries.count * sizeof out->queries[0];
    size_t lookups = given->lookups.count * sizeof out->lookups[0];
    size_t resources = given->resources.count * sizeof out->resources[0];
    size_t before = (size_t)given->before.count * WEFT__NAME_LIMIT;
    size_t after = (size_t)given->after.count * WEFT__NAME_LIMIT;
    size_t records = copy_records(world, NULL, &given->records) * sizeof out->records[0];
    size_t bytes = queries + lookups + resources + before + after + records +
                   given->destroys.count * sizeof out->destroys[0];
    if (bytes == 0) return WEFT_OK;
    char *at = weft__alloc_zeroed(memory, WEFT__MEMORY_SYSTEMS, 1, bytes, 8);
    if (at == NULL) return WEFT_OUT_OF_MEMORY;
    out->block = at;
    out->bytes = bytes;
    out->queries = (weft_query *)(void *)at;
    out->lookups = (weft__grant *)(void *)(at += queries);
    out->resources = (weft__grant *)(void *)(at += lookups);
    out->before = (char(*)[WEFT__NAME_LIMIT])(at += resources);
    out->after = (char(*)[WEFT__NAME_LIMIT])(at += before);
    out->records = (uint32_t *)(void *)(at += after);
    out->destroys = (uint32_t *)(void *)(at += records);
    for (uint32_t i = 0; i < given->queries.count; i++)
        out->queries[i] = *(const weft_query *)weft__given_at(&given->queries, i);
    out->query_count = given->queries.count;
    out->lookup_count = copy_grants(out->lookups, &given->lookups);
    out->resource_count = copy_grants(out->resources, &given->resources);
    out->before_count = copy_names(out->before, &given->before);
    out->after_count = copy_names(out->after, &given->after);
    out->record_count = copy_records(world, out->records, &given->records);
    out->destroy_count = copy_components(out->destroys, &given->destroys);
    return WEFT_OK;
}

void weft__lists_free(weft__memory *memory, weft__lists *lists)
{
    weft__free(memory, WEFT__MEMORY_SYSTEMS, lists->block, 1, lists->bytes, 8);
    *lists = (weft__lists){0};
}
