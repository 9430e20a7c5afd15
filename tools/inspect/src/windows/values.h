/* SPDX-License-Identifier: MIT */
/* values.h: component values as JSON: by their description, or as bytes.
 *
 * Owner of the world; reads only. */
#ifndef WEFT_INSPECT_VALUES_H
#define WEFT_INSPECT_VALUES_H

#include "field.h"
#include "session.h"

/* The description of a component, made from its fields where it was registered without `type`;
 * false: it has none. `made` gives the memory, fields are borrowed. */
bool weft__value_type(const weft__session *session, weft_component component, weft_type *made,
                      const weft_type **type);
/* The value of a plain, SPARSE or SHARED component of an entity; NULL: none. */
const void *weft__value_of(const weft__session *session, weft_entity entity,
                           weft_component component);
/* Adds a value as JSON; without a description its first bytes, as text. */
void weft__wire_value(weft__wire *out, const char *name, const weft__session *session,
                      weft_component component, const void *value);
/* Adds the first bytes of a value as text. */
void weft__wire_bytes(weft__wire *out, const char *name, const void *value, size_t count);
/* Adds the leaves of a described value: an array of {"path", "value", "unit", ...}. */
void weft__wire_leaves(weft__wire *out, const char *name, const weft__session *session,
                       const weft_type *type, const void *value);
/* The word of a kind of field, as files have it. */
const char *weft__value_kind(weft_field_kind kind);
/* A number of a kind of field from its bytes. */
static inline double weft__value_number(weft_field_kind kind, const void *bytes)
{
    return weft__scalar_real(weft__scalar_load(kind, bytes));
}
/* An edit: *copy, made here and freed by the caller, is the old value with the text of "value" read
 * at "path": ranges and units are checked, and what the component itself checks. With "was" only a
 * value that is still this text is changed. Returns the status; but for 200 it is told already. */
uint32_t weft__value_edit(const weft__session *session, const weft__request *request,
                          weft_component component, const void *old, void **copy, weft__wire *out);
/* Adds the value of a path as a text that is JSON: pages show numbers as they are written. */
void weft__wire_path(weft__wire *out, const char *name, const weft_type *type,
                     const weft_path *path, const void *value);

#endif
