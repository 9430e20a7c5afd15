/* SPDX-License-Identifier: MIT */
/* request.h: what a page asks: one JSON object with a member "do" and some others. Members that
 * stand twice, or that nothing asks for, are not read. The text is borrowed; nothing is allocated.
 * Untrusted input. */
#ifndef WEFT_INSPECT_REQUEST_H
#define WEFT_INSPECT_REQUEST_H

#include "json_pull.h"

enum { WEFT__REQUEST_MEMBERS = 16, WEFT__REQUEST_WORD = 256 };

/* One member: its name, and its value as it stands in the text. */
typedef struct weft__member {
    weft__json_token name;
    weft__json_kind kind; /* of its first token */
    const char *at, *end; /* of the value; of a string without the quotes */
    weft__json_token value;
} weft__member;

/* Owner: the caller, on its stack. */
typedef struct weft__request {
    weft__member members[WEFT__REQUEST_MEMBERS];
    uint32_t count;
} weft__request;

/* False: no JSON, or no object of up to 16 members; *problem says why. */
bool weft__request_read(weft__request *request, const char *text, size_t count,
                        const char **problem);
/* The string of a member in `out`, "" where there is none; false: it does not fit, or it is no
 * string. */
bool weft__request_text(const weft__request *request, const char *name, char *out, size_t capacity);
/* A whole number from 0 to `most`; `otherwise` where there is none. */
uint64_t weft__request_count(const weft__request *request, const char *name, uint64_t otherwise,
                             uint64_t most);
double weft__request_number(const weft__request *request, const char *name, double otherwise);
bool weft__request_is(const weft__request *request, const char *name);
/* The text of a value, quotes of a string included; NULL: there is none. */
const char *weft__request_raw(const weft__request *request, const char *name, size_t *count);
bool weft__request_has(const weft__request *request, const char *name);
/* "12:3"; false: there is none, or it is no handle. */
bool weft__request_entity(const weft__request *request, const char *name, weft_entity *out);

#endif
