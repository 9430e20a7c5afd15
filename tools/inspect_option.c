/* SPDX-License-Identifier: MIT */
/* inspect_option.c: --inspect by libweft-inspect, where it was built (CMake: WEFT_WITH_INSPECT).
 *
 * A public function does all the work, so a program of your own has the option in one line, too. */
#include "inspect_option.h"

#if defined(WEFT_WITH_INSPECT)
#include <weft/inspect.h>
#endif

int weft_cli_inspect(const char *command, const char *value)
{
    if (value == NULL) return WEFT_CLI_CONTINUE;
#if defined(WEFT_WITH_INSPECT)
    if (weft_inspect_all(value) == WEFT_OK) return WEFT_CLI_CONTINUE;
    return weft_cli_misuse(command,
                           "--inspect=%s: give a port from 1 to 65519, write, paused, or several "
                           "of them: 27760,write",
                           value);
#else
    return weft_cli_misuse(command, "--inspect: this program was built without libweft-inspect "
                                    "(package libmicrohttpd-dev)");
#endif
}

const char *weft_cli_inspect_url(const weft_world *world)
{
#if defined(WEFT_WITH_INSPECT)
    return weft_inspect_url(weft_inspect_of(world));
#else
    (void)world;
    return "";
#endif
}
