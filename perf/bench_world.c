/* SPDX-License-Identifier: MIT */
/* bench_world.c: whole worlds: transfer of all entities to another world, and world files in
 * memory.
 *
 * 1 M entities of 32 bytes with their id and a reference. Raw copies the same columns once.
 * Files are written to and read from memory: the disk is not measured; raw copies as many bytes
 * as the file has. */
#include "bench.h"

#include "world_file_read.h"
#include "world_file_write.h"

#include <weft/ecs.h>

#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 1000000 };

typedef struct vec3 {
    float x, y, z;
} vec3;

/* Two worlds, or one and its file. Owner: one benchmark. */
typedef struct moving {
    weft_world *from, *to;
    weft_result result;
    weft_world_bytes bytes;
    char *raw_from, *raw_to;
    size_t raw_bytes;
} moving;

static const weft_field link_field = {"target", WEFT_FIELD_ENTITY, 0, 1};

static weft_world *make_world(weft_component out[3])
{
    weft_world *world;
    if (weft_world_create(&(weft_world_desc){.workers = 1}, &world) != WEFT_OK) return NULL;
    for (int k = 0; k < 3; k++) {
        weft_component_desc desc = {.name = k == 0   ? "position"
                                            : k == 1 ? "velocity"
                                                     : "target",
                                    .size = k == 2 ? sizeof(weft_entity) : sizeof(vec3),
                                    .alignment = 4,
                                    .fields = k == 2 ? &link_field : NULL,
                                    .field_count = k == 2};
        out[k] = weft_component_create(world, &desc);
    }
    return world;
}

static weft_world *make_full(weft_bench *bench, weft_component components[3])
{
    weft_world *world = make_world(components);
    weft_entity *e = malloc(ENTITIES * sizeof *e);
    if (world == NULL || e == NULL ||
        weft_entity_create_many(world, weft_archetype_create(world, components, 3), ENTITIES, e) !=
            WEFT_OK) {
        weft_bench_fail(bench, "no world of 1 M entities");
        free(e);
        weft_world_destroy(world);
        return NULL;
    }
    for (uint32_t i = 0; i < ENTITIES; i++)
        memcpy(weft_entity_write(world, e[i], components[2]), &e[ENTITIES - 1 - i], sizeof *e);
    free(e);
    return world;
}

static void transfer(void *data)
{
    moving *m = data;
    weft_world *from = m->from;
    m->result = weft_world_transfer(m->to, from, NULL, NULL, 0);
    m->from = m->to;
    m->to = from;
}

static void copy_raw(void *data)
{
    moving *m = data;
    memcpy(m->raw_to, m->raw_from, m->raw_bytes);
    weft_bench_keep(m->raw_to);
}

static bool raw_open(weft_bench *bench, moving *m, size_t bytes)
{
    m->raw_bytes = bytes;
    m->raw_from = weft_bench_zeroed(1, bytes);
    m->raw_to = weft_bench_zeroed(1, bytes);
    if (m->raw_from != NULL && m->raw_to != NULL) return true;
    weft_bench_fail(bench, "no memory");
    return false;
}

static void moving_close(weft_bench *bench, moving *m)
{
    if (m->result != WEFT_OK) weft_bench_fail(bench, "%s", weft_result_name(m->result));
    if (m->bytes.bytes != NULL) weft_world_bytes_free(m->from, &m->bytes);
    weft_world_destroy(m->from);
    weft_world_destroy(m->to);
    free(m->raw_from);
    free(m->raw_to);
}

static void transfers(weft_bench *bench)
{
    weft_component components[3];
    moving m = {.from = make_full(bench, components), .to = make_world(components)};
    weft_bench_measure measure = {.name = "1M",
                                  .unit = "ns/entity",
                                  .items = ENTITIES,
                                  .workers = 1,
                                  .run = transfer,
                                  .raw = copy_raw,
                                  .data = &m};
    if (m.from != NULL && m.to != NULL && raw_open(bench, &m, (size_t)ENTITIES * 40))
        weft_bench_run(bench, &measure);
    moving_close(bench, &m);
}

static void write_file(void *data)
{
    moving *m = data;
    weft_world_bytes_free(m->from, &m->bytes);
    m->result = weft__world_write(m->from, &(weft_save_desc){0}, &m->bytes);
}

static void new_target(void *data)
{
    moving *m = data;
    weft_component components[3];
    weft_world_destroy(m->to);
    m->to = make_world(components);
}

static void read_file(void *data)
{
    moving *m = data;
    m->result =
        weft__world_read(m->to, m->bytes.bytes, m->bytes.count, &(weft_load_desc){0}, true, NULL);
}

static void files(weft_bench *bench)
{
    weft_component components[3];
    moving m = {.from = make_full(bench, components)};
    if (m.from != NULL) write_file(&m);
    if (m.bytes.bytes != NULL && raw_open(bench, &m, m.bytes.count)) {
        weft_bench_measure measure = {.name = "1M-write",
                                      .unit = "ns/entity",
                                      .items = ENTITIES,
                                      .workers = 1,
                                      .run = write_file,
                                      .raw = copy_raw,
                                      .data = &m};
        weft_bench_run(bench, &measure);
        measure.name = "1M-read";
        measure.run = read_file;
        measure.prepare = new_target;
        weft_bench_run(bench, &measure);
    }
    moving_close(bench, &m);
}

const weft_bench_entry weft_bench_world[] = {
    {"world.transfer", "move 1 M entities to another world; raw: copy their columns", transfers,
     false},
    {"world.file", "a world of 1 M entities to and from bytes; raw: copy as many", files, false},
    {0}};
