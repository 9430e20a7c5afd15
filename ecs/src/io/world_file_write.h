/* SPDX-License-Identifier: MIT */
/* world_file_write.h: a world becomes the bytes of a file.
 *
 * Owner, world idle. */
#ifndef WEFT_WORLD_FILE_WRITE_H
#define WEFT_WORLD_FILE_WRITE_H

#include "world_file_format.h"

/* NULL, or why values of the type can be neither written nor read. */
const char *weft__type_save_problem(const weft__type *type);
/* What joins it to "leave it out": another thing that can be done, or nothing. */
static inline const char *weft__save_advice(const weft__type *type)
{
    return type->desc.shared_release != NULL ? ":" : ", or";
}
/* The whole file in memory. `out` belongs to the caller: weft_world_bytes_free. Error set. */
weft_result weft__world_write(weft_world *world, const weft_save_desc *desc, weft_world_bytes *out);

#endif
