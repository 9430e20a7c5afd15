/* SPDX-License-Identifier: MIT */
/* everything_stress.c: the scenario "everything" of `weft stress`: a round is a seed, alone. Keeps
 * nothing between rounds but the counts of what was drawn.
 *
 * --shrink runs each try in a child: everything_shrink.c. */
#include "everything_stress.h"
#include "everything.h"

#include "cli.h"
#include "stress.h"
#include "stress_runner.h"

#include <inttypes.h>
#include <stdlib.h>

static uint64_t everything_round(weft_stress *stress, void *state)
{
    static everything_call script[EVERYTHING_CALLS];
    everything *e = calloc(1, sizeof *e);
    uint64_t hash = 0;
    (void)state;
    if (e == NULL) abort();
    e->seed = stress->seed;
    uint32_t count = everything_draw(stress->seed, script);
    if (!everything_run(e, script, count, &hash))
        weft_stress_error(stress, "%s: %s", e->failure, e->text);
    free(e);
    return hash;
}

int weft_stress_shrink(uint64_t seed, uint32_t from, uint32_t rounds)
{
    for (uint32_t round = from; round < from + rounds; round++) {
        char command[128];
        snprintf(command, sizeof command,
                 "weft stress everything --seed %#" PRIx64 " --from %u --rounds 1", seed, round);
        weft_cli_progress("everything: round %u", round);
        if (everything_shrink(weft_stress_seed_of(seed, round), command, stdout)) return 1;
    }
    fprintf(stderr, "no round fails\n");
    return 0;
}

void weft_stress_cells(bool is_json, bool are_cells)
{
    everything_print_counts(stdout, is_json, are_cells);
}

const weft_stress_scenario weft_stress_scenarios_everything[] = {
    {"everything", "random programs over the whole surface, against a reference world", NULL,
     everything_round, NULL, 100, true},
    {0},
};
