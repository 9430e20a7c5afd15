/* SPDX-License-Identifier: MIT */
/* name_table.h: the names of entities, for look-ups both ways and for error texts.
 *
 * A name belongs to a handle: it is found while the entity lives, and error texts may say it until
 * the table grows. Several entities may have the same name. Threads: owner. */
#pragma once

#include "world_state.h"

#define WEFT__NAME_BYTES 64 /* of a debug name, with its NUL */

/* A name as it is kept; lives on the stack. Equal texts have equal hashes. */
typedef struct weft__name_key {
    char text[WEFT__NAME_BYTES];
    uint32_t hash;
} weft__name_key;

/* A copy, cut to what is kept. NULL is "". */
weft__name_key weft__name_key_of(const char *name);
/* Gives an entity that is alive a name; "" takes it away. OUT_OF_MEMORY (no text). */
weft_result weft__name_set(weft_world *world, weft_entity entity, const weft__name_key *key);
/* The living entity of lowest index with the name, but for one; null: none has it. */
weft_entity weft__name_find(const weft_world *world, const weft__name_key *key, weft_entity but);
/* The name that a handle had last; "": none is known. */
const char *weft__name_last(const weft_world *world, weft_entity entity);
/* After it, `names` entities can be named without failing, with `texts` names not used yet.
 * OUT_OF_MEMORY (no text). */
weft_result weft__names_reserve(weft_world *world, uint32_t names, uint32_t texts);
/* Living entities whose name contains `part`, ASCII letters of either case: as weft_entity_search.
 */
uint32_t weft__name_search(const weft_world *world, const char *part, weft_entity *out,
                           uint32_t capacity);
/* ---- for snapshots ---- */

/* The names that entities had at one time. Constant; shared by the table and all snapshots between
 * which no name was set. */
typedef struct weft__names_kept weft__names_kept;
/* *out: the names of the living entities now, held; NULL: none has one. False: no memory. Cost:
 * O(names) when one was set since the last time. */
bool weft__names_keep(weft_world *world, weft__names_kept **out);
/* Lets go. NULL is fine. */
void weft__names_let_go(weft_world *world, weft__names_kept *kept);
/* After it weft__names_put cannot fail. OUT_OF_MEMORY (no text). */
weft_result weft__names_put_reserve(weft_world *world, const weft__names_kept *kept);
/* Entities have these names, and no others (NULL: none). Cost: O(names), 1 when they have. */
void weft__names_put(weft_world *world, weft__names_kept *kept);

/* How many different names there are. */
uint32_t weft__names_texts(const weft_world *world);
void weft__names_fini(weft_world *world);
