/* SPDX-License-Identifier: MIT */
/* harness.h: runs the registered benchmarks for `weft bench` (tools/cmd_bench.c).
 *
 * Private to the command; authors of benchmarks need bench.h only. Everything runs on the calling
 * thread, apart from what the benchmarks start themselves.
 */
#ifndef WEFT_PERF_HARNESS_H
#define WEFT_PERF_HARNESS_H

#include "bench.h"
#include "json.h"

/* What `weft bench` was asked to do; constant during a run. */
typedef struct weft_bench_config {
    char **names; /* "topic", "topic.what", "topic.what/case" or a group; empty: all not slow */
    uint32_t name_count;
    uint32_t workers;
    uint32_t reps;
    bool is_json;
    bool with_slow;
    bool with_samples; /* JSON lines carry every sample, for --compare */
    bool is_pinned;    /* pin threads in cases of one worker, too: in all others they are */
} weft_bench_config;

/* Prints name and definition of the benchmarks that the names of the config fit. */
void weft_bench_list(const weft_bench_config *config);
/* The first of config->names that fits no benchmark, or NULL; *near gets the nearest name or
 * NULL. */
const char *weft_bench_unknown_name(const weft_bench_config *config, const char **near);
/* Runs what the config selects; returns an exit status of the command line. */
int weft_bench_run_all(const weft_bench_config *config);

/* Prints how the cases of two saved runs differ; returns an exit status of the command line. */
int weft_bench_compare(const char *before_path, const char *after_path, bool is_json,
                       double fail_over);

/* Median of `count` values; sorts them. */
double weft_bench_median(double *values, uint32_t count);

/* Machine (machine.c): CPU time of all CPUs in clock ticks, and the part the hypervisor took. */
typedef struct weft_bench_ticks {
    uint64_t total, steal;
} weft_bench_ticks;
weft_bench_ticks weft_bench_read_ticks(void);
/* The line {"machine":{...}}; steal is the share of CPU time since `start`, in percent. */
void weft_bench_print_machine(weft_bench_ticks start, bool is_json);
/* A cache line to another CPU and back (line_trip.c), the least of many, in ns; 0: there is one
 * CPU, or other programs had them all the time. Takes 1 ms, beside other programs up to half a
 * second. */
double weft_bench_line_trip(void);
/* Whether a pool with more than one worker exists now. */
bool weft_bench_has_workers(void);
/* Whether weft_bench_pin_threads was called after the last weft_bench_unpin_threads. */
bool weft_bench_is_pinned(void);

#endif
