/* SPDX-License-Identifier: MIT */
/* peer.h: OpenMP and oneTBB behind one table, for benchmarks that compare jobs with them.
 *
 * A peer that was not found when weft was configured is NULL. Both run on their own threads, which
 * spin for a while after each call; the harness lets them fall asleep before others are measured.
 */
#ifndef WEFT_PERF_PEER_H
#define WEFT_PERF_PEER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void weft_peer_body(uint64_t begin, uint64_t end, void *user);
typedef void weft_peer_task(void *user);

/* One peer. Constant. Every function returns when all its work is done. Threads: one caller. */
typedef struct weft_peer {
    const char *name;
    /* Starts the threads for `workers` and binds each but the caller to a CPU of its own, as weft's
     * are in the benchmarks of jobs: the kernel may pack two threads onto one core. */
    void (*start)(uint32_t workers);
    /* Covers [0, count) by calls of body. grain 0 = the peer's own choice of pieces (OpenMP:
     * static, one piece per thread; oneTBB: auto_partitioner), else pieces of `grain`, dealt
     * dynamically. */
    void (*loop)(uint32_t workers, uint64_t count, uint64_t grain, weft_peer_body *body,
                 void *user);
    /* One thread spawns `count` calls of task and waits for them. */
    void (*spawn)(uint32_t workers, uint32_t count, weft_peer_task *task, void *user);
    /* Fibonacci by fork and join down to n = 1, one task per call. */
    uint64_t (*fib)(uint32_t workers, uint32_t n);
} weft_peer;

const weft_peer *weft_peer_openmp(void);
const weft_peer *weft_peer_tbb(void);

#ifdef __cplusplus
}
#endif
#endif
