/* SPDX-License-Identifier: MIT */
/* log_engine.h: what libweft-shard does with the state log of a world: rows go by a key that is the
 * same on all ranks, and what the ranks write adds up. */
#pragma once

#include <weft/state_log.h>

/* How rows are named. A value. */
typedef struct weft__log_keys {
    weft_component gid; /* plain, 8 bytes; id 0: rows go by handle. Rows without are not logged */
    weft_component sector; /* SHARED, 4 bytes: 1 more than a number */
    uint64_t (*gid_of)(const void *user, weft_entity entity); /* of what references lead to */
    /* Which half of a system it is, 0 or 1, by its user pointer; -1: none. Which rows a half has
     * depends on ranks, so only what is behind the second one is logged. */
    int (*half_of)(const void *user, const void *user_of_system);
    const void *user;
} weft__log_keys;

/* Behind weft_state_log_begin: sums are of what is in rows with a key, whatever chunks they are in;
 * commands have none. With the rows that WEFT_STATE_LOG_ROWS asks for. Owner, between steps. */
WEFT__DOOR void weft__state_log_go_by(weft_world *world, const weft__log_keys *keys);
