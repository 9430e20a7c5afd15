/* SPDX-License-Identifier: MIT */
/* stub.c: a row turns into a stub in place, so handles stay. The sweep marks what references
 * lead to and ends the other stubs and residues. */
#include "stub.h"

#include <stdlib.h>

#include "gid_table.h"
#include "ranks_error.h"
#include "references.h"
#include "row_block.h"
#include "world_front.h"

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

weft_result weft__stubs_return(weft_shard *shard, const weft_entity *stubs, uint32_t count,
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

weft_entity weft__stub_reach(weft_shard *shard, uint64_t gid)
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
    const weft_change_desc end = {.remove = (weft_component[]){shard->stub, shard->gid},
                                  .remove_count = 2};
    if (result == WEFT_OK && ended != 0) /* the last component of a residue ends it */
        result = weft_entity_change_many(shard->world, stubs, ended, &end);
    for (uint32_t i = 0; i < ended && result == WEFT_OK; i++)
        if (weft_entity_is_alive(shard->world, stubs[i]))
            result = weft_entity_destroy(shard->world, stubs[i]);
    shard->stubs_after_sweep = count - ended;
    free(marks->is_reached);
    return result;
}

weft_result weft__stubs_sweep(weft_shard *shard)
{
    if (!shard->has_references) return WEFT_OK;
    const uint64_t living = weft_query_count(shard->world, shard->stub_query);
    const uint64_t count = living + weft_query_count(shard->world, shard->dead_query);
    if (count < STUBS_FEW || count < 2 * shard->stubs_after_sweep) return WEFT_OK;
    weft_entity *stubs = malloc(count * sizeof *stubs);
    if (stubs == NULL) return weft__ranks_no_memory();
    (void)weft_query_entities(shard->world, shard->stub_query, stubs, living);
    (void)weft_query_entities(shard->world, shard->dead_query, stubs + living, count - living);
    sweep_marks marks = {.shard = shard};
    weft_result result = sweep(&marks, stubs, count);
    free(stubs);
    return result;
}
