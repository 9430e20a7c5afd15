/* SPDX-License-Identifier: MIT */
/* http_guard.c: the decisions of http_guard.h. The cheapest and most telling come first, so that
 * a request from elsewhere never reaches the token. */
#include "http_guard.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The names by which this machine is called: no other can be given by a page's address bar. Clients
 * leave the port of the scheme out. */
static bool is_own_host(const char *host, uint32_t port)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    char own[32];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(own, sizeof own, "%s:%u", names[i], port);
        if (strcasecmp(host, own) == 0) return true;
        if (port == 80 && strcasecmp(host, names[i]) == 0) return true;
    }
    return false;
}

static bool is_own_origin(const char *origin, uint32_t port)
{
    static const char scheme[] = "http://";
    return strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
           is_own_host(origin + sizeof scheme - 1, port);
}

/* "none": typed into the address bar. "same-site": another port of this machine: a page of another
 * inspector may lead here. It gets what is the same for all, and its modules ask for themselves. */
static bool is_own_site(const char *site, const char *path)
{
    return strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0 ||
           (strcmp(site, "same-site") == 0 && strcmp(path, "/") == 0);
}

static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    return strncasecmp(type, json, sizeof json - 1) == 0 &&
           (type[sizeof json - 1] == '\0' || type[sizeof json - 1] == ';');
}

static uint32_t find_door(const weft__asked *asked, bool is_file, weft__door *door)
{
    bool is_get = strcmp(asked->method, "GET") == 0, is_post = strcmp(asked->method, "POST") == 0;
    *door = WEFT__DOOR_PAGE;
    if (!is_get && !is_post) return 405;
    if (strcmp(asked->path, "/api") == 0) {
        *door = WEFT__DOOR_API;
        return is_post ? 0 : 405;
    }
    if (strcmp(asked->path, "/events") == 0) {
        *door = WEFT__DOOR_EVENTS;
        return is_get ? 0 : 405;
    }
    if (!is_file) return 404;
    return is_get ? 0 : 405;
}

bool weft__guard_is_header(const char *name, size_t name_bytes, const char *value,
                           size_t value_bytes)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < name_bytes; i++) {
        char c = name[i], letter = (char)(c | 0x20);
        bool is_token = (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') ||
                        (c != '\0' && strchr(marks, c) != NULL);
        if (!is_token) return false;
    }
    for (size_t i = 0; i < value_bytes; i++) {
        unsigned char c = (unsigned char)value[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f) return false;
    }
    return name_bytes != 0;
}

uint32_t weft__guard_check(const weft__asked *asked, uint32_t port, const char *token, bool is_file,
                           weft__door *door)
{
    if (asked->is_garbled) return 400;
    if (asked->hosts != 1 || asked->host == NULL) return 400;
    if (asked->lengths > 1 || (asked->lengths != 0 && asked->is_chunked)) return 400;
    if (!is_own_host(asked->host, port)) return 403;
    if (asked->origin != NULL && !is_own_origin(asked->origin, port)) return 403;
    if (asked->site != NULL && !is_own_site(asked->site, asked->path)) return 403;
    uint32_t status = find_door(asked, is_file, door);
    if (status != 0) return status;
    if (*door == WEFT__DOOR_PAGE) return 0;
    if (asked->token == NULL || !weft__guard_token(asked->token, token)) return 401;
    if (*door == WEFT__DOOR_API && (asked->type == NULL || !is_json(asked->type))) return 415;
    return 0;
}

bool weft__guard_token(const char *given, const char *token)
{
    unsigned difference = strnlen(given, WEFT__TOKEN_BYTES) != WEFT__TOKEN_BYTES - 1;
    for (size_t i = 0, at = 0; i < WEFT__TOKEN_BYTES - 1; i++) {
        difference |= (unsigned)(unsigned char)(given[at] ^ token[i]);
        at += given[at] != '\0'; /* stays on the NUL of one that is too short */
    }
    return difference == 0;
}

bool weft__rate_take(weft__rate *rate, uint64_t now_ns, uint32_t per_second, uint32_t most)
{
    const uint64_t cost = UINT64_C(1000000000) / per_second, full = cost * most;
    uint64_t passed = rate->last_ns == 0 ? full : now_ns - rate->last_ns;
    rate->left_ns = passed >= full - rate->left_ns ? full : rate->left_ns + passed;
    rate->last_ns = now_ns;
    if (rate->left_ns < cost) return false;
    rate->left_ns -= cost;
    return true;
}
