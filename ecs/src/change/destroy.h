/* destroy.h: death of rows and of entities.
 *
 * Entities with cleanup components become residues instead; members of linked groups die with their
 * root. Owner, world idle. */
#ifndef WEFT_DESTROY_H
#define WEFT_DESTROY_H

#include "structure.h"

/* Rows end for good, cleanup components or not: ids, destructors, holes. Cannot fail. */
weft_result weft__rows_die(weft_world *world, weft__chunk *chunk, const uint32_t *rows,
                           uint32_t first, uint32_t count);
/* Alive ones among the entities, with their linked groups. All or none. */
weft_result weft__destroy_all(weft_world *world, const weft_entity *entities, uint32_t count);

#endif
