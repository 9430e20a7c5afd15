/* SPDX-License-Identifier: MIT */
/* bench_inspect.c: what an inspector costs the frame: when no page is open (raw: the same world
 * without one), and when a client of the process watches every window at 60 frames a second. */
#include "bench.h"

#if defined(WEFT_WITH_INSPECT)

#include <weft/entity.h>
#include <weft/inspect.h>
#include <weft/query.h>
#include <weft/slice.h>
#include <weft/system.h>

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char token[] = "00112233445566778899aabbccddeeff";

/* ---- unused */

enum { STEPS = 1000 };

static void step_world(void *data)
{
    for (int i = 0; i < STEPS; i++) weft_world_step(*(weft_world **)data, 0);
}

typedef struct unused_data {
    weft_world *world, *plain;
} unused_data;

static void step_plain(void *data)
{
    step_world(&((unused_data *)data)->plain);
}

static void unused(weft_bench *bench)
{
    unused_data data = {0};
    weft_inspect *inspect = NULL;
    const weft_world_desc one = {.workers = 1};
    if (weft_world_create(&one, &data.world) != WEFT_OK ||
        weft_world_create(&one, &data.plain) != WEFT_OK ||
        weft_inspect_start(data.world, &(weft_inspect_desc){.port = WEFT_INSPECT_ANY_PORT},
                           &inspect) != WEFT_OK)
        weft_bench_fail(bench, "no inspector");
    else {
        weft_bench_result r = weft_bench_run(bench, &(weft_bench_measure){.name = "step",
                                                                          .unit = "ns/frame",
                                                                          .items = STEPS,
                                                                          .workers = 1,
                                                                          .run = step_world,
                                                                          .raw = step_plain,
                                                                          .data = &data});
        if (r.raw > 0) weft_bench_value(bench, "cost", "ns", 1, r.median - r.raw);
    }
    weft_inspect_stop(inspect);
    weft_world_destroy(data.world);
    weft_world_destroy(data.plain);
}

/* ---- open */

enum { ENTITIES = 1000000, NAMES = 300000, SYSTEMS = 400, FRAMES = 30 };

typedef struct Body {
    float x, y, z, w;
} Body;

/* Enough for a frame of some milliseconds: a few steps of a pendulum for each entity. */
static void swing(weft_slice *slice, void *user)
{
    Body *at = WEFT_WRITE_COLUMN(slice, 0, Body);
    const Body *by = WEFT_READ_COLUMN(slice, 1, Body);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++)
        for (int k = 0; k < 3; k++) {
            float r = 1.0f / sqrtf(at[i].x * at[i].x + at[i].y * at[i].y + 1.0f);
            at[i].x += by[i].x * slice->dt * r;
            at[i].y += by[i].y * slice->dt * r;
        }
}

static void settle(weft_slice *slice, void *user)
{
    const Body *at = WEFT_READ_COLUMN(slice, 0, Body);
    Body *by = WEFT_WRITE_COLUMN(slice, 1, Body);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) {
        float r = sqrtf(at[i].x * at[i].x + at[i].y * at[i].y);
        by[i].x = -at[i].x / (r + 1);
        by[i].y = -at[i].y / (r + 1);
    }
}

static weft_world *make_world(uint32_t workers, weft_job_pool **pool)
{
    weft_world *world = NULL;
    const weft_job_pool_desc desc = {
        .worker_count = workers, .trace_capacity = 1 << 15, .trace_is_paused = true};
    if (weft_job_pool_create(&desc, pool) != WEFT_OK ||
        weft_world_create(&(weft_world_desc){.pool = *pool}, &world) != WEFT_OK)
        return NULL;
    static const weft_field fields[] = {WEFT_FIELD_WITH(Body, x, .unit = "m"),
                                        WEFT_FIELD_WITH(Body, y, .unit = "m")};
    weft_component at = weft_component_create(
        world, &(weft_component_desc){
                   .name = "At", .size = sizeof(Body), .fields = fields, .field_count = 2});
    weft_component by = weft_component_create(
        world, &(weft_component_desc){
                   .name = "By", .size = sizeof(Body), .fields = fields, .field_count = 2});
    weft_component rare = weft_component_create(world, &(weft_component_desc){.name = "Rare"});
    const weft_term terms[] = {{at, WEFT_WRITE}, {by}}, back[] = {{at}, {by, WEFT_WRITE}};
    char name[24];
    for (int i = 0; i < SYSTEMS; i++) { /* all but four have nothing to do */
        snprintf(name, sizeof name, "%s %d", i % 2 == 0 ? "swing" : "settle", i);
        weft_system_desc system = {.name = name, .run = i % 2 == 0 ? swing : settle};
        memcpy(system.over.rows.terms, i % 2 == 0 ? terms : back, sizeof terms);
        if (i >= 4) system.over.rows.terms[2].component = rare;
        weft_system_create(world, &system);
    }
    static weft_entity entities[ENTITIES];
    weft_entity_create_many(world, WEFT_ARCHETYPE(world, at, by), ENTITIES, entities);
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "body %u", i);
        weft_entity_set_name(world, entities[3 * i], name);
    }
    return world;
}

/* ---- a page: a thread that watches every window and reads what comes */

/* Owner: the benchmark; the thread from start to its end. */
typedef struct page {
    char url[96];
    int events;
    uint64_t bytes;
    pthread_t thread;
} page;

static int connect_to(const page *p)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)strtoul(p->url + 17, NULL, 10)),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s >= 0 && connect(s, (const struct sockaddr *)(const void *)&address, sizeof address) == 0)
        return s;
    if (s >= 0) close(s);
    return -1;
}

static void send_request(const page *p, int s, const char *what, const char *body)
{
    char text[2048];
    int length =
        snprintf(text, sizeof text,
                 "%s HTTP/1.1\r\nHost: %.*s\r\nX-Weft-Token: %s\r\nContent-Type: "
                 "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                 what, (int)strcspn(p->url + 7, "/"), p->url + 7, token, strlen(body), body);
    if (send(s, text, (size_t)length, MSG_NOSIGNAL) != length) close(s);
}

static void *read_events(void *user)
{
    static const char windows[] =
        "{\"do\":\"status\"},{\"do\":\"archetypes\"},{\"do\":\"archetype\",\"archetype\":2},"
        "{\"do\":\"entities\",\"query\":\"At, By\",\"count\":50},{\"do\":\"entity\",\"entity\":"
        "\"7:1\"},{\"do\":\"systems\"},{\"do\":\"timeline\",\"frame\":true,\"pixels\":1200},"
        "{\"do\":\"queries\"},{\"do\":\"timeline\",\"pixels\":1200},{\"do\":\"memory\"},"
        "{\"do\":\"scenes\"},{\"do\":\"jobs\"},{\"do\":\"components\"},{\"do\":\"component\","
        "\"component\":\"At\"},{\"do\":\"search\",\"part\":\"dy "
        "29\",\"count\":50},{\"do\":\"points\","
        "\"query\":\"At\",\"position\":\"At\"},{\"do\":\"panels\"},{\"do\":\"shards\"}";
    page *p = user;
    char text[65536], body[1536];
    ssize_t got = 0;
    size_t count = 0;
    send_request(p, p->events, "GET /events", "");
    while (strstr((text[count] = '\0', text), "\"stream\":") == NULL) {
        got = recv(p->events, text + count, sizeof text - count - 1, 0);
        if (got <= 0) return NULL;
        count += (size_t)got;
    }
    int s = connect_to(p);
    snprintf(body, sizeof body, "{\"do\":\"watch\",\"stream\":%lu,\"what\":[%s]}",
             strtoul(strstr(text, "\"stream\":") + 9, NULL, 10), windows);
    send_request(p, s, "POST /api", body);
    while ((got = recv(p->events, text, sizeof text, 0)) > 0) p->bytes += (uint64_t)got;
    close(s);
    return NULL;
}

static void open_page(page *p, const weft_inspect *inspect)
{
    *p = (page){.events = -1};
    snprintf(p->url, sizeof p->url, "%s", weft_inspect_url(inspect));
    p->events = connect_to(p);
    pthread_create(&p->thread, NULL, read_events, p);
}

static void close_page(page *p)
{
    shutdown(p->events, SHUT_RDWR);
    pthread_join(p->thread, NULL);
    close(p->events);
}

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ns of CPU of the process, the HTTP thread and the reader included, for steps that begin sixty
 * times a second. */
static uint64_t run_frames(weft_world *world, uint32_t frames)
{
    uint64_t begin = cpu_ns(), next = weft_bench_now();
    for (uint32_t i = 0; i < frames; i++) {
        weft_world_step(world, 1.0f / 60);
        next += UINT64_C(1000000000) / 60;
        struct timespec until = {.tv_sec = (time_t)(next / 1000000000u),
                                 .tv_nsec = (long)(next % 1000000000u)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    return cpu_ns() - begin;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static void measure_open(weft_bench *bench, weft_world *world, const weft_inspect *inspect)
{
    double ratios[64], frames[64];
    uint32_t reps = weft_bench_reps(bench) < 64 ? weft_bench_reps(bench) : 64;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < reps; i++) { /* without, with, without */
        page p;
        run_frames(world, 4);
        uint64_t before = run_frames(world, FRAMES);
        open_page(&p, inspect);
        run_frames(world, 12); /* until all windows have answered once */
        uint64_t with = run_frames(world, FRAMES);
        close_page(&p);
        bytes = p.bytes;
        run_frames(world, 4);
        uint64_t after = run_frames(world, FRAMES);
        ratios[i] = 2 * (double)with / (double)(before + after);
        frames[i] = (double)(before + after) / 2e6 / FRAMES;
    }
    qsort(ratios, reps, sizeof ratios[0], compare);
    qsort(frames, reps, sizeof frames[0], compare);
    uint32_t workers = weft_bench_workers(bench);
    weft_bench_value(bench, "1M", "ratio", workers, ratios[reps / 2]);
    weft_bench_value(bench, "frame", "ms", workers, frames[reps / 2]);
    if (bytes < 10000)
        weft_bench_fail(bench, "the windows sent %llu bytes only", (unsigned long long)bytes);
}

static void open_windows(weft_bench *bench)
{
    weft_job_pool *pool = NULL;
    weft_inspect *inspect = NULL;
    if (!weft_bench_wants(bench, "1M")) return;
    weft_world *world = make_world(weft_bench_workers(bench), &pool);
    const weft_inspect_desc desc = {.port = WEFT_INSPECT_ANY_PORT, .token = token};
    if (world == NULL || weft_inspect_start(world, &desc, &inspect) != WEFT_OK)
        weft_bench_fail(bench, "no inspector");
    else
        measure_open(bench, world, inspect);
    weft_inspect_stop(inspect);
    weft_world_destroy(world);
    weft_job_pool_destroy(pool);
}

const weft_bench_entry weft_bench_inspect[] = {
    {"inspect.unused", "a step of an empty world with an inspector that no page looks at", unused},
    {"inspect.open", "frames of 1M entities at 60 a second, every window watched, to those without",
     open_windows, true},
    {0}};

#else

const weft_bench_entry weft_bench_inspect[] = {{0}};

#endif
