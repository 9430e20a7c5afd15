/* SPDX-License-Identifier: MIT */
/* bench_stream.c: sections that come into a world and leave it.
 *
 * 1 M entities of 40 bytes (one field refers to another entity of the section), of one
 * archetype, in section 1 of a file that the page cache has. `1M-owner`: what the calls of
 * weft_stream_step take in all, from the request to the entities in the world, and back.
 * `1M-background`: from the first call until the section could be published; raw reads the same
 * bytes with pread into fresh huge pages. `hundred`: 100 sections of 10,000 come and go while
 * the owner gives 0.5 ms a frame. `six-million`: 100 sections of 60,000 come while frames of
 * 1/60 s run; `worst-frame` is wall time, `worst-frame-cpu` the processor's. */
#include "bench.h"

#include <weft/ecs.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct body {
    float position[3], velocity[3];
    weft_entity next;
    uint32_t kind, number;
} body;

static const weft_field body_fields[] = {{"position", WEFT_FIELD_F32, offsetof(body, position), 3},
                                         {"velocity", WEFT_FIELD_F32, offsetof(body, velocity), 3},
                                         {"next", WEFT_FIELD_ENTITY, offsetof(body, next), 1},
                                         {"kind", WEFT_FIELD_U32, offsetof(body, kind), 1},
                                         {"number", WEFT_FIELD_U32, offsetof(body, number), 1}};

/* A world and the file that it streams. Owner: one benchmark. */
typedef struct streaming {
    weft_world *world;
    weft_component body;
    weft_stream *stream;
    char path[64];
} streaming;

static bool world_make(streaming *s)
{
    if (weft_world_create(&(weft_world_desc){.workers = 1}, &s->world) != WEFT_OK) return false;
    s->body = weft_component_create(s->world, &(weft_component_desc){.name = "body",
                                                                     .size = sizeof(body),
                                                                     .fields = body_fields,
                                                                     .field_count = 5});
    return s->body.id != 0;
}

/* A file of `sections` sections, 1.., of `rows` entities each. */
static bool file_make(streaming *s, uint32_t sections, uint32_t rows)
{
    static uint32_t made;
    snprintf(s->path, sizeof s->path, "/tmp/weft-bench-%d-%u.wss", (int)getpid(), made++);
    weft_entity *e = malloc(rows * sizeof *e);
    if (e == NULL || !world_make(s)) return false;
    weft_component list[2] = {s->body, weft_component_section(s->world)};
    weft_archetype archetype = weft_archetype_create(s->world, list, 2);
    bool is_made = true;
    for (uint32_t k = 1; k <= sections && is_made; k++) {
        weft_section own = {.section = k};
        is_made = weft_entity_create_many(s->world, archetype, rows, e) == WEFT_OK &&
                  weft_entity_set_shared_many(s->world, e, rows, list[1], &own) == WEFT_OK;
        for (uint32_t i = 0; i < rows && is_made; i++) {
            body *b = weft_entity_write(s->world, e[i], s->body);
            b->next = e[rows - 1 - i];
            b->number = i;
            b->position[0] = (float)k;
        }
    }
    is_made = is_made && weft_sections_save(s->world, s->path, NULL) == WEFT_OK;
    weft_world_destroy(s->world);
    free(e);
    return is_made;
}

static bool bed_open(weft_bench *bench, streaming *s, uint32_t sections, uint32_t rows,
                     uint32_t threads)
{
    memset(s, 0, sizeof *s);
    bool is_open = file_make(s, sections, rows) && world_make(s) &&
                   weft_stream_open(s->world, s->path, &(weft_stream_desc){.threads = threads},
                                    &s->stream) == WEFT_OK;
    if (!is_open) weft_bench_fail(bench, "no section file");
    return is_open;
}

static void bed_close(streaming *s)
{
    weft_stream_close(s->stream);
    weft_world_destroy(s->world);
    unlink(s->path);
}

static weft_section_state state_of(const streaming *s, uint32_t section)
{
    weft_section_info info = {0};
    weft_stream_section_get(s->stream, section, &info, sizeof info);
    return info.state;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median_of(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, by_size);
    return values[count / 2];
}

/* Steps, one each 50 us, until the section is in a state; *owner: what the steps took, *all: until
 * the step in which it was. */
static void steps_until(streaming *s, uint32_t section, weft_section_state state, double *owner,
                        double *all)
{
    uint64_t begin = weft_bench_now(), busy = 0;
    do {
        uint64_t before = weft_bench_now();
        weft_stream_step(s->world, 0);
        uint64_t after = weft_bench_now();
        busy += after - before;
        *all = (double)(after - begin) / 1e6;
        if (state_of(s, section) != state) nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    } while (state_of(s, section) != state);
    *owner = (double)busy / 1e6;
}

/* One load and one unload. */
static void round_trip(streaming *s, double *load, double *background, double *unload)
{
    double all;
    weft_stream_load(s->stream, 1, 0);
    steps_until(s, 1, WEFT_SECTION_LOADED, load, background);
    weft_stream_unload(s->stream, 1);
    steps_until(s, 1, WEFT_SECTION_ABSENT, unload, &all);
}

/* pread of the whole file into fresh huge pages, 1 MiB a call; ms. */
static double pread_raw(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat state;
    if (file < 0 || fstat(file, &state) != 0) return 0;
    size_t bytes = (size_t)state.st_size, room = (bytes + (4u << 20)) & ~(size_t)((2u << 20) - 1);
    char *map = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t begin = weft_bench_now();
    if (map == MAP_FAILED) return 0;
    madvise(map, room, MADV_HUGEPAGE);
    char *to = (char *)(((uintptr_t)map + (2u << 20) - 1) & ~(uintptr_t)((2u << 20) - 1));
    for (size_t at = 0; at < bytes; at += 1u << 20) {
        ssize_t got =
            pread(file, to + at, bytes - at < 1u << 20 ? bytes - at : 1u << 20, (off_t)at);
        if (got < 0) break;
    }
    double took = (double)(weft_bench_now() - begin) / 1e6;
    munmap(map, room);
    close(file);
    return took;
}

enum { ROUNDS_MOST = 64 };

static void one_million(weft_bench *bench, bool is_load)
{
    streaming s;
    double load[ROUNDS_MOST], background[ROUNDS_MOST], unload[ROUNDS_MOST], raw[ROUNDS_MOST];
    uint32_t rounds = weft_bench_reps(bench) + 1;
    if (rounds > ROUNDS_MOST) rounds = ROUNDS_MOST;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        if (!bed_open(bench, &s, 1, 1000000, threads)) return;
        for (uint32_t i = 0; i < rounds; i++) {
            raw[i] = pread_raw(s.path);
            round_trip(&s, &load[i], &background[i], &unload[i]);
        }
        bed_close(&s);
        uint32_t n = rounds - 1; /* the first one maps the memory */
        double first = background[0], first_raw = raw[0];
        if (!is_load && threads == 1)
            weft_bench_value(bench, "1M-owner", "ms", 1, median_of(unload + 1, n));
        if (!is_load) continue;
        if (threads == 1) {
            weft_bench_value(bench, "1M-owner", "ms", 1, median_of(load + 1, n));
            weft_bench_value(bench, "1M-pread", "ms", 1, median_of(raw + 1, n));
            weft_bench_value(bench, "1M-first", "ratio", 1, first / first_raw);
        }
        weft_bench_value(bench, threads == 1 ? "1M-background" : "1M-background-2", "ratio",
                         threads, median_of(background + 1, n) / median_of(raw + 1, n));
    }
}

static void load(weft_bench *bench)
{
    one_million(bench, true);
}

static void unload(weft_bench *bench)
{
    one_million(bench, false);
}

/* ---- frames ---- */

static double thread_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* One frame of streaming; ms. *busy, unless NULL: those in which the owner had a processor, which
 * tells what streaming takes from what other processes take. */
static double frame(streaming *s, uint64_t budget, double *busy)
{
    double before = thread_ms();
    uint64_t begin = weft_bench_now();
    weft_stream_step(s->world, budget);
    uint64_t end = weft_bench_now();
    if (busy != NULL) *busy = thread_ms() - before;
    return (double)(end - begin) / 1e6;
}

static void hundred(weft_bench *bench)
{
    enum { SECTIONS = 100, FRAMES = 3000, NEAR = 20 };
    streaming s;
    if (!bed_open(bench, &s, SECTIONS, 10000, 1)) return;
    static double frames[FRAMES];
    for (uint32_t f = 0; f < FRAMES; f++) {
        uint32_t at = f / 10; /* a window of sections moves on */
        if (f % 10 == 0) {
            weft_stream_load(s.stream, 1 + (at + NEAR) % SECTIONS, 0);
            weft_stream_unload(s.stream, 1 + at % SECTIONS);
        }
        frames[f] = frame(&s, 500000, NULL);
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    median_of(frames, FRAMES);
    weft_bench_value(bench, "median-frame", "ms", 1, frames[FRAMES / 2]);
    weft_bench_value(bench, "p99-frame", "ms", 1, frames[FRAMES * 99 / 100]);
    weft_bench_value(bench, "worst-frame", "ms", 1, frames[FRAMES - 1]);
    bed_close(&s);
}

static void six_million(weft_bench *bench)
{
    enum { SECTIONS = 100, FRAMES_MOST = 2000 };
    streaming s;
    if (!bed_open(bench, &s, SECTIONS, 60000, 1)) return;
    for (uint32_t k = 1; k <= SECTIONS; k++) weft_stream_load(s.stream, k, -(float)k);
    double worst = 0, worst_busy = 0;
    uint32_t frames = 0;
    weft_stream_stats stats = {0};
    for (; frames < FRAMES_MOST && stats.loaded < SECTIONS; frames++) {
        double busy, took = frame(&s, 1000000, &busy);
        if (took > worst) worst = took;
        if (busy > worst_busy) worst_busy = busy;
        nanosleep(&(struct timespec){.tv_nsec = 1000000000 / 60}, NULL);
        weft_stream_stats_get(s.world, &stats, sizeof stats);
    }
    weft_bench_value(bench, "worst-frame", "ms", 1, worst);
    weft_bench_value(bench, "worst-frame-cpu", "ms", 1, worst_busy);
    weft_bench_value(bench, "frames", "frames", 1, frames);
    if (stats.loaded < SECTIONS) weft_bench_fail(bench, "not all sections came");
    bed_close(&s);
}

const weft_bench_entry weft_bench_stream[] = {
    {"stream.load", "1 M entities of 40 bytes come into a world", load},
    {"stream.unload", "1 M entities of 40 bytes leave a world", unload},
    {"stream.hundred", "100 sections of 10,000 entities come and go, budget 0.5 ms", hundred},
    {"stream.six-million", "6 M entities in 100 sections come, 60 frames a second", six_million,
     true},
    {0}};
