/* SPDX-License-Identifier: MIT */
/* world_text_read.c: weft_world_read_json: objects one after the other, each by the member it
 * begins with. An entity is looked through first for the names of its components, then its row
 * is made, then values are read where they belong. The first failure empties the world again.
 * Types are read by world_text_types.c. See weft/world_text.h. */
#include "world_text_read.h"
#include "archetype.h"
#include "component_registry.h"
#include "directory_check.h"
#include "directory_dead.h"
#include "entity_value.h"
#include "error.h"
#include "lent.h"
#include "relation_registry.h"
#include "sparse.h"
#include "structure.h"
#include "world_file_format.h"
#include "world_file_rows.h"
#include "world_text_types.h"

#include <string.h>

#define CATEGORY WEFT__MEMORY_COMMANDS
/* Most blocks of entities without a mention, so that few bytes cannot ask for much memory. */
#define BLOCKS_WITHOUT_MENTION 512u
#define MENTIONS_PER_BLOCK 64u
#define ENTITY_TEXT_MIN 20u /* {"entity": "0:1"}, at least */
#define NAME_BYTES 64u      /* with its NUL; longer names are cut by weft_entity_set_name */

/* ---- tokens ---- */

weft__json_token weft__world_text_next(weft__world_text *t)
{
    weft__json_token token = weft__json_next(&t->reading.json);
    if (token.kind == WEFT__JSON_ERROR)
        weft__reading_fail(&t->reading, token.at, "%s", t->reading.json.problem);
    return token;
}

bool weft__world_text_failed(weft__world_text *t, weft_result result)
{
    if (t->result == WEFT_OK) t->result = result;
    return false;
}

bool weft__world_text_skip(weft__world_text *t)
{
    weft__json_token token = weft__world_text_next(t);
    if (token.kind == WEFT__JSON_ERROR) return false;
    if (weft__json_skip(&t->reading.json, &token)) return true;
    return weft__reading_fail(&t->reading, token.at, "%s", t->reading.json.problem);
}

bool weft__world_text_open(weft__world_text *t, weft__json_kind kind, const char *what)
{
    weft__json_token token = weft__world_text_next(t);
    if (token.kind == kind) return true;
    if (token.kind == WEFT__JSON_ERROR) return false;
    return weft__reading_fail(&t->reading, token.at, "%s should be here", what);
}

bool weft__world_text_string(weft__world_text *t, char *out, size_t capacity, const char *what)
{
    weft__json_token token = weft__world_text_next(t);
    if (token.kind == WEFT__JSON_ERROR) return false;
    if (token.kind != WEFT__JSON_STRING)
        return weft__reading_fail(&t->reading, token.at, "%s should be here: \"...\"", what);
    size_t length = weft__json_string(&token, out, capacity);
    if (length < capacity && memchr(out, 0, length) == NULL) return true;
    return weft__reading_fail(&t->reading, token.at,
                              "%s of at most %zu bytes, without NULs, should "
                              "be here",
                              what, capacity - 1);
}

bool weft__world_text_number(weft__world_text *t, weft_field_kind kind, void *out)
{
    const weft_field field = {.name = "", .kind = kind, .count = 1};
    weft__json_token token = weft__world_text_next(t);
    return token.kind != WEFT__JSON_ERROR && weft__word_number(&t->reading, &field, &token, out);
}

/* ---- values ---- */

static const char *read_entity(const char *word, size_t length, weft_entity *out, void *user)
{
    const weft__world_text *t = user;
    const char *problem = weft__word_parse_entity(word, length, out);
    if (problem == NULL) out->index ^= t->world->directory.tag_bits;
    return problem;
}

static const char *read_blob(const char *word, size_t length, weft_blob_ref *out, void *user)
{
    const weft__world_text *t = user;
    if (t->blob_io != NULL && t->blob_io->read_blob != NULL)
        return t->blob_io->read_blob(word, length, out, t->blob_io->user);
    return "blobs are not in the text: give read_blob, or write null";
}

/* The bytes that a save hook made, as "0x...". */
static bool read_hooked(weft__world_text *t, const weft__type *type, char *value,
                        const weft__json_token *token)
{
    size_t digits = (size_t)(token->end - token->at);
    if (token->kind != WEFT__JSON_STRING || digits < 2 || digits % 2 != 0)
        return weft__reading_fail(&t->reading, token->at, "bytes should be here: \"0x...\"");
    size_t count = digits / 2 - 1;
    weft__memory *memory = &t->world->memory;
    char *bytes = weft__alloc(memory, CATEGORY, count + 1, 1, 16);
    if (bytes == NULL)
        return weft__world_text_failed(t, weft__error_memory(t->world, "weft_world_read_json"));
    const weft_component_hooks *hooks = &type->desc.hooks;
    bool is_read = count == 0 || weft__word_bytes(&t->reading, token, bytes, count);
    bool is_loaded = is_read && hooks->load(value, bytes, count, hooks->user);
    if (is_read && !is_loaded)
        is_read = weft__reading_fail(&t->reading, token->at, "the load hook of \"%s\" refuses it",
                                     type->desc.name);
    weft__free(memory, CATEGORY, bytes, count + 1, 1, 16);
    return is_read;
}

static bool read_described(weft__world_text *t, const weft__type *type, char *value,
                           const weft__json_token *token)
{
    weft_type described = weft__world_text_type(type);
    if (described.initial != NULL) memcpy(value, described.initial, described.size);
    t->reading.trail = (weft__trail){.root = &described};
    bool is_read = weft__reading_value(&t->reading, &described, value, token);
    t->reading.trail = (weft__trail){.root = &weft__world_text_root};
    return is_read;
}

/* One value, or element, into memory that is zeroed or constructed. */
static bool read_one(weft__world_text *t, const weft__type *type, char *value,
                     const weft__json_token *token)
{
    if (token->kind == WEFT__JSON_ERROR) return false;
    weft__callback_begin(t->world); /* load, read_blob, weft_type.check */
    bool is_read = weft__type_is_hooked(type) ? read_hooked(t, type, value, token)
                                              : read_described(t, type, value, token);
    weft__callback_end(t->world);
    return is_read;
}

/* Elements behind those that are there, which are none. */
static bool read_elements(weft__world_text *t, const weft__type *type, const weft_buffers *buffers,
                          const weft__json_token *token)
{
    if (token->kind == WEFT__JSON_ERROR) return false;
    if (token->kind != WEFT__JSON_ARRAY)
        return weft__reading_fail(&t->reading, token->at,
                                  "the elements of a buffer should be here: [...]");
    if (buffers->count == 0) return weft__world_text_failed(t, t->world->error->code);
    for (uint32_t i = 0;; i++) {
        weft__json_token element = weft__world_text_next(t);
        if (element.kind == WEFT__JSON_ARRAY_END) return true;
        weft_result result = weft_buffers_resize(buffers, 0, i + 1);
        if (result != WEFT_OK) return weft__world_text_failed(t, result);
        char *to = (char *)weft_buffers_write(buffers, 0) + (size_t)i * type->desc.size;
        if (!read_one(t, type, to, &element)) return false;
    }
}

/* Memory for a value that goes to the world by a call. */
static char *scratch_of(weft__world_text *t, const weft__type *type)
{
    size_t bytes = type->desc.size == 0 ? 1 : type->desc.size;
    weft__memory *memory = &t->world->memory;
    if (bytes > t->scratch_bytes) {
        weft__free(memory, CATEGORY, t->scratch, t->scratch_bytes, 1, 64);
        t->scratch = weft__alloc(memory, CATEGORY, bytes, 1, 64);
        t->scratch_bytes = t->scratch == NULL ? 0 : bytes;
    }
    if (t->scratch == NULL)
        weft__world_text_failed(t, weft__error_memory(t->world, "weft_world_read_json"));
    else
        memset(t->scratch, 0, bytes);
    return t->scratch;
}

static bool read_shared(weft__world_text *t, weft_entity entity, const weft__type *type,
                        const weft__json_token *token)
{
    if (token->kind == WEFT__JSON_NULL) return true; /* the value of new rows */
    char *value = scratch_of(t, type);
    if (value == NULL || !read_one(t, type, value, token)) return false;
    weft_result result =
        weft_entity_set_shared(t->world, entity, weft__component(t->world, type->id), value);
    return result == WEFT_OK || weft__world_text_failed(t, result);
}

/* A SPARSE value, which the entity lacks. */
static bool read_sparse(weft__world_text *t, weft_entity entity, const weft__type *type,
                        const weft__json_token *token)
{
    weft_component component = weft__component(t->world, type->id);
    if (weft__sparse_has(type, entity))
        return weft__reading_fail(&t->reading, token->at, "\"%s\" stands here twice: remove one",
                                  type->desc.name);
    weft_result result = weft_entity_add(t->world, entity, component);
    if (result != WEFT_OK) return weft__world_text_failed(t, result);
    if (type->desc.size == 0) return true;
    return read_one(t, type, weft_entity_write(t->world, entity, component), token);
}

static bool read_component(weft__world_text *t, weft_entity entity, const weft__type *type,
                           const weft__json_token *token)
{
    weft_component component = weft__component(t->world, type->id);
    uint32_t flags = type->desc.flags;
    if (token->kind == WEFT__JSON_ERROR) return false;
    if (type->desc.size == 0 && token->kind != WEFT__JSON_TRUE)
        return weft__reading_fail(&t->reading, token->at, "\"%s\" has no value: write true",
                                  type->desc.name);
    if ((flags & WEFT_SPARSE) != 0) return read_sparse(t, entity, type, token);
    if (type->desc.size == 0) return true;
    if ((flags & WEFT_SHARED) != 0) return read_shared(t, entity, type, token);
    if ((flags & WEFT_BUFFER) != 0) {
        weft_buffers buffers = weft_entity_write_buffer(t->world, entity, component);
        return read_elements(t, type, &buffers, token);
    }
    if ((flags & WEFT_CHUNK) == 0)
        return read_one(t, type, weft_entity_write(t->world, entity, component), token);
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(t->world, entity, &row);
    const weft__type_ref *ref =
        &chunk->archetype->types[weft__archetype_find(chunk->archetype, type->id)];
    return read_one(t, type, chunk->chunk_values + ref->chunk_offset, token);
}

/* ---- entities ---- */

/* An entity as its line gives it. On the stack of read_entity_line; the marks are places of the
 * parser right behind the opening bracket. */
typedef struct entity_line {
    weft_entity handle; /* with the tag */
    const char *at;     /* of the handle in the text */
    char name[NAME_BYTES];
    weft__json components, disabled;
    bool has_components, has_disabled;
} entity_line;

const weft__type *weft__world_text_find(weft__world_text *t, const weft__json_token *token)
{
    char name[256];
    size_t length = weft__json_string(token, name, sizeof name);
    weft_component found = {0};
    if (length < sizeof name) {
        name[length] = '\0';
        found = weft__component_named(t->world, name);
    }
    if (found.id != 0) return t->world->types.at[found.id];
    weft__reading_fail(&t->reading, token->at - 1,
                       "no component \"%.*s\": register it, or put its \"type\" in front",
                       (int)(token->end - token->at), token->at);
    return NULL;
}

/* The component joins the ids of the entity, ascending; SPARSE ones are added later. */
static bool component_join(weft__world_text *t, const weft__json_token *token)
{
    const weft__type *type = weft__world_text_find(t, token);
    if (type == NULL) return false;
    if ((type->desc.flags & WEFT_RESOURCE) != 0)
        return weft__reading_fail(&t->reading, token->at - 1,
                                  "\"%s\" is a resource: {\"resource\": ...}", type->desc.name);
    for (uint32_t i = 0; i < t->ids.count; i++)
        if (t->ids.at[i] == type->id)
            return weft__reading_fail(&t->reading, token->at - 1,
                                      "\"%s\" stands here twice: remove one", type->desc.name);
    if ((type->desc.flags & WEFT_SPARSE) != 0) return true;
    if (!WEFT__LIST_ROOM(&t->world->memory, CATEGORY, &t->ids, t->ids.count + 1))
        return weft__world_text_failed(t, weft__error_memory(t->world, "weft_world_read_json"));
    weft__ids_insert(t->ids.at, &t->ids.count, type->id);
    return true;
}

static bool scan_components(weft__world_text *t, entity_line *line)
{
    if (!weft__world_text_open(t, WEFT__JSON_OBJECT, "an object of components")) return false;
    line->components = t->reading.json;
    line->has_components = true;
    for (;;) {
        weft__json_token token = weft__world_text_next(t);
        if (token.kind == WEFT__JSON_OBJECT_END) return true;
        if (token.kind != WEFT__JSON_NAME || !component_join(t, &token) ||
            !weft__world_text_skip(t))
            return false;
    }
}

static bool scan_disabled(weft__world_text *t, entity_line *line)
{
    if (!weft__world_text_open(t, WEFT__JSON_ARRAY, "an array of components")) return false;
    line->disabled = t->reading.json;
    line->has_disabled = true;
    for (;;) {
        weft__json_token token = weft__world_text_next(t);
        if (token.kind == WEFT__JSON_ARRAY_END) return true;
        if (token.kind == WEFT__JSON_ERROR) return false;
        if (token.kind != WEFT__JSON_STRING)
            return weft__reading_fail(&t->reading, token.at, "a component should be here: \"...\"");
    }
}

/* What stands behind {"entity": ; up to the end of the object. */
static bool scan(weft__world_text *t, entity_line *line)
{
    weft__json_token token = weft__world_text_next(t);
    line->at = token.at;
    if (token.kind == WEFT__JSON_ERROR || !weft__word_entity(&t->reading, &token, &line->handle))
        return false;
    for (weft__reading_names seen = {.count = 0};;) {
        token = weft__world_text_next(t);
        bool is_read;
        if (token.kind == WEFT__JSON_OBJECT_END) return true;
        if (!weft__reading_name(&t->reading, &token, &seen)) return false;
        if (weft__json_is(&token, "name"))
            is_read = weft__world_text_string(t, line->name, sizeof line->name, "a name");
        else if (weft__json_is(&token, "components"))
            is_read = scan_components(t, line);
        else if (weft__json_is(&token, "disabled"))
            is_read = scan_disabled(t, line);
        else
            is_read = weft__reading_fail(&t->reading, token.at - 1,
                                         "an entity has \"name\", \"components\" and \"disabled\"");
        if (!is_read) return false;
    }
}

/* Whether an index may be entered: it is new, and not far beyond all others. */
static bool index_check(weft__world_text *t, const char *at, uint32_t index)
{
    const weft__directory *directory = &t->world->directory;
    uint64_t blocks =
        BLOCKS_WITHOUT_MENTION + t->reading.text->count / ENTITY_TEXT_MIN / MENTIONS_PER_BLOCK;
    if (index / WEFT__BLOCK_SLOTS >= blocks)
        return weft__reading_fail(&t->reading, at, "an index far beyond all others");
    if (index < weft__directory_end(directory) && weft__directory_version(directory, index) != 0)
        return weft__reading_fail(&t->reading, at, "entity %u is there twice", index);
    return true;
}

/* The row of an entity, zeroed and constructed, entered with its handle. */
static bool row_make(weft__world_text *t, const entity_line *line)
{
    weft_world *world = t->world;
    weft__directory *directory = &world->directory;
    uint32_t index = line->handle.index ^ directory->tag_bits, version = line->handle.version;
    if ((version & 1) == 0)
        return weft__reading_fail(&t->reading, line->at,
                                  "no living entity has an even version: \"%u:%u\"", index,
                                  version);
    if (!index_check(t, line->at, index)) return false;
    weft__archetype *archetype = weft__archetype_obtain(world, t->ids.at, t->ids.count);
    weft__span place;
    if (archetype == NULL || weft__row_reserve(world, archetype->tuple0, &place) != WEFT_OK)
        return weft__world_text_failed(t, world->error->code);
    weft__chunk_entities(place.chunk)[place.row] = line->handle;
    weft__rows_fill(world, place.chunk, place.row, 1);
    weft_result result =
        weft__directory_force(directory, index, version, weft__location(place.chunk, place.row));
    if (result == WEFT_OK) return true;
    weft__error_limit(world, result, "weft_world_read_json");
    return weft__world_text_failed(t, result);
}

static bool read_components(weft__world_text *t, const entity_line *line)
{
    t->reading.json = line->components;
    for (;;) {
        weft__json_token token = weft__world_text_next(t);
        if (token.kind == WEFT__JSON_OBJECT_END) return true;
        const weft__type *type =
            token.kind == WEFT__JSON_NAME ? weft__world_text_find(t, &token) : NULL;
        if (type == NULL) return false;
        weft__json_token value = weft__world_text_next(t);
        if (!read_component(t, line->handle, type, &value)) return false;
    }
}

static bool read_disabled(weft__world_text *t, const entity_line *line)
{
    t->reading.json = line->disabled;
    for (;;) {
        weft__json_token token = weft__world_text_next(t);
        if (token.kind != WEFT__JSON_STRING) return token.kind == WEFT__JSON_ARRAY_END;
        const weft__type *type = weft__world_text_find(t, &token);
        if (type == NULL) return false;
        weft_component component = weft__component(t->world, type->id);
        bool can_be = (type->desc.flags & WEFT_ENABLEABLE) != 0 &&
                      weft_entity_has(t->world, line->handle, component);
        if (!can_be || !weft_entity_is_enabled(t->world, line->handle, component))
            return weft__reading_fail(&t->reading, token.at,
                                      can_be ? "\"%s\" stands here twice: remove one"
                                             : "the entity has no \"%s\" that can be disabled",
                                      type->desc.name);
        weft_entity_enable(t->world, line->handle, component, false);
    }
}

static bool read_entity_line(weft__world_text *t)
{
    entity_line line = {.at = NULL};
    t->ids.count = 0;
    if (!scan(t, &line)) return false;
    weft__json end = t->reading.json;
    if (!row_make(t, &line) || (line.has_components && !read_components(t, &line)) ||
        (line.has_disabled && !read_disabled(t, &line)))
        return false;
    if (line.name[0] != '\0') {
        weft_result result = weft_entity_set_name(t->world, line.handle, line.name);
        if (result != WEFT_OK) return weft__world_text_failed(t, result);
    }
    t->reading.json = end;
    return true;
}

/* ---- other lines ---- */

/* One handle of a list of the dead. */
static bool read_dead_one(weft__world_text *t, const weft__json_token *token)
{
    weft_entity handle;
    if (!weft__word_entity(&t->reading, token, &handle)) return false;
    weft__directory *directory = &t->world->directory;
    weft__dead dead = {handle.index ^ directory->tag_bits, handle.version};
    if (!weft__dead_is_right(dead.version))
        return weft__reading_fail(&t->reading, token->at,
                                  "no dead entity has this version: \"%u:%u\"", dead.index,
                                  dead.version);
    if (!index_check(t, token->at, dead.index)) return false;
    weft_result result = weft__directory_dead_enter(directory, dead);
    if (result == WEFT_OK) return true;
    weft__error_limit(t->world, result, "weft_world_read_json");
    return weft__world_text_failed(t, result);
}

static bool read_dead(weft__world_text *t)
{
    if (!weft__world_text_open(t, WEFT__JSON_ARRAY, "an array of handles")) return false;
    for (;;) {
        weft__json_token token = weft__world_text_next(t);
        if (token.kind == WEFT__JSON_ARRAY_END)
            return weft__world_text_open(t, WEFT__JSON_OBJECT_END, "the end of the list, }");
        if (token.kind == WEFT__JSON_ERROR || !read_dead_one(t, &token)) return false;
    }
}

static bool read_resource(weft__world_text *t)
{
    weft__json_token name = weft__world_text_next(t);
    if (name.kind != WEFT__JSON_STRING)
        return name.kind != WEFT__JSON_ERROR &&
               weft__reading_fail(&t->reading, name.at, "a component should be here: \"...\"");
    const weft__type *type = weft__world_text_find(t, &name);
    if (type == NULL) return false;
    if ((type->desc.flags & WEFT_RESOURCE) == 0)
        return weft__reading_fail(&t->reading, name.at, "\"%s\" is no resource", type->desc.name);
    weft__json_token token = weft__world_text_next(t);
    if (token.kind == WEFT__JSON_OBJECT_END) return true;
    if (token.kind != WEFT__JSON_NAME || !weft__json_is(&token, "value"))
        return token.kind != WEFT__JSON_ERROR &&
               weft__reading_fail(&t->reading, token.at - 1, "a resource has a \"value\" only");
    weft_component component = weft__component(t->world, type->id);
    token = weft__world_text_next(t);
    if (token.kind == WEFT__JSON_ERROR) return false;
    bool is_read;
    if ((type->desc.flags & WEFT_BUFFER) != 0) {
        weft_buffers buffers = weft_resource_write_buffer(t->world, component);
        if (buffers.count != 0) weft_buffers_resize(&buffers, 0, 0);
        is_read = read_elements(t, type, &buffers, &token);
    } else if (type->desc.size != 0) {
        is_read = read_one(t, type, type->resource, &token);
    } else {
        is_read = token.kind == WEFT__JSON_TRUE ||
                  weft__reading_fail(&t->reading, token.at, "a tag has no value: write true");
    }
    return is_read && weft__world_text_open(t, WEFT__JSON_OBJECT_END, "the end of the resource, }");
}

/* How far the rate or the timer of a system or group is. */
static bool read_run(weft__world_text *t, bool is_group)
{
    weft__kept_run run = {.is_group = is_group, .timer = -1};
    const char *at = t->reading.json.at, *problem;
    if (!weft__world_text_string(t, run.name, sizeof run.name, "a name")) return false;
    for (weft__reading_names seen = {.count = 0};;) {
        weft__json_token token = weft__world_text_next(t);
        if (token.kind == WEFT__JSON_OBJECT_END) break;
        if (!weft__reading_name(&t->reading, &token, &seen)) return false;
        bool is_timer = weft__json_is(&token, "timer");
        if (!is_timer && !weft__json_is(&token, "elapsed"))
            return weft__reading_fail(&t->reading, token.at - 1,
                                      "a system or group has \"elapsed\" and \"timer\"");
        if (!weft__world_text_number(t, WEFT_FIELD_F64, is_timer ? &run.timer : &run.elapsed))
            return false;
    }
    problem = weft__run_problem(&run);
    if (problem != NULL) return weft__reading_fail(&t->reading, at, "%s", problem);
    weft__run_list_add(&t->runs, &run);
    return !t->runs.is_out_of_memory ||
           weft__world_text_failed(t, weft__error_memory(t->world, "weft_world_read_json"));
}

static bool read_header(weft__world_text *t)
{
    weft__clock *clock = &t->clock;
    double dt = 0;
    uint32_t version;
    weft__json_token token;
    if (!weft__world_text_number(t, WEFT_FIELD_U32, &version)) return false;
    if (version == 0 || version > WEFT__WORLD_TEXT_VERSION)
        return weft__reading_fail(&t->reading, t->reading.json.at,
                                  "weft world text of version %u: this library reads versions up "
                                  "to %u",
                                  version, WEFT__WORLD_TEXT_VERSION);
    t->version = version;
    for (weft__reading_names seen = {.count = 0};;) {
        token = weft__world_text_next(t);
        bool is_read;
        if (token.kind == WEFT__JSON_OBJECT_END) break;
        if (!weft__reading_name(&t->reading, &token, &seen)) return false;
        if (weft__json_is(&token, "steps"))
            is_read = weft__world_text_number(t, WEFT_FIELD_U64, &clock->steps);
        else if (weft__json_is(&token, "time"))
            is_read = weft__world_text_number(t, WEFT_FIELD_F64, &clock->time);
        else if (weft__json_is(&token, "dt"))
            is_read = weft__world_text_number(t, WEFT_FIELD_F64, &dt);
        else
            is_read = weft__world_text_skip(t); /* the name and count of the writer */
        if (!is_read) return false;
    }
    clock->dt = (float)dt;
    if (clock->time >= 0 && clock->dt >= 0) return true;
    return weft__reading_fail(&t->reading, token.at, "time and dt are not negative");
}

/* The next object of the text; *is_over: there was none. */
static bool read_line(weft__world_text *t, bool *is_over)
{
    const weft_text *text = t->reading.text;
    weft__json_open(&t->reading.json, t->at, (size_t)(text->bytes + text->count - t->at));
    *is_over = !weft__json_has_more(&t->reading.json);
    if (*is_over) return true;
    weft__json_token token = weft__world_text_next(t);
    if (token.kind == WEFT__JSON_OBJECT) token = weft__world_text_next(t);
    if (token.kind == WEFT__JSON_ERROR) return false;
    bool is_read;
    if (token.kind == WEFT__JSON_NAME && weft__json_is(&token, "entity"))
        is_read = read_entity_line(t);
    else if (token.kind == WEFT__JSON_NAME && weft__json_is(&token, "type"))
        is_read = weft__world_text_read_type(t);
    else if (token.kind == WEFT__JSON_NAME && weft__json_is(&token, "resource"))
        is_read = read_resource(t);
    else if (token.kind == WEFT__JSON_NAME && weft__json_is(&token, "dead"))
        is_read = read_dead(t);
    else if (token.kind == WEFT__JSON_NAME && weft__json_is(&token, "weft"))
        is_read = read_header(t);
    else if (token.kind == WEFT__JSON_NAME &&
             (weft__json_is(&token, "system") || weft__json_is(&token, "group")))
        is_read = read_run(t, weft__json_is(&token, "group"));
    else
        is_read = weft__reading_fail(&t->reading, token.at,
                                     "an object that begins with \"weft\", \"type\", "
                                     "\"resource\", \"system\", \"group\", \"entity\" or \"dead\" "
                                     "should be here");
    t->at = t->reading.json.at;
    return is_read;
}

/* ---- the call ---- */

const weft_type weft__world_text_root = {.name = "world"};

/* Relations that the program did not declare. Texts of version 1, and those of people, have no
 * words for them. */
static bool relations_revive(weft__world_text *t)
{
    bool has_words = t->version == WEFT__WORLD_TEXT_VERSION;
    for (uint32_t id = 1, count = t->world->types.count; id <= count; id++) {
        uint32_t word = id < t->relations.count ? t->relations.at[id] : 0;
        if (word == 0 && !has_words) word = weft__relation_word_built_in(t->world->types.at[id]);
        weft_result result = weft__relation_revive(t->world, weft__component(t->world, id), word);
        if (result != WEFT_OK) return weft__world_text_failed(t, result);
    }
    return true;
}

static weft_result read_all(weft__world_text *t)
{
    bool is_over = false, is_read = true;
    while (is_read && !is_over) is_read = read_line(t, &is_over);
    is_read = is_read && relations_revive(t);
    if (is_read) return WEFT_OK;
    /* the library's own errors have set the world's, those about the text have not */
    if (t->result == WEFT_OK)
        t->result = weft__error(t->world, t->reading.result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                                "weft_world_read_json: %s", t->reading.error->text);
    else if (t->reading.error->text[0] == '\0')
        weft__value_error(t->reading.error, t->reading.text, t->reading.json.at, &t->reading.trail,
                          "%s", t->world->error->text);
    return t->result;
}

/* The world is empty again, and remembers no names. */
static void wipe(weft_world *world)
{
    for (uint32_t id = 1; id < world->chunks.end && world->names != NULL; id++) {
        const weft__chunk *chunk = world->chunks.at[id];
        for (uint32_t row = 0; chunk != NULL && row < chunk->count; row++)
            weft_entity_set_name(world, weft__chunk_entities(chunk)[row], NULL);
    }
    weft__world_wipe(world);
}

weft_result weft_world_read_json(weft_world *world, const weft_text *text,
                                 const weft_world_text_desc *desc, weft_value_error *error)
{
    const char *what = "weft_world_read_json";
    weft_value_error own;
    if (error == NULL) error = &own;
    *error = (weft_value_error){.offset = 0};
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (text == NULL || (text->bytes == NULL && text->count != 0))
        return weft__error_argument(world, what, "text is NULL: give it");
    weft_result result = weft__between_steps(world, what);
    if (result == WEFT_OK) result = weft__world_check_new(world, what);
    if (result == WEFT_OK) result = weft__ids_close(world, what);
    if (result != WEFT_OK) return result;
    weft__world_text t = {.world = world, .at = text->bytes, .runs.world = world};
    t.blob_io = desc == NULL ? NULL : desc->io;
    t.io = (weft_value_io){.read_entity = read_entity, .read_blob = read_blob, .user = &t};
    t.reading = (weft__reading){.io = &t.io,
                                .text = text,
                                .error = error,
                                .result = WEFT_INVALID_ARGUMENT,
                                .trail.root = &weft__world_text_root};
    t.clock = world->front.clock;
    if (text->count != 0) result = read_all(&t);
    if (result == WEFT_OK) {
        world->front.clock = t.clock;
        weft__run_list_give(&t.runs);
        weft__world_end_spent(world);
    } else {
        wipe(world);
    }
    weft__ids_open(world);
    weft__run_list_free(&t.runs);
    WEFT__LIST_FREE(&world->memory, CATEGORY, &t.relations);
    WEFT__LIST_FREE(&world->memory, CATEGORY, &t.ids);
    weft__free(&world->memory, CATEGORY, t.scratch, t.scratch_bytes, 1, 64);
    return result;
}
