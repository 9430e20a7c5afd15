/* SPDX-License-Identifier: MIT */
/* bench_transform.c: the transforms of a forest of depth 4: a step of a world whose only system is
 * that of <weft/transform.h>, beside plain C: arrays of transforms, parents by index in front of
 * their children, one after the other, on one thread. */
#include "bench.h"

#include <weft/relation.h>
#include <weft/transform.h>
#include <weft/weft.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 3, NODES = 1 + WIDTH + WIDTH * WIDTH + WIDTH * WIDTH * WIDTH }; /* of a tree: 40 */

/* Owner: one benchmark. */
typedef struct transform_bed {
    weft_bench *bench;
    weft_world *world;
    weft_transform transform;
    weft_entity *nodes;
    uint32_t count;
    /* raw */
    weft_local_transform *locals;
    weft_world_transform *worlds;
    uint32_t *parents; /* UINT32_MAX: none */
} transform_bed;

static void check(const transform_bed *bed, weft_result result)
{
    if (result != WEFT_OK) weft_bench_fail(bed->bench, "%s", weft_world_error(bed->world)->text);
}

static weft_local_transform local_of(uint32_t i)
{
    float angle = (float)(i % 360) * 0.01f;
    return (weft_local_transform){
        {(float)(i % 7), 1, 2}, 0.5f, {0, 0, sinf(angle / 2), cosf(angle / 2)}};
}

/* Level by level, so that parents come before their children. */
static void bed_relate(transform_bed *bed, uint32_t trees)
{
    weft_component parent = weft_component_parent(bed->world);
    uint32_t above = 0, first = trees, wide = trees * WIDTH;
    for (uint32_t i = 0; i < trees; i++) bed->parents[i] = UINT32_MAX;
    for (uint32_t depth = 1; depth < 4; depth++, wide *= WIDTH) {
        for (uint32_t i = 0; i < wide; i++) {
            bed->parents[first + i] = above + i / WIDTH;
            check(bed, weft_relation_set(bed->world, bed->nodes[first + i], parent,
                                         bed->nodes[above + i / WIDTH]));
        }
        above = first;
        first += wide;
    }
}

static transform_bed bed_open(weft_bench *bench, uint32_t workers, uint32_t trees)
{
    transform_bed bed = {.bench = bench, .count = trees * NODES};
    check(&bed, weft_world_create(&(weft_world_desc){.workers = workers}, &bed.world));
    check(&bed, weft_transform_create(bed.world, NULL, &bed.transform));
    bed.nodes = calloc(bed.count, sizeof *bed.nodes);
    bed.locals = weft_bench_zeroed(bed.count, sizeof *bed.locals);
    bed.worlds = weft_bench_zeroed(bed.count, sizeof *bed.worlds);
    bed.parents = weft_bench_zeroed(bed.count, sizeof *bed.parents);
    check(&bed, weft_entity_create_many(
                    bed.world, WEFT_ARCHETYPE(bed.world, bed.transform.local, bed.transform.world),
                    bed.count, bed.nodes));
    for (uint32_t i = 0; i < bed.count; i++) bed.locals[i] = local_of(i);
    check(&bed, weft_entity_set_many(bed.world, bed.nodes, bed.count, bed.transform.local,
                                     bed.locals, sizeof *bed.locals));
    bed_relate(&bed, trees);
    check(&bed, weft_world_step(bed.world, 0.1f));
    return bed;
}

static void update_run(void *data)
{
    const transform_bed *bed = data;
    check(bed, weft_world_step(bed->world, 0.1f));
}

static void matrix_of(const weft_local_transform *t, float m[3][4])
{
    float x = t->rotation[0], y = t->rotation[1], z = t->rotation[2], w = t->rotation[3];
    float s = t->scale, two = s + s;
    float xs = x * two, ys = y * two, zs = z * two;
    m[0][0] = s - (y * ys + z * zs), m[0][1] = x * ys - w * zs, m[0][2] = x * zs + w * ys;
    m[1][0] = x * ys + w * zs, m[1][1] = s - (x * xs + z * zs), m[1][2] = y * zs - w * xs;
    m[2][0] = x * zs - w * ys, m[2][1] = y * zs + w * xs, m[2][2] = s - (x * xs + y * ys);
    for (int i = 0; i < 3; i++) m[i][3] = t->position[i];
}

static void update_raw(void *data)
{
    transform_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++) {
        float m[3][4];
        matrix_of(&bed->locals[i], m);
        if (bed->parents[i] == UINT32_MAX) {
            memcpy(bed->worlds[i].rows, m, sizeof m);
            continue;
        }
        const weft_world_transform *up = &bed->worlds[bed->parents[i]];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++)
                bed->worlds[i].rows[r][c] = up->rows[r][0] * m[0][c] + up->rows[r][1] * m[1][c] +
                                            up->rows[r][2] * m[2][c] +
                                            (c == 3 ? up->rows[r][3] : 0);
    }
    weft_bench_keep(bed->worlds);
}

/* Both have computed the same. */
static void compare(const transform_bed *bed)
{
    for (uint32_t i = 0; i < bed->count; i++) {
        const weft_world_transform *m =
            weft_entity_read(bed->world, bed->nodes[i], bed->transform.world);
        for (int k = 0; k < 12; k++) {
            float difference = m->rows[k / 4][k % 4] - bed->worlds[i].rows[k / 4][k % 4];
            if (!(difference <= 1e-3f && difference >= -1e-3f)) {
                weft_bench_fail(bed->bench, "entity %u differs from plain C", i);
                return;
            }
        }
    }
}

static void update_case(weft_bench *bench, const char *name, uint32_t workers)
{
    if (!weft_bench_wants(bench, name)) return;
    transform_bed bed = bed_open(bench, workers, 1000000 / NODES);
    weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                .unit = "ns/entity",
                                                .items = bed.count,
                                                .workers = workers,
                                                .run = update_run,
                                                .raw = update_raw,
                                                .data = &bed});
    update_run(&bed);
    update_raw(&bed);
    compare(&bed);
    weft_world_destroy(bed.world);
    free(bed.nodes), free(bed.locals), free(bed.worlds), free(bed.parents);
}

static void update(weft_bench *bench)
{
    update_case(bench, "1M-depth4", weft_bench_workers(bench));
    update_case(bench, "1M-depth4-one", 1);
}

const weft_bench_entry weft_bench_transform[] = {
    {"transform.update", "world transforms of a forest of depth 4; raw: plain C, one thread",
     update, false},
    {0}};
