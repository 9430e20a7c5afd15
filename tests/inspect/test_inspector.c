/* SPDX-License-Identifier: MIT */
/* test_inspector.c: an inspector from start to stop, asked over a socket by another thread while
 * the world steps: answers, streams, pause, hashes, the end of the world. */
#include <weft/entity.h>
#include <weft/inspect.h>
#include <weft/observer.h>
#include <weft/relation.h>
#include <weft/slice.h>
#include <weft/system.h>

#include "page_socket.h"
#include "plain.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Spin {
    float angle, speed;
} Spin;

static const char token[] = "00112233445566778899aabbccddeeff";
static weft_world *world;
static weft_inspect *inspect;
static weft_component spin;
static weft_job_pool *lent; /* NULL: the world has one of its own */

static void turn(weft_slice *slice, void *user)
{
    Spin *s = WEFT_WRITE_COLUMN(slice, 0, Spin);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) s[i].angle += s[i].speed * slice->dt;
}

static void begin(bool is_inspected)
{
    static const weft_field fields[] = {WEFT_FIELD_WITH(Spin, angle, .unit = "rad"),
                                        WEFT_FIELD_WITH(Spin, speed, .unit = "rad/s")};
    static const weft_type type = WEFT_TYPE(Spin, fields);
    weft_entity entities[1000];
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 2, .pool = lent}, &world));
    spin = weft_component_create(world, &(weft_component_desc){.name = "Spin", .type = &type});
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, spin), 1000, entities));
    for (uint32_t i = 0; i < 1000; i++) {
        Spin value = {0, (float)i};
        CHECK_OK(weft_entity_set(world, entities[i], spin, &value, sizeof value));
    }
    weft_system_desc desc = {.name = "turn", .run = turn, .over.rows.terms = {{spin, WEFT_WRITE}}};
    CHECK(weft_system_create(world, &desc).id != 0);
    const weft_inspect_desc options = {
        .port = WEFT_INSPECT_ANY_PORT, .is_writable = true, .token = token};
    inspect = NULL;
    if (is_inspected) CHECK_OK(weft_inspect_start(world, &options, &inspect));
}

/* ---- a client */

static void send_head(int s, const char *url, const char *what, const char *body)
{
    char text[2048];
    const char *host = url + strlen("http://");
    int length = snprintf(text, sizeof text,
                          "%s HTTP/1.1\r\nHost: %.*s\r\nX-Weft-Token: %s\r\nConnection: close\r\n"
                          "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                          what, (int)strcspn(host, "/"), host, token, strlen(body), body);
    CHECK(send(s, text, (size_t)length, MSG_NOSIGNAL) == length);
}

/* The whole reply of a request. The caller frees it. */
static char *ask(const char *url, const char *body)
{
    size_t count = 0, capacity = 1 << 16;
    char *text = calloc(1, capacity);
    int s = connect_to(url);
    CHECK(text != NULL);
    send_head(s, url, "POST /api", body);
    for (ssize_t got; (got = recv(s, text + count, capacity - count - 1, 0)) > 0;) {
        count += (size_t)got;
        if (count + 4096 < capacity) continue;
        capacity *= 2;
        text = realloc(text, capacity);
        CHECK(text != NULL);
    }
    text[count] = '\0';
    close(s);
    return text;
}

static void ask_for(const char *url, const char *body, const char *part)
{
    char *reply = ask(url, body);
    if (strstr(reply, part) == NULL) CHECK_TEXT(reply, part);
    free(reply);
}

/* Steps until the client thread has ended. */
static void step_beside(void *(*client)(void *), uint32_t least)
{
    pthread_t thread;
    uint32_t steps = 0;
    char url[128];
    snprintf(url, sizeof url, "%s", weft_inspect_url(inspect));
    CHECK(pthread_create(&thread, NULL, client, url) == 0);
    bool has_ended = false; /* a thread is joined once */
    while (!has_ended || steps < least) {
        CHECK_OK(weft_world_step(world, 0.01f));
        steps++;
        if (!has_ended) has_ended = pthread_tryjoin_np(thread, NULL) == 0;
    }
}

static void *ask_everything(void *url)
{
    static const char *const windows[] = {
        "status", "types",  "archetypes", "systems",   "queries",  "timeline", "memory",
        "scenes", "places", "jobs",       "relations", "schedule", "export"};
    char body[128];
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        snprintf(body, sizeof body, "{\"do\":\"%s\"}", windows[i]);
        ask_for(url, body, "HTTP/1.1 200");
    }
    ask_for(url, "{\"do\":\"entities\",\"query\":\"Spin\",\"count\":3}", "\"total\":1000");
    ask_for(url, "{\"do\":\"entities\",\"query\":\"Sp\"}", "did you mean Spin?");
    ask_for(url, "{\"do\":\"entity\",\"entity\":\"5:1\"}", "\"rad/s\"");
    ask_for(url, "{\"do\":\"archetype\",\"archetype\":999}", "HTTP/1.1 404");
    return NULL;
}

PLAIN_TEST(windows_answer_while_the_world_steps)
{
    begin(true);
    step_beside(ask_everything, 1);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_step(world, 0.01f));
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
}

static void *edit(void *url)
{
    ask_for(url,
            "{\"do\":\"set\",\"entity\":\"5:1\",\"component\":\"Spin\",\"path\":\"speed\","
            "\"value\":\"90 deg/s\"}",
            "1.5707");
    ask_for(url,
            "{\"do\":\"set\",\"entity\":\"5:1\",\"component\":\"Spin\",\"path\":\"speed\","
            "\"value\":\"1 kg\"}",
            "HTTP/1.1 422");
    ask_for(url, "{\"do\":\"switch\",\"system\":\"turn\",\"enabled\":false}", "\"enabled\":false");
    return NULL;
}

PLAIN_TEST(a_page_changes_values_and_systems)
{
    weft_system_info info;
    begin(true);
    step_beside(edit, 1);
    const Spin *value = weft_entity_read(world, (weft_entity){5, 1}, spin);
    CHECK_F64((double)value->speed, 1.5707963, 1e-6);
    CHECK_OK(weft_system_info_get(world, weft_system_find(world, "turn"), &info, sizeof info));
    CHECK(!info.is_enabled);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

static void *make_lists(void *url)
{
    char body[160];
    ask_for(url,
            "{\"do\":\"freeze\",\"query\":\"Spin\",\"sort\":\"Spin.speed\",\"down\":true,"
            "\"where\":\"Spin.speed < 90 rad/s, Spin.speed >= 10\"}",
            "\"list\":1,\"total\":80");
    ask_for(url, "{\"do\":\"rows\",\"list\":1,\"count\":1}", "\"rows\":[{\"entity\":\"89:1\"");
    ask_for(url,
            "{\"do\":\"rows\",\"list\":1,\"from\":79,\"columns\":[\"Spin\",\"Spin\",\"None\"]}",
            "{\"entity\":\"10:1\",\"values\":[ {\"angle\"");
    ask_for(url, "{\"do\":\"destroy\",\"entity\":\"89:1\"}", "HTTP/1.1 200");
    ask_for(url, "{\"do\":\"change\",\"entity\":\"88:1\",\"remove\":\"Spin\"}", "HTTP/1.1 200");
    ask_for(url, "{\"do\":\"rows\",\"list\":1,\"count\":2}", "\"lost\":\"dead\"");
    ask_for(url, "{\"do\":\"rows\",\"list\":1,\"count\":2}", "\"lost\":\"left\"");
    ask_for(url, "{\"do\":\"freeze\",\"of\":1,\"left\":true}", "\"list\":2,\"total\":2");
    ask_for(url, "{\"do\":\"freeze\",\"part\":\"none\"}", "\"total\":0");
    ask_for(url, "{\"do\":\"freeze\",\"query\":\"\",\"sort\":\"Spin.speed\",\"down\":true}",
            "\"list\":4,\"total\":999");
    ask_for(
        url, "{\"do\":\"rows\",\"list\":4,\"count\":2}",
        "\"rows\":[{\"entity\":\"999:1\",\"has\":[\"Spin\"],\"values\":[]},{\"entity\":\"998:1\"");
    ask_for(url, "{\"do\":\"rows\",\"list\":4,\"from\":997}", /* without the value: the last */
            "\"rows\":[{\"entity\":\"0:1\",\"has\":[\"Spin\"],\"values\":[]},{\"entity\":\"88:1\"");
    ask_for(url, "{\"do\":\"freeze\",\"query\":\"Spin\",\"where\":\"Spin.speed > 3 kg\"}",
            "is no value of Spin.speed");
    ask_for(url, "{\"do\":\"freeze\",\"query\":\"Spin\",\"where\":\"Spin.speed\"}",
            "a filter is like");
    ask_for(url, "{\"do\":\"freeze\",\"query\":\"Spin\",\"sort\":\"Spin.none\"}",
            "nothing is called");
    ask_for(url, "{\"do\":\"freeze\",\"query\":\"Spin\",\"where\":\"name < 3\"}", "is no number");
    for (uint32_t i = 0; i < 16; i++)
        ask_for(url, "{\"do\":\"freeze\",\"query\":\"Spin\"}", "\"total\":998");
    ask_for(url, "{\"do\":\"rows\",\"list\":3}", "HTTP/1.1 404");
    snprintf(body, sizeof body, "{\"do\":\"elements\",\"entity\":\"5:1\",\"component\":\"Spin\"}");
    ask_for(url, body, "has no buffer");
    return NULL;
}

PLAIN_TEST(lists_are_frozen_sorted_and_filtered)
{
    begin(true);
    step_beside(make_lists, 1);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
}

/* Reads until what came has `part`. */
static void read_until(int s, const char *part)
{
    char text[4096];
    size_t count = 0;
    while (strstr((text[count] = '\0', text), part) == NULL) {
        ssize_t got = recv(s, text + count, sizeof text - count - 1, 0);
        if (got <= 0) CHECK_TEXT(text, part);
        count += (size_t)got;
    }
}

/* Opens a stream and reads until its reply has `part`. */
static int open_stream(const char *url, const char *part)
{
    int s = connect_to(url);
    send_head(s, url, "GET /events", "");
    read_until(s, part);
    return s;
}

/* Nothing steps: no event is ever written that would fail. */
PLAIN_TEST(streams_whose_page_has_left_make_room_for_a_ninth)
{
    enum { MOST = 8 };
    int streams[MOST];
    char part[32];
    begin(true);
    const char *url = weft_inspect_url(inspect);
    for (uint32_t i = 0; i < MOST; i++) streams[i] = open_stream(url, "\"stream\":");
    close(open_stream(url, "HTTP/1.1 503"));
    for (uint32_t i = 0; i < MOST; i++) {
        close(streams[i]);
        snprintf(part, sizeof part, "\"stream\":%u}", MOST + 1 + i);
        streams[i] = open_stream(url, part);
    }
    close(open_stream(url, "HTTP/1.1 503"));
    for (uint32_t i = 0; i < MOST; i++) close(streams[i]);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

/* Watches every window for some events, then leaves in the middle of one. */
static void *watch(void *url)
{
    char text[16384];
    int s = connect_to(url);
    send_head(s, url, "GET /events", "");
    size_t count = 0;
    while (strstr((text[count] = '\0', text), "\"stream\":") == NULL) {
        ssize_t got = recv(s, text + count, sizeof text - count - 1, 0);
        CHECK(got > 0);
        count += (size_t)got;
    }
    unsigned number = (unsigned)strtoul(strstr(text, "\"stream\":") + 9, NULL, 10);
    char body[512];
    snprintf(body, sizeof body,
             "{\"do\":\"watch\",\"stream\":%u,\"what\":[{\"do\":\"status\"},{\"do\":\"systems\"},"
             "{\"do\":\"jobs\"},{\"do\":\"archetypes\"},{\"do\":\"timeline\",\"frame\":true},"
             "{\"do\":\"entities\",\"query\":\"Spin\"},{\"do\":\"memory\"}]}",
             number);
    ask_for(url, body, "\"watched\":7");
    for (size_t got = 0; got < 30000;) {
        ssize_t more = recv(s, text, sizeof text, 0);
        CHECK(more > 0);
        got += (size_t)more;
    }
    close(s);
    return NULL;
}

/* Two lists on two connections: the older one comes last, and counts no more. */
static void *watch_twice(void *url)
{
    const int s = open_stream(url, "\"stream\":1}");
    ask_for(url, "{\"do\":\"watch\",\"stream\":1,\"serial\":2,\"what\":[{\"do\":\"status\"}]}",
            "\"watched\":1");
    ask_for(url, "{\"do\":\"watch\",\"stream\":1,\"serial\":1,\"what\":[]}", "HTTP/1.1 404");
    ask_for(url, "{\"do\":\"watch\",\"stream\":2,\"serial\":3,\"what\":[]}", "HTTP/1.1 404");
    for (uint32_t i = 0; i < 3; i++) read_until(s, "event: 2.0\n");
    close(s);
    return NULL;
}

PLAIN_TEST(the_later_list_is_watched_whichever_comes_first)
{
    begin(true);
    step_beside(watch_twice, 1);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

static uint64_t hash_after(uint32_t steps)
{
    while (weft_world_frame(world).number < steps) CHECK_OK(weft_world_step(world, 0.01f));
    return weft_world_hash(world, WEFT_HASH_LAYOUT);
}

PLAIN_TEST(a_run_that_is_watched_has_the_hash_of_one_that_is_not)
{
    begin(true);
    step_beside(watch, 20);
    uint32_t steps = (uint32_t)weft_world_frame(world).number;
    uint64_t watched = hash_after(steps);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
    begin(false);
    CHECK_U64(hash_after(steps), watched);
    CHECK_OK(weft_world_destroy(world));
}

static void *pause_and_step(void *url)
{
    char *first = ask(url, "{\"do\":\"pause\",\"paused\":true}");
    ask_for(url, "{\"do\":\"status\"}", strstr(first, "\"frame\":"));
    ask_for(url, "{\"do\":\"step\",\"count\":2}", "\"paused\":true");
    uint64_t frame = strtoull(strstr(first, "\"frame\":") + 8, NULL, 10);
    char expected[64];
    snprintf(expected, sizeof expected, "\"frame\":%llu,", (unsigned long long)frame + 2);
    for (bool is_there = false; !is_there;) {
        char *reply = ask(url, "{\"do\":\"status\"}");
        is_there = strstr(reply, expected) != NULL;
        free(reply);
    }
    ask_for(url, "{\"do\":\"speed\",\"speed\":200}", "\"speed\":200");
    ask_for(url, "{\"do\":\"pause\",\"paused\":false}", "\"paused\":false");
    free(first);
    return NULL;
}

PLAIN_TEST(a_page_pauses_and_steps_the_world)
{
    begin(true);
    step_beside(pause_and_step, 1);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

static uint32_t presses;

static size_t tell_panel(char *text, size_t capacity, void *user)
{
    (void)user;
    return (size_t)snprintf(text, capacity, "\"figures\":{\"Presses\":%u}", presses);
}

static void press_panel(weft_world *of, void *user)
{
    (void)of, (void)user;
    presses++;
}

static void *press_twice(void *url)
{
    ask_for(url, "{\"do\":\"panels\"}", "\"name\":\"Own\",\"button\":\"Go\"");
    ask_for(url, "{\"do\":\"press\",\"panel\":\"Own\"}", "\"Presses\":1");
    ask_for(url, "{\"do\":\"press\",\"panel\":\"Own\"}", "\"Presses\":2");
    ask_for(url, "{\"do\":\"press\",\"panel\":\"Still\"}", "HTTP/1.1 404");
    ask_for(url, "{\"do\":\"press\"}", "HTTP/1.1 404");
    return NULL;
}

PLAIN_TEST(panels_of_a_host_are_shown_pressed_and_taken_away)
{
    begin(true);
    const weft_inspect_panel_desc own = {
        .name = "Own", .write = tell_panel, .press = press_panel, .button = "Go"};
    const weft_inspect_panel_desc still = {.name = "Still", .write = tell_panel};
    char long_name[65];
    memset(long_name, 'n', 64);
    long_name[64] = '\0';
    CHECK_OK(weft_inspect_panel(inspect, &still));
    CHECK_OK(weft_inspect_panel(inspect, &own));
    CHECK_OK(weft_inspect_panel(inspect, &own));
    CHECK_RESULT(weft_inspect_panel(NULL, &own), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_inspect_panel(inspect, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_inspect_panel(inspect, &(weft_inspect_panel_desc){.name = ""}),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_inspect_panel(inspect, &(weft_inspect_panel_desc){.name = long_name}),
                 WEFT_INVALID_ARGUMENT);
    step_beside(press_twice, 1);
    CHECK_OK(weft_inspect_panel(inspect, &(weft_inspect_panel_desc){.name = "Own"}));
    CHECK_OK(weft_inspect_panel(inspect, &(weft_inspect_panel_desc){.name = "None"}));
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

static void *let_go(void *url)
{
    ask_for(url, "{\"do\":\"status\"}", "\"frame\":1,");
    ask_for(url, "{\"do\":\"status\"}", "\"paused\":true");
    ask_for(url, "{\"do\":\"step\"}", "\"paused\":true");
    ask_for(url, "{\"do\":\"pause\",\"paused\":false}", "\"paused\":false");
    return NULL;
}

PLAIN_TEST(a_world_that_is_paused_from_the_start_waits_for_a_page)
{
    begin(false);
    const weft_inspect_desc options = {
        .port = WEFT_INSPECT_ANY_PORT, .is_paused = true, .token = token};
    CHECK_OK(weft_inspect_start(world, &options, &inspect));
    step_beside(let_go, 3);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_inspect_start(world, &options, &inspect)); /* and ends without one */
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

/* The handle in the member "entity" of a reply. */
static void handle_of(const char *reply, char *out, size_t capacity)
{
    const char *at = strstr(reply, "\"entity\":\"");
    CHECK(at != NULL);
    at += strlen("\"entity\":\"");
    snprintf(out, capacity, "%.*s", (int)strcspn(at, "\""), at);
}

static void ask_of(const char *url, const char *format, const char *handle, const char *part)
{
    char body[256];
    const char *at = strstr(format, "%s");
    snprintf(body, sizeof body, "%.*s%s%s", (int)(at - format), format, handle, at + 2);
    ask_for(url, body, part);
}

static void *change_world(void *url)
{
    char handle[32], copy[32];
    char *reply = ask(url, "{\"do\":\"create\",\"components\":\"Spin\",\"name\":\"guest\"}");
    handle_of(reply, handle, sizeof handle);
    free(reply);
    ask_for(url, "{\"do\":\"entities\",\"query\":\"Spin\"}", "\"total\":1001");
    ask_for(url, "{\"do\":\"create\",\"components\":\"Spin, Nothing\"}",
            "no component \\\"Nothing");
    ask_of(url, "{\"do\":\"rename\",\"entity\":\"%s\",\"name\":\"host\"}", handle, "\"host\"");
    ask_of(url,
           "{\"do\":\"set\",\"entity\":\"%s\",\"component\":\"Spin\",\"path\":\"speed\","
           "\"value\":\"7 rad/s\"}",
           handle, "\"value\":\"7\"");
    char body[128];
    snprintf(body, sizeof body, "{\"do\":\"clone\",\"entity\":\"%s\"}", handle);
    reply = ask(url, body);
    CHECK(strstr(reply, "\"value\":\"7\"") != NULL);
    handle_of(reply, copy, sizeof copy);
    free(reply);
    CHECK(strcmp(copy, handle) != 0);
    ask_of(url, "{\"do\":\"change\",\"entity\":\"%s\",\"remove\":\"Spin\"}", copy,
           "\"components\":[]");
    ask_of(url, "{\"do\":\"change\",\"entity\":\"%s\",\"add\":\"Spin\"}", copy, "\"value\":\"0\"");
    ask_of(url,
           "{\"do\":\"write_back\",\"entity\":\"%s\",\"component\":\"Spin\",\"path\":\"speed\"}",
           copy, "comes from no live link");
    ask_of(url, "{\"do\":\"destroy\",\"entity\":\"%s\"}", copy, "\"destroyed\"");
    ask_of(url, "{\"do\":\"destroy\",\"entity\":\"%s\"}", copy, "HTTP/1.1 404");
    ask_of(url, "{\"do\":\"relate\",\"entity\":\"%s\",\"relation\":\"Spin\"}", handle, "error");
    ask_for(url, "{\"do\":\"run_system\",\"system\":\"turn\"}", "\"runs\"");
    ask_for(url, "{\"do\":\"switch_group\",\"group\":\"nothing\",\"enabled\":false}", "error");
    return NULL;
}

PLAIN_TEST(a_page_makes_copies_and_destroys_entities)
{
    begin(true);
    step_beside(change_world, 1);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_validate(world));
    weft_world_stats stats;
    weft_world_stats_get(world, &stats, sizeof stats);
    CHECK_U64(stats.entities, 1001);
    CHECK_OK(weft_world_destroy(world));
}

#define SPIN_PLACE "\"component\":\"Spin\",\"x\":\"speed\",\"y\":\"angle\""

/* Speeds are 0, 1, 2, ...; angles are equal to each other while no step has run. */
static void *look_at_points(void *url)
{
    ask_for(url, "{\"do\":\"places\"}", "{\"component\":\"Spin\",\"path\":\"angle\"}");
    ask_for(url, "{\"do\":\"points\"," SPIN_PLACE ",\"count\":4}", "\"x\":[0,250,500,750]");
    ask_for(url, "{\"do\":\"points\"," SPIN_PLACE ",\"count\":3}", "\"x\":[0,334,668]");
    ask_for(url, "{\"do\":\"points\"," SPIN_PLACE ",\"count\":0}", "\"x\":[]");
    ask_for(url, "{\"do\":\"points\",\"component\":\"Spin\",\"x\":\"speed\",\"y\":\"nothing\"}",
            "HTTP/1.1 422");
    ask_for(url, "{\"do\":\"points\",\"component\":\"Spin\",\"x\":\"speed\"}", "HTTP/1.1 422");
    ask_for(url, "{\"do\":\"points\",\"query\":\"Spinn\"," SPIN_PLACE "}", "HTTP/1.1 422");
    char *reply = ask(url, "{\"do\":\"nearest\",\"entity\":\"500:1\"," SPIN_PLACE "}");
    double last = 0;
    uint32_t count = 0;
    for (const char *at = reply; (at = strstr(at, "\"distance\":")) != NULL; count++) {
        at += strlen("\"distance\":");
        CHECK(strtod(at, NULL) >= last);
        last = strtod(at, NULL);
    }
    CHECK_U64(count, 10);
    CHECK(strstr(reply, "\"500:1\"") == NULL && strstr(reply, "\"499:1\"") != NULL);
    free(reply);
    return NULL;
}

PLAIN_TEST(points_are_drawn_evenly_and_the_nearest_come_first)
{
    begin(true);
    step_beside(look_at_points, 1);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

static void *wait_for_pause(void *url)
{
    char *reply;
    ask_for(url,
            "{\"do\":\"pause_when\",\"entity\":\"999:1\",\"component\":\"Spin\",\"path\":\"angle\","
            "\"is\":\"<\",\"number\":-1}",
            "\"condition\":\"Spin.angle of 999:1 is below -1\"");
    ask_for(url, "{\"do\":\"status\"}", "\"paused\":false");
    ask_for(url, "{\"do\":\"pause_when\",\"entity\":\"999:1\",\"is\":\"so\"}", "HTTP/1.1 422");
    ask_for(url, "{\"do\":\"status\"}", "\"condition\""); /* the one before still holds */
    ask_for(url,
            "{\"do\":\"pause_when\",\"entity\":\"999:1\",\"component\":\"Spin\",\"path\":\"angle\","
            "\"is\":\"changed\"}",
            "HTTP/1.1 200");
    bool is_there = false;
    for (int asked = 0; !is_there; asked++) {
        CHECK(asked < 20000);
        reply = ask(url, "{\"do\":\"status\"}");
        is_there = strstr(reply, "\"reached\":\"Spin.angle of 999:1 changes\"") != NULL;
        if (is_there) CHECK(strstr(reply, "\"paused\":true") != NULL);
        free(reply);
    }
    ask_for(url, "{\"do\":\"pause\",\"paused\":false}", "\"paused\":false");
    ask_for(url, "{\"do\":\"pause_when\"}", "\r\n\r\n{}");
    return NULL;
}

PLAIN_TEST(a_world_pauses_when_a_number_changes)
{
    begin(true);
    step_beside(wait_for_pause, 1);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

/* A refused start: the code, and the text that the world has of it. */
static void refuse(const weft_inspect_desc *desc, weft_result code, const char *text)
{
    weft_inspect *other = inspect;
    const uint64_t number = weft_world_error(world)->number;
    CHECK_RESULT(weft_inspect_start(world, desc, &other), code);
    CHECK(other == NULL);
    CHECK(weft_world_error(world)->number > number);
    CHECK_RESULT(weft_world_error(world)->code, code);
    CHECK(strstr(weft_world_error(world)->text, text) != NULL);
}

static void refuse_in_step(weft_slice *slice, void *user)
{
    (void)slice;
    refuse(user, WEFT_WRONG_PHASE, "between steps");
}

static void start_without_descriptors(void)
{
    struct rlimit limit, none;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = limit;
    none.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    refuse(&(weft_inspect_desc){.port = WEFT_INSPECT_ANY_PORT}, WEFT_IO, "no socket");
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static void start_in_a_step(void)
{
    weft_inspect_desc options = {.port = WEFT_INSPECT_ANY_PORT};
    weft_system_desc desc = {
        .name = "starts", .run = refuse_in_step, .user = &options, .flags = WEFT_SYSTEM_EXCLUSIVE};
    CHECK(weft_system_create(world, &desc).id != 0);
    CHECK_OK(weft_world_step(world, 0.01f));
}

PLAIN_TEST(what_cannot_be_started_says_why_and_leaves_nothing)
{
    weft_inspect *other;
    unsigned port;
    begin(true);
    CHECK(sscanf(weft_inspect_url(inspect), "http://127.0.0.1:%u/", &port) == 1);
    refuse(&(weft_inspect_desc){.port = port}, WEFT_ALREADY_EXISTS, "the port is taken: give");
    CHECK_OK(weft_inspect_start(world, &(weft_inspect_desc){.port = port, .takes_next_port = true},
                                &other));
    CHECK(strcmp(weft_inspect_url(other), weft_inspect_url(inspect)) != 0);
    weft_inspect_stop(other);
    refuse(&(weft_inspect_desc){.port = 70000}, WEFT_INVALID_ARGUMENT, "port: one from");
    refuse(&(weft_inspect_desc){.token = "short"}, WEFT_INVALID_ARGUMENT, "token: 32");
    CHECK_RESULT(weft_inspect_start(world, NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_world_error(world)->text, "out is NULL") != NULL);
    start_without_descriptors();
    start_in_a_step();
    CHECK_RESULT(weft_inspect_start(NULL, NULL, &other), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_inspect_pump(NULL, 0), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_inspect_all("27760,read"), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_inspect_all("99999"), WEFT_INVALID_ARGUMENT);
    weft_inspect_stop(NULL);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

static int page; /* its stream stays open */

static void *open_systems(void *url)
{
    page = open_stream(url, "\"stream\":");
    ask_for(url, "{\"do\":\"systems\"}", "HTTP/1.1 200");
    return NULL;
}

static void *ask_what_was_lost(void *url)
{
    static const char lost[] = "{\"do\":\"freeze\",\"query\":\"Spin\",\"lost\":true}";
    ask_for(url, lost, "while a page is open");
    page = open_stream(url, "\"stream\":");
    ask_for(url, "{\"do\":\"watch\",\"stream\":1,\"what\":[{\"do\":\"status\"}]}", "\"watched\":1");
    bool is_kept = false; /* once the page has got what it watches */
    for (uint32_t tries = 0; tries < 300 && !is_kept; tries++) {
        char *reply = ask(url, lost);
        is_kept = strstr(reply, "\"list\":1,\"total\":0") != NULL;
        free(reply);
        usleep(2000); /* 200 requests a second */
    }
    CHECK(is_kept);
    ask_for(url, "{\"do\":\"pause\",\"paused\":true}", "HTTP/1.1 200");
    ask_for(url, "{\"do\":\"destroy\",\"entity\":\"5:1\"}", "HTTP/1.1 200");
    ask_for(url, "{\"do\":\"change\",\"entity\":\"6:1\",\"remove\":\"Spin\"}", "HTTP/1.1 200");
    ask_for(url, "{\"do\":\"change\",\"entity\":\"7:1\",\"add\":\"Mark\"}", "HTTP/1.1 200");
    ask_for(url, "{\"do\":\"create\",\"components\":\"Spin\"}", "HTTP/1.1 200");
    ask_for(url, lost, "\"list\":2,\"total\":2");
    ask_for(url, "{\"do\":\"rows\",\"list\":2}", "{\"entity\":\"5:1\",\"lost\":\"dead\"");
    ask_for(url, "{\"do\":\"rows\",\"list\":2}", "{\"entity\":\"6:1\",\"lost\":\"left\"");
    ask_for(url, "{\"do\":\"freeze\",\"query\":\"!Mark\",\"lost\":true}", "\"total\":2");
    ask_for(url, "{\"do\":\"freeze\",\"query\":\"Rare\",\"lost\":true}", "Rare is sparse");
    ask_for(url, "{\"do\":\"pause\"}", "HTTP/1.1 200");
    return NULL;
}

PLAIN_TEST(what_a_query_lost_is_told_without_a_list_before)
{
    weft_entity entity;
    begin(true);
    weft_component mark = WEFT_TAG(world, Mark);
    CHECK(weft_component_create_plain(world, "Rare", 4, 4, WEFT_SPARSE).id != 0);
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, spin, mark), 1, &entity));
    step_beside(ask_what_was_lost, 1);
    close(page);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

/* `count` systems of new names, 40 at a time, each for a step. */
static void systems_pass(uint32_t count)
{
    weft_system systems[40];
    char name[32];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "passing %u", i);
        const weft_system_desc desc = {
            .name = name, .run = turn, .over.rows.terms = {{spin, WEFT_WRITE}}};
        systems[i % 40] = weft_system_create(world, &desc);
        CHECK(systems[i % 40].id != 0);
        if (i % 40 != 39) continue;
        CHECK_OK(weft_world_step(world, 0.01f));
        for (uint32_t k = 0; k < 40; k++) CHECK_OK(weft_system_destroy(world, systems[k]));
    }
}

/* 0 under AddressSanitizer. */
static size_t bytes_in_use(void)
{
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

PLAIN_TEST(systems_that_are_gone_leave_no_times)
{
    begin(true);
    step_beside(open_systems, 1);
    systems_pass(200);
    const size_t before = bytes_in_use();
    systems_pass(2000);
    CHECK(bytes_in_use() < before + 200000); /* times of 2,000 systems: 1.1 MB */
    close(page);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

/* ---- what an answer may cost */

static uint32_t asked_times;

/* Three milliseconds: longer than a step may answer. */
static size_t tell_slowly(char *text, size_t capacity, void *user)
{
    struct timespec begin, now;
    (void)user;
    asked_times++;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 1500000);
    return (size_t)snprintf(text, capacity, "\"sections\": []"); /* asked for its length, too */
}

static void *watch_scenes(void *url)
{
    page = open_stream(url, "\"stream\":1}");
    ask_for(url, "{\"do\":\"watch\",\"stream\":1,\"what\":[{\"do\":\"scenes\"}]}", "\"watched\":1");
    return NULL;
}

PLAIN_TEST(a_dear_answer_is_given_as_rarely_as_it_is_dear)
{
    struct timespec begin_time, now;
    begin(true);
    weft_inspect_sections(inspect, &(weft_inspect_source){.write = tell_slowly});
    step_beside(watch_scenes, 1);
    asked_times = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin_time);
    do {
        CHECK_OK(weft_world_step(world, 0.01f));
        usleep(500);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin_time.tv_sec < 3);
    const double seconds = (double)(now.tv_sec - begin_time.tv_sec) +
                           (double)(now.tv_nsec - begin_time.tv_nsec) * 1e-9;
    CHECK(asked_times >= 2);
    CHECK(asked_times / 2 <= 1 + seconds / 0.25); /* 3 ms: one in 0.3 s at most */
    close(page);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

/* ---- nothing is left out in silence */

static void *ask_for_times(void *url)
{
    char *reply = ask(url, "{\"do\":\"systems\"}");
    free(reply);
    for (int i = 0; i < 40; i++) { /* a script: no page is open */
        usleep(20000);
        reply = ask(url, "{\"do\":\"systems\"}");
        const char *last = strstr(reply, "\"name\":\"turn 399\"");
        CHECK(last != NULL);
        bool has_times = strstr(last, "\"last\":0,") == NULL ||
                         strstr(last, "\"last\":0,") > strstr(last, "\"flags\"");
        free(reply);
        if (has_times && i > 1) return NULL;
    }
    CHECK_TEXT("no times", "times of the last system");
    return NULL;
}

/* 400 systems, which are fused in one stage. */
PLAIN_TEST(every_system_has_its_times_also_for_scripts)
{
    begin(true);
    for (uint32_t i = 0; i < 400; i++) {
        char name[32];
        snprintf(name, sizeof name, "turn %u", i);
        const weft_system_desc desc = {
            .name = name, .run = turn, .over.rows.terms = {{spin, WEFT_WRITE}}};
        CHECK(weft_system_create(world, &desc).id != 0);
    }
    step_beside(ask_for_times, 3);
    CHECK(weft_inspect_of(world) == inspect && weft_inspect_of(NULL) == NULL);
    weft_inspect_stop(inspect);
    CHECK(weft_inspect_of(world) == NULL);
    CHECK_OK(weft_world_destroy(world));
}

static void *ask_for_relations(void *url)
{
    ask_for(url, "{\"do\":\"relations\"}", "\"link 29\"");
    ask_for(url, "{\"do\":\"types\"}", "\"type 1199\"");
    ask_for(url, "{\"do\":\"places\"}", "{\"component\":\"spot 79\",\"x\":");
    return NULL;
}

PLAIN_TEST(every_relation_and_every_type_is_listed)
{
    begin(true);
    static weft_type types[30 + 80]; /* components borrow them */
    char name[32];
    for (uint32_t i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "link %u", i);
        static const weft_field fields[] = {{.name = "to", .kind = WEFT_FIELD_ENTITY}};
        types[i] = (weft_type){.name = name,
                               .size = sizeof(weft_entity),
                               .alignment = _Alignof(weft_entity),
                               .fields = fields,
                               .field_count = 1};
        weft_component link =
            weft_component_create(world, &(weft_component_desc){.name = name, .type = &types[i]});
        CHECK_OK(weft_relation_declare(world, &(weft_relation_desc){.component = link}));
    }
    for (uint32_t i = 0; i < 80; i++) { /* each may be a position */
        static const weft_field axes[] = {
            {.name = "x", .kind = WEFT_FIELD_F32},
            {.name = "y", .kind = WEFT_FIELD_F32, .offset = sizeof(float)}};
        snprintf(name, sizeof name, "spot %u", i);
        types[30 + i] = (weft_type){.name = name,
                                    .size = 2 * sizeof(float),
                                    .alignment = _Alignof(float),
                                    .fields = axes,
                                    .field_count = 2};
        const weft_component_desc desc = {.name = name, .type = &types[30 + i]};
        CHECK(weft_component_create(world, &desc).id != 0);
    }
    for (uint32_t i = 0; i < 1200; i++) {
        snprintf(name, sizeof name, "type %u", i);
        CHECK(weft_component_create_plain(world, name, 4, 4, 0).id != 0);
    }
    step_beside(ask_for_relations, 1);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

/* ---- worlds beside each other, and worlds with little in them */

static void hear(const weft_observation *batch, void *user)
{
    (void)batch, (void)user;
}

static void *ask_for_observers(void *url)
{
    ask_for(url, "{\"do\":\"schedule\"}", "\"name\": \"hears\"");
    ask_for(url, "{\"do\":\"systems\"}", "\"systems\":[]");
    return NULL;
}

PLAIN_TEST(observers_of_a_world_without_systems_are_listed)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    const weft_observer_desc desc = {.name = "hears", .on = WEFT_ON_DESTROYED, .run = hear};
    CHECK(weft_observer_create(world, &desc).id != 0);
    const weft_inspect_desc options = {.port = WEFT_INSPECT_ANY_PORT, .token = token};
    CHECK_OK(weft_inspect_start(world, &options, &inspect));
    step_beside(ask_for_observers, 1);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

static void *ask_for_worlds(void *url)
{
    ask_for(url, "{\"do\":\"status\"}", "\"worlds\":[{\"name\":\"world\",\"port\":");
    ask_for(url, "{\"do\":\"status\"}", "{\"name\":\"menu\",\"port\":");
    char *reply = ask(url, "{\"do\":\"status\"}");
    CHECK(strstr(reply, "secret") == NULL);
    free(reply);
    return NULL;
}

static void *ask_for_one_world(void *url)
{
    char *reply = ask(url, "{\"do\":\"status\"}");
    CHECK(strstr(reply, "\"name\":\"world\"") != NULL && strstr(reply, "menu") == NULL);
    free(reply);
    return NULL;
}

PLAIN_TEST(a_page_is_told_of_the_worlds_that_its_key_opens)
{
    weft_world *others[2];
    weft_inspect *inspects[2];
    begin(true);
    for (uint32_t i = 0; i < 2; i++) {
        const weft_world_desc desc = {.name = i == 0 ? "menu" : "secret", .workers = 1};
        const weft_inspect_desc options = {.port = WEFT_INSPECT_ANY_PORT,
                                           .token = i == 0 ? token : NULL};
        CHECK_OK(weft_world_create(&desc, &others[i]));
        CHECK_OK(weft_inspect_start(others[i], &options, &inspects[i]));
    }
    step_beside(ask_for_worlds, 1);
    for (uint32_t i = 0; i < 2; i++) {
        weft_inspect_stop(inspects[i]);
        CHECK_OK(weft_world_destroy(others[i]));
    }
    step_beside(ask_for_one_world, 1);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

/* ---- fused slices */

static void slow_down(weft_slice *slice, void *user)
{
    Spin *s = WEFT_WRITE_COLUMN(slice, 0, Spin);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) s[i].speed *= 0.999f;
}

/* Begin and length of a span of the export, in microseconds; false: `at` is another span. */
static bool read_span(const char *at, const char *name, double *begin_us, double *took_us)
{
    const char *end = strchr(at, '}'), *ts = strstr(at, "\"ts\":"), *dur = strstr(at, "\"dur\":");
    if (strncmp(at, name, strlen(name)) != 0 || ts == NULL || dur == NULL || dur > end)
        return false;
    *begin_us = strtod(ts + 5, NULL);
    *took_us = strtod(dur + 6, NULL);
    return true;
}

/* Whether a span of the name lies in that of fused slices, and takes less than all of it. */
static bool has_part(const char *reply, const char *name)
{
    double begin, took, part, part_took;
    if (strstr(reply, name) == NULL) return false;
    for (const char *at = reply; (at = strstr(at, "{\"name\":\"fused slices\"")) != NULL; at++) {
        if (!read_span(at, "{\"name\":\"fused slices\"", &begin, &took)) continue;
        for (const char *in = reply; (in = strstr(in, name)) != NULL; in++)
            if (read_span(in, name, &part, &part_took) && part >= begin - 0.002 &&
                part + part_took <= begin + took + 0.002 && part_took < took)
                return true;
    }
    return false;
}

static void *ask_for_shares(void *url)
{
    bool are_there = false;
    for (uint32_t tries = 0; tries < 30 && !are_there; tries++) {
        char *reply = ask(url, "{\"do\":\"export\"}");
        are_there =
            has_part(reply, "{\"name\":\"turn\"") && has_part(reply, "{\"name\":\"slow_down\"");
        free(reply);
        usleep(20000);
    }
    CHECK(are_there);
    return NULL;
}

PLAIN_TEST(fused_slices_have_a_part_for_each_of_their_systems)
{
    weft_job_pool *pool;
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 1,
                                                        .trace_capacity = 1 << 12,
                                                        .trace_is_paused = true},
                                  &pool));
    lent = pool;
    begin(true);
    const weft_system_desc desc = {
        .name = "slow_down", .run = slow_down, .over.rows.terms = {{spin, WEFT_WRITE}}};
    CHECK(weft_system_create(world, &desc).id != 0);
    step_beside(ask_for_shares, 1);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
    lent = NULL;
    CHECK_OK(weft_job_pool_destroy(pool));
}

static void *ask_for_the_last_share(void *url)
{
    bool is_there = false;
    for (uint32_t tries = 0; tries < 30 && !is_there; tries++) {
        char *reply = ask(url, "{\"do\":\"export\"}");
        is_there = has_part(reply, "{\"name\":\"turn 599\"");
        free(reply);
        usleep(20000);
    }
    CHECK(is_there);
    return NULL;
}

PLAIN_TEST(fused_slices_of_600_systems_have_a_part_for_the_last_of_them)
{
    weft_job_pool *pool;
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 1,
                                                        .trace_capacity = 1 << 14,
                                                        .trace_is_paused = true},
                                  &pool));
    lent = pool;
    begin(true);
    for (uint32_t i = 0; i < 600; i++) {
        char name[32];
        snprintf(name, sizeof name, "turn %u", i);
        const weft_system_desc desc = {
            .name = name, .run = turn, .over.rows.terms = {{spin, WEFT_WRITE}}};
        CHECK(weft_system_create(world, &desc).id != 0);
    }
    step_beside(ask_for_the_last_share, 1);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
    lent = NULL;
    CHECK_OK(weft_job_pool_destroy(pool));
}

/* A child of the process still has the listener. */
PLAIN_TEST(the_port_is_free_after_a_stop)
{
    unsigned port;
    begin(true);
    CHECK(sscanf(weft_inspect_url(inspect), "http://127.0.0.1:%u/", &port) == 1);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* it ends with a test that fails, too */
        for (;;) pause();
    }
    CHECK(child > 0);
    weft_inspect_stop(inspect);
    CHECK_OK(
        weft_inspect_start(world, &(weft_inspect_desc){.port = port, .token = token}, &inspect));
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    step_beside(open_systems, 1);
    close(page);
    weft_inspect_stop(inspect);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(inspectors_come_and_go_with_their_worlds)
{
    for (int i = 0; i < 20; i++) {
        begin(true);
        CHECK_OK(weft_world_step(world, 0.01f));
        CHECK_RESULT(weft_world_destroy(world), WEFT_BUSY);
        CHECK(strstr(weft_world_error(world)->text, "inspector (weft_inspect_stop)") != NULL);
        CHECK_OK(weft_world_step(world, 0.01f));
        weft_inspect_stop(inspect);
        CHECK_OK(weft_world_destroy(world));
    }
}
