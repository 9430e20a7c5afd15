/* SPDX-License-Identifier: MIT */
/* http_guard.h: who may ask: pure decisions about the headers of a request, before anything else is
 * looked at. Untrusted input; nothing is allocated.
 *
 * What each is for: Host, pages of other names that lead to this address (DNS rebinding); Origin
 * and Sec-Fetch-Site, pages of other sites in the same browser; the token, other users of the
 * machine. */
#ifndef WEFT_INSPECT_HTTP_GUARD_H
#define WEFT_INSPECT_HTTP_GUARD_H

#include <weft/base.h>

enum { WEFT__TOKEN_BYTES = 33 }; /* 128 bits in hexadecimal, and a NUL */

/* What a request says of itself; NULL: it has no such header. Borrowed. */
typedef struct weft__asked {
    const char *method, *path, *host, *origin, *site, *token, *type;
    uint32_t hosts, lengths; /* how often it has Host, Content-Length */
    bool is_chunked;         /* has Transfer-Encoding */
    bool is_garbled;         /* a header that weft__guard_is_header refuses */
} weft__asked;

/* Where it goes. */
typedef enum weft__door {
    WEFT__DOOR_PAGE,   /* a file of the page */
    WEFT__DOOR_API,    /* POST /api */
    WEFT__DOOR_EVENTS, /* GET /events */
} weft__door;

/* The HTTP status of a refusal, or 0 and *door. `is_file`: whether the page has a file of that
 * path. */
uint32_t weft__guard_check(const weft__asked *asked, uint32_t port, const char *token, bool is_file,
                           weft__door *door);
/* Whether a name is a token of RFC 9110, and a value has no control characters but tabs. A parser
 * that takes others may see another request than its neighbour. */
bool weft__guard_is_header(const char *name, size_t name_bytes, const char *value,
                           size_t value_bytes);
/* Whether two tokens are equal; the time does not depend on where they differ. */
bool weft__guard_token(const char *given, const char *token);

/* ---- rates ---- */

/* A bucket of answers: as many as `most` at once, `per_second` after that. Owner: the caller. */
typedef struct weft__rate {
    uint64_t left_ns, last_ns;
} weft__rate;

bool weft__rate_take(weft__rate *rate, uint64_t now_ns, uint32_t per_second, uint32_t most);

#endif
