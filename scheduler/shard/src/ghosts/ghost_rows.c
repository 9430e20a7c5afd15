/* SPDX-License-Identifier: MIT */
/* ghost_rows.c: one pass counts ghosts that there must be and that there are, by sector and
 * components; the next one writes values, chunk by chunk, in the order of packs. Nothing is kept
 * between calls. */
#include "ghost_rows.h"

#include <stdlib.h>

#include "ranks_error.h"

/* The ghosts of a sector that have the same components. */
typedef struct ghost_kind {
    uint32_t sector, present;
    uint32_t need, have;
    uint32_t filled; /* place in the pack up to which rows were given */
    uint32_t next;   /* kind of the same sector; NONE: none */
} ghost_kind;

#define NONE UINT32_MAX

/* Memory of one call. */
typedef struct apply_pass {
    weft_shard *shard;
    uint32_t *first; /* [sector]: its first kind; NONE */
    ghost_kind *kinds;
    uint64_t kind_capacity;
    uint32_t kind_count;
    weft_entity *list; /* to be destroyed, then created */
    uint64_t list_capacity;
    uint32_t list_count;
} apply_pass;

static bool is_changed(const weft_shard *shard, uint32_t sector)
{
    return shard->packs[sector].rows_changed || shard->packs[sector].changed != 0;
}

/* NULL: memory is refused. */
static ghost_kind *kind_of(apply_pass *pass, uint32_t sector, uint32_t present)
{
    for (uint32_t k = pass->first[sector]; k != NONE; k = pass->kinds[k].next)
        if (pass->kinds[k].present == present) return &pass->kinds[k];
    if (!weft__array_grow(&pass->kinds, &pass->kind_capacity, pass->kind_count + UINT64_C(1),
                          sizeof *pass->kinds))
        return NULL;
    ghost_kind *kind = &pass->kinds[pass->kind_count];
    *kind = (ghost_kind){.sector = sector, .present = present, .next = pass->first[sector]};
    pass->first[sector] = pass->kind_count++;
    return kind;
}

static uint32_t slice_sector(const weft_slice *slice)
{
    uint32_t stored;
    memcpy(&stored, weft_slice_read_shared(slice, 1), sizeof stored);
    return stored - 1;
}

static uint32_t slice_present(const weft_shard *shard, const weft_slice *slice)
{
    uint32_t present = 0;
    for (uint32_t i = 0; i < shard->halo_count; i++)
        if (slice->columns[i + 2] != NULL) present |= UINT32_C(1) << i;
    return present;
}

/* ---- how many there must be ---- */

static bool count_need(apply_pass *pass)
{
    const weft_shard *shard = pass->shard;
    for (uint32_t sector = 0; sector < shard->map.count; sector++) {
        const weft__pack *pack = &shard->packs[sector];
        if (weft__sector_is_mine(shard, sector) || !pack->rows_changed) continue;
        ghost_kind *kind = NULL;
        for (uint32_t i = 0; i < pack->count; i++) {
            if (kind == NULL || kind->present != pack->present[i])
                kind = kind_of(pass, sector, pack->present[i]);
            if (kind == NULL) return false;
            kind->need++;
        }
    }
    return true;
}

/* Counts those that there are and lists those that are too many. */
static bool count_have(apply_pass *pass)
{
    const weft_shard *shard = pass->shard;
    weft_cursor cursor;
    bool is_done = weft__shard_loop_begin(shard, shard->ghost_query, &cursor);
    while (is_done && weft_query_next(&cursor)) {
        const uint32_t sector = slice_sector(&cursor.slice), count = cursor.slice.count;
        const bool is_mine = weft__sector_is_mine(shard, sector); /* it moved here */
        if (!is_mine && !shard->packs[sector].rows_changed) continue;
        ghost_kind *kind = kind_of(pass, sector, slice_present(shard, &cursor.slice));
        is_done = kind != NULL;
        if (!is_done) break;
        kind->have += count;
        if (kind->have <= kind->need) continue;
        const uint32_t surplus = kind->have - kind->need < count ? kind->have - kind->need : count;
        is_done = weft__array_grow(&pass->list, &pass->list_capacity,
                                   pass->list_count + (uint64_t)surplus, sizeof *pass->list);
        if (!is_done) break;
        memcpy(pass->list + pass->list_count, weft_slice_entities(&cursor.slice) + count - surplus,
               surplus * sizeof *pass->list);
        pass->list_count += surplus;
        kind->have -= surplus;
    }
    weft_query_end(&cursor);
    return is_done;
}

static weft_archetype ghost_archetype(const weft_shard *shard, uint32_t present)
{
    weft_component list[WEFT_SHARD_HALO_LIMIT + 3] = {shard->ghost, shard->sector,
                                                      weft_component_inactive(shard->world)};
    uint32_t count = 3;
    for (uint32_t i = 0; i < shard->halo_count; i++)
        if ((present >> i & 1) != 0) list[count++] = shard->halo[i];
    return weft_archetype_create(shard->world, list, count);
}

static weft_result add_ghosts(apply_pass *pass, const ghost_kind *kind)
{
    const weft_shard *shard = pass->shard;
    const uint32_t count = kind->need - kind->have, stored = weft__sector_stored(kind->sector);
    if (!weft__array_grow(&pass->list, &pass->list_capacity, count, sizeof *pass->list))
        return weft__ranks_no_memory();
    const weft_values sector = {shard->sector, &stored};
    const weft_result result = weft_entity_create_filled(
        shard->world, ghost_archetype(shard, kind->present), &sector, 1, count, pass->list);
    if (result != WEFT_OK)
        return weft__ranks_fail(result, "ghosts cannot be created: %s",
                                weft_world_error(shard->world)->text);
    return WEFT_OK;
}

/* As many entities of each kind as there are rows. */
static weft_result match_counts(apply_pass *pass)
{
    if (!count_need(pass) || !count_have(pass)) return weft__ranks_no_memory();
    if (pass->list_count != 0) {
        weft_result result =
            weft_entity_destroy_many(pass->shard->world, pass->list, pass->list_count);
        if (result != WEFT_OK) return weft__ranks_fail(result, "ghosts cannot be destroyed");
    }
    for (uint32_t i = 0; i < pass->kind_count; i++) {
        if (pass->kinds[i].need <= pass->kinds[i].have) continue;
        weft_result result = add_ghosts(pass, &pass->kinds[i]);
        if (result != WEFT_OK) return result;
    }
    return WEFT_OK;
}

/* ---- values ---- */

/* Gives rows [from, from + count) of a pack to rows of a slice. */
static void fill_rows(const weft_shard *shard, const weft_slice *slice, uint32_t row,
                      const weft__pack *pack, uint32_t from, uint32_t count)
{
    if (pack->rows_changed) {
        uint64_t *gids = weft_slice_write(slice, 0);
        memcpy(gids + row, pack->gids + from, count * sizeof *gids);
    }
    memcpy(pack->entities + from, weft_slice_entities(slice) + row, count * sizeof(weft_entity));
    for (uint32_t i = 0; i < shard->halo_count; i++) {
        if ((pack->changed >> i & 1) == 0 || slice->columns[i + 2] == NULL) continue;
        const size_t bytes = shard->halo_bytes[i];
        unsigned char *column = weft_slice_write(slice, i + 2);
        memcpy(column + row * bytes, pack->columns[i] + from * bytes, count * bytes);
    }
}

static bool fill_ghosts(apply_pass *pass)
{
    const weft_shard *shard = pass->shard;
    weft_cursor cursor;
    bool is_done = weft__shard_loop_begin(shard, shard->ghost_query, &cursor);
    while (is_done && weft_query_next(&cursor)) {
        const uint32_t sector = slice_sector(&cursor.slice);
        if (!is_changed(shard, sector)) continue;
        const weft__pack *pack = &shard->packs[sector];
        ghost_kind *kind = kind_of(pass, sector, slice_present(shard, &cursor.slice));
        is_done = kind != NULL;
        for (uint32_t row = 0; is_done && row < cursor.slice.count;) {
            uint32_t from = kind->filled, end;
            while (from < pack->count && pack->present[from] != kind->present) from++;
            const uint32_t left = cursor.slice.count - row;
            for (end = from; end < pack->count && end - from < left;) {
                if (pack->present[end] != kind->present) break;
                end++;
            }
            if (end == from) break; /* never: there are as many ghosts as rows */
            fill_rows(shard, &cursor.slice, row, pack, from, end - from);
            kind->filled = end;
            row += end - from;
        }
    }
    weft_query_end(&cursor);
    return is_done;
}

static weft_result apply(apply_pass *pass)
{
    weft_shard *shard = pass->shard;
    bool has_values = false, has_rows = false;
    for (uint32_t sector = 0; sector < shard->map.count; sector++) {
        if (weft__sector_is_mine(shard, sector)) continue;
        has_values |= is_changed(shard, sector);
        has_rows |= shard->packs[sector].rows_changed;
    }
    if (!has_values) return WEFT_OK;
    pass->first = malloc(shard->map.count * sizeof *pass->first);
    if (pass->first == NULL) return weft__ranks_no_memory();
    memset(pass->first, 0xFF, shard->map.count * sizeof *pass->first);
    weft_result result = has_rows ? match_counts(pass) : WEFT_OK;
    if (result == WEFT_OK && !fill_ghosts(pass)) result = weft__ranks_no_memory();
    for (uint32_t sector = 0; sector < shard->map.count && result == WEFT_OK; sector++) {
        if (weft__sector_is_mine(shard, sector)) continue;
        shard->packs[sector].changed = 0;
        shard->packs[sector].rows_changed = false;
    }
    return result;
}

weft_result weft__ghost_rows_apply(weft_shard *shard)
{
    apply_pass pass = {.shard = shard};
    weft_result result = apply(&pass);
    free(pass.first);
    free(pass.kinds);
    free(pass.list);
    return result;
}
