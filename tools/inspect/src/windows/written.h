/* SPDX-License-Identifier: MIT */
/* written.h: a value as its document writes it: with the unit that stands there.
 *
 * Owner of the world; reads a file. */
#ifndef WEFT_INSPECT_WRITTEN_H
#define WEFT_INSPECT_WRITTEN_H

#include <weft/live.h>
#include <weft/type.h>

/* The number, or the numbers of an array, at `path` of `value` as JSON in the unit that the
 * document has at `field` ("Spin.tilt") of `object`, to be freed: "\"90 deg\"". NULL: the document
 * has no unit there, or numbers in it would not be the same. */
char *weft__written_text(weft_live *live, const char *object, const char *field,
                         const weft_type *type, const weft_path *path, const void *value);

#endif
