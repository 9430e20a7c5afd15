/* SPDX-License-Identifier: MIT */
/* gltf_source.c: the source of glTF files. First what a file holds: its JSON as a table of values,
 * which are counted first, so that the table has its size before it is filled; views and accessors
 * (glTF 2.0, section 3.6), where counts and offsets are below 2^53, and each sum and product of
 * them is compared in a form that cannot overflow; the bytes: parts of a GLB (section 4.4), files
 * by URI (RFC 3986, percent signs) and base64 (RFC 4648).
 *
 * Then the forest of its nodes (parents from children, circles by counting what is reached from
 * the roots, names by a table of hashes; nothing recurses), checks of what meshes, skins and
 * animations refer to, and nodes as objects with their extras as properties. An object has one
 * number for all that it depends on: JSON, accessors and paths. See weft/scene_gltf.h and
 * docs/guide/scenes-gltf.md. */
#include "gltf_source.h"
#include "hash.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>
#include <weft/scene_gltf.h>

/* Memory for an array, which is not NULL when it is empty; NULL: refused. */
static void *array_of(weft_source *out, size_t count, size_t size)
{
    return weft_source_memory(out, (count + 1) * size);
}

/* Reports a mistake; always false. */
#define fail(out, at, ...) (weft_source_fail((out), (at), __VA_ARGS__), false)

/* ---- values ---- */

enum { DEPTH = 64 }; /* of weft__json */

static bool is_value(weft__json_kind kind)
{
    return kind != WEFT__JSON_NAME && kind != WEFT__JSON_OBJECT_END &&
           kind != WEFT__JSON_ARRAY_END && kind != WEFT__JSON_END;
}

/* How many values a text has; 0: a mistake. */
static uint32_t count_values(weft_source *out, const char *text, size_t bytes)
{
    weft__json json;
    uint32_t count = 0;
    weft__json_open(&json, text, bytes);
    for (;;) {
        weft__json_token token = weft__json_next(&json);
        if (token.kind == WEFT__JSON_END) break;
        if (token.kind == WEFT__JSON_ERROR || count == UINT32_MAX / 2) {
            weft_source_fail(out, token.at, "%s",
                             token.kind == WEFT__JSON_ERROR ? json.problem : "too many values");
            return 0;
        }
        count += is_value(token.kind);
    }
    if (count == 0) weft_source_fail(out, NULL, "the file has no JSON in it");
    return count;
}

static weft__gltf_value make_value(const weft__json_token *token, const weft__json_token *name)
{
    bool is_text = token->kind == WEFT__JSON_STRING;
    weft__gltf_value value = {.kind = token->kind,
                              .span = 1,
                              .has_escapes = token->has_escapes,
                              .at = token->at - is_text,
                              .end = token->end + is_text};
    if (token->kind == WEFT__JSON_NUMBER)
        value.number = token->number.is_negative && token->number.value > 0 ? -token->number.value
                                                                            : token->number.value;
    if (name->kind == WEFT__JSON_NAME) {
        value.name = name->at;
        value.name_end = name->end;
        value.name_has_escapes = name->has_escapes;
    }
    return value;
}

static void fill_values(weft__gltf_value *values, const char *text, size_t bytes)
{
    weft__json json;
    weft__json_token name = {.kind = WEFT__JSON_END}, token;
    uint32_t open[DEPTH + 1], depth = 0, count = 0;
    weft__json_open(&json, text, bytes);
    while ((token = weft__json_next(&json)).kind != WEFT__JSON_END) {
        if (token.kind == WEFT__JSON_NAME) {
            name = token;
        } else if (!is_value(token.kind)) {
            weft__gltf_value *closed = &values[open[--depth]];
            closed->span = count - open[depth];
            closed->end = json.at;
        } else {
            if (depth != 0) values[open[depth - 1]].count++;
            values[count] = make_value(&token, &name);
            name.kind = WEFT__JSON_END;
            if (token.kind == WEFT__JSON_OBJECT || token.kind == WEFT__JSON_ARRAY)
                open[depth++] = count;
            count++;
        }
    }
}

/* Reads a text; NULL: a mistake. Cost: the bytes, twice. */
static const weft__gltf_value *parse(weft_source *out, const char *text, size_t bytes)
{
    uint32_t count = count_values(out, text, bytes);
    if (count == 0) return NULL;
    weft__gltf_value *values = weft_source_memory(out, (size_t)count * sizeof *values);
    if (values == NULL) return NULL;
    fill_values(values, text, bytes);
    if (values->kind == WEFT__JSON_OBJECT) return values;
    weft_source_fail(out, values->at, "a glTF file is one JSON object");
    return NULL;
}

static bool has_name(const weft__gltf_value *member, const char *name, size_t bytes)
{
    return (size_t)(member->name_end - member->name) == bytes &&
           memcmp(member->name, name, bytes) == 0;
}

const weft__gltf_value *weft__gltf_member(const weft__gltf_value *object, const char *name)
{
    if (object == NULL || object->kind != WEFT__JSON_OBJECT) return NULL;
    size_t bytes = strlen(name);
    for (const weft__gltf_value *m = NULL; (m = weft__gltf_after(object, m)) != NULL;)
        if (has_name(m, name, bytes)) return m;
    return NULL;
}

static bool is_whole(const weft__gltf_value *value)
{
    return value->kind == WEFT__JSON_NUMBER && value->number >= 0 &&
           weft__number_is_whole(value->number);
}

/* Reads an integer member; an absent one leaves *value. False: it is no whole number below
 * `limit`. */
static bool read_integer(weft_source *out, const weft__gltf_value *object, const char *name,
                         uint64_t limit, uint64_t *value)
{
    const weft__gltf_value *member = weft__gltf_member(object, name);
    if (member == NULL) return true;
    if (is_whole(member) && (uint64_t)member->number < limit) {
        *value = (uint64_t)member->number;
        return true;
    }
    if (limit == 0) return fail(out, member->at, "\"%s\" refers to a list that is empty", name);
    return fail(out, member->at, "\"%s\" should be a whole number from 0 to %llu", name,
                (unsigned long long)limit - 1);
}

uint64_t weft__gltf_known(const weft__gltf_value *object, const char *name, uint64_t absent)
{
    const weft__gltf_value *member = weft__gltf_member(object, name);
    return member == NULL || !is_whole(member) ? absent : (uint64_t)member->number;
}

bool weft__gltf_numbers(const weft__gltf_value *array, double *out, uint32_t count)
{
    if (array == NULL || array->kind != WEFT__JSON_ARRAY || array->count != count) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (array[1 + i].kind != WEFT__JSON_NUMBER) return false;
        out[i] = array[1 + i].number;
    }
    return true;
}

bool weft__gltf_says(const weft__gltf_value *string, const char *text)
{
    size_t bytes = strlen(text);
    return string != NULL && string->kind == WEFT__JSON_STRING &&
           (size_t)(string->end - string->at) == bytes + 2 &&
           memcmp(string->at + 1, text, bytes) == 0;
}

size_t weft__gltf_string(const weft__gltf_value *string, char *out, size_t capacity)
{
    out[0] = '\0';
    if (string == NULL || string->kind != WEFT__JSON_STRING) return 0;
    const weft__json_token token = {.kind = WEFT__JSON_STRING,
                                    .has_escapes = string->has_escapes,
                                    .at = string->at + 1,
                                    .end = string->end - 1};
    size_t bytes = weft__utf8_cut(out, weft__json_string(&token, out, capacity), capacity - 1);
    out[bytes] = '\0';
    return bytes;
}

/* The elements of the array `name` of an object. False: it is no array of objects. */
static bool read_list(weft_source *out, const weft__gltf_value *root, const char *name,
                      weft__gltf_table *table)
{
    const weft__gltf_value *array = weft__gltf_member(root, name);
    *table = (weft__gltf_table){NULL, 0};
    if (array == NULL) return true;
    if (array->kind != WEFT__JSON_ARRAY)
        return fail(out, array->at, "\"%s\" should be an array", name);
    table->at = array_of(out, array->count, sizeof *table->at);
    if (table->at == NULL) return false;
    for (const weft__gltf_value *element = NULL;
         (element = weft__gltf_after(array, element)) != NULL;) {
        if (element->kind != WEFT__JSON_OBJECT)
            return fail(out, element->at, "\"%s\" should be an array of objects", name);
        table->at[table->count++] = element;
    }
    return true;
}

/* ---- views and accessors ---- */

/* Bytes that live as long as the file; at any address. */
typedef struct run {
    const unsigned char *at;
    uint64_t count;
} run;

/* What accessors are made of. On the stack of a call. */
typedef struct views_of {
    weft__gltf_table views, buffers;
    const run *bytes;    /* of each buffer */
    uint64_t byte_count; /* of the file and its buffers: elements without bytes */
} views_of;

#define NONE UINT64_MAX

/* 0: there is no such type. */
static uint32_t type_bytes(uint64_t type)
{
    static const uint8_t bytes[] = {1, 1, 2, 2, 0, 4, 4};
    const uint64_t number = type - WEFT__GLTF_I8;
    return number < sizeof bytes ? bytes[number] : 0;
}

/* Components of an element by the word of a file; 0: unknown. */
static uint32_t width_of(const weft__gltf_value *word)
{
    static const char *const words[] = {"SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4"};
    static const uint32_t widths[] = {1, 2, 3, 4, 4, 9, 16};
    for (uint32_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        if (weft__gltf_says(word, words[i])) return widths[i];
    return 0;
}

/* The bytes of a view, and its stride (0: none). */
static bool find_view(weft_source *out, const views_of *views, uint64_t number, run *bytes,
                      uint32_t *stride)
{
    const weft__gltf_value *json = views->views.at[number];
    uint64_t buffer = NONE, offset = 0, length = NONE, step = 0;
    if (!read_integer(out, json, "buffer", views->buffers.count, &buffer) ||
        !read_integer(out, json, "byteOffset", NONE, &offset) ||
        !read_integer(out, json, "byteLength", NONE, &length) ||
        !read_integer(out, json, "byteStride", 253, &step))
        return false;
    if (buffer == NONE || offset > views->bytes[buffer].count ||
        length > views->bytes[buffer].count - offset)
        return fail(out, json->at, "bufferViews[%llu] is not within its buffer",
                    (unsigned long long)number);
    *bytes = (run){views->bytes[buffer].at + offset, length};
    *stride = (uint32_t)step;
    return true;
}

/* The part of a view that `json` names: `count` elements of `size` bytes. */
static bool find_elements(weft_source *out, const views_of *views, const weft__gltf_value *json,
                          const weft__gltf_accessor *want, const unsigned char **at,
                          uint32_t *stride)
{
    run bytes = {NULL, 0};
    uint64_t view = NONE, offset = 0;
    if (!read_integer(out, json, "bufferView", views->views.count, &view) ||
        !read_integer(out, json, "byteOffset", NONE, &offset))
        return false;
    *at = NULL;
    *stride = want->size;
    if (view == NONE) return true;
    if (!find_view(out, views, view, &bytes, stride)) return false;
    if (*stride == 0) *stride = want->size;
    uint64_t need = want->count == 0 ? 0 : (uint64_t)(want->count - 1) * *stride + want->size;
    if (*stride < want->size || offset > bytes.count || need > bytes.count - offset)
        return fail(out, json->at,
                    "%u elements of %u bytes, %u apart, are not within bufferViews[%llu]",
                    want->count, want->size, *stride, (unsigned long long)view);
    *at = bytes.at + offset;
    return true;
}

static uint32_t sparse_number(const weft__gltf_accessor *accessor, uint32_t index)
{
    uint32_t number = 0, bytes = type_bytes(accessor->sparse_type);
    memcpy(&number, accessor->sparse_numbers + (size_t)index * bytes, bytes);
    return number;
}

static bool read_sparse(weft_source *out, const views_of *views, const weft__gltf_value *json,
                        weft__gltf_accessor *accessor)
{
    const weft__gltf_value *indices = weft__gltf_member(json, "indices");
    const weft__gltf_value *values = weft__gltf_member(json, "values");
    uint64_t count = 0, type = 0;
    uint32_t number_stride, value_stride;
    if (!read_integer(out, json, "count", (uint64_t)accessor->count + 1, &count) ||
        !read_integer(out, indices, "componentType", WEFT__GLTF_F32, &type))
        return false;
    uint32_t bytes = type_bytes(type);
    weft__gltf_accessor part = {.count = (uint32_t)count, .size = bytes};
    const weft__gltf_accessor whole = {.count = (uint32_t)count, .size = accessor->size};
    if (indices == NULL || values == NULL || bytes == 0 || type == WEFT__GLTF_I8 ||
        type == WEFT__GLTF_I16)
        return fail(out, json->at,
                    "\"sparse\" needs \"indices\", of an unsigned type, and \"values\"");
    if (!find_elements(out, views, indices, &part, &accessor->sparse_numbers, &number_stride) ||
        !find_elements(out, views, values, &whole, &accessor->sparse_values, &value_stride))
        return false;
    if (accessor->sparse_numbers == NULL || accessor->sparse_values == NULL ||
        number_stride != bytes || value_stride != accessor->size)
        return fail(out, json->at, "\"sparse\" needs a \"bufferView\" without stride");
    accessor->sparse_count = (uint32_t)count;
    accessor->sparse_type = (uint32_t)type;
    for (uint32_t i = 0; i < accessor->sparse_count; i++) {
        uint32_t number = sparse_number(accessor, i);
        if (number >= accessor->count || (i != 0 && number <= sparse_number(accessor, i - 1)))
            return fail(out, json->at, "sparse indices should ascend, below \"count\"");
    }
    return true;
}

/* Bytes of an element: columns of matrices begin at multiples of 4 bytes. */
static uint32_t element_bytes(uint32_t width, uint32_t type, bool is_matrix)
{
    uint32_t bytes = type_bytes(type), rows = width == 4 ? 2 : width == 9 ? 3 : 4;
    if (!is_matrix) return width * bytes;
    return (rows * bytes + 3) / 4 * 4 * rows;
}

static uint64_t hash_json(const weft__gltf_value *json)
{
    return hash_bytes(HASH_K0, json->at, (size_t)(json->end - json->at));
}

static uint64_t hash_accessor(const weft__gltf_value *json, const weft__gltf_accessor *a)
{
    uint64_t hash = hash_word(hash_json(json), a->stride);
    if (a->bytes != NULL && a->count != 0)
        hash = hash_bytes(hash, a->bytes, (size_t)(a->count - 1) * a->stride + a->size);
    if (a->sparse_count != 0) {
        size_t count = a->sparse_count;
        hash = hash_bytes(hash, a->sparse_numbers, count * type_bytes(a->sparse_type));
        hash = hash_bytes(hash, a->sparse_values, count * a->size);
    }
    return hash_end(hash);
}

static bool read_accessor(weft_source *out, const views_of *views, const weft__gltf_value *json,
                          weft__gltf_accessor *accessor)
{
    const weft__gltf_value *word = weft__gltf_member(json, "type");
    const weft__gltf_value *normalised = weft__gltf_member(json, "normalized");
    const weft__gltf_value *sparse = weft__gltf_member(json, "sparse");
    uint64_t count = 0, type = 0;
    if (!read_integer(out, json, "count", UINT32_MAX, &count) ||
        !read_integer(out, json, "componentType", WEFT__GLTF_F32 + 1, &type))
        return false;
    uint32_t width = width_of(word);
    if (width == 0 || type_bytes(type) == 0)
        return fail(out, json->at,
                    "an accessor needs \"componentType\" (5120 to 5126) and \"type\" "
                    "(\"SCALAR\", \"VEC2\" to \"VEC4\", \"MAT2\" to \"MAT4\")");
    bool is_matrix = word->at[1] == 'M';
    *accessor = (weft__gltf_accessor){.count = (uint32_t)count,
                                      .size = element_bytes(width, (uint32_t)type, is_matrix),
                                      .type = (uint32_t)type,
                                      .width = width,
                                      .is_normalised = normalised != NULL &&
                                                       normalised->kind == WEFT__JSON_TRUE};
    if (!find_elements(out, views, json, accessor, &accessor->bytes, &accessor->stride))
        return false;
    if (accessor->bytes == NULL && count > views->byte_count)
        return fail(out, json->at,
                    "%llu elements without a \"bufferView\": at most as many as the file has "
                    "bytes are read",
                    (unsigned long long)count);
    if (sparse != NULL && !read_sparse(out, views, sparse, accessor)) return false;
    accessor->hash = hash_accessor(json, accessor);
    return true;
}

/* Checks all accessors; NULL: a mistake. Cost: the bytes that they cover. */
static weft__gltf_accessor *read_accessors(weft_source *out, const weft__gltf_table *accessors,
                                           const views_of *views)
{
    weft__gltf_accessor *all = array_of(out, accessors->count, sizeof *all);
    for (uint32_t i = 0; all != NULL && i < accessors->count; i++)
        if (!read_accessor(out, views, accessors->at[i], &all[i])) return NULL;
    return all;
}

/* ---- elements ---- */

static double component_at(const unsigned char *at, uint32_t type, bool is_normalised)
{
    uint32_t bits = 0, bytes = type_bytes(type), unused = 32 - 8 * bytes;
    bool is_signed = type == WEFT__GLTF_I8 || type == WEFT__GLTF_I16;
    float real;
    memcpy(&bits, at, bytes);
    memcpy(&real, &bits, sizeof real);
    if (type == WEFT__GLTF_F32) return (double)real;
    double value = is_signed ? (double)((int32_t)(bits << unused) >> unused) : (double)bits;
    double part = value / (UINT32_MAX >> (unused + is_signed));
    return !is_normalised ? value : part < -1 ? -1 : part;
}

/* Where an element is; NULL: it is zero. */
static const unsigned char *element_at(const weft__gltf_accessor *a, uint32_t index)
{
    uint32_t low = 0, high = a->sparse_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, number = sparse_number(a, middle);
        if (number == index) return a->sparse_values + (size_t)middle * a->size;
        if (number < index)
            low = middle + 1;
        else
            high = middle;
    }
    return a->bytes == NULL ? NULL : a->bytes + (size_t)index * a->stride;
}

void weft__gltf_element(const weft__gltf_accessor *accessor, uint32_t index, double out[16])
{
    const unsigned char *at = element_at(accessor, index);
    uint32_t bytes = type_bytes(accessor->type);
    for (uint32_t k = 0; k < accessor->width; k++)
        out[k] = at == NULL ? 0
                            : component_at(at + (size_t)k * bytes, accessor->type,
                                           accessor->is_normalised);
}

enum {
    HEADER_BYTES = 12,
    CHUNK_BYTES = 8,
    URI_BYTES = 1024,
};
#define MAGIC UINT32_C(0x46546C67)
#define CHUNK_JSON UINT32_C(0x4E4F534A)
#define CHUNK_BINARY UINT32_C(0x004E4942)

static uint32_t word_at(const char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* The JSON of a file, and the binary part of a GLB (at NULL: none). False: a mistake. */
static bool open_parts(weft_source *out, const weft_text *file, run *json, run *binary)
{
    *json = *binary = (run){NULL, 0};
    if (file->count < 4 || word_at(file->bytes) != MAGIC) {
        *json = (run){(const unsigned char *)file->bytes, file->count};
        return true;
    }
    if (file->count < HEADER_BYTES || word_at(file->bytes + 4) != 2)
        return fail(out, NULL, "this is no GLB of version 2: export it as glTF 2.0");
    uint64_t count = word_at(file->bytes + 8), at = HEADER_BYTES;
    if (count > file->count || count < HEADER_BYTES)
        return fail(out, NULL, "the file has %zu bytes, its header says %llu: it is cut off",
                    file->count, (unsigned long long)count);
    for (uint32_t number = 0; count - at >= CHUNK_BYTES; number++) {
        uint64_t bytes = word_at(file->bytes + at);
        uint32_t kind = word_at(file->bytes + at + 4);
        at += CHUNK_BYTES;
        if (bytes > count - at || (number == 0) != (kind == CHUNK_JSON))
            return fail(out, NULL,
                        "part %u of the GLB is wrong: the first one, and no other, is "
                        "JSON, and each ends in the file",
                        number + 1);
        const run part = {(const unsigned char *)file->bytes + at, bytes};
        if (number == 0) *json = part;
        if (number == 1 && kind == CHUNK_BINARY) *binary = part;
        at += bytes;
    }
    if (json->at == NULL) weft_source_fail(out, NULL, "the GLB has no JSON: it is cut off");
    return json->at != NULL;
}

/* ---- URIs ---- */

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes [at, end); returns how many bytes there are, or UINT64_MAX. */
static uint64_t decode_base64(const char *at, const char *end, unsigned char *to)
{
    uint64_t count = 0;
    uint32_t bits = 0, filled = 0;
    for (int k = 0; k < 2 && end > at && end[-1] == '='; k++) end--;
    for (; at < end; at++) {
        int digit = base64_digit(*at);
        if (digit < 0) return UINT64_MAX;
        bits = (bits << 6) | (uint32_t)digit;
        filled += 6;
        if (filled < 8) continue;
        filled -= 8;
        to[count++] = (unsigned char)(bits >> filled);
        bits &= (1u << filled) - 1;
    }
    return filled >= 6 ? UINT64_MAX : count;
}

static bool read_data(weft_source *out, const weft__gltf_value *uri, run *bytes)
{
    const char *end = uri->end - 1;
    const char *comma = memchr(uri->at, ',', (size_t)(end - uri->at));
    static const char word[] = ";base64";
    bool is_base64 = comma != NULL && !uri->has_escapes &&
                     comma - uri->at >= (long)sizeof word - 1 &&
                     memcmp(comma - (sizeof word - 1), word, sizeof word - 1) == 0;
    if (is_base64) {
        unsigned char *to = weft_source_memory(out, (size_t)(end - comma) / 4 * 3 + 4);
        if (to == NULL) return false;
        uint64_t count = decode_base64(comma + 1, end, to);
        *bytes = (run){to, count};
        if (count != UINT64_MAX) return true;
    }
    return fail(out, uri->at, "a data URI should be base64: \"data:...;base64,AAAA\"");
}

/* Undoes "%20" and its like, in place; false: one is none, or a NUL. */
static bool undo_percents(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        *to = *at;
        if (*at == '%') {
            int high = weft__hex_digit(at[1]), low = high < 0 ? -1 : weft__hex_digit(at[2]);
            if (low < 0 || high + low == 0) return false;
            *to = (char)(high * 16 + low);
            at += 2;
        }
        to++;
    }
    *to = '\0';
    return true;
}

static bool read_uri(weft_source *out, const weft__gltf_value *uri, run *bytes)
{
    char path[URI_BYTES];
    weft_text text = {0};
    if (uri->kind == WEFT__JSON_STRING && uri->end - uri->at > 6 &&
        memcmp(uri->at + 1, "data:", 5) == 0)
        return read_data(out, uri, bytes);
    if (uri->kind != WEFT__JSON_STRING || uri->end - uri->at >= URI_BYTES ||
        weft__gltf_string(uri, path, sizeof path) == 0 || !undo_percents(path) ||
        strstr(path, "://") != NULL || path[0] == '/')
        return fail(out, uri->at, "\"uri\" should name a file beside this one");
    weft_result result = weft_source_file(out, path, &text);
    if (result == WEFT_OUT_OF_MEMORY) return false;
    if (result != WEFT_OK)
        return fail(out, uri->at, "\"%s\" cannot be read (%s): put it beside this file", path,
                    weft_result_text(result));
    *bytes = (run){(const unsigned char *)text.bytes, text.count};
    return true;
}

static bool read_buffer(weft_source *out, const weft__gltf_table *buffers, uint32_t index,
                        run binary, run *bytes)
{
    const weft__gltf_value *json = buffers->at[index], *uri = weft__gltf_member(json, "uri");
    uint64_t length = UINT64_MAX;
    if (!read_integer(out, json, "byteLength", UINT64_MAX, &length)) return false;
    if (uri != NULL) {
        if (!read_uri(out, uri, bytes)) return false;
    } else {
        if (index != 0 || binary.at == NULL)
            return fail(out, json->at,
                        "buffer %u has no \"uri\": only the first one of a GLB may lack it", index);
        *bytes = binary;
    }
    if (length > bytes->count)
        return fail(out, json->at,
                    "buffer %u has %llu bytes: \"byteLength\" is missing or says more", index,
                    (unsigned long long)bytes->count);
    bytes->count = length;
    return true;
}

/* The bytes of all buffers, `byteLength` of each; NULL: a mistake. */
static run *read_buffers(weft_source *out, const weft__gltf_table *buffers, run binary)
{
    run *all = array_of(out, buffers->count, sizeof *all);
    for (uint32_t i = 0; all != NULL && i < buffers->count; i++)
        if (!read_buffer(out, buffers, i, binary, &all[i])) return NULL;
    return all;
}

/* ---- parents ---- */

/* The number of one of `limit` things; false: it is none. */
static bool element_number(weft_source *out, const weft__gltf_value *element, uint32_t limit,
                           const char *what, uint32_t *number)
{
    bool is_one = is_whole(element) && element->number < limit;
    *number = is_one ? (uint32_t)element->number : 0;
    if (!is_one)
        weft_source_fail(out, element->at, "this is not the number of %s: there are %u", what,
                         limit);
    return is_one;
}

/* The array of numbers of nodes of a node or scene; false: it is none. */
static bool find_list(weft_source *out, const weft__gltf_value *json, const char *name,
                      const weft__gltf_value **list)
{
    *list = weft__gltf_member(json, name);
    if (*list == NULL || (*list)->kind == WEFT__JSON_ARRAY) return true;
    return fail(out, (*list)->at, "\"%s\" should be an array of numbers", name);
}

static bool find_parents(weft_source *out, weft__gltf *file)
{
    uint32_t child;
    const weft__gltf_value *list;
    for (uint32_t i = 0; i < file->nodes.count; i++) {
        if (!find_list(out, file->nodes.at[i], "children", &list)) return false;
        for (uint32_t k = 0; list != NULL && k < list->count; k++) {
            const weft__gltf_value *at = &list[1 + k]; /* numbers: one value each */
            if (!element_number(out, at, file->nodes.count, "a node", &child)) return false;
            if (file->node[child].parent != WEFT__GLTF_NONE)
                return fail(out, at->at, "node %u has two parents: %u and %u", child,
                            file->node[child].parent, i);
            file->node[child].parent = i;
        }
    }
    return true;
}

/* ---- names ---- */

/* Hashes of names in use, by open addressing. On the stack of read_file. */
typedef struct names {
    uint64_t *at;
    uint64_t mask;
} names;

/* Takes a name; false: it is taken. */
static bool take_name(names *used, uint64_t hash)
{
    hash |= 1;
    uint64_t i = hash >> 7;
    for (; used->at[i & used->mask] != 0; i++)
        if (used->at[i & used->mask] == hash) return false;
    used->at[i & used->mask] = hash;
    return true;
}

/* The name of a node as objects may have it; `word` and `number` when it has none. */
static size_t legal_name(const weft__gltf_node *node, const char *word, uint32_t number,
                         char out[256])
{
    size_t bytes = weft__gltf_string(weft__gltf_member(node->json, "name"), out,
                                     WEFT__GLTF_SIGNIFICANT_NAME + 1);
    if (bytes == 0) return (size_t)snprintf(out, 256, "%s%u", word, number);
    for (size_t i = 0; i < bytes; i++)
        if (out[i] == '/' || out[i] == '#' || (unsigned char)out[i] < 0x20 ||
            (i == 0 && out[i] == '.'))
            out[i] = '_';
    return bytes;
}

/* Names a node below `above`; false: memory was refused. Beyond "~15" a name takes the number of
 * its node, so that many equal names stay cheap. */
static bool name_node(weft_source *out, names *used, weft__gltf_node *node, const char *word,
                      uint32_t number)
{
    char name[256];
    size_t bytes = legal_name(node, word, number, name), first = bytes;
    uint64_t above = node->above == NULL ? HASH_K0 : node->above->path_hash;
    uint64_t hash;
    for (uint32_t turn = 2; !take_name(used, hash = hash_bytes(above ^ HASH_K1, name, bytes));) {
        bytes = first + (size_t)snprintf(name + first, sizeof name - first, "~%u", turn);
        turn += turn == 15 ? 1 + number : 1;
    }
    char *kept = weft_source_memory(out, bytes + 1);
    if (kept == NULL) return false;
    memcpy(kept, name, bytes + 1);
    node->name = kept;
    node->name_bytes = (uint32_t)bytes;
    node->path_hash = hash;
    return true;
}

/* ---- the order of objects ---- */

/* A walk from parents to children, by a stack in the memory of the file. */
typedef struct walk {
    weft_source *out;
    weft__gltf *file;
    names used;
    weft__gltf_node **stack;
    uint32_t count;
} walk;

static bool visit(walk *w, weft__gltf_node *node, const char *word, uint32_t number)
{
    node->depth = node->above == NULL ? 0 : node->above->depth + 1;
    if (node->depth >= WEFT_GLTF_DEPTH_MAX)
        return fail(w->out, node->json->at, "more than %d nodes below each other",
                    WEFT_GLTF_DEPTH_MAX);
    w->file->in_order[w->file->object_count++] = node;
    return name_node(w->out, &w->used, node, word, number);
}

/* Puts nodes on the stack, the last one first. */
static bool push_list(walk *w, const weft__gltf_value *list, const weft__gltf_node *above)
{
    for (uint32_t i = list == NULL ? 0 : list->count; i-- > 0;) {
        uint32_t number;
        if (!element_number(w->out, &list[1 + i], w->file->nodes.count, "a node", &number))
            return false;
        weft__gltf_node *node = &w->file->node[number];
        if (node->object != WEFT__GLTF_NONE) continue; /* a scene has it as a root */
        node->object = 0;
        node->above = above;
        w->stack[w->count++] = node;
    }
    return true;
}

static bool walk_stack(walk *w)
{
    while (w->count > 0) {
        weft__gltf_node *node = w->stack[--w->count];
        uint32_t number = (uint32_t)(node - w->file->node);
        if (!visit(w, node, "node", number) ||
            !push_list(w, weft__gltf_member(node->json, "children"), node))
            return false;
    }
    return true;
}

static bool walk_scenes(walk *w)
{
    weft__gltf *file = w->file;
    const weft__gltf_value *list;
    bool are_many = file->scenes.count > 1;
    for (uint32_t i = 0; i < file->scenes.count; i++) {
        weft__gltf_node *scene = &file->node[file->nodes.count + i];
        if (!find_list(w->out, scene->json, "nodes", &list)) return false;
        if (are_many && !visit(w, scene, "scene", i)) return false;
        if (!push_list(w, list, are_many ? scene : NULL) || !walk_stack(w)) return false;
    }
    for (uint32_t i = 0; i < file->nodes.count && file->scenes.count == 0; i++) {
        if (file->node[i].parent != WEFT__GLTF_NONE) continue;
        w->stack[w->count++] = &file->node[i];
        if (!walk_stack(w)) return false;
    }
    return true;
}

/* Whether going up from each node ends. Colours: `object` is the number of the walk that came
 * by. */
static bool find_circle(weft_source *out, weft__gltf *file)
{
    for (uint32_t i = 0; i < file->nodes.count; i++) {
        uint32_t at = i;
        while (at != WEFT__GLTF_NONE && file->node[at].object == WEFT__GLTF_NONE) {
            file->node[at].object = i;
            at = file->node[at].parent;
        }
        if (at != WEFT__GLTF_NONE && file->node[at].object == i) {
            weft_source_fail(out, file->nodes.at[at]->at, "node %u is below itself", at);
            return true;
        }
    }
    for (uint32_t i = 0; i < file->nodes.count; i++) file->node[i].object = WEFT__GLTF_NONE;
    return false;
}

static bool make_room(weft_source *out, weft__gltf *file, walk *w)
{
    size_t count = (size_t)file->nodes.count + file->scenes.count;
    uint64_t slots = 16;
    while (slots < 2 * count) slots *= 2;
    file->node = array_of(out, count, sizeof *file->node);
    file->in_order = array_of(out, count, sizeof(void *));
    *w = (walk){.out = out, .file = file, .used.mask = slots - 1};
    w->stack = array_of(out, count, sizeof(void *));
    w->used.at = weft_source_memory(out, slots * sizeof *w->used.at);
    if (file->node == NULL || file->in_order == NULL || w->stack == NULL || w->used.at == NULL)
        return false;
    memset(w->used.at, 0, slots * sizeof *w->used.at);
    for (size_t i = 0; i < count; i++) {
        bool is_scene = i >= file->nodes.count;
        file->node[i] = (weft__gltf_node){.file = file,
                                          .json = is_scene ? file->scenes.at[i - file->nodes.count]
                                                           : file->nodes.at[i],
                                          .parent = WEFT__GLTF_NONE,
                                          .object = WEFT__GLTF_NONE,
                                          .first_animation = WEFT__GLTF_NONE,
                                          .last_animation = WEFT__GLTF_NONE,
                                          .is_scene = is_scene};
    }
    return true;
}

bool weft__gltf_path(const weft__gltf_node *node, const weft__gltf_node *from,
                     char out[WEFT__GLTF_PATH_BYTES])
{
    const weft__gltf_node *chain[WEFT_GLTF_DEPTH_MAX + 1];
    uint32_t count = 0;
    size_t at = 0;
    for (uint32_t i = 0; from != NULL && i <= from->depth; i++, at += 3) memcpy(out + at, "../", 3);
    for (; node != NULL && count <= WEFT_GLTF_DEPTH_MAX; node = node->above) chain[count++] = node;
    while (count-- > 0) {
        if (at + chain[count]->name_bytes + 2 > WEFT__GLTF_PATH_BYTES) return false;
        memcpy(out + at, chain[count]->name, chain[count]->name_bytes);
        at += chain[count]->name_bytes;
        out[at++] = '/';
    }
    out[at - 1] = '\0';
    return true;
}

/* ---- hashes ---- */

/* Of one file. On the stack of hashes_make. */
typedef struct hashing {
    weft_source *out;
    weft__gltf *file;
    uint64_t *meshes, *skins, *animations;
} hashing;

/* Mixes the accessor that a member names into a hash; false: it is none. */
static bool mix_accessor(hashing *h, const weft__gltf_value *number, uint64_t *hash)
{
    uint32_t index;
    if (!element_number(h->out, number, h->file->accessors.count, "an accessor", &index))
        return false;
    *hash = hash_word(*hash, h->file->accessor[index].hash);
    return true;
}

static bool mix_attributes(hashing *h, const weft__gltf_value *object, uint64_t *hash)
{
    if (object != NULL && object->kind != WEFT__JSON_OBJECT)
        return fail(h->out, object->at, "attributes should be an object: {\"POSITION\": 0}");
    for (const weft__gltf_value *m = NULL; (m = weft__gltf_after(object, m)) != NULL;)
        if (!mix_accessor(h, m, hash)) return false;
    return true;
}

static bool mix_primitive(hashing *h, const weft__gltf_value *primitive, uint64_t *hash)
{
    uint64_t material = UINT64_MAX, mode = WEFT_GLTF_TRIANGLES;
    const weft__gltf_value *indices = weft__gltf_member(primitive, "indices");
    const weft__gltf_value *targets = weft__gltf_member(primitive, "targets");
    if (!read_integer(h->out, primitive, "material", h->file->materials.count, &material) ||
        !read_integer(h->out, primitive, "mode", WEFT_GLTF_TRIANGLE_FAN + 1, &mode) ||
        !mix_attributes(h, weft__gltf_member(primitive, "attributes"), hash) ||
        (indices != NULL && !mix_accessor(h, indices, hash)))
        return false;
    if (material != UINT64_MAX)
        *hash = hash_word(*hash, hash_json(h->file->materials.at[material]));
    if (targets != NULL && targets->kind != WEFT__JSON_ARRAY)
        return fail(h->out, targets->at, "\"targets\" should be an array");
    for (const weft__gltf_value *target = NULL;
         (target = weft__gltf_after(targets, target)) != NULL;)
        if (!mix_attributes(h, target, hash)) return false;
    return true;
}

static bool hash_mesh(hashing *h, uint32_t index)
{
    const weft__gltf_value *mesh = h->file->meshes.at[index];
    weft__gltf_table primitives;
    h->meshes[index] = hash_json(mesh);
    if (!read_list(h->out, mesh, "primitives", &primitives)) return false;
    for (uint32_t i = 0; i < primitives.count; i++)
        if (!mix_primitive(h, primitives.at[i], &h->meshes[index])) return false;
    return true;
}

static bool hash_skin(hashing *h, uint32_t index)
{
    const weft__gltf_value *skin = h->file->skins.at[index];
    const weft__gltf_value *joints = weft__gltf_member(skin, "joints");
    const weft__gltf_value *matrices = weft__gltf_member(skin, "inverseBindMatrices");
    uint64_t hash = hash_json(skin);
    if (joints == NULL || joints->kind != WEFT__JSON_ARRAY || joints->count == 0 ||
        joints->count > WEFT_GLTF_JOINTS_MAX)
        return fail(h->out, skin->at, "a skin needs \"joints\": 1 to %d numbers of nodes",
                    WEFT_GLTF_JOINTS_MAX);
    for (uint32_t i = 0; i < joints->count; i++) {
        uint32_t node;
        if (!element_number(h->out, &joints[1 + i], h->file->nodes.count, "a node", &node))
            return false;
        if (h->file->node[node].name == NULL)
            return fail(h->out, joints[1 + i].at, "this node is in no scene");
        hash = hash_word(hash, h->file->node[node].path_hash);
    }
    if (matrices != NULL && !mix_accessor(h, matrices, &hash)) return false;
    h->skins[index] = hash;
    return true;
}

/* Checks a channel; *target: the node that it changes, NULL: none that is an object. */
static bool mix_channel(hashing *h, uint32_t animation, const weft__gltf_value *channel,
                        const weft__gltf_node **target, uint64_t *hash)
{
    uint64_t sampler = UINT64_MAX, node = UINT64_MAX;
    *target = NULL;
    if (!read_integer(h->out, channel, "sampler", h->file->samplers[animation].count, &sampler) ||
        !read_integer(h->out, weft__gltf_member(channel, "target"), "node", h->file->nodes.count,
                      &node))
        return false;
    if (sampler == UINT64_MAX) return fail(h->out, channel->at, "a channel needs \"sampler\"");
    if (node == UINT64_MAX || h->file->node[node].name == NULL) return true;
    *target = &h->file->node[node];
    *hash = hash_word(*hash, (*target)->path_hash);
    return true;
}

static void hand_over(weft__gltf *file, uint32_t index, const weft__gltf_node *target)
{
    while (target->above != NULL && !target->above->is_scene) target = target->above;
    weft__gltf_node *root = &file->node[target - file->node];
    if (root->first_animation == WEFT__GLTF_NONE)
        root->first_animation = index;
    else
        file->next_animation[root->last_animation] = index;
    root->last_animation = index;
}

static bool hash_animation(hashing *h, uint32_t index)
{
    const weft__gltf_value *animation = h->file->animations.at[index];
    const weft__gltf_node *first = NULL, *target;
    weft__gltf_table channels, *samplers = &h->file->samplers[index];
    uint64_t hash = hash_json(animation);
    h->file->next_animation[index] = WEFT__GLTF_NONE;
    if (!read_list(h->out, animation, "samplers", samplers) ||
        !read_list(h->out, animation, "channels", &channels))
        return false;
    for (uint32_t i = 0; i < samplers->count; i++) {
        const weft__gltf_value *input = weft__gltf_member(samplers->at[i], "input");
        const weft__gltf_value *output = weft__gltf_member(samplers->at[i], "output");
        if (input == NULL || output == NULL)
            return fail(h->out, samplers->at[i]->at, "a sampler needs \"input\" and \"output\"");
        if (!mix_accessor(h, input, &hash) || !mix_accessor(h, output, &hash)) return false;
    }
    for (uint32_t i = 0; i < channels.count; i++) {
        if (!mix_channel(h, index, channels.at[i], &target, &hash)) return false;
        if (first == NULL) first = target;
    }
    h->animations[index] = hash;
    if (first != NULL) hand_over(h->file, index, first);
    return true;
}

static bool hash_node(hashing *h, const weft__gltf_node *node, uint64_t *hash)
{
    uint64_t mesh = UINT64_MAX, skin = UINT64_MAX;
    uint32_t animations = 0;
    *hash = hash_word(hash_json(node->json), node->is_scene);
    if (!node->is_scene &&
        (!read_integer(h->out, node->json, "mesh", h->file->meshes.count, &mesh) ||
         !read_integer(h->out, node->json, "skin", h->file->skins.count, &skin)))
        return false;
    if (mesh != UINT64_MAX) *hash = hash_word(*hash, h->meshes[mesh]);
    if (skin != UINT64_MAX) *hash = hash_word(*hash, h->skins[skin]);
    for (uint32_t a = node->first_animation; a != WEFT__GLTF_NONE;
         a = h->file->next_animation[a], animations++)
        *hash = hash_word(*hash, h->animations[a]);
    *hash = hash_end(*hash) | 1;
    if (animations <= WEFT_GLTF_ANIMATIONS_MAX) return true;
    return fail(h->out, node->json->at, "%u animations of one root node: at most %d", animations,
                WEFT_GLTF_ANIMATIONS_MAX);
}

static uint64_t *hashes_make(weft_source *out, weft__gltf *file)
{
    hashing h = {.out = out, .file = file};
    uint32_t animations = file->animations.count;
    h.meshes = array_of(out, file->meshes.count, sizeof *h.meshes);
    h.skins = array_of(out, file->skins.count, sizeof *h.skins);
    h.animations = array_of(out, animations, sizeof *h.animations);
    file->samplers = array_of(out, animations, sizeof *file->samplers);
    file->next_animation = array_of(out, animations, sizeof(uint32_t));
    uint64_t *hashes = array_of(out, file->object_count, sizeof *hashes);
    if (h.meshes == NULL || h.skins == NULL || h.animations == NULL || hashes == NULL ||
        file->samplers == NULL || file->next_animation == NULL)
        return NULL;
    for (uint32_t i = 0; i < file->meshes.count; i++)
        if (!hash_mesh(&h, i)) return NULL;
    for (uint32_t i = 0; i < file->skins.count; i++)
        if (!hash_skin(&h, i)) return NULL;
    for (uint32_t i = 0; i < animations; i++)
        if (!hash_animation(&h, i)) return NULL;
    for (uint32_t i = 0; i < file->object_count; i++)
        if (!hash_node(&h, file->in_order[i], &hashes[i])) return NULL;
    return hashes;
}

enum { EXTRAS_MOST = 1024 };

/* ---- extras ---- */

/* Whether a member is a field of a component: "Orbit.mean_motion"; *bytes: of "Orbit". */
static bool is_flat(const weft__gltf_value *member, size_t *bytes)
{
    const char *dot = memchr(member->name, '.', (size_t)(member->name_end - member->name));
    if (dot == NULL || dot == member->name || dot + 1 == member->name_end ||
        member->name_has_escapes)
        return false;
    *bytes = (size_t)(dot - member->name);
    for (const char *at = member->name; at < dot; at++) {
        char c = *at;
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (c < '0' || c > '9' || at == member->name)) return false;
    }
    return memchr(dot + 1, '.', (size_t)(member->name_end - dot - 1)) == NULL;
}

static bool is_of(const weft__gltf_value *member, const char *name, size_t bytes)
{
    size_t own;
    return is_flat(member, &own) && own == bytes && memcmp(member->name, name, bytes) == 0;
}

/* Writes {"field": value, ...} of a component to `to`; returns its length, also when `to` is
 * NULL. */
static size_t write_flat(const weft__gltf_value *extras, const char *name, size_t bytes, char *to)
{
    size_t at = 0;
    for (const weft__gltf_value *member = NULL;
         (member = weft__gltf_after(extras, member)) != NULL;) {
        if (!is_of(member, name, bytes)) continue;
        const char *field = member->name + bytes + 1;
        size_t field_bytes = (size_t)(member->name_end - field);
        size_t value_bytes = (size_t)(member->end - member->at);
        if (to != NULL) {
            to[at] = at == 0 ? '{' : ',';
            to[at + 1] = '"';
            memcpy(to + at + 2, field, field_bytes);
            memcpy(to + at + 2 + field_bytes, "\":", 2);
            memcpy(to + at + 4 + field_bytes, member->at, value_bytes);
        }
        at += 4 + field_bytes + value_bytes;
    }
    if (to != NULL) to[at] = '}';
    return at + 1;
}

static bool add_flat(weft_source *out, uint32_t object, const weft__gltf_value *extras,
                     const weft__gltf_value *weft)
{
    for (const weft__gltf_value *member = NULL;
         (member = weft__gltf_after(extras, member)) != NULL;) {
        size_t bytes;
        bool is_first = is_flat(member, &bytes);
        const weft__gltf_value *other = extras + 1;
        for (; is_first && other < member; other += other->span)
            is_first = !is_of(other, member->name, bytes);
        if (!is_first) continue;
        for (other = NULL; (other = weft__gltf_after(weft, other)) != NULL;)
            if (has_name(other, member->name, bytes))
                return fail(out, member->name - 1,
                            "this component stands in \"weft\", too: remove one");
        size_t length = write_flat(extras, member->name, bytes, NULL);
        char *json = weft_source_memory(out, length + 1);
        if (json == NULL) return false;
        write_flat(extras, member->name, bytes, json);
        json[length] = '\0';
        weft_source_property(out, object, member->name, bytes, json, length);
    }
    return true;
}

static bool add_member(weft_source *out, uint32_t object, const weft__gltf_value *weft,
                       const weft__gltf_value *member)
{
    size_t bytes = (size_t)(member->name_end - member->name);
    const char *name = member->name;
    for (const weft__gltf_value *other = weft + 1; other < member; other += other->span)
        if (has_name(other, name, bytes))
            return fail(out, name - 1, "this name stands twice in the object: remove one");
    if (member->name_has_escapes)
        return fail(out, name - 1, "write the name of a property without \\ in it");
    weft_source_property(out, object, name, bytes, member->at, (size_t)(member->end - member->at));
    return true;
}

static bool add_extras(weft_source *out, uint32_t object, const weft__gltf_value *extras)
{
    if (extras == NULL || extras->kind != WEFT__JSON_OBJECT) return true;
    const weft__gltf_value *weft = weft__gltf_member(extras, "weft");
    if (weft != NULL && weft->kind != WEFT__JSON_OBJECT)
        return fail(out, weft->at, "\"weft\" should be an object of properties");
    if (extras->count > EXTRAS_MOST || (weft != NULL && weft->count > EXTRAS_MOST))
        return fail(out, extras->at, "more than 1024 properties of one node");
    for (const weft__gltf_value *m = NULL; (m = weft__gltf_after(weft, m)) != NULL;)
        if (!add_member(out, object, weft, m)) return false;
    return add_flat(out, object, extras, weft);
}

/* ---- files ---- */

/* Extensions without which the file can be read, or that are read. */
static bool is_harmless(const weft__gltf_value *name)
{
    static const char materials[] = "KHR_materials_";
    return weft__gltf_says(name, "KHR_mesh_quantization") ||
           weft__gltf_says(name, "KHR_texture_transform") ||
           weft__gltf_says(name, "KHR_texture_basisu") ||
           weft__gltf_says(name, "KHR_lights_punctual") ||
           (name->kind == WEFT__JSON_STRING && name->end - name->at > 16 &&
            memcmp(name->at + 1, materials, sizeof materials - 1) == 0);
}

static bool check_version(weft_source *out, const weft__gltf_value *root)
{
    const weft__gltf_value *version =
        weft__gltf_member(weft__gltf_member(root, "asset"), "version");
    const weft__gltf_value *required = weft__gltf_member(root, "extensionsRequired");
    char name[64];
    if (version == NULL || version->kind != WEFT__JSON_STRING || version->at[1] != '2')
        return fail(out, root->at,
                    "\"asset\" should say \"version\": \"2.0\": export the file as glTF 2.0");
    if (required == NULL || required->kind != WEFT__JSON_ARRAY) return true;
    for (const weft__gltf_value *extension = NULL;
         (extension = weft__gltf_after(required, extension)) != NULL;) {
        if (is_harmless(extension)) continue;
        weft__gltf_string(extension, name, sizeof name);
        return fail(out, extension->at,
                    "the file needs the extension \"%s\", which is not read: export it "
                    "without it (without compression)",
                    name);
    }
    return true;
}

static bool read_tables(weft_source *out, weft__gltf *file, views_of *views)
{
    const weft__gltf_value *root = file->root;
    return read_list(out, root, "nodes", &file->nodes) &&
           read_list(out, root, "scenes", &file->scenes) &&
           read_list(out, root, "meshes", &file->meshes) &&
           read_list(out, root, "skins", &file->skins) &&
           read_list(out, root, "animations", &file->animations) &&
           read_list(out, root, "materials", &file->materials) &&
           read_list(out, root, "accessors", &file->accessors) &&
           read_list(out, root, "bufferViews", &views->views) &&
           read_list(out, root, "buffers", &views->buffers);
}

static bool read_file(weft_source *out, const weft_text *text, weft__gltf *file)
{
    run json, binary;
    views_of views;
    if (!open_parts(out, text, &json, &binary)) return false;
    file->root = parse(out, (const char *)json.at, json.count);
    if (file->root == NULL || !check_version(out, file->root) || !read_tables(out, file, &views))
        return false;
    views.bytes = read_buffers(out, &views.buffers, binary);
    views.byte_count = text->count;
    for (uint32_t i = 0; views.bytes != NULL && i < views.buffers.count; i++)
        views.byte_count += views.bytes[i].count;
    if (views.bytes == NULL) return false;
    file->accessor = read_accessors(out, &file->accessors, &views);
    walk w;
    return file->accessor != NULL && make_room(out, file, &w) && find_parents(out, file) &&
           !find_circle(out, file) && walk_scenes(&w);
}

static weft_result open_gltf(weft_source *out, const weft_text *text, void *user)
{
    (void)user;
    weft__gltf *file = weft_source_memory(out, sizeof *file);
    if (file == NULL) return WEFT_OUT_OF_MEMORY;
    memset(file, 0, sizeof *file);
    const uint64_t *hashes = read_file(out, text, file) ? hashes_make(out, file) : NULL;
    if (hashes == NULL) return WEFT_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < file->object_count; i++) {
        weft__gltf_node *node = file->in_order[i];
        const weft_source_object object = {
            .name = node->name,
            .name_bytes = node->name_bytes,
            .parent = node->above == NULL ? WEFT_SOURCE_ROOT : node->above->object,
            .value = node->json->at,
            .value_bytes = (size_t)(node->json->end - node->json->at),
            .hash = hashes[i],
            .data = node};
        node->object = weft_source_add(out, &object);
        if (node->object == WEFT__GLTF_NONE) return WEFT_INVALID_ARGUMENT;
        if (!add_extras(out, node->object, weft__gltf_member(node->json, "extras")))
            return WEFT_INVALID_ARGUMENT;
    }
    return WEFT_OK;
}

weft_source_desc weft_source_gltf(void)
{
    return (weft_source_desc){.kind = "gltf", .suffixes = ".gltf .glb", .open = open_gltf};
}
