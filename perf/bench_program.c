/* SPDX-License-Identifier: MIT */
/* bench_program.c: whole programs (programs/program.h) beside the same models in plain C: frames of
 * both after both have come to the same state.
 */
#include "bench.h"
#include "program.h"

#include <stdio.h>
#include <string.h>

enum { WARM_UP = 60 };

/* Both sides of a program, stepped in turn by the harness. */
typedef struct program_bed {
    const program *program;
    void *weft, *raw;
} program_bed;

static void step_weft(void *data)
{
    program_bed *bed = data;
    bed->program->c->step(bed->weft);
}

static void step_raw(void *data)
{
    program_bed *bed = data;
    bed->program->raw->step(bed->raw);
}

static void measure(weft_bench *bench, program_bed *bed, const char *name, uint32_t workers)
{
    if (workers > 1) weft_bench_pin_threads(); /* loops learn what a second worker gains */
    for (uint32_t i = 0; i < WARM_UP; i++) {
        step_weft(bed);
        step_raw(bed);
    }
    if (bed->program->c->content(bed->weft) != bed->program->raw->content(bed->raw))
        weft_bench_fail(bench, "%s: not what plain C computes", name);
    weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                .unit = "us/frame",
                                                .workers = workers,
                                                .run = step_weft,
                                                .raw = step_raw,
                                                .data = bed});
    weft_bench_unpin_threads();
}

static void program_case(weft_bench *bench, const program *p, uint32_t size, uint32_t workers)
{
    char name[32];
    snprintf(name, sizeof name, "%uk%s", size / 1000, workers > 1 ? "-2" : "");
    if (!weft_bench_wants(bench, name)) return;
    program_bed bed = {p, p->c->open(size, workers), p->raw->open(size, 1)};
    if (bed.weft != NULL && bed.raw != NULL)
        measure(bench, &bed, name, workers);
    else
        weft_bench_fail(bench, "%s: no memory", name);
    if (bed.weft != NULL) p->c->close(bed.weft);
    if (bed.raw != NULL) p->raw->close(bed.raw);
}

static void bench_one(weft_bench *bench, const char *name)
{
    for (const program *p = programs; p->name != NULL; p++) {
        if (strcmp(p->name, name) != 0) continue;
        program_case(bench, p, p->size / 10, 1);
        program_case(bench, p, p->size, 1);
        program_case(bench, p, p->size, 2);
    }
}

static void colony(weft_bench *bench)
{
    bench_one(bench, "colony");
}

static void defence(weft_bench *bench)
{
    bench_one(bench, "defence");
}

static void epidemic(weft_bench *bench)
{
    bench_one(bench, "epidemic");
}

static void flock(weft_bench *bench)
{
    bench_one(bench, "flock");
}

static void game(weft_bench *bench)
{
    bench_one(bench, "game");
}

static void market(weft_bench *bench)
{
    bench_one(bench, "market");
}

static void sheep(weft_bench *bench)
{
    bench_one(bench, "sheep");
}

static void traffic(weft_bench *bench)
{
    bench_one(bench, "traffic");
}

const weft_bench_entry weft_bench_program[] = {
    {"program.colony", "ants, trails, sparse loads; raw: plain C", colony, false},
    {"program.defence", "ships with turrets, shells, events; raw: plain C", defence, false},
    {"program.epidemic", "people, households, births, deaths, observers; raw: plain C", epidemic,
     false},
    {"program.flock", "birds that turn with their neighbours; raw: plain C", flock, false},
    {"program.game", "fighters with targets, fire, deaths and births; raw: plain C", game, false},
    {"program.market", "traders, orders that live one step, auctions; raw: plain C", market, false},
    {"program.sheep", "wolves, sheep and grass: births, deaths; raw: plain C", sheep, false},
    {"program.traffic", "cars whose lanes are shared values; raw: plain C", traffic, false},
    {0}};
