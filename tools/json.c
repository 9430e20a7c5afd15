/* SPDX-License-Identifier: MIT */
/* json.c: the JSON line writer of the command line (json.h).
 *
 * Members are written as they come, straight to the stream: nothing is buffered here and nothing is
 * allocated, so a command may report in the middle of a measurement.
 */
#include "json.h"

#include "utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void write_text(FILE *out, const char *text)
{
    char piece[WEFT__JSON_PIECE_BYTES];
    fputc('"', out);
    while (*text) {
        text = weft__json_piece(text, piece);
        fputs(piece, out);
    }
    fputc('"', out);
}

static void write_number(FILE *out, double value)
{
    if (isfinite(value)) {
        fprintf(out, "%.6g", value);
    } else {
        fputs("null", out);
    }
}

static void write_name(weft_json *json, const char *name)
{
    if (json->has_member) fputc(',', json->out);
    write_text(json->out, name);
    fputc(':', json->out);
    json->has_member = true;
}

void weft_json_begin(weft_json *json, FILE *out)
{
    *json = (weft_json){.out = out, .depth = 1};
    fputc('{', out);
}

void weft_json_end(weft_json *json)
{
    while (json->depth) weft_json_close(json);
    fputc('\n', json->out);
    fflush(json->out);
}

void weft_json_text(weft_json *json, const char *name, const char *value)
{
    write_name(json, name);
    write_text(json->out, value ? value : "");
}

void weft_json_number(weft_json *json, const char *name, double value)
{
    write_name(json, name);
    write_number(json->out, value);
}

void weft_json_count(weft_json *json, const char *name, uint64_t value)
{
    write_name(json, name);
    fprintf(json->out, "%" PRIu64, value);
}

void weft_json_bool(weft_json *json, const char *name, bool value)
{
    write_name(json, name);
    fputs(value ? "true" : "false", json->out);
}

void weft_json_hash(weft_json *json, const char *name, uint64_t value)
{
    write_name(json, name);
    fprintf(json->out, "\"0x%016" PRIx64 "\"", value);
}

void weft_json_numbers(weft_json *json, const char *name, const double *values, uint32_t count)
{
    write_name(json, name);
    fputc('[', json->out);
    for (uint32_t i = 0; i < count; i++) {
        if (i) fputc(',', json->out);
        write_number(json->out, values[i]);
    }
    fputc(']', json->out);
}

void weft_json_open(weft_json *json, const char *name)
{
    write_name(json, name);
    fputc('{', json->out);
    json->depth++;
    json->has_member = false;
}

void weft_json_close(weft_json *json)
{
    fputc('}', json->out);
    json->depth--;
    json->has_member = true;
}

void weft_json_clean(char *to, size_t capacity, const char *text, size_t bytes)
{
    size_t length = 0;
    for (size_t i = 0; i < bytes;) {
        const unsigned char *c = (const unsigned char *)text + i;
        const size_t step = weft__utf8_sequence(c, bytes - i), taken = step == 0 ? 1 : step;
        if (length + taken >= capacity) break;
        memcpy(to + length, step == 0 ? "?" : *c < ' ' || *c == 0x7f ? " " : text + i, taken);
        length += taken;
        i += taken;
    }
    to[length] = '\0';
}
