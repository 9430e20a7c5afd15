/* SPDX-License-Identifier: MIT */
/* test_http_guard.c: who may ask the inspector, header by header, and how often. */
#include "http_guard.h"

#include "plain.h"

#include <string.h>

static const char token[] = "0123456789abcdef0123456789abcdef";

static uint32_t ask(weft__asked asked)
{
    weft__door door;
    if (asked.method == NULL) asked.method = "POST";
    if (asked.path == NULL) asked.path = "/api";
    if (asked.host == NULL) asked.host = "127.0.0.1:27760";
    if (asked.token == NULL) asked.token = token;
    if (asked.type == NULL) asked.type = "application/json";
    if (asked.hosts == 0) asked.hosts = 1;
    return weft__guard_check(&asked, 27760, token, strcmp(asked.path, "/") == 0, &door);
}

PLAIN_TEST(a_page_of_this_machine_with_the_token_may_ask)
{
    CHECK_U64(ask((weft__asked){0}), 0);
    CHECK_U64(ask((weft__asked){.origin = "http://127.0.0.1:27760", .site = "same-origin"}), 0);
    CHECK_U64(ask((weft__asked){.host = "localhost:27760", .site = "none"}), 0);
    CHECK_U64(ask((weft__asked){.host = "[::1]:27760"}), 0);
    CHECK_U64(ask((weft__asked){.type = "application/json; charset=utf-8"}), 0);
    CHECK_U64(ask((weft__asked){.method = "GET", .path = "/", .token = "none"}), 0);
}

static bool is_header(const char *name, const char *value, size_t value_bytes)
{
    return weft__guard_is_header(name, strlen(name), value, value_bytes);
}

PLAIN_TEST(headers_are_tokens_and_text)
{
    CHECK(is_header("X-Weft-Token", "a\tb \xc3\xa9", 6));
    CHECK(is_header("!#$%&'*+-.^_`|~09azAZ", "", 0));
    CHECK(!is_header("", "a", 1) && !is_header("X ", "a", 1) && !is_header("X\xe9", "a", 1));
    CHECK(!is_header("X", "a\0b", 3) && !is_header("X", "a\rb", 3) && !is_header("X", "\x7f", 1));
    CHECK_U64(ask((weft__asked){.is_garbled = true}), 400);
}

PLAIN_TEST(the_port_of_the_scheme_may_be_left_out)
{
    weft__door door;
    weft__asked asked = {.method = "GET",
                         .path = "/",
                         .host = "localhost",
                         .hosts = 1,
                         .origin = "http://127.0.0.1",
                         .token = token};
    CHECK_U64(weft__guard_check(&asked, 80, token, true, &door), 0);
    CHECK_U64(weft__guard_check(&asked, 8080, token, true, &door), 403);
    asked.host = "localhost.evil.example";
    CHECK_U64(weft__guard_check(&asked, 80, token, true, &door), 403);
}

PLAIN_TEST(names_and_origins_of_others_are_refused)
{
    CHECK_U64(ask((weft__asked){.host = "evil.example:27760"}), 403);
    CHECK_U64(ask((weft__asked){.host = "127.0.0.1:27761"}), 403);
    CHECK_U64(ask((weft__asked){.host = "127.0.0.1"}), 403);
    CHECK_U64(ask((weft__asked){.origin = "null"}), 403);
    CHECK_U64(ask((weft__asked){.origin = "https://127.0.0.1:27760"}), 403);
    CHECK_U64(ask((weft__asked){.origin = "http://127.0.0.1:27760.evil.example"}), 403);
    CHECK_U64(ask((weft__asked){.site = "cross-site"}), 403);
    CHECK_U64(ask((weft__asked){.site = "same-site"}), 403);
    CHECK_U64(ask((weft__asked){.site = "same-site", .method = "GET", .path = "/main.js"}), 403);
    CHECK_U64(ask((weft__asked){.site = "same-site", .method = "GET", .path = "/"}), 0);
    CHECK_U64(ask((weft__asked){.site = "cross-site", .method = "GET", .path = "/"}), 403);
}

PLAIN_TEST(tokens_methods_types_and_lengths_are_checked)
{
    CHECK_U64(ask((weft__asked){.token = ""}), 401);
    CHECK_U64(ask((weft__asked){.token = "0123456789abcdef0123456789abcde"}), 401);
    CHECK_U64(ask((weft__asked){.token = "0123456789abcdef0123456789abcdeff"}), 401);
    CHECK_U64(ask((weft__asked){.token = "1123456789abcdef0123456789abcdef"}), 401);
    CHECK_U64(ask((weft__asked){.type = "text/plain"}), 415);
    CHECK_U64(ask((weft__asked){.type = "application/jsonx"}), 415);
    CHECK_U64(ask((weft__asked){.method = "PUT"}), 405);
    CHECK_U64(ask((weft__asked){.method = "GET"}), 405);
    CHECK_U64(ask((weft__asked){.method = "GET", .path = "/none"}), 404);
    CHECK_U64(ask((weft__asked){.method = "POST", .path = "/"}), 405);
    CHECK_U64(ask((weft__asked){.hosts = 2}), 400);
    CHECK_U64(ask((weft__asked){.lengths = 2}), 400);
    CHECK_U64(ask((weft__asked){.lengths = 1, .is_chunked = true}), 400);
}

PLAIN_TEST(a_rate_allows_a_burst_and_then_so_many_a_second)
{
    weft__rate rate = {0};
    uint64_t now = UINT64_C(1000000000), taken = 0;
    for (int i = 0; i < 50; i++) taken += weft__rate_take(&rate, now, 10, 20);
    CHECK_U64(taken, 20);
    now += 500000000; /* half a second: five more */
    for (taken = 0; weft__rate_take(&rate, now, 10, 20);) taken++;
    CHECK_U64(taken, 5);
    now += UINT64_C(3600000000000);
    for (taken = 0; weft__rate_take(&rate, now, 10, 20);) taken++;
    CHECK_U64(taken, 20);
}
