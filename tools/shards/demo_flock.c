/* SPDX-License-Identifier: MIT */
/* demo_flock.c: birds in a periodic square steer by those within a distance: away from near ones,
 * along with all, towards their middle (Reynolds: Flocks, Herds, and Schools, 1987).
 *
 *   flock steer  rows   Position, Velocity of near sectors -> Steer
 *   flock fly    rows   Steer -> Velocity, Position
 */
#include <math.h>
#include <stdlib.h>

#include <weft/random.h>

#include "demo.h"

enum { birds_per_sector = 16 /* about */, halo_position = 0, halo_velocity = 1 };

static const float sight = 1.0f, apart = 0.3f, speed_most = 2.0f, speed_least = 0.5f;

typedef struct plane {
    float x, y;
} plane;

/* The model on one rank. Owner: the demo. Constant while systems run. */
typedef struct flock {
    demo *run;
    weft_component position, velocity, steer;
    float side; /* of the square */
} flock;

/* What a bird sees: sums over the others. */
typedef struct seen {
    plane away, velocity, middle;
    uint32_t count;
} seen;

/* The shorter way around the square. */
static float around(float d, float side)
{
    if (d > side / 2) return d - side;
    return d < -side / 2 ? d + side : d;
}

static void look(const flock *m, const weft_shard_rows *rows, uint64_t self, plane at, seen *s)
{
    const plane *positions = rows->columns[halo_position];
    const plane *velocities = rows->columns[halo_velocity];
    for (uint32_t i = 0; i < rows->count; i++) {
        const float x = around(positions[i].x - at.x, m->side);
        const float y = around(positions[i].y - at.y, m->side);
        const float square = x * x + y * y;
        if (square >= sight * sight || rows->gids[i] == self) continue;
        s->count++;
        s->velocity.x += velocities[i].x;
        s->velocity.y += velocities[i].y;
        s->middle.x += x;
        s->middle.y += y;
        if (square >= apart * apart) continue;
        s->away.x -= x;
        s->away.y -= y;
    }
}

static void steer(weft_slice *slice, void *user)
{
    const flock *m = user;
    const weft_shard *shard = m->run->shard;
    const plane *positions = weft_slice_read(slice, 0), *velocities = weft_slice_read(slice, 1);
    plane *steers = weft_slice_write(slice, 2);
    const uint64_t *gids = weft_slice_read(slice, 3);
    const uint32_t *near;
    const uint32_t count = weft_shard_near(shard, weft_shard_slice_sector(shard, slice), &near);
    for (uint32_t i = 0; i < slice->count; i++) {
        seen s = {.count = 0};
        for (uint32_t k = 0; k < count; k++) {
            weft_shard_rows rows;
            if (weft_shard_rows_get(shard, near[k], &rows))
                look(m, &rows, gids[i], positions[i], &s);
        }
        const float n = s.count > 0 ? (float)s.count : 1.0f;
        const plane mean = {s.count ? s.velocity.x / n : velocities[i].x,
                            s.count ? s.velocity.y / n : velocities[i].y};
        steers[i].x = 6.0f * s.away.x + (mean.x - velocities[i].x) + 0.5f * s.middle.x / n;
        steers[i].y = 6.0f * s.away.y + (mean.y - velocities[i].y) + 0.5f * s.middle.y / n;
    }
}

static float wrap(float x, float side)
{
    if (x < 0) x += side;
    return x >= side ? x - side : x;
}

static void fly(weft_slice *slice, void *user)
{
    const flock *m = user;
    plane *positions = weft_slice_write(slice, 0), *velocities = weft_slice_write(slice, 1);
    const plane *steers = weft_slice_read(slice, 2);
    const float dt = slice->dt;
    for (uint32_t i = 0; i < slice->count; i++) {
        plane v = {velocities[i].x + dt * steers[i].x, velocities[i].y + dt * steers[i].y};
        const float speed = sqrtf(v.x * v.x + v.y * v.y);
        const float kept = fminf(fmaxf(speed, speed_least), speed_most);
        const float factor = speed > 0 ? kept / speed : 1.0f;
        v = (plane){v.x * factor, v.y * factor};
        velocities[i] = v;
        positions[i].x = wrap(positions[i].x + dt * v.x, m->side);
        positions[i].y = wrap(positions[i].y + dt * v.y, m->side);
    }
}

static weft_result create_systems(demo *run)
{
    flock *m = run->state;
    const weft_system_desc look_desc = {
        .name = "flock steer",
        .run = steer,
        .user = m,
        .over.rows.terms = {{.component = m->position},
                            {.component = m->velocity},
                            {.component = m->steer, .access = WEFT_WRITE},
                            {.component = run->info.gid}},
    };
    const weft_system_desc fly_desc = {
        .name = "flock fly",
        .run = fly,
        .user = m,
        .over.rows.terms = {{.component = m->position, .access = WEFT_WRITE},
                            {.component = m->velocity, .access = WEFT_WRITE},
                            {.component = m->steer}},
    };
    const weft_result result = weft_shard_system_create(run->shard, &look_desc);
    if (result != WEFT_OK) return result;
    if (weft_system_create(run->world, &fly_desc).id != 0) return WEFT_OK;
    return weft_world_error(run->world)->code;
}

static weft_result describe(demo *run, weft_shard_desc *desc)
{
    flock *m = run->state = calloc(1, sizeof *m);
    if (!m) return WEFT_OUT_OF_MEMORY;
    m->run = run;
    const double area = run->options->size / 4.0; /* four birds in a square of sight */
    m->side = (float)fmax(4.0, sqrt(area));
    const double wanted = sqrt((double)run->options->size / birds_per_sector);
    const uint32_t cells = (uint32_t)fmax(3.0, fmin(floor((double)m->side), wanted));
    m->position = weft_component_create_plain(run->world, "Position", sizeof(plane), 4, 0);
    m->velocity = weft_component_create_plain(run->world, "Velocity", sizeof(plane), 4, 0);
    m->steer = weft_component_create_plain(run->world, "Steer", sizeof(plane), 4, 0);
    desc->key = m->position;
    desc->halo[halo_position] = m->position;
    desc->halo[halo_velocity] = m->velocity;
    desc->grid = (weft_shard_grid){.dimensions = 2,
                                   .cells = {cells, cells},
                                   .most = {(double)m->side, (double)m->side},
                                   .is_periodic = {true, true},
                                   .reach = (double)sight};
    return WEFT_OK;
}

/* Birds fly in any direction. */
static plane first_velocity(weft_random *random)
{
    for (;;) {
        const float x = 2 * weft_random_float(random) - 1, y = 2 * weft_random_float(random) - 1;
        const float square = x * x + y * y;
        if (square > 0.01f && square < 1) return (plane){x / sqrtf(square), y / sqrtf(square)};
    }
}

static weft_result populate(demo *run)
{
    const flock *m = run->state;
    const uint32_t size = run->options->size;
    plane *positions = calloc(size, sizeof *positions), *velocities = calloc(size, sizeof(plane));
    weft_result result = positions && velocities ? WEFT_OK : WEFT_OUT_OF_MEMORY;
    uint32_t count = 0;
    for (uint32_t i = 0; result == WEFT_OK && i < size; i++) {
        weft_random random = weft_random_of(run->options->seed, i, 0, 0);
        positions[count].x = weft_random_float(&random) * m->side;
        positions[count].y = weft_random_float(&random) * m->side;
        velocities[count] = first_velocity(&random);
        count += weft_shard_is_mine(run->shard, &positions[count]);
    }
    const weft_archetype birds =
        WEFT_ARCHETYPE(run->world, run->info.gid, m->position, m->velocity, m->steer);
    if (result == WEFT_OK)
        result = weft_entity_create_filled(
            run->world, birds, WEFT_VALUES({m->position, positions}, {m->velocity, velocities}),
            count, NULL);
    free(positions);
    free(velocities);
    return result;
}

static void end(demo *run)
{
    free(run->state);
}

const demo_model demo_flock = {
    .name = "flock",
    .summary = "birds that steer by their neighbours",
    .size = 4000,
    .dt = 0.05f,
    .describe = describe,
    .systems = create_systems,
    .populate = populate,
    .end = end,
};
