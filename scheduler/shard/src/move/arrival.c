/* SPDX-License-Identifier: MIT */
/* arrival.c: see arrival.h.
 *
 * First all rows get entities and plain values; then, when every gid can be found, the values with
 * references, buffers, shared values, enable bits and the sector. */
#include "arrival.h"

#include <stdlib.h>

#include "gid_sort.h"
#include "gid_table.h"
#include "ranks_error.h"
#include "stub.h"

/* Where a row is in the blocks. */
typedef struct row_source {
    const weft__block *block;
    uint32_t row;
} row_source;

/* Rows of one archetype, by gid. Owner: the placing. */
typedef struct arrival_group {
    weft_archetype archetype;
    const weft__block *first; /* has its components */
    uint32_t count;
    row_source *sources; /* [count] */
    weft_entity *entities;
    uint64_t *gids;
    bool has_stubs; /* some entities were there */
} arrival_group;

/* Memory of one call. */
typedef struct placing {
    weft_shard *shard;
    const weft__block *blocks;
    uint32_t block_count;
    weft_archetype *archetypes; /* [block] */
    arrival_group *groups;
    uint32_t group_count;
} placing;

static weft_result failed(const placing *p, weft_result result)
{
    return weft__ranks_fail(result, "rows cannot be put into the world: %s",
                            weft_world_error(p->shard->world)->text);
}

/* ---- groups ---- */

static weft_result find_archetypes(placing *p)
{
    for (uint32_t i = 0; i < p->block_count; i++) {
        weft_component list[WEFT__ROW_COMPONENTS + 2] = {p->shard->gid, p->shard->sector};
        const weft__block *block = &p->blocks[i];
        for (uint32_t k = 0; k < block->column_count; k++)
            list[k + 2] = block->columns[k].type.component;
        p->archetypes[i] = weft_archetype_create(p->shard->world, list, block->column_count + 2);
        if (p->archetypes[i].id == 0) return failed(p, WEFT_OUT_OF_MEMORY);
    }
    return WEFT_OK;
}

/* The sources of a group, sorted; `first` is its first block. */
static bool sort_sources(placing *p, arrival_group *group, uint32_t first)
{
    weft__gid_pair *pairs = malloc(group->count * 2 * sizeof *pairs);
    row_source *unsorted = malloc(group->count * sizeof *unsorted);
    const bool has_memory = pairs != NULL && unsorted != NULL;
    uint32_t at = 0;
    for (uint32_t b = first; b < p->block_count && has_memory; b++) {
        if (p->archetypes[b].id != group->archetype.id) continue;
        for (uint32_t row = 0; row < p->blocks[b].count; row++, at++) {
            pairs[at] = (weft__gid_pair){p->blocks[b].gids[row], at};
            unsorted[at] = (row_source){&p->blocks[b], row};
        }
    }
    if (has_memory) {
        const weft__gid_pair *sorted = weft__gid_sort(pairs, pairs + group->count, group->count);
        for (uint32_t i = 0; i < group->count; i++) {
            group->sources[i] = unsorted[sorted[i].number];
            group->gids[i] = sorted[i].key;
        }
    }
    free(pairs);
    free(unsorted);
    return has_memory;
}

static weft_result make_group(placing *p, uint32_t first)
{
    arrival_group *group = &p->groups[p->group_count];
    *group = (arrival_group){.archetype = p->archetypes[first], .first = &p->blocks[first]};
    for (uint32_t b = first; b < p->block_count; b++)
        if (p->archetypes[b].id == group->archetype.id) group->count += p->blocks[b].count;
    if (group->count == 0) return WEFT_OK;
    p->group_count++;
    group->sources = malloc(group->count * sizeof *group->sources);
    group->entities = calloc(group->count, sizeof *group->entities);
    group->gids = malloc(group->count * sizeof *group->gids);
    if (group->sources == NULL || group->entities == NULL || group->gids == NULL ||
        !sort_sources(p, group, first))
        return weft__ranks_no_memory();
    return WEFT_OK;
}

static weft_result make_groups(placing *p)
{
    weft_result result = find_archetypes(p);
    for (uint32_t b = 0; b < p->block_count && result == WEFT_OK; b++) {
        bool is_known = false;
        for (uint32_t k = 0; k < b; k++)
            is_known |= p->archetypes[k].id == p->archetypes[b].id && p->blocks[k].count != 0;
        if (!is_known && p->blocks[b].count != 0) result = make_group(p, b);
    }
    return result;
}

/* ---- values in the order of a group ---- */

/* PLAIN or SHARED values; memory for free(). NULL: memory is refused. */
static void *gather_values(const arrival_group *group, uint32_t column)
{
    const size_t size = group->first->columns[column].type.size;
    unsigned char *values = malloc(group->count * size + 1);
    if (values == NULL) return NULL;
    for (uint32_t i = 0; i < group->count; i++) {
        const row_source *source = &group->sources[i];
        memcpy(values + i * size, source->block->columns[column].values + source->row * size, size);
    }
    return values;
}

/* Memory of one translation. */
typedef struct reach_pass {
    weft_shard *shard;
    bool has_failed;
} reach_pass;

static void to_entity(weft_entity *field, void *user)
{
    reach_pass *pass = user;
    uint64_t gid;
    memcpy(&gid, field, sizeof gid);
    *field = weft__stub_reach(pass->shard, gid);
    if (gid != 0 && weft_entity_equal(*field, (weft_entity){0})) pass->has_failed = true;
}

static bool translate(placing *p, const weft__row_component *type, void *values, uint64_t count)
{
    reach_pass pass = {.shard = p->shard};
    if (type->has_references) weft__references_visit(type, values, count, to_entity, &pass);
    return !pass.has_failed;
}

/* ---- entities and plain values ---- */

/* Entities that stand for the gids already take the rows over. */
static weft_result take_stubs(placing *p, arrival_group *group)
{
    for (uint32_t i = 0; i < group->count && p->shard->has_references; i++) {
        const weft_entity stub = weft__gid_table_find(p->shard, group->gids[i]);
        if (!weft_entity_is_alive(p->shard->world, stub) ||
            !weft_entity_has(p->shard->world, stub, p->shard->stub))
            continue;
        weft_result result = weft_entity_set_archetype(p->shard->world, stub, group->archetype);
        if (result != WEFT_OK) return failed(p, result);
        group->entities[i] = stub;
        group->has_stubs = true;
    }
    return WEFT_OK;
}

/* Entities for the rows that have none; their values come later. */
static weft_result create_rest(placing *p, arrival_group *group)
{
    weft_entity *made = malloc(group->count * sizeof *made);
    if (made == NULL) return weft__ranks_no_memory();
    uint32_t missing = 0, at = 0;
    for (uint32_t i = 0; i < group->count; i++) missing += group->entities[i].version == 0;
    weft_result result = WEFT_OK;
    if (missing != 0)
        result = weft_entity_create_many(p->shard->world, group->archetype, missing, made);
    for (uint32_t i = 0; i < group->count && result == WEFT_OK; i++)
        if (group->entities[i].version == 0) group->entities[i] = made[at++];
    free(made);
    return result == WEFT_OK ? WEFT_OK : failed(p, result);
}

static bool is_simple(const weft__block_column *column)
{
    return column->type.kind == WEFT__VALUE_PLAIN && !column->type.has_references;
}

static weft_result set_values(placing *p, arrival_group *group, const weft_values *filled,
                              uint32_t count)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++) {
        const size_t size = weft_component_info(p->shard->world, filled[i].component)->size;
        result = weft_entity_set_many(p->shard->world, group->entities, group->count,
                                      filled[i].component, filled[i].values, size);
    }
    return result == WEFT_OK ? WEFT_OK : failed(p, result);
}

static weft_result create_group(placing *p, arrival_group *group)
{
    weft_values filled[WEFT__ROW_COMPONENTS + 1] = {{p->shard->gid, group->gids}};
    uint32_t count = 1;
    weft_result result = take_stubs(p, group);
    for (uint32_t c = 0; c < group->first->column_count && result == WEFT_OK; c++) {
        if (!is_simple(&group->first->columns[c])) continue;
        filled[count] =
            (weft_values){group->first->columns[c].type.component, gather_values(group, c)};
        if (filled[count++].values == NULL) result = weft__ranks_no_memory();
    }
    if (result == WEFT_OK && group->has_stubs) {
        result = create_rest(p, group);
        if (result == WEFT_OK) result = set_values(p, group, filled, count);
    } else if (result == WEFT_OK) {
        result = weft_entity_create_filled(p->shard->world, group->archetype, filled, count,
                                           group->count, group->entities);
        if (result != WEFT_OK) (void)failed(p, result);
    }
    for (uint32_t i = 1; i < count; i++) free((void *)(uintptr_t)filled[i].values);
    for (uint32_t i = 0; i < group->count && result == WEFT_OK && p->shard->has_references; i++)
        if (!weft__gid_table_put(p->shard, group->gids[i], group->entities[i]))
            result = weft__ranks_no_memory();
    return result;
}

/* ---- the rest ---- */

static weft_result place_plain(placing *p, arrival_group *group, uint32_t c)
{
    const weft__row_component *type = &group->first->columns[c].type;
    void *values = gather_values(group, c);
    weft_result result = weft__ranks_no_memory();
    if (values != NULL && translate(p, type, values, group->count)) {
        result = weft_entity_set_many(p->shard->world, group->entities, group->count,
                                      type->component, values, type->size);
        if (result != WEFT_OK) (void)failed(p, result);
    }
    free(values);
    return result;
}

/* Runs of equal values at once. */
static weft_result place_shared(placing *p, arrival_group *group, uint32_t c)
{
    const weft__row_component *type = &group->first->columns[c].type;
    unsigned char *values = gather_values(group, c);
    weft_result result = weft__ranks_no_memory();
    if (values != NULL && translate(p, type, values, group->count)) {
        result = WEFT_OK;
        for (uint32_t i = 0, end; i < group->count && result == WEFT_OK; i = end) {
            const unsigned char *value = values + (size_t)i * type->size;
            for (end = i + 1; end < group->count; end++)
                if (memcmp(value, values + (size_t)end * type->size, type->size) != 0) break;
            result = weft_entity_set_shared_many(p->shard->world, group->entities + i, end - i,
                                                 type->component, value);
        }
        if (result != WEFT_OK) (void)failed(p, result);
    }
    free(values);
    return result;
}

static weft_result place_buffer(placing *p, const weft__block_column *column, weft_entity entity,
                                uint32_t row)
{
    const uint32_t size = column->type.size, length = column->lengths[row];
    const weft_buffers buffer =
        weft_entity_write_buffer(p->shard->world, entity, column->type.component);
    if (length == 0) return WEFT_OK;
    const unsigned char *from = column->values + column->starts[row] * size;
    weft_result result = weft_buffers_append(&buffer, 0, from, length);
    if (result != WEFT_OK) return failed(p, result);
    /* Making a stub changes structure, so the buffer is opened again after that. */
    void *copy = malloc((size_t)length * size);
    if (copy == NULL) return weft__ranks_no_memory();
    memcpy(copy, from, (size_t)length * size);
    const bool is_done = translate(p, &column->type, copy, length);
    const weft_buffers again =
        weft_entity_write_buffer(p->shard->world, entity, column->type.component);
    if (is_done) memcpy(weft_buffers_write(&again, 0), copy, (size_t)length * size);
    free(copy);
    return is_done ? WEFT_OK : weft__ranks_no_memory();
}

static weft_result place_rows(placing *p, arrival_group *group, uint32_t c)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < group->count && result == WEFT_OK; i++) {
        const row_source *source = &group->sources[i];
        const weft__block_column *column = &source->block->columns[c];
        if (column->type.kind == WEFT__VALUE_BUFFER)
            result = place_buffer(p, column, group->entities[i], source->row);
        if (result == WEFT_OK && column->enabled != NULL && column->enabled[source->row] == 0)
            result = weft_entity_enable(p->shard->world, group->entities[i], column->type.component,
                                        false);
    }
    return result;
}

/* Rows of a sector at once. */
static weft_result place_sectors(placing *p, arrival_group *group)
{
    weft__gid_pair *pairs = malloc(group->count * 2 * sizeof *pairs);
    weft_entity *entities = malloc(group->count * sizeof *entities);
    weft_result result = weft__ranks_no_memory();
    if (pairs != NULL && entities != NULL) {
        for (uint32_t i = 0; i < group->count; i++)
            pairs[i] = (weft__gid_pair){group->sources[i].block->sectors[group->sources[i].row], i};
        const weft__gid_pair *sorted = weft__gid_sort(pairs, pairs + group->count, group->count);
        for (uint32_t i = 0; i < group->count; i++) entities[i] = group->entities[sorted[i].number];
        result = WEFT_OK;
        for (uint32_t i = 0, end; i < group->count && result == WEFT_OK; i = end) {
            const uint32_t stored = weft__sector_stored((uint32_t)sorted[i].key);
            for (end = i + 1; end < group->count; end++)
                if (sorted[end].key != sorted[i].key) break;
            result = weft_entity_set_shared_many(p->shard->world, entities + i, end - i,
                                                 p->shard->sector, &stored);
        }
        if (result != WEFT_OK) (void)failed(p, result);
    }
    free(pairs);
    free(entities);
    return result;
}

static weft_result finish_group(placing *p, arrival_group *group)
{
    weft_result result = WEFT_OK;
    for (uint32_t c = 0; c < group->first->column_count && result == WEFT_OK; c++) {
        const weft__block_column *column = &group->first->columns[c];
        if (column->type.kind == WEFT__VALUE_PLAIN && !is_simple(column))
            result = place_plain(p, group, c);
        if (column->type.kind == WEFT__VALUE_SHARED) result = place_shared(p, group, c);
        if (result == WEFT_OK && (column->type.kind == WEFT__VALUE_BUFFER || column->type.has_bits))
            result = place_rows(p, group, c);
    }
    return result == WEFT_OK ? place_sectors(p, group) : result;
}

static weft_result place(placing *p)
{
    p->archetypes = calloc(p->block_count, sizeof *p->archetypes);
    p->groups = calloc(p->block_count, sizeof *p->groups);
    if (p->archetypes == NULL || p->groups == NULL) return weft__ranks_no_memory();
    weft_result result = make_groups(p);
    if (result == WEFT_OK && p->shard->has_references) result = weft__gid_table_refresh(p->shard);
    for (uint32_t i = 0; i < p->group_count && result == WEFT_OK; i++)
        result = create_group(p, &p->groups[i]);
    for (uint32_t i = 0; i < p->group_count && result == WEFT_OK; i++)
        result = finish_group(p, &p->groups[i]);
    return result;
}

weft_result weft__arrivals_place(weft_shard *shard, const weft__block *blocks, uint32_t count)
{
    if (count == 0) return WEFT_OK;
    placing p = {.shard = shard, .blocks = blocks, .block_count = count};
    weft_result result = place(&p);
    for (uint32_t i = 0; i < p.group_count; i++) {
        free(p.groups[i].sources);
        free(p.groups[i].entities);
        free(p.groups[i].gids);
    }
    free(p.archetypes);
    free(p.groups);
    return result;
}
