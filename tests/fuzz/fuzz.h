/* SPDX-License-Identifier: MIT */
/* fuzz.h: what a fuzz target offers: the function libFuzzer calls, and seeds to start from.
 */
#ifndef WEFT_TESTS_FUZZ_H
#define WEFT_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Tries one input; aborts when something is wrong. Called from one thread. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Writes seed number `index` (0, 1, ...) into `out` and returns its size; 0: there are no more. */
size_t fuzz_seed(uint32_t index, uint8_t *out, size_t capacity);

#endif
