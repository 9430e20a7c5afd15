/* SPDX-License-Identifier: MIT */
/* hash.h: 64-bit hashing for tables, type names and world hashes. Not cryptographic; the result
 * depends on the bytes only (same on every build and machine of the same byte order).
 *
 * Mixing is the folded 64x64->128 multiplication (as analysed for wyhash and others); the constants
 * are odd numbers with balanced bits. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_K0 UINT64_C(0x9E3779B97F4A7C15)
#define HASH_K1 UINT64_C(0xD6E8FEB86659FD93)

__extension__ typedef unsigned __int128 hash_wide;

static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
    hash_wide product = (hash_wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Mixes one more word into a running hash. */
static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
    return hash_fold(hash ^ HASH_K0, word ^ HASH_K1) + (word ^ (hash >> 32));
}

/* Hash of a byte string of `bytes` in parts: start, the parts (each but the last a multiple of 8
 * bytes long), end. */
static inline uint64_t hash_start(uint64_t seed, size_t bytes)
{
    return seed ^ hash_fold(bytes ^ HASH_K1, HASH_K0);
}

static inline uint64_t hash_part(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *p = (const unsigned char *)data;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = hash_word(hash, word);
    }
    if (bytes != 0) {
        uint64_t word = 0;
        memcpy(&word, p, bytes);
        hash = hash_word(hash, word);
    }
    return hash;
}

static inline uint64_t hash_end(uint64_t hash)
{
    return hash_fold(hash ^ HASH_K1, HASH_K0 ^ (hash >> 29));
}

/* Hash of a byte string, continued from `seed`. */
static inline uint64_t hash_bytes(uint64_t seed, const void *data, size_t bytes)
{
    return hash_end(hash_part(hash_start(seed, bytes), data, bytes));
}

/* Hash of a NUL-terminated string. */
static inline uint64_t hash_string(const char *text)
{
    return hash_bytes(HASH_K0, text, strlen(text));
}
