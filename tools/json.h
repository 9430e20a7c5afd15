/* SPDX-License-Identifier: MIT */
/* json.h: writes one JSON object per line, the form in which every command of weft talks to
 * machines.
 *
 * A writer is a few bytes on the caller's stack; it opens an object, takes members in order and
 * ends the line. Objects nest; arrays hold numbers only. Text is escaped; a number that is not
 * finite becomes null. It does not read JSON.
 */
#ifndef WEFT_TOOLS_JSON_H
#define WEFT_TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Owner: the caller, one thread. Invariant: `depth` objects are open; `has_member` says whether the
 * innermost one needs a comma before its next member. */
typedef struct weft_json {
    FILE *out;
    uint32_t depth;
    bool has_member;
} weft_json;

/* Opens the outermost object on `out`. */
void weft_json_begin(weft_json *json, FILE *out);
/* Closes all open objects and ends the line. */
void weft_json_end(weft_json *json);

void weft_json_text(weft_json *json, const char *name, const char *value);
/* Shortest of up to six significant digits. */
void weft_json_number(weft_json *json, const char *name, double value);
void weft_json_count(weft_json *json, const char *name, uint64_t value);
void weft_json_bool(weft_json *json, const char *name, bool value);
/* 64-bit hashes: text "0x" and 16 digits, because JSON numbers lose bits above 2^53. */
void weft_json_hash(weft_json *json, const char *name, uint64_t value);
void weft_json_numbers(weft_json *json, const char *name, const double *values, uint32_t count);
/* Opens a nested object as member `name`; close it with weft_json_close. */
void weft_json_open(weft_json *json, const char *name);
void weft_json_close(weft_json *json);

/* Copies a text as it may stand in any file, with its NUL, cut between characters where it is
 * longer than `capacity` - 1 bytes: control characters become blanks, bytes that are not UTF-8
 * '?'. */
void weft_json_clean(char *to, size_t capacity, const char *text, size_t bytes);

#endif
