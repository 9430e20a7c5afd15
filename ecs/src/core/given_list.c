/* SPDX-License-Identifier: MIT */
/* given_list.c: counting the entries of a descriptor's lists, and refusing null ones. Entries are
 * looked at as bytes, so that one function serves lists of all kinds: the first key_bytes are the
 * handle or pointer, the others what is said of it. Nothing is allocated or kept. */
#include "given_list.h"

#include "error.h"

static bool is_zero(const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (((const unsigned char *)bytes)[i] != 0) return false;
    return true;
}

static const char *entry(const void *entries, const weft__given *list, uint32_t i)
{
    return (const char *)entries + (size_t)i * list->bytes;
}

static weft_result null_entry(const weft_world *world, const char *what, const weft__given *list,
                              const char *prefix, uint32_t position, const char *why)
{
    return weft__error(world, WEFT_BAD_HANDLE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: %s%s[%u] is null, but %s: look at what made it (a call that failed "
                       "gives null, and weft_world_error says why)",
                       what, prefix, list->name, position, why);
}

/* The first entry that is all zero ends the inline array. */
static weft_result few_check(const weft_world *world, const char *what, weft__given *list)
{
    uint32_t end = 0;
    list->few_count = 0;
    if (list->few == NULL) return WEFT_OK;
    while (end < list->few_limit && !is_zero(entry(list->few, list, end), list->key_bytes)) end++;
    list->few_count = end;
    if (end == list->few_limit) return WEFT_OK;
    if (!is_zero(entry(list->few, list, end), list->bytes))
        return null_entry(world, what, list, "", end, "it is described further");
    if (!is_zero(entry(list->few, list, end), (size_t)(list->few_limit - end) * list->bytes))
        return null_entry(world, what, list, "", end, "entries follow");
    return WEFT_OK;
}

weft_result weft__given_check(const weft_world *world, const char *what, weft__given *list)
{
    weft_result result = few_check(world, what, list);
    if (result != WEFT_OK) return result;
    if (list->more_count != 0 && list->more == NULL)
        return weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "%s: more_%s is NULL, but its count is %u: set both, or none", what,
                           list->name, list->more_count);
    for (uint32_t i = 0; i < list->more_count; i++)
        if (is_zero(entry(list->more, list, i), list->key_bytes))
            return null_entry(world, what, list, "more_", i, "it is counted");
    list->count = list->few_count + list->more_count;
    return WEFT_OK;
}
