/* SPDX-License-Identifier: MIT */
/* world_text_read.c: weft_world_load_json: objects one after the other, each by the member it
 * begins with. An entity is looked through first for the names of its components, then its row
 * is made, then values are read where they belong. The first failure empties the world again.
 *
 * A component that the world has is passed by: its values are read by the names of their fields.
 * One that it lacks is registered from its description, which the world keeps then, or from its
 * flat fields; both are counted first and filled from the same text then. See weft/world_text.h. */
#include "archetype.h"
#include "component_registry.h"
#include "entity_value.h"
#include "field.h"
#include "relation_registry.h"
#include "text.h"
#include "value_read.h"
#include "world_file_read.h"
#include "world_text_type.h"

#include <string.h>
#include <weft/buffers.h>

#define CATEGORY WEFT__MEMORY_COMMANDS
#define ENTITY_TEXT_MIN 20u /* {"entity": "0:1"}, at least */
#define NAME_BYTES 64u      /* with its NUL; longer names are cut by weft_entity_set_name */

/* One reading. Owner: weft_world_load_json, on its stack; of the world, which is new. A function
 * that returns false has filled the reading's error, or has set the world's error and `result`. */
typedef struct text_reading {
    weft_world *world;
    weft__reading reading; /* its parser begins again with each object */
    const char *at;        /* where the next object begins */
    weft_value_io io;
    const weft_value_io *blob_io; /* of the caller; may be NULL */
    weft_result result;           /* of a call of the library that failed */
    weft__clock clock;
    uint32_t version;               /* of the text; 0: it does not say */
    weft__run_list runs;            /* of systems and groups */
    WEFT__LIST(uint32_t) relations; /* [id] weft__relation_word of components */
    WEFT__LIST(uint32_t) ids;       /* components of the entity, ascending, without SPARSE ones */
    char *scratch;                  /* [scratch_bytes] a value on its way to the world */
    size_t scratch_bytes;
} text_reading;

/* What errors outside of values name. */
static const weft_type text_root = {.name = "world"};

/* Keeps the result of a call that set the world's error. Returns false. */
static bool failed(text_reading *t, weft_result result)
{
    if (t->result == WEFT_OK) t->result = result;
    return false;
}

static bool refused(text_reading *t)
{
    return failed(t, weft__error_memory(t->world, "weft_world_load_json"));
}

/* ---- values ---- */

static const char *read_entity(const char *word, size_t length, weft_entity *out, void *user)
{
    const text_reading *t = user;
    const char *problem = weft__word_parse_entity(word, length, out);
    if (problem == NULL) out->index ^= t->world->directory.tag_bits;
    return problem;
}

static const char *read_blob(const char *word, size_t length, weft_blob_ref *out, void *user)
{
    const text_reading *t = user;
    if (t->blob_io != NULL && t->blob_io->read_blob != NULL)
        return t->blob_io->read_blob(word, length, out, t->blob_io->user);
    return "blobs are not in the text: give read_blob, or write null";
}

/* The bytes that a save hook made, as "0x...". */
static bool read_hooked(text_reading *t, const weft__type *type, char *value,
                        const weft__json_token *token)
{
    size_t digits = (size_t)(token->end - token->at);
    if (token->kind != WEFT__JSON_STRING || digits < 2 || digits % 2 != 0)
        return weft__reading_fail(&t->reading, token->at, "bytes should be here: \"0x...\"");
    size_t count = digits / 2 - 1;
    weft__memory *memory = &t->world->memory;
    char *bytes = weft__alloc(memory, CATEGORY, count + 1, 1, 16);
    if (bytes == NULL) return refused(t);
    const weft_component_hooks *hooks = &type->desc.hooks;
    bool is_read = count == 0 || weft__word_bytes(&t->reading, token, bytes, count);
    bool is_loaded = is_read && hooks->load(value, bytes, count, hooks->user);
    if (is_read && !is_loaded)
        is_read = weft__reading_fail(&t->reading, token->at, "the load hook of \"%s\" refuses it",
                                     type->desc.name);
    weft__free(memory, CATEGORY, bytes, count + 1, 1, 16);
    return is_read;
}

static bool read_described(text_reading *t, const weft__type *type, char *value,
                           const weft__json_token *token)
{
    weft_type described = weft__world_text_type(type);
    if (described.initial != NULL) memcpy(value, described.initial, described.size);
    t->reading.trail = (weft__trail){.root = &described};
    bool is_read = weft__reading_value(&t->reading, &described, value, token);
    t->reading.trail = (weft__trail){.root = &text_root};
    return is_read;
}

/* One value, or element, into memory that is zeroed or constructed. */
static bool read_one(text_reading *t, const weft__type *type, char *value,
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
static bool read_elements(text_reading *t, const weft__type *type, const weft_buffers *buffers,
                          const weft__json_token *token)
{
    if (token->kind == WEFT__JSON_ERROR) return false;
    if (token->kind != WEFT__JSON_ARRAY)
        return weft__reading_fail(&t->reading, token->at,
                                  "the elements of a buffer should be here: [...]");
    if (buffers->count == 0) return failed(t, t->world->error->code);
    for (uint32_t i = 0;; i++) {
        weft__json_token element = weft__reading_next(&t->reading);
        if (element.kind == WEFT__JSON_ARRAY_END) return true;
        weft_result result = weft_buffers_resize(buffers, 0, i + 1);
        if (result != WEFT_OK) return failed(t, result);
        char *to = (char *)weft_buffers_write(buffers, 0) + (size_t)i * type->desc.size;
        if (!read_one(t, type, to, &element)) return false;
    }
}

static bool read_shared(text_reading *t, weft_entity entity, const weft__type *type,
                        const weft__json_token *token)
{
    if (token->kind == WEFT__JSON_NULL) return true; /* the value of new rows */
    /* Memory for a value that goes to the world by a call. */
    size_t bytes = type->desc.size == 0 ? 1 : type->desc.size;
    weft__memory *memory = &t->world->memory;
    if (bytes > t->scratch_bytes) {
        weft__free(memory, CATEGORY, t->scratch, t->scratch_bytes, 1, 64);
        t->scratch = weft__alloc(memory, CATEGORY, bytes, 1, 64);
        t->scratch_bytes = t->scratch == NULL ? 0 : bytes;
    }
    if (t->scratch == NULL)
        refused(t);
    else
        memset(t->scratch, 0, bytes);
    char *value = t->scratch;
    if (value == NULL || !read_one(t, type, value, token)) return false;
    weft_result result =
        weft_entity_set_shared(t->world, entity, weft__component(t->world, type->id), value);
    return result == WEFT_OK || failed(t, result);
}

/* A SPARSE value, which the entity lacks. */
static bool read_sparse(text_reading *t, weft_entity entity, const weft__type *type,
                        const weft__json_token *token)
{
    weft_component component = weft__component(t->world, type->id);
    if (weft__sparse_has(type, entity))
        return weft__reading_fail(&t->reading, token->at, "\"%s\" stands here twice: remove one",
                                  type->desc.name);
    weft_result result = weft_entity_add(t->world, entity, component);
    if (result != WEFT_OK) return failed(t, result);
    if (type->desc.size == 0) return true;
    return read_one(t, type, weft_entity_write(t->world, entity, component), token);
}

static bool read_component(text_reading *t, weft_entity entity, const weft__type *type,
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
    weft__json components, disabled; /* start NULL: none */
    bool has_chunk_values;
} entity_line;

static const weft__type *find(text_reading *t, const weft__json_token *token)
{
    char name[256];
    size_t length = weft__json_string(token, name, sizeof name);
    weft_component found = {0};
    if (length < sizeof name) {
        name[length] = '\0';
        found = weft__component_named(t->world, name);
    }
    if (found.id != 0) return t->world->types.at[found.id];
    (void)weft__reading_fail(&t->reading, token->at - 1,
                             "no component \"%.*s\": register it, or put its \"type\" in front",
                             (int)(token->end - token->at), token->at);
    return NULL;
}

/* The same for a token that may be anything. */
static const weft__type *find_string(text_reading *t, const weft__json_token *token)
{
    if (token->kind == WEFT__JSON_STRING) return find(t, token);
    if (token->kind != WEFT__JSON_ERROR)
        (void)weft__reading_fail(&t->reading, token->at,
                                 "the name of a component should be here: \"...\"");
    return NULL;
}

/* The component joins the ids of the entity, ascending; SPARSE ones are added later. */
static bool component_join(text_reading *t, const weft__json_token *token, entity_line *line)
{
    const weft__type *type = find(t, token);
    if (type == NULL) return false;
    if ((type->desc.flags & WEFT_CHUNK) != 0) line->has_chunk_values = true;
    if ((type->desc.flags & WEFT_RESOURCE) != 0)
        return weft__reading_fail(&t->reading, token->at - 1,
                                  "\"%s\" is a resource: {\"resource\": ...}", type->desc.name);
    for (uint32_t i = 0; i < t->ids.count; i++)
        if (t->ids.at[i] == type->id)
            return weft__reading_fail(&t->reading, token->at - 1,
                                      "\"%s\" stands here twice: remove one", type->desc.name);
    if ((type->desc.flags & WEFT_SPARSE) != 0) return true;
    if (!WEFT__LIST_ROOM(&t->world->memory, CATEGORY, &t->ids, t->ids.count + 1)) return refused(t);
    weft__ids_insert(t->ids.at, &t->ids.count, type->id);
    return true;
}

static bool scan_components(text_reading *t, entity_line *line)
{
    if (!weft__reading_open(&t->reading, WEFT__JSON_OBJECT, "an object of components"))
        return false;
    line->components = t->reading.json;
    for (;;) {
        weft__json_token token = weft__reading_next(&t->reading);
        if (token.kind == WEFT__JSON_OBJECT_END) return true;
        if (token.kind != WEFT__JSON_NAME || !component_join(t, &token, line) ||
            !weft__reading_skip(&t->reading))
            return false;
    }
}

/* What stands behind {"entity": ; up to the end of the object. */
static bool scan(text_reading *t, entity_line *line)
{
    weft__json_token token = weft__reading_next(&t->reading);
    line->at = token.at;
    if (token.kind == WEFT__JSON_ERROR || !weft__word_entity(&t->reading, &token, &line->handle))
        return false;
    for (weft__reading_names seen = {.count = 0};;) {
        token = weft__reading_next(&t->reading);
        bool is_read;
        if (token.kind == WEFT__JSON_OBJECT_END) return true;
        if (!weft__reading_name(&t->reading, &token, &seen)) return false;
        if (weft__json_is(&token, "name"))
            is_read = weft__reading_string(&t->reading, line->name, sizeof line->name, "a name");
        else if (weft__json_is(&token, "components"))
            is_read = scan_components(t, line);
        else if (weft__json_is(&token, "disabled"))
            is_read = weft__reading_keep(&t->reading, WEFT__JSON_ARRAY, "an array of components",
                                         &line->disabled);
        else
            is_read = weft__reading_fail(&t->reading, token.at - 1,
                                         "an entity has \"name\", \"components\" and \"disabled\"");
        if (!is_read) return false;
    }
}

/* Whether an index may be entered: it is new, and not far beyond all others. */
static bool index_check(text_reading *t, const char *at, uint32_t index)
{
    const weft__directory *directory = &t->world->directory;
    if (!weft__index_fits(index, t->reading.text->count / ENTITY_TEXT_MIN))
        return weft__reading_fail(&t->reading, at, "an index far beyond all others");
    if (index < weft__directory_end(directory) && weft__directory_version(directory, index) != 0)
        return weft__reading_fail(&t->reading, at, "entity %u is there twice", index);
    return true;
}

/* The row of an entity, zeroed and constructed, entered with its handle. */
static bool row_make(text_reading *t, const entity_line *line)
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
        return failed(t, world->error->code);
    weft__chunk_entities(place.chunk)[place.row] = line->handle;
    weft__rows_fill(world, place.chunk, place.row, 1);
    weft_result result =
        weft__directory_force(directory, index, version, weft__location(place.chunk, place.row));
    if (result == WEFT_OK) return true;
    weft__error_limit(world, result, "weft_world_load_json");
    return failed(t, result);
}

/* SHARED values, the others, or both. */
static bool read_components(text_reading *t, const entity_line *line, bool with_shared,
                            bool with_others)
{
    t->reading.json = line->components;
    for (;;) {
        weft__json_token token = weft__reading_next(&t->reading);
        if (token.kind == WEFT__JSON_OBJECT_END) return true;
        const weft__type *type = token.kind == WEFT__JSON_NAME ? find(t, &token) : NULL;
        if (type == NULL) return false;
        if (!((type->desc.flags & WEFT_SHARED) != 0 ? with_shared : with_others)) {
            if (!weft__reading_skip(&t->reading)) return false;
            continue;
        }
        weft__json_token value = weft__reading_next(&t->reading);
        if (!read_component(t, line->handle, type, &value)) return false;
    }
}

static bool read_disabled(text_reading *t, const entity_line *line)
{
    t->reading.json = line->disabled;
    for (;;) {
        weft__json_token token = weft__reading_next(&t->reading);
        if (token.kind == WEFT__JSON_ARRAY_END) return true;
        const weft__type *type = find_string(t, &token);
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

/* SHARED values decide in which chunk the entity is, so they come before the values of the
 * chunk. */
static bool read_values(text_reading *t, const entity_line *line)
{
    if (line->components.start == NULL) return true;
    if (line->has_chunk_values && !read_components(t, line, true, false)) return false;
    return read_components(t, line, !line->has_chunk_values, true);
}

static bool read_entity_line(text_reading *t)
{
    entity_line line = {.at = NULL};
    t->ids.count = 0;
    if (!scan(t, &line)) return false;
    weft__json end = t->reading.json;
    if (!row_make(t, &line) || !read_values(t, &line) ||
        (line.disabled.start != NULL && !read_disabled(t, &line)))
        return false;
    if (line.name[0] != '\0') {
        weft_result result = weft_entity_set_name(t->world, line.handle, line.name);
        if (result != WEFT_OK) return failed(t, result);
    }
    t->reading.json = end;
    return true;
}

/* ---- types ---- */

/* One line. On the stack of read_type. */
typedef struct type_line {
    weft_component_desc desc;
    char name[256];
    const char *at;         /* of the name in the text */
    weft__json fields;      /* behind the opening bracket */
    weft__json description; /* the same */
    weft__json required;    /* the same */
    bool is_hooked;
    WEFT__LIST(weft_component) needed; /* desc.required */
    uint32_t relation;                 /* weft__relation_word */
    weft__pile pile;                   /* of desc.fields */
} type_line;

/* ---- words ---- */

static bool read_flags(text_reading *t, uint32_t *flags)
{
    return weft__reading_words(
        &t->reading, weft__world_text_flags, WEFT__WORLD_TEXT_FLAGS,
        "no kind of components: \"enableable\", \"shared\", \"buffer\", \"chunk\", "
        "\"cleanup\", \"resource\", \"not hashed\", \"sparse\" or \"not copied\"",
        flags);
}

/* What a relation does: kept until all components are there. */
static bool read_relation(text_reading *t, uint32_t *word)
{
    const char *at = t->reading.json.at;
    return weft__reading_words(&t->reading, weft__relation_words, WEFT__RELATION_BITS,
                               "nothing that a relation does: \"clear\", \"destroy\", \"keep\", "
                               "\"acyclic\", \"by depth\" or \"built in\"",
                               word) &&
           (weft__relation_word_is_right(*word) ||
            weft__reading_fail(&t->reading, at,
                               "a relation has one of \"clear\", \"destroy\" and \"keep\""));
}

static bool relation_keep(text_reading *t, uint32_t id, uint32_t word)
{
    if (!WEFT__LIST_REACH(&t->world->memory, CATEGORY, &t->relations, id + 1)) return refused(t);
    t->relations.at[id] = word;
    return true;
}

static bool read_bool(text_reading *t, bool *out)
{
    weft__json_token token = weft__reading_next(&t->reading);
    return token.kind != WEFT__JSON_ERROR && weft__word_bool(&t->reading, &token, out);
}

/* The fields of the line, from the mark. */
static bool list_fields(text_reading *t, type_line *line)
{
    weft_type list = {.name = ""};
    t->reading.json = line->fields;
    if (!weft__type_read_fields(&t->reading, &line->pile, &list))
        return line->pile.is_refused && refused(t);
    line->desc.fields = list.fields;
    line->desc.field_count = list.field_count;
    for (uint32_t i = 0; i < list.field_count; i++)
        if (weft__kind_number(list.fields[i].kind) == WEFT__KIND_NONE)
            return weft__reading_fail(&t->reading, line->fields.at, "\"%s\" is no plain field",
                                      list.fields[i].name);
    return true;
}

/* The component with its description, which the world owns from then on. */
static bool description_register(text_reading *t, type_line *line)
{
    weft_world *world = t->world;
    weft_error why;
    weft__pile pile = {.memory = &world->memory, .category = WEFT__MEMORY_TYPES};
    weft__description *made = weft__pile_take(&pile, 1, sizeof *made);
    weft_type *type = weft__pile_take(&pile, 1, sizeof *type);
    t->reading.json = line->description;
    bool is_made = !pile.is_refused && weft__type_read(&t->reading, &pile, type);
    if (pile.is_refused) is_made = refused(t);
    if (is_made && weft_type_check(type, &why) != WEFT_OK)
        is_made = weft__reading_fail(&t->reading, line->description.at, "%s", why.text);
    if (is_made) line->desc.type = type;
    if (is_made && weft_component_create(world, &line->desc).id == 0)
        is_made = failed(t, world->error->code);
    if (!is_made) {
        weft__pile_free(&pile);
        return false;
    }
    made->pile = pile;
    made->type = type;
    made->next = world->types.descriptions;
    world->types.descriptions = made;
    return true;
}

/* The components of the list, which the world has by now. */
static bool list_required(text_reading *t, type_line *line)
{
    t->reading.json = line->required;
    for (;;) {
        weft__json_token token = weft__reading_next(&t->reading);
        if (token.kind == WEFT__JSON_ARRAY_END) break;
        const weft__type *type = find_string(t, &token);
        if (type == NULL) return false;
        const weft_component needed = weft__component(t->world, type->id);
        if (!WEFT__LIST_APPEND(&t->world->memory, CATEGORY, &line->needed, &needed, 1))
            return refused(t);
    }
    line->desc.required = line->needed.at;
    line->desc.required_count = line->needed.count;
    return true;
}

/* ---- the line ---- */

static bool read_member(text_reading *t, type_line *line, const weft__json_token *token)
{
    weft_component_desc *desc = &line->desc;
    if (weft__json_is(token, "flags")) return read_flags(t, &desc->flags);
    if (weft__json_is(token, "relation")) return read_relation(t, &line->relation);
    if (weft__json_is(token, "hooks")) return read_bool(t, &line->is_hooked);
    if (weft__json_is(token, "capacity"))
        return weft__reading_number(&t->reading, WEFT_FIELD_U32, &desc->buffer_capacity);
    if (weft__json_is(token, "row limit"))
        return weft__reading_number(&t->reading, WEFT_FIELD_U32, &desc->chunk_row_limit);
    if (weft__json_is(token, "fields"))
        return weft__reading_keep(&t->reading, WEFT__JSON_ARRAY, "an array of fields",
                                  &line->fields);
    if (weft__json_is(token, "required"))
        return weft__reading_keep(&t->reading, WEFT__JSON_ARRAY, "an array of components",
                                  &line->required);
    if (weft__json_is(token, "description"))
        return weft__reading_keep(&t->reading, WEFT__JSON_OBJECT, "a description",
                                  &line->description);
    if (weft__json_is(token, "size"))
        return weft__reading_number(&t->reading, WEFT_FIELD_U64, &desc->size);
    if (weft__json_is(token, "alignment"))
        return weft__reading_number(&t->reading, WEFT_FIELD_U64, &desc->alignment);
    return weft__reading_fail(&t->reading, token->at - 1, "a type has no such member");
}

/* The component is new to the world. */
static bool type_register(text_reading *t, type_line *line)
{
    weft_component_desc *desc = &line->desc;
    if (line->is_hooked)
        return failed(
            t, weft__error(t->world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_world_load_json: component \"%s\" has hooks: register it before "
                           "reading",
                           desc->name));
    /* of any size: few bytes may not ask for much memory */
    if ((desc->flags & WEFT_RESOURCE) != 0 && desc->size > t->reading.text->count)
        return weft__reading_fail(&t->reading, line->at, "a resource larger than the text");
    if (line->required.start != NULL && !list_required(t, line)) return false;
    if (line->description.start != NULL) return description_register(t, line);
    if (line->fields.start != NULL && !list_fields(t, line)) return false;
    if (weft_component_create(t->world, desc).id != 0) return true;
    return failed(t, t->world->error->code);
}

static bool read_type(text_reading *t)
{
    type_line line = {.at = t->reading.json.at,
                      .pile = {.memory = &t->world->memory, .category = CATEGORY}};
    line.desc.name = line.name;
    if (!weft__reading_string(&t->reading, line.name, sizeof line.name, "the name of a component"))
        return false;
    for (weft__reading_names seen = {.count = 0};;) {
        weft__json_token token = weft__reading_next(&t->reading);
        if (token.kind == WEFT__JSON_OBJECT_END) break;
        if (!weft__reading_name(&t->reading, &token, &seen) || !read_member(t, &line, &token))
            return false;
    }
    weft__json end = t->reading.json;
    bool is_known = weft_component_find(t->world, line.name).id != 0 ||
                    strcmp(line.name, "CleanupResidue") == 0;
    bool is_read = is_known || type_register(t, &line);
    weft__pile_free(&line.pile);
    WEFT__LIST_FREE(&t->world->memory, CATEGORY, &line.needed);
    if (is_read) t->reading.json = end;
    return is_read &&
           (line.relation == 0 ||
            relation_keep(t, weft__component_named(t->world, line.name).id, line.relation));
}

/* ---- other lines ---- */

/* One handle of a list of the dead. */
static bool read_dead_one(text_reading *t, const weft__json_token *token)
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
    weft__error_limit(t->world, result, "weft_world_load_json");
    return failed(t, result);
}

static bool read_dead(text_reading *t)
{
    if (!weft__reading_open(&t->reading, WEFT__JSON_ARRAY, "an array of handles")) return false;
    for (;;) {
        weft__json_token token = weft__reading_next(&t->reading);
        if (token.kind == WEFT__JSON_ARRAY_END)
            return weft__reading_open(&t->reading, WEFT__JSON_OBJECT_END, "the end of the list, }");
        if (token.kind == WEFT__JSON_ERROR || !read_dead_one(t, &token)) return false;
    }
}

static bool read_resource(text_reading *t)
{
    weft__json_token name = weft__reading_next(&t->reading);
    const weft__type *type = find_string(t, &name);
    if (type == NULL) return false;
    if ((type->desc.flags & WEFT_RESOURCE) == 0)
        return weft__reading_fail(&t->reading, name.at, "\"%s\" is no resource", type->desc.name);
    weft__json_token token = weft__reading_next(&t->reading);
    if (token.kind == WEFT__JSON_OBJECT_END) return true;
    if (token.kind != WEFT__JSON_NAME || !weft__json_is(&token, "value"))
        return token.kind != WEFT__JSON_ERROR &&
               weft__reading_fail(&t->reading, token.at - 1, "a resource has a \"value\" only");
    weft_component component = weft__component(t->world, type->id);
    token = weft__reading_next(&t->reading);
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
    return is_read &&
           weft__reading_open(&t->reading, WEFT__JSON_OBJECT_END, "the end of the resource, }");
}

/* How far the rate or the timer of a system or group is. */
static bool read_run(text_reading *t, bool is_group)
{
    weft__kept_run run = {.is_group = is_group, .timer = -1};
    const char *at = t->reading.json.at, *problem;
    if (!weft__reading_string(&t->reading, run.name, sizeof run.name, "a name")) return false;
    for (weft__reading_names seen = {.count = 0};;) {
        weft__json_token token = weft__reading_next(&t->reading);
        if (token.kind == WEFT__JSON_OBJECT_END) break;
        if (!weft__reading_name(&t->reading, &token, &seen)) return false;
        bool is_timer = weft__json_is(&token, "timer");
        if (!is_timer && !weft__json_is(&token, "elapsed"))
            return weft__reading_fail(&t->reading, token.at - 1,
                                      "a system or group has \"elapsed\" and \"timer\"");
        if (!weft__reading_number(&t->reading, WEFT_FIELD_F64,
                                  is_timer ? &run.timer : &run.elapsed))
            return false;
    }
    problem = weft__run_problem(&run);
    if (problem != NULL) return weft__reading_fail(&t->reading, at, "%s", problem);
    weft__run_list_add(&t->runs, &run);
    return !t->runs.is_out_of_memory || refused(t);
}

static bool read_header(text_reading *t)
{
    weft__clock *clock = &t->clock;
    double dt = 0;
    uint32_t version;
    weft__json_token token;
    if (!weft__reading_number(&t->reading, WEFT_FIELD_U32, &version)) return false;
    if (version == 0 || version > WEFT__WORLD_TEXT_VERSION)
        return weft__reading_fail(&t->reading, t->reading.json.at,
                                  "weft world text of version %u: this library reads versions up "
                                  "to %u",
                                  version, WEFT__WORLD_TEXT_VERSION);
    t->version = version;
    for (weft__reading_names seen = {.count = 0};;) {
        token = weft__reading_next(&t->reading);
        bool is_read;
        if (token.kind == WEFT__JSON_OBJECT_END) break;
        if (!weft__reading_name(&t->reading, &token, &seen)) return false;
        if (weft__json_is(&token, "steps"))
            is_read = weft__reading_number(&t->reading, WEFT_FIELD_U64, &clock->steps);
        else if (weft__json_is(&token, "time"))
            is_read = weft__reading_number(&t->reading, WEFT_FIELD_F64, &clock->time);
        else if (weft__json_is(&token, "dt"))
            is_read = weft__reading_number(&t->reading, WEFT_FIELD_F64, &dt);
        else
            is_read = weft__reading_skip(&t->reading); /* the name and count of the writer */
        if (!is_read) return false;
    }
    clock->dt = (float)dt;
    if (clock->time >= 0 && clock->dt >= 0) return true;
    return weft__reading_fail(&t->reading, token.at, "time and dt are not negative");
}

/* The next object of the text; *is_over: there was none. */
static bool read_line(text_reading *t, bool *is_over)
{
    const weft_text *text = t->reading.text;
    weft__json_open(&t->reading.json, t->at, (size_t)(text->bytes + text->count - t->at));
    *is_over = !weft__json_has_more(&t->reading.json);
    if (*is_over) return true;
    weft__json_token token = weft__reading_next(&t->reading);
    if (token.kind == WEFT__JSON_OBJECT) token = weft__reading_next(&t->reading);
    if (token.kind == WEFT__JSON_ERROR) return false;
    bool is_read;
    if (token.kind == WEFT__JSON_NAME && weft__json_is(&token, "entity"))
        is_read = read_entity_line(t);
    else if (token.kind == WEFT__JSON_NAME && weft__json_is(&token, "type"))
        is_read = read_type(t);
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

/* Relations that the program did not declare. Texts of version 1, and those of people, have no
 * words for them. */
static bool relations_revive(text_reading *t)
{
    bool has_words = t->version == WEFT__WORLD_TEXT_VERSION;
    for (uint32_t id = 1, count = t->world->types.count; id <= count; id++) {
        uint32_t word = id < t->relations.count ? t->relations.at[id] : 0;
        if (word == 0 && !has_words) word = weft__relation_word_built_in(t->world->types.at[id]);
        weft_result result = weft__relation_revive(t->world, weft__component(t->world, id), word);
        if (result != WEFT_OK) return failed(t, result);
    }
    return true;
}

static weft_result read_all(text_reading *t)
{
    bool is_over = false, is_read = true;
    while (is_read && !is_over) is_read = read_line(t, &is_over);
    is_read = is_read && relations_revive(t);
    if (is_read) return WEFT_OK;
    /* the library's own errors have set the world's, those about the text have not */
    if (t->result == WEFT_OK)
        t->result = weft__error_found(t->world, WEFT__NO_COMPONENT, "weft_world_load_json",
                                      t->reading.error);
    else if (t->reading.error->text[0] == '\0') {
        weft_error *own = t->world->error, *found = t->reading.error;
        weft__value_error(found, t->reading.text, t->reading.json.at, &t->reading.trail, "%s",
                          own->text);
        own->line = found->line;
        own->column = found->column;
        memcpy(own->file, found->file, sizeof own->file);
        memcpy(own->path, found->path, sizeof own->path);
    }
    return t->result;
}

static weft_result read_json(weft_world *world, const weft_text *text,
                             const weft_world_text_desc *desc, weft_error *error)
{
    const char *what = "weft_world_load_json";
    if (text == NULL || (text->bytes == NULL && text->count != 0))
        return weft__error_argument(world, what, "text is NULL: give it");
    weft_result result = weft__between_steps(world, what);
    if (result == WEFT_OK) result = weft__world_check_new(world, what);
    if (result == WEFT_OK) result = weft__ids_close(world, what);
    if (result != WEFT_OK) return result;
    text_reading t = {.world = world, .at = text->bytes, .runs.world = world};
    t.blob_io = desc == NULL ? NULL : desc->io;
    t.io = (weft_value_io){.read_entity = read_entity, .read_blob = read_blob, .user = &t};
    t.reading = (weft__reading){.io = &t.io,
                                .text = text,
                                .error = error,
                                .result = WEFT_INVALID_ARGUMENT,
                                .trail.root = &text_root};
    t.clock = world->front.clock;
    if (text->count != 0) result = read_all(&t);
    if (result != WEFT_OK) {
        for (uint32_t id = 1; id < world->chunks.end && world->names != NULL; id++) {
            const weft__chunk *chunk = world->chunks.at[id];
            for (uint32_t row = 0; chunk != NULL && row < chunk->count; row++)
                weft_entity_set_name(world, weft__chunk_entities(chunk)[row], NULL);
        }
    }
    weft__load_end(&t.runs, result == WEFT_OK ? &t.clock : NULL);
    WEFT__LIST_FREE(&world->memory, CATEGORY, &t.relations);
    WEFT__LIST_FREE(&world->memory, CATEGORY, &t.ids);
    weft__free(&world->memory, CATEGORY, t.scratch, t.scratch_bytes, 1, 64);
    return result;
}

weft_result weft_world_load_json(weft_world *world, const weft_text *text,
                                 const weft_world_text_desc *desc, weft_error *error)
{
    weft_error own;
    if (error == NULL) error = &own;
    *error = (weft_error){0};
    if (world == NULL)
        return weft__error_fill(error, WEFT_INVALID_ARGUMENT,
                                "weft_world_load_json: world is NULL");
    weft_result result = read_json(world, text, desc, error);
    if (result == WEFT_OK || error->text[0] != '\0') return result;
    *error = *weft_world_error(world); /* refused before the text was looked at */
    return error->code == result ? result
                                 : weft__error_fill(error, result, "weft_world_load_json: %s",
                                                    weft_result_text(result));
}
