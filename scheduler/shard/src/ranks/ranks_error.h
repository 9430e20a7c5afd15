/* SPDX-License-Identifier: MIT */
/* ranks_error.h: what the last failed call of this library says (weft_ranks_error).
 *
 * One text per process: all calls are made by one thread. */
#ifndef WEFT_RANKS_ERROR_H
#define WEFT_RANKS_ERROR_H

#include <weft/base.h>

/* Keeps the text; returns `code`. Owner. */
weft_result weft__ranks_fail(weft_result code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The text of memory that was refused; returns OUT_OF_MEMORY. */
weft_result weft__ranks_no_memory(void);
/* The text of an error that another rank has, which knows why; returns `code`. */
weft_result weft__ranks_other(weft_result code, uint32_t rank);

/* weft_ranks_agree, and in the same message the largest *word of all ranks (unchanged where MPI
 * fails, or there is one rank): a wish of one rank that all must know in the same step. Collective.
 */
weft_result weft__ranks_agree_on(weft_result result, uint64_t *word);

#endif
