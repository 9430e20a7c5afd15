/* SPDX-License-Identifier: MIT */
/* value_read.h: a described value inside a larger text, as in worlds as text. The reading is the
 * caller's: its parser stands behind the first token of the value, and stands behind the value
 * afterwards. */
#ifndef WEFT_VALUE_READ_H
#define WEFT_VALUE_READ_H

#include "door.h"
#include "value_word.h"

/* The value that begins with `token`, into memory that holds what absent fields keep; half of it
 * after a failure, which is reported. */
WEFT__DOOR bool weft__reading_value(weft__reading *r, const weft_type *type, char *value,
                                    const weft__json_token *token);

#endif
