/* SPDX-License-Identifier: MIT */
/* arrival.c: rows that come, and stubs.
 *
 * Of rows that come all first get entities, sectors and plain values; then, when every gid can be
 * found, the values with references, buffers, other shared values and enable bits. A row turns into
 * a stub in place, so handles stay. The sweep marks what references lead to and ends the other
 * stubs. */
#include "arrival.h"
#include "messages.h"
#include "world_view.h"

#include <weft/buffers.h>
#include <weft/relation.h>

/* ---- stubs ---- */

#define INDEX_BITS UINT32_C(0x0FFFFFFF) /* of a handle, without the tag of its world */
#define STUBS_FEW 1024u                 /* fewer are not worth a pass over all references */

static weft_result failed(const weft_shard *shard, weft_result result, const char *what)
{
    return weft__ranks_fail(result, "%s: %s", what, weft_world_error(shard->world)->text);
}

/* All but the components of stubs go: those of one archetype, CLEANUP ones, too. */
static weft_result leave_alike(weft_shard *shard, const weft_entity *entities, uint32_t count,
                               weft_archetype archetype)
{
    weft_component list[WEFT__ROW_COMPONENTS + 2];
    const uint32_t components =
        weft_archetype_components(shard->world, archetype, list, WEFT__ROW_COMPONENTS + 2);
    const weft_change_desc change = {
        .add = &shard->stub, .add_count = 1, .remove = list, .remove_count = components};
    return weft_entity_change_many(shard->world, entities, count, &change);
}

/* What is in no archetype goes, too: names, SPARSE components. */
static weft_result leave_rest(weft_shard *shard, const weft_entity *entities, uint32_t count)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
        if (weft_entity_name(shard->world, entities[i])[0] != '\0')
            result = weft_entity_set_name(shard->world, entities[i], NULL);
    for (weft_component next = weft__sparse_next(shard, (weft_component){0});
         next.id != 0 && result == WEFT_OK; next = weft__sparse_next(shard, next))
        for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
            if (weft_entity_has(shard->world, entities[i], next))
                result = weft_entity_remove(shard->world, entities[i], next);
    return result;
}

weft_result weft__stubs_leave(weft_shard *shard, const weft_entity *entities, const uint64_t *gids,
                              uint32_t count)
{
    weft_result result = leave_rest(shard, entities, count);
    for (uint32_t begin = 0, end; begin < count && result == WEFT_OK; begin = end) {
        const weft_archetype archetype = weft_entity_archetype(shard->world, entities[begin]);
        for (end = begin + 1; end < count; end++)
            if (weft_entity_archetype(shard->world, entities[end]).id != archetype.id) break;
        if (archetype.id != shard->stub_archetype.id)
            result = leave_alike(shard, entities + begin, end - begin, archetype);
    }
    if (result == WEFT_OK)
        result =
            weft_entity_set_many(shard->world, entities, count, shard->stub, gids, sizeof *gids);
    return result == WEFT_OK ? WEFT_OK : failed(shard, result, "rows cannot leave");
}

/* Turns stubs into rows of an archetype, zeroed. */
static weft_result stubs_return(weft_shard *shard, const weft_entity *stubs, uint32_t count,
                                weft_archetype archetype)
{
    weft_component list[WEFT__ROW_COMPONENTS + 2];
    const uint32_t components =
        weft_archetype_components(shard->world, archetype, list, WEFT__ROW_COMPONENTS + 2);
    const weft_change_desc change = {
        .add = list, .add_count = components, .remove = &shard->stub, .remove_count = 1};
    const weft_result result = weft_entity_change_many(shard->world, stubs, count, &change);
    return result == WEFT_OK ? WEFT_OK : failed(shard, result, "rows cannot come");
}

/* The entity with the gid, of the table; a stub is made where there is none. Null: it failed. */
static weft_entity stub_reach(weft_shard *shard, uint64_t gid)
{
    weft_entity entity = weft__gid_table_find(shard, gid);
    /* A ghost's handle means nothing later. */
    const bool is_ghost = entity.index != 0 || entity.version != 0
                              ? weft_entity_has(shard->world, entity, shard->ghost)
                              : true;
    if (gid == 0 || !is_ghost) return gid == 0 ? (weft_entity){0} : entity;
    entity = weft_entity_create(shard->world, shard->stub_archetype);
    if (weft_entity_set(shard->world, entity, shard->stub, &gid, sizeof gid) != WEFT_OK ||
        !weft__gid_table_put(shard, gid, entity))
        return (weft_entity){0};
    return entity;
}

/* ---- the sweep ---- */

/* Stubs, by index of the handle. */
typedef struct sweep_marks {
    weft_shard *shard;
    uint8_t *is_reached; /* [index_end] */
    uint32_t index_end;
} sweep_marks;

static bool mark(void *user, weft__reference *r)
{
    sweep_marks *marks = user;
    const uint32_t index = r->entity.index & INDEX_BITS;
    if (!r->is_blob && index < marks->index_end) marks->is_reached[index] = 1;
    return true;
}

static weft_result sweep(sweep_marks *marks, weft_entity *stubs, uint64_t count)
{
    weft_shard *shard = marks->shard;
    for (uint64_t i = 0; i < count; i++)
        if ((stubs[i].index & INDEX_BITS) >= marks->index_end)
            marks->index_end = (stubs[i].index & INDEX_BITS) + 1;
    marks->is_reached = calloc(marks->index_end, 1);
    if (marks->is_reached == NULL) return weft__ranks_no_memory();
    weft_result result = WEFT_OK;
    weft__world_references(shard->world, mark, marks);
    uint32_t ended = 0;
    for (uint64_t i = 0; i < count; i++)
        if (!marks->is_reached[stubs[i].index & INDEX_BITS]) stubs[ended++] = stubs[i];
    if (ended != 0) result = weft_entity_destroy_many(shard->world, stubs, ended);
    shard->stubs_after_sweep = count - ended;
    free(marks->is_reached);
    return result;
}

weft_result weft__stubs_sweep(weft_shard *shard)
{
    if (!shard->has_references) return WEFT_OK;
    const uint64_t count = weft_query_count(shard->world, shard->stub_query);
    if (count < STUBS_FEW || count < 2 * shard->stubs_after_sweep) return WEFT_OK;
    weft_entity *stubs = malloc(count * sizeof *stubs);
    if (stubs == NULL) return weft__ranks_no_memory();
    (void)weft_query_entities(shard->world, shard->stub_query, stubs, count);
    sweep_marks marks = {.shard = shard};
    weft_result result = sweep(&marks, stubs, count);
    free(stubs);
    return result;
}

/* ---- deaths ---- */

bool weft__deaths_list(weft_shard *shard, weft__bytes *gids)
{
    weft_cursor cursor;
    bool is_done = weft__shard_loop_begin(shard, shard->dead_query, &cursor);
    while (is_done && weft_query_next(&cursor))
        is_done = weft__bytes_put(gids, weft_slice_read(&cursor.slice, 0),
                                  cursor.slice.count * sizeof(uint64_t));
    weft_query_end(&cursor);
    return is_done;
}

weft_result weft__deaths_take(weft_shard *shard, const weft__bytes *gids)
{
    weft_result result = weft__gid_table_refresh(shard);
    for (uint64_t at = 0; at < gids->count && result == WEFT_OK; at += sizeof(uint64_t)) {
        uint64_t gid;
        memcpy(&gid, gids->at + at, sizeof gid);
        const weft_entity stub = weft__gid_table_find(shard, gid);
        if (weft_entity_is_alive(shard->world, stub) &&
            weft_entity_has(shard->world, stub, shard->stub))
            result = weft_entity_destroy(shard->world, stub);
    }
    return result == WEFT_OK ? WEFT_OK : failed(shard, result, "stubs of dead rows");
}

weft_result weft__deaths_settle(weft_shard *shard)
{
    /* the last component of a residue ends it */
    weft_result result = weft_query_remove(shard->world, shard->dead_query, shard->gid);
    if (result == WEFT_OK) result = weft_relation_settle(shard->world);
    return result == WEFT_OK ? WEFT_OK : failed(shard, result, "deaths of targets");
}

/* ---- rows that come ---- */

static weft_result refused(const weft_shard *shard, weft_result result)
{
    return failed(shard, result, "rows cannot be put into the world");
}

/* A block on its way into the world. */
typedef struct arriving {
    const weft__block *block;
    weft_archetype archetype;
    weft_entity *entities; /* [block->count] */
} arriving;

static weft_result find_archetype(const weft_shard *shard, arriving *a)
{
    weft_component list[WEFT__ROW_COMPONENTS + 2] = {shard->gid, shard->sector};
    uint32_t count = weft__block_is_private(shard, a->block) ? 0 : 2;
    for (uint32_t k = 0; k < a->block->column_count && count < WEFT__ROW_COMPONENTS + 2; k++)
        if (a->block->columns[k].type.kind != WEFT__VALUE_SPARSE)
            list[count++] = a->block->columns[k].type.component;
    a->archetype = weft_archetype_create(shard->world, list, count);
    return a->archetype.id != 0 ? WEFT_OK : refused(shard, WEFT_OUT_OF_MEMORY);
}

/* The end of the rows from `begin` on that have the same sector. */
static uint32_t sector_end(const weft__block *block, uint32_t begin)
{
    uint32_t end = begin + 1;
    while (end < block->count && block->sectors[end] == block->sectors[begin]) end++;
    return end;
}

/* ---- references ---- */

/* Memory of one translation. */
typedef struct reach_pass {
    weft_shard *shard;
    bool has_failed;
} reach_pass;

static bool to_entity(void *user, weft__reference *r)
{
    reach_pass *pass = user;
    const uint64_t gid = r->bits;
    r->entity = stub_reach(pass->shard, gid);
    if (gid != 0 && r->bits == 0) pass->has_failed = true;
    return true;
}

static bool translate(weft_shard *shard, const weft__row_component *type, void *values,
                      uint64_t count)
{
    reach_pass pass = {.shard = shard};
    weft__elements_references(weft__type_of(type->desc), values, count, to_entity, &pass);
    return !pass.has_failed;
}

/* A copy of `count` values or elements, with handles in place of gids; memory for free(). NULL:
 * memory is refused. */
static void *translated(weft_shard *shard, const weft__row_component *type, const void *values,
                        uint64_t count)
{
    void *copy = malloc((size_t)(count * type->size) + 1);
    if (copy == NULL) return NULL;
    if (count != 0) memcpy(copy, values, (size_t)(count * type->size));
    if (translate(shard, type, copy, count)) return copy;
    free(copy);
    return NULL;
}

/* ---- entities and plain values ---- */

static bool is_simple(const weft__block_column *column)
{
    return column->type.kind == WEFT__VALUE_PLAIN && !column->type.has_references;
}

/* New entities for rows [begin, end), which have one sector. */
static weft_result create_run(weft_shard *shard, const arriving *a, uint32_t begin, uint32_t end)
{
    const weft__block *block = a->block;
    const uint32_t stored = weft__sector_stored(block->sectors[begin]);
    weft_values filled[WEFT__ROW_COMPONENTS + 2] = {{shard->gid, block->gids + begin},
                                                    {shard->sector, &stored}};
    uint32_t count = weft__block_is_private(shard, block) ? 0 : 2;
    for (uint32_t c = 0; c < block->column_count; c++) {
        const weft__block_column *column = &block->columns[c];
        if (is_simple(column))
            filled[count++] = (weft_values){column->type.component,
                                            column->values + (size_t)begin * column->type.size};
    }
    const weft_result result = weft_entity_create_filled(shard->world, a->archetype, filled, count,
                                                         end - begin, a->entities + begin);
    return result == WEFT_OK ? WEFT_OK : refused(shard, result);
}

static weft_result create_runs(weft_shard *shard, const arriving *a)
{
    weft_result result = WEFT_OK;
    for (uint32_t begin = 0, end; begin < a->block->count && result == WEFT_OK; begin = end) {
        end = sector_end(a->block, begin);
        result = create_run(shard, a, begin, end);
    }
    return result;
}

/* ---- rows whose gids have stubs ---- */

/* Entities that stand for gids of the block: one after the other in `stubs`, at their rows in
 * a->entities. */
static uint32_t find_stubs(const weft_shard *shard, const arriving *a, weft_entity *stubs)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->block->count; i++) {
        const weft_entity stub = weft__gid_table_find(shard, a->block->gids[i]);
        if (!weft_entity_is_alive(shard->world, stub) ||
            !weft_entity_has(shard->world, stub, shard->stub))
            continue;
        a->entities[i] = stubs[count++] = stub;
    }
    return count;
}

/* Entities for the rows that have no stub. `made`: room for all. */
static weft_result create_rest(weft_shard *shard, const arriving *a, uint32_t missing,
                               weft_entity *made)
{
    weft_result result = WEFT_OK;
    if (missing != 0) result = weft_entity_create_many(shard->world, a->archetype, missing, made);
    for (uint32_t i = 0; i < a->block->count && result == WEFT_OK; i++)
        if (a->entities[i].version == 0) a->entities[i] = *made++;
    return result;
}

/* Gids, plain values and sectors of entities that are there. */
static weft_result set_values(weft_shard *shard, const arriving *a)
{
    const weft__block *block = a->block;
    weft_result result = weft_entity_set_many(shard->world, a->entities, block->count, shard->gid,
                                              block->gids, sizeof *block->gids);
    for (uint32_t c = 0; c < block->column_count && result == WEFT_OK; c++)
        if (is_simple(&block->columns[c]))
            result = weft_entity_set_many(shard->world, a->entities, block->count,
                                          block->columns[c].type.component,
                                          block->columns[c].values, block->columns[c].type.size);
    for (uint32_t begin = 0, end; begin < block->count && result == WEFT_OK; begin = end) {
        end = sector_end(block, begin);
        const uint32_t stored = weft__sector_stored(block->sectors[begin]);
        result = weft_entity_set_shared_many(shard->world, a->entities + begin, end - begin,
                                             shard->sector, &stored);
    }
    return result;
}

/* Stubs turn into the rows that they stand for, so handles stay. */
static weft_result create_over_stubs(weft_shard *shard, const arriving *a)
{
    const uint32_t count = a->block->count;
    weft_entity *room = malloc(count * sizeof *room);
    if (room == NULL) return weft__ranks_no_memory();
    weft_result result = WEFT_OK;
    const uint32_t stubs = find_stubs(shard, a, room);
    if (stubs == 0) {
        result = create_runs(shard, a);
    } else {
        result = stubs_return(shard, room, stubs, a->archetype);
        if (result == WEFT_OK) result = create_rest(shard, a, count - stubs, room);
        if (result == WEFT_OK) result = set_values(shard, a);
        if (result != WEFT_OK) (void)refused(shard, result);
    }
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
        if (!weft__gid_table_put(shard, a->block->gids[i], a->entities[i]))
            result = weft__ranks_no_memory();
    free(room);
    return result;
}

/* ---- the rest ---- */

/* Runs of equal values at once. */
static weft_result place_shared(weft_shard *shard, const arriving *a,
                                const weft__row_component *type, const char *values)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0, end; i < a->block->count && result == WEFT_OK; i = end) {
        const char *value = values + (size_t)i * type->size;
        for (end = i + 1; end < a->block->count; end++)
            if (memcmp(value, values + (size_t)end * type->size, type->size) != 0) break;
        result = weft_entity_set_shared_many(shard->world, a->entities + i, end - i,
                                             type->component, value);
    }
    return result;
}

static weft_result place_sparse(weft_shard *shard, const arriving *a,
                                const weft__block_column *column, const char *values)
{
    const weft__row_component *type = &column->type;
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < column->count && result == WEFT_OK; i++) {
        const weft_entity entity = a->entities[column->rows[i]];
        result = type->size == 0 ? weft_entity_add(shard->world, entity, type->component)
                                 : weft_entity_set(shard->world, entity, type->component,
                                                   values + (size_t)i * type->size, type->size);
    }
    return result;
}

static weft_result place_values(weft_shard *shard, const arriving *a,
                                const weft__block_column *column)
{
    const weft__row_component *type = &column->type;
    char *values = translated(shard, type, column->values, column->count);
    if (values == NULL) return weft__ranks_no_memory();
    weft_result result;
    if (type->kind == WEFT__VALUE_PLAIN)
        result = weft_entity_set_many(shard->world, a->entities, column->count, type->component,
                                      values, type->size);
    else if (type->kind == WEFT__VALUE_SHARED)
        result = place_shared(shard, a, type, values);
    else
        result = place_sparse(shard, a, column, values);
    free(values);
    return result == WEFT_OK ? WEFT_OK : refused(shard, result);
}

static weft_result place_names(weft_shard *shard, const arriving *a)
{
    weft__reader names = a->block->names;
    for (uint64_t i = 0; i < a->block->name_count; i++) {
        char name[256];
        uint32_t row;
        (void)weft__block_name(&names, &row, name); /* checked */
        const weft_result result = weft_entity_set_name(shard->world, a->entities[row], name);
        if (result != WEFT_OK) return refused(shard, result);
    }
    return WEFT_OK;
}

static weft_result place_buffer(weft_shard *shard, const weft__block_column *column,
                                weft_entity entity, uint32_t row)
{
    const uint32_t size = column->type.size, length = column->lengths[row];
    if (length == 0) return WEFT_OK;
    const unsigned char *from = column->values + column->starts[row] * size;
    void *elements = translated(shard, &column->type, from, length);
    if (elements == NULL) return weft__ranks_no_memory();
    const weft_buffers buffer =
        weft_entity_write_buffer(shard->world, entity, column->type.component);
    const weft_result result = weft_buffers_append(&buffer, 0, elements, length);
    free(elements);
    return result == WEFT_OK ? WEFT_OK : refused(shard, result);
}

static weft_result place_rows(weft_shard *shard, const arriving *a, uint32_t c)
{
    const weft__block_column *column = &a->block->columns[c];
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < a->block->count && result == WEFT_OK; i++) {
        if (column->type.kind == WEFT__VALUE_BUFFER)
            result = place_buffer(shard, column, a->entities[i], i);
        if (result == WEFT_OK && column->enabled != NULL && column->enabled[i] == 0)
            result =
                weft_entity_enable(shard->world, a->entities[i], column->type.component, false);
    }
    return result;
}

static weft_result finish(weft_shard *shard, const arriving *a)
{
    weft_result result = WEFT_OK;
    for (uint32_t c = 0; c < a->block->column_count && result == WEFT_OK; c++) {
        const weft__block_column *column = &a->block->columns[c];
        const weft__value_kind kind = column->type.kind;
        if (kind != WEFT__VALUE_TAG && kind != WEFT__VALUE_BUFFER && !is_simple(column))
            result = place_values(shard, a, column);
        if (result == WEFT_OK && (kind == WEFT__VALUE_BUFFER || column->type.has_bits))
            result = place_rows(shard, a, c);
    }
    return result == WEFT_OK ? place_names(shard, a) : result;
}

static weft_result place(weft_shard *shard, arriving *list, uint32_t count)
{
    weft_result result = WEFT_OK;
    if (shard->has_references) result = weft__gid_table_refresh(shard);
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++) {
        if (list[i].block->count == 0) continue;
        result = find_archetype(shard, &list[i]);
        if (result == WEFT_OK)
            result = shard->has_references && !weft__block_is_private(shard, list[i].block)
                         ? create_over_stubs(shard, &list[i])
                         : create_runs(shard, &list[i]);
    }
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
        if (list[i].block->count != 0) result = finish(shard, &list[i]);
    return result;
}

weft_result weft__arrivals_place(weft_shard *shard, const weft__block *blocks, uint32_t count,
                                 weft_entity *entities)
{
    arriving *list = malloc(count * sizeof *list + 1);
    if (list == NULL) return weft__ranks_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (arriving){.block = &blocks[i], .entities = entities};
        entities += blocks[i].count;
    }
    const weft_result result = count != 0 ? place(shard, list, count) : WEFT_OK;
    free(list);
    return result;
}
