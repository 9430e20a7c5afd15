/* SPDX-License-Identifier: MIT */
/* lj_lists.h: neighbour lists of the atoms of a sector, and the places they point to.
 *
 * A list holds for `every` steps: pairs nearer than the cut-off and a skin when it is made (Verlet
 * 1967). It is made from anchors, the positions at the last such step, which are components: so it
 * can be made again at any time, on any rank, and is the same.
 */
#ifndef WEFT_SHARDS_LJ_LISTS_H
#define WEFT_SHARDS_LJ_LISTS_H

#include <weft/shard.h>

#include "lj_force.h"

/* A position or a velocity: the components of atoms. */
typedef struct lj_vector {
    double at[3];
} lj_vector;

/* Where a place comes from: a row of a sector near this one. */
typedef struct lj_origin {
    uint32_t near, row; /* near: the place among those of weft_shard_near */
} lj_origin;

/* Lists of one sector. Owner: the model; made by the thread that has the sector in a loop of
 * jobs, read by systems. Places [0, own) are the sector's own rows. */
typedef struct lj_list {
    uint64_t made; /* 1 + the tick of the anchors it was made of; 0: never */
    uint32_t own, count, capacity;
    lj_origin *origins; /* [count] */
    uint32_t *begin;    /* [own + 1] */
    uint16_t *neighbours;
    uint32_t own_capacity, neighbour_capacity;
    double shift[WEFT_SHARD_NEAR_LIMIT][3]; /* of each near sector, across periodic borders */
} lj_list;

/* What lists are made with. Constant while they are made. */
typedef struct lj_space {
    const weft_shard *shard;
    uint32_t cells;          /* sectors along each axis, at least 3 */
    double side, cut;        /* of the periodic box; cut: with the skin */
    const lj_forces *forces; /* how */
} lj_space;

/* Room for the places of one sector. Owner: one worker. */
typedef struct lj_room {
    lj_place *places;
    uint32_t capacity;
} lj_room;

/* Makes the list of a sector that is here. Halo component `anchors` is where the anchors are.
 * WEFT_OUT_OF_MEMORY, or WEFT_LIMIT: more than 65,534 places. */
weft_result lj_list_make(const lj_space *space, uint32_t sector, uint32_t anchors, uint64_t made,
                         lj_room *room, lj_list *list);
void lj_list_fini(lj_list *list);

/* Brings the places of a list into room->places: halo component `positions` of their rows, and
 * behind them one that is near nothing. */
weft_result lj_list_place(const lj_space *space, uint32_t sector, uint32_t positions,
                          const lj_list *list, lj_room *room);
void lj_room_fini(lj_room *room);

#endif
