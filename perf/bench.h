/* SPDX-License-Identifier: MIT */
/* bench.h: what a benchmark is, for those who write one.
 *
 * A file perf/bench_<topic>.c joins `weft bench` by its name. It ends with its list:
 *
 *     static void move3(weft_bench *bench) {
 *         move3_data data = ...;
 *         weft_bench_run(bench, &(weft_bench_measure){
 *             .name = "10M", .unit = "ns/entity", .items = 1e7, .workers = 1,
 *             .run = move3_weft, .raw = move3_plain, .data = &data});
 *     }
 *     const weft_bench_entry weft_bench_iter[] = {
 *         {"iter.move3", "position += velocity", move3}, {0}};
 *
 * The harness times `run` and `raw` in turn (raw, ours, raw, ours, ...) inside one process, so
 * that whatever disturbs the machine disturbs both; it reports medians, minima and their ratio.
 * Benchmarks may include private headers of all layers. What a line means:
 * docs/performance.md.
 */
#ifndef WEFT_PERF_BENCH_H
#define WEFT_PERF_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The running benchmark. Owner: the harness, valid inside the entry's function only, one thread. */
typedef struct weft_bench weft_bench;

/* One call of the work; gets weft_bench_measure.data (or the peer's own data). */
typedef void weft_bench_fn(void *data);

/* Another implementation of the same work: OpenMP, oneTBB, or weft itself with one worker. */
typedef struct weft_bench_peer {
    const char *name; /* "openmp"; NULL ends the list */
    weft_bench_fn *run;
    void *data; /* NULL: data of the measure */
} weft_bench_peer;

enum { WEFT_BENCH_MAX_PEERS = 6 };

/* One case to measure. Everything is borrowed for the duration of weft_bench_run. */
typedef struct weft_bench_measure {
    const char *name;       /* case, unique within the benchmark: "10M" */
    const char *unit;       /* "ns/entity": must start with ns, us, ms or s */
    double items;           /* items one call handles; the figure is time / items; 0 = 1 */
    uint32_t workers;       /* printed on the line; 0 = weft_bench_workers(bench); more than one:
                             * caller and workers are pinned if the workers exist by now */
    bool is_free;           /* never pinned: where threads run is part of what is measured */
    weft_bench_fn *run;     /* the work on weft */
    weft_bench_fn *raw;     /* the same work in plain C; NULL when there is none */
    weft_bench_fn *prepare; /* before each call of `run`, `raw` and every peer, not timed; or NULL.
                             * With it every call is timed alone: make calls >= 10 us long. */
    void *data;
    weft_bench_peer peers[WEFT_BENCH_MAX_PEERS];
} weft_bench_measure;

/* What weft_bench_run found, in the unit of the measure; all 0 when the case was not selected. */
typedef struct weft_bench_result {
    double median, min, raw, ratio;
    double peers[WEFT_BENCH_MAX_PEERS]; /* medians, in the order of the measure's peers */
} weft_bench_result;

/* One benchmark; a list of them ends with a NULL name. Names are "<topic>.<what>". */
typedef struct weft_bench_entry {
    const char *name;
    const char *summary; /* the definition in one line, for --list */
    void (*run)(weft_bench *bench);
    bool is_slow; /* more than ~10 s: left out of `weft bench` unless named exactly or --all */
} weft_bench_entry;

/* Measures one case and prints its line (and one line per peer). Short work is repeated until a
 * sample lasts at least 2 ms. */
weft_bench_result weft_bench_run(weft_bench *bench, const weft_bench_measure *measure);

/* Prints a figure that the benchmark found itself (a count, bytes, a rate): no repetition, no
 * raw. */
void weft_bench_value(weft_bench *bench, const char *name, const char *unit, uint32_t workers,
                      double value);

/* Says whether the case was asked for (`weft bench iter.move3/10M`): skip costly set-up if not. */
bool weft_bench_wants(const weft_bench *bench, const char *name);
/* Worker count of --workers (default: the CPUs of this process). Create worlds and pools with
 * it. */
uint32_t weft_bench_workers(const weft_bench *bench);
/* Samples per case, from --reps: for benchmarks that time things themselves. */
uint32_t weft_bench_reps(const weft_bench *bench);
/* Reports a failure (a world that cannot be created, a result that differs from raw): the benchmark
 * goes on, `weft bench` ends with status 1. */
void weft_bench_fail(weft_bench *bench, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Pins the caller to the first allowed CPU and worker k of every pool ("weft-wk") to the CPU k + 1,
 * round robin; nothing with a single CPU. Threads started later inherit the caller's CPU.
 * weft_bench_run does it for its samples: call it for what must be so before, a loop that learns
 * its cost. */
void weft_bench_pin_threads(void);
/* Lets them run on all CPUs allowed at the first weft_bench_pin_threads again. */
void weft_bench_unpin_threads(void);

/* `count` zeroed elements, written once, for the raw side of a comparison; free() them. Large
 * memory of calloc is one page of zeros seen everywhere until it is written, and reading it costs
 * nothing. NULL when there is none. */
void *weft_bench_zeroed(size_t count, size_t bytes);

/* Monotonic time in ns (24 ns a call). */
uint64_t weft_bench_now(void);
/* Makes the compiler believe that the memory behind `pointer` is read and written here. */
static inline void weft_bench_keep(const void *pointer)
{
    __asm__("" : : "r"(pointer) : "memory");
}

#endif
