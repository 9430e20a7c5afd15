/* SPDX-License-Identifier: MIT */
/* given_list.h: the lists of descriptors: a few entries inline, up to the first that is all
 * zero, and more behind a pointer with a count. An entry whose handle is null is a mistake
 * wherever something else says that it was meant: fields beside the handle, entries behind it,
 * or the count. */
#ifndef WEFT_GIVEN_LIST_H
#define WEFT_GIVEN_LIST_H

#include "ids.h"

/* A list as the caller gave it; on the stack of the call. */
typedef struct weft__given {
    const char *name; /* of the inline array, for error texts; the other is more_<name> */
    const void *few;  /* NULL: there is no inline array */
    const void *more;
    uint32_t few_limit;  /* entries of the inline array */
    uint32_t more_count; /* as given */
    uint32_t bytes;      /* of an entry; no padding */
    uint32_t key_bytes;  /* the handle or pointer that it begins with */
    uint32_t few_count;  /* entries in use; filled by weft__given_check */
    uint32_t count;      /* with those behind the pointer; filled by weft__given_check */
} weft__given;

/* Counts the entries. Errors name the list and the position: BAD_HANDLE (a null entry),
 * INVALID_ARGUMENT (a count without a pointer). `what` is the function. */
weft_result weft__given_check(const weft_world *world, const char *what, weft__given *list);

/* Entry i < count of a list that was checked. */
static inline const void *weft__given_at(const weft__given *list, uint32_t i)
{
    const char *at = i < list->few_count ? list->few : list->more;
    return at + (size_t)(i < list->few_count ? i : i - list->few_count) * list->bytes;
}

#endif
