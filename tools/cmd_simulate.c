/* SPDX-License-Identifier: MIT */
/* cmd_simulate.c: `weft simulate`: hands over to the program weft-simulate beside this one. The job
 * system in it is compiled with other atomics, so it cannot be part of this binary.
 */
#include "cli.h"
#include "cli_ranks.h"

#include <stddef.h>

static int run_simulate(int argc, char **argv)
{
    (void)argc;
    return weft_cli_run_beside("simulate", "weft-simulate", argv);
}

const weft_cli_command weft_cli_commands_simulate[] = {
    {"simulate", "a recorded frame on a larger machine", run_simulate},
    {0},
};
