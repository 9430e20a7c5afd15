/* SPDX-License-Identifier: MIT */
/* demo_command.c: `weft shard-demo`: the options of the models (demo.h).
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "cli_file.h"
#include "demo.h"
#include "inspect_option.h"
#include "shards.h"
#include "shards_dump.h"
#include "shards_stress.h"

static const char notes[] =
    "The hash is the same for any number of ranks and workers. A checkpoint (--save) can be "
    "loaded on any number of ranks; give the same model, --size and --seed. The file is replaced "
    "when a checkpoint is whole: after a rank died, begin with the last one.\n"
    "Models: flock, sheep, lj, satellites. docs/guide/shards.md says how they are written.";

static const char examples[] = "mpirun -np 4 weft shard-demo flock --ticks 1000\n"
                               "mpirun -np 4 weft shard-demo sheep --ticks 100 --save half\n"
                               "mpirun -np 3 weft shard-demo sheep --ticks 100 --load half";

static const demo_model *find(const char *name, const char **near)
{
    const char *names[16] = {0};
    for (uint32_t i = 0; demo_models[i]; i++) {
        if (strcmp(demo_models[i]->name, name) == 0) return demo_models[i];
        names[i] = demo_models[i]->name;
    }
    *near = weft_cli_nearest(name, names);
    return NULL;
}

static void list_models(bool is_json)
{
    for (uint32_t i = 0; demo_models[i] && demo_is_first(); i++)
        printf(is_json ? "{\"model\":\"%s\",\"summary\":\"%s\"}\n" : "%-12s %s\n",
               demo_models[i]->name, demo_models[i]->summary);
}

/* Windows on the world of rank 0, which show all ranks. All learn of a wrong value. */
static int inspect_first(const char *value)
{
    uint64_t is_wrong =
        demo_is_first() && weft_cli_inspect("shard-demo", value) != WEFT_CLI_CONTINUE;
    if (weft_ranks_max(&is_wrong, 1) != WEFT_OK || is_wrong != 0) return WEFT_CLI_USAGE;
    return WEFT_CLI_CONTINUE;
}

static int run_demo(int argc, char **argv)
{
    demo_options o = {.is_json = false};
    uint64_t seed = UINT64_MAX;
    uint64_t ticks = 100, size = 0, workers = weft_cli_cpu_count(), hash_every = 0, balance = 0,
             save_every = 0;
    bool is_list = false;
    const char *inspect = NULL;
    const weft_cli_option options[] = {
        {"ticks", "N", "steps (default 100)", WEFT_CLI_COUNT, &ticks, 0, 4e9},
        {"size", "N", "entities, about (default: the model's)", WEFT_CLI_COUNT, &size, 1, 1e8},
        {"seed", "N", "of all random numbers (default: the checkpoint's, or 1)", WEFT_CLI_COUNT,
         &seed, 0, 0},
        {"workers", "N", "threads of each rank (default: CPUs)", WEFT_CLI_COUNT, &workers, 1, 256},
        {"hash-every", "N", "print the hash every N steps, not only at the end", WEFT_CLI_COUNT,
         &hash_every, 1, 4e9},
        {"balance-every", "N", "steps between looks at the costs of ranks (default 64)",
         WEFT_CLI_COUNT, &balance, 1, 4e9},
        {"save", "FILE",
         "write a checkpoint at the end, at SIGUSR1, and at SIGTERM, which ends the run",
         WEFT_CLI_TEXT, &o.save, 0, 0},
        {"save-every", "N", "write it every N steps, too", WEFT_CLI_COUNT, &save_every, 1, 4e9},
        {"load", "FILE", "begin with a checkpoint", WEFT_CLI_TEXT, &o.load, 0, 0},
        {"data", "FILE", "lj: atoms from a data file of LAMMPS", WEFT_CLI_TEXT, &o.data, 0, 0},
        {"inspect", WEFT_INSPECT_OPTION, &inspect, 0, 0},
        {"list", NULL, "the models", WEFT_CLI_FLAG, &is_list, 0, 0},
        {"json", NULL, "one JSON object per line", WEFT_CLI_FLAG, &o.is_json, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {.command = "shard-demo",
                                  .arguments = "MODEL",
                                  .summary = "Simulates a model over the ranks of mpirun.",
                                  .options = options,
                                  .notes = notes,
                                  .examples = examples};
    int first;
    const int status = weft_cli_parse(&usage, argc, argv, &first);
    if (status != WEFT_CLI_CONTINUE) return status;
    if (is_list) return list_models(o.is_json), WEFT_CLI_OK;
    if (argc - first != 1)
        return weft_cli_misuse("shard-demo", "name one model: flock, sheep, lj or satellites");
    if (save_every != 0 && !o.save)
        return weft_cli_misuse("shard-demo", "--save-every needs a file: give --save FILE");
    if (o.save && (weft_cli_file_apart("shard-demo", o.save, o.load) != 0 ||
                   weft_cli_file_apart("shard-demo", o.save, o.data) != 0))
        return WEFT_CLI_USAGE;
    const char *near = NULL;
    const demo_model *model = find(argv[first], &near);
    if (!model)
        return weft_cli_misuse("shard-demo", "no model '%s'%s%s; see --list", argv[first],
                               near ? ", nearest is " : "", near ? near : "");
    if (inspect_first(inspect) != WEFT_CLI_CONTINUE) return WEFT_CLI_USAGE;
    if (seed == UINT64_MAX) seed = o.load ? 0 : 1; /* 0: that of the checkpoint */
    o.seed = seed;
    o.ticks = (uint32_t)ticks;
    o.size = size ? (uint32_t)size : model->size;
    o.workers = (uint32_t)workers;
    o.hash_every = (uint32_t)hash_every;
    o.save_every = (uint32_t)save_every;
    o.balance_every = (uint32_t)balance;
    return demo_run(model, &o, NULL);
}

const weft_cli_command shards_commands[] = {
    {"shard-demo", "models over ranks, with one hash", run_demo},
    {"stress", "the scenario shard of weft stress", shards_stress},
    {"dump", "a checkpoint as text, for weft dump", shards_dump},
    {0},
};
