/* SPDX-License-Identifier: MIT */
/* test_cpus.c: the control-group quota out of made-up /proc and /sys trees, and affinity masks of
 * machines that are not here. */
#include "check.h"
#include "cpus.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char root[64];

static void start(void)
{
    strcpy(root, "/tmp/weft_cpus_XXXXXX");
    CHECK(mkdtemp(root) != NULL);
}

/* Makes a file and the folders above it. */
static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    CHECK(file != NULL);
    fputs(text, file);
    fclose(file);
}

static void stop(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    CHECK_I64(system(command), 0);
}

/* Stands in for that of libc: a kernel that may have 2,048 CPUs, of which three can be used. */
static bool is_large;
static const size_t large_cpus[] = {5, 1030, 2000};

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *mask)
{
    if (!is_large) {
        long got = syscall(SYS_sched_getaffinity, process, bytes, mask);
        if (got >= 0) memset((char *)mask + got, 0, bytes - (size_t)got);
        return got >= 0 ? 0 : -1;
    }
    if (bytes < 2048 / 8) return -1;
    memset(mask, 0, bytes);
    for (size_t i = 0; i < 3; i++) CPU_SET_S(large_cpus[i], bytes, mask);
    return 0;
}

static size_t pinned;

int sched_setaffinity(pid_t process, size_t bytes, const cpu_set_t *mask)
{
    (void)process;
    for (pinned = 0; pinned < bytes * 8 && !CPU_ISSET_S(pinned, bytes, mask);) pinned++;
    return 0;
}

Test(cpus, machines_with_more_than_1024_possible_cpus_are_used_whole)
{
    is_large = true;
    uint32_t quota = weft__cpus_quota("");
    CHECK_U64(weft__cpus_usable(), quota != 0 && quota < 3 ? quota : 3);
    for (uint32_t i = 0; i < 6; i++) {
        weft__cpus_pin_self(i);
        CHECK_U64(pinned, large_cpus[i % 3]);
    }
    is_large = false;
}

TestSuite(cpus, .init = start, .fini = stop);

Test(cpus, missing_files_mean_no_quota)
{
    CHECK_U64(weft__cpus_quota(root), 0);
    put("/proc/self/cgroup", "0::/app\n");
    CHECK_U64(weft__cpus_quota(root), 0);
}

Test(cpus, a_version_2_quota_is_rounded_down)
{
    put("/proc/self/cgroup", "0::/app\n");
    put("/sys/fs/cgroup/app/cpu.max", "350000 100000\n");
    CHECK_U64(weft__cpus_quota(root), 3);
}

Test(cpus, less_than_one_cpu_counts_as_one)
{
    put("/proc/self/cgroup", "0::/app\n");
    put("/sys/fs/cgroup/app/cpu.max", "50000 100000\n");
    CHECK_U64(weft__cpus_quota(root), 1);
}

Test(cpus, max_means_no_quota_but_an_ancestor_may_have_one)
{
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    CHECK_U64(weft__cpus_quota(root), 0);
    put("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
    CHECK_U64(weft__cpus_quota(root), 2);
}

Test(cpus, a_version_1_quota_is_found_by_its_controller)
{
    put("/proc/self/cgroup", "7:memory:/x\n4:cpu,cpuacct:/box\n");
    put("/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "400000\n");
    put("/sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
    CHECK_U64(weft__cpus_quota(root), 4);
    put("/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1\n");
    CHECK_U64(weft__cpus_quota(root), 0);
}

Test(cpus, nonsense_is_no_quota)
{
    put("/proc/self/cgroup", "garbage\n0::/app\n");
    put("/sys/fs/cgroup/app/cpu.max", "100000 0\n");
    CHECK_U64(weft__cpus_quota(root), 0);
    put("/sys/fs/cgroup/app/cpu.max", "");
    CHECK_U64(weft__cpus_quota(root), 0);
}

Test(cpus, this_process_has_at_least_one)
{
    CHECK(weft__cpus_usable() >= 1);
}
