/* SPDX-License-Identifier: MIT */
/* hash_lanes.c: the wide content hash of hash_lanes.h: a plain form, which is the definition, and
 * vector forms of the stripe loop for x86-64, chosen per call by what the processor has. Stateless.
 */
#include "hash_lanes.h"

#include <stdbool.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define LANES 8
#define STRIPE_BYTES ((size_t)LANES * 8)
#define KEY_OF_LANE(lane) (HASH_K1 * (uint64_t)(2 * (lane) + 1))
#define KEY_STEP HASH_K0

/* The accumulators of one run; on the caller's stack. */
typedef struct lanes {
    uint64_t sum[LANES], key[LANES];
} lanes;

static void lanes_init(lanes *state, uint64_t seed)
{
    for (int i = 0; i < LANES; i++) {
        state->sum[i] = seed ^ KEY_OF_LANE(i + LANES);
        state->key[i] = KEY_OF_LANE(i);
    }
}

static uint64_t lanes_fold(const lanes *state, uint64_t seed, const unsigned char *tail,
                           size_t bytes)
{
    uint64_t hash = hash_fold(seed ^ HASH_K0, (uint64_t)bytes ^ HASH_K1);
    for (int i = 0; i < LANES; i++) hash = hash_word(hash, state->sum[i]);
    return hash_bytes(hash, tail, bytes % STRIPE_BYTES);
}

static void stripes_plain(lanes *state, const unsigned char *from, size_t count)
{
    for (; count != 0; count--, from += STRIPE_BYTES) {
        for (int i = 0; i < LANES; i++) {
            uint64_t word;
            memcpy(&word, from + 8 * i, 8);
            uint64_t mixed = word ^ state->key[i];
            state->key[i] += KEY_STEP;
            state->sum[i] += (mixed & UINT32_MAX) * (mixed >> 32);
            state->sum[i ^ 1] += word;
        }
    }
}

#if defined(__x86_64__)

static inline void stripes_sse2(lanes *state, unsigned char *to, const unsigned char *from,
                                size_t count)
{
    __m128i sum[4], key[4];
    const __m128i step = _mm_set1_epi64x((long long)KEY_STEP);
    memcpy(sum, state->sum, sizeof sum);
    memcpy(key, state->key, sizeof key);
    for (; count != 0; count--, from += STRIPE_BYTES) {
        for (int i = 0; i < 4; i++) {
            __m128i word = _mm_loadu_si128((const void *)(from + 16 * i));
            if (to != NULL) _mm_storeu_si128((void *)(to + 16 * i), word);
            __m128i mixed = _mm_xor_si128(word, key[i]);
            key[i] = _mm_add_epi64(key[i], step);
            __m128i product = _mm_mul_epu32(mixed, _mm_srli_epi64(mixed, 32));
            sum[i] = _mm_add_epi64(sum[i], _mm_add_epi64(product, _mm_shuffle_epi32(word, 0x4e)));
        }
        if (to != NULL) to += STRIPE_BYTES;
    }
    memcpy(state->sum, sum, sizeof sum);
}

__attribute__((target("avx2"))) static inline void
stripes_avx2(lanes *state, unsigned char *to, const unsigned char *from, size_t count)
{
    __m256i sum[2], key[2];
    const __m256i step = _mm256_set1_epi64x((long long)KEY_STEP);
    memcpy(sum, state->sum, sizeof sum);
    memcpy(key, state->key, sizeof key);
    for (; count != 0; count--, from += STRIPE_BYTES) {
        for (int i = 0; i < 2; i++) {
            __m256i word = _mm256_loadu_si256((const void *)(from + 32 * i));
            if (to != NULL) _mm256_storeu_si256((void *)(to + 32 * i), word);
            __m256i mixed = _mm256_xor_si256(word, key[i]);
            key[i] = _mm256_add_epi64(key[i], step);
            __m256i product = _mm256_mul_epu32(mixed, _mm256_srli_epi64(mixed, 32));
            __m256i added = _mm256_add_epi64(product, _mm256_shuffle_epi32(word, 0x4e));
            sum[i] = _mm256_add_epi64(sum[i], added);
        }
        if (to != NULL) to += STRIPE_BYTES;
    }
    memcpy(state->sum, sum, sizeof sum);
}

/* One function per form and instruction set, so that the test of `to` is decided when compiling. */
__attribute__((target("avx2"))) static void
stripes_avx2_read(lanes *state, const unsigned char *from, size_t count)
{
    stripes_avx2(state, NULL, from, count);
}

__attribute__((target("avx2"))) static void
stripes_avx2_copy(lanes *state, unsigned char *to, const unsigned char *from, size_t count)
{
    stripes_avx2(state, to, from, count);
}

static void stripes_read(lanes *state, const unsigned char *from, size_t count)
{
    if (__builtin_cpu_supports("avx2")) {
        stripes_avx2_read(state, from, count);
    } else {
        stripes_sse2(state, NULL, from, count);
    }
}

static void stripes_copy(lanes *state, unsigned char *to, const unsigned char *from, size_t count)
{
    if (__builtin_cpu_supports("avx2")) {
        stripes_avx2_copy(state, to, from, count);
    } else {
        stripes_sse2(state, to, from, count);
    }
}

#else

static void stripes_read(lanes *state, const unsigned char *from, size_t count)
{
    stripes_plain(state, from, count);
}

static void stripes_copy(lanes *state, unsigned char *to, const unsigned char *from, size_t count)
{
    memcpy(to, from, count * STRIPE_BYTES);
    stripes_plain(state, to, count);
}

#endif

uint64_t weft__hash_lanes(uint64_t seed, const void *data, size_t bytes)
{
    if (bytes < STRIPE_BYTES) return hash_bytes(seed, data, bytes);
    lanes state;
    lanes_init(&state, seed);
    stripes_read(&state, data, bytes / STRIPE_BYTES);
    return lanes_fold(&state, seed,
                      (const unsigned char *)data + bytes / STRIPE_BYTES * STRIPE_BYTES, bytes);
}

uint64_t weft__hash_lanes_copy(uint64_t seed, void *to, const void *from, size_t bytes)
{
    if (bytes < STRIPE_BYTES) {
        if (bytes != 0) memcpy(to, from, bytes);
        return hash_bytes(seed, to, bytes);
    }
    lanes state;
    size_t done = bytes / STRIPE_BYTES * STRIPE_BYTES;
    lanes_init(&state, seed);
    stripes_copy(&state, to, from, bytes / STRIPE_BYTES);
    memcpy((char *)to + done, (const char *)from + done, bytes - done);
    return lanes_fold(&state, seed, (const unsigned char *)from + done, bytes);
}

uint64_t weft__hash_lanes_plain(uint64_t seed, const void *data, size_t bytes)
{
    if (bytes < STRIPE_BYTES) return hash_bytes(seed, data, bytes);
    lanes state;
    lanes_init(&state, seed);
    stripes_plain(&state, data, bytes / STRIPE_BYTES);
    return lanes_fold(&state, seed,
                      (const unsigned char *)data + bytes / STRIPE_BYTES * STRIPE_BYTES, bytes);
}
