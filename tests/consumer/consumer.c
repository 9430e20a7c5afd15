/* SPDX-License-Identifier: MIT */
/* consumer.c: a stranger's program in strict C11: a world with a system, the sugar of the headers,
 * and a job. Prints WEFT_OK. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct Position {
    float x, y;
} Position;

typedef struct Velocity {
    float x, y;
} Velocity;

static void move(weft_slice *s, void *user)
{
    Position *p = WEFT_WRITE_COLUMN(s, 0, Position);
    const Velocity *v = WEFT_READ_COLUMN(s, 1, Velocity);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) p[i].x += v[i].x * weft_slice_dt(s);
    (void)user;
}

static int double_it(weft_job_context *job, void *argument)
{
    (void)job;
    *(int *)argument *= 2;
    return 0;
}

static weft_result run(weft_world *world)
{
    const weft_component types[] = {WEFT_COMPONENT(world, Position),
                                    WEFT_COMPONENT_FLAGS(world, Velocity, WEFT_ENABLEABLE),
                                    WEFT_TAG(world, Moving)};
    weft_entity entity;
    weft_result result =
        weft_entity_create_many(world, weft_archetype_create(world, types, 3), 1, &entity);
    if (result != WEFT_OK) return result;
    result = WEFT_SET(world, entity, types[1], Velocity, {6, 0});
    if (result != WEFT_OK) return result;
    weft_system_desc desc = {.name = "move", .run = move};
    desc.over.rows.terms[0] = (weft_term){.component = types[0], .access = WEFT_WRITE};
    desc.over.rows.terms[1] = (weft_term){.component = types[1]};
    desc.over.rows.terms[2] = (weft_term){.component = types[2]};
    if (weft_system_create(world, &desc).id == 0) return weft_world_error(world)->code;
    result = weft_world_step(world, 0.5f);
    if (result != WEFT_OK) return result;
    const Position *p = weft_entity_read(world, entity, types[0]);
    if (p == NULL || p->x < 2.9f || p->x > 3.1f) return WEFT_NOT_FOUND;

    int value = 21;
    weft_job_context *owner = weft_job_pool_owner(weft_world_pool(world));
    weft_job_handle job;
    result = weft_job_submit(owner, &(weft_job_desc){.fn = double_it, .argument = &value}, &job);
    if (result == WEFT_OK) result = weft_job_wait(owner, job, NULL);
    if (result == WEFT_OK && value != 42) result = WEFT_NOT_FOUND;
    return result;
}

int main(void)
{
    weft_world *world;
    weft_result result = weft_world_create(NULL, &world);
    if (result != WEFT_OK) return 1;
    result = run(world);
    puts(weft_result_name(result));
    return weft_world_destroy(world) != WEFT_OK;
}
