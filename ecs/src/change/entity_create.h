/* entity_create.h: creation of entities in a tuple.
 *
 * All or none: room is reserved before anything is written. Owner, world idle. */
#ifndef WEFT_ENTITY_CREATE_H
#define WEFT_ENTITY_CREATE_H

#include "structure.h"

/* Entities of a new tuple, zeroed and constructed, placed; `out` may be NULL. */
weft_result weft__rows_create(weft_world *world, weft__tuple *tuple, uint32_t count,
                              weft_entity *out);

#endif
