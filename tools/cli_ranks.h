/* SPDX-License-Identifier: MIT */
/* cli_ranks.h: commands over several processes (`mpirun -np N weft screen --shards`).
 *
 * The weft binary is not linked with MPI: it starts as fast without it, and runs where there is
 * none. A command that is asked for ranks hands over to the program weft-shards beside this one,
 * which has the same commands, libweft-shard and MPI; there weft_cli_ranks_here is set.
 */
#ifndef WEFT_TOOLS_CLI_RANKS_H
#define WEFT_TOOLS_CLI_RANKS_H

#include <weft/base.h>

/* The ranks of this run, and the calls of <weft/ranks.h> of the same names. Constant. */
typedef struct weft_cli_ranks {
    uint32_t rank, count;
    weft_result (*agree)(weft_result result);
    weft_result (*gather)(const void *bytes, uint64_t count, void **out, uint64_t *out_bytes);
    weft_result (*broadcast)(void *bytes, uint64_t count);
    const weft_error *(*error)(void);
} weft_cli_ranks;

/* NULL in the weft binary; weft-shards sets it before a command runs. */
extern const weft_cli_ranks *weft_cli_ranks_here;

/* Starts weft-shards in place of this process; `arguments` are those of the command, its name
 * first. Returns the exit status, after saying what is wrong, only when that fails. */
int weft_cli_ranks_start(char **arguments);

/* Replaces this process by the program `name` that lies beside it. Returns as
 * weft_cli_ranks_start. */
int weft_cli_run_beside(const char *command, const char *name, char **arguments);

#endif
