/* SPDX-License-Identifier: MIT */
/* section_component.c: the components Section and SectionRequest: known by their names, described,
 * registered by the first that asks for them. */
#include "world_state.h"

#include <weft/stream.h>

#include <stddef.h>

static const weft_field section_fields[] = {WEFT_FIELD(weft_section, scene),
                                            WEFT_FIELD(weft_section, instance),
                                            WEFT_FIELD(weft_section, section)};
static const weft_type section_type = {.name = "Section",
                                       .size = sizeof(weft_section),
                                       .alignment = _Alignof(weft_section),
                                       .fields = section_fields,
                                       .field_count = 3};
static const weft_field request_fields[] = {WEFT_FIELD(weft_section_request, instance),
                                            WEFT_FIELD(weft_section_request, section),
                                            WEFT_FIELD(weft_section_request, priority)};
static const weft_type request_type = {.name = "SectionRequest",
                                       .size = sizeof(weft_section_request),
                                       .alignment = _Alignof(weft_section_request),
                                       .fields = request_fields,
                                       .field_count = 3};

weft_component weft_component_section(weft_world *world)
{
    if (world == NULL) return WEFT__NO_COMPONENT;
    weft_component found = weft_component_find(world, section_type.name);
    if (found.id != 0) return found;
    return weft_component_create(
        world, &(weft_component_desc){.type = &section_type, .flags = WEFT_SHARED});
}

weft_component weft_component_section_request(weft_world *world)
{
    if (world == NULL) return WEFT__NO_COMPONENT;
    weft_component found = weft_component_find(world, request_type.name);
    if (found.id != 0) return found;
    return weft_component_create(world, &(weft_component_desc){.type = &request_type});
}
