/* SPDX-License-Identifier: MIT */
/* out.c: the text that grows, and its JSON. Strings are escaped by weft__json_piece, which makes
 * valid JSON of any bytes: names of entities come from anywhere. */
#include "out.h"

#include "utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void weft__wire_free(weft__wire *out)
{
    free(out->bytes);
    *out = (weft__wire){0};
}

void weft__wire_clear(weft__wire *out)
{
    out->count = 0;
    out->has_failed = out->needs_comma = false;
    if (out->bytes != NULL) out->bytes[0] = '\0';
}

char *weft__wire_room(weft__wire *out, size_t bytes)
{
    if (out->has_failed) return NULL;
    if (bytes < out->capacity - out->count && out->bytes != NULL) return out->bytes + out->count;
    size_t wanted = 2 * (out->count + bytes) + 256;
    char *grown = realloc(out->bytes, wanted);
    out->has_failed = grown == NULL;
    if (grown == NULL) return NULL;
    out->bytes = grown;
    out->capacity = wanted;
    out->bytes[out->count] = '\0';
    return grown + out->count;
}

void weft__wire_raw(weft__wire *out, const char *bytes, size_t count)
{
    char *room = weft__wire_room(out, count);
    if (room == NULL) return;
    memcpy(room, bytes, count);
    room[count] = '\0';
    out->count += count;
}

void weft__wire_format(weft__wire *out, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (length < 0) return;
    weft__wire_raw(out, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* ---- JSON ---- */

static void add_string(weft__wire *out, const char *text)
{
    char piece[WEFT__JSON_PIECE_BYTES];
    weft__wire_raw(out, "\"", 1);
    while (*text != '\0') {
        const char *plain = text;
        while ((unsigned char)*plain >= 0x20 && (unsigned char)*plain < 0x7f && *plain != '"' &&
               *plain != '\\')
            plain++;
        if (plain != text) weft__wire_raw(out, text, (size_t)(plain - text));
        text = plain;
        if (*text == '\0') break;
        text = weft__json_piece(text, piece);
        weft__wire_raw(out, piece, strlen(piece));
    }
    weft__wire_raw(out, "\"", 1);
}

static void add_name(weft__wire *out, const char *name)
{
    if (out->needs_comma) weft__wire_raw(out, ",", 1);
    out->needs_comma = true;
    if (name == NULL) return;
    add_string(out, name);
    weft__wire_raw(out, ":", 1);
}

void weft__wire_open(weft__wire *out, const char *name, char bracket)
{
    add_name(out, name);
    weft__wire_raw(out, &bracket, 1);
    out->needs_comma = false;
}

void weft__wire_close(weft__wire *out, char bracket)
{
    weft__wire_raw(out, &bracket, 1);
    out->needs_comma = true;
}

void weft__wire_text(weft__wire *out, const char *name, const char *value)
{
    add_name(out, name);
    add_string(out, value == NULL ? "" : value);
}

void weft__wire_digits(weft__wire *out, uint64_t value)
{
    char text[20];
    size_t at = sizeof text;
    do text[--at] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    weft__wire_raw(out, text + at, sizeof text - at);
}

void weft__wire_count(weft__wire *out, const char *name, uint64_t value)
{
    add_name(out, name);
    weft__wire_digits(out, value);
}

void weft__wire_number(weft__wire *out, const char *name, double value)
{
    add_name(out, name);
    if (isfinite(value))
        weft__wire_format(out, "%.6g", value);
    else
        weft__wire_raw(out, "null", 4);
}

void weft__wire_bool(weft__wire *out, const char *name, bool value)
{
    add_name(out, name);
    weft__wire_format(out, "%s", value ? "true" : "false");
}

void weft__wire_json(weft__wire *out, const char *name, const char *json)
{
    add_name(out, name);
    weft__wire_raw(out, json[0] == '\0' ? "null" : json, json[0] == '\0' ? 4 : strlen(json));
}
