/* SPDX-License-Identifier: MIT */
/* world_text_types.c: the lines of a world as text that describe components. One that the world has
 * is passed by: its values are read by the names of their fields. One that it lacks is registered
 * from its description, which the world keeps then, or from its flat fields; both are counted first
 * and filled from the same text then. See world_text_read.h. */
#include "world_text_types.h"
#include "component_registry.h"
#include "error.h"
#include "field.h"
#include "relation_registry.h"
#include "type_text.h"

#include <string.h>

#define CATEGORY WEFT__MEMORY_COMMANDS

/* One line. On the stack of weft__world_text_read_type. */
typedef struct type_line {
    weft_component_desc desc;
    char name[256];
    const char *at;         /* of the name in the text */
    weft__json fields;      /* behind the opening bracket */
    weft__json description; /* the same */
    weft__json required;    /* the same */
    bool has_fields, has_description, has_required, is_hooked;
    weft_component *needed; /* [needed_count] desc.required */
    uint32_t relation;      /* weft__relation_word */
    uint32_t needed_count;
    weft_field *list; /* [field_count], and their names behind them */
    size_t list_bytes;
} type_line;

/* ---- words ---- */

/* The number of a word in a list; `count`: it is not there. */
static uint32_t word_find(const weft__json_token *token, const char *const *words, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && !weft__json_is(token, words[i])) i++;
    return i;
}

/* An array of words; each is a bit. */
static bool read_words(weft__world_text *t, const char *const *words, uint32_t count,
                       const char *refusal, uint32_t *bits)
{
    if (!weft__world_text_open(t, WEFT__JSON_ARRAY, "an array of words")) return false;
    for (;;) {
        weft__json_token token = weft__world_text_next(t);
        if (token.kind == WEFT__JSON_ARRAY_END) return true;
        if (token.kind == WEFT__JSON_ERROR) return false;
        uint32_t bit = token.kind != WEFT__JSON_STRING ? count : word_find(&token, words, count);
        if (bit == count) return weft__reading_fail(&t->reading, token.at, "%s", refusal);
        *bits |= 1u << bit;
    }
}

static bool read_flags(weft__world_text *t, uint32_t *flags)
{
    return read_words(t, weft__world_text_flags, WEFT__WORLD_TEXT_FLAGS,
                      "no kind of components: \"enableable\", \"shared\", \"buffer\", \"chunk\", "
                      "\"cleanup\", \"resource\", \"not hashed\", \"sparse\" or \"not copied\"",
                      flags);
}

/* What a relation does: kept until all components are there. */
static bool read_relation(weft__world_text *t, uint32_t *word)
{
    const char *at = t->reading.json.at;
    return read_words(t, weft__relation_words, WEFT__RELATION_BITS,
                      "nothing that a relation does: \"clear\", \"destroy\", \"keep\", "
                      "\"acyclic\", \"by depth\" or \"built in\"",
                      word) &&
           (weft__relation_word_is_right(*word) ||
            weft__reading_fail(&t->reading, at,
                               "a relation has one of \"clear\", \"destroy\" and \"keep\""));
}

static bool relation_keep(weft__world_text *t, uint32_t id, uint32_t word)
{
    if (!WEFT__LIST_REACH(&t->world->memory, CATEGORY, &t->relations, id + 1))
        return weft__world_text_failed(t, weft__error_memory(t->world, "weft_world_read_json"));
    t->relations.at[id] = word;
    return true;
}

static bool read_bool(weft__world_text *t, bool *out)
{
    weft__json_token token = weft__world_text_next(t);
    return token.kind != WEFT__JSON_ERROR && weft__word_bool(&t->reading, &token, out);
}

/* ---- fields ---- */

static bool read_kind(weft__world_text *t, weft_field *field)
{
    weft__json_token token = weft__world_text_next(t);
    if (token.kind == WEFT__JSON_ERROR) return false;
    return (weft__word_kind(&token, &field->kind) &&
            weft__kind_number(field->kind) != WEFT__KIND_NONE) ||
           weft__reading_fail(&t->reading, token.at, "no kind of fields: \"f32\", \"u8\", ...");
}

/* One field, behind its opening bracket. `name` gets its name at *name_bytes; NULL: counted
 * only. */
static bool read_field(weft__world_text *t, weft_field *field, char *names, size_t *name_bytes)
{
    char name[512] = "";
    for (;;) {
        weft__json_token token = weft__world_text_next(t);
        bool is_read;
        if (token.kind == WEFT__JSON_OBJECT_END) break;
        if (token.kind != WEFT__JSON_NAME) return false;
        if (weft__json_is(&token, "name"))
            is_read = weft__world_text_string(t, name, sizeof name, "a path");
        else if (weft__json_is(&token, "kind"))
            is_read = read_kind(t, field);
        else if (weft__json_is(&token, "offset"))
            is_read = weft__world_text_number(t, WEFT_FIELD_U32, &field->offset);
        else if (weft__json_is(&token, "count"))
            is_read = weft__world_text_number(t, WEFT_FIELD_U32, &field->count);
        else
            is_read =
                weft__reading_fail(&t->reading, token.at - 1,
                                   "a field has \"name\", \"kind\", \"offset\" and \"count\"");
        if (!is_read) return false;
    }
    size_t bytes = strlen(name) + 1;
    if (names != NULL) field->name = memcpy(names + *name_bytes, name, bytes);
    *name_bytes += bytes;
    return true;
}

/* All fields of the line, from the mark; with list == NULL they are counted. */
static bool read_fields(weft__world_text *t, type_line *line, weft_field *list, char *names,
                        size_t *name_bytes)
{
    t->reading.json = line->fields;
    *name_bytes = 0;
    for (uint32_t i = 0;; i++) {
        weft__json_token token = weft__world_text_next(t);
        weft_field field = {.name = ""};
        if (token.kind == WEFT__JSON_ARRAY_END) {
            line->desc.field_count = i;
            return true;
        }
        if (token.kind == WEFT__JSON_ERROR) return false;
        if (token.kind != WEFT__JSON_OBJECT || i == WEFT_TYPE_LEAVES)
            return weft__reading_fail(&t->reading, token.at,
                                      "at most %u fields should be here: {\"name\": ...}",
                                      WEFT_TYPE_LEAVES);
        if (!read_field(t, &field, names, name_bytes)) return false;
        if (list != NULL) list[i] = field;
    }
}

static bool list_fields(weft__world_text *t, type_line *line)
{
    size_t name_bytes;
    if (!read_fields(t, line, NULL, NULL, &name_bytes)) return false;
    line->list_bytes = line->desc.field_count * sizeof(weft_field) + name_bytes;
    line->list = weft__alloc(&t->world->memory, CATEGORY, line->list_bytes + 1, 1, 16);
    if (line->list == NULL)
        return weft__world_text_failed(t, weft__error_memory(t->world, "weft_world_read_json"));
    line->desc.fields = line->list;
    return read_fields(t, line, line->list, (char *)(line->list + line->desc.field_count),
                       &name_bytes);
}

/* ---- descriptions ---- */

/* The description of the line in a block of the world's; NULL: reported. */
static weft__description *description_make(weft__world_text *t, const type_line *line)
{
    char why[256];
    size_t bytes;
    t->reading.json = line->description;
    if (!weft__type_read(&t->reading, NULL, &bytes)) return NULL;
    weft__description *made =
        weft__alloc_zeroed(&t->world->memory, WEFT__MEMORY_TYPES, 1, sizeof *made + bytes, 16);
    if (made == NULL) {
        weft__world_text_failed(t, weft__error_memory(t->world, "weft_world_read_json"));
        return NULL;
    }
    made->bytes = sizeof *made + bytes;
    t->reading.json = line->description;
    bool is_read = weft__type_read(&t->reading, made + 1, &bytes);
    if (is_read && weft_type_check((const weft_type *)(made + 1), why, sizeof why) != WEFT_OK)
        is_read = weft__reading_fail(&t->reading, line->description.at, "%s", why);
    if (is_read) return made;
    weft__free(&t->world->memory, WEFT__MEMORY_TYPES, made, 1, made->bytes, 16);
    return NULL;
}

/* The component with its description, which the world owns from then on. */
static bool description_register(weft__world_text *t, type_line *line)
{
    weft_world *world = t->world;
    weft__description *made = description_make(t, line);
    if (made == NULL) return false;
    line->desc.type = (const weft_type *)(made + 1);
    if (weft_component_create(world, &line->desc).id == 0) {
        weft__free(&world->memory, WEFT__MEMORY_TYPES, made, 1, made->bytes, 16);
        return weft__world_text_failed(t, world->error->code);
    }
    made->next = world->types.descriptions;
    world->types.descriptions = made;
    return true;
}

/* ---- required components ---- */

/* The components of the list, which the world has by now; `out` NULL: counted. */
static bool read_required(weft__world_text *t, const type_line *line, weft_component *out,
                          uint32_t *count)
{
    t->reading.json = line->required;
    for (*count = 0;; ++*count) {
        weft__json_token token = weft__world_text_next(t);
        if (token.kind == WEFT__JSON_ARRAY_END) return true;
        if (token.kind == WEFT__JSON_ERROR) return false;
        if (token.kind != WEFT__JSON_STRING)
            return weft__reading_fail(&t->reading, token.at, "the name of a component: \"...\"");
        const weft__type *type = weft__world_text_find(t, &token);
        if (type == NULL) return false;
        if (out != NULL) out[*count] = weft__component(t->world, type->id);
    }
}

static bool list_required(weft__world_text *t, type_line *line)
{
    uint32_t count;
    if (!read_required(t, line, NULL, &count)) return false;
    line->needed = weft__alloc(&t->world->memory, CATEGORY, count + 1, sizeof *line->needed, 8);
    if (line->needed == NULL)
        return weft__world_text_failed(t, weft__error_memory(t->world, "weft_world_read_json"));
    line->needed_count = count + 1;
    line->desc.required = line->needed;
    line->desc.required_count = count;
    return read_required(t, line, line->needed, &count);
}

/* ---- the line ---- */

/* Keeps where a member begins, and passes by it. */
static bool keep_place(weft__world_text *t, weft__json_kind kind, const char *what, weft__json *out)
{
    if (!weft__world_text_open(t, kind, what)) return false;
    *out = t->reading.json;
    weft__json_token end = {.kind = kind};
    return weft__json_skip(&t->reading.json, &end) ||
           weft__reading_fail(&t->reading, end.at, "%s", t->reading.json.problem);
}

static bool read_member(weft__world_text *t, type_line *line, const weft__json_token *token)
{
    weft_component_desc *desc = &line->desc;
    uint64_t size;
    if (weft__json_is(token, "flags")) return read_flags(t, &desc->flags);
    if (weft__json_is(token, "relation")) return read_relation(t, &line->relation);
    if (weft__json_is(token, "hooks")) return read_bool(t, &line->is_hooked);
    if (weft__json_is(token, "capacity"))
        return weft__world_text_number(t, WEFT_FIELD_U32, &desc->buffer_capacity);
    if (weft__json_is(token, "row limit"))
        return weft__world_text_number(t, WEFT_FIELD_U32, &desc->chunk_row_limit);
    if (weft__json_is(token, "fields")) {
        line->has_fields = true;
        return keep_place(t, WEFT__JSON_ARRAY, "an array of fields", &line->fields);
    }
    if (weft__json_is(token, "required")) {
        line->has_required = true;
        return keep_place(t, WEFT__JSON_ARRAY, "an array of components", &line->required);
    }
    if (weft__json_is(token, "description")) {
        line->has_description = true;
        return keep_place(t, WEFT__JSON_OBJECT, "a description", &line->description);
    }
    bool is_size = weft__json_is(token, "size");
    if (!is_size && !weft__json_is(token, "alignment"))
        return weft__reading_fail(&t->reading, token->at - 1, "a type has no such member");
    if (!weft__world_text_number(t, WEFT_FIELD_U64, &size)) return false;
    if (is_size)
        desc->size = size;
    else
        desc->alignment = size;
    return true;
}

/* The component is new to the world. */
static bool type_register(weft__world_text *t, type_line *line)
{
    weft_component_desc *desc = &line->desc;
    if (line->is_hooked)
        return weft__world_text_failed(
            t, weft__error(t->world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_world_read_json: component \"%s\" has hooks: register it before "
                           "reading",
                           desc->name));
    /* of any size: few bytes may not ask for much memory */
    if ((desc->flags & WEFT_RESOURCE) != 0 && desc->size > t->reading.text->count)
        return weft__reading_fail(&t->reading, line->at, "a resource larger than the text");
    if (line->has_required && !list_required(t, line)) return false;
    if (line->has_description) return description_register(t, line);
    if (line->has_fields && !list_fields(t, line)) return false;
    if (weft_component_create(t->world, desc).id != 0) return true;
    return weft__world_text_failed(t, t->world->error->code);
}

bool weft__world_text_read_type(weft__world_text *t)
{
    type_line line = {.at = t->reading.json.at};
    line.desc.name = line.name;
    if (!weft__world_text_string(t, line.name, sizeof line.name, "the name of a component"))
        return false;
    for (weft__reading_names seen = {.count = 0};;) {
        weft__json_token token = weft__world_text_next(t);
        if (token.kind == WEFT__JSON_OBJECT_END) break;
        if (!weft__reading_name(&t->reading, &token, &seen) || !read_member(t, &line, &token))
            return false;
    }
    weft__json end = t->reading.json;
    bool is_known = weft_component_find(t->world, line.name).id != 0 ||
                    strcmp(line.name, "CleanupResidue") == 0;
    bool is_read = is_known || type_register(t, &line);
    weft__free(&t->world->memory, CATEGORY, line.list, line.list_bytes + 1, 1, 16);
    weft__free(&t->world->memory, CATEGORY, line.needed, line.needed_count, sizeof *line.needed, 8);
    if (is_read) t->reading.json = end;
    return is_read &&
           (line.relation == 0 ||
            relation_keep(t, weft__component_named(t->world, line.name).id, line.relation));
}
