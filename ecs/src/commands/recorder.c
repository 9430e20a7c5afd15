/* SPDX-License-Identifier: MIT */
/* recorder.c: the memory of a recorder: its life, its pages and segments. See command_format.h for
 * the format.
 *
 * The hot path is a bump in the page and a store of 16 bytes (recorder.h). A worker cannot set the
 * world's error text, so failures are kept in the recorder and reported when it is played. */
#include "recorder.h"

#include "command_shared.h"
#include "directory.h"
#include "error.h"
#include "host.h"
#include "private_chunk.h"
#include "slice_rows.h"
#include "world_state.h"

#include <string.h>

#define FIRST_PAGE_BYTES 4032u
#define PAGE_BYTES 65472u
static_assert(WEFT__PAYLOAD_WORDS_MOST * 16 <= FIRST_PAGE_BYTES, "two fit the first page");

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
                                .rows_context = {.ops = &weft__slice_ops_rows, .world = world}};
    commands->epoch = next_epoch(world);
    commands->home = worker;
}

static void free_blocks(weft_recorder *commands)
{
    weft__command_block *block = commands->blocks;
    while (block != NULL) {
        weft__command_block *next = block->next;
        weft__free(&commands->world->memory, WEFT__MEMORY_COMMANDS, block, 1, block->bytes, 8);
        block = next;
    }
    commands->blocks = NULL;
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
    free_blocks(commands);
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

/* ---- room ---- */

weft_result weft__recorder_fail(weft_recorder *commands, weft_result code, weft__command_op op,
                                weft_entity entity, uint32_t component)
{
    bool is_first = commands->failure.code == WEFT_OK || commands->key < commands->failure.key;
    if (is_first)
        commands->failure =
            (weft__command_failure){code, commands->key, entity, component, (uint8_t)op};
    return code;
}

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

bool weft__recorder_make_room(weft_recorder *commands, size_t bytes)
{
    while (commands->page == NULL || (size_t)(commands->end - commands->at) < bytes)
        if (!next_page(commands)) return false;
    return commands->open != NULL || open_segment(commands);
}

weft__command *weft__recorder_append_apart(weft_recorder *commands, weft__command_op op,
                                           size_t bytes)
{
    size_t total = sizeof(weft__command_block) + bits_align_up(bytes, 8);
    weft__command_block *block =
        weft__alloc(&commands->world->memory, WEFT__MEMORY_COMMANDS, 1, total, 8);
    if (block == NULL) return NULL;
    weft__command *command = weft__recorder_append_words(commands, op, 1);
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
