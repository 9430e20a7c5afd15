/* SPDX-License-Identifier: MIT */
/* cli_ranks.c: hands over to a program that lies beside this one.
 */
#include "cli_ranks.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { arguments_max = 256 };

const weft_cli_ranks *weft_cli_ranks_here;

int weft_cli_run_beside(const char *command, const char *name, char **arguments)
{
    char path[4096], program[4200];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return weft_cli_fail(command, "where is this program? %s", strerror(errno));
    path[length] = '\0';
    snprintf(program, sizeof program, "%s/%s", dirname(path), name);
    execv(program, arguments);
    if (errno == ENOENT)
        return weft_cli_fail(
            command, "the program %s is missing: build the target %s and put it beside this one",
            program, name);
    return weft_cli_fail(command, "%s: %s", program, strerror(errno));
}

int weft_cli_ranks_start(char **arguments)
{
    static char name[] = "weft-shards";
    char *all[arguments_max + 2] = {name};
    uint32_t count = 0;
    while (arguments[count] && count < arguments_max) {
        all[count + 1] = arguments[count];
        count++;
    }
    if (arguments[count]) return weft_cli_misuse(arguments[0], "too many arguments");
    return weft_cli_run_beside(arguments[0], name, all);
}
