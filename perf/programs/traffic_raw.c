/* SPDX-License-Identifier: MIT */
/* traffic_raw.c: traffic in plain C: cars in the order of their numbers, the lane of each beside
 * it, and two maps of cells in turn. */
#include "traffic.h"

#include <stdlib.h>

typedef struct plain_traffic {
    uint32_t count, tick;
    Car *cars;
    uint8_t *lane;               /* by car */
    uint32_t *changing, *wanted; /* cars of this step that change lanes, and to which */
    road_map now, next;
} plain_traffic;

static void change_lanes(plain_traffic *t)
{
    uint32_t changing = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t to = traffic_choose(&t->now, &t->cars[i], t->lane[i], i, t->tick);
        if (to == t->lane[i]) continue;
        t->changing[changing] = i;
        t->wanted[changing++] = to;
    }
    for (uint32_t k = 0; k < changing; k++) {
        uint32_t i = t->changing[k];
        traffic_lane(&t->now, t->lane[i])[t->cars[i].cell] = 0;
        traffic_lane(&t->now, t->wanted[k])[t->cars[i].cell] = 1;
        t->lane[i] = (uint8_t)t->wanted[k];
    }
}

static void traffic_step(void *side)
{
    plain_traffic *t = side;
    t->tick++;
    change_lanes(t);
    memset(t->next.busy, 0, (size_t)t->next.cells * LANES);
    for (uint32_t i = 0; i < t->count; i++) {
        traffic_drive(&t->now, &t->cars[i], t->lane[i], i, t->tick);
        traffic_lane(&t->next, t->lane[i])[t->cars[i].cell] = 1;
    }
    road_map old = t->now;
    t->now = t->next;
    t->next = old;
}

static void traffic_close(void *side)
{
    plain_traffic *t = side;
    free(t->cars);
    free(t->lane);
    free(t->changing);
    free(t->wanted);
    free(t->now.busy);
    free(t->next.busy);
    free(t);
}

static void *traffic_open(uint32_t size, uint32_t workers)
{
    (void)workers;
    plain_traffic *t = calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    uint32_t cells = traffic_cells(size);
    t->count = size;
    t->cars = calloc(size, sizeof *t->cars);
    t->lane = calloc(size, sizeof *t->lane);
    t->changing = calloc(size, sizeof *t->changing);
    t->wanted = calloc(size, sizeof *t->wanted);
    t->now = (road_map){calloc(LANES, cells), cells};
    t->next = (road_map){calloc(LANES, cells), cells};
    if (!t->cars || !t->lane || !t->changing || !t->wanted || !t->now.busy || !t->next.busy) {
        traffic_close(t);
        return NULL;
    }
    for (uint32_t i = 0; i < size; i++) {
        t->cars[i] = traffic_start(i);
        t->lane[i] = (uint8_t)(i % LANES);
        traffic_lane(&t->now, t->lane[i])[t->cars[i].cell] = 1;
    }
    return t;
}

static uint64_t traffic_content(void *side)
{
    const plain_traffic *t = side;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->count; i++) sum += traffic_sum(i, t->cars[i], t->lane[i]);
    return sum;
}

const program_side traffic_raw = {traffic_open, traffic_step, traffic_content, NULL, traffic_close};
