/* transfer.c: weft_world_transfer: entities go from one world to another. The steps and what they
 * share are in transfer_private.h. Everything that can fail comes before the commit and is undone;
 * the commit gives ids, lets references follow, and ends the rows of the source without touching
 * their values. Owner of both worlds. */
#include "transfer_private.h"

#include <string.h>

#define CATEGORY WEFT__MEMORY_COMMANDS

weft_result weft__transfer_failed(weft__transfer *t, weft_result result)
{
    if (result != WEFT_OK) *t->to->error = *t->from->error;
    return result;
}

bool weft__transfer_spans(weft__transfer *t, uint32_t part,
                          bool (*visit)(weft__transfer *t, uint32_t part, weft__span span,
                                        uint32_t done))
{
    const weft__change_part *p = &t->change.parts[part];
    for (uint32_t i = p->pieces, done = 0; done < p->count; i++) {
        weft__span span = t->spans.items[i];
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
    for (uint32_t i = 0; i < t->change.part_count; i++) t->row_count += t->change.parts[i].count;
    return weft__transfer_failed(t, result);
}

static weft_result tables_make(weft__transfer *t)
{
    weft__memory *memory = &t->to->memory;
    t->type_count = t->from->type_count;
    t->archetype_count = t->from->archetype_count;
    t->types = weft__alloc_zeroed(memory, CATEGORY, t->type_count + 1, sizeof *t->types, 4);
    t->shared = weft__alloc_zeroed(memory, CATEGORY, t->type_count + 1, sizeof *t->shared, 8);
    t->targets =
        weft__alloc_zeroed(memory, CATEGORY, t->archetype_count + 1, sizeof *t->targets, 8);
    t->ids = weft__alloc(memory, CATEGORY, t->row_count + 1, sizeof *t->ids, 8);
    bool is_made = t->types != NULL && t->shared != NULL && t->targets != NULL && t->ids != NULL;
    return is_made ? WEFT_OK : weft__error_memory(t->to, "weft_world_transfer");
}

/* ---- map ---- */

uint32_t weft__transfer_type(weft__transfer *t, uint32_t component)
{
    if (t->types[component] != 0) return t->types[component];
    const weft__type *type = t->from->types[component];
    weft_component found = weft_component_find(t->to, type->desc.name);
    if (found.id == 0) {
        found = weft_component_create(t->to, &type->desc);
    } else if (t->to->types[found.id]->hash != type->hash) {
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
static weft__archetype *target_find(weft__transfer *t, const weft__archetype *from)
{
    weft__archetype **target = &t->targets[from->id - 1];
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

/* Whether the chunk goes over as a chunk: all of it, in the same shape, and not mostly air. */
static bool keeps_chunk(const weft__change_part *part, const weft__tuple *to)
{
    const weft__chunk *chunk = part->chunk;
    const weft__format *from_format = chunk->archetype->format, *format = to->archetype->format;
    if (part->count != chunk->count || from_format->cap != format->cap) return false;
    bool is_airy = chunk->count * 2 < chunk->capacity && to->room != NULL;
    return !is_airy || chunk->archetype->chunk_value_bytes != 0;
}

static weft_result chunk_reserve(weft__transfer *t, const weft__change_part *part,
                                 weft__tuple *tuple)
{
    weft__chunk *chunk = weft__chunk_create(t->to, tuple, part->chunk->layout->size_class);
    if (chunk == NULL) return t->to->error->code;
    if (!weft__spans_push(t->to, &t->spans, (weft__span){chunk, 0, part->count})) {
        weft__chunk_release(t->to, chunk);
        return weft__error_memory(t->to, "weft_world_transfer");
    }
    WEFT_ASSERT(chunk->capacity == part->chunk->capacity);
    chunk->count = part->count;
    weft__chunk_count_rows(t->to, chunk, part->count);
    weft__chunk_room_update(chunk);
    t->report.chunks_kept++;
    return WEFT_OK;
}

static weft_result part_reserve(weft__transfer *t, weft__change_part *part)
{
    weft__archetype *archetype = target_find(t, part->chunk->archetype);
    weft__tuple *tuple =
        archetype == NULL ? NULL : weft__transfer_tuple(t, part->chunk->tuple, archetype);
    if (tuple == NULL) return t->to->error->code;
    part->pieces = t->spans.count;
    part->is_header = keeps_chunk(part, tuple);
    weft_result result = part->is_header ? chunk_reserve(t, part, tuple)
                                         : weft__rows_reserve(t->to, tuple, part->count, &t->spans);
    weft__tuple_release(t->to, tuple);
    return result;
}

static weft_entity entity_at(const weft__transfer *t, const weft__change_part *part, uint32_t i)
{
    const uint32_t *rows = weft__change_rows(&t->change, part);
    return weft__chunk_entities(part->chunk)[rows != NULL ? rows[i] : part->first + i];
}

/* Room in the table of names. */
static weft_result names_reserve(weft__transfer *t)
{
    if (t->from->names == NULL) return WEFT_OK;
    for (uint32_t p = 0; p < t->change.part_count; p++)
        for (uint32_t i = 0; i < t->change.parts[p].count; i++)
            if (weft_entity_name(t->from, entity_at(t, &t->change.parts[p], i))[0] != '\0')
                t->name_count++;
    if (t->name_count == 0) return WEFT_OK;
    weft_result result = weft__names_reserve(t->to, (uint32_t)t->name_count);
    return result == WEFT_OK ? WEFT_OK : weft__error_memory(t->to, "weft_world_transfer: names");
}

static weft_result reserve(weft__transfer *t)
{
    weft_result result = tables_make(t);
    if (result != WEFT_OK) return result;
    result = t->row_count > UINT32_MAX
                 ? WEFT_LIMIT
                 : weft__directory_reserve_owner(&t->to->directory, (uint32_t)t->row_count);
    if (result != WEFT_OK) return weft__error_limit(t->to, result, "weft_world_transfer");
    for (uint32_t i = 0; i < t->change.part_count && result == WEFT_OK; i++)
        result = part_reserve(t, &t->change.parts[i]);
    if (result == WEFT_OK) result = weft__transfer_shared_check(t);
    if (result == WEFT_OK) result = names_reserve(t);
    if (result == WEFT_OK) result = weft__transfer_blobs_collect(t);
    for (; t->copied < t->change.part_count && result == WEFT_OK; t->copied++) {
        result = weft__transfer_copy(t, t->copied);
        if (result != WEFT_OK) break;
    }
    return result;
}

static void undo(weft__transfer *t)
{
    while (t->copied > 0) weft__transfer_uncopy(t, --t->copied);
    for (uint32_t i = 0; i < t->spans.count; i++) t->spans.items[i].chunk->is_zero = false;
    weft__rows_unreserve(t->to, &t->spans, 0);
}

/* ---- commit: cannot fail ---- */

static void ids_give(weft__transfer *t)
{
    uint64_t done = 0;
    for (uint32_t i = 0; i < t->spans.count; i++) {
        weft__span span = t->spans.items[i];
        weft__directory_allocate_owner(&t->to->directory, span.count,
                                       weft__chunk_entities(span.chunk) + span.row, t->ids + done,
                                       weft__location(span.chunk, span.row));
        done += span.count;
    }
}

/* The locations of the source lead to numbers now, so that references find their new handle. */
static void sources_mark(weft__transfer *t)
{
    uint32_t number = 0;
    for (uint32_t p = 0; p < t->change.part_count; p++)
        for (uint32_t i = 0; i < t->change.parts[p].count; i++)
            weft__directory_place(&t->from->directory, entity_at(t, &t->change.parts[p], i),
                                  WEFT__TRANSFER_MOVES | number++);
}

static void names_move(weft__transfer *t)
{
    uint64_t number = 0;
    for (uint32_t p = 0; p < t->change.part_count && t->name_count != 0; p++)
        for (uint32_t i = 0; i < t->change.parts[p].count; i++, number++) {
            const char *name = weft_entity_name(t->from, entity_at(t, &t->change.parts[p], i));
            if (name[0] == '\0') continue;
            weft_result result = weft_entity_set_name(t->to, t->ids[number], name);
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

/* The rows of a part leave the source. Their values are somewhere else now. */
static void source_end(weft__transfer *t, const weft__change_part *part)
{
    weft_world *world = t->from;
    const weft_entity *entities = weft__chunk_entities(part->chunk);
    const uint32_t *rows = weft__change_rows(&t->change, part);
    if (rows == NULL)
        weft__directory_free_many_owner(&world->directory, entities + part->first, part->count);
    for (uint32_t i = 0; i < part->count && rows != NULL; i++)
        weft__directory_free_owner(&world->directory, entities[rows[i]]);
    weft__rows_close(world, part->chunk, rows, part->first, part->count);
    weft__chunk_settle(world, part->chunk, part->count);
}

static void commit(weft__transfer *t, const weft_transfer_desc *desc)
{
    ids_give(t);
    sources_mark(t);
    names_move(t);
    for (uint32_t i = 0; i < t->change.part_count; i++) weft__transfer_settle(t, i);
    tracked_follow(t, desc->tracked, desc->tracked_count);
    weft__transfer_shared_commit(t);
    for (uint32_t i = 0; i < t->change.part_count; i++) source_end(t, &t->change.parts[i]);
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
    weft__free(memory, CATEGORY, t->ids, t->row_count + 1, sizeof *t->ids, 8);
    weft__spans_fini(t->to, &t->spans);
    weft__change_fini(&t->change);
}

static bool shares_memory(const weft_world *a, const weft_world *b)
{
    const weft_allocator *x = &a->memory.hook, *y = &b->memory.hook;
    return x->allocate == y->allocate && x->release == y->release && x->user == y->user;
}

weft_result weft_world_transfer(weft_world *to, weft_world *from, const weft_transfer_desc *desc,
                                weft_transfer_report *report)
{
    static const weft_transfer_desc everything;
    if (report != NULL) *report = (weft_transfer_report){0};
    if (to == NULL) return WEFT_INVALID_ARGUMENT;
    if (from == NULL || from == to)
        return weft__error(to, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_world_transfer: the source is NULL or the destination itself: "
                           "give two worlds");
    if (desc == NULL) desc = &everything;
    if (desc->tracked_count != 0 && desc->tracked == NULL)
        return weft__error_argument(to, "weft_world_transfer: tracked");
    weft_result result = weft__idle(to, "weft_world_transfer");
    if (result != WEFT_OK) return result;
    weft__transfer t = {.from = from, .to = to, .shares_memory = shares_memory(from, to)};
    result = rows_select(&t, desc->query);
    bool is_selected = result == WEFT_OK;
    if (is_selected) result = reserve(&t);
    if (is_selected && result != WEFT_OK) undo(&t);
    if (result == WEFT_OK) commit(&t, desc);
    if (result == WEFT_OK && report != NULL) *report = t.report;
    finish(&t, result == WEFT_OK);
    return result;
}
