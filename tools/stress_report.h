/* SPDX-License-Identifier: MIT */
/* stress_report.h: what `weft stress` says: the line of a scenario, the progress line, the command
 * that repeats a failure, also when the process dies or is told to stop.
 *
 * Private to the stress runner.
 */
#ifndef WEFT_TOOLS_STRESS_REPORT_H
#define WEFT_TOOLS_STRESS_REPORT_H

#include "stress_runner.h"

/* What a scenario came to. */
typedef struct weft_stress_outcome {
    uint32_t rounds;              /* run, from config->from on */
    uint64_t hash, errors, bytes; /* bytes: most memory of the process after a round */
    uint32_t hashed;              /* rounds that the hash is of, if time ran out before; else 0 */
    uint64_t refused, delayed;    /* injected faults: requests for memory, threads held up */
    double seconds;
} weft_stress_outcome;

/* Prints the outcome, and to stderr the command that repeats it when there were errors. */
void weft_stress_report(const weft_stress_config *config, const weft_stress_scenario *scenario,
                        const weft_stress_outcome *outcome);

/* Notes that `round` begins: if the process dies in it, by a signal, an assertion or a sanitizer,
 * signal, stack and the command that repeats it are its last words; Ctrl-C tells the round, too. */
void weft_stress_watch(const weft_stress_config *config, const weft_stress_scenario *scenario,
                       uint32_t round);

/* A failure of this run left a file for --replay: its command is the one that repeats it. The path
 * is copied. */
void weft_stress_report_order(const char *path);

/* Resident memory of the process in bytes; 0: the system does not say. */
uint64_t weft_stress_memory(void);

#endif
