/* SPDX-License-Identifier: MIT */
/* fuzz_replay.c: drives a fuzz target without libFuzzer.
 *
 *     test_fuzz_x  COUNT        tries all seeds and COUNT random mutations of them (part of ctest)
 *     test_fuzz_x  --seeds DIR  writes the seeds, the start of a libFuzzer corpus
 *     test_fuzz_x  FILE...      tries inputs that libFuzzer reported
 */
#include "check.h"
#include "fuzz.h"
#include "random.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 1 << 16 };

static uint8_t input[CAPACITY], seed_bytes[CAPACITY];

static int write_seeds(const char *directory)
{
    char path[512];
    size_t size;
    for (uint32_t i = 0; (size = fuzz_seed(i, input, CAPACITY)) != 0; i++) {
        snprintf(path, sizeof path, "%s/seed%u", directory, i);
        FILE *file = fopen(path, "wb");
        if (file == NULL || fwrite(input, 1, size, file) != size || fclose(file) != 0) return 1;
    }
    return 0;
}

static int try_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 1;
    size_t size = fread(input, 1, CAPACITY, file);
    fclose(file);
    return LLVMFuzzerTestOneInput(input, size);
}

/* An input exactly as long as its block, so that AddressSanitizer sees the first byte too far. */
static void try_exactly(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size == 0 ? 1 : size);
    CHECK(exact != NULL);
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static size_t mutate(test_random *random, size_t size)
{
    for (uint64_t i = test_random_below(random, 5) + 1; i != 0 && size > 1; i--) {
        size_t at = 1 + test_random_below(random, size - 1);
        size_t from = 1 + test_random_below(random, size - 1);
        size_t run = 1 + test_random_below(random, 16);
        if (run > size - at) run = size - at;
        if (run > size - from) run = size - from;
        switch (test_random_below(random, 5)) {
        case 0:
            input[at] = (uint8_t)(1u << test_random_below(random, 8)) ^ input[at];
            break;
        case 1:
            input[at] = (uint8_t)test_random_next(random);
            break;
        case 2:
            memmove(input + at, input + from, run);
            break;
        case 3:
            memset(input + at, (int)(test_random_next(random) & 0xff), run);
            break;
        default:
            if (test_random_below(random, 8) == 0) size = at;
            break;
        }
    }
    return size;
}

static int try_mutations(uint64_t count)
{
    test_random random = test_random_init(0xf022);
    size_t seed_sizes[64];
    uint32_t seed_count = 0;
    while (seed_count < 64) {
        size_t size = fuzz_seed(seed_count, seed_bytes, CAPACITY);
        if (size == 0) break;
        seed_sizes[seed_count++] = size;
        try_exactly(seed_bytes, size);
    }
    CHECK(seed_count != 0);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t seed = (uint32_t)(i * seed_count / count);
        if (i == 0 || seed != (uint32_t)((i - 1) * seed_count / count)) {
            fuzz_seed(seed, seed_bytes, CAPACITY);
        }
        memcpy(input, seed_bytes, seed_sizes[seed]);
        try_exactly(input, mutate(&random, seed_sizes[seed]));
    }
    printf("%u seeds, %llu mutations\n", seed_count, (unsigned long long)count);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--seeds") == 0) return write_seeds(argv[2]);
    if (argc == 2 && isdigit((unsigned char)argv[1][0])) {
        return try_mutations(strtoull(argv[1], NULL, 10));
    }
    for (int i = 1; i < argc; i++) {
        if (try_file(argv[i]) != 0) return 1;
    }
    return argc > 1 ? 0 : 2;
}
