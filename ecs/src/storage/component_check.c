/* SPDX-License-Identifier: MIT */
/* component_check.c: values compared with what the description of their component allows: ranges of
 * fields and the check of the type. Setting values asks it in checked builds, where the component
 * wants it (component_check.h). Any thread; the error is the owner's. */
#include "component_check.h"

#include "error.h"

#include <weft/value.h>

weft_result weft_component_check(const weft_world *world, weft_component component,
                                 const void *value)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) return weft__error_component(world, component);
    if (type->desc.type == NULL)
        return weft__error(world, WEFT_UNSUPPORTED, WEFT__NO_ENTITY, component,
                           "weft_component_check: component \"%s\" has no description: register "
                           "it with `type`",
                           type->desc.name);
    if (value == NULL)
        return weft__error_argument(world, "weft_component_check",
                                    "value is NULL: give its address");
    weft_value_error error;
    weft_result result = weft_value_check(type->desc.type, value, &error);
    if (result == WEFT_OK) return WEFT_OK;
    return weft__error(world, result, WEFT__NO_ENTITY, component, "component \"%s\": %s",
                       type->desc.name, error.text);
}
