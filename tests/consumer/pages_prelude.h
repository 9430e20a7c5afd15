/* SPDX-License-Identifier: MIT */
/* pages_prelude.h: what the fragments of docs/guide use without declaring it. A fragment may have
 * names of its own over these. They are compiled, not run (pages.py). */
#ifndef WEFT_PAGES_PRELUDE_H
#define WEFT_PAGES_PRELUDE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/ecs.h>
#include <weft/inspect.h>
#include <weft/scene.h>
#include <weft/weft.h>

typedef struct Position {
    float x, y, z;
} Position;
typedef Position Velocity;
typedef Position Spinning;
typedef struct Link {
    int age;
} Link;

typedef struct Orbit {
    double mean_motion;
    float drag[3];
} Orbit;
static const weft_field orbit_fields[] = {WEFT_FIELD(Orbit, mean_motion), WEFT_FIELD(Orbit, drag)};
static const weft_type orbit_type = WEFT_TYPE(Orbit, orbit_fields);
static Orbit mine, theirs;

static weft_world *world, *game, *level;
static weft_component position, velocity, rotation, colour, frozen, mass, health, links_component;
static weft_component grid, hidden, clock_time;
static weft_archetype mover, bullets;
static weft_entity ship, target, many[100];
static weft_query movers, reds;
static weft_system move_system, draw_system;
static weft_slice *slice;
static weft_recorder *recorder;
static weft_job_pool *pool;
static weft_inspect *inspect;
static double altitude;
static float dt;
static int queued, is_over;

static inline void run_a_task_of_the_host(void)
{
}

static inline void settle(weft_slice *rows, void *user)
{
    (void)rows, (void)user;
}

#endif
