/* SPDX-License-Identifier: MIT */
/* cpus.c: affinity mask and control-group quota. The quota is rounded down: a pool with more
 * threads than quota is throttled for whole periods (100 ms), far worse than one thread fewer. */
#include "cpus.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 600

/* First line of root + path + name in `line`, without the newline; false when unreadable. */
static int read_line(char *line, int bytes, const char *root, const char *path, const char *name)
{
    char full[PATH_BYTES];
    int length = snprintf(full, sizeof full, "%s%s%s", root, path, name);
    if (length < 0 || length >= (int)sizeof full) return 0;
    FILE *file = fopen(full, "re");
    if (file == NULL) return 0;
    int is_read = fgets(line, bytes, file) != NULL;
    fclose(file);
    if (is_read) line[strcspn(line, "\n")] = '\0';
    return is_read;
}

static uint32_t whole_cpus(long long quota, long long period)
{
    if (quota <= 0 || period <= 0) return 0;
    long long cpus = quota / period;
    if (cpus > (long long)WEFT__WORKERS_MAX) cpus = WEFT__WORKERS_MAX;
    return cpus < 1 ? 1 : (uint32_t)cpus;
}

/* Version 2: "max 100000" or "150000 100000". */
static uint32_t quota_v2(const char *root, const char *group)
{
    char path[PATH_BYTES], line[64];
    int length = snprintf(path, sizeof path, "/sys/fs/cgroup%s", group);
    if (length < 0 || length >= (int)sizeof path) return 0;
    if (!read_line(line, sizeof line, root, path, "/cpu.max")) return 0;
    char *end;
    long long quota = strtoll(line, &end, 10);
    if (end == line) return 0; /* "max" */
    return whole_cpus(quota, strtoll(end, NULL, 10));
}

static uint32_t quota_v1(const char *root, const char *group)
{
    char path[PATH_BYTES], quota[64], period[64];
    int length = snprintf(path, sizeof path, "/sys/fs/cgroup/cpu%s", group);
    if (length < 0 || length >= (int)sizeof path) return 0;
    if (!read_line(quota, sizeof quota, root, path, "/cpu.cfs_quota_us")) return 0;
    if (!read_line(period, sizeof period, root, path, "/cpu.cfs_period_us")) return 0;
    return whole_cpus(strtoll(quota, NULL, 10), strtoll(period, NULL, 10));
}

static uint32_t smaller_limit(uint32_t a, uint32_t b)
{
    if (a == 0 || b == 0) return a + b;
    return a < b ? a : b;
}

/* Smallest quota of a group and its ancestors. */
static uint32_t quota_up(char *group, const char *root,
                         uint32_t (*quota)(const char *, const char *))
{
    uint32_t limit = 0;
    for (;;) {
        limit = smaller_limit(limit, quota(root, group));
        char *slash = strrchr(group, '/');
        if (slash == NULL) return limit;
        *slash = '\0';
    }
}

uint32_t weft__cpus_quota(const char *root)
{
    char path[PATH_BYTES], line[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (length < 0 || length >= (int)sizeof path) return 0;
    uint32_t limit = 0;
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        while (fgets(line, sizeof line, file) != NULL) { /* "id:controllers:/group" */
            line[strcspn(line, "\n")] = '\0';
            char *controllers = strchr(line, ':');
            char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
            if (group == NULL) continue;
            *group++ = '\0';
            bool is_v2 = controllers[1] == '\0';
            if (!is_v2 && strstr(controllers + 1, "cpu") == NULL) continue;
            limit = smaller_limit(limit, quota_up(group, root, is_v2 ? quota_v2 : quota_v1));
        }
        fclose(file);
    }
    return limit;
}

/* A mask of more CPUs than any kernel has: Linux refuses one that is shorter than its own, and
 * cpu_set_t ends at 1,024. A value. */
typedef union cpu_mask {
    cpu_set_t sets[64];
    cpu_set_t set; /* for the macros that take a size */
} cpu_mask;

uint32_t weft__cpus_usable(void)
{
    cpu_mask mask;
    uint32_t count = 1;
    if (sched_getaffinity(0, sizeof mask, &mask.set) == 0)
        count = (uint32_t)CPU_COUNT_S(sizeof mask, &mask.set);
    count = smaller_limit(count, weft__cpus_quota(""));
    if (count > WEFT__WORKERS_MAX) count = WEFT__WORKERS_MAX;
    return count < 1 ? 1 : count;
}

uint32_t weft__cpus_current(void)
{
    int cpu = sched_getcpu();
    return cpu < 0 ? 0 : (uint32_t)cpu;
}

void weft__cpus_pin_self(uint32_t index)
{
    cpu_mask mask, one;
    const size_t bytes = sizeof mask;
    if (sched_getaffinity(0, bytes, &mask.set) != 0) return;
    const uint32_t count = (uint32_t)CPU_COUNT_S(bytes, &mask.set);
    uint32_t wanted = count == 0 ? 0 : index % count;
    for (size_t cpu = 0; cpu < bytes * 8; cpu++) {
        if (!CPU_ISSET_S(cpu, bytes, &mask.set) || wanted-- != 0) continue;
        CPU_ZERO_S(bytes, &one.set);
        CPU_SET_S(cpu, bytes, &one.set);
        sched_setaffinity(0, bytes, &one.set);
        return;
    }
}
