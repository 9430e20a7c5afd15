/* SPDX-License-Identifier: MIT */
/* bench_game.c: frame.game: a frame of 40 systems over 20,000 ships, their bullets, the sparks of
 * hits, and pickups: moving, aiming, firing, colliding through a grid, dying, spawning, timers,
 * transforms, what is drawn. Raw: the same kernels in order over arrays in plain C
 * (frame_game_raw.c). After the warm-up both have the same populations.
 */
#include "bench.h"
#include "frame_game.h"

#include <weft/weft.h>

#include <stdlib.h>

/* Frames until populations are steady, and what loops know of their costs is of that time. */
enum { WARM_UP = 400 };

typedef struct weft_side weft_side;

/* What a system of the world gets. Owner: weft_side. */
typedef struct bound_system {
    const game_system *system;
    weft_side *side;
} bound_system;

struct weft_side {
    weft_world *world;
    weft_component parts[PARTS], map;
    weft_archetype kinds[KINDS];
    weft_query hits, hulls;
    uint32_t column_of[KINDS][PARTS]; /* in rows made by weft_recorder_create_rows */
    bound_system systems[SYSTEMS];
    weft_entity ships[SHIPS];
    grid *grid;
    double shown;
};

static void run_kernel(weft_slice *slice, void *user)
{
    const game_system *system = ((const bound_system *)user)->system;
    void *columns[TERMS];
    for (uint32_t p = 0; p < system->part_count; p++)
        columns[p] = p < system->written ? weft_slice_write(slice, p)
                                         : (void *)(uintptr_t)weft_slice_read(slice, p);
    system->kernel(columns, slice->count);
}

static void run_map(weft_slice *slice, void *user)
{
    weft_side *side = ((bound_system *)user)->side;
    game_grid_add(side->grid, weft_slice_read(slice, 0), slice->count, (uint32_t)slice->first);
}

static void run_collide(weft_slice *slice, void *user)
{
    weft_side *side = ((bound_system *)user)->side;
    game_collide(side->grid, weft_slice_read(slice, 1), weft_slice_write(slice, 0), slice->count);
}

/* The grid knows ships by their number among the rows of its system, as plain C does. */
static void run_damage(weft_slice *slice, void *user)
{
    const weft_side *side = ((bound_system *)user)->side;
    weft_indexed hulls;
    if (weft_indexed_open(side->world, side->hulls, 0, &hulls) != WEFT_OK) return;
    weft_cursor cursor = weft_slice_query(slice, side->hits);
    while (weft_query_next(&cursor)) {
        const uint32_t *hit = weft_slice_read(&cursor.slice, 0);
        for (uint32_t i = 0; i < cursor.slice.count; i++)
            if (hit[i] != NO_HIT) *(int32_t *)weft_indexed_write(&hulls, hit[i]) -= 100;
    }
    weft_indexed_close(&hulls);
}

static void run_show(weft_slice *slice, void *user)
{
    weft_side *side = ((bound_system *)user)->side;
    const float *score = weft_slice_read(slice, 0);
    for (uint32_t i = 0; i < slice->count; i++) side->shown += (double)score[i];
}

static newborn newborn_of(const weft_side *side, uint32_t kind, weft_slice *rows)
{
    const uint32_t *column = side->column_of[kind];
    bool is_bullet = kind == BULLET;
    return (newborn){weft_slice_write(rows, column[PLACE]), weft_slice_write(rows, column[SPEED]),
                     weft_slice_write(rows, column[LIFE]),
                     is_bullet ? NULL : weft_slice_write(rows, column[GLOW]),
                     is_bullet ? weft_slice_write(rows, column[HIT]) : NULL};
}

static void run_fire(weft_slice *slice, void *user)
{
    weft_side *side = ((bound_system *)user)->side;
    float *reload = weft_slice_write(slice, 0);
    float *energy = (float *)(uintptr_t)weft_slice_read(slice, 1);
    const vec2 *place = weft_slice_read(slice, 2), *speed = weft_slice_read(slice, 3);
    uint32_t firing[SHIPS], count = 0;
    for (uint32_t i = 0; i < slice->count; i++)
        if (game_fires(&reload[i], &energy[i], (uint32_t)slice->first + i)) firing[count++] = i;
    for (uint32_t done = 0; done < count;) {
        weft_slice rows;
        if (weft_recorder_create_rows(weft_slice_recorder(slice), side->kinds[BULLET], count - done,
                                      &rows) != WEFT_OK)
            return;
        newborn out = newborn_of(side, BULLET, &rows);
        for (uint32_t k = 0; k < rows.count; k++, done++)
            game_bullet_make(&out, k, place[firing[done]], speed[firing[done]]);
    }
}

static void run_burst(weft_slice *slice, void *user)
{
    weft_side *side = ((bound_system *)user)->side;
    const uint32_t *hit = weft_slice_read(slice, 0);
    const vec2 *place = weft_slice_read(slice, 1);
    uint32_t bursting[SHIPS], count = 0;
    for (uint32_t i = 0; i < slice->count; i++)
        if (hit[i] != NO_HIT) bursting[count++] = i;
    for (uint32_t done = 0; done < count * SPARKS;) {
        weft_slice rows;
        if (weft_recorder_create_rows(weft_slice_recorder(slice), side->kinds[SPARK],
                                      count * SPARKS - done, &rows) != WEFT_OK)
            return;
        newborn out = newborn_of(side, SPARK, &rows);
        for (uint32_t k = 0; k < rows.count; k++, done++) {
            uint32_t row = bursting[done / SPARKS];
            game_spark_make(&out, k, place[row], hit[row] + done % SPARKS);
        }
    }
}

static void run_kill(weft_slice *slice, void *user)
{
    const bound_system *self = user;
    bool has_hits = self->system->parts[1] == HIT;
    const weft_entity *entities = weft_slice_entities(slice);
    const float *life = weft_slice_read(slice, 0);
    const uint32_t *hit = has_hits ? weft_slice_read(slice, 1) : NULL;
    for (uint32_t i = 0; i < slice->count; i++)
        if (life[i] <= 0 || (hit != NULL && hit[i] != NO_HIT))
            weft_recorder_destroy_entity(weft_slice_recorder(slice), entities[i]);
}

static void name_records(const weft_side *side, uint32_t kind, weft_system_desc *desc)
{
    uint32_t count = 0;
    desc->effects = WEFT_RECORDS_CREATE;
    for (uint32_t part = 0; part < PARTS; part++)
        if ((game_kind_parts[kind] >> part & 1) != 0) desc->records[count++] = side->parts[part];
}

static void name_destroyed(const weft_side *side, uint32_t kind, weft_system_desc *desc)
{
    uint32_t count = 0;
    for (uint32_t part = 0; part < PARTS; part++)
        if ((game_kind_parts[kind] >> part & 1) != 0) desc->destroys[count++] = side->parts[part];
}

static void describe_deed(const weft_side *side, const game_system *system, weft_system_desc *desc)
{
    switch ((game_deed)system->deed) {
    case MAPS:
        desc->run = run_map;
        desc->flags = WEFT_SYSTEM_SERIAL;
        desc->resources[0] = (weft_lookup){side->map, WEFT_WRITE};
        break;
    case COLLIDES:
        desc->run = run_collide;
        desc->resources[0] = (weft_lookup){side->map, WEFT_READ};
        break;
    case DAMAGES:
        desc->run = run_damage;
        desc->over.rows = (weft_query_desc){0};
        desc->queries[0] = side->hits;
        desc->queries[1] = side->hulls;
        break;
    case SHOWS:
        desc->run = run_show;
        desc->flags = WEFT_SYSTEM_MAIN_THREAD;
        break;
    case FIRES:
        desc->run = run_fire;
        name_records(side, BULLET, desc);
        break;
    case BURSTS:
        desc->run = run_burst;
        name_records(side, SPARK, desc);
        break;
    case KILLS:
        desc->run = run_kill;
        desc->effects = WEFT_RECORDS_DESTROY;
        name_destroyed(side, system->parts[1] == HIT ? BULLET : SPARK, desc);
        break;
    }
}

static bool add_systems(weft_side *side)
{
    for (uint32_t s = 0; s < SYSTEMS; s++) {
        const game_system *system = &game_systems[s];
        side->systems[s] = (bound_system){system, side};
        weft_system_desc desc = {
            .name = system->name, .run = run_kernel, .user = &side->systems[s]};
        for (uint32_t p = 0; p < system->part_count; p++)
            desc.over.rows.terms[p] =
                (weft_term){side->parts[system->parts[p]],
                            p < system->written ? WEFT_WRITE : WEFT_READ, WEFT_ALL, 0};
        if (system->kernel == NULL) describe_deed(side, system, &desc);
        if (weft_system_create(side->world, &desc).id == 0) return false;
    }
    return true;
}

static bool add_kinds(weft_side *side)
{
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        weft_component set[PARTS], listed[PARTS];
        uint32_t count = 0;
        for (uint32_t part = 0; part < PARTS; part++)
            if ((game_kind_parts[kind] >> part & 1) != 0) set[count++] = side->parts[part];
        side->kinds[kind] = weft_archetype_create(side->world, set, count);
        uint32_t known = weft_archetype_components(side->world, side->kinds[kind], listed, PARTS);
        for (uint32_t i = 0; i < known; i++)
            for (uint32_t part = 0; part < PARTS; part++)
                if (listed[i].id == side->parts[part].id) side->column_of[kind][part] = i;
    }
    return weft_entity_create_many(side->world, side->kinds[SHIP], SHIPS, side->ships) == WEFT_OK &&
           weft_entity_create_many(side->world, side->kinds[PICKUP], PICKUPS, NULL) == WEFT_OK;
}

static bool weft_side_open(weft_side *side, uint32_t workers)
{
    static const char *const names[PARTS] = {
        "place", "speed", "push", "hull", "shield", "energy", "heat",  "reload",
        "brain", "score", "life", "hit",  "glow",   "spin",   "shape", "seen"};
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &side->world) != WEFT_OK)
        return false;
    for (uint32_t part = 0; part < PARTS; part++)
        side->parts[part] =
            weft_component_create_plain(side->world, names[part], game_part_bytes[part], 4, 0);
    side->map = weft_component_create_plain(side->world, "map", 4, 4, WEFT_RESOURCE);
    side->hits = weft_query_create(
        side->world, &(weft_query_desc){.terms = {{side->parts[HIT], WEFT_READ, WEFT_ALL, 0}}});
    side->hulls = weft_query_create(
        side->world, &(weft_query_desc){.terms = {{side->parts[HULL], WEFT_WRITE, WEFT_ALL, 0},
                                                  {side->parts[BRAIN], WEFT_READ, WEFT_ALL, 0}}});
    side->grid = calloc(1, sizeof *side->grid);
    if (side->grid == NULL || !add_kinds(side) || !add_systems(side)) return false;
    for (uint32_t i = 0; i < SHIPS; i++) {
        uint32_t brain = game_brain_of(i);
        vec2 place = game_place_of(i);
        int32_t hull = 1000;
        float reload = (float)(i % 30) * DT;
        weft_entity_set(side->world, side->ships[i], side->parts[BRAIN], &brain, sizeof brain);
        weft_entity_set(side->world, side->ships[i], side->parts[PLACE], &place, sizeof place);
        weft_entity_set(side->world, side->ships[i], side->parts[HULL], &hull, sizeof hull);
        weft_entity_set(side->world, side->ships[i], side->parts[RELOAD], &reload, sizeof reload);
    }
    return true;
}

/* ---- the benchmark ---- */

/* Both sides, stepped in turn by the harness: a sample of one is as old as one of the other. */
typedef struct game_bed {
    weft_side weft;
    raw_side *raw;
} game_bed;

static void step_weft(void *data)
{
    weft_world_step(((game_bed *)data)->weft.world, DT);
}

static void step_raw(void *data)
{
    game_raw_step(((game_bed *)data)->raw);
}

static void check_populations(weft_bench *bench, const game_bed *bed)
{
    weft_world_stats stats;
    uint64_t raw = game_raw_rows(bed->raw);
    weft_world_stats_get(bed->weft.world, &stats, sizeof stats);
    if (stats.entities != raw)
        weft_bench_fail(bench, "frame.game: %llu entities, %llu rows in plain C",
                        (unsigned long long)stats.entities, (unsigned long long)raw);
}

static void game_case(weft_bench *bench, const char *name, uint32_t workers)
{
    if (!weft_bench_wants(bench, name)) return;
    game_bed *bed = calloc(1, sizeof *bed);
    if (bed == NULL) return;
    bed->raw = game_raw_open();
    if (bed->raw != NULL && weft_side_open(&bed->weft, workers)) {
        if (workers > 1) weft_bench_pin_threads(); /* loops learn what a second worker gains */
        for (uint32_t i = 0; i < WARM_UP; i++) {
            step_weft(bed);
            step_raw(bed);
        }
        check_populations(bench, bed);
        weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                    .unit = "us/frame",
                                                    .workers = workers,
                                                    .run = step_weft,
                                                    .raw = step_raw,
                                                    .data = bed});
    } else {
        weft_bench_fail(bench, "frame.game: the world could not be made");
    }
    weft_bench_unpin_threads();
    weft_world_destroy(bed->weft.world);
    free(bed->weft.grid);
    game_raw_close(bed->raw);
    free(bed);
}

static void bench_game(weft_bench *bench)
{
    game_case(bench, "40", 1);
    game_case(bench, "40-2", 2);
}

const weft_bench_entry weft_bench_game[] = {
    {"frame.game", "40 systems of a game over 20,000 ships and what they fire; raw: plain C",
     bench_game, false},
    {0}};
