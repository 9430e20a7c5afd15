/* SPDX-License-Identifier: MIT */
/* bench_graph.c: frames whose systems need not wait for each other.
 *
 *   frame.independent  8 chains of 4 systems that are not fused, of unequal length, over disjoint
 *                      components, and one SERIAL system of about 5 ms; raw: the same work in plain
 *                      C in order, on one thread. On n workers the bound is raw / n
 *   frame.main_thread  a MAIN_THREAD system of about 2 ms beside a loop of about 4 ms; the same
 *   frame.background   a BACKGROUND system of about 4 ms beside a loop of 1 ms, commands for 1,000
 *                      entities, and a loop of 3 ms that sees them; the same
 */
#include "bench.h"

#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>

enum { CHAINS = 8, LINKS = 4, ROWS = 4096, MOVED = 1000, STEPS_OF_MS = 690000 };

/* One piece of work: `steps` dependent multiply-adds a row. */
typedef struct link {
    uint32_t steps;
} link;

typedef struct frame_bed {
    weft_world *world;
    weft_component chain[CHAINS];
    link links[CHAINS * LINKS];
    uint32_t single_steps, loop_steps;
    double single; /* what the systems without rows work on */
    double *raw[CHAINS];
    weft_component mark;
    weft_entity moved[MOVED];
    bool is_marked;
} frame_bed;

static double churn(double value, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) value = value * 0.999999 + 0.25;
    return value;
}

static void run_link(weft_slice *slice, void *user)
{
    const link *self = user;
    double *values = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < slice->count; i++) values[i] = churn(values[i], self->steps);
}

static void run_single(weft_slice *slice, void *user)
{
    frame_bed *bed = user;
    (void)slice;
    bed->single = churn(bed->single, bed->single_steps);
}

static void step(void *data)
{
    frame_bed *bed = data;
    weft_world_step(bed->world, 0);
}

static bool bed_open(frame_bed *bed, uint32_t workers, uint32_t chains)
{
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &bed->world) != WEFT_OK)
        return false;
    for (uint32_t i = 0; i < chains; i++) {
        char name[16];
        snprintf(name, sizeof name, "chain%u", i);
        bed->chain[i] = weft_component_create_plain(bed->world, name, 8, 8, 0);
        weft_archetype archetype = weft_archetype_create(bed->world, &bed->chain[i], 1);
        if (weft_entity_create_many(bed->world, archetype, ROWS, NULL) != WEFT_OK) return false;
        bed->raw[i] = weft_bench_zeroed(ROWS, sizeof(double));
        if (bed->raw[i] == NULL) return false;
    }
    return true;
}

static void bed_close(frame_bed *bed)
{
    weft_world_destroy(bed->world);
    for (uint32_t i = 0; i < CHAINS; i++) free(bed->raw[i]);
}

static weft_system add_rows(frame_bed *bed, const char *name, uint32_t chain, link *self)
{
    return weft_system_create(
        bed->world,
        &(weft_system_desc){.name = name,
                            .run = run_link,
                            .user = self,
                            .flags = WEFT_SYSTEM_NOT_FUSED,
                            .over.rows.terms = {{bed->chain[chain], WEFT_WRITE, WEFT_ALL, 0}}});
}

/* A peer runs stage after stage. */
static bool choose(frame_bed *bed, bool is_peer)
{
    const weft_schedule_desc options = {.without_overlap = is_peer};
    return weft_schedule_set(bed->world, &options) == WEFT_OK;
}

/* ---- independent ---- */

static void independent_raw(void *data)
{
    frame_bed *bed = data;
    for (uint32_t i = 0; i < CHAINS * LINKS; i++)
        for (uint32_t row = 0; row < ROWS; row++) {
            double *value = &bed->raw[i / LINKS][row];
            *value = churn(*value, bed->links[i].steps);
        }
    bed->single = churn(bed->single, bed->single_steps);
}

static bool independent_make(frame_bed *bed, uint32_t workers, bool is_peer)
{
    *bed = (frame_bed){.single_steps = 5 * STEPS_OF_MS};
    if (!bed_open(bed, workers, CHAINS)) return false;
    for (uint32_t i = 0; i < CHAINS * LINKS; i++) {
        char system[32];
        snprintf(system, sizeof system, "link%u.%u", i / LINKS, i % LINKS);
        bed->links[i].steps = 10 + (i * 7) % 100;
        if (add_rows(bed, system, i / LINKS, &bed->links[i]).id == 0) return false;
    }
    weft_system_desc desc = {
        .name = "single", .run = run_single, .user = bed, .flags = WEFT_SYSTEM_SERIAL};
    return weft_system_create(bed->world, &desc).id != 0 && choose(bed, is_peer);
}

/* Against plain C and, on several workers, against the same made as a peer. */
static void graph_case(weft_bench *bench, const char *name, uint32_t workers,
                       bool (*make)(frame_bed *bed, uint32_t workers, bool is_peer),
                       weft_bench_fn *raw, const char *peer)
{
    if (!weft_bench_wants(bench, name)) return;
    frame_bed graph, other;
    bool is_made = make(&graph, workers, false);
    is_made = make(&other, workers, true) && is_made;
    if (is_made)
        weft_bench_run(bench,
                       &(weft_bench_measure){.name = name,
                                             .unit = "us/frame",
                                             .workers = workers,
                                             .run = step,
                                             .raw = raw,
                                             .data = &graph,
                                             .peers = {{workers > 1 ? peer : NULL, step, &other}}});
    else
        weft_bench_fail(bench, "%s: the world could not be made", name);
    bed_close(&graph);
    bed_close(&other);
}

static void bench_independent(weft_bench *bench)
{
    graph_case(bench, "8x4", 1, independent_make, independent_raw, "stages");
    graph_case(bench, "8x4-2", 2, independent_make, independent_raw, "stages");
}

/* ---- main thread ---- */

static void main_raw(void *data)
{
    frame_bed *bed = data;
    for (uint32_t row = 0; row < ROWS; row++)
        bed->raw[0][row] = churn(bed->raw[0][row], bed->links[0].steps);
    bed->single = churn(bed->single, bed->single_steps);
}

static bool main_make(frame_bed *bed, uint32_t workers, bool is_peer)
{
    *bed = (frame_bed){.single_steps = 2 * STEPS_OF_MS};
    bed->links[0].steps = 4 * STEPS_OF_MS / ROWS;
    if (!bed_open(bed, workers, 1) || add_rows(bed, "loop", 0, bed->links).id == 0) return false;
    weft_system_desc desc = {
        .name = "main", .run = run_single, .user = bed, .flags = WEFT_SYSTEM_MAIN_THREAD};
    return weft_system_create(bed->world, &desc).id != 0 && choose(bed, is_peer);
}

static void bench_main_thread(weft_bench *bench)
{
    graph_case(bench, "2+4ms", 1, main_make, main_raw, "stages");
    graph_case(bench, "2+4ms-2", 2, main_make, main_raw, "stages");
}

/* ---- background ---- */

/* Marks all of them in one frame, and takes the marks away in the next. */
static void run_marks(weft_slice *slice, void *user)
{
    frame_bed *bed = user;
    weft_recorder *recorder = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < MOVED; i++)
        if (bed->is_marked)
            weft_recorder_remove(recorder, bed->moved[i], bed->mark);
        else
            weft_recorder_add(recorder, bed->moved[i], bed->mark);
    bed->is_marked = !bed->is_marked;
}

static void background_raw(void *data)
{
    frame_bed *bed = data;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t row = 0; row < ROWS; row++)
            bed->raw[i][row] = churn(bed->raw[i][row], bed->links[i].steps);
    bed->single = churn(bed->single, bed->single_steps);
}

/* A peer has a system in the place of the background one that its segment waits for. */
static bool background_make(frame_bed *bed, uint32_t workers, bool is_peer)
{
    *bed = (frame_bed){.single_steps = 4 * STEPS_OF_MS};
    bed->links[0].steps = STEPS_OF_MS / ROWS;
    bed->links[1].steps = 3 * STEPS_OF_MS / ROWS;
    if (!bed_open(bed, workers, 3)) return false;
    bed->mark = WEFT_TAG(bed->world, mark);
    weft_archetype archetype = weft_archetype_create(bed->world, &bed->chain[2], 1);
    if (weft_entity_create_many(bed->world, archetype, MOVED, bed->moved) != WEFT_OK) return false;
    weft_system_desc desc = {.name = "single",
                             .run = run_single,
                             .user = bed,
                             .flags = is_peer ? WEFT_SYSTEM_SERIAL : WEFT_SYSTEM_BACKGROUND};
    weft_system_desc marks = {.name = "marks",
                              .run = run_marks,
                              .user = bed,
                              .effects = WEFT_RECORDS_ADD | WEFT_RECORDS_REMOVE,
                              .records = {bed->mark}};
    weft_system_desc late = {.name = "late",
                             .run = run_link,
                             .user = &bed->links[1],
                             .flags = WEFT_SYSTEM_NOT_FUSED,
                             .over.rows.terms = {{bed->chain[1], WEFT_WRITE, WEFT_ALL, 0},
                                                 {bed->mark, WEFT_NO_ACCESS, WEFT_OPTIONAL, 0}}};
    return weft_system_create(bed->world, &desc).id != 0 &&
           add_rows(bed, "early", 0, &bed->links[0]).id != 0 &&
           weft_system_create(bed->world, &marks).id != 0 &&
           weft_system_create(bed->world, &late).id != 0;
}

static void bench_background(weft_bench *bench)
{
    graph_case(bench, "4+1+3ms", 1, background_make, background_raw, "waiting");
    graph_case(bench, "4+1+3ms-2", 2, background_make, background_raw, "waiting");
}

const weft_bench_entry weft_bench_graph[] = {
    {"frame.independent", "8 chains of 4 systems and a SERIAL one of 5 ms; raw: one thread",
     bench_independent, false},
    {"frame.main_thread", "a MAIN_THREAD system of 2 ms beside a loop of 4 ms; raw: one thread",
     bench_main_thread, false},
    {"frame.background",
     "a BACKGROUND system of 4 ms beside 1 ms, a sync point and 3 ms; raw: one thread",
     bench_background, false},
    {0}};
