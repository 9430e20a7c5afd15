/* SPDX-License-Identifier: MIT */
/* stress_against.c: what the rules of threads forbid, in `weft stress threads`: checked builds must
 * say BUSY or report a mistake of the step, and the world must stay whole.
 *
 * One world of the round has no owner. Hosts *contend* for it: they step it and run loops over it
 * without a hand-over; each such call either has the world for itself or is BUSY. While
 * systems and hooks run in it, a *door* may be open: strangers come in, make calls that only the
 * owner may make, and go; the system ends when they have gone. Through the door because a call that
 * is refused reads plain memory of the step (docs/design/concurrency.md, "Threads of the host").
 *
 * The door is a mutex and a condition. A system opens it if strangers wait, and goes on when they
 * have gone; a stranger waits as long as a host is left that may step. */
#include "stress_host.h"

#include "scene_calls.h"

#include <stdlib.h>
#include <unistd.h>

enum { CALLS_MOST = 12, CONTENDED = 6, AGAINST_ROWS = 600 };

/* The world. Owner: the host that is in it; constant but for x_ and `runs`. */
typedef struct against {
    calls_room room;
    scene_room documents;
    char path[64], document[64];
    weft_component value;
    weft_query all;
    weft_system touch;
    weft_recorder *recorder; /* played empty */
    weft_world_hook hook;
    uint32_t runs; /* of the door's systems: which of them opens it. Written by who steps */
    /* the door; guarded by `lock` */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_open;
    uint32_t waiting, inside; /* strangers */
    uint32_t away;            /* hosts that step no more, or not for long */
    weft_a32 x_called;        /* forbidden calls since the last check */
    weft_a32 x_raised;        /* times that each value was raised by one, as accepted calls did */
    calls_scratch scratches[HOSTS];
} against;

/* ---- the door ---- */

static void open_door(against *a)
{
    pthread_mutex_lock(&a->lock);
    a->is_open = a->waiting != 0;
    if (a->is_open) pthread_cond_broadcast(&a->changed);
    while (a->waiting + a->inside != 0 && a->is_open) pthread_cond_wait(&a->changed, &a->lock);
    a->is_open = false;
    pthread_mutex_unlock(&a->lock);
}

/* False: the door stays shut. */
static bool come_in(against *a, uint32_t hosts)
{
    pthread_mutex_lock(&a->lock);
    a->waiting++;
    pthread_cond_broadcast(&a->changed); /* others may be the last that could step */
    while (!a->is_open && a->waiting + a->away < hosts) pthread_cond_wait(&a->changed, &a->lock);
    a->waiting--;
    const bool is_inside = a->is_open;
    a->inside += is_inside;
    pthread_mutex_unlock(&a->lock);
    return is_inside;
}

static void go(against *a)
{
    pthread_mutex_lock(&a->lock);
    a->inside--;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

void weft_stress_against_away(host *h, bool is_away)
{
    against *a = h->round->against;
    if (a == NULL) return;
    pthread_mutex_lock(&a->lock);
    a->away += is_away ? 1u : UINT32_MAX;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

/* Of owner or system, or of a kind that the documents' room has made. */
static bool may_call(const char *name)
{
    return strcmp(name, "weft_indexed_open") == 0 || strcmp(name, "weft_component_parent") == 0 ||
           strcmp(name, "weft_component_instance_of") == 0;
}

static void make_calls(against *a, host *h, calls_place from)
{
    calls_scratch *scratch = &a->scratches[h->number];
    scratch->place = from;
    for (uint32_t i = 1 + weft_stress_below(h, CALLS_MOST); i > 0; i--) {
        const uint32_t call = weft_stress_below(h, CALL_COUNT + SCENE_CALL_COUNT);
        const bool is_scene = call >= CALL_COUNT;
        const char *name = is_scene ? scene_calls[call - CALL_COUNT].name : calls[call].name;
        if (may_call(name)) continue;
        at_add_rlx(&a->x_called, 1u); /* relaxed: a count, read when its writers have ended */
        const bool is_refused =
            is_scene ? scene_calls[call - CALL_COUNT].is_refused(&a->documents, scratch)
                     : calls[call].is_refused(&a->room, scratch);
        if (!is_refused)
            weft_stress_error(h->round->stress, "host %u: %s was accepted", h->number, name);
    }
}

/* ---- what runs in the world ---- */

static void raise_values(weft_slice *slice, void *user)
{
    uint32_t *values = weft_slice_write(slice, 0);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) values[i]++;
}

/* One of them in turn lets strangers in: of the main thread, exclusive, of the hook. */
static void at_door(against *a, uint32_t which)
{
    if (a->runs % 3 == which) open_door(a);
}

/* A loop of the owner does in each call. */
static void raise_at_door(weft_slice *slice, void *user)
{
    raise_values(slice, NULL);
    if (slice->first == 0) open_door(user);
}

static void run_main(weft_slice *slice, void *user)
{
    (void)slice;
    at_door(user, 0);
}

static void run_exclusive(weft_slice *slice, void *user)
{
    (void)slice;
    at_door(user, 1);
}

static void stepped(weft_world *world, void *user)
{
    against *a = user;
    (void)world;
    at_door(a, 2);
    a->runs++;
}

static bool make_world(against *a, host_round *r)
{
    const weft_world_desc desc = {
        .pool = r->pool, .allocator = r->stress->allocator, .os = r->stress->os};
    weft_world *world;
    if (weft_world_create(&desc, &world) != WEFT_OK) return false;
    snprintf(a->path, sizeof a->path, "/tmp/weft-against-%ld.wss", (long)getpid());
    snprintf(a->document, sizeof a->document, "/tmp/weft-against-%ld.weft", (long)getpid());
    a->value = weft_component_create_plain(world, "value", 4, 4, 0);
    const weft_term raised = {a->value, WEFT_WRITE, WEFT_ALL, 0};
    a->all = weft_query_create(world, &(weft_query_desc){.terms = {raised}});
    weft_system_desc system = {.name = "raise", .run = raise_values};
    system.over.rows.terms[0] = raised;
    a->touch = weft_system_create(world, &system);
    system = (weft_system_desc){
        .name = "door", .run = run_main, .user = a, .flags = WEFT_SYSTEM_MAIN_THREAD};
    bool is_made = a->touch.id != 0 && weft_system_create(world, &system).id != 0;
    system = (weft_system_desc){
        .name = "gate", .run = run_exclusive, .user = a, .flags = WEFT_SYSTEM_EXCLUSIVE};
    a->hook = (weft_world_hook){.stepped = stepped, .user = a};
    return is_made && weft_system_create(world, &system).id != 0 &&
           weft_world_hook_add(world, &a->hook) == WEFT_OK &&
           weft_entity_create_many(world, WEFT_ARCHETYPE(world, a->value), AGAINST_ROWS, NULL) ==
               WEFT_OK &&
           weft_recorder_create(world, &a->recorder) == WEFT_OK &&
           scene_room_open(&a->documents, world, a->document) &&
           calls_room_open(&a->room, world, a->path);
}

void weft_stress_against_open(host_round *r)
{
    if (!WEFT_IS_CHECKED) return;
    against *a = calloc(1, sizeof *a);
    if (a == NULL) return;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    bool is_open = make_world(a, r);
    const weft_world_desc scratch = {.workers = 1, .is_hidden = true};
    for (uint32_t i = 0; i < r->host_count && is_open; i++)
        is_open = weft_world_create(&scratch, &a->scratches[i].second) == WEFT_OK;
    if (!is_open) weft_stress_error(r->stress, "the world that is called cannot be made");
    r->against = a;
}

void weft_stress_against_close(host_round *r)
{
    against *a = r->against;
    if (a == NULL) return;
    host *first = &r->hosts[0];
    weft_world *world = a->room.world;
    EXPECT(first, scene_room_close(&a->documents));
    EXPECT(first, calls_room_close(&a->room));
    weft_recorder_destroy(a->recorder);
    EXPECT_OK(first, weft_world_destroy(world));
    for (uint32_t i = 0; i < r->host_count; i++)
        EXPECT_OK(first, weft_world_destroy(a->scratches[i].second));
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

/* ---- actions ---- */

/* What contends: calls that run loops, by number; BUSY and nothing done, or done. */
static weft_result run_loop(against *a, uint32_t which)
{
    weft_world *world = a->room.world;
    switch (which) {
    case 0:
        return weft_query_each_parallel(world, a->all, raise_at_door, a);
    case 1:
        return weft_system_run(world, a->touch, 0);
    case 2:
        return weft_recorder_play(a->recorder);
    case 3:
        return weft_relation_settle(world);
    case 4:
        return weft_observers_run(world);
    default:
        return weft_world_step(world, 0);
    }
}

void weft_stress_contend(host *h)
{
    against *a = h->round->against;
    if (a == NULL) return;
    for (uint32_t i = 0; i < CONTENDED; i++) {
        const uint32_t which = weft_stress_below(h, 10);
        const weft_result result = run_loop(a, which);
        if (result == WEFT_BUSY) continue;
        /* a step that was done has found the mistakes of strangers */
        const bool is_done = result == WEFT_OK || (result == WEFT_WRONG_PHASE && which > 4 &&
                                                   at_load_rlx(&a->x_called) != 0); /* relaxed */
        EXPECT(h, is_done);
        if (which < 2 || which > 4) at_add_rlx(&a->x_raised, 1u); /* relaxed: as x_called */
    }
}

void weft_stress_intrude(host *h)
{
    against *a = h->round->against;
    if (a == NULL) return;
    if (!come_in(a, h->round->host_count)) return;
    make_calls(a, h, CALLS_BY_STRANGER);
    go(a);
}

void weft_stress_against_check(host *h)
{
    against *a = h->round->against;
    if (a == NULL) return;
    uint32_t values[AGAINST_ROWS];
    const uint32_t raised = at_plain(&a->x_raised);
    EXPECT_OK(h, weft_world_validate(a->room.world));
    EXPECT(h, weft_query_read_values(a->room.world, a->all, a->value, values, AGAINST_ROWS) ==
                  AGAINST_ROWS);
    for (uint32_t i = 0; i < AGAINST_ROWS; i++) EXPECT(h, values[i] == raised);
    at_store_rlx(&a->x_called, 0u); /* relaxed: between phases */
}

/* In a job: it may neither wait nor end its pool. */
static int misuse_in_job(weft_job_context *job, void *argument)
{
    uint32_t *refused = argument;
    weft_job_pool *pool = weft_job_context_pool(job);
    *refused += weft_job_wait_all(job, NULL) == WEFT_WOULD_NEST;
    const weft_result result = weft_job_pool_destroy(pool);
    *refused += result == WEFT_WRONG_PHASE || result == WEFT_WRONG_THREAD;
    return 0;
}

void weft_stress_misuse(host *h)
{
    weft_job_pool *pool = h->round->pool;
    weft_job_context *owner = weft_job_pool_owner(pool), *guest;
    uint32_t refused = 0;
    if (h->number == 0) {
        weft_job_handle handle;
        const weft_job_desc desc = {.fn = misuse_in_job, .argument = &refused};
        if (!EXPECT_OK(h, weft_job_submit(owner, &desc, &handle))) return;
        EXPECT_OK(h, weft_job_wait(owner, handle, NULL));
        EXPECT(h, refused == 2);
        return;
    }
    EXPECT(h, weft_job_wait(owner, (weft_job_handle){0}, NULL) == WEFT_WRONG_THREAD);
    EXPECT(h, weft_job_wait_all(owner, NULL) == WEFT_WRONG_THREAD);
    EXPECT(h, weft_job_pool_destroy(pool) == WEFT_WRONG_THREAD);
    if (!EXPECT_OK(h, weft_job_pool_enter(pool, &guest))) return;
    EXPECT(h, weft_job_wait_all(guest, NULL) == WEFT_WRONG_THREAD);
    EXPECT_OK(h, weft_job_pool_leave(guest));
}
