/* SPDX-License-Identifier: MIT */
/* machine.c: what the benchmarks ran on: CPU, kernel, governor, stolen time; and pinning of
 * threads.
 *
 * On a shared virtual machine the hypervisor may take the CPU away in the middle of a measurement;
 * /proc/stat counts that as steal time, so each run prints its share. Threads are pinned from
 * outside, by name, because the library never pins by itself.
 */
#include "harness.h"

#include "cli.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { MAX_THREADS = 1024, NAME_BYTES = 32, TEXT_BYTES = 128 };

/* First line of a file without its newline; "" when it cannot be read. */
static void read_line(const char *path, char *text, size_t bytes)
{
    text[0] = 0;
    FILE *file = fopen(path, "re");
    if (!file) return;
    if (!fgets(text, (int)bytes, file)) text[0] = 0;
    text[strcspn(text, "\n")] = 0;
    fclose(file);
}

static void read_cpu_name(char *text, size_t bytes)
{
    char line[512];
    snprintf(text, bytes, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file) return;
    while (fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(text, bytes, "%.*s", (int)bytes - 1, colon + 2);
        break;
    }
    fclose(file);
}

weft_bench_ticks weft_bench_read_ticks(void)
{
    char line[512];
    weft_bench_ticks ticks = {0};
    read_line("/proc/stat", line, sizeof line);
    char *rest = line + strcspn(line, " ");
    /* user nice system idle iowait irq softirq steal */
    for (uint32_t field = 0; field < 8; field++) {
        const uint64_t value = strtoull(rest, &rest, 10);
        ticks.total += value;
        if (field == 7) ticks.steal = value;
    }
    return ticks;
}

/* Of the first CPU, as the kernel sees it; 0: it does not say. */
static double read_mhz(void)
{
    char line[TEXT_BYTES];
    double mhz = 0;
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL) return 0;
    while (mhz == 0 && fgets(line, sizeof line, file) != NULL) {
        const char *value = strncmp(line, "cpu MHz", 7) == 0 ? strchr(line, ':') : NULL;
        if (value != NULL) mhz = strtod(value + 1, NULL);
    }
    fclose(file);
    return mhz;
}

void weft_bench_print_machine(weft_bench_ticks start, bool is_json)
{
    char cpu[TEXT_BYTES], governor[TEXT_BYTES], kernel[TEXT_BYTES];
    struct utsname name;
    uname(&name);
    snprintf(kernel, sizeof kernel, "%.60s %.60s", name.sysname, name.release);
    read_cpu_name(cpu, sizeof cpu);
    read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof governor);
    if (!governor[0]) snprintf(governor, sizeof governor, "none");
    const weft_bench_ticks now = weft_bench_read_ticks();
    const uint64_t ticks = now.total - start.total;
    const double steal = ticks ? 100.0 * (double)(now.steal - start.steal) / (double)ticks : 0;
    const double line_ns = weft_bench_line_trip();
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!is_json) {
        puts("w: workers; ratio: of the medians, weft's first: below 1 weft is faster");
        char text[4 * TEXT_BYTES];
        snprintf(text, sizeof text,
                 "machine: %s, %ld cores, %.0f MHz, %s, governor %s, steal %.2f %%, "
                 "line to a core and back %.0f ns, compiler %s",
                 cpu, cores, read_mhz(), kernel, governor, steal, line_ns, __VERSION__);
        weft_cli_print_text(text, 0, 2);
        return;
    }
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_open(&json, "machine");
    weft_json_text(&json, "cpu", cpu);
    weft_json_count(&json, "cores", (uint64_t)cores);
    weft_json_number(&json, "mhz", read_mhz());
    weft_json_text(&json, "kernel", kernel);
    weft_json_text(&json, "governor", governor);
    weft_json_number(&json, "steal_percent", steal);
    weft_json_number(&json, "line_ns", line_ns);
    weft_json_text(&json, "compiler", __VERSION__);
    weft_json_end(&json);
}

/* A thread to pin: its id, and the worker it is: 0 the caller, k of "weft-wk". */
typedef struct thread_entry {
    int id;
    uint32_t worker;
} thread_entry;

/* The caller and the workers of all pools; threads of peers bind themselves (peer.h). */
static uint32_t list_threads(thread_entry *threads)
{
    uint32_t count = 1;
    threads[0] = (thread_entry){(int)getpid(), 0};
    DIR *directory = opendir("/proc/self/task");
    if (!directory) return count;
    for (struct dirent *e; (e = readdir(directory)) && count < MAX_THREADS;) {
        char path[TEXT_BYTES], name[NAME_BYTES];
        if (!isdigit((unsigned char)e->d_name[0])) continue;
        const int id = atoi(e->d_name);
        snprintf(path, sizeof path, "/proc/self/task/%d/comm", id);
        read_line(path, name, sizeof name);
        unsigned worker;
        if (sscanf(name, "weft-w%u", &worker) == 1) threads[count++] = (thread_entry){id, worker};
    }
    closedir(directory);
    return count;
}

/* The only state that outlives a call here: the CPUs the process had when it was first pinned, and
 * whether it is now. */
static cpu_set_t allowed;
static bool is_pinned;

static size_t nth_cpu(uint32_t n)
{
    n %= (uint32_t)CPU_COUNT(&allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && n-- == 0) return cpu;
    }
    return 0;
}

bool weft_bench_has_workers(void)
{
    static thread_entry threads[MAX_THREADS];
    return list_threads(threads) > 1;
}

bool weft_bench_is_pinned(void)
{
    return is_pinned;
}

void weft_bench_pin_threads(void)
{
    static thread_entry threads[MAX_THREADS];
    if (CPU_COUNT(&allowed) == 0 && sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    if (CPU_COUNT(&allowed) < 2) return;
    is_pinned = true;
    const uint32_t count = list_threads(threads);
    for (uint32_t i = 0; i < count; i++) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(nth_cpu(threads[i].worker), &one);
        sched_setaffinity(threads[i].id, sizeof one, &one);
    }
}

void weft_bench_unpin_threads(void)
{
    static thread_entry threads[MAX_THREADS];
    if (!is_pinned) return;
    is_pinned = false;
    const uint32_t count = list_threads(threads);
    for (uint32_t i = 0; i < count; i++) {
        sched_setaffinity(threads[i].id, sizeof allowed, &allowed);
    }
}
