/* SPDX-License-Identifier: MIT */
/* inspect_option.h: the option --inspect of the commands that run a world.
 *
 *     {"inspect", WEFT_INSPECT_OPTION, &inspect},            among the options
 *     status = weft_cli_inspect("screen", inspect);          before the world is created
 */
#ifndef WEFT_TOOLS_INSPECT_OPTION_H
#define WEFT_TOOLS_INSPECT_OPTION_H

#include "cli.h"

#include <weft/world.h>

#define WEFT_INSPECT_OPTION                                                                        \
    "WORDS", "windows on the world in a browser; of PORT, write, paused", WEFT_CLI_MAYBE

/* Serves every world that is created from now on; nothing without the option (NULL). Returns
 * WEFT_CLI_CONTINUE, or the status to exit with, already reported. */
int weft_cli_inspect(const char *command, const char *value);
/* Where the page of a world is; "": it has none. For commands that clear the screen. */
const char *weft_cli_inspect_url(const weft_world *world);

#endif
