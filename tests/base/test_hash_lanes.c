/* SPDX-License-Identifier: MIT */
/* test_hash_lanes.c: the wide hash is one function in all its forms, and notices every single
 * damage. */
#include "check.h"
#include "hash_lanes.h"
#include "random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void fill(test_random *random, unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)test_random_next(random);
}

/* The definition, word by word. */
static uint64_t defined(uint64_t seed, const unsigned char *from, size_t bytes)
{
    uint64_t sum[8], key[8], hash = hash_fold(seed ^ HASH_K0, (uint64_t)bytes ^ HASH_K1);
    if (bytes < 64) return hash_bytes(seed, from, bytes);
    for (uint64_t i = 0; i < 8; i++) {
        sum[i] = seed ^ HASH_K1 * (2 * (i + 8) + 1);
        key[i] = HASH_K1 * (2 * i + 1);
    }
    for (size_t at = 0; at + 64 <= bytes; at += 64)
        for (size_t i = 0; i < 8; i++) {
            uint64_t word;
            memcpy(&word, from + at + 8 * i, 8);
            const uint64_t mixed = word ^ (key[i] + at / 64 * HASH_K0);
            sum[i] += (mixed & UINT32_MAX) * (mixed >> 32);
            sum[i ^ 1] += word;
        }
    for (size_t i = 0; i < 8; i++) hash = hash_word(hash, sum[i]);
    return hash_bytes(hash, from + bytes / 64 * 64, bytes % 64);
}

Test(hash_lanes, all_forms_agree_for_every_length_and_alignment)
{
    test_random random = test_random_init(0x1a4e5);
    unsigned char from[1200], to[1200];
    fill(&random, from, sizeof from);
    for (size_t bytes = 0; bytes <= 1100; bytes++) {
        size_t shift = bytes % 67;
        uint64_t expected = defined(bytes, from + shift, bytes);
        CHECK_U64(weft__hash_lanes(bytes, from + shift, bytes), expected);
        memset(to, 0x55, sizeof to);
        CHECK_U64(weft__hash_lanes_copy(bytes, to + 1, from + shift, bytes), expected);
        CHECK(memcmp(to + 1, from + shift, bytes) == 0);
        CHECK_U64(to[bytes + 1], 0x55);
    }
}

Test(hash_lanes, every_bit_flip_and_every_cut_changes_the_hash)
{
    test_random random = test_random_init(0xb17);
    unsigned char bytes[700];
    fill(&random, bytes, sizeof bytes);
    uint64_t hash = weft__hash_lanes(1, bytes, sizeof bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK(weft__hash_lanes(1, bytes, sizeof bytes) != hash);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    for (size_t cut = 0; cut < sizeof bytes; cut++) CHECK(weft__hash_lanes(1, bytes, cut) != hash);
    CHECK(weft__hash_lanes(2, bytes, sizeof bytes) != hash);
}

Test(hash_lanes, order_of_words_and_of_stripes_matters)
{
    uint64_t words[64];
    for (uint64_t i = 0; i < 64; i++) words[i] = i;
    uint64_t hash = weft__hash_lanes(0, words, sizeof words);
    for (size_t i = 0; i < 64; i++) {
        for (size_t j = i + 1; j < 64; j++) {
            uint64_t kept = words[i];
            words[i] = words[j], words[j] = kept;
            CHECK(weft__hash_lanes(0, words, sizeof words) != hash);
            words[j] = words[i], words[i] = kept;
        }
    }
}

Test(hash_lanes, the_value_is_the_same_on_every_machine)
{
    unsigned char bytes[256];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)i;
    CHECK_U64(weft__hash_lanes(7, bytes, sizeof bytes), UINT64_C(0xcc289b9162a28965));
}
