/* SPDX-License-Identifier: MIT */
/* flock.c: the flock on weft. Each step copies places and headings, sorts the places into a grid,
 * and turns each bird by those around it. */
#include "flock.h"
#include "program.h"

#include <stdlib.h>
#include <weft/grid.h>
#include <weft/type.h>
#include <weft/weft.h>

static const weft_field position_fields[] = {WEFT_FIELD(Position, x), WEFT_FIELD(Position, y)};
static const weft_type position_type = WEFT_TYPE(Position, position_fields);
static const weft_field heading_fields[] = {WEFT_FIELD(Heading, x), WEFT_FIELD(Heading, y)};
static const weft_type heading_type = WEFT_TYPE(Heading, heading_fields);

enum { PARTS = 64 }; /* of the copy that is made in parallel */

typedef struct Flock {
    weft_world *world;
    weft_component position, heading;
    weft_query birds;
    weft_grid *grid;
    weft_grid_view view;
    uint32_t count;
    float side;
    Position *at, *sorted; /* by bird; by place in the grid */
    Heading *going, *sorted_going;
} Flock;

static void collect(weft_slice *s, void *user)
{
    Flock *flock = user;
    const Position *p = WEFT_READ_COLUMN(s, 0, Position);
    const Heading *h = WEFT_READ_COLUMN(s, 1, Heading);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        flock->at[s->first + i] = p[i];
        flock->going[s->first + i] = h[i];
    }
}

static void sort(weft_slice *s, void *user)
{
    Flock *flock = user;
    weft_grid_points points = {.positions = flock->at,
                               .stride = sizeof(Position),
                               .count = flock->count,
                               .sorted = flock->sorted};
    weft_grid_build(flock->grid, weft_slice_job(s), &points);
    weft_grid_view_get(flock->grid, &flock->view, sizeof flock->view);
}

static void gather(weft_slice *s, void *user) /* called for each of PARTS indices */
{
    Flock *flock = user;
    uint64_t begin = (uint64_t)flock->count * s->index / PARTS;
    uint64_t end = (uint64_t)flock->count * (s->index + 1) / PARTS;
    for (uint64_t k = begin; k < end; k++)
        flock->sorted_going[k] = flock->going[flock->view.points[k]];
}

static void steer(weft_slice *s, void *user)
{
    const Flock *flock = user;
    Position *p = WEFT_WRITE_COLUMN(s, 0, Position);
    Heading *h = WEFT_WRITE_COLUMN(s, 1, Heading);
    uint32_t tick = (uint32_t)weft_slice_frame(s).number;
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        uint32_t bird = (uint32_t)s->first + i;
        flock_view view = {{0, 0}, {0, 0}, {0, 0}};
        weft_grid_run runs[WEFT_GRID_MAX_RUNS];
        uint32_t count = weft_grid_runs(flock->grid, flock->view.cell_of[bird], runs);
        for (uint32_t r = 0; r < count; r++) {
            float x = (float)runs[r].shift[0] * flock->side - p[i].x;
            float y = (float)runs[r].shift[1] * flock->side - p[i].y;
            for (uint32_t k = runs[r].begin; k < runs[r].end; k++)
                flock_see(&view, flock->sorted[k].x + x, flock->sorted[k].y + y,
                          flock->sorted_going[k]);
        }
        flock_turn(&view, bird, tick, &h[i]);
        flock_fly(&p[i], h[i], flock->side);
    }
}

static void add_systems(Flock *flock)
{
    weft_world *world = flock->world;
    weft_system_create(
        world, &(weft_system_desc){.name = "collect",
                                   .run = collect,
                                   .user = flock,
                                   .over.rows.terms = {{flock->position}, {flock->heading}}});
    weft_system_create(world, &(weft_system_desc){.name = "sort",
                                                  .run = sort,
                                                  .user = flock,
                                                  .flags = WEFT_SYSTEM_JOBS,
                                                  .after = {"collect"}});
    weft_system_create(world, &(weft_system_desc){.name = "gather",
                                                  .run = gather,
                                                  .user = flock,
                                                  .over = {.kind = WEFT_OVER_COUNT, .count = PARTS},
                                                  .after = {"sort"}});
    weft_system_create(world, &(weft_system_desc){.name = "steer",
                                                  .run = steer,
                                                  .user = flock,
                                                  .over.rows.terms = {{flock->position, WEFT_WRITE},
                                                                      {flock->heading, WEFT_WRITE}},
                                                  .after = {"gather"}});
}

static void flock_close(void *side)
{
    Flock *flock = side;
    weft_world_destroy(flock->world);
    weft_grid_destroy(flock->grid);
    free(flock->at);
    free(flock->sorted);
    free(flock->going);
    free(flock->sorted_going);
    free(flock);
}

static void *flock_open(uint32_t size, uint32_t workers)
{
    Flock *flock = calloc(1, sizeof *flock);
    if (flock == NULL) return NULL;
    uint32_t side = flock_side(size);
    weft_grid_desc box = {
        .dimensions = 2, .most = {side, side}, .reach = 0.999, .is_periodic = {true, true}};
    flock->count = size;
    flock->side = (float)side;
    flock->at = calloc(size, sizeof(Position));
    flock->sorted = calloc(size, sizeof(Position));
    flock->going = calloc(size, sizeof(Heading));
    flock->sorted_going = calloc(size, sizeof(Heading));
    if (weft_grid_create(&box, &flock->grid) != WEFT_OK ||
        weft_world_create(&(weft_world_desc){.workers = workers}, &flock->world) != WEFT_OK) {
        flock_close(flock);
        return NULL;
    }
    weft_world *world = flock->world;
    flock->position = weft_component_create(world, &(weft_component_desc){.type = &position_type});
    flock->heading = weft_component_create(world, &(weft_component_desc){.type = &heading_type});
    flock->birds = weft_query_create(
        world, &(weft_query_desc){.terms = {{flock->position}, {flock->heading}}});
    for (uint32_t i = 0; i < size; i++)
        flock_hatch(i, flock->side, &flock->at[i], &flock->going[i]);
    weft_entity_create_filled(
        world, WEFT_ARCHETYPE(world, flock->position, flock->heading),
        WEFT_VALUES({flock->position, flock->at}, {flock->heading, flock->going}), size, NULL);
    add_systems(flock);
    return flock;
}

static void flock_step(void *side)
{
    weft_world_step(((Flock *)side)->world, 0.1f);
}

static uint64_t flock_content(void *side)
{
    Flock *flock = side;
    uint64_t sum = 0;
    weft_cursor c = weft_query_begin(flock->world, flock->birds);
    while (weft_query_next(&c)) {
        const Position *p = WEFT_READ_COLUMN(&c.slice, 0, Position);
        const Heading *h = WEFT_READ_COLUMN(&c.slice, 1, Heading);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++)
            sum += flock_sum(c.slice.first + i, p[i], h[i]);
    }
    return sum;
}

static uint64_t flock_hash(void *side)
{
    return weft_world_hash(((Flock *)side)->world, WEFT_HASH_CONTENT);
}

const program_side flock_weft = {flock_open, flock_step, flock_content, flock_hash, flock_close};
