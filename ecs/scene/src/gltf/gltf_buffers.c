/* SPDX-License-Identifier: MIT */
/* gltf_buffers.c: parts of a GLB (glTF 2.0, section 4.4), files by URI (RFC 3986, percent signs)
 * and base64 (RFC 4648). See gltf_buffers.h. */
#include "gltf_buffers.h"

#include <string.h>

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
