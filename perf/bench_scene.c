/* SPDX-License-Identifier: MIT */
/* bench_scene.c: scenes on one worker: a catalogue baked and filled from nothing, then with one
 * record changed; a document of 10,000 objects from nothing and after one edit, and one of a
 * million; the latency of a live link. Files are in memory, and copied when they are read (not
 * those of the link). No raw: plain C has no such work.
 *
 * The catalogue is ../shared/data/satellites/active-2026-08-11.tle (16,089 objects) where it
 * exists, else the shipped one (979), under names of its own. */
#include "bench.h"

#include "screen/screen.h"
#include "screen/screen_scene.h"
#include "screen/tle_source.h"

#include <weft/live.h>
#include <weft/scene.h>
#include <weft/transform.h>
#include <weft/weft.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char large_catalogue[] = "../shared/data/satellites/active-2026-08-11.tle";

typedef struct motion {
    float speed, axis[3];
} motion;

static const weft_field motion_fields[] = {WEFT_FIELD_WITH(motion, speed, .unit = "rad/s"),
                                           WEFT_FIELD(motion, axis)};
static const weft_type motion_type = WEFT_TYPE(motion, motion_fields);

/* A scene of one file. Owner: one benchmark. */
typedef struct scene_bed {
    weft_bench *bench;
    weft_world *world;
    weft_scene *scene;
    const char *path; /* its suffix names the source */
    char *text;
    size_t count;
    uint64_t stamp;
    uint32_t objects, round;
    uint32_t *places; /* of what edits change, in the text: one for each object */
} scene_bed;

static weft_result read_text(const char *path, uint64_t known, uint64_t *stamp, weft_text *out,
                             const weft_allocator *allocator, void *user)
{
    const scene_bed *bed = user;
    if (strcmp(path, bed->path) != 0) return WEFT_NOT_FOUND;
    *stamp = bed->stamp;
    if (known == bed->stamp) return WEFT_OK;
    char *bytes = allocator->allocate(allocator->user, bed->count + 1, 16);
    if (bytes == NULL) return WEFT_OUT_OF_MEMORY;
    memcpy(bytes, bed->text, bed->count);
    *out = (weft_text){bytes, bed->count, NULL};
    return WEFT_OK;
}

static void bed_close(scene_bed *bed)
{
    weft_scene_destroy(bed->scene);
    weft_world_destroy(bed->world);
    bed->scene = NULL;
    bed->world = NULL;
}

/* A world and a scene that has baked nothing. */
static void bed_open(void *data)
{
    scene_bed *bed = data;
    weft_transform transform;
    bed_close(bed);
    bed->stamp++;
    weft_world_create(&(weft_world_desc){.workers = 1}, &bed->world);
    weft_transform_create(bed->world, NULL, &transform);
    weft_component_create(bed->world,
                          &(weft_component_desc){.name = "Motion", .type = &motion_type});
    screen_scene_register(bed->world);
    const weft_baker_desc bakers[] = {screen_scene_baker};
    const weft_source_desc sources[] = {tle_source};
    const weft_scene_desc desc = {.bakers = bakers,
                                  .baker_count = 1,
                                  .sources = sources,
                                  .source_count = 1,
                                  .read = read_text,
                                  .user = bed};
    if (weft_scene_create(bed->world, &desc, &bed->scene) != WEFT_OK)
        weft_bench_fail(bed->bench, "%s: no scene", bed->path);
}

static void bed_bake(const scene_bed *bed)
{
    if (weft_scene_bake(bed->scene, &bed->path, 1) == WEFT_OK) return;
    weft_error mistake = {.text = "no memory"};
    weft_scene_mistakes(bed->scene, &mistake, 1);
    weft_bench_fail(bed->bench, "%s", mistake.text);
}

static void whole_run(void *data)
{
    const scene_bed *bed = data;
    bed_bake(bed);
    if (weft_scene_fill(bed->scene, bed->world) != WEFT_OK)
        weft_bench_fail(bed->bench, "%s", weft_world_error(bed->world)->text);
}

/* Another digit of one object, and the checksum of its line. */
static void edit_prepare(void *data)
{
    scene_bed *bed = data;
    char *at = bed->text + bed->places[bed->round++ * 7919 % bed->objects];
    const int was = *at - '0', is = (was + 1) % 10;
    *at = (char)('0' + is);
    if (bed->path[0] == 's') at[6] = (char)('0' + (at[6] - '0' + is - was + 10) % 10);
    bed->stamp++;
}

/* To the list of what has changed. */
static void edit_run(void *data)
{
    const scene_bed *bed = data;
    weft_scene_change change;
    bed_bake(bed);
    if (!weft_scene_change_at(bed->scene, 0, &change) || change.kind != WEFT_SCENE_CHANGED ||
        weft_scene_change_at(bed->scene, 1, &change))
        weft_bench_fail(bed->bench, "%s: an edit that is not one change", bed->path);
}

static void whole_case(scene_bed *bed, const char *name, const char *unit, double items)
{
    weft_bench_run(bed->bench, &(weft_bench_measure){.name = name,
                                                     .unit = unit,
                                                     .items = items,
                                                     .workers = 1,
                                                     .run = whole_run,
                                                     .prepare = bed_open,
                                                     .data = bed});
    weft_scene_stats stats = {0};
    weft_scene_stats_get(bed->scene, &stats, sizeof stats);
    if (bed->scene != NULL && stats.files != 0 && stats.entities != bed->objects)
        weft_bench_fail(bed->bench, "%s: %u entities instead of %u", name, (unsigned)stats.entities,
                        (unsigned)bed->objects);
}

static void edit_case(scene_bed *bed, const char *name)
{
    if (!weft_bench_wants(bed->bench, name)) return;
    bed_open(bed);
    bed_bake(bed);
    weft_bench_run(bed->bench, &(weft_bench_measure){.name = name,
                                                     .unit = "ms",
                                                     .workers = 1,
                                                     .run = edit_run,
                                                     .prepare = edit_prepare,
                                                     .data = bed});
}

static void bed_free(scene_bed *bed)
{
    bed_close(bed);
    free(bed->text);
    free(bed->places);
}

/* ---- a catalogue ---- */

static bool catalogue_read(scene_bed *bed, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return false;
    const size_t room = 8 << 20;
    bed->text = malloc(room);
    bed->places = calloc(room / 140, sizeof *bed->places);
    if (bed->text != NULL) bed->count = fread(bed->text, 1, room, file);
    fclose(file);
    return bed->text != NULL && bed->places != NULL && bed->count < room;
}

/* The last digit of the mean motion of each record, column 63 of its second line; the checksum is
 * in column 69. */
static void catalogue_places(scene_bed *bed)
{
    const char *end = bed->text + bed->count;
    for (const char *line = bed->text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL) stop = end;
        if (stop - line >= 69 && line[0] == '2' && line[1] == ' ')
            bed->places[bed->objects++] = (uint32_t)(line + 62 - bed->text);
        line = stop + 1;
    }
}

static void catalogue(weft_bench *bench)
{
    char shipped[4096];
    const bool is_large = access(large_catalogue, R_OK) == 0;
    scene_bed bed = {.bench = bench, .path = "sky.tle"};
    if (catalogue_read(&bed, is_large ? large_catalogue
                                      : screen_default_catalogue(shipped, sizeof shipped))) {
        catalogue_places(&bed);
        whole_case(&bed, is_large ? "satellites" : "979-satellites", "ms", 1);
        edit_case(&bed, is_large ? "satellites-one-record" : "979-satellites-one-record");
    } else {
        weft_bench_fail(bench, "scene.bake: no catalogue");
    }
    bed_free(&bed);
}

/* ---- documents ---- */

enum { GROUP = 10, OBJECT_BYTES = 192 };

/* Groups of an object with nine below it: places, a component with a unit; each tenth is of a
 * prefab. */
static bool document_write(scene_bed *bed, uint32_t objects)
{
    bed->objects = objects;
    bed->text = malloc((size_t)objects * OBJECT_BYTES + 4096);
    bed->places = calloc(objects, sizeof *bed->places);
    if (bed->text == NULL || bed->places == NULL) return false;
    char *at = bed->text;
    at += sprintf(at, "{ \"weft\": 1,\n  \"prefabs\": {\"rotor\": {\"Motion\": {\"speed\": "
                      "\"90 deg/s\", \"axis\": [0, 1, 0]}}},\n  \"objects\": {\n");
    for (uint32_t i = 0; i < objects; i++) {
        const uint32_t part = i % GROUP;
        at += sprintf(at,
                      "%s\"%s%u\": {\"transform\": {\"position\": [%u.5, 0, %u]}, %s\"Motion\": "
                      "{\"speed\": \"1",
                      part == 0 ? "    " : "      ", part == 0 ? "group" : "part",
                      part == 0 ? i / GROUP : part, i % 1000, i / 1000,
                      part == GROUP - 1 ? "\"prefab\": \"#rotor\", " : "");
        bed->places[i] = (uint32_t)(at - bed->text);
        at += sprintf(at, "%u deg/s\"}%s\n", i % 10,
                      part == 0           ? ", \"children\": {"
                      : part == GROUP - 1 ? "}}},"
                                          : "},");
    }
    at += sprintf(at, "  }\n}\n");
    bed->count = (size_t)(at - bed->text);
    return true;
}

static void document(weft_bench *bench, uint32_t objects, const char *whole, const char *edit)
{
    if (!weft_bench_wants(bench, whole) && (edit == NULL || !weft_bench_wants(bench, edit))) return;
    scene_bed bed = {.bench = bench, .path = "level.weft"};
    if (document_write(&bed, objects)) {
        bed.objects++; /* the prefab, which stands in the world as one */
        whole_case(&bed, whole, "ns/object", objects);
        bed.objects--;
        if (edit != NULL) edit_case(&bed, edit);
    } else {
        weft_bench_fail(bench, "scene.bake: no memory");
    }
    bed_free(&bed);
}

static void bake(weft_bench *bench)
{
    catalogue(bench);
    document(bench, 10000, "objects-10k", "objects-10k-one-edit");
    document(bench, 1000000, "objects-1M", NULL);
}

/* ---- live links ---- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Writes the text to a file, in place. */
static bool text_write(const scene_bed *bed, const char *path)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return false;
    const bool is_written = write(file, bed->text, bed->count) == (ssize_t)bed->count;
    close(file);
    return is_written;
}

/* From the close of the file to the values in the world; ms, 0 after a failure. */
static double edit_await(scene_bed *bed, weft_live *live, const char *path)
{
    weft_live_report report = {0};
    edit_prepare(bed);
    if (!text_write(bed, path)) return 0;
    const uint64_t begin = weft_bench_now();
    /* a bake that met a half-written file changes nothing */
    for (uint32_t looks = 0; report.changed == 0 && looks < 100000; looks++) {
        if (weft_live_apply(live, 0, &report, sizeof report) != WEFT_OK) return 0;
        if (report.changed == 0) nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return report.changed == 1 ? (double)(weft_bench_now() - begin) / 1e6 : 0;
}

static void latency(weft_bench *bench)
{
    enum { EDITS = 1000 };
    static double took[EDITS];
    char shipped[4096], path[64];
    const bool is_large = access(large_catalogue, R_OK) == 0;
    scene_bed bed = {.bench = bench, .path = "sky.tle"};
    weft_live *live = NULL;
    snprintf(path, sizeof path, "/tmp/weft-bench-%d.tle", (int)getpid());
    bool is_open = catalogue_read(
        &bed, is_large ? large_catalogue : screen_default_catalogue(shipped, sizeof shipped));
    if (is_open) {
        catalogue_places(&bed);
        bed_open(&bed);
        const weft_baker_desc bakers[] = {screen_scene_baker};
        const weft_source_desc sources[] = {tle_source};
        const weft_scene_desc scene = {
            .bakers = bakers, .baker_count = 1, .sources = sources, .source_count = 1};
        const weft_live_desc desc = {
            .scene = &scene, .paths = (const char *[]){path}, .path_count = 1};
        is_open = text_write(&bed, path) && weft_live_start(bed.world, &desc, &live) == WEFT_OK;
    }
    for (uint32_t i = 0; i < EDITS && is_open; i++) {
        took[i] = edit_await(&bed, live, path);
        is_open = took[i] != 0;
    }
    if (!is_open) weft_bench_fail(bench, "live.latency: an edit has not reached the world");
    qsort(took, EDITS, sizeof *took, by_size);
    weft_bench_value(bench, is_large ? "p50" : "979-p50", "ms", 1, took[EDITS / 2]);
    weft_bench_value(bench, is_large ? "p99" : "979-p99", "ms", 1, took[EDITS * 99 / 100]);
    weft_live_stop(live);
    bed_free(&bed);
    unlink(path);
}

const weft_bench_entry weft_bench_scene[] = {
    {"scene.bake", "documents and a catalogue become entities: all of them, or after one edit",
     bake, true},
    {"live.latency", "1,000 edits of a catalogue: from the closed file to values in the world",
     latency, true},
    {0}};
