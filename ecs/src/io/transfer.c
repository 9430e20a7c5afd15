/* SPDX-License-Identifier: MIT */
/* transfer.c: weft_world_transfer: entities go from one world to another. Everything that can fail
 * comes before the commit and is undone; the commit gives ids, lets references follow, and ends the
 * rows of the source without touching their values. Owner of both worlds, during one transfer. */
#include "archetype.h"
#include "blob_store.h"
#include "component_registry.h"
#include "entity_tag.h"
#include "entity_value.h"
#include "name_table.h"
#include "query_change.h"
#include "relation_registry.h"
#include "sized.h"

#include <string.h>
#include <weft/transfer.h>

#define CATEGORY WEFT__MEMORY_COMMANDS

/* Marks a location of a source entity that moves: below it is its number in the order of moving. */
#define TRANSFER_MOVES (UINT32_C(1) << 31)

/* How the destination has a shared value of the source. */
typedef enum value_came {
    VALUE_KNOWN,  /* it had an equal one */
    VALUE_NEW,    /* its bytes were put there by this transfer */
    VALUE_MERGED, /* those of another one, equal there since references became null, were */
} value_came;

/* Shared values of one SHARED type of the source. Owner: the transfer. */
typedef struct transfer_shared {
    uint32_t end;    /* entries of the maps */
    uint32_t *index; /* [source index]: index in the destination + 1; 0: not needed so far. One
                        reference of the transfer is on each */
    uint8_t *came;   /* [source index]: value_came */
} transfer_shared;

/* A blob of the source's store that moved rows refer to. Owner: the transfer's table. */
typedef struct transfer_blob {
    uint64_t from, to; /* references; from 0: free entry; to 0: it was stale */
    bool is_kept;      /* the destination's store keeps a reference */
} transfer_blob;

/* One transfer; on the stack of weft_world_transfer. */
typedef struct transfer {
    weft_world *from, *to;
    weft__pile pile;           /* of what has no other owner; memory of the destination */
    weft__change change;       /* the rows of the source; parts' `pieces`: first of `spans` */
    uint32_t entity_parts;     /* parts with rows of entities; behind them those with rows of
                                      their SPARSE components */
    weft__spans spans;         /* rows of the destination, in the order of the parts */
    uint32_t *types;           /* [source id]: destination id, 0: not asked for yet */
    weft__archetype **targets; /* [source archetype id - 1] */
    transfer_shared *shared;   /* [source id] */
    uint32_t type_count;       /* of the source when the tables were made */
    weft_entity *sources;      /* [number in the order of moving] old handles; behind them: */
    weft_entity *ids;          /* [the same] new handles: given by the commit, or foreseen before */
    uint64_t *moving;          /* bit per index of the source: the entity moves; for SPARSE rows */
    bool are_foreseen;
    uint64_t row_count;
    uint64_t name_count;
    bool shares_memory; /* the same hooks: spilled buffers change hands */
    bool is_refused;    /* memory of a spilled buffer */
    uint32_t copied;    /* parts whose values were copied, the last one maybe in part */
    WEFT__LIST(transfer_blob) blobs;
    weft__table blobs_from; /* of their places in the list, from 1 */
    weft_transfer_report report;
} transfer;

static const weft__change_part *part_at(const transfer *t, uint32_t part)
{
    return &t->change.parts.at[part];
}

/* The source row of row `i` of the part. */
static uint32_t source_row(const transfer *t, const weft__change_part *part, uint32_t i)
{
    const uint32_t *rows = weft__change_rows(&t->change, part);
    return rows != NULL ? rows[i] : part->first + i;
}

/* Where a source entity goes, when the commit has marked all; null: it does not move. */
static weft_entity handle_follow(const transfer *t, weft_entity entity)
{
    uint32_t location;
    bool moves = weft__directory_find(&t->from->directory, entity, &location) &&
                 (location & TRANSFER_MOVES) != 0;
    return moves ? t->ids[location & ~TRANSFER_MOVES] : WEFT__NO_ENTITY;
}

/* Destination rows of a part: calls `visit` for every span with the number of its first row among
 * the rows of the part. */
static void transfer_spans(transfer *t, uint32_t part,
                           void (*visit)(transfer *t, uint32_t part, weft__span span,
                                         uint32_t done))
{
    const weft__change_part *p = &t->change.parts.at[part];
    for (uint32_t i = p->pieces, done = 0; done < p->count; i++) {
        weft__span span = t->spans.at[i];
        visit(t, part, span, done);
        done += span.count;
    }
}

static uint32_t transfer_type(transfer *t, uint32_t component);

/* Components that a description lists, as the destination has them; false: error set. */
static bool list_map(transfer *t, const weft_component *from, uint32_t count, weft_component *to)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = weft__component(t->to, transfer_type(t, from[i].id));
        if (to[i].id == 0) return false;
    }
    return true;
}

/* A description that came with a text ends with the world that read it. */
static bool is_lent(const weft_world *world, const weft_type *type)
{
    const weft__description *at = world->types.descriptions;
    while (at != NULL && at->type != type) at = at->next;
    return at != NULL;
}

/* Registers a type that the destination lacks; the components that it requires come before it, and
 * have other ids there. A relation stays one. Null: error set. */
static weft_component type_register(transfer *t, const weft__type *type)
{
    weft_component_desc desc = type->desc;
    uint32_t count = desc.required_count;
    weft_component *list = weft__pile_take(&t->pile, count, sizeof *list);
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
    if (made.id == 0 ||
        weft__relation_revive(t->to, made, weft__relation_word(t->from, own)) == WEFT_OK)
        return made;
    return WEFT__NO_COMPONENT;
}

/* The destination's type of a source type. 0: error set. */
static uint32_t transfer_type(transfer *t, uint32_t component)
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

/* The destination's archetype of a source archetype. NULL: error set. */
static weft__archetype *transfer_target(transfer *t, const weft__archetype *from)
{
    weft__archetype **target = &t->targets[from->number];
    if (*target != NULL) return *target;
    uint32_t count = from->type_count;
    uint32_t *list = weft__pile_take(&t->pile, count, sizeof *list);
    bool is_known = list != NULL;
    if (list == NULL) weft__error_memory(t->to, "weft_world_transfer");
    for (uint32_t i = 0; i < count && is_known; i++) {
        uint32_t id = transfer_type(t, from->types[i].component), k = i;
        is_known = id != 0;
        for (; k > 0 && list[k - 1] > id; k--) list[k] = list[k - 1];
        list[k] = id;
    }
    if (is_known) *target = weft__archetype_obtain(t->to, list, count);
    return *target;
}

/* Whether the chunk goes over as a chunk: all of it, in the same shape, and, where rows may
 * join others, neither small nor mostly air. */
static bool transfer_keeps_chunk(const weft__change_part *part, const weft__archetype *to,
                                 bool has_room)
{
    const weft__chunk *chunk = part->chunk;
    if (part->count != chunk->count || chunk->archetype->format->cap != to->format->cap)
        return false;
    bool is_small = chunk->layout->size_class < WEFT__UNIT_CLASS;
    bool is_airy = (is_small || chunk->count * 2 < chunk->capacity) && has_room;
    return !is_airy || chunk->archetype->chunk_value_bytes != 0;
}

/* ---- SPARSE rows: values are copied as all are; here is settled whose they are ---- */

static bool moves(const transfer *t, weft_entity entity)
{
    uint32_t index = entity.index ^ t->from->directory.tag_bits;
    return (t->moving[index / 64] >> index % 64 & 1) != 0;
}

static weft_result moving_note(transfer *t)
{
    uint32_t words = weft__directory_end(&t->from->directory) / 64 + 1;
    t->moving = weft__pile_take(&t->pile, words, sizeof *t->moving);
    if (t->moving == NULL) return weft__error_memory(t->to, "weft_world_transfer");
    for (uint64_t i = 0; i < t->row_count; i++) {
        uint32_t index = t->sources[i].index ^ t->from->directory.tag_bits;
        t->moving[index / 64] |= UINT64_C(1) << index % 64;
    }
    return WEFT_OK;
}

/* A part with the rows of a chunk whose entities move: all of them, or a list; none: no part. */
static bool chunk_select(transfer *t, weft__chunk *chunk)
{
    const weft_entity *entities = weft__chunk_entities(chunk);
    uint32_t count = 0;
    for (uint32_t row = 0; row < chunk->count; row++) count += moves(t, entities[row]) ? 1 : 0;
    if (count == 0) return true;
    if (!weft__change_push_part(&t->change, chunk)) return false;
    weft__change_part *part = &t->change.parts.at[t->change.parts.count - 1];
    part->count = count;
    if (count == chunk->count) part->rows = WEFT__NONE; /* a run from row 0 */
    for (uint32_t row = 0; row < chunk->count && count != chunk->count; row++)
        if (moves(t, entities[row]) && !weft__change_push_row(&t->change, row)) return false;
    return true;
}

/* Selects the rows of the entities that move (t->sources is noted). Errors: OUT_OF_MEMORY. */
static weft_result transfer_sparse_select(transfer *t)
{
    t->entity_parts = t->change.parts.count;
    if (t->from->types.sparse == NULL || t->row_count == 0) return WEFT_OK;
    weft_result result = moving_note(t);
    for (uint32_t a = 0; a < t->from->archetypes.count && result == WEFT_OK; a++) {
        const weft__archetype *archetype = t->from->archetypes.at[a];
        if ((archetype->flags & WEFT__IS_SPARSE) == 0) continue;
        for (uint32_t i = 0; i < archetype->chunk_count && result == WEFT_OK; i++)
            if (!chunk_select(t, archetype->chunks[i]))
                result = weft__error_memory(t->to, "weft_world_transfer");
    }
    return result;
}

/* Room for the slots of the new ids, which are reserved. Errors: OUT_OF_MEMORY. */
static weft_result transfer_sparse_reserve(transfer *t)
{
    for (uint32_t i = t->entity_parts; i < t->change.parts.count; i++) {
        const weft__archetype *from = t->change.parts.at[i].chunk->archetype;
        const weft__archetype *to = t->targets[from->number];
        if (!weft__sparse_reserve_all(t->to, weft__sparse_type(to)))
            return weft__error_memory(t->to, "weft_world_transfer");
    }
    return WEFT_OK;
}

/* SPARSE rows belong to the new ids; the slots of the old ones are empty. Sources are marked. */
static void span_give(transfer *t, uint32_t number, weft__span to, uint32_t done)
{
    const weft__change_part *part = part_at(t, number);
    for (uint32_t i = 0; i < to.count; i++) {
        weft_entity entity = weft__chunk_entities(part->chunk)[source_row(t, part, done + i)];
        weft__sparse_clear(part->chunk, entity); /* the same may be the place to fill */
        weft_entity now = weft__chunk_entities(to.chunk)[to.row + i] = handle_follow(t, entity);
        WEFT_ASSERT(now.version != 0);
        (void)now;
    }
    weft__sparse_enter(to.chunk, to.row, to.count);
}

/* ---- blobs: copied before the commit, fields are rewritten after it ---- */

static uint32_t id_hash(uint64_t id)
{
    return (uint32_t)hash_fold(id ^ HASH_K0, HASH_K1);
}

/* NULL: it is not listed. */
static transfer_blob *blob_of(const transfer *t, uint64_t id)
{
    uint32_t step = 0, number;
    while ((number = weft__table_next(&t->blobs_from, id_hash(id), &step)) != 0)
        if (t->blobs.at[number - 1].from == id) return &t->blobs.at[number - 1];
    return NULL;
}

/* Room for one more. */
static bool blobs_reserve(transfer *t)
{
    uint32_t count = t->blobs.count + 1;
    return WEFT__LIST_ROOM(&t->to->memory, CATEGORY, &t->blobs, count) &&
           weft__table_room(&t->to->memory, CATEGORY, &t->blobs_from, count);
}

static weft_result blob_copy(transfer *t, weft_blob_ref from, weft_blob_ref *out)
{
    out->id = 0;
    const weft__blob_header *header = weft__blob_store_block(t->from->blobs, from);
    const weft_blob_type *type = weft__blob_store_type(t->from->blobs, from);
    if (header == NULL) return WEFT_OK; /* stale here: null there, where it might mean another */
    weft__blob_block block = {0};
    weft_result result = weft__blob_block_create(t->to->blobs, header->total_bytes, &block);
    if (result != WEFT_OK) return result;
    memcpy(block.memory, header, header->total_bytes);
    result = weft__blob_store_insert(t->to->blobs, &block, type, out);
    if (result != WEFT_OK) weft__blob_block_destroy(t->to->blobs, &block);
    return result;
}

/* The entry of a blob, copied when it is new. NULL: memory is refused. */
static transfer_blob *blob_take(transfer *t, weft_blob_ref from)
{
    weft_blob_ref copy;
    transfer_blob *entry = blob_of(t, from.id);
    if (entry != NULL) return entry;
    if (weft_world_blobs(t->to) == NULL || !blobs_reserve(t)) return NULL;
    if (blob_copy(t, from, &copy) != WEFT_OK) return NULL;
    entry = &t->blobs.at[t->blobs.count++];
    *entry = (transfer_blob){.from = from.id, .to = copy.id};
    weft__table_put(&t->blobs_from, id_hash(from.id), t->blobs.count);
    return entry;
}

/* ---- shared values ----
 *
 * Found by content in the destination, or put there, with exact references on both sides.
 * References in a value lead to the new handles, so these are foreseen before any is given. While
 * the transfer lasts it holds one reference on every value of the destination that it needs.
 * A value with a release hook has one owner: until the commit that is the source (the copy in the
 * destination is disowned, so that undoing does not end it), from then on the destination. */

static const weft_component_desc *desc_of(const transfer *t, uint32_t component)
{
    return &t->from->types.at[component]->desc;
}

static transfer_shared *map_of(transfer *t, uint32_t component)
{
    transfer_shared *map = &t->shared[component];
    if (map->end != 0) return map;
    uint32_t end = weft__shared_end(&t->from->shared, component);
    map->index = weft__pile_take(&t->pile, end, sizeof *map->index);
    map->came = weft__pile_take(&t->pile, end, sizeof *map->came);
    if (t->pile.is_refused) return NULL;
    map->end = end;
    return map;
}

/* A reference in a shared value leads to the copy of its blob, which the destination's store
 * keeps. */
static bool blob_foresee(transfer *t, weft__reference *r)
{
    transfer_blob *entry = blob_take(t, r->blob);
    if (entry == NULL) return false;
    entry->is_kept = true;
    r->blob.id = entry->to;
    return true;
}

/* A reference in a shared value becomes the handle that its entity will have, or null. False:
 * memory is refused. */
static bool reference_foresee(void *user, weft__reference *r)
{
    transfer *t = user;
    uint32_t row, first = 0;
    if (r->bits == 0) return true;
    if (r->is_blob) return t->from->blobs == NULL || blob_foresee(t, r);
    if (!t->are_foreseen)
        weft__directory_foresee_owner(&t->to->directory, (uint32_t)t->row_count, t->ids);
    t->are_foreseen = true;
    const weft__chunk *chunk = weft__entity_chunk(t->from, r->entity, &row);
    for (uint32_t p = 0; p < t->entity_parts && chunk != NULL; p++) {
        const weft__change_part *part = &t->change.parts.at[p];
        for (uint32_t i = 0; i < part->count && part->chunk == chunk; i++) {
            if (source_row(t, part, i) != row) continue;
            r->entity = t->ids[first + i];
            return true;
        }
        first += part->count;
    }
    r->entity = WEFT__NO_ENTITY;
    t->report.references_cleared++;
    return true;
}

/* The value that the destination gets for a source value. NULL: memory is refused. */
static const void *value_follow(transfer *t, uint32_t component, uint32_t index)
{
    const weft__type *type = t->from->types.at[component];
    const void *value = weft__shared_value(&t->from->shared, component, index);
    if (type->reference_count == 0) return value;
    void *own = weft__pile_take(&t->pile, 1, type->desc.size);
    if (own == NULL) return NULL;
    memcpy(own, value, type->desc.size);
    return weft__elements_references(type, own, 1, reference_foresee, t) ? own : NULL;
}

/* Whether the destination has a value from this transfer. */
static bool is_put(const transfer_shared *map, uint32_t found)
{
    for (uint32_t i = 1; i < map->end; i++)
        if (map->index[i] == found + 1 && map->came[i] == VALUE_NEW) return true;
    return false;
}

static weft_result value_put(transfer *t, transfer_shared *map, uint32_t component, uint32_t index)
{
    bool refers = t->from->types.at[component]->reference_count != 0;
    uint32_t type = t->types[component], found;
    const void *value = value_follow(t, component, index);
    bool is_known = value != NULL && weft__shared_find(&t->to->shared, type, value, &found);
    weft_result result = value != NULL ? weft__shared_intern(&t->to->shared, type, value, &found)
                                       : WEFT_OUT_OF_MEMORY;
    if (result != WEFT_OK) return result;
    bool may_merge = refers && desc_of(t, component)->shared_release != NULL;
    map->came[index] = !is_known                         ? VALUE_NEW
                       : may_merge && is_put(map, found) ? VALUE_MERGED
                                                         : VALUE_KNOWN;
    map->index[index] = found + 1;
    if (!is_known) weft__shared_disown(&t->to->shared, type, found, true);
    return WEFT_OK;
}

/* The destination's index of a source value. */
static weft_result value_find(transfer *t, uint32_t component, uint32_t index, uint32_t *out)
{
    *out = 0;
    if (index == 0) return WEFT_OK;
    transfer_shared *map = map_of(t, component);
    if (map == NULL) return weft__error_memory(t->to, "weft_world_transfer");
    if (map->index[index] == 0 && value_put(t, map, component, index) != WEFT_OK)
        return weft__error_memory(t->to, "a shared value");
    *out = map->index[index] - 1;
    return WEFT_OK;
}

/* The destination's tuple for a source tuple. Held. NULL: error set. */
static weft__tuple *transfer_tuple(transfer *t, const weft__tuple *from, weft__archetype *to)
{
    const weft__archetype *archetype = from->archetype;
    uint32_t count = to->shared_count;
    weft_result result = WEFT_OK;
    if (count == 0) {
        to->tuple0->holders++;
        return to->tuple0;
    }
    uint32_t *values = weft__pile_take(&t->pile, count, sizeof *values);
    if (values == NULL) result = weft__error_memory(t->to, "weft_world_transfer");
    for (uint32_t i = 0; i < archetype->type_count && result == WEFT_OK; i++) {
        const weft__type_ref *ref = &archetype->types[i];
        if (ref->shared == WEFT__NO_PLACE) continue;
        uint32_t type = weft__archetype_find(to, t->types[ref->component]);
        result = value_find(t, ref->component, from->values[ref->shared],
                            &values[to->types[type].shared]);
    }
    return result == WEFT_OK ? weft__tuple_obtain(t->to, to, values) : NULL;
}

/* Of one shared value: what the source has of it after the transfer. A value, of a list that
 * lives as long as component_check. */
typedef struct remainder {
    uint64_t rows;
    uint32_t tuples;
} remainder;

/* The remainders of a component's values, [map->end]. Every tuple is looked at once. */
static void remainders_count(const transfer *t, uint32_t component, remainder *left)
{
    const weft__component_list *list = weft__component_list_at(t->from, component);
    for (uint32_t a = 0; a < list->count; a++) {
        const weft__archetype *archetype = t->from->archetypes.at[list->at[a].archetype];
        uint32_t shared = list->at[a].place.shared;
        for (uint32_t i = 0; i < archetype->tuples.count; i++) {
            const weft__tuple *tuple = archetype->tuples.at[i];
            left[tuple->values[shared]].rows += tuple->rows;
            left[tuple->values[shared]].tuples++;
        }
    }
    for (uint32_t i = 0; i < t->change.parts.count; i++) {
        const weft__change_part *part = &t->change.parts.at[i];
        uint32_t type = weft__archetype_find(part->chunk->archetype, component);
        if (type == WEFT__NONE) continue;
        uint32_t shared = part->chunk->archetype->types[type].shared;
        left[part->chunk->tuple->values[shared]].rows -= part->count;
    }
}

/* The lowest value that would live in both worlds, 0: none. */
static uint32_t value_left(const transfer *t, uint32_t component, const remainder *left)
{
    const transfer_shared *map = &t->shared[component];
    for (uint32_t index = 1; index < map->end; index++)
        if (map->came[index] != VALUE_KNOWN &&
            (left[index].rows != 0 ||
             weft__shared_references(&t->from->shared, component, index) != left[index].tuples))
            return index;
    return 0;
}

static weft_result component_check(transfer *t, uint32_t component)
{
    uint32_t count = weft__shared_end(&t->from->shared, component);
    remainder *left = weft__pile_take(&t->pile, count, sizeof *left);
    if (left == NULL) return weft__error_memory(t->to, "weft_world_transfer");
    remainders_count(t, component, left);
    uint32_t index = value_left(t, component, left);
    if (index == 0) return WEFT_OK;
    return weft__error(t->to, WEFT_BUSY, WEFT__NO_ENTITY,
                       weft__component(t->to, t->types[component]),
                       "weft_world_transfer: a value of \"%s\" has a shared_release hook and would "
                       "live in both worlds: move all entities that have it, and reset filters and "
                       "destroy snapshots of \"%s\" that name it",
                       desc_of(t, component)->name, t->from->desc.name);
}

/* BUSY when a value with a release hook would live in both worlds. After all tuples. */
static weft_result transfer_shared_check(transfer *t)
{
    weft_result result = WEFT_OK;
    for (uint32_t id = 1; id <= t->type_count && result == WEFT_OK; id++)
        if (t->shared[id].end != 0 && desc_of(t, id)->shared_release != NULL)
            result = component_check(t, id);
    return result;
}

/* ---- blobs of rows ---- */

/* One walk over BLOB fields; lives on the stack of its caller. */
typedef struct walk {
    transfer *t;
    const weft__type *type;
    weft_result result;
} walk;

static bool field_collect(void *user, weft__reference *r)
{
    walk *w = user;
    if (!r->is_blob || r->bits == 0) return true;
    transfer_blob *entry = blob_take(w->t, r->blob);
    if (entry == NULL) w->result = WEFT_OUT_OF_MEMORY;
    if (entry != NULL && w->type->desc.hooks.destruct == NULL) entry->is_kept = true;
    return entry != NULL;
}

static weft_result part_collect(transfer *t, const weft__change_part *part)
{
    const weft__chunk *chunk = part->chunk;
    walk w = {.t = t};
    for (uint32_t i = 0; i < chunk->archetype->type_count && w.result == WEFT_OK; i++) {
        const weft__type_ref *ref = &chunk->archetype->types[i];
        if (!weft__type_has_blobs(ref->type)) continue;
        w.type = ref->type;
        if (ref->chunk_offset != WEFT__NONE && part->is_header)
            weft__type_references(ref->type, chunk->chunk_values + ref->chunk_offset, 1,
                                  field_collect, &w);
        for (uint32_t r = 0; r < part->count && ref->column != 0 && w.result == WEFT_OK; r++)
            weft__type_references(ref->type,
                                  weft__chunk_value(chunk, ref->column, source_row(t, part, r)), 1,
                                  field_collect, &w);
    }
    return w.result;
}

/* Copies the blobs that the rows refer to. After the rows are reserved. */
static weft_result transfer_blobs_collect(transfer *t)
{
    if (t->from->blobs == NULL) return WEFT_OK;
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < t->change.parts.count && result == WEFT_OK; i++)
        result = part_collect(t, &t->change.parts.at[i]);
    return result == WEFT_OK ? WEFT_OK : weft__error_memory(t->to, "weft_world_transfer: a blob");
}

/* A reference of a BLOB field of a moved value, not null, leads to the copy. */
static void transfer_blob_follow(const transfer *t, const weft__type *type, weft_blob_ref *field)
{
    if (t->blobs.count == 0) return;
    weft_blob_ref copy = {blob_of(t, field->id)->to};
    if (type->desc.hooks.destruct != NULL && copy.id != 0) { /* the field owns a reference */
        weft_blob_acquire(t->to->blobs, copy);
        weft_blob_release(t->from->blobs, *field);
    }
    *field = copy;
}

/* ---- values: they move as bytes, no hook of theirs runs ---- */

/* Position in the destination's archetype of type `i` of a part's archetype. */
static const weft__type_ref *target_of(const transfer *t, const weft__change_part *part, uint32_t i,
                                       const weft__archetype *to)
{
    uint32_t component = part->chunk->archetype->types[i].component;
    return &to->types[weft__archetype_find(to, t->types[component])];
}

/* Of a buffer whose elements may lie in heap memory. */
static bool is_spilling(const weft__type_ref *ref)
{
    return (ref->type->desc.flags & WEFT_BUFFER) != 0 && ref->type->desc.size != 0;
}

static weft_buffer *buffer_at(const weft__chunk *chunk, uint32_t column, uint32_t row)
{
    return (weft_buffer *)(void *)weft__chunk_value(chunk, column, row);
}

static void column_copy(const transfer *t, const weft__change_part *part, uint32_t column,
                        uint32_t done, weft__span to, uint32_t to_column)
{
    const weft__chunk *from = part->chunk;
    size_t bytes = from->layout->columns[column].bytes;
    char *target = weft__chunk_value(to.chunk, to_column, to.row);
    if (part->rows == WEFT__NONE) {
        memcpy(target, weft__chunk_value(from, column, part->first + done), to.count * bytes);
        return;
    }
    for (uint32_t i = 0; i < to.count; i++)
        memcpy(target + i * bytes, weft__chunk_value(from, column, source_row(t, part, done + i)),
               bytes);
}

/* Gives the copies of spilled buffers memory of the destination; none where it is refused. */
static void heaps_copy(transfer *t, const weft__change_part *part, const weft__type_ref *ref,
                       uint32_t done, weft__span to, uint32_t to_column)
{
    size_t size = ref->type->desc.size;
    for (uint32_t i = 0; i < to.count; i++) {
        weft_buffer *copy = buffer_at(to.chunk, to_column, to.row + i);
        const weft_buffer *buffer =
            buffer_at(part->chunk, ref->column, source_row(t, part, done + i));
        copy->heap = NULL;
        if (buffer->heap == NULL) continue;
        copy->heap = weft__alloc(&t->to->memory, WEFT__MEMORY_BUFFERS, buffer->capacity, size, 16);
        if (copy->heap != NULL)
            memcpy(copy->heap, buffer->heap, buffer->count * size);
        else
            t->is_refused = true;
    }
}

static void span_copy(transfer *t, uint32_t number, weft__span to, uint32_t done)
{
    const weft__change_part *part = part_at(t, number);
    const weft__archetype *archetype = part->chunk->archetype;
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        const weft__type_ref *ref = &archetype->types[i];
        if (ref->column == 0) continue;
        uint32_t column = target_of(t, part, i, to.chunk->archetype)->column;
        column_copy(t, part, ref->column, done, to, column);
        if (is_spilling(ref) && !t->shares_memory) heaps_copy(t, part, ref, done, to, column);
    }
}

/* Undoes it. */
static void span_uncopy(transfer *t, uint32_t number, weft__span to, uint32_t done)
{
    const weft__archetype *archetype = to.chunk->archetype;
    (void)number, (void)done;
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        const weft__type_ref *ref = &archetype->types[i];
        for (uint32_t r = 0; r < to.count && is_spilling(ref); r++) {
            weft_buffer *copy = buffer_at(to.chunk, ref->column, to.row + r);
            weft__free(&t->to->memory, WEFT__MEMORY_BUFFERS, copy->heap, copy->capacity,
                       ref->type->desc.size, 16);
        }
    }
}

/* Memory of spilled buffers: counted in its new world, or freed in the old one. */
static void heaps_settle(transfer *t, const weft__change_part *part, const weft__type_ref *ref,
                         uint32_t row)
{
    weft_buffer *buffer = buffer_at(part->chunk, ref->column, row);
    if (buffer->heap == NULL) return;
    int64_t bytes = (int64_t)(buffer->capacity * ref->type->desc.size);
    if (!t->shares_memory) {
        weft__free(&t->from->memory, WEFT__MEMORY_BUFFERS, buffer->heap, buffer->capacity,
                   ref->type->desc.size, 16);
        return;
    }
    weft__memory_count(&t->from->memory, WEFT__MEMORY_BUFFERS, -bytes);
    weft__memory_count(&t->to->memory, WEFT__MEMORY_BUFFERS, bytes);
}

/* Whose references are followed. On the stack. */
typedef struct following {
    transfer *t;
    const weft__type *type; /* of the destination */
} following;

/* A reference to a source entity becomes its new handle, or null; one to a blob leads to the copy.
 */
static bool reference_follow(void *user, weft__reference *r)
{
    const following *f = user;
    transfer *t = f->t;
    if (r->bits == 0) return true;
    if (r->is_blob) {
        transfer_blob_follow(t, f->type, &r->blob);
        return true;
    }
    r->entity = handle_follow(t, r->entity);
    t->report.references_cleared += r->bits == 0 ? 1 : 0;
    return true;
}

static void references_follow(transfer *t, const weft__type *type, void *values, uint32_t count)
{
    following f = {t, type};
    if ((type->desc.flags & WEFT_BUFFER) != 0)
        weft__type_references(type, values, count, reference_follow, &f);
    else /* the same, inlined */
        weft__elements_references(type, values, count, reference_follow, &f);
}

static void span_settle(transfer *t, uint32_t number, weft__span to, uint32_t done)
{
    const weft__change_part *part = part_at(t, number);
    const weft__archetype *archetype = part->chunk->archetype;
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        const weft__type_ref *ref = &archetype->types[i];
        const weft__type_ref *target = target_of(t, part, i, to.chunk->archetype);
        weft__rows_stamp(to.chunk, (uint32_t)(target - to.chunk->archetype->types), to.row,
                         to.count, t->to->front.version);
        for (uint32_t r = 0; r < to.count && is_spilling(ref); r++)
            heaps_settle(t, part, ref, source_row(t, part, done + r));
        for (uint32_t r = 0; r < to.count && ref->enableable != WEFT__NO_PLACE; r++)
            if (!weft__chunk_is_enabled(part->chunk, ref->enableable,
                                        source_row(t, part, done + r)))
                weft__chunk_enable(to.chunk, target->enableable, to.row + r, false);
        if (target->column != 0) {
            void *values = weft__chunk_value(to.chunk, target->column, to.row);
            references_follow(t, target->type, values, to.count);
        }
    }
}

static void chunk_values_settle(transfer *t, const weft__change_part *part, const weft__chunk *to)
{
    const weft__archetype *archetype = part->chunk->archetype;
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        const weft__type_ref *ref = &archetype->types[i];
        if (ref->chunk_offset == WEFT__NONE) continue;
        const weft__type_ref *target = target_of(t, part, i, to->archetype);
        char *value = to->chunk_values + target->chunk_offset;
        memcpy(value, part->chunk->chunk_values + ref->chunk_offset, ref->type->chunk_bytes);
        references_follow(t, target->type, value, 1);
    }
}

/* Heap memory, enable bits, versions, references of a part; after all ids are given. */
static void transfer_settle(transfer *t, uint32_t part)
{
    const weft__change_part *p = part_at(t, part);
    transfer_spans(t, part, span_settle);
    if (p->is_header) chunk_values_settle(t, p, t->spans.at[p->pieces].chunk);
}

static weft_result rows_select(transfer *t, weft_query query)
{
    t->change.world = t->from;
    weft_result result = query.id == 0
                             ? weft__change_select_all(&t->change, "weft_world_transfer")
                             : weft__change_select(&t->change, query, "weft_world_transfer");
    for (uint32_t i = 0; i < t->change.parts.count; i++)
        t->row_count += t->change.parts.at[i].count;
    /* Copies the last error of the source to the destination, where the caller looks. */
    if (result == WEFT_OK) return WEFT_OK;
    const uint64_t number = t->to->error->number + 1; /* it counts the failures of each world */
    *t->to->error = *t->from->error;
    t->to->error->number = number;
    return result;
}

static weft_result tables_make(transfer *t)
{
    t->type_count = t->from->types.count;
    t->types = weft__pile_take(&t->pile, t->type_count + 1, sizeof *t->types);
    t->shared = weft__pile_take(&t->pile, t->type_count + 1, sizeof *t->shared);
    t->targets = weft__pile_take(&t->pile, t->from->archetypes.count, sizeof(void *));
    t->sources = weft__alloc(&t->to->memory, CATEGORY, 2 * t->row_count, sizeof(weft_entity), 8);
    if (t->pile.is_refused || t->sources == NULL)
        return weft__error_memory(t->to, "weft_world_transfer");
    t->ids = t->sources + t->row_count;
    /* The handles of the source, in the order of moving. */
    weft_entity *next = t->sources;
    for (uint32_t p = 0; p < t->change.parts.count; p++) {
        const weft__change_part *part = &t->change.parts.at[p];
        const weft_entity *entities = weft__chunk_entities(part->chunk);
        for (uint32_t i = 0; i < part->count; i++) *next++ = entities[source_row(t, part, i)];
    }
    return transfer_sparse_select(t);
}

/* ---- map ---- */

static weft_result chunk_reserve(transfer *t, const weft__change_part *part, weft__tuple *tuple)
{
    weft__chunk *chunk = weft__chunk_create(t->to, tuple, part->chunk->layout->size_class);
    if (chunk == NULL) return t->to->error->code;
    if (!weft__spans_push(t->to, &t->spans, (weft__span){chunk, 0, part->count})) {
        weft__chunk_release(t->to, chunk, false);
        return weft__error_memory(t->to, "weft_world_transfer");
    }
    WEFT_ASSERT(chunk->capacity == part->chunk->capacity);
    chunk->count = part->count;
    weft__chunk_count_rows(t->to, chunk, part->count);
    weft__chunk_room_update(chunk);
    t->report.chunks_kept++;
    return WEFT_OK;
}

static weft_result part_reserve(transfer *t, weft__change_part *part)
{
    weft__archetype *archetype = transfer_target(t, part->chunk->archetype);
    weft__tuple *tuple =
        archetype == NULL ? NULL : transfer_tuple(t, part->chunk->tuple, archetype);
    if (tuple == NULL) return t->to->error->code;
    part->pieces = t->spans.count;
    bool may_grow = tuple->chunk_count == 1 && part->chunk->layout->size_class < WEFT__UNIT_CLASS;
    part->is_header = transfer_keeps_chunk(part, archetype, tuple->room != NULL || may_grow);
    weft_result result = part->is_header ? chunk_reserve(t, part, tuple)
                                         : weft__rows_reserve(t->to, tuple, part->count, &t->spans);
    weft__tuple_release(t->to, tuple);
    return result;
}

/* Room in the table of names. */
static weft_result names_reserve(transfer *t)
{
    if (t->from->names == NULL) return WEFT_OK;
    for (uint64_t i = 0; i < t->row_count; i++)
        if (weft_entity_name(t->from, t->sources[i])[0] != '\0') t->name_count++;
    if (t->name_count == 0) return WEFT_OK;
    uint32_t names = (uint32_t)t->name_count, texts = weft__names_texts(t->from);
    weft_result result = weft__names_reserve(t->to, names, texts < names ? texts : names);
    return result == WEFT_OK ? WEFT_OK : weft__error_memory(t->to, "weft_world_transfer: names");
}

static weft_result reserve(transfer *t)
{
    weft_result result = tables_make(t);
    if (result != WEFT_OK) return result;
    result = t->row_count >= TRANSFER_MOVES
                 ? WEFT_LIMIT
                 : weft__directory_reserve_owner(&t->to->directory, (uint32_t)t->row_count);
    if (result != WEFT_OK) return weft__error_limit(t->to, result, "weft_world_transfer");
    for (uint32_t i = 0; i < t->change.parts.count && result == WEFT_OK; i++)
        result = part_reserve(t, &t->change.parts.at[i]);
    if (result == WEFT_OK) result = transfer_sparse_reserve(t);
    if (result == WEFT_OK) result = transfer_shared_check(t);
    if (result == WEFT_OK) result = names_reserve(t);
    if (result == WEFT_OK) result = transfer_blobs_collect(t);
    if (result != WEFT_OK) return result;
    while (t->copied < t->change.parts.count && !t->is_refused)
        transfer_spans(t, t->copied++, span_copy);
    return t->is_refused ? weft__error_memory(t->to, "weft_world_transfer: a buffer") : WEFT_OK;
}

static void undo(transfer *t)
{
    while (t->copied > 0 && !t->shares_memory) transfer_spans(t, --t->copied, span_uncopy);
    for (uint32_t i = 0; i < t->spans.count; i++) weft__chunk_soil(t->spans.at[i].chunk);
    weft__rows_unreserve(t->to, &t->spans, 0);
}

/* ---- commit: cannot fail ---- */

static void ids_give(transfer *t)
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
static void sources_mark(transfer *t)
{
    for (uint32_t i = 0; i < (uint32_t)t->row_count; i++)
        weft__directory_place(&t->from->directory, t->sources[i], TRANSFER_MOVES | i);
}

static void names_move(transfer *t)
{
    for (uint64_t i = 0; i < t->row_count && t->name_count != 0; i++) {
        const char *name = weft_entity_name(t->from, t->sources[i]);
        if (name[0] == '\0') continue;
        weft_result result = weft_entity_set_name(t->to, t->ids[i], name);
        WEFT_ASSERT(result == WEFT_OK); /* reserved */
        (void)result;
    }
}

/* The rows of a part leave the source. Their values are somewhere else now, their ids dead. */
static void source_end(transfer *t, const weft__change_part *part)
{
    weft__chunk *chunk = part->chunk;
    const uint32_t *rows = weft__change_rows(&t->change, part);
    if ((chunk->archetype->flags & WEFT__IS_SPARSE) == 0)
        weft__rows_close(t->from, chunk, rows, part->first, part->count);
    else if (part->count == chunk->count) /* nothing is destructed */
        chunk->count = 0;
    else
        for (uint32_t i = part->count; i-- > 0;) weft__sparse_close_row(t->from, chunk, rows[i]);
    weft__chunk_settle(t->from, chunk, part->count);
}

static void commit(transfer *t, const weft_transfer_desc *desc)
{
    ids_give(t);
    names_move(t);
    sources_mark(t);
    for (uint32_t i = t->entity_parts; i < t->change.parts.count; i++)
        transfer_spans(t, i, span_give);
    for (uint32_t i = 0; i < t->change.parts.count; i++) transfer_settle(t, i);
    for (uint32_t i = 0; i < desc->tracked_count; i++)
        desc->tracked[i] = handle_follow(t, desc->tracked[i]);
    /* New values are the destination's from here on: the source lets go without its hook. */
    for (uint32_t id = 1; id <= t->type_count; id++) {
        const transfer_shared *map = &t->shared[id];
        for (uint32_t index = 1; index < map->end; index++) {
            if (map->came[index] != VALUE_NEW) continue;
            weft__shared_disown(&t->to->shared, t->types[id], map->index[index] - 1, false);
            if (desc_of(t, id)->shared_release != NULL)
                weft__shared_disown(&t->from->shared, id, index, true);
        }
    }
    weft__directory_free_many_owner(&t->from->directory, t->sources, (uint32_t)t->row_count);
    for (uint32_t i = 0; i < t->change.parts.count; i++) source_end(t, &t->change.parts.at[i]);
    t->report.entities = t->row_count;
}

static void finish(transfer *t, bool is_done)
{
    /* Drops the references without a keeper; all of them unless the transfer is done. */
    for (uint32_t i = 0; i < t->blobs.count; i++) {
        const transfer_blob *entry = &t->blobs.at[i];
        if (entry->to != 0 && !(is_done && entry->is_kept))
            weft_blob_release(t->to->blobs, (weft_blob_ref){entry->to});
    }
    WEFT__LIST_FREE(&t->to->memory, CATEGORY, &t->blobs);
    weft__table_free(&t->to->memory, CATEGORY, &t->blobs_from);
    /* Drops the references of the transfer. */
    for (uint32_t id = 1; id <= t->type_count && t->shared != NULL; id++) {
        const transfer_shared *map = &t->shared[id];
        for (uint32_t index = 1; index < map->end; index++)
            if (map->index[index] > 1)
                weft__shared_release(&t->to->shared, t->types[id], map->index[index] - 1, 1);
    }
    weft__pile_free(&t->pile);
    weft__free(&t->to->memory, CATEGORY, t->sources, 2 * t->row_count, sizeof(weft_entity), 8);
    weft__spans_fini(t->to, &t->spans);
    weft__change_fini(&t->change);
}

static bool shares_memory(const weft_world *a, const weft_world *b)
{
    const weft_allocator *x = &a->memory.hook, *y = &b->memory.hook;
    return x->allocate == y->allocate && x->release == y->release && x->user == y->user;
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
    transfer t = {.from = from,
                  .to = to,
                  .pile = {.memory = &to->memory, .category = CATEGORY},
                  .shares_memory = shares_memory(from, to)};
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
