/* SPDX-License-Identifier: MIT */
/* ops_value.c: described values by themselves: written as text and read back, one value of them by
 * a path, checked, compared. What comes back must have the same bytes; which fields differ is found
 * out byte by byte. */
#include "everything.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <weft/blob.h>
#include <weft/type.h>
#include <weft/value.h>

typedef enum phase { PHASE_REST, PHASE_RISE, PHASE_FALL = 7 } phase;

typedef struct inner {
    int16_t low[3];
    uint8_t is_on;
    double high;
} inner;

typedef struct sample {
    int8_t i8;
    uint16_t u16;
    int32_t i32;
    uint64_t u64;
    int64_t i64;
    float f32[4];
    double f64;
    phase kind;
    uint32_t mask;
    char text[12];
    inner parts[2];
    weft_entity other;
    uint8_t raw[5];
    uint8_t flag;
} sample;

static const weft_constant phases[] = {
    {"rest", PHASE_REST}, {"rise", PHASE_RISE}, {"fall", PHASE_FALL}};
static const weft_type phase_type = WEFT_TYPE_CONSTANTS(phase, phases);
static const weft_constant bits[] = {{"first", 1}, {"second", 2}, {"third", 4}};
static const weft_type bits_type = {
    .name = "bits", .size = 4, .alignment = 4, .constants = bits, .constant_count = 3};
static const weft_field inner_fields[] = {
    WEFT_FIELD(inner, low),
    {.name = "is_on", .kind = WEFT_FIELD_BOOL, .offset = offsetof(inner, is_on)},
    WEFT_FIELD(inner, high)};
static const weft_type inner_type = WEFT_TYPE(inner, inner_fields);
static const weft_field sample_fields[] = {
    WEFT_FIELD(sample, i8),
    WEFT_FIELD(sample, u16),
    WEFT_FIELD_WITH(sample, i32, .least = -1000, .most = 1000),
    WEFT_FIELD(sample, u64),
    WEFT_FIELD(sample, i64),
    WEFT_FIELD(sample, f32),
    WEFT_FIELD(sample, f64),
    WEFT_FIELD_OF(sample, kind, WEFT_FIELD_ENUM, &phase_type),
    WEFT_FIELD_OF(sample, mask, WEFT_FIELD_BITS, &bits_type),
    WEFT_FIELD(sample, text),
    WEFT_FIELD_OF(sample, parts, WEFT_FIELD_STRUCT, &inner_type),
    WEFT_FIELD(sample, other),
    {.name = "raw", .kind = WEFT_FIELD_BYTES, .offset = offsetof(sample, raw), .count = 5},
    {.name = "flag", .kind = WEFT_FIELD_BOOL, .offset = offsetof(sample, flag)}};
static const sample sample_initial = {.i32 = 7, .text = "begin", .kind = PHASE_RISE};
static const weft_type sample_type = {.name = "sample",
                                      .size = sizeof(sample),
                                      .alignment = _Alignof(sample),
                                      .fields = sample_fields,
                                      .field_count = sizeof sample_fields / sizeof *sample_fields,
                                      .initial = &sample_initial};

/* Numbers that are hard to write, as often as others. */
static double number_of(uint64_t drawn)
{
    static const double hard[] = {
        0,   -0.0, 1.0 / 3, 1e22, 123456789.125, 5e-324, 1.7976931348623157e308,
        0.1, 1e-7, -1e21,   2.5};
    double value;
    uint64_t word = everything_mix(drawn, 1);
    if (drawn % 2 == 0) return hard[drawn / 2 % (sizeof hard / sizeof *hard)];
    if ((word >> 52 & 0x7ff) == 0x7ff) word ^= UINT64_C(1) << 62; /* finite */
    memcpy(&value, &word, sizeof value);
    return value;
}

static void inner_draw(inner *out, uint64_t drawn)
{
    for (uint32_t i = 0; i < 3; i++) out->low[i] = (int16_t)everything_mix(drawn, i);
    out->is_on = drawn % 2;
    out->high = number_of(drawn >> 3);
}

static void sample_draw(const everything *e, sample *out, uint64_t drawn)
{
    static const char *const texts[] = {
        "", "a", "\"q\"", "line\nend", "\xc3\xa9t\xc3\xa9", "eleven ch.."};
    static const phase kinds[] = {PHASE_REST, PHASE_RISE, PHASE_FALL};
    memset(out, 0, sizeof *out);
    out->i8 = (int8_t)drawn;
    out->u16 = (uint16_t)(drawn >> 8);
    out->i32 = (int32_t)(drawn % 2001) - 1000;
    out->u64 = everything_mix(drawn, 2) >> drawn % 64;
    out->i64 = (int64_t)everything_mix(drawn, 3);
    for (uint32_t i = 0; i < 4; i++) {
        double wide = number_of(everything_mix(drawn, 4 + i));
        out->f32[i] = wide < -3e38 || wide > 3e38 ? 0.5f : (float)wide;
    }
    out->f64 = number_of(everything_mix(drawn, 9));
    out->kind = kinds[drawn % 3];
    out->mask = (uint32_t)(drawn >> 4) % 8;
    snprintf(out->text, sizeof out->text, "%s", texts[drawn % 6]);
    inner_draw(&out->parts[0], everything_mix(drawn, 10));
    inner_draw(&out->parts[1], everything_mix(drawn, 11));
    out->other = everything_handle(e->here, everything_linked(e, (uint32_t)(drawn >> 7)));
    for (uint32_t i = 0; i < 5; i++) out->raw[i] = (uint8_t)everything_mix(drawn, 12 + i);
    out->flag = drawn >> 9 & 1;
}

static bool is_same(const sample *a, const sample *b)
{
    sample x = *a, y = *b; /* padding is zero in both: they were cleared */
    return memcmp(&x, &y, sizeof x) == 0;
}

/* A text of the value, as long as it says. */
static char *text_of(everything *e, const weft_value_io *io, const sample *value, size_t *length)
{
    *length = weft_value_format(io, &sample_type, value, NULL, 0);
    char *text = model_memory(&e->here->m, *length + 1);
    everything_equal(e, "weft_value_format: length",
                     weft_value_format(io, &sample_type, value, text, *length + 1), *length);
    everything_equal(e, "weft_value_format: text", strlen(text), *length);
    return text;
}

/* A text that is wrong in one place is refused, and leaves the value as it was; one that is only
 * near what is wrong is read. */
static void wrong_try(everything *e, const weft_value_io *io, const sample *value, uint64_t drawn)
{
    static const char *const words[] = {
        "{\"flag\": %u}",   "{\"flug\": %u}",           "{\"u16\": 65%03u}",
        "{\"i32\": 1%03u}", "{\"f32\": [1, 2, 3, %u]}", "{\"kind\": \"%u\"}",
        "{\"other\": %u}",  "{\"text\": \"of %010u\"}", "{\"parts\": [{\"is_on\": %u}, {}]}"};
    char text[64];
    uint32_t way = (uint32_t)(drawn % 9), number = (uint32_t)(drawn >> 8) % 1000;
    if (drawn >> 40 & 1) number %= 4;
    bool is_right = way == 0 || way == 8 ? number < 2
                    : way == 2           ? number <= 535
                    : way == 3           ? number == 0
                    : way == 4           ? true
                                         : false;
    snprintf(text, sizeof text, words[way], number);
    sample back = *value;
    weft_error error = {0};
    const weft_text as_text = {.bytes = text, .count = strlen(text)};
    weft_result result = weft_value_parse(io, &as_text, &sample_type, &back, &error);
    if (result != (is_right ? WEFT_OK : WEFT_INVALID_ARGUMENT))
        everything_fails(e, "weft_value_parse of what is wrong", "%s: %s", text,
                         weft_result_name(result));
    if (!is_right) everything_equal(e, "a value that was refused", is_same(value, &back), true);
    if (is_right && way == 0) everything_equal(e, "a bool of 0 or 1", back.flag, number);
}

static void run_text(everything *e, const everything_call *c)
{
    sample value, back;
    weft_error error = {0};
    weft_value_io io = {.indent = (uint32_t)(c->value % 3)};
    size_t length;
    sample_draw(e, &value, everything_mix(c->value, c->a));
    char *written = text_of(e, &io, &value, &length);
    const weft_text text = {.bytes = written, .count = length};
    memset(&back, 0, sizeof back);
    weft_result result = weft_value_parse(&io, &text, &sample_type, &back, &error);
    if (result != WEFT_OK) {
        everything_fails(e, "weft_value_parse", "%s: %s", weft_result_name(result), error.text);
        return;
    }
    everything_equal(e, "a value that was text", is_same(&value, &back), true);
    everything_result(e, "weft_value_check", weft_value_check(&sample_type, &value, &error),
                      WEFT_OK);
    for (uint32_t i = 0; i < 3 && !everything_has_failed(e); i++)
        wrong_try(e, &io, &value, everything_mix(c->value, c->b + i));
    value.i32 = 1001;
    everything_result(e, "weft_value_check of too much",
                      weft_value_check(&sample_type, &value, &error), WEFT_INVALID_ARGUMENT);
    value.i32 = 0;
    value.flag = (uint8_t)(2 + c->b % 254); /* any byte but 0 is true, and is written as such */
    written = text_of(e, &io, &value, &length);
    const weft_text again = {.bytes = written, .count = length};
    result = weft_value_parse(&io, &again, &sample_type, &back, &error);
    everything_result(e, "weft_value_parse of a bool", result, WEFT_OK);
    everything_equal(e, "a bool that was text", back.flag, 1);
    weft_value_initial(&sample_type, &back);
    everything_equal(e, "weft_value_initial", is_same(&back, &sample_initial), true);
}

/* Fields whose bytes differ: those of `parts` one by one, elements too. */
static uint32_t differences(const weft_type *type, const uint8_t *a, const uint8_t *b)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const weft_field *f = &type->fields[i];
        bool is_whole = f->kind == WEFT_FIELD_TEXT || f->kind == WEFT_FIELD_BYTES;
#define BYTES(name, word, number, bytes, ...) [WEFT_FIELD_##name] = bytes,
        static const uint8_t sizes[] = {WEFT_FIELD_KINDS(BYTES)};
        uint32_t size = sizes[f->kind] == 0 ? (uint32_t)f->type->size : sizes[f->kind];
        uint32_t bytes = f->bytes != 0 ? f->bytes : size * (f->count == 0 ? 1 : f->count);
        if (is_whole) size = bytes;
        for (uint32_t at = f->offset; at < f->offset + bytes; at += size) {
            if (f->kind == WEFT_FIELD_STRUCT)
                count += differences(f->type, a + at, b + at);
            else
                count += memcmp(a + at, b + at, size) != 0;
        }
    }
    return count;
}

static void run_paths(everything *e, const everything_call *c)
{
    enum { PATHS_MOST = 64 };
    sample from, to;
    weft_path paths[PATHS_MOST], one;
    weft_error error;
    char name[128];
    sample_draw(e, &from, everything_mix(c->value, c->a));
    sample_draw(e, &to, everything_mix(c->value >> (c->b % 4 == 0 ? 0 : 8), c->b));
    uint32_t count = weft_value_diff(&sample_type, &from, &to, paths, PATHS_MOST);
    uint32_t expected = differences(&sample_type, (uint8_t *)&from, (uint8_t *)&to);
    if (!everything_equal(e, "weft_value_diff", count, expected)) return;
    for (uint32_t i = 0; i < count && i < PATHS_MOST && !everything_has_failed(e); i++) {
        weft_path_format(&sample_type, &paths[i], name, sizeof name);
        weft_result result = weft_path_parse(&sample_type, name, &one, &error);
        if (!everything_result(e, "weft_path_parse", result, WEFT_OK)) return;
        everything_equal(e, "weft_path_parse: offset", one.offset, paths[i].offset);
        size_t length = weft_path_value_format(NULL, &sample_type, &one, &to, NULL, 0);
        char *value = model_memory(&e->here->m, length + 1);
        weft_path_value_format(NULL, &sample_type, &one, &to, value, length + 1);
        const weft_text as_text = {.bytes = value, .count = length};
        result = weft_path_value_parse(NULL, &as_text, &sample_type, &one, &from, NULL);
        everything_result(e, "weft_path_value_parse", result, WEFT_OK);
    }
    if (count <= PATHS_MOST && !everything_has_failed(e))
        everything_equal(e, "a value changed path by path", is_same(&from, &to), true);
    everything_result(e, "weft_path_parse of none",
                      weft_path_parse(&sample_type, "parts[2].low", &one, &error),
                      WEFT_INVALID_ARGUMENT);
    everything_result(e, "weft_type_check", weft_type_check(&sample_type, &error), WEFT_OK);
}

/* ---- types of blobs ---- */

typedef struct leaf {
    WEFT_BLOB_ARRAY(float) heights;
    uint64_t number;
} leaf;

typedef struct tree {
    weft_blob_string name;
    WEFT_BLOB_ARRAY(leaf) leaves;
    leaf own; /* a struct inside */
    WEFT_BLOB_POINTER(struct tree) next;
} tree;

static const weft_blob_field leaf_references[] = {WEFT_BLOB_FIELD_ARRAY(leaf, heights, NULL)};
static const weft_blob_type leaf_blob = WEFT_BLOB_TYPE(leaf, leaf_references);
static const weft_blob_type tree_blob;
static const weft_blob_field tree_references[] = {WEFT_BLOB_FIELD_STRING(tree, name),
                                                  WEFT_BLOB_FIELD_ARRAY(tree, leaves, &leaf_blob),
                                                  WEFT_BLOB_FIELD_ARRAY(tree, own.heights, NULL),
                                                  WEFT_BLOB_FIELD_POINTER(tree, next, &tree_blob)};
static const weft_blob_type tree_blob = WEFT_BLOB_TYPE(tree, tree_references);

/* The hash of the bytes of a blob. */
static uint64_t tree_build(everything *e, uint64_t drawn)
{
    weft_blob_store *store = weft_world_blobs(e->here->world);
    weft_blob_builder *builder = NULL;
    weft_blob_ref ref = {0};
    weft_blob_info info = {0};
    const float heights[] = {1, 2.5f, -3};
    uint32_t count = (uint32_t)drawn % 5;
    weft_result result = weft_blob_builder_create(store, &tree_blob, 0, &builder);
    if (!everything_result(e, "weft_blob_builder_create", result, WEFT_OK)) return 0;
    tree *root = weft_blob_builder_root(builder);
    root->own.number = drawn;
    weft_blob_builder_string(builder, &root->name, "oak and ash", (drawn >> 8) % 12);
    WEFT_BLOB_BUILD_COPY(builder, &root->own.heights, heights, (drawn >> 16) % 4);
    leaf *leaves = WEFT_BLOB_BUILD_ARRAY(builder, &root->leaves, count);
    for (uint32_t i = 0; i < count; i++) {
        leaves[i].number = i;
        WEFT_BLOB_BUILD_COPY(builder, &leaves[i].heights, heights, 1 + i % 3);
    }
    if (drawn >> 20 & 1) WEFT_BLOB_BUILD_POINT(builder, &root->next, root);
    result = weft_blob_builder_finish(builder, &ref);
    weft_blob_builder_destroy(builder);
    if (!everything_result(e, "weft_blob_builder_finish", result, WEFT_OK)) return 0;
    weft_blob_info_get(store, ref, &info, sizeof info);
    const tree *read = weft_blob_read(store, ref, &tree_blob);
    everything_equal(e, "weft_blob_read", read != NULL, true);
    if (read != NULL) {
        everything_equal(e, "leaves of a blob", WEFT_BLOB_COUNT(&read->leaves), count);
        for (uint32_t i = 0; i < count; i++)
            everything_equal(e, "a leaf", WEFT_BLOB_AT(&read->leaves, i)->number, i);
        everything_equal(e, "a pointer", WEFT_BLOB_TARGET(&read->next) == read, drawn >> 20 & 1);
    }
    uint64_t hash = info.block_bytes; /* of the bytes behind the head, which names the type */
    for (uint64_t i = WEFT_BLOB_HEADER_BYTES; i < info.block_bytes; i++)
        hash = everything_mix(hash, ((const uint8_t *)info.block)[i]);
    everything_result(e, "weft_blob_release", weft_blob_release(store, ref), WEFT_OK);
    return hash;
}

static void run_blob(everything *e, const everything_call *c)
{
    uint64_t drawn = everything_mix(c->value, c->b);
    everything_equal(e, "the same blob again", tree_build(e, drawn), tree_build(e, drawn));
}

const everything_op everything_ops_value[] = {
    {.name = "value_text",
     .functions = "weft_value_format weft_value_parse weft_value_check weft_value_initial",
     .weight = 1,
     .run = run_text},
    {.name = "value_paths",
     .functions = "weft_value_diff weft_path_format weft_path_parse weft_path_value_format "
                  "weft_path_value_parse weft_type_check",
     .weight = 1,
     .run = run_paths},
    {.name = "blob",
     .functions = "weft_blob_builder_create weft_blob_builder_finish weft_blob_read",
     .weight = 1,
     .run = run_blob},
    {0},
};
