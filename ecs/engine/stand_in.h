/* SPDX-License-Identifier: MIT */
/* stand_in.h: memory that checked builds answer a mistake with, in place of NULL: the program goes
 * on to where the mistake is reported. Unchecked builds have none.
 *
 * What is written to it is lost. It is taken from one block of a world after another, each twice as
 * large, up to 16 MiB; then the last block is used from its beginning again. Blocks stay until the
 * world ends, because pointers into them may be kept. Threads: any. */
#ifndef WEFT_STAND_IN_H
#define WEFT_STAND_IN_H

#include "world_front.h"

#include <pthread.h>

/* Owner: the world. Guarded by `lock`; used <= size. */
typedef struct weft__stand_in {
    pthread_mutex_t lock;
    char *block; /* NULL: none; begins with its size and the block before it */
    size_t size, used;
} weft__stand_in;

/* Zeroed memory of at least `bytes`. NULL: an unchecked build, or no memory. */
void *weft__stand_in_bytes(const weft_world *world, size_t bytes);
/* Room for `rows` values of a component; of any other id, of the largest component there is. */
void *weft__stand_in_values(const weft_world *world, uint32_t component, uint32_t rows);
/* In place of a value for writing that the world refuses now: for the callbacks of systems and
 * observers, which are reported. NULL: the owner called, who has the error. */
void *weft__stand_in_refused(const weft_world *world, uint32_t component);
/* Whether `at` is in such memory. */
bool weft__stand_in_holds(const weft_world *world, const void *at);
void weft__stand_in_init(weft_world *world);
void weft__stand_in_fini(weft_world *world);

#endif
