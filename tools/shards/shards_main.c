/* SPDX-License-Identifier: MIT */
/* shards_main.c: the program weft-shards: the commands of weft that run over several processes,
 * with libweft-shard and MPI. `weft` starts it (cli_ranks.h); `mpirun -np 4 weft-shards COMMAND` is
 * the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/ranks.h>

#include "cli.h"
#include "cli_ranks.h"
#include "shards.h"

extern const weft_cli_command weft_cli_commands_screen[];

static const weft_cli_command *const tables[] = {weft_cli_commands_screen, shards_commands};

static const weft_cli_command *find(const char *name)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const weft_cli_command *c = tables[i]; c->name; c++)
            if (strcmp(c->name, name) == 0) return c;
    return NULL;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--help", 6) == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

/* Leaves the run with the worst exit status of all ranks. */
static int leave(int status)
{
    uint64_t worst = (uint64_t)status;
    if (weft_ranks_max(&worst, 1) != WEFT_OK) weft_ranks_abort(WEFT_CLI_FAILED);
    weft_ranks_stop();
    return (int)worst;
}

int main(int argc, char **argv)
{
    static const char usage[] = "usage: [mpirun -np N] weft-shards screen|shard-demo|stress ...\n";
    const weft_cli_command *command = argc > 1 ? find(argv[1]) : NULL;
    if (!command) {
        fputs(usage, stderr);
        return WEFT_CLI_USAGE;
    }
    if (asks_for_help(argc, argv)) return command->run(argc - 1, argv + 1);
    if (weft_ranks_start(&argc, &argv) != WEFT_OK)
        return weft_cli_fail(argv[1], "%s", weft_ranks_error()->text);
    const weft_cli_ranks ranks = {
        .rank = weft_ranks_rank(),
        .count = weft_ranks_count(),
        .agree = weft_ranks_agree,
        .gather = weft_ranks_gather,
        .broadcast = weft_ranks_broadcast,
        .error = weft_ranks_error,
    };
    weft_cli_ranks_here = &ranks;
    weft_cli_misuse_is_silent = ranks.rank != 0;
    int status = command->run(argc - 1, argv + 1);
    if (fflush(stdout) != 0 || ferror(stdout))
        status = weft_cli_fail(argv[1], "cannot write to standard output");
    return leave(status);
}
