/* SPDX-License-Identifier: MIT */
/* test_cpus.c: the control-group quota out of made-up /proc and /sys trees. */
#include "check.h"
#include "cpus.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
