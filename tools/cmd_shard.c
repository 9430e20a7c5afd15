/* SPDX-License-Identifier: MIT */
/* cmd_shard.c: `weft shard-demo`: hands over to the program weft-shards beside this one.
 */
#include "cli.h"
#include "cli_ranks.h"

static int run_shard_demo(int argc, char **argv)
{
    (void)argc;
    return weft_cli_ranks_start(argv);
}

const weft_cli_command weft_cli_commands_shard[] = {
    {"shard-demo", "models over the ranks of mpirun, with one hash", run_shard_demo},
    {0},
};
