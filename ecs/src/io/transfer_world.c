/* SPDX-License-Identifier: MIT */
/* transfer_world.c: weft_world_transfer: entities go from one world to another. The steps and
 * what they share are in transfer_state.h. Everything that can fail comes before the commit and
 * is undone; the commit gives ids, lets references follow, and ends the rows of the source
 * without touching their values. Owner of both worlds. */
#include "transfer_world.h"
#include "archetype.h"
#include "component_registry.h"
#include "entity_tag.h"
#include "error.h"
#include "format.h"
#include "lent.h"
#include "name_table.h"
#include "relation_registry.h"
#include "sized.h"
#include "transfer_blobs.h"
#include "transfer_memory.h"
#include "transfer_shared.h"
#include "transfer_sparse.h"
#include "transfer_state.h"
#include "transfer_values.h"
#include "tuple.h"

#include <string.h>

#define CATEGORY WEFT__MEMORY_COMMANDS

weft_result weft__transfer_failed(weft__transfer *t, weft_result result)
{
    if (result == WEFT_OK) return WEFT_OK;
    const uint64_t number = t->to->error->number + 1; /* it counts the failures of each world */
    *t->to->error = *t->from->error;
    t->to->error->number = number;
    return result;
}

bool weft__transfer_spans(weft__transfer *t, uint32_t part,
                          bool (*visit)(weft__transfer *t, uint32_t part, weft__span span,
                                        uint32_t done))
{
    const weft__change_part *p = &t->change.parts.at[part];
    for (uint32_t i = p->pieces, done = 0; done < p->count; i++) {
        weft__span span = t->spans.at[i];
        if (!visit(t, part, span, done)) return false;
        done += span.count;
    }
    return true;
}

/* ---- select ---- */

static weft_result rows_select(weft__transfer *t, weft_query query)
{
    t->change.world = t->from;
    weft_result result = query.id == 0
                             ? weft__change_select_all(&t->change, "weft_world_transfer")
                             : weft__change_select(&t->change, query, "weft_world_transfer");
    for (uint32_t i = 0; i < t->change.parts.count; i++)
        t->row_count += t->change.parts.at[i].count;
    return weft__transfer_failed(t, result);
}

/* The handles of the source: chunks whose memory changes hands lose them before the end. */
static void sources_note(weft__transfer *t)
{
    weft_entity *next = t->sources;
    for (uint32_t p = 0; p < t->change.parts.count; p++) {
        const weft__change_part *part = &t->change.parts.at[p];
        const weft_entity *entities = weft__chunk_entities(part->chunk);
        const uint32_t *rows = weft__change_rows(&t->change, part);
        for (uint32_t i = 0; i < part->count; i++)
            *next++ = entities[rows != NULL ? rows[i] : part->first + i];
    }
}

static weft_result tables_make(weft__transfer *t)
{
    weft__memory *memory = &t->to->memory;
    t->type_count = t->from->types.count;
    t->archetype_count = t->from->archetypes.count;
    t->types = weft__alloc_zeroed(memory, CATEGORY, t->type_count + 1, sizeof *t->types, 4);
    t->shared = weft__alloc_zeroed(memory, CATEGORY, t->type_count + 1, sizeof *t->shared, 8);
    t->targets =
        weft__alloc_zeroed(memory, CATEGORY, t->archetype_count + 1, sizeof *t->targets, 8);
    t->ids = weft__alloc(memory, CATEGORY, t->row_count + 1, sizeof *t->ids, 8);
    t->sources = weft__alloc(memory, CATEGORY, t->row_count + 1, sizeof *t->sources, 8);
    if (t->types == NULL || t->shared == NULL || t->targets == NULL || t->ids == NULL ||
        t->sources == NULL)
        return weft__error_memory(t->to, "weft_world_transfer");
    sources_note(t);
    return weft__transfer_sparse_select(t);
}

/* ---- map ---- */

/* Components that a description lists, as the destination has them; false: error set. */
static bool list_map(weft__transfer *t, const weft_component *from, uint32_t count,
                     weft_component *to)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = weft__component(t->to, weft__transfer_type(t, from[i].id));
        if (to[i].id == 0) return false;
    }
    return true;
}

/* A description that came with a text ends with the world that read it. */
static bool is_lent(const weft_world *world, const weft_type *type)
{
    const weft__description *at = world->types.descriptions;
    while (at != NULL && (const void *)(at + 1) != type) at = at->next;
    return at != NULL;
}

/* Registers a type that the destination lacks; the components that it requires come before it, and
 * have other ids there. A relation stays one. Null: error set. */
static weft_component type_register(weft__transfer *t, const weft__type *type)
{
    weft_component_desc desc = type->desc;
    uint32_t count = desc.required_count;
    weft_component *list = weft__alloc(&t->to->memory, CATEGORY, count + 1, sizeof *list, 4);
    weft_component made = WEFT__NO_COMPONENT, own = weft__component(t->from, type->id);
    if (list == NULL) weft__error_memory(t->to, "weft_world_transfer");
    desc.required = list;
    if (desc.type != NULL && is_lent(t->from, desc.type)) {
        desc.type = NULL;
        desc.is_checked = false;
    }
    if (desc.type != NULL) desc.field_count = 0;
    if (list != NULL && list_map(t, type->desc.required, count, list))
        made = weft_component_create(t->to, &desc);
    weft__free(&t->to->memory, CATEGORY, list, count + 1, sizeof *list, 4);
    if (made.id == 0 ||
        weft__relation_revive(t->to, made, weft__relation_word(t->from, own)) == WEFT_OK)
        return made;
    return WEFT__NO_COMPONENT;
}

uint32_t weft__transfer_type(weft__transfer *t, uint32_t component)
{
    if (t->types[component] != 0) return t->types[component];
    const weft__type *type = t->from->types.at[component];
    weft_component found = weft__component_named(t->to, type->desc.name);
    if (found.id == 0) {
        found = type_register(t, type);
    } else if (t->to->types.at[found.id]->hash != type->hash) {
        weft__error(t->to, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, found,
                    "weft_world_transfer: component \"%s\" of world \"%s\" has another size, "
                    "alignment, kind or fields than in \"%s\": register the same layout in both, "
                    "or use another name",
                    type->desc.name, t->from->desc.name, t->to->desc.name);
        return 0;
    }
    t->types[component] = found.id;
    return found.id;
}

weft__archetype *weft__transfer_target(weft__transfer *t, const weft__archetype *from)
{
    weft__archetype **target = &t->targets[from->number];
    if (*target != NULL) return *target;
    uint32_t count = from->type_count;
    uint32_t *list = weft__alloc(&t->to->memory, CATEGORY, count + 1, sizeof *list, 4);
    if (list == NULL) {
        weft__error_memory(t->to, "weft_world_transfer");
        return NULL;
    }
    bool is_known = true;
    for (uint32_t i = 0; i < count && is_known; i++) {
        uint32_t id = weft__transfer_type(t, from->types[i].component), k = i;
        is_known = id != 0;
        for (; k > 0 && list[k - 1] > id; k--) list[k] = list[k - 1];
        list[k] = id;
    }
    if (is_known) *target = weft__archetype_obtain(t->to, list, count);
    weft__free(&t->to->memory, CATEGORY, list, count + 1, sizeof *list, 4);
    return *target;
}

/* ---- reserve ---- */

bool weft__transfer_keeps_chunk(const weft__change_part *part, const weft__archetype *to,
                                bool has_room)
{
    const weft__chunk *chunk = part->chunk;
    if (part->count != chunk->count || chunk->archetype->format->cap != to->format->cap)
        return false;
    bool is_small = chunk->layout->size_class < WEFT__UNIT_CLASS;
    bool is_airy = (is_small || chunk->count * 2 < chunk->capacity) && has_room;
    return !is_airy || chunk->archetype->chunk_value_bytes != 0;
}

static weft_result chunk_reserve(weft__transfer *t, const weft__change_part *part,
                                 weft__tuple *tuple)
{
    weft__run run;
    bool is_adopted = weft__transfer_memory_run(t, part->chunk, &run);
    weft__chunk *chunk =
        is_adopted ? weft__chunk_adopt(t->to, tuple, part->chunk->layout->size_class, &run)
                   : weft__chunk_create(t->to, tuple, part->chunk->layout->size_class);
    if (chunk == NULL) return t->to->error->code;
    if (!weft__spans_push(t->to, &t->spans, (weft__span){chunk, 0, part->count})) {
        if (is_adopted) chunk->base = NULL;
        weft__chunk_release(t->to, chunk);
        return weft__error_memory(t->to, "weft_world_transfer");
    }
    WEFT_ASSERT(chunk->capacity == part->chunk->capacity);
    chunk->count = part->count;
    weft__chunk_count_rows(t->to, chunk, part->count);
    weft__chunk_room_update(chunk);
    t->report.chunks_kept++;
    t->report.chunks_adopted += is_adopted ? 1 : 0;
    return WEFT_OK;
}

static weft_result part_reserve(weft__transfer *t, weft__change_part *part)
{
    weft__archetype *archetype = weft__transfer_target(t, part->chunk->archetype);
    weft__tuple *tuple =
        archetype == NULL ? NULL : weft__transfer_tuple(t, part->chunk->tuple, archetype);
    if (tuple == NULL) return t->to->error->code;
    part->pieces = t->spans.count;
    weft__run run;
    bool may_grow = tuple->chunk_count == 1 && part->chunk->layout->size_class < WEFT__UNIT_CLASS;
    part->is_header = weft__transfer_memory_run(t, part->chunk, &run) ||
                      weft__transfer_keeps_chunk(part, archetype, tuple->room != NULL || may_grow);
    weft_result result = part->is_header ? chunk_reserve(t, part, tuple)
                                         : weft__rows_reserve(t->to, tuple, part->count, &t->spans);
    weft__tuple_release(t->to, tuple);
    return result;
}

/* Room in the table of names. */
static weft_result names_reserve(weft__transfer *t)
{
    if (t->from->names == NULL) return WEFT_OK;
    for (uint64_t i = 0; i < t->row_count; i++)
        if (weft_entity_name(t->from, t->sources[i])[0] != '\0') t->name_count++;
    if (t->name_count == 0) return WEFT_OK;
    uint32_t names = (uint32_t)t->name_count, texts = weft__names_texts(t->from);
    weft_result result = weft__names_reserve(t->to, names, texts < names ? texts : names);
    return result == WEFT_OK ? WEFT_OK : weft__error_memory(t->to, "weft_world_transfer: names");
}

static weft_result reserve(weft__transfer *t)
{
    weft_result result = tables_make(t);
    if (result != WEFT_OK) return result;
    result = t->row_count >= WEFT__TRANSFER_MOVES
                 ? WEFT_LIMIT
                 : weft__directory_reserve_owner(&t->to->directory, (uint32_t)t->row_count);
    if (result != WEFT_OK) return weft__error_limit(t->to, result, "weft_world_transfer");
    result = weft__transfer_memory_take(t);
    while (t->reserved < t->change.parts.count && result == WEFT_OK) {
        result = part_reserve(t, &t->change.parts.at[t->reserved]);
        t->reserved += result == WEFT_OK ? 1 : 0;
    }
    if (result == WEFT_OK) result = weft__transfer_sparse_reserve(t);
    if (result == WEFT_OK) result = weft__transfer_shared_check(t);
    if (result == WEFT_OK) result = names_reserve(t);
    if (result == WEFT_OK) result = weft__transfer_blobs_collect(t);
    for (; t->copied < t->change.parts.count && result == WEFT_OK; t->copied++) {
        result = weft__transfer_copy(t, t->copied);
        if (result != WEFT_OK) break;
    }
    return result;
}

static void undo(weft__transfer *t)
{
    while (t->copied > 0) weft__transfer_uncopy(t, --t->copied);
    for (uint32_t i = 0; i < t->reserved; i++) {
        const weft__change_part *part = &t->change.parts.at[i];
        weft__run run;
        if (weft__transfer_memory_run(t, part->chunk, &run))
            t->spans.at[part->pieces].chunk->base = NULL; /* the source's again */
    }
    for (uint32_t i = 0; i < t->spans.count; i++) weft__chunk_soil(t->spans.at[i].chunk);
    weft__rows_unreserve(t->to, &t->spans, 0);
    weft__transfer_memory_return(t);
}

/* ---- commit: cannot fail ---- */

static void ids_give(weft__transfer *t)
{
    uint64_t done = 0;
    for (uint32_t i = 0; done < t->row_count; i++) {
        weft__span span = t->spans.at[i];
        weft__directory_allocate_owner(&t->to->directory, span.count,
                                       weft__chunk_entities(span.chunk) + span.row, t->ids + done,
                                       weft__location(span.chunk, span.row));
        done += span.count;
    }
}

/* The locations of the source lead to numbers now, so that references find their new handle. */
static void sources_mark(weft__transfer *t)
{
    for (uint32_t i = 0; i < (uint32_t)t->row_count; i++)
        weft__directory_place(&t->from->directory, t->sources[i], WEFT__TRANSFER_MOVES | i);
}

static void names_move(weft__transfer *t)
{
    for (uint64_t i = 0; i < t->row_count && t->name_count != 0; i++) {
        const char *name = weft_entity_name(t->from, t->sources[i]);
        if (name[0] == '\0') continue;
        weft_result result = weft_entity_set_name(t->to, t->ids[i], name);
        WEFT_ASSERT(result == WEFT_OK); /* reserved */
        (void)result;
    }
}

static void tracked_follow(const weft__transfer *t, weft_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t location;
        bool moves = weft__directory_find(&t->from->directory, entities[i], &location) &&
                     (location & WEFT__TRANSFER_MOVES) != 0;
        entities[i] = moves ? t->ids[location & ~WEFT__TRANSFER_MOVES] : WEFT__NO_ENTITY;
    }
}

/* The rows of a part leave the source. Their values are somewhere else now, their ids dead. */
static void source_end(weft__transfer *t, const weft__change_part *part)
{
    weft__run run;
    if (weft__transfer_memory_run(t, part->chunk, &run)) part->chunk->base = NULL;
    if (weft__transfer_is_sparse(part)) {
        weft__transfer_sparse_end(t, part);
        return;
    }
    weft__rows_close(t->from, part->chunk, weft__change_rows(&t->change, part), part->first,
                     part->count);
    weft__chunk_settle(t->from, part->chunk, part->count);
}

static void commit(weft__transfer *t, const weft_transfer_desc *desc)
{
    weft__transfer_memory_keep(t);
    ids_give(t);
    names_move(t);
    sources_mark(t);
    for (uint32_t i = t->entity_parts; i < t->change.parts.count; i++)
        weft__transfer_sparse_commit(t, i);
    for (uint32_t i = 0; i < t->change.parts.count; i++) weft__transfer_settle(t, i);
    tracked_follow(t, desc->tracked, desc->tracked_count);
    weft__transfer_shared_commit(t);
    weft__directory_free_many_owner(&t->from->directory, t->sources, (uint32_t)t->row_count);
    for (uint32_t i = 0; i < t->change.parts.count; i++) source_end(t, &t->change.parts.at[i]);
    t->report.entities = t->row_count;
}

static void finish(weft__transfer *t, bool is_done)
{
    weft__memory *memory = &t->to->memory;
    weft__transfer_blobs_fini(t, is_done);
    weft__transfer_shared_fini(t);
    weft__free(memory, CATEGORY, t->types, t->type_count + 1, sizeof *t->types, 4);
    weft__free(memory, CATEGORY, t->shared, t->type_count + 1, sizeof *t->shared, 8);
    weft__free(memory, CATEGORY, t->targets, t->archetype_count + 1, sizeof *t->targets, 8);
    weft__transfer_memory_fini(t);
    weft__free(memory, CATEGORY, t->sources, t->row_count + 1, sizeof *t->sources, 8);
    weft__free(memory, CATEGORY, t->ids, t->row_count + 1, sizeof *t->ids, 8);
    weft__spans_fini(t->to, &t->spans);
    weft__change_fini(&t->change);
}

static bool shares_memory(const weft_world *a, const weft_world *b)
{
    const weft_allocator *x = &a->memory.hook, *y = &b->memory.hook;
    return x->allocate == y->allocate && x->release == y->release && x->user == y->user &&
           a->desc.os == b->desc.os;
}

/* Handles to follow are of the source, alive or dead. */
static weft_result tracked_check(const weft_world *to, const weft_world *from,
                                 const weft_transfer_desc *desc)
{
    if (desc->tracked_count == 0) return WEFT_OK;
    if (desc->tracked == NULL)
        return weft__error_argument(to, "weft_world_transfer",
                                    "tracked is NULL, but tracked_count is not 0: set both");
    uint32_t i = weft__foreign_find(&from->directory, desc->tracked, desc->tracked_count);
    if (i == desc->tracked_count) return WEFT_OK;
    return weft__error(to, WEFT_BAD_HANDLE, desc->tracked[i], WEFT__NO_COMPONENT,
                       "weft_world_transfer: tracked[%u], entity %s, is not of the source: give "
                       "handles of the world that entities leave",
                       i, weft__entity_say(from, desc->tracked[i]).text);
}

weft_result weft_world_transfer(weft_world *to, weft_world *from, const weft_transfer_desc *desc,
                                weft_transfer_report *report, size_t report_bytes)
{
    static const weft_transfer_desc everything;
    if (report != NULL && report_bytes != 0) memset(report, 0, report_bytes);
    if (to == NULL) return WEFT_INVALID_ARGUMENT;
    if (from == NULL || from == to)
        return weft__error(to, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_world_transfer: the source is NULL or the destination itself: "
                           "give two worlds");
    if (desc == NULL) desc = &everything;
    weft_result result = tracked_check(to, from, desc);
    if (result == WEFT_OK) result = weft__idle(to, "weft_world_transfer");
    if (result == WEFT_OK) result = weft__lent_refuse(to, "weft_world_transfer");
    if (result == WEFT_OK && from->lent.loads != 0)
        result = weft__error(to, WEFT_BUSY, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                             "weft_world_transfer: sections of the source are being read or taken "
                             "out: call weft_stream_wait first");
    if (result != WEFT_OK) return result;
    weft__transfer t = {.from = from, .to = to, .shares_memory = shares_memory(from, to)};
    result = rows_select(&t, desc->query);
    bool is_selected = result == WEFT_OK;
    if (is_selected) result = reserve(&t);
    if (is_selected && result != WEFT_OK) undo(&t);
    if (result == WEFT_OK) commit(&t, desc);
    if (result == WEFT_OK && report != NULL)
        weft__sized_fill(report, report_bytes, &t.report, sizeof t.report);
    finish(&t, result == WEFT_OK);
    return result;
}
