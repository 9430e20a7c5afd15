/* SPDX-License-Identifier: MIT */
/* sector_map.c: see sector_map.h.
 *
 * Sectors are cut along the Morton curve (Morton 1966), so that a rank's sectors lie together; the
 * curve is cut where the prefix sums of the costs pass the shares of the ranks. */
#include "sector_map.h"
#include "messages.h"
#include "search.h"

#include <math.h>
#include <stdlib.h>
#include <weft/kernel.h>

/* ---- the sector of a key ---- */

/* What the cell along one axis depends on. A value, so that loops that write sectors need not read
 * it again. */
typedef struct grid_axis {
    double least, side, scale, last;
    bool is_periodic;
} grid_axis;

static grid_axis axis_of(const weft__sector_map *map, uint32_t axis)
{
    const weft_shard_grid *grid = &map->grid;
    return (grid_axis){grid->least[axis], grid->most[axis] - grid->least[axis], map->scale[axis],
                       (double)grid->cells[axis] - 1, grid->is_periodic[axis]};
}

/* No branch where the axis is not periodic, and a conversion that processors have for vectors. */
static inline uint32_t cell_along(grid_axis axis, double value)
{
    double offset = value - axis.least;
    if (axis.is_periodic && !(offset >= 0 && offset < axis.side))
        offset -= floor(offset / axis.side) * axis.side;
    offset *= axis.scale;
    offset = offset > 0 ? offset : 0; /* a NaN, too */
    return (uint32_t)(int32_t)(offset < axis.last ? offset : axis.last);
}

uint32_t weft__sector_at(const weft__sector_map *map, const void *key)
{
    uint32_t sector = 0;
    weft__sectors_at(map, key, 0, 1, &sector);
    return sector;
}

/* sectors[i] = sectors[i] * cells + the cell of coordinates[i]. */
WEFT_KERNEL static void add_cells(grid_axis axis, uint32_t cells, const double *coordinates,
                                  uint32_t count, uint32_t *restrict sectors)
{
    for (uint32_t i = 0; i < count; i++)
        sectors[i] = sectors[i] * cells + cell_along(axis, coordinates[i]);
}

void weft__sectors_at(const weft__sector_map *map, const unsigned char *keys, size_t bytes,
                      uint32_t count, uint32_t *out)
{
    double coordinates[WEFT__KEYS_AT_ONCE];
    memset(out, 0, count * sizeof *out);
    for (uint32_t i = 0; i < count && map->grid.dimensions == 0; i++) {
        const uint32_t sector = map->sector_of(keys + i * bytes, map->user);
        out[i] = sector < map->count ? sector : map->count; /* which is none */
    }
    for (uint32_t k = map->grid.dimensions; k-- > 0;) { /* axis by axis */
        const unsigned char *at = keys + map->grid.at[k];
        for (uint32_t i = 0; i < count; i++, at += bytes) {
            float narrow;
            if (map->grid.is_double) {
                memcpy(&coordinates[i], at, sizeof coordinates[i]);
            } else {
                memcpy(&narrow, at, sizeof narrow);
                coordinates[i] = (double)narrow;
            }
        }
        add_cells(axis_of(map, k), map->grid.cells[k], coordinates, count, out);
    }
}

/* ---- near sectors ---- */

/* Sorts, and leaves out what is there twice. */
static uint32_t sorted_once(uint32_t *list, uint32_t count)
{
    qsort(list, count, sizeof *list, weft__compare_u32);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || list[kept - 1] != list[i]) list[kept++] = list[i];
    return kept;
}

/* The cell `step` cells on along an axis; false beyond the box. */
static bool step_along(const weft_shard_grid *grid, uint32_t axis, uint32_t from, int step,
                       uint32_t *to)
{
    const int64_t cells = grid->cells[axis], at = (int64_t)from + step;
    if (!grid->is_periodic[axis] && (at < 0 || at >= cells)) return false;
    *to = (uint32_t)(((at % cells) + cells) % cells);
    return true;
}

/* How many cells the reach covers along an axis. */
static int cells_reached(const weft__sector_map *map, uint32_t axis)
{
    if (axis >= map->grid.dimensions) return 0;
    const double cells = map->grid.reach * map->scale[axis];
    const int most = (int)map->grid.cells[axis];
    if (cells <= 1) return 1;
    return cells >= most ? most : (int)ceil(cells);
}

/* Up to `capacity`; returns how many there would be, with repetitions along short periodic axes. */
static uint32_t near_cells(const weft__sector_map *map, uint32_t sector, uint32_t *out,
                           uint32_t capacity)
{
    const weft_shard_grid *grid = &map->grid;
    const uint32_t at[3] = {sector % grid->cells[0], sector / grid->cells[0] % grid->cells[1],
                            sector / grid->cells[0] / grid->cells[1]};
    const int reach[3] = {cells_reached(map, 0), cells_reached(map, 1), cells_reached(map, 2)};
    uint32_t count = 0, to[3];
    for (int z = -reach[2]; z <= reach[2]; z++) {
        if (!step_along(grid, 2, at[2], z, &to[2])) continue;
        for (int y = -reach[1]; y <= reach[1]; y++) {
            if (!step_along(grid, 1, at[1], y, &to[1])) continue;
            for (int x = -reach[0]; x <= reach[0]; x++) {
                if (!step_along(grid, 0, at[0], x, &to[0])) continue;
                if (count < capacity)
                    out[count] = (to[2] * grid->cells[1] + to[1]) * grid->cells[0] + to[0];
                count++;
            }
        }
    }
    return count;
}

/* The list of the callback; *count: with the sector itself. */
static weft_result ask_near(const weft__sector_map *map, const weft_shard_desc *desc,
                            uint32_t sector, uint32_t *list, uint32_t *count)
{
    const uint32_t most = WEFT_SHARD_NEAR_LIMIT - 1;
    const uint32_t told = desc->neighbours(sector, list, most, desc->user);
    if (told > most)
        return weft__ranks_fail(WEFT_LIMIT,
                                "neighbours(%u) returned %u, of %u places: a sector has at most %u "
                                "neighbours beside itself; make sectors larger",
                                sector, told, most, most);
    for (uint32_t i = 0; i < told; i++)
        if (list[i] >= map->count)
            return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                    "neighbours(%u) has sector %u, of %u sectors", sector, list[i],
                                    map->count);
    list[told] = sector;
    *count = told + 1;
    return WEFT_OK;
}

static bool has_near(const weft__sector_map *map, uint32_t sector, uint32_t other)
{
    const uint32_t begin = map->near_begin[sector];
    return bsearch(&other, map->near + begin, map->near_begin[sector + 1] - begin,
                   sizeof *map->near, weft__compare_u32) != NULL;
}

/* A rank sends the sectors that others see by its own map: one that sees and is not seen would
 * wait. */
static weft_result check_symmetry(const weft__sector_map *map)
{
    for (uint32_t sector = 0; sector < map->count; sector++)
        for (uint32_t k = map->near_begin[sector]; k < map->near_begin[sector + 1]; k++)
            if (!has_near(map, map->near[k], sector))
                return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                        "neighbours(%u) has sector %u, but neighbours(%u) lacks "
                                        "sector %u: they must be symmetric",
                                        sector, map->near[k], map->near[k], sector);
    return WEFT_OK;
}

static weft_result find_near(weft__sector_map *map, const weft_shard_desc *desc)
{
    enum { ROOM = 4096 }; /* with repetitions; more is far beyond WEFT_SHARD_NEAR_LIMIT */
    uint32_t list[ROOM];
    uint64_t capacity = 0;
    for (uint32_t sector = 0; sector < map->count; sector++) {
        uint32_t count = 0;
        if (map->grid.dimensions != 0) {
            count = near_cells(map, sector, list, ROOM);
        } else {
            const weft_result result = ask_near(map, desc, sector, list, &count);
            if (result != WEFT_OK) return result;
        }
        if (count <= ROOM) count = sorted_once(list, count);
        if (count > WEFT_SHARD_NEAR_LIMIT)
            return weft__ranks_fail(WEFT_LIMIT,
                                    "%u sectors are near sector %u, at most %u: make sectors "
                                    "larger, or the reach smaller",
                                    count, sector, WEFT_SHARD_NEAR_LIMIT);
        const uint64_t begin = map->near_begin[sector];
        if (!weft__array_grow(&map->near, &capacity, begin + count, sizeof *map->near))
            return weft__ranks_no_memory();
        memcpy(map->near + begin, list, count * sizeof *list);
        map->near_begin[sector + 1] = (uint32_t)(begin + count);
    }
    return map->grid.dimensions != 0 ? WEFT_OK : check_symmetry(map);
}

/* ---- order and cut ---- */

static uint64_t spread(uint32_t number)
{
    uint64_t word = 0;
    for (uint32_t bit = 0; bit < 21; bit++) word |= (uint64_t)(number >> bit & 1) << (3 * bit);
    return word;
}

/* A sector on the curve. A value. */
typedef struct curve_place {
    uint64_t code;
    uint32_t sector;
} curve_place;

static int by_code(const void *a, const void *b)
{
    const curve_place *left = a, *right = b;
    if (left->code != right->code) return left->code < right->code ? -1 : 1;
    return weft__compare_u32(&left->sector, &right->sector);
}

static bool find_order(weft__sector_map *map)
{
    curve_place *places = malloc(map->count * sizeof *places);
    if (places == NULL) return false;
    const uint32_t *cells = map->grid.cells;
    for (uint32_t i = 0; i < map->count; i++) {
        places[i] = (curve_place){i, i};
        if (map->grid.dimensions != 0)
            places[i].code = spread(i % cells[0]) | spread(i / cells[0] % cells[1]) << 1 |
                             spread(i / cells[0] / cells[1]) << 2;
    }
    qsort(places, map->count, sizeof *places, by_code);
    for (uint32_t i = 0; i < map->count; i++) map->order[i] = places[i].sector;
    free(places);
    return true;
}

void weft__sector_cut(const weft__sector_map *map, const uint64_t *costs, uint32_t *rank_of)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t total = 0, before = 0;
    for (uint32_t i = 0; i < map->count; i++) total += costs[i];
    for (uint32_t i = 0; i < map->count; i++) {
        const uint32_t sector = map->order[i];
        /* the share in which the middle of the sector's cost lies */
        const wide place = total == 0 ? (wide)i * 2 + 1 : (wide)before * 2 + costs[sector];
        const wide whole = total == 0 ? (wide)map->count * 2 : (wide)total * 2;
        uint32_t rank = (uint32_t)(place * map->ranks / whole);
        rank_of[sector] = rank < map->ranks ? rank : map->ranks - 1;
        before += costs[sector];
    }
}

void weft__sector_map_set(weft__sector_map *map, const uint32_t *rank_of)
{
    for (uint32_t i = 0; i < map->count; i++) map->rank_of[i] = rank_of[i];
    memset(map->visibility, 0, map->count);
    for (uint32_t i = 0; i < map->count; i++) {
        if (map->rank_of[i] != map->rank) continue;
        map->visibility[i] |= WEFT__SECTOR_MINE;
        for (uint32_t k = map->near_begin[i]; k < map->near_begin[i + 1]; k++) {
            if (map->rank_of[map->near[k]] == map->rank) continue;
            map->visibility[i] |= WEFT__SECTOR_BORDER;
            map->visibility[map->near[k]] |= WEFT__SECTOR_GHOST;
        }
    }
}

double weft__sector_imbalance(const weft__sector_map *map, const uint64_t *costs,
                              const uint32_t *rank_of)
{
    double total = 0, largest = 0;
    for (uint32_t rank = 0; rank < map->ranks; rank++) {
        double cost = 0;
        for (uint32_t i = 0; i < map->count; i++)
            if (rank_of[i] == rank) cost += (double)costs[i];
        if (cost > largest) largest = cost;
        total += cost;
    }
    return total > 0 ? largest * map->ranks / total : 1;
}

/* ---- create and free ---- */

static weft_result check_grid(const weft_shard_grid *grid, uint64_t *count)
{
    if (grid->dimensions < 2 || grid->dimensions > 3)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "grid.dimensions is %u: give 2 or 3",
                                grid->dimensions);
    *count = 1;
    for (uint32_t axis = 0; axis < grid->dimensions; axis++) {
        const double side = grid->most[axis] - grid->least[axis];
        if (!(side > 0) || !isfinite(side))
            return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                    "grid: least[%u] must be less than most[%u]", axis, axis);
        if (grid->cells[axis] == 0 || grid->cells[axis] > WEFT_SHARD_SECTOR_LIMIT)
            return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "grid.cells[%u] is %u: give 1 to %u",
                                    axis, grid->cells[axis], WEFT_SHARD_SECTOR_LIMIT);
        *count *= grid->cells[axis];
        if (*count > WEFT_SHARD_SECTOR_LIMIT) return WEFT_OK; /* the caller refuses it */
    }
    if (!(grid->reach >= 0) || !isfinite(grid->reach))
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "grid.reach must be finite, 0 or more");
    return WEFT_OK;
}

static weft_result take_desc(weft__sector_map *map, const weft_shard_desc *desc)
{
    uint64_t count = desc->sector_count;
    weft_result result = WEFT_OK;
    map->grid = desc->grid;
    map->sector_of = desc->sector_of;
    map->user = desc->user;
    if (desc->grid.dimensions != 0)
        result = check_grid(&desc->grid, &count);
    else if (desc->sector_of == NULL || desc->neighbours == NULL || count == 0)
        result = weft__ranks_fail(WEFT_INVALID_ARGUMENT, "the description has no sectors: give a "
                                                         "grid, or sector_count, sector_of and "
                                                         "neighbours");
    if (result != WEFT_OK) return result;
    if (count > WEFT_SHARD_SECTOR_LIMIT)
        return weft__ranks_fail(WEFT_LIMIT, "more than %u sectors: make them larger",
                                WEFT_SHARD_SECTOR_LIMIT);
    map->count = (uint32_t)count;
    if (map->grid.dimensions == 2) map->grid.cells[2] = 1;
    const uint32_t bytes = map->grid.is_double ? 8 : 4, *at = map->grid.at;
    if (at[0] == 0 && at[1] == 0 && at[2] == 0)
        for (uint32_t axis = 0; axis < 3; axis++) map->grid.at[axis] = axis * bytes;
    for (uint32_t axis = 0; axis < map->grid.dimensions; axis++)
        map->scale[axis] = map->grid.cells[axis] / (map->grid.most[axis] - map->grid.least[axis]);
    return WEFT_OK;
}

weft_result weft__sector_map_init(weft__sector_map *map, const weft_shard_desc *desc)
{
    map->ranks = weft__transport_count();
    map->rank = weft__transport_rank();
    weft_result result = take_desc(map, desc);
    if (result != WEFT_OK) return result;
    map->near_begin = calloc(map->count + UINT64_C(1), sizeof *map->near_begin);
    map->order = calloc(map->count, sizeof *map->order);
    map->rank_of = calloc(map->count, sizeof *map->rank_of);
    map->visibility = calloc(map->count, sizeof *map->visibility);
    uint64_t *costs = calloc(map->count, sizeof *costs);
    const bool has_memory = map->near_begin != NULL && map->order != NULL && map->rank_of != NULL &&
                            map->visibility != NULL && costs != NULL && find_order(map);
    result = has_memory ? find_near(map, desc) : weft__ranks_no_memory();
    if (result == WEFT_OK) {
        weft__sector_cut(map, costs, map->rank_of);
        weft__sector_map_set(map, map->rank_of);
    }
    free(costs);
    return result;
}

void weft__sector_map_free(weft__sector_map *map)
{
    free(map->near_begin);
    free(map->near);
    free(map->order);
    free(map->rank_of);
    free(map->visibility);
    *map = (weft__sector_map){0};
}
