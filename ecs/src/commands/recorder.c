/* SPDX-License-Identifier: MIT */
/* recorder.c: recorders: their life, pages and segments, and what they record: commands for single
 * entities, for all rows of a query, and rows made in place. See recorder.h for the format.
 *
 * The hot path is a bump in the page and a store of 16 bytes. A worker cannot set the
 * world's error text, so failures are kept in the recorder and reported when it is played. */
#include "recorder.h"
#include "archetype.h"
#include "command_shared.h"
#include "entity_tag.h"
#include "name_table.h"
#include "private_chunk.h"
#include "slice_ops.h"
#include "structure.h"
#include "utf8.h"

#include <weft/value.h>

/* ---- pages and segments ---- */

#define FIRST_PAGE_BYTES 4032u
#define PAGE_BYTES 65472u
static_assert(WEFT__PAYLOAD_WORDS_MOST * 16 <= FIRST_PAGE_BYTES, "two fit the first page");

/* Goes on to a page with room: the next kept one, or a new one. */
static bool next_page(weft_recorder *commands)
{
    weft__command_page *page = commands->page;
    weft__command_page *next = page == NULL ? commands->first : page->next;
    weft__recorder_seal(commands);
    if (next == NULL) {
        uint32_t bytes = page == NULL ? FIRST_PAGE_BYTES : PAGE_BYTES;
        next = weft__alloc(&commands->world->memory, WEFT__MEMORY_COMMANDS, 1, sizeof *next + bytes,
                           8);
        if (next == NULL) return false;
        *next = (weft__command_page){.bytes = bytes};
        if (page == NULL)
            commands->first = next;
        else
            page->next = next;
    }
    commands->page = next;
    commands->at = (char *)next->data;
    commands->end = commands->at + next->bytes;
    return true;
}

static bool open_segment(weft_recorder *commands)
{
    if (!weft__list_room(&commands->world->memory, WEFT__MEMORY_COMMANDS, &commands->segments,
                         &commands->segment_capacity, commands->segment_count + 1,
                         sizeof commands->segments[0]))
        return false;
    commands->open = &commands->segments[commands->segment_count++];
    commands->rows_first = commands->rows;
    *commands->open = (weft__command_segment){
        .key = commands->key,
        .page = commands->page,
        .offset = (uint32_t)(commands->at - (char *)commands->page->data),
        .recorder = commands->id,
        .created_first = commands->created,
    };
    return true;
}

/* Makes room for a command of `bytes` in an open segment. False: out of memory. */
static __attribute__((noinline)) bool make_room(weft_recorder *commands, size_t bytes)
{
    while (commands->page == NULL || (size_t)(commands->end - commands->at) < bytes)
        if (!next_page(commands)) return false;
    return commands->open != NULL || open_segment(commands);
}

/* A command with `words` words of payload in the page, counted; NULL: out of memory. */
static inline weft__command *append_words(weft_recorder *commands, weft__command_op op,
                                          uint32_t words)
{
    size_t bytes = sizeof(weft__command) + (size_t)words * 8;
    if (__builtin_expect(commands->open == NULL || (size_t)(commands->end - commands->at) < bytes,
                         0) &&
        !make_room(commands, bytes))
        return NULL;
    weft__command *command = (weft__command *)(void *)commands->at;
    commands->at += bytes;
    commands->open->count++;
    commands->open->traits |= weft__command_kinds[op].traits;
    command->op = (uint8_t)op;
    command->flags = 0;
    command->words = (uint16_t)words;
    return command;
}

/* A command whose payload is a block of its own. */
static __attribute__((noinline)) weft__command *append_apart(weft_recorder *commands,
                                                             weft__command_op op, size_t bytes)
{
    size_t total = sizeof(weft__command_block) + bits_align_up(bytes, 8);
    weft__command_block *block =
        weft__alloc(&commands->world->memory, WEFT__MEMORY_COMMANDS, 1, total, 8);
    if (block == NULL) return NULL;
    weft__command *command = append_words(commands, op, 1);
    if (command == NULL) {
        weft__free(&commands->world->memory, WEFT__MEMORY_COMMANDS, block, 1, total, 8);
        return NULL;
    }
    block->bytes = total;
    block->next = commands->blocks;
    commands->blocks = block;
    command->words = WEFT__PAYLOAD_APART;
    *(uint64_t *)(command + 1) = (uint64_t)(uintptr_t)block;
    return command;
}

/* The same with `bytes` of payload, which may be too large for a page. */
static inline weft__command *append(weft_recorder *commands, weft__command_op op, size_t bytes)
{
    size_t words = (bytes + 7) / 8;
    if (__builtin_expect(words > WEFT__PAYLOAD_WORDS_MOST, 0))
        return append_apart(commands, op, bytes);
    return append_words(commands, op, (uint32_t)words);
}

/* Notes a refusal, to be reported by playback, and returns its code. */
static __attribute__((noinline)) weft_result fail(weft_recorder *commands, weft_result code,
                                                  weft__command_op op, weft_entity entity,
                                                  uint32_t component)
{
    bool is_first = commands->failure.code == WEFT_OK || commands->key < commands->failure.key;
    if (is_first)
        commands->failure =
            (weft__command_failure){code, commands->key, entity, component, (uint8_t)op};
    return code;
}

/* Checked builds: WRONG_PHASE, noted, for a recorder of a system whose callback has returned. */
static inline weft_result check_open(weft_recorder *commands, weft__command_op op,
                                     weft_entity entity, uint32_t component)
{
    if (!WEFT_IS_CHECKED || !commands->is_closed) return WEFT_OK;
    return fail(commands, WEFT_WRONG_PHASE, op, entity, component);
}

/* Whether a component is of the kind that a command is for. */
static inline bool takes(weft__command_op op, const weft__type *type)
{
    const weft__command_kind *kind = &weft__command_kinds[op];
    return (type->desc.flags & kind->flags_asked) == kind->flags_needed;
}

/* Notes that the open segment has a SHARED value of a type, which may have to be made ready. */
static inline void note_shared(weft_recorder *commands, const weft__type *type)
{
    if (type->desc.shared_release != NULL || type->entity_offset_count != 0)
        commands->open->traits |= WEFT__SEGMENT_HAS_READIED;
}

/* weft_slice.calls of rows that a recorder makes now: others were made before a playback. */
static inline uint32_t calls_of_rows(const weft_recorder *commands)
{
    return WEFT_SLICE_ROWS | commands->epoch >> 1 << 4;
}

/* ---- slices of rows made in place ----
 *
 * Their terms are the positions of the archetype; they reach their own columns, buffers, enable
 * bits and shared values, and no more: the rows are of no query, and the system's slice reaches
 * the rest. A worker cannot set the world's error, so what is wrong is noted in the recorder,
 * and playback reports it. After playback nothing of a slice is read but its context and round:
 * the rest may be gone. */

static weft_recorder *recorder_of(const weft_slice *slice)
{
    char *context = (char *)(uintptr_t)slice->context;
    return (weft_recorder *)(void *)(context - offsetof(weft_recorder, rows_context));
}

/* Its recorder was not played since the rows were made. */
static bool is_current(const weft_slice *slice)
{
    return slice->calls == calls_of_rows(recorder_of(slice));
}

/* The component of a term; NULL: there is no such term, or the rows were played. */
static const weft__type_ref *ref_of(const weft_slice *slice, uint32_t term)
{
    if (!is_current(slice)) return NULL;
    const weft__chunk *chunk = slice->chunk;
    return term < slice->term_count ? &chunk->archetype->types[term] : NULL;
}

static void note(const weft_slice *slice, weft_result code, uint32_t component)
{
    if (!is_current(slice)) {
        code = WEFT_STALE_ENTITY;
        component = 0;
    }
    fail(recorder_of(slice), code, WEFT__COMMAND_ROWS, WEFT__NO_ENTITY, component);
}

static void rows_report(const weft_slice *slice, uint32_t term, weft_access access, uint32_t row,
                        const char *type)
{
    const weft__type_ref *ref = ref_of(slice, term);
    (void)access;
    note(slice,
         type != NULL        ? WEFT_TYPE_MISMATCH
         : row != WEFT__NONE ? WEFT_NOT_FOUND
                             : WEFT_UNDECLARED_ACCESS,
         ref == NULL ? 0 : ref->component);
}

static void *no_values(const weft_slice *slice, uint32_t component, uint32_t rows)
{
    return weft__stand_in_values(recorder_of(slice)->world, component, rows);
}

/* The values of a term; `rows` of them. */
static void *no_term(const weft_slice *slice, uint32_t term, uint32_t rows)
{
    const weft__type_ref *ref = ref_of(slice, term);
    return no_values(slice, ref == NULL ? WEFT__NONE : ref->component, rows);
}

/* ---- what works ---- */

static void *rows_column(const weft_slice *slice, uint32_t term, weft_access access)
{
    const weft__type_ref *ref = ref_of(slice, term);
    if (ref != NULL && (ref->type->desc.flags & WEFT_BUFFER) == 0) return slice->columns[term];
    weft__slice_report(slice, term, access);
    return no_term(slice, term, slice->count);
}

static void *rows_column_as(const weft_slice *slice, uint32_t term, weft_access access, size_t size,
                            const char *type)
{
    void *column = rows_column(slice, term, access);
    const weft__type_ref *ref = ref_of(slice, term);
    if (column != NULL && ref != NULL && !weft__slice_is_type(ref->type, size, type))
        rows_report(slice, term, access, WEFT__NONE, type);
    else if (ref != NULL)
        return column;
    return weft__stand_in_bytes(recorder_of(slice)->world, size * slice->count);
}

/* The command that made the rows: their column pointers lie in it. */
static weft__command_rows *command_of(const weft_slice *slice)
{
    char *columns = (char *)(uintptr_t)slice->columns;
    return (weft__command_rows *)(void *)(columns - offsetof(weft__command_rows, columns));
}

/* Shared values lie behind the columns. */
static char *values_of(const weft__command_rows *rows)
{
    return (char *)(uintptr_t)(rows->columns + rows->chunk->archetype->type_count);
}

/* The value that the rows were asked for with; NULL: none, it is the default. */
static const void *asked_value(const weft_slice *slice, uint32_t component)
{
    const weft__command_rows *rows = command_of(slice)->piece;
    const char *at = values_of(rows);
    for (const char *end = at + rows->shared_bytes; at < end;) {
        const weft__command_shared *value = (const weft__command_shared *)(const void *)at;
        if (value->component == component) return value->value;
        at += value->bytes;
    }
    return NULL;
}

static const void *rows_shared(const weft_slice *slice, uint32_t term)
{
    const weft__type_ref *ref = ref_of(slice, term);
    if (ref == NULL || ref->shared == WEFT__NO_PLACE) {
        weft__slice_report(slice, term, WEFT_READ);
        return no_term(slice, term, 1);
    }
    const void *value = asked_value(slice, ref->component);
    return value != NULL ? value : ref->type->shared_default;
}

static void rows_enable(const weft_slice *slice, uint32_t term, uint32_t row, bool enabled)
{
    const weft__type_ref *ref = ref_of(slice, term);
    const weft__chunk *chunk = slice->chunk;
    if (ref == NULL || ref->enableable == WEFT__NO_PLACE) {
        weft__slice_report(slice, term, WEFT_WRITE);
        return;
    }
    if (row >= slice->count) {
        rows_report(slice, term, WEFT_WRITE, row, NULL);
        return;
    }
    weft__chunk_enable(chunk, ref->enableable, command_of(slice)->first + row, enabled);
}

/* ---- what does not ---- */

static void *rows_get(const weft_slice *slice, weft_entity entity, weft_component component)
{
    (void)entity;
    note(slice, WEFT_UNDECLARED_ACCESS, component.id);
    return no_values(slice, component.id, 1);
}

static bool rows_may_find(const weft_slice *slice, weft_component component)
{
    note(slice, WEFT_UNDECLARED_ACCESS, component.id);
    return false;
}

static void *rows_resource(const weft_slice *slice, weft_component component, weft_access access)
{
    (void)access;
    return rows_get(slice, WEFT__NO_ENTITY, component);
}

static weft_recorder *rows_commands(const weft_slice *slice)
{
    return recorder_of(slice);
}

/* They get their version at playback. */
static bool rows_asks(const weft_slice *slice, uint32_t term)
{
    (void)slice, (void)term;
    return false;
}

static bool rows_are_here(const weft_slice *slice)
{
    if (is_current(slice)) return true;
    note(slice, WEFT_STALE_ENTITY, 0);
    return false;
}

static const weft__new_row_ops new_row_ops = {
    .are_here = rows_are_here,
    .column = rows_column,
    .column_as = rows_column_as,
    .shared = rows_shared,
    .enable = rows_enable,
};

static const weft__slice_ops slice_ops_rows = {
    .get = rows_get,
    .get_write = rows_get,
    .may_find = rows_may_find,
    .resource = rows_resource,
    .commands = rows_commands,
    .report = rows_report,
    .asks = rows_asks,
    .new_rows = &new_row_ops,
};

/* ---- life, pages and segments ---- */

/* Even, not 0, and for the next two thousand million rounds not that of any other recorder: so a
 * deferred handle is good in one recorder and one round only. Owner. */
static uint32_t next_epoch(weft_world *world)
{
    world->recorder_epoch = world->recorder_epoch % (UINT32_MAX / 2) + 1;
    return world->recorder_epoch << 1;
}

void weft__recorder_init(weft_recorder *commands, weft_world *world, uint32_t id, uint32_t worker)
{
    *commands = (weft_recorder){.world = world,
                                .id = id,
                                .worker = worker,
                                .rows_context = {.ops = &slice_ops_rows, .world = world}};
    commands->epoch = next_epoch(world);
    commands->home = worker;
}

/* Rows that were never linked end, and so do ids given to them at once. */
static void drop_private_chunk(const weft_recorder *commands, weft__chunk *chunk)
{
    weft__directory *directory = &commands->world->directory;
    const weft_entity *entities = weft__chunk_entities(chunk);
    if (chunk->has_ids && !commands->in_set)
        weft__outside_return(directory, entities, chunk->count);
    for (uint32_t row = 0; row < chunk->count && chunk->has_ids && commands->in_set; row++)
        if (entities[row].version != 0) weft__directory_free_any(directory, &entities[row], 1);
    weft__private_drop(commands->world, chunk);
}

static bool brings_chunk(const weft__command *command)
{
    const weft__command_rows *piece = weft__command_piece(command);
    return piece != NULL && piece->brings_chunk;
}

static void drop_private_chunks(weft_recorder *commands)
{
    for (uint32_t i = 0; i < commands->segment_count; i++) {
        const weft__command_segment *segment = &commands->segments[i];
        if ((segment->traits & WEFT__SEGMENT_HAS_ROWS) == 0) continue;
        weft__command_cursor cursor = weft__command_begin(segment);
        for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;)
            if (command->op == WEFT__COMMAND_ROWS && brings_chunk(command))
                drop_private_chunk(commands, weft__command_piece(command)->chunk);
    }
}

/* Destructs values that no entity took. */
static void drop_value(const weft__type *type, const weft__command *command)
{
    if (type->desc.hooks.destruct == NULL || (command->flags & WEFT__VALUE_IS_TAKEN) != 0) return;
    uint64_t *payload = weft__command_payload(command);
    bool has_elements = weft__command_has_elements(command->op);
    uint32_t count = has_elements ? (uint32_t)payload[0] : 1;
    char *values = (char *)(payload + (has_elements ? 1 : 0));
    size_t step = bits_align_up((uintptr_t)values, type->desc.alignment) - (uintptr_t)values;
    if (step != 0) memmove(values + step, values, count * type->desc.size);
    weft__elements_destruct(type, values + step, count);
}

static void drop_values(const weft_recorder *commands)
{
    for (uint32_t i = 0; i < commands->segment_count; i++) {
        if ((commands->segments[i].traits & WEFT__SEGMENT_HAS_OWNED) == 0) continue;
        weft__command_cursor cursor = weft__command_begin(&commands->segments[i]);
        for (const weft__command *command; (command = weft__command_next(&cursor)) != NULL;)
            if (weft__command_kinds[command->op].has_values)
                drop_value(commands->world->types.at[command->subject], command);
    }
}

void weft__recorder_seal(weft_recorder *commands)
{
    weft__command_page *page = commands->page;
    if (page != NULL) page->used = (uint32_t)(commands->at - (char *)page->data);
}

void weft__recorder_reset(weft_recorder *commands, bool with_rows)
{
    weft__recorder_seal(commands);
    if (with_rows) drop_private_chunks(commands);
    drop_values(commands);
    for (uint32_t i = 0; i < commands->segment_count; i++)
        weft__command_let_go_shared(commands->world, &commands->segments[i]);
    weft__command_block *block = commands->blocks;
    while (block != NULL) {
        weft__command_block *next = block->next;
        weft__free(&commands->world->memory, WEFT__MEMORY_COMMANDS, block, 1, block->bytes, 8);
        block = next;
    }
    commands->blocks = NULL;
    for (weft__command_page *page = commands->first; page != NULL; page = page->next)
        page->used = 0;
    commands->page = commands->first;
    commands->at = commands->first == NULL ? NULL : (char *)commands->first->data;
    commands->end = commands->first == NULL ? NULL : commands->at + commands->first->bytes;
    commands->segment_count = 0;
    commands->open = NULL;
    commands->piece = NULL;
    memset(commands->nurseries, 0, sizeof commands->nurseries);
    commands->created = 0;
    commands->rows = 0;
    commands->rows_asked = false;
    commands->failure = (weft__command_failure){0};
    commands->epoch =
        next_epoch(commands->world); /* handles of this round are refused from now on */
}

void weft__recorder_fini(weft_recorder *commands)
{
    weft__memory *memory = &commands->world->memory;
    weft__recorder_seal(commands);
    for (uint32_t i = 0; i < commands->segment_count; i++)
        weft__command_ready_shared(commands->world, NULL, &commands->segments[i], false);
    weft__recorder_reset(commands, true);
    weft__command_page *page = commands->first;
    while (page != NULL) {
        weft__command_page *next = page->next;
        weft__free(memory, WEFT__MEMORY_COMMANDS, page, 1, sizeof *page + page->bytes, 8);
        page = next;
    }
    weft__list_free(memory, WEFT__MEMORY_COMMANDS, commands->segments, commands->segment_capacity,
                    sizeof commands->segments[0]);
    weft__list_free(memory, WEFT__MEMORY_COMMANDS, commands->resolved, commands->resolved_capacity,
                    sizeof commands->resolved[0]);
    weft__list_free(memory, WEFT__MEMORY_COMMANDS, commands->row_entities, commands->row_capacity,
                    sizeof commands->row_entities[0]);
    *commands = (weft_recorder){.world = commands->world};
}

/* ---- recorders outside systems ---- */

weft_result weft_recorder_create(weft_world *world, weft_recorder **out)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (out != NULL) *out = NULL;
    weft_result result =
        weft__refuse_systems(world, "weft_recorder_create",
                             "record with the recorder of the slice (weft_slice_recorder), or make "
                             "one of your own before the step");
    if (result != WEFT_OK) return result;
    if (out == NULL)
        return weft__error_argument(world, "weft_recorder_create",
                                    "out is NULL: give the address of a pointer");
    *out = weft__alloc(&world->memory, WEFT__MEMORY_COMMANDS, 1, sizeof **out, 64);
    if (*out == NULL) return weft__error_memory(world, "weft_recorder_create");
    weft__recorder_init(*out, world, 0, 0);
    weft__hold(world, WEFT__HOLDER_RECORDERS, 1);
    return WEFT_OK;
}

void weft_recorder_destroy(weft_recorder *commands)
{
    if (commands == NULL || commands->in_set) return;
    weft_world *world = commands->world;
    const char *advice = "destroy it when the step is over";
    if (weft__refuse_systems(world, "weft_recorder_destroy", advice) != WEFT_OK) return;
    weft__recorder_fini(commands);
    weft__hold(world, WEFT__HOLDER_RECORDERS, -1);
    weft__free(&world->memory, WEFT__MEMORY_COMMANDS, commands, 1, sizeof *commands, 64);
}

/* ---- commands for single entities ----
 *
 * Nothing here reads entities: whether a target is alive is asked at playback. */

/* Bytes behind values that are the recorder's, so that they can be aligned where they are. */
static size_t slack_of(const weft__type *type)
{
    return type->desc.hooks.destruct != NULL && type->desc.alignment > 8 ? type->desc.alignment - 8
                                                                         : 0;
}

/* ---- what is checked while recording ---- */

/* A deferred handle must be of this recorder, this round and, in systems, this slice: another
 * slice's handle would be right or wrong depending on which worker ran it. Not inlined: GCC would
 * split every handle in vector registers. */
static __attribute__((noinline)) bool is_deferred_here(const weft_recorder *commands,
                                                       weft_entity entity)
{
    if (entity.version != commands->epoch || commands->open == NULL) return false;
    if ((entity.index & WEFT__ROW_HANDLE) != 0) {
        uint32_t row = entity.index & ~WEFT__ROW_HANDLE;
        return row >= commands->rows_first && row < commands->rows;
    }
    return entity.index >= commands->open->created_first && entity.index < commands->created;
}

/* What a command on this entity is refused with. Release builds find handles of other worlds at
 * playback, as those of dead entities. */
static weft_result target_check(const weft_recorder *commands, weft_entity entity)
{
    if ((entity.version & 1) == 0)
        return is_deferred_here(commands, entity) ? WEFT_OK : WEFT_STALE_ENTITY;
    bool is_refused =
        WEFT_IS_CHECKED && weft__entity_is_foreign(&commands->world->directory, entity);
    return is_refused ? WEFT_BAD_HANDLE : WEFT_OK;
}

/* Commands on SPARSE components are played one by one, with all of their segment. */
static __attribute__((noinline)) weft_result check_sparse(weft_recorder *commands,
                                                          weft__command_op op, weft_entity entity,
                                                          const weft__type *type)
{
    if (!type->is_of_entities) return fail(commands, WEFT_TYPE_MISMATCH, op, entity, type->id);
    bool is_open = commands->open != NULL;
    if (!is_open && !make_room(commands, sizeof(weft__command)))
        return fail(commands, WEFT_OUT_OF_MEMORY, op, entity, type->id);
    commands->open->traits |= WEFT__SEGMENT_HAS_ALONE;
    return WEFT_OK;
}

static weft_result check(weft_recorder *commands, weft__command_op op, weft_entity entity,
                         weft_component component, const weft__type **type)
{
    *type = NULL;
    if (commands == NULL) return WEFT_INVALID_ARGUMENT;
    if (check_open(commands, op, entity, component.id) != WEFT_OK) return WEFT_WRONG_PHASE;
    weft_result result = target_check(commands, entity);
    if (result != WEFT_OK) return fail(commands, result, op, entity, component.id);
    *type = weft__type_at(commands->world, component);
    if (*type == NULL) return fail(commands, WEFT_BAD_HANDLE, op, entity, component.id);
    if (!takes(op, *type)) return fail(commands, WEFT_TYPE_MISMATCH, op, entity, component.id);
    if (__builtin_expect(!(*type)->is_folded, 0)) return check_sparse(commands, op, entity, *type);
    return WEFT_OK;
}

/* A command with `bytes` of payload for the caller to fill; NULL: no memory, noted. */
static inline weft__command *record(weft_recorder *commands, weft__command_op op,
                                    weft_entity entity, uint32_t subject, size_t bytes)
{
    weft__command *command = append(commands, op, bytes);
    if (command == NULL) {
        fail(commands, WEFT_OUT_OF_MEMORY, op, entity, subject);
        return NULL;
    }
    command->entity = entity;
    command->subject = subject;
    return command;
}

static weft_result record_plain(weft_recorder *commands, weft__command_op op, weft_entity entity,
                                uint32_t subject)
{
    return record(commands, op, entity, subject, 0) == NULL ? WEFT_OUT_OF_MEMORY : WEFT_OK;
}

/* The same with values of a type, `bytes` of payload in all. */
static inline weft__command *record_values(weft_recorder *commands, weft__command_op op,
                                           weft_entity entity, const weft__type *type, size_t bytes)
{
    weft__command *command = record(commands, op, entity, type->id, bytes + slack_of(type));
    if (command == NULL) return NULL;
    if (type->desc.hooks.destruct != NULL) commands->open->traits |= WEFT__SEGMENT_HAS_OWNED;
    if (op == WEFT__COMMAND_SET_SHARED) note_shared(commands, type);
    return command;
}

static inline weft_result record_value(weft_recorder *commands, weft__command_op op,
                                       weft_entity entity, const weft__type *type,
                                       const void *value)
{
    weft__command *command = record_values(commands, op, entity, type, type->desc.size);
    if (command == NULL) return WEFT_OUT_OF_MEMORY;
    if (type->desc.size != 0)
        weft__value_copy(weft__command_payload(command), value, type->desc.size);
    return WEFT_OK;
}

/* ---- public: creation ---- */

static weft_entity record_creation(weft_recorder *commands, weft__command_op op, uint32_t subject,
                                   weft_entity source)
{
    weft__command *command = append_words(commands, op, op == WEFT__COMMAND_INSTANTIATE ? 1 : 0);
    if (command == NULL) {
        fail(commands, WEFT_OUT_OF_MEMORY, op, source, 0);
        return WEFT__NO_ENTITY;
    }
    command->entity = (weft_entity){commands->created++, commands->epoch};
    command->subject = subject;
    if (op == WEFT__COMMAND_INSTANTIATE) memcpy(command + 1, &source, sizeof source);
    commands->open->created_count++;
    return command->entity;
}

/* The archetype of a handle that rows may be made of; NULL: there is none. Any thread, also while
 * the owner makes others. */
static inline weft__archetype *archetype_for_rows(const weft_world *world, weft_archetype handle)
{
    if (handle.world != world->front.number) return NULL;
    weft__archetype *archetype = weft__roll_at(&world->archetypes.known, handle.id - 1);
    bool is_usable = archetype != NULL && (archetype->flags & WEFT__IS_RESIDUE) == 0;
    return is_usable ? archetype : NULL;
}

weft_entity weft_recorder_create_entity(weft_recorder *commands, weft_archetype archetype)
{
    if (commands == NULL ||
        check_open(commands, WEFT__COMMAND_CREATE, WEFT__NO_ENTITY, 0) != WEFT_OK)
        return WEFT__NO_ENTITY;
    if (archetype_for_rows(commands->world, archetype) == NULL) {
        fail(commands, WEFT_BAD_HANDLE, WEFT__COMMAND_CREATE, WEFT__NO_ENTITY, 0);
        return WEFT__NO_ENTITY;
    }
    return record_creation(commands, WEFT__COMMAND_CREATE, archetype.id, WEFT__NO_ENTITY);
}

weft_entity weft_recorder_instantiate(weft_recorder *commands, weft_entity source)
{
    if (commands == NULL || check_open(commands, WEFT__COMMAND_INSTANTIATE, source, 0) != WEFT_OK)
        return WEFT__NO_ENTITY;
    weft_result result = target_check(commands, source);
    if (result != WEFT_OK) {
        fail(commands, result, WEFT__COMMAND_INSTANTIATE, source, 0);
        return WEFT__NO_ENTITY;
    }
    return record_creation(commands, WEFT__COMMAND_INSTANTIATE, 0, source);
}

/* ---- public: changes ---- */

weft_result weft_recorder_destroy_entity(weft_recorder *commands, weft_entity entity)
{
    if (commands == NULL) return WEFT_INVALID_ARGUMENT;
    if (check_open(commands, WEFT__COMMAND_DESTROY, entity, 0) != WEFT_OK) return WEFT_WRONG_PHASE;
    weft_result result = target_check(commands, entity);
    if (result != WEFT_OK) return fail(commands, result, WEFT__COMMAND_DESTROY, entity, 0);
    return record_plain(commands, WEFT__COMMAND_DESTROY, entity, 0);
}

weft_result weft_recorder_add(weft_recorder *commands, weft_entity entity, weft_component component)
{
    const weft__type *type;
    weft_result result = check(commands, WEFT__COMMAND_ADD, entity, component, &type);
    return result != WEFT_OK ? result
                             : record_plain(commands, WEFT__COMMAND_ADD, entity, component.id);
}

weft_result weft_recorder_remove(weft_recorder *commands, weft_entity entity,
                                 weft_component component)
{
    const weft__type *type;
    weft_result result = check(commands, WEFT__COMMAND_REMOVE, entity, component, &type);
    if (result == WEFT_OK)
        result = record_plain(commands, WEFT__COMMAND_REMOVE, entity, component.id);
    if (result == WEFT_OK && (type->desc.flags & WEFT_ENABLEABLE) != 0)
        commands->open->traits |= WEFT__SEGMENT_HAS_ENABLES;
    return result;
}

weft_result weft_recorder_set(weft_recorder *commands, weft_entity entity, weft_component component,
                              const void *value, size_t size)
{
    const weft__type *type;
    weft_result result = check(commands, WEFT__COMMAND_SET, entity, component, &type);
    if (result != WEFT_OK) return result;
    if (size != type->desc.size)
        return fail(commands, WEFT_TYPE_MISMATCH, WEFT__COMMAND_SET, entity, component.id);
    if (value == NULL && size != 0)
        return fail(commands, WEFT_INVALID_ARGUMENT, WEFT__COMMAND_SET, entity, component.id);
    if (size == 0) return record_plain(commands, WEFT__COMMAND_ADD, entity, component.id);
    if (WEFT_IS_CHECKED && type->desc.is_checked &&
        weft_value_check(type->desc.type, value, NULL) != WEFT_OK)
        return fail(commands, WEFT_INVALID_ARGUMENT, WEFT__COMMAND_SET, entity, component.id);
    return record_value(commands, WEFT__COMMAND_SET, entity, type, value);
}

weft_result weft_recorder_set_shared(weft_recorder *commands, weft_entity entity,
                                     weft_component component, const void *value)
{
    const weft__type *type;
    weft_result result = check(commands, WEFT__COMMAND_SET_SHARED, entity, component, &type);
    if (result != WEFT_OK) return result;
    if (value == NULL && type->desc.size != 0)
        return fail(commands, WEFT_INVALID_ARGUMENT, WEFT__COMMAND_SET_SHARED, entity,
                    component.id);
    return record_value(commands, WEFT__COMMAND_SET_SHARED, entity, type, value);
}

weft_result weft_recorder_enable(weft_recorder *commands, weft_entity entity,
                                 weft_component component, bool enabled)
{
    const weft__type *type;
    weft_result result = check(commands, WEFT__COMMAND_ENABLE, entity, component, &type);
    if (result != WEFT_OK) return result;
    weft__command *command = record(commands, WEFT__COMMAND_ENABLE, entity, component.id, 0);
    if (command == NULL) return WEFT_OUT_OF_MEMORY;
    command->flags = enabled;
    return WEFT_OK;
}

static weft_result record_elements(weft_recorder *commands, weft__command_op op, weft_entity entity,
                                   weft_component component, const void *elements, uint32_t count)
{
    const weft__type *type;
    weft_result result = check(commands, op, entity, component, &type);
    if (result != WEFT_OK) return result;
    bool is_good = elements != NULL || count == 0;
    for (uint32_t i = 0; i < count && is_good && WEFT_IS_CHECKED && type->desc.is_checked; i++)
        is_good = weft_value_check(type->desc.type, (const char *)elements + i * type->desc.size,
                                   NULL) == WEFT_OK;
    if (!is_good) return fail(commands, WEFT_INVALID_ARGUMENT, op, entity, component.id);
    size_t bytes = (size_t)count * type->desc.size;
    weft__command *command = record_values(commands, op, entity, type, 8 + bytes);
    if (command == NULL) return WEFT_OUT_OF_MEMORY;
    uint64_t *payload = weft__command_payload(command);
    payload[0] = count;
    if (bytes != 0) memcpy(payload + 1, elements, bytes);
    return WEFT_OK;
}

weft_result weft_recorder_append(weft_recorder *commands, weft_entity entity,
                                 weft_component component, const void *elements, uint32_t count)
{
    return record_elements(commands, WEFT__COMMAND_APPEND, entity, component, elements, count);
}

weft_result weft_recorder_set_buffer(weft_recorder *commands, weft_entity entity,
                                     weft_component component, const void *elements, uint32_t count)
{
    return record_elements(commands, WEFT__COMMAND_SET_BUFFER, entity, component, elements, count);
}

weft_result weft_recorder_set_name(weft_recorder *commands, weft_entity entity, const char *name)
{
    const weft__command_op op = WEFT__COMMAND_SET_NAME;
    if (commands == NULL) return WEFT_INVALID_ARGUMENT;
    if (check_open(commands, op, entity, 0) != WEFT_OK) return WEFT_WRONG_PHASE;
    weft_result result = target_check(commands, entity);
    if (result != WEFT_OK) return fail(commands, result, op, entity, 0);
    size_t length = name == NULL ? 0 : strlen(name);
    if (length != 0 && !weft__name_fits(name, length))
        return fail(commands, WEFT_INVALID_ARGUMENT, op, entity, 0);
    if (length != 0) length = weft__utf8_cut(name, length, WEFT__NAME_BYTES - 1);
    weft__command *command = record(commands, op, entity, 0, name == NULL ? 0 : length + 1);
    if (command == NULL) return WEFT_OUT_OF_MEMORY;
    if (name == NULL) return WEFT_OK;
    char *text = weft__command_payload(command);
    memcpy(text, name, length);
    text[length] = 0;
    return WEFT_OK;
}

/* ---- commands for all rows of a query ----
 *
 * The query is a handle here: what it matches is asked at playback, so that filters and enable bits
 * count as they are then, and rows of earlier commands are among them. */

/* Checks both handles; *type is that of the component, *on what the command has as its entity. */
static weft_result check_wide(weft_recorder *commands, weft__command_op op, weft_query query,
                              weft_component component, const weft__type **type, weft_entity *on)
{
    *on = (weft_entity){query.id, 0};
    if (commands == NULL) return WEFT_INVALID_ARGUMENT;
    const weft_world *world = commands->world;
    weft_result result = check_open(commands, op, *on, component.id);
    if (result != WEFT_OK) return result;
    bool is_query = query.world == world->front.number && query.id != 0;
    *type = weft__type_at(world, component);
    if (!is_query || (*type == NULL && weft__command_has_component(op)))
        return fail(commands, WEFT_BAD_HANDLE, op, *on, is_query ? component.id : 0);
    if (*type != NULL && (!(*type)->is_of_entities || !takes(op, *type)))
        return fail(commands, WEFT_TYPE_MISMATCH, op, *on, component.id);
    return WEFT_OK;
}

static weft_result record_wide(weft_recorder *commands, weft__command_op op, weft_query query,
                               weft_component component)
{
    const weft__type *type;
    weft_entity on;
    weft_result result = check_wide(commands, op, query, component, &type, &on);
    return result != WEFT_OK ? result : record_plain(commands, op, on, type == NULL ? 0 : type->id);
}

weft_result weft_recorder_query_add(weft_recorder *commands, weft_query query,
                                    weft_component component)
{
    return record_wide(commands, WEFT__COMMAND_QUERY_ADD, query, component);
}

weft_result weft_recorder_query_remove(weft_recorder *commands, weft_query query,
                                       weft_component component)
{
    return record_wide(commands, WEFT__COMMAND_QUERY_REMOVE, query, component);
}

weft_result weft_recorder_query_destroy_entities(weft_recorder *commands, weft_query query)
{
    return record_wide(commands, WEFT__COMMAND_QUERY_DESTROY, query, WEFT__NO_COMPONENT);
}

weft_result weft_recorder_query_set_shared(weft_recorder *commands, weft_query query,
                                           weft_component component, const void *value)
{
    const weft__command_op op = WEFT__COMMAND_QUERY_SET_SHARED;
    const weft__type *type;
    weft_entity on;
    weft_result result = check_wide(commands, op, query, component, &type, &on);
    if (result != WEFT_OK) return result;
    if (value == NULL && type->desc.size != 0)
        return fail(commands, WEFT_INVALID_ARGUMENT, op, on, component.id);
    weft__command *command = record(commands, op, on, component.id, type->desc.size);
    if (command == NULL) return WEFT_OUT_OF_MEMORY;
    if (type->desc.size != 0) memcpy(weft__command_payload(command), value, type->desc.size);
    note_shared(commands, type);
    return WEFT_OK;
}

weft_result weft_recorder_query_enable(weft_recorder *commands, weft_query query,
                                       weft_component component, bool enabled)
{
    const weft__command_op op = WEFT__COMMAND_QUERY_ENABLE;
    const weft__type *type;
    weft_entity on;
    weft_result result = check_wide(commands, op, query, component, &type, &on);
    weft__command *command = result == WEFT_OK ? record(commands, op, on, component.id, 0) : NULL;
    if (command == NULL) return result == WEFT_OK ? WEFT_OUT_OF_MEMORY : result;
    command->flags = enabled;
    return WEFT_OK;
}

/* ---- rows made in place ----
 *
 * A recorder fills private chunks (private_chunk.c). Few rows of
 * a slice go to a nursery, a chunk that the rows of other slices share: its rows are copied at
 * playback, a chunk for each slice would have to be opened and copied. Many rows have chunks of
 * their own, as long as the archetype and the shared values stay the same. Which it is depends on
 * what the slice asked for, never on what is in the nursery: the result must not depend on which
 * slices a worker has run. A call takes all it needs before the first row is there: chunk, ids,
 * command; when one of them is refused the others are given back, and nothing is left behind.
 * Playback puts the rows into the world (playback.c). */

#define OP WEFT__COMMAND_ROWS

/* One call; lives on its stack. */
typedef struct making {
    const weft_rows_desc *desc;
    weft__archetype *archetype;
    weft__chunk *chunk;
    uint32_t count; /* rows of this call */
    bool is_new;    /* the chunk */
    bool in_nursery;
    bool goes_on;   /* with the piece of the call before */
    bool is_like;   /* the call before, but for the chunk */
    uint32_t place; /* of a new nursery */
    size_t shared_bytes;
} making;

static weft_result refuse(weft_recorder *commands, weft_result code, uint32_t component)
{
    return fail(commands, code, OP, WEFT__NO_ENTITY, component);
}

/* ---- shared values ---- */

static size_t value_bytes(const weft__type *type)
{
    return sizeof(weft__command_shared) + bits_align_up(type->desc.size, 8);
}

/* Whether a shared value refers to rows that get their ids only when they are linked: the value
 * decides where they are linked. */
static bool has_rows(const weft__type *type, const void *value)
{
    for (uint32_t i = 0; i < type->entity_offset_count; i++) {
        weft_entity to;
        memcpy(&to, (const char *)value + type->entity_offsets[i], sizeof to);
        if (weft__entity_is_deferred(to) && (to.index & WEFT__ROW_HANDLE) != 0) return true;
    }
    return false;
}

/* Checks the shared values and adds their bytes up. */
static weft_result check_shared(weft_recorder *commands, making *m)
{
    const weft_rows_desc *desc = m->desc;
    if (desc->shared_count != 0 && desc->shared == NULL)
        return refuse(commands, WEFT_INVALID_ARGUMENT, 0);
    for (uint32_t i = 0; i < desc->shared_count; i++) {
        const weft__type *type = weft__type_at(commands->world, desc->shared[i].component);
        uint32_t component = desc->shared[i].component.id;
        if (type == NULL) return refuse(commands, WEFT_BAD_HANDLE, component);
        if ((type->desc.flags & WEFT_SHARED) == 0)
            return refuse(commands, WEFT_TYPE_MISMATCH, component);
        if (weft__archetype_find(m->archetype, component) == WEFT__NONE ||
            (desc->shared[i].values == NULL && type->desc.size != 0) ||
            has_rows(type, desc->shared[i].values))
            return refuse(commands, WEFT_INVALID_ARGUMENT, component);
        m->shared_bytes += value_bytes(type);
    }
    return m->shared_bytes <= UINT32_MAX ? WEFT_OK : refuse(commands, WEFT_LIMIT, 0);
}

/* Whether the rows made last have the shared values asked for, in the same order. */
static bool has_values(const weft_recorder *commands, const making *m)
{
    const weft__command_rows *rows = commands->piece;
    if (rows->shared_bytes != m->shared_bytes) return false;
    const char *at = values_of(rows);
    for (uint32_t i = 0; i < m->desc->shared_count; i++) {
        const weft__command_shared *value = (const weft__command_shared *)(const void *)at;
        const weft__type *type = weft__type_at(commands->world, m->desc->shared[i].component);
        if (value->component != type->id) return false;
        size_t bytes = type->desc.size;
        if (bytes != 0 && memcmp(value->value, m->desc->shared[i].values, bytes) != 0) return false;
        at += value->bytes;
    }
    return true;
}

static void write_values(weft_recorder *commands, const making *m, weft__command_rows *rows)
{
    char *at = values_of(rows);
    for (uint32_t i = 0; i < m->desc->shared_count; i++) {
        weft__command_shared *value = (weft__command_shared *)(void *)at;
        const weft__type *type = weft__type_at(commands->world, m->desc->shared[i].component);
        value->component = type->id;
        note_shared(commands, type);
        value->bytes = (uint32_t)value_bytes(type);
        memset(value->value, 0, value->bytes - sizeof *value);
        if (type->desc.size != 0) memcpy(value->value, m->desc->shared[i].values, type->desc.size);
        at += value->bytes;
    }
}

/* ---- one call ---- */

/* The nursery of an archetype that has room; NULL: none, it would be nurseries[m->place]. */
static weft__chunk *nursery_of(weft_recorder *commands, making *m)
{
    for (uint32_t i = 0; i < WEFT__NURSERIES; i++) {
        weft__chunk *nursery = commands->nurseries[i];
        if (nursery == NULL || nursery->archetype != m->archetype) continue;
        m->place = i;
        return nursery->capacity - nursery->count >= m->count ? nursery : NULL;
    }
    m->place = commands->next_nursery;
    return NULL;
}

/* Rows of a slice that are fewer than half of a small chunk. */
static bool is_for_nursery(const making *m, uint32_t run_rows)
{
    if (m->desc->is_unordered) return false;
    uint32_t capacity = weft__private_small(m->archetype);
    return m->count < capacity && run_rows < capacity && (run_rows + m->count) * 2 < capacity;
}

/* The chunk that takes the next rows: the one of the call before, a nursery, or a new one. */
static weft_result find_chunk(weft_recorder *commands, making *m)
{
    const weft__command_rows *piece = commands->open == NULL ? NULL : commands->piece;
    weft__chunk *last = piece == NULL ? NULL : piece->chunk;
    m->is_like = last != NULL && last->archetype == m->archetype && has_values(commands, m);
    bool is_open = m->is_like && !piece->in_nursery && last->count != last->capacity;
    m->in_nursery = !is_open && is_for_nursery(m, m->is_like ? commands->run_rows : 0);
    weft__chunk *chunk = is_open ? last : m->in_nursery ? nursery_of(commands, m) : NULL;
    m->is_new = chunk == NULL;
    m->goes_on = is_open || (m->is_like && chunk == last && m->in_nursery);
    weft_result result = WEFT_OK;
    if (m->is_new)
        result = weft__private_open(commands->world, commands->worker, m->archetype,
                                    m->in_nursery ? 1 : m->count, &chunk);
    if (result != WEFT_OK) return result;
    m->chunk = chunk;
    uint32_t room = chunk->capacity - chunk->count;
    if (m->count > room) m->count = room;
    WEFT_ASSERT(m->count != 0);
    return m->count < WEFT__ROW_HANDLE - commands->rows ? WEFT_OK : WEFT_LIMIT;
}

/* Ids for the rows to come, at their place; what is there after a failure reads as zero again. */
static weft_result take_ids(weft_recorder *commands, const making *m, weft_entity *ids)
{
    weft__directory *directory = &commands->world->directory;
    weft_result result =
        commands->in_set ? weft__directory_allocate_any(directory, &commands->home, m->count, ids)
                         : weft__outside_take(directory, m->count, ids);
    if (result != WEFT_OK) memset(ids, 0, m->count * sizeof *ids);
    return result;
}

static void return_ids(weft_recorder *commands, const making *m, weft_entity *ids)
{
    if (commands->in_set)
        weft__directory_free_any(&commands->world->directory, ids, m->count);
    else
        weft__outside_return(&commands->world->directory, ids, m->count);
    memset(ids, 0, m->count * sizeof *ids);
}

static weft__command_rows *record_rows(weft_recorder *commands, const making *m)
{
    size_t bytes = sizeof(weft__command_rows) + m->archetype->type_count * sizeof(void *);
    size_t shared_bytes = m->goes_on ? 0 : m->shared_bytes;
    weft__command *command = append(commands, OP, bytes + shared_bytes);
    if (command == NULL) return NULL;
    command->entity = WEFT__NO_ENTITY;
    command->subject = m->archetype->id;
    weft__command_rows *rows = weft__command_payload(command);
    *rows = (weft__command_rows){.chunk = m->chunk,
                                 .first = m->chunk->count,
                                 .count = m->count,
                                 .number = commands->rows,
                                 .shared_bytes = (uint32_t)shared_bytes,
                                 .brings_chunk = m->is_new,
                                 .begins_piece = !m->goes_on,
                                 .in_nursery = m->in_nursery};
    rows->piece = m->goes_on ? commands->piece : rows;
    if (!m->goes_on) write_values(commands, m, rows);
    return rows;
}

/* All that can be refused; the rows are there after it. NULL: *result says why. */
static weft__command_rows *make_rows(weft_recorder *commands, making *m, weft_result *result)
{
    *result = find_chunk(commands, m);
    weft_entity *ids = m->chunk == NULL ? NULL : weft__chunk_entities(m->chunk) + m->chunk->count;
    bool with_ids = m->desc->is_unordered;
    weft__command_rows *rows = NULL;
    if (*result == WEFT_OK && with_ids) *result = take_ids(commands, m, ids);
    if (*result == WEFT_OK) {
        rows = record_rows(commands, m);
        if (rows == NULL) *result = WEFT_OUT_OF_MEMORY;
        if (rows == NULL && with_ids) return_ids(commands, m, ids);
    }
    if (rows != NULL)
        weft__private_rows(m->chunk, m->count, with_ids);
    else if (m->chunk != NULL && m->is_new)
        weft__private_drop(commands->world, m->chunk);
    return rows;
}

/* Describes the rows; column pointers live in the command. */
static void describe_rows(weft__command_rows *made, bool with_ids, weft_slice *rows)
{
    const weft__archetype *archetype = made->chunk->archetype;
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        uint32_t column = archetype->types[i].column;
        made->columns[i] = column == 0 ? NULL : weft__chunk_value(made->chunk, column, made->first);
    }
    *rows =
        (weft_slice){.count = made->count,
                     .term_count = archetype->type_count,
                     .columns = made->columns,
                     .entities = with_ids ? weft__chunk_entities(made->chunk) + made->first : NULL,
                     .calls = rows->calls,
                     .chunk = made->chunk,
                     .context = rows->context};
}

/* The rows of a nursery that is given up stay where they are until playback. */
static void keep_nursery(weft_recorder *commands, const making *m)
{
    commands->nurseries[m->place] = m->chunk;
    if (m->place == commands->next_nursery)
        commands->next_nursery = (m->place + 1) % WEFT__NURSERIES;
}

weft_result weft_recorder_create_rows_with(weft_recorder *commands, const weft_rows_desc *desc,
                                           weft_slice *rows)
{
    if (commands == NULL || desc == NULL || rows == NULL || desc->count == 0)
        return WEFT_INVALID_ARGUMENT;
    *rows = (weft_slice){.calls = calls_of_rows(commands), .context = &commands->rows_context};
    weft_result result = check_open(commands, OP, WEFT__NO_ENTITY, 0);
    if (result != WEFT_OK) return result;
    weft__archetype *archetype = archetype_for_rows(commands->world, desc->archetype);
    if (archetype == NULL) return refuse(commands, WEFT_BAD_HANDLE, 0);
    making m = {.desc = desc, .archetype = archetype, .count = desc->count};
    result = check_shared(commands, &m);
    if (result != WEFT_OK) return result;
    weft__command_rows *made = make_rows(commands, &m, &result);
    if (made == NULL) return refuse(commands, result, 0);
    commands->rows += m.count;
    commands->run_rows = m.count + (m.is_like ? commands->run_rows : 0);
    commands->piece = made->piece;
    made->piece->piece_rows += m.count;
    if (m.in_nursery && m.is_new) keep_nursery(commands, &m);
    describe_rows(made, desc->is_unordered, rows);
    return WEFT_OK;
}

weft_result weft_recorder_create_rows(weft_recorder *commands, weft_archetype archetype,
                                      uint32_t count, weft_slice *rows)
{
    weft_rows_desc desc = {.archetype = archetype, .count = count};
    return weft_recorder_create_rows_with(commands, &desc, rows);
}

weft_result weft_recorder_create_rows_unordered(weft_recorder *commands, weft_archetype archetype,
                                                uint32_t count, weft_slice *rows)
{
    weft_rows_desc desc = {.archetype = archetype, .count = count, .is_unordered = true};
    return weft_recorder_create_rows_with(commands, &desc, rows);
}

weft_entity weft_recorder_row_entity(weft_recorder *commands, const weft_slice *rows, uint32_t row)
{
    if (commands == NULL) return WEFT__NO_ENTITY;
    if (check_open(commands, OP, WEFT__NO_ENTITY, 0) != WEFT_OK) return WEFT__NO_ENTITY;
    if (rows == NULL || rows->columns == NULL || row >= rows->count) {
        refuse(commands, WEFT_NOT_FOUND, 0);
        return WEFT__NO_ENTITY;
    }
    if (rows->context != &commands->rows_context || rows->calls != calls_of_rows(commands)) {
        refuse(commands, WEFT_STALE_ENTITY, 0);
        return WEFT__NO_ENTITY;
    }
    if (rows->entities != NULL) return rows->entities[row];
    weft__command_rows *made = command_of(rows);
    made->is_asked = commands->rows_asked = true;
    return (weft_entity){WEFT__ROW_HANDLE | (made->number + row), commands->epoch};
}
