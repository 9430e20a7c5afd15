/* SPDX-License-Identifier: MIT */
/* playback.c: playback: segments in key order, ids for created entities, rows made in place, then
 * the commands; and which rows a playback would leave alone.
 *
 *   1. sort     segments of all recorders, sorted by key (unique: a slice has one recorder);
 *   2. name     entities created by commands, instances too, get their ids, in key order, before
 *               anything happens, so that every deferred handle can be replaced wherever it stands;
 *   3. link     private chunks filled by jobs join the world, in key order (see above);
 *   4. play     instances come first where that makes no difference (playback_one.c); long
 *               runs of creations, destructions and changes of single entities are folded and
 *               moved in parallel (fold_rows.c); the rest goes one by one through the immediate
 *               operations (playback_one.c).
 * Which way is taken depends on the commands only, never on the number of workers. */
#include "playback.h"
#include "archetype.h"
#include "command_shared.h"
#include "entity_value.h"
#include "fold.h"
#include "playback_one.h"
#include "scratch.h"

#include <stdlib.h>

/* ---- rows made in place ----
 *
 * Rows made in place join the world, before the first command is played: their chunks get the
 * tuples of their shared values and are linked in key order (private_chunk.c), the rows get ids,
 * handles that were asked for become real, and references in the rows are replaced. All or none. */

/* A piece to link. Owner: the list of `linking`, scratch of one playback. */
typedef struct link {
    const weft__command_segment *segment;
    const weft__command_rows *rows; /* that began it */
    weft__tuple *tuple;             /* held, when it is not the first one of the archetype */
} link;

/* One linking; lives on the stack of playback_link. */
typedef struct linking {
    weft__playback *playback;
    link *links;
    weft__private_piece *pieces;
    uint32_t count;
} linking;

/* A piece that only continues the one before: on one worker, few rows of many slices are one. */
static bool continues(const linking *l, const weft__command_rows *rows)
{
    if (l->count == 0) return false;
    const weft__private_piece *before = &l->pieces[l->count - 1];
    return rows->in_nursery && before->chunk == rows->chunk &&
           before->first + before->count == rows->first && rows->shared_bytes == 0 &&
           l->links[l->count - 1].rows->shared_bytes == 0 &&
           (rows->chunk->archetype->flags & WEFT__HAS_ENTITY_FIELDS) == 0;
}

static void list_piece(linking *l, const weft__command_segment *segment,
                       const weft__command_rows *rows)
{
    weft__chunk *chunk = rows->chunk;
    if (continues(l, rows)) {
        l->pieces[l->count - 1].count += rows->piece_rows;
        return;
    }
    l->links[l->count] = (link){segment, rows, NULL};
    l->pieces[l->count++] =
        rows->in_nursery
            ? (weft__private_piece){chunk, chunk->tuple,      rows->first, rows->piece_rows,
                                    false, rows->brings_chunk}
            : weft__private_whole(chunk);
}

/* Lists every piece of the playback in order; without `links` it only counts. */
static void list_pieces(linking *l)
{
    const weft__playback *playback = l->playback;
    l->count = 0;
    for (uint32_t i = 0; i < playback->segment_count; i++) {
        const weft__command_segment *segment = &playback->segments[i];
        if ((segment->traits & WEFT__SEGMENT_HAS_ROWS) == 0) continue;
        weft__command_cursor cursor = weft__command_begin(segment);
        for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;) {
            const weft__command_rows *rows =
                command->op == WEFT__COMMAND_ROWS ? weft__command_piece(command) : NULL;
            if (rows == NULL) continue;
            if (l->links != NULL)
                list_piece(l, segment, rows);
            else
                l->count++;
        }
    }
}

/* ---- shared values ---- */

/* The tuple of `from` with one more value; takes the hold on `from` over. NULL: error set. */
static weft__tuple *tuple_step(weft_world *world, weft__tuple *from,
                               const weft__command_shared *value)
{
    uint32_t index;
    weft__tuple *to = NULL;
    if (weft__shared_intern(&world->shared, value->component, value->value, &index) != WEFT_OK) {
        weft__error_memory(world, "a shared value");
    } else {
        to = weft__tuple_with_value(world, from, from->archetype, value->component, index);
        weft__shared_release(&world->shared, value->component, index, 1);
    }
    weft__tuple_release(world, from);
    return to;
}

static weft_result give_tuple(weft_world *world, link *l, weft__private_piece *piece)
{
    const weft__archetype *archetype = l->rows->chunk->archetype;
    const char *at = (const char *)(l->rows->columns + archetype->type_count);
    const char *end = at + l->rows->shared_bytes;
    weft__tuple *tuple = archetype->tuple0;
    tuple->holders++;
    while (at < end && tuple != NULL) {
        const weft__command_shared *value = (const weft__command_shared *)(const void *)at;
        tuple = tuple_step(world, tuple, value);
        at += value->bytes;
    }
    if (tuple == NULL) return world->error->code;
    l->tuple = piece->tuple = tuple;
    if (piece->is_whole) piece->chunk->tuple = tuple;
    return WEFT_OK;
}

static weft_result give_tuples(linking *l)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < l->count && result == WEFT_OK; i++)
        if (l->links[i].rows->shared_bytes != 0)
            result = give_tuple(l->playback->world, &l->links[i], &l->pieces[i]);
    return result;
}

/* After it the chunks that stayed private are without values again. */
static void release_tuples(const linking *l, bool is_linked)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const link *one = &l->links[i];
        if (one->tuple == NULL) continue;
        if (!is_linked) one->rows->chunk->tuple = one->rows->chunk->archetype->tuple0;
        weft__tuple_release(l->playback->world, one->tuple);
    }
}

/* ---- handles ---- */

/* Handles of rows that were asked for become real. */
static void keep_entities(const weft__playback *playback)
{
    for (uint32_t i = 0; i < playback->segment_count; i++) {
        const weft__command_segment *segment = &playback->segments[i];
        const weft_recorder *recorder = playback->recorders[segment->recorder];
        if (!recorder->rows_asked || (segment->traits & WEFT__SEGMENT_HAS_ROWS) == 0) continue;
        weft__command_cursor cursor = weft__command_begin(segment);
        for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;) {
            if (command->op != WEFT__COMMAND_ROWS) continue;
            const weft__command_rows *rows = weft__command_payload(command);
            if (rows->is_asked)
                memcpy(recorder->row_entities + rows->number,
                       weft__chunk_entities(rows->chunk) + rows->first,
                       rows->count * sizeof(weft_entity));
        }
    }
}

static void patch_rows(const weft__playback *playback, const link *l,
                       const weft__private_piece *piece)
{
    const weft__chunk *chunk = piece->chunk;
    const weft__archetype *archetype = chunk->archetype;
    if ((archetype->flags & WEFT__HAS_ENTITY_FIELDS) == 0) return;
    for (uint32_t i = 0; i < archetype->type_count; i++)
        if (archetype->types[i].column != 0)
            weft__playback_patch_rows(
                playback, l->segment, archetype->types[i].type,
                weft__chunk_value(chunk, archetype->types[i].column, piece->first), piece->count);
}

/* All rows have their ids. */
static void rows_named(void *user)
{
    const linking *l = user;
    keep_entities(l->playback);
    for (uint32_t i = 0; i < l->count; i++) patch_rows(l->playback, &l->links[i], &l->pieces[i]);
}

/* Room for the handles of rows, where some were asked for. */
static weft_result reserve_entities(weft_world *world, weft_recorder *recorder)
{
    if (!recorder->rows_asked ||
        weft__list_room(&world->memory, WEFT__MEMORY_COMMANDS, &recorder->row_entities,
                        &recorder->row_capacity, recorder->rows, sizeof(weft_entity)))
        return WEFT_OK;
    return weft__error_memory(world, "playback");
}

static weft_result playback_link(weft__playback *playback)
{
    weft_world *world = playback->world;
    linking l = {.playback = playback};
    list_pieces(&l);
    if (l.count == 0) return WEFT_OK;
    l.pieces = weft__scratch_take(world, WEFT__SCRATCH_PIECES, l.count, sizeof l.pieces[0]);
    l.links = weft__scratch_take(world, WEFT__SCRATCH_LINKS, l.count, sizeof l.links[0]);
    if (l.pieces == NULL || l.links == NULL) return weft__error_memory(world, "playback");
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < playback->recorder_count && result == WEFT_OK; i++)
        result = reserve_entities(world, playback->recorders[i]);
    if (result != WEFT_OK) return result;
    list_pieces(&l);
    result = give_tuples(&l);
    if (result == WEFT_OK)
        result = weft__private_link(
            &(weft__private_desc){.world = world,
                                  .job = playback->job,
                                  .cost = weft__playback_cost(playback, WEFT__PLAYBACK_IDS),
                                  .copy_cost = weft__playback_cost(playback, WEFT__PLAYBACK_ENTER),
                                  .pieces = l.pieces,
                                  .count = l.count,
                                  .named = rows_named,
                                  .user = &l});
    release_tuples(&l, result == WEFT_OK);
    return result;
}

/* ---- what a playback spares ----
 *
 * A command moves or writes the row of its target, or makes one. Which archetypes that concerns is
 * known without folding anything: those the targets are in now and those that rows are made in,
 * and from there only archetypes that differ in components which some command brings or takes. So
 * the components are listed first, then each archetype that a command starts from is compared with
 * those to be spared, once. Commands that follow references between entities (linked groups), or
 * name all rows of a query, are not followed: they spare nothing. */

#define COMMANDS_MOST 65536u /* a look-up each: about a millisecond */
#define CHANGED_MOST 64u
#define COMPARED_MOST 16384u /* pairs of archetypes */

/* One question; lives on the stack of weft__playback_spares. */
typedef struct reach {
    weft_world *world;
    const weft__query *const *queries;
    uint32_t query_count;
    uint32_t changed[CHANGED_MOST]; /* components that commands bring or take */
    uint32_t changed_count;
    bool destroys;
    uint32_t compared; /* pairs of archetypes so far */
    uint64_t *seen;    /* bit per archetype id - 1: compared */
} reach;

/* ---- what the commands change ---- */

static bool note_changed(reach *r, uint32_t component)
{
    if (weft__ids_have(r->changed, r->changed_count, component)) return true;
    if (r->changed_count == CHANGED_MOST) return false;
    r->changed[r->changed_count++] = component;
    return true;
}

/* A component that comes, with all that it requires. */
static bool note_added(reach *r, uint32_t component)
{
    const weft__type *type = r->world->types.at[component];
    bool is_noted = note_changed(r, component);
    for (uint32_t i = 0; i < type->required_count && is_noted; i++)
        is_noted = note_changed(r, type->required[i]);
    return is_noted;
}

/* False: the command may change anything. */
static bool note_command(reach *r, const weft__command *command)
{
    switch ((weft__command_way)weft__command_kinds[command->op].way) {
    case WEFT__WAY_GAINS:
    case WEFT__WAY_SHARES:
        return note_added(r, command->subject);
    case WEFT__WAY_LOSES:
        return note_changed(r, command->subject);
    case WEFT__WAY_DIES:
        r->destroys = true;
        return true;
    case WEFT__WAY_COPIED:
        return r->world->builtin.instance_of.id == 0 ||
               note_changed(r, r->world->builtin.instance_of.id);
    case WEFT__WAY_MADE:
    case WEFT__WAY_LINKED:
    case WEFT__WAY_SWITCHES:
        return true;
    case WEFT__WAY_ALONE:
        break;
    }
    return false;
}

/* What dies or is copied after a change may be followed elsewhere than what it was before. */
static bool changes_what_is_followed(const reach *r)
{
    for (uint32_t i = 0; i < r->changed_count; i++) {
        const weft__type *type = r->world->types.at[r->changed[i]];
        bool is_cleanup = (type->desc.flags & WEFT_CLEANUP) != 0;
        if (type->id == r->world->builtin.linked_group.id || (is_cleanup && r->destroys))
            return true;
    }
    return false;
}

/* ---- where they start ---- */

/* Whether the two differ in changed components only. */
static bool is_reachable(const reach *r, const weft__archetype *from, const weft__archetype *to)
{
    uint32_t a = 0, b = 0;
    while (a < from->type_count || b < to->type_count) {
        uint32_t own = a < from->type_count ? from->types[a].component : WEFT__NONE;
        uint32_t other = b < to->type_count ? to->types[b].component : WEFT__NONE;
        if (own != other &&
            !weft__ids_have(r->changed, r->changed_count, own < other ? own : other))
            return false;
        a += own <= other;
        b += other <= own;
    }
    return true;
}

static bool spares_all(reach *r, const weft__archetype *from)
{
    uint64_t *word = &r->seen[(from->id - 1) / 64], bit = UINT64_C(1) << (from->id - 1) % 64;
    if ((*word & bit) != 0) return true;
    *word |= bit;
    for (uint32_t i = 0; i < r->query_count; i++) {
        const weft__query *query = r->queries[i];
        r->compared += query->match_count;
        if (r->compared > COMPARED_MOST) return false;
        for (uint32_t k = 0; k < query->match_count; k++) {
            const weft__archetype *kept = query->matches[k].archetype;
            if (kept->chunk_count != 0 && is_reachable(r, from, kept)) return false;
        }
    }
    return true;
}

static bool spares_instances(reach *r, weft_entity source)
{
    uint32_t row;
    const weft__chunk *chunk =
        weft__entity_is_deferred(source) ? NULL : weft__entity_chunk(r->world, source, &row);
    if (chunk == NULL) return false;
    const weft__archetype *from = chunk->archetype;
    return (from->flags & WEFT__HAS_LINKED_GROUP) == 0 && from->instance != NULL &&
           spares_all(r, from->instance);
}

static bool spares_command(reach *r, const weft__command *command)
{
    if (weft__command_kinds[command->op].subject == WEFT__SUBJECT_ARCHETYPE)
        return spares_all(r, r->world->archetypes.by_id[command->subject - 1]);
    if (command->op == WEFT__COMMAND_INSTANTIATE) {
        weft_entity source;
        memcpy(&source, command + 1, sizeof source);
        return spares_instances(r, source);
    }
    if (weft__entity_is_deferred(command->entity)) return true; /* its creation was looked at */
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(r->world, command->entity, &row);
    if (chunk == NULL) return true; /* dead: the command is skipped */
    const weft__archetype *from = chunk->archetype;
    if (!spares_all(r, from)) return false;
    if (command->op != WEFT__COMMAND_DESTROY) return true;
    if ((from->flags & WEFT__HAS_LINKED_GROUP) != 0) return false;
    if ((from->flags & WEFT__HAS_CLEANUP) == 0) return true;
    return from->residue != NULL && spares_all(r, from->residue);
}

/* Whether `ask` says yes to every command. */
static bool holds_for_all(const weft__playback_desc *desc, reach *r,
                          bool (*ask)(reach *r, const weft__command *command))
{
    for (uint32_t i = 0; i < desc->count; i++)
        for (uint32_t k = 0; k < desc->recorders[i]->segment_count; k++) {
            weft__command_cursor cursor = weft__command_begin(&desc->recorders[i]->segments[k]);
            for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;)
                if (!ask(r, command)) return false;
        }
    return true;
}

bool weft__playback_spares(const weft__playback_desc *desc, const weft__query *const *queries,
                           uint32_t query_count)
{
    weft_world *world = desc->world;
    uint64_t commands = 0;
    for (uint32_t i = 0; i < desc->count; i++) {
        weft__recorder_seal(desc->recorders[i]);
        for (uint32_t k = 0; k < desc->recorders[i]->segment_count; k++)
            commands += desc->recorders[i]->segments[k].count;
    }
    if (query_count == 0 || commands == 0) return true;
    if (commands > COMMANDS_MOST) return false;
    reach r = {.world = world, .queries = queries, .query_count = query_count};
    size_t words = world->archetypes.id_count / 64 + 1;
    r.seen = weft__scratch_take(world, WEFT__SCRATCH_MAP, words, sizeof r.seen[0]);
    if (r.seen == NULL) return false;
    memset(r.seen, 0, words * sizeof r.seen[0]);
    return holds_for_all(desc, &r, note_command) && !changes_what_is_followed(&r) &&
           holds_for_all(desc, &r, spares_command);
}

#define FOLD_MOST (UINT64_C(1) << 30) /* references to commands are 32-bit numbers */
/* Build-time parameter, so that tests and the explorer reach both ways. */
#ifndef WEFT__MERGE_MOST
#define WEFT__MERGE_MOST 64u
#endif
#define MERGE_MOST WEFT__MERGE_MOST /* ascending runs of segments that are merged; above: sorted */

/* ---- 1. sort ---- */

static int compare_segments(const void *left, const void *right)
{
    const weft__command_segment *a = left, *b = right;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* Segments of one recorder and one system with ascending keys, between which there may be segments
 * of other systems; lives on the stack of sort_segments. */
typedef struct ascending {
    const weft__command_segment *at;
    const weft__command_segment *last;
    uint32_t recorder;
} ascending;

/* The system that recorded a segment. */
static uint32_t recorded_by(const weft__command_segment *segment)
{
    return (uint32_t)(segment->key >> 32);
}

/* The run among runs[0..count) that a segment goes on with; count: none. The last one of a system
 * is the only one that can, and systems of one stage record in turn. */
static uint32_t run_before(const ascending *runs, uint32_t count,
                           const weft__command_segment *segment)
{
    for (uint32_t i = count; i-- > 0;)
        if (recorded_by(runs[i].last) == recorded_by(segment))
            return runs[i].last->key <= segment->key ? i : count;
    return count;
}

/* Lists the ascending runs of all recorders: one of each system, and one more for every part of a
 * loop that a worker stole. Returns their number, above MERGE_MOST when they do not fit. */
static uint32_t runs_list(const weft__playback *playback, ascending *runs)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < playback->recorder_count; i++) {
        const weft_recorder *recorder = playback->recorders[i];
        const uint32_t first = count;
        for (uint32_t k = 0; k < recorder->segment_count; k++) {
            const weft__command_segment *segment = &recorder->segments[k];
            uint32_t run = first + run_before(runs + first, count - first, segment);
            if (run == MERGE_MOST) return MERGE_MOST + 1;
            if (run == count) runs[count++] = (ascending){segment, NULL, i};
            runs[run].last = segment;
        }
    }
    return count;
}

/* Goes on to the next segment of a run. False: there is none. */
static bool run_next(ascending *run)
{
    if (run->at == run->last) return false;
    const uint32_t system = recorded_by(run->at);
    do run->at++;
    while (recorded_by(run->at) != system);
    return true;
}

/* Merges the runs. Keys are unique, and neighbours mostly come from one run: what lies before the
 * head of every other run is copied without comparing with it. */
static void runs_merge(ascending *runs, uint32_t count, weft__command_segment *out)
{
    while (count != 0) {
        uint32_t lowest = 0;
        uint64_t limit = UINT64_MAX;
        for (uint32_t i = 1; i < count; i++) {
            uint64_t key = runs[i].at->key, low = runs[lowest].at->key;
            uint64_t higher = key < low ? low : key;
            if (key < low) lowest = i;
            if (higher < limit) limit = higher;
        }
        ascending *run = &runs[lowest];
        bool has_more;
        do {
            *out = *run->at;
            out++->recorder = run->recorder;
            has_more = run_next(run);
        } while (has_more && run->at->key < limit);
        if (!has_more) *run = runs[--count];
    }
}

/* So many runs that sorting is as good. */
static void sort_shuffled(weft__playback *playback, uint32_t count)
{
    weft__command_segment *at = playback->segments;
    for (uint32_t i = 0; i < playback->recorder_count; i++) {
        const weft_recorder *recorder = playback->recorders[i];
        for (uint32_t k = 0; k < recorder->segment_count; k++, at++) {
            *at = recorder->segments[k];
            at->recorder = i;
        }
    }
    qsort(playback->segments, count, sizeof playback->segments[0], compare_segments);
}

/* What recorder.h says of a recorder holds. */
static bool is_sound(const weft_recorder *recorder)
{
    uint32_t created = 0;
    for (uint32_t i = 0; i < recorder->segment_count; i++) {
        if (recorder->segments[i].created_first != created) return false;
        created += recorder->segments[i].created_count;
    }
    const weft__command_page *page = recorder->page;
    const char *data = page == NULL ? NULL : (const char *)page->data;
    bool is_in_page = page == NULL || (data <= recorder->at && recorder->at <= recorder->end &&
                                       recorder->end == data + page->bytes);
    bool is_open_last = recorder->open == NULL ||
                        recorder->open == &recorder->segments[recorder->segment_count - 1];
    return created == recorder->created && is_in_page && is_open_last &&
           recorder->segment_count <= recorder->segment_capacity &&
           (recorder->open == NULL || recorder->rows_first <= recorder->rows) &&
           recorder->epoch != 0 && recorder->epoch % 2 == 0;
}

static weft_result sort_segments(weft__playback *playback)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < playback->recorder_count; i++) {
        WEFT_ASSERT(is_sound(playback->recorders[i]));
        weft__recorder_seal(playback->recorders[i]);
        count += playback->recorders[i]->segment_count;
    }
    if (count == 0) return WEFT_OK;
    playback->segments = weft__scratch_take(playback->world, WEFT__SCRATCH_SEGMENTS, count,
                                            sizeof playback->segments[0]);
    if (playback->segments == NULL) return weft__error_memory(playback->world, "playback");
    ascending runs[MERGE_MOST];
    uint32_t run_count = runs_list(playback, runs);
    if (run_count <= MERGE_MOST)
        runs_merge(runs, run_count, playback->segments);
    else
        sort_shuffled(playback, count);
    playback->segment_count = count;
    for (uint32_t i = 0; i < count; i++) playback->result.commands += playback->segments[i].count;
    return WEFT_OK;
}

/* ---- 2. name ---- */

static weft_result make_resolved(weft_world *world, weft_recorder *recorder)
{
    if (!weft__list_room(&world->memory, WEFT__MEMORY_COMMANDS, &recorder->resolved,
                         &recorder->resolved_capacity, recorder->created,
                         sizeof recorder->resolved[0]))
        return weft__error_memory(world, "playback");
    if (recorder->created != 0)
        memset(recorder->resolved, 0, recorder->created * sizeof recorder->resolved[0]);
    return WEFT_OK;
}

static weft_result name_all(weft__playback *playback)
{
    weft_world *world = playback->world;
    uint32_t created = 0;
    for (uint32_t i = 0; i < playback->recorder_count; i++) {
        weft_result result = make_resolved(world, playback->recorders[i]);
        if (result != WEFT_OK) return result;
        created += playback->recorders[i]->created;
    }
    if (created == 0) return WEFT_OK;
    weft_result result = weft__directory_reserve_owner(&world->directory, created);
    if (result != WEFT_OK)
        return weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "playback: no room for %u created entities", created);
    playback->is_named = true;
    for (uint32_t i = 0; i < playback->segment_count; i++) {
        const weft__command_segment *segment = &playback->segments[i];
        const weft_recorder *recorder = playback->recorders[segment->recorder];
        weft__directory_allocate_owner(&world->directory, segment->created_count,
                                       recorder->resolved + segment->created_first, NULL, 0);
    }
    return WEFT_OK;
}

/* After a failure: ids given to entities that were never placed die. A recorder whose list
 * could not grow has given no ids. */
static void forget_unplaced(weft__playback *playback)
{
    weft_world *world = playback->world;
    for (uint32_t i = 0; i < playback->recorder_count; i++) {
        const weft_recorder *recorder = playback->recorders[i];
        for (uint32_t k = 0; k < recorder->created && k < recorder->resolved_capacity; k++) {
            uint32_t location;
            weft_entity id = recorder->resolved[k];
            if (weft__directory_find(&world->directory, id, &location) && location == 0)
                weft__directory_free_owner(&world->directory, id);
        }
    }
}

/* In key order, so that the store does not depend on which worker recorded. Goes on after a
 * failure, also of what came before (`result`): what is held is released at the end. */
static weft_result ready_shared(const weft__playback *playback, bool are_rows, weft_result result)
{
    const weft__playback *named = result == WEFT_OK ? playback : NULL;
    bool is_held = true;
    for (uint32_t i = 0; i < playback->segment_count; i++)
        is_held &= weft__command_ready_shared(playback->world, named, &playback->segments[i],
                                              are_rows) == WEFT_OK;
    if (is_held || result != WEFT_OK) return result;
    return weft__error_memory(playback->world, "a shared value");
}

/* ---- 4. play ---- */

/* One past the last segment from `first` on that has none of the traits; counts their commands. */
static uint32_t end_without(const weft__playback *playback, uint32_t first, uint32_t traits,
                            uint64_t *commands)
{
    uint32_t end = first;
    *commands = 0;
    while (end < playback->segment_count && (playback->segments[end].traits & traits) == 0 &&
           *commands + playback->segments[end].count < FOLD_MOST)
        *commands += playback->segments[end++].count;
    return end;
}

/* One past the last of the segments from `first` on that have one of the traits. */
static uint32_t end_with(const weft__playback *playback, uint32_t first, uint32_t traits)
{
    uint32_t end = first + 1;
    while (end < playback->segment_count && (playback->segments[end].traits & traits) != 0) end++;
    return end;
}

static weft_result play_all(weft__playback *playback)
{
    for (uint32_t i = 0; i < playback->segment_count;) {
        uint32_t alone = WEFT__SEGMENT_HAS_ALONE;
        uint64_t commands, made;
        uint32_t end = end_without(playback, i, alone, &commands);
        weft_result result = weft__playback_instances(playback, i, end, &made);
        if (made == 0) { /* none, or where they stand */
            alone |= WEFT__SEGMENT_HAS_INSTANCES;
            end = end_without(playback, i, alone, &commands);
        }
        bool is_played = made != 0 && made == commands;
        if (result == WEFT_OK && commands - made >= WEFT__FOLD_LEAST)
            result = weft__fold_play(playback, &playback->segments[i], end - i, &is_played);
        if (end == i) end = end_with(playback, i, alone);
        if (result == WEFT_OK && !is_played) result = weft__playback_runs(playback, i, end);
        if (result != WEFT_OK) return result;
        i = end;
    }
    return WEFT_OK;
}

/* What recorders could not record comes first in the report: the rest is still played. */
static weft_result report_failures(const weft__playback *playback)
{
    const weft__command_failure *first = NULL;
    for (uint32_t i = 0; i < playback->recorder_count; i++) {
        const weft__command_failure *failure = &playback->recorders[i]->failure;
        if (failure->code != WEFT_OK && (first == NULL || failure->key < first->key))
            first = failure;
    }
    if (first == NULL) return WEFT_OK;
    if (first->code == WEFT_LIMIT)
        weft__error_limit(playback->world, WEFT_LIMIT, "creation from jobs");
    else
        weft__error(playback->world, first->code, first->entity,
                    weft__component(playback->world, first->component), "%s",
                    weft__playback_refusal(playback->world, first));
    return weft__playback_error(playback, first->key, first->op, first->entity, first->component,
                                first->code);
}

/* What is known of the costs of a playback: its items are segments, chunks and tasks, so that what
 * they cost grows with the commands. */
static weft__playback_costs *costs_of(weft__playback_costs *costs, uint64_t commands)
{
    if (costs == NULL) return NULL;
    bool is_alike = commands / 2 <= costs->commands && costs->commands / 2 <= commands;
    costs->commands = commands;
    return is_alike ? costs : NULL;
}

weft_result weft__playback_run(const weft__playback_desc *desc, weft__playback_result *out)
{
    weft_world *world = desc->world;
    weft__playback playback = {.world = world,
                               .job = desc->job,
                               .recorders = desc->recorders,
                               .recorder_count = desc->count,
                               .name = desc->name,
                               .user = desc->user};
    WEFT_ASSERT(world->front.busy == 0);
    bool is_linked = false;
    weft_result result = sort_segments(&playback);
    if (result == WEFT_OK && playback.segment_count != 0) {
        playback.costs = costs_of(desc->costs, playback.result.commands);
        result = ready_shared(&playback, true, name_all(&playback));
        if (result == WEFT_OK) result = playback_link(&playback);
        is_linked = result == WEFT_OK;
        result = ready_shared(&playback, false, result);
        if (result == WEFT_OK) result = play_all(&playback);
        if (result != WEFT_OK && playback.is_named) forget_unplaced(&playback);
    }
    if (result == WEFT_OK) result = report_failures(&playback);
    for (uint32_t i = 0; i < desc->count; i++) weft__recorder_reset(desc->recorders[i], !is_linked);
    if (out != NULL) *out = playback.result;
    return result;
}

weft_result weft_recorder_play(weft_recorder *commands)
{
    if (commands == NULL) return WEFT_INVALID_ARGUMENT;
    weft_world *world = commands->world;
    if (commands->in_set)
        return weft__error(
            world, WEFT_WRONG_PHASE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
            "weft_recorder_play: the step plays the recorders of systems: call weft_world_step");
    weft_result result = weft__host_begin(world, "weft_recorder_play");
    if (result != WEFT_OK) return result;
    weft__playback_desc desc = {
        .world = world, .job = world->front.host.context, .recorders = &commands, .count = 1};
    result = weft__idle(world, "weft_recorder_play");
    if (result == WEFT_OK) result = weft__playback_run(&desc, NULL);
    weft_result mistake = WEFT_IS_CHECKED ? weft__mistake_report(world) : WEFT_OK;
    weft__host_end(world);
    return result == WEFT_OK ? mistake : result;
}
