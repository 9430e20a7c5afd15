/* SPDX-License-Identifier: MIT */
/* test_refused_inspect.c: refused memory in the inspector: see refused.h. A page that is refused an
 * answer is told so (503, or the end of its connection), and is answered when it asks again. */
#include "libc_fault.h"
#include "page_socket.h"
#include "plain.h"
#include "refused.h"

#include "hash.h"

#include <weft/entity.h>
#include <weft/inspect.h>
#include <weft/slice.h>
#include <weft/system.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ENTITIES = 40, REPLY_BYTES = 1 << 18, PATIENCE_MS = 8000 };

typedef struct Spin {
    float angle, speed;
} Spin;
typedef struct Friend {
    weft_entity who;
} Friend;

static const weft_field spin_fields[] = {WEFT_FIELD_WITH(Spin, angle, .unit = "rad"),
                                         WEFT_FIELD_WITH(Spin, speed, .unit = "rad/s")};
static const weft_type spin_type = WEFT_TYPE(Spin, spin_fields);
static const weft_field friend_fields[] = {WEFT_FIELD(Friend, who)};
static const weft_type friend_type = WEFT_TYPE(Friend, friend_fields);
static const char token[] = "00112233445566778899aabbccddeeff";

/* A world with what windows show. Owner: one run. */
typedef struct bed {
    weft_world *world, *second;
    weft_inspect *inspect;
    weft_component spin;
    weft_entity entities[ENTITIES];
    uint64_t reply;   /* of the last page that was answered: a hash */
    int page;         /* that watches; -1: none */
    bool is_changing; /* replies have times, or bytes of this process */
} bed;

/* ---- the bed ---- */

static void turn(weft_slice *slice, void *user)
{
    Spin *s = WEFT_WRITE_COLUMN(slice, 0, Spin);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) s[i].angle += s[i].speed;
}

static void *world_open(const refused_place *place)
{
    static bed made;
    bed *b = &made;
    memset(b, 0, sizeof *b);
    b->page = -1;
    const weft_world_desc desc = {.pool = place->pool,
                                  .allocator = place->heap,
                                  .os = place->os,
                                  .without_huge_pages = true,
                                  .entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    CHECK_OK(weft_world_create(&desc, &b->world));
    b->spin =
        weft_component_create(b->world, &(weft_component_desc){.name = "Spin", .type = &spin_type});
    const weft_component friend = weft_component_create(
        b->world, &(weft_component_desc){.name = "Friend", .type = &friend_type});
    const weft_component list = weft_component_create(
        b->world,
        &(weft_component_desc){.name = "Spins", .type = &spin_type, .flags = WEFT_BUFFER});
    const weft_archetype with = WEFT_ARCHETYPE(b->world, b->spin, friend, list);
    for (uint32_t i = 0; i < ENTITIES; i++) {
        const Friend value = {b->entities[i / 2]};
        char name[16];
        snprintf(name, sizeof name, "thing %u", (unsigned)i);
        b->entities[i] = weft_entity_create(b->world, with);
        CHECK_OK(weft_entity_set(b->world, b->entities[i], friend, &value, sizeof value));
        CHECK_OK(weft_entity_set_name(b->world, b->entities[i], name));
    }
    CHECK(weft_system_create(b->world,
                             &(weft_system_desc){.name = "turn",
                                                 .run = turn,
                                                 .over.rows.terms = {{b->spin, WEFT_WRITE}}})
              .id != 0);
    CHECK(weft_system_create(b->world,
                             &(weft_system_desc){.name = "rest",
                                                 .run = turn,
                                                 .over.rows.terms = {{b->spin, WEFT_WRITE}}})
              .id != 0);
    CHECK_OK(weft_world_step(b->world, 0.01f));
    return b;
}

static weft_result do_start(void *open)
{
    bed *b = open;
    const weft_inspect_desc desc = {
        .port = WEFT_INSPECT_ANY_PORT, .is_writable = true, .is_pumped = true, .token = token};
    return weft_inspect_start(b->world, &desc, &b->inspect);
}

static void *inspected_open(const refused_place *place)
{
    bed *b = world_open(place);
    CHECK_OK(do_start(b));
    return b;
}

static void bed_close(void *open)
{
    bed *b = open;
    if (b->page >= 0) close(b->page);
    weft_inspect_stop(b->inspect);
    if (b->second != NULL) CHECK_OK(weft_world_destroy(b->second));
    CHECK_OK(weft_world_destroy(b->world));
}

static void bed_look(void *open, refused_look *out)
{
    const bed *b = open;
    refused_see_world(out, b->world);
    refused_see(out, "inspector", b->inspect != NULL);
    refused_see(out, "reply", b->is_changing ? b->reply != 0 : b->reply);
}

static weft_world *bed_world(void *open)
{
    const bed *b = open;
    return b->world;
}

/* ---- a page ---- */

static int request(const bed *b, const char *what, const char *body)
{
    char text[2048];
    const char *url = weft_inspect_url(b->inspect), *host = url + strlen("http://");
    const int s = connect_to(url);
    const int length = snprintf(text, sizeof text,
                                "%s HTTP/1.1\r\nHost: %.*s\r\nX-Weft-Token: %s\r\n%s"
                                "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                                what, (int)strcspn(host, "/"), host, token,
                                *body != '\0' ? "Connection: close\r\n" : "", strlen(body), body);
    CHECK(send(s, text, (size_t)length, MSG_NOSIGNAL) == length);
    return s;
}

/* Pumps until the text is there, or the connection has ended. What came, for the next call, too. */
static char *receive(const bed *b, int s, const char *until)
{
    static char text[REPLY_BYTES];
    size_t count = 0;
    text[0] = '\0';
    for (int waited = 0; until == NULL || strstr(text, until) == NULL; waited++) {
        CHECK(waited < PATIENCE_MS);
        CHECK_OK(weft_inspect_pump(b->inspect, 0));
        struct pollfd fd = {s, POLLIN, 0};
        if (poll(&fd, 1, 1) == 0) continue;
        const ssize_t got = recv(s, text + count, sizeof text - 1 - count, 0);
        if (got <= 0) break;
        count += (size_t)got;
        text[count] = '\0';
    }
    return text;
}

/* OUT_OF_MEMORY: the page is not answered, or told so. */
static weft_result ask(bed *b, const char *body)
{
    const int s = request(b, "POST /api", body);
    const char *text = receive(b, s, NULL);
    close(s);
    const char *content = strstr(text, "\r\n\r\n");
    if (content == NULL || strncmp(text, "HTTP/1.1 503", 12) == 0) return WEFT_OUT_OF_MEMORY;
    if (strstr(content, "no memory") != NULL || strstr(content, "out of memory") != NULL)
        return WEFT_OUT_OF_MEMORY;
    if (strncmp(text, "HTTP/1.1 200", 12) != 0) CHECK_TEXT(content, body);
    b->reply = hash_bytes(1, content, strlen(content));
    return WEFT_OK;
}

static const struct window {
    const char *body;
    bool is_changing, is_action;
} windows[] = {
    {"{\"do\":\"types\"}", false, false},
    {"{\"do\":\"archetypes\"}", false, false},
    {"{\"do\":\"archetype\",\"archetype\":", false, false}, /* its id follows */
    {"{\"do\":\"entities\",\"query\":\"Spin\",\"count\":30}", false, false},
    {"{\"do\":\"search\",\"part\":\"thing\"}", false, false},
    {"{\"do\":\"relations\"}", false, false},
    {"{\"do\":\"entity\",\"entity\":\"5:1\"}", false, false},
    {"{\"do\":\"schedule\"}", false, false},
    {"{\"do\":\"explain\",\"a\":\"turn\",\"b\":\"rest\"}", false, false},
    {"{\"do\":\"queries\"}", false, false},
    {"{\"do\":\"scenes\"}", false, false},
    {"{\"do\":\"shards\"}", false, false},
    {"{\"do\":\"status\"}", true, false},
    {"{\"do\":\"systems\"}", true, false},
    {"{\"do\":\"timeline\"}", true, false},
    {"{\"do\":\"memory\"}", true, false},
    {"{\"do\":\"jobs\"}", true, false},
    {"{\"do\":\"export\"}", true, false},
    {"{\"do\":\"panels\"}", false, false},
    {"{\"do\":\"freeze\",\"query\":\"Spin\",\"sort\":\"Spin.speed\",\"where\":\"Spin.speed > 3\"}",
     true, true},
    {"{\"do\":\"freeze\",\"part\":\"thing\",\"sort\":\"name\"}", true, true},
    {"{\"do\":\"set\",\"entity\":\"5:1\",\"component\":\"Spin\",\"path\":\"speed\",\"value\":3}",
     false, true},
    {"{\"do\":\"switch\",\"system\":\"turn\",\"enabled\":false}", true, true},
};

static weft_result do_pump(void *open)
{
    bed *b = open;
    const struct window *window = &windows[refused_how()];
    b->is_changing = window->is_changing;
    char body[128];
    const uint32_t id = weft_entity_archetype(b->world, b->entities[0]).id;
    const bool is_open = window->body[strlen(window->body) - 1] == ':';
    snprintf(body, sizeof body, "%s", window->body);
    if (is_open) snprintf(body + strlen(body), 16, "%u}", (unsigned)id);
    return ask(b, body);
}

/* A page opens a stream, watches two windows, and is sent both. */
static weft_result do_watch(void *open)
{
    bed *b = open;
    if (b->page >= 0) close(b->page);
    b->page = request(b, "GET /events", "");
    const char *text = receive(b, b->page, "}\n\n"), *number = strstr(text, "\"stream\":");
    if (number == NULL) return WEFT_OUT_OF_MEMORY;
    char body[256];
    snprintf(body, sizeof body,
             "{\"do\":\"watch\",\"stream\":%u,\"what\":[{\"do\":\"types\"},{\"do\":\"queries\"}]}",
             (unsigned)strtoul(number + 9, NULL, 10));
    b->is_changing = true;
    const weft_result result = ask(b, body);
    if (result != WEFT_OK) return result;
    text = receive(b, b->page, "event: 0.1");
    if (strstr(text, "event: 0.0") == NULL) text = receive(b, b->page, "event: 0.0");
    CHECK(strstr(text, "\"error\"") == NULL);
    return text[0] != '\0' ? WEFT_OK : WEFT_OUT_OF_MEMORY;
}

static weft_result do_stop(void *open)
{
    bed *b = open;
    weft_inspect_stop(b->inspect);
    b->inspect = NULL;
    return WEFT_OK;
}

static void *measured_open(const refused_place *place)
{
    bed *b = inspected_open(place);
    CHECK_OK(ask(b, "{\"do\":\"systems\"}"));
    CHECK_OK(ask(b, "{\"do\":\"timeline\"}"));
    return b;
}

/* A world without its inspector, where that was refused. */
static weft_result do_all(void *open)
{
    bed *b = open;
    CHECK_OK(weft_inspect_all("0"));
    const weft_world_desc desc = {.workers = 1, .without_huge_pages = true};
    return weft_world_create(&desc, &b->second);
}

/* ---- the tables ---- */

static void sweep(const char *name, void *(*open)(const refused_place *place),
                  const refused_function *list, size_t count)
{
    const refused_bed swept = {.close = bed_close,
                               .look = bed_look,
                               .world = bed_world,
                               .libc = test_libc_faults(),
                               .is_small = true};
    refused_sweep_of(&swept, name, open, list, count);
}

static void press(weft_world *world, void *user)
{
    (void)world, (void)user;
}

static weft_result do_panel(void *open)
{
    const bed *b = open;
    return weft_inspect_panel(b->inspect,
                              &(weft_inspect_panel_desc){.name = "Fuel", .press = press});
}

PLAIN_TEST(refused_inspectors_are_not_there)
{
    static const refused_function on_worlds[] = {
        {"weft_inspect_start", do_start, 0, 0},
    };
    static const refused_function on_inspected[] = {
        {"weft_inspect_panel", do_panel, REFUSED_SILENT, 0}};
    static const refused_function on_measured[] = {
        {"weft_inspect_stop", do_stop, REFUSED_SILENT | REFUSED_LESS, 0}};
    sweep("a world", world_open, REFUSED_LIST(on_worlds));
    sweep("an inspector", inspected_open, REFUSED_LIST(on_inspected));
    sweep("an inspected world", measured_open, REFUSED_LIST(on_measured));
}

PLAIN_TEST(refused_answers_are_given_when_they_are_asked_for_again)
{
    enum { COUNT = sizeof windows / sizeof windows[0] };
    static refused_function on_pages[COUNT];
    static const refused_function on_streams[] = {
        {"weft_inspect_pump watched", do_watch, REFUSED_SILENT | REFUSED_LATER, 0},
    };
    static char names[COUNT][40];
    for (uint32_t i = 0; i < COUNT; i++) {
        const char *word = windows[i].body + strlen("{\"do\":\"");
        snprintf(names[i], sizeof names[i], "weft_inspect_pump %.*s", (int)strcspn(word, "\""),
                 word);
        on_pages[i] = (refused_function){
            names[i], do_pump, REFUSED_SILENT | (windows[i].is_action ? REFUSED_LATER : 0), i};
    }
    sweep("a page", inspected_open, REFUSED_LIST(on_pages));
    sweep("a page that watches", inspected_open, REFUSED_LIST(on_streams));
}

/* The last one: every world from now on is inspected. */
PLAIN_TEST(refused_inspectors_of_the_environment_leave_their_world)
{
    static const refused_function on_all[] = {
        {"weft_inspect_all", do_all, REFUSED_SILENT | REFUSED_LESS, 0}};
    sweep("a process", world_open, REFUSED_LIST(on_all));
}
