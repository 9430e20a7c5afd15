/* SPDX-License-Identifier: MIT */
/* cmd_simulate.c: `weft simulate`: hands over to the program weft-simulate beside this one. The job
 * system in it is compiled with other atomics, so it cannot be part of this binary.
 */
#include "cli.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int run_simulate(int argc, char **argv)
{
    char path[4096], program[4200];
    (void)argc;
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return weft_cli_fail("simulate", "where is this program? %s", strerror(errno));
    path[length] = '\0';
    snprintf(program, sizeof program, "%s/weft-simulate", dirname(path));
    execv(program, argv);
    return weft_cli_fail("simulate", "%s: %s", program, strerror(errno));
}

const weft_cli_command weft_cli_commands_simulate[] = {
    {"simulate", "a recorded frame on a larger machine", run_simulate},
    {0},
};
