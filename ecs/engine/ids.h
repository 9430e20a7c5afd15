/* SPDX-License-Identifier: MIT */
/* ids.h: what names nothing: the null handles of entities and components, and the id or position
 * that nothing has. */
#ifndef WEFT_IDS_H
#define WEFT_IDS_H

#include <weft/component.h>

#define WEFT__NONE UINT32_MAX
#define WEFT__NO_ENTITY ((weft_entity){0, 0})
#define WEFT__NO_COMPONENT ((weft_component){0})

#endif
