/* SPDX-License-Identifier: MIT */
/* desc_lists.h: the lists of a system's and a group's description: checked, and copied into one
 * block that belongs to the system or group. Owner, world idle. */
#ifndef WEFT_DESC_LISTS_H
#define WEFT_DESC_LISTS_H

#include <weft/system.h>

#include "ecs_engine.h"

#define WEFT__NAME_LIMIT 64

/* A declared look-up or resource. A value. */
typedef struct weft__grant {
    uint32_t component;
    weft_access access;
} weft__grant;

/* The lists as the caller gave them; on the stack of the call. */
typedef struct weft__lists_given {
    weft__given lookups, resources, queries, records, destroys, before, after;
} weft__lists_given;

/* The copies. Part of a system or group; constant after its creation. */
typedef struct weft__lists {
    weft__grant *lookups;
    weft__grant *resources;
    weft_query *queries;
    uint32_t *records;                /* sorted, with what they require */
    uint32_t *destroys;               /* sorted */
    char (*before)[WEFT__NAME_LIMIT]; /* names of systems or groups */
    char (*after)[WEFT__NAME_LIMIT];
    uint32_t lookup_count, resource_count, query_count, record_count, destroy_count;
    uint32_t before_count, after_count;
    void *block; /* holds all of them; NULL: they are empty */
    size_t bytes;
} weft__lists;

/* Counts the entries. Errors: BAD_HANDLE, INVALID_ARGUMENT (a null entry, a NULL pointer with a
 * count, a name without 1..63 bytes); the text names list and position. */
weft_result weft__lists_check(const weft_world *world, const char *what,
                              const weft_system_desc *desc, weft__lists_given *out);
/* The same for a group, which has names only. */
weft_result weft__lists_check_group(const weft_world *world, const char *what,
                                    const weft_group_desc *desc, weft__lists_given *out);
/* Copies lists that were checked, and whose handles are good. OUT_OF_MEMORY (no text). */
weft_result weft__lists_copy(weft_world *world, const weft__lists_given *given, weft__lists *out);
void weft__lists_free(weft__memory *memory, weft__lists *lists);

#endif
