/* SPDX-License-Identifier: MIT */
/* hash_lanes.c: the wide content hash of hash_lanes.h: a plain form, which is the definition, and
 * one with AVX2, chosen per call by what the processor has. Stateless. */
#include "hash_lanes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define LANES 8
#define STRIPE_BYTES ((size_t)LANES * 8)
#define KEY_OF_LANE(lane) (HASH_K1 * (uint64_t)(2 * (lane) + 1))
#define KEY_STEP HASH_K0 /* from stripe to stripe */

/* The accumulators of one run; on the caller's stack. */
typedef struct lanes {
    _Alignas(32) uint64_t sum[LANES];
} lanes;

static uint64_t lanes_fold(const lanes *state, uint64_t seed, const unsigned char *tail,
                           size_t bytes)
{
    uint64_t hash = hash_fold(seed ^ HASH_K0, (uint64_t)bytes ^ HASH_K1);
    for (int i = 0; i < LANES; i++) hash = hash_word(hash, state->sum[i]);
    return hash_bytes(hash, tail, bytes % STRIPE_BYTES);
}

static void stripes_plain(lanes *state, const unsigned char *from, uint64_t at, size_t count)
{
    for (; count != 0; count--, at++, from += STRIPE_BYTES) {
        for (int i = 0; i < LANES; i++) {
            uint64_t word;
            memcpy(&word, from + 8 * i, 8);
            uint64_t mixed = word ^ (KEY_OF_LANE(i) + at * KEY_STEP);
            state->sum[i] += (mixed & UINT32_MAX) * (mixed >> 32);
            state->sum[i ^ 1] += word;
        }
    }
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) static void
stripes_avx2(lanes *state, unsigned char *to, const unsigned char *from, uint64_t at, size_t count)
{
    static const uint64_t first[LANES] = {KEY_OF_LANE(0), KEY_OF_LANE(1), KEY_OF_LANE(2),
                                          KEY_OF_LANE(3), KEY_OF_LANE(4), KEY_OF_LANE(5),
                                          KEY_OF_LANE(6), KEY_OF_LANE(7)};
    __m256i sum[2], key[2];
    const __m256i step = _mm256_set1_epi64x((long long)KEY_STEP);
    memcpy(sum, state->sum, sizeof sum);
    memcpy(key, first, sizeof key);
    for (int i = 0; i < 2; i++)
        key[i] = _mm256_add_epi64(key[i], _mm256_set1_epi64x((long long)(at * KEY_STEP)));
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

#endif

/* The stripes of `from`, numbered from `at` on, copied to `to` on the way unless it is NULL. */
static void stripes(lanes *state, unsigned char *to, const unsigned char *from, uint64_t at,
                    size_t count)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        stripes_avx2(state, to, from, at, count);
        return;
    }
#endif
    if (to != NULL) memcpy(to, from, count * STRIPE_BYTES);
    stripes_plain(state, from, at, count);
}

uint64_t weft__hash_lanes_copy(uint64_t seed, void *to, const void *from, size_t bytes)
{
    const size_t done = bytes / STRIPE_BYTES * STRIPE_BYTES;
    const unsigned char *tail = (const unsigned char *)from + done;
    if (to != NULL && bytes != done) memcpy((char *)to + done, tail, bytes - done);
    if (done == 0) return hash_bytes(seed, from, bytes);
    lanes state;
    for (int i = 0; i < LANES; i++) state.sum[i] = seed ^ KEY_OF_LANE(i + LANES);
    stripes(&state, to, from, 0, bytes / STRIPE_BYTES);
    return lanes_fold(&state, seed, tail, bytes);
}

uint64_t weft__hash_lanes_sum(uint64_t at, const void *data, size_t bytes)
{
    const size_t whole = bytes / STRIPE_BYTES;
    unsigned char last[STRIPE_BYTES] = {0};
    lanes state = {0};
    stripes(&state, NULL, data, at, whole);
    if (bytes % STRIPE_BYTES != 0) {
        memcpy(last, (const char *)data + whole * STRIPE_BYTES, bytes % STRIPE_BYTES);
        stripes(&state, NULL, last, at + whole, 1);
    }
    uint64_t sum = 0;
    for (int i = 0; i < LANES; i++) sum += state.sum[i] * KEY_OF_LANE(i + LANES);
    return sum;
}
