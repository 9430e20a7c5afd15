/* SPDX-License-Identifier: MIT */
/* order.h: which worker ran which slice, in which order: drawn by a seed, recorded, run again.
 *
 * Public. For tests of a program: what depends on the order of slices (a system that keeps
 * something from slice to slice, a sum in the order of workers, an access that is not declared)
 * differs between two drawn orders, and one that differs is run again as often as it takes, on one
 * thread, also in a debugger. The environment asks as well:
 * WEFT_ORDER=draw:SEED[,workers:rotate]|record:FILE|replay:FILE (docs/guide/determinism.md). */
#ifndef WEFT_ORDER_H
#define WEFT_ORDER_H

#include <weft/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- orders of slices ---- */

/* From the next step on, in place of an order that the world has:
 *   "draw:SEED"    the thread that steps the world runs all slices, one after the other, each as a
 *                  worker (its recorder, slice.worker) that the seed draws, in an order that it
 *                  draws among those that the declarations allow
 *   "draw:SEED,workers:rotate"
 *                  the same order, but each slice has the worker after the one of "draw:SEED":
 *                  what differs from that run depends on slice.worker. Of two workers or more
 *   "record:FILE"  workers run them, all stages on the pool; weft_order_end writes what they did
 *   "replay:FILE"  one thread runs them as recorded; behind the end of the record in order
 * An order is of a world, its systems and its input: begin it at the same place. Systems by
 * depth, BACKGROUND systems and playback have no order of slices: they run on one thread with
 * draw and replay; weft_system_run runs as ever. What two slices do to each other at the same
 * time is in none. A record takes 16 bytes a slice until it ends. Threads: owner, between steps.
 * Errors: INVALID_ARGUMENT (another text, or the record is of another number of workers),
 * WRONG_PHASE, NOT_FOUND, IO, CORRUPT (the file), OUT_OF_MEMORY. */
WEFT_API weft_result weft_order_begin(weft_world *world, const char *order);

/* Ends it, and writes the file of a record. Threads: owner, between steps. Errors: IO,
 * OUT_OF_MEMORY (the file is not written), NOT_FOUND (a replay met other slices than were
 * recorded: the steps ran, in another order), WRONG_PHASE. Nothing without an order. */
WEFT_API weft_result weft_order_end(weft_world *world);

#ifdef __cplusplus
}
#endif
#endif
