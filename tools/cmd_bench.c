/* SPDX-License-Identifier: MIT */
/* cmd_bench.c: `weft bench`: options of the benchmark harness (perf/harness.h).
 */
#include "cli.h"
#include "harness.h"

static int run_bench(int argc, char **argv)
{
    uint64_t workers = weft_cli_cpu_count(), reps = 11;
    bool is_compare = false;
    double fail_over = -1;
    bool is_list = false, is_json = false, with_slow = false, with_samples = false,
         is_pinned = false;
    const weft_cli_option options[] = {
        {"workers", "N", "workers of worlds and pools (default: CPUs)", WEFT_CLI_COUNT, &workers, 1,
         256},
        {"reps", "N", "samples per case (default 11)", WEFT_CLI_COUNT, &reps, 1, 10000},
        {"list", NULL, "name and definition of every benchmark", WEFT_CLI_FLAG, &is_list, 0, 0},
        {"all", NULL, "slow ones too", WEFT_CLI_FLAG, &with_slow, 0, 0},
        {"pin", NULL, "pin the caller in cases of one worker, too", WEFT_CLI_FLAG, &is_pinned, 0,
         0},
        {"samples", NULL, "write every sample into the JSON lines", WEFT_CLI_FLAG, &with_samples, 0,
         0},
        {"compare", NULL, "compare two saved runs: --compare BEFORE AFTER", WEFT_CLI_FLAG,
         &is_compare, 0, 0},
        {"fail-over", "PERCENT", "--compare: status 1 when a case is slower by more than this",
         WEFT_CLI_NUMBER, &fail_over, 0, 1e6},
        {"json", NULL, "one JSON object per line", WEFT_CLI_FLAG, &is_json, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {
        "bench",
        "[NAME ...]",
        "Measures weft beside raw C (and peers) in the same process.",
        options,
        "NAME is the beginning of a benchmark's name, name/case, or a group: storage, query, "
        "schedule; none = all that are not slow. --compare takes two runs saved with --json "
        "--samples and "
        "says what is slower or faster than the noise of both; with --fail-over PERCENT the status "
        "is 1 when a case with the verdict \"slower\" is so by more than that.",
        "weft bench iter --workers 2\n"
        "weft bench --all --json --samples > after.json\n"
        "weft bench --compare before.json after.json"};
    int first;
    const int status = weft_cli_parse(&usage, argc, argv, &first);
    if (status != WEFT_CLI_CONTINUE) return status;
    if (is_compare && argc - first != 2) {
        return weft_cli_misuse("bench", "--compare needs two files written by --json --samples");
    }
    if (is_compare) return weft_bench_compare(argv[first], argv[first + 1], is_json, fail_over);
    if (fail_over >= 0) return weft_cli_misuse("bench", "--fail-over belongs to --compare");
    const weft_bench_config config = {
        .names = argv + first,
        .name_count = (uint32_t)(argc - first),
        .workers = (uint32_t)workers,
        .reps = (uint32_t)reps,
        .is_json = is_json,
        .with_slow = with_slow,
        .with_samples = with_samples,
        .is_pinned = is_pinned,
    };
    const char *near = NULL, *unknown = weft_bench_unknown_name(&config, &near);
    if (unknown && near) {
        return weft_cli_misuse("bench", "no benchmark '%s'; did you mean '%s'?", unknown, near);
    }
    if (unknown) return weft_cli_misuse("bench", "no benchmark '%s'; see --list", unknown);
    if (!is_list) return weft_bench_run_all(&config);
    weft_bench_list(&config);
    return WEFT_CLI_OK;
}

const weft_cli_command weft_cli_commands_bench[] = {
    {"bench", "measure weft beside raw C, OpenMP and oneTBB", run_bench},
    {0},
};
