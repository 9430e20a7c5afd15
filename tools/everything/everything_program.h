/* SPDX-License-Identifier: MIT */
/* everything_program.h: what stands around the statements of the C program; what they say:
 * everything.h. */
#ifndef WEFT_TOOLS_EVERYTHING_PROGRAM_H
#define WEFT_TOOLS_EVERYTHING_PROGRAM_H

#include <stdint.h>
#include <stdio.h>

/* The comment, with the command that repeats the failure, includes, macros, kinds. */
void everything_program_begin(FILE *out, const char *command, const char *failure,
                              const char *text);
/* Entities and helpers; behind them what operations put before main, then main. */
void everything_program_main(FILE *out, uint32_t entity_count);

#endif
