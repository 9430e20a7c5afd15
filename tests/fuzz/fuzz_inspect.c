/* SPDX-License-Identifier: MIT */
/* fuzz_inspect.c: fuzz target of what a page sends to the inspector: the first byte chooses
 * between a request to a writable world and the headers of one. Whatever comes, the answer is
 * one JSON object with a status, the world stays valid, and no head passes the guard without the
 * token. */
#include "check.h"
#include "fuzz.h"

#include "answer.h"
#include "http_guard.h"

#include <stdlib.h>
#include <string.h>
#include <weft/entity.h>
#include <weft/relation.h>
#include <weft/slice.h>
#include <weft/system.h>

typedef struct Orbit {
    double mean_motion;
    float drag[3];
    uint8_t phase;
    char label[11];
    weft_entity target;
} Orbit;

static const weft_constant phases[] = {{"coast", 0}, {"burn", 1}};
static const weft_type phase_type = WEFT_TYPE_CONSTANTS(uint8_t, phases);
static const weft_field fields[] = {
    WEFT_FIELD_WITH(Orbit, mean_motion, .unit = "rad/min", .least = 0, .most = 1),
    WEFT_FIELD(Orbit, drag), WEFT_FIELD_OF(Orbit, phase, WEFT_FIELD_ENUM, &phase_type),
    WEFT_FIELD(Orbit, label), WEFT_FIELD(Orbit, target)};
static const weft_type orbit_type = WEFT_TYPE(Orbit, fields);

static weft__session session;
static weft__mailbox mailbox;
static weft__wire reply;
static uint32_t tried;

static void wake(void *user, void *connection)
{
    (void)user, (void)connection;
}

static void nothing(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
}

static void begin(void)
{
    weft_entity entities[6];
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    weft_component orbit =
        weft_component_create(world, &(weft_component_desc){.name = "Orbit", .type = &orbit_type});
    weft_component parent = weft_component_parent(world);
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, orbit), 6, entities));
    CHECK_OK(weft_entity_set_name(world, entities[0], "sun"));
    CHECK_OK(weft_relation_set(world, entities[1], parent, entities[0]));
    CHECK(weft_system_create(world, &(weft_system_desc){.name = "move",
                                                        .run = nothing,
                                                        .over.rows.terms = {{orbit, WEFT_WRITE}}})
              .id != 0);
    CHECK_OK(weft_world_step(world, 0));
    CHECK(weft__mailbox_init(&mailbox, wake, NULL));
    CHECK(weft__stream_open(&mailbox, &mailbox, NULL, 0) != 0);
    session = (weft__session){.world = world, .is_writable = true, .mailbox = &mailbox};
}

static void try_request(const uint8_t *data, size_t size)
{
    weft__json json;
    uint32_t status = weft__answer(&session, (const char *)data, size, &reply);
    CHECK(status >= 200 && status < 600 && !reply.has_failed);
    weft__json_open(&json, reply.bytes, reply.count);
    weft__json_token token = weft__json_next(&json);
    CHECK(token.kind == WEFT__JSON_OBJECT && weft__json_skip(&json, &token));
    CHECK(weft__json_next(&json).kind == WEFT__JSON_END);
    if (++tried % 4096 == 0) CHECK_OK(weft_world_validate(session.world));
}

/* Lines: method, path, host, origin, site, token, type; "-": it has none. */
static void try_head(const uint8_t *data, size_t size)
{
    static const char token[] = "0123456789abcdef0123456789abcdef";
    char *text = malloc(size + 1), *lines[7] = {text}, *at = text;
    CHECK(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    for (int i = 0; i < 7; i++) {
        lines[i] = at;
        at += strcspn(at, "\n");
        if (*at != '\0') *at++ = '\0';
        if (i >= 2 && strcmp(lines[i], "-") == 0) lines[i] = NULL;
    }
    const weft__asked asked = {lines[0], lines[1], lines[2],   lines[3],    lines[4],
                               lines[5], lines[6], .hosts = 1, .lengths = 1};
    weft__door door;
    uint32_t status = weft__guard_check(&asked, 27760, token, false, &door);
    CHECK(status < 600);
    if (status == 0) CHECK(lines[5] != NULL && strcmp(lines[5], token) == 0);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (session.world == NULL) begin();
    if (size == 0) return 0;
    if (data[0] == 'h')
        try_head(data + 1, size - 1);
    else
        try_request(data + 1, size - 1);
    return 0;
}

size_t fuzz_seed(uint32_t index, uint8_t *out, size_t capacity)
{
    static const char *const seeds[] = {
        "r{\"do\":\"entities\",\"query\":\"Orbit, !Prefab, ?Parent\",\"from\":0,\"count\":50}",
        "r{\"do\":\"entities\",\"query\":\"Orbit | Parent, +Orbit, -Inactive\"}",
        "r{\"do\":\"entity\",\"entity\":\"0:1\"}",
        "r{\"do\":\"entity\",\"name\":\"sun\"}",
        "r{\"do\":\"set\",\"entity\":\"0:1\",\"component\":\"Orbit\",\"path\":\"mean_motion\","
        "\"value\":\"0.5 rad/min\"}",
        "r{\"do\":\"set\",\"entity\":\"1:1\",\"component\":\"Orbit\",\"path\":\"drag[2]\","
        "\"value\":[1,2,3]}",
        "r{\"do\":\"set\",\"entity\":\"2:1\",\"component\":\"Orbit\",\"path\":\"\",\"value\":"
        "{\"phase\":\"burn\",\"label\":\"x\"}}",
        "r{\"do\":\"tree\",\"relation\":\"Parent\",\"entity\":\"0:1\",\"from\":0}",
        "r{\"do\":\"search\",\"part\":\"su\"}",
        "r{\"do\":\"archetypes\",\"sort\":\"wasted\",\"from\":1,\"count\":3}",
        "r{\"do\":\"archetype\",\"archetype\":1}",
        "r{\"do\":\"systems\"}",
        "r{\"do\":\"schedule\"}",
        "r{\"do\":\"explain\",\"a\":\"move\",\"b\":\"move\"}",
        "r{\"do\":\"switch\",\"system\":\"move\",\"enabled\":true}",
        "r{\"do\":\"queries\"}",
        "r{\"do\":\"timeline\",\"from\":1,\"to\":1e9,\"pixels\":100}",
        "r{\"do\":\"export\"}",
        "r{\"do\":\"memory\"}",
        "r{\"do\":\"jobs\"}",
        "r{\"do\":\"scenes\"}",
        "r{\"do\":\"types\"}",
        "r{\"do\":\"speed\",\"speed\":60}",
        "r{\"do\":\"pause\",\"paused\":true}",
        "r{\"do\":\"step\",\"count\":2}",
        "r{\"do\":\"watch\",\"stream\":1,\"what\":[{\"do\":\"status\"},{\"do\":\"jobs\"}]}",
        "hPOST\n/api\n127.0.0.1:27760\n-\nsame-origin\n0123456789abcdef0123456789abcdef\n"
        "application/json",
        "hGET\n/events\nlocalhost:27760\nhttp://localhost:27760\n-\n"
        "0123456789abcdef0123456789abcdef\n-"};
    if (index >= sizeof seeds / sizeof seeds[0]) return 0;
    size_t length = strlen(seeds[index]);
    if (length > capacity) return 0;
    memcpy(out, seeds[index], length);
    return length;
}
