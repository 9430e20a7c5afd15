/* SPDX-License-Identifier: MIT */
/* resource.c: the values of RESOURCE components, which the world has once.
 *
 * A value is made and freed with its type (component_registry.c) and never moves. Of a BUFFER it is
 * the header with the inline elements: opened in buffers.c. */
#include "error.h"
#include "world_state.h"

static const weft__type *resource_at(const weft_world *world, weft_component component,
                                     const char *what)
{
    const weft__type *type = weft__type_at(world, component);
    if (type != NULL && type->resource != NULL) return type;
    weft__error_use(world, WEFT_TYPE_MISMATCH, what, component,
                    ": it is no RESOURCE: register it with WEFT_RESOURCE");
    return NULL;
}

void *weft_resource_write(weft_world *world, weft_component component)
{
    if (world == NULL) return NULL;
    const weft__type *type = resource_at(world, component, "weft_resource_write");
    if (type == NULL) return weft__stand_in_refused(world, component.id);
    if (weft__may_write(world, "weft_resource_write") != WEFT_OK)
        return weft__stand_in_refused(world, component.id);
    return type->resource;
}

const void *weft_resource_read(const weft_world *world, weft_component component)
{
    if (world == NULL) return NULL;
    const weft__type *type = resource_at(world, component, "weft_resource_read");
    if (type == NULL) return weft__stand_in_refused(world, component.id);
    weft__note_read(world, "weft_resource_read", component);
    return type->resource;
}
