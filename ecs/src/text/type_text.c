/* SPDX-License-Identifier: MIT */
/* type_text.c: descriptions of types as text and back. Reading goes twice over the text: the first
 * time what a block has to hold is counted, the second time it is filled. See type_text.h. */
#include "type_text.h"

#include "field.h"
#include "text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const flag_words[] = {"read only", "hidden", "colour"};
enum { FLAG_WORDS = sizeof flag_words / sizeof flag_words[0] };

/* ---- writing ---- */

static void put_string(weft__text *t, const char *name, const char *string)
{
    if (string == NULL) return;
    weft__text_add(t, ", \"%s\": ", name);
    weft__text_add_quoted(t, string);
}

static void put_limit(weft__text *t, const char *name, double value)
{
    char number[WEFT__NUMBER_BYTES];
    if (!isfinite(value)) {
        put_string(t, name, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    weft__number_write(value, false, number);
    weft__text_add(t, ", \"%s\": %s", name, number);
}

static void put_flags(weft__text *t, uint32_t flags)
{
    bool is_first = true;
    if (flags == 0) return;
    weft__text_add(t, ", \"flags\": [");
    for (uint32_t i = 0; i < FLAG_WORDS; i++) {
        if ((flags >> i & 1) == 0) continue;
        weft__text_add(t, "%s\"%s\"", is_first ? "" : ", ", flag_words[i]);
        is_first = false;
    }
    weft__text_add(t, "]");
}

static void put_type(weft__text *t, const weft_type *type);

static void put_field(weft__text *t, const weft_field *field)
{
    weft__text_add(t, "{\"name\": ");
    weft__text_add_quoted(t, field->name);
    weft__text_add(t, ", \"kind\": \"%s\", \"offset\": %u, \"count\": %u",
                   weft__kinds[field->kind].word, field->offset, weft__field_length(field));
    put_string(t, "unit", field->unit);
    put_string(t, "text", field->text);
    if (field->least < field->most || field->least > field->most) {
        put_limit(t, "least", field->least);
        put_limit(t, "most", field->most);
    }
    put_flags(t, field->flags);
    if (field->type != NULL) {
        weft__text_add(t, ", \"type\": ");
        put_type(t, field->type);
    }
    weft__text_add(t, "}");
}

static void put_type(weft__text *t, const weft_type *type)
{
    weft__text_add(t, "{\"name\": ");
    weft__text_add_quoted(t, type->name);
    weft__text_add(t, ", \"size\": %zu, \"alignment\": %zu", type->size, type->alignment);
    if (type->initial != NULL) {
        weft__text_add(t, ", \"initial\": ");
        weft__text_add_hexadecimal(t, type->initial, type->size);
    }
    for (uint32_t i = 0; i < type->field_count; i++) {
        weft__text_add(t, i == 0 ? ", \"fields\": [" : ", ");
        put_field(t, &type->fields[i]);
    }
    if (type->field_count != 0) weft__text_add(t, "]");
    for (uint32_t i = 0; i < type->constant_count; i++) {
        weft__text_add(t, i == 0 ? ", \"constants\": [{\"name\": " : "}, {\"name\": ");
        weft__text_add_quoted(t, type->constants[i].name);
        weft__text_add(t, ", \"value\": %" PRId64, type->constants[i].value);
    }
    if (type->constant_count != 0) weft__text_add(t, "}]");
    weft__text_add(t, "}");
}

size_t weft__type_write(const weft_type *type, char *text, size_t capacity)
{
    weft__text t = {text, capacity, 0};
    put_type(&t, type);
    return t.length;
}

/* ---- reading: what all of it needs ---- */

/* A block that is counted (at == NULL) or filled. On the stack of weft__type_read. */
typedef struct builder {
    weft__reading *r;
    char *at;
    size_t used;
} builder;

/* Room in the block; NULL while it is counted. */
static void *take(builder *b, size_t bytes, size_t alignment)
{
    size_t begin = (b->used + alignment - 1) & ~(alignment - 1);
    b->used = begin + bytes;
    return b->at == NULL ? NULL : b->at + begin;
}

static bool read_string(builder *b, void *to)
{
    const char **out = to;
    weft__json_token token = weft__reading_next(b->r);
    if (token.kind != WEFT__JSON_STRING)
        return token.kind != WEFT__JSON_ERROR &&
               weft__reading_fail(b->r, token.at, "a string should be here");
    size_t bytes = weft__json_string(&token, NULL, 0);
    char *string = take(b, bytes + 1, 1);
    *out = "";
    if (string == NULL) return true;
    weft__json_string(&token, string, bytes + 1);
    *out = string;
    return memchr(string, 0, bytes) == NULL ||
           weft__reading_fail(b->r, token.at, "a string without NULs should be here");
}

/* The elements of an array, behind its opening bracket, counted; the parser stays there. */
static bool count_elements(builder *b, uint32_t *count)
{
    weft__json first = b->r->json;
    for (*count = 0;; ++*count) {
        weft__json_token token = weft__reading_next(b->r);
        if (token.kind == WEFT__JSON_ARRAY_END) break;
        if (token.kind == WEFT__JSON_ERROR) return false;
        if (!weft__json_skip(&b->r->json, &token))
            return weft__reading_fail(b->r, token.at, "%s", b->r->json.problem);
    }
    b->r->json = first;
    return true;
}

/* ---- reading: descriptions ---- */

/* A member of an object of a description, and where its value goes. Constant. */
typedef struct member {
    const char *name;
    bool (*read)(builder *b, void *to);
    size_t offset;
} member;

/* The members of an object, behind its opening bracket, each once. */
static bool read_members(builder *b, const member *all, uint32_t count, const char *what, void *to)
{
    for (weft__reading_names seen = {.count = 0};;) {
        weft__json_token name = weft__reading_next(b->r);
        uint32_t i = 0;
        if (name.kind == WEFT__JSON_OBJECT_END) return true;
        if (!weft__reading_name(b->r, &name, &seen)) return false;
        while (i < count && !weft__json_is(&name, all[i].name)) i++;
        if (i == count) return weft__reading_fail(b->r, name.at - 1, "%s has no such member", what);
        if (!all[i].read(b, (char *)to + all[i].offset)) return false;
    }
}

static bool read_u32(builder *b, void *to)
{
    return weft__reading_number(b->r, WEFT_FIELD_U32, to);
}

static bool read_i64(builder *b, void *to)
{
    return weft__reading_number(b->r, WEFT_FIELD_I64, to);
}

static bool read_f64(builder *b, void *to)
{
    return weft__reading_number(b->r, WEFT_FIELD_F64, to);
}

static bool read_size(builder *b, void *to)
{
    static_assert(sizeof(size_t) == sizeof(uint64_t), "sizes are read as u64");
    return weft__reading_number(b->r, WEFT_FIELD_U64, to);
}

static bool read_flags(builder *b, void *to)
{
    return weft__reading_words(b->r, flag_words, FLAG_WORDS, "no such word: \"read only\", ...",
                               to);
}

static bool read_kind(builder *b, void *to)
{
    weft_field_kind *kind = to;
    weft__json_token token = weft__reading_next(b->r);
    if (token.kind == WEFT__JSON_ERROR) return false;
    return (weft__word_kind(&token, kind) && weft__class_of(*kind) != WEFT__CLASS_IN_BLOB) ||
           weft__reading_fail(b->r, token.at, "no kind of fields: \"f32\", \"u8\", ...");
}

static bool read_type(builder *b, weft_type *type);

static bool read_inner(builder *b, void *to)
{
    weft_type inner;
    weft_type *kept = take(b, sizeof inner, _Alignof(weft_type));
    if (!weft__reading_open(b->r, WEFT__JSON_OBJECT, "a description") || !read_type(b, &inner))
        return false;
    *(const weft_type **)to = kept;
    if (kept != NULL) *kept = inner;
    return true;
}

static const member field_members[] = {
    {"name", read_string, offsetof(weft_field, name)},
    {"kind", read_kind, offsetof(weft_field, kind)},
    {"offset", read_u32, offsetof(weft_field, offset)},
    {"count", read_u32, offsetof(weft_field, count)},
    {"unit", read_string, offsetof(weft_field, unit)},
    {"text", read_string, offsetof(weft_field, text)},
    {"least", read_f64, offsetof(weft_field, least)},
    {"most", read_f64, offsetof(weft_field, most)},
    {"flags", read_flags, offsetof(weft_field, flags)},
    {"type", read_inner, offsetof(weft_field, type)},
};
static const member constant_members[] = {
    {"name", read_string, offsetof(weft_constant, name)},
    {"value", read_i64, offsetof(weft_constant, value)},
};

/* Behind the opening bracket. */
static bool read_fields(builder *b, weft_type *type)
{
    if (!count_elements(b, &type->field_count)) return false;
    weft_field *fields = take(b, type->field_count * sizeof *fields, _Alignof(weft_field));
    for (uint32_t i = 0; i < type->field_count; i++) {
        weft_field field = {.name = ""};
        if (!weft__reading_open(b->r, WEFT__JSON_OBJECT, "a field") ||
            !read_members(b, field_members, sizeof field_members / sizeof *field_members, "a field",
                          &field))
            return false;
        if (fields != NULL) fields[i] = field;
    }
    type->fields = fields;
    return weft__reading_open(b->r, WEFT__JSON_ARRAY_END, "the end of the array");
}

static bool read_field_array(builder *b, void *type)
{
    return weft__reading_open(b->r, WEFT__JSON_ARRAY, "an array") && read_fields(b, type);
}

static bool read_constants(builder *b, void *to)
{
    weft_type *type = to;
    if (!weft__reading_open(b->r, WEFT__JSON_ARRAY, "an array") ||
        !count_elements(b, &type->constant_count))
        return false;
    weft_constant *constants =
        take(b, type->constant_count * sizeof *constants, _Alignof(weft_constant));
    for (uint32_t i = 0; i < type->constant_count; i++) {
        weft_constant constant = {.name = ""};
        if (!weft__reading_open(b->r, WEFT__JSON_OBJECT, "a constant") ||
            !read_members(b, constant_members, 2, "a constant", &constant))
            return false;
        if (constants != NULL) constants[i] = constant;
    }
    type->constants = constants;
    return weft__reading_open(b->r, WEFT__JSON_ARRAY_END, "the end of the array");
}

static bool read_initial(builder *b, void *to)
{
    weft_type *type = to;
    weft__json_token token = weft__reading_next(b->r);
    if (token.kind == WEFT__JSON_ERROR) return false;
    if (token.kind != WEFT__JSON_STRING || (size_t)(token.end - token.at) / 2 < type->size)
        return weft__reading_fail(b->r, token.at,
                                  "the bytes of the whole value should be here, behind its size: "
                                  "\"0x00...\"");
    char *initial = take(b, type->size, 16);
    type->initial = initial;
    return initial == NULL || weft__word_bytes(b->r, &token, initial, type->size);
}

static bool read_type(builder *b, weft_type *type)
{
    static const member members[] = {
        {"name", read_string, offsetof(weft_type, name)},
        {"size", read_size, offsetof(weft_type, size)},
        {"alignment", read_size, offsetof(weft_type, alignment)},
        {"fields", read_field_array, 0},
        {"constants", read_constants, 0},
        {"initial", read_initial, 0},
    };
    *type = (weft_type){.name = ""};
    return read_members(b, members, sizeof members / sizeof *members, "a description", type);
}

bool weft__type_read(weft__reading *r, void *block, size_t *bytes)
{
    weft_type type;
    builder b = {.r = r, .at = block};
    weft_type *kept = take(&b, sizeof type, _Alignof(weft_type));
    if (!read_type(&b, &type)) return false;
    if (kept != NULL) *kept = type;
    *bytes = b.used;
    return true;
}

bool weft__type_read_fields(weft__reading *r, void *block, size_t *bytes, weft_field **fields,
                            uint32_t *count)
{
    weft_type type = {.name = ""};
    builder b = {.r = r, .at = block};
    if (!read_fields(&b, &type)) return false;
    *fields = (weft_field *)(uintptr_t)type.fields;
    *count = type.field_count;
    *bytes = b.used;
    return true;
}
