/* SPDX-License-Identifier: MIT */
/* world_text_write.c: weft_world_save_json: a walk over types, resources and rows, each an
 * object on a line of its own, into a buffer that goes to the writer whenever it is long enough.
 * See weft/world_text.h. */
#include "entity_tag.h"
#include "field.h"
#include "filter.h"
#include "relation_registry.h"
#include "sparse.h"
#include "text.h"
#include "value_read.h"
#include "world_file_write.h"
#include "world_text_type.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CATEGORY WEFT__MEMORY_COMMANDS
#define PIECE_BYTES ((size_t)1 << 16)
#define PIECE_BYTES_MAX ((size_t)1 << 20) /* that a writer gets at once */
#define DEAD_IN_LINE 64u

const char *const weft__world_text_flags[WEFT__WORLD_TEXT_FLAGS] = {
    "enableable", "shared",     "buffer", "chunk",     "cleanup",
    "resource",   "not hashed", "sparse", "not copied"};

/* One writing. Owner: weft_world_save_json, on its stack. */
typedef struct writing {
    weft_world *world;
    const weft_writer *writer;
    weft_value_io io;
    const weft_value_io *blob_io; /* of the caller; NULL: content hashes */
    uint8_t *is_left_out;         /* [type id] */
    uint32_t type_count;
    weft__out out;      /* what waits for the writer */
    weft__out saved;    /* what a save hook made */
    weft_result result; /* the first failure is kept, and nothing is written after it */
} writing;

/* ---- bytes ---- */

static bool failed(writing *w, weft_result result)
{
    if (w->result == WEFT_OK) w->result = result;
    return false;
}

/* Room for `count` bytes behind what waits. */
static bool reserve(writing *w, size_t count)
{
    if (w->result != WEFT_OK) return false;
    return weft__out_space(&w->out, count) != NULL ||
           failed(w, weft__error_memory(w->world, "weft_world_save_json"));
}

static void put_bytes(writing *w, const char *bytes, size_t count)
{
    if (reserve(w, count)) weft__out_put(&w->out, bytes, count);
}

static void put_word(writing *w, const char *word)
{
    put_bytes(w, word, strlen(word));
}

static void put_quoted(writing *w, const char *string)
{
    size_t most = 6 * strlen(string) + 3;
    if (!reserve(w, most)) return;
    weft__text text = {w->out.at + w->out.count, most, 0};
    weft__text_add_quoted(&text, string);
    w->out.count += text.length;
}

__attribute__((format(printf, 2, 3))) static void put_format(writing *w, const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    put_bytes(w, text, (size_t)length);
}

static void flush(writing *w)
{
    for (size_t at = 0, count; at < w->out.count && w->result == WEFT_OK; at += count) {
        count = w->out.count - at < PIECE_BYTES_MAX ? w->out.count - at : PIECE_BYTES_MAX;
        weft_result result = w->writer->write(w->writer->user, w->out.at + at, count);
        if (result == WEFT_OK) continue;
        weft__error(w->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "weft_world_save_json: the writer returned %s", weft_result_name(result));
        failed(w, result);
    }
    w->out.count = 0;
}

/* The end of an object. */
static void end_line(writing *w)
{
    put_bytes(w, "}\n", 2);
    if (w->out.count >= PIECE_BYTES) flush(w);
}

static size_t write_entity(weft_entity entity, char *text, size_t capacity, void *user)
{
    const writing *w = user;
    weft__text t = {text, capacity, 0};
    weft__text_add(&t, "%u:%u", entity.index ^ w->world->directory.tag_bits, entity.version);
    return t.length;
}

static size_t write_blob(weft_blob_ref blob, char *text, size_t capacity, void *user)
{
    const writing *w = user;
    if (w->blob_io != NULL && w->blob_io->write_blob != NULL)
        return w->blob_io->write_blob(blob, text, capacity, w->blob_io->user);
    const weft_blob_store *store = w->world->blobs;
    const weft__blob_header *header = store == NULL ? NULL : weft__blob_store_block(store, blob);
    weft__text t = {text, capacity, 0};
    weft__text_add(&t, header == NULL ? "stale" : "0x%016" PRIx64,
                   header == NULL ? 0 : header->content_hash);
    return t.length;
}

/* ---- values ---- */

static void put_described(writing *w, const weft_type *type, const void *value)
{
    size_t free = w->out.capacity - w->out.count;
    size_t length = weft_value_format(&w->io, type, value, w->out.at + w->out.count, free);
    if (length >= free) {
        if (!reserve(w, length + 1)) return;
        weft_value_format(&w->io, type, value, w->out.at + w->out.count, length + 1);
    }
    w->out.count += length;
}

/* The bytes that the save hook makes of a value. */
static void put_hooked(writing *w, const weft__type *type, const void *value)
{
    w->saved.count = 0;
    weft__hooked_put(&w->saved, &w->world->directory, type, value);
    if (w->saved.is_refused) failed(w, weft__error_memory(w->world, "weft_world_save_json"));
    size_t count = w->saved.is_refused ? 0 : w->saved.count - 4; /* behind its own count */
    if (!reserve(w, 2 * count + 5)) return;
    weft__text text = {w->out.at + w->out.count, 2 * count + 5, 0};
    weft__text_add_hexadecimal(&text, w->saved.at + 4, count);
    w->out.count += text.length;
}

static void put_value(writing *w, const weft__type *type, const void *value)
{
    if (w->result != WEFT_OK) return;
    if (weft__type_is_hooked(type)) {
        put_hooked(w, type, value);
    } else if (type->desc.size == 0) {
        put_word(w, "true");
    } else {
        weft_type described = weft__world_text_type(type);
        put_described(w, &described, value);
    }
}

static void put_elements(writing *w, const weft__type *type, const weft_buffer *buffer)
{
    const char *at = weft__buffer_data(buffer);
    put_bytes(w, "[", 1);
    for (uint32_t i = 0; i < buffer->count; i++) {
        if (i != 0) put_bytes(w, ", ", 2);
        put_value(w, type, at + (size_t)i * type->desc.size);
    }
    put_bytes(w, "]", 1);
}

static void put_member(writing *w, const weft__type *type, bool *is_first)
{
    if (!*is_first) put_bytes(w, ", ", 2);
    *is_first = false;
    put_quoted(w, type->desc.name);
    put_bytes(w, ": ", 2);
}

/* ---- lines ---- */

static void put_header(writing *w)
{
    const weft_world *world = w->world;
    const weft__clock *clock = &world->front.clock;
    uint64_t entities = 0;
    for (uint32_t i = 0; i < world->archetypes.count; i++)
        if ((world->archetypes.at[i]->flags & WEFT__IS_SPARSE) == 0)
            entities += world->archetypes.at[i]->entity_count;
    put_format(w, "{\"weft\": %u, \"world\": ", WEFT__WORLD_TEXT_VERSION);
    put_quoted(w, world->desc.name == NULL ? "" : world->desc.name);
    put_format(w,
               ", \"entities\": %" PRIu64 ", \"steps\": %" PRIu64 ", \"time\": %.17g, \"dt\": %.9g",
               entities, clock->steps, clock->time, (double)clock->dt);
    end_line(w);
}

/* A member that lists the words of bits, where there are any. */
static void put_words(writing *w, const char *member, uint32_t bits, const char *const *words,
                      uint32_t count)
{
    bool is_first = true;
    if (bits == 0) return;
    put_format(w, ", \"%s\": [", member);
    for (uint32_t i = 0; i < count; i++) {
        if ((bits >> i & 1) == 0) continue;
        put_format(w, "%s\"%s\"", is_first ? "" : ", ", words[i]);
        is_first = false;
    }
    put_bytes(w, "]", 1);
}

static void put_description(writing *w, const weft_type *type)
{
    put_word(w, ", \"description\": ");
    size_t length = weft__type_write(type, NULL, 0);
    if (!reserve(w, length + 1)) return;
    weft__type_write(type, w->out.at + w->out.count, length + 1);
    w->out.count += length;
}

static void put_type(writing *w, const weft__type *type)
{
    const weft_component_desc *desc = &type->desc;
    put_word(w, "{\"type\": ");
    put_quoted(w, desc->name);
    put_format(w, ", \"size\": %zu, \"alignment\": %zu", desc->size, desc->alignment);
    put_words(w, "flags", desc->flags, weft__world_text_flags, WEFT__WORLD_TEXT_FLAGS);
    put_words(w, "relation", weft__relation_word(w->world, weft__component(w->world, type->id)),
              weft__relation_words, WEFT__RELATION_BITS);
    if (desc->buffer_capacity != 0) put_format(w, ", \"capacity\": %u", desc->buffer_capacity);
    if (desc->chunk_row_limit != 0) put_format(w, ", \"row limit\": %u", desc->chunk_row_limit);
    for (uint32_t i = 0; i < desc->required_count; i++) {
        put_word(w, i == 0 ? ", \"required\": [" : ", ");
        put_quoted(w, w->world->types.at[desc->required[i].id]->desc.name);
        if (i + 1 == desc->required_count) put_bytes(w, "]", 1);
    }
    if (desc->type != NULL) put_description(w, desc->type);
    if (weft__type_is_hooked(type)) put_word(w, ", \"hooks\": true");
    for (uint32_t i = 0; i < desc->field_count && desc->type == NULL; i++) {
        const weft_field *field = &desc->fields[i];
        put_word(w, i == 0 ? ", \"fields\": [{\"name\": " : "}, {\"name\": ");
        put_quoted(w, field->name);
        put_format(w, ", \"kind\": \"%s\", \"offset\": %u, \"count\": %u",
                   weft__kinds[field->kind].word, field->offset, field->count);
        if (i + 1 == desc->field_count) put_bytes(w, "}]", 2);
    }
    end_line(w);
}

static void put_runs(writing *w)
{
    weft__run_list list = {.world = w->world};
    weft__run_list_collect(&list);
    if (list.is_out_of_memory) failed(w, weft__error_memory(w->world, "weft_world_save_json"));
    for (uint32_t i = 0; i < list.count; i++) {
        const weft__kept_run *run = &list.at[i];
        put_word(w, run->is_group ? "{\"group\": " : "{\"system\": ");
        put_quoted(w, run->name);
        put_format(w, ", \"elapsed\": %.17g", run->elapsed);
        if (run->timer >= 0) put_format(w, ", \"timer\": %.17g", run->timer);
        end_line(w);
    }
    weft__run_list_free(&list);
}

static void put_component(writing *w, const weft__chunk *chunk, uint32_t row,
                          const weft__type_ref *ref)
{
    const weft__type *type = ref->type;
    if (ref->shared != WEFT__NO_PLACE) {
        uint32_t index = chunk->tuple->values[ref->shared];
        if (index == 0)
            put_word(w, "null");
        else
            put_value(w, type, weft__shared_value(&w->world->shared, ref->component, index));
    } else if (ref->chunk_offset != WEFT__NONE) {
        put_value(w, type, chunk->chunk_values + ref->chunk_offset);
    } else if (ref->column == 0) {
        put_word(w, "true");
    } else if ((type->desc.flags & WEFT_BUFFER) != 0) {
        put_elements(w, type, (const weft_buffer *)weft__chunk_value(chunk, ref->column, row));
    } else {
        put_value(w, type, weft__chunk_value(chunk, ref->column, row));
    }
}

static void put_sparse(writing *w, weft_entity entity, bool *is_first)
{
    for (uint32_t id = 1; id <= w->type_count; id++) {
        const weft__type *type = w->world->types.at[id];
        uint32_t row;
        if (type->sparse == NULL || w->is_left_out[id] != 0) continue;
        const weft__chunk *chunk = weft__sparse_find(w->world, type, entity, &row);
        if (chunk == NULL) continue;
        put_member(w, type, is_first);
        put_component(w, chunk, row, &chunk->archetype->types[0]);
    }
}

static void put_disabled(writing *w, const weft__chunk *chunk, uint32_t row)
{
    bool is_first = true;
    for (uint32_t i = 0; i < chunk->archetype->type_count; i++) {
        const weft__type_ref *ref = &chunk->archetype->types[i];
        if (ref->enableable == WEFT__NO_PLACE || w->is_left_out[ref->component] != 0 ||
            weft__chunk_is_enabled(chunk, ref->enableable, row))
            continue;
        put_word(w, is_first ? ", \"disabled\": [" : ", ");
        put_quoted(w, ref->type->desc.name);
        is_first = false;
    }
    if (!is_first) put_bytes(w, "]", 1);
}

static void put_entity(writing *w, const weft__chunk *chunk, uint32_t row)
{
    weft_entity entity = weft__chunk_entities(chunk)[row];
    put_format(w, "{\"entity\": \"%u:%u\"", entity.index ^ w->world->directory.tag_bits,
               entity.version);
    const char *name = w->world->names == NULL ? "" : weft_entity_name(w->world, entity);
    if (name[0] != '\0') {
        put_word(w, ", \"name\": ");
        put_quoted(w, name);
    }
    put_word(w, ", \"components\": {");
    bool is_first = true;
    for (uint32_t i = 0; i < chunk->archetype->type_count; i++) {
        const weft__type_ref *ref = &chunk->archetype->types[i];
        if (w->is_left_out[ref->component] != 0) continue;
        put_member(w, ref->type, &is_first);
        put_component(w, chunk, row, ref);
    }
    if (w->world->types.sparse != NULL) put_sparse(w, entity, &is_first);
    put_bytes(w, "}", 1);
    put_disabled(w, chunk, row);
    end_line(w);
}

/* Indices that are not alive, each with what its version is now. */
static void put_dead(writing *w)
{
    weft__dead dead;
    uint32_t in_line = 0;
    for (uint32_t from = 0; weft__directory_dead_next(&w->world->directory, &from, &dead);) {
        put_word(w, in_line == 0 ? "{\"dead\": [" : ", ");
        put_format(w, "\"%u:%u\"", dead.index, dead.version);
        if (++in_line < DEAD_IN_LINE) continue;
        put_bytes(w, "]", 1);
        end_line(w);
        in_line = 0;
    }
    if (in_line == 0) return;
    put_bytes(w, "]", 1);
    end_line(w);
}

static void put_all(writing *w)
{
    const weft_world *world = w->world;
    put_header(w);
    for (uint32_t id = 1; id <= w->type_count; id++)
        if (w->is_left_out[id] == 0 && id != world->builtin.residue.id)
            put_type(w, world->types.at[id]);
    for (uint32_t id = 1; id <= w->type_count; id++)
        if (w->is_left_out[id] == 0 && world->types.at[id]->resource != NULL) {
            const weft__type *type = world->types.at[id];
            put_word(w, "{\"resource\": ");
            put_quoted(w, type->desc.name);
            put_word(w, ", \"value\": ");
            if ((type->desc.flags & WEFT_BUFFER) != 0)
                put_elements(w, type, type->resource);
            else
                put_value(w, type, type->resource);
            end_line(w);
        }
    put_runs(w);
    for (uint32_t a = 0; a < world->archetypes.count; a++) {
        const weft__archetype *archetype = world->archetypes.at[a];
        if ((archetype->flags & WEFT__IS_SPARSE) != 0) continue;
        for (uint32_t i = 0; i < archetype->chunk_count; i++)
            for (uint32_t row = 0; row < archetype->chunks[i]->count && w->result == WEFT_OK; row++)
                put_entity(w, archetype->chunks[i], row);
    }
    put_dead(w);
    flush(w);
}

static weft_result choose(writing *w, const weft_world_text_desc *desc)
{
    weft_world *world = w->world;
    weft_result result = weft__check_listed(world, "weft_world_save_json", "without", desc->without,
                                            desc->without_count);
    if (result != WEFT_OK) return result;
    for (uint32_t i = 0; i < desc->without_count; i++) w->is_left_out[desc->without[i].id] = 1;
    for (uint32_t id = 1; id <= w->type_count; id++) {
        const weft__type *type = world->types.at[id];
        const char *problem = weft__type_save_problem(type);
        if (problem == NULL || w->is_left_out[id] != 0) continue;
        return weft__error(world, WEFT_UNSUPPORTED, WEFT__NO_ENTITY, weft__component(world, id),
                           "weft_world_save_json: component \"%s\" %s%s leave it out (without)",
                           type->desc.name, problem, weft__save_advice(type));
    }
    return WEFT_OK;
}

weft_result weft_world_save_json(weft_world *world, const weft_writer *writer,
                                 const weft_world_text_desc *desc)
{
    static const weft_world_text_desc everything;
    const char *what = "weft_world_save_json";
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (desc == NULL) desc = &everything;
    if (writer == NULL || writer->write == NULL ||
        (desc->without_count != 0 && desc->without == NULL))
        return weft__error_argument(world, what,
                                    "writer or its function is NULL, or desc->without is NULL but "
                                    "its count is not 0: set them");
    weft_result result = weft__between_steps(world, what);
    if (result != WEFT_OK) return result;
    writing w = {.world = world, .writer = writer, .blob_io = desc->io};
    w.out.memory = w.saved.memory = &world->memory;
    w.io = (weft_value_io){.write_entity = write_entity, .write_blob = write_blob, .user = &w};
    w.type_count = world->types.count;
    w.is_left_out = weft__alloc_zeroed(&world->memory, CATEGORY, (size_t)w.type_count + 1, 1, 1);
    weft__callback_begin(world);
    if (weft__out_space(&w.out, 2 * PIECE_BYTES) == NULL || w.is_left_out == NULL)
        w.result = weft__error_memory(world, what);
    else
        w.result = choose(&w, desc);
    if (w.result == WEFT_OK) put_all(&w);
    weft__callback_end(world);
    weft__out_free(&w.out);
    weft__out_free(&w.saved);
    weft__free(&world->memory, CATEGORY, w.is_left_out, (size_t)w.type_count + 1, 1, 1);
    return w.result;
}
