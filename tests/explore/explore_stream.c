/* SPDX-License-Identifier: MIT */
/* explore_stream.c: the crew that reads sections: jobs handed over while threads sleep or work, the
 * owner that publishes what was filled as soon as it is told, or waits, or gives a job up; and the
 * end of the crew (edges SC1 to SC7 of stream_crew.h). */
#include "explore_desc.h"
#include "explore_plans.h"
#include "stream_crew.h"

enum { PIECES = 3 };

/* A job that fills a number per piece. Plain memory: who reads without order is found. */
typedef struct filling {
    weft__crew_job job; /* first */
    uint32_t head;
    uint32_t filled[PIECES];
} filling;

static weft__crew crew;
static filling jobs[2];

static void fill(weft__crew_job *job, uint32_t piece, uint32_t thread)
{
    filling *own = (filling *)(void *)job;
    (void)thread;
    if (piece == 0) own->head = 7;
    EXPLORE_CHECK(own->head == 7, "piece %u began before piece 0 had ended", piece);
    EXPLORE_CHECK(own->filled[piece] == 0, "piece %u ran twice", piece);
    own->filled[piece] = piece + 1;
}

static void start(uint32_t threads)
{
    for (uint32_t i = 0; i < 2; i++) jobs[i] = (filling){.job = {.run = fill}};
    EXPLORE_CHECK(weft__crew_init(&crew, explore_os(), threads) == WEFT_OK, "init");
}

/* What the owner does with a job that is its own again. */
static void publish(const filling *own, uint32_t pieces)
{
    for (uint32_t i = 0; i < pieces; i++)
        EXPLORE_CHECK(own->filled[i] == i + 1, "published before piece %u was filled", i);
}

static void await(const filling *own)
{
    while (!weft__crew_is_done(&own->job)) {
        uint32_t seen = weft__crew_ended(&crew);
        if (!weft__crew_is_done(&own->job)) weft__crew_wait(&crew, seen);
    }
}

static void push(filling *own, uint32_t pieces)
{
    own->job.piece_count = pieces;
    weft__crew_push(&crew, &own->job);
}

static void finish(void)
{
    weft__crew_fini(&crew);
    explore_end();
}

/* One thread that may sleep; two jobs, one after the other. */
static void one_thread(void)
{
    start(1);
    explore_begin();
    for (uint32_t i = 0; i < 2; i++) {
        push(&jobs[i], 2);
        await(&jobs[i]);
        publish(&jobs[i], 2);
    }
    finish();
}

/* Two threads share the pieces of a job. */
static void two_threads(void)
{
    start(2);
    explore_begin();
    push(&jobs[0], PIECES);
    await(&jobs[0]);
    publish(&jobs[0], PIECES);
    finish();
}

/* The owner looks once a frame and does not wait; it helps when it has to. */
static void owner_polls(void)
{
    start(1);
    explore_begin();
    push(&jobs[0], 2);
    push(&jobs[1], 1);
    if (weft__crew_is_done(&jobs[0].job)) publish(&jobs[0], 2);
    weft__crew_await(&crew, &jobs[0].job);
    weft__crew_await(&crew, &jobs[1].job);
    publish(&jobs[0], 2);
    publish(&jobs[1], 1);
    finish();
}

const explore_scenario explore_scenarios[] = {
    {"stream_one_thread",
     one_thread,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_ALL(EXPLORE_C11, 1, 1),
      PLAN_PCT(EXPLORE_C11, 3, 3000, 300000)},
     NULL},
    {"stream_two_threads",
     two_threads,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_ALL(EXPLORE_C11, 1, 1),
      PLAN_PCT(EXPLORE_C11, 3, 3000, 300000)},
     NULL},
    {"stream_owner_polls",
     owner_polls,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_ALL(EXPLORE_C11, 1, 1),
      PLAN_PCT(EXPLORE_C11, 3, 3000, 300000)},
     NULL},
    {0},
};
