/* SPDX-License-Identifier: MIT */
/* trace_program.c: a small world whose trace check_trace.py reads: fused systems, a range, a system
 * of the owner, commands. Run as: trace_program WORKERS CAPACITY FRAMES [FILE [THREAD]]; without
 * FILE the environment decides, and FILE "-" forbids it. The world is stepped by a thread of the
 * name THREAD, if there is one. TRACE_ENDS in the environment: how the program ends without
 * destroying its world: return, exit, _exit; or in a system of the last frame: abort, segv, kill,
 * int. "forked": a child records zones and ends, and then its parent is killed. TRACE_SLOW:
 * microseconds that each index of the system "indices" takes.
 * TRACE_TURNS: so many more systems that are fused, "turn 0", "turn 1", ...
 */
#include <weft/weft.h>
#include <weft/zone.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Place {
    float x;
} Place;
typedef struct Speed {
    float x;
} Speed;

static const char *ends = "";
static bool is_last_frame;
static long slow_us;

static bool ends_by(const char *way)
{
    return strcmp(ends, way) == 0;
}

static void move(weft_slice *slice, void *user)
{
    Place *place = weft_slice_write(slice, 0);
    const Speed *speed = weft_slice_read(slice, 1);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) place[i].x += speed[i].x;
    (void)user;
}

static void slow(weft_slice *slice, void *user)
{
    Speed *speed = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) speed[i].x *= 0.999f;
    (void)user;
}

/* Takes so many microseconds of the thread. */
static void nothing(weft_slice *slice, void *user)
{
    const long us = *(const long *)user;
    struct timespec begin, now;
    (void)slice;
    if (us == 0) return;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < us * 1000);
}

static void spawn(weft_slice *slice, void *user)
{
    const weft_archetype *archetype = user;
    WEFT_ZONE("zone");
    weft_plot("plot", 7);
    if (is_last_frame && ends_by("abort")) abort();
    if (is_last_frame && ends_by("segv")) raise(SIGSEGV);
    if (is_last_frame && ends_by("kill")) raise(SIGKILL);
    if (is_last_frame && ends_by("int")) raise(SIGINT);
    if (is_last_frame && ends_by("forked")) {
        if (fork() == 0) {
            for (int i = 0; i < 1000; i++) weft_plot("of the child", 1);
            _exit(0);
        }
        wait(NULL);
        weft_plot("of the parent", 1);
        raise(SIGKILL);
    }
    weft_recorder_create_entity(weft_slice_recorder(slice), *archetype);
}

/* Who steps the world. Owner: run. */
typedef struct stepper {
    weft_world *world;
    const char *thread; /* NULL: the one that created it */
    int frames;
    weft_result result;
} stepper;

static void *step_here(void *argument)
{
    stepper *self = argument;
    if (self->thread != NULL) pthread_setname_np(pthread_self(), self->thread);
    for (int i = 0; i < self->frames && self->result == WEFT_OK; i++) {
        is_last_frame = i == self->frames - 1;
        self->result = weft_world_step(self->world, 0.1f);
    }
    return NULL;
}

static weft_result step(stepper *self)
{
    pthread_t thread;
    if (self->thread == NULL)
        step_here(self);
    else if (pthread_create(&thread, NULL, step_here, self) != 0 || pthread_join(thread, NULL) != 0)
        return WEFT_THREAD_FAILED;
    return self->result;
}

static int run(weft_job_pool *pool, const weft_world_desc *desc, int frames, const char *thread)
{
    weft_world *world;
    weft_result result = weft_world_create(desc, &world);
    if (result != WEFT_OK) {
        fprintf(stderr, "world: %s\n", weft_result_name(result));
        return 1;
    }
    weft_component place = WEFT_COMPONENT(world, Place), speed = WEFT_COMPONENT(world, Speed);
    weft_archetype archetype = weft_archetype_create(world, &place, 1);
    weft_entity_create_many(
        world, weft_archetype_create(world, (weft_component[]){place, speed}, 2), 50000, NULL);
    weft_system_create(
        world, &(weft_system_desc){.name = "move \"quoted\"",
                                   .run = move,
                                   .over.rows.terms = {{place, WEFT_WRITE}, {speed, WEFT_READ}}});
    weft_system_create(world, &(weft_system_desc){.name = "slow \xc3\xa9",
                                                  .run = slow,
                                                  .over.rows.terms = {{speed, WEFT_WRITE}}});
    const char *turns = getenv("TRACE_TURNS");
    for (int i = 0; turns != NULL && i < atoi(turns); i++) {
        char name[32];
        snprintf(name, sizeof name, "turn %d", i);
        weft_system_create(world, &(weft_system_desc){.name = name,
                                                      .run = slow,
                                                      .over.rows.terms = {{speed, WEFT_WRITE}}});
    }
    weft_system_create(world, &(weft_system_desc){.name = "indices",
                                                  .run = nothing,
                                                  .user = &slow_us,
                                                  .over = {.kind = WEFT_OVER_COUNT, .count = 40}});
    weft_system_create(world, &(weft_system_desc){.name = "spawn",
                                                  .run = spawn,
                                                  .user = &archetype,
                                                  .flags = WEFT_SYSTEM_MAIN_THREAD,
                                                  .effects = WEFT_RECORDS_CREATE});
    result = step(&(stepper){world, thread, frames, WEFT_OK});
    if (result != WEFT_OK) fprintf(stderr, "step: %s\n", weft_world_error(world)->text);
    if (ends_by("return")) return 0;
    if (ends_by("exit")) exit(0);
    if (ends_by("_exit")) _exit(0);
    weft_world_destroy(world);
    weft_job_pool_destroy(pool);
    return result == WEFT_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    if (getenv("TRACE_ENDS") != NULL) ends = getenv("TRACE_ENDS");
    if (getenv("TRACE_SLOW") != NULL) slow_us = atol(getenv("TRACE_SLOW"));
    const char *file = argc > 4 ? argv[4] : NULL;
    if (file != NULL && strcmp(file, "-") == 0) file = "";
    const weft_job_pool_desc desc = {.worker_count = (uint32_t)atoi(argv[1]),
                                     .trace_capacity = (uint32_t)atoi(argv[2]),
                                     .is_always_parallel = true,
                                     .trace_file = file};
    weft_job_pool *pool;
    weft_result result = weft_job_pool_create(&desc, &pool);
    if (result != WEFT_OK) {
        fprintf(stderr, "pool: %s\n", weft_result_name(result));
        return 1;
    }
    return run(pool, &(weft_world_desc){.pool = pool}, atoi(argv[3]), argc > 5 ? argv[5] : NULL);
}
