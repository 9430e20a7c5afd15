/* SPDX-License-Identifier: MIT */
/* world_text_type.h: what writing and reading worlds as text share: the description by which
 * values of a component are text, and the words of flags. */
#pragma once

#include "component_type.h"

#include <weft/world_text.h>

/* The description of a component: its own, or one of its flat fields, which is valid while both
 * are. */
static inline weft_type weft__world_text_type(const weft__type *type)
{
    if (type->desc.type != NULL) return *type->desc.type;
    return (weft_type){.name = type->desc.name,
                       .size = type->desc.size,
                       .alignment = type->desc.alignment,
                       .fields = type->desc.fields,
                       .field_count = type->desc.field_count};
}

#define WEFT__WORLD_TEXT_VERSION 2u /* version 1 has no relations */

/* The words for component flags, by bit. */
enum { WEFT__WORLD_TEXT_FLAGS = 9 };
extern const char *const weft__world_text_flags[WEFT__WORLD_TEXT_FLAGS];
