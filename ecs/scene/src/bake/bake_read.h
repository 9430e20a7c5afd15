/* SPDX-License-Identifier: MIT */
/* bake_read.h: values of properties over all layers of an object, for bakers and for properties
 * that bake themselves. By the worker that bakes. */
#ifndef WEFT_BAKE_READ_H
#define WEFT_BAKE_READ_H

#include "bake.h"

/* A value of a property over all layers, weakest first. A mistake is reported. */
weft_result weft__bake_value(weft_bake *bake, uint32_t node, const char *property,
                             const weft_type *type, void *value, bool *is_there);

/* Where a reading has its words and its errors. On the stack of the caller, while it reads. */
typedef struct weft__bake_text {
    weft_text text;
    weft_value_io io;
    weft_value_error error;
} weft__bake_text;

/* The parser of a property's value, with errors at its place. */
weft__reading weft__bake_reading(weft_bake *bake, const weft__file_object *object,
                                 const weft__property *property, weft__bake_text *text);

#endif
