/* SPDX-License-Identifier: MIT */
/* value_write.c: described values as text. One walk over the description; the text is counted
 * beyond the end of the buffer, like snprintf, so that a caller can ask for its size first. See
 * weft/value.h. */
#include "field.h"
#include "text.h"
#include "utf8.h"
#include "value_read.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* One writing. On the stack of the call. */
typedef struct writing {
    weft__text text;
    const weft_value_io *io;
    uint32_t level;
} writing;

static void add_line(writing *w)
{
    if (w->io->indent == 0) return;
    weft__text_add_bytes(&w->text, "\n", 1);
    for (uint32_t i = 0; i < w->level * w->io->indent; i++) weft__text_add_bytes(&w->text, " ", 1);
}

static void add_separator(writing *w, bool is_first)
{
    if (!is_first) weft__text_add_bytes(&w->text, ",", 1);
    if (w->io->indent != 0)
        add_line(w);
    else if (!is_first)
        weft__text_add_bytes(&w->text, " ", 1);
}

static void write_quoted(writing *w, const char *at, const char *end)
{
    weft__text_add_bytes(&w->text, "\"", 1);
    while (at < end) {
        const char *plain = at;
        while (at < end && (unsigned char)*at >= 0x20 && *at != '"' && *at != '\\' && *at != 0x7f)
            at++;
        weft__text_add_bytes(&w->text, plain, (size_t)(at - plain));
        if (at == end) break;
        if (*at == '"' || *at == '\\')
            weft__text_add(&w->text, "\\%c", *at);
        else
            weft__text_add(&w->text, "\\u%04x", (unsigned)(unsigned char)*at);
        at++;
    }
    weft__text_add_bytes(&w->text, "\"", 1);
}

/* ---- one value ---- */

/* Not a number, with its bits where they are not the usual ones; infinities. */
static void write_special(writing *w, double value, uint64_t bits, uint64_t usual)
{
    if (isinf(value))
        weft__text_add(&w->text, "\"%sinf\"", value < 0 ? "-" : "");
    else if (bits == usual)
        weft__text_add(&w->text, "\"nan\"");
    else
        weft__text_add(&w->text, "\"nan 0x%" PRIx64 "\"", bits);
}

static void write_number(writing *w, const weft_field *field, const void *at)
{
    weft__scalar n = weft__scalar_load(field->kind, at);
    uint32_t bytes = weft__kinds[field->kind].bytes;
    char text[WEFT__NUMBER_BYTES];
    if (!n.is_real && n.is_negative)
        weft__text_add(&w->text, "%" PRId64, (int64_t)n.bits);
    else if (!n.is_real)
        weft__text_add(&w->text, "%" PRIu64, n.bits);
    else if (!isfinite(n.real))
        write_special(w, n.real, weft__integer_load(at, bytes),
                      weft__scalar_bits(field->kind, (double)NAN));
    else
        weft__text_add_bytes(&w->text, text,
                             weft__number_write(n.real, bytes <= sizeof(float), text));
}

static uint64_t constant_bits(const weft_type *type, uint32_t i)
{
    uint64_t all = type->size == 8 ? ~UINT64_C(0) : (UINT64_C(1) << 8 * type->size) - 1;
    return (uint64_t)type->constants[i].value & all;
}

static void write_enum(writing *w, const weft_field *field, const void *at)
{
    const weft_type *type = field->type;
    uint64_t bits = weft__integer_load(at, type->size);
    for (uint32_t i = 0; i < type->constant_count; i++)
        if (constant_bits(type, i) == bits) {
            weft__text_add(&w->text, "\"%s\"", type->constants[i].name);
            return;
        }
    weft__text_add(&w->text, "%" PRIu64, bits);
}

static void write_bits(writing *w, const weft_field *field, const void *at)
{
    const weft_type *type = field->type;
    uint64_t left = weft__integer_load(at, type->size);
    bool is_first = true;
    weft__text_add_bytes(&w->text, "\"", 1);
    for (uint32_t i = 0; i < type->constant_count; i++) {
        uint64_t bits = constant_bits(type, i);
        bool is_empty = bits == 0 && left == 0 && is_first;
        if (!is_empty && (bits == 0 || (left & bits) != bits)) continue;
        weft__text_add(&w->text, "%s%s", is_first ? "" : " | ", type->constants[i].name);
        is_first = false;
        left &= ~bits;
    }
    if (left != 0 || is_first)
        weft__text_add(&w->text, "%s0x%" PRIx64, is_first ? "" : " | ", left);
    weft__text_add_bytes(&w->text, "\"", 1);
}

/* Text, if zeros follow its end and it is UTF-8; else its bytes. */
static void write_text(writing *w, const char *at, size_t size)
{
    size_t length = strnlen(at, size);
    bool is_text = weft__utf8_span(at, length) == length;
    for (size_t i = length; i < size; i++) is_text = is_text && at[i] == '\0';
    if (is_text) {
        write_quoted(w, at, at + length);
        return;
    }
    weft__text_add_bytes(&w->text, "{\"bytes\": ", 10);
    weft__text_add_hexadecimal(&w->text, at, size);
    weft__text_add_bytes(&w->text, "}", 1);
}

/* As the word of the program, or as it is; null: null. */
static void write_handle(writing *w, bool is_blob, const void *at)
{
    weft_entity entity;
    weft_blob_ref blob;
    char word[WEFT__WORD_BYTES];
    memcpy(&entity, at, sizeof entity);
    memcpy(&blob, at, sizeof blob);
    if (blob.id == 0) {
        weft__text_add_bytes(&w->text, "null", 4);
        return;
    }
    weft__text t = {word, sizeof word, 0};
    if (is_blob && w->io->write_blob != NULL)
        t.length = w->io->write_blob(blob, word, sizeof word, w->io->user);
    else if (is_blob)
        weft__text_add(&t, "0x%" PRIx64, blob.id);
    else if (w->io->write_entity != NULL)
        t.length = w->io->write_entity(entity, word, sizeof word, w->io->user);
    else
        weft__text_add(&t, "%u:%u", entity.index, entity.version);
    write_quoted(w, word, word + (t.length < sizeof word ? t.length : sizeof word - 1));
}

static void write_type(writing *w, const weft_type *type, const char *value);

static void write_blob_array(writing *w, const weft_field *field, const weft_blob_array *array)
{
    weft__text_add_bytes(&w->text, "[", 1);
    for (uint64_t i = 0; i < array->count && w->level < WEFT_VALUE_DEPTH; i++) {
        if (i != 0) weft__text_add_bytes(&w->text, ", ", 2);
        write_type(w, field->type, weft_blob_array_at(array, i, field->type->size));
    }
    weft__text_add_bytes(&w->text, "]", 1);
}

/* Inside a blob, where references are read in place. Deeper than WEFT_VALUE_DEPTH: null. */
static void write_reference(writing *w, const weft_field *field, const void *at)
{
    if (field->kind == WEFT_FIELD_BLOB_STRING) {
        const char *text = weft_blob_string_text(at);
        write_quoted(w, text, text + ((const weft_blob_string *)at)->bytes);
        return;
    }
    w->level++;
    const void *target =
        field->kind == WEFT_FIELD_BLOB_POINTER ? weft_blob_pointer_target(at) : NULL;
    if (field->kind == WEFT_FIELD_BLOB_ARRAY)
        write_blob_array(w, field, at);
    else if (target == NULL || w->level >= WEFT_VALUE_DEPTH)
        weft__text_add_bytes(&w->text, "null", 4);
    else
        write_type(w, field->type, target);
    w->level--;
}

static void write_one(writing *w, const weft_field *field, const char *at)
{
    switch (weft__class_of(field->kind)) {
    case WEFT__CLASS_BOOL:
        weft__text_add_bytes(&w->text, *at != 0 ? "true" : "false", *at != 0 ? 4 : 5);
        break;
    case WEFT__CLASS_SIGNED:
    case WEFT__CLASS_UNSIGNED:
    case WEFT__CLASS_REAL:
        write_number(w, field, at);
        break;
    case WEFT__CLASS_ENTITY:
        write_handle(w, false, at);
        break;
    case WEFT__CLASS_BLOB:
        write_handle(w, true, at);
        break;
    case WEFT__CLASS_STRUCT:
        write_type(w, field->type, at);
        break;
    case WEFT__CLASS_ENUM:
        write_enum(w, field, at);
        break;
    case WEFT__CLASS_BITS:
        write_bits(w, field, at);
        break;
    case WEFT__CLASS_TEXT:
        write_text(w, at, weft__field_size(field));
        break;
    case WEFT__CLASS_IN_BLOB:
        write_reference(w, field, at);
        break;
    case WEFT__CLASS_BYTES:
        weft__text_add_hexadecimal(&w->text, at, weft__field_size(field));
        break;
    }
}

/* ---- many ---- */

static void write_elements(writing *w, const weft_field *field, const char *at, uint32_t count)
{
    size_t size = weft__field_size(field);
    if (count == 1 && weft__field_count(field) == 1) {
        write_one(w, field, at);
        return;
    }
    bool has_lines = field->kind == WEFT_FIELD_STRUCT;
    weft__text_add_bytes(&w->text, "[", 1);
    w->level++;
    for (uint32_t i = 0; i < count; i++) {
        if (has_lines)
            add_separator(w, i == 0);
        else if (i != 0)
            weft__text_add_bytes(&w->text, ", ", 2);
        write_one(w, field, at + i * size);
    }
    w->level--;
    if (has_lines) add_line(w);
    weft__text_add_bytes(&w->text, "]", 1);
}

static void write_type(writing *w, const weft_type *type, const char *value)
{
    const weft_field *sole = weft__type_sole(type);
    if (sole != NULL) {
        write_elements(w, sole, value + sole->offset, weft__field_count(sole));
        return;
    }
    if (type->field_count == 0 && type->size != 0) {
        /* An undescribed type: what can be said of it. */
        weft__text_add(&w->text, "{\"size\": %zu, \"bytes\": ", type->size);
        weft__text_add_hexadecimal(&w->text, value, type->size);
        weft__text_add_bytes(&w->text, "}", 1);
        return;
    }
    weft__text_add_bytes(&w->text, "{", 1);
    w->level++;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const weft_field *field = &type->fields[i];
        add_separator(w, i == 0);
        weft__text_add(&w->text, "\"%s\": ", field->name);
        write_elements(w, field, value + field->offset, weft__field_count(field));
    }
    w->level--;
    if (type->field_count != 0) add_line(w);
    weft__text_add_bytes(&w->text, "}", 1);
}

static writing begin(const weft_value_io *io, char *text, size_t capacity)
{
    static const weft_value_io plain = {.indent = 0};
    if (text != NULL && capacity != 0) text[0] = '\0';
    return (writing){.text = {text, text == NULL ? 0 : capacity, 0},
                     .io = io == NULL ? &plain : io};
}

size_t weft_value_format(const weft_value_io *io, const weft_type *type, const void *value,
                         char *text, size_t capacity)
{
    writing w = begin(io, text, capacity);
    if (type != NULL && value != NULL) write_type(&w, type, value);
    return w.text.length;
}

size_t weft_path_value_format(const weft_value_io *io, const weft_type *type, const weft_path *path,
                              const void *value, char *text, size_t capacity)
{
    writing w = begin(io, text, capacity);
    if (type == NULL || path == NULL || value == NULL || path->field == NULL) return 0;
    const char *at = (const char *)value + path->offset;
    if (path->count == 1)
        write_one(&w, path->field, at);
    else
        write_elements(&w, path->field, at, path->count);
    return w.text.length;
}
