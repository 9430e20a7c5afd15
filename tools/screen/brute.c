/* SPDX-License-Identifier: MIT */
/* brute.c: brute force over all pairs: propagate everything to double precision once, then rows of
 * distances.
 */
#include "brute.h"

#include <math.h>
#include <stdlib.h>

enum { lanes = SGP4_LANES };

/* Gravity changes a speed by less than 0.01 km/s each second. */
static double reach_of(const struct approach_window *window, double speed)
{
    const double h = 0.5 * window->step_s;
    return 0.5 * window->threshold_km + h * (speed + 0.01 * h) + 0.01;
}

static void store_lane(struct brute *b, uint32_t object, const struct sgp4_states *s, uint32_t lane,
                       int is_absent)
{
    const double vx = s->vx[lane], vy = s->vy[lane], vz = s->vz[lane];
    b->position[0][object] = is_absent ? 0.0 : s->x[lane];
    b->position[1][object] = is_absent ? 0.0 : s->y[lane];
    b->position[2][object] = is_absent ? 0.0 : s->z[lane];
    b->reach[object] = is_absent ? -1e9 : reach_of(b->window, sqrt(vx * vx + vy * vy + vz * vz));
}

/* Gathers up to a block of objects of one kind, from *next on. Returns how many. */
static uint32_t gather(const struct brute *b, int is_deep, uint32_t *next, uint32_t *members)
{
    uint32_t count = 0;
    for (; *next < b->count && count < lanes; (*next)++) {
        if ((b->objects[*next].deep != NULL) == is_deep) members[count++] = *next;
    }
    return count;
}

static void block_states(const struct brute *b, int is_deep, const uint32_t *members,
                         uint32_t count, struct sgp4_states *states)
{
    const struct moment start = b->window->start;
    double minutes[lanes];
    for (uint32_t i = 0; i < lanes; i++)
        minutes[i] = approach_step_middle(b->window, b->step) / 60.0;
    if (is_deep) {
        const struct sgp4_deep *rows[lanes];
        struct sgp4_deep_block block;
        for (uint32_t i = 0; i < count; i++) rows[i] = b->objects[members[i]].deep;
        sgp4_deep_block_load(&block, rows, count, start.day, start.fraction);
        b->kernels->deep_states(&block, minutes, states);
    } else {
        const struct sgp4_near *rows[lanes];
        struct sgp4_near_block block;
        for (uint32_t i = 0; i < count; i++) rows[i] = b->objects[members[i]].near;
        sgp4_near_block_load(&block, rows, count, start.day, start.fraction);
        b->kernels->near_states(&block, minutes, states);
    }
}

static void propagate_kind(struct brute *b, int is_deep, const uint32_t *lost_step)
{
    uint32_t members[lanes], next = 0;
    for (;;) {
        const uint32_t count = gather(b, is_deep, &next, members);
        if (count == 0) return;
        struct sgp4_states states;
        block_states(b, is_deep, members, count, &states);
        for (uint32_t i = 0; i < count; i++) {
            store_lane(b, members[i], &states, i,
                       lost_step[members[i]] <= b->step || states.error[i] != 0.0);
        }
    }
}

int brute_init(struct brute *b, const uint32_t *lost_step)
{
    for (int axis = 0; axis < 3; axis++)
        b->position[axis] = malloc((size_t)b->count * sizeof(double) + 1);
    b->reach = malloc((size_t)b->count * sizeof(double) + 1);
    if (!b->position[0] || !b->position[1] || !b->position[2] || !b->reach) return -1;
    propagate_kind(b, 0, lost_step);
    propagate_kind(b, 1, lost_step);
    return 0;
}

void brute_fini(struct brute *b)
{
    for (int axis = 0; axis < 3; axis++) free(b->position[axis]);
    free(b->reach);
    b->position[0] = b->position[1] = b->position[2] = b->reach = NULL;
}

static int append(struct brute_list *list, const struct brute_approach *item)
{
    if (list->count == list->capacity) {
        const uint32_t capacity = list->capacity ? 2 * list->capacity : 64;
        struct brute_approach *grown = realloc(list->items, (size_t)capacity * sizeof *grown);
        if (!grown) return -1;
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count++] = *item;
    return 0;
}

/* Refines object i against its neighbours and keeps what is below the threshold. */
static int refine_row(const struct brute *b, uint32_t i, const uint32_t *near, uint32_t count,
                      struct brute_list *list)
{
    for (uint32_t begin = 0; begin < count; begin += lanes) {
        const uint32_t part = count - begin < lanes ? count - begin : lanes;
        struct approach_suspect suspects[lanes];
        struct approach approaches[lanes];
        for (uint32_t k = 0; k < part; k++) {
            suspects[k] = (struct approach_suspect){
                .a = b->objects[i], .b = b->objects[near[begin + k]], .step = b->step};
        }
        approach_refine(b->kernels, b->window, suspects, part, approaches);
        for (uint32_t k = 0; k < part; k++) {
            const struct brute_approach item = {
                .a = i, .b = near[begin + k], .approach = approaches[k]};
            if (approaches[k].is_below_threshold && append(list, &item)) return -1;
        }
    }
    return 0;
}

int brute_rows(const struct brute *b, uint32_t begin, uint32_t end, struct brute_list *list)
{
    uint32_t *near = malloc((size_t)b->count * sizeof *near + 1);
    if (!near) return -1;
    const double *const position[3] = {b->position[0], b->position[1], b->position[2]};
    int result = 0;
    for (uint32_t i = begin; i < end && result == 0; i++) {
        const uint32_t count = b->sky_kernels->neighbours(position, b->reach, b->count, i, near);
        result = refine_row(b, i, near, count, list);
    }
    free(near);
    return result;
}

void brute_list_fini(struct brute_list *list)
{
    free(list->items);
    *list = (struct brute_list){.items = NULL};
}
