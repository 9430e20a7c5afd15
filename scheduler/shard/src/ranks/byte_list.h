/* SPDX-License-Identifier: MIT */
/* byte_list.h: arrays that grow, and bytes that are written in words of eight and read back.
 *
 * What is sent and stored is a list of bytes whose parts begin at multiples of eight. Reading
 * checks every length: bytes of a file may be anything. Owner: whose struct has it; one thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Room for `count` elements of `size` bytes in *array, which has room for *capacity. False: memory
 * is refused, and all is as before. */
static inline bool weft__array_grow(void *array, uint64_t *capacity, uint64_t count, size_t size)
{
    if (count <= *capacity) return true;
    uint64_t room = *capacity + *capacity / 2;
    if (room < count) room = count;
    if (room < 16) room = 16;
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, (size_t)room * size);
    if (grown == NULL) return false;
    memcpy(array, &grown, sizeof grown);
    *capacity = room;
    return true;
}

/* Zero-initialised it is empty. Always: count <= capacity. */
typedef struct weft__bytes {
    unsigned char *at;
    uint64_t count, capacity;
} weft__bytes;

static inline uint64_t weft__eight(uint64_t bytes)
{
    return (bytes + 7) & ~UINT64_C(7);
}

/* Room for `bytes` more, rounded up to words; the last word is zeroed. NULL: memory is refused. */
static inline void *weft__bytes_add(weft__bytes *list, uint64_t bytes)
{
    const uint64_t whole = weft__eight(bytes);
    if (!weft__array_grow(&list->at, &list->capacity, list->count + whole, 1)) return NULL;
    unsigned char *place = list->at + list->count;
    if (whole != 0) memset(place + whole - 8, 0, 8);
    list->count += whole;
    return place;
}

static inline bool weft__bytes_put(weft__bytes *list, const void *data, uint64_t bytes)
{
    void *place = weft__bytes_add(list, bytes);
    if (place == NULL) return false;
    if (bytes != 0) memcpy(place, data, (size_t)bytes);
    return true;
}

static inline bool weft__bytes_word(weft__bytes *list, uint64_t word)
{
    return weft__bytes_put(list, &word, sizeof word);
}

static inline void weft__bytes_free(weft__bytes *list)
{
    free(list->at);
    *list = (weft__bytes){0};
}

/* Bytes that are read. Borrowed. Always: at <= end. */
typedef struct weft__reader {
    const unsigned char *at, *end;
} weft__reader;

/* The next `bytes`, and on to the next word; NULL: there are not so many. */
static inline const void *weft__reader_take(weft__reader *reader, uint64_t bytes)
{
    const uint64_t left = (uint64_t)(reader->end - reader->at);
    if (bytes > left || weft__eight(bytes) > left) return NULL;
    const void *place = reader->at;
    reader->at += weft__eight(bytes);
    return place;
}

static inline bool weft__reader_word(weft__reader *reader, uint64_t *out)
{
    const void *place = weft__reader_take(reader, sizeof *out);
    if (place != NULL) memcpy(out, place, sizeof *out);
    return place != NULL;
}
