/* SPDX-License-Identifier: MIT */
/* ids.h: what names nothing: the null handles of entities and components, and the id or position
 * that nothing has; ascending lists of ids. */
#ifndef WEFT_IDS_H
#define WEFT_IDS_H

#include <weft/component.h>

#define WEFT__NONE UINT32_MAX
#define WEFT__NO_ENTITY ((weft_entity){0, 0})
#define WEFT__NO_COMPONENT ((weft_component){0})

/* Whether a list has an id. */
static inline bool weft__ids_have(const uint32_t *list, uint32_t count, uint32_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == id) return true;
    return false;
}

/* Puts an id into an ascending list that has room, unless it is there. */
static inline void weft__ids_insert(uint32_t *list, uint32_t *count, uint32_t id)
{
    uint32_t at = *count;
    while (at > 0 && list[at - 1] > id) at--;
    if (at > 0 && list[at - 1] == id) return;
    for (uint32_t i = *count; i > at; i--) list[i] = list[i - 1];
    list[at] = id;
    ++*count;
}

#endif
