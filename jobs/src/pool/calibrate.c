/* SPDX-License-Identifier: MIT */
/* calibrate.c: the wake-up time of a worker: a job is submitted while worker 1 sleeps, and
 * stamps the clock when it runs there. The median of a few samples; when the machine is too busy
 * to measure, a default. The whole measurement is bounded, and it leaves no job behind.
 * Samples that ran on the owner's own CPU do not count: they took a switch of threads (3 us), and
 * workers with so small a budget fall asleep between two loops of a row. */
#include "calibrate.h"
#include "pool_state.h"

#define SAMPLES 15u
#define DEFAULT_WAKE_NS 8000u
#define SETTLE_NS_MAX 300000u /* how long to wait for worker 1 to fall asleep */
#define DOZE_NS 30000u        /* from the announcement in the bitmap into the futex */
#define SAMPLE_NS_MAX 300000u
#define AWAKE_PAY_OFF_NS 4000u

static uint64_t now_of(weft_job_pool *pool)
{
    return weft__ticks_now(&pool->ticks);
}

/* When the sample ran; 0: not yet. Owner: sample(); written by its job. */
typedef struct stamp {
    weft_a64 x_ticks;
    uint32_t cpu; /* where; published by x_ticks */
} stamp;

static int take_stamp(weft_job_context *worker, void *argument)
{
    stamp *out = argument;
    out->cpu = weft__cpus_current();
    at_store_rel(&out->x_ticks, now_of(worker->pool)); /* P7 */
    return 0;
}

static bool sleeps(weft_job_pool *pool, uint32_t worker)
{
    uint64_t bit = UINT64_C(1) << (worker % 64);
    return (at_load_sc(&pool->wake.x_sleepers[worker / 64]) & bit) != 0; /* W2 */
}

/* Waits a moment until every worker sleeps. */
static bool settle(weft_job_pool *pool)
{
    uint64_t limit = now_of(pool) + weft__ticks_from_ns(&pool->ticks, SETTLE_NS_MAX);
    for (uint32_t i = 1; i < pool->worker_count; i++)
        while (!sleeps(pool, i)) {
            if (now_of(pool) > limit) return false;
            at_stall();
        }
    uint64_t asleep = now_of(pool) + weft__ticks_from_ns(&pool->ticks, DOZE_NS);
    while (now_of(pool) < asleep) at_stall();
    return true;
}

/* Ticks from submission to run on another CPU; 0 when it took too long or ran here. */
static uint64_t sample(weft_job_pool *pool)
{
    weft_job_context *owner = &pool->workers[0];
    stamp run = {.cpu = 0};
    weft_job_handle handle;
    if (!settle(pool)) return 0;
    uint64_t begun = now_of(pool);
    weft_job_desc desc = {.fn = take_stamp, .argument = &run};
    if (weft_job_submit(owner, &desc, &handle) != WEFT_OK) return 0;
    pool->calibration_jobs++;
    uint64_t limit = begun + weft__ticks_from_ns(&pool->ticks, SAMPLE_NS_MAX);
    uint64_t stamped;
    while ((stamped = at_load_acq(&run.x_ticks)) == 0 && /* P7 */
           now_of(pool) < limit)
        at_stall();
    weft_job_wait(owner, handle, NULL);
    if (run.cpu == weft__cpus_current()) return 0;
    return stamped > begun ? stamped - begun : 0;
}

static void sort(uint64_t *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && values[k] < values[k - 1]; k--) {
            uint64_t swapped = values[k];
            values[k] = values[k - 1];
            values[k - 1] = swapped;
        }
}

/* Median wake-up time in nanoseconds; 0 when it could not be measured. */
static uint32_t measure(weft_job_pool *pool)
{
    uint64_t samples[SAMPLES];
    uint32_t count = 0, failed = 0;
    while (count < SAMPLES && failed < 3) {
        uint64_t ticks = sample(pool);
        if (ticks != 0)
            samples[count++] = ticks;
        else
            failed++;
    }
    if (count < SAMPLES / 2) return 0;
    sort(samples, count);
    return (uint32_t)weft__ticks_to_ns(&pool->ticks, samples[count / 2]);
}

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

void weft__pool_calibrate(weft_job_pool *pool, uint32_t spin_ns, uint32_t frame_spin_ns)
{
    const weft__ticks *ticks = &pool->ticks;
    bool has_threads = pool->thread_count > 0;
    if (spin_ns == 0 && has_threads) pool->wake_ns = measure(pool);
    uint64_t wake_ns = pool->wake_ns != 0 ? pool->wake_ns : DEFAULT_WAKE_NS;
    uint64_t budget = spin_ns != 0 ? spin_ns : clamp(2 * wake_ns, 5000, 50000);
    pool->limits.awake_ticks = weft__ticks_from_ns(ticks, AWAKE_PAY_OFF_NS);
    bool must_split = pool->is_always_parallel && pool->worker_count > 1;
    for (uint32_t i = 0; i < pool->worker_count; i++)
        pool->workers[i].small_ticks = must_split ? 0 : pool->limits.awake_ticks;
    pool->limits.asleep_ticks = weft__ticks_from_ns(ticks, clamp(4 * wake_ns, 20000, 100000));
    pool->limits.grain_ticks = weft__ticks_from_ns(ticks, 3000);
    at_store_rlx(&pool->x_spin_ticks, weft__ticks_from_ns(ticks, budget)); /* relaxed: a hint */
    uint64_t frame_ns = frame_spin_ns > budget ? frame_spin_ns : budget;
    /* relaxed: a hint */
    at_store_rlx(&pool->x_frame_spin_ticks, weft__ticks_from_ns(ticks, frame_ns));
}
