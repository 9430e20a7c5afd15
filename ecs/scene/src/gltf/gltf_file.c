/* SPDX-License-Identifier: MIT */
/* gltf_file.c: what a glTF file holds. Its JSON as a table of values, which are counted first, so
 * that the table has its size before it is filled. Views and accessors (glTF 2.0, section 3.6):
 * counts and offsets are below 2^53, and each sum and product of them is compared in a form that
 * cannot overflow. The bytes: parts of a GLB (section 4.4), files by URI (RFC 3986, percent signs)
 * and base64 (RFC 4648). See gltf_file.h. */
#include "gltf_file.h"

#include "hash.h"
#include "utf8.h"

#include <string.h>

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
            weft_source_error(out, token.at, "%s",
                              token.kind == WEFT__JSON_ERROR ? json.problem : "too many values");
            return 0;
        }
        count += is_value(token.kind);
    }
    if (count == 0) weft_source_error(out, NULL, "the file has no JSON in it");
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

const weft__gltf_value *weft__gltf_parse(weft_source *out, const char *text, size_t bytes)
{
    uint32_t count = count_values(out, text, bytes);
    if (count == 0) return NULL;
    weft__gltf_value *values = weft_source_memory(out, (size_t)count * sizeof *values);
    if (values == NULL) return NULL;
    fill_values(values, text, bytes);
    if (values->kind == WEFT__JSON_OBJECT) return values;
    weft_source_error(out, values->at, "a glTF file is one JSON object");
    return NULL;
}

const weft__gltf_value *weft__gltf_member(const weft__gltf_value *object, const char *name)
{
    if (object == NULL || object->kind != WEFT__JSON_OBJECT) return NULL;
    size_t bytes = strlen(name);
    const weft__gltf_value *member = object + 1;
    for (uint32_t i = 0; i < object->count; i++, member += member->span)
        if ((size_t)(member->name_end - member->name) == bytes &&
            memcmp(member->name, name, bytes) == 0)
            return member;
    return NULL;
}

static bool is_whole(const weft__gltf_value *value)
{
    return value->kind == WEFT__JSON_NUMBER && value->number >= 0 &&
           weft__number_is_whole(value->number);
}

bool weft__gltf_integer(weft_source *out, const weft__gltf_value *object, const char *name,
                        uint64_t limit, uint64_t *value)
{
    const weft__gltf_value *member = weft__gltf_member(object, name);
    if (member == NULL) return true;
    if (is_whole(member) && (uint64_t)member->number < limit) {
        *value = (uint64_t)member->number;
        return true;
    }
    if (limit == 0)
        weft_source_error(out, member->at, "\"%s\" refers to a list that is empty", name);
    else
        weft_source_error(out, member->at, "\"%s\" should be a whole number from 0 to %llu", name,
                          (unsigned long long)limit - 1);
    return false;
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

bool weft__gltf_list(weft_source *out, const weft__gltf_value *root, const char *name,
                     weft__gltf_table *table)
{
    const weft__gltf_value *array = weft__gltf_member(root, name);
    *table = (weft__gltf_table){NULL, 0};
    if (array == NULL) return true;
    if (array->kind != WEFT__JSON_ARRAY) {
        weft_source_error(out, array->at, "\"%s\" should be an array", name);
        return false;
    }
    table->at = weft_source_memory(out, (array->count + (size_t)1) * sizeof *table->at);
    if (table->at == NULL) return false;
    const weft__gltf_value *element = array + 1;
    for (uint32_t i = 0; i < array->count; i++, element += element->span) {
        if (element->kind != WEFT__JSON_OBJECT) {
            weft_source_error(out, element->at, "\"%s\" should be an array of objects", name);
            return false;
        }
        table->at[table->count++] = element;
    }
    return true;
}

/* ---- views and accessors ---- */

#define NONE UINT64_MAX

static uint32_t type_bytes(uint64_t type)
{
    switch (type) {
    case WEFT__GLTF_I8:
    case WEFT__GLTF_U8:
        return 1;
    case WEFT__GLTF_I16:
    case WEFT__GLTF_U16:
        return 2;
    case WEFT__GLTF_U32:
    case WEFT__GLTF_F32:
        return 4;
    default:
        return 0;
    }
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
static bool find_view(weft_source *out, const weft__gltf_views *views, uint64_t number,
                      weft__gltf_bytes *bytes, uint32_t *stride)
{
    const weft__gltf_value *json = views->views.at[number];
    uint64_t buffer = NONE, offset = 0, length = NONE, step = 0;
    if (!weft__gltf_integer(out, json, "buffer", views->buffers.count, &buffer) ||
        !weft__gltf_integer(out, json, "byteOffset", NONE, &offset) ||
        !weft__gltf_integer(out, json, "byteLength", NONE, &length) ||
        !weft__gltf_integer(out, json, "byteStride", 253, &step))
        return false;
    if (buffer == NONE || offset > views->bytes[buffer].count ||
        length > views->bytes[buffer].count - offset) {
        weft_source_error(out, json->at, "bufferViews[%llu] is not within its buffer",
                          (unsigned long long)number);
        return false;
    }
    *bytes = (weft__gltf_bytes){views->bytes[buffer].at + offset, length};
    *stride = (uint32_t)step;
    return true;
}

/* The part of a view that `json` names: `count` elements of `size` bytes. */
static bool find_elements(weft_source *out, const weft__gltf_views *views,
                          const weft__gltf_value *json, const weft__gltf_accessor *want,
                          const unsigned char **at, uint32_t *stride)
{
    weft__gltf_bytes bytes;
    uint64_t view = NONE, offset = 0;
    if (!weft__gltf_integer(out, json, "bufferView", views->views.count, &view) ||
        !weft__gltf_integer(out, json, "byteOffset", NONE, &offset))
        return false;
    *at = NULL;
    *stride = want->size;
    if (view == NONE) return true;
    if (!find_view(out, views, view, &bytes, stride)) return false;
    if (*stride == 0) *stride = want->size;
    uint64_t need = want->count == 0 ? 0 : (uint64_t)(want->count - 1) * *stride + want->size;
    if (*stride < want->size || offset > bytes.count || need > bytes.count - offset) {
        weft_source_error(out, json->at,
                          "%u elements of %u bytes, %u apart, are not within bufferViews[%llu]",
                          want->count, want->size, *stride, (unsigned long long)view);
        return false;
    }
    *at = bytes.at + offset;
    return true;
}

static uint32_t sparse_number(const weft__gltf_accessor *accessor, uint32_t index)
{
    const unsigned char *at =
        accessor->sparse_numbers + (size_t)index * type_bytes(accessor->sparse_type);
    uint16_t half;
    uint32_t word;
    if (accessor->sparse_type == WEFT__GLTF_U8) return *at;
    memcpy(&half, at, sizeof half);
    if (accessor->sparse_type == WEFT__GLTF_U16) return half;
    memcpy(&word, at, sizeof word);
    return word;
}

static bool check_ascent(weft_source *out, const weft__gltf_accessor *accessor,
                         const weft__gltf_value *json)
{
    for (uint32_t i = 0; i < accessor->sparse_count; i++) {
        uint32_t number = sparse_number(accessor, i);
        bool is_later = i == 0 || number > sparse_number(accessor, i - 1);
        if (number < accessor->count && is_later) continue;
        weft_source_error(out, json->at, "sparse indices should ascend, below \"count\"");
        return false;
    }
    return true;
}

static bool read_sparse(weft_source *out, const weft__gltf_views *views,
                        const weft__gltf_value *json, weft__gltf_accessor *accessor)
{
    const weft__gltf_value *indices = weft__gltf_member(json, "indices");
    const weft__gltf_value *values = weft__gltf_member(json, "values");
    uint64_t count = 0, type = 0;
    uint32_t number_stride, value_stride;
    if (!weft__gltf_integer(out, json, "count", (uint64_t)accessor->count + 1, &count) ||
        !weft__gltf_integer(out, indices, "componentType", WEFT__GLTF_F32, &type))
        return false;
    uint32_t bytes = type_bytes(type);
    weft__gltf_accessor part = {.count = (uint32_t)count, .size = bytes};
    const weft__gltf_accessor whole = {.count = (uint32_t)count, .size = accessor->size};
    if (indices == NULL || values == NULL || bytes == 0 || type == WEFT__GLTF_I8 ||
        type == WEFT__GLTF_I16) {
        weft_source_error(out, json->at,
                          "\"sparse\" needs \"indices\", of an unsigned type, and \"values\"");
        return false;
    }
    if (!find_elements(out, views, indices, &part, &accessor->sparse_numbers, &number_stride) ||
        !find_elements(out, views, values, &whole, &accessor->sparse_values, &value_stride))
        return false;
    if (accessor->sparse_numbers == NULL || accessor->sparse_values == NULL ||
        number_stride != bytes || value_stride != accessor->size) {
        weft_source_error(out, json->at, "\"sparse\" needs a \"bufferView\" without stride");
        return false;
    }
    accessor->sparse_count = (uint32_t)count;
    accessor->sparse_type = (uint32_t)type;
    return check_ascent(out, accessor, json);
}

/* Bytes of an element: columns of matrices begin at multiples of 4 bytes. */
static uint32_t element_bytes(uint32_t width, uint32_t type, bool is_matrix)
{
    uint32_t bytes = type_bytes(type), rows = width == 4 ? 2 : width == 9 ? 3 : 4;
    if (!is_matrix) return width * bytes;
    return (rows * bytes + 3) / 4 * 4 * rows;
}

static void hash_accessor(const weft__gltf_value *json, weft__gltf_accessor *accessor)
{
    const weft__gltf_accessor *a = accessor;
    uint64_t hash = hash_bytes(HASH_K0, json->at, (size_t)(json->end - json->at));
    hash = hash_word(hash, a->stride);
    if (a->bytes != NULL && a->count != 0)
        hash = hash_bytes(hash, a->bytes, (size_t)(a->count - 1) * a->stride + a->size);
    if (a->sparse_count != 0) {
        size_t count = a->sparse_count;
        hash = hash_bytes(hash, a->sparse_numbers, count * type_bytes(a->sparse_type));
        hash = hash_bytes(hash, a->sparse_values, count * a->size);
    }
    accessor->hash = hash_end(hash);
}

static bool read_accessor(weft_source *out, const weft__gltf_views *views,
                          const weft__gltf_value *json, weft__gltf_accessor *accessor)
{
    const weft__gltf_value *word = weft__gltf_member(json, "type");
    const weft__gltf_value *normalised = weft__gltf_member(json, "normalized");
    const weft__gltf_value *sparse = weft__gltf_member(json, "sparse");
    uint64_t count = 0, type = 0;
    if (!weft__gltf_integer(out, json, "count", UINT32_MAX, &count) ||
        !weft__gltf_integer(out, json, "componentType", WEFT__GLTF_F32 + 1, &type))
        return false;
    uint32_t width = width_of(word);
    if (width == 0 || type_bytes(type) == 0) {
        weft_source_error(out, json->at,
                          "an accessor needs \"componentType\" (5120 to 5126) and \"type\" "
                          "(\"SCALAR\", \"VEC2\" to \"VEC4\", \"MAT2\" to \"MAT4\")");
        return false;
    }
    bool is_matrix = word->at[1] == 'M';
    *accessor = (weft__gltf_accessor){.count = (uint32_t)count,
                                      .size = element_bytes(width, (uint32_t)type, is_matrix),
                                      .type = (uint32_t)type,
                                      .width = width,
                                      .is_normalised = normalised != NULL &&
                                                       normalised->kind == WEFT__JSON_TRUE};
    if (!find_elements(out, views, json, accessor, &accessor->bytes, &accessor->stride))
        return false;
    if (accessor->bytes == NULL && count > views->byte_count) {
        weft_source_error(out, json->at,
                          "%llu elements without a \"bufferView\": at most as many as the file has "
                          "bytes are read",
                          (unsigned long long)count);
        return false;
    }
    if (sparse != NULL && !read_sparse(out, views, sparse, accessor)) return false;
    hash_accessor(json, accessor);
    return true;
}

weft__gltf_accessor *weft__gltf_accessors(weft_source *out, const weft__gltf_table *accessors,
                                          const weft__gltf_views *views)
{
    weft__gltf_accessor *all =
        weft_source_memory(out, (accessors->count + (size_t)1) * sizeof *all);
    for (uint32_t i = 0; all != NULL && i < accessors->count; i++)
        if (!read_accessor(out, views, accessors->at[i], &all[i])) return NULL;
    return all;
}

/* ---- elements ---- */

static double component_at(const unsigned char *at, uint32_t type, bool is_normalised)
{
    int8_t i8;
    int16_t i16;
    uint16_t u16;
    uint32_t u32;
    float f32;
    double value, most;
    switch (type) {
    case WEFT__GLTF_I8:
        memcpy(&i8, at, sizeof i8);
        value = i8, most = 127;
        break;
    case WEFT__GLTF_U8:
        value = *at, most = 255;
        break;
    case WEFT__GLTF_I16:
        memcpy(&i16, at, sizeof i16);
        value = i16, most = 32767;
        break;
    case WEFT__GLTF_U16:
        memcpy(&u16, at, sizeof u16);
        value = u16, most = 65535;
        break;
    case WEFT__GLTF_U32:
        memcpy(&u32, at, sizeof u32);
        value = u32, most = UINT32_MAX;
        break;
    default:
        memcpy(&f32, at, sizeof f32);
        return (double)f32;
    }
    if (!is_normalised) return value;
    return value / most < -1 ? -1 : value / most;
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

/* ---- buffers ---- */

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

/* ---- GLB ---- */

static bool open_binary(weft_source *out, const weft_text *file, weft__gltf_bytes *json,
                        weft__gltf_bytes *binary)
{
    if (file->count < HEADER_BYTES || word_at(file->bytes + 4) != 2) {
        weft_source_error(out, NULL, "this is no GLB of version 2: export it as glTF 2.0");
        return false;
    }
    uint64_t count = word_at(file->bytes + 8), at = HEADER_BYTES;
    if (count > file->count || count < HEADER_BYTES) {
        weft_source_error(out, NULL, "the file has %zu bytes, its header says %llu: it is cut off",
                          file->count, (unsigned long long)count);
        return false;
    }
    for (uint32_t number = 0; count - at >= CHUNK_BYTES; number++) {
        uint64_t bytes = word_at(file->bytes + at);
        uint32_t kind = word_at(file->bytes + at + 4);
        at += CHUNK_BYTES;
        if (bytes > count - at || (number == 0) != (kind == CHUNK_JSON)) {
            weft_source_error(out, NULL,
                              "part %u of the GLB is wrong: the first one, and no other, is "
                              "JSON, and each ends in the file",
                              number + 1);
            return false;
        }
        const weft__gltf_bytes part = {(const unsigned char *)file->bytes + at, bytes};
        if (number == 0) *json = part;
        if (number == 1 && kind == CHUNK_BINARY) *binary = part;
        at += bytes;
    }
    if (json->at == NULL) weft_source_error(out, NULL, "the GLB has no JSON: it is cut off");
    return json->at != NULL;
}

bool weft__gltf_open(weft_source *out, const weft_text *file, weft__gltf_bytes *json,
                     weft__gltf_bytes *binary)
{
    *json = *binary = (weft__gltf_bytes){NULL, 0};
    if (file->count >= 4 && word_at(file->bytes) == MAGIC)
        return open_binary(out, file, json, binary);
    *json = (weft__gltf_bytes){(const unsigned char *)file->bytes, file->count};
    return true;
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

static bool read_data(weft_source *out, const weft__gltf_value *uri, weft__gltf_bytes *bytes)
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
        *bytes = (weft__gltf_bytes){to, count};
        if (count != UINT64_MAX) return true;
    }
    weft_source_error(out, uri->at, "a data URI should be base64: \"data:...;base64,AAAA\"");
    return false;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Undoes "%20" and its like, in place; false: one is none, or a NUL. */
static bool undo_percents(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        *to = *at;
        if (*at == '%') {
            int high = hex_digit(at[1]), low = high < 0 ? -1 : hex_digit(at[2]);
            if (low < 0 || high + low == 0) return false;
            *to = (char)(high * 16 + low);
            at += 2;
        }
        to++;
    }
    *to = '\0';
    return true;
}

static bool read_uri(weft_source *out, const weft__gltf_value *uri, weft__gltf_bytes *bytes)
{
    char path[URI_BYTES];
    weft_text text = {0};
    if (uri->kind == WEFT__JSON_STRING && uri->end - uri->at > 6 &&
        memcmp(uri->at + 1, "data:", 5) == 0)
        return read_data(out, uri, bytes);
    if (uri->kind != WEFT__JSON_STRING || uri->end - uri->at >= URI_BYTES ||
        weft__gltf_string(uri, path, sizeof path) == 0 || !undo_percents(path) ||
        strstr(path, "://") != NULL || path[0] == '/') {
        weft_source_error(out, uri->at, "\"uri\" should name a file beside this one");
        return false;
    }
    weft_result result = weft_source_file(out, path, &text);
    if (result == WEFT_OUT_OF_MEMORY) return false;
    if (result != WEFT_OK) {
        weft_source_error(out, uri->at, "\"%s\" cannot be read (%s): put it beside this file", path,
                          weft_result_text(result));
        return false;
    }
    *bytes = (weft__gltf_bytes){(const unsigned char *)text.bytes, text.count};
    return true;
}

/* ---- buffers ---- */

static bool read_buffer(weft_source *out, const weft__gltf_table *buffers, uint32_t index,
                        weft__gltf_bytes binary, weft__gltf_bytes *bytes)
{
    const weft__gltf_value *json = buffers->at[index], *uri = weft__gltf_member(json, "uri");
    uint64_t length = UINT64_MAX;
    if (!weft__gltf_integer(out, json, "byteLength", UINT64_MAX, &length)) return false;
    if (uri != NULL) {
        if (!read_uri(out, uri, bytes)) return false;
    } else {
        if (index != 0 || binary.at == NULL) {
            weft_source_error(out, json->at,
                              "buffer %u has no \"uri\": only the first one of a GLB may lack it",
                              index);
            return false;
        }
        *bytes = binary;
    }
    if (length > bytes->count) {
        weft_source_error(out, json->at,
                          "buffer %u has %llu bytes: \"byteLength\" is missing or says more", index,
                          (unsigned long long)bytes->count);
        return false;
    }
    bytes->count = length;
    return true;
}

weft__gltf_bytes *weft__gltf_buffers(weft_source *out, const weft__gltf_table *buffers,
                                     weft__gltf_bytes binary)
{
    weft__gltf_bytes *all = weft_source_memory(out, (buffers->count + (size_t)1) * sizeof *all);
    for (uint32_t i = 0; all != NULL && i < buffers->count; i++)
        if (!read_buffer(out, buffers, i, binary, &all[i])) return NULL;
    return all;
}
