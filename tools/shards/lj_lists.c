/* SPDX-License-Identifier: MIT */
/* lj_lists.c: the places near a sector are those near the box around its atoms; then each atom is
 * compared with all of them. With a few hundred atoms a sector that takes less time than cells
 * within sectors would. The order of places is that of sector numbers and gids, so it does not
 * depend on ranks.
 */
#include "lj_lists.h"

#include <stdlib.h>

enum { places_max = 65535 }; /* the last one is near nothing */

static const double nowhere = 1e10;

void lj_list_fini(lj_list *list)
{
    free(list->origins);
    free(list->begin);
    free(list->neighbours);
    *list = (lj_list){.made = 0};
}

void lj_room_fini(lj_room *room)
{
    free(room->places);
    *room = (lj_room){.places = NULL};
}

static weft_result reserve_places(lj_room *room, uint32_t count)
{
    if (count <= room->capacity) return WEFT_OK;
    free(room->places);
    room->capacity = 2 * count;
    room->places = aligned_alloc(_Alignof(lj_place), room->capacity * sizeof *room->places);
    if (room->places) return WEFT_OK;
    room->capacity = 0;
    return WEFT_OUT_OF_MEMORY;
}

static weft_result grow(void **items, uint32_t *capacity, uint32_t count, size_t size)
{
    if (count <= *capacity) return WEFT_OK;
    void *grown = realloc(*items, 2 * (size_t)count * size);
    if (!grown) return WEFT_OUT_OF_MEMORY;
    *items = grown;
    *capacity = 2 * count;
    return WEFT_OK;
}

/* ---- places ---- */

/* The image of a near sector that lies beside this one. */
static void find_shift(const lj_space *space, uint32_t sector, uint32_t near, double shift[3])
{
    for (int axis = 0; axis < 3; axis++) {
        const int64_t from = sector % space->cells, to = near % space->cells;
        shift[axis] = to - from > 1 ? -space->side : from - to > 1 ? space->side : 0.0;
        sector /= space->cells;
        near /= space->cells;
    }
}

/* The box around positions, wider by `by` on each side. */
static void find_box(const lj_vector *at, uint32_t count, double by, double box[2][3])
{
    for (int axis = 0; axis < 3; axis++) {
        box[0][axis] = box[1][axis] = at[0].at[axis];
        for (uint32_t i = 1; i < count; i++) {
            box[0][axis] = at[i].at[axis] < box[0][axis] ? at[i].at[axis] : box[0][axis];
            box[1][axis] = at[i].at[axis] > box[1][axis] ? at[i].at[axis] : box[1][axis];
        }
        box[0][axis] -= by;
        box[1][axis] += by;
    }
}

static bool is_within(const double at[3], const double shift[3], double box[2][3])
{
    bool is_in = true;
    for (int axis = 0; axis < 3; axis++) {
        const double x = at[axis] + shift[axis];
        is_in = is_in && x >= box[0][axis] && x <= box[1][axis];
    }
    return is_in;
}

static weft_result add_origin(lj_list *list, uint32_t near, uint32_t row)
{
    if (list->count == places_max) return WEFT_LIMIT;
    const weft_result result =
        grow((void **)&list->origins, &list->capacity, list->count + 1, sizeof *list->origins);
    if (result == WEFT_OK) list->origins[list->count++] = (lj_origin){near, row};
    return result;
}

static weft_result add_origins(const weft_shard_rows *rows, uint32_t anchors, uint32_t near,
                               double box[2][3], lj_list *list)
{
    const lj_vector *at = rows->columns[anchors];
    for (uint32_t i = 0; i < rows->count; i++) {
        if (!is_within(at[i].at, list->shift[near], box)) continue;
        const weft_result result = add_origin(list, near, i);
        if (result != WEFT_OK) return result;
    }
    return WEFT_OK;
}

/* The sector's own rows first, then those of the others by number. */
static weft_result find_places(const lj_space *space, uint32_t sector, uint32_t anchors,
                               lj_list *list)
{
    const uint32_t *near;
    const uint32_t count = weft_shard_near(space->shard, sector, &near);
    double box[2][3];
    weft_shard_rows rows;
    weft_shard_rows_get(space->shard, sector, &rows);
    list->own = rows.count;
    if (rows.count == 0) return WEFT_OK;
    find_box(rows.columns[anchors], rows.count, space->cut, box);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t k = 0; k < count; k++) {
            if ((near[k] == sector) != (pass == 0)) continue;
            if (!weft_shard_rows_get(space->shard, near[k], &rows)) return WEFT_NOT_FOUND;
            find_shift(space, sector, near[k], list->shift[k]);
            const weft_result result = add_origins(&rows, anchors, k, box, list);
            if (result != WEFT_OK) return result;
        }
    }
    return WEFT_OK;
}

weft_result lj_list_place(const lj_space *space, uint32_t sector, uint32_t positions,
                          const lj_list *list, lj_room *room)
{
    const uint32_t *near;
    const uint32_t near_count = weft_shard_near(space->shard, sector, &near);
    weft_result result = reserve_places(room, list->count + 1);
    if (result != WEFT_OK) return result;
    const lj_vector *columns[WEFT_SHARD_NEAR_LIMIT];
    for (uint32_t k = 0; k < near_count; k++) {
        weft_shard_rows rows;
        weft_shard_rows_get(space->shard, near[k], &rows);
        columns[k] = rows.columns[positions];
    }
    for (uint32_t i = 0; i < list->count; i++) {
        const lj_origin from = list->origins[i];
        const double *at = columns[from.near][from.row].at, *shift = list->shift[from.near];
        room->places[i] = (lj_place){{at[0] + shift[0], at[1] + shift[1], at[2] + shift[2], 0.0}};
    }
    room->places[list->count] = (lj_place){{nowhere, nowhere, nowhere, 0.0}};
    return WEFT_OK;
}

/* Fills the last vector of a list up with the place that is near nothing. */
static uint32_t pad(uint16_t *neighbours, uint32_t count, uint32_t nothing)
{
    while (count % LJ_LANES != 0) neighbours[count++] = (uint16_t)nothing;
    return count;
}

weft_result lj_list_make(const lj_space *space, uint32_t sector, uint32_t anchors, uint64_t made,
                         lj_room *room, lj_list *list)
{
    list->made = 0;
    list->count = 0;
    weft_result result = find_places(space, sector, anchors, list);
    if (result == WEFT_OK) result = lj_list_place(space, sector, anchors, list, room);
    if (result == WEFT_OK)
        result =
            grow((void **)&list->begin, &list->own_capacity, list->own + 1, sizeof *list->begin);
    if (result != WEFT_OK) return result;
    uint32_t end = 0;
    for (uint32_t i = 0; i < list->own; i++) {
        list->begin[i] = end;
        result = grow((void **)&list->neighbours, &list->neighbour_capacity,
                      end + list->count + LJ_LANES, sizeof *list->neighbours);
        if (result != WEFT_OK) return result;
        uint16_t *mine = list->neighbours + end;
        const uint32_t found = space->forces->find(room->places, list->count, room->places[i].at, i,
                                                   space->cut * space->cut, mine);
        end += pad(mine, found, list->count);
    }
    list->begin[list->own] = end;
    list->made = made;
    return WEFT_OK;
}
